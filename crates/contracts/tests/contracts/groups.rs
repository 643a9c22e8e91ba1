//! The contracts of the group operations answer as the precompiles of EIP-2537 do, byte for byte, under every revision, on
//! good input and bad input of every kind.
//!
//! Plain `cargo test` takes a hundred inputs of each operation. `RESIDUE_CASES=2000` takes as many; `RESIDUE_SEED` begins
//! with another seed.

mod kinds;
mod sides;

use crate::points::Seeded;
use crate::support::{answered_everywhere, everywhere};
use kinds::{Kind, Verdict};
use residue_compiler::compile;
use residue_contracts::{Contract, find};
use residue_engine::{Engine, EngineConfig, Halt, Prepared};
use residue_isa::{GasSchedule, Revision};
use residue_workbench::native;
use sides::{G1, G2, Side};

/// More than any input of these tests takes.
const GAS: u64 = 100_000_000;

/// Inputs of an operation in plain `cargo test`.
const CASES: usize = 100;

/// Runs `input` everywhere; every answer must be that of the precompile, which must be `verdict`.
#[track_caller]
fn check(contract: &Contract, compiled: &mut [(Revision, Prepared)], input: &[u8], verdict: Verdict, what: &str) {
    let native = native(contract, input).unwrap().ok().map(|native| native.output);
    match verdict {
        Verdict::Accepted => assert!(native.is_some(), "{what}: the precompile refuses it"),
        Verdict::Identity => {
            assert!(
                native.as_ref().is_some_and(|output| output.iter().all(|&byte| byte == 0)),
                "{what}: {native:02x?}"
            );
        }
        Verdict::Refused => assert_eq!(native, None, "{what}: the precompile accepts it"),
        Verdict::Any => {}
    }
    answered_everywhere(compiled, input, native.as_deref(), what);
}

fn check_kinds(name: &str, side: &Side, kinds: &[Kind]) {
    let contract = find(name).unwrap();
    let cases = residue_extent::cases(CASES);
    let first = residue_extent::seed() as usize;
    let mut compiled = everywhere(contract);
    for case in 0..cases {
        let (kind, verdict, make) = kinds[case % kinds.len()];
        let seed = (first + case) as u64;
        let mut seeded = Seeded(seed);
        // One point in half of the cases, now and then so many that the method changes.
        let points = seeded.pick(&[1, 1, 1, 1, 2, 3, 5, 20]);
        let input = make(&mut seeded, side, points);
        check(contract, &mut compiled, &input, verdict, &format!("{kind}, seed {seed}, {points} points"));
    }
}

#[test]
fn g1_add_answers_as_the_precompile() {
    check_kinds("bls12_381/g1_add", &G1, kinds::ADD);
}

#[test]
fn g2_add_answers_as_the_precompile() {
    check_kinds("bls12_381/g2_add", &G2, kinds::ADD);
}

#[test]
fn g1_msm_answers_as_the_precompile() {
    check_kinds("bls12_381/g1_msm", &G1, kinds::MSM);
}

#[test]
fn g2_msm_answers_as_the_precompile() {
    check_kinds("bls12_381/g2_msm", &G2, kinds::MSM);
}

/// The contract on `eip6690-2024` with its schedule: the bytes of its code, and the gas of k products or, for an addition, of
/// one sum.
fn gas(name: &str, side: &Side, counts: &[usize]) -> (usize, Vec<u64>) {
    let contract = find(name).unwrap();
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let code = compile(&contract.program(), revision, &schedule).unwrap().code;
    let mut prepared = Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code);
    let gas_of = |&count: &usize| {
        let mut seeded = Seeded(5);
        let input = kinds::MSM[0].2(&mut seeded, side, count);
        let outcome = prepared.run_without_memory(&input, GAS);
        let native = native(contract, &input).unwrap().unwrap();
        assert_eq!((outcome.halt, outcome.output), (Halt::Return, native.output), "{name}, {count} products");
        println!("{name}, {count} products: {} gas, price {}", outcome.gas_used, native.gas_used);
        outcome.gas_used
    };
    (code.len(), counts.iter().map(gas_of).collect())
}

/// EIP-7825: the most gas of one transaction.
const TRANSACTION_GAS: u64 = 16_777_216;
/// EIP-170: the most bytes of a contract.
const CONTRACT_BYTES: usize = 24_576;

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn sums_of_products_take_no_more_gas_and_code_than_they_did() {
    for (name, side, most) in [
        ("bls12_381/g1_msm", &G1, [15_600, 26_900, 169_500, 1_036_300]),
        ("bls12_381/g2_msm", &G2, [21_600, 38_900, 279_000, 1_740_000]),
    ] {
        let (code_bytes, gas) = gas(name, side, &[1, 2, 16, 128]);
        assert!(gas.iter().zip(most).all(|(&gas, most)| gas <= most), "{name}: {gas:?}, {most:?}");
        assert!(gas[3] <= TRANSACTION_GAS);
        assert!(code_bytes <= CONTRACT_BYTES, "{name}: {code_bytes} bytes of code");
    }
}
