//! The tables of `docs/evm.md` on code that calls precompiles equal its gas.
//!
//! If contracts or the compiler change, this writes them anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts --test today -- --ignored`.

use std::fmt::Write;

use ark_bls12_381::G1Affine as Bls12381Point;
use ark_bn254::G1Affine as Bn254Point;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::PrimeField;
use num_bigint::BigUint;
use residue_compiler::Dialect;
use residue_contracts::groth16::ProofCurve;
use residue_contracts::{CONTRACTS, PROOF_SYSTEMS, Source, Verifier, VerifierOptions, find};
use residue_curves::Affine;
use residue_curves::bls12_381::Bls12_381;
use residue_curves::bn254::Bn254;
use residue_curves::tower::Fp2;
use residue_engine::native::precompile;
use residue_engine::{Engine, EngineConfig, Fork, Halt};
use residue_isa::precompile::{BLS12_G1MSM, since};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, hold};
use residue_workbench::variants::Wanted;
use residue_workbench::{Trial, trials};
use serde_json::{Value, json};
use std::sync::Arc;

const GAS: u64 = 1 << 30;

/// MODEXP, and those of EIP-2537.
const BLS: &str = "0x05, 0x0b–0x11";

/// The contract for today's EVM with calls of precompiles.
fn thin(contract: &dyn Source) -> Trial {
    let (revision, dialect) = (Revision::Evm, Dialect { precompiles: true, ..Dialect::default() });
    let schedule = GasSchedule::default_for(revision).unwrap();
    let variants = Wanted::default().variants(contract);
    trials(contract, variants, revision, &schedule, dialect).unwrap().swap_remove(0)
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_precompiles_is_what_calls_of_them_cost() {
    let mut text = String::from(
        "| contract | address | from | gas of the precompile | gas of code that calls it | code, bytes |\n|---|---:|---|---:|---:|---:|\n",
    );
    for contract in CONTRACTS {
        let Some(address) = contract.precompile else { continue };
        let trial = thin(contract);
        let native = precompile(Fork::default(), address, &(contract.example)(), u64::MAX).unwrap();
        let (price, gas, bytes) = (native.gas_used, trial.gas, trial.compiled.code.len());
        assert!(price < gas && gas < price + 1_000, "{}: {gas} for {price}", contract.name);
        let (price, gas, since) = (grouped(price), grouped(gas), since(address).unwrap());
        writeln!(text, "| `{}` | {address:#04x} | {since} | {price} | {gas} | {bytes} |", contract.name).unwrap();
    }
    // Two pairs; a root by MODEXP, of which a point of G1 has one and a point of G2 two; the hash in either group.
    let (check, root, [hash_g1, hash_g2]) = (102_900, 36_432, [2 * 5_500 + 375, 2 * 23_800 + 600]);
    for (name, what, addresses, since, price) in [
        ("bn254/msm", ", two products", "0x06, 0x07", "byzantium", 12_300),
        ("bip340/verify", "", "0x01", "byzantium", 3_000),
        ("bls12_381/verify", ", key in G1", BLS, "prague", check + hash_g2 + 3 * root),
        ("drand/verify", ", key in G2", BLS, "prague", check + hash_g1 + 3 * root),
        ("bls12_381/fast_aggregate_verify", ", three keys", BLS, "prague", check + hash_g2 + 5 * root + 3 * 375),
        ("eth/deposit", "", BLS, "prague", check + hash_g2 + 3 * root),
        ("eth/sync_committee", ", 400 keys", BLS, "prague", check + hash_g2 + 2 * root + 400 * 375),
    ] {
        let trial = thin(find(name).unwrap());
        let (gas, bytes) = (trial.gas, trial.compiled.code.len());
        assert!(price < gas, "{name}: {gas} for {price}");
        let (price, gas) = (grouped(price), grouped(gas));
        writeln!(text, "| `{name}`{what} | {addresses} | {since} | {price} | {gas} | {bytes} |").unwrap();
    }
    hold("docs/evm.md", "precompiles", &text);
}

fn fp2<C: ProofCurve>(point: &Affine<Fp2<BigUint, C>>) -> Value {
    let pair = |value: &Fp2<BigUint, C>| json!([value.c0.to_string(), value.c1.to_string()]);
    json!([pair(&point.x), pair(&point.y), ["1", "0"]])
}

/// So many points of a group, none of which is short: twice the generator, three times and so on.
fn points<G: AffineRepr<BaseField: PrimeField>>(count: usize) -> Vec<Value> {
    let of = |times: usize| {
        let (x, y) = (G::generator() * G::ScalarField::from(times as u64)).into_affine().xy().unwrap(); // usize to u64 widens
        json!([x.into_bigint().to_string(), y.into_bigint().to_string(), "1"])
    };
    (2..count + 2).map(of).collect()
}

/// A key for so many inputs: a verifier takes as much gas with it as with any, and its code is as long as most.
fn key<C: ProofCurve>(inputs: usize) -> Value {
    let count = inputs + 2;
    let mut points =
        if C::NAMES == Bn254::NAMES { points::<Bn254Point>(count) } else { points::<Bls12381Point>(count) };
    let (alpha, g2) = (points.swap_remove(0), fp2(&C::g2_generator()));
    json!({
        "protocol": "groth16", "curve": C::NAMES[0], "nPublic": inputs, "vk_alpha_1": alpha, "vk_beta_2": g2, "vk_gamma_2": g2, "vk_delta_2": g2,
        "IC": points,
    })
}

/// The same for PLONK.
fn plonk_key(inputs: usize) -> Value {
    let r = <Bn254 as residue_curves::pairing::PairingCurve>::FAMILY.order();
    // 5 is no square, so this has the order 16.
    let omega = BigUint::from(5u8).modpow(&((&r - 1u8) / 16u8), &r);
    let mut key = json!({
        "protocol": "plonk", "curve": "bn128", "nPublic": inputs, "power": 4, "k1": "2", "k2": "3", "X_2": fp2(&Bn254::g2_generator()),
        "w": omega.to_string(),
    });
    let names = ["Qm", "Ql", "Qr", "Qo", "Qc", "S1", "S2", "S3"];
    names.into_iter().zip(points::<Bn254Point>(names.len())).for_each(|(name, point)| key[name] = point);
    key
}

fn verifier(system: &str, key: &Value) -> Arc<dyn Verifier> {
    let system = PROOF_SYSTEMS.iter().find(|known| known.name == system).unwrap();
    // The key is one of small multiples.
    let options = VerifierOptions { allows_unsafe_key: true, ..VerifierOptions::default() };
    (system.verifier)(&key.to_string(), options).unwrap()
}

/// Gas of the precompiles alone.
fn price(what: &str, inputs: usize) -> u64 {
    let count = inputs as u64; // widens
    match what {
        "groth16, BN254" => 45_000 + 4 * 34_000 + 6_150 * count,
        "groth16, BLS12-381" => {
            let key = key::<Bls12_381>(inputs);
            let number = |name: usize| key["vk_alpha_1"][name].as_str().unwrap().parse::<BigUint>().unwrap();
            let encoded = |number: BigUint| {
                let digits = number.to_bytes_be();
                [vec![0; 64 - digits.len()], digits].concat()
            };
            let term = [encoded(number(0)), encoded(number(1)), vec![1; 32]].concat();
            let sum = precompile(Fork::default(), BLS12_G1MSM, &term.repeat(inputs + 1), u64::MAX).unwrap();
            37_700 + 4 * 32_600 + sum.gas_used
        }
        // Nine points, seven and the generator of the key, W′ once more; the first is added to Qc.
        _ => 45_000 + 2 * 34_000 + 18 * 6_000 + 18 * 150,
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_verifiers_is_what_they_cost_by_precompiles() {
    let mut text =
        String::from("| verifier | inputs | gas | of it precompiles | code, bytes |\n|---|---:|---:|---:|---:|\n");
    let of = |what: &str, inputs: usize| match what {
        "groth16, BN254" => verifier("groth16", &key::<Bn254>(inputs)),
        "groth16, BLS12-381" => verifier("groth16", &key::<Bls12_381>(inputs)),
        _ => verifier("plonk", &plonk_key(inputs)),
    };
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    for (what, counts) in [
        ("groth16, BN254", &[1, 2, 4, 8, 16, 64, 300, 4_096][..]),
        ("groth16, BLS12-381", &[1, 2, 8, 64, 4_096]),
        ("plonk, BN254", &[1, 8]),
    ] {
        for &inputs in counts {
            let verifier = of(what, inputs);
            let trial = thin(&*verifier);
            let outcome = engine.run_code(&trial.compiled.code, &verifier.example(), GAS);
            assert_eq!(
                (outcome.halt, outcome.output),
                (Halt::Return, vec![0; 32]),
                "{what}, {inputs}: nothing is proved"
            );
            let (gas, price, bytes) = (trial.gas, price(what, inputs), trial.compiled.code.len());
            // As accounts hold, and beyond that a key's points, in 128 bytes at most.
            let limit = 24_576 + if inputs == 4_096 { 128 * inputs } else { 0 };
            assert!(
                bytes <= limit && price < gas,
                "{what}, {inputs}: {bytes} bytes, {gas} gas, {price} of precompiles"
            );
            let [gas, price, bytes] = [gas, price, bytes as u64].map(grouped); // widens
            writeln!(text, "| {what} | {inputs} | {gas} | {price} | {bytes} |").unwrap();
        }
    }
    hold("docs/evm.md", "verifiers", &text);
}
