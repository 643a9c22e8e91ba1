//! A multiple of a point of G2 by double and add, with complete projective formulas, as measured in the reports on
//! EVMMAX.

use super::{ENCODING, FP_BYTES};
use crate::Contract;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::constants::{constants, g2_generator, modulus};
use residue_curves::bls12_381::{g2, invert};
use residue_curves::complete::{AZero, multiply};
use residue_curves::{Affine, Projective};
use residue_ir::{Machine, WordOp};

/// `bls12_381/g2_mul`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/g2_mul",
    summary: "a multiple of a point of G2's curve, by double and add with complete formulas; no subgroup check",
    interface: "288 bytes: a point (256 bytes, as in EIP-2537), a scalar (32); returns 256 bytes: the multiple",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

const POINT_BYTES: u32 = 4 * FP_BYTES;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.calldata_size();
    machine.require(machine.word_op(WordOp::Eq, size, machine.small(u64::from(POINT_BYTES) + 32)));
    let start = machine.small(0);
    let point = ENCODING.twist_point(machine, start);
    let zero = Fp2::new(machine.zero(), machine.zero());
    let one = Fp2::new(machine.one(), machine.zero());
    let identity = Projective { x: zero, y: one, z: zero };
    let point = machine.branch(
        ENCODING.any_nonzero(machine, start, 0..4),
        |machine| {
            machine.require(g2::is_on_curve(machine, point));
            Projective { x: point.x, y: point.y, z: one }
        },
        |_| identity,
    );
    let scalar = machine.bind(machine.calldata_word(machine.small(POINT_BYTES.into())));
    let b3 = machine.constant(&(&constants().b * 3u32));
    let times_3b = |c: Fp2<M::Fe>| c.mul_by_nonresidue().scale(b3); // 3b′ = 12ξ
    let Projective { x, y, z } = multiply(machine, scalar, point, identity, &AZero(times_3b));
    let inverse = z.inverse_with(|norm| invert(machine, norm)); // 0 for the identity, which so becomes zeros
    machine.return_elements(Affine::new(x * inverse, y * inverse), FP_BYTES);
}

/// The generator and the scalar with all bits set, which asks for most additions.
fn example() -> Vec<u8> {
    let Affine { x, y } = g2_generator();
    let point = [&x.c0, &x.c1, &y.c0, &y.c1].map(|part| ENCODING.encoded(part));
    [point.concat(), vec![0xff; 32]].concat()
}
