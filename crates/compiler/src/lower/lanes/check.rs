//! Checks the intervals of a plan, act by act, whatever placed offsets and reductions: each of its claims has to follow from those before.

use super::plan::{Act, Interval, Plan, Planned, Quotient, is_exact, reduced_interval, turned_times};
use residue_ir::Lanes;

/// Checks that lanes never run over where they are shifted, and are in the intervals that are claimed.
///
/// # Errors
///
/// The first act that is wrong, and a bound that it breaks.
pub(super) fn check(lanes: &Lanes, plan: &Plan<'_>) -> Result<(), String> {
    let mut known: Vec<Option<Interval>> = vec![None; lanes.words as usize]; // u32 to usize widens
    for planned in plan.iter().flatten() {
        let is_take = matches!(planned.act, Act::Take { .. } | Act::Read { .. });
        let wrong = planned.before.iter().find(|&&(word, before)| known[word as usize] != Some(before) && !is_take);
        let checked = match wrong {
            Some((word, _)) => Err(format!("word {word} is not in its interval before")),
            None => check_act(lanes, planned),
        };
        checked.map_err(|error| format!("{:?}: {error}", planned.act))?;
        for &(word, after) in &planned.after {
            known[word as usize] = Some(after); // u32 to usize widens
        }
    }
    Ok(())
}

/// One act, whose words are in their intervals before.
fn check_act(lanes: &Lanes, planned: &Planned<'_>) -> Result<(), String> {
    let modulus = i128::from(lanes.modulus);
    let (before, after) = (|place: usize| planned.before[place].1, |place: usize| planned.after[place].1);
    match planned.act {
        Act::Take { times, .. } => {
            let low = i128::from(times) * modulus;
            within(Interval { low, high: low + modulus - 1 }, after(0))
        }
        Act::Read { bits, times, .. } => {
            let low = i128::from(times) * modulus;
            within(Interval { low, high: low + (1 << bits) - 1 }, after(0))
        }
        Act::Offset { times, .. } => within(moved(before(0), i128::from(times) * modulus), after(0)),
        Act::Reduce { quotient, .. } => within(reduced(lanes, before(0), (1, quotient))?, after(0)),
        Act::Butterfly { by, is_negative, quotient, .. } => {
            let product = reduced(lanes, before(1), (by.into(), quotient))?;
            let a = before(0);
            let sum = Interval { low: a.low + product.low, high: a.high + product.high };
            let difference = Interval { low: a.low - product.high, high: a.high - product.low };
            let [low, high] = if is_negative { [difference, sum] } else { [sum, difference] };
            within(low, after(0))?;
            within(high, after(1))
        }
        Act::Back { by, is_negative, times, quotient, .. } => {
            let (a, b) = if is_negative { (before(1), before(0)) } else { (before(0), before(1)) };
            let difference = moved(Interval { low: a.low - b.high, high: a.high - b.low }, i128::from(times) * modulus);
            within(Interval { low: a.low + b.low, high: a.high + b.high }, after(0))?;
            within(reduced(lanes, difference, (by.into(), quotient))?, after(1))
        }
        Act::Multiply { root, of_root, quotient, .. } => {
            let [a, b] = [before(0), before(1)];
            let of_root = reduced(lanes, b, (root.into(), of_root))?;
            if a.low < 0 || of_root.low < 0 {
                return Err(format!("a product of lanes in {a:?} and {of_root:?}"));
            }
            let most = lanes.count() as i128 * a.high * b.high.max(of_root.high); // usize to i128 widens
            // All ones would be 0 modulo 2²⁵⁶ − 1.
            fits(lanes, most + 1)?;
            within(reduced(lanes, Interval { low: 0, high: most }, (1, quotient))?, after(0))?;
            within(b, after(1))
        }
        Act::Leave { times, quotient, .. } => {
            let v = before(0);
            let (is_below, high) = match quotient {
                Some(quotient) => (is_exact(lanes, v.high, quotient), modulus - 1),
                None => (v.high < i128::from(times) * modulus, v.high),
            };
            if v.low < 0 || !is_below {
                return Err(format!("lanes in {v:?} are left"));
            }
            within(Interval { low: 0, high }, after(0))
        }
        Act::Put { high, .. } => {
            within(before(0), Interval { low: 0, high })?;
            let largest = turned_times(lanes, high).max(1) * modulus;
            let sum = lanes.count() as i128 * largest * (modulus - 1); // usize to i128 widens
            fits(lanes, sum)
        }
    }
}

const fn moved(Interval { low, high }: Interval, by: i128) -> Interval {
    Interval { low: low + by, high: high + by }
}

fn within(found: Interval, claimed: Interval) -> Result<(), String> {
    match claimed.low <= found.low && found.high <= claimed.high {
        true => Ok(()),
        false => Err(format!("lanes are in {found:?}, not in {claimed:?}")),
    }
}

/// Lanes that are shifted or carry sums are at most this.
fn fits(lanes: &Lanes, most: i128) -> Result<(), String> {
    if most >> lanes.bits == 0 { Ok(()) } else { Err(format!("{most} is no lane of {} bits", lanes.bits)) }
}

/// Bounds of v·by − q·h for the quotient's h, if no lane runs over.
fn reduced(lanes: &Lanes, v: Interval, (by, quotient): (i128, Quotient)) -> Result<Interval, String> {
    if v.low < 0 {
        return Err(format!("a quotient of lanes in {v:?}"));
    }
    fits(lanes, v.high * by.max(1))?;
    fits(lanes, (v.high >> quotient.first) * i128::from(quotient.factor))?;
    Ok(reduced_interval(lanes.modulus.into(), v, (by, quotient)))
}
