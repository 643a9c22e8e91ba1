//! The judge of blocks over a wide field: reads stack and memory code back, and compares what slots hold with the program's block. A call is followed into
//! its subroutine and back: what it does is read as if it stood in the block.
//!
//! A word is known modulo each of the moduli as a sum of multiples of unknowns, and by bounds. An unknown is the
//! integer of a slot, a product of two sums of such integers, or a word without other knowledge: the result of MULMOD
//! is known modulo its own modulus, and an unknown modulo the others. When all words of a slot are written, either
//! all are the same sum of integers of slots, or they are a reduction: the quotients are computed from T with the
//! constants as they are computed here, digits are reduced, each is what those before it leave, and 0 ≤ r < B, which makes u₀ + b₀(u₁ + …) the integer
//! itself. Constants of the code are numbers like others: a wrong one leaves other multiples, and bounds that do not
//! hold.

// style: S2: what each instruction makes of words, then the two ways in which words are a value.

use super::system::{Constant, POWER, Residue, System};
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
    /// Its sum modulo each modulus, by [`System::place`].
    is: Vec<Rc<Sum>>,
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
        let most: Vec<BigUint> = system.residues().iter().map(|&residue| system.word_max(residue)).collect();
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
    written: HashMap<u32, BTreeSet<u32>>,
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
    fn hold(&mut self, address: u32, integer: Unknown, most: &[BigUint]) {
        for ((place, most), at) in most.iter().enumerate().zip((address..).step_by(32)) {
            let opaque = self.unknown(Meaning::Opaque);
            let mut word = self.whole(opaque, most.clone());
            word.is[place] = Rc::new(Sum::from([(integer, BigUint::one())]));
            self.memory.insert(at, word);
        }
    }

    /// The word's sum modulo a modulus.
    fn is_of<'w>(&self, word: &'w Word, residue: Residue) -> &'w Rc<Sum> {
        &word.is[self.system.place(residue)]
    }

    /// A word that is an unknown.
    fn whole(&self, unknown: Unknown, most: BigUint) -> Word {
        let is = Rc::new(Sum::from([(unknown, BigUint::one())]));
        Word {
            is: vec![is; self.system.residues().len()],
            least: BigUint::ZERO,
            most,
            number: None,
            unknown: Some(unknown),
        }
    }

    fn constant(&self, number: &BigUint) -> Word {
        let is = self.system.residues().iter().map(|&residue| {
            let value = number % self.system.modulus(residue);
            let terms = if value.is_zero() { Sum::new() } else { Sum::from([(ONE, value)]) };
            Rc::new(terms)
        });
        Word {
            is: is.collect(),
            least: number.clone(),
            most: number.clone(),
            number: Some(number.clone()),
            unknown: None,
        }
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
        let mut terms = Sum::clone(self.is_of(x, residue));
        for (term, multiple) in self.is_of(y, residue).iter() {
            let entry = terms.entry(*term).or_default();
            *entry += if is_difference { &modulus - multiple } else { multiple.clone() };
            *entry %= &modulus;
            if entry.is_zero() {
                terms.remove(term);
            }
        }
        Rc::new(terms)
    }

    /// The product, with constants of the factors multiplied out; `None` if a factor is no sum of integers of slots and
    /// the other no constant.
    fn product(&mut self, x: &Word, y: &Word, residue: Residue) -> Option<Rc<Sum>> {
        let modulus = self.system.modulus(residue);
        let mut constants = [BigUint::ZERO, BigUint::ZERO];
        let mut rests = [x, y].map(|word| Sum::clone(self.is_of(word, residue)));
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
        word.is[self.system.place(residue)] = is;
        word
    }

    /// The modulus that a word is.
    fn residue(&self, word: &Word) -> Result<Residue, String> {
        let is_it = |residue: &Residue| word.number == Some(self.system.modulus(*residue));
        let found = self.system.residues().iter().copied().find(is_it);
        found.ok_or_else(|| "something is reduced by a number that is none of the moduli".to_owned())
    }

    fn arithmetic(&mut self, opcode: u8) -> Result<Word, String> {
        let (x, y) = (self.pop()?, self.pop()?);
        let limit = BigUint::one() << 256u32;
        match opcode {
            evm::MOD => {
                let residue = self.residue(&y)?;
                Ok(self.reduced(residue, self.is_of(&x, residue).clone()))
            }
            evm::MULMOD => {
                let modulus = self.pop()?;
                let residue = self.residue(&modulus)?;
                let is = self.product(&x, &y, residue).ok_or(TOO_LONG)?;
                Ok(self.reduced(residue, is))
            }
            evm::MUL => {
                let most = &x.most * &y.most;
                let is = self.product(&x, &y, POWER).ok_or(TOO_LONG)?;
                let mut word = self.reduced(POWER, is);
                if most < limit {
                    word.most = most;
                    for &residue in &self.system.residues()[1..] {
                        // A quotient of a small sum stays an unknown.
                        let is = self.product(&x, &y, residue);
                        if let Some(is) = is.filter(|is| is.keys().all(|&unknown| self.is_of_slots(unknown))) {
                            word.is[self.system.place(residue)] = is;
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
                let is = self.sum(&x, &y, is_difference, POWER);
                let mut word = self.reduced(POWER, is);
                // Where it may wrap around it is known modulo 2²⁵⁶ only.
                if let Some([least, most]) = range {
                    (word.least, word.most) = (least, most);
                    for &residue in &self.system.residues()[1..] {
                        word.is[self.system.place(residue)] = self.sum(&x, &y, is_difference, residue);
                    }
                }
                Ok(word)
            }
        }
    }

    fn write(&mut self, places: &Places, address: u32, word: Word) -> Result<(), String> {
        let offset = address.checked_sub(places.base).filter(|offset| offset % 32 == 0);
        let value_bytes = self.system.value_bytes();
        let slot = offset.map(|offset| address - offset % value_bytes).filter(|slot| places.own.contains(slot));
        let slot = slot.ok_or("memory is written that belongs to no value of the block")?;
        self.memory.insert(address, word);
        let written = self.written.entry(slot).or_default();
        written.insert(address);
        if written.len() == self.system.residues().len() {
            self.written.remove(&slot);
            self.resolve(slot)?;
        }
        Ok(())
    }

    fn words(&self, slot: u32) -> Result<Vec<Word>, String> {
        let word = |address| self.memory.get(&address).cloned().ok_or_else(|| "a slot has no words".to_owned());
        (slot..).step_by(32).take(self.system.residues().len()).map(word).collect()
    }

    /// Determines the content of a slot when all its words have been written.
    fn resolve(&mut self, slot: u32) -> Result<(), String> {
        let words = self.words(slot)?;
        let first = Residue::B(0);
        let lower = &words[self.system.place(first)];
        let integer = match self.is_of(lower, first).keys().all(|&unknown| self.is_of_slots(unknown)) {
            true => self.sum_of_slots(&words)?,
            false => self.reduction(&words)?,
        };
        if let Meaning::Integer(element, _) = integer {
            self.stored.push(element);
        }
        let integer = self.unknown(integer);
        self.hold(slot, integer, &words.into_iter().map(|word| word.most).collect::<Vec<_>>());
        Ok(())
    }

    fn is_of_slots(&self, unknown: Unknown) -> bool {
        matches!(self.meanings[unknown], Meaning::One | Meaning::Integer(..) | Meaning::Product(..))
    }

    /// The integer that has these residues, nearest to 0.
    fn integer(&self, residues: &[(Residue, BigUint)]) -> BigInt {
        let (mut value, mut modulus, mut before) = (BigUint::ZERO, BigUint::one(), Vec::new());
        for (residue, other) in residues {
            let next = self.system.factor(*residue);
            let inverse = self.system.inverse_of(&before, *residue);
            let other = other % next;
            before.push(*residue);
            let step = (other + next - &value % next) * inverse % next;
            value += step * &modulus;
            modulus *= next;
        }
        let value = BigInt::from(value);
        let modulus = BigInt::from(modulus);
        if &value * 2 > modulus { value - modulus } else { value }
    }

    /// Words that are the same sum of integers of slots.
    fn sum_of_slots(&mut self, words: &[Word]) -> Result<Meaning, String> {
        let sums: Vec<Rc<Sum>> = words.iter().enumerate().map(|(place, word)| word.is[place].clone()).collect();
        let mut terms = Vec::new();
        for term in all_terms(&sums) {
            if !self.is_of_slots(term) || matches!(self.meanings[term], Meaning::Product(..)) {
                return Err("a slot is a sum of products that is not reduced".to_owned());
            }
            let multiples = sums.iter().map(|sum| multiple(sum, &term));
            let residues: Vec<_> = self.system.residues().iter().copied().zip(multiples).collect();
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

    /// Words that are a reduction.
    fn reduction(&mut self, words: &[Word]) -> Result<Meaning, String> {
        let system = self.system;
        let known = |residue: Residue| &words[system.place(residue)].is[system.place(residue)];
        let digits = self.digits(words)?;
        let weighted = |residue: Residue, count: u8| {
            let modulus = system.modulus(residue);
            let weights = (0..count).map(|digit| system.weight(digit) % &modulus);
            digits.iter().copied().zip(weights).collect::<Sum>()
        };
        for residue in (0..system.count()).map(Residue::A) {
            if **known(residue) != weighted(residue, system.count()) {
                return Err(format!("the word modulo {residue:?} is not u₀ + b₀(u₁ + …)"));
            }
        }
        // Each digit is the rest that those before it leave.
        for number in 1..system.count() {
            let residue = Residue::B(number);
            let Meaning::Reduced(_, is) = &self.meanings[digits[usize::from(number)]] else {
                unreachable!("`digits` has looked")
            };
            let (modulus, weight) = (system.modulus(residue), system.weight(number));
            let mut again: Sum = is.iter().map(|(&term, multiple)| (term, multiple * &weight % &modulus)).collect();
            for (digit, weight) in weighted(residue, number) {
                let entry = again.entry(digit).or_default();
                *entry = (&*entry + weight) % &modulus;
            }
            again.retain(|_, multiple| !multiple.is_zero());
            if again != **known(residue) {
                return Err(format!("digit {number} is not the rest of r over those before it modulo its modulus"));
            }
        }
        let Meaning::Reduced(_, lowest) = &self.meanings[digits[0]] else { unreachable!("`digits` has looked") };
        let rests = (1..system.count()).map(|number| known(Residue::B(number)).clone());
        self.reduced_sum(&std::iter::once(lowest.clone()).chain(rests).collect::<Vec<_>>())
    }

    /// The digits of a reduction, as words that are reduced, by the sum of them modulo the second modulus of base A.
    fn digits(&self, words: &[Word]) -> Result<Vec<Unknown>, String> {
        let known = Residue::A(1);
        let sum = self.is_of(&words[self.system.place(known)], known);
        let digits = (0..self.system.count()).map(|number| {
            let is_it = |unknown: &Unknown| {
                matches!(self.meanings[*unknown], Meaning::Reduced(by, _) if by == Residue::B(number))
            };
            let mut found = sum.keys().copied().filter(is_it);
            found.next().filter(|_| found.next().is_none())
        });
        let digits: Option<Vec<Unknown>> = digits.collect();
        let lowest = words[self.system.place(Residue::B(0))].unknown;
        let digits = digits.filter(|digits| Some(digits[0]) == lowest);
        digits.ok_or_else(|| "the words of a slot are neither one sum nor one reduction".to_owned())
    }

    /// The quotients that are in all sums of a result modulo the moduli of base B, with what is beside them in each.
    fn quotients(&self, bases: &[Rc<Sum>]) -> Result<(Vec<Unknown>, Vec<Rc<Sum>>), String> {
        let count = self.system.count();
        let mut quotients: Vec<Option<Unknown>> = vec![None; count.into()];
        let mut rests = Vec::new();
        for (modulus, sum) in (0..count).zip(bases) {
            let mut terms = Sum::clone(sum);
            for (of, quotient) in (0..count).zip(&mut quotients) {
                let residue = Residue::A(of);
                let is_quotient =
                    |unknown: Unknown| matches!(self.meanings[unknown], Meaning::Reduced(by, _) if by == residue);
                let found = terms.keys().copied().find(|&unknown| is_quotient(unknown));
                let term = found.ok_or_else(|| format!("no quotient modulo {residue:?} is in r modulo b{modulus}"))?;
                if terms.remove(&term).as_ref() != Some(self.system.constant(Constant::Factor(of, modulus))) {
                    return Err(format!(
                        "the factor of the quotient modulo {residue:?} in r modulo b{modulus} is another"
                    ));
                }
                if quotient.replace(term).is_some_and(|other| other != term) {
                    return Err("r has one quotient modulo one modulus and another modulo another".to_owned());
                }
            }
            rests.push(Rc::new(terms));
        }
        let quotients = quotients.into_iter().collect::<Option<Vec<Unknown>>>();
        Ok((quotients.ok_or("r has no quotient")?, rests))
    }

    /// T modulo a modulus of base A, by the quotient there, which is −T/(p·A/a), or a multiple of it where a word is longer than the modulus.
    fn divided(&self, number: u8, quotient: Unknown) -> Result<Rc<Sum>, String> {
        let (residue, system) = (Residue::A(number), self.system);
        let Meaning::Reduced(_, is) = &self.meanings[quotient] else { unreachable!("`quotients` has looked") };
        let modulus = system.factor(residue);
        let times = system.modulus(residue) / modulus;
        let factor = modulus - &system.p * (&system.a / modulus) % modulus;
        let term = |(&term, multiple): (&Unknown, &BigUint)| {
            let (quotient, rest) = multiple.div_rem(&times);
            if !rest.is_zero() {
                return Err(format!("the quotient modulo {residue:?} is no multiple of {times}"));
            }
            Ok((term, quotient * &factor % modulus))
        };
        is.iter().map(term).collect::<Result<Sum, String>>().map(Rc::new)
    }

    /// Meaning of r = (T + q·p)/A from its sums modulo the moduli of base B.
    fn reduced_sum(&mut self, bases: &[Rc<Sum>]) -> Result<Meaning, String> {
        let system = self.system;
        let (quotients, rests) = self.quotients(bases)?;
        let divided = (0..system.count()).zip(&quotients).map(|(number, &quotient)| self.divided(number, quotient));
        let mut sums: Vec<Rc<Sum>> = divided.collect::<Result<_, _>>()?;
        sums.extend(rests);
        let count = usize::from(system.count());
        let mut terms = Vec::new();
        for term in all_terms(&sums) {
            if !self.is_of_slots(term) {
                return Err("something is reduced that is no sum of products of slots".to_owned());
            }
            let multiples = sums.iter().map(|sum| multiple(sum, &term));
            let residues: Vec<_> = system.residues().iter().copied().zip(multiples).collect();
            let [product, both] = [&residues[..count], &residues[count..]].map(|base| self.integer(base));
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
        // Each quotient is below its modulus.
        let less: BigUint = (0..system.count()).map(|number| &system.a / system.factor(Residue::A(number))).sum();
        let quotient = &system.a * system.count() - less;
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
        for (word, &residue) in words.iter().zip(self.system.residues()) {
            let is = self.is_of(word, residue);
            let only = is.iter().next().filter(|_| is.len() == 1);
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
fn all_terms(sums: &[Rc<Sum>]) -> Vec<Unknown> {
    let mut terms: Vec<Unknown> = sums.iter().flat_map(|sum| sum.keys().copied()).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn multiple(sum: &Sum, term: &Unknown) -> BigUint {
    sum.get(term).cloned().unwrap_or_default()
}
