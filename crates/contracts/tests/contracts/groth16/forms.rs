//! Keys, proofs and inputs in the forms of others: their meaning, and the errors of forms that are not read.

use super::proofs::{Points, gnark_key, gnark_proof, of_random_circuit_on, snarkjs_inputs, snarkjs_key, snarkjs_proof};
use super::{system, with_witness};
use crate::points::Seeded;
use ark_bls12_381::Bls12_381;
use ark_bn254::Bn254;
use residue_contracts::Verifier;
use serde_json::{Value, json};
use std::sync::Arc;

fn verifier(key: &str) -> Arc<dyn Verifier> {
    (system().verifier)(key, with_witness(false)).unwrap()
}

#[track_caller]
fn refused(key: &Value, parts: &[&str]) {
    let error = (system().verifier)(&key.to_string(), with_witness(false)).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
}

/// A decimal number in hexadecimal digits.
fn hexadecimal(value: &Value, prefix: &str) -> Value {
    let number: num_bigint::BigUint = value.as_str().unwrap().parse().unwrap();
    json!(format!("{prefix}{number:064x}"))
}

/// x and y of a point of snarkjs, in hexadecimal digits.
fn pair(point: &Value, prefix: &str) -> Value {
    let coordinate = |value: &Value| match value {
        Value::Array(parts) => parts.iter().map(|part| hexadecimal(part, prefix)).collect(),
        _ => hexadecimal(value, prefix),
    };
    json!([coordinate(&point[0]), coordinate(&point[1])])
}

/// The same as an object.
fn object(point: &Value, prefix: &str) -> Value {
    let pair = pair(point, prefix);
    json!({ "x": pair[0], "y": pair[1] })
}

fn of_all(points: &Value, form: impl Fn(&Value) -> Value) -> Value {
    points.as_array().unwrap().iter().map(form).collect()
}

/// A key of snarkjs in the other forms.
fn keys(key: &Value, curve: &str) -> Vec<(&'static str, Value)> {
    let renamed = |protocol: &str, alpha: &str| {
        let mut key = key.clone();
        let fields = key.as_object_mut().unwrap();
        let point = fields.remove("vk_alpha_1").unwrap();
        fields.insert(alpha.to_owned(), point);
        fields.insert("protocol".to_owned(), json!(protocol));
        key
    };
    let pair = |name: &str| pair(&key[name], "0x");
    let zokrates = json!({
        "scheme": "g16", "curve": curve, "alpha": pair("vk_alpha_1"), "beta": pair("vk_beta_2"), "gamma": pair("vk_gamma_2"),
        "delta": pair("vk_delta_2"), "gamma_abc": of_all(&key["IC"], |point| super::forms::pair(point, "0X")),
    });
    let object = |name: &str| object(&key[name], "0x");
    let garaga = json!({
        "eliptic_curve_id": curve,
        "verifying_key": {
            "alpha_g1": object("vk_alpha_1"), "beta_g2": object("vk_beta_2"), "gamma_g2": object("vk_gamma_2"),
            "delta_g2": object("vk_delta_2"), "ic": of_all(&key["IC"], |point| super::forms::object(point, "0x")),
        },
    });
    let arkworks = json!({
        "alpha_g1": object("vk_alpha_1"), "beta_g2": object("vk_beta_2"), "gamma_g2": object("vk_gamma_2"),
        "delta_g2": object("vk_delta_2"), "gamma_abc_g1": of_all(&key["IC"], |point| super::forms::object(point, "0x")),
    });
    vec![
        ("snarkjs before 0.4", renamed("groth", "vk_alfa_1")),
        ("protocol groth", renamed("groth", "vk_alpha_1")),
        ("vk_alfa_1", renamed("groth16", "vk_alfa_1")),
        ("ZoKrates", zokrates),
        ("garaga", garaga),
        ("names of arkworks", arkworks),
    ]
}

fn forms_of<E: Points>(curves: &[&str]) {
    let (key, proof, inputs) = of_random_circuit_on::<E>(&mut Seeded(40), 2);
    let (plain, plain_proof, list) = (snarkjs_key(&key), snarkjs_proof(&proof), snarkjs_inputs(&inputs));
    let expected = verifier(&plain.to_string());
    let program = expected.program();
    let call = expected.call(&plain_proof.to_string(), &list.to_string()).unwrap();
    let mut keys = keys(&plain, curves[0]);
    keys.push(("gnark", gnark_key(&key)));
    for curve in curves {
        let mut key = plain.clone();
        key["curve"] = json!(curve);
        keys.push(("another name of the curve", key));
    }
    for (form, key) in keys {
        assert!(verifier(&key.to_string()).program() == program, "{form}: {key}");
    }
    let marked = format!("\u{feff}{plain}");
    assert!(verifier(&marked).program() == program, "a byte order mark");

    let part = |name: &str| pair(&plain_proof[name], "0X");
    let object = |name: &str| object(&plain_proof[name], "0x");
    let hexadecimal_list: Value = of_all(&list, |input| hexadecimal(input, "0x"));
    let zokrates = json!({
        "scheme": "g16", "curve": curves[0], "inputs": hexadecimal_list,
        "proof": { "a": part("pi_a"), "b": part("pi_b"), "c": part("pi_c") },
    });
    let garaga = json!({
        "elliptic_curve_id": curves[0], "public_inputs": hexadecimal_list,
        "proof": { "a": object("pi_a"), "b": object("pi_b"), "c": object("pi_c") },
    });
    let mut old = plain_proof.clone();
    old["protocol"] = json!("groth");
    let full = json!({ "proof": plain_proof, "publicSignals": list });
    for (form, proof, inputs) in [
        ("ZoKrates", &zokrates, &zokrates),
        ("garaga", &garaga, &garaga),
        ("fullProve", &full, &full),
        ("fullProve with a list", &full, &list),
        ("snarkjs before 0.4", &old, &list),
        ("gnark", &gnark_proof(&proof), &list),
    ] {
        assert_eq!(expected.call(&proof.to_string(), &inputs.to_string()).unwrap(), call, "{form}");
    }
    let marked = |value: &Value| format!("\u{feff}{value}");
    assert_eq!(expected.call(&marked(&plain_proof), &marked(&list)).unwrap(), call, "byte order marks");
}

#[test]
fn every_form_of_a_key_and_a_proof_means_the_same() {
    forms_of::<Bn254>(&["bn128", "BN254", "bn-254", "alt_bn128", "ALT-BN128", "altbn128", "bn256"]);
    forms_of::<Bls12_381>(&["bls12_381", "BLS12-381", "bls12381"]);
}

#[test]
fn forms_that_are_not_read_are_named() {
    let (key, proof, inputs) = of_random_circuit_on::<Bn254>(&mut Seeded(41), 1);
    let plain = snarkjs_key(&key);
    let with = |name: &str, value: Value| {
        let mut key = plain.clone();
        key[name] = value;
        key
    };
    refused(&with("vk_alfa_1", plain["vk_alpha_1"].clone()), &["vk_alpha_1 and vk_alfa_1", "one form is wanted"]);
    refused(&with("protocol", json!("fflonk")), &["protocol is \"fflonk\", and not \"groth16\""]);
    refused(&with("curve", json!("bw6_761")), &["curve is \"bw6_761\""]);
    refused(&json!({ "scheme": "gm17", "curve": "bn128", "h": [] }), &["scheme is \"gm17\", and not \"g16\""]);
    let full = json!({ "proof": snarkjs_proof(&proof), "publicSignals": snarkjs_inputs(&inputs) });
    refused(
        &full,
        &["the file has proof, publicSignals, and no field of a key", "vk_alpha_1 (snarkjs)", "alpha (ZoKrates)"],
    );
    let call = |proof: &Value, inputs: &Value| {
        verifier(&plain.to_string()).call(&proof.to_string(), &inputs.to_string()).unwrap_err().to_string()
    };
    let by_name = call(&full, &json!({ "Y": 35 }));
    assert!(by_name.contains("the inputs: the file is an object, and not a list of inputs"), "{by_name}");
    assert!(call(&full, &json!({ "publicSignals": 7 })).contains("publicSignals is 7, and not a list of inputs"));
    assert!(call(&full, &json!({ "inputs": ["1", "2"] })).contains("inputs is a list of 2"));
    assert!(call(&plain, &json!(["1"])).contains("the proof: pi_a is missing"));
}

#[test]
fn coefficients_in_the_order_of_calldata_are_recognised() {
    fn exchanged(key: &mut Value, pointer: &str) {
        key.pointer_mut(pointer).unwrap().as_array_mut().unwrap().swap(0, 1);
    }
    let (bn, _, _) = of_random_circuit_on::<Bn254>(&mut Seeded(42), 1);
    let (bls, _, _) = of_random_circuit_on::<Bls12_381>(&mut Seeded(43), 1);
    for key in [snarkjs_key(&bn), snarkjs_key(&bls)] {
        for field in ["vk_beta_2", "vk_gamma_2", "vk_delta_2"] {
            let mut key = key.clone();
            exchanged(&mut key, &format!("/{field}/0"));
            exchanged(&mut key, &format!("/{field}/1"));
            refused(
                &key,
                &[field, "is not on the curve", "parts of each coordinate exchanged it is", "EIP-197", "digits)"],
            );
            // Of one coordinate alone it is another point off the curve.
            exchanged(&mut key, &format!("/{field}/1"));
            let error = (system().verifier)(&key.to_string(), with_witness(false)).unwrap_err().to_string();
            assert!(error.contains("is not on the curve") && !error.contains("EIP-197"), "{error}");
        }
        let mut key = key.clone();
        key["IC"][1].as_array_mut().unwrap().swap(0, 1);
        refused(&key, &["IC[1] is not on the curve", "with x and y exchanged it is"]);
    }
}

#[test]
fn keys_and_proofs_with_commitments_are_refused_and_the_empty_ones_of_every_version_taken() {
    let (key, proof, inputs) = of_random_circuit_on::<Bn254>(&mut Seeded(44), 2);
    let mut plain = gnark_key(&key);
    for name in ["CommitmentKeys", "PublicAndCommitmentCommitted"] {
        plain.as_object_mut().unwrap().remove(name);
    }
    let with = |fields: &[(&str, Value)]| {
        let mut key = plain.clone();
        fields.iter().for_each(|(name, value)| key[*name] = value.clone());
        key
    };
    let point = plain["G2"]["Beta"].clone();
    let zero = json!({ "X": { "A0": 0, "A1": 0 }, "Y": { "A0": "0", "A1": 0 } });
    let committed = json!({ "G": point, "GRootSigmaNeg": point });
    let info = |committed: Value| {
        json!({
            "Committed": committed, "NbPrivateCommitted": 0, "HintID": 0, "CommitmentIndex": 0, "CommittedAndCommitment": null,
        })
    };
    for taken in [
        with(&[]),
        // 0.8
        with(&[("CommitmentKey", json!({ "G": zero, "GRootSigmaNeg": zero })), ("CommitmentInfo", info(json!(null)))]),
        // 0.9 and 0.10 write a key of their own without any commitment.
        with(&[("CommitmentKey", committed.clone()), ("PublicAndCommitmentCommitted", json!([]))]),
        with(&[("CommitmentKey", committed.clone()), ("PublicAndCommitmentCommitted", json!(null))]),
        // From 0.11 on.
        with(&[("CommitmentKeys", json!([])), ("PublicAndCommitmentCommitted", json!([]))]),
        with(&[("CommitmentKeys", json!(null)), ("PublicAndCommitmentCommitted", json!([]))]),
    ] {
        verifier(&taken.to_string());
    }
    let another_check = "circuits with commitments have another check";
    refused(&with(&[("CommitmentKey", committed.clone())]), &["CommitmentKey is an object", another_check]);
    refused(&with(&[("CommitmentInfo", info(json!([1, 2])))]), &["CommitmentInfo is an object", another_check]);
    refused(
        &with(&[("CommitmentKey", committed.clone()), ("CommitmentInfo", info(json!([1])))]),
        &["CommitmentInfo is an object", another_check],
    );
    refused(
        &with(&[("CommitmentKey", committed.clone()), ("PublicAndCommitmentCommitted", json!([[]]))]),
        &["PublicAndCommitmentCommitted is a list of 1", another_check],
    );
    refused(&with(&[("CommitmentKeys", json!([committed]))]), &["CommitmentKeys is a list of 1", another_check]);

    let verifier = verifier(&plain.to_string());
    let call = |fields: &[(&str, Value)]| {
        let mut proof = gnark_proof(&proof);
        fields.iter().for_each(|(name, value)| proof[*name] = value.clone());
        verifier.call(&proof.to_string(), &snarkjs_inputs(&inputs).to_string()).map_err(|error| error.to_string())
    };
    let none = json!({ "X": 0, "Y": 0 });
    let some = gnark_proof(&proof)["Ar"].clone();
    let plain = call(&[]).unwrap();
    assert_eq!(call(&[("Commitments", json!(null)), ("CommitmentPok", none.clone())]).unwrap(), plain);
    assert_eq!(call(&[("Commitments", json!([])), ("Commitment", none)]).unwrap(), plain);
    let without = "the key is of a circuit without commitments";
    for (name, value, shown) in [
        ("Commitments", json!([some]), "Commitments is a list of 1"),
        ("Commitment", some.clone(), "Commitment is an object"),
        ("CommitmentPok", some.clone(), "CommitmentPok is an object"),
    ] {
        let error = call(&[(name, value)]).unwrap_err();
        assert!(error.contains(shown) && error.contains(without), "{error}");
    }
}
