//! Facts of a proof: variables with ranges, their meaning, and numbers with a range beside that of their limbs.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::polynomial::{Polynomial, Variable, Wide};
use crate::line::ROW_LIMB_BITS;

/// A polynomial that stands for integers from `low` to `high`.
#[derive(Clone, PartialEq, Eq)]
pub struct Value {
    pub polynomial: Polynomial,
    pub low: i128,
    pub high: i128,
}

/// Meaning of a variable.
#[derive(Clone)]
pub enum Meaning {
    /// Any integer of its range.
    Given,
    /// The same as the polynomial, under a shorter name.
    Name(Polynomial),
    /// ⌊of/2ᵇ⌋. If `rest` is known, 2ᵇ times it is `of` − `rest`.
    Quotient { of: Polynomial, bits: u32, rest: Option<Polynomial> },
}

struct Known {
    low: i128,
    high: i128,
    meaning: Meaning,
}

/// A number Σ limbᵢ·2^(52i) from `low` to `high`.
pub struct Number {
    pub limbs: Vec<Polynomial>,
    pub low: BigInt,
    pub high: BigInt,
}

/// All of it.
#[derive(Default)]
pub struct Facts {
    variables: Vec<Known>,
    /// Low bits and the parts above them, as found before.
    pub splits: HashMap<(Polynomial, u32), (Value, Value)>,
    pub names: HashMap<Polynomial, Variable>,
    numbers: Vec<Number>,
    /// n and m with n·m ≡ −1 mod 2⁵².
    pub negative_inverses: Vec<(Variable, Variable)>,
}

impl Facts {
    /// A variable for any integer from `low` to `high`.
    pub fn given(&mut self, low: i128, high: i128) -> Value {
        let variable = self.variable(low, high, Meaning::Given);
        Value { polynomial: Polynomial::of(variable), low, high }
    }

    /// States that n·m ≡ −1 mod 2⁵², for two variables.
    pub fn state_negative_inverse(&mut self, n: &Value, m: &Value) {
        let variable = |value: &Value| value.polynomial.as_variable().expect("a variable");
        self.negative_inverses.push((variable(n), variable(m)));
    }

    /// States the range of a number.
    pub fn state_number(&mut self, number: Number) {
        self.numbers.push(number);
    }

    /// The value of a polynomial, its range not above that given nor, if it has few terms, that of these.
    pub fn value(&self, polynomial: Polynomial, low: i128, high: i128) -> Value {
        if low > i128::MIN && polynomial.terms().nth(2).is_some() {
            return Value { polynomial, low, high };
        }
        let (least, most) = self.range(&polynomial);
        Value { polynomial, low: low.max(least), high: high.min(most) }
    }

    /// The range of a polynomial, term by term: everything, where a term is beyond counting.
    pub fn range(&self, polynomial: &Polynomial) -> (i128, i128) {
        let times = |range: (i128, i128), variable: Variable| {
            let known = &self.variables[usize::from(variable.0)];
            let mut ends = [(0, 0), (0, 1), (1, 0), (1, 1)]
                .into_iter()
                .map(|(x, y)| [range.0, range.1][x].checked_mul([known.low, known.high][y]));
            ends.try_fold((i128::MAX, i128::MIN), |(low, high), end| end.map(|end| (low.min(end), high.max(end))))
        };
        let sum = polynomial.terms().try_fold((0i128, 0i128), |sum, (monomial, coefficient)| {
            let part = monomial.variables().try_fold((coefficient, coefficient), times)?;
            Some((sum.0.checked_add(part.0)?, sum.1.checked_add(part.1)?))
        });
        sum.unwrap_or((i128::MIN, i128::MAX))
    }

    /// Meaning of the variable.
    pub fn meaning(&self, variable: Variable) -> &Meaning {
        &self.variables[usize::from(variable.0)].meaning
    }

    /// All variables, in order: each is defined by earlier ones.
    pub fn variables(&self) -> impl Iterator<Item = (Variable, &Meaning, i128, i128)> {
        let known = self.variables.iter().enumerate();
        known.map(|(number, known)| (Variable(number as u16), &known.meaning, known.low, known.high))
    }

    /// The numbers whose ranges are stated.
    pub fn numbers(&self) -> &[Number] {
        &self.numbers
    }

    /// The same value, its range not above that of the top limb of a number.
    pub fn refined(&self, value: Value) -> Value {
        match self.range_of_limb(&value.polynomial) {
            Some((low, high)) => Value { low: low.max(value.low), high: high.min(value.high), ..value },
            None => value,
        }
    }

    /// The U for which the polynomial is U·M by all that is known, if there is one: names that stand only with
    /// multiples of M are its digits, other names are written out, and quotients are replaced by their remainders.
    pub fn quotient_by(&self, mut polynomial: Wide, m: &Wide) -> Option<Wide> {
        let mut quotient = Wide::default();
        let mut last = None;
        while let Some(variable) = polynomial.last_variable_below(last) {
            last = Some(variable);
            loop {
                let mut part = polynomial.coefficient_of(variable);
                let meaning = self.meaning(variable);
                if let (Meaning::Name(_), Some(multiple)) = (meaning, part.multiple_of(m)) {
                    quotient.add(&Polynomial::of(variable), &multiple);
                    polynomial.without(variable);
                    break;
                }
                let replaced = match meaning {
                    _ if part.is_zero() => break,
                    Meaning::Name(same) => same.clone(),
                    Meaning::Quotient { of, bits, rest: Some(rest) } => {
                        part = part.divided_by(&(BigInt::from(1) << *bits))?;
                        of.plus(rest, -1)
                    }
                    _ => break,
                };
                polynomial.without(variable);
                polynomial.add_wide(&part.times(&Wide::of_limbs([&replaced]))?, &BigInt::from(1));
            }
        }
        polynomial.is_zero().then_some(quotient)
    }

    /// The range of a polynomial, term by term.
    pub fn wide_range(&self, polynomial: &Wide) -> (BigInt, BigInt) {
        polynomial.terms().fold((BigInt::ZERO, BigInt::ZERO), |sum, (monomial, coefficient)| {
            let part = monomial.variables().fold((coefficient.clone(), coefficient.clone()), |range, variable| {
                let known = &self.variables[usize::from(variable.0)];
                let ends = [&range.0 * known.low, &range.0 * known.high, &range.1 * known.low, &range.1 * known.high];
                (ends.iter().min().expect("four ends").clone(), ends.into_iter().max().expect("four ends"))
            });
            (sum.0 + part.0, sum.1 + part.1)
        })
    }

    /// Part above the low `bits` bits of a polynomial, if it was split there before.
    pub fn above(&self, polynomial: &Polynomial, bits: u32) -> Option<Polynomial> {
        self.splits.get(&(polynomial.clone(), bits)).map(|(_, quotient)| quotient.polynomial.clone())
    }

    /// A new variable.
    pub fn variable(&mut self, low: i128, high: i128, meaning: Meaning) -> Variable {
        let number = u16::try_from(self.variables.len()).expect("proofs have fewer variables");
        self.variables.push(Known { low, high, meaning });
        Variable(number)
    }

    /// The range of the top limb of a number, after the limbs below were carried one after the other or all at a time.
    fn range_of_limb(&self, limb: &Polynomial) -> Option<(i128, i128)> {
        self.numbers.iter().find_map(|number| {
            let (top, below) = number.limbs.split_last().expect("numbers have limbs");
            let (leading, k) = top.terms().next()?;
            if limb.coefficient(leading) != k {
                return None;
            }
            let range_below = match self.carried_in_order(top, below, limb) {
                true => [BigInt::ZERO, radix(below.len()) - 1],
                false => self.carried_at_a_time(top, below, limb)?,
            };
            Some(self.range_of_top(number, range_below))
        })
    }

    /// Part above the low 52 bits, if it is known.
    fn carry(&self, polynomial: &Polynomial) -> Option<Value> {
        let bits = ROW_LIMB_BITS as u32;
        if let Some((_, quotient)) = self.splits.get(&(polynomial.clone(), bits)) {
            return Some(quotient.clone());
        }
        let (low, high) = self.range(polynomial);
        (low >= 0 && high < 1 << bits).then(|| Value { polynomial: Polynomial::default(), low: 0, high: 0 })
    }

    /// True if it is the top limb plus the carries of the limbs below, one after the other: these are then in [0, 2⁵²).
    fn carried_in_order(&self, top: &Polynomial, below: &[Polynomial], limb: &Polynomial) -> bool {
        let carry = below
            .iter()
            .try_fold(Polynomial::default(), |carry, limb| Some(self.carry(&limb.plus(&carry, 1))?.polynomial));
        carry.is_some_and(|carry| top.plus(&carry, 1) == *limb)
    }

    /// Range of the number of the limbs below, if it is the top limb plus the carry of the one below: every limb below
    /// then has its low 52 bits and the carry of the one below it.
    fn carried_at_a_time(&self, top: &Polynomial, below: &[Polynomial], limb: &Polynomial) -> Option<[BigInt; 2]> {
        let carries: Vec<Value> = below.iter().map(|limb| self.carry(limb)).collect::<Option<_>>()?;
        if top.plus(&carries.last()?.polynomial, 1) != *limb {
            return None;
        }
        let mut range = [BigInt::ZERO, radix(below.len()) - 1];
        for (i, carry) in carries[..carries.len() - 1].iter().enumerate() {
            range[0] += radix(i + 1) * carry.low;
            range[1] += radix(i + 1) * carry.high;
        }
        Some(range)
    }

    /// The range of the top limb, where the limbs below are a number of the range given.
    fn range_of_top(&self, number: &Number, [low, high]: [BigInt; 2]) -> (i128, i128) {
        let bits = ROW_LIMB_BITS * (number.limbs.len() - 1);
        let (least, most) = (-((high - &number.low) >> bits), (&number.high - low) >> bits);
        (i128::try_from(least).expect("limbs are small"), i128::try_from(most).expect("limbs are small"))
    }
}

/// 2^(52·limbs).
pub fn radix(limbs: usize) -> BigInt {
    BigInt::from(1) << (ROW_LIMB_BITS * limbs)
}
