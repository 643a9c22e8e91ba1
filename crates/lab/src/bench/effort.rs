//! Effort and progress of a measurement.

use crate::bench::subjects::Subjects;

/// Effort of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Rounds of each measurement.
    pub rounds: usize,
    /// Turns of the loop around field instructions.
    pub turns: usize,
    /// Numbers of pairs that the pairing check is measured with.
    pub pairs: &'static [usize],
    /// Numbers of points that sums of multiples are measured with.
    pub points: &'static [usize],
    /// Sizes that growth is measured with.
    pub sizes: &'static Sizes,
    /// First executions that are measured.
    pub cold_starts: usize,
    /// Subjects to measure.
    pub subjects: Subjects,
}

/// Progress of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Name of the current step.
    pub step: &'a str,
    /// Parts of the step that are done.
    pub done: usize,
    /// Parts of the step.
    pub total: usize,
}

/// Is told how far a measurement is, between the parts that are timed.
pub type Observer<'a> = dyn FnMut(Progress<'_>) + Send + 'a;

impl Effort {
    /// For records.
    pub const FULL: Self = Self {
        rounds: 101,
        turns: 100,
        pairs: &[1, 2, 4, 8, 16],
        points: &[1, 2, 4, 8, 16, 32, 64, 128],
        sizes: &Sizes::FULL,
        cold_starts: 15,
        subjects: Subjects::ALL,
    };
    /// Seconds, for a first impression.
    pub const QUICK: Self = Self {
        rounds: 15,
        turns: 30,
        pairs: &[1, 2],
        points: &[2, 16],
        sizes: &Sizes::QUICK,
        cold_starts: 3,
        subjects: Subjects::ALL,
    };
    /// Everything once or twice, for tests: the numbers are worth nothing, the answers are checked all the same.
    pub const SMOKE: Self = Self {
        rounds: 2,
        turns: 2,
        pairs: &[2],
        points: &[2],
        sizes: &Sizes::SMOKE,
        cold_starts: 1,
        subjects: Subjects::ALL,
    };
}

/// Sizes that growth is measured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Pairs of a pairing check.
    pub pairs: &'static [usize],
    /// Points of a sum of multiples.
    pub points: &'static [usize],
    /// Widths of the modulus.
    pub widths_limbs: &'static [usize],
    /// Sizes of the code.
    pub code_bytes: &'static [usize],
    /// Engines that run at the same time.
    pub engines: &'static [usize],
}

impl Sizes {
    /// For records.
    pub const FULL: Self = Self {
        pairs: &[1, 2, 3, 4, 6, 8, 12, 16],
        points: &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
        widths_limbs: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        code_bytes: &[1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16],
        engines: &[1, 2],
    };
    /// Seconds.
    pub const QUICK: Self = Self {
        pairs: &[1, 4],
        points: &[1, 16],
        widths_limbs: &[1, 6, 12],
        code_bytes: &[1 << 10, 1 << 14],
        engines: &[1, 2],
    };
    /// For tests.
    pub const SMOKE: Self =
        Self { pairs: &[1], points: &[1], widths_limbs: &[2], code_bytes: &[1 << 10], engines: &[1, 2] };
}
