//! Between our types and those of arkworks and blst, which judge them; and a seeded source of elements.

#[path = "../../../ir/tests/common/seeded.rs"]
mod seeded;

pub use seeded::Seeded;

use ark_bls12_381::{Fq, Fq2, Fq6, Fq12, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::{AffineRepr, CurveGroup};
use num_bigint::BigUint;
use residue_curves::bls12_381::{Fp2, Fp6, Fp12};
use residue_curves::{Affine, bls12_381::X_ABS};
use residue_formula::Number;
use residue_ir::Numbers;
use residue_modular::fields::Bls12_381Fp;

pub type N = Bls12_381Fp;

pub fn numbers() -> Numbers<N> {
    Numbers::new(Vec::new())
}

impl Seeded {
    pub fn integer(&mut self) -> BigUint {
        let bytes: Vec<u8> = (0..8).flat_map(|_| self.word().to_le_bytes()).collect();
        BigUint::from_bytes_le(&bytes)
    }

    pub fn fq(&mut self) -> Fq {
        Fq::from(self.integer())
    }

    pub fn fq2(&mut self) -> Fq2 {
        Fq2::new(self.fq(), self.fq())
    }

    pub fn fq6(&mut self) -> Fq6 {
        Fq6::new(self.fq2(), self.fq2(), self.fq2())
    }

    pub fn fq12(&mut self) -> Fq12 {
        Fq12::new(self.fq6(), self.fq6())
    }

    /// A point of the whole curve, almost never in G1.
    pub fn curve_point(&mut self) -> G1Affine {
        loop {
            if let Some(point) = G1Affine::get_point_from_x_unchecked(self.fq(), self.word().is_multiple_of(2)) {
                return point;
            }
        }
    }

    /// A point of the whole twist, almost never in G2.
    pub fn twist_point(&mut self) -> G2Affine {
        loop {
            if let Some(point) = G2Affine::get_point_from_x_unchecked(self.fq2(), self.word().is_multiple_of(2)) {
                return point;
            }
        }
    }

    pub fn g1(&mut self) -> G1Affine {
        times1(G1Affine::generator(), &(self.integer() % r()))
    }

    pub fn g2(&mut self) -> G2Affine {
        times2(G2Affine::generator(), &(self.integer() % r()))
    }
}

/// [k]P by plain double and add: right on the whole curve, which methods for the subgroup need not be.
pub fn times<G: CurveGroup>(point: G::Affine, k: &BigUint) -> G::Affine {
    let sum = (0..k.bits()).rev().fold(G::zero(), |sum: G, bit| {
        let double = sum + sum;
        if k.bit(bit) { double + point } else { double }
    });
    sum.into_affine()
}

/// The same on the curve of G1.
pub fn times1(point: G1Affine, k: &BigUint) -> G1Affine {
    times::<G1Projective>(point, k)
}

/// The same on the twist.
pub fn times2(point: G2Affine, k: &BigUint) -> G2Affine {
    times::<G2Projective>(point, k)
}

pub fn r() -> BigUint {
    let z = BigUint::from(X_ABS);
    z.pow(4) - z.pow(2) + 1u32
}

/// The cofactor of G1, (x − 1)²/3.
pub fn h1() -> BigUint {
    (BigUint::from(X_ABS) + 1u32).pow(2) / 3u32
}

/// The cofactor of G2, (x⁸ − 4x⁷ + 5x⁶ − 4x⁴ + 6x³ − 4x² − 4x + 13)/9, with z = −x.
pub fn h2() -> BigUint {
    let z = BigUint::from(X_ABS);
    let positive = z.pow(8) + z.pow(7) * 4u32 + z.pow(6) * 5u32 + &z * 4u32 + 13u32;
    (positive - z.pow(4) * 4u32 - z.pow(3) * 6u32 - z.pow(2) * 4u32) / 9u32
}

pub fn fp(a: Fq) -> N {
    N::from_canonical(&a.into()).unwrap()
}

pub fn fp2(a: Fq2) -> Fp2<N> {
    Fp2::new(fp(a.c0), fp(a.c1))
}

pub fn fp6(a: Fq6) -> Fp6<N> {
    Fp6::new(fp2(a.c0), fp2(a.c1), fp2(a.c2))
}

pub fn fp12(a: Fq12) -> Fp12<N> {
    Fp12::from_even_and_odd(fp6(a.c0), fp6(a.c1))
}

pub fn g1(point: G1Affine) -> Affine<N> {
    Affine::new(fp(point.x), fp(point.y))
}

pub fn g2(point: G2Affine) -> Affine<Fp2<N>> {
    Affine::new(fp2(point.x), fp2(point.y))
}

/// Both keep Montgomery form with R = 2³⁸⁴.
fn blst_fp(a: N) -> blst::blst_fp {
    blst::blst_fp { l: a.to_mont() }
}

fn blst_fp2(a: Fp2<N>) -> blst::blst_fp2 {
    blst::blst_fp2 { fp: [a.c0, a.c1].map(blst_fp) }
}

pub fn blst_g1(point: G1Affine) -> blst::blst_p1_affine {
    blst::blst_p1_affine { x: blst_fp(fp(point.x)), y: blst_fp(fp(point.y)) }
}

pub fn blst_g2(point: G2Affine) -> blst::blst_p2_affine {
    blst::blst_p2_affine { x: blst_fp2(fp2(point.x)), y: blst_fp2(fp2(point.y)) }
}

pub fn to_blst(value: Fp12<N>) -> blst::blst_fp12 {
    let fp6 = |a: Fp6<N>| blst::blst_fp6 { fp2: [a.c0, a.c1, a.c2].map(blst_fp2) };
    let (even, odd) = value.even_and_odd();
    blst::blst_fp12 { fp6: [fp6(even), fp6(odd)] }
}

pub fn from_blst(value: &blst::blst_fp12) -> Fp12<N> {
    let fp2 = |a: &blst::blst_fp2| {
        let [c0, c1] = [a.fp[0].l, a.fp[1].l].map(|mont| N::from_mont(mont).unwrap());
        Fp2::new(c0, c1)
    };
    let fp6 = |a: &blst::blst_fp6| Fp6::new(fp2(&a.fp2[0]), fp2(&a.fp2[1]), fp2(&a.fp2[2]));
    Fp12::from_even_and_odd(fp6(&value.fp6[0]), fp6(&value.fp6[1]))
}
