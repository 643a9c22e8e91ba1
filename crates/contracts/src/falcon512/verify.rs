//! Verification: Falcon's specification, algorithm 16.

use super::{
    DEGREE, Encoding, Hash, LANE_BITS, MODULUS, NORM_MAX, SALT_BYTES, TRANSFORMED_BYTES, WORDS, narrow, residue,
};
use crate::encoding::unless_return_zero;
use crate::hashes::sha3::Sponge;
use crate::ntt::{FALCON, ROOMY};
use crate::words::{Words, each};
use residue_ir::{Feature, LaneStep, Lanes, Machine, Piece};
use ruint::aliases::U256;

/// Keys that are taken at a time, beside as many words.
const KEYS: usize = 4;
/// Places in scratch memory: words of s₂ and of the product, and of keys.
const S2: u64 = 0;
/// Numbers of the hash, of 2 bytes each. The last 16 may go beyond 512.
pub(super) const POINT: u64 = 32 * (WORDS + KEYS) as u64;
const POINT_END: u64 = POINT + 2 * DEGREE as u64;
/// A state of 32 bytes and a count of 8, whose hashes are blocks.
pub(super) const BUFFER: u64 = POINT_END + 64;
const COUNT: u64 = BUFFER + 32;
/// Words that go from turn to turn: the place of the next block's numbers, and marks of those that are too large.
pub(super) const NEXT: u64 = COUNT + 32;
const MARKS: u64 = NEXT + 32;
/// Others: the bit of s₂ that is next; what no lane may have, and what each has to have; the norm.
pub(super) const BIT: u64 = MARKS + 32;
pub(super) const BAD: u64 = BIT + 32;
pub(super) const GOOD: u64 = BAD + 32;
pub(super) const NORM: u64 = GOOD + 32;
/// A word whose leading zeros are counted without an opcode for it: marks are read before, and written after.
const ZEROS: u64 = MARKS;
pub(super) const SCRATCH: u64 = NORM + 32;
/// Bytes of calldata before the message.
const HEAD: u64 = 32 + TRANSFORMED_BYTES as u64;
/// Rounds of the hash that are gone through without a look: most have no number left to make.
const ROUNDS: u64 = 3;
/// Rounds at most. One that makes none of the numbers that are missing has a probability below 2⁻⁴, and only if one is missing.
const ROUNDS_MAX: u64 = 63;
/// Blocks of SHAKE-256 at most: of the numbers of eight of them 256 would have to be too large.
const BLOCKS_MAX: u64 = 16;
/// Coefficients of s₁ that are centred are at least −CENTRE.
pub(super) const CENTRE: u64 = MODULUS / 2;

/// `number` in all lanes.
fn lanes(number: u64) -> U256 {
    each(LANE_BITS as usize, U256::from(number)) // u32 to usize widens
}

/// The text.
pub(super) fn text<M: Machine>(machine: &M, hash: Hash, encoding: Encoding) {
    let w = Words(machine);
    let least = w.number(HEAD + (SALT_BYTES + encoding.size_bytes()) as u64); // few
    unless_return_zero(machine, machine.not(w.is_below(machine.calldata_size(), least)));
    machine.scratch(narrow(SCRATCH as usize)); // few
    let [place, key_bytes] = [S2, TRANSFORMED_BYTES as u64].map(|number| w.number(number)); // few
    machine.copy_calldata(place, w.number(32), key_bytes);
    let key_hash = machine.keccak256_scratch(place, key_bytes);
    unless_return_zero(machine, w.is_equal(key_hash, machine.calldata_word(w.number(0))));
    let verifier = Verifier { machine, w, encoding };
    match hash {
        Hash::Keccak => verifier.hash_to_point(),
        Hash::Shake => verifier.shake_to_point(),
    }
    let in_words = |_: &M| verifier.in_words();
    // Norms have a modulus of their own.
    let by_moduli = |machine: &M| machine.branch(machine.has(Feature::Given), |_| verifier.in_slots(), in_words);
    let by_room = |machine: &M| machine.branch(machine.has(Feature::Slots(ROOMY)), by_moduli, in_words);
    machine.branch(machine.has(Feature::FieldSlots), by_room, in_words);
}

/// s₂ to its product with the key.
fn product() -> Lanes {
    let id = |word: usize| narrow(WORDS - 1 - word);
    let read = |word| LaneStep::Read { word, from: narrow(S2 as usize) + 32 * word, bits: 14 }; // few
    let mut steps = FALCON.forward(id, read, |_| None);
    let words: Vec<usize> = (0..WORDS).collect();
    for words in words.chunks(KEYS) {
        let keys = || (narrow(WORDS)..).zip(words);
        steps.extend(keys().map(|(key, &word)| LaneStep::Take { word: key, from: vec![32 + 32 * narrow(word)] }));
        let multiply =
            |(by, &word)| LaneStep::Multiply { word: id(word), by, root: residue(FALCON.residue_root(word)) };
        steps.extend(keys().map(multiply));
    }
    steps.extend((narrow(WORDS)..).take(KEYS).map(|word| LaneStep::Leave { word, times: 1 }));
    steps.extend(FALCON.backward(id, |_| None));
    Lanes {
        bits: LANE_BITS,
        modulus: residue(MODULUS - 1) + 1,
        words: narrow(WORDS + KEYS),
        home: narrow(S2 as usize),
        steps,
    } // few
}

pub(super) struct Verifier<'m, M: Machine> {
    pub machine: &'m M,
    pub w: Words<'m, M>,
    pub encoding: Encoding,
}

impl<M: Machine> Verifier<'_, M> {
    /// From the hash to the answer, by lanes of words.
    fn in_words(&self) {
        let Self { machine, ref w, .. } = *self;
        match self.encoding {
            Encoding::Compressed => {
                self.decompress();
                self.signs_and_norm();
            }
            Encoding::Numbers => self.numbers_and_norm(),
        }
        machine.lanes(&product());
        self.rest_of_norm();
        machine.return_word(w.is_below(self.get(NORM), w.number(NORM_MAX + 1)));
    }

    pub(super) fn get(&self, place: u64) -> M::Word {
        self.machine.scratch_word(self.w.number(place))
    }

    pub(super) fn set(&self, place: u64, word: M::Word) {
        self.machine.set_scratch(self.w.number(place), word);
    }

    /// Statements with the function that counts the leading zero bits of a word: the opcode, or a search by halves in forks
    /// without it.
    pub(super) fn with_zeros(&self, statements: impl Fn(&dyn Fn(M::Word) -> M::Word)) {
        let Self { machine, ref w, .. } = *self;
        let by_halves = |word: M::Word| {
            self.set(ZEROS, word);
            machine.function("leading_zeros", (), |_, ()| {
                let (mut rest, mut bits) = (machine.bind(self.get(ZEROS)), w.number(256));
                for half in [7, 6, 5, 4, 3, 2, 1, 0u64] {
                    let is_above = machine.not(machine.not(w.high(rest, 1 << half)));
                    let above = machine.bind(w.shl(is_above, w.number(half)));
                    rest = machine.bind(w.shr(rest, above));
                    bits = machine.bind(w.sub(bits, above));
                }
                // 1 is left of a word that is not 0.
                self.set(ZEROS, w.sub(bits, rest));
            });
            self.get(ZEROS)
        };
        machine.branch(
            machine.has(Feature::LeadingZeros),
            |machine| statements(&|word| machine.leading_zeros(word)),
            |_| statements(&by_halves),
        );
    }

    pub(super) fn lanes(&self, number: u64) -> M::Word {
        self.machine.word(lanes(number))
    }

    /// First byte of s₂.
    pub(super) fn s2_from(&self) -> M::Word {
        self.w.sub(self.machine.calldata_size(), self.w.number(self.encoding.size_bytes() as u64)) // few
    }

    /// 512 numbers of 16 bits below 5·q.
    fn hash_to_point(&self) {
        let Self { machine, ref w, .. } = *self;
        let size_bytes = w.sub(self.s2_from(), w.number(HEAD));
        self.set(BUFFER, machine.keccak256(&[Piece::Calldata { offset: w.number(HEAD), size_bytes }]));
        self.set(NEXT, w.number(POINT));
        let round = |machine: &M| machine.function("round", (), |_, ()| self.round());
        machine.repeat(w.number(ROUNDS), (), |machine, _, ()| round(machine));
        let is_missing = || self.is_missing();
        let more = |machine: &M| {
            machine.repeat(w.number(ROUNDS_MAX - ROUNDS), (), |machine, _, ()| round(machine));
            unless_return_zero(machine, machine.not(is_missing()));
        };
        machine.branch(is_missing(), more, |_| ());
    }

    fn is_missing(&self) -> M::Word {
        self.w.is_below(self.get(NEXT), self.w.number(POINT_END))
    }

    /// The same numbers by SHAKE-256 of the salt and the message.
    fn shake_to_point(&self) {
        let Self { machine, ref w, .. } = *self;
        let sponge = Sponge::shake256(machine, narrow(SCRATCH as usize)); // few
        sponge.absorb(w.number(HEAD), w.sub(self.s2_from(), w.number(HEAD)), 32);
        self.set(NEXT, w.number(POINT));
        // Of the last word of a block four numbers are output.
        let words = u64::from(sponge.rate()).div_ceil(32);
        let rest = 32 * words - u64::from(sponge.rate());
        machine.repeat(w.number(BLOCKS_MAX), (), |machine, block, ()| {
            let next = |machine: &M| {
                machine.branch(block, |_| sponge.permute(), |_| ());
                machine.repeat(w.number(words), (), |machine, word, ()| {
                    let numbers = |machine: &M| {
                        let output = machine.bind(sponge.output_word(w.shl(word, w.number(5))));
                        let beyond = machine.bind(w.mul(w.number(rest), w.is_equal(word, w.number(words - 1))));
                        let mask = w.shl(machine.word(each(16, U256::from(0x8000))), w.shl(beyond, w.number(3)));
                        self.numbers(output, mask, w.sub(w.number(32), beyond));
                    };
                    machine.branch(self.is_missing(), numbers, |_| ());
                });
            };
            machine.branch(self.is_missing(), next, |_| ());
        });
        unless_return_zero(machine, machine.not(self.is_missing()));
    }

    /// As many blocks as could make what is missing.
    fn round(&self) {
        let Self { machine, ref w, .. } = *self;
        let blocks = w.high(w.sub(w.number(POINT_END + 31), self.get(NEXT)), 5);
        machine.repeat(machine.bind(blocks), (), |_, _, ()| self.block());
    }

    /// Sixteen numbers, of which those that are 5·q or more are cut out.
    fn block(&self) {
        let Self { machine, ref w, .. } = *self;
        let block = machine.keccak256_scratch(w.number(BUFFER), w.number(40));
        self.set(COUNT, w.add(machine.word(U256::ONE << 192), self.get(COUNT)));
        self.numbers(block, machine.word(each(16, U256::from(0x8000))), w.number(32));
    }

    /// The first numbers of a block, so many bytes, of which the highest bits are in a mask.
    fn numbers(&self, block: M::Word, mask: M::Word, bytes: M::Word) {
        let Self { machine, ref w, .. } = *self;
        // Bit 15, and a carry into it of the others.
        let low = w.and(machine.word(each(16, U256::from(0x7fff))), block);
        let carry = w.add(machine.word(each(16, U256::from((1 << 16) - 5 * MODULUS))), low);
        let marks = machine.bind(w.and(mask, w.and(carry, block)));
        let next = machine.bind(self.get(NEXT));
        machine.set_scratch(next, block);
        self.set(MARKS, marks);
        let large = machine.bind(w.high(w.mul(machine.word(each(16, U256::from(1))), w.high(marks, 15)), 240));
        self.set(NEXT, w.sub(w.add(bytes, next), w.shl(large, w.number(1))));
        machine.repeat(large, (), |_, _, ()| {
            self.with_zeros(|leading_zeros| {
                let marks = machine.bind(self.get(MARKS));
                let below = machine.bind(w.shr(machine.word(U256::MAX), leading_zeros(marks)));
                let block = machine.bind(machine.scratch_word(next));
                let moved = w.xor(block, w.shl(block, w.number(16)));
                machine.set_scratch(next, w.xor(block, w.and(below, moved)));
                self.set(MARKS, w.shl(w.and(w.high(below, 1), marks), w.number(16)));
            });
        });
    }

    /// Eight coefficients a turn to lanes: a sign in bit 30, seven bits from 23 on, and from 14 on nine and the length of the unary part.
    ///
    /// A window has a bit that may be anything, then the next ones of s₂, and a mark at its end that tells how many have gone. An unary part that is not too
    /// long ends 24 bits after that at most, so that eight leave the mark in its place.
    fn decompress(&self) {
        let Self { machine, ref w, .. } = *self;
        self.set(BIT, w.shl(self.s2_from(), w.number(3)));
        // Read from scratch memory, so that they lie on the stack: constants would be pushed wherever they are read, in 33 bytes.
        let held = |place, value| {
            self.set(place, machine.word(value));
            machine.bind(self.get(place))
        };
        let unary = held(BAD, U256::MAX >> 9);
        let before = held(GOOD, U256::from(0xff) << 247);
        let eight = |turn: M::Word, leading_zeros: &dyn Fn(M::Word) -> M::Word| {
            let bit = machine.bind(self.get(BIT));
            let to = machine.bind(w.shl(turn, w.number(5)));
            let bits = w.shl(machine.calldata_word(w.high(bit, 3)), w.and(w.number(7), bit));
            let mut window = machine.bind(w.or(w.number(1), w.high(bits, 1)));
            for coefficient in 0..8 {
                let length = leading_zeros(w.and(unary, window));
                let length = machine.bind(length);
                let first = w.and(before, window);
                let lane = w.or(w.shl(length, w.number(256 - 32 + 14)), first);
                let to = if coefficient == 0 { to } else { w.add(w.number(4 * coefficient), to) };
                machine.set_scratch(to, lane);
                window = machine.bind(w.shl(window, length));
            }
            let mark = w.and(w.sub(w.number(0), window), window);
            let gone = w.sub(w.number(255), leading_zeros(mark));
            self.set(BIT, w.add(gone, bit));
        };
        // few
        machine.repeat(w.number(WORDS as u64), (), |_, turn, ()| self.with_zeros(|zeros| eight(turn, zeros)));
        self.end_decompression();
    }

    /// No more than there is, and only zeros after it: at most 392 bits, as a coefficient has nine or more.
    pub(super) fn end_decompression(&self) {
        let Self { machine, ref w, .. } = *self;
        let bit = machine.bind(self.get(BIT));
        let end = w.shl(machine.calldata_size(), w.number(3));
        unless_return_zero(machine, machine.not(w.is_below(end, bit)));
        let rest = |bit: M::Word| w.shl(machine.calldata_word(w.high(bit, 3)), w.and(w.number(7), bit));
        let after = machine.bind(w.add(w.number(249), bit));
        unless_return_zero(machine, machine.not(w.or(rest(after), rest(bit))));
    }

    /// All lanes in reverse.
    fn reversed(&self, word: M::Word) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        let mut word = word;
        for bits in [32usize, 64] {
            let mask =
                (0..256).step_by(2 * bits).fold(U256::ZERO, |mask, bit| mask | (U256::MAX >> (256 - bits)) << bit);
            let mask = machine.word(mask);
            let shift = w.number(bits as u64); // few
            let up = w.shl(w.and(mask, word), shift);
            word = machine.bind(w.or(w.and(mask, w.shr(word, shift)), up));
        }
        machine.bind(w.or(w.high(word, 128), w.shl(word, w.number(128))))
    }

    /// Adds Σ (x − less)² of the lanes of two words, of 15 bits each, to the norm.
    fn add_squares(&self, words: [M::Word; 2], less: u64) {
        let Self { machine, ref w, .. } = *self;
        let together = machine.bind(w.or(w.shl(words[1], w.number(16)), words[0]));
        self.add_squares_together(together, words, less);
    }

    /// The words have the low and the high halves of the first one's lanes. One reversal serves both.
    fn add_squares_together(&self, together: M::Word, [first, second]: [M::Word; 2], less: u64) {
        let Self { machine, ref w, .. } = *self;
        let reversed = self.reversed(together);
        let low = w.and(self.lanes(0xffff), reversed);
        let high = w.and(self.lanes(0xffff), w.high(reversed, 16));
        let moved = |word: M::Word| if less == 0 { word } else { w.sub(word, self.lanes(less)) };
        let product = |a: M::Word, b: M::Word| w.mul(moved(a), moved(b));
        let sum = w.add(product(low, first), product(high, second));
        // Lanes below may be negative, but not below −2³¹.
        let sum = if less == 0 { sum } else { w.add(machine.word(U256::ONE << 223), sum) };
        self.set(NORM, w.add(self.get(NORM), w.high(sum, 224)));
    }

    /// From what decompression has left to q + s₂, and its norm.
    fn signs_and_norm(&self) {
        let Self { machine, ref w, .. } = *self;
        self.set(BAD, w.number(0));
        self.set(GOOD, machine.word(U256::MAX));
        machine.repeat(w.number(WORDS as u64 / 2), (), |_, turn, ()| {
            // few
            let at = machine.bind(w.shl(turn, w.number(6)));
            let after = machine.bind(w.add(w.number(32), at));
            let cells = [at, after].map(|at| machine.bind(w.sub(machine.scratch_word(at), self.lanes(9 << 14))));
            // Unary parts are below 16, and bits 14 to 30 are not those of −0.
            let [first, second] = cells;
            self.set(BAD, w.or(w.or(self.get(BAD), second), first));
            let others = |cells| w.add(self.lanes(0x1_ffff), w.high(w.xor(self.lanes(1 << 30), cells), 14));
            self.set(GOOD, w.and(w.and(self.get(GOOD), others(second)), others(first)));
            let sizes = [(at, first), (after, second)].map(|(at, cells)| {
                let high = w.and(self.lanes(0xf << 7), w.high(cells, 7));
                let low = w.and(self.lanes(0x7f), w.high(cells, 23));
                let size = machine.bind(w.add(low, high));
                let sign = machine.bind(w.and(self.lanes(1), w.high(cells, 30)));
                // All eleven bits of those that are negative: with them turned, size is 2047 − size.
                let turned = machine.bind(w.sub(w.shl(sign, w.number(11)), sign));
                let sum = w.add(self.lanes(MODULUS), w.xor(turned, size));
                machine.set_scratch(at, w.sub(sum, turned));
                size
            });
            self.add_squares(sizes, 0);
        });
        let all = self.lanes(1 << 17);
        let has_wrong = w.and(self.lanes(0x1f << 18), self.get(BAD));
        unless_return_zero(machine, machine.not(has_wrong));
        unless_return_zero(machine, w.is_equal(w.and(all, self.get(GOOD)), all));
    }

    /// Sixteen coefficients modulo q from a byte of calldata on, with a mark in BAD if one is not below q, and numbers of −6144 to 6144 above q that are congruent.
    pub(super) fn coefficients(&self, from: M::Word) -> [M::Word; 2] {
        let Self { machine, ref w, .. } = *self;
        let all = |number: u64| machine.word(each(16, U256::from(number)));
        let cells = machine.bind(machine.calldata_word(from));
        // A carry out of a number goes on from one of 2¹⁵ or more, which is bad itself.
        let large = w.add(all((1 << 15) - MODULUS), cells);
        self.set(BAD, w.or(w.or(self.get(BAD), large), cells));
        let is_negative = w.and(all(1), w.high(w.add(all((1 << 15) - CENTRE - 1), cells), 15));
        let moved = w.sub(w.add(all(MODULUS), cells), w.mul(w.number(MODULUS), is_negative));
        [cells, machine.bind(moved)]
    }

    /// Nothing is returned but 0 for numbers with a mark.
    pub(super) fn refuse_numbers(&self) {
        let Self { machine, ref w, .. } = *self;
        let marks = machine.word(each(16, U256::from(1 << 15)));
        unless_return_zero(machine, machine.not(w.and(marks, self.get(BAD))));
    }

    /// Sixteen coefficients a turn to lanes, and their norm.
    fn numbers_and_norm(&self) {
        let Self { machine, ref w, .. } = *self;
        let from = machine.bind(self.s2_from());
        machine.repeat(w.number(WORDS as u64 / 2), (), |_, turn, ()| {
            // few
            let [cells, moved] = self.coefficients(w.add(from, w.shl(turn, w.number(5))));
            let at = machine.bind(w.shl(turn, w.number(6)));
            machine.set_scratch(at, self.spread(cells, true));
            machine.set_scratch(w.add(w.number(32), at), self.spread(cells, false));
            let halves = [moved, w.high(moved, 16)].map(|word| machine.bind(w.and(self.lanes(0xffff), word)));
            self.add_squares_together(moved, halves, MODULUS);
        });
        self.refuse_numbers();
    }

    /// Eight numbers of 16 bits, the high half of a word or the low one, to lanes.
    pub(super) fn spread(&self, word: M::Word, is_high: bool) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        let mut word = if is_high { w.high(word, 128) } else { w.and(machine.word(U256::MAX >> 128), word) };
        for bits in [64usize, 32, 16] {
            let mask =
                (0..256).step_by(2 * bits).fold(U256::ZERO, |mask, bit| mask | (U256::MAX >> (256 - bits)) << bit);
            word = machine.bind(word);
            word = w.and(machine.word(mask), w.or(word, w.shl(word, w.number(bits as u64)))); // few
        }
        word
    }

    /// s₁ = c − s₂·h, centred, and its norm.
    ///
    /// One quotient makes c − s₂·h + q + 6144, below 7·q, a number of −1 to q − 1: −1 in place of q − 1 alone, which is a coefficient of 6144 whose
    /// square is above the bound by itself.
    fn rest_of_norm(&self) {
        let Self { machine, ref w, .. } = *self;
        machine.repeat(w.number(WORDS as u64 / 2), (), |_, turn, ()| {
            // few
            let numbers = w.add(w.number(POINT), w.shl(turn, w.number(5)));
            let numbers = machine.bind(machine.scratch_word(numbers));
            let at = machine.bind(w.shl(turn, w.number(6)));
            let values = [true, false].map(|is_high| {
                let at = if is_high { at } else { w.add(w.number(32), at) };
                let point = self.spread(numbers, is_high);
                let moved = w.add(self.lanes(MODULUS + CENTRE), point);
                let difference = machine.bind(w.sub(moved, machine.scratch_word(at)));
                let quotient = w.high(w.mul(w.number(5_461), difference), 26);
                let times = w.and(self.lanes(0x3f), quotient);
                // One more, so that no lane is negative.
                machine.bind(w.sub(w.add(self.lanes(1), difference), w.mul(w.number(MODULUS), times)))
            });
            self.add_squares(values, CENTRE + 1);
        });
    }
}
