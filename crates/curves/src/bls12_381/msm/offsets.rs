//! Points of small order that buckets begin with, see [`crate::bls12_381::torsion`].

use super::{MsmGroup, Window};
use crate::bls12_381::Fp2;
use crate::bls12_381::torsion::{ConstantCoordinate, multiple, torsion_point};
use crate::group::{Affine, Jacobian};
use residue_ir::Machine;
use residue_modular::fields::Bls12_381Fp;
use std::sync::LazyLock;

/// Points that buckets begin with.
#[derive(Debug)]
pub struct Offsets<C> {
    /// T: all others.
    pub one: Affine<C>,
    /// 3T: that of the largest digit.
    pub three: Affine<C>,
    /// For each window −s·T: that of the smallest digit.
    pub lowest: [Affine<C>; 2],
}

pub(super) static G1_OFFSETS: LazyLock<Offsets<Bls12_381Fp>> = LazyLock::new(Offsets::new);
pub(super) static G2_OFFSETS: LazyLock<Offsets<Fp2<Bls12_381Fp>>> = LazyLock::new(Offsets::new);

/// s. Both sums begin with s·T from the bucket of −2ʷ⁻¹; the running sum R has (s + 2)·T after the first of 2ʷ⁻¹ − 1 turns, and
/// keeps it; and so the total has (2ʷ⁻¹·s + 2·(2ʷ⁻¹ − 1))·T in the end, which s makes the identity. Until then no two points that
/// are added have the same or opposite multiples of T; the last turn's have opposite ones, so that all is well unless they
/// are opposite points, whose sum is the identity.
fn lowest_offset(window: Window, order: u32) -> u32 {
    let (half, order) = (u64::from(window.half()), u64::from(order));
    let divisible = (0..half).map(|turn| turn * order).find(|&multiple| (multiple + 2).is_multiple_of(half));
    let quotient = (divisible.expect("the order is odd") + 2) / half; // 2/2ʷ⁻¹
    u32::try_from((quotient + order - 2) % order).expect("it is below the order")
}

impl<C: ConstantCoordinate> Offsets<C> {
    fn new() -> Self {
        let one = torsion_point::<C>();
        let times = |m: u32| multiple(one, &m.into()).expect("T has a large order");
        let lowest = [Window::Nibble, Window::Byte].map(|window| times(C::TORSION - lowest_offset(window, C::TORSION)));
        Self { one, three: times(3), lowest }
    }
}

/// A constant point, with Z = 1.
pub(in crate::bls12_381) fn constant_point<M: Machine, G: MsmGroup<M>>(
    machine: &M,
    point: Affine<G::Constant>,
) -> Jacobian<G::Coordinate> {
    let Affine { x, y } = point;
    Affine::new(G::lift(machine, x), G::lift(machine, y)).to_jacobian(machine.one())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<C: ConstantCoordinate + std::fmt::Debug>(offsets: &Offsets<C>) {
        let Offsets { one: t, three, lowest } = offsets;
        assert_eq!(t.y.squared(), t.x * t.x.squared() + C::b());
        assert!((2..1000u32).all(|divisor| !C::TORSION.is_multiple_of(divisor)), "the order is prime");
        let times = |m: u32| multiple(*t, &m.into());
        let opposite = times(C::TORSION - 1).unwrap(); // has Z = 0 unless only the last step is exceptional
        assert_eq!((opposite.x, opposite.y), (t.x, -t.y), "(n − 1)·T is −T");
        assert_eq!(times(3), Some(*three));
        for (window, lowest) in [Window::Nibble, Window::Byte].into_iter().zip(lowest) {
            let expected = times(lowest_offset(window, C::TORSION)).unwrap();
            assert_eq!((expected.x, -expected.y), (lowest.x, lowest.y));
            what_is_added_differs(window, C::TORSION.into());
        }
    }

    /// Multiples of T, modulo its order, follow the weighted sum of buckets.
    fn what_is_added_differs(window: Window, order: u64) {
        let start = u64::from(lowest_offset(window, u32::try_from(order).unwrap()));
        let (mut running, mut total) = (start, start);
        let add = |a: &mut u64, b: u64, may_be_opposite: bool| {
            assert!(*a != 0 && b != 0 && *a != b, "{a} and {b} modulo {order}");
            assert!(may_be_opposite || *a + b != order, "{a} and {b} modulo {order}");
            *a = (*a + b) % order;
        };
        for turn in 1..window.half() {
            add(&mut running, if turn == 1 { 3 } else { 1 }, false);
            add(&mut running, order - 1, false);
            add(&mut total, running, turn + 1 == window.half());
        }
        assert_eq!(total, 0);
    }

    #[test]
    fn sums_begin_so_far_outside_the_groups_that_no_exception_is_met() {
        check(&G1_OFFSETS);
        check(&G2_OFFSETS);
    }
}
