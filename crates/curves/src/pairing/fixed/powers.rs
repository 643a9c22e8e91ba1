//! Powers of constants in a Miller loop: of e(P, Q)^s only s comes with a call where P and Q are constants, and the loop squares anyway.
//!
//! Final exponentiations map Fp6* and Fp4* to one: (p¹² − 1)/r is a multiple of p⁶ − 1 and of p⁴ − 1. **Lines.** Modulo Fp6* an element is b + s for a b in Fp6 (of w³ = s,
//! or of [`Tower::CUBE`](crate::tower::Tower::CUBE)), but for those of Fp6. Times t + s for a t in Fp2 that is b·t + ξ + (b + t)·s, so modulo Fp6* it is b′ + s for
//! b′ = (b·t + ξ)/(b + t) = t + (ξ − t²)/(b + t). The inverse of b + t has the coefficient b₁² − (b₀ + t)·b₂ of v² but for its norm: with t = b₁²/b₂ − b₀ that is
//! zero, and b′ + s is l₀ + l·v + s, the shape of a line.
//!
//! **Columns.** The scalar is taken by a comb, as for sums of constant points, see [`crate::comb`]: a column is a digit from a table of such lines, before each of the last squarings,
//! and so counts twice its weight. What signed digits add, and all other constants, are in a start that the squarings of the whole loop lead to.

use super::{FixedLine, squarings};
use crate::comb::Comb;
use crate::pairing::PairingCurve;
use crate::pairing::residue::{power, residue_of};
use crate::tower::{Fp2, Fp6, Fp12};
use num_bigint::BigUint;
use residue_formula::Number;
use residue_ir::Bundle;

/// True if a loop has room for the columns of this comb.
pub fn has_room<C: PairingCurve>(comb: Comb) -> bool {
    comb.columns() as usize <= squarings(C::FAMILY) // u32 to usize widens
}

/// The line that final exponentiations map to the same as f; `None` for an f that is in Fp6 or Fp4.
pub fn line_for<N: Number, C: PairingCurve>(f: Fp12<N, C>) -> Option<FixedLine<N, C>> {
    let a = residue_of(f)?.a;
    let b = if C::CUBE.is_some() { a } else { a.mul_by_v() }; // (a + w)·v = b + w³
    let inverse = |a: Fp2<N, C>| a.inverse();
    let Fp6 { c0: b0, c1: b1, c2: b2 } = match inverse(b.c2) {
        None if inverse(b.c1).is_none() => return None,
        None => b,
        Some(inverse_b2) => {
            let t = b.c1.square() * inverse_b2 - b.c0;
            let xi = Fp2::<N, C>::ONE.mul_by_nonresidue();
            let factor = xi - t.square();
            let sum = Fp6::new(b.c0 + t, b.c1, b.c2);
            let Fp6 { c0, c1, c2 } = sum.inverse_with(|norm| norm.inverse().unwrap_or(N::ZERO));
            Fp6::new(t + c0 * factor, c1 * factor, c2 * factor)
        }
    };
    assert!(inverse(b2).is_none(), "t is chosen for it");
    Some(FixedLine { constant: b0, of_x: b1 })
}

/// The element that a loop begins with that is to end with this constant; `None` for one, or for what is mapped to it.
pub fn start_for<N: Number, C: PairingCurve>(constant: Fp12<N, C>) -> Option<FixedLine<N, C>> {
    let order = C::FAMILY.order();
    let half = (&order + 1u32) / 2u32;
    line_for(power(constant, &half.modpow(&squarings(C::FAMILY).into(), &order)))
}

/// A constant f, of which powers are taken in a loop.
#[derive(Debug)]
pub struct ConstantPower {
    /// The lines for all values of a column.
    pub rows: Vec<Vec<BigUint>>,
}

impl ConstantPower {
    /// Of f by such a comb; `None` if a digit has no line. Also what the start has to contain beside other constants.
    pub fn new<N: Number, C: PairingCurve>(f: Fp12<N, C>, comb: Comb) -> Option<(Self, Fp12<N, C>)> {
        let order = C::FAMILY.order();
        let half = (&order + 1u32) / 2u32;
        let quarter = &half * &half % &order;
        // Σ 2^(j + 1)·(2c − 1)·h = 4h·s − 2h·(2^L − 1) for L bits: h is 1/4.
        let teeth: Vec<_> =
            (0..comb.teeth()).map(|tooth| power(f, &((&quarter << (tooth * comb.columns())) % &order))).collect();
        let row = |value: u32| {
            let signed = (0u32..).zip(&teeth).map(|(tooth, &of_tooth)| {
                if value >> tooth & 1 == 1 { of_tooth } else { of_tooth.conjugate() } // the inverse modulo Fp6*
            });
            let product = signed.reduce(|product, factor| product * factor)?;
            Some(line_for(product)?.to_list().into_iter().map(|value: N| value.to_canonical()).collect())
        };
        let rows = (0..1u32 << comb.teeth()).map(row).collect::<Option<_>>()?;
        let missing = ((BigUint::from(1u32) << (comb.teeth() * comb.columns())) - 1u32) * half % order;
        Some((Self { rows }, power(f, &missing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bls12_381::Bls12_381;
    use crate::bn254::Bn254;
    use crate::pairing::final_exponentiation;
    use residue_ir::Numbers;
    use residue_modular::fields::{Bls12_381Fp, Bn254Fp};

    fn check<N: Number, C: PairingCurve>() {
        let machine = Numbers::<N>::new(Vec::new());
        let small = |value: u64| N::from_canonical(&value.into()).unwrap();
        let element = |seed: u64| {
            let coefficient = |i: u64| Fp2::new(small(seed * 7 + i * i), small(seed + 31 * i));
            Fp12::<N, C>::from_coefficients([1, 2, 3, 4, 5, 6].map(coefficient))
        };
        let end = |f: Fp12<N, C>| final_exponentiation(&machine, f);
        for seed in 1..4 {
            let f = element(seed);
            let line = line_for(f).unwrap();
            assert!(end(f) == end(line.element(N::ZERO, N::ONE)), "{seed}");
            // A line is its own.
            let again = line_for(line.element(N::ZERO, N::ONE)).unwrap();
            assert_eq!((again.constant, again.of_x), (line.constant, line.of_x), "{seed}");
            let start = start_for(f).unwrap().element(N::ZERO, N::ONE);
            let squared = (0..squarings(C::FAMILY)).fold(start, |f, _| f.square());
            assert!(end(f) == end(squared), "{seed}");
        }
        let (even, odd) = element(5).even_and_odd();
        let zero = Fp2::new(N::ZERO, N::ZERO);
        let nothing = Fp6::new(zero, zero, zero);
        assert!(line_for(Fp12::<N, C>::from_even_and_odd(even, nothing)).is_none(), "in Fp6");
        let [f0, f3] = [even.c0, odd.c0];
        assert!(line_for(Fp12::<N, C>::from_coefficients([f0, zero, zero, f3, zero, zero])).is_none(), "in Fp4");
    }

    #[test]
    fn final_exponentiations_do_not_tell_lines_from_what_they_stand_for() {
        check::<Bn254Fp, Bn254>();
        check::<Bls12_381Fp, Bls12_381>();
    }
}
