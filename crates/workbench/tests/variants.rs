//! Every variant of a contract gives the same bytes, and the cheapest comes first.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use residue_compiler::{Dialect, SmallMultiples};
use residue_contracts::{Contract, find};
use residue_engine::{Engine, EngineConfig};
use residue_ir::Fp2Product;
use residue_ir::{Outcome, evaluate};
use residue_isa::{GasSchedule, Revision};
use residue_workbench::{Trial, Variant, cheapest, native};

/// More gas than any example takes.
const GAS: u64 = 1 << 40;

fn trials(contract: &Contract, revision: Revision, schedule: &GasSchedule) -> Vec<Trial> {
    residue_workbench::trials(contract, Variant::all(), revision, schedule, Dialect::default()).unwrap()
}

#[test]
fn every_variant_gives_the_same_bytes() {
    for revision in [Revision::Evm384V7, Revision::Eip5843, Revision::Eip6690_2024, Revision::XFp6x] {
        let schedule = GasSchedule::default_for(revision).unwrap();
        let engine = Engine::new(EngineConfig::new(revision, schedule.clone())).unwrap();
        for name in ["bls12_381/pairing", "bls12_381/map_fp_to_g1", "bls12_381/map_fp2_to_g2", "evm384/f6m_mul"] {
            let contract = find(name).unwrap();
            let input = (contract.example)();
            let trials = trials(contract, revision, &schedule);
            assert!(trials.len() > 1 && trials.is_sorted_by_key(|trial| trial.gas), "{name} under {revision}");
            for trial in &trials {
                let outcome = engine.run_code(&trial.compiled.code, &input, GAS);
                assert!(outcome.halt.is_success(), "{name} under {revision}, {:?}", trial.variant);
                match native(contract, &input) {
                    Some(native) => assert_eq!(outcome.output, native.unwrap().output),
                    None => assert_eq!(Outcome::Returned(outcome.output), evaluate(&contract.program(), &input)),
                }
            }
        }
    }
}

/// If calling an instruction costs as much as executing it, fewer instructions win; else fewer multiplications.
#[test]
fn prices_decide() {
    let chosen = |name: &str, revision, schedule: &str| {
        let schedule = GasSchedule::named(schedule, revision).unwrap();
        cheapest(find(name).unwrap(), revision, &schedule).unwrap().variant
    };
    assert_eq!(chosen("bls12_381/pairing", Revision::Eip6690_2024, "eip6690").product, Fp2Product::Karatsuba);
    assert_eq!(chosen("evm384/f6m_mul", Revision::Evm384V7, "evmone").product, Fp2Product::Schoolbook);
    let called = chosen("bls12_381/map_fp2_to_g2", Revision::Evm384V0, "evmone");
    assert_ne!(called.multiples, SmallMultiples::AsWritten);
}
