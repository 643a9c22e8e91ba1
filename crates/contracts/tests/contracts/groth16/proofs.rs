//! Keys with proofs: of random circuits, made by ark-groth16; and of keys whose trapdoor is known, for which a proof of any inputs can be made
//! up (Groth 2016, §3.2, the simulator).

use crate::points::Seeded;
use ark_bn254::{Bn254, Fr, G1Affine, G2Affine};
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{Field, PrimeField};
use ark_groth16::{Groth16, Proof, VerifyingKey};
use ark_relations::gr1cs::{ConstraintSynthesizer, ConstraintSystemRef, Result};
use ark_relations::lc;
use ark_std::rand::SeedableRng;
use ark_std::rand::rngs::StdRng;
use num_bigint::BigUint;
use serde_json::{Value, json};

pub fn fr<F: PrimeField>(seeded: &mut Seeded) -> F {
    F::from_le_bytes_mod_order(&seeded.bytes(48))
}

/// w₀ = the first witness, wᵢ₊₁ = (aᵢ·wᵢ + xᵢ)·(bᵢ·wᵢ + cᵢ) for inputs xᵢ, and one input more that is the last of them.
#[derive(Clone)]
struct Circuit<F> {
    inputs: Vec<F>,
    witness: F,
    coefficients: Vec<[F; 3]>,
}

impl<F: PrimeField> Circuit<F> {
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

    fn step(&self, w: F, step: usize) -> F {
        let [a, b, c] = self.coefficients[step];
        (a * w + self.inputs[step]) * (b * w + c)
    }
}

impl<F: PrimeField> ConstraintSynthesizer<F> for Circuit<F> {
    fn generate_constraints(self, cs: ConstraintSystemRef<F>) -> Result<()> {
        let one = ark_relations::gr1cs::Variable::One;
        let inputs = self.inputs.iter().map(|&x| cs.new_input_variable(|| Ok(x))).collect::<Result<Vec<_>>>()?;
        let (mut w, mut value) = (cs.new_witness_variable(|| Ok(self.witness))?, self.witness);
        for (step, &input) in inputs.iter().enumerate().take(inputs.len().saturating_sub(1)) {
            let [a, b, c] = self.coefficients[step];
            value = self.step(value, step);
            let next = cs.new_witness_variable(|| Ok(value))?;
            cs.enforce_r1cs_constraint(
                || lc![(a, w), (F::ONE, input)],
                || lc![(b, w), (c, one)],
                || lc![(F::ONE, next)],
            )?;
            w = next;
        }
        let square = cs.new_witness_variable(|| Ok(value * value))?;
        cs.enforce_r1cs_constraint(|| lc![(F::ONE, w)], || lc![(F::ONE, w)], || lc![(F::ONE, square)])?;
        if let Some(&last) = inputs.last() {
            cs.enforce_r1cs_constraint(|| lc![(F::ONE, w)], || lc![(F::ONE, one)], || lc![(F::ONE, last)])?;
        }
        Ok(())
    }
}

/// A key with a proof of some inputs, made by ark-groth16.
pub fn of_random_circuit_on<E: Pairing>(
    seeded: &mut Seeded,
    inputs: usize,
) -> (VerifyingKey<E>, Proof<E>, Vec<E::ScalarField>) {
    let mut rng = StdRng::seed_from_u64(seeded.word());
    let circuit = Circuit::random(seeded, inputs);
    let inputs = circuit.inputs.clone();
    let key = Groth16::<E>::generate_random_parameters_with_reduction(circuit.clone(), &mut rng).unwrap();
    let proof = Groth16::<E>::create_random_proof_with_reduction(circuit, &key, &mut rng).unwrap();
    (key.vk, proof, inputs)
}

/// The same on BN254.
pub fn of_random_circuit(seeded: &mut Seeded, inputs: usize) -> (VerifyingKey<Bn254>, Proof<Bn254>, Vec<Fr>) {
    of_random_circuit_on(seeded, inputs)
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

/// Coordinates of points, elements of Fp2 as [c0, c1]; none of the identity.
pub trait Points: Pairing {
    const CURVE: &'static str;
    fn g1(point: Self::G1Affine) -> Option<[BigUint; 2]>;
    fn g2(point: Self::G2Affine) -> Option<[[BigUint; 2]; 2]>;
    fn p() -> BigUint;
}

impl Points for Bn254 {
    const CURVE: &'static str = "bn128";

    fn g1(point: G1Affine) -> Option<[BigUint; 2]> {
        point.xy().map(|(x, y)| [x.into(), y.into()])
    }

    fn g2(point: G2Affine) -> Option<[[BigUint; 2]; 2]> {
        point.xy().map(|(x, y)| [x, y].map(|value| [value.c0.into(), value.c1.into()]))
    }

    fn p() -> BigUint {
        crate::bn254::points::p()
    }
}

impl Points for ark_bls12_381::Bls12_381 {
    const CURVE: &'static str = "bls12381";

    fn g1(point: ark_bls12_381::G1Affine) -> Option<[BigUint; 2]> {
        point.xy().map(|(x, y)| [x.into(), y.into()])
    }

    fn g2(point: ark_bls12_381::G2Affine) -> Option<[[BigUint; 2]; 2]> {
        point.xy().map(|(x, y)| [x, y].map(|value| [value.c0.into(), value.c1.into()]))
    }

    fn p() -> BigUint {
        crate::points::p()
    }
}

fn texts<const N: usize>(numbers: [BigUint; N]) -> [String; N] {
    numbers.map(|number| number.to_string())
}

fn snarkjs_g1<E: Points>(point: E::G1Affine) -> Value {
    match E::g1(point).map(texts) {
        Some([x, y]) => json!([x, y, "1"]),
        None => json!(["0", "1", "0"]),
    }
}

fn snarkjs_g2<E: Points>(point: E::G2Affine) -> Value {
    match E::g2(point) {
        Some([x, y]) => json!([texts(x), texts(y), ["1", "0"]]),
        None => json!([["0", "0"], ["1", "0"], ["0", "0"]]),
    }
}

/// The key as snarkjs writes it.
pub fn snarkjs_key<E: Points>(key: &VerifyingKey<E>) -> Value {
    json!({
        "protocol": "groth16",
        "curve": E::CURVE,
        "nPublic": key.gamma_abc_g1.len() - 1,
        "vk_alpha_1": snarkjs_g1::<E>(key.alpha_g1),
        "vk_beta_2": snarkjs_g2::<E>(key.beta_g2),
        "vk_gamma_2": snarkjs_g2::<E>(key.gamma_g2),
        "vk_delta_2": snarkjs_g2::<E>(key.delta_g2),
        "IC": key.gamma_abc_g1.iter().map(|&point| snarkjs_g1::<E>(point)).collect::<Vec<_>>(),
    })
}

pub fn snarkjs_proof<E: Points>(proof: &Proof<E>) -> Value {
    json!({
        "pi_a": snarkjs_g1::<E>(proof.a),
        "pi_b": snarkjs_g2::<E>(proof.b),
        "pi_c": snarkjs_g1::<E>(proof.c),
        "protocol": "groth16",
        "curve": E::CURVE,
    })
}

pub fn snarkjs_inputs<F: PrimeField>(inputs: &[F]) -> Value {
    inputs.iter().map(|&input| input.into_bigint().to_string()).collect()
}

/// An element as gnark writes it: small ones are numbers, and those a little below p negative ones.
fn gnark_element<E: Points>(value: BigUint) -> Value {
    match (u16::try_from(&value), u16::try_from(E::p() - &value)) {
        (Ok(small), _) => json!(small),
        (_, Ok(small)) => json!(-i32::from(small)),
        _ => json!(value.to_string()),
    }
}

fn gnark_g1<E: Points>(point: E::G1Affine) -> Value {
    let [x, y] = E::g1(point).unwrap_or_default().map(gnark_element::<E>);
    json!({ "X": x, "Y": y })
}

fn gnark_g2<E: Points>(point: E::G2Affine) -> Value {
    let fp2 = |value: [BigUint; 2]| {
        let [c0, c1] = value.map(gnark_element::<E>);
        json!({ "A0": c0, "A1": c1 })
    };
    let [x, y] = E::g2(point).unwrap_or_default().map(fp2);
    json!({ "X": x, "Y": y })
}

/// The key as gnark writes it.
pub fn gnark_key<E: Points>(key: &VerifyingKey<E>) -> Value {
    let other = gnark_g1::<E>(E::G1Affine::generator());
    json!({
        "G1": {
            "Alpha": gnark_g1::<E>(key.alpha_g1),
            "Beta": other,
            "Delta": other,
            "K": key.gamma_abc_g1.iter().map(|&point| gnark_g1::<E>(point)).collect::<Vec<_>>(),
        },
        "G2": {
            "Beta": gnark_g2::<E>(key.beta_g2),
            "Delta": gnark_g2::<E>(key.delta_g2),
            "Gamma": gnark_g2::<E>(key.gamma_g2),
        },
        "CommitmentKeys": [],
        "PublicAndCommitmentCommitted": [],
    })
}

pub fn gnark_proof<E: Points>(proof: &Proof<E>) -> Value {
    json!({
        "Ar": gnark_g1::<E>(proof.a),
        "Bs": gnark_g2::<E>(proof.b),
        "Krs": gnark_g1::<E>(proof.c),
        "Commitments": [],
    })
}
