//! The Miller loop of the optimal ate pairing, over many pairs with one accumulator.
//!
//! A loop that ends with Z ≠ 0 has computed its multiple of Q without an exceptional case; for Q in G2 it always does. From that
//! multiple follows whether Q is in G2, see [`PairingCurve::membership_from_multiple`].

use super::residue_witness::Witness;
use super::steps::{EvaluationPoint, addition_step, doubling_step, doubling_step_by_root, doubling_step_in_sums};
use super::{Family, PairingCurve, Scale, psi};
use crate::conditions::Conditions;
use crate::group::{Affine, Projective};
use crate::ladder::{binary_digits, signed_digits};
use crate::tower::{Fp2, Fp12, Tower};
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};
use residue_ir::{Array, Bundle, Capacity, Feature, Machine, Variable};

/// State of a pair in the loop: T, a multiple of Q, and P.
#[derive(Clone, Copy, Debug)]
pub struct Running<F, C> {
    /// T.
    pub t: Projective<Fp2<F, C>>,
    /// P.
    pub p: EvaluationPoint<F>,
}

bundle!(Running<C: Tower> { t: Projective<Fp2<F, C>>, p: EvaluationPoint<F> });

/// The pairs (P, Q) of a check, scaled.
#[derive(Debug)]
pub struct Pairs<F, C> {
    p: Array<EvaluationPoint<F>>,
    q: Array<Affine<Fp2<F, C>>>,
}

impl<F: Fe, C: PairingCurve> Pairs<F, C> {
    /// No pairs yet, and room for `room` of them.
    pub fn new<M: Machine<Fe = F>>(machine: &M, room: M::Word) -> Self {
        let pairs = Self {
            p: machine.array("pairing_p", Capacity::Unbounded),
            q: machine.array("pairing_q", Capacity::Unbounded),
        };
        machine.reserve(pairs.p, room);
        machine.reserve(pairs.q, room);
        pairs
    }

    /// Sets pair `index` to (P, Q): points on their curves, neither of them the identity; or [`stand_in`] for an identity P.
    pub fn store<M: Machine<Fe = F>>(&self, machine: &M, index: M::Word, p: Affine<F>, q: Affine<Fp2<F, C>>) {
        let (p, q) = (evaluation_point::<M, C>(machine, p), scaled(machine, q));
        machine.store(self.p, index, p);
        machine.store(self.q, index, q);
    }

    /// P of a pair.
    pub(super) fn p<M: Machine<Fe = F>>(&self, machine: &M, index: M::Word) -> EvaluationPoint<F> {
        machine.load(self.p, index)
    }

    /// Q of a pair.
    pub(super) fn q<M: Machine<Fe = F>>(&self, machine: &M, index: M::Word) -> Affine<Fp2<F, C>> {
        machine.load(self.q, index)
    }
}

/// Replacement for P that makes its factor one in the end, for any Q in G2: (0, 1). A line there has coefficients of 1
/// and w³ alone, the one of y is not zero, and so it lies in Fp4, whose elements the final exponentiation maps to one:
/// r divides p⁸ + p⁴ + 1, so (p¹² − 1)/r is a multiple of p⁴ − 1.
pub fn stand_in<M: Machine>(machine: &M) -> Affine<M::Fe> {
    Affine::new(machine.zero(), machine.one())
}

/// The most pairs that a loop takes. Their states stay in slots, each with a doubling step of its own written out, which takes 750 bytes.
/// For more there are several loops: fetching states from memory at every step, or calling one doubling step for all, would cost
/// more.
pub const PAIRS_MAX: usize = 8;

/// The product of the Miller functions of the optimal ate pairing over the first `count` of `pairs`, up to factors that the final
/// exponentiation removes, and `conditions` with what has to hold for every Q, which lies on the twist, to be in G2. One pair at
/// least, [`PairingCurve::PAIRS`] at most.
pub fn miller_loop<M: Machine, C: PairingCurve>(
    machine: &M,
    pairs: &Pairs<M::Fe, C>,
    count: M::Word,
    conditions: Conditions<M::Fe>,
) -> (Fp12<M::Fe, C>, Conditions<M::Fe>) {
    let product = machine.array("miller_product", Capacity::Fixed(1));
    let first = machine.small(0);
    let keep = |machine: &M, f| machine.store(product, first, f);
    let conditions = positive_miller_loop(machine, pairs, count, conditions, None, keep);
    let f: Fp12<M::Fe, C> = machine.load(product, first);
    let f = match C::FAMILY {
        // f_{−|x|} is 1/f_{|x|} up to vertical lines, and its conjugate up to norms; both vanish.
        Family::Bls { x_is_negative: true, .. } => f.conjugate(),
        Family::Bls { .. } | Family::Bn { .. } => f,
    };
    (f, conditions)
}

/// The same without regard to the sign of x: for a negative one the inverse up to such factors, times c^|x| of a witness if there
/// is one and the word with it is not 0. `keep` takes the product: beside what is still to be computed it would be in the way.
pub fn positive_miller_loop<M: Machine, C: PairingCurve>(
    machine: &M,
    pairs: &Pairs<M::Fe, C>,
    count: M::Word,
    conditions: Conditions<M::Fe>,
    witness: Option<(&Witness<M, C>, M::Word)>,
    keep: impl FnOnce(&M, Fp12<M::Fe, C>),
) -> Conditions<M::Fe> {
    let _scope = enter("miller_loop");
    let witness = witness.map(|(witness, is_here)| (witness, machine.variable("has_witness", is_here)));
    let those = PairsInSlots { pairs, count, witness };
    let (f, in_slots) = shared_loop(machine, &those);
    keep(machine, f);
    those.membership(machine, in_slots, conditions)
}

/// The parts of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// f ↦ f².
    Square,
    /// T ↦ 2T, for each pair.
    Doublings,
    /// T ↦ T + Q.
    Additions,
    /// T ↦ T − Q.
    Subtractions,
    /// T ↦ T + ψ(Q) − ψ²(Q).
    Images,
    /// f ↦ f·c.
    Witness,
}

impl Part {
    /// Those that a loop has.
    fn all(family: Family, has_witness: bool) -> Vec<Part> {
        let mut parts = vec![Part::Square, Part::Doublings, Part::Additions];
        match family {
            Family::Bls { .. } => parts.extend(has_witness.then_some(Part::Witness)),
            Family::Bn { .. } => parts.extend([Part::Subtractions, Part::Images]),
        }
        parts
    }

    /// The parts in the order of the digits below the first, from f = 1, or the witness, on: 1 need not be squared.
    fn order(family: Family, has_witness: bool) -> Vec<Part> {
        let (digits, at_end) = match family {
            Family::Bls { x_abs, .. } => (binary_digits(x_abs), None),
            Family::Bn { x } => (signed_digits(6 * u128::from(x) + 2), Some(Part::Images)),
        };
        let mut order = Vec::new();
        for (position, digit) in digits.into_iter().skip(1).enumerate() {
            order.extend((position > 0 || has_witness).then_some(Part::Square));
            order.push(Part::Doublings);
            if digit != 0 {
                order.push(if digit > 0 { Part::Additions } else { Part::Subtractions });
                order.extend(has_witness.then_some(Part::Witness));
            }
        }
        order.extend(at_end);
        order
    }
}

/// The loop for `those` pairs with one accumulator, and their states after it.
fn shared_loop<M: Machine, C: PairingCurve>(machine: &M, those: &PairsInSlots<'_, M, C>) -> State<M::Fe, C> {
    let has_witness = those.witness.is_some();
    let start = match those.witness {
        None => Fp12::one(machine.zero(), machine.one()),
        Some((witness, is_here)) => witness.start(machine, machine.get(is_here)),
    };
    let parts = Part::all(C::FAMILY, has_witness);
    let place = |part| parts.iter().position(|&other| other == part).expect("an order is of parts that there are");
    let order: Vec<usize> = Part::order(C::FAMILY, has_witness).into_iter().map(place).collect();
    let state = (start, those.load(machine));
    machine.sequence(&order, parts.len(), state, |machine, part, (f, in_slots)| {
        let added = |is_negated: bool| {
            those.each(machine, (f, in_slots), |machine, pair, f, running| {
                let q = those.q(machine, pair);
                add(machine, f, running, if is_negated { Affine::new(q.x, -q.y) } else { q })
            })
        };
        match parts[part] {
            Part::Square => (f.square(), in_slots),
            Part::Doublings => those.each(machine, (f, in_slots), |machine, _, f, running| double(machine, f, running)),
            Part::Additions => added(false),
            Part::Subtractions => added(true),
            Part::Images => those.each(machine, (f, in_slots), |machine, pair, f, running| {
                add_images(machine, f, running, those.q(machine, pair))
            }),
            Part::Witness => match those.witness {
                None => (f, in_slots),
                Some((witness, is_here)) => {
                    (machine.branch(machine.get(is_here), |machine| witness.times(machine, f), |_| f), in_slots)
                }
            },
        }
    })
}

/// A doubling step of one pair, as a function where code has to be short.
pub(super) fn double<M: Machine, C: PairingCurve>(
    machine: &M,
    f: Fp12<M::Fe, C>,
    running: Running<M::Fe, C>,
) -> (Fp12<M::Fe, C>, Running<M::Fe, C>) {
    let Running { t, p } = running;
    let (f, t) = machine.branch(
        machine.has(Feature::ShortCode),
        |machine| {
            machine.function("miller_doubling", (f, t, p), |machine, (f, t, p)| {
                let (f, running) = double_here(machine, f, Running { t, p });
                (f, running.t)
            })
        },
        |machine| {
            let (f, running) = double_here(machine, f, running);
            (f, running.t)
        },
    );
    (f, Running { t, p })
}

/// A doubling step of one pair, written out.
pub(super) fn double_here<M: Machine, C: PairingCurve>(
    machine: &M,
    f: Fp12<M::Fe, C>,
    running: Running<M::Fe, C>,
) -> (Fp12<M::Fe, C>, Running<M::Fe, C>) {
    let times_3b = |zz| C::times_3b(machine, zz);
    let constants = C::constants();
    let (t, line) = match C::root_of_12() {
        None if constants.is_scaled_for_sums(running.p.y) => {
            doubling_step_in_sums(running.t, running.p, machine.constant(&constants.four_thirds))
        }
        None => doubling_step(running.t, running.p, times_3b),
        Some(root) => doubling_step_by_root(running.t, running.p, times_3b, machine.constant(root)),
    };
    (line.times(f, C::TWIST), Running { t, ..running })
}

/// An addition step of one pair, as a function: there are few of them.
pub(super) fn add<M: Machine, C: PairingCurve>(
    machine: &M,
    f: Fp12<M::Fe, C>,
    running: Running<M::Fe, C>,
    q: Affine<Fp2<M::Fe, C>>,
) -> (Fp12<M::Fe, C>, Running<M::Fe, C>) {
    let (f, t) = machine.function("miller_addition", (f, running.t, q, running.p), |machine, (f, t, q, p)| {
        let y = if C::constants().is_scaled_for_sums(p.y) { p.y.double() } else { p.y };
        let p = EvaluationPoint { y, ..p };
        let (t, line) = addition_step(t, q, p, machine.constant(&C::constants().third));
        (line.times(f, C::TWIST), t)
    });
    (f, Running { t, ..running })
}

/// T ↦ T + ψ(Q) − ψ²(Q) for one pair, as a function.
pub(super) fn add_images<M: Machine, C: PairingCurve>(
    machine: &M,
    f: Fp12<M::Fe, C>,
    running: Running<M::Fe, C>,
    q: Affine<Fp2<M::Fe, C>>,
) -> (Fp12<M::Fe, C>, Running<M::Fe, C>) {
    machine.function("miller_images", (f, running, q), |machine, (f, running, q)| {
        let once = psi(machine, q);
        let (f, running) = add(machine, f, running, once);
        let twice = psi(machine, once);
        add(machine, f, running, Affine::new(twice.x, -twice.y))
    })
}

/// The state of the loop: f, and the pairs in slots.
type State<F, C> = (Fp12<F, C>, [Running<F, C>; PAIRS_MAX]);

/// `step` with the pair of that number: its number, f, its state.
fn step_of_pair<M, C, S>(machine: &M, pair: usize, (f, mut in_slots): State<M::Fe, C>, step: S) -> State<M::Fe, C>
where
    M: Machine,
    C: PairingCurve,
    S: Fn(&M, usize, Fp12<M::Fe, C>, Running<M::Fe, C>) -> (Fp12<M::Fe, C>, Running<M::Fe, C>),
{
    let (f, running) = step(machine, pair, f, in_slots[pair]);
    in_slots[pair] = running;
    (f, in_slots)
}

/// The pairs of a loop.
struct PairsInSlots<'a, M: Machine, C> {
    pairs: &'a Pairs<M::Fe, C>,
    /// Number of pairs.
    count: M::Word,
    /// Factor of the loop, and a flag that is 1 if this loop multiplies by it. Words are out of reach in parts of the
    /// loop, variables are not.
    witness: Option<(&'a Witness<M, C>, Variable)>,
}

impl<M: Machine, C: PairingCurve> PairsInSlots<'_, M, C> {
    fn q(&self, machine: &M, pair: usize) -> Affine<Fp2<M::Fe, C>> {
        machine.load(self.pairs.q, machine.small(pair as u64)) // usize to u64 widens
    }

    /// `step` with each pair, the last one first.
    fn each<S>(&self, machine: &M, state: State<M::Fe, C>, step: S) -> State<M::Fe, C>
    where
        S: Fn(&M, usize, Fp12<M::Fe, C>, Running<M::Fe, C>) -> (Fp12<M::Fe, C>, Running<M::Fe, C>),
    {
        machine.countdown(self.count, C::PAIRS, state, |machine, pair, state| step_of_pair(machine, pair, state, &step))
    }

    /// Brings the states into slots.
    fn load(&self, machine: &M) -> [Running<M::Fe, C>; PAIRS_MAX] {
        let zero = machine.zero();
        let none = |_| Running::from_list(vec![zero; <Running<M::Fe, C> as Bundle<M::Fe>>::LEN]);
        machine.countdown(self.count, C::PAIRS, std::array::from_fn(none), |machine, pair, mut in_slots| {
            let index = machine.small(pair as u64); // usize to u64 widens
            let p = machine.load(self.pairs.p, index);
            let q = machine.load(self.pairs.q, index);
            in_slots[pair] = Running { t: projective(machine, q), p };
            in_slots
        })
    }

    /// After the loop: `conditions` with what holds exactly if each Q, which lies on the twist, is in G2.
    fn membership(
        &self,
        machine: &M,
        in_slots: [Running<M::Fe, C>; PAIRS_MAX],
        conditions: Conditions<M::Fe>,
    ) -> Conditions<M::Fe> {
        machine.countdown(self.count, C::PAIRS, conditions, |machine, pair, conditions| {
            let input = (conditions, self.q(machine, pair), in_slots[pair].t);
            machine.function("miller_membership", input, |machine, (conditions, q, t)| {
                conditions.and(C::membership_from_multiple(machine, q, t))
            })
        })
    }
}

/// P as lines take it, with coordinates changed as the curve says.
pub(super) fn evaluation_point<M: Machine, C: PairingCurve>(machine: &M, p: Affine<M::Fe>) -> EvaluationPoint<M::Fe> {
    let (minus_3x, y) = match C::constants().scale_for(p.x) {
        Some(
            Scale::Both { minus_three_mu_squared: x, mu_cubed: y, .. } | Scale::Twist { minus_three_k: x, k: y, .. },
        ) => {
            let minus_3x = p.x * machine.constant(x);
            (minus_3x, p.y * machine.constant(y))
        }
        Some(Scale::TwistAlone { .. }) | None => (-(p.x.double() + p.x), p.y),
    };
    let is_halved = C::constants().is_scaled_for_sums(y);
    let y = if is_halved { y * machine.constant(&C::constants().half) } else { y };
    EvaluationPoint { minus_3x, minus_6x: minus_3x.double(), y }
}

/// Q on the scaled twist.
pub(super) fn scaled<M: Machine, C: PairingCurve>(machine: &M, q: Affine<Fp2<M::Fe, C>>) -> Affine<Fp2<M::Fe, C>> {
    match C::constants().scale_for(q.x.c0) {
        None => q,
        Some(Scale::Both { mu_squared, mu_cubed, .. }) => {
            let (x, y) = (machine.constant(mu_squared), machine.constant(mu_cubed));
            Affine::new(q.x.scale(x), q.y.scale(y))
        }
        Some(Scale::Twist { kappa_squared, kappa_cubed, .. } | Scale::TwistAlone { kappa_squared, kappa_cubed }) => {
            Affine::new(q.x * kappa_squared.lift(machine), q.y * kappa_cubed.lift(machine))
        }
    }
}

/// Q with Z = 1.
pub(super) fn projective<M: Machine, C: PairingCurve>(
    machine: &M,
    q: Affine<Fp2<M::Fe, C>>,
) -> Projective<Fp2<M::Fe, C>> {
    Projective { x: q.x, y: q.y, z: Fp2::new(machine.one(), machine.zero()) }
}
