//! Parameters of an execution besides code, input and gas.

use alloc::string::String;
use alloc::vec::Vec;

use residue_isa::{GasSchedule, Price, Revision};
use thiserror::Error;

use crate::batch::Batching;
use crate::replacements::Replacement;
use residue_isa::Fork;

/// 64 MiB.
pub const MEMORY_LIMIT_BYTES: u64 = 64 << 20;

/// Parameters of an execution besides code, input and gas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineConfig {
    /// The field instructions there are. Their bytes collide between revisions, so there is one.
    pub revision: Revision,
    /// Prices of field instructions, and of the EVM's own opcodes if the schedule has them.
    pub schedule: GasSchedule,
    /// The rules of the EVM under them.
    pub fork: Fork,
    /// Maximum memory of all frames together, for any gas; slots do not count.
    pub memory_limit_bytes: u64,
    /// When blocks of field instructions run as plans of the batch engine.
    pub batching: Batching,
    /// Contracts in place of precompiles; of several for one address the last counts.
    pub replacements: Vec<Replacement>,
    /// Accounts that frames which the engine runs itself find beside that of their code.
    pub accounts: Vec<Installed>,
}

/// An account with code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its address.
    pub address: [u8; 20],
    /// Its code.
    pub code: Vec<u8>,
    /// True if the transaction has accessed it before, so that the first call costs no more than others (EIP-2929).
    pub is_warm: bool,
}

/// A configuration that cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The schedule has no prices for the revision.
    #[error("the gas schedule {schedule:?} has no prices for {revision}")]
    ScheduleForOther {
        /// Name of the schedule.
        schedule: String,
        /// The revision configured.
        revision: Revision,
    },
    /// The schedule prices one of the EVM's own opcodes beyond the range of revm's table.
    #[error("opcode {opcode:#04x} costs {price} gas, but a base price of the EVM is at most 65535")]
    BasePriceTooHigh {
        /// The opcode.
        opcode: u8,
        /// Its price.
        price: Price,
    },
}

impl EngineConfig {
    /// A revision under a schedule, on Osaka with 64 MiB of memory.
    pub fn new(revision: Revision, schedule: GasSchedule) -> Self {
        Self {
            revision,
            schedule,
            fork: Fork::default(),
            memory_limit_bytes: MEMORY_LIMIT_BYTES,
            batching: Batching::Warm,
            replacements: Vec::new(),
            accounts: Vec::new(),
        }
    }

    /// A revision under its own schedule, on Osaka with 64 MiB of memory.
    pub fn default_for(revision: Revision) -> Self {
        let schedule = GasSchedule::default_for(revision);
        Self::new(revision, schedule.expect("the schedules of the revisions are part of the program and tested"))
    }
}
