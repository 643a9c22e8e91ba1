//! End of a frame under any engine.

use residue_engine::Outcome;

/// End of a frame under any engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The halt's name.
    pub halt: &'static str,
    /// Stop or return.
    pub is_success: bool,
    /// True if the halt consumed all gas.
    pub is_exceptional: bool,
    /// Output.
    pub output: Vec<u8>,
    /// Gas of the frame.
    pub gas_used: u64,
    /// Memory at its end.
    pub memory: Vec<u8>,
}

impl Ended {
    /// Says in which way another execution of the same code ended differently. Memory counts only if anyone can see it:
    /// an exceptional halt voids the frame.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.halt != other.halt {
            return Some(format!("halt {} and {}", self.halt, other.halt));
        }
        if self.gas_used != other.gas_used {
            return Some(format!("gas {} and {}", self.gas_used, other.gas_used));
        }
        if self.output != other.output {
            return Some("different outputs".to_owned());
        }
        (!self.is_exceptional && self.memory != other.memory).then(|| "different memory".to_owned())
    }
}

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        Self {
            halt: outcome.halt.name(),
            is_success: outcome.halt.is_success(),
            is_exceptional: outcome.halt.is_exceptional(),
            output: outcome.output.clone(),
            gas_used: outcome.gas_used,
            memory: outcome.memory.clone(),
        }
    }
}
