//! The precompiles of revm, which judge our contracts, agree with the published vectors; so do the contracts themselves.

use residue_compiler::compile;
use residue_conformance::eip2537::{OPERATIONS, Operation, Vectors, check_contract_against_vectors};
use residue_contracts::CONTRACTS;
use residue_engine::{Engine, EngineConfig, Fork, Halt, native};
use residue_isa::{GasSchedule, Revision};

/// Enough for every vector.
const GAS: u64 = 1_000_000_000;

#[test]
fn precompiles_agree_with_the_vectors_of_eip2537() {
    for operation in OPERATIONS {
        let run = |input: &[u8]| match native::precompile(Fork::Osaka, operation.address, input, GAS) {
            Ok(native) => (true, native.output),
            Err(_) => (false, Vec::new()),
        };
        let cases = check_contract_against_vectors(operation, run);
        println!("{}: {cases} cases", operation.file);
    }
}

#[test]
fn precompiles_charge_what_the_vectors_of_eip2537_say() {
    for operation in OPERATIONS {
        let Operation { file, address } = operation;
        let vectors = Vectors::read(operation).expect("the files are readable").unwrap_or_default();
        for case in vectors.accepted {
            let native = native::precompile(Fork::Osaka, address, &case.input, GAS).expect("the vector is accepted");
            assert_eq!(native.gas_used, case.gas, "{file}: {}", case.name);
        }
    }
}

#[test]
fn contracts_agree_with_the_vectors_of_eip2537() {
    for operation in OPERATIONS {
        for contract in CONTRACTS.iter().filter(|contract| contract.precompile == Some(operation.address)) {
            let program = contract.program();
            for &revision in Revision::ALL {
                let schedule = GasSchedule::default_for(revision).expect("every revision has a schedule");
                let code = compile(&program, revision, &schedule).expect("contracts compile").code;
                let engine = Engine::new(EngineConfig::default_for(revision)).expect("the schedule is the revision's");
                let run = |input: &[u8]| {
                    let outcome = engine.run_code(&code, input, GAS);
                    assert_ne!(outcome.halt, Halt::OutOfGas, "{}, {revision}", contract.name);
                    (outcome.halt == Halt::Return, outcome.output)
                };
                let cases = check_contract_against_vectors(operation, run);
                println!("{}, {revision}: {cases} cases", contract.name);
            }
        }
    }
}
