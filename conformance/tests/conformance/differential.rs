//! Engine and specification agree on halt, output, gas and memory, plain and traced: every revision, every schedule.
//!
//! `RESIDUE_CASES=100000 cargo test --release -p residue-conformance differential` is a longer campaign.

use residue_conformance::campaign::{Campaign, Tally};
use residue_engine::MEMORY_LIMIT_BYTES;
use residue_isa::revision::evm384::{Modulus, Operands};
use residue_isa::{GasSchedule, Revision};
use residue_judge::differential::Pair;
use residue_judge::generate::Kind;
use residue_specified::{spec_prices, specified};

/// Every price another, some of them fractions, base gas where the EIP has none, and other prices of the EVM's opcodes.
const STRANGE_SLOTS: &str = r#"
name = "strange"
summary = "no two prices alike"
revisions = ["eip6690-2024"]
[base]
SETMODX = 17
LOADX = 5.5
STOREX = 7
ADDMODX = 2
SUBMODX = 3.001
MULMODX = 4
[per_width]
set_modulus = [101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112]
add = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
sub = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
mul = [0.25, 3, 5.5, 7, 9, 11, 13, 15, 17, 19, 21, 23]
transfer = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
[per_word]
transfer = 2
[evm]
PUSH = 1
MLOAD = 1
MSTORE = 2
JUMPDEST = 0
KECCAK256 = 11
MCOPY = 5
"#;

/// The same for a revision of EVM384, whose name and opcodes stand for `NAME` and `BASE`.
const STRANGE_MEMORY: &str = r#"
name = "strange"
summary = "no two prices alike"
revisions = ["NAME"]
[base]
BASE
[evm]
PUSH = 1
DUP = 2
CALLDATACOPY = 9
"#;

fn strange(revision: Revision) -> GasSchedule {
    let text = match revision.evm384() {
        None if revision == Revision::Eip6690_2024 => STRANGE_SLOTS.to_owned(),
        None => changed(revision),
        Some(_) => {
            let prices = ["0", "5", "7.5", "13"].iter().zip(revision.opcodes());
            let base: Vec<String> = prices.map(|(price, row)| format!("{} = {price}", row.mnemonic)).collect();
            STRANGE_MEMORY.replace("NAME", revision.name()).replace("BASE", &base.join("\n"))
        }
    };
    GasSchedule::from_toml(&text, "strange.toml").expect("it is a schedule")
}

/// The schedule of a revision with other base prices, some of them fractions.
fn changed(revision: Revision) -> String {
    let text = GasSchedule::default_for(revision).expect("every revision has one").to_toml();
    let mut in_base = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        in_base = if line.starts_with('[') { line == "[base]" } else { in_base };
        lines.push(match line.split_once(" = ").filter(|_| in_base) {
            Some((mnemonic, _)) => format!("{mnemonic} = {}.{}", number, number % 2 * 5),
            None => line.to_owned(),
        });
    }
    lines.join("\n")
}

/// Campaigns run under one revision in so many, which the day chooses.
const SHARE: usize = 3;

fn default_pair(revision: Revision, memory_limit_bytes: u64) -> Pair {
    let schedule = GasSchedule::default_for(revision).expect("every revision has one");
    Pair::new(revision, schedule, memory_limit_bytes)
}

/// Runs all kinds of programs and asks that the campaign reached every halt in the list.
#[track_caller]
fn check(pair: &Pair, campaign: Campaign, halts: &[&str]) {
    let mut tally = Tally::default();
    for kind in Kind::ALL {
        let of_kind = campaign.run(pair, kind);
        println!("{} {kind:?}: {of_kind}", pair.revision());
        tally.merge(of_kind);
    }
    for halt in halts {
        assert!(tally.of(halt) > 0, "no program ended with {halt}: {tally}");
    }
}

/// Halts of programs of any revision.
const EVM_HALTS: [&str; 9] = [
    "stop",
    "return",
    "revert",
    "out_of_gas",
    "stack_underflow",
    "stack_overflow",
    "invalid_instruction",
    "invalid_jump",
    "other:OutOfOffset",
];

#[test]
fn evm384_programs_end_alike() {
    for &revision in residue_extent::sample(Revision::ALL, SHARE, 0) {
        let Some(interface) = revision.evm384() else { continue };
        // Values on the stack reach no memory.
        let halts = match interface.operands {
            Operands::Values => &[][..],
            _ if interface.modulus == Modulus::Set || interface.limits_moduli() => &["invalid_modulus"],
            _ if interface.grows => &[],
            _ => &["memory_out_of_range"],
        };
        let pair = default_pair(revision, MEMORY_LIMIT_BYTES);
        // There are thirteen of them, and stock opcodes are the same in all.
        check(&pair, Campaign::part(2), &[&EVM_HALTS[..], halts].concat());
    }
}

#[test]
fn eip6690_programs_end_alike() {
    let own = [
        "no_context",
        "invalid_modulus",
        "slot_out_of_range",
        "value_out_of_range",
        "memory_out_of_range",
        "invalid_stride",
    ];
    check(
        &default_pair(Revision::Eip6690_2024, MEMORY_LIMIT_BYTES),
        Campaign::whole(),
        &[&EVM_HALTS[..], &own].concat(),
    );
}

#[test]
fn programs_of_the_other_revisions_with_slots_end_alike() {
    for &revision in residue_extent::sample(Revision::ALL, SHARE, 1) {
        let Some(rules) = revision.slot_rules().filter(|_| revision != Revision::Eip6690_2024) else { continue };
        let mut halts = vec!["stop", "return", "out_of_gas", "no_context", "invalid_modulus", "slot_out_of_range"];
        if !rules.store_reduces {
            halts.push("value_out_of_range");
        }
        if !rules.set_modulus_grows {
            halts.push("memory_out_of_range");
        }
        check(&default_pair(revision, MEMORY_LIMIT_BYTES), Campaign::part(3), &halts);
    }
}

#[test]
fn programs_of_eip5843_end_alike() {
    let own = ["no_context", "invalid_modulus", "value_out_of_range", "memory_out_of_range"];
    for revision in [Revision::Eip5843, Revision::Geth5843] {
        let halts = [&["stop", "return"], &own[..]].concat();
        check(&default_pair(revision, MEMORY_LIMIT_BYTES), Campaign::part(3), &halts);
    }
}

#[test]
fn every_schedule_charges_alike() {
    for &revision in residue_extent::sample(Revision::ALL, SHARE, 2) {
        let named = GasSchedule::names(revision).into_iter();
        let named = named.map(|name| GasSchedule::named(&name, revision).expect("it is in the list"));
        for schedule in named.chain([strange(revision)]) {
            let pair = Pair::new(revision, schedule, MEMORY_LIMIT_BYTES);
            Campaign::part(20).run(&pair, Kind::Field);
            Campaign::part(120).run_at_every_gas(&pair);
        }
    }
}

#[test]
fn a_program_cut_at_every_gas_ends_alike() {
    for &revision in residue_extent::sample(Revision::ALL, SHARE, 0) {
        let tally = Campaign::part(30).run_at_every_gas(&default_pair(revision, MEMORY_LIMIT_BYTES));
        assert!(tally.of("return") > 0 && tally.of("stop") > 0, "{tally}");
    }
}

#[test]
fn the_ceiling_of_memory_is_the_same() {
    for &revision in residue_extent::sample(Revision::ALL, SHARE, 1) {
        let mut met = 0;
        for limit_bytes in [0, 32, 1_000, 1_024] {
            met += Campaign::part(14).run(&default_pair(revision, limit_bytes), Kind::Field).of("out_of_gas");
        }
        assert!(met > 40, "{revision}: the ceiling was met {met} times");
    }
}

/// Two transcriptions of the published prices, made independently.
#[test]
fn published_prices_are_the_same_in_both() {
    for &revision in Revision::ALL {
        let spec = specified(revision);
        let names: Vec<String> = (spec.prices)().into_iter().map(|prices| prices.name).collect();
        assert_eq!(names, GasSchedule::names(revision));
        for name in names {
            let schedule = GasSchedule::named(&name, revision).expect("it is in the list");
            assert_eq!(spec.prices_named(&name), Some(spec_prices(&schedule, revision)));
        }
    }
}
