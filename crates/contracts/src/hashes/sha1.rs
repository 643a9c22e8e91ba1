//! SHA-1 in words: FIPS 180-4, §6.1. Collisions of it are known; chains and certificates of the past are hashed with it.
//!
//! A number stands twice in a word when it is rotated, so that a rotation is a shift.

use super::message::Message;
use super::schedule::Schedule;
use crate::Contract;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::{Machine, Variable};
use ruint::aliases::U256;

/// `hashes/sha1`.
pub const CONTRACT: Contract = Contract {
    name: "hashes/sha1",
    summary: "SHA-1 in words",
    interface: "any bytes; returns 32: 12 zero bytes and their hash",
    field: || BigUint::from(3u8),
    text: |machine| text(machine),
    precompile: None,
    example: || b"abc".to_vec(),
};

/// Bits of a number.
const BITS: usize = 32;
/// All of them.
const NUMBER: u64 = 0xffff_ffff;
/// By which a number becomes the same twice.
const TWICE: u64 = (1 << BITS) + 1;
/// Rounds.
const ROUNDS: usize = 80;
/// The initial numbers. §5.3.1.
const INITIAL: [u64; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// Kₜ: ⌊2³⁰·√n⌋, where n is 2, 3, 5, 10. §4.2.1.
fn added(t: usize) -> U256 {
    let root = (BigUint::from([2u8, 3, 5, 10][t / 20]) << 60u32).sqrt();
    U256::from_be_slice(&root.to_bytes_be())
}

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let w = Words(machine);
    let state = INITIAL.map(|value| machine.variable("state", machine.small(value)));
    let schedule = Schedule::new(machine, ROUNDS, BITS);
    let message = Message::new(machine, machine.calldata_size(), 2, 8);
    machine.repeat(message.blocks(), (), |machine, block, ()| {
        for part in 0..2 {
            let word = message.word(machine, (block, part), |machine, offset| machine.calldata_word(offset));
            let word = if part == 1 { w.or(word, message.length(machine, block)) } else { word };
            let (first, word) = (8 * part as usize, machine.bind(word)); // u64 to usize widens
            schedule.set_word(machine, first, word, machine.word(schedule.mask()));
        }
        let before = state.map(|number| machine.bind(w.mul(w.number(TWICE), machine.get(number))));
        let after = rounds(machine, before, &schedule);
        for (state, working) in state.into_iter().zip(after).rev() {
            machine.set(state, w.and(w.number(NUMBER), w.add(working, machine.get(state))));
        }
    });
    let gathered = state.iter().fold(machine.small(0), |sum, &number: &Variable| {
        machine.bind(w.or(w.shl(sum, w.number(BITS as u64)), machine.get(number))) // usize to u64 widens
    });
    machine.return_word(gathered);
}

/// All rounds, on numbers that stand twice in what is rotated of them. §6.1.2, steps 1 and 3.
fn rounds<M: Machine>(machine: &M, before: [M::Word; 5], schedule: &Schedule) -> [M::Word; 5] {
    let w = Words(machine);
    let [mut a, mut b, mut c, mut d, mut e] = before;
    for t in 0..ROUNDS {
        if t >= 16 && t.is_multiple_of(2) {
            // Wₜ = Wₜ₋₃ ⊕ Wₜ₋₈ ⊕ Wₜ₋₁₄ ⊕ Wₜ₋₁₆ rotated by 1, and the same for t + 1.
            let [third, eighth, fourteenth, sixteenth] = [3, 8, 14, 16].map(|count| schedule.pair(machine, t - count));
            let mixed = w.xor(w.xor(w.xor(third, eighth), fourteenth), sixteenth);
            let pair = w.high(w.mul(w.number(TWICE), mixed), BITS as u64 - 1);
            schedule.set_pair(machine, t, pair, machine.word(schedule.mask()));
        }
        // T = ROTL⁵(a) + f(b, c, d) + e + Kₜ + Wₜ.
        let mixed = match t / 20 {
            0 => w.xor(d, w.and(b, w.xor(c, d))),
            2 => w.or(w.and(b, c), w.and(d, w.or(b, c))),
            _ => w.xor(b, w.xor(c, d)),
        };
        let sum = w.add(w.high(a, BITS as u64 - 5), w.add(mixed, w.add(machine.word(added(t)), e)));
        let sum = machine.bind(sum);
        let sum = w.and(w.number(NUMBER), w.add(schedule.number(machine, t), sum));
        let next = machine.bind(w.mul(w.number(TWICE), sum));
        let moved = machine.bind(w.high(b, 2));
        [a, b, c, d, e] = [next, a, moved, c, d];
    }
    [a, b, c, d, e]
}
