//! The native code of the precompiles: revm's own, blst for BLS12-381, called without an EVM. Baseline and judge.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use revm::precompile::{PrecompileSpecId, PrecompileStatus, Precompiles};
use revm::primitives::Address;
use thiserror::Error;

use residue_isa::Fork;

use crate::fork::spec_id;

/// Output of a precompile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeOutput {
    /// The bytes returned.
    pub output: Vec<u8>,
    /// The gas used.
    pub gas_used: u64,
}

/// Why a precompile gave nothing back.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NativeError {
    /// The fork has none at the address.
    #[error("{fork} has no precompile at address {address:#04x}")]
    Unknown {
        /// The address asked for.
        address: u16,
        /// The fork asked.
        fork: Fork,
    },
    /// It refused the input or ran out of gas.
    #[error("the precompile at address {address:#04x} failed: {reason}")]
    Failed {
        /// The address.
        address: u16,
        /// In revm's words.
        reason: String,
    },
}

/// Runs the precompile of a fork at a low address on an input, without an EVM around it.
pub fn precompile(fork: Fork, address: u16, input: &[u8], gas: u64) -> Result<NativeOutput, NativeError> {
    let precompiles = Precompiles::new(PrecompileSpecId::from_spec_id(spec_id(fork)));
    let mut bytes = [0; 20];
    bytes[18..].copy_from_slice(&address.to_be_bytes());
    let Some(precompile) = precompiles.get(&Address::from(bytes)) else {
        return Err(NativeError::Unknown { address, fork });
    };
    let failed = |reason| NativeError::Failed { address, reason };
    let output = precompile.execute(input, gas, 0).map_err(|error| failed(format!("{error:?}")))?;
    match output.status {
        PrecompileStatus::Success => Ok(NativeOutput { output: output.bytes.to_vec(), gas_used: output.gas_used }),
        status => Err(failed(format!("{status:?}"))),
    }
}
