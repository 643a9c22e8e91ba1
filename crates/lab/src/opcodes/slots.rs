//! Field opcodes of the revisions with field contexts: EIP-5843 and everything after it.
//!
//! Arithmetic is measured in compiled loops, so that every revision runs the same program; setting the modulus, loads and
//! stores in assembly.

use num_bigint::BigUint;
use residue_ir::{Machine, Program, record};
use residue_isa::opcode::evm as op;
use residue_isa::revision::rules::{SetForm, SlotBytesMax, SlotRules};
use residue_isa::{Assembly, FieldOp, Form, GasSchedule, Revision, writer};

use super::pair::{Expected, Pair, bytes, looped, ops};
use super::values::{FIELD_CLASSES, modulus, operands, random, to_be};
use super::{MeasureEffort, answers, conversions, forms, fp2, fp6, sums};
use crate::error::LabError;

/// Operations in a turn of the loop.
const BODY: usize = 48;
/// New field contexts in a run, where their slots have room.
const CONTEXTS: usize = 100;
/// Widths in limbs that are measured in every class.
const WIDTHS: [usize; 6] = [4, 6, 12, 16, 32, 64];
/// Below this many limbs and one, every width is measured; above, those of [`WIDTHS`].
const EVERY_WIDTH_MAX: usize = 12;

/// The pairs of a revision.
pub(super) fn pairs(revision: Revision, effort: &MeasureEffort) -> Result<Vec<Pair>, LabError> {
    let mut pairs = Vec::new();
    let wide = WIDTHS.into_iter().filter(|&width_limbs| width_limbs > EVERY_WIDTH_MAX);
    for width_limbs in
        (1..=EVERY_WIDTH_MAX).chain(wide).filter(|&width_limbs| width_limbs <= revision.width_limbs_max())
    {
        let is_every_width = effort.is_complete || revision == Revision::Eip6690_2024;
        let matters = WIDTHS.contains(&width_limbs) || width_limbs == revision.width_limbs_max();
        let classes: &[&'static str] = match (matters, is_every_width) {
            (true, _) => &FIELD_CLASSES,
            (false, true) => &["random", "near"],
            (false, false) => continue,
        };
        let m = modulus(width_limbs);
        let schedule = GasSchedule::default_for(revision)?;
        // A revision that has one width only refuses the others.
        if residue_compiler::compile(&program(&m, width_limbs, FieldOp::Add, 1, 1), revision, &schedule).is_err() {
            continue;
        }
        for operation in FieldOp::ALL {
            pairs.extend(classes.iter().map(|class| arithmetic(revision, width_limbs, operation, class)));
        }
        match revision.slot_rules() {
            Some(rules) if matters => {
                pairs.extend(transfers(revision, rules, width_limbs));
                pairs.extend(conversions::inversion(revision, rules, width_limbs));
                pairs.extend(answers::answers(revision, rules, width_limbs));
                pairs.extend(conversions::elements(revision, rules, width_limbs));
                pairs.extend(sums::pairs(revision, rules, width_limbs, classes));
                pairs.extend(fp2::pairs(revision, rules, width_limbs, classes));
                pairs.extend(fp6::pairs(revision, rules, width_limbs, classes));
                let is_measured = |form: &Form| {
                    let begin = format!("{revision}/{}/{}/", form.row().mnemonic, 64 * width_limbs);
                    pairs.iter().any(|pair| pair.name.starts_with(&begin))
                };
                let others = rules.all_forms().filter(|form| form.is_instruction() && !is_measured(form));
                let others: Vec<Form> = others.collect();
                pairs.extend(others.into_iter().flat_map(|form| forms::pairs(revision, rules, form, width_limbs)));
            }
            None if matters => pairs.extend(conversions::montgomery(revision, width_limbs)),
            _ => {}
        }
    }
    Ok(pairs)
}

/// Parses two values, applies the operation `turns · body` times to the first, and returns it.
fn program(m: &BigUint, width_limbs: usize, operation: FieldOp, body: usize, turns: usize) -> Program {
    let element_bytes = u32::try_from(8 * width_limbs).expect("widths are small");
    record("chain", m, |machine| {
        let x = machine.parse(machine.small(0), element_bytes);
        let y = machine.parse(machine.small(u64::from(element_bytes)), element_bytes);
        let turns = machine.small(turns as u64); // A usize is at most 64 bits.
        let z = machine.repeat(turns, x, |_, _, x| {
            (0..body).fold(x, |x, _| match operation {
                FieldOp::Add => x + y,
                FieldOp::Sub => x - y,
                FieldOp::Mul => x * y,
            })
        });
        machine.return_elements(z, element_bytes);
    })
}

fn arithmetic(revision: Revision, width_limbs: usize, operation: FieldOp, class: &'static str) -> Pair {
    let m = modulus(width_limbs);
    let values = operands(class, &m);
    let element_bytes = 8 * width_limbs;
    let input = values.iter().flat_map(|value| to_be(value, element_bytes)).collect();
    let row = revision.row(revision.arithmetic_opcode(operation)).expect("a revision has its arithmetic");
    let expected = {
        let m = m.clone();
        move |turns: usize| {
            let (n, [x, y]) = (BigUint::from(turns * BODY), &values);
            let z = match operation {
                FieldOp::Add => (x + y * n) % &m,
                FieldOp::Sub => (x + (&m - y) * n) % &m,
                FieldOp::Mul => x * y.modpow(&n, &m) % &m,
            };
            to_be(&z, element_bytes)
        }
    };
    let expected: Expected = Box::new(expected);
    let program = move |with: bool, turns: usize| {
        let schedule = GasSchedule::default_for(revision)?;
        let program = program(&m, width_limbs, operation, if with { BODY } else { 0 }, turns);
        let compiled = residue_compiler::compile(&program, revision, &schedule);
        let error = |error| LabError::Compile { name: "a chain of operations", error: Box::new(error) };
        Ok(compiled.map_err(error)?.code)
    };
    Pair {
        name: format!("{revision}/{}/{}/{class}", row.mnemonic, 64 * width_limbs),
        mnemonic: row.mnemonic,
        count: BODY,
        pops: 0,
        program: Box::new(program),
        input,
        expected: Some(expected),
        turns: None,
        is_cold_measured: class == "random" && operation == FieldOp::Mul,
    }
}

/// Setting a modulus that is new, and one that is known; loads and stores of one value.
fn transfers(revision: Revision, rules: &'static SlotRules, width_limbs: usize) -> Vec<Pair> {
    let mut pairs = vec![
        transfer(revision, rules, width_limbs, rules.load, "plain"),
        transfer(revision, rules, width_limbs, rules.store, "plain"),
    ];
    if rules.form == SetForm::One {
        pairs.push(transfer(revision, rules, width_limbs, rules.set_modulus, "new"));
    } else {
        pairs.push(transfer(revision, rules, width_limbs, rules.set_modulus, "known"));
        pairs.push(transfer(revision, rules, width_limbs, rules.set_modulus, "new"));
    }
    pairs
}

fn transfer(
    revision: Revision,
    rules: &'static SlotRules,
    width_limbs: usize,
    opcode: u8,
    class: &'static str,
) -> Pair {
    let m = modulus(width_limbs);
    let element_bytes = rules.element_bytes(8 * width_limbs);
    let row = revision.row(opcode).expect("it is an opcode of the revision");
    let is_new = class == "new" && rules.form != SetForm::One;
    // Each has two slots, and one is there before.
    let contexts = match rules.slot_bytes_max {
        SlotBytesMax::Frame(bytes) => CONTEXTS.min(bytes / (2 * element_bytes) - 1),
        SlotBytesMax::None | SlotBytesMax::Declared(_) => CONTEXTS,
    };
    let count = if is_new { contexts } else { BODY };
    let mut input = to_be(&m, element_bytes);
    input.extend(to_be(&random(&m, 7), element_bytes));
    let modulus_bits = m.bits();
    // An opcode with its operands.
    let operands = move |opcode: u8, id: u64| {
        let value_at = element_bytes as u64; // Widens.
        match opcode {
            _ if opcode == rules.load => writer::load(rules, 0, [value_at, 1, 1]),
            _ if opcode == rules.store => writer::store(rules, 0, [1, value_at, 1]),
            // The id is at most CONTEXTS.
            _ => writer::set_modulus(rules, (id, id as u8), [0, rules.declared_size(modulus_bits), 2]),
        }
    };
    let emit = move |code: &mut Assembly, opcode: u8, id: u64, with: bool| {
        let written = operands(opcode, id);
        if with {
            code.written(written);
            return;
        }
        written.words.iter().rev().for_each(|&word| _ = code.push(word));
        written.words.iter().for_each(|_| ops(code, &[op::POP]));
    };
    let image_bytes = input.len() as u64; // Widens.
    let program = move |with: bool, turns: usize| {
        let before = |code: &mut Assembly| {
            code.push(image_bytes).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
            emit(code, rules.set_modulus, 0, true);
        };
        let body = |code: &mut Assembly| {
            for i in 0..count {
                let id = if is_new { i as u64 + 1 } else { 0 }; // A small number.
                emit(code, opcode, id, with);
            }
        };
        bytes(&looped(turns, before, body, |code| ops(code, &[op::STOP])), revision)
    };
    Pair {
        name: format!("{revision}/{}/{}/{class}", row.mnemonic, 64 * width_limbs),
        mnemonic: row.mnemonic,
        count,
        pops: i32::from(row.pops),
        program: Box::new(program),
        input,
        expected: None,
        turns: is_new.then_some(1),
        is_cold_measured: false,
    }
}
