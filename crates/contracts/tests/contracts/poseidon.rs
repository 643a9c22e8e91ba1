//! Poseidon against light-poseidon and Poseidon2 against its authors' library, under every revision that has such moduli.
//!
//! Each contract takes a few states; `RESIDUE_CASES=2000` takes as many.

use crate::points::Seeded;
use crate::support::{cases, everywhere, refused_everywhere, returned_everywhere};
use ark_ff::PrimeField;
use light_poseidon::{Poseidon, PoseidonHasher};
use num_bigint::BigUint;
use p3_field::{PrimeCharacteristicRing, PrimeField32};
use p3_koala_bear::{KoalaBear, default_koalabear_poseidon2_16, default_koalabear_poseidon2_24};
use p3_symmetric::Permutation;
use residue_contracts::find;
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

fn word(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

fn words(values: &[BigUint]) -> Vec<u8> {
    values.iter().flat_map(word).collect()
}

/// An element: zero, the greatest, small, or any.
fn element(seeded: &mut Seeded, modulus: &BigUint) -> BigUint {
    match seeded.below(8) {
        0 => BigUint::ZERO,
        1 => modulus - 1u32,
        2 => BigUint::from(seeded.below(5)) % modulus,
        _ => BigUint::from_bytes_be(&seeded.bytes(48)) % modulus,
    }
}

fn elements(seeded: &mut Seeded, modulus: &BigUint, count: usize) -> Vec<BigUint> {
    (0..count).map(|_| element(seeded, modulus)).collect()
}

/// A contract that takes states of `width` elements, as many as it takes, and what it must return for them.
fn check(name: &str, width: usize, judge: impl Fn(&[BigUint]) -> Vec<BigUint>) {
    let contract = find(name).unwrap();
    let modulus = (contract.field)();
    let mut compiled = everywhere(contract);
    let size = (contract.example)().len();
    let mut seeded = Seeded(17);
    for case in 0..cases(3) {
        let inputs = elements(&mut seeded, &modulus, size / 32);
        let expected: Vec<u8> = inputs.chunks(width).flat_map(|state| words(&judge(state))).collect();
        returned_everywhere(&mut compiled, &words(&inputs), &expected, &format!("{name}, case {case}"));
    }
    let inputs = elements(&mut seeded, &modulus, size / 32);
    let at = seeded.below(inputs.len());
    for bad in [modulus.clone(), modulus + 1u32, (BigUint::from(1u8) << 256) - 1u32] {
        let mut inputs = inputs.clone();
        inputs[at] = bad;
        refused_everywhere(&mut compiled, &words(&inputs), &format!("{name}, element {at} not below the modulus"));
    }
    for length in [0, size - 1, size + 1, size + 32] {
        let input = [words(&inputs), vec![0; 32]].concat();
        refused_everywhere(&mut compiled, &input[..length], &format!("{name}, {length} bytes"));
    }
}

/// circomlib's hash.
fn hash(inputs: &[BigUint]) -> BigUint {
    let inputs: Vec<_> = inputs.iter().map(|input| ark_bn254::Fr::from(input.clone())).collect();
    let mut poseidon = Poseidon::<ark_bn254::Fr>::new_circom(inputs.len()).unwrap();
    BigUint::from_bytes_be(&ark_ff::BigInteger::to_bytes_be(&poseidon.hash(&inputs).unwrap().into_bigint()))
}

#[test]
fn hashes_are_those_of_circomlib() {
    for width in 2..=6 {
        check(&format!("poseidon/t{width}"), width - 1, |inputs| vec![hash(inputs)]);
    }
    check("poseidon/t3_many", 2, |inputs| vec![hash(inputs)]);
}

/// The permutation of an instance of the authors' library.
macro_rules! authors {
    ($parameters:expr) => {
        |state: &[BigUint]| -> Vec<BigUint> {
            let permutation = Poseidon2::new(&$parameters);
            let state: Vec<_> =
                state.iter().map(|value| from_hex(&format!("0x{}", hex::encode(word(value))))).collect();
            // Zero is written as nothing by some versions.
            let number = |text: String| if text.is_empty() { BigUint::ZERO } else { text.parse().unwrap() };
            permutation.permutation(&state).iter().map(|value| number(value.to_string())).collect()
        }
    };
}

#[test]
fn permutations_are_those_of_the_authors() {
    check("poseidon2/bn254_t3", 3, authors!(POSEIDON2_BN256_PARAMS));
    check("poseidon2/bn254_t3_many", 3, authors!(POSEIDON2_BN256_PARAMS));
    check("poseidon2/bls12_381_t2", 2, authors!(POSEIDON2_BLS_2_PARAMS));
    check("poseidon2/bls12_381_t3", 3, authors!(POSEIDON2_BLS_3_PARAMS));
    check("poseidon2/bls12_381_t4", 4, authors!(POSEIDON2_BLS_4_PARAMS));
    check("poseidon2/pallas_t3", 3, authors!(POSEIDON2_PALLAS_3_PARAMS));
    check("poseidon2/vesta_t3", 3, authors!(POSEIDON2_VESTA_PARAMS));
    check("poseidon2/goldilocks_t12", 12, authors!(POSEIDON2_GOLDILOCKS_12_PARAMS));
    check("poseidon2/babybear_t16", 16, authors!(POSEIDON2_BABYBEAR_16_PARAMS));
}

/// The permutation of Plonky3.
fn plonky3<const WIDTH: usize>(permutation: &impl Permutation<[KoalaBear; WIDTH]>, state: &[BigUint]) -> Vec<BigUint> {
    let number = |value: &BigUint| KoalaBear::from_u32(u32::try_from(value).unwrap());
    let state: [KoalaBear; WIDTH] = std::array::from_fn(|at| number(&state[at]));
    permutation.permute(state).iter().map(|value| value.as_canonical_u32().into()).collect()
}

#[test]
fn permutations_over_koalabear_are_those_of_plonky3() {
    let (short, long) = (default_koalabear_poseidon2_16(), default_koalabear_poseidon2_24());
    check("poseidon2/koalabear_t16", 16, |state| plonky3::<16>(&short, state));
    check("poseidon2/koalabear_t24", 24, |state| plonky3::<24>(&long, state));
}

/// Barretenberg, `poseidon2_permutation.test.cpp`: the state 0, 1, 2, 3.
#[test]
fn four_elements_over_bn254_are_permuted_as_by_barretenberg() {
    let state: Vec<BigUint> = (0..4u32).map(BigUint::from).collect();
    let expected = [
        "01bd538c2ee014ed5141b29e9ae240bf8db3fe5b9a38629a9647cf8d76c01737",
        "239b62e7db98aa3a2a8f6a0d2fa1709e7a35959aa6c7034814d9daa90cbac662",
        "04cbb44c61d928ed06808456bf758cbf0c18d1e15a7b6dbc8245fa7515d5e3cb",
        "2e11c5cff2a22c64d01304b778d78f6998eff1ab73163a35603f54794c30847a",
    ];
    let expected = expected.map(|digits| BigUint::parse_bytes(digits.as_bytes(), 16).unwrap());
    let mut once = everywhere(find("poseidon2/bn254_t4").unwrap());
    returned_everywhere(&mut once, &words(&state), &words(&expected), "once");
    let mut many = everywhere(find("poseidon2/bn254_t4_many").unwrap());
    let states: Vec<u8> = words(&state).repeat(28);
    returned_everywhere(&mut many, &states, &words(&expected).repeat(28), "many");
}

/// A path of so many levels: root, leaf, index, siblings.
fn path(seeded: &mut Seeded, levels: usize, node: &dyn Fn(&[BigUint; 2]) -> BigUint) -> Vec<BigUint> {
    let modulus = crate::bn254::points::r();
    let leaf = element(seeded, &modulus);
    let siblings = elements(seeded, &modulus, levels);
    let index = BigUint::from_bytes_be(&seeded.bytes(32)) & ((BigUint::from(1u8) << levels) - 1u32);
    let mut root = leaf.clone();
    for (level, sibling) in siblings.iter().enumerate() {
        root = match index.bit(level as u64) {
            true => node(&[sibling.clone(), root]),
            false => node(&[root, sibling.clone()]),
        };
    }
    [vec![root, leaf, index], siblings].concat()
}

#[test]
fn paths_lead_to_the_root_or_not() {
    let permute = authors!(POSEIDON2_BN256_PARAMS);
    let pair: &dyn Fn(&[BigUint; 2]) -> BigUint = &|pair| hash(pair);
    let triple: &dyn Fn(&[BigUint; 2]) -> BigUint =
        &|[left, right]| permute(&[left.clone(), right.clone(), BigUint::ZERO])[0].clone();
    for (name, node) in [("poseidon/merkle", pair), ("poseidon2/merkle", triple)] {
        let mut compiled = everywhere(find(name).unwrap());
        let mut seeded = Seeded(18);
        let answer = |is_right: u8| [vec![0; 31], vec![is_right]].concat();
        for levels in [0, 1, 2, 5, 20] {
            let path = path(&mut seeded, levels, node);
            let what = format!("{name}, {levels} levels");
            returned_everywhere(&mut compiled, &words(&path), &answer(1), &what);
            for at in (0..path.len()).filter(|&at| at != 2) {
                let mut wrong = path.clone();
                wrong[at] = if wrong[at] == BigUint::ZERO { 1u32.into() } else { &wrong[at] - 1u32 };
                returned_everywhere(&mut compiled, &words(&wrong), &answer(0), &format!("{what}, {at} wrong"));
            }
            let mut outside = path.clone();
            outside[2] += BigUint::from(1u8) << levels;
            refused_everywhere(&mut compiled, &words(&outside), &format!("{what}, no such index"));
            refused_everywhere(&mut compiled, &words(&path)[1..], &format!("{what}, cut"));
        }
        refused_everywhere(&mut compiled, &[0; 64], &format!("{name}, no index"));
    }
}
