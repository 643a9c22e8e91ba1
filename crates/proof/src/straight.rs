//! Straight-line programs: calldata's size, parses, operations, results. The programs of which certificates speak so far.

use crate::sum::{Number, is_wide};
use crate::words::NamedWord;
use num_bigint::BigUint;
use residue_ir::{Effect, FieldOp, Function, Operand, Program, Statement, Value, Word, WordDef, WordOp};
use std::collections::HashMap;
use thiserror::Error;

/// Bytes of an element in calldata and output.
pub const ELEMENT_BYTES: u32 = 32;

/// An operand of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// A value.
    Value(Value),
    /// A number below the modulus.
    Number(Number),
}

impl Read {
    /// The value, if it is one.
    pub(crate) const fn value(self) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Number(_) => None,
        }
    }
}

/// One operation on elements: the value that it defines is x op y mod p.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The value.
    pub value: Value,
    /// Its kind.
    pub kind: FieldOp,
    /// The first operand.
    pub x: Read,
    /// The second operand.
    pub y: Read,
}

/// A program: it fails if calldata has another size, or if a parsed number is not below the modulus; else it does the operations and returns
/// the results, each in 32 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Straight {
    /// p, above 1; in a program of straight line it has at most 256 bits.
    pub modulus: Number,
    /// Bytes of calldata.
    pub calldata_bytes: u32,
    /// Parsed values, each with its offset in calldata, by ascending value.
    pub parses: Vec<(Value, u32)>,
    /// Words that are values, after the parsed ones; none in a program of straight line.
    pub words: Vec<NamedWord>,
    /// Values of which nothing is said: those that a turn of a loop is told.
    pub told: Vec<Value>,
    /// The operations, by ascending value; operands are earlier values.
    pub operations: Vec<Operation>,
    /// Returned values, each of an operation.
    pub results: Vec<Value>,
}

/// Why no certificate speaks of a program yet: the part of it that they have no words for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "certificates do not know {0} yet: they speak of programs with requirements, parses, lookups at known rows, blocks, tests for zero, \
     branches, calls, one loop and return_elements"
)]
pub struct Unsupported(pub String);

pub(crate) type Taken<T> = Result<T, Unsupported>;

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Taken<T> {
    Err(Unsupported(what.into()))
}

/// The modulus of a program without arrays, variables and subprograms.
pub(crate) fn modulus_of(program: &Program) -> Taken<Number> {
    let of_program = [
        ("arrays", program.arrays.len()),
        ("variables", program.variables.len()),
        ("subprograms", program.subprograms.len()),
    ];
    if let Some((what, count)) = of_program.into_iter().find(|&(_, count)| count > 0) {
        return unsupported(format!("{what} (the program has {count})"));
    }
    match program.modulus.known().map(number) {
        Some(Some(modulus)) if modulus > Number::ONE => Ok(modulus),
        Some(_) => unsupported(format!("a modulus of {} bits", program.modulus.bits())),
        None => unsupported("a given modulus"),
    }
}

impl Straight {
    /// Reads a verified program as one of straight line. Lookups at constant indices are resolved here.
    pub fn of(program: &Program) -> Taken<Self> {
        let modulus = modulus_of(program)?;
        if is_wide(modulus) {
            return unsupported(format!("a modulus of {} bits", modulus.bit_len()));
        }
        if program.functions.len() > 1 {
            return unsupported(format!("calls (the program has {} functions)", program.functions.len()));
        }
        let function = program.entry();
        let reader = Reader { program, function, numbers: HashMap::new() };
        reader.read(modulus)
    }
}

/// Reads one function.
struct Reader<'a> {
    program: &'a Program,
    function: &'a Function,
    /// The values that are looked up at constant indices.
    numbers: HashMap<Value, Number>,
}

impl Reader<'_> {
    fn read(mut self, modulus: Number) -> Taken<Straight> {
        let (parses, words, told, operations, results) = Default::default();
        let mut straight = Straight { modulus, calldata_bytes: 0, parses, words, told, operations, results };
        let mut size = None;
        let mut returned = None;
        for statement in &self.function.body.statements {
            if returned.is_some() {
                return unsupported("statements after the return");
            }
            match statement {
                Statement::Block(block) => {
                    for &(value, op) in &block.ops {
                        let operation =
                            Operation { value, kind: op.kind, x: self.operand(op.x)?, y: self.operand(op.y)? };
                        straight.operations.push(operation);
                    }
                }
                Statement::Effect(Effect::Require { condition }) => {
                    let required = self.required_size(*condition)?;
                    if size.replace(required).is_some() {
                        return unsupported("a second requirement of calldata's size");
                    }
                }
                Statement::Effect(effect) => returned = self.effect(effect, &mut straight)?,
                Statement::Call { .. } => return unsupported("calls"),
                Statement::Control(control) => return unsupported(named(&control.kind)),
            }
        }
        straight.calldata_bytes = size.map_or_else(|| unsupported("calldata of any size"), Ok)?;
        straight.results = returned.map_or_else(|| unsupported("a program that returns nothing"), Ok)?;
        straight.in_order()
    }

    /// Reads an effect; the results if it is the return.
    fn effect(&mut self, effect: &Effect, straight: &mut Straight) -> Taken<Option<Vec<Value>>> {
        match effect {
            Effect::Parse { offset, size_bytes: ELEMENT_BYTES, result } => {
                let offset = self.small(*offset, "the offset of a parse")?;
                straight.parses.push((*result, offset));
            }
            Effect::Parse { size_bytes, .. } => return unsupported(format!("a parse of {size_bytes} bytes")),
            Effect::Lookup { table, index, results } => {
                let index = self.small(*index, "the index of a lookup")?;
                let elements = &self.program.tables[table.0].elements;
                let Some(row) = elements.get(index as usize) else {
                    // u32 to usize widens
                    return unsupported(format!("a lookup at {index} in a table of {} rows", elements.len()));
                };
                self.numbers.extend(results.iter().copied().zip(row.iter().map(constant)));
            }
            Effect::LineUp { .. } => {}
            Effect::ReturnElements { values, size_bytes: ELEMENT_BYTES } => {
                let values = values.iter().map(|&operand| match self.operand(operand)? {
                    Read::Value(value) => Ok(value),
                    Read::Number(_) => unsupported("a return of a constant"),
                });
                return match values.collect::<Taken<Vec<_>>>()? {
                    values if values.is_empty() => unsupported("a return of nothing"),
                    values => Ok(Some(values)),
                };
            }
            Effect::ReturnElements { size_bytes, .. } => {
                return unsupported(format!("return_elements of {size_bytes} bytes each"));
            }
            effect => return unsupported(format!("`{}`", effect.name())),
        }
        Ok(None)
    }

    fn operand(&self, operand: Operand) -> Taken<Read> {
        Ok(match operand {
            Operand::Constant(id) => Read::Number(constant(self.program.constant(id))),
            Operand::Value(value) => self.numbers.get(&value).map_or(Read::Value(value), |&found| Read::Number(found)),
        })
    }

    fn word(&self, word: Word) -> &WordDef {
        &self.function.words[word.0 as usize] // u32 to usize widens
    }

    /// A constant below 2³².
    fn small(&self, word: Word, what: &str) -> Taken<u32> {
        match self.word(word) {
            WordDef::Constant(number) => {
                u32::try_from(*number).or_else(|_| unsupported(format!("{what} of {number:#x}")))
            }
            _ => unsupported(format!("{what} that is computed")),
        }
    }

    /// N of a requirement `eq calldata_size N`, or the other way round.
    fn required_size(&self, condition: Word) -> Taken<u32> {
        if let WordDef::Op(WordOp::Eq, a, b) = *self.word(condition) {
            match (self.word(a), self.word(b)) {
                (WordDef::CalldataSize, _) => return self.small(b, "a size of calldata"),
                (_, WordDef::CalldataSize) => return self.small(a, "a size of calldata"),
                _ => {}
            }
        }
        unsupported("a requirement other than calldata's size")
    }
}

impl Straight {
    /// Values ascend, parsed ones come first, and results are those of operations.
    fn in_order(self) -> Taken<Self> {
        let defined = self.parses.iter().map(|&(value, _)| value).chain(self.operations.iter().map(|one| one.value));
        if !defined.is_sorted_by(|a, b| a < b) {
            return unsupported("parses after operations");
        }
        let is_computed = |value: &Value| self.operations.binary_search_by_key(value, |one| one.value).is_ok();
        match self.results.iter().find(|value| !is_computed(value)) {
            Some(value) => unsupported(format!("a return of v{}, which is parsed", value.0)),
            None => Ok(self),
        }
    }
}

pub(crate) const fn named(kind: &residue_ir::ControlKind) -> &'static str {
    match kind {
        residue_ir::ControlKind::Repeat { .. } => "`repeat`",
        residue_ir::ControlKind::Countdown { .. } => "`countdown`",
        residue_ir::ControlKind::Sequence(_) => "`sequence`",
        residue_ir::ControlKind::Branch { .. } => "`branch`",
    }
}

/// A number of at most 768 bits.
fn number(number: &BigUint) -> Option<Number> {
    Number::try_from_be_slice(&number.to_bytes_be())
}

/// A number of the program, which is below the modulus.
pub(crate) fn constant(canonical: &BigUint) -> Number {
    number(canonical).expect("a constant is below the modulus, which has 768 bits at most")
}
