//! Slots: code of `eip6690-2024` or `evmmax-next` with one context, of the program's modulus, whose slots hold sums below p.
//!
//! Values in memory are words, which move to slots and back; calldata and code are copied by whole words too, and each word of calldata is one
//! that is parsed. A parsed number may go to a slot as it is: the store halts if it is not below p, as the program does. Values in code have
//! the width of the context. `coq/CheckSlots.v` is the same checker, and `coq/SoundSlots.v` proves it.

use super::{
    COPY_BYTES, Condition, Hints, Machine, Slots, Step, Symbol, WORD_BYTES, greatest, is_below, memory_gas, refuse,
};
use crate::semantics::Semantics;
use crate::straight::Straight;
use crate::sum::{Atom, Number, Sum, is_wide};
use foldhash::HashMap;
use residue_isa::form::{ISZEROX, LOADPX, SETMODCX, STORECX, STOREPX};
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip6690_2024::{LOADX, MODULUS_BYTES_MAX, SETMODX, SLOT_BYTES_MAX, SLOTS_MAX, STOREX};
use residue_isa::revision::strided::{IMMEDIATE_BYTES, Operands, unpack};
use residue_isa::{FieldOp, GasSchedule, Lanes, Price, WidthPrices};
use ruint::aliases::U256;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a limb.
const LIMB_BYTES: usize = 8;
/// The greatest name of a context (EIP-6690, `SETMODX`).
const ID_MAX: u64 = 256;
/// Terms of sums that take as much room as a word of memory.
const TERMS_PER_WORD: usize = 8;

/// State of field instructions beside stack and memory.
pub(super) struct Field {
    semantics: Semantics,
    schedule: GasSchedule,
    pub(super) context: Option<Context>,
    /// Parsed values by their offset.
    parsed: HashMap<U256, Atom>,
}

/// The context, once there is one.
#[derive(Clone)]
pub(super) struct Context {
    width_limbs: usize,
    pub(super) prices: WidthPrices,
    pub(super) slots: Vec<Arc<Sum>>,
}

impl Field {
    /// That of a program's code where it begins. Contexts of even moduli have other prices, and are not known here.
    pub(super) fn of(program: &Straight, semantics: Semantics) -> Step<Self> {
        if !program.modulus.bit(0) {
            return refuse(format!("an odd modulus is expected in code with slots, found {:#x}", program.modulus));
        }
        let schedule = GasSchedule::default_for(semantics.revision()).map_err(|error| error.to_string())?;
        let mut parsed = HashMap::default();
        for &(value, offset) in &program.parses {
            // Of two parses at one offset the first.
            parsed.entry(U256::from(offset)).or_insert(Atom::of(value));
        }
        Ok(Self { semantics, schedule, context: None, parsed })
    }

    /// Slots as they are.
    pub(super) fn slots(&self) -> Option<Slots> {
        let context = self.context.as_ref()?;
        Some(Slots { width_bytes: context.width_bytes(), sums: context.slots.clone() })
    }

    /// The same context with these slots.
    pub(super) fn with(mut self, Slots { width_bytes, sums: slots }: Slots) -> Self {
        let width_limbs = width_bytes / LIMB_BYTES;
        self.context = Some(Context { width_limbs, prices: self.schedule.at_width(width_limbs), slots });
        self
    }

    /// Words of memory that slots count for.
    pub(super) fn words(&self) -> u64 {
        let bytes = self.context.as_ref().map_or(0, |context| context.slots.len() * context.width_bytes());
        bytes.div_ceil(WORD_BYTES as usize) as u64 // u32 to usize and usize to u64 widen
    }

    pub(super) fn context(&mut self) -> Step<&mut Context> {
        self.context.as_mut().map_or_else(|| refuse("the code has no context here"), Ok)
    }

    fn parsed_at(&self, offset: U256) -> Step<Atom> {
        let found = self.parsed.get(&offset).copied();
        found.map_or_else(|| refuse(format!("the program parses nothing at byte {offset} of calldata")), Ok)
    }

    /// Gas of an instruction beside what it moves.
    pub(super) fn base(&self, opcode: u8) -> Price {
        let row = self.semantics.revision().row(opcode);
        row.and_then(|row| self.schedule.base(row.mnemonic)).unwrap_or(Price::ZERO)
    }
}

/// Bytes of a modulus.
fn modulus_bytes(size: U256) -> Step<usize> {
    let found = usize::try_from(size).ok().filter(|size| (1..=MODULUS_BYTES_MAX).contains(size));
    found.map_or_else(|| refuse(format!("a modulus of 1 to {MODULUS_BYTES_MAX} bytes is expected")), Ok)
}

impl Context {
    pub(super) const fn width_bytes(&self) -> usize {
        self.width_limbs * LIMB_BYTES
    }

    /// The slots that a transfer moves.
    pub(super) fn range(&self, first: U256, count: U256) -> Step<Range<usize>> {
        let slots = self.slots.len();
        match (usize::try_from(first), usize::try_from(count)) {
            (Ok(first), Ok(count)) if count >= 1 && count <= slots && first <= slots - count => {
                Ok(first..first + count)
            }
            _ => refuse(format!("1 or more of {slots} slots are expected, found {count} from slot {first} on")),
        }
    }
}

impl<H: Hints> Machine<'_, H> {
    /// An instruction that the EVM of today has not, or that only code with slots is known to have.
    pub(super) fn field_instruction(&mut self, byte: u8) -> Step<()> {
        let unknown = "certificates know no such instruction here";
        let Some(field) = &self.field else { return refuse(unknown) };
        let revision = field.semantics.revision();
        if matches!(byte, op::CALLDATACOPY | op::CODECOPY) {
            return if self.is_wide() { self.wide_copy(byte) } else { self.copy(byte) };
        }
        if revision.own_row_at(&[byte]).is_none() {
            return refuse(unknown);
        }
        match (byte, revision.arithmetic_of(byte)) {
            (SETMODX | SETMODCX, _) => self.set_context(byte),
            (STOREX | STOREPX, _) if self.is_wide() => self.wide_store(byte),
            (LOADX | LOADPX, _) if self.is_wide() => self.wide_load(byte),
            (STOREX | STOREPX, _) => self.store(byte),
            (STORECX, _) => self.store_from_code(),
            (LOADX | LOADPX, _) => self.load(byte),
            (ISZEROX, _) => self.test(byte),
            (_, Some(operation)) => self.lanes(operation),
            _ => refuse(unknown),
        }
    }

    pub(super) fn field(&mut self) -> Step<&mut Field> {
        self.field.as_mut().map_or_else(|| refuse("code without slots has no such instruction"), Ok)
    }

    /// The one context.
    fn set_context(&mut self, byte: u8) -> Step<()> {
        if self.field()?.context.is_some() {
            return refuse("the code has a context already: a second one is not known here");
        }
        let id = self.pop()?.exact()?;
        if id > U256::from(ID_MAX) {
            return refuse(format!("a context is named by at most {ID_MAX}, not by {id}"));
        }
        let (size, modulus) = match byte {
            SETMODX => self.modulus_in_memory()?,
            _ => self.modulus_in_code()?,
        };
        let p = self.program.modulus;
        let modulus = modulus.filter(|&modulus| self.is_wide() || !is_wide(modulus));
        let modulus = modulus.map_or_else(|| refuse("the modulus has more than 256 bits"), Ok)?;
        if modulus != p {
            return refuse(format!("the modulus {p:#x} is expected, found {modulus:#x}"));
        }
        let width_limbs = size.div_ceil(LIMB_BYTES);
        let count = self.pop()?.exact()?;
        let is_allowed =
            |&count: &usize| (1..=SLOTS_MAX).contains(&count) && count * width_limbs * LIMB_BYTES <= SLOT_BYTES_MAX;
        let count = usize::try_from(count).ok().filter(is_allowed);
        let count = count.map_or_else(|| refuse(format!("1 to {SLOTS_MAX} slots are expected")), Ok)?;
        let words = self.memory_words;
        let (field, zero) = (self.field()?, Arc::new(Sum::default()));
        let price = field.base(byte) + field.schedule.set_modulus(width_limbs);
        let prices = field.schedule.at_width(width_limbs);
        field.context = Some(Context { width_limbs, prices, slots: vec![zero; count] });
        let slots = field.words();
        self.gas += price.whole() + memory_gas(words + slots) - memory_gas(words);
        Ok(())
    }

    /// Bytes of the modulus, and the number that memory has there.
    fn modulus_in_memory(&mut self) -> Step<(usize, Option<Number>)> {
        let [from, size] = [self.pop()?.exact()?, self.pop()?.exact()?];
        let size = modulus_bytes(size)?;
        let from = self.inside(from, size)?;
        if self.is_wide() {
            return Ok((size, self.wide_modulus(from, size)?));
        }
        let bytes = self.known_bytes(from, size).map_or_else(|| refuse("no number is in memory there"), Ok)?;
        Ok((size, Number::try_from_be_slice(&bytes)))
    }

    /// The same of one in code.
    fn modulus_in_code(&mut self) -> Step<(usize, Option<Number>)> {
        let [from, size] = [self.pop()?.exact()?, self.pop()?.exact()?];
        let size = modulus_bytes(size)?;
        Ok((size, Number::try_from_be_slice(self.of_code(from, size)?)))
    }

    /// Bytes that lie inside the code.
    fn of_code(&self, from: U256, size: usize) -> Step<&[u8]> {
        let range = usize::try_from(from).ok().and_then(|from| Some(from..from.checked_add(size)?));
        let found = range.and_then(|range| self.code.get(range));
        let bytes = self.code.len();
        found.map_or_else(|| refuse(format!("{size} bytes from {from} on do not lie inside the code of {bytes}")), Ok)
    }

    /// The address from which on memory has so many bytes.
    pub(super) fn inside(&self, from: U256, size: usize) -> Step<u64> {
        let bytes = self.memory_words * u64::from(WORD_BYTES);
        // usize to u64 widens
        match u64::try_from(from).ok().filter(|from| from.checked_add(size as u64).is_some_and(|end| end <= bytes)) {
            Some(from) => Ok(from),
            None => refuse(format!("memory has {bytes} bytes, and {size} from {from} on are read or written")),
        }
    }

    /// The number of the word of memory that begins at an address.
    fn word_number(address: u64) -> Option<u32> {
        let word = u64::from(WORD_BYTES);
        u32::try_from(address / word).ok().filter(|_| address.is_multiple_of(word))
    }

    /// Bytes of memory from an address on, where it has numbers; zeros where nothing has been written.
    fn known_bytes(&self, from: u64, count: usize) -> Option<Vec<u8>> {
        let byte = |address: u64| {
            let number = u32::try_from(address / u64::from(WORD_BYTES)).ok()?;
            let place = (address % u64::from(WORD_BYTES)) as usize; // below 32
            match self.memory.get(&number) {
                Some(word) => Some(word.exact().ok()?.to_be_bytes::<{ WORD_BYTES as usize }>()[place]),
                None => Some(0),
            }
        };
        (from..from + count as u64).map(byte).collect() // usize to u64 widens
    }

    /// Slots of a transfer with memory, the address there, and bytes of a value.
    fn moved(&mut self, byte: u8, first: U256, from: U256, count: U256) -> Step<(Range<usize>, u64, usize)> {
        let (width, word) = (self.field()?.context()?.width_bytes(), WORD_BYTES as usize); // u32 to usize widens
        let mut value_bytes = width;
        let is_padded = matches!(byte, LOADPX | STOREPX);
        if is_padded {
            let bytes = self.code.get(self.next).copied().map(usize::from);
            self.next += 1;
            value_bytes = bytes.map_or_else(|| refuse("the code ends within the instruction"), Ok)?;
        }
        if width > word || value_bytes > word || is_padded && value_bytes != word {
            return refuse(format!("values of {word} bytes are expected in memory, found {value_bytes}"));
        }
        let range = self.field()?.context()?.range(first, count)?;
        let from = self.inside(from, range.len() * value_bytes)?;
        match value_bytes != word || Self::word_number(from).is_some() {
            true => Ok((range, from, value_bytes)),
            false => refuse(format!("an address of a whole word is expected, found {from:#x}")),
        }
    }

    /// Values of memory into slots. Where a parsed number is not below p it halts, and the program fails.
    fn store(&mut self, byte: u8) -> Step<()> {
        let [first, from, count] = [self.pop()?.exact()?, self.pop()?.exact()?, self.pop()?.exact()?];
        let (range, mut address, value_bytes) = self.moved(byte, first, from, count)?;
        let (mut sums, mut parsed) = (Vec::with_capacity(range.len()), Vec::new());
        for slot in range.clone() {
            let (sum, atom) = match value_bytes == WORD_BYTES as usize {
                true => self.word_of_slot(slot, address)?,
                false => self.value_of_slot(slot, address, value_bytes)?,
            };
            sums.push(sum);
            parsed.extend(atom.map(Condition::NotBelow));
            address += value_bytes as u64; // usize to u64 widens
        }
        if self.ends.is_some() && !self.halts_for(&parsed)? {
            return Ok(());
        }
        self.shown.extend(parsed);
        self.stored(byte, range, sums)
    }

    /// The element that a word of memory is, and the parsed number that it is if it may be p or more.
    fn word_of_slot(&self, slot: usize, address: u64) -> Step<(Arc<Sum>, Option<Atom>)> {
        let p = self.program.modulus;
        match Self::word_number(address).and_then(|number| self.memory.get(&number)) {
            // What has not been written is zero.
            None => Ok((Arc::new(Sum::default()), None)),
            Some(Symbol::Sum { sum, most, .. }) if is_below(*most, p) => Ok((Arc::clone(sum), None)),
            Some(&Symbol::Parsed(atom)) => Ok((Arc::new(Sum::atom(atom)), Some(atom))),
            Some(Symbol::Sum { sum, .. }) => refuse(format!("slot {slot} is to hold ({sum}), which may be p or more")),
            Some(other) => refuse(format!("slot {slot} is to hold an element, found {}", other.shown())),
        }
    }

    /// The same of so many bytes of memory: a number, or the end of a word that is parsed and has no more bits.
    fn value_of_slot(&self, slot: usize, address: u64, bytes: usize) -> Step<(Arc<Sum>, Option<Atom>)> {
        let p = self.program.modulus;
        if let Some(known) = self.known_bytes(address, bytes) {
            return match Number::try_from_be_slice(&known) {
                Some(number) if number < p => Ok((Arc::new(Sum::constant(number, p)), None)),
                _ => refuse(format!("slot {slot} is to hold 0x{}, which is p or more", hex::encode(known))),
            };
        }
        let start = (address + bytes as u64).checked_sub(u64::from(WORD_BYTES)); // usize to u64 widens
        let word = start.and_then(Self::word_number).and_then(|number| self.memory.get(&number));
        let Some(&Symbol::Parsed(atom)) = word else {
            return refuse(format!("slot {slot} is to hold the last {bytes} bytes of a number that is parsed"));
        };
        let bits = u16::try_from(8 * bytes).or_else(|_| refuse("a value of less than 32 bytes is expected"))?;
        if !self.shown.contains(&Condition::Above(atom, bits)) {
            return refuse(format!("{atom} has not been held to {bits} bits"));
        }
        Ok((Arc::new(Sum::atom(atom)), Some(atom)))
    }

    /// A jump to a failure if one of the numbers has more bits, as the modulus has not.
    pub(super) fn fail_if_above(&mut self, parses: &[Atom], bits: u16) -> Step<()> {
        if (self.program.modulus - Number::ONE).bit_len() > usize::from(bits) {
            return refuse(format!("the code fails for numbers from 2^{bits} on, which may be below p"));
        }
        self.shown.extend(parses.iter().map(|&atom| Condition::Above(atom, bits)));
        Ok(())
    }

    /// Numbers of the code into slots.
    fn store_from_code(&mut self) -> Step<()> {
        let [first, from, count] = [self.pop()?.exact()?, self.pop()?.exact()?, self.pop()?.exact()?];
        let p = self.program.modulus;
        let context = self.field()?.context()?;
        let (range, width) = (context.range(first, count)?, context.width_bytes());
        let mut sums = Vec::with_capacity(range.len());
        for (slot, bytes) in range.clone().zip(self.of_code(from, range.len() * width)?.chunks(width)) {
            match Number::try_from_be_slice(bytes) {
                Some(number) if number < p => sums.push(Arc::new(Sum::constant(number, p))),
                _ => return refuse(format!("slot {slot} is to hold 0x{}, which is p or more", hex::encode(bytes))),
            }
        }
        self.stored(STORECX, range, sums)
    }

    pub(super) fn stored(&mut self, byte: u8, range: Range<usize>, sums: Vec<Arc<Sum>>) -> Step<()> {
        let field = self.field()?;
        let base = field.base(byte);
        let context = field.context()?;
        let price = base + context.prices.store * range.len() as u64; // usize to u64 widens
        context.slots[range].clone_from_slice(&sums);
        self.gas += price.whole();
        Ok(())
    }

    /// Slots into words of memory, or one value into the end of a word that is zero.
    fn load(&mut self, byte: u8) -> Step<()> {
        let [from, first, count] = [self.pop()?.exact()?, self.pop()?.exact()?, self.pop()?.exact()?];
        let (range, from, value_bytes) = self.moved(byte, first, from, count)?;
        let most = greatest(self.program.modulus);
        let place = match value_bytes == WORD_BYTES as usize {
            true => Self::word_number(from),
            false if range.len() == 1 && most.bit_len() <= 8 * value_bytes => self.zero_word(from, value_bytes),
            false => None,
        };
        let Some(place) = place else {
            return refuse(format!("one value at the end of a word that is zero is expected, not at {from:#x}"));
        };
        let field = self.field()?;
        let base = field.base(byte);
        let context = field.context()?;
        let price = base + context.prices.load * range.len() as u64; // usize to u64 widens
        let sums = context.slots[range].to_vec();
        for (sum, number) in sums.into_iter().zip(place..) {
            self.memory.insert(number, Symbol::Sum { sum, least: U256::ZERO, most });
        }
        self.gas += price.whole();
        Ok(())
    }

    /// The number of the word whose last bytes these are, if it is zero.
    fn zero_word(&self, from: u64, bytes: usize) -> Option<u32> {
        let start = (from + bytes as u64).checked_sub(u64::from(WORD_BYTES))?; // usize to u64 widens
        let known = self.known_bytes(start, WORD_BYTES as usize)?;
        Self::word_number(start).filter(|_| known.iter().all(|&byte| byte == 0))
    }

    /// One operation in each lane. All slots are read before any is written.
    fn lanes(&mut self, operation: FieldOp) -> Step<()> {
        let p = self.program.modulus;
        let immediate = self.code.get(self.next..).and_then(|rest| rest.first_chunk::<IMMEDIATE_BYTES>());
        let immediate = *immediate.map_or_else(|| refuse("the code ends within the instruction"), Ok)?;
        self.next += IMMEDIATE_BYTES;
        let Operands { out, x, y, count } = unpack(immediate);
        let slots = &self.field()?.context()?.slots;
        let ends_at = [out, x, y].map(|lanes| lanes.last(count) as usize); // u32 to usize widens
        if out.stride == 0 || count == 0 || ends_at.iter().any(|&last| last >= slots.len()) {
            let [out, x, y] = ends_at;
            return refuse(format!(
                "{count} lanes up to slots {out}, {x} and {y} are not within {} slots, results apart",
                slots.len()
            ));
        }
        let of = |lanes: Lanes| {
            (0..count).map(move |lane| usize::from(lanes.index) + usize::from(lanes.stride) * usize::from(lane))
        };
        let read = |lanes| of(lanes).map(|slot| Arc::clone(&slots[slot]));
        let operands: Vec<(Arc<Sum>, Arc<Sum>)> = read(x).zip(read(y)).collect();
        let mut results = Vec::with_capacity(operands.len());
        for (a, b) in operands {
            self.budget.take(a.terms().len() + b.terms().len())?;
            let sum = match operation {
                FieldOp::Add => a.plus(&b, p),
                FieldOp::Sub => a.plus(&b.negated(p), p),
                FieldOp::Mul => self.product(&a, &b)?,
            };
            results.push(self.hints.named(Arc::new(sum))?);
        }
        let field = self.field()?;
        let context = field.context()?;
        for (slot, sum) in of(out).zip(results) {
            context.slots[slot] = sum;
        }
        let width_limbs = context.width_limbs;
        self.gas += field.schedule.instruction(operation, width_limbs, count).whole();
        Ok(())
    }

    /// Whole words of calldata, each of which is parsed, or bytes of the code, with zeros after its end. What stands after these in their last word
    /// is a number.
    fn copy(&mut self, byte: u8) -> Step<()> {
        let is_code = byte == op::CODECOPY;
        let word = U256::from(WORD_BYTES);
        if let [.., size, from, _] = &*self.stack
            && !is_code
            && from.exact().is_err()
            && size.exact() == Ok(word)
        {
            return self.copy_word();
        }
        let place = self.place()?;
        let [from, size] = [self.pop()?.exact()?, self.pop()?.exact()?];
        let is_known = |size: u32| is_code || size.is_multiple_of(WORD_BYTES);
        let size = u32::try_from(size).ok().filter(|&size| size <= COPY_BYTES - WORD_BYTES && is_known(size));
        let size =
            size.map_or_else(|| refuse(format!("a copy of whole words, below {COPY_BYTES} bytes, is expected")), Ok)?;
        if is_code && from > U256::from(self.code.len()) {
            return refuse(format!(
                "a copy from byte {from} on is none of the code, which has {} bytes",
                self.code.len()
            ));
        }
        let count = size.div_ceil(WORD_BYTES);
        self.budget.take(TERMS_PER_WORD * count as usize)?; // u32 to usize widens
        let end = u64::from(place) * u64::from(WORD_BYTES) + u64::from(size);
        let kept = self.known_bytes(end, (count * WORD_BYTES - size) as usize); // u32 to usize widens
        let kept =
            kept.map_or_else(|| refuse("the last word of the copy has bytes after it that are no number"), Ok)?;
        // The price by the word is that of both opcodes (Yellow Paper, appendix G).
        self.gas += 3 + 3 * u64::from(count);
        if count > 0 {
            self.grow(u64::from(place) + u64::from(count));
        }
        for number in 0..count {
            let offset = from.saturating_add(U256::from(number) * U256::from(WORD_BYTES));
            let kept = if number + 1 == count { &kept[..] } else { &[] };
            let word = match is_code {
                true => self.numeral(offset, kept),
                false => Symbol::Parsed(self.field()?.parsed_at(offset)?),
            };
            self.memory.insert(place + number, word);
        }
        Ok(())
    }

    /// True if a slot is zero.
    fn test(&mut self, byte: u8) -> Step<()> {
        let slot = self.code.get(self.next).copied().map(usize::from);
        let slot = slot.map_or_else(|| refuse("the code ends within the instruction"), Ok)?;
        self.next += 1;
        let field = self.field()?;
        let base = field.base(byte);
        let slots = &field.context()?.slots;
        let Some(sum) = slots.get(slot).cloned() else {
            return refuse(format!("one of {} slots is expected, found slot {slot}", slots.len()));
        };
        self.gas += base.whole();
        self.stack.push(Symbol::Truth(Condition::Zero(sum)));
        Ok(())
    }

    /// The word of calldata at the offset that another word is.
    fn copy_word(&mut self) -> Step<()> {
        let (place, from, _) = (self.place()?, self.pop()?, self.pop()?);
        let zero = Symbol::number(U256::ZERO, self.program.modulus);
        let word = self.named_word(op::CALLDATALOAD, &from, &zero);
        let word = word.map_or_else(|| refuse(format!("the program reads no calldata at {}", from.shown())), Ok)?;
        self.gas += 3 + 3;
        self.grow(u64::from(place) + 1);
        self.memory.insert(place, word);
        Ok(())
    }

    /// The word of the code at an offset, with other bytes at its end.
    fn numeral(&self, offset: U256, end: &[u8]) -> Symbol {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.code.get(offset..)).unwrap_or_default();
        let mut word = [0; WORD_BYTES as usize]; // u32 to usize widens
        for (byte, &code) in word.iter_mut().zip(rest) {
            *byte = code;
        }
        let own = word.len() - end.len();
        word[own..].copy_from_slice(end);
        Symbol::number(U256::from_be_bytes(word), self.program.modulus)
    }
}
