//! Moduli of more than 32 bytes in short code: the same limbs, of a number known at run time, in loops. Products of five limbs, which RSA of 1024 bits
//! has, are unrolled; RSA of 2048 bits has residues.

use super::limbs::{
    LIMB_BITS, LIMB_BYTES, NUMBER_BYTES_MAX, Place, Residue, Width, above, cell, limb_of, names, quotient, reciprocal,
};
use super::residues::in_loops as residues;
use super::wide::{FREE, SCRATCH_BYTES, by_bits, least};
use crate::modexp::calldata::{Calldata, Operand};
use crate::modexp::expressions::Expressions;
use crate::words::Words;
use residue_ir::Machine;

/// Limbs of the longest number.
const LIMBS_MAX: u64 = 36;
/// Products of limbs in a turn of a sum. As many zeros but one stand before and after numbers.
const TURN: u64 = 6;
/// Limbs from one number to the next.
const STRIDE: u64 = LIMBS_MAX + TURN;

/// Words of scratch memory that have names, beside those of [`cell`].
pub(super) mod own {
    use super::cell;

    /// Number of limbs.
    pub const LIMBS: u64 = cell::END;
    /// Carry into the next column.
    pub const CARRY: u64 = LIMBS + 32;
    /// Sum of a column modulo 2²⁵⁶ and modulo 2²⁵⁰ − 1.
    pub const SUMS: [u64; 2] = [LIMBS + 64, LIMBS + 96];
    /// Address of one factor's lowest limb, and of the other's highest.
    pub const FACTORS: [u64; 2] = [LIMBS + 128, LIMBS + 160];
    /// Turns of a sum.
    pub const TURNS: u64 = LIMBS + 192;
    /// Address of the number that A is multiplied by.
    pub const OTHER: u64 = LIMBS + 224;
    /// Source and destination of a copy.
    pub const COPY: [u64; 2] = [LIMBS + 256, LIMBS + 288];
    /// Number of a power of 2²³², and factor of the modulus' complement.
    pub const NUMBER: u64 = LIMBS + 320;
    /// 1 if numbers are residues.
    pub const HAS_RESIDUES: u64 = LIMBS + 352;
    /// 1 if the power of residues is to be multiplied by the base once more, and the base alone takes M off.
    pub const IS_LEFT: u64 = LIMBS + 384;
    /// Address after the last one.
    pub const END: u64 = LIMBS + 416;
}

/// Address of a number, after the last of [`own`] and zeros.
const fn number(place: u64) -> u64 {
    own::END + 32 * (TURN - 1 + STRIDE * place)
}

/// The number that all is done to, with zeros before it.
pub(super) const A: u64 = number(0);
/// The other factor.
pub(super) const B: u64 = number(1);
/// A product, in the room of two.
pub(super) const PRODUCT: u64 = number(2);
/// 2²³²ᴺ less the modulus.
const COMPLEMENT: u64 = number(4);
/// The modulus' copy, with zeros before and after it.
const MODULUS: u64 = number(5) + 32;
/// The base's copy, with zeros before it.
const BASE: u64 = MODULUS + NUMBER_BYTES_MAX + LIMB_BYTES * LIMBS_MAX + 32;
/// End address of the output, if the modulus is not shifted, with zeros before it. Shifts are by less than five limbs.
const OUTPUT_END: u64 = BASE + 2 * NUMBER_BYTES_MAX + LIMB_BYTES * 5;
/// 2²³²⁽ᴺ⁺ʲ⁾ modulo the modulus: limb i of all, from the highest j on, after limb i − 1 of all. Powers of the base come after them.
pub(super) const POWERS: u64 = OUTPUT_END.next_multiple_of(32);
const _: () =
    assert!(POWERS + 32 * LIMBS_MAX * (LIMBS_MAX + 16) <= SCRATCH_BYTES as u64, "there is room for all of them");

/// RSA of 1024 bits. Fewer limbs are made as many.
const UNROLLED: Width = Width {
    limbs: 5,
    place: Place { first: A, stride: STRIDE, powers_by_limb: Some(POWERS) },
    names: names!(5, ", in short code"),
    has_square: true,
};

/// Returns the result for a modulus of [`cell::BYTES`] bytes, at least one.
pub(super) fn text<M: Machine>(machine: &M) {
    let w = Words(machine);
    let limbs = machine.bind(w.add(w.div(machine.at(cell::BYTES), w.number(LIMB_BYTES)), w.number(1)));
    machine.put(own::LIMBS, limbs);
    let is_less = w.is_below(limbs, w.number(UNROLLED.limbs));
    machine.branch(is_less, |machine| machine.put(own::LIMBS, machine.small(UNROLLED.limbs)), |_| ());
    residues::begin(machine);
    machine.branch(
        machine.at(own::HAS_RESIDUES),
        |_| (),
        |machine| {
            prepare(machine);
            base(machine);
        },
    );
    raise(machine);
    finish(machine);
}

/// Does something for each limb: its number, and the offset of its word.
fn each<M: Machine>(machine: &M, body: impl Fn(&M, M::Word, M::Word)) {
    machine.repeat(machine.at(own::LIMBS), (), |machine, limb, ()| {
        let offset = machine.bind(Words(machine).shl(limb, machine.small(5)));
        body(machine, limb, offset);
    });
}

/// The word of scratch memory that is `offset` after `from`.
pub(super) fn word<M: Machine>(machine: &M, from: u64, offset: M::Word) -> M::Word {
    machine.scratch_word(Words(machine).add(offset, machine.small(from)))
}

pub(super) fn set_word<M: Machine>(machine: &M, to: u64, offset: M::Word, word: M::Word) {
    machine.set_scratch(Words(machine).add(offset, machine.small(to)), word);
}

/// Offset of the word after the number's last.
fn end_offset<M: Machine>(machine: &M) -> M::Word {
    Words(machine).shl(machine.at(own::LIMBS), machine.small(5))
}

/// Copies a number.
fn copy<M: Machine>(machine: &M, from: M::Word, to: M::Word) {
    let to = machine.bind(to);
    machine.put(own::COPY[0], from);
    machine.put(own::COPY[1], to);
    machine.function("copy of limbs", (), |machine, ()| {
        each(machine, |machine, _, offset| {
            let w = Words(machine);
            let [from, to] = own::COPY.map(|at| w.add(offset, machine.at(at)));
            machine.set_scratch(to, machine.scratch_word(from));
        });
    });
}

pub(super) fn copy_between<M: Machine>(machine: &M, from: u64, to: u64) {
    copy(machine, machine.small(from), machine.small(to));
}

/// Makes a number zeros.
fn clear<M: Machine>(machine: &M, number: u64) {
    Words(machine).clear(number, 32 * LIMBS_MAX);
}

/// The limb `limb` of the number in the bytes of scratch memory that end at `end`.
fn limb_before<M: Machine>(machine: &M, end: M::Word, limb: M::Word) -> M::Word {
    let w = Words(machine);
    limb_of(machine, machine.scratch_word(w.sub(w.sub(end, w.number(32)), w.mul(limb, w.number(LIMB_BYTES)))))
}

/// Writes the limb of a column at `to` and its carry.
fn write_column<M: Machine>(machine: &M, to: M::Word, sum: impl Fn(Residue) -> M::Word) {
    let w = Words(machine);
    let limb = machine.bind(limb_of(machine, w.add(sum(Residue::Low), machine.at(own::CARRY))));
    machine.put(own::CARRY, above(machine, sum(Residue::Odd), limb, Some(machine.at(own::CARRY))));
    machine.set_scratch(to, limb);
}

/// Writes a column at `to`, from the sums in [`own::SUMS`].
fn write_sums<M: Machine>(machine: &M, to: M::Word) {
    write_column(machine, to, |residue| machine.at(own::SUMS[usize::from(residue == Residue::Odd)]));
}

/// Adds to [`own::SUMS`] the products of limbs at [`own::FACTORS`], upwards in the one and downwards in the other.
fn add_products<M: Machine>(machine: &M) {
    machine.function("sum of products of limbs", (), |machine, ()| {
        machine.repeat(machine.at(own::TURNS), (), |machine, turn, ()| {
            let w = Words(machine);
            let offset = machine.bind(w.mul(turn, w.number(32 * TURN)));
            let up = machine.bind(w.add(machine.at(own::FACTORS[0]), offset));
            let down = machine.bind(w.sub(w.sub(machine.at(own::FACTORS[1]), w.number(32 * (TURN - 1))), offset));
            let factors: Vec<[M::Word; 2]> = (0..TURN)
                .map(|limb| [w.add(up, w.number(32 * limb)), w.add(down, w.number(32 * (TURN - 1 - limb)))])
                .map(|addresses| addresses.map(|at| machine.bind(machine.scratch_word(at))))
                .collect();
            for (residue, at) in Residue::ALL.into_iter().zip(own::SUMS) {
                let products = factors.iter().map(|&[one, other]| residue.product(machine, one, other));
                machine.put(at, products.fold(machine.at(at), |sum, product| w.add(product, sum)));
            }
        });
    });
}

/// Turns of a sum of so many products.
fn turns<M: Machine>(machine: &M, count: M::Word) -> M::Word {
    let w = Words(machine);
    w.div(w.add(count, w.number(TURN - 1)), w.number(TURN))
}

/// Does what is unrolled, if there are as many limbs, or the other.
fn unrolled_or<M: Machine>(machine: &M, unrolled: impl Fn(&M, Width), in_loops: impl Fn(&M)) {
    let is_unrolled = Words(machine).is_equal(machine.at(own::LIMBS), machine.small(UNROLLED.limbs));
    machine.branch(is_unrolled, |machine| unrolled(machine, UNROLLED), in_loops);
}

/// A ← A·B, or A·B/M of residues.
fn multiply<M: Machine>(machine: &M) {
    machine.function("product", (), |machine, ()| {
        machine.branch(machine.at(own::HAS_RESIDUES), residues::multiply, |machine| {
            unrolled_or(machine, |machine, width| width.multiply(machine), |machine| multiply_in_loops(machine, B));
        });
    });
}

/// A ← A², or A²/M of residues.
fn square<M: Machine>(machine: &M) {
    machine.function("square", (), |machine, ()| {
        machine.branch(machine.at(own::HAS_RESIDUES), residues::square, |machine| {
            unrolled_or(machine, |machine, width| width.square(machine), |machine| multiply_in_loops(machine, A));
        });
    });
}

/// A ← A times the number at `other`.
fn multiply_in_loops<M: Machine>(machine: &M, other: u64) {
    machine.put(own::OTHER, machine.small(other));
    machine.function("product of limbs", (), |machine, ()| {
        let w = Words(machine);
        machine.put(own::CARRY, w.number(0));
        let last = machine.bind(w.sub(machine.at(own::LIMBS), w.number(1)));
        let columns = machine.bind(w.add(w.shl(last, w.number(1)), w.number(1)));
        machine.repeat(columns, (), |machine, column, ()| {
            let w = Words(machine);
            let lowest = machine.bind(w.mul(w.is_below(last, column), w.sub(column, last)));
            let highest = machine.bind(w.sub(column, lowest));
            let [up, down] = [lowest, highest].map(|limb| w.shl(limb, w.number(5)));
            machine.put(own::FACTORS[0], w.add(up, w.number(A)));
            machine.put(own::FACTORS[1], w.add(down, machine.at(own::OTHER)));
            machine.put(own::TURNS, turns(machine, w.sub(w.add(highest, w.number(1)), lowest)));
            own::SUMS.into_iter().for_each(|sum| machine.put(sum, w.number(0)));
            add_products(machine);
            write_sums(machine, w.add(w.shl(column, w.number(5)), w.number(PRODUCT)));
        });
        set_word(machine, PRODUCT, w.shl(columns, w.number(5)), machine.at(own::CARRY));
        reduce(machine);
    });
}

/// A ← the product modulo the modulus: its upper limbs are replaced by what the powers have.
fn reduce<M: Machine>(machine: &M) {
    machine.put(own::CARRY, machine.small(0));
    let end = machine.bind(end_offset(machine));
    machine.put(own::TURNS, turns(machine, machine.at(own::LIMBS)));
    each(machine, |machine, _, offset| {
        let w = Words(machine);
        machine.put(own::FACTORS[0], w.add(end, w.number(PRODUCT)));
        let powers = w.add(w.mul(machine.at(own::LIMBS), offset), w.add(end, w.number(POWERS - 32)));
        machine.put(own::FACTORS[1], powers);
        own::SUMS.into_iter().for_each(|sum| machine.put(sum, word(machine, PRODUCT, offset)));
        add_products(machine);
        write_sums(machine, w.add(offset, w.number(PRODUCT)));
    });
    set_word(machine, PRODUCT, end, machine.at(own::CARRY));
    remainder(machine);
}

/// A ← the N + 1 limbs at [`PRODUCT`] less a multiple of the modulus.
fn remainder<M: Machine>(machine: &M) {
    machine.function("remainder of limbs", (), |machine, ()| {
        let [top, high, ..] = cell::FREE;
        machine.put(top, word(machine, PRODUCT, end_offset(machine)));
        machine.put(high, word(machine, PRODUCT - 32, end_offset(machine)));
        quotient(machine, top, high);
        machine.put(own::CARRY, machine.small(0));
        each(machine, |machine, _, offset| {
            let w = Words(machine);
            write_column(machine, w.add(offset, w.number(A)), |residue| {
                let multiple = residue.product(machine, machine.at(cell::QUOTIENT), word(machine, COMPLEMENT, offset));
                w.add(multiple, word(machine, PRODUCT, offset))
            });
        });
    });
}

/// A ← A·2²³² plus what [`cell::LOWEST`] has.
fn shift<M: Machine>(machine: &M) {
    machine.function("shift", (), |machine, ()| {
        unrolled_or(
            machine,
            |machine, width| width.shift(machine),
            |machine| {
                copy_between(machine, A, PRODUCT + 32);
                machine.put(PRODUCT, machine.at(cell::LOWEST));
                remainder(machine);
            },
        );
    });
}

/// A ← the modulus shifted by [`cell::SHIFT`] bytes; writes its complement.
pub(super) fn read_modulus<M: Machine>(machine: &M) {
    machine.function("modulus in limbs", (), |machine, ()| {
        let w = Words(machine);
        let Calldata { modulus, .. } = Calldata::read(machine);
        machine.copy_calldata(w.number(MODULUS), modulus.at, modulus.bytes);
        let end = machine.bind(w.add(w.add(modulus.bytes, w.number(MODULUS)), machine.at(cell::SHIFT)));
        machine.put(own::CARRY, w.number(1));
        each(machine, |machine, limb, offset| {
            let w = Words(machine);
            set_word(machine, A, offset, limb_before(machine, end, limb));
            let inverted = w.xor(machine.ones(LIMB_BITS as usize), word(machine, A, offset)); // u64 to usize
            let sum = machine.bind(w.add(inverted, machine.at(own::CARRY)));
            set_word(machine, COMPLEMENT, offset, limb_of(machine, sum));
            machine.put(own::CARRY, w.high(sum, LIMB_BITS));
        });
    });
}

/// Makes all that remainders need of the modulus.
fn prepare<M: Machine>(machine: &M) {
    let w = Words(machine);
    let room = w.sub(w.mul(machine.at(own::LIMBS), w.number(LIMB_BYTES)), w.number(1));
    machine.put(cell::SHIFT, w.sub(room, machine.at(cell::BYTES)));
    read_modulus(machine);
    let [highest, second] = [1, 2].map(|after| word(machine, A - 32 * after, end_offset(machine)));
    reciprocal(machine, highest, second);

    machine.put(cell::LOWEST, w.number(0));
    copy_between(machine, COMPLEMENT, A);
    machine.put(own::NUMBER, w.number(0));
    write_power(machine);
    let others = machine.bind(w.sub(machine.at(own::LIMBS), w.number(1)));
    machine.repeat(others, (), |machine, turn, ()| {
        shift(machine);
        machine.put(own::NUMBER, Words(machine).add(turn, machine.small(1)));
        write_power(machine);
    });
}

/// Writes A where the power of 2²³² with the number [`own::NUMBER`] stands.
fn write_power<M: Machine>(machine: &M) {
    machine.function("power of the radix", (), |machine, ()| {
        let w = Words(machine);
        let before_end = w.shl(w.add(machine.at(own::NUMBER), w.number(1)), w.number(5));
        let first = machine.bind(w.add(w.sub(end_offset(machine), before_end), w.number(POWERS)));
        each(machine, |machine, _, offset| {
            let w = Words(machine);
            let to = w.add(w.mul(machine.at(own::LIMBS), offset), first);
            machine.set_scratch(to, word(machine, A, offset));
        });
    });
}

/// B ← the base.
pub(super) fn base<M: Machine>(machine: &M) {
    machine.function("base in limbs", (), |machine, ()| base_in_limbs(machine));
}

fn base_in_limbs<M: Machine>(machine: &M) {
    let w = Words(machine);
    let base = Calldata::read(machine).base;
    machine.copy_calldata(w.number(BASE), base.at, base.bytes);
    let end = machine.bind(w.add(base.bytes, w.number(BASE)));
    machine.branch(
        w.is_below(w.mul(machine.at(own::LIMBS), w.number(LIMB_BYTES)), base.bytes),
        |machine| {
            let w = Words(machine);
            clear(machine, A);
            let limbs = machine.bind(w.div(w.add(base.bytes, w.number(LIMB_BYTES - 1)), w.number(LIMB_BYTES)));
            machine.repeat(limbs, (), |machine, turn, ()| {
                let w = Words(machine);
                let limb = w.sub(w.sub(limbs, turn), w.number(1));
                machine.put(cell::LOWEST, limb_before(machine, end, limb));
                shift(machine);
            });
            copy_between(machine, A, B);
        },
        |machine| {
            each(machine, |machine, limb, offset| set_word(machine, B, offset, limb_before(machine, end, limb)));
        },
    );
}

/// A ← B to the power of the exponent.
fn raise<M: Machine>(machine: &M) {
    let exponent = Calldata::read(machine).exponent;
    let e = machine.bind(least(machine, exponent));
    machine.branch(
        Words(machine).high(e, 32),
        |machine| by_digits(machine, exponent),
        |machine| {
            machine.branch(
                e,
                |machine| {
                    let w = Words(machine);
                    machine.put(own::IS_LEFT, w.and(e, machine.at(own::HAS_RESIDUES)));
                    copy_between(machine, B, A);
                    let e = machine.bind(w.sub(e, machine.at(own::IS_LEFT)));
                    by_bits(machine, e, FREE, square, multiply);
                },
                |machine| set_one(machine),
            );
        },
    );
}

/// A ← 1.
fn set_one<M: Machine>(machine: &M) {
    clear(machine, A);
    machine.put(A, machine.small(1));
}

/// A ← B to the power of the exponent, four bits at a time. [`cell::STATE`] is 0 if that is 0.
fn by_digits<M: Machine>(machine: &M, exponent: Operand<M::Word>) {
    let entry = |machine: &M, digit: M::Word| {
        let w = Words(machine);
        let entries = w.mul(machine.at(own::LIMBS), end_offset(machine));
        w.add(w.add(entries, w.number(POWERS)), w.mul(digit, end_offset(machine)))
    };
    copy_between(machine, B, A);
    machine.repeat(machine.small(15), (), |machine, turn, ()| {
        let digit = Words(machine).add(turn, machine.small(1));
        copy(machine, machine.small(A), entry(machine, digit));
        multiply(machine);
    });
    machine.put(cell::STATE, machine.small(0));
    let digits = machine.bind(Words(machine).shl(exponent.bytes, machine.small(1)));
    machine.repeat(digits, (), |machine, turn, ()| {
        let w = Words(machine);
        let byte = w.high(machine.calldata_word(w.add(exponent.at, w.high(turn, 1))), 248);
        let is_upper = w.sub(w.number(1), w.and(turn, w.number(1)));
        let digit = machine.bind(w.and(w.shr(byte, w.shl(is_upper, w.number(2))), w.number(15)));
        machine.branch(
            machine.at(cell::STATE),
            |machine| machine.repeat(machine.small(4), (), |machine, _, ()| square(machine)),
            |_| (),
        );
        machine.branch(
            digit,
            |machine| {
                copy(machine, entry(machine, digit), machine.small(B));
                machine.branch(machine.at(cell::STATE), multiply, |machine| copy_between(machine, B, A));
                machine.put(cell::STATE, machine.small(1));
            },
            |_| (),
        );
    });
    machine.branch(machine.at(cell::STATE), |_| (), |machine| set_one(machine));
}

/// Returns A modulo the modulus as it was before the shift, or what residues of it are in A.
fn finish<M: Machine>(machine: &M) {
    machine.branch(machine.at(own::HAS_RESIDUES), leave_residues, shift_back);
    subtract(machine, A);
    machine.put(own::NUMBER, machine.small(1));
    subtract(machine, PRODUCT);
    let w = Words(machine);
    write_output(machine, w.add(w.mul(machine.at(own::CARRY), w.number(PRODUCT - A)), w.number(A)));
    let end = w.sub(w.number(OUTPUT_END), machine.at(cell::SHIFT));
    let bytes = machine.bind(Calldata::read(machine).modulus.bytes);
    machine.return_scratch(w.sub(end, bytes), bytes);
}

/// A ← A times what the modulus is shifted by. [`own::NUMBER`] is how often that is to be subtracted, or one less.
fn shift_back<M: Machine>(machine: &M) {
    let w = Words(machine);
    clear(machine, B);
    let shift = machine.bind(machine.at(cell::SHIFT));
    let bits = w.mul(w.number(8), w.modulo(shift, w.number(LIMB_BYTES)));
    let place = w.mul(w.number(32), w.div(shift, w.number(LIMB_BYTES)));
    set_word(machine, B, place, w.shl(w.number(1), bits));
    multiply(machine);
    let [highest, second] = [1, 2].map(|after| word(machine, A - 32 * after, end_offset(machine)));
    let top = w.or(w.shl(highest, w.number(23)), w.high(second, LIMB_BITS - 23));
    machine.put(own::NUMBER, w.div(top, machine.at(cell::DIVISOR)));
}

/// A ← the number whose residues it has, which is below ten times the modulus; [`own::NUMBER`] likewise.
fn leave_residues<M: Machine>(machine: &M) {
    residues::leave(machine);
    write_output(machine, machine.small(A));
    let w = Words(machine);
    // The highest 23 bytes of the modulus, and of the number one more.
    let first =
        |end: M::Word| w.high(machine.scratch_word(w.sub(end, w.add(machine.at(cell::BYTES), w.number(1)))), 64);
    let modulus = first(w.add(Calldata::read(machine).modulus.bytes, w.number(MODULUS)));
    machine.put(own::NUMBER, w.div(first(w.number(OUTPUT_END)), w.add(modulus, w.number(1))));
}

/// Writes the bytes of the number at `from` where output ends.
fn write_output<M: Machine>(machine: &M, from: M::Word) {
    machine.put(own::COPY[0], from);
    machine.function("output of limbs", (), |machine, ()| {
        each(machine, |machine, limb, offset| {
            let w = Words(machine);
            let to = w.sub(w.number(OUTPUT_END - 32), w.mul(limb, w.number(LIMB_BYTES)));
            machine.set_scratch(to, machine.scratch_word(w.add(machine.at(own::COPY[0]), offset)));
        });
    });
}

/// Writes A less [`own::NUMBER`] times the modulus at `to`. [`own::CARRY`] is 1 if that is not below zero.
fn subtract<M: Machine>(machine: &M, to: u64) {
    machine.put(own::COPY[1], machine.small(to));
    machine.function("difference of limbs", (), |machine, ()| {
        machine.put(own::CARRY, machine.small(0));
        each(machine, |machine, _, offset| {
            let w = Words(machine);
            let multiple = w.mul(machine.at(own::NUMBER), word(machine, COMPLEMENT, offset));
            let sum = machine.bind(w.add(w.add(multiple, word(machine, A, offset)), machine.at(own::CARRY)));
            machine.set_scratch(w.add(offset, machine.at(own::COPY[1])), limb_of(machine, sum));
            machine.put(own::CARRY, w.high(sum, LIMB_BITS));
        });
    });
}
