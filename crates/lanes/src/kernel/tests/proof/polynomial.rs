//! Polynomials over variables: with coefficients of a machine word's size for the contents of lanes, of any size for
//! the contents of rows.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use crate::line::ROW_LIMB_BITS;

/// A variable, by its number; the proof knows the rest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub u16);

/// A product of up to four variables: their numbers, each plus one, the greatest first, 16 bits each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monomial(u64);

impl Monomial {
    /// The empty product.
    pub const ONE: Self = Self(0);

    /// One variable.
    pub fn of(variable: Variable) -> Self {
        Self((u64::from(variable.0) + 1) << 48)
    }

    /// Its variables, the greatest first.
    pub fn variables(self) -> impl DoubleEndedIterator<Item = Variable> {
        let numbers = [48, 32, 16, 0].map(|shift| (self.0 >> shift) as u16); // 16 bits of 64.
        numbers.into_iter().filter(|number| *number > 0).map(|number| Variable(number - 1))
    }

    /// The product of both, if it has at most four variables.
    pub fn times(self, other: Self) -> Option<Self> {
        let mut numbers: Vec<u64> =
            self.variables().chain(other.variables()).map(|variable| u64::from(variable.0) + 1).collect();
        numbers.sort_unstable_by(|x, y| y.cmp(x));
        let is_small = numbers.len() <= 4;
        numbers.resize(4, 0);
        is_small.then(|| Self(numbers.iter().fold(0, |monomial, number| monomial << 16 | number)))
    }

    /// Without one factor, if it has it.
    pub fn divided_by(self, variable: Variable) -> Option<Self> {
        let mut is_found = false;
        let mut rest = 0;
        for factor in self.variables() {
            if factor == variable && !is_found {
                is_found = true;
            } else {
                rest = rest << 16 | (u64::from(factor.0) + 1);
            }
        }
        // What is left stands at the top again.
        is_found.then(|| Self(if rest == 0 { 0 } else { rest << (rest.leading_zeros() / 16 * 16) }))
    }
}

/// A polynomial: terms in order, none of them zero.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Polynomial(Vec<(Monomial, i128)>);

impl Polynomial {
    /// A number.
    pub fn constant(number: i128) -> Self {
        Self::term(Monomial::ONE, number)
    }

    /// A variable.
    pub fn of(variable: Variable) -> Self {
        Self::term(Monomial::of(variable), 1)
    }

    /// One term.
    pub fn term(monomial: Monomial, coefficient: i128) -> Self {
        Self(if coefficient == 0 { Vec::new() } else { vec![(monomial, coefficient)] })
    }

    /// Its terms.
    pub fn terms(&self) -> impl Iterator<Item = (Monomial, i128)> {
        self.0.iter().copied()
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Its value, if it is a number.
    pub fn as_constant(&self) -> Option<i128> {
        match *self.0 {
            [] => Some(0),
            [(Monomial::ONE, number)] => Some(number),
            _ => None,
        }
    }

    /// The variable, if it is one and nothing else.
    pub fn as_variable(&self) -> Option<Variable> {
        match *self.0 {
            [(monomial, 1)] if monomial.variables().count() == 1 => monomial.variables().next(),
            _ => None,
        }
    }

    /// The coefficient of a monomial.
    pub fn coefficient(&self, monomial: Monomial) -> i128 {
        self.0.binary_search_by_key(&monomial, |term| term.0).map_or(0, |at| self.0[at].1)
    }

    /// self + k·other.
    pub fn plus(&self, other: &Self, k: i128) -> Self {
        let mut out = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let from_left = match (left.peek(), right.peek()) {
                (None, None) => return Self(out),
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let sum = x.1 + k * y.1;
                    if sum != 0 {
                        out.push((x.0, sum));
                    }
                    left.next();
                    right.next();
                    continue;
                }
                (Some(x), Some(y)) => x.0 < y.0,
                (x, _) => x.is_some(),
            };
            if from_left {
                out.extend(left.next());
            } else {
                out.extend(right.next().map(|(monomial, coefficient)| (*monomial, k * coefficient)));
            }
        }
    }

    /// self·other.
    pub fn times(&self, other: &Self) -> Self {
        other.terms().fold(Self::default(), |sum, (monomial, coefficient)| {
            let term = |(factor, k): (Monomial, i128)| (factor.times(monomial).expect("few factors"), k * coefficient);
            let mut part: Vec<_> = self.terms().map(term).collect();
            part.sort_unstable_by_key(|term| term.0);
            sum.plus(&Self(part), 1)
        })
    }

    /// Every coefficient as `map` has it; terms that become zero go.
    pub fn map(&self, map: impl Fn(i128) -> i128) -> Self {
        let terms = self.terms().map(|(monomial, coefficient)| (monomial, map(coefficient)));
        Self(terms.filter(|term| term.1 != 0).collect())
    }
}

/// A polynomial with coefficients of any size.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Wide(BTreeMap<Monomial, BigInt>);

impl Wide {
    /// Σ digitᵢ·2^(bits·i).
    pub fn of_digits<'a>(digits: impl IntoIterator<Item = &'a Polynomial>, bits: usize) -> Self {
        let mut sum = Self::default();
        for (i, digit) in digits.into_iter().enumerate() {
            sum.add(digit, &(BigInt::from(1) << (bits * i)));
        }
        sum
    }

    /// Σ limbᵢ·2^(52i).
    pub fn of_limbs<'a>(limbs: impl IntoIterator<Item = &'a Polynomial>) -> Self {
        Self::of_digits(limbs, ROW_LIMB_BITS)
    }

    /// self += k·other.
    pub fn add(&mut self, other: &Polynomial, k: &BigInt) {
        for (monomial, coefficient) in other.terms() {
            self.add_term(monomial, k * coefficient);
        }
    }

    /// self += k·other.
    pub fn add_wide(&mut self, other: &Self, k: &BigInt) {
        for (monomial, coefficient) in &other.0 {
            self.add_term(*monomial, k * coefficient);
        }
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: BigInt) {
        let sum = self.0.entry(monomial).or_default();
        *sum += coefficient;
        if *sum == BigInt::ZERO {
            self.0.remove(&monomial);
        }
    }

    /// A number.
    pub fn constant(number: BigInt) -> Self {
        let mut constant = Self::default();
        constant.add_term(Monomial::ONE, number);
        constant
    }

    /// self·other, if no term has more than four variables.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (x, x_coefficient) in &self.0 {
            for (y, y_coefficient) in &other.0 {
                product.add_term(x.times(*y)?, x_coefficient * y_coefficient);
            }
        }
        Some(product)
    }

    /// The polynomial that the variable is multiplied by; the variable must not be squared.
    pub fn coefficient_of(&self, variable: Variable) -> Self {
        let terms = self.0.iter().filter_map(|(monomial, k)| Some((monomial.divided_by(variable)?, k.clone())));
        Self(terms.collect())
    }

    /// Takes the terms with a variable out: those of degree one, divided by it.
    pub fn without(&mut self, variable: Variable) -> Self {
        let part = self.coefficient_of(variable);
        self.0.retain(|monomial, _| monomial.divided_by(variable).is_none());
        part
    }

    /// Every coefficient divided, or none if one cannot be.
    pub fn divided_by(&self, divisor: &BigInt) -> Option<Self> {
        let terms = self.0.iter().map(|(monomial, k)| (k % divisor == BigInt::ZERO).then(|| (*monomial, k / divisor)));
        terms.collect::<Option<_>>().map(Self)
    }

    /// The greatest variable in it, below another one if that is given.
    pub fn last_variable_below(&self, other: Option<Variable>) -> Option<Variable> {
        let variables = self.0.keys().flat_map(|monomial| monomial.variables());
        variables.filter(|variable| other.is_none_or(|other| *variable < other)).max()
    }

    /// k, if it is k·other.
    pub fn multiple_of(&self, other: &Self) -> Option<BigInt> {
        let (monomial, coefficient) = other.0.first_key_value()?;
        let k = self.0.get(monomial)? / coefficient;
        let mut rest = self.clone();
        rest.add_wide(other, &-&k);
        rest.is_zero().then_some(k)
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Its terms.
    pub fn terms(&self) -> impl Iterator<Item = (Monomial, &BigInt)> {
        self.0.iter().map(|(monomial, coefficient)| (*monomial, coefficient))
    }
}
