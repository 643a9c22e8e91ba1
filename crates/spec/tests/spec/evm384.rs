//! The versions of EVM384 by their own encodings: operands, growth, halts, computed by hand.

use super::{check_halt, execute};
use num_bigint::BigUint;

/// Code that writes 48 bytes with one non-zero byte, and grows memory to 96 bytes after `offset`.
fn store(value: u8, offset: usize) -> String {
    format!("{value} {offset} MSTORE8 0 {} MSTORE ", offset + 64)
}

/// m = 11 with r_inv, x = 9, y = 5 at three offsets.
fn operands(m: usize, x: usize, y: usize) -> String {
    let r_inv = 0xd174_5d17_45d1_745d_u64; // −11⁻¹ mod 2⁶⁴
    assert_eq!(r_inv.wrapping_mul(11), u64::MAX);
    let r_inv = r_inv.to_le_bytes().into_iter().zip(m + 48..).map(|(byte, at)| format!("{byte} {at} MSTORE8 "));
    [store(11, m), r_inv.collect::<String>(), store(9, x), store(5, y)].concat()
}

/// R⁻¹ = 2^−384 mod 11: 2¹⁰ = 1, so 2^−384 = 2^−4 = 2⁶ = 9, and 9·5·9 = 9 mod 11.
const RESULTS: [(&str, u8); 3] = [("ADDMOD384", 3), ("SUBMOD384", 4), ("MULMODMONT384", 9)];

/// Each version computes on operands at 960, 1056 and 1152 with its result at `out`.
#[track_caller]
fn check(revision: &str, out: usize, instruction: impl Fn(&str) -> String) {
    for (mnemonic, expected) in RESULTS {
        let text = operands(960, 1056, 1152) + &store(0, 1248) + &instruction(mnemonic);
        let outcome = execute(revision, &text);
        assert_eq!(outcome.halt.name(), "stop", "{revision} {mnemonic}");
        let value = BigUint::from_bytes_le(&outcome.memory[out..out + 48]);
        assert_eq!(value, expected.into(), "{revision} {mnemonic}");
    }
}

#[test]
fn operands_are_words_packed_or_immediate() {
    let r_inv = |mnemonic: &str| if mnemonic == "MULMODMONT384" { "0xd1745d1745d1745d " } else { "" };
    check("evm384-v1", 1056, |mnemonic| format!("{}960 1152 1056 {mnemonic}", r_inv(mnemonic)));
    for revision in ["evm384-v2", "evm384-v3"] {
        check(revision, 1248, |mnemonic| format!("{}960 1152 1056 1248 {mnemonic}", r_inv(mnemonic)));
    }
    check("evm384-v10", 1248, |mnemonic| format!("0x001a001600180014 {mnemonic}"));
    check("evm384-v10", 1248, |mnemonic| format!("0xffff001a001600180014 {mnemonic}"));
    check("evm384-v9", 1248, |mnemonic| format!("{mnemonic} .e00400002004000080040000c0030000"));
}

#[test]
fn version_6_has_its_modulus_after_256_slots() {
    for (mnemonic, expected) in RESULTS {
        let set = operands(12288, 48, 96).replace(" 0 12352 MSTORE", "");
        let outcome = execute("evm384-v6", &format!("{set} 0xffff030102 {mnemonic}"));
        assert_eq!((outcome.memory[144], outcome.memory.len()), (expected, 12352), "{mnemonic}");
        let outcome = execute("evm384-v6", &format!("0 {mnemonic}"));
        let base = if mnemonic == "MULMODMONT384" { 24 } else { 8 };
        assert_eq!((outcome.memory.len(), outcome.gas_used), (12352, 2 + base + 1449), "{mnemonic}");
    }
}

#[test]
fn versions_4_and_5_have_one_field() {
    for revision in ["evm384-v4", "evm384-v5"] {
        // 0 − 9 = p − 9, so the lowest byte is ab − 9.
        let outcome = execute(revision, &format!("{} 48 96 0 SUBMOD384", store(9, 48)));
        assert_eq!((outcome.halt.name(), outcome.memory[0], outcome.memory[47]), ("stop", 0xa2, 0x1a));
        // 2³⁸⁴·1 mod p, by a Montgomery product of 1 with R² mod p, is R mod p: twice the way out of it gives 1.
        let r = "760900000002fffd ebf4000bc40c0002 5f48985753c758ba 77ce585370525745 5c071a97a256ec6d 15f65ec3fa80e493";
        let limbs = r.split(' ').zip((0..).step_by(8));
        let bytes = limbs.flat_map(|(limb, at)| {
            let bytes = u64::from_str_radix(limb, 16).unwrap().to_le_bytes();
            bytes.into_iter().zip(at..).map(|(byte, at)| format!("{byte} {at} MSTORE8 "))
        });
        let text = bytes.collect::<String>() + &store(1, 48) + "48 0 96 MULMODMONT384";
        let outcome = execute(revision, &text);
        assert_eq!(BigUint::from_bytes_le(&outcome.memory[96..144]), 1u8.into(), "{revision}");
    }
}

#[test]
fn version_8_is_big_endian() {
    for (mnemonic, expected) in RESULTS {
        let set = "11 47 MSTORE8 0xd1745d1745d1745d000000000000000000000000000000000000000000000000 48 MSTORE \
                   9 143 MSTORE8 5 191 MSTORE8";
        let outcome = execute("evm384-v8", &format!("{set} 0xc0000000600000009000000000 {mnemonic}"));
        assert_eq!(BigUint::from_bytes_be(&outcome.memory[192..240]), expected.into(), "{mnemonic}");
    }
}

#[test]
fn version_0_computes_on_pairs_of_words() {
    let first = |value: u8| format!("0x{value:02x}{} ", "00".repeat(31));
    let junk = "0xffffffffffffffffffffffffffffffff "; // the 16 bytes after a value
    let after = format!("0x{}{}{} ", "00".repeat(16), "5d74d145175d74d1", "ff".repeat(8));
    for (mnemonic, expected) in RESULTS {
        let text = format!("{after}{}{junk}{}{junk}{}{mnemonic} 0 MSTORE 32 MSTORE", first(11), first(5), first(9));
        let outcome = execute("evm384-v0", &text);
        let mut bytes = [0; 64];
        bytes[0] = expected;
        assert_eq!((outcome.halt.name(), &outcome.memory[..]), ("stop", &bytes[..]), "{mnemonic}");
        check_halt("evm384-v0", &format!("1 2 3 4 5 {mnemonic}"), "stack_underflow");
    }
}

#[test]
fn memory_grows_to_the_highest_offset_and_48() {
    for (revision, text, bytes) in [
        ("evm384-v1", "0 16 16 ADDMOD384", 64),
        ("evm384-v1", "0 0 17 ADDMOD384", 96),
        ("evm384-v1", "1 0 0 16 MULMODMONT384", 64), // no 8 bytes more: r_inv is not in memory
        ("evm384-v2", "17 0 0 0 ADDMOD384", 96),
        ("evm384-v2", "1 16 0 0 0 MULMODMONT384", 64),
        ("evm384-v4", "0 0 17 MULMODMONT384", 96),
        ("evm384-v8", "16 ADDMOD384", 64),
        ("evm384-v8", "9 MULMODMONT384", 96),
        ("evm384-v9", "ADDMOD384 .10000000000000000000000000000000", 64),
        ("evm384-v9", "MULMODMONT384 .09000000000000000000000000000000", 96),
    ] {
        let outcome = execute(revision, text);
        assert_eq!((outcome.halt.name(), outcome.memory.len()), ("stop", bytes), "{revision} {text}");
    }
}

#[test]
fn what_lies_out_of_reach_halts() {
    let max = "0xffffffff";
    for (revision, text, halt) in [
        ("evm384-v1", format!("0 0 {max} ADDMOD384"), "out_of_gas"),
        ("evm384-v1", "0 0 0x100000000 ADDMOD384".to_owned(), "out_of_gas"),
        ("evm384-v1", "0x10000000000000000 0 0 0 MULMODMONT384".to_owned(), "out_of_gas"),
        ("evm384-v1", "0xffffffffffffffff 0 0 0 MULMODMONT384".to_owned(), "stop"),
        ("evm384-v1", "0 0 0 MULMODMONT384".to_owned(), "stack_underflow"),
        ("evm384-v2", "0 0 0 0 MULMODMONT384".to_owned(), "stack_underflow"),
        ("evm384-v2", "0x100000000 0 0 0 ADDMOD384".to_owned(), "out_of_gas"),
        ("evm384-v3", "0 0 0 0 ADDMOD384".to_owned(), "memory_out_of_range"),
        ("evm384-v3", "0 32 MSTORE 16 16 16 16 ADDMOD384".to_owned(), "stop"),
        ("evm384-v3", "0 32 MSTORE 16 16 16 17 ADDMOD384".to_owned(), "memory_out_of_range"),
        ("evm384-v3", "0 32 MSTORE 0x100000000 0 0 0 ADDMOD384".to_owned(), "memory_out_of_range"),
        ("evm384-v3", "0x10000000000000000 0 0 0 0 MULMODMONT384".to_owned(), "out_of_gas"),
        ("evm384-v5", "0 0 0 ADDMOD384".to_owned(), "memory_out_of_range"),
        ("evm384-v5", "0 32 MSTORE 16 16 16 MULMODMONT384".to_owned(), "stop"),
        // 96 bytes: slot 0 ends at 48 and slot 1 at 96, which is not before the last byte.
        ("evm384-v10", "0 64 MSTORE 0x0001 ADDMOD384".to_owned(), "memory_out_of_range"),
        ("evm384-v10", "0 96 MSTORE 0x0001 ADDMOD384".to_owned(), "stop"),
        ("evm384-v10", "0 ADDMOD384".to_owned(), "memory_out_of_range"),
        ("evm384-v9", "ADDMOD384 .000000000000000000000000000000".to_owned(), "invalid_instruction"),
        ("evm384-v9", format!("ADDMOD384 .000000000000000000000000{}", &max[2..]), "out_of_gas"),
        ("evm384-v9", "9 JUMP ADDMOD384 .0000000000005b0000000000000000005b".to_owned(), "invalid_jump"),
    ] {
        check_halt(revision, &text, halt);
    }
}
