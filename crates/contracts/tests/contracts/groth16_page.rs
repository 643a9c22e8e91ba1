//! The table of gas in `docs/groth16.md` equals the gas of verifiers.
//!
//! If a verifier or the compiler changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts groth16_page -- --ignored`.

use std::fmt::Write;

use crate::groth16::proofs::{Points, of_random_circuit_on, snarkjs_inputs, snarkjs_key, snarkjs_proof};
use crate::groth16::{system, with_witness};
use crate::points::Seeded;
use ark_bls12_381::Bls12_381;
use ark_bn254::Bn254;
use residue_engine::native::precompile;
use residue_engine::{Engine, EngineConfig, Fork, Halt};
use residue_isa::precompile::BLS12_G1MSM;
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::cheapest;

/// More than any row takes.
const GAS: u64 = 16_777_216;

/// Gas of the precompiles in the calls of snarkjs' verifier: four pairs, and a product and a sum for each input
/// (EIP-1108).
fn price_on_bn254(inputs: u64) -> u64 {
    45_000 + 4 * 34_000 + (6_000 + 150) * inputs
}

/// The same on BLS12-381 (EIP-2537): four pairs, a sum of multiples for all inputs, and an addition.
fn price_on_bls12_381(inputs: u64) -> u64 {
    let terms = [crate::points::encode1(ark_ec::AffineRepr::generator()), vec![1; 32]].concat();
    let terms = terms.repeat(usize::try_from(inputs).unwrap());
    37_700 + 4 * 32_600 + 375 + precompile(Fork::default(), BLS12_G1MSM, &terms, u64::MAX).unwrap().gas_used
}

fn rows<E: Points>(price: impl Fn(u64) -> u64, counts: &[u64], text: &mut String) {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    for takes_witness in [false, true] {
        for &inputs in counts {
            let count = usize::try_from(inputs).unwrap();
            let (key, proof, values) = of_random_circuit_on::<E>(&mut Seeded(260), count);
            let verifier = (system().verifier)(&snarkjs_key(&key).to_string(), with_witness(takes_witness)).unwrap();
            let compiled = cheapest(&*verifier, revision, &schedule).unwrap().compiled;
            // EIP-7954 has room for no more inputs.
            let is_short = compiled.code.len() <= 65_536;
            assert!(is_short || inputs > 40, "{inputs} inputs: {} bytes of code", compiled.code.len());
            let call = verifier.call(&snarkjs_proof(&proof).to_string(), &snarkjs_inputs(&values).to_string());
            let mut call = call.unwrap();
            call.extend(verifier.witness_for(&call).unwrap_or_default());
            let counted = engine.run_counted(&compiled.code, &call, GAS);
            let outcome = counted.outcome;
            let one = [vec![0; 31], vec![1]].concat();
            assert_eq!((outcome.halt, outcome.output), (Halt::Return, one), "{inputs} inputs");
            let split = counted.gas_split;
            let price = price(inputs);
            let ratio = ratio(outcome.gas_used, price);
            let gas = [outcome.gas_used, price].map(grouped).join(" | ");
            let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
            let sizes = [compiled.code.len(), usize::try_from(compiled.slots).unwrap(), outcome.memory.len()];
            let sizes = sizes.map(|size| grouped(size as u64)).join(" | "); // usize to u64 widens
            let witness = if takes_witness { "yes" } else { "" };
            writeln!(text, "| {} | {inputs} | {witness} | {gas} | {ratio} | {split} | {sizes} |", E::CURVE).unwrap();
        }
    }
}

fn table() -> String {
    let mut text = String::from(
        "| curve | inputs | witness | gas | precompiles | ratio | arithmetic | transfer | growth | control | code bytes | slots | memory bytes |\n\
         |---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    rows::<Bn254>(price_on_bn254, &[1, 2, 4, 8, 16, 40, 128], &mut text);
    rows::<Bls12_381>(price_on_bls12_381, &[1, 2, 4, 8, 16, 24, 41, 100], &mut text);
    text
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_the_page_is_what_verifiers_cost() {
    residue_pages::hold("docs/groth16.md", "verifiers", &table());
}
