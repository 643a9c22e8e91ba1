//! Schedules from files, and gas in fractions: exact in thousandths, rounded up once.

use crate::support::{assembled, directory, file, residue, residue_reading};
use serde_json::{Value, json};

const SLOTS: &str = r#"
name = "particle"
summary = "fractions"
revisions = ["eip6690-2024"]

[base]
SETMODX = 0.3
LOADX = 0.25
STOREX = 0.75
ADDMODX = 0.1
SUBMODX = 0
MULMODX = 0

[per_width]
set_modulus = [2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6]
add = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
sub = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
mul = [1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25]
transfer = [0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4]

[per_word]
transfer = 0.7

[evm]
PUSH = 0.1
MSTORE8 = 0.5
"#;

const MEMORY: &str = r#"
name = "particle-384"
summary = "fractions"
revisions = ["evm384-v7"]

[base]
ADDMOD384 = 0.2
SUBMOD384 = 0.2
MULMODMONT384 = 1.5
LOGF = 1

[evm]
PUSH = 0.1
"#;

/// The object of a run under a schedule that is given as text.
fn run(test: &str, schedule: &str, revision: &str, text: &str, gas: &str, code: i32) -> Value {
    let path = file(&directory(test), "schedule.toml", schedule);
    let args = ["run", "-", "--json", "--no-time", "--revision", revision, "--schedule", &path, "--gas", gas];
    residue_reading(&assembled(text, revision), &args).json(code)
}

#[test]
fn slots_are_priced_in_thousandths() {
    let text = "
        PUSH1 101 PUSH1 31 MSTORE8
        PUSH1 4 PUSH1 1 PUSH1 31 PUSH1 0 SETMODX
        PUSH1 3 PUSH1 0 PUSH1 0 STOREX
        ADDMODX 3 0 1  ADDMODX 0 0 0 x3  MULMODX 3 0 1
        PUSH1 2 PUSH1 0 PUSH1 0 LOADX
        PUSH1 4 PUSH1 1 PUSH1 31 PUSH1 0 SETMODX";
    let object = run("slots_thousandths", SLOTS, "eip6690-2024", text, "1000", 0);
    let arithmetic = (100 + 500) + (100 + 3 * 500) + 1250;
    let transfer = 500 + (300 + 2600) + (750 + 3 * 400) + (250 + 2 * 400) + 300;
    let control = 16 * 100;
    // One word of memory; four slots of 8 bytes are another.
    let memory = 3000 + 3000;
    let total: u64 = (arithmetic + transfer + control + memory as u64).div_ceil(1000);
    assert_eq!(object["gas_used"], total);
    let split = &object["gas_split"];
    // The running sums are rounded up: 3.45, 10.15 and 11.75 gas.
    assert_eq!(*split, json!({ "arithmetic": 4, "transfer": 7, "memory": 6, "control": 1 }));
    assert_eq!(object["schedule"], "particle");
}

#[test]
fn a_power_of_two_pays_by_the_word() {
    let text = "
        PUSH1 128 PUSH1 31 MSTORE8
        PUSH1 9 PUSH1 1 PUSH1 31 PUSH1 0 SETMODX
        PUSH1 3 PUSH1 0 PUSH1 0 STOREX";
    let object = run("power_of_two", SLOTS, "eip6690-2024", text, "1000", 0);
    // Three values of 8 bytes begin one word. Nine slots are three words, the memory one.
    let thousandths: u64 = 500 + 300 + (750 + 700) + 9 * 100 + 3000 + 3 * 3000;
    assert_eq!(object["gas_used"], thousandths.div_ceil(1000));
}

#[test]
fn packed_operands_are_priced_with_their_instruction() {
    let text = "ADDMOD384 0 0 0 0 ADDMOD384 0 0 0 0 MULMODMONT384 0 0 0 0 PUSH1 1 PUSH1 1";
    let object = run("memory_thousandths", MEMORY, "evm384-v7", text, "1000", 0);
    // Two words: 48 + 8 bytes.
    let arithmetic = 2 * (200 + 100) + (1500 + 100);
    assert_eq!(object["gas_used"], (arithmetic + 200_u64).div_ceil(1000) + 6);
    assert_eq!(object["gas_split"], json!({ "arithmetic": 3, "transfer": 0, "memory": 6, "control": 0 }));
}

#[test]
fn execution_is_metered_in_whole_gas_and_an_exceptional_halt_takes_all() {
    // Four pushes of 0.1 are metered as one each.
    let text = "PUSH1 1 PUSH1 1 PUSH1 1 PUSH1 1";
    assert_eq!(run("metered_enough", MEMORY, "evm384-v7", text, "4", 0)["gas_used"], 1);
    let object = run("metered_short", MEMORY, "evm384-v7", text, "3", 1);
    assert_eq!((&object["halt"], &object["gas_used"]), (&json!("out_of_gas"), &json!(3)));
}

#[test]
fn gas_that_a_callee_burns_is_not_exact() {
    // The code calls itself with 50 gas; the callee, which has calldata, pushes and then halts exceptionally.
    let call = |end: &str| {
        format!(
            "CALLDATASIZE PUSH @callee JUMPI
             PUSH1 0 PUSH1 0 PUSH1 1 PUSH1 0 PUSH1 0 ADDRESS PUSH1 50 CALL POP STOP
             callee: PUSH1 0 PUSH1 0 {end}"
        )
    };
    let gas = |test, end: &str| run(test, MEMORY, "evm384-v7", &call(end), "100000", 0)["gas_used"].as_u64().unwrap();
    // CALLDATASIZE, JUMPI, ADDRESS, CALL of a warm account with a word of memory, POP; seven pushes.
    let caller: u64 = 2000 + 10_000 + 2000 + 100_000 + 3000 + 2000 + 7 * 100;
    // CALLDATASIZE, JUMPI, JUMPDEST; three pushes.
    let callee: u64 = 2000 + 10_000 + 1000 + 3 * 100;
    assert_eq!(gas("callee_stops", "STOP"), (caller + callee).div_ceil(1000));
    assert_eq!(gas("callee_burns", "INVALID"), (caller + 50_000).div_ceil(1000));
}

#[test]
fn a_schedule_is_found_by_path_or_behind_an_at_sign() {
    let path = file(&directory("schedule_path"), "own.toml", SLOTS);
    for schedule in [path.clone(), format!("@{path}")] {
        let args = ["run", "-", "--json", "--no-time", "--schedule", &schedule];
        assert_eq!(residue_reading("00", &args).json(0)["schedule"], "particle");
    }
}

#[test]
fn a_wrong_schedule_names_file_and_line() {
    let directory = directory("wrong_schedule");
    let refused = |name: &str, content: &str, parts: &[&str]| {
        let path = file(&directory, name, content);
        let ran = residue_reading("00", &["run", "-", "--schedule", &path]);
        ran.refused(&[&[path.as_str()], parts].concat());
    };
    refused(
        "price.toml",
        &SLOTS.replace("SETMODX = 0.3", "SETMODX = -3"),
        &["price.toml:7:", "SETMODX = -3", "negative"],
    );
    refused("key.toml", &SLOTS.replace("LOADX", "LOADY"), &["key.toml:8:", "LOADY"]);
    refused("syntax.toml", "name = ", &["syntax.toml:1:"]);
    refused("other.toml", MEMORY, &["particle-384", "eip6690-2024"]);
    refused("raw.toml", "", &["raw.toml"]);
    residue(&["run", "-", "--schedule", "@nowhere.toml"]).refused(&["nowhere.toml"]);
}
