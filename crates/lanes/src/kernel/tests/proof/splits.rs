//! The one question about a value, at each instruction that shifts, masks or multiplies words: its low bits, and the
//! part above them. The answer is exact, v = r + 2ᵇ·c with 0 ≤ r < 2ᵇ, and the same for the same v: so the low and the
//! high half of a product are tied to it, and a carry to its rest. Without further knowledge, c is a new variable. More
//! is known if v is small, if it is congruent to something small, if parts of it are multiples, and if it is the top
//! limb of a number with a given range.

use super::facts::{Facts, Meaning, Value};
use super::polynomial::{Monomial, Polynomial, Variable};
use crate::line::ROW_LIMB_BITS;

impl Facts {
    /// v = r + 2ᵇ·c, 0 ≤ r < 2ᵇ: r and c.
    pub fn split(&mut self, value: &Value, bits: u32) -> (Value, Value) {
        let key = (value.polynomial.clone(), bits);
        if let Some((rest, quotient)) = self.splits.get(&key) {
            return (rest.clone(), quotient.clone());
        }
        let value = self.refined(value.clone());
        let split = self.known_split(&value, bits).unwrap_or_else(|| self.new_split(&value, bits));
        self.splits.insert(key, split.clone());
        split
    }

    /// The low 52 bits of a value as a factor of a product of words: one term.
    pub fn word(&mut self, value: &Value) -> Value {
        let rest = self.split(value, ROW_LIMB_BITS as u32).0;
        if rest.polynomial.terms().count() <= 1 {
            return rest;
        }
        let name = match self.names.get(&rest.polynomial) {
            Some(name) => *name,
            None => {
                let name = self.variable(rest.low, rest.high, Meaning::Name(rest.polynomial.clone()));
                self.names.insert(rest.polynomial, name);
                name
            }
        };
        Value { polynomial: Polynomial::of(name), low: rest.low, high: rest.high }
    }

    /// Split by the facts about its parts.
    fn known_split(&mut self, value: &Value, bits: u32) -> Option<(Value, Value)> {
        let modulus = 1 << bits;
        let zero = Value { polynomial: Polynomial::default(), low: 0, high: 0 };
        if let Some(number) = value.polynomial.as_constant() {
            let constant = |number| self.value(Polynomial::constant(number), number, number);
            return Some((constant(number.rem_euclid(modulus)), constant(number >> bits)));
        }
        if value.low >= 0 && value.high < modulus {
            return Some((value.clone(), zero));
        }
        let (low, high) = (value.low >> bits, value.high >> bits);
        // Multiples of 2ᵇ are above the low bits.
        let multiple = value.polynomial.map(|k| if k % modulus == 0 { k } else { 0 });
        if !multiple.is_zero() {
            let rest = self.value(value.polynomial.plus(&multiple, -1), i128::MIN, i128::MAX);
            let (rest, quotient) = match self.splits.get(&(rest.polynomial.clone(), bits)) {
                Some(split) => split.clone(),
                None => self.known_split(&rest, bits)?,
            };
            let quotient = quotient.polynomial.plus(&multiple.map(|k| k >> bits), 1);
            return Some((rest, self.value(quotient, low, high)));
        }
        // v = a + 2ᵏ·w with 0 ≤ a < 2ᵏ: a lies among the low bits.
        if let Some((k, bottom)) = self.bottom(&value.polynomial, bits) {
            let top = value.polynomial.plus(&bottom.polynomial, -1).map(|coefficient| coefficient >> k);
            let top = self.value(top, i128::MIN, i128::MAX);
            let (rest, quotient) = self.split(&top, bits - k);
            let (least, most) = (bottom.low + (rest.low << k), bottom.high + (rest.high << k));
            let rest = bottom.polynomial.plus(&rest.polynomial, 1 << k);
            return Some((self.value(rest, least, most), self.value(quotient.polynomial, low, high)));
        }
        // ⌊⌊w/2ᵏ⌋/2ᵇ⌋ = ⌊w/2ᵏ⁺ᵇ⌋.
        let Meaning::Quotient { of, bits: more, .. } = self.meaning(value.polynomial.as_variable()?).clone() else {
            return None;
        };
        let of = self.value(of, i128::MIN, i128::MAX);
        let quotient = self.split(&of, more + bits).1;
        let rest = value.polynomial.plus(&quotient.polynomial, -modulus);
        Some((self.value(rest, 0, modulus - 1), self.value(quotient.polynomial, low, high)))
    }

    /// v = a + 2ᵏ·w, 0 < k ≤ b, with 0 ≤ a < 2ᵏ: k and a, for the greatest k if there is one.
    fn bottom(&self, polynomial: &Polynomial, bits: u32) -> Option<(u32, Value)> {
        let zeros = polynomial.terms().map(|(_, coefficient)| coefficient.trailing_zeros()).max()?;
        (1..=bits.min(zeros)).rev().find_map(|k| {
            let bottom = polynomial.map(|coefficient| if coefficient % (1 << k) == 0 { 0 } else { coefficient });
            let is_part = bottom != *polynomial;
            let bottom = self.value(bottom, i128::MIN, i128::MAX);
            (is_part && bottom.low >= 0 && bottom.high < 1 << k).then_some((k, bottom))
        })
    }

    fn new_split(&mut self, value: &Value, bits: u32) -> (Value, Value) {
        let modulus = 1 << bits;
        let of = value.polynomial.clone();
        let rest = self.small_residue(&of, bits);
        let (low, high) = (value.low >> bits, value.high >> bits);
        let variable = self.variable(low, high, Meaning::Quotient { of: of.clone(), bits, rest: rest.clone() });
        let quotient = Value { polynomial: Polynomial::of(variable), low, high };
        let rest = rest.unwrap_or_else(|| of.plus(&quotient.polynomial, -modulus));
        (self.value(rest, 0, modulus - 1), quotient)
    }

    /// The residue mod 2ᵇ in [0, 2ᵇ), if n·m ≡ −1 makes the polynomial congruent to one that lies there.
    fn small_residue(&self, polynomial: &Polynomial, bits: u32) -> Option<Polynomial> {
        if bits as usize > ROW_LIMB_BITS {
            return None;
        }
        let has_m = |(_, m): &&(Variable, Variable)| polynomial.terms().any(|term| term.0.divided_by(*m).is_some());
        let (n, m) = *self.negative_inverses.iter().find(has_m)?;
        let residue = self.residue(polynomial, bits, |monomial| monomial.divided_by(m).is_some());
        let mut inverted = Polynomial::default();
        for (monomial, coefficient) in residue.terms() {
            let term = match monomial.divided_by(n).and_then(|rest| rest.divided_by(m)) {
                Some(rest) => Polynomial::term(rest, -coefficient),
                None => Polynomial::term(monomial, coefficient),
            };
            inverted = inverted.plus(&term, 1);
        }
        let without_names = self.residue(&inverted, bits, |_| true);
        [self.residue(&inverted, bits, |_| false), without_names].into_iter().find_map(|residue| {
            let (low, high) = self.range(&residue);
            let moved = low.checked_div_euclid(1 << bits)? << bits;
            (high.checked_sub(moved)? < 1 << bits).then(|| residue.plus(&Polynomial::constant(moved), -1))
        })
    }

    /// A congruent polynomial mod 2ᵇ of small coefficients, names written out in some monomials.
    fn residue(&self, polynomial: &Polynomial, bits: u32, is_written_out: impl Fn(Monomial) -> bool) -> Polynomial {
        let modulus: i128 = 1 << bits;
        let small = |coefficient: i128| (coefficient + modulus / 2).rem_euclid(modulus) - modulus / 2;
        let mut sum = Polynomial::default();
        for (monomial, coefficient) in polynomial.terms() {
            let mut term = Polynomial::term(Monomial::ONE, small(coefficient));
            for factor in monomial.variables() {
                let factor = match self.meaning(factor) {
                    Meaning::Name(same) if is_written_out(monomial) => same.map(small),
                    _ => Polynomial::of(factor),
                };
                term = term.times(&factor).map(small);
            }
            sum = sum.plus(&term, 1);
        }
        sum.map(small)
    }
}
