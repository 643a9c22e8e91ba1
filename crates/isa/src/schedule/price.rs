//! A price in thousandths of gas, read from decimal text without ever being a floating-point number.

use alloc::format;
use alloc::string::ToString;
use core::fmt;
use core::ops::{Add, Mul};

use thiserror::Error;

/// An amount of gas in thousandths, so that fractional ("particle") gas is exact.
///
/// Prices of a schedule are at most [`Price::MAX`]; sums and multiples saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Price(pub u64);

/// Why a text is not a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PriceFault {
    /// Below zero.
    #[error("a price is not negative")]
    Negative,
    /// More than three decimals.
    #[error("a price has at most three decimals")]
    TooPrecise,
    /// Above [`Price::MAX`].
    #[error("a price is at most {}", Price::MAX)]
    TooLarge,
    /// A number with a unit after it: nanoseconds are not gas, and numbers without unit are gas.
    #[error("a price is in gas and has no unit, and here {0} stands after the number")]
    Unit(&'static str),
    /// Not decimal digits with at most one point between them.
    #[error("a price is a decimal number such as 3 or 0.25")]
    NotDecimal,
}

/// Units that people write after numbers, correctly for gas or by mistake.
const UNITS: [&str; 9] = ["Mgas", "gas", "ns", "µs", "us", "ms", "gwei", "wei", "%"];

/// Digits with at most one point in them, and white space around.
fn is_number(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|character: char| character.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

impl Price {
    /// No gas.
    pub const ZERO: Price = Price(0);
    /// The highest price a schedule may hold: 2³² − 1 gas, so that 255 lanes of it stay far below 2⁶⁴ thousandths.
    pub const MAX: Price = Price(u32::MAX as u64 * 1000); // u32 to u64 widens; `From` is not const.

    /// The price of `gas` whole gas; saturates.
    pub const fn from_gas(gas: u64) -> Self {
        Self(gas.saturating_mul(1000))
    }

    /// Whole gas, rounded up.
    pub const fn whole(self) -> u64 {
        self.0.div_ceil(1000)
    }

    /// True if it is whole gas.
    pub const fn is_whole(self) -> bool {
        self.0.is_multiple_of(1000)
    }

    /// Reads decimal digits with at most three decimals.
    pub fn from_decimal(text: &str) -> Result<Self, PriceFault> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (gas, thousandths) = match digits.split_once('.') {
            Some((gas, fraction)) => (gas, fraction),
            None => (digits, "0"),
        };
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(gas) || !is_digits(thousandths) {
            let unit = UNITS.iter().find(|unit| digits.strip_suffix(**unit).is_some_and(is_number));
            if let Some(unit) = unit {
                return Err(PriceFault::Unit(unit));
            }
            return Err(PriceFault::NotDecimal);
        }
        if negative {
            return Err(PriceFault::Negative);
        }
        if thousandths.len() > 3 {
            return Err(PriceFault::TooPrecise);
        }
        let gas: u32 = gas.parse().map_err(|_| PriceFault::TooLarge)?;
        let thousandths: u64 = format!("{thousandths:0<3}").parse().map_err(|_| PriceFault::NotDecimal)?;
        let price = Price(u64::from(gas) * 1000 + thousandths);
        if price > Price::MAX { Err(PriceFault::TooLarge) } else { Ok(price) }
    }
}

impl Add for Price {
    type Output = Price;

    fn add(self, other: Price) -> Price {
        Price(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Price {
    type Output = Price;

    fn mul(self, times: u64) -> Price {
        Price(self.0.saturating_mul(times))
    }
}

impl fmt::Display for Price {
    /// The shortest decimal text that reads back as the same price.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (gas, thousandths) = (self.0 / 1000, self.0 % 1000);
        if thousandths == 0 {
            return f.pad(&gas.to_string());
        }
        f.pad(format!("{gas}.{thousandths:03}").trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_thousandths() {
        for (text, thousandths) in [
            ("0", 0),
            ("3", 3000),
            ("1.1", 1100),
            ("0.7", 700),
            ("+2", 2000),
            ("0.001", 1),
            ("12.340", 12_340),
            ("4294967295", Price::MAX.0),
        ] {
            assert_eq!(Price::from_decimal(text), Ok(Price(thousandths)), "{text}");
        }
        for (text, fault) in [
            ("-1", PriceFault::Negative),
            ("0.0001", PriceFault::TooPrecise),
            ("1.0000", PriceFault::TooPrecise),
            ("4294967296", PriceFault::TooLarge),
            ("4294967295.001", PriceFault::TooLarge),
            ("99999999999999999999", PriceFault::TooLarge),
            ("", PriceFault::NotDecimal),
            (".", PriceFault::NotDecimal),
            ("1.", PriceFault::NotDecimal),
            (".5", PriceFault::NotDecimal),
            ("1e3", PriceFault::NotDecimal),
            ("nan", PriceFault::NotDecimal),
            ("1.2.3", PriceFault::NotDecimal),
            ("--1", PriceFault::NotDecimal),
        ] {
            assert_eq!(Price::from_decimal(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn whole_gas_rounds_up() {
        assert_eq!([0, 1, 999, 1000, 1001].map(|thousandths| Price(thousandths).whole()), [0, 1, 1, 1, 2]);
        assert!(Price(2000).is_whole() && !Price(2001).is_whole());
    }

    #[test]
    fn display_reads_back() {
        for thousandths in [0, 1, 10, 100, 1000, 1100, 1010, 1001, 999, Price::MAX.0] {
            let price = Price(thousandths);
            assert_eq!(Price::from_decimal(&price.to_string()), Ok(price));
        }
    }
}
