//! Names near an unknown one, for messages: suggestions in place of a name that no table has.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// Names that are offered at most.
const OFFERED_MAX: usize = 3;
/// Likeness by Jaro from which on a name is near; the bound that clap has for options and commands.
const NEAR: f64 = 0.7;
/// Likeness of a name that has the given one in it, as `bn254/pairing` has `pairing`: below that of a name spelled nearly so.
const CONTAINED: f64 = 0.9;
/// Letters from which on a part of a name is likely meant.
const CONTAINED_LETTERS_MIN: usize = 3;
/// Letters from which on no name is compared: the comparison takes the product of both lengths.
const GIVEN_LETTERS_MAX: usize = 100;

/// The names nearest to the given one, at most three, the nearest first; names as near as each other stay in the order of `known`. Letter
/// case does not count. None if no name is near.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if given.chars().count() > GIVEN_LETTERS_MAX {
        return Vec::new();
    }
    let given = given.to_lowercase();
    let rated = known.into_iter().map(|name| (likeness(&given, &name.to_lowercase()), name));
    let mut near: Vec<_> = rated.filter(|&(likeness, _)| likeness > NEAR).collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.dedup_by_key(|&mut (_, name)| name);
    near.into_iter().take(OFFERED_MAX).map(|(_, name)| name).collect()
}

/// The end of a message about an unknown name: `; did you mean a, b or c?`, or nothing if no name is near.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(given, known);
    let mut text = String::new();
    for (index, name) in near.iter().enumerate() {
        let before = match index {
            0 => "; did you mean ",
            _ if index + 1 == near.len() => " or ",
            _ => ", ",
        };
        write!(text, "{before}{name}").expect("strings take all text");
    }
    if !near.is_empty() {
        text.push('?');
    }
    text
}

/// Likeness of two names in lower case, from 0 to 1.
fn likeness(given: &str, name: &str) -> f64 {
    let is_part = given.chars().count() >= CONTAINED_LETTERS_MIN && name != given && name.contains(given);
    let by_letters = by_letters(given, name);
    if is_part { by_letters.max(CONTAINED) } else { by_letters }
}

#[cfg(feature = "std")]
fn by_letters(given: &str, name: &str) -> f64 {
    strsim::jaro(given, name)
}

/// Names that differ are not alike, without the library that says how much.
#[cfg(not(feature = "std"))]
fn by_letters(given: &str, name: &str) -> f64 {
    f64::from(u8::from(given == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 7] =
        ["bls12_381/pairing", "bn254/pairing", "bn254/mul", "osaka", "paris", "eip6690-2024", "eip6690-2023"];

    #[test]
    fn slips_parts_and_other_case_find_their_names() {
        for (given, expected) in [
            ("osaca", "osaka"),
            ("OSAKA", "osaka"),
            ("EIP6690_2024", "eip6690-2024"),
            ("bn254/paring", "bn254/pairing"),
            ("bls12_381/pairing ", "bls12_381/pairing"),
            ("mul", "bn254/mul"),
        ] {
            assert_eq!(nearest(given, NAMES).first(), Some(&expected), "{given}");
        }
        assert_eq!(nearest("pairing", NAMES)[..2], ["bls12_381/pairing", "bn254/pairing"]);
    }

    #[test]
    fn what_is_far_from_all_names_finds_none() {
        for given in ["", "x", "qqqq", &"osaka".repeat(1_000_000)] {
            assert!(nearest(given, NAMES).is_empty(), "{}", given.len());
            assert_eq!(did_you_mean(given, NAMES), "");
        }
    }

    #[test]
    fn a_message_ends_with_the_names() {
        assert_eq!(did_you_mean("osaca", ["osaka"]), "; did you mean osaka?");
        assert_eq!(did_you_mean("ab1", ["ab2", "ab3", "qq"]), "; did you mean ab2 or ab3?");
        assert_eq!(did_you_mean("ab1", ["ab2", "ab3", "ab4", "ab5"]), "; did you mean ab2, ab3 or ab4?");
    }
}
