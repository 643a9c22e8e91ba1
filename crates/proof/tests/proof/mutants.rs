//! Certificates of the contracts, and mutants of their code: what is accepted does what the program does when it is run.

use crate::compiled;
use residue_contracts::CONTRACTS;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_extent::{number_of, sample};
use residue_ir::{Outcome, Program, evaluate};
use residue_isa::Revision;
use residue_proof::{Certificate, check};

/// The contracts that certificates speak of.
const STRAIGHT: [&str; 17] = [
    "poseidon/t2",
    "poseidon/t3",
    "poseidon/t4",
    "poseidon/t5",
    "poseidon/t6",
    "poseidon2/bn254_t2",
    "poseidon2/bn254_t3",
    "poseidon2/bn254_t4",
    "poseidon2/bls12_381_t2",
    "poseidon2/bls12_381_t3",
    "poseidon2/bls12_381_t4",
    "poseidon2/pallas_t3",
    "poseidon2/vesta_t3",
    "poseidon2/goldilocks_t12",
    "poseidon2/babybear_t16",
    "poseidon2/koalabear_t16",
    "poseidon2/koalabear_t24",
];

fn engine() -> Engine {
    Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap()
}

#[test]
fn every_straight_contract_has_a_certificate_with_its_gas() {
    let engine = engine();
    for name in STRAIGHT {
        let (program, code) = compiled(name);
        let text = Certificate::new(&program, &code).unwrap_or_else(|error| panic!("{name}: {error}")).print();
        let certificate = Certificate::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        certificate.check().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(certificate.print(), text, "{name}");
        let example = (residue_contracts::named(name).unwrap().example)();
        let run = |gas| engine.run_code(&code, &example, gas).halt;
        assert_eq!((run(certificate.gas), run(certificate.gas - 1)), (Halt::Return, Halt::OutOfGas), "{name}");
    }
}

#[test]
fn other_contracts_are_refused_with_the_construct() {
    let others = CONTRACTS.iter().filter(|contract| !STRAIGHT.contains(&contract.name));
    for contract in sample(&others.collect::<Vec<_>>(), 12, 0) {
        let error = Certificate::new(&contract.program(), &[]).unwrap_err().to_string();
        assert!(error.starts_with("certificates do not know "), "{}: {error}", contract.name);
    }
}

/// Starts of the instructions up to the last RETURN, and the byte after it.
pub fn starts(code: &[u8]) -> Vec<usize> {
    let (mut starts, mut at, mut end) = (Vec::new(), 0, 0);
    while at < code.len() {
        starts.push(at);
        let immediate = if (0x60..=0x7f).contains(&code[at]) { usize::from(code[at] - 0x5f) } else { 0 };
        at += 1 + immediate;
        if starts.last().is_some_and(|&start| code[start] == 0xf3) {
            end = starts.len();
        }
    }
    starts.truncate(end);
    starts.push(starts.last().unwrap() + 1);
    starts
}

/// Puts bytes at an offset, and moves the targets of the jumps to the failure by as many.
fn inserted(code: &[u8], starts: &[usize], at: usize, bytes: &[u8]) -> Vec<u8> {
    let failure = code.windows(2).rposition(|pair| pair == [0x5b, 0xfe]).unwrap();
    let mut moved = code.to_vec();
    for &start in starts {
        if code[start] == 0x61 && code[start + 1..start + 3] == u16::try_from(failure).unwrap().to_be_bytes() {
            let target = u16::try_from(failure + bytes.len()).unwrap();
            moved[start + 1..start + 3].copy_from_slice(&target.to_be_bytes());
        }
    }
    [&moved[..at], bytes, &moved[at..]].concat()
}

/// Mutants of one instruction: each bit turned, left out, doubled, exchanged with the next one, replaced by each opcode of one byte.
pub fn mutants(code: &[u8], starts: &[usize], place: usize) -> Vec<Vec<u8>> {
    let (start, end) = (starts[place], starts[place + 1]);
    let changed = |at: usize, byte: u8| {
        let mut code = code.to_vec();
        code[at] = byte;
        code
    };
    let mut mutants: Vec<Vec<u8>> = (start..end)
        .flat_map(|at| (0..8).map(move |bit| (at, bit)))
        .map(|(at, bit)| changed(at, code[at] ^ 1 << bit))
        .collect();
    // JUMPDEST does nothing.
    mutants.push([&code[..start], &vec![0x5b; end - start], &code[end..]].concat());
    mutants.push(inserted(code, starts, end, &code[start..end]));
    if let Some(&after) = starts.get(place + 2) {
        mutants.push([&code[..start], &code[end..after], &code[start..end], &code[after..]].concat());
    }
    if end == start + 1 {
        let opcodes = [
            1, 2, 3, 6, 8, 9, 0x10, 0x11, 0x14, 0x15, 0x36, 0x50, 0x51, 0x52, 0x5b, 0x5f, 0x80, 0x82, 0x84, 0x90, 0x92,
        ];
        mutants.extend(opcodes.map(|opcode| changed(start, opcode)));
    }
    mutants.retain(|mutant| mutant != code);
    mutants
}

/// Calldata at edges: the example, zeros, p − 1 and p, too short and too long.
fn inputs(name: &str, program: &Program) -> Vec<Vec<u8>> {
    let example = (residue_contracts::named(name).unwrap().example)();
    let p = program.modulus.known().unwrap().clone();
    let filled = |number: &num_bigint::BigUint| {
        let bytes = number.to_bytes_be();
        let element = [vec![0; 32 - bytes.len()], bytes].concat();
        element.repeat(example.len() / 32)
    };
    let mut last_is_p = filled(&(&p - 1u8));
    let last = last_is_p.len() - 32;
    last_is_p[last..].copy_from_slice(&filled(&p)[..32]);
    let longer = [&example[..], &[0]].concat();
    let shorter = example[1..].to_vec();
    vec![vec![0; example.len()], filled(&(&p - 1u8)), filled(&p), last_is_p, longer, shorter, example]
}

/// One in `share` of the instructions: no mutant is accepted that ends in another way than the program. Fails where none is accepted too, as some are right.
fn mutants_are_refused_or_right(name: &str, share: usize) {
    let engine = engine();
    let (program, code) = compiled(name);
    let certificate = Certificate::new(&program, &code).unwrap();
    let starts = starts(&code);
    let inputs = inputs(name, &program);
    let outcomes: Vec<Outcome> = inputs.iter().map(|input| evaluate(&program, input)).collect();
    let (mut tried, mut accepted) = (0, 0);
    let places: Vec<usize> = (0..starts.len() - 1).collect();
    for &place in sample(&places, share, number_of(name.as_bytes())) {
        for mutant in mutants(&code, &starts, place) {
            tried += 1;
            let Ok(gas) = check(&certificate.program, &mutant, &certificate.witness) else { continue };
            accepted += 1;
            for (input, outcome) in inputs.iter().zip(&outcomes) {
                let run = engine.run_code(&mutant, input, gas);
                let found = match run.halt {
                    Halt::Return => Outcome::Returned(run.output.to_vec()),
                    halt if halt.is_exceptional() => Outcome::Failed,
                    halt => panic!("{name}, offset {:#x}: {halt:?}", starts[place]),
                };
                assert_eq!(found, *outcome, "{name}, offset {:#x}: {}", starts[place], hex::encode(&mutant));
            }
        }
    }
    println!("{name}: {tried} mutants, {accepted} accepted, each of which ends as the program does");
    assert!(accepted > 0 && accepted * 20 < tried, "{name}: {accepted} of {tried} mutants are accepted");
}

#[test]
fn a_mutant_is_refused_or_right() {
    mutants_are_refused_or_right("poseidon2/bn254_t2", 16);
    mutants_are_refused_or_right("poseidon2/babybear_t16", 200);
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn mutants_of_every_instruction_are_refused_or_right() {
    for name in ["poseidon2/bn254_t2", "poseidon/t2", "poseidon2/babybear_t16"] {
        mutants_are_refused_or_right(name, 1);
    }
}
