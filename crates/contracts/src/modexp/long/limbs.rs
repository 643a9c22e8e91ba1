//! Limbs: reading them from calldata, and carrying from one to the next.

use crate::modexp::calldata::Operand;
use crate::modexp::expressions::Expressions;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::{Array, Feature, Machine};

/// Bytes of a limb: two of them, and sums of many products, fit twelve 64-bit limbs, and a limb that is shifted moves by whole bytes.
pub(super) const LIMB_BYTES: usize = 46;
/// Bits of a limb.
pub(super) const LIMB_BITS: usize = 8 * LIMB_BYTES;

/// Addresses of an operand's offset and length and of the number of a limb, in short code.
pub(super) const OPERAND: [u64; 3] = [64, 96, 128];

/// 2³⁶⁸.
pub(super) fn radix<M: Machine>(machine: &M) -> M::Fe {
    machine.constant(&(BigUint::from(1u8) << LIMB_BITS))
}

/// 2ᵇ for b of at most 368.
pub(super) fn power_of_two<M: Machine>(machine: &M, bits: M::Word) -> M::Fe {
    let w = Words(machine);
    let bits = machine.bind(bits);
    machine.element_of(&[w.shl(w.number(1), w.sub(bits, w.number(256))), w.shl(w.number(1), bits)])
}

/// The limb `place` of a number, 0 if the number has not so many or `place` is below 0. Short code has this once.
pub(super) fn limb<M: Machine>(machine: &M, operand: Operand<M::Word>, place: M::Word) -> M::Fe {
    machine.branch(
        machine.has(Feature::ShortCode),
        |machine| {
            for (cell, word) in OPERAND.into_iter().zip([operand.at, operand.bytes, place]) {
                machine.put(cell, word);
            }
            machine.function("limb", (), |machine, ()| {
                let [at, bytes, place] = OPERAND.map(|cell| machine.at(cell));
                limb_of(machine, Operand { at: machine.bind(at), bytes: machine.bind(bytes) }, place)
            })
        },
        |machine| limb_of(machine, operand, place),
    )
}

fn limb_of<M: Machine>(machine: &M, operand: Operand<M::Word>, place: M::Word) -> M::Fe {
    let w = Words(machine);
    let below = machine.bind(w.mul(place, w.number(LIMB_BYTES as u64))); // usize to u64 widens
    let left = machine.bind(w.mul(w.is_below(below, operand.bytes), w.sub(operand.bytes, below)));
    let end = machine.bind(w.sub(w.add(operand.at, operand.bytes), below));
    // The last bytes of a word, as many as the number has left of so many.
    let cut = |word, left, most| {
        let bytes = w.add(left, w.mul(w.is_below(w.number(most), left), w.sub(w.number(most), left)));
        let missing_bits = machine.bind(w.sub(w.number(256), w.mul(bytes, w.number(8))));
        w.shr(w.shl(word, missing_bits), missing_bits)
    };
    let low = cut(machine.calldata_word(w.sub(end, w.number(32))), left, 32);
    let above = machine.bind(w.mul(w.is_below(w.number(32), left), w.sub(left, w.number(32))));
    let high = cut(machine.calldata_word(w.sub(end, w.number(64))), above, LIMB_BYTES as u64 - 32);
    machine.element_of(&[high, low])
}

/// The N limbs that `limb` gives for their places.
pub(super) fn read<M: Machine, const N: usize>(
    machine: &M,
    limbs: Array<M::Fe>,
    limb: impl Fn(&M, M::Word) -> M::Fe,
) -> [M::Fe; N] {
    let count = machine.small(N as u64); // usize to u64 widens
    machine.repeat(count, (), |machine, place, ()| machine.store(limbs, place, limb(machine, place)));
    load(machine, limbs)
}

/// The first N of `limbs`.
pub(super) fn load<M: Machine, const N: usize>(machine: &M, limbs: Array<M::Fe>) -> [M::Fe; N] {
    std::array::from_fn(|place| machine.load(limbs, machine.small(place as u64))) // usize to u64 widens
}

/// The number that sums of products make, in limbs, and what it has above them.
pub(super) fn normal<M: Machine, const N: usize>(machine: &M, columns: [M::Fe; N]) -> ([M::Fe; N], M::Fe) {
    let mut carry = None;
    let limbs = columns.map(|column| {
        let column = carry.map_or(column, |carry| column + carry);
        let above = machine.high(column, LIMB_BITS as u32); // 368
        carry = Some(above);
        column - above * radix(machine)
    });
    (limbs, carry.expect("there is a limb"))
}
