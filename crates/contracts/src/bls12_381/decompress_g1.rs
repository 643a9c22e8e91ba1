//! A point of the curve of G1 from its compressed form. Whether it is in G1 is not asked, nor is it by EIP-2537's addition.

use super::FP_BYTES;
use super::compressed::{self, flags, is_larger, parse_behind_flags};
use crate::Contract;
use residue_curves::Affine;
use residue_curves::bls12_381::constants::{g1_generator, modulus};
use residue_curves::bls12_381::g1;
use residue_ir::{Machine, Program, WordOp, record};

/// `bls12_381/decompress_g1`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/decompress_g1",
    summary: "a point of the curve of G1 from its 48 compressed bytes",
    interface: "48 bytes: a compressed point; returns 128 bytes: the point as EIP-2537 has it",
    program,
    with_product: None,
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let flags = flags(machine, compressed::FP_BYTES);
    let identity = |machine: &M| machine.return_elements(Affine::new(machine.zero(), machine.zero()), FP_BYTES);
    let finite = |machine: &M| {
        let x = parse_behind_flags(machine);
        let square = g1::square_of_y(machine, x);
        let y = g1::square_root(machine, square);
        machine.require(machine.equal(y * y, square));
        let differ = machine.word_op(WordOp::Xor, is_larger(machine, y), flags.is_larger);
        let y = machine.branch(differ, |_| -y, |_| y);
        machine.return_elements(Affine::new(x, y), FP_BYTES);
    };
    machine.branch(flags.is_identity, identity, finite);
}

fn program() -> Program {
    record(CONTRACT.name, &modulus(), |machine| text(machine))
}

/// The generator of G1, whose y is the smaller one.
fn example() -> Vec<u8> {
    let mut bytes = g1_generator().x.to_bytes_be();
    bytes[0] |= 0x80;
    bytes
}
