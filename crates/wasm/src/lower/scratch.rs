//! Scratch memory of programs: words, copies, and the permutation Keccak-f[1600] (FIPS 202, §3.3) of a state there.
//!
//! Addresses are not looked at: a run that reads or writes past the end of scratch memory has no outcome.

use residue_ir::keccak_f::{BEFORE_BYTES, LANE_BYTES, LANES};
use residue_ir::program::Word;
use wasm_encoder::{BlockType, MemArg};

use super::control::Emitter;
use super::routine::Routine;
use super::words::write;

/// Lanes in a row, and rows.
const SIDE: usize = 5;
/// Rounds. FIPS 202, §3.4: 12 + 2·6.
const ROUNDS: usize = 24;
/// Bytes of all round constants.
pub(super) const CONSTANTS_BYTES: u32 = 8 * 24;

/// Memory at any address, so many bytes after the one on the stack.
pub(super) const fn at(offset: u32) -> MemArg {
    MemArg { offset: offset as u64, align: 0, memory_index: 0 } // u32 to u64 widens
}

/// Round constants, eight little-endian bytes each. FIPS 202, algorithms 5 and 6.
pub(super) fn round_constants() -> Vec<u8> {
    let mut register = 1u16;
    let mut next = || {
        let found = register & 1;
        register = register << 1 ^ if register & 0x80 != 0 { 0x171 } else { 0 };
        u64::from(found)
    };
    let mut constant = |_| (0..7).fold(0u64, |sum, j| sum | next() << ((1u32 << j) - 1));
    (0..ROUNDS).map(&mut constant).flat_map(u64::to_le_bytes).collect()
}

/// Offsets of ρ. FIPS 202, algorithm 2.
fn rotations() -> [u32; LANES] {
    let mut offsets = [0; LANES];
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        offsets[x + SIDE * y] = (t + 1) * (t + 2) / 2 % 64;
        (x, y) = (y, (2 * x + 3 * y) % SIDE);
    }
    offsets
}

impl Emitter<'_> {
    /// A word clamped to 2³², in a local.
    fn kept_limb(&mut self, word: Word) -> u32 {
        let local = self.kept.temporary();
        self.push_clamped(word);
        self.code.local_set(local);
        local
    }

    pub(super) fn set_scratch(&mut self, offset: Word, word: Word) {
        let memory = self.lowering.layout.memory;
        self.push(word);
        let limbs = self.kept.temporary();
        write(&mut self.code, limbs);
        let place = self.kept_limb(offset);
        for index in 0..4 {
            self.code.local_get(place).i32_wrap_i64().local_get(limbs + index).call(Routine::SwapBytes.index());
            self.code.i64_store(at(memory + 8 * (3 - index)));
        }
    }

    pub(super) fn set_scratch_byte(&mut self, offset: Word, word: Word) {
        let memory = self.lowering.layout.memory;
        self.push(word);
        let limbs = self.kept.temporary();
        write(&mut self.code, limbs);
        let place = self.kept_limb(offset);
        self.code.local_get(place).i32_wrap_i64().local_get(limbs).i64_store8(at(memory));
    }

    /// Byte by byte, with zeros past the end of calldata.
    pub(super) fn copy_calldata(&mut self, offset: Word, from: Word, size_bytes: Word) {
        let memory = self.lowering.layout.memory;
        let [to, from, left] = [offset, from, size_bytes].map(|word| self.kept_limb(word));
        self.code.block(BlockType::Empty).loop_(BlockType::Empty).local_get(left).i64_eqz().br_if(1);
        self.code.local_get(to).i32_wrap_i64();
        self.code.local_get(from).i32_const(1).call(Routine::ReadBe.index()).i64_store8(at(memory));
        for (local, step) in [(to, 1), (from, 1), (left, -1)] {
            self.code.local_get(local).i64_const(step).i64_add().local_set(local);
        }
        self.code.br(0).end().end();
    }

    pub(super) fn copy_scratch(&mut self, offset: u32, from: u32, size_bytes: u32) {
        let memory = self.lowering.layout.memory;
        let [offset, from] = [offset, from].map(|place| memory.wrapping_add(place).cast_signed());
        self.code.i32_const(offset).i32_const(from).i32_const(size_bytes.cast_signed()).memory_copy(0, 0);
    }

    pub(super) fn return_scratch(&mut self, offset: Word, size_bytes: Word) {
        let layout = self.lowering.layout;
        let [from, size] = [offset, size_bytes].map(|word| self.kept_limb(word));
        self.code.i32_const(layout.output.cast_signed());
        self.code.local_get(from).i32_wrap_i64().i32_const(layout.memory.cast_signed()).i32_add();
        self.code.local_get(size).i32_wrap_i64().memory_copy(0, 0);
        self.code.local_get(size).i32_wrap_i64();
        self.end_program();
    }

    /// The permutation as a loop over rounds, with all lanes in locals. The bytes before the lanes stay.
    pub(super) fn keccak_f(&mut self, offset: u32) {
        let first = self.lowering.layout.memory + offset + BEFORE_BYTES;
        let place = |lane: usize| at(first + LANE_BYTES * super::narrow(lane));
        let [lanes, moved, columns] = [LANES, LANES, SIDE].map(|count| self.kept.locals_in_row(super::narrow(count)));
        let round = self.kept.temporary();
        for (lane, local) in (lanes..).enumerate().take(LANES) {
            self.code.i32_const(0).i64_load(place(lane)).call(Routine::SwapBytes.index()).local_set(local);
        }
        self.code.i64_const(0).local_set(round).loop_(BlockType::Empty);
        self.keccak_round([lanes, moved, columns], round);
        self.code.local_get(round).i64_const(8).i64_add().local_tee(round);
        self.code.i64_const(CONSTANTS_BYTES.into()).i64_lt_u().br_if(0).end();
        for (lane, local) in (lanes..).enumerate().take(LANES) {
            self.code.i32_const(0).local_get(local).call(Routine::SwapBytes.index()).i64_store(place(lane));
        }
    }

    /// θ, ρ and π, χ and ι. `round` is eight times the number of the round.
    fn keccak_round(&mut self, [lanes, moved, columns]: [u32; 3], round: u32) {
        let local = |first: u32, number: usize| first + super::narrow(number);
        let constants = self.lowering.layout.round_constants;
        let code = &mut self.code;
        for x in 0..SIDE {
            code.local_get(local(lanes, x));
            (1..SIDE).for_each(|y| _ = code.local_get(local(lanes, x + SIDE * y)).i64_xor());
            code.local_set(local(columns, x));
        }
        for (lane, by) in rotations().into_iter().enumerate() {
            let (x, y) = (lane % SIDE, lane / SIDE);
            code.local_get(local(columns, (x + 1) % SIDE)).i64_const(1).i64_rotl();
            code.local_get(local(columns, (x + 4) % SIDE)).i64_xor().local_get(local(lanes, lane)).i64_xor();
            code.i64_const(by.into()).i64_rotl().local_set(local(moved, y + SIDE * ((2 * x + 3 * y) % SIDE)));
        }
        for lane in 0..LANES {
            let [next, after] = [1, 2].map(|step| local(moved, lane - lane % SIDE + (lane % SIDE + step) % SIDE));
            code.local_get(next).i64_const(-1).i64_xor().local_get(after).i64_and();
            code.local_get(local(moved, lane)).i64_xor().local_set(local(lanes, lane));
        }
        code.local_get(lanes).local_get(round).i32_wrap_i64().i64_load(at(constants)).i64_xor().local_set(lanes);
    }
}
