//! Verification: FIPS 204, algorithm 8.

mod rows;
mod slots;

use super::{DEGREE, Hash, MODULUS, Scheme, TR_BYTES, narrow};
use crate::encoding::unless_return_zero;
use crate::hashes::reversed;
use crate::hashes::sha3::Sponge;
use crate::ntt::DILITHIUM;
use crate::ntt::residues::WORDS;
use crate::words::{Words, each};
use residue_ir::{Feature, LaneStep, Lanes, Machine, ModOp, Piece};
use ruint::aliases::U256;
use slots::Areas;

/// Bits of a lane.
const LANE_BITS: u32 = 64;
/// Bytes of a polynomial in words of lanes.
const POLYNOMIAL: u64 = 32 * WORDS as u64;
/// Polynomials are transformed here, and then stand one after the other.
const WORK: u64 = 0;
const VECTOR: u64 = WORK + POLYNOMIAL;
/// Coefficients are below 2²⁴ when they are transformed, and residues below 20·q after that.
const COEFFICIENT_BITS: u32 = 24;
const RESIDUE_TIMES: u32 = 20;
/// Sums of products are below 2²⁵ when they are transformed back.
const SUM_BITS: u32 = 25;
/// The reduction of sums: the quotient is ⌊⌊v / 2^FIRST⌋·FACTOR / 2^SHIFT⌋.
const FIRST: u32 = 23;
const SHIFT: u32 = 31;
const FACTOR: u64 = (1 << (FIRST + SHIFT)) / MODULUS;
/// Numbers that ζ is multiplied by have so many bits.
const ROOT_BITS: u32 = 27;
/// Bits of a number of a key.
const KEY_BITS: u32 = 23;
/// Bytes of the stream that c is made of, after eight with signs. That they do not suffice has a probability below 2⁻¹⁴⁰, or 2⁻²⁰⁰ for ML-DSA-44.
const STREAM: u64 = 128;
/// Those that are gone through without a look whether c is complete.
const PIECE: u64 = 16;
/// Bytes of an entry of the table of ζ.
const ROOT_BYTES: usize = 6;
/// Blocks of z that are decoded in a turn.
const TURN: u64 = 3;
/// Bits of a field in which a number of z is compared with bounds.
const NORM_BITS: u32 = 21;

/// `number` in all lanes.
fn lanes(number: u64) -> U256 {
    each(LANE_BITS as usize, U256::from(number)) // u32 to usize widens
}

/// The lowest `bits` bits of all lanes.
fn low_bits(bits: u32) -> U256 {
    lanes(u64::MAX >> (LANE_BITS - bits))
}

/// Places of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// In lanes of words.
    Words,
    /// In slots.
    Slots,
}

/// Places in scratch memory after the vector: all is written before it is read.
#[derive(Debug, Clone, Copy)]
struct Places {
    /// μ and w₁.
    hashed: u64,
    /// Output that c is made of.
    stream: u64,
    /// The table of ζ.
    roots: u64,
    /// A state of 32 bytes and a count of 8.
    buffer: u64,
    /// Unused places of hints.
    unused: u64,
    /// Words that go from one part to the next: see [`Verifier`].
    cells: u64,
    sponge: u64,
}

impl Places {
    const fn of(scheme: Scheme, form: Form) -> Self {
        let hashed = match form {
            Form::Words => VECTOR + POLYNOMIAL * (scheme.columns as u64 + 1), // few
            // Nothing of it is there while a key's halves are.
            Form::Slots => Areas::of(scheme).halves,
        };
        let stream = hashed + 1_024;
        let roots = stream + 192;
        let buffer = roots + (ROOT_BYTES * WORDS) as u64 + 32; // few
        let unused = buffer + 64;
        let cells = match form {
            Form::Words => unused + 96,
            Form::Slots => Areas::of(scheme).end,
        };
        let sponge = match form {
            Form::Words => cells + 256,
            // Functions of a name have one text.
            Form::Slots => Self::of(scheme, Form::Words).sponge,
        };
        Self { hashed, stream, roots, buffer, unused, cells, sponge }
    }
}

/// The text.
pub(super) fn text<M: Machine>(machine: &M, scheme: Scheme, hash: Hash) {
    let verifier = |form| {
        let (at, areas) = (Places::of(scheme, form), Areas::of(scheme));
        Verifier { machine, w: Words(machine), scheme, hash, form, at, areas }
    };
    let in_words = |_: &M| verifier(Form::Words).answer();
    let in_slots = |_: &M| verifier(Form::Slots).answer();
    let otherwise = |_: &M| ();
    // What ends the program has nothing after it.
    machine.branch(machine.has(Feature::WordLanes), in_words, otherwise);
    let with_powers = |machine: &M| machine.branch(machine.has(Feature::Given), in_slots, otherwise);
    machine.branch(machine.has(Feature::PowersOfTwo), with_powers, otherwise);
    in_words(machine);
}

/// The smaller one of a word and a number.
fn at_most<M: Machine>(machine: &M, word: M::Word, limit: u64) -> M::Word {
    crate::encoding::at_most(machine, word, machine.small(limit))
}

/// Words in scratch memory.
#[derive(Debug, Clone, Copy)]
enum Cell {
    /// The place in calldata of a polynomial of z.
    From,
    /// Bits of numbers of z that none may have.
    Bad,
    /// One more than the place of c that is next, or 0.
    Limit,
    /// Signs of c.
    Signs,
    /// Hints that there were, and those of a row.
    Done,
    Count,
    /// The place where w₁ goes on.
    To,
    /// The block that is next, and the place of a polynomial that is decoded.
    Block,
    Field,
}

struct Verifier<'m, M: Machine> {
    machine: &'m M,
    w: Words<'m, M>,
    scheme: Scheme,
    hash: Hash,
    form: Form,
    at: Places,
    areas: Areas,
}

impl<M: Machine> Verifier<'_, M> {
    /// The answer to calldata.
    fn answer(&self) {
        let Self { machine, ref w, scheme, .. } = *self;
        // All few.
        let [key_bytes, signature_bytes] =
            [scheme.transformed_bytes(), scheme.signature_bytes()].map(|bytes| bytes as u64);
        let head = 32 + key_bytes;
        let least = w.number(head + 2 + signature_bytes);
        unless_return_zero(machine, machine.not(w.is_below(machine.calldata_size(), least)));
        machine.scratch(narrow(key_bytes.max(self.end())));
        machine.copy_calldata(w.number(0), w.number(32), w.number(key_bytes));
        let key_hash = machine.keccak256_scratch(w.number(0), w.number(key_bytes));
        unless_return_zero(machine, w.is_equal(key_hash, machine.calldata_word(w.number(0))));
        // The first byte is 0 and the second one, with two more, at most the bytes of the message.
        let size = machine.bind(w.sub(machine.calldata_size(), w.number(head + signature_bytes)));
        let header = w.high(machine.calldata_word(w.number(head)), 240);
        unless_return_zero(machine, w.is_below(header, w.sub(at_most(machine, size, 257), w.number(1))));
        self.unused_hints();
        match self.form {
            Form::Words => {
                self.roots();
                self.masks();
                self.challenge();
                self.transform(scheme.columns as u64); // few
                self.products();
                self.rows();
            }
            Form::Slots => {
                // Keccak's state is in the way of z.
                self.challenge();
                let last = narrow(self.areas.fields + POLYNOMIAL * scheme.columns as u64); // few
                machine.copy_scratch(last, narrow(WORK), narrow(POLYNOMIAL));
                self.masks();
                self.blocks();
                self.rows();
            }
        }
        self.compare(size);
    }
    /// End of scratch memory, without Keccak's state.
    fn end(&self) -> u64 {
        match self.form {
            Form::Words => self.at.sponge,
            Form::Slots => self.at.cells + 256,
        }
    }

    /// z, and the answer 0 if a coefficient of it is too large.
    fn masks(&self) {
        for column in 0..self.scheme.columns as u64 {
            // few
            self.mask(column);
        }
        self.norm();
    }

    fn cell(&self, cell: Cell) -> M::Word {
        self.w.number(self.at.cells + 32 * cell as u64)
    }

    fn get(&self, cell: Cell) -> M::Word {
        self.machine.scratch_word(self.cell(cell))
    }

    fn set(&self, cell: Cell, word: M::Word) {
        self.machine.set_scratch(self.cell(cell), word);
    }

    /// Byte of calldata where a signature's part begins, so many bytes before its end.
    fn before_end(&self, bytes: usize) -> M::Word {
        self.w.sub(self.machine.calldata_size(), self.w.number(bytes as u64)) // few
    }

    /// First byte of z.
    fn mask_from(&self) -> M::Word {
        self.before_end(self.scheme.signature_bytes() - self.scheme.challenge_bytes)
    }

    /// First byte of hints.
    fn hints_from(&self) -> M::Word {
        self.before_end(self.scheme.hint_bytes())
    }

    /// `bytes` zeros.
    /// Places of hints after the last one are 0.
    fn unused_hints(&self) {
        let Self { machine, ref w, scheme, at, .. } = *self;
        let counts = machine.calldata_word(self.before_end(scheme.rows));
        let last = w.number(scheme.rows as u64 - 1); // few
        let used = machine.bind(machine.word_op(residue_ir::WordOp::Byte, counts, last));
        let most = w.number(scheme.hints_max as u64); // few
        unless_return_zero(machine, machine.not(w.is_below(most, used)));
        self.w.clear(at.unused, 96);
        machine.copy_calldata(w.number(at.unused), w.add(used, self.hints_from()), w.sub(most, used));
        let word = |number: u64| machine.scratch_word(w.number(at.unused + 32 * number));
        unless_return_zero(machine, machine.not(w.or(w.or(word(0), word(1)), word(2))));
    }

    /// The table: ζ and ζ·2^ROOT_BITS, in three bytes each.
    fn roots(&self) {
        let Self { machine, ref w, at, .. } = *self;
        let entry = |word: usize| {
            let root = DILITHIUM.residue_root(word);
            let shifted = (root << ROOT_BITS) % MODULUS;
            [root, shifted].into_iter().flat_map(|number| number.to_be_bytes().into_iter().skip(5))
        };
        let bytes: Vec<u8> = (0..WORDS).flat_map(entry).collect();
        for (number, word) in (0..).zip(bytes.chunks(32)) {
            machine.set_scratch(w.number(at.roots + 32 * number), machine.word(U256::from_be_slice(word)));
        }
    }

    /// Transforms a polynomial in the place for that, and puts it into the vector.
    fn transform(&self, number: u64) {
        self.machine.function("forward", (), |machine, ()| {
            let read = |word| LaneStep::Read { word, from: narrow(WORK) + 32 * word, bits: COEFFICIENT_BITS };
            let leave = |word| Some(LaneStep::Leave { word, times: RESIDUE_TIMES });
            let steps = DILITHIUM.forward(|word| narrow(word as u64), read, leave); // few
            machine.lanes(&transform_of(steps));
        });
        self.machine.copy_scratch(narrow(VECTOR + POLYNOMIAL * number), narrow(WORK), narrow(POLYNOMIAL));
    }

    /// A polynomial of z.
    fn mask(&self, column: u64) {
        let Self { w, scheme, .. } = self;
        if column == 0 {
            self.set(Cell::Bad, w.number(0));
            self.set(Cell::From, self.mask_from());
        } else {
            self.set(Cell::From, w.add(w.number(scheme.polynomial_bytes() as u64), self.get(Cell::From))); // few
        }
        match self.form {
            Form::Words => {
                self.machine.function("mask", (), |_, ()| self.decode());
                self.transform(column);
            }
            Form::Slots => {
                self.set(Cell::Field, w.number(self.areas.fields + POLYNOMIAL * column));
                self.machine.function("field", (), |_, ()| self.decode());
            }
        }
    }

    /// q + z from numbers γ₁ − z, of which three words are in as many whole bytes as a word has; in slots these numbers as they are.
    fn decode(&self) {
        let Self { machine, ref w, scheme, .. } = *self;
        let bytes = u64::from(3 * 4 * scheme.mask_bits / 8);
        let from = machine.bind(self.get(Cell::From));
        let blocks = WORDS as u64 / 3; // few
        let base = (self.form == Form::Slots).then(|| machine.bind(self.get(Cell::Field)));
        let place = |at| base.map_or(at, |base| w.add(base, at));
        machine.repeat(w.number(blocks / TURN), (), |machine, turn, ()| {
            let [first, at] =
                [w.add(w.mul(w.number(TURN * bytes), turn), from), place(w.mul(w.number(TURN * 96), turn))];
            let [first, at] = [first, at].map(|word| machine.bind(word));
            for block in 0..TURN {
                let after = |first, bytes| if block == 0 { first } else { w.add(w.number(bytes * block), first) };
                let word = machine.calldata_word(after(first, bytes));
                self.numbers(reversed(machine, word, 256), after(at, 96), 3);
            }
        });
        let word = machine.calldata_word(w.add(w.number(bytes * blocks), from));
        self.numbers(reversed(machine, word, 256), place(w.number(WORK + 96 * blocks)), 1);
    }

    /// The lowest numbers of a word to so many words of lanes, three at most.
    fn numbers(&self, word: M::Word, at: M::Word, count: u32) {
        let Self { machine, ref w, scheme, .. } = *self;
        let bits = scheme.mask_bits;
        let word = machine.bind(word);
        let mask = |bits: u32, distance: usize| machine.word(each(distance, (U256::ONE << bits as usize) - U256::ONE));
        let at = machine.bind(at);
        let mut all = None;
        for number in 0..count {
            let shifted = if number == 0 { word } else { w.high(word, u64::from(4 * bits * number)) };
            // After the last of three there is nothing in the way.
            let four = if number == 2 { shifted } else { w.and(mask(4 * bits, 256), shifted) };
            let four = machine.bind(four);
            // Where nothing is in the way a product takes less; code in words is as it was.
            let beside = |word, distance: u32, is_alone| match is_alone && self.form == Form::Slots {
                true => w.mul(machine.word(U256::ONE | U256::ONE << distance as usize), word), // widens
                false => w.or(word, w.shl(word, w.number(distance.into()))),
            };
            let pairs = beside(four, 128 - 2 * bits, number < 2);
            let pairs = machine.bind(w.and(mask(2 * bits, 128), pairs));
            let single = beside(pairs, 64 - bits, true);
            let single = machine.bind(w.and(mask(bits, 64), single));
            let to = if number == 0 { at } else { w.add(w.number(u64::from(32 * number)), at) };
            let stored = match self.form {
                Form::Words => w.sub(machine.word(lanes(MODULUS + scheme.mask_range())), single),
                Form::Slots => single,
            };
            machine.set_scratch(to, stored);
            all = Some(machine.bind(match all {
                None => single,
                Some(all) => w.or(w.shl(single, w.number((NORM_BITS * number).into())), all),
            }));
        }
        // γ₁ − z is above β and below 2γ₁ − β: for three numbers at a time in each lane. The lowest one that is too small leaves ones in its highest bits.
        let fields = |number: u64| machine.word(lanes((0..count).fold(0, |sum, at| sum | number << (NORM_BITS * at))));
        let all = all.expect("there are numbers");
        let above = w.add(fields(scheme.slack), all);
        let below = w.sub(all, fields(scheme.slack + 1));
        self.set(Cell::Bad, w.or(self.get(Cell::Bad), w.or(above, below)));
    }

    /// The answer is 0 if a coefficient of z is too large.
    fn norm(&self) {
        let Self { machine, ref w, scheme, .. } = *self;
        let over = (1 << NORM_BITS) - (1 << scheme.mask_bits);
        let over = machine.word(lanes((0..3).fold(0, |sum, at| sum | over << (NORM_BITS * at))));
        unless_return_zero(machine, machine.not(w.and(over, self.get(Cell::Bad))));
    }

    /// c, as numbers from −1 to 1 modulo q; in slots γ₁ less these.
    fn challenge(&self) {
        let Self { machine, ref w, scheme, at, .. } = *self;
        self.stream();
        let signs = w.high(reversed(machine, machine.scratch_word(w.number(at.stream)), 64), 192);
        self.set(Cell::Signs, signs);
        match self.form {
            Form::Words => self.w.clear(WORK, POLYNOMIAL),
            Form::Slots => slots::fill(machine, WORK, scheme.mask_range()),
        }
        let first = (DEGREE - scheme.weight + 1) as u64; // few
        self.set(Cell::Limit, w.number(first));
        machine.repeat(w.number(STREAM / PIECE), (), |machine, piece, ()| {
            let bytes = |machine: &M| {
                let from = machine.bind(w.add(w.number(at.stream + 8), w.mul(w.number(PIECE), piece)));
                machine.repeat(w.number(PIECE), (), |machine, byte, ()| {
                    let byte = machine.bind(w.high(machine.scratch_word(w.add(byte, from)), 248));
                    let limit = machine.bind(self.get(Cell::Limit));
                    machine.branch(w.is_below(byte, limit), |_| self.place(byte, limit, first), |_| ());
                });
            };
            machine.branch(self.get(Cell::Limit), bytes, |_| ());
        });
        unless_return_zero(machine, machine.not(self.get(Cell::Limit)));
    }

    /// The coefficient of c at place `other` goes to place `limit` − 1, and a sign there.
    fn place(&self, other: M::Word, limit: M::Word, first: u64) {
        let Self { machine, ref w, .. } = *self;
        // Of the four coefficients of a word the first one is the last number.
        let at = |place: M::Word| machine.bind(w.xor(w.number(24), w.shl(place, w.number(3))));
        let from = at(other);
        let to = at(w.sub(limit, w.number(1)));
        let top = machine.word(U256::MAX << 192);
        let moved = w.and(top, machine.scratch_word(from));
        // There is 0, or γ₁.
        let there = match self.form {
            Form::Words => w.or(moved, machine.scratch_word(to)),
            Form::Slots => {
                let range = machine.word(slots::in_front(self.scheme.mask_range()));
                w.xor(w.xor(range, moved), machine.scratch_word(to))
            }
        };
        machine.set_scratch(to, there);
        let sign = w.and(w.number(1), w.shr(self.get(Cell::Signs), w.sub(limit, w.number(first))));
        let value = match self.form {
            Form::Words => w.add(w.number(1), w.mul(w.number(MODULUS - 2), sign)),
            Form::Slots => w.add(w.number(self.scheme.mask_range() - 1), w.shl(sign, w.number(1))),
        };
        let rest = w.and(machine.word(U256::MAX >> 64), machine.scratch_word(from));
        machine.set_scratch(from, w.or(w.shl(value, w.number(192)), rest));
        self.set(Cell::Limit, w.modulo(w.add(w.number(1), limit), w.number(DEGREE as u64 + 1))); // few
    }

    /// Output of a hash of c̃.
    fn stream(&self) {
        let Self { machine, ref w, scheme, hash, at, .. } = *self;
        let seed_bytes = w.number(scheme.challenge_bytes as u64); // few
        let seed = self.before_end(scheme.signature_bytes());
        match hash {
            Hash::Keccak => {
                let state = machine.keccak256(&[Piece::Calldata { offset: seed, size_bytes: seed_bytes }]);
                self.counted(state, at.stream, (8 + STREAM).div_ceil(32));
            }
            Hash::Shake => {
                let sponge = self.sponge();
                sponge.absorb(seed, seed_bytes, 0);
                for from in (0..8 + STREAM).step_by(32) {
                    machine.set_scratch(w.number(at.stream + from), sponge.output_word(w.number(from)));
                }
            }
        }
    }

    /// A sponge of zeros.
    fn sponge(&self) -> Sponge<'_, M> {
        let sponge = Sponge::shake256(self.machine, narrow(self.at.sponge));
        self.w.clear(self.at.sponge, u64::from(sponge.end()) - self.at.sponge);
        sponge
    }

    /// Hashes of a state and of counts from 0 on, so many.
    fn counted(&self, state: M::Word, to: u64, count: u64) {
        let Self { machine, ref w, at, .. } = *self;
        machine.set_scratch(w.number(at.buffer), state);
        for number in 0..count {
            machine.set_scratch(w.number(at.buffer + 32), machine.word(U256::from(number) << 192));
            let block = machine.keccak256_scratch(w.number(at.buffer), w.number(40));
            machine.set_scratch(w.number(to + 32 * number), block);
        }
    }

    /// Â·z − c·t₁·2ᵈ by residues: rows take the places of the vector.
    ///
    /// Residues are words a and b of four numbers, and MULMOD(a, b, 2²⁵⁶ − 1) has the sums of the products of all pairs whose degrees are congruent modulo 4,
    /// MUL(a, b) of those whose degrees are less than 4. The difference is multiplied by ζ, in two parts.
    fn products(&self) {
        let Self { machine, ref w, scheme, at, .. } = *self;
        let columns = scheme.columns + 1;
        assert!(is_reduced(columns), "sums fit lanes");
        machine.repeat(w.number(WORDS as u64), (), |machine, turn, ()| {
            // few
            let root =
                machine.bind(machine.scratch_word(w.add(w.number(at.roots), w.mul(w.number(ROOT_BYTES as u64), turn))));
            let roots =
                [w.high(root, 232), w.and(w.number(0xff_ffff), w.high(root, 208))].map(|root| machine.bind(root));
            let at = machine.bind(w.shl(turn, w.number(5)));
            let after = |place: u64| w.add(w.number(place), at);
            let vector: Vec<M::Word> = (0..columns as u64)
                .map(|column| machine.bind(machine.scratch_word(after(VECTOR + POLYNOMIAL * column))))
                .collect();
            for row in 0..scheme.rows {
                let key = self.key(row * columns..(row + 1) * columns, at);
                let pairs = || vector.iter().copied().zip(key.iter().copied());
                let sum = |terms: Vec<M::Word>| {
                    terms.into_iter().reduce(|sum, term| w.add(term, sum)).expect("columns are many")
                };
                let low = machine.bind(sum(pairs().map(|(a, b)| w.mul(a, b)).collect()));
                let all = machine.word(U256::MAX);
                let cyclic = sum(pairs().map(|(a, b)| machine.mod_op(ModOp::Mul, a, b, all)).collect());
                let high = machine.bind(w.sub(cyclic, low));
                let part = |number: M::Word, bits: u32| w.and(machine.word(low_bits(bits)), number);
                let first = w.mul(roots[0], part(high, ROOT_BITS));
                let second = part(w.high(high, ROOT_BITS.into()), LANE_BITS - ROOT_BITS);
                let second = w.mul(roots[1], second);
                let all = machine.bind(w.add(w.add(second, first), low));
                let estimate = w.mul(w.number(FACTOR), part(w.high(all, FIRST.into()), LANE_BITS - FIRST));
                let quotient = part(w.high(estimate, SHIFT.into()), LANE_BITS - SHIFT);
                let reduced = w.sub(all, w.mul(w.number(MODULUS), quotient));
                machine.set_scratch(after(VECTOR + POLYNOMIAL * row as u64), reduced);
            }
        });
    }

    /// Words of a key, numbered row by row.
    fn key(&self, numbers: std::ops::Range<usize>, at: M::Word) -> Vec<M::Word> {
        let Self { machine, ref w, .. } = *self;
        let mask = machine.word(low_bits(KEY_BITS));
        let mut words = Vec::new();
        let mut number = numbers.start;
        while number < numbers.end {
            let place = 32 + POLYNOMIAL * (number as u64 / 2); // few
            let both = machine.calldata_word(w.add(w.number(place), at));
            let is_pair = number.is_multiple_of(2) && number + 1 < numbers.end;
            let both = if is_pair { machine.bind(both) } else { both };
            let second = |both| machine.bind(w.and(mask, w.high(both, 32)));
            let first = |both| machine.bind(w.and(mask, both));
            match (number % 2, is_pair) {
                (0, true) => {
                    let second = second(both);
                    words.extend([first(both), second]);
                    number += 1;
                }
                (0, false) => words.push(first(both)),
                _ => words.push(second(both)),
            }
            number += 1;
        }
        words
    }

    /// Returns the answer, for a message of so many bytes with its header.
    fn compare(&self, message_bytes: M::Word) {
        let Self { machine, ref w, scheme, hash, at, .. } = *self;
        let key_bytes = scheme.transformed_bytes();
        let tr = w.number((32 + key_bytes - TR_BYTES) as u64); // few
        let size = w.add(w.number(TR_BYTES as u64), message_bytes); // few
        let seed = machine.bind(self.before_end(scheme.signature_bytes()));
        let hashed_bytes = 64 + (scheme.rows * DEGREE) as u64 * u64::from(scheme.high_bits()) / 8; // few
        match hash {
            Hash::Keccak => {
                let state = machine.keccak256(&[Piece::Calldata { offset: tr, size_bytes: size }]);
                self.counted(state, at.hashed, 2);
                let state = machine.bind(machine.keccak256_scratch(w.number(at.hashed), w.number(hashed_bytes)));
                self.counted(state, at.stream, 1);
                let first = machine.scratch_word(w.number(at.stream));
                machine.return_word(w.is_equal(first, machine.calldata_word(seed)));
            }
            Hash::Shake => {
                let sponge = self.sponge();
                sponge.absorb(tr, size, 0);
                for from in [0, 32] {
                    machine.set_scratch(w.number(at.hashed + from), sponge.output_word(w.number(from)));
                }
                let sponge = self.sponge();
                sponge.absorb_scratch(narrow(at.hashed), narrow(hashed_bytes));
                let differs = w.xor(sponge.output_word(w.number(0)), machine.calldata_word(seed));
                let differs = match scheme.challenge_bytes {
                    32 => differs,
                    bytes => {
                        let second = machine.calldata_word(w.add(w.number(32), seed));
                        let second = w.xor(sponge.output_word(w.number(32)), second);
                        w.or(w.high(second, 8 * (64 - bytes) as u64), differs) // few
                    }
                };
                machine.return_word(machine.not(differs));
            }
        }
    }
}

fn transform_of(steps: Vec<LaneStep>) -> Lanes {
    Lanes { bits: LANE_BITS, modulus: narrow(MODULUS), words: narrow(WORDS as u64), home: narrow(WORK), steps } // few
}

/// Bounds of the sums of so many products, which are reduced: they fit lanes, and what is left of them has [`SUM_BITS`] bits.
const fn is_reduced(columns: usize) -> bool {
    let residue = RESIDUE_TIMES as u128 * MODULUS as u128 - 1; // all of them widen
    let terms = 4 * columns as u128;
    let sum = terms * residue * ((1 << KEY_BITS) - 1);
    let root = MODULUS as u128 - 1;
    let most = sum + root * ((1 << ROOT_BITS) - 1) + root * (sum >> ROOT_BITS);
    let quotient_fits = (most >> FIRST) * FACTOR as u128;
    // v less its quotient's multiple of q: by the bits that are not looked at, by the factor that is rounded down, and by the last rounding.
    let both = FIRST + SHIFT;
    let rest = (1u128 << both) - FACTOR as u128 * MODULUS as u128;
    let spare =
        FACTOR as u128 * MODULUS as u128 * ((1 << FIRST) - 1) + ((MODULUS as u128) << FIRST) * ((1 << SHIFT) - 1);
    let left = (most * rest + spare) >> both;
    most < 1 << LANE_BITS && quotient_fits < 1 << LANE_BITS && left < 1 << SUM_BITS
}
