//! Traced and untraced execution are the same execution, for all code.

use crate::code::random::random_code;
use crate::code::{Code, eip6690, engine, evm384, modulus_101};
use rand::{Rng, SeedableRng};
use residue_engine::{Batching, Counts, Engine, EngineConfig, Fork, Halt, Step, Tracer, View, World};
use residue_isa::revision::eip6690_2024::{ADDMODX, MULMODX};
use residue_isa::revision::evm384_v7::{ADDMOD384, MULMODMONT384};
use residue_isa::{FieldOp, Revision};

const ADDRESSES: [[u8; 20]; 4] = [[1; 20], [2; 20], [3; 20], [4; 20]];

fn random_world(random: &mut impl Rng, engine: &Engine) -> World {
    let mut world = World::new(engine);
    for address in ADDRESSES {
        let code = random_code(random, Some(engine.config().revision), &ADDRESSES);
        world.install(address, &code.0, 1000);
    }
    world
}

#[test]
fn random_contracts_that_call_each_other_end_the_same_traced_and_untraced() {
    let mut halts = std::collections::BTreeSet::new();
    let forks = [Fork::Osaka, Fork::Osaka, Fork::Amsterdam, Fork::London];
    for (revision, fork) in Revision::ALL.iter().flat_map(|revision| forks.map(|fork| (revision, fork))) {
        let batching = Batching::Always;
        let engine = Engine::new(EngineConfig { fork, batching, ..EngineConfig::default_for(*revision) }).unwrap();
        for seed in 0..200 {
            let world = |seed| random_world(&mut rand_chacha::ChaCha8Rng::seed_from_u64(seed), &engine);
            let (mut plain, mut traced) = (world(seed), world(seed));
            for gas in [300_000, 3_000] {
                let expected = plain.call(ADDRESSES[0], &[7; 40], gas);
                let mut counts = Counts::new(*revision);
                let outcome = traced.call_traced(ADDRESSES[0], &[7; 40], gas, &mut counts);
                assert_eq!(outcome, expected, "{revision} on {fork}, seed {seed}");
                let split = counts.gas_split(outcome.gas_used);
                assert_eq!(split.total(), outcome.gas_used, "{revision} on {fork}, seed {seed}");
                halts.insert(outcome.halt.name());
            }
            for address in ADDRESSES {
                assert_eq!(plain.code(address), traced.code(address));
            }
        }
    }
    assert!(halts.len() > 8, "random code is varied: {halts:?}");
}

#[test]
fn random_bytes_of_any_length_panic_nothing() {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(2);
    for revision in Revision::ALL {
        let engine = engine(*revision);
        for round in 0..400 {
            let len = if round % 40 == 0 { 64 * 1024 } else { 1 << random.random_range(0..14) };
            let mut code: Vec<u8> = (0..len).map(|_| random.random()).collect();
            if round % 2 == 0 {
                // Bytes that get further: pushes, duplicates, field opcodes.
                for byte in &mut code {
                    if random.random_bool(0.7) {
                        *byte =
                            [0x5f, 0x60, 0x80, 0x5b, 0x52, 0xc0, 0xc1, 0xc2, 0xc3, 0xc5][random.random_range(0..10)];
                    }
                }
            }
            let outcome = engine.run_code(&code, &code, 200_000);
            assert_eq!(engine.run_counted(&code, &code, 200_000).outcome, outcome);
        }
        for start in [0xef_u8, 0xfe] {
            assert_eq!(engine.run_code(&[start, 0x01, 0x00], &[], 10).halt, Halt::InvalidInstruction);
        }
    }
}

#[test]
fn a_run_leaves_nothing_behind_for_the_next() {
    // Sets storage and a modulus; would end otherwise if either were still there.
    let code = modulus_101(0, 4).push(1).op(0x54).push(1).push(1).op(0x55).push(0).op(0x52).loadx(8, 0, 1).ret(0, 32);
    let mut prepared = eip6690().prepare(&code.0);
    let first = prepared.run(&[], 100_000);
    assert_eq!(first.halt, Halt::Return);
    for _ in 0..3 {
        assert_eq!(prepared.run(&[], 100_000), first);
        assert_eq!(prepared.run(&[], 60).halt, Halt::OutOfGas);
    }
    let context_only = Code::new().one(ADDMODX, 0, 0, 0);
    assert_eq!(eip6690().prepare(&context_only.0).run(&[], 1000).halt, Halt::NoContext);
}

#[test]
fn counts_and_split_say_what_was_executed_and_what_it_cost() {
    let code = modulus_101(0, 8).slots(MULMODX, (0, 1), (0, 0), (4, 1), 3).one(ADDMODX, 0, 1, 2).loadx(0, 0, 1);
    let counted = eip6690().run_counted(&code.0, &[], 100_000);
    assert_eq!(counted.outcome.halt, Halt::Stop);
    let ops: Vec<_> = counted.counts.by_mnemonic().collect();
    let expected = [
        ("STOP", 1),
        ("MSTORE", 1),
        ("PUSH0", 4),
        ("PUSH1", 5),
        ("SETMODX", 1),
        ("LOADX", 1),
        ("ADDMODX", 1),
        ("MULMODX", 1),
    ];
    assert_eq!(ops, expected);
    assert_eq!(counted.counts.lanes(FieldOp::Mul, 1), 3);
    assert_eq!(counted.counts.lanes(FieldOp::Add, 1), 1);
    assert_eq!(counted.counts.widths_limbs(), [1]);
    let split = counted.gas_split;
    assert_eq!(split.arithmetic, 3 + 1);
    assert_eq!(split.transfer, 3 + (1 + 23) + (1 + 1));
    assert_eq!(split.memory, 3 + 6);
    assert_eq!(split.control, 4 * 2 + 5 * 3);
    assert_eq!(split.total(), counted.outcome.gas_used);
}

#[test]
fn the_push_of_packed_operands_is_arithmetic() {
    let code = Code::new().v7(ADDMOD384, 0, 0, 0, 0).v7(MULMODMONT384, 0, 0, 0, 0).push(0).op(0x80).op(ADDMOD384);
    let counted = evm384().run_counted(&code.0, &[], 100_000);
    assert_eq!(counted.outcome.halt, Halt::Stop);
    assert_eq!(counted.gas_split.arithmetic, (3 + 8) + (3 + 24) + 8);
    assert_eq!(counted.gas_split.control, 2 + 3);
    assert_eq!(counted.gas_split.memory, 6);
}

#[test]
fn what_an_exceptional_halt_burns_is_control() {
    let code = Code::new().v7(ADDMOD384, 0, 0, 0, 0).op(0xfe);
    let counted = evm384().run_counted(&code.0, &[], 100_000);
    assert_eq!(counted.gas_split.arithmetic, 11);
    assert_eq!(counted.gas_split.memory, 6);
    assert_eq!(counted.gas_split.control, 100_000 - 17);
}

#[derive(Default)]
struct Slots(Vec<(Step, Option<Vec<u8>>)>);

impl Tracer for Slots {
    fn after(&mut self, step: &Step, view: &View<'_>) {
        self.0.push((step.clone(), view.slot(1)));
    }
}

#[test]
fn a_tracer_sees_canonical_slots_and_gas_and_depth() {
    let mut world = World::new(&eip6690());
    world.install([2; 20], &Code::new().push(5).op(0x00).0, 0);
    let outer = modulus_101(0, 2).storex(0, 0, 0).mstore(0, 77).storex(1, 24, 1).call(0xf1, 5000, [2; 20], 0).op(0x00);
    world.install([1; 20], &outer.0, 0);
    let mut slots = Slots::default();
    let outcome = world.call_traced([1; 20], &[], 100_000, &mut slots);
    let last = slots.0.last().unwrap();
    assert_eq!(last.0.halt, Some(Halt::Stop));
    assert_eq!(last.1.as_deref(), Some(&77_u64.to_be_bytes()[..]));
    let inner: Vec<_> = slots.0.iter().filter(|(step, _)| step.depth == 1).collect();
    assert_eq!(inner.len(), 2);
    assert!(inner.iter().all(|(step, slot)| slot.is_none() && step.slot_words == (0, 0)));
    assert_eq!(slots.0.iter().map(|(step, _)| step.gas_cost).sum::<u64>(), outcome.gas_used);
}
