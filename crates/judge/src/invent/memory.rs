//! Codes on values in memory: EVM384 with operands in every encoding, and everything else that touches their memory.

use rand::Rng;
use rand::seq::IndexedRandom;
use residue_engine::Fork;
use residue_isa::opcode::evm as op;
use residue_isa::revision::evm384::{Modulus, Operands, VALUE_BYTES};
use residue_isa::revision::evm384_v12::SETMOD;
use residue_isa::{FieldInstruction, FieldOp, ModulusAt};

use super::layout::WORDS_BYTES;
use super::writer::{BUFFER, Writer};

/// A modulus with r_inv.
const MODULUS_BYTES: usize = VALUE_BYTES + 8;

impl Writer<'_> {
    /// Brings moduli and values to their places.
    pub(super) fn memory_prelude(&mut self) {
        self.push(BUFFER);
        self.op(op::MLOAD);
        self.op(op::POP);
        self.moduli();
        let places = self.layout.places.clone();
        let first = places.first().copied().unwrap_or_default();
        let stride = places.get(1).map_or(48, |second| second - first);
        let source = WORDS_BYTES + self.layout.modulus_bytes;
        // Where values lie side by side, as one.
        if stride == 48 {
            self.copy_input(source, first, places.len() * VALUE_BYTES);
        } else {
            for (number, &place) in places.iter().enumerate() {
                self.copy_input(source + number * VALUE_BYTES, place, VALUE_BYTES);
            }
        }
    }

    fn moduli(&mut self) {
        for (number, at) in self.layout.moduli.clone().into_iter().enumerate() {
            self.copy_input(WORDS_BYTES + number * MODULUS_BYTES, at, MODULUS_BYTES);
        }
        if self.revision.evm384().is_some_and(|interface| interface.modulus == Modulus::Set) {
            self.push(VALUE_BYTES);
            self.push(self.layout.moduli[0]);
            self.assembly.op(SETMOD);
            self.depth -= 2;
        }
    }

    /// Moduli or values brought again, or another modulus in the place of one.
    pub(super) fn memory_again(&mut self) {
        match self.random.random_range(0..3) {
            0 => self.moduli(),
            1 => {
                let at = *self.layout.moduli.choose(&mut self.random).expect("there is one");
                self.copy_input(WORDS_BYTES + MODULUS_BYTES, at, MODULUS_BYTES);
            }
            _ => {
                // One limb of a modulus or its r_inv, from the words of the input.
                let at = *self.layout.moduli.choose(&mut self.random).expect("there is one");
                let bytes = self.random.random_range(0..MODULUS_BYTES);
                let from = self.random_input();
                self.copy_input(from, at, bytes);
            }
        }
    }

    fn random_input(&mut self) -> usize {
        self.random.random_range(0..WORDS_BYTES + self.layout.modulus_bytes + self.layout.values_bytes())
    }

    fn copy_input(&mut self, from: usize, to: u32, bytes: usize) {
        self.push(bytes);
        self.push(from);
        self.push(to);
        self.op(op::CALLDATACOPY);
    }

    /// One instruction; of a chain, one that takes what the one before has made.
    pub(super) fn memory_instruction(&mut self, is_chain: bool) {
        let interface = self.revision.evm384().expect("codes are written for EVM384 and for slots");
        let operation = match self.random.random_range(0..4) {
            _ if is_chain => FieldOp::Mul,
            0 => FieldOp::Add,
            1 => FieldOp::Sub,
            _ => FieldOp::Mul,
        };
        let [mut out, mut x, mut y] =
            [(); 3].map(|()| *self.layout.places.choose(&mut self.random).expect("there are places"));
        if is_chain {
            (out, x, y) = (self.layout.places[0], self.layout.places[0], self.layout.places[0]);
        }
        if matches!(interface.operands, Operands::Words { overwrites_x: true }) {
            out = x;
        }
        let number = if self.random.random_ratio(1, 12) { 1 } else { 0 };
        let offset = self.layout.moduli[number % self.layout.moduli.len()];
        let modulus = match interface.modulus {
            Modulus::Operand => ModulusAt::Offset(offset),
            Modulus::OperandAndRInv if operation == FieldOp::Mul => {
                ModulusAt::OffsetAndRInv { offset, r_inv: residue_isa::revision::evm384::BLS12_381_R_INV }
            }
            Modulus::OperandAndRInv => ModulusAt::Offset(offset),
            _ => ModulusAt::Implied,
        };
        // Rarely the modulus itself is an operand.
        let is_nameable = offset / interface.unit_bytes <= interface.operand_max;
        if is_nameable && self.random.random_ratio(1, 60) {
            x = offset;
            if matches!(interface.operands, Operands::Words { overwrites_x: true }) {
                out = x;
            }
        }
        self.assembly.field(FieldInstruction::Memory { operation, out, x, y, modulus });
    }

    /// Something of the EVM that reads or writes memory where values lie.
    pub(super) fn touch_memory(&mut self) {
        let (offset, bytes) = self.range();
        match self.random.random_range(0..10) {
            0 => {
                self.push(offset);
                self.op(op::MLOAD);
                self.push(offset ^ 32);
                self.op(op::MSTORE);
            }
            1 => {
                let word = self.random.random::<u64>();
                self.push(word);
                self.push(offset);
                let opcode = if self.random.random_ratio(1, 2) { op::MSTORE } else { op::MSTORE8 };
                self.op(opcode);
            }
            2 => {
                let from = self.random_input();
                self.copy_input(from, offset, bytes);
            }
            3 if self.fork >= Fork::Cancun => {
                let (from, _) = self.range();
                self.push(bytes);
                self.push(from);
                self.push(offset);
                self.op(op::MCOPY);
            }
            4 => {
                self.push(bytes);
                let byte = self.random.random::<u8>();
                self.push(byte);
                self.push(offset);
                self.op(op::CODECOPY);
            }
            5 => {
                self.push(bytes);
                self.push(offset);
                self.op(op::KECCAK256);
                let (to, _) = self.range();
                self.push(to);
                self.op(op::MSTORE);
            }
            6 => {
                self.push(bytes);
                self.push(offset);
                self.op(op::LOG0);
            }
            7 => {
                // As much as there is, which is nothing before a call.
                self.op(op::RETURNDATASIZE);
                self.push(0u8);
                self.push(offset);
                self.op(op::RETURNDATACOPY);
            }
            8 => {
                self.push(bytes);
                self.push(0u8);
                self.push(offset);
                self.op(op::ADDRESS);
                self.op(op::EXTCODECOPY);
            }
            _ => {
                self.push(offset);
                self.op(op::MLOAD);
                let byte = self.random.random::<u8>();
                self.push(byte);
                self.op(op::SSTORE);
            }
        }
    }

    /// A range of memory that meets values, or moduli, or neither.
    pub(super) fn range(&mut self) -> (u32, usize) {
        let bytes = *[1, 8, 32, 32, 48, 48, 64, 96, 200].choose(&mut self.random).expect("it is not empty");
        let places = self.layout.places.iter().chain(&self.layout.moduli);
        let places: Vec<u32> = places.copied().collect();
        let offset = match places.choose(&mut self.random) {
            Some(place) if self.random.random_ratio(3, 4) => {
                place + self.random.random_range(0..2) * self.random.random_range(0..60)
            }
            _ => self.random.random_range(0..1200),
        };
        (offset.saturating_sub(self.random.random_range(0..2) * 17), bytes)
    }
}
