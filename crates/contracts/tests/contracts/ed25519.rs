//! `ed25519/verify` against ed25519-dalek's strict rule and `ed25519/zip215` against ed25519-zebra, on signatures of every kind.
//!
//! Plain `cargo test` takes each kind a few times; `RESIDUE_CASES=2000` takes as many cases.

use crate::points::Seeded;
use crate::support::{cases, everywhere, returned_everywhere};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use num_bigint::BigUint;
use residue_contracts::find;
use residue_curves::edwards25519::constants;
use residue_formula::Number;
use residue_modular::fields::Curve25519Fp;

/// dalek takes keys whose y is not below p; RFC 8032, §5.1.3, does not.
fn strict(input: &[u8]) -> bool {
    let Some((key, signature, message)) = split(input) else { return false };
    let mut y = key;
    y[31] &= 0x7f;
    let is_canonical = BigUint::from_bytes_le(&y) < Curve25519Fp::modulus();
    let verified = VerifyingKey::from_bytes(&key)
        .and_then(|key| key.verify_strict(message, &Signature::from_bytes(&signature)))
        .is_ok();
    is_canonical && verified
}

fn zip215(input: &[u8]) -> bool {
    let Some((key, signature, message)) = split(input) else { return false };
    let key = ed25519_zebra::VerificationKey::try_from(key);
    key.is_ok_and(|key| key.verify(&ed25519_zebra::Signature::from(signature), message).is_ok())
}

fn split(input: &[u8]) -> Option<([u8; 32], [u8; 64], &[u8])> {
    let (key, rest) = input.split_first_chunk()?;
    let (signature, message) = rest.split_first_chunk()?;
    Some((*key, *signature, message))
}

/// Encodings of points whose order divides 8, canonical and not; ZIP-215, “Test vectors”.
const SMALL: [&str; 12] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

fn little_endian(value: &BigUint) -> Vec<u8> {
    let mut bytes = value.to_bytes_le();
    bytes.resize(32, 0);
    bytes
}

#[test]
fn signatures_are_verified_by_both_rules() {
    let mut by_rule = [
        (everywhere(find("ed25519/verify").unwrap()), strict as fn(&[u8]) -> bool, 0),
        (everywhere(find("ed25519/zip215").unwrap()), zip215, 0),
    ];
    let mut seeded = Seeded(51);
    let small = |seeded: &mut Seeded| hex::decode(SMALL[seeded.below(SMALL.len())]).unwrap();
    for case in 0..cases(60) {
        let secret = SigningKey::from_bytes(&seeded.bytes(32).try_into().unwrap());
        let length = [0, 1, 3, 46, 47, 48, 49, 64, 111, 128, 175, 176, 300][seeded.below(13)];
        let message = seeded.bytes(length);
        let mut key = secret.verifying_key().to_bytes().to_vec();
        let signature = secret.sign(&message).to_bytes();
        let (mut r, mut s) = (signature[..32].to_vec(), signature[32..].to_vec());
        let kind = case % 15;
        match kind {
            0..=3 => {}
            4 => s = little_endian(&(BigUint::from_bytes_le(&s) + &constants().order)),
            5 => s[31] |= 0xe0,
            6 => r[31] ^= 0x80,
            7 => key[31] ^= 0x80,
            8 => (key, s) = (small(&mut seeded), vec![0; 32]),
            9 => (key, r, s) = (small(&mut seeded), small(&mut seeded), vec![0; 32]),
            10 => r = small(&mut seeded),
            11 => r = little_endian(&(Curve25519Fp::modulus() + seeded.below(19))),
            12 => key = little_endian(&(Curve25519Fp::modulus() + seeded.below(19))),
            13 => key = seeded.bytes(32),
            _ => r = seeded.bytes(32),
        }
        let input = [key, r, s, message].concat();
        let mut inputs = vec![input.clone()];
        if case % 5 == 0 {
            inputs.push(input[..seeded.below(input.len())].to_vec());
            let mut turned = input;
            let at = seeded.below(turned.len());
            turned[at] ^= 1 << seeded.below(8);
            inputs.push(turned);
        }
        for (compiled, judge, valid) in &mut by_rule {
            for input in &inputs {
                let answer = judge(input);
                *valid += usize::from(answer);
                let word = [vec![0; 31], vec![u8::from(answer)]].concat();
                returned_everywhere(compiled, input, &word, &format!("kind {kind}, case {case}"));
            }
        }
    }
    assert!(by_rule.iter().all(|(_, _, valid)| *valid > 10) && by_rule[0].2 < by_rule[1].2, "{}", by_rule[0].2);
}
