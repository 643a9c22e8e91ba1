//! Meaning of assembly text, and the errors of invalid text.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use residue_isa::Revision::{self, Eip6690_2024, Evm384V7};
use residue_isa::assembly::{assemble_text, disassemble};

#[track_caller]
fn check(text: &str, revision: Revision, expected: &str) {
    let code = assemble_text(text, revision).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(hex::encode(code.bytes), expected);
}

#[track_caller]
fn check_error(text: &str, revision: Revision, place: (usize, usize), words: &str) {
    let error = assemble_text(text, revision).unwrap_err();
    let message = error.to_string();
    assert_eq!((error.line, error.column), place, "{message}");
    assert!(message.contains(words), "{message}");
    assert!(message.starts_with(&format!("line {}, column {}: ", place.0, place.1)), "{message}");
}

#[test]
fn instructions_share_lines_and_comments_end_them() {
    check("", Eip6690_2024, "");
    check("ADD mul\n  PUSH0 ; STOP\nPop // STOP\r\nCLZ", Eip6690_2024, "01025f501e");
    check("TLOAD TSTORE MCOPY BLOBHASH BLOBBASEFEE", Evm384V7, "5c5d5e494a");
}

#[test]
fn pushes_are_smallest_or_exact() {
    check("PUSH 0 PUSH 1 PUSH 255 PUSH 0x100 PUSH 1_000", Eip6690_2024, "5f600160ff6101006103e8");
    check("PUSH1 0 PUSH4 0x05 PUSH2 65535 push3 0xABCDEF", Eip6690_2024, "6000630000000561ffff62abcdef");
    let ones = "f".repeat(64);
    check(&format!("PUSH 0x{ones} PUSH32 0x{ones}"), Eip6690_2024, &format!("7f{ones}7f{ones}"));
    check("const FREE = 0x40 const also=64\nPUSH FREE PUSH2 also MLOAD", Eip6690_2024, "604061004051");
}

#[test]
fn labels_name_targets_and_data() {
    check("loop: PUSH @loop JUMP", Eip6690_2024, "5b5f56");
    check("PUSH @end JUMP end:", Eip6690_2024, "6003565b");
    check("STOP @a JUMP a: PUSH @table MARK table DATA 0xc5", Eip6690_2024, "006004565b6007c5");
    check("DATA 0x610000 a: @a", Eip6690_2024, "6100005b6003");
    check("DATA 0x DATA 0x00FF", Eip6690_2024, "00ff");
}

#[test]
fn field_instructions_take_slots_or_offsets() {
    check("MULMODX 1 2 3", Eip6690_2024, "c501010201030101");
    check("addmodx 1:2 3:0 0xff:4 x8 SUBMODX 0 0 0 X255", Eip6690_2024, "c301020300ff0408c4000100010001ff");
    check("const A = 7 const s = 3 MULMODX A:s A A:0 x2", Eip6690_2024, "c507030701070002");
    check("SETMODX LOADX STOREX", Eip6690_2024, "c0c1c2");
    check("MULMODMONT384 0x30 96 0x90 0", Evm384V7, "6f00000030000000600000009000000000c2");
    check("ADDMOD384 SUBMOD384 MULMODMONT384 LOGF", Evm384V7, "c0c1c2c3");
    check("MULMODX 1 2 3 SETMODX", Revision::Eip7747, "c5010203c0");
    check("MULMONTX 255 2 3 TOMONTX", Revision::Eip5843, "24ff020325");
    check("SUBMODX 1 2 3 SETUPX", Revision::Geth6601Push3, "236201020321");
    check("SETUPX 7 LOADX", Revision::Eip6601, "210725");
    check("INVMODX 1:0 2 x3 ADDMODX 1:0 2 3", Revision::Evmone2025, "c60100020103c301000201030101");
    check("const m = 0xffffffff ADDMOD384 m 1 2 m ADDMOD384", Evm384V7, "6fffffffff0000000100000002ffffffffc0c0");
}

#[test]
fn words_and_operands_that_mean_nothing_are_named_with_their_place() {
    check_error("ADD\n  FROB 1", Eip6690_2024, (2, 3), "\"FROB\" is no mnemonic of the EVM or of eip6690-2024");
    check_error("MULMODX 1 2 3", Evm384V7, (1, 1), "\"MULMODX\" is no mnemonic of the EVM or of evm384-v7");
    check_error("ADD 5", Eip6690_2024, (1, 5), "\"5\"");
    check_error("PUSH1 256", Eip6690_2024, (1, 7), "256 is too large: the immediate is at most 255");
    check_error(&format!("PUSH 0x1{}", "0".repeat(64)), Eip6690_2024, (1, 6), "a word is at most");
    check_error("PUSH", Eip6690_2024, (1, 5), "expected a number or @label, found the end of the text");
    check_error("PUSH1 ; 5\n", Eip6690_2024, (2, 1), "expected a number, found the end of the text");
    check_error("PUSH1 -1", Eip6690_2024, (1, 7), "\"-1\" is neither a number nor a constant");
    check_error("PUSH 0x", Eip6690_2024, (1, 6), "\"0x\" is neither");
    check_error("PUSH 0x_1", Eip6690_2024, (1, 6), "\"0x_1\" is neither");
    check_error("PUSH 12ab", Eip6690_2024, (1, 6), "\"12ab\" is neither");
    check_error("PUSH later const later = 5", Eip6690_2024, (1, 6), "\"later\" is neither");
    check_error("DATA 0x123", Eip6690_2024, (1, 6), "\"0x123\" is not 0x and an even number");
    check_error("DATA 1234", Eip6690_2024, (1, 6), "\"1234\" is not 0x");
    check_error("MULMODX 1 2 256", Eip6690_2024, (1, 13), "256 is too large: a slot is at most 255");
    check_error("MULMODX 1:300 2 3", Eip6690_2024, (1, 9), "300 is too large: a stride is at most 255");
    check_error("MULMODX 1 2 3 x256", Eip6690_2024, (1, 15), "256 is too large: a number of lanes");
    check_error("MULMODX 1 2\n", Eip6690_2024, (2, 1), "expected a slot, found the end");
    check_error("MULMODX 1 2 ADD", Eip6690_2024, (1, 13), "\"ADD\" is neither");
    check_error("MULMODX 1 2 3 x2", Revision::Eip7747, (1, 1), "eip7747 has neither strides nor lanes");
    check_error("SETUPX 256", Revision::Eip6601, (1, 8), "256 is too large: an immediate byte");
    check_error("ADDMOD384 1 2 3", Evm384V7, (1, 16), "expected a byte offset");
    check_error("ADDMOD384 1 2 3 0x100000000", Evm384V7, (1, 17), "4294967296 is too large: a byte offset");
}

#[test]
fn the_nearest_mnemonics_are_named_and_long_words_are_cut() {
    check_error("MULMODX2 1 2 3", Eip6690_2024, (1, 1), "of eip6690-2024; did you mean MULMODX");
    check_error("mstor", Eip6690_2024, (1, 1), "; did you mean MSTORE, ");
    check_error("dta 0x00", Eip6690_2024, (1, 1), "DATA");
    for text in ["?", "PUSH ?", "PUSH @?", "?: ?:", "const ? = 1 const ? = 1", "MARK ? MARK ?", "DATA ?", "const ? ? 1"]
    {
        for unit in ["a", "9", "é"] {
            let error = assemble_text(&text.replace('?', &unit.repeat(44_000)), Eip6690_2024).unwrap_err().to_string();
            assert!(error.len() < 500 && error.contains('…'), "{text} {unit}: {error}");
        }
    }
}

#[test]
fn names_must_be_names_and_be_defined_once() {
    check_error("PUSH @a\nJUMP", Eip6690_2024, (1, 6), "label a is nowhere defined");
    check_error("STOP @a", Eip6690_2024, (1, 6), "label a is nowhere defined");
    check_error("a: STOP\n a:", Eip6690_2024, (2, 2), "label a is defined twice");
    check_error("a: MARK a", Eip6690_2024, (1, 9), "label a is defined twice");
    check_error("1a:", Eip6690_2024, (1, 1), "\"1a\" cannot be a name");
    check_error("a-b:", Eip6690_2024, (1, 1), "\"a-b\" cannot be a name");
    check_error("@", Eip6690_2024, (1, 1), "it is empty");
    check_error("const a = 1 const a = 2", Eip6690_2024, (1, 19), "constant a is defined twice");
    check_error("const add = 1", Eip6690_2024, (1, 7), "\"add\" cannot be a name: it is a mnemonic or a keyword");
    check_error("const x2 = 1", Eip6690_2024, (1, 7), "it reads as a number of lanes");
    check_error("const a 1", Eip6690_2024, (1, 9), "expected =, found \"1\"");
    check_error("const a = b", Eip6690_2024, (1, 11), "\"b\" is neither");
    check_error("const a =", Eip6690_2024, (1, 10), "expected a number");
}

#[test]
fn data_may_not_swallow_a_label() {
    check_error("PUSH @a JUMP\nDATA 0x6100 a:", Eip6690_2024, (2, 13), "inside the immediate of an opcode before it");
    check_error("DATA 0xc5000000000000 a:", Eip6690_2024, (1, 23), "offset 7");
    check("DATA 0xc5000000000000 a:", Evm384V7, "c50000000000005b");
}

#[test]
fn disassembly_shows_offsets_and_what_is_cut_off() {
    let code = hex::decode("6001c501020301040108c50c0c5b610a").unwrap();
    let expected = [
        "PUSH1 0x01                              ; 0000",
        "MULMODX 1:2 3 4 x8                      ; 0002",
        "DATA 0xc50c0c5b610a                     ; 000a truncated MULMODX",
    ];
    assert_eq!(disassemble(&code, Eip6690_2024).lines().collect::<Vec<_>>(), expected);
    let code = hex::decode("6f00000030000000600000009000000000c2c20c0dff610a").unwrap();
    let expected = [
        "MULMODMONT384 0x30 0x60 0x90 0x0        ; 0000",
        "MULMODMONT384                           ; 0012",
        "DATA 0x0c0d                             ; 0013",
        "SELFDESTRUCT                            ; 0015",
        "DATA 0x610a                             ; 0016 truncated PUSH2",
    ];
    assert_eq!(disassemble(&code, Evm384V7).lines().collect::<Vec<_>>(), expected);
}
