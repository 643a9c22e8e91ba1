//! `dist/fronts.json`: forms of contracts that no other beats in bytes and gas, as `residue catalogue --fronts` makes them today, and the table of them.

use residue_pages::{grouped, hold, read};
use serde_json::Value;

use crate::deployable::day;
use crate::support::residue;

/// Limits of the table in bytes.
const LIMITS: [u64; 4] = [8_192, 16_384, 24_576, 65_536];
/// Gas that signatures may take in code of 16,384 bytes.
const GAS_IN_16_KIB: [(&str, u64); 2] = [("p256/verify", 112_000), ("ed25519/verify", 118_000)];

fn fronts(text: &str) -> Vec<Value> {
    let made: Value = serde_json::from_str(text).unwrap();
    made["fronts"].as_array().unwrap().clone()
}

fn held() -> Vec<Value> {
    fronts(&read("dist/fronts.json"))
}

fn points(front: &Value) -> Vec<[u64; 2]> {
    serde_json::from_value(front["points"].clone()).unwrap()
}

/// The form of least gas within a limit.
fn within(points: &[[u64; 2]], limit: u64) -> Option<[u64; 2]> {
    points.iter().copied().filter(|[bytes, _]| *bytes <= limit).min_by_key(|[_, gas]| *gas)
}

/// Holds every `share`-th contract of the file, beginning at the place of `day`, to what it is today.
fn hold_fronts(share: usize, day: u64) {
    let held = held();
    let mut names: Vec<&str> = held.iter().map(|front| front["contract"].as_str().unwrap()).collect();
    names.dedup();
    let first = (day % share as u64) as usize; // below `share`
    for name in names.into_iter().skip(first).step_by(share) {
        let made = fronts(residue(&["catalogue", name, "--fronts", "-"]).text());
        let held: Vec<&Value> = held.iter().filter(|front| front["contract"] == name).collect();
        assert_eq!(
            made.iter().collect::<Vec<_>>(),
            held,
            "`residue catalogue --fronts dist/fronts.json` makes it anew"
        );
    }
}

/// One contract, another each day; `.ci/longer` makes them all.
#[test]
fn the_front_of_a_contract_is_what_it_is_today() {
    hold_fronts(held().len(), day());
}

/// A twentieth of them. `.ci/longer today` runs this test one day in five, so another twentieth each time.
#[test]
#[ignore = "it takes long: by name, and in CI"]
fn fronts_are_what_contracts_are_today() {
    hold_fronts(20, day() / 5);
}

#[test]
fn fronts_are_of_the_contracts_of_the_catalogue() {
    let catalogue: Value = serde_json::from_str(&read("dist/catalogue.json")).unwrap();
    let entries = catalogue["contracts"].as_array().unwrap().iter();
    // Those in one account, without calls of a precompile alone.
    let entries = entries.filter(|entry| !entry["stages"].is_array() && entry["code_bytes"].as_u64() > Some(100));
    let of = |entry: &Value| (entry["contract"].clone(), entry["precompiles"].clone());
    let (entries, fronts): (Vec<&Value>, Vec<Value>) = (entries.collect(), held());
    assert_eq!(entries.iter().map(|entry| of(entry)).collect::<Vec<_>>(), fronts.iter().map(of).collect::<Vec<_>>());
    for (entry, front) in entries.iter().zip(&fronts) {
        let points = points(front);
        assert!(points.is_sorted_by(|a, b| a[0] < b[0] && a[1] > b[1]), "{front}");
        let [bytes, gas] = ["code_bytes", "gas"].map(|field| entry[field].as_u64().unwrap());
        let [bytes_in_account, gas_in_account] = within(&points, 24_576).unwrap();
        assert!(bytes_in_account <= bytes && gas_in_account <= gas, "{front} has no form as good as {bytes} / {gas}");
    }
    for (name, gas_max) in GAS_IN_16_KIB {
        let front = fronts.iter().find(|front| front["contract"] == name).unwrap();
        let [_, gas] = within(&points(front), 16_384).unwrap();
        assert!(gas <= gas_max, "{name}: {gas} gas");
    }
}

/// The table of `docs/deploy.md` is the file's. `RESIDUE_WRITE_TABLES=1 cargo test -p residue the_table_of_fronts` writes it anew.
#[test]
fn the_table_of_fronts_is_the_file() {
    let mut text = String::from(
        "| contract | 8,192 bytes | 16,384 | 24,576 | 65,536 | deployment of the shortest, 200 / 1,530 a byte | of the fastest |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for front in held() {
        let points = points(&front);
        let form = |form: [u64; 2]| form.map(grouped).join(" / ");
        let mut before = None;
        let cells = LIMITS.map(|limit| {
            let best = within(&points, limit);
            let is_new = std::mem::replace(&mut before, best) != best;
            best.map_or("–".to_owned(), |best| if is_new { form(best) } else { String::new() })
        });
        let deployment = |[bytes, _]: [u64; 2]| form([200 * bytes, 1_530 * bytes]);
        let ([first, ..], [.., last]) = (&points[..], &points[..]) else { panic!("{front}") };
        let fastest = if points.len() > 1 { deployment(*last) } else { String::new() };
        let by = if front["precompiles"] == true { ", by precompiles" } else { "" };
        let name = front["contract"].as_str().unwrap();
        text += &format!("| `{name}`{by} | {} | {} | {fastest} |\n", cells.join(" | "), deployment(*first));
    }
    hold("docs/deploy.md", "fronts", &text);
}

#[test]
fn a_front_is_asked_for_alone_and_of_contracts() {
    residue(&["catalogue", "bn254/ad", "--fronts", "-"]).refused(&["bn254/ad", "bn254/add"]);
    residue(&["catalogue", "bn254/add", "--fronts", "-", "--json"]).refused(&["--fronts", "--json"]);
    for other in ["--output", "--check", "--packages"] {
        residue(&["catalogue", "bn254/add", "--fronts", "-", other, "x"]).refused(&["--fronts", other]);
    }
}
