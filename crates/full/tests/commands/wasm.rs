//! `residue wasm`: modules of others with the host functions, and contracts as modules.

use crate::support::{Ran, directory, file, residue, residue_reading};
use serde_json::{Value, json};

/// The engines of this build.
const ENGINES: &[&str] = if cfg!(feature = "wasmtime") { &["wasmi", "wasmtime"] } else { &["wasmi"] };

/// R mod p of BLS12-381 with R = 2³⁸⁴, little-endian: one in Montgomery form.
const ONE: &str = "fdff02000000097602000cc40b00f4ebba58c7535798485f455752705358ce776dec56a2971a075c93e480fac35ef615";

/// Field operations and integers on the values 1 (in Montgomery form) at 0, and what they give at 48 and on.
const MODULE: &str = r#"(module
  (import "env" "bignum_f1m_mul" (func $mul (param i32 i32 i32)))
  (import "env" "bignum_f1m_add" (func $add (param i32 i32 i32)))
  (import "env" "bignum_f1m_sub" (func $sub (param i32 i32 i32)))
  (import "env" "bignum_int_add" (func $int_add (param i32 i32 i32) (result i32)))
  (import "env" "bignum_int_div" (func $int_div (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "run") (result i32)
    (call $mul (i32.const 0) (i32.const 0) (i32.const 48))
    (call $add (i32.const 0) (i32.const 48) (i32.const 96))
    (call $sub (i32.const 96) (i32.const 48) (i32.const 96))
    (call $int_div (i32.const 0) (i32.const 0) (i32.const 144) (i32.const 192))
    (call $int_add (i32.const 0) (i32.const 0) (i32.const 240)))
  (func (export "divide") (call $int_div (i32.const 0) (i32.const 1000) (i32.const 144) (i32.const 192)))
  (func (export "loop") (loop (br 0)))
  (func (export "outside") (call $mul (i32.const 65500) (i32.const 0) (i32.const 0)))
  (func (export "sum") (param i32 i64) (result i64) (i64.add (i64.extend_i32_s (local.get 0)) (local.get 1))))"#;

fn run(engine: &str, arguments: &[&str]) -> Ran {
    let fixed = ["wasm", "run", "-", "--no-time", "--json", "--engine", engine];
    residue_reading(MODULE, &[&fixed, arguments].concat())
}

#[test]
fn host_functions_compute_in_memory_and_are_counted() {
    for engine in ENGINES.iter().copied() {
        let json = run(engine, &["--export", "run", "--input", ONE, "--input-at", "0", "--memory", "0:288"]).json(0);
        assert_eq!(json["results"], json!([{"type": "i32", "value": 0}]), "{engine}");
        let memory = hex::decode(json["memory"].as_str().unwrap().trim_start_matches("0x")).unwrap();
        let one = hex::decode(ONE).unwrap();
        // 1·1 = 1 and 1 + 1 − 1 = 1 in the field; x / x = 1, no remainder.
        assert_eq!((&memory[48..96], &memory[96..144]), (&one[..], &one[..]), "{engine}");
        assert_eq!((memory[144], &memory[145..240]), (1, &[0; 95][..]), "{engine}");
        let calls = json["host_calls"].as_object().unwrap();
        assert_eq!(calls.values().map(|count| count.as_u64().unwrap()).collect::<Vec<_>>(), [1; 5], "{engine}");
        assert_eq!(json["memory_bytes"], 65536);
        assert_eq!(json["time_ns"], Value::Null);
    }
}

#[test]
fn traps_are_exit_code_1_and_say_why() {
    for engine in ENGINES.iter().copied() {
        for (arguments, reason) in [
            (&["--export", "divide"][..], "divides by zero"),
            (&["--export", "outside"], "48 bytes at 65500, where there are 65536"),
            (&["--export", "loop", "--fuel", "100000"], "fuel"),
        ] {
            let json = run(engine, arguments).json(1);
            assert_eq!(json["success"], false);
            assert!(json["trap"].as_str().unwrap().contains(reason), "{engine}: {json}");
        }
    }
}

#[test]
fn arguments_have_the_types_of_the_function() {
    for engine in ENGINES.iter().copied() {
        let sum = |arguments: &[&str]| run(engine, &[&["--export", "sum"], arguments].concat());
        assert_eq!(sum(&["--arg", "-3", "--arg", "0x10"]).json(0)["results"], json!([{"type": "i64", "value": 13}]));
        sum(&["--arg", "1"]).refused(&["\"sum\" takes (i32, i64) -> (i64)", "(i32)"]);
        sum(&["--arg", "x", "--arg", "1"]).refused(&["--arg", "\"x\" is no i32"]);
        run(engine, &["--export", "runn"]).refused(&["\"runn\"", "it exports divide, loop, outside, run, sum"]);
    }
}

#[test]
fn what_is_no_module_is_refused() {
    let directory = directory("wasm_bad");
    for engine in ENGINES.iter().copied() {
        let refused = |name: &str, content: &[u8], parts: &[&str]| {
            let path = file(&directory, name, content);
            residue(&["wasm", "run", &path, "--export", "f", "--engine", engine]).refused(parts);
        };
        refused("hex.txt", b"0x00", &["hex.txt is no module"]);
        refused("empty.wasm", b"", &["is no module"]);
        refused("short.wasm", b"\0asm\x01\0", &["no valid module"]);
        refused("text.wat", b"(module (func (export \"f\")", &["text.wat", "expected `)`"]);
        refused("type.wat", b"(module (func (export \"f\") (result i32)))", &["no valid module"]);
        let import = b"(module (import \"env\" \"print\" (func (param i32))) (func (export \"f\")))";
        refused("import.wat", import, &["imports env.print (i32) -> ()", "env.bignum_f1m_mul(i32, i32, i32)"]);
        let wrong = b"(module (import \"env\" \"bignum_f1m_mul\" (func (param i64 i32 i32))) (func (export \"f\")))";
        refused("wrong.wat", wrong, &["imports env.bignum_f1m_mul (i64, i32, i32) -> ()"]);
        residue(&["wasm", "run", "nowhere.wasm", "--export", "f"]).refused(&["nowhere.wasm"]);
    }
    residue_reading("(module (func (export \"f\")))", &["wasm", "run", "-", "--export", "f", "--memory", "0:1"])
        .refused(&["no memory"]);
}

#[test]
fn an_engine_that_this_build_has_not_is_refused_with_what_would_have_it() {
    let module = "(module (func (export \"f\")))";
    let ran = residue_reading(module, &["wasm", "run", "-", "--export", "f", "--engine", "wasmtime", "--no-time"]);
    if cfg!(feature = "wasmtime") {
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    } else {
        ran.refused(&["this build is without wasmtime", "--features wasmtime"]);
    }
}

#[test]
fn a_start_function_that_traps_is_a_trap() {
    for engine in ENGINES.iter().copied() {
        let module = "(module (func $bad unreachable) (start $bad) (func (export \"f\")))";
        let json =
            residue_reading(module, &["wasm", "run", "-", "--export", "f", "--engine", engine, "--json"]).json(1);
        assert!(json["trap"].as_str().unwrap().contains("unreachable"), "{json}");
    }
}

#[test]
fn block_data_goes_in_and_a_state_root_comes_out() {
    let module = r#"(module
      (import "env" "eth2_blockDataSize" (func $size (result i32)))
      (import "env" "eth2_blockDataCopy" (func $copy (param i32 i32 i32)))
      (import "env" "eth2_savePostStateRoot" (func $save (param i32)))
      (memory (export "memory") 1)
      (func (export "main") (call $copy (i32.const 16) (i32.const 0) (call $size)) (call $save (i32.const 16))))"#;
    for engine in ENGINES.iter().copied() {
        let arguments = ["wasm", "run", "-", "--export", "main", "--input", "0102", "--engine", engine, "--json"];
        let json = residue_reading(module, &arguments).json(0);
        assert_eq!(json["state_root"], format!("0x0102{}", "00".repeat(30)));
        assert!(json["time_ns"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_contract_becomes_a_module_that_runs() {
    let directory = directory("wasm_build");
    let path = directory.join("fp2_mul.wasm");
    let path = path.to_str().unwrap();
    for form in ["self-contained", "host-functions"] {
        let built =
            residue(&["wasm", "build", "bls12_381/fp2_mul", "--form", form, "--output", path, "--json"]).json(0);
        assert_eq!(built["form"], form);
        let fixed = ["wasm", "run", path, "--export", "main", "--arg", "256", "--json", "--no-time", "--input"];
        // (1 + 2u)·(3 + 4u) = −5 + 10u; a number that is not below p is refused.
        let input: String = (1..=4).map(|digit| format!("{digit:0128x}")).collect();
        for engine in ENGINES.iter().copied() {
            let run = |input: &str| residue(&[&fixed[..], &[input, "--engine", engine]].concat()).json(0);
            assert_eq!(run(&input)["results"][0]["value"], 128);
            assert_eq!(run(&"ff".repeat(256))["results"][0]["value"], -1);
        }
    }
    residue(&["wasm", "build", "bls12_381/none", "--output", path]).refused(&["\"bls12_381/none\""]);
}
