//! What a command says of what it was asked about.

/// How a command ended that could be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All is well.
    Good,
    /// The code under test reverted or halted exceptionally, or a comparison failed.
    Bad,
}

impl Verdict {
    /// Good if `is_good`.
    pub fn of(is_good: bool) -> Self {
        if is_good { Verdict::Good } else { Verdict::Bad }
    }
}
