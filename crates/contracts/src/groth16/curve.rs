//! The curves of the verifiers, and the encoding of their points.

use super::many::sum_of_many;
use crate::encoding::Encoding;
use crate::keyed::by_precompiles::{Precompiles, Sums};
use num_bigint::BigUint;
use residue_curves::bls12_381::{self, Bls12_381, g1, g2};
use residue_curves::bn254::{self, Bn254, g1_curve_defect};
use residue_curves::conditions::{Conditions, all_vanish};
use residue_curves::pairing::PairingCurve;
use residue_curves::tower::Fp2;
use residue_curves::{Affine, Jacobian};
use residue_formula::Number;
use residue_ir::Machine;
use residue_isa::precompile::{BLS12_G1MSM, BLS12_PAIRING_CHECK, BN254_ADD, BN254_MUL, BN254_PAIRING_CHECK};
use residue_modular::fields::{Bls12_381Fp, Bn254Fp};

/// A curve with verifiers.
pub trait ProofCurve: PairingCurve + Send + Sync {
    /// Numbers of its field.
    type Number: Number + Send + Sync;

    /// Encoding of elements in calldata: words of 32 bytes.
    const ENCODING: Encoding;

    /// The precompiles that compute on it.
    const PRECOMPILES: Precompiles;

    /// One line: what a verifier computes.
    const SUMMARY: &'static str;

    /// Names of it in keys, in small letters without hyphens and low lines.
    const NAMES: &'static [&'static str];

    /// b of y² = x³ + b.
    fn b() -> &'static BigUint;

    /// b of the twist.
    fn twist_b() -> Fp2<BigUint, Self>;

    /// A point of G1.
    fn g1_generator() -> Affine<BigUint>;

    /// A point of G2.
    fn g2_generator() -> Affine<Fp2<BigUint, Self>>;

    /// Conditions that hold exactly if both points are in G1.
    fn members<M: Machine>(machine: &M, points: [Affine<M::Fe>; 2]) -> Conditions<M::Fe>;

    /// Zero exactly if the point lies on the twist.
    fn twist_defect<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe, Self>>) -> M::Fe;

    /// From how many inputs on their sum is [`Self::sum_of_many`]; `None` for a curve that has no such way.
    const MANY: Option<usize> = None;

    /// P₀ + Σ sᵢ·Pᵢ for scalars below the order, in words of calldata from a byte on; Z = 0 exactly if it is the identity.
    fn sum_of_many<M: Machine>(
        _: &M,
        _scalars_at: u32,
        _constant: Option<Affine<Self::Number>>,
        _points: &[Affine<Self::Number>],
    ) -> Jacobian<M::Fe> {
        unreachable!("curves with a number of inputs for it have a way")
    }
}

impl ProofCurve for Bn254 {
    type Number = Bn254Fp;

    const ENCODING: Encoding = crate::bn254::ENCODING;
    const PRECOMPILES: Precompiles =
        Precompiles { sums: Sums::OneByOne { add: BN254_ADD, mul: BN254_MUL }, pairing: BN254_PAIRING_CHECK };
    const SUMMARY: &'static str = "does a Groth16 proof on BN254 hold for a key?";
    const NAMES: &'static [&'static str] = &["bn128", "bn254", "bn256", "altbn128"];

    fn b() -> &'static BigUint {
        &bn254::constants().b
    }

    fn twist_b() -> Fp2<BigUint, Self> {
        bn254::constants().twist_b.clone()
    }

    fn g1_generator() -> Affine<BigUint> {
        bn254::g1_generator()
    }

    fn g2_generator() -> Affine<Fp2<BigUint, Self>> {
        bn254::g2_generator()
    }

    /// G1 is all of its curve.
    fn members<M: Machine>(machine: &M, points: [Affine<M::Fe>; 2]) -> Conditions<M::Fe> {
        let defects = points.map(|point| g1_curve_defect(machine, point));
        Conditions { vanishing: all_vanish(&defects), invertible: machine.one() }
    }

    fn twist_defect<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe, Self>>) -> M::Fe {
        bn254::g2_curve_defect(machine, point)
    }

    /// The combs of seven inputs take less, with five teeth; those of eight, with four, do not.
    const MANY: Option<usize> = Some(8);

    fn sum_of_many<M: Machine>(
        machine: &M,
        scalars_at: u32,
        constant: Option<Affine<Bn254Fp>>,
        points: &[Affine<Bn254Fp>],
    ) -> Jacobian<M::Fe> {
        sum_of_many(machine, &Bn254, scalars_at, constant, points)
    }
}

impl ProofCurve for Bls12_381 {
    type Number = Bls12_381Fp;

    const ENCODING: Encoding = Encoding::EIP_2537;
    const PRECOMPILES: Precompiles = Precompiles { sums: Sums::AtOnce(BLS12_G1MSM), pairing: BLS12_PAIRING_CHECK };
    const SUMMARY: &'static str = "does a Groth16 proof on BLS12-381 hold for a key?";
    const NAMES: &'static [&'static str] = &["bls12381"];

    fn b() -> &'static BigUint {
        &bls12_381::constants::constants().b
    }

    fn twist_b() -> Fp2<BigUint, Self> {
        let b = Self::b();
        Fp2::new(b.clone(), b.clone())
    }

    fn g1_generator() -> Affine<BigUint> {
        bls12_381::constants::g1_generator()
    }

    fn g2_generator() -> Affine<Fp2<BigUint, Self>> {
        bls12_381::constants::g2_generator()
    }

    fn members<M: Machine>(machine: &M, points: [Affine<M::Fe>; 2]) -> Conditions<M::Fe> {
        g1::membership_of_all(machine, points)
    }

    fn twist_defect<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe, Self>>) -> M::Fe {
        g2::curve_defect(machine, point)
    }
}
