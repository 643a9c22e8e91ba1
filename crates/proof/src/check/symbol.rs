//! Words of which something is known for all calldata, and conditions on calldata.

use super::{Step, refuse};
use crate::sum::{Atom, Number, Sum, word};
use crate::words::Part;
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;
use std::sync::Arc;

/// Parts of a condition: without a limit a short code could ask for more than any machine does.
const PARTS_MAX: u16 = 256;
/// Bits of a limb.
const LIMB_BITS: usize = 64;

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
    Or(Arc<[Atom]>, u16),
    /// The OR of parts of the element that a sum is: for each number the 256 bits of it above so many lowest ones.
    Part(Arc<Sum>, Arc<[u16]>),
}

/// A condition on calldata. Composed ones know how many parts they have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    /// Calldata has so many bytes.
    SizeIs(U256),
    /// A parsed number is not below p.
    NotBelow(Atom),
    /// A parsed number has more than so many bits.
    Above(Atom, u16),
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
    pub(crate) fn decide(&self, condition: &Condition, p: Number) -> Option<bool> {
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
            // A number below p has no more bits than p.
            Condition::Above(atom, bits) => self.said(condition, p).or_else(|| {
                let is_below = self.is_known(&Condition::NotBelow(*atom)) == Some(false);
                (is_below && (p - Number::ONE).bit_len() <= usize::from(*bits)).then_some(false)
            }),
            _ => self.said(condition, p).or_else(|| self.other_form(condition).and_then(|other| self.said(&other, p))),
        }
    }

    fn said(&self, condition: &Condition, p: Number) -> Option<bool> {
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
                [(atom, factor)] if factor == Number::ONE => (atom, Condition::Nothing([atom].into())),
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
    pub(crate) fn unknown(&self, condition: &Condition, p: Number) -> Condition {
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
pub(crate) fn is_same(one: &Condition, other: &Condition, p: Number) -> bool {
    match (one, other) {
        (Condition::Zero(x), Condition::Zero(y)) => x == y || x.negated(p) == **y,
        (Condition::Nothing(x), Condition::Nothing(y)) => {
            x.iter().all(|atom| y.contains(atom)) && y.iter().all(|atom| x.contains(atom))
        }
        _ => one == other,
    }
}

/// True of a word that is below p.
pub(crate) fn is_below(number: U256, p: Number) -> bool {
    Number::from(number) < p
}

/// p − 1, or the greatest word where that is none.
pub(crate) fn greatest(p: Number) -> U256 {
    word(p - Number::ONE).unwrap_or(U256::MAX)
}

/// None of these numbers has more than so many bits.
fn none_above(parses: &[Atom], bits: u16) -> Step<Condition> {
    let mut all: Option<Condition> = None;
    for &atom in parses.iter().rev() {
        let has_not = Condition::Above(atom, bits).negated()?;
        all = Some(match all {
            Some(rest) => has_not.and(rest)?,
            None => has_not,
        });
    }
    Ok(all.unwrap_or_else(|| Condition::Nothing([].into())))
}

/// True if the parts of an element are all that it has.
fn covers(parts: &[u16], p: Number) -> bool {
    let limbs = p.bit_len().div_ceil(LIMB_BITS);
    (0..limbs).map(|limb| limb * LIMB_BITS).all(|low| {
        let has_it = |&part: &u16| usize::from(part) <= low && low + LIMB_BITS <= usize::from(part) + U256::BITS;
        parts.iter().any(has_it)
    })
}

impl Symbol {
    pub(crate) fn number(number: U256, p: Number) -> Self {
        Self::Sum { sum: Arc::new(Sum::constant(Number::from(number), p)), least: number, most: number }
    }

    /// A value of the program, which is a word where p is one.
    pub(crate) fn element(atom: Atom, p: Number) -> Self {
        Self::Sum { sum: Arc::new(Sum::atom(atom)), least: U256::ZERO, most: greatest(p) }
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
            Self::Part(..) => None,
        }
    }

    /// The parsed numbers that it is the OR of, without so many lowest bits.
    pub(crate) fn parses(&self) -> Step<(Arc<[Atom]>, u16)> {
        match self {
            Self::Parsed(atom) => Ok(([*atom].into(), 0)),
            Self::Or(parses, bits) => Ok((Arc::clone(parses), *bits)),
            other => refuse(format!("a parsed number is expected, found {}", other.shown())),
        }
    }

    /// The condition that it is 0.
    pub(crate) fn is_zero(&self, p: Number) -> Step<Condition> {
        match self {
            Self::Truth(condition) => condition.clone().negated(),
            Self::Sum { sum, most, .. } if is_below(*most, p) => Ok(Condition::Zero(Arc::clone(sum))),
            Self::Parsed(atom) => Ok(Condition::Nothing([*atom].into())),
            Self::Or(parses, 0) => Ok(Condition::Nothing(Arc::clone(parses))),
            Self::Or(parses, bits) => none_above(parses, *bits),
            Self::Size => Ok(Condition::SizeIs(U256::ZERO)),
            Self::Part(sum, parts) if covers(parts, p) => Ok(Condition::Zero(Arc::clone(sum))),
            Self::Sum { .. } | Self::Part(..) => refuse(format!("it is not known when {} is 0", self.shown())),
        }
    }

    /// A comparison, or bits, of two words.
    pub(crate) fn combined(byte: u8, x: &Self, y: &Self, p: Number) -> Step<Self> {
        let is_nothing = |word: &Self| word.exact().is_ok_and(|number| number.is_zero());
        Ok(Self::Truth(match (byte, x, y) {
            (op::AND, Self::Truth(a), Self::Truth(b)) => a.clone().and(b.clone())?,
            (op::OR, Self::Truth(a), Self::Truth(b)) => a.clone().negated()?.and(b.clone().negated()?)?.negated()?,
            (op::LT, Self::Truth(a), Self::Truth(b)) => a.clone().negated()?.and(b.clone())?,
            (op::GT, Self::Truth(a), Self::Truth(b)) => a.clone().and(b.clone().negated()?)?,
            (op::GT, Self::Parsed(atom), _) => match y.exact()? {
                bound if Number::from(bound) == p - Number::ONE => Condition::NotBelow(*atom),
                bound => return refuse(format!("{atom} is to be compared with p − 1, and is with {bound:#x}")),
            },
            (op::OR, Self::Part(sum, a), Self::Part(other, b)) if sum == other => {
                return Ok(Self::Part(Arc::clone(sum), a.iter().chain(&**b).copied().collect()));
            }
            (op::OR, ..) => match (x.parses()?, y.parses()?) {
                ((a, n), (b, m)) if n == m => return Ok(Self::Or(a.iter().chain(&*b).copied().collect(), n)),
                _ => return refuse("a parsed number is expected, found bits of several numbers"),
            },
            (op::EQ, Self::Size, other) | (op::EQ, other, Self::Size) => Condition::SizeIs(other.exact()?),
            (op::SHR, ..) => {
                let bits = u8::try_from(x.exact()?).or_else(|_| refuse("a shift by less than 256 bits is expected"))?;
                let (parses, before) = y.parses()?;
                let all = before.checked_add(u16::from(bits)).ok_or("shifts by less than 2¹⁶ bits are expected")?;
                return Ok(Self::Or(parses, all));
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
    pub(crate) fn equal(&self, other: &Self, p: Number) -> Option<Self> {
        match (self, other) {
            (Self::Sum { sum: x, most: a, .. }, Self::Sum { sum: y, most: b, .. })
                if is_below(*a, p) && is_below(*b, p) =>
            {
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
            Self::Part(sum, _) => format!("a part of ({sum})"),
        }
    }
}
