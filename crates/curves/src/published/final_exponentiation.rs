//! The final exponentiation as blst runs it, to 3·(p¹² − 1)/r. Release 0.3, `final_exp` of `src/pairing.c`.

use super::tower::{Fp12, cyclotomic_sqr_fp12, frobenius, inverse_fp12, multiply};
use crate::bls12_381::constants::X_ABS;
use crate::bls12_381::inverse_power;
use crate::ladder::ladder_in_a_loop;
use residue_ir::Machine;

/// f ↦ f^(3(p¹² − 1)/r); 0 ↦ 0.
pub fn final_exponentiation<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    let mul = |f, g| multiply(machine, f, g);
    let frobenius = |f, n| frobenius(machine, f, n);
    let half = |f| power_of_half_x(machine, f);
    let by_x = |f| cyclotomic_sqr_fp12(power_of_half_x(machine, f));

    let inverse = inverse_fp12(f, |a| inverse_power(machine, a));
    let m = mul(f.conjugate(), inverse);
    let m = mul(m, frobenius(m, 2)); //                      m = f^((p⁶ − 1)(p² + 1))

    let y0 = cyclotomic_sqr_fp12(m); //                      y₀ = m²
    let y1 = by_x(y0); //                                    m^(2x)
    let y2 = half(y1); //                                    m^(x²)
    let y1 = mul(y1, m.conjugate()).conjugate(); //          m^(1 − 2x)
    let y1 = mul(y1, y2); //                                 y₁ = m^((x − 1)²)
    let y2 = by_x(y1); //                                    y₂ = y₁^x
    let y3 = by_x(y2); //                                    y₁^(x²)
    let y3 = mul(y3, y1.conjugate()); //                     y₃ = y₁^(x² − 1)
    let y1 = mul(frobenius(y1, 3), frobenius(y2, 2)); //     y₁^(p³ + x·p²)
    let y2 = mul(mul(by_x(y3), y0), m); //                   y₃^x·m³
    let y1 = mul(y1, y2);
    mul(y1, frobenius(y3, 1))
}

/// f ↦ f^(x/2) for f in the cyclotomic subgroup, as a function. `raise_to_z_div_by_2`.
fn power_of_half_x<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> Fp12<M::Fe> {
    machine.function("published_power_of_half_x", f, |machine, f| {
        let square = |_: &M, power| cyclotomic_sqr_fp12(power);
        let power = ladder_in_a_loop(machine, X_ABS / 2, f, square, |machine, power| multiply(machine, power, f));
        power.conjugate() // x is negative
    })
}
