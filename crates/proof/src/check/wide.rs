//! Memory by limbs of 8 bytes: code with slots of a program whose modulus is no word. Values in memory have as many bytes as the context says, or as the
//! code says where it pads them; numbers of calldata have more than 32 bytes. `coq/CheckWide.v` is the same checker, and `coq/SoundWide.v` proves it.

use super::{COPY_BYTES, Condition, Hints, Machine, Step, Symbol, WORD_BYTES, refuse};
use crate::flow::paths::Goal;
use crate::sum::{Atom, Number, Sum, is_wide};
use crate::words::{NamedWord, Part};
use residue_ir::Value;
use residue_isa::form::{LOADPX, STOREPX};
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a limb, its bits, and limbs of a word.
const LIMB_BYTES: u32 = 8;
const LIMB_BITS: usize = 64;
const WORD_LIMBS: usize = 4;

/// A limb of memory.
#[derive(Clone)]
pub(super) enum Limb {
    /// A number.
    Number(u64),
    /// Bytes of calldata from an offset on.
    Calldata(u64),
    /// Of the element that a sum is, 64 bits above so many lowest ones.
    Element(Arc<Sum>, usize),
}

/// A number that is parsed: its value, its offset in calldata, and its bytes beyond 32.
fn parsed_number(word: &NamedWord) -> Option<(Atom, u64, u64)> {
    match (word.opcode, &word.first, &word.second) {
        (op::CALLDATALOAD, Part::Number(offset), Part::Number(more)) => {
            Some((Atom::of(word.value), u64::try_from(*offset).ok()?, u64::try_from(*more).ok()?))
        }
        _ => None,
    }
}

/// The number that limbs are, each with as many bytes.
fn bytes_of(limbs: &[Limb]) -> Option<Vec<u8>> {
    let bytes = limbs.iter().map(|limb| match limb {
        Limb::Number(number) => Some(number.to_be_bytes()),
        _ => None,
    });
    bytes.collect::<Option<Vec<_>>>().map(|bytes| bytes.concat())
}

/// The offset of calldata that limbs begin at.
fn offset_of(limbs: &[Limb]) -> Option<u64> {
    let Some(&Limb::Calldata(first)) = limbs.first() else { return None };
    let follows = |(limb, at): (&Limb, u64)| matches!(limb, Limb::Calldata(offset) if *offset == at);
    let places = (first..).step_by(LIMB_BYTES as usize); // u32 to usize widens
    limbs.iter().zip(places).all(follows).then_some(first)
}

/// The element that limbs are a part of, above so many lowest bits.
fn part_of(limbs: &[Limb]) -> Option<(&Arc<Sum>, usize)> {
    let Some(Limb::Element(sum, above)) = limbs.first() else { return None };
    let lowest = above.checked_sub(LIMB_BITS * (limbs.len() - 1))?;
    let is_next =
        |(limb, low): (&Limb, usize)| matches!(limb, Limb::Element(other, bits) if other == sum && *bits == low);
    let places = (0..limbs.len()).rev().map(|place| lowest + LIMB_BITS * place);
    limbs.iter().zip(places).all(is_next).then_some((sum, lowest))
}

/// True if limbs are the element that a sum is; the first ones may be zeros, where it has none.
fn shows(limbs: &[Limb], sum: &Sum, p: Number) -> bool {
    limbs.iter().rev().enumerate().all(|(place, limb)| match limb {
        Limb::Element(found, bits) => **found == *sum && *bits == LIMB_BITS * place,
        Limb::Number(number) => *number == 0 && (p - Number::ONE).bit_len() <= LIMB_BITS * place,
        Limb::Calldata(_) => false,
    })
}

/// The number of the limb that begins at an address.
fn limb_number(address: u64) -> Option<u32> {
    let limb = u64::from(LIMB_BYTES);
    u32::try_from(address / limb).ok().filter(|_| address.is_multiple_of(limb))
}

/// Limbs of so many bytes.
fn limbs_in(bytes: usize) -> Step<usize> {
    let is_known = bytes < COPY_BYTES as usize && bytes.is_multiple_of(LIMB_BYTES as usize); // u32 to usize widens
    if is_known {
        Ok(bytes / LIMB_BYTES as usize)
    } else {
        refuse(format!("whole limbs are expected, not {bytes} bytes"))
    }
}

impl<H: Hints> Machine<'_, H> {
    /// True if the modulus is no word.
    pub(super) fn is_wide(&self) -> bool {
        is_wide(self.program.modulus)
    }

    /// The address of a limb, and its number.
    fn limb_place(&mut self) -> Step<(u32, u32)> {
        let address = self.pop()?.exact()?;
        match u32::try_from(address) {
            Ok(address) if address.is_multiple_of(LIMB_BYTES) => Ok((address, address / LIMB_BYTES)),
            _ => refuse(format!("an address of a limb below 2³² is expected, found {address:#x}")),
        }
    }

    /// Limbs of memory; what has not been written is zero.
    fn limbs_at(&self, first: u32, count: usize) -> Vec<Limb> {
        let limb = |place| self.limbs.get(&place).cloned().unwrap_or(Limb::Number(0));
        (first..).take(count).map(limb).collect()
    }

    /// Memory grows to so many bytes from an address on.
    fn grow_bytes(&mut self, address: u32, bytes: u64) {
        if bytes > 0 {
            self.grow((u64::from(address) + bytes).div_ceil(u64::from(WORD_BYTES)));
        }
    }

    /// A word of memory onto the stack, or a number into memory.
    pub(super) fn wide_transfer(&mut self, byte: u8) -> Step<()> {
        let (address, place) = self.limb_place()?;
        self.gas += 3;
        self.grow_bytes(address, WORD_BYTES.into());
        if byte == op::MSTORE {
            let number = self.pop()?.exact()?;
            let limbs = number.into_limbs().into_iter().rev().map(Limb::Number);
            self.limbs.extend((place..).zip(limbs));
        } else {
            let limbs = self.limbs_at(place, WORD_LIMBS);
            let word = self.word_of(&limbs)?;
            self.stack.push(word);
        }
        Ok(())
    }

    /// The word that limbs are.
    fn word_of(&self, limbs: &[Limb]) -> Step<Symbol> {
        if let Some(bytes) = bytes_of(limbs) {
            return Ok(Symbol::number(U256::from_be_slice(&bytes), self.program.modulus));
        }
        if let Some(offset) = offset_of(limbs) {
            return self.word_of_calldata(offset);
        }
        match part_of(limbs) {
            Some((sum, lowest)) => {
                let lowest =
                    u16::try_from(lowest).or_else(|_| refuse("an element of less than 2¹⁶ bits is expected"))?;
                Ok(Symbol::Part(Arc::clone(sum), [lowest].into()))
            }
            None => refuse("a word of memory is of several things"),
        }
    }

    /// A word of calldata: the beginning of a number of more bytes, or one that the program reads.
    fn word_of_calldata(&self, offset: u64) -> Step<Symbol> {
        let numbers = self.program.words.iter().filter_map(parsed_number);
        let mut longer = numbers.filter(|&(_, at, more)| at == offset && more > 0);
        if let Some((atom, _, more)) = longer.next() {
            let bits = more.checked_mul(8).and_then(|bits| u16::try_from(bits).ok());
            let bits = bits.map_or_else(|| refuse("a number of less than 2¹³ bytes is expected"), Ok)?;
            return Ok(Symbol::Or([atom].into(), bits));
        }
        let read = self.program.parses.iter().find(|&&(_, at)| u64::from(at) == offset);
        let read = read.map(|&(value, _)| Symbol::Parsed(Atom::of(value)));
        read.map_or_else(|| refuse(format!("the program reads no word at byte {offset} of calldata")), Ok)
    }

    /// Bytes of memory, where its limbs are numbers.
    fn number_at(&self, from: u64, count: usize) -> Option<Vec<u8>> {
        let first = u32::try_from(from / u64::from(LIMB_BYTES)).ok()?;
        let before = (from % u64::from(LIMB_BYTES)) as usize; // below 8
        let limbs = (before + count).div_ceil(LIMB_BYTES as usize); // u32 to usize widens
        Some(bytes_of(&self.limbs_at(first, limbs))?[before..before + count].to_vec())
    }

    /// The modulus in memory, if it is a number of at most 768 bits.
    pub(super) fn wide_modulus(&self, from: u64, size: usize) -> Step<Option<Number>> {
        let bytes = self.number_at(from, size).map_or_else(|| refuse("no number is in memory there"), Ok)?;
        Ok(Number::try_from_be_slice(&bytes))
    }

    /// Slots of a transfer with memory, the address there, and limbs of a value.
    fn wide_moved(&mut self, byte: u8, first: U256, from: U256, count: U256) -> Step<(Range<usize>, u64, usize)> {
        let width = self.field()?.context()?.width_bytes();
        let mut value_bytes = width;
        if matches!(byte, LOADPX | STOREPX) {
            let bytes = self.code.get(self.next).copied().map(usize::from);
            self.next += 1;
            value_bytes = bytes.map_or_else(|| refuse("the code ends within the instruction"), Ok)?;
        }
        if value_bytes < width {
            return refuse(format!("values of at least {width} bytes are expected in memory, found {value_bytes}"));
        }
        let range = self.field()?.context()?.range(first, count)?;
        let from = self.inside(from, range.len() * value_bytes)?;
        Ok((range, from, limbs_in(value_bytes)?))
    }

    /// Values of memory into slots. Where a parsed number is not below p it halts, and the program fails.
    pub(super) fn wide_store(&mut self, byte: u8) -> Step<()> {
        let [first, from, count] = [self.pop()?.exact()?, self.pop()?.exact()?, self.pop()?.exact()?];
        let (range, from, size) = self.wide_moved(byte, first, from, count)?;
        let (mut sums, mut parsed) = (Vec::with_capacity(range.len()), Vec::new());
        self.budget.take(range.len() * size)?;
        let value_bytes = size * LIMB_BYTES as usize; // u32 to usize widens
        for address in (from..).step_by(value_bytes.max(1)).take(range.len()) {
            let (sum, condition) = self.wide_element(address, size)?;
            sums.push(sum);
            parsed.extend(condition);
        }
        if !self.halts_for(&parsed)? {
            return Ok(());
        }
        self.stored(byte, range, sums)
    }

    /// The element that a value of so many limbs in memory is, and when a store of it halts: a number, or one that is parsed, whose first bytes may be left
    /// out once they are known to be zero.
    fn wide_element(&self, address: u64, size: usize) -> Step<(Arc<Sum>, Option<Condition>)> {
        let p = self.program.modulus;
        if let Some(bytes) = self.number_at(address, size * LIMB_BYTES as usize) {
            // u32 to usize widens
            return match Number::try_from_be_slice(&bytes) {
                Some(number) if number < p => Ok((Arc::new(Sum::constant(number, p)), None)),
                _ => refuse(format!("a slot is to hold 0x{}, which is p or more", hex::encode(bytes))),
            };
        }
        let place = limb_number(address).map_or_else(|| refuse("a slot is to hold whole limbs"), Ok)?;
        let limbs = &self.limbs_at(place, size);
        let offset = offset_of(limbs).map_or_else(|| refuse("a slot is to hold a number that is parsed"), Ok)?;
        let bytes = u64::from(LIMB_BYTES) * limbs.len() as u64; // usize to u64 widens
        let bits = u16::try_from(8 * bytes).or_else(|_| refuse("a value of less than 2¹³ bytes is expected"))?;
        let is_it = |&(atom, at, more): &(Atom, u64, u64)| {
            let is_short = || self.known.is_known(&Condition::Above(atom, bits)) == Some(false);
            at <= offset && at + 32 + more == offset + bytes && (at == offset || is_short())
        };
        match self.program.words.iter().filter_map(parsed_number).find(is_it) {
            Some((atom, ..)) => Ok((Arc::new(Sum::atom(atom)), Some(Condition::NotBelow(atom)))),
            None => {
                refuse(format!("the program parses no number that is bytes {offset} to {} of calldata", offset + bytes))
            }
        }
    }

    /// Slots into memory.
    pub(super) fn wide_load(&mut self, byte: u8) -> Step<()> {
        let [from, first, count] = [self.pop()?.exact()?, self.pop()?.exact()?, self.pop()?.exact()?];
        let (range, from, size) = self.wide_moved(byte, first, from, count)?;
        let place = limb_number(from);
        let place = place.map_or_else(|| refuse(format!("an address of a limb is expected, found {from:#x}")), Ok)?;
        self.budget.take(range.len() * size)?;
        let field = self.field()?;
        let base = field.base(byte);
        let context = field.context()?;
        let price = base + context.prices.load * range.len() as u64; // usize to u64 widens
        let limbs = context.slots[range]
            .iter()
            .flat_map(|sum| (0..size).rev().map(|place| Limb::Element(Arc::clone(sum), LIMB_BITS * place)));
        let limbs: Vec<Limb> = limbs.collect();
        self.limbs.extend((place..).zip(limbs));
        self.gas += price.whole();
        Ok(())
    }

    /// Limbs of calldata, or bytes of the code, with zeros after its end.
    pub(super) fn wide_copy(&mut self, byte: u8) -> Step<()> {
        let (address, place) = self.limb_place()?;
        let [from, size] = [self.pop()?.exact()?, self.pop()?.exact()?];
        let size = usize::try_from(size).or_else(|_| refuse("a copy of less than 2⁶⁴ bytes is expected"))?;
        let limbs: Vec<Limb> = if byte == op::CODECOPY {
            self.limbs_of_code(place, from, size)?
        } else {
            let from = u32::try_from(from).or_else(|_| refuse("a copy from less than byte 2³² on is expected"))?;
            let places = (u64::from(from)..).step_by(LIMB_BYTES as usize); // u32 to usize widens
            places.take(limbs_in(size)?).map(Limb::Calldata).collect()
        };
        self.budget.take(limbs.len())?;
        self.gas += 3 + 3 * (size.div_ceil(WORD_BYTES as usize) as u64); // u32 to usize and usize to u64 widen
        self.grow_bytes(address, size as u64); // usize to u64 widens
        self.limbs.extend((place..).zip(limbs));
        Ok(())
    }

    /// So many bytes of the code for memory from a limb on: after them the last limb keeps the bytes of a number.
    fn limbs_of_code(&self, place: u32, from: U256, size: usize) -> Step<Vec<Limb>> {
        let rest = usize::try_from(from).ok().and_then(|from| self.code.get(from..));
        let rest = rest.map_or_else(|| refuse(format!("a copy from byte {from} on is none of the code")), Ok)?;
        let whole =
            size.checked_next_multiple_of(LIMB_BYTES as usize).ok_or("a copy of less than 2⁶⁴ bytes is expected")?; // u32 to usize widens
        let count = limbs_in(whole)?;
        let mut bytes: Vec<u8> = rest.iter().copied().chain(std::iter::repeat(0)).take(size).collect();
        if whole > size {
            let last = place.checked_add(u32::try_from(count - 1).or_else(|_| refuse("a limb below 2³² is expected"))?);
            let kept = last.and_then(|last| bytes_of(&self.limbs_at(last, 1)));
            let kept =
                kept.map_or_else(|| refuse("the last limb of the copy has bytes after it that are no number"), Ok)?;
            bytes.extend(&kept[kept.len() - (whole - size)..]);
        }
        Ok(bytes.as_chunks().0.iter().map(|&limb| Limb::Number(u64::from_be_bytes(limb))).collect())
    }

    /// The return, which is that of all ends.
    pub(super) fn wide_return(&mut self) -> Step<()> {
        let ((address, place), size) = (self.limb_place()?, self.pop()?.exact()?);
        for goal in self.goals() {
            match goal {
                Goal::ReturnsBytes(bytes, results) => self.shows_all(place, size, *bytes, results)?,
                Goal::Fails => return refuse("the code returns where the program may fail"),
                Goal::Again(_) => return refuse("the code returns where the program may go on"),
                Goal::Returns(_) | Goal::Tells(_) => return refuse("values of more than 32 bytes are expected"),
            }
        }
        let size = u64::try_from(size).or_else(|_| refuse("less than 2⁶⁴ bytes are to be returned"))?;
        self.grow_bytes(address, size);
        Ok(())
    }

    /// The return of these values, each of so many bytes.
    fn shows_all(&self, place: u32, size: U256, bytes: u32, results: &[Value]) -> Step<()> {
        let expected = results.len() as u64 * u64::from(bytes); // usize to u64 widens
        if size != U256::from(expected) {
            return refuse(format!("{expected} bytes are to be returned, not {size}"));
        }
        let each = limbs_in(bytes as usize)?; // u32 to usize widens
        let places = (place..).step_by(each.max(1));
        for (place, &result) in places.zip(results) {
            let expected = self.tables.sum(result);
            if !shows(&self.limbs_at(place, each), expected, self.program.modulus) {
                return refuse(format!("v{} = ({expected}) is to be returned, found another value", result.0));
            }
        }
        Ok(())
    }
}
