//! Experiments `x-…`, which extend `eip6690-2024`. A context of modulus 15 has elements of 8 bytes; 3 and 5 have no
//! inverse.

use super::{check_halt, execute};

/// Context 0 with modulus 15 in one byte and eight slots that hold 0, 1, 2, … 7.
fn prelude() -> String {
    let mut text = "15 0 MSTORE8 8 1 0 0 SETMODX 0 0 MSTORE8 0 32 MSTORE8".to_owned();
    for slot in 1..8 {
        text += &format!(" {slot} {} MSTORE8", 8 * slot + 7);
    }
    text + " 8 0 0 STOREX "
}

/// `text` after the prelude, then all eight slots.
#[track_caller]
fn check_slots(revision: &str, text: &str, expected: [u8; 8]) {
    let outcome = execute(revision, &format!("{} {text} 8 0 0 LOADX 64 0 RETURN", prelude()));
    assert_eq!(outcome.halt.name(), "return", "{text}");
    let slots: Vec<u8> = outcome.output.chunks(8).map(|bytes| bytes[7]).collect();
    assert_eq!(slots, expected, "{text}");
}

/// Gas of `text` after the prelude, less that of the prelude.
#[track_caller]
fn check_gas(revision: &str, text: &str, gas: u64) {
    let whole = execute(revision, &(prelude() + text));
    assert_eq!(whole.halt.name(), "stop", "{text}");
    assert_eq!(whole.gas_used - execute(revision, &prelude()).gas_used, gas, "{text}");
}

#[test]
fn inverses_are_exact_and_0_where_there_are_none() {
    for revision in ["x-invmodx", "evmmax-next"] {
        check_slots(revision, "INVMODX .0001000108", [0, 1, 8, 0, 4, 0, 0, 13]); // 2·8 = 16, 4·4 = 16, 7·13 = 91
        check_slots(revision, "INVMODX .0001070101", [13, 1, 2, 3, 4, 5, 6, 7]);
        check_slots(revision, "INVMODX .0101000107", [0, 0, 1, 8, 0, 4, 0, 0]); // all lanes are read first
        check_slots(revision, "INVMODX .0002070003", [13, 1, 13, 3, 13, 5, 6, 7]);
        check_gas(revision, "INVMODX .0001000108", 8 * 40);
        check_halt(revision, &(prelude() + "INVMODX .0001000109"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "INVMODX .0001060103"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "INVMODX .0000000101"), "invalid_stride");
        check_halt(revision, &(prelude() + "INVMODX .0001000100"), "invalid_stride");
        check_halt(revision, &(prelude() + "INVMODX .00010001"), "invalid_instruction");
        check_halt(revision, "INVMODX .0001000101", "no_context");
    }
    // Modulo 16, odd values have inverses: 3·11 = 33, 5·13 = 65, 7·7 = 49.
    let text = "16 0 MSTORE8 8 1 1 0 SETMODX 0 0 MSTORE8 8 0 0 STOREX INVMODX .0001000108";
    check_slots("x-invmodx", &text.replace("1 1 0 SETMODX", "1 0 1 SETMODX"), [0, 1, 0, 11, 0, 13, 0, 7]);
}

#[test]
fn zero_is_told_to_the_stack() {
    for revision in ["x-iszerox", "evmmax-next"] {
        for (slot, is_zero) in [("00", 1), ("01", 0), ("07", 0)] {
            let outcome = execute(revision, &format!("{} ISZEROX .{slot} 0 MSTORE 32 0 RETURN", prelude()));
            assert_eq!((outcome.halt.name(), outcome.output[31]), ("return", is_zero));
        }
        check_gas(revision, "ISZEROX .00 POP", 3 + 2);
        check_halt(revision, &(prelude() + "ISZEROX .08"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "ISZEROX"), "invalid_instruction");
        check_halt(revision, "ISZEROX .00", "no_context");
        let full = format!("{} {} ISZEROX .00", prelude(), "0 ".repeat(1024));
        check_halt(revision, &full, "stack_overflow");
        check_halt(revision, &full.replace("ISZEROX .00", "ISZEROX .08"), "slot_out_of_range");
    }
}

#[test]
fn sums_of_products_have_one_reduction() {
    for revision in ["x-sumx", "evmmax-next"] {
        check_slots(revision, "SUM2X .000002030405", [11, 1, 2, 3, 4, 5, 6, 7]); // 6 + 20 = 26
        check_slots(revision, "SUM2X .000202030405", [1, 1, 2, 3, 4, 5, 6, 7]); // 6 − 20 = −14
        check_slots(revision, "SUM2X .00ff02030405", [4, 1, 2, 3, 4, 5, 6, 7]); // −26; other bits mean nothing
        check_slots(revision, "SUM3X .0204020203070707", [0, 1, 6, 3, 4, 5, 6, 7]); // 4 + 21 − 49 = −24
        check_slots(revision, "SUM6X .0020010101010101010101010101", [4, 1, 2, 3, 4, 5, 6, 7]); // 1 + 1 + 1 + 1 + 1 − 1
        check_gas(revision, "SUM2X .000002030405", 2); // ⌈0.46 + 2·0.54⌉
        check_gas(revision, "SUM6X .0020010101010101010101010101", 4); // ⌈0.46 + 6·0.54⌉
        check_halt(revision, &(prelude() + "SUM2X .080002030405"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "SUM2X .000002030408"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "SUM2X .0000020304"), "invalid_instruction");
        check_halt(revision, "SUM2X .000002030405", "no_context");
    }
}

#[test]
fn products_in_fp2_are_two_sums() {
    let revision = "x-fp2x";
    // (1 + 2u)(3 + 4u) = −5 + 10u; in place; (4 + 7u)² = −33 + 56u; coefficients in any slots.
    check_slots(revision, "FP2MULX .00050101020103040101", [10, 1, 2, 3, 4, 10, 6, 7]);
    check_slots(revision, "FP2MULX .01020101020103040101", [0, 10, 10, 3, 4, 5, 6, 7]);
    check_slots(revision, "FP2MULX .07040104070104070101", [0, 1, 2, 3, 11, 5, 6, 12]);
    check_slots(revision, "FP2MULX .06000107010103020001", [2, 1, 2, 3, 4, 5, 4, 7]); // (7 + u)(3 + 2u) = 19 + 17u
    // Two lanes: (0 + u)(2 + 3u) = −3 + 2u and (2 + 3u)(2 + 3u) = −5 + 12u, all read before any is written.
    check_slots(revision, "FP2MULX .02030200010202030002", [0, 1, 12, 2, 10, 12, 6, 7]);
    // Of two results in one slot the later stays: both coefficients of −5 + 12u; those of it and of (3 + 4u)² = −7 + 24u.
    check_slots(revision, "FP2MULX .00000102030102030101", [12, 1, 2, 3, 4, 5, 6, 7]);
    check_slots(revision, "FP2MULX .00010102030102030102", [10, 8, 9, 3, 4, 5, 6, 7]);
    check_gas(revision, "FP2MULX .00050101020103040101", 4); // ⌈3.08⌉
    check_gas(revision, "FP2MULX .00010102030002030003", 10); // ⌈9.24⌉
    check_halt(revision, &(prelude() + "FP2MULX .00080101020103040101"), "slot_out_of_range");
    check_halt(revision, &(prelude() + "FP2MULX .00050101020103080101"), "slot_out_of_range");
    check_halt(revision, &(prelude() + "FP2MULX .00010101020003060103"), "slot_out_of_range");
    check_halt(revision, &(prelude() + "FP2MULX .00050001020103040101"), "invalid_stride");
    check_halt(revision, &(prelude() + "FP2MULX .00050101020103040100"), "invalid_stride");
    check_halt(revision, &(prelude() + "FP2MULX .000501010201030401"), "invalid_instruction");
    check_halt(revision, "FP2MULX .00050101020103040101", "no_context");
}

#[test]
fn squares_have_a_price_of_their_own() {
    let gas = |operands: &str| {
        let text = format!("{} 15 0 MSTORE8 64 1 0 1 SETMODX MULMODX .{operands}", prelude());
        let outcome = execute("x-squarex", &text);
        assert_eq!(outcome.halt.name(), "stop", "{text}");
        outcome.gas_used
    };
    // ⌈0.98·n⌉ for n lanes of one slot: a gas less than other products from 50 on.
    assert_eq!(gas("00010100010032") + 1, gas("00010100020032"));
    assert_eq!(gas("00010100010031"), gas("00010100020031"));
    // Another stride is another operand.
    assert_eq!(gas("00010001000132") + 1, gas("00010001000032"));
}

#[test]
fn products_in_fp6_are_six_sums() {
    let revision = "x-fp6x";
    // v·v² = v³ = 9 + u; uv·uv² = −v³; v²·v² = v³·v.
    check_slots(revision, "FP6MULX .0203040506070000010000000000000001000901", [0, 1, 9, 1, 0, 0, 0, 0]);
    check_slots(revision, "FP6MULX .0203040506070000000100000000000000010901", [0, 1, 6, 14, 0, 0, 0, 0]);
    check_slots(revision, "FP6MULX .0203040506070000000001000000000001000901", [0, 1, 0, 0, 9, 1, 0, 0]);
    // (1 + 2u + (3 + 4u)v + (5 + 6u)v²)(2 + 3u + (4 + 5u)v + (6 + 7u)v²) with v³ = 1 + u and 9 + u.
    check_slots(revision, "FP6MULX .0001020304050102030405060203040506070101", [2, 6, 10, 14, 6, 2, 6, 7]);
    check_slots(revision, "FP6MULX .0001020304050102030405060203040506070901", [7, 8, 4, 12, 6, 2, 6, 7]);
    // A square in place, with the bytes of −1 + 2u + 256; v³ = u, and of results in one slot the last stays; slots in any order.
    check_slots(revision, "FP6MULX .020304050607020304050607020304050607ff02", [0, 1, 3, 13, 13, 3, 3, 14]);
    check_slots(revision, "FP6MULX .0000000000000102030405060102030405060001", [11, 1, 2, 3, 4, 5, 6, 7]);
    check_slots(revision, "FP6MULX .0700070101000700000000000100000000000901", [0, 0, 2, 3, 4, 5, 6, 0]);
    check_gas(revision, "FP6MULX .0001020304050102030405060203040506070101", 28);
    check_halt(revision, &(prelude() + "FP6MULX .0008020304050102030405060203040506070101"), "slot_out_of_range");
    check_halt(revision, &(prelude() + "FP6MULX .0001020304050102030405060203040506080101"), "slot_out_of_range");
    check_halt(revision, &(prelude() + "FP6MULX .00010203040501020304050602030405060701"), "invalid_instruction");
    check_halt(revision, "FP6MULX .0001020304050102030405060203040506070101", "no_context");
}

#[test]
fn slots_are_copied() {
    let revision = "x-movx";
    check_slots(revision, "MOVX .0001050103", [5, 6, 7, 3, 4, 5, 6, 7]);
    check_slots(revision, "MOVX .0101000107", [0, 0, 1, 2, 3, 4, 5, 6]); // all are read before any is written
    check_slots(revision, "MOVX .0002070004", [7, 1, 7, 3, 7, 5, 7, 7]);
    check_slots(revision, "MOVX .0001070001", [7, 1, 2, 3, 4, 5, 6, 7]);
    check_halt(revision, &(prelude() + "MOVX .0001000109"), "slot_out_of_range");
    check_halt(revision, &(prelude() + "MOVX .0801000101"), "slot_out_of_range");
    check_halt(revision, &(prelude() + "MOVX .0000000101"), "invalid_stride");
    check_halt(revision, &(prelude() + "MOVX .0001000100"), "invalid_stride");
    check_halt(revision, &(prelude() + "MOVX .00010001"), "invalid_instruction");
    check_halt(revision, "MOVX .0001000101", "no_context");
}

#[test]
fn slots_are_chosen_by_a_word() {
    let revision = "x-selectx";
    check_slots(revision, "1 SELECTX .00010501020103", [5, 6, 7, 3, 4, 5, 6, 7]);
    check_slots(revision, "0 SELECTX .00010501020103", [2, 3, 4, 3, 4, 5, 6, 7]);
    check_slots(revision, "1 255 SHL SELECTX .00010501020101", [5, 1, 2, 3, 4, 5, 6, 7]);
    check_slots(revision, "7 SELECTX .01010001020006", [0, 0, 1, 2, 3, 4, 5, 7]); // all are read before any is written
    check_gas(revision, "0 SELECTX .00010501020103", 2 + 1 + 1);
    for operands in ["00010601020103", "00010101060103", "06010101020103"] {
        check_halt(revision, &format!("{}1 SELECTX .{operands}", prelude()), "slot_out_of_range");
        check_halt(revision, &format!("{}0 SELECTX .{operands}", prelude()), "slot_out_of_range");
    }
    check_halt(revision, &(prelude() + "1 SELECTX .00000101020101"), "invalid_stride");
    check_halt(revision, &(prelude() + "1 SELECTX .00010101020100"), "invalid_stride");
    check_halt(revision, &(prelude() + "1 SELECTX .000101010201"), "invalid_instruction");
    check_halt(revision, &(prelude() + "SELECTX .00010101020101"), "stack_underflow");
    check_halt(revision, "1 SELECTX .00010101020101", "no_context");
}

#[test]
fn slots_are_compared() {
    let revision = "x-cmpx";
    // Of the slots 0, 1, … 7, then 14, which is −1.
    let check = |text: &str, expected: u8| {
        let top = "SUBMODX .07010001010101";
        let outcome = execute(revision, &format!("{} {top} {text} 0 MSTORE 32 0 RETURN", prelude()));
        assert_eq!((outcome.halt.name(), outcome.output[31]), ("return", expected), "{text}");
        assert!(outcome.output[..31].iter().all(|&byte| byte == 0), "{text}");
    };
    for (slots, is_equal, is_less) in
        [("0000", 1, 0), ("0001", 0, 1), ("0100", 0, 0), ("0506", 0, 1), ("0605", 0, 0), ("0007", 0, 1), ("0706", 0, 0)]
    {
        check(&format!("EQX .{slots}"), is_equal);
        check(&format!("LTX .{slots}"), is_less);
    }
    check("ADDMODX .00010101070101 EQX .0700", 0); // 1 + 14 is 0.
    check("ADDMODX .00010601070101 EQX .0500", 1); // 6 + 14 is 5.
    check_gas(revision, "EQX .0001 POP", 3 + 2);
    check_gas(revision, "LTX .0001 POP", 3 + 2 + 2);
    for opcode in ["EQX", "LTX"] {
        check_halt(revision, &format!("{} {opcode} .0008", prelude()), "slot_out_of_range");
        check_halt(revision, &format!("{} {opcode} .0800", prelude()), "slot_out_of_range");
        check_halt(revision, &format!("{} {opcode} .00", prelude()), "invalid_instruction");
        check_halt(revision, &format!("{opcode} .0000"), "no_context");
        let full = format!("{} {} {opcode} .0001", prelude(), "0 ".repeat(1024));
        check_halt(revision, &full, "stack_overflow");
        check_halt(revision, &full.replace(".0001", ".0008"), "slot_out_of_range");
    }
}

/// Modulo 16, −1 is 15; values need no conversion there, so that LTX costs as much as EQX.
#[test]
fn slots_are_compared_modulo_a_power_of_two() {
    let at_16 = "16 0 MSTORE8 8 1 0 1 SETMODX 0 0 MSTORE8 8 0 0 STOREX SUBMODX .07010001010101 ";
    let gas_used = |text: &str| execute("x-cmpx", &(prelude() + text)).gas_used;
    for (text, expected) in [("EQX .0707", 1), ("EQX .0706", 0), ("LTX .0607", 1), ("LTX .0706", 0), ("LTX .0707", 0)] {
        let outcome = execute("x-cmpx", &format!("{} {at_16} {text} 0 MSTORE 32 0 RETURN", prelude()));
        assert_eq!((outcome.halt.name(), outcome.output[31]), ("return", expected), "{text}");
        assert_eq!(gas_used(&format!("{at_16} {text} POP")) - gas_used(at_16), 3 + 2, "{text}");
    }
}

#[test]
fn elements_are_copied_by_an_index_from_the_stack() {
    for revision in ["x-arrayx", "evmmax-next"] {
        check_slots(revision, "5 PUTX .0203 6 GETX .0002", [3, 4, 2, 3, 4, 5, 6, 7]);
        check_slots(revision, "5 PUTX .0203 4 GETX .0003", [0, 2, 3, 3, 4, 5, 6, 7]); // what was not put is zero
        check_slots(revision, "0 PUTX .0008 1 PUTX .0001 0 GETX .0402", [0, 1, 2, 3, 0, 0, 6, 7]);
        check_slots(revision, "9 GETX .0601", [0, 1, 2, 3, 4, 5, 0, 7]);
        // Each context has its own.
        let other = "15 0 MSTORE8 8 1 0 1 SETMODX 0 0 MSTORE8";
        check_slots(
            revision,
            &format!("0 PUTX .0501 {other} 0 GETX .0001 0 0 0 0 SETMODX 0 GETX .0001"),
            [5, 1, 2, 3, 4, 5, 6, 7],
        );
        // A base, two tenths a value, and memory: two words and the eight of slots are there, and elements take one for each four.
        check_gas(revision, "0 PUTX .0004", 2 + 1 + 1 + 3);
        check_gas(revision, "0 PUTX .0005 0 GETX .0005", 2 + 1 + 1 + 6 + 2 + 1 + 1);
        check_gas(revision, "0 PUTX .0004 0 GETX .0006", 2 + 1 + 1 + 3 + 2 + 1 + 2 + 3);
        check_halt(revision, &(prelude() + "0 PUTX .0109"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "0 GETX .0702"), "slot_out_of_range");
        check_slots(revision, "5 PUTX .0201 5 65536 ADD GETX .0001", [2, 1, 2, 3, 4, 5, 6, 7]); // 16 bits count
        check_halt(revision, &(prelude() + "65535 GETX .0002"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "65535 GETX .0001"), "stop");
        check_halt(revision, &(prelude() + "0 NOT GETX .0001"), "stop");
        check_halt(revision, &(prelude() + "0 NOT GETX .0002"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "0 GETX .0000"), "invalid_stride");
        check_halt(revision, &(prelude() + "0 GETX .00"), "invalid_instruction");
        check_halt(revision, &(prelude() + "GETX .0001"), "stack_underflow");
        check_halt(revision, "0 PUTX .0001", "no_context");
    }
}

#[test]
fn values_may_be_wider_than_the_modulus() {
    for revision in ["x-padx", "evmmax-next"] {
        // Slots 1 to 3 in nine bytes each: the second value begins at 9, the third at 18.
        check_slots(revision, "3 1 0 LOADPX .09 3 0 5 STOREPX .09", [0, 1, 2, 3, 4, 1, 2, 3]);
        check_slots(revision, "3 1 0 LOADPX .09 1 1 0 STOREX", [1, 1, 2, 3, 4, 5, 6, 7]);
        check_slots(revision, "2 3 0 LOADPX .08 2 0 0 STOREX", [3, 4, 2, 3, 4, 5, 6, 7]);
        check_gas(revision, "3 1 0 LOADPX .09", 8 + 1 + 3);
        check_gas(revision, "3 1 0 LOADPX .09 3 0 5 STOREPX .09", 2 * (8 + 1 + 3));
        let padded = prelude() + "1 1 0 LOADPX .14 ";
        check_halt(revision, &format!("{padded} 1 0 MSTORE8 1 0 0 STOREPX .14"), "value_out_of_range");
        check_halt(revision, &format!("{padded} 15 19 MSTORE8 1 0 0 STOREPX .14"), "value_out_of_range");
        check_halt(revision, &format!("{padded} 14 19 MSTORE8 1 0 0 STOREPX .14"), "stop");
        check_halt(revision, &(prelude() + "1 0 0 STOREPX .07"), "invalid_stride");
        check_halt(revision, &(prelude() + "1 8 0 LOADPX .07"), "invalid_stride");
        check_halt(revision, &(prelude() + "0 8 0 LOADPX .07"), "stop");
        check_halt(revision, &(prelude() + "1 8 0 LOADPX .08"), "slot_out_of_range");
        check_halt(revision, &(prelude() + "8 0 0 LOADPX .09"), "memory_out_of_range");
        check_halt(revision, &(prelude() + "7 0 0 LOADPX .09"), "stop");
        check_halt(revision, &(prelude() + "1 0 0 LOADPX"), "invalid_instruction");
        check_halt(revision, &(prelude() + "1 0 LOADPX .08"), "stack_underflow");
        check_halt(revision, "1 0 0 LOADPX .08", "no_context");
    }
    // A power of two is priced by the words of memory that move.
    let text = "16 0 MSTORE8 8 1 0 1 SETMODX";
    let gas = execute("x-padx", &format!("{} {text} 4 0 0 LOADPX .10", prelude())).gas_used;
    assert_eq!(gas - execute("x-padx", &format!("{} {text}", prelude())).gas_used, 7 + 1 + 6);
}

/// The values 1, 2, 3 and 14 in eight bytes each from offset 1 of the code on, the byte 15 at 35, and memory of 64 bytes.
const IN_CODE: &str =
    "PUSH32 .000000000000000100000000000000020000000000000003000000000000000e POP 15 POP 0 32 MSTORE8";

#[test]
fn a_modulus_and_values_may_stand_in_code() {
    for revision in ["x-codex", "evmmax-next"] {
        check_what_stands_in_code(revision);
    }
}

#[track_caller]
fn check_what_stands_in_code(revision: &str) {
    let set = "8 1 35 0 SETMODCX";
    let slots = |text: &str| {
        let outcome = execute(revision, &format!("{IN_CODE} {set} {text} 8 0 0 LOADX 64 0 RETURN"));
        assert_eq!(outcome.halt.name(), "return", "{text}");
        outcome.output.chunks(8).map(|bytes| bytes[7]).collect::<Vec<u8>>()
    };
    assert_eq!(slots("4 1 2 STORECX"), [0, 0, 1, 2, 3, 14, 0, 0]);
    assert_eq!(slots("1 17 7 STORECX 1 25 0 STORECX"), [14, 0, 0, 0, 0, 0, 0, 3]);
    assert_eq!(slots("4 1 0 STORECX MULMODX .00010301030104"), [1, 0, 0, 0, 0, 0, 0, 0]); // 14² = 196 = 1
    // An id that is there is made active, whatever else is said.
    assert_eq!(slots("1 1 1 STORECX 0 0 0 NOT 0 SETMODCX"), [0, 1, 0, 0, 0, 0, 0, 0]);
    let gas = |text: &str| execute(revision, &format!("{IN_CODE} {text}")).gas_used;
    // Pushes, a base, a new modulus of one limb and two words of slots; then pushes, a base and four values.
    assert_eq!(gas(set) - gas(""), 3 + 3 + 3 + 2 + 1 + 23 + 6);
    assert_eq!(gas(&format!("{set} 4 1 2 STORECX")) - gas(set), 9 + 1 + 4);
    // The operand of its first push, a power of two: no new odd modulus, and values by the words that move.
    let power = "8 1 42 0 SETMODCX";
    assert_eq!(gas(power) - gas(""), 3 + 3 + 3 + 2 + 1 + 6);
    assert_eq!(gas(&format!("{power} 1 1 2 STORECX")) - gas(power), 9 + 1 + 3);
    let halt = |text: &str, name: &str| check_halt(revision, &format!("{IN_CODE} {text}"), name);
    halt("8 1 34 0 SETMODCX", "invalid_modulus"); // The opcode of the push: 96.
    halt("8 1 36 0 NOT SETMODCX", "no_context");
    halt("8 1 0 NOT 0 SETMODCX", "memory_out_of_range");
    halt("8 96 35 0 SETMODCX", "memory_out_of_range");
    halt("8 97 35 0 SETMODCX", "invalid_modulus");
    halt("257 1 35 0 SETMODCX", "slot_out_of_range");
    halt("4 1 2 STORECX", "no_context");
    halt("1 35 0 SETMODCX", "stack_underflow");
    let after = |text: &str, name: &str| halt(&format!("{set} {text}"), name);
    after("1 2 0 STORECX", "value_out_of_range");
    after("4 1 5 STORECX", "slot_out_of_range");
    after("0 1 0 NOT STORECX", "stop");
    after("1 0 NOT 0 STORECX", "memory_out_of_range");
    after("1 2 STORECX", "stack_underflow");
    // The last eight bytes of the code are zero; the next eight are not all there.
    let length = |at: usize| format!("1 {at} 0 STORECX STOP .0000000000000000");
    let code_bytes = 41 + 8 + 6 + 1 + 8;
    after(&length(code_bytes - 8), "stop");
    after(&length(code_bytes - 7), "memory_out_of_range");
}

#[test]
fn moduli_may_have_4096_bits() {
    // A modulus of 3 in so many bytes.
    let set = |bytes: usize, slots: usize| format!("3 {} MSTORE8 {slots} {bytes} 0 0 SETMODX", bytes - 1);
    check_halt("eip6690-2024", &set(97, 8), "invalid_modulus");
    check_halt("x-widex", &set(97, 8), "stop");
    check_halt("x-widex", &set(512, 48), "stop");
    check_halt("x-widex", &set(512, 49), "slot_out_of_range");
    check_halt("x-widex", &set(513, 8), "invalid_modulus");
    let gas = |text: &str| execute("x-widex", &format!("{} {text}", set(512, 4))).gas_used;
    assert_eq!(gas("MULMODX .00010001000104") - gas(""), 4 * 861);
    assert_eq!(gas("ADDMODX .00010001000104") - gas(""), 4 * 16);
    assert_eq!(gas("0 4000 MSTORE8 4 1024 0 STOREX") - gas("0 4000 MSTORE8 0 1024 0 STOREX"), 4 * 893 + 1);
}
