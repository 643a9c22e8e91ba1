//! The curves of the verifiers, and the encoding of their points.

use crate::encoding::Encoding;
use crate::keyed::by_precompiles::{Precompiles, Sums};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bls12_381::{self, Bls12_381, g1, g2};
use residue_curves::bn254::{self, Bn254, g1_curve_defect};
use residue_curves::conditions::{Conditions, all_vanish};
use residue_curves::glv::Endomorphism;
use residue_curves::pairing::PairingCurve;
use residue_curves::tower::Fp2;
use residue_ir::Machine;
use residue_isa::precompile::{BLS12_G1MSM, BLS12_PAIRING_CHECK, BN254_ADD, BN254_MUL, BN254_PAIRING_CHECK};

/// A curve with verifiers.
pub trait ProofCurve: PairingCurve + Endomorphism<Number: Send + Sync> + Send + Sync {
    /// Encoding of elements in calldata: words of 32 bytes.
    const ENCODING: Encoding;

    /// The precompiles that compute on it.
    const PRECOMPILES: Precompiles;

    /// One line: what a verifier computes.
    const SUMMARY: &'static str;

    /// Names of it in keys, in small letters without hyphens and low lines.
    const NAMES: &'static [&'static str];

    /// b of the twist.
    fn twist_b() -> Fp2<BigUint, Self>;

    /// A point of G2.
    fn g2_generator() -> Affine<Fp2<BigUint, Self>>;

    /// Conditions that hold exactly if both points are in G1.
    fn members<M: Machine>(machine: &M, points: [Affine<M::Fe>; 2]) -> Conditions<M::Fe>;

    /// Zero exactly if the point lies on the twist.
    fn twist_defect<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe, Self>>) -> M::Fe;

    /// Number of inputs from which on [`super::many`] takes less gas than combs.
    const MANY: usize;

    /// Number of inputs up to which powers of constants in the loop take less gas than the sum of the inputs and its pair.
    const IN_POWERS: usize;

    /// Number of inputs up to which code with four that share doublings has some 64 KiB at most; code with eight has not.
    const IN_FOURS: usize;

    /// The curve with its endomorphism.
    const CURVE: Self;
}

impl ProofCurve for Bn254 {
    const ENCODING: Encoding = crate::bn254::ENCODING;
    const PRECOMPILES: Precompiles = Precompiles {
        sums: Sums::OneByOne { add: BN254_ADD, mul: BN254_MUL },
        pairing: BN254_PAIRING_CHECK,
        loop_from: 2,
    };
    const SUMMARY: &'static str = "does a Groth16 proof on BN254 hold for a key?";
    const NAMES: &'static [&'static str] = &["bn128", "bn254", "bn256", "altbn128"];

    fn twist_b() -> Fp2<BigUint, Self> {
        bn254::constants().twist_b.clone()
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
    const MANY: usize = 8;
    const IN_POWERS: usize = 2;
    const IN_FOURS: usize = 80;
    const CURVE: Self = Self;
}

impl ProofCurve for Bls12_381 {
    const ENCODING: Encoding = Encoding::EIP_2537;
    const PRECOMPILES: Precompiles =
        Precompiles { sums: Sums::AtOnce(BLS12_G1MSM), pairing: BLS12_PAIRING_CHECK, loop_from: 6 };
    const SUMMARY: &'static str = "does a Groth16 proof on BLS12-381 hold for a key?";
    const NAMES: &'static [&'static str] = &["bls12381"];
    const MANY: usize = 6;
    const IN_POWERS: usize = 1;
    const IN_FOURS: usize = 41;
    const CURVE: Self = Self;

    fn twist_b() -> Fp2<BigUint, Self> {
        let b = &bls12_381::constants::constants().b;
        Fp2::new(b.clone(), b.clone())
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
