//! What candidates of the search stand on: how a revision writes genes, and how far operands may be.

use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_isa::opcode::evm as op;
use residue_isa::revision::evm384::{ByteOrder, Evm384, Modulus, Operands, VALUE_BYTES};
use residue_isa::revision::rules::{SetForm, SlotBytesMax, SlotRules};
use residue_isa::revision::{eip5843, evm384_v12};
use residue_isa::{Assembly, FieldInstruction, Lanes, Revision};

use super::genome::{Field, Gene, places};
use super::{BOUND_BYTES, below};
use crate::error::LabError;
use crate::measure::{Memory, set_modulus_operands};

/// Bytes of a value.
const ELEMENT: u32 = 48;
/// Moduli in memory, one behind the other with room for r_inv.
const MODULI: usize = 4;
const MODULUS_BYTES: u32 = 2 * ELEMENT;
/// Where values begin.
const VALUES_AT: u32 = MODULI as u32 * MODULUS_BYTES; // A small number.
/// Where slots are loaded to.
const LOADED_AT: u32 = 8192;
/// Bytes that a candidate finds in memory: moduli, 256 values of its slots if slots are in memory, and some.
const IMAGE_BYTES: u32 = 12_800;
/// Ids of field contexts where slots are not bounded.
const CONTEXTS_MAX: usize = 32;

/// Where operands may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// As far as gas reaches.
    Anywhere,
    /// In 64 KiB of memory, or in a quarter of the slots.
    Within,
}

/// A revision with its bounds.
#[derive(Debug)]
pub struct Ground {
    /// The revision.
    pub revision: Revision,
    /// How far operands may be.
    pub bounds: Bounds,
    kind: Kind,
    /// Bytes of memory that operands may be in.
    reach_bytes: u32,
    moduli: [BigUint; MODULI],
}

/// Where a revision has its values.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// In memory or on the stack.
    Memory(&'static Evm384),
    /// At numbered slots of memory.
    MemorySlots,
    /// In slots.
    Slots(&'static SlotRules),
}

impl Ground {
    /// For candidates with so much gas, half of which may go to memory.
    pub fn new(revision: Revision, bounds: Bounds, gas: u64) -> Self {
        let kind = match (revision.evm384(), revision.slot_rules()) {
            (Some(evm384), _) => Kind::Memory(evm384),
            (None, Some(rules)) => Kind::Slots(rules),
            (None, None) => Kind::MemorySlots,
        };
        let reach_bytes = match bounds {
            // 3·W + W²/512 gas for W words (Yellow Paper, appendix G).
            Bounds::Anywhere => 32 * ((256 * gas).isqrt().min(1 << 21) as u32).max(4096), // At most 2²¹.
            Bounds::Within => BOUND_BYTES,
        };
        let has_powers = matches!(kind, Kind::Slots(SlotRules { moduli, .. }) if moduli.powers_of_two);
        Self { revision, bounds, kind, reach_bytes, moduli: moduli(has_powers) }
    }

    /// Whether an instruction sets the modulus of those behind it, or instructions name one of several.
    pub fn sets_modulus(&self) -> bool {
        !matches!(self.kind, Kind::Memory(evm384) if evm384.modulus != Modulus::Set)
    }

    /// Whether writing the modulus in memory means anything.
    pub fn has_modulus_in_memory(&self) -> bool {
        !matches!(self.kind, Kind::Memory(Evm384 { modulus: Modulus::Value | Modulus::Fixed, .. }))
    }

    /// Whether values are in slots beside memory.
    pub fn has_slots(&self) -> bool {
        matches!(self.kind, Kind::Slots(_))
    }

    /// Whether there is TOMONTX or INVMODX.
    pub fn converts(&self) -> bool {
        match self.kind {
            Kind::Memory(_) => false,
            Kind::MemorySlots => true,
            Kind::Slots(rules) => rules.invert.is_some(),
        }
    }

    /// A place behind the moduli: in a line, across lines, across pages, or far; half of them where a value begins.
    pub fn random_place(&self, random: &mut ChaCha8Rng) -> u32 {
        let most = self.reach_bytes - VALUES_AT - 2 * ELEMENT;
        let reach = [256, 4096, 65_000, most][below(random, 4)].min(most);
        let offset = random.next_u32() % reach;
        let aligned = if below(random, 2) == 0 { offset } else { offset / ELEMENT * ELEMENT };
        VALUES_AT + aligned
    }

    /// Copies the image, reaches as far as the genes where instructions do not, and sets the first modulus.
    pub(super) fn begin(&self, code: &mut Assembly, genes: &[Gene], slots: u16) {
        code.push(IMAGE_BYTES).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
        if let Kind::Memory(Evm384 { grows: false, .. }) = self.kind {
            let far = places(genes).map(|place| self.offset(place)).max().unwrap_or(0) + 2 * ELEMENT;
            code.push(0_u8).push(far.max(IMAGE_BYTES)).op(op::MSTORE);
        }
        if self.sets_modulus() {
            self.set_modulus(code, 0, slots);
        }
    }

    /// Appends what a gene does.
    pub(super) fn emit(&self, code: &mut Assembly, gene: Gene, slots: u16) -> Result<(), LabError> {
        match gene {
            Gene::Field(field) => return self.field(code, &field, slots),
            Gene::Modulus(number) => self.set_modulus(code, number, slots),
            Gene::WriteModulus { modulus, byte, value } => {
                // Not the power of two; neither the first nor the last bytes, so that it is odd and as long as it was.
                let at = self.modulus_at(modulus % (MODULI as u8 - 1)) + 8 + u32::from(byte) % 32; // A small number.
                code.push(value).push(at).op(op::MSTORE8);
            }
            Gene::Transfer { is_load, slot, count } => self.transfer(code, is_load, slot, count, slots),
            Gene::Convert { slot, count } => return self.convert(code, slot, count, slots),
            Gene::Jumpdest => _ = code.op(op::JUMPDEST),
            Gene::Read(place) => _ = code.push(place).op(op::MLOAD).op(op::POP),
            Gene::Call { gas } => {
                code.push(0_u8).push(0_u8).push(IMAGE_BYTES).push(0_u8).push(0_u8);
                code.op(op::ADDRESS).push(gas).op(op::CALL).op(op::POP);
            }
        }
        Ok(())
    }

    fn field(&self, code: &mut Assembly, field: &Field, slots: u16) -> Result<(), LabError> {
        let Field { operation, places, count, strides, modulus } = *field;
        let mut bytes = Vec::new();
        let instruction = match self.kind {
            Kind::Memory(evm384) => {
                let memory = self.memory(evm384, modulus);
                if evm384.operands == Operands::Values {
                    let value = |place: u32| BigUint::from(place).pow(10) % &memory.m;
                    let values = [value(places[1]), value(places[2])];
                    code.data(memory.stack_operation(self.revision.arithmetic_opcode(operation), &values, true));
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
        self.revision.encode(&instruction, &mut bytes).map_err(LabError::Encode)?;
        code.data(bytes);
        Ok(())
    }

    /// The byte offset of a place that an operand can name, behind the moduli.
    fn offset(&self, place: u32) -> u32 {
        let Kind::Memory(evm384) = self.kind else { return place };
        let most = evm384.operand_max.saturating_mul(evm384.unit_bytes);
        match evm384.unit_bytes {
            1 => place.min(most),
            unit => (VALUES_AT + place % (most + unit - VALUES_AT)) / unit * unit,
        }
    }

    /// A slot that is no part of a modulus: go-ethereum's begin at the bottom of memory, where moduli are.
    fn memory_slot(&self, slot: u8) -> u8 {
        let first = if self.revision == Revision::Geth5843 { (VALUES_AT / ELEMENT) as u8 } else { 0 }; // A small number.
        first + slot % (u8::MAX - first)
    }

    fn modulus_at(&self, number: u8) -> u32 {
        match self.kind {
            Kind::Memory(Evm384 { modulus: Modulus::Place(at), .. }) => *at,
            _ => MODULUS_BYTES * u32::from(number % MODULI as u8), // A small number.
        }
    }

    fn memory(&self, evm384: &'static Evm384, number: u8) -> Memory {
        let m = self.moduli[usize::from(number) % MODULI].clone();
        Memory { revision: self.revision, evm384, r_inv: r_inv(&m), m, modulus_at: self.modulus_at(number) }
    }

    /// Sets a modulus; with field contexts that of its number, as many as there may be.
    fn set_modulus(&self, code: &mut Assembly, number: u8, slots: u16) {
        let at = self.modulus_at(number);
        match self.kind {
            Kind::Memory(_) => _ = code.push(ELEMENT).push(at).op(evm384_v12::SETMOD),
            Kind::MemorySlots => _ = code.push(VALUES_AT).push(ELEMENT / 8).push(at).op(eip5843::SETMODX),
            Kind::Slots(rules) => {
                let slots_max = match rules.slot_bytes_max {
                    SlotBytesMax::Frame(bytes) => bytes / VALUE_BYTES,
                    _ => CONTEXTS_MAX * usize::from(slots),
                };
                let contexts = (slots_max / usize::from(slots)).clamp(1, 256);
                let id = (usize::from(number) % contexts) as u8; // Below 256.
                let at = if rules.form == SetForm::One { at } else { self.modulus_at(id) };
                // Moduli fill their bytes, and are of 381 bits at most where that counts.
                let bits = if rules.moduli.powers_of_two { 384 } else { 381 };
                let (words, immediate) = set_modulus_operands(rules, id, u64::from(at), bits, u64::from(slots));
                words.iter().rev().for_each(|&word| _ = code.push(word));
                code.data([vec![rules.set_modulus], immediate].concat());
            }
        }
    }

    fn transfer(&self, code: &mut Assembly, is_load: bool, slot: u8, count: u8, slots: u16) {
        let Kind::Slots(rules) = self.kind else { return };
        let count = u16::from(count).min(slots);
        let slot = u16::from(slot) % (slots - count + 1);
        code.push(count);
        if is_load {
            code.push(slot).push(LOADED_AT);
        } else {
            code.push(VALUES_AT).push(slot);
        }
        if rules.transfer_names_context {
            code.push(0_u8);
        }
        code.op(if is_load { rules.load } else { rules.store });
    }

    /// TOMONTX of a slot, or INVMODX of slots modulo the power of two, which is set before.
    fn convert(&self, code: &mut Assembly, slot: u8, count: u8, slots: u16) -> Result<(), LabError> {
        if let Kind::Slots(_) = self.kind {
            self.set_modulus(code, MODULI as u8 - 1, slots); // A small number.
            let slot = slot % 8; // The fewest slots are 16.
            let instruction = FieldInstruction::Inverse { out: Lanes::one(slot), x: Lanes::one(slot), count };
            let mut bytes = Vec::new();
            self.revision.encode(&instruction, &mut bytes).map_err(LabError::Encode)?;
            code.data(bytes);
            return Ok(());
        }
        let slot = self.memory_slot(slot);
        // Slots, or in go-ethereum byte offsets.
        let word = if self.revision == Revision::Geth5843 { ELEMENT * u32::from(slot) } else { u32::from(slot) };
        code.push(word).push(word).op(eip5843::TOMONTX);
        Ok(())
    }

    /// Calldata, which candidates copy to memory: the moduli, each with r_inv behind it, and values below them.
    pub fn image(&self) -> Vec<u8> {
        let is_little = matches!(self.kind, Kind::Memory(Evm384 { byte_order: ByteOrder::Little, .. }));
        let mut image = vec![0; IMAGE_BYTES as usize]; // u32 to usize widens.
        ChaCha8Rng::seed_from_u64(0).fill_bytes(&mut image);
        for value in image.chunks_exact_mut(VALUE_BYTES) {
            value[if is_little { VALUE_BYTES - 1 } else { 0 }] = 0;
        }
        let mut put = |m: &BigUint, at: u32| {
            let mut bytes = m.to_bytes_be();
            let mut behind = r_inv(m).to_be_bytes();
            if is_little {
                bytes.reverse();
                behind.reverse();
            }
            bytes.extend(behind);
            image[at as usize..][..bytes.len()].copy_from_slice(&bytes); // u32 to usize widens.
        };
        for (m, number) in self.moduli.iter().zip(0..) {
            put(m, MODULUS_BYTES * number);
        }
        if let Kind::Memory(Evm384 { modulus: Modulus::Place(at), .. }) = self.kind {
            put(&self.moduli[0], *at);
        }
        image
    }
}

/// The base field of BLS12-381 and numbers like it, all of 381 bits and odd; the last a power of two where that is a modulus.
fn moduli(has_power: bool) -> [BigUint; MODULI] {
    let m = crate::measure::bls12_381();
    [0_u32, 1, 2, 3].map(|number| match number {
        0 => m.clone(),
        3 if has_power => BigUint::from(1u8) << 383u32,
        _ => &m + (BigUint::from(number) << 128u32),
    })
}

/// −m⁻¹ mod 2⁶⁴; 0 for an even m, which no instruction takes it of.
fn r_inv(m: &BigUint) -> u64 {
    let low = m.iter_u64_digits().next().unwrap_or(0);
    // Each step doubles the bits that are right (Dumas 2012, arXiv 1209.6626).
    let inverse = (0..6).fold(low, |x, _| x.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(x))));
    inverse.wrapping_neg()
}
