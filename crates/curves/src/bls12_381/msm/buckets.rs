//! Buckets: sums of points by the digit that they are multiplied by, in memory, and their weighted sum.

use super::digits::indices_of;
use super::group::MsmGroup;
use super::layout::{Layout, Window};
use super::offsets::constant_point;
use crate::group::{Addend, Coordinate, Jacobian};
use residue_ir::{Array, Capacity, Machine, Variable, WordOp};

/// The buckets of an MSM.
pub(super) struct Buckets<M: Machine, G: MsmGroup<M>> {
    /// Element d: the sum of what scalars have d times.
    pub(super) array: Array<Jacobian<G::Coordinate>>,
}

impl<M: Machine, G: MsmGroup<M>> Clone for Buckets<M, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine, G: MsmGroup<M>> Copy for Buckets<M, G> {}

impl<M: Machine, G: MsmGroup<M>> Buckets<M, G> {
    /// Room for them.
    pub(super) fn new(machine: &M) -> Self {
        Self { array: machine.array("buckets", Capacity::Unbounded) }
    }

    /// Buckets that hold nothing.
    pub(super) fn clear(&self, machine: &M, window: Window) {
        let count = window.buckets();
        machine.reserve(self.array, machine.small(u64::from(count)));
        let offsets = G::offsets();
        let point = |point| constant_point::<M, G>(machine, point);
        machine.fill(self.array, count, point(offsets.one));
        machine.store(self.array, machine.small(0), point(offsets.lowest[window as usize]));
        machine.store(self.array, machine.small(u64::from(count) - 1), point(offsets.three));
    }

    /// The bucket that an image's digit names, and what it holds with the image.
    pub(super) fn with(
        &self,
        machine: &M,
        layout: Layout,
        (digits, bit, image): (Variable, u32, Addend<G::Coordinate>),
    ) -> (M::Word, Jacobian<G::Coordinate>) {
        let digit = machine.index(digits, self.array, bit, indices_of(layout));
        (digit, machine.load(self.array, digit) + image)
    }

    /// Puts into a bucket what it is to hold.
    pub(super) fn put(&self, machine: &M, (digit, sum): (M::Word, Jacobian<G::Coordinate>)) {
        machine.store(self.array, digit, sum);
    }

    /// Σ d·B_d over digits d by running sums; Z = 0 if it is the identity.
    pub(super) fn sum(&self, machine: &M, layout: Layout) -> Jacobian<G::Coordinate> {
        let half = u64::from(layout.window.half());
        let lowest = machine.load(self.array, machine.small(0)).negated(); // the digit −2ʷ⁻¹ has no opposite
        let start = (lowest, lowest);
        let turn = |machine: &M, turn: M::Word, (running, total)| {
            let bucket = machine.load(self.array, machine.word_op(WordOp::Sub, machine.small(2 * half - 1), turn));
            let opposite = machine.word_op(WordOp::Add, turn, machine.small(1));
            let opposite = machine.load(self.array, opposite);
            let state = (running, total, bucket, opposite);
            if layout.calls || layout.window == Window::Nibble {
                machine.function(G::NAMES.turn, state, |_, state| turn_of(state))
            } else {
                turn_of(state)
            }
        };
        let (_, total) = match layout.window {
            // Addresses are constants, and a call takes less gas than to compute them in a loop.
            Window::Nibble => (0..half - 1).fold(start, |state, index| turn(machine, machine.small(index), state)),
            Window::Byte => machine.repeat(machine.small(half - 1), start, turn),
        };
        total
    }
}

/// (R, A, B, C) ↦ (R + B − C, A + R + B − C).
fn turn_of<C: Coordinate>(
    (running, total, bucket, opposite): (Jacobian<C>, Jacobian<C>, Jacobian<C>, Jacobian<C>),
) -> (Jacobian<C>, Jacobian<C>) {
    let running = running + bucket.addend() + opposite.addend().negated();
    (running, total + running.addend())
}
