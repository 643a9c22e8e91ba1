//! Numbers and bytes as test files write them: hexadecimal of any length, with or without 0x, empty for zero, decimal,
//! or a JSON number. Numbers that no field of a transaction can hold are kept as such: some tests are about them.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use residue_engine::revm::primitives::{Address, B256, Bytes, U256};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// An unsigned number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Number {
    /// One of at most 256 bits.
    Word(U256),
    /// One of more bits.
    TooLarge,
}

/// Bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HexBytes(pub Bytes);

/// An address: exactly 20 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HexAddress(pub Address);

/// Recipient of a transaction: none, written as an empty text, if it creates a contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Target(pub Option<Address>);

/// A word of at most 256 bits, for what cannot be larger in a test that makes sense.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word(pub U256);

/// A number as execution-specs writes it: hexadecimal in whole bytes, at least one.
pub fn padded(number: U256) -> String {
    let bytes = number.to_be_bytes_trimmed_vec();
    bytes_written(if bytes.is_empty() { &[0] } else { &bytes })
}

/// Bytes as test files write them.
pub fn bytes_written(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

impl Number {
    /// The number, if an integer of the type holds it.
    pub fn fitting<T: TryFrom<U256>>(self) -> Option<T> {
        match self {
            Number::Word(word) => T::try_from(word).ok(),
            Number::TooLarge => None,
        }
    }

    /// The number, or the largest below 2⁶⁴.
    pub fn at_most_u64(self) -> u64 {
        self.fitting().unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for HexAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Default for Number {
    fn default() -> Self {
        Number::Word(U256::ZERO)
    }
}

impl Word {
    /// Its 32 bytes.
    pub fn b256(self) -> B256 {
        B256::from(self.0)
    }
}

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Filled tests mark a number beyond 256 bits like this.
        let number = text.trim().trim_start_matches("0x:bigint").trim_start();
        let (digits, radix, digits_max) = match hex_digits(number) {
            Some(digits) => (digits, 16, 64),
            None => (number, 10, 78),
        };
        if let Some(wrong) = digits.chars().find(|digit| !digit.is_digit(radix)) {
            return Err(format!("{text:?} is not a number: it has {wrong:?}"));
        }
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Ok(Number::default());
        }
        if digits.len() > digits_max {
            return Ok(Number::TooLarge);
        }
        Ok(U256::from_str_radix(digits, u64::from(radix)).map_or(Number::TooLarge, Number::Word))
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Number::Word(U256::from(number))
    }
}

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse()? {
            Number::Word(word) => Ok(Word(word)),
            Number::TooLarge => Err(format!("{text:?} has more than 256 bits")),
        }
    }
}

impl From<u64> for Word {
    fn from(number: u64) -> Self {
        Word(U256::from(number))
    }
}

impl FromStr for HexBytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = hex_digits(text.trim()).unwrap_or(text.trim());
        let bytes = hex::decode(digits).map_err(|error| format!("{} is not hexadecimal: {error}", shortened(text)))?;
        Ok(HexBytes(bytes.into()))
    }
}

impl FromStr for HexAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let HexBytes(bytes) = text.parse()?;
        let address = Address::try_from(&bytes[..]);
        address.map(HexAddress).map_err(|_| format!("{} has {} bytes, not 20", shortened(text), bytes.len()))
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if hex_digits(text.trim()).unwrap_or(text.trim()).is_empty() {
            return Ok(Target(None));
        }
        text.parse().map(|HexAddress(address)| Target(Some(address)))
    }
}

/// Reads a JSON string through [`FromStr`].
struct FromText<T>(PhantomData<T>);

impl<T: FromStr<Err = String>> Visitor<'_> for FromText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hexadecimal digits in a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Reads a JSON string or number.
struct FromTextOrNumber<T>(PhantomData<T>);

impl<T: FromStr<Err = String> + From<u64>> Visitor<'_> for FromTextOrNumber<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unsigned number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Ok(T::from(number))
    }
}

macro_rules! deserialize {
    ($($type:ty: $visitor:ident;)*) => {
        $(impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($visitor(PhantomData))
            }
        })*
    };
}

deserialize! {
    Number: FromTextOrNumber;
    Word: FromTextOrNumber;
    HexBytes: FromText;
    HexAddress: FromText;
    Target: FromText;
}

/// Digits after 0x.
fn hex_digits(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// A text in a message: quoted, and cut where it is long.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn number(json: &str) -> Number {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn numbers_have_many_forms() {
        for (json, expected) in [
            ("\"0x\"", 0),
            ("\"\"", 0),
            ("\"0x0\"", 0),
            ("\"0x000a\"", 10),
            ("\"10\"", 10),
            ("10", 10),
            ("\"0XfF\"", 255),
        ] {
            assert_eq!(number(json), Number::from(expected), "{json}");
        }
        let ones = "f".repeat(64);
        assert_eq!(number(&format!("\"0x00{ones}\"")), Number::Word(U256::MAX));
        assert_eq!(number(&format!("\"0x1{}\"", "0".repeat(64))), Number::TooLarge);
        assert_eq!(number(&format!("\"0x:bigint 0x1{ones}\"")), Number::TooLarge);
        assert_eq!(number(&format!("\"{}\"", "9".repeat(78))), Number::TooLarge);
    }

    #[test]
    fn numbers_are_narrowed_where_they_fit() {
        assert_eq!(Number::from(256).fitting::<u8>(), None);
        assert_eq!(Number::from(255).fitting::<u8>(), Some(255));
        assert_eq!(Number::TooLarge.fitting::<U256>(), None);
        assert_eq!(Number::TooLarge.at_most_u64(), u64::MAX);
    }

    #[test]
    fn what_is_no_number_is_refused_by_value() {
        for (json, part) in [("\"0xg\"", "'g'"), ("\"1a\"", "'a'"), ("-1", "-1"), ("true", "true"), ("1.5", "1.5")] {
            let error = serde_json::from_str::<Number>(json).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = format!("0x1{}", "0".repeat(64)).parse::<Word>().unwrap_err();
        assert!(error.contains("more than 256 bits"), "{error}");
    }

    #[test]
    fn bytes_and_addresses() {
        assert_eq!(serde_json::from_str::<HexBytes>("\"0x00fF\"").unwrap().0[..], [0, 255]);
        assert_eq!("".parse::<HexBytes>().unwrap(), HexBytes::default());
        let error = format!("0x{}1", "00".repeat(50)).parse::<HexBytes>().unwrap_err();
        assert!(error.contains("Odd number of digits") && error.contains('…'), "{error}");
        let address = "a94f5374fce5edbc8e2a8697c15331677e6ebf0b".parse::<HexAddress>().unwrap();
        assert_eq!(address.0.0[0], 0xa9);
        assert!("0x00".parse::<HexAddress>().unwrap_err().contains("1 bytes, not 20"));
        for nowhere in ["", "0x"] {
            assert_eq!(nowhere.parse(), Ok(Target(None)));
        }
    }
}
