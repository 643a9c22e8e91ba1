//! Inversion over a wide field by Euclid's algorithm in words: some 17 000 gas, where a power by p − 2 takes 110 000.
//!
//! x = p and y, the number to invert, have four limbs of 128 bits, and so have u and v, of which the last limbs are signed: u·y₀ ≡ x and v·y₀ ≡ y modulo p.
//! A batch takes the leading 128 bits X and Y of both (Lehmer 1938, "Euclid's algorithm for large numbers") and goes on by remainders of two words, X·2¹²⁸ and
//! Y·2¹²⁸ + 1: a word W = r·2¹²⁸ + t has in t how often Y is in r, and that the remainder of two words keeps, so a step is one MOD. It stops below r = 2⁶⁴; then
//! the last two words say two combinations of x and y, of which the second is 60 bits shorter than y was. A combination below zero changes its sign. Whatever the steps are,
//! x and y keep their greatest common divisor, as the determinant of all of it is ±1.
//!
//! A number whose first quotient is longer than 64 bits, one in 2⁶², is multiplied by A once more, and begun with again: to invert a·Aʲ for j ≥ 1 makes numbers that are chosen, as
//! 1 is, like any other. A number without an inverse becomes 0. Judge: whole programs beside powers.

use super::Wide;
use crate::wide::emission::{Emission, Name};
use crate::wide::system::{RESIDUES, Residue};
use num_bigint::BigUint;
use num_traits::One;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use residue_passes::Slot;

/// Words of memory that an inversion takes: a zero, x, y, u and v, and the value to invert.
pub const SCRATCH_WORDS: u32 = 1 + 16 + 4;

/// Limbs of a number.
const LIMBS: u32 = 4;
/// Bits of a limb.
const LIMB_BITS: u32 = 128;
/// A batch stops where a word is shorter than this.
const STOP_BITS: u32 = LIMB_BITS + 64;
/// So many times p are added to u, which is above minus that.
const RAISED: u32 = 8;

/// Address of the result.
const OUT: Name = Name::Parameter(0);
/// Number of multiplications of the value by A.
const TURNS: Name = Name::Parameter(1);
/// The address of the topmost limb of x.
const TOP: Name = Name::Parameter(2);
/// X.
const X_HEAD: Name = Name::Parameter(3);
/// Y.
const Y_HEAD: Name = Name::Parameter(4);
/// The word of the last remainder but one, and the last one's.
const BEFORE: Name = Name::Parameter(5);
const LAST: Name = Name::Parameter(6);
/// Multiples of x and y in the new x, and in the new y.
const MATRIX: [Name; 4] = [Name::Parameter(7), Name::Parameter(8), Name::Parameter(9), Name::Parameter(10)];
/// Carry of limbs to the next ones.
const CARRIES: [Name; 2] = [Name::Parameter(11), Name::Parameter(12)];
/// A limb of x or u, and of y or v.
const PAIR: [Name; 2] = [Name::Parameter(13), Name::Parameter(14)];

/// The addresses of what an inversion has in memory.
#[derive(Debug, Clone, Copy)]
struct Scratch {
    x: u32,
    y: u32,
    u: u32,
    v: u32,
    value: u32,
}

impl Scratch {
    fn from(start: u32) -> Self {
        // What is below x and y at their topmost limb is zero where that is their lowest one.
        let x = start + 32;
        let bytes = 32 * LIMBS;
        Self { x, y: x + bytes, u: x + 2 * bytes, v: x + 3 * bytes, value: x + 4 * bytes }
    }
}

/// The limbs of a number.
fn limbs(number: &BigUint) -> Vec<BigUint> {
    let mask = (BigUint::one() << LIMB_BITS) - 1u8;
    (0..LIMBS).map(|limb| (number >> (limb * LIMB_BITS)) & &mask).collect()
}

/// [label] → [], and jumps to it.
fn go_to(code: &mut Assembly, label: LabelId) {
    code.push_label(label);
    code.op(evm::JUMP);
}

/// [condition] → [], and jumps where it is not 0.
fn go_if(e: &mut Emission<'_>, label: LabelId) {
    e.code.push_label(label);
    e.code.op(evm::JUMPI);
    e.stack.pop();
}

impl Wide {
    /// [] → [] A slot's inverse, or 0.
    pub(super) fn write_inverse(&self, code: &mut Assembly, out: Slot, of: Slot) {
        self.inverse.1.set(true);
        self.enter.1.set(true);
        self.leave.1.set(true);
        let scratch = Scratch::from(self.scratch);
        for residue in RESIDUES {
            self.word(code, of, residue);
            super::push(code, scratch.value + 32 * u32::try_from(residue.place()).expect("there are four"));
            code.op(evm::MSTORE);
        }
        let back = code.new_label();
        code.push_label(back);
        super::push(code, self.memory.address(out));
        go_to(code, self.inverse.0);
        code.label(back);
    }

    /// [return, out] → []: the inverse of the value that memory holds goes to a slot.
    pub(super) fn write_inversion(&self, code: &mut Assembly) {
        // style: S2: a program reads in the order in which it runs.
        let [begin, batch, step, combine, right_y, right_x, turn, last, none] =
            std::array::from_fn(|_| code.new_label());
        let scratch = Scratch::from(self.scratch);
        let p = &self.system.p;
        code.label(self.inverse.0);
        let mut e = Emission::new(&self.system, code);
        e.stack = vec![Name::Other, OUT];
        e.push(0u8);
        e.name(TURNS);
        e.code.label(begin); //                                      [return, out, turns]
        e.push(1u8);
        e.op(evm::ADD, 2);
        e.name(TURNS);
        self.call_raise(&mut e, |e| e.push(scratch.value));
        // y is the canonical value; x = p, u = 0, v = 1.
        let back = e.code.new_label();
        e.push(scratch.value);
        e.double();
        e.code.push_label(back);
        go_to(e.code, self.leave.0);
        e.code.label(back); //                                       [return, out, turns, high, low]
        for place in [0, 2] {
            e.double();
            e.push((BigUint::one() << LIMB_BITS) - 1u8);
            e.op(evm::AND, 2);
            e.store(scratch.y + 32 * place);
            e.push(LIMB_BITS);
            e.op(evm::SHR, 2);
            e.store(scratch.y + 32 * (place + 1));
        }
        e.push(0u8);
        e.store(scratch.x - 32);
        for (start, value) in [(scratch.x, p), (scratch.u, &BigUint::ZERO), (scratch.v, &BigUint::one())] {
            for (limb, value) in (0..).zip(limbs(value)) {
                e.push(value);
                e.store(start + 32 * limb);
            }
        }
        e.push(scratch.x + 32 * (LIMBS - 1));
        e.name(TOP);
        e.code.label(batch); //                                      [return, out, turns, top]
        e.load(scratch.y);
        for limb in 1..LIMBS {
            e.load(scratch.y + 32 * limb);
            e.op(evm::OR, 2);
        }
        e.op(evm::ISZERO, 1);
        go_if(&mut e, last);
        // The topmost limb that x or y has.
        let go_down = e.code.new_label();
        let above = e.code.new_label();
        go_to(e.code, above);
        e.code.label(go_down);
        e.push(32u8);
        e.swap(1);
        e.op(evm::SUB, 2);
        e.name(TOP);
        e.code.label(above);
        self.limb(&mut e, 0);
        self.limb(&mut e, 32 * LIMBS);
        e.op(evm::OR, 2);
        e.op(evm::ISZERO, 1);
        go_if(&mut e, go_down);
        self.heads(&mut e); //                                       [return, out, turns, top, X, Y]
        self.first_words(&mut e); //                                 [return, out, turns, top, X, Y, W, W']
        e.double();
        e.push(STOP_BITS);
        e.op(evm::SHR, 2);
        go_if(&mut e, step);
        // Too long a quotient: again with another multiple.
        let height = e.stack.clone();
        for _ in 0..5 {
            e.pop();
        }
        go_to(e.code, begin);
        e.stack = height;
        e.code.label(step);
        e.double();
        e.swap(2);
        e.op(evm::MOD, 2);
        e.double();
        e.push(STOP_BITS);
        e.op(evm::SHR, 2);
        go_if(&mut e, step);
        e.name(LAST);
        let length = e.stack.len();
        e.stack[length - 2] = BEFORE;
        self.matrix(&mut e); //                                      [return, out, turns, top, X, Y, W, W', matrix]
        for _ in 0..4 {
            e.swap(4);
            e.pop();
        }
        e.code.label(combine); //                                    [return, out, turns, top, matrix]
        self.combine(&mut e);
        // Neither may be below zero.
        for (number, label, fixed) in [(scratch.y, right_y, [1i8, 0, 0, -1]), (scratch.x, right_x, [-1, 0, 0, 1])] {
            e.push(0u8);
            e.load(number + 32 * (LIMBS - 1));
            e.op(evm::SLT, 2);
            e.op(evm::ISZERO, 1);
            go_if(&mut e, label);
            let height = e.stack.clone();
            for entry in fixed {
                e.push(if entry < 0 { (BigUint::one() << 256u32) - 1u8 } else { BigUint::from(entry.unsigned_abs()) });
            }
            go_to(e.code, combine);
            e.stack = height;
            e.code.label(label);
        }
        go_to(e.code, batch);

        // x is the greatest common divisor.
        e.code.label(last); //                                       [return, out, turns, top]
        e.load(scratch.x);
        e.push(1u8);
        e.op(evm::XOR, 2);
        for limb in 1..LIMBS {
            e.load(scratch.x + 32 * limb);
            e.op(evm::OR, 2);
        }
        go_if(&mut e, none);
        e.pop();
        self.raised(&mut e, &(p * RAISED)); //                       [return, out, turns, high, low]
        let back = e.code.new_label();
        e.code.push_label(back);
        e.stack.push(Name::Other);
        e.dup(OUT);
        go_to(e.code, self.enter.0);
        e.code.label(back);
        e.stack.truncate(3);
        e.code.op(evm::POP);
        e.code.op(evm::POP); //                                      [return, out, turns]
        e.code.label(turn);
        self.call_raise(&mut e, |e| e.dup(OUT));
        e.push(1u8);
        e.swap(1);
        e.op(evm::SUB, 2);
        e.name(TURNS);
        e.double();
        go_if(&mut e, turn);
        e.pop();
        e.pop();
        e.code.op(evm::JUMP);

        e.code.label(none); //                                       [return, out, turns, top]
        e.stack = vec![Name::Other, OUT, TURNS, TOP];
        e.pop();
        e.pop();
        for residue in RESIDUES {
            e.push(0u8);
            e.address(OUT, residue);
            e.store_at();
        }
        e.pop();
        e.code.op(evm::JUMP);
        self.write_raise(code);
    }

    /// [] → [a limb of x at the topmost place, so many bytes further]
    fn limb(&self, e: &mut Emission<'_>, bytes: u32) {
        e.dup(TOP);
        if bytes > 0 {
            e.push(bytes);
            e.op(evm::ADD, 2);
        }
        e.op(evm::MLOAD, 1);
    }

    /// [] → [X, Y]: the two topmost limbs of x and of y, over the sum of the topmost ones and 1, which is more than either.
    fn heads(&self, e: &mut Emission<'_>) {
        self.limb(e, 0);
        e.name(X_HEAD);
        self.limb(e, 32 * LIMBS);
        e.name(Y_HEAD);
        e.dup(X_HEAD);
        e.dup(Y_HEAD);
        e.op(evm::ADD, 2);
        e.push(1u8);
        e.op(evm::ADD, 2);
        e.name(BEFORE); //                                           [x, y, divisor]
        for (name, bytes, down) in [(X_HEAD, 0u32, 3), (Y_HEAD, 32 * LIMBS, 2)] {
            e.dup(BEFORE);
            // The limb below.
            e.push(32u8);
            e.dup(TOP);
            if bytes > 0 {
                e.push(bytes);
                e.op(evm::ADD, 2);
            }
            e.op(evm::SUB, 2);
            e.op(evm::MLOAD, 1);
            e.dup(name);
            e.push(LIMB_BITS);
            e.op(evm::SHL, 2);
            e.op(evm::OR, 2);
            e.op(evm::DIV, 2);
            e.name(name);
            e.swap(down);
            e.pop();
        }
        e.pop();
    }

    /// [X, Y] → [X, Y, X·2¹²⁸, Y·2¹²⁸ + 1]
    fn first_words(&self, e: &mut Emission<'_>) {
        for (name, one) in [(X_HEAD, false), (Y_HEAD, true)] {
            e.dup(name);
            e.push(LIMB_BITS);
            e.op(evm::SHL, 2);
            if one {
                e.push(1u8);
                e.op(evm::OR, 2);
            }
        }
    }

    /// [X, Y, W, W'] → [X, Y, W, W', matrix]: a word is r·2¹²⁸ + t, and r = s·X + t·Y.
    fn matrix(&self, e: &mut Emission<'_>) {
        for (word, [s, t]) in [(BEFORE, [MATRIX[0], MATRIX[1]]), (LAST, [MATRIX[2], MATRIX[3]])] {
            e.dup(word);
            e.push(15u8);
            e.op(evm::SIGNEXTEND, 2);
            e.name(t); //                                            [t]
            e.dup(X_HEAD);
            e.dup(t);
            e.dup(Y_HEAD);
            e.op(evm::MUL, 2);
            e.dup(t);
            e.dup(word);
            e.op(evm::SUB, 2);
            e.push(LIMB_BITS);
            e.op(evm::SHR, 2); //                                    [t, X, t·Y, r]
            e.op(evm::SUB, 2);
            e.op(evm::SDIV, 2);
            e.name(s);
            e.swap(1); //                                            [s, t]
        }
    }

    /// [matrix] → []: x and y, u and v become their combinations.
    fn combine(&self, e: &mut Emission<'_>) {
        let scratch = Scratch::from(self.scratch);
        let mask = (BigUint::one() << LIMB_BITS) - 1u8;
        for starts in [[scratch.x, scratch.y], [scratch.u, scratch.v]] {
            for carry in CARRIES {
                e.push(0u8);
                e.name(carry);
            }
            for limb in 0..LIMBS {
                for (name, start) in PAIR.into_iter().zip(starts) {
                    e.load(start + 32 * limb);
                    e.name(name);
                }
                for (row, start) in starts.into_iter().enumerate() {
                    for (column, name) in PAIR.into_iter().enumerate() {
                        e.dup(name);
                        e.dup(MATRIX[2 * row + column]);
                        e.op(evm::MUL, 2);
                    }
                    e.op(evm::ADD, 2);
                    e.dup(CARRIES[row]);
                    e.op(evm::ADD, 2);
                    if limb + 1 == LIMBS {
                        e.store(start + 32 * limb);
                        continue;
                    }
                    e.double();
                    e.push(mask.clone());
                    e.op(evm::AND, 2);
                    e.store(start + 32 * limb);
                    e.push(LIMB_BITS);
                    e.op(evm::SAR, 2);
                    e.name(CARRIES[row]);
                    e.swap(if row == 0 { 4 } else { 3 });
                    e.pop();
                }
                e.pop();
                e.pop();
            }
            e.pop();
            e.pop();
        }
        (0..4).for_each(|_| e.pop());
    }

    /// [] → [high, low] of u and so much above it, which is not below zero.
    fn raised(&self, e: &mut Emission<'_>, above: &BigUint) {
        let scratch = Scratch::from(self.scratch);
        let mask = (BigUint::one() << LIMB_BITS) - 1u8;
        let [sum, carry] = CARRIES;
        let above = limbs(above);
        for (half, above) in (0u32..).zip(above.chunks(2)) {
            for (place, (above, name)) in (2 * half..).zip(above.iter().zip([sum, carry])) {
                e.load(scratch.u + 32 * place);
                e.push(above.clone());
                e.op(evm::ADD, 2);
                if place > 0 {
                    e.dup(if name == sum { carry } else { sum });
                    e.push(LIMB_BITS);
                    e.op(evm::SHR, 2);
                    e.op(evm::ADD, 2);
                }
                e.name(name);
            }
            e.dup(carry);
            e.push(LIMB_BITS);
            e.op(evm::SHL, 2);
            e.dup(sum);
            e.push(mask.clone());
            e.op(evm::AND, 2);
            e.op(evm::OR, 2);
            e.swap(2);
            e.pop(); //                                              [half, carry]
        }
        e.pop(); //                                                  [low, carry, high]
        e.swap(2);
        e.swap(1);
        e.pop();
    }

    /// Calls the subroutine that multiplies a slot's value by A. `slot` pushes its address. [] → []
    fn call_raise(&self, e: &mut Emission<'_>, slot: impl FnOnce(&mut Emission<'_>)) {
        let back = e.code.new_label();
        e.code.push_label(back);
        e.stack.push(Name::Other);
        slot(e);
        go_to(e.code, self.raise);
        e.code.label(back);
        e.stack.truncate(e.stack.len() - 2);
    }

    /// [return, slot] → []: a slot's value times A, in place.
    fn write_raise(&self, code: &mut Assembly) {
        code.label(self.raise);
        let system = &self.system;
        let square = system.square();
        let slot = Name::Parameter(0);
        let mut e = Emission::new(system, code);
        e.stack = vec![Name::Other, slot];
        e.reduce(1, |e, residue| {
            e.modulus(residue);
            e.push(&square % system.modulus(residue));
            e.address(slot, residue);
            e.op(evm::MLOAD, 1);
            match residue {
                Residue::A2 => e.op(evm::MUL, 2),
                _ => e.op(evm::MULMOD, 3),
            }
            e.raise(residue);
        });
        e.finish(|e, residue| {
            e.address(slot, residue);
            e.store_at();
        });
        e.pop();
        code.op(evm::JUMP);
    }
}
