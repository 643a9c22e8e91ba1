//! Code that is written over words with names: reductions, and what they are made of.
//!
//! Comments show the stack, its top at the right. What stays there is known by name, so that it is copied from wherever it lies.

use super::system::{Constant, RESIDUES, Residue, System};
use num_bigint::BigUint;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;

/// A word on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// An operand of what is being computed.
    Other,
    /// A constant of reductions.
    Constant(Constant),
    /// q₂ = −T/(p·a₁) mod 2²⁵⁶ and q₁ = −T/(p·2²⁵⁶) mod a₁.
    Quotient(Residue),
    /// u₁ = r mod b₁.
    Lower,
    /// r modulo b₂, not reduced.
    Upper,
    /// u₂ = (r − u₁)/b₁ mod b₂.
    Digit,
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
}

impl<'a> Emission<'a> {
    /// Nothing on the stack yet.
    pub fn new(system: &'a System, code: &'a mut Assembly) -> Self {
        Self { system, code, stack: Vec::new(), is_too_deep: false }
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

    /// True if the constant lies on the stack, within reach.
    pub fn holds(&self, constant: Constant) -> bool {
        self.depth(Name::Constant(constant)).is_some_and(|depth| depth <= 16)
    }

    /// [] → [constant]
    pub fn constant(&mut self, constant: Constant) {
        match self.depth(Name::Constant(constant)).filter(|&depth| depth <= 16) {
            Some(depth) => self.code.op(evm::DUP1 - 1 + depth),
            None => self.code.push(self.system.constant(constant).clone()),
        };
        self.stack.push(Name::Other);
    }

    /// [] → [modulus], but nothing for 2²⁵⁶
    pub fn modulus(&mut self, residue: Residue) {
        if residue != Residue::A2 {
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
        let offset = 32 * u32::try_from(residue.place()).expect("there are four");
        if offset > 0 {
            self.push(offset);
            self.op(evm::ADD, 2);
        }
    }

    /// [x] → [x + C] modulo b₂, C being its least multiple that is not below b₁; [x] → [x] modulo the others
    pub fn raise(&mut self, residue: Residue) {
        if residue == Residue::B2 {
            self.constant(Constant::Above);
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

    /// A reduction of the sum T whose words `total` makes: [] → [q₂, q₁, u₁, r, u₂], r being the result modulo b₂. The bounds of T are the caller's care. T is
    /// `scale` times what `total` makes modulo the moduli of base A. Modulo b₂ it makes a word of at least b₁, from which u₁ is subtracted.
    pub fn reduce(&mut self, scale: u64, mut total: impl FnMut(&mut Self, Residue)) {
        for residue in RESIDUES {
            match residue {
                Residue::A2 | Residue::A1 => {
                    self.modulus(residue);
                    if scale == 1 {
                        self.constant(Constant::Quotient(residue));
                    } else {
                        let scaled = self.system.constant(Constant::Quotient(residue)) * scale;
                        self.push(scaled % self.system.modulus(residue));
                    }
                    total(self, residue);
                    match residue {
                        Residue::A2 => self.op(evm::MUL, 2),
                        _ => self.op(evm::MULMOD, 3),
                    }
                    self.name(Name::Quotient(residue));
                }
                Residue::B1 | Residue::B2 => {
                    if residue == Residue::B1 {
                        self.modulus(residue);
                    }
                    total(self, residue);
                    for (quotient, constant) in
                        [(Residue::A1, Constant::First(residue)), (Residue::A2, Constant::Second(residue))]
                    {
                        self.modulus(residue);
                        self.constant(constant);
                        self.dup(Name::Quotient(quotient));
                        self.op(evm::MULMOD, 3);
                        self.op(evm::ADD, 2);
                    }
                    if residue == Residue::B1 {
                        self.op(evm::MOD, 2);
                        self.name(Name::Lower);
                    } else {
                        self.name(Name::Upper);
                    }
                }
            }
        }
        self.modulus(Residue::B2);
        self.constant(Constant::Inverse);
        self.dup(Name::Lower);
        self.dup(Name::Upper);
        self.op(evm::SUB, 2);
        self.op(evm::MULMOD, 3);
        self.name(Name::Digit);
    }

    /// Writes the words of a result: [q₂, q₁, u₁, r, u₂] → []. `store` takes the word on top to its place in the slot.
    pub fn finish(&mut self, mut store: impl FnMut(&mut Self, Residue)) {
        self.swap(1);
        store(self, Residue::B2); //    [q₂, q₁, u₁, u₂]
        self.dup(Name::Lower);
        self.dup(Name::Digit);
        self.op(evm::ADD, 2);
        store(self, Residue::A1);
        self.modulus(Residue::B1);
        self.op(evm::MUL, 2);
        self.dup(Name::Lower);
        self.op(evm::ADD, 2);
        store(self, Residue::A2); //    [q₂, q₁, u₁]
        store(self, Residue::B1);
        self.pop();
        self.pop();
    }
}
