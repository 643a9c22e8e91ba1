//! Accounts that code calls: those of the stages of a program in linked form.

use ruint::aliases::U256;
use std::fmt;

/// Address of an account with code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Account(U256);

impl Account {
    /// Bytes of an address.
    pub const BYTES: usize = 20;

    /// Account at the address that this number is. None below 2¹⁶, where precompiles are, and none from 2¹⁶⁰ on.
    pub fn new(address: U256) -> Option<Self> {
        (17..=8 * Self::BYTES).contains(&address.bit_len()).then_some(Self(address))
    }

    /// Account at the address of these bytes, by the same rule.
    pub fn at(address: [u8; Self::BYTES]) -> Option<Self> {
        Self::new(U256::try_from_be_slice(&address).expect("20 bytes fit a word"))
    }

    /// Its address.
    pub const fn address(self) -> U256 {
        self.0
    }
}

/// In hexadecimal, all digits of the address.
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#042x}", self.0)
    }
}
