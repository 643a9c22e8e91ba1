//! The precompiles of revm, which judge our contracts, agree with the published vectors.

use residue_conformance::eip2537::{OPERATIONS, Operation, Vectors, check_contract_against_vectors};
use residue_engine::{Fork, native};

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
