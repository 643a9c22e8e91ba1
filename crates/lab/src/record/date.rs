//! The date of a record: the day in UTC, from the system clock.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// A day of the Gregorian calendar. Displays as `2026-11-21`, and so it sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Date {
    /// Year of the common era.
    pub year: u64,
    /// 1 to 12.
    pub month: u64,
    /// 1 to 31.
    pub day: u64,
}

const SECONDS_A_DAY: u64 = 86_400;

impl Date {
    /// Today in UTC; the first day of 1970 if the clock is set before it.
    pub fn today() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self::after_epoch(seconds / SECONDS_A_DAY)
    }

    /// The day that is `days` after 1970-01-01.
    /// Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`; years begin in March there.
    pub fn after_epoch(days: u64) -> Self {
        let from_era_0 = days + 719_468;
        let (era, day_of_era) = (from_era_0 / 146_097, from_era_0 % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = 400 * era + year_of_era + u64::from(month <= 2);
        Self { year, month, day }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

/// Text that is not a date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a date like 2026-11-21")]
pub struct NotADate(pub String);

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let wrong = || NotADate(text.to_owned());
        let numbers: Vec<u64> = text.split('-').map_while(|part| part.parse().ok()).collect();
        let &[year, month @ 1..=12, day @ 1..=31] = numbers.as_slice() else { return Err(wrong()) };
        let date = Self { year, month, day };
        if date.to_string() == text { Ok(date) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_after_the_epoch_are_dates() {
        for (days, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (16_800, "2015-12-31"),
            (16_801, "2016-01-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(Date::after_epoch(days).to_string(), date);
            assert_eq!(date.parse(), Ok(Date::after_epoch(days)));
        }
    }

    #[test]
    fn only_dates_are_read() {
        for text in ["", "2026-13-01", "2026-1-1", "2026-01-32", "2026-01-01-01", "21.11.2026", "2026-01-01x"] {
            assert_eq!(text.parse::<Date>(), Err(NotADate(text.to_owned())));
        }
    }
}
