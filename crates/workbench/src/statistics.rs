//! Statistics of samples: medians and quartiles, of times and of ratios between times of the same round.
//!
//! A ratio is taken inside each round and the median over the rounds afterwards: what disturbs a round disturbs both of
//! its sides.

use serde::Serialize;

/// The middle of samples and how far they lie around it: half of them are between the quartiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Half of the samples are below.
    pub median: f64,
    /// A quarter of the samples is below.
    pub quartile_1: f64,
    /// Three quarters of the samples are below.
    pub quartile_3: f64,
}

impl Spread {
    /// Of samples. Panics if there are none, as nothing was measured then.
    pub fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let [quartile_1, median, quartile_3] = [1, 2, 3].map(|quarter| quantile(&sorted, quarter));
        Self { median, quartile_1, quartile_3 }
    }

    /// Of something that has one value only, such as gas.
    pub fn exact(value: f64) -> Self {
        Self { median: value, quartile_1: value, quartile_3: value }
    }

    /// Of the ratios a/b of each round. Panics unless there are as many rounds of both.
    pub fn of_ratios(a: &[f64], b: &[f64]) -> Self {
        Self::of(&ratios(a, b))
    }

    /// To thousandths, which is finer than anything that is measured here.
    pub fn to_thousandths(self) -> Self {
        let [median, quartile_1, quartile_3] = [self.median, self.quartile_1, self.quartile_3].map(thousandths);
        Self { median, quartile_1, quartile_3 }
    }
}

/// To thousandths.
pub fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Whole nanoseconds, none of what is below zero: what is timed takes far less than 2⁵³ of them, which are 104 days.
pub fn whole_ns(time_ns: f64) -> u64 {
    time_ns.max(0.0).round() as u64
}

/// The ratio a/b of each round. Panics unless there are as many rounds of both.
pub fn ratios(a: &[f64], b: &[f64]) -> Vec<f64> {
    by_round(a, b, |a, b| a / b)
}

/// Interval that contains the median of the samples with 95 % confidence, for any distribution: between two order
/// statistics. Conover 1999, Practical Nonparametric Statistics, §3.2. For few samples it spans the extremes. Panics if
/// there are none.
pub fn median_interval(samples: &[f64]) -> [f64; 2] {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1).expect("there is a sample");
    let n = sorted.len() as f64; // A number of rounds.
    let half_width = 1.96 * n.sqrt() / 2.0;
    // Whole parts of numbers between 0 and the number of rounds.
    let below = (n / 2.0 - half_width).floor().max(1.0) as usize - 1;
    let above = (n / 2.0 + half_width).ceil() as usize;
    [sorted[below], sorted[above.min(last)]]
}

/// Time of one of `count` things: the difference of each round between a run with them and one without.
/// Panics unless there are as many rounds of both.
pub fn per_thing(with: &[f64], without: &[f64], count: f64) -> Vec<f64> {
    by_round(with, without, |with, without| (with - without) / count)
}

fn by_round(a: &[f64], b: &[f64], combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    assert_eq!(a.len(), b.len(), "both were measured in the same rounds");
    a.iter().zip(b).map(|(&a, &b)| combine(a, b)).collect()
}

/// The value that `quarter` quarters of the sorted samples lie below, interpolated between the two nearest.
/// Hyndman and Fan 1996, definition 7.
fn quantile(sorted: &[f64], quarter: usize) -> f64 {
    let last = sorted.len().checked_sub(1).expect("there is a sample");
    let (below, rest) = (last * quarter / 4, last * quarter % 4);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * [0.0, 0.25, 0.5, 0.75][rest]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(samples: &[f64], quartile_1: f64, median: f64, quartile_3: f64) {
        assert_eq!(Spread::of(samples), Spread { median, quartile_1, quartile_3 });
    }

    #[test]
    fn quartiles_divide_the_samples_whatever_their_order() {
        check(&[7.0], 7.0, 7.0, 7.0);
        check(&[2.0, 1.0], 1.25, 1.5, 1.75);
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], 2.0, 3.0, 4.0);
        check(&[4.0, 1.0, 3.0, 2.0], 1.75, 2.5, 3.25);
        check(&[0.0, 0.0, 0.0, 1000.0, 1.0], 0.0, 0.0, 1.0);
    }

    #[test]
    fn a_ratio_is_taken_in_each_round() {
        // The second round was three times as slow for both.
        assert_eq!(Spread::of_ratios(&[2.0, 6.0, 2.0], &[1.0, 3.0, 1.0]), Spread::exact(2.0));
    }

    #[test]
    fn overhead_is_subtracted_in_each_round() {
        assert_eq!(per_thing(&[110.0, 230.0], &[10.0, 30.0], 100.0), [1.0, 2.0]);
    }

    #[test]
    fn the_interval_of_a_median_narrows_with_samples() {
        let samples: Vec<f64> = (1..=100).map(f64::from).collect();
        // Ranks 40 and 61 of 100.
        assert_eq!(median_interval(&samples), [40.0, 61.0]);
        assert_eq!(median_interval(&[3.0, 1.0, 2.0]), [1.0, 3.0]);
        assert_eq!(median_interval(&[5.0]), [5.0, 5.0]);
    }

    #[test]
    #[should_panic(expected = "there is a sample")]
    fn no_samples_have_no_median() {
        Spread::of(&[]);
    }
}
