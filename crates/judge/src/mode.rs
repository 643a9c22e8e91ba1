//! Executors that are compared with the plain engine.

use std::fmt;
use std::str::FromStr;

use residue_engine::Batching;
use residue_isa::UnknownName;

/// A side of the comparison. The other one is the plain engine, made anew for every transaction, so that it remembers nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// The engine as it is by default.
    Warm,
    /// Plans from the first entry on.
    Always,
    /// Scalar traces from the first entry on.
    Traces,
    /// The engine as it is by default, by two threads as one.
    Shared,
    /// The executable specification, where it has a verdict.
    Spec,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 5] = [Mode::Warm, Mode::Always, Mode::Traces, Mode::Shared, Mode::Spec];

    /// The name users write.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Warm => "warm",
            Mode::Always => "always",
            Mode::Traces => "traces",
            Mode::Shared => "shared",
            Mode::Spec => "spec",
        }
    }

    /// When the engine batches; never for the specification, which is none.
    pub const fn batching(self) -> Batching {
        match self {
            Mode::Warm | Mode::Shared => Batching::Warm,
            Mode::Always => Batching::Always,
            Mode::Traces => Batching::Traces,
            Mode::Spec => Batching::Off,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownName::new("mode", name, Self::ALL.map(Self::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_unknown_ones_list_the_known() {
        for mode in Mode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        let error = "cold".parse::<Mode>().unwrap_err().to_string();
        assert_eq!(error, "unknown mode \"cold\"; known are warm, always, traces, shared, spec");
    }
}
