//! Moduli of more than 32 bytes.

use super::limbs::{LIMB_BYTES, Place, Width, cell, names};
use super::{loops, residues};
use crate::modexp::calldata::{Calldata, Operand};
use crate::modexp::expressions::Expressions;
use crate::modexp::power::F4;
use crate::words::Words;
use residue_ir::{Feature, Machine};

/// A number of limbs.
macro_rules! limbs {
    ($limbs:literal) => {
        Width {
            limbs: $limbs,
            place: Place { first: cell::END, stride: $limbs, powers_by_limb: None },
            names: names!($limbs, ""),
            has_square: true,
        }
    };
}

/// By width: RSA has 1024, 2048, 3072 and 4096 bits; EIP-7823 allows 8192.
pub(super) const WIDTHS: [Width; 7] = [limbs!(2), limbs!(3), limbs!(5), limbs!(9), limbs!(14), limbs!(18), limbs!(36)];

/// Words that [`by_bits`] may change.
pub(super) const FREE: [u64; 2] = [cell::FREE[0], cell::STATE];

/// Bytes of scratch memory.
pub(super) const SCRATCH_BYTES: u32 = WIDTHS[WIDTHS.len() - 1].bytes() as u32;

/// Returns the result.
pub(super) fn text<M: Machine>(machine: &M) {
    let modulus = Calldata::read(machine).modulus;
    modulus_bytes(machine, modulus);
    machine.branch(
        machine.at(cell::BYTES),
        |machine| {
            machine.branch(
                machine.has(Feature::ShortCode),
                |machine| loops::text(machine),
                |machine| of_width(machine, &WIDTHS),
            );
        },
        |machine| {
            let bytes = Calldata::read(machine).modulus.bytes;
            machine.return_scratch(machine.small(cell::END), bytes);
        },
    );
}

/// Makes [`cell::BYTES`] the bytes of the modulus without the zeros in front of it.
pub(super) fn modulus_bytes<M: Machine>(machine: &M, modulus: Operand<M::Word>) {
    let [top, below, ..] = cell::FREE;
    let first = |machine: &M| machine.calldata_word(modulus.at);
    machine.put(top, first(machine));
    machine.put(below, Words(machine).sub(modulus.bytes, machine.small(32)));
    machine.branch(
        first(machine),
        |_| (),
        |machine| {
            let rest = machine.bind(modulus.rest(machine));
            machine.repeat(rest, (), |machine, turn, ()| {
                machine.branch(
                    machine.at(top),
                    |_| (),
                    |machine| {
                        let w = Words(machine);
                        let at = machine.bind(w.mul(w.add(turn, w.number(1)), w.number(32)));
                        let left = machine.bind(w.sub(modulus.bytes, at));
                        // The last word may have other bytes of calldata after it.
                        let missing = w.mul(w.is_below(left, w.number(32)), w.sub(w.number(32), left));
                        let missing = machine.bind(missing);
                        machine
                            .put(top, w.shr(machine.calldata_word(w.add(modulus.at, at)), w.mul(missing, w.number(8))));
                        machine.put(below, w.sub(w.add(left, missing), w.number(32)));
                    },
                );
            });
        },
    );
    machine.put(cell::BYTES, machine.small(0));
    machine.branch(
        machine.at(top),
        |machine| {
            let w = Words(machine);
            machine.put(cell::BYTES, w.add(machine.at(below), w.number(1)));
            for bytes in [16, 8, 4, 2, 1] {
                let more =
                    machine.bind(w.mul(w.is_below(w.number(0), w.high(machine.at(top), 8 * bytes)), w.number(bytes)));
                machine.put(top, w.shr(machine.at(top), w.mul(more, w.number(8))));
                machine.put(cell::BYTES, w.add(machine.at(cell::BYTES), more));
            }
        },
        |_| (),
    );
}

fn of_width<M: Machine>(machine: &M, widths: &[Width]) {
    let [width, wider @ ..] = widths else { return };
    let width = *width;
    if wider.is_empty() {
        return power(machine, width);
    }
    where_it_fits(
        machine,
        width.limbs,
        |machine| {
            residues::text(machine, width.limbs);
            power(machine, width);
        },
        |machine| of_width(machine, wider),
    );
}

/// Does one thing where the modulus fits so many limbs, and else the other.
pub(super) fn where_it_fits<M: Machine>(machine: &M, limbs: u64, fits: impl FnOnce(&M), wider: impl FnOnce(&M)) {
    let w = Words(machine);
    machine.branch(w.is_below(machine.at(cell::BYTES), w.number(LIMB_BYTES * limbs)), fits, wider);
}

/// Returns the result for a modulus that fits.
pub(super) fn power<M: Machine>(machine: &M, width: Width) {
    machine.function(width.names.modulus, (), |machine, ()| {
        let w = Words(machine);
        let Calldata { modulus, .. } = Calldata::read(machine);
        machine.copy_calldata(w.number(width.modulus()), modulus.at, modulus.bytes);
        let end = machine.bind(w.add(modulus.bytes, w.number(width.modulus())));
        width.prepare(machine, end);
    });
    machine.function(width.names.base, (), |machine, ()| base(machine, width));
    machine.function(width.names.power, (), |machine, ()| raise(machine, width));
    let bytes = machine.bind(Calldata::read(machine).modulus.bytes);
    width.finish(machine, bytes);
}

/// B ← the base.
fn base<M: Machine>(machine: &M, width: Width) {
    let w = Words(machine);
    let base = Calldata::read(machine).base;
    let first = width.base() + LIMB_BYTES * width.limbs + 32;
    machine.copy_calldata(w.number(first), base.at, base.bytes);
    let end = machine.bind(w.add(base.bytes, w.number(first)));
    machine.branch(
        w.is_below(w.number(LIMB_BYTES * width.limbs), base.bytes),
        |machine| {
            let w = Words(machine);
            width.set(machine, width.a(), 0);
            let limbs = machine.bind(w.div(w.add(base.bytes, w.number(LIMB_BYTES - 1)), w.number(LIMB_BYTES)));
            machine.repeat(limbs, (), |machine, turn, ()| {
                let w = Words(machine);
                let after = w.mul(w.sub(w.sub(limbs, turn), w.number(1)), w.number(LIMB_BYTES));
                let word = machine.scratch_word(w.sub(w.sub(end, w.number(32)), after));
                machine.put(cell::LOWEST, w.and(word, machine.ones(8 * LIMB_BYTES as usize))); // u64 to usize
                width.shift(machine);
            });
            width.copy(machine, width.a(), width.b());
        },
        |machine| width.read(machine, end, width.b()),
    );
}

/// A ← B to the power of the exponent.
fn raise<M: Machine>(machine: &M, width: Width) {
    let exponent = Calldata::read(machine).exponent;
    let e = machine.bind(least(machine, exponent));
    machine.branch(
        Words(machine).high(e, 32),
        |machine| by_digits(machine, width, exponent),
        |machine| {
            width.copy(machine, width.b(), width.a());
            machine.branch(
                Words(machine).is_equal(e, machine.small(F4)),
                |machine| {
                    machine.repeat(machine.small(16), (), |machine, _, ()| width.square(machine));
                    width.multiply(machine);
                },
                |machine| {
                    machine.branch(
                        e,
                        |machine| {
                            by_bits(
                                machine,
                                e,
                                FREE,
                                |machine| width.square(machine),
                                |machine| width.multiply(machine),
                            )
                        },
                        |machine| width.set(machine, width.a(), 1),
                    )
                },
            );
        },
    );
}

/// A power by `e`, from 1 to 2³² − 1, of a number that is both factors at first, bit by bit. Two words of scratch memory are free for it.
pub(super) fn by_bits<M: Machine>(
    machine: &M,
    e: M::Word,
    free: [u64; 2],
    square: impl Fn(&M),
    multiply: impl Fn(&M) + Copy,
) {
    let turns = bits_after_first(machine, e, free);
    machine.repeat(turns, (), |machine, turn, ()| {
        square(machine);
        let w = Words(machine);
        let bit = machine.bit(e, w.sub(w.sub(turns, turn), w.number(1)));
        machine.branch(bit, multiply, |_| ());
    });
}

/// The exponent if it has a word, and else 2³² at least.
pub(super) fn least<M: Machine>(machine: &M, exponent: Operand<M::Word>) -> M::Word {
    let w = Words(machine);
    let is_long = w.is_below(w.number(32), exponent.bytes);
    w.or(exponent.short(machine), w.mul(is_long, machine.ones(33)))
}

/// Number of bits of `e`, from 1 to 2³² − 1, after the highest one that is 1, by the words of scratch memory at `left` and `count`.
fn bits_after_first<M: Machine>(machine: &M, e: M::Word, [left, count]: [u64; 2]) -> M::Word {
    let w = Words(machine);
    machine.put(left, e);
    machine.put(count, w.number(0));
    for bits in [16, 8, 4, 2, 1] {
        let more = machine.bind(w.mul(w.is_below(w.number(0), w.high(machine.at(left), bits)), w.number(bits)));
        machine.put(left, w.shr(machine.at(left), more));
        machine.put(count, w.add(machine.at(count), more));
    }
    machine.bind(machine.at(count))
}

/// A ← B to the power of the exponent, four bits at a time.
fn by_digits<M: Machine>(machine: &M, width: Width, exponent: Operand<M::Word>) {
    width.set(machine, width.table(), 1);
    width.copy(machine, width.b(), width.table() + 32 * width.limbs);
    width.copy(machine, width.b(), width.a());
    let entry = |machine: &M, digit: M::Word| {
        let w = Words(machine);
        machine.bind(w.add(w.mul(digit, w.number(32 * width.limbs)), w.number(width.table())))
    };
    machine.repeat(machine.small(14), (), |machine, turn, ()| {
        width.multiply(machine);
        let to = entry(machine, Words(machine).add(turn, machine.small(2)));
        width.copy_to(machine, width.a(), to);
    });
    width.set(machine, width.a(), 1);
    machine.put(cell::STATE, machine.small(0));
    machine.repeat(exponent.bytes, (), |machine, turn, ()| {
        let w = Words(machine);
        let byte = machine.bind(w.high(machine.calldata_word(w.add(exponent.at, turn)), 248));
        machine.put(cell::STATE, w.or(machine.at(cell::STATE), byte));
        machine.branch(
            machine.at(cell::STATE),
            |machine| {
                for digit in [w.high(byte, 4), w.and(byte, w.number(15))] {
                    machine.repeat(machine.small(4), (), |machine, _, ()| width.square(machine));
                    let from = entry(machine, digit);
                    width.copy_from(machine, from, width.b());
                    width.multiply(machine);
                }
            },
            |_| (),
        );
    });
}
