//! Points of G1 and of G2 for the kinds of input: of every sort, encoded as in EIP-2537.

use crate::points::{SMALL_G1, SMALL_G2, Seeded, encode1, encode2, fq, number, p, times1, times2};
use ark_bls12_381::{Fq, Fq2, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::Field;
use num_bigint::BigUint;

/// One of the two groups.
pub struct Side {
    /// Elements of Fp in a point.
    pub elements: usize,
    /// A point of the group, not the identity.
    pub member: fn(&mut Seeded) -> Vec<u8>,
    /// The product of the generator and a number.
    pub multiple: fn(&BigUint) -> Vec<u8>,
    /// A point of the curve outside the group.
    pub stranger: fn(&mut Seeded) -> Vec<u8>,
    /// A point of small order.
    pub small: fn(&mut Seeded) -> Vec<u8>,
    /// A point of the group and one of small order, added.
    pub mixed: fn(&mut Seeded) -> Vec<u8>,
    /// Coordinates of no point of the curve.
    pub off_curve: fn(&mut Seeded) -> Vec<u8>,
}

impl Side {
    pub fn point_bytes(&self) -> usize {
        64 * self.elements
    }

    pub fn identity(&self) -> Vec<u8> {
        vec![0; self.point_bytes()]
    }
}

/// −P: the second half of the elements becomes p − y, but 0 stays.
pub fn negated(point: &[u8]) -> Vec<u8> {
    let mut bytes = point.to_vec();
    for element in bytes[point.len() / 2..].chunks_mut(64) {
        let value = BigUint::from_bytes_be(element);
        if value != BigUint::ZERO {
            element.copy_from_slice(&number(&(p() - value)));
        }
    }
    bytes
}

/// The point with the same y whose x is that of this one times a cube root of one.
pub fn turned(point: &[u8]) -> Vec<u8> {
    let mut bytes = point.to_vec();
    let root = BigUint::from(2u8).modpow(&((p() - 1u32) / 3u32), &p());
    assert_ne!(root, BigUint::from(1u8));
    for element in bytes[..point.len() / 2].chunks_mut(64) {
        let value = BigUint::from_bytes_be(element);
        element.copy_from_slice(&number(&(value * &root % p())));
    }
    bytes
}

pub static G1: Side = Side {
    elements: 2,
    member: |s| encode1(s.g1()),
    multiple: |k| encode1(times1(G1Affine::generator(), k)),
    stranger: |s| encode1(s.curve_point()),
    small: |s| {
        let small = s.pick(&*SMALL_G1);
        let order_three = G1Affine::new_unchecked(Fq::from(0u8), Fq::from(2u8));
        encode1(s.pick(&[small, -small, order_three, -order_three]))
    },
    mixed: |s| encode1((s.g1() + s.pick(&*SMALL_G1)).into_affine()),
    off_curve: |s| {
        let (x, y) = loop {
            let (x, y) = (s.fq(), s.fq());
            if y.square() != x * x.square() + Fq::from(4u8) {
                break (x, y);
            }
        };
        [fq(x), fq(y)].concat()
    },
};

pub static G2: Side = Side {
    elements: 4,
    member: |s| encode2(s.g2()),
    multiple: |k| encode2(times2(G2Affine::generator(), k)),
    stranger: |s| encode2(s.twist_point()),
    small: |s| {
        let small = s.pick(&*SMALL_G2);
        encode2(s.pick(&[small, -small]))
    },
    mixed: |s| encode2((s.g2() + s.pick(&*SMALL_G2)).into_affine()),
    off_curve: |s| {
        let four = Fq2::new(Fq::from(4u8), Fq::from(4u8));
        let (x, y) = loop {
            let (x, y) = (Fq2::new(s.fq(), s.fq()), Fq2::new(s.fq(), s.fq()));
            if y.square() != x * x.square() + four {
                break (x, y);
            }
        };
        [x.c0, x.c1, y.c0, y.c1].map(fq).concat()
    },
};
