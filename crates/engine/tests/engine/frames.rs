//! Small programs of `evm384-v7` and `eip6690-2024` in a frame of their own, their results and their gas.

use crate::code::{BLS12_381_P, Code, eip6690, evm384, modulus_101};
use num_bigint::BigUint;
use residue_engine::{Halt, Outcome};
use residue_isa::revision::eip6690_2024::{ADDMODX, MULMODX, SUBMODX};
use residue_isa::revision::evm384_v7::{ADDMOD384, LOGF, MULMODMONT384, SUBMOD384};

const GAS: u64 = 1_000_000;

#[track_caller]
fn check(outcome: &Outcome, output: &[u64], gas_used: u64) {
    assert_eq!(outcome.halt, Halt::Return);
    let words: Vec<u8> = output.iter().flat_map(|word| word.to_be_bytes()).collect();
    assert_eq!(hex::encode(&outcome.output), hex::encode(words));
    assert_eq!(outcome.gas_used, gas_used);
    assert_eq!(outcome.gas_left, GAS - gas_used);
}

#[test]
fn eip6690_adds_subtracts_and_multiplies_in_slots() {
    let code = modulus_101(0, 5)
        .mstore(0, 77)
        .mstore(32, 55)
        .storex(0, 24, 1)
        .storex(1, 56, 1)
        .one(ADDMODX, 2, 0, 1)
        .one(SUBMODX, 3, 1, 0)
        .one(MULMODX, 4, 0, 1)
        .loadx(0, 2, 3)
        .ret(0, 24);
    let outcome = eip6690().run_code(&code.0, &[], GAS);
    let setmodx = 11 + 1 + 6 + 23; // pushes, base, growth by two words, T1
    let stores = (8 + 1 + 1) + (9 + 1 + 1); // pushes, base, T3
    let load = 8 + 1 + 3;
    let words = (8 + 3) + 8 + (9 + 3); // MSTOREs with growth
    check(&outcome, &[(77 + 55) % 101, 101 + 55 - 77, 77 * 55 % 101], words + setmodx + stores + 3 + load + 5);
    assert_eq!(outcome.memory.len(), 64);
}

#[test]
fn evm384_works_in_memory() {
    let p = BigUint::parse_bytes(BLS12_381_P.as_bytes(), 16).unwrap();
    let r_inv = 0x89f3_fffc_fffc_fffd_u64;
    let le = |value: &BigUint| {
        let mut bytes = value.to_bytes_le();
        bytes.resize(48, 0);
        bytes
    };
    let (x, y) = (&p - 5u32, &p - 7u32);
    let modulus = [le(&p), r_inv.to_le_bytes().to_vec()].concat();
    let code = Code::new()
        .store(0, &le(&x))
        .store(64, &le(&y))
        .store(128, &modulus)
        .v7(ADDMOD384, 192, 0, 64, 128)
        .v7(SUBMOD384, 240, 0, 64, 128)
        .v7(MULMODMONT384, 288, 0, 64, 128)
        .stack(&[1, 2, 3])
        .op(LOGF)
        .ret(192, 144);
    let outcome = evm384().run_code(&code.0, &[], GAS);
    assert_eq!(outcome.halt, Halt::Return);
    let two_384: BigUint = BigUint::from(1u8) << 384;
    let r_inverse = two_384.modinv(&p).unwrap();
    let expected = [(&x + &y) % &p, (&p + &x - &y) % &p, &x * &y * r_inverse % &p].map(|value| le(&value)).concat();
    assert_eq!(hex::encode(&outcome.output), hex::encode(expected));
    // Six words written at 3 + 3 + 3 (the first offset is PUSH0), three instructions with their pushes, LOGF, RETURN.
    let stores = 6 * 9 - 1;
    let memory = 3 * 11;
    assert_eq!(outcome.gas_used, stores + (3 + 8) + (3 + 8) + (3 + 24) + (9 + 1) + 6 + memory);
    assert_eq!(outcome.memory.len(), 11 * 32);
}

#[test]
fn empty_code_stops() {
    for engine in [eip6690(), evm384()] {
        let outcome = engine.run_code(&[], &[], GAS);
        assert_eq!((outcome.halt, outcome.gas_used), (Halt::Stop, 0));
    }
}
