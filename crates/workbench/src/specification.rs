//! The executable specification as an engine: the same code, input and gas under the same schedule.

use residue_engine::{Fork, MEMORY_LIMIT_BYTES};
use residue_isa::{GasSchedule, Revision};
use residue_spec::{Env, Halt, Prices};
use residue_specified::{spec_prices, specified};
use thiserror::Error;

use crate::ended::Ended;

/// The account that raw code runs as in the engine; `ADDRESS` pushes it.
const CODE_ADDRESS: [u8; 20] = [0xc0; 20];
/// The account that calls it; `CALLER` pushes it.
const CALLER_ADDRESS: [u8; 20] = [0xca; 20];

/// Why the specification does not speak.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecificationError {
    /// It has the rules of one fork.
    #[error("the specification has the rules of {fork}, not of {0}", fork = Fork::Osaka)]
    Fork(Fork),
    /// It leaves open how a code ends, as an instruction asks for more than a frame.
    #[error(
        "the specification does not say how this code ends: {instruction} asks for accounts, storage, blocks or logs, and it knows one frame only, without precompiles"
    )]
    World {
        /// The instruction.
        instruction: String,
    },
    /// The schedule has no price for an instruction.
    #[error("the specification does not say how this code ends: the schedule has no price for {instruction}")]
    Unpriced {
        /// The instruction.
        instruction: String,
    },
}

/// The specification of a revision with a schedule's prices.
#[derive(Debug)]
pub struct Specification {
    of: Revision,
    revision: &'static residue_spec::Revision,
    prices: Prices,
    env: Env,
}

impl Specification {
    /// Makes the specification ready. It knows one fork only.
    pub fn new(revision: Revision, schedule: &GasSchedule, fork: Fork) -> Result<Self, SpecificationError> {
        if fork != Fork::Osaka {
            return Err(SpecificationError::Fork(fork));
        }
        let env = Env {
            address: CODE_ADDRESS,
            caller: CALLER_ADDRESS,
            memory_limit_bytes: MEMORY_LIMIT_BYTES,
            ..Env::default()
        };
        Ok(Self { of: revision, revision: specified(revision), prices: spec_prices(schedule, revision), env })
    }

    /// Runs code. An error if the specification cannot say how it ends.
    pub fn run(&self, code: &[u8], input: &[u8], gas: u64) -> Result<Ended, SpecificationError> {
        let outcome = residue_spec::run(self.revision, &self.prices, &self.env, code, input, gas);
        let halt = outcome.halt;
        match halt {
            Halt::Unsupported { opcode } => {
                return Err(SpecificationError::World { instruction: self.instruction(opcode) });
            }
            Halt::Unpriced { opcode } => {
                return Err(SpecificationError::Unpriced { instruction: self.instruction(opcode) });
            }
            _ => {}
        }
        Ok(Ended {
            halt: halt.name(),
            is_success: halt.is_success(),
            is_exceptional: halt.is_exceptional(),
            output: outcome.output,
            gas_used: outcome.gas_used,
            memory: outcome.memory,
        })
    }

    /// An instruction in a message: its mnemonic, and its byte.
    fn instruction(&self, opcode: u8) -> String {
        let mnemonic = self.of.row(opcode).map_or("an instruction", |row| row.mnemonic);
        format!("{mnemonic} ({opcode:#04x})")
    }
}
