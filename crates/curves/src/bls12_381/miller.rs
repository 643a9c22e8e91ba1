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
use crate::conditions::Conditions;
use crate::fp2::Fp2;
use crate::fp12::{Fp12, Sparse023};
use crate::group::{Affine, Projective};
use residue_ir::{Array, Capacity, Machine};
use residue_modular::{Fe, bundle};

/// P of a pair in the form that line evaluation wants.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationPoint<F> {
    /// −3x.
    pub minus_3x: F,
    /// y.
    pub y: F,
}

bundle!(EvaluationPoint { minus_3x: F, y: F });

/// The pairs (P, Q) of a check, scaled, with the running multiple T of each Q.
#[derive(Debug)]
pub struct Pairs<F> {
    p: Array<EvaluationPoint<F>>,
    q: Array<Affine<Fp2<F>>>,
    t: Array<Projective<Fp2<F>>>,
}

impl<F: Fe> Pairs<F> {
    /// No pairs yet, and room for `room` of them.
    pub fn new<M: Machine<Fe = F>>(machine: &M, room: M::Word) -> Self {
        let pairs = Self {
            p: machine.array("pairing_p", Capacity::Unbounded),
            q: machine.array("pairing_q", Capacity::Unbounded),
            t: machine.array("pairing_t", Capacity::Unbounded),
        };
        machine.reserve(pairs.p, room);
        machine.reserve(pairs.q, room);
        machine.reserve(pairs.t, room);
        pairs
    }

    /// Sets pair `index` to (P, Q): points on their curves, neither of them the identity.
    pub fn store<M: Machine<Fe = F>>(&self, machine: &M, index: M::Word, p: Affine<F>, q: Affine<Fp2<F>>) {
        let constants = constants();
        let mu_squared = machine.constant(&constants.mu_squared);
        let mu_cubed = machine.constant(&constants.mu_cubed);
        let minus_3x = p.x * machine.constant(&constants.minus_three_mu_squared);
        let q = Affine::new(q.x.scale(mu_squared), q.y.scale(mu_cubed));
        machine.store(self.p, index, EvaluationPoint { minus_3x, y: p.y * mu_cubed });
        machine.store(self.q, index, q);
        machine.store(self.t, index, Projective { x: q.x, y: q.y, z: Fp2::new(machine.one(), machine.zero()) });
    }

    /// After the loop: what holds exactly if Q of pair `index`, which lies on the twist, is in G2.
    pub fn membership<M: Machine<Fe = F>>(&self, machine: &M, index: M::Word) -> Conditions<F> {
        g2::membership_from_multiple(machine, machine.load(self.q, index), machine.load(self.t, index))
    }
}

/// The product of f_{x,Q}(P) over the first `count` pairs, up to factors that the final exponentiation removes.
pub fn miller_loop<M: Machine>(machine: &M, pairs: &Pairs<M::Fe>, count: M::Word) -> Fp12<M::Fe> {
    let digits: Vec<i8> = (0..X_ABS.ilog2()).rev().map(|bit| i8::from(X_ABS >> bit & 1 == 1)).collect();
    let third = machine.constant(&constants().third);
    let f = machine.repeat_digits(
        &digits,
        one(machine),
        |machine, f| {
            machine.repeat(count, f.square(), |machine, pair, f| {
                let (t, line) = doubling_step(machine.load(pairs.t, pair), machine.load(pairs.p, pair));
                machine.store(pairs.t, pair, t);
                f.mul_by_023(line)
            })
        },
        |machine, _, f| {
            machine.repeat(count, f, |machine, pair, f| {
                let (t, q) = (machine.load(pairs.t, pair), machine.load(pairs.q, pair));
                let (t, line) = addition_step(t, q, machine.load(pairs.p, pair), third);
                machine.store(pairs.t, pair, t);
                f.mul_by_023(line)
            })
        },
    );
    f.conjugate() // x is negative: f_{−|x|} is 1/f_{|x|} up to vertical lines, and its conjugate up to norms; both vanish
}

/// (T, P) ↦ (2T, tangent at T evaluated at P) on the scaled twist, where 3b″ = 2ξ. Aranha et al. 2011, §4, with X₃, Y₃ and
/// Z₃ times 4. The line is (Y² − 3b″Z²) − 3X²·xP·w² + 2YZ·yP·w³.
pub fn doubling_step<F: Fe>(t: Projective<Fp2<F>>, p: EvaluationPoint<F>) -> (Projective<Fp2<F>>, Sparse023<F>) {
    let Projective { x: x1, y: y1, z: z1 } = t;
    let a = (x1 * y1).double(); //                             A = 2·X₁·Y₁
    let b = y1.square(); //                                    B = Y₁²
    let e = z1.square().mul_by_nonresidue().double(); //       E = 3b″·Z₁² = 2ξ·Z₁²
    let e2 = e.double(); //                                    2E
    let f = e + e2; //                                         F = 3E
    let g = b + f; //                                          G = B + F
    let h = (y1 * z1).double(); //                             H = 2·Y₁·Z₁
    let j = x1.square(); //                                    J = X₁²
    let k = e2.square(); //                                    K = 4E²
    let x3 = a * (b - f); //                                   X₃ = A·(B − F)
    let y3 = g.square() - k - k - k; //                        Y₃ = G² − 12E²
    let z3 = (b * h).double().double(); //                     Z₃ = 4·B·H
    let line = Sparse023 { l0: b - e, l2: j.scale(p.minus_3x), l3: h.scale(p.y) };
    (Projective { x: x3, y: y3, z: z3 }, line)
}

/// (T, Q, P, 1/3) ↦ (T + Q, line through T and Q evaluated at P). Aranha et al. 2011, §4.
/// The line is (θ·xQ − λ·yQ) − θ·xP·w² + λ·yP·w³.
pub fn addition_step<F: Fe>(
    t: Projective<Fp2<F>>,
    q: Affine<Fp2<F>>,
    p: EvaluationPoint<F>,
    third: F,
) -> (Projective<Fp2<F>>, Sparse023<F>) {
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

/// 1 in Fp12.
pub fn one<M: Machine>(machine: &M) -> Fp12<M::Fe> {
    let zero = Fp2::new(machine.zero(), machine.zero());
    let one = Fp2::new(machine.one(), machine.zero());
    Fp12::from_coefficients([one, zero, zero, zero, zero, zero])
}
