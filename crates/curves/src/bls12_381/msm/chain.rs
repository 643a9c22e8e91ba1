//! The chain of a point: from P to z·P by doublings, with the additions to buckets on the way.

use super::Msm;
use super::digits::{QUARTER_BITS, indices, indices_of};
use super::group::MsmGroup;
use super::layout::Window;
use crate::bls12_381::constants::{X_ABS, constants};
use crate::group::{Addend, Coordinate, Jacobian};
use residue_ir::{Machine, Variable, WordOp};

/// Bits of a quarter that one call of `half` takes care of.
pub(super) const HALF_BITS: u32 = 32;

// What `chain` and `chain_of_calls` have z for.
const _: () = assert!(X_ABS == (1 << 16) + (1 << 48) + 7 * ((1 << 61) - (1 << 57)));
const _: () = assert!(X_ABS == (1 << 16) + (1 << 48) + 14 * ((1 << 60) - (1 << 56)));

impl<M: Machine, G: MsmGroup<M>> Msm<M, G> {
    /// True if the halves of a quarter are written out, for less gas and more code: for many points.
    pub(super) fn is_written_out(&self) -> bool {
        self.layout.window == Window::Byte
    }

    /// P ↦ z·P, with the additions to buckets on the way: z = 2¹⁶ + 2⁴⁸ + 7·(2⁶¹ − 2⁵⁷).
    pub(super) fn chain(&self, machine: &M, start: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let half = |first_bit, point| {
            if self.is_written_out() {
                return self.half(machine, first_bit, point);
            }
            if first_bit > 0 {
                self.digits.advance(machine, self.layout, HALF_BITS);
            }
            let half = |machine: &M, point| self.half(machine, 0, point).0;
            let points @ [p16, ..] = machine.function(G::NAMES.half[self.layout.window as usize], point, half);
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
            let addend = point.addend(); // goes again where it is never read
            match bit {
                16 => (p16, addend16) = (point, addend),
                25 => p25 = point,
                _ => (),
            }
            if bit.is_multiple_of(self.layout.window.bits()) {
                let bit = first_bit + bit;
                let digits = self.digits.0[(bit % self.layout.cell_bits / self.layout.window.bits()) as usize]; // u32 to usize widens
                images = self
                    .images(machine, digits, bit / self.layout.cell_bits * self.layout.cell_bits, addend)
                    .into_iter();
            }
            // One image at a time, so that the doublings after it have products beside theirs that do not wait for them.
            if bit.is_multiple_of(self.layout.window.bits() * G::CHAINS / 4) {
                sum.into_iter().for_each(|sum| self.buckets.put(machine, sum));
                sum = images.next().map(|image| self.buckets.with(machine, self.layout, image));
            }
            point = double(machine, 1, point);
        }
        let others = images.map(|image| self.buckets.with(machine, self.layout, image));
        sum.into_iter().chain(others).for_each(|sum| self.buckets.put(machine, sum));
        ([p16, p25, point], addend16)
    }

    /// As [`Self::chain`], by calls from window to window: z = 2¹⁶ + 2⁴⁸ + 14·(2⁶⁰ − 2⁵⁶).
    pub(super) fn chain_of_calls(&self, machine: &M, start: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let [double_1, double_3] = G::NAMES.double;
        let once = |machine: &M, point| machine.function(double_1, point, |machine, point| double(machine, 1, point));
        let thrice = |point| machine.function(double_3, point, |machine, p| once(machine, double(machine, 2, p)));
        let mut point = self.scatter_window(machine, start);
        let [mut p16, mut p48, mut p56] = [start; 3];
        for bit in (0..QUARTER_BITS).step_by(self.layout.window.bits() as usize).skip(1) {
            // u32 to usize widens
            point = self.step(machine, point);
            match bit {
                16 => p16 = point,
                48 => p48 = point,
                56 => p56 = point,
                _ => (),
            }
        }
        let p60 = match self.layout.window {
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
        machine.function(G::NAMES.step[self.layout.window as usize], point, |machine, point| {
            let count = self.layout.window.bits() as usize; // u32 to usize widens
            self.scatter_window(machine, double(machine, count, point))
        })
    }

    /// The additions to buckets for the lowest windows of the quarters that are left, and `point` again.
    fn scatter_window(&self, machine: &M, point: Jacobian<G::Coordinate>) -> Jacobian<G::Coordinate> {
        let [quarters, window, ..] = self.digits.0;
        machine.function(G::NAMES.scatter[self.layout.window as usize], point, |machine, point| {
            let digits = machine.bind(machine.get(quarters));
            let indices = indices(machine, self.layout, digits, 0);
            machine.set_indices(window, self.buckets.array, indices, indices_of(self.layout));
            let bits = machine.small(u64::from(self.layout.window.bits()));
            machine.set(quarters, machine.word_op(WordOp::Shr, digits, bits));
            self.scatter(machine, window, 0, point.addend());
            point
        })
    }

    /// Adds `point` and its images to the buckets that `digits` name, the first of them in the cell at `first_bit`.
    fn scatter(&self, machine: &M, digits: Variable, first_bit: u32, point: Addend<G::Coordinate>) {
        for image in self.images(machine, digits, first_bit, point) {
            self.buckets.put(machine, self.buckets.with(machine, self.layout, image));
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
}

/// P ↦ 2ⁿ·P.
fn double<M: Machine, C: Coordinate<Base = M::Fe>>(machine: &M, count: usize, point: Jacobian<C>) -> Jacobian<C> {
    (0..count).fold(point, |point, _| point.double(machine.constant(&constants().pairing.three_halves)))
}

fn add<M: Machine, G: MsmGroup<M>>(
    machine: &M,
    a: Jacobian<G::Coordinate>,
    b: Jacobian<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
    machine.function(G::NAMES.add, (a, b), |_, (a, b)| a + b.addend())
}
