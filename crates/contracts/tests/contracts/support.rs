//! Contracts under revisions, not all of which can express every contract.

use residue_compiler::{CompileError, Compiled};
use residue_contracts::Contract;
use residue_isa::Revision;

/// What became of a contract, or nothing if the revision cannot express it. All have the base field of BLS12-381.
#[track_caller]
pub fn expressed(
    contract: &Contract,
    revision: Revision,
    compiled: Result<Compiled, CompileError>,
) -> Option<Compiled> {
    match compiled {
        Ok(compiled) => Some(compiled),
        Err(error) if error.is_inexpressible() && !is_over_bls12_381(contract) => None,
        Err(error) => panic!("{}, {revision}: {error}", contract.name),
    }
}

fn is_over_bls12_381(contract: &Contract) -> bool {
    contract.program().units().all(|unit| unit.modulus == residue_curves::bls12_381::constants::modulus())
}
