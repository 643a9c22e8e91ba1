//! secp256k1: its constants, powers, and u·G + v·P for a point and scalars at run time. SEC 2, version 2.0, §2.4.1.
//!
//! The sum goes along digits of u and v in Z[ω] to the base 8 ([`crate::eisenstein_octal`]), after Gallant, Lambert and Vanstone 2001: one part
//! of a sequence for each digit of either. It begins with a constant point T; what that adds is taken
//! from u beforehand ([`to_digits`]), so that no place needs to be the first. Additions are incomplete; a sum that meets an exceptional case ends
//! with Z = 0, and [`complete`] is for that.

use crate::chain::{pow_constant_onto, squared};
use crate::complete::AZero;
use crate::eisenstein_octal::{self, BASES, DIGITS, DOUBLINGS, Digits, Kept, Multiples, PLACES};
use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian, Projective};
use crate::p256::{shamir, word};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::{Machine, Table, WordOp};
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

/// Map from u to the input of [`sum`]: (o, s) for s·(u − o) modulo n. o is the multiple of G in the sum beyond u·G +
/// v·P, which is T after all doublings; s is 1/8, as three doublings come after the last digit of u.
pub fn to_digits() -> (BigUint, BigUint) {
    let n = &CONSTANTS.order;
    let last = BigUint::from(1u8) << DOUBLINGS;
    ((tau() << (DOUBLINGS * PLACES)) % n, last.modinv(n).expect("n is odd"))
}

/// The words that choose parts by the digits of a scalar below n.
///
/// (k, 0) = α₁·v₁ + α₂·v₂ with α₁ = k·b₂/n and α₂ = −k·b₁/n. What is taken away is c₁·v₁ + c₂·v₂ with c₁ = ⌊k/⌊n/b₂⌋⌋ and c₂ = ⌊k/⌈n/−b₁⌉⌉ + 1. So
/// α₁ − c₁ is from −0.03 to 1 and α₂ − c₂ from −1 to 0.27, and of what is left, a + b·ω, b is from −1.09 to 0.08 and a − b/2 from −1 to 0.91
/// times 2¹²⁸: that is what 43 places have room for.
fn split<M: Machine>(machine: &M, scalar: M::Word) -> Digits<M::Word> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let [a1, minus_b1, a2] = short_vectors();
    let b2 = a1;
    let [offset, offset_b] = eisenstein_octal::offsets();
    let order = word(&CONSTANTS.order);
    let scalar = machine.bind(scalar);
    let c1 = machine.bind(op(WordOp::Div, scalar, machine.word(order / b2)));
    let less_c2 = machine.bind(op(WordOp::Div, scalar, machine.word(order / minus_b1 + U256::ONE)));
    let [x1, x2] = [a1 + minus_b1, a2 - b2]; // a − b of v₁ and v₂
    let product = |c, value| op(WordOp::Mul, c, machine.word(value));
    let moved = op(WordOp::Add, scalar, machine.word(offset - x2));
    let a_less_b = op(WordOp::Sub, op(WordOp::Sub, moved, product(c1, x1)), product(less_c2, x2));
    let moved = op(WordOp::Add, product(c1, minus_b1), machine.word(offset_b - b2));
    eisenstein_octal::digits(machine, [a_less_b, op(WordOp::Sub, moved, product(less_c2, b2))], DOUBLINGS)
}

/// The part that ends an addition of a multiple of G, and that with the doublings after it.
const REST: usize = 2 * DIGITS;
const DOUBLE: usize = REST + 1;
/// Half of the constant points.
const HALF: usize = BASES.div_ceil(2);

/// (u by [`to_digits`], v, P) ↦ u·G + v·P in Jacobian coordinates; Z = 0 says nothing. P is on the curve.
///
/// A part for a digit of v has an addition; one for a digit of u brings the multiple to the sum's denominator, and the rest of the addition is
/// a part that all have after them, with three doublings: these have to be somewhere, and so the jump to them costs nothing more.
pub fn sum<M: Machine>(machine: &M, u: M::Word, v: M::Word, point: Affine<M::Fe>) -> Jacobian<M::Fe> {
    let of_v = split(machine, v);
    let of_u = split(machine, u);
    let three_halves = Secp256k1Fp::from_u64(2).inverse().expect("2 is not zero") * Secp256k1Fp::from_u64(3);
    let constant = |value: Secp256k1Fp| machine.constant(&value.to_canonical());
    let beta = Secp256k1Fp::from_canonical(&CONSTANTS.beta).expect("β is below p");
    let three_halves = constant(three_halves);
    let betas = [constant(beta), constant(beta.square())];
    let (of_point, z) = Multiples::new(Kept::All, point, betas, three_halves);
    let zz = z.square();
    let zzz = zz * z;
    // Multiples of G and T come from the code when they are needed, and so take no slots before.
    let start = sums().multiple(&tau(), generator()).expect("τ is below n");
    let constants = [&Multiples::constant(generator(), beta)[..], &[start]].concat();
    let mut points = Vec::new();
    for (name, half) in ["multiples", "more multiples"].into_iter().zip(constants.chunks(HALF)) {
        let row = half.iter().flat_map(|point| [point.x.to_canonical(), point.y.to_canonical()]).collect();
        let table: Table<[Affine<M::Fe>; HALF]> = machine.table(name, &[row]);
        points.extend(machine.lookup(table, machine.small(0)));
    }
    let of_base = Multiples::images(std::array::from_fn(|base| points[base]), betas, zz, zzz);

    let order: Vec<_> = (0..PLACES).rev().flat_map(|at| [of_u.step(at, DIGITS), of_v.step(at, 0)]).collect();
    let mut then = [None; DOUBLE + 1];
    then[DIGITS..REST].fill(Some(REST));
    then[DIGITS + eisenstein_octal::zero()] = Some(DOUBLE);
    then[REST] = Some(DOUBLE);
    let start = points[BASES];
    let start = Affine::new(start.x * zz, start.y * zzz);
    let start = (start.to_jacobian(machine.one()), start);
    let (sum, _) = machine.sequence_of(&order, &then, start, |_, part, (sum, addend)| match part {
        digit @ 0..DIGITS => (of_point.add(sum, digit), addend),
        part @ DIGITS..REST => (sum, of_base.over_denominator(sum, part - DIGITS).unwrap_or(addend)),
        REST => (sum.add_over_own_denominator(addend), addend),
        _ => ((0..DOUBLINGS).fold(sum, |sum, _| sum.double(three_halves)), addend),
    });
    Jacobian { z: sum.z * z, ..sum }
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

/// a ↦ a⁻¹ modulo n, by an instruction where there is one; 0 ↦ 0.
pub fn invert_scalar<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, |_, a| inverse_power_of_scalar(a))
}

/// a ↦ a⁻¹ = a^(n − 2) modulo n; 0 ↦ 0. n − 2 begins with 127 ones; the chain for 126 of them is that of libsecp256k1,
/// `secp256k1_scalar_inverse`.
pub fn inverse_power_of_scalar<F: Fe>(a: F) -> F {
    let a2 = a.square() * a;
    let a3 = a2.square() * a;
    let a6 = squared(a3, 3) * a3;
    let a8 = squared(a6, 2) * a2;
    let a14 = squared(a8, 6) * a6;
    let a28 = squared(a14, 14) * a14;
    let a56 = squared(a28, 28) * a28;
    let a112 = squared(a56, 56) * a56;
    let a126 = squared(a112, 14) * a14;
    let low_bits = 256 - 126;
    let low = (&CONSTANTS.order - 2u32) & ((BigUint::from(1u8) << low_bits) - 1u32);
    pow_constant_onto(a126, a, &low, low_bits)
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
        let (offset, scale) = to_digits();
        let moved = (u + n - offset) * scale % n;
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
    fn the_chain_for_scalars_is_that_of_the_order() {
        let x = Secp256k1Fp::from_u64(7); // a chain is the same in every field
        assert_eq!(inverse_power_of_scalar(x), x.pow(&(&CONSTANTS.order - 2u32)));
    }

    /// a + b·λ of a digit's number modulo n.
    fn digit(number: usize) -> BigUint {
        let n = &CONSTANTS.order;
        let [a1, minus_b1, _] = short_vectors().map(|value| BigUint::from_bytes_be(&value.to_be_bytes::<32>()));
        let lambda = a1 * minus_b1.modinv(n).unwrap() % n;
        let modulo_n = |value: i64| if value < 0 { n - value.unsigned_abs() } else { value.unsigned_abs().into() };
        let [a, b] = eisenstein_octal::element(number).map(modulo_n);
        (a + b * lambda) % n
    }

    /// For each addition a point that makes the sum before it the same as what is added, or the opposite.
    #[test]
    fn sums_that_meet_an_addend_say_nothing() {
        let n = &CONSTANTS.order;
        let machine = Numbers::<Secp256k1Fp>::new(Vec::new());
        let power = |base: u32, exponent: u32| BigUint::from(base).modpow(&exponent.into(), n);
        let (u, v) = (power(5, 1234), power(7, 4321));
        let digits = [&u, &v].map(|scalar| split(&machine, word(scalar)));
        // What the sum is: so much of G and of P.
        let (mut of_base, mut of_point) = (tau(), BigUint::ZERO);
        let mut met = 0;
        for at in (0..PLACES).rev() {
            let [of_u, of_v] = digits.each_ref().map(|digits| digit(digits.step(at, 0).number(|word| word)));
            for (is_point, addend) in [(false, of_u), (true, of_v)] {
                for sign in [BigUint::from(1u8), n - 1u32] {
                    let addend = &addend * sign % n;
                    // (of_base + of_point·q)·G is the addend times G or q·G.
                    let (needed, over) = match is_point {
                        false => (n + addend.clone() - &of_base, of_point.clone()),
                        true => (n - &of_base, (n + &of_point - addend.clone()) % n),
                    };
                    let q = needed * over.modinv(n).unwrap_or_default() % n;
                    if addend == BigUint::ZERO || q == BigUint::ZERO || at % 6 != 0 {
                        continue;
                    }
                    let point = sums().multiple(&q, generator()).unwrap();
                    assert_eq!(sum(&machine, word(&u), word(&v), point).z, Secp256k1Fp::ZERO, "{at} {is_point}");
                    met += 1;
                }
                if is_point {
                    of_point = (of_point + addend) % n;
                } else {
                    of_base = (of_base + addend) * (1u32 << DOUBLINGS) % n;
                    of_point = of_point * (1u32 << DOUBLINGS) % n;
                }
            }
        }
        assert!(met > 20, "{met}");
    }

    #[test]
    fn every_scalar_has_its_digits() {
        let n = &CONSTANTS.order;
        // Where c₁ and c₂ take their next values, at either end.
        let [b2, minus_b1, _] = short_vectors().map(|value| BigUint::from_bytes_be(&value.to_be_bytes::<32>()));
        for (divisor, last) in [(n / &b2, b2), (n / &minus_b1 + 1u32, minus_b1)] {
            for multiple in [BigUint::from(1u8), &last / 3u32, &last - 1u32] {
                for scalar in [&divisor * &multiple, &divisor * &multiple - 1u32] {
                    check(&scalar, &scalar, &BigUint::from(3u8).modpow(&999u32.into(), n));
                }
            }
        }
        for scalar in [BigUint::ZERO, BigUint::from(1u8), n - 1u32, n - 2u32] {
            check(&BigUint::from(12_345u32), &scalar, &BigUint::from(3u8).modpow(&998u32.into(), n));
        }
        for power in (0..256u32).step_by(9) {
            for scalar in [BigUint::from(1u8) << power, n - (BigUint::from(1u8) << power), n / (power + 1)] {
                check(&BigUint::from(12_345u32), &(scalar % n), &BigUint::from(3u8).modpow(&999u32.into(), n));
            }
        }
    }
}
