//! The pairing check of EIP-2537 (PAIRING_CHECK, address 0x0f) as a contract.
//!
//! First every pair is parsed and checked, and those without the identity are gathered: the others contribute a factor
//! one. The subgroup check of each Q waits for the Miller loop, which computes [x]Q anyway.

use super::{FP_BYTES, any_nonzero, parse_g1, parse_g2};
use crate::Contract;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::{Pairs, g1, g2, is_final_exponentiation_one, miller_loop};
use residue_engine::native::BLS12_PAIRING_CHECK;
use residue_ir::{Machine, Program, WordOp, record};

/// `bls12_381/pairing`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/pairing",
    summary: "is the product of the pairings of all given pairs one? (EIP-2537 PAIRING_CHECK)",
    interface: "384 bytes a pair: a point of G1 (128 bytes), a point of G2 (256); returns 32 bytes, 1 or 0",
    program,
    precompile: Some(BLS12_PAIRING_CHECK),
    example,
};

/// Encoded elements of Fp in a point of G1, and in a pair.
const G1_ELEMENTS: u32 = 2;
const G2_ELEMENTS: u32 = 4;
const PAIR_BYTES: u32 = (G1_ELEMENTS + G2_ELEMENTS) * FP_BYTES;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let pair_bytes = machine.small(u64::from(PAIR_BYTES));
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, pair_bytes)));
    let pairs_given = machine.bind(machine.word_op(WordOp::Div, size, pair_bytes));

    let pairs = Pairs::new(machine, pairs_given);
    let gathered = machine.variable("gathered", machine.small(0));
    machine.repeat(pairs_given, (), |machine, pair, ()| {
        let offset = machine.bind(machine.word_op(WordOp::Mul, pair, pair_bytes));
        gather(machine, &pairs, gathered, offset);
    });

    let count = machine.get(gathered);
    let f = miller_loop(machine, &pairs, count);
    machine.repeat(count, (), |machine, pair, ()| {
        machine.require(pairs.membership(machine, pair).hold(machine));
    });
    machine.return_word(is_final_exponentiation_one(machine, f));
}

/// Parses and checks the pair at `offset`, and adds it to `pairs` if neither of its points is the identity.
fn gather<M: Machine>(machine: &M, pairs: &Pairs<M::Fe>, gathered: residue_ir::Variable, offset: M::Word) {
    let q_offset = machine.word_op(WordOp::Add, offset, machine.small(u64::from(G1_ELEMENTS * FP_BYTES)));
    let p = parse_g1(machine, offset);
    let q = parse_g2(machine, q_offset);
    let p_is_finite = any_nonzero(machine, offset, G1_ELEMENTS);
    let q_is_finite = any_nonzero(machine, q_offset, G2_ELEMENTS);
    machine.branch(p_is_finite, |machine| machine.require(g1::is_in_subgroup(machine, p)), |_| ());
    machine.branch(
        q_is_finite,
        |machine| {
            machine.branch(
                p_is_finite,
                |machine| {
                    machine.require(g2::is_on_curve(machine, q));
                    let index = machine.get(gathered);
                    pairs.store(machine, index, p, q);
                    machine.set(gathered, machine.word_op(WordOp::Add, index, machine.small(1)));
                },
                |machine| machine.require(g2::is_in_subgroup(machine, q)),
            );
        },
        |_| (),
    );
}

fn program() -> Program {
    record(CONTRACT.name, &modulus(), |machine| text(machine))
}

/// A BLS signature check, e(pk, H(m))·e(−g1, σ) = 1; `tests/examples.rs` derives it anew from its key and message.
fn example() -> Vec<u8> {
    let digits: String = include_str!("signature_check.hex").split_whitespace().collect();
    hex::decode(digits).expect("the file has two digits for each byte")
}
