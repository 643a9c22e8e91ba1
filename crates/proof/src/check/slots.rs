//! Slots: code of `eip6690-2024` with one context, of the program's modulus in 32 bytes, whose slots hold sums below p.
//!
//! Memory moves to slots and back by whole words; calldata and code are copied by whole words too, and each word of calldata is one that is
//! parsed. A parsed number may go to a slot as it is: the store halts if it is not below p, as the program does. `coq/CheckSlots.v` is the
//! same checker, and `coq/SoundSlots.v` proves it.

use super::{Condition, Hints, Machine, Step, Symbol, WORD_BYTES, memory_gas, refuse};
use crate::semantics::Semantics;
use crate::straight::Straight;
use crate::sum::{Atom, Sum};
use foldhash::HashMap;
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip6690_2024::{LOADX, SETMODX, SLOTS_MAX, STOREX};
use residue_isa::revision::strided::{IMMEDIATE_BYTES, Operands, unpack};
use residue_isa::{FieldOp, GasSchedule, Lanes, Price};
use ruint::aliases::U256;
use std::ops::Range;
use std::rc::Rc;

/// Limbs of the modulus, and of each value in memory.
const WIDTH_LIMBS: usize = 4;
/// The greatest name of a context (EIP-6690, `SETMODX`).
const ID_MAX: u64 = 256;
/// Bytes that a copy has less than: in Coq its words are counted in unary.
const COPY_BYTES: u32 = 1 << 20;
/// Terms of sums that take as much room as a word of memory.
const TERMS_PER_WORD: usize = 8;

/// What field instructions read beside stack and memory.
pub(super) struct Field {
    schedule: GasSchedule,
    /// Slots of the context, once there is one.
    slots: Option<Vec<Rc<Sum>>>,
    /// Parsed values by their offset.
    parsed: HashMap<U256, Atom>,
}

impl Field {
    /// That of a program's code where it begins. Contexts of even moduli have other prices, and are not known here.
    pub(super) fn of(program: &Straight) -> Step<Self> {
        if !program.modulus.bit(0) {
            return refuse(format!("an odd modulus is expected in code with slots, found {:#x}", program.modulus));
        }
        let schedule = GasSchedule::default_for(Semantics::Slots.revision()).map_err(|error| error.to_string())?;
        let mut parsed = HashMap::default();
        for &(value, offset) in &program.parses {
            // Of two parses at one offset the first.
            parsed.entry(U256::from(offset)).or_insert(Atom::of(value));
        }
        Ok(Self { schedule, slots: None, parsed })
    }

    /// Words of memory that slots count for.
    pub(super) fn words(&self) -> u64 {
        self.slots.as_ref().map_or(0, |slots| slots.len() as u64) // usize to u64 widens
    }

    fn slots(&mut self) -> Step<&mut Vec<Rc<Sum>>> {
        self.slots.as_mut().map_or_else(|| refuse("the code has no context here"), Ok)
    }

    fn parsed_at(&self, offset: U256) -> Step<Atom> {
        let found = self.parsed.get(&offset).copied();
        found.map_or_else(|| refuse(format!("the program parses nothing at byte {offset} of calldata")), Ok)
    }

    /// Gas of an instruction beside what it moves.
    fn base(&self, mnemonic: &str) -> Price {
        self.schedule.base(mnemonic).unwrap_or(Price::ZERO)
    }
}

impl<H: Hints> Machine<'_, H> {
    /// An instruction that the EVM of today has not, or that only code with slots is known to have.
    pub(super) fn field_instruction(&mut self, byte: u8) -> Step<()> {
        let operation = Semantics::Slots.revision().arithmetic_of(byte);
        match (byte, operation) {
            _ if self.field.is_none() => refuse("straight-line code has no such instruction here"),
            (SETMODX, _) => self.set_context(),
            (STOREX, _) => self.store(),
            (LOADX, _) => self.load(),
            (op::CALLDATACOPY | op::CODECOPY, _) => self.copy(byte),
            (_, Some(operation)) => self.lanes(operation),
            _ => refuse("straight-line code has no such instruction here"),
        }
    }

    fn field(&mut self) -> Step<&mut Field> {
        self.field.as_mut().map_or_else(|| refuse("code without slots has no such instruction"), Ok)
    }

    /// The one context.
    fn set_context(&mut self) -> Step<()> {
        if self.field()?.slots.is_some() {
            return refuse("the code has a context already: a second one is not known here");
        }
        let id = self.pop()?.exact()?;
        let place = self.place()?;
        let [size, count] = [self.pop()?.exact()?, self.pop()?.exact()?];
        if id > U256::from(ID_MAX) {
            return refuse(format!("a context is named by at most {ID_MAX}, not by {id}"));
        }
        if size != U256::from(WORD_BYTES) {
            return refuse(format!("a modulus of {WORD_BYTES} bytes is expected, found one of {size}"));
        }
        let count = usize::try_from(count).ok().filter(|count| (1..=SLOTS_MAX).contains(count));
        let count = count.map_or_else(|| refuse(format!("1 to {SLOTS_MAX} slots are expected")), Ok)?;
        let modulus = self.memory.get(&place).map_or_else(|| refuse("no modulus is in memory there"), Symbol::exact)?;
        let p = self.program.modulus;
        if modulus != p || u64::from(place) >= self.memory_words {
            return refuse(format!("the modulus {p:#x} is expected, found {modulus:#x}"));
        }
        let words = self.memory_words;
        let (field, zero) = (self.field()?, Rc::new(Sum::default()));
        field.slots = Some(vec![zero; count]);
        let price = field.base("SETMODX") + field.schedule.set_modulus(WIDTH_LIMBS);
        self.gas += price.whole() + memory_gas(words + count as u64) - memory_gas(words); // usize to u64 widens
        Ok(())
    }

    /// Slots that a transfer moves; the words of memory from `place` on, as many, have been grown to.
    fn moved(&mut self, first: U256, place: u32, count: U256) -> Step<Range<usize>> {
        let words = self.memory_words;
        let slots = self.field()?.slots()?.len();
        let range = match (usize::try_from(first), usize::try_from(count)) {
            (Ok(first), Ok(count)) if count >= 1 && count <= slots && first <= slots - count => first..first + count,
            _ => return refuse(format!("1 or more of {slots} slots are expected, found {count} from slot {first} on")),
        };
        match u64::from(place) + range.len() as u64 <= words {
            true => Ok(range),
            false => refuse(format!("memory has {words} words, and {count} from word {place} on are moved")),
        }
    }

    /// Words of memory into slots. Where a parsed number is not below p it halts, and the program fails.
    fn store(&mut self) -> Step<()> {
        let first = self.pop()?.exact()?;
        let place = self.place()?;
        let count = self.pop()?.exact()?;
        let range = self.moved(first, place, count)?;
        let (p, count) = (self.program.modulus, range.len() as u64); // usize to u64 widens
        for (slot, number) in range.zip(place..) {
            let sum = match self.memory.get(&number) {
                // What has not been written is zero.
                None => Rc::new(Sum::default()),
                Some(Symbol::Sum { sum, most, .. }) if *most < p => Rc::clone(sum),
                Some(&Symbol::Parsed(atom)) => {
                    self.shown.insert(Condition::NotBelow(atom));
                    Rc::new(Sum::atom(atom))
                }
                Some(Symbol::Sum { sum, .. }) => {
                    return refuse(format!("slot {slot} is to hold ({sum}), which may be p or more"));
                }
                Some(other) => return refuse(format!("slot {slot} is to hold an element, found {}", other.shown())),
            };
            self.field()?.slots()?[slot] = sum;
        }
        let field = self.field()?;
        let price = field.base("STOREX") + field.schedule.at_width(WIDTH_LIMBS).store * count;
        self.gas += price.whole();
        Ok(())
    }

    /// Slots into words of memory.
    fn load(&mut self) -> Step<()> {
        let place = self.place()?;
        let [first, count] = [self.pop()?.exact()?, self.pop()?.exact()?];
        let range = self.moved(first, place, count)?;
        let (most, count) = (self.program.modulus - U256::ONE, range.len() as u64); // usize to u64 widens
        for (slot, number) in range.zip(place..) {
            let sum = Rc::clone(&self.field()?.slots()?[slot]);
            self.memory.insert(number, Symbol::Sum { sum, least: U256::ZERO, most });
        }
        let field = self.field()?;
        let price = field.base("LOADX") + field.schedule.transfer_per_value(WIDTH_LIMBS) * count;
        self.gas += price.whole();
        Ok(())
    }

    /// One operation in each lane. All slots are read before any is written.
    fn lanes(&mut self, operation: FieldOp) -> Step<()> {
        let p = self.program.modulus;
        let immediate = self.code.get(self.next..).and_then(|rest| rest.first_chunk::<IMMEDIATE_BYTES>());
        let immediate = *immediate.map_or_else(|| refuse("the code ends within the instruction"), Ok)?;
        self.next += IMMEDIATE_BYTES;
        let Operands { out, x, y, count } = unpack(immediate);
        let slots = self.field()?.slots()?;
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
        let read = |lanes| of(lanes).map(|slot| Rc::clone(&slots[slot]));
        let operands: Vec<(Rc<Sum>, Rc<Sum>)> = read(x).zip(read(y)).collect();
        let mut results = Vec::with_capacity(operands.len());
        for (a, b) in operands {
            self.budget.take(a.terms().len() + b.terms().len())?;
            let sum = match operation {
                FieldOp::Add => a.plus(&b, p),
                FieldOp::Sub => a.plus(&b.negated(p), p),
                FieldOp::Mul => self.product(&a, &b)?,
            };
            results.push(self.hints.named(Rc::new(sum))?);
        }
        let field = self.field()?;
        for (slot, sum) in of(out).zip(results) {
            field.slots()?[slot] = sum;
        }
        let price = field.schedule.instruction(operation, WIDTH_LIMBS, count);
        self.gas += price.whole();
        Ok(())
    }

    /// Whole words of calldata, each of which is parsed, or of the code, with zeros after its end.
    fn copy(&mut self, byte: u8) -> Step<()> {
        let place = self.place()?;
        let [from, size] = [self.pop()?.exact()?, self.pop()?.exact()?];
        let count = match u32::try_from(size) {
            Ok(size) if size < COPY_BYTES && size.is_multiple_of(WORD_BYTES) => size / WORD_BYTES,
            _ => {
                return refuse(format!(
                    "a copy of whole words, below {COPY_BYTES} bytes, is expected, found {size} bytes"
                ));
            }
        };
        if byte == op::CODECOPY && from > U256::from(self.code.len()) {
            return refuse(format!(
                "a copy from byte {from} on is none of the code, which has {} bytes",
                self.code.len()
            ));
        }
        self.budget.take(TERMS_PER_WORD * count as usize)?; // u32 to usize widens
        // The price by the word is that of both opcodes (Yellow Paper, appendix G).
        self.gas += 3 + 3 * u64::from(count);
        if count > 0 {
            self.grow(u64::from(place) + u64::from(count));
        }
        for number in 0..count {
            let offset = from.saturating_add(U256::from(number) * U256::from(WORD_BYTES));
            let word = match byte {
                op::CALLDATACOPY => Symbol::Parsed(self.field()?.parsed_at(offset)?),
                _ => self.numeral(offset),
            };
            self.memory.insert(place + number, word);
        }
        Ok(())
    }

    /// The word of the code at an offset.
    fn numeral(&self, offset: U256) -> Symbol {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.code.get(offset..)).unwrap_or_default();
        let mut word = [0; WORD_BYTES as usize]; // u32 to usize widens
        for (byte, &code) in word.iter_mut().zip(rest) {
            *byte = code;
        }
        Symbol::number(U256::from_be_bytes(word), self.program.modulus)
    }
}
