//! Lines of constant points by their slopes alone: half of the constants, for a product and a square in Fp2 more a line.
//!
//! Lines are Y = λX − c. One through T = (x, y) has c = λx − y, and T + R, with R the other point on it, has x′ = λ² − x − x(R) and y′ = c − λx′. So the line of the
//! next step, with the slope λ′, has c′ = λ′x′ − y′ = (λ + λ′)x′ − c, and y is of no use. A [`Chain`] has −λ and −c, as lines have −λ.

use super::{FixedLine, FixedPoint, Part, Rows, lines_of, on_twist_of_lines};
use crate::group::Affine;
use crate::pairing::{PairingCurve, Scale, psi};
use crate::tower::{Fp2, Tower};
use num_bigint::BigUint;
use residue_formula::{Fe, Number, bundle};
use residue_ir::{Bundle, Machine, Numbers};

/// The lines of constant points by their slopes.
#[derive(Debug)]
pub struct Slopes<C> {
    /// Of each step −λ of all points.
    pub rows: Vec<Vec<BigUint>>,
    /// The points.
    pub origins: Vec<Origin<C>>,
}

/// A constant point Q, where its multiples begin, and what is added to them.
#[derive(Debug)]
pub struct Origin<C> {
    q: Affine<Fp2<BigUint, C>>,
    /// x of ψ(Q).
    image: Fp2<BigUint, C>,
    /// x of ψ²(Q).
    second_image: Fp2<BigUint, C>,
}

impl<C: PairingCurve> Slopes<C> {
    /// Those of points, each in G2 and not the identity.
    pub fn new<N: Number>(points: &[Affine<Fp2<N, C>>]) -> Self {
        let machine = Numbers::<N>::new(Vec::new());
        let of_points: Vec<_> = points.iter().map(|&q| lines_of(q)).collect();
        let steps = of_points.first().map_or(0, Vec::len);
        let row = |step: usize| of_points.iter().flat_map(move |lines| lines[step].of_x.to_list()).map(N::to_canonical);
        let origin = |&q: &Affine<Fp2<N, C>>| {
            let q = on_twist_of_lines(&machine, q);
            let image = psi(&machine, q);
            Origin {
                q: Affine::new(q.x.to_canonical(), q.y.to_canonical()),
                image: image.x.to_canonical(),
                second_image: psi(&machine, image).x.to_canonical(),
            }
        };
        Self {
            rows: (0..steps).map(|step| row(step).collect()).collect(),
            origins: points.iter().map(origin).collect(),
        }
    }
}

/// The state of a constant point in the loop.
#[derive(Clone, Copy, Debug)]
pub struct Chain<F, T> {
    /// x of T.
    x: Fp2<F, T>,
    /// −λ of the last line.
    slope: Fp2<F, T>,
    /// −c of the last line.
    intercept: Fp2<F, T>,
    /// x of T and x of the point that is added to it.
    sum: Fp2<F, T>,
}

bundle!(Chain<T: Tower> { x: Fp2<F, T>, slope: Fp2<F, T>, intercept: Fp2<F, T>, sum: Fp2<F, T> });

impl<F: Fe, C: PairingCurve> Chain<F, C> {
    /// T = Q: the line through −Q with the slope zero has c = y.
    pub(super) fn start<M: Machine<Fe = F>>(machine: &M, origin: &Origin<C>) -> Self {
        let Affine { x, y } = &origin.q;
        let x = x.lift(machine);
        let zero = Fp2::new(machine.zero(), machine.zero());
        Self { x, slope: zero, intercept: -y.lift(machine), sum: x }
    }

    /// Before the line of a part is taken: what is added to T.
    pub(super) fn before<M: Machine<Fe = F>, const FIXED: usize, const CHAINED: usize>(
        machine: &M,
        part: Part,
        chains: [Self; CHAINED],
        rows: Rows<'_, F, C, FIXED>,
    ) -> [Self; CHAINED] {
        let Rows::Slopes(_, origins) = rows else { return chains };
        std::array::from_fn(|point| {
            let (chain, origin) = (chains[point], &origins[point]);
            let other = match part {
                Part::Doublings => chain.x,
                Part::Additions | Part::Subtractions => origin.q.x.lift(machine),
                Part::Image => origin.image.lift(machine),
                Part::SecondImage => origin.second_image.lift(machine),
                Part::Columns | Part::Square | Part::Lines | Part::Witness | Part::InverseWitness => return chain,
            };
            Self { sum: chain.x + other, ..chain }
        })
    }

    /// Given −λ of the next line: the line with ξ̄·(−c) or −c for its constant, and the state after it.
    pub(super) fn next(self, slope: Fp2<F, C>) -> (FixedLine<F, C>, Self) {
        let intercept = (self.slope + slope) * self.x - self.intercept;
        let constant = match &C::constants().scale {
            Some(Scale::Twist { .. }) => intercept.mul_by_conjugate_of_nonresidue(),
            Some(Scale::Both { .. } | Scale::TwistAlone { .. }) | None => intercept,
        };
        let x = slope.square() - self.sum;
        (FixedLine { constant, of_x: slope }, Self { x, slope, intercept, ..self })
    }
}

/// P for such lines, which lack the factor −1/k, or −1.
pub(super) fn scaled_for_slopes<M: Machine, C: PairingCurve>(machine: &M, p: FixedPoint<M::Fe>) -> FixedPoint<M::Fe> {
    let inverse_y = match &C::constants().scale {
        Some(Scale::Twist { minus_inverse_k, .. }) => p.inverse_y * machine.constant(minus_inverse_k),
        Some(Scale::Both { .. } | Scale::TwistAlone { .. }) | None => -p.inverse_y,
    };
    FixedPoint { inverse_y, ..p }
}
