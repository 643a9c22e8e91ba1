//! A verifier answers 0 to whatever is no signature, and never nothing: whoever calls it has a word to look at.
//!
//! `p256/verify` and `secp256k1/recover` are not among these: they stand in the place of precompiles that return nothing.

use residue_compiler::compile;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};

const VERIFIERS: [&str; 10] = [
    "p384/verify",
    "secp521r1/verify",
    "bip340/verify",
    "ed25519/verify",
    "ed25519/zip215",
    "baby_jubjub/eddsa",
    "bls12_381/verify",
    "bls12_381/fast_aggregate_verify",
    "eth/deposit",
    "drand/verify",
];

/// More than any of them takes.
const GAS: u64 = 10_000_000;

#[test]
fn verifiers_answer_whatever_they_are_given() {
    let engine = Engine::new(EngineConfig::default_for(Revision::Eip6690_2024)).unwrap();
    let schedule = GasSchedule::default_for(Revision::Eip6690_2024).unwrap();
    for name in VERIFIERS {
        let contract = residue_contracts::find(name).unwrap();
        let code = compile(&contract.program(), Revision::Eip6690_2024, &schedule).unwrap().code;
        let example = (contract.example)();
        let answer = |calldata: &[u8]| {
            let outcome = engine.run_code(&code, calldata, GAS);
            assert_eq!(outcome.halt, Halt::Return, "{name} of {} bytes", calldata.len());
            assert_eq!((outcome.output.len(), &outcome.output[..31]), (32, &[0; 31][..]), "{name}");
            outcome.output[31]
        };
        assert_eq!(answer(&example), 1, "{name}");
        for bytes in [0, 1, 31, 32, example.len() / 2, example.len() - 1] {
            assert_eq!(answer(&example[..bytes]), 0, "{name}, the first {bytes} bytes");
        }
        // Not of 0: key and R are then points of order 4 and S is 0, which ZIP-215 takes for a signature.
        for byte in [0x11, 0xff] {
            assert_eq!(answer(&vec![byte; example.len()]), 0, "{name}, bytes of {byte}");
        }
        for place in (0..example.len()).step_by(1 + example.len() / 12) {
            let mut changed = example.clone();
            changed[place] ^= 1;
            assert_eq!(answer(&changed), 0, "{name}, byte {place} changed");
        }
    }
}
