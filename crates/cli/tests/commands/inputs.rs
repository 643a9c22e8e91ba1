//! Input: byte order marks, other encodings, standard input, and values that are nearly right.

use residue_isa::{GasSchedule, Revision};

use crate::support::{directory, file, residue, residue_reading};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
const CODE: &str = "0x600660070260005260206000f3";
const PROGRAM: &str = "program \"one\"\nmodulus 0x61\nfunction f0 \"start\" () -> () values 0 {\n}\n";

/// Every kind of text that commands read, with the commands that read it; `FILE` is the file.
fn readers() -> Vec<(&'static str, String, Vec<&'static str>)> {
    let read = |name: &str| std::fs::read_to_string(format!("{EXAMPLES}/{name}")).unwrap();
    let prices = GasSchedule::default_for(Revision::Eip6690_2024).unwrap().to_toml();
    let snapshot = "bls12_381/fp2_mul eip6690-2024 5 5\n".to_owned();
    vec![
        ("code.hex", CODE.to_owned(), vec!["run FILE --no-time --json", "trace FILE", "disasm FILE"]),
        ("input.hex", "0x00".to_owned(), vec!["run bls12_381/fp2_mul --input @FILE --gas 5 --no-time --json"]),
        ("code.asm", "PUSH 6 PUSH 7 MUL".to_owned(), vec!["asm FILE"]),
        ("program.ir", PROGRAM.to_owned(), vec!["build FILE", "print FILE", "run FILE --no-time --json"]),
        ("prices.toml", prices, vec!["build bls12_381/fp2_mul --schedule FILE"]),
        ("gas.txt", snapshot, vec!["gas --diff FILE"]),
        ("key.json", read("groth16/key.json"), vec!["build groth16 --key FILE"]),
        (
            "proof.json",
            read("groth16/proof.json"),
            vec!["example groth16 --key EXAMPLES/groth16/key.json --proof FILE --public EXAMPLES/groth16/public.json"],
        ),
        (
            "public.json",
            read("groth16/public.json"),
            vec!["example groth16 --key EXAMPLES/groth16/key.json --proof EXAMPLES/groth16/proof.json --public FILE"],
        ),
    ]
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text_and_other_encodings_are_named() {
    let directory = directory("inputs_encodings");
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (name, text, commands) in readers() {
        for line in commands {
            let run = |folder: &str, bytes: &[u8]| {
                let folder = directory.join(folder);
                std::fs::create_dir_all(&folder).unwrap();
                let path = file(&folder, name, bytes);
                let words = line.split(' ').map(|word| word.replace("FILE", &path).replace("EXAMPLES", EXAMPLES));
                let words: Vec<String> = words.collect();
                let ran = residue(&words.iter().map(String::as_str).collect::<Vec<_>>());
                (ran.code, ran.stdout.replace(&path, "FILE"), ran.stderr.replace(&path, "FILE"))
            };
            let plain = run("plain", text.as_bytes());
            assert_ne!(plain.0, 2, "{line}: {}", plain.2);
            assert_eq!(run("marked", &[b"\xef\xbb\xbf", text.as_bytes()].concat()), plain, "{line}");
            for bytes in [utf16(&text), [b"\xff\xfe", &utf16(&text)[..]].concat()] {
                let (code, stdout, stderr) = run("wide", &bytes);
                assert_eq!((code, stdout.as_str()), (2, ""), "{line}: {stderr}");
                assert!(
                    stderr.starts_with("error: ") && stderr.contains("FILE: ") && stderr.contains("UTF-16"),
                    "{line}: {stderr}"
                );
            }
        }
    }
}

#[test]
fn programs_come_through_standard_input_too() {
    let path = file(&directory("inputs_program"), "one.ir", PROGRAM);
    for command in ["build", "print"] {
        let expected = residue(&[command, &path]);
        assert_eq!(residue_reading(PROGRAM, &[command, "-"]).text(), expected.text());
    }
    for command in ["compare", "profile"] {
        let read = residue_reading(PROGRAM, &[command, "-", "--no-time", "--json"]).json(0);
        assert_eq!(read["success"], true, "{read}");
    }
    let solidity = residue_reading(PROGRAM, &["build", "-", "--format", "solidity"]);
    assert!(solidity.text().contains("library Program {"), "{}", solidity.stdout);
    residue_reading("program", &["build", "-"]).refused(&["standard input:1:8"]);
}

#[test]
fn standard_input_is_read_once() {
    for args in [
        &["run", "-", "--input", "@-"][..],
        &["trace", "-", "--input", "@-"],
        &["profile", "-", "--input", "@-", "--no-time"],
        &["compare", "-", "--input", "@-", "--no-time"],
        &["example", "groth16", "--key", "-", "--proof", "-", "--public", "-"],
    ] {
        let text = match args[1] {
            "groth16" => std::fs::read_to_string(format!("{EXAMPLES}/groth16/key.json")).unwrap(),
            "-" if ["profile", "compare"].contains(&args[0]) => PROGRAM.to_owned(),
            _ => CODE.to_owned(),
        };
        residue_reading(&text, args).refused(&["standard input is read once"]);
    }
    let ran = residue_reading("0x2a", &["run", "bls12_381/fp2_mul", "--input", "@-", "--no-time", "--json"]);
    assert_eq!(ran.json(1)["halt"], "invalid_instruction");
}

#[test]
fn values_that_are_nearly_right_say_what_is() {
    let directory = directory("inputs_values");
    let path = file(&directory, "input.hex", "0x00");
    let run = |args: &[&str]| residue_reading(CODE, &[&["run", "-", "--no-time"], args].concat());
    run(&["--input", &path]).refused(&["a file is given as --input @", "input.hex"]);
    run(&["--input", "nowhere.hex"]).refused(&["a file is given as --input @nowhere.hex"]);
    run(&["--input", "0xzz"]).refused(&["--input:1:3: 'z' is not a hexadecimal digit"]);
    run(&["--input", "0x123"]).refused(&["3 hexadecimal digits are not whole bytes"]);
    assert_eq!(run(&["--input", "0X00", "--gas", "0XFFFF", "--json"]).json(0)["success"], true);
    run(&["--gas", &"9".repeat(40)]).refused(&["is too large: at most 18446744073709551615"]);
    let long = run(&["--gas", &"9".repeat(50_000)]);
    long.refused(&["error: "]);
    assert!(long.stderr.len() < 2_000, "{} bytes of message", long.stderr.len());

    let build = |address: &str| residue(&["build", "bls12_381/fp2_mul", "--format", "solidity", "--address", address]);
    let right = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"; // EIP-55's first example.
    for address in [right, &right.to_lowercase(), &format!("0x{}", right[2..].to_uppercase())] {
        assert!(build(address).text().contains(&format!("ADDRESS = {right};")), "{address}");
    }
    build(&right.replace("aAeb", "aaEb")).refused(&["checksum", right]);
}

#[test]
fn contracts_are_disassembled_as_code_is() {
    let contract = residue(&["disasm", "bls12_381/fp2_mul", "--revision", "evm384-v7", "--fork", "istanbul"]);
    let code = residue(&["build", "bls12_381/fp2_mul", "--revision", "evm384-v7", "--fork", "istanbul"]);
    let disassembled = residue_reading(code.text(), &["disasm", "-", "--revision", "evm384-v7"]);
    assert_eq!(contract.text(), disassembled.text());
    assert!(contract.text().contains("MULMODMONT384"), "{}", contract.stdout);
    let key = format!("{EXAMPLES}/groth16/key.json");
    assert!(residue(&["disasm", "groth16", "--key", &key]).text().contains("MULMODX"));
    assert!(!residue(&["disasm", &format!("{EXAMPLES}/ir/polynomial.ir")]).text().is_empty());
}
