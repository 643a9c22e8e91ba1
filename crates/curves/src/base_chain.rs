//! Powers by an exponent that is short in a base: Horner's scheme, with an addition chain for the digits that is searched.
//!
//! p of a BLS curve is a polynomial in x with few and small coefficients over 3, and so the digits of p − 2 or (p − 3)/4 in
//! base |x| are α·v + β with small α and β for the least of them, v. Powers by |x| are cheap, as it is mostly zeros; the
//! digits are reached from v and 1 by Bos and Coster's search, 1989, “Addition chain heuristics”, on pairs (α, β).

use crate::chain::pow_constant;
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use residue_formula::Fe;
use std::collections::{BTreeMap, BTreeSet};

/// (α, β), for the digit α·v + β.
type Pair = (u64, u64);

/// First elements of a chain: v and 1.
const BASIS: [Pair; 2] = [(1, 0), (0, 1)];

/// The most steps that a chain may have; digits that are unrelated have none that is shorter.
const STEPS_MAX: usize = 64;

/// (x, e) ↦ xᵉ for e ≥ 1, where `power_of_base` maps a to a^base. Falls back on windows if the digits are unrelated.
pub fn pow_in_base<F: Fe>(x: F, exponent: &BigUint, base: u64, power_of_base: impl Fn(F) -> F) -> F {
    let times = |power: F, digit: Option<F>| digit.map_or(power, |digit| power * digit);
    pow_in_base_with(x, exponent, base, |power, digits| {
        digits.iter().fold(power, |power, &digit| times(power_of_base(power), digit))
    })
}

/// The same where `horner` goes on from the power by the first digit, given those by the others; none stands for the digit 0.
pub fn pow_in_base_with<F: Fe>(x: F, exponent: &BigUint, base: u64, horner: impl FnOnce(F, &[Option<F>]) -> F) -> F {
    let digits = digits(exponent, base);
    let least = digits.iter().copied().filter(|&digit| digit > 0).min().expect("x⁰ needs no chain");
    let pairs: Vec<Pair> = digits.iter().map(|&digit| (digit / least, digit % least)).collect();
    let Some(steps) = search(&pairs) else { return pow_constant(x, exponent) };
    let mut powers = BTreeMap::from([(BASIS[0], pow_constant(x, &least.into())), (BASIS[1], x)]);
    for [sum, a, b] in steps {
        let power = if a == b { powers[&a].square() } else { powers[&a] * powers[&b] };
        powers.insert(sum, power);
    }
    let others: Vec<Option<F>> = pairs[1..].iter().map(|digit| powers.get(digit).copied()).collect();
    horner(powers[&pairs[0]], &others)
}

/// The digits of `number` in `base`, most significant first.
fn digits(number: &BigUint, base: u64) -> Vec<u64> {
    let mut digits = Vec::new();
    let mut left = number.clone();
    while left > BigUint::ZERO {
        digits.push((&left % base).to_u64().expect("a digit is below the base"));
        left /= base;
    }
    digits.reverse();
    digits
}

/// Sums that lead from the basis to all `targets`, each after those it needs: the largest that is wanted becomes the sum
/// of two smaller ones, if possible of two that are wanted anyway.
fn search(targets: &[Pair]) -> Option<Vec<[Pair; 3]>> {
    let is_new = |pair: &Pair| *pair != (0, 0) && !BASIS.contains(pair);
    let mut wanted: BTreeSet<Pair> = targets.iter().copied().filter(is_new).collect();
    let mut steps = Vec::new();
    while let Some(largest) = wanted.pop_last() {
        let less = |part: Pair| Some((largest.0.checked_sub(part.0)?, largest.1.checked_sub(part.1)?));
        let split = wanted.iter().chain(&BASIS).filter_map(|&part| Some((less(part)?, part)));
        let half = (largest.0 / 2, largest.1 / 2);
        let halves = (less(half) == Some(half)).then_some((half, half));
        let known = |pair: &Pair| wanted.contains(pair) || BASIS.contains(pair);
        let (a, b) = split.chain(halves).min_by_key(|&(rest, _)| (!known(&rest), rest))?;
        steps.push([largest, a, b]);
        wanted.extend([a, b].iter().filter(|pair| is_new(pair)));
        if steps.len() > STEPS_MAX {
            return None;
        }
    }
    steps.reverse();
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bls12_381::X_ABS;
    use residue_formula::Number;
    use residue_modular::fields::Bls12_381Fp;

    #[test]
    fn powers_agree_with_square_and_multiply() {
        let x = Bls12_381Fp::from_u64(7);
        let p = Bls12_381Fp::modulus();
        for base in [10, 1000, X_ABS] {
            let exponents = (1..200u32).map(BigUint::from).chain([&p - 2u32, (&p + 1u32) / 4u32, (&p - 3u32) / 4u32]);
            for exponent in exponents {
                let power = pow_in_base(x, &exponent, base, |a| a.pow(&base.into()));
                assert_eq!(power, x.pow(&exponent), "exponent {exponent} in base {base}");
            }
        }
    }

    #[test]
    fn the_chains_of_bls12_381_are_short() {
        let p = Bls12_381Fp::modulus();
        for (exponent, most) in [(&p - 2u32, 4), ((&p - 3u32) / 4u32, 7), ((&p + 1u32) / 4u32, 8)] {
            let digits = digits(&exponent, X_ABS);
            let least = *digits.iter().min().unwrap();
            let pairs: Vec<Pair> = digits.iter().map(|digit| (digit / least, digit % least)).collect();
            let steps = search(&pairs).unwrap().len();
            assert!(steps <= most, "{steps} steps for {pairs:?}");
        }
    }
}
