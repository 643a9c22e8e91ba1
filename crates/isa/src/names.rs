//! Messages on unknown names: the nearest ones, and the command that lists all.

use alloc::borrow::Cow;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::nearest::did_you_mean;

/// So few names are all said.
const FEW: usize = 6;
/// Characters of a user's word that a message repeats.
const CHARS_MAX: usize = 80;

/// A name that nothing of its kind has. Its parts are apart, so that results which may be one are small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName(Box<Parts>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    kind: String,
    name: String,
    /// The end of the message: the nearest names, or all if there are few.
    offer: String,
    /// The command that lists all names, where they are not said.
    lists: Option<&'static str>,
    is_all: bool,
}

impl UnknownName {
    /// Unknown `name`, not among `known`; `kind` is the kind of the name.
    pub fn new<'a>(kind: impl Into<String>, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let is_all = known.len() <= FEW;
        let offer = if is_all { format!("; known are {}", known.join(", ")) } else { did_you_mean(name, known) };
        Self(Box::new(Parts { kind: kind.into(), name: name.to_owned(), offer, lists: None, is_all }))
    }

    /// The same, with the command that lists all names.
    #[must_use]
    pub fn listed_by(mut self, command: &'static str) -> Self {
        self.0.lists = Some(command);
        self
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { kind, name, offer, lists, is_all } = &*self.0;
        write!(f, "unknown {kind} {}{offer}", quoted(name))?;
        match lists {
            Some(command) if !is_all => {
                let joint = if offer.is_empty() { ";" } else { "" };
                write!(f, "{joint} `{command}` lists them all")
            }
            _ => Ok(()),
        }
    }
}

impl core::error::Error for UnknownName {}

/// The begin of a word that is too long for a message; else all of it.
pub fn cut(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(CHARS_MAX) {
        None => word.into(),
        Some((end, _)) => format!("{}…", &word[..end]).into(),
    }
}

/// A text of a user in quotes, cut if it is long, with its length then.
pub fn quoted(text: &str) -> String {
    match cut(text) {
        Cow::Borrowed(whole) => format!("{whole:?}"),
        Cow::Owned(begin) => format!("{begin:?} ({} characters)", text.chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 7] =
        ["bls12_381/g1_add", "bls12_381/pairing", "eip6690-2023", "eip6690-2024", "groth16", "modexp", "MULMODX"];

    #[test]
    fn messages_offer_few_names() {
        let said = |name: &str, known: &[&str]| {
            UnknownName::new("thing", name, known.iter().copied()).listed_by("residue list things").to_string()
        };
        assert_eq!(said("c", &["a", "b"]), r#"unknown thing "c"; known are a, b"#);
        assert_eq!(
            said("groth17", &KNOWN),
            r#"unknown thing "groth17"; did you mean groth16? `residue list things` lists them all"#
        );
        assert_eq!(said("zzz", &KNOWN), r#"unknown thing "zzz"; `residue list things` lists them all"#);
        let long = said(&"x".repeat(1 << 20), &KNOWN);
        assert!(long.len() < 400 && long.contains("(1048576 characters)"), "{long}");
        assert_eq!(quoted("ä\n"), r#""ä\n""#);
        let long = quoted(&"ä".repeat(44_000));
        assert!(long.len() < 200 && long.ends_with("ä…\" (44000 characters)"), "{long}");
    }
}
