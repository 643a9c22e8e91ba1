//! Keccak-f[1600] in code, against the library whose permutation the evaluator takes, and what a permutation takes.

use crate::seeded::Seeded;
use crate::support::cases;
use keccak::Keccak;
use residue_compiler::{Compiled, Dialect, SmallMultiples, compile, compile_as};
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared};
use residue_ir::keccak_f::{BEFORE_BYTES, LANES, STATE_BYTES};
use residue_ir::{Machine, Outcome, Program, evaluate, record, text, verify};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, hold};

/// Runs of one permutation. Each has a state of its own.
const STATES: usize = 2_000;

/// A state from calldata with anything before its lanes, permuted so many times; its lanes are returned.
fn program(permutations: u64) -> Program {
    let program = record("keccak_f", &97u8.into(), |machine| {
        let [from, lanes, bytes] = [64u32, 64 + BEFORE_BYTES, STATE_BYTES].map(|number| machine.small(number.into()));
        machine.scratch(64 + STATE_BYTES);
        machine.copy_calldata(from, machine.small(0), bytes);
        machine.repeat(machine.small(permutations), (), |machine, _, ()| machine.keccak_f(64));
        machine.return_scratch(lanes, machine.small(u64::from(STATE_BYTES - BEFORE_BYTES)));
    });
    verify(&program).unwrap();
    assert_eq!(text::read(&text::print(&program)).unwrap(), program);
    program
}

fn compiled(permutations: u64) -> Compiled {
    let revision = Revision::Evm;
    compile(&program(permutations), revision, &GasSchedule::default_for(revision).unwrap()).unwrap()
}

fn prepared(code: &[u8]) -> Prepared {
    Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap().prepare(code)
}

fn lanes(state: &[u64; LANES]) -> Vec<u8> {
    state.iter().flat_map(|lane| lane.to_be_bytes()).collect()
}

fn calldata(state: &[u64; LANES], before: u8) -> Vec<u8> {
    [vec![before; BEFORE_BYTES as usize], lanes(state)].concat()
}

#[track_caller]
fn check(subject: &mut Prepared, state: [u64; LANES], before: u8, permutations: u64) -> u64 {
    let mut expected = state;
    (0..permutations).for_each(|_| Keccak::new().with_f1600(|permutation| permutation(&mut expected)));
    let outcome = subject.run_without_memory(&calldata(&state, before), 10_000_000);
    assert_eq!((outcome.halt, outcome.output), (Halt::Return, lanes(&expected)), "{state:x?}");
    outcome.gas_used
}

/// All zeros, all ones, one bit alone or missing, one lane, and any.
fn state(case: usize, seeded: &mut Seeded) -> [u64; LANES] {
    const BITS: usize = 64 * LANES;
    let mut state = [0; LANES];
    match case {
        0 => {}
        1 => state = [u64::MAX; LANES],
        _ if case < 2 + LANES => state[case - 2] = u64::MAX,
        _ if case.is_multiple_of(3) => state[case % BITS / 64] = 1 << (case % 64),
        _ if case % 3 == 1 => {
            state = [u64::MAX; LANES];
            state[case * 7 % BITS / 64] ^= 1 << (case * 7 % 64);
        }
        _ => state = std::array::from_fn(|_| seeded.word()),
    }
    state
}

#[test]
fn every_state_is_permuted_as_by_the_library() {
    let mut subject = prepared(&compiled(1).code);
    let mut seeded = Seeded(60);
    let mut gas = std::collections::BTreeSet::new();
    for case in 0..cases(STATES) {
        let state = state(case, &mut seeded);
        gas.insert(check(&mut subject, state, [0, 0xff, 0x5a][case % 3], 1));
    }
    assert_eq!(gas.len(), 1, "gas does not depend on the state: {gas:?}");
}

#[test]
fn permutations_follow_each_other() {
    let mut seeded = Seeded(61);
    for permutations in [0, 2, 3, 7] {
        let mut subject = prepared(&compiled(permutations).code);
        for _ in 0..cases(20) {
            let state = std::array::from_fn(|_| seeded.word());
            check(&mut subject, state, 0xa5, permutations);
        }
    }
}

/// Before Petersburg there are no shifts, so that rotations are quotients, and before Shanghai no PUSH0.
#[test]
fn older_forks_permute_too() {
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    for fork in [Fork::Byzantium, Fork::Istanbul, Fork::Shanghai] {
        let dialect = Dialect { fork, ..Dialect::default() };
        let code = compile_as(&program(2), Revision::Evm, &schedule, SmallMultiples::AsWritten, dialect).unwrap().code;
        let config = EngineConfig { fork, ..EngineConfig::default_for(Revision::Evm) };
        let mut subject = Engine::new(config).unwrap().prepare(&code);
        let mut seeded = Seeded(65);
        for case in 0..cases(40) {
            check(&mut subject, state(case, &mut seeded), 0xc3, 2);
        }
    }
}

#[test]
fn the_evaluator_permutes_as_the_library_does() {
    let mut seeded = Seeded(62);
    for permutations in [1, 2] {
        let program = program(permutations);
        for case in 0..cases(20) {
            let state = state(case, &mut seeded);
            let mut expected = state;
            (0..permutations).for_each(|_| Keccak::new().with_f1600(|permutation| permutation(&mut expected)));
            assert_eq!(evaluate(&program, &calldata(&state, 9)), Outcome::Returned(lanes(&expected)));
        }
    }
}

#[test]
fn a_permutation_takes_what_the_document_says() {
    let code = [1, 2].map(|permutations| compiled(permutations).code);
    let gas =
        [1, 2].map(|permutations| check(&mut prepared(&code[permutations - 1]), [5; LANES], 0, permutations as u64));
    let text = format!(
        "| gas, a permutation | gas, the first one | bytes of a program of one |\n|---:|---:|---:|\n| {} | {} | {} |\n",
        grouped(gas[1] - gas[0]),
        grouped(gas[0]),
        grouped(code[0].len() as u64)
    );
    hold("docs/hashes.md", "keccak_f", &text);
}
