//! Transformed keys: Â of the published ρ (FIPS 204, algorithm 32), t₁ and tr.

use super::{DEGREE, DROPPED_BITS, Hash, MODULUS, Scheme, TR_BYTES, narrow};
use crate::hashes::reversed;
use crate::hashes::sha3::Sponge;
use crate::ntt::DILITHIUM;
use crate::ntt::residues::WORDS;
use crate::words::Words;
use residue_ir::{LaneStep, Lanes, Machine, ModOp, Piece};
use ruint::aliases::U256;

/// Bytes of a polynomial in words of lanes.
const POLYNOMIAL: u64 = 32 * WORDS as u64;
/// Numbers of three bytes that a polynomial of Â is made of, at most: that 43 of them are not below q has a probability below 2⁻²⁵⁰.
const NUMBERS: u64 = 298;
/// Numbers of a block of SHAKE128, and blocks that mostly suffice.
const BLOCK_NUMBERS: u64 = 56;
const BLOCKS: u64 = 5;
/// 256⁻¹ modulo q: of two layers that are undone here, and of six that verification undoes.
const SCALE: u64 = 8_347_681;
/// Bytes of three inverse twiddles.
const ENTRY_BYTES: usize = 9;

/// Places in scratch memory after the transformed key.
#[derive(Debug, Clone, Copy)]
struct Places {
    /// A polynomial in words of lanes.
    work: u64,
    /// The numbers of a polynomial in a word each.
    values: u64,
    /// Output that numbers are made of.
    stream: u64,
    twiddles: u64,
    /// Input of a hash.
    input: u64,
    /// The place where the next number goes.
    next: u64,
    sponge: u64,
}

impl Places {
    fn of(scheme: Scheme) -> Self {
        let work = (scheme.transformed_bytes() as u64).next_multiple_of(32); // few
        let values = work + POLYNOMIAL;
        let stream = values + 32 * (BLOCKS + 1) * BLOCK_NUMBERS;
        let twiddles = stream + 1_024;
        let input = twiddles + (ENTRY_BYTES * WORDS).next_multiple_of(32) as u64 + 32; // few
        let next = input + 256;
        Self { work, values, stream, twiddles, input, next, sponge: next + 32 }
    }
}

/// The text. It halts exceptionally for calldata of another length.
pub(super) fn text<M: Machine>(machine: &M, scheme: Scheme, hash: Hash) {
    let w = Words(machine);
    let key_bytes = w.number(scheme.key_bytes() as u64); // few
    machine.require(w.is_equal(machine.calldata_size(), key_bytes));
    let register = Register { machine, w: Words(machine), scheme, hash, at: Places::of(scheme) };
    machine.scratch(narrow(register.at.sponge));
    register.twiddles();
    let columns = w.number(scheme.columns as u64 + 1); // few
    machine.repeat(w.number((scheme.rows * (scheme.columns + 1)) as u64), (), |machine, number, ()| {
        // few
        let row = machine.bind(w.div(number, columns));
        let column = machine.bind(w.modulo(number, columns));
        let is_last = w.is_equal(column, w.number(scheme.columns as u64)); // few
        machine.branch(is_last, |_| register.high(row), |_| register.entry(row, column));
        register.add(number);
    });
    register.hash_of_key();
    machine.return_scratch(w.number(0), w.number(scheme.transformed_bytes() as u64)); // few
}

struct Register<'m, M: Machine> {
    machine: &'m M,
    w: Words<'m, M>,
    scheme: Scheme,
    hash: Hash,
    at: Places,
}

impl<M: Machine> Register<'_, M> {
    /// For each word the inverse twiddles of its two pairs, and that of the layer before.
    fn twiddles(&self) {
        let Self { machine, ref w, at, .. } = *self;
        let nodes = |word: usize| [2 * WORDS + 2 * word, 2 * WORDS + 2 * word + 1, WORDS + word];
        let bytes = |node: usize| DILITHIUM.inverse_twiddle(node).to_be_bytes().into_iter().skip(5);
        let bytes: Vec<u8> = (0..WORDS).flat_map(nodes).flat_map(bytes).collect();
        for (number, word) in (0..).zip(bytes.chunks(32)) {
            machine.set_scratch(w.number(at.twiddles + 32 * number), machine.word(U256::from_be_slice(word)));
        }
    }

    /// Residues of −t₁·2ᵈ / 64 of a row.
    fn high(&self, row: M::Word) {
        let Self { machine, ref w, at, .. } = *self;
        let bytes = DEGREE as u64 * 10 / 8; // few
        let from = machine.bind(w.add(w.number(32), w.mul(w.number(bytes), row)));
        let lanes = |number: u64| {
            machine.word((0..256).step_by(64).fold(U256::ZERO, |word, bit| word | U256::from(number) << bit))
        };
        machine.repeat(w.number(WORDS as u64), (), |machine, word, ()| {
            // few
            let four = reversed(machine, machine.calldata_word(w.add(w.mul(w.number(5), word), from)), 256);
            let four = machine.bind(four);
            let part = |lane: u64| {
                let part = w.and(w.number(0x3ff), w.high(four, 10 * lane));
                w.shl(part, w.number(64 * lane))
            };
            let all = (1..4).fold(part(0), |all, lane| w.or(part(lane), all));
            let shifted = w.shl(all, w.number(u64::from(DROPPED_BITS - WORDS.trailing_zeros())));
            let place = w.add(w.number(at.work), w.shl(word, w.number(5)));
            machine.set_scratch(place, w.sub(lanes(MODULUS), shifted));
        });
        let read = |word| LaneStep::Read { word, from: narrow(at.work) + 32 * word, bits: 24 };
        let leave = |word| Some(LaneStep::Leave { word, times: 1 });
        let steps = DILITHIUM.forward(|word| narrow(word as u64), read, leave); // few
        machine.lanes(&Lanes {
            bits: 64,
            modulus: narrow(MODULUS),
            words: narrow(WORDS as u64),
            home: narrow(at.work),
            steps,
        });
    }

    /// Residues of a polynomial of Â / 64.
    fn entry(&self, row: M::Word, column: M::Word) {
        let Self { machine, ref w, hash, at, .. } = *self;
        machine.copy_calldata(w.number(at.input), w.number(0), w.number(32));
        machine.set_scratch_byte(w.number(at.input + 32), column);
        machine.set_scratch_byte(w.number(at.input + 33), row);
        machine.set_scratch(w.number(at.next), w.number(at.values));
        match hash {
            Hash::Keccak => {
                let state = machine.keccak256_scratch(w.number(at.input), w.number(34));
                self.counted(state, at.stream, (3 * NUMBERS).div_ceil(32));
                self.numbers(NUMBERS);
            }
            Hash::Shake => {
                let sponge = Sponge::shake128(machine, narrow(at.sponge));
                machine.scratch(sponge.end());
                self.clear(at.sponge, u64::from(sponge.end()) - at.sponge);
                sponge.absorb_scratch(narrow(at.input), 34);
                sponge.squeeze(narrow(at.stream), w.number(3 * BLOCKS * BLOCK_NUMBERS));
                self.numbers(BLOCKS * BLOCK_NUMBERS);
                let more = |_: &M| {
                    sponge.permute();
                    sponge.squeeze(narrow(at.stream), w.number(3 * BLOCK_NUMBERS));
                    self.numbers(BLOCK_NUMBERS);
                };
                machine.branch(self.is_missing(), more, |_| ());
            }
        }
        machine.require(machine.not(self.is_missing()));
        self.residues();
    }

    fn clear(&self, at: u64, bytes: u64) {
        let w = &self.w;
        self.machine.copy_calldata(w.number(at), self.machine.calldata_size(), w.number(bytes));
    }

    fn is_missing(&self) -> M::Word {
        let Self { machine, ref w, at, .. } = *self;
        w.is_below(machine.scratch_word(w.number(at.next)), w.number(at.values + 32 * DEGREE as u64)) // few
    }

    /// Hashes of a state and of counts from 0 on.
    fn counted(&self, state: M::Word, to: u64, count: u64) {
        let Self { machine, ref w, at, .. } = *self;
        machine.set_scratch(w.number(at.input), state);
        machine.repeat(w.number(count), (), |machine, number, ()| {
            machine.set_scratch(w.number(at.input + 32), w.shl(number, w.number(192)));
            let block = machine.keccak256_scratch(w.number(at.input), w.number(40));
            machine.set_scratch(w.add(w.number(to), w.shl(number, w.number(5))), block);
        });
    }

    /// Numbers of 23 bits of the stream; those that are not below q are written over.
    fn numbers(&self, count: u64) {
        let Self { machine, ref w, at, .. } = *self;
        machine.repeat(w.number(count), (), |machine, number, ()| {
            let from = w.add(w.number(at.stream), w.mul(w.number(3), number));
            let bytes = machine.bind(w.high(machine.scratch_word(from), 232));
            let [low, high] = [w.high(bytes, 16), w.shl(w.and(w.number(0x7f), bytes), w.number(16))];
            let number = machine.bind(w.or(w.or(low, high), w.and(w.number(0xff00), bytes)));
            let next = machine.bind(machine.scratch_word(w.number(at.next)));
            machine.set_scratch(next, number);
            let step = w.shl(w.is_below(number, w.number(MODULUS)), w.number(5));
            machine.set_scratch(w.number(at.next), w.add(step, next));
        });
    }

    /// Two layers backwards within each word.
    fn residues(&self) {
        let Self { machine, ref w, at, .. } = *self;
        let modulus = w.number(MODULUS);
        let sum = |a, b| machine.bind(machine.mod_op(ModOp::Add, a, b, modulus));
        let times = |a, b| machine.mod_op(ModOp::Mul, a, b, modulus);
        let less = |a, b| w.add(w.number(MODULUS), w.sub(a, b));
        machine.repeat(w.number(WORDS as u64), (), |machine, word, ()| {
            // few
            let from = machine.bind(w.add(w.number(at.values), w.shl(word, w.number(7))));
            let value = |number: u64| machine.scratch_word(w.add(w.number(32 * number), from));
            let entry = machine.scratch_word(w.add(w.number(at.twiddles), w.mul(w.number(ENTRY_BYTES as u64), word))); // few
            let entry = machine.bind(entry);
            let twiddle = |number: u64| w.and(w.number(0xff_ffff), w.high(entry, 232 - 24 * number));
            let [a, b, c, d] = [0, 1, 2, 3].map(|number| machine.bind(value(number)));
            let second = machine.bind(times(less(a, b), twiddle(0)));
            let fourth = machine.bind(times(less(c, d), twiddle(1)));
            let [first, third] = [sum(a, b), sum(c, d)];
            let outer = machine.bind(twiddle(2));
            let numbers = [
                sum(first, third),
                sum(second, fourth),
                machine.bind(times(less(first, third), outer)),
                machine.bind(times(less(second, fourth), outer)),
            ];
            let scaled = |lane: usize| {
                let number = times(numbers[lane], w.number(SCALE));
                w.shl(number, w.number(64 * lane as u64)) // few
            };
            let all = (1..4).fold(scaled(0), |all, lane| w.or(scaled(lane), all));
            machine.set_scratch(w.add(w.number(at.work), w.shl(word, w.number(5))), all);
        });
    }

    /// Puts a polynomial into the key: of two that follow each other the second one in the higher halves.
    fn add(&self, number: M::Word) {
        let Self { machine, ref w, at, .. } = *self;
        let to = machine.bind(w.mul(w.number(POLYNOMIAL), w.high(number, 1)));
        let shift = machine.bind(w.shl(w.and(w.number(1), number), w.number(5)));
        machine.repeat(w.number(WORDS as u64), (), |machine, word, ()| {
            // few
            let offset = machine.bind(w.shl(word, w.number(5)));
            let place = machine.bind(w.add(to, offset));
            let moved = w.shl(machine.scratch_word(w.add(w.number(at.work), offset)), shift);
            machine.set_scratch(place, w.or(moved, machine.scratch_word(place)));
        });
    }

    /// tr.
    fn hash_of_key(&self) {
        let Self { machine, ref w, scheme, hash, at } = *self;
        let to = (scheme.transformed_bytes() - TR_BYTES) as u64; // few
        match hash {
            Hash::Keccak => {
                let whole = Piece::Calldata { offset: w.number(0), size_bytes: machine.calldata_size() };
                self.counted(machine.keccak256(&[whole]), to, 2);
            }
            Hash::Shake => {
                let sponge = Sponge::shake256(machine, narrow(at.sponge));
                self.clear(at.sponge, u64::from(sponge.end()) - at.sponge);
                sponge.absorb(w.number(0), machine.calldata_size(), 0);
                for from in [0, 32] {
                    machine.set_scratch(w.number(to + from), sponge.output_word(w.number(from)));
                }
            }
        }
    }
}
