//! Extent of a test run: the number of cases, the seed and the sample of revisions, from the environment.
//!
//! | variable | effect |
//! |---|---|
//! | `RESIDUE_CASES=n` | n random cases in place of a test's own number, and every revision |
//! | `RESIDUE_REVISIONS=all` | every revision |
//! | `RESIDUE_SAMPLE=n` | another sample of the revisions for each n, such as the date |
//! | `RESIDUE_SEED=n` | the first seed of random cases |
//!
//! A sample takes every k-th element of a list, so k successive values of `RESIDUE_SAMPLE` take each element once.

#![forbid(unsafe_code)]

use residue_isa::Revision;

/// The number that a variable of the environment holds; none if it is not set.
///
/// # Panics
/// If it holds something else.
pub fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text:?}")))
}

/// The number of cases of a test: `RESIDUE_CASES`, else `fewest`.
///
/// # Panics
/// If `RESIDUE_CASES` is not a number.
pub fn cases(fewest: usize) -> usize {
    number("RESIDUE_CASES").map_or(fewest, |cases| usize::try_from(cases).expect("cases are counted in words"))
}

/// The first seed of a test's random cases: `RESIDUE_SEED`, else 0.
///
/// # Panics
/// If `RESIDUE_SEED` is not a number.
pub fn seed() -> u64 {
    number("RESIDUE_SEED").unwrap_or(0)
}

/// True if nothing is sampled: `RESIDUE_CASES` or `RESIDUE_REVISIONS` is set.
pub fn is_whole() -> bool {
    ["RESIDUE_CASES", "RESIDUE_REVISIONS"].iter().any(|name| std::env::var_os(name).is_some())
}

/// Every `share`-th element of `all`, beginning at a place that `number` and `RESIDUE_SAMPLE` move; all elements if [`is_whole`].
/// Tests number their subjects, so that successive subjects take different elements.
///
/// # Panics
/// If `RESIDUE_SAMPLE` is not a number.
pub fn sample<T>(all: &[T], share: usize, number: usize) -> impl Iterator<Item = &T> {
    let day = self::number("RESIDUE_SAMPLE").unwrap_or(0);
    sample_of_day(all, if is_whole() { 1 } else { share }, number, day)
}

fn sample_of_day<T>(all: &[T], share: usize, number: usize, day: u64) -> impl Iterator<Item = &T> {
    let first = (number as u64).wrapping_add(day) % share as u64; // usize to u64 widens
    all.iter().skip(first as usize).step_by(share) // below `share`
}

/// One revision of each way to hold values: the EVM's own words, EVM384's memory, slots, and slots with every experiment.
pub const KINDS: [Revision; 4] = [Revision::Evm, Revision::Evm384V7, Revision::Eip6690_2024, Revision::EvmmaxNext];

/// [`KINDS`] and a [`sample`] of all other revisions, in the order of [`Revision::every`].
pub fn revisions(share: usize, number: usize) -> Vec<Revision> {
    let others: Vec<Revision> = Revision::every().filter(|revision| !KINDS.contains(revision)).collect();
    let sampled: Vec<Revision> = sample(&others, share, number).copied().collect();
    Revision::every().filter(|revision| KINDS.contains(revision) || sampled.contains(revision)).collect()
}

/// A number that a name has, which differs for most other names.
pub fn number_of(name: &[u8]) -> usize {
    name.iter().fold(0, |sum, &byte| (31 * sum + usize::from(byte)) % (1 << 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successive_days_take_every_element_once() {
        let all: Vec<usize> = (0..43).collect();
        for (share, number) in [(1, 0), (7, 3), (16, 40), (50, 9)] {
            let mut taken: Vec<usize> =
                (0..share as u64).flat_map(|day| sample_of_day(&all, share, number, 20_000 + day).copied()).collect();
            taken.sort_unstable();
            assert_eq!(taken, all, "one in {share}, number {number}");
        }
    }

    #[test]
    fn every_sample_has_a_revision_of_each_kind() {
        for number in 0..20 {
            let revisions = revisions(12, number);
            assert!(KINDS.iter().all(|kind| revisions.contains(kind)), "{revisions:?}");
            assert!(revisions.len() > KINDS.len(), "{revisions:?}");
        }
    }
}
