//! s·P on G1, by the endomorphism φ(x, y) = (β·x, y): Gallant, Lambert and Vanstone 2001, “Faster point multiplication on elliptic
//! curves with efficient endomorphisms”.
//!
//! φ is multiplication by a λ with λ² + λ + 1 = 0 modulo r, so that s·P = k₁·P + k₂·φ(P) for a short vector (k₁, k₂), see [`split`]. Both
//! are written to the base 4 with digits from −2 to 1; what a digit of both, a + b·ω with ω for φ, stands for is in
//! [`crate::eisenstein`]. Which digit there is decides which part of a sequence comes next: two doublings, and the addition for that digit.
//!
//! The first digit is 1 for every scalar, as [`split`] sees to, so that the sum is never the identity before the last addition. It
//! is k·P for a prefix k of the digits. Additions are incomplete: they need 4k ≠ ±d modulo the ideal of r for the digit d that comes. Elements
//! of this ideal have norms that r divides. Before the last step 4k ± d has a norm between 0 and r; in the last step 4k + d is
//! (k₁, k₂), which is in the ideal only for s = 0, where Z = 0 is the answer, and 4k − d only for s = 2d, and these fifteen
//! scalars are tested.

use super::{constants, invert};
use crate::eisenstein::{DIGITS, Table, chosen, place};
use crate::group::{Affine, Jacobian};
use residue_formula::Fe;
use residue_ir::{Machine, SequenceStep, WordOp};
use ruint::aliases::U256;

/// Places of digits below the first.
pub(super) const PLACES: u32 = 64;

/// x.
const X: U256 = U256::from_limbs([super::X, 0, 0, 0]);

/// s·P for P on the curve and not the identity, which has all zeros.
pub fn multiply<M: Machine>(machine: &M, scalar: M::Word, point: Affine<M::Fe>) -> Affine<M::Fe> {
    let Jacobian { x, y, z } = multiple(machine, scalar, point);
    let inverse = invert(machine, z);
    let square = inverse.square();
    Affine::new(x * square, y * (square * inverse))
}

/// s·P for P on the curve and not the identity; Z = 0 if it is the identity.
pub fn multiple<M: Machine>(machine: &M, scalar: M::Word, point: Affine<M::Fe>) -> Jacobian<M::Fe> {
    multiple_in(machine, scalar, point, false)
}

/// The same with code of half the length, in which all digits have their doublings in common; it takes 64 jumps more.
pub fn multiple_in_short_code<M: Machine>(machine: &M, scalar: M::Word, point: Affine<M::Fe>) -> Jacobian<M::Fe> {
    multiple_in(machine, scalar, point, true)
}

fn multiple_in<M: Machine>(machine: &M, scalar: M::Word, point: Affine<M::Fe>, is_short: bool) -> Jacobian<M::Fe> {
    let chosen = chosen(machine, split(machine, scalar, true));
    let three_halves = machine.constant(&constants().pairing.three_halves);
    let table = Table::new(machine, point, machine.constant(&constants().beta), three_halves);
    let doublings = is_short.then_some(DIGITS);
    let places = (0..PLACES).rev();
    let order: Vec<_> =
        places.flat_map(|at| doublings.map(SequenceStep::Part).into_iter().chain([place(&chosen, at)])).collect();
    let then = vec![None; DIGITS + usize::from(is_short)];
    let start = table.images[0].of(0, false).to_jacobian(machine.one());
    let Jacobian { x, y, z } = machine.sequence_of(&order, &then, start, |machine, part, sum| {
        let three_halves = machine.constant(&constants().pairing.three_halves);
        let doubled = |sum: Jacobian<M::Fe>| sum.double(three_halves).double(three_halves);
        match doublings {
            None => table.add(doubled(sum), part),
            Some(doublings) if part == doublings => doubled(sum),
            Some(_) => table.add(sum, part),
        }
    });
    Jacobian { x, y, z: z * table.z }
}

/// s ↦ Σᵢ (aᵢ + 2)·4ⁱ + 2¹²⁸·Σᵢ (bᵢ + 2)·4ⁱ over [`PLACES`] places, with digits aᵢ and bᵢ from −2 to 1, where s is k₁ + k₂·λ modulo r,
/// k₁ = 4⁶⁴ + Σᵢ aᵢ·4ⁱ and k₂ = Σᵢ bᵢ·4ⁱ; without the 4⁶⁴ unless it `begins_with_one`.
///
/// The vectors v₁ = (6x² + 2x, −(2x + 1)) and v₂ = (2x + 1, 6x² + 4x + 1) span all (a, b) with a + b·λ = 0 modulo r, as their determinant
/// is r. (s, 0) = α₁·v₁ + α₂·v₂ with α₁ = s·(6x² + 4x + 1)/r, from 0 to 2/3 less than s/(6x² + 2x), and α₂ = s·(2x + 1)/r. For
/// c₁ = ⌊s/(6x² + 2x) + 1/2⌋ and c₂ = ⌊c₁/3x⌋ then α₁ − c₁ is from −7/6 to 1/2 and α₂ − c₂ from −1/3 to 1, or a little beyond. (k₁, k₂) is
/// (s, 0) − (c₁ − 2)·v₁ − (c₂ + 1)·v₂: k₁ is from 0.36 to 1.09 times 4⁶⁴, k₂ from −0.58 to 0 times that, and so the digits are those; for
/// most other roundings one of the scalars 2d of the module's argument is an exception. Without the 4⁶⁴, c₁ is subtracted as it is: k₁ is
/// then from −0.51 to 0.22 times 4⁶⁴, where digits reach from −2/3 to 1/3.
pub(super) fn split<M: Machine>(machine: &M, scalar: M::Word, begins_with_one: bool) -> M::Word {
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
    use crate::bn254::{Bn254, g1_generator};
    use crate::pairing::PairingCurve;
    use num_bigint::{BigInt, BigUint, Sign};
    use residue_formula::Number;
    use residue_ir::Numbers;
    use residue_modular::fields::Bn254Fp;

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

    /// s·P by double and add, `None` for the identity.
    fn expected(scalar: &BigUint, point: Affine<Bn254Fp>) -> Option<Affine<Bn254Fp>> {
        let invert = |a: Bn254Fp| a.inverse().unwrap();
        let mut sum: Option<Affine<Bn254Fp>> = None;
        for bit in (0..scalar.bits()).rev() {
            for other in [sum, scalar.bit(bit).then_some(point)].into_iter().flatten() {
                let Some(Affine { x, y }) = sum else {
                    sum = Some(other);
                    continue;
                };
                let slope = match (x == other.x, y == other.y) {
                    (true, true) => x.square() * Bn254Fp::from_u64(3) * invert(y.double()),
                    (true, false) => {
                        sum = None;
                        continue;
                    }
                    _ => (other.y - y) * invert(other.x - x),
                };
                let x3 = slope.square() - x - other.x;
                sum = Some(Affine::new(x3, slope * (x - x3) - y));
            }
        }
        sum
    }

    #[test]
    fn multiples_by_scalars_that_could_meet_an_exception_are_right() {
        let machine = Numbers::<Bn254Fp>::new(Vec::new());
        let Affine { x, y } = g1_generator();
        let point = Affine::new(Bn254Fp::from_canonical(&x).unwrap(), Bn254Fp::from_canonical(&y).unwrap());
        let modulo_r = |value: BigInt| (((value % r()) + r()) % r()).to_biguint().unwrap();
        let pairs = (-8..9i64).flat_map(|a| (-8..9i64).map(move |b| lambda() * b + a));
        for scalar in pairs.chain([BigInt::from(1) << 200]) {
            let scalar = modulo_r(scalar);
            let word = U256::from_be_slice(&scalar.to_bytes_be());
            let found = multiply(&machine, word, point);
            let zero = Bn254Fp::ZERO;
            assert_eq!(found, expected(&scalar, point).unwrap_or(Affine::new(zero, zero)), "{scalar}");
        }
    }
}
