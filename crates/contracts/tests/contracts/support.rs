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

/// A third of the revisions for the contract of this number, another third for the next, as all of them with all contracts take
/// long; all of them where `RESIDUE_CASES` is set.
pub fn some_revisions(number: usize) -> impl Iterator<Item = Revision> {
    let step = if std::env::var_os("RESIDUE_CASES").is_some() { 1 } else { 3 };
    Revision::ALL.iter().copied().skip(number % step).step_by(step)
}
