//! The semantics in Coq that certificates speak of, each with a checker that is proved.

use crate::straight::{Taken, unsupported};
use residue_isa::{GasSchedule, Revision};
use thiserror::Error;

/// Bits of a word.
const WORD_BITS: u64 = 256;

/// A semantics of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Semantics {
    /// The EVM of today: `coq/Evm.v`.
    Evm,
    /// Field contexts of `eip6690-2024` beside it, at the prices of its text: `coq/Slots.v`.
    Slots,
    /// The same with the moduli and values in code, and the values padded in memory, of `evmmax-next`.
    Next,
}

/// Why there is no semantics of code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoSemantics {
    /// A revision that certificates do not know.
    #[error("certificates do not know code for {0} yet: they speak of code for {known}", known = names())]
    Revision(Revision),
    /// Other prices than those of the revision's own schedule, in which certificates state gas.
    #[error("certificates state gas at the prices of {known}, and this code is for other ones, those of {given}")]
    Schedule {
        /// Name of the schedule.
        given: String,
        /// Name of the revision's own.
        known: &'static str,
    },
}

/// Names of the revisions that have a semantics.
pub(crate) fn names() -> String {
    Semantics::ALL.map(|semantics| semantics.revision().name()).join(", ")
}

impl Semantics {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Evm, Self::Slots, Self::Next];

    /// That of code for a revision, which is priced by a schedule.
    pub fn of(revision: Revision, schedule: &GasSchedule) -> Result<Self, NoSemantics> {
        let found = Self::ALL.into_iter().find(|semantics| semantics.revision() == revision);
        let found = found.ok_or(NoSemantics::Revision(revision))?;
        match GasSchedule::default_for(revision) {
            Ok(known) if known == *schedule => Ok(found),
            _ => {
                let given = schedule.name().to_owned();
                Err(NoSemantics::Schedule { given, known: revision.default_schedule() })
            }
        }
    }

    /// A fault of a modulus that is no word, in code that has no slots for its elements.
    pub(crate) fn takes(self, bits: u64) -> Taken<()> {
        match self {
            Self::Evm if bits > WORD_BITS => {
                unsupported(format!("a modulus of {bits} bits in code for {}", self.revision().name()))
            }
            _ => Ok(()),
        }
    }

    /// The revision of the code.
    pub const fn revision(self) -> Revision {
        match self {
            Self::Evm => Revision::Evm,
            Self::Slots => Revision::Eip6690_2024,
            Self::Next => Revision::EvmmaxNext,
        }
    }
}
