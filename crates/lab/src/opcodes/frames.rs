//! Opcodes that end a frame, each in a frame that the program calls of its own code: the other program takes the operands
//! away and runs into the end of the code, which is a STOP. So their times are those beyond a STOP.

use residue_isa::opcode::OpcodeRow;
use residue_isa::opcode::evm as op;
use residue_isa::{Assembly, Revision};

use super::EVM_LAYER;
use super::pair::{Pair, bytes, looped, ops};

/// Calls in a turn of the loop.
const BODY: usize = 16;
/// Gas of a called frame: SELFDESTRUCT takes 7,600 at most here, INVALID takes all.
const FRAME_GAS: u32 = 20_000;
/// An account that gets nothing.
const BENEFICIARY: u32 = 0xbeef;

/// The pairs of an opcode that ends a frame: for those with output, none and a kilobyte of it.
pub(super) fn pairs(row: &'static OpcodeRow) -> Vec<Pair> {
    match row.byte {
        op::RETURN | op::REVERT => vec![pair(row, "0", &[0, 0]), pair(row, "1024", &[0, 1024])],
        op::SELFDESTRUCT => vec![pair(row, "warm", &[BENEFICIARY])],
        _ => vec![pair(row, "plain", &[])],
    }
}

/// `words` are what the opcode takes, top first. The frame that is called has no calldata, the calling one has.
fn pair(row: &'static OpcodeRow, class: &'static str, words: &'static [u32]) -> Pair {
    let program = move |with: bool, turns: usize| {
        let before = |code: &mut Assembly| {
            let outer = code.new_label();
            code.op(op::CALLDATASIZE).push_label(outer).op(op::JUMPI);
            for &word in words.iter().rev() {
                code.push(word);
            }
            match with {
                true => ops(code, &[row.byte]),
                false => words.iter().for_each(|_| ops(code, &[op::POP])),
            }
            code.op(op::STOP).label(outer);
        };
        let body = |code: &mut Assembly| {
            for _ in 0..BODY {
                (0..5).for_each(|_| ops(code, &[op::PUSH0])); // No value, no input, no room for output.
                code.op(op::ADDRESS).push(FRAME_GAS).op(op::CALL).op(op::POP);
            }
        };
        bytes(&looped(turns, before, body, |code| ops(code, &[op::STOP])), Revision::Eip6690_2024)
    };
    Pair {
        name: format!("{EVM_LAYER}/{}/256/{class}", row.mnemonic),
        mnemonic: row.mnemonic,
        count: BODY,
        pops: i32::from(row.pops),
        program: Box::new(program),
        input: vec![1],
        expected: None,
        turns: None,
        is_cold_measured: false,
    }
}

#[cfg(test)]
mod tests {
    use residue_engine::{Engine, EngineConfig};

    use super::*;

    #[test]
    fn every_turn_ends_its_frames_by_the_opcode() {
        let engine = Engine::new(EngineConfig::default_for(Revision::Eip6690_2024)).unwrap();
        for row in residue_isa::opcode::evm::OPCODES {
            if !super::super::evm::ENDINGS.contains(&row.byte) {
                continue;
            }
            for pair in pairs(row) {
                let executions = |with: bool| {
                    let counted = engine.run_counted(&(pair.program)(with, 3).unwrap(), &pair.input, 1 << 30);
                    assert!(counted.outcome.is_success(), "{}: {}", pair.name, counted.outcome.halt);
                    let found = counted.counts.by_mnemonic().find(|(mnemonic, _)| *mnemonic == row.mnemonic);
                    found.map_or(0, |(_, count)| count)
                };
                assert_eq!((executions(true), executions(false)), (3 * BODY as u64, 0), "{}", pair.name);
            }
        }
    }
}
