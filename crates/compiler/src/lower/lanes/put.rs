//! Sums of products of lanes, each by one product of words: lane L − 1 of (Σ aₗ·2^(b·l))·(Σ pₗ·2^(b·l)) is Σ aₗ·p_(L−1−l), if no lane runs over.

use super::plan::{Act, Plan, turned_times};
use super::{Emitter, Name, PUT_BITS, ROW_BYTES, SHARED_FROM_BYTES};
use residue_ir::LaneStep;
use residue_isa::opcode::evm;
use ruint::aliases::U256;

/// Constants that negate lanes of a word: v ↦ v + `multiple` − 2·(v & `whole`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Turned {
    /// All bits of the lanes that are negated.
    pub whole: U256,
    /// In these lanes a multiple of q, no less than they are in any word that is put.
    pub multiple: U256,
}

/// Marks of the lanes whose numbers each second row has negated, if these are the same all over and the other numbers are equal.
fn turned(modulus: u32, rows: &[Vec<u32>]) -> Option<Vec<bool>> {
    let sign = |(&a, &b): (&u32, &u32)| match (a == b, a + b == modulus) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    };
    let of_pair = |pair: &[Vec<u32>]| pair[0].iter().zip(&pair[1]).map(sign).collect::<Option<Vec<bool>>>();
    let first = of_pair(rows.get(..2)?)?;
    rows.chunks(2).all(|pair| of_pair(pair).as_ref() == Some(&first)).then_some(first)
}

impl Emitter<'_> {
    /// Notes how lanes are negated, where rows take so many bytes that they share constants, and all of them can.
    pub(super) fn note_turned(&mut self, plan: &Plan<'_>) {
        let puts = plan.iter().flatten().filter_map(|planned| match planned.act {
            Act::Put { rows, high, .. } => Some((rows, high)),
            _ => None,
        });
        let puts: Vec<(&[Vec<u32>], i128)> = puts.collect();
        let all: Vec<Vec<u32>> = puts.iter().flat_map(|(rows, _)| rows.to_vec()).collect();
        if all.len() * ROW_BYTES < SHARED_FROM_BYTES {
            return;
        }
        let Some(turned) = turned(self.lanes.modulus, &all) else { return };
        let high = puts.iter().map(|&(_, high)| high).max().unwrap_or(0);
        let multiple = turned_times(self.lanes, high) * i128::from(self.lanes.modulus);
        let in_turned = |number: U256| {
            let cells = turned.iter().rev().zip((0..256).step_by(self.lanes.bits as usize)); // u32 to usize widens
            let cells = cells.filter(|&(&is_turned, _)| is_turned);
            cells.fold(U256::ZERO, |word, (_, bit)| word | number << bit)
        };
        let whole = in_turned((U256::ONE << self.lanes.bits as usize) - U256::ONE); // u32 to usize widens
        self.turned = Some(Turned { whole, multiple: in_turned(U256::from(multiple.unsigned_abs())) });
    }

    /// [.., word] → [.., word]
    pub(super) fn put(&mut self, word: u32, to: u32, rows: &[Vec<u32>]) {
        self.raise(word);
        if let Some(turned) = self.turned {
            self.turn(turned);
        }
        let outputs = rows.chunks(LaneStep::ROWS_PER_WORD).zip((self.scratch + to..).step_by(32));
        for (rows, address) in outputs {
            match self.turned {
                Some(_) => self.twins(word, rows),
                None => self.sums(word, rows),
            }
            self.push(U256::from(address));
            self.code.op(evm::MSTORE);
            self.names.truncate(self.names.len() - 2);
        }
        if self.turned.is_some() {
            self.code.op(evm::POP);
            self.names.pop();
        }
    }

    /// The word with some lanes negated, on top of it. [word] → [turned, word]
    fn turn(&mut self, turned: Turned) {
        self.dup(0);
        self.constant(turned.whole);
        self.op(evm::AND);
        self.dup(0);
        self.op(evm::ADD);
        self.dup(1);
        self.constant(turned.multiple);
        self.op(evm::ADD);
        self.op(evm::SUB);
        self.name(Name::Turned);
    }

    /// The constant that a row is.
    fn row(&self, row: &[u32]) -> U256 {
        let cells = row.iter().zip((0..256).step_by(self.lanes.bits as usize)); // u32 to usize widens
        cells.fold(U256::ZERO, |word, (&number, bit)| word | U256::from(number) << bit)
    }

    pub(super) fn copy(&mut self, name: Name) {
        let depth = self.depth(name).expect("it is on the stack");
        self.dup(depth);
    }

    /// The sum of a row out of four moves to its cell of the output.
    fn place(&mut self, number: usize) {
        let cells_after = LaneStep::ROWS_PER_WORD - 1 - number;
        self.shift(evm::SHL, PUT_BITS * u32::try_from(cells_after).expect("four rows fill a word"));
    }

    /// Four rows, each by its constant. [] → [output]
    fn sums(&mut self, word: u32, rows: &[Vec<u32>]) {
        for (number, row) in rows.iter().enumerate() {
            self.constant(U256::from(self.lanes.modulus));
            self.push(self.row(row));
            self.copy(Name::Word(word));
            self.op(evm::MUL);
            self.shift(evm::SHR, 256 - self.lanes.bits);
            self.op(evm::MOD);
            self.place(number);
            if number > 0 {
                self.op(evm::OR);
            }
        }
    }

    /// Four rows, the second and fourth by the constant of the one before and the turned word. [] → [output]
    fn twins(&mut self, word: u32, rows: &[Vec<u32>]) {
        let modulus = U256::from(self.lanes.modulus);
        for (number, row) in rows.iter().enumerate().step_by(2) {
            self.push(self.row(row));
            self.name(Name::Row);
            self.constant(modulus);
            self.copy(Name::Row);
            self.copy(Name::Word(word));
            self.op(evm::MUL);
            self.shift(evm::SHR, 256 - self.lanes.bits);
            self.op(evm::MOD);
            self.place(number); // [sum, row, (others)]
            self.swap(1);
            self.copy(Name::Turned);
            self.op(evm::MUL);
            self.shift(evm::SHR, 256 - self.lanes.bits);
            self.constant(modulus);
            self.swap(1);
            self.op(evm::MOD);
            self.place(number + 1);
            self.op(evm::OR);
            if number > 0 {
                self.op(evm::OR);
            }
        }
    }
}
