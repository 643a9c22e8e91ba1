//! Words of lanes in code: transforms at random against the evaluator, and what those of contracts take.

use crate::points::Seeded;
use crate::support::cases;
use residue_compiler::{Compiled, compile};
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_ir::{LaneStep, Lanes, Machine, Outcome, Program, evaluate, record, text, verify};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, hold};
use std::fmt::Write;

/// Bytes of code that an account may have (EIP-170).
const CODE_BYTES_MAX: usize = 24_576;

/// Words of calldata that are copied to scratch memory, beyond where words have their places, to be read there.
const COPIED: usize = 4;
const COPIED_AT: u32 = 8_192;

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

/// Bits of lanes with a modulus: that of a signature, the largest that is allowed, or any.
fn field(seeded: &mut Seeded) -> (u32, u32) {
    let bits = [16, 32, 64][seeded.below(3)];
    let largest = u64::try_from(((1u128 << bits) / (512 / bits as u128)).isqrt()).unwrap();
    let modulus = match (seeded.below(3), bits) {
        (0, 32) => 12_289,
        (0, 64) => 8_380_417,
        (1, _) => largest,
        _ => 2 + seeded.below(largest as usize - 1) as u64,
    };
    (narrow(bits), u32::try_from(modulus).unwrap())
}

/// Words that are taken, butterflies of any two with steps in between, and numbers put to all their places and beyond.
fn transform(seeded: &mut Seeded) -> Lanes {
    let (bits, modulus) = field(seeded);
    let (count, words) = (256 / bits as usize, 1 + seeded.below(20));
    let below = |seeded: &mut Seeded| match seeded.below(6) {
        0 => modulus - 1,
        1 => modulus / 2,
        _ => narrow(seeded.below(modulus as usize)),
    };
    let (mut steps, mut read) = (Vec::new(), 0);
    for word in 0..words {
        if seeded.below(4) == 0 {
            let (from, numbers) =
                (COPIED_AT + 32 * narrow(seeded.below(COPIED)), 1 + narrow(seeded.below(bits as usize - 3)));
            steps.push(LaneStep::Read { word: narrow(word), from, bits: numbers });
        } else {
            let sources = 1 << seeded.below(3);
            let from = (0..sources).map(|source| 32 * (read + source)).collect();
            read += sources;
            steps.push(LaneStep::Take { word: narrow(word), from });
        }
        // A word may be taken again.
        if seeded.below(4) == 0 {
            steps.push(LaneStep::Take { word: narrow(seeded.below(word + 1)), from: vec![32 * read] });
            read += 1;
        }
        for _ in 0..seeded.below(12) {
            let (low, high) = (seeded.below(word + 1), seeded.below(word + 1));
            let by = below(seeded);
            let (low, high) = (narrow(low), narrow(high));
            if low != high {
                steps.push(match seeded.below(4) {
                    0 => LaneStep::Back { low, high, by },
                    1 => LaneStep::Multiply { word: low, by: high, root: by },
                    _ => LaneStep::Butterfly { low, high, by },
                });
            }
        }
    }
    // Half of the rows come with a twin that has every other number negated, as those of roots do.
    let is_twin = seeded.below(2) == 0;
    let twin = |row: &[u32]| {
        row.iter()
            .enumerate()
            .map(|(lane, &number)| if lane % 2 == 0 { number } else { (modulus - number) % modulus })
            .collect::<Vec<u32>>()
    };
    // Many of these share constants.
    let outputs = if is_twin { 8 } else { 1 };
    let mut to = 0;
    for word in 0..words {
        if outputs == 1 && seeded.below(2) == 0 {
            steps.push(LaneStep::Leave { word: narrow(word), times: [1, 1, 2, 7][seeded.below(4)] });
            to += 32;
            continue;
        }
        let rows = (0..2 * outputs).flat_map(|_| {
            let row: Vec<u32> = (0..count).map(|_| below(seeded)).collect();
            let second = if is_twin { twin(&row) } else { (0..count).map(|_| below(seeded)).collect() };
            [row, second]
        });
        steps.push(LaneStep::Put { word: narrow(word), to, rows: rows.collect() });
        to += 32 * outputs;
    }
    let home = 32 * narrow(words) * (outputs - 1);
    Lanes { bits, modulus, words: narrow(words), home, steps }
}

/// The transform, with all of scratch memory returned.
fn program(lanes: &Lanes, bytes: u32) -> Program {
    let program = record("transform", &97u8.into(), |machine| {
        let copied = 32 * narrow(COPIED);
        machine.scratch(COPIED_AT + copied);
        machine.copy_calldata(machine.small(COPIED_AT.into()), machine.small(0), machine.small(copied.into()));
        machine.lanes(lanes);
        machine.return_scratch(machine.small(0), machine.small(bytes.into()));
    });
    verify(&program).unwrap_or_else(|error| panic!("{error}: {lanes:?}"));
    assert_eq!(text::read(&text::print(&program)).unwrap(), program);
    program
}

/// Numbers for all sources: the greatest, and others below q, or some that are not.
fn calldata(seeded: &mut Seeded, lanes: &Lanes) -> Vec<u8> {
    let (mut bytes, modulus) = (Vec::new(), lanes.modulus as usize);
    let is_whole = seeded.below(4) > 0;
    for step in &lanes.steps {
        let LaneStep::Take { from, .. } = step else { continue };
        let size = lanes.bits as usize / 8 * from.len();
        for _ in 0..32 / size * from.len() {
            let number = match seeded.below(if is_whole { 50 } else { 53 }) {
                0..10 => modulus - 1,
                10..50 => seeded.below(modulus),
                50 => modulus,
                51 => 1 << (8 * size.min(7) - 1),
                _ => (1 << (8 * size.min(7))) - 1,
            };
            let number = (number as u64).to_be_bytes();
            let kept = size.min(8);
            bytes.extend(vec![0; size - kept]);
            bytes.extend(&number[8 - kept..]);
        }
    }
    bytes
}

/// Scratch memory where numbers that are left below a multiple of q, as is seen here, are reduced.
fn canonical(lanes: &Lanes, mut bytes: Vec<u8>) -> Vec<u8> {
    for step in &lanes.steps {
        let LaneStep::Leave { word, times } = *step else { continue };
        let place = lanes.place(word) as usize;
        for lane in bytes[place..place + 32].chunks_mut(lanes.bits as usize / 8) {
            let number = lane.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
            assert!(number < u64::from(times) * u64::from(lanes.modulus), "{number} of word {word}");
            let number = (number % u64::from(lanes.modulus)).to_be_bytes();
            lane.copy_from_slice(&number[8 - lane.len()..]);
        }
    }
    bytes
}

fn compiled(program: &Program, revision: Revision) -> Compiled {
    compile(program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap()
}

#[test]
fn transforms_at_random_are_those_of_the_evaluator() {
    let mut seeded = Seeded(40);
    let (mut returned, mut failed) = (0, 0);
    for case in 0..cases(24) {
        let lanes = transform(&mut seeded);
        let end = lanes.home + 32 * lanes.words;
        let program = program(&lanes, end);
        let revision = if case % 4 == 3 { Revision::Eip6690_2024 } else { Revision::Evm };
        let code = compiled(&program, revision).code;
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        for _ in 0..4 {
            let input = calldata(&mut seeded, &lanes);
            let outcome = engine.run_code(&code, &input, 100_000_000);
            match evaluate(&program, &input) {
                Outcome::Returned(bytes) => {
                    returned += 1;
                    assert_eq!(outcome.halt, Halt::Return, "case {case}: {lanes:?}");
                    let [found, expected] = [outcome.output, bytes].map(|bytes| canonical(&lanes, bytes));
                    assert!(found == expected, "case {case}: {lanes:?}");
                }
                _ => {
                    failed += 1;
                    assert!(outcome.halt.is_exceptional() && outcome.halt != Halt::OutOfGas, "case {case}");
                }
            }
        }
    }
    assert!(returned > 20 && failed > 2, "{returned} returned, {failed} failed");
}

/// The table of transforms under `evm`. If they change: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts lanes::`.
#[test]
fn the_page_has_what_transforms_take_in_words() {
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let mut table = String::from("| contract | gas | code, bytes | best public code |\n|---|---:|---:|---|\n");
    for (name, most, public) in
        [("ntt/dilithium256", 30_000, "44 931, with values that are not reduced"), ("ntt/falcon512", 60_000, "–")]
    {
        let contract = find(name).unwrap();
        let code = compiled(&contract.program(), Revision::Evm).code;
        let outcome = engine.run_code(&code, &(contract.example)(), 1_000_000);
        assert_eq!(outcome.halt, Halt::Return, "{name}");
        assert!(outcome.gas_used <= most, "{name} takes {}", outcome.gas_used);
        assert!(code.len() <= CODE_BYTES_MAX, "{name} has {} bytes", code.len());
        let (gas, bytes) = (grouped(outcome.gas_used), grouped(code.len() as u64)); // usize to u64 widens
        writeln!(table, "| `{name}` | {gas} | {bytes} | {public} |").unwrap();
    }
    hold("docs/ntt.md", "words", &table);
}
