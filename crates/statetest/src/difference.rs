//! A field of a test that differs from the value found.

use std::fmt;

/// A field, and what was found in place of what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The field, by the names that lead to it.
    pub field: String,
    /// As executed, or as other fields say.
    pub got: String,
    /// As the field says.
    pub expected: String,
}

impl Difference {
    /// Of these.
    pub fn new(field: impl Into<String>, got: String, expected: String) -> Self {
        Self { field: field.into(), got, expected }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, expected {}", self.field, self.got, self.expected)
    }
}
