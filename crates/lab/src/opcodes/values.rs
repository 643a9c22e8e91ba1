//! Operand classes: values that a reader of a price would ask about.

use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Classes of field operands.
pub(super) const FIELD_CLASSES: [&str; 5] = ["random", "zeros", "ones", "near", "alternating"];

/// Two operands of a class below a modulus. `ones` has all bits below the top bit of the modulus; `near` is m − 1 twice;
/// under `alternating` sums cross the modulus every other time, so that a branch on it mispredicts.
pub(super) fn operands(class: &str, m: &BigUint) -> [BigUint; 2] {
    let one = BigUint::from(1u8);
    match class {
        "zeros" => [BigUint::ZERO, BigUint::ZERO],
        "ones" => {
            let ones = (&one << (m.bits() - 1)) - &one;
            [ones.clone(), ones]
        }
        "near" => [m - &one, m - &one],
        "alternating" => [random(m, 1), (m + &one) / 2u32 + 1u32],
        _ => [random(m, 2), random(m, 3)],
    }
}

/// A value from a seed.
pub(super) fn random(m: &BigUint, seed: u64) -> BigUint {
    let mut bytes = vec![0; usize::try_from(m.bits() / 8 + 16).expect("moduli fit memory")];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
    BigUint::from_bytes_be(&bytes) % m
}

/// An odd modulus of exactly so many limbs: the field of BLS12-381 for 6, else from a seed.
pub(super) fn modulus(width_limbs: usize) -> BigUint {
    if width_limbs == 6 {
        let limbs = residue_isa::revision::evm384::BLS12_381_P;
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        return BigUint::from_bytes_le(&bytes);
    }
    let top = BigUint::from(1u8) << (64 * width_limbs - 1);
    let mut m = &top + random(&top, 4);
    m.set_bit(0, true);
    m
}

/// `value` in so many bytes, big-endian.
pub(crate) fn to_be(value: &BigUint, bytes: usize) -> Vec<u8> {
    let digits = value.to_bytes_be();
    let mut padded = vec![0; bytes.saturating_sub(digits.len())];
    padded.extend(digits);
    padded
}
