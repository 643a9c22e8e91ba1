//! Code that is written over words with names: reductions, and what they are made of.
//!
//! Comments show the stack, its top at the right. What stays there is known by name, so that it is copied from wherever it lies.

use super::system::{Constant, POWER, Residue, System};
use num_bigint::BigUint;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use std::collections::BTreeSet;

/// A word on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// An operand of what is being computed.
    Other,
    /// A constant of reductions.
    Constant(Constant),
    /// qᵢ = −T/(p·A/aᵢ) mod aᵢ.
    Quotient(u8),
    /// r modulo bⱼ, not reduced.
    Rest(u8),
    /// uⱼ: r = u₀ + b₀(u₁ + b₁(u₂ + …)).
    Digit(u8),
    /// A parameter of a subroutine.
    Parameter(u8),
}

/// Code that is written, with what lies on the stack.
pub struct Emission<'a> {
    system: &'a System,
    /// The code.
    pub code: &'a mut Assembly,
    /// The words that it knows of.
    pub stack: Vec<Name>,
    /// True if something was out of reach of DUP: the code is wrong then.
    pub is_too_deep: bool,
    /// The constants that were copied from the stack.
    pub copied: BTreeSet<Constant>,
}

impl<'a> Emission<'a> {
    /// Nothing on the stack yet.
    pub fn new(system: &'a System, code: &'a mut Assembly) -> Self {
        Self { system, code, stack: Vec::new(), is_too_deep: false, copied: BTreeSet::new() }
    }

    /// [] → [number]
    pub fn push(&mut self, number: impl Into<BigUint>) {
        self.code.push(number);
        self.stack.push(Name::Other);
    }

    /// An operation on so many words, which gives one.
    pub fn op(&mut self, opcode: u8, takes: usize) {
        self.code.op(opcode);
        self.stack.truncate(self.stack.len() - takes);
        self.stack.push(Name::Other);
    }

    /// Names the word on top.
    pub fn name(&mut self, name: Name) {
        if let Some(top) = self.stack.last_mut() {
            *top = name;
        }
    }

    fn depth(&self, name: Name) -> Option<u8> {
        let place = self.stack.iter().rposition(|&other| other == name)?;
        u8::try_from(self.stack.len() - place).ok()
    }

    /// [] → [the word of this name]
    pub fn dup(&mut self, name: Name) {
        let depth = self.depth(name).expect("few words lie above it");
        self.is_too_deep |= depth > 16;
        self.code.op(evm::DUP1 - 1 + depth.min(16));
        self.stack.push(Name::Other);
    }

    /// [x] → [x, x]
    pub fn double(&mut self) {
        self.code.op(evm::DUP1);
        self.stack.push(Name::Other);
    }

    /// [x, … so many words …, y] → [y, …, x]
    pub fn swap(&mut self, below: u8) {
        self.code.op(evm::SWAP1 - 1 + below);
        let top = self.stack.len() - 1;
        self.stack.swap(top, top - usize::from(below));
    }

    /// [x] → []
    pub fn pop(&mut self) {
        self.code.op(evm::POP);
        self.stack.pop();
    }

    /// [] → [constant]
    pub fn constant(&mut self, constant: Constant) {
        match self.depth(Name::Constant(constant)).filter(|&depth| depth <= 16) {
            Some(depth) => {
                self.copied.insert(constant);
                self.code.op(evm::DUP1 - 1 + depth)
            }
            None => self.code.push(self.system.constant(constant).clone()),
        };
        self.stack.push(Name::Other);
    }

    /// [] → [modulus], but nothing for 2²⁵⁶
    pub fn modulus(&mut self, residue: Residue) {
        if residue != POWER {
            self.constant(Constant::Modulus(residue));
        }
    }

    /// [address] → [word of it]
    pub fn load(&mut self, address: u32) {
        self.push(address);
        self.op(evm::MLOAD, 1);
    }

    /// [x] → []
    pub fn store(&mut self, address: u32) {
        self.push(address);
        self.store_at();
    }

    /// [x, address] → []
    pub fn store_at(&mut self) {
        self.code.op(evm::MSTORE);
        self.stack.truncate(self.stack.len() - 2);
    }

    /// [] → [address of a word of the slot that this name says]
    pub fn address(&mut self, slot: Name, residue: Residue) {
        self.dup(slot);
        let offset = 32 * u32::try_from(self.system.place(residue)).expect("there are few");
        if offset > 0 {
            self.push(offset);
            self.op(evm::ADD, 2);
        }
    }

    /// [x] → [x + C] modulo moduli of base B but the first, C being the least multiple that is not below b₀; [x] → [x] modulo the others
    pub fn raise(&mut self, residue: Residue) {
        if let Residue::B(number @ 1..) = residue {
            self.constant(Constant::Above(number));
            self.op(evm::ADD, 2);
        }
    }

    /// Jumps to a subroutine with these words on the stack above the address where it returns. [] → []
    pub fn call(&mut self, subroutine: LabelId, words: impl IntoIterator<Item = u32>) {
        let back = self.code.new_label();
        self.code.push_label(back);
        for word in words {
            self.code.push(word);
        }
        self.code.push_label(subroutine);
        self.code.op(evm::JUMP);
        self.code.label(back);
    }

    /// A reduction of the sum T whose words `total` makes: [] → [q₀, …, u₀, r, u₁, r, u₂, …], each r being the result modulo the modulus of the digit above it. The bounds of T
    /// are the caller's care. T is `scale` times what `total` makes modulo the moduli of base A. Modulo those of base B but the first it makes a word of at least b₀, from which u₀ is
    /// subtracted.
    pub fn reduce(&mut self, scale: u64, total: impl FnMut(&mut Self, Residue)) {
        self.reduce_with(scale, total, |_, _| {});
    }

    /// The same with `rest` done after each digit but the first: [r, digit].
    fn reduce_with(
        &mut self,
        scale: u64,
        mut total: impl FnMut(&mut Self, Residue),
        mut rest: impl FnMut(&mut Self, Residue),
    ) {
        let count = self.system.count();
        for number in 0..count {
            let residue = Residue::A(number);
            self.modulus(residue);
            if scale == 1 {
                self.constant(Constant::Quotient(number));
            } else {
                let scaled = self.system.constant(Constant::Quotient(number)) * scale;
                self.push(scaled % self.system.modulus(residue));
            }
            total(self, residue);
            match residue {
                POWER => self.op(evm::MUL, 2),
                _ => self.op(evm::MULMOD, 3),
            }
            self.name(Name::Quotient(number));
        }
        for number in 0..count {
            let residue = Residue::B(number);
            if number == 0 {
                self.modulus(residue);
            }
            total(self, residue);
            for quotient in (1..count).chain([0]) {
                self.modulus(residue);
                self.constant(Constant::Factor(quotient, number));
                self.dup(Name::Quotient(quotient));
                self.op(evm::MULMOD, 3);
                self.op(evm::ADD, 2);
            }
            if number == 0 {
                self.op(evm::MOD, 2);
                self.name(Name::Digit(0));
            } else {
                self.name(Name::Rest(number));
                self.digit(number);
                rest(self, residue);
            }
        }
    }

    /// [r] → [r, its digit]: (…((r − u₀)/b₀ − u₁)/b₁ − …) mod b.
    fn digit(&mut self, number: u8) {
        let modulus = Residue::B(number);
        for other in (0..number).rev() {
            self.modulus(modulus);
            self.constant(Constant::Inverse(other, number));
        }
        self.dup(Name::Digit(0));
        self.dup(Name::Rest(number));
        self.op(evm::SUB, 2);
        self.op(evm::MULMOD, 3);
        for other in 1..number {
            // The other way around, times the negative of an inverse.
            self.dup(Name::Digit(other));
            self.modulus(modulus);
            self.op(evm::ADD, 2);
            self.op(evm::SUB, 2);
            self.op(evm::MULMOD, 3);
        }
        self.name(Name::Digit(number));
    }

    /// Writes the words of the reduced sum T, as [`Emission::reduce`] takes it: [] → []. `store` takes the word on top to its place in the slot; modulo each
    /// modulus it comes after `total`.
    pub fn reduced(
        &mut self,
        scale: u64,
        total: impl FnMut(&mut Self, Residue),
        mut store: impl FnMut(&mut Self, Residue),
    ) {
        self.reduce_with(scale, total, |e, residue| {
            e.swap(1);
            store(e, residue);
        }); //                                      [q₀, …, u₀, u₁, …]
        let count = self.system.count();
        for number in 1..count {
            self.sum_of_digits(Residue::A(number));
            store(self, Residue::A(number));
        }
        for digit in (1..count - 1).rev() {
            self.constant(Constant::Modulus(Residue::B(digit)));
            self.op(evm::MUL, 2);
            self.op(evm::ADD, 2);
        }
        self.constant(Constant::Modulus(Residue::B(0)));
        self.op(evm::MUL, 2);
        self.dup(Name::Digit(0));
        self.op(evm::ADD, 2);
        store(self, POWER); //                      [q₀, …, u₀]
        store(self, Residue::B(0));
        (0..count).for_each(|_| self.pop());
    }

    /// [] → [u₀ + b₀(u₁ + …)] modulo a modulus of base A but the power of two
    fn sum_of_digits(&mut self, residue: Residue) {
        let last = self.system.count() - 1;
        if last == 1 {
            // b₀ is 1.
            self.dup(Name::Digit(0));
            self.dup(Name::Digit(1));
            self.op(evm::ADD, 2);
            return;
        }
        self.modulus(residue);
        (1..last).for_each(|_| self.double());
        self.dup(Name::Digit(last));
        for digit in (0..last).rev() {
            self.constant(Constant::Modulus(Residue::B(digit)));
            self.op(evm::MULMOD, 3);
            self.dup(Name::Digit(digit));
            self.op(evm::ADD, 2);
        }
    }
}
