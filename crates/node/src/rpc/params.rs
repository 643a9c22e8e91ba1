//! Parameters by position: absent ones and null are the same, and one that cannot be read is an error of code -32602.

use alloy_primitives::{B256, U256};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::RpcError;

/// The parameters of one request.
#[derive(Debug, Clone, Default)]
pub struct Params(pub Vec<Value>);

impl Params {
    /// A parameter that has to be there.
    pub fn get<T: DeserializeOwned>(&self, at: usize) -> Result<T, RpcError> {
        self.find(at)?.ok_or_else(|| RpcError::params(format!("missing value for required argument {at}")))
    }

    /// A parameter that may be absent.
    pub fn find<T: DeserializeOwned>(&self, at: usize) -> Result<Option<T>, RpcError> {
        match self.0.get(at) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let read = serde_json::from_value(value.clone());
                read.map(Some).map_err(|error| RpcError::params(format!("invalid argument {at}: {error}")))
            }
        }
    }

    /// A hash, whole and with `0x`.
    pub fn hash(&self, at: usize) -> Result<B256, RpcError> {
        let text: String = self.get(at)?;
        let read = text.strip_prefix("0x").filter(|digits| digits.len() == 64).and_then(|digits| digits.parse().ok());
        read.ok_or_else(|| RpcError::params(format!("invalid argument {at}: {text:?} is no hash of 32 bytes with 0x")))
    }

    /// A number, in hexadecimal with `0x` or as JSON has it.
    pub fn number(&self, at: usize) -> Result<Option<u64>, RpcError> {
        let Some(value) = self.find::<Value>(at)? else { return Ok(None) };
        let invalid = || RpcError::params(format!("invalid argument {at}: {value} is no number of 64 bits"));
        let read = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            },
            _ => None,
        };
        read.map(Some).ok_or_else(invalid)
    }

    /// As [`Params::number`], of 256 bits.
    pub fn word(&self, at: usize) -> Result<U256, RpcError> {
        let value: Value = self.get(at)?;
        let invalid = || RpcError::params(format!("invalid argument {at}: {value} is no number of 256 bits"));
        match &value {
            Value::Number(number) => number.as_u64().map(U256::from).ok_or_else(invalid),
            Value::String(text) => text.parse().map_err(|_| invalid()),
            _ => Err(invalid()),
        }
    }

    /// A storage key: one to 64 hexadecimal digits after `0x`, which clients shorten.
    pub fn slot(&self, at: usize) -> Result<U256, RpcError> {
        slot(&self.get::<String>(at)?)
    }
}

/// A storage key of text; see [`Params::slot`].
pub fn slot(text: &str) -> Result<U256, RpcError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let invalid = |why: &str| RpcError::params(format!("{why} in storage key: {text:?}"));
    match digits.len() {
        _ if !digits.chars().all(|digit| digit.is_ascii_hexdigit()) => Err(invalid("invalid hex")),
        0..=64 => Ok(U256::from_str_radix(if digits.is_empty() { "0" } else { digits }, 16)
            .map_err(|_| invalid("invalid hex"))?),
        _ => Err(invalid("more than 32 bytes")),
    }
}
