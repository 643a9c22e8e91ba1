//! Contracts on BW6-761. An element of Fp has 96 bytes, big-endian; points of both groups have coordinates in Fp; all zeros are the identity:
//! EIP-3026, “Encoding”.

pub mod g1_add;
pub mod g1_msm;
pub mod g1_mul;
pub mod g2_add;
pub mod g2_msm;
pub mod g2_mul;
pub mod pairing;

use crate::encoding::Encoding;
use crate::points::{Generated, Points};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bw6_761::{constants, g1_curve_defect, g1_multiple, g2_curve_defect, g2_multiple, invert, order};
use residue_ir::Machine;

/// Encoding of elements and points.
pub(crate) const ENCODING: Encoding = Encoding::EIP_3026;
/// Bytes of a point of either group.
pub(crate) const POINT_BYTES: u32 = 2 * ENCODING.element_bytes;

/// A point of canonical values in bytes, for examples.
pub(crate) fn encoded_point(point: &Affine<BigUint>) -> Vec<u8> {
    [&point.x, &point.y].into_iter().flat_map(|value| ENCODING.encoded(value)).collect()
}

/// Points of y² = x³ − 1.
pub(crate) struct G1;

impl<M: Machine> Points<M> for G1 {
    type Coordinate = M::Fe;

    const ENCODING: Encoding = ENCODING;
    const POINT_BYTES: u32 = POINT_BYTES;
    const SCALAR_BYTES: u32 = 64;

    fn parse(machine: &M, offset: M::Word) -> Affine<M::Fe> {
        ENCODING.point(machine, offset)
    }

    fn curve_defect(machine: &M, point: Affine<M::Fe>) -> M::Fe {
        g1_curve_defect(machine, point)
    }

    fn norm(value: M::Fe) -> M::Fe {
        value
    }

    fn invert(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    fn three_halves(machine: &M) -> M::Fe {
        machine.constant(&constants().three_halves)
    }
}

/// Points of the twist, y² = x³ + 4.
pub(crate) struct G2;

impl<M: Machine> Points<M> for G2 {
    type Coordinate = M::Fe;

    const ENCODING: Encoding = ENCODING;
    const POINT_BYTES: u32 = POINT_BYTES;
    const SCALAR_BYTES: u32 = 64;

    fn parse(machine: &M, offset: M::Word) -> Affine<M::Fe> {
        ENCODING.point(machine, offset)
    }

    fn curve_defect(machine: &M, point: Affine<M::Fe>) -> M::Fe {
        g2_curve_defect(machine, point)
    }

    fn norm(value: M::Fe) -> M::Fe {
        value
    }

    fn invert(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    fn three_halves(machine: &M) -> M::Fe {
        machine.constant(&constants().three_halves)
    }
}

impl<M: Machine> Generated<M> for G1 {
    fn order() -> BigUint {
        order()
    }

    fn constant(machine: &M, k: &BigUint) -> Affine<Self::Coordinate> {
        g1_multiple(machine, k)
    }
}

impl<M: Machine> Generated<M> for G2 {
    fn order() -> BigUint {
        order()
    }

    fn constant(machine: &M, k: &BigUint) -> Affine<Self::Coordinate> {
        g2_multiple(machine, k)
    }
}
