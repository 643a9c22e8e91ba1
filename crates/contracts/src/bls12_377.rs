//! Contracts on BLS12-377. Points are encoded as in EIP-2539: 64 bytes for an element of Fp, big-endian with 16 zero bytes in front; of an
//! element of Fp2 the part without √−5 comes first; all zeros are the identity.

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
use residue_curves::bls12_377::{
    Bls12_377, Fp2, constants, from_eip_2539, g1_curve_defect, g1_multiple, g2_curve_defect, g2_multiple, invert,
    to_eip_2539,
};
use residue_curves::pairing::PairingCurve;
use residue_ir::Machine;

/// Encoding of elements and points: as in EIP-2537.
pub(crate) const ENCODING: Encoding = Encoding::EIP_2537;

/// Elements in bytes, for examples.
pub(crate) fn encoded<'a>(elements: impl IntoIterator<Item = &'a BigUint>) -> Vec<u8> {
    elements.into_iter().flat_map(|value| ENCODING.encoded(value)).collect()
}

/// Points of y² = x³ + 1 over Fp.
pub(crate) struct G1;

/// Points of the twist over Fp2.
pub(crate) struct G2;

impl<M: Machine> Points<M> for G1 {
    type Coordinate = M::Fe;

    const ENCODING: Encoding = ENCODING;
    const POINT_BYTES: u32 = 2 * ENCODING.element_bytes;

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

impl<M: Machine> Points<M> for G2 {
    type Coordinate = Fp2<M::Fe>;

    const ENCODING: Encoding = ENCODING;
    const POINT_BYTES: u32 = 4 * ENCODING.element_bytes;

    fn parse(machine: &M, offset: M::Word) -> Affine<Fp2<M::Fe>> {
        let Affine { x, y } = ENCODING.twist_point::<M, Bls12_377>(machine, offset);
        Affine::new(from_eip_2539(machine, x.c0, x.c1), from_eip_2539(machine, y.c0, y.c1))
    }

    fn shown(machine: &M, point: Affine<Fp2<M::Fe>>) -> Affine<Fp2<M::Fe>> {
        let [x, y] = [point.x, point.y].map(|a| to_eip_2539(machine, a)).map(|[c0, c1]| Fp2::new(c0, c1));
        Affine::new(x, y)
    }

    fn curve_defect(machine: &M, point: Affine<Fp2<M::Fe>>) -> M::Fe {
        g2_curve_defect(machine, point)
    }

    fn norm(value: Fp2<M::Fe>) -> M::Fe {
        value.norm()
    }

    fn invert(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    fn three_halves(machine: &M) -> M::Fe {
        machine.constant(&constants().pairing.three_halves)
    }
}

impl<M: Machine> Generated<M> for G1 {
    fn order() -> BigUint {
        Bls12_377::FAMILY.order()
    }

    fn constant(machine: &M, k: &BigUint) -> Affine<Self::Coordinate> {
        g1_multiple(machine, k)
    }
}

impl<M: Machine> Generated<M> for G2 {
    fn order() -> BigUint {
        Bls12_377::FAMILY.order()
    }

    fn constant(machine: &M, k: &BigUint) -> Affine<Self::Coordinate> {
        g2_multiple(machine, k)
    }
}
