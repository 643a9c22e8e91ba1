//! Programs that certificates speak of.

use crate::bytes::{self, Bytes};
use crate::check::{Refused, TurnAt};
use crate::flow::Flow;
use crate::flow::paths::Paths;
use crate::looped::{Looping, TurnHints};
use crate::semantics::Semantics;
use crate::straight::{Straight, Taken, Unsupported, unsupported};
use crate::witness::{Job, Witness};
use residue_ir::Program;
use residue_ir::text::{self, ReadError};
use std::fmt;

/// A program: of straight line, or with its paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Requirements, parses, operations and one return.
    Straight(Box<Straight>),
    /// Branches and calls.
    Flow(Box<Branching>),
    /// A loop, with branches and calls.
    Loop(Box<Looping>),
    /// Words and scratch memory, without elements.
    Bytes(Bytes),
}

/// Gas with which code ends as its program does: so much, and of a program with a loop so much for each turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gas {
    /// Gas without turns.
    pub gas: u64,
    /// Gas of a turn.
    pub turn: Option<u64>,
}

impl fmt::Display for Gas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.gas)?;
        self.turn.map_or(Ok(()), |turn| write!(f, " and {turn} a turn"))
    }
}

/// A program with branches or calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branching {
    /// The program.
    pub flow: Flow,
    pub(crate) paths: Paths,
}

impl Source {
    /// Reads a verified program.
    pub fn of(program: &Program) -> Taken<Self> {
        let straight = Straight::of(program).map(|straight| Self::Straight(Box::new(straight)));
        straight.or_else(|_| Self::of_flow(program)).or_else(|error| match Bytes::are(program) {
            true => Bytes::of(program).map(Self::Bytes),
            false => Err(error),
        })
    }

    /// Reads a verified program with branches, calls or a loop.
    fn of_flow(program: &Program) -> Taken<Self> {
        let flow = Flow::of(program)?;
        if let Some(looped) = flow.looped.clone() {
            return Looping::of(flow, looped).map(|looping| Self::Loop(Box::new(looping)));
        }
        let paths = Paths::of(&flow).map_err(Unsupported)?;
        Ok(Self::Flow(Box::new(Branching { flow, paths })))
    }

    /// Reads the text of a program; the line of a fault is that of the text, from 1.
    pub fn read(text: &str) -> Result<Self, (usize, String)> {
        let program = text::read(text)
            .map_err(|ReadError { span, what }| (text[..span.start].matches('\n').count() + 1, what))?;
        Self::of(&program).map_err(|error| (1, error.to_string()))
    }

    /// A fault of a program in code for a revision.
    pub(crate) fn fits(&self, semantics: Semantics) -> Taken<()> {
        let modulus = match self {
            Self::Straight(program) => program.modulus,
            Self::Flow(branching) => branching.flow.modulus,
            Self::Loop(looping) => looping.flow.modulus,
            Self::Bytes(_) if semantics == Semantics::Evm => return Ok(()),
            Self::Bytes(_) => {
                return unsupported(format!("programs of words in code for {}", semantics.revision().name()));
            }
        };
        semantics.takes(modulus.bit_len() as u64) // usize to u64 widens
    }

    /// The whole of the code, of a program without a loop.
    pub(crate) fn job<'a>(&'a self, semantics: Semantics, code: &'a [u8]) -> Option<Job<'a>> {
        match self {
            Self::Straight(program) => Some(Job::straight(program, semantics, code)),
            Self::Flow(branching) => {
                let Paths { program, ends } = &branching.paths;
                let (start, turn_at) = (None, TurnAt::Nowhere);
                Some(Job { program, ends: Some(ends), semantics, code, start, turn_at })
            }
            Self::Loop(_) | Self::Bytes(_) => None,
        }
    }

    /// Finds hints for code.
    pub(crate) fn witness(&self, semantics: Semantics, code: &[u8]) -> Result<(Witness, Vec<TurnHints>), Refused> {
        match (self, self.job(semantics, code)) {
            (Self::Loop(looping), _) => looping.witness(semantics, code),
            (_, Some(job)) => job.witness().map(|witness| (witness, Vec::new())),
            (_, None) => Ok(Default::default()),
        }
    }

    /// Judges code by hints: the gas from which on it ends as the program does.
    pub(crate) fn judge(
        &self,
        semantics: Semantics,
        code: &[u8],
        witness: &Witness,
        turns: &[TurnHints],
    ) -> Result<Gas, Refused> {
        match (self, self.job(semantics, code)) {
            (Self::Loop(looping), _) => {
                let verdict = looping.judge(semantics, code, witness, turns)?;
                Ok(Gas { gas: verdict.gas, turn: Some(verdict.turn_gas) })
            }
            (Self::Bytes(program), _) => {
                bytes::walk(program, code).map(|walked| Gas { gas: walked.gas, turn: walked.turn })
            }
            (_, Some(job)) => job.check(witness).map(|ran| Gas { gas: ran.gas, turn: None }),
            (_, None) => Ok(Gas { gas: 0, turn: None }),
        }
    }
}
