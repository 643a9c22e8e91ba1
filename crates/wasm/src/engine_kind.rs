//! The engines that there are.

use std::fmt;
use std::str::FromStr;

/// Engine that runs modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// wasmi, which interprets.
    Wasmi,
    /// wasmtime, which compiles to machine code.
    Wasmtime,
}

impl EngineKind {
    /// Both, whether this build has them or not.
    pub const ALL: [EngineKind; 2] = [EngineKind::Wasmi, EngineKind::Wasmtime];

    /// True if this build contains the engine.
    pub const fn is_built_in(self) -> bool {
        match self {
            EngineKind::Wasmi => true,
            EngineKind::Wasmtime => cfg!(feature = "wasmtime"),
        }
    }

    /// Those that this build has.
    pub fn built_in() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|engine| engine.is_built_in())
    }

    /// As users and layers of measurements name it.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Wasmi => "wasmi",
            EngineKind::Wasmtime => "wasmtime",
        }
    }
}

impl Default for EngineKind {
    /// The fastest that this build has.
    fn default() -> Self {
        if Self::Wasmtime.is_built_in() { Self::Wasmtime } else { Self::Wasmi }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EngineKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("unknown engine {text:?}; known are {}", Self::ALL.map(Self::name).join(", ")))
    }
}
