//! Field instructions without operands on the stack, executed many times on values in slots, most often each on the
//! result of the one before.

use num_bigint::BigUint;
use residue_isa::opcode::evm as op;
use residue_isa::revision::rules::SlotRules;
use residue_isa::{Assembly, FieldInstruction, OpcodeRow, Revision, writer};

use super::pair::{Expected, Pair, bytes, data, looped};
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

/// Brings a modulus and so many values from calldata to memory, and them to the first of so many slots.
pub(super) fn begin(code: &mut Assembly, rules: &SlotRules, element_bytes: u64, [slots, values]: [u64; 2]) {
    code.push((values + 1) * element_bytes).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
    let size = rules.declared_size(8 * element_bytes);
    code.written(writer::set_modulus(rules, (0, 0), [0, size, slots]));
    code.written(writer::store(rules, 0, [0, element_bytes, values]));
}

/// Returns the values of so many slots from the first one on.
pub(super) fn end(code: &mut Assembly, rules: &SlotRules, element_bytes: u64, (first, values): (u8, u8)) {
    code.written(writer::load(rules, 0, [0, first, values]));
    code.push(u64::from(values) * element_bytes).push(0_u8).op(op::RETURN);
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
                begin(code, rules, element, [slots.into(), values]);
            };
            let body = |code: &mut Assembly| data(code, code_of_one.repeat(if with { count } else { 0 }));
            let after = |code: &mut Assembly| {
                end(code, rules, element, returned);
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
