//! The precompiles of revm, which judge our contracts, agree with the published vectors; so do the contracts themselves.

use residue_compiler::compile;
use residue_conformance::eip2537::{Accepted, OPERATIONS, Operation, Vectors, check_contract_against_vectors};
use residue_conformance::vectors;
use residue_contracts::CONTRACTS;
use residue_engine::{Engine, EngineConfig, Fork, Halt, native};
use residue_isa::{Family, GasSchedule};

/// Contracts run under one revision of each kind, and one in so many of the others.
const SHARE: usize = 20;
/// Without field instructions one in so many of the vectors of a wide field is run, where there are more than that.
const WIDE_SHARE: usize = 10;
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
    for (number, operation) in OPERATIONS.into_iter().enumerate() {
        for contract in CONTRACTS.iter().filter(|contract| contract.precompile == Some(operation.address)) {
            let program = contract.program();
            for revision in residue_extent::revisions(SHARE, number) {
                let schedule = GasSchedule::default_for(revision).expect("every revision has a schedule");
                let code = match compile(&program, revision, &schedule) {
                    Ok(compiled) => compiled.code,
                    // Some are too long, or their arrays too far, for addresses of two bytes.
                    Err(error) if revision.family() == Family::Words && error.is_inexpressible() => continue,
                    Err(error) => panic!("{}, {revision}: {error}", contract.name),
                };
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

/// The vectors of go-ethereum (core/vm/testdata/precompiles) for BN254: files and contracts.
const BN254: [(&str, &str); 3] =
    [("bn256Add.json", "bn254/add"), ("bn256ScalarMul.json", "bn254/mul"), ("bn256Pairing.json", "bn254/pairing")];

#[test]
fn contracts_and_precompiles_agree_with_the_vectors_of_bn254() {
    let Some(folder) = vectors::folder("bn254") else { return };
    for (number, (file, name)) in BN254.into_iter().enumerate() {
        let cases: Vec<Accepted> = vectors::cases(&folder, file).expect("the files are readable");
        let contract = residue_contracts::find(name).expect("it is in the list");
        let address = contract.precompile.expect("it replaces one");
        for case in &cases {
            let native = native::precompile(Fork::Osaka, address, &case.input, GAS).expect("the vector is accepted");
            assert_eq!((&native.output, native.gas_used), (&case.expected, case.gas), "{file}: {}", case.name);
        }
        for revision in residue_extent::revisions(SHARE, number) {
            let schedule = GasSchedule::default_for(revision).expect("every revision has a schedule");
            let code = match compile(&contract.program(), revision, &schedule) {
                Ok(compiled) => compiled.code,
                Err(error) if error.is_inexpressible() => continue,
                Err(error) => panic!("{name}, {revision}: {error}"),
            };
            let engine = Engine::new(EngineConfig::default_for(revision)).expect("the schedule is the revision's");
            for case in &cases {
                let outcome = engine.run_code(&code, &case.input, GAS);
                let found = (outcome.halt, &outcome.output);
                assert_eq!(found, (Halt::Return, &case.expected), "{revision}, {file}: {}", case.name);
            }
            println!("{name}, {revision}: {} cases", cases.len());
        }
    }
}

/// A case of the vectors of celo-blockchain (core/vm/testdata/precompiles), some of which have no name.
#[derive(serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Celo {
    input: String,
    /// None where the input is refused.
    expected: Option<String>,
}

/// Those for BLS12-377: what files end with, and contracts.
const BLS12_377: [(&str, &str); 14] = [
    ("bls12377G1Add_zexe.json", "bls12_377/g1_add"),
    ("bls12377G1Mul_zexe.json", "bls12_377/g1_mul"),
    ("bls12377G1MultiExp_zexe.json", "bls12_377/g1_msm"),
    ("bls12377G2Add_zexe.json", "bls12_377/g2_add"),
    ("bls12377G2Mul_zexe.json", "bls12_377/g2_mul"),
    ("bls12377G2MultiExp_zexe.json", "bls12_377/g2_msm"),
    ("bls12377Pairing_matter.json", "bls12_377/pairing"),
    ("fail-bls12377G1Add.json", "bls12_377/g1_add"),
    ("fail-bls12377G1Mul.json", "bls12_377/g1_mul"),
    ("fail-bls12377G1Multiexp.json", "bls12_377/g1_msm"),
    ("fail-bls12377G2Add.json", "bls12_377/g2_add"),
    ("fail-bls12377G2Mul.json", "bls12_377/g2_mul"),
    ("fail-bls12377G2Multiexp.json", "bls12_377/g2_msm"),
    ("fail-bls12377Pairing.json", "bls12_377/pairing"),
];

#[test]
fn contracts_agree_with_the_vectors_of_bls12_377() {
    let Some(folder) = vectors::folder("bls12_377") else { return };
    for (number, (file, name)) in BLS12_377.into_iter().enumerate() {
        let cases: Vec<Celo> = vectors::cases(&folder, file).expect("the files are readable");
        let program = residue_contracts::find(name).expect("it is in the list").program();
        for revision in residue_extent::revisions(SHARE, number) {
            let schedule = GasSchedule::default_for(revision).expect("every revision has a schedule");
            let code = match compile(&program, revision, &schedule) {
                Ok(compiled) => compiled.code,
                Err(error) if error.is_inexpressible() => continue,
                Err(error) => panic!("{name}, {revision}: {error}"),
            };
            let engine = Engine::new(EngineConfig::default_for(revision)).expect("the schedule is the revision's");
            let share = if revision.family() == Family::Words && cases.len() > WIDE_SHARE { WIDE_SHARE } else { 1 };
            let indexed: Vec<(usize, &Celo)> = cases.iter().enumerate().collect();
            let mut run = 0;
            for &(index, case) in residue_extent::sample(&indexed, share, number) {
                run += 1;
                let outcome = engine.run_code(&code, &hex::decode(&case.input).expect("digits"), GAS);
                match &case.expected {
                    Some(expected) => {
                        let found = (outcome.halt, hex::encode(&outcome.output));
                        assert_eq!(found, (Halt::Return, expected.clone()), "{revision}, {file}, {index}");
                    }
                    None => {
                        let halt = outcome.halt;
                        assert!(
                            halt.is_exceptional() && halt != Halt::OutOfGas,
                            "{revision}, {file}, {index}: {halt:?}"
                        );
                    }
                }
            }
            println!("{name}, {revision}: {run} of {} cases", cases.len());
        }
    }
}
