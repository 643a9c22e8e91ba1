//! The hard part of the final exponentiation on curves of the family BN: to 2x(6x² + 3x + 1)·(p⁴ − p² + 1)/r, whose first factor is
//! prime to r. Fuentes-Castañeda, Knapp and Rodríguez-Henríquez 2011, “Faster hashing to G2”, §4.1.

use super::powers::{Power, frobenius, frobenius_squared, multiply, power_of_x_abs, square_repeatedly, third};
use super::{PairingCurve, in_short_code};
use crate::conditions::all_vanish;
use crate::tower::Fp12;
use residue_formula::scope::enter;
use residue_ir::{Bundle, Machine};

/// m ↦ m^(2x(6x² + 3x + 1)·(p⁴ − p² + 1)/r) for m in the cyclotomic subgroup.
pub(super) fn hard_part<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    let (y, rest) = factors(machine, m);
    let rest = multiply(machine, y, rest);
    let z = norm_over_fp2(machine, y);
    multiply(machine, multiply(machine, z, frobenius_squared(machine, z)), rest)
}

/// 1 if the hard part maps m, in the cyclotomic subgroup, to one, else 0.
///
/// It compares traces over Fp4, of which elements of the cyclotomic subgroup have three with each, conjugate by p⁴ and p⁸ (Lenstra and
/// Verheul 2000, §2.2): that of m^a = Y^((2x + 1)(1 + p)(1 + p²)) with that of m^b, the inverse of the rest. So the answer is 1 exactly if
/// m^a = m^(b·p⁴ʲ) for a j in 0, 1, 2. For j = 0 this says m^(a − b) = 1, which is the question. For j = 1 and 2, r does not divide
/// a − b·p⁴ʲ (tested below), so the part of m of order r is one, and m^(a − b) too, as r divides the order of m only once and a − b is a
/// multiple of the rest.
pub(super) fn is_hard_part_one<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>) -> M::Word {
    let (y, rest) = factors(machine, m);
    // A product that is a call is computed whole: no part of it can be left out.
    let part_in_fp4 =
        |f: Fp12<M::Fe, C>, g| in_short_code(machine, |machine| multiply(machine, f, g).c0, |_| f.mul_c0(g));
    let inverse = part_in_fp4(y, rest).conjugate();
    let z = norm_over_fp2(machine, y);
    let trace = part_in_fp4(z, frobenius_squared(machine, z));
    machine.is_zero(all_vanish(&(trace - inverse).to_list()))
}

/// m ↦ Y = m^(6x²) and a rest with Y·rest·Y^((2x + 1)(1 + p)(1 + p²)) = m^(2x(6x² + 3x + 1)·(p⁴ − p² + 1)/r). Few elements are to be kept
/// beside each power that is taken.
fn factors<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>) -> (Fp12<M::Fe, C>, Fp12<M::Fe, C>) {
    let _scope = enter("hard_part");
    let mul = |a, b| multiply(machine, a, b);
    let s = square_repeatedly(machine, 1, power_of_x(machine, m)); //               m^(2x), tripled
    let s2 = third(machine, square_repeatedly(machine, 1, s)); //                   m^(4x)
    let s = third(machine, s);
    let s3 = mul(s, s2); //                                                         m^(6x)
    let u = mul(s3, frobenius(machine, s2)); //                                     m^(6x + 4x·p)
    let m3 = frobenius(machine, frobenius_squared(machine, m)); //                  m^(p³)
    let rest = mul(mul(u, frobenius_squared(machine, u)), mul(m, m3.conjugate())); // m^((6x + 4x·p)(1 + p²) + 1 − p³)
    (third(machine, power_of_x(machine, s3)), rest)
}

/// Y ↦ Y^((2x + 1)(1 + p)).
fn norm_over_fp2<M: Machine, C: PairingCurve>(machine: &M, y: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    let z = third(machine, square_repeatedly(machine, 1, power_of_x(machine, y))); // Y^(2x)
    let z = multiply(machine, z, y);
    multiply(machine, z, frobenius(machine, z))
}

/// g ↦ 3gˣ.
fn power_of_x<M: Machine, C: PairingCurve>(machine: &M, g: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    power_of_x_abs(machine, Power::new(g))
}

#[cfg(test)]
mod tests {
    use crate::bn254::{Bn254, X, modulus};
    use crate::pairing::PairingCurve;
    use num_bigint::BigInt;

    #[test]
    fn exponents_are_multiples_of_the_hard_part_and_no_others() {
        let (r, p, x) = (BigInt::from(Bn254::FAMILY.order()), BigInt::from(modulus()), BigInt::from(X));
        let y: BigInt = &x * &x * 6;
        let a: BigInt = &y * (&x * 2 + 1) * (&p + 1) * (&p * &p + 1);
        let rest: BigInt = &y + (&x * 6 + &x * 4 * &p) * (&p * &p + 1) + 1 - p.pow(3);
        let factor: BigInt = &x * 2 * (&x * &x * 6 + &x * 3 + 1);
        let hard: BigInt = (p.pow(4) - p.pow(2) + 1) / &r;
        assert_eq!(&a + &rest, factor * hard);
        for j in [1, 2] {
            assert_ne!((&a + &rest * p.pow(4 * j)) % &r, BigInt::ZERO, "{j}");
        }
    }
}
