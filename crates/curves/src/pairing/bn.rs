//! The hard part of the final exponentiation on curves of the family BN: to 2x(6x² + 3x + 1)·(p⁴ − p² + 1)/r, whose first factor is
//! prime to r. Fuentes-Castañeda, Knapp and Rodríguez-Henríquez 2011, “Faster hashing to G2”, §4.1.

use super::PairingCurve;
use super::powers::{Power, frobenius, frobenius_squared, multiply, power_of_x_abs, third};
use crate::conditions::all_vanish;
use crate::tower::Fp12;
use crate::tower::cyclotomic::cyclotomic_square;
use residue_formula::scope::enter;
use residue_ir::{Bundle, Machine};

/// m ↦ m^(2x(6x² + 3x + 1)·(p⁴ − p² + 1)/r) for m in the cyclotomic subgroup.
pub(super) fn hard_part<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    let _scope = enter("hard_part");
    let mul = |a, b| multiply(machine, a, b);
    let square = |a| machine.function("fp12_cyclotomic_square_of_one", a, |_, a| cyclotomic_square(a));
    let by_minus_x = |a| third(machine, power_of_x_abs(machine, Power::new(a))).conjugate();
    let y1 = square(by_minus_x(m)); //                           m^(−2x)
    let y3 = mul(square(y1), y1); //                             m^(−6x)
    let y4 = by_minus_x(y3); //                                  m^(6x²)
    let y6 = by_minus_x(square(y4)).conjugate(); //              m^(12x³)
    let y8 = mul(mul(y6, y4), y3.conjugate()); //                a = m^(12x³ + 6x² + 6x)
    let y9 = mul(y8, y1); //                                     b = m^(12x³ + 6x² + 4x)
    let y11 = mul(mul(y8, y4), m); //                            m^(12x³ + 12x² + 6x + 1)
    let y13 = mul(frobenius(machine, y9), y11); //               bᵖ·m^(12x³ + 12x² + 6x + 1)
    let y14 = mul(frobenius_squared(machine, y8), y13); //       a^(p²)·…
    let y15 = mul(m.conjugate(), y9); //                         b/m
    mul(frobenius(machine, frobenius_squared(machine, y15)), y14)
}

/// 1 if the hard part maps m, in the cyclotomic subgroup, to one, else 0.
pub(super) fn is_hard_part_one<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>) -> M::Word {
    let one = Fp12::one(machine.zero(), machine.one());
    machine.is_zero(all_vanish(&(hard_part(machine, m) - one).to_list()))
}
