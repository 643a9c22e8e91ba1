//! Revisions: each is one file here, or a line of [`experiments`]: a table of its opcodes and the state it adds to a frame.

pub mod additions;
pub mod contexts;
pub mod eip5843;
pub mod eip6601;
pub mod eip6690_2023;
pub mod eip6690_2024;
pub mod eip7747;
pub mod evm384;
pub mod evm384_v0;
pub mod evm384_v10;
pub mod evm384_v12;
pub mod evm384_v6;
pub mod evm384_v7;
pub mod evm384_v8;
pub mod evm384_v9;
pub mod evm384_words;
pub mod evm_callsub;
pub mod evmone_2023;
pub mod evmone_2025;
pub mod evmone_bits;
pub mod experiments;
pub mod geth6601;
pub mod geth6601_push3;
pub mod subroutines;
pub mod x_383;
pub mod x_extx;
pub mod x_squarex;
pub mod x_vectorx;
pub mod x_widex;

use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;

/// An interface revision: its field instructions and their semantics.
#[derive(Debug, Clone, Copy)]
pub struct Revision {
    /// Its name everywhere.
    pub name: &'static str,
    /// One sentence about it.
    pub summary: &'static str,
    /// Its field opcodes. They go before the EVM's where bytes collide.
    pub opcodes: &'static [FieldOpcode],
    /// A byte that stands before each of them, if one does.
    pub prefix: Option<u8>,
    /// The prices published for it; the default is the first.
    pub prices: fn() -> Vec<Prices>,
    /// The state of a new frame.
    pub start: fn() -> Box<dyn FieldState>,
}

/// State that a revision adds to a frame, with the instructions that change it.
pub trait FieldState {
    /// Executes `opcode`. The opcode and immediate are complete, the stack is deep enough, the base gas is charged;
    /// checks, other gas and effects are the revision's.
    fn execute(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt>;

    /// True if `immediate` is valid for `opcode`. Checked before anything else: if false, it is no instruction.
    fn accepts(&self, _opcode: &FieldOpcode, _immediate: &[u8]) -> bool {
        true
    }
}

impl Revision {
    /// Every revision there is.
    pub const ALL: &'static [Revision] = &[
        evm384_v0::REVISION,
        evm384_words::V1,
        evm384_words::V2,
        evm384_words::V3,
        evm384_words::V4,
        evm384_words::V5,
        evm384_v6::REVISION,
        evm384_v7::REVISION,
        evm384_v8::REVISION,
        evm384_v9::REVISION,
        evm384_v10::REVISION,
        evm384_v12::REVISION,
        eip5843::REVISION,
        eip5843::GETH,
        eip6601::REVISION,
        geth6601::REVISION,
        geth6601_push3::REVISION,
        eip6690_2023::REVISION,
        evmone_2023::REVISION,
        eip7747::REVISION,
        eip6690_2024::REVISION,
        evmone_2025::REVISION,
        evmone_bits::REVISION,
        experiments::X_INVMODX,
        experiments::X_ISZEROX,
        experiments::X_SUMX,
        experiments::X_ARRAYX,
        experiments::X_PADX,
        x_widex::REVISION,
        experiments::X_CODEX,
        x_vectorx::REVISION,
        experiments::X_FP2X,
        experiments::X_MOVX,
        experiments::X_FP6X,
        experiments::X_SELECTX,
        experiments::X_CMPX,
        x_squarex::REVISION,
        experiments::X_CALLSUB,
        x_extx::REVISION,
        x_383::REVISION,
        experiments::EVMMAX_NEXT,
    ];

    /// Revisions beside the proposed interfaces: the EVM without field instructions, as it is and as it may be.
    pub const BESIDE: &'static [Revision] = &[evm_callsub::EVM, evm_callsub::REVISION];

    /// The revision called `name`.
    pub fn named(name: &str) -> Option<&'static Revision> {
        Self::ALL.iter().chain(Self::BESIDE).find(|revision| revision.name == name)
    }

    /// The field opcode of the instruction at `pc`, if it is one: the byte there, or the byte after the prefix there.
    pub fn opcode(&self, code: &[u8], pc: usize) -> Option<&'static FieldOpcode> {
        let byte = match self.prefix {
            Some(prefix) => code.get(pc + 1).filter(|_| code.get(pc) == Some(&prefix)),
            None => code.get(pc),
        };
        self.opcodes.iter().find(|opcode| byte == Some(&opcode.byte))
    }

    /// Bytes of an opcode with its prefix.
    pub fn opcode_bytes(&self) -> usize {
        1 + usize::from(self.prefix.is_some())
    }

    /// The published prices called `name`.
    pub fn prices_named(&self, name: &str) -> Option<Prices> {
        (self.prices)().into_iter().find(|prices| prices.name == name)
    }
}
