//! The interfaces: one [`Interface`] value a revision, one file each, used from both ends.
//!
//! The compiler calls [`Revision::encode`]; the engine, the disassembler and the checker call [`Revision::decode`], or
//! the file's own `unpack` if the operands are already on the stack. A round-trip property binds the two. A new
//! revision is one file with its `INTERFACE`, or an entry of [`experiments`], and one line in the list below; code with a case for each revision matches
//! on all of them.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::field_instruction::{FieldInstruction, FieldOp, PerOp};
use crate::form::Form;
use crate::names::UnknownName;
use crate::opcode::subroutine::CALLSUB;
use crate::opcode::{self, OpcodeRow};
use eip5843::Reading;
use evm384::Evm384;
use rules::SlotRules;

/// Declares the revisions: a module, in a file or a table, and a variant each, from which [`Revision::ALL`] and the lookup follow; then the
/// revisions beside them.
macro_rules! revisions {
    (@module $module:ident) => {
        pub mod $module;
    };
    (@module $module:ident $table:ident) => {
        pub use $table::$module;
    };
    (
        $($(#[$doc:meta])* $variant:ident = $module:ident $(in $table:ident)?;)*
        @beside $($(#[$beside_doc:meta])* $beside:ident = $beside_module:ident;)*
    ) => {
        $(revisions!(@module $module $($table)?);)*
        $(pub mod $beside_module;)*

        /// An interface revision. Opcode bytes collide between revisions and nothing in code tells them apart, so every
        /// execution and every compilation names one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Revision {
            $($(#[$doc])* $variant,)*
            $($(#[$beside_doc])* $beside,)*
        }

        impl Revision {
            /// Every proposed interface, oldest first.
            pub const ALL: &'static [Revision] = &[$(Revision::$variant),*];

            /// Targets beside the proposals.
            pub const BESIDE: &'static [Revision] = &[$(Revision::$beside),*];

            /// Declaration in the revision's file.
            pub const fn interface(self) -> &'static Interface {
                match self {
                    $(Revision::$variant => &$module::INTERFACE,)*
                    $(Revision::$beside => &$beside_module::INTERFACE,)*
                }
            }
        }
    };
}

pub mod evm384;
pub mod evm384_words;

revisions! {
    /// EVM384 version 0, values on the stack: `evm384-v0`.
    Evm384V0 = evm384_v0;
    /// EVM384 version 1, the result overwrites the first operand: `evm384-v1`.
    Evm384V1 = evm384_v1 in evm384_words;
    /// EVM384 version 2, four or five words on the stack: `evm384-v2`.
    Evm384V2 = evm384_v2 in evm384_words;
    /// EVM384 version 3, version 2 without growth of memory: `evm384-v3`.
    Evm384V3 = evm384_v3 in evm384_words;
    /// EVM384 version 4, the field of BLS12-381 only: `evm384-v4`.
    Evm384V4 = evm384_v4 in evm384_words;
    /// EVM384 version 5, version 4 without growth of memory: `evm384-v5`.
    Evm384V5 = evm384_v5 in evm384_words;
    /// EVM384 version 6, 256 slots at the bottom of memory: `evm384-v6`.
    Evm384V6 = evm384_v6;
    /// EVM384 version 7, four packed offsets: `evm384-v7`.
    Evm384V7 = evm384_v7;
    /// EVM384 version 8, version 7 in big-endian: `evm384-v8`.
    Evm384V8 = evm384_v8;
    /// EVM384 version 9, four offsets after the opcode: `evm384-v9`.
    Evm384V9 = evm384_v9;
    /// EVM384 version 10, four packed slot numbers: `evm384-v10`.
    Evm384V10 = evm384_v10;
    /// EVM384 version 12, a modulus of up to 48 bytes and three offsets after the opcode: `evm384-v12`.
    Evm384V12 = evm384_v12;
    /// EIP-5843, final text: `eip5843`.
    Eip5843 = eip5843;
    /// EIP-5843 in go-ethereum: `geth5843`.
    Geth5843 = geth5843;
    /// EIP-6601: `eip6601`.
    Eip6601 = eip6601;
    /// EIP-6601 in go-ethereum: `geth6601`.
    Geth6601 = geth6601;
    /// The same with a PUSH3 marker: `geth6601-push3`.
    Geth6601Push3 = geth6601_push3;
    /// EIP-6690 as merged in 2023: `eip6690-2023`.
    #[allow(non_camel_case_types, reason = "the year is part of the revision's name")]
    Eip6690_2023 = eip6690_2023;
    /// EIP-6690 of 2023 in evmone: `evmone-2023`.
    Evmone2023 = evmone_2023;
    /// EIP-7747: `eip7747`.
    Eip7747 = eip7747;
    /// EIP-6690 as rewritten at the end of 2024: `eip6690-2024`.
    #[allow(non_camel_case_types, reason = "the year is part of the revision's name")]
    Eip6690_2024 = eip6690_2024;
    /// EIP-6690 of 2024 in evmone: `evmone-2025`.
    Evmone2025 = evmone_2025;
    /// evmone's interface for small fields: `evmone-bits`.
    EvmoneBits = evmone_bits;
    /// An experiment, EIP-6690 of 2024 with exact inversions: `x-invmodx`.
    XInvmodx = x_invmodx in experiments;
    /// An experiment, EIP-6690 of 2024 with tests for zero: `x-iszerox`.
    XIszerox = x_iszerox in experiments;
    /// An experiment, EIP-6690 of 2024 with sums of products: `x-sumx`.
    XSumx = x_sumx in experiments;
    /// An experiment, EIP-6690 of 2024 with elements by an index from the stack: `x-arrayx`.
    XArrayx = x_arrayx in experiments;
    /// An experiment, EIP-6690 of 2024 with values that have zeros in front of them: `x-padx`.
    XPadx = x_padx in experiments;
    /// An experiment, EIP-6690 of 2024 with moduli of up to 4096 bits: `x-widex`.
    XWidex = x_widex in experiments;
    /// An experiment, EIP-6690 of 2024 with a modulus and values that stand in code: `x-codex`.
    XCodex = x_codex in experiments;
    /// An experiment, EIP-6690 of 2024 with lanes priced as vectors and short values in memory: `x-vectorx`.
    XVectorx = x_vectorx in experiments;
    /// An experiment, EIP-6690 of 2024 with fused products in Fp2: `x-fp2x`.
    XFp2x = x_fp2x in experiments;
    /// An experiment, EIP-6690 of 2024 with copies of slots: `x-movx`.
    XMovx = x_movx in experiments;
    /// An experiment, EIP-6690 of 2024 with fused products in Fp6: `x-fp6x`.
    XFp6x = x_fp6x in experiments;
    /// An experiment, EIP-6690 of 2024 with choices between slots: `x-selectx`.
    XSelectx = x_selectx in experiments;
    /// An experiment, EIP-6690 of 2024 with comparison of slots: `x-cmpx`.
    XCmpx = x_cmpx in experiments;
    /// An experiment, EIP-6690 of 2024 with a price for squares: `x-squarex`.
    XSquarex = x_squarex in experiments;
    /// An experiment, EIP-6690 of 2024 with the subroutines of EIP-7979: `x-callsub`.
    XCallsub = x_callsub in experiments;
    /// An experiment, EIP-6690 of 2024 with each opcode after the byte that EIP-8163 reserves for extensions: `x-extx`.
    XExtx = x_extx in experiments;
    /// An experiment, EVM384 version 9 with moduli of at most 383 bits: `x-383`.
    X383 = x_383;
    /// The experiments that earn their place together: `evmmax-next`.
    EvmmaxNext = evmmax_next in experiments;
    @beside
    /// The EVM without field instructions: `evm`.
    Evm = evm;
    /// The same with the subroutines of EIP-7979: `evm-callsub`.
    EvmCallsub = evm_callsub;
}

mod codec;
pub mod experiments;
pub mod rules;
pub mod strided;

/// Semantics of the field instructions of a revision, independent of their bytes: storage of values, with the
/// differences between revisions of the same storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Semantics {
    /// In EVM memory (`evm384-v0`: on the stack), 48 bytes each, Montgomery form with R = 2³⁸⁴ visible to the program.
    Memory384(&'static Evm384),
    /// In EVM memory at numbered slots, big-endian and as wide as the modulus of the frame, Montgomery form visible.
    MemorySlots(Reading),
    /// In numbered slots of a field context; loads and stores convert to and from canonical form in memory.
    Slots(&'static SlotRules),
    /// As words of the EVM, on the stack and in memory, with the modulus as an operand; there are no field instructions.
    Words,
}

/// Storage of field values: [`Semantics`] without the differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// [`Semantics::Memory384`].
    Memory384,
    /// [`Semantics::MemorySlots`].
    MemorySlots,
    /// [`Semantics::Slots`].
    Slots,
    /// [`Semantics::Words`].
    Words,
}

/// A field instruction with its length in bytes, if bytes start with one.
pub type Decoded = Option<(FieldInstruction, usize)>;

/// Definition of a revision, without prices.
#[derive(Debug)]
pub struct Interface {
    /// The name users write, such as `eip6690-2024`.
    pub name: &'static str,
    /// One line: description and source.
    pub summary: &'static str,
    /// Semantics of its instructions.
    pub semantics: Semantics,
    /// The opcodes it adds to the EVM, by ascending byte.
    pub opcodes: &'static [OpcodeRow],
    /// Immediate bytes of all 256 opcodes, the EVM's included: `immediate_table(OPCODES)`. Of the EVM's alone where the revision's own
    /// stand after a prefix.
    pub immediates: [u8; 256],
    /// The opcodes of [`FieldOp::ALL`], in that order.
    pub arithmetic: PerOp<u8>,
    /// The widest modulus in 64-bit limbs; gas tables have an entry for each width up to it.
    pub width_limbs_max: usize,
    /// Name of the gas schedule that applies when none is chosen.
    pub default_schedule: &'static str,
    /// Appends an instruction's bytes; appends nothing on an error.
    pub encode: fn(&Interface, &FieldInstruction, &mut Vec<u8>) -> Result<(), EncodeError>,
    /// Reads the instruction that starts the bytes, with its length.
    pub decode: fn(&Interface, &[u8]) -> Decoded,
}

/// A field instruction that a revision has no bytes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// Lanes or strides for an interface without.
    #[error("{revision} has neither strides nor lanes: {instruction:?}")]
    Lanes {
        /// The revision asked.
        revision: &'static str,
        /// The instruction refused.
        instruction: FieldInstruction,
    },
    /// Slots for a memory interface or offsets for an interface with slots.
    #[error("{revision} has no encoding for operands of this kind: {instruction:?}")]
    OperandKind {
        /// The revision asked.
        revision: &'static str,
        /// The instruction refused.
        instruction: FieldInstruction,
    },
    /// A byte offset that the operands of the revision cannot name.
    #[error("{revision} cannot address byte {offset} of memory: its operands are {operands}")]
    Offset {
        /// The revision asked.
        revision: &'static str,
        /// The offset refused.
        offset: u32,
        /// Operands that it has instead.
        operands: &'static str,
    },
    /// A result elsewhere than in the place of the first operand.
    #[error("{revision} overwrites the first operand, at byte {x}; the result cannot go to byte {out}")]
    ResultApart {
        /// The revision asked.
        revision: &'static str,
        /// Offset of the result.
        out: u32,
        /// Offset of the first operand.
        x: u32,
    },
}

impl Revision {
    /// The name users write, such as `eip6690-2024`.
    pub const fn name(self) -> &'static str {
        self.interface().name
    }

    /// One line: description and source.
    pub const fn summary(self) -> &'static str {
        self.interface().summary
    }

    /// Storage of values.
    pub const fn family(self) -> Family {
        match self.interface().semantics {
            Semantics::Memory384(_) => Family::Memory384,
            Semantics::MemorySlots(_) => Family::MemorySlots,
            Semantics::Slots(_) => Family::Slots,
            Semantics::Words => Family::Words,
        }
    }

    /// Parameters of a revision of EVM384; `None` for other revisions.
    pub const fn evm384(self) -> Option<&'static Evm384> {
        match self.interface().semantics {
            Semantics::Memory384(evm384) => Some(evm384),
            Semantics::MemorySlots(_) | Semantics::Slots(_) | Semantics::Words => None,
        }
    }

    /// Whose reading of EIP-5843 it is; none for other revisions.
    pub const fn reading(self) -> Option<Reading> {
        match self.interface().semantics {
            Semantics::MemorySlots(reading) => Some(reading),
            Semantics::Memory384(_) | Semantics::Slots(_) | Semantics::Words => None,
        }
    }

    /// The rules of a revision with slots; none for values in EVM memory.
    pub const fn slot_rules(self) -> Option<&'static SlotRules> {
        match self.interface().semantics {
            Semantics::Slots(rules) => Some(rules),
            Semantics::Memory384(_) | Semantics::MemorySlots(_) | Semantics::Words => None,
        }
    }

    /// The experiments on EIP-6690 of 2024 that it has, by the names of their revisions; none for published revisions.
    pub const fn experiments(self) -> &'static [&'static str] {
        match self.slot_rules() {
            Some(rules) => rules.experiments,
            None => &[],
        }
    }

    /// True if it is an experiment on EIP-6690 of 2024 whose additions are a subset of those of `other`.
    pub fn is_part_of(self, other: Revision) -> bool {
        !self.experiments().is_empty() && self.experiments().iter().all(|part| other.experiments().contains(part))
    }

    /// True if there is an opcode of a form.
    pub const fn has(self, form: Form) -> bool {
        match self.slot_rules() {
            Some(rules) => rules.has(form),
            None => false,
        }
    }

    /// True if a squaring (equal factor slots) has a price of its own.
    pub const fn prices_squares(self) -> bool {
        matches!(self.slot_rules(), Some(SlotRules { prices_squares: true, .. }))
    }

    /// True if it has CALLSUB, ENTERSUB and RETURNSUB.
    pub const fn has_subroutines(self) -> bool {
        let rows = self.opcodes();
        let mut row = 0;
        while row < rows.len() {
            if rows[row].byte == CALLSUB {
                return true;
            }
            row += 1;
        }
        false
    }

    /// True if arithmetic has strides and a count of lanes.
    pub const fn is_strided(self) -> bool {
        matches!(self.slot_rules(), Some(SlotRules { is_strided: true, .. }))
    }

    /// The opcodes this revision adds to the EVM, by ascending byte.
    pub const fn opcodes(self) -> &'static [OpcodeRow] {
        self.interface().opcodes
    }

    /// Name of the gas schedule that applies when none is chosen.
    pub const fn default_schedule(self) -> &'static str {
        self.interface().default_schedule
    }

    /// The widest modulus in 64-bit limbs.
    pub const fn width_limbs_max(self) -> usize {
        self.interface().width_limbs_max
    }

    /// Every proposed interface, and the revisions beside them.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::ALL.iter().chain(Self::BESIDE).copied()
    }

    /// The opcode of an arithmetic operation.
    pub fn arithmetic_opcode(self, operation: FieldOp) -> u8 {
        self.interface().arithmetic[operation]
    }

    /// The arithmetic operation of an opcode, if it is one.
    pub fn arithmetic_of(self, opcode: u8) -> Option<FieldOp> {
        if self.family() == Family::Words {
            return None;
        }
        FieldOp::ALL.into_iter().find(|&operation| self.arithmetic_opcode(operation) == opcode)
    }

    /// The byte that each of its own opcodes stands after, if one does.
    pub const fn prefix(self) -> Option<u8> {
        match self.slot_rules() {
            Some(rules) => rules.prefix,
            None => None,
        }
    }

    /// The bytes at which its own instructions begin: the prefix, or their opcodes.
    pub fn first_bytes(self) -> impl Iterator<Item = u8> {
        let opcodes = self.opcodes().iter().map(|row| row.byte).filter(move |_| self.prefix().is_none());
        self.prefix().into_iter().chain(opcodes)
    }

    /// An opcode as code has it: after the prefix if it is one of the revision's own and these have one.
    pub fn opcode_bytes(self, opcode: u8) -> impl Iterator<Item = u8> {
        self.prefix().filter(|_| self.own_row(opcode).is_some()).into_iter().chain([opcode])
    }

    /// The opcode of the instruction that starts `code`: the byte after the prefix, where there is one. The prefix itself, which no row has,
    /// where another byte follows it, and where an opcode of the revision stands without it. After the end of code, STOP.
    pub fn opcode_at(self, code: &[u8]) -> u8 {
        let first = code.first().copied().unwrap_or(opcode::evm::STOP);
        let Some(prefix) = self.prefix() else { return first };
        let is_own = |opcode: &u8| self.own_row(*opcode).is_some();
        match first == prefix {
            true => code.get(1).copied().filter(is_own).unwrap_or(prefix),
            false => Some(first).filter(|opcode| !is_own(opcode)).unwrap_or(prefix),
        }
    }

    /// The row of the instruction that starts `code`, if it is one of the revision's own.
    pub fn own_row_at(self, code: &[u8]) -> Option<&'static OpcodeRow> {
        self.own_row(self.opcode_at(code))
    }

    /// The row of the instruction that starts `code`; none if there is no such instruction.
    pub fn row_at(self, code: &[u8]) -> Option<&'static OpcodeRow> {
        self.row(self.opcode_at(code))
    }

    /// Bytes of the instruction that starts `code`, with its prefix and its immediate, also where the end of the code
    /// cuts it off. Jump analysis skips as many. A prefix takes any byte after it.
    pub fn bytes_at(self, code: &[u8]) -> usize {
        let Some(&first) = code.first() else { return 0 };
        match self.prefix() == Some(first) {
            true => {
                2 + code.get(1).and_then(|&opcode| self.own_row(opcode)).map_or(0, |row| row.immediate_bytes.into())
            }
            false => 1 + usize::from(self.interface().immediates[usize::from(first)]),
        }
    }

    /// The row of an opcode: this revision's own, else the EVM's, else none.
    pub fn row(self, opcode: u8) -> Option<&'static OpcodeRow> {
        self.rows().find(|row| row.byte == opcode)
    }

    /// The row of a mnemonic in any letter case: this revision's own, else the EVM's, else none.
    pub fn row_named(self, mnemonic: &str) -> Option<&'static OpcodeRow> {
        self.rows()
            .find(|row| row.mnemonic.eq_ignore_ascii_case(mnemonic))
            .filter(|row| self.row(row.byte) == Some(row))
    }

    /// Every mnemonic: this revision's own, then the EVM's.
    pub fn mnemonics(self) -> impl Iterator<Item = &'static str> {
        self.rows().map(|row| row.mnemonic)
    }

    /// Appends the bytes of an instruction, with the push of its packed operands where the revision takes them from the
    /// stack. Appends nothing on an error. Operands that halt when executed (a count of 0) are encoded all the same.
    pub fn encode(self, instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
        (self.interface().encode)(self.interface(), instruction, code)
    }

    /// Reads the field instruction that starts `code`, with its length in bytes; the inverse of [`Revision::encode`].
    /// None if `code` starts with something else or is too short.
    pub fn decode(self, code: &[u8]) -> Option<(FieldInstruction, usize)> {
        (self.interface().decode)(self.interface(), code)
    }

    fn own_row(self, opcode: u8) -> Option<&'static OpcodeRow> {
        self.opcodes().iter().find(|row| row.byte == opcode)
    }

    fn rows(self) -> impl Iterator<Item = &'static OpcodeRow> {
        self.opcodes().iter().chain(opcode::evm())
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Revision {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = Self::every().find(|revision| revision.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            UnknownName::new("revision", name, Self::every().map(Self::name)).listed_by("residue list revisions")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_in_any_case_and_unknown_ones_get_the_nearest() {
        for revision in Revision::every() {
            assert_eq!(revision.name().parse(), Ok(revision));
            assert_eq!(revision.name().to_uppercase().parse(), Ok(revision));
        }
        let error = "eip6690-2042".parse::<Revision>().unwrap_err().to_string();
        assert!(error.starts_with("unknown revision \"eip6690-2042\"; did you mean eip6690-2024"), "{error}");
        assert!(error.ends_with("`residue list revisions` lists them all"), "{error}");
    }

    #[test]
    fn interfaces_are_consistent() {
        for &revision in Revision::ALL {
            let Interface { opcodes, arithmetic, .. } = revision.interface();
            assert!(opcodes.is_sorted_by(|a, b| a.byte < b.byte), "{revision}");
            for row in *opcodes {
                assert_eq!(revision.row(row.byte), Some(row));
                assert_eq!(revision.row_named(row.mnemonic), Some(row));
                let bytes: Vec<u8> = revision.opcode_bytes(row.byte).collect();
                assert_eq!(revision.row_at(&bytes), Some(row));
                assert_eq!(revision.bytes_at(&bytes), bytes.len() - 1 + row.instruction_bytes());
                assert!(revision.first_bytes().any(|first| first == bytes[0]));
            }
            for (operation, &opcode) in arithmetic.iter() {
                assert_eq!(revision.arithmetic_opcode(operation), opcode);
                assert_eq!(revision.arithmetic_of(opcode), Some(operation));
                assert!(opcodes.iter().any(|row| row.byte == opcode));
            }
            assert_eq!(revision.bytes_at(&[opcode::evm::PUSH32]), 33);
            assert_eq!(revision.bytes_at(&[opcode::evm::PUSH0, 0]), 1);
            assert_eq!((revision.bytes_at(&[]), revision.opcode_at(&[])), (0, opcode::evm::STOP));
        }
    }
}
