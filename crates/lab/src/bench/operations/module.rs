//! A WebAssembly module as a subject, ours or of another origin.

use residue_wasm::{EngineKind, Prepared, RunError};

/// A WebAssembly module for an engine.
pub(crate) struct Module {
    /// The layer of its measurements.
    pub layer: String,
    /// The engine.
    pub engine: EngineKind,
    /// The function that computes.
    pub function: &'static str,
    /// The module.
    pub bytes: Vec<u8>,
}

impl Module {
    /// Compiles and instantiates it.
    pub fn start(&self) -> Result<Prepared, RunError> {
        Prepared::instance(self.engine.compile(&self.bytes, None)?.as_ref(), self.function)
    }
}
