//! Ways: a contract computes the same bytes in several ways, and prices decide which of them costs least gas.

use crate::Contract;
use residue_compiler::{CompileError, Compiled, SmallMultiples, compile_with};
use residue_curves::fp2::Fp2Product;
use residue_engine::{Engine, EngineConfig, EngineError};
use residue_ir::Program;
use residue_isa::{GasSchedule, Revision};
use thiserror::Error;

/// One way through all choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ways {
    /// How products in Fp2 are made.
    pub product: Fp2Product,
    /// How small multiples are made.
    pub multiples: SmallMultiples,
}

impl Ways {
    /// Every way, that in which the texts are written first.
    pub fn all() -> impl Iterator<Item = Ways> {
        let with = |product| SmallMultiples::ALL.into_iter().map(move |multiples| Ways { product, multiples });
        Fp2Product::ALL.into_iter().flat_map(with)
    }
}

/// What became of one way under a revision and its prices.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The way.
    pub ways: Ways,
    /// The code.
    pub compiled: Compiled,
    /// Gas of the contract's example, in a frame of its own; fractions of the schedule that execution does not meter are cut.
    pub gas: u64,
}

/// Why no way was chosen.
#[derive(Debug, Error)]
pub enum WaysError {
    /// The revision cannot express the contract.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The revision cannot be executed under the schedule.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A mistake in the contract.
    #[error("the example of {contract} ends with {halt} under {revision}")]
    Example {
        /// The contract.
        contract: &'static str,
        /// Under which revision.
        revision: Revision,
        /// How it ended.
        halt: String,
    },
}

/// More gas than any example takes.
const GAS: u64 = 1 << 40;

impl Contract {
    /// Its program with products in Fp2 made in the given way.
    pub fn program_with(&self, product: Fp2Product) -> Program {
        product.within(self.program)
    }

    /// Whether its formulas are those of a publication, so that only the published way shows what was published.
    pub fn is_published(&self) -> bool {
        self.name.starts_with("evm384/")
    }

    /// It compiled in the way whose example costs least.
    pub fn cheapest(&self, revision: Revision, schedule: &GasSchedule) -> Result<Trial, WaysError> {
        Ok(self.trials(Ways::all(), revision, schedule)?.swap_remove(0))
    }

    /// Compiles it and runs its example in each of `ways`; the cheapest comes first, and of two that cost the same the one
    /// that was. A way for which there is no room is left out, unless it is the only one.
    pub fn trials(
        &self,
        ways: impl IntoIterator<Item = Ways>,
        revision: Revision,
        schedule: &GasSchedule,
    ) -> Result<Vec<Trial>, WaysError> {
        let engine = Engine::new(EngineConfig::new(revision, schedule.clone()))?;
        let input = (self.example)();
        let (mut trials, mut refusal): (Vec<Trial>, _) = (Vec::new(), None);
        for ways in ways {
            let compiled = match compile_with(&self.program_with(ways.product), revision, schedule, ways.multiples) {
                Ok(compiled) => compiled,
                Err(error) => {
                    refusal.get_or_insert(error);
                    continue;
                }
            };
            if trials.iter().any(|trial| trial.compiled.code == compiled.code) {
                continue;
            }
            let outcome = engine.run_code(&compiled.code, &input, GAS);
            if !outcome.halt.is_success() {
                return Err(WaysError::Example { contract: self.name, revision, halt: outcome.halt.to_string() });
            }
            trials.push(Trial { ways, compiled, gas: outcome.gas_used });
        }
        trials.sort_by_key(|trial| trial.gas);
        match refusal {
            Some(error) if trials.is_empty() => Err(error.into()),
            _ => Ok(trials),
        }
    }
}
