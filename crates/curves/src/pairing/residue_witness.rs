//! Pairing checks without a final exponentiation, by a witness that the caller supplies, on curves of the family BLS with an even
//! x < 0. Novakovic and Eagen 2024 (2024/640), §4, with the check made modulo Fp6: there is no scaling factor, and half of the witness suffices.
//!
//! Let N = p¹² − 1, r the order of the groups, λ = p − x = h·r with h = (x − 1)²/3, and f = Π f_{x,Q}(P). The question is
//! whether f^(N/r) = 1. As r divides p⁶ + 1, the exponent N/r is a multiple of p⁶ − 1: it maps all of Fp6 to one.
//!
//! **Sound.** Let g = f⁻¹·s·c^λ with s in Fp6 and c ≠ 0. Then g^(N/r) = f^(−N/r)·c^(h·N) = f^(−N/r): whatever c is, the
//! answer for g is the answer for f. If g lies in Fp6, and g ≠ 0, the answer is yes. So a wrong c can hide a true check from
//! the short way, but never make a false one pass, and the final exponentiation of g instead of f answers in any case.
//! Here c = a + w for the witness a in Fp6, which is never 0, and f is not: a line has l₃ = 2YZ·yP or λ·yP, not 0 for points
//! other than the identity in their groups, nor for the point (0, 1) that stands in for an identity P.
//!
//! **Complete.** Fp12* / Fp6* is cyclic of order n = p⁶ + 1. If f^(N/r) = 1, then f has there an order that divides n/r; λ is
//! prime to n/r (r divides n once, and a prime that divides h divides p − 1, so that it leaves n ≡ 2, and h is odd): so
//! c = f^(1/λ mod n/r) makes g lie in Fp6. Only its class counts: c = E + O·w stands for E/O + w. If O = 0, another c of the same
//! λ-th power, c·ζ with ζ of order r, has one.
//!
//! λ = p + |x|, and the Miller loop for |x| gives f⁻¹ up to Fp6: with c multiplied in at the set bits of |x| it gives
//! f⁻¹·c^|x|, and cᵖ is a Frobenius map away.

use super::powers::multiply;
use super::{Family, PairingCurve};
use crate::conditions::all_vanish;
use crate::tower::{Fp2, Fp6, Fp12};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::{Array, Bundle, Capacity, Machine};

/// c = a + w for a given a in Fp6, or none.
#[derive(Debug)]
pub struct Witness<M: Machine, C> {
    a: Array<Fp6<M::Fe, C>>,
    /// 1 if there is one, else 0.
    pub is_given: M::Word,
}

impl<M: Machine, C: PairingCurve> Witness<M, C> {
    /// The witness a, if `is_given` is 1 and not 0.
    ///
    /// Panics on a curve of another family or sign, whose exponent is another one.
    pub fn new(machine: &M, is_given: M::Word, a: Fp6<M::Fe, C>) -> Self {
        assert!(has_witness(C::FAMILY), "the exponent is that of a negative and even x");
        let array = machine.array("residue_witness", Capacity::Fixed(1));
        machine.store(array, machine.small(0), a);
        Self { a: array, is_given: machine.bind(is_given) }
    }

    fn c(&self, machine: &M) -> Fp12<M::Fe, C> {
        from_witness(machine.load(self.a, machine.small(0)), machine.one(), machine.zero())
    }

    /// f ↦ f·c.
    pub(super) fn times(&self, machine: &M, f: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
        multiply(machine, f, self.c(machine))
    }

    /// c if `is_here` is not 0, else 1: what the loop that has the witness starts with.
    pub(super) fn start(&self, machine: &M, is_here: M::Word) -> Fp12<M::Fe, C> {
        machine.branch(is_here, |machine| self.c(machine), |machine| Fp12::one(machine.zero(), machine.one()))
    }

    /// f ↦ f·cᵖ if there is a witness. Of f = f_{|x|,Q}(P)·c^|x|, over all pairs, that makes some g for which g^((p¹² − 1)/r)
    /// is the inverse of the product of all pairings; if the product is one and this is its witness, g lies in Fp6.
    pub fn finish(&self, machine: &M, f: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
        machine.branch(self.is_given, |machine| self.times_frobenius(machine, f), |_| f)
    }

    /// f ↦ f·cᵖ, where (a + w)ᵖ = aᵖ + γ₁·w.
    fn times_frobenius(&self, machine: &M, f: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
        let a = machine.load(self.a, machine.small(0));
        let [_, g1, g2, _, g4, _] = C::constants().gamma.each_ref().map(|g| g.lift(machine));
        let zero = Fp2::new(machine.zero(), machine.zero());
        let even = Fp6::new(a.c0.conjugate(), a.c1.conjugate_mul(g2), a.c2.conjugate_mul(g4));
        multiply(machine, f, Fp12::from_even_and_odd(even, Fp6::new(g1, zero, zero)))
    }
}

/// True for a family with the properties above: BLS with an even x < 0.
fn has_witness(family: Family) -> bool {
    matches!(family, Family::Bls { x_abs, x_is_negative: true } if x_abs.is_multiple_of(2))
}

/// a ↦ a + w.
fn from_witness<F: Fe, C: PairingCurve>(a: Fp6<F, C>, one: F, zero: F) -> Fp12<F, C> {
    let [one, zero] = [one, zero].map(|c0| Fp2::new(c0, zero));
    Fp12::from_even_and_odd(a, Fp6::new(one, zero, zero))
}

/// 1 if f, which is not zero, lies in Fp6, else 0.
pub fn is_in_fp6<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>) -> M::Word {
    let (_, odd) = f.even_and_odd();
    machine.is_zero(all_vanish(&odd.to_list()))
}

/// f = Π f_{x,Q}(P) ↦ its witness; `None` if f is 0 or f^((p¹² − 1)/r) is not 1.
pub fn witness<F: Number, C: PairingCurve>(f: Fp12<F, C>) -> Option<Fp6<F, C>> {
    assert!(has_witness(C::FAMILY), "the exponent is that of a negative and even x");
    let lambda = F::modulus() + C::FAMILY.x_abs(); //    λ = p − x
    let n_over_r = (F::modulus().pow(6) + 1u32) / C::FAMILY.order();
    let exponent = lambda.modinv(&n_over_r)?;
    let one_plus_w = from_witness(Fp6::new(Fp2::ONE, zero(), zero()), F::ONE, F::ZERO);
    let c = power(f, &exponent);
    // ζ, if c has no odd part.
    [c, c * power(one_plus_w, &n_over_r)].into_iter().find_map(|c| {
        let (even, odd) = c.even_and_odd();
        let a = even * inverse(odd)?;
        let (_, rest) = (f.conjugate() * power(from_witness(a, F::ONE, F::ZERO), &lambda)).even_and_odd();
        rest.to_list().into_iter().all(|coefficient| coefficient == F::ZERO).then_some(a)
    })
}

fn zero<F: Number, C: PairingCurve>() -> Fp2<F, C> {
    Fp2::new(F::ZERO, F::ZERO)
}

/// a ↦ a⁻¹; `None` for 0.
fn inverse<F: Number, C: PairingCurve>(a: Fp6<F, C>) -> Option<Fp6<F, C>> {
    let is_zero = a.to_list().into_iter().all(|coefficient| coefficient == F::ZERO);
    (!is_zero).then(|| a.inverse_with(|norm| norm.inverse().unwrap_or(F::ZERO)))
}

/// (f, e) ↦ fᵉ by square and multiply.
fn power<F: Number, C: PairingCurve>(f: Fp12<F, C>, exponent: &BigUint) -> Fp12<F, C> {
    let one = from_witness(Fp6::new(Fp2::ONE, zero(), zero()), F::ZERO, F::ZERO);
    (0..exponent.bits()).rev().fold(one, |power, bit| {
        let square = power.square();
        if exponent.bit(bit) { square * f } else { square }
    })
}
