//! Published vectors of hashing to curves, and real beacons: RFC 9380's messages are expanded and hashed as it says, and
//! drand's beacons are verified, on numbers and by the contracts under every revision.

use num_bigint::BigUint;
use residue_compiler::compile;
use residue_conformance::vectors;
use residue_contracts::find;
use residue_curves::bls12_381::hash_to_curve::{ELEMENT_BYTES, Message, constant_pieces, constant_tag, hash_to_field};
use residue_engine::{Engine, EngineConfig, Halt, Prepared};
use residue_formula::Number;
use residue_ir::{Machine, Numbers, Piece};
use residue_isa::{GasSchedule, Revision};
use residue_modular::fields::Bls12_381Fp;
use serde::Deserialize;

/// More than any of the vectors takes.
const GAS: u64 = 100_000_000;

/// The contract under every revision, ready to run.
fn compiled(name: &str) -> Vec<(Revision, Prepared)> {
    let program = find(name).unwrap().program();
    let prepare = |&revision: &Revision| {
        let code = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
        (revision, Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code))
    };
    Revision::ALL.iter().map(prepare).collect()
}

#[track_caller]
fn check(compiled: &mut [(Revision, Prepared)], input: &[u8], output: &str, what: &str) {
    for (revision, prepared) in compiled {
        let outcome = prepared.run_without_memory(input, GAS);
        assert_eq!(
            (outcome.halt, hex::encode(outcome.output)),
            (Halt::Return, output.to_owned()),
            "{revision}, {what}"
        );
    }
}

#[derive(Deserialize)]
struct Expansions {
    #[serde(rename = "DST")]
    tag: String,
    tests: Vec<Expansion>,
}

#[derive(Deserialize)]
struct Expansion {
    len_in_bytes: String,
    msg: String,
    #[serde(rename = "DST_prime")]
    dst_prime: String,
    uniform_bytes: String,
}

#[test]
fn messages_are_expanded_as_rfc_9380_says() {
    let Some(folder) = vectors::folder("rfc9380") else { return };
    let mut expansions_checked = 0;
    for file in ["expand_message_xmd_SHA256_38.json", "expand_message_xmd_SHA256_256.json"] {
        let Some(text) = std::fs::read_to_string(folder.join(file)).ok() else { continue };
        let expansions: Expansions = serde_json::from_str(&text).unwrap();
        for case in expansions.tests {
            let machine = Numbers::<Bls12_381Fp>::new(case.msg.clone().into_bytes());
            let size_bytes = usize::from_str_radix(case.len_in_bytes.trim_start_matches("0x"), 16).unwrap();
            if !size_bytes.is_multiple_of(ELEMENT_BYTES.into()) {
                continue; // no whole number of elements
            }
            let offset = machine.small(0);
            let bytes = vec![Piece::Calldata { offset, size_bytes: machine.small(case.msg.len() as u64) }];
            let tag = constant_pieces(&machine, &hex::decode(&case.dst_prime).unwrap());
            if expansions.tag.len() <= 255 {
                assert_eq!(tag, constant_tag(&machine, expansions.tag.as_bytes()));
            }
            let expanded = hex::decode(&case.uniform_bytes).unwrap();
            let expected: Vec<_> = expanded.chunks(ELEMENT_BYTES.into()).map(BigUint::from_bytes_be).collect();
            let elements = hash_to_field(&machine, &Message { bytes, tag }, expected.len());
            for (index, expected) in expected.iter().enumerate() {
                let element = machine.load(elements, machine.small(index as u64)); // usize to u64 widens
                assert_eq!(element.to_canonical(), expected % Bls12_381Fp::modulus(), "{file}, {:?}", case.msg);
            }
            expansions_checked += 1;
        }
    }
    assert!(expansions_checked > 0, "no expansion makes whole elements");
}

#[derive(Deserialize)]
struct Suite {
    dst: String,
    vectors: Vec<Hash>,
}

#[derive(Deserialize)]
struct Hash {
    msg: String,
    #[serde(rename = "P")]
    point: Point,
}

#[derive(Deserialize)]
struct Point {
    x: String,
    y: String,
}

impl Point {
    /// As EIP-2537 has it; the vectors have the parts of an element of Fp2 with a comma between them.
    fn encoded(&self) -> String {
        let elements = [&self.x, &self.y].map(|element| element.split(',').collect::<Vec<_>>()).concat();
        elements.iter().map(|digits| format!("{:0>128}", digits.trim_start_matches("0x"))).collect()
    }
}

#[test]
fn contracts_hash_as_rfc_9380_says() {
    let Some(folder) = vectors::folder("rfc9380") else { return };
    for (file, name) in [
        ("BLS12381G1_XMD_SHA-256_SSWU_RO_.json", "bls12_381/hash_to_g1"),
        ("BLS12381G2_XMD_SHA-256_SSWU_RO_.json", "bls12_381/hash_to_g2"),
    ] {
        let Some(text) = std::fs::read_to_string(folder.join(file)).ok() else { continue };
        let suite: Suite = serde_json::from_str(&text).unwrap();
        let mut compiled = compiled(name);
        for case in &suite.vectors {
            let length = u16::try_from(suite.dst.len()).unwrap().to_be_bytes();
            let input = [&length[..], suite.dst.as_bytes(), case.msg.as_bytes()].concat();
            check(&mut compiled, &input, &case.point.encoded(), &case.msg);
        }
        println!("{file}: {} cases", suite.vectors.len());
    }
}

#[derive(Deserialize)]
struct Beacon {
    network: String,
    scheme: String,
    public_key: String,
    round: u64,
    previous_signature: String,
    signature: String,
    valid: bool,
}

#[test]
fn beacons_of_drand_are_verified() {
    let Some(folder) = vectors::folder("drand") else { return };
    let beacons: Vec<Beacon> = vectors::cases(&folder, "beacons.json").unwrap();
    let mut compiled = compiled("drand/verify");
    for beacon in beacons {
        let Beacon { network, scheme, public_key, previous_signature, signature, .. } = &beacon;
        let bytes = [public_key, signature, previous_signature].map(|digits| hex::decode(digits).unwrap()).concat();
        let input = [bytes, beacon.round.to_be_bytes().to_vec()].concat();
        // This scheme hashes to G1 with the tag of G2: not served, and the contract says so.
        let is_valid = beacon.valid && scheme != "bls-unchained-on-g1";
        check(&mut compiled, &input, &format!("{:064x}", u8::from(is_valid)), network);
        let mut other = input.clone();
        *other.last_mut().unwrap() ^= 1;
        check(&mut compiled, &other, &format!("{:064x}", 0), network);
    }
}
