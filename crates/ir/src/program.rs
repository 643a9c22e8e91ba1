//! The program: functions of straight-line blocks and structured control. Plain data; every other file is about it.

use crate::effect::Effect;
use crate::machine::{Capacity, Feature, FirstSteps, ModOp, SequenceStep, WordOp};
pub use crate::modulus::Modulus;
pub use crate::names::{ArrayId, ConstantId, FunctionId, Operand, SubprogramId, TableId, Value, VariableId, Word};
use crate::origin::Origins;
use num_bigint::BigUint;
use num_integer::Integer;
pub use residue_formula::FieldOp;
use ruint::aliases::U256;
use std::collections::BTreeSet;
use std::ops::Range;

/// One operation of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op {
    /// Kind of operation.
    pub kind: FieldOp,
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

/// Definition of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordDef {
    /// A constant.
    Constant(U256),
    /// The number of bytes of calldata.
    CalldataSize,
    /// The 32 bytes of calldata from an offset, zero past the end.
    CalldataWord(Word),
    /// The 32 bytes of scratch memory from an offset, as they are where the expression is computed.
    ScratchWord(Word),
    /// a op b.
    Op(WordOp, Word, Word),
    /// a op b mod m, of [a, b, m]. One word as a and b is computed once.
    ModOp(ModOp, [Word; 3]),
    /// The bits that are 0 above the highest that is 1: 256 for 0.
    LeadingZeros(Word),
    /// 1 if the interface has the feature, else 0.
    Has(Feature),
    /// The result of a statement: a bound word, a comparison, the index of a loop.
    Defined,
}

impl WordDef {
    /// The words that it is computed of, in order; one that stands for two operands of [`WordDef::ModOp`] once.
    pub fn inner(&self) -> impl Iterator<Item = Word> {
        let words = match *self {
            Self::Constant(_) | Self::CalldataSize | Self::Has(_) | Self::Defined => [None; 3],
            Self::CalldataWord(inner) | Self::ScratchWord(inner) | Self::LeadingZeros(inner) => {
                [Some(inner), None, None]
            }
            Self::Op(_, a, b) => [Some(a), Some(b), None],
            Self::ModOp(_, [a, b, modulus]) => [Some(a), (a != b).then_some(b), Some(modulus)],
        };
        words.into_iter().flatten()
    }
}

/// A list of statements, executed in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Region {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// Regions, executed as the kind says. The state enters an arm by its params and leaves it by its results; after the
/// statement its results hold the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// Kind of control: the arms that are done, and their order.
    pub kind: ControlKind,
    /// State before the first; a branch has none.
    pub initial: Vec<Operand>,
    /// The regions.
    pub arms: Vec<Arm>,
    /// State after the last.
    pub results: Vec<Value>,
}

/// A region with the state that it takes and gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// State at the start; those of a branch have none.
    pub params: Vec<Value>,
    /// Body.
    pub body: Region,
    /// State at the end.
    pub gives: Vec<Operand>,
}

impl Arm {
    /// The rows that it takes as part of a sequence: before the last of them is nothing but arithmetic.
    pub fn takes(&self) -> Vec<Take<'_>> {
        let mut takes = Vec::new();
        for statement in &self.body.statements {
            takes.push(match statement {
                Statement::Block(_) => continue,
                Statement::Effect(Effect::TakeRow { table, results }) => Take { of: RowsOf::Table(*table), results },
                Statement::Effect(Effect::TakeElement { array, results }) => {
                    Take { of: RowsOf::Array(*array), results }
                }
                _ => break,
            });
        }
        takes
    }

    /// The countdown that it begins with, and its count.
    pub fn countdown(&self) -> Option<(Word, &Control)> {
        match self.body.statements.first() {
            Some(Statement::Control(control)) => match control.kind {
                ControlKind::Countdown { count } => Some((count, control)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The kinds of control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlKind {
    /// A loop: its one arm is done `count` times, which may be none.
    Repeat {
        /// Number of turns.
        count: Word,
        /// The turn's index, from 0: a word of the body.
        index: Word,
    },
    /// A loop of few turns that are all written out, number 0 last. It is entered at turn `count` − 1, or left if `count` is
    /// 0; `count` must be no more than the number of turns.
    Countdown {
        /// Number of turns that are done: the last ones.
        count: Word,
    },
    /// Parts that are done one after the other, most of them many times. They see no words from outside but the count of a
    /// countdown that a part begins with.
    Sequence(Order),
    /// A choice between two arms: the first is done if `condition` is not 0, else the second.
    Branch {
        /// 0 chooses the second.
        condition: Word,
    },
}

/// In which order the parts of a sequence are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Steps, each with the part that it does; at least one.
    pub steps: Vec<SequenceStep<Word>>,
    /// For each part the one, a later one, that is always done after it, if there is one.
    pub then: Vec<Option<usize>>,
    /// Prefix of the steps that is done; all steps if `None`.
    pub first: Option<FirstSteps<Word>>,
}

impl Order {
    /// The words that choose parts and rows, each once.
    pub fn choosing(&self) -> Vec<Word> {
        let mut words = Vec::new();
        for word in self.steps.iter().filter_map(SequenceStep::word) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }

    /// First bits of the cells of a word, ascending: every multiple of the greatest common divisor of the positions that steps read, or of 16 where 16
    /// divides that; where it is below 16, these positions alone.
    pub fn cells(&self, word: Word) -> Vec<u32> {
        let first_bits = self.steps.iter().filter_map(|step| match *step {
            SequenceStep::Chosen { word: read, first_bit, .. } | SequenceStep::Carry { word: read, first_bit } => {
                (read == word).then_some(first_bit)
            }
            SequenceStep::Part(_) | SequenceStep::CarryNumber(_) => None,
        });
        let read: BTreeSet<u32> = first_bits.collect();
        let cell_bits = SequenceStep::<Word>::CELLS.bits;
        match read.iter().fold(0, |one: u32, other| one.gcd(other)) {
            common if common.is_multiple_of(cell_bits) => (0..256).step_by(cell_bits as usize).collect(), // widens
            common if common < cell_bits => read.into_iter().collect(),
            common => (0..=256 - cell_bits).step_by(common as usize).collect(), // the same
        }
    }

    /// For each group of parts that can be chosen, of `parts` parts, its range: see [`SequenceStep::Chosen`].
    pub fn groups(&self, parts: usize) -> Vec<Range<usize>> {
        let choices = if self.chooses_parts() { SequenceStep::<Word>::choices(parts) } else { 0 };
        let firsts = self.steps.iter().filter_map(|step| match *step {
            SequenceStep::Chosen { first_part, .. } => Some(first_part),
            SequenceStep::Part(_) | SequenceStep::Carry { .. } | SequenceStep::CarryNumber(_) => None,
        });
        let bounds: BTreeSet<usize> = firsts.chain([0, choices]).collect();
        bounds.iter().zip(bounds.iter().skip(1)).map(|(&first, &end)| first..end).collect()
    }

    /// True if words choose parts.
    pub fn chooses_parts(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, SequenceStep::Chosen { .. }))
    }

    /// For each step the statement that takes the row it carries, if it carries one. Fails if rows are not those that
    /// parts take.
    pub fn takes<'a>(&self, parts: &'a [Arm]) -> Result<Vec<Option<Take<'a>>>, String> {
        let taken = |first: usize| {
            let chain = std::iter::successors(Some(first), |&number| self.then.get(number).copied().flatten());
            chain.filter_map(|number| parts.get(number)).flat_map(Arm::takes).collect::<Vec<_>>()
        };
        let choices = if self.chooses_parts() { SequenceStep::<Word>::choices(parts.len()) } else { 0 };
        if let Some(number) = (0..choices).find(|&number| !taken(number).is_empty()) {
            return Err(format!("part {number}, which can be chosen, takes a row"));
        }
        let (mut all, mut carried) = (Vec::new(), 0);
        for step in &self.steps {
            let takes = match *step {
                SequenceStep::Carry { .. } | SequenceStep::CarryNumber(_) => {
                    carried += 1;
                    continue;
                }
                SequenceStep::Part(number) => taken(number),
                SequenceStep::Chosen { .. } => Vec::new(),
            };
            if takes.len() != carried {
                return Err(format!("{carried} rows come with a part that takes {}", takes.len()));
            }
            all.extend(takes.into_iter().map(Some));
            all.push(None);
            carried = 0;
        }
        if carried == 0 { Ok(all) } else { Err("a row comes with no part".to_owned()) }
    }
}

/// A statement that takes a row which a step of a sequence carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Take<'a> {
    /// Source of the row.
    pub of: RowsOf,
    /// Its values.
    pub results: &'a [Value],
}

/// Table or array, as the source of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowsOf {
    /// A table.
    Table(TableId),
    /// An array.
    Array(ArrayId),
}

impl Control {
    /// The most turns of a countdown.
    pub const TURNS_MAX: usize = 16;

    /// The most places on the stack that the steps of a sequence take: one each, and two with a row.
    pub const STEPS_MAX: usize = 800;

    /// The words that it reads itself, each once.
    pub fn words(&self) -> Vec<Word> {
        match &self.kind {
            ControlKind::Repeat { count, .. } | ControlKind::Countdown { count } => vec![*count],
            ControlKind::Sequence(order) => {
                let choosing = order.choosing();
                let count = order.first.map(|first| first.count).filter(|count| !choosing.contains(count));
                choosing.into_iter().chain(count).collect()
            }
            ControlKind::Branch { condition } => vec![*condition],
        }
    }
}

/// One step of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// Arithmetic.
    Block(Block),
    /// A call of an earlier function.
    Call {
        /// Callee.
        function: FunctionId,
        /// Its input.
        arguments: Vec<Operand>,
        /// Its output.
        results: Vec<Value>,
    },
    /// Loops and choices.
    Control(Box<Control>),
    /// Everything else.
    Effect(Effect),
}

impl From<Effect> for Statement {
    fn from(effect: Effect) -> Self {
        Self::Effect(effect)
    }
}

impl From<Control> for Statement {
    fn from(control: Control) -> Self {
        Self::Control(Box::new(control))
    }
}

impl Statement {
    /// Regions within it, with their params and results.
    pub fn arms(&self) -> &[Arm] {
        match self {
            Statement::Control(control) => &control.arms,
            _ => &[],
        }
    }

    /// The same, to be changed.
    pub fn arms_mut(&mut self) -> &mut [Arm] {
        match self {
            Statement::Control(control) => &mut control.arms,
            _ => &mut [],
        }
    }

    /// Calls `visit` on every operand that it reads itself, results of its arms included; not on operands inside its
    /// arms.
    pub fn for_each_operand(&self, visit: &mut impl FnMut(Operand)) {
        match self {
            Statement::Block(block) => block.ops.iter().flat_map(|(_, op)| [op.x, op.y]).for_each(visit),
            Statement::Call { arguments, .. } => arguments.iter().copied().for_each(visit),
            Statement::Control(control) => {
                let given = control.arms.iter().flat_map(|arm| &arm.gives);
                control.initial.iter().chain(given).copied().for_each(visit);
            }
            Statement::Effect(effect) => effect.operands().for_each(visit),
        }
    }

    /// The same, to be changed.
    pub fn for_each_operand_mut(&mut self, visit: &mut impl FnMut(&mut Operand)) {
        match self {
            Statement::Block(block) => block.ops.iter_mut().flat_map(|(_, op)| [&mut op.x, &mut op.y]).for_each(visit),
            Statement::Call { arguments, .. } => arguments.iter_mut().for_each(visit),
            Statement::Control(control) => {
                let given = control.arms.iter_mut().flat_map(|arm| &mut arm.gives);
                control.initial.iter_mut().chain(given).for_each(visit);
            }
            Statement::Effect(effect) => effect.operands_mut().for_each(visit),
        }
    }

    /// Calls `visit` on every value that it defines itself, the params of its arms included; not on definitions inside
    /// its arms.
    pub fn for_each_definition(&self, visit: &mut impl FnMut(Value)) {
        match self {
            Statement::Block(block) => block.ops.iter().map(|&(value, _)| value).for_each(visit),
            Statement::Call { results, .. } => results.iter().copied().for_each(visit),
            Statement::Control(control) => {
                let params = control.arms.iter().flat_map(|arm| &arm.params);
                control.results.iter().chain(params).copied().for_each(visit);
            }
            Statement::Effect(effect) => effect.values_defined().iter().copied().for_each(visit),
        }
    }

    /// The words that it reads itself, each as often as it reads it.
    pub fn words(&self) -> Vec<Word> {
        match self {
            Statement::Block(_) | Statement::Call { .. } => Vec::new(),
            Statement::Control(control) => control.words(),
            Statement::Effect(effect) => effect.words().collect(),
        }
    }
}

/// A function: its values and words are its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, unique in the program.
    pub name: String,
    /// Inputs.
    pub params: Vec<Value>,
    /// Body.
    pub body: Region,
    /// Outputs.
    pub results: Vec<Operand>,
    /// Its words.
    pub words: Vec<WordDef>,
    /// Number of values: they are numbered from 0.
    pub value_count: u32,
    /// Source positions of its operations.
    pub origins: Origins,
}

impl Function {
    /// Definitions of the words that statements read, transitively. Words that only a dropped arm read are left out.
    pub fn words_read(&self) -> impl Iterator<Item = &WordDef> {
        let mut found = BTreeSet::new();
        let mut next = Vec::new();
        self.body.walk(&mut |statement| next.extend(statement.words()));
        while let Some(word) = next.pop() {
            if found.insert(word) {
                next.extend(self.words[word.0 as usize].inner());
            }
        }
        found.into_iter().map(|word| &self.words[word.0 as usize])
    }
}

/// An array in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayDecl {
    /// Its name.
    pub name: String,
    /// Field values in one element.
    pub element_values: usize,
    /// Maximum number of elements.
    pub capacity: Capacity,
}

/// A table of constants in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDecl {
    /// Its name.
    pub name: String,
    /// Field values in one element.
    pub element_values: usize,
    /// Its elements, canonical; at least one.
    pub elements: Vec<Vec<BigUint>>,
}

/// A field program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// m.
    pub modulus: Modulus,
    /// The pool of constants, canonical.
    pub constants: Vec<BigUint>,
    /// Functions, callees before callers; the last one is the program's start and takes and gives nothing.
    pub functions: Vec<Function>,
    /// Arrays in memory.
    pub arrays: Vec<ArrayDecl>,
    /// Tables of constants in code.
    pub tables: Vec<TableDecl>,
    /// Names of the variables; all hold 0 at the start. A subprogram has none of its own.
    pub variables: Vec<String>,
    /// Programs over other moduli that this one enters. They share its variables and nothing else, and have none themselves.
    pub subprograms: Vec<Program>,
}

impl Program {
    /// Entry function of the program.
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

    /// The program and its subprograms.
    pub fn units(&self) -> impl Iterator<Item = &Program> {
        std::iter::once(self).chain(&self.subprograms)
    }
}

impl Region {
    /// Calls `visit` on every block of the region, those of inner regions included, in order.
    pub fn for_each_block<'a>(&'a self, visit: &mut impl FnMut(&'a Block)) {
        self.walk(&mut |statement| {
            if let Statement::Block(block) = statement {
                visit(block);
            }
        });
    }

    /// Calls `visit` on every statement of the region, in order; those of its arms come after a statement.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Statement)) {
        for statement in &self.statements {
            visit(statement);
            statement.arms().iter().for_each(|arm| arm.body.walk(visit));
        }
    }

    /// Changes every statement of the region by `visit`, in order, those of its arms after a statement; `visit` returns
    /// its fate.
    pub fn rewrite(&mut self, visit: &mut impl FnMut(&mut Statement) -> Rewritten) {
        self.statements.retain_mut(|statement| {
            let rewritten = visit(statement);
            if rewritten == Rewritten::Kept {
                statement.arms_mut().iter_mut().for_each(|arm| arm.body.rewrite(visit));
            }
            rewritten != Rewritten::Dropped
        });
    }
}

/// Fate of a statement, see [`Region::rewrite`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewritten {
    /// It stays, and the statements in its arms are rewritten.
    Kept,
    /// It stays, with its arms as they are.
    Left,
    /// It goes.
    Dropped,
}

impl Program {
    /// Calls `visit` on every effect of the program, function by function, in order; not on those of subprograms.
    pub fn for_each_effect<'a>(&'a self, visit: &mut impl FnMut(&'a Effect)) {
        for function in &self.functions {
            function.body.walk(&mut |statement| {
                if let Statement::Effect(effect) = statement {
                    visit(effect);
                }
            });
        }
    }
}
