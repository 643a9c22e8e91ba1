//! Histories: made from seeds, judged, made short, kept as text and replayed.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use residue_engine::{Batching, Engine, EngineConfig, Fork};
use residue_isa::Revision;
use residue_isa::assembly::Item;
use residue_isa::opcode::evm as op;
use residue_judge::history::{Body, Gas, History, text};
use residue_judge::invent::{self, FORKS};
use residue_judge::minimise::minimise;
use residue_judge::mode::Mode;
use residue_judge::player::Player;
use residue_judge::saved::Saved;
use residue_judge::search::{End, Search, Tally};
use residue_judge::stage::Stage;
use residue_judge::verdict::{Difference, judge};

/// Past findings stay right.
#[test]
fn every_history_that_is_kept_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("histories");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 3, "the folder has the histories of the findings");
    let mut differences = Vec::new();
    for path in paths {
        assert_eq!(path.extension().unwrap(), "history", "{}", path.display());
        let history =
            text::read(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        for mode in Mode::ALL {
            if let Some(found) = judge(&history, &[mode]).unwrap().difference {
                differences.push(format!("{}: {mode}, run {}: {}", path.display(), found.run + 1, found.what));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_history_follows_from_its_seed_and_is_what_its_text_says() {
    let (mut revisions, mut forks) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..600 {
        let history = invent::history(seed, None);
        assert_eq!(history, invent::history(seed, None), "seed {seed}");
        revisions.insert(history.revision);
        forks.insert(history.fork);
        let written = text::write(&history);
        let read = text::read(&written).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{written}"));
        let (stage, other) = (Stage::new(&history).unwrap(), Stage::new(&read).unwrap());
        let bytes = |stage: &Stage| {
            stage.codes.iter().map(|code| code.as_ref().map(|code| code.bytes.clone())).collect::<Vec<_>>()
        };
        assert_eq!(bytes(&stage), bytes(&other), "seed {seed}");
        assert_eq!(stage.transactions, other.transactions, "seed {seed}");
        assert_eq!(text::write(&read), text::write(&text::read(&text::write(&read)).unwrap()), "seed {seed}");
    }
    assert_eq!(revisions.len(), Revision::ALL.len());
    assert_eq!(forks, FORKS.into_iter().collect());
    assert_eq!(invent::history(1, Some(Revision::Eip7747)).revision, Revision::Eip7747);
}

/// Invented histories are meaningful: most of their runs end well, and they leave effects of every kind.
#[test]
fn histories_do_what_they_are_made_for() {
    let (mut halts, mut opcodes) = (BTreeMap::new(), BTreeSet::new());
    let (mut delegations, mut inspected, mut fresh, mut shares, mut several) = (0, 0, 0, 0, 0);
    for seed in 0..400 {
        let history = invent::history(seed, None);
        for (halt, count) in judge(&history, &[]).unwrap().by_halt {
            *halts.entry(halt).or_insert(0) += count;
        }
        for contract in &history.contracts {
            match &contract.body {
                Body::Delegation(_) => delegations += 1,
                Body::Code(items) => opcodes.extend(items.iter().filter_map(|item| match item {
                    Item::Op(opcode) => Some(*opcode),
                    _ => None,
                })),
            }
        }
        let count =
            |is_so: fn(&residue_judge::history::Run) -> bool| history.runs.iter().filter(|run| is_so(run)).count();
        inspected += count(|run| run.is_inspected);
        fresh += count(|run| run.is_fresh);
        shares += count(|run| matches!(run.gas, Gas::Share(_)));
        several += usize::from(history.contracts.len() > 1);
    }
    let all: u64 = halts.values().sum();
    let of = |names: &[&str]| names.iter().map(|name| halts.get(name).copied().unwrap_or(0)).sum::<u64>();
    assert!(of(&["return", "stop", "revert"]) * 2 > all, "{halts:?}");
    assert!(of(&["out_of_gas"]) * 20 > all && of(&["no_frame"]) * 20 < all, "{halts:?}");
    for name in ["slot_out_of_range", "stack_underflow", "invalid_jump", "value_out_of_range", "invalid_modulus"] {
        assert!(of(&[name]) > 0, "{name} is not among {halts:?}");
    }
    let expected = [
        op::CALL,
        op::CALLCODE,
        op::DELEGATECALL,
        op::STATICCALL,
        op::CREATE,
        op::CREATE2,
        op::SSTORE,
        op::TSTORE,
        op::LOG0,
        op::KECCAK256,
        op::MCOPY,
        op::CODECOPY,
        op::RETURNDATACOPY,
        op::EXTCODECOPY,
        op::SELFDESTRUCT,
        op::REVERT,
    ];
    for opcode in expected {
        assert!(opcodes.contains(&opcode), "{opcode:#04x} is never there");
    }
    assert!([delegations, inspected, fresh, shares, several].iter().all(|&count| count > 20));
}

/// In the default mode a tenth of the histories at least comes to plans, or to traces, under every revision that has blocks. Fewest where
/// products are dear: a gas pays for less there.
#[test]
fn every_revision_comes_to_plans_or_traces() {
    const HISTORIES: u64 = 40;
    let made = |revision| {
        let made = (0..HISTORIES).filter(|&seed| {
            let judged = judge(&invent::history(seed, Some(revision)), &[Mode::Warm]).unwrap();
            judged.difference.is_some() || judged.blocks_made > 0
        });
        made.count()
    };
    let has_plans = machine_has_plans();
    for &revision in Revision::ALL.iter().filter(|revision| residue_engine::has_blocks(**revision)) {
        // Traces of EVM384 are not shown among blocks.
        if has_plans || revision.slot_rules().is_some() {
            let made = made(revision);
            assert!(made >= HISTORIES as usize / 10, "{made} of {HISTORIES} histories of {revision}");
        }
    }
}

/// True if the default mode makes plans on this machine, tested on a block that it would plan.
fn machine_has_plans() -> bool {
    let config = EngineConfig { batching: Batching::Warm, ..EngineConfig::default_for(Revision::Eip6690_2024) };
    let engine = Engine::unshared(config).unwrap();
    let lanes = "MULMODX 0:1 64:1 128:1 x64 MULMODX 64:1 128:1 0:1 x64 ADDMODX 0:1 64:1 128:1 x64";
    let source = format!(
        "PUSH 101 PUSH 0 MSTORE8 PUSH 192 PUSH 1 PUSH 0 PUSH 0 SETMODX PUSH 200 top: {lanes} {lanes}
        PUSH 1 SWAP1 SUB DUP1 PUSH @top JUMPI"
    );
    let code = residue_isa::assembly::assemble_text(&source, Revision::Eip6690_2024).unwrap().bytes;
    let mut prepared = engine.prepare(&code);
    assert!(prepared.run(&[], 10_000_000).is_success());
    prepared.blocks().iter().any(|block| block.plan.is_some())
}

/// A planted difference: the history still has a multiplication, and a run that comes three times.
#[test]
fn what_is_found_is_made_short_as_long_as_it_is_there() {
    let is_product =
        |item: &Item| matches!(item, Item::Field(field) if field.operation() == Some(residue_isa::FieldOp::Mul));
    let mut trials = 0;
    let mut find = |history: &History| {
        Stage::new(history).ok()?;
        trials += 1;
        let has_product = history.contracts.iter().any(|contract| match &contract.body {
            Body::Code(items) => items.iter().any(is_product),
            Body::Delegation(_) => false,
        });
        let run = history.runs.iter().position(|run| run.times >= 3)?;
        has_product.then(|| Difference { mode: Mode::Warm, run, time: 2, what: "planted".to_owned() })
    };
    let seed = (0..).find(|&seed| {
        let history = invent::history(seed, Some(Revision::Eip6690_2024));
        history.contracts.len() > 2 && history.runs.len() > 3 && find(&history).is_some()
    });
    let history = invent::history(seed.unwrap(), Some(Revision::Eip6690_2024));
    let (short, difference) = minimise(&history, &mut find).unwrap();
    assert_eq!(difference.what, "planted");
    assert_eq!((short.contracts.len(), short.runs.len(), short.run_count()), (1, 1, 3));
    assert!(short.runs[0].input.is_empty() && short.fork == Fork::Osaka);
    let Body::Code(items) = &short.contracts[0].body else { panic!("it has code") };
    assert_eq!(items.len(), 1);
    assert_eq!(text::write(&text::read(&text::write(&short)).unwrap()), text::write(&short));
    assert!(trials < 3000, "{trials}");
    assert!(minimise(&short, &mut |_| None).is_none(), "nothing is wrong with it");
}

#[test]
fn everything_that_a_transaction_leaves_is_compared() {
    let source = "revision eip6690-2024\ncontract 0x1000\nPUSH 5 PUSH 1 SSTORE PUSH 7 PUSH0 MSTORE PUSH 32 PUSH0 LOG0 PUSH 32 PUSH0 RETURN\nrun 0x1000";
    let history = text::read(source).unwrap();
    let stage = Stage::new(&history).unwrap();
    let play =
        |config: &EngineConfig| Player::new(&stage, Engine::unshared(config.clone()).unwrap()).play(0, 100_000, false);
    let ending = play(&stage.config);
    assert_eq!(ending.difference(&play(&stage.config)), None);
    let differs = |change: &dyn Fn(&mut residue_judge::ending::Ending), what: &str| {
        let mut other = ending.clone();
        change(&mut other);
        let difference = ending.difference(&other).unwrap();
        assert!(difference.starts_with(what), "{difference}");
    };
    differs(&|other| other.halt = None, "halt is \"return\" by the plain engine, \"no_frame\" here");
    differs(&|other| other.gas_used += 1, "gas used is ");
    differs(&|other| other.memory[31] = 8, "memory differs from byte 31 on: 07 by the plain engine, 08");
    differs(&|other| other.memory.truncate(31), "memory has 32 bytes by the plain engine, 31");
    differs(&|other| other.result = Err("refused".to_owned()), "the result is Ok");
    // The same with another value stored, logged and returned.
    for (from, to, what) in [
        ("PUSH 5", "PUSH 6", "storage of "),
        ("PUSH 7", "PUSH 8", "output differs from byte 31"),
        ("PUSH 32 PUSH0 LOG0", "PUSH 31 PUSH 1 LOG0", "what was logged is"),
    ] {
        let history = text::read(&source.replace(from, to)).unwrap();
        let stage = Stage::new(&history).unwrap();
        let other = Player::new(&stage, Engine::unshared(stage.config.clone()).unwrap()).play(0, 100_000, false);
        let mut other = other;
        other.gas_used = ending.gas_used;
        let difference = ending.difference(&other).unwrap();
        assert!(difference.starts_with(what), "{difference}");
    }
}

#[test]
fn a_search_that_goes_on_does_what_it_would_have_done_in_one_go() {
    let search = |runs, threads| {
        let mut search = Search::new(5, End::Runs(runs));
        search.threads = threads;
        // Modes that never batch on this revision, so that the test says nothing of the engine.
        search.revision = Some(Revision::Evm384V2);
        search.modes = vec![Mode::Warm, Mode::Spec];
        search.shard = "1/3".parse().unwrap();
        search
    };
    let whole = search(3_000, 2).run(Tally::default(), |_| {});
    assert!(whole.runs >= 3_000 && whole.findings.is_empty(), "{whole:?}");
    let mut tally = Tally::default();
    for runs in [700, 700, 1_900, 3_000] {
        let part = search(runs, 1);
        tally = part.run(tally, |_| {});
        let saved = serde_json::to_string(&Saved::new(&part, tally, 1)).unwrap();
        tally = serde_json::from_str::<Saved>(&saved).unwrap().tally_for(&part).unwrap();
    }
    assert_eq!(tally, whole);
    let other = Saved::new(&search(1, 1), tally.clone(), 1).tally_for(&Search::new(5, End::Runs(1))).unwrap_err();
    assert_eq!(other.to_string(), "it is of a search with shard 1/3, not 0/1");
}

#[test]
fn shards_have_every_seed_once() {
    let seeds = |shard: &str| {
        let mut search = Search::new(10, End::Runs(1));
        search.shard = shard.parse().unwrap();
        (0..5).map(|number| search.seed_of(number)).collect::<Vec<_>>()
    };
    assert_eq!(seeds("0/1"), [10, 11, 12, 13, 14]);
    assert_eq!(
        [seeds("0/3"), seeds("1/3"), seeds("2/3")],
        [[12, 15, 18, 21, 24], [10, 13, 16, 19, 22], [11, 14, 17, 20, 23]]
    );
    for text in ["", "1", "3/3", "0/0", "-1/3", "a/b", "1/2/3"] {
        let error = text.parse::<residue_judge::search::Shard>().unwrap_err().to_string();
        assert_eq!(error, format!("{text:?} is no shard: it is I/N with I from 0 to N - 1, such as 0/4"));
    }
}
