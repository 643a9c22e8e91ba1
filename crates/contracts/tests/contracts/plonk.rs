//! Verifiers of PLONK proofs answer as those that snarkjs writes in Solidity do, for keys whose [x]₂ has a known logarithm and for input of every
//! kind; `conformance` has a key and a proof of snarkjs.

pub mod judge;
mod unsafe_keys;

use crate::bn254::points;
use crate::by_precompiles::by_precompiles;
use crate::groth16::proofs::fr;
use crate::points::Seeded;
use crate::support::chosen;
use ark_bn254::{Fr, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, FftField, Field};
use judge::{Answer, EVALUATIONS_AT, INPUTS_AT, answer, completed, word};
use num_bigint::BigUint;
use residue_compiler::compile;
use residue_contracts::plonk::{Key, key};
use residue_contracts::{PROOF_SYSTEMS, Verifier, VerifierOptions};
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared};
use residue_isa::{GasSchedule, Revision};
use serde_json::{Value, json};
use std::iter::once;
use std::sync::Arc;

/// More than any input of these tests takes.
const GAS: u64 = 100_000_000;

/// A key with the logarithms of its points.
#[derive(Clone)]
pub struct Trapdoor {
    pub x: Fr,
    pub of_key: [Fr; 8],
    pub power: u32,
    pub inputs: usize,
}

fn g1(k: Fr) -> Value {
    match (G1Affine::generator() * k).into_affine().xy() {
        Some((x, y)) => json!([BigUint::from(x).to_string(), BigUint::from(y).to_string(), "1"]),
        None => json!(["0", "1", "0"]),
    }
}

impl Trapdoor {
    pub fn random(seeded: &mut Seeded, inputs: usize) -> Self {
        Self { x: fr(seeded), of_key: std::array::from_fn(|_| fr(seeded)), power: 5, inputs }
    }

    fn x_2(&self) -> G2Affine {
        (G2Affine::generator() * self.x).into_affine()
    }

    /// As snarkjs writes it.
    pub fn json(&self) -> Value {
        let [qm, ql, qr, qo, qc, s1, s2, s3] = self.of_key.map(g1);
        let fp2 =
            |value: ark_bn254::Fq2| json!([BigUint::from(value.c0).to_string(), BigUint::from(value.c1).to_string()]);
        let (x, y) = self.x_2().xy().unwrap();
        let omega = Fr::get_root_of_unity(1 << self.power).unwrap();
        json!({
            "protocol": "plonk", "curve": "bn128", "nPublic": self.inputs, "power": self.power, "k1": "2", "k2": "3",
            "Qm": qm, "Ql": ql, "Qr": qr, "Qo": qo, "Qc": qc, "S1": s1, "S2": s2, "S3": s3,
            "X_2": [fp2(x), fp2(y), ["1", "0"]], "w": BigUint::from(omega).to_string(),
        })
    }

    /// A call that holds, with these logarithms of A … T₃, and random evaluations and inputs.
    pub fn call(&self, key: &Key, selector: &[u8], seeded: &mut Seeded, of_proof: [Fr; 7]) -> Vec<u8> {
        let mut call = selector.to_vec();
        call.resize(EVALUATIONS_AT, 0);
        call.extend((0..6 + self.inputs).flat_map(|_| word(fr::<Fr>(seeded))));
        completed(key, self.x, self.of_key, of_proof, &call)
    }
}

/// Of keys with small and equal points too.
pub fn verifier(key: &Value) -> Arc<dyn Verifier> {
    let system = PROOF_SYSTEMS.iter().find(|system| system.name == "plonk").unwrap();
    let options = VerifierOptions { allows_unsafe_key: true, ..VerifierOptions::default() };
    (system.verifier)(&key.to_string(), options).unwrap()
}

struct Subject {
    key: Key,
    x: G2Affine,
    selector: Vec<u8>,
    prepared: Vec<(Revision, Prepared)>,
}

impl Subject {
    fn new(trapdoor: &Trapdoor, revisions: &[Revision]) -> Self {
        let json = trapdoor.json();
        let verifier = verifier(&json);
        let prepare = |&revision: &Revision| {
            let compiled = compile(&verifier.program(), revision, &GasSchedule::default_for(revision).unwrap());
            let code = match compiled {
                Err(error) if error.is_inexpressible() => return None,
                compiled => compiled.unwrap().code,
            };
            Some((revision, Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code)))
        };
        Self {
            key: key::any_key(&json.to_string()).unwrap(),
            x: trapdoor.x_2(),
            selector: verifier.example()[..4].to_vec(),
            prepared: once((Revision::Evm, by_precompiles(&verifier.program(), Fork::Cancun).unwrap().0))
                .chain(revisions.iter().filter_map(prepare))
                .collect(),
        }
    }

    #[track_caller]
    fn check(&mut self, calldata: &[u8], expected: Answer, what: &str) {
        assert_eq!(answer(&self.key, self.x, &self.selector, calldata), expected, "{what}");
        for (revision, prepared) in chosen(&mut self.prepared, calldata) {
            let outcome = prepared.run_without_memory(calldata, GAS);
            match expected {
                Answer::Failure => {
                    assert!(outcome.halt.is_exceptional(), "{revision}, {what}: {}", outcome.halt);
                    assert_ne!(outcome.halt, Halt::OutOfGas, "{revision}, {what}");
                }
                _ => {
                    let word = [vec![0; 31], vec![u8::from(expected == Answer::True)]].concat();
                    assert_eq!((outcome.halt, outcome.output), (Halt::Return, word), "{revision}, {what}");
                }
            }
        }
    }
}

fn random<const N: usize>(seeded: &mut Seeded) -> [Fr; N] {
    std::array::from_fn(|_| fr(seeded))
}

#[test]
fn made_up_proofs_hold_and_no_others_under_every_revision() {
    let mut seeded = Seeded(152);
    for (inputs, revisions) in [(1, Revision::ALL), (0, &[Revision::Eip6690_2024]), (3, &[Revision::Eip6690_2024])] {
        let trapdoor = Trapdoor::random(&mut seeded, inputs);
        let mut subject = Subject::new(&trapdoor, revisions);
        assert!(!subject.prepared.is_empty());
        let selector = subject.selector.clone();
        let of_proof = random(&mut seeded);
        let call = trapdoor.call(&subject.key, &selector, &mut seeded, of_proof);
        subject.check(&call, Answer::True, "a right proof");
        subject.check(&[&call[..], &[1, 2, 3]].concat(), Answer::True, "more calldata");
        subject.check(&call[..call.len() - 1], Answer::Failure, "a byte less");
        subject.check(&[&[call[0] ^ 1], &call[1..]].concat(), Answer::Failure, "another selector");
        let with = |at: usize, bytes: &[u8]| {
            let mut call = call.clone();
            call[at..at + bytes.len()].copy_from_slice(bytes);
            call
        };
        for place in 0..24 + inputs {
            let at = 4 + 32 * place;
            let value = BigUint::from_bytes_be(&call[at..at + 32]);
            let limit = if at < EVALUATIONS_AT { points::p() } else { points::r() };
            for bytes in [word(&value + &limit), word(limit), word(&value + 1u32), vec![0xff; 32], vec![0; 32]] {
                subject.check(&with(at, &bytes), Answer::False, &format!("{inputs} inputs, word {place}"));
            }
        }
        let other = points::encode1((G1Affine::generator() * Fr::from(7u64)).into_affine());
        for place in 0..9 {
            subject.check(&with(4 + 64 * place, &other), Answer::False, &format!("point {place} is another"));
            subject.check(&with(4 + 64 * place, &[0; 64]), Answer::False, &format!("point {place} is the identity"));
        }
        if inputs > 0 {
            let twice = [&call[INPUTS_AT..INPUTS_AT + 31], &[call[INPUTS_AT + 31] ^ 1]].concat();
            subject.check(&with(INPUTS_AT, &twice), Answer::False, "another input");
        }
    }
}

#[test]
fn a_key_may_have_many_inputs() {
    let mut seeded = Seeded(157);
    // From 17 on their terms are a loop; 1024 are the most that a key may have.
    for inputs in [16, 17, 215, 1024] {
        let mut trapdoor = Trapdoor::random(&mut seeded, inputs);
        trapdoor.power = 11;
        let mut subject = Subject::new(&trapdoor, &[Revision::Eip6690_2024]);
        let selector = subject.selector.clone();
        let of_proof = random(&mut seeded);
        let call = trapdoor.call(&subject.key, &selector, &mut seeded, of_proof);
        subject.check(&call, Answer::True, &format!("{inputs} inputs"));
        for input in [0, 1, 2, inputs / 2, inputs - 1] {
            let at = INPUTS_AT + 32 * input;
            let mut other = call.clone();
            other[at + 31] ^= 1;
            subject.check(&other, Answer::False, &format!("{inputs} inputs, {input} is another"));
            other[at..at + 32].copy_from_slice(&word(points::r()));
            subject.check(&other, Answer::False, &format!("{inputs} inputs, {input} is r"));
        }
    }
}

#[test]
fn points_may_be_equal_opposite_or_the_identity() {
    let mut seeded = Seeded(153);
    let (zero, one) = (Fr::ZERO, Fr::ONE);
    let mut trapdoor = Trapdoor::random(&mut seeded, 1);
    for of_key in [random(&mut seeded), [one; 8], [zero; 8], [one, -one, one, -one, one, zero, one, -one]] {
        trapdoor.of_key = of_key;
        let mut subject = Subject::new(&trapdoor, &[Revision::Eip6690_2024]);
        let selector = subject.selector.clone();
        for of_proof in [[one; 7], [zero; 7], [one, -one, one, zero, zero, one, -one], random(&mut seeded)] {
            let call = trapdoor.call(&subject.key, &selector, &mut seeded, of_proof);
            subject.check(&call, Answer::True, &format!("{of_key:?}, {of_proof:?}"));
            // x of an identity that is not zero.
            for place in (0..7).filter(|&place| of_proof[place] == zero) {
                let mut other = call.clone();
                other[4 + 64 * place + 31] = 1;
                subject.check(&other, Answer::False, &format!("{of_proof:?}, point {place}"));
            }
        }
    }
}

#[test]
fn what_is_wrong_with_a_key_or_a_proof_is_said_by_field_and_value() {
    let good = Trapdoor::random(&mut Seeded(154), 2).json();
    let refused = |field: &str, value: Value, parts: &[&str]| {
        let mut json = good.clone();
        json[field] = value;
        let error = key::key(&json.to_string()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    refused("protocol", json!("groth16"), &["protocol is \"groth16\"", "plonk"]);
    refused("curve", json!("bls12381"), &["curve is \"bls12381\"", "bn128"]);
    refused("nPublic", json!(-1), &["nPublic is -1"]);
    refused("power", json!(29), &["power is 29", "at most 28"]);
    refused("w", json!("3"), &["w is \"3\"", "root of unity"]);
    refused("k1", json!(points::r().to_string()), &["k1 is", "not below r ="]);
    refused("nPublic", json!(1000), &["nPublic is 1000", "2^power"]);
    refused("k1", json!("1"), &["k1 is \"1\"", "a coset"]);
    refused("k2", json!("0"), &["k2 is \"0\"", "a coset"]);
    refused("k2", good["k1"].clone(), &["k2 is", "a coset"]);
    refused("Qm", json!(["1", "1", "1"]), &["Qm is not on the curve"]);
    refused("S3", json!("x"), &["S3 is \"x\""]);
    refused("X_2", json!([["0", "0"], ["1", "0"], ["0", "0"]]), &["X_2 is the identity"]);
    let outside = points::twist_point(&mut Seeded(155));
    let text = |value: ark_bn254::Fq| BigUint::from(value).to_string();
    let outside =
        json!([[text(outside.x.c0), text(outside.x.c1)], [text(outside.y.c0), text(outside.y.c1)], ["1", "0"]]);
    refused("X_2", outside, &["X_2 is on the curve and not in the subgroup"]);
    let error = key::proof("{}").unwrap_err().to_string();
    assert!(error.contains("A is missing"), "{error}");
    let system = PROOF_SYSTEMS.iter().find(|system| system.name == "plonk").unwrap();
    let options = VerifierOptions { takes_witness: true, ..VerifierOptions::default() };
    let error = (system.verifier)(&good.to_string(), options).unwrap_err().to_string();
    assert!(error.contains("no residue witness"), "{error}");
}

#[test]
fn a_verifier_takes_no_more_gas_than_it_did() {
    let mut seeded = Seeded(156);
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let trapdoor = Trapdoor::random(&mut seeded, 1);
    let json = trapdoor.json();
    let compiled = residue_workbench::cheapest(&*verifier(&json), revision, &schedule).unwrap().compiled;
    let mut subject = Subject::new(&trapdoor, &[]);
    let selector = subject.selector.clone();
    let of_proof = random(&mut seeded);
    let call = trapdoor.call(&subject.key, &selector, &mut seeded, of_proof);
    subject.check(&call, Answer::True, "a right proof");
    let counted = Engine::new(EngineConfig::default_for(revision)).unwrap().run_counted(&compiled.code, &call, GAS);
    let (outcome, split) = (counted.outcome, counted.gas_split);
    assert_eq!((outcome.halt, outcome.output.last()), (Halt::Return, Some(&1)));
    println!("{} gas, {split:?}, {} bytes of code, {} slots", outcome.gas_used, compiled.code.len(), compiled.slots);
    assert!(outcome.gas_used <= 180_500, "{}", outcome.gas_used);
}
