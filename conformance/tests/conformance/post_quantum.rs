//! Signatures of other programs, which stand beside the vectors in `../shared/prototype/pq`.

use residue_compiler::compile;
use residue_conformance::vectors;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};

/// The file has a key, a message and a signature, each in a line that begins with its name.
fn check(file: &str, names: &[&str]) {
    let Some(folder) = vectors::folder("../prototype/pq") else { return };
    let path = folder.join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no signature at {}", path.display());
        return;
    };
    let part = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        hex::decode(line.trim()).unwrap()
    };
    let calldata = ["public", "message", "signature"].map(part).concat();
    for name in names {
        for revision in [Revision::Evm, Revision::Eip6690_2024] {
            let program = find(name).unwrap().program();
            let code = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            let answer = |calldata: &[u8]| {
                let outcome = engine.run_code(&code, calldata, 1_000_000);
                assert_eq!(outcome.halt, Halt::Return, "{name}, {revision}");
                outcome.output
            };
            assert_eq!(answer(&calldata)[31], 1, "{name}, {revision}");
            let mut spoiled = calldata.clone();
            spoiled[100] ^= 1;
            assert_eq!(answer(&spoiled), [0; 32], "{name}, {revision}");
        }
    }
}

#[test]
fn a_signature_of_c13() {
    check("c13.txt", &["sphincs/c13", "sphincs/c13_rolled"]);
}

#[test]
fn a_signature_of_slh_dsa() {
    check("slh_sha2_128_24.txt", &["slh_dsa/sha2_128_24", "slh_dsa/sha2_128_24_rolled"]);
}
