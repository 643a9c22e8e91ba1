//! Contracts as `residue build` makes them: in the variant whose example costs least.

use residue_contracts::Contract;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::{Trial, VariantError, cheapest};

use crate::error::LabError;

/// The contract under the revision's own schedule.
pub(crate) fn made(contract: &'static Contract, revision: Revision) -> Result<Trial, LabError> {
    cheapest(contract, revision, &GasSchedule::default_for(revision)?).map_err(|error| match error {
        VariantError::Compile(error) => LabError::Compile { name: contract.name, error: Box::new(error) },
        error => LabError::Outside { program: contract.name.to_owned(), reason: error.to_string() },
    })
}

/// The same; none if the revision cannot express the contract.
pub(crate) fn made_if_expressible(contract: &'static Contract, revision: Revision) -> Result<Option<Trial>, LabError> {
    match made(contract, revision) {
        Err(error) if error.is_inexpressible() => Ok(None),
        made => made.map(Some),
    }
}
