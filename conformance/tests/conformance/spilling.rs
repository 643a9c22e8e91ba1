//! Programs whose values stand in memory mean what they meant, and programs with more values than slots run.

use num_bigint::BigUint;
use residue_compiler::{CompileError, compile};
use residue_conformance::campaign::Campaign;
use residue_conformance::programs::{calldata, program, program_of_sequences, program_with};
use residue_engine::{Engine, EngineConfig, Halt};
use residue_ir::{Modulus, Outcome, Program, evaluate_within, text, verify};
use residue_isa::{GasSchedule, Revision};
use residue_passes::spill::spill;

/// More than any of these programs takes.
const GAS: u64 = 1_000_000_000;
/// The revisions that the spilled programs run on.
const REVISIONS: [Revision; 3] = [Revision::Eip6690_2024, Revision::EvmmaxNext, Revision::Evm];

/// The base field of BN254.
fn bn254() -> BigUint {
    BigUint::parse_bytes(b"30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47", 16).unwrap()
}

/// The program with at most `limit` live values in each unit that allows it; none if no unit does.
fn spilled(program: &Program, limit: usize) -> Option<Program> {
    let mut spilled = program.clone();
    let mut subprograms = std::mem::take(&mut spilled.subprograms);
    let units = subprograms.iter_mut().chain([&mut spilled]);
    let count = units.filter_map(|unit| spill(unit, limit).then_some(())).count();
    spilled.subprograms = subprograms;
    (count > 0).then_some(spilled)
}

/// Holds code for the revision to the outcome.
fn check(program: &Program, revision: Revision, input: &[u8], expected: &Outcome) {
    let schedule = GasSchedule::default_for(revision).unwrap();
    let code = match compile(program, revision, &schedule) {
        Ok(compiled) => compiled.code,
        Err(error) if error.is_inexpressible() => return,
        Err(error) => panic!("{revision}: {error}\n{}", text::print(program)),
    };
    let found = Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code).run(input, GAS);
    let agrees = match expected {
        Outcome::Returned(bytes) => found.halt == Halt::Return && found.output == *bytes,
        Outcome::Failed => found.halt.is_exceptional(),
        Outcome::Ended => found.halt == Halt::Stop && found.output.is_empty(),
    };
    assert!(agrees, "{revision}: {expected:02x?}, {:?} {:02x?}\n{}", found.halt, found.output, text::print(program));
}

#[test]
fn random_programs_mean_the_same_with_values_in_memory() {
    let Campaign { cases, seed } = Campaign::part(6);
    let modulus = bn254();
    let (mut count, mut returned) = (0, 0);
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let program = match seed % 3 {
            0 => program(&modulus, seed),
            1 => program_of_sequences(&modulus, seed),
            _ => program_with(&modulus, &[Modulus::from(BigUint::from(97u8))], seed),
        };
        let outcomes = |program: &Program| -> Vec<_> {
            (0..4).map(|number| evaluate_within(program, &calldata(4 * seed + number), u64::MAX)).collect()
        };
        let expected = outcomes(&program);
        for limit in [3, 5, 8, 12, 16] {
            let Some(spilled) = spilled(&program, limit) else { continue };
            verify(&spilled).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&spilled)));
            assert_eq!(outcomes(&spilled), expected, "seed {seed}, {limit}\n{}", text::print(&spilled));
            count += 1;
            let revision = REVISIONS[usize::try_from(seed % 3).unwrap()];
            if let Ok(expected) = &expected[0] {
                returned += u64::from(matches!(expected, Outcome::Returned(_)));
                check(&spilled, revision, &calldata(4 * seed), expected);
            }
        }
    }
    assert!(count > cases / 2 && returned > cases / 8, "{count} of {cases}, {returned} return");
}

/// Text of a program whose function squares `count` times, then adds every second square in a loop, or multiplies by it, from the last one on, and
/// multiplies by its input: all are live together.
fn squares(count: usize) -> String {
    let square = |number: usize| format!(" v{} = mul v{number} v{number}\n", number + 1);
    let first = count + 1;
    let sum = |place: usize| {
        let (before, by) = (first + place, count - 2 * place);
        let op = if place.is_multiple_of(3) { "mul" } else { "add" };
        format!(" v{} = {op} v{before} v{by}\n", before + 1)
    };
    let given = first + count / 2;
    let [sum_of_all, result] = [given + 1, given + 2];
    format!(
        "program \"squares\" modulus {:#x}
         function f0 \"squares\" (v0) -> (v{result}) values {} {{ word w0 = 0x3 word w1 = defined
         block {{ {} }} repeat w0 index w1 (v{first}) = (v{count}) {{ block {{ {} }} give (v{given}) }} -> (v{sum_of_all})
         block {{ v{result} = mul v{sum_of_all} v0 }} }}
         function f1 \"start\" () -> () values 2 {{ word w0 = 0x0
         parse w0 bytes 32 -> v0 call f0 (v0) -> (v1) return_elements (v1) bytes 32 }}",
        bn254(),
        result + 1,
        (0..count).map(square).collect::<String>(),
        (0..count / 2).map(sum).collect::<String>(),
    )
}

#[test]
fn programs_with_more_values_than_slots_run() {
    for count in [300, 800] {
        let program = text::read(&squares(count)).unwrap();
        for input in (0..3).map(calldata) {
            let expected = evaluate_within(&program, &input, u64::MAX).unwrap();
            for revision in
                [Revision::Eip6690_2024, Revision::Eip6601, Revision::EvmmaxNext, Revision::Evm384V7, Revision::Evm]
            {
                check(&program, revision, &input, &expected);
            }
        }
    }
}

/// Values that one statement defines are live together: none of them can be spilled.
#[test]
fn more_values_of_one_statement_than_slots_are_refused() {
    let results: String = (0..300).map(|number| format!(" v{number}")).collect();
    let text = format!(
        "program \"row\" modulus {:#x} array a0 \"rows\" values 300 capacity 2 function f0 \"start\" () -> () values 300 {{
         word w0 = 0x0 load a0 w0 -> ({results}) return_elements ({results}) bytes 32 }}",
        bn254()
    );
    let program = text::read(&text).unwrap();
    let revision = Revision::Eip6690_2024;
    let error = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap_err();
    assert!(matches!(error, CompileError::Slots { .. }), "{error}");
    assert!(error.to_string().contains("needs more than"), "{error}");
}
