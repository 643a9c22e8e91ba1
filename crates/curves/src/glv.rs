//! Multiples of points, and sums of them, on curves y² = x³ + b with a prime number r of points, by the endomorphism φ(x, y) = (β·x, y): Gallant, Lambert
//! and Vanstone 2001, “Faster point multiplication on elliptic curves with efficient endomorphisms”. Single multiples have digits to the base 8 (`glv/octal.rs`) where
//! code for that is short enough; what follows is said of digits to the base 4, which sums ([`msm`]) have, and multiples where code has to be shorter.
//!
//! φ is multiplication by a λ with λ² + λ + 1 = 0 modulo r, so that s·P = k₁·P + k₂·φ(P) for a short vector (k₁, k₂), see [`Endomorphism::split`]. Both
//! are written to the base 4 with digits from −2 to 1; what a digit of both, a + b·ω with ω for φ, stands for is in
//! [`crate::eisenstein`]. Which digit there is decides which part of a sequence comes next: two doublings, and the addition for that digit.
//!
//! The first digit is 1 for every scalar, as the split sees to, so that the sum is never the identity before the last addition. It
//! is k·P for a prefix k of the digits. Additions are incomplete: they need 4k ≠ ±d modulo the ideal of r for the digit d that comes. Elements
//! of this ideal have norms that r divides. Before the last step 4k ± d has a norm between 0 and r; in the last step 4k + d is
//! (k₁, k₂), which is in the ideal only for s = 0, where Z = 0 is the answer, and 4k − d only for s = 2d. A curve says for which digit that
//! happens, if for any: [`Endomorphism::exception`].

pub mod msm;
mod octal;
pub mod split;

use self::split::Split;
use crate::chain::pow_constant;
use crate::eisenstein::{DIGIT, DIGITS, Digit, Table, chosen, place};
use crate::group::{Affine, Jacobian};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::{Feature, Machine, SequenceStep, WordOp};
use ruint::aliases::U256;

/// Places of digits below the first.
pub const PLACES: u32 = 64;

/// A curve y² = x³ + b with its endomorphism, and a subgroup of prime order r, below 2²⁵⁶, which all points are in that are multiplied: mostly the whole
/// curve.
pub trait Endomorphism {
    /// Elements of its field as numbers.
    type Number: Number;

    /// r.
    fn order(&self) -> BigUint;

    /// A generator.
    fn generator(&self) -> Affine<BigUint>;

    /// b.
    fn b(&self) -> BigUint;

    /// β, a cube root of one.
    fn beta(&self) -> BigUint;

    /// s ↦ Σᵢ (aᵢ + 2)·4ⁱ + 2¹²⁸·Σᵢ (bᵢ + 2)·4ⁱ over [`PLACES`] places, with digits aᵢ and bᵢ from −2 to 1, where s is k₁ + k₂·λ modulo r,
    /// k₁ = 4⁶⁴ + Σᵢ aᵢ·4ⁱ and k₂ = Σᵢ bᵢ·4ⁱ; without the 4⁶⁴ unless it `begins_with_one`.
    fn split<M: Machine>(&self, machine: &M, scalar: M::Word, begins_with_one: bool) -> M::Word;

    /// Vectors (a, b) that span all with a + b·λ = 0 modulo r.
    fn vectors(&self) -> Split;

    /// The number of the digit d for which the split of 2d, beginning with one, ends with d; None if there is none.
    fn exception(&self) -> Option<usize>;

    /// a ↦ a⁻¹, by an instruction where there is one; 0 ↦ 0.
    fn invert<M: Machine>(&self, machine: &M, a: M::Fe) -> M::Fe {
        machine.inverse(a, |machine, a| {
            machine.function("fp_inverse", a, |_, a| pow_constant(a, &(Self::Number::modulus() - 2u32)))
        })
    }

    /// Zero exactly if the point lies on the curve.
    fn defect<M: Machine>(&self, machine: &M, point: Affine<M::Fe>) -> M::Fe {
        point.curve_defect(machine.constant(&self.b()))
    }

    /// 3/2.
    fn three_halves<M: Machine>(&self, machine: &M) -> M::Fe {
        machine.constant(&((Self::Number::modulus() + 3u32) / 2u32))
    }
}

/// s·P for P on the curve and not the identity, which has all zeros.
pub fn multiply<M: Machine, E: Endomorphism>(
    machine: &M,
    curve: &E,
    scalar: M::Word,
    point: Affine<M::Fe>,
) -> Affine<M::Fe> {
    let Jacobian { x, y, z } = multiple(machine, curve, scalar, point);
    let inverse = curve.invert(machine, z);
    let square = inverse.square();
    Affine::new(x * square, y * (square * inverse))
}

/// s·P for P on the curve and not the identity; Z = 0 if it is the identity. By digits to the base 8 where code for 64 parts is not too long: where
/// instructions name slots, and where the state stays on the stack.
pub fn multiple<M: Machine, E: Endomorphism>(
    machine: &M,
    curve: &E,
    scalar: M::Word,
    point: Affine<M::Fe>,
) -> Jacobian<M::Fe> {
    machine.branch(
        machine.has(Feature::ShortParts),
        |machine| octal::multiple(machine, curve, scalar, point),
        |machine| multiple_in(machine, curve, scalar, point, false),
    )
}

/// The same by digits to the base 4 with code of half the length that these take otherwise, in which all have their doublings in common; it takes 64 jumps more.
pub fn multiple_in_short_code<M: Machine, E: Endomorphism>(
    machine: &M,
    curve: &E,
    scalar: M::Word,
    point: Affine<M::Fe>,
) -> Jacobian<M::Fe> {
    multiple_in(machine, curve, scalar, point, true)
}

fn multiple_in<M: Machine, E: Endomorphism>(
    machine: &M,
    curve: &E,
    scalar: M::Word,
    point: Affine<M::Fe>,
    is_short: bool,
) -> Jacobian<M::Fe> {
    let chosen = chosen(machine, curve.split(machine, scalar, true));
    let table = Table::new(machine, point, machine.constant(&curve.beta()), curve.three_halves(machine));
    let doublings = is_short.then_some(DIGITS);
    let places = (0..PLACES).rev();
    let order: Vec<_> =
        places.flat_map(|at| doublings.map(SequenceStep::Part).into_iter().chain([place(&chosen, at)])).collect();
    let then = vec![None; DIGITS + usize::from(is_short)];
    let start = table.images[0].of(0, false).to_jacobian(machine.one());
    let sum = machine.sequence_of(&order, &then, start, |machine, part, sum| {
        let three_halves = curve.three_halves(machine);
        let doubled = |sum: Jacobian<M::Fe>| sum.double(three_halves).double(three_halves);
        match doublings {
            None => table.add(doubled(sum), part),
            Some(doublings) if part == doublings => doubled(sum),
            Some(_) => table.add(sum, part),
        }
    });
    let Jacobian { x, y, z } = match curve.exception().and_then(|digit| DIGIT[digit]) {
        None => sum,
        // Z = 0: s is 0, for which it stays so, or 2d.
        Some(Digit { base, turn, is_negated }) => machine.branch(
            machine.is_zero(sum.z),
            |machine| {
                let order = U256::from_be_slice(&curve.order().to_bytes_be());
                let is_zero = machine.not(machine.word_op(WordOp::Mod, scalar, machine.word(order)));
                let half = table.images[base].of(turn, is_negated).to_affine();
                let double = half.to_jacobian(machine.one()).double(curve.three_halves(machine));
                machine.branch(is_zero, |_| sum, |_| double)
            },
            |_| sum,
        ),
    };
    Jacobian { x, y, z: z * table.z }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bls12_381::Bls12_381;
    use crate::bn254::Bn254;
    use crate::eisenstein_octal;
    use crate::fixed_base::Sums;
    use crate::short::{GRUMPKIN, PALLAS, VESTA};
    use residue_ir::Numbers;
    use residue_modular::fields::{Bls12_381Fp, Bn254Fp, Bn254Fr, Pallas, Vesta};

    fn generator<E: Endomorphism>(curve: &E) -> Affine<E::Number> {
        let Affine { x, y } = curve.generator();
        let element = |value| E::Number::from_canonical(value).unwrap();
        Affine::new(element(&x), element(&y))
    }

    /// The cube root of one modulo r that φ multiplies by.
    fn lambda<E: Endomorphism>(curve: &E) -> BigUint {
        let (order, point) = (curve.order(), generator(curve));
        let beta = E::Number::from_canonical(&curve.beta()).unwrap();
        let image = Affine::new(point.x * beta, point.y);
        let roots = (2u32..9).map(|base| BigUint::from(base).modpow(&((&order - 1u32) / 3u32), &order));
        let is_lambda = |root: &BigUint| Sums { a: E::Number::ZERO }.multiple(root, point) == Some(image);
        roots.flat_map(|root| [&root * &root % &order, root]).find(is_lambda).expect("φ is one of both")
    }

    fn word(value: &BigUint) -> U256 {
        U256::from_be_slice(&value.to_bytes_be())
    }

    /// Scalars near 0, near what divides the order, and others.
    fn scalars(order: &BigUint) -> Vec<U256> {
        let near = |word: U256| (0..9u64).map(move |k| word.wrapping_add(U256::from(k)).wrapping_sub(U256::from(4)));
        let mut scalars: Vec<U256> = near(U256::ZERO).chain(near(word(order))).collect();
        for k in (1..300u64).chain([u64::MAX]) {
            scalars.extend(near(U256::MAX / U256::from(k)));
            scalars.extend(near(word(order) / U256::from(k)));
            scalars.push(word(&BigUint::from(k).modpow(&501u32.into(), order)));
        }
        scalars
    }

    fn digits_are_those_of_the_scalar<E: Endomorphism>(curve: &E, machine: &Numbers<E::Number>) {
        let (order, lambda) = (curve.order(), lambda(curve));
        for (scalar, begins_with_one) in scalars(&order).into_iter().flat_map(|s| [(s, true), (s, false)]) {
            let chosen = chosen(machine, curve.split(machine, scalar, begins_with_one));
            // With 2 added to each digit, what that adds is taken away at the end.
            let (mut k1, mut k2) = (BigUint::from(u8::from(begins_with_one)), BigUint::ZERO);
            let mut twos = BigUint::ZERO;
            for at in (0..PLACES).rev() {
                let digit = place(&chosen, at).number(|word| word);
                (k1, k2) = (k1 * 4u32 + digit % 4, k2 * 4u32 + digit / 4);
                twos = twos * 4u32 + 2u32;
            }
            let found = k1 + k2 * &lambda;
            let expected = BigUint::from_bytes_be(&scalar.to_be_bytes::<32>()) + &twos + twos * &lambda;
            assert_eq!(found % &order, expected % &order, "{scalar:#x}");
        }
    }

    fn multiples_are_right<E: Endomorphism>(curve: &E, machine: &Numbers<E::Number>) {
        let (order, lambda, point) = (curve.order(), lambda(curve), generator(curve));
        let signed = |k: i64| if k < 0 { &order - k.unsigned_abs() } else { k.unsigned_abs().into() };
        // Those that could meet an exception, 2d, are among the pairs.
        let few = (-4..3i64).flat_map(|a| (-4..3i64).map(move |b| (a, b)));
        let doubled = (0..eisenstein_octal::DIGITS).map(eisenstein_octal::element).map(|[a, b]| (2 * a, 2 * b));
        let pairs = few.chain(doubled);
        for scalar in pairs.map(|(a, b)| (signed(b) * &lambda + signed(a)) % &order).chain([BigUint::from(7u8) << 200])
        {
            let expected = Sums { a: E::Number::ZERO }.multiple(&(&scalar % &order), point);
            let expected = expected.unwrap_or(Affine::new(E::Number::ZERO, E::Number::ZERO));
            assert_eq!(multiply(machine, curve, word(&scalar), point), expected, "{scalar}");
            let Jacobian { x, y, z } = multiple_in_short_code(machine, curve, word(&scalar), point);
            let inverse = z.inverse().unwrap_or(E::Number::ZERO);
            let short = Affine::new(x * inverse.square(), y * inverse.square() * inverse);
            assert_eq!(short, expected, "{scalar}");
        }
    }

    #[test]
    fn scalars_are_split_on_every_curve() {
        digits_are_those_of_the_scalar(&Bls12_381, &Numbers::<Bls12_381Fp>::new(Vec::new()));
        digits_are_those_of_the_scalar(&Bn254, &Numbers::<Bn254Fp>::new(Vec::new()));
        digits_are_those_of_the_scalar(&GRUMPKIN, &Numbers::<Bn254Fr>::new(Vec::new()));
        digits_are_those_of_the_scalar(&PALLAS, &Numbers::<Pallas>::new(Vec::new()));
        digits_are_those_of_the_scalar(&VESTA, &Numbers::<Vesta>::new(Vec::new()));
    }

    #[test]
    fn multiples_by_scalars_that_could_meet_an_exception_are_right() {
        multiples_are_right(&Bn254, &Numbers::<Bn254Fp>::new(Vec::new()));
        multiples_are_right(&GRUMPKIN, &Numbers::<Bn254Fr>::new(Vec::new()));
        multiples_are_right(&PALLAS, &Numbers::<Pallas>::new(Vec::new()));
        multiples_are_right(&VESTA, &Numbers::<Vesta>::new(Vec::new()));
    }

    /// Exceptions are where curves declare them, and their sums are handled.
    #[test]
    fn exceptions_are_where_curves_say() {
        for (exception, order) in [
            (GRUMPKIN.exception(), GRUMPKIN.order()),
            (PALLAS.exception(), PALLAS.order()),
            (VESTA.exception(), VESTA.order()),
        ] {
            assert!(DIGIT[exception.unwrap()].is_some(), "{order}");
        }
        assert_eq!(
            [GRUMPKIN.order(), PALLAS.order(), VESTA.order()],
            [Bn254Fp::modulus(), Vesta::modulus(), Pallas::modulus()]
        );
    }
}
