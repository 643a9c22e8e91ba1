//! Certificates of the contracts, and mutants of their code: what is accepted does what the program does when it is run.

use crate::bytes::WORDS;
use crate::compiled;
use num_bigint::BigUint;
use residue_contracts::CONTRACTS;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_extent::{number_of, sample};
use residue_ir::{Outcome, Program, evaluate};
use residue_isa::opcode::evm as op;
use residue_proof::{Certificate, Gas, Semantics};
use std::ops::Range;

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

/// Those with branches or calls, and the interfaces that they have certificates for.
const BRANCHING: [(&str, &[Semantics]); 13] = [
    ("bn254/add", &[Semantics::Evm, Semantics::Slots]),
    ("lean_imt/poseidon", &Semantics::ALL),
    ("lean_imt/poseidon2", &Semantics::ALL),
    ("poseidon/t3_many", &Semantics::ALL),
    ("poseidon2/bn254_t3_many", &Semantics::ALL),
    ("poseidon2/bn254_t4_many", &Semantics::ALL),
    ("bls12_381/fp2_mul", &[Semantics::Slots]),
    ("bls12_381/g1_add", &[Semantics::Slots]),
    ("bls12_381/g2_add", &[Semantics::Slots]),
    ("bls12_377/g1_add", &[Semantics::Slots]),
    ("bls12_377/g2_add", &[Semantics::Slots]),
    ("bw6_761/g1_add", &[Semantics::Slots]),
    ("bw6_761/g2_add", &[Semantics::Slots]),
];

/// Those with a loop, likewise.
const LOOPS: [(&str, &[Semantics]); 2] = [("poseidon/merkle", &Semantics::ALL), ("poseidon2/merkle", &Semantics::ALL)];

/// Turns of the loop of a Merkle proof, where the program comes to it.
const fn levels(input: &[u8]) -> u64 {
    (input.len() as u64 / 32).saturating_sub(3) // usize to u64 widens
}

/// Gas that is stated for calldata.
fn stated(Gas { gas, turn }: Gas, input: &[u8]) -> u64 {
    gas + turn.map_or(0, |turn| turn * levels(input))
}

pub fn engine(semantics: Semantics) -> Engine {
    Engine::new(EngineConfig::default_for(semantics.revision())).unwrap()
}

#[test]
fn every_straight_contract_has_a_certificate_with_its_gas() {
    Semantics::ALL.into_iter().for_each(every_one_has_a_certificate_with_its_gas);
}

fn every_one_has_a_certificate_with_its_gas(semantics: Semantics) {
    let engine = engine(semantics);
    for name in STRAIGHT {
        let (program, code) = compiled(name, semantics);
        let certificate = Certificate::new(&program, semantics, &code);
        let text = certificate.unwrap_or_else(|error| panic!("{name}: {error}")).print();
        let certificate = Certificate::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        certificate.check().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(certificate.print(), text, "{name}");
        let example = (residue_contracts::named(name).unwrap().example)();
        let run = |gas| engine.run_code(&code, &example, gas).halt;
        assert_eq!((run(certificate.gas), run(certificate.gas - 1)), (Halt::Return, Halt::OutOfGas), "{name}");
    }
}

#[test]
fn contracts_with_branches_have_certificates_with_the_gas_of_the_way_that_takes_most() {
    for (name, interfaces) in BRANCHING.into_iter().chain(LOOPS) {
        for &semantics in interfaces {
            let (program, code) = compiled(name, semantics);
            let certificate = Certificate::new(&program, semantics, &code);
            let text = certificate.unwrap_or_else(|error| panic!("{name}: {error}")).print();
            let certificate = Certificate::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            certificate.check().unwrap_or_else(|error| panic!("{name}: {error}"));
            let engine = engine(semantics);
            let run = |input: &[u8], gas| engine.run_code(&code, input, gas);
            let stated = |input: &[u8]| stated(certificate.gas_of(&code).unwrap(), input);
            let left = inputs(name, &program).into_iter().map(|input| {
                let run = run(&input, stated(&input));
                let found =
                    if run.halt == Halt::Return { Outcome::Returned(run.output.to_vec()) } else { Outcome::Failed };
                assert_eq!(found, evaluate(&program, &input), "{name}: {}", hex::encode(&input));
                (if run.halt == Halt::Return { stated(&input) - run.gas_used } else { u64::MAX }, input)
            });
            let (least, input) = left.min().unwrap();
            assert_eq!(least, 0, "{name}, {}", semantics.revision());
            assert_eq!(run(&input, stated(&input) - 1).halt, Halt::OutOfGas, "{name}");
        }
    }
}

#[test]
fn other_contracts_are_refused_with_the_construct() {
    let others = CONTRACTS.iter().filter(|contract| !STRAIGHT.contains(&contract.name));
    for contract in sample(&others.collect::<Vec<_>>(), 12, 0) {
        let error = Certificate::new(&contract.program(), Semantics::Evm, &[]).unwrap_err().to_string();
        let known =
            BRANCHING.iter().chain(&LOOPS).any(|&(name, _)| name == contract.name) || WORDS.contains(&contract.name);
        assert!(known || error.starts_with("certificates do not know "), "{}: {error}", contract.name);
    }
}

/// Starts of the instructions before the failure, and its offset: a JUMPDEST with INVALID after it.
pub fn starts(code: &[u8], semantics: Semantics) -> Vec<usize> {
    let mut starts = vec![0];
    loop {
        let start = *starts.last().unwrap();
        if code[start..].starts_with(&[op::JUMPDEST, op::INVALID]) || start == code.len() {
            return starts;
        }
        starts.push((start + semantics.revision().bytes_at(&code[start..])).min(code.len()));
    }
}

/// Puts bytes at an offset, and moves the targets of jumps from there on by as many, and the places of the data after the failure.
fn inserted(code: &[u8], starts: &[usize], at: usize, bytes: &[u8]) -> Vec<u8> {
    let failure = *starts.last().unwrap();
    let is_moved = |place: usize| {
        let is_target = place >= at && starts.contains(&place) && code[place] == op::JUMPDEST;
        is_target || (failure..code.len()).contains(&place)
    };
    let mut moved = code.to_vec();
    for &start in &starts[..starts.len() - 1] {
        if code[start] == op::PUSH2 {
            let place = u16::from_be_bytes([code[start + 1], code[start + 2]]);
            if is_moved(usize::from(place)) {
                let place = place + u16::try_from(bytes.len()).unwrap();
                moved[start + 1..start + 3].copy_from_slice(&place.to_be_bytes());
            }
        }
    }
    [&moved[..at], bytes, &moved[at..]].concat()
}

/// Code with each bit of a range turned.
fn bits_turned(code: &[u8], range: Range<usize>) -> impl Iterator<Item = Vec<u8>> {
    range.flat_map(|at| (0..8).map(move |bit| (at, bit))).map(|(at, bit)| {
        let mut mutant = code.to_vec();
        mutant[at] ^= 1 << bit;
        mutant
    })
}

/// Mutants of one instruction: each bit turned, left out, doubled, exchanged with the next one, replaced by each opcode of one byte.
pub fn mutants(code: &[u8], starts: &[usize], place: usize) -> Vec<Vec<u8>> {
    let (start, end) = (starts[place], starts[place + 1]);
    let mut mutants: Vec<Vec<u8>> = bits_turned(code, start..end).collect();
    // JUMPDEST does nothing.
    mutants.push([&code[..start], &vec![0x5b; end - start], &code[end..]].concat());
    mutants.push(inserted(code, starts, end, &code[start..end]));
    if let Some(&after) = starts.get(place + 2) {
        mutants.push([&code[..start], &code[end..after], &code[start..end], &code[after..]].concat());
    }
    if end == start + 1 {
        let opcodes = [
            1, 2, 3, 6, 8, 9, 0x10, 0x11, 0x14, 0x15, 0x36, 0x37, 0x39, 0x50, 0x51, 0x52, 0x5b, 0x5e, 0x5f, 0x80, 0x82,
            0x84, 0x90, 0x92, 0xc0, 0xc1, 0xc2, 0xd1, 0xd2,
        ];
        mutants.extend(opcodes.map(|opcode| [&code[..start], &[opcode], &code[end..]].concat()));
    }
    mutants.retain(|mutant| mutant != code);
    mutants
}

/// Calldata at edges: the example, zeros, p − 1 and p, too short and too long.
pub fn inputs(name: &str, program: &Program) -> Vec<Vec<u8>> {
    let example = (residue_contracts::named(name).unwrap().example)();
    let p = program.modulus.known().unwrap().clone();
    let size = element_bytes(&p);
    let filled = |number: &BigUint| element(number, size).repeat((example.len() / size).max(1));
    let mut last_is_p = filled(&(&p - 1u8));
    let last = last_is_p.len() - size;
    last_is_p[last..].copy_from_slice(&element(&p, size));
    let longer = [&example[..], &[0]].concat();
    let shorter = example[1..].to_vec();
    let mut inputs = vec![vec![0; example.len()], filled(&(&p - 1u8)), filled(&p), last_is_p, longer, shorter, example];
    if name == "bn254/add" {
        inputs.extend(pairs_of_points(&p));
    }
    if name.ends_with("/merkle") {
        inputs.extend(merkle_proofs(&p, &inputs[inputs.len() - 1]));
    }
    if name.starts_with("bls12_") || name.starts_with("bw6_") {
        inputs.extend(wide_pairs(&p, &inputs[inputs.len() - 1]));
    }
    if name.starts_with("lean_imt/") {
        inputs.extend(calls(&inputs[inputs.len() - 1]));
    }
    inputs
}

/// Merkle proofs of several lengths: the example's with each number changed, to p too, and with leaves that are roots, indices of all bits and too great ones,
/// one byte too many, no calldata, and more levels than there may be.
fn merkle_proofs(p: &BigUint, example: &[u8]) -> Vec<Vec<u8>> {
    let p: [u8; 32] = p.to_bytes_be().try_into().unwrap();
    let mut proofs: Vec<Vec<u8>> =
        (0..example.len()).step_by(32).map(|at| with(example, at + 31, |byte| byte ^ 1)).collect();
    proofs.extend((0..example.len()).step_by(32).map(|at| [&example[..at], &p, &example[at + 32..]].concat()));
    for (levels, index) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (3, 5), (3, 7), (3, 8)] {
        let mut proof = vec![0; 96 + 32 * levels];
        for (number, chunk) in proof.chunks_mut(32).enumerate() {
            chunk[31] = if number == 2 { index } else { 1 };
        }
        proofs.push(proof);
    }
    proofs.extend([[example, &[0]].concat(), Vec::new(), vec![0; 96 + 32 * 257]]);
    proofs
}

/// Bytes of an element of calldata.
fn element_bytes(p: &BigUint) -> usize {
    match p.bits() {
        ..=256 => 32,
        257..=512 => 64,
        _ => 96,
    }
}

/// An element of so many bytes.
fn element(number: &BigUint, size: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; size - bytes.len()], bytes].concat()
}

/// Pairs of points that take each way of an addition on a curve y² = x³ + b, from the first point of an example: as [`pairs_of_points`] has them, and one whose
/// first bytes are not zero. Elements of calldata beside points are only such pairs too.
fn wide_pairs(p: &BigUint, example: &[u8]) -> Vec<Vec<u8>> {
    let size = element_bytes(p);
    let of_point = example.len() / size / 4;
    let elements: Vec<BigUint> = example.chunks(size).map(BigUint::from_bytes_be).collect();
    let (x, y) = (&elements[..of_point], &elements[of_point..2 * of_point]);
    // A cube root of unity.
    let power = (p - 1u8) / 3u8;
    let roots = (2u8..).map(|base| BigUint::from(base).modpow(&power, p));
    let beta = roots.into_iter().find(|root| *root != BigUint::from(1u8)).unwrap();
    let times: Vec<BigUint> = x.iter().map(|one| one * &beta % p).collect();
    let opposite: Vec<BigUint> = y.iter().map(|one| (p - one) % p).collect();
    let (zero, other) = (vec![BigUint::ZERO; of_point], vec![BigUint::from(1u8); of_point]);
    let greatest = vec![(BigUint::from(1u8) << (8 * size)) - 1u8; of_point];
    let points = [
        (&zero, &zero),
        (&x.to_vec(), &y.to_vec()),
        (&x.to_vec(), &opposite),
        (&times, &opposite),
        (&zero, &other),
        (&x.to_vec(), &greatest),
    ]
    .map(|(x, y)| x.iter().chain(y).flat_map(|one| element(one, size)).collect::<Vec<u8>>());
    points.iter().flat_map(|first| points.iter().map(move |second| [&first[..], second].concat())).collect()
}

/// Calls of two numbers after a selector of four bytes: with another selector, and with the greatest numbers.
fn calls(example: &[u8]) -> Vec<Vec<u8>> {
    let mut calls: Vec<Vec<u8>> = [0, 3].map(|at| with(example, at, |byte| byte ^ 1)).to_vec();
    calls.push([&example[..4], &[0xff; 64]].concat());
    calls
}

/// Bytes with one of them changed.
fn with(bytes: &[u8], at: usize, change: impl Fn(u8) -> u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] = change(bytes[at]);
    bytes
}

/// Pairs of points of BN254 that take each way of an addition: the point at infinity, doublings, opposites, points that are not on the curve, and such
/// with opposite second coordinates whose first ones differ, by the cube root of unity β (Gallant, Lambert, Vanstone 2001).
fn pairs_of_points(p: &BigUint) -> Vec<Vec<u8>> {
    let beta = BigUint::parse_bytes(b"59e26bcea0d48bacd4f263f1acdb5c4f5763473177fffffe", 16).unwrap();
    let [zero, one, two] = [0u8, 1, 2].map(BigUint::from);
    let opposite = p - 2u8;
    let points =
        [(&zero, &zero), (&one, &two), (&one, &opposite), (&one, &one), (&zero, &one), (&beta, &opposite), (&one, p)];
    let bytes = |number: &BigUint| {
        let bytes = number.to_bytes_be();
        [vec![0; 32 - bytes.len()], bytes].concat()
    };
    let pair = |first: (&BigUint, &BigUint), second: (&BigUint, &BigUint)| {
        [first.0, first.1, second.0, second.1].map(bytes).concat()
    };
    points.iter().flat_map(|&first| points.iter().map(move |&second| pair(first, second))).collect()
}

/// One in `share` of the instructions, and of the bytes after them: no mutant is accepted that ends in another way than the program. Fails
/// where the code itself is refused too, and where many mutants are accepted; a sample may have none that is right.
fn mutants_are_refused_or_right(name: &str, semantics: Semantics, share: usize) {
    let engine = engine(semantics);
    let (program, code) = compiled(name, semantics);
    let certificate = Certificate::new(&program, semantics, &code).unwrap();
    certificate.gas_of(&code).unwrap();
    let starts = starts(&code, semantics);
    let inputs = inputs(name, &program);
    let outcomes: Vec<Outcome> = inputs.iter().map(|input| evaluate(&program, input)).collect();
    let number = number_of(name.as_bytes());
    let places: Vec<usize> = (0..starts.len() - 1).collect();
    let of_instructions = sample(&places, share, number).flat_map(|&place| mutants(&code, &starts, place));
    // The failure, and numbers that are copied.
    let data: Vec<usize> = (*starts.last().unwrap()..code.len()).collect();
    let of_data = sample(&data, share, number).flat_map(|&at| bits_turned(&code, at..at + 1));
    let (mut tried, mut accepted) = (0, 0);
    for mutant in of_instructions.chain(of_data) {
        tried += 1;
        let Ok(gas) = certificate.gas_of(&mutant) else { continue };
        accepted += 1;
        for (input, outcome) in inputs.iter().zip(&outcomes) {
            let run = engine.run_code(&mutant, input, stated(gas, input));
            let found = match run.halt {
                Halt::Return => Outcome::Returned(run.output.to_vec()),
                halt if halt.is_exceptional() => Outcome::Failed,
                halt => panic!("{name}: {halt:?}: {}", hex::encode(&mutant)),
            };
            assert_eq!(found, *outcome, "{name}: {}", hex::encode(&mutant));
        }
    }
    let revision = semantics.revision();
    println!("{name}, {revision}: {tried} mutants, {accepted} accepted, each of which ends as the program does");
    // The strides of one lane are without effect, three bytes of eight.
    let part = if semantics == Semantics::Evm { 20 } else { 2 };
    assert!(accepted * part < tried, "{name}: {accepted} of {tried} mutants are accepted");
}

#[test]
fn a_mutant_is_refused_or_right() {
    mutants_are_refused_or_right("poseidon2/bn254_t2", Semantics::Evm, 16);
    mutants_are_refused_or_right("poseidon2/babybear_t16", Semantics::Evm, 200);
    mutants_are_refused_or_right("poseidon2/bn254_t2", Semantics::Slots, 64);
    mutants_are_refused_or_right("poseidon/t3", Semantics::Slots, 200);
    mutants_are_refused_or_right("poseidon2/goldilocks_t12", Semantics::Slots, 200);
    mutants_are_refused_or_right("poseidon2/bn254_t2", Semantics::Next, 64);
    mutants_are_refused_or_right("poseidon2/koalabear_t16", Semantics::Next, 200);
    mutants_are_refused_or_right("bn254/add", Semantics::Evm, 24);
    mutants_are_refused_or_right("bn254/add", Semantics::Slots, 12);
    mutants_are_refused_or_right("lean_imt/poseidon2", Semantics::Evm, 24);
    mutants_are_refused_or_right("poseidon2/merkle", Semantics::Evm, 64);
    mutants_are_refused_or_right("poseidon2/merkle", Semantics::Slots, 64);
    mutants_are_refused_or_right("lean_imt/poseidon2", Semantics::Slots, 64);
    mutants_are_refused_or_right("bls12_381/fp2_mul", Semantics::Slots, 4);
    mutants_are_refused_or_right("bls12_381/g1_add", Semantics::Slots, 48);
    mutants_are_refused_or_right("bls12_377/g2_add", Semantics::Slots, 96);
    mutants_are_refused_or_right("bw6_761/g1_add", Semantics::Slots, 200);
    mutants_are_refused_or_right("wots/keccak_128", Semantics::Evm, 400);
    mutants_are_refused_or_right("xmss/keccak_10_256", Semantics::Evm, 1000);
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn every_mutant_of_code_for_evm_is_refused_or_right() {
    for name in ["poseidon2/bn254_t2", "poseidon/t2", "poseidon2/babybear_t16", "bn254/add", "poseidon2/merkle"] {
        mutants_are_refused_or_right(name, Semantics::Evm, 1);
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn every_mutant_of_code_for_eip6690_is_refused_or_right() {
    for name in [
        "poseidon2/bn254_t2",
        "poseidon2/bls12_381_t3",
        "poseidon2/goldilocks_t12",
        "poseidon/t2",
        "bn254/add",
        "bls12_381/fp2_mul",
        "bls12_381/g1_add",
    ] {
        mutants_are_refused_or_right(name, Semantics::Slots, 1);
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn every_mutant_of_code_for_evmmax_next_is_refused_or_right() {
    for name in ["poseidon2/bn254_t2", "poseidon2/goldilocks_t12"] {
        mutants_are_refused_or_right(name, Semantics::Next, 1);
    }
}
