//! The modulus of a block, and the bounds of numbers modulo it.

use num_bigint::BigUint;
use num_traits::One;

/// The modulus that the numbers of a block are below.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Field {
    /// This modulus, of at most 256 bits.
    Known(BigUint),
    /// An odd one of at most 256 bits that memory holds.
    Given,
}

impl Field {
    /// The largest that the modulus may be.
    pub fn most(&self) -> BigUint {
        match self {
            Field::Known(modulus) => modulus.clone(),
            Field::Given => word_max(),
        }
    }
}

/// The least modulus that may be given.
pub const GIVEN_LEAST: u8 = 3;

/// 2²⁵⁶ − 1.
pub fn word_max() -> BigUint {
    (BigUint::one() << 256u32) - 1u8
}
