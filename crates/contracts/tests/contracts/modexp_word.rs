//! `modexp/word` in each of its forms against revm's precompile.

use std::num::NonZeroU64;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_compiler::{Deployment, Dialect, SmallMultiples, compile_as};
use residue_contracts::{Source, find};
use residue_engine::native::precompile;
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared};
use residue_ir::Length;
use residue_isa::precompile::MODEXP;
use residue_isa::{GasSchedule, Revision};

use crate::modexp::input;

/// More than any input takes.
const GAS: u64 = 1_000_000;

/// A form: its code, and what it may have of bytes, and of gas for the example.
struct Form {
    code: Vec<u8>,
    bytes_max: usize,
    gas_max: u64,
}

/// The fastest form, the one for 100 calls and the one for a single call.
fn forms() -> [Form; 3] {
    let contract = find("modexp/word").unwrap();
    [(None, 16_384, 5_900), (Some(100), 6_144, 6_500), (Some(1), 1_400, 9_200)].map(|(calls, bytes_max, gas_max)| {
        let deployment = calls.map(|calls| Deployment { gas_a_byte: 200, calls: NonZeroU64::new(calls).unwrap() });
        let length = if calls.is_some() { Length::Short } else { Length::Full };
        let dialect = Dialect { deployment, length, ..Dialect::default() };
        let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
        let recorded = residue_ir::Form { length: Some(length), ..Default::default() };
        let program = contract.program_as(recorded);
        let compiled = compile_as(&program, Revision::Evm, &schedule, SmallMultiples::AsWritten, dialect).unwrap();
        Form { code: compiled.code, bytes_max, gas_max }
    })
}

fn prepared() -> Vec<Prepared> {
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    forms().iter().map(|form| engine.prepare(&form.code)).collect()
}

/// Asserts that every form returns what the precompile does, with as much gas as it takes, and runs out of it with 1 less.
#[track_caller]
fn check(forms: &mut [Prepared], input: &[u8]) {
    let native = precompile(Fork::Osaka, MODEXP, input, u64::MAX).unwrap();
    for (number, form) in forms.iter_mut().enumerate() {
        let run = form.run_without_memory(input, GAS);
        let place = || format!("form {number}: {}", hex::encode(input));
        assert_eq!((run.halt, &run.output), (Halt::Return, &native.output), "{}", place());
        let exact = form.run_without_memory(input, run.gas_used);
        assert_eq!((exact.halt, &exact.output), (Halt::Return, &native.output), "{}", place());
        assert_eq!(form.run_without_memory(input, run.gas_used - 1).halt, Halt::OutOfGas, "{}", place());
    }
}

/// A number of this length in bytes: zero, all bits set, padded with zeros on either side, one bit, or random.
fn number(random: &mut ChaCha8Rng, bytes: usize) -> Vec<u8> {
    let mut number = vec![0; bytes];
    let zeros = random.random_range(0..=bytes);
    match random.random_range(0..7) {
        0 => {}
        1 => number.fill(0xff),
        2 => random.fill(&mut number[zeros..]),
        3 => random.fill(&mut number[..zeros]),
        4 => number.iter_mut().rev().skip(zeros).take(1).for_each(|byte| *byte = 1 << random.random_range(0..8)),
        5 => number.iter_mut().rev().take(1).for_each(|byte| *byte = random.random_range(0..5)),
        _ => random.fill(&mut number[..]),
    }
    number
}

/// The form of most gas that fits its bytes, and of most bytes that keeps to its gas.
#[test]
fn the_forms_are_as_short_and_as_cheap_as_promised() {
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let example = (find("modexp/word").unwrap().example)();
    for Form { code, bytes_max, gas_max } in forms() {
        let gas = engine.run_code(&code, &example, GAS).gas_used;
        let found = format!("{} bytes, {gas} gas", code.len());
        assert!(code.len() <= bytes_max && gas <= gas_max, "{found}; at most {bytes_max} bytes, {gas_max} gas");
    }
}

#[test]
fn numbers_of_a_word_are_those_of_the_precompile() {
    let (mut random, mut forms) = (ChaCha8Rng::seed_from_u64(31), prepared());
    for case in 0..residue_extent::cases(600) {
        let mut length = || match random.random_range(0..3) {
            0 => random.random_range(0..=32),
            1 => *[0, 1, 31].choose(&mut random).unwrap(),
            _ => 32,
        };
        let lengths = [length(), length(), length()];
        let mut numbers = lengths.map(|length| number(&mut random, length));
        if case % 5 == 0 {
            numbers[2]
                .iter_mut()
                .rev()
                .enumerate()
                .for_each(|(at, byte)| *byte = if at == 0 { case as u8 % 4 } else { 0 });
        }
        let mut input = input(&numbers[0], &numbers[1], &numbers[2]);
        match case % 8 {
            0 => input.truncate(random.random_range(0..=input.len())),
            1 => input.extend([0xff; 40]),
            _ => {}
        }
        check(&mut forms, &input);
    }
}

/// The least and the greatest exponent of each number of bits, for calls of words and of fewer bytes, modulo odd and even numbers.
#[test]
fn exponents_of_every_length_are_those_of_the_precompile() {
    let (mut random, mut forms) = (ChaCha8Rng::seed_from_u64(32), prepared());
    for bits in 0..=256usize {
        let mut most = [0; 32];
        (0..bits).for_each(|bit| most[31 - bit / 8] |= 1 << (bit % 8));
        let mut least = [0; 32];
        if bits > 0 {
            least[31 - (bits - 1) / 8] = 1 << ((bits - 1) % 8);
        }
        for exponent in [least, most] {
            let [base, modulus] = [(); 2].map(|()| number(&mut random, 32));
            check(&mut forms, &input(&base, &exponent, &modulus));
            check(&mut forms, &input(&base[1..], &exponent[32 - bits.div_ceil(8)..], &modulus[1..]));
        }
    }
    for zeros in [0, 1, 29] {
        let exponent = [vec![0; zeros], vec![1, 0, 1]].concat();
        check(&mut forms, &input(&[7; 32], &exponent, &[0xfe; 32]));
    }
}

/// Lengths above 32 fail and take all gas, whatever the other numbers are.
#[test]
fn longer_numbers_are_refused() {
    let mut forms = prepared();
    let word = |value: u64| [[0; 24].to_vec(), value.to_be_bytes().to_vec()].concat();
    let above = [word(33), word(1 << 32), word(1025), [vec![0x80], vec![0; 31]].concat(), vec![0xff; 32]];
    for (place, above) in (0..3).flat_map(|place| above.iter().map(move |above| (place, above))) {
        for other in [0, 1, 32] {
            let mut lengths = [(); 3].map(|()| word(other));
            lengths[place].clone_from(above);
            let input = [&lengths.concat()[..], &[3; 100]].concat();
            for form in &mut forms {
                let run = form.run_without_memory(&input, GAS);
                let halts = run.halt.is_exceptional() && run.halt != Halt::OutOfGas;
                assert!(halts && run.gas_used == GAS, "{:?}, {} gas: {}", run.halt, run.gas_used, hex::encode(&input));
            }
        }
    }
}
