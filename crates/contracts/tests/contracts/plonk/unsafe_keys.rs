//! Keys for which proofs can be made up, or none can hold, are refused; if one is taken all the same whose τ is known, proofs hold that are made of points that anybody has.

use super::judge::{EVALUATIONS_AT, INPUTS_AT, scalars, word};
use super::{GAS, Trapdoor, verifier};
use crate::bn254::points;
use crate::by_precompiles::by_precompiles;
use crate::groth16::proofs::fr;
use crate::points::Seeded;
use ark_bn254::{Fr, G1Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{FftField, Field, Zero};
use num_bigint::BigUint;
use residue_contracts::plonk::key;
use residue_engine::{Fork, Halt};
use serde_json::{Value, json};

#[track_caller]
fn refused(json: &Value, parts: &[&str]) {
    let error = key::key(&json.to_string()).expect_err(parts[0]).to_string();
    for part in parts {
        assert!(error.starts_with("the key is unsafe: ") && error.contains(part), "{part:?} is not in {error:?}");
    }
    key::any_key(&json.to_string()).unwrap();
}

/// The points of a key in JSON, Qm to S3.
fn points_of(json: &Value) -> Vec<G1Affine> {
    let number = |value: &Value| value.as_str().unwrap().parse::<BigUint>().unwrap();
    let names = ["Qm", "Ql", "Qr", "Qo", "Qc", "S1", "S2", "S3"];
    let point = |name: &str| G1Affine::new(number(&json[name][0]).into(), number(&json[name][1]).into());
    names.into_iter().map(point).collect()
}

/// A call that holds for a key with this τ, made of its points alone: W is what the sum needs, W′ the identity, and Z = z·G.
fn forged(json: &Value, tau: Fr, seeded: &mut Seeded) -> Vec<u8> {
    let key = key::any_key(&json.to_string()).unwrap();
    let encoded = |point: ark_bn254::G1Projective| points::encode1(point.into_affine());
    let mut call = residue_contracts::Verifier::call(
        &*verifier(json),
        &json!({
            "A": ["0", "1", "0"], "B": ["0", "1", "0"], "C": ["0", "1", "0"], "Z": ["0", "1", "0"], "T1": ["0", "1", "0"],
            "T2": ["0", "1", "0"], "T3": ["0", "1", "0"], "Wxi": ["0", "1", "0"], "Wxiw": ["0", "1", "0"],
            "eval_a": "0", "eval_b": "0", "eval_c": "0", "eval_s1": "0", "eval_s2": "0", "eval_zw": "0",
        })
        .to_string(),
        &json!(vec!["0"; key.inputs]).to_string(),
    )
    .unwrap();
    for at in (EVALUATIONS_AT..INPUTS_AT + 32 * key.inputs).step_by(32) {
        call[at..at + 32].copy_from_slice(&word(fr::<Fr>(seeded)));
    }
    let zw = Fr::from(BigUint::from_bytes_be(&call[EVALUATIONS_AT + 160..][..32]));
    let z = G1Affine::generator() * zw;
    call[4 + 3 * 64..][..64].copy_from_slice(&encoded(z));
    let s = scalars(&key, &call);
    let of_key =
        points_of(json).into_iter().zip(s.of_key).map(|(point, by)| point * by).sum::<ark_bn254::G1Projective>();
    let sum = of_key + G1Affine::generator() * s.of_key[8] + z * s.of_proof[3];
    let w = sum * (tau - s.xi).inverse().unwrap();
    call[4 + 7 * 64..][..64].copy_from_slice(&encoded(w));
    call
}

fn holds(json: &Value, call: &[u8]) -> bool {
    let mut prepared = by_precompiles(&verifier(json).program(), Fork::Cancun).unwrap().0;
    let outcome = prepared.run_without_memory(call, GAS);
    assert_eq!((outcome.halt, outcome.output.len()), (Halt::Return, 32));
    outcome.output[31] == 1
}

#[test]
fn keys_whose_tau_is_known_are_refused() {
    let mut seeded = Seeded(366);
    let omega: Fr = Fr::get_root_of_unity(1 << 5).unwrap();
    let of_eleven: Fr = Fr::get_root_of_unity(1 << 11).unwrap();
    let root_of_three = {
        let third: BigUint = BigUint::from(-Fr::from(1u64)) / 3u32;
        Fr::from(5u64).pow(third.to_u64_digits())
    };
    let generator = "the generator of G2: τ is known";
    for (tau, power, parts) in [
        (Fr::from(1u64), 5, ["X_2 is the generator", generator]),
        (-Fr::from(1u64), 5, ["X_2 is minus the generator", generator]),
        (Fr::from(2u64), 5, ["X_2 is a known multiple of", generator]),
        (-Fr::from(12_345u64), 5, ["X_2 is a known multiple of", generator]),
        (Fr::from(65_535u64), 5, ["X_2 is a known multiple of", generator]),
        (root_of_three, 5, ["X_2 is a known multiple of", generator]),
        (omega, 5, ["X_2 is a root of unity", "τ is known"]),
        (omega.pow([21u64]), 5, ["X_2 is a root of unity", "τ is known"]),
        (of_eleven.inverse().unwrap(), 11, ["X_2 is a root of unity", "τ is known"]),
        (of_eleven.pow([8u64]), 11, ["X_2 is a root of unity", "τ is known"]),
        (of_eleven.pow([17 * 32u64]), 11, ["X_2 is a root of unity", "τ is known"]),
    ] {
        let trapdoor = Trapdoor { x: tau, power, ..Trapdoor::random(&mut seeded, 1) };
        let json = trapdoor.json();
        refused(&json, &parts);
        let call = forged(&json, tau, &mut seeded);
        assert!(holds(&json, &call), "{tau}: the proof that is made up");
        let other = Trapdoor { power, ..Trapdoor::random(&mut seeded, 1) };
        assert!(!holds(&other.json(), &call), "{tau}: another key");
    }
}

#[test]
fn keys_that_prove_nothing_or_have_no_proof_are_refused() {
    let trapdoor = Trapdoor::random(&mut Seeded(367), 1);
    let with = |change: &dyn Fn(&mut Trapdoor)| {
        let mut trapdoor = trapdoor.clone();
        change(&mut trapdoor);
        trapdoor.json()
    };
    key::key(&trapdoor.json().to_string()).unwrap();
    // One selector or two may be zero.
    for none in [0, 1, 2, 3, 4] {
        key::key(&with(&|key| key.of_key[none] = Fr::zero()).to_string()).unwrap();
    }
    let no_gate = with(&|key| key.of_key[..4].fill(Fr::zero()));
    refused(&no_gate, &["Qm, Ql, Qr and Qo are the identity", "nothing is proved"]);
    for number in 0..3 {
        let json = with(&|key| key.of_key[5 + number] = Fr::zero());
        refused(&json, &[&format!("S{} is the identity", number + 1), "no proof can hold"]);
    }
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
        let json = with(&|key| key.of_key[5 + second] = key.of_key[5 + first]);
        refused(&json, &[&format!("S{} is S{}", second + 1, first + 1), "no proof can hold"]);
    }
    // k₁ and k₂ are 2 and 3 there.
    let [two, three] = [2u64, 3].map(Fr::from);
    let identity = with(&|key| key.of_key[5..].copy_from_slice(&[key.x, key.x * two, key.x * three]));
    refused(&identity, &["S1, S2 and S3 are [τ], k1·[τ] and k2·[τ]", "no wires are connected"]);
    let other =
        with(&|key| key.of_key[5..].copy_from_slice(&[key.x + two, (key.x + two) * two, (key.x + two) * three]));
    key::key(&other.to_string()).unwrap();
}
