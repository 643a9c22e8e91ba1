//! Bandersnatch, −5·x² + y² = 1 + d·x²·y² over the scalar field of BLS12-381: Masson, Sanso and Zhang 2021 (2021/1152).
//!
//! It has 4·l points and l is a prime. Neither −5 nor d is a square, so formulas are complete for points of the subgroup alone ([`crate::twisted_edwards`]), and
//! [`is_in_subgroup`] tells which those are. It has an endomorphism of degree two, [`endomorphism`], by which scalars are halved.

use crate::chain::pow_constant;
use crate::edwards25519::Extended;
use crate::glv::split::Split;
use crate::group::Affine;
use crate::twisted_edwards::{EdwardsCurve, identity};
use crate::windows;
use num_bigint::{BigInt, BigUint};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, WordOp};
use residue_modular::fields::Bls12_381Fr;
use std::marker::PhantomData;

/// The curve: 2021/1152, §3; scalars count modulo l.
pub static BANDERSNATCH: EdwardsCurve<Bls12_381Fr> = EdwardsCurve {
    a: -5,
    d: "45022363124591815672509500913686876175488063829319466900776701791074614335719",
    base: [
        "18886178867200960497001835917649091219057080094937609519140440539760939937304",
        "19188667384257783945677642223292697773471335439753913231509108946878080696678",
    ],
    order: "13108968793781547619861935127046491459309155893440570251786403306729687672801",
    field: PhantomData,
};

/// Two vectors that span all (a, b) with a + b·λ = 0 modulo l, λ² = −2: by the reduction of Lagrange and Gauss.
const VECTORS: [[&str; 2]; 2] = [
    ["113482231691339203864511368254957623327", "10741319382058138887739339959866629956"],
    ["-21482638764116277775478679919733259912", "113482231691339203864511368254957623327"],
];

/// Digits to the base 16 of half a scalar.
const HALF_PLACES: usize = 32;

/// b and c of [`endomorphism`].
const ENDOMORPHISM: [&str; 2] = [
    "52c9f28b828426a561f00d3a63511a882ea712770d9af4d6ee0f014d172510b4",
    "6cc624cf865457c3a97c6efd6c17d1078456abcfff36f4e9515c806cdf650b3d",
];

/// e = (1 + u)/(1 − u) for a root u of u² + 2(a + d)/(a − d)·u + 1, the abscissa of a point of order two on the curve in Montgomery's form.
const E: &str = "37446463827641770816307242315180085052603635617490163568005256780843403514038";

/// a ↦ a^((p − 1)/2): 1 for squares but 0.
fn character<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.function("quadratic_character", a, |_, a| pow_constant(a, &((Bls12_381Fr::modulus() - 1u32) / 2u32)))
}

/// 1 if a point of the curve is in the subgroup of order l, else 0.
///
/// Such points are exactly the doubles, as the others have order two or come from those. With Montgomery's u = (1 + y)/(1 − y), B·v² = u·(u − u₁)·(u − u₂), a point is a double exactly
/// if B·u and B·(u − u₁) are squares (Silverman, The Arithmetic of Elliptic Curves, X.1.4, where all points of order two are rational), B being 4/(a − d) and 1 − u₁ a
/// square: so (a − d)·(1 − y²) and (a − d)·(1 − y)·(1 + e·y) are, and neither is 0. (0, 1) has no u.
pub fn is_in_subgroup<M: Machine>(machine: &M, Affine { x, y }: Affine<M::Fe>) -> M::Word {
    let one = machine.one();
    let d = BANDERSNATCH.d.parse().ok().and_then(|d| Bls12_381Fr::from_canonical(&d)).expect("these are digits");
    let a_less_d = machine.constant(&(-Bls12_381Fr::from_u64(5) - d).to_canonical());
    let e = machine.constant(&E.parse().expect("these are digits"));
    let common = a_less_d * (one - y);
    let squares = [common * (one + y), common * (one + e * y)].map(|value| {
        let character = character(machine, value);
        machine.equal(character, one)
    });
    let is_double = machine.word_op(WordOp::And, squares[0], squares[1]);
    let is_identity = machine.word_op(WordOp::And, machine.is_zero(x), machine.equal(y, one));
    machine.word_op(WordOp::Or, is_double, is_identity)
}

/// P ↦ λ·P for a point of the subgroup with Z = 1: (x, y) ↦ (c·(1 − y²)/(x·y), b·(y² + b)/(y² − b)), 2021/1152, §4. The identity, where x is 0, has Z = 0 then, and no other
/// point of the subgroup has.
pub fn endomorphism<M: Machine>(machine: &M, point: Extended<M::Fe>) -> Extended<M::Fe> {
    let [b, c] = ENDOMORPHISM
        .map(|digits| machine.constant(&BigUint::parse_bytes(digits.as_bytes(), 16).expect("these are digits")));
    let yy = point.y.square();
    let f = c * (machine.one() - yy); //        f = c·(1 − y²)
    let g = b * (yy + b); //                    g = b·(y² + b)
    let h = yy - b; //                          h = y² − b
    let xy = point.t;
    Extended { x: f * h, y: g * xy, z: h * xy, t: f * g }
}

/// Σ kᵢ·Pᵢ for any words kᵢ and affine points of the subgroup, each taken as k·P + k′·λ·P with halves of a scalar.
pub fn sum<M: Machine, const N: usize, const HALVES: usize>(
    machine: &M,
    products: [(M::Word, Extended<M::Fe>); N],
) -> Extended<M::Fe> {
    const { assert!(HALVES == 2 * N, "a scalar has two halves") };
    let mut halves = Vec::new();
    for (scalar, point) in products {
        // Of the identity, where the formulas fail, every multiple is itself.
        let image = machine.branch(machine.is_zero(point.x), |_| point, |machine| endomorphism(machine, point));
        let split = Split::by_vectors(VECTORS);
        let [k1, k2] = split.halves(machine, scalar, &middle(), &[BigInt::ZERO, BigInt::ZERO]);
        let kept = [k1, k2].map(|half| machine.variable("half_scalar", half));
        halves.extend([(kept[0], point), (kept[1], image)]);
    }
    let halves: [_; HALVES] = std::array::from_fn(|at| (machine.get(halves[at].0), halves[at].1));
    windows::sum(machine, &BANDERSNATCH.formulas(machine), identity(machine), HALF_PLACES, halves)
}

/// The middle of what digits from −8 to 7 reach, −1/30 of 16³².
fn middle() -> [BigInt; 2] {
    let middle: BigInt = -(BigInt::from(1) << (4 * HALF_PLACES)) / 30;
    [middle.clone(), middle]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_reach_all_halves() {
        let split = Split::by_vectors(VECTORS);
        assert_eq!(split.order(), BANDERSNATCH.order());
        let fifteenth: BigInt = ((BigInt::from(1) << (4 * HALF_PLACES)) - 1) / 15;
        for half in split.corners(&middle()).into_iter().flatten() {
            assert!(half > &fifteenth * -8 && half < &fifteenth * 7, "{half}");
        }
        assert_eq!(split.lambda().pow(2) % split.order(), split.order() - 2u32);
    }
}
