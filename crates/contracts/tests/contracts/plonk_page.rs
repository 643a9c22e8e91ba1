//! The table of gas in `docs/plonk.md` equals the gas of verifiers.
//!
//! If a verifier or the compiler changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts plonk_page -- --ignored`.

use std::fmt::Write;

use crate::groth16::proofs::fr;
use crate::plonk::{Trapdoor, verifier};
use crate::points::Seeded;
use residue_contracts::plonk::key;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::cheapest;

/// More than any row takes.
const GAS: u64 = 16_777_216;
/// Gas of the precompiles in the calls of snarkjs' verifier: two pairs, 18 products and 18 sums (EIP-1108).
const PRICE: u64 = 45_000 + 2 * 34_000 + 18 * (6_000 + 150);

fn table() -> String {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut text = String::from(
        "| inputs | gas | precompiles | ratio | arithmetic | transfer | growth | control | code bytes | slots | memory bytes |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for inputs in [1, 4] {
        let mut seeded = Seeded(953);
        let trapdoor = Trapdoor::random(&mut seeded, inputs);
        let json = trapdoor.json();
        let verifier = verifier(&json);
        let compiled = cheapest(&*verifier, revision, &schedule).unwrap().compiled;
        assert!(compiled.code.len() <= 65_536, "{inputs} inputs: {} bytes of code", compiled.code.len());
        let of_proof = std::array::from_fn(|_| fr(&mut seeded));
        let key = key::key(&json.to_string()).unwrap();
        let call = trapdoor.call(&key, &verifier.example()[..4], &mut seeded, of_proof);
        let counted = engine.run_counted(&compiled.code, &call, GAS);
        let outcome = counted.outcome;
        let one = [vec![0; 31], vec![1]].concat();
        assert_eq!((outcome.halt, outcome.output), (Halt::Return, one), "{inputs} inputs");
        let split = counted.gas_split;
        let ratio = ratio(outcome.gas_used, PRICE);
        let gas = [outcome.gas_used, PRICE].map(grouped).join(" | ");
        let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
        let sizes = [compiled.code.len(), usize::try_from(compiled.slots).unwrap(), outcome.memory.len()];
        let sizes = sizes.map(|size| grouped(size as u64)).join(" | "); // usize to u64 widens
        writeln!(text, "| {inputs} | {gas} | {ratio} | {split} | {sizes} |").unwrap();
    }
    text
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_the_page_is_what_verifiers_cost() {
    residue_pages::hold("docs/plonk.md", "verifiers", &table());
}
