//! Poseidon and Poseidon2 on known answers, under every revision that has such moduli. `crates/judges` makes the answers by three
//! libraries, and holds the programs to those on random states.

use crate::points::Seeded;
use crate::support::{cases, everywhere, refused_everywhere, returned_everywhere};
use num_bigint::BigUint;
use residue_compiler::compile;
use residue_contracts::{CONTRACTS, find};
use residue_engine::{Engine, EngineConfig};
use residue_ir::{Outcome, Program, evaluate};
use residue_isa::{GasSchedule, Revision};

fn word(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

fn words(values: &[BigUint]) -> Vec<u8> {
    values.iter().flat_map(word).collect()
}

/// An element: zero, the greatest, small, or any.
fn element(seeded: &mut Seeded, modulus: &BigUint) -> BigUint {
    match seeded.below(8) {
        0 => BigUint::ZERO,
        1 => modulus - 1u32,
        2 => BigUint::from(seeded.below(5)) % modulus,
        _ => BigUint::from_bytes_be(&seeded.bytes(48)) % modulus,
    }
}

fn elements(seeded: &mut Seeded, modulus: &BigUint, count: usize) -> Vec<BigUint> {
    (0..count).map(|_| element(seeded, modulus)).collect()
}

/// Contracts with calldata and output, made by `crates/judges`.
const KNOWN: &str = include_str!("poseidon_known.txt");

/// Calldata and output.
type Answer = (Vec<u8>, Vec<u8>);

/// The known answers of a contract, and refusals of its last input spoiled.
fn check(name: &str, known: &[Answer]) {
    let contract = find(name).unwrap();
    let modulus = (contract.field)();
    let mut compiled = everywhere(contract);
    for (input, expected) in known {
        returned_everywhere(&mut compiled, input, expected, name);
    }
    let (input, _) = known.last().unwrap();
    let size = input.len();
    let at = Seeded(17).below(size / 32);
    for bad in [modulus.clone(), modulus + 1u32, (BigUint::from(1u8) << 256) - 1u32] {
        let mut input = input.clone();
        input[32 * at..][..32].copy_from_slice(&word(&bad));
        refused_everywhere(&mut compiled, &input, &format!("{name}, element {at} not below the modulus"));
    }
    for length in [0, size - 1, size + 1, size + 32] {
        let input = [&input[..], &[0; 32]].concat();
        refused_everywhere(&mut compiled, &input[..length], &format!("{name}, {length} bytes"));
    }
}

#[test]
fn answers_are_those_of_the_libraries() {
    let mut known: Vec<(&str, Vec<Answer>)> = Vec::new();
    for line in KNOWN.lines().filter(|line| !line.starts_with('#')) {
        let [name, input, output] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let answer = (hex::decode(input).unwrap(), hex::decode(output).unwrap());
        match known.last_mut() {
            Some((last, answers)) if *last == name => answers.push(answer),
            _ => known.push((name, vec![answer])),
        }
    }
    assert!(known.len() >= 17, "{} contracts", known.len());
    let mut in_lanes = 0;
    for (name, answers) in &known {
        check(name, answers);
        let lanes = format!("{name}_lanes");
        if find(&lanes).is_some() {
            check(&lanes, answers);
            in_lanes += 1;
        }
    }
    assert_eq!(in_lanes, 3);
}

/// States of zeros, of the largest elements, and at random: lanes are as full as they get.
#[test]
fn partial_rounds_in_lanes_are_those_of_the_field() {
    let mut seeded = Seeded(31);
    for (name, width) in [("babybear_t16", 16), ("koalabear_t16", 16), ("koalabear_t24", 24)] {
        let [field, lanes] = ["", "_lanes"].map(|form| find(&format!("poseidon2/{name}{form}")).unwrap());
        let (modulus, program) = ((field.field)(), field.program());
        let mut compiled = everywhere(lanes);
        let ends = [BigUint::ZERO, &modulus - 1u32].map(|value| vec![value; width]);
        let random: Vec<_> = (0..cases(6)).map(|_| elements(&mut seeded, &modulus, width)).collect();
        for state in ends.into_iter().chain(random) {
            let Outcome::Returned(expected) = evaluate(&program, &words(&state)) else { panic!("{name} returns") };
            returned_everywhere(&mut compiled, &words(&state), &expected, lanes.name);
        }
    }
}

/// Linear layers of KoalaBear in lanes of words, on Osaka.
#[test]
fn lanes_cost_less_than_elements() {
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    for (name, gas) in [("koalabear_t16", 19_000), ("koalabear_t24", 31_500), ("babybear_t16", 20_000)] {
        let contract = find(&format!("poseidon2/{name}_lanes")).unwrap();
        let compiled = compile(&contract.program(), Revision::Evm, &schedule).unwrap();
        let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
        let used = engine.run_code(&compiled.code, &(contract.example)(), 1_000_000).gas_used;
        assert!(used <= gas && compiled.code.len() <= 24_576, "{name}: {used} gas, {} bytes", compiled.code.len());
    }
}

/// Rounds have their constants as operands: of the table that lookups at known indices read no byte is left.
#[test]
fn hashes_for_the_evm_of_today_have_no_data() {
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    let hashes = CONTRACTS.iter().filter(|contract| contract.name.contains("poseidon"));
    let mut count = 0;
    for contract in hashes {
        let compiled = compile(&contract.program(), Revision::Evm, &schedule).unwrap();
        assert_eq!(compiled.instruction_bytes, compiled.code.len(), "{}", contract.name);
        count += 1;
    }
    assert!(count >= 17, "{count} contracts");
}

/// The first element that a program returns for others.
fn first(program: &Program, inputs: &[BigUint]) -> BigUint {
    match evaluate(program, &words(inputs)) {
        Outcome::Returned(output) => BigUint::from_bytes_be(&output[..32]),
        other => panic!("{other:?}"),
    }
}

/// The selector is that of poseidon-solidity's `PoseidonT3.hash`, which reduces its inputs and takes longer calldata.
#[test]
fn hashers_of_trees_reduce_and_hash_two_numbers() {
    let mut seeded = Seeded(41);
    for (name, hash, zeros) in
        [("lean_imt/poseidon", "poseidon/t3", 0), ("lean_imt/poseidon2", "poseidon2/bn254_t3", 1)]
    {
        let contract = find(name).unwrap();
        let (modulus, hash) = ((contract.field)(), find(hash).unwrap().program());
        let mut compiled = everywhere(contract);
        let call = |numbers: &[BigUint]| [&[0x56, 0x15, 0x58, 0xfe], &words(numbers)[..]].concat();
        let most = (BigUint::from(1u8) << 256) - 1u32;
        let random = elements(&mut seeded, &most, 6);
        let edges = [most.clone(), modulus.clone(), &modulus - 1u32, &modulus * 5u32, BigUint::from(1u8), 2u32.into()];
        let numbers = [edges.to_vec(), random].concat();
        for pair in numbers.chunks(2) {
            let reduced = pair.iter().map(|number| number % &modulus);
            let reduced: Vec<BigUint> = reduced.chain(vec![BigUint::ZERO; zeros]).collect();
            returned_everywhere(&mut compiled, &call(pair), &word(&first(&hash, &reduced)), name);
        }
        let right = call(&numbers[..2]);
        let expected = word(&first(&hash, &[numbers[0].clone() % &modulus, BigUint::ZERO, BigUint::ZERO][..2 + zeros]));
        returned_everywhere(&mut compiled, &[&right[..], &[0xff; 40]].concat(), &expected, "calldata that goes on");
        for length in [0, 3, 4, 36, right.len() - 1] {
            refused_everywhere(&mut compiled, &right[..length], &format!("{name}, {length} bytes"));
        }
        for byte in 0..4 {
            let mut other = right.clone();
            other[byte] ^= 1;
            refused_everywhere(&mut compiled, &other, &format!("{name}, another selector"));
        }
    }
}

/// Barretenberg, `poseidon2_permutation.test.cpp`: the state 0, 1, 2, 3.
#[test]
fn four_elements_over_bn254_are_permuted_as_by_barretenberg() {
    let state: Vec<BigUint> = (0..4u32).map(BigUint::from).collect();
    let expected = [
        "01bd538c2ee014ed5141b29e9ae240bf8db3fe5b9a38629a9647cf8d76c01737",
        "239b62e7db98aa3a2a8f6a0d2fa1709e7a35959aa6c7034814d9daa90cbac662",
        "04cbb44c61d928ed06808456bf758cbf0c18d1e15a7b6dbc8245fa7515d5e3cb",
        "2e11c5cff2a22c64d01304b778d78f6998eff1ab73163a35603f54794c30847a",
    ];
    let expected = expected.map(|digits| BigUint::parse_bytes(digits.as_bytes(), 16).unwrap());
    let mut once = everywhere(find("poseidon2/bn254_t4").unwrap());
    returned_everywhere(&mut once, &words(&state), &words(&expected), "once");
    let mut many = everywhere(find("poseidon2/bn254_t4_many").unwrap());
    let states: Vec<u8> = words(&state).repeat(28);
    returned_everywhere(&mut many, &states, &words(&expected).repeat(28), "many");
}

/// A path of so many levels: root, leaf, index, siblings.
fn path(seeded: &mut Seeded, levels: usize, node: &dyn Fn(&[BigUint; 2]) -> BigUint) -> Vec<BigUint> {
    let modulus = crate::bn254::points::r();
    let leaf = element(seeded, &modulus);
    let siblings = elements(seeded, &modulus, levels);
    let index = BigUint::from_bytes_be(&seeded.bytes(32)) & ((BigUint::from(1u8) << levels) - 1u32);
    let mut root = leaf.clone();
    for (level, sibling) in siblings.iter().enumerate() {
        root = match index.bit(level as u64) {
            true => node(&[sibling.clone(), root]),
            false => node(&[root, sibling.clone()]),
        };
    }
    [vec![root, leaf, index], siblings].concat()
}

#[test]
fn paths_lead_to_the_root_or_not() {
    let [hash, permutation] = ["poseidon/t3", "poseidon2/bn254_t3"].map(|name| find(name).unwrap().program());
    let pair: &dyn Fn(&[BigUint; 2]) -> BigUint = &|pair| first(&hash, pair);
    let triple: &dyn Fn(&[BigUint; 2]) -> BigUint =
        &|[left, right]| first(&permutation, &[left.clone(), right.clone(), BigUint::ZERO]);
    for (name, node) in [("poseidon/merkle", pair), ("poseidon2/merkle", triple)] {
        let mut compiled = everywhere(find(name).unwrap());
        let mut seeded = Seeded(18);
        let answer = |is_right: u8| [vec![0; 31], vec![is_right]].concat();
        for levels in [0, 1, 2, 5, 20] {
            let path = path(&mut seeded, levels, node);
            let what = format!("{name}, {levels} levels");
            returned_everywhere(&mut compiled, &words(&path), &answer(1), &what);
            for at in (0..path.len()).filter(|&at| at != 2) {
                let mut wrong = path.clone();
                wrong[at] = if wrong[at] == BigUint::ZERO { 1u32.into() } else { &wrong[at] - 1u32 };
                returned_everywhere(&mut compiled, &words(&wrong), &answer(0), &format!("{what}, {at} wrong"));
            }
            let mut outside = path.clone();
            outside[2] += BigUint::from(1u8) << levels;
            refused_everywhere(&mut compiled, &words(&outside), &format!("{what}, no such index"));
            refused_everywhere(&mut compiled, &words(&path)[1..], &format!("{what}, cut"));
        }
        refused_everywhere(&mut compiled, &[0; 64], &format!("{name}, no index"));
    }
}
