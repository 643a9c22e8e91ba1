//! The checker: runs code on symbolic words, from its first byte to its return.
//!
//! A word is a sum of the program's values modulo p with its least and greatest number, a parsed number that has not been compared with p yet, calldata's size, or the
//! truth of a condition. No word is believed to be what a hint says: each product and each name is compared with the program's. `coq/Check.v` is the same checker, and
//! `coq/Sound.v` proves it: what it accepts ends as the program does. Code with slots is that of [`slots`], and beside a modulus that is
//! no word that of [`wide`].

mod hints;
mod paths;
mod slots;
pub(crate) mod symbol;
mod turn;
mod wide;

use crate::flow::paths::End;
use crate::semantics::Semantics;
use crate::straight::{ELEMENT_BYTES, Straight};
use crate::sum::{Atom, Number, Sum};
use crate::tables::{Budget, Tables};
use crate::witness::{Job, Witness};
use crate::words;
use foldhash::{HashMap, HashSet};
pub(crate) use hints::{Given, Hints};
use paths::Fork;
use residue_ir::Value;
use residue_isa::opcode::evm as op;
use residue_isa::{Jumpdests, jumpdests};
use ruint::aliases::U256;
use slots::Field;
use std::sync::Arc;
use symbol::{Condition, Facts, Symbol, greatest, is_below};
use thiserror::Error;
pub(crate) use turn::{Arrival, Ran, Slots, Start, TurnAt};
use wide::Limb;

/// Most words of a stack (Yellow Paper, §9.1).
const STACK_MAX: usize = 1024;
/// Instructions of all ways: code may jump back.
const STEPS_MAX: usize = 1 << 20;
/// Bytes that a copy has less than: in Coq its words are counted in unary.
const COPY_BYTES: u32 = 1 << 20;
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
    let job = Job::straight(program, semantics, code);
    job.check(witness).map(|ran| ran.gas)
}

/// Runs the code of a job with hints; all that it takes.
pub(crate) fn run(
    job: &Job<'_>,
    tables: &Tables,
    ends: Option<&[End]>,
    hints: &mut impl Hints,
) -> Result<Ran, Refused> {
    let mut machine =
        Machine::of(job, tables, ends, hints).map_err(|why| Refused::at(0, job.code, job.semantics, why))?;
    let &Job { code, semantics, .. } = job;
    let mut all = Ran::default();
    for _ in 0..STEPS_MAX {
        let offset = machine.next;
        let byte = code.get(offset).copied();
        machine.steps += 1;
        match machine.step(byte) {
            Ok(Flow::Goes) => {}
            Ok(ends) => {
                all.steps = all.steps.max(machine.steps);
                match ends {
                    Flow::Arrives => {
                        all.again = all.again.max(Some(machine.gas));
                        all.arrivals.push(machine.arrival());
                    }
                    _ => all.gas = all.gas.max(machine.gas),
                }
                if !machine.turns() {
                    return Ok(all);
                }
            }
            // A guess looks at the other ways all the same.
            Err(_) if machine.hints.only_guesses() && machine.turns() => {}
            Err(why) => return Err(Refused::at(offset, code, semantics, why)),
        }
    }
    Err(Refused::at(
        machine.next,
        code,
        semantics,
        format!("all ways together have more than {STEPS_MAX} instructions"),
    ))
}

/// Gas of so many words of memory (Yellow Paper, appendix H.1: 3·n + ⌊n² / 512⌋).
const fn memory_gas(words: u64) -> u64 {
    3 * words + words * words / 512
}

/// Flow of control after an instruction.
enum Flow {
    Goes,
    Ends,
    /// The next turn of a loop.
    Arrives,
}

/// A sum with its bounds.
type Bounded = (Arc<Sum>, U256, U256);

struct Machine<'a, H> {
    program: &'a Straight,
    tables: &'a Tables,
    /// Slots, in code that may have them.
    field: Option<Field>,
    /// The ends of a program that has several.
    ends: Option<&'a [End]>,
    /// Those that may be reached from here, by number.
    ways: Vec<usize>,
    /// Facts that jumps have told.
    known: Facts,
    /// The other ways of jumps.
    later: Vec<Fork>,
    code: &'a [u8],
    targets: Jumpdests,
    hints: &'a mut H,
    stack: Vec<Symbol>,
    /// Words of memory that have been written, by their number.
    memory: HashMap<u32, Symbol>,
    /// Limbs of it in their place, where the modulus is no word.
    limbs: HashMap<u32, Limb>,
    memory_words: u64,
    /// Conditions that do not hold from here on.
    shown: HashSet<Condition>,
    gas: u64,
    /// Instructions so far.
    steps: usize,
    next: usize,
    turn_at: TurnAt,
    budget: Budget,
}

impl<'a, H: Hints> Machine<'a, H> {
    /// The state in which code is begun.
    fn of(
        &Job { program, semantics, code, start, turn_at, .. }: &Job<'a>,
        tables: &'a Tables,
        ends: Option<&'a [End]>,
        hints: &'a mut H,
    ) -> Step<Self> {
        let field = match semantics {
            Semantics::Evm => None,
            Semantics::Slots | Semantics::Next => Some(Field::of(program, semantics)?),
        };
        let Start { next, stack, memory, memory_words, known, slots } = start.cloned().unwrap_or_default();
        let field = match (field, slots) {
            (Some(field), Some(slots)) => Some(field.with(slots)),
            (field, _) => field,
        };
        Ok(Machine {
            program,
            tables,
            field,
            ends,
            ways: (0..ends.map_or(0, <[End]>::len)).collect(),
            known,
            later: Vec::new(),
            code,
            targets: jumpdests(code, semantics.revision()),
            hints,
            stack,
            memory,
            limbs: HashMap::default(),
            memory_words,
            shown: HashSet::default(),
            gas: 0,
            steps: 0,
            next,
            turn_at,
            budget: Budget::new(),
        })
    }
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
            op::EQ | op::LT | op::GT | op::AND | op::OR | op::SHR | op::DIV => self.compare(byte)?,
            op::ISZERO => {
                self.gas += 3;
                let condition = self.pop()?.is_zero(self.program.modulus)?;
                self.stack.push(Symbol::Truth(condition));
            }
            op::CALLDATASIZE => {
                self.gas += 2;
                self.stack.push(Symbol::Size);
            }
            op::CALLDATALOAD => self.calldata()?,
            op::MLOAD | op::MSTORE if self.is_wide() => self.wide_transfer(byte)?,
            op::MLOAD | op::MSTORE => self.transfer(byte)?,
            op::MCOPY if self.is_wide() => {
                return refuse("certificates know no such copy beside a modulus that is no word");
            }
            op::MCOPY => self.copy_within()?,
            op::JUMPDEST if self.begins_turn() => return Ok(Flow::Arrives),
            op::JUMPDEST => self.gas += 1,
            op::JUMP | op::JUMPI | op::RETURN | op::INVALID if self.ends.is_some() => return self.control(byte),
            op::JUMPI => self.fail_if()?,
            op::RETURN => {
                self.end()?;
                return Ok(Flow::Ends);
            }
            _ => {
                self.field_instruction(byte)?;
                if self.ends.is_some() && self.ways.is_empty() {
                    return Ok(Flow::Ends);
                }
            }
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

    /// The next word as a sum; what is taken modulo p may be any word.
    fn sum(&mut self, is_modular: bool) -> Step<Bounded> {
        let word = self.pop()?;
        match self.element(word) {
            Symbol::Parsed(atom) if is_modular && self.ends.is_some() => {
                Ok((Arc::new(Sum::atom(atom)), U256::ZERO, U256::MAX))
            }
            Symbol::Sum { sum, least, most } => Ok((sum, least, most)),
            other => refuse(format!("an element is expected, found {}", other.shown())),
        }
    }

    fn arithmetic(&mut self, byte: u8) -> Step<()> {
        let words = match *self.stack {
            [.., ref second, ref first] if words::gas_of(byte).is_some() => self.named_word(byte, first, second),
            _ => None,
        };
        let height = self.stack.len();
        let (gas, sum, least, most) = match (self.bounded(byte), words) {
            (Ok(found), _) => found,
            (Err(_), Some(word)) => {
                self.gas += words::gas_of(byte).unwrap_or_default();
                self.stack.truncate(height - 2);
                self.stack.push(word);
                return Ok(());
            }
            (Err(why), None) => return Err(why),
        };
        self.gas += gas;
        let sum = self.hints.named(Arc::new(sum))?;
        self.stack.push(Symbol::Sum { sum, least, most });
        Ok(())
    }

    /// Gas of an instruction and its result with bounds.
    fn bounded(&mut self, byte: u8) -> Step<(u64, Sum, U256, U256)> {
        let p = self.program.modulus;
        let is_modular = matches!(byte, op::MOD | op::ADDMOD | op::MULMOD);
        let (a, least, most) = self.sum(is_modular)?;
        let other = if byte == op::MOD { None } else { Some(self.sum(is_modular)?) };
        self.budget.take(a.terms().len() + other.as_ref().map_or(0, |(b, ..)| b.terms().len()))?;
        if is_modular {
            let modulus = self.pop()?.exact()?;
            if Number::from(modulus) != p {
                return refuse(format!("the modulus {p:#x} is expected, found {modulus:#x}"));
            }
        }
        Ok(match (byte, other) {
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
            (op::ADDMOD, Some((b, ..))) => (8, a.plus(&b, p), U256::ZERO, greatest(p)),
            (op::MULMOD, Some((b, ..))) => (8, self.product(&a, &b)?, U256::ZERO, greatest(p)),
            _ => (5, Sum::clone(&a), U256::ZERO, greatest(p)),
        })
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
        self.gas += words::gas_of(byte).unwrap_or_default();
        let (x, y) = (self.pop()?, self.pop()?);
        if let Symbol::Or(parses, _) = &x {
            self.budget.take(parses.len())?;
        }
        if let Symbol::Or(parses, _) = &y {
            self.budget.take(parses.len())?;
        }
        let combined = Symbol::combined(byte, &x, &y, self.program.modulus);
        let word = match combined {
            Err(why) => {
                let named = self.named_word(byte, &x, &y);
                named.or_else(|| self.equal(byte, x, y)).ok_or(why)?
            }
            Ok(word) => word,
        };
        self.stack.push(word);
        Ok(())
    }

    /// The truth of two elements being equal.
    fn equal(&self, byte: u8, x: Symbol, y: Symbol) -> Option<Symbol> {
        self.ends.filter(|_| byte == op::EQ)?;
        self.element(x).equal(&self.element(y), self.program.modulus)
    }

    /// A word of calldata.
    fn calldata(&mut self) -> Step<()> {
        self.gas += 3;
        let offset = self.pop()?;
        let atom = match offset.exact() {
            Ok(offset) => self.hints.parsed(self.program, offset)?,
            Err(why) => {
                let zero = Symbol::number(U256::ZERO, self.program.modulus);
                let Some(Symbol::Parsed(atom)) = self.named_word(op::CALLDATALOAD, &offset, &zero) else {
                    return Err(why);
                };
                atom
            }
        };
        self.stack.push(Symbol::Parsed(atom));
        Ok(())
    }

    /// The value of the program that an operation on two words is.
    fn named_word(&self, byte: u8, x: &Symbol, y: &Symbol) -> Option<Symbol> {
        let value = words::find(&self.program.words, byte, &x.part()?, &y.part()?)?;
        Some(Symbol::Parsed(Atom::of(value)))
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
    pub(super) fn grow(&mut self, words: u64) {
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

    /// A copy of whole words within memory, all read before one is written.
    fn copy_within(&mut self) -> Step<()> {
        let (to, from, size) = (self.place()?, self.place()?, self.pop()?.exact()?);
        let is_whole = |size: &u32| *size < COPY_BYTES && size.is_multiple_of(WORD_BYTES);
        let size = u32::try_from(size).ok().filter(is_whole);
        let words = size.map_or_else(|| refuse("a copy of whole words is expected"), Ok)? / WORD_BYTES;
        self.gas += 3 + 3 * u64::from(words);
        if words > 0 {
            self.grow(u64::from(to.max(from)) + u64::from(words));
        }
        self.budget.take(words as usize)?; // u32 to usize widens
        let zero = Symbol::number(U256::ZERO, self.program.modulus);
        let word = |place: u32| self.memory.get(&place).unwrap_or(&zero).clone();
        let copied: Vec<Symbol> = (0..words).map(|number| word(from + number)).collect();
        self.memory.extend((to..).zip(copied));
        Ok(())
    }

    /// Conditions under which the program fails.
    fn failures(&self) -> impl Iterator<Item = Condition> {
        let size = Condition::Not(Arc::new(Condition::SizeIs(U256::from(self.program.calldata_bytes))), 2);
        let parses = self.program.parses.iter().map(|&(value, _)| Condition::NotBelow(Atom::of(value)));
        std::iter::once(size).chain(parses)
    }

    /// The target of a jump is a failure.
    fn is_failure(&self, target: U256) -> Step<()> {
        let fails = usize::try_from(target)
            .is_ok_and(|target| self.targets.contains(target) && self.code.get(target + 1) == Some(&op::INVALID));
        if !fails {
            return refuse(format!("the jump to {target:#x} is to go to a JUMPDEST with INVALID after it"));
        }
        Ok(())
    }

    /// A jump to a failure, if and only if the program fails.
    fn fail_if(&mut self) -> Step<()> {
        self.gas += 10;
        let target = self.pop()?.exact()?;
        let condition = self.pop()?;
        self.is_failure(target)?;
        let condition = match condition {
            Symbol::Truth(condition) => condition,
            Symbol::Or(parses, bits) if self.field.is_some() => return self.fail_if_above(&parses, bits),
            other => return refuse(format!("a condition is expected, found {}", other.shown())),
        };
        if !self.failures().any(|failure| failure == condition) {
            return refuse("the code fails where the program does not");
        }
        if let Condition::NotBelow(atom) = condition {
            let most = greatest(self.program.modulus);
            for word in &mut self.stack {
                if matches!(word, Symbol::Parsed(parsed) if *parsed == atom) {
                    *word = Symbol::Sum { sum: Arc::new(Sum::atom(atom)), least: U256::ZERO, most };
                }
            }
        }
        self.shown.insert(condition);
        Ok(())
    }

    /// The return: all that the program fails for has been looked at, and memory has its results.
    fn end(&mut self) -> Step<()> {
        if let Some(failure) = self.failures().find(|failure| !self.shown.contains(failure)) {
            return refuse(match failure {
                Condition::NotBelow(atom) => format!("{atom} has not been compared with p"),
                _ => format!("calldata is not held to {} bytes", self.program.calldata_bytes),
            });
        }
        let (place, size) = (self.place()?, self.pop()?.exact()?);
        self.returns(place, size, &self.program.results)?;
        self.grow_to(place, size)
    }

    /// The return of these values, which memory has.
    fn returns(&self, place: u32, size: U256, results: &[Value]) -> Step<()> {
        let expected = results.len() as u64 * u64::from(ELEMENT_BYTES); // usize to u64 widens
        if size != U256::from(expected) {
            return refuse(format!("{expected} bytes are to be returned, not {size}"));
        }
        for (number, &result) in (u64::from(place)..).zip(results) {
            let found = u32::try_from(number).ok().and_then(|number| self.memory.get(&number));
            let expected = self.tables.sum(result);
            match found {
                Some(Symbol::Sum { sum, most, .. }) if **sum == *expected && is_below(*most, self.program.modulus) => {}
                Some(Symbol::Sum { sum, .. }) if **sum == *expected => {
                    return refuse(format!("v{} is returned, which may be p or more", result.0));
                }
                found => {
                    let found = found.map_or_else(|| "nothing".to_owned(), Symbol::shown);
                    return refuse(format!("v{} = ({expected}) is to be returned, found {found}", result.0));
                }
            }
        }
        Ok(())
    }

    /// Memory has so many bytes from a word on: what is returned.
    fn grow_to(&mut self, place: u32, size: U256) -> Step<()> {
        let words = u64::try_from(size).or_else(|_| refuse("less than 2⁶⁴ bytes are to be returned"))?;
        self.grow(u64::from(place) + words.div_ceil(u64::from(WORD_BYTES)));
        Ok(())
    }
}
