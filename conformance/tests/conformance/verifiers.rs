//! Verifiers on public and generated keys with proofs: Groth16 on both curves, and PLONK of snarkjs. Skipped with a message where there are no vectors.

use residue_compiler::compile;
use residue_conformance::vectors::folder;
use residue_contracts::{PROOF_SYSTEMS, Verifier, VerifierOptions};
use residue_engine::{Engine, EngineConfig, Halt, Prepared};
use residue_isa::{GasSchedule, Revision};
use serde_json::{Value, json};
use std::sync::Arc;

/// More than any call takes.
const GAS: u64 = 16_777_216;

fn verifier(system: &str, key: &Value, takes_witness: bool) -> Arc<dyn Verifier> {
    let system = PROOF_SYSTEMS.iter().find(|known| known.name == system).unwrap();
    // A key of the vectors is of a setup whose τ is known.
    (system.verifier)(&key.to_string(), VerifierOptions { takes_witness, allows_unsafe_key: true }).unwrap()
}

/// A verifier with its code, ready to run.
struct Subject {
    verifier: Arc<dyn Verifier>,
    prepared: Prepared,
}

impl Subject {
    fn new(system: &str, key: &Value, takes_witness: bool) -> Self {
        let verifier = verifier(system, key, takes_witness);
        let revision = Revision::Eip6690_2024;
        let schedule = GasSchedule::default_for(revision).unwrap();
        let code = compile(&verifier.program(), revision, &schedule).unwrap().code;
        Self { verifier, prepared: Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code) }
    }

    /// The answer to a proof: true or false.
    fn answer(&mut self, proof: &Value, inputs: &Value) -> bool {
        let mut call = self.verifier.call(&proof.to_string(), &inputs.to_string()).unwrap();
        call.extend(self.verifier.witness_for(&call).unwrap_or_default());
        let outcome = self.prepared.run_without_memory(&call, GAS);
        assert_eq!((outcome.halt, outcome.output.len()), (Halt::Return, 32));
        outcome.output[31] == 1
    }
}

/// A point of the vectors, `{"x": [...], "y": [...]}` with one number or two each, as snarkjs has it.
fn point(point: &Value) -> Value {
    let coordinate = |name: &str| {
        let parts = point[name].as_array().unwrap();
        if parts.len() == 1 { parts[0].clone() } else { json!(parts) }
    };
    let one = if point["x"].as_array().unwrap().len() == 1 { json!("1") } else { json!(["1", "0"]) };
    json!([coordinate("x"), coordinate("y"), one])
}

#[test]
fn generated_groth16_proofs_are_answered_as_the_vectors_say() {
    let Some(folder) = folder("groth16") else { return };
    for (file, curve) in [("generated_bn254.json", "bn128"), ("generated_bls12_381.json", "bls12381")] {
        let vectors: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap();
        let vk = &vectors["vk"];
        let key = json!({
            "protocol": "groth16",
            "curve": curve,
            "vk_alpha_1": point(&vk["alpha_g1"]),
            "vk_beta_2": point(&vk["beta_g2"]),
            "vk_gamma_2": point(&vk["gamma_g2"]),
            "vk_delta_2": point(&vk["delta_g2"]),
            "IC": vk["ic"].as_array().unwrap().iter().map(point).collect::<Vec<_>>(),
        });
        for takes_witness in [false, true] {
            let mut verifier = Subject::new("groth16", &key, takes_witness);
            for (number, proof) in vectors["proofs"].as_array().unwrap().iter().enumerate() {
                let parts =
                    json!({ "pi_a": point(&proof["a"]), "pi_b": point(&proof["b"]), "pi_c": point(&proof["c"]) });
                let found = verifier.answer(&parts, &proof["public"]);
                assert_eq!(found, proof["valid"].as_bool().unwrap(), "{file}, proof {number}");
            }
        }
    }
}

#[test]
fn a_plonk_proof_that_snarkjs_refuses_is_refused() {
    // `plonk.verify` of snarkjs 0.7.5 says of this key, proof and inputs of its own tests that the proof is invalid.
    let Some(folder) = folder("plonk") else { return };
    let text = std::fs::read_to_string(folder.join("snarkjs_bn254.json")).unwrap();
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let mut verifier = Subject::new("plonk", &vectors["verification_key"], false);
    assert!(!verifier.answer(&vectors["proof"], &vectors["public"]));
}

#[test]
fn a_plonk_proof_of_snarkjs_holds_and_others_do_not() {
    let read = |name: &str| -> Value {
        let path = residue_conformance::workspace::root().join("examples/plonk").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let vectors = json!({ "proof": read("proof.json"), "public": read("public.json") });
    let mut verifier = Subject::new("plonk", &read("key.json"), false);
    assert!(verifier.answer(&vectors["proof"], &vectors["public"]));
    let mut inputs = vectors["public"].clone();
    inputs[0] = json!("7");
    assert!(!verifier.answer(&vectors["proof"], &inputs));
    for name in ["eval_a", "eval_zw"] {
        let mut proof = vectors["proof"].clone();
        proof[name] = json!("7");
        assert!(!verifier.answer(&proof, &vectors["public"]), "{name}");
    }
    for (name, other) in [("A", "B"), ("T3", "T1"), ("Wxiw", "Wxi")] {
        let mut proof = vectors["proof"].clone();
        proof[name] = proof[other].clone();
        assert!(!verifier.answer(&proof, &vectors["public"]), "{name}");
    }
}
