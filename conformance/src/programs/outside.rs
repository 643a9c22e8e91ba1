//! Features of a program beside its own modulus: tables, words of elements, subprograms, hashes; and its end.

use super::{CALLDATA_BYTES, ELEMENTS, Kind, Maker};
use rand::Rng;
use rand::seq::IndexedRandom;
use residue_ir::program::{Arm, Control, ControlKind};
use residue_ir::{Effect, Modulus, Piece, Region, Statement, SubprogramId, TableId, Word, WordDef, WordOp};
use ruint::aliases::U256;

impl Maker {
    /// Such a statement, or a block in a plain program.
    pub(super) fn outside(&mut self, statement: fn(&mut Maker) -> Statement) -> Statement {
        if self.kind == Kind::Plain { self.block() } else { statement(self) }
    }

    pub(super) fn lookup(&mut self) -> Effect {
        let table = TableId(self.random.random_range(0..self.program.tables.len()));
        let index = self.small_word(ELEMENTS.into());
        let values = self.program.tables[table.0].element_values;
        Effect::Lookup { table, index, results: self.define(values) }
    }

    /// A word of an element, or an element of words, which are below any modulus.
    pub(super) fn words_and_elements(&mut self) -> Statement {
        let bits = u32::try_from(self.program.modulus.bits()).expect("a modulus is short");
        if self.random.random_ratio(1, 4) {
            let (value, first_bit) = (self.operand(), 8 * self.random.random_range(0..bits.div_ceil(8)));
            return Effect::High { value, first_bit, result: self.define(1)[0] }.into();
        }
        let most = bits.div_ceil(256);
        let count = self.random.random_range(1..=most);
        if self.random.random_ratio(1, 2) {
            let value = self.operand();
            return self.defined_word(|result| Effect::WordOf { result, value, first_bit: 256 * (count - 1) });
        }
        // Words may be anything where others are above them, or where a small one is; a given modulus may be no more than 3.
        let has_room = self.program.modulus.bits() % 256 > 8;
        let is_known = self.program.modulus.known().is_some();
        let small = if count == most && most > 1 && !has_room { 1 } else { 3 };
        let mut words = Vec::new();
        for place in (0..count).rev() {
            let is_first = place + 1 == count;
            words.push(match is_known {
                true if count < most || !is_first && has_room => self.word(2),
                false if place > 0 => self.small_word(1),
                _ => self.small_word(small),
            });
        }
        Effect::ElementOf { words, result: self.define(1)[0] }.into()
    }

    /// A subprogram with a known modulus, or a block if there is none.
    pub(super) fn enter_known(&mut self) -> Statement {
        let subprogram = SubprogramId(self.random.random_range(0..self.program.subprograms.len()));
        match self.program.subprograms[subprogram.0].modulus {
            Modulus::Known(_) => Effect::Enter { subprogram, modulus: Vec::new() }.into(),
            Modulus::Given { .. } => self.block(),
        }
    }

    /// Every subprogram with a given modulus, over an odd number of calldata that is not 1: half of them hardly above the constants, 3 or 7.
    pub(super) fn enter_given(&mut self, body: &mut Region) {
        for number in 0..self.program.subprograms.len() {
            let Modulus::Given { limbs } = self.program.subprograms[number].modulus else { continue };
            let words = limbs.div_ceil(4);
            let is_small = self.random.random_ratio(1, 2);
            let word = |(maker, place): (&mut Self, u32)| {
                let any = maker.word(2);
                // Above the limbs there is nothing; the lowest two bits make it odd and above 1.
                let bits = if place + 1 == words { 64 * limbs - 256 * place } else { 256 };
                let mask = match (is_small, place) {
                    (false, _) => U256::MAX >> (256 - bits as usize), // widens
                    (true, 0) => U256::from(4),
                    (true, _) => U256::ZERO,
                };
                let mask = maker.word_def(WordDef::Constant(mask));
                let word = maker.op(WordOp::And, any, mask);
                let three = maker.constant_word(3);
                if place == 0 { maker.op(WordOp::Or, word, three) } else { word }
            };
            let modulus = (0..words).rev().map(|place| word((&mut *self, place))).collect();
            body.statements.push(Effect::Enter { subprogram: SubprogramId(number), modulus }.into());
        }
    }

    /// A hash of up to four pieces, whose sizes are known now and then.
    pub(super) fn hash(&mut self) -> Statement {
        let pieces = (0..self.random.random_range(0..=4)).map(|_| {
            if self.random.random_ratio(1, 2) {
                let word = self.word(2);
                Piece::Word { word, size_bytes: self.small_word(33) }
            } else {
                let offset = self.word(1);
                Piece::Calldata { offset, size_bytes: self.small_word(CALLDATA_BYTES.into()) }
            }
        });
        let pieces: Vec<Piece<Word>> = pieces.collect();
        match pieces.len() % 2 {
            0 => self.defined_word(|result| Effect::Sha256 { result, pieces }),
            _ => self.defined_word(|result| Effect::Keccak256 { result, pieces }),
        }
    }

    /// A hash of scratch memory, as a word or in it.
    pub(super) fn hash_of_scratch(&mut self) -> Statement {
        let half = u64::from(self.scratch_bytes / 2);
        let (offset, size_bytes) = (self.small_word(half + 1), self.small_word(half + 1));
        if self.random.random_ratio(1, 2) {
            return self.defined_word(|result| Effect::Keccak256Scratch { offset, size_bytes, result });
        }
        Effect::Sha256Scratch { offset, size_bytes, to: self.small_word((self.scratch_bytes - 31).into()) }.into()
    }

    /// A countdown without state, whose turns have the same effects with other operands; its count is often some bits of a word.
    pub(super) fn ladder(&mut self) -> Statement {
        let (turns, count) = if self.random.random_ratio(1, 2) {
            let bits = self.random.random_range(1..=4);
            let (word, shift) = (self.word(2), self.random.random_range(0..=250));
            let (shift, mask) = (self.constant_word(shift), self.constant_word((1 << bits) - 1));
            let shifted = self.op(WordOp::Shr, word, shift);
            (1 << bits, self.op(WordOp::And, mask, shifted))
        } else {
            let turns = self.random.random_range(1..=16);
            (turns, self.small_word(turns + 1))
        };
        let end = if self.has_hashes() { 4 } else { 3 };
        let kinds: Vec<u8> = (0..self.random.random_range(1..=3)).map(|_| self.random.random_range(0..end)).collect();
        let arm = |maker: &mut Self| {
            let statements = kinds.iter().map(|kind| maker.rung(*kind)).collect();
            Arm { params: Vec::new(), body: Region { statements }, gives: Vec::new() }
        };
        let arms = (0..turns).map(|_| arm(self)).collect();
        Control { kind: ControlKind::Countdown { count }, initial: Vec::new(), arms, results: Vec::new() }.into()
    }

    /// An effect of a kind.
    fn rung(&mut self, kind: u8) -> Statement {
        match kind {
            0 => {
                let word = self.random.random_range(0..300);
                Effect::SetScratchByte {
                    offset: self.small_word(self.scratch_bytes.into()),
                    word: self.constant_word(word),
                }
                .into()
            }
            1 => {
                let offset = self.small_word((self.scratch_bytes - 31).into());
                Effect::SetScratch { offset, word: self.word(1) }.into()
            }
            2 => self.require().into(),
            _ => {
                let half = u64::from(self.scratch_bytes / 2);
                let (offset, size_bytes) = (self.small_word(half + 1), self.small_word(half + 1));
                Effect::Sha256Scratch { offset, size_bytes, to: self.small_word((self.scratch_bytes - 31).into()) }
                    .into()
            }
        }
    }

    /// Something written to scratch memory.
    pub(super) fn onto_scratch(&mut self) -> Effect {
        if self.random.random_ratio(1, 4) {
            return Effect::SetScratchByte { offset: self.small_word(self.scratch_bytes.into()), word: self.word(2) };
        }
        if self.random.random_ratio(2, 3) {
            let offset = self.small_word((self.scratch_bytes - 31).into());
            return Effect::SetScratch { offset, word: self.word(2) };
        }
        if self.random.random_ratio(1, 2) {
            // Places that often overlap.
            let [offset, from] = [0, 1].map(|_| self.random.random_range(0..=self.scratch_bytes / 2));
            return Effect::CopyScratch {
                offset,
                from,
                size_bytes: self.random.random_range(0..=self.scratch_bytes / 2),
            };
        }
        let half = u64::from(self.scratch_bytes / 2);
        let offset = self.small_word(half + 1);
        Effect::CopyCalldata { offset, from: self.word(1), size_bytes: self.small_word(half + 1) }
    }

    /// Elements out of scratch memory, which mostly holds any bytes; elements into it; or neighbours.
    pub(super) fn elements_and_scratch(&mut self) -> Effect {
        let least = u32::try_from(self.program.modulus.bits().div_ceil(8)).expect("a modulus is short");
        let count = self.random.random_range(0..=3);
        let is_short = least <= 32;
        let within =
            |maker: &mut Self, size_bytes: u32| maker.random.random_range(0..=maker.scratch_bytes - 3 * size_bytes);
        match self.random.random_range(0..3) {
            0 if self.program.modulus.known().is_some() => {
                let size_bytes = *[1, least.clamp(1, 32), least.next_multiple_of(8).min(32)]
                    .choose(&mut self.random)
                    .expect("it is not empty");
                let offset = within(self, size_bytes);
                Effect::TakeScratch { offset, size_bytes, results: self.define(count) }
            }
            1 if is_short => {
                let size_bytes = self.random.random_range(least..=least.next_multiple_of(8).min(32));
                Effect::PutScratch { offset: within(self, size_bytes), size_bytes, values: self.operands(count) }
            }
            _ => Effect::LineUp { values: self.operands(count) },
        }
    }

    pub(super) fn ending(&mut self) -> Effect {
        if self.kind == Kind::Scratch || self.is_wide() && self.random.random_ratio(1, 2) {
            let (offset, size_bytes) = (self.constant_word(0), self.constant_word(self.scratch_bytes.into()));
            return Effect::ReturnScratch { offset, size_bytes };
        }
        if self.random.random_ratio(1, 4) {
            return Effect::ReturnWord { word: self.word(3) };
        }
        if self.kind != Kind::Plain && self.random.random_ratio(1, 8) {
            let least = u32::try_from(self.program.modulus.bits().div_ceil(8)).expect("a modulus is short");
            let (element_bytes, count) = (least + self.random.random_range(0..3) * 20, self.random.random_range(0..=4));
            let limit_bytes = element_bytes * count + self.random.random_range(0..70);
            let values = self.operands(count as usize); // u32 to usize widens
            return Effect::ReturnLast { values, element_bytes, size_bytes: self.small_word(300), limit_bytes };
        }
        if self.kind != Kind::Plain && self.random.random_ratio(1, 6) {
            let words = (0..self.random.random_range(1..=3)).map(|_| self.word(2)).collect();
            return Effect::ReturnWords { words, size_bytes: self.small_word(110) };
        }
        if self.kind == Kind::Main && self.random.random_ratio(1, 6) {
            let half = u64::from(self.scratch_bytes / 2);
            return Effect::ReturnScratch { offset: self.small_word(half + 1), size_bytes: self.small_word(half + 1) };
        }
        let least = u32::try_from(self.program.modulus.bits().div_ceil(8)).expect("a modulus is short");
        let sizes = [least, least + 1, least.next_multiple_of(8), least.max(32), least.max(48), least.max(64), 100];
        let size_bytes = *sizes.choose(&mut self.random).expect("it is not empty");
        let count = self.random.random_range(0..=6);
        if self.program.modulus.known().is_some() && self.program.modulus.is_odd() && self.random.random_ratio(1, 4) {
            return Effect::ReturnMontLe { values: self.operands(count) };
        }
        Effect::ReturnElements { values: self.operands(count), size_bytes }
    }

    /// Mostly one that holds.
    pub(super) fn require(&mut self) -> Effect {
        let (word, one) = (self.word(2), self.constant_word(1));
        let condition = if self.random.random_ratio(4, 5) { self.op(WordOp::Or, word, one) } else { word };
        Effect::Require { condition }
    }
}
