//! Words of lanes: a vector of a small field in each 256-bit word, and transforms between such words.
//!
//! A word has 256 / b lanes of b bits, each a number modulo q; lane 0 is the most significant. Steps work on all lanes of a word at once. Code keeps
//! lanes as integers that are congruent, with an interval for those of each word, and reduces where an interval asks for it; here they are residues.

use crate::calldata::calldata_slice;
use crate::limits::{LANE_STEPS_MAX, LANE_WORDS_MAX, SCRATCH_END_MAX};
use crate::scratch::Scratch;
use ruint::aliases::U256;

/// Bytes of a word.
const WORD_BYTES: u32 = 32;
/// Bits of a word.
const WORD_BITS: u32 = 256;
/// Bits of a lane that numbers which are read leave free at least: offsets and sums have room there.
const SPARE_BITS: u32 = 3;

/// A transform of a vector of words of lanes, from calldata or scratch memory to scratch memory; see [`crate::Machine::lanes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// Bits of a lane, b: 16, 32 or 64.
    pub bits: u32,
    /// q, with 2·(256 / b)·q² ≤ 2ᵇ.
    pub modulus: u32,
    /// Number of words.
    pub words: u32,
    /// Byte of scratch memory, a multiple of 32, where the words have their places, 32 bytes each. These bytes hold anything while steps are done.
    pub home: u32,
    /// Steps, done in order.
    pub steps: Vec<LaneStep>,
}

/// A step of a transform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneStep {
    /// Sets a word to numbers in calldata. Of k sources each has 256 / (k·b) big-endian numbers of k·b bits from a byte on, zeros past the end of
    /// calldata; lane i is number ⌊i / k⌋ of source i mod k. Halts exceptionally if a number is not below q.
    Take {
        /// The word.
        word: u32,
        /// First byte of each source; their number is a power of two.
        from: Vec<u32>,
    },
    /// Sets a word to a word of scratch memory, of each of whose lanes the lowest bits are a number, any modulo q.
    Read {
        /// The word.
        word: u32,
        /// First byte.
        from: u32,
        /// Bits of a number: at most b − 3.
        bits: u32,
    },
    /// (a, b) ↦ (a + t·b, a − t·b), lane by lane: the butterfly of Cooley and Tukey (FIPS 204, algorithm 41).
    Butterfly {
        /// a.
        low: u32,
        /// b.
        high: u32,
        /// t, below q.
        by: u32,
    },
    /// (a, b) ↦ (a + b, t·(a − b)), lane by lane: the butterfly of Gentleman and Sande (FIPS 204, algorithm 42).
    Back {
        /// a.
        low: u32,
        /// b.
        high: u32,
        /// t, below q.
        by: u32,
    },
    /// a ↦ a·b modulo x^L − ζ for words of L lanes as polynomials, of which the last lane has the coefficient of 1. b stays.
    Multiply {
        /// a.
        word: u32,
        /// b.
        by: u32,
        /// ζ, below q.
        root: u32,
    },
    /// Writes numbers that are congruent to the lanes and below times·q, in b bits each, to the word's place: any of these, on which programs must
    /// not depend unless `times` is 1. The word is not used after that.
    Leave {
        /// The word.
        word: u32,
        /// A multiple of q that fits a lane.
        times: u32,
    },
    /// Writes Σ row\[i\]·lane\[i\] mod q for each row, in 8 big-endian bytes each, to scratch memory. Words whose places it writes to are not
    /// used after that.
    Put {
        /// The word.
        word: u32,
        /// First byte, a multiple of 32.
        to: u32,
        /// Rows of one number below q for each lane; a multiple of four of them.
        rows: Vec<Vec<u32>>,
    },
}

impl LaneStep {
    /// True if it sets its word, whatever that was.
    pub const fn is_set(&self) -> bool {
        matches!(self, Self::Take { .. } | Self::Read { .. })
    }

    /// Rows whose numbers fill a word of scratch memory.
    pub const ROWS_PER_WORD: usize = 4;

    /// The words that it reads or sets.
    /// The second one stands for what a butterfly's product is of, or the factor.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        let (first, second) = match *self {
            Self::Take { word, .. } | Self::Read { word, .. } | Self::Leave { word, .. } | Self::Put { word, .. } => {
                (word, None)
            }
            Self::Butterfly { low, high, .. } | Self::Back { low, high, .. } => (low, Some(high)),
            Self::Multiply { word, by, .. } => (word, Some(by)),
        };
        std::iter::once(first).chain(second)
    }
}

impl Lanes {
    /// Lanes of a word.
    pub const fn count(&self) -> usize {
        (WORD_BITS / self.bits) as usize // u32 to usize widens
    }

    /// Byte of scratch memory where a word has its place.
    pub const fn place(&self, word: u32) -> u32 {
        self.home + WORD_BYTES * word
    }

    /// Checks sizes, that words are set before they are read and not used after they were put, and that all their places are written at the end.
    ///
    /// # Errors
    ///
    /// Says which step is wrong, counted from 0.
    pub fn check(&self) -> Result<(), String> {
        self.check_shape()?;
        let mut states = vec![State::Unset; self.words as usize]; // u32 to usize widens
        for (number, step) in self.steps.iter().enumerate() {
            self.check_step(step, &mut states).map_err(|error| format!("step {number} of `lanes`: {error}"))?;
        }
        match states.iter().position(|&state| state == State::Set) {
            Some(word) => Err(format!("`lanes` leaves word {word} in its place: no step puts numbers there")),
            None => Ok(()),
        }
    }

    fn check_shape(&self) -> Result<(), String> {
        if ![16, 32, 64].contains(&self.bits) {
            return Err(format!("lanes of {} bits: 16, 32 or 64 are", self.bits));
        }
        let modulus = u128::from(self.modulus);
        let is_small = 2 * self.count() as u128 * modulus * modulus <= 1 << self.bits; // usize to u128 widens
        if modulus < 2 || !is_small {
            return Err(format!("{} is no modulus of lanes of {} bits", self.modulus, self.bits));
        }
        if self.words > LANE_WORDS_MAX || self.steps.len() > LANE_STEPS_MAX {
            let (words, steps) = (self.words, self.steps.len());
            return Err(format!(
                "{words} words and {steps} steps of `lanes`: more than {LANE_WORDS_MAX} and {LANE_STEPS_MAX}"
            ));
        }
        self.check_place(self.home, self.words as usize) // u32 to usize widens
    }

    /// `words` words of scratch memory from byte `first`.
    fn check_place(&self, first: u32, words: usize) -> Result<(), String> {
        if !first.is_multiple_of(WORD_BYTES) {
            return Err(format!("byte {first} of scratch memory is no multiple of {WORD_BYTES}"));
        }
        let end = u64::from(first) + u64::from(WORD_BYTES) * words as u64; // usize to u64 widens
        if end > SCRATCH_END_MAX {
            Err(format!("lanes end at byte {SCRATCH_END_MAX} of scratch memory or before"))
        } else {
            Ok(())
        }
    }

    /// A multiple of q that a lane has room below.
    fn check_times(&self, times: u32) -> Result<(), String> {
        if times == 0 || u128::from(times) * u128::from(self.modulus) > 1 << self.bits {
            return Err(format!("numbers below {times} times {} are none of {} bits", self.modulus, self.bits));
        }
        Ok(())
    }

    fn check_step(&self, step: &LaneStep, states: &mut [State]) -> Result<(), String> {
        if let Some(word) = step.words().find(|&word| word >= self.words) {
            return Err(format!("there is no word {word}, of {}", self.words));
        }
        let is_residue = |&number: &u32| number < self.modulus;
        let is_used = |number: u32| states[number as usize] != State::Unset; // u32 to usize widens
        if let LaneStep::Read { from, .. } = step
            && let Some(used) = (0..self.words).find(|&number| self.place(number) == *from && is_used(number))
        {
            return Err(format!("byte {from} of scratch memory is the place of word {used}, which is used before"));
        }
        let is_read = !step.is_set();
        for word in step.words() {
            match states[word as usize] {
                State::Over => return Err(format!("word {word} is used after its place was written to")),
                State::Unset if is_read => return Err(format!("word {word} is read before it is set")),
                State::Unset | State::Set => states[word as usize] = State::Set,
            }
        }
        match step {
            LaneStep::Take { from, .. } if !from.len().is_power_of_two() || from.len() > self.count() => {
                Err(format!("{} sources of {} lanes", from.len(), self.count()))
            }
            LaneStep::Read { from, bits, .. } => {
                if *bits == 0 || bits + SPARE_BITS > self.bits {
                    return Err(format!("numbers of {bits} bits are not 1 to {}", self.bits - SPARE_BITS));
                }
                self.check_place(*from, 1)
            }
            LaneStep::Butterfly { low, high, .. }
            | LaneStep::Back { low, high, .. }
            | LaneStep::Multiply { word: low, by: high, .. }
                if low == high =>
            {
                Err(format!("a step of word {low} with itself"))
            }
            LaneStep::Butterfly { by, .. } | LaneStep::Back { by, .. } | LaneStep::Multiply { root: by, .. }
                if !is_residue(by) =>
            {
                Err(format!("{by} is not below {}", self.modulus))
            }
            LaneStep::Leave { word, times } => {
                self.check_times(*times)?;
                states[*word as usize] = State::Over; // u32 to usize widens
                Ok(())
            }
            LaneStep::Put { to, rows, .. } => self.check_put(*to, rows, states),
            LaneStep::Take { .. } | LaneStep::Butterfly { .. } | LaneStep::Back { .. } | LaneStep::Multiply { .. } => {
                Ok(())
            }
        }
    }

    fn check_put(&self, to: u32, rows: &[Vec<u32>], states: &mut [State]) -> Result<(), String> {
        if rows.is_empty() || !rows.len().is_multiple_of(LaneStep::ROWS_PER_WORD) {
            return Err(format!("{} rows are no multiple of {}", rows.len(), LaneStep::ROWS_PER_WORD));
        }
        if let Some(row) = rows.iter().find(|row| row.len() != self.count()) {
            return Err(format!("a row has {} numbers for {} lanes", row.len(), self.count()));
        }
        if let Some(number) = rows.iter().flatten().find(|&&number| number >= self.modulus) {
            return Err(format!("{number} is not below {}", self.modulus));
        }
        let words = rows.len() / LaneStep::ROWS_PER_WORD;
        self.check_place(to, words)?;
        let end = to + WORD_BYTES * u32::try_from(words).expect("scratch memory ends before");
        (0..self.words)
            .filter(|&other| (to..end).contains(&self.place(other)))
            .for_each(|other| states[other as usize] = State::Over);
        Ok(())
    }

    /// Does the steps; false if a number is not below q.
    ///
    /// # Errors
    ///
    /// The first byte of scratch memory that is past its end.
    pub(crate) fn run(&self, calldata: &[u8], scratch: &mut Scratch) -> Result<bool, U256> {
        let home = U256::from(self.home);
        scratch.bytes(home, U256::from(WORD_BYTES) * U256::from(self.words)).ok_or(home)?;
        let mut words = vec![Vec::new(); self.words as usize]; // u32 to usize widens
        for step in &self.steps {
            match step {
                LaneStep::Take { word, from } => match self.taken(calldata, from) {
                    Some(lanes) => words[*word as usize] = lanes,
                    None => return Ok(false),
                },
                LaneStep::Read { word, from, bits } => {
                    let from = U256::from(*from);
                    let cells = scratch.word(from).ok_or(from)?;
                    let lane = |bit: usize| (cells >> bit).wrapping_to::<u64>() & ((1 << bits) - 1);
                    let lanes = (0..WORD_BITS as usize).step_by(self.bits as usize).rev(); // u32 to usize widens
                    words[*word as usize] = lanes.map(|bit| lane(bit) % u64::from(self.modulus)).collect();
                }
                LaneStep::Butterfly { low: first, high: second, .. }
                | LaneStep::Back { low: first, high: second, .. }
                | LaneStep::Multiply { word: first, by: second, .. } => {
                    let places = [*first, *second].map(|word| word as usize); // u32 to usize widens
                    let [a, b] = places.map(|place| std::mem::take(&mut words[place]));
                    [words[places[0]], words[places[1]]] = self.pair(step, &a, b);
                }
                LaneStep::Put { word, to, rows } => {
                    let modulus = u64::from(self.modulus);
                    let sum = |row: &Vec<u32>| {
                        let terms = row.iter().zip(&words[*word as usize]);
                        terms.fold(0, |sum, (&number, &lane)| (sum + u64::from(number) * lane) % modulus)
                    };
                    let bytes: Vec<u8> = rows.iter().flat_map(|row| sum(row).to_be_bytes()).collect();
                    let to = U256::from(*to);
                    scratch.write(to, &bytes).ok_or(to)?;
                }
                LaneStep::Leave { word, times } => {
                    // The greatest numbers there are, so that a program which depends on others is found.
                    let more = u64::from(times - 1) * u64::from(self.modulus);
                    let cell = |cells: U256, &lane: &u64| cells << self.bits as usize | U256::from(lane + more);
                    let cells = words[*word as usize].iter().fold(U256::ZERO, cell);
                    let to = U256::from(self.place(*word));
                    scratch.write(to, &cells.to_be_bytes::<32>()).ok_or(to)?;
                }
            }
        }
        Ok(true)
    }

    /// The words that a step of two words makes of them.
    fn pair(&self, step: &LaneStep, a: &[u64], b: Vec<u64>) -> [Vec<u64>; 2] {
        let modulus = u64::from(self.modulus);
        let times =
            |lanes: &[u64], by: u32| -> Vec<u64> { lanes.iter().map(|lane| u64::from(by) * lane % modulus).collect() };
        let sum = |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(a, b)| (a + b) % modulus).collect() };
        let less =
            |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(a, b)| (a + modulus - b) % modulus).collect() };
        match *step {
            LaneStep::Butterfly { by, .. } => {
                let products = times(&b, by);
                [sum(a, &products), less(a, &products)]
            }
            LaneStep::Back { by, .. } => [sum(a, &b), times(&less(a, &b), by)],
            LaneStep::Multiply { root, .. } => {
                let count = self.count();
                let mut product = vec![0; count];
                for (i, x) in a.iter().rev().enumerate() {
                    for (j, y) in b.iter().rev().enumerate() {
                        let factor = if i + j < count { 1 } else { u64::from(root) };
                        let coefficient = &mut product[(i + j) % count];
                        *coefficient = (*coefficient + x * y % modulus * factor) % modulus;
                    }
                }
                product.reverse();
                [product, b]
            }
            _ => unreachable!("other steps have one word"),
        }
    }

    /// The lanes that are taken from calldata; none if a number is not below q.
    fn taken(&self, calldata: &[u8], from: &[u32]) -> Option<Vec<u64>> {
        let size = from.len() * self.bits as usize / 8; // u32 to usize widens
        let sources: Vec<Vec<u8>> =
            from.iter().map(|&from| calldata_slice(calldata, U256::from(from), WORD_BYTES as usize).to_vec()).collect();
        let lane = |number: usize| {
            let first = number / from.len() * size;
            U256::from_be_slice(&sources[number % from.len()][first..first + size])
        };
        let below = |number: U256| u64::try_from(number).ok().filter(|&number| number < u64::from(self.modulus));
        (0..self.count()).map(|number| below(lane(number))).collect()
    }
}

/// State of a word between steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unset,
    Set,
    /// Its place was written to.
    Over,
}
