//! ML-DSA.
use residue_compiler::{Deployment, Dialect, SmallMultiples, compile_as};
use residue_contracts::mldsa::signer::{Signed, Signer};
use residue_contracts::mldsa::{Hash, ML_DSA_44, ML_DSA_65, Scheme};
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt, Outcome};
use residue_isa::{GasSchedule, Revision};
use std::num::NonZeroU64;

#[test]
fn first() {
    for (scheme, hash, name) in [(ML_DSA_44, Hash::Keccak, "mldsa44/eth"), (ML_DSA_44, Hash::Shake, "mldsa44/fips"), (ML_DSA_65, Hash::Shake, "mldsa65/fips")] {
        let signed = Signed::example(scheme, hash);
        eprintln!("valid {}", signed.is_valid());
        let revision = Revision::Evm;
        let (program, schedule) = (find(name).unwrap().program(), GasSchedule::default_for(revision).unwrap());
        for calls in [None, Some(1u64), Some(100)] {
        let deployment = calls.map(|calls| Deployment { gas_a_byte: 200, calls: NonZeroU64::new(calls).unwrap() });
        let dialect = Dialect { deployment, ..Dialect::default() };
        let code = compile_as(&program, revision, &schedule, SmallMultiples::AsWritten, dialect).unwrap().code;
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        let calldata = signed.calldata();
        let outcome = engine.run_code(&code, &calldata, 10_000_000);
        eprintln!("{name} {calls:?} {} bytes {:?} {} {:?}", code.len(), outcome.halt, outcome.gas_used, outcome.output.last());
        std::fs::write(format!("/work/t/mld/{}.{calls:?}.bin", name.replace('/', "_")), &code).unwrap();
        std::fs::write(format!("/work/t/mld/{}.calldata", name.replace('/', "_")), &calldata).unwrap();
        }
    }
}
