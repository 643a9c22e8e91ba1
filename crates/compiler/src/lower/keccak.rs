//! Keccak-f[1600] (FIPS 202, §3.3) as a loop of eight passes, three rounds each.
//!
//! A lane v stands in a word as a periodic pattern: bit i is v[i mod 64], for i within a window of good bits. XOR and AND of words have what all their
//! windows have, and a rotation is one shift right, which moves the window down. The first round of a pass makes wide windows anew: 64 good bits are
//! masked, and a product with 2ʳ + 2ʳ⁺⁶⁴ + … both repeats them and rotates by r. Two rounds later the lowest 64 bits are still good:
//!
//! | after | window of all lanes |
//! |---|---|
//! | ρ of the first round | \[62, 256) |
//! | θ of the second one, which rotates by a shift to the left | \[63, 256) |
//! | ρ of the second one, by 36 to 92 bits | \[27, 164) |
//! | the third one | \[0, 72), as 28 − 36 < 0 |
//!
//! So a state between passes is 25 numbers of 64 bits. The last round writes them by stores that overlap, from the last lane to the first one: of each
//! word the lowest 8 bytes stay. θ of the first round adds four columns at once.
//!
//! Some words hold the complement of a lane, so that χ needs few complements: see [`PLAN`].

use super::Lowering;
use crate::target::push;
use num_bigint::BigUint;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use std::array;

/// Lanes in a row, rows and columns.
const SIDE: usize = 5;
/// Lanes.
const LANES: usize = SIDE * SIDE;
/// Bits of a lane.
const BITS: u32 = 64;
/// Rounds. FIPS 202, §3.4: 12 + 2·6.
const ROUNDS: usize = 24;
/// Rounds of a pass.
const PASS: usize = 3;
/// Bytes of a lane.
const LANE_BYTES: u32 = BITS / 8;
/// Bytes of a word.
const WORD_BYTES: u32 = 32;
/// Bytes of a state of a word a lane.
const STATE_BYTES: u32 = WORD_BYTES * 25;
/// Bytes of all round constants, each a word.
const CONSTANTS_BYTES: u32 = WORD_BYTES * 24;
/// Room for two states of a word a lane, and the round constants.
pub(super) const ROOM_BYTES: u32 = 2 * STATE_BYTES + CONSTANTS_BYTES;
/// Least shift of a round: with it the window comes down to bit 0.
const SHIFT_MIN: u32 = 36;

/// Words that hold complements after parts of a round; before and after a pass none does.
struct Plan {
    /// Of the columns' sums that θ adds, bit x.
    columns: u8,
    /// Of the rows that χ makes, bit x each.
    rows: [u8; SIDE],
}

/// The plan that takes fewest complements of those that a search came across: nine a round. Where an AND's operands are held in the same way, one is
/// turned; where they are not, AND or OR of them needs none.
const PLAN: [Plan; PASS] = [
    Plan { columns: 5, rows: [12, 1, 4, 16, 3] },
    Plan { columns: 28, rows: [14, 4, 2, 21, 3] },
    Plan { columns: 18, rows: [0; SIDE] },
];

fn bit(bits: u8, at: usize) -> bool {
    bits >> at & 1 == 1
}

/// Round constants as data. FIPS 202, algorithms 5 and 6.
pub(super) fn constants() -> Vec<u8> {
    let mut register = 1u16;
    let mut next = || {
        let found = register & 1;
        register <<= 1;
        if register & 0x100 != 0 {
            register ^= 0x171;
        }
        u64::from(found)
    };
    let mut constant = || (0..7).fold(0u64, |sum, j| sum | next() << ((1u32 << j) - 1));
    (0..ROUNDS).flat_map(|_| constant().to_be_bytes().repeat(4)).collect()
}

/// Offsets of ρ. FIPS 202, algorithm 2.
fn rotations() -> [u32; LANES] {
    let mut offsets = [0; LANES];
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        offsets[x + SIDE * y] = (t + 1) * (t + 2) / 2 % BITS;
        (x, y) = (y, (2 * x + 3 * y) % SIDE);
    }
    offsets
}

/// The lane that π takes to column `y` of a row: row y, column x with 2·x + 3·y = row. FIPS 202, algorithm 3.
fn source(row: usize, y: usize) -> (usize, usize) {
    ((3 * row + y) % SIDE, y)
}

/// A word that is the number in all quarters.
fn repeated(number: u64) -> BigUint {
    BigUint::from_bytes_be(&number.to_be_bytes().repeat(4))
}

impl Lowering<'_> {
    /// The permutation of a state in scratch memory. [] → []
    pub(super) fn keccak_f(&mut self, offset: u32) {
        let (code, state, room) = (&mut *self.code, self.layout.scratch + offset, self.layout.output);
        let emitter = Emitter { code, names: Vec::new(), state, room, is_complement: [false; LANES], kept: None };
        emitter.permutation(self.round_constants);
    }
}

/// A word of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Mask,
    /// Address of a pass's round constants.
    Constants,
    /// Sum of a column.
    Sum(usize),
    /// Sums of four columns from this one on, in 64 bits each.
    Sums(usize),
    /// Addition of θ to a column.
    Added(usize),
    /// Lane of a row, before χ.
    Lane(usize),
    /// Lane of the state after a round of a pass, which is not in memory.
    Kept(usize),
    Other,
}

struct Emitter<'a> {
    code: &'a mut Assembly,
    /// The stack of the permutation, the top last.
    names: Vec<Name>,
    /// Address of the first word that ends with a lane; those of the others are 8 bytes apart.
    state: u32,
    /// Address of two states of a word a lane, and of the round constants.
    room: u32,
    /// Lanes of the state that are held as complements.
    is_complement: [bool; LANES],
    /// The lane that is on the stack, with the round that made it.
    kept: Option<(usize, (usize, usize))>,
}

impl Emitter<'_> {
    fn permutation(mut self, constants: LabelId) {
        let pass = self.code.new_label();
        let table = self.room + 2 * STATE_BYTES;
        push(self.code, CONSTANTS_BYTES);
        self.code.push_label(constants);
        push(self.code, table);
        self.code.op(evm::CODECOPY);
        self.push(u64::MAX, Name::Mask);
        self.push(table, Name::Constants);
        self.code.label(pass);
        for round in 0..PASS {
            let last = if round == 0 { self.theta_of_numbers() } else { self.theta(round) };
            self.rows(round, last);
        }
        push(self.code, WORD_BYTES * PASS as u32); // three
        self.code.op(evm::ADD).op(evm::DUP1);
        push(self.code, table + CONSTANTS_BYTES);
        self.code.op(evm::GT).push_label(pass).op(evm::JUMPI).op(evm::POP).op(evm::POP);
    }

    /// Address of the word of a lane before the round of this number in a pass.
    fn place(&self, round: usize, (x, y): (usize, usize)) -> u32 {
        let lane = (x + SIDE * y) as u32; // below 25
        match round % PASS {
            0 => self.state + LANE_BYTES * lane,
            later => self.room + (later as u32 - 1) * STATE_BYTES + WORD_BYTES * lane, // below three
        }
    }

    // --- the stack ----------------------------------------------------------------------------------------------------

    fn push(&mut self, number: impl Into<BigUint>, name: Name) {
        self.code.push(number);
        self.names.push(name);
    }

    fn name(&mut self, name: Name) {
        *self.names.last_mut().expect("it was pushed") = name;
    }

    fn depth(&self, name: Name) -> u8 {
        let depth = self.names.iter().rev().position(|&other| other == name).expect("it is on the stack");
        u8::try_from(depth).expect("the stack of a round is low")
    }

    fn dup(&mut self, name: Name) {
        let depth = self.depth(name);
        assert!(depth < 16, "a word is out of reach");
        self.code.op(evm::DUP1 + depth);
        self.names.push(Name::Other);
    }

    /// Brings a word to the top, and the one that is there to its place.
    fn raise(&mut self, name: Name) {
        let depth = self.depth(name);
        if depth > 0 {
            self.code.op(evm::SWAP1 + depth - 1);
            let top = self.names.len() - 1;
            self.names.swap(top, top - usize::from(depth));
        }
    }

    /// An operation of two words.
    fn op(&mut self, opcode: u8) {
        self.code.op(opcode);
        self.names.pop();
        self.name(Name::Other);
    }

    fn not_if(&mut self, is_turned: bool) {
        if is_turned {
            self.code.op(evm::NOT);
        }
    }

    fn shift(&mut self, opcode: u8, bits: u32) {
        self.push(bits, Name::Other);
        self.op(opcode);
    }

    fn load(&mut self, address: u32) {
        self.push(address, Name::Other);
        self.code.op(evm::MLOAD);
    }

    /// Loads a lane as it is before a round.
    fn lane_before(&mut self, round: usize, lane: (usize, usize)) {
        match self.kept {
            Some((before, kept)) if kept == lane && before + 1 == round => self.dup(Name::Kept(before)),
            _ => self.load(self.place(round, lane)),
        }
    }

    // --- steps --------------------------------------------------------------------------------------------------------

    /// θ, but for the additions to lanes: what is added to each column. [] → [C\[s\], D\[s + 2\], D\[s + 1\], D\[s + 3\], D\[s\], D\[s + 4\]]
    ///
    /// There is a column s to begin with for which the last row finds a way to take its lanes.
    fn theta(&mut self, round: usize) -> Last {
        let added = |start: usize| [2, 1, 3, 0, 4].map(|x| (start + x) % SIDE);
        let found = (0..SIDE).find_map(|start| Some((start, self.last_row(round, added(start))?)));
        let (start, last) = found.expect("one of five columns is right");
        let column = |x: usize| (start + x) % SIDE;
        self.sum(round, start);
        self.sum(round, column(2));
        self.dup(Name::Sum(start));
        self.added(round, column(1));
        for (before, after) in [(2, 4), (4, 1), (1, 3)] {
            self.sum(round, column(after));
            self.raise(Name::Sum(column(before)));
            self.added(round, column(before + 1));
        }
        self.raise(Name::Sum(column(3)));
        self.added(round, column(4));
        last
    }

    /// C\[x\], the sum of a column.
    fn sum(&mut self, round: usize, x: usize) {
        for y in 0..SIDE {
            self.lane_before(round, (x, y));
            if y > 0 {
                self.op(evm::XOR);
            }
        }
        self.name(Name::Sum(x));
    }

    /// D\[x\] = C\[x − 1\] ⊕ C\[x + 1\] rotated by 1. [C\[x − 1\]] → [D\[x\]]
    fn added(&mut self, round: usize, x: usize) {
        self.dup(Name::Sum((x + 1) % SIDE));
        self.shift(evm::SHL, 1);
        self.op(evm::XOR);
        let is_complement = self.sum_is_complement((x + 4) % SIDE) != self.sum_is_complement((x + 1) % SIDE);
        self.not_if(is_complement != bit(PLAN[round].columns, x));
        self.name(Name::Added(x));
    }

    /// The same for a state of numbers of 64 bits: what is added is good in the lowest 64 bits. [] → [D of all columns]
    fn theta_of_numbers(&mut self) -> Last {
        let orders = [[2, 1, 0], [2, 0, 1], [1, 2, 0], [1, 0, 2], [0, 2, 1], [0, 1, 2]];
        let found = orders.into_iter().find_map(|[a, b, c]| Some(([a, b, c], self.last_row(0, [4, 3, a, b, c])?)));
        let (order, last) = found.expect("one of six orders is right");
        self.sums(1);
        self.sums(0);
        // D[4] = C[3] ⊕ C[0] rotated by 1.
        self.dup(Name::Sums(0));
        self.shift(evm::SHR, 192);
        self.push(1 + (1u128 << BITS), Name::Other);
        self.op(evm::MUL);
        self.shift(evm::SHR, BITS - 1);
        self.dup(Name::Sums(0));
        self.op(evm::XOR);
        self.not_if(bit(PLAN[0].columns, 4));
        self.name(Name::Added(4));
        // The others are C[4], C[0], C[1], C[2], and C[1], C[2], C[3], C[4] rotated, of which 2·C has the highest bits in the next lane.
        self.raise(Name::Sums(0));
        self.shift(evm::SHR, BITS);
        self.dup(Name::Sums(1));
        self.shift(evm::SHL, 192);
        self.op(evm::XOR);
        self.name(Name::Sums(4));
        self.raise(Name::Sums(1));
        self.code.op(evm::DUP1);
        self.names.push(Name::Other);
        self.shift(evm::SHR, BITS - 1);
        self.push(repeated(1), Name::Other);
        self.op(evm::AND);
        self.push(u64::MAX, Name::Other);
        self.op(evm::MUL);
        self.raise(Name::Sums(1));
        self.shift(evm::SHL, 1);
        self.op(evm::SUB);
        self.raise(Name::Added(4));
        self.raise(Name::Sums(4));
        self.op(evm::XOR);
        self.extracted(order);
        last
    }

    /// Additions to columns 0 to 3 from a word that has all of them; those to 2, 1 and 0 in this order. [D\[0…3\]] → [D\[3\], others]
    fn extracted(&mut self, order: [usize; 3]) {
        let turned = |x: usize| if bit(PLAN[0].columns, x) { u64::MAX } else { 0 };
        let turned = (0..4).flat_map(|x| turned(x).to_be_bytes()).collect::<Vec<u8>>();
        if turned.contains(&u8::MAX) {
            self.push(BigUint::from_bytes_be(&turned), Name::Other);
            self.op(evm::XOR);
        }
        self.name(Name::Added(3));
        for x in order {
            self.dup(Name::Added(3));
            self.shift(evm::SHR, BITS * (3 - x) as u32); // below three
            self.name(Name::Added(x));
        }
    }

    /// The sums of four columns from `x` on, in 64 bits each.
    fn sums(&mut self, x: usize) {
        for y in 0..SIDE {
            self.load(self.place(0, (x + 3, y)));
            if y > 0 {
                self.op(evm::XOR);
            }
        }
        self.name(Name::Sums(x));
    }

    fn sum_is_complement(&self, x: usize) -> bool {
        (0..SIDE).fold(false, |is, y| is != self.is_complement[x + SIDE * y])
    }

    /// A row of a round, of the state as it is before the round.
    fn row(&self, round: usize, row: usize) -> Row {
        let is_complement = array::from_fn(|y| {
            let (x, y) = source(row, y);
            self.is_complement[x + SIDE * y] != bit(PLAN[round].columns, x)
        });
        Row { round, row, is_complement, rows: PLAN[round].rows[row] }
    }

    /// The last row's way to take its lanes, given the columns that additions on the stack are for, from the bottom up. Each lane takes the place of what is
    /// added to the next one, so that in the end lanes stand from the first one up. None if there is no such way.
    fn last_row(&self, round: usize, added: [usize; SIDE]) -> Option<Last> {
        let row = self.row(round, rows_in_order(round)[SIDE - 1]);
        row.firsts().find_map(|first| {
            let (column, _) = source(row.row, first);
            let mut place = SIDE - 1;
            let steps: [usize; SIDE] = array::from_fn(|_| {
                place = (added[place] + SIDE - column) % SIDE;
                place
            });
            (0..SIDE).all(|step| steps.contains(&step)).then_some(Last { first, steps })
        })
    }

    /// The rest of a round, row by row. [maybe a word, D of all columns] → [maybe a word, a lane], or after the last round of a pass []
    fn rows(&mut self, round: usize, last: Last) {
        let order = rows_in_order(round);
        let rows: [Row; SIDE] = order.map(|row| self.row(round, row));
        for (number, row) in rows.iter().enumerate() {
            let is_last = number + 1 == SIDE;
            let in_order = Last {
                first: row.firsts().next().expect("a row has an easy lane"),
                steps: array::from_fn(|step| step),
            };
            let Last { first, steps } = if is_last { last } else { in_order };
            for step in steps {
                self.lane(row, (first + step) % SIDE, is_last);
            }
            let lanes = self.names.iter().rev().take(SIDE).rev();
            let expected: [Name; SIDE] = array::from_fn(|step| Name::Lane((first + step) % SIDE));
            assert!(lanes.eq(&expected), "lanes stand in order");
            self.chi(row, first, is_last && round + 1 < PASS);
        }
        for row in rows {
            (0..SIDE).for_each(|x| self.is_complement[x + SIDE * row.row] = bit(row.rows, x));
        }
        while round + 1 == PASS && self.names.last() != Some(&Name::Constants) {
            self.code.op(evm::POP);
            self.names.pop();
        }
    }

    /// A lane of a row before χ: θ's addition, ρ and π. The last row is the last one to read what is added.
    fn lane(&mut self, row: &Row, y: usize, is_last: bool) {
        let (x, y) = source(row.row, y);
        if is_last {
            self.raise(Name::Added(x));
            self.lane_before(row.round, (x, y));
        } else {
            self.lane_before(row.round, (x, y));
            self.dup(Name::Added(x));
        }
        self.op(evm::XOR);
        let by = rotations()[x + SIDE * y];
        if row.round == 0 {
            self.dup(Name::Mask);
            self.op(evm::AND);
            self.push(repeated(1) << by & BigUint::from_bytes_be(&[0xff; 32]), Name::Other);
            self.op(evm::MUL);
        } else {
            self.shift(evm::SHR, shift(by));
        }
        self.name(Name::Lane(y));
    }

    /// χ and ι of a row, of which the lanes stand on the stack from `first` on, from the fourth one after it down. A lane has its last reader where it is on
    /// top. The last lane to be made may be kept. [five lanes] → [maybe a lane]
    fn chi(&mut self, row: &Row, first: usize, is_kept: bool) {
        for step in (0..SIDE).rev() {
            let x = (first + step) % SIDE;
            let Form { operands: [one, two], opcode, .. } = row.form(x);
            match step {
                3 | 4 => {
                    self.turned_copy(one);
                    self.turned_copy(two);
                }
                1 | 2 => {
                    self.not_if(two.1);
                    self.turned_copy(one);
                }
                _ => self.not_if(two.1),
            }
            self.op(opcode);
            if step > 0 {
                self.dup(Name::Lane(x));
            }
            self.finish(row, x);
            if step == 0 && is_kept {
                self.name(Name::Kept(row.round));
                self.kept = Some((row.round, (x, row.row)));
            } else {
                push(self.code, self.place(row.round + 1, (x, row.row)));
                self.code.op(evm::MSTORE);
                self.names.pop();
            }
        }
    }

    fn turned_copy(&mut self, (lane, is_turned): (usize, bool)) {
        self.dup(Name::Lane(lane));
        self.not_if(is_turned);
    }

    /// A lane after χ and ι. [what its neighbours make, the lane] → [the lane]
    fn finish(&mut self, row: &Row, x: usize) {
        self.op(evm::XOR);
        if (x, row.row) == (0, 0) {
            self.dup(Name::Constants);
            if row.round > 0 {
                self.push(WORD_BYTES * row.round as u32, Name::Other); // below three
                self.op(evm::ADD);
            }
            self.code.op(evm::MLOAD);
            self.op(evm::XOR);
        }
        self.not_if(row.form(x).is_complement != bit(row.rows, x));
    }
}

/// Rows in the order of a round. The last round of a pass writes lanes from the last one to the first.
fn rows_in_order(round: usize) -> [usize; SIDE] {
    array::from_fn(|row| if round + 1 == PASS { SIDE - 1 - row } else { row })
}

/// Bits by which a shift to the right rotates by so many to the left: 36 to 92.
fn shift(by: u32) -> u32 {
    let bits = BITS - by;
    if bits < SHIFT_MIN { bits + BITS } else { bits }
}

/// Way of the last row to take its lanes: the first of them, and the order, counted from it.
#[derive(Clone, Copy)]
struct Last {
    first: usize,
    steps: [usize; SIDE],
}

/// A row between ρ and ι.
struct Row {
    round: usize,
    row: usize,
    /// Lanes before χ that are held as complements.
    is_complement: [bool; SIDE],
    /// The same of lanes after it, bit x.
    rows: u8,
}

/// ¬b ∧ c of lanes b and c.
struct Form {
    /// Both, and if they are turned.
    operands: [(usize, bool); 2],
    opcode: u8,
    /// True if it makes a complement of the own lane.
    is_complement: bool,
}

impl Row {
    /// The form for lane x that turns fewest words.
    fn form(&self, x: usize) -> Form {
        let [first, second] = [(x + 1) % SIDE, (x + 2) % SIDE];
        let [own, one, two] = [x, first, second].map(|lane| self.is_complement[lane]);
        // ¬b ∧ c of b's complement and c, or the complement of b ∨ ¬c.
        let is_or = if one == two { own != bit(self.rows, x) } else { two };
        let turned = [one == is_or, two != is_or];
        Form {
            operands: [(first, turned[0]), (second, turned[1])],
            opcode: if is_or { evm::OR } else { evm::AND },
            is_complement: own != is_or,
        }
    }

    /// Lanes to begin with: those whose operand below the top need not be turned. The last round of a pass has to write its lanes in order.
    fn firsts(&self) -> impl Iterator<Item = usize> {
        let is_in_order = self.round + 1 == PASS;
        (0..SIDE).filter(move |&x| !self.form(x).operands[0].1 && (x == 0 || !is_in_order))
    }
}
