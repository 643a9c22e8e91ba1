//! A data folder stays with the chain that it was made with, and options that mean nothing are refused.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::crash::{Running, folder};

/// The words of the binary when it does not start; it ends with code 2.
fn refused(options: &[&str], data: Option<&Path>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_residue-node"));
    command.args(["--port", "0"]).args(options);
    if let Some(data) = data {
        command.arg("--data").arg(data);
    }
    let done = command.output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{options:?}: {said}");
    said
}

#[test]
fn a_folder_is_opened_with_what_it_was_made_with_and_with_nothing_else() {
    let data = folder("made-with");
    let made = ["--chain-id", "7", "--accounts", "3", "--gas-limit", "20000000"];
    let node = Running::start(&data, &made);
    node.ask("anvil_mine", json!([2])).unwrap();
    drop(node);
    let phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    let cases: [(&[&str], [&str; 2]); 6] = [
        (&["--chain-id", "5"], ["7", "5"]),
        (&["--accounts", "4"], ["--accounts 4", "3"]),
        (&["--mnemonic", phrase], ["--mnemonic", "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"]),
        (&["--gas-limit", "30000000"], ["--gas-limit 30000000", "20000000"]),
        (&["--code-size-limit", "100000"], ["--code-size-limit 100000", "none"]),
        (&["--revision", "eip6690-2024"], ["eip6690-2024", "[]"]),
    ];
    for (other, words) in cases {
        let mut options: Vec<&str> = made.to_vec();
        if let Some(at) = options.iter().position(|option| option == &other[0]) {
            options[at + 1] = other[1];
        } else {
            options.extend(other);
        }
        let said = refused(&options, Some(&data)).to_lowercase();
        assert!(words.iter().all(|word| said.contains(word)), "{other:?}: {said}");
    }
    // The chain's id is that of the folder where nothing else is said, and nothing was written meanwhile.
    let again = Running::start(&data, &made[2..]);
    assert_eq!(again.ask("eth_chainId", json!([])), Some(json!("0x7")));
    assert_eq!(again.ask("eth_blockNumber", json!([])), Some(json!("0x2")));
}

#[test]
fn a_genesis_file_may_add_forks_to_come_and_no_others() {
    let data = folder("genesis-forks");
    let file = data.with_extension("json");
    let write = |osaka: Option<u64>, chain_id: u64| {
        let config = json!({
            "chainId": chain_id, "homesteadBlock": 0, "eip150Block": 0, "eip155Block": 0, "eip158Block": 0, "byzantiumBlock": 0,
            "constantinopleBlock": 0, "petersburgBlock": 0, "istanbulBlock": 0, "berlinBlock": 0, "londonBlock": 0,
            "mergeNetsplitBlock": 0, "terminalTotalDifficulty": 0, "shanghaiTime": 0, "cancunTime": 0, "pragueTime": 0,
            "osakaTime": osaka,
        });
        let genesis =
            json!({ "config": config, "difficulty": "0x0", "gasLimit": "0x1c9c380", "timestamp": "0x1", "alloc": {} });
        std::fs::write(&file, genesis.to_string()).unwrap();
    };
    let options = ["--genesis", file.to_str().unwrap()];
    write(None, 9);
    drop(Running::start(&data, &options));
    write(Some(5_000_000_000), 9);
    drop(Running::start(&data, &options));
    write(Some(0), 9);
    let said = refused(&options, Some(&data));
    assert!(said.contains("Osaka") && said.contains("5000000000"), "{said}");
    write(Some(5_000_000_000), 10);
    let said = refused(&options, Some(&data));
    assert!(said.contains("chain id: 9, not 10"), "{said}");
}

#[test]
fn options_without_an_effect_are_refused() {
    let cases: [&[&str]; 8] = [
        &["--from-time", "5"],
        &["--as-precompiles"],
        &["--schedule", "eip6690"],
        &["--genesis", "x.json", "--chain-id", "5"],
        &["--genesis", "x.json", "--gas-limit", "5"],
        &["--fork-block-number", "5"],
        &["--block-time", "0"],
        &["--block-time", "1", "--no-mining"],
    ];
    for options in cases {
        let said = refused(options, None);
        assert!(said.contains(options[options.len() - 1]) || said.contains(options[0]), "{said}");
    }
}

#[test]
fn a_block_that_the_other_node_does_not_have_is_named() {
    let theirs = Running::start(&folder("forked-without"), &[]);
    let url = format!("http://127.0.0.1:{}", theirs.port);
    let said = refused(&["--fork-url", &url, "--fork-block-number", "99999"], None);
    assert!(said.contains("no block 99999") && said.contains("newest is 0"), "{said}");
}
