//! The vectors of EIP-2537: calldata of the BLS12-381 precompiles with the outputs, and calldata they refuse.
//!
//! Source: ethereum/EIPs, assets/eip-2537. Files come in pairs, `NAME.json` and `fail-NAME.json`.

use residue_isa::precompile;
use serde::{Deserialize, Deserializer};

use crate::vectors::{self, VectorError};

/// An operation with vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The name in the names of its files.
    pub file: &'static str,
    /// The address of the precompile that does it.
    pub address: u16,
}

/// The pairing check.
pub const PAIRING_CHECK: Operation = Operation { file: "pairing_check_bls", address: precompile::BLS12_PAIRING_CHECK };

/// Every operation. A multiplication is a sum of one product, so it shares its precompile with the sums.
pub const OPERATIONS: [Operation; 9] = [
    Operation { file: "add_G1_bls", address: precompile::BLS12_G1ADD },
    Operation { file: "add_G2_bls", address: precompile::BLS12_G2ADD },
    Operation { file: "mul_G1_bls", address: precompile::BLS12_G1MSM },
    Operation { file: "mul_G2_bls", address: precompile::BLS12_G2MSM },
    Operation { file: "msm_G1_bls", address: precompile::BLS12_G1MSM },
    Operation { file: "msm_G2_bls", address: precompile::BLS12_G2MSM },
    PAIRING_CHECK,
    Operation { file: "map_fp_to_G1_bls", address: precompile::BLS12_MAP_FP_TO_G1 },
    Operation { file: "map_fp2_to_G2_bls", address: precompile::BLS12_MAP_FP2_TO_G2 },
];

/// Calldata that is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Accepted {
    /// Subject of the case.
    pub name: String,
    /// Calldata.
    #[serde(deserialize_with = "from_hex")]
    pub input: Vec<u8>,
    /// Expected output.
    #[serde(deserialize_with = "from_hex")]
    pub expected: Vec<u8>,
    /// Gas that the precompile charges.
    pub gas: u64,
}

/// Calldata that is refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Refused {
    /// Subject of the case.
    pub name: String,
    /// Calldata.
    #[serde(deserialize_with = "from_hex")]
    pub input: Vec<u8>,
    /// Why, in the words of the implementation that made the file.
    pub expected_error: String,
}

/// The vectors of one operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vectors {
    /// Accepted calldata.
    pub accepted: Vec<Accepted>,
    /// Refused calldata.
    pub refused: Vec<Refused>,
}

impl Vectors {
    /// Reads the files of an operation. None, with a message, if this machine has no vectors of EIP-2537.
    pub fn read(operation: Operation) -> Result<Option<Self>, VectorError> {
        let Some(folder) = vectors::folder("eip2537") else {
            return Ok(None);
        };
        let Operation { file, .. } = operation;
        let accepted = vectors::cases(&folder, &format!("{file}.json"))?;
        Ok(Some(Self { accepted, refused: vectors::cases(&folder, &format!("fail-{file}.json"))? }))
    }
}

/// Checks what does the work of a precompile, a contract or the precompile itself, against all vectors of the operation.
/// `run` takes calldata and says whether it was accepted and what was returned. Gives the number of cases, 0 if this
/// machine has none.
///
/// # Panics
/// With the names of the cases that `run` gets wrong, or if the files are not what they should be.
#[track_caller]
pub fn check_contract_against_vectors(operation: Operation, run: impl Fn(&[u8]) -> (bool, Vec<u8>)) -> usize {
    let vectors = Vectors::read(operation).unwrap_or_else(|error| panic!("{error}")).unwrap_or_default();
    let wrong = mistakes(&vectors, run);
    assert!(wrong.is_empty(), "{}: {} wrong\n{}", operation.file, wrong.len(), wrong.join("\n"));
    vectors.accepted.len() + vectors.refused.len()
}

fn mistakes(vectors: &Vectors, run: impl Fn(&[u8]) -> (bool, Vec<u8>)) -> Vec<String> {
    let mut wrong = Vec::new();
    for Accepted { name, input, expected, .. } in &vectors.accepted {
        match run(input) {
            (false, _) => wrong.push(format!("{name}: refused")),
            (true, output) if output != *expected => {
                wrong.push(format!("{name}: {}, expected {}", hex::encode(output), hex::encode(expected)));
            }
            (true, _) => {}
        }
    }
    for Refused { name, input, expected_error } in &vectors.refused {
        if let (true, output) = run(input) {
            wrong.push(format!("{name}: accepted with {}, expected {expected_error:?}", hex::encode(output)));
        }
    }
    wrong
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    hex::decode(text.strip_prefix("0x").unwrap_or(&text)).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_mistake_is_found() {
        let accepted: Accepted = serde_json::from_str(
            r#"{"Name": "sum", "Input": "0x01", "Expected": "02", "Gas": 3, "NoBenchmark": true}"#,
        )
        .unwrap();
        let refused: Refused =
            serde_json::from_str(r#"{"Name": "short", "Input": "", "ExpectedError": "too short"}"#).unwrap();
        let vectors = Vectors { accepted: vec![accepted], refused: vec![refused] };
        let right = |input: &[u8]| (!input.is_empty(), vec![2]);
        assert!(mistakes(&vectors, right).is_empty());
        assert_eq!(mistakes(&vectors, |_| (false, vec![])), ["sum: refused"]);
        assert_eq!(mistakes(&vectors, |input| (!input.is_empty(), vec![3])), ["sum: 03, expected 02"]);
        assert_eq!(mistakes(&vectors, |_| (true, vec![2])), [r#"short: accepted with 02, expected "too short""#]);
    }

    #[test]
    fn odd_hex_is_an_error() {
        let refused = serde_json::from_str::<Refused>(r#"{"Name": "a", "Input": "012", "ExpectedError": ""}"#);
        assert!(refused.unwrap_err().to_string().contains("Odd number"));
    }
}
