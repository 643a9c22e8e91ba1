//! `build --certificate` and `prove`.

use crate::support::{directory, file, residue, residue_reading};

#[test]
fn a_certificate_is_of_its_code_and_program() {
    let folder = directory("certificates");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (certificate, code, mut text) = (path("t2.cert"), path("t2.hex"), String::new());
    let mut proved = serde_json::Value::Null;
    for (revision, bytes) in [("evmmax-next", 6208), ("eip6690-2024", 6249), ("evm", 4037)] {
        let build = ["build", "poseidon2/bn254_t2", "--revision", revision];
        residue(&[&build[..], &["--output", &code, "--certificate", &certificate]].concat()).text();
        let gas = residue(&["run", build[1], "--example", "--revision", revision, "--no-time", "--json"]).json(0);
        let program = file(&folder, "t2.ir", residue(&["print", build[1], "--revision", revision]).text());
        proved = residue(&["prove", &certificate, "--code", &code, "--program", &program, "--json"]).json(0);
        assert_eq!((&proved["gas"], proved["code_bytes"].as_u64()), (&gas["gas_used"], Some(bytes)));
        assert_eq!(proved["revision"], revision);
        text = std::fs::read_to_string(&certificate).unwrap();
    }
    let said = residue_reading(&text, &["prove", "-"]);
    for hash in ["code_sha256", "program_sha256"] {
        assert!(said.text().contains(proved[hash].as_str().unwrap()), "{}", said.text());
    }

    residue(&["prove", &certificate, "--code", &file(&folder, "other.hex", "0x00")])
        .refused(&["not of that in", "other.hex"]);
    let other = file(&folder, "other.ir", residue(&["print", "poseidon/t2", "--revision", "evm"]).text());
    residue(&["prove", &certificate, "--program", &other]).refused(&["not of that in", "other.ir"]);
    let older = text.replacen("residue-certificate 1", "residue-certificate 0", 1);
    residue_reading(&older, &["prove", "-"]).refused(&["line 1: version \"0\"", "only 1"]);
    residue_reading(&text.replacen("gas 6199", "gas 6198", 1), &["prove", "-"]).refused(&["line 709", "6199"]);
}

#[test]
fn every_build_says_whether_its_code_is_proved() {
    let built =
        |contract: &str, revision: &str| residue(&["build", contract, "--revision", revision, "--json"]).json(0);
    for (contract, revision, gas) in [
        ("poseidon2/bn254_t2", "evm", 6199),
        ("poseidon2/bn254_t2", "eip6690-2024", 1555),
        ("poseidon2/bn254_t2", "evmmax-next", 1180),
        ("bn254/add", "evm", 5426),
        ("bn254/add", "eip6690-2024", 1022),
        ("bls12_381/g1_add", "eip6690-2024", 2031),
        ("poseidon2/merkle", "evm", 261),
    ] {
        let proved = built(contract, revision);
        assert_eq!((&proved["proof"]["gas"], &proved["unproved"]), (&gas.into(), &serde_json::Value::Null));
        assert_eq!(proved["proof"]["turn_gas"].as_u64(), contract.ends_with("merkle").then_some(7826));
    }
    for (contract, revision, reason) in [
        ("baby_jubjub/mul", "evm", "do not know variables"),
        ("bn254/mul", "eip6690-2024", "do not know "),
        ("bls12_381/g1_add", "evm", "do not know a modulus of 381 bits in code for evm"),
        ("poseidon2/bn254_t2", "x-codex", "they speak of code for evm, eip6690-2024, evmmax-next"),
    ] {
        let judged = built(contract, revision);
        assert!(judged["proof"].is_null() && judged["unproved"].as_str().unwrap().contains(reason), "{judged}");
    }
    let explained = residue(&["build", "poseidon2/bn254_t2", "--revision", "evm", "--explain"]);
    assert!(explained.text().contains("proved for all calldata, with 6 199 gas or more"), "{}", explained.text());
}

#[test]
fn a_certificate_that_cannot_be_made_leaves_no_file() {
    let folder = directory("no_certificates");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (certificate, code) = (path("c.cert"), path("c.hex"));
    let build = |contract: &str, rest: &[&str]| {
        residue(&[&["build", contract, "--certificate", &certificate, "--output", &code], rest].concat())
    };
    build("bn254/mul", &["--revision", "evm"]).refused(&["bn254/mul", "do not know "]);
    build("baby_jubjub/mul", &["--revision", "evm"]).refused(&["do not know variables"]);
    build("poseidon/t3", &["--revision", "x-codex"]).refused(&["do not know code for x-codex", "eip6690-2024"]);
    build("poseidon/t3", &["--revision", "eip6690-2024", "--schedule", "geth"])
        .refused(&["at the prices of eip6690,", "those of geth"]);
    build("all", &["--revision", "evm"]).refused(&["--certificate has no effect on \"all\""]);
    residue(&["build", "poseidon/t3", "--revision", "evm", "--certificate", "-"]).refused(&["it takes a file"]);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
