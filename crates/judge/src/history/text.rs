//! Histories as text. A line begins with `;` (a comment), or with one of these words:
//!
//! - `revision NAME`, `schedule NAME` (that of the revision without it), `fork NAME` (osaka without it): before all else.
//! - `contract 0x1000`, then assembly text up to the next line that begins with one of these words.
//! - `delegation 0x1001 0x1000`: an account with the code of another (EIP-7702).
//! - `run 0x1000`, then any of `gas N` or `gas N/1000` (of what the plain engine takes), `times N`, `from 0xca00`, `value N`,
//!   `inspected`, `fresh` (the state of the beginning, on another EVM), `authorise 0xca00 0x1000`, and last `input` with parts: bytes as
//!   `0x…` or `zeros:64`, jump targets as `@0x1000:2`, the third of that contract as a word, or `@0x1000:2+1` with bit 32 set.

use std::fmt::Write;
use std::str::{FromStr, SplitWhitespace};

use residue_engine::{Fork, UnknownFork};
use residue_isa::Revision;
use residue_isa::assembly::{Item, LabelId, ParseError, parse, print};
use thiserror::Error;

use super::{Account, Body, Contract, Datum, Gas, History, Run};

/// The fewest zeros that are written as their number, and the most that are read.
const ZEROS_MIN: usize = 24;
const ZEROS_MAX: usize = 1 << 20;
/// The most transactions that one line may stand for.
const TIMES_MAX: u16 = 10_000;

/// What is wrong in the text of a history, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {what}")]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: TextFault,
}

/// What is wrong in one line.
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
        /// What must follow.
        expected: &'static str,
        /// What was found; empty at the end of the line.
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
    Fork(UnknownFork),
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

/// Reads a history.
pub fn read(text: &str) -> Result<History, TextError> {
    Reader::default().read(text)
}

#[derive(Default)]
struct Reader {
    revision: Option<Revision>,
    schedule: Option<String>,
    fork: Option<Fork>,
    contracts: Vec<Contract>,
    runs: Vec<Run>,
    /// Inputs name jump targets by number; they are looked up when all contracts are read.
    numbered: Vec<(usize, usize, usize, usize)>,
}

/// The words of a line, with what is wrong if one is missing.
struct Words<'a> {
    words: std::iter::Peekable<SplitWhitespace<'a>>,
}

impl<'a> Words<'a> {
    fn next(&mut self, expected: &'static str) -> Result<&'a str, TextFault> {
        self.words.next().ok_or(TextFault::Expected { expected, found: String::new() })
    }

    fn parse<T: FromStr>(&mut self, expected: &'static str) -> Result<T, TextFault> {
        let word = self.next(expected)?;
        word.parse().map_err(|_| TextFault::Expected { expected, found: word.to_owned() })
    }

    fn account(&mut self) -> Result<Account, TextFault> {
        account(self.next("an address such as 0x1000")?)
    }
}

fn account(word: &str) -> Result<Account, TextFault> {
    let digits = word.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    let address = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let expected = "an address of at most two bytes such as 0x1000";
    address.map(Account).ok_or_else(|| TextFault::Expected { expected, found: word.to_owned() })
}

impl Reader {
    fn read(mut self, text: &str) -> Result<History, TextError> {
        let lines: Vec<&str> = text.lines().collect();
        let mut at = 0;
        while at < lines.len() {
            let line = at;
            at += 1;
            let mut words = Words { words: lines[line].split_whitespace().peekable() };
            let Some(word) = words.words.next().filter(|word| !word.starts_with(';')) else { continue };
            let fault = |what| TextError { line: line + 1, what };
            if word == "contract" {
                let end = (at..lines.len()).find(|&line| begins_line(lines[line])).unwrap_or(lines.len());
                self.contract(&mut words, at, &lines[at..end].join("\n")).map_err(fault)?;
                at = end;
            } else {
                self.line(line, word, &mut words).map_err(fault)?;
            }
            if let Some(&word) = words.words.peek() {
                return Err(fault(TextFault::Expected { expected: "the end of the line", found: word.to_owned() }));
            }
        }
        self.finish(lines.len())
    }

    fn line(&mut self, line: usize, word: &str, words: &mut Words<'_>) -> Result<(), TextFault> {
        let is_early = self.contracts.is_empty() && self.runs.is_empty();
        let once = |is_set: bool, word| if is_set || !is_early { Err(TextFault::OutOfPlace { word }) } else { Ok(()) };
        match word {
            "revision" => {
                once(self.revision.is_some(), "revision")?;
                let name = words.next("the name of a revision")?;
                self.revision = Some(name.parse().map_err(|error| TextFault::Revision(format!("{error}")))?);
            }
            "schedule" => {
                once(self.schedule.is_some(), "schedule")?;
                self.schedule = Some(words.next("the name of a gas schedule")?.to_owned());
            }
            "fork" => {
                once(self.fork.is_some(), "fork")?;
                self.fork = Some(words.next("the name of a fork")?.parse().map_err(TextFault::Fork)?);
            }
            "delegation" => {
                let (address, to) = (words.account()?, words.account()?);
                self.add(address, Body::Delegation(to))?;
            }
            "run" => {
                let run = self.run(line, words)?;
                self.runs.push(run);
            }
            _ => return Err(TextFault::UnknownWord { word: word.to_owned() }),
        }
        Ok(())
    }

    fn contract(&mut self, words: &mut Words<'_>, lines_before: usize, text: &str) -> Result<(), TextFault> {
        let address = words.account()?;
        let revision = self.revision.ok_or(TextFault::NoRevision)?;
        let items = parse(text, revision)
            .map_err(|error| TextFault::Assembly(ParseError { line: lines_before + error.line, ..error }))?;
        self.add(address, Body::Code(items))
    }

    fn add(&mut self, address: Account, body: Body) -> Result<(), TextFault> {
        if self.contracts.iter().any(|contract| contract.address == address) {
            return Err(TextFault::ContractTwice { address });
        }
        self.contracts.push(Contract { address, body });
        Ok(())
    }

    fn run(&mut self, line: usize, words: &mut Words<'_>) -> Result<Run, TextFault> {
        let mut run = Run::new(words.account()?);
        while let Some(word) = words.words.next() {
            match word {
                "gas" => run.gas = gas(words.next("gas as a number or a number of thousandths")?)?,
                "times" => {
                    let expected = "a number of transactions from 1 to 10000";
                    run.times = words.parse(expected)?;
                    if run.times == 0 || run.times > TIMES_MAX {
                        return Err(TextFault::Expected { expected, found: run.times.to_string() });
                    }
                }
                "from" => run.caller = words.account()?,
                "value" => run.value = words.parse("a number of wei")?,
                "inspected" => run.is_inspected = true,
                "fresh" => run.is_fresh = true,
                "authorise" => run.authorisations.push((words.account()?, words.account()?)),
                "input" => {
                    while let Some(word) = words.words.next() {
                        let datum = self.datum(line, run.input.len(), word)?;
                        run.input.push(datum);
                    }
                }
                _ => {
                    let expected = "gas, times, from, value, inspected, fresh, authorise or input";
                    return Err(TextFault::Expected { expected, found: word.to_owned() });
                }
            }
        }
        Ok(run)
    }

    fn datum(&mut self, line: usize, part: usize, word: &str) -> Result<Datum, TextFault> {
        let expected = "bytes such as 0x0102 or zeros:64, or a jump target such as @0x1000:2";
        let wrong = || TextFault::Expected { expected, found: word.to_owned() };
        if let Some(digits) = word.strip_prefix("0x") {
            return hex::decode(digits).map(Datum::Bytes).map_err(|_| wrong());
        }
        if let Some(zeros) = word.strip_prefix("zeros:") {
            let zeros = zeros.parse().ok().filter(|zeros| *zeros <= ZEROS_MAX);
            return zeros.map(|zeros| Datum::Bytes(vec![0; zeros])).ok_or_else(wrong);
        }
        let (contract, number) = word.strip_prefix('@').and_then(|word| word.split_once(':')).ok_or_else(wrong)?;
        let (number, above) = number.split_once('+').unwrap_or((number, "0"));
        let (number, above): (usize, u8) = (number.parse().map_err(|_| wrong())?, above.parse().map_err(|_| wrong())?);
        self.numbered.push((line, self.runs.len(), part, number));
        // The label is looked up by its number when all contracts are read.
        Ok(Datum::Target { contract: account(contract)?, label: LabelId(0), above })
    }

    fn finish(mut self, last_line: usize) -> Result<History, TextError> {
        let revision = self.revision.ok_or(TextError { line: last_line, what: TextFault::NoRevision })?;
        for (line, run, part, number) in self.numbered {
            let Datum::Target { contract, label, .. } = &mut self.runs[run].input[part] else { continue };
            let body = self.contracts.iter().find(|other| other.address == *contract);
            let found = body.and_then(|body| targets(body).get(number).copied());
            let what = TextFault::NoTarget { contract: *contract, number };
            *label = found.ok_or(TextError { line: line + 1, what })?;
        }
        Ok(History {
            revision,
            schedule: self.schedule.unwrap_or_else(|| revision.interface().default_schedule.to_owned()),
            fork: self.fork.unwrap_or_default(),
            contracts: self.contracts,
            runs: self.runs,
        })
    }
}

fn gas(word: &str) -> Result<Gas, TextFault> {
    let expected = "gas as a number, or as thousandths such as 500/1000";
    let gas = match word.split_once('/') {
        Some((thousandths, "1000")) => thousandths.parse().ok().filter(|share| *share <= 1000).map(Gas::Share),
        Some(_) => None,
        // What is beyond a transaction's gas would be refused.
        None => word.parse().ok().filter(|gas| *gas <= 1 << 23).map(Gas::Limit),
    };
    gas.ok_or_else(|| TextFault::Expected { expected, found: word.to_owned() })
}

/// Whether a line ends the contract before it.
fn begins_line(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    ["revision", "schedule", "fork", "contract", "delegation", "run"].contains(&word)
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
