//! The final exponentiation: f ↦ f^((p³ − 1)(p + 1)), and then a multiple of (p² − p + 1)/r.
//!
//! V·(103u⁶ − 173u⁵ − 96u⁴ + 293u³ + 21u² + 52u + 211) + 9·(p + (u − 1)²) for V = (u + 1)·p + u³ − u² − u is such a multiple, by a factor that is prime to r (tested
//! below): El Housni and Guillevic 2020 (2020/351), §3.4, whose exponent is four times this one. Powers by u are taken in the order of Horner; the coefficients are reached by
//! an addition chain. Powers in the cyclotomic subgroup are taken three times as large, see [`crate::tower::cyclotomic`].

use super::fp6::{Fp6, Multiplicand, conjugate, conjugate_over_self, cyclotomic_square_tripled, frobenius};
use super::{U, constants, invert};
use crate::conditions::all_vanish;
use crate::ladder::ladder;
use residue_formula::scope::enter;
use residue_ir::{Bundle, Machine};

/// f ↦ f^((p³ − 1)(p + 1)), an element of the cyclotomic subgroup; f is not zero.
pub fn easy_part<M: Machine>(machine: &M, f: Fp6<M::Fe>) -> Fp6<M::Fe> {
    let _scope = enter("easy_part");
    let g = conjugate_over_self(f, |a| invert(machine, a));
    multiply(machine, g, frobenius(machine, g))
}

/// 1 if f^((p⁶ − 1)/r) = 1, else 0; f is not zero.
pub fn is_final_exponentiation_one<M: Machine>(machine: &M, f: Fp6<M::Fe>) -> M::Word {
    let (a, b) = factors(machine, easy_part(machine, f));
    machine.is_zero(all_vanish(&(a - conjugate(b)).to_list()))
}

/// f ↦ f^(k·(p⁶ − 1)/r) for the k of this page; f is not zero.
pub fn final_exponentiation<M: Machine>(machine: &M, f: Fp6<M::Fe>) -> Fp6<M::Fe> {
    let (a, b) = factors(machine, easy_part(machine, f));
    multiply(machine, a, b)
}

/// The coefficients of the polynomial in u, the first one first.
const COEFFICIENTS: [i32; 7] = [103, -173, -96, 293, 21, 52, 211];

/// An addition chain for them: a number, and the two that it is the sum of; the second is subtracted if it is negative.
const CHAIN: [(i32, i32, i32); 16] = [
    (2, 1, 1),
    (4, 2, 2),
    (8, 4, 4),
    (16, 8, 8),
    (17, 16, 1),
    (21, 17, 4),
    (32, 16, 16),
    (48, 32, 16),
    (96, 48, 48),
    (52, 48, 4),
    (95, 96, -1),
    (103, 95, 8),
    (190, 95, 95),
    (173, 190, -17),
    (211, 190, 21),
    (293, 190, 103),
];

/// m ↦ two factors of its power by the multiple of (p² − p + 1)/r.
fn factors<M: Machine>(machine: &M, m: Fp6<M::Fe>) -> (Fp6<M::Fe>, Fp6<M::Fe>) {
    let _scope = enter("hard_part");
    let mul = |a, b| multiply(machine, a, b);
    let one = power_of_u(machine, m); //                                                    m^u
    let two = power_of_u(machine, one); //                                                  m^(u²)
    let three = power_of_u(machine, two); //                                                m^(u³)
    let sum = mul(m, one);
    let v = mul(mul(frobenius(machine, sum), three), conjugate(mul(two, one))); //          m^V
    // m^(p + u² − 2u + 1)
    let rest = mul(mul(frobenius(machine, m), mul(two, m)), conjugate(square(machine, one)));
    let eighth = (0..3).fold(rest, |power, _| square(machine, power));
    let ninth = mul(eighth, rest);

    let mut powers: Vec<(i32, Fp6<M::Fe>)> = vec![(1, v)];
    for (number, a, b) in CHAIN {
        let of = |number: i32| {
            let (_, power) = powers.iter().find(|(known, _)| *known == number.abs()).expect("the chain has it");
            if number < 0 { conjugate(*power) } else { *power }
        };
        let power = if a == b { square(machine, of(a)) } else { mul(of(a), of(b)) };
        powers.push((number, power));
    }
    let power = |number: i32| {
        let (_, power) = powers.iter().find(|(known, _)| *known == number.abs()).expect("the chain has it");
        if number < 0 { conjugate(*power) } else { *power }
    };
    let [first, others @ ..] = COEFFICIENTS;
    let a = others.into_iter().fold(power(first), |sum, coefficient| mul(power_of_u(machine, sum), power(coefficient)));
    (a, ninth)
}

/// g ↦ g^u for g in the cyclotomic subgroup, as a function.
fn power_of_u<M: Machine>(machine: &M, g: Fp6<M::Fe>) -> Fp6<M::Fe> {
    machine.function("fp6_power_of_u", g, |machine, g| {
        let start = (tripled(g), g.multiplicand());
        let square = |machine: &M, count, (power, g)| (square_repeatedly(machine, count, power), g);
        let (power, _) = ladder(machine, U, start, square, |machine, state| multiply_by(machine, state));
        third(machine, power)
    })
}

/// g ↦ g² for g in the cyclotomic subgroup.
fn square<M: Machine>(machine: &M, g: Fp6<M::Fe>) -> Fp6<M::Fe> {
    machine.function("fp6_square", g, |_, g| g.square())
}

fn tripled<F: residue_formula::Fe>(g: Fp6<F>) -> Fp6<F> {
    g + g + g
}

/// 3g ↦ g.
fn third<M: Machine>(machine: &M, tripled: Fp6<M::Fe>) -> Fp6<M::Fe> {
    let third = machine.constant(&constants().third);
    Fp6::new(tripled.c0.scale(third), tripled.c1.scale(third), tripled.c2.scale(third))
}

/// The runs of squarings that are functions. Each ends with the one before, so that no code is there twice.
const SQUARINGS: [(u32, &str); 3] =
    [(1, "fp6_cyclotomic_square"), (2, "fp6_cyclotomic_square_2"), (4, "fp6_cyclotomic_square_4")];

/// 3g ↦ 3g^(2ⁿ) for g in the cyclotomic subgroup.
fn square_repeatedly<M: Machine>(machine: &M, count: u32, tripled: Fp6<M::Fe>) -> Fp6<M::Fe> {
    let (mut left, mut power) = (count, tripled);
    while let Some(run) = SQUARINGS.iter().rposition(|&(length, _)| length <= left) {
        power = squarings(machine, run, power);
        left -= SQUARINGS[run].0;
    }
    power
}

/// A run of squarings by its place in [`SQUARINGS`].
fn squarings<M: Machine>(machine: &M, run: usize, tripled: Fp6<M::Fe>) -> Fp6<M::Fe> {
    let (length, name) = SQUARINGS[run];
    machine.function(name, tripled, |machine, tripled| {
        let rest = run.checked_sub(1);
        let own = length - rest.map_or(0, |rest| SQUARINGS[rest].0);
        let power = (0..own).fold(tripled, |power, _| cyclotomic_square_tripled(power));
        rest.map_or(power, |rest| squarings(machine, rest, power))
    })
}

/// (f, g) ↦ f·g, as a function.
pub fn multiply<M: Machine>(machine: &M, f: Fp6<M::Fe>, g: Fp6<M::Fe>) -> Fp6<M::Fe> {
    machine.function("fp6_mul", (f, g), |machine, (f, g)| multiply_by(machine, (f, g.multiplicand())).0)
}

/// (f, g) ↦ (f·g, g), as a function: g stays where it is for the next product.
fn multiply_by<M: Machine>(
    machine: &M,
    operands: (Fp6<M::Fe>, Multiplicand<M::Fe>),
) -> (Fp6<M::Fe>, Multiplicand<M::Fe>) {
    machine.function("fp6_mul_by_multiplicand", operands, |_, (f, g)| (f * g, g))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bw6_761::{modulus, order};
    use num_bigint::BigInt;

    #[test]
    fn the_exponent_is_a_multiple_of_the_hard_part_and_no_other() {
        let (p, r, u) = (BigInt::from(modulus()), BigInt::from(order()), BigInt::from(U));
        let v = (&u + 1) * &p + u.pow(3) - u.pow(2) - &u;
        let polynomial = COEFFICIENTS.iter().fold(BigInt::ZERO, |sum, &c| sum * &u + c);
        let exponent: BigInt = v * polynomial + (&p + (&u - 1u32).pow(2)) * 9;
        let cyclotomic: BigInt = p.pow(2) - &p + 1;
        assert_eq!(&cyclotomic % &r, BigInt::ZERO);
        let hard = cyclotomic / &r;
        assert_eq!(&exponent % &hard, BigInt::ZERO);
        assert_ne!(&hard % &r, BigInt::ZERO, "r divides the order once");
        assert_ne!(exponent / hard % r, BigInt::ZERO);
    }

    #[test]
    fn the_chain_reaches_the_coefficients() {
        let mut known = vec![1];
        for (number, a, b) in CHAIN {
            assert!(known.contains(&a) && known.contains(&b.abs()), "{number}");
            assert_eq!(a + b, number);
            known.push(number);
        }
        assert!(COEFFICIENTS.iter().all(|coefficient| known.contains(&coefficient.abs())));
    }
}
