//! The contracts of the two maps answer as the precompiles of EIP-2537 do, byte for byte, under every revision, on good
//! input and bad input of every kind.
//!
//! Plain `cargo test` takes a hundred inputs for each map; `RESIDUE_CASES=2000` takes as many, and `RESIDUE_SEED` begins with
//! another seed.

use crate::points::Seeded;
use crate::support::{answered_everywhere, codes, everywhere};
use num_bigint::BigUint;
use residue_contracts::{Contract, find};
use residue_curves::bls12_381::constants::modulus;
use residue_engine::Prepared;
use residue_isa::Revision;
use residue_workbench::native;

/// A map under every revision, ready to run.
struct Map {
    contract: &'static Contract,
    elements: usize,
    compiled: Vec<(Revision, Prepared)>,
}

impl Map {
    fn new(name: &str, elements: usize) -> Self {
        let contract = find(name).unwrap();
        for (revision, code) in codes(contract).iter() {
            assert!(code.len() <= 24_576 || *revision != Revision::Eip6690_2024, "{name}: {} bytes", code.len());
        }
        Self { contract, elements, compiled: everywhere(contract) }
    }

    /// Runs `input` everywhere; every answer must be that of the precompile.
    #[track_caller]
    fn check(&mut self, input: &[u8], what: &str) {
        let native = native(self.contract, input).unwrap().ok().map(|native| native.output);
        answered_everywhere(&mut self.compiled, input, native.as_deref(), what);
    }

    fn check_numbers(&mut self, numbers: &[BigUint], what: &str) {
        assert_eq!(numbers.len(), self.elements);
        let input: Vec<u8> = numbers.iter().flat_map(encode).collect();
        self.check(&input, what);
    }
}

fn maps() -> [Map; 2] {
    [Map::new("bls12_381/map_fp_to_g1", 1), Map::new("bls12_381/map_fp2_to_g2", 2)]
}

/// 64 bytes, big-endian.
fn encode(number: &BigUint) -> Vec<u8> {
    let digits = number.to_bytes_be();
    [vec![0; 64 - digits.len()], digits].concat()
}

/// An element of Fp from a seed.
fn number(seeded: &mut Seeded) -> BigUint {
    (0..7).fold(BigUint::ZERO, |number, _| (number << 64u32) + seeded.word()) % modulus()
}

#[test]
fn maps_answer_as_the_precompiles() {
    let cases = residue_extent::cases(100) as u64;
    let first = residue_extent::seed();
    for mut map in maps() {
        for seed in first..first + cases {
            let mut seeded = Seeded(seed);
            let numbers: Vec<BigUint> = (0..map.elements).map(|_| number(&mut seeded)).collect();
            map.check_numbers(&numbers, &format!("seed {seed}"));
        }
    }
}

#[test]
fn numbers_at_the_edges_are_mapped_or_refused() {
    let p = modulus();
    let edge = |number: i32| if number < 0 { &p - number.unsigned_abs() } else { BigUint::from(number.unsigned_abs()) };
    // √(−1/11), for which T vanishes on G1, and the same for G2 below.
    let inverse = BigUint::from(11u32).modpow(&(&p - 2u32), &p);
    let root = (&p - inverse).modpow(&((&p + 1u32) / 4u32), &p);
    assert_eq!(&root * &root * 11u32 % &p, &p - 1u32);
    let mut numbers: Vec<BigUint> = [0, 1, 2, 11, -1, -2].map(edge).to_vec();
    numbers.extend([&p - &root, root, p.clone(), &p + 1u32, (&p - 1u32) / 2u32, (&p + 1u32) / 2u32]);
    numbers.extend([(BigUint::from(1u32) << 384) - 1u32, BigUint::from(1u32) << 383, BigUint::from(1u32) << 384]);
    let [mut g1, mut g2] = maps();
    for a in &numbers {
        g1.check_numbers(std::slice::from_ref(a), &format!("{a}"));
        for b in &numbers {
            g2.check_numbers(&[a.clone(), b.clone()], &format!("{a} + {b}u"));
        }
    }
}

#[test]
fn inputs_of_another_length_are_refused() {
    for mut map in maps() {
        let size = 64 * map.elements;
        for length in [0, 1, 32, size - 1, size + 1, size + 64, 2 * size] {
            map.check(&vec![0; length], &format!("{length} bytes"));
        }
    }
}

#[test]
fn every_byte_of_padding_counts() {
    for mut map in maps() {
        for element in 0..map.elements {
            for position in 0..16 {
                let mut input = vec![0; 64 * map.elements];
                input[64 * element + position] = 1 << (position % 8);
                map.check(&input, &format!("byte {position} of element {element}"));
            }
        }
    }
}
