//! Multiples of a constant point, for tables in code: affine arithmetic on numbers, when a program is recorded.

use crate::group::{Affine, Coordinate, Jacobian};
use num_bigint::BigUint;
use residue_formula::Number;

/// y² = x³ + a·x + b by a, which is all that sums need.
#[derive(Debug, Clone, Copy)]
pub struct Sums<F> {
    /// a.
    pub a: F,
}

impl<F: Number> Sums<F> {
    /// P + Q, `None` being the identity: Silverman, The Arithmetic of Elliptic Curves, III.2.3.
    pub fn add(self, p: Option<Affine<F>>, q: Option<Affine<F>>) -> Option<Affine<F>> {
        let (Some(p), Some(q)) = (p, q) else { return p.or(q) };
        let (rise, run) = if p.x == q.x {
            let square = p.x.square();
            (square + square + square + self.a, p.y + q.y)
        } else {
            (q.y - p.y, q.x - p.x)
        };
        let slope = rise * run.inverse()?; // P = −Q has no sum
        let x = slope.square() - p.x - q.x;
        Some(Affine::new(x, slope * (p.x - x) - p.y))
    }

    /// k·P.
    pub fn multiple(self, k: &BigUint, point: Affine<F>) -> Option<Affine<F>> {
        (0..k.bits()).rev().fold(None, |sum, bit| {
            let twice = self.add(sum, sum);
            if k.bit(bit) { self.add(twice, Some(point)) } else { twice }
        })
    }

    /// The canonical coordinates of P, 2P, … up to `count` of them, none of which may be the identity.
    pub fn consecutive(self, point: Affine<F>, count: usize) -> Vec<Vec<BigUint>> {
        let all = std::iter::successors(Some(Some(point)), |&last| Some(self.add(last, Some(point))));
        let canonical = |point: Option<Affine<F>>| {
            let point = point.expect("the order is above the number of multiples");
            vec![point.x.to_canonical(), point.y.to_canonical()]
        };
        all.take(count).map(canonical).collect()
    }
}

/// k·P on y² = x³ + b, over Fp or an extension of it, given 3/2, for P of a prime order that is above k and k ≥ 1: no prefix of k then is an exception.
pub fn multiple<F: Number, C: Coordinate<Base = F, Denominator = F>>(
    three_halves: F,
    k: &BigUint,
    point: Affine<C>,
) -> Affine<C> {
    let sum = (0..k.bits() - 1).rev().fold(point.to_jacobian(F::ONE), |sum, bit| {
        let twice = sum.double(three_halves);
        if k.bit(bit) { twice.add_mixed(point) } else { twice }
    });
    let Jacobian { x, y, z } = sum;
    let inverse = z.inverse().expect("k is below the order");
    let square = inverse.square();
    Affine::new(x.scaled(square), y.scaled(square * inverse))
}
