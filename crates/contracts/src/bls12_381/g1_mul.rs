//! A multiple of a point of G1 by double and add, with complete projective formulas, as measured in the reports on
//! EVMMAX.

use super::{ENCODING, FP_BYTES};
use crate::Contract;
use residue_curves::bls12_381::constants::{constants, g1_generator, modulus};
use residue_curves::bls12_381::{g1, invert};
use residue_curves::complete::{AZero, multiply};
use residue_curves::{Affine, Projective};
use residue_ir::{Machine, WordOp};

/// `bls12_381/g1_mul`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/g1_mul",
    summary: "a multiple of a point of G1's curve, by double and add with complete formulas; no subgroup check",
    interface: "160 bytes: a point (128 bytes, as in EIP-2537), a scalar (32); returns 128 bytes: the multiple",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

const POINT_BYTES: u32 = 2 * FP_BYTES;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.calldata_size();
    machine.require(machine.word_op(WordOp::Eq, size, machine.small(u64::from(POINT_BYTES) + 32)));
    let start = machine.small(0);
    let point = ENCODING.point(machine, start);
    let (zero, one) = (machine.zero(), machine.one());
    let identity = Projective { x: zero, y: one, z: zero };
    let point = machine.branch(
        ENCODING.any_nonzero(machine, start, 0..2),
        |machine| {
            machine.require(g1::is_on_curve(machine, point));
            Projective { x: point.x, y: point.y, z: one }
        },
        |_| identity,
    );
    let scalar = machine.bind(machine.calldata_word(machine.small(POINT_BYTES.into())));
    let b3 = machine.constant(&(&constants().b * 3u32));
    let Projective { x, y, z } = multiply(machine, scalar, point, identity, &AZero(|c| c * b3));
    let inverse = invert(machine, z); // 0 for the identity, which so becomes zeros
    machine.return_elements(Affine::new(x * inverse, y * inverse), FP_BYTES);
}

/// The generator and the scalar with all bits set, which asks for most additions.
fn example() -> Vec<u8> {
    let Affine { x, y } = g1_generator();
    [ENCODING.encoded(&x), ENCODING.encoded(&y), vec![0xff; 32]].concat()
}
