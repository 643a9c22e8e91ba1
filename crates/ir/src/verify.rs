//! The verifier: checks that a program is well formed, before anything else uses it, above all parsed text.

mod arguments;
mod units;

use crate::effect::Effect;
use crate::limits::{FILLED_MAX, NESTING_MAX, REGIONS_MAX, VALUES_MAX, WORD_PARTS_MAX};
use crate::machine::{Capacity, SequenceStep};
use crate::program::{
    Arm, ArrayDecl, ArrayId, Control, ControlKind, Function, Operand, Order, Program, Region, RowsOf, Statement,
    SubprogramId, TableId, Value, VariableId, Word, WordDef,
};
use crate::text::abridged;
use foldhash::{HashSet, HashSetExt};
use ruint::aliases::U256;
use thiserror::Error;

/// Error in a program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", abridged(&in_function(function, what), MESSAGE_CHARS_MAX))]
pub struct VerifyError {
    /// The subprogram it is in, if it is in one.
    pub subprogram: Option<SubprogramId>,
    /// The function it is in; empty for the program itself.
    pub function: String,
    /// Description of the error, with the offending value.
    pub what: String,
    /// Place of the error.
    pub place: Place,
}

/// A part of a program, for those who have its text ([`crate::text::Places`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// All of it.
    Program,
    /// Its modulus.
    Modulus,
    /// A constant.
    Constant(usize),
    /// A table.
    Table(usize),
    /// A function.
    Function(usize),
    /// A statement or an operation of a block, by its number in the function: statements count before what is in them, and blocks
    /// before their operations.
    Statement {
        /// The function.
        function: usize,
        /// The number.
        statement: usize,
    },
}

/// Characters of a message: names and numbers in it may have any length.
const MESSAGE_CHARS_MAX: usize = 1000;

/// A message about a function, or about the program itself if the name is empty.
fn in_function(function: &str, what: &str) -> String {
    if function.is_empty() { what.to_owned() } else { format!("function `{function}`: {what}") }
}

/// Checks that the modulus is above 2 and constants are below it; that every value and word is defined once and before
/// its use, in a region that encloses the use, and no value is without a definition; that calls, loops, branches and
/// arrays get as many values as they take; that functions come before their callers; that the start takes and gives
/// nothing; that Montgomery form is asked of odd moduli only; and that nothing is beyond its limit ([`crate::limits`]).
pub fn verify(program: &Program) -> Result<(), VerifyError> {
    if program.modulus.known().is_none() {
        let what = "only the modulus of a subprogram is given where it is entered".to_owned();
        return Err(VerifyError { subprogram: None, function: String::new(), what, place: Place::Modulus });
    }
    for (number, subprogram) in program.subprograms.iter().enumerate() {
        let within = |error| VerifyError { subprogram: Some(SubprogramId(number)), ..error };
        let has_own = !subprogram.variables.is_empty() || !subprogram.subprograms.is_empty();
        let has_unbounded =
            |program: &Program| program.arrays.iter().any(|array| array.capacity == Capacity::Unbounded);
        if has_own || has_unbounded(program) && has_unbounded(subprogram) {
            let name = &subprogram.name;
            let what = format!(
                "subprogram `{name}` has variables or subprograms of its own, or arrays without a fixed size beside the program's"
            );
            let place = Place::Program;
            return Err(within(VerifyError { subprogram: None, function: String::new(), what, place }));
        }
        verify_unit(subprogram, &program.variables).map_err(within)?;
    }
    verify_unit(program, &program.variables)?;
    match units::indices_of_two(program) {
        Some(variable) => {
            let what = format!("variable x{} has indices of arrays, and two units use it", variable.0);
            Err(VerifyError { subprogram: None, function: String::new(), what, place: Place::Program })
        }
        None => Ok(()),
    }
}

/// The same for one program, without its subprograms.
fn verify_unit(program: &Program, variables: &[String]) -> Result<(), VerifyError> {
    let fail = |place, what: String| Err(VerifyError { subprogram: None, function: String::new(), what, place });
    units::numbers(program).map_err(|(place, what)| VerifyError {
        subprogram: None,
        function: String::new(),
        what,
        place,
    })?;
    let Some(start) = program.functions.last() else {
        return fail(Place::Program, "no function".to_owned());
    };
    if !start.params.is_empty() || !start.results.is_empty() {
        return fail(Place::Program, format!("the start `{}` takes or gives values", start.name));
    }
    let mut names = HashSet::new();
    let mut depths: Vec<usize> = Vec::with_capacity(program.functions.len());
    for (number, function) in program.functions.iter().enumerate() {
        if !names.insert(&function.name) {
            return fail(Place::Function(number), format!("two functions are named `{}`", function.name));
        }
        size(function).or_else(|what| fail(Place::Function(number), what))?;
        let mut scope = Scope {
            program,
            variables,
            function,
            number,
            values: HashSet::new(),
            words: HashSet::new(),
            hidden: HashSet::new(),
            defined: HashSet::new(),
            parts: parts(&function.words),
            entered: 0,
            taken: 0,
            found: 0,
            current: None,
        };
        scope.function().map_err(|what| VerifyError {
            subprogram: None,
            function: function.name.clone(),
            what,
            place: match scope.current {
                Some(statement) => Place::Statement { function: number, statement },
                None => Place::Function(number),
            },
        })?;
        let depth = depth(&function.body, &depths);
        if depth > NESTING_MAX {
            return fail(
                Place::Function(number),
                format!("`{}` is the outermost of {depth} calls and regions", function.name),
            );
        }
        depths.push(depth);
    }
    Ok(())
}

/// Checks that a function has not too many values and that its regions are not too deep in each other.
fn size(function: &Function) -> Checked {
    let (name, values) = (&function.name, function.value_count);
    if values > VALUES_MAX {
        return Err(format!("`{name}` has {values} values: at most {VALUES_MAX}, and the rest in other functions"));
    }
    match regions(&function.body) {
        0..=REGIONS_MAX => Ok(()),
        deep => Err(format!("`{name}` has regions {deep} deep in each other: at most {REGIONS_MAX}")),
    }
}

/// The depth of nested regions.
fn regions(region: &Region) -> usize {
    let arms = region.statements.iter().flat_map(Statement::arms);
    arms.map(|arm| 1 + regions(&arm.body)).max().unwrap_or(0)
}

/// Nesting depth of calls and regions, from the depths of the functions before.
fn depth(region: &Region, of_function: &[usize]) -> usize {
    let of_statement = |statement: &Statement| match statement {
        Statement::Call { function, .. } => 1 + of_function.get(function.0 as usize).copied().unwrap_or(0),
        other => other.arms().iter().map(|arm| 1 + depth(&arm.body, of_function)).max().unwrap_or(0),
    };
    region.statements.iter().map(of_statement).max().unwrap_or(0)
}

struct Scope<'a> {
    program: &'a Program,
    /// Those of the whole program.
    variables: &'a [String],
    function: &'a Function,
    /// Place of the function in the program: it may call those before it.
    number: usize,
    /// Values in scope.
    values: HashSet<Value>,
    /// Defined words in scope.
    words: HashSet<Word>,
    /// Defined words from around a sequence that its parts do not see.
    hidden: HashSet<Word>,
    /// Everything ever defined in the function.
    defined: HashSet<Value>,
    /// Number of nodes in the expression of each word.
    parts: Vec<usize>,
    /// Statements and operations met so far.
    entered: usize,
    /// Rows that steps of sequences carry to where they are taken, and rows that are taken.
    taken: usize,
    /// See above.
    found: usize,
    /// The one that is looked at, if it is one.
    current: Option<usize>,
}

/// Number of nodes in the expression of each word. Operands come before the word; other orders are a different error.
fn parts(words: &[WordDef]) -> Vec<usize> {
    let mut parts: Vec<usize> = Vec::with_capacity(words.len());
    for word in words {
        let of = |inner: Word| parts.get(inner.0 as usize).copied().unwrap_or(0);
        parts.push(word.inner().fold(1, |parts: usize, inner| parts.saturating_add(of(inner))));
    }
    parts
}

type Checked = Result<(), String>;

impl Scope<'_> {
    fn function(&mut self) -> Checked {
        for &param in &self.function.params {
            self.define(param)?;
        }
        self.region(&self.function.body)?;
        self.current = None;
        self.read_all(&self.function.results)?;
        if self.taken != self.found {
            return Err("a row is taken that no step of a sequence carries there".to_owned());
        }
        let (defined, counted) = (self.defined.len(), self.function.value_count);
        if defined == counted as usize {
            Ok(())
        } else {
            Err(format!("{counted} values are counted, {defined} defined"))
        }
    }

    fn region(&mut self, region: &Region) -> Checked {
        region.statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn define(&mut self, value: Value) -> Checked {
        if value.0 >= self.function.value_count {
            return Err(format!("v{} is beyond the function's {} values", value.0, self.function.value_count));
        }
        if !self.defined.insert(value) {
            return Err(format!("v{} is defined twice", value.0));
        }
        self.values.insert(value);
        Ok(())
    }

    fn define_all(&mut self, values: &[Value]) -> Checked {
        values.iter().try_for_each(|&value| self.define(value))
    }

    fn read(&self, operand: Operand) -> Checked {
        match operand {
            Operand::Value(value) if !self.values.contains(&value) => {
                Err(format!("v{} is used where it is not defined", value.0))
            }
            Operand::Constant(id) if id.0 as usize >= self.program.constants.len() => {
                Err(format!("constant c{} does not exist", id.0))
            }
            _ => Ok(()),
        }
    }

    fn read_all(&self, operands: &[Operand]) -> Checked {
        operands.iter().try_for_each(|&operand| self.read(operand))
    }

    fn define_word(&mut self, word: Word) -> Checked {
        match self.function.words.get(word.0 as usize) {
            Some(WordDef::Defined) if self.words.insert(word) => Ok(()),
            Some(WordDef::Defined) => Err(format!("w{} is defined twice", word.0)),
            Some(_) => Err(format!("w{} is an expression and cannot be a result", word.0)),
            None => Err(format!("w{} does not exist", word.0)),
        }
    }

    /// Checks a word that is read: its expression, and that its operands are in scope.
    fn word(&self, word: Word) -> Checked {
        let parts = usize::try_from(word.0).ok().and_then(|word| self.parts.get(word));
        if parts.is_some_and(|&parts| parts > WORD_PARTS_MAX) {
            return Err(format!("w{} is an expression of more than {WORD_PARTS_MAX} parts", word.0));
        }
        self.word_part(word)
    }

    fn word_part(&self, word: Word) -> Checked {
        let inner =
            |a: Word| if a < word { self.word_part(a) } else { Err(format!("w{} is made of a later word", word.0)) };
        match self.function.words.get(word.0 as usize) {
            None => Err(format!("w{} does not exist", word.0)),
            Some(WordDef::Defined) if self.words.contains(&word) => Ok(()),
            Some(WordDef::Defined) if self.hidden.contains(&word) => Err(format!(
                "w{} is defined around a sequence, whose parts see no words from there: a variable takes it there, by `set` and `get`",
                word.0
            )),
            Some(WordDef::Defined) => Err(format!("w{} is used where it is not defined", word.0)),
            Some(expression) => expression.inner().try_for_each(inner),
        }
    }

    fn array_decl(&self, array: ArrayId) -> Result<&ArrayDecl, String> {
        self.program.arrays.get(array.0).ok_or_else(|| format!("array a{} does not exist", array.0))
    }

    fn element(&self, array: ArrayId, values: usize) -> Checked {
        let decl = self.array_decl(array)?;
        same(decl.element_values, values, &format!("an element of array `{}`", decl.name))
    }

    /// An index that is known is that of an element which an array of fixed size has.
    fn within(&self, array: ArrayId, index: Word) -> Checked {
        let decl = self.array_decl(array)?;
        match (decl.capacity, self.constant(index)) {
            (Capacity::Fixed(capacity), Some(index)) if index >= U256::from(capacity) => {
                Err(format!("element {index} of array `{}`, which has {capacity}", decl.name))
            }
            _ => Ok(()),
        }
    }

    /// Value of a word that is an expression of constants, for any input.
    fn constant(&self, word: Word) -> Option<U256> {
        if *self.parts.get(word.0 as usize)? > WORD_PARTS_MAX {
            return None; // u32 to usize widens
        }
        match *self.function.words.get(word.0 as usize)? {
            WordDef::Constant(value) => Some(value),
            WordDef::Op(op, a, b) if a < word && b < word => Some(op.apply(self.constant(a)?, self.constant(b)?)),
            WordDef::ModOp(op, [a, b, modulus]) if a < word && b < word && modulus < word => {
                Some(op.apply(self.constant(a)?, self.constant(b)?, self.constant(modulus)?))
            }
            WordDef::LeadingZeros(a) if a < word => Some(U256::from(self.constant(a)?.leading_zeros())),
            _ => None,
        }
    }

    /// Number of parts of `values` values in an element of the array.
    fn parts(&self, array: ArrayId, values: usize) -> Result<usize, String> {
        let decl = self.array_decl(array)?;
        match decl.element_values.checked_rem(values) {
            Some(0) if decl.element_values > 0 => Ok(decl.element_values / values),
            _ => Err(format!(
                "{values} values are no part of an element of array `{}`, which has {}",
                decl.name, decl.element_values
            )),
        }
    }

    /// Checks that row `number` of `values` values exists.
    fn numbered_row(&self, number: usize, of: RowsOf, values: usize) -> Checked {
        let rows = match of {
            RowsOf::Table(table) => self.program.tables.get(table.0).map_or(0, |table| table.elements.len()),
            RowsOf::Array(array) => match self.array_decl(array)?.capacity {
                Capacity::Fixed(room) => room as usize * self.parts(array, values)?, // u32 to usize widens
                Capacity::Unbounded => 0,
            },
        };
        if number < rows { Ok(()) } else { Err(format!("row {number} of {rows} is carried")) }
    }

    /// Number of rows of a table with elements of `values` values.
    fn row(&self, table: TableId, values: usize) -> Result<usize, String> {
        let decl = self.program.tables.get(table.0);
        let decl = decl.ok_or_else(|| format!("table t{} does not exist", table.0))?;
        same(decl.element_values, values, &format!("an element of table `{}`", decl.name))?;
        Ok(decl.elements.len())
    }

    fn filled(&self, array: ArrayId, count: u32) -> Checked {
        let decl = self.array_decl(array)?;
        match decl.capacity {
            _ if !(1..=FILLED_MAX).contains(&count) => {
                Err(format!("{count} elements of array `{}` are filled: not 1 to {FILLED_MAX}", decl.name))
            }
            Capacity::Fixed(room) if count > room => {
                Err(format!("{count} elements of array `{}` are filled, which has {room}", decl.name))
            }
            _ => Ok(()),
        }
    }

    fn variable(&self, variable: VariableId) -> Checked {
        if variable.0 < self.variables.len() { Ok(()) } else { Err(format!("variable x{} does not exist", variable.0)) }
    }

    /// The next statement or operation is looked at; its number.
    fn enter(&mut self) -> usize {
        self.entered += 1;
        self.current = Some(self.entered - 1);
        self.entered - 1
    }

    fn statement(&mut self, statement: &Statement) -> Checked {
        let number = self.enter();
        match statement {
            Statement::Block(block) => {
                for &(value, op) in &block.ops {
                    self.enter();
                    self.read_all(&[op.x, op.y])?;
                    self.define(value)?;
                }
            }
            Statement::Call { function, arguments, results } => {
                let id = function.0 as usize;
                if id >= self.number {
                    return Err(format!("call of function {id}, which does not come before the caller"));
                }
                let callee = &self.program.functions[id];
                same(callee.params.len(), arguments.len(), &format!("the input of `{}`", callee.name))?;
                same(callee.results.len(), results.len(), &format!("the output of `{}`", callee.name))?;
                self.read_all(arguments)?;
                self.define_all(results)?;
            }
            Statement::Control(control) => self.control(control, number)?,
            Statement::Effect(effect) => self.effect(effect)?,
        }
        Ok(())
    }

    fn effect(&mut self, effect: &Effect) -> Checked {
        effect.variables().try_for_each(|variable| self.variable(variable))?;
        effect.arrays().try_for_each(|array| self.array_decl(array).map(|_| ()))?;
        self.arguments(effect)?;
        effect.words().try_for_each(|word| self.word(word))?;
        effect.operands().try_for_each(|operand| self.read(operand))?;
        self.define_all(effect.values_defined())?;
        effect.word_defined().map_or(Ok(()), |word| self.define_word(word))
    }

    fn control(&mut self, control: &Control, number: usize) -> Checked {
        let (name, part) = match control.kind {
            ControlKind::Repeat { .. } => ("loop", "turn"),
            ControlKind::Countdown { .. } => ("countdown", "turn"),
            ControlKind::Sequence(_) => ("sequence", "part"),
            ControlKind::Branch { .. } => ("branch", "arm"),
        };
        self.arms(control, name, part)?;
        if let ControlKind::Sequence(order) = &control.kind {
            for (step, take) in order.steps.iter().zip(order.takes(&control.arms)?) {
                if let (&SequenceStep::CarryNumber(number), Some(take)) = (step, take) {
                    self.numbered_row(number, take.of, take.results.len())?;
                }
            }
            self.taken += control.arms.iter().map(|arm| arm.takes().len()).sum::<usize>();
        }
        let state = control.results.len();
        let (taken, given) = match control.kind {
            ControlKind::Branch { .. } => (0, "what a branch gives".to_owned()),
            _ => (state, format!("the next state of a {part}")),
        };
        same(taken, control.initial.len(), &format!("the initial state of a {name}"))?;
        control.words().into_iter().try_for_each(|word| self.word(word))?;
        self.read_all(&control.initial)?;
        for arm in &control.arms {
            same(taken, arm.params.len(), &format!("the state of a {part}"))?;
            same(state, arm.gives.len(), &given)?;
            let before = (self.values.clone(), self.words.clone(), self.hidden.clone());
            match control.kind {
                ControlKind::Repeat { index, .. } => self.define_word(index)?,
                ControlKind::Sequence(_) => self.hide_words(arm)?,
                ControlKind::Countdown { .. } | ControlKind::Branch { .. } => {}
            }
            self.define_all(&arm.params)?;
            self.region(&arm.body)?;
            self.current = Some(number);
            self.read_all(&arm.gives)?;
            (self.values, self.words, self.hidden) = before;
        }
        self.define_all(&control.results)
    }

    /// Within a part of a sequence no words from outside are in scope, except those of the count of a countdown that it begins
    /// with.
    fn hide_words(&mut self, part: &Arm) -> Checked {
        let count = match part.countdown() {
            Some((count, _)) => {
                self.word(count)?;
                words_in(self.function, count)
            }
            None => Vec::new(),
        };
        let (seen, hidden) = self.words.iter().partition(|word| count.contains(word));
        self.words = seen;
        self.hidden.extend::<HashSet<Word>>(hidden);
        Ok(())
    }

    /// Checks that there are as many arms as the kind of control has, and the order of the parts of a sequence.
    fn arms(&self, control: &Control, name: &str, part: &str) -> Checked {
        let arms = control.arms.len();
        let many = |most: usize| {
            if (1..=most).contains(&arms) {
                Ok(())
            } else {
                Err(format!("a {name} of {arms} {part}s: not 1 to {most}"))
            }
        };
        match &control.kind {
            ControlKind::Repeat { .. } => many(1),
            ControlKind::Countdown { .. } => many(Control::TURNS_MAX),
            ControlKind::Sequence(order) => self.order(order, arms),
            ControlKind::Branch { .. } if arms == 2 => Ok(()),
            ControlKind::Branch { .. } => Err(format!("a branch of {arms} arms: not 2")),
        }
    }

    fn order(&self, order: &Order, parts: usize) -> Checked {
        let carries =
            |step: &SequenceStep<Word>| matches!(step, SequenceStep::Carry { .. } | SequenceStep::CarryNumber(_));
        let words = order.steps.iter().map(|step| match step {
            SequenceStep::Part(_) | SequenceStep::Chosen { .. } => 1,
            SequenceStep::Carry { .. } | SequenceStep::CarryNumber(_) => 2,
        });
        let steps: usize = words.sum();
        if steps == 0 || steps > Control::STEPS_MAX {
            let rows = if order.steps.iter().any(carries) { ", of which a row counts as two" } else { "" };
            return Err(format!("a sequence of {steps} steps{rows}: not 1 to {}", Control::STEPS_MAX));
        }
        if let Some(first) = order.first {
            if order.steps.iter().any(carries) {
                return Err("a sequence of which the first steps are done carries a row".to_owned());
            }
            if first.each == 0 || !steps.is_multiple_of(first.each) {
                return Err(format!("a sequence of {steps} steps, of which {} are counted as one", first.each));
            }
        }
        for step in &order.steps {
            match *step {
                SequenceStep::Part(number) if number >= parts => {
                    return Err(format!("part {number} of a sequence that has {parts}"));
                }
                SequenceStep::Chosen { first_bit, .. } | SequenceStep::Carry { first_bit, .. } => {
                    if matches!(step, SequenceStep::Chosen { .. }) && parts < SequenceStep::<Word>::CHOICES_MIN {
                        return Err(format!(
                            "one of {} parts is chosen, of {parts}",
                            SequenceStep::<Word>::CHOICES_MIN
                        ));
                    }
                    if !first_bit.is_multiple_of(8) || first_bit > 256 - SequenceStep::<Word>::CELLS.bits {
                        return Err(format!("no cell of 16 bits begins at bit {first_bit}"));
                    }
                    let cells = step.word().map_or_else(Vec::new, |word| order.cells(word));
                    let distance = |pair: &[u32]| pair[1] - pair[0];
                    if let Some(pair) = cells.windows(2).find(|&pair| distance(pair) < SequenceStep::<Word>::CELLS.bits)
                    {
                        return Err(format!("cells of a word begin {} bits apart, which overlap", distance(pair)));
                    }
                    let choices = SequenceStep::<Word>::choices(parts);
                    if let SequenceStep::Chosen { first_part, .. } = *step
                        && first_part >= choices
                    {
                        return Err(format!("part {first_part} is the first of {choices} that can be chosen"));
                    }
                }
                SequenceStep::Part(_) | SequenceStep::CarryNumber(_) => {}
            }
        }
        same(parts, order.then.len(), "what follows the parts of a sequence")?;
        let later = |number: usize, next: usize| number < next && next < parts;
        let then = order.then.iter().enumerate().filter_map(|(number, next)| Some((number, (*next)?)));
        match then.into_iter().find(|&(number, next)| !later(number, next)) {
            Some((number, next)) => Err(format!("part {number} of a sequence of {parts} goes on with part {next}")),
            None => Ok(()),
        }
    }
}

/// The words in the expression `word`, which is well formed, that statements define.
fn words_in(function: &Function, word: Word) -> Vec<Word> {
    match &function.words[word.0 as usize] {
        WordDef::Defined => vec![word],
        expression => expression.inner().flat_map(|inner| words_in(function, inner)).collect(),
    }
}

fn same(expected: usize, found: usize, what: &str) -> Checked {
    if expected == found { Ok(()) } else { Err(format!("{what} has {expected} values, here {found}")) }
}
