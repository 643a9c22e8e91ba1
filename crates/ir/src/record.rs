//! The recorder: the implementation of [`Machine`] in which running a program's text writes it down as a [`Program`].

mod linked;

pub use linked::{LinkedProgram, record_linked};

// style: S2: the implementation of one trait reads better whole.

use crate::effect::Effect;
use crate::hash::Piece;
use crate::lanes::Lanes;
use crate::machine::{
    Array, Capacity, Cells, Feature, FirstSteps, Length, Machine, ModOp, SequenceStep, Table, Variable, WordOp,
};
use crate::origin::Origins;
use crate::program::{
    Arm, ArrayDecl, ArrayId, ConstantId, Control, ControlKind, FieldOp, Function, FunctionId, Modulus, Op, Operand,
    Order, Program, Region, Statement, SubprogramId, TableDecl, TableId, Value, VariableId, Word, WordDef,
};
use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use residue_formula::bundle::Bundle;
use residue_formula::scope;
use residue_formula::{Fe, Fp2Product, least_n};
use ruint::aliases::U256;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Add, Mul, Neg, Sub};

/// Records the program of `text`, over the field with modulus `modulus`.
///
/// Panics if the text breaks the rules of [`Machine`] (a value of one function used in another, one name for two texts):
/// those are mistakes in a program of ours, not input.
pub fn record(name: &str, modulus: &BigUint, text: impl FnOnce(&Recording<'_>)) -> Program {
    record_with(name, modulus, Fp2Product::default(), text)
}

/// The same with products in Fp2 made in the given way.
pub fn record_with(
    name: &str,
    modulus: &BigUint,
    fp2_product: Fp2Product,
    text: impl FnOnce(&Recording<'_>),
) -> Program {
    record_as(name, modulus, Form { fp2_product, length: None }, text)
}

/// Form in which a text is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Form {
    /// Method for products in Fp2.
    pub fp2_product: Fp2Product,
    /// Length for which questions of length are answered; without one the program asks its interface.
    pub length: Option<Length>,
}

/// The same in a form.
pub fn record_as(name: &str, modulus: &BigUint, form: Form, text: impl FnOnce(&Recording<'_>)) -> Program {
    recorded(name, modulus, (form, Calls::Trusted), text)
}

/// The same with the body of each function recorded at every call, and compared with the first. It takes longer.
///
/// Panics as well if a body is another than at the first call of that name: one that reads what differs between calls, other than its input.
pub fn record_checked(name: &str, modulus: &BigUint, form: Form, text: impl FnOnce(&Recording<'_>)) -> Program {
    recorded(name, modulus, (form, Calls::Checked), text)
}

fn recorded(name: &str, modulus: &BigUint, (form, calls): (Form, Calls), text: impl FnOnce(&Recording<'_>)) -> Program {
    let state = State::new(name, modulus.clone().into(), 0, calls);
    let recorder = Recorder { form, state: RefCell::new(state), links: None };
    text(&Recording { recorder: &recorder });
    recorder.state.into_inner().close()
}

/// The machine that records.
#[derive(Clone, Copy)]
pub struct Recording<'r> {
    recorder: &'r Recorder,
}

/// A recorded stand-in for a field element.
#[derive(Clone, Copy)]
pub struct Recorded<'r> {
    recorder: &'r Recorder,
    unit: usize,
    serial: u32,
    operand: Operand,
}

/// A recorded stand-in for a word.
#[derive(Clone, Copy)]
pub struct RecordedWord {
    serial: u32,
    word: Word,
}

struct Recorder {
    form: Form,
    state: RefCell<State>,
    /// In linked form.
    links: Option<linked::Links>,
}

/// Treatment of a function's body at calls after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// It is not recorded again.
    Trusted,
    /// It is recorded again and compared.
    Checked,
}

/// Numbers of what a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    constants: usize,
    functions: usize,
    /// Arrays, tables, variables and subprograms.
    declared: [usize; 4],
    scratch_changes: u64,
}

struct State {
    /// The program or subprogram being recorded.
    unit: Unit,
    /// The program, while a subprogram is recorded.
    outer: Option<Unit>,
    variables: Vec<String>,
    subprograms: Vec<Program>,
    subprogram_ids: HashMap<&'static str, SubprogramId>,
    /// Functions opened so far: the next serial number.
    opened: u32,
    /// Number of possible changes of scratch memory so far. Reads before the last change are stale.
    scratch_changes: u64,
    calls: Calls,
}

/// Parts of a program or subprogram that are not shared.
struct Unit {
    /// Tells constants of different units apart.
    number: usize,
    name: String,
    modulus: Modulus,
    constants: Vec<BigUint>,
    constant_ids: HashMap<BigUint, ConstantId>,
    functions: Vec<Function>,
    function_ids: HashMap<&'static str, FunctionId>,
    arrays: Vec<ArrayDecl>,
    tables: Vec<TableDecl>,
    /// Functions being recorded, innermost last.
    open: Vec<OpenFunction>,
}

impl Unit {
    fn new(number: usize, name: &str, modulus: Modulus, serial: u32) -> Self {
        Self {
            number,
            name: name.to_owned(),
            modulus,
            constants: Vec::new(),
            constant_ids: HashMap::new(),
            functions: Vec::new(),
            function_ids: HashMap::new(),
            arrays: Vec::new(),
            tables: Vec::new(),
            open: vec![OpenFunction::new(serial)],
        }
    }

    /// As a program, without variables and subprograms.
    fn close(mut self) -> Program {
        let start = self.open.pop().expect("the start is open until the text ends");
        self.functions.push(start.close("start", Vec::new(), Vec::new()));
        let Self { name, modulus, constants, functions, arrays, tables, .. } = self;
        Program { name, modulus, constants, functions, arrays, tables, variables: Vec::new(), subprograms: Vec::new() }
    }
}

struct OpenFunction {
    /// Tells values of different functions apart.
    serial: u32,
    /// Regions being recorded, innermost last.
    regions: Vec<Region>,
    words: Vec<WordDef>,
    /// Expressions that read scratch memory, with [`State::scratch_changes`] at that time.
    scratch_words: HashMap<Word, u64>,
    value_count: u32,
    origins: Origins,
    /// Scopes that were open before the function, whose they are not.
    outer_scopes: usize,
}

impl OpenFunction {
    fn new(serial: u32) -> Self {
        Self {
            serial,
            regions: vec![Region::default()],
            words: Vec::new(),
            scratch_words: HashMap::new(),
            value_count: 0,
            origins: Origins::default(),
            outer_scopes: scope::depth(),
        }
    }

    fn close(mut self, name: &str, params: Vec<Value>, results: Vec<Operand>) -> Function {
        let body = self.regions.pop().expect("a function has its own region");
        assert!(self.regions.is_empty(), "inner regions are closed before their function");
        let Self { words, value_count, origins, .. } = self;
        Function { name: name.to_owned(), params, body, results, words, value_count, origins }
    }

    fn fresh(&mut self) -> Value {
        self.value_count += 1;
        Value(self.value_count - 1)
    }

    fn define(&mut self, def: WordDef) -> Word {
        self.words.push(def);
        Word(u32::try_from(self.words.len() - 1).expect("fewer than 2³² words"))
    }

    fn push(&mut self, statement: Statement) {
        self.regions.last_mut().expect("a function has its own region").statements.push(statement);
    }

    fn push_op(&mut self, op: Op) -> Value {
        let value = self.fresh();
        self.origins.note(value, &scope::open(self.outer_scopes));
        let region = self.regions.last_mut().expect("a function has its own region");
        if let Some(Statement::Block(block)) = region.statements.last_mut() {
            block.ops.push((value, op));
        } else {
            region.statements.push(Statement::Block(crate::program::Block { ops: vec![(value, op)] }));
        }
        value
    }
}

impl State {
    /// Nothing recorded yet; functions have serial numbers from `opened` on.
    fn new(name: &str, modulus: Modulus, opened: u32, calls: Calls) -> Self {
        Self {
            unit: Unit::new(0, name, modulus, opened),
            outer: None,
            variables: Vec::new(),
            subprograms: Vec::new(),
            subprogram_ids: HashMap::new(),
            opened: opened + 1,
            scratch_changes: 0,
            calls,
        }
    }

    /// The program that has been recorded.
    fn close(self) -> Program {
        let Self { unit, variables, subprograms, .. } = self;
        Program { variables, subprograms, ..unit.close() }
    }

    fn counts(&self) -> Counts {
        let Unit { constants, functions, arrays, tables, .. } = &self.unit;
        Counts {
            constants: constants.len(),
            functions: functions.len(),
            declared: [arrays.len(), tables.len(), self.variables.len(), self.subprograms.len()],
            scratch_changes: self.scratch_changes,
        }
    }

    /// Forgets what was recorded since there was this much.
    fn go_back_to(&mut self, counts: Counts) {
        let Counts { constants, functions, declared: [arrays, tables, variables, subprograms], scratch_changes } =
            counts;
        let unit = &mut self.unit;
        unit.constants.truncate(constants);
        unit.constant_ids.retain(|_, id| (id.0 as usize) < constants); // u32 to usize widens
        unit.functions.truncate(functions);
        unit.function_ids.retain(|_, id| (id.0 as usize) < functions); // u32 to usize widens
        unit.arrays.truncate(arrays);
        unit.tables.truncate(tables);
        self.variables.truncate(variables);
        self.subprograms.truncate(subprograms);
        self.subprogram_ids.retain(|_, id| id.0 < subprograms);
        self.scratch_changes = scratch_changes;
    }

    fn current(&mut self) -> &mut OpenFunction {
        self.unit.open.last_mut().expect("the start is open until the text ends")
    }

    fn constant(&mut self, value: BigUint) -> ConstantId {
        let unit = &mut self.unit;
        assert!(value < unit.modulus.least(), "constant {value:#x} is not below the modulus {}", unit.modulus);
        if let Some(&id) = unit.constant_ids.get(&value) {
            return id;
        }
        let id = ConstantId(u32::try_from(unit.constants.len()).expect("fewer than 2³² constants"));
        unit.constants.push(value.clone());
        unit.constant_ids.insert(value, id);
        id
    }

    /// x op y without an operation, where constants decide it.
    fn fold(&mut self, kind: FieldOp, x: Operand, y: Operand) -> Option<Operand> {
        let known = |state: &Self, operand| match operand {
            Operand::Constant(id) => Some(state.unit.constants[id.0 as usize].clone()),
            Operand::Value(_) => None,
        };
        let (a, b) = (known(self, x), known(self, y));
        let is = |value: &Option<BigUint>, small: u32| value.as_ref().is_some_and(|v| *v == BigUint::from(small));
        if let (Some(a), Some(b), Some(m)) = (&a, &b, self.unit.modulus.known()) {
            let value = match kind {
                FieldOp::Add => (a + b) % m,
                FieldOp::Sub => (a + m - b) % m,
                FieldOp::Mul => a * b % m,
            };
            return Some(Operand::Constant(self.constant(value)));
        }
        match kind {
            FieldOp::Add if is(&a, 0) => Some(y),
            FieldOp::Add | FieldOp::Sub if is(&b, 0) => Some(x),
            FieldOp::Mul if is(&a, 1) => Some(y),
            FieldOp::Mul if is(&b, 1) => Some(x),
            FieldOp::Mul if is(&a, 0) => Some(x),
            FieldOp::Mul if is(&b, 0) => Some(y),
            _ => None,
        }
    }
}

impl<'r> Recorded<'r> {
    fn combine(self, kind: FieldOp, other: Self) -> Self {
        let mut state = self.recorder.state.borrow_mut();
        let (x, y) = (state.own(self), state.own(other));
        let operand = match state.fold(kind, x, y) {
            Some(operand) => operand,
            None => Operand::Value(state.current().push_op(Op { kind, x, y })),
        };
        Recorded { serial: state.current().serial, operand, ..self }
    }
}

impl State {
    /// The operand of `value`, which must belong to the function being recorded (constants belong to all).
    fn own(&mut self, value: Recorded<'_>) -> Operand {
        assert_eq!(value.unit, self.unit.number, "an element of one modulus is used over another: pass it as words");
        let foreign = matches!(value.operand, Operand::Value(_)) && value.serial != self.current().serial;
        assert!(!foreign, "a value of one function is used in another: pass it as input");
        value.operand
    }

    fn own_word(&mut self, word: RecordedWord) -> Word {
        assert_eq!(word.serial, self.current().serial, "a word of one function is used in another");
        let changes = self.scratch_changes;
        let is_old = self.current().scratch_words.get(&word.word).is_some_and(|&then| then != changes);
        assert!(!is_old, "a word of scratch memory is used after a change: bind it");
        word.word
    }
}

impl Add for Recorded<'_> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.combine(FieldOp::Add, other)
    }
}

impl Sub for Recorded<'_> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.combine(FieldOp::Sub, other)
    }
}

impl Mul for Recorded<'_> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.combine(FieldOp::Mul, other)
    }
}

impl Neg for Recorded<'_> {
    type Output = Self;

    fn neg(self) -> Self {
        let zero = Recording { recorder: self.recorder }.zero();
        zero - self
    }
}

impl Fe for Recorded<'_> {
    fn fp2_product(self) -> Fp2Product {
        self.recorder.form.fp2_product
    }

    /// 1 where the modulus is not known.
    fn n_of_norms(self) -> u32 {
        self.recorder.state.borrow().unit.modulus.known().map_or(1, least_n)
    }
}

impl<'r> Recording<'r> {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.recorder.state.borrow_mut())
    }

    fn recorded(&self, operand: Operand) -> Recorded<'r> {
        let (unit, serial) = self.with(|state| (state.unit.number, state.current().serial));
        Recorded { recorder: self.recorder, unit, serial, operand }
    }

    fn push(&self, effect: impl FnOnce(&mut State) -> Effect) {
        self.with(|state| {
            let effect = effect(state);
            state.current().push(effect.into());
        });
    }

    /// Values for a bundle, which the next statement defines. The bundle is made after it, since making one may take
    /// operations.
    fn fresh<B: Bundle<Recorded<'r>>>(&self) -> Vec<Value> {
        self.with(|state| (0..B::LEN).map(|_| state.current().fresh()).collect())
    }

    /// The bundle defined by the effect that `effect` makes from its values.
    fn giving<B: Bundle<Recorded<'r>>>(&self, effect: impl FnOnce(&mut State, Vec<Value>) -> Effect) -> B {
        self.statement_giving(|state, results| effect(state, results).into())
    }

    /// The bundle that a loop or branch defines.
    fn control<B: Bundle<Recorded<'r>>>(&self, kind: ControlKind, initial: Vec<Operand>, arms: Vec<Arm>) -> B {
        self.statement_giving(|_, results| Control { kind, initial, arms, results }.into())
    }

    /// The bundle defined by the statement made from its values.
    fn statement_giving<B: Bundle<Recorded<'r>>>(
        &self,
        statement: impl FnOnce(&mut State, Vec<Value>) -> Statement,
    ) -> B {
        let values = self.fresh::<B>();
        let results = values.clone();
        self.with(|state| {
            let statement = statement(state, results);
            state.current().push(statement);
        });
        self.bundle(&values)
    }

    fn bundle<B: Bundle<Recorded<'r>>>(&self, values: &[Value]) -> B {
        B::from_list(values.iter().map(|&value| self.recorded(Operand::Value(value))).collect())
    }

    fn operands<B: Bundle<Recorded<'r>>>(&self, bundle: &B) -> Vec<Operand> {
        let list = bundle.to_list();
        self.with(|state| list.into_iter().map(|value| state.own(value)).collect())
    }

    fn define(&self, def: impl FnOnce(&mut State) -> WordDef) -> RecordedWord {
        self.with(|state| {
            let def = def(state);
            let changes = state.scratch_changes;
            let function = state.current();
            let reads = matches!(def, WordDef::ScratchWord(_))
                || def.inner().any(|inner| function.scratch_words.contains_key(&inner));
            let word = function.define(def);
            if reads {
                function.scratch_words.insert(word, changes);
            }
            RecordedWord { serial: function.serial, word }
        })
    }

    /// Value of a constant word: decisions that depend on it alone are made while the text is recorded.
    fn known(&self, word: RecordedWord) -> Option<U256> {
        self.with(|state| {
            let word = state.own_word(word);
            match state.current().words[word.0 as usize] {
                WordDef::Constant(value) => Some(value),
                _ => None,
            }
        })
    }

    /// (a, c) if `word` is defined as a + c with a constant c at its right.
    fn sum_with_constant(&self, word: RecordedWord) -> Option<(RecordedWord, U256)> {
        self.with(|state| {
            let own = state.own_word(word);
            let words = &state.current().words;
            let WordDef::Op(WordOp::Add, a, b) = words[own.0 as usize] else { return None };
            match words[b.0 as usize] {
                WordDef::Constant(constant) => Some((RecordedWord { word: a, ..word }, constant)),
                _ => None,
            }
        })
    }

    /// A word defined by the effect that `effect` makes.
    fn defined(&self, effect: impl FnOnce(&mut State, Word) -> Effect) -> RecordedWord {
        let result = self.define(|_| WordDef::Defined);
        self.push(|state| effect(state, result.word));
        result
    }

    /// Records `body` as a region of its own, with the bundle that it returns.
    fn region<S: Bundle<Recorded<'r>>>(&self, body: impl FnOnce() -> S) -> (Region, Vec<Operand>) {
        self.with(|state| {
            state.scratch_changes += 1;
            state.current().regions.push(Region::default());
        });
        let given = body();
        self.with(|state| state.scratch_changes += 1);
        let operands = self.operands(&given);
        let region = self.with(|state| state.current().regions.pop().expect("it was pushed above"));
        (region, operands)
    }
}

impl Recording<'_> {
    /// Enters the subprogram `name`, whose text is `body`.
    fn enter(&self, name: &'static str, modulus: Modulus, words: &[RecordedWord], body: impl FnOnce(&Self)) {
        let known = self.with(|state| state.subprogram_ids.get(name).copied());
        let subprogram = known.unwrap_or_else(|| {
            self.with(|state| {
                assert!(state.outer.is_none(), "subprogram `{name}` is entered from another");
                let unit = Unit::new(state.subprograms.len() + 1, name, modulus.clone(), state.opened);
                state.opened += 1;
                state.outer = Some(std::mem::replace(&mut state.unit, unit));
            });
            body(self);
            self.with(|state| {
                let outer = state.outer.take().expect("it was put there above");
                let unit = std::mem::replace(&mut state.unit, outer);
                state.subprograms.push(unit.close());
                let id = SubprogramId(state.subprograms.len() - 1);
                state.subprogram_ids.insert(name, id);
                id
            })
        });
        self.push(|state| {
            let before = &state.subprograms[subprogram.0].modulus;
            assert_eq!(*before, modulus, "subprogram `{name}` is entered over two moduli");
            assert_eq!(words.len(), modulus.words(), "subprogram `{name}` takes its modulus in so many words");
            let modulus = words.iter().map(|&word| state.own_word(word)).collect();
            state.scratch_changes += 1;
            Effect::Enter { subprogram, modulus }
        });
    }
}

impl<'r> Recording<'r> {
    /// Records a body.
    fn function_of<I, O>(&self, name: &str, body: impl FnOnce(&Self, I) -> O) -> Function
    where
        I: Bundle<Recorded<'r>>,
        O: Bundle<Recorded<'r>>,
    {
        self.with(|state| {
            state.unit.open.push(OpenFunction::new(state.opened));
            state.opened += 1;
        });
        let params = self.fresh::<I>();
        let output = body(self, self.bundle(&params));
        let results = self.operands(&output);
        self.with(|state| state.unit.open.pop().expect("it was pushed above")).close(name, params, results)
    }

    /// Panics if a body is another than that of a function. One that declares arrays, tables or variables has its own each time, and is not compared; calls
    /// within are not looked at.
    fn check_again<I, O>(&self, name: &str, known: FunctionId, body: impl FnOnce(&Self, I) -> O)
    where
        I: Bundle<Recorded<'r>>,
        O: Bundle<Recorded<'r>>,
    {
        let before = self.with(|state| {
            state.calls = Calls::Trusted;
            state.counts()
        });
        let again = self.function_of(name, body);
        self.with(|state| {
            let first = &state.unit.functions[known.0 as usize]; // u32 to usize widens
            let is_same = again.params == first.params
                && again.results == first.results
                && again.words == first.words
                && again.body == first.body;
            let declares = state.counts().declared != before.declared;
            assert!(
                is_same || declares,
                "function `{name}` has another body at a later call: what differs is to be its input"
            );
            state.go_back_to(before);
            state.calls = Calls::Checked;
        });
    }
}

impl<'r> Machine for Recording<'r> {
    type Fe = Recorded<'r>;
    type Word = RecordedWord;

    fn constant(&self, value: &BigUint) -> Recorded<'r> {
        let id = self.with(|state| state.constant(value.clone()));
        self.recorded(Operand::Constant(id))
    }

    fn reduce(&self, word: RecordedWord) -> Recorded<'r> {
        self.giving(|state, results| Effect::Reduce { result: results[0], word: state.own_word(word) })
    }

    fn invert(&self, value: Recorded<'r>) -> Recorded<'r> {
        self.giving(|state, results| Effect::Invert { result: results[0], value: state.own(value) })
    }

    fn is_zero(&self, value: Recorded<'r>) -> RecordedWord {
        self.defined(|state, result| Effect::IsZero { result, value: state.own(value) })
    }

    fn is_odd(&self, value: Recorded<'r>) -> RecordedWord {
        self.defined(|state, result| Effect::IsOdd { result, value: state.own(value) })
    }

    fn equal(&self, a: Recorded<'r>, b: Recorded<'r>) -> RecordedWord {
        self.defined(|state, result| Effect::Equal { result, a: state.own(a), b: state.own(b) })
    }

    fn less(&self, a: Recorded<'r>, b: Recorded<'r>) -> RecordedWord {
        self.defined(|state, result| Effect::Less { result, a: state.own(a), b: state.own(b) })
    }

    fn word_of(&self, value: Recorded<'r>, first_bit: u32) -> RecordedWord {
        self.defined(|state, result| Effect::WordOf { result, value: state.own(value), first_bit })
    }

    fn high(&self, value: Recorded<'r>, first_bit: u32) -> Recorded<'r> {
        self.giving(|state, results| Effect::High { result: results[0], value: state.own(value), first_bit })
    }

    fn element_of(&self, words: &[RecordedWord]) -> Recorded<'r> {
        self.giving(|state, results| {
            let words = words.iter().map(|&word| state.own_word(word)).collect();
            Effect::ElementOf { result: results[0], words }
        })
    }

    fn over(&self, name: &'static str, modulus: &BigUint, body: impl FnOnce(&Self)) {
        self.enter(name, modulus.clone().into(), &[], body);
    }

    fn over_given(&self, name: &'static str, limbs: u32, modulus: &[RecordedWord], body: impl FnOnce(&Self)) {
        self.enter(name, Modulus::Given { limbs }, modulus, body);
    }

    fn function<I, O>(&self, name: &'static str, input: I, body: impl FnOnce(&Self, I) -> O) -> O
    where
        I: Bundle<Recorded<'r>>,
        O: Bundle<Recorded<'r>>,
    {
        let arguments = self.operands(&input);
        let known = self.with(|state| state.unit.function_ids.get(name).copied());
        let function = match known {
            Some(known) => {
                if self.with(|state| state.calls == Calls::Checked) {
                    self.check_again(name, known, body);
                }
                known
            }
            None => {
                let function = self.function_of(name, body);
                self.with(|state| {
                    assert!(!state.unit.function_ids.contains_key(name), "function `{name}` calls itself");
                    state.unit.functions.push(function);
                    let id = state.unit.functions.len() - 1;
                    let id = FunctionId(u32::try_from(id).expect("fewer than 2³² functions"));
                    state.unit.function_ids.insert(name, id);
                    id
                })
            }
        };
        let shape = self.with(|state| {
            let function = &state.unit.functions[function.0 as usize];
            (function.params.len(), function.results.len())
        });
        assert_eq!(shape, (I::LEN, O::LEN), "function `{name}` is called with another shape");
        self.with(|state| state.scratch_changes += 1);
        self.statement_giving(|_, results| Statement::Call { function, arguments, results })
    }

    fn repeat<S>(&self, count: RecordedWord, state: S, mut body: impl FnMut(&Self, RecordedWord, S) -> S) -> S
    where
        S: Bundle<Recorded<'r>>,
    {
        match self.known(count) {
            Some(U256::ZERO) => return state,
            Some(U256::ONE) => return body(self, self.small(0), state),
            _ => {}
        }
        let count = self.with(|state| state.own_word(count));
        let initial = self.operands(&state);
        let index = self.define(|_| WordDef::Defined);
        let params = self.fresh::<S>();
        let (region, gives) = self.region(|| body(self, index, self.bundle(&params)));
        let kind = ControlKind::Repeat { count, index: index.word };
        self.control(kind, initial, vec![Arm { params, body: region, gives }])
    }

    fn countdown<S>(&self, count: RecordedWord, limit: usize, state: S, mut body: impl FnMut(&Self, usize, S) -> S) -> S
    where
        S: Bundle<Recorded<'r>>,
    {
        assert!((1..=Control::TURNS_MAX).contains(&limit), "a countdown of {limit} turns");
        if let Some(count) = self.known(count) {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            assert!(count <= limit, "a countdown from {count} with {limit} turns");
            return (0..count).rev().fold(state, |state, turn| body(self, turn, state));
        }
        let count = self.with(|state| state.own_word(count));
        let initial = self.operands(&state);
        let turn = |number| {
            let params = self.fresh::<S>();
            let (region, gives) = self.region(|| body(self, number, self.bundle(&params)));
            Arm { params, body: region, gives }
        };
        let turns = (0..limit).rev().map(turn).collect();
        self.control(ControlKind::Countdown { count }, initial, turns)
    }

    fn sequence_of_first<S>(
        &self,
        first: Option<FirstSteps<RecordedWord>>,
        order: &[SequenceStep<RecordedWord>],
        then: &[Option<usize>],
        state: S,
        mut part: impl FnMut(&Self, usize, S) -> S,
    ) -> S
    where
        S: Bundle<Recorded<'r>>,
    {
        let own = |step: &SequenceStep<RecordedWord>| step.map(|word| self.with(|state| state.own_word(word)));
        let steps = order.iter().map(own).collect();
        let own = |count| self.with(|state| state.own_word(count));
        let first = first.map(|FirstSteps { count, each }| FirstSteps { count: own(count), each });
        let initial = self.operands(&state);
        let recorded = |number| {
            let params = self.fresh::<S>();
            let (body, gives) = self.region(|| part(self, number, self.bundle(&params)));
            Arm { params, body, gives }
        };
        let (parts, then) = ((0..then.len()).map(recorded).collect(), then.to_vec());
        self.control(ControlKind::Sequence(Order { steps, then, first }), initial, parts)
    }

    fn branch<S>(&self, condition: RecordedWord, then: impl FnOnce(&Self) -> S, otherwise: impl FnOnce(&Self) -> S) -> S
    where
        S: Bundle<Recorded<'r>>,
    {
        if let Some(condition) = self.known(condition) {
            return if condition.is_zero() { otherwise(self) } else { then(self) };
        }
        let condition = self.with(|state| state.own_word(condition));
        let arm = |(body, gives)| Arm { params: Vec::new(), body, gives };
        let arms = vec![arm(self.region(|| then(self))), arm(self.region(|| otherwise(self)))];
        self.control(ControlKind::Branch { condition }, Vec::new(), arms)
    }

    fn has(&self, feature: Feature) -> RecordedWord {
        if let Some(answer) = self.recorder.form.length.and_then(|length| length.answer(feature)) {
            return self.word(U256::from(u8::from(answer)));
        }
        self.define(|_| WordDef::Has(feature))
    }

    fn word(&self, value: U256) -> RecordedWord {
        self.define(|_| WordDef::Constant(value))
    }

    fn word_op(&self, op: WordOp, a: RecordedWord, b: RecordedWord) -> RecordedWord {
        match (op, self.known(a), self.known(b)) {
            (_, Some(a), Some(b)) => self.word(op.apply(a, b)),
            (WordOp::Add, Some(U256::ZERO), None) => b,
            (WordOp::Add, None, Some(U256::ZERO)) => a,
            (WordOp::Add, None, Some(more)) if let Some((a, constant)) = self.sum_with_constant(a) => {
                self.word_op(op, a, self.word(constant.wrapping_add(more)))
            }
            _ => self.define(|state| WordDef::Op(op, state.own_word(a), state.own_word(b))),
        }
    }

    fn mod_op(&self, op: ModOp, a: RecordedWord, b: RecordedWord, modulus: RecordedWord) -> RecordedWord {
        match (self.known(a), self.known(b), self.known(modulus)) {
            (Some(a), Some(b), Some(modulus)) => self.word(op.apply(a, b, modulus)),
            _ => {
                self.define(|state| WordDef::ModOp(op, [state.own_word(a), state.own_word(b), state.own_word(modulus)]))
            }
        }
    }

    fn leading_zeros(&self, word: RecordedWord) -> RecordedWord {
        match self.known(word) {
            Some(word) => self.word(U256::from(word.leading_zeros())),
            None => self.define(|state| WordDef::LeadingZeros(state.own_word(word))),
        }
    }

    fn bind(&self, word: RecordedWord) -> RecordedWord {
        if self.known(word).is_some() {
            return word;
        }
        self.defined(|state, result| Effect::Bind { result, word: state.own_word(word) })
    }

    fn variable(&self, name: &'static str, initial: RecordedWord) -> Variable {
        let (variable, is_set) = self.with(|state| {
            state.variables.push(name.to_owned());
            let initial = state.own_word(initial);
            let is_zero = state.current().words[initial.0 as usize] == WordDef::Constant(U256::ZERO);
            // What the start comes by once, and in which nothing has been set, holds 0.
            let is_set = is_zero && state.unit.open.len() == 1 && state.current().regions.len() == 1;
            (Variable(state.variables.len() - 1), is_set)
        });
        if !is_set {
            self.set(variable, initial);
        }
        variable
    }

    fn get(&self, variable: Variable) -> RecordedWord {
        self.defined(|_, result| Effect::Get { result, variable: VariableId(variable.0) })
    }

    fn get_across(&self, variable: Variable, first_byte: u32) -> RecordedWord {
        self.defined(|_, result| Effect::GetAcross { result, variable: VariableId(variable.0), first_byte })
    }

    fn set(&self, variable: Variable, word: RecordedWord) {
        self.push(|state| Effect::Set { variable: VariableId(variable.0), word: state.own_word(word) });
    }

    fn array<B: Bundle<Recorded<'r>>>(&self, name: &'static str, capacity: Capacity) -> Array<B> {
        self.with(|state| {
            state.unit.arrays.push(ArrayDecl { name: name.to_owned(), element_values: B::LEN, capacity });
            Array { index: state.unit.arrays.len() - 1, element: PhantomData }
        })
    }

    fn reserve<B: Bundle<Recorded<'r>>>(&self, array: Array<B>, count: RecordedWord) {
        self.push(|state| Effect::Reserve { array: ArrayId(array.index), count: state.own_word(count) });
    }

    fn load<B: Bundle<Recorded<'r>>>(&self, array: Array<B>, index: RecordedWord) -> B {
        self.giving(|state, results| Effect::Load {
            array: ArrayId(array.index),
            index: state.own_word(index),
            results,
        })
    }

    fn store<B: Bundle<Recorded<'r>>>(&self, array: Array<B>, index: RecordedWord, value: B) {
        let values = self.operands(&value);
        self.push(|state| Effect::Store { array: ArrayId(array.index), index: state.own_word(index), values });
    }

    fn fill<B: Bundle<Recorded<'r>>>(&self, array: Array<B>, count: u32, value: B) {
        let values = self.operands(&value);
        self.push(|_| Effect::Fill { array: ArrayId(array.index), count, values });
    }

    fn set_indices<B: Bundle<Recorded<'r>>>(
        &self,
        variable: Variable,
        array: Array<B>,
        indices: RecordedWord,
        cells: Cells,
    ) {
        self.push(|state| {
            let indices = state.own_word(indices);
            Effect::SetIndices { variable: VariableId(variable.0), array: ArrayId(array.index), indices, cells }
        });
    }

    fn index<B: Bundle<Recorded<'r>>>(
        &self,
        variable: Variable,
        array: Array<B>,
        first_bit: u32,
        cells: Cells,
    ) -> RecordedWord {
        let (variable, array) = (VariableId(variable.0), ArrayId(array.index));
        self.defined(|_, result| Effect::Index { result, variable, array, first_bit, cells })
    }

    fn table<B: Bundle<Recorded<'r>>>(&self, name: &'static str, elements: &[Vec<BigUint>]) -> Table<B> {
        assert!(!elements.is_empty(), "table `{name}` is empty");
        assert!(
            elements.iter().all(|element| element.len() == B::LEN),
            "elements of table `{name}` have {} values",
            B::LEN
        );
        let table = TableDecl { name: name.to_owned(), element_values: B::LEN, elements: elements.to_vec() };
        self.with(|state| {
            state.unit.tables.push(table);
            Table { index: state.unit.tables.len() - 1, element: PhantomData }
        })
    }

    fn lookup<B: Bundle<Recorded<'r>>>(&self, table: Table<B>, index: RecordedWord) -> B {
        self.giving(|state, results| Effect::Lookup {
            table: TableId(table.index),
            index: state.own_word(index),
            results,
        })
    }

    fn take_row<B: Bundle<Recorded<'r>>>(&self, table: Table<B>) -> B {
        self.giving(|_, results| Effect::TakeRow { table: TableId(table.index), results })
    }

    fn take_element<B: Bundle<Recorded<'r>>>(&self, array: Array<B>) -> B {
        self.giving(|_, results| Effect::TakeElement { array: ArrayId(array.index), results })
    }

    fn take_part<B: Bundle<Recorded<'r>>, const N: usize>(&self, array: Array<[B; N]>) -> B {
        self.giving(|_, results| Effect::TakeElement { array: ArrayId(array.index), results })
    }

    fn fill_from<B: Bundle<Recorded<'r>>>(&self, array: Array<B>, table: Table<B>) {
        self.push(|_| Effect::FillFrom { array: ArrayId(array.index), table: TableId(table.index) });
    }

    fn scratch(&self, size_bytes: u32) {
        self.push(|_| Effect::Scratch { size_bytes });
    }

    fn scratch_word(&self, offset: RecordedWord) -> RecordedWord {
        self.define(|state| WordDef::ScratchWord(state.own_word(offset)))
    }

    fn set_scratch(&self, offset: RecordedWord, word: RecordedWord) {
        self.push(|state| {
            let (offset, word) = (state.own_word(offset), state.own_word(word));
            state.scratch_changes += 1;
            Effect::SetScratch { offset, word }
        });
    }

    fn set_scratch_byte(&self, offset: RecordedWord, word: RecordedWord) {
        self.push(|state| {
            let (offset, word) = (state.own_word(offset), state.own_word(word));
            state.scratch_changes += 1;
            Effect::SetScratchByte { offset, word }
        });
    }

    fn keccak256_scratch(&self, offset: RecordedWord, size_bytes: RecordedWord) -> RecordedWord {
        self.defined(|state, result| {
            let [offset, size_bytes] = [offset, size_bytes].map(|word| state.own_word(word));
            Effect::Keccak256Scratch { offset, size_bytes, result }
        })
    }

    fn sha256_scratch(&self, offset: RecordedWord, size_bytes: RecordedWord, to: RecordedWord) {
        self.push(|state| {
            let [offset, size_bytes, to] = [offset, size_bytes, to].map(|word| state.own_word(word));
            state.scratch_changes += 1;
            Effect::Sha256Scratch { offset, size_bytes, to }
        });
    }

    fn keccak_f(&self, offset: u32) {
        self.push(|state| {
            state.scratch_changes += 1;
            Effect::KeccakF { offset }
        });
    }

    fn copy_calldata(&self, offset: RecordedWord, from: RecordedWord, size_bytes: RecordedWord) {
        self.push(|state| {
            let [offset, from, size_bytes] = [offset, from, size_bytes].map(|word| state.own_word(word));
            state.scratch_changes += 1;
            Effect::CopyCalldata { offset, from, size_bytes }
        });
    }

    fn copy_scratch(&self, offset: u32, from: u32, size_bytes: u32) {
        self.push(|state| {
            state.scratch_changes += 1;
            Effect::CopyScratch { offset, from, size_bytes }
        });
    }

    fn take_scratch(&self, offset: u32, count: usize, size_bytes: u32) -> Vec<Recorded<'r>> {
        let results: Vec<Value> = self.with(|state| (0..count).map(|_| state.current().fresh()).collect());
        let values = results.iter().map(|&value| self.recorded(Operand::Value(value))).collect();
        self.push(|_| Effect::TakeScratch { offset, size_bytes, results });
        values
    }

    fn put_scratch(&self, offset: u32, size_bytes: u32, values: &[Recorded<'r>]) {
        self.push(|state| {
            let values = values.iter().map(|&value| state.own(value)).collect();
            state.scratch_changes += 1;
            Effect::PutScratch { offset, size_bytes, values }
        });
    }

    fn lanes(&self, lanes: &Lanes) {
        self.push(|state| {
            state.scratch_changes += 1;
            Effect::Lanes { lanes: lanes.clone() }
        });
    }

    fn line_up(&self, values: &[Recorded<'r>]) {
        self.push(|state| Effect::LineUp { values: values.iter().map(|&value| state.own(value)).collect() });
    }

    fn return_scratch(&self, offset: RecordedWord, size_bytes: RecordedWord) {
        self.push(|state| Effect::ReturnScratch {
            offset: state.own_word(offset),
            size_bytes: state.own_word(size_bytes),
        });
    }

    fn precompile(
        &self,
        address: u16,
        (offset, size_bytes): (RecordedWord, RecordedWord),
        (to, output_bytes): (RecordedWord, u32),
    ) -> RecordedWord {
        self.defined(|state, result| {
            let [offset, size_bytes, to] = [offset, size_bytes, to].map(|word| state.own_word(word));
            state.scratch_changes += 1;
            Effect::Precompile { address: address.into(), offset, size_bytes, to, output_bytes, result }
        })
    }

    fn return_precompile(&self, address: u16) {
        self.push(|_| Effect::ReturnPrecompile { address: address.into() });
    }

    fn stage(&self, name: &'static str, text: fn(&Self)) {
        self.stage_of(name, text);
    }

    fn calldata_size(&self) -> RecordedWord {
        self.define(|_| WordDef::CalldataSize)
    }

    fn calldata_word(&self, offset: RecordedWord) -> RecordedWord {
        self.define(|state| WordDef::CalldataWord(state.own_word(offset)))
    }

    fn parse(&self, offset: RecordedWord, size_bytes: u32) -> Recorded<'r> {
        self.giving(|state, results| Effect::Parse { result: results[0], offset: state.own_word(offset), size_bytes })
    }

    fn parse_mont_le(&self, offset: RecordedWord) -> Recorded<'r> {
        self.giving(|state, results| Effect::ParseMontLe { result: results[0], offset: state.own_word(offset) })
    }

    fn sha256(&self, pieces: &[Piece<RecordedWord>]) -> RecordedWord {
        self.defined(|state, result| {
            let pieces = pieces.iter().map(|piece| piece.map(|word| state.own_word(word))).collect();
            Effect::Sha256 { result, pieces }
        })
    }

    fn keccak256(&self, pieces: &[Piece<RecordedWord>]) -> RecordedWord {
        self.defined(|state, result| {
            let pieces = pieces.iter().map(|piece| piece.map(|word| state.own_word(word))).collect();
            Effect::Keccak256 { result, pieces }
        })
    }

    fn require(&self, condition: RecordedWord) {
        self.push(|state| Effect::Require { condition: state.own_word(condition) });
    }

    fn return_word(&self, word: RecordedWord) {
        self.push(|state| Effect::ReturnWord { word: state.own_word(word) });
    }

    fn return_words(&self, words: &[RecordedWord], size_bytes: RecordedWord) {
        self.push(|state| Effect::ReturnWords {
            words: words.iter().map(|&word| state.own_word(word)).collect(),
            size_bytes: state.own_word(size_bytes),
        });
    }

    fn return_elements<B: Bundle<Recorded<'r>>>(&self, values: B, size_bytes: u32) {
        let values = self.operands(&values);
        self.push(|_| Effect::ReturnElements { values, size_bytes });
    }

    fn return_last<B: Bundle<Recorded<'r>>>(
        &self,
        values: B,
        element_bytes: u32,
        size_bytes: RecordedWord,
        limit_bytes: u32,
    ) {
        let values = self.operands(&values);
        self.push(|state| Effect::ReturnLast {
            values,
            element_bytes,
            size_bytes: state.own_word(size_bytes),
            limit_bytes,
        });
    }

    fn return_mont_le<B: Bundle<Recorded<'r>>>(&self, values: B) {
        let values = self.operands(&values);
        self.push(|_| Effect::ReturnMontLe { values });
    }
}
