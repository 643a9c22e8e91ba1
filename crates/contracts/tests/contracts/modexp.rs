//! Modular exponentiation against revm's precompile.
//!
//! `RESIDUE_CASES=5000 cargo test --release -p residue-contracts --test contracts modexp` is a longer campaign.

use std::num::NonZeroU64;

use num_bigint::BigUint;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_compiler::{Deployment, Dialect, SmallMultiples, compile_as};
use residue_contracts::{Source, find};
use residue_engine::native::precompile;
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared};
use residue_formula::Number;
use residue_ir::{Form, Length};
use residue_isa::precompile::MODEXP;
use residue_isa::{GasSchedule, Revision};
use residue_modular::fields::{Bn254Fp, Bn254Fr};

use crate::linked::LinkedCode;
use crate::support::{chosen, everywhere};

/// More than the dearest input takes.
const GAS: u64 = 1_000_000_000;

pub fn input(base: &[u8], exponent: &[u8], modulus: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| [vec![0; 24], (bytes.len() as u64).to_be_bytes().to_vec()].concat(); // usize to u64 widens
    [&length(base)[..], &length(exponent), &length(modulus), base, exponent, modulus].concat()
}

/// The contract under every revision that can express it, its short form under some, and the one in words, in both lengths.
fn contracts() -> Vec<(Revision, Prepared)> {
    let mut contracts = in_words();
    contracts.extend(everywhere(find("modexp").unwrap()));
    let short = [Revision::Eip6690_2024, Revision::EvmmaxNext, Revision::Eip6601].map(|revision| {
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        (revision, engine.prepare(&code("modexp", revision, Length::Short)))
    });
    contracts.extend(short);
    contracts
}

/// The contract in words, for which code is the same under all revisions, its short form, and the linked one: under revisions that [`chosen`] always has.
fn in_words() -> Vec<(Revision, Prepared)> {
    let forms = [(Revision::Evm384V7, Length::Full), (Revision::Eip6690_2024, Length::Short)];
    let forms = forms.map(|(revision, length)| {
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        (revision, engine.prepare(&code("modexp/words", revision, length)))
    });
    let revision = Revision::Evm384V7;
    let linked = LinkedCode::new("modexp/words", revision);
    forms.into_iter().chain([(revision, linked.engine(revision, false).prepare(&linked.code))]).collect()
}

/// Code of a contract of these. Where it is short a byte is worth 200 gas of so many calls that an account holds it.
pub fn code(name: &str, revision: Revision, length: Length) -> Vec<u8> {
    let deployment = Deployment { gas_a_byte: 200, calls: NonZeroU64::new(65_536).unwrap() };
    let dialect = match length {
        Length::Short => Dialect { length, deployment: Some(deployment), ..Dialect::default() },
        Length::Full | Length::Middle => Dialect { length, ..Dialect::default() },
    };
    let program = find(name).unwrap().program_as(Form { length: Some(length), ..Form::default() });
    let schedule = GasSchedule::default_for(revision).unwrap();
    compile_as(&program, revision, &schedule, SmallMultiples::AsWritten, dialect).unwrap().code
}

/// A number of `bytes` bytes: with few bits, all bits, zeros at its end, zeros in front, or at random.
fn number(random: &mut ChaCha8Rng, bytes: usize) -> Vec<u8> {
    let mut number = vec![0; bytes];
    match random.random_range(0..8) {
        0 => {}
        1 => number.fill(0xff),
        2 => number.iter_mut().rev().take(1).for_each(|byte| *byte = random.random_range(0..5)),
        3 => {
            random.fill(&mut number[..]);
            let zeros = random.random_range(0..=bytes);
            number[..zeros].fill(0);
        }
        4 => {
            random.fill(&mut number[..]);
            let zeros = random.random_range(0..=bytes);
            number[bytes - zeros..].fill(0);
        }
        5 => {
            let bit = random.random_range(0..8 * bytes.max(1));
            number.iter_mut().rev().skip(bit / 8).take(1).for_each(|byte| *byte = 1 << (bit % 8));
        }
        _ => random.fill(&mut number[..]),
    }
    number
}

/// Mostly one where something begins to be done otherwise.
fn length(random: &mut ChaCha8Rng, most: usize) -> usize {
    let known = [0, 1, 2, 31, 32, 33, 47, 48, 63, 64, 65, 95, 96, 97, 128, 1024];
    match random.random_range(0..4) {
        0 => *known.choose(random).unwrap(),
        1 => 32,
        _ => random.random_range(0..=most),
    }
    .min(most)
}

/// An input whose modulus has at most 768 bits, in up to 200 bytes.
fn narrow(random: &mut ChaCha8Rng) -> Vec<u8> {
    let [base, exponent] = [200, 100].map(|most| {
        let length = length(random, most);
        number(random, length)
    });
    let length = length(random, 96);
    let modulus = number(random, length);
    let zeros = if random.random_ratio(1, 8) { random.random_range(0..100) } else { 0 };
    let mut input = input(&base, &exponent, &[vec![0; zeros], modulus].concat());
    if random.random_ratio(1, 16) {
        input.truncate(random.random_range(0..=input.len()));
    }
    if random.random_ratio(1, 16) {
        input.extend([1; 40]);
    }
    input
}

/// Asserts that every contract does what the precompile does: output, or failure.
#[track_caller]
fn check(contracts: &mut [(Revision, Prepared)], input: &[u8]) {
    let native = precompile(Fork::Osaka, MODEXP, input, u64::MAX);
    for (revision, contract) in chosen(contracts, input) {
        let ours = contract.run_without_memory(input, GAS);
        let what = || format!("{revision}: {}", hex::encode(input));
        match &native {
            Ok(native) => assert_eq!((ours.halt, &ours.output), (Halt::Return, &native.output), "{}", what()),
            Err(_) => assert!(ours.halt.is_exceptional() && ours.halt != Halt::OutOfGas, "{}", what()),
        }
    }
}

#[test]
fn the_short_form_fits_an_account() {
    let revision = Revision::Eip6690_2024;
    let code = code("modexp", revision, Length::Short);
    assert!(code.len() <= 24_576, "{} bytes", code.len());
    let mut prepared = Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code);
    let mut gas = |bytes: usize, exponent: &[u8]| {
        let [base, modulus] = [0x7f, 0xff].map(|byte| vec![byte; bytes]);
        prepared.run_without_memory(&input(&base, exponent, &modulus), GAS).gas_used
    };
    let mut random = [0; 32];
    ChaCha8Rng::seed_from_u64(198).fill(&mut random[..]);
    random[0] |= 0x80;
    // An exponent of 256 bits at random, the dearest one, and RSA of 2048 bits, whose price is 32,768.
    let all = [gas(32, &random), gas(32, &[0xff; 32]), gas(256, &[1, 0, 1])];
    assert!(all[0] <= 2_150 && all[1] <= 2_170 && 10 * all[2] <= 16 * 32_768, "{all:?}");
}

#[test]
fn numbers_at_random() {
    let cases = residue_extent::cases(300);
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(5), contracts());
    for _ in 0..cases {
        check(&mut contracts, &narrow(&mut random));
    }
}

#[test]
fn moduli_with_every_power_of_two() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(6), contracts());
    for power in 0..768 {
        let bits = if random.random_ratio(1, 4) { power + 1 } else { random.random_range(power + 1..=768) };
        let mut odd: BigUint = BigUint::from_bytes_be(&number(&mut random, 96)) >> (768 - (bits - power));
        odd.set_bit(0, true);
        odd.set_bit((bits - power - 1) as u64, true); // usize to u64 widens
        let exponent = number(&mut random, if power % 8 == 0 { 40 } else { 2 });
        check(&mut contracts, &input(&number(&mut random, bits / 8 + 1), &exponent, &(odd << power).to_bytes_be()));
    }
}

/// Numbers of 48 bytes each, about the edges of those that are found in place.
#[test]
fn numbers_of_48_bytes() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(8), contracts());
    for case in 0..96 {
        let mut numbers = [(); 3].map(|()| number(&mut random, 48));
        let [base, exponent, modulus] = &mut numbers;
        if case % 4 > 0 {
            modulus[47] |= 1;
            // 2²⁵⁶ + 1 is the least, 2³⁸⁴ − 1 the most.
            match case % 5 {
                0 => modulus[..47].fill(0),
                1 => modulus[..16].fill(0),
                2 => modulus.fill(0xff),
                _ => {}
            }
            modulus[15] |= u8::from(case % 3 > 0);
        }
        match case % 7 {
            // 2¹⁹² − 1, 2¹⁹², 2³⁸⁴ − 1.
            0 => exponent.copy_from_slice(&[[0; 24], [0xff; 24]].concat()),
            1 => exponent.copy_from_slice(&[&[0; 23][..], &[1], &[0; 24]].concat()),
            2 => exponent.fill(0xff),
            _ => {}
        }
        if case % 8 == 0 {
            base.copy_from_slice(modulus);
        }
        check(&mut contracts, &input(&numbers[0], &numbers[1], &numbers[2]));
    }
}

#[test]
fn lengths_above_the_limit_fail() {
    let mut contracts = contracts();
    let word = |value: BigUint| [vec![0; 32 - value.to_bytes_be().len()], value.to_bytes_be()].concat();
    let above = [BigUint::from(1025u32), BigUint::from(1u8) << 64, (BigUint::from(1u8) << 256) - 1u8];
    for (place, above) in (0..3).flat_map(|place| above.iter().map(move |above| (place, above))) {
        for others in [0u32, 32, 1024] {
            let mut lengths = [0; 3].map(|_| BigUint::from(others));
            lengths[place] = above.clone();
            check(&mut contracts, &[&lengths.map(word).concat()[..], &[3; 100]].concat());
        }
    }
    let longest = input(&[7; 1024], &[255; 1024], &[[0; 992].to_vec(), vec![3; 32]].concat());
    check(&mut contracts, &longest);
}

/// An input whose modulus has more than 768 bits, mostly about as many as something changes at.
fn wide(random: &mut ChaCha8Rng) -> Vec<u8> {
    let edges = [769, 1024, 2048, 3072, 4096, 8192].into_iter().chain([3, 6, 9, 12].map(|limbs| 368 * limbs - 3));
    let bits = match random.random_range(0..3) {
        0 => random.random_range(769..=8192),
        _ => *edges.collect::<Vec<usize>>().choose(random).unwrap() + random.random_range(0..3) - 1,
    };
    let bits = bits.clamp(769, 8192);
    let mut modulus = BigUint::from_bytes_be(&number(random, bits.div_ceil(8))) >> (bits.next_multiple_of(8) - bits);
    modulus.set_bit(bits as u64 - 1, true); // usize to u64 widens
    match random.random_range(0..4) {
        0 => {}
        1 => modulus = (BigUint::from(1u8) << bits) - 1u8,
        2 => modulus = modulus >> (bits - 1) << (bits - 1),
        _ => modulus.set_bit(0, true),
    }
    let most = if random.random_ratio(1, 3) { 1024 } else { bits.div_ceil(8) };
    let length = random.random_range(bits.div_ceil(8)..=most);
    let modulus = [vec![0; length - bits.div_ceil(8)], modulus.to_bytes_be()].concat();
    let most = *[0, 45, 46, 47, length, 1024].choose(random).unwrap();
    let base = match random.random_range(0..4) {
        0 => {
            let length = random.random_range(0..=most);
            number(random, length)
        }
        1 => (BigUint::from_bytes_be(&modulus) - 1u8).to_bytes_be(),
        2 => (BigUint::from_bytes_be(&modulus) + random.random_range(0..2u8)).to_bytes_be(),
        _ => number(random, most),
    };
    let exponent = match random.random_range(0..8) {
        0 => BigUint::from(random.random_range(0..20u32)).to_bytes_be(),
        1 | 2 => random.random::<u32>().to_be_bytes().to_vec(),
        3 => (u64::from(u32::MAX) + random.random_range(0..3)).to_be_bytes().to_vec(),
        4 => vec![],
        5 => [vec![0; random.random_range(0..70)], vec![random.random(); 3]].concat(),
        6 => {
            let length = random.random_range(0..40);
            number(random, length)
        }
        _ => vec![1, 0, 1],
    };
    let mut input = input(&base, &exponent, &modulus);
    if random.random_ratio(1, 16) {
        input.truncate(random.random_range(96..=input.len()));
    }
    if random.random_ratio(1, 8) {
        input.extend([0xff; 80]);
    }
    input
}

#[test]
fn wide_numbers_at_random() {
    let cases = residue_extent::cases(150);
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(7), contracts());
    for _ in 0..cases {
        check(&mut contracts, &wide(&mut random));
    }
}

#[test]
fn quotients_that_are_barely_whole() {
    // Products just below, at and above multiples of the modulus, for moduli whose upper limbs are extreme.
    let mut contracts = contracts();
    for bits in [1024u32, 1101, 2205, 4413, 8192] {
        let top = BigUint::from(1u8) << (bits - 1);
        for modulus in [&top + 1u8, &top * 2u8 - 1u8, &top + (BigUint::from(1u8) << (bits / 2)), &top + (&top >> 1u32)]
        {
            let root = modulus.sqrt();
            for base in [&root - 1u8, root.clone(), &root + 1u8, &modulus - 1u8, &modulus + 1u8, &modulus - &root] {
                for exponent in [1u8, 2, 3] {
                    check(&mut contracts, &input(&base.to_bytes_be(), &[exponent], &modulus.to_bytes_be()));
                }
            }
        }
    }
}

#[test]
fn limbs_of_words_and_their_edges() {
    // Lengths at which the number of limbs changes, extreme limbs of numbers, and exponents of every way.
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(8), in_words());
    let ones = |bytes: usize| vec![0xff; bytes];
    let sparse = |bytes: usize, every: usize| -> Vec<u8> { (0..bytes).map(|at| u8::from(at % every == 0)).collect() };
    // Short code has as many limbs as there are from ten on: a few of those, others each day.
    let more: Vec<usize> = (10..=35).collect();
    for limbs in [2usize, 3, 5, 9, 14, 18].into_iter().chain(residue_extent::sample(&more, 13, 0).copied()) {
        for bytes in [29 * limbs - 2, 29 * limbs - 1, 29 * limbs] {
            for modulus in [ones(bytes), sparse(bytes, 29), sparse(bytes, 1000), number(&mut random, bytes)] {
                for base in [ones(29 * limbs), ones(29 * limbs + 1), sparse(bytes, 29), number(&mut random, bytes)] {
                    let exponent = match random.random_range(0..6) {
                        0 => vec![1, 0, 1],
                        1 => vec![2],
                        2 => vec![],
                        3 => number(&mut random, 2),
                        4 => number(&mut random, 5),
                        _ => [vec![0; 40], vec![7]].concat(),
                    };
                    check(&mut contracts, &input(&base, &exponent, &modulus));
                }
            }
        }
    }
}

#[test]
fn exponents_of_every_length_modulo_a_word() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(9), contracts());
    contracts.retain(|(revision, _)| *revision == Revision::Evm384V7);
    for bits in 0..=300usize {
        for exponent in [
            BigUint::from(1u8) << bits,
            (BigUint::from(1u8) << bits) - 1u8,
            BigUint::from_bytes_be(&number(&mut random, bits / 8 + 1)),
        ] {
            let size = if bits <= 256 && random.random_ratio(1, 2) { 32 } else { exponent.to_bytes_be().len() };
            let digits = exponent.to_bytes_be();
            let exponent = [vec![0; size.saturating_sub(digits.len())], digits].concat();
            let modulus = number(&mut random, 32);
            check(&mut contracts, &input(&number(&mut random, 32), &exponent, &modulus));
        }
    }
}

/// Exponents about the lengths at which something else is done.
fn edge_exponent(random: &mut ChaCha8Rng) -> BigUint {
    let bits = *[0u32, 1, 2, 4, 8, 16, 17, 32, 64, 128, 254, 255, 256, 257].choose(random).unwrap();
    let power = BigUint::from(1u8) << bits;
    match random.random_range(0..4) {
        0 => power - 1u8,
        1 => power,
        2 => power + 1u8,
        _ => BigUint::from_bytes_be(&number(random, 40)) % power,
    }
}

/// Short numbers in up to 40 bytes each: every length, parity and kind of exponent.
#[test]
fn short_numbers_of_every_length() {
    let cases = residue_extent::cases(1).div_ceil(300);
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(10), contracts());
    for (case, bytes) in (0..12 * cases).flat_map(|case| (0..=40usize).map(move |bytes| (case, bytes))) {
        let mut modulus = number(&mut random, bytes);
        if let Some(last) = modulus.last_mut() {
            // Odd, odd times few powers of two, or as it is; 0, 1 and 2 are among them.
            match case % 4 {
                0 | 1 => *last |= 1,
                2 => *last = (*last | 1) << random.random_range(1..8u32),
                _ => {}
            }
        }
        let exponent = edge_exponent(&mut random).to_bytes_be();
        let zeros = if case % 3 == 0 { 32usize.saturating_sub(exponent.len()) } else { random.random_range(0..3) };
        let base = match random.random_range(0..4) {
            0 => modulus.clone(),
            1 => vec![0xff; bytes],
            2 => number(&mut random, 32),
            _ => {
                let length = random.random_range(0..=40);
                number(&mut random, length)
            }
        };
        let mut input = input(&base, &[vec![0; zeros], exponent].concat(), &modulus);
        if random.random_ratio(1, 8) {
            input.truncate(random.random_range(0..=input.len()));
        }
        check(&mut contracts, &input);
    }
}

/// Three words of calldata: moduli with every power of two below 2²⁵⁶, about every length of exponent.
#[test]
fn words_in_place() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(11), contracts());
    for power in 0..512usize {
        let odd = (BigUint::from_bytes_be(&number(&mut random, 32)) >> (power % 256)) | BigUint::from(1u8);
        let modulus = match random.random_range(0..8) {
            0 => BigUint::from(1u8) << (power % 256),
            1 => BigUint::from(random.random_range(0..3u8)),
            _ => (odd << (power % 256)) % (BigUint::from(1u8) << 256),
        };
        let exponent = match random.random_range(0..8) {
            // Those that have an addition chain, here modulo other numbers.
            0 => Bn254Fp::modulus() - 2u8,
            1 => Bn254Fr::modulus() - 2u8,
            _ => edge_exponent(&mut random) % (BigUint::from(1u8) << 256),
        };
        let word = |value: &BigUint| [vec![0; 32 - value.to_bytes_be().len()], value.to_bytes_be()].concat();
        check(&mut contracts, &input(&number(&mut random, 32), &word(&exponent), &word(&modulus)));
    }
}

/// Base and modulus of a word each, and between them exponents of a few bytes, of which some are found without reading lengths.
#[test]
fn short_exponents_between_words() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(14), contracts());
    for bytes in 0..=5usize {
        for value in
            [0, 1, 2, 3, 4, 15, 16, 17, 127, 128, 255, 256, 257, 65_535, 65_536, 65_537, 65_538, 1 << 24, 65_537 << 8]
        {
            let exponent = &u64::to_be_bytes(value)[8 - bytes..];
            let modulus = match random.random_range(0..6) {
                0 => [vec![0; 31], vec![random.random_range(0..3)]].concat(),
                1 => [&number(&mut random, 31)[..], &[0]].concat(),
                _ => number(&mut random, 32),
            };
            let base = if random.random_range(0..4) == 0 { modulus.clone() } else { number(&mut random, 32) };
            let calldata = input(&base, exponent, &modulus);
            check(&mut contracts, &calldata);
            // Bytes that calldata has not are 0.
            let end = random.random_range(96..calldata.len());
            check(&mut contracts, &calldata[..end]);
        }
    }
}

/// Moduli of two and three words, odd and even, whose base is shorter, as long, longer, or not below them.
#[test]
fn words_that_are_copied() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(12), contracts());
    for case in 0..600usize {
        let bytes = *[33, 40, 47, 48, 49, 63, 64, 65, 80, 95, 96, 97, 128].choose(&mut random).unwrap();
        let mut modulus = number(&mut random, bytes);
        match case % 4 {
            0 | 1 => modulus[bytes - 1] |= 1,
            2 => modulus[bytes - 1] = (modulus[bytes - 1] | 1) << random.random_range(1..8u32),
            _ => {
                let zeros = random.random_range(0..=bytes);
                modulus[bytes - zeros..].fill(0);
            }
        }
        // The value has at most three words.
        let above = bytes.saturating_sub(96);
        modulus[..above].fill(0);
        let base = match random.random_range(0..6) {
            0 => modulus.clone(),
            1 => [&modulus[..bytes - 1], &[modulus[bytes - 1] ^ 1]].concat(),
            2 => vec![0xff; bytes],
            _ => {
                let length = length(&mut random, 140);
                number(&mut random, length)
            }
        };
        let exponent = edge_exponent(&mut random).to_bytes_be();
        let zeros = if case % 5 == 0 { random.random_range(0..70) } else { 0 };
        let mut input = input(&base, &[vec![0; zeros], exponent].concat(), &modulus);
        if random.random_ratio(1, 16) {
            input.truncate(random.random_range(96..=input.len()));
        }
        check(&mut contracts, &input);
    }
}

/// k of the moduli 2²³² + ρ·k of residues by which Montgomery products divide.
const RESIDUES: [i64; 8] = [1, -1, 3, -3, 5, -5, 7, -7];

/// 2²³² + ρ·k.
fn modulus_of_residues(k: i64) -> BigUint {
    let step = BigUint::from(255_255u64 * 57_969);
    let t = BigUint::from(1u8) << 232;
    if k < 0 { t - step * k.unsigned_abs() } else { t + step * k.unsigned_abs() }
}

/// Bases about the modulus, and those whose residues are extreme.
fn base_of_residues(random: &mut ChaCha8Rng, modulus: &BigUint) -> Vec<u8> {
    let edge = if modulus.bits() < 1200 { 144 } else { 260 };
    match random.random_range(0..12) {
        0 => vec![],
        1 => BigUint::from(random.random_range(0..3u8)).to_bytes_be(),
        2 => (modulus - 1u8).to_bytes_be(),
        3 => (modulus + random.random_range(0..2u8)).to_bytes_be(),
        // The longest numbers that have residues, and longer ones.
        4 => vec![0xff; random.random_range(edge - 1..edge + 3)],
        5 => [vec![0; random.random_range(0..40)], number(random, 230)].concat(),
        6 => number(random, 300),
        // 0 modulo a modulus, or −1.
        7 => (modulus_of_residues(*RESIDUES.choose(random).unwrap()) * 0x1234_5678u32).to_bytes_be(),
        8 => (RESIDUES[..edge / 36].iter().map(|&k| modulus_of_residues(k)).product::<BigUint>() - 1u8).to_bytes_be(),
        // All residues but one are 0 in the base that Montgomery products do not divide by, and that one is short.
        9 | 10 => {
            let second = if edge == 144 { &[-5, 5, -7, 7, -9][..] } else { &[-9, 9, -11, 11, -13, 13, -15, 15, -17] };
            let but = random.random_range(0..second.len());
            let others = second.iter().enumerate().filter(|&(number, _)| number != but);
            let product: BigUint = others.map(|(_, &k)| modulus_of_residues(k)).product();
            let length = random.random_range(0..=28);
            (product * BigUint::from_bytes_be(&number(random, length))).to_bytes_be()
        }
        _ => number(random, 256),
    }
}

/// Exponents about those at which something else is done.
fn exponent_of_residues(random: &mut ChaCha8Rng) -> Vec<u8> {
    let digits = match random.random_range(0..10) {
        0 => BigUint::from(random.random_range(0..4u8)),
        1 => BigUint::from(random.random_range(14..19u8)),
        2 => BigUint::from(u32::MAX) + random.random_range(0..3u8),
        3 => BigUint::from(random.random::<u32>()),
        4 => BigUint::from_bytes_be(&number(random, 40)),
        5 => BigUint::from(1u8) << random.random_range(0..100u32),
        6 => BigUint::from(65_536u32 + random.random_range(0..3u32)),
        _ => BigUint::from(65_537u32),
    };
    let zeros = if random.random_ratio(1, 4) { random.random_range(0..40) } else { 0 };
    [vec![0; zeros], digits.to_bytes_be()].concat()
}

fn check_residues(contracts: &mut [(Revision, Prepared)], random: &mut ChaCha8Rng, modulus: &BigUint) {
    let base = base_of_residues(random, modulus);
    let zeros = if random.random_ratio(1, 8) { random.random_range(0..700) } else { 0 };
    let modulus = [vec![0; zeros], modulus.to_bytes_be()].concat();
    let mut input = input(&base, &exponent_of_residues(random), &modulus);
    match random.random_range(0..24) {
        0 => input.truncate(random.random_range(96..=input.len())),
        1 => input.extend([0xff; 80]),
        _ => {}
    }
    check(contracts, &input);
}

/// Moduli of the lengths that are done by residues and of those about them.
#[test]
fn residues_of_words() {
    let cases = residue_extent::cases(1).div_ceil(200);
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(21), in_words());
    for bytes in (0..cases).flat_map(|_| (114..=146).chain(229..=262u32)) {
        let power = BigUint::from(1u8) << (8 * bytes);
        let moduli = [
            &power - 1u8,
            &power - (1 + 2 * (random.random::<u32>() >> 2)),
            (&power >> 8u8) + 1u8,
            &power >> random.random_range(1..8u8) | BigUint::from(1u8),
            BigUint::from_bytes_be(&number(&mut random, bytes as usize)) | (&power >> 1u8) | BigUint::from(1u8),
            // Even.
            (BigUint::from_bytes_be(&number(&mut random, bytes as usize)) | (&power >> 1u8)) >> 1u8 << 1u8,
        ];
        moduli.iter().for_each(|modulus| check_residues(&mut contracts, &mut random, modulus));
    }
}

/// Moduli for which there are no inverses, or short ones: multiples of a modulus of residues and their neighbours, and powers of small primes.
#[test]
fn residues_without_inverses() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(22), in_words());
    for digits in [5u32, 9] {
        let most = BigUint::from(1u8) << (232 * digits - 8);
        let mut check = |modulus: &BigUint| check_residues(&mut contracts, &mut random, modulus);
        for k in RESIDUES.into_iter().chain([0, 9, -9, 17, -17]) {
            let modulus = modulus_of_residues(k);
            let factor = (&most / &modulus / 3u8) | BigUint::from(1u8);
            for more in [0u32, 1, 2, 3, 65_538] {
                check(&(&modulus * &factor + more));
            }
            check(&(modulus.pow(digits - 1) * 3u8));
        }
        let first: BigUint = RESIDUES[..digits as usize - 1].iter().map(|&k| modulus_of_residues(k)).product();
        for more in [1u32, 2, 3] {
            // 1, −1 and others modulo every modulus.
            check(&(&first * 2u8 + more));
            check(&(&first * 2u8 - more));
        }
        for prime in [3u32, 5, 7, 11, 13, 17, 19, 23] {
            let mut power = BigUint::from(prime);
            while &power * prime < most {
                power *= prime;
            }
            check(&power);
            check(&(&power / prime + 1u8));
            check(&(&power / prime + 2u8));
        }
    }
}

/// Nearly all moduli have inverses that are found.
#[test]
fn powers_by_residues_have_a_bound() {
    let (mut random, contracts) = (ChaCha8Rng::seed_from_u64(23), &mut in_words());
    // By the form. In short code 1024 bits have limbs.
    for (bytes, most) in [(128, [46_000, 72_000]), (256, [96_000, 126_000])] {
        let dear = (0..200).filter(|_| {
            let [mut modulus, base] = [(); 2].map(|()| {
                let mut number = vec![0; bytes];
                random.fill(&mut number[..]);
                number
            });
            modulus[0] |= 0x80;
            modulus[bytes - 1] |= 1;
            let input = input(&base, &[1, 0, 1], &modulus);
            check(contracts, &input);
            contracts.iter_mut().zip(most).any(|(form, most)| form.1.run_without_memory(&input, GAS).gas_used > most)
        });
        assert!(dear.count() <= 2, "{bytes} bytes");
    }
}

/// The number in `bytes` bytes, or in as many as it has.
fn in_bytes(value: &BigUint, bytes: usize) -> Vec<u8> {
    let digits = if value.bits() == 0 { vec![] } else { value.to_bytes_be() };
    [vec![0; bytes.saturating_sub(digits.len())], digits].concat()
}

/// The least exponent of so many bits, the most, and one at random.
fn of_bits(random: &mut ChaCha8Rng, bits: u64) -> [BigUint; 3] {
    let power = BigUint::from(1u8) << bits;
    let least = &power >> 1u8;
    let any = &least + BigUint::from_bytes_be(&number(random, 40)) % &least.clone().max(1u8.into());
    [least, power - 1u8, any]
}

/// Exponents are done byte by byte: about each number of bytes, in calls of words and of fewer bytes, odd and even.
#[test]
fn exponents_about_every_byte() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(15), contracts());
    for bits in (8..=256u64).step_by(8).flat_map(|bits| [bits - 1, bits, bits + 1]) {
        let bytes = if random.random_ratio(1, 2) { 32 } else { random.random_range(1..=32) };
        for exponent in of_bits(&mut random, bits) {
            let mut modulus = number(&mut random, bytes);
            *modulus.last_mut().unwrap() |= u8::from(random.random_ratio(3, 4));
            let base = match random.random_range(0..6) {
                0 => modulus.clone(),
                1 => vec![0; bytes],
                2 => number(&mut random, 40),
                _ => number(&mut random, bytes),
            };
            let size = if random.random_ratio(1, 2) { 32 } else { 0 };
            check(&mut contracts, &input(&base, &in_bytes(&exponent, size), &modulus));
        }
    }
}

/// A modulus of one word above a small one, 1 and 0 among them, and a base that is 0 modulo it.
#[test]
fn words_whose_base_is_0_modulo_them() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(16), contracts());
    for modulus in [0u32, 1, 2, 3, 4, 6, 0xffff, 0x0001_0000] {
        for factor in [0u32, 1, 5] {
            for bits in [8u64, 9, 16, 17, 18, 33, 128, 254, 256] {
                for exponent in of_bits(&mut random, bits) {
                    let [base, modulus] = [BigUint::from(modulus * factor), modulus.into()].map(|n| in_bytes(&n, 32));
                    check(&mut contracts, &input(&base, &in_bytes(&exponent, 32), &modulus));
                }
            }
        }
    }
}

/// Base and modulus of 48, 64 and 96 bytes, about each length of exponent at which something else is done, in every size.
#[test]
fn wide_numbers_in_place() {
    let (mut random, mut contracts) = (ChaCha8Rng::seed_from_u64(17), contracts());
    let lengths = (0..=36u64).chain([47, 48, 49, 63, 64, 65, 80, 81, 127, 128, 129, 191, 192, 193, 240, 255, 256, 257]);
    for (bits, bytes) in lengths.flat_map(|bits| [48usize, 64, 96].map(|bytes| (bits, bytes))) {
        let mut modulus = number(&mut random, bytes);
        match random.random_range(0..8) {
            0 => modulus[bytes - 1] &= 0xfe,
            1 => modulus[..bytes / 3].fill(0),
            _ => modulus[bytes - 1] |= 1,
        }
        let base = match random.random_range(0..8) {
            0 => modulus.clone(),
            1 => vec![0xff; bytes],
            // The first word is that of the modulus.
            2 => [&modulus[..32], &number(&mut random, bytes - 32)].concat(),
            _ => [vec![0], number(&mut random, bytes - 1)].concat(),
        };
        for exponent in of_bits(&mut random, bits) {
            let size = [0, 4, 32, 33, 48, bytes, 70, 1024][random.random_range(0..8)];
            let mut calldata = input(&base, &in_bytes(&exponent, size), &modulus);
            if random.random_ratio(1, 16) {
                calldata.truncate(random.random_range(96..=calldata.len()));
            }
            check(&mut contracts, &calldata);
        }
        let f4 = in_bytes(&65537u32.into(), [0, 32, bytes][random.random_range(0..3)]);
        check(&mut contracts, &input(&base, &f4, &modulus));
    }
    for bytes in [48usize, 64, 96] {
        let exponent = vec![1; 1025];
        check(&mut contracts, &input(&vec![1; bytes], &exponent, &vec![0xff; bytes]));
    }
}
