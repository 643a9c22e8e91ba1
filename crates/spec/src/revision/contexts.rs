//! Field contexts with slots, as every revision from EIP-6601 on but `eip6690-2024` has them: the text once, with the
//! differences between revisions as [`Rules`]. Each revision's file states its rules, its opcodes and its prices.
//!
//! Order of checks: context, operands, ranges, values; growth of memory if the revision grows it; dynamic gas.

use super::FieldState;
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::{ByWidth, Narrow, Prices};
use crate::word::Word;
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use std::collections::BTreeMap;
use std::ops::Range;

/// Differences between revisions with slots.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Source of a context's id.
    pub id: Id,
    /// Loads and stores name their context on top of the stack.
    pub transfers_name_context: bool,
    /// The byte that stands between opcode and operands of arithmetic.
    pub marker: Option<u8>,
    /// Smallest modulus.
    pub modulus_min: u64,
    /// Powers of two are moduli.
    pub powers_of_two: bool,
    /// Predicate of valid declared sizes.
    pub size_allowed: fn(u64) -> bool,
    /// Sizes are bits, and elements have ⌈bits / 8⌉ bytes.
    pub in_bits: bool,
    /// The modulus' first byte is not zero.
    pub top_byte: bool,
    /// Fewest slots; the most are 256.
    pub slots_min: u64,
    /// Most bytes of slots: of the frame, or of modulus size times slots.
    pub slot_bytes_max: Option<u64>,
    /// Measure of slots in the cost of memory.
    pub counted: Counted,
    /// Setting the modulus, loading, storing let memory grow.
    pub grows: [bool; 3],
    /// Values to be stored may be any.
    pub stores_any: bool,
    /// Checks of a transfer of no values.
    pub empty: Empty,
    /// Lanes read results of earlier lanes; stride 0 and count 0 are allowed as evmone allows them.
    pub in_turn: bool,
}

impl Rules {
    /// For how many values a transfer of `count` is charged: where sizes are in bits the count is cut to a byte.
    fn priced(&self, count: usize) -> u64 {
        let count = count as u64; // style: S11: at most 256
        if self.in_bits { count % 256 } else { count }
    }
}

/// Source of a context's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// On top of the stack, 0 to 256.
    Stack,
    /// A byte after the opcode.
    Immediate,
    /// There is none: each new context replaces the one before.
    None,
}

/// Measure of slots in the cost of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Nothing.
    Nothing,
    /// Bytes of all contexts, each with this many more slots, rounded up to words once.
    Bytes(u64),
    /// Words of each context.
    Words,
}

/// Checks of a transfer of no values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// Nothing.
    Nothing,
    /// That there is a context.
    Context,
    /// Also that the first slot is at most the number of slots.
    Slot,
}

/// EIP-6690 as merged in 2023.
pub const EIP6690_2023: Rules = Rules {
    id: Id::Stack,
    transfers_name_context: false,
    marker: None,
    modulus_min: 1,
    powers_of_two: false,
    size_allowed: |bytes| (1..=512).contains(&bytes),
    in_bits: false,
    top_byte: false,
    slots_min: 0,
    slot_bytes_max: None,
    counted: Counted::Words,
    grows: [false, true, false],
    stores_any: false,
    empty: Empty::Nothing,
    in_turn: false,
};

/// The field contexts of a frame and the id of the active one.
pub struct Contexts {
    rules: Rules,
    by_id: BTreeMap<u64, Context>,
    active: Option<u64>,
}

/// A modulus and its slots.
struct Context {
    modulus: BigUint,
    element_bytes: usize,
    /// Position in the price tables; that of zero limbs is for at most 32 bits.
    width: usize,
    slots: Vec<BigUint>,
}

impl Contexts {
    /// None yet.
    pub fn new(rules: Rules) -> Self {
        Self { rules, by_id: BTreeMap::new(), active: None }
    }

    fn set_modulus(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt> {
        let id = match self.rules.id {
            Id::Stack => {
                let [id] = frame.pop()?;
                within(&id, 0, 256).ok_or(Halt::NoContext)
            }
            Id::Immediate => Ok(u64::from(*immediate.first().ok_or(Halt::InvalidInstruction)?)),
            Id::None => Ok(0),
        };
        let [offset, size, slot_count] = frame.pop()?;
        let id = id?;
        if self.rules.id == Id::None || !self.by_id.contains_key(&id) {
            let context = self.new_context(opcode, frame, prices, &offset, &size, &slot_count)?;
            self.by_id.insert(id, context);
        }
        self.active = Some(id);
        Ok(())
    }

    fn new_context(
        &self,
        opcode: &FieldOpcode,
        frame: &mut Frame<'_>,
        prices: &Prices,
        offset: &Word,
        size: &Word,
        slot_count: &Word,
    ) -> Result<Context, Halt> {
        let rules = &self.rules;
        let slot_count = within(slot_count, rules.slots_min, 256).ok_or(Halt::SlotOutOfRange)?;
        let size = size.to_u64().filter(|&size| (rules.size_allowed)(size)).ok_or(Halt::InvalidModulus)?;
        let modulus_bytes = if rules.in_bits { size.div_ceil(8) } else { size };
        let element_bytes = if rules.in_bits { modulus_bytes } else { modulus_bytes.next_multiple_of(8) };
        let limited = match rules.id {
            Id::None => modulus_bytes * slot_count,
            _ => self.by_id.values().map(Context::bytes).sum::<u64>() + element_bytes * slot_count,
        };
        if rules.slot_bytes_max.is_some_and(|limit| limited > limit) {
            return Err(Halt::SlotOutOfRange);
        }
        let memory = range(frame, offset, &modulus_bytes.into(), rules.grows[0])?;
        let bytes = frame.memory.read(memory);
        let modulus = BigUint::from_bytes_be(bytes);
        let allowed = modulus.is_odd() || rules.powers_of_two && is_power_of_two(&modulus);
        if modulus < rules.modulus_min.into() || !allowed || rules.top_byte && bytes[0] == 0 {
            return Err(Halt::InvalidModulus);
        }

        let counted = match rules.counted {
            Counted::Nothing => 0,
            Counted::Bytes(extra) => (slot_count + extra) * element_bytes,
            Counted::Words => (slot_count * element_bytes).next_multiple_of(32),
        };
        match rules.id {
            Id::None => frame.replace_slots(counted)?,
            _ => frame.allocate_slots(counted)?,
        }
        // ⌊(bits + 7) / 64⌋, and otherwise limbs.
        let set_width = if rules.in_bits { (size + 7) / 64 } else { size.div_ceil(8) };
        if modulus.is_odd() || rules.id == Id::None {
            let price = prices.row(&prices.set_modulus, narrow(set_width), opcode, |prices| prices.set_modulus)?;
            frame.charge(prices.times(price, 1))?;
        }
        let width = if rules.in_bits && size <= 32 { 0 } else { narrow(modulus_bytes.div_ceil(8)) };
        let slots = vec![BigUint::ZERO; narrow(slot_count)];
        Ok(Context { modulus, element_bytes: narrow(element_bytes), width, slots })
    }

    /// The context a transfer is with: the active one, or that of the id on top of the stack.
    fn transfer_id(&self, frame: &mut Frame<'_>) -> Result<Option<u64>, Halt> {
        if self.rules.transfers_name_context {
            let [id] = frame.pop()?;
            return Ok(id.to_u64());
        }
        Ok(self.active)
    }

    fn load(&mut self, opcode: &FieldOpcode, frame: &mut Frame<'_>, prices: &Prices) -> Result<(), Halt> {
        let id = self.transfer_id(frame)?;
        let [dest, source, count] = frame.pop()?;
        let rules = self.rules;
        let Some((context, slots)) = self.transfer(id, &source, &count)? else {
            return Ok(());
        };
        let memory = range(frame, &dest, &(&count * context.element_bytes), rules.grows[1])?;
        let price = prices.row(&prices.load, context.width, opcode, |prices| prices.load)?;
        frame.charge(prices.times(price, rules.priced(slots.len())))?;
        let values = slots.map(|slot| context.to_bytes(&context.slots[slot]));
        frame.memory.write(memory.start, &values.collect::<Vec<_>>().concat());
        Ok(())
    }

    fn store(&mut self, opcode: &FieldOpcode, frame: &mut Frame<'_>, prices: &Prices) -> Result<(), Halt> {
        let id = self.transfer_id(frame)?;
        let [dest, source, count] = frame.pop()?;
        let rules = self.rules;
        let Some((context, slots)) = self.transfer(id, &dest, &count)? else {
            return Ok(());
        };
        let memory = range(frame, &source, &(&count * context.element_bytes), rules.grows[2])?;
        let bytes = frame.memory.read(memory);
        let values: Vec<_> = bytes.chunks(context.element_bytes).map(BigUint::from_bytes_be).collect();
        if !rules.stores_any && values.iter().any(|value| *value >= context.modulus) {
            return Err(Halt::ValueOutOfRange);
        }
        let price = prices.row(&prices.store, context.width, opcode, |prices| prices.store)?;
        frame.charge(prices.times(price, rules.priced(slots.len())))?;
        for (slot, value) in slots.zip(values) {
            context.slots[slot] = if context.modulus.is_odd() { value % &context.modulus } else { value };
        }
        Ok(())
    }

    /// The context and the slots of a transfer; none if there is nothing to move.
    fn transfer(
        &mut self,
        id: Option<u64>,
        first: &Word,
        count: &Word,
    ) -> Result<Option<(&mut Context, Range<usize>)>, Halt> {
        if count.is_zero() && self.rules.empty == Empty::Nothing {
            return Ok(None);
        }
        let context = id.and_then(|id| self.by_id.get_mut(&id)).ok_or(Halt::NoContext)?;
        if count.is_zero() && self.rules.empty == Empty::Context {
            return Ok(None);
        }
        let end = (first + count).to_usize().filter(|&end| end <= context.slots.len()).ok_or(Halt::SlotOutOfRange)?;
        let first = first.to_usize().expect("it is at most the end");
        Ok(Some((context, first..end)))
    }

    /// Arithmetic on the operands after the opcode.
    fn arithmetic(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
        (price, narrow_price): (&ByWidth, fn(&Narrow) -> u64),
        operation: fn(&BigUint, &BigUint, &BigUint) -> BigUint,
    ) -> Result<(), Halt> {
        let operands: Vec<u64> = immediate.iter().map(|&byte| u64::from(byte)).collect();
        let (operands, count) = match operands[..] {
            [out, x, y] => ([(out, 1), (x, 1), (y, 1)], 1),
            [_, out, x, y] => ([(out, 1), (x, 1), (y, 1)], 1),
            [out, out_stride, x, x_stride, y, y_stride, count] => {
                ([(out, out_stride), (x, x_stride), (y, y_stride)], count)
            }
            _ => return Err(Halt::InvalidInstruction),
        };
        let in_turn = self.rules.in_turn;
        let context = self.active()?;
        if !in_turn && (count == 0 || operands[0].1 == 0) {
            return Err(Halt::InvalidStride);
        }
        context.check_lanes(&operands, count)?;
        frame.charge(prices.times(prices.row(price, context.width, opcode, narrow_price)?, count))?;
        let [out, x, y] = operands;
        let slot = |operand: (u64, u64), lane: u64| narrow(operand.0 + operand.1 * lane);
        let mut results = Vec::new();
        for lane in 0..count {
            let result = operation(&context.slots[slot(x, lane)], &context.slots[slot(y, lane)], &context.modulus);
            if in_turn {
                context.slots[slot(out, lane)] = result;
            } else {
                results.push(result);
            }
        }
        for (lane, result) in (0..count).zip(results) {
            context.slots[slot(out, lane)] = result;
        }
        Ok(())
    }

    /// `INVMODX`: inverses modulo twice a modulus that is a power of two, bit by bit.
    fn invert(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt> {
        let operands: Vec<u64> = immediate.iter().map(|&byte| u64::from(byte)).collect();
        let [out, out_stride, x, x_stride, count] = operands[..] else {
            return Err(Halt::InvalidInstruction);
        };
        let context = self.active()?;
        context.check_lanes(&[(out, out_stride), (x, x_stride)], count)?;
        if context.modulus.is_odd() {
            return Err(Halt::InvalidModulus);
        }
        frame.charge(prices.times(prices.added("invert", context.width, opcode)?, count))?;
        for lane in 0..count {
            let inverse = bit_by_bit(&context.slots[narrow(x + x_stride * lane)], context.modulus.bits());
            context.slots[narrow(out + out_stride * lane)] = inverse;
        }
        Ok(())
    }

    fn active(&mut self) -> Result<&mut Context, Halt> {
        self.active.and_then(|id| self.by_id.get_mut(&id)).ok_or(Halt::NoContext)
    }
}

impl FieldState for Contexts {
    fn execute(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt> {
        match opcode.mnemonic {
            "SETUPX" | "SETMODX" => self.set_modulus(opcode, immediate, frame, prices),
            "LOADX" => self.load(opcode, frame, prices),
            "STOREX" => self.store(opcode, frame, prices),
            "ADDMODX" => {
                let price = (&prices.add, (|prices| prices.add) as fn(&Narrow) -> u64);
                self.arithmetic(opcode, immediate, frame, prices, price, |x, y, m| (x + y) % m)
            }
            "SUBMODX" => {
                let price = (&prices.sub, (|prices| prices.sub) as fn(&Narrow) -> u64);
                // Slots may hold more than a power of two, hence y mod m.
                self.arithmetic(opcode, immediate, frame, prices, price, |x, y, m| (x + m - y % m) % m)
            }
            "MULMODX" => {
                let price = (&prices.mul, (|prices| prices.mul) as fn(&Narrow) -> u64);
                self.arithmetic(opcode, immediate, frame, prices, price, |x, y, m| x * y % m)
            }
            "INVMODX" => self.invert(opcode, immediate, frame, prices),
            _ => Err(Halt::InvalidInstruction),
        }
    }

    fn accepts(&self, opcode: &FieldOpcode, immediate: &[u8]) -> bool {
        let is_marked = opcode.immediate_bytes == 4;
        !is_marked || self.rules.marker == immediate.first().copied()
    }
}

impl Context {
    fn bytes(&self) -> u64 {
        (self.element_bytes * self.slots.len()) as u64 // style: S11: at most 131072
    }

    /// Every lane's slot exists. For no lanes, as unsigned 64-bit arithmetic has it: index − stride does, wrapped around.
    fn check_lanes(&self, operands: &[(u64, u64)], count: u64) -> Result<(), Halt> {
        for &(index, stride) in operands {
            let last = index.wrapping_add(stride.wrapping_mul(count.wrapping_sub(1)));
            if last >= self.slots.len() as u64 {
                // style: S11: at most 256
                return Err(Halt::SlotOutOfRange);
            }
        }
        Ok(())
    }

    fn to_bytes(&self, value: &BigUint) -> Vec<u8> {
        let digits = value.to_bytes_be();
        let digits = if value.is_zero() { &[][..] } else { &digits[..] };
        let mut bytes = vec![0; self.element_bytes - digits.len()];
        bytes.extend(digits);
        bytes
    }
}

/// The range, which memory holds or grows to hold.
fn range(frame: &mut Frame<'_>, offset: &Word, size: &BigUint, grows: bool) -> Result<Range<usize>, Halt> {
    if grows { frame.grow(offset, size) } else { frame.memory.inside(offset, size).ok_or(Halt::MemoryOutOfRange) }
}

/// b = 1; each bit is b's lowest, then b ↦ ⌊(b − bit·a) / 2⌋. For odd a the bits are those of a⁻¹ mod 2^bits.
fn bit_by_bit(a: &BigUint, bits: u64) -> BigUint {
    let a = num_bigint::BigInt::from(a.clone());
    let mut b = num_bigint::BigInt::one();
    let mut result = BigUint::ZERO;
    for bit in 0..bits {
        if b.is_odd() {
            b -= &a;
            result.set_bit(bit, true);
        }
        b = b.div_floor(&2.into());
    }
    result
}

/// The word if it is in [low, high].
fn within(word: &BigUint, low: u64, high: u64) -> Option<u64> {
    word.to_u64().filter(|value| (low..=high).contains(value))
}

fn is_power_of_two(x: &BigUint) -> bool {
    !x.is_zero() && (x & (x - BigUint::one())).is_zero()
}

fn narrow(number: u64) -> usize {
    usize::try_from(number).expect("sizes and slots here are far below 2³²")
}
