//! The final exponentiation of BLS12-381: to 3·(p¹² − 1)/r, which maps to one exactly what (p¹² − 1)/r does.
//!
//! Easy part (p⁶ − 1)(p² + 1); hard part 3·(p⁴ − p² + 1)/r = (x − 1)²·(x + p)·(x² + p² − 1) + 3, Hayashida, Hayasaka and
//! Teruya 2020 (2020/875), the chain for BLS12. In the hard part all elements are unitary: conjugates are inverses.

use super::constants::{X_ABS, constants, lift2};
use super::{inverse_from_root, invert, root_power};
use crate::bls12_381::{Bls12_381, Fp12};
use crate::conditions::all_vanish;
use crate::ladder::ladder;
use crate::tower::cyclotomic::{cyclotomic_square_tripled, trace_of_square};
use crate::tower::fp12::Multiplicand;
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};
use residue_ir::{Bundle, Machine};

/// f ↦ f^(3(p¹² − 1)/r); f is not zero.
pub fn final_exponentiation<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    let (y, [a, b]) = hard_part(machine, easy_part(machine, f));
    let power = power_of_x_abs(machine, Power::of(machine, power_of_x_abs(machine, y)));
    multiply(machine, third(machine, power), third(machine, multiply(machine, a, b)))
}

/// 1 if f^((p¹² − 1)/r) = 1, else 0; f is not zero.
///
/// With m = f^((p⁶ − 1)(p² + 1)) it compares traces over Fp4: that of Y^(x²), of which the last 2·[`TAIL`] squarings are
/// done on the trace alone, with that of Z = rest⁻¹. Elements of the cyclotomic subgroup with the same trace are the same
/// up to the conjugations by p⁴ and p⁸ (Lenstra and Verheul 2000, §2.2). So the answer is 1 exactly if m^a = m^(b·p⁴ʲ) for
/// a j in 0, 1, 2, where m^a = Y^(x²) and m^b = Z. For j = 0 this says m^(a − b) = 1, which is the question. For j = 1 and
/// 2, r does not divide a − b·p⁴ʲ (tested below), so the part of m of order r is one, and m^(a − b) too, as r divides the
/// order of m only once and a − b is a multiple of the rest.
pub fn is_final_exponentiation_one<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> M::Word {
    is_hard_part_one(machine, easy_part(machine, f))
}

/// The same for programs that take roots.
pub fn is_final_exponentiation_one_by_root<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> M::Word {
    is_hard_part_one(machine, easy_part_with(machine, f, |a| inverse_from_root(a, root_power(machine, a))))
}

/// 1 if the hard part maps m to one, else 0.
fn is_hard_part_one<M: Machine>(machine: &M, m: Fp12<M::Fe>) -> M::Word {
    let (y, [a, b]) = hard_part(machine, m);
    let once = Power::of(machine, power_of_x_head(machine, y));
    let twice = power_of_x_head(machine, once); //                     Y^(x²/2³²), tripled
    let trace = machine.sequence(&[0; TAIL as usize], 1, twice.c0, |_, _, trace| {
        trace_of_square(trace_of_square(trace)) //                     2·TAIL squarings in all
    });
    let z = a.mul_c0(b).conjugate(); //                                Z = rest⁻¹, tripled, on the part in Fp4
    machine.is_zero(all_vanish(&(trace - z).to_list()))
}

/// f ↦ f^((p⁶ − 1)(p² + 1)), an element of the cyclotomic subgroup.
pub fn easy_part<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    easy_part_with(machine, f, |a| invert(machine, a))
}

/// The same where `invert` inverts in Fp.
fn easy_part_with<M: Machine>(machine: &M, f: Fp12<M::Fe>, invert: impl FnOnce(M::Fe) -> M::Fe) -> Fp12<M::Fe> {
    let _scope = enter("easy_part");
    let g = f.conjugate_over_self(invert);
    multiply(machine, g, frobenius_squared(machine, g))
}

/// g with 3g: a product by which powers are multiplied, and where a chain of tripled powers starts.
#[derive(Clone, Copy)]
struct Power<F> {
    g: Fp12<F>,
    tripled: Fp12<F>,
}

bundle!(Power { g: Fp12<F>, tripled: Fp12<F> });

impl<F: Fe> Power<F> {
    /// Of 3g.
    fn of<M: Machine<Fe = F>>(machine: &M, tripled: Fp12<F>) -> Self {
        Self { g: third(machine, tripled), tripled }
    }
}

/// m ↦ Y and two factors of a rest, tripled, with Y^(x²)·rest = m^(3(p⁴ − p² + 1)/r).
fn hard_part<M: Machine>(machine: &M, m: Fp12<M::Fe>) -> (Power<M::Fe>, [Fp12<M::Fe>; 2]) {
    let _scope = enter("hard_part");
    // x = −|x|: the power by x is the conjugate of the power by |x|, and g^(x − 1) that of g^(|x| + 1).
    let by_x_minus_1 = |power: Power<M::Fe>| {
        let tripled = multiply(machine, power_of_x_abs(machine, power), power.g);
        Power::of(machine, tripled.conjugate())
    };
    let m = Power { g: m, tripled: m.double() + m };
    let y2 = by_x_minus_1(by_x_minus_1(m)); //                                              Y₂ = m^((x − 1)²)
    let y2_x = power_of_x_abs(machine, y2).conjugate(); //                                  Y₂^x, tripled
    let y = Power::of(machine, multiply(machine, y2_x, frobenius(machine, y2.g))); //       Y = Y₂^(x + p)
    let y_rest = multiply(machine, frobenius_squared(machine, y.g), y.g.conjugate()); //    Y^(p² − 1)
    let m3 = multiply(machine, square_repeatedly(machine, 1, m.tripled), m.g); //           m³, tripled
    (y, [y_rest, m3])
}

/// |x| ends in this many zero bits: a power by |x| ends in as many squarings.
const TAIL: u32 = X_ABS.trailing_zeros();

/// g ↦ 3g^|x| for g in the cyclotomic subgroup.
fn power_of_x_abs<M: Machine>(machine: &M, power: Power<M::Fe>) -> Fp12<M::Fe> {
    square_repeatedly(machine, TAIL, power_of_x_head(machine, power))
}

/// g ↦ 3g^(|x|/2^TAIL) for g in the cyclotomic subgroup, as a function. The state of the chain is three times the power.
fn power_of_x_head<M: Machine>(machine: &M, power: Power<M::Fe>) -> Fp12<M::Fe> {
    machine.function("fp12_power_of_x_head", power, |machine, Power { g, tripled }| {
        let start = (tripled, g.multiplicand());
        let square = |machine: &M, count, (tripled, g)| (square_repeatedly(machine, count, tripled), g);
        ladder(machine, X_ABS >> TAIL, start, square, multiply_by).0
    })
}

/// The runs of squarings that are functions. Each ends with the one before, so that no code is there twice.
const SQUARINGS: [(u32, &str); 3] =
    [(1, "fp12_cyclotomic_square"), (2, "fp12_cyclotomic_square_2"), (4, "fp12_cyclotomic_square_4")];

/// 3g ↦ 3g^(2ⁿ) for g in the cyclotomic subgroup.
fn square_repeatedly<M: Machine>(machine: &M, count: u32, tripled: Fp12<M::Fe>) -> Fp12<M::Fe> {
    let (mut left, mut power) = (count, tripled);
    while let Some(run) = SQUARINGS.iter().rposition(|&(length, _)| length <= left) {
        power = squarings(machine, run, power);
        left -= SQUARINGS[run].0;
    }
    power
}

/// A run of squarings by its place in [`SQUARINGS`].
fn squarings<M: Machine>(machine: &M, run: usize, tripled: Fp12<M::Fe>) -> Fp12<M::Fe> {
    let (length, name) = SQUARINGS[run];
    machine.function(name, tripled, |machine, tripled| {
        let rest = run.checked_sub(1);
        let own = length - rest.map_or(0, |rest| SQUARINGS[rest].0);
        let power = (0..own).fold(tripled, |power, _| cyclotomic_square_tripled(power));
        rest.map_or(power, |rest| squarings(machine, rest, power))
    })
}

/// 3g ↦ g.
fn third<M: Machine>(machine: &M, tripled: Fp12<M::Fe>) -> Fp12<M::Fe> {
    tripled.scale(machine.constant(&constants().third))
}

/// (f, g) ↦ f·g, as a function.
pub fn multiply<M: Machine>(machine: &M, f: Fp12<M::Fe>, g: Fp12<M::Fe>) -> Fp12<M::Fe> {
    machine.function("fp12_mul", (f, g), |machine, (f, g)| multiply_by(machine, (f, g.multiplicand())).0)
}

/// (f, g) ↦ (f·g, g), as a function: g stays where it is for the next product.
fn multiply_by<M: Machine>(
    machine: &M,
    operands: (Fp12<M::Fe>, Multiplicand<M::Fe, Bls12_381>),
) -> (Fp12<M::Fe>, Multiplicand<M::Fe, Bls12_381>) {
    machine.function("fp12_mul_by_multiplicand", operands, |_, (f, g)| (f * g, g))
}

/// f ↦ fᵖ.
pub fn frobenius<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    f.frobenius(&constants().gamma.each_ref().map(|g| lift2(machine, g)))
}

/// f ↦ f^(p²).
pub fn frobenius_squared<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    f.frobenius_squared(&constants().delta.each_ref().map(|d| machine.constant(d)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bls12_381::constants::modulus;
    use num_bigint::BigInt;

    #[test]
    fn conjugates_with_the_same_trace_are_told_apart_where_it_matters() {
        let x = -BigInt::from(X_ABS);
        let p = BigInt::from(modulus());
        let r: BigInt = x.pow(4) - x.pow(2) + 1;
        let cyclotomic: BigInt = p.pow(4) - p.pow(2) + 1;
        let x_minus_1: BigInt = &x - 1;
        let y = x_minus_1.pow(2) * (&x + &p);
        let (a, rest) = (&y * x.pow(2), &y * (p.pow(2) - 1) + 3);
        assert_eq!((&a + &rest) % &cyclotomic, BigInt::from(3) * (&cyclotomic / &r) % &cyclotomic);
        assert_ne!(&cyclotomic / &r % &r, BigInt::ZERO, "r divides the order once");
        for j in [1, 2] {
            assert_ne!((&a + &rest * p.pow(4 * j)) % &r, BigInt::ZERO, "conjugate {j}");
        }
    }
}
