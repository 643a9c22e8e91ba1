//! Permutations of a state of Keccak and words of lanes, in programs with a wide scratch memory. What they leave open is settled right after them,
//! so that all that runs a program has the same bytes.

use super::{CALLDATA_BYTES, Maker, WIDE_SCRATCH_BYTES};
use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use residue_ir::keccak_f::{BEFORE_BYTES, STATE_BYTES};
use residue_ir::{Effect, LaneStep, Lanes, Region, WordDef};
use ruint::aliases::U256;

/// Bytes of a word.
const WORD_BYTES: u32 = 32;
/// Bits of a lane that numbers which are read leave free at least.
const SPARE_BITS: u32 = 3;
/// Words of a transform at most. More than eight are not on the stack together.
const WORDS_MAX: u32 = 12;

impl Maker {
    /// True if it has room for a state and words of lanes.
    pub(super) fn is_wide(&self) -> bool {
        self.has_scratch() && self.scratch_bytes == WIDE_SCRATCH_BYTES
    }

    /// Numbers for half of the words of scratch memory.
    pub(super) fn fill_scratch(&mut self, region: &mut Region) {
        for offset in (0..self.scratch_bytes).step_by(WORD_BYTES as usize) {
            if self.random.random_ratio(1, 2) {
                let number = U256::from_be_bytes(self.random.random::<[u8; 32]>());
                let (offset, word) = (self.constant_word(offset.into()), self.word_def(WordDef::Constant(number)));
                region.statements.push(Effect::SetScratch { offset, word }.into());
            }
        }
    }

    /// A permutation or words of lanes, and now and then a hash of all that is in scratch memory then.
    pub(super) fn transform(&mut self, region: &mut Region) {
        let Some(left) = self.transforms_left.checked_sub(1) else { return };
        self.transforms_left = left;
        if self.random.random_ratio(1, 3) {
            self.permutation(region);
        } else {
            self.lanes(region);
        }
        if self.has_hashes() && self.random.random_ratio(1, 3) {
            let (offset, size_bytes) = (self.constant_word(0), self.constant_word(self.scratch_bytes.into()));
            let hash = self.defined_word(|result| Effect::Keccak256Scratch { offset, size_bytes, result });
            region.statements.push(hash);
        }
    }

    /// A permutation, and others for the bytes before the lanes of its state, which it leaves open.
    fn permutation(&mut self, region: &mut Region) {
        let offset = self.random.random_range(0..=self.scratch_bytes - STATE_BYTES);
        region.statements.push(Effect::KeccakF { offset }.into());
        let settled = if self.random.random_ratio(1, 2) {
            let from = self.random.random_range(offset + BEFORE_BYTES..=self.scratch_bytes - BEFORE_BYTES);
            Effect::CopyScratch { offset, from, size_bytes: BEFORE_BYTES }
        } else {
            let (from, size_bytes) = (self.word(1), self.constant_word(BEFORE_BYTES.into()));
            Effect::CopyCalldata { offset: self.constant_word(offset.into()), from, size_bytes }
        };
        region.statements.push(settled.into());
    }

    /// Words of lanes, and a second transform that reduces numbers which the first one leaves open.
    fn lanes(&mut self, region: &mut Region) {
        let bits = *[16, 32, 64].choose(&mut self.random).expect("it is not empty");
        let most = if self.random.random_ratio(1, 6) { WORDS_MAX } else { 4 };
        let words = self.random.random_range(1..=most);
        let home = WORD_BYTES * self.random.random_range(0..=self.scratch_bytes / WORD_BYTES - words);
        let lanes = Lanes { bits, modulus: self.modulus_of_lanes(bits), words, home, steps: Vec::new() };
        let has_takes = self.random.random_ratio(1, 3);
        let mut first =
            Transform { maker: self, lanes, has_takes, is_exact: false, fresh: (0..words).collect(), open: Vec::new() };
        first.steps();
        first.finish();
        let Transform { lanes, .. } = first;
        let is_open = |step: &LaneStep| matches!(step, LaneStep::Leave { times, .. } if *times > 1);
        let is_unsettled = lanes.steps.iter().any(is_open);
        let again = Lanes { steps: Vec::new(), ..lanes };
        region.statements.push(Effect::Lanes { lanes }.into());
        if is_unsettled {
            let mut second = Transform {
                maker: self,
                lanes: again,
                has_takes: false,
                is_exact: true,
                fresh: Vec::new(),
                open: Vec::new(),
            };
            second.reads();
            if second.maker.random.random_ratio(1, 2) {
                second.steps();
            }
            second.finish();
            let Transform { lanes, .. } = second;
            region.statements.push(Effect::Lanes { lanes }.into());
        }
    }

    /// The largest modulus of lanes of so many bits, the least one, that of a signature, or any.
    fn modulus_of_lanes(&mut self, bits: u32) -> u32 {
        let largest = ((1u128 << bits) / u128::from(512 / bits)).isqrt();
        let largest = u32::try_from(largest).expect("its square fits a lane");
        match (self.random.random_range(0..4), bits) {
            (0, _) => largest,
            (1, 32) => 12_289,
            (1, 64) => 8_380_417,
            (2, _) => self.random.random_range(2..=5),
            _ => self.random.random_range(2..=largest),
        }
    }
}

/// A transform that is made step by step.
struct Transform<'a> {
    maker: &'a mut Maker,
    lanes: Lanes,
    /// True if numbers may come from calldata, where some are not below q.
    has_takes: bool,
    /// True if numbers that are left are below q.
    is_exact: bool,
    /// Words that are not set so far, and whose places nothing was put to.
    fresh: Vec<u32>,
    /// Words that are set, and whose places nothing was put to.
    open: Vec<u32>,
}

impl Transform<'_> {
    fn up_to(&mut self, most: u32) -> u32 {
        self.maker.random.random_range(0..=most)
    }

    fn is_one_of(&mut self, count: u32) -> bool {
        self.maker.random.random_ratio(1, count)
    }

    /// Steps in any order.
    fn steps(&mut self) {
        for _ in 0..self.maker.random.random_range(self.lanes.words..=2 * self.lanes.words + 8) {
            match self.up_to(11) {
                0..=2 if !self.fresh.is_empty() => self.set_fresh(),
                3 if self.is_one_of(3) => self.set_again(),
                4 if self.is_one_of(3) => self.leave(),
                5 if self.is_one_of(2) => self.put(),
                _ => self.pair(),
            }
        }
    }

    /// Numbers in all places that have none so far.
    fn finish(&mut self) {
        while !self.fresh.is_empty() {
            self.set_fresh();
        }
        while !self.open.is_empty() {
            if self.is_one_of(3) { self.put() } else { self.leave() }
        }
    }

    /// All words out of their own places, as they were left there.
    fn reads(&mut self) {
        let mut words: Vec<u32> = (0..self.lanes.words).collect();
        words.shuffle(&mut self.maker.random);
        for &word in &words {
            let step = LaneStep::Read { word, from: self.lanes.place(word), bits: self.lanes.bits - SPARE_BITS };
            self.lanes.steps.push(step);
        }
        self.open = words;
    }

    fn set_fresh(&mut self) {
        let place = self.up_to(u32::try_from(self.fresh.len() - 1).expect("words are few"));
        let word = self.fresh[place as usize]; // widens
        self.set(word);
        self.fresh.retain(|&other| other != word);
        self.open.push(word);
    }

    fn set_again(&mut self) {
        if let Some(&word) = self.open.choose(&mut self.maker.random) {
            self.set(word);
        }
    }

    /// Numbers out of calldata or scratch memory.
    fn set(&mut self, word: u32) {
        if self.has_takes && self.is_one_of(2) {
            // Mostly numbers of 64 bits at most, some of which calldata has below any q.
            let most = if self.is_one_of(4) { 256 } else { 64 };
            let sources = 1 << self.up_to((most / self.lanes.bits).ilog2());
            let from = (0..sources).map(|_| self.source()).collect();
            self.lanes.steps.push(LaneStep::Take { word, from });
            return;
        }
        // Not the place of a word that was set, or whose place was put to.
        let used = (0..self.lanes.words).filter(|word| !self.fresh.contains(word));
        let used: Vec<u32> = used.map(|word| self.lanes.place(word)).collect();
        let all = (0..self.maker.scratch_bytes / WORD_BYTES).map(|number| WORD_BYTES * number);
        let free: Vec<u32> = all.filter(|from| !used.contains(from)).collect();
        let from = *free.choose(&mut self.maker.random).expect("scratch memory is longer than all places");
        let bits = if self.is_one_of(2) { self.lanes.bits - SPARE_BITS } else { self.bits() };
        self.lanes.steps.push(LaneStep::Read { word, from, bits });
    }

    fn bits(&mut self) -> u32 {
        1 + self.up_to(self.lanes.bits - SPARE_BITS - 1)
    }

    /// A byte of calldata, mostly one that numbers begin at.
    fn source(&mut self) -> u32 {
        match self.up_to(31) {
            0 => self.up_to(CALLDATA_BYTES.into()),
            1 => u32::MAX,
            _ => 8 * self.up_to(u32::from(CALLDATA_BYTES) / 8),
        }
    }

    /// A number below q.
    fn residue(&mut self) -> u32 {
        let modulus = self.lanes.modulus;
        match self.up_to(7) {
            0 => modulus - 1,
            1 => modulus / 2,
            2 => self.up_to(1),
            _ => self.up_to(modulus - 1),
        }
    }

    /// A step of two words, if there are two.
    fn pair(&mut self) {
        let pair: Vec<u32> = self.open.choose_multiple(&mut self.maker.random, 2).copied().collect();
        let [low, high] = pair[..] else { return };
        let by = self.residue();
        let step = match self.up_to(3) {
            0 => LaneStep::Back { low, high, by },
            1 => LaneStep::Multiply { word: low, by: high, root: by },
            _ => LaneStep::Butterfly { low, high, by },
        };
        self.lanes.steps.push(step);
    }

    /// Numbers of a word in its place: below q, or below a multiple of q that is read again.
    fn leave(&mut self) {
        let Some(&word) = self.open.choose(&mut self.maker.random) else { return };
        let most = (1 << (self.lanes.bits - SPARE_BITS)) / u64::from(self.lanes.modulus);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let times = match self.up_to(3) {
            _ if self.is_exact => 1,
            0 | 1 => 1,
            2 => most.min(2),
            _ => 1 + self.up_to(most.min(9) - 1),
        };
        self.lanes.steps.push(LaneStep::Leave { word, times });
        self.open.retain(|&other| other != word);
    }

    /// Sums of a word, mostly to its place.
    fn put(&mut self) {
        let Some(&word) = self.open.choose(&mut self.maker.random) else { return };
        let words = 1 + self.up_to(1);
        let last = self.maker.scratch_bytes / WORD_BYTES - words;
        let own = self.lanes.place(word) / WORD_BYTES;
        let to = if self.is_one_of(4) { self.up_to(last) } else { own.min(last) };
        let end = to + words;
        let rows = LaneStep::ROWS_PER_WORD * words as usize; // widens
        let row = |_| (0..self.lanes.count()).map(|_| self.residue()).collect();
        let rows = (0..rows).map(row).collect();
        self.lanes.steps.push(LaneStep::Put { word, to: WORD_BYTES * to, rows });
        let lanes = &self.lanes;
        let is_elsewhere = |&word: &u32| !(to..end).contains(&(lanes.place(word) / WORD_BYTES));
        self.open.retain(is_elsewhere);
        self.fresh.retain(is_elsewhere);
    }
}
