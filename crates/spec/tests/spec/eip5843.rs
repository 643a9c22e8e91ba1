//! `eip5843` and `geth5843`: slots in memory, Montgomery form, ranges, gas. The modulus is 2⁶⁴ − 59 in one limb, so R = 59.

use super::{check_halt, execute};

/// m in the last of four limbs of 32 bytes at 32, set with slots from `start` on; memory is 64 bytes.
fn set(start: u64) -> String {
    format!("0xffffffffffffffc5 32 MSTORE {start} 1 56 SETMODX ")
}

#[track_caller]
fn check_memory(name: &str, text: &str, offset: usize, expected: u8) {
    let outcome = execute(name, text);
    assert_eq!(outcome.halt.name(), "stop", "{name}: {text}");
    let value = &outcome.memory[offset..offset + 8];
    assert_eq!((&value[..7], value[7]), (&[0; 7][..], expected), "{name}: {text}");
}

#[test]
fn slots_begin_at_mem_start_except_in_go_ethereum() {
    let text = |start, name: &str| {
        let at = if name == "eip5843" { start } else { 0 };
        format!("0 64 MSTORE {}3 {} MSTORE8 5 {} MSTORE8 ADDMODX .020001 SUBMODX .030100", set(start), at + 7, at + 15)
    };
    for name in ["eip5843", "geth5843"] {
        for start in [0, 8] {
            let at = if name == "eip5843" { usize::try_from(start).unwrap() } else { 0 };
            check_memory(name, &text(start, name), at + 16, 8);
            check_memory(name, &text(start, name), at + 24, 2);
        }
    }
}

#[test]
fn montgomery_form_is_entered_and_left() {
    // 2 ↦ 2 · 59 = 118; 118 · 1 · R⁻¹ = 2; 118 · 118 · R⁻¹ = 4 · 59 = 236.
    let (slots, offsets) = ("0x0100 0x0300 TOMONTX", "0 0 TOMONTX");
    assert_eq!(execute("eip5843", &(set(0) + slots)).halt.name(), "stop");
    for name in ["eip5843", "geth5843"] {
        let enter = format!("{}2 7 MSTORE8 1 15 MSTORE8 {offsets} ", set(0));
        check_memory(name, &enter, 0, 118);
        check_memory(name, &(enter.clone() + "MULMONTX .020001"), 16, 2);
        check_memory(name, &(enter + "MULMONTX .020000"), 16, 236);
    }
    // Input slot 1 on top, output slot 2; in go-ethereum output offset 16 on top, input offset 8.
    check_memory("eip5843", &format!("{}1 15 MSTORE8 2 1 TOMONTX", set(0)), 16, 59);
    check_memory("geth5843", &format!("{}1 15 MSTORE8 8 16 TOMONTX", set(0)), 16, 59);
}

#[test]
fn ranges_end_with_memory_or_before_it() {
    for (name, last) in [("eip5843", "stop"), ("geth5843", "memory_out_of_range")] {
        // Slot 7 is the modulus itself, so it is cleared first.
        let text = set(0) + "0 32 MSTORE ADDMODX .070000";
        check_halt(name, &text, last);
        check_halt(name, &(set(0) + "ADDMODX .060000"), "stop");
        check_halt(name, &(set(0) + "ADDMODX .080000"), "memory_out_of_range");
        check_halt(name, "ADDMODX .000000", "no_context");
        check_halt(name, "0 0 TOMONTX", "no_context");
        check_halt(name, &(set(0) + "ADDMODX .0000"), "invalid_instruction");
        check_halt(name, &(set(0) + "ADDMODX .000700"), if last == "stop" { "value_out_of_range" } else { last });
    }
    check_halt("eip5843", &set(1000), "stop");
    check_halt("geth5843", &set(1000), "memory_out_of_range");
}

#[test]
fn moduli_are_odd_and_fill_their_limbs() {
    for name in ["eip5843", "geth5843"] {
        for (text, halt) in [
            ("0xffffffffffffffc4 0 MSTORE 0 1 24 SETMODX", "invalid_modulus"),
            ("1 0 MSTORE 0 1 24 SETMODX", "invalid_modulus"),
            ("3 0 MSTORE 0 1 24 SETMODX", "stop"),
            ("3 0 MSTORE 0 2 16 SETMODX", "invalid_modulus"),
            ("3 0 MSTORE 0 0 24 SETMODX", "invalid_modulus"),
            ("3 0 MSTORE 0 17 0 SETMODX", "invalid_modulus"),
            ("3 0 MSTORE 0 1 25 SETMODX", "memory_out_of_range"),
        ] {
            check_halt(name, text, halt);
        }
        // SETMODX 79, ADDMODX 1, MULMONTX 1, TOMONTX 1 and its pushes.
        let gas = execute(name, &set(0)).gas_used;
        assert_eq!(gas, 3 + 3 + 3 + 6 + 2 + 3 + 3 + 79);
        let rest = "ADDMODX .000000 MULMONTX .000000 0 0 TOMONTX";
        assert_eq!(execute(name, &(set(0) + rest)).gas_used, gas + 1 + 1 + 2 + 2 + 1);
    }
}
