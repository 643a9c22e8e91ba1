//! A point of the twist from its compressed form. Whether it is in G2 is not asked, nor is it by EIP-2537's addition.

use super::FP_BYTES;
use super::compressed::{self, flags, is_larger, parse_behind_flags};
use crate::Contract;
use residue_curves::bls12_381::constants::{g2_generator, modulus};
use residue_curves::bls12_381::g2;
use residue_curves::{Affine, Fp2};
use residue_ir::{Machine, Program, WordOp, record};

/// `bls12_381/decompress_g2`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/decompress_g2",
    summary: "a point of the twist, where G2 is, from its 96 compressed bytes",
    interface: "96 bytes: a compressed point; returns 256 bytes: the point as EIP-2537 has it",
    program,
    with_product: None,
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let flags = flags(machine, 2 * compressed::FP_BYTES);
    let identity = |machine: &M| {
        let zero = Fp2::new(machine.zero(), machine.zero());
        machine.return_elements(Affine::new(zero, zero), FP_BYTES);
    };
    let finite = |machine: &M| {
        let c1 = parse_behind_flags(machine);
        let c0 = machine.parse(machine.small(u64::from(compressed::FP_BYTES)), compressed::FP_BYTES);
        let x = Fp2::new(c0, c1);
        let square = g2::square_of_y(machine, x);
        let (y, is_root) = g2::square_root(machine, square);
        machine.require(is_root);
        let differ = machine.word_op(WordOp::Xor, is_larger_in_fp2(machine, y), flags.is_larger);
        let y = machine.branch(differ, |_| -y, |_| y);
        machine.return_elements(Affine::new(x, y), FP_BYTES);
    };
    machine.branch(flags.is_identity, identity, finite);
}

/// 1 if y is larger than −y: c1 decides, or c0 if that is 0.
fn is_larger_in_fp2<M: Machine>(machine: &M, y: Fp2<M::Fe>) -> M::Word {
    let by_c0 = machine.word_op(WordOp::And, machine.is_zero(y.c1), is_larger(machine, y.c0));
    machine.word_op(WordOp::Or, is_larger(machine, y.c1), by_c0)
}

fn program() -> Program {
    record(CONTRACT.name, &modulus(), |machine| text(machine))
}

/// The generator of G2, whose y is the smaller one.
fn example() -> Vec<u8> {
    let x = g2_generator().x;
    let mut bytes = [x.c1, x.c0].map(|part| part.to_bytes_be()).concat();
    bytes[0] |= 0x80;
    bytes
}
