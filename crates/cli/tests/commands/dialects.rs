//! `--fork`: code without the opcodes that a hard fork lacks; `--portable`: code without bytes in immediates that hide jump targets.

use serde_json::Value;

use crate::support::{residue, residue_reading};

const CONTRACT: &str = "bls12_381/g1_add";

/// The mnemonics of what was built, as the disassembler writes them, without its data.
fn mnemonics(built: &Value) -> Vec<String> {
    let (code, bytes) = (built["code"].as_str().unwrap(), built["instruction_bytes"].as_u64().unwrap());
    let instructions = &code[..2 + 2 * usize::try_from(bytes).unwrap()];
    let text = residue_reading(instructions, &["disasm", "-", "--revision", "evm384-v7"]).text().to_owned();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn code_has_the_opcodes_of_its_fork() {
    let build = |fork: &str| {
        let built = residue(&["build", CONTRACT, "--revision", "evm384-v7", "--fork", fork, "--json"]).json(0);
        assert_eq!(built["fork"], fork);
        mnemonics(&built)
    };
    let lacks = |found: &[String], names: &[&str]| names.iter().all(|name| found.iter().all(|other| other != name));
    assert!(lacks(&build("byzantium"), &["SHR", "SHL", "PUSH0", "MCOPY"]));
    assert!(lacks(&build("istanbul"), &["PUSH0", "MCOPY"]));
    assert!(lacks(&build("shanghai"), &["MCOPY"]));
    let newest = build("osaka");
    assert!(["SHR", "PUSH0", "MCOPY"].iter().all(|name| newest.iter().any(|other| other == name)));
    let unasked = residue(&["build", CONTRACT, "--revision", "evm384-v7", "--json"]).json(0);
    assert_eq!(mnemonics(&unasked), newest);
}

#[test]
fn what_is_compiled_to_run_is_compiled_for_the_fork() {
    let run = |fork: &str| {
        let args = ["run", CONTRACT, "--example", "--no-time", "--json", "--revision", "evm384-v7", "--fork", fork];
        residue(&args).json(0)
    };
    let (old, new) = (run("istanbul"), run("osaka"));
    assert_eq!(old["output"], new["output"]);
    assert!(old["gas_used"].as_u64() > new["gas_used"].as_u64());
    let compared =
        residue(&["compare", CONTRACT, "--no-time", "--json", "--revisions", "evm384-v7", "--fork", "istanbul"]);
    assert_eq!(compared.json(0)["rows"][0]["gas_used"], old["gas_used"]);
    for command in [["profile", CONTRACT].as_slice(), &["trace", CONTRACT]] {
        let ran = residue(&[command, &["--revision", "evm384-v7", "--fork", "istanbul"]].concat());
        assert_eq!(ran.code, 0, "{command:?}: {}", ran.stderr);
    }
}

#[test]
fn what_a_fork_cannot_do_is_refused() {
    residue(&["build", "bls12_381/hash_to_g1", "--fork", "homestead"]).refused(&[
        "STATICCALL",
        "homestead",
        "byzantium",
    ]);
    residue(&["build", CONTRACT, "--fork", "osaca"]).refused(&["\"osaca\"", "did you mean osaka"]);
}

/// The bytes of immediates of strided instructions in what was built.
fn immediates(built: &Value) -> Vec<u8> {
    let revision = built["revision"].as_str().unwrap().parse::<residue_isa::Revision>().unwrap();
    let bytes = usize::try_from(built["instruction_bytes"].as_u64().unwrap()).unwrap();
    let code = hex::decode(&built["code"].as_str().unwrap()[2..]).unwrap();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes {
        let end = at + revision.bytes_at(&code[at..]);
        if revision.opcodes().iter().any(|row| row.byte == code[at]) {
            found.extend_from_slice(&code[at + 1..end]);
        }
        at = end;
    }
    found
}

#[test]
fn portable_code_has_no_immediate_that_reads_as_a_push() {
    let build = |more: &[&str]| residue(&[&["build", "bls12_381/pairing", "--json"], more].concat()).json(0);
    let hides = |built: &Value| immediates(built).iter().any(|byte| matches!(byte, 0x5b | 0x60..=0x7f));
    let (plain, portable) = (build(&[]), build(&["--portable"]));
    assert!(hides(&plain) && !hides(&portable));
    assert!(plain["code_bytes"].as_u64() < portable["code_bytes"].as_u64());
}

#[test]
fn portable_code_gives_the_same() {
    let run = |more: &[&str]| {
        let args = ["run", "bls12_381/g1_msm", "--example", "--no-time", "--json"];
        residue(&[&args, more].concat()).json(0)
    };
    let (plain, portable) = (run(&[]), run(&["--portable"]));
    assert_eq!(plain["output"], portable["output"]);
    assert_ne!(plain["gas_used"], portable["gas_used"]);
    let compared =
        residue(&["compare", "bls12_381/g1_msm", "--no-time", "--json", "--revisions", "eip6690-2024", "--portable"]);
    assert_eq!(compared.json(0)["rows"][0]["gas_used"], portable["gas_used"]);
}
