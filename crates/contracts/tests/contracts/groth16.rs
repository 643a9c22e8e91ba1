//! Verifiers of Groth16 proofs on BN254 answer as those that snarkjs writes in Solidity do, for keys and proofs of random circuits by ark-groth16, for
//! keys whose trapdoor is known, and for input of every kind.
//!
//! `RESIDUE_CASES=200` takes as many random circuits instead of a few.

mod bls12_381;
mod example;
mod forms;
pub mod judge;
mod keys;
pub mod proofs;
mod unsafe_keys;

use crate::bn254::points;
use crate::bn254::points::r;
use crate::by_precompiles::by_precompiles;
use crate::points::Seeded;
use crate::support::{SHORTEST, chosen};
use ark_bn254::{Bn254, Fr};
use ark_ff::{AdditiveGroup, Field};
use ark_groth16::{Groth16, Proof, VerifyingKey, prepare_verifying_key};
use judge::{Answer, answer};
use num_bigint::BigUint;
use proofs::{Trapdoor, fr, of_random_circuit, snarkjs_inputs, snarkjs_key, snarkjs_proof};
use residue_compiler::{Compiled, Dialect, SmallMultiples, compile, compile_as};
use residue_contracts::{PROOF_SYSTEMS, ProofSystem, Source, Verifier, VerifierOptions};
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared};
use residue_ir::{Form, Length};
use residue_isa::{GasSchedule, Revision};
use std::collections::BTreeSet;
use std::iter::once;
use std::sync::Arc;

/// More than any input of these tests takes.
const GAS: u64 = 100_000_000;

pub fn system() -> &'static ProofSystem {
    PROOF_SYSTEMS.iter().find(|system| system.name == "groth16").unwrap()
}

/// Of keys with small and equal points too.
pub fn verifier(key: &VerifyingKey<Bn254>, takes_witness: bool) -> Arc<dyn Verifier> {
    let options = VerifierOptions { takes_witness, allows_unsafe_key: true };
    (system().verifier)(&snarkjs_key(key).to_string(), options).unwrap()
}

/// Options with or without a witness.
pub fn with_witness(takes_witness: bool) -> VerifierOptions {
    VerifierOptions { takes_witness, ..VerifierOptions::default() }
}

fn prepared(verifier: &dyn Source, revision: Revision) -> Option<Prepared> {
    let compiled = compile(&verifier.program(), revision, &GasSchedule::default_for(revision).unwrap());
    let code = match compiled {
        Err(error) if error.is_inexpressible() => return None,
        compiled => compiled.unwrap().code,
    };
    Some(Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code))
}

/// The form with small tables, or that with short code, which is outlined too, for EIP-6690.
fn of_length(verifier: &dyn Source, length: Length) -> Compiled {
    let revision = Revision::Eip6690_2024;
    let dialect = if length == Length::Short { SHORTEST } else { Dialect { length, ..Dialect::default() } };
    let program = verifier.program_as(Form { length: Some(length), ..Form::default() });
    let schedule = GasSchedule::default_for(revision).unwrap();
    compile_as(&program, revision, &schedule, SmallMultiples::AsWritten, dialect).unwrap()
}

/// Both, if EIP-6690 is among the revisions.
fn shorter(verifier: &dyn Source, revisions: &[Revision]) -> Vec<(Revision, Prepared)> {
    let lengths = [Length::Middle, Length::Short].into_iter();
    let lengths = lengths.filter(|_| revisions.contains(&Revision::Eip6690_2024));
    lengths.map(|length| ready(&of_length(verifier, length).code)).collect()
}

/// Code for EIP-6690, ready to run.
fn ready(code: &[u8]) -> (Revision, Prepared) {
    let revision = Revision::Eip6690_2024;
    (revision, Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(code))
}

/// A verifier, ready to be called and judged.
struct Subject {
    key: VerifyingKey<Bn254>,
    verifier: Arc<dyn Verifier>,
    prepared: Vec<(Revision, Prepared)>,
}

impl Subject {
    fn new(key: &VerifyingKey<Bn254>, takes_witness: bool, revisions: &[Revision]) -> Self {
        let verifier = verifier(key, takes_witness);
        let prepare = |&revision: &Revision| Some((revision, prepared(&*verifier, revision)?));
        let (thin, _) = by_precompiles(&verifier.program(), Fork::Cancun).unwrap();
        let shorter = shorter(&*verifier, revisions);
        let prepared = once((Revision::Evm, thin)).chain(shorter).chain(revisions.iter().filter_map(prepare)).collect();
        Self { key: key.clone(), verifier, prepared }
    }

    fn one(key: &VerifyingKey<Bn254>, takes_witness: bool) -> Self {
        Self::new(key, takes_witness, &[Revision::Eip6690_2024])
    }

    fn calldata(&self, proof: &Proof<Bn254>, inputs: &[Fr]) -> Vec<u8> {
        self.verifier.call(&snarkjs_proof(proof).to_string(), &snarkjs_inputs(inputs).to_string()).unwrap()
    }

    /// Calls it; the answer is the judge's, and that is `expected`. Returns the gas.
    #[track_caller]
    fn check(&mut self, calldata: &[u8], expected: Answer, what: &str) -> u64 {
        let selector = &self.verifier.example()[..4];
        assert_eq!(answer(&self.key, selector, calldata), expected, "{what}");
        let mut gas = 0;
        for (revision, prepared) in chosen(&mut self.prepared, calldata) {
            let outcome = prepared.run_without_memory(calldata, GAS);
            let word = |last| [vec![0; 31], vec![last]].concat();
            match expected {
                Answer::True => {
                    assert_eq!((outcome.halt, outcome.output), (Halt::Return, word(1)), "{revision}, {what}")
                }
                Answer::False => {
                    assert_eq!((outcome.halt, outcome.output), (Halt::Return, word(0)), "{revision}, {what}")
                }
                Answer::Failure => {
                    assert!(outcome.halt.is_exceptional(), "{revision}, {what}: {}", outcome.halt);
                    assert_ne!(outcome.halt, Halt::OutOfGas, "{revision}, {what}");
                }
            }
            if *revision == Revision::Eip6690_2024 {
                gas = outcome.gas_used;
            }
        }
        gas
    }
}

fn cases(few: usize) -> usize {
    std::env::var("RESIDUE_CASES").map_or(few, |text| text.parse().expect("RESIDUE_CASES is a number"))
}

#[test]
fn proofs_of_random_circuits_hold_and_no_others() {
    const INPUTS: [usize; 8] = [1, 0, 2, 3, 5, 8, 11, 20];
    let mut seeded = Seeded(16);
    for case in 0..cases(INPUTS.len()) {
        let count = INPUTS[case % INPUTS.len()];
        let what = format!("case {case}, {count} inputs");
        let (key, proof, inputs) = of_random_circuit(&mut seeded, count);
        assert!(Groth16::<Bn254>::verify_proof(&prepare_verifying_key(&key), &proof, &inputs).unwrap(), "{what}");
        let takes_witness = case % 3 == 1;
        let mut subject = Subject::one(&key, takes_witness);
        let calldata = subject.calldata(&proof, &inputs);
        subject.check(&calldata, Answer::True, &what);
        for other in 0..count.min(3) {
            let mut inputs = inputs.clone();
            inputs[other] += Fr::ONE;
            let calldata = subject.calldata(&proof, &inputs);
            subject.check(&calldata, Answer::False, &format!("{what}, input {other} is another"));
        }
        if let Some(last) = inputs.last() {
            let not_below_r = bytes(&(BigUint::from(*last) + r()));
            subject.check(
                &with(&calldata, 7 + count, &not_below_r),
                Answer::False,
                &format!("{what}, the last by r more"),
            );
        }
        let (_, other, _) = of_random_circuit(&mut seeded, count);
        for (proof, what) in [
            (Proof { a: other.a, ..proof.clone() }, "another A"),
            (Proof { b: other.b, ..proof.clone() }, "another B"),
            (Proof { c: other.c, ..proof.clone() }, "another C"),
            (Proof { a: -proof.a, ..proof.clone() }, "−A"),
            (Proof { a: -proof.a, b: -proof.b, c: proof.c }, "−A and −B"),
        ] {
            let calldata = subject.calldata(&proof, &inputs);
            let expected = if what == "−A and −B" { Answer::True } else { Answer::False };
            subject.check(&calldata, expected, what);
        }
    }
}

#[test]
fn a_key_may_have_many_inputs() {
    let mut seeded = Seeded(23);
    let (key, proof, mut inputs) = of_random_circuit(&mut seeded, 200);
    let mut subject = Subject::one(&key, false);
    let call = subject.calldata(&proof, &inputs);
    subject.check(&call, Answer::True, "200 inputs");
    inputs[199] += Fr::ONE;
    let call = subject.calldata(&proof, &inputs);
    subject.check(&call, Answer::False, "the last of 200 inputs is another");
}

#[test]
fn the_sum_of_many_inputs_may_be_the_identity_and_calldata_may_go_on() {
    let mut seeded = Seeded(24);
    // Two chunks and one input of a third.
    let trapdoor = Trapdoor::random(&mut seeded, 9);
    for takes_witness in [false, true] {
        let mut subject = Subject::one(&trapdoor.key(), takes_witness);
        let mut inputs: Vec<Fr> = (0..9).map(|_| fr(&mut seeded)).collect();
        let ordinary = inputs.clone();
        let excess = trapdoor.sum(&inputs);
        inputs[8] -= excess * trapdoor.ic[9].inverse().unwrap();
        assert_eq!(trapdoor.sum(&inputs), Fr::ZERO);
        let cases =
            [("any", ordinary), ("the identity", inputs), ("zeros", vec![Fr::ZERO; 9]), ("r − 1", vec![-Fr::ONE; 9])];
        for (what, inputs) in cases {
            let proof = trapdoor.proof(&inputs, fr(&mut seeded), fr(&mut seeded));
            let call = subject.calldata(&proof, &inputs);
            subject.check(&call, Answer::True, what);
            subject.check(&[&call[..], &[7; 200]].concat(), Answer::True, &format!("{what}, and more calldata"));
            for input in [0, 3, 4, 8] {
                let mut other = inputs.clone();
                other[input] += Fr::ONE;
                let call = subject.calldata(&proof, &other);
                subject.check(&call, Answer::False, &format!("{what}, input {input} is another"));
            }
        }
    }
}

/// A call with something else in the words from `word` on.
fn with(calldata: &[u8], word: usize, bytes: &[u8]) -> Vec<u8> {
    let mut calldata = calldata.to_vec();
    let at = 4 + 32 * word;
    calldata[at..at + bytes.len()].copy_from_slice(bytes);
    calldata
}

fn bytes(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

#[test]
fn calls_of_every_kind_are_answered_as_by_snarkjs_under_every_revision() {
    let mut seeded = Seeded(17);
    let (key, proof, inputs) = of_random_circuit(&mut seeded, 1);
    for takes_witness in [false, true] {
        let mut subject = Subject::new(&key, takes_witness, Revision::ALL);
        assert!(subject.prepared.len() >= 5, "{} revisions", subject.prepared.len());
        let call = subject.calldata(&proof, &inputs);
        subject.check(&call, Answer::True, "a right proof");
        subject.check(&[&call[..], &[7; 40]].concat(), Answer::True, "more calldata");
        subject.check(&call[..call.len() - 1], Answer::Failure, "a byte less");
        subject.check(&[], Answer::Failure, "nothing");
        subject.check(&call[..4], Answer::Failure, "a selector");
        subject.check(&[&[call[0] ^ 1], &call[1..]].concat(), Answer::Failure, "another selector");
        let max = [0xff; 32];
        let number = |word: usize| BigUint::from_bytes_be(&call[4 + 32 * word..][..32]);
        for word in 0..8 {
            let what = format!("word {word}");
            for (value, what) in [
                (number(word) + points::p(), format!("{what} + p")),
                (points::p(), format!("{what} is p")),
                (number(word) + 1u32, format!("{what} + 1")),
            ] {
                subject.check(&with(&call, word, &bytes(&value)), Answer::False, &what);
            }
            subject.check(&with(&call, word, &max), Answer::False, &what);
            subject.check(&with(&call, word, &[0; 32]), Answer::False, &what);
        }
        for value in [points::r(), number(8) + points::r(), BigUint::from_bytes_be(&max)] {
            subject.check(&with(&call, 8, &bytes(&value)), Answer::False, "an input that is not below r");
        }
        for (word, length, what) in [(0, 2, "A"), (2, 4, "B"), (6, 2, "C"), (0, 8, "all")] {
            let zeros = vec![0; 32 * length];
            subject.check(&with(&call, word, &zeros), Answer::False, &format!("{what} is the identity"));
        }
        let outside = points::encode2(points::twist_point(&mut seeded));
        subject.check(&with(&call, 2, &outside), Answer::False, "B outside of G2");
        let swapped = [&call[4 + 96..4 + 128], &call[4 + 64..4 + 96], &call[4 + 160..4 + 192], &call[4 + 128..4 + 160]];
        subject.check(&with(&call, 2, &swapped.concat()), Answer::False, "parts of B exchanged");
    }
}

#[test]
fn a_proof_may_have_identities() {
    let mut seeded = Seeded(18);
    let trapdoor = Trapdoor::random(&mut seeded, 2);
    for takes_witness in [false, true] {
        let mut subject = Subject::one(&trapdoor.key(), takes_witness);
        let [a, b, s] = [(); 3].map(|()| fr(&mut seeded));
        // The inputs for which the sum is the identity, and those for which C is.
        let for_sum = |sum: Fr| [s, (sum - trapdoor.ic[0] - trapdoor.ic[1] * s) * trapdoor.ic[2].inverse().unwrap()];
        let zero = Fr::ZERO;
        let for_c =
            |a: Fr, b: Fr| for_sum((a * b - trapdoor.alpha * trapdoor.beta) * trapdoor.gamma.inverse().unwrap());
        let random = [s, fr(&mut seeded)];
        for (what, inputs, a, b) in [
            ("none", random, a, b),
            ("A", random, zero, b),
            ("B", random, a, zero),
            ("A and B", random, zero, zero),
            ("the sum", for_sum(zero), a, b),
            ("the sum and A", for_sum(zero), zero, b),
            ("the sum and B", for_sum(zero), a, zero),
            ("C", for_c(a, b), a, b),
            ("A and C", for_c(zero, b), zero, b),
        ] {
            let proof = trapdoor.proof(&inputs, a, b);
            assert_eq!(ark_ec::AffineRepr::is_zero(&proof.c), what.ends_with('C'), "{what}");
            let calldata = subject.calldata(&proof, &inputs);
            let without = subject.check(&calldata, Answer::True, &format!("{what}: the identity"));
            if let Some(witness) = subject.verifier.witness_for(&calldata) {
                let gas = subject.check(&[&calldata[..], &witness].concat(), Answer::True, what);
                assert!(gas + 30_000 < without, "{what}: {gas} gas with its witness and {without} without");
            }
            let calldata = subject.calldata(&proof, &[inputs[0] + Fr::ONE, inputs[1]]);
            subject.check(&calldata, Answer::False, &format!("{what}: another input"));
            // x of an identity that is not zero.
            for (word, is_identity) in
                [(0, a == zero), (2, b == zero), (3, b == zero), (6, ark_ec::AffineRepr::is_zero(&proof.c))]
            {
                if is_identity {
                    let calldata = with(&subject.calldata(&proof, &inputs), word, &bytes(&1u32.into()));
                    subject.check(&calldata, Answer::False, &format!("{what}: word {word} is 1"));
                }
            }
        }
    }
}

#[test]
fn sums_that_meet_exceptional_cases_are_right() {
    // With IC₁ = G the last addition is of d·G for the digits d of an input. For IC₀ so that all before is ±d·G it meets that point.
    const TEETH: u64 = 7;
    const COLUMNS: u64 = 37;
    let mut seeded = Seeded(19);
    let mut trapdoor = Trapdoor::random(&mut seeded, 1);
    for case in 0..3 {
        let input = fr(&mut seeded);
        let bits = BigUint::from(input);
        let half = Fr::from(2u64).inverse().unwrap();
        let digit = (0..TEETH).fold(Fr::ZERO, |sum, tooth| {
            let power = Fr::from(2u64).pow([COLUMNS * tooth]) * half;
            if bits.bit(COLUMNS * tooth) { sum + power } else { sum - power }
        });
        let mut ordinary = u64::MAX;
        for (total, is_exceptional) in [(digit + Fr::ONE, false), (digit + digit, true), (Fr::ZERO, true)] {
            trapdoor.ic = vec![total - input, Fr::ONE];
            let proof = trapdoor.proof(&[input], Fr::from(3u64), Fr::from(4u64));
            // Without a witness there is no sum of so few inputs.
            let mut subject = Subject::one(&trapdoor.key(), false);
            let calldata = subject.calldata(&proof, &[input]);
            subject.check(&calldata, Answer::True, &format!("case {case}, {total}"));
            let mut subject = Subject::one(&trapdoor.key(), true);
            let gas = subject.check(&calldata, Answer::True, &format!("case {case}, {total}"));
            ordinary = ordinary.min(gas);
            assert_eq!(gas > ordinary + 3_000, is_exceptional, "case {case}: {gas} gas");
        }
    }
    let mut trapdoor = Trapdoor::random(&mut seeded, 2);
    // Equal and opposite points.
    for ic in [[1u64, 1, 1], [0, 1, 1], [1, 0, 1], [0, 0, 0], [7, 2, 1]] {
        trapdoor.ic = ic.map(Fr::from).to_vec();
        for takes_witness in [false, true] {
            let mut subject = Subject::one(&trapdoor.key(), takes_witness);
            for inputs in [[0u64, 0], [1, 0], [0, 1], [1, 1], [5, 3], [u64::MAX, u64::MAX]] {
                let inputs = inputs.map(Fr::from);
                for inputs in [inputs, inputs.map(|input| -input), [inputs[0], -inputs[1]]] {
                    let proof = trapdoor.proof(&inputs, Fr::from(3u64), Fr::from(4u64));
                    let calldata = subject.calldata(&proof, &inputs);
                    subject.check(&calldata, Answer::True, &format!("{ic:?}, {inputs:?}"));
                }
            }
        }
    }
}

#[test]
fn every_slope_counts_and_every_factor_that_the_input_chooses() {
    // In code for one input: a row of 64 bytes for each line, then the factors of 128 bytes for all values of a column.
    const LINES: usize = 88;
    const TEETH: u64 = 5;
    const COLUMNS: u64 = 51;
    let mut seeded = Seeded(25);
    let (key, proof, inputs) = of_random_circuit(&mut seeded, 1);
    let subject = Subject::new(&key, false, &[]);
    let compiled = of_length(&*subject.verifier, Length::Short);
    assert!(compiled.code.len() <= 24_576, "{} bytes", compiled.code.len());
    let call = subject.calldata(&proof, &inputs);
    let answer_of = |code: &[u8]| {
        let (_, mut prepared) = ready(code);
        let outcome = prepared.run_without_memory(&call, GAS);
        outcome.halt == Halt::Return && outcome.output.last() == Some(&1)
    };
    assert!(answer_of(&compiled.code));
    let input = BigUint::from(inputs[0]);
    let digit = |column: u64| (0..TEETH).map(|tooth| usize::from(input.bit(column + COLUMNS * tooth)) << tooth).sum();
    let chosen: BTreeSet<usize> = (0..COLUMNS).map(digit).collect();
    for half in 0..LINES + (2 << TEETH) {
        let mut code = compiled.code.clone();
        code[compiled.instruction_bytes + 64 * half + 31] ^= 1;
        let is_unread = half.checked_sub(LINES).is_some_and(|half| !chosen.contains(&(half / 2)));
        assert_eq!(answer_of(&code), is_unread, "64 bytes at {half}");
    }
}

#[test]
fn a_witness_spares_the_final_exponentiation_and_changes_no_answer() {
    let mut seeded = Seeded(20);
    let (key, proof, inputs) = of_random_circuit(&mut seeded, 1);
    let mut subject = Subject::new(&key, true, Revision::ALL);
    let call = subject.calldata(&proof, &inputs);
    let witness = subject.verifier.witness_for(&call).unwrap();
    assert_eq!(witness.len(), 192);
    let without = subject.check(&call, Answer::True, "no witness");
    let right = subject.check(&[&call[..], &witness].concat(), Answer::True, "the witness");
    assert!(right + 30_000 < without, "{right} gas with it and {without} without");
    for word in 0..6 {
        let mut other = witness.clone();
        other[32 * word + 31] ^= 1;
        subject.check(&[&call[..], &other].concat(), Answer::True, "a wrong witness");
        other[32 * word..][..32].fill(0xff);
        subject.check(&[&call[..], &other].concat(), Answer::True, "a witness that is not below p");
    }
    subject.check(&[&call[..], &[0; 192]].concat(), Answer::True, "zeros");
    let wrong = subject.calldata(&Proof { a: -proof.a, ..proof }, &inputs);
    assert_eq!(subject.verifier.witness_for(&wrong), None);
    for witness in [witness, vec![0; 192], seeded.bytes(192)] {
        subject.check(&[&wrong[..], &witness].concat(), Answer::False, "a wrong proof");
    }
    assert_eq!(verifier(&key, false).witness_for(&call), None);
}

#[test]
fn a_verifier_takes_no_more_gas_than_it_did() {
    let mut seeded = Seeded(21);
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    for (count, most, most_with_witness) in [(1, 115_700, 95_200), (2, 127_500, 98_900), (8, 167_000, 133_500)] {
        let (key, proof, inputs) = of_random_circuit(&mut seeded, count);
        for takes_witness in [false, true] {
            let mut subject = Subject::new(&key, takes_witness, &[]);
            let compiled = residue_workbench::cheapest(&*subject.verifier, revision, &schedule).unwrap().compiled;
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            subject.prepared.push((revision, engine.prepare(&compiled.code)));
            let mut call = subject.calldata(&proof, &inputs);
            call.extend(subject.verifier.witness_for(&call).unwrap_or_default());
            let gas = subject.check(&call, Answer::True, "a right proof");
            println!("{count} inputs, witness {takes_witness}: {gas} gas, {} bytes of code", compiled.code.len());
            assert!(gas <= if takes_witness { most_with_witness } else { most }, "{count} inputs: {gas}");
        }
    }
}
