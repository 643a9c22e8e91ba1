//! Current gas of contracts, where the record of the evidence differs, equals the table in `docs/precompiles.md`.
//!
//! If contracts change, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test --test pages -- --ignored`.

use residue_lab::bench::evidence::costs;
use residue_lab::render::evidence::{gas_since, newest};

#[test]
#[ignore = "it compiles what takes long: by name, and in CI"]
fn the_gas_since_the_record_is_what_contracts_take() {
    let record = newest(&residue_pages::path("records")).unwrap();
    residue_pages::hold("docs/precompiles.md", "gas since", &gas_since(&record, &costs().unwrap()));
}
