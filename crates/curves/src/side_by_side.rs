//! Several values side by side: the text of one point computes on all of them, an operation for each in turn, so that code has
//! them as lanes of one instruction and products find others that do not wait for them.

use crate::group::{Affine, Coordinate, Jacobian};
use crate::ladder::ladder;
use core::array::from_fn;
use core::ops::{Add, Mul, Neg, Sub};
use num_bigint::BigUint;
use residue_formula::Fe;
use residue_ir::{Bundle, Machine};

/// N values, each operation on all of them.
#[derive(Clone, Copy, Debug)]
pub struct SideBySide<F, const N: usize>(pub [F; N]);

impl<F: Fe, const N: usize> SideBySide<F, N> {
    /// The same value N times.
    pub fn all(value: F) -> Self {
        Self([value; N])
    }

    fn zip(self, other: Self, operation: impl Fn(F, F) -> F) -> Self {
        Self(from_fn(|i| operation(self.0[i], other.0[i])))
    }
}

impl<F: Fe, const N: usize> Add for SideBySide<F, N> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl<F: Fe, const N: usize> Sub for SideBySide<F, N> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl<F: Fe, const N: usize> Mul for SideBySide<F, N> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl<F: Fe, const N: usize> Neg for SideBySide<F, N> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.map(|a| -a))
    }
}

impl<F: Fe, const N: usize> Coordinate for SideBySide<F, N> {
    type Base = F;
    type Denominator = Self;

    fn squared(self) -> Self {
        Self(self.0.map(Fe::square))
    }

    fn scaled(self, factor: Self) -> Self {
        self * factor
    }

    fn ratio(self, denominator: Self) -> (Self, Self) {
        (self, denominator)
    }

    /// n is b, and so this is (n²)².
    fn times_cube(self, _: Self, nn: Self) -> Self {
        nn.squared()
    }

    fn three_halves_squared(self, three_halves: F) -> Self {
        self.squared() * Self::all(three_halves)
    }
}

impl<F: Fe, const N: usize> Bundle<F> for SideBySide<F, N> {
    const LEN: usize = N;

    fn collect(&self, values: &mut Vec<F>) {
        values.extend(self.0);
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        Self(Bundle::build(values))
    }
}

impl<F: Fe, const N: usize> Affine<SideBySide<F, N>> {
    /// `points` side by side.
    pub fn of(points: [Affine<F>; N]) -> Self {
        Self::new(SideBySide(points.map(|point| point.x)), SideBySide(points.map(|point| point.y)))
    }
}

impl<F: Fe, const N: usize> Jacobian<SideBySide<F, N>> {
    /// `points` side by side.
    pub fn of(points: [Jacobian<F>; N]) -> Self {
        let [x, y, z] = [points.map(|p| p.x), points.map(|p| p.y), points.map(|p| p.z)].map(SideBySide);
        Self { x, y, z }
    }

    /// Each of the points.
    pub fn apart(self) -> [Jacobian<F>; N] {
        from_fn(|number| Jacobian { x: self.x.0[number], y: self.y.0[number], z: self.z.0[number] })
    }
}

impl<F: Fe> Jacobian<SideBySide<F, 1>> {
    /// The one point.
    pub fn alone(self) -> Jacobian<F> {
        let [[x], [y], [z]] = [self.x.0, self.y.0, self.z.0];
        Jacobian { x, y, z }
    }
}

/// Parts of the chain for x.
const DOUBLE: usize = 0;
const DOUBLE_RUN: usize = 1;
const ADD: usize = 2;

/// (x, 3/2, P) ↦ x·P for several points of y² = x³ + b, and an x that is the program's one, as a function whose parts follow each other in constant order: a part is eight bytes of code
/// for each operation of one point, and going on to the next takes as much gas as half a doubling; doublings go one by one and
/// `run` at a time.
pub(crate) fn multiply_all<M: Machine, const N: usize>(
    machine: &M,
    x: u64,
    three_halves: &BigUint,
    points: Jacobian<SideBySide<M::Fe, N>>,
    run: usize,
) -> Jacobian<SideBySide<M::Fe, N>> {
    let name = match (N, run) {
        (1, 4) => "g1_multiply_by_x_abs",
        (1, 8) => "g1_multiply_by_x_abs_in_eights",
        (2, 4) => "g1_multiply_two_by_x_abs",
        (4, 4) => "g1_multiply_four_by_x_abs",
        _ => unreachable!("a function for each number of points"),
    };
    machine.function(name, points, |machine, points| {
        let addends = points.addend();
        let doublings = |(): &(), count: u32, order: Vec<usize>| {
            let (runs, ones) = (count as usize / run, count as usize % run); // u32 to usize widens.
            [order, vec![DOUBLE; ones], vec![DOUBLE_RUN; runs]].concat()
        };
        let order = ladder(&(), x, Vec::new(), doublings, |(), order| [order, vec![ADD]].concat());
        let double = |points: Jacobian<_>| points.double(machine.constant(three_halves));
        machine.sequence(&order, 3, points, |_, part, points| match part {
            DOUBLE => double(points),
            DOUBLE_RUN => (0..run).fold(points, |points, _| double(points)),
            _ => points + addends,
        })
    })
}
