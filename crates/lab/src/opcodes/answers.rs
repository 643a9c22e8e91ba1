//! Field opcodes that put an answer about slots on the stack: ISZEROX, EQX and LTX.

use num_bigint::BigUint;
use residue_isa::opcode::evm as op;
use residue_isa::revision::rules::SlotRules;
use residue_isa::{Assembly, FieldInstruction, Form, Revision};

use super::chain::begin;
use super::pair::{Pair, bytes, data, looped};
use super::values::{modulus, operands, random, to_be};
use crate::error::LabError;

/// Executions in a turn of the loop.
const BODY: usize = 48;

/// A question about the values of slots 0 and 1, and the answer.
struct Question {
    class: &'static str,
    opcode: u8,
    instruction: FieldInstruction,
    values: [BigUint; 2],
    answer: u8,
}

/// Those that the revision has: whether a value is zero that is not; whether values are equal, and which one is less, if they differ in all
/// limbs, in the last one only, or not at all.
pub(super) fn answers(revision: Revision, rules: &'static SlotRules, width_limbs: usize) -> Vec<Pair> {
    let m = modulus(width_limbs);
    let mut questions = Vec::new();
    questions.extend(rules.opcode(Form::IsZero).map(|opcode| {
        let instruction = FieldInstruction::formed(Form::IsZero, &[0]);
        Question { class: "plain", opcode, instruction, values: [8, 9].map(|seed| random(&m, seed)), answer: 0 }
    }));
    for comparison in [Form::Equal, Form::Less] {
        let Some(opcode) = rules.opcode(comparison) else { continue };
        let instruction = FieldInstruction::formed(comparison, &[0, 1]);
        let near = [&m - 2u8, &m - 1u8];
        for (class, values) in [("random", operands("random", &m)), ("near", near), ("equal", operands("near", &m))] {
            let answer = if comparison == Form::Equal { values[0] == values[1] } else { values[0] < values[1] };
            questions.push(Question { class, opcode, instruction, values, answer: answer.into() });
        }
    }
    questions.into_iter().map(|question| pair(revision, rules, (&m, width_limbs), question)).collect()
}

fn pair(
    revision: Revision,
    rules: &'static SlotRules,
    (m, width_limbs): (&BigUint, usize),
    question: Question,
) -> Pair {
    let Question { class, opcode, instruction, values: [x, y], answer } = question;
    let row = revision.row(opcode).expect("it is an opcode of the revision");
    let element_bytes = 8 * width_limbs;
    let input = [m, &x, &y].map(|value| to_be(value, element_bytes)).concat();
    let program = move |with: bool, turns: usize| {
        let element = element_bytes as u64; // Widens.
        let mut asked = Vec::new();
        revision.encode(&instruction, &mut asked).map_err(LabError::Encode)?;
        let before = |code: &mut Assembly| {
            begin(code, rules, element, [2, 2]);
        };
        let body = |code: &mut Assembly| {
            for _ in 0..if with { BODY } else { 0 } {
                data(code, asked.clone());
                code.op(op::POP);
            }
        };
        let after = |code: &mut Assembly| {
            data(code, asked.clone());
            code.push(0_u8).op(op::MSTORE).push(32_u8).push(0_u8).op(op::RETURN);
        };
        bytes(&looped(turns, before, body, after), revision)
    };
    Pair {
        name: format!("{revision}/{}/{}/{class}", row.mnemonic, 64 * width_limbs),
        mnemonic: row.mnemonic,
        count: BODY,
        pops: -1,
        program: Box::new(program),
        input,
        expected: Some(Box::new(move |_| [vec![0; 31], vec![answer]].concat())),
        turns: None,
        is_cold_measured: false,
    }
}
