//! The checker: runs code on symbolic words, from its first byte to its return.
//!
//! A word is a sum of the program's values modulo p with its least and greatest number, a parsed number that has not been compared with p yet, calldata's size, or the
//! truth of a condition. No word is believed to be what a hint says: each product and each name is compared with the program's. `coq/Check.v` is the same checker, and
//! `coq/Sound.v` proves it: what it accepts ends as the program does. Code with slots is that of [`slots`].

mod slots;

use crate::semantics::Semantics;
use crate::straight::{ELEMENT_BYTES, Straight};
use crate::sum::{Atom, Sum};
use crate::tables::{Budget, Tables, signed};
use crate::witness::Witness;
use foldhash::{HashMap, HashMapExt, HashSet};
use residue_isa::opcode::evm as op;
use residue_isa::{Jumpdests, jumpdests};
use ruint::aliases::U256;
use slots::Field;
use std::rc::Rc;
use thiserror::Error;

/// Most words of a stack (Yellow Paper, §9.1).
const STACK_MAX: usize = 1024;
/// Bytes of a word of memory.
const WORD_BYTES: u32 = 32;

/// Why code is not shown to do what the program does.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("code offset {offset:#x} ({instruction}): {why}")]
pub struct Refused {
    /// Offset of the instruction.
    pub offset: usize,
    /// Its mnemonic.
    pub instruction: &'static str,
    /// Expected and found.
    pub why: String,
}

impl Refused {
    /// Of an instruction of the code.
    pub(crate) fn at(offset: usize, code: &[u8], semantics: Semantics, why: String) -> Self {
        let instruction = match code.get(offset) {
            Some(&byte) => semantics.revision().row(byte).map_or("no opcode", |row| row.mnemonic),
            None => "the end of the code",
        };
        Self { offset, instruction, why }
    }
}

type Step<T> = Result<T, String>;

fn refuse<T>(why: impl Into<String>) -> Step<T> {
    Err(why.into())
}

/// Shows that `code` ends as `program` does, for all calldata, with any gas from the result on.
pub fn check(program: &Straight, semantics: Semantics, code: &[u8], witness: &Witness) -> Result<u64, Refused> {
    let named = witness.named();
    let tables =
        Tables::of(program, |atom, _| named.contains(&atom)).map_err(|why| Refused::at(0, code, semantics, why))?;
    let mut given =
        Given { tables: &tables, p: program.modulus, values: witness.values.iter(), names: witness.names.iter() };
    run(program, &tables, semantics, code, &mut given)
}

/// Runs code with hints; the gas of all of it.
pub(crate) fn run(
    program: &Straight,
    tables: &Tables,
    semantics: Semantics,
    code: &[u8],
    hints: &mut impl Hints,
) -> Result<u64, Refused> {
    let field = match semantics {
        Semantics::Evm => None,
        Semantics::Slots | Semantics::Next => {
            Some(Field::of(program, semantics).map_err(|why| Refused::at(0, code, semantics, why))?)
        }
    };
    let mut machine = Machine {
        program,
        tables,
        field,
        code,
        targets: jumpdests(code, semantics.revision()),
        hints,
        stack: Vec::new(),
        memory: HashMap::new(),
        memory_words: 0,
        shown: HashSet::default(),
        gas: 0,
        next: 0,
        budget: Budget::new(),
    };
    loop {
        let offset = machine.next;
        let byte = code.get(offset).copied();
        match machine.step(byte) {
            Ok(Flow::Goes) => {}
            Ok(Flow::Ends) => return Ok(machine.gas),
            Err(why) => return Err(Refused::at(offset, code, semantics, why)),
        }
    }
}

/// Gas of so many words of memory (Yellow Paper, appendix H.1: 3·n + ⌊n² / 512⌋).
const fn memory_gas(words: u64) -> u64 {
    3 * words + words * words / 512
}

/// Source of hints; [`Given`] has those that are judged.
pub(crate) trait Hints {
    /// The value that is parsed at an offset.
    fn parsed(&mut self, program: &Straight, offset: U256) -> Step<Atom>;

    /// x·y as a sum, of sums that are no constants.
    fn product(&mut self, x: &Sum, y: &Sum) -> Step<Sum>;

    /// The sum of an arithmetic instruction's result, by its name if it has one.
    fn named(&mut self, sum: Rc<Sum>) -> Step<Rc<Sum>>;
}

/// The hints of a certificate, each compared with the program.
struct Given<'a> {
    tables: &'a Tables,
    p: U256,
    values: std::slice::Iter<'a, Atom>,
    names: std::slice::Iter<'a, Option<Atom>>,
}

impl Given<'_> {
    fn value(&mut self) -> Step<Atom> {
        self.values.next().copied().map_or_else(|| refuse("the witness has no more values"), Ok)
    }
}

impl Hints for Given<'_> {
    fn parsed(&mut self, program: &Straight, offset: U256) -> Step<Atom> {
        let hint = self.value()?;
        let is_it = |&&(value, at): &&(residue_ir::Value, u32)| Atom::of(value) == hint && U256::from(at) == offset;
        match program.parses.iter().find(is_it) {
            Some(_) => Ok(hint),
            None => refuse(format!("the witness has {hint} here, which the program does not parse at byte {offset}")),
        }
    }

    fn product(&mut self, x: &Sum, y: &Sum) -> Step<Sum> {
        let hint = self.value()?;
        match (self.tables.is_product(hint, x, y, self.p), self.tables.products.get(&hint)) {
            (Some(is_negative), _) => Ok(signed(hint, is_negative, self.p)),
            (None, Some((a, b))) => {
                refuse(format!("the witness has {hint} here, the product of ({a}) and ({b}); found ({x}) and ({y})"))
            }
            (None, None) => refuse(format!("the witness has {hint} here, which is no product of the program")),
        }
    }

    fn named(&mut self, sum: Rc<Sum>) -> Step<Rc<Sum>> {
        let Some(Some(name)) = self.names.next().copied() else { return Ok(sum) };
        match (self.tables.is_value(name, &sum, self.p), self.tables.definitions.get(&name)) {
            (Some(is_negative), _) => Ok(Rc::new(signed(name, is_negative, self.p))),
            (None, Some(definition)) => {
                refuse(format!("the witness names this word {name}, which is ({definition}); found ({sum})"))
            }
            (None, None) => refuse(format!("the witness names this word {name}, which is no sum of the program")),
        }
    }
}

/// A word of which something is known for all calldata.
#[derive(Debug, Clone)]
enum Symbol {
    /// Between two numbers, and this sum modulo p.
    Sum { sum: Rc<Sum>, least: U256, most: U256 },
    /// The number that is parsed, below p or not.
    Parsed(Atom),
    /// Bytes of calldata.
    Size,
    /// 1 where the condition holds, else 0.
    Truth(Condition),
    /// The OR of numbers that are parsed, without so many lowest bits.
    Or(Rc<[Atom]>, u8),
}

/// A condition on calldata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Condition {
    /// Calldata has so many bytes.
    SizeIs(U256),
    /// Calldata has not so many bytes.
    SizeIsNot(U256),
    /// A parsed number is not below p.
    NotBelow(Atom),
    /// A parsed number has more than so many bits.
    Above(Atom, u8),
}

impl Symbol {
    fn number(number: U256, p: U256) -> Self {
        Self::Sum { sum: Rc::new(Sum::constant(number, p)), least: number, most: number }
    }

    /// The number, if it is always the same.
    fn exact(&self) -> Step<U256> {
        match self {
            Self::Sum { least, most, .. } if least == most => Ok(*least),
            _ => refuse(format!("a number is expected that calldata has no effect on, found {}", self.shown())),
        }
    }

    /// The parsed numbers that it is the OR of.
    fn parses(&self) -> Step<Rc<[Atom]>> {
        match self {
            Self::Parsed(atom) => Ok([*atom].into()),
            Self::Or(parses, 0) => Ok(Rc::clone(parses)),
            other => refuse(format!("a parsed number is expected, found {}", other.shown())),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Sum { sum, .. } => format!("({sum})"),
            Self::Parsed(atom) => format!("{atom} before it is compared with p"),
            Self::Size => "the size of calldata".to_owned(),
            Self::Truth(_) => "a condition".to_owned(),
            Self::Or(..) => "bits of several numbers".to_owned(),
        }
    }
}

/// Flow of control after an instruction.
enum Flow {
    Goes,
    Ends,
}

/// A sum with its bounds.
type Bounded = (Rc<Sum>, U256, U256);

struct Machine<'a, H> {
    program: &'a Straight,
    tables: &'a Tables,
    /// Slots, in code that may have them.
    field: Option<Field>,
    code: &'a [u8],
    targets: Jumpdests,
    hints: &'a mut H,
    stack: Vec<Symbol>,
    /// Words of memory that have been written, by their number.
    memory: HashMap<u32, Symbol>,
    memory_words: u64,
    /// Conditions that do not hold from here on.
    shown: HashSet<Condition>,
    gas: u64,
    next: usize,
    budget: Budget,
}

impl<H: Hints> Machine<'_, H> {
    fn step(&mut self, byte: Option<u8>) -> Step<Flow> {
        let Some(byte) = byte else { return refuse("it ends here, the program does not") };
        self.next += 1;
        match byte {
            op::PUSH0..=op::PUSH32 => self.push(usize::from(byte - op::PUSH0)),
            op::DUP1..=op::DUP16 => self.duplicate(usize::from(byte - op::DUP1))?,
            op::SWAP1..=op::SWAP16 => self.swap(usize::from(byte - op::SWAP1))?,
            op::POP => {
                self.gas += 2;
                self.pop()?;
            }
            op::ADD | op::SUB | op::MUL | op::MOD | op::ADDMOD | op::MULMOD => self.arithmetic(byte)?,
            op::EQ | op::ISZERO | op::GT => self.compare(byte)?,
            op::OR | op::SHR => self.bits(byte)?,
            op::CALLDATASIZE => {
                self.gas += 2;
                self.stack.push(Symbol::Size);
            }
            op::CALLDATALOAD => {
                self.gas += 3;
                let offset = self.pop()?.exact()?;
                let atom = self.hints.parsed(self.program, offset)?;
                self.stack.push(Symbol::Parsed(atom));
            }
            op::MLOAD | op::MSTORE => self.transfer(byte)?,
            op::JUMPDEST => self.gas += 1,
            op::JUMPI => self.fail_if()?,
            op::RETURN => {
                self.end()?;
                return Ok(Flow::Ends);
            }
            _ => self.field_instruction(byte)?,
        }
        match self.stack.len() {
            ..=STACK_MAX => Ok(Flow::Goes),
            height => refuse(format!("the stack has {height} words, at most {STACK_MAX} are allowed")),
        }
    }

    fn pop(&mut self) -> Step<Symbol> {
        self.stack.pop().map_or_else(|| refuse("the stack is empty"), Ok)
    }

    fn push(&mut self, bytes: usize) {
        self.gas += if bytes == 0 { 2 } else { 3 };
        // Zeros past the end of the code.
        let mut number = U256::ZERO;
        for place in self.next..self.next + bytes {
            number = (number << 8) | U256::from(self.code.get(place).copied().unwrap_or(0));
        }
        self.next += bytes;
        self.stack.push(Symbol::number(number, self.program.modulus));
    }

    fn below(&self, depth: usize) -> Step<usize> {
        self.stack.len().checked_sub(depth + 1).map_or_else(|| refuse("the stack has too few words"), Ok)
    }

    fn duplicate(&mut self, depth: usize) -> Step<()> {
        self.gas += 3;
        self.stack.push(self.stack[self.below(depth)?].clone());
        Ok(())
    }

    fn swap(&mut self, depth: usize) -> Step<()> {
        self.gas += 3;
        let (other, top) = (self.below(depth + 1)?, self.below(0)?);
        self.stack.swap(other, top);
        Ok(())
    }

    fn sum(&mut self) -> Step<Bounded> {
        match self.pop()? {
            Symbol::Sum { sum, least, most } => Ok((sum, least, most)),
            other => refuse(format!("an element is expected, found {}", other.shown())),
        }
    }

    fn arithmetic(&mut self, byte: u8) -> Step<()> {
        let p = self.program.modulus;
        let (a, least, most) = self.sum()?;
        let is_modular = matches!(byte, op::MOD | op::ADDMOD | op::MULMOD);
        let other = if byte == op::MOD { None } else { Some(self.sum()?) };
        self.budget.take(a.terms().len() + other.as_ref().map_or(0, |(b, ..)| b.terms().len()))?;
        if is_modular {
            let modulus = self.pop()?.exact()?;
            if modulus != p {
                return refuse(format!("the modulus {p:#x} is expected, found {modulus:#x}"));
            }
        }
        let (gas, sum, least, most) = match (byte, other) {
            (op::ADD, Some((b, least_b, most_b))) => {
                let most = most.checked_add(most_b).ok_or("the sum may be 2²⁵⁶ or more")?;
                (3, a.plus(&b, p), least + least_b, most)
            }
            (op::SUB, Some((b, least_b, most_b))) => {
                let least = least.checked_sub(most_b).ok_or("the difference may be below zero")?;
                (3, a.plus(&b.negated(p), p), least, most - least_b)
            }
            (op::MUL, Some((b, least_b, most_b))) => {
                let most = most.checked_mul(most_b).ok_or("the product may be 2²⁵⁶ or more")?;
                (5, self.product(&a, &b)?, least * least_b, most)
            }
            (op::ADDMOD, Some((b, ..))) => (8, a.plus(&b, p), U256::ZERO, p - U256::ONE),
            (op::MULMOD, Some((b, ..))) => (8, self.product(&a, &b)?, U256::ZERO, p - U256::ONE),
            _ => (5, Sum::clone(&a), U256::ZERO, p - U256::ONE),
        };
        self.gas += gas;
        let sum = self.hints.named(Rc::new(sum))?;
        self.stack.push(Symbol::Sum { sum, least, most });
        Ok(())
    }

    fn product(&mut self, x: &Sum, y: &Sum) -> Step<Sum> {
        let p = self.program.modulus;
        match (x.as_constant(), y.as_constant()) {
            (Some(k), _) => Ok(y.times(k, p)),
            (None, Some(k)) => Ok(x.times(k, p)),
            (None, None) => self.hints.product(x, y),
        }
    }

    fn compare(&mut self, byte: u8) -> Step<()> {
        self.gas += 3;
        let a = self.pop()?;
        let condition = match (byte, a) {
            // Other negations are no failure of a program.
            (op::ISZERO, Symbol::Truth(Condition::SizeIs(size))) => Condition::SizeIsNot(size),
            (op::EQ, Symbol::Size) => Condition::SizeIs(self.pop()?.exact()?),
            (op::EQ, a) => match self.pop()? {
                Symbol::Size => Condition::SizeIs(a.exact()?),
                other => return refuse(format!("the size of calldata is expected, found {}", other.shown())),
            },
            (op::GT, Symbol::Parsed(atom)) => {
                let bound = self.pop()?.exact()?;
                if bound != self.program.modulus - U256::ONE {
                    return refuse(format!("{atom} is to be compared with p − 1, and is with {bound:#x}"));
                }
                Condition::NotBelow(atom)
            }
            (_, a) => return refuse(format!("the program has no such comparison with {}", a.shown())),
        };
        self.stack.push(Symbol::Truth(condition));
        Ok(())
    }

    /// Bits of parsed numbers: all of them at once, or without the lowest.
    fn bits(&mut self, byte: u8) -> Step<()> {
        self.gas += 3;
        let (a, b) = (self.pop()?, self.pop()?);
        let found = if byte == op::OR {
            let (a, b) = (a.parses()?, b.parses()?);
            self.budget.take(a.len() + b.len())?;
            Symbol::Or(a.iter().chain(&*b).copied().collect(), 0)
        } else {
            let count = u8::try_from(a.exact()?).or_else(|_| refuse("a shift by less than 256 bits is expected"))?;
            Symbol::Or(b.parses()?, count)
        };
        self.stack.push(found);
        Ok(())
    }

    /// Number of the word of memory at an address.
    fn place(&mut self) -> Step<u32> {
        let address = self.pop()?.exact()?;
        match u32::try_from(address) {
            Ok(address) if address.is_multiple_of(WORD_BYTES) => Ok(address / WORD_BYTES),
            _ => refuse(format!("an address of a whole word below 2³² is expected, found {address:#x}")),
        }
    }

    /// Memory grows to this many words at least. Slots count as memory that stands beside it.
    fn grow(&mut self, words: u64) {
        let slots = self.field.as_ref().map_or(0, Field::words);
        let grown = self.memory_words.max(words);
        self.gas += memory_gas(grown + slots) - memory_gas(self.memory_words + slots);
        self.memory_words = grown;
    }

    fn transfer(&mut self, byte: u8) -> Step<()> {
        let place = self.place()?;
        self.gas += 3;
        self.grow(u64::from(place) + 1);
        if byte == op::MSTORE {
            let word = self.pop()?;
            self.memory.insert(place, word);
        } else {
            let word = self.memory.get(&place).cloned();
            // What has not been written is zero.
            self.stack.push(word.unwrap_or_else(|| Symbol::number(U256::ZERO, self.program.modulus)));
        }
        Ok(())
    }

    /// Conditions under which the program fails.
    fn failures(&self) -> impl Iterator<Item = Condition> {
        let size = Condition::SizeIsNot(U256::from(self.program.calldata_bytes));
        let parses = self.program.parses.iter().map(|&(value, _)| Condition::NotBelow(Atom::of(value)));
        std::iter::once(size).chain(parses)
    }

    /// A jump to a failure, if and only if the program fails.
    fn fail_if(&mut self) -> Step<()> {
        self.gas += 10;
        let target = self.pop()?.exact()?;
        let condition = self.pop()?;
        let fails = usize::try_from(target)
            .is_ok_and(|target| self.targets.contains(target) && self.code.get(target + 1) == Some(&op::INVALID));
        if !fails {
            return refuse(format!("the jump to {target:#x} is to go to a JUMPDEST with INVALID after it"));
        }
        let condition = match condition {
            Symbol::Truth(condition) => condition,
            Symbol::Or(parses, bits) if self.field.is_some() => return self.fail_if_above(&parses, bits),
            other => return refuse(format!("a condition is expected, found {}", other.shown())),
        };
        if !self.failures().any(|failure| failure == condition) {
            return refuse("the code fails where the program does not");
        }
        if let Condition::NotBelow(atom) = condition {
            let most = self.program.modulus - U256::ONE;
            for word in &mut self.stack {
                if matches!(word, Symbol::Parsed(parsed) if *parsed == atom) {
                    *word = Symbol::Sum { sum: Rc::new(Sum::atom(atom)), least: U256::ZERO, most };
                }
            }
        }
        self.shown.insert(condition);
        Ok(())
    }

    /// The return: all that the program fails for has been looked at, and memory has its results.
    fn end(&mut self) -> Step<()> {
        let place = self.place()?;
        let size = self.pop()?.exact()?;
        let results = &self.program.results;
        let expected = results.len() as u64 * u64::from(ELEMENT_BYTES); // usize to u64 widens
        if size != U256::from(expected) {
            return refuse(format!("{expected} bytes are to be returned, not {size}"));
        }
        if let Some(failure) = self.failures().find(|failure| !self.shown.contains(failure)) {
            return refuse(match failure {
                Condition::NotBelow(atom) => format!("{atom} has not been compared with p"),
                _ => format!("calldata is not held to {} bytes", self.program.calldata_bytes),
            });
        }
        for (number, &result) in (u64::from(place)..).zip(results) {
            let found = u32::try_from(number).ok().and_then(|number| self.memory.get(&number));
            let expected = self.tables.sum(result);
            match found {
                Some(Symbol::Sum { sum, most, .. }) if **sum == *expected && *most < self.program.modulus => {}
                Some(Symbol::Sum { sum, .. }) if **sum == *expected => {
                    return refuse(format!("v{} is returned, which may be p or more", result.0));
                }
                found => {
                    let found = found.map_or_else(|| "nothing".to_owned(), Symbol::shown);
                    return refuse(format!("v{} = ({expected}) is to be returned, found {found}", result.0));
                }
            }
        }
        self.grow(u64::from(place) + results.len() as u64); // usize to u64 widens
        Ok(())
    }
}
