//! The pages of the revisions agree with the tables and the schedules.
//!
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue-isa --test pages` rewrites their tables, for review with the change
//! that requires it.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::fmt::Write;

use residue_isa::form::Charge;
use residue_isa::{Family, FieldOp, GasSchedule, Price, Revision, SlotRules, WidthPrices};

/// Widths whose prices are shown, in limbs.
const WIDTHS: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 64];

fn page(revision: Revision) -> String {
    format!("docs/revisions/{revision}.md")
}

fn schedules(revision: Revision) -> Vec<GasSchedule> {
    GasSchedule::names(revision).iter().map(|name| GasSchedule::named(name, revision).unwrap()).collect()
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |\n", cells.into_iter().collect::<Vec<_>>().join(" | "))
}

/// The opcodes with their base prices under each schedule.
fn opcodes(revision: Revision) -> String {
    let schedules = schedules(revision);
    let names = schedules.iter().map(|schedule| format!("`{}`", schedule.name()));
    let mut text = line(["byte", "opcode", "immediate bytes", "stack"].map(str::to_owned).into_iter().chain(names));
    text += &format!("|---|---|---:|---|{}\n", "---:|".repeat(schedules.len()));
    for row in revision.opcodes() {
        let fixed = [
            format!("`{}`", hex::encode(revision.opcode_bytes(row.byte).collect::<Vec<_>>())),
            row.mnemonic.to_owned(),
            row.immediate_bytes.to_string(),
            format!("{} → {}", row.pops, row.pushes),
        ];
        let prices = schedules.iter().map(|schedule| schedule.base(row.mnemonic).unwrap().to_string());
        text += &line(fixed.into_iter().chain(prices));
    }
    text
}

/// Prices of instructions by width of the modulus.
fn by_width(revision: Revision) -> String {
    // Width 0 stands for at most 32 bits.
    let has_narrow = schedules(revision).iter().all(GasSchedule::has_narrow);
    let widths = WIDTHS.into_iter().filter(|width| *width <= revision.width_limbs_max());
    let widths: Vec<usize> = has_narrow.then_some(0).into_iter().chain(widths).collect();
    let name = |width: &usize| if *width == 0 { "32 bits".to_owned() } else { width.to_string() };
    let mut text = line(["schedule".to_owned(), "limbs".to_owned()].into_iter().chain(widths.iter().map(name)));
    text += &format!("|---|---|{}\n", "---:|".repeat(widths.len()));
    for schedule in schedules(revision) {
        let mut row = |what: &str, of: &dyn Fn(WidthPrices) -> Price| {
            let prices = widths.iter().map(|&width| of(schedule.at_width(width)).to_string());
            text += &line([format!("`{}`", schedule.name()), what.to_owned()].into_iter().chain(prices));
        };
        row("a new odd modulus", &|prices| prices.set_modulus);
        if revision.slot_rules().is_some_and(|rules| rules.prices_starts) {
            row("add, sub or mul, once", &|prices| prices.start);
        }
        for operation in FieldOp::ALL {
            row(&format!("{operation}, a lane"), &|prices| prices.arithmetic[operation]);
        }
        if revision.prices_squares() {
            row("a square, a lane", &|prices| prices.square);
        }
        row("a value loaded", &|prices| prices.load);
        row("a value stored", &|prices| prices.store);
        let mut charges: Vec<Charge> = Vec::new();
        for form in revision.slot_rules().into_iter().flat_map(SlotRules::all_forms) {
            for charge in form.row().charges {
                if !charges.iter().any(|known| known.what == charge.what) {
                    charges.push(*charge);
                    row(charge.what, &|prices| charge.of(&prices));
                }
            }
        }
        if schedule.prices_words() {
            let per_word = schedule.transfer_per_word();
            row("32 bytes moved under a power of two", &|_| per_word);
        }
    }
    text
}

#[test]
fn pages_have_the_opcodes_and_their_prices() {
    for &revision in Revision::ALL {
        let mut text = format!("Base gas of each opcode under each schedule:\n\n{}", opcodes(revision));
        if revision.family() != Family::Memory384 {
            write!(text, "\nBesides, by width of the modulus:\n\n{}", by_width(revision)).unwrap();
        }
        residue_pages::hold(&page(revision), "opcodes and prices", &text);
    }
}

/// Opcodes that a page's own words name with their bytes: "`c3` LOGF", and in rows "| 0xc3 | LOGF |".
fn named(page: &str) -> Vec<(u8, String)> {
    let mut found = Vec::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, byte, mnemonic, ..] = cells[..]
            && let Some(Ok(byte)) = byte.strip_prefix("0x").map(|digits| u8::from_str_radix(digits, 16))
        {
            found.push((byte, mnemonic.to_owned()));
        }
        for (span, after) in line.split('`').skip(1).step_by(2).zip(line.split('`').skip(2).step_by(2)) {
            let word = after.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            let is_mnemonic = word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
            if let (2, Ok(byte), true) = (span.len(), u8::from_str_radix(span, 16), is_mnemonic) {
                found.push((byte, word.to_owned()));
            }
        }
    }
    found
}

#[test]
fn opcodes_that_pages_name_are_those_of_the_tables() {
    let mut count = 0;
    for &revision in Revision::ALL {
        let page = residue_pages::read(&page(revision));
        for (byte, mnemonic) in named(&page) {
            count += 1;
            let row = revision.row_named(&mnemonic).unwrap_or_else(|| panic!("{revision} has no {mnemonic}"));
            assert_eq!(row.byte, byte, "{revision}, {mnemonic}");
        }
    }
    assert!(count > 80, "pages name opcodes in another way: {count}");
}
