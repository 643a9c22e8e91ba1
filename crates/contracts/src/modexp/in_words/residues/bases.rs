//! The two bases, and the constants of the formulas.
//!
//! All moduli are T + ρ·k with T = 2²³², k odd and small, or 0 for T itself. So modulo T + ρ·b a modulus T + ρ·a is ρ·(a − b), and the coefficients
//! by which residues of one base become those of the other are, but for a factor of each row, the least integers that are in proportion to
//! 1/(a − b): at most 20 bits, beside residues of 233. Rows and columns of k and −k are sums and differences of the same numbers, of half the
//! products each.

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed};
use ruint::aliases::U256;

/// Bits of T.
pub(super) const BITS: u64 = 232;
/// Bits of a word.
const WORD_BITS: u64 = 256;
/// The step ρ between moduli. It is a multiple of all odd primes up to 17, the only ones that could divide two moduli; and none of the moduli of the first
/// base but T has a prime factor below 200 000: the last factor is the least with that.
pub(super) const STEP: u64 = 3 * 5 * 7 * 11 * 13 * 17 * 57_969;
/// k of the first base, by which Montgomery products divide: 0, and these with both signs.
pub(super) const FIRST: [i64; 4] = [1, 3, 5, 7];
/// k of the second base, with both signs.
pub(super) const SECOND: [i64; 5] = [9, 11, 13, 15, 17];
/// Moduli of the first base: k = 0, then each k and −k.
pub(super) const FIRST_COUNT: usize = 1 + 2 * FIRST.len();
/// Moduli of the second base: each k and −k.
pub(super) const SECOND_COUNT: usize = 2 * SECOND.len();

/// Coefficients of the two rows of k and −k.
pub(super) struct Row {
    /// Of the sums of residues of a pair.
    pub of_sums: Vec<u64>,
    /// Of their differences: what they come to is added in the row of k, and subtracted in that of −k.
    pub of_differences: Vec<u64>,
    /// Of the residue modulo T, of which the second base has none.
    pub of_last: u64,
}

/// 2²³² + ρ·k.
pub(super) fn modulus(k: i64) -> BigUint {
    let modulus = (BigInt::one() << BITS) + BigInt::from(k) * BigInt::from(STEP);
    modulus.to_biguint().expect("T is far above ρ·k")
}

/// Every k of the first base, in the order of cells.
pub(super) fn first() -> Vec<i64> {
    [0].into_iter().chain(FIRST.into_iter().flat_map(|k| [k, -k])).collect()
}

/// Every k of the second base, in the order of cells.
pub(super) fn second() -> Vec<i64> {
    second_of(SECOND.len()).collect()
}

/// Those of its first pairs.
pub(super) fn second_of(pairs: usize) -> impl Iterator<Item = i64> {
    SECOND.into_iter().take(pairs).flat_map(|k| [k, -k])
}

/// The product of the moduli of the first base.
pub(super) fn product() -> BigUint {
    first().into_iter().map(modulus).product()
}

/// `number` as a word.
pub(super) fn word(number: &BigUint) -> U256 {
    let bytes = number.to_bytes_be();
    U256::try_from_be_slice(&bytes).expect("constants have a word")
}

/// What `number` is modulo 2²³² + ρ·k.
pub(super) fn residue(number: &BigInt, k: i64) -> BigUint {
    let modulus = BigInt::from(modulus(k));
    let rest = number % &modulus;
    let rest = if rest.is_negative() { rest + modulus } else { rest };
    rest.to_biguint().expect("it is not negative")
}

/// The inverse of `number` modulo 2²³² + ρ·k.
pub(super) fn inverse(number: &BigInt, k: i64) -> BigInt {
    let inverse = residue(number, k).modinv(&modulus(k));
    BigInt::from(inverse.expect("moduli have no factor in common"))
}

/// The least coefficients in proportion to the sums and differences of 1/(b − a) and 1/(b + a) for these b and a, and to 1/`last`, if there is one; with
/// what 1/(b − a) is multiplied by.
fn row(pairs: impl Iterator<Item = (i64, i64)> + Clone, last: Option<i64>) -> (Row, u64) {
    let sums = pairs.clone().map(|(b, a)| (b, b * b - a * a));
    let differences = pairs.map(|(b, a)| (a, b * b - a * a));
    let last = last.map(|last| (1, last));
    let all = sums.clone().chain(differences.clone()).chain(last);
    let scale = all.fold(1, |scale: i64, (over, under)| {
        let least = under / divisor(over, under);
        scale / divisor(scale, least) * least
    });
    let coefficient = |(over, under): (i64, i64)| (scale * over / under).unsigned_abs();
    let row = Row {
        of_sums: sums.map(coefficient).collect(),
        of_differences: differences.map(coefficient).collect(),
        of_last: last.map_or(0, coefficient),
    };
    (row, scale.unsigned_abs())
}

/// What an extension to the second base adds up for T + ρ·b and T − ρ·b, from σ: q is as many times that as [`Second::of_quotient`] says.
pub(super) fn row_of_second(b: i64) -> Row {
    scaled_row_of_second(b).0
}

fn scaled_row_of_second(b: i64) -> (Row, u64) {
    let (row, scale) = row(FIRST.into_iter().map(move |a| (b, a)), Some(b));
    // σ is below a modulus, and a sum or difference of two below two.
    let sum = 2 * row.of_sums.iter().sum::<u64>() + row.of_last;
    assert!((modulus(SECOND[SECOND.len() - 1]) * sum).bits() <= WORD_BITS, "a sum has a word");
    (row, scale)
}

/// What an extension to the first base adds up for T + ρ·a and T − ρ·a, from y of the first `pairs` pairs of the second one: x is as many times
/// that as [`First::of_sum`] says.
pub(super) fn row_of_first(a: i64, pairs: usize) -> Row {
    scaled_row_of_first(a, pairs).0
}

fn scaled_row_of_first(a: i64, pairs: usize) -> (Row, u64) {
    let (row, scale) = row(SECOND[..pairs].iter().map(move |&b| (b, a)), None);
    // y is below two moduli; what takes off multiples of M′ is as much at most.
    let sum = 8 * row.of_sums.iter().sum::<u64>();
    assert!((modulus(SECOND[SECOND.len() - 1]) * sum).bits() <= WORD_BITS, "a sum has a word");
    (row, scale)
}

/// The greatest common divisor.
fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn power_of_step(exponent: usize) -> BigInt {
    (0..exponent).map(|_| BigInt::from(STEP)).product()
}

/// Constants of T + ρ·a in the first base, a = k.
pub(super) struct First {
    k: i64,
    /// x over the sum of its row, modulo this modulus.
    of_sum: BigInt,
}

impl First {
    /// Where extensions are from the first `pairs` pairs of the second base.
    pub(super) fn new(k: i64, pairs: usize) -> Self {
        // y has a sign, with which a positive coefficient is minus the product of the differences, over one of them.
        let differences: BigInt = second_of(pairs).map(|b| BigInt::from(b - k)).product();
        let (_, scale) = scaled_row_of_first(k.abs(), pairs);
        let of_sum = -power_of_step(2 * pairs - 1) * differences * inverse(&BigInt::from(scale), k);
        Self { k, of_sum }
    }

    /// The factor of σ = S²·n⁻¹·this, for the sum S that x is made of: −n⁻¹ is a factor of the quotient, and 1/Mᵢ one of σ.
    pub(super) fn of_squares(&self) -> BigUint {
        let others: BigInt = first().into_iter().filter(|&a| a != self.k).map(|a| BigInt::from(modulus(a))).product();
        residue(&-(&self.of_sum * &self.of_sum * inverse(&others, self.k)), self.k)
    }

    /// What S is for x = 1.
    pub(super) fn one(&self) -> BigUint {
        residue(&inverse(&self.of_sum, self.k), self.k)
    }

    /// x over S.
    pub(super) fn of_sum(&self) -> BigUint {
        residue(&self.of_sum, self.k)
    }
}

/// Constants of T + ρ·b in the second base, b = k.
pub(super) struct Second {
    k: i64,
    /// M′ over this modulus, with the sign that y has: positive coefficients are all that extensions have then.
    others: BigInt,
    /// M⁻¹.
    of_first: BigInt,
}

impl Second {
    pub(super) fn new(k: i64) -> Self {
        Self::of(k, SECOND.len())
    }

    /// In the base of the first `pairs` pairs.
    pub(super) fn of(k: i64, pairs: usize) -> Self {
        let others: BigInt = second_of(pairs).filter(|&b| b != k).map(|b| BigInt::from(modulus(b))).product();
        let of_first = inverse(&BigInt::from(product()), k);
        Self { k, others: if k > 0 { -others } else { others }, of_first }
    }

    /// y of x = 1.
    pub(super) fn one(&self) -> BigUint {
        residue(&inverse(&self.others, self.k), self.k)
    }

    /// The factor of y² in the y of the Montgomery square.
    pub(super) fn of_squares(&self) -> BigUint {
        residue(&(&self.others * &self.of_first), self.k)
    }

    /// The factor, beside n, of the sum of this row in the y of a Montgomery product.
    pub(super) fn of_quotient(&self) -> BigUint {
        let differences: BigInt = first().into_iter().map(|a| BigInt::from(a - self.k)).product();
        let (_, scale) = scaled_row_of_second(self.k.abs());
        let of_sum =
            power_of_step(FIRST_COUNT - 1) * differences * -self.k.signum() * inverse(&BigInt::from(scale), self.k);
        residue(&(of_sum * &self.of_first * BigInt::from(self.one())), self.k)
    }

    /// −y of x = 1, over [`Self::of_quotient`].
    pub(super) fn minus_one_of_quotient(&self) -> BigUint {
        let of_quotient = inverse(&BigInt::from(self.of_quotient()), self.k);
        residue(&-(BigInt::from(self.one()) * of_quotient), self.k)
    }

    /// What y is multiplied by to be that of x/T in the base of the first `pairs` pairs.
    pub(super) fn over_t(&self, pairs: usize) -> BigUint {
        residue(&(&self.others * BigInt::from(self.minus_one_over_t(pairs)) * -1), self.k)
    }

    /// y of −1/T in that base.
    pub(super) fn minus_one_over_t(&self, pairs: usize) -> BigUint {
        let others: BigInt = second_of(pairs).filter(|&b| b != self.k).map(|b| BigInt::from(modulus(b))).product();
        let others = if self.k > 0 { -others } else { others };
        residue(&-inverse(&(others << BITS), self.k), self.k)
    }
}
