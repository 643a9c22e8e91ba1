//! Reference for the verifier that snarkjs writes in Solidity, step by step with the precompiles: the template
//! `verifier_groth16.sol.ejs`.

use crate::bn254::points::{encode1, encode2, p, r};
use ark_bn254::Bn254;
use ark_groth16::VerifyingKey;
use num_bigint::BigUint;
use residue_engine::Fork;
use residue_engine::native::precompile;
use residue_isa::precompile::{BN254_ADD, BN254_MUL, BN254_PAIRING_CHECK};

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    True,
    False,
    Failure,
}

fn call(address: u16, input: &[u8]) -> Option<Vec<u8>> {
    precompile(Fork::default(), address, input, u64::MAX).ok().map(|native| native.output)
}

fn word(calldata: &[u8], at: usize) -> &[u8] {
    &calldata[at..at + 32]
}

/// The answer to this calldata; but A with a y that is not below p, of which Solidity takes q − y modulo 2²⁵⁶ and then modulo q, is false.
pub fn answer(key: &VerifyingKey<Bn254>, selector: &[u8], calldata: &[u8]) -> Answer {
    let inputs = key.gamma_abc_g1.len() - 1;
    if calldata.len() < 4 + 32 * (8 + inputs) || &calldata[..4] != selector {
        return Answer::Failure;
    }
    let input = |number: usize| word(calldata, 260 + 32 * number);
    if (0..inputs).any(|number| BigUint::from_bytes_be(input(number)) >= r()) {
        return Answer::False;
    }
    let mut sum = encode1(key.gamma_abc_g1[0]);
    for (number, &point) in key.gamma_abc_g1[1..].iter().enumerate() {
        let product = call(BN254_MUL, &[&encode1(point)[..], input(number)].concat()).unwrap();
        sum = call(BN254_ADD, &[product, sum].concat()).unwrap();
    }
    let y = BigUint::from_bytes_be(word(calldata, 36));
    if y >= p() {
        return Answer::False;
    }
    let opposite = ((p() - y) % p()).to_bytes_be();
    let padded = [vec![0; 32 - opposite.len()], opposite].concat();
    let pairs = [
        word(calldata, 4),
        &padded,
        &calldata[68..196],
        &encode1(key.alpha_g1),
        &encode2(key.beta_g2),
        &sum,
        &encode2(key.gamma_g2),
        &calldata[196..260],
        &encode2(key.delta_g2),
    ]
    .concat();
    match call(BN254_PAIRING_CHECK, &pairs) {
        Some(output) if output.ends_with(&[1]) => Answer::True,
        _ => Answer::False,
    }
}
