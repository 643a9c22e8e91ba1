//! Signatures are judged as by blst, under every revision: both choices of groups, keys and signatures that are none, of small
//! order, and identities. The same for beacons of drand, whose message is a hash.
//!
//! `RESIDUE_CASES=2000` takes as many signatures at random instead of two.

use crate::by_precompiles::by_precompiles;
use crate::support::{everywhere, returned_everywhere};
use blst::{BLST_ERROR, min_pk, min_sig};
use residue_contracts::find;
use residue_engine::{Fork, Prepared, native};
use residue_isa::Revision;
use std::iter::once;

/// The address of SHA-256.
const SHA256: u16 = 2;
/// draft-irtf-cfrg-bls-signature-05, section 4.2.1: the basic scheme.
const TAG_G1: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_";
const TAG_G2: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

/// True if the key, in G1 if it has 48 bytes, has signed the message.
fn judge(key: &[u8], signature: &[u8], message: &[u8]) -> bool {
    if key.len() == 48 {
        let verify = || {
            let (key, signature) = (min_pk::PublicKey::from_bytes(key)?, min_pk::Signature::from_bytes(signature)?);
            Ok(signature.verify(true, message, TAG_G2, &[], &key, true))
        };
        verify().unwrap_or_else(|error: BLST_ERROR| error) == BLST_ERROR::BLST_SUCCESS
    } else {
        let verify = || {
            let (key, signature) = (min_sig::PublicKey::from_bytes(key)?, min_sig::Signature::from_bytes(signature)?);
            Ok(signature.verify(true, message, TAG_G1, &[], &key, true))
        };
        verify().unwrap_or_else(|error: BLST_ERROR| error) == BLST_ERROR::BLST_SUCCESS
    }
}

/// The contract as [`everywhere`] has it, after code for Osaka that calls precompiles, which every input runs under.
pub fn everywhere_and_by_precompiles(contract: &residue_contracts::Contract) -> Vec<(Revision, Prepared)> {
    let (thin, bytes) = by_precompiles(&contract.program(), Fork::Osaka).unwrap();
    assert!(bytes <= 24_576, "{}: {bytes} bytes", contract.name);
    once((Revision::Evm, thin)).chain(everywhere(contract)).collect()
}

/// A contract under every revision, ready to run.
struct Contract(Vec<(Revision, Prepared)>);

impl Contract {
    fn new(name: &str) -> Self {
        Self(everywhere_and_by_precompiles(find(name).unwrap()))
    }

    #[track_caller]
    fn answers(&mut self, input: &[u8], expected: bool, what: &str) {
        let expected = [vec![0; 31], vec![u8::from(expected)]].concat();
        returned_everywhere(&mut self.0, input, &expected, what);
    }

    /// The answer must be blst's, which is returned.
    #[track_caller]
    fn check(&mut self, key: &[u8], signature: &[u8], message: &[u8], what: &str) -> bool {
        let expected = judge(key, signature, message);
        self.answers(&[key, signature, message].concat(), expected, what);
        expected
    }
}

/// Bytes that look random, by a linear congruence.
fn scrambled(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut byte = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| byte()).collect()
}

/// A key and its signature of `message`.
type Signed = (Vec<u8>, Vec<u8>);

fn key_in_g1(seed: u64, message: &[u8]) -> Signed {
    let key = min_pk::SecretKey::key_gen(&scrambled(seed, 32), &[]).unwrap();
    (key.sk_to_pk().compress().to_vec(), key.sign(message, TAG_G2, &[]).compress().to_vec())
}

fn key_in_g2(seed: u64, message: &[u8]) -> Signed {
    let key = min_sig::SecretKey::key_gen(&scrambled(seed, 32), &[]).unwrap();
    (key.sk_to_pk().compress().to_vec(), key.sign(message, TAG_G1, &[]).compress().to_vec())
}

const CHOICES: [fn(u64, &[u8]) -> Signed; 2] = [key_in_g1, key_in_g2];

/// Compressed points that are not of the group, or are no points: by their length.
fn bad_points(length: usize) -> Vec<(&'static str, Vec<u8>)> {
    let p = residue_curves::bls12_381::constants::modulus().to_bytes_be();
    let flagged = |mut bytes: Vec<u8>, flags: u8| {
        bytes.resize(length, 0);
        bytes[0] |= flags;
        bytes
    };
    let small_x = |x: u8| {
        let mut bytes = flagged(Vec::new(), 0x80);
        bytes[length - 1] = x;
        bytes
    };
    let mut bad = vec![
        ("the identity", flagged(Vec::new(), 0xc0)),
        ("the identity with a sign", flagged(Vec::new(), 0xe0)),
        ("the identity and more", flagged(vec![0, 1], 0xc0)),
        ("p for the first element", flagged(p.clone(), 0x80)),
        ("all bits set", vec![0xff; length]),
        ("nothing", vec![0; length]),
    ];
    if length == 96 {
        bad.push(("p for the second element", flagged([vec![0; 48], p].concat(), 0x80)));
    }
    // x = 0 is of order three on the curve of G1; of the others some are on their curve, outside the subgroup, some on none.
    bad.extend((0..5).map(|x| ("a small x", small_x(x))));
    bad
}

#[test]
fn signatures_are_judged_as_by_blst() {
    let mut verify = Contract::new("bls12_381/verify");
    let cases = residue_extent::cases(2) as u64;
    for signed in CHOICES {
        for seed in 0..cases {
            let message = scrambled(seed, usize::try_from(seed % 200).unwrap() * 37);
            let (key, signature) = signed(seed, &message);
            assert!(verify.check(&key, &signature, &message, "signed"));
            assert!(!verify.check(&key, &signature, &[&message[..], &[0]].concat(), "a message with a byte more"));
            // The other y: the opposite point.
            for at in [0, key.len()] {
                let mut input = [&key[..], &signature].concat();
                input[at] ^= 0x20;
                let (key, signature) = input.split_at(key.len());
                assert!(!verify.check(key, signature, &message, "another sign"));
            }
            let (_, other) = signed(seed + 1000, &message);
            assert!(!verify.check(&key, &other, &message, "signed by another key"));
        }
        let (key, signature) = signed(77, b"");
        assert!(verify.check(&key, &signature, b"", "the empty message"));
        let long = vec![7; 70_000];
        let (key, signature) = signed(78, &long);
        assert!(verify.check(&key, &signature, &long, "a long message"));
    }
}

#[test]
fn what_is_no_key_or_no_signature_has_signed_nothing() {
    let mut verify = Contract::new("bls12_381/verify");
    for signed in CHOICES {
        let (key, signature) = signed(5, b"abc");
        for (what, point) in bad_points(key.len()) {
            assert!(!verify.check(&point, &signature, b"abc", &format!("as key {what}")));
        }
        for (what, point) in bad_points(signature.len()) {
            let input = [&key[..], &point, b"abc"].concat();
            assert!(!judge(&key, &point, b"abc"), "as signature {what}");
            verify.answers(&input, false, &format!("as signature {what}"));
        }
        let identities = [(key.len(), 0xc0), (signature.len(), 0xc0)].map(|(length, flags)| {
            let mut bytes = vec![0; length];
            bytes[0] = flags;
            bytes
        });
        verify.answers(&identities.concat(), false, "identities, which would pass the pairing check");
        for length in [0, 1, 48, 96, 143] {
            verify.answers(&[&key[..], &signature].concat()[..length], false, "too little of it");
        }
        for flags in [0, 0x20, 0x40, 0x60] {
            let mut input = [&key[..], &signature, b"abc"].concat();
            input[0] = input[0] & 0x1f | flags;
            verify.answers(&input, false, "a key that does not say that it is compressed");
        }
    }
}

fn sha256(input: &[u8]) -> Vec<u8> {
    native::precompile(Fork::default(), SHA256, input, u64::MAX).unwrap().output
}

#[test]
fn beacons_sign_the_hash_of_what_is_chained_and_the_round() {
    let mut verify = Contract::new("drand/verify");
    for signed in CHOICES {
        for (previous, round) in [(vec![], 1u64), (scrambled(1, 96), 2), (scrambled(2, 32), 1), (vec![], u64::MAX)] {
            let chained = [&previous[..], &round.to_be_bytes()].concat();
            let (key, signature) = signed(round, &sha256(&chained));
            let input = [&key[..], &signature, &chained].concat();
            assert!(judge(&key, &signature, &sha256(&chained)));
            verify.answers(&input, true, "a beacon");
            let mut other = input.clone();
            *other.last_mut().unwrap() ^= 1;
            verify.answers(&other, false, "another round");
            verify.answers(&input[..input.len() - 1], false, "a round cut short");
            verify.answers(&input[..144], false, "no round");
        }
    }
}
