//! The instruction and gas tables: revm's for the fork, with the handlers and base prices of one revision.

use alloc::vec::Vec;

use residue_isa::{Family, GasSchedule, Revision};
use revm::bytecode::opcode as evm;
use revm::handler::instructions::EthInstructions;
use revm::interpreter::Instruction;
use revm::interpreter::interpreter::EthInterpreter;
use revm::primitives::hardfork::SpecId;

use crate::batch::has_blocks;
use crate::config::EngineError;
use crate::handlers::evm384::blocks::Settled;
use crate::handlers::slot_memory::SlotShare;
use crate::handlers::{FieldHost, evm384, mont_slots, slot_memory, slots, subroutines};

/// Opcodes that came with a fork. Before it their bytes are unknown, with any gas left; revm would charge first.
const SINCE: &[(SpecId, &[u8])] = &[
    (SpecId::HOMESTEAD, &[evm::DELEGATECALL]),
    (SpecId::BYZANTIUM, &[evm::REVERT, evm::RETURNDATASIZE, evm::RETURNDATACOPY, evm::STATICCALL]),
    (SpecId::PETERSBURG, &[evm::SHL, evm::SHR, evm::SAR, evm::CREATE2, evm::EXTCODEHASH]),
    (SpecId::ISTANBUL, &[evm::CHAINID, evm::SELFBALANCE]),
    (SpecId::LONDON, &[evm::BASEFEE]),
    (SpecId::SHANGHAI, &[evm::PUSH0]),
    (SpecId::CANCUN, &[evm::TLOAD, evm::TSTORE, evm::MCOPY, evm::BLOBHASH, evm::BLOBBASEFEE]),
    (SpecId::OSAKA, &[evm::CLZ]),
    (SpecId::AMSTERDAM, &[evm::SLOTNUM, evm::DUPN, evm::SWAPN, evm::EXCHANGE]),
];

/// Base prices of the EVM's own opcodes that a schedule replaces, as revm's table can hold them.
pub(crate) fn overrides(schedule: &GasSchedule) -> Result<Vec<(u8, u16)>, EngineError> {
    let fits = |(opcode, price): (u8, residue_isa::Price)| match u16::try_from(price.whole()) {
        Ok(gas) => Ok((opcode, gas)),
        Err(_) => Err(EngineError::BasePriceTooHigh { opcode, price }),
    };
    schedule.evm_overrides().map(fits).collect()
}

/// The tables for a revision on top of a fork, or for the fork alone. Field instructions charge their base price themselves, after the check of
/// the stack, so it is zero here.
pub(crate) fn instructions<H: FieldHost>(
    revision: Option<Revision>,
    spec: SpecId,
    overrides: &[(u8, u16)],
) -> EthInstructions<EthInterpreter, H> {
    let mut tables = EthInstructions::new_mainnet_with_spec(spec);
    let wrapped = revision.and_then(|revision| match revision.family() {
        Family::Slots => Some(slot_memory::wrapped::<SlotShare, H>()),
        Family::Memory384 if has_blocks(revision) => Some(slot_memory::wrapped::<Settled, H>()),
        Family::Memory384 | Family::MemorySlots | Family::Words => None,
    });
    for (opcode, instruction) in wrapped.into_iter().flatten() {
        let gas = tables.gas_table()[usize::from(opcode)];
        tables.insert_instruction(opcode, instruction, gas);
    }
    if revision.is_some_and(Revision::has_subroutines) {
        for (opcode, instruction) in subroutines::jumps() {
            let gas = tables.gas_table()[usize::from(opcode)];
            tables.insert_instruction(opcode, instruction, gas);
        }
    }
    for &(opcode, gas) in overrides {
        tables.insert_gas(opcode, gas);
    }
    for &(since, opcodes) in SINCE {
        if !spec.is_enabled_in(since) {
            for &opcode in opcodes {
                tables.insert_instruction(opcode, Instruction::unknown(), 0);
            }
        }
    }
    if let Some(revision) = revision {
        for byte in revision.first_bytes() {
            tables.insert_instruction(byte, handler(revision, byte), 0);
        }
    }
    tables
}

/// The handler of an opcode of a revision, or of the prefix of all of them. A revision without a line here does not compile.
fn handler<H: FieldHost>(revision: Revision, opcode: u8) -> Instruction<EthInterpreter, H> {
    macro_rules! slots {
        ($revision:ident) => {
            slots::handler::<{ Revision::$revision as usize }, H>(opcode)
        };
    }
    let handler = match revision {
        Revision::Evm384V0 => evm384::v0(opcode),
        Revision::Evm384V1 => evm384::v1(opcode),
        Revision::Evm384V2 => evm384::v2(opcode),
        Revision::Evm384V3 => evm384::v3(opcode),
        Revision::Evm384V4 => evm384::v4(opcode),
        Revision::Evm384V5 => evm384::v5(opcode),
        Revision::Evm384V6 => evm384::v6(opcode),
        Revision::Evm384V7 => evm384::v7(opcode),
        Revision::Evm384V8 => evm384::v8(opcode),
        Revision::Evm384V9 => evm384::v9(opcode),
        Revision::Evm384V10 => evm384::v10(opcode),
        Revision::Evm384V12 => evm384::v12(opcode),
        Revision::Eip5843 => mont_slots::handler::<false, H>(opcode),
        Revision::Geth5843 => mont_slots::handler::<true, H>(opcode),
        Revision::Eip6601 => slots!(Eip6601),
        Revision::Geth6601 => slots!(Geth6601),
        Revision::Geth6601Push3 => slots!(Geth6601Push3),
        Revision::Eip6690_2023 => slots!(Eip6690_2023),
        Revision::Evmone2023 => slots!(Evmone2023),
        Revision::Eip7747 => slots!(Eip7747),
        Revision::Eip6690_2024 => slots!(Eip6690_2024),
        Revision::Evmone2025 => slots!(Evmone2025),
        Revision::EvmoneBits => slots!(EvmoneBits),
        Revision::XInvmodx => slots!(XInvmodx),
        Revision::XIszerox => slots!(XIszerox),
        Revision::XSumx => slots!(XSumx),
        Revision::XArrayx => slots!(XArrayx),
        Revision::XPadx => slots!(XPadx),
        Revision::XWidex => slots!(XWidex),
        Revision::XCodex => slots!(XCodex),
        Revision::XVectorx => slots!(XVectorx),
        Revision::XFp2x => slots!(XFp2x),
        Revision::XMovx => slots!(XMovx),
        Revision::XFp6x => slots!(XFp6x),
        Revision::XSelectx => slots!(XSelectx),
        Revision::XCmpx => slots!(XCmpx),
        Revision::XSquarex => slots!(XSquarex),
        Revision::XCallsub => subroutines::handler(opcode).or_else(|| slots!(XCallsub)),
        Revision::XExtx => slots!(XExtx),
        Revision::X383 => evm384::x_383(opcode),
        Revision::EvmmaxNext => slots!(EvmmaxNext),
        Revision::Evm => None,
        Revision::EvmCallsub => subroutines::handler(opcode),
    };
    match handler {
        Some(handler) => handler,
        None => unreachable!("{revision} has no opcode {opcode:#04x}, or its handler is missing"),
    }
}
