//! Poseidon beside light-poseidon, Poseidon2 beside its authors' library and Plonky3's: on random states, and the known answers of
//! `crates/contracts/tests/contracts/poseidon_known.txt`, which the contracts' own tests hold to the compiled code.
//!
//! `RESIDUE_CASES=2000 cargo test -p residue-judges poseidon` takes as many states;
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue-judges poseidon` writes the known answers anew.

use std::fmt::Write;
use std::path::Path;

use ark_ff::PrimeField;
use light_poseidon::{Poseidon, PoseidonHasher};
use num_bigint::BigUint;
use p3_field::{PrimeCharacteristicRing, PrimeField32};
use p3_koala_bear::{KoalaBear, default_koalabear_poseidon2_16, default_koalabear_poseidon2_24};
use p3_symmetric::Permutation;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_contracts::find;
use residue_ir::{Outcome, evaluate};
use zkhash::fields::utils::from_hex;
use zkhash::poseidon2::poseidon2::Poseidon2;
use zkhash::poseidon2::poseidon2_instance_babybear::POSEIDON2_BABYBEAR_16_PARAMS;
use zkhash::poseidon2::poseidon2_instance_bls12::{
    POSEIDON2_BLS_2_PARAMS, POSEIDON2_BLS_3_PARAMS, POSEIDON2_BLS_4_PARAMS,
};
use zkhash::poseidon2::poseidon2_instance_bn256::POSEIDON2_BN256_PARAMS;
use zkhash::poseidon2::poseidon2_instance_goldilocks::POSEIDON2_GOLDILOCKS_12_PARAMS;
use zkhash::poseidon2::poseidon2_instance_pallas::POSEIDON2_PALLAS_3_PARAMS;
use zkhash::poseidon2::poseidon2_instance_vesta::POSEIDON2_VESTA_PARAMS;

/// States a contract in the file of known answers.
const KNOWN: usize = 3;

fn word(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

fn words(values: &[BigUint]) -> Vec<u8> {
    values.iter().flat_map(word).collect()
}

/// An element: zero, the greatest, small, or any.
fn element(random: &mut ChaCha8Rng, modulus: &BigUint) -> BigUint {
    match random.random_range(0..8) {
        0 => BigUint::ZERO,
        1 => modulus - 1u32,
        2 => BigUint::from(random.random_range(0..5u32)) % modulus,
        _ => BigUint::from_bytes_be(&random.random::<[u8; 32]>()) % modulus,
    }
}

/// A library's answer for a state.
type Judge<'a> = Box<dyn Fn(&[BigUint]) -> Vec<BigUint> + 'a>;

/// The permutation of an instance of the authors' library.
macro_rules! authors {
    ($parameters:expr) => {
        Box::new(|state: &[BigUint]| -> Vec<BigUint> {
            let permutation = Poseidon2::new(&$parameters);
            let state: Vec<_> =
                state.iter().map(|value| from_hex(&format!("0x{}", hex::encode(word(value))))).collect();
            // Some versions print zero as an empty text.
            let number = |text: String| if text.is_empty() { BigUint::ZERO } else { text.parse().unwrap() };
            permutation.permutation(&state).iter().map(|value| number(value.to_string())).collect()
        })
    };
}

/// circomlib's hash.
fn hash(inputs: &[BigUint]) -> Vec<BigUint> {
    let inputs: Vec<_> = inputs.iter().map(|input| ark_bn254::Fr::from(input.clone())).collect();
    let mut poseidon = Poseidon::<ark_bn254::Fr>::new_circom(inputs.len()).unwrap();
    let bytes = ark_ff::BigInteger::to_bytes_be(&poseidon.hash(&inputs).unwrap().into_bigint());
    vec![BigUint::from_bytes_be(&bytes)]
}

/// The permutation of Plonky3.
fn plonky3<const WIDTH: usize>(permutation: &impl Permutation<[KoalaBear; WIDTH]>, state: &[BigUint]) -> Vec<BigUint> {
    let number = |value: &BigUint| KoalaBear::from_u32(u32::try_from(value).unwrap());
    let state: [KoalaBear; WIDTH] = std::array::from_fn(|at| number(&state[at]));
    permutation.permute(state).iter().map(|value| value.as_canonical_u32().into()).collect()
}

/// Contracts, elements of a state and judges.
fn subjects() -> Vec<(&'static str, usize, Judge<'static>)> {
    let (short, long) = (default_koalabear_poseidon2_16(), default_koalabear_poseidon2_24());
    vec![
        ("poseidon/t2", 1, Box::new(hash)),
        ("poseidon/t3", 2, Box::new(hash)),
        ("poseidon/t4", 3, Box::new(hash)),
        ("poseidon/t5", 4, Box::new(hash)),
        ("poseidon/t6", 5, Box::new(hash)),
        ("poseidon/t3_many", 2, Box::new(hash)),
        ("poseidon2/bn254_t3", 3, authors!(POSEIDON2_BN256_PARAMS)),
        ("poseidon2/bn254_t3_many", 3, authors!(POSEIDON2_BN256_PARAMS)),
        ("poseidon2/bls12_381_t2", 2, authors!(POSEIDON2_BLS_2_PARAMS)),
        ("poseidon2/bls12_381_t3", 3, authors!(POSEIDON2_BLS_3_PARAMS)),
        ("poseidon2/bls12_381_t4", 4, authors!(POSEIDON2_BLS_4_PARAMS)),
        ("poseidon2/pallas_t3", 3, authors!(POSEIDON2_PALLAS_3_PARAMS)),
        ("poseidon2/vesta_t3", 3, authors!(POSEIDON2_VESTA_PARAMS)),
        ("poseidon2/goldilocks_t12", 12, authors!(POSEIDON2_GOLDILOCKS_12_PARAMS)),
        ("poseidon2/babybear_t16", 16, authors!(POSEIDON2_BABYBEAR_16_PARAMS)),
        ("poseidon2/koalabear_t16", 16, Box::new(move |state| plonky3::<16>(&short, state))),
        ("poseidon2/koalabear_t24", 24, Box::new(move |state| plonky3::<24>(&long, state))),
    ]
}

#[test]
fn programs_and_known_answers_are_those_of_the_libraries() {
    let mut known = String::from(
        "# Calldata and output of each contract by light-poseidon, zkhash or Plonky3. Made by\n\
         # RESIDUE_WRITE_TABLES=1 cargo test -p residue-judges poseidon\n",
    );
    for (name, width, judge) in subjects() {
        let contract = find(name).unwrap();
        let (program, modulus) = (contract.program(), (contract.field)());
        let elements = (contract.example)().len() / 32;
        let mut random = ChaCha8Rng::seed_from_u64(17);
        for case in 0..residue_extent::cases(20).max(KNOWN) {
            let inputs: Vec<BigUint> = (0..elements).map(|_| element(&mut random, &modulus)).collect();
            let expected: Vec<u8> = inputs.chunks(width).flat_map(|state| words(&judge(state))).collect();
            let input = words(&inputs);
            assert_eq!(evaluate(&program, &input), Outcome::Returned(expected.clone()), "{name}, case {case}");
            if case < KNOWN {
                writeln!(known, "{name} {} {}", hex::encode(input), hex::encode(expected)).unwrap();
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contracts/tests/contracts/poseidon_known.txt");
    if std::env::var_os(residue_pages::WRITE).is_some() {
        std::fs::write(&path, &known).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), known, "the known answers are those of the libraries");
}
