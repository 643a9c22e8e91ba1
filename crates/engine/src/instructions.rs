//! The instruction and gas tables: revm's for the fork, with the handlers and base prices of one revision.

use residue_isa::revision::eip6690_2024;
use residue_isa::{Family, GasSchedule, Revision};
use revm::bytecode::opcode as evm;
use revm::handler::instructions::EthInstructions;
use revm::interpreter::Instruction;
use revm::interpreter::interpreter::EthInterpreter;
use revm::primitives::hardfork::SpecId;

use crate::engine::EngineError;
use crate::handlers::{FieldHost, eip6690, evm384, slot_memory};

/// Opcodes that came with a fork. Before it their bytes are unknown, whatever gas is left; revm would charge first.
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

/// The tables for a revision on top of a fork. Field instructions charge their base price themselves, behind the check of
/// the stack, so it is zero here.
pub(crate) fn instructions<H: FieldHost>(
    revision: Revision,
    spec: SpecId,
    overrides: &[(u8, u16)],
) -> EthInstructions<EthInterpreter, H> {
    let mut tables = EthInstructions::new_mainnet_with_spec(spec);
    if revision.family() == Family::Slots {
        for (opcode, instruction) in slot_memory::wrapped() {
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
    for row in revision.opcodes() {
        tables.insert_instruction(row.byte, handler(revision, row.byte), 0);
    }
    tables
}

fn handler<H: FieldHost>(revision: Revision, opcode: u8) -> Instruction<EthInterpreter, H> {
    if let Some(handler) = evm384::handler(revision, opcode) {
        return handler;
    }
    match (revision, opcode) {
        (Revision::Eip6690_2024, eip6690_2024::SETMODX) => Instruction::new(eip6690::setmodx),
        (Revision::Eip6690_2024, eip6690_2024::LOADX) => Instruction::new(eip6690::loadx),
        (Revision::Eip6690_2024, eip6690_2024::STOREX) => Instruction::new(eip6690::storex),
        (Revision::Eip6690_2024, eip6690_2024::ADDMODX) => Instruction::new(eip6690::addmodx),
        (Revision::Eip6690_2024, eip6690_2024::SUBMODX) => Instruction::new(eip6690::submodx),
        (Revision::Eip6690_2024, eip6690_2024::MULMODX) => Instruction::new(eip6690::mulmodx),
        _ => unreachable!("{revision} has no opcode {opcode:#04x}, or its handler is missing here"),
    }
}
