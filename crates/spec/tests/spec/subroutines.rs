//! CALLSUB, ENTERSUB and RETURNSUB. The first cases are those of EIP-7979, "Test Cases", with our bytes in place of the outdated ones.

use super::{check_halt, execute, execute_with};

const REVISIONS: [&str; 2] = ["x-callsub", "evm-callsub"];

#[track_caller]
fn check(text: &str, halt: &str, gas: u64) {
    for revision in REVISIONS {
        let outcome = execute(revision, text);
        assert_eq!((outcome.halt.name(), outcome.gas_used), (halt, gas), "{text}");
    }
}

#[track_caller]
fn check_exceptional(text: &str, halt: &str) {
    REVISIONS.iter().for_each(|revision| check_halt(revision, text, halt));
}

#[test]
fn the_cases_of_the_eip() {
    check("4 CALLSUB STOP ENTERSUB RETURNSUB", "stop", 17);
    // The EIP says 36 in all; its rows add up to 34.
    let two_levels = "ENTERSUB 0x11 CALLSUB RETURNSUB ENTERSUB RETURNSUB";
    check(&format!("PUSH9 .00000000000000000c CALLSUB STOP {two_levels}"), "stop", 34);
    check_exceptional(&format!("PUSH9 .01000000000000000c CALLSUB STOP {two_levels}"), "invalid_jump");
    check_exceptional("RETURNSUB PC PC", "return_stack_underflow");
    check("5 JUMP ENTERSUB RETURNSUB JUMPDEST 3 CALLSUB", "stop", 29);
}

#[test]
fn each_label_is_for_its_own_instructions() {
    check_exceptional("3 JUMP ENTERSUB", "invalid_jump");
    check_exceptional("1 5 JUMPI ENTERSUB", "invalid_jump");
    check("0 4 JUMPI ENTERSUB", "stop", 2 + 3 + 10 + 1);
    check_exceptional("3 CALLSUB JUMPDEST", "invalid_jump");
    check_exceptional("4 CALLSUB PUSH1 .b1", "invalid_jump");
    check_exceptional("3 CALLSUB", "invalid_jump");
    check_exceptional("CALLSUB", "stack_underflow");
    // Falling into a label is nothing but its gas.
    check("ENTERSUB ENTERSUB", "stop", 2);
    check_exceptional("ENTERSUB RETURNSUB", "return_stack_underflow");
}

#[test]
fn the_return_stack_holds_1024_offsets() {
    // A countdown that calls itself, as often as the word on the stack says.
    let calls = |count: u32| {
        format!("{count} 7 CALLSUB STOP ENTERSUB DUP1 13 JUMPI RETURNSUB JUMPDEST 1 SWAP1 SUB 7 CALLSUB RETURNSUB")
    };
    for (count, halt) in
        [(256, "stop"), (1023, "stop"), (1024, "return_stack_overflow"), (5000, "return_stack_overflow")]
    {
        for revision in REVISIONS {
            assert_eq!(execute_with(revision, &calls(count), &[], 1_000_000).halt.name(), halt, "{count}");
        }
    }
    // The return stack is looked at before the destination, gas before both.
    let endless = "ENTERSUB 0 CALLSUB";
    for (calls, halt) in [(1024, "return_stack_overflow"), (1023, "out_of_gas")] {
        for revision in REVISIONS {
            assert_eq!(execute_with(revision, endless, &[], 11 * calls + 11).halt.name(), halt, "{calls}");
        }
    }
}

#[test]
fn returns_go_to_where_they_came_from() {
    // Twice the same function, which doubles: 3 becomes 12.
    let text = "3 14 CALLSUB 14 CALLSUB 0 MSTORE 32 0 RETURN ENTERSUB DUP1 ADD RETURNSUB";
    for revision in REVISIONS {
        let outcome = execute(revision, text);
        assert_eq!((outcome.halt.name(), outcome.output[31]), ("return", 12));
    }
}
