//! Field programs at random, made statement by statement and not by the recorder: with constructs that it never emits,
//! such as constants that could be folded, values that are never read, statements after an ending, a variable that is
//! read before it is set. Every one is well formed, ends, and stores elements before it loads them.

// style: S2: what makes statements at random, one function for each kind.

mod high;
mod outside;
mod scratch;

pub use high::high_program;
use num_bigint::BigUint;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_ir::{
    Arm, ArrayDecl, ArrayId, Block, Capacity, Cells, ConstantId, Control, ControlKind, Effect, FieldOp, FirstSteps,
    Function, FunctionId, ModOp, Modulus, Op, Operand, Order, Program, Region, SequenceStep, Statement, TableDecl,
    TableId, Value, VariableId, Word, WordDef, WordOp,
};
use ruint::aliases::U256;
use std::mem;

/// Regions in each other, that of the function not counted.
const DEPTH_MAX: usize = 3;
/// Elements that every array has room for, and that are stored at the start.
const ELEMENTS: u32 = 3;
/// Bytes of scratch memory.
const SCRATCH_BYTES: u32 = 96;
/// Those of programs that permute states there, and have words of lanes.
const WIDE_SCRATCH_BYTES: u32 = 512;
/// Permutations and transforms of lanes of a program.
const TRANSFORMS_MAX: u32 = 6;
/// The largest bound of a loop's count.
const COUNT_MAX: u64 = 4;
/// Bytes of calldata that programs look at.
const CALLDATA_BYTES: u16 = 320;

/// The program of `seed` over the integers mod `modulus`.
pub fn program(modulus: &BigUint, seed: u64) -> Program {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let variables: Vec<String> = (0..=random.random_range(0..=3)).map(|number| format!("variable {number}")).collect();
    unit(&format!("seed {seed}"), modulus.clone().into(), variables, Kind::Main, Vec::new(), random)
}

/// One of `seed` whose indices, counts and offsets may be past an end, so that it may have no outcome. Where it has one, all that runs it agrees.
pub fn wild_program(modulus: &BigUint, seed: u64) -> Program {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let variables: Vec<String> = (0..=random.random_range(1..=3)).map(|number| format!("variable {number}")).collect();
    unit(&format!("seed {seed}"), modulus.clone().into(), variables, Kind::Wild, Vec::new(), random)
}

/// One of `seed` without hashes, tables, words of elements and words of lanes, which WebAssembly modules have nothing for.
pub fn plain_program(modulus: &BigUint, seed: u64) -> Program {
    let random = ChaCha8Rng::seed_from_u64(seed);
    unit(
        &format!("seed {seed}"),
        modulus.clone().into(),
        vec!["variable".to_owned(); 3],
        Kind::Plain,
        Vec::new(),
        random,
    )
}

/// One of `seed` with sequences of arithmetic and little else: what of them stays on the stack on the EVM by itself depends on all their parts.
pub fn program_of_sequences(modulus: &BigUint, seed: u64) -> Program {
    let random = ChaCha8Rng::seed_from_u64(seed);
    let variables = vec!["variable".to_owned(); 3];
    unit(&format!("seed {seed}"), modulus.clone().into(), variables, Kind::Sequences, Vec::new(), random)
}

/// One of `seed` with permutations of a state of Keccak and words of lanes everywhere, which returns its scratch memory.
pub fn program_of_scratch(modulus: &BigUint, seed: u64) -> Program {
    let random = ChaCha8Rng::seed_from_u64(seed);
    let variables = vec!["variable".to_owned(); 3];
    unit(&format!("seed {seed}"), modulus.clone().into(), variables, Kind::Scratch, Vec::new(), random)
}

/// That of [`program`] with a subprogram over each of `inner`. They are entered anywhere, those with given moduli once.
pub fn program_with(modulus: &BigUint, inner: &[Modulus], seed: u64) -> Program {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let variables: Vec<String> = (0..=random.random_range(1..=3)).map(|number| format!("variable {number}")).collect();
    let subprogram = |(number, modulus): (usize, &Modulus)| {
        let random = ChaCha8Rng::seed_from_u64(random.random());
        let program =
            unit(&format!("subprogram {number}"), modulus.clone(), variables.clone(), Kind::Inner, Vec::new(), random);
        Program { variables: Vec::new(), ..program }
    };
    let subprograms = inner.iter().enumerate().map(subprogram).collect();
    unit(&format!("seed {seed}"), modulus.clone().into(), variables, Kind::Main, subprograms, random)
}

/// A program with these subprograms, or a subprogram, which only borrows the variables.
fn unit(
    name: &str,
    modulus: Modulus,
    variables: Vec<String>,
    kind: Kind,
    subprograms: Vec<Program>,
    mut random: ChaCha8Rng,
) -> Program {
    let least = modulus.least();
    let any = |random: &mut ChaCha8Rng| BigUint::from_bytes_be(&random.random::<[u8; 96]>()) % &least;
    let random_constants: Vec<BigUint> = (0..3).map(|_| any(&mut random)).collect();
    let fixed = [BigUint::ZERO, BigUint::from(1u8), &least - 1u8];
    let is_unbounded = |program: &Program| program.arrays.iter().any(|array| array.capacity == Capacity::Unbounded);
    let is_fixed = if kind == Kind::Inner { random.random_ratio(2, 3) } else { subprograms.iter().any(is_unbounded) };
    let others = if is_fixed { Capacity::Fixed(ELEMENTS) } else { Capacity::Unbounded };
    let capacities = [Capacity::Fixed(ELEMENTS), others, others];
    let arrays = capacities.into_iter().take(random.random_range(0..=3)).enumerate().map(|(number, capacity)| {
        ArrayDecl { name: format!("array {number}"), element_values: random.random_range(1..=4), capacity }
    });
    let arrays = arrays.collect();
    let tables = (0..if kind == Kind::Plain { 0 } else { random.random_range(0..=2) }).map(|number| {
        let element_values = random.random_range(1..=4);
        let element = |random: &mut ChaCha8Rng| (0..element_values).map(|_| any(random)).collect();
        let elements = (0..ELEMENTS).map(|_| element(&mut random)).collect();
        TableDecl { name: format!("table {number}"), element_values, elements }
    });
    let tables = tables.collect();
    let program = Program {
        name: name.to_owned(),
        modulus,
        constants: fixed.into_iter().chain(random_constants).collect(),
        functions: Vec::new(),
        arrays,
        tables,
        variables,
        subprograms,
    };
    // Not many: forks before Osaka refuse them.
    let counts_zeros = kind != Kind::Plain && random.random_ratio(1, 4);
    let is_wide = match kind {
        Kind::Scratch => true,
        Kind::Plain => random.random_ratio(1, 2),
        _ => random.random_ratio(1, 8),
    };
    let scratch_bytes = if is_wide { WIDE_SCRATCH_BYTES } else { SCRATCH_BYTES };
    let mut maker = Maker {
        random,
        program,
        scope: Scope::default(),
        kind,
        counts_zeros,
        scratch_bytes,
        transforms_left: TRANSFORMS_MAX,
    };
    for number in 0..if kind == Kind::Sequences { 0 } else { maker.random.random_range(0..=3) } {
        let (params, results) = (maker.random.random_range(0..=4), maker.random.random_range(0..=4));
        maker.function(&format!("f{number}"), params, results);
    }
    maker.function("start", 0, 0);
    maker.program
}

/// Calldata for programs: some is all zero, some has few bytes that are not, some small numbers of eight bytes, some is at random.
pub fn calldata(seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = vec![0; random.random_range(0..=CALLDATA_BYTES.into())];
    match random.random_range(0..4) {
        0 => {}
        1 => random.fill(&mut bytes[..]),
        2 => {
            let end = *[2, 8, 32].choose(&mut random).expect("it is not empty");
            bytes.iter_mut().skip(7).step_by(8).for_each(|byte| *byte = random.random_range(0..end));
        }
        _ => {
            for _ in 0..bytes.len() / 16 {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }
        }
    }
    bytes
}

/// Values and words in scope at a point of a function, and the function so far.
#[derive(Debug, Default)]
struct Scope {
    values: Vec<Value>,
    /// Words that statements have defined.
    defined: Vec<Word>,
    /// Those that are counts of loops, in scope or not any more.
    counts: Vec<Word>,
    words: Vec<WordDef>,
    value_count: u32,
    depth: usize,
}

/// Kind of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Elements of one field, words, arrays and scratch memory.
    Plain,
    Main,
    /// A subprogram, which has unbounded arrays only where the program around it has none.
    Inner,
    /// One function of sequences.
    Sequences,
    /// Permutations and words of lanes, with little that fails.
    Scratch,
    /// As the main one, but for what is past an end.
    Wild,
}

struct Maker {
    random: ChaCha8Rng,
    program: Program,
    scope: Scope,
    kind: Kind,
    /// True if words may be counts of leading zeros.
    counts_zeros: bool,
    /// Bytes of scratch memory, if it has any.
    scratch_bytes: u32,
    /// Permutations and transforms of lanes that may come, each of some thousand bytes of code.
    transforms_left: u32,
}

impl Maker {
    fn function(&mut self, name: &str, params: usize, results: usize) {
        self.scope = Scope::default();
        let params = self.define(params);
        let is_start = name == "start";
        let mut body = Region::default();
        if is_start {
            if self.has_scratch() {
                body.statements.push(Effect::Scratch { size_bytes: self.scratch_bytes }.into());
            }
            self.fill_arrays(&mut body);
            if self.is_wide() {
                self.fill_scratch(&mut body);
            }
        }
        if self.kind == Kind::Sequences {
            self.sequences(&mut body);
        } else {
            let length = self.random.random_range(1..=if is_start { 12 } else { 6 });
            self.statements(&mut body, length);
        }
        if is_start {
            self.enter_given(&mut body);
            if self.is_wide() && self.random.random_ratio(1, 2) {
                self.transform(&mut body);
            }
        }
        let results = if !is_start && !self.program.functions.is_empty() && self.random.random_ratio(1, 3) {
            self.last_call(&mut body, results)
        } else {
            self.operands(results)
        };
        let ends = self.kind != Kind::Sequences;
        let often = match self.kind {
            Kind::Inner => 1,
            Kind::Scratch => 4,
            _ => 3,
        };
        if ends && is_start && self.random.random_ratio(often, 4) {
            let ending = self.ending();
            body.statements.push(ending.into());
        }
        let Scope { words, value_count, .. } = std::mem::take(&mut self.scope);
        self.program.functions.push(Function {
            name: name.to_owned(),
            params,
            body,
            results,
            words,
            value_count,
            origins: Default::default(),
        });
    }

    /// A call that ends a function, which gives nothing but what the call gave, where that is anything.
    fn last_call(&mut self, body: &mut Region, results: usize) -> Vec<Operand> {
        let call = self.call();
        let given = match &call {
            Statement::Call { results, .. } => results.clone(),
            _ => Vec::new(),
        };
        body.statements.push(call);
        if given.is_empty() {
            return self.operands(results);
        }
        let first = self.random.random_range(0..given.len());
        (0..results).map(|number| Operand::Value(given[(first + number) % given.len()])).collect()
    }

    fn has_scratch(&self) -> bool {
        !matches!(self.kind, Kind::Inner | Kind::Sequences)
    }

    /// True if scratch memory may be hashed, and hold elements and words of lanes.
    fn has_hashes(&self) -> bool {
        self.has_scratch() && self.kind != Kind::Plain
    }

    fn array(&mut self) -> ArrayId {
        ArrayId(self.random.random_range(0..self.program.arrays.len()))
    }

    fn element_values(&self, array: ArrayId) -> usize {
        self.program.arrays[array.0].element_values
    }

    /// Any but the last, which holds indices.
    fn variable(&mut self) -> VariableId {
        VariableId(self.random.random_range(1..self.program.variables.len()) - 1)
    }

    /// A variable after which another one stands that holds no indices either.
    fn variable_before_another(&mut self) -> VariableId {
        VariableId(self.random.random_range(2..self.program.variables.len()) - 2)
    }

    /// Room in every array, and a value in every element.
    fn fill_arrays(&mut self, body: &mut Region) {
        for array in (0..self.program.arrays.len()).map(ArrayId) {
            let more = self.small_word(4);
            let least = self.constant_word(ELEMENTS.into());
            let unbounded = self.program.arrays[array.0].capacity == Capacity::Unbounded;
            let count = if unbounded { self.op(WordOp::Add, more, least) } else { least };
            body.statements.push(Effect::Reserve { array, count }.into());
            let index = self.word_def(WordDef::Defined);
            let values = self.operands(self.element_values(array));
            let store = Region { statements: vec![Effect::Store { array, index, values }.into()] };
            let arm = Arm { params: Vec::new(), body: store, gives: Vec::new() };
            let kind = ControlKind::Repeat { count, index };
            let control = Control { kind, initial: Vec::new(), arms: vec![arm], results: Vec::new() };
            body.statements.push(control.into());
        }
    }

    // --- values -------------------------------------------------------------------------------------------------------

    /// New values, in scope from here on.
    fn define(&mut self, count: usize) -> Vec<Value> {
        let fresh = |_| {
            self.scope.value_count += 1;
            Value(self.scope.value_count - 1)
        };
        let values: Vec<Value> = (0..count).map(fresh).collect();
        self.scope.values.extend(&values);
        values
    }

    fn operand(&mut self) -> Operand {
        let constant = self.scope.values.is_empty() || self.random.random_ratio(1, 6);
        if constant {
            let count = u32::try_from(self.program.constants.len()).expect("constants are few");
            return Operand::Constant(ConstantId(self.random.random_range(0..count)));
        }
        // Mostly one of the last, now and then an old one that has to be kept.
        let values = &self.scope.values;
        let recent = &values[values.len().saturating_sub(6)..];
        let from = if self.random.random_ratio(3, 4) { recent } else { values };
        Operand::Value(*from.choose(&mut self.random).expect("it is not empty"))
    }

    fn operands(&mut self, count: usize) -> Vec<Operand> {
        (0..count).map(|_| self.operand()).collect()
    }

    // --- words --------------------------------------------------------------------------------------------------------

    fn word_def(&mut self, def: WordDef) -> Word {
        self.scope.words.push(def);
        Word(u32::try_from(self.scope.words.len() - 1).expect("words are few"))
    }

    fn constant_word(&mut self, value: u64) -> Word {
        self.word_def(WordDef::Constant(U256::from(value)))
    }

    fn op(&mut self, op: WordOp, a: Word, b: Word) -> Word {
        self.word_def(WordDef::Op(op, a, b))
    }

    /// Any word.
    fn word(&mut self, depth: usize) -> Word {
        let choice = self.random.random_range(0..if depth == 0 { 5 } else { 9 });
        match choice {
            0 => {
                let value = self.random.random_range(0..70);
                self.constant_word(value)
            }
            1 => {
                let value = U256::from_be_bytes(self.random.random::<[u8; 32]>());
                self.word_def(WordDef::Constant(value))
            }
            2 => self.word_def(WordDef::CalldataSize),
            3 | 4 => match self.scope.defined.choose(&mut self.random) {
                Some(&word) => word,
                None => self.constant_word(1),
            },
            5 if self.has_scratch() && self.random.random_ratio(1, 2) => {
                let offset = self.small_word((self.scratch_bytes - 31).into());
                self.word_def(WordDef::ScratchWord(offset))
            }
            5 => {
                let offset = self.word(depth - 1);
                self.word_def(WordDef::CalldataWord(offset))
            }
            6 if self.counts_zeros && self.random.random_ratio(1, 2) => {
                let counted = self.word(depth - 1);
                self.word_def(WordDef::LeadingZeros(counted))
            }
            6 if self.kind != Kind::Plain => {
                let op = *ModOp::ALL.choose(&mut self.random).expect("it is not empty");
                let (a, modulus) = (self.word(depth - 1), self.word(depth - 1));
                let b = if self.random.random_ratio(1, 3) { a } else { self.word(depth - 1) };
                self.word_def(WordDef::ModOp(op, [a, b, modulus]))
            }
            _ => {
                let (a, b) = (self.word(depth - 1), self.word(depth - 1));
                let op = *WordOp::ALL.choose(&mut self.random).expect("it is not empty");
                self.op(op, a, b)
            }
        }
    }

    /// A word below `bound`; in a wild program it may be above, unless it is a constant.
    fn small_word(&mut self, bound: u64) -> Word {
        if self.kind == Kind::Wild && self.random.random_ratio(1, 12) {
            let (word, size) = (self.word(2), self.word_def(WordDef::CalldataSize));
            let (sum, bound) = (self.op(WordOp::Add, word, size), self.constant_word(bound + 2));
            return self.op(WordOp::Mod, sum, bound);
        }
        if self.random.random_ratio(1, 2) {
            let value = self.random.random_range(0..bound);
            return self.constant_word(value);
        }
        let (word, bound) = (self.word(2), self.constant_word(bound));
        self.op(WordOp::Mod, word, bound)
    }

    fn defined_word(&mut self, effect: impl FnOnce(Word) -> Effect) -> Statement {
        let result = self.word_def(WordDef::Defined);
        self.scope.defined.push(result);
        effect(result).into()
    }

    // --- statements ---------------------------------------------------------------------------------------------------

    fn statements(&mut self, region: &mut Region, count: usize) {
        for _ in 0..count {
            if !self.program.arrays.is_empty() && self.random.random_ratio(1, 10) {
                self.update(region);
            }
            if self.random.random_ratio(1, 12) {
                self.question(region);
            }
            if self.is_wide() && self.random.random_ratio(1, if self.kind == Kind::Scratch { 2 } else { 6 }) {
                self.transform(region);
            }
            if self.scope.depth < DEPTH_MAX && self.random.random_ratio(1, 12) {
                self.counted(region);
            }
            let statement = self.statement();
            region.statements.push(statement);
        }
    }

    /// Test whether a difference is zero, or a double odd, that nothing else reads: the comparisons that interfaces
    /// with such instructions make themselves.
    fn question(&mut self, region: &mut Region) {
        let x = self.operand();
        let is_double = self.random.random_ratio(1, 2);
        let y = if is_double || self.random.random_ratio(1, 3) { x } else { self.operand() };
        let kind = if is_double { FieldOp::Add } else { FieldOp::Sub };
        let value = self.define(1)[0];
        self.scope.values.pop();
        region.statements.push(Statement::Block(Block { ops: vec![(value, Op { kind, x, y })] }));
        let value = Operand::Value(value);
        let asked = self.defined_word(|result| match is_double {
            true => Effect::IsOdd { result, value },
            false => Effect::IsZero { result, value },
        });
        region.statements.push(asked);
    }

    /// A loop whose count is a defined word, which what is in it and what comes after it may read as any other, as a number of the field, or as a
    /// count again: nothing that stands for the count on the way may be taken for it.
    fn counted(&mut self, region: &mut Region) {
        let known = self.count();
        let count = match known.filter(|_| self.random.random_ratio(1, 2)) {
            Some(count) => count,
            None => {
                let word = self.small_word(COUNT_MAX + 1);
                let has_variables = self.program.variables.len() > 1;
                let bound = match has_variables && self.random.random_ratio(1, 2) {
                    true => {
                        let variable = self.variable();
                        region.statements.push(Effect::Set { variable, word }.into());
                        self.defined_word(|result| Effect::Get { result, variable })
                    }
                    false => self.defined_word(|result| Effect::Bind { result, word }),
                };
                region.statements.push(bound);
                let count = *self.scope.defined.last().expect("it was defined just now");
                self.scope.counts.push(count);
                count
            }
        };
        let state = self.random.random_range(0..=4);
        let initial = self.operands(state);
        let statement = match self.random.random_range(0..4) {
            0 => self.countdown_from(count, initial, COUNT_MAX),
            turns => self.repeat_from(count, initial, turns == 1),
        };
        region.statements.push(statement);
        if self.random.random_ratio(1, 2)
            && let Some(reading) = self.read_count()
        {
            region.statements.push(reading);
        }
    }

    /// A count of a loop that is in scope.
    fn count(&mut self) -> Option<Word> {
        let Scope { counts, defined, .. } = &self.scope;
        let counts: Vec<Word> = counts.iter().copied().filter(|count| defined.contains(count)).collect();
        counts.choose(&mut self.random).copied()
    }

    /// A statement that reads a count, if one is in scope.
    fn read_count(&mut self) -> Option<Statement> {
        let word = self.count()?;
        Some(match self.random.random_range(0..3) {
            0 if self.program.modulus.known().is_some() => Effect::Reduce { result: self.define(1)[0], word }.into(),
            1 if self.program.variables.len() > 1 => Effect::Set { variable: self.variable(), word }.into(),
            _ => {
                let other = self.word(2);
                let word = self.op(WordOp::Add, word, other);
                self.defined_word(|result| Effect::Bind { result, word })
            }
        })
    }

    /// An element of an array at an index that is bound, loaded and stored again, now and then with something between; the
    /// index may be read as a word, too.
    fn update(&mut self, region: &mut Region) {
        let array = self.array();
        let element = self.element_values(array);
        let word = self.small_word(ELEMENTS.into());
        let index = self.index(region, array, word);
        if self.random.random_ratio(1, 4) {
            self.scope.defined.push(index);
        }
        region.statements.push(Effect::Load { array, index, results: self.define(element) }.into());
        for _ in 0..self.random.random_range(0..=2) {
            let between = self.statement();
            region.statements.push(between);
        }
        if self.random.random_ratio(1, 6) {
            let other = self.array();
            let results = self.define(self.element_values(other));
            region.statements.push(Effect::Load { array: other, index, results }.into());
        }
        for _ in 0..self.random.random_range(0..=2) {
            let values = self.operands(element);
            region.statements.push(Effect::Store { array, index, values }.into());
        }
    }

    /// `word`, which is below `ELEMENTS`, bound as an index of the array, or out of a cell of the last variable.
    fn index(&mut self, region: &mut Region, array: ArrayId, word: Word) -> Word {
        if self.kind == Kind::Inner || self.random.random_ratio(1, 2) {
            let result = self.word_def(WordDef::Defined);
            region.statements.push(Effect::Bind { result, word }.into());
            return result;
        }
        let variable = VariableId(self.program.variables.len() - 1);
        let cells = Cells { bits: *[32, 64].choose(&mut self.random).expect("it is not empty"), index_bits: 2 };
        let first_bit = cells.bits * self.random.random_range(0..256 / cells.bits);
        let bits = self.constant_word(first_bit.into());
        let indices = self.op(WordOp::Shl, word, bits);
        region.statements.push(Effect::SetIndices { variable, array, indices, cells }.into());
        let result = self.word_def(WordDef::Defined);
        region.statements.push(Effect::Index { result, variable, array, first_bit, cells }.into());
        result
    }

    /// A region in this one, which gives `given` values.
    fn inner(&mut self, given: usize) -> (Region, Vec<Operand>) {
        let (values, defined) = (self.scope.values.len(), self.scope.defined.len());
        self.scope.depth += 1;
        let mut region = Region::default();
        let length = self.random.random_range(0..=4);
        if self.random.random_ratio(1, 3)
            && let Some(reading) = self.read_count()
        {
            region.statements.push(reading);
        }
        self.statements(&mut region, length);
        let operands = self.operands(given);
        self.scope.depth -= 1;
        self.scope.values.truncate(values);
        self.scope.defined.truncate(defined);
        (region, operands)
    }

    fn statement(&mut self) -> Statement {
        let nested = self.scope.depth < DEPTH_MAX;
        let choice = match self.kind {
            Kind::Scratch => *[0, 10, 12, 13, 17, 20, 23, 32, 34, 35, 40, 40, 40, 41]
                .choose(&mut self.random)
                .expect("it is not empty"),
            _ => self.random.random_range(0..44),
        };
        match choice {
            0..10 => self.block(),
            10..12 if nested => self.repeat(),
            12 if nested && self.random.random_ratio(1, 2) => {
                let is_arithmetic = self.random.random_ratio(1, 2);
                self.sequence(is_arithmetic)
            }
            12 if nested && self.random.random_ratio(1, 2) => self.countdown(),
            13..17 if nested => self.branch(),
            17..20 if !self.program.functions.is_empty() => self.call(),
            20 if !self.program.arrays.is_empty() && self.random.random_ratio(1, 3) => self.fill().into(),
            20..23 if !self.program.arrays.is_empty() => self.load().into(),
            23..26 if !self.program.arrays.is_empty() => self.store().into(),
            26..30 => self.parse().into(),
            30 => {
                let value = self.operand();
                self.defined_word(|result| Effect::IsZero { result, value })
            }
            31 | 32 if self.random.random_ratio(1, 4) => self.outside(Maker::hash),
            31 => {
                let (a, b) = (self.operand(), self.operand());
                self.defined_word(|result| Effect::Equal { result, a, b })
            }
            32 => {
                let word = self.word(3);
                self.defined_word(|result| Effect::Bind { result, word })
            }
            34 if self.program.variables.len() > 2 => {
                let (variable, first_byte) = (self.variable_before_another(), self.random.random_range(1..32));
                self.defined_word(|result| Effect::GetAcross { result, variable, first_byte })
            }
            33 | 34 if self.program.variables.len() > 1 => {
                let variable = self.variable();
                self.defined_word(|result| Effect::Get { result, variable })
            }
            35 | 36 if self.program.variables.len() > 1 => {
                let variable = self.variable();
                Effect::Set { variable, word: self.word(2) }.into()
            }
            37 | 39 => self.require().into(),
            12 if self.has_scratch() => self.ladder(),
            40 if self.has_scratch() && self.random.random_ratio(1, 3) => self.onto_scratch().into(),
            40 if self.has_hashes() && self.random.random_ratio(1, 3) => self.hash_of_scratch(),
            40 if self.has_hashes() && self.random.random_ratio(1, 2) => self.elements_and_scratch().into(),
            40 => self.outside(Maker::words_and_elements),
            41 if !self.program.tables.is_empty() => self.lookup().into(),
            42 | 43 if !self.program.subprograms.is_empty() => self.enter_known(),
            43 => self.read_count().unwrap_or_else(|| self.block()),
            38 if self.scope.depth > 0 && self.random.random_ratio(1, 3) => self.ending().into(),
            _ => self.block(),
        }
    }

    fn block(&mut self) -> Statement {
        let mut ops = Vec::new();
        for _ in 0..self.random.random_range(0..=10) {
            let kind = *[FieldOp::Add, FieldOp::Sub, FieldOp::Mul].choose(&mut self.random).expect("it is not empty");
            let (x, y) = (self.operand(), self.operand());
            ops.push((self.define(1)[0], Op { kind, x, y }));
            // The same again, with its operands exchanged: something to share or not to share.
            if self.random.random_ratio(1, 8) {
                ops.push((self.define(1)[0], Op { kind, x: y, y: x }));
            }
        }
        Statement::Block(Block { ops })
    }

    fn repeat(&mut self) -> Statement {
        let state = self.random.random_range(0..=4);
        let count = self.small_word(4);
        let initial = self.operands(state);
        self.repeat_from(count, initial, true)
    }

    /// A loop, whose body may read its index or not.
    fn repeat_from(&mut self, count: Word, initial: Vec<Operand>, has_index: bool) -> Statement {
        let state = initial.len();
        let (values, defined) = (self.scope.values.len(), self.scope.defined.len());
        let index = self.word_def(WordDef::Defined);
        if has_index {
            self.scope.defined.push(index);
        }
        let params = self.define(state);
        let (body, gives) = self.inner(state);
        self.scope.values.truncate(values);
        self.scope.defined.truncate(defined);
        let arms = vec![Arm { params, body, gives }];
        self.control(ControlKind::Repeat { count, index }, initial, arms)
    }

    /// Mostly of few turns.
    fn countdown(&mut self) -> Statement {
        let state = self.random.random_range(0..=4);
        let turns = if self.random.random_ratio(1, 12) { 16 } else { self.random.random_range(1..=4) };
        let count = self.small_word(turns + 1);
        let initial = self.operands(state);
        self.countdown_from(count, initial, turns)
    }

    fn countdown_from(&mut self, count: Word, initial: Vec<Operand>, turns: u64) -> Statement {
        let state = initial.len();
        let turns = (0..turns).map(|_| self.turn(state)).collect();
        self.control(ControlKind::Countdown { count }, initial, turns)
    }

    /// A loop, whose results hold as many values as its state has.
    fn control(&mut self, kind: ControlKind, initial: Vec<Operand>, arms: Vec<Arm>) -> Statement {
        let results = self.define(initial.len());
        Control { kind, initial, arms, results }.into()
    }

    fn turn(&mut self, state: usize) -> Arm {
        let values = self.scope.values.len();
        let params = self.define(state);
        let (body, gives) = self.inner(state);
        self.scope.values.truncate(values);
        Arm { params, body, gives }
    }

    /// Some parts begin with a countdown, mostly of the state as it is; others begin with what there is.
    fn sequence(&mut self, is_arithmetic: bool) -> Statement {
        let state = self.random.random_range(0..=if is_arithmetic { 7 } else { 4 });
        let initial = self.operands(state);
        let length = if self.random.random_ratio(1, 12) { 40 } else { self.random.random_range(1..=6) };
        let choosing = self.random.random_ratio(1, 8).then(|| self.choosing(length));
        let count = choosing.as_ref().map_or(1, |(_, least)| *least) + self.random.random_range(0..=2);
        let carries = choosing.is_none() && !self.program.tables.is_empty() && self.random.random_ratio(1, 3);
        let part = |_| match (is_arithmetic, carries) {
            (true, _) => self.arithmetic_part(state, carries),
            (false, true) => self.part_with_rows(state),
            (false, false) => self.part(state),
        };
        let parts: Vec<Arm> = (0..count).map(part).collect();
        let then = |number| {
            let has_next = number + 1 < count && self.random.random_ratio(1, 4);
            has_next.then(|| self.random.random_range(number + 1..count))
        };
        let then: Vec<Option<usize>> = (0..count).map(then).collect();
        let chosen = choosing.map_or(vec![None; length], |(steps, _)| steps);
        let step = |step: Option<_>| step.unwrap_or_else(|| SequenceStep::Part(self.random.random_range(0..count)));
        let mut steps: Vec<SequenceStep<Word>> = chosen.into_iter().map(step).collect();
        if carries {
            steps = self.with_rows(&steps, &parts, &then);
        }
        let has_first = !carries && self.random.random_ratio(1, 4);
        let first = has_first.then(|| self.first_steps(length));
        self.control(ControlKind::Sequence(Order { steps, then, first }), initial, parts)
    }

    /// Numbers of calldata, one or two sequences of arithmetic on them, and what comes of it as output.
    fn sequences(&mut self, body: &mut Region) {
        let bits = self.program.modulus.least().bits();
        let size_bytes = u32::try_from((bits - 1) / 8).expect("a modulus is short");
        for _ in 0..self.random.random_range(1..=5) {
            let offset = self.small_word(CALLDATA_BYTES.into());
            let parse = Effect::Parse { result: self.define(1)[0], offset, size_bytes };
            body.statements.push(parse.into());
        }
        for _ in 0..self.random.random_range(1..=2) {
            body.statements.push(self.block());
            let sequence = self.sequence(true);
            body.statements.push(sequence);
        }
        let count = self.random.random_range(1..=8);
        let size_bytes = u32::try_from(bits.div_ceil(8)).expect("a modulus is short");
        body.statements.push(Effect::ReturnElements { values: self.operands(count), size_bytes }.into());
    }

    /// So many of `length` steps as a word says, counted one by one or several as one.
    fn first_steps(&mut self, length: usize) -> FirstSteps<Word> {
        let numbers: Vec<usize> = (1..=length).filter(|&each| length.is_multiple_of(each)).collect();
        let each = *numbers.choose(&mut self.random).expect("1 is one of them");
        FirstSteps { count: self.small_word((length / each) as u64 + 1), each } // usize to u64 widens
    }

    /// For each step of a sequence the part that a word chooses, if one does, and how many parts there are to choose from: all, or one half by
    /// some steps and the other by others. Cells are 16 bits apart, or 24.
    fn choosing(&mut self, length: usize) -> (Vec<Option<SequenceStep<Word>>>, usize) {
        let least = if self.random.random_ratio(1, 8) { 32 } else { SequenceStep::<Word>::CHOICES_MIN };
        let (group, distance) = (least >> self.random.random_range(0..=1), 16 + 8 * self.random.random_range(0..=1));
        let places = (0..length).map(|_| {
            let cell = self.random.random_range(0..(256 - 16) / distance);
            let first_part = group * self.random.random_range(0..least / group);
            self.random.random_ratio(1, 2).then_some((distance * cell, first_part))
        });
        let places: Vec<Option<(u32, usize)>> = places.collect();
        // Zeros where no step has its cell.
        let most = U256::from(group - 1);
        let cells =
            places.iter().flatten().fold(U256::ZERO, |cells, (first_bit, _)| cells | most << *first_bit as usize); // widens
        let (cells, word) = (self.word_def(WordDef::Constant(cells)), self.word(2));
        let word = self.op(WordOp::And, word, cells);
        let step = |(first_bit, first_part)| SequenceStep::Chosen { word, first_bit, first_part };
        (places.into_iter().map(|place| place.map(step)).collect(), least)
    }

    /// A part that begins with rows that it takes, and with arithmetic between them.
    fn part_with_rows(&mut self, state: usize) -> Arm {
        let (values, defined) = (self.scope.values.len(), mem::take(&mut self.scope.defined));
        let params = self.define(state);
        let mut first = Vec::new();
        for _ in 0..self.random.random_range(0..=3) {
            first.push(self.take().into());
            if self.random.random_ratio(1, 4) {
                first.push(self.block());
            }
        }
        let (mut body, gives) = self.inner(state);
        body.statements.splice(0..0, first);
        self.scope.values.truncate(values);
        self.scope.defined = defined;
        Arm { params, body, gives }
    }

    /// Takes a row of a table, or an element of an array of fixed size.
    fn take(&mut self) -> Effect {
        let is_fixed =
            |program: &Program, array: ArrayId| matches!(program.arrays[array.0].capacity, Capacity::Fixed(_));
        let arrays: Vec<ArrayId> =
            (0..self.program.arrays.len()).map(ArrayId).filter(|&array| is_fixed(&self.program, array)).collect();
        if let Some(&array) = arrays.choose(&mut self.random).filter(|_| self.random.random_ratio(1, 2)) {
            Effect::TakeElement { array, results: self.define(self.element_values(array)) }
        } else {
            let table = TableId(self.random.random_range(0..self.program.tables.len()));
            Effect::TakeRow { table, results: self.define(self.program.tables[table.0].element_values) }
        }
    }

    /// A part of arithmetic alone, after rows if it may take some; or of nothing.
    fn arithmetic_part(&mut self, state: usize, may_take: bool) -> Arm {
        let values = self.scope.values.len();
        let params = self.define(state);
        let mut body = Region::default();
        for _ in 0..if may_take { self.random.random_range(0..=3) } else { 0 } {
            body.statements.push(self.take().into());
        }
        if self.random.random_ratio(3, 4) {
            body.statements.push(self.block());
        }
        let gives = self.operands(state);
        self.scope.values.truncate(values);
        Arm { params, body, gives }
    }

    /// The steps with the rows that their parts take in front of them.
    fn with_rows(
        &mut self,
        steps: &[SequenceStep<Word>],
        parts: &[Arm],
        then: &[Option<usize>],
    ) -> Vec<SequenceStep<Word>> {
        let cells = self.word_def(WordDef::Constant(SequenceStep::<Word>::CELLS.each(1)));
        let words = [2, 2].map(|depth| self.word(depth)).map(|word| self.op(WordOp::And, word, cells));
        let mut all = Vec::new();
        for &step in steps {
            let mut next = Some(step.number(|_| U256::ZERO));
            while let Some(part) = next {
                for _ in parts[part].takes() {
                    let first_bit = 16 * self.random.random_range(0..16);
                    all.push(match words.choose(&mut self.random).filter(|_| self.random.random_ratio(2, 3)) {
                        Some(&word) => SequenceStep::Carry { word, first_bit },
                        None => SequenceStep::CarryNumber(self.random.random_range(0..ELEMENTS as usize)), // widens
                    });
                }
                next = then[part];
            }
            all.push(step);
        }
        all
    }

    fn part(&mut self, state: usize) -> Arm {
        let turns = self.random.random_range(1..=3);
        let lead = self.random.random_ratio(1, 2).then(|| self.small_word(turns + 1));
        let (values, defined) = (self.scope.values.len(), mem::take(&mut self.scope.defined));
        let params = self.define(state);
        let countdown = lead.map(|count| {
            let initial = params.iter().map(|&value| Operand::Value(value)).collect();
            let initial = if self.random.random_ratio(1, 4) { self.operands(state) } else { initial };
            self.scope.depth += 1;
            let countdown = self.countdown_from(count, initial, turns);
            self.scope.depth -= 1;
            countdown
        });
        let (mut body, gives) = self.inner(state);
        body.statements.splice(0..0, countdown);
        self.scope.values.truncate(values);
        self.scope.defined = defined;
        Arm { params, body, gives }
    }

    fn branch(&mut self) -> Statement {
        let given = self.random.random_range(0..=4);
        let condition = if self.random.random_ratio(1, 4) {
            let (word, zero) = (self.word(2), self.constant_word(0));
            self.op(WordOp::Eq, word, zero)
        } else {
            self.small_word(2)
        };
        let then = self.inner(given);
        let otherwise =
            if self.random.random_ratio(1, 3) { (Region::default(), self.operands(given)) } else { self.inner(given) };
        let arms = [then, otherwise].map(|(body, gives)| Arm { params: Vec::new(), body, gives }).into();
        let results = self.define(given);
        Control { kind: ControlKind::Branch { condition }, initial: Vec::new(), arms, results }.into()
    }

    fn call(&mut self) -> Statement {
        let id = self.random.random_range(0..self.program.functions.len());
        let (params, given) = (self.program.functions[id].params.len(), self.program.functions[id].results.len());
        let arguments = self.operands(params);
        let function = FunctionId(u32::try_from(id).expect("functions are few"));
        Statement::Call { function, arguments, results: self.define(given) }
    }

    fn load(&mut self) -> Effect {
        let array = self.array();
        let index = self.small_word(ELEMENTS.into());
        Effect::Load { array, index, results: self.define(self.element_values(array)) }
    }

    fn store(&mut self) -> Effect {
        let array = self.array();
        let index = self.small_word(ELEMENTS.into());
        Effect::Store { array, index, values: self.operands(self.element_values(array)) }
    }

    fn fill(&mut self) -> Effect {
        let array = self.array();
        let count = self.random.random_range(1..=ELEMENTS);
        Effect::Fill { array, count, values: self.operands(self.element_values(array)) }
    }

    /// Mostly of so few bytes that every number is below the modulus.
    fn parse(&mut self) -> Effect {
        let is_known = self.program.modulus.known().is_some();
        if is_known && self.program.modulus.is_odd() && self.random.random_ratio(1, 8) {
            // After the calldata, because EVM384 does not look whether a number is below the modulus.
            let offset = self.constant_word(CALLDATA_BYTES.into());
            return Effect::ParseMontLe { result: self.define(1)[0], offset };
        }
        if is_known && self.random.random_ratio(1, 8) {
            let word = self.word(2);
            return Effect::Reduce { result: self.define(1)[0], word };
        }
        let offset = self.small_word(CALLDATA_BYTES.into());
        let safe = u32::try_from((self.program.modulus.least().bits() - 1) / 8).expect("a modulus is short");
        let sizes = [0, 1, 8, 20, 31, 32, 33, 48, 63, 64, 65, 96, 100, 130, safe + 1];
        let any = *sizes.choose(&mut self.random).expect("it is not empty");
        let size_bytes = if self.random.random_ratio(4, 5) { any.min(safe) } else { any };
        Effect::Parse { result: self.define(1)[0], offset, size_bytes }
    }
}
