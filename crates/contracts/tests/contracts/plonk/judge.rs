//! Reference for the verifier that snarkjs writes in Solidity, step by step with the precompiles: the template
//! `verifier_plonk.sol.ejs`; and proofs for keys whose [x]₂ has a known logarithm, which can be made up for any inputs:
//! every commitment but the last two is free, and those follow.

use crate::bn254::points::{encode1, encode2, p, r};
use ark_bn254::{Fr, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{Field, Zero};
use num_bigint::BigUint;
use residue_contracts::plonk::Key;
use residue_engine::Fork;
use residue_engine::native::precompile;
use residue_formula::Number;
use residue_ir::{Machine, Numbers, Piece};
use residue_isa::precompile::{BN254_ADD, BN254_MUL, BN254_PAIRING_CHECK};
use residue_modular::fields::Bn254Fp;

pub use crate::groth16::judge::Answer;

/// Offset of the evaluations in a call, in bytes; the inputs follow.
pub const EVALUATIONS_AT: usize = 4 + 9 * 64;
pub const INPUTS_AT: usize = EVALUATIONS_AT + 6 * 32;

fn call(address: u16, input: &[u8]) -> Option<Vec<u8>> {
    precompile(Fork::default(), address, input, u64::MAX).ok().map(|native| native.output)
}

pub fn word(value: impl Into<BigUint>) -> Vec<u8> {
    let digits = value.into().to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

fn keccak(bytes: &[u8]) -> Fr {
    let machine = Numbers::<Bn254Fp>::new(bytes.to_vec());
    let size_bytes = machine.small(bytes.len() as u64); // usize to u64 widens
    let hash = machine.keccak256(&[Piece::Calldata { offset: machine.small(0), size_bytes }]);
    Fr::from(BigUint::from_bytes_be(&hash.to_be_bytes::<32>()))
}

fn fr(value: &BigUint) -> Fr {
    Fr::from(value.clone())
}

/// Values derived from a call, beside its points.
pub struct Scalars {
    /// Of Qm, Ql, Qr, Qo, Qc, S₁, S₂, S₃, and the generator; u·Z and what Wξ and Wξω have are apart.
    pub of_key: [Fr; 9],
    /// Of A, B, C, Z without u, T₁, T₂, T₃.
    pub of_proof: [Fr; 7],
    pub xi: Fr,
    pub u: Fr,
    pub zw: Fr,
    pub xi_omega: Fr,
}

fn key_points(key: &Key) -> Vec<u8> {
    let encoded = |point: &residue_contracts::plonk::key::Point| match point {
        Some(point) => [point.x, point.y].into_iter().flat_map(|value| word(value.to_canonical())).collect(),
        None => vec![0; 64],
    };
    key.q.iter().chain(&key.s).flat_map(encoded).collect()
}

/// `calculateChallenges` to `calculateE`; u is zero without the last two points.
pub fn scalars(key: &Key, calldata: &[u8]) -> Scalars {
    let at = |point: usize| 4 + 64 * point;
    let number = |at: usize| Fr::from(BigUint::from_bytes_be(&calldata[at..at + 32]));
    let bytes = |from: usize, to: usize| &calldata[from..to];
    let inputs_end = INPUTS_AT + 32 * key.inputs;
    let beta = keccak(&[&key_points(key), bytes(INPUTS_AT, inputs_end), bytes(4, at(3))].concat());
    let gamma = keccak(&word(beta));
    let alpha = keccak(&[&word(beta)[..], &word(gamma), bytes(at(3), at(4))].concat());
    let xi = keccak(&[&word(alpha)[..], bytes(at(4), at(7))].concat());
    let v = keccak(&[&word(xi)[..], bytes(EVALUATIONS_AT, INPUTS_AT)].concat());
    let u = keccak(bytes(at(7), at(9)));
    let [a, b, c, s1, s2, zw] = [0, 1, 2, 3, 4, 5].map(|number_of| number(EVALUATIONS_AT + 32 * number_of));
    let (omega, [k1, k2]) = (fr(&key.omega), key.k.each_ref().map(fr));
    let n = 1u64 << key.power;
    let xin = xi.pow([n]);
    let zh = xin - Fr::ONE;
    let l = |i: usize| {
        let w = omega.pow([i as u64]); // usize to u64 widens
        w * zh * (Fr::from(n) * (xi - w)).inverse().unwrap()
    };
    let pi: Fr = (0..key.inputs).map(|i| -l(i) * number(INPUTS_AT + 32 * i)).sum();
    let e2 = l(0) * alpha * alpha;
    let e3 = (a + beta * s1 + gamma) * (b + beta * s2 + gamma) * (c + gamma) * zw * alpha;
    let r0 = pi - e2 - e3;
    let d2a = (a + beta * xi + gamma) * (b + beta * xi * k1 + gamma) * (c + beta * xi * k2 + gamma) * alpha;
    let d3 = (a + beta * s1 + gamma) * (b + beta * s2 + gamma) * alpha * beta * zw;
    let v5 = v.pow([5u64]);
    let v4 = v.pow([4u64]);
    let e = -r0 + v * a + v * v * b + v.pow([3u64]) * c + v4 * s1 + v5 * s2;
    Scalars {
        of_key: [a * b, a, b, c, Fr::ONE, v4, v5, -d3, -e],
        of_proof: [v, v * v, v.pow([3u64]), d2a + e2, -zh, -zh * xin, -zh * xin * xin],
        xi,
        u,
        zw,
        xi_omega: xi * omega,
    }
}

/// The answer to a call; inputs that are not below r are false here, where snarkjs takes them modulo r.
pub fn answer(key: &Key, x: G2Affine, selector: &[u8], calldata: &[u8]) -> Answer {
    let end = INPUTS_AT + 32 * key.inputs;
    if calldata.len() < end || &calldata[..4] != selector {
        return Answer::Failure;
    }
    let is_below = |at: usize, limit: BigUint| BigUint::from_bytes_be(&calldata[at..at + 32]) < limit;
    if !(EVALUATIONS_AT..end).step_by(32).all(|at| is_below(at, r())) {
        return Answer::False;
    }
    let s = scalars(key, calldata);
    let g = encode1(G1Affine::generator());
    let key_bytes = key_points(key);
    let point = |number: usize| &calldata[4 + 64 * number..][..64];
    let z = s.of_proof[3] + s.u;
    let mut terms: Vec<(&[u8], Fr)> = key_bytes.chunks(64).zip(s.of_key).collect();
    terms.push((&g, s.of_key[8] - s.u * s.zw));
    for number in 0..7 {
        terms.push((point(number), if number == 3 { z } else { s.of_proof[number] }));
    }
    terms.extend([(point(7), s.xi), (point(8), s.u * s.xi_omega)]);
    let sum = |terms: &[(&[u8], Fr)]| {
        terms.iter().try_fold(vec![0; 64], |sum, (point, scalar)| {
            let product = call(BN254_MUL, &[point, &word(*scalar)[..]].concat())?;
            call(BN254_ADD, &[product, sum].concat())
        })
    };
    let Some((a1, b1)) = sum(&[(point(7), Fr::ONE), (point(8), s.u)]).zip(sum(&terms)) else { return Answer::False };
    let y = (p() - BigUint::from_bytes_be(&a1[32..])) % p();
    let pairs = [&a1[..32], &word(y), &encode2(x), &b1, &encode2(G2Affine::generator())].concat();
    match call(BN254_PAIRING_CHECK, &pairs) {
        Some(output) if output.ends_with(&[1]) => Answer::True,
        _ => Answer::False,
    }
}

/// A call that holds: Wξ and Wξω for the logarithms of the points of the key and of the proof, given x and the rest of the call.
pub fn completed(key: &Key, x: Fr, of_key: [Fr; 8], of_proof: [Fr; 7], call: &[u8]) -> Vec<u8> {
    let encoded = |k: Fr| encode1((G1Affine::generator() * k).into_affine());
    let mut call = call.to_vec();
    for (number, k) in of_proof.into_iter().enumerate() {
        call[4 + 64 * number..][..64].copy_from_slice(&encoded(k));
    }
    let s = scalars(key, &call);
    let of_generator = s.of_key[8];
    let sum: Fr =
        of_key.into_iter().zip(s.of_key).chain(of_proof.into_iter().zip(s.of_proof)).map(|(a, b)| a * b).sum();
    // (x − ξ)·W = D + … − E without u, and (x − ξω)·W′ = Z − zω.
    let w = (sum + of_generator) * (x - s.xi).inverse().unwrap();
    let ww = (of_proof[3] - s.zw) * (x - s.xi_omega).inverse().unwrap();
    assert!(!s.xi.is_zero());
    for (number, k) in [(7, w), (8, ww)] {
        call[4 + 64 * number..][..64].copy_from_slice(&encoded(k));
    }
    call
}
