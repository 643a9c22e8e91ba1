//! `x-383`: which moduli halt and when, and that everything else is version 9 of EVM384.

use super::{check_halt, execute, execute_with};
use num_bigint::BigUint;
use residue_spec::word::two_to;

const REVISION: &str = "x-383";
const MNEMONICS: [&str; 3] = ["ADDMOD384", "SUBMOD384", "MULMODMONT384"];

/// Memory offsets of the operands.
const M: usize = 0;
const X: usize = 64;
const Y: usize = 112;
const OUT: usize = 160;

fn store(value: &BigUint, size: usize, offset: usize) -> String {
    let mut bytes = value.to_bytes_le();
    bytes.resize(size, 0);
    bytes.iter().enumerate().map(|(i, byte)| format!("{byte} {} MSTORE8 ", offset + i)).collect()
}

fn instruction(mnemonic: &str, offsets: [usize; 4]) -> String {
    let bytes = offsets.iter().flat_map(|&offset| u32::try_from(offset).unwrap().to_le_bytes());
    let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    format!("{mnemonic} .{digits}")
}

/// One instruction under m; the first operand may be long.
fn program(mnemonic: &str, m: &BigUint, x: &BigUint) -> String {
    let y = two_to(380) + 77u8;
    let values = [store(m, 48, M), store(&3u8.into(), 8, M + 48), store(x, 48, X), store(&y, 48, Y)];
    values.concat() + &instruction(mnemonic, [OUT, X, Y, M])
}

#[test]
fn a_modulus_whose_top_bit_is_set_halts_every_instruction() {
    for m in [two_to(383), two_to(383) + 1u8, two_to(384) - 317u16, two_to(384) - 1u8] {
        for mnemonic in MNEMONICS {
            check_halt(REVISION, &program(mnemonic, &m, &5u8.into()), "invalid_modulus");
            check_halt("evm384-v9", &program(mnemonic, &m, &5u8.into()), "stop");
        }
    }
}

#[test]
fn under_any_other_modulus_it_is_version_9_whatever_the_operands_are() {
    let one = BigUint::from(1u8);
    let moduli = [
        BigUint::ZERO,
        one.clone(),
        2u8.into(),
        11u8.into(),
        two_to(256) - 2u8,
        two_to(381) - 1u8,
        two_to(382),
        two_to(383) - 1u8,
    ];
    for m in moduli {
        for x in [BigUint::ZERO, one.clone(), m.clone(), two_to(383), two_to(384) - 1u8] {
            for mnemonic in MNEMONICS {
                let text = program(mnemonic, &m, &x);
                let [ours, theirs] = [REVISION, "evm384-v9"].map(|revision| execute(revision, &text));
                assert_eq!(ours.halt.name(), "stop", "{mnemonic} modulo {m}");
                assert_eq!(ours.memory, theirs.memory, "{mnemonic} of {x} modulo {m}");
                assert_eq!(ours.gas_used, theirs.gas_used, "whole gas hides the price");
            }
        }
    }
}

#[test]
fn gas_operands_and_memory_come_before_the_modulus() {
    // The byte with the top bit of a modulus at 0; memory has 64 bytes.
    let long = "128 47 MSTORE8 ";
    check_halt(REVISION, &format!("{long}ADDMOD384 .{}", "00".repeat(15)), "invalid_instruction");
    check_halt(
        REVISION,
        &format!("{long}{}", instruction("ADDMOD384", [usize::try_from(u32::MAX).unwrap(), 0, 0, 0])),
        "out_of_gas",
    );
    check_halt(REVISION, &format!("{long}{}", instruction("ADDMOD384", [0; 4])), "invalid_modulus");
    // Growth to 128 bytes and the base price: what is there is enough for both, or ends the frame before.
    let text = format!("{long}{}", instruction("SUBMOD384", [80, 0, 0, 0]));
    let enough = 3 + 3 + 3 + 6 + 8 + 6;
    for (gas, halt) in [(enough - 1, "out_of_gas"), (enough, "invalid_modulus")] {
        assert_eq!(execute_with(REVISION, &text, &[], gas).halt.name(), halt, "{gas} gas");
    }
}

#[test]
fn the_modulus_is_looked_at_where_it_is_read_and_before_a_result_goes_there() {
    // A result in the place of the modulus: 1 − 2 is below 2³⁸³ modulo 2³⁸³ − 1 and not modulo 0; the next instruction finds it there.
    let first = |m: &BigUint| {
        let values = [store(m, 48, M), store(&1u8.into(), 48, X), store(&2u8.into(), 48, Y)];
        values.concat() + &instruction("SUBMOD384", [M, X, Y, M])
    };
    let twice = |m: &BigUint| format!("{} {}", first(m), instruction("ADDMOD384", [OUT, X, Y, M]));
    for (m, halt) in [(two_to(383) - 1u8, "stop"), (BigUint::ZERO, "invalid_modulus")] {
        check_halt(REVISION, &first(&m), "stop");
        check_halt(REVISION, &twice(&m), halt);
    }
}
