//! The Miller loop over [`PAIRS`] pairs with affine points: Lauter, Montgomery and Naehrig 2010 (2010/363), “An analysis of affine coordinates for
//! pairing computation”. All slopes of a step share one inversion (§4.1), which is a power by p − 2 where no instruction inverts; so there have to
//! be many pairs. A line through affine points has a coefficient 1, as those of constant points do, see [`super::fixed`].
//!
//! For a digit of ±1, 2T ± Q is computed as (T ± Q) + T, whose y no step needs, with one inversion for both slopes: Eisenträger, Lauter and
//! Montgomery 2003, “Fast elliptic curve arithmetic and improved Weil pairing evaluation”, §2 and 3. The line through T and ±Q takes the place of the
//! tangent at T in f, up to vertical lines, which lie in a subfield.
//!
//! A slope without a finite value has a denominator 0; all inverses of the step are 0 then. The product of all denominators of all steps says whether
//! that ever happened; for Q in G2 it does not, as multiples of Q by what the loop adds up to are neither equal nor opposite.

use super::fixed::{FixedLine, FixedPoint};
use super::miller::{self, Pairs, Running, add_images, projective};
use super::steps::EvaluationPoint;
use super::{Family, PairingCurve};
use crate::conditions::Conditions;
use crate::group::{Affine, Coordinate};
use crate::ladder::signed_digits;
use crate::tower::{Fp2, Fp12, Tower};
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};
use residue_ir::{Capacity, Feature, Machine, SequenceStep, WordOp};

/// Largest number of pairs, the same as of the other loop.
pub const PAIRS: usize = super::miller::PAIRS_MAX;
/// Values that are there together, and constants.
const SLOTS: u32 = 240;

/// The state of the loop.
#[derive(Clone, Copy, Debug)]
struct State<F, C> {
    f: Fp12<F, C>,
    /// The multiples of the points Q.
    t: [Affine<Fp2<F, C>>; PAIRS],
    /// The points P, as lines take them.
    p: [FixedPoint<F>; PAIRS],
    /// Q, or −Q.
    q: [Affine<Fp2<F, C>>; PAIRS],
    /// The product of all denominators.
    denominators: F,
}

bundle!(State<C: Tower> {
    f: Fp12<F, C>,
    t: [Affine<Fp2<F, C>>; PAIRS],
    p: [FixedPoint<F>; PAIRS],
    q: [Affine<Fp2<F, C>>; PAIRS],
    denominators: F
});

/// The parts of the loop, in the order of their code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// f ↦ f².
    Square,
    /// T ↦ 2T.
    Double,
    /// Q comes next.
    Plus,
    /// −Q comes next.
    Minus,
    /// f ↦ f², T ↦ 2T ± Q.
    DoubleAndAdd,
}

const PARTS: [Part; 5] = [Part::Square, Part::Double, Part::Plus, Part::Minus, Part::DoubleAndAdd];

impl Part {
    /// Its place in [`PARTS`].
    const fn number(self) -> usize {
        self as usize
    }

    /// Number of the part that always follows.
    const fn then(self) -> Option<usize> {
        match self {
            Part::Square => Some(Part::Double.number()),
            Part::Plus | Part::Minus => Some(Part::DoubleAndAdd.number()),
            Part::Double | Part::DoubleAndAdd => None,
        }
    }

    /// The parts with which steps begin, for digits below the first: 1 need not be squared.
    fn order<W>(digits: &[i8]) -> Vec<SequenceStep<W>> {
        let part = |(position, &digit): (usize, &i8)| match (digit, position) {
            (0, 0) => Part::Double,
            (0, _) => Part::Square,
            (1.., _) => Part::Plus,
            (..0, _) => Part::Minus,
        };
        digits.iter().skip(1).enumerate().map(part).map(|part| SequenceStep::Part(part.number())).collect()
    }
}

/// [`miller::positive_miller_loop`] without a witness; for [`PAIRS`] pairs on curves of the family BN the loop of this file, under interfaces whose
/// instructions are short enough for its code, those that know powers of two as moduli, and where code can name as many slots as it takes.
pub fn positive_miller_loop<M: Machine, C: PairingCurve>(
    machine: &M,
    pairs: &Pairs<M::Fe, C>,
    count: M::Word,
    conditions: Conditions<M::Fe>,
    keep: impl Fn(&M, Fp12<M::Fe, C>),
) -> Conditions<M::Fe> {
    let others = |machine: &M| miller::positive_miller_loop(machine, pairs, count, conditions, None, &keep);
    let Family::Bn { x } = C::FAMILY else { return others(machine) };
    let digits = signed_digits(6 * u128::from(x) + 2);
    let is_full = |machine: &M| machine.word_op(WordOp::Eq, count, machine.small(PAIRS as u64)); // usize to u64 widens
    let here = |machine: &M| affine_loop(machine, pairs, &digits, conditions, &keep);
    let with_room = |machine: &M| machine.branch(is_full(machine), here, others);
    let with_short_code = |machine: &M| machine.branch(machine.has(Feature::Slots(SLOTS)), with_room, others);
    machine.branch(machine.has(Feature::PowersOfTwo), with_short_code, others)
}

/// The loop over all of `pairs`, of which there are [`PAIRS`].
fn affine_loop<M: Machine, C: PairingCurve>(
    machine: &M,
    pairs: &Pairs<M::Fe, C>,
    digits: &[i8],
    conditions: Conditions<M::Fe>,
    keep: impl Fn(&M, Fp12<M::Fe, C>),
) -> Conditions<M::Fe> {
    let _scope = enter("affine_loop");
    let qs = machine.array("affine_q", Capacity::Fixed(1));
    let here = machine.small(0);
    let (p, inverted) = points(machine, pairs);
    let q = std::array::from_fn(|number| pairs.q(machine, machine.small(number as u64))); // usize to u64 widens
    machine.store(qs, here, q);
    let start = State { f: Fp12::one(machine.zero(), machine.one()), t: q, p, q, denominators: inverted };
    let then = PARTS.map(Part::then);
    let state = machine.sequence_of(&Part::order(digits), &then, start, |machine, part, state: State<M::Fe, C>| {
        match PARTS[part] {
            Part::Square => State { f: state.f.square(), ..state },
            Part::Double => doubled(machine, state),
            Part::Plus => State { q: machine.load(qs, machine.small(0)), ..state },
            Part::Minus => {
                let q: [Affine<Fp2<M::Fe, C>>; PAIRS] = machine.load(qs, machine.small(0));
                State { q: q.map(|q| Affine::new(q.x, -q.y)), ..state }
            }
            Part::DoubleAndAdd => doubled_and_added(machine, State { f: state.f.square(), ..state }),
        }
    });
    let ts = machine.array("affine_t", Capacity::Fixed(PAIRS as u32)); // a small number
    for (number, &t) in (0u64..).zip(&state.t) {
        machine.store(ts, machine.small(number), t);
    }
    let conditions = Conditions { invertible: conditions.invertible * state.denominators, ..conditions };
    let count = machine.small(PAIRS as u64); // usize to u64 widens
    let (f, conditions) = machine.repeat(count, (state.f, conditions), |machine, number, (f, conditions)| {
        let number = machine.bind(number);
        let t = projective(machine, machine.load(ts, number));
        let q = pairs.q(machine, number);
        let (f, running) = add_images(machine, f, Running { t, p: pairs.p(machine, number) }, q);
        (f, conditions.and(C::membership_from_multiple(machine, q, running.t)))
    });
    keep(machine, f);
    conditions
}

/// The points P as lines take them, and the product of what was inverted.
fn points<M: Machine, C: PairingCurve>(machine: &M, pairs: &Pairs<M::Fe, C>) -> ([FixedPoint<M::Fe>; PAIRS], M::Fe) {
    let given: [_; PAIRS] = std::array::from_fn(|number| pairs.p(machine, machine.small(number as u64))); // usize to u64 widens
    let (inverses, product) = inverses::<M, C>(machine, given.map(|p| p.y));
    let third = machine.constant(&C::constants().third);
    let point = |number: usize| {
        let (EvaluationPoint { minus_3x, .. }, inverse_y) = (given[number], inverses[number]);
        FixedPoint { x_over_y: minus_3x * third * inverse_y, inverse_y }
    };
    (std::array::from_fn(point), product)
}

/// (a₁ … aₙ) ↦ (a₁⁻¹ … aₙ⁻¹), and the product of all aᵢ; if that is 0, all inverses are. Montgomery 1987, “Speeding the Pollard and elliptic
/// curve methods of factorization”, §10.3.1.
fn inverses<M: Machine, C: PairingCurve>(machine: &M, values: [M::Fe; PAIRS]) -> ([M::Fe; PAIRS], M::Fe) {
    let mut products = vec![values[0]];
    for &value in &values[1..] {
        products.push(products[products.len() - 1] * value);
    }
    let product = products[PAIRS - 1];
    let mut rest = C::invert(machine, product);
    let mut inverses = values;
    for number in (1..PAIRS).rev() {
        inverses[number] = rest * products[number - 1];
        rest = rest * values[number];
    }
    inverses[0] = rest;
    (inverses, product)
}

/// f ↦ f·line, for the line with the slope λ and λ·x − y for a point (x, y) on it.
fn times_line<F: Fe, C: PairingCurve>(
    f: Fp12<F, C>,
    slope: Fp2<F, C>,
    intercept: Fp2<F, C>,
    p: FixedPoint<F>,
) -> Fp12<F, C> {
    let constant = if C::CUBE.is_some() { intercept.mul_by_conjugate_of_nonresidue() } else { intercept };
    // The coefficient of x has the other sign, and so has xP: see `points`.
    FixedLine { constant, of_x: slope }.times(f, p)
}

/// T ↦ 2T for each pair.
fn doubled<M: Machine, C: PairingCurve>(machine: &M, state: State<M::Fe, C>) -> State<M::Fe, C> {
    let State { mut f, mut t, p, q, denominators } = state;
    let three_halves = machine.constant(&C::constants().three_halves);
    let (inverses, product) = inverses::<M, C>(machine, t.map(|t| t.y.norm()));
    for number in 0..PAIRS {
        let Affine { x, y } = t[number];
        let (numerator, _) = x.three_halves_squared(three_halves).ratio(y);
        let slope = numerator.scale(inverses[number]); //       λ = (3/2)·x²/y
        let by = slope.multiplicand();
        let intercept = x * by - y; //                          c = λ·x − y
        let sum_x = slope.squared_minus_twice(x); //            x₃ = λ² − 2x
        t[number] = Affine::new(sum_x, intercept - sum_x * by); // y₃ = c − λ·x₃
        f = times_line(f, slope, intercept, p[number]);
    }
    State { f, t, p, q, denominators: denominators * product }
}

/// T ↦ (T + Q) + T for each pair.
fn doubled_and_added<M: Machine, C: PairingCurve>(machine: &M, state: State<M::Fe, C>) -> State<M::Fe, C> {
    let State { mut f, mut t, p, q, denominators } = state;
    let runs: [_; PAIRS] = std::array::from_fn(|number| {
        let (Affine { x, y }, Affine { x: xq, y: yq }) = (t[number], q[number]);
        let (dx, dy) = (x - xq, y - yq);
        let dxx = dx.square();
        let d = dy.square() - (x.double() + xq) * dxx; //       D = (x(T + Q) − x)·dx²
        (dx, dxx, d, dx * d)
    });
    let (inverses, product) = inverses::<M, C>(machine, runs.map(|(_, _, _, both)| both.norm()));
    for number in 0..PAIRS {
        let (Affine { x, y }, Affine { x: xq, y: yq }, (dx, dxx, d, both)) = (t[number], q[number], runs[number]);
        let inverse = both.conjugate().scale(inverses[number]).multiplicand(); // 1/(dx·D)
        let slope = (y - yq) * (d * inverse); //                λ = dy/dx
        let sum_x = slope.square() - (x + xq); //               x(T + Q) = λ² − x − xQ
        let over = dxx * (dx * inverse); //                     1/(x(T + Q) − x) = dx²/D
        let second = -(slope + (y * over).double()); //         λ₂ = −λ − 2y/(x(T + Q) − x)
        let by = second.multiplicand();
        let intercept = x * by - y; //                          c = λ₂·x − y
        let x3 = second.square() - (sum_x + x); //              x₃ = λ₂² − x(T + Q) − x
        t[number] = Affine::new(x3, intercept - x3 * by); //    y₃ = c − λ₂·x₃
        f = times_line(f, slope, slope * xq - yq, p[number]);
        f = times_line(f, second, intercept, p[number]);
    }
    State { f, t, p, q, denominators: denominators * product }
}
