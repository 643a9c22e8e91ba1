//! Words of which something is known for all calldata, and conditions on calldata.

use super::{Step, refuse};
use crate::sum::{Atom, Sum};
use crate::words::Part;
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;
use std::sync::Arc;

/// Parts of a condition: without a limit a short code could ask for more than any machine does.
const PARTS_MAX: u16 = 256;

/// A word of which something is known for all calldata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// Between two numbers, and this sum modulo p.
    Sum { sum: Arc<Sum>, least: U256, most: U256 },
    /// The number that is parsed, below p or not.
    Parsed(Atom),
    /// Bytes of calldata.
    Size,
    /// 1 where the condition holds, else 0.
    Truth(Condition),
    /// The OR of numbers that are parsed, without so many lowest bits.
    Or(Arc<[Atom]>, u8),
}

/// A condition on calldata. Composed ones know how many parts they have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    /// Calldata has so many bytes.
    SizeIs(U256),
    /// A parsed number is not below p.
    NotBelow(Atom),
    /// A parsed number has more than so many bits.
    Above(Atom, u8),
    /// The sum is 0 modulo p.
    Zero(Arc<Sum>),
    /// All of these parsed numbers are 0.
    Nothing(Arc<[Atom]>),
    /// It does not hold.
    Not(Arc<Condition>, u16),
    /// Both hold.
    Both(Arc<Condition>, Arc<Condition>, u16),
}

impl Condition {
    const fn parts(&self) -> u16 {
        match self {
            Self::Not(_, parts) | Self::Both(_, _, parts) => *parts,
            _ => 1,
        }
    }

    /// Numbers that are compared where it is looked for.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Not(inner, _) => inner.size(),
            Self::Both(one, other, _) => one.size() + other.size(),
            Self::Zero(sum) => sum.terms().len() + 1,
            Self::Nothing(parses) => parses.len(),
            Self::SizeIs(_) | Self::NotBelow(_) | Self::Above(..) => 1,
        }
    }

    /// It does not hold.
    pub(crate) fn negated(self) -> Step<Self> {
        let parts = composed(self.parts() + 1)?;
        Ok(Self::Not(Arc::new(self), parts))
    }

    /// Both hold.
    pub(crate) fn and(self, other: Self) -> Step<Self> {
        let parts = composed(self.parts() + other.parts() + 1)?;
        Ok(Self::Both(Arc::new(self), Arc::new(other), parts))
    }
}

/// So many parts, if a condition may have them.
fn composed(parts: u16) -> Step<u16> {
    if parts <= PARTS_MAX { Ok(parts) } else { refuse(format!("a condition has more than {PARTS_MAX} parts")) }
}

/// Conditions of which it is known whether they hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts(pub(crate) Vec<(Condition, bool)>);

impl Facts {
    /// True if the condition holds, false if it does not; `None` where the facts do not say.
    pub(crate) fn decide(&self, condition: &Condition, p: U256) -> Option<bool> {
        match condition {
            Condition::Not(inner, _) => self.decide(inner, p).map(|holds| !holds),
            Condition::Both(one, other, _) => match (self.decide(one, p), self.decide(other, p)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Zero(sum) if sum.as_constant().is_some() => {
                sum.as_constant().map(|number| (number % p).is_zero())
            }
            _ => self.said(condition, p).or_else(|| self.other_form(condition).and_then(|other| self.said(&other, p))),
        }
    }

    fn said(&self, condition: &Condition, p: U256) -> Option<bool> {
        self.0.iter().find(|(known, _)| is_same(condition, known, p)).map(|&(_, holds)| holds)
    }

    /// A parsed number that is below the modulus is 0 as an element where its bits are.
    fn other_form(&self, condition: &Condition) -> Option<Condition> {
        let (atom, other) = match condition {
            Condition::Nothing(parses) => match **parses {
                [atom] => (atom, Condition::Zero(Arc::new(Sum::atom(atom)))),
                _ => return None,
            },
            Condition::Zero(sum) => match *sum.terms() {
                [(atom, factor)] if factor == U256::ONE => (atom, Condition::Nothing([atom].into())),
                _ => return None,
            },
            _ => return None,
        };
        (self.is_known(&Condition::NotBelow(atom)) == Some(false)).then_some(other)
    }

    /// True or false where the facts have the condition itself.
    pub(crate) fn is_known(&self, condition: &Condition) -> Option<bool> {
        self.0.iter().find(|(known, _)| known == condition).map(|&(_, holds)| holds)
    }

    /// A condition of which nothing is known, and on which this one depends.
    pub(crate) fn unknown(&self, condition: &Condition, p: U256) -> Condition {
        match condition {
            Condition::Not(inner, _) => self.unknown(inner, p),
            Condition::Both(one, other, _) => match self.decide(one, p) {
                None => self.unknown(one, p),
                Some(_) => self.unknown(other, p),
            },
            _ => condition.clone(),
        }
    }

    /// The facts, and what is known once a condition holds, or does not.
    pub(crate) fn told(&self, condition: &Condition, holds: bool) -> Self {
        match (condition, holds) {
            (Condition::Not(inner, _), _) => self.told(inner, !holds),
            (Condition::Both(one, other, _), true) => self.told(other, true).told(one, true),
            _ => self.with(condition.clone(), holds),
        }
    }

    /// The facts, and one more.
    pub(crate) fn with(&self, condition: Condition, holds: bool) -> Self {
        let newest = std::iter::once((condition, holds));
        Self(newest.chain(self.0.iter().cloned()).collect())
    }
}

/// True of conditions that hold together.
pub(crate) fn is_same(one: &Condition, other: &Condition, p: U256) -> bool {
    match (one, other) {
        (Condition::Zero(x), Condition::Zero(y)) => x == y || x.negated(p) == **y,
        (Condition::Nothing(x), Condition::Nothing(y)) => {
            x.iter().all(|atom| y.contains(atom)) && y.iter().all(|atom| x.contains(atom))
        }
        _ => one == other,
    }
}

impl Symbol {
    pub(crate) fn number(number: U256, p: U256) -> Self {
        Self::Sum { sum: Arc::new(Sum::constant(number, p)), least: number, most: number }
    }

    /// A value of the program.
    pub(crate) fn element(atom: Atom, p: U256) -> Self {
        Self::Sum { sum: Arc::new(Sum::atom(atom)), least: U256::ZERO, most: p - U256::ONE }
    }

    /// The number, if it is always the same.
    pub(crate) fn exact(&self) -> Step<U256> {
        match self {
            Self::Sum { least, most, .. } if least == most => Ok(*least),
            _ => refuse(format!("a number is expected that calldata has no effect on, found {}", self.shown())),
        }
    }

    /// Its form as an operand of operations on words.
    pub(crate) fn part(&self) -> Option<Part> {
        match self {
            Self::Size => Some(Part::Size),
            Self::Parsed(atom) => Some(Part::Value(*atom)),
            Self::Or(parses, bits) => Some(Part::Bits(Arc::clone(parses), *bits)),
            Self::Sum { .. } | Self::Truth(_) => self.exact().ok().map(Part::Number),
        }
    }

    /// The parsed numbers that it is the OR of.
    pub(crate) fn parses(&self) -> Step<Arc<[Atom]>> {
        match self {
            Self::Parsed(atom) => Ok([*atom].into()),
            Self::Or(parses, 0) => Ok(Arc::clone(parses)),
            other => refuse(format!("a parsed number is expected, found {}", other.shown())),
        }
    }

    /// The condition that it is 0.
    pub(crate) fn is_zero(&self, p: U256) -> Step<Condition> {
        match self {
            Self::Truth(condition) => condition.clone().negated(),
            Self::Sum { sum, most, .. } if *most < p => Ok(Condition::Zero(Arc::clone(sum))),
            Self::Parsed(atom) => Ok(Condition::Nothing([*atom].into())),
            Self::Or(parses, 0) => Ok(Condition::Nothing(Arc::clone(parses))),
            Self::Size => Ok(Condition::SizeIs(U256::ZERO)),
            Self::Sum { .. } | Self::Or(..) => refuse(format!("it is not known when {} is 0", self.shown())),
        }
    }

    /// A comparison, or bits, of two words.
    pub(crate) fn combined(byte: u8, x: &Self, y: &Self, p: U256) -> Step<Self> {
        let is_nothing = |word: &Self| word.exact().is_ok_and(|number| number.is_zero());
        Ok(Self::Truth(match (byte, x, y) {
            (op::AND, Self::Truth(a), Self::Truth(b)) => a.clone().and(b.clone())?,
            (op::OR, Self::Truth(a), Self::Truth(b)) => a.clone().negated()?.and(b.clone().negated()?)?.negated()?,
            (op::LT, Self::Truth(a), Self::Truth(b)) => a.clone().negated()?.and(b.clone())?,
            (op::GT, Self::Truth(a), Self::Truth(b)) => a.clone().and(b.clone().negated()?)?,
            (op::GT, Self::Parsed(atom), _) => match y.exact()? {
                bound if bound == p - U256::ONE => Condition::NotBelow(*atom),
                bound => return refuse(format!("{atom} is to be compared with p − 1, and is with {bound:#x}")),
            },
            (op::OR, ..) => {
                let (a, b) = (x.parses()?, y.parses()?);
                return Ok(Self::Or(a.iter().chain(&*b).copied().collect(), 0));
            }
            (op::EQ, Self::Size, other) | (op::EQ, other, Self::Size) => Condition::SizeIs(other.exact()?),
            (op::SHR, ..) => {
                let bits = u8::try_from(x.exact()?).or_else(|_| refuse("a shift by less than 256 bits is expected"))?;
                return Ok(Self::Or(y.parses()?, bits));
            }
            (op::EQ, ..) if is_nothing(x) => y.is_zero(p)?,
            (op::EQ, ..) if is_nothing(y) => x.is_zero(p)?,
            _ => {
                let (x, y) = (x.shown(), y.shown());
                return refuse(format!("the program has no such comparison of {x} with {y}"));
            }
        }))
    }

    /// Two elements are equal.
    pub(crate) fn equal(&self, other: &Self, p: U256) -> Option<Self> {
        match (self, other) {
            (Self::Sum { sum: x, most: a, .. }, Self::Sum { sum: y, most: b, .. }) if *a < p && *b < p => {
                Some(Self::Truth(Condition::Zero(Arc::new(x.plus(&y.negated(p), p)))))
            }
            _ => None,
        }
    }

    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Sum { sum, .. } => format!("({sum})"),
            Self::Parsed(atom) => format!("{atom} before it is compared with p"),
            Self::Size => "the size of calldata".to_owned(),
            Self::Truth(_) => "a condition".to_owned(),
            Self::Or(..) => "bits of several numbers".to_owned(),
        }
    }
}
