//! Weights of contracts: number of calls, from a file.

use std::collections::BTreeMap;

use residue_isa::UnknownName;
use serde::Deserialize;
use thiserror::Error;

/// The weights that hold unless others are given.
pub const DEFAULT: &str = include_str!("weights.toml");

/// Calls by the name of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Calls of each contract; zero for one that is absent.
    pub calls: BTreeMap<String, u64>,
}

/// Weights that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WeightsError {
    /// The file is no TOML of this form.
    #[error("{0}")]
    Malformed(String),
    /// A contract is weighed that does not exist.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
}

impl Weights {
    /// Reads a file of the form of [`DEFAULT`].
    pub fn read(text: &str) -> Result<Self, WeightsError> {
        let weights: Self = toml::from_str(text).map_err(|error| WeightsError::Malformed(error.to_string()))?;
        let named = |(name, calls): (String, u64)| Ok((residue_contracts::named(&name)?.name.to_owned(), calls));
        Ok(Self { calls: weights.calls.into_iter().map(named).collect::<Result<_, UnknownName>>()? })
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
        assert_eq!(Weights::read("[calls]\nMODEXP = 1").unwrap().of("modexp"), 1);
        let unknown = Weights::read("[calls]\nmodexq = 1").unwrap_err().to_string();
        assert!(unknown.starts_with("unknown contract \"modexq\"; did you mean modexp"), "{unknown}");
        for wrong in ["calls = 1", "[calls]\nmodexp = -1", "[colls]\nmodexp = 1", "["] {
            assert!(matches!(Weights::read(wrong), Err(WeightsError::Malformed(_))), "{wrong}");
        }
    }
}
