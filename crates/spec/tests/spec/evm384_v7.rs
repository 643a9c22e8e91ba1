//! `evm384-v7`: operands in memory, the formulas on operands of any kind, growth, prices.

use super::{GAS, assemble, check_halt, execute, execute_with, revision};
use num_bigint::BigUint;
use residue_spec::word::two_to;
use residue_spec::{Env, run};

const REVISION: &str = "evm384-v7";

/// Memory offsets of the operands.
const M: usize = 0;
const X: usize = 64;
const Y: usize = 112;
const OUT: usize = 160;

/// Code that writes the 48-byte value at `offset`, little-endian, byte by byte (for zero bytes too).
fn store(value: &BigUint, size: usize, offset: usize) -> String {
    let mut bytes = value.to_bytes_le();
    bytes.resize(size, 0);
    bytes.iter().enumerate().map(|(i, byte)| format!("{byte} {} MSTORE8 ", offset + i)).collect()
}

fn word(out: usize, x: usize, y: usize, modulus: usize) -> String {
    format!("0x{out:08x}{x:08x}{y:08x}{modulus:08x}")
}

/// The result of one instruction with operands at given places.
fn operate(mnemonic: &str, m: &BigUint, r_inv: u64, x: &BigUint, y: &BigUint) -> BigUint {
    let text = [
        store(m, 48, M),
        store(&r_inv.into(), 8, M + 48),
        store(x, 48, X),
        store(y, 48, Y),
        format!("{} {mnemonic}", word(OUT, X, Y, M)),
    ];
    let outcome = execute(REVISION, &text.concat());
    assert_eq!(outcome.halt.name(), "stop");
    BigUint::from_bytes_le(&outcome.memory[OUT..OUT + 48])
}

fn big(value: u64) -> BigUint {
    value.into()
}

#[test]
fn addition_and_subtraction_correct_once_and_never_halt() {
    let b = two_to(384);
    let max = &b - 1u8;
    for (mnemonic, m, x, y, expected) in [
        ("ADDMOD384", big(11), big(3), big(5), big(8)),
        ("ADDMOD384", big(11), big(6), big(5), big(0)),
        ("ADDMOD384", big(11), big(30), big(30), big(49)),
        ("ADDMOD384", big(0), max.clone(), big(2), big(1)),
        ("ADDMOD384", max.clone(), max.clone(), max.clone(), max.clone()),
        ("SUBMOD384", big(11), big(3), big(5), big(9)),
        ("SUBMOD384", big(11), big(11), big(0), big(11)),
        ("SUBMOD384", big(11), big(0), big(30), &b - 19u8),
        ("SUBMOD384", big(0), big(3), big(5), &b - 2u8),
        ("SUBMOD384", big(11), big(100), big(1), big(99)),
    ] {
        assert_eq!(operate(mnemonic, &m, 0, &x, &y), expected, "{mnemonic} {x} {y} mod {m}");
    }
}

#[test]
fn the_montgomery_product_is_the_formula_for_any_modulus_and_constant() {
    let b = two_to(384);
    let max = &b - 1u8;
    let minus_third = 0x5555_5555_5555_5555; // −3⁻¹ mod 2⁶⁴
    for (m, r_inv, x, y, expected) in [
        (big(3), minus_third, big(2), big(2), big(1)),
        (big(3), minus_third, big(2), big(1), big(2)),
        (big(0), 77, two_to(383), big(6), big(3)), // m = 0: ⌊x·y / B⌋
        (two_to(383), 0, two_to(383), two_to(383), two_to(382)), // even m, all uᵢ zero: x·y / B, below m
        // Even m: u₀ = 5, t = 1 + 5·2³⁸³, so limb 5 is 2⁶³ and u₅ = 2⁶³, t = 2⁷⁶⁶ + 5·2³⁸³ + 1.
        (two_to(383), 5, big(1), big(1), two_to(382) + 2u8),
        (big(7), 0, two_to(200), two_to(200), two_to(16) - 7u8), // wrong constant: ⌊2⁴⁰⁰ / B⌋, less m once
        (max.clone(), 1, max.clone(), max.clone(), big(0)),      // operands equal to m
    ] {
        assert_eq!(operate("MULMODMONT384", &m, r_inv, &x, &y), expected, "{x} {y} mod {m}");
    }
}

#[test]
fn all_operands_are_read_before_the_result_is_written() {
    let set = store(&big(11), 48, 0) + &store(&big(9), 48, 64);
    for (out, x, y, modulus, expected) in [
        (0, 64, 64, 0, 7),  // over the modulus
        (64, 64, 64, 0, 7), // over both operands
        (60, 64, 64, 0, 7), // partly over both
        (68, 64, 64, 0, 7),
    ] {
        let outcome = execute(REVISION, &format!("{set} {} ADDMOD384", word(out, x, y, modulus)));
        assert_eq!(BigUint::from_bytes_le(&outcome.memory[out..out + 48]), big(expected), "{out}");
    }
}

#[test]
fn upper_bits_of_the_word_are_ignored() {
    let set = store(&big(11), 48, 0) + &store(&big(9), 48, 64);
    let word = word(OUT, 64, 64, 0).replace("0x", "0xdeadbeefdeadbeefdeadbeefdeadbeef");
    let outcome = execute(REVISION, &format!("{set} {word} ADDMOD384"));
    assert_eq!(outcome.memory[OUT], 7);
}

#[test]
fn memory_grows_to_the_farthest_operand() {
    // (out, x, y, mod), bytes of memory after ADD or SUB, and after MUL.
    for (operands, linear_bytes, product_bytes) in [
        ((0, 0, 0, 0), 64, 64),
        ((0, 0, 0, 8), 64, 64),
        ((0, 0, 0, 9), 64, 96),
        ((16, 0, 0, 0), 64, 96),
        ((0, 16, 0, 0), 64, 96), // the product counts 56 bytes for every operand
        ((0, 0, 16, 0), 64, 96),
        ((0, 17, 0, 0), 96, 96),
        ((0, 0, 0, 0x0010_0000), 0x0010_0000 + 64, 0x0010_0000 + 64),
    ] {
        let (out, x, y, modulus) = operands;
        for (mnemonic, base, bytes) in
            [("ADDMOD384", 8, linear_bytes), ("SUBMOD384", 8, linear_bytes), ("MULMODMONT384", 24, product_bytes)]
        {
            let outcome = execute(REVISION, &format!("{} {mnemonic}", word(out, x, y, modulus)));
            let words = bytes as u64 / 32;
            assert_eq!((outcome.halt.name(), outcome.memory.len()), ("stop", bytes), "{mnemonic} {operands:?}");
            // A word with out = 0 is a shorter push, at the same gas, except zero itself.
            let push = if operands == (0, 0, 0, 0) { 2 } else { 3 };
            assert_eq!(outcome.gas_used, push + base + 3 * words + words * words / 512, "{mnemonic} {operands:?}");
        }
    }
}

#[test]
fn growth_beyond_the_ceiling_is_out_of_gas() {
    let ceiling = 64 << 20;
    let last = |mnemonic, offset: usize| {
        execute_with(REVISION, &format!("{} {mnemonic}", word(offset, 0, 0, 0)), &[], u64::MAX)
    };
    assert_eq!(last("ADDMOD384", ceiling - 48).memory.len(), ceiling);
    assert_eq!(last("MULMODMONT384", ceiling - 56).memory.len(), ceiling);
    for (mnemonic, offset) in [("ADDMOD384", ceiling - 47), ("MULMODMONT384", ceiling - 55), ("SUBMOD384", 0xffff_ffff)]
    {
        let outcome = last(mnemonic, offset);
        assert_eq!((outcome.halt.name(), outcome.gas_left), ("out_of_gas", 0));
    }
}

#[test]
fn logf_pops_three_and_costs_one() {
    let huge = "0x".to_owned() + &"ff".repeat(32);
    let outcome = execute(REVISION, &format!("7 {huge} {huge} {huge} LOGF 0 MSTORE"));
    assert_eq!((outcome.halt.name(), outcome.gas_used), ("stop", 12 + 1 + 2 + 3 + 3));
    assert_eq!(outcome.memory[31], 7);
    check_halt(REVISION, "1 1 LOGF", "stack_underflow");
}

#[test]
fn underflow_goes_before_base_gas() {
    for (gas, text, halt) in [
        (0, "ADDMOD384", "stack_underflow"),
        (0, "SUBMOD384", "stack_underflow"),
        (0, "MULMODMONT384", "stack_underflow"),
        (0, "LOGF", "stack_underflow"),
        (9, "0 ADDMOD384", "out_of_gas"),
        (15, "0 ADDMOD384", "out_of_gas"),
        (16, "0 ADDMOD384", "stop"),
        (0, "ADD", "out_of_gas"), // the EVM's own: base gas first
        (3, "ADD", "stack_underflow"),
    ] {
        assert_eq!(execute_with(REVISION, text, &[], gas).halt.name(), halt, "{text} with {gas} gas");
    }
}

#[test]
fn each_schedule_has_its_prices() {
    let (revision, evmone) = revision(REVISION);
    let named = |name: &str| revision.prices_named(name).unwrap();
    for (prices, add, sub, mul) in [
        (evmone, 8, 8, 24),
        (named("eip"), 3, 3, 6),
        (named("model-a"), 2, 2, 6),
        (named("model-b"), 1, 1, 3),
        (named("geth"), 2, 2, 2),
        (named("geth-logf"), 2, 2, 3),
    ] {
        for (mnemonic, gas) in [("ADDMOD384", add), ("SUBMOD384", sub), ("MULMODMONT384", mul)] {
            let code = assemble(revision, &format!("0 {mnemonic}"));
            let outcome = run(revision, &prices, &Env::default(), &code, &[], GAS);
            assert_eq!(outcome.gas_used, 2 + gas + 6, "{mnemonic} in {}", prices.name);
        }
        assert_eq!(revision.prices_named(&prices.name), Some(prices));
    }
}

#[test]
fn a_missing_price_is_no_verdict() {
    let (revision, mut prices) = revision(REVISION);
    prices.base.remove("ADDMOD384");
    let outcome = run(revision, &prices, &Env::default(), &assemble(revision, "0 ADDMOD384"), &[], GAS);
    assert_eq!(outcome.halt.to_string(), "unpriced 0xc0");
}
