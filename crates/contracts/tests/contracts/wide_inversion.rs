//! Inversion over wide fields by the EVM as it is, beside inverses of numbers.

use crate::by_precompiles::by_precompiles;
use num_bigint::BigUint;
use residue_compiler::compile;
use residue_compiler::wide::system::{Residue, System};
use residue_curves::p384;
use residue_engine::{Engine, EngineConfig, Fork, Halt, Outcome};
use residue_formula::Number;
use residue_ir::{Machine, Program, record};
use residue_isa::{GasSchedule, Revision};
use residue_modular::fields::{Bls12_377Fp, Bw6_761Fp, P384Fp, P521Fp};

/// Bytes of a number.
const BYTES: usize = 96;
/// More than an inversion takes of up to 430 bits, and of more, with some beginnings anew.
const GAS_MAX: [u64; 2] = [60_000, 140_000];

fn power(bits: u32) -> BigUint {
    BigUint::from(1u8) << bits
}

/// Fields in use, both ends of the widths, and a composite with short factors.
fn moduli() -> Vec<BigUint> {
    let of_381 = residue_curves::bls12_381::constants::modulus();
    let fields = [of_381, Bls12_377Fp::modulus(), P384Fp::modulus(), P521Fp::modulus(), Bw6_761Fp::modulus()];
    let composite = (power(257) + 1u8) * 3u8 * 5u8 * 7u8;
    let others = [
        p384::curve().constants.order.clone(),
        power(256) + 297u32,
        power(430) - 105u8,
        power(500) + 3u8,
        power(768) - 105u8,
        composite,
    ];
    // Products of moduli of base B, modulo which A is 1: multiplied by A numbers stay what they are there.
    let of_base = |bits: u32, count: u8| -> BigUint {
        let system = System::new(&(power(bits) - 1u8)).unwrap();
        (0..count).map(|number| system.factor(Residue::B(number)).clone()).product()
    };
    let shared = [of_base(380, 1) * 131_071u32, of_base(521, 1) * (power(260) + 9u8), of_base(767, 3)];
    fields.into_iter().chain(others).chain(shared).filter(|p| System::new(p).is_ok()).collect()
}

/// Numbers that are little, powers of two or short of p, and those of which the product with A is, which has long quotients; and some at random.
fn values(p: &BigUint) -> Vec<BigUint> {
    let over = System::new(p).unwrap().a.modinv(p).unwrap();
    let powers = (0..p.bits()).step_by(13).map(|bits| BigUint::from(1u8) << bits);
    let little = (0u32..4).map(BigUint::from).chain(powers);
    let both = little.flat_map(|value| [value.clone(), p - &value % p, &value * &over, p - &value * &over % p]);
    // Multiples of what a modulus of base B leaves of p.
    let system = System::new(p).unwrap();
    let rests = (0..system.count())
        .map(|number| p / system.factor(Residue::B(number)))
        .flat_map(|rest| [rest.clone(), rest * 3u8]);
    let both = both.chain(rests);
    let random = (1u32..24).map(|exponent| BigUint::from(3u8).modpow(&(&over * exponent), p));
    both.chain(random).map(|value| value % p).collect()
}

/// A program that returns the inverse of a number.
fn inversion(p: &BigUint) -> Program {
    record("inverse", p, |machine| {
        let value = machine.parse(machine.small(0), BYTES as u32); // few
        machine.return_elements(machine.invert(value), BYTES as u32); // few
    })
}

fn padded(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; BYTES - digits.len()], digits].concat()
}

/// Requires the inverse of a number, or 0 if it has none; whether it has one.
fn is_inverse(outcome: &Outcome, value: &BigUint, p: &BigUint) -> bool {
    assert_eq!(outcome.halt, Halt::Return, "{value:#x} modulo {p:#x}");
    let inverse = value.modinv(p);
    let is_invertible = inverse.is_some();
    assert_eq!(BigUint::from_bytes_be(&outcome.output), inverse.unwrap_or_default(), "{value:#x} modulo {p:#x}");
    is_invertible
}

/// From Berlin to Prague the precompile inverts where it may be called and the modulus is a prime, for less gas; else Euclid's algorithm does.
#[test]
fn modexp_inverts_where_it_is_cheaper() {
    let mut cheaper = 0;
    for p in &moduli() {
        let program = inversion(p);
        let [cheap, dear] = [Fork::Prague, Fork::Osaka].map(|fork| by_precompiles(&program, fork).unwrap().0);
        let mut by_fork = [cheap, dear];
        let mut is_less = true;
        for value in values(p).iter().step_by(5) {
            let gas = by_fork.each_mut().map(|code| {
                let outcome = code.run(&padded(value), 1 << 30);
                is_inverse(&outcome, value, p);
                outcome.gas_used
            });
            is_less &= value.bits() < 2 || gas[0] < gas[1];
        }
        cheaper += usize::from(is_less);
    }
    assert!(cheaper >= 6, "{cheaper} moduli");
}

#[test]
fn inverses_are_those_of_numbers() {
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    let moduli = moduli();
    assert!(moduli.len() >= 13, "{moduli:x?}");
    let (mut most, mut invertible) = ([0; 2], 0);
    for p in &moduli {
        let code = compile(&inversion(p), Revision::Evm, &schedule).unwrap().code;
        for value in values(p) {
            let outcome = engine.run_code(&code, &padded(&value), 1 << 30);
            invertible += usize::from(is_inverse(&outcome, &value, p));
            let most = &mut most[usize::from(p.bits() > 430)];
            *most = outcome.gas_used.max(*most);
        }
    }
    assert!(invertible > 1500, "{invertible}");
    assert!(most.iter().zip(GAS_MAX).all(|(&most, limit)| most < limit), "{most:?}");
}
