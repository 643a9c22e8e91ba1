//! The contracts on BN254 answer as the precompiles of EIP-196 and EIP-197 do, byte for byte, under every revision that has such
//! moduli, on good input and bad input of every kind.
//!
//! Plain `cargo test` takes each kind a few times. `RESIDUE_CASES=2000` takes as many inputs of each contract; `RESIDUE_SEED` begins
//! with another seed.

pub mod kinds;
pub mod points;

use crate::points::Seeded;
use crate::support::{answered_everywhere, everywhere};
use kinds::{Kind, Verdict};
use residue_contracts::{Contract, find};
use residue_engine::{Engine, EngineConfig, Halt, Prepared};
use residue_isa::{GasSchedule, Revision};
use residue_workbench::native;

/// More than any input of these tests takes.
const GAS: u64 = 100_000_000;

/// The contract under every revision that can express it, ready to run.
fn compiled(contract: &Contract) -> Vec<(Revision, Prepared)> {
    let compiled = everywhere(contract);
    assert!(compiled.len() >= 5, "{}: {} revisions", contract.name, compiled.len());
    compiled
}

/// Runs `input` everywhere; every answer must be that of the precompile, which must be `verdict`.
#[track_caller]
fn check(contract: &Contract, compiled: &mut [(Revision, Prepared)], input: &[u8], verdict: Verdict, what: &str) {
    let native = native(contract, input).unwrap().ok().map(|native| native.output);
    let is_zero = |output: &Vec<u8>| output.iter().all(|&byte| byte == 0);
    match verdict {
        Verdict::Accepted => assert!(native.is_some(), "{what}: the precompile refuses it"),
        Verdict::Zero => assert!(native.as_ref().is_some_and(is_zero), "{what}: {native:02x?}"),
        Verdict::NotZero => assert!(native.as_ref().is_some_and(|output| !is_zero(output)), "{what}: {native:02x?}"),
        Verdict::Refused => assert_eq!(native, None, "{what}: the precompile accepts it"),
        Verdict::Any => {}
    }
    answered_everywhere(compiled, input, native.as_deref(), what);
}

/// Inputs of every kind, `cases` of them or as many as the environment asks for.
fn check_kinds(name: &str, kinds: &[Kind], cases: usize) {
    let contract = find(name).unwrap();
    let cases = residue_extent::cases(cases);
    let first = residue_extent::seed() as usize;
    let mut compiled = compiled(contract);
    for case in 0..cases {
        let (kind, verdict, make) = kinds[case % kinds.len()];
        let seed = (first + case) as u64;
        let input = make(&mut Seeded(seed));
        check(contract, &mut compiled, &input, verdict, &format!("{kind}, seed {seed}"));
    }
}

#[test]
fn additions_are_those_of_the_precompile() {
    check_kinds("bn254/add", kinds::ADD, 100);
}

#[test]
fn multiples_are_those_of_the_precompile() {
    check_kinds("bn254/mul", kinds::MUL, 100);
}

#[test]
fn pairing_checks_are_those_of_the_precompile() {
    check_kinds("bn254/pairing", kinds::PAIRING, 2 * kinds::PAIRING.len());
}

#[test]
fn any_number_of_pairs_is_taken() {
    // Numbers around the pairs that one loop takes, and a third loop.
    let contract = find("bn254/pairing").unwrap();
    let mut compiled = compiled(contract);
    let mut seeded = Seeded(179);
    for count in [5, 7, 8, 9, 16, 17] {
        let input = kinds::product_of_one(&mut seeded, count);
        check(contract, &mut compiled, &input, Verdict::NotZero, &format!("{count} pairs"));
        let mut wrong = input.clone();
        wrong[192 * (count - 1)..][..64].copy_from_slice(&points::encode1(points::g1(&mut seeded)));
        check(contract, &mut compiled, &wrong, Verdict::Zero, &format!("{count} pairs, the last one wrong"));
        let mut outside = input;
        outside[192 * (count - 1) + 64..].copy_from_slice(&points::encode2(points::twist_point(&mut seeded)));
        check(contract, &mut compiled, &outside, Verdict::Refused, &format!("{count} pairs, the last one outside"));
    }
}

/// Eight pairs have a loop of their own.
#[test]
fn every_kind_may_be_among_eight_pairs() {
    let contract = find("bn254/pairing").unwrap();
    let mut compiled = compiled(contract);
    let mut seeded = Seeded(178);
    let mut checked = 0;
    for (kind, verdict, make) in kinds::PAIRING {
        let given = make(&mut seeded);
        if given.len() % 192 != 0 || given.len() > 6 * 192 {
            continue;
        }
        let others = kinds::product_of_one(&mut seeded, 8 - given.len() / 192);
        for (place, input) in [[&given[..], &others].concat(), [&others[..], &given].concat()].iter().enumerate() {
            check(contract, &mut compiled, input, *verdict, &format!("{kind}, {place}"));
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn the_identity_may_stand_anywhere() {
    // Three pairs; any of their points replaced by the identity.
    let contract = find("bn254/pairing").unwrap();
    let mut compiled = compiled(contract);
    let mut seeded = Seeded(177);
    let pair =
        |seeded: &mut Seeded| [points::encode1(points::g1(seeded)), points::encode2(points::g2(seeded))].concat();
    let input: Vec<u8> = (0..3).flat_map(|_| pair(&mut seeded)).collect();
    for mask in 0u32..64 {
        let mut input = input.clone();
        for point in (0..6).filter(|point| mask >> point & 1 == 1) {
            let start = 192 * (point / 2) + 64 * (point % 2);
            input[start..start + 64 * (1 + point % 2)].fill(0);
        }
        // The pairs left are a product at random; that is one only if nothing is left.
        let nothing_left = (0..3).all(|pair| mask >> (2 * pair) & 3 != 0);
        let verdict = if nothing_left { Verdict::NotZero } else { Verdict::Zero };
        check(contract, &mut compiled, &input, verdict, &format!("identities at {mask:06b}"));
    }
}

/// Σ sᵢ·Pᵢ by the precompiles ECMUL and ECADD, k and k − 1 times, and their gas; `None` if one of them refuses.
pub fn sum_of_products(input: &[u8]) -> Option<(Vec<u8>, u64)> {
    let run = |name: &str, input: &[u8]| native(find(name).unwrap(), input).unwrap().ok();
    input.chunks(96).try_fold((Vec::new(), 0), |(sum, gas), product| {
        let product = run("bn254/mul", product)?;
        if sum.is_empty() {
            return Some((product.output, product.gas_used));
        }
        let sum = run("bn254/add", &[sum, product.output].concat())?;
        Some((sum.output, gas + product.gas_used + sum.gas_used))
    })
}

#[test]
fn sums_of_products_are_those_of_the_precompiles() {
    let contract = find("bn254/msm").unwrap();
    let mut compiled = compiled(contract);
    let seed = residue_extent::seed() as usize;
    for round in 0..residue_extent::cases(1) {
        let mut seeded = Seeded((seed + round) as u64);
        for count in [0, 1, 2, 4, 5, 8, 16, 17] {
            for &(kind, accepted, make) in kinds::SUMS {
                let input = make(&mut seeded, count);
                let expected = if count == 0 { Some(vec![0; 64]) } else { sum_of_products(&input).map(|(sum, _)| sum) };
                assert!(count == 0 || expected.is_some() == accepted, "{kind}, {count}");
                answered_everywhere(
                    &mut compiled,
                    &input,
                    expected.as_deref(),
                    &format!("{kind}, {count}, round {round}"),
                );
            }
        }
    }
    let product = [points::encode1(points::g1(&mut Seeded(1))), vec![3; 32]].concat();
    answered_everywhere(&mut compiled, &product[..95], None, "a byte less");
    answered_everywhere(&mut compiled, &[&product[..], &[0]].concat(), None, "a byte more");
}

/// Gas and code on `eip6690-2024` with its schedule, for one input each.
fn gas(name: &str, inputs: &[Vec<u8>]) -> Vec<u64> {
    let contract = find(name).unwrap();
    let schedule = GasSchedule::default_for(Revision::Eip6690_2024).unwrap();
    let trial = residue_workbench::cheapest(contract, Revision::Eip6690_2024, &schedule).unwrap();
    let mut prepared =
        Engine::new(EngineConfig::default_for(Revision::Eip6690_2024)).unwrap().prepare(&trial.compiled.code);
    let gas_of = |input: &Vec<u8>| {
        let outcome = prepared.run_without_memory(input, GAS);
        assert_eq!(outcome.halt, Halt::Return);
        println!("{name}, {} bytes: {} gas, code {} bytes", input.len(), outcome.gas_used, trial.compiled.code.len());
        outcome.gas_used
    };
    inputs.iter().map(gas_of).collect()
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn contracts_take_no_more_gas_than_they_did() {
    let mut seeded = Seeded(5);
    let two = [(); 2].map(|()| points::encode1(points::g1(&mut seeded))).concat();
    let product = [points::encode1(points::g1(&mut seeded)), vec![0xff; 32]].concat();
    let pairs = [2, 4, 8, 16].map(|count| kinds::product_of_one(&mut seeded, count));
    let sums = [1, 4, 16].map(|count| kinds::SUMS[0].2(&mut seeded, count));
    for (name, inputs, most) in [
        ("bn254/msm", sums.to_vec(), vec![19_400, 20_300, 68_200]),
        ("bn254/add", vec![two], vec![960]),
        ("bn254/mul", vec![product], vec![6_510]),
        ("bn254/pairing", pairs.to_vec(), vec![116_700, 175_000, 276_200, 510_500]),
    ] {
        let gas = gas(name, &inputs);
        assert!(gas.iter().zip(&most).all(|(gas, most)| gas <= most), "{name}: {gas:?}, {most:?}");
    }
}
