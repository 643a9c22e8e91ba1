//! G1 with its endomorphism, for sums of multiples of points that are known to be in G1 ([`crate::glv::msm`]): the curve has more points than those.
//!
//! φ(P) = −x²·P on G1 (Scott 2021, 2021/1130, §6), so with λ = −x² and r = x⁴ − x² + 1 the vectors (x², 1) and (−1, x² − 1) span all (a, b)
//! with a + b·λ = 0 modulo r: their determinant is r. No corner of their parallelogram has the digits to the base 8 of single multiples.

use super::constants::{X_ABS, constants, g1_generator};
use super::{Bls12_381, invert};
use crate::glv::Endomorphism;
use crate::glv::split::Split;
use crate::group::Affine;
use crate::pairing::PairingCurve;
use num_bigint::{BigInt, BigUint};
use residue_ir::Machine;
use residue_modular::fields::Bls12_381Fp;

impl Endomorphism for Bls12_381 {
    type Number = Bls12_381Fp;

    fn order(&self) -> BigUint {
        Self::FAMILY.order()
    }

    fn generator(&self) -> Affine<BigUint> {
        g1_generator()
    }

    fn b(&self) -> BigUint {
        constants().b.clone()
    }

    fn beta(&self) -> BigUint {
        constants().beta.clone()
    }

    fn split<M: Machine>(&self, machine: &M, scalar: M::Word, begins_with_one: bool) -> M::Word {
        self.vectors().digits(machine, scalar, begins_with_one)
    }

    fn vectors(&self) -> Split {
        let square = BigInt::from(X_ABS).pow(2);
        Split { v: [square.clone(), 1.into()], w: [(-1).into(), square - 1] }
    }

    fn exception(&self) -> Option<usize> {
        Some(self.vectors().exception())
    }

    fn invert<M: Machine>(&self, machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }
}
