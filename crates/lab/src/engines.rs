//! The engines that code is measured on: every revision, with the batch engine and without.

use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::Revision;

use crate::error::LabError;

/// When blocks run as plans, with how layers name it: what users have, then every instruction by itself.
const BATCHINGS: [(Batching, &str); 2] = [(Batching::Warm, "batch"), (Batching::Off, "plain")];

/// A layer of measurements that executes code.
#[derive(Debug, Clone)]
pub struct EngineLayer {
    /// Revision and engine: `eip6690-2024:batch`.
    pub name: String,
    /// The revision.
    pub revision: Revision,
    /// The engine under the revision's own schedule.
    pub engine: Engine,
}

impl EngineLayer {
    /// The layers of a revision.
    pub fn all_of(revision: Revision) -> Result<Vec<Self>, LabError> {
        let layer = |(batching, name)| {
            let engine = Engine::new(EngineConfig { batching, ..EngineConfig::default_for(revision) })?;
            Ok(Self { name: format!("{revision}:{name}"), revision, engine })
        };
        BATCHINGS.into_iter().map(layer).collect()
    }
}
