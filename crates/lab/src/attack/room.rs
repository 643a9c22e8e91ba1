//! Placement of a candidate's values: encoding of genes for a revision, with as many slots and bytes as fit.

use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_isa::form::Draw;
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip5843::Reading;
use residue_isa::revision::evm384::{ByteOrder, Evm384, Modulus, Operands};
use residue_isa::revision::rules::{InvertsModulo, SetForm, SlotBytesMax, SlotRules};
use residue_isa::revision::{eip5843, evm384_v12};
use residue_isa::writer::{self, Written};
use residue_isa::{Assembly, FieldInstruction, Form, Lanes};

use super::gene::{Call, CallKind, Field, Gene, places};
use super::genome::Genome;
use super::ground::{ELEMENT, Ground, Kind, MODULI, VALUES_AT};
use crate::error::LabError;
use crate::opcodes::Memory;

/// Words of calldata after the image, which say where heads lead.
pub(super) const WORDS: u32 = 8;
/// The fewest bytes of two areas of values, and the most: those that are stored, and those that slots are loaded to.
const AREA_BYTES: [u32; 2] = [6208, 16_384];
/// Bytes of slots of all field contexts of a frame where the revision has no limit.
const SLOT_BYTES: u32 = 32 * 256 * ELEMENT;
/// Offset of moduli and values in code that reads them: after the push of its number and a jump.
const IMAGE_IN_CODE_AT: usize = 8;
/// Values that stand there.
const VALUES_IN_CODE: usize = 16;
/// Ids of field contexts.
const IDS: u32 = 256;

/// A revision for one candidate.
#[derive(Debug)]
pub(super) struct Room<'a> {
    pub ground: &'a Ground,
    /// Slots of a field context.
    slots: u16,
    /// Bytes of a modulus, and of a value in memory.
    width_bytes: u16,
    /// Field contexts of a frame.
    contexts: u16,
    moduli: [BigUint; MODULI],
    /// Offset of values in memory.
    values_at: u32,
    /// Bytes of each of the two areas.
    area_bytes: u32,
}

impl<'a> Room<'a> {
    /// For this candidate.
    pub fn new(ground: &'a Ground, genome: &Genome) -> Self {
        let widths = ground.widths();
        let width_bytes = widths.iter().copied().rfind(|&width| width <= genome.width_bytes).unwrap_or(widths[0]);
        let width = u32::from(width_bytes);
        let wanted = genome.slots_within(ground.bounds);
        let (slots, contexts, has_power) = match ground.kind {
            Kind::Slots(rules) => {
                let (per_context, in_all) = match rules.slot_bytes_max {
                    SlotBytesMax::Frame(bytes) => (bytes, bytes as u32), // At most 64 KiB.
                    SlotBytesMax::Declared(bytes) => (bytes, SLOT_BYTES),
                    SlotBytesMax::None if ground.has_free_slots() => (usize::MAX, u32::MAX),
                    SlotBytesMax::None => (usize::MAX, SLOT_BYTES),
                };
                let most = (per_context / usize::from(width_bytes)).min(256) as u16; // At most 256.
                let slots = wanted.min(most);
                let contexts = (in_all / (u32::from(slots) * width)).clamp(1, IDS) as u16; // At most 256.
                (slots, contexts, rules.moduli.powers_of_two)
            }
            _ => (wanted, 1, false),
        };
        let values_at = match ground.kind {
            Kind::Memory(_) => VALUES_AT,
            _ => (MODULI as u32 * (width + ELEMENT)).next_multiple_of(width).max(VALUES_AT), // A small number.
        };
        let values = if let Kind::MemorySlots = ground.kind { IDS / 2 } else { u32::from(slots) };
        let area_bytes = (values * width).clamp(AREA_BYTES[0], AREA_BYTES[1]);
        let moduli = moduli(width_bytes, has_power);
        Self { ground, slots, width_bytes, contexts, moduli, values_at, area_bytes }
    }

    /// Bytes that a candidate finds in memory: moduli and values, and as many zeros that slots are loaded to; then the words.
    fn image_bytes(&self) -> u32 {
        self.values_at + 2 * self.area_bytes
    }

    /// Bytes of calldata: the image and the words after it.
    pub fn input_bytes(&self) -> u32 {
        self.image_bytes() + 32 * WORDS
    }

    /// Turns that have a field context each, one of which is there before.
    pub fn turns_max(&self) -> u16 {
        self.contexts.saturating_sub(1).max(1)
    }

    /// Copies the calldata, reaches as far as the genes where instructions do not, and sets the first modulus.
    pub fn begin(&self, code: &mut Assembly, genome: &Genome) {
        code.push(self.input_bytes()).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
        if let Kind::Memory(Evm384 { grows: false, .. }) = self.ground.kind {
            let far = places(genome.genes()).map(|place| self.offset(place)).max().unwrap_or(0) + 2 * ELEMENT;
            code.push(0_u8).push(far.max(self.input_bytes())).op(op::MSTORE);
        }
        if self.ground.sets_modulus() {
            self.set_modulus(code, 0);
        }
    }

    /// Appends what a gene does. With the count of the inner loop so many words down the stack, if there is one.
    pub fn emit(&self, code: &mut Assembly, gene: Gene, turn_at: Option<u8>) -> Result<(), LabError> {
        match gene {
            Gene::Field(field) => return self.field(code, &field),
            Gene::Modulus(_) | Gene::ModulusOfTurn if !self.ground.sets_modulus() => {}
            Gene::Modulus(number) => self.set_modulus(code, number),
            Gene::ModulusOfTurn => self.set_modulus_of_turn(code, turn_at),
            Gene::WriteModulus { modulus, byte, value } if self.width_bytes > 2 => {
                // Not the power of two; neither the first nor the last byte, so that it is odd and as long as it was.
                let inside = 1 + u32::from(byte) % u32::from(self.width_bytes - 2);
                let at = self.modulus_at(modulus % (MODULI as u8 - 1)) + inside; // A small number.
                code.push(value).push(at).op(op::MSTORE8);
            }
            Gene::WriteModulus { .. } => {}
            Gene::Transfer { is_load, slot, count } => self.transfer(code, is_load, slot, count),
            Gene::Element { is_get, slot, count, index } => self.element(code, is_get, (slot, count), index),
            Gene::Padded { slot, count } => self.padded(code, slot, count),
            Gene::ModulusInCode(number) => self.set_modulus_in_code(code, number),
            Gene::StoreFromCode { slot, count } => self.store_from_code(code, slot, count),
            Gene::Formed { form, operands, count, word } if self.ground.forms().any(|own| own == form) => {
                let operands = form.draw(&mut InRoom { slots: self.slots, numbers: operands.iter().cycle(), count });
                for _ in form.row().words {
                    code.push(u8::from(word));
                }
                self.encoded(code, &FieldInstruction::formed(form, &operands))?;
                for _ in 0..form.row().pushes {
                    code.op(op::POP);
                }
            }
            Gene::Formed { .. } => {}
            Gene::Convert { slot, count } => return self.convert(code, slot, count),
            Gene::Jumpdest => _ = code.op(op::JUMPDEST),
            Gene::Jump { is_copied } => jump(code, is_copied),
            Gene::Read(place) => _ = code.push(place).op(op::MLOAD).op(op::POP),
            Gene::Call(call) => self.call(code, call, |code| _ = code.op(op::ADDRESS)),
        }
        Ok(())
    }

    /// A call with the memory that calldata was copied to; `address` pushes whom.
    pub fn call(&self, code: &mut Assembly, call: Call, address: impl FnOnce(&mut Assembly)) {
        code.push(0_u8).push(0_u8).push(self.input_bytes()).push(0_u8);
        if call.kind == CallKind::Call {
            code.push(0_u8);
        }
        address(code);
        let opcode = match call.kind {
            CallKind::Call => op::CALL,
            CallKind::Static => op::STATICCALL,
            CallKind::Delegate => op::DELEGATECALL,
        };
        code.push(call.gas).op(opcode).op(op::POP);
    }

    /// Pushes the word of calldata of this number.
    pub fn push_word(&self, code: &mut Assembly, number: u32) {
        code.push(self.image_bytes() + 32 * (number % WORDS)).op(op::CALLDATALOAD);
    }

    fn field(&self, code: &mut Assembly, field: &Field) -> Result<(), LabError> {
        let Field { operation, places, count, strides, modulus } = *field;
        let (operation, slots) = (operation.arithmetic(), self.slots);
        let instruction = match self.ground.kind {
            Kind::Memory(evm384) => {
                let memory = self.memory(evm384, modulus);
                if evm384.operands == Operands::Values {
                    let value = |place: u32| BigUint::from(place).pow(10) % &memory.m;
                    let values = [value(places[1]), value(places[2])];
                    let opcode = self.ground.revision.arithmetic_opcode(operation);
                    code.data(memory.stack_operation(opcode, &values, true));
                    return Ok(());
                }
                let mut places = places.map(|place| self.offset(place));
                if let Operands::Words { overwrites_x: true } = evm384.operands {
                    places[0] = places[1];
                }
                memory.instruction(operation, places)
            }
            Kind::MemorySlots => {
                let [out, x, y] = places.map(|place| Lanes::one(self.memory_slot(place as u8))); // Any byte will do.
                FieldInstruction::Slots { operation, out, x, y, count: 1 }
            }
            Kind::Slots(rules) => {
                let (count, strides) = if rules.is_strided { (count, strides) } else { (1, [1; 3]) };
                let count = count.min(u8::try_from(slots).unwrap_or(u8::MAX));
                let most = (slots - 1) / u16::from(count.max(2) - 1);
                let lanes = [0, 1, 2].map(|operand| {
                    let stride = u16::from(strides[operand]).min(most);
                    let starts = u32::from(slots - u16::from(count - 1) * stride);
                    // Slots are below 256, and so are strides.
                    Lanes { index: (places[operand] % starts) as u8, stride: stride as u8 }
                });
                let [out, x, y] = lanes;
                FieldInstruction::Slots { operation, out, x, y, count }
            }
        };
        self.encoded(code, &instruction)
    }

    fn encoded(&self, code: &mut Assembly, instruction: &FieldInstruction) -> Result<(), LabError> {
        let mut bytes = Vec::new();
        self.ground.revision.encode(instruction, &mut bytes).map_err(LabError::Encode)?;
        code.data(bytes);
        Ok(())
    }

    /// The byte offset of a place that an operand can name, after the moduli.
    fn offset(&self, place: u32) -> u32 {
        let Kind::Memory(evm384) = self.ground.kind else { return place };
        let most = evm384.operand_max.saturating_mul(evm384.unit_bytes);
        match evm384.unit_bytes {
            1 => place.max(VALUES_AT).min(most),
            unit => (VALUES_AT + place % (most + unit - VALUES_AT)) / unit * unit,
        }
    }

    /// A slot that is no part of a modulus: go-ethereum's begin at the bottom of memory, where moduli are.
    fn memory_slot(&self, slot: u8) -> u8 {
        let begins_at_0 = self.ground.revision.reading() == Some(Reading::Geth);
        let first = if begins_at_0 { self.values_at / u32::from(self.width_bytes) } else { 0 };
        // As many as there are in both areas: fewer than 256 from the first on.
        let slots = (2 * self.area_bytes / u32::from(self.width_bytes)).min(256 - first) - u32::from(begins_at_0);
        (first + u32::from(slot) % slots) as u8 // Below 256.
    }

    fn modulus_at(&self, number: u8) -> u32 {
        match self.ground.kind {
            Kind::Memory(Evm384 { modulus: Modulus::Place(at), .. }) => *at,
            _ => self.values_at / MODULI as u32 * u32::from(number % MODULI as u8), // A small number.
        }
    }

    fn memory(&self, evm384: &'static Evm384, number: u8) -> Memory {
        let m = self.moduli[usize::from(number) % MODULI].clone();
        Memory { revision: self.ground.revision, evm384, r_inv: r_inv(&m), m, modulus_at: self.modulus_at(number) }
    }

    /// Sets a modulus; with field contexts that of its number, as many as there may be.
    fn set_modulus(&self, code: &mut Assembly, number: u8) {
        let at = self.modulus_at(number);
        match self.ground.kind {
            Kind::Memory(_) => _ = code.push(self.width_bytes).push(at).op(evm384_v12::SETMOD),
            Kind::MemorySlots => _ = code.push(self.values_at).push(self.width_bytes / 8).push(at).op(eip5843::SETMODX),
            Kind::Slots(rules) => {
                let id = (u16::from(number) % self.contexts) as u8; // Below 256.
                let at = if rules.form == SetForm::One { at } else { self.modulus_at(id) };
                code.written(self.context_operands(rules, id, at));
            }
        }
    }

    /// Sets the modulus of the field context whose id is the count of the inner loop.
    fn set_modulus_of_turn(&self, code: &mut Assembly, turn_at: Option<u8>) {
        let (Kind::Slots(rules), Some(turn_at)) = (self.ground.kind, turn_at) else {
            return self.set_modulus(code, 0);
        };
        if rules.form != SetForm::IdOnStack {
            return self.set_modulus(code, 0);
        }
        let written = self.context_operands(rules, 0, self.modulus_at(0));
        let [_, others @ ..] = &written.words[..] else { unreachable!("the id is on the stack") };
        others.iter().rev().for_each(|&word| _ = code.push(word));
        // The count is at most a few words down.
        code.op(op::DUP1 + turn_at + others.len() as u8).op(rules.set_modulus);
    }

    fn context_operands(&self, rules: &SlotRules, id: u8, at: u32) -> Written<u64> {
        // Where bits count, the modulus of 48 bytes has 381.
        let is_bls = self.width_bytes == 48 && !rules.moduli.powers_of_two;
        let bits = if is_bls { 381 } else { 8 * u64::from(self.width_bytes) };
        writer::set_modulus(rules, (id.into(), id), [at.into(), rules.declared_size(bits), self.slots.into()])
    }

    fn transfer(&self, code: &mut Assembly, is_load: bool, slot: u8, count: u16) {
        let Kind::Slots(rules) = self.ground.kind else { return };
        let most = self.area_bytes / u32::from(self.width_bytes);
        let count = count.min(self.slots).min(most.min(256) as u16); // At most 256.
        let slot = u16::from(slot) % (self.slots - count + 1);
        let [slot, count] = [slot, count].map(u32::from);
        code.written(match is_load {
            true => writer::load(rules, 0, [self.values_at + self.area_bytes, slot, count]),
            false => writer::store(rules, 0, [slot, self.values_at, count]),
        });
    }

    /// The opcode of a form, where there is one.
    fn opcode(&self, form: Form) -> Option<u8> {
        self.ground.revision.slot_rules()?.opcode(form)
    }

    fn element(&self, code: &mut Assembly, is_get: bool, (slot, count): (u8, u8), index: u16) {
        let Some(opcode) = self.opcode(if is_get { Form::Get } else { Form::Put }) else { return };
        let count = u16::from(count).min(self.slots).max(1);
        let slot = u16::from(slot) % (self.slots - count + 1);
        // The array would end before the last element.
        let index = index.min(u16::MAX - count);
        code.push(index).data([opcode, slot as u8, count as u8]); // At most 255.
    }

    fn padded(&self, code: &mut Assembly, slot: u8, count: u16) {
        let [Some(load), Some(store)] = [Form::LoadPadded, Form::StorePadded].map(|form| self.opcode(form)) else {
            return;
        };
        const VALUE_BYTES: u8 = 96; // As many as any modulus has.
        let most = self.area_bytes / u32::from(VALUE_BYTES);
        let count = count.min(self.slots).min(most.min(256) as u16); // At most 256.
        let slot = u16::from(slot) % (self.slots - count + 1);
        let memory = self.values_at + self.area_bytes;
        code.push(count).push(slot).push(memory).data([load, VALUE_BYTES]);
        code.push(count).push(memory).push(slot).data([store, VALUE_BYTES]);
    }

    /// Appends the data of genes that read code: moduli and values as in calldata, at [`IMAGE_IN_CODE_AT`]; nothing if
    /// no gene reads code.
    pub fn image_in_code(&self, code: &mut Assembly, genome: &Genome) {
        if !self.ground.reads_code() || !genome.genes().any(|gene| gene.reads_code()) {
            return;
        }
        let width = usize::from(self.width_bytes);
        let mut image: Vec<u8> = self.moduli.iter().flat_map(|m| big_endian(m, width)).collect();
        for value in 0..VALUES_IN_CODE {
            image.extend(big_endian(&(&self.moduli[1] >> (9 + value)), width));
        }
        // No opcode among them has the jump target for its immediate.
        image.extend([0; 33]);
        let after = (IMAGE_IN_CODE_AT + image.len()) as u16; // A small number.
        let [high, low] = after.to_be_bytes();
        code.data([op::PUSH1 + 1, high, low, op::JUMP]).data(image).op(op::JUMPDEST);
    }

    fn set_modulus_in_code(&self, code: &mut Assembly, number: u8) {
        let Some(opcode) = self.opcode(Form::SetModulusInCode) else { return };
        let id = u16::from(number) % self.contexts;
        let at = IMAGE_IN_CODE_AT + usize::from(self.width_bytes) * usize::from(id % MODULI as u16); // A small number.
        code.push(self.slots).push(self.width_bytes).push(at as u16).push(id).op(opcode); // A small number.
    }

    fn store_from_code(&self, code: &mut Assembly, slot: u8, count: u8) {
        let Some(opcode) = self.opcode(Form::StoreFromCode) else { return };
        let count = u16::from(count).clamp(1, VALUES_IN_CODE as u16).min(self.slots); // A small number.
        let slot = u16::from(slot) % (self.slots - count + 1);
        let values_at = IMAGE_IN_CODE_AT + MODULI * usize::from(self.width_bytes);
        code.push(count).push(values_at as u16).push(slot).op(opcode); // A small number.
    }

    /// TOMONTX of a slot, or INVMODX of slots: modulo the power of two, which is set before, where that is what it is for.
    fn convert(&self, code: &mut Assembly, slot: u8, count: u8) -> Result<(), LabError> {
        if let Kind::Slots(rules) = self.ground.kind {
            if rules.inverts_modulo == InvertsModulo::Twice {
                self.set_modulus(code, MODULI as u8 - 1); // A small number.
            }
            let count = u16::from(count).min(self.slots);
            let slot = (u16::from(slot) % (self.slots - count + 1)) as u8; // Below 256.
            // At most 64 lanes.
            let (lanes, count) = (Lanes::one(slot), count as u8);
            return self.encoded(code, &FieldInstruction::in_lanes(Form::Invert, &[lanes, lanes], count));
        }
        let slot = self.memory_slot(slot);
        // Slots, or in go-ethereum byte offsets.
        let is_offset = self.ground.revision.reading() == Some(Reading::Geth);
        let offset = u32::from(self.width_bytes) * u32::from(slot);
        let (word, at) = if is_offset { (offset, offset) } else { (u32::from(slot), self.values_at + offset) };
        // A result modulo another modulus may be no value modulo this one; with a first byte of zero it is.
        code.push(0_u8).push(at).op(op::MSTORE8);
        code.push(word).push(word).op(eip5843::TOMONTX);
        Ok(())
    }

    /// Calldata, which candidates copy to memory: the moduli, each with r_inv after it, and values below them; then the words,
    /// of which bit i of `to_tail` is number i.
    pub fn input(&self, to_tail: u8) -> Vec<u8> {
        let is_little = matches!(self.ground.kind, Kind::Memory(Evm384 { byte_order: ByteOrder::Little, .. }));
        let mut input = vec![0; self.image_bytes() as usize]; // u32 to usize widens.
        let filled = if self.ground.has_slots() { self.values_at + self.area_bytes } else { self.image_bytes() };
        ChaCha8Rng::seed_from_u64(0).fill_bytes(&mut input[..filled as usize]); // u32 to usize widens.
        let width = usize::from(self.width_bytes);
        for value in input[self.values_at as usize..].chunks_exact_mut(width) {
            value[if is_little { width - 1 } else { 0 }] = 0;
        }
        let mut put = |m: &BigUint, at: u32| {
            let mut bytes = m.to_bytes_be();
            let mut after = r_inv(m).to_be_bytes();
            if is_little {
                bytes.reverse();
                after.reverse();
            }
            bytes.extend(after);
            input[at as usize..][..bytes.len()].copy_from_slice(&bytes); // u32 to usize widens.
        };
        for (m, number) in self.moduli.iter().zip(0..) {
            put(m, self.values_at / MODULI as u32 * number); // A small number.
        }
        if let Kind::Memory(Evm384 { modulus: Modulus::Place(at), .. }) = self.ground.kind {
            put(&self.moduli[0], *at);
        }
        for number in 0..WORDS {
            input.extend([0; 31]);
            input.push(to_tail >> number & 1);
        }
        input
    }
}

/// Operands from numbers, brought to the slots that there are.
struct InRoom<N> {
    slots: u16,
    numbers: N,
    count: u8,
}

impl<'a, N: Iterator<Item = &'a u8>> Draw for InRoom<N> {
    fn count(&mut self) -> u8 {
        self.count.clamp(1, u8::try_from(self.slots).unwrap_or(u8::MAX))
    }

    fn lanes(&mut self, is_written: bool, count: u8) -> Lanes {
        let (slot, stride) = (u16::from(self.byte()), u16::from(self.byte() % 9).max(is_written.into()));
        let stride = stride.min((self.slots - 1) / u16::from(count.max(2) - 1));
        let starts = self.slots - u16::from(count - 1) * stride;
        // Slots are below 256, and the stride is at most 8.
        Lanes { index: (slot % starts) as u8, stride: stride as u8 }
    }

    fn slot(&mut self) -> u8 {
        (u16::from(self.byte()) % self.slots) as u8 // Below 256.
    }

    fn second(&mut self, first: Lanes, count: u8) -> u8 {
        let starts = self.slots - u16::from(count - 1) * u16::from(first.stride);
        (u16::from(self.byte()) % starts) as u8 // Below 256.
    }

    fn byte(&mut self) -> u8 {
        self.numbers.next().copied().unwrap_or_default()
    }
}

/// For 48 bytes the base field of BLS12-381 and numbers like it, all of 381 bits; for others numbers that fill their bytes. All are
/// odd; the last is a power of two where that is a modulus.
fn moduli(width_bytes: u16, has_power: bool) -> [BigUint; MODULI] {
    let bits = 8 * u64::from(width_bytes);
    let first = match width_bytes {
        48 => crate::opcodes::bls12_381(),
        _ => {
            let mut bytes = vec![0; usize::from(width_bytes)];
            ChaCha8Rng::seed_from_u64(bits).fill_bytes(&mut bytes);
            let mut m = BigUint::from_bytes_be(&bytes);
            // So that what is added below does not make it longer.
            for (bit, value) in [(0, true), (bits - 1, true), (bits - 2, false)] {
                m.set_bit(bit, value);
            }
            m
        }
    };
    [0_u32, 1, 2, 3].map(|number| match number {
        0 => first.clone(),
        3 if has_power => BigUint::from(1u8) << (bits - 1),
        _ => &first + (BigUint::from(number) << (bits / 3)),
    })
}

/// −m⁻¹ mod 2⁶⁴; 0 for an even m, which no instruction takes it of.
fn r_inv(m: &BigUint) -> u64 {
    let low = m.iter_u64_digits().next().unwrap_or(0);
    // Each step doubles the bits that are right (Dumas 2012, arXiv 1209.6626).
    let inverse = (0..6).fold(low, |x, _| x.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(x))));
    inverse.wrapping_neg()
}

/// A number in so many bytes, which it must not exceed.
fn big_endian(number: &BigUint, bytes: usize) -> Vec<u8> {
    let digits = number.to_bytes_be();
    [vec![0; bytes - digits.len()], digits].concat()
}

/// A jump to what comes next: to a constant, or to a copy of it on the stack.
fn jump(code: &mut Assembly, is_copied: bool) {
    let next = code.new_label();
    code.push_label(next);
    if is_copied {
        code.op(op::DUP1).op(op::JUMP).label(next).op(op::POP);
    } else {
        code.op(op::JUMP).label(next);
    }
}
