//! The two bases, and the constants of the formulas.
//!
//! All moduli are T + ρ·k with T = 2²³², k odd and small, or 0 for T itself. So modulo T + ρ·b a modulus T + ρ·a is ρ·(a − b), and the coefficients
//! by which residues of one base become those of the other are, but for a factor of each row, the least integers that are in proportion to
//! 1/(a − b): at most 18 bits, beside residues of 233. Rows and columns of k and −k are sums and differences of the same numbers, of half the
//! products each.

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed};
use ruint::aliases::U256;

/// Bits of T.
pub(super) const BITS: u64 = 232;
/// No k is larger.
const K_MAX: i64 = 17;
/// Bits of a word.
const WORD_BITS: u64 = 256;
/// The step ρ between moduli. It is a multiple of all odd primes up to 17, the only ones that could divide two moduli; and none of the moduli of the first
/// base but T has a prime factor below 200 000: the last factor is the least with that.
pub(super) const STEP: u64 = 3 * 5 * 7 * 11 * 13 * 17 * 57_969;
/// Two bases. Each k stands for itself and −k; the first base has T too.
#[derive(Clone, Copy)]
pub(super) struct Bases {
    /// k of the first one, by which Montgomery products divide: odd, from 1 on.
    pub first: &'static [i64],
    /// k of the second one: the next odd numbers, one more of them. Of the last one it has −k, and k too where numbers become
    /// Montgomery's.
    pub second: &'static [i64],
    /// Names of functions.
    pub names: Names,
    /// Addresses of what products take and make.
    pub cells: Cells,
    /// Address of T and the moduli of the second base, where an account is to hold the code; else moduli are constants.
    pub moduli: Option<u64>,
}

/// Addresses of words of scratch memory.
#[derive(Clone, Copy)]
pub(super) struct Cells {
    /// Factors of σ, one for each modulus of the first base.
    pub of_first: u64,
    /// Factors of sums of the second base.
    pub of_second: u64,
    /// y of the number that all is done to.
    pub number: u64,
    /// y of the other factor.
    pub other: u64,
    /// S of it.
    pub other_sums: u64,
    /// σ of a quotient: modulo T, then of each pair the sum and the difference.
    pub quotient: u64,
}

/// Names of functions.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// Reader of the modulus.
    pub read: &'static str,
    /// Factors that depend on n, and reader of the base.
    pub factors: &'static str,
    /// Conversion of x to Montgomery's x·M.
    pub enter: &'static str,
    /// A square over M.
    pub square: &'static str,
    /// A product over M.
    pub multiply: &'static str,
    /// An extension alone.
    pub extend: &'static str,
    /// A power with a long exponent.
    pub by_digits: &'static str,
}

/// Coefficients of the two rows of k and −k.
pub(super) struct Row {
    /// Of the sums of residues of a pair.
    pub of_sums: Vec<u64>,
    /// Of their differences: what they come to is added in one of the rows, and subtracted in the other.
    pub of_differences: Vec<u64>,
    /// Of the residue modulo T, of which the second base has none.
    pub of_last: u64,
}

/// 2²³² + ρ·k.
pub(super) fn modulus(k: i64) -> BigUint {
    let modulus = (BigInt::one() << BITS) + BigInt::from(k) * BigInt::from(STEP);
    modulus.to_biguint().expect("T is far above ρ·k")
}

/// `number` as a word.
pub(super) fn word(number: &BigUint) -> U256 {
    let bytes = number.to_bytes_be();
    U256::try_from_be_slice(&bytes).expect("constants have a word")
}

/// Residue of `number` modulo 2²³² + ρ·k.
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

impl Bases {
    /// Every k of the first base, in the order of cells.
    pub(super) fn all_first(self) -> Vec<i64> {
        [0].into_iter().chain(self.first.iter().flat_map(|&k| [k, -k])).collect()
    }

    /// Number of moduli of the second base.
    pub(super) fn second_count(self) -> usize {
        2 * self.second.len() - 1
    }

    /// Every k of it, in the order of cells.
    pub(super) fn all_second(self) -> Vec<i64> {
        self.second_of(self.second_count())
    }

    /// The first `count`, which may be one more than it has.
    pub(super) fn second_of(self, count: usize) -> Vec<i64> {
        self.second.iter().flat_map(|&k| [-k, k]).take(count).collect()
    }

    /// Digits to the base T of a number: as many as the first base has moduli.
    pub(super) fn digits(self) -> usize {
        1 + 2 * self.first.len()
    }

    /// Coefficients of an extension to the second base for T + ρ·b and T − ρ·b, from σ: q is the sum times
    /// [`Second::of_quotient`].
    pub(super) fn row_of_second(self, b: i64) -> Row {
        self.scaled_row_of_second(b).0
    }

    fn scaled_row_of_second(self, b: i64) -> (Row, u64) {
        let (row, scale) = row(self.first.iter().map(move |&a| (b, a)), Some(b));
        // σ is below a modulus, and a sum or difference of two below two.
        let sum = 2 * row.of_sums.iter().sum::<u64>() + row.of_last;
        assert!((modulus(K_MAX) * sum).bits() <= WORD_BITS, "a sum has a word");
        (row, scale)
    }

    /// Coefficients of an extension to the first base for T + ρ·a and T − ρ·a, from y of the first `count` moduli of
    /// the second one, of which the last may be without its pair: x is the sum times [`First::of_sum`].
    pub(super) fn row_of_first(self, a: i64, count: usize) -> Row {
        self.scaled_row_of_first(a, count).0
    }

    fn scaled_row_of_first(self, a: i64, count: usize) -> (Row, u64) {
        let (row, scale) = row(self.second[..count.div_ceil(2)].iter().map(move |&b| (b, a)), None);
        // y is below two moduli; what takes off multiples of M′ is as much at most.
        let sum = 8 * row.of_sums.iter().sum::<u64>();
        assert!((modulus(K_MAX) * sum).bits() <= WORD_BITS, "a sum has a word");
        (row, scale)
    }

    /// Constants of T + ρ·k in the first base.
    pub(super) fn of_first(self, k: i64) -> First {
        self.of_first_from(k, self.second_count())
    }

    /// The same where extensions are from the first `count` moduli of the second base.
    pub(super) fn of_first_from(self, k: i64, count: usize) -> First {
        // y has a sign, with which a positive coefficient is minus the product of the differences, over one of them.
        let differences: BigInt = self.second_of(count).into_iter().map(|b| BigInt::from(b - k)).product();
        let (_, scale) = self.scaled_row_of_first(k.abs(), count);
        let of_sum = -power_of_step(count - 1) * differences * inverse(&BigInt::from(scale), k);
        First { bases: self, k, of_sum }
    }

    /// Constants of T + ρ·k in the second base.
    pub(super) fn of_second(self, k: i64) -> Second {
        self.of_second_in(k, self.second_count())
    }

    /// The same in the base of its first `count` moduli.
    pub(super) fn of_second_in(self, k: i64, count: usize) -> Second {
        let product: BigUint = self.all_first().into_iter().map(modulus).product();
        let of_first = inverse(&BigInt::from(product), k);
        Second { bases: self, k, others: self.others(k, count), of_first }
    }

    /// M′ over a modulus, with the sign that y has: positive coefficients are all that extensions have then.
    fn others(self, k: i64, count: usize) -> BigInt {
        let others = self.second_of(count).into_iter().filter(|&b| b != k);
        let others: BigInt = others.map(|b| BigInt::from(modulus(b))).product();
        if k > 0 { -others } else { others }
    }
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
    bases: Bases,
    k: i64,
    /// x over the sum of its row, modulo this modulus.
    of_sum: BigInt,
}

impl First {
    /// The factor of σ = S²·n⁻¹·this, for the sum S that x is made of: −n⁻¹ is a factor of the quotient, and 1/Mᵢ one of σ.
    pub(super) fn of_squares(&self) -> BigUint {
        let all = self.bases.all_first().into_iter();
        let others: BigInt = all.filter(|&a| a != self.k).map(|a| BigInt::from(modulus(a))).product();
        residue(&-(&self.of_sum * &self.of_sum * inverse(&others, self.k)), self.k)
    }

    /// S of x = 1.
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
    bases: Bases,
    k: i64,
    /// M′ over this modulus, with a sign.
    others: BigInt,
    /// M⁻¹.
    of_first: BigInt,
}

impl Second {
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
        let all = self.bases.all_first();
        let differences: BigInt = all.iter().map(|a| BigInt::from(a - self.k)).product();
        let (_, scale) = self.bases.scaled_row_of_second(self.k.abs());
        let of_sum = power_of_step(all.len() - 1) * differences * -self.k.signum();
        let of_sum = of_sum * inverse(&BigInt::from(scale), self.k);
        residue(&(of_sum * &self.of_first * BigInt::from(self.one())), self.k)
    }

    /// Factor from y of x to y of x/T in the base of the first `count` moduli.
    pub(super) fn over_t(&self, count: usize) -> BigUint {
        residue(&(&self.others * BigInt::from(self.minus_one_over_t(count)) * -1), self.k)
    }

    /// y of −1/T in that base.
    pub(super) fn minus_one_over_t(&self, count: usize) -> BigUint {
        residue(&-inverse(&(self.bases.others(self.k, count) << BITS), self.k), self.k)
    }
}
