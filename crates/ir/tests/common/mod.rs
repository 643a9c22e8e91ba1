//! Programs at random as plans: lists of steps that any [`Machine`] can follow. On `Numbers` a plan computes, on the
//! recorder it becomes a program.
#![allow(dead_code, reason = "every test file is a crate of its own and uses a part")]

mod seeded;

pub use seeded::Seeded;

use num_bigint::BigUint;
use residue_formula::Fe;
use residue_ir::{Array, Capacity, FirstSteps, Machine, ModOp, Piece, SequenceStep as Parts, Table, Variable, WordOp};
use ruint::aliases::U256;

/// Bytes of scratch memory.
const SCRATCH_BYTES: u64 = 96;

impl Seeded {
    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn calldata(&mut self) -> Vec<u8> {
        let length = self.below(160);
        let dense = self.once_in(3);
        (0..length).map(|_| if dense || self.once_in(8) { self.word().to_le_bytes()[0] } else { 0 }).collect()
    }
}

/// One step. Numbers choose among the values or words there are, counted round.
#[derive(Debug, Clone)]
pub enum DrawnStatement {
    Add(usize, usize),
    Sub(usize, usize),
    Mul(usize, usize),
    Negate(usize),
    Constant(u64),
    Parse {
        word: usize,
        size_bytes: u32,
    },
    ParseMontLe(usize),
    Reduce(usize),
    /// By both hashes: words, and calldata between them, of run-time sizes.
    Hash([usize; 3]),
    Call {
        function: usize,
        values: [usize; 2],
    },
    /// At most three turns; run-time ones by a word.
    Repeat {
        turns: Result<u64, usize>,
        values: [usize; 2],
        body: Vec<DrawnStatement>,
    },
    /// Each turn gives other values.
    Countdown {
        limit: usize,
        word: usize,
        values: [usize; 2],
        body: Vec<DrawnStatement>,
    },
    /// The first part is a countdown. A word may choose the parts, and then others follow two of them.
    Sequence {
        order: Vec<usize>,
        is_chosen: bool,
        word: usize,
        values: [usize; 2],
        body: Vec<DrawnStatement>,
    },
    Digits {
        digits: Vec<i8>,
        value: usize,
    },
    Branch {
        word: usize,
        then: Vec<DrawnStatement>,
        otherwise: Vec<DrawnStatement>,
        values: [usize; 2],
    },
    Load {
        array: usize,
        word: usize,
    },
    Store {
        array: usize,
        word: usize,
        values: [usize; 2],
    },
    Get(usize),
    /// From this byte of the first variable on.
    GetAcross(u32),
    Set {
        variable: usize,
        word: usize,
    },
    IsZero(usize),
    IsOdd(usize),
    Equal(usize, usize),
    Bind(usize),
    SmallWord(u64),
    CalldataWord(usize),
    WordOp(WordOp, usize, usize),
    ModOp(ModOp, [usize; 3]),
    LeadingZeros(usize),
    ScratchWord(usize),
    SetScratch(usize, usize),
    /// Never fails, unless the word itself is asked for.
    Require {
        word: usize,
        itself: bool,
    },
    ReturnWord(usize),
    ReturnElements {
        values: [usize; 2],
        size_bytes: u32,
    },
    ReturnMontLe([usize; 2]),
}

/// A program.
#[derive(Debug, Clone)]
pub struct Plan {
    functions: Vec<Vec<DrawnStatement>>,
    start: Vec<DrawnStatement>,
}

const FUNCTIONS: [&str; 3] = ["first", "second", "third"];
const ELEMENTS: u64 = 3;

impl Plan {
    pub fn new(seed: u64) -> Self {
        let seeded = &mut Seeded(seed);
        let functions = (0..seeded.below(4)).map(|number| steps(seeded, 5, 1, number)).collect::<Vec<_>>();
        let mut start = steps(seeded, 14, 3, functions.len());
        if !seeded.once_in(4) {
            start.push(DrawnStatement::ReturnElements { values: [seeded.below(99), seeded.below(99)], size_bytes: 48 });
        }
        Self { functions, start }
    }

    /// Follows the plan.
    pub fn run<M: Machine>(&self, machine: &M) {
        let fixed: Array<[M::Fe; 2]> = machine.array("fixed", Capacity::Fixed(3));
        let unbounded: Array<[M::Fe; 2]> = machine.array("unbounded \"quoted\" \\ λ\n", Capacity::Unbounded);
        machine.scratch(u32::try_from(SCRATCH_BYTES).unwrap());
        let size = machine.calldata_size();
        let room = machine.word_op(WordOp::Add, machine.small(ELEMENTS), machine.bit(size, machine.small(0)));
        machine.reserve(unbounded, room);
        let seven = machine.constant(&BigUint::from(7u8));
        for (array, count) in [(fixed, machine.small(ELEMENTS)), (unbounded, room)] {
            let last = machine.repeat(count, seven, |machine, index, value| {
                machine.store(array, index, [value, machine.one()]);
                value + value
            });
            let _ = last;
        }
        let rows: Vec<_> = (1u8..=3).map(|row| vec![BigUint::from(row), BigUint::from(7 * row)]).collect();
        let table: Table<[M::Fe; 2]> = machine.table("rows", &rows);
        let before: Array<[M::Fe; 2]> = machine.array("rows", Capacity::Fixed(4));
        machine.fill_from(before, table);
        let _ = machine.load(before, machine.small(1));
        let variables = [machine.variable("x", size), machine.variable("y", machine.small(5))];
        let mut state = State {
            values: vec![machine.zero(), seven],
            words: vec![size, machine.small(1), machine.small(0)],
            arrays: [fixed, unbounded],
            table,
            variables,
        };
        self.follow(machine, &mut state, &self.start);
    }

    fn follow<M: Machine>(&self, machine: &M, state: &mut State<M>, steps: &[DrawnStatement]) {
        for step in steps {
            self.step(machine, state, step);
        }
    }

    /// `steps` on a copy of `state`, and two of the values there are then.
    fn inner<M: Machine>(
        &self,
        machine: &M,
        state: &State<M>,
        steps: &[DrawnStatement],
        given: [usize; 2],
    ) -> [M::Fe; 2] {
        let mut inner = state.clone();
        self.follow(machine, &mut inner, steps);
        given.map(|value| inner.value(value))
    }

    fn step<M: Machine>(&self, machine: &M, state: &mut State<M>, step: &DrawnStatement) {
        match step {
            DrawnStatement::Add(a, b) => state.values.push(state.value(*a) + state.value(*b)),
            DrawnStatement::Sub(a, b) => state.values.push(state.value(*a) - state.value(*b)),
            DrawnStatement::Mul(a, b) => state.values.push(state.value(*a) * state.value(*b)),
            DrawnStatement::Negate(a) => state.values.push(-state.value(*a)),
            DrawnStatement::Constant(value) => state.values.push(machine.constant(&BigUint::from(*value))),
            DrawnStatement::Parse { word, size_bytes } => {
                let offset = machine.word_op(WordOp::Mod, state.word(*word), machine.small(170));
                state.values.push(machine.parse(offset, *size_bytes));
            }
            DrawnStatement::ParseMontLe(word) => {
                let offset = machine.word_op(WordOp::Mod, state.word(*word), machine.small(170));
                state.values.push(machine.parse_mont_le(offset));
            }
            DrawnStatement::Reduce(word) => state.values.push(machine.reduce(state.word(*word))),
            DrawnStatement::Hash(words) => {
                let [a, b, c] = words.map(|word| state.word(word));
                let below = |bound, word| machine.word_op(WordOp::Mod, word, machine.small(bound));
                let pieces = [
                    Piece::Word { word: a, size_bytes: below(33, b) },
                    Piece::Calldata { offset: c, size_bytes: below(90, a) },
                    Piece::Word { word: b, size_bytes: machine.small(32) },
                ];
                state.words.push(machine.sha256(&pieces));
                state.words.push(machine.keccak256(&pieces[..2]));
            }
            DrawnStatement::Call { function, values } => {
                let input = values.map(|value| state.value(value));
                let output = machine.function(FUNCTIONS[*function], input, |machine, input| {
                    let words = vec![machine.calldata_size(), machine.small(2)];
                    let mut own = State { values: input.to_vec(), words, ..*state };
                    self.follow(machine, &mut own, &self.functions[*function]);
                    [own.value(1), own.values[own.values.len() - 1]]
                });
                state.values.extend(output);
            }
            DrawnStatement::Repeat { turns, values, body } => {
                let count = match turns {
                    Ok(count) => machine.small(*count),
                    Err(word) => machine.word_op(WordOp::Mod, state.word(*word), machine.small(4)),
                };
                let before = values.map(|value| state.value(value));
                let after = machine.repeat(count, before, |machine, turn, now| {
                    let mut inner = state.clone();
                    inner.values.extend(now);
                    inner.words.push(turn);
                    self.inner(machine, &inner, body, *values)
                });
                state.values.extend(after);
            }
            DrawnStatement::Countdown { limit, word, values, body } => {
                let room = machine.small(*limit as u64 + 1);
                let count = machine.word_op(WordOp::Mod, state.word(*word), room);
                let before = values.map(|value| state.value(value));
                let after = machine.countdown(count, *limit, before, |machine, turn, now| {
                    let mut inner = state.clone();
                    inner.values.extend(now);
                    inner.values.push(machine.constant(&BigUint::from(turn)));
                    self.inner(machine, &inner, body, values.map(|value| value + turn))
                });
                state.values.extend(after);
            }
            DrawnStatement::Sequence { order, is_chosen, word, values, body } => {
                let count = machine.word_op(WordOp::Mod, state.word(*word), machine.small(3));
                let before = values.map(|value| state.value(value));
                let (mut steps, mut then) =
                    (order.iter().map(|&part| Parts::Part(part)).collect::<Vec<_>>(), vec![None; 2]);
                if *is_chosen {
                    // Cells 16 bits apart, or 24 with parts in two groups.
                    let (distance, most, firsts) = if *word % 2 == 0 { (16, 15u64, [0, 0]) } else { (24, 7, [0, 8]) };
                    let bit = |part: &usize| distance * (3 + u32::try_from(*part).unwrap());
                    let cells =
                        order.iter().fold(U256::ZERO, |cells, part| cells | U256::from(most) << bit(part) as usize);
                    let word = machine.word_op(WordOp::And, state.word(*word), machine.word(cells));
                    steps = order
                        .iter()
                        .zip(firsts.into_iter().cycle())
                        .map(|(part, first_part)| Parts::Chosen { word, first_bit: bit(part), first_part })
                        .collect();
                    then = vec![None; Parts::<M::Word>::CHOICES_MIN];
                    (then[1], then[9]) = (Some(2), Some(15));
                }
                // The other part takes a row of each kind where it is no countdown that comes next.
                let takes = !*is_chosen && *word % 2 == 0;
                if takes {
                    let cells = machine.word(Parts::<M::Word>::CELLS.each(1));
                    let word = machine.word_op(WordOp::And, state.word(*word), cells);
                    // Of element 2 one half or the other.
                    let halves = machine.word_op(WordOp::Or, word, machine.word(Parts::<M::Word>::CELLS.each(4)));
                    let rows = [
                        Parts::Carry { word, first_bit: 32 },
                        Parts::CarryNumber(2),
                        Parts::Carry { word: halves, first_bit: 48 },
                        Parts::CarryNumber(5),
                    ];
                    let with_rows = |step| match step {
                        Parts::Part(1) => rows.into_iter().chain([step]).collect(),
                        _ => vec![step],
                    };
                    steps = steps.into_iter().flat_map(with_rows).collect();
                }
                // Only the first steps, some as pairs, where no step has rows.
                let first = (!takes && values[1] % 2 == 0).then(|| {
                    let each = 2 - steps.len() % 2;
                    let most = machine.small((steps.len() / each) as u64 + 1);
                    FirstSteps { count: machine.word_op(WordOp::Mod, state.word(*word + 1), most), each }
                });
                let (table, array) = (state.table, state.arrays[0]);
                let after = machine.sequence_of_first(first, &steps, &then, before, |machine, part, now| {
                    // Words from outside are out of reach.
                    let own = |now: [M::Fe; 2]| {
                        let values = [&state.values[..], &now].concat();
                        State { values, words: vec![machine.small(part as u64), machine.calldata_size()], ..*state }
                    };
                    if part == 0 {
                        machine
                            .countdown(count, 2, now, |machine, _, now| self.inner(machine, &own(now), body, *values))
                    } else if takes {
                        let row = machine.take_row(table);
                        let [first, second]: [M::Fe; 2] = machine.take_element(array);
                        let halves: [M::Fe; 2] = [machine.take_part(array), machine.take_part(array)];
                        let now = [now[0] * row[0] + first * halves[0], now[1] - second + row[1] - halves[1]];
                        self.inner(machine, &own(now), body, values.map(|value| value + 1))
                    } else {
                        self.inner(machine, &own(now), body, values.map(|value| value + 1))
                    }
                });
                state.values.extend(after);
            }
            DrawnStatement::Digits { digits, value } => {
                let base = state.value(*value);
                let by_digits = machine.repeat_digits(
                    digits,
                    machine.one(),
                    |_, power| power.square(),
                    |_, digit, power| if digit > 0 { power * base } else { power - base },
                );
                state.values.push(by_digits);
            }
            DrawnStatement::Branch { word, then, otherwise, values } => {
                let given = machine.branch(
                    state.word(*word),
                    |machine| self.inner(machine, state, then, *values),
                    |machine| self.inner(machine, state, otherwise, [values[1], values[0]]),
                );
                state.values.extend(given);
            }
            DrawnStatement::Load { array, word } => {
                let index = machine.word_op(WordOp::Mod, state.word(*word), machine.small(ELEMENTS));
                state.values.extend(machine.load(state.arrays[*array], index));
            }
            DrawnStatement::Store { array, word, values } => {
                let index = machine.word_op(WordOp::Mod, state.word(*word), machine.small(ELEMENTS));
                machine.store(state.arrays[*array], index, values.map(|value| state.value(value)));
            }
            DrawnStatement::GetAcross(first_byte) => {
                state.words.push(machine.get_across(state.variables[0], *first_byte));
            }
            DrawnStatement::Get(variable) => state.words.push(machine.get(state.variables[*variable])),
            DrawnStatement::Set { variable, word } => machine.set(state.variables[*variable], state.word(*word)),
            DrawnStatement::IsZero(value) => state.words.push(machine.is_zero(state.value(*value))),
            DrawnStatement::IsOdd(value) => state.words.push(machine.is_odd(state.value(*value))),
            DrawnStatement::Equal(a, b) => state.words.push(machine.equal(state.value(*a), state.value(*b))),
            DrawnStatement::Bind(word) => state.words.push(machine.bind(state.word(*word))),
            DrawnStatement::SmallWord(value) => state.words.push(machine.word(U256::from(*value))),
            DrawnStatement::CalldataWord(word) => state.words.push(machine.calldata_word(state.word(*word))),
            DrawnStatement::WordOp(op, a, b) => {
                // Bound, so that expressions do not grow without end.
                let word = machine.word_op(*op, state.word(*a), state.word(*b));
                state.words.push(machine.bind(word));
            }
            DrawnStatement::ModOp(op, operands) => {
                let [a, b, modulus] = operands.map(|word| state.word(word));
                let word = machine.mod_op(*op, a, b, modulus);
                state.words.push(machine.bind(word));
            }
            DrawnStatement::LeadingZeros(word) => {
                let word = machine.leading_zeros(state.word(*word));
                state.words.push(machine.bind(word));
            }
            DrawnStatement::ScratchWord(word) => {
                let offset = machine.word_op(WordOp::Mod, state.word(*word), machine.small(SCRATCH_BYTES - 31));
                state.words.push(machine.bind(machine.scratch_word(offset)));
            }
            DrawnStatement::SetScratch(word, written) => {
                let offset = machine.word_op(WordOp::Mod, state.word(*word), machine.small(SCRATCH_BYTES - 31));
                machine.set_scratch(offset, state.word(*written));
            }
            DrawnStatement::Require { word, itself } => {
                let word = state.word(*word);
                machine.require(if *itself { word } else { machine.word_op(WordOp::Or, word, machine.small(1)) });
            }
            DrawnStatement::ReturnWord(word) => machine.return_word(state.word(*word)),
            DrawnStatement::ReturnElements { values, size_bytes } => {
                machine.return_elements(values.map(|value| state.value(value)), *size_bytes);
            }
            DrawnStatement::ReturnMontLe(values) => machine.return_mont_le(values.map(|value| state.value(value))),
        }
    }
}

/// Names that a plan can use.
struct State<M: Machine> {
    values: Vec<M::Fe>,
    words: Vec<M::Word>,
    arrays: [Array<[M::Fe; 2]>; 2],
    table: Table<[M::Fe; 2]>,
    variables: [Variable; 2],
}

impl<M: Machine> Clone for State<M> {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), words: self.words.clone(), ..*self }
    }
}

impl<M: Machine> State<M> {
    fn value(&self, number: usize) -> M::Fe {
        self.values[number % self.values.len()]
    }

    fn word(&self, number: usize) -> M::Word {
        self.words[number % self.words.len()]
    }
}

fn steps(seeded: &mut Seeded, count: usize, depth: usize, functions: usize) -> Vec<DrawnStatement> {
    (0..1 + seeded.below(count)).map(|_| step(seeded, depth, functions)).collect()
}

fn step(seeded: &mut Seeded, depth: usize, functions: usize) -> DrawnStatement {
    let mut any = || seeded.below(97);
    let (a, b, c) = (any(), any(), any());
    let inner = |seeded: &mut Seeded| steps(seeded, 4, depth - 1, functions);
    match seeded.below(32) {
        0 | 1 => DrawnStatement::Add(a, b),
        2 | 3 => DrawnStatement::Sub(a, b),
        4..7 => DrawnStatement::Mul(a, b),
        7 => DrawnStatement::Negate(a),
        8 if seeded.once_in(3) => DrawnStatement::Reduce(a),
        8 => DrawnStatement::Constant(a as u64 % 3),
        9 if seeded.once_in(3) => DrawnStatement::ParseMontLe(a),
        9 | 10 => {
            let sizes = [0, 1, 20, 31, 31, 31, 32, 48, 64, 100];
            DrawnStatement::Parse { word: a, size_bytes: sizes[seeded.below(sizes.len())] }
        }
        11 | 12 if functions > 0 => DrawnStatement::Call { function: a % functions, values: [b, c] },
        13 if depth > 0 => DrawnStatement::Repeat { turns: Ok(a as u64 % 4), values: [b, c], body: inner(seeded) },
        14 if depth > 0 => DrawnStatement::Repeat { turns: Err(a), values: [b, c], body: inner(seeded) },
        15 if depth > 0 && seeded.once_in(2) => {
            DrawnStatement::Countdown { limit: 1 + a % 4, word: b, values: [b, c], body: inner(seeded) }
        }
        15 if depth > 0 => {
            let order = (0..1 + seeded.below(4)).map(|_| seeded.below(2)).collect();
            DrawnStatement::Sequence {
                order,
                is_chosen: seeded.once_in(3),
                word: b,
                values: [b, c],
                body: inner(seeded),
            }
        }
        15 => {
            let digits = (0..seeded.below(6)).map(|_| [-1, 0, 0, 1, 2][seeded.below(5)]).collect();
            DrawnStatement::Digits { digits, value: a }
        }
        16 | 17 if depth > 0 => {
            DrawnStatement::Branch { word: a, then: inner(seeded), otherwise: inner(seeded), values: [b, c] }
        }
        18 => DrawnStatement::Load { array: a % 2, word: b },
        19 => DrawnStatement::Store { array: seeded.below(2), word: a, values: [b, c] },
        20 if seeded.once_in(3) => DrawnStatement::GetAcross(1 + a as u32 % 31),
        20 => DrawnStatement::Get(a % 2),
        21 => DrawnStatement::Set { variable: a % 2, word: b },
        22 if seeded.once_in(2) => DrawnStatement::IsOdd(a),
        22 => DrawnStatement::IsZero(a),
        23 => DrawnStatement::Equal(a, b),
        24 if seeded.once_in(3) => DrawnStatement::Hash([a, b, c]),
        24 => DrawnStatement::Bind(a),
        25 => DrawnStatement::SmallWord(a as u64),
        26 => DrawnStatement::CalldataWord(a),
        27 if seeded.once_in(4) => DrawnStatement::ModOp(ModOp::ALL[c % 2], [a, b, c]),
        27 if seeded.once_in(6) => DrawnStatement::LeadingZeros(a),
        28 if seeded.once_in(3) => DrawnStatement::SetScratch(a, b),
        28 if seeded.once_in(3) => DrawnStatement::ScratchWord(a),
        27 | 28 => DrawnStatement::WordOp(WordOp::ALL[c % 12], a, b),
        29 => DrawnStatement::Require { word: a, itself: seeded.once_in(5) },
        30 if seeded.once_in(12) => DrawnStatement::ReturnWord(a),
        30 if seeded.once_in(12) => DrawnStatement::ReturnMontLe([a, b]),
        31 if seeded.once_in(12) => {
            DrawnStatement::ReturnElements { values: [a, b], size_bytes: 48 + 16 * (c as u32 % 3) }
        }
        _ => DrawnStatement::Mul(a, b),
    }
}
