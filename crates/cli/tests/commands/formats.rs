//! `residue build --format`: creation code gives the code, the files of other languages have it, and solc makes the same of them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{directory, residue};

const CONTRACT: &str = "bls12_381/g1_add";

fn build(more: &[&str]) -> String {
    residue(&[&["build", CONTRACT], more].concat()).text().trim_end().to_owned()
}

#[test]
fn without_a_format_it_is_the_code() {
    let plain = build(&[]);
    assert_eq!(build(&["--format", "hex"]), plain);
    let file = directory("formats-bin").join("code");
    let written = residue(&["build", CONTRACT, "--format", "bin", "--output", file.to_str().unwrap()]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    assert_eq!(format!("0x{}", hex::encode(std::fs::read(&file).unwrap())), plain);
}

#[test]
fn creation_code_returns_the_code_on_every_fork() {
    for fork in ["frontier", "london", "osaka"] {
        let of = ["--revision", "evm384-v7", "--fork", fork];
        let code = build(&of);
        let creation = build(&[&of[..], &["--format", "creation"]].concat());
        let file = directory("formats-creation").join(format!("{fork}.hex"));
        std::fs::write(&file, creation).unwrap();
        let ran = residue(&[&["run", file.to_str().unwrap(), "--no-time", "--json"], &of[..]].concat());
        assert_eq!(ran.json(0)["output"], code, "{fork}");
    }
}

#[test]
fn yul_and_solidity_have_the_code() {
    let (code, creation) = (build(&[]), build(&["--format", "creation"]));
    let yul = build(&["--format", "yul"]);
    assert!(yul.contains(&format!("verbatim_0i_0o(hex\"{}\")", &code[2..])));
    let solidity = build(&["--format", "solidity"]);
    assert!(solidity.contains("library Bls12381G1Add {"), "{solidity}");
    let pieces = solidity.lines().filter_map(|line| line.trim().strip_prefix("hex\"")?.split('"').next());
    assert_eq!(format!("0x{}", pieces.collect::<String>()), creation);
    // The address is written as EIP-55 has it, from whose text it is.
    let address = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
    let known = build(&["--format", "solidity", "--address", address]);
    assert!(known.contains("ADDRESS = 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed;") && !known.contains("deploy"));
}

#[test]
fn an_artifact_says_what_the_code_is() {
    let artifact: Value =
        serde_json::from_str(&build(&["--format", "json", "--revision", "evmone-2023", "--portable"])).unwrap();
    let built = residue(&["build", CONTRACT, "--json", "--revision", "evmone-2023", "--portable"]).json(0);
    for (key, other) in [
        ("deployedBytecode", "code"),
        ("revision", "revision"),
        ("schedule", "schedule"),
        ("fork", "fork"),
        ("portable", "portable"),
        ("precompiles", "precompiles"),
        ("instructionBytes", "instruction_bytes"),
    ] {
        assert_eq!(artifact[key], built[other], "{key}");
    }
    assert_eq!(artifact["portable"], true);
    let map = &artifact["sourceMap"];
    let functions = map["functions"].as_array().unwrap();
    assert_eq!(functions.len(), built["functions"].as_object().unwrap().len());
    for function in functions {
        let bytes = function["end"].as_u64().unwrap() - function["start"].as_u64().unwrap();
        assert_eq!(built["functions"][function["name"].as_str().unwrap()], bytes, "{function}");
    }
    let (paths, instructions) = (map["paths"].as_array().unwrap(), map["instructions"].as_array().unwrap());
    let end = built["instruction_bytes"].as_u64().unwrap();
    assert!(paths.len() > 1 && !instructions.is_empty());
    for instruction in instructions {
        assert!(instruction[0].as_u64() < instruction[1].as_u64() && instruction[1].as_u64() <= Some(end));
        assert!(instruction[2].as_array().unwrap().iter().all(|path| path.as_u64().unwrap() < paths.len() as u64));
    }
    let inside = residue(&["build", CONTRACT, "--json", "--format", "json", "--revision", "evmone-2023", "--portable"]);
    assert_eq!(inside.json(0)["artifact"], artifact);
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn all_contracts_go_to_files_of_the_format() {
    let path = directory("formats-all");
    let written = residue(&["build", "all", "--format", "solidity", "--output", path.to_str().unwrap()]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    let text = std::fs::read_to_string(path.join("bls12_381/pairing.sol")).unwrap();
    assert!(text.contains("library Bls12381Pairing {"));
}

/// `evm384/f6m_mul` has 21,432 bytes for today's EVM, `bls12_381/pairing` under EVM384 92,333.
#[test]
fn code_that_no_account_may_have_is_still_written() {
    let of = ["build", "bls12_381/pairing", "--revision", "evm384-v7"];
    for (fork, holds, price) in [("osaka", "holds 24576 (EIP-170)", 200), ("amsterdam", "holds 65536 (EIP-7954)", 1530)]
    {
        let built = residue(&[&of[..], &["--fork", fork, "--json"]].concat());
        let told = built.json(0);
        let bytes = told["code_bytes"].as_u64().unwrap();
        assert_eq!((&told["fits"], &told["deployment_gas"]), (&false.into(), &(bytes * price).into()), "{fork}");
        for part in [holds, &bytes.to_string(), &format!("at {price} a byte")] {
            assert!(built.stderr.contains(part), "{part:?} is not in {}", built.stderr);
        }
    }
    let told = residue(&[&of[..], &["--fork", "tangerine", "--json"]].concat());
    assert_eq!(told.stderr, "");
    assert_eq!((&told.json(0)["fits"], &told.json(0)["code_bytes_max"]), (&true.into(), &Value::Null));
}

#[test]
fn code_beyond_a_limit_is_refused_and_nothing_is_written() {
    let of = ["build", CONTRACT];
    let bytes = (build(&[]).len() - 2) / 2;
    let (just, less) = (bytes.to_string(), (bytes / 4).to_string());
    let limited = |limit: &str| residue(&[&of[..], &["--code-limit", limit]].concat());
    limited(&just).text();
    limited("fork").text();
    let file = directory("formats-limit").join("code");
    let refused = residue(
        &[&of[..], &["--code-limit", &less, "--output", file.to_str().unwrap(), "--multiples", "additions"]].concat(),
    );
    refused.refused(&[CONTRACT, "bytes of code, more than --code-limit"]);
    assert!(!file.exists());
    let long = ["build", "bls12_381/pairing", "--revision", "evm384-v7", "--code-limit", "fork", "--fork"];
    residue(&[&long[..], &["osaka"]].concat()).refused(&["bytes of code", "24576 bytes (EIP-170, osaka)"]);
    residue(&[&long[..], &["frontier"]].concat()).refused(&["frontier hold code of any length", "--code-limit BYTES"]);
    residue(&["build", "examples/ir/polynomial.ir", "--code-limit", "7"]).refused(&[]);
    limited("many").refused(&["many", "fork"]);
}

/// Shorter forms where no formulas are short enough.
#[test]
fn a_limit_and_calls_choose_shorter_forms() {
    let of = ["build", "bn254/add", "--revision", "evm", "--json"];
    let form = |more: &[&str]| {
        let built = residue(&[&of[..], more].concat()).json(0);
        let gas = built["variants"][0]["gas"].as_u64().unwrap();
        (built["code_bytes"].as_u64().unwrap(), gas, built["calls"].clone())
    };
    let (bytes, gas, calls) = form(&[]);
    assert_eq!(calls, Value::Null);
    let (fewer, more_gas, _) = form(&["--code-limit", "2000"]);
    assert!(fewer <= 2000 && fewer < bytes && gas < more_gas, "{fewer} bytes for {bytes}, {more_gas} gas for {gas}");
    let (fewest, most_gas, calls) = form(&["--calls", "1"]);
    assert!(fewest < fewer && more_gas < most_gas && calls == 1, "{fewest} bytes, {most_gas} gas, {calls}");
    assert_eq!(form(&["--calls", "1000000000000"]), (bytes, gas, 1_000_000_000_000u64.into()));
    // At 1,530 a byte eight calls and a half weigh what one does at 200.
    assert_eq!(form(&["--calls", "1530", "--fork", "amsterdam"]).0, form(&["--calls", "200"]).0);
    residue(&[&of[..], &["--code-limit", "1000"]].concat()).refused(&["bn254/add has", "bytes", "--code-limit 1000"]);
    residue(&[&of[..], &["--calls", "0"]].concat()).refused(&["--calls", "'0'", "at least 1 call"]);
    residue(&[&of[..], &["--calls", "many"]].concat()).refused(&["--calls", "many", "a number of calls"]);
}

/// Of the variants of a contract the cheapest that is short enough is taken.
#[test]
fn a_limit_chooses_among_formulas() {
    let of = ["build", "bls12_381/fp2_mul", "--json"];
    let told = residue(&of).json(0);
    let of_variants = told["variants"].as_array().unwrap();
    let shortest = of_variants.iter().map(|variant| variant["code_bytes"].as_u64().unwrap()).min().unwrap();
    assert!(told["code_bytes"].as_u64().unwrap() > shortest, "the cheapest is not the shortest");
    let limited = residue(&[&of[..], &["--code-limit", &shortest.to_string()]].concat()).json(0);
    assert_eq!(limited["code_bytes"], shortest);
    assert_eq!(limited["variants"][0]["code_bytes"], shortest);
    assert_eq!(limited["variants"].as_array().unwrap().len(), of_variants.len());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |more: &[&str], parts: &[&str]| residue(&[&["build"], more].concat()).refused(parts);
    refused(&[CONTRACT, "--address", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"], &["--format solidity"]);
    refused(&[CONTRACT, "--format", "solidity", "--address", "0x12"], &["0x12"]);
    refused(&[CONTRACT, "--format", "wasm"], &["wasm", "solidity"]);
    refused(&[CONTRACT, "--format", "yul", "--explain"], &["--explain"]);
    refused(&[CONTRACT, "--format", "bin", "--json"], &["--output"]);
    refused(&["all", "--format", "yul"], &["--output"]);
}

/// `clients/solc/check.js` says what is compared.
#[test]
fn solc_makes_the_same_of_them() {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/solc");
    if !client.join("node_modules/solc").is_dir() || Command::new("node").arg("--version").output().is_err() {
        println!("skipped: node, or solc in clients/solc, is not installed (`npm ci` there installs it)");
        return;
    }
    let mut command = Command::new("node");
    command.arg("check.js").current_dir(client).env("RESIDUE", env!("CARGO_BIN_EXE_residue"));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("28 passed, 0 failed"), "{text}");
}
