//! Field opcodes that few revisions have: SETMODX and TOMONTX of EIP-5843, INVMODX, GETX and PUTX.

use num_bigint::BigUint;
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip5843::{SETMODX, TOMONTX};
use residue_isa::revision::rules::{InvertsModulo, SlotRules};
use residue_isa::{Assembly, FieldInstruction, Form, Lanes, Revision};

use super::chain::{Chain, begin, end};
use super::pair::{Pair, bytes, data, looped, ops};
use super::values::{modulus, random, to_be};

/// Executions in a turn of the loop.
const BODY: usize = 48;

/// SETMODX and TOMONTX of a revision of EIP-5843. Slot 0 is the modulus, slot 1 a value, slot 2 gets its Montgomery form.
pub(super) fn montgomery(revision: Revision, width_limbs: usize) -> Vec<Pair> {
    let element_bytes = 8 * width_limbs as u64; // Widens.
    let set = vec![0, width_limbs as u64, 0]; // Widens.
    // By slots, or in go-ethereum by byte offsets with the output on top.
    let convert = match revision {
        Revision::Geth5843 => vec![2 * element_bytes, element_bytes],
        _ => vec![1, 2],
    };
    [(SETMODX, set.clone()), (TOMONTX, convert)]
        .into_iter()
        .map(|(opcode, words)| montgomery_opcode(revision, width_limbs, opcode, words, set.clone()))
        .collect()
}

fn montgomery_opcode(revision: Revision, width_limbs: usize, opcode: u8, words: Vec<u64>, set: Vec<u64>) -> Pair {
    let row = revision.row(opcode).expect("it is an opcode of the revision");
    let m = modulus(width_limbs);
    let element_bytes = 8 * width_limbs;
    let value = random(&m, 9);
    let mut input = [to_be(&m, element_bytes), to_be(&value, element_bytes)].concat();
    // What comes out of slot 2, and a word after it: go-ethereum wants a byte after a value.
    input.resize(3 * element_bytes + 32, 0);
    let image_bytes = input.len() as u64; // Widens.
    let expected = match opcode {
        TOMONTX => to_be(&((value << (64 * width_limbs)) % &m), element_bytes),
        _ => vec![0; element_bytes],
    };
    let program = move |with: bool, turns: usize| {
        let emit = |code: &mut Assembly, opcode: u8, words: &[u64], with: bool| {
            for &word in words.iter().rev() {
                code.push(word);
            }
            match with {
                true => ops(code, &[opcode]),
                false => words.iter().for_each(|_| ops(code, &[op::POP])),
            }
        };
        let before = |code: &mut Assembly| {
            code.push(image_bytes).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
            emit(code, SETMODX, &set, true);
        };
        let body = |code: &mut Assembly| (0..BODY).for_each(|_| emit(code, opcode, &words, with));
        let after = |code: &mut Assembly| {
            code.push(element_bytes as u64).push(2 * element_bytes as u64).op(op::RETURN); // Widens.
        };
        bytes(&looped(turns, before, body, after), revision)
    };
    Pair {
        name: format!("{revision}/{}/{}/plain", row.mnemonic, 64 * width_limbs),
        mnemonic: row.mnemonic,
        count: BODY,
        pops: i32::from(row.pops),
        program: Box::new(program),
        input,
        expected: Some(Box::new(move |_| expected.clone())),
        turns: None,
        is_cold_measured: false,
    }
}

/// INVMODX, if the revision has it: of a value modulo an odd modulus, or modulo 2⁶⁴ⁿ, the modulus being half of that.
pub(super) fn inversion(revision: Revision, rules: &'static SlotRules, width_limbs: usize) -> Option<Pair> {
    let row = revision.row(rules.opcode(Form::Invert)?)?;
    let element_bytes = 8 * width_limbs;
    let (m, inverted_modulo) = match rules.inverts_modulo {
        InvertsModulo::Modulus => (modulus(width_limbs), modulus(width_limbs)),
        InvertsModulo::Twice => {
            let twice = BigUint::from(1u8) << (64 * width_limbs);
            (&twice >> 1u32, twice)
        }
    };
    let mut value = random(&m, 8);
    value.set_bit(0, true);
    let inverse = to_be(&value.modinv(&inverted_modulo).unwrap_or_default(), element_bytes);
    let chain = Chain {
        row,
        class: "plain".to_owned(),
        instruction: FieldInstruction::in_lanes(Form::Invert, &[Lanes::one(1), Lanes::one(0)], 1),
        count: BODY,
        modulus: m,
        slots: 2,
        stored: vec![value],
        returned: (1, 1),
        expected: Box::new(move |_| inverse.clone()),
    };
    Some(chain.pair(revision, rules, width_limbs))
}

/// GETX and PUTX of some values, if the revision has them: the slot that is read back was put before.
pub(super) fn elements(revision: Revision, rules: &'static SlotRules, width_limbs: usize) -> Vec<Pair> {
    let (Some(get), Some(put)) = (rules.opcode(Form::Get), rules.opcode(Form::Put)) else { return Vec::new() };
    let counts = if width_limbs == 6 { &[1u8, 3, 16][..] } else { &[1] };
    let both = counts.iter().flat_map(|&count| [(get, count), (put, count)]);
    both.map(|(opcode, count)| element(revision, rules, [opcode, get, put], (width_limbs, count))).collect()
}

fn element(
    revision: Revision,
    rules: &'static SlotRules,
    [opcode, get, put]: [u8; 3],
    (width_limbs, count): (usize, u8),
) -> Pair {
    let row = revision.row(opcode).expect("it is an opcode of the revision");
    let element_bytes = 8 * width_limbs;
    let m = modulus(width_limbs);
    let value = to_be(&random(&m, 8), element_bytes);
    let input = [to_be(&m, element_bytes), value.clone()].concat();
    let program = move |with: bool, turns: usize| {
        let element = element_bytes as u64; // Widens.
        let before = |code: &mut Assembly| {
            begin(code, rules, element, [16, 1]);
            code.push(0_u8);
            data(code, vec![put, 0, count]);
        };
        let body = |code: &mut Assembly| {
            for _ in 0..BODY {
                code.push(0_u8);
                if with { data(code, vec![opcode, 0, count]) } else { ops(code, &[op::POP]) }
            }
        };
        let after = |code: &mut Assembly| {
            code.push(0_u8);
            data(code, vec![get, 1, 1]);
            end(code, rules, element, (1, 1));
        };
        bytes(&looped(turns, before, body, after), revision)
    };
    Pair {
        name: format!("{revision}/{}/{}/{count}", row.mnemonic, 64 * width_limbs),
        mnemonic: row.mnemonic,
        count: BODY,
        pops: i32::from(row.pops),
        program: Box::new(program),
        input,
        expected: Some(Box::new(move |_| value.clone())),
        turns: None,
        is_cold_measured: false,
    }
}
