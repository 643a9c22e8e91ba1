//! The final exponentiation, with the value of `blst_final_exp` for every input.

use super::{miller_loop, parse_all};
use crate::Contract;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::published::final_exponentiation;
use residue_ir::{Machine, Numbers, Outcome};
use residue_modular::fields::Bls12_381Fp;

/// `evm384/final_exponentiation`.
pub const CONTRACT: Contract = Contract {
    name: "evm384/final_exponentiation",
    summary: "the final exponentiation of BLS12-381, to 3·(p¹² − 1)/r as blst has it, as in EVM384's update 5",
    interface: "576 bytes: 12 values of 48 bytes, little-endian in Montgomery form; returns 576 bytes: the power",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let f = parse_all(machine);
    machine.return_mont_le(final_exponentiation(machine, f));
}

/// The Miller loop of the generators.
fn example() -> Vec<u8> {
    let machine = Numbers::<Bls12_381Fp>::new((miller_loop::CONTRACT.example)());
    miller_loop::text(&machine);
    let Outcome::Returned(value) = machine.outcome() else { panic!("the example of the Miller loop has a value") };
    value
}
