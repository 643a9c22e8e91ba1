//! EVM384 arithmetic through its public interface: Montgomery form and offsets at the edges of memory.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use residue_formula::Number;
use residue_modular::evm384::{self, VALUE_BYTES};
use residue_modular::fields::{Bls12_381Fp, Bls12_381FpModulus};
use residue_modular::{Modulus, PrimeField};

#[test]
fn montgomery_form_is_that_of_the_number_type() {
    let modulus = Modulus::with_width(&Bls12_381Fp::modulus().to_bytes_be(), 6).unwrap();
    assert_eq!(modulus.n0(), Bls12_381Fp::N0);
    for small in [0, 1, 2, u64::MAX] {
        let number = Bls12_381Fp::from_u64(small);
        assert_eq!(evm384::to_mont(&number.to_limbs(), &modulus), number.to_mont());
        assert_eq!(evm384::from_mont(&number.to_mont(), &modulus), number.to_limbs());
    }
}

#[test]
fn the_last_bytes_of_memory_count() {
    let mut memory = vec![0; 2 * VALUE_BYTES + 8];
    evm384::write_le(&Bls12_381Fp::from_u64(3).to_mont(), (&mut memory[..VALUE_BYTES]).try_into().unwrap());
    evm384::write_le(&Bls12_381FpModulus::MODULUS, (&mut memory[VALUE_BYTES..][..VALUE_BYTES]).try_into().unwrap());
    memory[2 * VALUE_BYTES..].copy_from_slice(&Bls12_381Fp::N0.to_le_bytes());
    evm384::mul_in_memory(&mut memory, 0, 0, 0, VALUE_BYTES);
    let nine = evm384::read_le(memory[..VALUE_BYTES].try_into().unwrap());
    assert_eq!(Bls12_381Fp::from_mont(nine), Some(Bls12_381Fp::from_u64(9)));
    // r_inv may lie after the end only for a product, and no value for anything.
    evm384::add_in_memory(&mut memory[..2 * VALUE_BYTES], 0, 0, 0, VALUE_BYTES);
    type InMemory = fn(&mut [u8], usize, usize, usize, usize);
    for operation in [evm384::add_in_memory as InMemory, evm384::sub_in_memory, evm384::mul_in_memory] {
        for (out, x, y, m) in [(57, 0, 0, 0), (0, 57, 0, 0), (0, 0, 57, 0), (0, 0, 0, 57), (usize::MAX, 0, 0, 0)] {
            let run = || operation(&mut [0; 104], out, x, y, m);
            assert!(std::panic::catch_unwind(run).is_err(), "{out} {x} {y} {m}");
        }
        assert!(std::panic::catch_unwind(|| operation(&mut [0; 47], 0, 0, 0, 0)).is_err());
    }
    let short = || evm384::mul_in_memory(&mut [0; 2 * VALUE_BYTES], 0, 0, 0, VALUE_BYTES);
    assert!(std::panic::catch_unwind(short).is_err());
}
