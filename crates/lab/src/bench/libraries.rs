//! The group `libraries`: signatures, hashes, multiples of points and pairings beside the Rust library that people use for them, on the contracts' examples.
//!
//! Every answer is compared with the library's, before anything is timed and in every round. Libraries get bytes and parse them, as contracts do. What a
//! library can prepare for itself before the first call, such as Poseidon's constants, is not in its time.

mod arkworks;

use ark_ff::{BigInteger, PrimeField};
use arkworks::{EIP_196, EIP_2539, EIP_3026};
use k256::ecdsa::{RecoveryId, Signature as Ecdsa, VerifyingKey as EcdsaKey};
use k256::schnorr;
use light_poseidon::{Poseidon, PoseidonHasher};
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use residue_contracts::find;
use sha2::{Digest, Sha512};
use sha3::Keccak256;

use crate::bench::beside::{self, Call, LIBRARY, Yardstick};
use crate::bench::effort::{Effort, Observer};
use crate::bench::group::{Group, none_missing};
use crate::bench::operations::{Run, word};
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};

/// `libraries`.
pub const GROUP: Group = Group {
    name: "libraries",
    summary: "signatures, hashes, multiples and pairings beside the Rust library that people use for them",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ library", Quantity::Time, &[LIBRARY]),
        Column::whole("gas", Quantity::Gas),
        Column::whole("gas by time", Quantity::GasByTime),
    ],
    missing: none_missing,
    measure,
};

/// Default subjects.
const SUBJECTS: [&str; 2] = [LIBRARY, "eip6690-2024"];

/// A library's way to answer calldata that is good: what it can prepare for itself, it has prepared.
type Prepare = fn(&[u8]) -> Option<Run<'_>>;

/// The contracts, each with the library beside it.
pub const LIBRARIES: &[(&str, &str, Prepare)] = &[
    ("p256/verify", "p256", p256),
    ("secp256k1/recover", "k256", recover),
    ("bip340/verify", "k256", bip340),
    ("ed25519/verify", "ed25519-dalek", strict),
    ("ed25519/zip215", "ed25519-zebra", zip215),
    ("hashes/sha512", "sha2", |input| Some(Box::new(move || Sha512::digest(input).to_vec()))),
    ("poseidon/t3", "light-poseidon", poseidon),
    ("poseidon/t3_many", "light-poseidon", poseidon),
    ("grumpkin/mul", "ark-grumpkin", |input| arkworks::product::<ark_grumpkin::GrumpkinConfig>(input, EIP_196)),
    ("grumpkin/msm", "ark-grumpkin", |input| arkworks::sum::<ark_grumpkin::GrumpkinConfig>(input, EIP_196)),
    ("pallas/mul", "ark-pallas", |input| arkworks::product::<ark_pallas::PallasConfig>(input, EIP_196)),
    ("pallas/msm", "ark-pallas", |input| arkworks::sum::<ark_pallas::PallasConfig>(input, EIP_196)),
    ("vesta/mul", "ark-vesta", |input| arkworks::product::<ark_vesta::VestaConfig>(input, EIP_196)),
    ("vesta/msm", "ark-vesta", |input| arkworks::sum::<ark_vesta::VestaConfig>(input, EIP_196)),
    ("baby_jubjub/mul", "ark-ed-on-bn254", arkworks::baby_jubjub_product),
    ("baby_jubjub/msm", "ark-ed-on-bn254", arkworks::baby_jubjub_sum),
    ("bandersnatch/mul", "ark-ed-on-bls12-381-bandersnatch", arkworks::bandersnatch_product),
    ("bandersnatch/msm", "ark-ed-on-bls12-381-bandersnatch", arkworks::bandersnatch_sum),
    ("bls12_377/g1_mul", "ark-bls12-377", |input| arkworks::product::<ark_bls12_377::g1::Config>(input, EIP_2539)),
    ("bls12_377/g1_msm", "ark-bls12-377", |input| arkworks::sum::<ark_bls12_377::g1::Config>(input, EIP_2539)),
    ("bls12_377/pairing", "ark-bls12-377", |input| {
        arkworks::pairing::<ark_bls12_377::Bls12_377, ark_bls12_377::g1::Config, ark_bls12_377::g2::Config>(
            input, EIP_2539,
        )
    }),
    ("bw6_761/g1_mul", "ark-bw6-761", |input| arkworks::product::<ark_bw6_761::g1::Config>(input, EIP_3026)),
    ("bw6_761/g1_msm", "ark-bw6-761", |input| arkworks::sum::<ark_bw6_761::g1::Config>(input, EIP_3026)),
    ("bw6_761/pairing", "ark-bw6-761", |input| {
        arkworks::pairing::<ark_bw6_761::BW6_761, ark_bw6_761::g1::Config, ark_bw6_761::g2::Config>(input, EIP_3026)
    }),
];

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let effort = Effort { subjects: effort.subjects.or_of_everybody(&SUBJECTS), ..*effort };
    let mut rows = Vec::new();
    for &(name, crate_name, prepare) in LIBRARIES {
        let contract = find(name).ok_or(LabError::NoContract { name })?;
        let layers = beside::layers(contract, &effort, observer)?;
        let input = (contract.example)();
        let run = prepare(&input).ok_or(LabError::NotReadable { library: crate_name, name })?;
        let call = Call { name, input: &input, layers: &layers };
        rows.extend(call.measure(Yardstick::library(run), None, &effort, observer)?);
    }
    Ok(rows)
}

/// EIP-7951, “Specification”: the hash, r, s, and the key's coordinates.
fn p256(input: &[u8]) -> Option<Run<'_>> {
    use p256::ecdsa::{Signature, VerifyingKey};
    let (hash, signature, key) = (input.get(..32)?, input.get(32..96)?, input.get(96..160)?);
    Some(Box::new(move || {
        let key = VerifyingKey::from_sec1_bytes(&[&[4], key].concat());
        let signature = Signature::from_slice(signature);
        let holds =
            matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_prehash(hash, &signature).is_ok());
        if holds { word(true) } else { Vec::new() }
    }))
}

/// Yellow Paper, appendix E.1: the hash, v, r and s. The address of who signed.
fn recover(input: &[u8]) -> Option<Run<'_>> {
    let (hash, v, signature) = (input.get(..32)?, *input.get(63)?, input.get(64..128)?);
    Some(Box::new(move || {
        let recovered = || {
            let (signature, id) = (Ecdsa::from_slice(signature).ok()?, RecoveryId::from_byte(v.checked_sub(27)?)?);
            // What ecrecover accepts and k256 does not take: a high s, for which the other root of a low one is meant.
            let (signature, id) = match signature.normalize_s() {
                Some(low) => (low, RecoveryId::new(!id.is_y_odd(), id.is_x_reduced())),
                None => (signature, id),
            };
            let key = EcdsaKey::recover_from_prehash(hash, &signature, id).ok()?.to_encoded_point(false);
            let hash = Keccak256::digest(&key.as_bytes()[1..]);
            Some([&[0; 12], &hash[12..]].concat())
        };
        recovered().unwrap_or_default()
    }))
}

/// BIP-340, “Verification”: the key, the signature, the message.
fn bip340(input: &[u8]) -> Option<Run<'_>> {
    let (key, signature, message) = parts(input)?;
    Some(Box::new(move || {
        let (key, signature) = (schnorr::VerifyingKey::from_bytes(key), schnorr::Signature::try_from(&signature[..]));
        word(matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_raw(message, &signature).is_ok()))
    }))
}

/// RFC 8032, 5.1.7, with the checks that ed25519-dalek calls strict.
fn strict(input: &[u8]) -> Option<Run<'_>> {
    use ed25519_dalek::{Signature, VerifyingKey};
    let (key, signature, message) = parts(input)?;
    Some(Box::new(move || {
        let signature = Signature::from_bytes(signature);
        word(VerifyingKey::from_bytes(key).is_ok_and(|key| key.verify_strict(message, &signature).is_ok()))
    }))
}

/// ZIP-215.
fn zip215(input: &[u8]) -> Option<Run<'_>> {
    use ed25519_zebra::{Signature, VerificationKey};
    let (key, signature, message) = parts(input)?;
    Some(Box::new(move || {
        let signature = Signature::from_bytes(signature);
        word(VerificationKey::try_from(*key).is_ok_and(|key| key.verify(&signature, message).is_ok()))
    }))
}

/// A key of 32 bytes, a signature of 64, and the message.
fn parts(input: &[u8]) -> Option<(&[u8; 32], &[u8; 64], &[u8])> {
    let (key, rest) = input.split_first_chunk()?;
    let (signature, message) = rest.split_first_chunk()?;
    Some((key, signature, message))
}

/// The hashes of pairs of elements with circomlib's parameters.
fn poseidon(input: &[u8]) -> Option<Run<'_>> {
    let mut poseidon = Poseidon::<ark_bn254::Fr>::new_circom(2).ok()?;
    Some(Box::new(move || {
        let mut hash = |pair: &[u8]| {
            let pair = [&pair[..32], &pair[32..]].map(ark_bn254::Fr::from_be_bytes_mod_order);
            poseidon.hash(&pair).map_or(Vec::new(), |hash| hash.into_bigint().to_bytes_be())
        };
        input.chunks_exact(64).flat_map(&mut hash).collect()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contract_is_measured_beside_its_library() {
        let rows = measure(&Effort::SMOKE, &mut |_| ()).unwrap();
        for (name, ..) in LIBRARIES {
            let library = format!("{LIBRARY}/{name}");
            for layer in ["eip6690-2024:plain", "eip6690-2024:batch"] {
                let name = format!("{layer}/{name}");
                let is_ratio = |row: &&RecordRow| row.name == name && row.baseline.as_ref() == Some(&library);
                assert!(rows.iter().any(|row| is_ratio(&row)), "{name}");
            }
        }
    }

    /// A library that accepts everything would be no yardstick.
    #[test]
    fn libraries_refuse_what_is_wrong() {
        for (name, _, prepare) in
            LIBRARIES.iter().filter(|(name, ..)| !name.starts_with("hashes") && !name.starts_with("poseidon"))
        {
            let mut input = (find(name).unwrap().example)();
            let good = prepare(&input).unwrap()();
            // Of s, of r, of v, where it is ignored, or of the signature; of a point, which then is on no curve.
            input[50] ^= 1;
            input[70] ^= 1;
            assert_ne!(prepare(&input).unwrap()(), good, "{name}");
        }
    }
}
