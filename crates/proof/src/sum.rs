//! Sums modulo p: multiples of atoms, by ascending atom, none of them zero. Equal sums have equal lists.

use ruint::aliases::U256;
use ruint::{Uint, UintTryFrom};
use std::cmp::Ordering;
use std::fmt;

/// A number modulo p: p has at most 768 bits, as the modulus of a context.
pub type Number = Uint<768, 12>;

/// A number as a word, if it is one.
pub fn word(number: Number) -> Option<U256> {
    U256::uint_try_from(number).ok()
}

/// True of a modulus that is no word.
pub fn is_wide(p: Number) -> bool {
    p.bit_len() > U256::BITS
}

/// A number that sums do not take apart: the number 1, a parsed element, a product or a value with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(pub u32);

impl Atom {
    /// The number 1: constants are multiples of it.
    pub const ONE: Self = Self(0);

    /// The atom of a value of the program.
    pub const fn of(value: residue_ir::Value) -> Self {
        Self(value.0 + 1)
    }

    /// The value of the program; `None` for the number 1.
    pub fn value(self) -> Option<residue_ir::Value> {
        self.0.checked_sub(1).map(residue_ir::Value)
    }
}

/// As in the text of programs.
impl fmt::Display for Atom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Some(value) => write!(formatter, "v{}", value.0),
            None => formatter.write_str("1"),
        }
    }
}

/// A sum; multiples are between 0 and p exclusive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Sum(Vec<(Atom, Number)>);

impl Sum {
    /// The atom itself.
    pub fn atom(atom: Atom) -> Self {
        Self(vec![(atom, Number::ONE)])
    }

    /// −1 times the atom.
    pub fn minus(atom: Atom, p: Number) -> Self {
        Self(vec![(atom, p - Number::ONE)])
    }

    /// The constant `number` mod p.
    pub fn constant(number: Number, p: Number) -> Self {
        let rest = number % p;
        Self(if rest.is_zero() { Vec::new() } else { vec![(Atom::ONE, rest)] })
    }

    /// The number, if it is a constant.
    pub fn as_constant(&self) -> Option<Number> {
        match self.0[..] {
            [] => Some(Number::ZERO),
            [(Atom::ONE, number)] => Some(number),
            _ => None,
        }
    }

    /// Atoms with their multiples.
    pub fn terms(&self) -> &[(Atom, Number)] {
        &self.0
    }

    /// x + y.
    pub fn plus(&self, other: &Self, p: Number) -> Self {
        let (mut x, mut y) = (&self.0[..], &other.0[..]);
        let mut terms = Vec::with_capacity(x.len() + y.len());
        while let (Some(&(i, c)), Some(&(j, d))) = (x.first(), y.first()) {
            match i.cmp(&j) {
                Ordering::Less => terms.push((i, c)),
                Ordering::Greater => terms.push((j, d)),
                Ordering::Equal => {
                    let both = c.add_mod(d, p);
                    terms.extend((!both.is_zero()).then_some((i, both)));
                }
            }
            x = &x[usize::from(i <= j)..];
            y = &y[usize::from(j <= i)..];
        }
        terms.extend(x);
        terms.extend(y);
        Self(terms)
    }

    /// −x.
    pub fn negated(&self, p: Number) -> Self {
        Self(self.0.iter().map(|&(atom, c)| (atom, p - c)).collect())
    }

    /// k·x. A zero divisor may make a multiple zero where p is no prime: such terms go.
    pub fn times(&self, k: Number, p: Number) -> Self {
        let scaled = self.0.iter().map(|&(atom, c)| (atom, c.mul_mod(k, p)));
        Self(scaled.filter(|(_, c)| !c.is_zero()).collect())
    }
}

/// At most four terms, for messages.
impl fmt::Display for Sum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_MAX: usize = 4;
        if self.0.is_empty() {
            return formatter.write_str("0");
        }
        for (place, (atom, c)) in self.0.iter().take(SHOWN_MAX).enumerate() {
            let plus = if place == 0 { "" } else { " + " };
            match *atom {
                Atom::ONE => write!(formatter, "{plus}{c:#x}")?,
                _ if *c == Number::ONE => write!(formatter, "{plus}{atom}")?,
                _ => write!(formatter, "{plus}{c:#x}·{atom}")?,
            }
        }
        match self.0.len() {
            ..=SHOWN_MAX => Ok(()),
            count => write!(formatter, " + {} more", count - SHOWN_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sums_have_equal_lists() {
        let p = Number::from(7);
        let [a, b] = [3, 5].map(|atom| Sum::atom(Atom(atom)));
        let one = Sum::constant(Number::from(8), p);
        let sum = a.plus(&b, p).plus(&one, p);
        assert_eq!(sum, one.plus(&b, p).plus(&a, p));
        assert_eq!(sum.plus(&sum.negated(p), p), Sum::default());
        assert_eq!(sum.times(Number::from(6), p), sum.negated(p));
        assert_eq!(sum.to_string(), "0x1 + v2 + v4");
        assert_eq!((one.as_constant(), a.as_constant()), (Some(Number::ONE), None));
        assert_eq!(Sum::constant(Number::from(14), p).as_constant(), Some(Number::ZERO));
        assert_eq!(a.plus(&Sum::minus(Atom(3), p), p), Sum::default());
    }
}
