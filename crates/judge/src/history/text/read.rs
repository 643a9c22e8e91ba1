//! Parser of histories: from text to a history, or to a fault with its line.

use std::str::{FromStr, SplitWhitespace};

use residue_engine::Fork;
use residue_isa::Revision;
use residue_isa::assembly::{LabelId, ParseError, parse};

use super::{TextError, TextFault, targets};
use crate::history::{Account, Body, Contract, Datum, Gas, History, Run};

/// The most zeros that a number may stand for.
const ZEROS_MAX: usize = 1 << 20;
/// The most transactions that one line may stand for.
const TIMES_MAX: u16 = 10_000;
/// The most gas of a frame: less than a transaction has.
const GAS_MAX: u64 = 1 << 23;

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
                    for word in words.words.by_ref() {
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
        None => word.parse().ok().filter(|gas| *gas <= GAS_MAX).map(Gas::Limit),
    };
    gas.ok_or_else(|| TextFault::Expected { expected, found: word.to_owned() })
}

/// True if a line ends the contract before it.
fn begins_line(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    ["revision", "schedule", "fork", "contract", "delegation", "run"].contains(&word)
}
