//! Programs of words and scratch memory, with branches, loops and countdowns, out of a recorded program: hashes and what is made of them. They have no elements.
//!
//! `coq/Bytes.v` has their meaning. Variables are words that are bound again; what a program asks of its interface by `has` is answered by no.

mod machine;
mod node;
mod turns;
mod walk;

use crate::straight::{Taken, named, unsupported};
use residue_ir::{
    Control, ControlKind, Effect, Feature, Function, ModOp, Program, Region, Statement, Word, WordDef, WordOp,
};
use ruint::aliases::U256;
pub(crate) use turns::{Head, Kind};
pub(crate) use walk::{Walked, walk};

/// Parts of the expression of a word: words that are written out where they are used.
const PARTS_MAX: usize = 1 << 12;

/// Steps of a program, those after branches counted for each arm.
const STEPS_MAX: usize = 1 << 16;

/// An operation on words; of two of them the third operand is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// An operation of two words, with the operands in the order in which instructions take them.
    Word(WordOp),
    /// An operation modulo the third word.
    Modular(ModOp),
}

/// A word of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A number.
    Number(U256),
    /// Bytes of calldata.
    Size,
    /// 32 bytes of calldata from an offset on.
    Calldata(Box<Self>),
    /// 32 bytes of scratch memory from an offset on, as they are where the statement is done.
    Scratch(Box<Self>),
    /// The word of a statement or a variable, by its number.
    Word(u32),
    /// An operation.
    Op(Operator, Box<[Self; 3]>),
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The word of an expression.
    Bind(u32, Expression),
    /// Scratch memory has at least so many bytes.
    Scratch(u32),
    /// 32 bytes of scratch memory from an offset on are those of a word.
    Set(Expression, Expression),
    /// A byte of scratch memory is the last one of a word.
    SetByte(Expression, Expression),
    /// So many bytes of calldata go to an offset, from another one on.
    Copy(Expression, Expression, Expression),
    /// The hash of so many bytes of scratch memory from an offset on.
    Hash(u32, Expression, Expression),
    /// The program fails if the word is 0.
    Require(Expression),
    /// The first steps if the word is not 0, else the second.
    Branch(Expression, Vec<Self>, Vec<Self>),
    /// As many of the last turns as a word says; there must be so many.
    Countdown(u32, Vec<Vec<Self>>),
    /// The turn for each number below that of the turns, the least first; the first word is the number of the turn.
    Repeat(u32, Expression, Vec<Self>),
    /// Words: the end.
    ReturnWords(Vec<Expression>),
    /// So many bytes of scratch memory from an offset on: the end.
    ReturnScratch(Expression, Expression),
}

/// A program: its statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes {
    /// The statements.
    pub steps: Vec<Step>,
    /// Variables of a program with loops, which are 0 before they are set.
    pub unset: Vec<u32>,
    /// True if the program has loops.
    pub has_loops: bool,
}

impl Bytes {
    /// True of a program that has no elements.
    pub(crate) fn are(program: &Program) -> bool {
        program.functions.iter().all(|function| function.value_count == 0)
    }

    /// Reads a verified program.
    pub fn of(program: &Program) -> Taken<Self> {
        let [function] = &*program.functions else { return unsupported("calls in a program of words") };
        if let Some(number) = (!program.subprograms.is_empty()).then_some(program.subprograms.len()) {
            return unsupported(format!("subprograms (the program has {number})"));
        }
        let words = u32::try_from(function.words.len()).unwrap_or(u32::MAX);
        let made = u32::try_from(program.variables.len()).unwrap_or(u32::MAX);
        let mut reader = Reader { function, words, made, squared: Vec::new() };
        let steps = apart(reader.region(&function.body)?, &mut { STEPS_MAX })?;
        let has_loops = steps.iter().any(|step| step.has(&|step| matches!(step, Step::Repeat(..))));
        let unset = if has_loops { (words..words + made).collect() } else { Vec::new() };
        Ok(Self { steps, unset, has_loops })
    }

    /// True of a program with a loop whose number of turns is no number.
    pub fn is_counted(&self) -> bool {
        let is_counted =
            |step: &Step| matches!(step, Step::Repeat(_, count, _) if !matches!(count, Expression::Number(_)));
        self.steps.iter().any(|step| step.has(&is_counted))
    }

    /// Most bytes of scratch memory.
    fn scratch_bytes(&self) -> u64 {
        let size = |step: &Step| if let Step::Scratch(size) = step { u64::from(*size) } else { 0 };
        let mut most = 0;
        for step in &self.steps {
            step.each(&mut |step| most = most.max(size(step)));
        }
        most
    }
}

impl Step {
    /// This step and all within it.
    fn each(&self, seen: &mut impl FnMut(&Self)) {
        seen(self);
        let parts: Vec<&Vec<Self>> = match self {
            Self::Branch(_, first, second) => vec![first, second],
            Self::Countdown(_, turns) => turns.iter().collect(),
            Self::Repeat(_, _, turn) => vec![turn],
            _ => Vec::new(),
        };
        parts.into_iter().flatten().for_each(|step| step.each(seen));
    }

    fn has(&self, is_one: &impl Fn(&Self) -> bool) -> bool {
        let mut found = false;
        self.each(&mut |step| found |= is_one(step));
        found
    }

    /// True of a step after which nothing is done.
    fn ends(&self) -> bool {
        match self {
            Self::ReturnWords(_) | Self::ReturnScratch(..) => true,
            Self::Branch(_, first, second) => [first, second].into_iter().all(|arm| arm.last().is_some_and(Self::ends)),
            _ => false,
        }
    }
}

/// The same steps, in which arms of branches do not meet again: what comes after both is done at the end of each.
fn apart(steps: Vec<Step>, left: &mut usize) -> Taken<Vec<Step>> {
    let many = || unsupported(format!("more than {STEPS_MAX} steps of a program of words, those after branches twice"));
    *left = left.checked_sub(steps.len()).map_or_else(many, Ok)?;
    let (mut done, mut rest) = (Vec::with_capacity(steps.len()), steps.into_iter());
    while let Some(step) = rest.next() {
        done.push(match step {
            Step::Branch(condition, first, second) => {
                let meet = ![&first, &second].into_iter().any(|arm| arm.last().is_some_and(Step::ends));
                let after = if meet { rest.by_ref().collect() } else { Vec::new() };
                let first = apart([first, after.clone()].concat(), left)?;
                Step::Branch(condition, first, apart([second, after].concat(), left)?)
            }
            Step::Repeat(index, count, turn) => Step::Repeat(index, count, apart(turn, left)?),
            step => step,
        });
    }
    Ok(done)
}

/// Reads the one function.
struct Reader<'a> {
    function: &'a Function,
    /// Words of the function.
    words: u32,
    /// Variables, and words that are made here.
    made: u32,
    /// Words that a statement reads twice at one place, each bound before it.
    squared: Vec<Step>,
}

impl Reader<'_> {
    fn region(&mut self, region: &Region) -> Taken<Vec<Step>> {
        let mut steps: Vec<Step> = Vec::new();
        for statement in &region.statements {
            if steps.last().is_some_and(Step::ends) {
                // What is left is not done.
                break;
            }
            match statement {
                Statement::Effect(effect) => {
                    let step = self.effect(effect)?;
                    steps.append(&mut self.squared);
                    steps.extend(step);
                }
                Statement::Control(control) => self.control(control, &mut steps)?,
                Statement::Block(_) => return unsupported("blocks in a program of words"),
                Statement::Call { .. } => return unsupported("calls in a program of words"),
            }
        }
        Ok(steps)
    }

    fn control(&mut self, control: &Control, steps: &mut Vec<Step>) -> Taken<()> {
        match (&control.kind, &*control.arms) {
            (ControlKind::Branch { condition }, [first, second]) => {
                let condition = self.expression(*condition)?;
                steps.append(&mut self.squared);
                match condition {
                    Expression::Number(number) => {
                        steps.extend(self.region(if number.is_zero() { &second.body } else { &first.body })?);
                    }
                    condition => {
                        let (first, second) = (self.region(&first.body)?, self.region(&second.body)?);
                        steps.push(Step::Branch(condition, first, second));
                    }
                }
            }
            (ControlKind::Countdown { count }, arms) => {
                let count = self.expression(*count)?;
                steps.append(&mut self.squared);
                let word = self.made_word();
                steps.push(Step::Bind(word, count));
                let turns = arms.iter().map(|arm| self.region(&arm.body)).collect::<Taken<_>>()?;
                steps.push(Step::Countdown(word, turns));
            }
            (ControlKind::Repeat { count, index }, [turn]) => {
                let count = self.expression(*count)?;
                steps.append(&mut self.squared);
                steps.push(Step::Repeat(index.0, count, self.region(&turn.body)?));
            }
            (kind, _) => return unsupported(named(kind)),
        }
        Ok(())
    }

    const fn made_word(&mut self) -> u32 {
        self.made += 1;
        self.words + self.made - 1
    }

    fn effect(&mut self, effect: &Effect) -> Taken<Option<Step>> {
        let words = self.words;
        let variable = |number: usize| words + u32::try_from(number).unwrap_or(u32::MAX);
        Ok(Some(match effect {
            Effect::Bind { result, word } => Step::Bind(result.0, self.expression(*word)?),
            Effect::Set { variable: set, word } => Step::Bind(variable(set.0), self.expression(*word)?),
            Effect::Get { result, variable: got } => Step::Bind(result.0, Expression::Word(variable(got.0))),
            Effect::GetAcross { result, variable: got, first_byte } => {
                Step::Bind(result.0, across(variable(got.0), variable(got.0 + 1), *first_byte))
            }
            Effect::Scratch { size_bytes } => Step::Scratch(*size_bytes),
            Effect::SetScratch { offset, word } => Step::Set(self.expression(*offset)?, self.expression(*word)?),
            Effect::SetScratchByte { offset, word } => {
                Step::SetByte(self.expression(*offset)?, self.expression(*word)?)
            }
            Effect::CopyCalldata { offset, from, size_bytes } => {
                Step::Copy(self.expression(*offset)?, self.expression(*from)?, self.expression(*size_bytes)?)
            }
            Effect::Keccak256Scratch { offset, size_bytes, result } => {
                Step::Hash(result.0, self.expression(*offset)?, self.expression(*size_bytes)?)
            }
            Effect::Require { condition } => Step::Require(self.expression(*condition)?),
            Effect::ReturnWord { word } => Step::ReturnWords(vec![self.expression(*word)?]),
            Effect::ReturnWords { words, size_bytes } => {
                let all = Expression::Number(U256::from(32 * words.len()));
                if self.expression(*size_bytes)? != all {
                    return unsupported("`return_words` of other bytes than those of its words");
                }
                Step::ReturnWords(words.iter().map(|&word| self.expression(word)).collect::<Taken<_>>()?)
            }
            Effect::ReturnScratch { offset, size_bytes } => {
                Step::ReturnScratch(self.expression(*offset)?, self.expression(*size_bytes)?)
            }
            Effect::LineUp { .. } => return Ok(None),
            effect => return unsupported(format!("`{}`", effect.name())),
        }))
    }

    fn expression(&mut self, word: Word) -> Taken<Expression> {
        let mut parts = PARTS_MAX;
        self.part(word, &mut parts)
    }

    /// A word with so many parts at most.
    fn part(&mut self, word: Word, parts: &mut usize) -> Taken<Expression> {
        *parts =
            parts.checked_sub(1).map_or_else(|| unsupported(format!("a word of more than {PARTS_MAX} parts")), Ok)?;
        Ok(match self.function.words[word.0 as usize] {
            // u32 to usize widens
            WordDef::Constant(number) => Expression::Number(number),
            WordDef::CalldataSize => Expression::Size,
            WordDef::CalldataWord(offset) => Expression::Calldata(Box::new(self.part(offset, parts)?)),
            WordDef::ScratchWord(offset) => Expression::Scratch(Box::new(self.part(offset, parts)?)),
            WordDef::Op(op, a, b) => {
                // Code has the number of bits on top, and that of a byte.
                let turned = matches!(op, WordOp::Shl | WordOp::Shr | WordOp::Byte);
                let (a, b) = if turned { (b, a) } else { (a, b) };
                let operands = [self.part(a, parts)?, self.part(b, parts)?, Expression::Number(U256::ZERO)];
                Expression::of(Operator::Word(op), operands)
            }
            WordDef::ModOp(op, [a, b, m]) => {
                let mut first = self.part(a, parts)?;
                if a == b && matches!(first, Expression::Op(..)) {
                    // A square of a square would be four times as long.
                    let word = self.made_word();
                    self.squared.push(Step::Bind(word, first));
                    first = Expression::Word(word);
                }
                let second = if a == b { first.clone() } else { self.part(b, parts)? };
                let operands = [first, second, self.part(m, parts)?];
                Expression::of(Operator::Modular(op), operands)
            }
            WordDef::Defined => Expression::Word(word.0),
            WordDef::Has(feature @ Feature::WordLanes) => return unsupported(format!("a test for {feature:?}")),
            WordDef::Has(_) => Expression::Number(U256::ZERO),
            WordDef::LeadingZeros(_) => return unsupported("such a word"),
        })
    }
}

/// The bytes of two words from one of the first word on, as many as a word has.
fn across(first: u32, second: u32, first_byte: u32) -> Expression {
    let shifted = |op, bits, word| {
        let operands = [Expression::Number(U256::from(bits)), Expression::Word(word), Expression::Number(U256::ZERO)];
        Expression::of(Operator::Word(op), operands)
    };
    let bits = 8 * first_byte;
    let (high, low) = (shifted(WordOp::Shl, bits, first), shifted(WordOp::Shr, 256 - bits, second));
    Expression::of(Operator::Word(WordOp::Or), [high, low, Expression::Number(U256::ZERO)])
}

impl Expression {
    /// An operation, done where it is one of numbers.
    fn of(operator: Operator, operands: [Self; 3]) -> Self {
        match operands {
            [Self::Number(a), Self::Number(b), Self::Number(c)] => Self::Number(operator.apply(a, b, c)),
            operands => Self::Op(operator, Box::new(operands)),
        }
    }
}

impl Operator {
    /// The result of numbers.
    pub(crate) fn apply(self, a: U256, b: U256, c: U256) -> U256 {
        match self {
            Self::Word(op @ (WordOp::Shl | WordOp::Shr | WordOp::Byte)) => op.apply(b, a),
            Self::Word(op) => op.apply(a, b),
            Self::Modular(op) => op.apply(a, b, c),
        }
    }

    /// Its number in keys, as in Coq.
    pub(crate) const fn number(self) -> u64 {
        match self {
            Self::Word(WordOp::Add) => 0,
            Self::Word(WordOp::Sub) => 1,
            Self::Word(WordOp::Mul) => 2,
            Self::Word(WordOp::Div) => 3,
            Self::Word(WordOp::Mod) => 4,
            Self::Word(WordOp::Lt) => 5,
            Self::Word(WordOp::Eq) => 6,
            Self::Word(WordOp::And) => 7,
            Self::Word(WordOp::Or) => 8,
            Self::Word(WordOp::Xor) => 9,
            Self::Word(WordOp::Shl) => 10,
            Self::Word(WordOp::Shr) => 11,
            Self::Word(WordOp::Byte) => 12,
            Self::Modular(ModOp::Add) => 13,
            Self::Modular(ModOp::Mul) => 14,
        }
    }

    /// True if the first two operands may be exchanged.
    pub(crate) const fn commutes(self) -> bool {
        matches!(
            self,
            Self::Modular(_)
                | Self::Word(WordOp::Add | WordOp::Mul | WordOp::Eq | WordOp::And | WordOp::Or | WordOp::Xor)
        )
    }
}
