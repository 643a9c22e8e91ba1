//! The point evaluation contract, and the precompile that it replaces, agree with the vectors of the consensus specifications.

use residue_compiler::compile;
use residue_conformance::vectors;
use residue_contracts::kzg::point_evaluation::CONTRACT;
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared, native};
use residue_isa::{GasSchedule, Revision, precompile};
use serde::Deserialize;

/// Enough for every vector.
const GAS: u64 = 100_000_000;

/// A call of `verify_kzg_proof`, and what it gives: nothing where the arguments are refused.
#[derive(Deserialize)]
struct Case {
    input: Arguments,
    output: Option<bool>,
    name: String,
}

#[derive(Deserialize)]
struct Arguments {
    commitment: String,
    z: String,
    y: String,
    proof: String,
}

/// A call of the precompile, as go-ethereum writes it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Call {
    input: String,
    expected: String,
}

fn bytes(digits: &str) -> Vec<u8> {
    hex::decode(digits.trim_start_matches("0x")).expect("vectors are written in hex")
}

impl Arguments {
    /// As calldata, with the hash that belongs to the commitment.
    fn calldata(&self) -> Vec<u8> {
        let [commitment, z, y, proof] = [&self.commitment, &self.z, &self.y, &self.proof].map(|text| bytes(text));
        let sha256 = native::precompile(Fork::Osaka, 2, &commitment, GAS).expect("SHA-256 takes anything");
        [&[1], &sha256.output[1..], &z, &y, &commitment, &proof].concat()
    }
}

/// Both give `expected`, or fail where that is nothing.
fn check(prepared: &mut Prepared, calldata: &[u8], expected: Option<&[u8]>, name: &str) {
    let native = native::precompile(Fork::Osaka, precompile::KZG_POINT_EVALUATION, calldata, GAS);
    assert_eq!(native.ok().map(|native| native.output).as_deref(), expected, "{name}, precompile");
    let outcome = prepared.run_without_memory(calldata, GAS);
    assert_ne!(outcome.halt, Halt::OutOfGas, "{name}");
    let output = (outcome.halt == Halt::Return).then_some(outcome.output);
    assert_eq!(output.as_deref(), expected, "{name}, contract");
}

#[test]
fn point_evaluations_are_those_of_the_vectors() {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).expect("every revision has a schedule");
    let code = compile(&CONTRACT.program(), revision, &schedule).expect("contracts compile").code;
    let mut prepared = Engine::new(EngineConfig::default_for(revision)).expect("it is the revision's").prepare(&code);
    let read = |folder: &str| vectors::folder(folder);
    let mut output = None;
    if let Some(folder) = read("other") {
        for call in vectors::cases::<Call>(&folder, "pointEvaluation.json").expect("the file is readable") {
            let expected = bytes(&call.expected);
            check(&mut prepared, &bytes(&call.input), Some(&expected), "pointEvaluation");
            output = Some(expected);
        }
    }
    let Some(folder) = read("kzg") else { return };
    let cases = vectors::cases::<Case>(&folder, "verify_kzg_proof.json").expect("the file is readable");
    for Case { input, output: is_proven, name } in &cases {
        let expected = output.as_deref().filter(|_| *is_proven == Some(true));
        check(&mut prepared, &input.calldata(), expected, name);
    }
    println!("{} cases", cases.len());
}
