//! Keys and proofs from outside: both forms of JSON, and refusals by field and value.

use super::proofs::{Trapdoor, gnark_key, gnark_proof, snarkjs_inputs, snarkjs_key, snarkjs_proof};
use crate::bn254::points;
use crate::points::Seeded;
use ark_bn254::Fr;
use num_bigint::BigUint;
use residue_contracts::groth16::Key;
use residue_contracts::groth16::json::{self, KeyFile};
use residue_contracts::{KeyError, Source, groth16};
use residue_curves::bn254::Bn254;
use residue_modular::fields::Bn254Fp;
use serde_json::{Value, json};

type Verifier = groth16::Verifier<Bn254>;

fn key(text: &str) -> Result<Key<Bn254Fp, Bn254>, KeyError> {
    KeyFile::new(text)?.key()
}

fn trapdoor() -> Trapdoor {
    Trapdoor::random(&mut Seeded(30), 2)
}

#[track_caller]
fn refused(key_json: &Value, parts: &[&str]) {
    let error = key(&key_json.to_string()).map(|_| ()).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
}

#[test]
fn both_forms_of_a_key_give_the_same_verifier() {
    let mut trapdoor = trapdoor();
    for ic in [trapdoor.ic[2], Fr::from(0u64), Fr::from(1u64), -Fr::from(1u64)] {
        trapdoor.ic[2] = ic;
        let ark = trapdoor.key();
        let [snarkjs, gnark] = [snarkjs_key(&ark), gnark_key(&ark)].map(|text| {
            let key = KeyFile::new(&text.to_string()).unwrap().any_key().unwrap();
            Verifier::new(key, false).program_with(Default::default())
        });
        assert!(snarkjs == gnark, "{ic}");
    }
    let inputs = [Fr::from(2u64), Fr::from(3u64)];
    for [a, b] in [[5u64, 6], [1, 1], [0, 1]] {
        let proof = trapdoor.proof(&inputs, a.into(), b.into());
        let key = KeyFile::new(&snarkjs_key(&trapdoor.key()).to_string()).unwrap().any_key().unwrap();
        let verifier = Verifier::new(key, false);
        let inputs = json::inputs(&snarkjs_inputs(&inputs).to_string(), 2).unwrap();
        let [snarkjs, gnark] = [snarkjs_proof(&proof), gnark_proof(&proof)]
            .map(|text| verifier.calldata(&json::proof(&text.to_string()).unwrap(), &inputs));
        assert_eq!(snarkjs, gnark);
    }
}

#[test]
fn keys_may_have_points_without_z_and_hexadecimal_numbers() {
    let ark = trapdoor().key();
    let plain = snarkjs_key(&ark);
    let mut other = plain.clone();
    let hexadecimal = |value: &Value| {
        let number: BigUint = value.as_str().unwrap().parse().unwrap();
        json!(format!("0x{number:x}"))
    };
    other["vk_alpha_1"] = json!([hexadecimal(&plain["vk_alpha_1"][0]), plain["vk_alpha_1"][1], "1"]);
    other["nPublic"] = json!("2");
    let [plain, other] = [plain, other]
        .map(|text| Verifier::new(key(&text.to_string()).unwrap(), false).program_with(Default::default()));
    assert!(plain == other);
}

#[test]
fn what_is_wrong_with_a_key_is_said_by_field_and_value() {
    let good = snarkjs_key(&trapdoor().key());
    let with = |pointer: &str, value: Value| {
        let mut key = good.clone();
        *key.pointer_mut(pointer).unwrap() = value;
        key
    };
    let without = |field: &str| {
        let mut key = good.clone();
        key.as_object_mut().unwrap().remove(field);
        key
    };
    let error = key("{").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("it is not JSON") && error.contains("line 1"), "{error}");
    let twice = good.to_string().replacen('{', "{\"IC\": [],", 1);
    let error = key(&twice).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("the field \"IC\" is there twice at line 1"), "{error}");
    refused(&json!([]), &["the file is a list of 0", "an object"]);
    refused(&json!({}), &["no fields", "vk_alpha_1 (snarkjs)", "G1.Alpha (gnark)", "verifying_key.alpha_g1 (garaga)"]);
    refused(
        &json!({ "pi_a": [], "pi_b": [] }),
        &["the file has pi_a, pi_b, and no field of a key: vk_alpha_1 (snarkjs)"],
    );
    for field in ["vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2", "IC"] {
        refused(&without(field), &[field, "missing"]);
        refused(&with(&format!("/{field}"), json!("7")), &[field, "\"7\""]);
    }
    refused(&with("/protocol", json!("plonk")), &["protocol is \"plonk\"", "groth16"]);
    refused(&with("/nPublic", json!(3)), &["nPublic is 3", "one less than the points of IC"]);
    refused(&with("/nPublic", json!(-2)), &["nPublic is -2"]);
    refused(&with("/IC", json!([])), &["IC is a list of 0"]);
    refused(&with("/IC/1/0", json!("12a")), &["IC[1][0] is \"12a\"", "a decimal number"]);
    refused(&with("/IC/1/0", json!("")), &["IC[1][0] is \"\""]);
    refused(&with("/IC/1/0", json!(1.5)), &["IC[1][0] is 1.5"]);
    refused(&with("/IC/1/0", json!(null)), &["IC[1][0] is null"]);
    refused(&with("/IC/1/2", json!("2")), &["IC[1][2] is \"2\"", "1 or 0 as z"]);
    refused(&with("/vk_beta_2/2", json!(["1", "1"])), &["vk_beta_2[2] is a list of 2", "1 or 0 as z"]);
    refused(&with("/vk_beta_2/1", json!(["1"])), &["vk_beta_2[1] is a list of 1", "two numbers"]);
    refused(&with("/vk_alpha_1", json!(["1"])), &["vk_alpha_1 is a list of 1", "x, y and z"]);
    refused(&with("/vk_alpha_1", json!(["1", "2", "1", "1"])), &["vk_alpha_1 is a list of 4", "x, y and z"]);
    refused(&with("/vk_alpha_1/0", json!("-1")), &["vk_alpha_1[0] is \"-1\"", "not negative"]);
    refused(&with("/vk_alpha_1/0", json!("9".repeat(2000))), &["vk_alpha_1[0] is \"99", "of 2000 characters"]);
    let p = points::p().to_string();
    let cut = format!("{}…{} (77 digits)", &p[..8], &p[69..]);
    refused(&with("/vk_gamma_2/0/1", json!(p)), &["vk_gamma_2[0][1] is", &cut, "not below p ="]);
    refused(&with("/IC/2/1", json!("1")), &["IC[2] is not on the curve", "y is 1"]);
    refused(&with("/vk_alpha_1/0", json!("1")), &["vk_alpha_1 is not on the curve: x is 1,"]);
    refused(&with("/vk_delta_2/0/0", json!("4")), &["vk_delta_2 is not on the curve: x is 4 +"]);
    let outside = points::twist_point(&mut Seeded(31));
    let text = |value: ark_bn254::Fq| BigUint::from(value).to_string();
    let outside =
        json!([[text(outside.x.c0), text(outside.x.c1)], [text(outside.y.c0), text(outside.y.c1)], ["1", "0"]]);
    refused(&with("/vk_gamma_2", outside), &["vk_gamma_2 is on the curve and not in the subgroup"]);
    refused(&with("/vk_alpha_1", json!(["0", "1", "0"])), &["vk_alpha_1 is the identity"]);
    for field in ["vk_beta_2", "vk_gamma_2", "vk_delta_2"] {
        let identity = json!([["0", "0"], ["1", "0"], ["0", "0"]]);
        refused(&with(&format!("/{field}"), identity), &[field, "is the identity"]);
    }
    let gnark = gnark_key(&trapdoor().key());
    let with = |pointer: &str, value: Value| {
        let mut key = gnark.clone();
        *key.pointer_mut(pointer).unwrap() = value;
        key
    };
    refused(&with("/CommitmentKeys", json!([{ "G": "1" }])), &["CommitmentKeys is a list of 1", "commitments"]);
    refused(&with("/CommitmentKeys", json!(5)), &["CommitmentKeys is 5", "commitments"]);
    refused(&with("/G1/K/0/X", json!("x")), &["G1.K[0].X is \"x\""]);
    refused(&with("/G2/Beta/Y/A1", json!({})), &["G2.Beta.Y.A1 is an object"]);
    refused(&with("/G2/Gamma", json!({ "X": { "A0": 1, "A1": 0 } })), &["G2.Gamma.Y.A0 is missing"]);
}

#[test]
fn what_is_wrong_with_a_proof_or_its_inputs_is_said_by_field_and_value() {
    let trapdoor = trapdoor();
    let inputs = [Fr::from(2u64), Fr::from(3u64)];
    let good = snarkjs_proof(&trapdoor.proof(&inputs, 5.into(), 6.into()));
    let refused = |pointer: &str, value: Value, parts: &[&str]| {
        let mut proof = good.clone();
        *proof.pointer_mut(pointer).unwrap() = value;
        let error = json::proof::<Bn254>(&proof.to_string()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    refused("/pi_a", json!("1"), &["pi_a is \"1\"", "a point"]);
    refused("/pi_a", json!(["2"]), &["pi_a is a list of 1", "x, y and z"]);
    refused("/protocol", json!("plonk"), &["protocol is \"plonk\"", "groth16"]);
    refused("/curve", json!("bls12381"), &["curve is \"bls12381\"", "the curve of the key"]);
    refused("/pi_b/1/0", json!("-"), &["pi_b[1][0] is \"-\""]);
    refused("/pi_c/1", json!(points::p().to_string()), &["pi_c[1]", "not below p"]);
    let refused = |text: &str, parts: &[&str]| {
        let error = json::inputs(text, 2).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    refused("{}", &["the file is an object", "a list of inputs"]);
    refused("[\"1\"]", &["the file is a list of 1", "as many inputs as the key has"]);
    refused("[\"1\", \"-1\"]", &["[1] is \"-1\"", "not negative"]);
    let large = format!("[\"1\", \"{}\"]", BigUint::from(1u32) << 256u32);
    refused(&large, &["[1] is 1157", "not below 2²⁵⁶"]);
    assert_eq!(json::inputs("[1, \"0x10\"]", 2).unwrap(), [1u32.into(), 16u32.into()]);
}
