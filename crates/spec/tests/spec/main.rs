//! Cases computed by hand for every opcode and every halt. Programs are text: a number is pushed with the shortest
//! push, a word is an opcode, `.00ff` is bytes as they are.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod additions;
mod contexts;
mod eip5843;
mod eip6690_2024;
mod evm;
mod evm384;
mod evm384_v12;
mod evm384_v7;
mod limits;
mod prefix;
mod subroutines;
mod x_383;

use num_bigint::BigUint;
use residue_spec::evm::OPCODES;
use residue_spec::{Env, Outcome, Prices, Revision, run};

/// More gas than any case needs.
const GAS: u64 = 1_000_000_000;

/// The revision called `name` with its own prices.
fn revision(name: &str) -> (&'static Revision, Prices) {
    let revision = Revision::named(name).unwrap();
    (revision, (revision.prices)().remove(0))
}

/// Text to code. See the head of this file.
fn assemble(revision: &Revision, text: &str) -> Vec<u8> {
    text.split_whitespace().flat_map(|token| encode(revision, token)).collect()
}

fn encode(revision: &Revision, token: &str) -> Vec<u8> {
    if let Some(hex) = token.strip_prefix('.') {
        return unhex(hex);
    }
    if token.starts_with(|c: char| c.is_ascii_digit()) {
        let (digits, radix) = token.strip_prefix("0x").map_or((token, 10), |hex| (hex, 16));
        let value = BigUint::parse_bytes(digits.as_bytes(), radix).unwrap();
        let bytes = if value == BigUint::ZERO { vec![] } else { value.to_bytes_be() };
        return [vec![0x5f + u8::try_from(bytes.len()).unwrap()], bytes].concat();
    }
    if let Some(field) = revision.opcodes.iter().find(|opcode| opcode.mnemonic == token) {
        return revision.prefix.into_iter().chain([field.byte]).collect();
    }
    if let Some(evm) = OPCODES.iter().find(|opcode| opcode.mnemonic == token) {
        return vec![evm.byte];
    }
    let (family, number) = token.split_at(token.find(|c: char| c.is_ascii_digit()).expect(token));
    let number: u8 = number.parse().unwrap();
    match family {
        "PUSH" => vec![0x5f + number],
        "DUP" => vec![0x7f + number],
        "SWAP" => vec![0x8f + number],
        _ => panic!("no opcode {token}"),
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    assert_eq!(hex.len() % 2, 0, "{hex}");
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// `text` under a revision at its own prices, with empty input.
fn execute(name: &str, text: &str) -> Outcome {
    execute_with(name, text, &[], GAS)
}

fn execute_with(name: &str, text: &str, input: &[u8], gas: u64) -> Outcome {
    let (revision, prices) = revision(name);
    run(revision, &prices, &Env::default(), &assemble(revision, text), input, gas)
}

/// Checks how `text` ends, and that an exceptional end leaves nothing.
#[track_caller]
fn check_halt(name: &str, text: &str, halt: &str) {
    let outcome = execute(name, text);
    assert_eq!(outcome.halt.name(), halt, "{text}");
    assert_eq!(outcome.gas_used + outcome.gas_left, GAS);
    if outcome.halt.is_exceptional() {
        assert_eq!((outcome.gas_left, outcome.output.len()), (0, 0), "{text}");
    }
}
