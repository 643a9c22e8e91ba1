//! The modulus of a program: known when it is written, or given when it runs.

use num_bigint::BigUint;
use num_traits::One;
use std::fmt;

/// m.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Modulus {
    /// This number.
    Known(BigUint),
    /// An odd number above 1 that a subprogram is entered with: see [`crate::Machine::over_given`].
    Given {
        /// Its 64-bit limbs, leading ones of which may be 0.
        limbs: u32,
    },
}

impl Modulus {
    /// Bits of the largest number that it may be.
    pub fn bits(&self) -> u64 {
        match self {
            Self::Known(modulus) => modulus.bits(),
            Self::Given { limbs } => 64 * u64::from(*limbs),
        }
    }

    /// The number, if it is known.
    pub fn known(&self) -> Option<&BigUint> {
        match self {
            Self::Known(modulus) => Some(modulus),
            Self::Given { .. } => None,
        }
    }

    /// The smallest number that it may be: constants are below it.
    pub fn least(&self) -> BigUint {
        self.known().cloned().unwrap_or_else(|| BigUint::from(3u8))
    }

    /// The largest number that it may be.
    pub fn most(&self) -> BigUint {
        self.known().cloned().unwrap_or_else(|| (BigUint::one() << self.bits()) - 1u8)
    }

    /// True if it is odd.
    pub fn is_odd(&self) -> bool {
        self.known().is_none_or(|modulus| modulus.bit(0))
    }

    /// Number of words of an entry that hold it: 0 if it is known.
    pub fn words(&self) -> usize {
        match self {
            Self::Known(_) => 0,
            Self::Given { limbs } => limbs.div_ceil(4) as usize, // u32 to usize widens
        }
    }
}

impl From<BigUint> for Modulus {
    fn from(modulus: BigUint) -> Self {
        Self::Known(modulus)
    }
}

impl PartialEq<BigUint> for Modulus {
    fn eq(&self, other: &BigUint) -> bool {
        self.known() == Some(other)
    }
}

/// As in the text form.
impl fmt::Display for Modulus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(modulus) => write!(formatter, "{modulus:#x}"),
            Self::Given { limbs } => write!(formatter, "given limbs {limbs}"),
        }
    }
}
