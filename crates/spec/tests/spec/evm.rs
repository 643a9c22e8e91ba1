//! The EVM's own opcodes: their results on the stack and their gas.

use super::{GAS, assemble, check_halt, execute, execute_with, revision, unhex};
use num_bigint::BigUint;
use residue_spec::{Env, evm, run};

/// Any revision: none of these cases uses a field opcode.
const REVISION: &str = "evm384-v7";

/// 2²⁵⁶ − 1.
const MAX: &str = "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

/// −2²⁵⁵.
const MIN: &str = "0x8000000000000000000000000000000000000000000000000000000000000000";

/// `text` leaves `expected` on the top of the stack.
#[track_caller]
fn check(text: &str, expected: &str) {
    let (text, expected) = (fill(text), fill(expected));
    let outcome = execute(REVISION, &format!("{text} 0 MSTORE 32 0 RETURN"));
    assert_eq!(outcome.halt.name(), "return", "{text}");
    let (digits, radix) = expected.strip_prefix("0x").map_or((&*expected, 10), |hex| (hex, 16));
    let expected = BigUint::parse_bytes(digits.as_bytes(), radix).unwrap();
    assert_eq!(BigUint::from_bytes_be(&outcome.output), expected, "{text}");
}

fn fill(text: &str) -> String {
    text.replace("MAX", MAX).replace("MIN", MIN)
}

/// `text` charges `gas` and ends by `halt`.
#[track_caller]
fn check_gas(text: &str, halt: &str, gas: u64) {
    let text = fill(text);
    let outcome = execute(REVISION, &text);
    assert_eq!((outcome.halt.name(), outcome.gas_used, outcome.gas_left), (halt, gas, GAS - gas), "{text}");
}

#[test]
fn arithmetic_wraps_and_division_by_zero_is_zero() {
    for (text, expected) in [
        ("3 MAX ADD", "2"),
        ("3 MAX MUL", "0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffd"),
        ("5 3 SUB", "0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe"),
        ("3 5 SUB", "2"),
        ("3 17 DIV", "5"),
        ("0 17 DIV", "0"),
        ("2 3 0 SUB SDIV", MAX), // −3 / 2 = −1
        ("MAX MIN SDIV", MIN),   // −2²⁵⁵ / −1 wraps
        ("0 5 SDIV", "0"),
        ("5 17 MOD", "2"),
        ("0 17 MOD", "0"),
        ("3 17 0 SUB SMOD", "0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe"), // −17 smod 3 = −2
        ("3 0 SUB 17 SMOD", "2"),
        ("0 17 SMOD", "0"),
        ("7 MAX MAX ADDMOD", "2"), // 2·(2²⁵⁶ − 1) mod 7, and 2²⁵⁶ = 2 mod 7
        ("0 3 4 ADDMOD", "0"),
        ("7 MAX MAX MULMOD", "1"),
        ("0 3 4 MULMOD", "0"),
        ("10 2 EXP", "1024"),
        ("0 0 EXP", "1"),
        ("256 2 EXP", "0"),
        ("MAX 3 EXP", "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), // 3⁻¹, as 3 has order 2²⁵⁴
        ("0xff 0 SIGNEXTEND", MAX),
        ("0x017f 0 SIGNEXTEND", "0x7f"),
        ("0x8001 1 SIGNEXTEND", "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff8001"),
        ("MIN 31 SIGNEXTEND", MIN),
        ("0xff MAX SIGNEXTEND", "0xff"),
    ] {
        check(text, expected);
    }
}

#[test]
fn comparisons_and_bits() {
    for (text, expected) in [
        ("2 1 LT", "1"),
        ("1 2 LT", "0"),
        ("1 MAX LT", "0"),
        ("1 2 GT", "1"),
        ("2 2 GT", "0"),
        ("1 MAX SLT", "1"),
        ("MAX 1 SLT", "0"),
        ("MAX 1 SGT", "1"),
        ("MAX MIN SGT", "0"),
        ("7 7 EQ", "1"),
        ("7 8 EQ", "0"),
        ("0 ISZERO", "1"),
        ("7 ISZERO", "0"),
        ("0x0ff0 0x00ff AND", "0xf0"),
        ("0x0ff0 0x00ff OR", "0xfff"),
        ("0x0ff0 0x00ff XOR", "0xf0f"),
        ("0 NOT", MAX),
        ("MAX NOT", "0"),
        ("0xaabb 31 BYTE", "0xbb"),
        ("0xaabb 30 BYTE", "0xaa"),
        ("MIN 0 BYTE", "0x80"),
        ("MAX 32 BYTE", "0"),
        ("MAX MAX BYTE", "0"),
        ("1 255 SHL", MIN),
        ("3 255 SHL", MIN),
        ("1 256 SHL", "0"),
        ("MAX MAX SHL", "0"),
        ("MIN 255 SHR", "1"),
        ("MAX 256 SHR", "0"),
        ("9 1 SHR", "4"),
        ("MIN 255 SAR", MAX),
        ("MIN 256 SAR", MAX),
        ("MIN MAX SAR", MAX),
        ("9 1 SAR", "4"),
        ("9 256 SAR", "0"),
        ("3 0 SUB 1 SAR", "0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe"), // −3 ↦ −2
        ("0 CLZ", "256"),
        ("1 CLZ", "255"),
        ("MIN CLZ", "0"),
    ] {
        check(text, expected);
    }
}

#[test]
fn stack_code_and_counter() {
    for (text, expected) in [
        ("1 2 3 POP", "2"),
        ("PUSH0 ISZERO", "1"),
        ("PUSH2 .0102", "0x0102"),
        (
            "PUSH32 .0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
            "0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
        ),
        ("1 2 DUP2", "1"),
        ("16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 DUP16", "16"),
        ("17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 SWAP16", "17"),
        ("5 6 SWAP1 SUB", "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"), // 5 − 6
        ("JUMPDEST PC", "1"),
        ("MSIZE", "0"),
        ("0 MLOAD MSIZE", "32"),
        ("1 MLOAD MSIZE", "64"),
        ("0 31 MSTORE8 MSIZE", "32"),
        ("CODESIZE", "7"), // `check` adds six bytes
        ("GAS", "999999998"),
        ("RETURNDATASIZE", "0"),
        ("0xabcd 0 MSTORE 31 MLOAD", "0xcd00000000000000000000000000000000000000000000000000000000000000"),
        ("0xabcd 0 MSTORE8 0 MLOAD", "0xcd00000000000000000000000000000000000000000000000000000000000000"),
        ("PUSH1 .04 JUMP INVALID JUMPDEST 7", "7"),
    ] {
        check(text, expected);
    }
}

#[test]
fn hashing() {
    check("0 0 KECCAK256", "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    check("0 MAX KECCAK256", "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    check("32 0 KECCAK256", "0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563");
}

#[test]
fn surroundings() {
    let (revision, prices) = revision(REVISION);
    let env = Env { address: [0xaa; 20], caller: [0xbb; 20], call_value: 77u8.into(), ..Env::default() };
    let text = "ADDRESS 0 MSTORE CALLER 32 MSTORE CALLVALUE 64 MSTORE 96 0 RETURN";
    let outcome = run(revision, &prices, &env, &assemble(revision, text), &[], GAS);
    let zeros = "00".repeat(12);
    let expected = format!("{zeros}{}{zeros}{}{}4d", "aa".repeat(20), "bb".repeat(20), "00".repeat(31));
    assert_eq!(outcome.output, unhex(&expected));
}

#[test]
fn input_and_code_are_zero_beyond_their_ends() {
    let input = unhex("0102030405");
    for (text, expected) in [
        ("CALLDATASIZE 0 MSTORE 31 MLOAD 0 MSTORE 1 0 RETURN", "05"),
        ("3 CALLDATALOAD 0 MSTORE 3 0 RETURN", "040500"),
        ("0x010000000000000000 CALLDATALOAD 0 MSTORE 1 0 RETURN", "00"),
        ("4 2 1 CALLDATACOPY 6 0 RETURN", "000304050000"),
        ("4 0x010000000000000000 0 CALLDATACOPY 2 0 RETURN", "0000"),
        ("4 6 0 CODECOPY 4 0 RETURN", "60045ff3"),
        ("3 9 0 CODECOPY 3 0 RETURN", "f30000"),
    ] {
        // Both CODECOPY programs are 10 bytes, of which they read the last.
        let outcome = execute_with(REVISION, text, &input, GAS);
        assert_eq!((outcome.halt.name(), outcome.output), ("return", unhex(expected)), "{text}");
    }
}

#[test]
fn mcopy_handles_overlap() {
    let word = "0x0102030405060708000000000000000000000000000000000000000000000000 0 MSTORE";
    for (copy, expected) in [
        ("4 0 2 MCOPY", "0102010203040708"),
        ("4 2 0 MCOPY", "0304050605060708"),
        ("0 MAX MAX MCOPY", "0102030405060708"),
    ] {
        let outcome = execute(REVISION, &fill(&format!("{word} {copy} 8 0 RETURN")));
        assert_eq!(outcome.output, unhex(expected), "{copy}");
    }
}

#[test]
fn base_gas_is_osakas() {
    // Every opcode with enough zeros below it; what is left over does not matter. 0 costs 2 each.
    for opcode in evm::OPCODES {
        let name = opcode.mnemonic;
        let (halt, gas) = match name {
            "RETURN" => ("return", 0),
            "REVERT" => ("revert", 0),
            "JUMP" | "INVALID" => continue, // jump to 0 is invalid; both are exceptional
            "MLOAD" | "MSTORE" | "MSTORE8" => ("stop", 3 + 3),
            "KECCAK256" => ("stop", 30),
            "EXP" => ("stop", 10),
            "ADD" | "SUB" | "LT" | "GT" | "SLT" | "SGT" | "EQ" | "ISZERO" | "AND" | "OR" | "XOR" | "NOT" | "BYTE" => {
                ("stop", 3)
            }
            "SHL" | "SHR" | "SAR" | "CALLDATALOAD" | "CALLDATACOPY" | "CODECOPY" | "RETURNDATACOPY" | "MCOPY" => {
                ("stop", 3)
            }
            "MUL" | "DIV" | "SDIV" | "MOD" | "SMOD" | "SIGNEXTEND" | "CLZ" => ("stop", 5),
            "ADDMOD" | "MULMOD" => ("stop", 8),
            "JUMPI" => ("stop", 10),
            "JUMPDEST" => ("stop", 1),
            "STOP" => ("stop", 0),
            "ADDRESS" | "CALLER" | "CALLVALUE" | "CALLDATASIZE" | "CODESIZE" | "RETURNDATASIZE" => ("stop", 2),
            "POP" | "PC" | "MSIZE" | "GAS" | "PUSH0" => ("stop", 2),
            _ => panic!("{name} has no case"),
        };
        check_gas(&format!("0 0 0 0 {name}"), halt, 8 + gas);
    }
    check_gas("1", "stop", 3);
    check_gas("MAX", "stop", 3);
    check_gas("1 DUP1 SWAP1", "stop", 9);
    check_gas("PUSH1 .03 JUMP JUMPDEST", "stop", 12);
}

#[test]
fn dynamic_gas() {
    for (text, gas) in [
        ("1 2 EXP", 6 + 10 + 50),
        ("0xffff 2 EXP", 6 + 10 + 100),
        ("MAX 2 EXP", 6 + 10 + 1600),
        ("32 0 KECCAK256", 5 + 30 + 6 + 3),
        ("33 0 KECCAK256", 5 + 30 + 12 + 6),
        ("33 0 0 CALLDATACOPY", 7 + 3 + 6 + 6),
        ("32 0 0 CODECOPY", 7 + 3 + 3 + 3),
        ("32 32 0 MCOPY", 8 + 3 + 3 + 6),
        ("0 704 MSTORE", 5 + 3 + 70), // 23 words: 69 + ⌊529 / 512⌋
        ("0 32 MSTORE 0 0 MSTORE", 5 + 3 + 6 + 4 + 3),
    ] {
        check_gas(text, "stop", gas);
    }
    check_gas("33 0 RETURN", "return", 5 + 6);
    check_gas("33 0 REVERT", "revert", 5 + 6);
}

#[test]
fn prices_of_evm_opcodes_can_be_changed() {
    let (revision, mut prices) = revision(REVISION);
    prices.evm.insert(0x60, 1);
    let outcome = run(revision, &prices, &Env::default(), &assemble(revision, "1 2 ADD"), &[], GAS);
    assert_eq!(outcome.gas_used, 1 + 1 + 3);
}

#[test]
fn reverting_keeps_the_gas_and_the_output() {
    let outcome = execute(REVISION, "0xaa 0 MSTORE8 1 0 REVERT");
    assert_eq!((outcome.halt.name(), &*outcome.output, outcome.gas_used), ("revert", &[0xaa][..], 3 + 2 + 3 + 3 + 5));
    assert_eq!(outcome.memory.len(), 32);
}

#[test]
fn halts() {
    let full = "0 ".repeat(1024);
    for (text, halt) in [
        ("", "stop"),
        ("PUSH2 .01", "stop"),
        ("1 ADD", "stack_underflow"),
        ("DUP1", "stack_underflow"),
        ("1 DUP2", "stack_underflow"),
        ("1 SWAP1", "stack_underflow"),
        ("POP", "stack_underflow"),
        ("1 RETURN", "stack_underflow"),
        (&format!("{full} PUSH1 .01"), "stack_overflow"),
        (&format!("{full} DUP1"), "stack_overflow"),
        (&format!("{full} PC"), "stack_overflow"),
        (&format!("{full} ADD"), "stop"),
        ("INVALID", "invalid_instruction"),
        (".0c", "invalid_instruction"),
        (".4b", "invalid_instruction"),
        (".e6", "invalid_instruction"),
        (".ef", "invalid_instruction"),
        ("0 JUMP", "invalid_jump"),
        ("MAX JUMP", "invalid_jump"),
        ("1 MAX JUMPI", "invalid_jump"),
        ("0 MAX JUMPI", "stop"),
        ("PUSH1 .04 JUMP PUSH1 .5b", "invalid_jump"),
        ("1 0 0 RETURNDATACOPY", "other:OutOfOffset"),
        ("0 1 0 RETURNDATACOPY", "other:OutOfOffset"),
        ("0 0 MAX RETURNDATACOPY", "stop"),
        ("0x010000000000000000 0 0 RETURNDATACOPY", "out_of_gas"),
        ("MAX MLOAD", "out_of_gas"),
        ("1 MAX MSTORE8", "out_of_gas"),
        ("1 MAX RETURN", "out_of_gas"),
        ("0 MAX RETURN", "return"),
        ("MAX 0 0 CALLDATACOPY", "out_of_gas"),
        ("0 MAX MAX CALLDATACOPY", "stop"),
        ("1 MAX 0 MCOPY", "out_of_gas"),
        ("MAX 0 KECCAK256", "out_of_gas"),
    ] {
        check_halt(REVISION, &fill(text), halt);
    }
}

#[test]
fn what_needs_a_world_is_no_verdict() {
    for byte in ["31", "3f", "42", "4a", "54", "55", "5c", "5d", "a0", "a4", "f0", "f1", "f2", "f4", "f5", "fa", "ff"] {
        let outcome = execute(REVISION, &format!("0 .{byte}"));
        assert_eq!(outcome.halt.to_string(), format!("unsupported 0x{byte}"));
        assert!(!outcome.halt.is_verdict() && !outcome.halt.is_exceptional());
    }
}
