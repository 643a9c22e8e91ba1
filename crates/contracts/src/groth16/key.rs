//! Verifying keys and proofs, as points that are checked.

use residue_curves::Affine;
use residue_curves::pairing::PairingCurve;
use residue_curves::tower::Fp2;
use residue_formula::Number;

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

/// No key has more inputs: calldata of more than that is longer than what a transaction may have.
pub const INPUTS_MAX: usize = 4096;

impl<N: Number, C: PairingCurve> Key<N, C> {
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.ic.len() - 1
    }
}
