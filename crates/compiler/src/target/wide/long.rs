//! Numbers in memory that become values and that values are, where a value is six words or more.

use super::{SLOT, Wide, push, word_of};
use crate::wide::emission::{Emission, Name};
use crate::wide::system::{POWER, Residue};
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;

/// Carry from a word to the next one.
const CARRY: Name = Name::Parameter(1);
/// A word of a number.
const WORD: Name = Name::Parameter(2);
/// The product with it modulo 2²⁵⁶ − 1.
const FOLDED: Name = Name::Parameter(3);
/// The low word of that product.
const LOW: Name = Name::Parameter(4);
/// The high word of it.
const HIGH: Name = Name::Parameter(5);
/// The word that takes its place.
const NEXT: Name = Name::Parameter(6);

impl Wide {
    /// The address of a word of the number in memory.
    pub(super) const fn number_at(&self, word: u32) -> u32 {
        self.number + 32 * word
    }

    /// [] → [a word of the number in memory]
    pub(super) fn number_word(&self, code: &mut Assembly, word: u32) {
        push(code, self.number_at(word));
        code.op(evm::MLOAD);
    }

    /// [] → [], with a slot's canonical value in memory.
    pub(super) fn call_leave(&self, code: &mut Assembly, slot: u32) {
        self.leave.1.set(true);
        self.call(code, self.leave.0, slot);
    }

    /// [the words of a number, the lowest on top] → [], with the number's value in a slot.
    pub(super) fn call_enter(&self, code: &mut Assembly, slot: u32) {
        self.enter.1.set(true);
        for word in 0..self.number_words() {
            push(code, self.number_at(word));
            code.op(evm::MSTORE);
        }
        self.call(code, self.enter.0, slot);
    }

    fn call(&self, code: &mut Assembly, subroutine: LabelId, slot: u32) {
        let back = code.new_label();
        code.push_label(back);
        push(code, self.memory.address(slot));
        code.push_label(subroutine);
        code.op(evm::JUMP);
        code.label(back);
    }

    /// [return, slot] → []: T is the number in memory times A² mod p, reduced, so that it stands for the number.
    pub(super) fn write_enter_long(&self, code: &mut Assembly) {
        code.label(self.enter.0);
        let system = &self.system;
        let mut e = Emission::new(system, code);
        e.stack = vec![Name::Other, SLOT];
        let square = system.square();
        let total = |e: &mut Emission<'_>, residue| {
            let modulus = system.modulus(residue);
            // Higher words are nothing modulo 2²⁵⁶.
            let words = if residue == POWER { 1 } else { self.number_words() };
            for word in 0..words {
                e.modulus(residue);
                e.push((&square << (256 * word)) % &modulus);
                e.load(self.number_at(word));
                match residue {
                    POWER => e.op(evm::MUL, 2),
                    _ => e.op(evm::MULMOD, 3),
                }
                if word > 0 {
                    e.op(evm::ADD, 2);
                }
            }
            e.raise(residue);
        };
        e.reduced(1, total, |e, residue| {
            e.address(SLOT, residue);
            e.store_at();
        });
        e.pop(); //                                 [return]
        code.op(evm::JUMP);
    }

    /// [return, slot] → []: T is the integer X itself, so r = X/A mod p, and p is taken away from it as often as it has that.
    pub(super) fn write_leave_long(&self, code: &mut Assembly) {
        code.label(self.leave.0);
        let system = &self.system;
        let mut e = Emission::new(system, code);
        e.stack = vec![Name::Other, SLOT];
        e.reduce(1, |e, residue| {
            e.address(SLOT, residue);
            e.op(evm::MLOAD, 1);
            e.raise(residue);
        });
        let last = system.count() - 1;
        for word in 0..self.number_words() {
            if word == 0 {
                e.dup(Name::Digit(last));
            } else {
                e.push(0u8);
            }
            e.store(self.number_at(word));
        }
        for digit in (0..last).rev() {
            self.multiply_and_add(&mut e, digit);
        }
        while e.stack.len() > 1 {
            e.pop();
        }
        let [again, done] = [(); 2].map(|()| e.code.new_label());
        e.code.label(again);
        self.is_below(&mut e);
        e.code.push_label(done);
        e.code.op(evm::JUMPI);
        e.stack.pop();
        self.subtract_p(&mut e);
        e.code.push_label(again);
        e.code.op(evm::JUMP);
        e.code.label(done);
        code.op(evm::JUMP);
    }

    /// [] → []: the number in memory becomes b times itself and the digit.
    fn multiply_and_add(&self, e: &mut Emission<'_>, digit: u8) {
        let factor = self.system.factor(Residue::B(digit));
        e.dup(Name::Digit(digit));
        e.name(CARRY);
        for word in 0..self.number_words() {
            e.load(self.number_at(word));
            e.name(WORD);
            e.push(0u8);
            e.op(evm::NOT, 1);
            e.push(factor.clone());
            e.dup(WORD);
            e.op(evm::MULMOD, 3);
            e.name(FOLDED);
            e.push(factor.clone());
            e.dup(WORD);
            e.op(evm::MUL, 2);
            e.name(LOW);
            // The high word is the difference, less 1 if that is below zero.
            e.dup(LOW);
            e.dup(FOLDED);
            e.op(evm::LT, 2);
            e.dup(LOW);
            e.dup(FOLDED);
            e.op(evm::SUB, 2);
            e.op(evm::SUB, 2);
            e.name(HIGH);
            e.dup(CARRY);
            e.dup(LOW);
            e.op(evm::ADD, 2);
            e.name(NEXT);
            e.dup(CARRY);
            e.dup(NEXT);
            e.op(evm::LT, 2);
            e.dup(HIGH);
            e.op(evm::ADD, 2); //                   [carry, word, folded, low, high, next, next carry]
            e.swap(1);
            e.store(self.number_at(word));
            e.swap(5);
            (0..5).for_each(|_| e.pop());
            e.name(CARRY);
        }
        e.pop();
    }

    /// [] → [1 if the number in memory is below p]
    fn is_below(&self, e: &mut Emission<'_>) {
        for word in 0..self.number_words() {
            let limit = word_of(&self.system.p, word);
            if word > 0 {
                e.push(limit.clone());
                e.load(self.number_at(word));
                e.op(evm::EQ, 2);
                e.op(evm::AND, 2);
            }
            e.push(limit);
            e.load(self.number_at(word));
            e.op(evm::LT, 2);
            if word > 0 {
                e.op(evm::OR, 2);
            }
        }
    }

    /// [] → []: the number in memory becomes p less.
    fn subtract_p(&self, e: &mut Emission<'_>) {
        e.push(0u8);
        e.name(CARRY);
        for word in 0..self.number_words() {
            let less = word_of(&self.system.p, word);
            e.load(self.number_at(word));
            e.name(WORD);
            e.push(less.clone());
            e.dup(WORD);
            e.op(evm::SUB, 2);
            e.name(LOW); //                         [borrow, word, difference]
            e.dup(CARRY);
            e.dup(LOW);
            e.op(evm::SUB, 2);
            e.store(self.number_at(word));
            // Below what is taken away, or below the borrow.
            e.dup(CARRY);
            e.dup(LOW);
            e.op(evm::LT, 2);
            e.push(less);
            e.dup(WORD);
            e.op(evm::LT, 2);
            e.op(evm::OR, 2); //                    [borrow, word, difference, next borrow]
            e.swap(3);
            (0..3).for_each(|_| e.pop());
            e.name(CARRY);
        }
        e.pop();
    }
}
