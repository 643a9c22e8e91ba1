//! The batch engine is the plain engine: slots that change form, calls in between, gas that ends inside a block.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::{Batching, Engine, EngineConfig, Outcome, World};
use residue_isa::Revision;
use residue_isa::assembly::assemble_text;

const REVISION: Revision = Revision::Eip6690_2024;
const SLOTS: usize = 12;

fn engine(batching: Batching) -> Engine {
    Engine::new(EngineConfig { batching, ..EngineConfig::default_for(REVISION) }).unwrap()
}

fn code(text: &str) -> Vec<u8> {
    assemble_text(text, REVISION).unwrap().bytes
}

/// Odd moduli of every width of row, and some that have no rows: powers of two.
fn modulus(random: &mut impl Rng) -> Vec<u8> {
    let bytes = [1, 8, 31, 32, 33, 47, 48, 49, 95, 96][random.random_range(0..10)];
    let mut modulus: Vec<u8> = (0..bytes).map(|_| random.random()).collect();
    modulus[0] |= 0x80;
    match random.random_range(0..8) {
        0 => {
            modulus.fill(0);
            modulus[0] = 0x80;
        }
        1 => modulus.fill(0xff),
        _ => *modulus.last_mut().unwrap() |= 1,
    }
    modulus
}

fn push_bytes(text: &mut String, at: usize, bytes: &[u8]) {
    for (offset, chunk) in bytes.chunks(32).enumerate() {
        let mut word = chunk.to_vec();
        word.resize(32, 0);
        text.push_str(&format!("PUSH32 0x{} PUSH {} MSTORE\n", hex::encode(word), at + 32 * offset));
    }
}

/// One instruction, or squarings that each square the result of the one before.
fn arithmetic(random: &mut impl Rng) -> String {
    if random.random_range(0..8) == 0 {
        let mut slot = random.random_range(0..SLOTS);
        let squarings = (0..random.random_range(2..5)).map(|_| {
            let out = if random.random_range(0..2) == 0 { slot } else { random.random_range(0..SLOTS) };
            let x = std::mem::replace(&mut slot, out);
            format!("MULMODX {out} {x} {x} x1\n")
        });
        return squarings.collect();
    }
    let mnemonic = ["ADDMODX", "SUBMODX", "MULMODX"][random.random_range(0..3)];
    let count = if random.random_range(0..3) == 0 { random.random_range(1..5) } else { 1 };
    let mut operand = |least: usize| {
        let stride = random.random_range(least..3);
        (random.random_range(0..SLOTS - stride * (count - 1)), stride)
    };
    let [out, x, y] = [operand(1), operand(0), operand(0)].map(|(index, stride)| format!("{index}:{stride}"));
    format!("{mnemonic} {out} {x} {y} x{count}\n")
}

/// A loop of eight turns: blocks, loads, stores of loaded values, now and then a call that has field state of its own.
fn program(random: &mut impl Rng, callee: Option<u8>) -> String {
    let modulus = modulus(random);
    let element_bytes = modulus.len().div_ceil(8) * 8;
    let mut text = String::new();
    push_bytes(&mut text, 0, &modulus);
    text.push_str(&format!("PUSH {SLOTS} PUSH {} PUSH 0 PUSH 0 SETMODX\n", modulus.len()));
    let mut values = Vec::new();
    for _ in 0..SLOTS {
        let mut value: Vec<u8> = (0..element_bytes).map(|_| random.random()).collect();
        value[..element_bytes - modulus.len()].fill(0);
        value[element_bytes - modulus.len()] &= 0x7f; // Below a modulus that has its top bit set.
        values.extend(value);
    }
    push_bytes(&mut text, 128, &values);
    text.push_str(&format!("PUSH {} MLOAD POP\n", 128 + values.len()));
    text.push_str(&format!("PUSH {SLOTS} PUSH 128 PUSH 0 STOREX\nPUSH 8\ntop:\n"));
    for _ in 0..random.random_range(1..5) {
        (0..random.random_range(1..40)).for_each(|_| text.push_str(&arithmetic(random)));
        let first = random.random_range(0..SLOTS);
        let count = random.random_range(1..=SLOTS - first);
        text.push_str(&format!("PUSH {count} PUSH {first} PUSH 128 LOADX\n"));
        let first = random.random_range(0..=SLOTS - count);
        text.push_str(&format!("PUSH {count} PUSH 128 PUSH {first} STOREX\n"));
        if let Some(callee) = callee.filter(|_| random.random_range(0..3) == 0) {
            let address = hex::encode([callee; 20]);
            text.push_str(&format!("PUSH0 PUSH0 PUSH0 PUSH0 PUSH0 PUSH20 0x{address} PUSH 40000 CALL POP\n"));
        }
    }
    text.push_str("PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI\n");
    text.push_str(&format!("PUSH {SLOTS} PUSH 0 PUSH 128 LOADX PUSH {} PUSH 128 RETURN\n", values.len()));
    text
}

/// As [`program`]'s loop, with functions that call each other, jumps to the next instruction, words left on the stack by functions, and
/// now and then a stack that is nearly full, an endless loop, or a jump to where none may lead.
fn program_of_functions(random: &mut impl Rng) -> String {
    const FUNCTIONS: usize = 4;
    let mut text = program(random, None);
    let (start, end) = (text.find("top:\n").unwrap() + 5, text.find("PUSH 1 SWAP1 SUB").unwrap());
    let mut labels = 0;
    let mut body = |random: &mut ChaCha8Rng, callees: std::ops::Range<usize>| {
        let mut text = String::new();
        for _ in 0..random.random_range(1..7) {
            (0..random.random_range(0..9)).for_each(|_| text.push_str(&arithmetic(random)));
            labels += 1;
            match random.random_range(0..16) {
                0..7 if !callees.is_empty() => {
                    let callee = random.random_range(callees.clone());
                    text.push_str(&format!("PUSH @back{labels} PUSH @f{callee} JUMP\nback{labels}:\n"));
                }
                7..10 => text.push_str(&format!("here{labels}:\n")),
                10..13 => text.push_str(&format!("PUSH @over{labels} JUMP\nSTOP\nover{labels}:\n")),
                13 if random.random_range(0..3) == 0 => text.push_str(&format!("PUSH {labels} POP\n")),
                // To one of two places, by the parity of what lies on top: the count of the loop, or where a function returns.
                13 => text.push_str(&format!(
                    "DUP1 PUSH 1 AND PUSH @even{labels} ADD\n{}DUP1 JUMP\nSTOP\neven{labels}:\nodd{labels}:\n{}POP\n",
                    arithmetic(random),
                    arithmetic(random),
                )),
                14 if random.random_range(0..6) == 0 => text.push_str("PUSH 1 JUMP\n"),
                14 if random.random_range(0..6) == 0 => {
                    text.push_str(&format!("round{labels}:\n{}PUSH @round{labels} JUMP\n", arithmetic(random)));
                }
                _ => {}
            }
        }
        text
    };
    let mut random = ChaCha8Rng::seed_from_u64(random.random());
    let main = body(&mut random, 0..FUNCTIONS);
    // The count of the loop lies on top of what fills the stack.
    let filled = if random.random_range(0..4) == 0 { random.random_range(1010..1023) } else { 0 };
    let fill: String = (0..filled).map(|word| format!("PUSH {word} SWAP1\n")).collect();
    text.replace_range(start..end, &main);
    text.insert_str(start - 5, &fill);
    for function in 0..FUNCTIONS {
        text.push_str(&format!("f{function}:\n{}", body(&mut random, function + 1..FUNCTIONS)));
        // One function leaves a word, which its caller takes for the count of the loop.
        let leaves_word = random.random_range(0..8) == 0;
        text.push_str(if leaves_word { "PUSH 3 SWAP1 JUMP\n" } else { "JUMP\n" });
    }
    text
}

fn agree(expected: &Outcome, found: &Outcome, what: &str) {
    assert_eq!(expected, found, "{what}");
}

#[test]
fn loops_of_blocks_end_alike_at_any_gas() {
    let plain = engine(Batching::Off);
    let others = [Batching::Warm, Batching::Always, Batching::Traces].map(engine);
    let mut returned = 0;
    for seed in 0..150 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let text = program(&mut random, None);
        let code = code(&text);
        let mut plain = plain.prepare(&code);
        let mut others = others.each_ref().map(|engine| engine.prepare(&code));
        let expected = plain.run(&[], 10_000_000);
        returned += usize::from(expected.is_success());
        for _ in 0..3 {
            others.iter_mut().for_each(|other| agree(&expected, &other.run(&[], 10_000_000), &text));
        }
        for _ in 0..8 {
            let gas = random.random_range(0..=expected.gas_used.min(1_000_000));
            let expected = plain.run(&[], gas);
            others.iter_mut().for_each(|other| agree(&expected, &other.run(&[], gas), &text));
        }
    }
    assert!(returned > 100, "{returned} programs return");
}

#[test]
fn functions_in_one_block_end_alike_at_any_gas() {
    let plain = engine(Batching::Off);
    let others = [Batching::Warm, Batching::Always, Batching::Traces].map(engine);
    let (mut halts, mut joined, mut chains) = (std::collections::BTreeMap::new(), 0, 0);
    for seed in 0..300 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let text = program_of_functions(&mut random);
        let code = code(&text);
        let mut plain = plain.prepare(&code);
        let mut others = others.each_ref().map(|engine| engine.prepare(&code));
        let expected = plain.run(&[], 300_000);
        *halts.entry(expected.halt.name()).or_insert(0) += 1;
        for _ in 0..3 {
            others.iter_mut().for_each(|other| agree(&expected, &other.run(&[], 300_000), &text));
        }
        for _ in 0..8 {
            let gas = random.random_range(0..=expected.gas_used);
            let expected = plain.run(&[], gas);
            others.iter_mut().for_each(|other| agree(&expected, &other.run(&[], gas), &text));
        }
        let planned = |block: &residue_engine::BlockExplained| block.runs > 1 && block.plan.is_some();
        joined += usize::from(others[1].blocks().iter().any(planned));
        let chained = |block: &residue_engine::BlockExplained| {
            assert!(block.plan.is_none(), "an engine of chains makes no plans");
            let operations: u32 = block.operations.0.iter().sum();
            block.runs > 1 && block.trace_steps.is_some_and(|steps| steps < operations as usize)
        };
        chains += usize::from(others[2].blocks().iter().any(chained));
    }
    assert!(chains > 100, "{chains} programs have chains in which squarings are joined");
    assert!(joined > 150, "{joined} programs have blocks that are joined");
    let ends =
        ["return", "invalid_jump", "stack_overflow", "out_of_gas"].map(|halt| halts.get(halt).copied().unwrap_or(0));
    assert!(ends[0] > 100 && ends[1..].iter().all(|&count| count > 5), "{halts:?}");
}

/// Blocks that were joined before, by an engine that shares them, are not passed through at once where jump targets are probed.
#[test]
fn probes_see_every_jump_target() {
    for seed in 0..20 {
        let mut random = ChaCha8Rng::seed_from_u64(5000 + seed);
        let code = code(&program_of_functions(&mut random));
        let passed = |batching| {
            let engine = engine(batching);
            engine.prepare(&code).run(&[], 300_000);
            let mut probes = Vec::new();
            engine.prepare(&code).with_probes().run(&[], 300_000, &mut probes);
            probes.iter().map(|probe| probe.pc).collect::<Vec<_>>()
        };
        let expected = passed(Batching::Off);
        assert_eq!(expected, passed(Batching::Always));
        assert_eq!(expected, passed(Batching::Traces));
    }
}

#[test]
fn callees_in_batches_leave_the_callers_slots_alone() {
    for seed in 0..60 {
        let mut random = ChaCha8Rng::seed_from_u64(1000 + seed);
        let (outer, inner) = (program(&mut random, Some(2)), program(&mut random, None));
        let outcome = |batching| {
            let mut world = World::new(&engine(batching));
            world.install([1; 20], &code(&outer), 0);
            world.install([2; 20], &code(&inner), 0);
            (0..3).map(|_| world.call([1; 20], &[], 3_000_000)).collect::<Vec<_>>()
        };
        let expected = outcome(Batching::Off);
        assert_eq!(expected, outcome(Batching::Always), "{outer}\n{inner}");
        assert_eq!(expected, outcome(Batching::Traces), "{outer}\n{inner}");
    }
}

/// Rows of many contexts in many frames are more than a transaction may keep: values go back to limbs and come again.
#[test]
fn contexts_that_give_up_their_rows_keep_their_values() {
    // Each frame has as many contexts as there may be, squares in each, calls itself as long as there is gas, and returns what it finds in all.
    const CONTEXTS: usize = 255;
    let mut text = String::from("PUSH 101 PUSH 31 MSTORE8 PUSH 7 PUSH 63 MSTORE8 PUSH 24576 MLOAD POP\n");
    for id in 0..CONTEXTS {
        text.push_str(&format!("PUSH 3 PUSH 32 PUSH 0 PUSH {id} SETMODX PUSH 1 PUSH 32 PUSH 1 STOREX\n"));
        text.push_str(&"MULMODX 0 1 1 x1 ADDMODX 1 0 1 x1 MULMODX 2 0 1 x1\n".repeat(2 + id % 3));
    }
    text.push_str("PUSH 300000 GAS LT PUSH @back JUMPI\n");
    text.push_str("PUSH 32 PUSH 64 PUSH0 PUSH0 ADDRESS PUSH 150000 GAS SUB STATICCALL POP\nback:\n");
    for id in 0..CONTEXTS {
        let at = 96 + 96 * id;
        text.push_str(&format!("PUSH 3 PUSH 32 PUSH 0 PUSH {id} SETMODX PUSH 3 PUSH 0 PUSH {at} LOADX\n"));
    }
    text.push_str(&format!("PUSH {} PUSH 64 KECCAK256 PUSH 64 MSTORE PUSH 32 PUSH 64 RETURN\n", 32 + 96 * CONTEXTS));
    let code = code(&text);
    let outcome = |batching| {
        let mut world = World::new(&engine(batching));
        world.install([1; 20], &code, 0);
        (0..2).map(|_| world.call([1; 20], &[], 20_000_000)).collect::<Vec<_>>()
    };
    let expected = outcome(Batching::Off);
    assert!(expected[0].is_success(), "{:?}", expected[0].halt);
    assert_eq!(expected, outcome(Batching::Always));
    assert_eq!(expected, outcome(Batching::Warm));
}

#[test]
fn powers_of_two_run_in_blocks_where_slots_hold_what_is_reduced() {
    for (revision, id, modulus, runs) in [
        (REVISION, "PUSH 0", 101, true),
        (REVISION, "PUSH 0", 128, true),
        (Revision::Evmone2025, "", 101, true),
        (Revision::Evmone2025, "", 128, false),
    ] {
        let text = format!("PUSH {modulus} PUSH 0 MSTORE8 PUSH {SLOTS} PUSH 1 PUSH 0 {id} SETMODX\n");
        let text = text + &"MULMODX 0:1 1:1 2:1 x1\n".repeat(10) + "STOP\n";
        let code = assemble_text(&text, revision).unwrap().bytes;
        let config = EngineConfig { batching: Batching::Traces, ..EngineConfig::default_for(revision) };
        let engine = Engine::unshared(config).unwrap();
        let mut prepared = engine.prepare(&code);
        let halts = [(); 2].map(|()| prepared.run(&[], 1 << 30).halt);
        assert!(halts.iter().all(|halt| *halt == residue_engine::Halt::Stop), "{halts:?}");
        let is_traced = prepared.blocks().iter().any(|block| block.trace_steps == Some(10));
        assert_eq!(is_traced, runs, "{revision} {modulus}");
    }
}
