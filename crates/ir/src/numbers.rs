//! Programs on numbers: the implementation of [`Machine`] in which everything is plain Rust.

use crate::Outcome;
use crate::calldata::calldata_slice;
use crate::hash::{self, Piece};
use crate::keccak_f;
use crate::lanes::Lanes;
use crate::machine::{
    Array, Capacity, Cells, Coming, Feature, FirstSteps, Machine, ModOp, SequenceStep, Table, Variable, WordOp,
};
use crate::mont;
use crate::scratch::Scratch;
use crate::words;
use num_bigint::BigUint;
use residue_formula::bundle::Bundle;
use residue_formula::fe::Number;
use ruint::aliases::U256;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem;

/// A machine that computes with field elements of type `F`.
///
/// A failed requirement does not unwind: the first ending is kept, and later results have no effect. So programs need
/// no error handling on numbers either. After an ending loops make no further turn, and arrays accept any access, since
/// the program's assumptions may not hold.
///
/// Its field is a type, so there is no other modulus: a text that enters a subprogram is recorded and evaluated instead, and panics
/// here.
#[derive(Debug)]
pub struct Numbers<F> {
    calldata: Vec<u8>,
    arrays: RefCell<Vec<Vec<Option<Vec<F>>>>>,
    tables: RefCell<Vec<Vec<Vec<F>>>>,
    /// The rows that the step being done carries, the next one last.
    carried: RefCell<Vec<U256>>,
    variables: RefCell<Vec<U256>>,
    scratch: RefCell<Scratch>,
    outcome: RefCell<Outcome>,
}

impl<F: Number> Numbers<F> {
    /// A machine with this calldata.
    pub fn new(calldata: Vec<u8>) -> Self {
        Self {
            calldata,
            arrays: RefCell::default(),
            tables: RefCell::default(),
            carried: RefCell::default(),
            variables: RefCell::default(),
            scratch: RefCell::default(),
            outcome: RefCell::new(Outcome::Ended),
        }
    }

    /// The number of the next row that the step carries.
    fn next_row(&self) -> U256 {
        if self.has_ended() {
            return U256::ZERO;
        }
        self.carried.borrow_mut().pop().expect("a step carries as many rows as its part takes")
    }

    /// End of the program.
    pub fn outcome(&self) -> Outcome {
        self.outcome.borrow().clone()
    }

    /// A hash of calldata and words; bytes that memory does not hold end the program.
    fn hash(&self, of: impl FnOnce(&[u8]) -> Option<U256>) -> U256 {
        if self.has_ended() {
            return U256::ZERO;
        }
        of(&self.calldata).unwrap_or_else(|| {
            self.end(Outcome::Failed);
            U256::ZERO
        })
    }

    /// Panics unless the program has ended: what scratch memory holds after its end is not defined.
    fn beyond_scratch(&self, offset: U256) -> U256 {
        assert!(self.has_ended(), "scratch memory is used after its end: at byte {offset}");
        U256::ZERO
    }

    fn has_ended(&self) -> bool {
        *self.outcome.borrow() != Outcome::Ended
    }

    fn end(&self, outcome: Outcome) {
        let mut first = self.outcome.borrow_mut();
        if *first == Outcome::Ended {
            *first = outcome;
        }
    }
}

/// `value` in `size_bytes` big-endian bytes. Panics if it does not fit: the size of an output is the program's own.
pub(crate) fn to_be_bytes(value: &BigUint, size_bytes: u32) -> Vec<u8> {
    let digits = value.to_bytes_be();
    let size_bytes = size_bytes as usize;
    assert!(digits.len() <= size_bytes, "an output element of {size_bytes} bytes cannot hold {value}");
    let mut bytes = vec![0; size_bytes - digits.len()];
    bytes.extend(digits);
    bytes
}

impl<F: Number> Machine for Numbers<F> {
    type Fe = F;
    type Word = U256;

    fn constant(&self, value: &BigUint) -> F {
        F::from_canonical(value).expect("constants of a program are below its modulus")
    }

    fn reduce(&self, word: U256) -> F {
        let number = BigUint::from_bytes_be(&word.to_be_bytes::<32>()) % F::modulus();
        F::from_canonical(&number).expect("a remainder is below the modulus")
    }

    fn invert(&self, value: F) -> F {
        value.inverse().unwrap_or(F::ZERO)
    }

    fn is_zero(&self, value: F) -> U256 {
        U256::from(value == F::ZERO)
    }

    fn is_odd(&self, value: F) -> U256 {
        U256::from(value.to_canonical().bit(0))
    }

    fn equal(&self, a: F, b: F) -> U256 {
        U256::from(a == b)
    }

    fn less(&self, a: F, b: F) -> U256 {
        U256::from(a.to_canonical() < b.to_canonical())
    }

    fn word_of(&self, value: F, first_bit: u32) -> U256 {
        words::word_at(&value.to_canonical(), first_bit)
    }

    fn high(&self, value: F, first_bit: u32) -> F {
        F::from_canonical(&(value.to_canonical() >> first_bit)).expect("it is no larger than the value")
    }

    fn element_of(&self, words: &[U256]) -> F {
        if self.has_ended() {
            return F::ZERO;
        }
        let number = words::number_of(words);
        F::from_canonical(&number).unwrap_or_else(|| panic!("{number:#x} is not below the modulus"))
    }

    fn over(&self, name: &'static str, _: &BigUint, _: impl FnOnce(&Self)) {
        panic!("`{name}` is over another modulus than the type of these numbers: record the text and evaluate it");
    }

    fn over_given(&self, name: &'static str, _: u32, _: &[U256], _: impl FnOnce(&Self)) {
        panic!("`{name}` is over another modulus than the type of these numbers: record the text and evaluate it");
    }

    fn function<I, O>(&self, _: &'static str, input: I, body: impl FnOnce(&Self, I) -> O) -> O
    where
        I: Bundle<F>,
        O: Bundle<F>,
    {
        body(self, input)
    }

    fn repeat<S>(&self, count: U256, state: S, mut body: impl FnMut(&Self, U256, S) -> S) -> S
    where
        S: Bundle<F>,
    {
        let (mut turn, mut state) = (U256::ZERO, state);
        while turn < count && !self.has_ended() {
            state = body(self, turn, state);
            turn += U256::ONE;
        }
        state
    }

    fn countdown<S>(&self, count: U256, limit: usize, state: S, mut body: impl FnMut(&Self, usize, S) -> S) -> S
    where
        S: Bundle<F>,
    {
        if self.has_ended() {
            return state;
        }
        assert!(count <= U256::from(limit), "a countdown of {limit} turns is entered at turn {count}");
        let mut state = state;
        for turn in (0..limit).rev().filter(|&turn| U256::from(turn) < count) {
            state = if self.has_ended() { state } else { body(self, turn, state) };
        }
        state
    }

    fn sequence_of_first<S>(
        &self,
        first: Option<FirstSteps<U256>>,
        order: &[SequenceStep<U256>],
        then: &[Option<usize>],
        mut state: S,
        mut part: impl FnMut(&Self, usize, S) -> S,
    ) -> S
    where
        S: Bundle<F>,
    {
        let steps = first.map_or(Some(order.len()), |first| first.of(order.len(), |count| count));
        let steps = steps.unwrap_or_else(|| panic!("a sequence of {} steps has no {first:?}", order.len()));
        let mut rows = Vec::new();
        for step in &order[..steps] {
            let mut next = match step.coming(|word| word) {
                Coming::Row(number) => {
                    rows.push(number);
                    continue;
                }
                Coming::Part(number) => (!self.has_ended()).then_some(number),
            };
            rows.reverse();
            let outer = self.carried.replace(mem::take(&mut rows));
            while let Some(number) = next.filter(|_| !self.has_ended()) {
                let count = then.len();
                assert!(number < count, "a sequence of {count} parts has no part {number}");
                state = part(self, number, state);
                next = then[number];
            }
            self.carried.replace(outer);
        }
        state
    }

    fn branch<S>(&self, condition: U256, then: impl FnOnce(&Self) -> S, otherwise: impl FnOnce(&Self) -> S) -> S
    where
        S: Bundle<F>,
    {
        if condition.is_zero() { otherwise(self) } else { then(self) }
    }

    fn word(&self, value: U256) -> U256 {
        value
    }

    fn word_op(&self, op: WordOp, a: U256, b: U256) -> U256 {
        op.apply(a, b)
    }

    fn mod_op(&self, op: ModOp, a: U256, b: U256, modulus: U256) -> U256 {
        op.apply(a, b, modulus)
    }

    fn leading_zeros(&self, word: U256) -> U256 {
        U256::from(word.leading_zeros())
    }

    fn bind(&self, word: U256) -> U256 {
        word
    }

    fn variable(&self, _: &'static str, initial: U256) -> Variable {
        let mut variables = self.variables.borrow_mut();
        variables.push(initial);
        Variable(variables.len() - 1)
    }

    fn get(&self, variable: Variable) -> U256 {
        self.variables.borrow()[variable.0]
    }

    fn get_across(&self, variable: Variable, first_byte: u32) -> U256 {
        let variables = self.variables.borrow();
        words::across(variables[variable.0], variables[variable.0 + 1], first_byte)
    }

    fn set(&self, variable: Variable, word: U256) {
        self.variables.borrow_mut()[variable.0] = word;
    }

    fn array<B: Bundle<F>>(&self, _: &'static str, capacity: Capacity) -> Array<B> {
        let mut arrays = self.arrays.borrow_mut();
        let length = match capacity {
            Capacity::Fixed(count) => count as usize,
            Capacity::Unbounded => 0,
        };
        arrays.push(vec![None; length]);
        Array { index: arrays.len() - 1, element: PhantomData }
    }

    fn reserve<B: Bundle<F>>(&self, array: Array<B>, count: U256) {
        if self.has_ended() {
            return;
        }
        let count = usize::try_from(count).expect("the length of an array fits a usize");
        let elements = &mut self.arrays.borrow_mut()[array.index];
        if elements.len() < count {
            elements.resize(count, None);
        }
    }

    fn load<B: Bundle<F>>(&self, array: Array<B>, index: U256) -> B {
        if self.has_ended() {
            return B::from_list(vec![F::ZERO; B::LEN]);
        }
        let index = usize::try_from(index).expect("an index of an array fits a usize");
        let element = self.arrays.borrow()[array.index].get(index).cloned().flatten();
        B::from_list(element.expect("an element is stored before it is loaded"))
    }

    fn store<B: Bundle<F>>(&self, array: Array<B>, index: U256, value: B) {
        if self.has_ended() {
            return;
        }
        let index = usize::try_from(index).expect("an index of an array fits a usize");
        let room = self.arrays.borrow()[array.index].len();
        assert!(index < room, "element {index} is stored in an array with room for {room}");
        self.arrays.borrow_mut()[array.index][index] = Some(value.to_list());
    }

    fn fill<B: Bundle<F>>(&self, array: Array<B>, count: u32, value: B) {
        if self.has_ended() {
            return;
        }
        let elements = &mut self.arrays.borrow_mut()[array.index];
        let (count, room) = (count as usize, elements.len()); // u32 to usize widens
        assert!(count <= room, "{count} elements are filled in an array with room for {room}");
        elements[..count].fill(Some(value.to_list()));
    }

    fn set_indices<B: Bundle<F>>(&self, variable: Variable, _: Array<B>, indices: U256, _: Cells) {
        self.set(variable, indices);
    }

    fn index<B: Bundle<F>>(&self, variable: Variable, _: Array<B>, first_bit: u32, cells: Cells) -> U256 {
        cells.take(self.get(variable), first_bit)
    }

    fn table<B: Bundle<F>>(&self, _: &'static str, elements: &[Vec<BigUint>]) -> Table<B> {
        let mut tables = self.tables.borrow_mut();
        tables.push(elements.iter().map(|values| values.iter().map(|value| self.constant(value)).collect()).collect());
        Table { index: tables.len() - 1, element: PhantomData }
    }

    fn lookup<B: Bundle<F>>(&self, table: Table<B>, index: U256) -> B {
        if self.has_ended() {
            return B::from_list(vec![F::ZERO; B::LEN]);
        }
        let elements = &self.tables.borrow()[table.index];
        let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
        let element = element.unwrap_or_else(|| panic!("element {index} of a table of {}", elements.len()));
        B::from_list(element.clone())
    }

    fn take_row<B: Bundle<F>>(&self, table: Table<B>) -> B {
        self.lookup(table, self.next_row())
    }

    fn take_element<B: Bundle<F>>(&self, array: Array<B>) -> B {
        self.load(array, self.next_row())
    }

    fn take_part<B: Bundle<F>, const N: usize>(&self, array: Array<[B; N]>) -> B {
        let (parts, row) = (U256::from(N), self.next_row());
        let part = usize::try_from(row % parts).expect("it is below the number of parts");
        self.load(array, row / parts).into_iter().nth(part).expect("it is one of the parts")
    }

    fn fill_from<B: Bundle<F>>(&self, array: Array<B>, table: Table<B>) {
        let count = self.tables.borrow()[table.index].len();
        for index in (0..count).map(U256::from) {
            self.store(array, index, self.lookup(table, index));
        }
    }

    fn has(&self, feature: Feature) -> U256 {
        U256::from(!matches!(feature, Feature::Precompile(_)))
    }

    fn precompile(&self, address: u16, _: (U256, U256), _: (U256, u32)) -> U256 {
        assert!(
            self.has_ended(),
            "precompile {address:#x} is called, and numbers have none: branch on `Feature::Precompile`"
        );
        U256::ZERO
    }

    fn return_precompile(&self, address: u16) {
        self.precompile(address, (U256::ZERO, U256::ZERO), (U256::ZERO, 0));
    }

    fn stage(&self, _: &'static str, text: fn(&Self)) {
        text(self);
    }

    fn calldata_size(&self) -> U256 {
        U256::from(self.calldata.len())
    }

    fn calldata_word(&self, offset: U256) -> U256 {
        U256::try_from_be_slice(&calldata_slice(&self.calldata, offset, 32)).expect("32 bytes fit a word")
    }

    fn parse(&self, offset: U256, size_bytes: u32) -> F {
        let number = BigUint::from_bytes_be(&calldata_slice(&self.calldata, offset, size_bytes as usize));
        F::from_canonical(&number).unwrap_or_else(|| {
            self.end(Outcome::Failed);
            F::ZERO
        })
    }

    fn parse_mont_le(&self, offset: U256) -> F {
        let modulus = F::modulus();
        let number = mont::from_le_bytes(&calldata_slice(&self.calldata, offset, mont::size_bytes(&modulus)), &modulus);
        number.and_then(|number| F::from_canonical(&number)).unwrap_or_else(|| {
            self.end(Outcome::Failed);
            F::ZERO
        })
    }

    fn sha256(&self, pieces: &[Piece<U256>]) -> U256 {
        self.hash(|calldata| hash::sha256(calldata, pieces.iter().copied()))
    }

    fn keccak256(&self, pieces: &[Piece<U256>]) -> U256 {
        self.hash(|calldata| hash::keccak256(calldata, pieces.iter().copied()))
    }

    fn require(&self, condition: U256) {
        if condition.is_zero() {
            self.end(Outcome::Failed);
        }
    }

    fn scratch(&self, size_bytes: u32) {
        self.scratch.borrow_mut().grow(size_bytes);
    }

    fn scratch_word(&self, offset: U256) -> U256 {
        let word = self.scratch.borrow().word(offset);
        word.unwrap_or_else(|| self.beyond_scratch(offset))
    }

    fn set_scratch(&self, offset: U256, word: U256) {
        if self.scratch.borrow_mut().write(offset, &word.to_be_bytes::<32>()).is_none() {
            self.beyond_scratch(offset);
        }
    }

    fn set_scratch_byte(&self, offset: U256, word: U256) {
        if self.scratch.borrow_mut().write(offset, &[word.byte(0)]).is_none() {
            self.beyond_scratch(offset);
        }
    }

    fn keccak256_scratch(&self, offset: U256, size_bytes: U256) -> U256 {
        let hash = self.scratch.borrow().bytes(offset, size_bytes).map(hash::keccak256_of);
        hash.unwrap_or_else(|| self.beyond_scratch(offset))
    }

    fn sha256_scratch(&self, offset: U256, size_bytes: U256, to: U256) {
        let hash = self.scratch.borrow().bytes(offset, size_bytes).map(hash::sha256_of);
        match hash {
            Some(hash) => self.set_scratch(to, hash),
            None => _ = self.beyond_scratch(offset),
        }
    }

    fn keccak_f(&self, offset: u32) {
        let permuted = keccak_f::permute(&mut self.scratch.borrow_mut(), offset);
        if let Err(offset) = permuted {
            self.beyond_scratch(offset);
        }
    }

    fn copy_calldata(&self, offset: U256, from: U256, size_bytes: U256) {
        if self.scratch.borrow_mut().copy(offset, &self.calldata, from, size_bytes).is_none() {
            self.beyond_scratch(offset);
        }
    }

    fn copy_scratch(&self, offset: u32, from: u32, size_bytes: u32) {
        if let Err(beyond) = self.scratch.borrow_mut().move_within(offset, from, size_bytes) {
            self.beyond_scratch(beyond);
        }
    }

    fn take_scratch(&self, offset: u32, count: usize, size_bytes: u32) -> Vec<F> {
        let element = |number: usize| {
            let at = U256::from(offset) + U256::from(number) * U256::from(size_bytes);
            let value = self.scratch.borrow().bytes(at, U256::from(size_bytes)).map(BigUint::from_bytes_be);
            let Some(value) = value else {
                self.beyond_scratch(at);
                return F::ZERO;
            };
            F::from_canonical(&value).unwrap_or_else(|| {
                self.end(Outcome::Failed);
                F::ZERO
            })
        };
        (0..count).map(element).collect()
    }

    fn put_scratch(&self, offset: u32, size_bytes: u32, values: &[F]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| to_be_bytes(&value.to_canonical(), size_bytes)).collect();
        let offset = U256::from(offset);
        if self.scratch.borrow_mut().write(offset, &bytes).is_none() {
            self.beyond_scratch(offset);
        }
    }

    fn lanes(&self, lanes: &Lanes) {
        let below = lanes.run(&self.calldata, &mut self.scratch.borrow_mut());
        match below {
            Ok(true) => {}
            Ok(false) => self.end(Outcome::Failed),
            Err(offset) => drop(self.beyond_scratch(offset)),
        }
    }

    fn line_up(&self, _: &[F]) {}

    fn return_scratch(&self, offset: U256, size_bytes: U256) {
        let bytes = self.scratch.borrow().bytes(offset, size_bytes).map(<[u8]>::to_vec);
        match bytes {
            Some(bytes) => self.end(Outcome::Returned(bytes)),
            None => drop(self.beyond_scratch(offset)),
        }
    }

    fn return_word(&self, word: U256) {
        self.end(Outcome::Returned(word.to_be_bytes::<32>().to_vec()));
    }

    fn return_words(&self, words: &[U256], size_bytes: U256) {
        if !self.has_ended() {
            self.end(words::last_bytes(words, size_bytes).map_or(Outcome::Failed, Outcome::Returned));
        }
    }

    fn return_elements<B: Bundle<F>>(&self, values: B, size_bytes: u32) {
        if self.has_ended() {
            return;
        }
        let bytes = values.to_list().into_iter().flat_map(|value| to_be_bytes(&value.to_canonical(), size_bytes));
        self.end(Outcome::Returned(bytes.collect()));
    }

    fn return_last<B: Bundle<F>>(&self, values: B, element_bytes: u32, size_bytes: U256, limit_bytes: u32) {
        if self.has_ended() {
            return;
        }
        let values: Vec<BigUint> = values.to_list().into_iter().map(F::to_canonical).collect();
        let bytes = words::last_bytes_of(&values, element_bytes, size_bytes, limit_bytes);
        self.end(bytes.map_or(Outcome::Failed, Outcome::Returned));
    }

    fn return_mont_le<B: Bundle<F>>(&self, values: B) {
        if self.has_ended() {
            return;
        }
        let modulus = F::modulus();
        let bytes = values.to_list().into_iter().flat_map(|value| mont::to_le_bytes(&value.to_canonical(), &modulus));
        self.end(Outcome::Returned(bytes.collect()));
    }
}
