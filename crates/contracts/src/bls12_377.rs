//! Contracts on BLS12-377. Points are encoded as in EIP-2539: 64 bytes for an element of Fp, big-endian with 16 zero bytes in front; of an
//! element of Fp2 the part without √−5 comes first; all zeros are the identity.

pub mod pairing;

use crate::encoding::Encoding;
use crate::points::{self, Generated, Points, operations};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bls12_377::{
    Bls12_377, Fp2, constants, from_eip_2539, g1_curve_defect, g1_generator, g1_multiple, g2_curve_defect,
    g2_generator, g2_multiple, invert, modulus, to_eip_2539,
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

/// The generator of G1, for examples.
fn g1_point() -> Vec<u8> {
    let Affine { x, y } = g1_generator();
    encoded([&x, &y])
}

/// The generator of G2, for examples.
fn g2_point() -> Vec<u8> {
    encoded(g2_generator().iter().flatten())
}

operations! {
    modulus;
    /// The addition of EIP-2539 in G1 (G1ADD).
    G1_ADD = "bls12_377/g1_add", "the sum of two points of BLS12-377's G1 curve (EIP-2539 G1ADD)",
        "256 bytes: two points of 128; returns 128: their sum",
        None, |machine| points::sum::<_, G1>(machine), || g1_point().repeat(2);
    /// The multiplication of EIP-2539 in G1 (G1MUL).
    G1_MUL = "bls12_377/g1_mul", "a multiple of a point of BLS12-377's G1 curve (EIP-2539 G1MUL)",
        "160 bytes: a point (128), a scalar (32); returns 128: the product",
        None, |machine| points::product::<_, G1>(machine), || [g1_point(), vec![0xff; 32]].concat();
    /// The sum of products of EIP-2539 in G1 (G1MULTIEXP).
    G1_MSM = "bls12_377/g1_msm", "the sum of products of scalars and points of BLS12-377's G1 curve (EIP-2539 G1MULTIEXP)",
        "160 bytes a product: a point (128), a scalar (32); returns 128: the sum of the products",
        None, |machine| points::sum_of_products::<_, G1>(machine), || points::example(&g1_point(), 32);
    /// The addition of EIP-2539 in G2 (G2ADD).
    G2_ADD = "bls12_377/g2_add", "the sum of two points of BLS12-377's G2 curve (EIP-2539 G2ADD)",
        "512 bytes: two points of 256; returns 256: their sum",
        None, |machine| points::sum::<_, G2>(machine), || g2_point().repeat(2);
    /// The multiplication of EIP-2539 in G2 (G2MUL).
    G2_MUL = "bls12_377/g2_mul", "a multiple of a point of BLS12-377's G2 curve (EIP-2539 G2MUL)",
        "288 bytes: a point (256), a scalar (32); returns 256: the product",
        None, |machine| points::product::<_, G2>(machine), || [g2_point(), vec![0xff; 32]].concat();
    /// The sum of products of EIP-2539 in G2 (G2MULTIEXP).
    G2_MSM = "bls12_377/g2_msm", "the sum of products of scalars and points of BLS12-377's G2 curve (EIP-2539 G2MULTIEXP)",
        "288 bytes a product: a point (256), a scalar (32); returns 256: the sum of the products",
        None, |machine| points::sum_of_products::<_, G2>(machine), || points::example(&g2_point(), 32);
}
