//! Miller loops in which points Q are constants: their lines are constants too, and only P is to be put in.
//!
//! The line through multiples of Q is λX − Y − λ·xP + yP with factors that the twist says, see [`super::steps`] and [`Scale::Twist`]. Divided by
//! what stands with yP, which is yP times a number in Fp, it is l₀/yP + l·xP/yP times w or w², plus s: two elements of Fp2 are constants, and a product
//! with one coefficient 1 takes ten products in Fp2 where it takes thirteen. Pairs with other Q are in the same loop. [`slopes`] has a form of the lines that is half
//! as long, [`powers`] what becomes of a pair whose P is a constant too, or a multiple of one.

pub mod powers;
pub mod slopes;

use self::slopes::{Chain, Origin};
use super::miller::{Running, add, double, double_here, evaluation_point, projective, scaled};
use super::residue::{Residue, Sign};
use super::{Family, PairingCurve, Scale, Twist, psi};
use crate::conditions::Conditions;
use crate::group::Affine;
use crate::ladder::{binary_digits, signed_digits};
use crate::tower::{Fp2, Fp12, Tower};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number, bundle};
use residue_ir::{Bundle, Machine, Numbers, SequenceStep, Table, Variable, WordOp};

/// P of a pair whose Q is a constant.
#[derive(Clone, Copy, Debug)]
pub struct FixedPoint<F> {
    /// x/y; 0 for the identity.
    pub x_over_y: F,
    /// 1/y; 1 for the identity: see [`super::miller::stand_in`].
    pub inverse_y: F,
}

bundle!(FixedPoint { x_over_y: F, inverse_y: F });

/// A line of a constant point: l₀ and l.
#[derive(Clone, Copy, Debug)]
pub struct FixedLine<F, T> {
    /// Coefficient of 1/yP.
    pub constant: Fp2<F, T>,
    /// Coefficient of xP/yP.
    pub of_x: Fp2<F, T>,
}

bundle!(FixedLine<T: Tower> { constant: Fp2<F, T>, of_x: Fp2<F, T> });

impl<F: Fe, T: Tower> FixedLine<F, T> {
    /// f ↦ f·line, at P.
    pub(super) fn times(self, f: Fp12<F, T>, p: FixedPoint<F>) -> Fp12<F, T> {
        let (constant, of_x) = (self.constant.scale(p.inverse_y), self.of_x.scale(p.x_over_y));
        Self { constant, of_x }.times_itself(f)
    }

    /// f ↦ f·line, at a P where both coefficients stand for themselves.
    pub(super) fn times_itself(self, f: Fp12<F, T>) -> Fp12<F, T> {
        let Self { constant: l0, of_x: l } = self;
        if T::CUBE.is_some() { f.mul_by_monic_013(l0, l) } else { f.mul_by_monic_023(l0, l) }
    }

    /// The line there, as an element.
    fn element(self, zero: F, one: F) -> Fp12<F, T> {
        let Self { constant: l0, of_x: l } = self;
        let (zero, one) = (Fp2::new(zero, zero), Fp2::new(one, zero));
        let [l1, l2] = if T::CUBE.is_some() { [l, zero] } else { [zero, l] };
        Fp12::from_coefficients([l0, l1, l2, one, zero, zero])
    }
}

/// A pair (P, Q) of the loop, with T.
#[derive(Clone, Copy, Debug)]
pub struct Given<F, C> {
    running: Running<F, C>,
    q: Affine<Fp2<F, C>>,
}

bundle!(Given<C: Tower> { running: Running<F, C>, q: Affine<Fp2<F, C>> });

impl<F: Fe, C: PairingCurve> Given<F, C> {
    /// Of points on their curves, neither of them the identity; or [`super::miller::stand_in`] for an identity P.
    pub fn new<M: Machine<Fe = F>>(machine: &M, p: Affine<F>, q: Affine<Fp2<F, C>>) -> Self {
        let q = scaled(machine, q);
        Self { running: Running { t: projective(machine, q), p: evaluation_point::<M, C>(machine, p) }, q }
    }

    /// After the loop: what holds exactly if Q, which lies on the twist, is in G2.
    pub fn membership<M: Machine<Fe = F>>(&self, machine: &M) -> Conditions<F> {
        C::membership_from_multiple(machine, self.q, self.running.t)
    }
}

/// The lines of points, each in G2 and not the identity, as rows of a table: of each step those of all points.
pub fn lines<N: Number, C: PairingCurve>(points: &[Affine<Fp2<N, C>>]) -> Vec<Vec<BigUint>> {
    let of_points: Vec<_> = points.iter().map(|&q| lines_of(q)).collect();
    let steps = of_points.first().map_or(0, Vec::len);
    let row = |step: usize| of_points.iter().flat_map(move |lines| lines[step].to_list()).map(N::to_canonical);
    (0..steps).map(|step| row(step).collect()).collect()
}

/// The lines of one point in the order of the loop.
fn lines_of<N: Number, C: PairingCurve>(q: Affine<Fp2<N, C>>) -> Vec<FixedLine<N, C>> {
    let machine = Numbers::<N>::new(Vec::new());
    let q = on_twist_of_lines(&machine, q);
    let (mut t, mut lines) = (q, Vec::new());
    for part in order(C::FAMILY, true, false, 0) {
        let other = match part {
            Part::Doublings => t,
            Part::Additions => q,
            Part::Subtractions => opposite(q),
            Part::Image => psi(&machine, q),
            Part::SecondImage => opposite(psi(&machine, psi(&machine, q))),
            Part::Columns | Part::Square | Part::Lines | Part::Witness | Part::InverseWitness => continue,
        };
        let (sum, line) = chord(&machine, t, other);
        lines.push(line);
        t = sum;
    }
    lines
}

/// Q on the twist of the lines. A twist that is scaled in Fp gives the same pairing, and so do its lines.
fn on_twist_of_lines<N: Number, C: PairingCurve>(machine: &Numbers<N>, q: Affine<Fp2<N, C>>) -> Affine<Fp2<N, C>> {
    if matches!(C::constants().scale, Some(Scale::Twist { .. } | Scale::TwistAlone { .. })) {
        scaled(machine, q)
    } else {
        q
    }
}

fn opposite<F: Fe, T: Tower>(point: Affine<Fp2<F, T>>) -> Affine<Fp2<F, T>> {
    Affine::new(point.x, -point.y)
}

/// (T, Q) ↦ T + Q, and the line through both.
fn chord<N: Number, C: PairingCurve>(
    machine: &Numbers<N>,
    Affine { x, y }: Affine<Fp2<N, C>>,
    other: Affine<Fp2<N, C>>,
) -> (Affine<Fp2<N, C>>, FixedLine<N, C>) {
    let invert = |a: Fp2<N, C>| a.inverse().expect("multiples of a point in G2 are not opposite before the loop ends");
    let slope = if x == other.x {
        let square = x.square();
        (square + square + square) * invert(y.double()) // λ = 3x²/(2y)
    } else {
        (other.y - y) * invert(other.x - x) //             λ = (y′ − y)/(x′ − x)
    };
    let intercept = slope * x - y;
    let sum = slope.square() - x - other.x;
    let constant = match &C::constants().scale {
        Some(Scale::Twist { k, .. }) => {
            let over_k = machine.constant(k).inverse().expect("k is not zero");
            intercept.mul_by_conjugate_of_nonresidue().scale(over_k)
        }
        Some(Scale::Both { .. } | Scale::TwistAlone { .. }) | None => {
            assert_eq!(C::TWIST, Twist::M, "on others yP is with 1, and not with s");
            intercept
        }
    };
    (Affine::new(sum, intercept - slope * sum), FixedLine { constant, of_x: -slope })
}

/// The parts of the loop, in the order of their code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// T ↦ T + Q.
    Additions,
    /// T ↦ T − Q.
    Subtractions,
    /// T ↦ T + ψ(Q).
    Image,
    /// T ↦ T − ψ²(Q).
    SecondImage,
    /// f ↦ f times the factors of a column.
    Columns,
    /// f ↦ f².
    Square,
    /// T ↦ 2T, for each pair whose Q is given.
    Doublings,
    /// f ↦ f·line, for each pair whose Q is a constant.
    Lines,
    /// f ↦ f·c.
    Witness,
    /// f ↦ f/c.
    InverseWitness,
}

impl Part {
    /// Part that always follows.
    const fn then(self) -> Option<Part> {
        match self {
            Part::Columns => Some(Part::Square),
            Part::Square => Some(Part::Doublings),
            Part::Additions | Part::Subtractions | Part::Image | Part::SecondImage | Part::Doublings => {
                Some(Part::Lines)
            }
            Part::Lines | Part::Witness | Part::InverseWitness => None,
        }
    }
}

/// The digits of the number of the loop, most significant first.
fn digits(family: Family) -> Vec<i8> {
    match family {
        Family::Bls { x_abs, .. } => binary_digits(x_abs),
        Family::Bn { x } => signed_digits(6 * u128::from(x) + 2),
    }
}

/// The number of squarings of a loop that begins with f = 1, or with a constant that is there instead.
fn squarings(family: Family) -> usize {
    digits(family).len() - 2
}

/// All parts in the order of the digits below the first, from f = 1, or the witness, on: 1 need not be squared. `is_first` is
/// whether f = 1. There is a column before each of the last `columns` squarings.
fn order(family: Family, is_first: bool, has_witness: bool, columns: usize) -> Vec<Part> {
    let digits = digits(family);
    let doublings = digits.len() - 1;
    let mut order = Vec::new();
    for (position, digit) in digits.into_iter().skip(1).enumerate() {
        if position > 0 || !is_first {
            order.extend((position + columns >= doublings).then_some(Part::Columns));
            order.push(Part::Square);
        }
        order.extend([Part::Doublings, Part::Lines]);
        if digit != 0 {
            let is_positive = digit > 0;
            order.extend([if is_positive { Part::Additions } else { Part::Subtractions }, Part::Lines]);
            order.extend(has_witness.then_some(if is_positive { Part::Witness } else { Part::InverseWitness }));
        }
    }
    if matches!(family, Family::Bn { .. }) {
        order.extend([Part::Image, Part::Lines, Part::SecondImage, Part::Lines]);
    }
    order
}

/// Lines of constant points, as they stand in code.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a, F, C, const FIXED: usize> {
    /// As [`lines`] has them.
    Lines(Table<[FixedLine<F, C>; FIXED]>),
    /// As [`slopes::Slopes`] has them, with where their points begin.
    Slopes(Table<[Fp2<F, C>; FIXED]>, &'a [Origin<C>]),
}

/// Factors of a column, given its number.
type FactorsOf<'a, M, C> = &'a dyn Fn(&M, <M as Machine>::Word) -> Vec<FixedLine<<M as Machine>::Fe, C>>;

/// A product that the loop begins with and goes on with, see [`powers`].
pub struct Factors<'a, M: Machine, C> {
    /// The element that it begins with; one if there is none.
    pub start: Option<FixedLine<M::Fe, C>>,
    /// The number of columns.
    pub columns: u32,
    /// The factors of each.
    pub of_column: FactorsOf<'a, M, C>,
}

/// The product of the Miller functions over the pairs `given` and those of `points` with the points of which `table` has the [`lines`], as
/// [`super::miller::positive_miller_loop`] has it; times the power of a witness that the loop makes, see [`Residue`]. What is given
/// comes back with its multiples.
pub fn miller_loop<M, C, const GIVEN: usize, const FIXED: usize, const WITNESSES: usize>(
    machine: &M,
    given: [Given<M::Fe, C>; GIVEN],
    points: [FixedPoint<M::Fe>; FIXED],
    table: Table<[FixedLine<M::Fe, C>; FIXED]>,
    witness: [Residue<M::Fe, C>; WITNESSES],
) -> Looped<M::Fe, C, GIVEN>
where
    M: Machine,
    C: PairingCurve,
{
    let start = witness.first().map_or_else(|| Fp12::one(machine.zero(), machine.one()), |residue| residue.c(machine));
    let state = State { f: start, given, points, chains: [], witness };
    looped(machine, state, Rows::Lines(table), (0, &|_, _| Vec::new()))
}

/// The same without a witness and with other factors. `CHAINED` is `FIXED` for [`Rows::Slopes`], else 0.
pub fn miller_loop_with<M, C, const GIVEN: usize, const FIXED: usize, const CHAINED: usize>(
    machine: &M,
    given: [Given<M::Fe, C>; GIVEN],
    points: [FixedPoint<M::Fe>; FIXED],
    rows: Rows<'_, M::Fe, C, FIXED>,
    factors: &Factors<'_, M, C>,
) -> Looped<M::Fe, C, GIVEN>
where
    M: Machine,
    C: PairingCurve,
{
    let [zero, one] = [machine.zero(), machine.one()];
    let f = factors.start.map_or_else(|| Fp12::one(zero, one), |line| line.element(zero, one));
    let origins = match rows {
        Rows::Lines(_) => &[],
        Rows::Slopes(_, origins) => origins,
    };
    assert_eq!(origins.len(), CHAINED, "there is a chain for each point of which there are slopes");
    let chains: [_; CHAINED] = std::array::from_fn(|point| Chain::start(machine, &origins[point]));
    let points = if CHAINED == 0 { points } else { points.map(|p| slopes::scaled_for_slopes::<M, C>(machine, p)) };
    looped(machine, State { f, given, points, chains, witness: [] }, rows, (factors.columns, factors.of_column))
}

/// The state of the loop.
#[derive(Clone, Copy)]
struct State<F, C, const GIVEN: usize, const FIXED: usize, const CHAINED: usize, const WITNESSES: usize> {
    f: Fp12<F, C>,
    given: [Given<F, C>; GIVEN],
    points: [FixedPoint<F>; FIXED],
    chains: [Chain<F, C>; CHAINED],
    witness: [Residue<F, C>; WITNESSES],
}

/// The loop from this state on, with so many columns and their factors.
fn looped<M, C, const GIVEN: usize, const FIXED: usize, const CHAINED: usize, const WITNESSES: usize>(
    machine: &M,
    State { f, given, points, chains, witness }: State<M::Fe, C, GIVEN, FIXED, CHAINED, WITNESSES>,
    rows: Rows<'_, M::Fe, C, FIXED>,
    (columns, of_column): (u32, FactorsOf<'_, M, C>),
) -> Looped<M::Fe, C, GIVEN>
where
    M: Machine,
    C: PairingCurve,
{
    let _scope = enter("fixed_miller_loop");
    let order = order(C::FAMILY, WITNESSES == 0, WITNESSES > 0, columns as usize); // u32 to usize widens
    let (parts, steps, then) = steps::<M>(&order, GIVEN > 0);
    // Its number is one more than that of the column to come.
    let column = (columns > 0).then(|| machine.variable("column", machine.small(columns.into())));
    let state = ((f, given), points, chains, witness);
    let (looped, ..) = machine.sequence_of(&steps, &then, state, |machine, part, (looped, points, chains, witness)| {
        let (f, given) = looped;
        let part = parts[part];
        let chains = Chain::before(machine, part, chains, rows);
        let (f, chains) = match part {
            Part::Columns => (column.map_or(f, |column| times_column(machine, f, column, of_column)), chains),
            Part::Square => (f.square(), chains),
            Part::Lines => {
                let (lines, chains) = taken(machine, rows, chains);
                (lines.into_iter().zip(points).fold(f, |f, (line, p)| line.times(f, p)), chains)
            }
            Part::Witness => (witness[0].times(machine, f, Sign::Positive), chains),
            Part::InverseWitness => (witness[0].times(machine, f, Sign::Negative), chains),
            Part::Doublings | Part::Additions | Part::Subtractions | Part::Image | Part::SecondImage => {
                return (step_of_given(machine, part, looped), points, chains, witness);
            }
        };
        ((f, given), points, chains, witness)
    });
    looped
}

/// The parts of a loop, the steps of a sequence that takes them, and what always follows each.
type PartsAndSteps<W> = (Vec<Part>, Vec<SequenceStep<W>>, Vec<Option<usize>>);

/// Those that take the parts in `order`.
fn steps<M: Machine>(order: &[Part], has_given: bool) -> PartsAndSteps<M::Word> {
    let has = |part: Part| match part {
        Part::Additions | Part::Subtractions | Part::Image | Part::SecondImage | Part::Doublings => has_given,
        _ => true,
    };
    let parts: Vec<Part> = PARTS.into_iter().filter(|&part| has(part) && order.contains(&part)).collect();
    let place = |part: Part| parts.iter().position(|&other| other == part);
    // What always follows another part is not a step of its own.
    let next = |part: Part| part.then().and_then(|next| if has(next) { Some(next) } else { next.then() });
    let mut steps = Vec::new();
    let mut expected = None;
    let mut line = 0;
    for part in order.iter().copied().filter(|&part| has(part)) {
        if expected != Some(part) {
            // Lines come once at most, and are taken in the order of the table.
            if std::iter::successors(Some(part), |&part| next(part)).any(|part| part == Part::Lines) {
                steps.push(SequenceStep::CarryNumber(line));
                line += 1;
            }
            steps.push(SequenceStep::Part(place(part).expect("an order is of parts that there are")));
        }
        expected = next(part);
    }
    let then: Vec<_> = parts.iter().map(|&part| next(part).and_then(place)).collect();
    (parts, steps, then)
}

/// f times the factors of the next column.
fn times_column<M: Machine, C: PairingCurve>(
    machine: &M,
    f: Fp12<M::Fe, C>,
    column: Variable,
    of_column: FactorsOf<'_, M, C>,
) -> Fp12<M::Fe, C> {
    let number = machine.bind(machine.word_op(WordOp::Sub, machine.get(column), machine.small(1)));
    machine.set(column, number);
    of_column(machine, number).into_iter().fold(f, |f, factor| factor.times_itself(f))
}

/// The lines of a row, and the states of their points after it.
type Taken<F, C, const FIXED: usize, const CHAINED: usize> = ([FixedLine<F, C>; FIXED], [Chain<F, C>; CHAINED]);

/// The lines of the next row.
fn taken<M: Machine, C: PairingCurve, const FIXED: usize, const CHAINED: usize>(
    machine: &M,
    rows: Rows<'_, M::Fe, C, FIXED>,
    chains: [Chain<M::Fe, C>; CHAINED],
) -> Taken<M::Fe, C, FIXED, CHAINED> {
    match rows {
        Rows::Lines(table) => (machine.take_row(table), chains),
        Rows::Slopes(table, _) => {
            let slopes = machine.take_row(table);
            let next: [_; CHAINED] = std::array::from_fn(|point| chains[point].next(slopes[point]));
            (std::array::from_fn(|point| next[point].0), next.map(|(_, chain)| chain))
        }
    }
}

/// A step of the pairs whose Q is given.
fn step_of_given<M: Machine, C: PairingCurve, const GIVEN: usize>(
    machine: &M,
    part: Part,
    looped: Looped<M::Fe, C, GIVEN>,
) -> Looped<M::Fe, C, GIVEN> {
    match part {
        // Of one pair there is one step, and no use of a function.
        Part::Doublings if GIVEN == 1 => {
            each(machine, looped, |machine, f, pair| double_here(machine, f, pair.running))
        }
        Part::Doublings => each(machine, looped, |machine, f, pair| double(machine, f, pair.running)),
        Part::Additions => add_to_each(machine, looped, |_, q| q),
        Part::Subtractions => add_to_each(machine, looped, |_, q| opposite(q)),
        Part::Image => add_to_each(machine, looped, |machine, q| psi(machine, q)),
        Part::SecondImage => add_to_each(machine, looped, |machine, q| opposite(psi(machine, psi(machine, q)))),
        Part::Columns | Part::Square | Part::Lines | Part::Witness | Part::InverseWitness => looped,
    }
}

/// f and the pairs whose Q is given.
pub type Looped<F, C, const GIVEN: usize> = (Fp12<F, C>, [Given<F, C>; GIVEN]);

/// `step` with f and each pair.
fn each<M: Machine, C: PairingCurve, const GIVEN: usize>(
    machine: &M,
    (mut f, mut given): Looped<M::Fe, C, GIVEN>,
    step: impl Fn(&M, Fp12<M::Fe, C>, Given<M::Fe, C>) -> (Fp12<M::Fe, C>, Running<M::Fe, C>),
) -> Looped<M::Fe, C, GIVEN> {
    for pair in &mut given {
        (f, pair.running) = step(machine, f, *pair);
    }
    (f, given)
}

/// T ↦ T + q(Q) for each pair.
fn add_to_each<M: Machine, C: PairingCurve, const GIVEN: usize>(
    machine: &M,
    looped: Looped<M::Fe, C, GIVEN>,
    q: impl Fn(&M, Affine<Fp2<M::Fe, C>>) -> Affine<Fp2<M::Fe, C>>,
) -> Looped<M::Fe, C, GIVEN> {
    each(machine, looped, |machine, f, pair| add(machine, f, pair.running, q(machine, pair.q)))
}

/// Every part in the order of the code, so that what comes often falls through.
const PARTS: [Part; 10] = [
    Part::Additions,
    Part::Subtractions,
    Part::Image,
    Part::SecondImage,
    Part::Columns,
    Part::Square,
    Part::Doublings,
    Part::Lines,
    Part::Witness,
    Part::InverseWitness,
];
