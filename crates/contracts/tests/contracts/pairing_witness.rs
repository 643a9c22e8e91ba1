//! The pairing check with a residue witness answers as the precompile of EIP-2537 does for the pairs, whatever the witness is;
//! the right one spares a true check the final exponentiation.
//!
//! `RESIDUE_CASES=1000` takes as many inputs instead of each kind once; `RESIDUE_WRITE_TABLES=1` writes the table of
//! `docs/eip2537.md` anew.

use crate::pairing::kinds::KINDS;
use crate::points::{Seeded, encode1, encode2};
use num_bigint::BigUint;
use residue_compiler::compile;
use residue_contracts::bls12_381::pairing_witness::{CONTRACT, witness};
use residue_contracts::{Contract, find};
use residue_engine::{Engine, EngineConfig, Halt, Prepared};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::native;

/// More than seventeen pairs take.
const GAS: u64 = 100_000_000;
const PAIR_BYTES: usize = 384;
const ELEMENT_BYTES: usize = 48;
const WITNESS_BYTES: usize = 6 * ELEMENT_BYTES;

fn prepared(contract: &Contract, revision: Revision) -> Prepared {
    let code = compile(&contract.program(), revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
    Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code)
}

/// Runs `pairs` with a witness, which may be empty: the answer is that of the precompile for the pairs. Returns the gas.
#[track_caller]
fn check(prepared: &mut Prepared, pairs: &[u8], witness: &[u8], what: &str) -> u64 {
    let native = native(find("bls12_381/pairing").unwrap(), pairs).unwrap();
    let outcome = prepared.run_without_memory(&[pairs, witness].concat(), GAS);
    match native {
        Ok(native) => assert_eq!((outcome.halt, outcome.output), (Halt::Return, native.output), "{what}"),
        Err(_) => {
            assert!(outcome.halt.is_exceptional(), "{what}: {:?}", outcome.halt);
            assert_ne!(outcome.halt, Halt::OutOfGas, "{what}");
        }
    }
    outcome.gas_used
}

/// An element below p.
fn element(number: &BigUint) -> Vec<u8> {
    let digits = (number % crate::points::p()).to_bytes_be();
    [vec![0; ELEMENT_BYTES - digits.len()], digits].concat()
}

fn random_witness(seeded: &mut Seeded) -> Vec<u8> {
    (0..6).flat_map(|_| element(&BigUint::from_bytes_le(&seeded.bytes(64)))).collect()
}

/// The witness with one of its elements larger by one.
fn near(witness: &[u8], place: usize) -> Vec<u8> {
    let mut witness = witness.to_vec();
    let range = ELEMENT_BYTES * place..ELEMENT_BYTES * (place + 1);
    let larger = element(&(BigUint::from_bytes_be(&witness[range.clone()]) + 1u32));
    witness[range].copy_from_slice(&larger);
    witness
}

fn cases() -> usize {
    std::env::var("RESIDUE_CASES").map_or(KINDS.len(), |text| text.parse().expect("RESIDUE_CASES is a number"))
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn no_witness_changes_an_answer() {
    let mut prepared = prepared(&CONTRACT, Revision::Eip6690_2024);
    let balanced = crate::pairing::kinds::product_of_one(&mut Seeded(1), 2);
    let of_another = witness(&balanced).unwrap();
    for case in 0..cases() {
        let (name, _, make) = KINDS[case % KINDS.len()];
        let mut seeded = Seeded(case as u64);
        let count = 1 + seeded.below(4);
        let pairs = make(&mut seeded, count);
        let mut tried = vec![
            ("none", Vec::new()),
            ("zeros", vec![0; WITNESS_BYTES]),
            ("one", [vec![0; ELEMENT_BYTES - 1], vec![1], vec![0; WITNESS_BYTES - ELEMENT_BYTES]].concat()),
            ("random", random_witness(&mut seeded)),
            ("that of another check", of_another.clone()),
        ];
        if let Some(right) = witness(&pairs) {
            tried.push(("one that is nearly right", near(&right, seeded.below(6))));
            tried.push(("the right one", right));
        }
        // Bytes that are no list of pairs may become one with others after them, or be one with a witness.
        if !pairs.len().is_multiple_of(PAIR_BYTES) {
            continue;
        }
        for (which, witness) in tried {
            check(&mut prepared, &pairs, &witness, &format!("{name}, seed {case}, {count} pairs, witness: {which}"));
        }
    }
}

#[test]
fn the_right_witness_spares_the_final_exponentiation() {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let cheapest = |contract: &Contract| residue_workbench::cheapest(contract, revision, &schedule).unwrap().compiled;
    let prepare = |code: &[u8]| Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(code);
    let (compiled, pairing) = (cheapest(&CONTRACT), find("bls12_381/pairing").unwrap());
    let (mut with, mut plain) = (prepare(&compiled.code), prepare(&cheapest(pairing).code));
    let mut seeded = Seeded(2);
    let mut table = String::from(
        "| k | price | `bls12_381/pairing` | with its witness | ratio to the price | without a witness | with a wrong one |\n\
         |---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for count in [2, 4, 8, 16] {
        let pairs = crate::pairing::kinds::product_of_one(&mut seeded, count);
        let right = witness(&pairs).unwrap();
        let price = native(pairing, &pairs).unwrap().unwrap().gas_used;
        let gas = plain.run_without_memory(&pairs, GAS).gas_used;
        let spared = check(&mut with, &pairs, &right, &format!("{count} pairs"));
        let without = check(&mut with, &pairs, &[], &format!("{count} pairs, no witness"));
        let wrong = check(&mut with, &pairs, &near(&right, 5), &format!("{count} pairs, wrong"));
        assert!(spared + 40_000 < gas, "{count} pairs: {spared} and not {gas} gas");
        let [price_text, gas, spared_text, without, wrong] = [price, gas, spared, without, wrong].map(grouped);
        let ratio = ratio(spared, price);
        let line = format!("| {count} | {price_text} | {gas} | {spared_text} | {ratio} | {without} | {wrong} |\n");
        table.push_str(&line);
    }
    assert!(compiled.code.len() <= 24_576, "{} bytes of code", compiled.code.len());
    let sizes = [compiled.code.len() as u64, u64::from(compiled.slots)].map(grouped); // usize to u64 widens
    table.push_str(&format!("\nThe contract is {} bytes of code and uses {} slots.\n", sizes[0], sizes[1]));
    residue_pages::hold("docs/eip2537.md", "pairing witness", &table);
}

#[test]
fn the_witness_counts_in_the_first_loop_that_has_pairs() {
    // Eight pairs are a loop of their own.
    let mut prepared = prepared(&CONTRACT, Revision::Eip6690_2024);
    let pairs = crate::pairing::kinds::product_of_one(&mut Seeded(4), 10);
    let right = witness(&pairs).unwrap();
    let spared = check(&mut prepared, &pairs, &right, "ten pairs");
    let mut after = pairs[..8 * PAIR_BYTES].to_vec();
    after.chunks_exact_mut(PAIR_BYTES).for_each(|pair| pair[128..].fill(0));
    after.extend(crate::pairing::kinds::product_of_one(&mut Seeded(5), 2));
    let right = witness(&after).unwrap();
    let gas = check(&mut prepared, &after, &right, "two pairs after eight identities");
    assert!(gas < spared / 2, "{gas} and not half of {spared} gas");
}

#[test]
fn pairs_that_cancel_have_a_witness_too() {
    // The product of their Miller loops lies in Fp6 already, so that c would be one.
    let mut seeded = Seeded(3);
    let (p, q) = (seeded.g1(), encode2(seeded.g2()));
    let pairs = [encode1(p), q.clone(), encode1(-p), q].concat();
    let right = witness(&pairs).unwrap();
    let mut prepared = prepared(&CONTRACT, Revision::Eip6690_2024);
    let spared = check(&mut prepared, &pairs, &right, "cancelling pairs");
    assert!(spared + 40_000 < check(&mut prepared, &pairs, &near(&right, 0), "cancelling pairs, wrong"));
}

#[test]
fn only_true_checks_have_a_witness() {
    let mut seeded = Seeded(4);
    let pair = [encode1(seeded.g1()), encode2(seeded.g2())].concat();
    assert_eq!(witness(&pair), None);
    assert_eq!(witness(&[0; PAIR_BYTES]), None, "nothing to check");
    assert_eq!(witness(&[]), None);
    assert_eq!(witness(&[encode1(seeded.g1()), encode2(seeded.twist_point())].concat()), None);
}

#[test]
fn elements_that_are_not_below_the_modulus_are_as_good_as_none() {
    let mut prepared = prepared(&CONTRACT, Revision::Eip6690_2024);
    let mut seeded = Seeded(8);
    let right_pairs = crate::pairing::kinds::product_of_one(&mut seeded, 2);
    let right = witness(&right_pairs).unwrap();
    let wrong_pairs = [&right_pairs[..PAIR_BYTES], &encode1(seeded.g1()), &right_pairs[PAIR_BYTES + 128..]].concat();
    let p = crate::points::p();
    for (pairs, what) in [(&right_pairs, "true"), (&wrong_pairs, "false")] {
        let without = check(&mut prepared, pairs, &[], what);
        for place in 0..6 {
            let own = &right[ELEMENT_BYTES * place..][..ELEMENT_BYTES];
            let own = BigUint::from_bytes_be(own) + &p;
            // The last is above p by its lower 32 bytes alone, and the one before by its upper 16.
            let above =
                [(&p >> 256u32) + 1u32, &p >> 256u32].map(|high| (high << 256u32) + (BigUint::from(1u32) << 255u32));
            let most = (BigUint::from(1u32) << 384u32) - 1u32;
            for number in [p.clone(), own, most].into_iter().chain(above.into_iter().filter(|number| *number >= p)) {
                let mut other = right.clone();
                other[ELEMENT_BYTES * place..][..ELEMENT_BYTES].copy_from_slice(&number.to_bytes_be());
                let gas = check(&mut prepared, pairs, &other, &format!("{what}: element {place} is {number}"));
                assert!(gas < without + 1_000, "{what}: {gas} gas, and {without} without a witness");
            }
            // What is below p by one is a wrong witness and no more.
            let mut other = right.clone();
            other[ELEMENT_BYTES * place..][..ELEMENT_BYTES].copy_from_slice(&(&p - 1u32).to_bytes_be());
            check(&mut prepared, pairs, &other, &format!("{what}: element {place} is p − 1"));
        }
    }
}

#[test]
fn other_lengths_are_refused() {
    let mut prepared = prepared(&CONTRACT, Revision::Eip6690_2024);
    let pairs = crate::pairing::kinds::product_of_one(&mut Seeded(5), 2);
    let right = witness(&pairs).unwrap();
    let refused = [
        Vec::new(),
        right.clone(),
        [&pairs[..], &right[1..]].concat(),
        [&pairs[..], &right, &[0]].concat(),
        [&pairs[1..], &right].concat(),
    ];
    for input in refused {
        let halt = prepared.run_without_memory(&input, GAS).halt;
        assert!(halt.is_exceptional() && halt != Halt::OutOfGas, "{} bytes: {halt}", input.len());
    }
}

#[test]
fn every_revision_takes_a_witness() {
    let mut seeded = Seeded(6);
    let pairs = crate::pairing::kinds::product_of_one(&mut seeded, 2);
    let right = witness(&pairs).unwrap();
    let wrong_pairs = [&pairs[..PAIR_BYTES], &encode1(seeded.g1()), &pairs[PAIR_BYTES + 128..]].concat();
    for &revision in Revision::ALL {
        let mut prepared = prepared(&CONTRACT, revision);
        check(&mut prepared, &pairs, &right, &format!("{revision}, right"));
        check(&mut prepared, &pairs, &random_witness(&mut seeded), &format!("{revision}, wrong"));
        check(&mut prepared, &wrong_pairs, &right, &format!("{revision}, false"));
    }
}
