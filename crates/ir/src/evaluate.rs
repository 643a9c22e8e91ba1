//! The evaluator: runs a program slowly and literally on big integers. The judge of compiled code.

use crate::Outcome;
use crate::calldata::calldata_slice;
use crate::effect::Effect;
use crate::hash::{self, Piece};
use crate::keccak_f;
use crate::machine::{Capacity, Cells, Coming, Feature, SequenceStep};
use crate::mont;
use crate::no_outcome::NoOutcome;
use crate::numbers::to_be_bytes;
use crate::program::{
    Arm, ArrayId, Block, Control, ControlKind, FieldOp, Function, Modulus, Op, Operand, Order, Program, Region,
    Statement, SubprogramId, TableId, Value, VariableId, Word, WordDef,
};
use crate::scratch::Scratch;
use crate::words;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use num_bigint::BigUint;
use num_traits::Zero;
use ruint::aliases::U256;
use std::cell::Cell;
use std::mem;
use std::ops::Range;

/// Runs a verified program of ours. Panics on a program that [`crate::verify()`] rejects, or that has no outcome.
pub fn evaluate(program: &Program, calldata: &[u8]) -> Outcome {
    evaluate_within(program, calldata, u64::MAX).unwrap_or_else(|error| panic!("`{}`: {error}", program.name))
}

/// Runs a verified program for at most `steps_max` turns of loops, parts of sequences, arms of branches and calls.
pub fn evaluate_within(program: &Program, calldata: &[u8], steps_max: u64) -> Result<Outcome, NoOutcome> {
    let mut run = Run {
        unit: Unit::new(program, program.modulus.most()),
        names: &program.variables,
        entered: HashSet::new(),
        calldata,
        variables: vec![U256::ZERO; program.variables.len()],
        indices: vec![None; program.variables.len()],
        carried: Vec::new(),
        scratch: Scratch::default(),
        beyond: Cell::new(None),
        steps_left: steps_max,
        steps_max,
    };
    match run.call(program.entry(), &[]) {
        Ok(_) => Ok(Outcome::Ended),
        Err(Ending::Outcome(outcome)) => Ok(outcome),
        Err(Ending::None(error)) => Err(error),
    }
}

/// End of a run before its last statement.
enum Ending {
    Outcome(Outcome),
    None(NoOutcome),
}

/// The end of a run that uses scratch memory after its end.
const fn beyond(offset: U256) -> Ending {
    Ending::None(NoOutcome::Scratch(offset))
}

/// (x, y) ↦ x op y mod m, for x, y < m.
pub fn apply(kind: FieldOp, x: &BigUint, y: &BigUint, m: &BigUint) -> BigUint {
    match kind {
        FieldOp::Add => (x + y) % m,
        FieldOp::Sub => (x + m - y) % m,
        FieldOp::Mul => x * y % m,
    }
}

/// The values that a block of `program` defines, from those of its inputs, mod m.
pub fn evaluate_block(program: &Program, m: &BigUint, block: &Block, values: &mut HashMap<Value, BigUint>) {
    for &(value, Op { kind, x, y }) in &block.ops {
        let read = |operand| match operand {
            Operand::Value(value) => &values[&value],
            Operand::Constant(id) => program.constant(id),
        };
        let result = apply(kind, read(x), read(y), m);
        values.insert(value, result);
    }
}

struct Run<'a> {
    unit: Unit<'a>,
    /// Of the variables.
    names: &'a [String],
    /// The subprograms with given moduli that have been entered.
    entered: HashSet<SubprogramId>,
    calldata: &'a [u8],
    variables: Vec<U256>,
    /// For each variable the array that it holds indices of, and in which cells, if it was set to indices.
    indices: Vec<Option<(ArrayId, Cells)>>,
    /// The rows that the step being done carries, the next one last.
    carried: Vec<U256>,
    scratch: Scratch,
    /// Offset of the first read of a word of scratch memory past its end.
    beyond: Cell<Option<U256>>,
    steps_left: u64,
    steps_max: u64,
}

/// The program or the entered subprogram, with its own state.
struct Unit<'a> {
    program: &'a Program,
    modulus: BigUint,
    arrays: Vec<HashMap<U256, Vec<BigUint>>>,
    /// The number of elements with room, for each array without a capacity.
    room: Vec<U256>,
}

impl<'a> Unit<'a> {
    fn new(program: &'a Program, modulus: BigUint) -> Self {
        Self {
            program,
            modulus,
            arrays: vec![HashMap::new(); program.arrays.len()],
            room: vec![U256::ZERO; program.arrays.len()],
        }
    }
}

/// State of one call of a function.
struct Frame<'a> {
    function: &'a Function,
    values: HashMap<Value, BigUint>,
    words: HashMap<Word, U256>,
}

impl<'a> Run<'a> {
    fn call(&mut self, function: &'a Function, arguments: &[BigUint]) -> Result<Vec<BigUint>, Ending> {
        self.step()?;
        let values = function.params.iter().copied().zip(arguments.iter().cloned()).collect();
        let mut frame = Frame { function, values, words: HashMap::new() };
        self.region(&mut frame, &function.body)?;
        Ok(self.read_all(&frame, &function.results))
    }

    /// Counts a turn, a part, an arm or a call.
    fn step(&mut self) -> Result<(), Ending> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Ending::None(NoOutcome::TooLong(self.steps_max)))?;
        Ok(())
    }

    fn read(&self, frame: &Frame<'_>, operand: Operand) -> BigUint {
        match operand {
            Operand::Value(value) => frame.values[&value].clone(),
            Operand::Constant(id) => self.unit.program.constant(id).clone(),
        }
    }

    fn read_all(&self, frame: &Frame<'_>, operands: &[Operand]) -> Vec<BigUint> {
        operands.iter().map(|&operand| self.read(frame, operand)).collect()
    }

    fn word(&self, frame: &Frame<'_>, word: Word) -> U256 {
        match &frame.function.words[word.0 as usize] {
            WordDef::Constant(value) => *value,
            WordDef::CalldataSize => U256::from(self.calldata.len()),
            WordDef::Has(feature) => U256::from(!matches!(feature, Feature::Precompile(_))),
            WordDef::CalldataWord(offset) => {
                let bytes = calldata_slice(self.calldata, self.word(frame, *offset), 32);
                U256::try_from_be_slice(&bytes).expect("32 bytes fit a word")
            }
            WordDef::ScratchWord(offset) => {
                let offset = self.word(frame, *offset);
                self.scratch.word(offset).unwrap_or_else(|| {
                    self.beyond.set(Some(offset));
                    U256::ZERO
                })
            }
            WordDef::Op(op, a, b) => op.apply(self.word(frame, *a), self.word(frame, *b)),
            WordDef::ModOp(op, [a, b, modulus]) => {
                let first = self.word(frame, *a);
                let second = if a == b { first } else { self.word(frame, *b) };
                op.apply(first, second, self.word(frame, *modulus))
            }
            WordDef::LeadingZeros(inner) => U256::from(self.word(frame, *inner).leading_zeros()),
            WordDef::Defined => frame.words[&word],
        }
    }

    fn region(&mut self, frame: &mut Frame<'a>, region: &'a Region) -> Result<(), Ending> {
        region.statements.iter().try_for_each(|statement| {
            let ending = self.statement(frame, statement);
            match self.beyond.take() {
                Some(offset) => Err(Ending::None(NoOutcome::Scratch(offset))),
                None => ending,
            }
        })
    }

    fn statement(&mut self, frame: &mut Frame<'a>, statement: &'a Statement) -> Result<(), Ending> {
        match statement {
            Statement::Block(block) => {
                evaluate_block(self.unit.program, &self.unit.modulus, block, &mut frame.values);
            }
            Statement::Call { function, arguments, results } => {
                let arguments = self.read_all(frame, arguments);
                let given = self.call(self.unit.program.function(*function), &arguments)?;
                frame.values.extend(results.iter().copied().zip(given));
            }
            Statement::Control(control) => self.control(frame, control)?,
            Statement::Effect(effect) => self.effect(frame, effect)?,
        }
        Ok(())
    }

    /// Does `arm` with `state`, and gives the next one.
    fn arm(&mut self, frame: &mut Frame<'a>, arm: &'a Arm, state: Vec<BigUint>) -> Result<Vec<BigUint>, Ending> {
        self.step()?;
        frame.values.extend(arm.params.iter().copied().zip(state));
        self.region(frame, &arm.body)?;
        Ok(self.read_all(frame, &arm.gives))
    }

    fn control(&mut self, frame: &mut Frame<'a>, control: &'a Control) -> Result<(), Ending> {
        let arms = &control.arms;
        let mut state = self.read_all(frame, &control.initial);
        match &control.kind {
            ControlKind::Repeat { count, index } => {
                let count = self.word(frame, *count);
                let mut turn = U256::ZERO;
                while turn < count {
                    frame.words.insert(*index, turn);
                    state = self.arm(frame, &arms[0], state)?;
                    turn += U256::ONE;
                }
            }
            ControlKind::Countdown { count } => {
                let (count, all) = (self.word(frame, *count), arms.len());
                if count > U256::from(all) {
                    return Err(Ending::None(NoOutcome::Countdown { turns: all, count }));
                }
                for (place, arm) in arms.iter().enumerate() {
                    if U256::from(all - place) <= count {
                        state = self.arm(frame, arm, state)?;
                    }
                }
            }
            ControlKind::Sequence(order) => {
                let Order { steps, then, first } = order;
                let steps = match *first {
                    None => &steps[..],
                    Some(first) => {
                        let count = self.word(frame, first.count);
                        let none = NoOutcome::Steps { steps: steps.len(), each: first.each, count };
                        &steps[..first.of(steps.len(), |_| count).ok_or(Ending::None(none))?]
                    }
                };
                let groups = order.groups(arms.len());
                let coming = steps.iter().map(|step| self.coming(frame, step, &groups));
                let mut rows = Vec::new();
                for coming in coming.collect::<Result<Vec<Coming>, Ending>>()? {
                    let mut next = match coming {
                        Coming::Row(number) => {
                            rows.push(number);
                            continue;
                        }
                        Coming::Part(number) => Some(number),
                    };
                    rows.reverse();
                    let outer = mem::replace(&mut self.carried, mem::take(&mut rows));
                    while let Some(number) = next {
                        state = self.arm(frame, &arms[number], state)?;
                        next = then[number];
                    }
                    self.carried = outer;
                }
            }
            ControlKind::Branch { condition } => {
                let is_second = self.word(frame, *condition).is_zero();
                state = self.arm(frame, &arms[usize::from(is_second)], state)?;
            }
        }
        frame.values.extend(control.results.iter().copied().zip(state));
        Ok(())
    }

    /// The part that a step comes to: a chosen part is one of its group of parts.
    fn coming(&self, frame: &Frame<'_>, step: &SequenceStep<Word>, groups: &[Range<usize>]) -> Result<Coming, Ending> {
        if let SequenceStep::Chosen { word, first_bit, first_part } = *step {
            let number = SequenceStep::<Word>::CELLS.take(self.word(frame, word), first_bit);
            let group = groups.iter().find(|group| group.start == first_part);
            let parts = group.map_or(0, |group| group.len());
            if number >= U256::from(parts) {
                return Err(Ending::None(NoOutcome::Choice { parts, number }));
            }
        }
        Ok(step.coming(|word| self.word(frame, word)))
    }

    /// Enters a subprogram over its modulus, or over that of the words.
    fn enter(&mut self, frame: &Frame<'a>, subprogram: SubprogramId, modulus: &[Word]) -> Result<(), Ending> {
        let program = &self.unit.program.subprograms[subprogram.0];
        let modulus = match program.modulus {
            Modulus::Known(ref modulus) => modulus.clone(),
            Modulus::Given { .. } if !self.entered.insert(subprogram) => {
                return Err(Ending::None(NoOutcome::Twice(program.name.clone())));
            }
            Modulus::Given { limbs } => {
                let words: Vec<U256> = modulus.iter().map(|&word| self.word(frame, word)).collect();
                let modulus = words::number_of(&words);
                if !modulus.bit(0) || modulus < program.modulus.least() || modulus > program.modulus.most() {
                    let subprogram = program.name.clone();
                    return Err(Ending::None(NoOutcome::Modulus { subprogram, modulus, limbs }));
                }
                modulus
            }
        };
        let outer = mem::replace(&mut self.unit, Unit::new(program, modulus));
        self.call(program.entry(), &[])?;
        self.unit = outer;
        Ok(())
    }

    /// The number of the next row that the step carries.
    fn next_row(&mut self) -> U256 {
        self.carried.pop().expect("a step carries as many rows as its part takes: `verify` checks it")
    }

    /// Defines the values of an element of an array from value `first` on.
    fn load(
        &self,
        frame: &mut Frame<'a>,
        array: ArrayId,
        index: U256,
        first: usize,
        results: &[Value],
    ) -> Result<(), Ending> {
        self.within(array, index)?;
        let Some(element) = self.unit.arrays[array.0].get(&index) else {
            let array = self.unit.program.arrays[array.0].name.clone();
            return Err(Ending::None(NoOutcome::Unstored { array, index }));
        };
        frame.values.extend(results.iter().copied().zip(element.iter().skip(first).cloned()));
        Ok(())
    }

    /// An error if an array has neither an element of this index nor room for it.
    fn within(&self, array: ArrayId, index: U256) -> Result<(), Ending> {
        let declared = &self.unit.program.arrays[array.0];
        let (room, array) = (self.unit.room[array.0], declared.name.clone());
        match declared.capacity {
            Capacity::Fixed(capacity) if index >= U256::from(capacity) => {
                Err(Ending::None(NoOutcome::PastCapacity { array, index, capacity }))
            }
            Capacity::Unbounded if index >= room => Err(Ending::None(NoOutcome::NoRoom { array, index, room })),
            Capacity::Fixed(_) | Capacity::Unbounded => Ok(()),
        }
    }

    /// The value of a variable that was set to indices in this way, and may have been shifted since.
    fn variable(&self, variable: VariableId, indices: (ArrayId, Cells)) -> Result<U256, Ending> {
        if self.indices[variable.0] == Some(indices) {
            return Ok(self.variables[variable.0]);
        }
        Err(Ending::None(NoOutcome::Indices { variable: self.names[variable.0].clone() }))
    }

    /// The number that a hash of pieces is.
    fn hash(
        &self,
        frame: &Frame<'_>,
        pieces: &[Piece<Word>],
        hash: impl FnOnce(&[u8], Vec<Piece<U256>>) -> Option<U256>,
    ) -> Result<U256, Ending> {
        let pieces: Vec<_> = pieces.iter().map(|piece| piece.map(|word| self.word(frame, word))).collect();
        for piece in &pieces {
            if let Piece::Word { size_bytes, .. } = *piece
                && size_bytes > U256::from(32)
            {
                return Err(Ending::None(NoOutcome::HashedBytes(size_bytes)));
            }
        }
        hash(self.calldata, pieces).ok_or(Ending::Outcome(Outcome::Failed))
    }

    /// Defines the values of a row of a table.
    fn lookup(&self, frame: &mut Frame<'a>, table: TableId, index: U256, results: &[Value]) -> Result<(), Ending> {
        let table = &self.unit.program.tables[table.0];
        let Some(element) = usize::try_from(index).ok().and_then(|index| table.elements.get(index)) else {
            let count = table.elements.len();
            return Err(Ending::None(NoOutcome::NoElement { table: table.name.clone(), index, count }));
        };
        frame.values.extend(results.iter().copied().zip(element.iter().cloned()));
        Ok(())
    }

    #[inline(never)] // Calls are a thousand deep: what all effects need of the stack is not in each of their frames.
    fn effect(&mut self, frame: &mut Frame<'a>, effect: &'a Effect) -> Result<(), Ending> {
        // style: S2: a table: one arm for each effect.
        match effect {
            Effect::Reserve { array, count } => {
                let room = self.unit.room[array.0].max(self.word(frame, *count));
                self.unit.room[array.0] = room;
            }
            Effect::Load { array, index, results } => self.load(frame, *array, self.word(frame, *index), 0, results)?,
            Effect::TakeElement { array, results } => {
                let parts = self.unit.program.arrays[array.0].element_values / results.len();
                let (index, part) = self.next_row().div_rem(U256::from(parts));
                let first = usize::try_from(part).expect("it is below the number of parts") * results.len();
                self.load(frame, *array, index, first, results)?;
            }
            Effect::Store { array, index, values } => {
                let element = self.read_all(frame, values);
                let index = self.word(frame, *index);
                self.within(*array, index)?;
                self.unit.arrays[array.0].insert(index, element);
            }
            Effect::Fill { array, count, values } => {
                let element = self.read_all(frame, values);
                if let Some(last) = count.checked_sub(1) {
                    self.within(*array, U256::from(last))?;
                }
                self.unit.arrays[array.0].extend((0..*count).map(|index| (U256::from(index), element.clone())));
            }
            Effect::SetIndices { variable, indices, array, cells } => {
                let (indices, Cells { bits, index_bits }) = (self.word(frame, *indices), *cells);
                if !(indices & !cells.each(cells.index_max())).is_zero() {
                    return Err(Ending::None(NoOutcome::Cells { indices, bits, index_bits }));
                }
                self.variables[variable.0] = indices;
                self.indices[variable.0] = Some((*array, *cells));
            }
            Effect::Index { result, variable, first_bit, cells, array } => {
                let indices = self.variable(*variable, (*array, *cells))?;
                frame.words.insert(*result, cells.take(indices, *first_bit));
            }
            Effect::Lookup { table, index, results } => {
                self.lookup(frame, *table, self.word(frame, *index), results)?
            }
            Effect::TakeRow { table, results } => {
                let index = self.next_row();
                self.lookup(frame, *table, index, results)?;
            }
            Effect::FillFrom { array, table } => {
                let elements = &self.unit.program.tables[table.0].elements;
                self.unit.arrays[array.0].extend((0..).map(U256::from).zip(elements.iter().cloned()));
            }
            Effect::Enter { subprogram, modulus } => self.enter(frame, *subprogram, modulus)?,
            Effect::ElementOf { result, words } => {
                let words: Vec<U256> = words.iter().map(|&word| self.word(frame, word)).collect();
                let (number, modulus) = (words::number_of(&words), &self.unit.modulus);
                if number >= *modulus {
                    return Err(Ending::None(NoOutcome::NotBelow { number, modulus: modulus.clone() }));
                }
                frame.values.insert(*result, number);
            }
            Effect::WordOf { result, value, first_bit } => {
                let word = words::word_at(&self.read(frame, *value), *first_bit);
                frame.words.insert(*result, word);
            }
            Effect::High { result, value, first_bit } => {
                let high = self.read(frame, *value) >> *first_bit;
                frame.values.insert(*result, high);
            }
            Effect::Parse { result, offset, size_bytes } => {
                let offset = self.word(frame, *offset);
                let number = BigUint::from_bytes_be(&calldata_slice(self.calldata, offset, *size_bytes as usize));
                if number >= self.unit.modulus {
                    return Err(Ending::Outcome(Outcome::Failed));
                }
                frame.values.insert(*result, number);
            }
            Effect::ParseMontLe { result, offset } => {
                let (offset, modulus) = (self.word(frame, *offset), &self.unit.modulus);
                let bytes = calldata_slice(self.calldata, offset, mont::size_bytes(modulus));
                let Some(value) = mont::from_le_bytes(&bytes, modulus) else {
                    let (number, modulus) = (BigUint::from_bytes_le(&bytes), modulus.clone());
                    return Err(Ending::None(NoOutcome::NotBelow { number, modulus }));
                };
                frame.values.insert(*result, value);
            }
            Effect::Reduce { result, word } => {
                let bytes = self.word(frame, *word).to_be_bytes::<32>();
                frame.values.insert(*result, BigUint::from_bytes_be(&bytes) % &self.unit.modulus);
            }
            Effect::Invert { result, value } => {
                let inverse = self.read(frame, *value).modinv(&self.unit.modulus).unwrap_or_default();
                frame.values.insert(*result, inverse);
            }
            Effect::IsZero { result, value } => {
                let truth = U256::from(self.read(frame, *value).is_zero());
                frame.words.insert(*result, truth);
            }
            Effect::IsOdd { result, value } => {
                let truth = U256::from(self.read(frame, *value).bit(0));
                frame.words.insert(*result, truth);
            }
            Effect::Equal { result, a, b } => {
                let truth = U256::from(self.read(frame, *a) == self.read(frame, *b));
                frame.words.insert(*result, truth);
            }
            Effect::Less { result, a, b } => {
                let truth = U256::from(self.read(frame, *a) < self.read(frame, *b));
                frame.words.insert(*result, truth);
            }
            Effect::Bind { result, word } => {
                let word = self.word(frame, *word);
                frame.words.insert(*result, word);
            }
            Effect::Get { result, variable } => {
                frame.words.insert(*result, self.variables[variable.0]);
            }
            Effect::GetAcross { result, variable, first_byte } => {
                let [first, second] = [variable.0, variable.0 + 1].map(|variable| self.variables[variable]);
                frame.words.insert(*result, words::across(first, second, *first_byte));
            }
            Effect::Set { variable, word } => self.variables[variable.0] = self.word(frame, *word),
            Effect::Sha256 { result, pieces } => {
                let hash = self.hash(frame, pieces, hash::sha256)?;
                frame.words.insert(*result, hash);
            }
            Effect::Keccak256 { result, pieces } => {
                let hash = self.hash(frame, pieces, hash::keccak256)?;
                frame.words.insert(*result, hash);
            }
            Effect::Scratch { size_bytes } => self.scratch.grow(*size_bytes),
            Effect::SetScratch { offset, word } => {
                let (offset, word) = (self.word(frame, *offset), self.word(frame, *word));
                self.scratch.write(offset, &word.to_be_bytes::<32>()).ok_or(beyond(offset))?;
            }
            Effect::SetScratchByte { offset, word } => {
                let (offset, word) = (self.word(frame, *offset), self.word(frame, *word));
                self.scratch.write(offset, &[word.byte(0)]).ok_or(beyond(offset))?;
            }
            Effect::Keccak256Scratch { offset, size_bytes, result } => {
                let [offset, size] = [offset, size_bytes].map(|&word| self.word(frame, word));
                let hash = hash::keccak256_of(self.scratch.bytes(offset, size).ok_or(beyond(offset))?);
                frame.words.insert(*result, hash);
            }
            Effect::Sha256Scratch { offset, size_bytes, to } => {
                let [offset, size, to] = [offset, size_bytes, to].map(|&word| self.word(frame, word));
                let hash = hash::sha256_of(self.scratch.bytes(offset, size).ok_or(beyond(offset))?);
                self.scratch.write(to, &hash.to_be_bytes::<32>()).ok_or(beyond(to))?;
            }
            Effect::KeccakF { offset } => keccak_f::permute(&mut self.scratch, *offset).map_err(beyond)?,
            Effect::CopyCalldata { offset, from, size_bytes } => {
                let [offset, from, size] = [offset, from, size_bytes].map(|&word| self.word(frame, word));
                self.scratch.copy(offset, self.calldata, from, size).ok_or(beyond(offset))?;
            }
            Effect::CopyScratch { offset, from, size_bytes } => {
                self.scratch.move_within(*offset, *from, *size_bytes).map_err(beyond)?;
            }
            Effect::TakeScratch { offset, size_bytes, results } => {
                let size = U256::from(*size_bytes);
                for (at, result) in (0u64..).map(|number| U256::from(*offset) + U256::from(number) * size).zip(results)
                {
                    let number = BigUint::from_bytes_be(self.scratch.bytes(at, size).ok_or(beyond(at))?);
                    if number >= self.unit.modulus {
                        return Err(Ending::Outcome(Outcome::Failed));
                    }
                    frame.values.insert(*result, number);
                }
            }
            Effect::PutScratch { offset, size_bytes, values } => {
                let values = self.read_all(frame, values);
                let bytes: Vec<u8> = values.iter().flat_map(|value| to_be_bytes(value, *size_bytes)).collect();
                let offset = U256::from(*offset);
                self.scratch.write(offset, &bytes).ok_or(beyond(offset))?;
            }
            Effect::Lanes { lanes } => {
                if !lanes.run(self.calldata, &mut self.scratch).map_err(beyond)? {
                    return Err(Ending::Outcome(Outcome::Failed));
                }
            }
            Effect::LineUp { .. } => {}
            Effect::Precompile { address, .. } | Effect::ReturnPrecompile { address } => {
                return Err(Ending::None(NoOutcome::Precompile(*address)));
            }
            Effect::ReturnAccount { address } => return Err(Ending::None(NoOutcome::Account(*address))),
            Effect::ReturnScratch { offset, size_bytes } => {
                let [offset, size] = [offset, size_bytes].map(|&word| self.word(frame, word));
                let bytes = self.scratch.bytes(offset, size).ok_or(beyond(offset))?;
                return Err(Ending::Outcome(Outcome::Returned(bytes.to_vec())));
            }
            Effect::Require { condition } => {
                if self.word(frame, *condition).is_zero() {
                    return Err(Ending::Outcome(Outcome::Failed));
                }
            }
            Effect::ReturnWord { word } => {
                return Err(Ending::Outcome(Outcome::Returned(self.word(frame, *word).to_be_bytes::<32>().to_vec())));
            }
            Effect::ReturnWords { words, size_bytes } => {
                let words: Vec<U256> = words.iter().map(|&word| self.word(frame, word)).collect();
                let bytes = words::last_bytes(&words, self.word(frame, *size_bytes));
                return Err(Ending::Outcome(bytes.map_or(Outcome::Failed, Outcome::Returned)));
            }
            Effect::ReturnElements { values, size_bytes } => {
                let values = self.read_all(frame, values);
                let bytes = values.iter().flat_map(|value| to_be_bytes(value, *size_bytes)).collect();
                return Err(Ending::Outcome(Outcome::Returned(bytes)));
            }
            Effect::ReturnLast { values, element_bytes, size_bytes, limit_bytes } => {
                let values = self.read_all(frame, values);
                let size = self.word(frame, *size_bytes);
                let bytes = words::last_bytes_of(&values, *element_bytes, size, *limit_bytes);
                return Err(Ending::Outcome(bytes.map_or(Outcome::Failed, Outcome::Returned)));
            }
            Effect::ReturnMontLe { values } => {
                let values = self.read_all(frame, values);
                let modulus = &self.unit.modulus;
                let bytes = values.iter().flat_map(|value| mont::to_le_bytes(value, modulus)).collect();
                return Err(Ending::Outcome(Outcome::Returned(bytes)));
            }
        }
        Ok(())
    }
}
