//! Transformed keys.

use super::{DEGREE, KEY_BYTES, LANE_BITS, MODULUS, TRANSFORMED_BYTES, WORDS, narrow};
use crate::ntt::FALCON;
use crate::words::Words;
use residue_ir::{LaneStep, Lanes, Machine, ModOp};

/// Bits of a coefficient.
const BITS: u64 = 14;
/// 64⁻¹ modulo q.
const SCALE: u64 = 12_097;

/// The text. It halts exceptionally for numbers that are not below q, and calldata of another length.
pub(super) fn text<M: Machine>(machine: &M) {
    let w = Words(machine);
    machine.require(w.is_equal(machine.calldata_size(), w.number(KEY_BYTES as u64))); // few
    machine.scratch(narrow(TRANSFORMED_BYTES + 32));
    let modulus = w.number(MODULUS);
    machine.repeat(w.number(DEGREE as u64), (), |_, place, ()| {
        // few
        let bit = machine.bind(w.mul(w.number(BITS), place));
        let rest = w.shl(machine.calldata_word(w.high(bit, 3)), w.and(w.number(7), bit));
        let number = machine.bind(w.high(rest, 256 - BITS));
        machine.require(w.is_below(number, modulus));
        // h(1/x) has −h of place i at 512 − i, but h at 0.
        let sign = w.mul(w.number(2 * SCALE), machine.not(place));
        let factor = w.add(sign, w.number(MODULUS - SCALE));
        let scaled = machine.bind(machine.mod_op(ModOp::Mul, number, factor, modulus));
        // Of eight coefficients the last one comes first.
        let power = w.and(w.number(DEGREE as u64 - 1), w.sub(w.number(DEGREE as u64), place)); // few
        let at = machine.bind(w.mul(w.number(4), w.xor(w.number(7), power)));
        machine.set_scratch(at, w.or(machine.scratch_word(at), w.shl(scaled, w.number(256 - u64::from(LANE_BITS)))));
    });
    let read = |word| LaneStep::Read { word, from: 32 * word, bits: narrow(BITS as usize) }; // few
    let steps = FALCON.forward(narrow, read, |word| Some(LaneStep::Leave { word, times: 1 }));
    machine.lanes(&Lanes { bits: LANE_BITS, modulus: narrow(12_289), words: narrow(WORDS), home: 0, steps });
    machine.return_scratch(w.number(0), w.number(TRANSFORMED_BYTES as u64)); // few
}
