//! The final exponentiation of BLS12-381: to 3·(p¹² − 1)/r, which maps to one exactly what (p¹² − 1)/r does.
//!
//! Easy part (p⁶ − 1)(p² + 1); hard part 3·(p⁴ − p² + 1)/r = (x − 1)²·(x + p)·(x² + p² − 1) + 3, Hayashida, Hayasaka and
//! Teruya 2020 (2020/875), the chain for BLS12. In the hard part all elements are unitary: conjugates are inverses.

use super::constants::{X_ABS, constants, lift2};
use super::invert;
use crate::conditions::all_vanish;
use crate::cyclotomic::{cyclotomic_square, cyclotomic_square_tripled};
use crate::fp12::Fp12;
use crate::ladder::{Unrolled, ladder};
use residue_ir::{Bundle, Machine};

/// f ↦ f^(3(p¹² − 1)/r); f is not zero.
pub fn final_exponentiation<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    let (power, rest) = hard_part(machine, easy_part(machine, f));
    multiply(machine, power, rest)
}

/// 1 if f^((p¹² − 1)/r) = 1, else 0; f is not zero. One comparison, and one product less than the value itself.
pub fn is_final_exponentiation_one<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> M::Word {
    let (power, rest) = hard_part(machine, easy_part(machine, f));
    let difference = power - rest.conjugate();
    machine.is_zero(all_vanish(&difference.to_list()))
}

/// f ↦ f^((p⁶ − 1)(p² + 1)), an element of the cyclotomic subgroup.
pub fn easy_part<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    let g = f.conjugate_over_self(|a| invert(machine, a));
    multiply(machine, g, frobenius_squared(machine, g))
}

/// m ↦ two factors of m^(3(p⁴ − p² + 1)/r).
fn hard_part<M: Machine>(machine: &M, m: Fp12<M::Fe>) -> (Fp12<M::Fe>, Fp12<M::Fe>) {
    // x = −|x|: the power by x is the conjugate of the power by |x|, and g^(x − 1) that of g^(|x| + 1).
    let by_x_minus_1 = |g| multiply(machine, power_of_x_abs(machine, g), g).conjugate();
    let y1 = by_x_minus_1(m); //                                                            Y₁ = m^(x − 1)
    let y2 = by_x_minus_1(y1); //                                                           Y₂ = Y₁^(x − 1)
    let y2_x = power_of_x_abs(machine, y2).conjugate(); //                                  Y₂^x
    let y3 = multiply(machine, y2_x, frobenius(machine, y2)); //                            Y₃ = Y₂^(x + p)
    let y3_xx = power_of_x_abs(machine, power_of_x_abs(machine, y3)); //                    Y₃^(x²)
    let y3_rest = multiply(machine, frobenius_squared(machine, y3), y3.conjugate()); //     Y₃^(p² − 1)
    let m3 = multiply(machine, cyclotomic_square(m), m); //                                 m³
    (y3_xx, multiply(machine, y3_rest, m3))
}

/// g ↦ g^|x| for g in the cyclotomic subgroup, as a function. The state of the chain is three times the power.
fn power_of_x_abs<M: Machine>(machine: &M, g: Fp12<M::Fe>) -> Fp12<M::Fe> {
    machine.function("fp12_power_of_x_abs", g, |machine, g| {
        let square = |_: &M, tripled| cyclotomic_square_tripled(tripled);
        let tripled = ladder(machine, X_ABS, Unrolled::Four, g.double() + g, square, |machine, tripled| {
            multiply(machine, tripled, g)
        });
        tripled.scale(machine.constant(&constants().third))
    })
}

/// (f, g) ↦ f·g, as a function.
fn multiply<M: Machine>(machine: &M, f: Fp12<M::Fe>, g: Fp12<M::Fe>) -> Fp12<M::Fe> {
    machine.function("fp12_mul", (f, g), |_, (f, g)| f * g)
}

/// f ↦ fᵖ.
pub fn frobenius<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    f.frobenius(&constants().gamma.each_ref().map(|g| lift2(machine, g)))
}

/// f ↦ f^(p²).
pub fn frobenius_squared<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    f.frobenius_squared(&constants().delta.each_ref().map(|d| machine.constant(d)))
}
