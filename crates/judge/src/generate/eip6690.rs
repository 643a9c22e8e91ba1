//! The revisions with slots: moduli of every width and kind, strided lanes with every overlap, ranges at and beyond the edges.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rand::Rng;
use rand::seq::{IndexedMutRandom, IndexedRandom};
use residue_isa::form::Draw;
use residue_isa::revision::rules::{SLOTS_MAX, SetForm, SizeUnit};
use residue_isa::revision::strided::{self, pack};
use residue_isa::writer::{self, Written};
use residue_isa::{Form, Lanes, PerOp, SlotRules};

use super::Generator;

/// Field contexts that a program has set up.
#[derive(Debug, Default)]
pub(super) struct Slots {
    contexts: BTreeMap<u16, Context>,
    active: Option<u16>,
}

#[derive(Debug, Clone)]
struct Context {
    m: BigUint,
    element_bytes: usize,
    slots: usize,
}

impl Generator {
    fn rules(&self) -> &'static SlotRules {
        self.revision.slot_rules().expect("this is a revision with slots")
    }

    /// A snippet with EIP-6690 instructions.
    pub(super) fn eip6690(&mut self) {
        if self.active().is_none() && !self.rarely(40) || self.rarely(20) {
            self.set_modulus();
        }
        match self.random.random_range(0..12) {
            0..=3 => self.store_slots(),
            4 => self.load_slots(),
            5 if self.rarely(4) => self.switch(),
            _ => self.lanes(),
        }
    }

    /// Loads all slots of the active context after everything in memory.
    pub(super) fn dump_slots(&mut self) {
        let Some(Context { element_bytes, slots, .. }) = self.active().filter(|context| context.slots > 0) else {
            return;
        };
        let start = self.memory_bytes;
        let end = start + (element_bytes * slots) as u64; // usize to u64 widens.
        self.push(0u8);
        self.push(end - 1);
        self.op(residue_isa::opcode::evm::MSTORE8);
        self.reach(end);
        let id = self.slots.active.unwrap_or(0).into();
        self.written(writer::load(self.rules(), id, [start, 0, slots as u64])); // usize to u64 widens.
    }

    fn active(&self) -> Option<Context> {
        self.slots.active.and_then(|id| self.slots.contexts.get(&id)).cloned()
    }

    fn set_modulus(&mut self) {
        if let Some(opcode) = self.rules().opcode(Form::SetModulusInCode).filter(|_| self.rarely(3)) {
            return self.set_modulus_in_code(opcode);
        }
        let moduli = self.rules().moduli;
        let in_bits = moduli.unit == SizeUnit::Bits;
        let unit = if in_bits { 1 } else { 8 };
        let declared = match (moduli.sizes, self.random.random_range(0..10)) {
            (Some(sizes), 1..) => *sizes.choose(&mut self.random).expect("it is not empty"),
            (_, 0) => self.random.random_range(1..=moduli.size_max),
            (_, 1..=4) => *[32, 48].choose(&mut self.random).expect("it is not empty") * if in_bits { 8 } else { 1 },
            (_, 5) if in_bits => self.random.random_range(1..70),
            // One limb, and those whose rows are wider than a line.
            (_, 5 | 6) => {
                *[4, 8, 8, 56, 64, 96].choose(&mut self.random).expect("it is not empty") * if in_bits { 8 } else { 1 }
            }
            _ => {
                unit * self
                    .random
                    .random_range(1..=moduli.size_max / unit)
                    .min(12 * 8 / unit * if in_bits { 4 } else { 1 })
            }
        };
        let size = if in_bits { declared.div_ceil(8) } else { declared };
        let m = self.modulus(size);
        let mut bytes = m.to_bytes_be();
        bytes.splice(..0, std::iter::repeat_n(0, size.saturating_sub(bytes.len())));
        let offset = self.offset();
        self.write(offset, &bytes[..size]);
        let slots = match self.random.random_range(0..12) {
            0 if self.rarely(3) => self.random.random_range(0..300),
            1 if self.rarely(3) => SLOTS_MAX,
            2 => self.random.random_range(1..60),
            _ => self.random.random_range(1..14),
        };
        let id = match self.random.random_range(0..20) {
            0 if self.rarely(2) => self.random.random_range(254..258),
            1 => self.random.random_range(0..300),
            _ => self.random.random_range(0..3),
        };
        self.set_modulus_faulty(id, offset, declared, slots);
        let id = match self.rules().form {
            SetForm::One => {
                self.slots.contexts.clear();
                0
            }
            SetForm::IdImmediate => id % 256,
            SetForm::IdOnStack => id,
        };
        let possible = slots > 0 && slots <= SLOTS_MAX && id <= 256;
        if possible {
            let element_bytes = self.rules().element_bytes(size);
            self.slots.contexts.entry(id).or_insert(Context { m, element_bytes, slots });
            self.slots.active = Some(id);
        }
    }

    /// SETMODX, now and then with one operand out of its range.
    fn set_modulus_faulty(&mut self, id: u16, offset: u64, size: usize, slots: usize) {
        let mut operands: [BigUint; 4] = [id.into(), offset.into(), size.into(), slots.into()];
        if self.rarely(25) {
            let at = self.random.random_range(0..4);
            operands[at] = match self.random.random_range(0..5) {
                0 => self.integer(32),
                1 => self.memory_bytes.into(),
                2 => (self.memory_bytes + 1).saturating_sub(size as u64).into(), // usize to u64 widens.
                3 => self.random.random_range(0..100u8).into(),
                _ => self.random.random_range(255..259u16).into(),
            };
        }
        self.operands_of_set_modulus(id, operands);
    }

    /// SETMODCX of a modulus that a push carries, or of any bytes of the code.
    fn set_modulus_in_code(&mut self, opcode: u8) {
        let size = *[1, 4, 8, 16, 31, 32].choose(&mut self.random).expect("it is not empty");
        let m = self.modulus(size);
        let at = self.carried(&m, size);
        let offset = if self.rarely(8) { self.code_offset() } else { at.into() };
        let slots = self.random.random_range(1..14usize);
        let id = self.random.random_range(0..3u16);
        for operand in [BigUint::from(slots), size.into(), offset, id.into()] {
            self.push(operand);
        }
        self.op(opcode);
        let element_bytes = self.rules().element_bytes(size);
        self.slots.contexts.entry(id).or_insert(Context { m, element_bytes, slots });
        self.slots.active = Some(id);
    }

    /// STORECX of a value that a push carries, if it is short, or of any bytes of the code.
    fn store_from_code(&mut self, opcode: u8) {
        let (m, element_bytes, slots) = match self.active() {
            Some(Context { m, element_bytes, slots }) => (m, element_bytes, slots),
            None => (3u8.into(), 8, 8),
        };
        let value = if self.rarely(40) { m.clone() } else { self.operand(&m, element_bytes) };
        let (offset, count) = match element_bytes <= 32 && !self.rarely(8) {
            true => (self.carried(&value, element_bytes).into(), 1),
            false => (self.code_offset(), self.random.random_range(0..=slots.min(2))),
        };
        let first = self.random.random_range(0..=slots - count);
        for operand in [BigUint::from(count), offset, first.into()] {
            self.push(operand);
        }
        self.op(opcode);
    }

    /// Pushes a number of so many bytes, 32 at most, and takes it away: where it stands in the code.
    fn carried(&mut self, number: &BigUint, size: usize) -> usize {
        let digits = number.to_bytes_be();
        let mut bytes = vec![0; size.saturating_sub(digits.len())];
        bytes.extend(digits);
        let at = self.code.len() + 1;
        self.push_bytes(&bytes[bytes.len() - size..]);
        self.op(residue_isa::opcode::evm::POP);
        at
    }

    /// An offset in the code as far as it is written, or beyond.
    fn code_offset(&mut self) -> BigUint {
        match self.random.random_range(0..12) {
            0 => self.integer(32),
            1 => self.code.len().into(),
            _ => self.random.random_range(0..=self.code.len()).into(),
        }
    }

    /// The opcode that sets the modulus with id, offset, size and slot count as the revision takes them.
    fn operands_of_set_modulus(&mut self, id: u16, operands: [BigUint; 4]) {
        let [word, offset, size, slots] = operands;
        self.written(writer::set_modulus(self.rules(), (word, id.to_le_bytes()[0]), [offset, size, slots]));
    }

    /// An opcode with its operands.
    fn written<T: Into<BigUint>>(&mut self, Written { opcode, words, immediate }: Written<T>) {
        for word in words.into_iter().rev() {
            self.push(word);
        }
        self.op(opcode);
        self.code.extend(immediate);
    }

    /// A modulus of up to `size` bytes: odd, a power of two, or rarely neither.
    fn modulus(&mut self, size: usize) -> BigUint {
        let one = || BigUint::from(1u8);
        let bits = 8 * size;
        let m = match self.random.random_range(0..20) {
            0 => BigUint::from(self.random.random_range(0..5u8) * 2 + 3),
            1 if self.rarely(3) => BigUint::from(self.random.random_range(0..9u8)),
            19 if self.rarely(4) => self.integer(size),
            2..=4 if self.rules().moduli.powers_of_two || self.rarely(9) => one() << self.random.random_range(1..bits),
            5 => (one() << bits) - 1u8,
            6 => (one() << bits) - 3u8,
            7 => (one() << self.random.random_range(2..bits)) - 1u8,
            8 => (one() << self.random.random_range(2..bits)) + 1u8,
            9 => self.integer(size) | one(),
            // Goldilocks, BabyBear, KoalaBear, and those of Falcon and of ML-DSA.
            13 | 14 if (4..=8).contains(&size) => {
                let primes = [0xffff_ffff_0000_0001, 0x7800_0001, 0x7f00_0001, 12_289, 8_380_417u64];
                (*primes.choose(&mut self.random).expect("it is not empty")).into()
            }
            10..=12 => self.exact(bits) >> 1 | one(),
            _ => self.exact(bits) | one(),
        };
        m % (one() << bits)
    }

    /// A random integer with its top bit set.
    fn exact(&mut self, bits: usize) -> BigUint {
        let mut bytes = vec![0; bits / 8];
        self.random.fill(&mut bytes[..]);
        bytes[0] |= 0x80;
        BigUint::from_bytes_be(&bytes)
    }

    /// Activates a known id, with operands that nothing looks at.
    fn switch(&mut self) {
        let known: Vec<u16> = self.slots.contexts.keys().copied().collect();
        let Some(&id) = known.choose(&mut self.random) else {
            return;
        };
        if self.rules().form == SetForm::One {
            return;
        }
        let ignored = [self.integer(32), self.integer(32), self.integer(32)];
        let [offset, size, slots] = ignored;
        self.operands_of_set_modulus(id, [id.into(), offset, size, slots]);
        self.slots.active = Some(id);
    }

    /// Writes values and stores them, rarely one that is not below the modulus.
    fn store_slots(&mut self) {
        if let Some(opcode) = self.rules().opcode(Form::StoreFromCode).filter(|_| self.rarely(3)) {
            return self.store_from_code(opcode);
        }
        let Some(Context { m, element_bytes, slots }) = self.active() else {
            return self.transfer(self.rules().store, 0, 0, 1);
        };
        let count = self.random.random_range(1..=slots.min(5));
        let mut bytes = Vec::new();
        for _ in 0..count {
            let value =
                if self.rarely(80) { &m + self.random.random_range(0..2u8) } else { self.operand(&m, element_bytes) };
            let value = if self.rules().store_reduces && self.rarely(3) { self.integer(element_bytes) } else { value };
            let digits = value.to_bytes_be();
            let mut element = vec![0; element_bytes.saturating_sub(digits.len())];
            element.extend(digits);
            let element = if element.len() < element_bytes { vec![0; element_bytes] } else { element };
            bytes.extend_from_slice(&element[element.len() - element_bytes..]);
        }
        let offset = self.offset();
        self.write(offset, &bytes);
        let first = self.random.random_range(0..=slots - count);
        self.transfer(self.rules().store, first, offset, count);
    }

    fn load_slots(&mut self) {
        let Some(Context { element_bytes, slots, .. }) = self.active() else {
            return self.transfer(self.rules().load, 0, 0, 1);
        };
        let room = usize::try_from(self.memory_bytes).unwrap_or(usize::MAX) / element_bytes;
        let count = self.random.random_range(1..=slots).min(room.max(1));
        let first = self.random.random_range(0..=slots - count);
        let highest = self.memory_bytes.saturating_sub((count * element_bytes) as u64); // usize to u64 widens.
        let offset = if self.rarely(3) { highest } else { self.random.random_range(0..=highest) };
        self.transfer(self.rules().load, first, offset, count);
    }

    /// LOADX or STOREX, now and then with one operand out of its range, or none to move; or the same for wider values, of which rarely one
    /// is too short.
    fn transfer(&mut self, opcode: u8, first: usize, offset: u64, count: usize) {
        let is_load = opcode == self.rules().load;
        let padded = self.rules().opcode(if is_load { Form::LoadPadded } else { Form::StorePadded });
        let padded = padded.filter(|_| self.rarely(2));
        let mut operands: [BigUint; 3] = match is_load {
            true => [offset.into(), first.into(), count.into()],
            false => [first.into(), offset.into(), count.into()],
        };
        match self.random.random_range(0..50) {
            0 => {
                let at = self.random.random_range(0..3);
                operands[at] = self.integer(32);
            }
            1 => operands[self.random.random_range(0..3)] += 1u8,
            2 => operands[self.random.random_range(0..3)] = self.memory_bytes.into(),
            3 => {
                operands = [self.integer(32), self.integer(32), BigUint::ZERO];
            }
            _ => {}
        }
        let other = self.random.random_range(0..4);
        let id = self.slots.active.filter(|_| !self.rarely(15)).unwrap_or(other).into();
        let written = match is_load {
            true => writer::load(self.rules(), id, operands),
            false => writer::store(self.rules(), id, operands),
        };
        let Some(padded) = padded else { return self.written(written) };
        self.written(Written { opcode: padded, ..written });
        let element_bytes = self.active().map_or(8, |context| context.element_bytes);
        let value_bytes = match self.random.random_range(0..12) {
            0 => self.random.random(),
            1 => 96,
            2 => u8::try_from(element_bytes - 1).unwrap_or(u8::MAX),
            3..=6 => u8::try_from(element_bytes).unwrap_or(u8::MAX),
            _ => u8::try_from(element_bytes + self.random.random_range(1..40)).unwrap_or(u8::MAX),
        };
        self.code.push(value_bytes);
    }

    /// GETX or PUTX, now and then with an operand out of its range.
    fn element(&mut self, opcode: u8, slots: usize) {
        let count = self.random.random_range(1..=slots.min(9));
        let first = self.random.random_range(0..=slots - count);
        let index: BigUint = match self.random.random_range(0..60) {
            0 => self.integer(32),
            1 => (65_536 - count).into(),
            2 => (65_537 - count).into(),
            3..=5 => self.random.random_range(0..3000u32).into(),
            _ => self.random.random_range(0..24u8).into(),
        };
        self.push(index);
        let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        let mut immediate = [byte(first), byte(count)];
        match self.random.random_range(0..120) {
            0 => immediate[1] = 0,
            1 => immediate = self.random.random(),
            2 => immediate[0] = immediate[0].wrapping_add(1),
            _ => {}
        }
        self.op(opcode);
        self.code.extend(immediate);
    }

    /// An instruction beside arithmetic, most often of slots that exist, at times with an operand twice. Its answer is kept in memory, most often.
    fn formed(&mut self, form: Form, opcode: u8, slots: usize) {
        let row = form.row();
        let mut immediate = form.draw(&mut Operands { generator: self, slots });
        let half = immediate.len() / 2;
        match self.random.random_range(0..120) {
            0 => immediate[self.random.random_range(0..half.max(1))] = 0,
            1 => *immediate.last_mut().expect("it has operands") = 0,
            2 => *immediate.choose_mut(&mut self.random).expect("it has operands") = self.random.random(),
            3 => {
                let byte = immediate.choose_mut(&mut self.random).expect("it has operands");
                *byte = byte.wrapping_add(1);
            }
            4..24 => {
                // The last operand is the one before it, as in squares.
                let bytes =
                    row.operands.iter().filter(|operand| operand.shape().is_some()).map(|operand| operand.bytes());
                let bytes: Vec<usize> = bytes.collect();
                if let [.., x, y] = bytes[..]
                    && x == y
                {
                    let end: usize = bytes.iter().sum();
                    immediate.copy_within(end - x - y..end - y, end - y);
                }
            }
            _ => {}
        }
        if row.pushes > 0 && immediate.len() > 1 {
            self.edge_difference([immediate[0], immediate[1]]);
        }
        for _ in row.words {
            let word = self.random.random_range(0..2u8);
            self.push(word);
        }
        self.op(opcode);
        self.code.extend(immediate);
        for _ in 0..row.pushes {
            if !self.rarely(20) {
                let offset = self.random.random_range(0..256u64);
                self.push(offset);
                self.op(residue_isa::opcode::evm::MSTORE);
            }
        }
    }

    fn lanes(&mut self) {
        let slots = self.active().map_or(8, |context| context.slots);
        let forms = self.rules().all_forms().filter(|form| form.is_instruction()).collect::<Vec<_>>();
        if let Some(&form) = forms.choose(&mut self.random)
            && let Some(opcode) = self.rules().opcode(form)
            && self.rarely(2)
        {
            return self.formed(form, opcode, slots);
        }
        if let (Some(get), Some(put)) = (self.rules().opcode(Form::Get), self.rules().opcode(Form::Put))
            && self.rarely(3)
        {
            let opcode = if self.rarely(2) { get } else { put };
            return self.element(opcode, slots);
        }
        let is_strided = self.rules().is_strided;
        let count = match self.random.random_range(0..10) {
            _ if !is_strided => 1,
            0..=3 => 1,
            4..=7 => self.random.random_range(1..=slots.min(9)),
            _ => self.random.random_range(1..=slots.min(255)),
        };
        let out = self.place(slots, count, 1);
        let x = if self.rarely(5) { out } else { self.place(slots, count, 0) };
        let squares = if self.rules().prices_squares { 2 } else { 5 };
        let y = if self.rarely(squares) { x } else { self.place(slots, count, 0) };
        let count = u8::try_from(count).expect("at most 255");
        let mut immediate = pack(strided::Operands { out, x, y, count });
        match self.random.random_range(0..120) {
            0 => immediate[1] = 0,
            1 => immediate[6] = 0,
            2 => immediate[self.random.random_range(0..7)] = self.random.random(),
            3 => {
                let at = self.random.random_range(0..7);
                immediate[at] = immediate[at].wrapping_add(1);
            }
            _ => {}
        }
        let opcode = *self.revision.interface().arithmetic.0.choose(&mut self.random).expect("it is not empty");
        self.op(opcode);
        if is_strided {
            self.code.extend_from_slice(&immediate);
            return;
        }
        if let Some(marker) = self.rules().marker {
            let other = self.random.random();
            let byte = if self.rarely(100) { other } else { marker };
            self.code.push(byte);
        }
        self.code.extend([immediate[0], immediate[2], immediate[4]]);
    }

    /// Now and then brings two slots next to an edge: equal, or apart by what a third one holds, which is 1 often enough, from 0 on or not.
    fn edge_difference(&mut self, [x, y]: [u8; 2]) {
        let PerOp([add, sub, _]) = self.revision.interface().arithmetic;
        let one = self.random.random_range(0..4u8);
        let steps: &[(u8, [u8; 3])] = match self.random.random_range(0..8) {
            0 => &[(sub, [x, x, x]), (add, [x, x, y])],
            1 => &[(sub, [x, y, one])],
            2 => &[(add, [x, y, one])],
            3 => &[(sub, [y, y, y]), (sub, [x, y, one])],
            _ => &[],
        };
        for &(opcode, [out, x, y]) in steps {
            self.op(opcode);
            let [out, x, y] = [out, x, y].map(Lanes::one);
            self.code.extend(pack(strided::Operands { out, x, y, count: 1 }));
        }
    }

    /// An index and a stride that keep `count` lanes inside `slots`.
    fn place(&mut self, slots: usize, count: usize, stride_min: usize) -> Lanes {
        let gaps = count - 1;
        let stride_max = (slots - 1).checked_div(gaps).unwrap_or(255).min(255);
        let stride = match self.random.random_range(0..6) {
            0 => stride_min,
            1 => stride_max,
            2 => self.random.random_range(stride_min..=stride_max.max(stride_min)),
            _ => 1,
        };
        let stride = stride.clamp(stride_min, stride_max.max(stride_min));
        let room = (slots - 1).saturating_sub(stride * gaps);
        let index = match self.random.random_range(0..4) {
            0 => 0,
            1 => room,
            _ => self.random.random_range(0..=room),
        };
        let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        Lanes { index: byte(index), stride: byte(stride) }
    }
}

/// Operands among the slots of a field context.
struct Operands<'a> {
    generator: &'a mut Generator,
    slots: usize,
}

impl Draw for Operands<'_> {
    fn count(&mut self) -> u8 {
        let most = self.slots.min(255);
        let count = match self.generator.random.random_range(0..30) {
            0 => self.generator.random.random_range(1..=most),
            1..16 => 1,
            _ => self.generator.random.random_range(1..=most.min(9)),
        };
        u8::try_from(count).unwrap_or(u8::MAX)
    }

    fn lanes(&mut self, is_written: bool, count: u8) -> Lanes {
        self.generator.place(self.slots, count.into(), usize::from(is_written))
    }

    fn slot(&mut self) -> u8 {
        let among = if self.generator.rarely(4) { self.slots.min(3) } else { self.slots };
        match self.generator.random.random_range(0..300) {
            0 => self.generator.random.random(),
            _ => u8::try_from(self.generator.random.random_range(0..among)).unwrap_or(u8::MAX),
        }
    }

    fn second(&mut self, first: Lanes, count: u8) -> u8 {
        let last = first.last(count) as usize; // u32 to usize widens
        match self.generator.random.random_range(0..60) {
            0 => self.generator.random.random(),
            1..=20 => u8::try_from(usize::from(first.index) + (self.slots - 1).saturating_sub(last)).unwrap_or(0),
            _ if last + 1 < self.slots => first.index + 1,
            _ => first.index.saturating_sub(1),
        }
    }

    fn byte(&mut self) -> u8 {
        match self.generator.random.random_range(0..4) {
            0 => 1,
            1 => 9,
            2 => 255,
            _ => self.generator.random.random(),
        }
    }
}
