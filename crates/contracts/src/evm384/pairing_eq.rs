//! The check that the product of the pairings of n pairs is one, as update 5 prices it: n Miller loops, n − 1 products in
//! Fp12, one final exponentiation. Our own check is `bls12_381/pairing`.

use super::miller_loop::{PAIR_BYTES, pair, pair_value};
use crate::Contract;
use residue_curves::Affine;
use residue_curves::bls12_381::constants::{g1_generator, modulus};
use residue_curves::conditions::all_vanish;
use residue_curves::published::{Fp12, final_exponentiation, multiply};
use residue_ir::{Bundle, Machine, WordOp};

/// `evm384/pairing_eq`.
pub const CONTRACT: Contract = Contract {
    name: "evm384/pairing_eq",
    summary: "is the product of the pairings of all given pairs one? (as in EVM384's update 5, nothing validated)",
    interface: "288 bytes a pair, one pair at least: P.x P.y Q.x0 Q.x1 Q.y0 Q.y1 of 48 bytes each, little-endian in \
                Montgomery form; returns 32 bytes, 1 or 0",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let pair_bytes = machine.small(PAIR_BYTES.into());
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, pair_bytes)));
    let others = machine.word_op(WordOp::Sub, machine.word_op(WordOp::Div, size, pair_bytes), machine.small(1));

    let values = machine.array::<Fp12<M::Fe>>("pair_value", residue_ir::Capacity::Fixed(1));
    let all = machine.word_op(WordOp::Add, others, machine.small(1));
    machine.repeat(all, (), |machine, turn, ()| {
        let offset = machine.bind(machine.word_op(WordOp::Mul, turn, pair_bytes));
        let value = pair_value(machine, offset);
        let so_far =
            machine.branch(turn, |machine| multiply(machine, machine.load(values, machine.small(0)), value), |_| value);
        machine.store(values, machine.small(0), so_far);
    });
    let f = machine.load(values, machine.small(0));
    let power = final_exponentiation(machine, f);
    let mut difference = power;
    difference.c0.c0.c0 = difference.c0.c0.c0 - machine.one();
    machine.return_word(machine.is_zero(all_vanish(&difference.to_list())));
}

/// e(g1, g2)·e(−g1, g2) = 1.
fn example() -> Vec<u8> {
    let Affine { x, y } = g1_generator();
    [pair(&x, &y), pair(&x, &(modulus() - &y))].concat()
}
