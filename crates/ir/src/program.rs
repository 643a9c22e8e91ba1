//! The program: functions of straight-line blocks and structured control. Plain data; every other file is about it.

use crate::hash::Piece;
use crate::machine::{Capacity, Cells, Step, WordOp};
use crate::origin::Origins;
use num_bigint::BigUint;
use ruint::aliases::U256;
use std::collections::BTreeSet;

/// The result of an operation, defined once in its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// An entry of the program's pool of constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstantId(pub u32);

/// A function of the program, by its place in [`Program::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A 256-bit word of a function, by its place in [`Function::words`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(pub u32);

/// What an operation reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// The result of an earlier operation or statement.
    Value(Value),
    /// A constant; it costs nothing to read.
    Constant(ConstantId),
}

/// The kinds of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpKind {
    /// (x, y) ↦ x + y mod m.
    Add,
    /// (x, y) ↦ x − y mod m.
    Sub,
    /// (x, y) ↦ x·y mod m.
    Mul,
}

/// One operation of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op {
    /// What it computes.
    pub kind: OpKind,
    /// First operand.
    pub x: Operand,
    /// Second operand.
    pub y: Operand,
}

/// Straight-line operations, each value defined once: the unit of ordering, fusing, allocation and batching.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The operations in order, each with the value it defines.
    pub ops: Vec<(Value, Op)>,
}

impl Block {
    /// The values that the block reads and does not define.
    pub fn inputs(&self) -> BTreeSet<Value> {
        let defined: BTreeSet<Value> = self.ops.iter().map(|&(value, _)| value).collect();
        let read = self.ops.iter().flat_map(|(_, op)| [op.x, op.y]);
        read.filter_map(Operand::value).filter(|value| !defined.contains(value)).collect()
    }
}

impl Operand {
    /// The value, if it is one.
    pub fn value(self) -> Option<Value> {
        match self {
            Operand::Value(value) => Some(value),
            Operand::Constant(_) => None,
        }
    }
}

/// What a word is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordDef {
    /// A constant.
    Constant(U256),
    /// The number of bytes of calldata.
    CalldataSize,
    /// The 32 bytes of calldata from an offset, zero past the end.
    CalldataWord(Word),
    /// a op b.
    Op(WordOp, Word, Word),
    /// The result of a statement: a bound word, a comparison, the index of a loop.
    Defined,
}

/// A list of statements, executed in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Region {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A loop. The index runs from 0; `params` hold the state at the start of a turn, `next` at its end; after the last turn
/// (or at once if there is none) the state is in `results`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// Number of turns.
    pub count: Word,
    /// The turn's index, a word of the body.
    pub index: Word,
    /// State before the loop.
    pub initial: Vec<Operand>,
    /// State at the start of a turn.
    pub params: Vec<Value>,
    /// What is done each turn.
    pub body: Region,
    /// State at the end of a turn.
    pub next: Vec<Operand>,
    /// State after the loop.
    pub results: Vec<Value>,
}

/// A loop of few turns that are all written out. Their numbers fall to 0; it is entered at turn `count` − 1, or left at once
/// if `count` is 0. `count` must be no more than the number of turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Countdown {
    /// How many of the turns are done: the last ones.
    pub count: Word,
    /// State before the first of them.
    pub initial: Vec<Operand>,
    /// The turns in the order of the text, number 0 last.
    pub turns: Vec<Turn>,
    /// State after the last.
    pub results: Vec<Value>,
}

impl Countdown {
    /// The most turns.
    pub const TURNS_MAX: usize = 16;
}

/// A turn of a countdown, or a part of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// State at the start.
    pub params: Vec<Value>,
    /// What is done.
    pub body: Region,
    /// State at the end.
    pub next: Vec<Operand>,
}

/// Parts that are done one after the other, most of them many times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// Which part is done; at least one.
    pub order: Vec<Step<Word>>,
    /// State before the first.
    pub initial: Vec<Operand>,
    /// The parts. They see no words from outside but the count of a countdown that a part begins with.
    pub parts: Vec<Turn>,
    /// For each part the one, a later one, that is always done behind it, if there is one.
    pub then: Vec<Option<usize>>,
    /// State after the last.
    pub results: Vec<Value>,
}

impl Sequence {
    /// The most steps: each takes a place on the stack.
    pub const LENGTH_MAX: usize = 512;

    /// The words that choose parts, each once.
    pub fn choosing(&self) -> Vec<Word> {
        let mut words = Vec::new();
        for step in &self.order {
            match *step {
                Step::Chosen { word, .. } if !words.contains(&word) => words.push(word),
                _ => {}
            }
        }
        words
    }
}

/// A choice between two regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// 0 chooses `otherwise`.
    pub condition: Word,
    /// Executed if the condition is not 0.
    pub then: Region,
    /// What `then` gives.
    pub then_values: Vec<Operand>,
    /// Executed if the condition is 0.
    pub otherwise: Region,
    /// What `otherwise` gives.
    pub otherwise_values: Vec<Operand>,
    /// Holds what was given.
    pub results: Vec<Value>,
}

/// One step of a region. The methods of [`crate::Machine`] say what each means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the arguments of the methods of `Machine`")]
pub enum Statement {
    Block(Block),
    Call { function: FunctionId, arguments: Vec<Operand>, results: Vec<Value> },
    Repeat(Box<Repeat>),
    Countdown(Box<Countdown>),
    Sequence(Box<Sequence>),
    Branch(Box<Branch>),
    Reserve { array: usize, count: Word },
    Load { array: usize, index: Word, results: Vec<Value> },
    Store { array: usize, index: Word, values: Vec<Operand> },
    Fill { array: usize, count: u32, values: Vec<Operand> },
    SetIndices { variable: usize, array: usize, indices: Word, cells: Cells },
    Index { result: Word, variable: usize, array: usize, first_bit: u32, cells: Cells },
    Parse { result: Value, offset: Word, size_bytes: u32 },
    ParseMontLe { result: Value, offset: Word },
    Reduce { result: Value, word: Word },
    IsZero { result: Word, value: Operand },
    IsOdd { result: Word, value: Operand },
    Equal { result: Word, a: Operand, b: Operand },
    Bind { result: Word, word: Word },
    Get { result: Word, variable: usize },
    Set { variable: usize, word: Word },
    Sha256 { result: Word, pieces: Vec<Piece<Word>> },
    Require { condition: Word },
    ReturnWord { word: Word },
    ReturnElements { values: Vec<Operand>, size_bytes: u32 },
    ReturnMontLe { values: Vec<Operand> },
}

/// A function: its values and words are its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, unique in the program.
    pub name: String,
    /// Inputs.
    pub params: Vec<Value>,
    /// What it does.
    pub body: Region,
    /// Outputs.
    pub results: Vec<Operand>,
    /// Its words.
    pub words: Vec<WordDef>,
    /// Number of values: they are numbered from 0.
    pub value_count: u32,
    /// Where its operations stand in the text.
    pub origins: Origins,
}

/// An array in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayDecl {
    /// Its name.
    pub name: String,
    /// Field values in one element.
    pub element_values: usize,
    /// How many elements it can hold.
    pub capacity: Capacity,
}

/// A field program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// m.
    pub modulus: BigUint,
    /// The pool of constants, canonical.
    pub constants: Vec<BigUint>,
    /// Functions, callees before callers; the last one is the program's start and takes and gives nothing.
    pub functions: Vec<Function>,
    /// Arrays in memory.
    pub arrays: Vec<ArrayDecl>,
    /// Names of the variables; all hold 0 at the start.
    pub variables: Vec<String>,
}

impl Program {
    /// Where the program starts.
    pub fn entry(&self) -> &Function {
        self.functions.last().expect("a program has its start, `verify` checks it")
    }

    /// The function `id`.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The constant `id`.
    pub fn constant(&self, id: ConstantId) -> &BigUint {
        &self.constants[id.0 as usize]
    }

    /// Bytes of one element of the modulus' own width, padded to 64-bit limbs.
    pub fn element_bytes(&self) -> usize {
        usize::try_from(self.modulus.bits().div_ceil(64) * 8).expect("a modulus has at most 4096 bits")
    }
}

impl Region {
    /// Calls `visit` on every block of the region, those of inner regions included, in order.
    pub fn for_each_block<'a>(&'a self, visit: &mut impl FnMut(&'a Block)) {
        self.for_each_statement(&mut |statement| {
            if let Statement::Block(block) = statement {
                visit(block);
            }
        });
    }

    /// Calls `visit` on every statement of the region, in order; an inner region comes behind its statement.
    pub fn for_each_statement<'a>(&'a self, visit: &mut impl FnMut(&'a Statement)) {
        for statement in &self.statements {
            visit(statement);
            match statement {
                Statement::Repeat(repeat) => repeat.body.for_each_statement(visit),
                Statement::Countdown(countdown) => {
                    countdown.turns.iter().for_each(|turn| turn.body.for_each_statement(visit));
                }
                Statement::Sequence(sequence) => {
                    sequence.parts.iter().for_each(|part| part.body.for_each_statement(visit));
                }
                Statement::Branch(branch) => {
                    branch.then.for_each_statement(visit);
                    branch.otherwise.for_each_statement(visit);
                }
                _ => {}
            }
        }
    }
}
