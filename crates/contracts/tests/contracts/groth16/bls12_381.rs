//! Verifiers on BLS12-381, judged by ark-groth16 and by revm's precompiles of EIP-2537.

use super::proofs::{gnark_key, gnark_proof, of_random_circuit_on, snarkjs_inputs, snarkjs_key, snarkjs_proof};
use super::{Answer, GAS, bytes, prepared, shorter, system, with_witness};
use crate::by_precompiles::by_precompiles;
use crate::points::{Seeded, encode1, encode2, p, r};
use crate::support::chosen;
use ark_bls12_381::{Bls12_381, Fr, G1Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::Field;
use ark_groth16::{Groth16, Proof, VerifyingKey, prepare_verifying_key};
use num_bigint::BigUint;
use residue_contracts::Verifier;
use residue_engine::native::precompile;
use residue_engine::{Fork, Halt, Prepared};
use residue_isa::Revision;
use residue_isa::precompile::{BLS12_G1MSM, BLS12_PAIRING_CHECK};
use std::iter::once;
use std::sync::Arc;

/// Bytes of the parts of a call.
const C_AT: usize = 4 + 128 + 256;
const INPUTS_AT: usize = C_AT + 128;

fn call(address: u16, input: &[u8]) -> Option<Vec<u8>> {
    precompile(Fork::default(), address, input, u64::MAX).ok().map(|native| native.output)
}

/// Answer of the precompiles to a call.
fn answer(key: &VerifyingKey<Bls12_381>, calldata: &[u8]) -> Answer {
    let inputs = key.gamma_abc_g1.len() - 1;
    if calldata.len() < INPUTS_AT + 32 * inputs {
        return Answer::Failure;
    }
    let input = |number: usize| &calldata[INPUTS_AT + 32 * number..][..32];
    if (0..inputs).any(|number| BigUint::from_bytes_be(input(number)) >= r()) {
        return Answer::False;
    }
    let one = [vec![0; 31], vec![1]].concat();
    let mut terms = [encode1(key.gamma_abc_g1[0]), one].concat();
    for (number, &point) in key.gamma_abc_g1[1..].iter().enumerate() {
        terms.extend([encode1(point), input(number).to_vec()].concat());
    }
    let sum = call(BLS12_G1MSM, &terms).unwrap();
    let minus = |point: G1Affine| encode1(-point);
    // e(A, B)·e(−α, β)·e(−sum, γ)·e(−C, δ); the opposites of the latter two by their second points.
    let pairs = [
        calldata[4..C_AT].to_vec(),
        minus(key.alpha_g1),
        encode2(key.beta_g2),
        sum,
        encode2(-key.gamma_g2),
        calldata[C_AT..INPUTS_AT].to_vec(),
        encode2(-key.delta_g2),
    ];
    match call(BLS12_PAIRING_CHECK, &pairs.concat()) {
        Some(output) if output.ends_with(&[1]) => Answer::True,
        _ => Answer::False,
    }
}

struct Subject {
    key: VerifyingKey<Bls12_381>,
    verifier: Arc<dyn Verifier>,
    prepared: Vec<(Revision, Prepared)>,
}

impl Subject {
    fn new(key: &VerifyingKey<Bls12_381>, takes_witness: bool, revisions: &[Revision]) -> Self {
        let verifier = (system().verifier)(&snarkjs_key(key).to_string(), with_witness(takes_witness)).unwrap();
        let prepare = |&revision: &Revision| (revision, prepared(&*verifier, revision).unwrap());
        let (thin, _) = by_precompiles(&verifier.program(), Fork::Prague).unwrap();
        let shorter = shorter(&*verifier, revisions);
        let prepared = once((Revision::Evm, thin)).chain(shorter).chain(revisions.iter().map(prepare)).collect();
        Self { key: key.clone(), verifier, prepared }
    }

    fn calldata(&self, proof: &Proof<Bls12_381>, inputs: &[Fr]) -> Vec<u8> {
        self.verifier.call(&snarkjs_proof(proof).to_string(), &snarkjs_inputs(inputs).to_string()).unwrap()
    }

    #[track_caller]
    fn check(&mut self, calldata: &[u8], expected: Answer, what: &str) -> u64 {
        assert_eq!(answer(&self.key, calldata), expected, "{what}");
        let mut gas = 0;
        for (revision, prepared) in chosen(&mut self.prepared, calldata) {
            let outcome = prepared.run_without_memory(calldata, GAS);
            match expected {
                Answer::Failure => assert!(outcome.halt.is_exceptional(), "{revision}, {what}: {}", outcome.halt),
                _ => {
                    let word = [vec![0; 31], vec![u8::from(expected == Answer::True)]].concat();
                    assert_eq!((outcome.halt, outcome.output), (Halt::Return, word), "{revision}, {what}");
                }
            }
            if *revision == Revision::Eip6690_2024 {
                gas = outcome.gas_used;
            }
        }
        gas
    }
}

fn with(calldata: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut calldata = calldata.to_vec();
    calldata[at..at + bytes.len()].copy_from_slice(bytes);
    calldata
}

#[test]
fn proofs_of_random_circuits_hold_and_no_others() {
    let mut seeded = Seeded(381);
    for (case, count) in [1usize, 0, 2, 3, 8].into_iter().enumerate() {
        let what = format!("{count} inputs");
        let (key, proof, inputs) = of_random_circuit_on::<Bls12_381>(&mut seeded, count);
        assert!(Groth16::<Bls12_381>::verify_proof(&prepare_verifying_key(&key), &proof, &inputs).unwrap(), "{what}");
        let mut subject = Subject::new(&key, case % 2 == 1, &[Revision::Eip6690_2024]);
        let call = subject.calldata(&proof, &inputs);
        subject.check(&call, Answer::True, &what);
        let gnark = (system().verifier)(&gnark_key(&key).to_string(), with_witness(false)).unwrap();
        let inputs_text = snarkjs_inputs(&inputs).to_string();
        assert_eq!(gnark.call(&gnark_proof(&proof).to_string(), &inputs_text).unwrap(), call, "{what}");
        if count > 0 {
            let mut other = inputs.clone();
            other[count - 1] += Fr::ONE;
            let call = subject.calldata(&proof, &other);
            subject.check(&call, Answer::False, &format!("{what}, the last is another"));
            let not_below_r = bytes(&(BigUint::from(inputs[count - 1]) + r()));
            let call = with(&subject.calldata(&proof, &inputs), INPUTS_AT + 32 * (count - 1), &not_below_r);
            subject.check(&call, Answer::False, &format!("{what}, the last by r more"));
        }
        for (proof, expected) in [
            (Proof { a: -proof.a, ..proof.clone() }, Answer::False),
            (Proof { a: -proof.a, b: -proof.b, c: proof.c }, Answer::True),
            (Proof { c: (proof.c + G1Affine::generator()).into_affine(), ..proof.clone() }, Answer::False),
        ] {
            let call = subject.calldata(&proof, &inputs);
            subject.check(&call, expected, &what);
        }
    }
}

#[test]
fn calls_of_every_kind_are_answered_as_by_the_precompiles_under_every_revision() {
    let mut seeded = Seeded(382);
    let (key, proof, inputs) = of_random_circuit_on::<Bls12_381>(&mut seeded, 1);
    for takes_witness in [false, true] {
        // Interfaces without a modulus of 256 bits have this curve too.
        let mut subject = Subject::new(&key, takes_witness, Revision::ALL);
        let call = subject.calldata(&proof, &inputs);
        let without = subject.check(&call, Answer::True, "a right proof");
        if let Some(witness) = subject.verifier.witness_for(&call) {
            let gas = subject.check(&[&call[..], &witness].concat(), Answer::True, "its witness");
            assert!(gas < without, "{gas} with the witness, {without} without");
            for at in [0, 63, 64 * 5 + 63] {
                let mut other = witness.clone();
                other[at] ^= 1;
                subject.check(&[&call[..], &other].concat(), Answer::True, "another witness");
            }
        }
        subject.check(&call[..call.len() - 1], Answer::Failure, "a byte less");
        let element = |value: &BigUint| {
            let digits = value.to_bytes_be();
            [vec![0; 64 - digits.len()], digits].concat()
        };
        for number in 0..8 {
            let at = 4 + 64 * number;
            let value = BigUint::from_bytes_be(&call[at..at + 64]);
            for (bytes, what) in [
                (element(&p()), "p"),
                (element(&(&value + p())), "more by p"),
                (element(&(&value + 1u32)), "more by one"),
                (element(&(&value + (BigUint::from(1u32) << 384u32))), "with padding"),
                (vec![0xff; 64], "ones"),
                (vec![0; 64], "zero"),
            ] {
                subject.check(&with(&call, at, &bytes), Answer::False, &format!("element {number} is {what}"));
            }
        }
        for value in [r(), (BigUint::from(1u32) << 256u32) - 1u32] {
            subject.check(&with(&call, INPUTS_AT, &bytes(&value)), Answer::False, "an input not below r");
        }
        for at in [4, C_AT] {
            let outside = encode1(seeded.curve_point());
            subject.check(&with(&call, at, &outside), Answer::False, "a point outside of G1");
            subject.check(&with(&call, at, &[0; 128]), Answer::False, "the identity");
        }
        let outside = encode2(seeded.twist_point());
        subject.check(&with(&call, 132, &outside), Answer::False, "B outside of G2");
        subject.check(&with(&call, 132, &[0; 256]), Answer::False, "B is the identity");
    }
}

/// One input, and so many that the sum is the one of many inputs, in two chunks and a point of a third.
#[test]
fn a_proof_may_have_identities() {
    for count in [1usize, 9] {
        let mut seeded = Seeded(383);
        let [alpha, beta, gamma, delta, k0, b]: [Fr; 6] = std::array::from_fn(|_| super::proofs::fr(&mut seeded));
        let mut several = |count| (0..count).map(|_| super::proofs::fr::<Fr>(&mut seeded)).collect::<Vec<_>>();
        let (of_inputs, others) = (several(count), several(count - 1));
        let g1 = |k: Fr| (G1Affine::generator() * k).into_affine();
        let g2 = |k: Fr| (ark_bls12_381::G2Affine::generator() * k).into_affine();
        let key = VerifyingKey::<Bls12_381> {
            alpha_g1: g1(alpha),
            beta_g2: g2(beta),
            gamma_g2: g2(gamma),
            delta_g2: g2(delta),
            gamma_abc_g1: once(k0).chain(of_inputs.iter().copied()).map(g1).collect(),
        };
        let mut subject = Subject::new(&key, false, &[Revision::Eip6690_2024]);
        let zero = Fr::from(0u64);
        let sum_of = |inputs: &[Fr]| inputs.iter().zip(&of_inputs).fold(k0, |sum, (&input, &k)| sum + input * k);
        let inputs_for = |sum: Fr| {
            let rest = (sum - sum_of(&others)) * of_inputs[count - 1].inverse().unwrap();
            others.iter().copied().chain([rest]).collect::<Vec<_>>()
        };
        let mut check = |inputs: &[Fr], a: Fr, b: Fr| {
            let c = (a * b - alpha * beta - sum_of(inputs) * gamma) * delta.inverse().unwrap();
            let proof = Proof { a: g1(a), b: g2(b), c: g1(c) };
            let call = subject.calldata(&proof, inputs);
            subject.check(&call, Answer::True, &format!("{inputs:?}, {a}, {b}"));
            for number in [0, count / 2, count - 1] {
                let mut other = inputs.to_vec();
                other[number] += Fr::ONE;
                let call = subject.calldata(&proof, &other);
                subject.check(&call, Answer::False, &format!("{inputs:?}, {a}, {b}, input {number} is another"));
            }
        };
        for (sum, a, b) in [(b, zero, b), (b, b, zero), (b, zero, zero), (zero, b, b), (zero, zero, zero)] {
            check(&inputs_for(sum), a, b);
        }
        check(&vec![zero; count], b, b);
        check(&vec![-Fr::ONE; count], b, b);
    }
}
