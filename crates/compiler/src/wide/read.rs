//! The judge of blocks over a wide field: reads stack and memory code back, and compares what slots hold with the program's block. A call is followed into
//! its subroutine and back: what it does is read as if it stood in the block.
//!
//! A word is known modulo each of the four moduli as a sum of multiples of unknowns, and by bounds. An unknown is the
//! integer of a slot, a product of two sums of such integers, or a word without other knowledge: the result of MULMOD
//! is known modulo its own modulus, and an unknown modulo the others. When the four words of a slot are written, either
//! all are the same sum of integers of slots, or they are a reduction: the quotients are computed from T with the
//! constants as they are computed here, u₁ is reduced, u₂ is the rest, and 0 ≤ r < B, which makes u₁ + b₁u₂ the integer
//! itself. Constants of the code are numbers like others: a wrong one leaves other multiples, and bounds that do not
//! hold.

// style: S2: what each instruction makes of words, then the two ways in which four words are a value.

use super::emit::VALUE_BYTES;
use super::system::{Constant, RESIDUES, Residue, System};
use crate::words::read::{Element, Elements, Made, moved};
use foldhash::{HashMap, HashMapExt};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer as _;
use num_traits::{One, Signed, Zero};
use residue_isa::opcode::evm;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// An unknown, by its number.
type Unknown = usize;

/// The number 1 as an unknown.
const ONE: Unknown = 0;

/// Multiples of unknowns, below the modulus, none of them 0.
type Sum = BTreeMap<Unknown, BigUint>;

/// A factor of a product: multiples of integers of slots without a common factor, the first of them positive.
type Factor = Vec<(Unknown, i64)>;

/// Multiples in a factor of a product stay below this.
const MULTIPLE_END: i64 = 1 << 20;

/// A word.
#[derive(Debug, Clone)]
struct Word {
    /// Its sum modulo each modulus, by [`Residue::place`].
    is: [Rc<Sum>; 4],
    /// The least that it is.
    least: BigUint,
    /// The most that it is.
    most: BigUint,
    /// The number, where it is one.
    number: Option<BigUint>,
    /// The unknown that it is as an integer, where it is one.
    unknown: Option<Unknown>,
}

/// Meaning of an unknown.
#[derive(Debug, Clone)]
enum Meaning {
    /// The number 1.
    One,
    /// The integer of a slot: its element, and the most that it is; the least is 0.
    Integer(Element, BigUint),
    /// The product of two factors, the lesser one first.
    Product(Factor, Factor),
    /// A word that is this sum modulo the modulus, and reduced.
    Reduced(Residue, Rc<Sum>),
    /// A word without further knowledge.
    Opaque,
}

/// Contents of the places that code names.
#[derive(Debug)]
pub struct Places {
    /// The address of slot 0; slots stand one after the other.
    pub base: u32,
    /// Contents of slots at the start of the block, by their addresses.
    pub before: Vec<(u32, Element)>,
    /// The addresses of slots that the block may write.
    pub own: Vec<u32>,
    /// Required contents of slots after it.
    pub after: Vec<(u32, Element)>,
}

/// Code, where a block stands in it.
#[derive(Debug, Clone)]
pub struct Text<'a> {
    /// All of it.
    pub code: &'a [u8],
    /// Targets of jumps, as [`targets`] finds them.
    pub targets: &'a BTreeSet<usize>,
    /// The bytes of the block.
    pub block: Range<usize>,
}

/// The offsets of each JUMPDEST that is no part of a push.
pub fn targets(code: &[u8]) -> BTreeSet<usize> {
    let mut at = 0;
    std::iter::from_fn(|| {
        let here = at;
        let &opcode = code.get(here)?;
        at += 1 + immediate_bytes(opcode);
        Some((here, opcode))
    })
    .filter_map(|(at, opcode)| (opcode == evm::JUMPDEST).then_some(at))
    .collect()
}

/// Bytes of the number that an opcode pushes.
fn immediate_bytes(opcode: u8) -> usize {
    match opcode {
        evm::PUSH0..=evm::PUSH32 => usize::from(opcode - evm::PUSH0),
        _ => 0,
    }
}

/// Reads a block from its beginning to its end, through all subroutines that it calls; an error says what is wrong with it. The elements that it stores
/// come back; those that subroutines store, at the offset of the call's end.
pub fn check(system: &System, elements: &mut Elements, places: &Places, text: &Text<'_>) -> Result<Made, String> {
    let mut reading = Reading {
        system,
        elements,
        stack: Vec::new(),
        memory: HashMap::new(),
        written: HashMap::new(),
        meanings: vec![Meaning::One],
        products: HashMap::new(),
        stored: Vec::new(),
    };
    for &(address, element) in &places.before {
        let integer = reading.unknown(Meaning::Integer(element, system.integer_max()));
        let most = RESIDUES.map(|residue| system.word_max(residue));
        reading.hold(address, integer, &most);
    }
    let mut made = Made::new();
    let (mut at, mut jumps, mut end) = (text.block.start, 0, text.block.start);
    while at != text.block.end {
        let opcode = *text.code.get(at).ok_or("a block goes on after the end of the code")?;
        let next = at + 1 + immediate_bytes(opcode);
        let is_within = text.block.contains(&at);
        if is_within && next > text.block.end {
            return Err("a PUSH ends after the block".to_owned());
        }
        if is_within {
            end = next;
        }
        let immediate = text.code.get(at + 1..next).ok_or("a PUSH ends after the code")?;
        at = match opcode {
            evm::JUMP => {
                jumps += 1;
                // A call takes more bytes than two.
                if jumps > text.block.len() {
                    return Err("a block jumps without end".to_owned());
                }
                let target = reading.address()? as usize; // u32 to usize widens
                if !text.targets.contains(&target) {
                    return Err(format!("a block jumps to offset {target}, where no jump may go"));
                }
                target
            }
            evm::JUMPDEST => next,
            _ => {
                reading.instruction(places, opcode, immediate)?;
                made.extend(reading.stored.drain(..).map(|element| (end, element)));
                next
            }
        };
    }
    if !reading.stack.is_empty() {
        return Err(format!("{} words are left on the stack", reading.stack.len()));
    }
    for &(address, element) in &places.after {
        reading.require(address, element)?;
    }
    Ok(made)
}

struct Reading<'a> {
    system: &'a System,
    elements: &'a mut Elements,
    stack: Vec<Word>,
    memory: HashMap<u32, Word>,
    /// For each slot that is being written which of its words are.
    written: HashMap<u32, [bool; 4]>,
    meanings: Vec<Meaning>,
    products: HashMap<(Factor, Factor), Unknown>,
    /// Elements of slots that have been written since they were last taken.
    stored: Vec<Element>,
}

impl Reading<'_> {
    fn unknown(&mut self, meaning: Meaning) -> Unknown {
        self.meanings.push(meaning);
        self.meanings.len() - 1
    }

    /// Fills a slot with the words of an integer.
    fn hold(&mut self, address: u32, integer: Unknown, most: &[BigUint; 4]) {
        for (residue, most) in RESIDUES.into_iter().zip(most) {
            let opaque = self.unknown(Meaning::Opaque);
            let mut word = self.whole(opaque, most.clone());
            word.is[residue.place()] = Rc::new(Sum::from([(integer, BigUint::one())]));
            self.memory.insert(address + 32 * (residue.place() as u32), word); // one of four
        }
    }

    /// A word that is an unknown.
    fn whole(&self, unknown: Unknown, most: BigUint) -> Word {
        let is = Rc::new(Sum::from([(unknown, BigUint::one())]));
        Word { is: [(); 4].map(|()| is.clone()), least: BigUint::ZERO, most, number: None, unknown: Some(unknown) }
    }

    fn constant(&self, number: &BigUint) -> Word {
        let is = RESIDUES.map(|residue| {
            let value = number % self.system.modulus(residue);
            let terms = if value.is_zero() { Sum::new() } else { Sum::from([(ONE, value)]) };
            Rc::new(terms)
        });
        Word { is, least: number.clone(), most: number.clone(), number: Some(number.clone()), unknown: None }
    }

    fn pop(&mut self) -> Result<Word, String> {
        self.stack.pop().ok_or_else(|| "something below the block is read".to_owned())
    }

    fn instruction(&mut self, places: &Places, opcode: u8, immediate: &[u8]) -> Result<(), String> {
        match opcode {
            evm::PUSH0..=evm::PUSH32 => {
                let word = self.constant(&BigUint::from_bytes_be(immediate));
                self.stack.push(word);
            }
            evm::POP | evm::DUP1..=evm::SWAP16 => moved(&mut self.stack, opcode)?,
            evm::MLOAD => {
                let address = self.address()?;
                let word = self.memory.get(&address).ok_or("memory is read that holds no known value")?;
                self.stack.push(word.clone());
            }
            evm::MSTORE => {
                let (address, word) = (self.address()?, self.pop()?);
                self.write(places, address, word)?;
            }
            evm::ADD | evm::SUB | evm::MUL | evm::MOD | evm::MULMOD => {
                let word = self.arithmetic(opcode)?;
                self.stack.push(word);
            }
            _ => return Err(format!("opcode {opcode:#04x} is none of a block over a wide field")),
        }
        Ok(())
    }

    fn address(&mut self) -> Result<u32, String> {
        let number = self.pop()?.number.and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| "an address is no known number".to_owned())
    }

    /// x + y or x − y.
    fn sum(&self, x: &Word, y: &Word, is_difference: bool, residue: Residue) -> Rc<Sum> {
        let modulus = self.system.modulus(residue);
        let mut terms = Sum::clone(&x.is[residue.place()]);
        for (term, multiple) in y.is[residue.place()].iter() {
            let entry = terms.entry(*term).or_default();
            *entry += if is_difference { modulus - multiple } else { multiple.clone() };
            *entry %= modulus;
            if entry.is_zero() {
                terms.remove(term);
            }
        }
        Rc::new(terms)
    }

    /// The product, with constants of the factors multiplied out; `None` if a factor is no sum of integers of slots and
    /// the other no constant.
    fn product(&mut self, x: &Word, y: &Word, residue: Residue) -> Option<Rc<Sum>> {
        let modulus = self.system.modulus(residue).clone();
        let mut constants = [BigUint::ZERO, BigUint::ZERO];
        let mut rests = [x, y].map(|word| Sum::clone(&word.is[residue.place()]));
        for (rest, constant) in rests.iter_mut().zip(&mut constants) {
            *constant = rest.remove(&ONE).unwrap_or_default();
        }
        let mut sum = Sum::new();
        let mut add = |unknown: Unknown, multiple: BigUint| {
            let entry = sum.entry(unknown).or_default();
            *entry = (&*entry + multiple) % &modulus;
            if entry.is_zero() {
                sum.remove(&unknown);
            }
        };
        add(ONE, &constants[0] * &constants[1]);
        for (rest, constant) in rests.iter().zip(constants.iter().rev()) {
            rest.iter().for_each(|(&unknown, multiple)| add(unknown, multiple * constant));
        }
        if rests.iter().all(|rest| !rest.is_empty()) {
            let [(x, i), (y, j)] = [self.factor(&rests[0], &modulus)?, self.factor(&rests[1], &modulus)?];
            let key = if x <= y { (x, y) } else { (y, x) };
            let next = self.meanings.len();
            let unknown = *self.products.entry(key.clone()).or_insert(next);
            if unknown == next {
                self.meanings.push(Meaning::Product(key.0, key.1));
            }
            let multiple = BigInt::from(i) * j;
            add(unknown, multiple.mod_floor(&modulus.clone().into()).magnitude().clone());
        }
        Some(Rc::new(sum))
    }

    /// A sum of integers of slots as a factor, and the number to multiply it by.
    fn factor(&self, sum: &Sum, modulus: &BigUint) -> Option<(Factor, i64)> {
        let mut factor = Factor::new();
        for (&unknown, multiple) in sum {
            let Meaning::Integer(..) = self.meanings[unknown] else { return None };
            let negative = i64::try_from(modulus - multiple).ok().map(|multiple| -multiple);
            let multiple = i64::try_from(multiple.clone()).ok().or(negative)?;
            factor.push((unknown, Some(multiple).filter(|multiple| multiple.abs() < MULTIPLE_END)?));
        }
        let common = factor.iter().fold(0, |common: i64, (_, multiple)| common.gcd(multiple)) * factor[0].1.signum();
        factor.iter_mut().for_each(|(_, multiple)| *multiple /= common);
        Some((factor, common))
    }

    /// A word reduced by a modulus, with its sum there.
    fn reduced(&mut self, residue: Residue, is: Rc<Sum>) -> Word {
        let unknown = self.unknown(Meaning::Reduced(residue, is.clone()));
        let mut word = self.whole(unknown, self.system.modulus(residue) - 1u8);
        word.is[residue.place()] = is;
        word
    }

    /// The modulus that a word is.
    fn residue(&self, word: &Word) -> Result<Residue, String> {
        let is_it = |residue: &Residue| word.number.as_ref() == Some(self.system.modulus(*residue));
        let found = RESIDUES.into_iter().find(is_it);
        found.ok_or_else(|| "something is reduced by a number that is none of the moduli".to_owned())
    }

    fn arithmetic(&mut self, opcode: u8) -> Result<Word, String> {
        let (x, y) = (self.pop()?, self.pop()?);
        let limit = BigUint::one() << 256u32;
        match opcode {
            evm::MOD => {
                let residue = self.residue(&y)?;
                Ok(self.reduced(residue, x.is[residue.place()].clone()))
            }
            evm::MULMOD => {
                let modulus = self.pop()?;
                let residue = self.residue(&modulus)?;
                let is = self.product(&x, &y, residue).ok_or(TOO_LONG)?;
                Ok(self.reduced(residue, is))
            }
            evm::MUL => {
                let most = &x.most * &y.most;
                let is = self.product(&x, &y, Residue::A2).ok_or(TOO_LONG)?;
                let mut word = self.reduced(Residue::A2, is);
                if most < limit {
                    word.most = most;
                    for residue in [Residue::A1, Residue::B1, Residue::B2] {
                        // A quotient of a small sum stays an unknown.
                        let is = self.product(&x, &y, residue);
                        if let Some(is) = is.filter(|is| is.keys().all(|&unknown| self.is_of_slots(unknown))) {
                            word.is[residue.place()] = is;
                        }
                    }
                }
                Ok(word)
            }
            _ => {
                let is_difference = opcode == evm::SUB;
                // An address and an offset.
                if let (false, Some(x), Some(y)) = (is_difference, &x.number, &y.number) {
                    return Ok(self.constant(&((x + y) % limit)));
                }
                let range = match is_difference {
                    true => (x.least >= y.most).then(|| [&x.least - &y.most, &x.most - &y.least]),
                    false => Some([&x.least + &y.least, &x.most + &y.most]).filter(|[_, most]| *most < limit),
                };
                let is = self.sum(&x, &y, is_difference, Residue::A2);
                let mut word = self.reduced(Residue::A2, is);
                // Where it may wrap around it is known modulo 2²⁵⁶ only.
                if let Some([least, most]) = range {
                    (word.least, word.most) = (least, most);
                    for residue in [Residue::A1, Residue::B1, Residue::B2] {
                        word.is[residue.place()] = self.sum(&x, &y, is_difference, residue);
                    }
                }
                Ok(word)
            }
        }
    }

    fn write(&mut self, places: &Places, address: u32, word: Word) -> Result<(), String> {
        let offset = address.checked_sub(places.base).filter(|offset| offset % 32 == 0);
        let slot = offset.map(|offset| address - offset % VALUE_BYTES).filter(|slot| places.own.contains(slot));
        let slot = slot.ok_or("memory is written that belongs to no value of the block")?;
        self.memory.insert(address, word);
        let written = self.written.entry(slot).or_default();
        written[((address - slot) / 32) as usize] = true; // one of four
        if *written == [true; 4] {
            self.written.remove(&slot);
            self.resolve(slot)?;
        }
        Ok(())
    }

    fn words(&self, slot: u32) -> Result<[Word; 4], String> {
        let word = |place: u32| self.memory.get(&(slot + 32 * place)).cloned().ok_or("a slot has no words");
        Ok([word(0)?, word(1)?, word(2)?, word(3)?])
    }

    /// Determines the content of a slot when all its words have been written.
    fn resolve(&mut self, slot: u32) -> Result<(), String> {
        let words = self.words(slot)?;
        let lower = &words[Residue::B1.place()];
        let integer = match lower.is[Residue::B1.place()].keys().all(|&unknown| self.is_of_slots(unknown)) {
            true => self.sum_of_slots(&words)?,
            false => self.reduction(&words)?,
        };
        if let Meaning::Integer(element, _) = integer {
            self.stored.push(element);
        }
        let integer = self.unknown(integer);
        self.hold(slot, integer, &words.map(|word| word.most));
        Ok(())
    }

    fn is_of_slots(&self, unknown: Unknown) -> bool {
        matches!(self.meanings[unknown], Meaning::One | Meaning::Integer(..) | Meaning::Product(..))
    }

    /// The integer that has these residues, nearest to 0.
    fn integer(&self, residues: &[(Residue, BigUint)]) -> BigInt {
        let (mut value, mut modulus, mut before) = (BigUint::ZERO, BigUint::one(), Vec::new());
        for (residue, other) in residues {
            let next = self.system.modulus(*residue);
            let inverse = self.system.inverse_of(&before, *residue);
            before.push(*residue);
            let step = (other + next - &value % next) * inverse % next;
            value += step * &modulus;
            modulus *= next;
        }
        let value = BigInt::from(value);
        let modulus = BigInt::from(modulus);
        if &value * 2 > modulus { value - modulus } else { value }
    }

    /// Four words that are the same sum of integers of slots.
    fn sum_of_slots(&mut self, words: &[Word; 4]) -> Result<Meaning, String> {
        let sums = RESIDUES.map(|residue| words[residue.place()].is[residue.place()].clone());
        let mut terms = Vec::new();
        for term in all_terms(&sums) {
            if !self.is_of_slots(term) || matches!(self.meanings[term], Meaning::Product(..)) {
                return Err("a slot is a sum of products that is not reduced".to_owned());
            }
            let residues = RESIDUES.map(|residue| (residue, multiple(&sums[residue.place()], &term)));
            terms.push((term, BigInt::ZERO, self.integer(&residues)));
        }
        let [least, most] = self.range(&terms);
        let a = BigInt::from(self.system.a.clone());
        let (least, most) = (least.div_floor(&a), most.div_floor(&a));
        if least.is_negative() {
            return Err("the integer of a slot may be below zero".to_owned());
        }
        Ok(Meaning::Integer(self.element(&terms), most.magnitude().clone()))
    }

    /// The most that an integer of a slot is; 1 for the number 1.
    fn most(&self, unknown: Unknown) -> BigInt {
        match &self.meanings[unknown] {
            Meaning::Integer(_, most) => most.clone().into(),
            _ => BigInt::one(),
        }
    }

    /// The least and the most of the sum of k + A·l times each unknown, with all products multiplied out.
    fn range(&self, terms: &[(Unknown, BigInt, BigInt)]) -> [BigInt; 2] {
        let one: Factor = vec![(ONE, 1)];
        let mut expanded: BTreeMap<[Unknown; 2], BigInt> = BTreeMap::new();
        for (unknown, product, linear) in terms {
            let multiple = product + linear * BigInt::from(self.system.a.clone());
            let alone = vec![(*unknown, 1)];
            let (x, y) = match &self.meanings[*unknown] {
                Meaning::Product(x, y) => (x, y),
                _ => (&one, &alone),
            };
            for &(a, i) in x {
                for &(b, j) in y {
                    *expanded.entry([a.min(b), a.max(b)]).or_default() += &multiple * i * j;
                }
            }
        }
        let mut range = [BigInt::ZERO, BigInt::ZERO];
        for ([a, b], multiple) in expanded {
            let most = &multiple * self.most(a) * self.most(b);
            if b == ONE {
                range[0] += &most;
                range[1] += most;
            } else {
                range[usize::from(most.is_positive())] += most;
            }
        }
        range
    }

    /// The element of (Σ (k + A·l)·unknown)/A, where an integer X stands for X/A.
    fn element(&mut self, terms: &[(Unknown, BigInt, BigInt)]) -> Element {
        let p = BigInt::from(self.system.p.clone());
        let a = BigInt::from(self.system.over_a.clone());
        let mut sum = self.elements.constant(&BigUint::ZERO);
        for (unknown, product, linear) in terms {
            let (of, multiple) = match self.meanings[*unknown].clone() {
                Meaning::Integer(element, _) => (element, product * &a + linear),
                Meaning::Product(x, y) => {
                    let [x, y] = [x, y].map(|factor| self.element_of(&factor));
                    (self.elements.product(x, y), product.clone())
                }
                _ => (self.elements.constant(&BigUint::one()), (product * &a + linear) * &a),
            };
            sum = self.elements.combined(sum, of, multiple.mod_floor(&p).magnitude());
        }
        sum
    }

    /// The element that a factor stands for.
    fn element_of(&mut self, factor: &Factor) -> Element {
        let p = BigInt::from(self.system.p.clone());
        let mut sum = self.elements.constant(&BigUint::ZERO);
        for &(unknown, multiple) in factor {
            if let Meaning::Integer(element, _) = self.meanings[unknown] {
                sum = self.elements.combined(sum, element, BigInt::from(multiple).mod_floor(&p).magnitude());
            }
        }
        sum
    }

    /// Four words that are a reduction.
    fn reduction(&mut self, words: &[Word; 4]) -> Result<Meaning, String> {
        let system = self.system;
        let known = |residue: Residue| &words[residue.place()].is[residue.place()];
        let no_reduction = || "the words of a slot are neither one sum nor one reduction".to_owned();
        // u₁ and u₂, by what is made of them.
        let lower = words[Residue::B1.place()].unknown.ok_or_else(no_reduction)?;
        let Meaning::Reduced(Residue::B1, lower_is) = self.meanings[lower].clone() else { return Err(no_reduction()) };
        let others = known(Residue::A1).keys().filter(|&&unknown| unknown != lower);
        let &[&digit] = &others.collect::<Vec<_>>()[..] else { return Err(no_reduction()) };
        let Meaning::Reduced(Residue::B2, digit_is) = self.meanings[digit].clone() else { return Err(no_reduction()) };
        let b1 = system.modulus(Residue::B1);
        for residue in [Residue::A1, Residue::A2] {
            let expected = Sum::from([(lower, BigUint::one()), (digit, b1 % system.modulus(residue))]);
            if **known(residue) != expected {
                return Err(format!("the word modulo {residue:?} is not u₁ + b₁·u₂"));
            }
        }
        // u₂ = (r − u₁)/b₁ mod b₂.
        let b2 = system.modulus(Residue::B2);
        let mut again: Sum = digit_is.iter().map(|(&term, multiple)| (term, multiple * b1 % b2)).collect();
        let entry = again.entry(lower).or_default();
        *entry = (&*entry + 1u8) % b2;
        again.retain(|_, multiple| !multiple.is_zero());
        if again != **known(Residue::B2) {
            return Err("u₂ is not (r − u₁)/b₁ modulo b₂".to_owned());
        }
        self.reduced_sum([lower_is, known(Residue::B2).clone()])
    }

    /// Meaning of r = (T + q·p)/A from its sums modulo b₁ and b₂.
    fn reduced_sum(&mut self, bases: [Rc<Sum>; 2]) -> Result<Meaning, String> {
        let system = self.system;
        let mut quotients: [Option<Unknown>; 2] = [None; 2];
        let mut rest = Vec::new();
        for (residue, sum) in [Residue::B1, Residue::B2].into_iter().zip(&bases) {
            let mut terms = Sum::clone(sum);
            for (quotient, (of, constant)) in quotients
                .iter_mut()
                .zip([(Residue::A1, Constant::First(residue)), (Residue::A2, Constant::Second(residue))])
            {
                let is_quotient =
                    |unknown: Unknown| matches!(self.meanings[unknown], Meaning::Reduced(by, _) if by == of);
                let found = terms.keys().copied().find(|&unknown| is_quotient(unknown));
                let term = found.ok_or_else(|| format!("no quotient modulo {of:?} is in r modulo {residue:?}"))?;
                if terms.remove(&term).as_ref() != Some(system.constant(constant)) {
                    return Err(format!("the factor of the quotient modulo {of:?} in r modulo {residue:?} is another"));
                }
                if quotient.replace(term).is_some_and(|other| other != term) {
                    return Err("r has one quotient modulo b₁ and another modulo b₂".to_owned());
                }
            }
            rest.push(Rc::new(terms));
        }
        // T modulo a₁ and 2²⁵⁶: what the quotients are, by −p times the other modulus.
        let mut first = Vec::new();
        for (quotient, residue, other) in
            [(quotients[0], Residue::A1, Residue::A2), (quotients[1], Residue::A2, Residue::A1)]
        {
            let Some(Meaning::Reduced(_, is)) = quotient.map(|quotient| self.meanings[quotient].clone()) else {
                return Err("r has no quotient".to_owned());
            };
            let modulus = system.modulus(residue);
            let factor = modulus - &system.p * system.modulus(other) % modulus;
            let terms: Sum = is.iter().map(|(&term, multiple)| (term, multiple * &factor % modulus)).collect();
            first.push(Rc::new(terms));
        }
        let sums = [first[0].clone(), first[1].clone(), rest[0].clone(), rest[1].clone()];
        let mut terms = Vec::new();
        for term in all_terms(&sums) {
            if !self.is_of_slots(term) {
                return Err("something is reduced that is no sum of products of slots".to_owned());
            }
            let of = |place: usize, residue| (residue, multiple(&sums[place], &term));
            let product = self.integer(&[of(0, Residue::A1), of(1, Residue::A2)]);
            let both = self.integer(&[of(2, Residue::B1), of(3, Residue::B2)]);
            let base = BigInt::from(system.b.clone());
            let mut linear = (both - &product).mod_floor(&base);
            if &linear * 2 > base {
                linear -= base;
            }
            if matches!(self.meanings[term], Meaning::Product(..)) && !linear.is_zero() {
                return Err("a product has another multiple in base A than in base B".to_owned());
            }
            terms.push((term, product, linear));
        }
        let [least, most] = self.range(&terms);
        // q₁ < a₁ and q₂ < 2²⁵⁶.
        let quotient = &system.a * 2u8 - system.modulus(Residue::A1) - system.modulus(Residue::A2);
        let most = (most + BigInt::from(quotient * &system.p)).div_floor(&system.a.clone().into());
        if least.is_negative() {
            return Err("what is reduced may be below zero".to_owned());
        }
        if most >= system.b.clone().into() {
            return Err("a reduction may come to B or more".to_owned());
        }
        Ok(Meaning::Integer(self.element(&terms), most.magnitude().clone()))
    }

    /// Checks that a slot holds the element, in the form of values between blocks.
    fn require(&self, slot: u32, element: Element) -> Result<(), String> {
        let words = self.words(slot)?;
        let mut integers = Vec::new();
        for residue in RESIDUES {
            let word = &words[residue.place()];
            let only = word.is[residue.place()].iter().next().filter(|_| word.is[residue.place()].len() == 1);
            match only {
                Some((&integer, one)) if one.is_one() => integers.push(integer),
                _ => return Err(format!("the slot at {slot} holds no value after the block")),
            }
            if word.most > self.system.word_max(residue) {
                return Err(format!("the word modulo {residue:?} at {slot} may be too long after the block"));
            }
        }
        match &self.meanings[integers[0]] {
            _ if integers.iter().any(|&integer| integer != integers[0]) => {
                Err(format!("the slot at {slot} holds words of several values after the block"))
            }
            Meaning::Integer(found, _) if *found != element => {
                Err(format!("the slot at {slot} holds another value after the block"))
            }
            Meaning::Integer(_, most) if *most > self.system.integer_max() => {
                Err(format!("the integer at {slot} may be too large after the block"))
            }
            Meaning::Integer(..) => Ok(()),
            _ => Err(format!("the slot at {slot} holds no value after the block")),
        }
    }
}

/// Error for a product that cannot be followed.
const TOO_LONG: &str = "a product is of other things than sums of values";

/// The unknowns of some sums, each once.
fn all_terms(sums: &[Rc<Sum>; 4]) -> Vec<Unknown> {
    let mut terms: Vec<Unknown> = sums.iter().flat_map(|sum| sum.keys().copied()).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn multiple(sum: &Sum, term: &Unknown) -> BigUint {
    sum.get(term).cloned().unwrap_or_default()
}
