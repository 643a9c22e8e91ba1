//! The same contract in words alone: MULMOD for moduli of one word, limbs of words for longer ones. It asks for no field instruction, so it is
//! the same program for every interface, and for an EVM without one. Short code has loops over limbs, and residues for RSA of 2048 bits.

mod limbs;
mod linked;
mod loops;
mod residues;
mod wide;

use super::calldata::{Calldata, where_words_stand};
use super::{one_word, short};
use crate::Contract;
use crate::linked::LinkedContract;
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

/// `modexp/words` in linked form.
pub const LINKED: LinkedContract = linked::LINKED;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    machine.scratch(wide::SCRATCH_BYTES);
    where_words_stand(machine, |machine| one_word::in_place(machine), short::in_place);
    let calldata = Calldata::any(machine);
    let w = Words(machine);
    machine.branch(
        w.is_below(w.number(32), calldata.modulus.bytes),
        |machine| wide::text(machine),
        |machine| one_word::text(machine, calldata),
    );
}
