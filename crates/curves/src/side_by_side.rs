//! Several values side by side: the text of one point computes on all of them, an operation for each in turn, so that code has
//! them as lanes of one instruction and products find others that do not wait for them.

use crate::group::{Affine, Coordinate, Jacobian};
use core::array::from_fn;
use core::ops::{Add, Mul, Neg, Sub};
use residue_formula::Fe;
use residue_ir::Bundle;

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
}

impl<F: Fe> Jacobian<SideBySide<F, 1>> {
    /// The one point.
    pub fn alone(self) -> Jacobian<F> {
        let [[x], [y], [z]] = [self.x.0, self.y.0, self.z.0];
        Jacobian { x, y, z }
    }
}
