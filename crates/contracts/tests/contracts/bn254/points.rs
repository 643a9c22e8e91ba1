//! Points of BN254 of every sort, by arkworks, and their encodings in EIP-196 and EIP-197.

use crate::points::Seeded;
use ark_bn254::{Fq, Fq2, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::AdditiveGroup;
use num_bigint::BigUint;
use residue_curves::bn254::Bn254;
use residue_curves::pairing::PairingCurve;
use std::sync::LazyLock;

pub fn p() -> BigUint {
    residue_curves::bn254::modulus()
}

pub fn r() -> BigUint {
    Bn254::FAMILY.order()
}

/// A scalar from 1 to r − 1.
pub fn scalar(seeded: &mut Seeded) -> BigUint {
    BigUint::from_bytes_le(&seeded.bytes(48)) % (r() - 1u32) + 1u32
}

pub fn fq(seeded: &mut Seeded) -> Fq {
    Fq::from(BigUint::from_bytes_le(&seeded.bytes(48)))
}

pub fn g1(seeded: &mut Seeded) -> G1Affine {
    times1(G1Affine::generator(), &scalar(seeded))
}

pub fn g2(seeded: &mut Seeded) -> G2Affine {
    times2(G2Affine::generator(), &scalar(seeded))
}

/// A point of the whole twist, almost never in G2.
pub fn twist_point(seeded: &mut Seeded) -> G2Affine {
    loop {
        let x = Fq2::new(fq(seeded), fq(seeded));
        if let Some(point) = G2Affine::get_point_from_x_unchecked(x, seeded.word().is_multiple_of(2)) {
            return point;
        }
    }
}

/// [k]P by plain double and add: right on the whole curve, which methods for the subgroup need not be.
pub fn times1(point: G1Affine, k: &BigUint) -> G1Affine {
    let mut sum = G1Projective::ZERO;
    for bit in (0..k.bits()).rev() {
        sum = sum + sum;
        if k.bit(bit) {
            sum += point.into_group();
        }
    }
    sum.into_affine()
}

/// [k]Q by plain double and add.
pub fn times2(point: G2Affine, k: &BigUint) -> G2Affine {
    let mut sum = G2Projective::ZERO;
    for bit in (0..k.bits()).rev() {
        sum = sum + sum;
        if k.bit(bit) {
            sum += point.into_group();
        }
    }
    sum.into_affine()
}

/// Points of the twist whose orders are 10069 and 5864401, the small primes of its cofactor 2p − r.
pub static SMALL: LazyLock<[G2Affine; 2]> = LazyLock::new(|| {
    let mut seeded = Seeded(15);
    [10_069u32, 5_864_401].map(|prime| {
        let order = (p() * 2u32 - r()) * r();
        assert_eq!(&order % prime, BigUint::ZERO);
        let mut points = std::iter::repeat_with(|| times2(twist_point(&mut seeded), &(&order / prime)));
        points.find(|point| !point.is_zero()).unwrap()
    })
});

/// A number in 32 bytes.
pub fn number(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

fn element(value: Fq) -> Vec<u8> {
    number(&value.into())
}

/// A point of G1: 64 bytes.
pub fn encode1(point: G1Affine) -> Vec<u8> {
    if point.is_zero() { vec![0; 64] } else { [element(point.x), element(point.y)].concat() }
}

/// A point of G2: 128 bytes.
pub fn encode2(point: G2Affine) -> Vec<u8> {
    if point.is_zero() {
        return vec![0; 128];
    }
    [point.x.c1, point.x.c0, point.y.c1, point.y.c0].map(element).concat()
}
