//! Classes of executed instructions, comparable between interfaces.
//!
//! Field arithmetic counts by lanes, since one strided instruction does the work of many; everything else by instructions.

use residue_isa::{FieldOp, PerOp, Revision};
use serde::Serialize;

/// Executed operations by class.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OpClasses {
    /// Lanes of field additions.
    pub add_lanes: u64,
    /// Lanes of field subtractions.
    pub sub_lanes: u64,
    /// Lanes of field multiplications.
    pub mul_lanes: u64,
    /// Instructions of field arithmetic that did so.
    pub field_instructions: u64,
    /// Pushes of constants.
    pub push: u64,
    /// DUP, SWAP and EXCHANGE.
    pub dup_swap: u64,
    /// Loads, stores and copies, of memory and of slots.
    pub memory: u64,
    /// Jumps, their targets, and ends of frames.
    pub control: u64,
    /// The rest: arithmetic on words, comparisons, calls, setting a modulus.
    pub other: u64,
}

impl OpClasses {
    /// Headings of [`OpClasses::cells`].
    pub const HEADINGS: [&'static str; 8] =
        ["add lanes", "sub lanes", "mul lanes", "PUSH", "DUP, SWAP", "loads, stores", "jumps", "other"];

    /// Sorts executed instructions, given by mnemonic.
    pub fn of(revision: Revision, ops: &[(&'static str, u64)], lanes: &PerOp<u64>) -> Self {
        let [add_lanes, sub_lanes, mul_lanes] =
            [FieldOp::Add, FieldOp::Sub, FieldOp::Mul].map(|operation| lanes[operation]);
        let mut classes = Self { add_lanes, sub_lanes, mul_lanes, ..Self::default() };
        for &(mnemonic, count) in ops {
            *classes.class_of(revision, mnemonic) += count;
        }
        classes
    }

    fn class_of(&mut self, revision: Revision, mnemonic: &str) -> &mut u64 {
        let is_field = revision.row_named(mnemonic).is_some_and(|row| revision.arithmetic_of(row.byte).is_some());
        match mnemonic {
            _ if is_field => &mut self.field_instructions,
            "MLOAD" | "MSTORE" | "MSTORE8" | "MCOPY" | "CALLDATALOAD" | "CALLDATACOPY" | "CODECOPY" | "EXTCODECOPY"
            | "RETURNDATACOPY" | "LOADX" | "STOREX" => &mut self.memory,
            "JUMP" | "JUMPI" | "JUMPDEST" | "CALLSUB" | "ENTERSUB" | "RETURNSUB" | "STOP" | "RETURN" | "REVERT"
            | "INVALID" => &mut self.control,
            _ if mnemonic.starts_with("PUSH") => &mut self.push,
            _ if mnemonic.starts_with("DUP") || mnemonic.starts_with("SWAP") || mnemonic == "EXCHANGE" => {
                &mut self.dup_swap
            }
            _ => &mut self.other,
        }
    }

    /// The numbers of a table's row.
    pub fn cells(&self) -> [u64; 8] {
        let Self { add_lanes, sub_lanes, mul_lanes, push, dup_swap, memory, control, other, .. } = *self;
        [add_lanes, sub_lanes, mul_lanes, push, dup_swap, memory, control, other]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_has_one_class() {
        let ops = [
            ("ADD", 1),
            ("PUSH0", 2),
            ("PUSH16", 4),
            ("DUP3", 8),
            ("SWAP1", 16),
            ("MCOPY", 32),
            ("LOADX", 64),
            ("JUMPI", 128),
            ("ADDMODX", 256),
            ("MULMODX", 512),
            ("SETMODX", 1024),
            ("RETURN", 2048),
        ];
        let mut lanes = PerOp::default();
        (lanes[FieldOp::Add], lanes[FieldOp::Sub], lanes[FieldOp::Mul]) = (7, 8, 9);
        let classes = OpClasses::of(Revision::Eip6690_2024, &ops, &lanes);
        let expected = OpClasses {
            add_lanes: 7,
            sub_lanes: 8,
            mul_lanes: 9,
            field_instructions: 256 + 512,
            push: 2 + 4,
            dup_swap: 8 + 16,
            memory: 32 + 64,
            control: 128 + 2048,
            other: 1 + 1024,
        };
        assert_eq!(classes, expected);
        // Under another revision the same names mean nothing of the field.
        assert_eq!(OpClasses::of(Revision::Evm384V7, &[("ADDMODX", 1)], &PerOp::default()).other, 1);
    }
}
