//! Inversion over wide fields by the EVM as it is, beside inverses of numbers.

use num_bigint::BigUint;
use residue_compiler::compile;
use residue_compiler::wide::system::System;
use residue_curves::p384;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_formula::Number;
use residue_ir::{Machine, record};
use residue_isa::{GasSchedule, Revision};
use residue_modular::fields::{Bls12_377Fp, P384Fp};

/// Bytes of a number.
const BYTES: usize = 56;
/// More than an inversion takes, with some beginnings anew.
const GAS_MAX: u64 = 60_000;

fn power(bits: u32) -> BigUint {
    BigUint::from(1u8) << bits
}

/// Fields in use, both ends of the widths, and a composite with short factors.
fn moduli() -> Vec<BigUint> {
    let fields = [residue_curves::bls12_381::constants::modulus(), Bls12_377Fp::modulus(), P384Fp::modulus()];
    let composite = (power(257) + 1u8) * 3u8 * 5u8 * 7u8;
    let others = [p384::constants().order.clone(), power(256) + 297u32, power(430) - 105u8, composite];
    fields.into_iter().chain(others).filter(|p| System::new(p).is_ok()).collect()
}

/// Numbers that are little, powers of two or short of p, and those of which the product with A is, which has long quotients; and some at random.
fn values(p: &BigUint) -> Vec<BigUint> {
    let over = System::new(p).unwrap().a.modinv(p).unwrap();
    let powers = (0..p.bits()).step_by(13).map(|bits| BigUint::from(1u8) << bits);
    let little = (0u32..4).map(BigUint::from).chain(powers);
    let both = little.flat_map(|value| [value.clone(), p - &value % p, &value * &over, p - &value * &over % p]);
    let random = (1u32..24).map(|exponent| BigUint::from(3u8).modpow(&(&over * exponent), p));
    both.chain(random).map(|value| value % p).collect()
}

#[test]
fn inverses_are_those_of_numbers() {
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    let moduli = moduli();
    assert!(moduli.len() >= 6, "{moduli:x?}");
    let (mut most, mut invertible) = (0, 0);
    for p in &moduli {
        let program = record("inverse", p, |machine| {
            let value = machine.parse(machine.small(0), BYTES as u32); // few
            machine.return_elements(machine.invert(value), BYTES as u32); // few
        });
        let code = compile(&program, Revision::Evm, &schedule).unwrap().code;
        for value in values(p) {
            let digits = value.to_bytes_be();
            let input = [vec![0; BYTES - digits.len()], digits].concat();
            let outcome = engine.run_code(&code, &input, 1 << 30);
            assert_eq!(outcome.halt, Halt::Return, "{value:#x} modulo {p:#x}");
            let inverse = value.modinv(p);
            invertible += usize::from(inverse.is_some());
            assert_eq!(
                BigUint::from_bytes_be(&outcome.output),
                inverse.unwrap_or_default(),
                "{value:#x} modulo {p:#x}"
            );
            most = most.max(outcome.gas_used);
        }
    }
    assert!(invertible > 900, "{invertible}");
    assert!(most < GAS_MAX, "{most}");
}
