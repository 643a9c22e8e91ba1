//! `residue lab measure`: a record, and the input of GasFit.

use crate::measured::{MEASURED, Measured};
use crate::support::residue;
use residue_lab::{Quantity, Record};

#[test]
fn measuring_leaves_a_record_and_the_input_of_gasfit() {
    let Measured { measure: ran, gasfit, .. } = &*MEASURED;
    let shown = ran.json(0);
    assert_eq!(shown["group"], "opcodes");
    let path = ran.stderr.lines().find_map(|line| line.strip_prefix("note: recorded in ")).unwrap();
    let record = Record::read(std::path::Path::new(path)).unwrap();
    assert_eq!(record.to_json(), shown);
    let row = record.find("evm384-v7/MULMODMONT384/384/random", Quantity::Time, None).unwrap();
    assert!(row.spread.median > 0.0 && row.interval.is_some(), "{row:?}");
    for name in ["runtimes.csv", "opcounts.json", "tests.yaml"] {
        assert!(gasfit.join(name).metadata().unwrap().len() > 100, "{name}");
    }
    let priced = residue(&["lab", "price", path, "--revision", "evm384-v7", "--model", "b", "--json"]).json(0);
    assert!(priced["toml"].as_str().unwrap().contains("relative to KECCAK256"), "{priced}");
}
