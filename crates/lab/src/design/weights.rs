//! How much each contract counts: calls of it, from a file.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

/// The weights that hold unless others are given.
pub const DEFAULT: &str = include_str!("weights.toml");

/// Calls by the name of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// How often each is called; one that is not here, never.
    pub calls: BTreeMap<String, u64>,
}

/// Weights that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WeightsError {
    /// The file is no TOML of this form.
    #[error("{0}")]
    Malformed(String),
    /// A contract is weighed that does not exist.
    #[error("there is no contract {0:?}")]
    Unknown(String),
}

impl Weights {
    /// Reads a file of the form of [`DEFAULT`].
    pub fn read(text: &str) -> Result<Self, WeightsError> {
        let weights: Self = toml::from_str(text).map_err(|error| WeightsError::Malformed(error.to_string()))?;
        match weights.calls.keys().find(|name| residue_contracts::find(name).is_none()) {
            Some(unknown) => Err(WeightsError::Unknown(unknown.clone())),
            None => Ok(weights),
        }
    }

    /// Calls of a contract.
    pub fn of(&self, contract: &str) -> u64 {
        self.calls.get(contract).copied().unwrap_or(0)
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self::read(DEFAULT).expect("the file that comes with the program is one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_one_and_mistakes_are_named() {
        let weights = Weights::default();
        assert!(weights.of("modexp") > weights.of("bls12_381/pairing"));
        assert_eq!(weights.of("evm384/f6m_mul"), 0);
        assert_eq!(Weights::read("[calls]\nnothing = 1"), Err(WeightsError::Unknown("nothing".to_owned())));
        for wrong in ["calls = 1", "[calls]\nmodexp = -1", "[colls]\nmodexp = 1", "["] {
            assert!(matches!(Weights::read(wrong), Err(WeightsError::Malformed(_))), "{wrong}");
        }
    }
}
