//! The straight loops as bytecode: layers for each revision and engine.
//!
//! A program copies modulus and slots from its input, runs the loop and returns the slots. Without operations in the loop
//! it is what is subtracted.

use residue_engine::Prepared;
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip6690_2024::{LOADX, SETMODX, STOREX};
use residue_isa::revision::evm384::{R_INV_BYTES, VALUE_BYTES};
use residue_isa::{AssembleError, Assembly, Family, FieldInstruction, Lanes, ModulusAt, Revision};

use super::straight::{BODY, Operands, SLOTS, Straight};
use super::{Layer, SUBJECTS};
use crate::engines::EngineLayer;
use crate::error::LabError;
use crate::group::Effort;
use crate::harness::Subject;

/// Gas that no loop here uses up.
const GAS: u64 = 1 << 40;

/// The chosen layers of a revision; none if it has no slots as wide as these.
pub fn layers(revision: Revision, operands: &Operands, effort: &Effort) -> Result<Vec<Layer>, LabError> {
    let width_limbs = operands.modulus.width_limbs();
    let fits = match revision.family() {
        // These values have one width.
        Family::Memory384 => width_limbs == residue_modular::evm384::WIDTH_LIMBS,
        Family::Slots => revision == Revision::Eip6690_2024 && width_limbs <= revision.width_limbs_max(),
        // These loops are not written for it.
        Family::MemorySlots => false,
    };
    if !fits {
        return Ok(Vec::new());
    }
    let engines = EngineLayer::chosen(revision, effort.subjects)?;
    engines.iter().map(|engine| layer(engine, operands, effort.turns)).collect()
}

fn layer(engine: &EngineLayer, operands: &Operands, turns: usize) -> Result<Layer, LabError> {
    let EngineLayer { name: layer, revision, engine } = engine;
    let revision = *revision;
    let input = input(revision, operands);
    let mut subjects = Vec::with_capacity(SUBJECTS);
    let mut gas_used = Vec::with_capacity(SUBJECTS);
    for straight in [None].into_iter().chain(Straight::ALL.map(Some)) {
        let code = program(revision, operands, straight, turns)?;
        let values = straight.map_or_else(|| operands.values.clone(), |straight| straight.expected(operands, turns));
        let name = match straight {
            Some(Straight { operation, form }) => format!("{layer}/{operation} {form:?}/{}", operands.width_bits()),
            None => format!("{layer}/nothing/{}", operands.width_bits()),
        };
        let expected = encode(revision, operands, &values);
        let (subject, gas) = subject(name, engine.prepare(&code), &input, &expected)?;
        subjects.push(subject);
        gas_used.push(gas);
    }
    // Gas of these loops is far below 2⁵³.
    let operations = (turns * BODY) as f64;
    let gas = gas_used[1..].iter().map(|&used| used.saturating_sub(gas_used[0]) as f64 / operations).collect();
    let baselines = match revision.family() {
        Family::Memory384 => &["blst", "modular:evm384"],
        Family::Slots | Family::MemorySlots => &["blst", "modular"],
    };
    Ok(Layer { name: layer.clone(), baselines, subjects, gas: Some(gas) })
}

/// A subject that runs prepared code, and the gas that it uses.
fn subject(
    name: String,
    mut prepared: Prepared,
    input: &[u8],
    expected: &[u8],
) -> Result<(Subject<'static>, u64), LabError> {
    let first = prepared.run_without_memory(input, GAS);
    if !first.is_success() {
        return Err(LabError::Halted { subject: name, halt: first.halt });
    }
    let input = input.to_vec();
    let run = move || prepared.run_without_memory(&input, GAS).output;
    Ok((Subject::new(name, expected, run), first.gas_used))
}

/// Where the slots begin in memory and in the input: behind the modulus.
fn slots_offset(revision: Revision, operands: &Operands) -> usize {
    match revision.family() {
        Family::Memory384 => VALUE_BYTES + R_INV_BYTES,
        Family::Slots | Family::MemorySlots => operands.width_bits() / 8,
    }
}

/// Modulus and slots.
fn input(revision: Revision, operands: &Operands) -> Vec<u8> {
    match revision.family() {
        Family::Memory384 => memory_image(operands),
        Family::Slots | Family::MemorySlots => {
            [operands.modulus.to_be_bytes(), operands.to_be(&operands.values)].concat()
        }
    }
}

/// What an EVM384 program has in memory: modulus, r_inv, slots.
pub fn memory_image(operands: &Operands) -> Vec<u8> {
    let modulus: Vec<u8> = operands.modulus.limbs().iter().flat_map(|limb| limb.to_le_bytes()).collect();
    let r_inv = operands.modulus.n0().to_le_bytes();
    [&modulus[..], &r_inv, &operands.to_mont_le(&operands.values)].concat()
}

/// The slots as a program returns them.
fn encode(revision: Revision, operands: &Operands, values: &[num_bigint::BigUint]) -> Vec<u8> {
    match revision.family() {
        Family::Memory384 => operands.to_mont_le(values),
        Family::Slots | Family::MemorySlots => operands.to_be(values),
    }
}

/// The program: `turns` turns of a loop around [`BODY`] instructions, or around none.
fn program(
    revision: Revision,
    operands: &Operands,
    straight: Option<Straight>,
    turns: usize,
) -> Result<Vec<u8>, AssembleError> {
    let element_bytes = operands.width_bits() / 8;
    let slots_at = slots_offset(revision, operands);
    let slot_bytes = SLOTS * element_bytes;
    let mut code = Assembly::new();
    code.op(op::CALLDATASIZE).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
    if revision.family() == Family::Slots {
        code.push(SLOTS).push(element_bytes).push(0_u8).push(0_u8).op(SETMODX);
        code.push(SLOTS).push(slots_at).push(0_u8).op(STOREX);
    }
    let turn = code.new_label();
    code.push(turns).label(turn);
    if let Some(straight) = straight {
        for index in 0..BODY {
            code.field(instruction(revision, operands, straight, index));
        }
    }
    code.push(1_u8).op(op::SWAP1).op(op::SUB).op(op::DUP1).push_label(turn).op(op::JUMPI);
    if revision.family() == Family::Slots {
        code.push(SLOTS).push(0_u8).push(slots_at).op(LOADX);
    }
    code.push(slot_bytes).push(slots_at).op(op::RETURN);
    Ok(code.assemble(revision)?.bytes)
}

/// Operation number `index` of a loop.
fn instruction(revision: Revision, operands: &Operands, straight: Straight, index: usize) -> FieldInstruction {
    let operation = straight.operation;
    let slots = straight.form.slots(index);
    match revision.family() {
        Family::Memory384 => {
            let offset = |slot| slots_offset(revision, operands) + slot * VALUE_BYTES;
            let [out, x, y] = slots.map(|slot| u32::try_from(offset(slot)).expect("48 slots are a few kilobytes"));
            FieldInstruction::Memory { operation, out, x, y, modulus: ModulusAt::Offset(0) }
        }
        Family::Slots | Family::MemorySlots => {
            let [out, x, y] = slots.map(|slot| Lanes::one(u8::try_from(slot).expect("there are 48 slots")));
            FieldInstruction::Slots { operation, out, x, y, count: 1 }
        }
    }
}
