//! `residue trace` and `residue profile`: executed instructions, and their gas by function.

use crate::support::{assembled, directory, residue, residue_reading};
use serde_json::Value;

#[test]
fn a_line_has_pc_mnemonic_operands_values_and_source() {
    for (revision, parts) in [
        ("eip6690-2024", ["MULMODX", " = s", "  ; start/fp2_mul"]),
        ("evm384-v7", ["MULMODMONT384", "[0x", "  ; start/fp2_mul"]),
        ("evm384-v9", ["MULMODMONT384", "[0x", "  ; start/fp2_mul"]),
    ] {
        let ran = residue(&["trace", "bls12_381/fp2_mul", "--revision", revision]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let line = ran.stdout.lines().find(|line| line.contains(parts[0]) && line.contains(parts[2])).unwrap();
        assert!(parts.iter().all(|part| line.contains(part)) && line.starts_with("0x"), "{line}");
        assert!(line.contains(" * 0x") && line.contains("  |  0x"), "{line}");
        assert!(ran.stderr.contains(" instructions shown, 0 not"), "{}", ran.stderr);
    }
}

#[test]
fn the_product_in_the_trace_is_the_output() {
    let trace = residue(&["trace", "bls12_381/fp2_mul", "--json"]).json(0);
    let run = residue(&["run", "bls12_381/fp2_mul", "--example", "--no-time", "--json"]).json(0);
    assert_eq!(trace["gas_used"], run["gas_used"]);
    let steps = trace["steps"].as_array().unwrap();
    let gas: u64 = steps.iter().map(|step| step["gas_cost"].as_u64().unwrap()).sum();
    assert_eq!(gas, run["gas_used"].as_u64().unwrap());
    let lanes = steps.iter().flat_map(|step| step["lanes"].as_array().unwrap());
    let values: Vec<&str> = lanes.filter_map(|lane| lane["out"]["value"].as_str()).collect();
    let output = run["output"].as_str().unwrap();
    // Both coefficients of the product are results of field arithmetic.
    let found = values.iter().filter(|value| output.contains(value.trim_start_matches("0x"))).count();
    assert!(found >= 2, "{values:?} {output}");
}

#[test]
fn a_function_can_be_chosen_and_lines_be_limited() {
    let all = ["trace", "bls12_381/pairing", "--function", "doubling_step", "--json", "--limit", "7"];
    let traced = residue(&all).json(0);
    let steps = traced["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 7);
    for step in steps {
        assert!(step["source"].as_str().unwrap().contains("/doubling_step"), "{step}");
    }
    residue(&["trace", "bls12_381/fp2_mul", "--function", "fp3_mul"])
        .refused(&["unknown function \"fp3_mul\"", "fp2_mul"]);
    residue_reading("0x00", &["trace", "-", "--function", "start"])
        .refused(&["--function has no effect on \"-\", which is code"]);
    residue(&["trace", "bls12_381/fp3_mul"]).refused(&["\"bls12_381/fp3_mul\"", "list contracts"]);
}

#[test]
fn code_that_halts_exits_with_one() {
    let code = assembled("PUSH 7 PUSH 0 MSTORE ADD", "eip6690-2024");
    let ran = residue_reading(&code, &["trace", "-", "--json"]).json(1);
    assert_eq!(ran["success"], false);
    let steps = ran["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[3]["mnemonic"]), (4, &Value::from("ADD")));
    assert_eq!(steps[3]["halt"], ran["halt"]);
}

#[test]
fn gas_and_calls_are_told_by_function() {
    let profile = residue(&["profile", "bls12_381/pairing", "--no-time", "--json"]).json(0);
    let run = residue(&["run", "bls12_381/pairing", "--example", "--no-time", "--json"]).json(0);
    assert_eq!(profile["gas_used"], run["gas_used"]);
    let nodes = profile["nodes"].as_array().unwrap();
    assert_eq!(nodes.iter().map(|node| node["gas"].as_u64().unwrap()).sum::<u64>(), run["gas_used"].as_u64().unwrap());
    let names: Vec<&str> = nodes.iter().filter_map(|node| node["name"].as_str()).collect();
    for name in ["doubling_step", "addition_step", "cyclotomic_square", "fp12_mul", "fp2_mul", "g1_membership"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    assert!(profile["time_ns"].is_null());
}

#[test]
fn a_flame_graph_is_written_and_times_are_shown() {
    let path = directory("profile").join("fp2.svg");
    let ran = residue(&["profile", "bls12_381/fp2_mul", "--svg", path.to_str().unwrap(), "--by", "time"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in ["own time", "fp2_mul", "start"] {
        assert!(ran.stdout.contains(part), "{}", ran.stdout);
    }
    let svg = std::fs::read_to_string(path).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("µs") && svg.trim_end().ends_with("</svg>"), "{svg}");
    residue(&["profile", "bls12_381/fp2_mul", "--svg", "-", "--by", "time", "--no-time"]).refused(&["--by time"]);
    residue(&["profile", "nothing"]).refused(&["\"nothing\""]);
}
