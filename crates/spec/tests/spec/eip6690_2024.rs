//! `eip6690-2024`: contexts, transfers, lanes, halts and gas. A context of modulus 11 has elements of 8 bytes.

use super::{GAS, assemble, check_halt, execute, execute_with, revision};
use num_bigint::BigUint;
use residue_spec::{ByWidth, Env, Prices, run};

const REVISION: &str = "eip6690-2024";

/// A word of ones, larger than any offset.
const MAX: &str = "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

/// Context 0 with modulus 11 in one byte and eight slots that hold 0, 1, 2, … 7. 64 bytes of memory are slots 0..8 in memory form.
fn prelude() -> String {
    let mut text = "11 0 MSTORE8 8 1 0 0 SETMODX 0 0 MSTORE8 0 32 MSTORE8".to_owned();
    for slot in 1..8 {
        text += &format!(" {slot} {} MSTORE8", 8 * slot + 7);
    }
    text + " 8 0 0 STOREX "
}

/// `text` after the prelude, then all eight slots.
#[track_caller]
fn check_slots(text: &str, expected: [u8; 8]) {
    let outcome = execute(REVISION, &format!("{} {text} 8 0 0 LOADX 64 0 RETURN", prelude()));
    assert_eq!(outcome.halt.name(), "return", "{text}");
    let slots: Vec<u8> = outcome.output.chunks(8).map(|bytes| bytes[7]).collect();
    assert_eq!(slots, expected, "{text}");
    assert!(outcome.output.chunks(8).all(|bytes| bytes[..7] == [0; 7]), "{text}");
}

/// Gas of `text` after the prelude, less that of the prelude.
#[track_caller]
fn check_gas(text: &str, gas: u64) {
    let whole = execute(REVISION, &(prelude() + text));
    assert_eq!(whole.halt.name(), "stop", "{text}");
    assert_eq!(whole.gas_used - execute(REVISION, &prelude()).gas_used, gas, "{text}");
}

#[test]
fn arithmetic_on_one_lane() {
    check_slots("ADDMODX .00010701060101", [2, 1, 2, 3, 4, 5, 6, 7]); // 7 + 6 = 13
    check_slots("SUBMODX .00010201070101", [6, 1, 2, 3, 4, 5, 6, 7]); // 2 − 7
    check_slots("MULMODX .00010501070101", [2, 1, 2, 3, 4, 5, 6, 7]); // 35
}

#[test]
fn lanes_follow_their_strides() {
    check_slots("ADDMODX .00010101040103", [5, 7, 9, 3, 4, 5, 6, 7]); // 1+4, 2+5, 3+6
    check_slots("ADDMODX .00020101040103", [5, 1, 7, 3, 9, 5, 6, 7]); // out at 0, 2, 4
    check_slots("MULMODX .00010000020003", [0, 0, 0, 3, 4, 5, 6, 7]); // 0·2 three times
    check_slots("MULMODX .00010300020102", [6, 9, 2, 3, 4, 5, 6, 7]); // 3·2, 3·3
    check_slots("ADDMODX .00010701070101", [3, 1, 2, 3, 4, 5, 6, 7]); // the last slot may be named
}

#[test]
fn all_lanes_are_read_before_any_is_written() {
    check_slots("ADDMODX .01010001000107", [0, 0, 2, 4, 6, 8, 10, 1]); // out[i + 1] = 2·i, i = 0..6
    check_slots("ADDMODX .00010101010107", [2, 4, 6, 8, 10, 1, 3, 7]); // out[i] = 2·(i + 1)
    check_slots("MULMODX .00010001000108", [0, 1, 4, 9, 5, 3, 3, 5]); // squares in place
}

#[test]
fn transfers_move_ranges_of_slots() {
    check_slots("2 0 6 STOREX", [0, 1, 2, 3, 4, 5, 0, 1]); // dest slot 6, source byte 0
    check_slots("1 16 0 STOREX", [2, 1, 2, 3, 4, 5, 6, 7]);
    // LOADX count 2 from slot 5 to byte 0, then slots 0 and 1 from there.
    check_slots("2 5 0 LOADX 2 0 0 STOREX", [5, 6, 2, 3, 4, 5, 6, 7]);
    // Count 0 looks at nothing else.
    check_slots(&format!("0 {MAX} {MAX} STOREX 0 {MAX} {MAX} LOADX"), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn contexts_keep_their_slots_and_share_nothing() {
    // Context 256 with modulus 5, size 3 (two leading zero bytes), one slot holding 4; 4 + 4 = 3. Then back to context 0.
    let other = "5 2 MSTORE8 1 3 0 256 SETMODX 4 7 MSTORE8 0 2 MSTORE8 1 0 0 STOREX ADDMODX .00010000000001";
    let outcome = execute(REVISION, &format!("{} 0 7 MSTORE8 {other} 1 0 0 LOADX 8 0 RETURN", prelude()));
    assert_eq!((outcome.halt.name(), outcome.output[7]), ("return", 3));
    // A known id ignores its other operands, which may be anything.
    check_slots(&format!("0 7 MSTORE8 {other} {MAX} {MAX} {MAX} 0 SETMODX"), [0, 1, 2, 3, 4, 5, 6, 7]);
    // And new slots are zero.
    let outcome = execute(REVISION, "3 0 MSTORE8 2 1 0 9 SETMODX 2 0 0 LOADX 16 0 RETURN");
    assert_eq!(outcome.output, [0; 16]);
}

#[test]
fn power_of_two_moduli() {
    // m = 2⁸ in two bytes: 200 + 100 = 44, 100 − 200 = 156, 200·100 = 20000 = 32 mod 256.
    let set = "1 0 MSTORE8 4 2 0 0 SETMODX 0 0 MSTORE8 200 7 MSTORE8 100 15 MSTORE8 2 0 0 STOREX";
    let run = "ADDMODX .02010001010101 SUBMODX .03010101000101 MULMODX .00010001010101 4 0 0 LOADX 32 0 RETURN";
    let outcome = execute(REVISION, &format!("{set} {run}"));
    let slots: Vec<u8> = outcome.output.chunks(8).map(|bytes| bytes[7]).collect();
    assert_eq!(slots, [32, 100, 44, 156]);
}

#[test]
fn wide_moduli_compute_and_widths_come_from_the_declared_size() {
    // m = 2⁷⁶⁸ − 1: (m − 1)² = 1.
    let ones = format!("{MAX} 0 MSTORE {MAX} 32 MSTORE {MAX} 64 MSTORE");
    let text =
        format!("{ones} 2 96 0 0 SETMODX 0xfe 95 MSTORE8 1 0 0 STOREX MULMODX .01010000000001 1 1 0 LOADX 96 0 RETURN");
    let outcome = execute(REVISION, &text);
    assert_eq!((outcome.halt.name(), BigUint::from_bytes_be(&outcome.output)), ("return", BigUint::from(1u8)));
    // Modulus 3 declared with 96 bytes: T1[12], elements of 96 bytes.
    let outcome = execute(REVISION, "3 95 MSTORE8 1 96 0 0 SETMODX");
    assert_eq!(outcome.gas_used, 3 + 3 + 3 + 9 + (3 + 3 + 2 + 2) + 1 + 9 + 58);
    let outcome = execute(REVISION, "3 95 MSTORE8 1 96 0 0 SETMODX 1 95 MSTORE8 1 0 0 STOREX");
    assert_eq!(outcome.halt.name(), "stop");
}

#[test]
fn setmodx_halts() {
    let memory = "0 0 MSTORE"; // 32 bytes of memory
    for (operands, halt) in [
        // alloc_count, modulus_size, modulus_offset, id
        ("1 1 0 257", "no_context"),
        ("1 1 0 MAX", "no_context"),
        ("0 1 0 256", "slot_out_of_range"),
        ("257 1 0 0", "slot_out_of_range"),
        ("MAX 1 0 0", "slot_out_of_range"),
        ("1 0 0 0", "invalid_modulus"),
        ("1 0 MAX 0", "invalid_modulus"),
        ("1 97 0 0", "invalid_modulus"),
        ("1 MAX 0 0", "invalid_modulus"),
        ("1 33 0 0", "memory_out_of_range"),
        ("1 1 32 0", "memory_out_of_range"),
        ("1 1 MAX 0", "memory_out_of_range"),
        ("1 32 0 0", "invalid_modulus"), // zero
    ] {
        check_halt(REVISION, &format!("{memory} {operands} SETMODX").replace("MAX", MAX), halt);
    }
    for (modulus, halt) in [
        (1, "invalid_modulus"),
        (2, "invalid_modulus"),
        (3, "stop"),
        (4, "stop"),
        (6, "invalid_modulus"),
        (128, "stop"),
        (254, "invalid_modulus"),
        (255, "stop"),
    ] {
        check_halt(REVISION, &format!("{modulus} 0 MSTORE8 1 1 0 0 SETMODX"), halt);
    }
}

#[test]
fn slots_of_a_frame_are_limited() {
    let odd = format!("{MAX} 0 MSTORE {MAX} 32 MSTORE {MAX} 64 MSTORE");
    check_halt(REVISION, &format!("{odd} 256 96 0 0 SETMODX"), "stop"); // 24576 bytes
    check_halt(REVISION, &format!("{odd} 256 96 0 0 SETMODX 1 1 0 1 SETMODX"), "slot_out_of_range");
    check_halt(REVISION, &format!("{odd} 255 96 0 0 SETMODX 12 1 0 1 SETMODX"), "stop");
    check_halt(REVISION, &format!("{odd} 255 96 0 0 SETMODX 13 1 0 1 SETMODX"), "slot_out_of_range");
    check_halt(REVISION, &format!("{odd} 256 96 0 0 SETMODX 1 1 0 0 SETMODX"), "stop"); // known id
}

#[test]
fn arithmetic_halts() {
    for name in ["ADDMODX", "SUBMODX", "MULMODX"] {
        let set = "11 0 MSTORE8 8 1 0 0 SETMODX";
        check_halt(REVISION, &format!("{name} .00010001000101"), "no_context");
        check_halt(REVISION, &format!("{name} .00000001000100"), "no_context"); // context before strides
        for (immediate, halt) in [
            ("00010001000100", "invalid_stride"), // count 0
            ("00000001000101", "invalid_stride"), // out_stride 0
            ("ff00ff01ff01ff", "invalid_stride"), // before the bounds
            ("00010000000001", "stop"),
            ("07010701070101", "stop"),
            ("08010001000101", "slot_out_of_range"),
            ("00010801000101", "slot_out_of_range"),
            ("00010001080101", "slot_out_of_range"),
            ("00010001000108", "stop"),
            ("01010001000108", "slot_out_of_range"),
            ("00010101000108", "slot_out_of_range"),
            ("00010001010108", "slot_out_of_range"),
            ("00030103020302", "stop"),
            ("00070007000702", "stop"),
            ("00080007000702", "slot_out_of_range"),
            ("ffffffffffffff", "slot_out_of_range"),
        ] {
            check_halt(REVISION, &format!("{set} {name} .{immediate}"), halt);
        }
    }
}

#[test]
fn transfer_halts() {
    for (text, halt) in
        [("0 0 LOADX", "stack_underflow"), ("0 0 STOREX", "stack_underflow"), ("1 1 1 SETMODX", "stack_underflow")]
    {
        check_halt(REVISION, text, halt);
    }
    for name in ["LOADX", "STOREX"] {
        check_halt(REVISION, &format!("0 0 0 {name}"), "no_context");
        check_halt(REVISION, &format!("{MAX} {MAX} {MAX} {name}"), "no_context");
    }
    // After the prelude: 8 slots, 64 bytes of memory. Operands are count, second, first.
    for (text, halt) in [
        ("8 0 0 LOADX", "stop"),
        ("9 0 0 LOADX", "slot_out_of_range"),
        ("8 1 0 LOADX", "slot_out_of_range"),
        ("1 8 0 LOADX", "slot_out_of_range"),
        ("1 MAX 0 LOADX", "slot_out_of_range"),
        ("MAX 0 0 LOADX", "slot_out_of_range"),
        ("MAX 1 0 LOADX", "slot_out_of_range"), // no wrapping sum
        ("1 0 56 LOADX", "stop"),
        ("1 0 57 LOADX", "memory_out_of_range"),
        ("1 0 MAX LOADX", "memory_out_of_range"),
        ("1 8 MAX LOADX", "slot_out_of_range"), // index before range
        ("8 0 0 STOREX", "stop"),
        ("9 0 0 STOREX", "slot_out_of_range"),
        ("1 0 8 STOREX", "slot_out_of_range"),
        ("1 0 MAX STOREX", "slot_out_of_range"),
        ("1 57 0 STOREX", "memory_out_of_range"),
        ("1 MAX 0 STOREX", "memory_out_of_range"),
        ("11 7 MSTORE8 1 0 0 STOREX", "value_out_of_range"),
    ] {
        check_halt(REVISION, &(prelude() + &text.replace("MAX", MAX)), halt);
    }
    check_halt(REVISION, &(prelude() + "10 7 MSTORE8 1 0 0 STOREX"), "stop");
    check_halt(REVISION, &(prelude() + "1 0 MSTORE8 1 0 0 STOREX"), "value_out_of_range"); // 2⁵⁶
    check_halt(REVISION, &(prelude() + "11 63 MSTORE8 8 0 0 STOREX"), "value_out_of_range"); // the last of eight
}

#[test]
fn gas_of_instructions() {
    for (text, gas) in [
        ("ADDMODX .00010001000101", 1),
        ("SUBMODX .00010001000108", 8),
        ("MULMODX .00010001000108", 8),
        ("8 0 0 LOADX", 3 + 2 + 2 + 1 + 8),
        ("8 0 0 STOREX", 3 + 2 + 2 + 1 + 8),
        ("0 0 0 LOADX", 6 + 1),
        ("0 0 0 STOREX", 6 + 1),
        ("0 0 0 0 SETMODX", 8 + 1), // known id
    ] {
        check_gas(text, gas);
    }
}

#[test]
fn gas_by_width() {
    let t1 = [23, 26, 29, 32, 36, 39, 42, 45, 48, 51, 54, 58];
    let t2 = [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2];
    let t3 = [1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 10, 12];
    for limbs in 1..=12u64 {
        // 3 words of memory (9 gas), one slot of ⌈limbs / 4⌉ words: 3 gas each while the quadratic part is below one.
        let at = usize::try_from(limbs - 1).unwrap();
        let ones = format!("{MAX} 0 MSTORE {MAX} 32 MSTORE {MAX} 64 MSTORE");
        let before = execute(REVISION, &ones).gas_used;
        let mut expected = before + 3 + 3 + 2 + 2 + 1 + 3 * limbs.div_ceil(4) + t1[at];
        let mut text = format!("{ones} 1 {} 0 0 SETMODX", 8 * limbs - 7); // the smallest size of this width
        assert_eq!(execute(REVISION, &text).gas_used, expected, "SETMODX, {limbs} limbs");
        for (name, table) in [("ADDMODX", t2), ("SUBMODX", t2), ("MULMODX", t3)] {
            text += &format!(" {name} .00010000000001");
            expected += table[at];
            assert_eq!(execute(REVISION, &text).gas_used, expected, "{name}, {limbs} limbs");
        }
        text += " 1 0 0 LOADX 1 0 0 STOREX";
        expected += 2 * (3 + 2 + 2 + 1 + t3[at]);
        assert_eq!(execute(REVISION, &text).gas_used, expected, "LOADX and STOREX, {limbs} limbs");
    }
}

#[test]
fn power_of_two_moduli_are_copied_by_the_word() {
    let set = "4 0 MSTORE8 8 1 0 0 SETMODX 0 0 MSTORE8 0 32 MSTORE8"; // no T1; 2 words of slots
    let before = execute(REVISION, set);
    assert_eq!(before.gas_used, (3 + 2 + 3 + 3) + (3 + 3 + 2 + 2 + 1 + 6) + (2 + 2 + 3) + (2 + 3 + 3 + 3));
    for (count, words) in [(1, 1), (4, 1), (5, 2), (8, 2)] {
        for name in ["LOADX", "STOREX"] {
            let outcome = execute(REVISION, &format!("{set} {count} 0 0 {name}"));
            assert_eq!(outcome.gas_used - before.gas_used, 3 + 2 + 2 + 1 + 3 * words, "{name} {count}");
        }
    }
    let outcome = execute(REVISION, &format!("{set} MULMODX .00010001000108"));
    assert_eq!(outcome.gas_used - before.gas_used, 8); // arithmetic by the same table
}

/// Cmem of the yellow paper.
fn cmem(words: u64) -> u64 {
    3 * words + words * words / 512
}

#[test]
fn slots_count_as_memory_in_every_growth() {
    // 256 slots of 96 bytes are R = 768 words, so the quadratic part is far from small.
    let ones = format!("{MAX} 0 MSTORE {MAX} 32 MSTORE {MAX} 64 MSTORE");
    let set = format!("{ones} 256 96 0 0 SETMODX");
    let before = execute(REVISION, &ones).gas_used;
    let after = execute(REVISION, &set);
    assert_eq!(after.gas_used - before, 3 + 3 + 2 + 2 + 1 + cmem(3 + 768) - cmem(3) + 58);
    assert_eq!(after.memory.len(), 96); // MSIZE does not see slots

    let growth = cmem(100 + 768) - cmem(3 + 768);
    assert_ne!(growth, cmem(100) - cmem(3));
    for (text, gas) in [
        ("3168 MLOAD", 3 + 3),
        ("0 3168 MSTORE", 2 + 3 + 3),
        ("0 3199 MSTORE8", 2 + 3 + 3),
        ("1 0 3199 CALLDATACOPY", 3 + 2 + 3 + 3 + 3),
        ("1 0 3199 CODECOPY", 3 + 2 + 3 + 3 + 3),
        ("1 0 3199 MCOPY", 3 + 2 + 3 + 3 + 3),
        ("1 3199 0 MCOPY", 3 + 3 + 2 + 3 + 3),
        ("1 3199 KECCAK256", 3 + 3 + 30 + 6),
        ("1 3199 RETURN", 6),
        ("1 3199 REVERT", 6),
    ] {
        let outcome = execute(REVISION, &format!("{set} {text}"));
        assert_eq!(outcome.gas_used - after.gas_used, gas + growth, "{text}");
        assert_eq!(outcome.memory.len(), 3200, "{text}");
    }
}

#[test]
fn slot_bytes_of_all_contexts_are_summed_before_they_are_rounded() {
    // Four contexts of one 8-byte slot: one word in all. Modulus 4 has no T1.
    let text = "4 0 MSTORE8 1 1 0 1 SETMODX 1 1 0 2 SETMODX 1 1 0 3 SETMODX 1 1 0 4 SETMODX";
    assert_eq!(execute(REVISION, text).gas_used, 11 + 4 * (3 + 3 + 2 + 3 + 1) + 3);
    assert_eq!(execute(REVISION, &format!("{text} 1 1 0 5 SETMODX")).gas_used, 11 + 5 * 12 + 6);
}

#[test]
fn jumps_into_immediates_are_invalid() {
    // 11 0 MSTORE8 8 1 0 0 SETMODX is 11 bytes; ADDMODX stands at 11, its immediate at 12..19.
    let set = "11 0 MSTORE8 8 1 0 0 SETMODX";
    assert_eq!(assemble(revision(REVISION).0, set).len(), 11);
    check_halt(REVISION, &format!("{set} ADDMODX .00010001000101 PUSH1 .15 JUMP JUMPDEST"), "invalid_jump"); // 21 is JUMP
    check_halt(REVISION, &format!("{set} ADDMODX .00010001000101 PUSH1 .16 JUMP JUMPDEST"), "stop");
    // A 5b as y_idx (91 ≥ 8 slots) is never executed; jumping to it is invalid.
    check_halt(REVISION, "PUSH1 .08 JUMP ADDMODX .000100015b0101 JUMPDEST", "invalid_jump");
    check_halt(REVISION, "PUSH1 .0b JUMP ADDMODX .000100015b0101 JUMPDEST", "stop");
    // Seven bytes of 5b, all skipped, and a push opcode in the last must not hide what follows.
    check_halt(REVISION, "PUSH1 .0b JUMP MULMODX .5b5b5b5b5b5b7f JUMPDEST", "stop");
    // Under a revision without immediates the same byte is a jumpdest.
    check_halt("evm384-v7", "PUSH1 .08 JUMP ADDMOD384 .000100015b0101", "stack_underflow"); // of the ADD after it
}

#[test]
fn truncated_immediates_are_invalid() {
    for size in 0..7 {
        let code = format!("11 0 MSTORE8 8 1 0 0 SETMODX ADDMODX .{}", "00010001000101".get(..2 * size).unwrap());
        check_halt(REVISION, &code, "invalid_instruction");
    }
    // Before the context and before any gas.
    let (revision, prices) = revision(REVISION);
    let outcome = run(revision, &prices, &Env::default(), &[0xc5, 0, 1], &[], 0);
    assert_eq!(outcome.halt.name(), "invalid_instruction");
}

#[test]
fn order_of_checks_against_gas() {
    for (gas, text, halt) in [
        (0, "SETMODX", "stack_underflow"),
        (8, "0 0 0 0 SETMODX", "out_of_gas"),        // base before operand checks
        (9, "0 0 0 0 SETMODX", "slot_out_of_range"), // alloc_count 0
        (6, "0 0 0 LOADX", "out_of_gas"),
        (7, "0 0 0 LOADX", "no_context"),
        (0, "ADDMODX .00010001000101", "no_context"), // base 0
    ] {
        assert_eq!(execute_with(REVISION, text, &[], gas).halt.name(), halt, "{text} with {gas} gas");
    }
    // A value out of range is found before the dynamic gas is missed.
    let text = prelude() + "11 7 MSTORE8 8 0 0 STOREX";
    let enough = execute(REVISION, &(prelude() + "10 7 MSTORE8 8 0 0 STOREX")).gas_used;
    assert_eq!(execute_with(REVISION, &text, &[], enough - 1).halt.name(), "value_out_of_range");
    assert_eq!(execute_with(REVISION, &text, &[], enough - 8).halt.name(), "value_out_of_range");
    assert_eq!(execute_with(REVISION, &text, &[], enough - 9).halt.name(), "out_of_gas");
}

#[test]
fn prices_are_handed_in() {
    let (revision, own) = revision(REVISION);
    let dear = Prices { mul: ByWidth(vec![1000]), ..own.clone() };
    let code = assemble(revision, &(prelude() + "MULMODX .00010001000103"));
    let gas = |prices| run(revision, prices, &Env::default(), &code, &[], GAS).gas_used;
    assert_eq!(gas(&dear) - gas(&own), 3 * 999);
    // A width without a price is no verdict.
    let none = Prices { mul: ByWidth(vec![]), ..own };
    assert_eq!(run(revision, &none, &Env::default(), &code, &[], GAS).halt.to_string(), "unpriced 0xc5");
}
