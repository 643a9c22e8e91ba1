//! Inputs of the pairing check as they occur: an aggregate BLS signature of several messages.
//!
//! k pairs are k − 1 keys with their messages and the aggregate signature: e(pk₁, H(m₁))⋯e(pkₖ₋₁, H(mₖ₋₁))·e(−G, σ) = 1
//! (draft-irtf-cfrg-bls-signature-05, §2.9, CoreAggregateVerify). One pair alone is e(pk₁, H(m₁)), which is not one.

use blst::BLST_ERROR;
use blst::min_pk::{AggregateSignature, SecretKey, Signature};
use residue_modular::PrimeField;
use residue_modular::fields::Bls12_381FrModulus;

/// The ciphersuite of Ethereum's consensus layer: draft-irtf-cfrg-bls-signature-05, §4.2.3.
const DOMAIN: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// The input of the pairing check of EIP-2537 for `pairs` pairs, the same on every call, and whether the product is one.
pub fn pairing_input(pairs: usize) -> Result<(Vec<u8>, bool), BLST_ERROR> {
    let own = scalar(1)?;
    // (r − 1)·G = −G.
    let negating = negative_one()?;
    let messages = if pairs > 1 { pairs - 1 } else { pairs };
    let mut input = Vec::new();
    let mut signatures = Vec::new();
    for number in 0..messages {
        let key = SecretKey::key_gen(format!("residue pairing benchmark key {number:04}").as_bytes(), &[])?;
        let message = format!("message {number}");
        // The signature of the key one is the hash itself.
        let hash = own.sign(message.as_bytes(), DOMAIN, &[]);
        push_pair(&mut input, &key, &hash);
        signatures.push(key.sign(message.as_bytes(), DOMAIN, &[]));
    }
    if pairs > 1 {
        let signatures: Vec<&Signature> = signatures.iter().collect();
        let aggregate = AggregateSignature::aggregate(&signatures, true)?.to_signature();
        push_pair(&mut input, &negating, &aggregate);
    }
    Ok((input, pairs > 1))
}

/// Appends the public key of `key` and a point of G2 as EIP-2537 encodes them: 16 zero bytes before each element, and c0
/// before c1, where blst serialises c1 first.
fn push_pair(input: &mut Vec<u8>, key: &SecretKey, point: &Signature) {
    let (p, q) = (key.sk_to_pk().serialize(), point.serialize());
    let q = q.as_chunks::<48>().0;
    for element in p.as_chunks::<48>().0.iter().chain([&q[1], &q[0], &q[3], &q[2]]) {
        input.extend_from_slice(&[0; 16]);
        input.extend_from_slice(element);
    }
}

fn scalar(number: u8) -> Result<SecretKey, BLST_ERROR> {
    let mut bytes = [0; 32];
    bytes[31] = number;
    SecretKey::from_bytes(&bytes)
}

/// r − 1.
fn negative_one() -> Result<SecretKey, BLST_ERROR> {
    let mut limbs = Bls12_381FrModulus::MODULUS;
    limbs[0] -= 1;
    let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    SecretKey::from_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::pairing::Pairs;

    #[test]
    fn several_pairs_are_a_signature_and_one_pair_is_not() {
        for pairs in [1, 2, 3, 8] {
            let (input, product_is_one) = pairing_input(pairs).unwrap();
            assert_eq!(input.len(), 384 * pairs);
            let native = Pairs::parse(&input).unwrap();
            assert!(native.are_in_subgroups());
            assert_eq!(native.product_is_one(), product_is_one);
            assert_eq!(product_is_one, pairs > 1);
        }
    }

    #[test]
    fn a_signature_of_something_else_is_none() {
        let (input, _) = pairing_input(3).unwrap();
        // The keys of both messages exchanged.
        let mut other = input.clone();
        other[..128].copy_from_slice(&input[384..512]);
        other[384..512].copy_from_slice(&input[..128]);
        assert!(!Pairs::parse(&other).unwrap().product_is_one());
    }

    #[test]
    fn no_points_off_the_curve_and_no_identity_are_parsed() {
        let (input, _) = pairing_input(2).unwrap();
        assert!(Pairs::parse(&[]).is_none());
        assert!(Pairs::parse(&input[1..]).is_none());
        for at in [0, 127, 383, 384, 767] {
            let mut broken = input.clone();
            broken[at] ^= 1;
            assert!(Pairs::parse(&broken).is_none(), "byte {at}");
        }
        let identity = [&[0; 128][..], &input[128..]].concat();
        assert!(Pairs::parse(&identity).is_none());
    }
}
