//! Keys with proofs: of random circuits, made by ark-groth16; and of keys whose trapdoor is known, for which a proof of any inputs can be made
//! up (Groth 2016, §3.2, the simulator).

use crate::points::Seeded;
use ark_bn254::{Bn254, Fq, Fr, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::Field;
use ark_groth16::{Groth16, Proof, VerifyingKey};
use ark_relations::gr1cs::{ConstraintSynthesizer, ConstraintSystemRef, Result};
use ark_relations::lc;
use ark_std::rand::SeedableRng;
use ark_std::rand::rngs::StdRng;
use num_bigint::BigUint;
use serde_json::{Value, json};

pub fn fr(seeded: &mut Seeded) -> Fr {
    Fr::from(BigUint::from_bytes_le(&seeded.bytes(48)))
}

/// w₀ = the first witness, wᵢ₊₁ = (aᵢ·wᵢ + xᵢ)·(bᵢ·wᵢ + cᵢ) for inputs xᵢ, and one input more that is the last of them.
#[derive(Clone)]
struct Circuit {
    inputs: Vec<Fr>,
    witness: Fr,
    coefficients: Vec<[Fr; 3]>,
}

impl Circuit {
    fn random(seeded: &mut Seeded, inputs: usize) -> Self {
        let steps = inputs.saturating_sub(1);
        let mut circuit = Self {
            inputs: (0..steps).map(|_| fr(seeded)).collect(),
            witness: fr(seeded),
            coefficients: (0..steps.max(1)).map(|_| [fr(seeded), fr(seeded), fr(seeded)]).collect(),
        };
        if inputs > 0 {
            let last = (0..steps).fold(circuit.witness, |w, step| circuit.step(w, step));
            circuit.inputs.push(last);
        }
        circuit
    }

    fn step(&self, w: Fr, step: usize) -> Fr {
        let [a, b, c] = self.coefficients[step];
        (a * w + self.inputs[step]) * (b * w + c)
    }
}

impl ConstraintSynthesizer<Fr> for Circuit {
    fn generate_constraints(self, cs: ConstraintSystemRef<Fr>) -> Result<()> {
        let one = ark_relations::gr1cs::Variable::One;
        let inputs = self.inputs.iter().map(|&x| cs.new_input_variable(|| Ok(x))).collect::<Result<Vec<_>>>()?;
        let (mut w, mut value) = (cs.new_witness_variable(|| Ok(self.witness))?, self.witness);
        for step in 0..inputs.len().saturating_sub(1) {
            let [a, b, c] = self.coefficients[step];
            value = self.step(value, step);
            let next = cs.new_witness_variable(|| Ok(value))?;
            cs.enforce_r1cs_constraint(
                || lc![(a, w), (Fr::ONE, inputs[step])],
                || lc![(b, w), (c, one)],
                || lc![(Fr::ONE, next)],
            )?;
            w = next;
        }
        let square = cs.new_witness_variable(|| Ok(value * value))?;
        cs.enforce_r1cs_constraint(|| lc![(Fr::ONE, w)], || lc![(Fr::ONE, w)], || lc![(Fr::ONE, square)])?;
        if let Some(&last) = inputs.last() {
            cs.enforce_r1cs_constraint(|| lc![(Fr::ONE, w)], || lc![(Fr::ONE, one)], || lc![(Fr::ONE, last)])?;
        }
        Ok(())
    }
}

/// A key with a proof of some inputs, made by ark-groth16.
pub fn of_random_circuit(seeded: &mut Seeded, inputs: usize) -> (VerifyingKey<Bn254>, Proof<Bn254>, Vec<Fr>) {
    let mut rng = StdRng::seed_from_u64(seeded.word());
    let circuit = Circuit::random(seeded, inputs);
    let inputs = circuit.inputs.clone();
    let key = Groth16::<Bn254>::generate_random_parameters_with_reduction(circuit.clone(), &mut rng).unwrap();
    let proof = Groth16::<Bn254>::create_random_proof_with_reduction(circuit, &key, &mut rng).unwrap();
    (key.vk, proof, inputs)
}

/// The discrete logarithms of a key.
#[derive(Clone)]
pub struct Trapdoor {
    pub alpha: Fr,
    pub beta: Fr,
    pub gamma: Fr,
    pub delta: Fr,
    pub ic: Vec<Fr>,
}

pub fn g1(k: Fr) -> G1Affine {
    (G1Affine::generator() * k).into_affine()
}

pub fn g2(k: Fr) -> G2Affine {
    (G2Affine::generator() * k).into_affine()
}

impl Trapdoor {
    pub fn random(seeded: &mut Seeded, inputs: usize) -> Self {
        let ic = (0..=inputs).map(|_| fr(seeded)).collect();
        let [alpha, beta, gamma, delta] = [(); 4].map(|()| fr(seeded));
        Self { alpha, beta, gamma, delta, ic }
    }

    pub fn key(&self) -> VerifyingKey<Bn254> {
        VerifyingKey {
            alpha_g1: g1(self.alpha),
            beta_g2: g2(self.beta),
            gamma_g2: g2(self.gamma),
            delta_g2: g2(self.delta),
            gamma_abc_g1: self.ic.iter().map(|&k| g1(k)).collect(),
        }
    }

    /// IC₀ + Σ sᵢ·ICᵢ.
    pub fn sum(&self, inputs: &[Fr]) -> Fr {
        self.ic[0] + self.ic[1..].iter().zip(inputs).map(|(&k, &s)| k * s).sum::<Fr>()
    }

    /// A proof that holds for these inputs, with A = a·G and B = b·H.
    pub fn proof(&self, inputs: &[Fr], a: Fr, b: Fr) -> Proof<Bn254> {
        let c = (a * b - self.alpha * self.beta - self.sum(inputs) * self.gamma) * self.delta.inverse().unwrap();
        Proof { a: g1(a), b: g2(b), c: g1(c) }
    }
}

fn text(value: Fq) -> String {
    BigUint::from(value).to_string()
}

fn snarkjs_g1(point: G1Affine) -> Value {
    if point.is_zero() {
        return json!(["0", "1", "0"]);
    }
    json!([text(point.x), text(point.y), "1"])
}

fn snarkjs_g2(point: G2Affine) -> Value {
    if point.is_zero() {
        return json!([["0", "0"], ["1", "0"], ["0", "0"]]);
    }
    json!([[text(point.x.c0), text(point.x.c1)], [text(point.y.c0), text(point.y.c1)], ["1", "0"]])
}

/// The key as snarkjs writes it.
pub fn snarkjs_key(key: &VerifyingKey<Bn254>) -> Value {
    json!({
        "protocol": "groth16",
        "curve": "bn128",
        "nPublic": key.gamma_abc_g1.len() - 1,
        "vk_alpha_1": snarkjs_g1(key.alpha_g1),
        "vk_beta_2": snarkjs_g2(key.beta_g2),
        "vk_gamma_2": snarkjs_g2(key.gamma_g2),
        "vk_delta_2": snarkjs_g2(key.delta_g2),
        "IC": key.gamma_abc_g1.iter().map(|&point| snarkjs_g1(point)).collect::<Vec<_>>(),
    })
}

pub fn snarkjs_proof(proof: &Proof<Bn254>) -> Value {
    json!({
        "pi_a": snarkjs_g1(proof.a),
        "pi_b": snarkjs_g2(proof.b),
        "pi_c": snarkjs_g1(proof.c),
        "protocol": "groth16",
        "curve": "bn128",
    })
}

pub fn snarkjs_inputs(inputs: &[Fr]) -> Value {
    inputs.iter().map(|&input| BigUint::from(input).to_string()).collect()
}

/// An element as gnark writes it: small ones are numbers, and those a little below p negative ones.
fn gnark_element(value: Fq) -> Value {
    let (plus, minus) = (BigUint::from(value), BigUint::from(-value));
    match (u16::try_from(&plus), u16::try_from(&minus)) {
        (Ok(small), _) => json!(small),
        (_, Ok(small)) => json!(-i32::from(small)),
        _ => json!(plus.to_string()),
    }
}

fn gnark_g1(point: G1Affine) -> Value {
    let (x, y) = point.xy().unwrap_or_default();
    json!({ "X": gnark_element(x), "Y": gnark_element(y) })
}

fn gnark_g2(point: G2Affine) -> Value {
    let (x, y) = point.xy().unwrap_or_default();
    let fp2 = |value: ark_bn254::Fq2| json!({ "A0": gnark_element(value.c0), "A1": gnark_element(value.c1) });
    json!({ "X": fp2(x), "Y": fp2(y) })
}

/// The key as gnark writes it.
pub fn gnark_key(key: &VerifyingKey<Bn254>) -> Value {
    let other = gnark_g1(G1Affine::generator());
    json!({
        "G1": {
            "Alpha": gnark_g1(key.alpha_g1),
            "Beta": other,
            "Delta": other,
            "K": key.gamma_abc_g1.iter().map(|&point| gnark_g1(point)).collect::<Vec<_>>(),
        },
        "G2": { "Beta": gnark_g2(key.beta_g2), "Delta": gnark_g2(key.delta_g2), "Gamma": gnark_g2(key.gamma_g2) },
        "CommitmentKeys": [],
        "PublicAndCommitmentCommitted": [],
    })
}

pub fn gnark_proof(proof: &Proof<Bn254>) -> Value {
    json!({ "Ar": gnark_g1(proof.a), "Bs": gnark_g2(proof.b), "Krs": gnark_g1(proof.c), "Commitments": [] })
}
