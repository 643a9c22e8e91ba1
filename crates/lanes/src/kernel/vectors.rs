//! Interface of kernels to vectors: the few operations that the steps of a plan are written over.
//!
//! Machines implement them: `super::ifma` with CPU instructions, `super::proof` with symbols, by which the tests prove
//! a step for all operands within its bounds. The machine is a value, and the only source of vectors: its holder may
//! use its instructions.

use super::steps::companions::Companions;
use super::steps::product::next_window_of_line;
use super::steps::stream::{self, Operands};
use crate::line::{LINE_LIMBS, ROW_LIMBS};
use crate::modulus_rows::ProductConstants;
use crate::tables::BatchStep;

/// Vectors of 64-bit elements. Elements count modulo 2⁶⁴; their readers take them as signed or unsigned.
pub(crate) trait Vectors: Copy {
    /// A vector.
    type Vector: Copy;
    /// Constant of the modulus, as kernels read it.
    type Word: Copy;

    /// A number in every element.
    fn literal(self, number: u64) -> Self::Vector;
    /// A constant in every element.
    fn broadcast(self, word: Self::Word) -> Self::Vector;
    /// x + y.
    fn add(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// x − y.
    fn sub(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// x and y, bit by bit.
    fn and(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// x or y, bit by bit.
    fn or(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// ⌊x/2⁵²⌋ of elements without a sign.
    fn above(self, x: Self::Vector) -> Self::Vector;
    /// ⌊x/2⁵²⌋ of elements with a sign.
    fn carry(self, x: Self::Vector) -> Self::Vector;
    /// ⌊x/2ᵇ⌋ of elements without a sign, b < 64.
    fn shifted_down(self, x: Self::Vector, bits: u32) -> Self::Vector;
    /// x·2ᵇ, b < 64.
    fn shifted_up(self, x: Self::Vector, bits: u32) -> Self::Vector;
    /// t + (x′y′ mod 2⁵²), where x′ and y′ are the low 52 bits of x and y.
    fn add_low(self, t: Self::Vector, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// t + ⌊x′y′/2⁵²⌋.
    fn add_high(self, t: Self::Vector, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// By element: `negative` where `sign` is negative, else `other`.
    fn select(self, sign: Self::Vector, negative: Self::Vector, other: Self::Vector) -> Self::Vector;

    /// The same vectors. No compiler moves their computation after the following code.
    #[inline(always)]
    fn pinned<const L: usize>(self, x: &[Self::Vector; L]) -> [Self::Vector; L] {
        *x
    }
}

/// Vectors of eight elements, a line of a row each.
pub(crate) trait Lines: Vectors {
    /// Reference to rows.
    type Rows: Copy;
    /// A line of a constant.
    type Line;

    /// A line of a row of `lines` lines.
    ///
    /// # Safety
    /// The row exists, and nothing writes it meanwhile.
    unsafe fn load(self, rows: Self::Rows, row: u16, line: usize, lines: usize) -> Self::Vector;
    /// Writes a line of a row of `lines` lines.
    ///
    /// # Safety
    /// The row exists, and nothing else accesses it.
    unsafe fn store(self, rows: Self::Rows, row: u16, line: usize, lines: usize, value: Self::Vector);
    /// A line of a constant.
    fn line(self, line: &Self::Line) -> Self::Vector;
    /// x xor y, bit by bit.
    fn xor(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// Of elements in pairs, the first of each pair of x and of y: x₀ y₀ x₂ y₂ x₄ y₄ x₆ y₆.
    fn first_of_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// The second of each: x₁ y₁ x₃ y₃ x₅ y₅ x₇ y₇.
    fn second_of_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// Of pairs in pairs, the first of x, then of y: x₀ x₁ x₄ x₅ y₀ y₁ y₄ y₅.
    fn even_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// The second: x₂ x₃ x₆ x₇ y₂ y₃ y₆ y₇.
    fn odd_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// [`Vectors::carry`] in the elements whose bit in `set` is one, zero in the others.
    fn carry_in(self, set: u8, x: Self::Vector) -> Self::Vector;
    /// x and y in the elements whose bit in `set` is one, x in the others.
    fn and_in(self, set: u8, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// Every element one place up, the last one of `below` in the first place: below₇ x₀ x₁ … x₆.
    fn moved_up(self, x: Self::Vector, below: Self::Vector) -> Self::Vector;
    /// Element `at` in all places.
    fn everywhere(self, x: Self::Vector, at: usize) -> Self::Vector;

    /// [`next_window_of_line`], which a machine compiles by itself before it takes it in: compilers then keep more in registers.
    #[inline(always)]
    fn window(
        self,
        t: &[Self::Vector; LINE_LIMBS],
        x: &[Self::Vector; LINE_LIMBS],
        y: Self::Vector,
        y_next: Self::Vector,
        constants: &ProductConstants<Self::Word>,
    ) -> [Self::Vector; LINE_LIMBS] {
        next_window_of_line(self, t, x, y, y_next, constants)
    }

    /// [`stream::last_windows`], compiled by itself likewise.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "references in a structure may overlap, for all that compilers know")]
    unsafe fn last_windows<const NEXT: bool>(
        self,
        t: [Self::Vector; LINE_LIMBS],
        now: &Operands<Self::Vector>,
        companions: Companions<'_, Self, 1>,
        next: &BatchStep,
        then: *mut Operands<Self::Vector>,
        constants: &ProductConstants<Self::Word>,
        rows: Self::Rows,
    ) -> [Self::Vector; LINE_LIMBS] {
        // SAFETY: the caller vouches for what is asked there.
        unsafe { stream::last_windows::<_, NEXT>(self, t, now, companions, next, then, constants, rows) }
    }

    /// tⱼ += ⌊xⱼy/2⁵²⌋, then tⱼ += xⱼz mod 2⁵², for a product's window of eight limbs.
    #[inline(always)]
    fn add_products(
        self,
        t: &mut [Self::Vector; LINE_LIMBS],
        x: &[Self::Vector; LINE_LIMBS],
        y: Self::Vector,
        z: Self::Vector,
    ) {
        for j in 0..LINE_LIMBS {
            t[j] = self.add_high(t[j], x[j], y);
        }
        for j in 0..LINE_LIMBS {
            t[j] = self.add_low(t[j], x[j], z);
        }
    }

    /// tⱼ += ⌊uMⱼ/2⁵²⌋, then tⱼ += uMⱼ₊₁ mod 2⁵², for a window of eight limbs.
    #[inline(always)]
    fn add_multiple(self, t: &mut [Self::Vector; LINE_LIMBS], u: Self::Vector, m: &[Self::Word; ROW_LIMBS]) {
        for j in 0..LINE_LIMBS {
            t[j] = self.add_high(t[j], u, self.broadcast(m[j]));
        }
        for j in 0..LINE_LIMBS - 1 {
            t[j] = self.add_low(t[j], u, self.broadcast(m[j + 1]));
        }
    }
}

/// Vectors of four elements, half a line each.
pub(crate) trait Halves: Vectors {
    /// Reference to rows.
    type Rows: Copy;

    /// Half a line of a row of `lines` lines.
    ///
    /// # Safety
    /// As [`Lines::load`].
    unsafe fn load(self, rows: Self::Rows, row: u16, half: usize, lines: usize) -> Self::Vector;
    /// Writes the two halves of a line of a row of `lines` lines.
    ///
    /// # Safety
    /// As [`Lines::store`].
    unsafe fn store(self, rows: Self::Rows, row: u16, line: usize, lines: usize, halves: [Self::Vector; 2]);
    /// x₀ y₀ x₂ y₂.
    fn first_of_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// x₁ y₁ x₃ y₃.
    fn second_of_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// x₀ x₁ y₀ y₁.
    fn first_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// x₂ x₃ y₂ y₃.
    fn second_pairs(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
}
