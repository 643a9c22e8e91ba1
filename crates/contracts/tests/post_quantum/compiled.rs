//! Code of a verifier of lattices, ready to run.

use residue_compiler::{Deployment, Dialect, SmallMultiples, compile_as};
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Fork, Halt, Outcome};
use residue_isa::{GasSchedule, Revision};
use std::num::NonZeroU64;

const GAS: u64 = 10_000_000;

pub struct Compiled {
    engine: Engine,
    pub code: Vec<u8>,
}

impl Compiled {
    pub fn new(name: &str, revision: Revision) -> Self {
        Self::priced(name, revision, Fork::default(), None)
    }

    /// Code whose bytes have a price, as for so many calls, or none.
    pub fn priced(name: &str, revision: Revision, fork: Fork, calls: Option<u64>) -> Self {
        let deployment = calls.map(|calls| Deployment { gas_a_byte: 200, calls: NonZeroU64::new(calls).unwrap() });
        let dialect = Dialect { fork, deployment, ..Dialect::default() };
        let (program, schedule) = (find(name).unwrap().program(), GasSchedule::default_for(revision).unwrap());
        let code = compile_as(&program, revision, &schedule, SmallMultiples::AsWritten, dialect).unwrap().code;
        let config = EngineConfig { fork, ..EngineConfig::default_for(revision) };
        Self { engine: Engine::new(config).unwrap(), code }
    }

    pub fn run(&self, calldata: &[u8]) -> Outcome {
        self.engine.run_code(&self.code, calldata, GAS)
    }

    /// The answer, which is a word, 1 or 0.
    pub fn answer(&self, calldata: &[u8]) -> bool {
        let outcome = self.run(calldata);
        assert_eq!(outcome.halt, Halt::Return);
        assert!(outcome.output[..31] == [0; 31] && outcome.output[31] < 2, "{:?}", outcome.output);
        outcome.output[31] == 1
    }
}
