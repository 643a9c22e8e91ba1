//! Effects of codes on others and on the state: calls of every kind, creations, storage, logs, and ends of frames.

use rand::Rng;
use rand::seq::IndexedRandom;
use residue_engine::Fork;
use residue_isa::assembly::{Item, assemble};
use residue_isa::opcode::evm as op;
use residue_isa::{Family, FieldInstruction, FieldOp, Lanes};

use super::layout::{self, WORDS};
use super::writer::{BUFFER, Writer};
use crate::history::Account;

/// Offset in memory of code to be deployed.
const INITCODE: u32 = 4096;

impl Writer<'_> {
    /// The input, where calls send it from.
    pub(super) fn buffer(&mut self) {
        self.op(op::CALLDATASIZE);
        self.push(0u8);
        self.push(BUFFER);
        self.op(op::CALLDATACOPY);
    }

    /// A call that goes one less deep, if the input allows any.
    pub(super) fn call_piece(&mut self) {
        let skip = self.assembly.new_label();
        let is_bounded = self.random.random_ratio(5, 6);
        if is_bounded {
            self.push(32 * layout::DEPTH);
            self.op(op::CALLDATALOAD);
            self.op(op::ISZERO);
            self.push_label(skip);
            self.op(op::JUMPI);
            self.push(1u8);
            self.push(32 * layout::DEPTH);
            self.op(op::CALLDATALOAD);
            self.op(op::SUB);
            self.push(BUFFER + 32 * layout::DEPTH as u32); // 3.
            self.op(op::MSTORE);
        }
        for _ in 0..self.random.random_range(0..3) {
            self.change_word();
        }
        let address = Account(Account::FIRST.0 + self.random.random_range(0..self.contract_count));
        let is_self = self.random.random_ratio(1, 3);
        self.call(is_bounded, |writer| if is_self { writer.op(op::ADDRESS) } else { writer.push(address.0) });
        self.assembly.label(skip);
    }

    /// Another word for the callee.
    fn change_word(&mut self) {
        let word = *[layout::SLOT_COUNT, layout::TURNS, layout::CALL_GAS, layout::STACK, layout::STACK + 1, WORDS - 1]
            .choose(&mut self.random)
            .expect("it is not empty");
        match self.random.random_range(0..4) {
            0 => self.push(self.layout.named),
            1 => {
                let bit = self.random.random_range(32..256u32);
                self.push(num_bigint::BigUint::from(1u8) << bit);
            }
            2 => {
                let labels = self.assembly.items().iter().filter_map(|item| match item {
                    Item::Label(label) => Some(*label),
                    _ => None,
                });
                let labels: Vec<_> = labels.collect();
                match labels.choose(&mut self.random) {
                    Some(&label) => self.push_label(label),
                    None => self.push(1u8),
                }
            }
            _ => {
                let number = self.random.random_range(0..40u8);
                self.push(number);
            }
        }
        self.push(BUFFER as usize + 32 * word); // u32 to usize widens.
        self.op(op::MSTORE);
    }

    /// A call of what `address` pushes, with what the buffer holds.
    fn call(&mut self, is_bounded: bool, address: impl FnOnce(&mut Self)) {
        let opcode = *[op::CALL, op::CALL, op::CALLCODE, op::DELEGATECALL, op::STATICCALL]
            .choose(&mut self.random)
            .expect("it is not empty");
        // What comes back goes over values at times.
        let (to, bytes) = if self.random.random_ratio(1, 3) { self.range() } else { (0, 0) };
        self.push(bytes);
        self.push(to);
        self.op(op::CALLDATASIZE);
        self.push(BUFFER);
        if matches!(opcode, op::CALL | op::CALLCODE) {
            let value = if self.random.random_ratio(1, 6) { self.random.random_range(1..5u8) } else { 0 };
            self.push(value);
        }
        address(self);
        match self.random.random_range(0..4) {
            0 if is_bounded => self.op(op::GAS),
            1 => {
                let gas = self.random.random_range(50..3000u32);
                self.push(gas);
            }
            2 => self.push(30_000u32),
            _ => self.parameter(layout::CALL_GAS, 10_000u32),
        }
        self.op(opcode);
        match self.random.random_range(0..4) {
            0 => {
                let (at, _) = self.range();
                self.push(at);
                self.op(op::MSTORE);
            }
            _ => self.op(op::POP),
        }
    }

    /// Creates a contract, and calls it now and then.
    pub(super) fn create_piece(&mut self) {
        let opcode = if self.random.random_ratio(1, 2) { op::CREATE } else { op::CREATE2 };
        let other = Account(Account::FIRST.0 + self.random.random_range(0..self.contract_count));
        let initcode = match self.random.random_range(0..3) {
            // The code of a contract, as it stands there.
            0 => {
                self.push(other.0);
                self.op(op::EXTCODESIZE);
                self.push(0u8);
                self.push(INITCODE);
                self.push(other.0);
                self.op(op::EXTCODECOPY);
                None
            }
            1 => Some(self.deploys_copy(other)),
            _ => Some(self.computes()),
        };
        let salt = (opcode == op::CREATE2).then(|| self.random.random_range(0..3u8));
        if let Some(initcode) = &initcode {
            let label = self.assembly.new_label();
            self.push(initcode.len());
            self.push_label(label);
            self.push(INITCODE);
            self.op(op::CODECOPY);
            self.data.push((label, initcode.clone()));
        }
        if let Some(salt) = salt {
            self.push(salt);
        }
        match &initcode {
            Some(initcode) => self.push(initcode.len()),
            None => {
                self.push(other.0);
                self.op(op::EXTCODESIZE);
            }
        }
        self.push(INITCODE);
        self.push(0u8);
        self.op(opcode);
        if self.calls && self.random.random_ratio(1, 2) {
            // The address lies where the callee's word for it would: it is kept in memory during the call.
            self.push(BUFFER - 32);
            self.op(op::MSTORE);
            self.call(false, |writer| {
                writer.push(BUFFER - 32);
                writer.op(op::MLOAD);
            });
        } else {
            self.op(op::POP);
        }
    }

    /// Code that deploys the code of a contract once more.
    fn deploys_copy(&mut self, of: Account) -> Vec<u8> {
        let mut items = Vec::new();
        for _ in 0..2 {
            items.extend([Item::PushBytes(of.0.to_be_bytes().to_vec()), Item::Op(op::EXTCODESIZE)]);
        }
        items.extend([
            Item::PushBytes(vec![0]),
            Item::PushBytes(vec![0]),
            Item::PushBytes(of.0.to_be_bytes().to_vec()),
        ]);
        items.extend([op::EXTCODECOPY].map(Item::Op));
        items.extend([Item::PushBytes(vec![0]), Item::Op(op::RETURN)]);
        assemble(&items, self.revision).expect("opcodes and pushes assemble").bytes
    }

    /// Code that computes with field instructions, on a modulus of its own, and deploys what it finds in memory.
    fn computes(&mut self) -> Vec<u8> {
        let mut writer = Writer::new(
            self.revision,
            self.fork,
            rand::SeedableRng::seed_from_u64(self.random.random()),
            self.layout,
            1,
        );
        for offset in [0u32, 1, 63] {
            writer.push(self.random.random_range(0..3u8) * 64 + 1);
            writer.push(offset);
            writer.op(op::MSTORE8);
        }
        if let (Some(rules), Family::Slots) = (self.revision.slot_rules(), self.revision.family()) {
            let operands = [0, self.layout.size, self.layout.named];
            writer.assembly.written(residue_isa::writer::set_modulus(rules, (0, 0), operands));
            let operation = FieldOp::Add;
            let instruction =
                FieldInstruction::Slots { operation, out: Lanes::one(0), x: Lanes::one(0), y: Lanes::one(0), count: 1 };
            writer.assembly.field(instruction);
        }
        for _ in 0..self.random.random_range(1..4) {
            writer.run();
        }
        writer.push(self.random.random_range(0..40u8));
        writer.push(32u8);
        writer.op(op::RETURN);
        assemble(&writer.finish(), self.revision).map(|code| code.bytes).unwrap_or_default()
    }

    /// Something that stays in the state, or depends on it.
    pub(super) fn effect(&mut self) {
        let key = self.random.random_range(0..3u8);
        match self.random.random_range(0..9) {
            0..3 => {
                let (offset, _) = self.range();
                self.push(offset);
                self.op(op::MLOAD);
                self.push(key);
                self.op(op::SSTORE);
            }
            3 => {
                self.push(key);
                self.op(op::SLOAD);
                let (offset, _) = self.range();
                self.push(offset);
                self.op(op::MSTORE);
            }
            4 | 5 => {
                let (offset, bytes) = self.range();
                self.push(key);
                self.push(bytes);
                self.push(offset);
                self.op(op::LOG0 + 1);
            }
            6 if self.fork >= Fork::Cancun => {
                self.push(key);
                self.op(op::TLOAD);
                self.push(1u8);
                self.op(op::ADD);
                self.push(key);
                self.op(op::TSTORE);
            }
            7 => {
                self.op(op::GAS);
                let (offset, _) = self.range();
                self.push(offset);
                self.op(op::MSTORE);
            }
            _ => {
                self.op(op::SELFBALANCE);
                self.push(key);
                self.op(op::SSTORE);
            }
        }
    }

    /// Shows results in memory and ends, most often with all of it.
    pub(super) fn ending(&mut self) {
        if self.revision.family() == Family::Slots && !self.random.random_ratio(1, 12) {
            self.show_slots();
        }
        if self.random.random_ratio(1, 3) {
            for word in 0..self.depth.min(5) {
                self.push(INITCODE as usize + 32 * word); // u32 to usize widens.
                self.op(op::MSTORE);
            }
        }
        match self.random.random_range(0..20) {
            0 => self.op(op::STOP),
            1 => {
                self.push(Account::CALLER.0);
                self.op(op::SELFDESTRUCT);
            }
            end => {
                self.op(op::MSIZE);
                self.push(0u8);
                self.op(if end < 4 { op::REVERT } else { op::RETURN });
            }
        }
    }
}
