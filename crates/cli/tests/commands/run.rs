//! `residue run`: results, fields, exit codes.

use crate::support::{assembled, directory, file, residue, residue_reading};
use serde_json::{Value, json};

/// Returns 6 · 7: five pushes, MUL, MSTORE with growth by a word, RETURN.
const PRODUCT: &str = "0x600660070260005260206000f3";

/// Modulus 101 in slots 0 to 2: 2 · 3 in slot 2, loaded to memory at 32.
const SLOTS: &str = "
    PUSH 101 PUSH 31 MSTORE8
    PUSH 3 PUSH 1 PUSH 31 PUSH 0 SETMODX
    PUSH 2 PUSH 7 MSTORE8  PUSH 3 PUSH 15 MSTORE8
    PUSH 2 PUSH 0 PUSH 0 STOREX
    MULMODX 2 0 1
    PUSH 1 PUSH 2 PUSH 0 LOADX
    PUSH 32 PUSH 0 RETURN";

fn run(code: &str, args: &[&str]) -> crate::support::Ran {
    residue_reading(code, &[&["run", "-"], args].concat())
}

#[test]
fn the_object_has_all_fields_in_order() {
    let object = run(PRODUCT, &["--json"]).json(0);
    let keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "success halt output gas_used gas_split ops code_bytes memory_bytes memory time_ns cold_ns native_ns \
                    engine revision schedule fork machine";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(object["success"], true);
    assert_eq!(object["halt"], "return");
    assert_eq!(object["output"], format!("0x{:064x}", 42));
    assert_eq!(object["gas_used"], 5 * 3 + 5 + 3 + 3);
    assert_eq!(object["gas_split"], json!({ "arithmetic": 0, "transfer": 3, "memory": 3, "control": 20 }));
    assert_eq!(object["ops"], json!({ "MUL": 1, "MSTORE": 1, "PUSH1": 5, "RETURN": 1 }));
    assert_eq!((&object["code_bytes"], &object["memory_bytes"]), (&json!(13), &json!(32)));
    assert_eq!((&object["memory"], &object["native_ns"]), (&Value::Null, &Value::Null));
    assert!(object["time_ns"].as_u64().unwrap() > 0 && object["cold_ns"].as_u64().unwrap() > 0);
    assert_eq!(object["engine"], "batch");
    assert_eq!(object["revision"], "eip6690-2024");
    assert_eq!(object["schedule"], "eip6690");
    assert_eq!(object["fork"], "osaka");
    assert!(object["machine"]["cores"].as_u64().unwrap() > 0);
}

#[test]
fn blocks_are_explained_when_asked_for() {
    for revision in ["eip6690-2024", "evm384-v7"] {
        let args = ["run", "bls12_381/fp2_mul", "--example", "--revision", revision, "--no-time", "--explain"];
        let object = residue(&[&args[..], &["--json"]].concat()).json(0);
        let blocks = object["blocks"].as_array().unwrap();
        for block in blocks {
            assert!(block["from"].as_u64() < block["to"].as_u64() && block["scalar_cycles"].as_u64() > Some(0));
            assert!(block["plan"].is_null() || block["plan"]["products"].as_u64() <= block["mul"].as_u64());
        }
        // Where the machine has no use for plans, blocks are not looked for.
        let has_ifma = object["machine"]["features"].as_array().unwrap().contains(&json!("avx512ifma"));
        let products: u64 = blocks.iter().filter_map(|block| block["mul"].as_u64()).sum();
        assert!(products >= 3 || !has_ifma && blocks.is_empty(), "{revision}: {blocks:?}");
        assert!(residue(&args).text().contains("one by one"));
    }
}

#[test]
fn field_instructions_are_arithmetic_and_their_loads_transfer() {
    let code = assembled(SLOTS, "eip6690-2024");
    let object = run(&code, &["--json", "--no-time"]).json(0);
    assert_eq!(object["halt"], "return");
    assert_eq!(object["output"], format!("0x{:016x}{:016x}{:032x}", 6, 3, 101));
    let split = &object["gas_split"];
    assert_eq!(split["arithmetic"], 1);
    assert_eq!(split["transfer"], 3 * 3 + (1 + 23) + (1 + 2) + (1 + 1));
    assert_eq!(split["memory"], 2 * 3);
    assert_eq!(object["gas_used"], sum(split));
    assert_eq!(object["time_ns"], Value::Null);
}

#[test]
fn pushes_of_packed_operands_are_arithmetic() {
    let code = assembled("MULMODMONT384 144 0 48 96 PUSH 1 POP STOP", "evm384-v7");
    for (schedule, arithmetic) in [("evmone", 24 + 3), ("eip", 6 + 3), ("model-b", 3 + 3)] {
        let args = ["--json", "--no-time", "--revision", "evm384-v7", "--schedule", schedule];
        let object = run(&code, &args).json(0);
        assert_eq!(object["gas_split"]["arithmetic"], arithmetic, "{schedule}");
        assert_eq!(object["gas_used"], sum(&object["gas_split"]));
        assert_eq!(object["schedule"], schedule);
        assert_eq!(object["ops"], json!({ "STOP": 1, "POP": 1, "PUSH1": 1, "PUSH16": 1, "MULMODMONT384": 1 }));
    }
}

#[test]
fn an_unhappy_end_is_exit_1_with_the_same_object() {
    for (text, gas, halt, output, gas_used) in [
        ("PUSH 7 PUSH 0 MSTORE PUSH 32 PUSH 0 REVERT", 1000, "revert", format!("0x{:064x}", 7), 3 + 2 + 3 + 3 + 3 + 2),
        ("INVALID", 1000, "invalid_instruction", "0x".to_owned(), 1000),
        ("PUSH 1 PUSH 1 ADD", 8, "out_of_gas", "0x".to_owned(), 8),
        ("ADD", 1000, "stack_underflow", "0x".to_owned(), 1000),
        ("PUSH 0 JUMP", 1000, "invalid_jump", "0x".to_owned(), 1000),
        ("ADDMODX 0 0 0", 1000, "no_context", "0x".to_owned(), 1000),
    ] {
        let code = assembled(text, "eip6690-2024");
        for engine in ["batch", "plain", "spec"] {
            let args = ["--json", "--no-time", "--gas", &gas.to_string(), "--engine", engine];
            let object = run(&code, &args).json(1);
            assert_eq!((&object["success"], &object["halt"]), (&json!(false), &json!(halt)), "{text}");
            assert_eq!((&object["output"], &object["gas_used"]), (&json!(output), &json!(gas_used)), "{text}");
            assert_eq!(object["gas_used"], sum(&object["gas_split"]));
            assert_eq!(object["engine"], engine);
        }
    }
}

#[test]
fn the_specification_says_the_same() {
    // The address and the caller are what both engines must agree on though no one tells them.
    let world = "ADDRESS CALLER ADD PUSH 0 MSTORE CALLDATASIZE PUSH 32 MSTORE PUSH 64 PUSH 0 RETURN";
    for (text, revision) in [
        (SLOTS, "eip6690-2024"),
        (world, "eip6690-2024"),
        ("MULMODMONT384 144 0 48 96 ADDMOD384 0 0 0 0 PUSH 96 PUSH 144 RETURN", "evm384-v7"),
    ] {
        let code = assembled(text, revision);
        let object = |engine| {
            let args = ["--json", "--no-time", "--revision", revision, "--input", "c0ffee", "--engine", engine];
            run(&code, &args).json(0)
        };
        let (mut plain, spec) = (object("plain"), object("spec"));
        plain["engine"] = json!("spec");
        assert_eq!(plain, spec);
    }
}

#[test]
fn the_specification_does_not_guess() {
    let code = assembled("PUSH 0 SLOAD", "eip6690-2024");
    run(&code, &["--engine", "spec"]).refused(&["does not say", "SLOAD (0x54) asks for"]);
    run(PRODUCT, &["--engine", "spec", "--fork", "cancun"]).refused(&["osaka", "cancun"]);
}

#[test]
fn input_is_hexadecimal_or_a_file() {
    let directory = directory("run_input");
    let code = assembled("CALLDATASIZE PUSH 0 PUSH 0 CALLDATACOPY CALLDATASIZE PUSH 0 RETURN", "eip6690-2024");
    let text = file(&directory, "input.hex", "0xC0\nFF EE\n");
    let raw = file(&directory, "input.bin", [0xc0, 0xff, 0xee]);
    for input in ["c0ffee", "0xC0FFEE", &format!("@{text}"), &format!("@{raw}")] {
        assert_eq!(run(&code, &["--json", "--no-time", "--input", input]).json(0)["output"], "0xc0ffee", "{input}");
    }
    for input in ["", "0x"] {
        assert_eq!(run(&code, &["--json", "--no-time", "--input", input]).json(0)["output"], "0x");
    }
}

#[test]
fn code_is_hexadecimal_or_raw() {
    let directory = directory("run_code");
    let text = file(&directory, "code.hex", format!("  {PRODUCT}\n"));
    let raw = file(&directory, "code.bin", hex::decode(&PRODUCT[2..]).unwrap());
    for path in [text, raw] {
        assert_eq!(residue(&["run", &path, "--json", "--no-time"]).json(0)["gas_used"], 26, "{path}");
    }
}

#[test]
fn memory_is_shown_with_zeros_beyond_its_end() {
    let code = assembled("PUSH 0xab PUSH 31 MSTORE8", "eip6690-2024");
    for (range, expected) in
        [("31:34", "0xab0000"), ("0x1e:0x20", "0x00ab"), ("5:5", "0x"), ("4000000000:4000000002", "0x0000")]
    {
        let object = run(&code, &["--json", "--no-time", "--memory", range]).json(0);
        assert_eq!(object["memory"], expected, "{range}");
        assert_eq!(object["memory_bytes"], 32);
    }
}

#[test]
fn a_fork_decides_which_opcodes_there_are() {
    let code = assembled("PUSH 1 CLZ", "eip6690-2024");
    assert_eq!(run(&code, &["--json", "--no-time"]).json(0)["halt"], "stop");
    let object = run(&code, &["--json", "--no-time", "--fork", "prague"]).json(1);
    assert_eq!((&object["halt"], &object["fork"]), (&json!("invalid_instruction"), &json!("prague")));
}

#[test]
fn a_contract_runs_by_name_beside_the_native_library() {
    for revision in ["evm384-v7", "eip6690-2024"] {
        // The pair of the identities: 384 zero bytes.
        let args = ["run", "bls12_381/pairing", "--json", "--revision", revision, "--input", &"00".repeat(384)];
        let object = residue(&args).json(0);
        assert_eq!(object["output"], format!("0x{:064x}", 1));
        assert!(object["native_ns"].as_u64().unwrap() > 0);
    }
    let object = residue(&["run", "bls12_381/fp2_mul", "--example", "--json", "--no-time"]).json(0);
    assert_eq!(object["output"].as_str().unwrap().len(), 2 + 2 * 128);
    assert_eq!(object["native_ns"], Value::Null);
}

#[test]
fn people_get_tables() {
    let ran = run(PRODUCT, &["--memory", "0:32"]);
    for part in ["halt", "return", "gas used", "arithmetic", "PUSH1", "62.5 %", "median of", "memory  0x00", "machine "]
    {
        assert!(ran.text().contains(part), "{part:?} is not in {}", ran.stdout);
    }
    let ran = run("fe", &["--no-time", "--gas", "1234567"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(ran.stdout.contains("invalid_instruction") && ran.stdout.contains("1 234 567"), "{}", ran.stdout);
}

fn sum(split: &Value) -> u64 {
    split.as_object().unwrap().values().map(|gas| gas.as_u64().unwrap()).sum()
}

#[test]
fn contracts_stand_at_the_addresses_of_precompiles_if_asked() {
    // Five, mapped by a call of address 0x10; returns what came back.
    let caller =
        "PUSH 5 PUSH 32 MSTORE PUSH 128 PUSH 0 PUSH 64 PUSH 0 PUSH 0x10 GAS STATICCALL POP PUSH 128 PUSH 0 RETURN";
    let code = assembled(caller, "eip6690-2024");
    let [precompile, contract] = [&["--json", "--no-time"][..], &["--json", "--no-time", "--as-precompiles"]]
        .map(|args| run(&code, args).json(0));
    assert_eq!(precompile["output"], contract["output"]);
    assert_ne!(precompile["gas_used"], contract["gas_used"]);
    assert_eq!(precompile["ops"]["MULMODX"], Value::Null);
    assert!(contract["ops"]["MULMODX"].as_u64().unwrap() > 1000);
}
