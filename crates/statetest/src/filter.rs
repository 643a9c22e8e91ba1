//! Selection of the entries to run.

use std::num::ParseIntError;
use std::str::FromStr;

use thiserror::Error;

use crate::format::Indexes;
use crate::report::Place;

/// Selection of entries; all without any part.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Under these forks, in any letter case.
    pub forks: Vec<String>,
    /// Of tests whose name contains this.
    pub test: Option<String>,
    /// Of this variant.
    pub indexes: Option<Indexes>,
}

/// A variant that is not three numbers.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IndexesError {
    /// Not as many.
    #[error("{text:?} is not DATA,GAS,VALUE")]
    Count {
        /// The text given.
        text: String,
    },
    /// Not a number.
    #[error("{part:?} in {text:?}: {source}")]
    Number {
        /// The text given.
        text: String,
        /// The part.
        part: String,
        /// Why.
        source: ParseIntError,
    },
}

impl Filter {
    pub(crate) fn lets_through(&self, place: &Place) -> bool {
        let is_fork = |fork: &String| fork.eq_ignore_ascii_case(&place.fork.name);
        (self.forks.is_empty() || self.forks.iter().any(is_fork))
            && self.test.as_ref().is_none_or(|part| place.test.contains(part.as_str()))
            && self.indexes.is_none_or(|indexes| indexes == place.indexes)
    }
}

impl FromStr for Indexes {
    type Err = IndexesError;

    /// Three positions, `DATA,GAS,VALUE`.
    fn from_str(text: &str) -> Result<Self, IndexesError> {
        let parts: Vec<&str> = text.split(',').collect();
        let [data, gas, value] = parts[..] else {
            return Err(IndexesError::Count { text: text.to_owned() });
        };
        let number = |part: &str| {
            let number = part.trim().parse();
            number.map_err(|source| IndexesError::Number { text: text.to_owned(), part: part.to_owned(), source })
        };
        Ok(Indexes { data: number(data)?, gas: number(gas)?, value: number(value)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_three_numbers() {
        assert_eq!("1,0,22".parse(), Ok(Indexes { data: 1, gas: 0, value: 22 }));
        for (text, part) in [("1,2", "DATA,GAS,VALUE"), ("1,x,3", "\"x\""), ("1,,3", "\"\""), ("-1,0,0", "\"-1\"")] {
            let error = text.parse::<Indexes>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
