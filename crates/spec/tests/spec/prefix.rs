//! Opcodes after a prefix: `x-extx`.

use super::{check_halt, execute};

/// Modulus 13 and eight slots; slot 1 is 5.
const PRELUDE: &str = "13 0 MSTORE8 5 15 MSTORE8 8 1 0 0 SETMODX 1 8 1 STOREX ";

/// Slot 2 is returned in the low byte of the first word.
const END: &str = " 1 2 24 LOADX 32 0 RETURN";

#[test]
fn instructions_do_and_cost_what_they_do_without_a_prefix() {
    for arithmetic in ["ADDMODX", "SUBMODX", "MULMODX"] {
        let text = format!("{PRELUDE}{arithmetic} .02010101010101{END}");
        let [plain, prefixed] = ["eip6690-2024", "x-extx"].map(|revision| execute(revision, &text));
        assert_eq!(plain, prefixed);
        assert_eq!(prefixed.halt.name(), "return");
    }
}

#[test]
fn neither_prefix_nor_opcode_is_an_instruction_alone() {
    for opcode in 0xc0..=0xc5 {
        check_halt("x-extx", &format!("{PRELUDE}1 1 1 1 .{opcode:02x}02010101010101"), "invalid_instruction");
        check_halt("x-extx", &format!("{PRELUDE}1 1 1 1 .aeae{opcode:02x}02010101010101"), "invalid_instruction");
    }
    check_halt("x-extx", ".ae", "invalid_instruction");
    for byte in (0..=u8::MAX).filter(|byte| !(0xc0..=0xc5).contains(byte)) {
        check_halt("x-extx", &format!("{PRELUDE}1 1 1 1 .ae{byte:02x}02010101010101"), "invalid_instruction");
    }
    for bytes in 0..7 {
        check_halt("x-extx", &format!("{PRELUDE}MULMODX .{}", "01".repeat(bytes)), "invalid_instruction");
    }
}

#[test]
fn nothing_after_a_prefix_is_a_jump_target() {
    for target in 4..12 {
        let text = format!("{target} JUMP .ae .c5 .5b5b5b5b5b5b5b JUMPDEST");
        check_halt("x-extx", &text, "invalid_jump");
    }
    check_halt("x-extx", "12 JUMP .ae .c5 .5b5b5b5b5b5b5b JUMPDEST", "stop");
    check_halt("x-extx", "4 JUMP .ae5b", "invalid_jump");
    check_halt("x-extx", "5 JUMP .ae60 JUMPDEST", "stop");
    check_halt("x-extx", "4 JUMP .c5 JUMPDEST", "stop");
}
