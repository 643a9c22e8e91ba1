//! Complete formulas for y² = x³ + a·x + b, a = 0 or −3, in homogeneous projective coordinates, and multiples by a scalar at run
//! time.
//!
//! Renes, Costello and Batina 2015 (2015/1060): they hold for all pairs of points of a curve without points of order two,
//! the identity (0 : 1 : 0) included. Both curves of BLS12-381 are such, as their cofactors are odd, and so are curves of prime
//! order.

use crate::group::{Affine, Coordinate, Projective};
use residue_formula::scope::enter;
use residue_ir::{Bundle, Machine, WordOp};

/// Curve-specific parts of the complete formulas.
pub trait Complete<C: Coordinate> {
    /// The sum from X₁X₂, Y₁Y₂, Z₁Z₂ and X₁Y₂ + X₂Y₁, Y₁Z₂ + Y₂Z₁, X₁Z₂ + X₂Z₁.
    fn sum(&self, squares: [C; 3], mixed: [C; 3]) -> Projective<C>;

    /// P ↦ 2P.
    fn double(&self, point: Projective<C>) -> Projective<C>;
}

/// a = 0, with what multiplies by 3b.
#[derive(Clone, Copy)]
pub struct AZero<T>(pub T);

/// a = −3, with what multiplies by b.
#[derive(Clone, Copy)]
pub struct AMinusThree<T>(pub T);

impl<C: Coordinate, T: Fn(C) -> C> Complete<C> for AZero<T> {
    /// 2015/1060, algorithms 7 and 8.
    fn sum(&self, [xx, yy, zz]: [C; 3], [xy, yz, xz]: [C; 3]) -> Projective<C> {
        let xx3 = xx + xx + xx; //                               3X₁X₂
        let zz3b = (self.0)(zz); //                              3b·Z₁Z₂
        let xz3b = (self.0)(xz); //                              3b(X₁Z₂ + X₂Z₁)
        let (plus, minus) = (yy + zz3b, yy - zz3b); //           Y₁Y₂ ± 3b·Z₁Z₂
        Projective { x: xy * minus - yz * xz3b, y: minus * plus + xz3b * xx3, z: plus * yz + xx3 * xy }
    }

    /// 2015/1060, algorithm 9.
    fn double(&self, Projective { x, y, z }: Projective<C>) -> Projective<C> {
        let yy = y.squared(); //                             Y²
        let yy2 = yy + yy;
        let yy4 = yy2 + yy2;
        let yy8 = yy4 + yy4; //                              8Y²
        let zz3b = (self.0)(z.squared()); //                 3b·Z²
        let minus = yy - (zz3b + zz3b + zz3b); //            Y² − 9b·Z²
        let half_x = minus * (x * y);
        Projective { x: half_x + half_x, y: zz3b * yy8 + minus * (yy + zz3b), z: y * z * yy8 }
    }
}

/// Y₁Y₂ ± 3(X₁Z₂ + X₂Z₁ − b·Z₁Z₂), 3(b(X₁Z₂ + X₂Z₁) − 3Z₁Z₂ − X₁X₂) and 3(X₁X₂ − Z₁Z₂), for a = −3.
fn parts<C: Coordinate>([xx, yy, zz]: [C; 3], xz: C, times_b: impl Fn(C) -> C) -> [C; 4] {
    let triple = |value: C| value + value + value;
    let m = triple(xz - times_b(zz));
    let zz3 = triple(zz);
    let d = triple(times_b(xz) - zz3 - xx);
    [yy + m, yy - m, d, triple(xx) - zz3]
}

impl<C: Coordinate, T: Fn(C) -> C> Complete<C> for AMinusThree<T> {
    /// 2015/1060, algorithms 4 and 5.
    fn sum(&self, squares: [C; 3], [xy, yz, xz]: [C; 3]) -> Projective<C> {
        let [plus, minus, d, e] = parts(squares, xz, &self.0);
        Projective { x: xy * plus - yz * d, y: plus * minus + e * d, z: yz * minus + xy * e }
    }

    /// 2015/1060, algorithm 6.
    fn double(&self, Projective { x, y, z }: Projective<C>) -> Projective<C> {
        let yy = y.squared();
        let [xy, yz, xz] = [x * y, y * z, x * z].map(|product| product + product);
        let [plus, minus, d, e] = parts([x.squared(), yy, z.squared()], xz, &self.0);
        let zz2 = yz * yy;
        let zz4 = zz2 + zz2;
        Projective { x: xy * plus - yz * d, y: plus * minus + e * d, z: zz4 + zz4 } // Z₃ = 8Y³Z
    }
}

impl<C: Coordinate> Projective<C> {
    /// (P, Q) ↦ P + Q.
    #[must_use]
    pub fn add_complete(self, other: Self, curve: &impl Complete<C>) -> Self {
        let _scope = enter("add_complete");
        let Self { x: x1, y: y1, z: z1 } = self;
        let Self { x: x2, y: y2, z: z2 } = other;
        let xx = x1 * x2; //                                 X₁X₂
        let yy = y1 * y2; //                                 Y₁Y₂
        let zz = z1 * z2; //                                 Z₁Z₂
        let xy = (x1 + y1) * (x2 + y2) - (xx + yy); //       X₁Y₂ + X₂Y₁
        let yz = (y1 + z1) * (y2 + z2) - (yy + zz); //       Y₁Z₂ + Y₂Z₁
        let xz = (x1 + z1) * (x2 + z2) - (xx + zz); //       X₁Z₂ + X₂Z₁
        curve.sum([xx, yy, zz], [xy, yz, xz])
    }

    /// (P, Q) ↦ P + Q for a Q that is not the identity.
    #[must_use]
    pub fn add_mixed_complete(self, other: Affine<C>, curve: &impl Complete<C>) -> Self {
        let _scope = enter("add_mixed_complete");
        let Self { x: x1, y: y1, z: z1 } = self;
        let Affine { x: x2, y: y2 } = other;
        let xx = x1 * x2; //                                 X₁X₂
        let yy = y1 * y2; //                                 Y₁Y₂
        let xy = (x1 + y1) * (x2 + y2) - (xx + yy); //       X₁Y₂ + X₂Y₁
        let yz = y1 + y2 * z1; //                            Y₁Z₂ + Y₂Z₁, Z₂ = 1
        let xz = x1 + x2 * z1; //                            X₁Z₂ + X₂Z₁
        curve.sum([xx, yy, z1], [xy, yz, xz])
    }

    /// P ↦ 2P.
    #[must_use]
    pub fn double_complete(self, curve: &impl Complete<C>) -> Self {
        let _scope = enter("double_complete");
        curve.double(self)
    }
}

/// (k, P) ↦ k·P for any word k by double and add over its 256 bits; `identity` is (0 : 1 : 0).
pub fn multiply<M, C>(
    machine: &M,
    scalar: M::Word,
    point: Projective<C>,
    identity: Projective<C>,
    curve: &impl Complete<C>,
) -> Projective<C>
where
    M: Machine,
    C: Coordinate + Bundle<M::Fe>,
{
    machine.repeat(machine.small(256), identity, |machine, turn, multiple| {
        let double = multiple.double_complete(curve);
        let bit = machine.bit(scalar, machine.word_op(WordOp::Sub, machine.small(255), turn));
        machine.branch(bit, |_| double.add_complete(point, curve), |_| double)
    })
}
