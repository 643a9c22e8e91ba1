//! Slots count as memory under every fork: every opcode that grows memory from W to W′ words pays Cmem(W′ + R) − Cmem(W + R).

use crate::code::Code;
use residue_engine::{Engine, EngineConfig, Fork, Outcome};
use residue_isa::Revision;

/// Enough for all that ends well here; too little for [`FAR`].
const GAS: u64 = 10_000_000;
/// An offset that no gas reaches.
const FAR: u64 = 1 << 40;

/// Cmem(W), Yellow Paper, appendix H.1.
fn memory_cost(words: u64) -> u64 {
    3 * words + words * words / 512
}

fn engine(fork: Fork) -> Engine {
    Engine::new(EngineConfig { fork, ..EngineConfig::default_for(Revision::Eip6690_2024) }).unwrap()
}

/// Pushes, the first on top, for forks without PUSH0 too.
fn push(code: Code, top_first: &[u64]) -> Code {
    top_first.iter().rev().fold(code, |code, &word| match word {
        0 => code.bytes(&[0x60, 0]),
        _ => code.push(word),
    })
}

/// One word of memory with the modulus 101 in its first byte; and slots of eight bytes, if there are to be any.
fn begin(slots: u64) -> Code {
    let code = push(Code::new(), &[0, 101]).op(0x53);
    match slots {
        0 => code,
        _ => push(code, &[0, 0, 1, slots]).op(0xc0),
    }
}

/// Each opcode that grows memory, to reach `len` bytes from `start` on.
fn growing(start: u64, len: u64) -> Vec<(u8, Code)> {
    let word = start.saturating_add(len) - 32;
    let mut cases: Vec<(u8, Vec<u64>)> = vec![
        (0x20, vec![start, len]),
        (0x37, vec![start, 0, len]),
        (0x39, vec![start, 0, len]),
        (0x3c, vec![9, start, 0, len]),
        (0x3e, vec![start, 0, 0]),
        (0x51, vec![word]),
        (0x52, vec![word, 1]),
        (0x53, vec![word + 31, 1]),
        (0x5e, vec![0, start, len]),
        (0x5e, vec![start, 0, len]),
        (0xf0, vec![0, start, len]),
        (0xf3, vec![start, len]),
        (0xf5, vec![0, start, len, 7]),
        (0xfd, vec![start, len]),
    ];
    for topics in 0..=4 {
        cases.push((0xa0 + topics, [vec![start, len], vec![3; usize::from(topics)]].concat()));
    }
    for (opcode, value) in [(0xf1, &[0][..]), (0xf2, &[0]), (0xf4, &[]), (0xfa, &[])] {
        for ranges in [[start, len, 0, 0], [0, 0, start, len]] {
            cases.push((opcode, [&[0, 9], value, &ranges].concat()));
        }
    }
    cases.into_iter().map(|(opcode, operands)| (opcode, push(Code::new(), &operands).op(opcode))).collect()
}

/// Outcomes of an opcode after the same beginning: without slots, and with `slots`.
fn outcomes(engine: &Engine, code: &Code, slots: u64) -> [Outcome; 2] {
    [0, slots].map(|slots| engine.run_code(&begin(slots).bytes(&code.0).0, &[], GAS))
}

#[track_caller]
fn check_growth(fork: Fork, start: u64, len: u64) {
    let engine = engine(fork);
    for (opcode, code) in growing(start, len) {
        for slots in [1, 100, 256] {
            let [without, with] = outcomes(&engine, &code, slots);
            let case = format!("{opcode:#04x} of {len} bytes from {start}, {slots} slots, {fork}");
            assert_eq!(with.halt, without.halt, "{case}");
            if with.halt.is_exceptional() {
                continue;
            }
            let begun = [0, slots].map(|slots| engine.run_code(&begin(slots).0, &[], GAS).gas_used);
            let [by_evm, by_both] = [without.gas_used - begun[0], with.gas_used - begun[1]];
            let (slot_words, words) = ((8 * slots).div_ceil(32), with.memory.len() as u64 / 32);
            let growth = |slot_words| memory_cost(words + slot_words) - memory_cost(1 + slot_words);
            assert_eq!(by_both + growth(0), by_evm + growth(slot_words), "{case}");
        }
    }
}

#[test]
fn growth_pays_for_slots_under_every_fork() {
    for fork in Fork::ALL {
        check_growth(fork, 32_000, 32);
        check_growth(fork, 0, 30_000);
    }
}

/// The limit of initcode is 49,152 bytes from Shanghai on (EIP-3860) and 131,072 from Amsterdam on (EIP-7954); before there is none.
#[test]
fn creation_with_long_initcode_pays_for_slots_where_it_is_allowed() {
    for fork in Fork::ALL {
        let limit = match fork {
            Fork::Amsterdam => Some(131_072),
            Fork::Shanghai | Fork::Cancun | Fork::Prague | Fork::Osaka => Some(49_152),
            _ => None,
        };
        for len in [49_152, 49_153, 131_072, 131_073] {
            check_growth(fork, 0, len);
            let create = begin(100).bytes(&push(Code::new(), &[0, 0, len]).op(0xf0).0);
            let halt = engine(fork).run_code(&create.0, &[], GAS).halt;
            let expected =
                if limit.is_some_and(|limit| len > limit) { "other:CreateInitCodeSizeLimit" } else { "stop" };
            assert_eq!(halt.name(), expected, "{len} bytes, {fork}");
        }
    }
}

/// Instructions that halt for a reason of their own do so with slots and without, even if no gas could pay for the
/// slots' share.
#[test]
fn what_no_gas_reaches_halts_alike_with_slots_and_without() {
    for fork in Fork::ALL {
        let engine = engine(fork);
        for (start, len) in [(FAR, 32), (0, FAR)] {
            for (opcode, code) in growing(start, len) {
                let [without, with] = outcomes(&engine, &code, 256);
                assert_eq!(with.halt, without.halt, "{opcode:#04x}, {fork}");
                assert_eq!(
                    with.halt.is_exceptional(),
                    opcode != 0x3e || fork < Fork::Byzantium,
                    "{opcode:#04x}, {fork}"
                );
            }
        }
    }
}
