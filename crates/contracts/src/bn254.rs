//! Contracts on BN254, which EIP-196 and EIP-197 call alt_bn128. An element of Fp has 32 bytes, big-endian; of an element of Fp2 the
//! part times u comes first; all zeros are the identity.

pub mod msm;
pub mod pairing;

use crate::encoding::Encoding;
use crate::glv;
use crate::points::{self, Points, operations};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bn254::{Bn254, constants, g1_curve_defect, g1_generator, invert, modulus};
use residue_ir::Machine;
use residue_isa::precompile::{BN254_ADD, BN254_MUL};

/// Encoding of elements and points.
pub(crate) const ENCODING: Encoding = Encoding::EIP_196;
/// Bytes of an encoded element of Fp.
pub(crate) const FP_BYTES: u32 = ENCODING.element_bytes;
/// Bytes of a point of G1.
pub(crate) const G1_BYTES: u32 = 2 * FP_BYTES;

/// Sums of points of G1.
pub(crate) struct Sums;

impl<M: Machine> Points<M> for Sums {
    type Coordinate = M::Fe;

    const ENCODING: Encoding = ENCODING;
    const POINT_BYTES: u32 = G1_BYTES;

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
        machine.constant(&constants().pairing.three_halves)
    }
}

/// A point of canonical values in bytes, for examples.
pub(crate) fn encoded_point(point: &Affine<BigUint>) -> Vec<u8> {
    [&point.x, &point.y].into_iter().flat_map(|value| ENCODING.encoded(value)).collect()
}

operations! {
    modulus;
    /// The addition of EIP-196 (ECADD, address 0x06).
    ADD = "bn254/add", "the sum of two points of BN254's G1 (EIP-196 ECADD)",
        "128 bytes: two points of 64; what is missing is zero, what follows is ignored; returns 64: their sum",
        Some(BN254_ADD), |machine| points::return_sum::<_, Sums>(machine), || encoded_point(&g1_generator()).repeat(2);
    /// The multiplication of EIP-196 (ECMUL, address 0x07).
    MUL = "bn254/mul", "the product of a scalar and a point of BN254's G1 (EIP-196 ECMUL)",
        "96 bytes: a point (64), a scalar (32); what is missing is zero, what follows is ignored; returns 64: the product",
        Some(BN254_MUL), |machine| glv::product(machine, &Bn254), || [encoded_point(&g1_generator()), vec![0xff; 32]].concat();
}
