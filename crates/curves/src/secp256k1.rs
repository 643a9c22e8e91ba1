//! secp256k1: its constants, powers, and u·G + v·P for a point and scalars at run time. SEC 2, version 2.0, §2.4.1.
//!
//! The sum goes along digits of u and v in Z[ω] to the base 4 ([`crate::eisenstein`]), after Gallant, Lambert and Vanstone 2001: one part of a
//! sequence for each digit of v, with two doublings, and one for each of u. It begins with a constant point T; what that adds is taken
//! from u beforehand ([`offset`]), so that no place needs to be the first. Additions are incomplete; a sum that meets an exceptional case ends
//! with Z = 0, and [`complete`] is for that.

use crate::chain::squared;
use crate::complete::AZero;
use crate::eisenstein::{DIGITS, Table, chosen, place};
use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian, Projective};
use crate::p256::{shamir, word};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::{Machine, SequenceStep, WordOp};
use residue_modular::fields::Secp256k1Fp;
use ruint::aliases::U256;
use std::sync::LazyLock;

/// Canonical values of the curve's constants.
#[derive(Debug)]
pub struct Constants {
    /// G.
    pub generator: Affine<BigUint>,
    /// n, the number of points.
    pub order: BigUint,
    /// β, a cube root of one: (x, y) ↦ (β·x, y) is multiplication by the λ of [`short_vectors`].
    pub beta: BigUint,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let number = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).expect("these are digits");
    Constants {
        generator: Affine::new(
            number("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"),
            number("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"),
        ),
        order: number("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"),
        beta: number("7ae96a2b657c07106e64479eac3434e99cf0497512f58995c1396c28719501ee"),
    }
});

/// The constants.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

/// b of y² = x³ + b.
pub const B: u32 = 7;

/// Places of digits; the last one has what 64 places have no room for.
const PLACES: u32 = 65;

/// a₁ = b₂, −b₁ and a₂ of the vectors (a₁, b₁) and (a₂, b₂), which span all (a, b) with a + b·λ = 0 modulo n: Hankerson, Menezes and Vanstone
/// 2004, Guide to Elliptic Curve Cryptography, algorithm 3.74.
fn short_vectors() -> [U256; 3] {
    let limbs = |high: u128, low: u128| U256::from(high) << 128usize | U256::from(low);
    [
        limbs(0, 0x3086_d221_a7d4_6bcd_e86c_90e4_9284_eb15),
        limbs(0, 0xe443_7ed6_010e_8828_6f54_7fa9_0abf_e4c3),
        limbs(1, 0x14ca_50f7_a8e2_f3f6_57c1_108d_9d44_cfd8),
    ]
}

fn sums() -> Sums<Secp256k1Fp> {
    Sums { a: Secp256k1Fp::ZERO }
}

fn generator() -> Affine<Secp256k1Fp> {
    let Affine { x, y } = &CONSTANTS.generator;
    let element = |value| Secp256k1Fp::from_canonical(value).expect("it is below p");
    Affine::new(element(x), element(y))
}

/// T = τ·G with τ = 3¹⁶⁰ modulo n: no multiple of G that anybody has for a key.
fn tau() -> BigUint {
    BigUint::from(3u8).modpow(&160u32.into(), &CONSTANTS.order)
}

/// What the sum has beyond u·G + v·P is this multiple of G: T after all doublings.
pub fn offset() -> BigUint {
    (tau() << (2 * PLACES)) % &CONSTANTS.order
}

/// The words that choose parts by the digits of a scalar below n: those of [`chosen`], and the number of the digit at the last place.
///
/// (k, 0) = α₁·v₁ + α₂·v₂ with α₁ = k·b₂/n and α₂ = −k·b₁/n, whose integral parts are c₁ = ⌊k/⌊n/b₂⌋⌋ and c₂ = ⌊k/⌊n/−b₁⌋⌋, or one more. What
/// is left of (k, 0) is from 0 to 1.28 and from −0.90 to 0.20 times 2¹²⁸, and so the digits at the last place are 0 or 1 and −1 or 0.
fn split<M: Machine>(machine: &M, scalar: M::Word) -> (M::Word, M::Word) {
    let op = |op, a, b| machine.word_op(op, a, b);
    let [a1, minus_b1, a2] = short_vectors();
    let order = word(&CONSTANTS.order);
    let scalar = machine.bind(scalar);
    let c1 = machine.bind(op(WordOp::Div, scalar, machine.word(order / a1)));
    let c2 = machine.bind(op(WordOp::Div, scalar, machine.word(order / minus_b1)));
    // Σ 2·4ⁱ, which makes digits from 0 to 3 of those from −2 to 1.
    let twos = (0..PLACES).fold(U256::ZERO, |sum, _| sum << 2usize | U256::from(2u64));
    let [twos, a1, minus_b1, a2] = [twos, a1, minus_b1, a2].map(|value| machine.word(value));
    let first = op(
        WordOp::Sub,
        op(WordOp::Sub, op(WordOp::Add, scalar, twos), op(WordOp::Mul, c1, a1)),
        op(WordOp::Mul, c2, a2),
    );
    let second = op(WordOp::Sub, op(WordOp::Add, op(WordOp::Mul, c1, minus_b1), twos), op(WordOp::Mul, c2, a1));
    let (first, second) = (machine.bind(first), machine.bind(second));
    let half = machine.small(128);
    let low = op(WordOp::And, first, machine.word((U256::ONE << 128usize) - U256::ONE));
    let digits = machine.bind(op(WordOp::Or, op(WordOp::Shl, second, half), low));
    let last = op(WordOp::Shl, op(WordOp::Shr, second, half), machine.small(2));
    (digits, machine.bind(op(WordOp::Or, last, op(WordOp::Shr, first, half))))
}

/// (u − [`offset`] modulo n, v, P) ↦ u·G + v·P in Jacobian coordinates; Z = 0 says nothing. P is on the curve.
pub fn sum<M: Machine>(machine: &M, u: M::Word, v: M::Word, point: Affine<M::Fe>) -> Jacobian<M::Fe> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let three_halves = Secp256k1Fp::from_u64(2).inverse().expect("2 is not zero") * Secp256k1Fp::from_u64(3);
    let constant = |value: Secp256k1Fp| machine.constant(&value.to_canonical());
    let (beta, three_halves) = (machine.constant(&CONSTANTS.beta), constant(three_halves));
    let of_point = Table::new(machine, point, beta, three_halves);
    let zz = of_point.z.square();
    let zzz = zz * of_point.z;
    let image = |point: Affine<Secp256k1Fp>| Affine::new(constant(point.x) * zz, constant(point.y) * zzz);
    let of_base = Table::constant(generator(), Secp256k1Fp::from_canonical(&CONSTANTS.beta).expect("β is below p"));
    let of_base = Table::affine(of_base.map(image), beta, of_point.z);

    // Words that choose parts are kept in memory at first: what they are computed with would be between them on the stack.
    let kept = |name, word| {
        let variable = machine.variable(name, machine.small(0));
        machine.set(variable, word);
        variable
    };
    let (v_digits, v_last) = split(machine, v);
    let v_last = kept("v_last", v_last);
    let v_chosen = chosen(machine, v_digits).map(|word| kept("v_digits", word));
    let (u_digits, u_last) = split(machine, u);
    let u_last = kept("u_last", u_last);
    let u_chosen = chosen(machine, u_digits).map(|word| kept("u_digits", word));
    // The parts of u come after those of v.
    let after = machine.word(SequenceStep::<M::Word>::CELLS.each(DIGITS as u64)); // usize to u64 widens
    let v_chosen = v_chosen.map(|variable| machine.get(variable));
    let u_chosen = u_chosen.map(|variable| machine.bind(op(WordOp::Or, machine.get(variable), after)));
    let u_last = op(WordOp::Or, machine.get(u_last), machine.small(DIGITS as u64)); // widens too
    let last = op(WordOp::Or, machine.get(v_last), op(WordOp::Shl, u_last, machine.small(16)));
    let last = machine.bind(last);
    let mut order =
        vec![SequenceStep::Chosen { word: last, first_bit: 0 }, SequenceStep::Chosen { word: last, first_bit: 16 }];
    for at in (0..PLACES - 1).rev() {
        order.extend([place(&v_chosen, at), place(&u_chosen, at)]);
    }
    let start = sums().multiple(&tau(), generator()).expect("τ is below n");
    let start = image(start).to_jacobian(machine.one());
    let sum = machine.sequence_of(&order, &[None; 2 * DIGITS], start, |_, part, sum| match part.checked_sub(DIGITS) {
        None => of_point.add(sum.double(three_halves).double(three_halves), part),
        Some(digit) => of_base.add(sum, digit),
    });
    Jacobian { z: sum.z * of_point.z, ..sum }
}

/// The same sum for every input, by double and add with complete formulas; u and v as they are.
pub fn complete<M: Machine>(machine: &M, u: M::Word, v: M::Word, point: Affine<M::Fe>) -> Projective<M::Fe> {
    let b3 = machine.constant(&(3 * B).into());
    let Affine { x, y } = &CONSTANTS.generator;
    let g = Affine::new(machine.constant(x), machine.constant(y));
    shamir(machine, [(u, g), (v, point)], &AZero(move |value| b3 * value))
}

/// x³ + 7.
pub fn square_of_y<M: Machine>(machine: &M, x: M::Fe) -> M::Fe {
    x.square() * x + machine.constant(&B.into())
}

/// a ↦ a⁻¹, by an instruction where there is one; 0 ↦ 0.
pub fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, inverse_power)
}

/// a ↦ a⁻¹ = a^(p − 2); 0 ↦ 0.
pub fn inverse_power<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    let (a2, a22, a223) = ones(machine, a);
    let power = squared(squared(a223, 23) * a22, 5) * a;
    squared(squared(power, 3) * a2, 2) * a
}

/// a ↦ a^((p + 1)/4), a root of a if there is one.
pub fn root<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    let (a2, a22, a223) = ones(machine, a);
    squared(squared(squared(a223, 23) * a22, 6) * a2, 2)
}

/// a to the powers 2² − 1, 2²² − 1 and 2²²³ − 1, as p has 223 ones in front: the chain of libsecp256k1, `secp256k1_fe_impl_inv`'s predecessor
/// in `field_impl.h`.
fn ones<M: Machine>(machine: &M, a: M::Fe) -> (M::Fe, M::Fe, M::Fe) {
    machine.function("ones", a, |_, a| {
        let a2 = a.square() * a;
        let a3 = a2.square() * a;
        let a6 = squared(a3, 3) * a3;
        let a9 = squared(a6, 3) * a3;
        let a11 = squared(a9, 2) * a2;
        let a22 = squared(a11, 11) * a11;
        let a44 = squared(a22, 22) * a22;
        let a88 = squared(a44, 44) * a44;
        let a176 = squared(a88, 88) * a88;
        let a220 = squared(a176, 44) * a44;
        (a2, a22, squared(a220, 3) * a3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::Numbers;

    #[test]
    fn beta_and_the_vectors_are_those_of_lambda() {
        let n = &CONSTANTS.order;
        let [a1, minus_b1, a2] = short_vectors().map(|value| BigUint::from_bytes_be(&value.to_be_bytes::<32>()));
        let lambda = &a1 * minus_b1.modinv(n).unwrap() % n;
        assert_eq!((&a2 + &lambda * &a1) % n, BigUint::ZERO);
        assert_eq!(&a1 * &a1 + &a2 * &minus_b1, *n);
        let image = sums().multiple(&lambda, generator()).unwrap();
        let beta = Secp256k1Fp::from_canonical(&CONSTANTS.beta).unwrap();
        assert_eq!(image, Affine::new(generator().x * beta, generator().y));
    }

    /// u·G + v·P by both ways and as numbers, for P = q·G.
    fn check(u: &BigUint, v: &BigUint, q: &BigUint) {
        let n = &CONSTANTS.order;
        let machine = Numbers::<Secp256k1Fp>::new(Vec::new());
        let point = sums().multiple(q, generator()).unwrap();
        let expected = sums().multiple(&((u + v * q) % n), generator()).unwrap();
        let moved = (u + n - offset()) % n;
        let Jacobian { x, y, z } = sum(&machine, word(&moved), word(v), point);
        assert_ne!(z, Secp256k1Fp::ZERO);
        let inverse = inverse_power(&machine, z);
        assert_eq!(inverse * z, Secp256k1Fp::ONE);
        assert_eq!(expected, Affine::new(x * inverse.square(), y * inverse.square() * inverse), "{u} {v} {q}");
        assert_eq!(root(&machine, square_of_y(&machine, expected.x)).square(), expected.y.square());
        let Projective { x, y, z } = complete(&machine, word(u), word(v), point);
        assert_ne!(z, Secp256k1Fp::ZERO);
        assert_eq!((x, y), (expected.x * z, expected.y * z), "{u} {v} {q}");
    }

    #[test]
    fn sums_are_those_of_numbers() {
        let n = &CONSTANTS.order;
        let power = |base: u32, exponent: u32| BigUint::from(base).modpow(&exponent.into(), n);
        for turn in 1..10 {
            check(&power(5, 200 * turn), &power(7, 300 * turn), &power(11, 400 * turn));
            check(&power(5, turn), &(n - power(7, turn)), &power(11, 400 * turn));
        }
        check(&BigUint::ZERO, &power(7, 301), &power(11, 401));
        check(&power(7, 301), &BigUint::ZERO, &power(11, 401));
    }

    #[test]
    fn every_scalar_has_its_digits() {
        let n = &CONSTANTS.order;
        for power in (0..256u32).step_by(9) {
            for scalar in [BigUint::from(1u8) << power, n - (BigUint::from(1u8) << power), n / (power + 1)] {
                check(&BigUint::from(12_345u32), &(scalar % n), &BigUint::from(3u8).modpow(&999u32.into(), n));
            }
        }
    }
}
