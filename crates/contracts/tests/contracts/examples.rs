//! The examples of the contracts are as described, computed again by other means.

use blst::min_pk::{PublicKey, SecretKey, Signature};
use blst::min_sig;
use residue_compiler::{Compiled, compile};
use residue_contracts::{CONTRACTS, find};
use residue_engine::{Engine, EngineConfig, Fork, Halt, native};
use residue_ir::Outcome;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::native;

use crate::support::{expressed, some_revisions};

/// draft-irtf-cfrg-bls-signature-05, section 4.2.1: the basic scheme, signatures in G2.
const CIPHERSUITE: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";
/// The same with signatures in G1.
const CIPHERSUITE_G1: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_";
const SECRET_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const MESSAGE: &[u8] = b"Residue makes cryptography run as ordinary EVM bytecode.";
/// r − 1.
const MINUS_ONE: &str = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000";

fn secret_key(scalar: &str) -> SecretKey {
    SecretKey::from_bytes(&hex::decode(scalar).unwrap()).unwrap()
}

/// Elements of 48 bytes, as EIP-2537 has them, in the given order.
fn elements(serialized: &[u8], order: &[usize]) -> Vec<u8> {
    order.iter().flat_map(|&at| [&[0; 16][..], &serialized[48 * at..48 * (at + 1)]].concat()).collect()
}

fn g1(point: &PublicKey) -> Vec<u8> {
    elements(&point.serialize(), &[0, 1])
}

/// blst writes c1 before c0, EIP-2537 c0 before c1.
fn g2(point: &Signature) -> Vec<u8> {
    elements(&point.serialize(), &[1, 0, 3, 2])
}

#[test]
fn the_pairing_example_checks_a_signature() {
    let key = secret_key(SECRET_KEY);
    let signature = key.sign(MESSAGE, CIPHERSUITE, &[]);
    let verified = signature.verify(true, MESSAGE, CIPHERSUITE, &[], &key.sk_to_pk(), true);
    assert_eq!(verified, blst::BLST_ERROR::BLST_SUCCESS);
    // The key 1 signs with H(m) itself; the key r − 1 has the public key −g1.
    let hashed = secret_key(&format!("{:064x}", 1)).sign(MESSAGE, CIPHERSUITE, &[]);
    let minus_g1 = secret_key(MINUS_ONE).sk_to_pk();
    let expected = [g1(&key.sk_to_pk()), g2(&hashed), g1(&minus_g1), g2(&signature)].concat();

    let contract = find("bls12_381/pairing").unwrap();
    assert_eq!(hex::encode((contract.example)()), hex::encode(expected));
    assert_eq!(native(contract, &(contract.example)()).unwrap().unwrap().output, [vec![0; 31], vec![1]].concat());
}

#[test]
fn the_verify_example_is_a_key_a_signature_and_a_message() {
    let key = secret_key(SECRET_KEY);
    let signature = key.sign(MESSAGE, CIPHERSUITE, &[]);
    let expected = [&key.sk_to_pk().compress()[..], &signature.compress(), MESSAGE].concat();
    let contract = find("bls12_381/verify").unwrap();
    assert_eq!(hex::encode((contract.example)()), hex::encode(expected));
    let outcome = residue_ir::evaluate(&contract.program(), &(contract.example)());
    assert_eq!(outcome, Outcome::Returned([vec![0; 31], vec![1]].concat()));
}

/// The tag of Ethereum's signatures.
const POSSESSION: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// The sum of signatures of one message.
fn together(keys: &[&SecretKey], message: &[u8]) -> Vec<u8> {
    let signatures: Vec<Signature> = keys.iter().map(|key| key.sign(message, POSSESSION, &[])).collect();
    let sum = blst::min_pk::AggregateSignature::aggregate(&signatures.iter().collect::<Vec<_>>(), true).unwrap();
    sum.to_signature().compress().to_vec()
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    native::precompile(Fork::default(), 2, bytes, u64::MAX).unwrap().output
}

/// Holds the example of a contract to its input, and the evaluator to the answer, a word.
#[track_caller]
fn is_example(name: &str, input: &[u8], answer: u16) {
    let contract = find(name).unwrap();
    assert_eq!(hex::encode((contract.example)()), hex::encode(input), "{name}");
    let outcome = residue_ir::evaluate(&contract.program(), &(contract.example)());
    assert_eq!(outcome, Outcome::Returned([vec![0; 30], answer.to_be_bytes().to_vec()].concat()), "{name}");
}

#[test]
fn the_examples_of_ethereum_are_signed_as_it_signs() {
    let keys = [SECRET_KEY, &format!("{:064x}", 7), &format!("{:064x}", 8)].map(secret_key);
    let message = sha256(MESSAGE);
    let compressed = keys.iter().flat_map(|key| key.sk_to_pk().compress()).collect::<Vec<_>>();
    let signature = together(&keys.iter().collect::<Vec<_>>(), &message);
    let input = [&signature[..], &3u16.to_be_bytes(), &compressed, &message].concat();
    is_example("bls12_381/fast_aggregate_verify", &input, 1);

    // Mainnet: fork version 0, so the root of the fork's data is that of zeros.
    let domain = |kind: u8| [&[kind, 0, 0, 0][..], &sha256(&[0; 64])[..28]].concat();
    let key = keys[0].sk_to_pk().compress();
    let credentials = [&[1][..], &[0; 11], &[0x52; 20]].concat();
    let amount = 32_000_000_000u64.to_le_bytes();
    let left = sha256(&[&sha256(&[&key[..], &[0; 16]].concat())[..], &credentials].concat());
    let right = sha256(&[&amount[..], &[0; 56]].concat());
    let signing_root = sha256(&[&sha256(&[left, right].concat())[..], &domain(3)].concat());
    let signature = together(&[&keys[0]], &signing_root);
    let input = [&key[..], &signature, &credentials, &amount, &domain(3)].concat();
    is_example("eth/deposit", &input, 1);

    // Those before number 400 have signed: 200 times each of two keys.
    let (root, domain) = (sha256(b"header"), domain(7));
    let signing_root = sha256(&[&root[..], &domain].concat());
    let signers: Vec<&SecretKey> = (0..400).map(|number| &keys[number % 2]).collect();
    let signature = together(&signers, &signing_root);
    let bits = [[0xff; 50].as_slice(), &[0; 14]].concat();
    let two = [&keys[0].sk_to_pk().serialize()[..], &keys[1].sk_to_pk().serialize()].concat();
    let input = [&signature[..], &root, &domain, &bits, &two.repeat(256)].concat();
    is_example("eth/sync_committee", &input, 400);
}

#[test]
fn the_drand_example_is_a_beacon() {
    let key = min_sig::SecretKey::from_bytes(&hex::decode(SECRET_KEY).unwrap()).unwrap();
    let round = 1u64.to_be_bytes();
    let message = native::precompile(Fork::default(), 2, &round, u64::MAX).unwrap().output;
    let signature = key.sign(&message, CIPHERSUITE_G1, &[]);
    let expected = [&key.sk_to_pk().compress()[..], &signature.compress(), &round].concat();
    let contract = find("drand/verify").unwrap();
    assert_eq!(hex::encode((contract.example)()), hex::encode(expected));
    let outcome = residue_ir::evaluate(&contract.program(), &(contract.example)());
    assert_eq!(outcome, Outcome::Returned([vec![0; 31], vec![1]].concat()));
}

#[test]
fn the_fp2_mul_example_is_a_product() {
    // (1 + 2u)·(3 + 4u) = −5 + 10u.
    let contract = find("bls12_381/fp2_mul").unwrap();
    let minus_five = residue_curves::bls12_381::constants::modulus() - 5u32;
    let bytes = [vec![0; 16], minus_five.to_bytes_be(), vec![0; 63], vec![10]].concat();
    let outcome = residue_ir::evaluate(&contract.program(), &(contract.example)());
    assert_eq!(outcome, Outcome::Returned(bytes));
    assert!(native(contract, &[]).is_none());
}

#[test]
fn every_example_runs_as_evaluated() {
    for (number, contract) in CONTRACTS.iter().enumerate() {
        let (program, example) = (contract.program(), (contract.example)());
        let expected = residue_ir::evaluate(&program, &example);
        for revision in some_revisions(number) {
            let compiled = compile(&program, revision, &GasSchedule::default_for(revision).unwrap());
            let Some(Compiled { code, .. }) = expressed(contract, revision, compiled) else { continue };
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            let outcome = engine.run_code(&code, &example, 30_000_000);
            assert_eq!(outcome.halt, Halt::Return, "{}, {revision}", contract.name);
            assert_eq!(Outcome::Returned(outcome.output), expected, "{}, {revision}", contract.name);
        }
    }
}

#[test]
fn fp2_mul_refuses_other_lengths_and_numbers_not_below_the_modulus() {
    let contract = find("bls12_381/fp2_mul").unwrap();
    let (program, example) = (contract.program(), (contract.example)());
    let mut inputs = vec![Vec::new(), example[..255].to_vec(), [&example[..], &[0]].concat()];
    for element in 0..4 {
        for (at, byte) in [(0, 1), (15, 1), (16, 0x1b)] {
            let mut input = example.clone();
            input[64 * element + at] = byte;
            inputs.push(input);
        }
    }
    for &revision in Revision::ALL {
        let code = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        for input in &inputs {
            assert_eq!(residue_ir::evaluate(&program, input), Outcome::Failed);
            assert!(engine.run_code(&code, input, 10_000_000).halt.is_exceptional());
        }
    }
}
