//! Signatures, hashes, Poseidon and Poseidon2 against published vectors, under EIP-6690.

use num_bigint::BigUint;
use residue_compiler::compile;
use residue_conformance::vectors;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt, Prepared};
use residue_isa::{GasSchedule, Revision};
use serde_json::Value;

const GAS: u64 = 10_000_000;

fn contract(name: &str) -> Prepared {
    let revision = Revision::Eip6690_2024;
    let program = find(name).unwrap().program();
    let compiled = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap();
    Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&compiled.code)
}

fn bytes(case: &Value, name: &str) -> Vec<u8> {
    hex::decode(case[name].as_str().unwrap().trim_start_matches("0x")).unwrap()
}

/// Every case of a file: the contract returns what the case expects for its input.
fn check(name: &str, folder: &str, file: &str, read: impl Fn(&Value) -> Option<(Vec<u8>, Vec<u8>)>) {
    let Some(folder) = vectors::folder(folder) else { return };
    let mut contract = contract(name);
    for case in vectors::cases::<Value>(&folder, file).unwrap() {
        let Some((input, expected)) = read(&case) else { continue };
        let outcome = contract.run_without_memory(&input, GAS);
        assert_eq!(
            (outcome.halt, hex::encode(outcome.output)),
            (Halt::Return, hex::encode(expected)),
            "{name}: {case}"
        );
    }
}

fn word(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

fn truth(is_valid: bool) -> Vec<u8> {
    word(&u8::from(is_valid).into())
}

#[test]
fn calls_of_precompiles() {
    let call = |case: &Value| Some((bytes(case, "Input"), bytes(case, "Expected")));
    check("p256/verify", "p256", "p256Verify_even.json", call);
    let verdict = |case: &Value| Some((bytes(case, "Input"), truth(case["Expected"] == 1)));
    check("p384/verify", "p384", "wycheproof.json", verdict);
    check("secp521r1/verify", "p521", "wycheproof.json", verdict);
    check("secp256k1/recover", "ecrecover", "wycheproof_secp256k1.json", call);
    check("secp256k1/recover", "other", "ecRecover.json", call);
}

#[test]
fn hashes() {
    let call = |case: &Value| Some((bytes(case, "Input"), bytes(case, "Expected")));
    check("hashes/ripemd160", "ripemd160", "standard.json", call);
    // One of them has eight million rounds.
    let short = |case: &Value| call(case).filter(|(input, _)| input[..2] == [0, 0]);
    check("hashes/blake2f", "other", "blake2F.json", short);
    check("hashes/blake2f", "blake2f", "evmification.json", |case| {
        Some((bytes(case, "input"), bytes(case, "expected")))
    });
    check("hashes/sha512", "hashes", "celo_cip20.json", |case| {
        Some((bytes(case, "preimage"), bytes(case, "sha2_512")))
    });
}

#[test]
fn calls_that_blake2f_refuses() {
    let Some(folder) = vectors::folder("blake2f") else { return };
    let mut contract = contract("hashes/blake2f");
    for case in vectors::cases::<Value>(&folder, "fail-blake2f.json").unwrap() {
        let halt = contract.run_without_memory(&bytes(&case, "Input"), GAS).halt;
        assert!(halt.is_exceptional() && halt != Halt::OutOfGas, "{halt:?}: {case}");
    }
}

#[test]
fn signatures_of_bip340() {
    check("bip340/verify", "bip340", "test-vectors.json", |case| {
        let input = [bytes(case, "public key"), bytes(case, "signature"), bytes(case, "message")].concat();
        Some((input, truth(case["verification result"] == "TRUE")))
    });
}

#[test]
fn signatures_of_ed25519() {
    // A signature of Wycheproof that is longer or shorter is not one; its message would be taken for the rest of it here.
    let wycheproof = |case: &Value| {
        let signature = bytes(case, "sig");
        let input = [bytes(case, "pk"), signature.clone(), bytes(case, "msg")].concat();
        (signature.len() == 64).then(|| (input, truth(case["result"] == "valid")))
    };
    // CIP-25 has 0 for a signature, and what is no call of it has no answer.
    let celo = |case: &Value| {
        let input = bytes(case, "Input");
        let expected = bytes(case, "Expected");
        (expected.len() == 32).then(|| (input, truth(expected.iter().all(|&byte| byte == 0))))
    };
    // ZIP-215 takes encodings that RFC 8032 refuses.
    let has_encoding = |case: &Value| case["flags"].as_array().unwrap().iter().all(|flag| flag != "InvalidEncoding");
    check("ed25519/verify", "ed25519", "wycheproof.json", |case| wycheproof(case));
    check("ed25519/zip215", "ed25519", "wycheproof.json", |case| {
        has_encoding(case).then(|| wycheproof(case)).flatten()
    });
    for name in ["ed25519/verify", "ed25519/zip215"] {
        check(name, "ed25519", "celo_ed25519Verify.json", celo);
    }
}

fn numbers(values: &Value) -> Vec<u8> {
    let number = |value: &Value| match value.as_str() {
        Some(text) => match text.strip_prefix("0x") {
            Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16).unwrap(),
            None => text.parse().unwrap(),
        },
        None => value.as_u64().unwrap().into(),
    };
    values.as_array().unwrap().iter().flat_map(|value| word(&number(value))).collect()
}

#[test]
fn hashes_of_poseidon() {
    for elements in 1..=5 {
        check(&format!("poseidon/t{}", elements + 1), "poseidon", "circomlib_bn254.json", |case| {
            let is_ours = case["inputs"].as_array().unwrap().len() == elements;
            is_ours.then(|| (numbers(&case["inputs"]), numbers(&case["outputs"])))
        });
    }
    for (field, contract) in [
        ("goldilocks", "goldilocks"),
        ("bls12", "bls12_381"),
        ("bn256", "bn254"),
        ("pallas", "pallas"),
        ("vesta", "vesta"),
        ("babybear", "babybear"),
    ] {
        for width in [2, 3, 4, 12, 16] {
            let name = format!("poseidon2/{contract}_t{width}");
            if find(&name).is_none() {
                continue;
            }
            check(&name, "poseidon", "poseidon2_horizenlabs.json", |case| {
                let is_ours = case["permutation"] == format!("Poseidon2 {field}") && case["t"] == width;
                is_ours.then(|| (numbers(&case["input"]), numbers(&case["output"])))
            });
        }
    }
}
