//! `eip6690-2024`: field contexts with slots of their own, strided arithmetic with seven immediate bytes.
//!
//! Source: EIP-6690 as of commit 968159a9b of ethereum/EIPs, "Specification"; section names below are the EIP's. If it
//! contradicts its author's own programs or is silent, the crate's table of choices holds. The EIP's virtual registers
//! are slots here.

use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::{ByWidth, Prices};
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "eip6690-2024",
    summary: "Field contexts of up to 256 slots, moduli of up to 768 bits, strided arithmetic on many lanes.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![eip6690(), geth()],
    start: || Box::new(Contexts::default()),
};

const SETMODX: u8 = 0xc0;
const LOADX: u8 = 0xc1;
const STOREX: u8 = 0xc2;
const ADDMODX: u8 = 0xc3;
const SUBMODX: u8 = 0xc4;
const MULMODX: u8 = 0xc5;

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: SETMODX, mnemonic: "SETMODX", immediate_bytes: 0, pops: 4 },
    FieldOpcode { byte: LOADX, mnemonic: "LOADX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: STOREX, mnemonic: "STOREX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: ADDMODX, mnemonic: "ADDMODX", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: SUBMODX, mnemonic: "SUBMODX", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: MULMODX, mnemonic: "MULMODX", immediate_bytes: 7, pops: 0 },
];

/// Highest id of a field context ("SETMODX": assert 0 <= id <= 256).
const ID_MAX: u64 = 256;

/// Most slots of one context.
const SLOTS_MAX: u64 = 256;

/// Most bytes of a modulus.
const MODULUS_BYTES_MAX: u64 = 96;

/// Most bytes of all slots of a frame ("Total Virtual Register Allocation Cap").
const SLOT_BYTES_MAX: u64 = 24576;

/// The EIP's prices: "Constants", "Dynamic Cost Component for Odd Moduli", "Arithmetic Opcodes", "Data Transfer Opcodes".
pub fn eip6690() -> Prices {
    let base = [("SETMODX", 1), ("LOADX", 1), ("STOREX", 1), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0)];
    let add_or_sub = ByWidth(vec![1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
    let mul = ByWidth(vec![1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 10, 12]);
    Prices {
        set_modulus: ByWidth(vec![23, 26, 29, 32, 36, 39, 42, 45, 48, 51, 54, 58]),
        add: add_or_sub.clone(),
        sub: add_or_sub,
        load: mul.clone(),
        store: mul.clone(),
        mul,
        copy_per_word: 3,
        ..Prices::of_base("eip6690", &base)
    }
}

/// go-ethereum f54bb270d: SETMODX without a base, LOADX and STOREX with 2, the table of new odd moduli read one limb too high;
/// at 12 limbs, where it panics, its last price.
fn geth() -> Prices {
    let base = [("SETMODX", 0), ("LOADX", 2), ("STOREX", 2), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0)];
    let ByWidth(table) = eip6690().set_modulus;
    let shifted = table.iter().skip(1).chain(table.last()).copied().collect();
    Prices {
        name: "geth".to_owned(),
        base: Prices::of_base("geth", &base).base,
        set_modulus: ByWidth(shifted),
        ..eip6690()
    }
}

/// The field contexts of a frame and the id of the active one.
pub(super) struct Contexts {
    by_id: BTreeMap<u64, Context>,
    active: Option<u64>,
    modulus_bytes_max: u64,
    /// True if values in memory have as many bytes as the modulus, not whole limbs: `x-vectorx`.
    is_packed: bool,
}

/// Source of a modulus or of stored values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// In memory.
    Memory,
    /// In the code that runs.
    Code,
}

impl Source {
    /// `size` bytes from an offset, all of which must exist.
    fn read(self, frame: &Frame<'_>, offset: &BigUint, size: &BigUint) -> Result<Vec<u8>, Halt> {
        match self {
            Source::Memory => {
                let range = frame.memory.inside(offset, size).ok_or(Halt::MemoryOutOfRange)?;
                Ok(frame.memory.read(range).to_vec())
            }
            Source::Code => {
                let end = (offset + size).to_usize().filter(|&end| end <= frame.code.len());
                let end = end.ok_or(Halt::MemoryOutOfRange)?;
                Ok(frame.code[offset.to_usize().expect("it is at most the end")..end].to_vec())
            }
        }
    }
}

impl Default for Contexts {
    fn default() -> Self {
        Self::of_moduli(MODULUS_BYTES_MAX)
    }
}

/// A modulus and its slots.
pub(super) struct Context {
    pub(super) modulus: BigUint,
    /// Bytes of a value in memory: the declared size of the modulus, rounded up to 64 bits unless values are packed.
    element_bytes: usize,
    /// The declared size of the modulus, rounded up to 64 bits.
    slot_size: usize,
    /// Values in [0, modulus).
    pub(super) slots: Vec<BigUint>,
}

impl FieldState for Contexts {
    fn execute(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt> {
        match opcode.byte {
            SETMODX => self.setmodx(opcode, frame, prices, Source::Memory),
            LOADX => self.loadx(opcode, frame, prices),
            STOREX => self.storex(opcode, frame, prices, Source::Memory),
            ADDMODX => self.lanes(opcode, immediate, frame, (prices, &prices.add), |x, y, m| (x + y) % m),
            SUBMODX => self.lanes(opcode, immediate, frame, (prices, &prices.sub), |x, y, m| (x + m - y) % m),
            MULMODX => {
                let price = prices.square.as_ref().filter(|_| squares(immediate)).unwrap_or(&prices.mul);
                self.lanes(opcode, immediate, frame, (prices, price), |x, y, m| x * y % m)
            }
            _ => Err(Halt::InvalidInstruction),
        }
    }
}

/// True if both factors of an immediate name the same slots.
fn squares(immediate: &[u8]) -> bool {
    matches!(immediate, [_, _, x_idx, x_stride, y_idx, y_stride, _] if (x_idx, x_stride) == (y_idx, y_stride))
}

impl Contexts {
    /// No contexts yet; moduli have at most `modulus_bytes_max` bytes.
    pub(super) fn of_moduli(modulus_bytes_max: u64) -> Self {
        Self { by_id: BTreeMap::new(), active: None, modulus_bytes_max, is_packed: false }
    }

    /// None yet; their values in memory will have as many bytes as their moduli.
    pub(super) fn packed() -> Self {
        Self { is_packed: true, ..Self::default() }
    }

    /// `SETMODX`: activates the context of an id, making it if there is none.
    pub(super) fn setmodx(
        &mut self,
        opcode: &FieldOpcode,
        frame: &mut Frame<'_>,
        prices: &Prices,
        source: Source,
    ) -> Result<(), Halt> {
        let [id, modulus_offset, modulus_size, alloc_count] = frame.pop()?;
        let id = within(&id, 0, ID_MAX).ok_or(Halt::NoContext)?;
        let taken = self.by_id.values().map(Context::slot_bytes).sum();
        if let Entry::Vacant(vacant) = self.by_id.entry(id) {
            let operands = (&modulus_offset, &modulus_size, &alloc_count);
            let rules = (source, self.modulus_bytes_max, self.is_packed);
            vacant.insert(Context::new(opcode, frame, prices, operands, rules, taken)?);
        }
        self.active = Some(id);
        Ok(())
    }

    /// `LOADX`: copies slots into memory.
    fn loadx(&mut self, opcode: &FieldOpcode, frame: &mut Frame<'_>, prices: &Prices) -> Result<(), Halt> {
        let [dest, source, count] = frame.pop()?;
        let context = self.active()?;
        if count.is_zero() {
            return Ok(());
        }
        let slots = context.slot_range(&source, &count)?;
        let size = &count * context.element_bytes;
        let memory = frame.memory.inside(&dest, &size).ok_or(Halt::MemoryOutOfRange)?;
        frame.charge(transfer_gas(context, opcode, prices, &prices.load, (slots.len(), context.element_bytes))?)?;

        let values = slots.map(|slot| context.to_bytes(&context.slots[slot]));
        frame.memory.write(memory.start, &values.collect::<Vec<_>>().concat());
        Ok(())
    }

    /// `STOREX`: copies values from memory into slots. No slot changes unless all values are below the modulus.
    pub(super) fn storex(
        &mut self,
        opcode: &FieldOpcode,
        frame: &mut Frame<'_>,
        prices: &Prices,
        from: Source,
    ) -> Result<(), Halt> {
        let [dest, source, count] = frame.pop()?;
        let context = self.active()?;
        if count.is_zero() {
            return Ok(());
        }
        let slots = context.slot_range(&dest, &count)?;
        let size = &count * context.element_bytes;
        let bytes = from.read(frame, &source, &size)?;
        let values: Vec<_> = bytes.chunks(context.element_bytes).map(BigUint::from_bytes_be).collect();
        if values.iter().any(|value| *value >= context.modulus) {
            return Err(Halt::ValueOutOfRange);
        }
        frame.charge(transfer_gas(context, opcode, prices, &prices.store, (slots.len(), context.element_bytes))?)?;

        for (slot, value) in slots.zip(values) {
            context.slots[slot] = value;
        }
        Ok(())
    }

    /// `ADDMODX`, `SUBMODX`, `MULMODX`: `operation` on each lane. All lanes are read before any is written.
    fn lanes(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        (prices, price): (&Prices, &ByWidth),
        operation: impl Fn(&BigUint, &BigUint, &BigUint) -> BigUint,
    ) -> Result<(), Halt> {
        let operands: Vec<usize> = immediate.iter().map(|&byte| usize::from(byte)).collect();
        let [out_idx, out_stride, x_idx, x_stride, y_idx, y_stride, count] = operands[..] else {
            return Err(Halt::InvalidInstruction);
        };
        let context = self.active()?;
        if out_stride == 0 || count == 0 {
            return Err(Halt::InvalidStride);
        }
        for (idx, stride) in [(out_idx, out_stride), (x_idx, x_stride), (y_idx, y_stride)] {
            if idx + stride * (count - 1) >= context.slots.len() {
                return Err(Halt::SlotOutOfRange);
            }
        }
        let width = context.width_limbs();
        let start = prices.start.as_ref().map_or(Ok(0), |start| start.at(width, opcode))?;
        let lanes = price.at(width, opcode)?.saturating_mul(count as u64); // style: S11: below 256
        frame.charge(prices.times(start.saturating_add(lanes), 1))?;

        let slots = &context.slots;
        let lane = |i| operation(&slots[x_idx + x_stride * i], &slots[y_idx + y_stride * i], &context.modulus);
        let results: Vec<BigUint> = (0..count).map(lane).collect();
        for (i, result) in results.into_iter().enumerate() {
            context.slots[out_idx + out_stride * i] = result;
        }
        Ok(())
    }

    /// The id of the active context.
    pub(super) fn active_id(&self) -> Option<u64> {
        self.active
    }

    pub(super) fn active(&mut self) -> Result<&mut Context, Halt> {
        self.active.and_then(|id| self.by_id.get_mut(&id)).ok_or(Halt::NoContext)
    }
}

impl Context {
    /// A context with the modulus at `modulus_offset` of its source and `alloc_count` slots of zero. The limits are on
    /// the bytes of the modulus, and on the slots with those of other contexts.
    fn new(
        opcode: &FieldOpcode,
        frame: &mut Frame<'_>,
        prices: &Prices,
        (modulus_offset, modulus_size, alloc_count): (&BigUint, &BigUint, &BigUint),
        (source, modulus_bytes_max, is_packed): (Source, u64, bool),
        taken_bytes: u64,
    ) -> Result<Self, Halt> {
        let alloc_count = within(alloc_count, 1, SLOTS_MAX).ok_or(Halt::SlotOutOfRange)?;
        let modulus_size = within(modulus_size, 1, modulus_bytes_max).ok_or(Halt::InvalidModulus)?;
        let slot_size = 8 * modulus_size.div_ceil(8);
        let element_bytes = if is_packed { modulus_size } else { slot_size };
        let added_bytes = alloc_count * slot_size;
        if taken_bytes + added_bytes > SLOT_BYTES_MAX {
            return Err(Halt::SlotOutOfRange);
        }
        let modulus = BigUint::from_bytes_be(&source.read(frame, modulus_offset, &modulus_size.into())?);
        let odd = modulus.is_odd();
        if modulus < BigUint::from(3u8) || !(odd || is_power_of_two(&modulus)) {
            return Err(Halt::InvalidModulus);
        }
        let [element_bytes, slot_size] =
            [element_bytes, slot_size].map(|bytes| usize::try_from(bytes).expect("at most 512"));
        let slot_count = usize::try_from(alloc_count).expect("at most 256");
        let context = Self { modulus, element_bytes, slot_size, slots: vec![BigUint::ZERO; slot_count] };

        frame.allocate_slots(added_bytes)?;
        if odd {
            frame.charge(prices.times(prices.set_modulus.at(context.width_limbs(), opcode)?, 1))?;
        }
        Ok(context)
    }

    /// Bytes of its slots.
    fn slot_bytes(&self) -> u64 {
        (self.slot_size * self.slots.len()) as u64 // style: S11: at most 24,576
    }

    pub(super) fn width_limbs(&self) -> usize {
        self.slot_size / 8
    }

    /// Slots `[first, first + count)`, all of which the context must have.
    pub(super) fn slot_range(&self, first: &BigUint, count: &BigUint) -> Result<Range<usize>, Halt> {
        let end = (first + count).to_usize().filter(|&end| end <= self.slots.len()).ok_or(Halt::SlotOutOfRange)?;
        let first = first.to_usize().expect("it is at most the end");
        Ok(first..end)
    }

    /// The value as it stands in memory: big-endian, `element_bytes` long.
    fn to_bytes(&self, value: &BigUint) -> Vec<u8> {
        let digits = value.to_bytes_be();
        let mut bytes = vec![0; self.element_bytes - digits.len()];
        bytes.extend(digits);
        bytes
    }
}

/// Dynamic gas of `LOADX` and `STOREX` of `count` values: a conversion for each value, or a plain copy under a power of
/// two.
pub(super) fn transfer_gas(
    context: &Context,
    opcode: &FieldOpcode,
    prices: &Prices,
    price: &ByWidth,
    (count, value_bytes): (usize, usize),
) -> Result<u64, Halt> {
    if context.modulus.is_odd() {
        let gas = price.at(context.width_limbs(), opcode)?;
        return Ok(prices.times(gas, count as u64)); // style: S11: at most 256
    }
    let words = (count * value_bytes).div_ceil(32);
    Ok(prices.copy_per_word.saturating_mul(words as u64)) // style: S11: at most 2,040
}

/// The word if it is in [low, high].
fn within(word: &BigUint, low: u64, high: u64) -> Option<u64> {
    word.to_u64().filter(|value| (low..=high).contains(value))
}

fn is_power_of_two(x: &BigUint) -> bool {
    !x.is_zero() && (x & (x - BigUint::one())).is_zero()
}
