//! The input of evm-gasfit (PyPI, 0.4): `runtimes.csv`, `opcounts.json` and a configuration, so that others' fits can use
//! our times. Its documents say: a fixture is a test file, a test and its parameters; every row of the runtimes is an
//! observation of its own; the counts of a fixture have the target opcode under `opcount`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::pair::Observation;

/// The client that the runtimes name.
const CLIENT: &str = "residue";
/// The test file that fixtures name.
const TEST_FILE: &str = "test_residue_lab.py";

/// The three files.
#[derive(Debug, Clone)]
pub struct GasfitFiles {
    /// `client_name,fixture_name,test_runtime_ms`.
    pub runtimes_csv: String,
    /// Counts by fixture.
    pub opcounts_json: String,
    /// One model for each opcode of each layer.
    pub tests_yaml: String,
}

/// The files of a measurement.
pub fn gasfit_files(observations: &[Observation]) -> GasfitFiles {
    let mut runtimes_csv = "client_name,fixture_name,test_runtime_ms\n".to_owned();
    let mut opcounts = Map::new();
    let mut models: BTreeMap<String, (&'static str, String)> = BTreeMap::new();
    // A fixture that does not execute its opcode is refused.
    for observation in observations.iter().filter(|observation| observation.opcode_count > 0) {
        let Observation { name, mnemonic, opcode_count, counts, times_ns } = observation;
        let mut parts = name.split('/');
        let (layer, _, width, class) = (parts.next(), parts.next(), parts.next(), parts.next());
        let [layer, width, class] = [layer, width, class].map(|part| part.unwrap_or_default().replace('-', ""));
        let test = format!("test_{}_{}", layer.replace('.', ""), mnemonic.to_lowercase());
        let fixture = format!("{TEST_FILE}__{test}[width_{width}-class_{}-count_{opcode_count}]", capital(&class));
        for time_ns in times_ns {
            // Writing to a string cannot fail.
            let _ = writeln!(runtimes_csv, "{CLIENT},{fixture},{:.9}", time_ns / 1e6);
        }
        let counts = counts.iter().map(|&(mnemonic, count)| (mnemonic.to_owned(), Value::from(count)));
        let mut counts: Map<String, Value> = counts.collect();
        counts.insert("opcount".to_owned(), json!(opcode_count));
        opcounts.insert(fixture, Value::Object(counts));
        let parameter = format!("{}_{mnemonic}", layer.to_uppercase());
        models.entry(test).or_insert((mnemonic, parameter));
    }
    let mut tests_yaml = format!(
        "version: 1\nanchor_rate: 1.0e8\nclients:\n  - {CLIENT}\ngas_costs:\n  fork: osaka\n\
         glue_adjustment:\n  enabled: false\nnew_params:\n"
    );
    for (_, parameter) in models.values() {
        let _ = writeln!(tests_yaml, "  {parameter}: null");
    }
    tests_yaml.push_str("models:\n  custom:\n");
    for (test, (mnemonic, parameter)) in &models {
        let _ = writeln!(
            tests_yaml,
            "    - test_name: {test}\n      target_operation: {mnemonic}\n      model_by: [width, class]\n      \
             model_params:\n        target_coef: {parameter}"
        );
    }
    GasfitFiles { runtimes_csv, opcounts_json: format!("{:#}\n", Value::Object(opcounts)), tests_yaml }
}

/// Values of parameters begin with a capital or a digit.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures_are_in_both_files_and_have_a_model() {
        let observation = |opcode_count| Observation {
            name: "evm384-v7/MULMODMONT384/384/near".to_owned(),
            mnemonic: "MULMODMONT384",
            opcode_count,
            counts: vec![("PUSH16", 7), ("MULMODMONT384", opcode_count)],
            times_ns: vec![1_500_000.0, 2_000_000.0],
        };
        let files = gasfit_files(&[observation(48), observation(0)]);
        assert!(!files.opcounts_json.contains("count_0"), "{}", files.opcounts_json);
        let fixture = "test_residue_lab.py__test_evm384v7_mulmodmont384[width_384-class_Near-count_48]";
        assert!(files.runtimes_csv.contains(&format!("\nresidue,{fixture},1.500000000\n")), "{}", files.runtimes_csv);
        let counts: Value = serde_json::from_str(&files.opcounts_json).unwrap();
        assert_eq!((&counts[fixture]["opcount"], &counts[fixture]["PUSH16"]), (&json!(48), &json!(7)));
        for part in ["EVM384V7_MULMODMONT384: null", "target_coef: EVM384V7_MULMODMONT384"] {
            assert!(files.tests_yaml.contains(part), "{}", files.tests_yaml);
        }
    }
}
