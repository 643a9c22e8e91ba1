//! The same contract in words alone: MULMOD for moduli of one word, limbs of words for longer ones. It asks for no field instruction, so it is
//! the same program for every interface, and for an EVM without one.

mod limbs;
mod wide;

use super::calldata::{Calldata, lengths_differ};
use super::one_word;
use crate::Contract;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::Machine;

/// `modexp/words`.
pub const CONTRACT: Contract = Contract {
    name: "modexp/words",
    summary: "the same without field instructions: MULMOD, and limbs of words",
    interface: super::CONTRACT.interface,
    field: || BigUint::from(3u8),
    text: |machine| text(machine),
    precompile: None,
    example: super::example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    machine.scratch(wide::SCRATCH_BYTES);
    machine.branch(lengths_differ(machine), |_| (), |machine| one_word::in_place(machine));
    let calldata = Calldata::any(machine);
    let w = Words(machine);
    machine.branch(
        w.is_below(w.number(32), calldata.modulus.bytes),
        |machine| wide::text(machine),
        |machine| one_word::text(machine, calldata),
    );
}
