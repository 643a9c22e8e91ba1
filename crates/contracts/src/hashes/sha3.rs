//! SHA-3 and SHAKE: FIPS 202, §6, with the permutation as a statement.
//!
//! The state stands in scratch memory. Blocks are copied behind it, padded there, and their bytes reversed four lanes at a time.

use super::reversed;
use crate::Contract;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::Machine;
use residue_ir::keccak_f::{BEFORE_BYTES, LANE_BYTES, STATE_BYTES};

/// `hashes/sha3_256`.
pub const SHA3_256: Contract = Contract {
    name: "hashes/sha3_256",
    summary: "SHA3-256 in words",
    interface: "any bytes; returns their hash, 32 bytes",
    field: || BigUint::from(3u8),
    text: |machine| {
        let sponge = Sponge::new(machine, 0, 17, 0x06);
        sponge.absorb(machine.small(0), machine.calldata_size(), 0);
        machine.return_word(sponge.output_word(machine.small(0)));
    },
    precompile: None,
    example: || b"abc".to_vec(),
};

/// `hashes/shake128`.
pub const SHAKE128: Contract = Contract {
    name: "hashes/shake128",
    summary: "SHAKE128 in words",
    interface: "number of bytes of output (32 bytes, at most 2048), then any bytes; returns so many bytes",
    text: |machine| shake(machine, SHAKE128_LANES),
    example: || example(32),
    ..SHA3_256
};

/// `hashes/shake256`.
pub const SHAKE256: Contract = Contract {
    name: "hashes/shake256",
    summary: "SHAKE256 in words",
    text: |machine| shake(machine, SHAKE256_LANES),
    example: || example(64),
    ..SHAKE128
};

/// Longest output of the contracts, in bytes.
pub const OUTPUT_BYTES_MAX: u32 = 2_048;

/// A call for so many bytes.
fn example(bytes: u8) -> Vec<u8> {
    [&[0; 31][..], &[bytes], b"abc"].concat()
}

/// SHAKE, with a rate of so many lanes.
fn shake<M: Machine>(machine: &M, lanes: u32) {
    let w = Words(machine);
    let bytes = machine.bind(machine.calldata_word(w.number(0)));
    let has_length = machine.not(w.is_below(machine.calldata_size(), w.number(32)));
    machine.require(w.and(has_length, w.is_below(bytes, w.number(u64::from(OUTPUT_BYTES_MAX) + 1))));
    let sponge = Sponge::new(machine, 0, lanes, SHAKE);
    let to = sponge.end();
    sponge.absorb(
        w.number(32),
        w.sub(machine.calldata_size(), w.number(32)),
        OUTPUT_BYTES_MAX + sponge.rate() + WORD_BYTES,
    );
    sponge.squeeze(to, bytes);
    machine.return_scratch(w.number(to.into()), bytes);
}

/// A sponge in scratch memory: the state, and a block in whole words.
pub(crate) struct Sponge<'m, M: Machine> {
    machine: &'m M,
    w: Words<'m, M>,
    /// First byte.
    at: u32,
    /// Lanes of a block.
    lanes: u32,
    suffix: u64,
}

/// Bits after a message of SHAKE, with the first bit of the padding. FIPS 202, §6.2 and B.2.
const SHAKE: u64 = 0x1f;
/// Lanes of a block of SHAKE128, and of SHAKE256. FIPS 202, §6.2: 1600 − 2·128 and 1600 − 2·256 bits.
const SHAKE128_LANES: u32 = 21;
const SHAKE256_LANES: u32 = 17;

/// Bytes of a word of input or output.
const WORD_BYTES: u32 = 32;

impl<'m, M: Machine> Sponge<'m, M> {
    /// A sponge of zeros from byte `at` of scratch memory, which has nothing there yet.
    fn new(machine: &'m M, at: u32, lanes: u32, suffix: u64) -> Self {
        Self { machine, w: Words(machine), at, lanes, suffix }
    }

    /// That of SHAKE256.
    pub(crate) fn shake256(machine: &'m M, at: u32) -> Self {
        Self::new(machine, at, SHAKE256_LANES, SHAKE)
    }

    /// That of SHAKE128.
    pub(crate) fn shake128(machine: &'m M, at: u32) -> Self {
        Self::new(machine, at, SHAKE128_LANES, SHAKE)
    }

    /// Bytes of a block.
    pub(crate) fn rate(&self) -> u32 {
        LANE_BYTES * self.lanes
    }

    /// First byte of scratch memory after the sponge's.
    pub(crate) fn end(&self) -> u32 {
        self.buffer() + self.rate().next_multiple_of(WORD_BYTES)
    }

    /// First byte of a block.
    fn buffer(&self) -> u32 {
        self.at + STATE_BYTES
    }

    /// First bytes of the words of a block, the last of which goes beyond it.
    fn words(&self) -> impl Iterator<Item = u32> {
        (0..self.rate()).step_by(WORD_BYTES as usize) // u32 to usize widens
    }

    /// Absorbs `size` bytes of calldata from byte `from`, and permutes. Scratch memory has so many bytes beyond the sponge's.
    pub(crate) fn absorb(&self, from: M::Word, size: M::Word, beyond_bytes: u32) {
        let Self { machine, ref w, .. } = *self;
        machine.scratch(self.end() + beyond_bytes);
        let size = machine.bind(size);
        let [buffer, rate] = [self.buffer(), self.rate()].map(|number| w.number(number.into()));
        let whole = machine.bind(w.div(size, rate));
        machine.repeat(whole, (), |machine, block, ()| {
            machine.copy_calldata(buffer, w.add(w.mul(block, rate), from), rate);
            self.block();
        });
        let read = machine.bind(w.mul(whole, rate));
        // Zeros, which calldata has past its end, and the rest of the message: other bytes of calldata may follow it.
        machine.copy_calldata(buffer, machine.calldata_size(), rate);
        machine.copy_calldata(buffer, w.add(read, from), w.sub(size, read));
        machine.set_scratch_byte(w.add(buffer, w.sub(size, read)), w.number(self.suffix));
        let last = w.number(u64::from(self.buffer() + self.rate() - WORD_BYTES));
        machine.set_scratch(last, w.xor(machine.scratch_word(last), w.number(0x80)));
        self.block();
    }

    /// Absorbs so many bytes of scratch memory from byte `from`, and permutes. Up to the end of a block there are other bytes after them that are lost.
    pub(crate) fn absorb_scratch(&self, from: u32, size: u32) {
        let Self { machine, ref w, .. } = *self;
        let (rate, end) = (self.rate(), from + size);
        let last = from + size / rate * rate + rate - WORD_BYTES;
        machine.copy_calldata(
            w.number(end.into()),
            machine.calldata_size(),
            w.number((last + WORD_BYTES - end).into()),
        );
        machine.set_scratch_byte(w.number(end.into()), w.number(self.suffix));
        let last = w.number(last.into());
        machine.set_scratch(last, w.xor(machine.scratch_word(last), w.number(0x80)));
        for block in 0..size / rate + 1 {
            machine.copy_scratch(self.buffer(), from + block * rate, rate);
            self.block();
        }
    }

    /// Adds the block, with zeros after it, to the state, and permutes.
    fn block(&self) {
        // A program may have sponges of two rates.
        let name = if self.lanes == SHAKE256_LANES { "absorb" } else { "absorb_other" };
        self.machine.function(name, (), |machine, ()| {
            let w = &self.w;
            for word in self.words() {
                let [at, from] = [self.at + BEFORE_BYTES, self.buffer()].map(|first| w.number(u64::from(first + word)));
                let lanes = machine.bind(reversed(machine, machine.scratch_word(from), 64));
                machine.set_scratch(at, w.xor(machine.scratch_word(at), lanes));
            }
            self.permute();
        });
    }

    pub(crate) fn permute(&self) {
        self.machine.function("keccak_f", (), |machine, ()| machine.keccak_f(self.at));
    }

    /// The 32 bytes of output from byte `from` of a block on.
    pub(crate) fn output_word(&self, from: M::Word) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        reversed(machine, machine.scratch_word(w.add(w.number(u64::from(self.at + BEFORE_BYTES)), from)), 64)
    }

    /// Writes `bytes` bytes of output to scratch memory from byte `to`, up to the end of a block and the word that ends after it.
    pub(crate) fn squeeze(&self, to: u32, bytes: M::Word) {
        let Self { machine, ref w, .. } = *self;
        let rate = w.number(self.rate().into());
        let blocks = machine.bind(w.div(w.add(bytes, w.number(u64::from(self.rate()) - 1)), rate));
        machine.repeat(blocks, (), |machine, block, ()| {
            machine.branch(block, |_| self.permute(), |_| ());
            let at = machine.bind(w.add(w.number(to.into()), w.mul(block, rate)));
            for from in self.words() {
                let place = if from == 0 { at } else { w.add(w.number(from.into()), at) };
                machine.set_scratch(place, self.output_word(w.number(from.into())));
            }
        });
    }
}
