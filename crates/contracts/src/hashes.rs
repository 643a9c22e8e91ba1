//! Hash functions in words, without field instructions.

pub mod blake2f;
mod message;
pub mod ripemd160;
mod schedule;
pub mod sha1;
mod sha2;
pub mod sha256;
pub mod sha3;
pub mod sha512;

use crate::words::Words;
use residue_ir::Machine;
use ruint::aliases::U256;

/// A word with the bytes of each `number_bits` bits, 16, 32 … 256, in reverse order.
pub(crate) fn reversed<M: Machine>(machine: &M, word: M::Word, number_bits: usize) -> M::Word {
    let w = Words(machine);
    let mut word = word;
    let mut bits = 8;
    while bits < number_bits {
        // The lower half of every 2·bits.
        let half = (U256::ONE << bits) - U256::ONE;
        let lower = (0..256 / (2 * bits)).fold(U256::ZERO, |sum, at| sum | half << (2 * bits * at));
        let (lower, distance) = (machine.word(lower), w.number(bits as u64)); // usize to u64 widens
        let of = machine.bind(word);
        if bits == 128 {
            return w.or(w.shl(of, w.number(128)), w.high(of, 128));
        }
        let up = machine.bind(w.shl(w.and(lower, of), distance));
        word = machine.bind(w.or(up, w.and(lower, w.shr(of, distance))));
        bits *= 2;
    }
    word
}
