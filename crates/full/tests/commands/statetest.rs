//! `statetest`: the example, files and folders, failures and skipped tests, traces.

use serde_json::{Value, json};

use crate::support::{directory, file, residue, residue_reading};

fn example() -> Value {
    serde_json::from_str(residue(&["statetest", "--example"]).text()).unwrap()
}

#[test]
fn the_example_passes_and_says_which_revisions_it_uses() {
    let directory = directory("statetest_example");
    let path = file(&directory, "example.json", example().to_string());
    let text = residue(&["statetest", &path]).text().to_owned();
    assert!(text.contains("eip6690-2024: 2 execute 0xc0, SETMODX"), "{text}");
    assert!(text.contains("5 entries of 2 tests in 1 files: 3 passed, 0 failed, 0 skipped, 2 use opcodes"), "{text}");
    let revisions = residue_isa::Revision::ALL.len();
    assert!(text.contains(&format!("stock rules and {revisions} revisions")), "{text}");

    let found = residue(&["statetest", &path, "--json", "--revision", "evm384-v7,eip6690-2024", "--jobs", "1"]).json(0);
    assert_eq!(found["entries"], json!({ "all": 5, "passed": 3, "uses": 2, "skipped": 0, "failed": 0 }));
    assert_eq!(found["forks"]["Osaka"]["all"], 2);
    assert_eq!(found["folders"]["statetest_example"]["uses"], 2);
    assert_eq!(found["rules"][1], json!({ "revision": "eip6690-2024", "batching": ["off", "warm"] }));
    let used = &found["uses"][0];
    assert_eq!((&used["test"], &used["fork"], &used["file"]), (&json!("square"), &json!("Cancun"), &json!(path)));
    let set = json!({ "revision": "eip6690-2024", "opcode": "0xc0", "mnemonic": "SETMODX", "pc": 11 });
    assert_eq!(used["uses"], json!([set]));

    let stock = residue(&["statetest", &path, "--json", "--revision", "stock"]).json(0);
    assert_eq!((&stock["entries"]["passed"], &stock["rules"]), (&json!(5), &json!([])));
    let one =
        residue(&["statetest", &path, "--json", "--revision", "all", "--batching", "all", "--test", "sum"]).json(0);
    assert_eq!(one["entries"]["passed"], 3);
    let read = residue_reading(&example().to_string(), &["statetest", "-", "--json", "--fork", "berlin,OSAKA"]).json(0);
    assert_eq!(read["entries"]["all"], 3);
}

#[test]
fn what_fails_is_named_with_both_roots() {
    let directory = directory("statetest_fails");
    let mut tests = example();
    let expected = "0x0000000000000000000000000000000000000000000000000000000000000001";
    let got = tests["sum"]["post"]["Cancun"][0]["hash"].clone();
    tests["sum"]["post"]["Cancun"][0]["hash"] = json!(expected);
    std::fs::create_dir(directory.join("inner")).unwrap();
    let path = file(&directory, "inner/fails.json", tests.to_string());
    let folder = directory.to_str().unwrap();
    let found = residue(&["statetest", folder, "--json", "--revision", "eip6690-2024"]).json(1);
    assert_eq!((&found["success"], &found["folders"]["inner"]["failed"]), (&json!(false), &json!(1)));
    let failure = &found["failures"][0];
    assert_eq!((&failure["file"], &failure["test"], &failure["fork"]), (&json!(path), &json!("sum"), &json!("Cancun")));
    assert_eq!(failure["index"], json!({ "data": 0, "gas": 0, "value": 0 }));
    assert_eq!((&failure["expected_root"], &failure["got_root"]), (&json!(expected), &got));
    assert_eq!(failure["revision"], Value::Null);
    let ran = residue(&["statetest", folder, "--revision", "stock"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains(&format!("stock: state root {}, expected {expected}", got.as_str().unwrap())));
}

#[test]
fn what_is_skipped_or_left_out_has_its_reason() {
    let directory = directory("statetest_skips");
    let mut tests = example();
    tests["sum"]["post"] = json!({ "Constantinople": tests["sum"]["post"]["Berlin"] });
    file(&directory, "skips.json", tests.to_string());
    file(&directory, "chain.json", json!({ "chain": { "blocks": [] } }).to_string());
    file(&directory, "notes.txt", "no test");
    let folder = directory.to_str().unwrap();
    let found = residue(&["statetest", folder, "--json", "--revision", "stock"]).json(0);
    assert_eq!((&found["skips"][0]["count"], &found["files"]), (&json!(1), &json!(1)));
    assert!(found["skips"][0]["reason"].as_str().unwrap().contains("no Constantinople without the fix"));
    assert_eq!(found["skips"][0]["entries"][0]["test"], "sum");
    assert_eq!(found["others"][0]["what"], "\"chain\" is a blockchain test");
    let text = residue(&["statetest", folder, "--revision", "stock"]).text().to_owned();
    assert!(
        text.contains("1: revm has no Constantinople") && text.contains("\"chain\" is a blockchain test"),
        "{text}"
    );
}

#[test]
fn bad_input_is_refused_with_file_and_place() {
    let directory = directory("statetest_refused");
    let folder = directory.to_str().unwrap().to_owned();
    residue(&["statetest", &folder]).refused(&[&folder, "no file that ends in .json"]);
    residue(&["statetest", "nowhere.json"]).refused(&["\"nowhere.json\"", "No such file"]);
    residue(&["statetest"]).refused(&["<PATH>"]);
    let broken = file(&directory, "broken.json", "{\n  \"a\": {,\n}");
    residue(&["statetest", &broken]).refused(&[&format!("{broken}:2:9: ")]);
    let mut tests = example();
    tests["square"]["env"]["currentNumber"] = json!("five");
    let wrong = file(&directory, "wrong.json", serde_json::to_string_pretty(&tests).unwrap());
    residue(&["statetest", &wrong, "--json"]).refused(&[
        &format!("{wrong}:"),
        "\"five\" is not a number",
        "\"square\"",
    ]);
    let other = file(&directory, "other.json", "{\"chain\": {\"blocks\": []}}");
    residue(&["statetest", &other]).refused(&["other.json holds no state test", "\"chain\" is a blockchain test"]);

    let good = file(&directory, "good.json", example().to_string());
    residue(&["statetest", &good, "--fork", "Moon"]).refused(&["no entry of 1 files"]);
    residue(&["statetest", &good, "--fork", "osaca"]).refused(&["no entry of 1 files", "did you mean Osaka"]);
    let twice = file(&directory, "twice.json", "{\"a\": {},\n \"a\": {}}");
    residue(&["statetest", &twice]).refused(&[&format!("{twice}:2:"), "a is there twice"]);
    let utf16 =
        file(&directory, "utf16.json", "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    residue(&["statetest", &utf16]).refused(&["utf16.json", "UTF-16"]);
    let marked = file(&directory, "marked.json", format!("\u{feff}{}", example()));
    assert_eq!(residue(&["statetest", &marked, "--revision", "stock", "--json"]).json(0)["entries"]["passed"], 5);
    let two = file(&directory, "two.json", format!("{}\n{}", example(), example()));
    residue(&["statetest", &two]).refused(&["two.json:2:1: a second document"]);
    for made in ["twice.json", "utf16.json", "marked.json", "two.json"] {
        std::fs::remove_file(directory.join(made)).unwrap();
    }
    residue(&["statetest", &good, "--index", "1,2"]).refused(&["'1,2'", "DATA,GAS,VALUE"]);
    residue(&["statetest", &good, "--revision", "evm384-v70"]).refused(&["'evm384-v70'", "beside all and stock"]);
    residue(&["statetest", &good, "--batching", "often"]).refused(&["'often'", "off, warm, always, traces, all"]);
    residue(&["statetest", &good, "--jobs", "0"]).refused(&["'0'", "--jobs"]);
    residue(&["statetest", &good, "--trace", "--json"]).refused(&["--trace", "--json"]);
    residue(&["statetest", &broken, "--trace"]).refused(&[&broken]);

    // What can be read is run all the same.
    let ran = residue(&["statetest", &folder, "--revision", "stock"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stdout.contains("5 passed"), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("1 more"), "{}", ran.stderr);
}

#[test]
fn traces_name_field_instructions_and_end_with_the_transaction() {
    let directory = directory("statetest_trace");
    let path = file(&directory, "example.json", example().to_string());
    let lines = |args: &[&str]| -> Vec<Value> {
        let ran = residue(&[&["statetest", path.as_str(), "--trace", "--fork", "Osaka"], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.starts_with("note: "), "{}", ran.stderr);
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let square = lines(&["--test", "square", "--index", "0,0,0"]);
    assert!(square.iter().any(|line| line["opName"] == "MULMODX" && line["op"] == 0xc5));
    let summary = square.last().unwrap();
    assert_eq!((&summary["rules"], &summary["pass"]), (&json!("eip6690-2024"), &json!(true)));
    let sums = lines(&["--test", "sum", "--revision", "stock,evm384-v7"]);
    let summaries: Vec<&Value> = sums.iter().filter(|line| line.get("stateRoot").is_some()).collect();
    assert_eq!(
        summaries.iter().map(|line| line["rules"].as_str().unwrap()).collect::<Vec<_>>(),
        ["stock", "evm384-v7"]
    );
    assert_eq!(summaries[0]["stateRoot"], example()["sum"]["post"]["Osaka"][0]["hash"]);
    assert_eq!((&summaries[0]["gasUsed"], &summaries[1]["verdict"]), (&summaries[1]["gasUsed"], &json!("passed")));
}

#[test]
fn standard_input_has_documents_or_names_of_files() {
    let stock = ["statetest", "-", "--revision", "stock"];
    let two = format!("\n{}\n{}", example(), example());
    let found = residue_reading(&two, &[&stock[..], &["--json"]].concat()).json(0);
    assert_eq!((&found["tests"], &found["entries"]["passed"]), (&json!(4), &json!(10)));
    residue_reading("", &stock).refused(&["-:1:1: there is nothing"]);
    residue_reading("{} {", &stock).refused(&["-:1:"]);

    let directory = directory("statetest_names");
    let good = file(&directory, "good one.json", example().to_string());
    let mut tests = example();
    tests["sum"]["post"]["Cancun"][0]["receipt"] = json!({ "gasUsed": "0x1", "status": "0x1" });
    let bad = file(&directory, "bad.json", tests.to_string());
    let lines = |ran: &str| -> Vec<Value> { ran.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    let ran = residue_reading(&format!("{good}\n\n{bad}\r\n{good}"), &stock);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let answers = lines(&ran.stdout);
    let files: Vec<&Value> = answers.iter().map(|answer| &answer["file"]).collect();
    assert_eq!(files, [&json!(good), &json!(bad), &json!(good)]);
    assert_eq!(answers.iter().map(|answer| answer["success"] == true).collect::<Vec<_>>(), [true, false, true]);
    let field = &answers[1]["failures"][0]["fields"][0];
    assert_eq!((&field["field"], &field["expected"]), (&json!("receipt.gasUsed"), &json!("0x1")));

    let ran = residue_reading(&format!("nowhere.json\n{good}\n"), &stock);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("nowhere.json"), "{}", ran.stderr);
    let answers = lines(&ran.stdout);
    assert!(answers[0]["error"].as_str().unwrap().contains("nowhere.json") && answers[1]["success"] == true);
    let traced = residue_reading(
        &format!("{good}\n"),
        &["statetest", "-", "--trace", "--fork", "Osaka", "--test", "sum", "--revision", "stock"],
    );
    assert_eq!((traced.code, &lines(&traced.stdout).last().unwrap()["test"]), (0, &json!("sum")));
}
