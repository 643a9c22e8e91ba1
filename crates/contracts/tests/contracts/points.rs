//! Points of every sort, by arkworks, and their encoding in EIP-2537.

#[path = "../../../ir/tests/common/seeded.rs"]
mod seeded;

pub use seeded::Seeded;

use ark_bls12_381::{Fq, Fq2, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::AdditiveGroup;
use num_bigint::BigUint;
use residue_curves::bls12_381::X_ABS;
use std::sync::LazyLock;

impl Seeded {
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count.div_ceil(8)).flat_map(|_| self.word().to_le_bytes()).take(count).collect()
    }

    /// A scalar from 1 to r − 1.
    pub fn scalar(&mut self) -> BigUint {
        BigUint::from_bytes_le(&self.bytes(48)) % (r() - 1u32) + 1u32
    }

    pub fn fq(&mut self) -> Fq {
        Fq::from(BigUint::from_bytes_le(&self.bytes(64)))
    }

    pub fn g1(&mut self) -> G1Affine {
        times1(G1Affine::generator(), &self.scalar())
    }

    pub fn g2(&mut self) -> G2Affine {
        times2(G2Affine::generator(), &self.scalar())
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
            let x = Fq2::new(self.fq(), self.fq());
            if let Some(point) = G2Affine::get_point_from_x_unchecked(x, self.word().is_multiple_of(2)) {
                return point;
            }
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

pub fn p() -> BigUint {
    residue_curves::bls12_381::constants::modulus()
}

pub fn r() -> BigUint {
    let z = BigUint::from(X_ABS);
    z.pow(4) - z.pow(2) + 1u32
}

/// The cofactor of G1, (x − 1)²/3.
fn h1() -> BigUint {
    (BigUint::from(X_ABS) + 1u32).pow(2) / 3u32
}

/// The cofactor of G2, (x⁸ − 4x⁷ + 5x⁶ − 4x⁴ + 6x³ − 4x² − 4x + 13)/9, with z = −x.
fn h2() -> BigUint {
    let z = BigUint::from(X_ABS);
    let positive = z.pow(8) + z.pow(7) * 4u32 + z.pow(6) * 5u32 + &z * 4u32 + 13u32;
    (positive - z.pow(4) * 4u32 - z.pow(3) * 6u32 - z.pow(2) * 4u32) / 9u32
}

/// A multiple of `point` that has the order `prime`, in a group of `order` points; `None` if `point` gives the identity.
fn of_order<P: Copy + PartialEq>(
    point: P,
    order: &BigUint,
    prime: u32,
    identity: P,
    times: impl Fn(P, &BigUint) -> P,
) -> Option<P> {
    let mut cofactor = order.clone();
    while &cofactor % prime == BigUint::ZERO {
        cofactor /= prime;
    }
    let mut small = times(point, &cofactor);
    if small == identity {
        return None;
    }
    while times(small, &prime.into()) != identity {
        small = times(small, &prime.into());
    }
    Some(small)
}

/// Points of the orders 3, 11 and 10177, which divide the cofactor of G1.
pub static SMALL_G1: LazyLock<[G1Affine; 3]> = LazyLock::new(|| {
    let mut seeded = Seeded(14);
    [3, 11, 10_177].map(|prime| {
        let mut points = std::iter::repeat_with(|| seeded.curve_point());
        points.find_map(|point| of_order(point, &(h1() * r()), prime, G1Affine::identity(), times1)).unwrap()
    })
});

/// Points of the orders 13, 23, 2713 and 11953, which divide the cofactor of G2.
pub static SMALL_G2: LazyLock<[G2Affine; 4]> = LazyLock::new(|| {
    let mut seeded = Seeded(15);
    [13, 23, 2713, 11_953].map(|prime| {
        let mut points = std::iter::repeat_with(|| seeded.twist_point());
        points.find_map(|point| of_order(point, &(h2() * r()), prime, G2Affine::identity(), times2)).unwrap()
    })
});

/// A number in 64 bytes.
pub fn number(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 64 - digits.len()], digits].concat()
}

pub fn fq(value: Fq) -> Vec<u8> {
    number(&value.into())
}

/// A point of G1: 128 bytes.
pub fn encode1(point: G1Affine) -> Vec<u8> {
    if point.is_zero() { vec![0; 128] } else { [fq(point.x), fq(point.y)].concat() }
}

/// A point of G2: 256 bytes.
pub fn encode2(point: G2Affine) -> Vec<u8> {
    if point.is_zero() {
        return vec![0; 256];
    }
    [point.x.c0, point.x.c1, point.y.c0, point.y.c1].map(fq).concat()
}
