//! The program that `docs/compiler.md` follows through the stages: its text, what simplification leaves of it, and its code.
//!
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue-compiler --test page` writes the listings anew.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use residue_compiler::compile;
use residue_ir::{Program, text};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{hold, read};
use residue_passes::simplify::simplify;

const PAGE: &str = "docs/compiler.md";

fn fenced(text: &str) -> String {
    format!("```text\n{}\n```", text.trim_end())
}

/// The printed statements from the first block on.
fn from_the_block(program: &Program) -> String {
    let printed = text::print(program);
    printed[printed.find("  block {").unwrap()..].to_owned()
}

/// Offsets and instructions before the data, from the first one on that is `first`.
fn listing(program: &Program, revision: Revision, first: &str) -> String {
    let code = compile(program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
    let lines = residue_isa::disassemble(&code, revision);
    let instruction = |line: &&str| line.split(';').next().unwrap().trim().to_owned();
    let shown = lines.lines().skip_while(|line| instruction(line) != first);
    let shown = shown.take_while(|line| instruction(line) != "INVALID");
    let shown = shown.map(|line| {
        let (text, offset) = line.split_once(';').unwrap();
        format!("{}  {}\n", offset.trim(), text.trim_end())
    });
    shown.collect()
}

#[test]
fn the_page_shows_every_stage() {
    let source = read("examples/ir/fp2_square.ir");
    hold(PAGE, "stage text", &fenced(&source));
    let program = text::read(&source).unwrap();
    let mut simplified = program.clone();
    simplify(&mut simplified);
    assert_ne!(simplified, program);
    hold(PAGE, "stage simplified", &fenced(&from_the_block(&simplified)));
    hold(PAGE, "stage slots", &fenced(&listing(&program, Revision::Eip6690_2024, "PUSH1 0x40")));
    let modulus = format!("PUSH32 {:#x}", program.modulus.known().unwrap());
    hold(PAGE, "stage words", &fenced(&listing(&program, Revision::Evm, &modulus)));
}
