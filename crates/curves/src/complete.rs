//! Complete formulas for y² = x³ + b in homogeneous projective coordinates, and multiples by a scalar at run time.
//!
//! Renes, Costello and Batina 2015 (2015/1060): they hold for all pairs of points of a curve without points of order two,
//! the identity (0 : 1 : 0) included. Both curves of BLS12-381 are such: their cofactors are odd.

use crate::group::{Affine, Coordinate, Projective};
use residue_formula::scope::enter;
use residue_ir::{Bundle, Machine, WordOp};

impl<C: Coordinate> Projective<C> {
    /// (P, Q) ↦ P + Q, where `times_3b` multiplies by 3b. 2015/1060, algorithm 7.
    #[must_use]
    pub fn add_complete(self, other: Self, times_3b: impl Fn(C) -> C) -> Self {
        let _scope = enter("add_complete");
        let Self { x: x1, y: y1, z: z1 } = self;
        let Self { x: x2, y: y2, z: z2 } = other;
        let xx = x1 * x2; //                                 X₁X₂
        let yy = y1 * y2; //                                 Y₁Y₂
        let zz = z1 * z2; //                                 Z₁Z₂
        let xy = (x1 + y1) * (x2 + y2) - (xx + yy); //       X₁Y₂ + X₂Y₁
        let yz = (y1 + z1) * (y2 + z2) - (yy + zz); //       Y₁Z₂ + Y₂Z₁
        let xz = (x1 + z1) * (x2 + z2) - (xx + zz); //       X₁Z₂ + X₂Z₁
        sum_of_products([xx, yy, zz], [xy, yz, xz], times_3b)
    }

    /// (P, Q) ↦ P + Q for a Q that is not the identity, where `times_3b` multiplies by 3b. 2015/1060, algorithm 8.
    #[must_use]
    pub fn add_mixed_complete(self, other: Affine<C>, times_3b: impl Fn(C) -> C) -> Self {
        let _scope = enter("add_mixed_complete");
        let Self { x: x1, y: y1, z: z1 } = self;
        let Affine { x: x2, y: y2 } = other;
        let xx = x1 * x2; //                                 X₁X₂
        let yy = y1 * y2; //                                 Y₁Y₂
        let xy = (x1 + y1) * (x2 + y2) - (xx + yy); //       X₁Y₂ + X₂Y₁
        let yz = y1 + y2 * z1; //                            Y₁Z₂ + Y₂Z₁, Z₂ = 1
        let xz = x1 + x2 * z1; //                            X₁Z₂ + X₂Z₁
        sum_of_products([xx, yy, z1], [xy, yz, xz], times_3b)
    }

    /// P ↦ 2P, where `times_3b` multiplies by 3b. 2015/1060, algorithm 9.
    #[must_use]
    pub fn double_complete(self, times_3b: impl Fn(C) -> C) -> Self {
        let _scope = enter("double_complete");
        let Self { x, y, z } = self;
        let yy = y.squared(); //                             Y²
        let yy2 = yy + yy;
        let yy4 = yy2 + yy2;
        let yy8 = yy4 + yy4; //                              8Y²
        let zz3b = times_3b(z.squared()); //                 3b·Z²
        let minus = yy - (zz3b + zz3b + zz3b); //            Y² − 9b·Z²
        let half_x = minus * (x * y);
        Self { x: half_x + half_x, y: zz3b * yy8 + minus * (yy + zz3b), z: y * z * yy8 }
    }
}

/// The sum from X₁X₂, Y₁Y₂, Z₁Z₂ and X₁Y₂ + X₂Y₁, Y₁Z₂ + Y₂Z₁, X₁Z₂ + X₂Z₁: what both additions have in common.
fn sum_of_products<C: Coordinate>(
    [xx, yy, zz]: [C; 3],
    [xy, yz, xz]: [C; 3],
    times_3b: impl Fn(C) -> C,
) -> Projective<C> {
    let xx3 = xx + xx + xx; //                               3X₁X₂
    let zz3b = times_3b(zz); //                              3b·Z₁Z₂
    let xz3b = times_3b(xz); //                              3b(X₁Z₂ + X₂Z₁)
    let (plus, minus) = (yy + zz3b, yy - zz3b); //           Y₁Y₂ ± 3b·Z₁Z₂
    Projective { x: xy * minus - yz * xz3b, y: minus * plus + xz3b * xx3, z: plus * yz + xx3 * xy }
}

/// (k, P) ↦ k·P for any word k by double and add over its 256 bits; `identity` is (0 : 1 : 0).
pub fn multiply<M, C>(
    machine: &M,
    scalar: M::Word,
    point: Projective<C>,
    identity: Projective<C>,
    times_3b: impl Fn(C) -> C + Copy,
) -> Projective<C>
where
    M: Machine,
    C: Coordinate + Bundle<M::Fe>,
{
    machine.repeat(machine.small(256), identity, |machine, turn, multiple| {
        let double = multiple.double_complete(times_3b);
        let bit = machine.bit(scalar, machine.word_op(WordOp::Sub, machine.small(255), turn));
        machine.branch(bit, |_| double.add_complete(point, times_3b), |_| double)
    })
}
