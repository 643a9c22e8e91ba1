//! Programs with branches, calls, several ends and at most one loop: statements in order, out of a recorded program. What a program asks of its
//! interface by `has` is answered by no, and arms that are not taken then are left out.

pub(crate) mod paths;
pub(crate) mod turns;

use crate::straight::{ELEMENT_BYTES, Operation, Read, Taken, constant, modulus_of, named, unsupported};
use crate::sum::{Number, is_wide};
use residue_ir::{
    ControlKind, Effect, Feature, FieldOp, Function, Operand, Program, Region, Statement, Value, Word, WordDef, WordOp,
};
use ruint::aliases::U256;
use std::collections::{HashMap, HashSet};

/// Parts of the expression of a word: words that are written out where they are used.
const PARTS_MAX: usize = 256;

/// A word of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A number.
    Number(U256),
    /// Bytes of calldata.
    Size,
    /// 32 bytes of calldata from an offset on.
    Calldata(u32),
    /// The result of a step.
    Defined(Word),
    /// a op b.
    Op(WordOp, Box<Self>, Box<Self>),
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Operations on elements.
    Operations(Vec<Operation>),
    /// Parallel copies.
    Move {
        /// The values.
        to: Vec<Value>,
        /// Their new values.
        from: Vec<Read>,
    },
    /// 32 bytes of calldata from an offset on; the program fails if the number is not below the modulus.
    Parse(Value, u32),
    /// The same at the offset that a word is.
    ParseAt(Value, Expression),
    /// A word modulo p.
    Reduce(Value, Expression),
    /// 1 if the element is 0, else 0.
    IsZero(Word, Read),
    /// The word of an expression.
    Bind(Word, Expression),
    /// The program fails if the word is 0.
    Require(Expression),
    /// The first steps if the word is not 0, else the second.
    Branch(Expression, Vec<Self>, Vec<Self>),
    /// A function of its own values.
    Call {
        /// Number of the function.
        function: usize,
        /// Its parameters.
        arguments: Vec<Read>,
        /// Values that its results are given to.
        results: Vec<Value>,
    },
    /// Elements of 32 bytes each: the end.
    Return(Vec<Read>),
    /// A word: the end.
    ReturnWord(Expression),
    /// So many bytes of calldata from an offset on, more than a word; the program fails if the number is not below the modulus.
    ParseBytes(Value, u32, u32),
    /// Elements of so many bytes each: the end.
    ReturnBytes(u32, Vec<Read>),
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routine {
    /// Parameters.
    pub parameters: Vec<Value>,
    /// Statements.
    pub steps: Vec<Step>,
    /// Values that it gives.
    pub results: Vec<Read>,
}

/// A loop of the function where the program begins, after that function's steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// Number of turns.
    pub count: Expression,
    /// The index of a turn, from 0 on.
    pub index: Word,
    /// Values that go from turn to turn.
    pub state: Vec<Value>,
    /// Their first ones.
    pub first: Vec<Read>,
    /// Steps of a turn.
    pub turn: Vec<Step>,
    /// The state of the next turn.
    pub gives: Vec<Read>,
    /// Values that the last state is given to.
    pub results: Vec<Value>,
    /// Steps after the loop.
    pub after: Vec<Step>,
}

/// A program: its functions, each of which calls earlier ones; the last one is where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// p, of at most 768 bits.
    pub modulus: Number,
    /// The functions.
    pub routines: Vec<Routine>,
    /// The loop, if there is one.
    pub looped: Option<Loop>,
}

impl Flow {
    /// Reads a verified program.
    pub fn of(program: &Program) -> Taken<Self> {
        let modulus = modulus_of(program)?;
        let entry = program.functions.len() - 1;
        if !std::ptr::eq(program.entry(), &raw const program.functions[entry]) {
            return unsupported("a program that does not begin with its last function");
        }
        let mut looped = None;
        let routines = program.functions.iter().enumerate().map(|(number, function)| {
            let known = known_words(function);
            let (numbers, made) = (HashMap::new(), function.value_count);
            let is_wide = is_wide(modulus);
            let mut reader = Reader { program, function, number, known, numbers, made, is_wide };
            let statements = &function.body.statements;
            let place = statements.iter().position(repeats).filter(|_| number == entry);
            let steps = reader.statements(&statements[..place.unwrap_or(statements.len())])?;
            let found = place.map(|place| reader.looped(&statements[place], &statements[place + 1..])).transpose()?;
            looped = found.map(|found| found.with_values_from(&steps));
            let results = reader.reads(&function.results)?;
            Ok(Routine { parameters: function.params.clone(), steps, results })
        });
        let routines = routines.collect::<Taken<Vec<_>>>()?;
        Ok(Self { modulus, routines, looped })
    }
}

impl Loop {
    /// The same with all values in the state that are made before the loop and read in a turn or later: they go from turn to turn as they are. What is
    /// parsed at known places is read from there.
    fn with_values_from(mut self, before: &[Step]) -> Self {
        let made = before.iter().flat_map(Step::defined).filter(|value| {
            let is_parse = |step: &Step| matches!(step, Step::Parse(parsed, _) if parsed == value);
            !before.iter().any(is_parse) && !self.state.contains(value)
        });
        let read: HashSet<Value> = self
            .turn
            .iter()
            .chain(&self.after)
            .flat_map(Step::read)
            .chain(self.gives.iter().copied())
            .filter_map(Read::value)
            .collect();
        let mut outer: Vec<Value> = made.filter(|value| read.contains(value)).collect();
        outer.sort_unstable_by_key(|value| value.0);
        outer.dedup();
        for value in outer {
            self.state.push(value);
            self.first.push(Read::Value(value));
            self.gives.push(Read::Value(value));
            self.results.push(value);
        }
        self
    }
}

impl Step {
    /// The values that it defines.
    fn defined(&self) -> Vec<Value> {
        match self {
            Self::Operations(all) => all.iter().map(|operation| operation.value).collect(),
            Self::Move { to: values, .. } | Self::Call { results: values, .. } => values.clone(),
            Self::Parse(value, _) | Self::ParseAt(value, _) | Self::Reduce(value, _) => vec![*value],
            Self::Branch(_, first, second) => first.iter().chain(second).flat_map(Self::defined).collect(),
            _ => Vec::new(),
        }
    }

    /// The values that it reads.
    fn read(&self) -> Vec<Read> {
        match self {
            Self::Operations(all) => all.iter().flat_map(|operation| [operation.x, operation.y]).collect(),
            Self::Move { from: reads, .. } | Self::Call { arguments: reads, .. } | Self::Return(reads) => reads.clone(),
            Self::IsZero(_, read) => vec![*read],
            Self::Branch(_, first, second) => first.iter().chain(second).flat_map(Self::read).collect(),
            _ => Vec::new(),
        }
    }
}

/// True of a loop.
const fn repeats(statement: &Statement) -> bool {
    matches!(statement, Statement::Control(control) if matches!(control.kind, ControlKind::Repeat { .. }))
}

/// Reads one function.
struct Reader<'a> {
    program: &'a Program,
    function: &'a Function,
    number: usize,
    /// The numbers of words that neither calldata nor the interface has an effect on.
    known: Vec<Option<U256>>,
    /// The values that are looked up at constant indices.
    numbers: HashMap<Value, Number>,
    /// Values of the function, and those that are made here.
    made: u32,
    /// True if the modulus is no word.
    is_wide: bool,
}

/// True of steps after which nothing is done.
fn ends(steps: &[Step]) -> bool {
    match steps.last() {
        Some(Step::Return(_) | Step::ReturnWord(_) | Step::ReturnBytes(..)) => true,
        Some(Step::Branch(_, first, second)) => ends(first) && ends(second),
        _ => false,
    }
}

impl Reader<'_> {
    /// A loop, and all that comes after it.
    fn looped(&mut self, statement: &Statement, after: &[Statement]) -> Taken<Loop> {
        let Statement::Control(control) = statement else { return unsupported("such a loop") };
        let (ControlKind::Repeat { count, index }, [arm]) = (&control.kind, &*control.arms) else {
            return unsupported(named(&control.kind));
        };
        let (count, index) = (self.expression(*count)?, *index);
        let first = self.reads(&control.initial)?;
        let turn = self.region(&arm.body)?;
        let (state, gives) = (arm.params.clone(), self.reads(&arm.gives)?);
        let results = control.results.clone();
        let after = self.statements(after)?;
        Ok(Loop { count, index, state, first, turn, gives, results, after })
    }

    fn region(&mut self, region: &Region) -> Taken<Vec<Step>> {
        self.statements(&region.statements)
    }

    fn statements(&mut self, statements: &[Statement]) -> Taken<Vec<Step>> {
        let mut steps = Vec::new();
        for statement in statements {
            if ends(&steps) {
                // What is left is not done.
                break;
            }
            match statement {
                Statement::Block(block) => {
                    let operations = block.ops.iter().map(|&(value, op)| {
                        Ok(Operation { value, kind: op.kind, x: self.read(op.x)?, y: self.read(op.y)? })
                    });
                    steps.push(Step::Operations(operations.collect::<Taken<_>>()?));
                }
                Statement::Effect(Effect::Equal { result, a, b }) => {
                    // Equal elements have no difference.
                    let value = Value(self.made);
                    self.made += 1;
                    let (x, y) = (self.read(*a)?, self.read(*b)?);
                    steps.push(Step::Operations(vec![Operation { value, kind: FieldOp::Sub, x, y }]));
                    steps.push(Step::IsZero(*result, Read::Value(value)));
                }
                Statement::Effect(effect) => steps.extend(self.effect(effect)?),
                Statement::Call { function, arguments, results } => {
                    let function = function.0 as usize; // u32 to usize widens
                    if function >= self.number {
                        return unsupported("a call of a later function");
                    }
                    steps.push(Step::Call { function, arguments: self.reads(arguments)?, results: results.clone() });
                }
                Statement::Control(control) => match control.kind {
                    ControlKind::Branch { condition } => self.branch(condition, control, &mut steps)?,
                    ref kind => return unsupported(named(kind)),
                },
            }
        }
        Ok(steps)
    }

    fn branch(&mut self, condition: Word, control: &residue_ir::Control, steps: &mut Vec<Step>) -> Taken<()> {
        let arm = |reader: &mut Self, number: usize| {
            let arm = &control.arms[number];
            let mut steps = reader.region(&arm.body)?;
            if !ends(&steps) && !control.results.is_empty() {
                steps.push(Step::Move { to: control.results.clone(), from: reader.reads(&arm.gives)? });
            }
            Ok(steps)
        };
        match self.known(condition) {
            Some(number) => steps.extend(arm(self, usize::from(number.is_zero()))?),
            None => {
                let condition = self.expression(condition)?;
                let (first, second) = (arm(self, 0)?, arm(self, 1)?);
                steps.push(Step::Branch(condition, first, second));
            }
        }
        Ok(())
    }

    fn effect(&mut self, effect: &Effect) -> Taken<Option<Step>> {
        Ok(Some(match effect {
            Effect::Parse { offset, size_bytes: ELEMENT_BYTES, result } => match self.known(*offset) {
                Some(_) => Step::Parse(*result, self.small(*offset, "the offset of a parse")?),
                None => Step::ParseAt(*result, self.expression(*offset)?),
            },
            Effect::Parse { offset, size_bytes, result } if self.is_wide && *size_bytes > ELEMENT_BYTES => {
                Step::ParseBytes(*result, self.small(*offset, "the offset of a parse")?, *size_bytes)
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
                return Ok(None);
            }
            Effect::LineUp { .. } => return Ok(None),
            Effect::ReturnWord { word } => Step::ReturnWord(self.expression(*word)?),
            Effect::Reduce { result, word } => Step::Reduce(*result, self.expression(*word)?),
            Effect::IsZero { result, value } => Step::IsZero(*result, self.read(*value)?),
            Effect::Bind { result, word } => Step::Bind(*result, self.expression(*word)?),
            Effect::Require { condition } => Step::Require(self.expression(*condition)?),
            Effect::ReturnElements { values, size_bytes } if self.is_wide || *size_bytes == ELEMENT_BYTES => {
                let values = self.reads(values)?;
                match values.iter().find(|value| matches!(value, Read::Number(_))) {
                    Some(_) => return unsupported("a return of a constant"),
                    None if values.is_empty() => return unsupported("a return of nothing"),
                    None if *size_bytes == ELEMENT_BYTES => Step::Return(values),
                    None => Step::ReturnBytes(*size_bytes, values),
                }
            }
            Effect::ReturnElements { size_bytes, .. } => {
                return unsupported(format!("return_elements of {size_bytes} bytes each"));
            }
            effect => return unsupported(format!("`{}`", effect.name())),
        }))
    }

    fn read(&self, operand: Operand) -> Taken<Read> {
        Ok(match operand {
            Operand::Constant(id) => Read::Number(constant(self.program.constant(id))),
            Operand::Value(value) => self.numbers.get(&value).map_or(Read::Value(value), |&found| Read::Number(found)),
        })
    }

    fn reads(&self, operands: &[Operand]) -> Taken<Vec<Read>> {
        operands.iter().map(|&operand| self.read(operand)).collect()
    }

    fn word(&self, word: Word) -> &WordDef {
        &self.function.words[word.0 as usize] // u32 to usize widens
    }

    fn known(&self, word: Word) -> Option<U256> {
        self.known[word.0 as usize] // u32 to usize widens
    }

    fn small(&self, word: Word, what: &str) -> Taken<u32> {
        match self.known(word) {
            Some(number) => u32::try_from(number).or_else(|_| unsupported(format!("{what} of {number:#x}"))),
            None => unsupported(format!("{what} that is computed")),
        }
    }

    fn expression(&self, word: Word) -> Taken<Expression> {
        let mut parts = PARTS_MAX;
        self.part(word, &mut parts)
    }

    /// A word with so many parts at most.
    fn part(&self, word: Word, parts: &mut usize) -> Taken<Expression> {
        *parts =
            parts.checked_sub(1).map_or_else(|| unsupported(format!("a word of more than {PARTS_MAX} parts")), Ok)?;
        if let Some(number) = self.known(word) {
            return Ok(Expression::Number(number));
        }
        Ok(match *self.word(word) {
            WordDef::CalldataSize => Expression::Size,
            WordDef::CalldataWord(offset) => {
                Expression::Calldata(self.small(offset, "the offset of a word of calldata")?)
            }
            WordDef::Op(op, a, b) if paths::OPERATIONS.contains(&op) => {
                Expression::Op(op, Box::new(self.part(a, parts)?), Box::new(self.part(b, parts)?))
            }
            WordDef::Op(op, ..) => return unsupported(format!("the operation {op:?} on words")),
            WordDef::Defined => Expression::Defined(word),
            WordDef::Has(feature) => return unsupported(format!("a test for {feature:?}")),
            _ => return unsupported("such a word"),
        })
    }
}

/// The numbers of words that neither calldata nor the interface has an effect on; words are of earlier ones.
fn known_words(function: &Function) -> Vec<Option<U256>> {
    let mut known: Vec<Option<U256>> = Vec::with_capacity(function.words.len());
    for word in &function.words {
        let of = |inner: Word| known.get(inner.0 as usize).copied().flatten(); // u32 to usize widens
        known.push(match *word {
            WordDef::Constant(number) => Some(number),
            // Code in lanes of words is of the other arm.
            WordDef::Has(Feature::WordLanes) => None,
            WordDef::Has(_) => Some(U256::ZERO),
            WordDef::Op(op, a, b) => of(a).zip(of(b)).map(|(a, b)| op.apply(a, b)),
            _ => None,
        });
    }
    known
}
