//! Measurements that take long: each is made once, by the first test that needs it.

use std::path::PathBuf;
use std::sync::LazyLock;

use crate::support::{Ran, directory, residue};
use serde_json::Value;

/// One `lab measure` and one `lab attack`, of the same revision and with records in one folder.
pub struct Measured {
    /// The folder of the records.
    pub records: PathBuf,
    /// Output of `lab measure`.
    pub measure: Ran,
    /// The folder of GasFit's input.
    pub gasfit: PathBuf,
    /// The one search of what `lab attack` showed.
    pub search: Value,
    /// The folder of what the search found.
    pub found: PathBuf,
}

/// The revision of both.
pub const REVISION: &str = "evm384-v7";

/// The measurements.
pub static MEASURED: LazyLock<Measured> = LazyLock::new(|| {
    let directory = directory("measured");
    let [records, gasfit, found] = ["records", "gasfit", "found"].map(|name| directory.join(name));
    let to = records.to_str().unwrap();
    let lab = |command: &str, more: &[&str]| {
        residue(&[&["lab", command, "--quick", "--json", "--record", to], more].concat())
    };
    let measure = lab("measure", &["--revisions", REVISION, "--gasfit", gasfit.to_str().unwrap()]);
    let search = ["--revision", REVISION, "--gas", "100000", "--seed", "3", "--out", found.to_str().unwrap()];
    let search = lab("attack", &search).json(0)["searches"][0].take();
    Measured { records, measure, gasfit, search, found }
});
