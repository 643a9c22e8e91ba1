//! The bytes that code may have: what `--code-limit` refuses, and what is said of code that accounts of the fork do not hold.

use std::cell::RefCell;
use std::fmt;
use std::num::NonZeroU64;
use std::rc::Rc;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use residue_compiler::{Deployment, Dialect};
use residue_contracts::Source;
use residue_engine::{Fork, accounts};
use residue_ir::Length;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::variants::Variant;
use residue_workbench::{Candidates, Trial, report};

use crate::formulas::Formulas;
use crate::tables::grouped;
use crate::{input, output};

/// The value of `--code-limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeLimit {
    /// Limit of the hard fork's accounts.
    Fork,
    /// So many bytes.
    Bytes(usize),
}

/// Shortest code that is tried: as if a byte were so many times as dear as it is, for one call.
const DEARER: u64 = 32;
/// Numbers of calls that are tried for shorter code are below 2²⁶.
const STEPS: u32 = 4 * (26 + DEARER.ilog2());

/// Code that is longer than was asked for.
#[derive(Debug)]
pub struct TooLong(String);

impl CodeLimit {
    /// The limit in bytes, and its name in messages.
    fn of(self, fork: Fork) -> Result<(usize, String)> {
        match self {
            Self::Bytes(bytes) => Ok((bytes, format!("--code-limit {bytes}"))),
            Self::Fork => {
                let bytes = accounts::code_bytes_max(fork).with_context(|| {
                    format!(
                        "--code-limit fork: accounts of {fork} hold code of any length; --code-limit BYTES names one"
                    )
                })?;
                let eip = accounts::code_limit_eip(fork);
                Ok((bytes, format!("--code-limit fork, which is {bytes} bytes (EIP-{eip}, {fork})")))
            }
        }
    }

    /// Refuses code of so many bytes if that is too many.
    pub fn ensure(self, fork: Fork, name: &str, bytes: usize) -> Result<()> {
        let (limit, called) = self.of(fork)?;
        match bytes <= limit {
            true => Ok(()),
            false => Err(anyhow!(TooLong(format!(
                "the shortest form of {name} has {bytes} bytes of code, more than {called}"
            )))),
        }
    }

    /// Compiles code that is short enough: as it was `asked` for, else in the form for the most calls that is ([`Deployment`]), since fewer calls
    /// make bytes dearer. Refused with the length of the shortest form if none is. `bytes` is the length of the shortest of what was compiled.
    pub fn within<T>(
        self,
        name: &str,
        dialect: Dialect,
        asked: T,
        compile: impl Fn(Dialect) -> Result<T>,
        bytes: impl Fn(&T) -> usize,
    ) -> Result<T> {
        let (limit, _) = self.of(dialect.fork)?;
        if bytes(&asked) <= limit {
            return Ok(asked);
        }
        let gas_a_byte = DEARER * accounts::gas_per_code_byte(dialect.fork);
        // Four steps for each power of two.
        let with_calls = |step: u32| {
            let calls = NonZeroU64::new((u64::from(4 + step % 4) << (step / 4)) / 4).expect("it is one or more");
            compile(Dialect { deployment: Some(Deployment { gas_a_byte, calls }), ..dialect })
        };
        let mut best = with_calls(0)?;
        self.ensure(dialect.fork, name, bytes(&best).min(bytes(&asked)))?;
        let (mut fits, mut too_long) = (0, STEPS);
        while too_long - fits > 1 {
            let middle = fits.midpoint(too_long);
            let next = with_calls(middle)?;
            if bytes(&next) <= limit {
                (best, fits) = (next, middle);
            } else {
                too_long = middle;
            }
        }
        Ok(best)
    }

    /// [`Forms::within`] of a contract that is asked for one limit.
    pub fn trials(
        self,
        formulas: &Formulas,
        contract: &dyn Source,
        rules: (Revision, &GasSchedule, Dialect),
    ) -> Result<Vec<Trial>> {
        Forms::new(formulas, contract, rules)?.within(self)
    }
}

/// Forms of a contract, from the one of least gas to the shortest. Each is compiled once, for however many limits.
pub struct Forms<'a> {
    name: &'a str,
    rules: (Revision, &'a GasSchedule, Dialect),
    asked: Rc<Vec<Trial>>,
    few: Candidates<'a>,
    compiled: RefCell<Vec<(Dialect, Rc<Vec<Trial>>)>>,
}

impl<'a> Forms<'a> {
    /// Compiles what is `asked` for without a limit. Shorter forms are tried of the cheapest variant and of the shortest.
    pub fn new(
        formulas: &Formulas,
        contract: &'a dyn Source,
        rules: (Revision, &'a GasSchedule, Dialect),
    ) -> Result<Self> {
        let (name, (revision, schedule, dialect)) = (contract.name(), rules);
        let asked = formulas.trials(contract, revision, schedule, dialect);
        let asked = asked.with_context(|| format!("compiling {name} for {revision}"))?;
        let shortest = asked.iter().min_by_key(|trial| length(trial)).expect("there is at least one");
        let mut few: Vec<Variant> = [&asked[0], shortest].map(|trial| trial.variant).into();
        few.dedup();
        let few = Candidates::new(contract, few).weighed();
        Ok(Self { name, rules, asked: Rc::new(asked), few, compiled: RefCell::default() })
    }

    fn compiled(&self, dialect: Dialect) -> Result<Rc<Vec<Trial>>> {
        let found = |(of, _): &&(Dialect, _)| *of == dialect;
        if let Some((_, trials)) = self.compiled.borrow().iter().find(found) {
            return Ok(Rc::clone(trials));
        }
        let (revision, schedule, _) = self.rules;
        let trials = self.few.trials(revision, schedule, dialect);
        let trials = Rc::new(trials.with_context(|| format!("compiling {} for {revision}", self.name))?);
        self.compiled.borrow_mut().push((dialect, Rc::clone(&trials)));
        Ok(trials)
    }

    /// The variants of the contract with one at the front that is short enough, the cheapest of those. A form of a length between is tried by itself, as
    /// it may be short enough where bytes are less dear.
    pub fn within(&self, limit: CodeLimit) -> Result<Vec<Trial>> {
        let (_, _, dialect) = self.rules;
        let (bytes_max, _) = limit.of(dialect.fork)?;
        let compile = |dialect| self.compiled(dialect);
        let least = |trials: &Rc<Vec<Trial>>| trials.iter().map(length).min().unwrap_or(usize::MAX);
        let first = |trials: Rc<Vec<Trial>>| {
            let mut trials = Rc::unwrap_or_clone(trials);
            let place = trials.iter().position(|trial| length(trial) <= bytes_max);
            trials[..=place.expect("`within` refuses others")].rotate_right(1);
            trials
        };
        let found = limit.within(self.name, dialect, Rc::clone(&self.asked), compile, least).map(first);
        let is_between = |other| self.few.is_own(Length::Middle, other);
        let is_short = least(&self.asked) <= bytes_max;
        if is_short || dialect.length != Length::Full || !(is_between(Length::Full) && is_between(Length::Short)) {
            return found;
        }
        let middle = Dialect { length: Length::Middle, ..dialect };
        let between = limit.within(self.name, middle, compile(middle)?, compile, least).map(first);
        match (found, between) {
            (Ok(found), Ok(between)) => Ok(if between[0].gas < found[0].gas { between } else { found }),
            (Err(error), Ok(between)) if error.is::<TooLong>() => Ok(between),
            (found, Err(error)) if error.is::<TooLong>() => found,
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }
}

fn length(trial: &Trial) -> usize {
    trial.compiled.code.len()
}

impl FromStr for CodeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("fork") {
            return Ok(Self::Fork);
        }
        let bytes = input::number(text).map_err(|error| format!("{error}; a number of bytes or fork is asked for"))?;
        Ok(Self::Bytes(usize::try_from(bytes).unwrap_or(usize::MAX)))
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TooLong {}

/// The gas of an example that no transaction of the fork has.
fn beyond_transaction(fork: Fork, name: &str, gas: u64) -> Option<String> {
    let most = accounts::transaction_gas_max(fork).filter(|&most| gas > most)?;
    let (gas, most) = (grouped(gas), grouped(most));
    Some(format!("the example of {name} takes {gas} gas; a transaction of {fork} has at most {most} (EIP-7825)"))
}

/// Says of code that accounts of the fork do not hold how long it is, and what it would cost there; and of an example that no transaction has the gas for, how
/// much that is.
pub fn note(fork: Fork, name: &str, bytes: usize, example_gas: Option<u64>) {
    if let Some(text) = example_gas.and_then(|gas| beyond_transaction(fork, name, gas)) {
        output::message("note", &text);
    }
    let Some(bytes_max) = accounts::code_bytes_max(fork).filter(|_| !report::fits(bytes, fork)) else { return };
    let (eip, price) = (accounts::code_limit_eip(fork), accounts::gas_per_code_byte(fork));
    let gas = grouped(report::deployment_gas(bytes, fork));
    output::message(
        "note",
        &format!(
            "{name} has {bytes} bytes of code; an account of {fork} holds {bytes_max} (EIP-{eip}), and would take {gas} gas for it at {price} a byte"
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_beyond_a_transaction_is_told() {
        let text = |fork, gas| beyond_transaction(fork, "bw6_761/pairing", gas);
        let found = text(Fork::Osaka, 19_831_750).unwrap();
        assert!(found.contains("takes 19 831 750 gas") && found.contains("at most 16 777 216"), "{found}");
        assert_eq!((text(Fork::Osaka, 1 << 24), text(Fork::Prague, 19_831_750)), (None, None));
    }
}
