//! The precompile that a contract replaces, as a judge and as a baseline.

use residue_contracts::Source;
use residue_engine::Fork;
use residue_engine::native::{NativeError, NativeOutput, precompile};

/// Output of the precompile that a contract replaces for `input`, or its error. `None` if the contract replaces no
/// precompile.
pub fn native(contract: &dyn Source, input: &[u8]) -> Option<Result<NativeOutput, NativeError>> {
    contract.precompile().map(|address| precompile(Fork::default(), address, input, u64::MAX))
}
