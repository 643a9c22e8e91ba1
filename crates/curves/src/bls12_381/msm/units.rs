//! Σ sᵢ·Qᵢ over points of G2, with the check that each Qᵢ is in its group, for few of them: all sums on the way are in slots.
//!
//! On G2 θ = −ψ is multiplication by z = |x|. As r = z⁴ − z² + 1 = Φ₁₂(z), θ is a root of unity of order 12, and so are its
//! powers on all of the curve: θ²(x, y) = (n·x, −y) for a cube root of unity n. A scalar is s = A + B·ω with ω = θ⁴ = z² − 1,
//! A = a₀ + a₁·z and B = b₀ + b₁·z, none of which is above z. The bits of the four at one place i are a digit u + v·θ, where u
//! and v are 0, 1, ω or 1 + ω = θ²: all but the 0 are powers of θ². So a digit is a power u of θ² times 1 + ρ·θ, where ρ = v/u
//! is one of five powers of θ², or it is u alone, or v·θ: u·2ⁱ·Q, or v·2ⁱ·Q, is added to one of seven sums, with 2ⁱ·Q from the
//! chain of the subgroup check. Which digit there is decides which part of a sequence comes next.
//!
//! These are buckets (Yao 1976; see [`super`]) for windows of one bit of the four coefficients that ψ gives
//! (Galbraith and Scott 2008, 2008/117), with units taken out of a digit, as they cost next to nothing.
//!
//! Sums begin with multiples of a point T of small order, see [`crate::bls12_381::torsion`]; what is added to them is in the group. In the
//! end they are added up so that the multiples of T cancel in the last addition, and no sooner.

use super::digits::lengths;
use super::offsets::constant_point;
use crate::bls12_381::Fp2;
use crate::bls12_381::constants::{X_ABS, constants};
use crate::bls12_381::torsion::{ConstantCoordinate, multiple, torsion_point};
use crate::bls12_381::{G2, g2};
use crate::group::{Addend, Affine, Jacobian};
use crate::pairing::psi;
use residue_formula::Fe;
use residue_ir::{Machine, SequenceStep, WordOp};
use residue_modular::fields::Bls12_381Fp;
use ruint::aliases::U256;
use std::sync::LazyLock;

/// A power of θ², by its exponent modulo 6.
type Turn = usize;

/// u, or v, by its two bits: ω = (θ²)², and 1 + ω = θ².
const TURNS: [Option<Turn>; 4] = [None, Some(0), Some(2), Some(1)];

/// The sums: that of digits u, that of digits v·θ, and those of digits u·(1 + ρ·θ) for each ρ that there is.
const RATIOS: [Turn; 5] = [0, 1, 2, 4, 5];
const SUMS: usize = 2 + RATIOS.len();

// Parts of the sequence: digits, then additions to sums, then the chain.
const DIGITS: usize = 16;
const DOUBLE: usize = DIGITS + SUMS;
const BEGIN: usize = DOUBLE + 1;
const ADD: usize = BEGIN + 1;
const PARTS: usize = ADD + 1;

/// Bits of a₀, a₁, b₀, b₁.
const BITS: u32 = 64;

type Point<F> = Jacobian<Fp2<F>>;

/// The sums on the way.
pub type Sums<F> = [Point<F>; SUMS];

/// 2ⁱ·Q with Z² and Z³, its image that is to be added, what there is of z·Q, and the sums.
type State<F> = ((Point<F>, [F; 2]), Affine<Fp2<F>>, Point<F>, Sums<F>);

/// Begins with nothing.
pub fn start<M: Machine>(machine: &M) -> Sums<M::Fe> {
    let [first, other] = [OFFSETS.first, OFFSETS.other].map(|point| constant_point::<M, G2>(machine, point));
    let mut sums = [other; SUMS];
    sums[0] = first;
    sums
}

/// Q ↦ z·Q, and the sums with s·Q added, for Q other than the identity. They are right if [`crate::bls12_381::g2::membership_from_chain`]
/// holds.
pub fn add<M: Machine>(
    machine: &M,
    scalar: M::Word,
    point: Affine<Fp2<M::Fe>>,
    sums: Sums<M::Fe>,
) -> (Point<M::Fe>, Sums<M::Fe>) {
    let digits = machine.bind(digits(machine, scalar));
    let chosen = [0, 4, 8, 12].map(|bit| {
        let shifted = machine.word_op(WordOp::Shr, digits, machine.small(bit));
        machine.word_op(WordOp::And, shifted, machine.word(SequenceStep::<M::Word>::CELLS.each(0xf)))
    });
    let mut order = Vec::new();
    for bit in 0..BITS {
        if bit > 0 {
            order.push(SequenceStep::Part(DOUBLE));
        }
        if X_ABS >> bit & 1 == 1 {
            order.push(SequenceStep::Part(if bit == X_ABS.trailing_zeros() { BEGIN } else { ADD }));
        }
        let (word, first_bit) = place(bit);
        order.push(SequenceStep::chosen(chosen[word], first_bit));
    }
    let then: [Option<usize>; PARTS] = std::array::from_fn(|part| Digit::of(part).map(|digit| DIGITS + digit.sum));
    let point = point.to_jacobian(machine.one());
    let state = (with_powers(point), Affine::new(point.x, point.y), point, sums);
    let (_, _, multiple, sums) = machine.sequence_of(&order, &then, state, |machine, part, state| {
        let ((point, powers), image, multiple, mut sums): State<M::Fe> = state;
        let [zz, zzz] = powers;
        let addend = |Affine { x, y }| Addend { x, y, is_negated: false, z: point.z, zz, zzz };
        let whole = Affine::new(point.x, point.y);
        match part {
            0..DIGITS => {
                let image = Digit::of(part).map_or(image, |digit| turned(machine, whole, digit.turn));
                ((point, powers), image, multiple, sums)
            }
            DIGITS..DOUBLE => {
                let sum = &mut sums[part - DIGITS];
                *sum = *sum + addend(image);
                ((point, powers), image, multiple, sums)
            }
            DOUBLE => {
                let point = point.double(machine.constant(&constants().pairing.three_halves));
                (with_powers(point), image, multiple, sums)
            }
            BEGIN => ((point, powers), image, point, sums),
            _ => ((point, powers), image, multiple + addend(whole), sums),
        }
    });
    (multiple, sums)
}

/// The sum of products; Z = 0 if it is the identity. With ζ for θ and 1 + ζ¹¹ = ζ¹¹·(1 + ζ), 1 + ζ⁹ = ζ⁹·(1 + ζ³).
pub fn finish<M: Machine>(machine: &M, sums: Sums<M::Fe>) -> Point<M::Fe> {
    let [whole, image, by_1, by_3, by_5, by_9, by_11] = sums; // the exponent of ζ in 1 + ρ·θ is 2e + 1 for ρ = ζ²ᵉ
    let plus = |a, b| g2::add(machine, a, b);
    let turned = |point, exponent| turned_jacobian(machine, point, exponent);
    let c1 = plus(by_1, turned(by_11, 11));
    let c3 = plus(by_3, turned(by_9, 9));
    let with_1 = plus(plus(plus(whole, c1), c3), by_5);
    let with_zeta = plus(plus(plus(image, c1), turned(c3, 2)), turned(by_5, 4));
    plus(with_1, turned(with_zeta, 1))
}

/// Addend of a nonzero digit: a turn of the point, and the sum that it is added to.
struct Digit {
    turn: Turn,
    sum: usize,
}

impl Digit {
    /// The digit of a part, if it is one of a digit that is not 0. Bits 0 and 1 are those of u.
    fn of(part: usize) -> Option<Self> {
        let sum_of = |ratio| 2 + RATIOS.iter().position(|&other| other == ratio).expect("it is one of the five");
        match (TURNS[part % 4], *TURNS.get(part / 4)?) {
            (None, None) => None,
            (Some(turn), None) => Some(Self { turn, sum: 0 }),
            (None, Some(turn)) => Some(Self { turn, sum: 1 }),
            (Some(u), Some(v)) => Some(Self { turn: u, sum: sum_of((v + 6 - u) % 6) }),
        }
    }
}

/// s ↦ its digits, in an order that makes them cheap: see [`place`].
///
/// a₀, b₀, a₁, b₁ stand side by side first. A bit of the word has a number of eight bits, of which bits 7 and 6 say which of the
/// four it is of; they are exchanged with bits 1 and 0, which makes them lowest. That is an exchange of bits of the word with
/// bits at a fixed distance (Knuth, The Art of Computer Programming 4A, §7.1.3, (69)).
fn digits<M: Machine>(machine: &M, scalar: M::Word) -> M::Word {
    let (r, z, _) = lengths();
    let omega = z * z - U256::ONE;
    let op = |op, a, b| machine.word_op(op, a, b);
    let [r, omega, z] = [r, omega, z].map(|value| machine.word(value));
    let reduced = machine.bind(op(WordOp::Mod, scalar, r));
    let a = machine.bind(op(WordOp::Mod, reduced, omega));
    let b = machine.bind(op(WordOp::Div, reduced, omega));
    let mut word = op(WordOp::Mod, a, z);
    for (quarter, part) in [(1, op(WordOp::Mod, b, z)), (2, op(WordOp::Div, a, z)), (3, op(WordOp::Div, b, z))] {
        word = op(WordOp::Or, op(WordOp::Shl, part, machine.small(u64::from(quarter * BITS))), word);
    }
    for (high, low) in [(7usize, 1usize), (6, 0)] {
        let distance = machine.small((1 << high) - (1 << low));
        let is_low = |bit: &usize| bit >> low & 1 == 1 && bit >> high & 1 == 0;
        let mask = (0..256).filter(is_low).fold(U256::ZERO, |mask, bit| mask | U256::ONE << bit);
        let before = machine.bind(word);
        let apart = op(WordOp::Xor, op(WordOp::Shr, before, distance), before);
        let apart = machine.bind(op(WordOp::And, apart, machine.word(mask)));
        word = op(WordOp::Xor, op(WordOp::Xor, op(WordOp::Shl, apart, distance), apart), before);
    }
    word
}

/// Place of the digit at `bit`: the index t of the word with the four bits from 4t on of every 16, and the digit's
/// first bit there. Bits 1, 0, 5, 4 of the place select the cell, bits 3 and 2 the word.
fn place(bit: u32) -> (usize, u32) {
    let cell = (bit & 3) << 2 | bit >> 4;
    ((bit >> 2 & 3) as usize, 16 * cell) // u32 to usize widens
}

/// A point with Z² and Z³.
fn with_powers<F: Fe>(point: Point<F>) -> (Point<F>, [F; 2]) {
    let Addend { zz, zzz, .. } = point.addend();
    (point, [zz, zzz])
}

/// Q ↦ θ^(2·turn)(Q): θ²(x, y) = (n·x, −y).
fn turned<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe>>, turn: Turn) -> Affine<Fp2<M::Fe>> {
    let Affine { x, y } = point;
    let n = constants().pairing.psi_x.lift(machine).norm();
    let x = match turn % 3 {
        0 => x,
        1 => x.scale(n),
        _ => x.scale(n * n),
    };
    Affine::new(x, if turn.is_multiple_of(2) { y } else { -y })
}

/// P ↦ θᵏ(P): θ = −ψ.
fn turned_jacobian<M: Machine>(machine: &M, point: Point<M::Fe>, exponent: usize) -> Point<M::Fe> {
    let Jacobian { x, y, z } =
        if exponent.is_multiple_of(2) { point } else { g2::psi_jacobian(machine, point).negated() };
    let Affine { x, y } = turned(machine, Affine::new(x, y), exponent / 2);
    Jacobian { x, y, z }
}

/// Initial values of the sums: of the first, and of all others.
struct Offsets {
    first: Affine<Fp2<Bls12_381Fp>>,
    other: Affine<Fp2<Bls12_381Fp>>,
}

static OFFSETS: LazyLock<Offsets> = LazyLock::new(|| {
    let other = torsion_point::<Fp2<Bls12_381Fp>>();
    let first = multiple(other, &first_offset(theta_on_torsion(other)).into()).expect("T has a large order");
    Offsets { first, other }
});

/// The order of T.
const ORDER: u64 = <Fp2<Bls12_381Fp> as ConstantCoordinate>::TORSION as u64; // u32 to u64 widens

/// μ with θ(T) = μ·T: of order 12 modulo that of T.
fn theta_on_torsion(t: Affine<Fp2<Bls12_381Fp>>) -> u64 {
    let machine = residue_ir::Numbers::<Bls12_381Fp>::new(Vec::new());
    let image = psi(&machine, t);
    let is_root = |mu: &u64| (mu * mu % ORDER * (mu * mu % ORDER) + ORDER + 1 - mu * mu % ORDER).is_multiple_of(ORDER);
    let of_order_12 = (1..ORDER).filter(is_root);
    let is_theta = |mu: &u64| {
        let point = multiple(t, &(*mu).into()).expect("T has a large order");
        (point.x, point.y) == (image.x, -image.y)
    };
    of_order_12.into_iter().find(is_theta).expect("θ² is of order 6 on all of the curve")
}

/// Factor of T for the first sum, so that the multiples of T add up to 0 in the end.
fn first_offset(mu: u64) -> u64 {
    let power = |exponent: u64| (0..exponent).fold(1, |power, _| power * mu % ORDER);
    let others = RATIOS.iter().map(|&ratio| 1 + power(2 * ratio as u64 + 1)).sum::<u64>() + mu; // usize to u64 widens
    ORDER - others % ORDER
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Coordinate;
    use num_bigint::{BigInt, Sign};
    use residue_ir::Numbers;

    fn big(word: U256) -> BigInt {
        BigInt::from_bytes_be(Sign::Plus, &word.to_be_bytes::<32>())
    }

    /// u or v as a number modulo r.
    fn value(bits: usize) -> BigInt {
        let omega = BigInt::from(X_ABS).pow(2) - 1;
        BigInt::from(bits & 1) + omega * (bits >> 1)
    }

    #[test]
    fn a_digit_is_a_turn_of_what_a_sum_stands_for() {
        let (r, z) = (big(lengths().0), BigInt::from(X_ABS));
        assert_eq!((value(3) - z.pow(2)) % &r, BigInt::ZERO, "1 + ω is θ²");
        for part in 0..DIGITS {
            let expected = value(part % 4) + value(part / 4) * &z;
            let Some(Digit { turn, sum }) = Digit::of(part) else {
                assert_eq!(expected, BigInt::ZERO);
                continue;
            };
            let of_sum = match sum {
                0 => BigInt::from(1),
                1 => z.clone(),
                _ => 1 + &z * z.pow(2 * u32::try_from(RATIOS[sum - 2]).unwrap()),
            };
            let turned = of_sum * z.pow(2 * u32::try_from(turn).unwrap());
            assert_eq!((turned - expected) % &r, BigInt::ZERO, "{part}");
        }
        assert!((DIGITS..PARTS).all(|part| Digit::of(part).is_none()));
    }

    #[test]
    fn digits_are_those_of_the_scalar() {
        let machine = Numbers::<Bls12_381Fp>::new(Vec::new());
        let (r, z, _) = lengths();
        let near = |word: U256| (0..5u64).map(move |k| word.wrapping_add(U256::from(k)).wrapping_sub(U256::from(2)));
        let mut scalars: Vec<U256> = near(U256::ZERO).collect();
        for word in [z, z * z, z * z * z, r, r * U256::from(2), r / U256::from(2), (z * z - U256::ONE) * z] {
            scalars.extend(near(word));
        }
        scalars.extend((3..9u64).map(|k| U256::MAX / U256::from(k)));
        for scalar in scalars {
            let word = digits(&machine, scalar);
            let mut sum = BigInt::ZERO;
            for bit in 0..BITS {
                let (number, first_bit) = place(bit);
                let cells = (word >> (4 * number)) & SequenceStep::<U256>::CELLS.each(0xf);
                let digit = SequenceStep::chosen(cells, first_bit).number(|word| word);
                sum += (value(digit % 4) + value(digit / 4) * X_ABS) << bit;
            }
            assert_eq!((sum - big(scalar)) % big(r), BigInt::ZERO, "{scalar:#x}");
        }
    }

    /// Multiples of T, modulo its order, follow [`finish`].
    #[test]
    fn sums_begin_so_far_outside_the_group_that_no_exception_is_met() {
        let t = OFFSETS.other;
        assert_eq!(t.y.squared(), t.x * t.x.squared() + ConstantCoordinate::b());
        let mu = theta_on_torsion(t);
        let first = first_offset(mu);
        assert_eq!(multiple(t, &first.into()), Some(OFFSETS.first));
        let turned = |multiple: u64, exponent: u64| (0..exponent).fold(multiple, |multiple, _| multiple * mu % ORDER);
        assert_eq!((turned(1, 4) + ORDER - turned(1, 2) + 1) % ORDER, 0, "μ has order 12");
        let plus = |a: u64, b: u64| {
            assert!(a != 0 && b != 0 && a != b && a + b != ORDER, "{a} and {b} modulo {ORDER}");
            (a + b) % ORDER
        };
        let (c1, c3) = (plus(1, turned(1, 11)), plus(1, turned(1, 9)));
        let with_1 = plus(plus(plus(first, c1), c3), 1);
        let with_zeta = turned(plus(plus(plus(1, c1), turned(c3, 2)), turned(1, 4)), 1);
        assert!(with_1 != 0 && with_1 != with_zeta);
        assert_eq!(with_1 + with_zeta, ORDER, "the last addition is that of opposite multiples");
    }
}
