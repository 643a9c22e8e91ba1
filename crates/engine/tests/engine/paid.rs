//! Work on a code is paid for by gas charged in it: after any number of runs, under every schedule.

use residue_engine::{Batching, BlockExplained, Engine, EngineConfig};
use residue_isa::assembly::assemble_text;
use residue_isa::{FieldOp, GasSchedule, Revision};

/// Cycles paid for by a product and by a gas, and costs of walking and planning by run and by operation: as in
/// `docs/engine.md`.
const CYCLES_PER_PRODUCT: u64 = 72;
const CYCLES_PER_GAS_MAX: u64 = 24;
const WALK_CYCLES: u64 = 1536;
const WALK_CYCLES_PER_RUN: u64 = 768;
const WALK_CYCLES_PER_OPERATION: u64 = 64;
const TRACE_CYCLES_PER_OPERATION: u64 = 48;
const PLAN_CYCLES_PER_OPERATION: u64 = 400;

const SLOTS: &str = "PUSH 101 PUSH 31 MSTORE8 PUSH 200 PUSH 32 PUSH 0 PUSH 0 SETMODX\n";

fn code(text: &str) -> Vec<u8> {
    assemble_text(text, Revision::Eip6690_2024).unwrap().bytes
}

/// Many heads, each entered four times for a cheap way out and once for a long tail that all share.
fn heads_that_share_a_tail(heads: usize, tail: usize) -> String {
    let mut text = SLOTS.to_owned();
    for head in 0..heads {
        for entry in 0..5 {
            let way = if entry == 4 { "tail" } else { "exit" };
            text.push_str(&format!("PUSH @back{head}_{entry} PUSH @{way} PUSH @head{head} JUMP back{head}_{entry}:\n"));
        }
    }
    text.push_str("STOP\n");
    for head in 0..heads {
        text.push_str(&format!("head{head}:\nADDMODX 0:1 0:1 64:1 x64 ADDMODX 0:1 0:1 64:1 x64 DUP1 JUMP\n"));
    }
    text.push_str("exit: POP JUMP\ntail:\n");
    text.push_str(&"ADDMODX 0 1 2 JUMPDEST\n".repeat(tail));
    text.push_str("POP JUMP\n");
    text
}

/// Tiny blocks, thousands of them, again and again.
fn tiny_blocks(blocks: usize, rounds: usize) -> String {
    let body: String = (0..blocks).map(|at| format!("ADDMODX {} 1 2 SUBMODX 0 1 2 GAS POP\n", at % 100)).collect();
    format!("{SLOTS}PUSH {rounds}\ntop:\n{body}PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI STOP\n")
}

/// Sums that are never read, between jump targets.
fn dead_sums(sums: usize, rounds: usize) -> String {
    let body = "ADDMODX 0:1 0:1 64:1 x64 JUMPDEST\n".repeat(sums);
    format!("{SLOTS}PUSH {rounds}\ntop:\n{body}PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI STOP\n")
}

/// One code of many: after some entries for a cheap way out, its head leads through functions that call each other
/// twice, each call with other return addresses, so that the length of a walk doubles with each of them.
fn calls_that_double(exits: usize, functions: usize) -> String {
    let mut text = SLOTS.to_owned();
    for entry in 0..=exits {
        let way = if entry == exits { "f0" } else { "exit" };
        text.push_str(&format!("PUSH @back{entry} PUSH @{way} PUSH @head JUMP back{entry}:\n"));
    }
    text.push_str("STOP\nhead:\nADDMODX 0:1 0:1 64:1 x64 DUP1 JUMP\nexit: POP JUMP\n");
    for at in 0..functions {
        let next = at + 1;
        text.push_str(&format!("f{at}:\nADDMODX 0 1 2 PUSH @r{at} PUSH @f{next} JUMP\n"));
        text.push_str(&format!("r{at}:\nADDMODX 0 1 2 PUSH @f{next} JUMP\n"));
    }
    text.push_str(&format!("f{functions}:\nADDMODX 0 1 2 JUMP\n"));
    text
}

/// Cycles of all work on a code.
fn made_cycles(blocks: &[BlockExplained]) -> u64 {
    let cycles = |block: &BlockExplained| {
        let operations: u64 = block.operations.0.iter().map(|&count| u64::from(count)).sum();
        let of = |is_made: bool, cycles: u64| if is_made { cycles * operations } else { 0 };
        WALK_CYCLES + WALK_CYCLES_PER_RUN * block.runs as u64 // A block has 512 runs at most.
            + WALK_CYCLES_PER_OPERATION * operations
            + of(block.trace_steps.is_some(), TRACE_CYCLES_PER_OPERATION)
            + of(block.plan.is_some(), PLAN_CYCLES_PER_OPERATION)
    };
    blocks.iter().map(cycles).sum()
}

/// Cycles paid for by a gas under a schedule.
fn cycles_per_gas(schedule: &GasSchedule) -> u64 {
    (CYCLES_PER_PRODUCT / schedule.instruction(FieldOp::Mul, 6, 1).whole()).clamp(1, CYCLES_PER_GAS_MAX)
}

#[test]
fn planning_is_paid_for_by_gas_under_every_schedule() {
    let programs = [heads_that_share_a_tail(31, 2500), tiny_blocks(1500, 40), dead_sums(60, 20)];
    let mut has_planned = 0;
    for name in GasSchedule::names(Revision::Eip6690_2024) {
        let schedule = GasSchedule::named(&name, Revision::Eip6690_2024).unwrap();
        for text in &programs {
            let code = code(text);
            let config = EngineConfig::new(Revision::Eip6690_2024, schedule.clone());
            let engine = Engine::unshared(EngineConfig { batching: Batching::Warm, ..config }).unwrap();
            let mut prepared = engine.prepare(&code);
            let mut gas_used = 0;
            for run in 0..4 {
                gas_used += prepared.run(&[], 50_000_000).gas_used;
                let blocks = prepared.blocks();
                let (cycles, paid) = (made_cycles(&blocks), gas_used * cycles_per_gas(&schedule));
                assert!(cycles <= paid, "{} run {run}: {cycles} of {paid}", schedule.name());
                has_planned += usize::from(blocks.iter().any(|block| block.plan.is_some()));
            }
        }
    }
    // A machine without IFMA has no plans.
    assert_eq!(has_planned > 0, plans_run());
}

/// Each of many codes, called once, pays for the work on it: a debt would be lost with its code.
#[test]
fn every_code_pays_for_itself() {
    let config = EngineConfig::default_for(Revision::Eip6690_2024);
    let rate = cycles_per_gas(&config.schedule);
    let engine = Engine::unshared(config).unwrap();
    let mut has_walked = false;
    let cases = (0..8).flat_map(|exits| [(2, 1_000), (12, 150), (12, 1_000), (12, 10_000)].map(|case| (exits, case)));
    for (exits, (functions, spare)) in cases {
        let mut prepared = engine.prepare(&code(&calls_that_double(exits, functions)));
        let mut gas_used = 0;
        for _ in 0..20 {
            // An entry of the head takes about a hundred gas.
            gas_used += prepared.run(&[], 100 * exits as u64 + spare).gas_used;
            let blocks = prepared.blocks();
            let (cycles, paid) = (made_cycles(&blocks), gas_used * rate);
            assert!(cycles <= paid, "{exits} exits: {cycles} of {paid}");
            has_walked |= blocks.iter().any(|block| block.runs > 1);
        }
    }
    assert!(has_walked);
}

/// True if this machine runs plans: independent products have one then.
fn plans_run() -> bool {
    let engine = Engine::unshared(EngineConfig::default_for(Revision::Eip6690_2024)).unwrap();
    let code = code(&format!("{SLOTS}{}STOP", "MULMODX 0:1 64:1 64:1 x64\n".repeat(4)));
    engine.plan_ahead(&code, &[], 1 << 30);
    engine.prepare(&code).blocks().iter().any(|block| block.plan.is_some())
}

#[test]
fn what_is_planned_ahead_is_warm_at_its_first_execution() {
    let config = EngineConfig::default_for(Revision::Eip6690_2024);
    let engine = Engine::unshared(config.clone()).unwrap();
    let code = code(&dead_sums(40, 3).replace("ADDMODX 0:1", "MULMODX 0:1"));
    let before = engine.prepare(&code).blocks().len();
    let outcome = engine.plan_ahead(&code, &[], 1 << 30);
    let blocks = engine.prepare(&code).blocks();
    assert_eq!(before, 0);
    assert!(blocks.iter().any(|block| block.plan.is_some() || block.trace_steps.is_some()));
    let plain = Engine::new(EngineConfig { batching: Batching::Off, ..config }).unwrap();
    let expected = plain.run_code(&code, &[], 1 << 30);
    assert_eq!((outcome.halt, outcome.gas_used), (expected.halt, expected.gas_used));
}

/// Thirty products beside each other, in a loop.
fn products(rounds: usize) -> Vec<u8> {
    let body: String = (0..30).map(|slot| format!("MULMODX {slot} 40 41 x1\n")).collect();
    code(&format!("{SLOTS}PUSH {rounds}\ntop:\n{body}PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI STOP\n"))
}

#[test]
fn what_runs_as_a_trace_earns_its_plan() {
    let made = |rounds: usize| {
        let engine = Engine::unshared(EngineConfig::default_for(Revision::Eip6690_2024)).unwrap();
        let mut prepared = engine.prepare(&products(rounds));
        prepared.run(&[], 1 << 30);
        let blocks = prepared.blocks();
        let has = |of: fn(&BlockExplained) -> bool| blocks.iter().any(of);
        (has(|block| block.trace_steps.is_some()), has(|block| block.plan.is_some()))
    };
    // Nothing pays for more than that in a few rounds; a plan takes some thirty thousand cycles, and a product pays for 72.
    assert_eq!(made(1), (false, false));
    assert_eq!(made(16), (true, false));
    assert_eq!(made(100), (true, plans_run()));
}
