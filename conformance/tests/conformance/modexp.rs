//! The contract of modular exponentiation, and the precompile that it replaces, agree with vectors of other implementations.

use residue_compiler::compile;
use residue_conformance::vectors;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared, native};
use residue_ir::Program;
use residue_isa::{GasSchedule, Revision, precompile};
use serde::Deserialize;

/// Enough for every vector.
const GAS: u64 = 1_000_000_000;

/// A call of the precompile, as go-ethereum writes it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Call {
    name: String,
    input: String,
    expected: String,
}

/// The contract under every revision that expresses it, and the one in words.
fn contracts() -> Vec<(Revision, Prepared)> {
    let [program, in_words] = ["modexp", "modexp/words"].map(|name| find(name).expect("it is listed").program());
    let contract = |(program, revision): (&Program, Revision)| {
        let schedule = GasSchedule::default_for(revision).expect("every revision has a schedule");
        let code = match compile(program, revision, &schedule) {
            Err(error) if error.is_inexpressible() => return None,
            compiled => compiled.expect("the contract compiles").code,
        };
        let engine = Engine::new(EngineConfig::default_for(revision)).expect("the schedule is the revision's");
        Some((revision, engine.prepare(&code)))
    };
    let with_fields = residue_extent::revisions(12, 0).into_iter().map(|revision| (&program, revision));
    with_fields.chain([(&in_words, Revision::Evm384V7)]).filter_map(contract).collect()
}

#[test]
fn powers_are_those_of_the_vectors() {
    let mut contracts = contracts();
    assert!(contracts.iter().any(|(revision, _)| *revision == Revision::Eip6690_2024));
    for (folder, file) in [("modexp", "evmification.json"), ("other", "modexp_eip7883.json")] {
        let Some(folder) = vectors::folder(folder) else { continue };
        let calls: Vec<Call> = vectors::cases(&folder, file).unwrap_or_else(|error| panic!("{error}"));
        for Call { name, input, expected } in &calls {
            let [input, expected] =
                [input, expected].map(|text| hex::decode(text).expect("vectors are written in hex"));
            let native = native::precompile(Fork::Osaka, precompile::MODEXP, &input, GAS);
            assert_eq!(native.expect("the vector is accepted").output, expected, "{name}, precompile");
            for (revision, contract) in &mut contracts {
                let outcome = contract.run_without_memory(&input, GAS);
                assert_eq!((outcome.halt, outcome.output), (Halt::Return, expected.clone()), "{name}, {revision}");
            }
        }
    }
}
