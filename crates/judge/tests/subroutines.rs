//! CALLSUB, ENTERSUB and RETURNSUB: the engine, one by one, traced and in batches, and the specification end alike.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::collections::BTreeMap;

use residue_engine::MEMORY_LIMIT_BYTES;
use residue_isa::assembly::assemble_text;
use residue_isa::{GasSchedule, Revision};
use residue_judge::differential::{Pair, Program};
use residue_judge::generate::{self, Kind};

const REVISIONS: [Revision; 2] = [Revision::XCallsub, Revision::EvmCallsub];
/// Programs of each kind.
const PROGRAMS: u64 = 300;
/// Short programs, which run at every gas.
const SHORT_PROGRAMS: u64 = 40;

fn pair(revision: Revision) -> Pair {
    Pair::new(revision, GasSchedule::default_for(revision).unwrap(), MEMORY_LIMIT_BYTES)
}

#[test]
fn programs_at_random_end_alike() {
    for revision in REVISIONS {
        let (pair, mut halts) = (pair(revision), BTreeMap::new());
        for kind in Kind::ALL {
            for seed in 0..PROGRAMS {
                let judged = pair.judge(&generate::program(revision, kind, seed));
                if let Some(ending) = judged.unwrap_or_else(|found| panic!("{revision} {kind:?} {seed}: {found}")) {
                    *halts.entry(ending.halt).or_insert(0) += 1;
                }
            }
        }
        for halt in ["stop", "return", "out_of_gas", "invalid_jump", "return_stack_underflow", "return_stack_overflow"]
        {
            assert!(halts.contains_key(halt), "{revision}: no program ends with {halt}: {halts:?}");
        }
    }
}

#[test]
fn programs_at_every_gas_end_alike() {
    for revision in REVISIONS {
        let pair = pair(revision);
        for seed in 0..SHORT_PROGRAMS {
            let program = Program { gas: 2_000, ..generate::short_program(revision, seed) };
            let Some(ending) = pair.specified(&program) else { continue };
            let judged = pair.judge_at(&program, 0..=ending.gas_used.min(1_999) + 1);
            judged.unwrap_or_else(|found| panic!("{revision} {seed}: {found}"));
        }
    }
}

/// Blocks that go into subroutines and back, at every gas, with room on the return stack and without.
#[test]
fn blocks_over_calls_end_as_their_instructions_do() {
    let pair = pair(Revision::XCallsub);
    let run = "ADDMODX 0 1 2 x1 MULMODX 1 0 2 x2 SUBMODX 2 1 0 x1";
    // Modulus 13 with elements of 8 bytes, and 5 in slot 1.
    let set_up = "PUSH 13 PUSH 31 MSTORE8 PUSH 32 MLOAD POP PUSH 8 PUSH 8 PUSH 24 PUSH 0 SETMODX
                  PUSH 5 PUSH 39 MSTORE8 PUSH 1 PUSH 32 PUSH 1 STOREX";
    let dump = "PUSH 8 PUSH 0 PUSH 0 LOADX PUSH 64 PUSH 0 RETURN";
    let called = format!("MARK f ENTERSUB {run} @g CALLSUB {run} RETURNSUB MARK g ENTERSUB {run} RETURNSUB");
    // So many calls within each other that f has room, g has none, or neither.
    for depth in [0, 1, 1021, 1022, 1023, 1024] {
        let deep = format!(
            "PUSH 1 CALLDATALOAD POP PUSH {depth} MARK down ENTERSUB DUP1 ISZERO @end JUMPI PUSH 1 SWAP1 SUB @down CALLSUB RETURNSUB
             end: {run} @f CALLSUB {run} @f CALLSUB {run} {dump} {called}"
        );
        let code = assemble_text(&format!("{set_up} {deep}"), Revision::XCallsub).unwrap().bytes;
        let program = Program { code, input: Vec::new(), gas: 200_000 };
        let used = pair.judge(&program).unwrap_or_else(|found| panic!("{depth}: {found}")).unwrap();
        let expected = if depth <= 1022 { "return" } else { "return_stack_overflow" };
        assert_eq!(used.halt, expected, "{depth}");
        if depth < 2 {
            pair.judge_at(&program, 0..=used.gas_used + 1).unwrap_or_else(|found| panic!("{depth}: {found}"));
        }
    }
}
