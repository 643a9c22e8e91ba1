//! Powers by a constant exponent: an addition chain of squarings and products, without control flow.

use num_bigint::BigUint;
use residue_formula::Fe;

/// (x, e) ↦ xᵉ for e ≥ 1: sliding windows over odd powers of x, with the width that needs fewest multiplications.
/// Handbook of Applied Cryptography 1996, algorithm 14.85.
#[must_use]
pub fn pow_constant<F: Fe>(x: F, exponent: &BigUint) -> F {
    assert!(exponent.bits() > 0, "x⁰ needs no chain");
    Chain::best(exponent).power(x)
}

/// The same with windows of at most `width` bits, which are odd powers to keep: 2^(`width` − 1).
#[must_use]
pub fn pow_constant_in_windows<F: Fe>(x: F, exponent: &BigUint, width: u64) -> F {
    assert!(exponent.bits() > 0, "x⁰ needs no chain");
    Chain::sliding(exponent, width).power(x)
}

/// (y, x, e) ↦ y^(2^`bits`)·xᵉ for e from 1 to 2^`bits` − 1: the chain goes on where another one has ended.
#[must_use]
pub fn pow_constant_onto<F: Fe>(y: F, x: F, exponent: &BigUint, bits: u64) -> F {
    assert!((1..=bits).contains(&exponent.bits()), "the exponent has at least one and at most {bits} bits");
    let chain = Chain::best(exponent);
    let odd_powers = chain.odd_powers(x);
    let after_first: u64 = chain.windows.iter().map(|window| window.squarings).sum();
    let mut power = (after_first..bits).fold(y, |power, _| power.square());
    for window in &chain.windows {
        power = power * odd_powers[window.odd / 2];
        power = (0..window.squarings).fold(power, |power, _| power.square());
    }
    power
}

/// Multiply by the odd power `odd`, then square `squarings` times (up to the end of the next window).
struct Window {
    odd: usize,
    squarings: u64,
}

/// Windows of an exponent, most significant first.
struct Chain {
    windows: Vec<Window>,
}

impl Chain {
    /// The odd powers of x that windows multiply by.
    fn odd_powers<F: Fe>(&self, x: F) -> Vec<F> {
        let mut odd_powers = vec![x];
        if self.largest() > 1 {
            let square = x.square();
            for half in 1..=self.largest() / 2 {
                odd_powers.push(odd_powers[half - 1] * square);
            }
        }
        odd_powers
    }

    /// x to the power that the chain is for.
    fn power<F: Fe>(&self, x: F) -> F {
        let odd_powers = self.odd_powers(x);
        let mut power = odd_powers[self.windows[0].odd / 2];
        for (index, window) in self.windows.iter().enumerate() {
            if index > 0 {
                power = power * odd_powers[window.odd / 2];
            }
            for _ in 0..window.squarings {
                power = power.square();
            }
        }
        power
    }

    /// The chain with fewest multiplications.
    fn best(exponent: &BigUint) -> Self {
        (1..=8).map(|width| Self::sliding(exponent, width)).min_by_key(Self::len).expect("there are eight widths")
    }

    /// Windows of at most `width` bits that begin and end with a set bit.
    fn sliding(exponent: &BigUint, width: u64) -> Self {
        let mut windows: Vec<Window> = Vec::new();
        let mut undone = exponent.bits(); // bits below this one are not yet in a window
        let mut end = undone; // the last window ended here
        while undone > 0 {
            if !exponent.bit(undone - 1) {
                undone -= 1;
                continue;
            }
            let mut low = undone.saturating_sub(width);
            while !exponent.bit(low) {
                low += 1;
            }
            let odd = (low..undone).rev().fold(0, |odd, bit| 2 * odd + usize::from(exponent.bit(bit)));
            if let Some(last) = windows.last_mut() {
                last.squarings = end - low;
            }
            windows.push(Window { odd, squarings: low });
            (undone, end) = (low, low);
        }
        Self { windows }
    }

    /// The largest odd power in use.
    fn largest(&self) -> usize {
        self.windows.iter().map(|window| window.odd).max().unwrap_or(1)
    }

    /// Number of multiplications, squarings included.
    fn len(&self) -> u64 {
        let squarings: u64 = self.windows.iter().map(|window| window.squarings).sum();
        let table = if self.largest() > 1 { 1 + self.largest() / 2 } else { 0 };
        squarings + (self.windows.len() - 1 + table) as u64
    }
}

/// a^(2^count).
pub(crate) fn squared<F: Fe>(a: F, count: usize) -> F {
    (0..count).fold(a, |power, _| power.square())
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_formula::Number;
    use residue_modular::fields::Bls12_381Fp;

    #[test]
    fn powers_agree_with_square_and_multiply() {
        let x = Bls12_381Fp::from_u64(7).pow(&BigUint::from(12_345u32));
        for exponent in (1..300u32).map(BigUint::from).chain([Bls12_381Fp::modulus() - 2u32]) {
            assert_eq!(pow_constant(x, &exponent), x.pow(&exponent), "exponent {exponent}");
        }
    }

    #[test]
    fn a_chain_goes_on_after_another() {
        let (x, y) = (Bls12_381Fp::from_u64(7), Bls12_381Fp::from_u64(11));
        for (exponent, bits) in [(1u32, 1), (1, 9), (6, 3), (200, 8), (12_345, 20)] {
            let expected = y.pow(&(BigUint::from(1u8) << bits)) * x.pow(&exponent.into());
            assert_eq!(pow_constant_onto(y, x, &exponent.into(), bits), expected, "{exponent} in {bits} bits");
        }
    }

    #[test]
    fn the_inversion_chain_of_bls12_381_is_short() {
        let length = Chain::best(&(Bls12_381Fp::modulus() - 2u32)).len();
        assert!(length <= 460, "{length} multiplications");
    }
}
