//! Scalars of the points: arithmetic modulo r, on challenges and evaluations.

use super::key::Key;
use super::layout::{EVALUATIONS_AT, INPUTS_AT};
use num_bigint::BigUint;
use residue_curves::bn254::Bn254;
use residue_curves::pairing::PairingCurve;
use residue_curves::pow_constant;
use residue_formula::Fe;
use residue_ir::{Machine, Variable, WordOp};

/// Challenges, as the transcript gives them: words below r.
pub(super) struct Challenges<W> {
    pub beta: W,
    pub gamma: W,
    pub alpha: W,
    pub xi: W,
    pub v: W,
    pub u: W,
}

/// Variables that hold scalars.
pub(super) struct Scalars {
    /// Of Qm, Ql, Qr, Qo, S₁, S₂, S₃ and the generator.
    pub of_key: [Variable; 8],
    /// Of A, B, C, Z, T₁, T₂, T₃, Wξ and Wξω.
    pub of_proof: [Variable; 9],
}

const OF_KEY: [&str; 8] = ["by_qm", "by_ql", "by_qr", "by_qo", "by_s1", "by_s2", "by_s3", "by_generator"];
const OF_PROOF: [&str; 9] = ["by_a", "by_b", "by_c", "by_z", "by_t1", "by_t2", "by_t3", "by_w", "by_ww"];

impl Scalars {
    /// The scalars for these challenges and the evaluations of the call.
    pub(super) fn new<M: Machine>(machine: &M, key: &Key, challenges: &Challenges<M::Word>) -> Self {
        let zero = machine.small(0);
        let scalars = Self {
            of_key: OF_KEY.map(|name| machine.variable(name, zero)),
            of_proof: OF_PROOF.map(|name| machine.variable(name, zero)),
        };
        let Challenges { beta, gamma, alpha, xi, v, u } = *challenges;
        let given = [("beta", beta), ("gamma", gamma), ("alpha", alpha), ("xi", xi), ("v", v), ("u", u)]
            .map(|(name, word)| machine.variable(name, word));
        machine.over("plonk_scalars", &Bn254::FAMILY.order(), |machine| {
            let challenges = given.map(|variable| machine.element_of(&[machine.get(variable)]));
            let (of_key, of_proof) = computed(machine, key, challenges);
            for (variable, value) in scalars.of_key.into_iter().zip(of_key) {
                machine.set(variable, machine.word_of(value, 0));
            }
            for (variable, value) in scalars.of_proof.into_iter().zip(of_proof) {
                machine.set(variable, machine.word_of(value, 0));
            }
        });
        scalars
    }
}

/// The element of calldata in the word at `at`.
fn element<M: Machine>(machine: &M, at: u32) -> M::Fe {
    machine.element_of(&[machine.calldata_word(machine.small(at.into()))])
}

/// 2019/953, §8.3, “Verifier algorithm”, in the form of snarkjs, whose last round has one more term: u·Z is in D.
fn computed<M: Machine>(machine: &M, key: &Key, challenges: [M::Fe; 6]) -> ([M::Fe; 8], [M::Fe; 9]) {
    let [beta, gamma, alpha, xi, v, u] = challenges;
    let [a, b, c, s1, s2, zw] = [0, 1, 2, 3, 4, 5].map(|number| element(machine, EVALUATIONS_AT + 32 * number));
    let [k1, k2] = key.k.each_ref().map(|k| machine.constant(k));
    let one = machine.one();
    let xi_n = (0..key.power).fold(xi, |power, _| power.square()); //                 ξⁿ
    let zh = xi_n - one; //                                                            ξⁿ − 1
    let (minus_pi, l1) = of_inputs(machine, key, xi, zh); //                           −PI(ξ) = Σ Lᵢ(ξ)·wᵢ, L₁(ξ)
    let l1_alpha2 = l1 * alpha.square(); //                                            L₁(ξ)·α²
    let pa = a + beta * s1 + gamma;
    let pb = b + beta * s2 + gamma;
    let permuted = pa * pb * alpha * zw; //                                            (a + βs₁ + γ)(b + βs₂ + γ)·α·zω
    let minus_r0 = minus_pi + l1_alpha2 + permuted * (c + gamma);
    let bx = beta * xi;
    let by_z = (a + bx + gamma) * (b + bx * k1 + gamma) * (c + bx * k2 + gamma) * alpha + l1_alpha2 + u;
    let v2 = v.square();
    let v3 = v2 * v;
    let v4 = v2.square();
    let v5 = v4 * v;
    let e = minus_r0 + v * a + v2 * b + v3 * c + v4 * s1 + v5 * s2 + u * zw;
    let t1 = -zh;
    let t2 = t1 * xi_n;
    let ux_omega = u * xi * machine.constant(&key.omega);
    ([a * b, a, b, c, v4, v5, -(permuted * beta), -e], [v, v2, v3, by_z, t1, t2, t2 * xi_n, xi, ux_omega])
}

/// Inputs whose terms are written out; more than these take a loop, as each has a constant of its own.
const WRITTEN_OUT: usize = 16;

/// Σ Lᵢ(ξ)·wᵢ for the inputs wᵢ, and L₁(ξ), with one inversion: Lᵢ(ξ) = ωⁱ·(ξⁿ − 1)/(n·(ξ − ωⁱ)), counted from 0. Both are 0 for a ξ that is one of the points.
fn of_inputs<M: Machine>(machine: &M, key: &Key, xi: M::Fe, zh: M::Fe) -> (M::Fe, M::Fe) {
    let r = Bn254::FAMILY.order();
    let first = xi - machine.one();
    let (sum, others) = fraction(machine, key, xi);
    let n = machine.constant(&(BigUint::from(1u32) << key.power));
    let all = others.map_or(n * first, |others| n * first * others);
    let power = |machine: &M, all| machine.function("scalar_inverse", all, |_, all| pow_constant(all, &(r - 2u32)));
    // (ξⁿ − 1)/(n·Π (ξ − ωⁱ)).
    let over_all = zh * machine.inverse(all, power);
    let l1 = others.map_or(over_all, |others| over_all * others);
    let of_first = (key.inputs > 0).then(|| l1 * element(machine, INPUTS_AT));
    let of_others = sum.map(|sum| over_all * (sum * first));
    let terms = of_first.into_iter().chain(of_others);
    (terms.reduce(|sum, term| sum + term).unwrap_or(machine.zero()), l1)
}

/// The numerator and the denominator of Σ ωⁱ·wᵢ/(ξ − ωⁱ) for all inputs but the first; none if there are no others.
fn fraction<M: Machine>(machine: &M, key: &Key, xi: M::Fe) -> (Option<M::Fe>, Option<M::Fe>) {
    let r = Bn254::FAMILY.order();
    let count = u32::try_from(key.inputs).expect("keys have fewer inputs");
    if count < 2 {
        return (None, None);
    }
    let omega = machine.constant(&key.omega);
    let begin = [element(machine, INPUTS_AT + 32) * omega, xi - omega];
    let and = |[sum, product]: [M::Fe; 2], omega: M::Fe, input: M::Fe| {
        let next = xi - omega;
        [sum * next + input * omega * product, product * next]
    };
    let [sum, product] = if key.inputs <= WRITTEN_OUT {
        (2..count).fold(begin, |fraction, number| {
            let omega = machine.constant(&key.omega.modpow(&number.into(), &r));
            and(fraction, omega, element(machine, INPUTS_AT + 32 * number))
        })
    } else {
        let turns = machine.small(u64::from(count - 2));
        let (fraction, _) = machine.repeat(turns, (begin, omega), |machine, turn, (fraction, power)| {
            let at = machine.word_op(WordOp::Mul, turn, machine.small(32));
            let at = machine.word_op(WordOp::Add, at, machine.small(u64::from(INPUTS_AT) + 64));
            let power = power * machine.constant(&key.omega);
            (and(fraction, power, machine.element_of(&[machine.calldata_word(at)])), power)
        });
        fraction
    };
    (Some(sum), Some(product))
}
