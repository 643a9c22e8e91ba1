//! Keccak-f[1600] (FIPS 202, §3.3) as a loop of eight passes, three rounds each.
//!
//! A lane v stands in a word as a periodic pattern: bit i is v[i mod 64], for i within a window of good bits. XOR and AND of words have what all their
//! windows have, and a rotation is one shift right, which moves the window down. The first round of a pass makes wide windows anew: 64 good bits are
//! masked, and a product with 2ʳ + 2ʳ⁺⁶⁴ + … both repeats them and rotates by r. Two rounds later the lowest 64 bits are still good:
//!
//! | after | window of all lanes, mask from bit k on, k < 8 |
//! |---|---|
//! | θ and ρ of the first round | \[k + 62, 256) |
//! | θ of the second one, which rotates by a shift to the left | \[k + 63, 256) |
//! | ρ of the second one, by 36 to 92 bits | \[k + 27, 164) |
//! | the third one | \[0, 72), as k + 28 − 36 ≤ 0 |
//! | θ of the next pass | \[1, 72) |
//!
//! So the mask begins at bit k in pass k. In the first pass a window is the lane alone, \[0, 64), and θ repeats the sums of its columns.
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
/// Bytes of a word.
const WORD_BYTES: u32 = 32;
/// Bytes of a state.
const STATE_BYTES: u32 = WORD_BYTES * 25;
/// Bytes of all round constants, each a word.
const CONSTANTS_BYTES: u32 = WORD_BYTES * 24;
/// Room for two more states and the round constants.
pub(super) const ROOM_BYTES: u32 = 2 * STATE_BYTES + CONSTANTS_BYTES;
/// Least shift of a round: with it the window comes down to bit 0.
const SHIFT_MIN: u32 = 36;

/// Which words hold complements, by round of a pass; before and after a pass none does.
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

/// Order in which the last row takes its lanes, counted from its first one: each takes the place of what is added to the lane after it here, so that in
/// the end they stand in their order.
const LAST_ROW: [usize; SIDE] = [0, 3, 1, 2, 4];

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
        let room = self.layout.output;
        let buffers = [self.layout.scratch + offset, room, room + STATE_BYTES];
        let emitter = Emitter {
            code: self.code,
            names: Vec::new(),
            buffers,
            table: room + 2 * STATE_BYTES,
            is_complement: [false; LANES],
        };
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
    /// What θ adds to a column.
    Added(usize),
    /// Lane of a row, before χ.
    Lane(usize),
    Other,
}

struct Emitter<'a> {
    code: &'a mut Assembly,
    /// The stack of the permutation, the top last.
    names: Vec<Name>,
    /// The state's places before the rounds of a pass.
    buffers: [u32; PASS],
    table: u32,
    /// Lanes of the state that are held as complements.
    is_complement: [bool; LANES],
}

impl Emitter<'_> {
    fn permutation(mut self, constants: LabelId) {
        let (pass, end) = (self.code.new_label(), self.code.new_label());
        push(self.code, CONSTANTS_BYTES);
        self.code.push_label(constants);
        push(self.code, self.table);
        self.code.op(evm::CODECOPY);
        self.push(u64::MAX, Name::Mask);
        self.push(self.table, Name::Constants);
        self.theta(0, true);
        self.code.label(pass);
        for round in 0..PASS {
            if round > 0 {
                self.theta(round, false);
            }
            self.rows(round);
        }
        self.next_pass();
        let last = BigUint::from(u64::MAX) << (ROUNDS / PASS);
        self.dup(Name::Mask);
        self.code.push(last).op(evm::EQ).push_label(end).op(evm::JUMPI);
        self.names.pop();
        let names = self.names.clone();
        self.theta(0, false);
        self.code.push_label(pass).op(evm::JUMP);
        self.code.label(end);
        names.iter().for_each(|_| _ = self.code.op(evm::POP));
    }

    /// The mask goes up by one bit, and the address to the next constants. [mask, address] → [mask', address']
    fn next_pass(&mut self) {
        push(self.code, WORD_BYTES * PASS as u32); // three
        self.code.op(evm::ADD).op(evm::SWAP1).op(evm::DUP1).op(evm::ADD).op(evm::SWAP1);
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

    fn load(&mut self, buffer: u32, (x, y): (usize, usize)) {
        self.push(place(buffer, (x, y)), Name::Other);
        self.code.op(evm::MLOAD);
    }

    // --- steps --------------------------------------------------------------------------------------------------------

    /// θ, but for the additions to lanes: what is added to each column. [] → [C\[s\], D\[s + 2\], D\[s + 1\], D\[s + 3\], D\[s\], D\[s + 4\]]
    ///
    /// The column s to begin with is the one for which the last row finds its lanes in their order: see [`LAST_ROW`].
    fn theta(&mut self, round: usize, is_first: bool) {
        let last = self.row(round, SIDE - 1);
        let (start, _) = source(last.row, (last.first() + 1) % SIDE);
        let column = |x: usize| (start + x) % SIDE;
        self.sum(round, start, is_first);
        self.sum(round, column(2), is_first);
        self.dup(Name::Sum(start));
        self.added(round, column(1), is_first);
        for (before, after) in [(2, 4), (4, 1), (1, 3)] {
            self.sum(round, column(after), is_first);
            self.raise(Name::Sum(column(before)));
            self.added(round, column(before + 1), is_first);
        }
        self.raise(Name::Sum(column(3)));
        self.added(round, column(4), is_first);
    }

    /// C\[x\], the sum of a column.
    fn sum(&mut self, round: usize, x: usize, is_first: bool) {
        let buffer = self.buffers[round];
        for y in 0..SIDE {
            self.load(buffer, (x, y));
            if y > 0 {
                self.op(evm::XOR);
            }
        }
        if is_first {
            self.push(u64::MAX, Name::Other);
            self.op(evm::AND);
            self.push(repeated(1), Name::Other);
            self.op(evm::MUL);
        }
        self.name(Name::Sum(x));
    }

    /// D\[x\] = C\[x − 1\] ⊕ C\[x + 1\] rotated by 1. [C\[x − 1\]] → [D\[x\]]
    fn added(&mut self, round: usize, x: usize, is_first: bool) {
        self.dup(Name::Sum((x + 1) % SIDE));
        let (opcode, bits) = if is_first { (evm::SHR, BITS - 1) } else { (evm::SHL, 1) };
        self.push(bits, Name::Other);
        self.op(opcode);
        self.op(evm::XOR);
        let is_complement = self.sum_is_complement((x + 4) % SIDE) != self.sum_is_complement((x + 1) % SIDE);
        self.not_if(is_complement != bit(PLAN[round].columns, x));
        self.name(Name::Added(x));
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

    /// The rest of a round, row by row. [C\[s\], D of all columns] → []
    fn rows(&mut self, round: usize) {
        let (from, to) = (self.buffers[round], self.buffers[(round + 1) % PASS]);
        let rows: [Row; SIDE] = array::from_fn(|row| self.row(round, row));
        for row in rows {
            let first = row.first();
            let order = if row.is_last() { LAST_ROW } else { array::from_fn(|step| step) };
            for step in order {
                self.lane(&row, (first + step) % SIDE, from);
            }
            let lanes = self.names.iter().rev().take(SIDE).rev();
            assert!(
                lanes.eq(&array::from_fn::<_, SIDE, _>(|step| Name::Lane((first + step) % SIDE))),
                "lanes stand in order"
            );
            self.chi(&row, first, to);
            for x in 0..SIDE {
                self.is_complement[x + SIDE * row.row] = bit(row.rows, x);
            }
        }
        self.code.op(evm::POP);
        self.names.pop();
    }

    /// A lane of a row before χ: θ's addition, ρ and π. The last row is the last one to read what is added.
    fn lane(&mut self, row: &Row, y: usize, from: u32) {
        let (x, y) = source(row.row, y);
        if row.is_last() {
            self.raise(Name::Added(x));
            self.load(from, (x, y));
        } else {
            self.load(from, (x, y));
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
            self.push(shift(by), Name::Other);
            self.op(evm::SHR);
        }
        self.name(Name::Lane(y));
    }

    /// χ and ι of a row, of which the lanes stand on the stack from `first` on. Each lane has its last reader where it is on top.
    /// [five lanes] → []
    fn chi(&mut self, row: &Row, first: usize, to: u32) {
        for step in [1, 2, 4] {
            let x = (first + step) % SIDE;
            let form = row.form(x);
            for (lane, is_turned) in form.operands {
                self.dup(Name::Lane(lane));
                self.not_if(is_turned);
            }
            self.op(form.opcode);
            self.dup(Name::Lane(x));
            self.write(row, x, to);
        }
        // The lanes stand as first, first + 1, … first + 4.
        let x = (first + 3) % SIDE;
        let form = row.form(x);
        let [(_, is_first_turned), (second, is_second_turned)] = form.operands;
        self.not_if(is_first_turned);
        self.dup(Name::Lane(second));
        self.not_if(is_second_turned);
        self.op(form.opcode);
        self.write(row, x, to);
        let form = row.form(first);
        let [(lane, is_first_turned), (_, is_second_turned)] = form.operands;
        self.not_if(is_second_turned);
        if is_first_turned {
            self.raise(Name::Lane(lane));
            self.not_if(true);
        }
        self.op(form.opcode);
        self.write(row, first, to);
    }

    /// Writes a lane after χ. [what its neighbours make, the lane] → []
    fn write(&mut self, row: &Row, x: usize, to: u32) {
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
        push(self.code, place(to, (x, row.row)));
        self.code.op(evm::MSTORE);
        self.names.pop();
    }
}

/// Address of a lane.
fn place(buffer: u32, (x, y): (usize, usize)) -> u32 {
    buffer + WORD_BYTES * (x + SIDE * y) as u32 // below 25
}

/// Bits by which a shift to the right rotates by so many to the left: 36 to 92.
fn shift(by: u32) -> u32 {
    let bits = BITS - by;
    if bits < SHIFT_MIN { bits + BITS } else { bits }
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
    /// What comes of it together with the own lane is a complement.
    is_complement: bool,
}

impl Row {
    /// True if it is the last row of its round.
    fn is_last(&self) -> bool {
        self.row + 1 == SIDE
    }

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

    /// The lane to begin with: one whose operand below the top need not be turned.
    fn first(&self) -> usize {
        (0..SIDE).find(|&x| !self.form(x).operands[0].1).expect("three lanes in a row are not turned alike")
    }
}
