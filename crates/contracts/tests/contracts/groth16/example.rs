//! The files in `examples/groth16/` are a key of a random circuit and a proof of it: knowledge of a w with (a·w +
//! x₀)·(b·w + c) = x₁.
//!
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts groth16::example` writes them anew.

use super::proofs::{of_random_circuit, snarkjs_inputs, snarkjs_key, snarkjs_proof};
use crate::points::Seeded;
use std::path::Path;

#[test]
fn the_files_of_the_example_are_those_of_its_seed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/groth16");
    let (key, proof, inputs) = of_random_circuit(&mut Seeded(2016), 2);
    for (name, value) in [
        ("key.json", snarkjs_key(&key)),
        ("proof.json", snarkjs_proof(&proof)),
        ("public.json", snarkjs_inputs(&inputs)),
    ] {
        let text = format!("{value:#}\n");
        let path = folder.join(name);
        if std::env::var_os("RESIDUE_WRITE_TABLES").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, text).unwrap();
        } else {
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{name}");
        }
    }
}
