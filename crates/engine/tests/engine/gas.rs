//! Gas: a run that needs g gas ends the same with any more, and out of gas with any less.

use crate::code::{BLS12_381_P, Code, eip6690, evm384, modulus_101};
use residue_engine::{Engine, EngineConfig, EngineError, Fork, Halt, World};
use residue_isa::revision::eip6690_2024::{ADDMODX, MULMODX, SUBMODX};
use residue_isa::revision::evm384_v7::{ADDMOD384, MULMODMONT384, SUBMOD384};
use residue_isa::{GasSchedule, Revision};

#[track_caller]
fn check_cuts(engine: &Engine, code: &Code) {
    let whole = engine.run_code(&code.0, &[], 1_000_000);
    assert_eq!(whole.halt, Halt::Return);
    assert!(whole.gas_used > 100, "the program is worth cutting");
    let mut prepared = engine.prepare(&code.0);
    for gas in 0..whole.gas_used + 50 {
        let outcome = prepared.run(&[], gas);
        assert_eq!(outcome, engine.run_counted(&code.0, &[], gas).outcome, "traced, gas {gas}");
        if gas < whole.gas_used {
            assert_eq!((outcome.halt, outcome.gas_used, outcome.gas_left), (Halt::OutOfGas, gas, 0), "gas {gas}");
        } else {
            assert_eq!((outcome.halt, &outcome.output), (whole.halt, &whole.output), "gas {gas}");
            assert_eq!((outcome.gas_used, outcome.gas_left), (whole.gas_used, gas - whole.gas_used));
        }
    }
}

#[test]
fn eip6690_runs_out_of_gas_at_every_cut() {
    let p = hex::decode(BLS12_381_P).unwrap();
    let code = modulus_101(0, 9)
        .slots(ADDMODX, (0, 1), (0, 0), (3, 2), 3)
        .store(32, &p)
        .setmodx(5, 32, 48, 20)
        .storex(0, 80, 0)
        .slots(MULMODX, (1, 2), (0, 1), (3, 0), 8)
        .one(SUBMODX, 19, 18, 17)
        .loadx(0, 2, 1)
        .mstore(64, 8)
        .setmodx(6, 64, 32, 3)
        .loadx(0, 0, 3)
        .setmodx(0, 0, 0, 0)
        .loadx(0, 0, 9)
        .stack(&[200, 0, 40])
        .op(0x37)
        .ret(300, 20);
    check_cuts(&eip6690(), &code);
}

#[test]
fn evm384_runs_out_of_gas_at_every_cut() {
    let code = Code::new()
        .mstore(0, 101)
        .v7(ADDMOD384, 100, 0, 32, 0)
        .v7(SUBMOD384, 0, 200, 32, 0)
        .v7(MULMODMONT384, 0, 0, 300, 900)
        .ret(0, 1000);
    check_cuts(&evm384(), &code);
}

fn memory_cost(words: u64) -> u64 {
    3 * words + words * words / 512
}

/// Every opcode that grows memory pays Cmem(W′ + R) − Cmem(W + R).
#[test]
fn slots_count_as_memory_on_every_opcode_that_grows_it() {
    let (engine, reach) = (eip6690(), 32 * 1000_u64);
    let with_stack = |top_first: &[u64], opcode| Code::new().stack(top_first).op(opcode);
    let (callee, len) = ([9; 20], 32);
    let start = reach - len;
    let called = |opcode, in_len, out_len| {
        let code = Code::new().push(out_len).push(start).push(in_len).push(start);
        let code = if opcode < 0xf4 { code.push(0) } else { code };
        code.op(0x73).bytes(&callee).push(5000).op(opcode)
    };
    for (opcode, code) in [
        (0x51, with_stack(&[start], 0x51)),
        (0x52, with_stack(&[start, 1], 0x52)),
        (0x53, with_stack(&[reach - 1, 1], 0x53)),
        (0x5e, with_stack(&[0, start, len], 0x5e)),
        (0x5e, with_stack(&[start, 0, len], 0x5e)),
        (0x20, with_stack(&[start, len], 0x20)),
        (0x37, with_stack(&[start, 0, len], 0x37)),
        (0x39, with_stack(&[start, 0, len], 0x39)),
        (0x3c, with_stack(&[0, start, 0, len], 0x3c)),
        (0xa0, with_stack(&[start, len], 0xa0)),
        (0xa4, with_stack(&[start, len, 1, 2, 3, 4], 0xa4)),
        (0xf0, with_stack(&[0, start, len], 0xf0)),
        (0xf5, with_stack(&[0, start, len, 0], 0xf5)),
        (0xf1, called(0xf1, len, 0)),
        (0xf1, called(0xf1, 0, len)),
        (0xf2, called(0xf2, 0, len)),
        (0xf4, called(0xf4, len, 0)),
        (0xfa, called(0xfa, 0, len)),
        (0xf3, with_stack(&[start, len], 0xf3)),
        (0xfd, with_stack(&[start, len], 0xfd)),
    ] {
        for slots in [1, 100, 256] {
            let slot_words = (slots * 8_u64).div_ceil(32);
            let gas_of = |before: Code| engine.run_code(&before.bytes(&code.0).0, &[], 10_000_000).gas_used;
            let plain = gas_of(Code::new().mstore(0, 101)) - gas_without(&Code::new().mstore(0, 101));
            let with_slots = gas_of(modulus_101(0, slots)) - gas_without(&modulus_101(0, slots));
            let share =
                memory_cost(1000 + slot_words) - memory_cost(1 + slot_words) - (memory_cost(1000) - memory_cost(1));
            assert_eq!(with_slots, plain + share, "{opcode:#04x} with {slots} slots");
        }
    }
}

/// ⌊W² / 512⌋ rounds at every step, so shares of one word at a time would drift from the whole.
#[test]
fn growth_word_by_word_costs_what_growth_at_once_costs() {
    for slots in (1..=256).step_by(5) {
        let slot_words = (slots * 8_u64).div_ceil(32);
        let words = 1..=120;
        let stores = |code: Code| words.clone().fold(code, |code, word| code.mstore(32 * word, 1));
        let used = gas_without(&stores(modulus_101(0, slots)));
        let growth = memory_cost(121 + slot_words) - memory_cost(1 + slot_words);
        assert_eq!(used, gas_without(&modulus_101(0, slots)) + 120 * 9 + growth, "{slots} slots");
    }
}

#[test]
fn gas_beyond_counting_does_no_harm() {
    for code in [
        modulus_101(0, 4).mstore(22 * 32, 1).mstore(23 * 32, 1),
        modulus_101(0, 256).push(1).push_bytes(&[0xff; 8]).op(0x52),
        modulus_101(0, 256).push(1).push_bytes(&[0xff; 32]).op(0x52),
    ] {
        let outcome = eip6690().run_code(&code.0, &[], u64::MAX);
        assert!(matches!(outcome.halt, Halt::Stop | Halt::OutOfGas));
        assert_eq!(outcome.gas_used.checked_add(outcome.gas_left), Some(u64::MAX));
    }
}

fn gas_without(code: &Code) -> u64 {
    eip6690().run_code(&code.0, &[], 10_000_000).gas_used
}

#[test]
fn zero_lengths_grow_nothing_with_slots_either() {
    let huge = u64::MAX;
    for code in [
        Code::new().stack(&[huge, 0]).op(0x20),
        Code::new().stack(&[huge, huge, 0]).op(0x37),
        Code::new().stack(&[huge, huge, 0]).op(0x5e),
        Code::new().stack(&[0, huge, 0]).op(0xf0),
        Code::new().stack(&[huge, 0]).op(0xf3),
    ] {
        let outcome = eip6690().run_code(&modulus_101(0, 256).bytes(&code.0).0, &[], 1_000_000);
        assert!(outcome.is_success());
        assert_eq!(outcome.memory.len(), 32);
    }
}

/// The share is paid before the call family keeps back a 64th, and a callee pays nothing for its caller's slots.
#[test]
fn a_callee_gets_what_is_left_after_the_slots_share() {
    let engine = eip6690();
    let gas_returner = Code::new().op(0x5a).push(0).op(0x52).ret(0, 32);
    let mut world = World::new(&engine);
    world.install([2; 20], &gas_returner.0, 0);
    let call = Code::new().push(32).push(3200).stack(&[0, 0]).push(0).op(0x73).bytes(&[2; 20]).op(0x5a).op(0xf1);
    let code = modulus_101(0, 256).bytes(&call.0).ret(3200, 32);
    world.install([1; 20], &code.0, 0);
    let gas = 1_000_000;
    let outcome = world.call([1; 20], &[], gas);
    let before = gas_without(&modulus_101(0, 256)) + 3 * 3 + 3 * 2 + 2; // PUSH, PUSH0 and GAS
    let growth = memory_cost(101 + 64) - memory_cost(1 + 64);
    let left = gas - before - 2600 - growth;
    let passed_on = left - left / 64;
    let seen = u64::from_be_bytes(outcome.output[24..].try_into().unwrap());
    assert_eq!(outcome.halt, Halt::Return);
    assert_eq!(seen, passed_on - 2, "less GAS itself");
}

#[test]
fn schedules_replace_base_prices_of_the_evm() {
    let revision = Revision::Eip6690_2024;
    let text = GasSchedule::named("eip6690", revision).unwrap().to_toml();
    let cheap = GasSchedule::from_toml(&format!("{text}\n[evm]\nPUSH1 = 1\nMSTORE = 0.5\n"), "cheap.toml").unwrap();
    let engine = Engine::new(EngineConfig::new(revision, cheap)).unwrap();
    let code = Code::new().mstore(1, 1);
    assert_eq!(engine.run_code(&code.0, &[], 100).gas_used, 1 + 1 + 1 + 2 * 3);
    let dear = GasSchedule::from_toml(&format!("{text}\n[evm]\nPUSH1 = 65536\n"), "dear.toml").unwrap();
    let error = Engine::new(EngineConfig::new(revision, dear)).unwrap_err();
    assert!(matches!(error, EngineError::BasePriceTooHigh { opcode: 0x60, .. }), "{error}");
}

#[test]
fn a_schedule_of_another_revision_is_refused() {
    let schedule = GasSchedule::named("evmone", Revision::Evm384V7).unwrap();
    let error = Engine::new(EngineConfig::new(Revision::Eip6690_2024, schedule)).unwrap_err();
    assert_eq!(error.to_string(), "the gas schedule \"evmone\" has no prices for eip6690-2024");
}

#[test]
fn model_prices_apply_to_evm384() {
    let revision = Revision::Evm384V7;
    let schedule = GasSchedule::named("model-a", revision).unwrap();
    let engine = Engine::new(EngineConfig { fork: Fork::Prague, ..EngineConfig::new(revision, schedule) }).unwrap();
    let code = Code::new().v7(ADDMOD384, 0, 0, 0, 0).v7(MULMODMONT384, 0, 0, 0, 0);
    assert_eq!(engine.run_code(&code.0, &[], 1000).gas_used, (3 + 2) + (3 + 6) + 6);
}
