//! `--f2mul`: both variants of the published programs, and the cheaper one under a schedule.

use crate::support::residue;
use serde_json::Value;

const PRODUCT: &str = "evm384/f6m_mul";

fn run(f2mul: &[&str]) -> Value {
    let args = ["run", PRODUCT, "--example", "--no-time", "--json", "--revision", "evm384-v7"];
    residue(&[&args[..], f2mul].concat()).json(0)
}

#[test]
fn both_variants_compute_the_same_with_other_operations() {
    let [default, three, four] = [&[][..], &["--f2mul", "3"], &["--f2mul", "4"]].map(run);
    let counts = |object: &Value| ["MULMODMONT384", "SUBMOD384"].map(|name| object["ops"][name].as_u64().unwrap());
    assert_eq!((counts(&three), counts(&four)), ([18, 20], [24, 14]));
    assert_eq!((&three["gas_used"], &three["output"]), (&default["gas_used"], &default["output"]));
    assert_eq!(three["output"], four["output"]);
    let built = residue(&["build", PRODUCT, "--f2mul", "4", "--json"]).json(0);
    assert_eq!(built["f2mul"], 4);
}

#[test]
fn auto_is_the_cheaper_one_under_every_schedule() {
    let rows = |f2mul: &str| {
        let revisions = "evm384-v2,evm384-v7,evm384-v9,eip5843,eip6690-2024";
        let args = ["compare", PRODUCT, "--no-time", "--json", "--revisions", revisions, "--f2mul", f2mul];
        residue(&[&args[..], &["--schedules", "evmone,model-a,model-b-repriced,r2,r5,eip6690"]].concat()).json(0)
    };
    let [three, four, auto] = ["3", "4", "auto"].map(rows);
    let [three, four, auto] = [&three, &four, &auto].map(|object| object["rows"].as_array().unwrap());
    let mut chosen = Vec::new();
    for ((three, four), auto) in three.iter().zip(four).zip(auto) {
        let [three, four] = [three, four].map(|row| row["gas_used"].as_u64().unwrap());
        let f2mul = if four < three { 4 } else { 3 };
        assert_eq!((auto["f2mul"].as_u64(), auto["gas_used"].as_u64()), (Some(f2mul), Some(three.min(four))), "{auto}");
        chosen.push(f2mul);
    }
    assert!(chosen.contains(&3) && chosen.contains(&4), "{chosen:?}");
}

#[test]
fn other_contracts_take_what_is_cheapest_and_say_so() {
    let build = |args: &[&str]| residue(&[&["build", "bls12_381/map_fp2_to_g2", "--json"], args].concat()).json(0);
    let gas_of = |object: &Value| {
        object["variants"].as_array().unwrap().iter().map(|variant| variant["gas"].as_u64().unwrap()).collect()
    };
    let cheap: Vec<u64> = gas_of(&build(&["--revision", "evm384-v7", "--schedule", "model-a"]));
    assert!(cheap.len() > 2 && cheap.is_sorted(), "{cheap:?}");
    for f2mul in [3, 4] {
        let forced = build(&["--revision", "evm384-v7", "--schedule", "model-a", "--f2mul", &f2mul.to_string()]);
        assert_eq!(forced["f2mul"], f2mul);
        assert!(gas_of(&forced).into_iter().collect::<Vec<u64>>()[0] >= cheap[0]);
    }
    let explained = residue(&["build", "bls12_381/map_fp2_to_g2", "--explain"]);
    let parts = ["chosen", "3 multiplications", "4 multiplications", " %"];
    assert!(parts.iter().all(|part| explained.text().contains(part)), "{}", explained.text());
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn all_contracts_are_explained_as_one_is() {
    let explained = residue(&["build", "bls12_381/map_fp2_to_g2", "--explain"]);
    let all = residue(&["build", "all", "--explain"]);
    assert!(all.text().contains(explained.text().trim_end()) && all.text().contains("bls12_381/g1_add under"));
}

#[test]
fn code_without_formulas_refuses_the_choice() {
    residue(&["run", "-", "--f2mul", "3"]).refused(&["--f2mul", "contract"]);
    residue(&["build", PRODUCT, "--f2mul", "5"]).refused(&["--f2mul", "auto"]);
}
