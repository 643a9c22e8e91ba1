//! The Miller loop of the optimal ate pairing on BLS12-381, over many pairs with one accumulator.
//!
//! All points are first scaled by (x, y) ↦ (μ²x, μ³y) with μ⁶ = 1/6 in Fp. That maps both curves to isomorphic ones over
//! the same fields, changes no pairing value, and turns the constant 3b′ = 12ξ of the doubling step into 2ξ. The twist is
//! untwisted by (x/w², y/w³), and lines are multiplied by w³ and by elements of Fp2: the final exponentiation removes them.
//!
//! Steps are homogeneous projective: Costello, Lange and Naehrig 2010 (2009/615), §5; Aranha et al. 2011 (2010/526), §4.
//! They are not complete, and need not be: Z₃ is a multiple of Z₁ in both steps, and 0 where an addition meets T = ±Q, so
//! Z = 0 is absorbing. A loop that ends with Z ≠ 0 has computed T = |x|·Q; for Q in G2 it always does.

use super::constants::{X_ABS, constants};
use super::g2;
use super::residue_witness::Witness;
use crate::bls12_381::Fp2;
use crate::bls12_381::{Bls12_381, Fp12};
use crate::conditions::Conditions;
use crate::group::{Affine, Projective};
use crate::tower::fp12::Sparse023;
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};
use residue_ir::{Array, Bundle, Capacity, Machine, Variable};

/// P of a pair in the form that line evaluation wants.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationPoint<F> {
    /// −3x.
    pub minus_3x: F,
    /// −6x.
    pub minus_6x: F,
    /// y.
    pub y: F,
}

bundle!(EvaluationPoint { minus_3x: F, minus_6x: F, y: F });

/// What the steps of a pair need and change: T, a multiple of Q, and P.
#[derive(Clone, Copy, Debug)]
pub struct Running<F> {
    /// T.
    pub t: Projective<Fp2<F>>,
    /// P.
    pub p: EvaluationPoint<F>,
}

bundle!(Running { t: Projective<Fp2<F>>, p: EvaluationPoint<F> });

/// The pairs (P, Q) of a check, scaled.
#[derive(Debug)]
pub struct Pairs<F> {
    p: Array<EvaluationPoint<F>>,
    q: Array<Affine<Fp2<F>>>,
}

impl<F: Fe> Pairs<F> {
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
    pub fn store<M: Machine<Fe = F>>(&self, machine: &M, index: M::Word, p: Affine<F>, q: Affine<Fp2<F>>) {
        let constants = constants();
        let minus_3x = p.x * machine.constant(&constants.minus_three_mu_squared);
        let y = p.y * machine.constant(&constants.mu_cubed);
        let p = EvaluationPoint { minus_3x, minus_6x: minus_3x.double(), y };
        let q = scaled(machine, q);
        machine.store(self.p, index, p);
        machine.store(self.q, index, q);
    }
}

/// What the loop takes for P to have a factor one in the end, whatever Q in G2 is: (0, 1). A line there is l₀ + l₃·w³, with
/// l₃ ≠ 0, and lies in Fp4, whose elements the final exponentiation maps to one: r divides p⁸ + p⁴ + 1, so (p¹² − 1)/r is a
/// multiple of p⁴ − 1.
pub fn stand_in<M: Machine>(machine: &M) -> Affine<M::Fe> {
    Affine::new(machine.zero(), machine.one())
}

/// Pairs that a loop takes. Their states stay in slots, each with a doubling step of its own written out, which takes 750 bytes.
/// For more there are several loops: fetching states from memory at every step, or calling one doubling step for all, would cost
/// more.
pub const PAIRS_MAX: usize = 8;

/// The product of f_{x,Q}(P) over the first `count` of `pairs`, up to factors that the final exponentiation removes, and
/// `conditions` with what has to hold for every Q, which lies on the twist, to be in G2. One pair at least, [`PAIRS_MAX`] at most.
pub fn miller_loop<M: Machine>(
    machine: &M,
    pairs: &Pairs<M::Fe>,
    count: M::Word,
    conditions: Conditions<M::Fe>,
) -> (Fp12<M::Fe>, Conditions<M::Fe>) {
    let product = machine.array("miller_product", Capacity::Fixed(1));
    let first = machine.small(0);
    let keep = |machine: &M, f| machine.store(product, first, f);
    let conditions = inverse_miller_loop(machine, pairs, count, conditions, None, keep);
    let f: Fp12<M::Fe> = machine.load(product, first);
    (f.conjugate(), conditions) // x is negative: f_{−|x|} is 1/f_{|x|} up to vertical lines, and its conjugate up to
    // norms; both vanish.
}

/// The same for f_{|x|,Q}(P), the inverse up to such factors, times c^|x| of a witness if there is one and the word with it is
/// not 0. `keep` takes the product: beside what is still to be computed it would be in the way.
pub fn inverse_miller_loop<M: Machine>(
    machine: &M,
    pairs: &Pairs<M::Fe>,
    count: M::Word,
    conditions: Conditions<M::Fe>,
    witness: Option<(&Witness<M>, M::Word)>,
    keep: impl FnOnce(&M, Fp12<M::Fe>),
) -> Conditions<M::Fe> {
    let _scope = enter("miller_loop");
    let witness = witness.map(|(witness, is_here)| (witness, machine.variable("has_witness", is_here)));
    let those = PairsInSlots { pairs, count, witness };
    let (f, in_slots) = shared_loop(machine, &those);
    keep(machine, f);
    those.membership(machine, in_slots, conditions)
}

/// The parts of the loop.
const SQUARE: usize = 0;
const DOUBLINGS: usize = 1;
const ADDITIONS: usize = 2;
const WITNESS: usize = 3;

/// The parts in the order of the bits of |x| below the first, from f = 1, or the witness, on: 1 need not be squared.
fn order(has_witness: bool) -> Vec<usize> {
    let mut order = if has_witness { vec![SQUARE, DOUBLINGS] } else { vec![DOUBLINGS] };
    for bit in (0..X_ABS.ilog2()).rev() {
        if bit + 1 < X_ABS.ilog2() {
            order.extend([SQUARE, DOUBLINGS]);
        }
        if X_ABS >> bit & 1 == 1 {
            order.push(ADDITIONS);
            order.extend(has_witness.then_some(WITNESS));
        }
    }
    order
}

/// The loop for `those` pairs with one accumulator, and their states behind it.
fn shared_loop<M: Machine>(machine: &M, those: &PairsInSlots<'_, M>) -> State<M::Fe> {
    let start = match those.witness {
        None => Fp12::one(machine.zero(), machine.one()),
        Some((witness, is_here)) => witness.start(machine, machine.get(is_here)),
    };
    let (order, state) = (order(those.witness.is_some()), (start, those.load(machine)));
    let parts = if those.witness.is_some() { WITNESS + 1 } else { WITNESS };
    machine.sequence(&order, parts, state, |machine, part, (f, in_slots)| match part {
        SQUARE => (f.square(), in_slots),
        DOUBLINGS => those.each(machine, (f, in_slots), |_, _, f, running| double(f, running)),
        ADDITIONS => those
            .each(machine, (f, in_slots), |machine, pair, f, running| add(machine, f, running, those.q(machine, pair))),
        _ => match those.witness {
            None => (f, in_slots),
            Some((witness, is_here)) => {
                (machine.branch(machine.get(is_here), |machine| witness.times(machine, f), |_| f), in_slots)
            }
        },
    })
}

/// A doubling step of one pair.
fn double<F: Fe>(f: Fp12<F>, running: Running<F>) -> (Fp12<F>, Running<F>) {
    let (t, line) = doubling_step(running.t, running.p);
    (f.mul_by_023(line), Running { t, ..running })
}

/// An addition step of one pair, as a function: there are few of them.
fn add<M: Machine>(
    machine: &M,
    f: Fp12<M::Fe>,
    running: Running<M::Fe>,
    q: Affine<Fp2<M::Fe>>,
) -> (Fp12<M::Fe>, Running<M::Fe>) {
    let (f, t) = machine.function("miller_addition", (f, running.t, q, running.p), |machine, (f, t, q, p)| {
        let (t, line) = addition_step(t, q, p, machine.constant(&constants().third));
        (f.mul_by_023(line), t)
    });
    (f, Running { t, ..running })
}

/// The state of the loop: f, and the pairs in slots.
type State<F> = (Fp12<F>, [Running<F>; PAIRS_MAX]);

/// `step` with the pair of that number: its number, f, its state.
fn step_of_pair<M, S>(machine: &M, pair: usize, (f, mut in_slots): State<M::Fe>, step: S) -> State<M::Fe>
where
    M: Machine,
    S: Fn(&M, usize, Fp12<M::Fe>, Running<M::Fe>) -> (Fp12<M::Fe>, Running<M::Fe>),
{
    let (f, running) = step(machine, pair, f, in_slots[pair]);
    in_slots[pair] = running;
    (f, in_slots)
}

/// The pairs of a loop.
struct PairsInSlots<'a, M: Machine> {
    pairs: &'a Pairs<M::Fe>,
    /// How many there are.
    count: M::Word,
    /// What is multiplied in, and whether this loop does it. Words are out of reach in parts of the loop, variables are not.
    witness: Option<(&'a Witness<M>, Variable)>,
}

impl<M: Machine> PairsInSlots<'_, M> {
    fn q(&self, machine: &M, pair: usize) -> Affine<Fp2<M::Fe>> {
        machine.load(self.pairs.q, machine.small(pair as u64)) // usize to u64 widens
    }

    /// `step` with each pair, the last one first.
    fn each<S>(&self, machine: &M, state: State<M::Fe>, step: S) -> State<M::Fe>
    where
        S: Fn(&M, usize, Fp12<M::Fe>, Running<M::Fe>) -> (Fp12<M::Fe>, Running<M::Fe>),
    {
        machine
            .countdown(self.count, PAIRS_MAX, state, |machine, pair, state| step_of_pair(machine, pair, state, &step))
    }

    /// Brings the states into slots.
    fn load(&self, machine: &M) -> [Running<M::Fe>; PAIRS_MAX] {
        let zero = machine.zero();
        let none = |_| Running::from_list(vec![zero; <Running<M::Fe> as Bundle<M::Fe>>::LEN]);
        machine.countdown(self.count, PAIRS_MAX, std::array::from_fn(none), |machine, pair, mut in_slots| {
            let index = machine.small(pair as u64); // usize to u64 widens
            let p = machine.load(self.pairs.p, index);
            let q = machine.load(self.pairs.q, index);
            in_slots[pair] = Running { t: projective(machine, q), p };
            in_slots
        })
    }

    /// Behind the loop: `conditions` with what holds exactly if each Q, which lies on the twist, is in G2.
    fn membership(
        &self,
        machine: &M,
        in_slots: [Running<M::Fe>; PAIRS_MAX],
        conditions: Conditions<M::Fe>,
    ) -> Conditions<M::Fe> {
        machine.countdown(self.count, PAIRS_MAX, conditions, |machine, pair, conditions| {
            let input = (conditions, self.q(machine, pair), in_slots[pair].t);
            machine.function("miller_membership", input, |machine, (conditions, q, t)| {
                conditions.and(g2::membership_from_multiple(machine, q, t))
            })
        })
    }
}

/// Q on the scaled twist.
fn scaled<M: Machine>(machine: &M, q: Affine<Fp2<M::Fe>>) -> Affine<Fp2<M::Fe>> {
    let constants = constants();
    let (x, y) = (machine.constant(&constants.mu_squared), machine.constant(&constants.mu_cubed));
    Affine::new(q.x.scale(x), q.y.scale(y))
}

/// Q with Z = 1.
fn projective<M: Machine>(machine: &M, q: Affine<Fp2<M::Fe>>) -> Projective<Fp2<M::Fe>> {
    Projective { x: q.x, y: q.y, z: Fp2::new(machine.one(), machine.zero()) }
}

/// (T, P) ↦ (2T, tangent at T evaluated at P) on the scaled twist, where 3b″ = 2ξ. Aranha et al. 2011, §4, with X₃, Y₃ and
/// Z₃ times 4. The line is (Y² − 3b″Z²) − 3X²·xP·w² + 2YZ·yP·w³.
pub fn doubling_step<F: Fe>(
    t: Projective<Fp2<F>>,
    p: EvaluationPoint<F>,
) -> (Projective<Fp2<F>>, Sparse023<F, Bls12_381>) {
    let _scope = enter("doubling_step");
    let Projective { x: x1, y: y1, z: z1 } = t;
    let a = (x1 * y1).double(); //                             A = 2·X₁·Y₁
    let b = y1.square(); //                                    B = Y₁²
    let e = z1.square().mul_by_nonresidue().double(); //       E = 3b″·Z₁² = 2ξ·Z₁²
    let e2 = e.double(); //                                    2E
    let f = e + e2; //                                         F = 3E
    let g = b + f; //                                          G = B + F
    let h = (y1 * z1).double(); //                             H = 2·Y₁·Z₁
    let j = (x1.c0 + x1.c1) * (x1.c0 - x1.c1); //              J = Re(X₁²)
    let j2 = x1.c0 * x1.c1; //                                 J₂ = Im(X₁²)/2
    let k = (e2.c0 + e2.c1) * (f.c0 - f.c1); //                K = Re(2E·F) = Re(6E²): F is a multiple of E
    let k2 = e2.c0 * f.c1; //                                  K₂ = Im(6E²)/2
    let x3 = a * (b - f); //                                   X₃ = A·(B − F)
    let re = (g.c0 + g.c1) * (g.c0 - g.c1) - k - k; //         Re(Y₃) = Re(G²) − 2K
    let im = (g.c0 * g.c1 - k2 - k2).double(); //              Im(Y₃) = 2(Im(G²)/2 − 2K₂)
    let y3 = Fp2::new(re, im); //                              Y₃ = G² − 12E²
    let z3 = (b * h).double().double(); //                     Z₃ = 4·B·H
    let line = Sparse023 { l0: b - e, l2: Fp2::new(j * p.minus_3x, j2 * p.minus_6x), l3: h.scale(p.y) };
    (Projective { x: x3, y: y3, z: z3 }, line)
}

/// (T, Q, P, 1/3) ↦ (T + Q, line through T and Q evaluated at P). Aranha et al. 2011, §4.
/// The line is (θ·xQ − λ·yQ) − θ·xP·w² + λ·yP·w³.
pub fn addition_step<F: Fe>(
    t: Projective<Fp2<F>>,
    q: Affine<Fp2<F>>,
    p: EvaluationPoint<F>,
    third: F,
) -> (Projective<Fp2<F>>, Sparse023<F, Bls12_381>) {
    let _scope = enter("addition_step");
    let Projective { x: x1, y: y1, z: z1 } = t;
    let theta = y1 - z1 * q.y; //                              θ = Y₁ − yQ·Z₁
    let lambda = x1 - z1 * q.x; //                             λ = X₁ − xQ·Z₁
    let c = theta.square(); //                                 C = θ²
    let d = lambda.square(); //                                D = λ²
    let e = lambda * d; //                                     E = λ³
    let f = z1 * c; //                                         F = Z₁·C
    let g = x1 * d; //                                         G = X₁·D
    let h = e + f - g.double(); //                             H = E + F − 2G
    let x3 = lambda * h; //                                    X₃ = λ·H
    let y3 = theta * (g - h) - y1 * e; //                      Y₃ = θ·(G − H) − Y₁·E
    let z3 = z1 * e; //                                        Z₃ = Z₁·E
    let j = theta * q.x - lambda * q.y; //                     J = θ·xQ − λ·yQ
    let line = Sparse023 { l0: j, l2: theta.scale(p.minus_3x * third), l3: lambda.scale(p.y) };
    (Projective { x: x3, y: y3, z: z3 }, line)
}
