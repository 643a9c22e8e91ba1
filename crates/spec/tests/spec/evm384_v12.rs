//! `evm384-v12`: the modulus of the frame, its length, the marker.

use super::{check_halt, execute};
use num_bigint::BigUint;

const REVISION: &str = "evm384-v12";

/// m = 11 at 0, 9 at 32, 5 at 64, of `size` bytes each; then out = 96.
fn operate(mnemonic: &str, size: usize) -> BigUint {
    let set = format!("11 0 MSTORE8 9 32 MSTORE8 5 64 MSTORE8 {size} 0 SETMOD 0 0 MSTORE8");
    let outcome = execute(REVISION, &format!("{set} {mnemonic} .65600020004000"));
    assert_eq!(outcome.halt.name(), "stop");
    let result = BigUint::from_bytes_le(&outcome.memory[96..]);
    assert!(result.bits() <= 8 * size as u64);
    result
}

#[test]
fn values_have_the_length_of_the_modulus() {
    for size in [1, 3, 7, 8, 9, 24, 31, 32] {
        assert_eq!(operate("ADDMODMONT", size), 3u8.into());
        assert_eq!(operate("SUBMODMONT", size), 4u8.into());
        // x·y = 45 = 1 mod 11, so the product is 2^(−8·size) mod 11, and 2¹⁰ = 1.
        let inverse_of_r = (0..8 * size).fold(1u64, |power, _| power * 6 % 11);
        assert_eq!(operate("MULMODMONT", size), inverse_of_r.into(), "{size}");
    }
}

#[test]
fn an_even_modulus_gives_the_upper_half_of_the_product() {
    // N = 6, one byte: 200·200 = 156·256 + 64, less 6 once.
    let text = "6 0 MSTORE8 200 1 MSTORE8 1 0 SETMOD MULMODMONT .65020001000100";
    assert_eq!(execute(REVISION, text).memory[2], 150);
}

#[test]
fn setmod_grows_memory_and_costs_139() {
    let outcome = execute(REVISION, "48 16 SETMOD");
    assert_eq!((outcome.gas_used, outcome.memory.len()), (6 + 139 + 6, 64));
    let outcome = execute(REVISION, "48 16 SETMOD ADDMODMONT .65110000000000");
    assert_eq!((outcome.gas_used, outcome.memory.len()), (6 + 139 + 6 + 2 + 3, 96));
    let outcome = execute(REVISION, "48 16 SETMOD MULMODMONT .65000000000000");
    assert_eq!(outcome.gas_used, 6 + 139 + 6 + 6);
}

#[test]
fn without_a_modulus_nothing_happens() {
    let outcome =
        execute(REVISION, "MULMODMONT .65ffffffffffff 0 0xffffffffffffffffffffffff SETMOD ADDMODMONT .65000000000000");
    assert_eq!((outcome.halt.name(), outcome.memory.len(), outcome.gas_used), ("stop", 0, 6 + 2 + 3 + 139 + 2));
}

#[test]
fn the_marker_belongs_to_the_instruction() {
    check_halt(REVISION, "ADDMODMONT .64000000000000", "invalid_instruction");
    check_halt(REVISION, "ADDMODMONT .650000000000", "invalid_instruction");
    check_halt(REVISION, "3 JUMP ADDMODMONT .655b0000000000", "invalid_jump");
    check_halt(REVISION, "4 JUMP ADDMODMONT .5b5b0000000000", "invalid_jump");
    check_halt(REVISION, "11 JUMP ADDMODMONT .655b00000000005b", "stop");
    check_halt(REVISION, "1 SETMOD", "stack_underflow");
    check_halt(REVISION, "1 0xffffffffffffffffff SETMOD", "out_of_gas");
}

#[test]
fn a_modulus_of_more_than_48_bytes_is_refused_before_memory_grows() {
    check_halt(REVISION, "48 0 SETMOD", "stop");
    check_halt(REVISION, "49 0 SETMOD", "invalid_modulus");
    check_halt(REVISION, "0xffffffffffffffffff 1 SETMOD", "invalid_modulus");
    check_halt(REVISION, "49 0xffffffffffffffffff SETMOD", "invalid_modulus");
    check_halt(REVISION, "48 0xffffffffffffffffff SETMOD", "out_of_gas");
}
