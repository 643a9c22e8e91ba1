//! Signatures of Ethereum's consensus layer are judged as by blst, under every revision: aggregates of keys in both forms, deposits, and
//! sync committees. Signing roots are made here by the precompile SHA-256.

use crate::signatures::everywhere_and_by_precompiles;
use crate::support::returned_everywhere;
use blst::BLST_ERROR;
use blst::min_pk::{AggregateSignature, PublicKey, SecretKey, Signature};
use num_bigint::BigUint;
use residue_contracts::find;
use residue_curves::bls12_381::constants::modulus;
use residue_engine::{Fork, Prepared, native};
use residue_isa::Revision;

/// draft-irtf-cfrg-bls-signature-05, section 4.2.3.
const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

fn key(number: u64) -> SecretKey {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&number.to_be_bytes());
    SecretKey::key_gen(&seed, &[]).unwrap()
}

/// The sum of the keys' signatures, compressed.
fn signed(keys: &[SecretKey], message: &[u8]) -> Vec<u8> {
    let signatures: Vec<Signature> = keys.iter().map(|key| key.sign(message, TAG, &[])).collect();
    let sum = AggregateSignature::aggregate(&signatures.iter().collect::<Vec<_>>(), true).unwrap();
    sum.to_signature().compress().to_vec()
}

/// FastAggregateVerify by blst.
fn judge(signature: &[u8], keys: &[Vec<u8>], message: &[u8]) -> bool {
    let verify = || {
        let signature = Signature::from_bytes(signature)?;
        let keys = keys.iter().map(|key| PublicKey::from_bytes(key)).collect::<Result<Vec<_>, _>>()?;
        keys.iter().try_for_each(PublicKey::validate)?;
        Ok(signature.fast_aggregate_verify(true, message, TAG, &keys.iter().collect::<Vec<_>>()))
    };
    verify().unwrap_or_else(|error: BLST_ERROR| error) == BLST_ERROR::BLST_SUCCESS
}

fn word(number: usize) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    [vec![0; 32 - bytes.len()], bytes.to_vec()].concat()
}

fn sha256(input: &[u8]) -> Vec<u8> {
    native::precompile(Fork::default(), 2, input, u64::MAX).unwrap().output
}

/// `bls12_381/fast_aggregate_verify` under every revision, held to blst.
struct Aggregates(Vec<(Revision, Prepared)>);

impl Aggregates {
    #[track_caller]
    fn check(&mut self, signature: &[u8], keys: &[Vec<u8>], message: &[u8], what: &str) -> bool {
        let count = u16::try_from(keys.len()).unwrap().to_be_bytes();
        let expected = judge(signature, keys, message);
        let input = [signature, &count, &keys.concat(), message].concat();
        returned_everywhere(&mut self.0, &input, &word(expected.into()), what);
        expected
    }
}

/// The public keys in both forms.
fn forms(keys: &[SecretKey]) -> [Vec<Vec<u8>>; 2] {
    let keys: Vec<PublicKey> = keys.iter().map(SecretKey::sk_to_pk).collect();
    [
        keys.iter().map(|key| key.compress().to_vec()).collect(),
        keys.iter().map(|key| key.serialize().to_vec()).collect(),
    ]
}

#[test]
fn aggregates_are_judged_as_by_blst() {
    let mut verify = Aggregates(everywhere_and_by_precompiles(find("bls12_381/fast_aggregate_verify").unwrap()));
    let message = sha256(b"block");
    for count in [1, 2, 5] {
        let secret: Vec<SecretKey> = (0..count).map(key).collect();
        let signature = signed(&secret, &message);
        for keys in forms(&secret) {
            assert!(verify.check(&signature, &keys, &message, "signed by all"));
            assert!(!verify.check(&signature, &keys, &message[1..], "another message"));
            assert!(!verify.check(&signature, &keys[1..], &message, "a key less"));
            let twice = [&keys[..], &keys[..1]].concat();
            assert!(!verify.check(&signature, &twice, &message, "a key more"));
            let mut other = signature.clone();
            other[0] ^= 0x20;
            assert!(!verify.check(&other, &keys, &message, "the opposite signature"));
        }
    }
    // Equal keys are doubled, and the order is one of many.
    let secret = [key(1), key(2), key(1), key(1)];
    for keys in forms(&secret) {
        assert!(verify.check(&signed(&secret, b""), &keys, b"", "equal keys, the empty message"));
    }
    let basic = key(1).sign(&message, b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", &[]).compress();
    assert!(!verify.check(&basic, &forms(&[key(1)])[0], &message, "a signature of the basic scheme"));
}

#[test]
fn what_is_no_key_signs_no_aggregate() {
    let mut verify = Aggregates(everywhere_and_by_precompiles(find("bls12_381/fast_aggregate_verify").unwrap()));
    let (secret, message) = ([key(3), key(4)], b"abc");
    let signature = signed(&secret, message);
    let [compressed, affine] = forms(&secret);
    let p = modulus().to_bytes_be();
    let below = (modulus() - 1u8).to_bytes_be();
    let identity = [&[0xc0][..], &[0; 47]].concat();
    for (what, bad) in [
        ("the identity", identity.clone()),
        ("all bits set", vec![0xff; 48]),
        ("a small x", [&[0x80][..], &[0; 46], &[2]].concat()),
    ] {
        for place in 0..2 {
            let mut keys = compressed.clone();
            keys[place].clone_from(&bad);
            assert!(!verify.check(&signature, &keys, message, what));
        }
    }
    let coordinate = |at: usize, number: &[u8]| {
        let mut key = affine[1].clone();
        key[at..at + 48].copy_from_slice(number);
        key
    };
    // x + p is the same element.
    let x_and_p = (BigUint::from_bytes_be(&affine[1][..48]) + modulus()).to_bytes_be();
    let bad = [
        ("x + p", coordinate(0, &x_and_p)),
        ("p for x", coordinate(0, &p)),
        ("p for y", coordinate(48, &p)),
        ("p − 1 for y", coordinate(48, &below)),
        ("zeros", vec![0; 96]),
        ("nothing but x", coordinate(48, &[0; 48])),
    ];
    for (what, bad) in bad {
        let keys = [affine[0].clone(), bad];
        let input = [&signature[..], &[0, 2], &keys.concat(), message].concat();
        returned_everywhere(&mut verify.0, &input, &word(0), what);
    }
    // Zeros are no key, not one that adds nothing.
    let of_one = signed(&secret[..1], message);
    let input = [&of_one[..], &[0, 2], &affine[0], &[0; 96], message].concat();
    returned_everywhere(&mut verify.0, &input, &word(0), "zeros beside the key that has signed");
    // Keys of a sum that is the identity, for which the signature would be that too.
    let mut opposite = compressed[0].clone();
    opposite[0] ^= 0x20;
    let of_identity = [&[0xc0][..], &[0; 95]].concat();
    for signature in [&signature, &of_identity] {
        assert!(!verify.check(signature, &[compressed[0].clone(), opposite.clone()], message, "opposite keys"));
    }
    let mut answers = |parts: &[&[u8]], what: &str| returned_everywhere(&mut verify.0, &parts.concat(), &word(0), what);
    answers(&[&of_identity, &[0, 0]], "no keys and the identity");
    answers(&[&signature, &[0, 0], message], "no keys");
    answers(&[&signature, &[0, 3], &compressed.concat(), message], "fewer keys than their number");
    answers(&[&signature, &[0xff, 0xff], &compressed.concat(), message], "far fewer");
    answers(&[&signature, &[0, 2], &compressed[0], &affine[1], message], "both forms");
    answers(&[&signature, &[0, 2], &affine[0], &compressed[1], &[0; 48], message], "both forms, the other way round");
    answers(&[&signature], "no number");
    answers(&[], "nothing");
}

#[test]
fn deposits_are_signed_by_their_key() {
    let mut deposit = everywhere_and_by_precompiles(find("eth/deposit").unwrap());
    let key = key(9);
    let domain = [&[3, 0, 0, 0][..], &sha256(&[0; 64])[..28]].concat();
    let public = key.sk_to_pk().compress().to_vec();
    let (credentials, amount) = ([0x11; 32], 1_000_000_000u64.to_le_bytes());
    let root = |public: &[u8], credentials: &[u8], amount: &[u8]| {
        let left = sha256(&[&sha256(&[public, &[0; 16]].concat())[..], credentials].concat());
        sha256(&[left, sha256(&[amount, &[0; 56]].concat())].concat())
    };
    let signing_root = sha256(&[root(&public, &credentials, &amount), domain.clone()].concat());
    let signature = signed(&[key], &signing_root);
    let input = [&public[..], &signature, &credentials, &amount, &domain].concat();
    assert!(judge(&signature, &[public], &signing_root));
    returned_everywhere(&mut deposit, &input, &word(1), "signed");
    // Each part counts: its first byte, which of points has flags, and its last one.
    for (start, bytes) in [(0, 48), (48, 96), (144, 32), (176, 8), (184, 32)] {
        for at in [start, start + bytes - 1] {
            let mut other = input.clone();
            other[at] ^= 0x20;
            returned_everywhere(&mut deposit, &other, &word(0), &format!("another byte {at}"));
        }
    }
    for other in [&input[..215], &[&input[..], &[0]].concat(), &[]] {
        returned_everywhere(&mut deposit, other, &word(0), "another length");
    }
}

#[test]
fn committees_are_counted() {
    let mut committee = everywhere_and_by_precompiles(find("eth/sync_committee").unwrap());
    let secret: Vec<SecretKey> = (0..512).map(key).collect();
    let [compressed, affine] = forms(&secret);
    let (root, domain) = (sha256(b"header"), sha256(b"domain"));
    let signing_root = sha256(&[root.clone(), domain.clone()].concat());
    let of = |has: &dyn Fn(usize) -> bool| {
        let mut bits = vec![0u8; 64];
        (0..512).filter(|&member| has(member)).for_each(|member| bits[member / 8] |= 1 << (member % 8));
        let signers: Vec<SecretKey> =
            (0..512).filter(|&member| has(member)).map(|member| secret[member].clone()).collect();
        (bits, signers)
    };
    let choices: [&dyn Fn(usize) -> bool; 4] =
        [&|_| true, &|member| member % 3 != 1, &|member| member == 509, &|member| member == 0];
    for (number, has) in choices.into_iter().enumerate() {
        let (bits, signers) = of(has);
        let signature = signed(&signers, &signing_root);
        for keys in [&compressed, &affine] {
            let input = [&signature[..], &root, &domain, &bits, &keys.concat()].concat();
            returned_everywhere(&mut committee, &input, &word(signers.len()), &format!("choice {number}"));
            if number != 1 {
                continue;
            }
            for (what, at) in [
                ("another root", 96),
                ("another domain", 159),
                ("another bit", 160 + 63),
                ("another key", 223 + keys[0].len()),
            ] {
                let mut other = input.clone();
                other[at] ^= if at == 160 + 63 { 0x40 } else { 1 };
                returned_everywhere(&mut committee, &other, &word(0), what);
            }
            returned_everywhere(&mut committee, &input[..input.len() - 1], &word(0), "a byte less");
            returned_everywhere(&mut committee, &[&input[..], &[0]].concat(), &word(0), "a byte more");
            // A key that has not signed is not looked at.
            let mut other = input.clone();
            let key = keys[0].len();
            other[224 + key..224 + 2 * key].fill(0xff);
            returned_everywhere(&mut committee, &other, &word(signers.len()), "no key where none is needed");
        }
    }
    let nobody = [&[0xc0][..], &[0; 95], &root, &domain, &[0; 64], &affine.concat()].concat();
    returned_everywhere(&mut committee, &nobody, &word(0), "nobody");
}
