//! The table of gas in `docs/groth16.md` is what verifiers cost.
//!
//! If a verifier or the compiler changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts groth16_page`.

use std::fmt::Write;

use crate::groth16::proofs::{of_random_circuit, snarkjs_inputs, snarkjs_proof};
use crate::groth16::verifier;
use crate::points::Seeded;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::cheapest;

/// More than any row takes.
const GAS: u64 = 16_777_216;

/// What the precompiles take of the calls that snarkjs' verifier makes: four pairs, and a product and a sum for each input (EIP-1108).
fn price(inputs: usize) -> u64 {
    45_000 + 4 * 34_000 + (6_000 + 150) * inputs as u64 // usize to u64 widens
}

fn table() -> String {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut text = String::from(
        "| inputs | witness | gas | precompiles | ratio | arithmetic | transfer | growth | control | code bytes | slots | memory bytes |\n\
         |---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for takes_witness in [false, true] {
        for inputs in [1, 2, 4, 8, 16] {
            let (key, proof, values) = of_random_circuit(&mut Seeded(260), inputs);
            let verifier = verifier(&key, takes_witness);
            let compiled = cheapest(&*verifier, revision, &schedule).unwrap().compiled;
            assert!(compiled.code.len() <= 65_536, "{inputs} inputs: {} bytes of code", compiled.code.len());
            let call = verifier.call(&snarkjs_proof(&proof).to_string(), &snarkjs_inputs(&values).to_string());
            let mut call = call.unwrap();
            call.extend(verifier.witness_for(&call).unwrap_or_default());
            let counted = engine.run_counted(&compiled.code, &call, GAS);
            let outcome = counted.outcome;
            assert_eq!(
                (outcome.halt, outcome.output),
                (Halt::Return, [vec![0; 31], vec![1]].concat()),
                "{inputs} inputs"
            );
            let split = counted.gas_split;
            let ratio = ratio(outcome.gas_used, price(inputs));
            let gas = [outcome.gas_used, price(inputs)].map(grouped).join(" | ");
            let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
            let sizes = [compiled.code.len(), usize::try_from(compiled.slots).unwrap(), outcome.memory.len()];
            let sizes = sizes.map(|size| grouped(size as u64)).join(" | "); // usize to u64 widens
            let witness = if takes_witness { "yes" } else { "" };
            writeln!(text, "| {inputs} | {witness} | {gas} | {ratio} | {split} | {sizes} |").unwrap();
        }
    }
    text
}

#[test]
fn the_table_of_the_page_is_what_verifiers_cost() {
    residue_pages::hold("docs/groth16.md", "verifiers", &table());
}
