//! Multi-scalar multiplication: Σ sᵢ·Pᵢ over points of G1 or G2, with the check that each Pᵢ is in its group.
//!
//! The check computes z·P (or z²·P), z = |x|, by doublings: from right to left, so that it passes all 2ⁱ·P. A scalar is
//! written to the base z, s = Σ bⱼ·zʲ with four quarters of less than 64 bits, and each quarter in windows of w bits. As z²·P = −φ(P)
//! on G1 and z·Q = −ψ(Q) on G2 (Scott 2021, 2021/1130), every part of s·P is a small multiple d of a point that the check
//! passes, or of an image of it: it is added to bucket d (Yao 1976; Brickell, Gordon, McCurley and Wilson 1992, algorithm 1).
//! The chain follows z = 2¹⁶ + 2⁴⁸ + 7·(2⁶¹ − 2⁵⁷), or 14·(2⁶⁰ − 2⁵⁶) for the last; no two multiples of a point that it adds
//! are equal or opposite.
//! There is one set of buckets B for all points and windows; at the end Σ d·B_d is taken by running sums (Pippenger 1976).
//! Digits are signed without any carry at run time: see [`Window`] and [`digits`]. For few points of G2 there is a way without
//! memory: [`units`].
//!
//! Points may repeat and cancel. Additions are incomplete all the same: buckets, and with them running sums, begin with
//! multiples of a point T of small order, see [`super::torsion`]. Within the chain of a point the argument of
//! [`super::g1::membership`] holds: Z ≠ 0 for a member, and if Z ≠ 0 then all was computed without an exceptional case.

mod buckets;
mod chain;
pub(super) mod digits;
mod group;
pub mod layout;
pub(super) mod offsets;
pub mod units;

use crate::conditions::Conditions;
use crate::group::{Affine, Jacobian};
use buckets::Buckets;
use chain::HALF_BITS;
use digits::{Digits, QUARTER_BITS, added, quarters};
pub use group::{MsmGroup, Names};
pub use layout::{Layout, Window};
pub use offsets::Offsets;
use residue_ir::{Machine, WordOp};

/// An MSM on its way.
pub struct Msm<M: Machine, G: MsmGroup<M>> {
    layout: Layout,
    buckets: Buckets<M, G>,
    digits: Digits,
}

impl<M: Machine, G: MsmGroup<M>> Msm<M, G> {
    /// The variables and the array of sums; one program may have several sums, one after the other.
    pub fn new(machine: &M, layout: Layout) -> Self {
        Self { layout, buckets: Buckets::new(machine), digits: Digits::new(machine) }
    }

    /// This sum with another window.
    #[must_use]
    pub fn with_window(&self, window: Window) -> Self {
        Self { layout: self.layout.with_window(window), ..*self }
    }

    /// Begins with nothing.
    pub fn clear(&self, machine: &M) {
        self.buckets.clear(machine, self.layout.window);
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
        let quarters = machine.word_op(WordOp::Add, quarters, machine.word(added(self.layout.window)));
        self.digits.begin(machine, self.layout, self.buckets.array, quarters);
        let mut multiple = point.to_jacobian(machine.one());
        for chain in 0..G::CHAINS {
            if chain > 0 && !self.layout.calls {
                self.digits.advance(machine, self.layout, if self.is_written_out() { QUARTER_BITS } else { HALF_BITS });
            }
            let chain = |machine: &M, point| {
                if self.layout.calls { self.chain_of_calls(machine, point) } else { self.chain(machine, point) }
            };
            multiple = if G::CHAINS > 1 {
                machine.function(G::NAMES.chain[self.layout.window as usize], multiple, chain)
            } else {
                chain(machine, multiple)
            };
        }
        multiple
    }

    /// The sum; Z = 0 if it is the identity.
    pub fn finish(&self, machine: &M) -> Jacobian<G::Coordinate> {
        self.buckets.sum(machine, self.layout)
    }
}
