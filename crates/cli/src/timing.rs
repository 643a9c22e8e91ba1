//! Timing: the median of repeated executions, several kinds interleaved so that all meet the same disturbances.

use std::time::{Duration, Instant};

/// Measuring goes on this long, unless it has enough or too few rounds by then.
const BUDGET: Duration = Duration::from_millis(500);
/// Rounds that are made even if they take longer than the budget.
const ROUNDS_MIN: usize = 5;
/// Rounds that are enough.
const ROUNDS_MAX: usize = 1001;
/// Beyond this not even [`ROUNDS_MIN`] are made.
const PATIENCE: Duration = Duration::from_secs(10);

/// The median time of each kind of execution in nanoseconds, and the number of rounds.
pub fn medians_ns<const N: usize>(mut kinds: [&mut dyn FnMut(); N]) -> ([u64; N], usize) {
    let mut samples: [Vec<u64>; N] = std::array::from_fn(|_| Vec::new());
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds < ROUNDS_MAX && (begin.elapsed() < BUDGET || rounds < ROUNDS_MIN) {
        for (kind, samples) in kinds.iter_mut().zip(&mut samples) {
            samples.push(time_ns(kind).1);
        }
        rounds += 1;
        if begin.elapsed() > PATIENCE {
            break;
        }
    }
    (samples.map(median), rounds)
}

/// The median of the times that `measure` tells, as often as there is time for. None if it once tells nothing.
pub fn median_ns(mut measure: impl FnMut() -> Option<u64>) -> Option<u64> {
    let mut samples = Vec::new();
    let begin = Instant::now();
    while samples.len() < ROUNDS_MAX && (begin.elapsed() < BUDGET || samples.len() < ROUNDS_MIN) {
        samples.push(measure()?);
        if begin.elapsed() > PATIENCE {
            break;
        }
    }
    Some(median(samples))
}

/// The result of one execution and its time in nanoseconds.
pub fn time_ns<T>(execution: impl FnOnce() -> T) -> (T, u64) {
    let begin = Instant::now();
    let result = execution();
    // 2⁶⁴ nanoseconds are 584 years.
    (result, u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX))
}

/// The upper median. There is at least one sample.
fn median(mut samples: Vec<u64>) -> u64 {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_executed_in_turn() {
        let order = std::cell::RefCell::new(Vec::new());
        let (_, rounds) = medians_ns([&mut || order.borrow_mut().push(0), &mut || order.borrow_mut().push(1)]);
        assert_eq!(rounds, ROUNDS_MAX);
        assert_eq!(*order.borrow(), [0, 1].repeat(ROUNDS_MAX));
    }

    #[test]
    fn a_median_is_the_middle_sample() {
        assert_eq!(median(vec![9, 1, 5]), 5);
        assert_eq!(median(vec![3]), 3);
    }
}
