//! `residue lab`: prices come from records, and every other command takes the schedules.

use crate::support::{directory, file, residue};

/// A record of two revisions, as `lab measure` writes them.
fn record(test: &str) -> String {
    let mut text = "# group: opcodes\n# date: 2026-11-21\n# cpu: test\n\
        name,quantity,unit,baseline,median,quartile_1,quartile_3,rounds,low,high\n"
        .to_owned();
    let mut row = |name: &str, time_ns: f64| text.push_str(&format!("{name},time,ns,,{time_ns},1,1,9,1,1\n"));
    row("evm/KECCAK256/192/5000", 660.0);
    row("evm/KECCAK256/32/5000", 330.0);
    row("evm/MULMOD/256/random", 48.0);
    for (mnemonic, time_ns) in [("ADDMOD384", 6.4), ("SUBMOD384", 5.6), ("MULMODMONT384", 43.6)] {
        row(&format!("evm384-v7/{mnemonic}/384/random"), time_ns - 1.0);
        row(&format!("evm384-v7/{mnemonic}/384/near"), time_ns);
        row(&format!("evm384-v7/{mnemonic}/384/far"), 500.0);
    }
    for limbs in 1..=12 {
        let w = f64::from(limbs);
        for (mnemonic, time_ns) in [("ADDMODX", 2.0 + w), ("SUBMODX", 2.0 + w), ("MULMODX", 4.0 + w + 0.5 * w * w)] {
            row(&format!("eip6690-2024/{mnemonic}/{}/random", 64 * limbs), time_ns);
        }
    }
    file(&directory(test), "opcodes.csv", text)
}

#[test]
fn the_published_prices_of_model_a_come_of_the_published_runtimes() {
    let priced = residue(&["lab", "price", "--published", "--model", "a", "--json"]).json(0);
    let toml = priced["toml"].as_str().unwrap();
    for line in ["ADDMOD384 = 2\n", "SUBMOD384 = 2\n", "MULMODMONT384 = 6\n"] {
        assert!(toml.contains(line), "{toml}");
    }
    assert_eq!(priced["worst"]["opcode"], "MULMODMONT384");
    assert_eq!(priced["sensitivity"]["choices"][3]["ns_per_gas"], 33.3);
}

#[test]
fn other_commands_take_the_schedules_of_the_lab() {
    let record = record("lab_price");
    let path = directory("lab_schedules").join("mine.toml");
    let path = path.to_str().unwrap();
    for revision in ["evm384-v7", "eip6690-2024"] {
        for model in ["a", "b", "time", "particle", "fit"] {
            let ran = residue(&["lab", "price", &record, "--revision", revision, "--model", model, "--output", path]);
            let is_refused = revision == "evm384-v7" && model == "fit";
            assert_eq!(ran.code, 0, "{revision} {model}: {}", ran.stderr);
            assert!(is_refused || ran.stdout.contains("worst case: "), "{}", ran.stdout);
            let run = residue(&[
                "run",
                "bls12_381/fp2_mul",
                "--example",
                "--no-time",
                "--json",
                "--revision",
                revision,
                "--schedule",
                path,
            ]);
            let run = run.json(0);
            assert_eq!(run["schedule"], format!("lab-{model}"));
            assert!(run["gas_split"]["arithmetic"].as_u64().unwrap() > 0);
        }
    }
    let built = residue(&["build", "bls12_381/fp2_mul", "--schedule", path, "--json"]).json(0);
    assert_eq!(built["schedule"], "lab-fit");
    let compared = residue(&[
        "compare",
        "bls12_381/fp2_mul",
        "--revisions",
        "eip6690-2024",
        "--schedules",
        path,
        "--no-time",
        "--json",
    ]);
    assert_eq!(compared.json(0)["rows"][0]["schedule"], "lab-fit");
}

#[test]
fn fits_find_the_polynomials_and_far_operands_do_not_count() {
    let record = record("lab_fit");
    let fitted = residue(&["lab", "price", &record, "--model", "fit", "--json"]).json(0);
    let multiplication = &fitted["fits"][2];
    assert_eq!(multiplication["operation"], "mul");
    let coefficients: Vec<f64> =
        multiplication["coefficients_ns"].as_array().unwrap().iter().map(|c| c.as_f64().unwrap()).collect();
    for (found, expected) in coefficients.iter().zip([4.0, 1.0, 0.5]) {
        assert!((found - expected).abs() < 1e-6, "{coefficients:?}");
    }
    let memory = residue(&["lab", "price", &record, "--revision", "evm384-v7", "--json"]).json(0);
    assert_eq!(memory["worst"]["class"], "near");
    assert_eq!(memory["residuals"][2]["price"], "5");
    let anchored = residue(&["lab", "price", &record, "--revision", "evm384-v7", "--anchor", "33.3", "--json"]);
    assert_eq!(anchored.json(0)["residuals"][2]["price"], "2");
    let pivot = ["lab", "price", &record, "--model", "b", "--pivot", "MULMOD", "--revision", "evm384-v7", "--json"];
    // 48 ns for 8 gas: 43.6 ns are 7.3 gas.
    assert_eq!(residue(&pivot).json(0)["residuals"][2]["price"], "8");
}

#[test]
fn bad_input_is_named() {
    let record = record("lab_refused");
    residue(&["lab", "price", &record, "--model", "c"]).refused(&["\"c\"", "particle"]);
    residue(&["lab", "price", &record, "--anchor", "0"]).refused(&["0 is not between"]);
    residue(&["lab", "price", &record, "--anchor", "-1"]).refused(&["-1 is not between"]);
    residue(&["lab", "price", &record, "--model", "b", "--pivot", "SHA"]).refused(&["\"SHA\"", "KECCAK256/192/5000"]);
    residue(&["lab", "price", &record, "--pivot", "MULMOD"]).refused(&["--pivot is for model b"]);
    residue(&["lab", "price", &record, "--revision", "geth6601"]).refused(&["no times of geth6601"]);
    residue(&["lab", "price", "nowhere.csv"]).refused(&["nowhere.csv"]);
    residue(&["lab", "price"]).refused(&["RECORD"]);
    residue(&["lab", "measure", "--revisions", "evm385"]).refused(&["\"evm385\""]);
}

#[test]
fn instructions_are_compared_over_contracts() {
    let directory = directory("lab_design");
    let page = file(&directory, "page.md", "before\n<!-- residue lab design -->\n<!-- end -->\nafter\n");
    let records = directory.to_str().unwrap();
    let contracts = ["--contracts", "bls12_381/fp2_mul,bn254/add"];
    let args =
        [&["lab", "design", "--records", records, "--record", records, "--page", &page][..], &contracts].concat();
    let made = residue(&args);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("2 contracts under `eip6690-2024`") && text.contains("| `x-invmodx` | INVMODX |"), "{text}");
    assert!(text.contains("Pareto front") && text.ends_with("<!-- end -->\nafter\n"), "{text}");
    let figure = std::fs::read_to_string(directory.join("page.svg")).unwrap();
    assert!(figure.starts_with("<svg") && figure.contains("x-invmodx"));
    // The record says the same without a run.
    let machine = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let record = std::fs::read_dir(machine.unwrap()).unwrap().next().unwrap().unwrap().path();
    let again = residue(&["lab", "design", "--from", record.to_str().unwrap()]).text().trim().to_owned();
    assert!(text.contains(&again), "{again}");
    let weights = file(&directory, "weights.toml", "[calls]\n\"bn254/add\" = 1\n");
    residue(&["lab", "design", "--from", record.to_str().unwrap(), "--weights", &weights]).text();

    let wrong = file(&directory, "wrong.toml", "[calls]\nnothing = 1\n");
    residue(&["lab", "design", "--weights", &wrong]).refused(&["wrong.toml", "unknown contract \"nothing\""]);
    residue(&["lab", "design", "--revisions", "evm384-v7"])
        .refused(&["evm384-v7 does not add opcodes to eip6690-2024"]);
    residue(&["lab", "design", "--base", "evm384-v7"]).refused(&["no revision adds instructions to evm384-v7"]);
    residue(&["lab", "design", "--contracts", "nothing"]).refused(&["no contract has nothing in its name"]);
    residue(&["lab", "design", "--from", "nowhere.csv"]).refused(&["nowhere.csv"]);
}
