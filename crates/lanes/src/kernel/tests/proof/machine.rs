//! The machine of the proof: vectors of symbols.

use std::cell::RefCell;
use std::collections::HashMap;

#[cfg(target_arch = "x86_64")]
use super::assembly::{self, Operands};
use super::mutants::Fault;
use super::symbols::{Proof, Symbol};
#[cfg(target_arch = "x86_64")]
use crate::kernel::ifma::window;
use crate::kernel::vectors::{Halves, Lines, Vectors};
use crate::line::LINE_LIMBS;
#[cfg(target_arch = "x86_64")]
use crate::line::ROW_LIMBS;

/// Rows by number and line.
pub type SymbolRows = RefCell<HashMap<(u16, usize), [Symbol; LINE_LIMBS]>>;

/// A machine with vectors of N symbols.
#[derive(Clone, Copy)]
pub struct Symbols<'a, const N: usize>(&'a Proof);

impl Proof {
    /// A machine with vectors of N elements.
    pub fn machine<const N: usize>(&self) -> Symbols<'_, N> {
        Symbols(self)
    }

    /// A line of a row, which something must have written.
    fn row(&self, rows: &SymbolRows, row: u16, line: usize) -> [Symbol; LINE_LIMBS] {
        rows.borrow().get(&(row, line)).copied().unwrap_or_else(|| {
            self.fail(format!("row {row} is read before it is written"));
            [self.number(0); LINE_LIMBS]
        })
    }
}

impl<const N: usize> Symbols<'_, N> {
    /// An instruction with this outcome, by element; a dropped one has its first operand's.
    fn run(self, first: [Symbol; N], outcome: impl FnMut(usize) -> Symbol) -> [Symbol; N] {
        self.outcome(Fault::Dropped, first, outcome)
    }

    /// An instruction that moves elements; a spoiled one leaves those of the first operand where they are.
    fn moved(self, first: [Symbol; N], outcome: impl FnMut(usize) -> Symbol) -> [Symbol; N] {
        self.outcome(Fault::Unmoved, first, outcome)
    }

    fn outcome(self, fault: Fault, first: [Symbol; N], outcome: impl FnMut(usize) -> Symbol) -> [Symbol; N] {
        let is_spoiled = self.0.has(fault);
        let outcome: [Symbol; N] = std::array::from_fn(outcome);
        let value = |symbol: &Symbol| self.0.value(*symbol).polynomial;
        if is_spoiled && outcome.iter().map(value).ne(first.iter().map(value)) {
            return first.map(|symbol| self.0.spoiled(symbol));
        }
        outcome
    }
}

impl<const N: usize> Vectors for Symbols<'_, N> {
    type Vector = [Symbol; N];
    type Word = Symbol;

    fn literal(self, number: u64) -> [Symbol; N] {
        // Only −1 has a sign.
        let number = if number == u64::MAX { -1 } else { i128::from(number) };
        if self.0.has(Fault::LiteralChanged) {
            return [self.0.spoiled(self.0.number(number + 1)); N];
        }
        [self.0.number(number); N]
    }

    fn broadcast(self, word: Symbol) -> [Symbol; N] {
        if self.0.has(Fault::ConstantChanged) {
            return [self.0.spoiled(self.0.sum(word, self.0.number(1), 1)); N];
        }
        [word; N]
    }

    fn add(self, x: [Symbol; N], y: [Symbol; N]) -> [Symbol; N] {
        self.run(x, |i| self.0.sum(x[i], y[i], 1))
    }

    fn sub(self, x: [Symbol; N], y: [Symbol; N]) -> [Symbol; N] {
        self.run(x, |i| self.0.sum(x[i], y[i], -1))
    }

    fn and(self, x: [Symbol; N], y: [Symbol; N]) -> [Symbol; N] {
        self.run(x, |i| self.0.masked(x[i], y[i]))
    }

    fn or(self, x: [Symbol; N], y: [Symbol; N]) -> [Symbol; N] {
        self.run(x, |i| self.0.joined(x[i], y[i]))
    }

    fn above(self, x: [Symbol; N]) -> [Symbol; N] {
        let bits = self.0.shift();
        self.run(x, |i| self.0.quotient(x[i], bits, false))
    }

    fn carry(self, x: [Symbol; N]) -> [Symbol; N] {
        let bits = self.0.shift();
        self.run(x, |i| self.0.quotient(x[i], bits, true))
    }

    fn shifted_down(self, x: [Symbol; N], bits: u32) -> [Symbol; N] {
        self.run(x, |i| self.0.quotient(x[i], bits, false))
    }

    fn shifted_up(self, x: [Symbol; N], bits: u32) -> [Symbol; N] {
        self.run(x, |i| self.0.moved_up(x[i], bits))
    }

    fn add_low(self, t: [Symbol; N], x: [Symbol; N], y: [Symbol; N]) -> [Symbol; N] {
        let is_high = self.0.has(Fault::OtherHalf);
        self.run(t, |i| self.0.half(t[i], x[i], y[i], is_high))
    }

    fn add_high(self, t: [Symbol; N], x: [Symbol; N], y: [Symbol; N]) -> [Symbol; N] {
        let is_high = !self.0.has(Fault::OtherHalf);
        self.run(t, |i| self.0.half(t[i], x[i], y[i], is_high))
    }

    fn select(self, sign: [Symbol; N], negative: [Symbol; N], other: [Symbol; N]) -> [Symbol; N] {
        self.run(other, |i| self.0.chosen(sign[i], negative[i], other[i]))
    }
}

impl<'a> Lines for Symbols<'a, LINE_LIMBS> {
    type Rows = &'a SymbolRows;
    type Line = [Symbol; LINE_LIMBS];

    unsafe fn load(self, rows: &'a SymbolRows, row: u16, line: usize, _: usize) -> Self::Vector {
        self.0.row(rows, row, line)
    }

    unsafe fn store(self, rows: &'a SymbolRows, row: u16, line: usize, _: usize, value: Self::Vector) {
        if self.0.stores(&value) {
            rows.borrow_mut().insert((row, line), value);
        }
    }

    fn line(self, line: &Self::Line) -> Self::Vector {
        *line
    }

    fn xor(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.run(x, |i| self.0.flipped(x[i], y[i]))
    }

    fn first_of_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.moved(x, |i| [x, y][i % 2][i - i % 2])
    }

    fn second_of_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.moved(x, |i| [x, y][i % 2][i - i % 2 + 1])
    }

    fn even_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.moved(x, |i| [x, y][i / 4][[0, 1, 4, 5][i % 4]])
    }

    fn odd_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.moved(x, |i| [x, y][i / 4][[2, 3, 6, 7][i % 4]])
    }

    fn carry_in(self, set: u8, x: Self::Vector) -> Self::Vector {
        let bits = self.0.shift();
        let zero = self.0.number(0);
        self.run(x, |i| if set >> i & 1 == 1 { self.0.quotient(x[i], bits, true) } else { zero })
    }

    fn and_in(self, set: u8, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.run(x, |i| if set >> i & 1 == 1 { self.0.masked(x[i], y[i]) } else { x[i] })
    }

    fn moved_up(self, x: Self::Vector, below: Self::Vector) -> Self::Vector {
        self.moved(x, |i| if i == 0 { below[LINE_LIMBS - 1] } else { x[i - 1] })
    }

    fn everywhere(self, x: Self::Vector, at: usize) -> Self::Vector {
        self.moved(x, |_| x[at])
    }

    #[cfg(target_arch = "x86_64")]
    fn add_products(
        self,
        t: &mut [Self::Vector; LINE_LIMBS],
        x: &[Self::Vector; LINE_LIMBS],
        y: Self::Vector,
        z: Self::Vector,
    ) {
        let operands = Operands { t, x, vectors: &[("y", y), ("z", z)], m: &[] };
        assembly::execute(self, window::PRODUCTS, operands);
    }

    #[cfg(target_arch = "x86_64")]
    fn add_multiple(self, t: &mut [Self::Vector; LINE_LIMBS], u: Self::Vector, m: &[Symbol; ROW_LIMBS]) {
        assembly::execute(self, window::MULTIPLE, Operands { t, x: &[], vectors: &[("u", u)], m });
    }
}

impl<'a> Halves for Symbols<'a, 4> {
    type Rows = &'a SymbolRows;

    unsafe fn load(self, rows: &'a SymbolRows, row: u16, half: usize, _: usize) -> Self::Vector {
        let line = self.0.row(rows, row, half / 2);
        std::array::from_fn(|i| line[half % 2 * 4 + i])
    }

    unsafe fn store(self, rows: &'a SymbolRows, row: u16, line: usize, _: usize, halves: [Self::Vector; 2]) {
        let value = std::array::from_fn(|i| halves[i / 4][i % 4]);
        if self.0.stores(&value) {
            rows.borrow_mut().insert((row, line), value);
        }
    }

    fn first_of_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.moved(x, |i| [x, y][i % 2][i - i % 2])
    }

    fn second_of_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.moved(x, |i| [x, y][i % 2][i - i % 2 + 1])
    }

    fn first_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.moved(x, |i| [x, y][i / 2][i % 2])
    }

    fn second_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector {
        self.moved(x, |i| [x, y][i / 2][2 + i % 2])
    }
}
