//! P-384: its constants, and u·G + v·Q for a point and scalars at run time. NIST SP 800-186, §3.2.1.4.
//!
//! A scalar is two words. The sum goes along the digits of v, odd ones to the base 16 ([`crate::odd_multiples`]), and along those of u, for
//! which the multiples of G are constants: bytes, by a table in code of 128 multiples, or nibbles ([`Windows`]). An array holds the multiples of Q, and those of G that nibbles choose, over one denominator, and steps carry them to one part that
//! adds: that takes least code. The sum begins with a constant point T; what this adds is taken from u beforehand ([`to_windows`]). Additions are incomplete; a sum that meets an exceptional case ends with Z = 0, and [`complete`] is for that.

use crate::complete::AMinusThree;
use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian, Projective};
use crate::odd_multiples::{DIGITS, DOUBLINGS, Isomorphism, OddMultiples};
use crate::p256::{Constants, identity, shamir_onto, sign_factors, signed_bytes};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Array, Capacity, Feature, Machine, SequenceStep, Table, Variable, WordOp};
use residue_modular::fields::P384Fp;
use ruint::aliases::U256;
use std::sync::LazyLock;

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let number = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).expect("these are digits");
    Constants {
        b: number("b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef"),
        generator: Affine::new(
            number("aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"),
            number("3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"),
        ),
        order: number(
            "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
        ),
    }
});

/// The constants.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

/// Places of digits of a scalar.
const PLACES: u32 = 96;

/// Digits of u, for which multiples of G stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// ±1, ±3, … ±255 to the base 256: a table of 128 multiples, one of which is added at every second place.
    SignedBytes,
    /// ±1, ±3, … ±15 to the base 16: a table of 8 multiples, which stand in an array with those of Q. 48 additions more.
    OddNibbles,
}

/// A number below 2³⁸⁴ as two words.
#[derive(Debug, Clone, Copy)]
pub struct Pair<W> {
    /// ⌊number / 2²⁵⁶⌋.
    pub high: W,
    /// The rest.
    pub low: W,
}

/// A constant below 2³⁸⁴.
pub fn pair<M: Machine>(machine: &M, value: &BigUint) -> Pair<M::Word> {
    let [high, low] = halves(value).map(|half| machine.word(half));
    Pair { high, low }
}

fn halves(value: &BigUint) -> [U256; 2] {
    let bytes = value.to_bytes_be();
    let (high, low) = bytes.split_at(bytes.len().saturating_sub(32));
    [high, low].map(U256::from_be_slice)
}

/// 1 if a < b, else 0.
pub fn is_less<M: Machine>(machine: &M, a: Pair<M::Word>, b: Pair<M::Word>) -> M::Word {
    let op = |op, a, b| machine.word_op(op, a, b);
    let equal = op(WordOp::And, op(WordOp::Eq, a.high, b.high), op(WordOp::Lt, a.low, b.low));
    op(WordOp::Or, op(WordOp::Lt, a.high, b.high), equal)
}

/// Sums on the curve.
pub fn sums() -> Sums<P384Fp> {
    Sums { a: -P384Fp::from_u64(3) }
}

/// G as numbers.
pub fn generator() -> Affine<P384Fp> {
    let Affine { x, y } = &CONSTANTS.generator;
    let element = |value| P384Fp::from_canonical(value).expect("it is below p");
    Affine::new(element(x), element(y))
}

/// T = τ·G with τ = 3²⁵⁰ modulo n: no multiple of G that anybody has for a key.
fn tau() -> BigUint {
    BigUint::from(3u8).modpow(&250u32.into(), &CONSTANTS.order)
}

/// Map from u to windows: (o, s) for s·(u − o) modulo n. o is the multiple of G in the sum beyond u·G + v·Q: T after all doublings, and for bytes b the
/// excess of digits, which are 2·b − 255; s undoes the factor 2 of these.
pub fn to_windows(windows: Windows) -> (BigUint, BigUint) {
    let n = &CONSTANTS.order;
    let doublings = BigUint::from(1u8) << (DOUBLINGS as u32 * (PLACES - 1)); // 4
    let of_start = tau() * doublings % n;
    match windows {
        Windows::OddNibbles => (of_start, BigUint::from(1u8)),
        Windows::SignedBytes => {
            let excess = ((BigUint::from(1u8) << 384u32) - 1u8) % n;
            ((of_start + n - excess) % n, BigUint::from(2u8).modinv(n).expect("n is odd"))
        }
    }
}

/// y² − x³ + 3x − b: zero exactly if the point is on the curve.
pub fn curve_defect<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Fe {
    let Affine { x, y } = point;
    y.square() - (x.square() - machine.constant(&3u32.into())) * x - machine.constant(&CONSTANTS.b)
}

/// The words whose cells have the windows of so many bits of a number: those of the low word, then those of the high one.
fn cells<M: Machine>(machine: &M, bits: u64, number: Pair<M::Word>) -> Vec<M::Word> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let number = Pair { high: machine.bind(number.high), low: machine.bind(number.low) };
    let mask = machine.word(SequenceStep::<M::Word>::CELLS.each((1 << bits) - 1));
    let shifted = |word, bits| if bits == 0 { word } else { op(WordOp::Shr, word, machine.small(bits)) };
    let of = |word, bits| op(WordOp::And, shifted(word, bits), mask);
    // The high word has 128 bits: two of its rows of cells fill one.
    let both = |first| {
        op(WordOp::Or, of(number.high, first), op(WordOp::Shl, of(number.high, first + bits), machine.small(128)))
    };
    let low: Vec<_> = (0..16 / bits).map(|row| of(number.low, row * bits)).collect();
    low.into_iter().chain((0..8 / bits).map(|row| both(2 * row * bits))).collect()
}

/// Variables of the code that makes digits: it stands once for all forms of a program, so that they have the same.
#[derive(Debug, Clone, Copy)]
pub struct Held([Variable; 6]);

impl Held {
    /// New ones.
    pub fn new<M: Machine>(machine: &M) -> Self {
        Self([(); 6].map(|()| machine.variable("held", machine.small(0))))
    }
}

/// Words of cells with the digits of both scalars.
#[derive(Debug)]
struct Digits<W> {
    /// Of u nibbles, or the entries of bytes and their signs.
    of_u: Vec<Vec<W>>,
    /// Of v.
    of_v: [W; 6],
}

impl<W: Copy> Digits<W> {
    fn new<M: Machine<Word = W>>(machine: &M, windows: Windows, [u, v]: [Pair<W>; 2], held: Held) -> Self {
        let of_u = match windows {
            Windows::OddNibbles => vec![digits(machine, u, held, DIGITS).to_vec()],
            Windows::SignedBytes => {
                let [high, low] = [u.high, u.low].map(|word| signed_bytes(machine, word));
                let below = machine.word((U256::ONE << 128usize) - U256::ONE);
                let each = [[high.0, low.0], [high.1, low.1]].map(|[high, low]| {
                    let number = Pair { high: machine.word_op(WordOp::And, high, below), low };
                    let cells = cells(machine, 8, number).into_iter();
                    cells.map(|cells| machine.get(machine.variable("windows", cells))).collect()
                });
                each.into()
            }
        };
        Self { of_u, of_v: digits(machine, v, held, 0) }
    }
}

/// The words whose cells have the digits of a number, each with `first` added. `held` is what code for it is given and gives, as it stands once.
fn digits<M: Machine>(machine: &M, k: Pair<M::Word>, Held(held): Held, first: usize) -> [M::Word; 6] {
    let [high, low, ..] = held;
    machine.set(high, k.high);
    machine.set(low, k.low);
    machine.function("odd_digits", (), |machine, ()| {
        let odd = odd_digits(machine, Pair { high: machine.get(high), low: machine.get(low) });
        let cells = cells(machine, 4, odd);
        held.into_iter().zip(cells).for_each(|(variable, cells)| machine.set(variable, cells));
    });
    let after = machine.word(SequenceStep::<M::Word>::CELLS.each(first as u64)); // 0 or 16
    held.map(|variable| {
        let cells = machine.get(variable);
        let moved = if first == 0 { cells } else { machine.word_op(WordOp::Or, cells, after) };
        machine.get(machine.variable("digits", moved))
    })
}

/// The step that carries the row for the window of so many bits at place `at`, given [`cells`].
fn carry<W: Copy>(cells: &[W], bits: u32, at: u32) -> SequenceStep<W> {
    let rows = 16 / bits;
    let (word, first_bit) = match at.checked_sub(256 / bits) {
        None => (at % rows, at / rows * 16),
        Some(at) => (rows + at % rows / 2, at / rows * 16 + 128 * (at % 2)),
    };
    SequenceStep::Carry { word: cells[word as usize], first_bit } // u32 to usize widens
}

/// (k + 2³⁸⁴ − 1)/2 for an odd k, and the same of k − n for an even one.
fn odd_digits<M: Machine>(machine: &M, k: Pair<M::Word>) -> Pair<M::Word> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let k = Pair { high: machine.bind(k.high), low: machine.bind(k.low) };
    let even = machine.bind(machine.not(op(WordOp::And, k.low, machine.small(1))));
    // With k − n for an even one it is (n + 1)/2 less.
    let [less_high, less_low] =
        halves(&((&CONSTANTS.order + 1u32) >> 1u32)).map(|half| op(WordOp::Mul, even, machine.word(half)));
    let (one, top) = (machine.small(1), machine.small(255));
    let low = op(WordOp::Or, op(WordOp::Shr, k.low, one), op(WordOp::Shl, k.high, top));
    let (low, less_low) = (machine.bind(low), machine.bind(less_low));
    let high = op(WordOp::Add, op(WordOp::Shr, k.high, one), machine.word(U256::ONE << 127usize));
    let borrow = op(WordOp::Lt, low, less_low);
    Pair { high: op(WordOp::Sub, op(WordOp::Sub, high, less_high), borrow), low: op(WordOp::Sub, low, less_low) }
}

/// (u by [`to_windows`], v, Q) ↦ u·G + v·Q in Jacobian coordinates for scalars below n; Z = 0 says nothing. Q is on the curve.
pub fn sum<M: Machine>(
    machine: &M,
    windows: Windows,
    [u, v]: [Pair<M::Word>; 2],
    held: Held,
    q: Affine<M::Fe>,
) -> Jacobian<M::Fe> {
    let digits = Digits::new(machine, windows, [u, v], held);
    let three_halves = (P384Fp::from_u64(2).inverse()).expect("2 is not zero") * P384Fp::from_u64(3);
    let [half_a, three_halves] = [-three_halves, three_halves].map(|value| machine.constant(&value.to_canonical()));
    let count = match windows {
        Windows::SignedBytes => DIGITS as u32, // 16
        Windows::OddNibbles => 2 * DIGITS as u32,
    };
    let points = machine.array::<Affine<M::Fe>>("points", Capacity::Fixed(count));
    machine.reserve(points, machine.small(count.into()));
    let of = |machine: &M, curve: Curve<M::Fe>| match windows {
        Windows::SignedBytes => sum_by_bytes(machine, &digits, points, &curve),
        Windows::OddNibbles => sum_by_nibbles(machine, &digits, points, &curve),
    };
    let by_instructions = |machine: &M| {
        let multiples = OddMultiples::new(q, half_a, three_halves);
        for nibble in 0..DIGITS {
            machine.store(points, machine.small(nibble as u64), multiples.multiple(nibble)); // usize to u64 widens
        }
        of(machine, Curve::Isomorphic(multiples.curve))
    };
    let by_loops =
        |machine: &M| of(machine, Curve::BySums(OddMultiples::store(machine, points, q, [half_a, three_halves])));
    let with_inversion = |machine: &M| {
        let invert = |z| machine.invert(z);
        OddMultiples::store_affine(machine, points, q, [half_a, three_halves], invert);
        of(machine, Curve::Same)
    };
    // Where an addition takes an instruction, products with constants are fewer, and loops take more than they spare. In words an inversion
    // takes less gas than doublings with another a, and more code.
    machine.branch(machine.has(Feature::FieldSlots), by_instructions, |machine| match windows {
        Windows::SignedBytes => machine.branch(machine.has(Feature::Inversion), with_inversion, by_loops),
        Windows::OddNibbles => by_loops(machine),
    })
}

/// Curve that has the multiples of Q as affine points.
#[derive(Debug, Clone, Copy)]
enum Curve<F> {
    /// One that is isomorphic to P-384.
    Isomorphic(Isomorphism<F>),
    /// The same, with doublings by sums.
    BySums(Isomorphism<F>),
    /// P-384.
    Same,
}

impl<F: Fe> Curve<F> {
    /// The isomorphism, where it is another curve.
    fn isomorphism(&self) -> Option<&Isomorphism<F>> {
        match self {
            Self::Isomorphic(curve) | Self::BySums(curve) => Some(curve),
            Self::Same => None,
        }
    }

    /// A point of P-384 on it.
    fn image(&self, point: Affine<F>) -> Affine<F> {
        self.isomorphism().map_or(point, |curve| curve.image(point))
    }

    /// T on it.
    fn start<M: Machine<Fe = F>>(&self, machine: &M) -> Jacobian<F> {
        let Affine { x, y } = sums().multiple(&tau(), generator()).expect("τ is below n");
        let constant = |value: P384Fp| machine.constant(&value.to_canonical());
        self.image(Affine::new(constant(x), constant(y))).to_jacobian(machine.one())
    }

    /// The sum sixteen times.
    fn next_place(&self, sum: Jacobian<F>) -> Jacobian<F> {
        match self {
            Self::Isomorphic(curve) => curve.next_place(sum),
            Self::BySums(curve) => curve.next_place_by_sums(sum),
            Self::Same => (0..DOUBLINGS).fold(sum, |sum, _| double(sum)),
        }
    }

    /// A point of it on P-384.
    fn point_of(&self, sum: Jacobian<F>) -> Jacobian<F> {
        self.isomorphism().map_or(sum, |curve| Jacobian { z: sum.z * curve.z, ..sum })
    }
}

/// 2·P for a = −3: Bernstein and Lange 2007, “Explicit-Formulas Database”, dbl-2001-b, each line one sum of products and values.
fn double<F: Fe>(Jacobian { x, y, z }: Jacobian<F>) -> Jacobian<F> {
    let _scope = enter("point_doublings");
    let twice = |value: F| value + value;
    let (delta, gamma) = (z.square(), y.square());
    let beta = x * gamma;
    let slope = (x - delta) * (x + delta);
    let alpha = slope + slope + slope; //                        α = 3(X − Z²)(X + Z²)
    let four_beta = twice(twice(beta));
    let x3 = alpha.square() - twice(four_beta); //               X₃ = α² − 8β
    let eight_squares = twice(twice(twice(gamma.square())));
    Jacobian { x: x3, y: alpha * (four_beta - x3) - eight_squares, z: twice(y * z) }
}

/// With [`Windows::SignedBytes`], given the multiples of Q.
fn sum_by_bytes<M: Machine>(
    machine: &M,
    digits: &Digits<M::Word>,
    points: Array<Affine<M::Fe>>,
    curve: &Curve<M::Fe>,
) -> Jacobian<M::Fe> {
    let odd: Vec<_> = sums().consecutive(generator(), 256).into_iter().step_by(2).collect();
    let table: Table<Affine<M::Fe>> = machine.table("generator", &odd);
    let to_y = sign_factors(machine, curve.isomorphism().map_or(machine.one(), |curve| curve.to_y));
    let (double, add, add_base) = (0, 1, 2);
    let mut order = Vec::new();
    for at in (0..PLACES).rev() {
        let first = if at == PLACES - 1 { add } else { double };
        order.extend([carry(&digits.of_v, 4, at), SequenceStep::Part(first)]);
        if at % 2 == 0 {
            order.extend(digits.of_u.iter().map(|cells| carry(cells, 8, at / 2)));
            order.push(SequenceStep::Part(add_base));
        }
    }
    let start = curve.start(machine);
    let sum = machine.sequence_of(&order, &[Some(add), None, None], start, |machine, part, sum| match part {
        part if part == add => sum.add_mixed(machine.take_element(points)),
        part if part == double => curve.next_place(sum),
        _ => {
            let Affine { x, y } = machine.take_row(table);
            let y = y * machine.take_element(to_y);
            let x = curve.isomorphism().map_or(x, |curve| x * curve.to_x);
            sum.add_mixed(Affine::new(x, y))
        }
    });
    curve.point_of(sum)
}

/// With [`Windows::OddNibbles`], given the multiples of Q.
fn sum_by_nibbles<M: Machine>(
    machine: &M,
    digits: &Digits<M::Word>,
    points: Array<Affine<M::Fe>>,
    curve: &Curve<M::Fe>,
) -> Jacobian<M::Fe> {
    let odd: Vec<_> = sums().consecutive(generator(), DIGITS).into_iter().step_by(2).collect();
    let table = machine.table::<Affine<M::Fe>>("small_generator", &odd);
    // Element h is (2h + 1)·G, for the nibble h + 8; that for 7 − h is its opposite.
    let (first, half) = (DIGITS as u64, DIGITS as u64 / 2); // 16 and 8
    let put_images = |machine: &M, number: M::Word, [place, opposite]: [M::Word; 2]| {
        let Affine { x, y } = curve.image(machine.lookup(table, number));
        machine.store(points, place, Affine::new(x, y));
        machine.store(points, opposite, Affine::new(x, -y));
    };
    if let Curve::Isomorphic(_) = curve {
        for number in 0..half {
            let places = [first + half + number, first + half - 1 - number];
            put_images(machine, machine.small(number), places.map(|place| machine.small(place)));
        }
    } else {
        machine.repeat(machine.small(half), (), |machine, number, ()| {
            let number = machine.bind(number);
            let place = machine.word_op(WordOp::Add, number, machine.small(first + half));
            let opposite = machine.word_op(WordOp::Sub, machine.small(first + half - 1), number);
            put_images(machine, number, [place, opposite]);
        });
    }
    let (double, add) = (0, 1);
    let mut order = Vec::new();
    for at in (0..PLACES).rev() {
        let first = if at == PLACES - 1 { add } else { double };
        order.extend([
            carry(&digits.of_v, 4, at),
            SequenceStep::Part(first),
            carry(&digits.of_u[0], 4, at),
            SequenceStep::Part(add),
        ]);
    }
    let start = curve.start(machine);
    let sum = machine.sequence_of(&order, &[Some(add), None], start, |machine, part, sum| match part {
        part if part == add => sum.add_mixed(machine.take_element(points)),
        _ => curve.next_place(sum),
    });
    curve.point_of(sum)
}

/// a ↦ a⁻¹ modulo n, by an instruction where there is one; 0 ↦ 0.
pub fn invert_scalar<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, inverse_power_of_scalar)
}

/// a ↦ a⁻¹ = a^(n − 2) modulo n; 0 ↦ 0. n − 2 begins with 192 ones; the rest goes in digits to the base 16, by powers of a in an array. Runs of
/// squarings are loops, as they would take more code than an account may have.
pub fn inverse_power_of_scalar<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    const LOW_BITS: u64 = 192;
    let squared = |a: M::Fe, count: u64| machine.repeat(machine.small(count), a, |_, _, power| power.square());
    let powers = machine.array::<M::Fe>("powers", Capacity::Fixed(16));
    machine.reserve(powers, machine.small(16));
    let mut power = machine.one();
    for exponent in 0..16 {
        machine.store(powers, machine.small(exponent), power);
        power = power * a;
    }
    let ones = squared(a, 1) * a; //                        2² − 1
    let mut ones = squared(ones, 1) * a; //                 2³ − 1
    for bits in [3, 6, 12, 24, 48, 96] {
        ones = squared(ones, bits) * ones; //               up to 2¹⁹² − 1
    }
    let exponent = &CONSTANTS.order - 2u32;
    let low = machine.word(halves(&(exponent & ((BigUint::from(1u8) << LOW_BITS) - 1u32)))[1]);
    machine.repeat(machine.small(LOW_BITS / 4), ones, |machine, turn, power| {
        let op = |op, a, b| machine.word_op(op, a, b);
        let place = op(WordOp::Mul, op(WordOp::Sub, machine.small(LOW_BITS / 4 - 1), turn), machine.small(4));
        let digit = op(WordOp::And, op(WordOp::Shr, low, place), machine.small(15));
        let power = (0..4).fold(power, |power, _| power.square());
        power * machine.load(powers, digit)
    })
}

/// The same sum for every input, by double and add with complete formulas; u and v as they are.
pub fn complete<M: Machine>(machine: &M, u: Pair<M::Word>, v: Pair<M::Word>, q: Affine<M::Fe>) -> Projective<M::Fe> {
    let b = machine.constant(&CONSTANTS.b);
    let curve = AMinusThree(move |value| b * value);
    let Affine { x, y } = &CONSTANTS.generator;
    let g = Affine::new(machine.constant(x), machine.constant(y));
    let high = shamir_onto(machine, identity(machine), 128, [(u.high, g), (v.high, q)], &curve);
    shamir_onto(machine, high, 256, [(u.low, g), (v.low, q)], &curve)
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::Numbers;

    /// u·G + v·Q by both ways and as numbers, for Q = q·G.
    fn check(u: &BigUint, v: &BigUint, q: &BigUint) {
        let n = &CONSTANTS.order;
        let machine = Numbers::<P384Fp>::new(Vec::new());
        let key = sums().multiple(q, generator()).unwrap();
        let expected = sums().multiple(&((u + v * q) % n), generator()).unwrap();
        let [u_words, v_words] = [u, v].map(|value| pair(&machine, value));
        for windows in [Windows::SignedBytes, Windows::OddNibbles] {
            let (offset, scale) = to_windows(windows);
            let moved = pair(&machine, &((u + n - offset) * scale % n));
            let Jacobian { x, y, z } = sum(&machine, windows, [moved, v_words], Held::new(&machine), key);
            assert_ne!(z, P384Fp::ZERO);
            assert_eq!((x, y), (expected.x * z.square(), expected.y * z.square() * z), "{u} {v} {q}");
        }
        // As on the EVM as it is, which numbers are not asked for.
        let half = P384Fp::from_u64(2).inverse().unwrap();
        let halves = [-(half * P384Fp::from_u64(3)), half * P384Fp::from_u64(3)];
        for windows in [Windows::SignedBytes, Windows::OddNibbles] {
            let (offset, scale) = to_windows(windows);
            let moved = pair(&machine, &((u + n - offset) * scale % n));
            for is_affine in [true, false] {
                let points = machine.array("points", Capacity::Fixed(32));
                machine.reserve(points, machine.small(32));
                let curve = if is_affine {
                    OddMultiples::store_affine(&machine, points, key, halves, |z: P384Fp| z.inverse().unwrap());
                    Curve::Same
                } else {
                    Curve::BySums(OddMultiples::store(&machine, points, key, halves))
                };
                let digits = Digits::new(&machine, windows, [moved, v_words], Held::new(&machine));
                let Jacobian { x, y, z } = match windows {
                    Windows::SignedBytes => sum_by_bytes(&machine, &digits, points, &curve),
                    Windows::OddNibbles => sum_by_nibbles(&machine, &digits, points, &curve),
                };
                assert_ne!(z, P384Fp::ZERO);
                assert_eq!((x, y), (expected.x * z.square(), expected.y * z.square() * z), "{u} {v} {q}");
            }
        }
        let Projective { x, y, z } = complete(&machine, u_words, v_words, key);
        assert_ne!(z, P384Fp::ZERO);
        assert_eq!((x, y), (expected.x * z, expected.y * z), "{u} {v} {q}");
    }

    #[test]
    fn sums_are_those_of_numbers() {
        let n = &CONSTANTS.order;
        let power = |base: u32, exponent: u32| BigUint::from(base).modpow(&exponent.into(), n);
        for turn in 1..4 {
            check(&power(3, 251 + turn), &power(5, 190 + turn), &power(7, 170 + turn));
        }
        let [one, last] = [BigUint::from(1u8), n - 1u32];
        check(&one, &last, &power(11, 160));
        check(&last, &one, &power(13, 160));
        check(&BigUint::ZERO, &power(2, 300), &power(17, 130));
    }

    #[test]
    fn the_constants_are_of_a_curve_with_that_order() {
        let machine = Numbers::<P384Fp>::new(Vec::new());
        assert_eq!(curve_defect(&machine, generator()), P384Fp::ZERO);
        let last = sums().multiple(&(&CONSTANTS.order - 1u32), generator()).unwrap();
        assert_eq!((last.x, last.y), (generator().x, -generator().y));
    }
}
