//! Contracts that are made of a verifying key: their proof systems, and the calldata of their calls.

use crate::source::Source;
use num_bigint::BigUint;
use std::sync::Arc;
use thiserror::Error;

/// A verifier of the proofs of one key.
pub trait Verifier: Source {
    /// The calldata for a proof and its inputs, in the JSON of snarkjs or of gnark. Whether the proof holds is not asked.
    fn call(&self, proof: &str, inputs: &str) -> Result<Vec<u8>, CallError>;

    /// True if it takes a residue witness.
    fn takes_witness(&self) -> bool;

    /// Bytes to append to calldata for a call with a residue witness; `None` if the proof does not hold or the verifier
    /// takes none.
    fn witness_for(&self, calldata: &[u8]) -> Option<Vec<u8>>;
}

/// A proof system with verifiers.
#[derive(Debug, Clone, Copy)]
pub struct ProofSystem {
    /// Its name, as commands take it.
    pub name: &'static str,
    /// One line: what its verifiers compute.
    pub summary: &'static str,
    /// Calldata and output of its verifiers.
    pub interface: &'static str,
    /// Makes one of a key in JSON.
    pub verifier: fn(&str, VerifierOptions) -> Made,
}

/// Options of a verifier, beside its key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerifierOptions {
    /// It also takes a residue witness.
    pub takes_witness: bool,
    /// Its key may be one for which proofs can be made up, see [`KeyError::Unsafe`].
    pub allows_unsafe_key: bool,
}

/// A verifier, or what is wrong with its key.
pub type Made = Result<Arc<dyn Verifier>, KeyError>;

/// Errors of a key, a proof or a list of inputs. A field is named as in its file.
#[derive(Debug, Error)]
pub enum KeyError {
    /// It is no JSON.
    #[error("it is not JSON: {0}")]
    Json(String),
    /// An object has a field twice: which, and at which line and column.
    #[error("{0}")]
    Twice(String),
    /// A field is missing, or something else than what has to be there.
    #[error("{field} is {found}, and not {expected}")]
    Shape {
        /// Name of the field.
        field: String,
        /// Value found there.
        found: String,
        /// Expected value.
        expected: &'static str,
    },
    /// A number that is too large.
    #[error("{field} is {}, which is not below {what} {}", cut(value), cut(&limit.to_string()))]
    TooLarge {
        /// Name of the field.
        field: String,
        /// The number.
        value: String,
        /// Name of the exclusive bound.
        what: &'static str,
        /// The same as a number.
        limit: BigUint,
    },
    /// A point that is not on its curve.
    #[error("{field} is not on the curve: x is {x}, y is {y}{hint}")]
    NotOnCurve {
        /// Name of the field.
        field: String,
        /// x.
        x: String,
        /// y.
        y: String,
        /// The point that is on the curve in its place, if one is known.
        hint: &'static str,
    },
    /// A point whose order is not that of the groups.
    #[error("{field} is on the curve and not in the subgroup of order r: x is {x}, y is {y}")]
    NotInSubgroup {
        /// Name of the field.
        field: String,
        /// x.
        x: String,
        /// y.
        y: String,
    },
    /// A witness for verifiers that take none.
    #[error("verifiers of {system} take no residue witness")]
    NoWitness {
        /// Proof system of the verifiers.
        system: &'static str,
    },
    /// The identity where it would make the check worthless.
    #[error("{field} is the identity, with which proofs can be made up")]
    Identity {
        /// Name of the field.
        field: String,
    },
    /// A relation between parts of a key by which proofs can be made up, or none can hold.
    #[error("the key is unsafe: {relation}: {consequence}")]
    Unsafe {
        /// The relation, by fields.
        relation: String,
        /// The consequence.
        consequence: &'static str,
    },
    /// An object that is no key of any form that is read.
    #[error("the file has {found}, and no field of a key: {known}")]
    Form {
        /// Its fields.
        found: String,
        /// The forms, by their fields and who writes them.
        known: String,
    },
}

/// Digits of the longest number that messages show whole: as many as 2⁶⁴ has.
const DIGITS_SHOWN: usize = 20;
/// Digits at both ends that they show of others.
const DIGITS_AT_ENDS: usize = 8;

/// A number as messages show it: of a long one both ends, and how long it is.
pub(crate) fn cut(number: &str) -> String {
    let digits: Vec<char> = number.chars().collect();
    if digits.len() <= DIGITS_SHOWN {
        return number.to_owned();
    }
    let text = |digits: &[char]| digits.iter().collect::<String>();
    let (first, last) = (text(&digits[..DIGITS_AT_ENDS]), text(&digits[digits.len() - DIGITS_AT_ENDS..]));
    format!("{first}…{last} ({} digits)", digits.len())
}

impl From<serde_json::Error> for KeyError {
    fn from(error: serde_json::Error) -> Self {
        // Any JSON is a value; only a field that is there twice is none of ours.
        if error.is_data() { Self::Twice(error.to_string()) } else { Self::Json(error.to_string()) }
    }
}

/// Errors of a call, by the text that holds them.
#[derive(Debug, Error)]
pub enum CallError {
    /// In the proof.
    #[error("the proof: {0}")]
    Proof(KeyError),
    /// In the inputs.
    #[error("the inputs: {0}")]
    Inputs(KeyError),
}
