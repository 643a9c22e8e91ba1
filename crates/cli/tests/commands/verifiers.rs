//! Verifiers: contracts that commands make of a key.

use crate::support::{directory, file, residue};
use serde_json::Value;

const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/groth16/key.json");
const PROOF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/groth16/proof.json");
const PUBLIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/groth16/public.json");

fn groth16(command: &str, options: &[&str]) -> Value {
    let args = [&[command, "groth16", "--key", KEY, "--json"], options].concat();
    residue(&args).json(0)
}

fn word(last: u8) -> String {
    format!("0x{last:064x}")
}

#[test]
fn a_key_makes_a_contract_that_every_command_takes() {
    let proof = ["--proof", PROOF, "--public", PUBLIC];
    let run = groth16("run", &[&proof[..], &["--no-time"]].concat());
    assert_eq!(run["output"], word(1));
    let with_witness = groth16("run", &[&proof[..], &["--witness", "--no-time"]].concat());
    assert_eq!(with_witness["output"], word(1));
    let gas = |run: &Value| run["gas_used"].as_u64().unwrap();
    assert!(gas(&with_witness) + 25_000 < gas(&run), "{with_witness} {run}");

    let built = groth16("build", &[]);
    assert_eq!(built["contract"], "groth16");
    let directory = directory("verifiers");
    let code = file(&directory, "verifier.hex", built["code"].as_str().unwrap());
    let call = groth16("example", &proof);
    assert_eq!(call["output"], word(1));
    let input = call["input"].as_str().unwrap();
    let again = residue(&["run", &code, "--input", input, "--no-time", "--json"]).json(0);
    assert_eq!((&again["output"], &again["gas_used"]), (&run["output"], &run["gas_used"]));
    // The example that a key has by itself is no proof.
    assert_eq!(groth16("example", &[])["output"], word(0));
    assert_eq!(groth16("run", &["--example", "--no-time"])["output"], word(0));

    let profile = groth16("profile", &[&proof[..], &["--no-time"]].concat());
    assert_eq!(profile["gas_used"], run["gas_used"]);
    let compared =
        groth16("compare", &[&proof[..], &["--no-time", "--revisions", "eip6690-2024,evmone-2023"]].concat());
    assert_eq!(compared["rows"].as_array().unwrap().len(), 2);
    let printed = groth16("print", &[]);
    let text = file(&directory, "verifier.ir", printed["program"].as_str().unwrap());
    let multiples = printed["multiples"].as_str().unwrap();
    let from_text = residue(&["build", &text, "--multiples", multiples, "--json"]).json(0);
    assert_eq!(from_text["code"], built["code"]);
    let solidity = groth16("build", &["--format", "solidity"]);
    assert!(solidity["artifact"].as_str().unwrap().contains("library Groth16"), "{solidity}");
    let traced = residue(&["trace", "groth16", "--key", KEY, "--limit", "3"]);
    assert_eq!(traced.code, 0, "{}", traced.stderr);
    let listed = residue(&["list", "verifiers", "--json"]).json(0);
    assert_eq!(listed["verifiers"][0]["name"], "groth16");
}

#[test]
fn what_is_wrong_with_a_key_or_a_proof_is_said_by_file_field_and_value() {
    let directory = directory("verifiers_wrong");
    let key: Value = serde_json::from_str(&std::fs::read_to_string(KEY).unwrap()).unwrap();
    let mut other = key.clone();
    other["IC"][1][0] = "1".into();
    let other = file(&directory, "other.json", other.to_string());
    residue(&["build", "groth16", "--key", &other]).refused(&["other.json", "IC[1] is not on the curve: x is 1,"]);
    let text = file(&directory, "text.json", "vk");
    residue(&["build", "groth16", "--key", &text]).refused(&["text.json", "it is not JSON"]);
    residue(&["build", "groth16", "--key", "nowhere.json"]).refused(&["reading the key", "nowhere.json"]);
    residue(&["build", "groth16"]).refused(&["groth16 is made of a verifying key: --key FILE"]);
    residue(&["run", "groth16"]).refused(&["--key FILE"]);
    residue(&["build", "plonk", "--key", KEY]).refused(&["protocol is \"groth16\"", "plonk"]);
    residue(&["build", "bn254/add", "--key", KEY])
        .refused(&["--key has no effect on \"bn254/add\"", "`residue list verifiers`"]);
    residue(&["build", "groth16", "--witness"]).refused(&["--key"]);
    residue(&["run", "groth16", "--key", KEY, "--proof", PROOF]).refused(&["--public"]);
    let inputs = file(&directory, "inputs.json", "[\"1\"]");
    let refused = residue(&["run", "groth16", "--key", KEY, "--proof", PROOF, "--public", &inputs]);
    refused.refused(&["inputs.json", "a list of 1", "as many inputs as the key has"]);
    let refused = residue(&["run", "groth16", "--key", KEY, "--proof", KEY, "--public", PUBLIC]);
    refused.refused(&["key.json", "pi_a is missing"]);
}

#[test]
fn a_proof_that_does_not_hold_has_no_witness() {
    let directory = directory("verifiers_false");
    let inputs = file(&directory, "inputs.json", "[\"1\", \"2\"]");
    let ran = residue(&["example", "groth16", "--key", KEY, "--witness", "--proof", PROOF, "--public", &inputs]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("has no witness"), "{}", ran.stderr);
    assert_eq!(ran.stdout.trim().len(), 2 + 2 * (4 + 32 * 10));
}

#[test]
fn on_the_evm_of_today_verifiers_call_precompiles() {
    let proof = ["--proof", PROOF, "--public", PUBLIC, "--no-time"];
    let evm = ["--revision", "evm", "--fork", "prague", "--use-precompiles"];
    let run = groth16("run", &[&proof[..], &evm].concat());
    assert_eq!(run["output"], word(1));
    let built = groth16("build", &[&evm[..], &["--format", "solidity"]].concat());
    assert_eq!((&built["precompiles"], &built["fits"]), (&true.into(), &true.into()));
    assert!(built["artifact"].as_str().unwrap().contains("hard fork prague and its precompiles"), "{built}");
    // Where field instructions make it cheaper without them there are none.
    let field = groth16("run", &[&proof[..], &["--use-precompiles"]].concat());
    let without = groth16("run", &proof);
    assert_eq!((&field["output"], &field["gas_used"]), (&word(1).into(), &without["gas_used"]));
    let thin = |name: &str, revision: &str| {
        let built = residue(&["build", name, "--revision", revision, "--use-precompiles", "--json"]).json(0);
        built["code_bytes"].as_u64().unwrap() < 64
    };
    assert!(thin("bn254/mul", "eip6690-2024") && thin("bls12_381/g1_add", "evm"));
}

#[test]
fn a_key_for_which_proofs_can_be_made_up_takes_a_flag() {
    let directory = directory("verifiers_unsafe");
    let mut key: Value = serde_json::from_str(&std::fs::read_to_string(KEY).unwrap()).unwrap();
    key["vk_gamma_2"] = key["vk_delta_2"].clone();
    let path = file(&directory, "unsafe.json", key.to_string());
    let refusal =
        ["unsafe.json", "vk_delta_2 is vk_gamma_2: proofs of any inputs can be made up", "--allow-unsafe-key takes it"];
    for command in ["build", "run", "print", "profile", "trace", "example", "compare"] {
        residue(&[command, "groth16", "--key", &path]).refused(&refusal);
    }
    let built = residue(&["build", "groth16", "--key", &path, "--allow-unsafe-key", "--json"]).json(0);
    assert!(built["code_bytes"].as_u64().unwrap() > 0);
    // Another fault of the key is one in any case.
    key["vk_gamma_2"] = key["vk_alpha_1"].clone();
    let path = file(&directory, "broken.json", key.to_string());
    residue(&["build", "groth16", "--key", &path, "--allow-unsafe-key"]).refused(&["broken.json", "vk_gamma_2"]);
    residue(&["build", "groth16", "--allow-unsafe-key"]).refused(&["--key"]);
}

#[test]
fn a_proof_may_bring_its_inputs_and_files_a_mark() {
    let directory = directory("verifiers_forms");
    let read = |path: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap() };
    let full = serde_json::json!({ "proof": read(PROOF), "publicSignals": read(PUBLIC) });
    let full = file(&directory, "full.json", format!("\u{feff}{full}"));
    let key = file(&directory, "marked.json", format!("\u{feff}{}", read(KEY)));
    let run = |options: &[&str]| {
        let args = [&["example", "groth16", "--key", &key, "--json"], options].concat();
        residue(&args).json(0)["output"].clone()
    };
    assert_eq!(run(&["--proof", &full]), word(1));
    assert_eq!(run(&["--proof", &full, "--public", PUBLIC]), word(1));
    assert_eq!(run(&["--proof", PROOF, "--public", &full]), word(1));
    let wide: Vec<u8> = read(KEY).to_string().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = file(&directory, "wide.json", wide);
    residue(&["build", "groth16", "--key", &wide]).refused(&["wide.json", "it is UTF-16 text"]);
}
