//! Residues: products of Miller loops modulo Fp6, which every final exponentiation maps to one, and witnesses that one of them is a power
//! that final exponentiations map to one too. Novakovic and Eagen 2024 (2024/640), §4, with the check made modulo Fp6, as in
//! [`super::residue_witness`]: there is no scaling factor, and half of an element of Fp12 is enough.
//!
//! Fp12 = Fp6[t] for t = w, or t = s with a [`Tower::CUBE`](crate::tower::Tower::CUBE). Fp12*/Fp6* is cyclic of order n = p⁶ + 1, all but one of its elements are a + t,
//! and the inverse of that is a − t, as their product is a norm. Let F be the product of a loop, N = p¹² − 1, and λ a multiple of r: p − x
//! for the family BLS, 6x + 2 + p − p² + p³ for the family BN.
//!
//! **Sound.** Let g = F·c^λ with c ≠ 0. Then g^(N/r) = F^(N/r)·(c^(λ/r))^N = F^(N/r): the answer for g is the answer for F, and it is yes if g
//! is in Fp6 and not zero, as N/r is a multiple of p⁶ − 1. So a wrong c can hide a true check from the short way, and never makes a false one pass.
//!
//! **Complete.** If F^(N/r) = 1, the order of F in Fp12*/Fp6* divides n/r. λ is prime to n/r (tested): so c = F^(−1/λ mod n/r) makes g lie in
//! Fp6. Where c is 1 there, c·ζ with ζ of order r is an element a + t with the same λ-th power.

use super::{Family, PairingCurve};
use crate::tower::{Fp2, Fp6, Fp12, Tower};
use num_bigint::BigUint;
use residue_formula::{Fe, Number, bundle};
use residue_ir::{Bundle, Machine, Numbers};

/// a, for the class of a + t modulo Fp6*.
#[derive(Clone, Copy, Debug)]
pub struct Residue<F, C> {
    /// a.
    pub a: Fp6<F, C>,
}

bundle!(Residue<C: Tower> { a: Fp6<F, C> });

/// Sign of the exponent of a residue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// a + t.
    Positive,
    /// a − t, its inverse modulo Fp6*.
    Negative,
}

impl<F: Fe, C: PairingCurve> Residue<F, C> {
    /// a + t.
    pub fn c<M: Machine<Fe = F>>(&self, machine: &M) -> Fp12<F, C> {
        let [one, zero] = [machine.one(), machine.zero()].map(|c0| Fp2::new(c0, machine.zero()));
        Fp12::from_even_and_odd(self.a, Fp6::new(one, zero, zero))
    }

    /// f ↦ f·(a + t), as a function: (E + O·t)(a + t) = E·a + t²·O + (O·a + E)·t.
    fn multiply<M: Machine<Fe = F>>(self, machine: &M, f: Fp12<F, C>) -> Fp12<F, C> {
        machine.function("times_residue", (f, self), |_, (f, Self { a })| {
            let (even, odd) = f.even_and_odd();
            let a = a.multiplicand();
            Fp12::from_even_and_odd(even * a + odd.mul_by_square(), odd * a + even)
        })
    }

    /// f ↦ f·(a ± t) up to the sign.
    pub fn times<M: Machine<Fe = F>>(self, machine: &M, f: Fp12<F, C>, sign: Sign) -> Fp12<F, C> {
        let residue = match sign {
            Sign::Positive => self,
            Sign::Negative => Self { a: -self.a }, // a − t = −(−a + t)
        };
        residue.multiply(machine, f)
    }

    /// The class of (a + t)ᵖ = aᵖ + γ·t: Σ (aᵢᵖ·γᵢ/γ)·vⁱ.
    fn frobenius<M: Machine<Fe = F>>(self, machine: &M) -> Self {
        let Fp6 { c0, c1, c2 } = self.a;
        let [g0, g1, g2] = C::constants().gamma_over_odd.each_ref().map(|g| g.lift(machine));
        Self { a: Fp6::new(c0.conjugate_mul(g0), c1.conjugate_mul(g1), c2.conjugate_mul(g2)) }
    }

    /// f ↦ f·c^e, where e is what λ has beside the number of the loop: p, or p − p² + p³.
    pub fn finish<M: Machine<Fe = F>>(self, machine: &M, f: Fp12<F, C>) -> Fp12<F, C> {
        let once = self.frobenius(machine);
        let f = once.times(machine, f, Sign::Positive);
        match C::FAMILY {
            Family::Bls { .. } => f,
            Family::Bn { .. } => {
                let twice = once.frobenius(machine);
                let f = twice.times(machine, f, Sign::Negative);
                twice.frobenius(machine).times(machine, f, Sign::Positive)
            }
        }
    }
}

/// Of f = E + O·t the a with E/O = a; `None` for an element of Fp6, whose class is one.
pub fn residue_of<F: Number, C: PairingCurve>(f: Fp12<F, C>) -> Option<Residue<F, C>> {
    let (even, odd) = f.even_and_odd();
    let is_zero = odd.to_list().into_iter().all(|coefficient| coefficient == F::ZERO);
    let inverse = || odd.inverse_with(|norm| norm.inverse().unwrap_or(F::ZERO));
    (!is_zero).then(|| Residue { a: even * inverse() })
}

/// λ: a multiple of r.
fn lambda<F: Number>(family: Family) -> BigUint {
    let p = F::modulus();
    match family {
        Family::Bls { x_abs, x_is_negative: true } => p + x_abs,
        Family::Bls { x_abs, x_is_negative: false } => p - x_abs,
        Family::Bn { x } => BigUint::from(x) * 6u32 + 2u32 + &p + p.pow(3) - p.pow(2),
    }
}

/// The product F of a loop ↦ its witness; `None` if F is 0 or F^((p¹² − 1)/r) is not 1.
pub fn witness<F: Number, C: PairingCurve>(f: Fp12<F, C>) -> Option<Residue<F, C>> {
    let machine = Numbers::<F>::new(Vec::new());
    let lambda = lambda::<F>(C::FAMILY);
    let n_over_r = (F::modulus().pow(6) + 1u32) / C::FAMILY.order();
    let exponent = &n_over_r - lambda.modinv(&n_over_r)?;
    let zero = Fp2::new(F::ZERO, F::ZERO);
    let one_plus_t = Residue::<F, C> { a: Fp6::new(Fp2::ONE, zero, zero) }.c(&machine);
    let c = power(f, &exponent);
    // ζ, if the class of c is one.
    [c, c * power(one_plus_t, &n_over_r)].into_iter().find_map(|c| {
        let residue = residue_of(c)?;
        residue_of(f * power(residue.c(&machine), &lambda)).is_none().then_some(residue)
    })
}

/// (f, e) ↦ fᵉ by square and multiply.
pub(super) fn power<F: Number, C: PairingCurve>(f: Fp12<F, C>, exponent: &BigUint) -> Fp12<F, C> {
    let one = Fp12::one(F::ZERO, F::ONE);
    (0..exponent.bits()).rev().fold(one, |power, bit| {
        let square = power.square();
        if exponent.bit(bit) { square * f } else { square }
    })
}
