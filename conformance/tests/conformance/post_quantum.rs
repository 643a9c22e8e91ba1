//! Signatures of other programs, which stand beside the vectors in `../shared/prototype/pq`.

use residue_compiler::compile;
use residue_conformance::vectors;
use residue_contracts::falcon512::signer::{Signed, transformed};
use residue_contracts::falcon512::{Hash, S2_BYTES};
use residue_contracts::find;
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
    let [eth, register] = ["falcon512/eth", "falcon512/eth_register"].map(code);
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
