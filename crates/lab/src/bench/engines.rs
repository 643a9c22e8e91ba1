//! The engines that code is measured on: every revision, with the batch engine where it has blocks and without.

use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::Revision;

use crate::bench::subjects::{BATCHINGS, Subjects};
use crate::error::LabError;

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
    /// The layers of a revision: both engines where it has blocks, else the plain one.
    pub fn all_of(revision: Revision) -> Result<Vec<Self>, LabError> {
        let layer = |(batching, name)| {
            let engine = Engine::new(EngineConfig { batching, ..EngineConfig::default_for(revision) })?;
            Ok(Self { name: format!("{revision}:{name}"), revision, engine })
        };
        let exists = |batching: &Batching| *batching == Batching::Off || residue_engine::has_blocks(revision);
        BATCHINGS.into_iter().filter(|(batching, _)| exists(batching)).map(layer).collect()
    }

    /// The layers of a revision that are among the subjects.
    pub fn chosen(revision: Revision, subjects: Subjects) -> Result<Vec<Self>, LabError> {
        let mut layers = Self::all_of(revision)?;
        layers.retain(|layer| subjects.include(&layer.name));
        Ok(layers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_where_they_are_said_to_be() {
        let contract = residue_contracts::find("evm384/f6m_mul").unwrap();
        for &revision in Revision::ALL {
            let config = EngineConfig { batching: Batching::Always, ..EngineConfig::default_for(revision) };
            let code = residue_compiler::compile(&contract.program(), revision, &config.schedule).unwrap().code;
            let mut prepared = Engine::new(config).unwrap().prepare(&code);
            prepared.plan_ahead(&(contract.example)(), 1 << 40);
            let blocks = prepared.blocks();
            assert_eq!(!blocks.is_empty(), residue_engine::has_blocks(revision), "{revision}");
        }
    }

    #[test]
    fn every_revision_has_a_plain_engine_and_those_with_blocks_two() {
        for &revision in Revision::ALL {
            let names: Vec<String> = EngineLayer::all_of(revision).unwrap().into_iter().map(|l| l.name).collect();
            assert!(names.contains(&format!("{revision}:plain")));
            assert_eq!(names.len(), if residue_engine::has_blocks(revision) { 2 } else { 1 }, "{revision}");
        }
        let only = Subjects::named(&["evm384-v7:batch"]).unwrap();
        let chosen = EngineLayer::chosen(Revision::Evm384V7, only).unwrap();
        assert_eq!(chosen.iter().map(|layer| layer.name.as_str()).collect::<Vec<_>>(), ["evm384-v7:batch"]);
    }
}
