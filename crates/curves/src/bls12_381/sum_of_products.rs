//! Σ sᵢ·Pᵢ over points of G1 or G2, with the check that each Pᵢ is in its group.
//!
//! The check computes z·P (or z²·P), z = |x|, by doublings: from right to left, so that it passes all 2ⁱ·P. A scalar is
//! written to the base z, s = Σ bⱼ·zʲ with four quarters of less than 64 bits, and each quarter in windows of w bits. As z²·P = −φ(P)
//! on G1 and z·Q = −ψ(Q) on G2 (Scott 2021, 2021/1130), every part of s·P is a small multiple d of a point that the check
//! passes, or of an image of it: it is added to bucket d (Yao 1976; Brickell, Gordon, McCurley and Wilson 1992, algorithm 1).
//! The chain follows z = 2¹⁶ + 2⁴⁸ + 7·(2⁶¹ − 2⁵⁷), or 14·(2⁶⁰ − 2⁵⁶) for the last; no two multiples of a point that it adds
//! are equal or opposite.
//! There is one set of buckets B for all points and windows; at the end Σ d·B_d is taken by running sums (Pippenger 1976).
//! Digits are signed without any carry at run time: see [`Window`] and `quarters`. For few points of G2 there is a way without
//! memory: [`super::sum_by_units`].
//!
//! Points may repeat and cancel. Additions are incomplete all the same: buckets, and with them running sums, begin with
//! multiples of a point T of small order, see [`super::torsion`]. Within the chain of a point the argument of
//! [`super::g1::membership`] holds: Z ≠ 0 for a member, and if Z ≠ 0 then all was computed without an exceptional case.

mod group;
pub(super) mod offsets;
pub(super) mod quarters;

use super::constants::{X_ABS, constants};
use crate::conditions::Conditions;
use crate::group::{Addend, Affine, Coordinate, Jacobian};
pub use group::{Names, ProductGroup};
pub use offsets::Offsets;
use offsets::constant_point;
use quarters::{QUARTER_BITS, added, quarters};
use residue_ir::{Array, Capacity, Cells, Machine, Variable, WordOp};

/// Bits of a quarter that one call of [`SumOfProducts::half`] takes care of.
const HALF_BITS: u32 = 32;

// What `chain` and `chain_of_calls` have z for.
const _: () = assert!(X_ABS == (1 << 16) + (1 << 48) + 7 * ((1 << 61) - (1 << 57)));
const _: () = assert!(X_ABS == (1 << 16) + (1 << 48) + 14 * ((1 << 60) - (1 << 56)));

/// How many bits w of a scalar one addition takes care of. Digits are signed, from −2ʷ⁻¹ to 2ʷ⁻¹ − 1; digit d has the bucket
/// d + 2ʷ⁻¹.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// 4: 16 buckets, for few points of G1.
    Nibble,
    /// 8: 256 buckets, for many points.
    Byte,
}

impl Window {
    /// w.
    pub const fn bits(self) -> u32 {
        match self {
            Window::Nibble => 4,
            Window::Byte => 8,
        }
    }

    /// 2ʷ⁻¹: the bucket of digit 0.
    pub const fn half(self) -> u32 {
        1 << (self.bits() - 1)
    }

    /// 2ʷ.
    pub const fn buckets(self) -> u32 {
        1 << self.bits()
    }
}

/// A sum of products on its way.
pub struct SumOfProducts<M: Machine, G: ProductGroup<M>> {
    window: Window,
    /// Whether additions and short rows of doublings are functions.
    calls: bool,
    /// Element d: the sum of what scalars have d times.
    buckets: Array<Jacobian<G::Coordinate>>,
    /// The digits of a scalar, shifted right as windows are done. With cells of 16 bits: in variable t the windows t, t + n,
    /// t + 2n … of the n that have room in a cell, one in each cell. With cells of 64 bits: in variable 0 the four quarters,
    /// b₀ the lowest, and in variable 1 one window of each.
    digits: [Variable; 4],
}

impl<M: Machine, G: ProductGroup<M>> SumOfProducts<M, G> {
    /// The variables and the array of sums; one program may have several sums, one after the other.
    pub fn new(machine: &M, window: Window) -> Self {
        Self {
            window,
            calls: G::CALLS,
            buckets: machine.array("buckets", Capacity::Unbounded),
            digits: ["digits_0", "digits_1", "digits_2", "digits_3"]
                .map(|name| machine.variable(name, machine.small(0))),
        }
    }

    /// The same with least code: on G1 a fourth of it, for 2,000 gas a product more.
    pub fn small(machine: &M, window: Window) -> Self {
        Self { calls: true, ..Self::new(machine, window) }
    }

    /// This sum with another window.
    #[must_use]
    pub fn with_window(&self, window: Window) -> Self {
        Self { window, ..*self }
    }

    /// Begins with nothing.
    pub fn clear(&self, machine: &M) {
        let count = self.window.buckets();
        machine.reserve(self.buckets, machine.small(u64::from(count)));
        let offsets = G::offsets();
        let point = |point| constant_point::<M, G>(machine, point);
        machine.fill(self.buckets, count, point(offsets.one));
        machine.store(self.buckets, machine.small(0), point(offsets.lowest[self.window as usize]));
        machine.store(self.buckets, machine.small(u64::from(count) - 1), point(offsets.three));
    }

    /// Adds P, which must be in the group and not the identity.
    pub fn add_once(&self, machine: &M, point: Affine<G::Coordinate>) {
        let digit = machine.small(u64::from(self.window.half()) + 1);
        let bucket = machine.load(self.buckets, digit);
        machine.store(self.buckets, digit, bucket.add_mixed(point));
    }

    /// Adds s·P, for P other than the identity; what it returns must hold, or all is wrong.
    pub fn add(&self, machine: &M, scalar: M::Word, point: Affine<G::Coordinate>) -> Conditions<M::Fe> {
        let quarters = machine.bind(quarters(machine, scalar));
        G::membership(machine, point, self.multiply(machine, quarters, point))
    }

    /// The same, unless `is_few`: then to `few`, which is this sum with the other window, and the sums that it keeps in slots.
    pub fn add_unless(
        &self,
        machine: &M,
        (is_few, few): (M::Word, &Self),
        sums: G::Sums,
        scalar: M::Word,
        point: Affine<G::Coordinate>,
    ) -> (Conditions<M::Fe>, G::Sums) {
        let shared = machine.bind(G::shared(machine, scalar));
        let (multiple, sums) = machine.branch(
            machine.not(is_few),
            |machine| (self.multiply(machine, G::quarters(machine, shared), point), sums),
            |machine| G::multiply_few(machine, few, shared, point, sums),
        );
        (G::membership(machine, point, multiple), sums)
    }

    /// P ↦ z^CHAINS·P, with the additions to buckets for the quarters of a scalar.
    fn multiply(&self, machine: &M, quarters: M::Word, point: Affine<G::Coordinate>) -> Jacobian<G::Coordinate> {
        self.begin(machine, machine.word_op(WordOp::Add, quarters, machine.word(added(self.window))));
        let mut multiple = point.to_jacobian(machine.one());
        for chain in 0..G::CHAINS {
            if chain > 0 && !self.calls {
                self.advance(machine, if self.is_written_out() { QUARTER_BITS } else { HALF_BITS });
            }
            let chain = |machine: &M, point| {
                if self.calls { self.chain_of_calls(machine, point) } else { self.chain(machine, point) }
            };
            multiple = if G::CHAINS > 1 {
                machine.function(G::NAMES.chain[self.window as usize], multiple, chain)
            } else {
                chain(machine, multiple)
            };
        }
        multiple
    }

    /// The variables that hold a scalar's digits between halves.
    fn held(&self) -> &[Variable] {
        &self.digits[..(G::CELL_BITS / self.window.bits()) as usize] // u32 to usize widens
    }

    fn cells(&self) -> Cells {
        Cells { bits: G::CELL_BITS, index_bits: self.window.bits() }
    }

    /// Makes the variables hold the four quarters.
    fn begin(&self, machine: &M, quarters: M::Word) {
        if self.calls {
            return machine.set(self.digits[0], quarters); // each window takes what is next
        }
        let quarters = machine.bind(quarters);
        for (&variable, bit) in self.held().iter().zip((0..).step_by(self.window.bits() as usize)) {
            machine.set_indices(variable, self.buckets, self.indices(machine, quarters, bit), self.cells());
        }
    }

    /// The windows of `quarters` that begin at `bit` of each cell.
    fn indices(&self, machine: &M, quarters: M::Word, bit: u32) -> M::Word {
        let shifted = match bit {
            0 => quarters,
            _ => machine.word_op(WordOp::Shr, quarters, machine.small(u64::from(bit))),
        };
        machine.word_op(WordOp::And, machine.word(self.cells().each(self.cells().index_max())), shifted)
    }

    /// Makes the digits that stand `bits` higher stand where those behind us were.
    fn advance(&self, machine: &M, bits: u32) {
        for &variable in self.held() {
            let shifted = machine.word_op(WordOp::Shr, machine.get(variable), machine.small(u64::from(bits)));
            machine.set(variable, shifted);
        }
    }

    /// Whether the halves of a quarter are written out, for less gas and more code: where there are many points.
    fn is_written_out(&self) -> bool {
        self.window == Window::Byte
    }

    /// P ↦ z·P, with the additions to buckets on the way: z = 2¹⁶ + 2⁴⁸ + 7·(2⁶¹ − 2⁵⁷).
    fn chain(&self, machine: &M, start: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let half = |first_bit, point| {
            if self.is_written_out() {
                return self.half(machine, first_bit, point);
            }
            if first_bit > 0 {
                self.advance(machine, HALF_BITS);
            }
            let half = |machine: &M, point| self.half(machine, 0, point).0;
            let points @ [p16, ..] = machine.function(G::NAMES.half[self.window as usize], point, half);
            (points, p16.addend())
        };
        let ([_, _, p29], addend16) = half(0, start);
        let ([_, p57, p61], addend48) = half(HALF_BITS, double(machine, 3, p29));
        let fifteen = p61 + p57.addend().negated();
        double(machine, 3, fifteen) + fifteen.addend().negated() + addend48 + addend16
    }

    /// P ↦ 2¹⁶·P, 2²⁵·P and 2²⁹·P, with the additions to buckets for the half whose digits begin at `first_bit`; and the first
    /// of them once more, as those additions have it.
    fn half(
        &self,
        machine: &M,
        first_bit: u32,
        start: Jacobian<G::Coordinate>,
    ) -> ([Jacobian<G::Coordinate>; 3], Addend<G::Coordinate>) {
        let mut point = start;
        let (mut p16, mut p25) = (start, start);
        let mut addend16 = start.addend();
        let mut images = Vec::new().into_iter();
        let mut sum = None;
        for bit in 0..29u32 {
            let addend = point.addend(); // goes again where nobody reads it
            match bit {
                16 => (p16, addend16) = (point, addend),
                25 => p25 = point,
                _ => (),
            }
            if bit.is_multiple_of(self.window.bits()) {
                let bit = first_bit + bit;
                let digits = self.digits[(bit % G::CELL_BITS / self.window.bits()) as usize]; // u32 to usize widens
                images = self.images(machine, digits, bit / G::CELL_BITS * G::CELL_BITS, addend).into_iter();
            }
            // One image at a time, so that the doublings behind it have products beside theirs that do not wait for them.
            if bit.is_multiple_of(self.window.bits() * G::CHAINS / 4) {
                sum.into_iter().for_each(|sum| self.put(machine, sum));
                sum = images.next().map(|image| self.with(machine, image));
            }
            point = double(machine, 1, point);
        }
        let others = images.map(|image| self.with(machine, image));
        sum.into_iter().chain(others).for_each(|sum| self.put(machine, sum));
        ([p16, p25, point], addend16)
    }

    /// As [`Self::chain`], by calls from window to window: z = 2¹⁶ + 2⁴⁸ + 14·(2⁶⁰ − 2⁵⁶).
    fn chain_of_calls(&self, machine: &M, start: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let [double_1, double_3] = G::NAMES.double;
        let once = |machine: &M, point| machine.function(double_1, point, |machine, point| double(machine, 1, point));
        let thrice = |point| machine.function(double_3, point, |machine, p| once(machine, double(machine, 2, p)));
        let mut point = self.scatter_window(machine, start);
        let [mut p16, mut p48, mut p56] = [start; 3];
        for bit in (0..QUARTER_BITS).step_by(self.window.bits() as usize).skip(1) {
            // u32 to usize widens
            point = self.step(machine, point);
            match bit {
                16 => p16 = point,
                48 => p48 = point,
                56 => p56 = point,
                _ => (),
            }
        }
        let p60 = match self.window {
            Window::Nibble => point,
            Window::Byte => thrice(once(machine, point)),
        };
        let fifteen = add::<M, G>(machine, p60, p56.negated());
        let twice = once(machine, fifteen);
        let fourteen_times = add::<M, G>(machine, thrice(twice), twice.negated());
        add::<M, G>(machine, add::<M, G>(machine, fourteen_times, p48), p16)
    }

    /// From a window's point to the next one's, and that window's additions to buckets.
    fn step(&self, machine: &M, point: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        machine.function(G::NAMES.step[self.window as usize], point, |machine, point| {
            let count = self.window.bits() as usize; // u32 to usize widens
            self.scatter_window(machine, double(machine, count, point))
        })
    }

    /// The additions to buckets for the lowest windows of the quarters that are left, and `point` again.
    fn scatter_window(&self, machine: &M, point: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let [quarters, window, ..] = self.digits;
        machine.function(G::NAMES.scatter[self.window as usize], point, |machine, point| {
            let digits = machine.bind(machine.get(quarters));
            let indices = self.indices(machine, digits, 0);
            machine.set_indices(window, self.buckets, indices, self.cells());
            let bits = machine.small(u64::from(self.window.bits()));
            machine.set(quarters, machine.word_op(WordOp::Shr, digits, bits));
            self.scatter(machine, window, 0, point.addend());
            point
        })
    }

    /// Adds `point` and its images to the buckets that `digits` name, the first of them in the cell at `first_bit`.
    fn scatter(&self, machine: &M, digits: Variable, first_bit: u32, point: Addend<G::Coordinate>) {
        for image in self.images(machine, digits, first_bit, point) {
            self.put(machine, self.with(machine, image));
        }
    }

    /// `point` and its images, each with where its digit stands: in `digits`, the first of them in the cell at `first_bit`.
    fn images(
        &self,
        machine: &M,
        digits: Variable,
        first_bit: u32,
        point: Addend<G::Coordinate>,
    ) -> Vec<(Variable, u32, Addend<G::Coordinate>)> {
        let bits = (first_bit..).step_by((QUARTER_BITS * G::CHAINS) as usize); // u32 to usize widens
        G::images(machine, point).into_iter().zip(bits).map(|(image, bit)| (digits, bit, image)).collect()
    }

    /// The bucket that an image's digit names, and what it holds with the image.
    fn with(
        &self,
        machine: &M,
        (digits, bit, image): (Variable, u32, Addend<G::Coordinate>),
    ) -> (M::Word, Jacobian<G::Coordinate>) {
        let digit = machine.index(digits, self.buckets, bit, self.cells());
        (digit, machine.load(self.buckets, digit) + image)
    }

    /// Puts into a bucket what it is to hold.
    fn put(&self, machine: &M, (digit, sum): (M::Word, Jacobian<G::Coordinate>)) {
        machine.store(self.buckets, digit, sum);
    }

    /// The sum; Z = 0 if it is the identity.
    pub fn finish(&self, machine: &M) -> Jacobian<G::Coordinate> {
        let half = u64::from(self.window.half());
        let lowest = machine.load(self.buckets, machine.small(0)).negated(); // the digit −2ʷ⁻¹ has no opposite
        let start = (lowest, lowest);
        let turn = |machine: &M, turn: M::Word, (running, total)| {
            let bucket = machine.load(self.buckets, machine.word_op(WordOp::Sub, machine.small(2 * half - 1), turn));
            let opposite = machine.word_op(WordOp::Add, turn, machine.small(1));
            let opposite = machine.load(self.buckets, opposite);
            let state = (running, total, bucket, opposite);
            if self.calls || self.window == Window::Nibble {
                machine.function(G::NAMES.turn, state, |_, state| turn_of(state))
            } else {
                turn_of(state)
            }
        };
        let (_, total) = match self.window {
            // Addresses are constants, and a call takes less gas than to compute them in a loop.
            Window::Nibble => (0..half - 1).fold(start, |state, index| turn(machine, machine.small(index), state)),
            Window::Byte => machine.repeat(machine.small(half - 1), start, turn),
        };
        total
    }
}

/// P ↦ 2ⁿ·P.
fn double<M: Machine, C: Coordinate<Base = M::Fe>>(machine: &M, count: usize, point: Jacobian<C>) -> Jacobian<C> {
    (0..count).fold(point, |point, _| point.double(machine.constant(&constants().pairing.three_halves)))
}

/// (R, A, B, C) ↦ (R + B − C, A + R + B − C).
fn turn_of<C: Coordinate>(
    (running, total, bucket, opposite): (Jacobian<C>, Jacobian<C>, Jacobian<C>, Jacobian<C>),
) -> (Jacobian<C>, Jacobian<C>) {
    let running = running + bucket.addend() + opposite.addend().negated();
    (running, total + running.addend())
}

fn add<M: Machine, G: ProductGroup<M>>(
    machine: &M,
    a: Jacobian<G::Coordinate>,
    b: Jacobian<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
    machine.function(G::NAMES.add, (a, b), |_, (a, b)| a + b.addend())
}
