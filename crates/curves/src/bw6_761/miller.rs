//! The Miller loop of an optimal ate pairing of BW6-761, over many pairs with one accumulator.
//!
//! With v = (u − 1)/3, S = (1 + ψ)·v·Q and α = (u² − ψ)·(1 + ψ)·v − ψ² the norm of α over ψ² − ψ + 1 = 0 is r (tested below), and α·Q = u²·S − ψ(S) − ψ²(Q). So α is zero at
//! p modulo r, where ψ is p on G2, and the function of the chain that computes α·Q is a pairing: Vercauteren 2010 (2008/096), §III; Hess 2008 (2008/125), theorem 1. El Housni and
//! Guillevic 2020 (2020/351), §3.3, take α·(1 + ψ), whose norm is 3r; α does with one chain of 187 doublings, as v and u have few bits, and finds points of order three too.
//!
//! The chain goes from Q to R = v·Q, from there to S = R + ψ(R), and by u twice to u²·S. The function h of S is f_v·f_vᵖ and the line through R and ψ(R); where S is added to
//! a multiple of it the accumulator is multiplied by h, and where u·S is by the accumulator of that. f_v of ψ(Q) is that of Q to the power p. In the end −ψ(S) is added, with
//! h⁻ᵖ. Inverses are conjugates: a norm to Fp3 is removed by the final exponentiation. The last line, that through ψ²(Q), is vertical and removed too.

use super::final_exponentiation::multiply;
use super::fp6::{Fp6, Line, conjugate, frobenius, mul_by_line, one};
use super::{U, constants};
use crate::conditions::{Conditions, all_vanish};
use crate::group::{Affine, Projective};
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

/// State of a pair in the loop: T and P.
#[derive(Clone, Copy, Debug)]
pub struct Running<F> {
    t: Projective<F>,
    p: EvaluationPoint<F>,
}

bundle!(Running { t: Projective<F>, p: EvaluationPoint<F> });

/// A point that steps add, and P times its Z.
#[derive(Clone, Copy, Debug)]
pub struct Base<F> {
    point: Projective<F>,
    /// x·Z.
    x: F,
    /// 2y·Z.
    twice_y: F,
}

bundle!(Base { point: Projective<F>, x: F, twice_y: F });

impl<F: Fe> Base<F> {
    /// A point of the chain, with P.
    fn new(point: Projective<F>, p: EvaluationPoint<F>) -> Self {
        Self { point, x: p.x * point.z, twice_y: p.twice_y * point.z }
    }

    /// −ψ(x, y) = (β·x, y), with the same P.
    fn opposite_image(self, beta: F) -> Self {
        Self { point: Projective { x: self.point.x * beta, ..self.point }, ..self }
    }
}

/// The pairs (P, Q) of a check, scaled, and points of their chains.
#[derive(Debug)]
pub struct Pairs<F> {
    p: Array<EvaluationPoint<F>>,
    q: Array<Affine<F>>,
    /// The points that steps add: Q, S, and u·S.
    base: Array<Base<F>>,
    /// S.
    sum: Array<Base<F>>,
}

impl<F: Fe> Pairs<F> {
    /// No pairs yet, and room for `room` of them.
    pub fn new<M: Machine<Fe = F>>(machine: &M, room: M::Word) -> Self {
        let pairs = Self {
            p: machine.array("pairing_p", Capacity::Unbounded),
            q: machine.array("pairing_q", Capacity::Unbounded),
            base: machine.array("pairing_base", Capacity::Unbounded),
            sum: machine.array("pairing_sum", Capacity::Unbounded),
        };
        machine.reserve(pairs.p, room);
        machine.reserve(pairs.q, room);
        machine.reserve(pairs.base, room);
        machine.reserve(pairs.sum, room);
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

/// Pairs that a loop takes. Their states stay in slots, each with a doubling step of its own written out: 570 bytes of code with field instructions.
pub const PAIRS_MAX: usize = 8;

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

/// The addition step of [`crate::pairing::steps::addition_step`] for a point with a Z of its own.
pub fn addition_step<F: Fe>(t: Projective<F>, base: Base<F>) -> (Projective<F>, Line<F>) {
    let _scope = enter("addition_step");
    let Base { point: q, x, twice_y } = base;
    let (x1, y1, z1) = (t.x * q.z, t.y * q.z, t.z * q.z); // T over the denominator of both
    let theta = y1 - t.z * q.y; //                     θ = Y₁ − yQ·Z₁
    let lambda = x1 - t.z * q.x; //                    λ = X₁ − xQ·Z₁
    let c = theta.square(); //                         C = θ²
    let d = lambda.square(); //                        D = λ²
    let e = lambda * d; //                             E = λ³
    let f = z1 * c; //                                 F = Z₁·C
    let g = x1 * d; //                                 G = X₁·D
    let h = e + f - g.double(); //                     H = E + F − 2G
    let y3 = theta * (g - h) - y1 * e; //              Y₃ = θ·(G − H) − Y₁·E
    let j = theta * q.x - lambda * q.y; //             J = (θ·xQ − λ·yQ)·Z
    let line = Line { of_one: j, of_i: lambda * twice_y, of_vv: theta * x };
    (Projective { x: lambda * h, y: y3, z: z1 * e }, line)
}

/// T ↦ T + ψ(T), with the line through both; Z₃ = 0 where X is 0.
fn sum_with_image<F: Fe>(t: Projective<F>, p: EvaluationPoint<F>, one_minus_beta: F) -> (Projective<F>, Line<F>) {
    let _scope = enter("addition_step");
    let Projective { x, y, z } = t;
    let n = y.double(); //                             N = 2·Y
    let d = x * one_minus_beta; //                     D = (1 − β)·X: the slope is N/D
    let cube = x.square() * x; //                      X³
    let u = n.square() * z - (cube.double() + cube); //  U = N²·Z − 3X³, as β²·(1 − β)² = −3
    let dd = d.square();
    let ddd = dd * d;
    let y3 = n * (x * dd - u) - y * ddd; //            Y₃ = N·(X·D² − U) − Y·D³
    let sum = Projective { x: u * d, y: y3, z: ddd * z };
    let line = Line { of_one: n * x - d * y, of_i: d * z * p.twice_y, of_vv: n * z * p.x };
    (sum, line)
}

/// The parts of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// f ↦ f².
    Square,
    /// T ↦ 2T, for each pair.
    Doublings,
    /// T ↦ T plus the point that is added now, for each pair.
    Additions,
    /// f ↦ f·h.
    Product,
    /// f ↦ f·fᵖ.
    Power,
    /// T ↦ T + ψ(T), for each pair: these and f are S and h from here on.
    Images,
    /// T and f are the point that is added and h from here on.
    Restart,
}

const PARTS: [Part; 7] =
    [Part::Square, Part::Doublings, Part::Additions, Part::Product, Part::Power, Part::Images, Part::Restart];

/// v = (u − 1)/3.
const V: u64 = (U - 1) / 3;

/// The parts in order.
fn order() -> Vec<usize> {
    let mut order = Vec::new();
    let by = |order: &mut Vec<Part>, k: u64, at_bit: &[Part]| {
        for place in (0..k.ilog2()).rev() {
            order.extend([Part::Square, Part::Doublings]);
            if k >> place & 1 == 1 {
                order.extend(at_bit);
            }
        }
    };
    by(&mut order, V, &[Part::Additions]);
    order.remove(0); // f is 1
    order.extend([Part::Power, Part::Images]);
    by(&mut order, U, &[Part::Additions, Part::Product]);
    order.push(Part::Restart);
    by(&mut order, U, &[Part::Additions, Part::Product]);
    let number = |part| PARTS.iter().position(|&other| other == part).expect("all parts are in the list");
    order.into_iter().map(number).collect()
}

/// The product of the Miller functions over the first `count` of `pairs`, one to [`PAIRS_MAX`], up to factors that the final exponentiation
/// removes, and `conditions` with what holds exactly if every Q, which lies on the twist, is in G2. `keep` takes the product.
///
/// Exact for every Q on the twist. Each step is absorbing: where it meets an exceptional case Z is 0 from there on. If Z ≠ 0 in the end, no case was met, so that α·Q = 0 is
/// compared; as ψ² − ψ + 1 = 0 on the whole twist, the norm r of α gives r·Q = 0 then. For Q in G2 no case is met: Q, S and u·S are not zero, as 1 + ψ, v and u have norms below r; T
/// is a multiple of the point that is added by more than one and less than r − 1; and so has u² ± ψ in the end a norm below r.
pub fn miller_loop<M: Machine>(
    machine: &M,
    pairs: &Pairs<M::Fe>,
    count: M::Word,
    conditions: Conditions<M::Fe>,
    keep: impl FnOnce(&M, Fp6<M::Fe>),
) -> Conditions<M::Fe> {
    let _scope = enter("miller_loop");
    let functions = machine.array("pairing_functions", Capacity::Fixed(2));
    machine.reserve(functions, machine.small(2));
    let chain = Chain::<M> { pairs, count, functions };
    let start = (one(machine), chain.start(machine));
    let state =
        machine.sequence(&order(), PARTS.len(), start, |machine, part, state| chain.part(machine, PARTS[part], state));
    let (f, in_slots) = chain.end(machine, state);
    keep(machine, f);
    chain.membership(machine, in_slots, conditions)
}

/// The chain of a check.
struct Chain<'a, M: Machine> {
    pairs: &'a Pairs<M::Fe>,
    count: M::Word,
    /// h of the point that is added now, and of S.
    functions: Array<Fp6<M::Fe>>,
}

impl<M: Machine> Chain<'_, M> {
    /// A step for each pair.
    fn each(&self, machine: &M, state: State<M::Fe>, step: Step<'_, M>) -> State<M::Fe> {
        machine.countdown(self.count, PAIRS_MAX, state, |machine, pair, (f, mut in_slots)| {
            let (f, running) = step(machine, pair_word(machine, pair), f, in_slots[pair]);
            in_slots[pair] = running;
            (f, in_slots)
        })
    }

    /// The pairs with T = Q.
    fn start(&self, machine: &M) -> [Running<M::Fe>; PAIRS_MAX] {
        let none = Running::from_list(vec![machine.zero(); <Running<M::Fe> as Bundle<M::Fe>>::LEN]);
        machine.countdown(self.count, PAIRS_MAX, [none; PAIRS_MAX], |machine, pair, mut in_slots| {
            let index = pair_word(machine, pair);
            let (p, Affine { x, y }) = (machine.load(self.pairs.p, index), machine.load(self.pairs.q, index));
            let t = Projective { x, y, z: machine.one() };
            machine.store(self.pairs.base, index, Base { point: t, x: p.x, twice_y: p.twice_y });
            in_slots[pair] = Running { t, p };
            in_slots
        })
    }

    fn part(&self, machine: &M, part: Part, (f, in_slots): State<M::Fe>) -> State<M::Fe> {
        let (now, first) = (|machine: &M| machine.small(0), |machine: &M| machine.small(1));
        match part {
            Part::Square => (f.square(), in_slots),
            Part::Doublings => self.each(machine, (f, in_slots), &|_, _, f, running| {
                let (t, line) = doubling_step(running.t, running.p);
                (mul_by_line(f, line), Running { t, ..running })
            }),
            Part::Additions => self.each(machine, (f, in_slots), &|machine, index, f, running| {
                add(machine, f, running, machine.load(self.pairs.base, index))
            }),
            Part::Product => (multiply(machine, f, machine.load(self.functions, now(machine))), in_slots),
            Part::Power => (multiply(machine, f, frobenius(machine, f)), in_slots),
            Part::Images => {
                let (f, in_slots) = self.each(machine, (f, in_slots), &|machine, index, f, Running { t, p }| {
                    let (f, t, base) = machine.function("miller_sum_with_image", (f, t, p), |machine, (f, t, p)| {
                        let (t, line) = sum_with_image(t, p, machine.one() - beta(machine));
                        (mul_by_line(f, line), t, Base::new(t, p))
                    });
                    machine.store(self.pairs.base, index, base);
                    machine.store(self.pairs.sum, index, base);
                    (f, Running { t, p })
                });
                machine.store(self.functions, now(machine), f);
                machine.store(self.functions, first(machine), f);
                (f, in_slots)
            }
            Part::Restart => {
                let (f, in_slots) = self.each(machine, (f, in_slots), &|machine, index, f, running| {
                    machine.store(self.pairs.base, index, Base::new(running.t, running.p));
                    (f, running)
                });
                machine.store(self.functions, now(machine), f);
                (f, in_slots)
            }
        }
    }

    /// T ↦ T − ψ(S), for each pair.
    fn end(&self, machine: &M, (f, in_slots): State<M::Fe>) -> State<M::Fe> {
        let of_sum = machine.load(self.functions, machine.small(1));
        let f = multiply(machine, f, conjugate(frobenius(machine, of_sum)));
        self.each(machine, (f, in_slots), &|machine, index, f, running| {
            add(machine, f, running, machine.load(self.pairs.sum, index).opposite_image(beta(machine)))
        })
    }

    /// T = ψ²(Q) = (β²·x, y) and Z ≠ 0, for each pair.
    fn membership(
        &self,
        machine: &M,
        in_slots: [Running<M::Fe>; PAIRS_MAX],
        conditions: Conditions<M::Fe>,
    ) -> Conditions<M::Fe> {
        machine.countdown(self.count, PAIRS_MAX, conditions, |machine, pair, conditions| {
            let q = machine.load(self.pairs.q, pair_word(machine, pair));
            let Running { t, .. } = in_slots[pair];
            machine.function("miller_membership", (conditions, q, t), |machine, (conditions, q, t)| {
                let x = q.x * machine.constant(&constants().beta_squared);
                let vanishing = all_vanish(&[t.x - x * t.z, t.y - q.y * t.z]);
                conditions.and(Conditions { vanishing, invertible: t.z })
            })
        })
    }
}

/// β.
fn beta<M: Machine>(machine: &M) -> M::Fe {
    machine.constant(&constants().beta)
}

/// The index of a pair.
fn pair_word<M: Machine>(machine: &M, pair: usize) -> M::Word {
    machine.small(pair as u64) // usize to u64 widens
}

/// Operation of a part on a pair, by its index.
type Step<'a, M> = &'a dyn Fn(
    &M,
    <M as Machine>::Word,
    Fp6<<M as Machine>::Fe>,
    Running<<M as Machine>::Fe>,
) -> (Fp6<<M as Machine>::Fe>, Running<<M as Machine>::Fe>);

/// The state of the loop: f, and the pairs in slots.
type State<F> = (Fp6<F>, [Running<F>; PAIRS_MAX]);

/// An addition step of one pair, as a function: there are few of them.
fn add<M: Machine>(
    machine: &M,
    f: Fp6<M::Fe>,
    running: Running<M::Fe>,
    base: Base<M::Fe>,
) -> (Fp6<M::Fe>, Running<M::Fe>) {
    let (f, t) = machine.function("miller_addition", (f, running.t, base), |_, (f, t, base)| {
        let (t, line) = addition_step(t, base);
        (mul_by_line(f, line), t)
    });
    (f, Running { t, ..running })
}

#[cfg(test)]
mod tests {
    use super::super::order as group_order;
    use super::*;
    use num_bigint::BigInt;

    /// x + y·ψ over ψ² − ψ + 1 = 0.
    type Element = [BigInt; 2];

    fn times([a, b]: &Element, [c, d]: &Element) -> Element {
        [a * c - b * d, a * d + b * c + b * d]
    }

    #[test]
    fn the_norm_of_the_chain_is_the_order() {
        let [u, v] = [U, V].map(BigInt::from);
        let element = |x: BigInt, y: i32| [x, y.into()];
        assert_eq!(&v * 3 + 1, u);
        let sum = times(&element(u.pow(2), -1), &times(&element(1.into(), 1), &element(v, 0)));
        let [mut x, mut y] = sum;
        (x, y) = (x + 1, y - 1); // −ψ² = 1 − ψ
        assert_eq!(x.pow(2) + &x * &y + y.pow(2), group_order().into());
        // Zero at p modulo r, which satisfies the same equation.
        let (p, r) = (BigInt::from(super::super::modulus()), BigInt::from(group_order()));
        assert_eq!((&p * &p - &p + 1) % &r, BigInt::ZERO);
        assert_eq!((x + y * p) % r, BigInt::ZERO);
    }
}
