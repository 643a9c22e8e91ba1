//! The straight loops as bytecode: layers for each revision and engine.
//!
//! A program copies modulus and slots from its input, runs the loop and returns the slots. Without operations in the loop
//! it is what is subtracted.

use num_bigint::BigUint;
use residue_engine::Prepared;
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip5843::SETMODX;
use residue_isa::revision::evm384::{
    BLS12_381_P, BLS12_381_R_INV, ByteOrder, Operands as Stated, R_INV_BYTES, VALUE_BYTES,
};
use residue_isa::revision::rules::SlotRules;
use residue_isa::{AssembleError, Assembly, FieldInstruction, Lanes, Revision, writer};
use residue_modular::evm384::WIDTH_LIMBS;
use residue_workbench::harness::Subject;

use super::straight::{BODY, Operands, SLOTS, Straight};
use super::{Layer, SUBJECTS};
use crate::bench::effort::Effort;
use crate::bench::engines::EngineLayer;
use crate::error::LabError;
use crate::opcodes::Memory;

/// Gas that no loop here uses up.
const GAS: u64 = 1 << 40;

/// Offset of slots in the memory of EVM384: after the modulus and r_inv, at a multiple of a value's size, since some
/// versions count in values.
const VALUES_AT: usize = 2 * VALUE_BYTES;
/// go-ethereum's EIP-5843 and version 10 of EVM384, where memory does not grow, want memory after a value.
const BYTES_BEHIND: usize = 32;

/// Storage of modulus and slots in a revision.
enum Ground {
    /// In a field context.
    Context(&'static SlotRules),
    /// In memory, by numbers, as wide as the modulus, which is number 0.
    Numbered,
    /// In memory, 48 bytes each.
    Values(Memory),
}

impl Ground {
    /// That of a revision for these operands; none if it has no such modulus, or takes values from the stack, which has no slots.
    fn of(revision: Revision, operands: &Operands) -> Option<Self> {
        let width_limbs = operands.modulus.width_limbs();
        if width_limbs > revision.width_limbs_max() {
            return None;
        }
        if let Some(rules) = revision.slot_rules() {
            let size = rules.declared_size(operands.m().bits());
            return rules.modulus_bytes(usize::try_from(size).ok()?).map(|_| Self::Context(rules));
        }
        let Some(evm384) = revision.evm384() else { return Some(Self::Numbered) };
        let is_there = evm384.operands != Stated::Values && *operands.modulus.limbs() == BLS12_381_P;
        let memory = Memory { revision, evm384, m: operands.m(), r_inv: BLS12_381_R_INV, modulus_at: 0 };
        (is_there && width_limbs == WIDTH_LIMBS).then_some(Self::Values(memory))
    }

    /// Offset of the slots in memory.
    fn slots_at(&self, operands: &Operands) -> usize {
        match self {
            Self::Context(_) | Self::Numbered => operands.width_bits() / 8,
            Self::Values(_) => VALUES_AT,
        }
    }

    /// Slots as a program returns them.
    fn encode(&self, operands: &Operands, values: &[BigUint]) -> Vec<u8> {
        match self {
            Self::Context(_) => operands.to_be(values),
            Self::Numbered => operands.to_mont_be(values),
            Self::Values(memory) if memory.evm384.byte_order == ByteOrder::Big => operands.to_mont_be(values),
            Self::Values(_) => operands.to_mont_le(values),
        }
    }

    /// Memory before the program computes: modulus, slots.
    fn image(&self, operands: &Operands) -> Vec<u8> {
        let slots = self.encode(operands, &operands.values);
        match self {
            Self::Context(_) => [operands.modulus.to_be_bytes(), slots].concat(),
            Self::Numbered => [operands.modulus.to_be_bytes(), slots, vec![0; BYTES_BEHIND]].concat(),
            Self::Values(memory) => {
                let modulus_at = memory.modulus_at();
                let end = (VALUES_AT + slots.len()).max(modulus_at + VALUE_BYTES + R_INV_BYTES);
                let mut image = vec![0; end + BYTES_BEHIND];
                memory.put_modulus(&mut image);
                image[VALUES_AT..][..slots.len()].copy_from_slice(&slots);
                image
            }
        }
    }

    /// Sets the modulus, and stores the slots where they are not in memory.
    fn start(&self, code: &mut Assembly, operands: &Operands) {
        let slots_at = self.slots_at(operands);
        match self {
            Self::Context(rules) => {
                let (slots, size) = (SLOTS as u64, rules.declared_size(operands.m().bits())); // A small number.
                code.written(writer::set_modulus(rules, (0, 0), [0, size, slots]));
                code.written(writer::store(rules, 0, [0, slots_at as u64, slots])); // Widens.
            }
            Self::Numbered => {
                code.push(0_u8).push(operands.modulus.width_limbs()).push(0_u8).op(SETMODX);
            }
            Self::Values(memory) => memory.set_modulus(code),
        }
    }

    /// Loads the slots where they are not in memory.
    fn end(&self, code: &mut Assembly, operands: &Operands) {
        if let Self::Context(rules) = self {
            code.written(writer::load(rules, 0, [self.slots_at(operands), 0, SLOTS]));
        }
    }

    /// Operation number `index` of a loop.
    fn instruction(&self, straight: Straight, index: usize) -> FieldInstruction {
        let operation = straight.operation;
        let slots = straight.form.slots(index);
        match self {
            Self::Values(memory) => {
                let offset =
                    |slot| u32::try_from(VALUES_AT + slot * VALUE_BYTES).expect("the slots are a few kilobytes");
                memory.instruction(operation, slots.map(offset))
            }
            Self::Context(_) | Self::Numbered => {
                let first = usize::from(matches!(self, Self::Numbered));
                let lanes = |slot| Lanes::one(u8::try_from(first + slot).expect("there are few slots"));
                let [out, x, y] = slots.map(lanes);
                FieldInstruction::Slots { operation, out, x, y, count: 1 }
            }
        }
    }
}

/// The chosen layers of a revision; none if it has no slots as wide as these.
pub fn layers(revision: Revision, operands: &Operands, effort: &Effort) -> Result<Vec<Layer>, LabError> {
    let Some(ground) = Ground::of(revision, operands) else { return Ok(Vec::new()) };
    let engines = EngineLayer::chosen(revision, effort.subjects)?;
    engines.iter().map(|engine| layer(engine, &ground, operands, effort.turns)).collect()
}

fn layer(engine: &EngineLayer, ground: &Ground, operands: &Operands, turns: usize) -> Result<Layer, LabError> {
    let EngineLayer { name: layer, revision, engine } = engine;
    let input = ground.image(operands);
    let mut subjects = Vec::with_capacity(SUBJECTS);
    let mut gas_used = Vec::with_capacity(SUBJECTS);
    for straight in [None].into_iter().chain(Straight::ALL.map(Some)) {
        let code = program(*revision, ground, operands, straight, turns)?;
        let values = straight.map_or_else(|| operands.values.clone(), |straight| straight.expected(operands, turns));
        let name = match straight {
            Some(Straight { operation, form }) => format!("{layer}/{operation} {form:?}/{}", operands.width_bits()),
            None => format!("{layer}/nothing/{}", operands.width_bits()),
        };
        let expected = ground.encode(operands, &values);
        let (subject, gas) = subject(name, engine.prepare(&code), &input, &expected)?;
        subjects.push(subject);
        gas_used.push(gas);
    }
    // Gas of these loops is far below 2⁵³.
    let operations = (turns * BODY) as f64;
    let gas = gas_used[1..].iter().map(|&used| used.saturating_sub(gas_used[0]) as f64 / operations).collect();
    let baselines = match ground {
        Ground::Values(_) => &["blst", "modular:evm384"],
        Ground::Context(_) | Ground::Numbered => &["blst", "modular"],
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

/// The program: `turns` turns of a loop around [`BODY`] instructions, or around none.
fn program(
    revision: Revision,
    ground: &Ground,
    operands: &Operands,
    straight: Option<Straight>,
    turns: usize,
) -> Result<Vec<u8>, AssembleError> {
    let mut code = Assembly::new();
    code.op(op::CALLDATASIZE).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
    ground.start(&mut code, operands);
    let turn = code.new_label();
    code.push(turns).label(turn);
    if let Some(straight) = straight {
        for index in 0..BODY {
            code.field(ground.instruction(straight, index));
        }
    }
    code.push(1_u8).op(op::SWAP1).op(op::SUB).op(op::DUP1).push_label(turn).op(op::JUMPI);
    ground.end(&mut code, operands);
    code.push(SLOTS * operands.width_bits() / 8).push(ground.slots_at(operands)).op(op::RETURN);
    Ok(code.assemble(revision)?.bytes)
}
