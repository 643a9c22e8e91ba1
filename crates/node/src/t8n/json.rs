//! Fields of objects: numbers in hexadecimal after `0x`, in decimal, or as JSON has them.

use alloy_primitives::{Address, B256, Bytes, U256};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// An object whose fields are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'v>(&'v Map<String, Value>);

impl<'v> Fields<'v> {
    /// The fields of an object.
    pub fn of(value: &'v Value) -> Result<Self> {
        value.as_object().map(Self).with_context(|| format!("{value} is no object"))
    }

    /// Names and values.
    pub fn all(self) -> impl Iterator<Item = (&'v String, &'v Value)> {
        self.0.iter()
    }

    /// A field that is neither absent nor null.
    pub fn find(self, name: &str) -> Option<&'v Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A number, where it is there.
    pub fn word(self, name: &str) -> Result<Option<U256>> {
        self.find(name).map(|value| word(value).with_context(|| name.to_owned())).transpose()
    }

    /// A number of 64 bits, where it is there.
    pub fn number(self, name: &str) -> Result<Option<u64>> {
        self.word(name)?
            .map(|word| u64::try_from(word).with_context(|| format!("{name}: {word} has more than 64 bits")))
            .transpose()
    }

    /// A number of 64 bits that has to be there.
    pub fn need(self, name: &str) -> Result<u64> {
        self.number(name)?.with_context(|| format!("no {name}"))
    }

    /// An address that has to be there.
    pub fn address(self, name: &str) -> Result<Address> {
        let value = self.find(name).with_context(|| format!("no {name}"))?;
        value
            .as_str()
            .and_then(|text| text.parse().ok())
            .with_context(|| format!("{name}: {value} is no address of 20 bytes"))
    }

    /// The items of a list; none where it is absent.
    pub fn list(self, name: &str) -> Result<&'v [Value]> {
        let Some(value) = self.find(name) else { return Ok(&[]) };
        value.as_array().map(Vec::as_slice).with_context(|| format!("{name}: {value} is no list"))
    }

    /// Up to 32 bytes as a number, where they are there.
    pub fn hash(self, name: &str) -> Result<Option<B256>> {
        Ok(self.word(name)?.map(B256::from))
    }

    /// Bytes; none where they are absent.
    pub fn bytes(self, name: &str) -> Result<Bytes> {
        let Some(value) = self.find(name) else { return Ok(Bytes::new()) };
        value.as_str().and_then(|text| text.parse().ok()).with_context(|| format!("{name}: {value} is not hexadecimal"))
    }
}

/// A number of up to 256 bits.
pub fn word(value: &Value) -> Result<U256> {
    let read = match value {
        Value::Number(number) => number.as_u64().map(U256::from),
        Value::String(text) => match text.strip_prefix("0x") {
            Some("") => Some(U256::ZERO),
            Some(digits) => U256::from_str_radix(digits, 16).ok(),
            None => U256::from_str_radix(text, 10).ok().filter(|_| !text.is_empty()),
        },
        _ => None,
    };
    match read {
        Some(word) => Ok(word),
        None => bail!("{value} is no number of 256 bits"),
    }
}
