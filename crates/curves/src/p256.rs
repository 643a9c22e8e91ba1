//! P-256: its constants, and u·G + v·Q for a point and scalars at run time. NIST SP 800-186, §3.2.1.3.
//!
//! The sum goes along the digits of v ([`crate::odd_multiples`]); at every second place it takes a multiple of G from a table in code, by a
//! byte of u, which the step carries, or at each by four bits ([`Windows`]). The table has G, 2G, … 256G or 16G, or G, 3G, … 255G, so that no entry is the identity, and the sum begins with a constant point T: what that
//! adds is taken from u beforehand ([`to_windows`]). Additions are incomplete; a sum that meets an exceptional case ends with Z = 0, and
//! [`complete`] is for that. For a Q that is not made for it this has a probability of 2⁻²⁴⁸.

use crate::chain::pow_constant_onto;
use crate::complete::{AMinusThree, Complete};
use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian, Projective};
use crate::odd_multiples::{self, DIGITS, DOUBLINGS, OddMultiples, PLACES};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::{Array, Capacity, Machine, SequenceStep, Table, WordOp};
use residue_modular::fields::P256Fp;
use ruint::aliases::U256;
use std::sync::LazyLock;

/// Canonical values of a curve's constants.
#[derive(Debug)]
pub struct Constants {
    /// b.
    pub b: BigUint,
    /// G.
    pub generator: Affine<BigUint>,
    /// n, the number of points.
    pub order: BigUint,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let number = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).expect("these are digits");
    Constants {
        b: number("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b"),
        generator: Affine::new(
            number("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
            number("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
        ),
        order: number("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
    }
});

/// The constants.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

/// Bits of u for which an entry of the table of multiples of G stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// Eight: 256 entries, one at every second place.
    Bytes,
    /// Eight, as digits ±1, ±3, … ±255: 128 entries. 8 KB less of code, and a second row for each entry, which has its sign.
    SignedBytes,
    /// Four: 16 entries, one at each place. 15 KB less of code, and 32 additions more.
    Nibbles,
}

impl Windows {
    fn bits(self) -> u32 {
        match self {
            Self::Bytes | Self::SignedBytes => 8,
            Self::Nibbles => 4,
        }
    }

    /// Doublings after the last entry.
    fn last_doublings(self) -> usize {
        match self {
            Self::Bytes | Self::SignedBytes => DOUBLINGS,
            Self::Nibbles => 0,
        }
    }

    /// True if an entry is added at this place.
    const fn has_entry_at(self, place: u32) -> bool {
        matches!(self, Self::Nibbles) || place % 2 == 1
    }

    /// The table of multiples of G.
    fn entries(self) -> Vec<Vec<BigUint>> {
        let count = 1 << self.bits();
        match self {
            Self::Bytes | Self::Nibbles => sums().consecutive(generator(), count),
            Self::SignedBytes => sums().consecutive(generator(), count).into_iter().step_by(2).collect(),
        }
    }
}

/// Sums on the curve.
fn sums() -> Sums<P256Fp> {
    Sums { a: -P256Fp::from_u64(3) }
}

fn generator() -> Affine<P256Fp> {
    let Affine { x, y } = &CONSTANTS.generator;
    let element = |value| P256Fp::from_canonical(value).expect("it is below p");
    Affine::new(element(x), element(y))
}

/// T = τ·G with τ = 3¹⁵⁰ modulo n: no multiple of G that anybody has for a key.
fn tau() -> BigUint {
    BigUint::from(3u8).modpow(&150u32.into(), &CONSTANTS.order)
}

/// Map from u to windows: (o, s) for s·(u − o) modulo n. o is the multiple of G in the sum beyond u·G + v·Q: T after all
/// doublings, and the excess of the entries, each of which stands for one more than its window; of signed ones for twice the window less 255. s undoes the
/// doublings after the last entry, and that of windows: 1/16 for bytes.
pub fn to_windows(windows: Windows) -> (BigUint, BigUint) {
    let n = &CONSTANTS.order;
    let last = BigUint::from(1u8) << windows.last_doublings();
    let bits = windows.bits();
    let of_all = |each: u32| (0..256 / bits).fold(BigUint::ZERO, |sum, _| (sum << bits) + each);
    let (excess, scale) = match windows {
        Windows::Bytes | Windows::Nibbles => (of_all(1), last.clone()),
        Windows::SignedBytes => (n - of_all(255) % n, &last + &last),
    };
    let doublings = BigUint::from(1u8) << (DOUBLINGS as u32 * (PLACES - 1));
    ((excess * &last + tau() * doublings) % n, scale.modinv(n).expect("n is odd"))
}

/// y² − x³ + 3x − b: zero exactly if the point is on the curve.
pub fn curve_defect<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Fe {
    let Affine { x, y } = point;
    y.square() - (x.square() - machine.constant(&3u32.into())) * x - machine.constant(&CONSTANTS.b)
}

/// (u by [`to_windows`], v, Q) ↦ u·G + v·Q in Jacobian coordinates for v below n; Z = 0 says nothing. Q is on the curve.
pub fn sum<M: Machine>(machine: &M, windows: Windows, u: M::Word, v: M::Word, q: Affine<M::Fe>) -> Jacobian<M::Fe> {
    let three_halves = (P256Fp::from_u64(2).inverse()).expect("2 is not zero") * P256Fp::from_u64(3);
    let constant = |value: P256Fp| machine.constant(&value.to_canonical());
    let multiples = OddMultiples::new(q, constant(-three_halves), constant(three_halves));
    let table: Table<Affine<M::Fe>> = machine.table("generator", &windows.entries());
    let u = machine.bind(u);
    let signs = (windows == Windows::SignedBytes).then(|| Signs::new(machine, multiples.curve.to_y, u));
    let windows_of_u = signs.as_ref().map_or(u, |signs| signs.entries);
    let words = words_of(machine, windows.bits(), windows_of_u);
    let digits = odd_multiples::digits(machine, v, word(&CONSTANTS.order));
    let start = sums().multiple(&tau(), generator()).expect("τ is below n");
    let start = multiples.curve.image(Affine::new(constant(start.x), constant(start.y))).to_jacobian(machine.one());
    let (with_base, plain) = (DIGITS, DIGITS + 1);
    let mut order = Vec::new();
    for at in (0..PLACES).rev() {
        order.push(odd_multiples::step(&digits, at));
        let has_entry = windows.has_entry_at(at);
        if has_entry {
            let window = 4 * at / windows.bits();
            let words_count = 16 / windows.bits();
            let carry = |words: &[M::Word]| {
                let word = words[(window % words_count) as usize]; // widens
                SequenceStep::Carry { word, first_bit: window / words_count * 16 }
            };
            order.push(carry(&words));
            order.extend(signs.as_ref().map(|signs| carry(&signs.words)));
            order.push(SequenceStep::Part(with_base));
        }
        if at > 0 && !(has_entry && windows.last_doublings() > 0) {
            order.push(SequenceStep::Part(plain));
        }
    }
    let mut then = [None; DIGITS + 2];
    // At the last place a nibble's entry has no doublings after it.
    then[with_base] = (windows.last_doublings() > 0).then_some(plain);
    let sum = machine.sequence_of(&order, &then, start, |machine, part, sum| match part {
        nibble @ 0..DIGITS => multiples.add(sum, nibble),
        part if part == plain => multiples.curve.next_place(sum),
        _ => {
            let Affine { x, y } = machine.take_row(table);
            let to_y = signs.as_ref().map_or(multiples.curve.to_y, |signs| machine.take_element(signs.to_y));
            sum.add_mixed(Affine::new(x * multiples.curve.to_x, y * to_y))
        }
    });
    Jacobian { z: sum.z * multiples.curve.z, ..sum }
}

/// Cells of 16 bits of a word, in so many windows: the first word has the lowest window of each.
fn words_of<M: Machine>(machine: &M, bits: u32, word: M::Word) -> Vec<M::Word> {
    let cells = machine.word(SequenceStep::<M::Word>::CELLS.each((1 << bits) - 1));
    (0..16 / bits)
        .map(|number| {
            let shifted = machine.word_op(WordOp::Shr, word, machine.small((number * bits).into()));
            machine.bind(machine.word_op(WordOp::And, if number == 0 { word } else { shifted }, cells))
        })
        .collect()
}

/// Signs of digits 2·n − 255 for the bytes n of a word.
struct Signs<W, F> {
    /// Of each byte the entry of |2·n − 255|: n − 128 or 127 − n.
    entries: W,
    /// Factors that take y to the isomorphic curve, for a negative digit and another.
    to_y: Array<F>,
    /// Of each byte 1 if the digit is positive, else 0.
    words: Vec<W>,
}

impl<W: Copy, F: Fe> Signs<W, F> {
    fn new<M: Machine<Word = W, Fe = F>>(machine: &M, to_y: F, word: W) -> Self {
        let (entries, positive) = signed_bytes(machine, word);
        let to_y = sign_factors(machine, to_y);
        Self { entries, to_y, words: words_of(machine, 8, positive) }
    }
}

/// For the digits 2·n − 255 of the bytes n of a word: of each byte the entry of |2·n − 255| in a table of odd multiples, n − 128 or 127 − n; and 1 if the digit is positive, else 0.
pub(crate) fn signed_bytes<M: Machine>(machine: &M, word: M::Word) -> (M::Word, M::Word) {
    let op = |op, a, b| machine.word_op(op, a, b);
    let each_byte = |value: u8| machine.word(U256::from_be_bytes([value; 32]));
    let positive = machine.bind(op(WordOp::And, op(WordOp::Shr, word, machine.small(7)), each_byte(1)));
    // All seven bits of a positive digit's byte stay, and others are inverted.
    let inverted = op(WordOp::Sub, each_byte(0x7f), op(WordOp::Mul, positive, machine.small(0x7f)));
    let entries = machine.bind(op(WordOp::Xor, op(WordOp::And, word, each_byte(0x7f)), inverted));
    (entries, positive)
}

/// An array of a factor's negative and the factor.
pub(crate) fn sign_factors<M: Machine>(machine: &M, factor: M::Fe) -> Array<M::Fe> {
    let both = machine.array("signs", Capacity::Fixed(2));
    machine.reserve(both, machine.small(2));
    machine.store(both, machine.small(0), -factor);
    machine.store(both, machine.small(1), factor);
    both
}

/// a ↦ a⁻¹ modulo n, by an instruction where there is one; 0 ↦ 0.
pub fn invert_scalar<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, inverse_power_of_scalar)
}

/// a ↦ a⁻¹ = a^(n − 2) modulo n; 0 ↦ 0. n − 2 begins with 32 ones, 32 zeros and 64 ones. The longest run of squarings is a loop: written out it
/// would take the verifier beyond the 24,576 bytes of EIP-170.
pub fn inverse_power_of_scalar<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    let squared = |a: M::Fe, count: u32| (0..count).fold(a, |power, _| power.square());
    let ones = [1, 2, 4, 8, 16].into_iter().fold(a, |ones, bits| squared(ones, bits) * ones); // 2³² − 1
    let apart = machine.repeat(machine.small(4), ones, |_, _, power| squared(power, 16));
    let upper = squared(apart * ones, 32) * ones;
    let exponent = &CONSTANTS.order - 2u32;
    let low = &exponent & ((BigUint::from(1u8) << 128) - 1u32);
    pow_constant_onto(upper, a, &low, 128)
}

/// The same sum for every input, by double and add with complete formulas; u and v as they are.
pub fn complete<M: Machine>(machine: &M, u: M::Word, v: M::Word, q: Affine<M::Fe>) -> Projective<M::Fe> {
    let b = machine.constant(&CONSTANTS.b);
    let curve = AMinusThree(move |value| b * value);
    let Affine { x, y } = &CONSTANTS.generator;
    let g = Affine::new(machine.constant(x), machine.constant(y));
    shamir(machine, [(u, g), (v, q)], &curve)
}

/// Σ kᵢ·Pᵢ bit by bit, for points that are not the identity.
pub(crate) fn shamir<M: Machine>(
    machine: &M,
    terms: [(M::Word, Affine<M::Fe>); 2],
    curve: &impl Complete<M::Fe>,
) -> Projective<M::Fe> {
    shamir_onto(machine, identity(machine), 256, terms, curve)
}

/// (0 : 1 : 0).
pub(crate) fn identity<M: Machine>(machine: &M) -> Projective<M::Fe> {
    Projective { x: machine.zero(), y: machine.one(), z: machine.zero() }
}

/// `start` doubled `bits` times, and to it Σ kᵢ·Pᵢ for scalars of so many bits and points that are not the identity. One function adds and doubles: that takes
/// least code.
pub(crate) fn shamir_onto<M: Machine>(
    machine: &M,
    start: Projective<M::Fe>,
    bits: u64,
    terms: [(M::Word, Affine<M::Fe>); 2],
    curve: &impl Complete<M::Fe>,
) -> Projective<M::Fe> {
    let add = |machine: &M, points: [Projective<M::Fe>; 2]| {
        machine.function("complete_sum", points, |_, [one, other]| one.add_complete(other, curve))
    };
    let one = machine.one();
    machine.repeat(machine.small(bits), start, |machine, turn, sum| {
        let mut sum = add(machine, [sum, sum]);
        for (scalar, Affine { x, y }) in terms {
            let bit = machine.bit(scalar, machine.word_op(WordOp::Sub, machine.small(bits - 1), turn));
            let before = sum;
            let point = Projective { x, y, z: one };
            sum = machine.branch(bit, |machine| add(machine, [before, point]), |_| before);
        }
        sum
    })
}

/// A number below 2²⁵⁶ as a word.
pub(crate) fn word(value: &BigUint) -> U256 {
    U256::from_be_slice(&value.to_bytes_be())
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::Numbers;

    /// u·G + v·Q by both ways and as numbers, for Q = q·G.
    fn check(u: &BigUint, v: &BigUint, q: &BigUint) {
        let n = &CONSTANTS.order;
        let machine = Numbers::<P256Fp>::new(Vec::new());
        let key = sums().multiple(q, generator()).unwrap();
        let expected = sums().multiple(&((u + v * q) % n), generator()).unwrap();
        for windows in [Windows::Bytes, Windows::SignedBytes, Windows::Nibbles] {
            let (offset, scale) = to_windows(windows);
            let moved = (u + n - offset) * scale % n;
            let Jacobian { x, y, z } = sum(&machine, windows, word(&moved), word(v), key);
            assert_ne!(z, P256Fp::ZERO);
            assert_eq!((x, y), (expected.x * z.square(), expected.y * z.square() * z), "{u} {v} {q}");
        }
        let Projective { x, y, z } = complete(&machine, word(u), word(v), key);
        assert_ne!(z, P256Fp::ZERO);
        assert_eq!((x, y), (expected.x * z, expected.y * z), "{u} {v} {q}");
    }

    #[test]
    fn sums_are_those_of_numbers() {
        let n = &CONSTANTS.order;
        let power = |base: u32, exponent: u32| BigUint::from(base).modpow(&exponent.into(), n);
        for turn in 1..6 {
            check(&power(5, 200 * turn), &power(7, 300 * turn), &power(11, 400 * turn));
            check(&power(5, 200 * turn), &(n - power(7, turn)), &power(11, 400 * turn));
        }
        check(&BigUint::ZERO, &power(7, 301), &power(11, 401));
    }
}
