//! Programs as WebAssembly modules end as the evaluator says, in both forms and on both engines; and the pairing contract
//! ends as the precompile does.
//!
//! `RESIDUE_CASES=10000 cargo test --release -p residue-judges webassembly` is a longer campaign.

use num_bigint::BigUint;
use residue_conformance::campaign::Campaign;
use residue_conformance::programs::{calldata, plain_program, program_of_scratch};
use residue_ir::program::Function;
use residue_ir::{Effect, Outcome, Program, WordDef, evaluate, text};
use residue_passes::specialise::specialise;
use residue_wasm::{EngineKind, Form, LowerError, Prepared, lower};

/// BLS12-381's base field, which the host functions compute in.
const BLS12_381: &str =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";

/// Odd moduli of all shapes: tiny, of whole 28-bit and 64-bit limbs, without a spare bit, composite, wide.
const MODULI: [&str; 9] = [
    BLS12_381,
    "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
    "3",
    "fffffff",
    "ffffffffffffffff",
    "10000000000000001",
    "ffffffffffffff",
    "8000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
];

fn hex(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).unwrap()
}

/// True if a program uses features that modules do not support: hashes, tables, words of elements, other moduli, words
/// modulo a word.
fn is_refused(program: &Program) -> bool {
    // What only arms have that are left out is not there.
    let program = specialise(program, |_| false);
    let mut words = program.functions.iter().flat_map(Function::words_read);
    let mut is_refused = words.any(|word| matches!(word, WordDef::ModOp(..) | WordDef::LeadingZeros(_)));
    program.for_each_effect(&mut |effect| {
        is_refused |= match effect {
            Effect::Lookup { .. } | Effect::ElementOf { .. } | Effect::WordOf { .. } => true,
            Effect::Keccak256Scratch { .. } | Effect::Sha256Scratch { .. } => true,
            Effect::TakeScratch { .. } | Effect::PutScratch { .. } => true,
            Effect::TakeElement { .. } | Effect::TakeRow { .. } | Effect::FillFrom { .. } => true,
            Effect::High { .. } | Effect::ReturnLast { .. } => true,
            Effect::ReturnWords { .. } | Effect::Enter { .. } => true,
            effect => effect.pieces().is_some(),
        }
    });
    is_refused
}

/// Every form and engine that can run programs over `modulus`.
fn prepared(program: &Program) -> Vec<(String, Prepared)> {
    let mut all = Vec::new();
    for form in Form::ALL {
        let lowered = match lower(program, form) {
            Ok(lowered) => lowered,
            Err(LowerError::ForeignField) if form == Form::HostFunctions => continue,
            Err(LowerError::Hash | LowerError::OtherModuli | LowerError::Effect(_) | LowerError::WordModulus)
                if is_refused(program) =>
            {
                continue;
            }
            Err(error) => panic!("{error}\n{}", text::print(program)),
        };
        for engine in EngineKind::built_in() {
            let ready = Prepared::new(&lowered, engine).unwrap();
            all.push((format!("{engine}, {}", form.name()), ready));
        }
    }
    all
}

#[test]
fn programs_at_random_end_as_the_evaluator_says() {
    let mut endings = [0; 3];
    let Campaign { cases, seed } = Campaign::part(10);
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let modulus = hex(MODULI[usize::try_from(seed % MODULI.len() as u64).unwrap()]);
        let program = plain_program(&modulus, seed);
        let mut all = prepared(&program);
        let expected = match modulus == hex(BLS12_381) {
            true => 2 * EngineKind::built_in().count(),
            false => EngineKind::built_in().count(),
        };
        assert_eq!(all.len(), expected);
        for input in (0..4).map(|number| calldata(4 * seed + number)) {
            let expected = evaluate(&program, &input);
            endings[match expected {
                Outcome::Returned(_) => 0,
                Outcome::Failed => 1,
                Outcome::Ended => 2,
            }] += 1;
            for (name, prepared) in &mut all {
                // Twice: nothing of a run is left for the next.
                for _ in 0..2 {
                    assert_eq!(prepared.run(&input).unwrap(), expected, "{name}\n{}", text::print(&program));
                }
            }
        }
    }
    assert!(endings.iter().all(|&count| count > 0), "{endings:?}");
}

/// Those without hashes, as modules have none: each has transforms of words of lanes, or permutations.
#[test]
fn programs_of_scratch_memory_end_as_the_evaluator_says() {
    let Campaign { cases, seed } = Campaign::part(4);
    let (mut run, mut transforms) = (0, 0);
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let program = program_of_scratch(&hex("fffffffb"), seed);
        if is_refused(&program) {
            continue;
        }
        program.for_each_effect(&mut |effect| transforms += usize::from(matches!(effect, Effect::Lanes { .. })));
        for (name, mut prepared) in prepared(&program) {
            for input in (0..4).map(|number| calldata(4 * seed + number)) {
                let expected = evaluate(&program, &input);
                assert_eq!(prepared.run(&input).unwrap(), expected, "{name}\n{}", text::print(&program));
                run += 1;
            }
        }
    }
    assert!(run > 0 && transforms > 0, "{run} runs, {transforms} transforms");
}

/// Of one source and of as many as there are lanes, with one number that is the largest, or q.
#[test]
fn lanes_take_numbers_below_their_modulus_alone() {
    for (bits, modulus) in [(16usize, 13u8), (32, 251), (64, 251)] {
        let count = 256 / bits;
        for sources in (0..=count.ilog2()).map(|log| 1 << log) {
            let from: Vec<String> = (0..sources).map(|source| (32 * source).to_string()).collect();
            let program = format!(
                "program \"taken\"
modulus 0x61
function f0 \"start\" () -> () values 0 {{
  word w0 = 0x0
  word w1 = 0x20
  scratch bytes 32
  lanes bits {bits} modulo {modulus} words 1 at 0 (take 0 from ({}) leave 0 times 1)
  return_scratch w0 bytes w1
}}
",
                from.join(" ")
            );
            let program = text::read(&program).unwrap();
            let number_bytes = sources * bits / 8;
            for (name, mut prepared) in prepared(&program) {
                for (place, number) in (0..count).flat_map(|place| [(place, modulus - 1), (place, modulus)]) {
                    let mut input = vec![0; 32 * sources];
                    // Each has another number, so that their order is seen.
                    input
                        .chunks_mut(number_bytes)
                        .zip(0..)
                        .for_each(|(cell, value)| cell[number_bytes - 1] = value % 13);
                    input[number_bytes * (place + 1) - 1] = number;
                    let expected = evaluate(&program, &input);
                    assert_eq!(matches!(expected, Outcome::Failed), number == modulus);
                    assert_eq!(prepared.run(&input).unwrap(), expected, "{name}, {bits} bits, {sources} sources");
                    if number_bytes > 8 {
                        // Far above the modulus, with a number below it in the last bytes.
                        input[number_bytes * place] = 1;
                        input[number_bytes * (place + 1) - 1] = 0;
                        assert_eq!(prepared.run(&input).unwrap(), Outcome::Failed, "{name}, {bits} bits");
                    }
                }
            }
        }
    }
}

#[test]
fn the_pairing_check_gives_the_precompiles_result() {
    let contract = residue_contracts::find("bls12_381/pairing").unwrap();
    let good = (contract.example)();
    // The keys' point replaced by its double negation: the same pair twice, whose product is not one.
    let other = [&good[..384], &good[..384]].concat();
    let mut off_curve = good.clone();
    off_curve[127] ^= 1;
    let identity = vec![0; 384];
    let short = good[..good.len() - 1].to_vec();
    let inputs = [good, other, off_curve, identity, short, vec![]];
    let expected: Vec<Outcome> = inputs
        .iter()
        .map(|input| {
            residue_workbench::native(contract, input)
                .unwrap()
                .map_or(Outcome::Failed, |native| Outcome::Returned(native.output))
        })
        .collect();
    assert_eq!(expected.iter().filter(|outcome| **outcome == Outcome::Failed).count(), 3);
    for (name, mut prepared) in prepared(&contract.program()) {
        for (input, expected) in inputs.iter().zip(&expected) {
            assert_eq!(prepared.run(input).unwrap(), *expected, "{name}");
        }
        let calls = prepared.host_calls();
        assert_eq!(calls.is_empty(), name.contains(Form::SelfContained.name()), "{name}: {calls:?}");
    }
}

#[test]
fn every_contract_ends_on_its_example_as_the_evaluator_says() {
    for contract in residue_contracts::CONTRACTS {
        let (program, input) = (contract.program(), (contract.example)());
        let expected = evaluate(&program, &input);
        assert!(matches!(expected, Outcome::Returned(_)), "{}", contract.name);
        let all = prepared(&program);
        assert_eq!(all.is_empty(), is_refused(&program), "{}", contract.name);
        for (name, mut prepared) in all {
            assert_eq!(prepared.run(&input).unwrap(), expected, "{}, {name}", contract.name);
        }
    }
}

/// Words are only what is read of them.
#[test]
fn an_arm_that_is_left_out_is_no_reason_to_refuse() {
    let guarded = "program \"guarded\"
modulus 0x61
function f0 \"start\" () -> () values 0 {
  word w0 = 0x0
  word w1 = calldata_word w0
  word w2 = clz w1
  word w3 = has leading_zeros
  word w4 = 0xff
  word w5 = shr w1 w4
  word w6 = 0x1
  word w7 = sub w6 w5
  branch w3 {
    return_word w2
    give ()
  } else {
    return_word w7
    give ()
  } -> ()
}
";
    let program = text::read(guarded).unwrap();
    for input in [[0x80; 32], [0x40; 32]] {
        let expected = evaluate(&program, &input);
        let all = prepared(&program);
        assert!(!all.is_empty());
        for (name, mut prepared) in all {
            assert_eq!(prepared.run(&input).unwrap(), expected, "{name}");
        }
    }
    let unguarded = text::read(&guarded.replace("has leading_zeros", "0x1")).unwrap();
    assert_eq!(lower(&unguarded, Form::SelfContained), Err(LowerError::Effect("clz")));
}

#[test]
fn moduli_that_have_no_module_are_refused() {
    let program = |modulus: BigUint| plain_program(&modulus, 2);
    assert_eq!(lower(&program(BigUint::from(16u8)), Form::SelfContained), Err(LowerError::EvenModulus));
    let wide = (BigUint::from(1u8) << 1100u32) + 1u8;
    assert_eq!(lower(&program(wide), Form::SelfContained), Err(LowerError::Width { bits: 1101 }));
    assert_eq!(lower(&program(BigUint::from(97u8)), Form::HostFunctions), Err(LowerError::ForeignField));
}
