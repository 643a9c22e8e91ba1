//! Signatures of other programs, which stand beside the vectors in `../shared/prototype/pq`.

use residue_compiler::compile;
use residue_conformance::vectors;
use residue_contracts::falcon512::signer::{Signed, transformed};
use residue_contracts::falcon512::{Hash, S2_BYTES};
use residue_contracts::find;
use residue_contracts::mldsa;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use serde::Deserialize;

/// The file has a key, a message and a signature, each in a line that begins with its name.
fn check(file: &str, names: &[&str]) {
    let Some(folder) = vectors::folder("../prototype/pq") else { return };
    let path = folder.join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no signature at {}", path.display());
        return;
    };
    let part = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        hex::decode(line.trim()).unwrap()
    };
    let calldata = ["public", "message", "signature"].map(part).concat();
    for name in names {
        for revision in [Revision::Evm, Revision::Eip6690_2024] {
            let program = find(name).unwrap().program();
            let code = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            let answer = |calldata: &[u8]| {
                let outcome = engine.run_code(&code, calldata, 1_000_000);
                assert_eq!(outcome.halt, Halt::Return, "{name}, {revision}");
                outcome.output
            };
            assert_eq!(answer(&calldata)[31], 1, "{name}, {revision}");
            let mut spoiled = calldata.clone();
            spoiled[100] ^= 1;
            assert_eq!(answer(&spoiled), [0; 32], "{name}, {revision}");
        }
    }
}

#[test]
fn a_signature_of_c13() {
    check("c13.txt", &["sphincs/c13", "sphincs/c13_rolled"]);
}

#[test]
fn a_signature_of_slh_dsa() {
    check("slh_sha2_128_24.txt", &["slh_dsa/sha2_128_24", "slh_dsa/sha2_128_24_rolled"]);
}

/// A vector of EIP-8052, as NIST's files have them.
#[derive(Deserialize)]
struct Falcon {
    mlen: usize,
    msg: String,
    pk: String,
    /// Two bytes of a length, the salt, the message, a header, s₂.
    sm: String,
}

/// A key as it is published: a header and 512 numbers of 14 bits.
fn published(key: &[u8]) -> Vec<u64> {
    let digits: String = key[1..].iter().map(|byte| format!("{byte:08b}")).collect();
    (0..512).map(|at| u64::from_str_radix(&digits[14 * at..14 * at + 14], 2).unwrap()).collect()
}

impl Falcon {
    fn signed(&self) -> Signed {
        let [message, key, bytes] = [&self.msg, &self.pk, &self.sm].map(|text| hex::decode(text).unwrap());
        let key = published(&key);
        let after = 42 + self.mlen;
        assert!(bytes[42..after] == message && bytes[after] == 0x29);
        Signed { hash: Hash::Keccak, key, message, salt: bytes[2..42].to_vec(), s2: bytes[after + 1..].to_vec() }
    }
}

/// All of them, each with a turned bit in the message, the salt and s₂ as well. The transformed key is what registration makes of the published one.
#[test]
fn vectors_of_eip_8052() {
    let Some(folder) = vectors::folder("falcon") else { return };
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let code = |name: &str| {
        let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
        compile(&find(name).unwrap().program(), Revision::Evm, &schedule).unwrap().code
    };
    let [eth, of_numbers, register] = ["falcon512/eth", "falcon512/eth_numbers", "falcon512/eth_register"].map(code);
    let cases: Vec<Falcon> = vectors::cases(&folder, "ethfalcon_512.json").unwrap();
    let (mut sum, mut most) = (0, 0);
    for (number, case) in cases.iter().enumerate() {
        let signed = case.signed();
        let key = engine.run_code(&register, &hex::decode(&case.pk).unwrap()[1..], 1_000_000).output;
        assert_eq!(key, transformed(&signed.key), "{number}");
        let calldata = signed.calldata();
        assert_eq!(calldata[32..2_080], key);
        let outcome = engine.run_code(&eth, &calldata, 1_000_000);
        assert_eq!((outcome.halt, outcome.output[31]), (Halt::Return, 1), "{number}");
        (sum, most) = (sum + outcome.gas_used, most.max(outcome.gas_used));
        let outcome = engine.run_code(&of_numbers, &signed.calldata_of_numbers(), 1_000_000);
        assert!(outcome.output[31] == 1 && outcome.gas_used <= 93_500, "{number}: {}", outcome.gas_used);
        let message = 2_080 + signed.message.len();
        for at in [2_080, message, message + 39, message + 40, message + 340, calldata.len() - 1] {
            let mut spoiled = calldata.clone();
            spoiled[at] ^= 1;
            assert_eq!(engine.run_code(&eth, &spoiled, 1_000_000).output, [0; 32], "{number}, byte {at}");
        }
    }
    println!("{} vectors, {} gas on average, {most} at most", cases.len(), sum / cases.len() as u64);
    assert!(!cases.is_empty() && sum <= 126_000 * cases.len() as u64 && most <= 128_000, "{sum}, {most}");
}

/// Vectors of EIP-8052 for Falcon itself, in two files.
#[derive(Deserialize)]
struct Point {
    mlen: usize,
    msg: String,
    salt: String,
}

#[derive(Deserialize)]
struct Core {
    pk: String,
    /// The message, a header, and s₂ without the zeros after it.
    s2: String,
}

#[test]
fn vectors_of_falcon() {
    let Some(folder) = vectors::folder("falcon") else { return };
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    let code = compile(&find("falcon512/shake").unwrap().program(), Revision::Evm, &schedule).unwrap().code;
    let points: Vec<Point> = vectors::cases(&folder, "hash_to_point_512.json").unwrap();
    let cores: Vec<Core> = vectors::cases(&folder, "falcon_core_512.json").unwrap();
    assert!(points.len() == cores.len() && !points.is_empty());
    for (number, (point, core)) in points.iter().zip(&cores).enumerate() {
        let [message, salt, key, bytes] =
            [&point.msg, &point.salt, &core.pk, &core.s2].map(|text| hex::decode(text).unwrap());
        assert!(bytes[..point.mlen] == message && bytes[point.mlen] == 0x29, "{number}");
        let mut s2 = bytes[point.mlen + 1..].to_vec();
        s2.resize(S2_BYTES, 0);
        let signed = Signed { hash: Hash::Shake, key: published(&key), message, salt, s2 };
        let calldata = signed.calldata();
        let outcome = engine.run_code(&code, &calldata, 1_000_000);
        assert_eq!((outcome.halt, outcome.output[31]), (Halt::Return, 1), "{number}");
        for at in [2_080, 2_120, calldata.len() - 625, calldata.len() - 300] {
            let mut spoiled = calldata.clone();
            spoiled[at] ^= 1;
            assert_eq!(engine.run_code(&code, &spoiled, 1_000_000).output, [0; 32], "{number}, byte {at}");
        }
    }
}

/// A vector of EIP-8051, as NIST's files have them.
#[derive(Deserialize)]
struct Lattice {
    msg: String,
    pk: String,
    /// The signature and the message.
    sm: String,
}

/// A case of Wycheproof.
#[derive(Deserialize)]
struct Wycheproof {
    #[serde(rename = "tcId")]
    number: u32,
    pk: String,
    msg: String,
    ctx: String,
    sig: String,
    result: String,
}

/// `mldsa44/eth` or `mldsa44/fips`, and what registers keys for it.
struct MlDsa {
    hash: mldsa::Hash,
    engine: Engine,
    code: [Vec<u8>; 2],
}

impl MlDsa {
    fn new(hash: mldsa::Hash) -> Self {
        let names = match hash {
            mldsa::Hash::Keccak => ["mldsa44/eth", "mldsa44/eth_register"],
            mldsa::Hash::Shake => ["mldsa44/fips", "mldsa44/register"],
        };
        let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
        let code = names.map(|name| compile(&find(name).unwrap().program(), Revision::Evm, &schedule).unwrap().code);
        Self { hash, engine: Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap(), code }
    }

    /// The answer, by the key that is registered for the published one, and gas.
    fn answer(&self, key: &[u8], message: Vec<u8>, signature: Vec<u8>) -> (bool, u64) {
        let transformed = self.engine.run_code(&self.code[1], key, 10_000_000);
        assert_eq!(transformed.halt, Halt::Return);
        let (scheme, hash) = (mldsa::ML_DSA_44, self.hash);
        let signed = mldsa::signer::Signed { scheme, hash, key: key.to_vec(), message, signature };
        let outcome = self.engine.run_code(&self.code[0], &signed.calldata_for(&transformed.output), 10_000_000);
        assert_eq!(outcome.halt, Halt::Return);
        let is_valid = outcome.output[31] == 1;
        assert_eq!(signed.is_valid(), is_valid);
        (is_valid, outcome.gas_used)
    }
}

/// All of them, each with turned bits as well.
#[test]
fn vectors_of_eip_8051() {
    let Some(folder) = vectors::folder("mldsa") else { return };
    for (file, hash) in [("mldsa_44_eth.json", mldsa::Hash::Keccak), ("mldsa_44_nist.json", mldsa::Hash::Shake)] {
        let contract = MlDsa::new(hash);
        let cases: Vec<Lattice> = vectors::cases(&folder, file).unwrap();
        assert!(!cases.is_empty());
        let mut most = 0;
        for (number, case) in cases.iter().enumerate() {
            let [message, key, bytes] = [&case.msg, &case.pk, &case.sm].map(|text| hex::decode(text).unwrap());
            let (signature, after) = bytes.split_at(mldsa::ML_DSA_44.signature_bytes());
            assert_eq!(after, message);
            let message = [&[0, 0], &message[..]].concat();
            let (is_valid, gas) = contract.answer(&key, message.clone(), signature.to_vec());
            assert!(is_valid, "{file}, {number}");
            most = most.max(gas);
            if number == 0 {
                let mut key = key.clone();
                key[31] ^= 4;
                assert!(!contract.answer(&key, message.clone(), signature.to_vec()).0, "{file}, {number}");
            }
            let mut other = message.clone();
            other[2] ^= 1;
            assert!(!contract.answer(&key, other, signature.to_vec()).0, "{file}, {number}");
            for at in [0, 31, 32, 1_000, 2_335, 2_336, 2_419] {
                let mut spoiled = signature.to_vec();
                spoiled[at] ^= 1;
                assert!(!contract.answer(&key, message.clone(), spoiled).0, "{file}, {number}, byte {at}");
            }
        }
        println!("{file}: {} vectors, {most} gas at most", cases.len());
    }
}

/// All whose context has a length that fits a byte: calldata says no other.
#[test]
fn wycheproof_of_ml_dsa() {
    let Some(folder) = vectors::folder("mldsa") else { return };
    let contract = MlDsa::new(mldsa::Hash::Shake);
    let cases: Vec<Wycheproof> = vectors::cases(&folder, "wycheproof_44.json").unwrap();
    let mut counts = [0; 2];
    for case in &cases {
        let [key, message, context, signature] =
            [&case.pk, &case.msg, &case.ctx, &case.sig].map(|text| hex::decode(text).unwrap());
        let Ok(size) = u8::try_from(context.len()) else {
            assert_eq!(case.result, "invalid", "case {}", case.number);
            continue;
        };
        let size = [size];
        let message = [&[0], &size[..], &context, &message].concat();
        let (is_valid, _) = contract.answer(&key, message, signature);
        assert_eq!(is_valid, case.result == "valid", "case {}", case.number);
        counts[usize::from(is_valid)] += 1;
    }
    println!("{counts:?} cases are refused and accepted");
    assert!(counts.iter().all(|&count| count > 0));
}
