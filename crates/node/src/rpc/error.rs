//! Errors as JSON-RPC has them: the codes are geth's.

use alloy_primitives::{Bytes, hex};
use serde_json::Value;

use crate::chain::ChainError;
use crate::store::StoreError;

/// Parameters that a method does not take.
pub const INVALID_PARAMS: i32 = -32602;
/// A request that is no JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON that is no request.
pub const INVALID_REQUEST: i32 = -32600;
/// Whatever else is wrong with a request.
pub const INVALID_INPUT: i32 = -32000;
/// A call that reverted, with its data.
pub const REVERTED: i32 = 3;
/// A method that is not there.
pub const NO_METHOD: i32 = -32601;

/// An error with its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// The code.
    pub code: i32,
    /// In words.
    pub message: String,
    /// Further data.
    pub data: Option<Value>,
}

/// Result of a method.
pub type Answer = Result<Value, RpcError>;

impl RpcError {
    /// An error without data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Parameters that a method does not take.
    pub fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// Whatever else is wrong with a request.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(INVALID_INPUT, message)
    }

    /// A call that reverted.
    pub fn reverted(output: &Bytes) -> Self {
        let data = Value::String(hex::encode_prefixed(output));
        Self { code: REVERTED, message: revert_message(output), data: Some(data) }
    }
}

/// Message of a revert: the text of Solidity's `Error(string)` or the code of `Panic(uint256)`, if it is one of them.
pub fn revert_message(output: &[u8]) -> String {
    let text = || {
        let rest = output.strip_prefix(&[0x08, 0xc3, 0x79, 0xa0])?;
        let length = usize::try_from(alloy_primitives::U256::try_from_be_slice(rest.get(32..64)?)?).ok()?;
        String::from_utf8(rest.get(64..64usize.checked_add(length)?)?.to_vec()).ok()
    };
    let panic = || {
        let rest = output.strip_prefix(&[0x4e, 0x48, 0x7b, 0x71])?;
        Some(format!("panic code {:#x}", alloy_primitives::U256::try_from_be_slice(rest.get(..32)?)?))
    };
    match text().or_else(panic) {
        Some(reason) => format!("execution reverted: {reason}"),
        None => "execution reverted".to_owned(),
    }
}

impl From<StoreError> for RpcError {
    fn from(error: StoreError) -> Self {
        if let StoreError::NoState { .. } = error {
            return Self::input(error.to_string());
        }
        Self::new(-32603, error.to_string())
    }
}

impl From<ChainError> for RpcError {
    fn from(error: ChainError) -> Self {
        match error {
            ChainError::Store(error) => error.into(),
            error => Self::new(-32603, error.to_string()),
        }
    }
}
