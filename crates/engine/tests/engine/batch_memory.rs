//! EVM384 in blocks gives the results of EVM384: values that move between memory and rows, any other accesses to memory
//! in between, operands and moduli outside the range of Montgomery arithmetic, gas that ends inside a block.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::{Batching, Engine, EngineConfig, Halt, World};
use residue_isa::Revision;
use residue_isa::assembly::assemble_text;

/// The revisions whose blocks are found.
const REVISIONS: [Revision; 6] = [
    Revision::Evm384V6,
    Revision::Evm384V7,
    Revision::Evm384V8,
    Revision::Evm384V9,
    Revision::Evm384V10,
    Revision::X383,
];
const VALUE_BYTES: usize = 48;
/// Places of values, with gaps so that offsets between them differ; slots of 48 bytes too, where a revision has them.
const PLACES: usize = 12;
const FIRST_PLACE: usize = 96;
const PLACE_STRIDE: usize = 96;
/// Two moduli, each with r_inv after it.
const MODULI: [usize; 2] = [27 * VALUE_BYTES, 29 * VALUE_BYTES];
const MEMORY_BYTES: usize = 0x5e0;
/// The one modulus of `evm384-v6`.
const MODULUS_OF_V6: usize = 256 * VALUE_BYTES;

fn engine(revision: Revision, batching: Batching) -> Engine {
    Engine::new(EngineConfig { batching, ..EngineConfig::default_for(revision) }).unwrap()
}

fn code(text: &str, revision: Revision) -> Vec<u8> {
    assemble_text(text, revision).unwrap().bytes
}

fn push_bytes(text: &mut String, at: usize, bytes: &[u8]) {
    for (offset, word) in bytes.chunks(32).enumerate() {
        text.push_str(&format!("PUSH32 0x{} PUSH {} MSTORE\n", hex::encode(word), at + 32 * offset));
    }
}

/// −m⁻¹ mod 2⁶⁴ by Newton's iteration; anything for even m.
fn r_inv(low: u64) -> u64 {
    (0..6).fold(1u64, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(inverse)))).wrapping_neg()
}

/// Memory at the start: moduli of all widths, values that are mostly below them.
fn memory(random: &mut impl Rng, revision: Revision) -> Vec<u8> {
    let is_big = revision == Revision::Evm384V8;
    let mut memory: Vec<u8> = (0..MEMORY_BYTES).map(|_| random.random()).collect();
    let mut put = |at: usize, le_bytes: &[u8]| {
        memory[at..][..le_bytes.len()].copy_from_slice(le_bytes);
        if is_big {
            memory[at..][..le_bytes.len()].reverse();
        }
    };
    let width_bytes = random.random_range(1..=VALUE_BYTES);
    for at in MODULI {
        let mut modulus = [0; VALUE_BYTES];
        random.fill(&mut modulus[..width_bytes]);
        modulus[width_bytes - 1] |= 0x80;
        if revision == Revision::X383 {
            let is_long = random.random_range(0..24) == 0;
            let top = &mut modulus[VALUE_BYTES - 1];
            *top = if is_long { 0x80 } else { (*top >> 7) << 6 };
        }
        if random.random_range(0..12) > 0 {
            modulus[0] |= 1;
        }
        let r_inv = r_inv(u64::from_le_bytes(modulus[..8].try_into().unwrap()));
        let is_right = random.random_range(0..12) > 0;
        put(at, &modulus);
        put(at + VALUE_BYTES, &(if is_right { r_inv } else { random.random() }).to_le_bytes());
    }
    for place in 0..PLACES {
        let mut value = [0; VALUE_BYTES];
        random.fill(&mut value[..width_bytes]);
        if random.random_range(0..100) > 0 {
            value[width_bytes - 1] &= 0x3f; // Below a modulus that has one of its top bits set.
        }
        put(FIRST_PLACE + PLACE_STRIDE * place, &value);
    }
    memory
}

fn arithmetic(random: &mut impl Rng, revision: Revision, modulus: usize) -> String {
    let mnemonic = ["ADDMOD384", "SUBMOD384", "MULMODMONT384"][random.random_range(0..3)];
    let has_slots = matches!(revision, Revision::Evm384V6 | Revision::Evm384V10);
    let overlaps = random.random_range(0..60) == 0 && !has_slots;
    let mut place = || FIRST_PLACE + PLACE_STRIDE * random.random_range(0..PLACES);
    let [out, x, y] = std::array::from_fn(|_| place());
    let out = if overlaps { out + 8 } else { out };
    match revision {
        Revision::Evm384V6 => format!("{mnemonic} {out:#x} {x:#x} {y:#x}\n"),
        _ => format!("{mnemonic} {out:#x} {x:#x} {y:#x} {modulus:#x}\n"),
    }
}

/// Memory as at the start of a program.
fn push_memory(text: &mut String, random: &mut impl Rng, revision: Revision) {
    push_bytes(text, 0, &memory(random, revision));
    if revision == Revision::Evm384V6 {
        text.push_str(&format!("PUSH {} PUSH {} PUSH {MODULUS_OF_V6} MCOPY\n", VALUE_BYTES + 16, MODULI[0]));
    }
}

/// Other accesses to memory: ranges that begin and end anywhere.
fn other(random: &mut impl Rng, callee: Option<u8>) -> String {
    let mut at = || random.random_range(FIRST_PLACE..FIRST_PLACE + PLACE_STRIDE * PLACES - 100);
    let (a, b) = (at(), at());
    let length = random.random_range(0..100);
    // Words are stored back where they were read, shifted by nothing, so that values stay below the modulus now and then.
    match random.random_range(0..11) {
        0 => format!("PUSH {a} MLOAD PUSH {a} MSTORE\n"),
        1 => format!("PUSH {a} MLOAD PUSH {b} MSTORE\n"),
        2 => format!("PUSH {length} PUSH {a} PUSH {b} MCOPY\n"),
        3 => {
            let place = |at: usize| at - (at - FIRST_PLACE) % PLACE_STRIDE;
            format!("PUSH 48 PUSH {} PUSH {} MCOPY\n", place(a), place(b))
        }
        4 => format!("PUSH {length} PUSH {a} KECCAK256 POP\n"),
        5 => format!("PUSH 0 PUSH {a} MSTORE8\n"),
        6 => format!("PUSH {length} PUSH 0 PUSH {a} CALLDATACOPY\n"),
        7 => format!("PUSH {length} PUSH {a} LOG0\n"),
        8 => format!("PUSH {length} PUSH 0 PUSH {a} CODECOPY\n"),
        9 if random.random_range(0..4) == 0 => format!("PUSH 48 PUSH {} PUSH {} MCOPY\n", MODULI[1], MODULI[0]),
        10 if let Some(callee) = callee => {
            let address = hex::encode([callee; 20]);
            format!("PUSH {length} PUSH {b} PUSH {length} PUSH {a} PUSH0 PUSH20 0x{address} PUSH 60000 CALL POP\n")
        }
        _ => String::new(),
    }
}

/// A loop of eight turns: blocks, and any accesses to memory between them.
fn program(random: &mut impl Rng, revision: Revision, callee: Option<u8>) -> String {
    let mut text = String::new();
    push_memory(&mut text, random, revision);
    text.push_str("PUSH 8\ntop:\n");
    let calm = random.random_range(0..3) > 0;
    for _ in 0..random.random_range(1..8) {
        let modulus = MODULI[usize::from(random.random_range(0..6) == 0)];
        (0..random.random_range(1..30)).for_each(|_| text.push_str(&arithmetic(random, revision, modulus)));
        if !calm || random.random_range(0..4) == 0 {
            text.push_str(&other(random, callee));
        }
    }
    text.push_str("PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI\n");
    if random.random() {
        text.push_str(&format!("PUSH {} PUSH {FIRST_PLACE} RETURN\n", PLACE_STRIDE * PLACES));
    }
    text
}

/// Two moduli in turn are a loss each time: plans stop somewhere, with values in rows.
#[test]
fn where_plans_only_lose_they_stop_and_leave_memory_as_it_is() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for revision in REVISIONS {
        for _ in 0..4 {
            let mut text = String::new();
            push_memory(&mut text, &mut random, revision);
            text.push_str("PUSH 200\ntop:\n");
            for modulus in MODULI {
                (0..6).for_each(|_| text.push_str(&arithmetic(&mut random, revision, modulus)));
                text.push_str("JUMPDEST\n");
            }
            text.push_str("PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI\n");
            text.push_str(&format!("PUSH {} PUSH {FIRST_PLACE} RETURN\n", PLACE_STRIDE * PLACES));
            let code = code(&text, revision);
            let run = |batching| engine(revision, batching).run_code(&code, &[], 1 << 40);
            assert_eq!(run(Batching::Warm), run(Batching::Off), "{revision}\n{text}");
        }
    }
}

#[test]
fn loops_of_blocks_end_alike_at_any_gas() {
    for revision in REVISIONS {
        let plain = engine(revision, Batching::Off);
        let others = [Batching::Warm, Batching::Always, Batching::Traces].map(|batching| engine(revision, batching));
        let mut successes = 0;
        for seed in 0..120 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let text = program(&mut random, revision, None);
            let code = code(&text, revision);
            let mut plain = plain.prepare(&code);
            let mut others = others.each_ref().map(|engine| engine.prepare(&code));
            let input = [0x5a; 40];
            let expected = plain.run(&input, 10_000_000);
            successes += usize::from(expected.is_success());
            for _ in 0..3 {
                for other in &mut others {
                    assert_eq!(expected, other.run(&input, 10_000_000), "{revision} {seed}\n{text}");
                }
            }
            for _ in 0..8 {
                let gas = random.random_range(0..=expected.gas_used);
                let expected = plain.run(&input, gas);
                for other in &mut others {
                    assert_eq!(expected, other.run(&input, gas), "{revision} {seed} with {gas} gas\n{text}");
                }
            }
        }
        assert!(successes > 100, "{successes} programs end well on {revision}");
    }
}

/// A loop whose blocks have run as one, or wait for their credit, meets a modulus that is too long: its next instruction halts, in the first
/// turn or in a later one, and with gas for all of it or for less.
#[test]
fn blocks_do_not_run_where_their_modulus_halts() {
    let revision = Revision::X383;
    let engines = [Batching::Off, Batching::Warm, Batching::Always, Batching::Traces].map(|way| engine(revision, way));
    let long_top = MODULI[0] + VALUE_BYTES - 1;
    for seed in 0..20 {
        let mut random = ChaCha8Rng::seed_from_u64(3000 + seed);
        let mut text = String::new();
        push_memory(&mut text, &mut random, revision);
        // From 0x7f on each turn adds one to the top byte, so that the last of `turns` sets the top bit.
        let turns = [1, 2, 40][seed as usize % 3];
        text.push_str(&format!("PUSH {} PUSH {long_top} MSTORE8 PUSH {turns}\ntop:\n", 0x80 - turns));
        (0..20).for_each(|_| text.push_str(&arithmetic(&mut random, revision, MODULI[0])));
        text.push_str(&format!("PUSH {} MLOAD PUSH 1 ADD PUSH {long_top} MSTORE8\n", long_top - 31));
        text.push_str("PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI\n");
        let ends_well = code(&text, revision);
        (0..20).for_each(|_| text.push_str(&arithmetic(&mut random, revision, MODULI[0])));
        let halts = code(&text, revision);
        for engine in &engines {
            for _ in 0..3 {
                assert_eq!(engine.run_code(&ends_well, &[], 10_000_000).halt, Halt::Stop, "{seed}\n{text}");
                assert_eq!(engine.run_code(&halts, &[], 10_000_000).halt, Halt::InvalidModulus, "{seed}\n{text}");
            }
            let needed = engines[0].run_code(&ends_well, &[], 10_000_000).gas_used;
            // Base gas comes before the modulus; the first instruction after the loop costs 8 or 24.
            assert_eq!(engine.run_code(&halts, &[], needed + 7).halt, Halt::OutOfGas, "{seed}\n{text}");
            assert_eq!(engine.run_code(&halts, &[], needed + 24).halt, Halt::InvalidModulus, "{seed}\n{text}");
        }
    }
}

#[test]
fn callees_find_and_leave_memory_as_it_is() {
    for revision in REVISIONS {
        for seed in 0..40 {
            let mut random = ChaCha8Rng::seed_from_u64(1000 + seed);
            let (outer, inner) = (program(&mut random, revision, Some(2)), program(&mut random, revision, None));
            let outcome = |batching| {
                let mut world = World::new(&engine(revision, batching));
                world.install([1; 20], &code(&outer, revision), 0);
                world.install([2; 20], &code(&inner, revision), 0);
                (0..3).map(|_| world.call([1; 20], &[7; 99], 5_000_000)).collect::<Vec<_>>()
            };
            let expected = outcome(Batching::Off);
            assert_eq!(expected, outcome(Batching::Always), "{revision} {seed}\n{outer}\n{inner}");
            assert_eq!(expected, outcome(Batching::Traces), "{revision} {seed}\n{outer}\n{inner}");
        }
    }
}

/// Engines of all threads share analyses and plans.
#[test]
fn threads_share_plans_and_agree() {
    let programs: Vec<_> = (0..12)
        .map(|seed| {
            let revision = REVISIONS[seed % REVISIONS.len()];
            let text = program(&mut ChaCha8Rng::seed_from_u64(2000 + seed as u64), revision, None);
            let code = code(&text, revision);
            let expected = engine(revision, Batching::Off).run_code(&code, &[], 10_000_000);
            (revision, code, expected)
        })
        .collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let programs = &programs;
            scope.spawn(move || {
                for round in 0..6 {
                    for at in 0..programs.len() {
                        let (revision, code, expected) = &programs[(at + thread * 5) % programs.len()];
                        let batching = [Batching::Warm, Batching::Always, Batching::Traces][round % 3];
                        let found = engine(*revision, batching).run_code(code, &[], 10_000_000);
                        assert_eq!(expected, &found, "{revision}");
                    }
                }
            });
        }
    });
}
