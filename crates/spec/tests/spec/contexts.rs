//! The revisions with slots beside `eip6690-2024`: operands, elements, halts and gas, by hand. The modulus is 11 in one byte at
//! offset 0 unless a case says otherwise.

use super::{check_halt, execute};

/// Runs `text` and checks its output.
#[track_caller]
fn check_output(name: &str, text: &str, expected: &[u8]) {
    let outcome = execute(name, text);
    assert_eq!((outcome.halt.name(), &outcome.output[..]), ("return", expected), "{name}: {text}");
}

/// Gas of `text`, which stops.
#[track_caller]
fn check_gas(name: &str, text: &str, gas: u64) {
    let outcome = execute(name, text);
    assert_eq!((outcome.halt.name(), outcome.gas_used), ("stop", gas), "{name}: {text}");
}

/// 7 and 5 in two elements of 8 bytes at offset 0; zeros up to 32.
const ELEMENTS: &str = "0 0 MSTORE 7 7 MSTORE8 5 15 MSTORE8";

#[test]
fn each_revision_takes_its_own_operands() {
    // 7 and 5 in slots 0 and 1; slot 2 = 7 · 5 = 2 mod 11; returned from offset 64.
    for (name, set, store, mul, load) in [
        ("eip6601", "4 1 0 SETUPX .09", "2 0 0 STOREX", "MULMODX .020001", "1 2 64 LOADX"),
        ("eip6690-2023", "4 1 0 9 SETUPX", "2 0 0 STOREX", "MULMODX .020001", "1 2 64 LOADX"),
        ("evmone-2023", "4 1 0 SETUPX", "2 0 0 STOREX", "MULMODX .020001", "1 2 64 LOADX"),
        ("eip7747", "4 1 0 9 SETMODX", "2 0 0 STOREX", "MULMODX .020001", "1 2 64 LOADX"),
        ("evmone-2025", "4 1 0 SETMODX", "2 0 0 STOREX", "MULMODX .02000000010001", "1 2 64 LOADX"),
    ] {
        let text = format!("0 96 MSTORE 11 0 MSTORE8 {set} {ELEMENTS} {store} {mul} {load} 8 64 RETURN");
        check_output(name, &text, &[0, 0, 0, 0, 0, 0, 0, 2]);
    }
}

#[test]
fn go_ethereum_has_moduli_of_48_bytes_and_names_contexts() {
    let modulus = "0 96 MSTORE 11 47 MSTORE8 4 48 0 5 SETUPX";
    let values = "0 0 MSTORE 0 32 MSTORE 0 64 MSTORE 7 47 MSTORE8 5 95 MSTORE8";
    for (name, mul) in [("geth6601", "MULMODX .020001"), ("geth6601-push3", "MULMODX .62020001")] {
        let text = format!("{modulus} {values} 2 0 0 5 STOREX {mul} 1 2 0 5 LOADX 48 0 RETURN");
        check_output(name, &text, &[vec![0; 47], vec![2]].concat());
        check_halt(name, &format!("{modulus} 1 0 0 6 STOREX"), "no_context");
        check_halt(name, "11 0 MSTORE8 4 1 0 5 SETUPX", "invalid_modulus");
        check_halt(name, &format!("{modulus} 4 1000 0 5 LOADX"), "slot_out_of_range");
        check_halt(name, &format!("{modulus} 1 0 1000 5 LOADX"), "memory_out_of_range");
        // Base prices 1 each, no charge for slots: 4 words of memory 12, pushes and stores.
        check_gas(name, &format!("{modulus} {mul}"), (2 + 3 + 12 + 3) + (3 + 3 + 3) + (3 + 3 + 2 + 3 + 1) + 2);
    }
    check_halt("geth6601-push3", &format!("{modulus} MULMODX .63020001"), "invalid_instruction");
    check_halt("geth6601-push3", &format!("{modulus} MULMODX .620200"), "invalid_instruction");
}

#[test]
fn the_text_of_2023_grows_memory_for_loads_alone() {
    for name in ["eip6601", "eip6690-2023"] {
        let set = if name == "eip6601" { "4 1 0 SETUPX .00" } else { "4 1 0 0 SETUPX" };
        let set = format!("11 0 MSTORE8 {set}");
        assert_eq!(execute(name, &format!("{set} 1 0 100 LOADX MSIZE 0 MSTORE")).memory[31], 128);
        check_halt(name, &format!("{set} 1 100 0 STOREX"), "memory_out_of_range");
        check_halt(name, &format!("{set} {ELEMENTS} 11 7 MSTORE8 1 0 0 STOREX"), "value_out_of_range");
        check_halt(name, "0 9999 9999 LOADX 0 9999 9999 STOREX", "stop");
        // Four slots of one limb are one word: growth from one word to two.
        let pushes = if name == "eip6601" { 3 + 3 + 2 } else { 3 + 3 + 2 + 2 };
        check_gas(name, &set, (3 + 2 + 3 + 3) + pushes + 3 + 3);
    }
    // An id that is known keeps its slots and ignores the rest.
    check_halt("eip6690-2023", "11 0 MSTORE8 4 1 0 256 SETUPX 9999 9999 9999 256 SETUPX", "stop");
    check_halt("eip6690-2023", "4 1 0 257 SETUPX", "no_context");
}

#[test]
fn eip7747_counts_two_slots_more_and_charges_loads_only() {
    // (4 + 2) · 8 bytes are two words: growth from one word to three, and 32 for one limb.
    let set = "11 0 MSTORE8 4 1 0 0 SETMODX";
    let gas = (3 + 2 + 3 + 3) + (3 + 3 + 2 + 2) + 6 + 32;
    check_gas("eip7747", set, gas);
    check_gas("eip7747", &format!("{set} 3 0 0 LOADX"), gas + 3 + 2 + 2 + 3 * 2);
    check_gas("eip7747", &format!("{set} 0 0 MSTORE 3 0 0 STOREX"), gas + 2 + 2 + 3 + 3 + 2 + 2);
    check_halt("eip7747", "11 1 MSTORE8 4 2 0 0 SETMODX", "invalid_modulus"); // the first byte is zero
    check_halt("eip7747", "1 0 MSTORE8 4 1 0 0 SETMODX", "invalid_modulus");
    check_halt("eip7747", "8 0 MSTORE8 4 1 0 0 SETMODX", "invalid_modulus");
}

#[test]
fn evmone_grows_memory_and_reduces() {
    for (name, set) in [("evmone-2023", "SETUPX"), ("evmone-2025", "SETMODX")] {
        let set = format!("11 0 MSTORE8 4 1 0 {set}");
        // 255 = 2 mod 11.
        check_output(name, &format!("{set} 255 7 MSTORE8 0 0 MSTORE8 1 0 0 STOREX 1 0 0 LOADX 1 7 RETURN"), &[2]);
        assert_eq!(execute(name, &format!("{set} 1 100 0 STOREX MSIZE 0 MSTORE")).memory[31], 128);
        check_halt(name, &format!("{set} 1 0x10000000000000000 0 STOREX"), "out_of_gas");
        check_halt(name, &format!("{set} 0 9999 4 STOREX"), "stop");
        check_halt(name, &format!("{set} 0 9999 5 STOREX"), "slot_out_of_range");
        check_halt(name, "0 0 0 STOREX", "no_context");
    }
}

#[test]
fn evmone_takes_lanes_in_turn() {
    let set = format!("11 0 MSTORE8 4 1 0 SETMODX {ELEMENTS} 2 0 0 STOREX");
    let dump = "4 0 0 LOADX 32 0 RETURN";
    let slots = |slots: [u8; 4]| slots.into_iter().flat_map(|slot| [0, 0, 0, 0, 0, 0, 0, slot]).collect::<Vec<_>>();
    // out[i + 1] = out[i] + out[i]: 7, 14 = 3, 6, 12 = 1.
    check_output("evmone-2025", &format!("{set} ADDMODX .01010001000103 {dump}"), &slots([7, 3, 6, 1]));
    // out_stride 0: slot 1 adds slot 0 three times to 5: 26 = 4.
    check_output("evmone-2025", &format!("{set} ADDMODX .01000100000003 {dump}"), &slots([7, 4, 0, 0]));
    // Count 0: index less stride must be a slot.
    check_output("evmone-2025", &format!("{set} ADDMODX .01010201030300 {dump}"), &slots([7, 5, 0, 0]));
    check_halt("evmone-2025", &format!("{set} ADDMODX .01020201030300"), "slot_out_of_range");
    check_halt("evmone-2025", &format!("{set} INVMODX .0001000101"), "invalid_modulus");
}

#[test]
fn inverses_modulo_powers_of_two_have_one_bit_more() {
    // m = 16, x = 3: 3 · 11 = 33 = 1 mod 32. And x = 5: 5 · 13 = 65 = 1 mod 32.
    let set = "16 0 MSTORE8 4 1 0 SETMODX 0 0 MSTORE 3 7 MSTORE8 5 15 MSTORE8 2 0 0 STOREX INVMODX .0201000102";
    check_output(
        "evmone-2025",
        &format!("{set} 2 2 0 LOADX 16 0 RETURN"),
        &[0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 13],
    );
    // An operation masks: 13 + 13 = 26 = 10. What is stored stays: 255.
    let text = format!("{set} ADDMODX .00000300030001 1 0 0 LOADX 1 7 RETURN");
    check_output("evmone-2025", &text, &[10]);
    let text = format!("{set} 0 0 MSTORE 255 7 MSTORE8 1 0 0 STOREX 1 0 8 LOADX 1 15 RETURN");
    check_output("evmone-2025", &text, &[255]);
}

#[test]
fn sizes_in_bits_have_unpadded_elements_and_thousandths() {
    // m = 12289 in 14 bits; 12288 · 12288 = 1. Elements are 2 bytes.
    let set = "0x3001 0 MSTORE 4 14 30 SETMODX 0x30003000 0 MSTORE 2 28 0 STOREX";
    check_output("evmone-bits", &format!("{set} MULMODX .02000001010101 1 2 0 LOADX 2 0 RETURN"), &[0, 1]);
    // Pushes cost 1. SETMODX: 1 + 0 + 5 and one more word; STOREX: 1 + ⌈2 · 60 / 1000⌉.
    let gas = (1 + 2 + 3 + 3) + 3 + (1 + 5 + 3) + (1 + 2 + 3) + (1 + 1 + 2) + (1 + 1);
    check_gas("evmone-bits", set, gas);
    check_gas("evmone-bits", &format!("{set} MULMODX .02000001010101"), gas + 1);
    // Sixteen lanes in place at 60 thousandths: 960 are 1; seventeen are 2.
    check_gas("evmone-bits", &format!("{set} MULMODX .02000000000010"), gas + 1);
    check_gas("evmone-bits", &format!("{set} MULMODX .02000000000011"), gas + 2);
    check_halt("evmone-bits", "0 0 MSTORE 4 385 0 SETMODX", "invalid_modulus");
    // 255 values of 60 thousandths are 16 gas; 256 are 0, the count being cut to a byte. Memory
    // grows to 17 words beside 16 of slots.
    let all = "0x3001 0 MSTORE 256 14 30 SETMODX 0 512 MSTORE";
    let all_gas = (1 + 2 + 3 + 3) + 3 + (1 + 5 + 16 * 3) + (2 + 1 + 3 + 16 * 3 + 2);
    check_gas("evmone-bits", &format!("{all} 255 32 0 STOREX"), all_gas + (1 + 1 + 2) + 1 + 16);
    check_gas("evmone-bits", &format!("{all} 256 32 0 STOREX"), all_gas + (1 + 1 + 2) + 1);
    check_gas("evmone-bits", &format!("{all} 256 0 0 LOADX"), all_gas + (1 + 2 + 2) + 1);
}
