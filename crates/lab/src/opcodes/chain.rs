//! Field instructions without operands on the stack, executed many times on values in slots, most often each on the
//! result of the one before.

use num_bigint::BigUint;
use residue_isa::opcode::evm as op;
use residue_isa::revision::rules::SlotRules;
use residue_isa::{Assembly, FieldInstruction, OpcodeRow, Revision};

use super::pair::{Expected, Pair, bytes, data, looped};
use super::set_modulus::set_modulus_operands;
use super::values::to_be;
use crate::error::LabError;

/// An instruction, what it is executed on and what comes of it.
pub(super) struct Chain {
    /// The opcode.
    pub row: &'static OpcodeRow,
    /// Suffix of the pair's name: operands or lanes.
    pub class: String,
    /// The instruction.
    pub instruction: FieldInstruction,
    /// Executions of the opcode in one turn of the loop.
    pub count: usize,
    /// The modulus.
    pub modulus: BigUint,
    /// Slots of the field context.
    pub slots: u8,
    /// Values stored in the first slots.
    pub stored: Vec<BigUint>,
    /// First slot and number of those that are returned.
    pub returned: (u8, u8),
    /// Their values after a number of turns.
    pub expected: Expected,
}

impl Chain {
    /// The program with the instructions and that without.
    pub fn pair(self, revision: Revision, rules: &'static SlotRules, width_limbs: usize) -> Pair {
        let Self { row, class, instruction, count, modulus, slots, stored, returned, expected } = self;
        let element_bytes = 8 * width_limbs;
        let values = stored.len() as u64; // At most 256.
        let input: Vec<u8> =
            [&modulus].into_iter().chain(&stored).flat_map(|value| to_be(value, element_bytes)).collect();
        let program = move |with: bool, turns: usize| {
            let element = element_bytes as u64; // Widens.
            let mut code_of_one = Vec::new();
            revision.encode(&instruction, &mut code_of_one).map_err(LabError::Encode)?;
            let before = |code: &mut Assembly| {
                code.push((values + 1) * element).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
                let (words, immediate) = set_modulus_operands(rules, 0, 0, 8 * element, slots.into());
                words.iter().rev().for_each(|&word| _ = code.push(word));
                code.op_with(rules.set_modulus, immediate);
                code.push(values).push(element).push(0_u8).op(rules.store);
            };
            let body = |code: &mut Assembly| data(code, code_of_one.repeat(if with { count } else { 0 }));
            let after = |code: &mut Assembly| {
                let (first, values) = returned;
                code.push(values).push(first).push(0_u8).op(rules.load);
                code.push(u64::from(values) * element).push(0_u8).op(op::RETURN);
            };
            bytes(&looped(turns, before, body, after), revision)
        };
        Pair {
            name: format!("{revision}/{}/{}/{class}", row.mnemonic, 64 * width_limbs),
            mnemonic: row.mnemonic,
            count,
            pops: 0,
            program: Box::new(program),
            input,
            expected: Some(expected),
            turns: None,
            is_cold_measured: false,
        }
    }
}
