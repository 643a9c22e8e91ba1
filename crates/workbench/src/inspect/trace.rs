//! Trace of code by instruction: operands from any place, field values in canonical form.
//!
//! Interfaces keep values differently: in slots, in memory in Montgomery form, in either byte order. Here all are the same
//! numbers below the modulus, so traces of one program under two revisions can be compared.

use std::collections::HashMap;
use std::fmt;

use num_bigint::BigUint;
use residue_engine::{Halt, Step, Tracer, View};
use residue_isa::opcode::evm::{PUSH0, PUSH32};
use residue_isa::revision::evm384::{BLS12_381_P, ByteOrder, Evm384, Modulus, VALUE_BYTES};
use residue_isa::{FieldInstruction, FieldOp, ModulusAt, Revision};

/// True if `source`, in the form of [`residue_compiler::SourceMap::name_at`], is of the function or within the stretch
/// `name`.
pub fn is_within(source: &str, name: &str) -> bool {
    source.split('/').any(|part| part == name)
}

/// One executed instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// Nesting of calls; 0 is the outermost frame.
    pub depth: usize,
    /// Offset in the code.
    pub pc: usize,
    /// Its name; none of bytes that are no opcode.
    pub mnemonic: Option<&'static str>,
    /// The words that it took from the stack, top first, or the one that it pushed; none for field arithmetic.
    pub words: Vec<[u8; 32]>,
    /// Results of field arithmetic, by lane.
    pub lanes: Vec<Lane>,
    /// Gas charged for it.
    pub gas_cost: u64,
    /// Halt of the frame, if it ended.
    pub halt: Option<Halt>,
}

/// One lane of field arithmetic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The operation; none for an inversion.
    pub operation: Option<FieldOp>,
    /// Places of the result, the first operand, and the second one, if there is one.
    pub places: [Option<Place>; 3],
    /// The canonical values there; none if they cannot be told: outside of memory, or without a modulus.
    pub values: [Option<BigUint>; 3],
}

/// Place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a slot.
    Slot(u8),
    /// At a byte offset in memory.
    Memory(u32),
}

/// A tracer that tells `told` every instruction.
pub struct Tracing<F> {
    revision: Revision,
    told: F,
    pending: Pending,
    /// R⁻¹ by modulus and bits of R.
    r_inverses: HashMap<(BigUint, usize), Option<BigUint>>,
}

/// Operands read before the instruction.
#[derive(Default)]
struct Pending {
    instruction: Option<FieldInstruction>,
    words: Vec<[u8; 32]>,
    lanes: Vec<Lane>,
}

impl<F: FnMut(Executed)> Tracing<F> {
    /// Nothing traced yet.
    pub fn new(revision: Revision, told: F) -> Self {
        Self { revision, told, pending: Pending::default(), r_inverses: HashMap::new() }
    }

    /// The canonical value at a place.
    fn value(&mut self, view: &View<'_>, instruction: &FieldInstruction, place: Place) -> Option<BigUint> {
        match (place, self.revision.evm384()) {
            (Place::Slot(slot), _) if self.revision.slot_rules().is_some() => {
                view.slot(usize::from(slot)).map(|bytes| BigUint::from_bytes_be(&bytes))
            }
            (Place::Slot(slot), _) => {
                let bytes = 8 * view.width_limbs()?;
                let at = view.memory_start().checked_add(usize::from(slot) * bytes)?;
                let value = BigUint::from_bytes_be(&inside(view, at, bytes)?);
                self.canonical(value, BigUint::from_bytes_be(&view.modulus()?), 8 * bytes)
            }
            (Place::Memory(offset), Some(evm384)) => {
                let FieldInstruction::Memory { modulus, .. } = instruction else { return None };
                let (m, bytes) = modulus_of(view, evm384, *modulus)?;
                let value = number(&inside(view, usize::try_from(offset).ok()?, bytes)?, evm384.byte_order);
                self.canonical(value, m, 8 * bytes)
            }
            (Place::Memory(_), None) => None,
        }
    }

    /// (a·R, m) ↦ a mod m with R = 2^bits. None if R has no inverse.
    fn canonical(&mut self, value: BigUint, m: BigUint, bits: usize) -> Option<BigUint> {
        let inverse = || (BigUint::from(1u8) << bits).modinv(&m).filter(|_| m.bit(0));
        let r_inverse = match self.r_inverses.get(&(m.clone(), bits)) {
            Some(known) => known.clone(),
            None => inverse(),
        };
        self.r_inverses.entry((m.clone(), bits)).or_insert_with(|| r_inverse.clone());
        Some(value * r_inverse? % m)
    }
}

impl<F: FnMut(Executed)> Tracer for Tracing<F> {
    fn before(&mut self, view: &View<'_>) {
        let opcode = self.revision.opcode_at(view.code().get(view.pc()..).unwrap_or_default());
        let instruction = view.field_instruction(self.revision);
        let mut lanes = instruction.as_ref().map(lanes_of).unwrap_or_default();
        for lane in &mut lanes {
            for operand in [1, 2] {
                lane.values[operand] = match (&instruction, lane.places[operand]) {
                    (Some(instruction), Some(place)) => self.value(view, instruction, place),
                    _ => None,
                };
            }
        }
        let pops = self.revision.row(opcode).map_or(0, |row| usize::from(row.pops));
        let words =
            if lanes.is_empty() { (0..pops).map_while(|position| view.stack(position)).collect() } else { vec![] };
        self.pending = Pending { instruction, words, lanes };
    }

    fn after(&mut self, step: &Step, view: &View<'_>) {
        let Pending { instruction, mut words, mut lanes } = std::mem::take(&mut self.pending);
        if let (Some(instruction), None) = (instruction, step.halt) {
            for lane in &mut lanes {
                lane.values[0] = lane.places[0].and_then(|place| self.value(view, &instruction, place));
            }
        }
        if (PUSH0..=PUSH32).contains(&step.opcode) {
            words.extend(view.stack(0));
        }
        let mnemonic = self.revision.row(step.opcode).map(|row| row.mnemonic);
        let &Step { depth, pc, gas_cost, halt, .. } = step;
        (self.told)(Executed { depth, pc, mnemonic, words, lanes, gas_cost, halt });
    }
}

/// The lanes of an instruction, without values. An instruction beside arithmetic has a lane for each slot of an operand, and names a result that they
/// share in each.
fn lanes_of(instruction: &FieldInstruction) -> Vec<Lane> {
    let operation = instruction.operation();
    let lane = |places| Lane { operation, places, values: [const { None }; 3] };
    match *instruction {
        FieldInstruction::Slots { out, x, y, count, .. } => {
            let places = |at| [out, x, y].map(|lanes| lanes.slot(at).map(Place::Slot));
            (0..count).map(|at| lane(places(at))).collect()
        }
        FieldInstruction::Formed(formed) => {
            let (written, read): (Vec<_>, Vec<_>) = formed.slots().partition(|(is_written, _)| *is_written);
            let operands = [written.first(), read.first(), read.get(1)].map(|operand| operand.map(|(_, slots)| slots));
            let count = operands.iter().flatten().map(|slots| slots.len()).max().unwrap_or(0);
            let place = |slots: Option<&Vec<u16>>, at: usize| {
                let slot = slots.and_then(|slots| slots.get(at).or(slots.first()));
                slot.and_then(|&slot| u8::try_from(slot).ok()).map(Place::Slot)
            };
            (0..count).map(|at| lane(operands.map(|slots| place(slots, at)))).collect()
        }
        FieldInstruction::Memory { out, x, y, .. } => {
            vec![lane([out, x, y].map(|offset| Some(Place::Memory(offset))))]
        }
    }
}

/// The modulus of an instruction on memory, and the bytes of its values.
fn modulus_of(view: &View<'_>, evm384: &Evm384, at: ModulusAt) -> Option<(BigUint, usize)> {
    let in_memory = |offset: u32| {
        let bytes = inside(view, usize::try_from(offset).ok()?, VALUE_BYTES)?;
        Some((number(&bytes, evm384.byte_order), VALUE_BYTES))
    };
    match (at, evm384.modulus) {
        (ModulusAt::Offset(offset) | ModulusAt::OffsetAndRInv { offset, .. }, _) => in_memory(offset),
        (ModulusAt::Implied, Modulus::Place(offset)) => in_memory(offset),
        (ModulusAt::Implied, Modulus::Fixed) => {
            let bytes: Vec<u8> = BLS12_381_P.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            Some((BigUint::from_bytes_le(&bytes), VALUE_BYTES))
        }
        (ModulusAt::Implied, Modulus::Set) => {
            let bytes = view.short_modulus();
            Some((BigUint::from_bytes_be(&bytes), bytes.len()))
        }
        _ => None,
    }
}

/// Bytes of memory, if all are inside.
fn inside(view: &View<'_>, at: usize, bytes: usize) -> Option<Vec<u8>> {
    let end = at.checked_add(bytes)?;
    (end <= view.memory_bytes()).then(|| view.memory(at, bytes))
}

fn number(bytes: &[u8], order: ByteOrder) -> BigUint {
    match order {
        ByteOrder::Little => BigUint::from_bytes_le(bytes),
        ByteOrder::Big => BigUint::from_bytes_be(bytes),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Slot(slot) => write!(f, "s{slot}"),
            Place::Memory(offset) => write!(f, "[{offset:#x}]"),
        }
    }
}

impl Lane {
    /// The places: `s3 = s1 + s2`.
    pub fn places_text(&self) -> String {
        self.text(self.places.map(|place| place.map(|place| place.to_string())))
    }

    /// The values in hexadecimal: `0x9 = 0x4 + 0x5`; `?` where a value cannot be told.
    pub fn values_text(&self) -> String {
        self.text(self.values.each_ref().map(|value| value.as_ref().map(|value| format!("{value:#x}"))))
    }

    fn text(&self, [out, x, y]: [Option<String>; 3]) -> String {
        let shown = |part: Option<String>| part.unwrap_or_else(|| "?".to_owned());
        let sign = match self.operation {
            None => return format!("{} = 1 / {}", shown(out), shown(x)),
            Some(FieldOp::Add) => '+',
            Some(FieldOp::Sub) => '-',
            Some(FieldOp::Mul) => '*',
        };
        format!("{} = {} {sign} {}", shown(out), shown(x), shown(y))
    }
}

impl Executed {
    /// Places of all lanes, or the words.
    pub fn operands_text(&self) -> String {
        if self.lanes.is_empty() {
            let word = |word: &[u8; 32]| format!("{:#x}", BigUint::from_bytes_be(word));
            return self.words.iter().map(word).collect::<Vec<_>>().join(" ");
        }
        self.lanes.iter().map(Lane::places_text).collect::<Vec<_>>().join(", ")
    }

    /// Values of all lanes.
    pub fn values_text(&self) -> String {
        self.lanes.iter().map(Lane::values_text).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use residue_engine::{Engine, EngineConfig};

    use super::*;

    /// Under every revision the product in the last square of the example is the same number, though none keeps it alike.
    #[test]
    fn values_are_canonical_under_every_revision() {
        let contract = residue_contracts::find("bls12_381/fp2_mul").unwrap();
        let input = (contract.example)();
        let x: Vec<BigUint> = input.chunks(64).map(BigUint::from_bytes_be).collect();
        let mut compared = 0;
        for &revision in Revision::ALL {
            let config = EngineConfig::default_for(revision);
            let Ok(compiled) = residue_compiler::compile(&contract.program(), revision, &config.schedule) else {
                continue;
            };
            let mut products = Vec::new();
            let mut count = 0;
            let mut tracer = Tracing::new(revision, |executed: Executed| {
                count += 1;
                for lane in executed.lanes.iter().filter(|lane| lane.operation == Some(FieldOp::Mul)) {
                    products.extend(lane.values.clone());
                }
            });
            let outcome = Engine::new(config).unwrap().run_traced(&compiled.code, &input, 1 << 30, &mut tracer);
            assert!(outcome.is_success() && count > 20, "{revision}: {outcome:?}");
            // evm384-v0 has values for operands.
            if revision == Revision::Evm384V0 {
                continue;
            }
            // A product of Fp2 has one of a0 or a1 as a factor.
            let known = products.iter().flatten().any(|value| x.contains(value));
            assert!(known, "{revision}: {products:?} {x:?}");
            compared += 1;
        }
        assert!(compared > 10, "{compared}");
    }
}
