//! The Miller loop of the optimal ate pairing of BW6-761, over many pairs with one accumulator.
//!
//! The pairing is f_{a,Q}(P)·f_{b,Q}(P)ᵖ for a = u + 1 and b = u³ − u² − u, as a + b·p is a multiple of r: El Housni and Guillevic 2020
//! (2020/351), §3.3. f_{b,Q}(P)ᵖ is f_{b,ψ(Q)}(P), so that one loop over the digits of both does: T = a·Q + b·ψ(Q), with one square and one
//! doubling for a digit of each; no two digits of a and b that are not 0 are at one place.
//!
//! T ends as the identity for Q in G2. The last step adds −ψ(Q), and its line is vertical, which the final exponentiation removes: so it is left
//! out, and T compared with ψ(Q).

use super::fp6::{Fp6, Line, mul_by_line, one};
use super::{U, constants};
use crate::conditions::{Conditions, all_vanish};
use crate::group::{Affine, Projective};
use crate::ladder::signed_digits;
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};
use residue_ir::{Array, Bundle, Capacity, Machine};

/// P as lines take it, with coordinates changed by μ.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationPoint<F> {
    /// x.
    pub x: F,
    /// 3x.
    pub triple_x: F,
    /// 2y.
    pub twice_y: F,
}

bundle!(EvaluationPoint { x: F, triple_x: F, twice_y: F });

/// State of a pair in the loop: T, P and Q.
#[derive(Clone, Copy, Debug)]
pub struct Running<F> {
    t: Projective<F>,
    p: EvaluationPoint<F>,
    q: Affine<F>,
}

bundle!(Running { t: Projective<F>, p: EvaluationPoint<F>, q: Affine<F> });

/// The pairs (P, Q) of a check, scaled.
#[derive(Debug)]
pub struct Pairs<F> {
    p: Array<EvaluationPoint<F>>,
    q: Array<Affine<F>>,
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

    /// Sets pair `index` to (P, Q): points on their curves, neither of them the identity; or (0, 1) for an identity P.
    pub fn store<M: Machine<Fe = F>>(&self, machine: &M, index: M::Word, p: Affine<F>, q: Affine<F>) {
        let [to_x, to_y] = [&constants().mu_squared, &constants().mu_cubed].map(|value| machine.constant(value));
        let x = p.x * to_x;
        let p = EvaluationPoint { x, triple_x: x.double() + x, twice_y: (p.y * to_y).double() };
        machine.store(self.p, index, p);
        machine.store(self.q, index, Affine::new(q.x * to_x, q.y * to_y));
    }
}

/// Pairs that a loop takes. Their states stay in slots, each with a doubling step of its own written out; with six the pairing check has more than
/// 24 576 bytes of code.
pub const PAIRS_MAX: usize = 5;

/// Replacement for P that makes its factor one in the end, for any Q in G2: (0, 1). A line there has coefficients of 1
/// and i alone and lies in Fp2, whose elements the final exponentiation maps to one: r divides p² − p + 1, so (p⁶ −
/// 1)/r is a multiple of p² − 1.
pub fn stand_in<M: Machine>(machine: &M) -> Affine<M::Fe> {
    Affine::new(machine.zero(), machine.one())
}

/// The doubling step on y² = x³ + b″ with 3b″ = −1, with the line in the basis 1, i, v²: [`crate::pairing::steps::doubling_step`] for E = −Z², where
/// w² = −v² and w³ = 2i.
pub fn doubling_step<F: Fe>(t: Projective<F>, p: EvaluationPoint<F>) -> (Projective<F>, Line<F>) {
    let _scope = enter("doubling_step");
    let Projective { x, y, z } = t;
    let a = (x * y).double(); //                       A = 2·X·Y
    let b = y.square(); //                             B = Y²
    let c = z.square(); //                             C = Z² = −E
    let c2 = c.double();
    let c3 = c2 + c; //                                3C = −F
    let g = b - c3; //                                 G = B + F
    let h = (y * z).double(); //                       H = 2·Y·Z
    let k = c2.square(); //                            K = 4E²
    let x3 = a * (b + c3); //                          X₃ = A·(B − F)
    let y3 = g.square() - (k.double() + k); //         Y₃ = G² − 12E²
    let z3 = (b * h).double().double(); //             Z₃ = 4·B·H
    let line = Line { of_one: b + c, of_i: h * p.twice_y, of_vv: x.square() * p.triple_x };
    (Projective { x: x3, y: y3, z: z3 }, line)
}

/// The addition step, as [`crate::pairing::steps::addition_step`] has it.
pub fn addition_step<F: Fe>(t: Projective<F>, q: Affine<F>, p: EvaluationPoint<F>) -> (Projective<F>, Line<F>) {
    let _scope = enter("addition_step");
    let Projective { x: x1, y: y1, z: z1 } = t;
    let theta = y1 - z1 * q.y; //                      θ = Y₁ − yQ·Z₁
    let lambda = x1 - z1 * q.x; //                     λ = X₁ − xQ·Z₁
    let c = theta.square(); //                         C = θ²
    let d = lambda.square(); //                        D = λ²
    let e = lambda * d; //                             E = λ³
    let f = z1 * c; //                                 F = Z₁·C
    let g = x1 * d; //                                 G = X₁·D
    let h = e + f - g.double(); //                     H = E + F − 2G
    let y3 = theta * (g - h) - y1 * e; //              Y₃ = θ·(G − H) − Y₁·E
    let j = theta * q.x - lambda * q.y; //             J = θ·xQ − λ·yQ
    let line = Line { of_one: j, of_i: lambda * p.twice_y, of_vv: theta * p.x };
    (Projective { x: lambda * h, y: y3, z: z1 * e }, line)
}

/// ψ(x, y) = (β·x, −y).
fn psi<M: Machine>(machine: &M, q: Affine<M::Fe>) -> Affine<M::Fe> {
    Affine::new(q.x * machine.constant(&constants().beta), -q.y)
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
    /// T ↦ T + ψ(Q).
    Images,
    /// T ↦ T − ψ(Q).
    OppositeImages,
}

const PARTS: [Part; 5] = [Part::Square, Part::Doublings, Part::Additions, Part::Images, Part::OppositeImages];

/// The parts in the order of the digits below the first one of b, without the last addition.
fn order() -> Vec<usize> {
    let u = u128::from(U);
    let a = u + 1;
    // u³ − u² − u = u·(u² − u − 1) has 190 bits.
    let b = long_signed_digits();
    let length = b.len();
    let mut order = Vec::new();
    for (at, &digit) in b.iter().enumerate().skip(1) {
        let place = length - 1 - at;
        if at > 1 {
            order.push(Part::Square);
        }
        order.push(Part::Doublings);
        let of_a = place < 128 && a >> place & 1 == 1;
        assert!(!of_a || digit == 0, "one digit at a place");
        order.extend(of_a.then_some(Part::Additions));
        if place > 0 {
            order.extend((digit > 0).then_some(Part::Images));
            order.extend((digit < 0).then_some(Part::OppositeImages));
        } else {
            assert_eq!(digit, -1, "the loop ends with −ψ(Q)");
        }
    }
    let number = |part| PARTS.iter().position(|&other| other == part).expect("all parts are in the list");
    order.into_iter().map(number).collect()
}

/// The digits of b = u³ − u² − u in its non-adjacent form.
fn long_signed_digits() -> Vec<i8> {
    use num_bigint::BigUint;
    let u = BigUint::from(U);
    let b = u.pow(3) - u.pow(2) - &u;
    // From the lower half, below 2¹²⁰, and the upper one: 2¹²⁰ at a time, with the carry.
    let low_bits = 120u32;
    let mask = (BigUint::from(1u8) << low_bits) - 1u32;
    let word = |value: BigUint| u128::try_from(value).expect("it has 120 bits at most");
    let mut low = signed_digits(word(&b & mask));
    let mut high = word(b >> low_bits);
    while low.len() <= low_bits as usize {
        low.insert(0, 0);
    }
    high += u128::from(low.remove(0) > 0);
    [signed_digits(high), low].concat()
}

/// The product of the Miller functions over the first `count` of `pairs`, one to [`PAIRS_MAX`], up to factors that the final exponentiation
/// removes, and `conditions` with what holds exactly if every Q, which lies on the twist, is in G2 but for a part of order three, see
/// [`super::has_no_part_of_order_three`]. `keep` takes the product.
///
/// For T = k·Q + l·ψ(Q) before an addition of ±Q or ±ψ(Q), the norm of k + l·ψ and of what it would be at an exceptional case is below r, and so no
/// case is met for Q in G2. If Z ≠ 0 in the end, none was met whatever Q is, and (a + b·ψ)(Q) = 0; as for G1, see [`super::g1_membership`], this
/// gives 3r·Q = 0.
pub fn miller_loop<M: Machine>(
    machine: &M,
    pairs: &Pairs<M::Fe>,
    count: M::Word,
    conditions: Conditions<M::Fe>,
    keep: impl FnOnce(&M, Fp6<M::Fe>),
) -> Conditions<M::Fe> {
    let _scope = enter("miller_loop");
    let each = |machine: &M, state: State<M::Fe>, step: Step<'_, M>| {
        machine.countdown(count, PAIRS_MAX, state, |machine, pair, (f, mut in_slots)| {
            let (f, running) = step(machine, f, in_slots[pair]);
            in_slots[pair] = running;
            (f, in_slots)
        })
    };
    let none = Running::from_list(vec![machine.zero(); <Running<M::Fe> as Bundle<M::Fe>>::LEN]);
    let loaded = machine.countdown(count, PAIRS_MAX, [none; PAIRS_MAX], |machine, pair, mut in_slots| {
        let index = machine.small(pair as u64); // usize to u64 widens
        let (p, q) = (machine.load(pairs.p, index), machine.load(pairs.q, index));
        let start = psi(machine, q);
        in_slots[pair] = Running { t: Projective { x: start.x, y: start.y, z: machine.one() }, p, q };
        in_slots
    });
    let (f, in_slots) =
        machine.sequence(&order(), PARTS.len(), (one(machine), loaded), |machine, part, (f, in_slots)| {
            match PARTS[part] {
                Part::Square => (f.square(), in_slots),
                Part::Doublings => each(machine, (f, in_slots), &|_, f, running| {
                    let (t, line) = doubling_step(running.t, running.p);
                    (mul_by_line(f, line), Running { t, ..running })
                }),
                Part::Additions => {
                    each(machine, (f, in_slots), &|machine, f, running| add(machine, f, running, running.q))
                }
                Part::Images => each(machine, (f, in_slots), &|machine, f, running| {
                    add(machine, f, running, psi(machine, running.q))
                }),
                Part::OppositeImages => each(machine, (f, in_slots), &|machine, f, running| {
                    let q = Affine::new(running.q.x * machine.constant(&constants().beta), running.q.y);
                    add(machine, f, running, q)
                }),
            }
        });
    keep(machine, f);
    machine.countdown(count, PAIRS_MAX, conditions, |machine, pair, conditions| {
        let Running { t, q, .. } = in_slots[pair];
        machine.function("miller_membership", (conditions, q, t), |machine, (conditions, q, t)| {
            let image = psi(machine, q);
            let vanishing = all_vanish(&[t.x - image.x * t.z, t.y - image.y * t.z]);
            conditions.and(Conditions { vanishing, invertible: t.z })
        })
    })
}

/// Operation of a part on a pair.
type Step<'a, M> = &'a dyn Fn(&M, Fp6<<M as Machine>::Fe>, Running<<M as Machine>::Fe>) -> StepOf<<M as Machine>::Fe>;

/// f and the state of a pair.
type StepOf<F> = (Fp6<F>, Running<F>);

/// The state of the loop: f, and the pairs in slots.
type State<F> = (Fp6<F>, [Running<F>; PAIRS_MAX]);

/// An addition step of one pair, as a function: there are few of them.
fn add<M: Machine>(machine: &M, f: Fp6<M::Fe>, running: Running<M::Fe>, q: Affine<M::Fe>) -> StepOf<M::Fe> {
    let (f, t) = machine.function("miller_addition", (f, running.t, q, running.p), |_, (f, t, q, p)| {
        let (t, line) = addition_step(t, q, p);
        (mul_by_line(f, line), t)
    });
    (f, Running { t, ..running })
}
