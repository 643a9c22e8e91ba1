//! Schedules that round each instruction up: lanes that go in turn cost together what they would cost by instructions.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::assembly::assemble_text;
use residue_isa::{GasSchedule, Revision};

const REVISION: Revision = Revision::Evmone2025;
const SLOTS: usize = 12;

fn engine(schedule: &GasSchedule, batching: Batching) -> Engine {
    Engine::new(EngineConfig { batching, ..EngineConfig::new(REVISION, schedule.clone()) }).unwrap()
}

/// A loop of blocks whose instructions have up to five lanes; some have the same operation and lanes as others.
fn program(random: &mut impl Rng) -> String {
    let bytes = [4, 8, 32, 48, 96][random.random_range(0..5)];
    let modulus = format!("{}{}", "f1".repeat(bytes.min(32) - 1), "0d");
    let mut text = format!("PUSH{} 0x{modulus} PUSH {} MSTORE\n", bytes.min(32), bytes.max(32) - 32);
    if bytes > 32 {
        text.push_str("PUSH 0xc7 PUSH 0 MSTORE8\n");
    }
    let offset = 32usize.saturating_sub(bytes);
    text.push_str(&format!("PUSH {SLOTS} PUSH {bytes} PUSH {offset} PUSH 0 SETMODX\nPUSH 6\ntop:\n"));
    for _ in 0..random.random_range(1..60) {
        let mnemonic = ["ADDMODX", "SUBMODX", "MULMODX"][random.random_range(0..3)];
        let count = random.random_range(1..6);
        let mut operand = || {
            let stride = random.random_range(0..3);
            format!("{}:{stride}", random.random_range(0..SLOTS - stride * (count - 1)))
        };
        let [out, x, y] = [operand(), operand(), operand()];
        text.push_str(&format!("{mnemonic} {out} {x} {y} x{count}\n"));
    }
    text.push_str("PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI\nGAS PUSH 0 MSTORE PUSH 32 PUSH 0 RETURN\n");
    text
}

#[test]
fn blocks_of_several_lanes_cost_what_their_instructions_cost() {
    for name in GasSchedule::names(REVISION) {
        let schedule = GasSchedule::named(&name, REVISION).unwrap();
        let plain = engine(&schedule, Batching::Off);
        let others = [Batching::Warm, Batching::Always, Batching::Chains].map(|batching| engine(&schedule, batching));
        let mut planned = 0;
        for seed in 0..40 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let text = program(&mut random);
            let code = assemble_text(&text, REVISION).unwrap().bytes;
            let expected = plain.run_code(&code, &[], 1_000_000);
            assert!(expected.is_success(), "{:?} of {text}", expected.halt);
            for engine in &others {
                let mut prepared = engine.prepare(&code);
                for _ in 0..3 {
                    assert_eq!(expected, prepared.run(&[], 1_000_000), "{name}: {text}");
                }
                for _ in 0..4 {
                    let gas = random.random_range(0..=expected.gas_used);
                    assert_eq!(plain.run_code(&code, &[], gas), prepared.run(&[], gas), "{name}, {gas} gas: {text}");
                }
                planned += prepared.blocks().iter().filter(|block| block.plan.is_some()).count();
            }
        }
        assert!(planned > 20, "{name}: {planned} plans");
    }
}
