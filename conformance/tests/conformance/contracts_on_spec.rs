//! Compiled contracts on the specification end as on the engine: output, gas, halt and memory.

use residue_compiler::compile;
use residue_contracts::{Contract, find};
use residue_engine::MEMORY_LIMIT_BYTES;
use residue_isa::{Family, GasSchedule, Revision};
use residue_judge::differential::{Pair, Program};

/// Enough for one pair.
const GAS: u64 = 10_000_000;

/// An input, the halt it ends with, and the output.
type Case = (Vec<u8>, &'static str, Option<Vec<u8>>);

/// Runs the contract under the revisions on every input: each must end with its halt, and with the output if one is given.
fn check(contract: &Contract, revisions: impl Iterator<Item = Revision>, inputs: &[Case]) {
    let program = contract.program();
    for revision in revisions {
        let schedule = GasSchedule::default_for(revision).unwrap();
        let code = match compile(&program, revision, &schedule) {
            Ok(compiled) => compiled.code,
            Err(error) if error.is_inexpressible() => continue,
            Err(error) => panic!("{}, {revision}: {error}", contract.name),
        };
        let pair = Pair::new(revision, schedule, MEMORY_LIMIT_BYTES);
        for (input, halt, output) in inputs {
            let run = |gas| {
                let program = Program { code: code.clone(), input: input.clone(), gas };
                let judged = pair.judge(&program).unwrap_or_else(|found| panic!("{}: {}", contract.name, found.what));
                judged.expect("contracts need no world around them")
            };
            let ending = run(GAS);
            assert_eq!(ending.halt, *halt, "{}, {revision}", contract.name);
            if let Some(output) = output {
                assert_eq!(ending.output, *output, "{}, {revision}", contract.name);
                // With exactly the gas it takes it ends the same; with one less it does not.
                assert_eq!(run(ending.gas_used).output, *output);
                assert_eq!(run(ending.gas_used - 1).halt, "out_of_gas");
            }
        }
    }
}

#[test]
fn a_product_in_fp2_ends_alike() {
    let contract = find("bls12_381/fp2_mul").unwrap();
    let example = (contract.example)();
    let expected = residue_ir::evaluate(&contract.program(), &example);
    let residue_ir::Outcome::Returned(output) = expected else { panic!("the example is one: {expected:?}") };
    let mut above = example.clone();
    above[16..64].fill(0xff);
    // Where stores and operations halt on such a number the compiler leaves it to them; elsewhere it compares.
    let refused = |revision: Revision| match (revision.slot_rules(), revision.family()) {
        (Some(rules), _) if !rules.store_reduces => "value_out_of_range",
        (None, Family::MemorySlots) => "value_out_of_range",
        _ => "invalid_instruction",
    };
    check(
        contract,
        Revision::ALL.iter().copied(),
        &[(example.clone(), "return", Some(output)), (example[1..].to_vec(), "invalid_instruction", None)],
    );
    for &revision in Revision::ALL {
        let schedule = GasSchedule::default_for(revision).unwrap();
        let code = compile(&contract.program(), revision, &schedule).unwrap().code;
        let program = Program { code, input: above.clone(), gas: GAS };
        let ending = Pair::new(revision, schedule, MEMORY_LIMIT_BYTES).judge(&program).unwrap().unwrap();
        assert_eq!(ending.halt, refused(revision));
    }
}

/// A few revisions with fields above 256 bits, as the specification is slow.
fn with_wide_fields(number: usize) -> impl Iterator<Item = Revision> {
    residue_extent::revisions(12, number).into_iter().filter(|revision| revision.family() != Family::Words)
}

#[test]
fn a_pairing_check_of_one_pair_ends_alike() {
    let contract = find("bls12_381/pairing").unwrap();
    let pair = (contract.example)()[..384].to_vec();
    let mut off_curve = pair.clone();
    off_curve[383] ^= 1;
    let inputs = [
        (pair, "return", Some(vec![0; 32])),
        (off_curve, "invalid_instruction", None),
        (vec![0; 384], "return", Some([vec![0; 31], vec![1]].concat())),
        (Vec::new(), "invalid_instruction", None),
    ];
    check(contract, with_wide_fields(0), &inputs);
}

#[test]
fn sums_of_points_with_377_and_761_bits_end_alike() {
    for (number, name) in ["bls12_377/g1_add", "bls12_377/g2_add", "bw6_761/g1_add"].into_iter().enumerate() {
        let contract = find(name).unwrap();
        let example = (contract.example)();
        let residue_ir::Outcome::Returned(output) = residue_ir::evaluate(&contract.program(), &example) else {
            panic!("{name}: the example is one")
        };
        let inputs = [
            (vec![0; example.len()], "return", Some(vec![0; output.len()])),
            (example[1..].to_vec(), "invalid_instruction", None),
            (example, "return", Some(output)),
        ];
        check(contract, with_wide_fields(number), &inputs);
    }
}
