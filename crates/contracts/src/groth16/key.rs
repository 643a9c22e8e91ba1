//! Verifying keys and proofs, as points that are checked.

use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::complete::{AZero, Complete};
use residue_curves::group::{Coordinate, Projective};
use residue_curves::pairing::PairingCurve;
use residue_curves::tower::Fp2;
use residue_formula::Number;
use residue_ir::Bundle;
use thiserror::Error;

/// A verifying key: points of the groups, as what reads it checks.
#[derive(Debug, Clone)]
pub struct Key<N, C> {
    /// α, in G1.
    pub alpha: Affine<N>,
    /// β, in G2.
    pub beta: Affine<Fp2<N, C>>,
    /// γ, in G2.
    pub gamma: Affine<Fp2<N, C>>,
    /// δ, in G2.
    pub delta: Affine<Fp2<N, C>>,
    /// IC₀, IC₁ …, in G1; `None` is the identity.
    pub ic: Vec<Option<Affine<N>>>,
}

/// A proof: coordinates, which nothing has checked.
#[derive(Debug, Clone)]
pub struct Proof<N, C> {
    /// A, in G1.
    pub a: Affine<N>,
    /// B, in G2.
    pub b: Affine<Fp2<N, C>>,
    /// C, in G1.
    pub c: Affine<N>,
}

/// What is wrong with a key, a proof or a list of inputs. A field is named as its file has it.
#[derive(Debug, Error)]
pub enum KeyError {
    /// It is no JSON.
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A field is missing, or something else than what has to be there.
    #[error("{field} is {found}, and not {expected}")]
    Shape {
        /// Where.
        field: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: &'static str,
    },
    /// A number that is too large.
    #[error("{field} is {value}, which is not below {what} {limit}")]
    TooLarge {
        /// Where.
        field: String,
        /// The number.
        value: String,
        /// What it must be below.
        what: &'static str,
        /// The same as a number.
        limit: BigUint,
    },
    /// A point that is not on its curve.
    #[error("{field} is not on the curve: x is {x}, y is {y}")]
    NotOnCurve {
        /// Where.
        field: String,
        /// x.
        x: String,
        /// y.
        y: String,
    },
    /// A point whose order is not that of the groups.
    #[error("{field} is on the curve and not in the subgroup of order r: x is {x}, y is {y}")]
    NotInSubgroup {
        /// Where.
        field: String,
        /// x.
        x: String,
        /// y.
        y: String,
    },
    /// A witness for verifiers that take none.
    #[error("verifiers of {system} take no residue witness")]
    NoWitness {
        /// Which verifiers.
        system: &'static str,
    },
    /// The identity where it would make the check worthless.
    #[error("{field} is the identity, with which proofs can be made up")]
    Identity {
        /// Where.
        field: String,
    },
}

/// No key has more inputs: calldata of more than that is longer than what a transaction may have.
pub const INPUTS_MAX: usize = 4096;

impl<N: Number, C: PairingCurve> Key<N, C> {
    /// How many inputs it is for.
    pub fn inputs(&self) -> usize {
        self.ic.len() - 1
    }
}

/// Whether r·P is the identity, for a point of y² = x³ + b without points of order two.
pub(super) fn is_in_subgroup<N, K>(point: Affine<K>, b: K, [zero, one]: [K; 2], order: &BigUint) -> bool
where
    N: Number,
    K: Coordinate + Bundle<N> + PartialEq,
{
    let curve = AZero(|z: K| {
        let bz = z * b;
        bz + bz + bz
    });
    let point = Projective { x: point.x, y: point.y, z: one };
    let identity = Projective { x: zero, y: one, z: zero };
    let multiple = (0..order.bits()).rev().fold(identity, |multiple, bit| {
        let double = curve.double(multiple);
        if order.bit(bit) { double.add_complete(point, &curve) } else { double }
    });
    multiple.z == zero
}
