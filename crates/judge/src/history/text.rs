//! Histories as text. A line begins with `;` (a comment), or with one of these words:
//!
//! - `revision NAME`, `schedule NAME` (that of the revision without it), `fork NAME` (osaka without it): before all else.
//! - `contract 0x1000`, then assembly text up to the next line that begins with one of these words.
//! - `delegation 0x1001 0x1000`: an account with the code of another (EIP-7702).
//! - `run 0x1000`, then any of `gas N` or `gas N/1000` (of what the plain engine takes), `times N`, `from 0xca00`, `value N`,
//!   `inspected`, `fresh` (the state of the beginning, on another EVM), `authorise 0xca00 0x1000`, and last `input` with parts: bytes as
//!   `0x…` or `zeros:64`, jump targets as `@0x1000:2`, the third of that contract as a word, or `@0x1000:2+1` with bit 32 set.

mod read;

use std::fmt::Write;

use residue_isa::UnknownName;
use residue_isa::assembly::{Item, LabelId, ParseError, print};
use thiserror::Error;

use super::{Account, Body, Contract, Datum, Gas, History, Run};

pub use read::read;

/// The fewest zeros in a row that are written as their number.
const ZEROS_MIN: usize = 24;

/// Fault in the text of a history, with its line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {what}")]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// Fault of the line.
    pub what: TextFault,
}

/// Fault of one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextFault {
    /// A line that begins with no known word, outside a contract.
    #[error("expected revision, schedule, fork, contract, delegation or run, found {word:?}")]
    UnknownWord {
        /// The word.
        word: String,
    },
    /// Something else than what must follow.
    #[error("expected {expected}, found {found:?}")]
    Expected {
        /// Expected token.
        expected: &'static str,
        /// Token found; empty at the end of the line.
        found: String,
    },
    /// A line that must stand once, before all contracts.
    #[error("{word} must stand once, before every contract and run")]
    OutOfPlace {
        /// The word that begins the line.
        word: &'static str,
    },
    /// No line names the revision.
    #[error("the text names no revision")]
    NoRevision,
    /// A revision that does not exist.
    #[error("{0}")]
    Revision(String),
    /// A fork that does not exist.
    #[error(transparent)]
    Fork(UnknownName),
    /// A contract that is no assembly text.
    #[error("in the contract that begins here, {0}")]
    Assembly(ParseError),
    /// A jump target that its contract does not have.
    #[error("the contract {:#06x} has no jump target {number}", contract.0)]
    NoTarget {
        /// The contract.
        contract: Account,
        /// The target, from 0.
        number: usize,
    },
    /// Two contracts at one address.
    #[error("there are two contracts at {:#06x}", address.0)]
    ContractTwice {
        /// The address.
        address: Account,
    },
}

/// Writes a history. Reading the text gives a history that runs alike.
pub fn write(history: &History) -> String {
    let mut text = String::new();
    write_all(history, &mut text).expect("writing to a string does not fail");
    text
}

fn write_all(history: &History, text: &mut String) -> std::fmt::Result {
    let History { revision, schedule, fork, contracts, runs } = history;
    writeln!(text, "revision {revision}\nschedule {schedule}\nfork {fork}")?;
    for Contract { address, body } in contracts {
        match body {
            Body::Delegation(to) => writeln!(text, "delegation {:#06x} {:#06x}", address.0, to.0)?,
            Body::Code(items) => {
                writeln!(text, "contract {:#06x}", address.0)?;
                for line in print(items, *revision).lines() {
                    writeln!(text, "    {line}")?;
                }
            }
        }
    }
    runs.iter().try_for_each(|run| write_run(history, run, text))
}

fn write_run(history: &History, run: &Run, text: &mut String) -> std::fmt::Result {
    write!(text, "run {:#06x} gas ", run.to.0)?;
    match run.gas {
        Gas::Limit(gas) => write!(text, "{gas}")?,
        Gas::Share(thousandths) => write!(text, "{thousandths}/1000")?,
    }
    if run.times != 1 {
        write!(text, " times {}", run.times)?;
    }
    if run.caller != Account::CALLER {
        write!(text, " from {:#06x}", run.caller.0)?;
    }
    if run.value != 0 {
        write!(text, " value {}", run.value)?;
    }
    for (word, is_set) in [("inspected", run.is_inspected), ("fresh", run.is_fresh)] {
        if is_set {
            write!(text, " {word}")?;
        }
    }
    for (authority, to) in &run.authorisations {
        write!(text, " authorise {:#06x} {:#06x}", authority.0, to.0)?;
    }
    if !run.input.is_empty() {
        write!(text, " input")?;
    }
    for datum in &run.input {
        match datum {
            Datum::Bytes(bytes) => write_bytes(bytes, text)?,
            Datum::Target { contract, label, above } => {
                let targets = history.contract(*contract).map(targets).unwrap_or_default();
                let number = targets.iter().position(|target| target == label).unwrap_or(targets.len());
                write!(text, " @{:#06x}:{number}", contract.0)?;
                if *above != 0 {
                    write!(text, "+{above}")?;
                }
            }
        }
    }
    writeln!(text)
}

/// Bytes, with many zeros in a row as their number.
fn write_bytes(bytes: &[u8], text: &mut String) -> std::fmt::Result {
    let mut rest = bytes;
    while !rest.is_empty() {
        let zeros = rest.iter().take_while(|&&byte| byte == 0).count();
        if zeros >= ZEROS_MIN {
            write!(text, " zeros:{zeros}")?;
            rest = &rest[zeros..];
            continue;
        }
        let is_long =
            |at: &usize| rest[*at..].len() >= ZEROS_MIN && rest[*at..][..ZEROS_MIN].iter().all(|&byte| byte == 0);
        let end = (0..rest.len()).find(is_long).unwrap_or(rest.len());
        write!(text, " 0x{}", hex::encode(&rest[..end]))?;
        rest = &rest[end..];
    }
    Ok(())
}

/// The jump targets of a contract in the order of its code.
pub fn targets(contract: &Contract) -> Vec<LabelId> {
    let Body::Code(items) = &contract.body else { return Vec::new() };
    items
        .iter()
        .filter_map(|item| match item {
            Item::Label(label) => Some(*label),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "revision eip6690-2024
schedule eip6690
fork prague
contract 0x1000
    PUSH 0x5
    L0:
    MULMODX 1 2:3 4:0 x8
    PUSH @L0
    JUMP
delegation 0x1001 0x1000
run 0x1000 gas 417/1000 times 5 from 0xca01 value 3 inspected fresh authorise 0xca02 0x1000 input 0x0102 zeros:30 0x03 @0x1000:0 @0x1000:0+1
run 0x1001 gas 3000
";

    #[test]
    fn text_is_read_and_written_back() {
        let history = read(TEXT).unwrap();
        assert_eq!((history.contracts.len(), history.runs.len(), history.run_count()), (2, 2, 6));
        assert_eq!(write(&history), TEXT);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            error("revision eip6690-2024\nrun 0x1000 gas x"),
            "line 2: expected gas as a number, or as thousandths such as 500/1000, found \"x\""
        );
        assert_eq!(error("contract 0x1000\n STOP"), "line 1: the text names no revision");
        assert!(
            error("revision eip6690-2024\ncontract 0x1000\nSTOP\nSTOPP")
                .starts_with("line 2: in the contract that begins here, line 4, column 1: \"STOPP\"")
        );
        assert_eq!(
            error("revision eip6690-2024\nrun 0x1000 input @0x1000:3"),
            "line 2: the contract 0x1000 has no jump target 3"
        );
        assert_eq!(
            error("revision eip6690-2024\nruns"),
            "line 2: expected revision, schedule, fork, contract, delegation or run, found \"runs\""
        );
        assert_eq!(
            error("revision eip6690-2024\nrun 0x123456"),
            "line 2: expected an address of at most two bytes such as 0x1000, found \"0x123456\""
        );
        for text in [
            "",
            "revision x",
            "revision eip6690-2024 y",
            "revision eip6690-2024\nrevision eip6690-2024",
            "revision eip6690-2024\nfork x",
            "revision eip6690-2024\nrun 0x1000 times 0",
            "revision eip6690-2024\nrun 0x1000 gas 1001/1000",
            "revision eip6690-2024\ndelegation 0x1 0x2\ndelegation 0x1 0x2",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
