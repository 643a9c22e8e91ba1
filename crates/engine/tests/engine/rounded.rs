//! Instructions of several lanes, including lanes executed in turn, under schedules that round each instruction up and
//! others: a block computes and costs the same as its instructions one by one.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::assembly::assemble_text;
use residue_isa::{GasSchedule, Revision};

const SLOTS: usize = 12;

fn engine(revision: Revision, schedule: &GasSchedule, batching: Batching) -> Engine {
    Engine::new(EngineConfig { batching, ..EngineConfig::new(revision, schedule.clone()) }).unwrap()
}

/// A loop of blocks whose instructions have up to five lanes, many of them of one operation and one number of lanes.
fn program(random: &mut impl Rng, revision: Revision) -> String {
    // The size of the modulus in bytes, as it is declared, and the bytes of a value.
    let bytes: usize = [3, 4, 8, 32, 48][random.random_range(0..5)];
    let (declared, value_bytes) = match revision {
        Revision::EvmoneBits => (8 * bytes, bytes),
        _ => (bytes, bytes.div_ceil(8) * 8),
    };
    let id = if revision == Revision::Eip6690_2024 { "PUSH 0" } else { "" };
    let mut text = String::new();
    for at in 0..bytes {
        let byte = if at + 1 < bytes { 0xf1 } else { 0x0d };
        text.push_str(&format!("PUSH {byte} PUSH {at} MSTORE8\n"));
    }
    for slot in 1..=SLOTS {
        let value = random.random_range(0..200);
        text.push_str(&format!("PUSH {value} PUSH {} MSTORE8\n", 127 + slot * value_bytes));
    }
    let end = 128 + SLOTS * value_bytes;
    text.push_str(&format!("PUSH {end} MLOAD POP PUSH {SLOTS} PUSH {declared} PUSH 0 {id} SETMODX\n"));
    text.push_str(&format!("PUSH {SLOTS} PUSH 128 PUSH 0 STOREX\nPUSH 6\ntop:\n"));
    for _ in 0..random.random_range(1..60) {
        let mnemonic = ["ADDMODX", "SUBMODX", "MULMODX"][random.random_range(0..3)];
        let count = random.random_range(1..6);
        let mut operand = || {
            let stride = random.random_range(0..3);
            format!("{}:{stride}", random.random_range(0..SLOTS - stride * (count - 1)))
        };
        let [mut out, x, y] = [operand(), operand(), operand()];
        if revision == Revision::Eip6690_2024 && out.ends_with(":0") {
            // There all results have a slot of their own.
            out = format!("{}:1", random.random_range(0..=SLOTS - count));
        }
        text.push_str(&format!("{mnemonic} {out} {x} {y} x{count}\n"));
    }
    text.push_str("PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI\n");
    text.push_str(&format!("PUSH {SLOTS} PUSH 0 PUSH 128 LOADX PUSH {end} PUSH 0 RETURN\n"));
    text
}

/// The schedules that there are for a revision, and for one where lanes are read before any is written one of fractions.
fn schedules(revision: Revision) -> Vec<GasSchedule> {
    let names = GasSchedule::names(revision).into_iter();
    let mut schedules: Vec<_> = names.map(|name| GasSchedule::named(&name, revision).unwrap()).collect();
    if revision == Revision::Eip6690_2024 {
        let published = GasSchedule::default_for(revision).unwrap().to_toml();
        let rounded = published.replace("\n[base]", "rounding = \"instruction\"\n\n[base]");
        let fractions = rounded.replace("add = [1,", "add = [0.3,").replace("mul = [1,", "mul = [1.25,");
        assert!(
            fractions.contains("rounding") && fractions.contains("0.3") && fractions.contains("1.25"),
            "{fractions}"
        );
        schedules.push(GasSchedule::from_toml(&fractions, "fractions").unwrap());
    }
    schedules
}

#[test]
fn blocks_of_several_lanes_are_what_their_instructions_are() {
    for revision in [Revision::Evmone2025, Revision::EvmoneBits, Revision::Eip6690_2024] {
        for schedule in schedules(revision) {
            let name = schedule.name();
            let plain = engine(revision, &schedule, Batching::Off);
            let others = [Batching::Warm, Batching::Always, Batching::Traces];
            let others = others.map(|batching| engine(revision, &schedule, batching));
            let (mut planned, mut outputs) = (0, std::collections::BTreeSet::new());
            for seed in 0..40 {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let text = program(&mut random, revision);
                let code = assemble_text(&text, revision).unwrap().bytes;
                let expected = plain.run_code(&code, &[], 1_000_000);
                assert!(expected.is_success(), "{:?} of {text}", expected.halt);
                outputs.insert(expected.output.clone());
                for engine in &others {
                    let mut prepared = engine.prepare(&code);
                    for _ in 0..3 {
                        assert_eq!(expected, prepared.run(&[], 1_000_000), "{name}: {text}");
                    }
                    for _ in 0..4 {
                        let gas = random.random_range(0..=expected.gas_used);
                        let expected = plain.run_code(&code, &[], gas);
                        assert_eq!(expected, prepared.run(&[], gas), "{name}, {gas} gas: {text}");
                    }
                    planned += prepared.blocks().iter().filter(|block| block.plan.is_some()).count();
                }
            }
            assert!(planned > 20 && outputs.len() > 30, "{name}: {planned} plans, {} outputs", outputs.len());
        }
    }
}
