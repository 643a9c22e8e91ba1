//! Verifiers of SLH-DSA against a second text over bytes, which is held to a library on the parameters that one has.
//!
//! `RESIDUE_CASES=2000 cargo test --release -p residue-contracts --test post_quantum slh_dsa::` takes more signatures.

use crate::Seeded;
use crate::support::{cases, everywhere, returned_everywhere};
use residue_compiler::compile;
use residue_contracts::find;
use residue_contracts::slh_dsa::signer::{self, Family, KECCAK_128_24, SHA2_128_24, SHA2_128F, Set, Signer};
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use std::sync::LazyLock;

/// Bytes of the limit of EIP-170.
const CODE_BYTES_MAX: usize = 24_576;
/// The most steps of all chains that a digest leads to: all digits are 0, and those of the checksum 3, 0, 0, 0.
const STEPS_MAX: u64 = 64 * 3 + 3 * 3;

fn word(is_valid: bool) -> [u8; 32] {
    let mut word = [0; 32];
    word[31] = is_valid.into();
    word
}

fn message() -> Vec<u8> {
    (100..132).collect()
}

/// Key 2, which signs the message. R is searched from the one that a search from 0 finds.
fn signer(set: Set) -> &'static Signer {
    static SHA2: LazyLock<Signer> = LazyLock::new(|| made(SHA2_128_24, 1_118_357));
    static KECCAK: LazyLock<Signer> = LazyLock::new(|| made(KECCAK_128_24, 5497980));
    match set.family {
        Family::Sha2 => &SHA2,
        Family::Keccak => &KECCAK,
    }
}

fn made(set: Set, first: u128) -> Signer {
    Signer::new(set, 2, &signer::external(set, &message()), first)
}

/// The contracts, each with its set.
const CONTRACTS: [(&str, Set); 3] = [
    ("slh_dsa/sha2_128_24", SHA2_128_24),
    ("slh_dsa/sha2_128_24_rolled", SHA2_128_24),
    ("slh_dsa/keccak_128_24", KECCAK_128_24),
];

/// A key, a message and a signature in one.
fn calldata(signer: &Signer, number: u64) -> Vec<u8> {
    [&signer.public()[..], &message(), &signer.sign(number)].concat()
}

/// The second text's answer.
fn is_valid(set: Set, calldata: &[u8]) -> bool {
    let message = signer::external(set, &calldata[32..64]);
    signer::verify(set, &calldata[..32].try_into().unwrap(), &message, &calldata[64..])
}

#[test]
fn the_second_text_is_that_of_a_library() {
    use fips205::slh_dsa_sha2_128f as library;
    use fips205::traits::{KeyGen, SerDes, Signer as _, Verifier as _};
    let mut seeded = Seeded(9);
    let mut seed = || <[u8; 16]>::try_from(seeded.bytes(16)).unwrap();
    let (public, secret) = library::KG::keygen_from_seed(&seed(), &seed(), &seed());
    let bytes = public.clone().into_bytes();
    for case in 0..3 {
        let message = seeded.bytes(case * 40);
        let signature = secret.try_sign(&message, &[], false).unwrap();
        assert!(signer::verify(SHA2_128F, &bytes, &signer::external(SHA2_128F, &message), &signature));
        let mut spoiled = signature;
        spoiled[seeded.below(signature.len())] ^= 4;
        assert!(!public.verify(&message, &spoiled, &[]));
        assert!(!signer::verify(SHA2_128F, &bytes, &signer::external(SHA2_128F, &message), &spoiled));
    }
}

#[test]
fn signatures_are_accepted_and_spoiled_ones_refused() {
    for (name, set) in CONTRACTS {
        let signer = signer(set);
        let mut compiled = everywhere(find(name).unwrap());
        let mut seeded = Seeded(11);
        for number in 0..cases(100) as u64 {
            let valid = calldata(signer, number);
            assert!(is_valid(set, &valid));
            returned_everywhere(&mut compiled, &valid, &word(true), "a signature");
            for _ in 0..3 {
                let mut spoiled = valid.clone();
                let (byte, bit) = (seeded.below(valid.len()), seeded.below(8));
                spoiled[byte] ^= 1 << bit;
                assert!(!is_valid(set, &spoiled));
                returned_everywhere(&mut compiled, &spoiled, &word(false), &format!("byte {byte}, bit {bit}"));
            }
        }
    }
}

#[test]
fn what_is_no_signature_is_refused() {
    // What is signed is 0 ‖ 0 ‖ message: without these it is another scheme, and with a context another message.
    let bare = Signer::new(SHA2_128_24, 2, &message(), 18_322_474);
    let in_context = Signer::new(SHA2_128_24, 2, &[&[0, 1, 7], &message()[..]].concat(), 2_922_888);
    for (name, set) in CONTRACTS {
        let valid = calldata(signer(set), 0);
        let mut compiled = everywhere(find(name).unwrap());
        for length in [0, 1, 32, 63, 64, 96, valid.len() - 1, valid.len() + 1, valid.len() + 32] {
            let mut other = valid.clone();
            other.resize(length, 0);
            returned_everywhere(&mut compiled, &other, &word(false), &format!("{length} bytes"));
        }
        let words = [&valid[..16], &[0; 16], &valid[16..32], &[0; 16], &valid[32..]].concat();
        returned_everywhere(&mut compiled, &words, &word(false), "a key of words");
        for (signer, what) in [(&bare, "no context"), (&in_context, "a context")] {
            returned_everywhere(&mut compiled, &calldata(signer, 0), &word(false), what);
        }
        for half in 0..2 {
            let mut other = valid.clone();
            other[16 * half..][..16].fill(0);
            returned_everywhere(&mut compiled, &other, &word(false), "half of a key is 0");
        }
    }
}

/// A call of the precompile that fails has left too little gas for an answer: no limit leads to another answer.
#[test]
fn want_of_gas_is_no_answer() {
    let revision = Revision::Evm;
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    for (name, set) in CONTRACTS {
        let input = calldata(signer(set), 0);
        let program = find(name).unwrap().program();
        let code = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
        let enough = engine.run_code(&code, &input, 1_000_000).gas_used;
        for limit in (0..enough).rev().take(1000).chain((0..enough).step_by(23)) {
            let outcome = engine.run_code(&code, &input, limit);
            assert_ne!(outcome.halt, Halt::Return, "{name}, {limit} gas: {}", hex::encode(outcome.output));
        }
    }
}

#[test]
fn gas_and_code_are_within_bounds() {
    let revision = Revision::Evm;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let bounds = [(82_000, 105_000, CODE_BYTES_MAX), (92_000, 120_000, 4096), (40_000, 50_000, CODE_BYTES_MAX)];
    for ((name, set), (mean_max, worst_max, bytes_max)) in CONTRACTS.into_iter().zip(bounds) {
        let signer = signer(set);
        let code = compile(&find(name).unwrap().program(), revision, &schedule).unwrap().code;
        let (mut all, mut worst, count) = (0, 0, 200);
        for number in 0..count {
            let input = calldata(signer, number);
            let outcome = engine.run_code(&code, &input, 1_000_000);
            assert_eq!((outcome.halt, outcome.output[31]), (Halt::Return, 1), "{name}");
            let message = signer::external(set, &input[32..64]);
            let (_, node) = signer::root_from(set, &signer.public(), &message, &input[64..]);
            let steps = signer::steps_left(set, &node);
            all += outcome.gas_used;
            // A step takes at most so much: with SHA-256 208 for the call, and 32 for what is around it.
            let step_gas = if set.family == Family::Sha2 { 240 } else { 80 };
            worst = worst.max(outcome.gas_used + step_gas * (STEPS_MAX - steps));
        }
        println!(
            "{name}: {} gas on average, {worst} at worst, {} bytes, R {}",
            all / count,
            code.len(),
            signer.randomizer()
        );
        assert!(all / count <= mean_max && worst <= worst_max, "{name}: {} gas, {worst} at worst", all / count);
        assert!(code.len() <= bytes_max, "{name}: {} bytes", code.len());
    }
}
