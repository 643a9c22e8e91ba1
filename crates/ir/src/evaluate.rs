//! The evaluator: runs a program slowly and literally on big integers. The judge of compiled code.

use crate::Outcome;
use crate::hash;
use crate::mont;
use crate::numbers::{calldata_slice, to_be_bytes};
use crate::program::{Block, Function, Op, OpKind, Operand, Program, Region, Statement, Value, Word, WordDef};
use num_bigint::BigUint;
use num_traits::Zero;
use ruint::aliases::U256;
use std::collections::HashMap;

/// Runs a verified program. Panics on a program that [`crate::verify()`] rejects, that loads an element it never stored, or
/// that enters a countdown above its turns.
pub fn evaluate(program: &Program, calldata: &[u8]) -> Outcome {
    let mut run = Run {
        program,
        calldata,
        arrays: vec![HashMap::new(); program.arrays.len()],
        variables: vec![U256::ZERO; program.variables.len()],
    };
    match run.call(program.entry(), &[]) {
        Ok(_) => Outcome::Ended,
        Err(ending) => ending,
    }
}

/// (x, y) ↦ x op y mod m, for x, y < m.
pub fn apply(kind: OpKind, x: &BigUint, y: &BigUint, m: &BigUint) -> BigUint {
    match kind {
        OpKind::Add => (x + y) % m,
        OpKind::Sub => (x + m - y) % m,
        OpKind::Mul => x * y % m,
    }
}

/// The values that a block defines, from those of its inputs.
pub fn evaluate_block(program: &Program, block: &Block, values: &mut HashMap<Value, BigUint>) {
    for &(value, Op { kind, x, y }) in &block.ops {
        let read = |operand| match operand {
            Operand::Value(value) => &values[&value],
            Operand::Constant(id) => program.constant(id),
        };
        let result = apply(kind, read(x), read(y), &program.modulus);
        values.insert(value, result);
    }
}

struct Run<'a> {
    program: &'a Program,
    calldata: &'a [u8],
    arrays: Vec<HashMap<U256, Vec<BigUint>>>,
    variables: Vec<U256>,
}

/// What one call of a function knows.
struct Frame<'a> {
    function: &'a Function,
    values: HashMap<Value, BigUint>,
    words: HashMap<Word, U256>,
}

impl<'a> Run<'a> {
    fn call(&mut self, function: &'a Function, arguments: &[BigUint]) -> Result<Vec<BigUint>, Outcome> {
        let values = function.params.iter().copied().zip(arguments.iter().cloned()).collect();
        let mut frame = Frame { function, values, words: HashMap::new() };
        self.region(&mut frame, &function.body)?;
        Ok(self.read_all(&frame, &function.results))
    }

    fn read(&self, frame: &Frame<'_>, operand: Operand) -> BigUint {
        match operand {
            Operand::Value(value) => frame.values[&value].clone(),
            Operand::Constant(id) => self.program.constant(id).clone(),
        }
    }

    fn read_all(&self, frame: &Frame<'_>, operands: &[Operand]) -> Vec<BigUint> {
        operands.iter().map(|&operand| self.read(frame, operand)).collect()
    }

    fn word(&self, frame: &Frame<'_>, word: Word) -> U256 {
        match &frame.function.words[word.0 as usize] {
            WordDef::Constant(value) => *value,
            WordDef::CalldataSize => U256::from(self.calldata.len()),
            WordDef::CalldataWord(offset) => {
                let bytes = calldata_slice(self.calldata, self.word(frame, *offset), 32);
                U256::try_from_be_slice(&bytes).expect("32 bytes fit a word")
            }
            WordDef::Op(op, a, b) => op.apply(self.word(frame, *a), self.word(frame, *b)),
            WordDef::Defined => frame.words[&word],
        }
    }

    fn region(&mut self, frame: &mut Frame<'a>, region: &'a Region) -> Result<(), Outcome> {
        region.statements.iter().try_for_each(|statement| self.statement(frame, statement))
    }

    fn statement(&mut self, frame: &mut Frame<'a>, statement: &'a Statement) -> Result<(), Outcome> {
        match statement {
            Statement::Block(block) => evaluate_block(self.program, block, &mut frame.values),
            Statement::Call { function, arguments, results } => {
                let arguments = self.read_all(frame, arguments);
                let given = self.call(self.program.function(*function), &arguments)?;
                frame.values.extend(results.iter().copied().zip(given));
            }
            Statement::Repeat(repeat) => {
                let count = self.word(frame, repeat.count);
                let mut state = self.read_all(frame, &repeat.initial);
                let mut turn = U256::ZERO;
                while turn < count {
                    frame.values.extend(repeat.params.iter().copied().zip(state));
                    frame.words.insert(repeat.index, turn);
                    self.region(frame, &repeat.body)?;
                    state = self.read_all(frame, &repeat.next);
                    turn += U256::ONE;
                }
                frame.values.extend(repeat.results.iter().copied().zip(state));
            }
            Statement::Countdown(countdown) => {
                let count = self.word(frame, countdown.count);
                let (turns, all) = (&countdown.turns, countdown.turns.len());
                assert!(count <= U256::from(all), "a countdown of {all} turns is entered at turn {count}");
                let mut state = self.read_all(frame, &countdown.initial);
                for turn in
                    turns.iter().enumerate().filter(|(place, _)| U256::from(all - place) <= count).map(|(_, t)| t)
                {
                    frame.values.extend(turn.params.iter().copied().zip(state));
                    self.region(frame, &turn.body)?;
                    state = self.read_all(frame, &turn.next);
                }
                frame.values.extend(countdown.results.iter().copied().zip(state));
            }
            Statement::Sequence(sequence) => {
                let mut state = self.read_all(frame, &sequence.initial);
                let order = sequence.order.iter().map(|step| step.number(|word| self.word(frame, word)));
                for first in order.collect::<Vec<usize>>() {
                    let mut next = Some(first);
                    while let Some(number) = next {
                        let part = &sequence.parts[number];
                        frame.values.extend(part.params.iter().copied().zip(state));
                        self.region(frame, &part.body)?;
                        state = self.read_all(frame, &part.next);
                        next = sequence.then[number];
                    }
                }
                frame.values.extend(sequence.results.iter().copied().zip(state));
            }
            Statement::Branch(branch) => {
                let (region, values) = if self.word(frame, branch.condition).is_zero() {
                    (&branch.otherwise, &branch.otherwise_values)
                } else {
                    (&branch.then, &branch.then_values)
                };
                self.region(frame, region)?;
                let given = self.read_all(frame, values);
                frame.values.extend(branch.results.iter().copied().zip(given));
            }
            Statement::Reserve { .. } => {}
            Statement::Load { array, index, results } => {
                let index = self.word(frame, *index);
                let element = self.arrays[*array].get(&index).expect("an element is stored before it is loaded");
                frame.values.extend(results.iter().copied().zip(element.iter().cloned()));
            }
            Statement::Store { array, index, values } => {
                let element = self.read_all(frame, values);
                let index = self.word(frame, *index);
                self.arrays[*array].insert(index, element);
            }
            Statement::Fill { array, count, values } => {
                let element = self.read_all(frame, values);
                self.arrays[*array].extend((0..*count).map(|index| (U256::from(index), element.clone())));
            }
            Statement::SetIndices { variable, indices, .. } => self.variables[*variable] = self.word(frame, *indices),
            Statement::Index { result, variable, first_bit, cells, .. } => {
                frame.words.insert(*result, cells.take(self.variables[*variable], *first_bit));
            }
            Statement::Parse { result, offset, size_bytes } => {
                let offset = self.word(frame, *offset);
                let number = BigUint::from_bytes_be(&calldata_slice(self.calldata, offset, *size_bytes as usize));
                if number >= self.program.modulus {
                    return Err(Outcome::Failed);
                }
                frame.values.insert(*result, number);
            }
            Statement::ParseMontLe { result, offset } => {
                let (offset, modulus) = (self.word(frame, *offset), &self.program.modulus);
                let bytes = calldata_slice(self.calldata, offset, mont::size_bytes(modulus));
                let Some(value) = mont::from_le_bytes(&bytes, modulus) else { return Err(Outcome::Failed) };
                frame.values.insert(*result, value);
            }
            Statement::Reduce { result, word } => {
                let bytes = self.word(frame, *word).to_be_bytes::<32>();
                frame.values.insert(*result, BigUint::from_bytes_be(&bytes) % &self.program.modulus);
            }
            Statement::IsZero { result, value } => {
                let truth = U256::from(self.read(frame, *value).is_zero());
                frame.words.insert(*result, truth);
            }
            Statement::IsOdd { result, value } => {
                let truth = U256::from(self.read(frame, *value).bit(0));
                frame.words.insert(*result, truth);
            }
            Statement::Equal { result, a, b } => {
                let truth = U256::from(self.read(frame, *a) == self.read(frame, *b));
                frame.words.insert(*result, truth);
            }
            Statement::Bind { result, word } => {
                let word = self.word(frame, *word);
                frame.words.insert(*result, word);
            }
            Statement::Get { result, variable } => {
                frame.words.insert(*result, self.variables[*variable]);
            }
            Statement::Set { variable, word } => self.variables[*variable] = self.word(frame, *word),
            Statement::Sha256 { result, pieces } => {
                let pieces = pieces.iter().map(|piece| piece.map(|word| self.word(frame, word)));
                let hash = hash::sha256(self.calldata, pieces).ok_or(Outcome::Failed)?;
                frame.words.insert(*result, hash);
            }
            Statement::Require { condition } => {
                if self.word(frame, *condition).is_zero() {
                    return Err(Outcome::Failed);
                }
            }
            Statement::ReturnWord { word } => {
                return Err(Outcome::Returned(self.word(frame, *word).to_be_bytes::<32>().to_vec()));
            }
            Statement::ReturnElements { values, size_bytes } => {
                let values = self.read_all(frame, values);
                let bytes = values.iter().flat_map(|value| to_be_bytes(value, *size_bytes)).collect();
                return Err(Outcome::Returned(bytes));
            }
            Statement::ReturnMontLe { values } => {
                let values = self.read_all(frame, values);
                let modulus = &self.program.modulus;
                let bytes = values.iter().flat_map(|value| mont::to_le_bytes(value, modulus)).collect();
                return Err(Outcome::Returned(bytes));
            }
        }
        Ok(())
    }
}
