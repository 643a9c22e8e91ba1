//! Code with the instructions of EIP-6690, run by the engine, without batches.

use alloc::vec::Vec;
use core::hint::black_box;

use residue_engine::revm::primitives::keccak256;
use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::{GasSchedule, Revision, jumpdests};

use crate::evm::GAS;
use crate::form::Form;

const REVISION: Revision = Revision::Eip6690_2024;
/// Prices of the EIP.
const SCHEDULE: &str = include_str!("../../../isa/schedules/eip6690.toml");

/// Output of code for calldata; none if it halts or reverts. Forms that run no code answer with the calldata.
pub fn run(form: Form, code: &[u8], calldata: &[u8]) -> Option<Vec<u8>> {
    let schedule = GasSchedule::from_toml(SCHEDULE, "eip6690.toml").ok()?;
    let config = EngineConfig { batching: Batching::Off, ..EngineConfig::new(REVISION, schedule) };
    let engine = Engine::new(config).ok()?;
    match form {
        Form::Ready => {
            black_box(keccak256(code));
            Some(calldata.to_vec())
        }
        Form::Analysis => {
            black_box(keccak256(code));
            black_box(jumpdests(code, REVISION));
            Some(calldata.to_vec())
        }
        _ => {
            let outcome = engine.prepare(code).run_without_memory(calldata, GAS);
            outcome.halt.is_success().then_some(outcome.output)
        }
    }
}
