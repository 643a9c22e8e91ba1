//! G1 with its endomorphism, for multiples of points ([`crate::glv`]), and the splitting of scalars by it.
//!
//! None of the fifteen scalars 2d that could meet an exception does, as [`split`] rounds; [`crate::glv`] tests them.

use super::{Bn254, constants, g1_generator};
use crate::glv::split::Split;
use crate::glv::{Endomorphism, PLACES};
use crate::group::Affine;
use crate::pairing::PairingCurve;
use num_bigint::{BigInt, BigUint};
use residue_ir::{Machine, WordOp};
use residue_modular::fields::Bn254Fp;
use ruint::aliases::U256;

/// x.
const X: U256 = U256::from_limbs([super::X, 0, 0, 0]);

/// G1 is the whole curve; [`crate::bn254::Constants::beta`] says what φ is.
impl Endomorphism for Bn254 {
    type Number = Bn254Fp;

    fn order(&self) -> BigUint {
        Self::FAMILY.order()
    }

    fn generator(&self) -> Affine<BigUint> {
        g1_generator()
    }

    fn b(&self) -> BigUint {
        constants().b.clone()
    }

    fn beta(&self) -> BigUint {
        constants().beta.clone()
    }

    fn split<M: Machine>(&self, machine: &M, scalar: M::Word, begins_with_one: bool) -> M::Word {
        split(machine, scalar, begins_with_one)
    }

    fn vectors(&self) -> Split {
        let x = BigInt::from(super::X);
        let (v1, odd): (BigInt, BigInt) = (&x * (&x * 6 + 2), &x * 2 + 1);
        Split { v: [v1.clone(), -&odd], w: [odd.clone(), v1 + odd] } // 6x² + 4x + 1
    }

    fn exception(&self) -> Option<usize> {
        None
    }
}

/// [`Endomorphism::split`].
///
/// The vectors v₁ = (6x² + 2x, −(2x + 1)) and v₂ = (2x + 1, 6x² + 4x + 1) span all (a, b) with a + b·λ = 0 modulo r, as their determinant
/// is r. (s, 0) = α₁·v₁ + α₂·v₂ with α₁ = s·(6x² + 4x + 1)/r, from 0 to 2/3 less than s/(6x² + 2x), and α₂ = s·(2x + 1)/r. For
/// c₁ = ⌊s/(6x² + 2x) + 1/2⌋ and c₂ = ⌊c₁/3x⌋ then α₁ − c₁ is from −7/6 to 1/2 and α₂ − c₂ from −1/3 to 1, or a little beyond. (k₁, k₂) is
/// (s, 0) − (c₁ − 2)·v₁ − (c₂ + 1)·v₂: k₁ is from 0.36 to 1.09 times 4⁶⁴, k₂ from −0.58 to 0 times that, and so the digits are those; for
/// most other roundings one of the scalars 2d of the module's argument is an exception. Without the 4⁶⁴, c₁ is subtracted as it is: k₁ is
/// then from −0.51 to 0.22 times 4⁶⁴, where digits reach from −2/3 to 1/3.
fn split<M: Machine>(machine: &M, scalar: M::Word, begins_with_one: bool) -> M::Word {
    let op = |op, a, b| machine.word_op(op, a, b);
    let small = |k: u64| U256::from(k);
    let [r, x] = [order(), X];
    let [a1, b2, odd] =
        [x * x * small(6) + x * small(2), x * x * small(6) + x * small(4) + small(1), x * small(2) + small(1)];
    let reduced = machine.bind(op(WordOp::Mod, scalar, machine.word(r)));
    let rounded = op(WordOp::Add, reduced, machine.word(a1 >> 1usize));
    let c1 = machine.bind(op(WordOp::Div, rounded, machine.word(a1)));
    let c2 = machine.bind(op(WordOp::Div, c1, machine.word(x * small(3))));
    // Σ 2·4ⁱ, and what −v₂ adds, and 2·v₁ less 4⁶⁴.
    let twos = (0..PLACES).fold(U256::ZERO, |sum, _| sum << 2usize | small(2));
    let (mut added1, mut added2) = (twos.wrapping_sub(odd), twos.wrapping_sub(b2));
    if begins_with_one {
        added1 = added1.wrapping_add(a1 * small(2)).wrapping_sub(U256::ONE << 128usize);
        added2 = added2.wrapping_sub(odd * small(2));
    }
    let [a1, b2, odd] = [a1, b2, odd].map(|value| machine.word(value));
    let k1 = op(WordOp::Sub, op(WordOp::Sub, reduced, op(WordOp::Mul, c1, a1)), op(WordOp::Mul, c2, odd));
    let k2 = op(WordOp::Sub, op(WordOp::Mul, c1, odd), op(WordOp::Mul, c2, b2));
    let low = op(WordOp::Add, k1, machine.word(added1));
    let high = op(WordOp::Add, k2, machine.word(added2));
    op(WordOp::Or, op(WordOp::Shl, high, machine.small(128)), low)
}

/// r.
fn order() -> U256 {
    let x = X;
    let [six, eighteen, thirty_six] = [6u64, 18, 36].map(U256::from);
    (((x + U256::ONE) * thirty_six * x + eighteen) * x + six) * x + U256::ONE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eisenstein::{chosen, place};
    use num_bigint::Sign;
    use residue_ir::Numbers;

    fn big(word: U256) -> BigInt {
        BigInt::from_bytes_be(Sign::Plus, &word.to_be_bytes::<32>())
    }

    fn r() -> BigInt {
        BigInt::from(Bn254::FAMILY.order())
    }

    /// (6x² + 2x)/(2x + 1) modulo r.
    fn lambda() -> BigInt {
        let x = BigInt::from(crate::bn254::X);
        let odd: BigInt = &x * 2 + 1;
        (&x * &x * 6 + &x * 2) * odd.modpow(&(r() - 2), &r()) % r()
    }

    /// The digits a and b of a number.
    fn parts(digit: usize) -> [i64; 2] {
        [digit % 4, digit / 4].map(|part| i64::try_from(part).unwrap() - 2)
    }

    #[test]
    fn lambda_is_a_cube_root_of_one() {
        assert_eq!((lambda().pow(2) + lambda() + 1) % r(), BigInt::ZERO);
        assert_eq!(big(order()), r());
    }

    #[test]
    fn digits_are_those_of_the_scalar() {
        let machine = Numbers::<Bn254Fp>::new(Vec::new());
        let x = X;
        let step = x * x * U256::from(6u64) + x * U256::from(2u64) + U256::ONE;
        let near = |word: U256| (0..9u64).map(move |k| word.wrapping_add(U256::from(k)).wrapping_sub(U256::from(4)));
        let mut scalars: Vec<U256> = near(U256::ZERO).chain(near(order())).collect();
        for k in (1..300u64).chain([u64::MAX, crate::bn254::X]) {
            scalars.extend(near(step * U256::from(k) * U256::from(k) * U256::from(k) * U256::from(k)));
            scalars.extend(near(U256::MAX / U256::from(k)));
            scalars.extend(near(order() / U256::from(k)));
        }
        for (scalar, begins_with_one) in scalars.into_iter().flat_map(|scalar| [(scalar, true), (scalar, false)]) {
            let chosen = chosen(&machine, split(&machine, scalar, begins_with_one));
            let (mut k1, mut k2) = (BigInt::from(u8::from(begins_with_one)), BigInt::ZERO);
            for at in (0..PLACES).rev() {
                let [a, b] = parts(place(&chosen, at).number(|word| word));
                (k1, k2) = (k1 * 4 + a, k2 * 4 + b);
            }
            assert_eq!((k1 + k2 * lambda() - big(scalar)) % r(), BigInt::ZERO, "{scalar:#x}");
        }
    }
}
