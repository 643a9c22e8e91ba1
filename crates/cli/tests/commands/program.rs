//! Programs of the user's: files in the text form of the IR.

use serde_json::Value;

use crate::support::{directory, file, residue};

fn example(name: &str) -> String {
    format!("{}/../../examples/ir/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_program_is_built_run_compared_and_profiled() {
    let (path, input) = (example("polynomial.ir"), format!("@{}", example("polynomial.hex")));
    let word = |value: u8| format!("0x{}{value:02x}", "00".repeat(31));
    for revision in ["eip6690-2024", "evm384-v7", "evmone-2023"] {
        let built = residue(&["build", &path, "--revision", revision, "--json"]).json(0);
        assert_eq!(built["program"], Value::from(path.as_str()));
        let code = file(&directory("program_built"), "code.hex", built["code"].as_str().unwrap());
        for subject in [&path, &code] {
            let args = ["run", subject, "--input", &input, "--revision", revision, "--no-time", "--json"];
            assert_eq!(residue(&args).json(0)["output"], word(18), "{subject} under {revision}");
        }
    }
    let compared = residue(&["compare", &path, "--input", &input, "--no-time", "--json"]).json(0);
    assert!(compared["rows"].as_array().unwrap().len() > 15);
    assert_eq!(compared["expected"], word(18));
    let profiled = residue(&["profile", &path, "--input", &input, "--no-time", "--json"]).json(0);
    let names: Vec<&Value> = profiled["by_name"].as_array().unwrap().iter().map(|line| &line["name"]).collect();
    assert!(names.contains(&&Value::from("horner")), "{names:?}");
    let traced = residue(&["trace", &path, "--input", &input, "--function", "horner", "--json"]).json(0);
    assert!(traced.to_string().contains("start/horner"), "{traced}");
    residue(&["run", &path, "--no-time", "--json"]).json(1); // calldata has no point
    residue(&["build", &path, "--output", directory("program_file").join("code.hex").to_str().unwrap()]).text();
}

#[test]
fn what_is_printed_compiles_to_the_same_bytes() {
    let directory = directory("program_printed");
    for (contract, revision) in [
        ("bls12_381/fp2_mul", "eip6690-2024"),
        ("bls12_381/g1_add", "eip6690-2024"),
        ("bls12_381/g1_add", "evm384-v7"),
        ("bls12_381/map_fp_to_g1", "evm384-v7"),
        ("evm384/f6m_mul", "evm384-v1"),
    ] {
        let printed = residue(&["print", contract, "--revision", revision]).text().to_owned();
        let path = file(&directory, "printed.ir", &printed);
        let line = printed.lines().next().unwrap().strip_prefix("# residue build FILE.ir ").unwrap();
        let args: Vec<&str> = ["build", &path].into_iter().chain(line.split(' ')).collect();
        assert_eq!(residue(&args).text(), residue(&["build", contract, "--revision", revision]).text(), "{contract}");
        assert_eq!(
            residue(&["print", &path]).text().lines().skip(1).collect::<Vec<_>>(),
            printed.lines().skip(1).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_fault_is_shown_where_it_stands() {
    let directory = directory("program_faults");
    let head = "program \"p\"\nmodulus 0x61\nfunction f0 \"start\" () -> () values 1 {\n";
    let path = file(&directory, "unknown.ir", format!("{head}  word w0 = 0x0\n  parze w0 bytes 1 -> v0\n}}\n"));
    for command in ["build", "run", "compare", "profile", "trace", "print"] {
        residue(&[command, &path]).refused(&[
            "unknown.ir:5:3",
            "expected a statement, found `parze`",
            "parze w0 bytes 1 -> v0",
        ]);
    }
    let path = file(&directory, "undefined.ir", format!("{head}  block {{\n    v0 = mul v0 v0\n  }}\n}}\n"));
    residue(&["build", &path]).refused(&["undefined.ir:5:5", "v0 is used where it is not defined", "v0 = mul v0 v0"]);
    let path = file(&directory, "modulus.ir", "program \"p\"\nmodulus 0x2\nfunction f0 \"s\" () -> () values 0 {\n}\n");
    residue(&["build", &path]).refused(&["modulus.ir:2:9", "modulus 0x2 is below 3"]);
    let path = file(&directory, "long.ir", format!("{head}  {} parze {}}}\n", " ".repeat(9000), "# ".repeat(9000)));
    residue(&["build", &path]).refused(&["expected a statement, found `parze`", "long.ir:4:9004", "^^^^^"]);
    let text = format!("\u{feff}{head}  word w0 = 0x0\n  parse w0 bytes 1 -> v0\n}}\n");
    residue(&["build", &file(&directory, "marked.ir", text)]).text();
    let path = file(&directory, "even.ir", "program \"p\"\nmodulus 0x80\nfunction f0 \"s\" () -> () values 0 {\n}\n");
    residue(&["build", &path, "--revision", "evm384-v9"]).refused(&["evm384-v9 needs an odd modulus"]);
    let path = file(&directory, "end.ir", "program \"p\"");
    residue(&["build", &path]).refused(&["end.ir:1:12", "expected `modulus`, found the end of the text"]);
    residue(&["build", "nowhere.ir"]).refused(&["nowhere.ir"]);
    let endless = "  word w0 = 0xffffffffffffffffffffffffffffffff\n  word w1 = defined\n  parse w0 bytes 1 -> v0\n  repeat w0 index w1 () = () {\n    give ()\n  } -> ()\n}\n";
    let path = file(&directory, "endless.ir", format!("{head}{endless}"));
    residue(&["compare", &path]).refused(&["endless.ir has no outcome", "more than 4194304 turns, parts and calls"]);
    let path = example("polynomial.ir");
    residue(&["build", &path, "--f2mul", "3"]).refused(&["--f2mul has no effect", "polynomial.ir"]);
    residue(&["build", &path, "--explain"]).refused(&["--explain has no effect", "is a program"]);
    residue(&["compare", &path, "--example"]).refused(&["--example has no effect", "is a program"]);
    residue(&["build", &path, "--revision", "evm384-v4"]).refused(&["polynomial.ir", "evm384-v4"]);
}
