//! Inversion over a wide field by Euclid's algorithm in words: some 17 000 gas, where a power by p − 2 takes 110 000.
//!
//! x = p and y, the number to invert, have limbs of 128 bits, four where p has up to 507 bits, and so have u and v, of which the last limbs are signed: u·y₀ ≡ x and v·y₀ ≡ y modulo p.
//! A batch takes the leading 128 bits X and Y of both (Lehmer 1938, "Euclid's algorithm for large numbers") and goes on by remainders of two words, X·2¹²⁸ and
//! Y·2¹²⁸ + 1: a word W = r·2¹²⁸ + t has in t how often Y is in r, and that the remainder of two words keeps, so a step is one MOD. It stops below r = 2⁶⁴; then
//! the last two words say two combinations of x and y, of which the second is 60 bits shorter than y was. A combination below zero changes its sign. Whatever the steps are,
//! x and y keep their greatest common divisor, as the determinant of all of it is ±1.
//!
//! A number whose first quotient is longer than 64 bits, one in 2⁶², is multiplied by K once more, and begun with again: to invert a·Kʲ for j ≥ 1 makes numbers that are chosen, as
//! 1 is, like any other, and those without an inverse too, as no power of K that is met is near 1 modulo a factor of p ([`multiplier`]). A number without an inverse becomes 0. Judge: whole programs beside powers.

use super::Wide;
use crate::wide::emission::{Emission, Name};
use crate::wide::system::{POWER, System};
use num_bigint::BigUint;
use num_integer::Integer as _;
use num_traits::One;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use residue_passes::Slot;

/// Words of memory that an inversion takes: a zero, x, y, u and v, and the value to invert.
pub fn scratch_words(system: &System) -> u32 {
    1 + 4 * limb_count(system) + system.value_bytes() / 32
}

/// Limbs of a number, with room for the sign of one that is some times p.
fn limb_count(system: &System) -> u32 {
    let limbs = (system.p.bits() + SIGN_BITS).div_ceil(LIMB_BITS.into());
    u32::try_from(limbs).expect("it is short").max(LIMBS_MIN)
}

/// Limbs of a number at least.
const LIMBS_MIN: u32 = 4;
/// Bits beyond those of p: [`RAISED`] times p, and a sign.
const SIGN_BITS: u64 = 5;
/// Bits of a limb.
const LIMB_BITS: u32 = 128;
/// A batch stops where a word is shorter than this.
const STOP_BITS: u32 = LIMB_BITS + 64;
/// So many times p are added to u, which is above minus that.
const RAISED: u32 = 8;

/// Address of the result.
const OUT: Name = Name::Parameter(0);
/// Number of multiplications of the value by K.
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
    /// Limbs of a number.
    limbs: u32,
}

impl Scratch {
    fn from(start: u32, limbs: u32) -> Self {
        // What is below x and y at their topmost limb is zero where that is their lowest one.
        let x = start + 32;
        let bytes = 32 * limbs;
        Self { x, y: x + bytes, u: x + 2 * bytes, v: x + 3 * bytes, value: x + 4 * bytes, limbs }
    }

    /// The limbs of a number.
    fn limbs(self, number: &BigUint) -> Vec<BigUint> {
        let mask = (BigUint::one() << LIMB_BITS) - 1u8;
        (0..self.limbs).map(|limb| (number >> (limb * LIMB_BITS)) & &mask).collect()
    }
}

/// Powers of A that are not 1 modulo a factor of p where A is the multiplier.
const POWERS_TRIED: u32 = 8;

/// K, a number without a factor in common with p: A for primes, of which few powers are 1; else a number made of p, as a composite may have a factor modulo which A is 1, as it is modulo
/// those of base B.
pub fn multiplier(system: &System) -> BigUint {
    let (p, a) = (&system.p, &system.a);
    let is_prime = BigUint::from(2u8).modpow(&(p - 1u8), p).is_one();
    let is_far_from_one = |power: u32| (a.modpow(&power.into(), p) + p - 1u8).gcd(p).is_one();
    if is_prime && (1..=POWERS_TRIED).all(is_far_from_one) {
        return a % p;
    }
    let scrambled = |attempt: u64| {
        let state = p.iter_u64_digits().fold(attempt, |state, digit| mixed(state ^ digit));
        let digits = (0..p.iter_u64_digits().len() as u64).map(|number| mixed(state.wrapping_add(number))); // few
        BigUint::from_slice(&digits.flat_map(|digit| [digit as u32, (digit >> 32) as u32]).collect::<Vec<_>>()) % p
    };
    (0..).map(scrambled).find(|number| number.gcd(p).is_one()).expect("most numbers have no factor in common with p")
}

/// A permutation of words without structure: Steele, Lea and Flood 2014, “Fast splittable pseudorandom number generators”, SplitMix64.
fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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
    /// The addresses of what an inversion has in memory.
    fn scratch(&self) -> Scratch {
        Scratch::from(self.scratch, limb_count(&self.system))
    }

    /// [] → [] A slot's inverse, or 0.
    pub(super) fn write_inverse(&self, code: &mut Assembly, out: Slot, of: Slot) {
        self.inverse.1.set(true);
        self.enter.1.set(true);
        self.leave.1.set(true);
        let scratch = self.scratch();
        for ((slot, place), at) in self.each_word(of..of + 1).zip((scratch.value..).step_by(32)) {
            self.word(code, slot, place);
            super::push(code, at);
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
        let scratch = self.scratch();
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
        self.call_leave_for(&mut e, scratch.value); //               [return, out, turns, words of y on the stack, or none]
        for place in (0..scratch.limbs).step_by(2) {
            if self.is_long() {
                e.load(self.number_at(place / 2));
            }
            if place + 1 == scratch.limbs {
                e.store(scratch.y + 32 * place);
                continue;
            }
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
            for (limb, value) in (0..).zip(scratch.limbs(value)) {
                e.push(value);
                e.store(start + 32 * limb);
            }
        }
        e.push(scratch.x + 32 * (scratch.limbs - 1));
        e.name(TOP);
        e.code.label(batch); //                                      [return, out, turns, top]
        e.load(scratch.y);
        for limb in 1..scratch.limbs {
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
        self.limb(&mut e, 32 * scratch.limbs);
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
            e.load(number + 32 * (scratch.limbs - 1));
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
        for limb in 1..scratch.limbs {
            e.load(scratch.x + 32 * limb);
            e.op(evm::OR, 2);
        }
        go_if(&mut e, none);
        e.pop();
        self.raised(&mut e, &(p * RAISED)); //                       [return, out, turns, high, low], or in memory
        self.call_enter_for(&mut e); //                              [return, out, turns]
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
        for &residue in self.system.residues() {
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
        let y = 32 * limb_count(&self.system);
        self.limb(e, y);
        e.name(Y_HEAD);
        e.dup(X_HEAD);
        e.dup(Y_HEAD);
        e.op(evm::ADD, 2);
        e.push(1u8);
        e.op(evm::ADD, 2);
        e.name(BEFORE); //                                           [x, y, divisor]
        for (name, bytes, down) in [(X_HEAD, 0u32, 3), (Y_HEAD, y, 2)] {
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
        let scratch = self.scratch();
        let mask = (BigUint::one() << LIMB_BITS) - 1u8;
        for starts in [[scratch.x, scratch.y], [scratch.u, scratch.v]] {
            for carry in CARRIES {
                e.push(0u8);
                e.name(carry);
            }
            for limb in 0..scratch.limbs {
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
                    if limb + 1 == scratch.limbs {
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

    /// [] → [high, low] of u and so much above it, which is not below zero; [] → [] with the words in memory where they are long.
    fn raised(&self, e: &mut Emission<'_>, above: &BigUint) {
        let scratch = self.scratch();
        let mask = (BigUint::one() << LIMB_BITS) - 1u8;
        let [sum, carry] = CARRIES;
        let above = scratch.limbs(above);
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
            if above.len() == 2 {
                e.dup(carry);
                e.push(LIMB_BITS);
                e.op(evm::SHL, 2);
                e.dup(sum);
                e.push(mask.clone());
                e.op(evm::AND, 2);
                e.op(evm::OR, 2);
                e.swap(2);
                e.pop(); //                                          [half, carry]
            }
            if self.is_long() {
                if above.len() == 2 {
                    e.swap(1); //                                    [carry, half]
                }
                e.store(self.number_at(half));
                if half > 0 && above.len() == 2 {
                    e.swap(1);
                    e.pop(); //                                      [carry]
                }
            }
        }
        if self.is_long() {
            e.pop();
            return;
        }
        e.pop(); //                                                  [low, carry, high]
        e.swap(2);
        e.swap(1);
        e.pop();
    }

    /// [] → [high, low] of the value at an address, or in memory
    fn call_leave_for(&self, e: &mut Emission<'_>, value: u32) {
        let back = e.code.new_label();
        if self.is_long() {
            e.code.push_label(back);
            super::push(e.code, value);
        } else {
            super::push(e.code, value);
            e.code.op(evm::DUP1);
            e.code.push_label(back);
        }
        go_to(e.code, self.leave.0);
        e.code.label(back);
        if !self.is_long() {
            e.stack.extend([Name::Other; 2]);
        }
    }

    /// [high, low], or [] with them in memory → [], with the value in [`OUT`]
    fn call_enter_for(&self, e: &mut Emission<'_>) {
        let back = e.code.new_label();
        e.code.push_label(back);
        e.stack.push(Name::Other);
        e.dup(OUT);
        go_to(e.code, self.enter.0);
        e.code.label(back);
        e.stack.truncate(3);
        if !self.is_long() {
            e.code.op(evm::POP);
            e.code.op(evm::POP);
        }
    }

    /// Calls the subroutine that multiplies a slot's value by K. `slot` pushes its address. [] → []
    fn call_raise(&self, e: &mut Emission<'_>, slot: impl FnOnce(&mut Emission<'_>)) {
        let back = e.code.new_label();
        e.code.push_label(back);
        e.stack.push(Name::Other);
        slot(e);
        go_to(e.code, self.raise);
        e.code.label(back);
        e.stack.truncate(e.stack.len() - 2);
    }

    /// [return, slot] → []: a slot's value times K, in place.
    fn write_raise(&self, code: &mut Assembly) {
        code.label(self.raise);
        let system = &self.system;
        let factor = multiplier(system) * &system.a % &system.p;
        let slot = Name::Parameter(0);
        let mut e = Emission::new(system, code);
        e.stack = vec![Name::Other, slot];
        let total = |e: &mut Emission<'_>, residue| {
            e.modulus(residue);
            e.push(&factor % system.modulus(residue));
            e.address(slot, residue);
            e.op(evm::MLOAD, 1);
            match residue {
                POWER => e.op(evm::MUL, 2),
                _ => e.op(evm::MULMOD, 3),
            }
            e.raise(residue);
        };
        e.reduced(1, total, |e, residue| {
            e.address(slot, residue);
            e.store_at();
        });
        e.pop();
        code.op(evm::JUMP);
    }
}
