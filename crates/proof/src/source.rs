//! Programs that certificates speak of.

use crate::flow::Flow;
use crate::flow::paths::Paths;
use crate::semantics::Semantics;
use crate::straight::{Straight, Taken, Unsupported};
use crate::witness::Job;
use residue_ir::Program;
use residue_ir::text::{self, ReadError};

/// A program: of straight line, or with its paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Requirements, parses, operations and one return.
    Straight(Straight),
    /// Branches and calls.
    Flow(Box<Branching>),
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
        Straight::of(program).map(Self::Straight).or_else(|_| {
            let flow = Flow::of(program)?;
            let paths = Paths::of(&flow).map_err(Unsupported)?;
            Ok(Self::Flow(Box::new(Branching { flow, paths })))
        })
    }

    /// Reads the text of a program; the line of a fault is that of the text, from 1.
    pub fn read(text: &str) -> Result<Self, (usize, String)> {
        let program = text::read(text)
            .map_err(|ReadError { span, what }| (text[..span.start].matches('\n').count() + 1, what))?;
        Self::of(&program).map_err(|error| (1, error.to_string()))
    }

    pub(crate) fn modulus_bits(&self) -> u64 {
        let modulus = match self {
            Self::Straight(program) => program.modulus,
            Self::Flow(branching) => branching.flow.modulus,
        };
        modulus.bit_len() as u64 // usize to u64 widens
    }

    pub(crate) fn job<'a>(&'a self, semantics: Semantics, code: &'a [u8]) -> Job<'a> {
        match self {
            Self::Straight(program) => Job { program, ends: None, semantics, code },
            Self::Flow(branching) => {
                let Paths { program, ends } = &branching.paths;
                Job { program, ends: Some(ends), semantics, code }
            }
        }
    }
}
