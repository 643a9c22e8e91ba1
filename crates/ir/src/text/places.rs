//! Positions of the parts of a program in its text, for error messages.

use crate::names::SubprogramId;
use crate::verify::{Place, VerifyError};
use std::ops::Range;

/// The places of a program's parts, in bytes of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    pub(super) modulus: Range<usize>,
    pub(super) constants: Vec<Range<usize>>,
    pub(super) tables: Vec<Range<usize>>,
    pub(super) functions: Vec<FunctionPlaces>,
    pub(super) subprograms: Vec<Places>,
}

/// The places of a function's parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FunctionPlaces {
    pub(super) head: Range<usize>,
    /// Statements and the operations of blocks, in the order of the text.
    pub(super) statements: Vec<Range<usize>>,
}

impl Places {
    /// The bytes of the text that the place of an error is; none where a program has no such part.
    pub fn of(&self, error: &VerifyError) -> Option<Range<usize>> {
        match error.subprogram {
            Some(SubprogramId(number)) => self.subprograms.get(number)?.of_place(error.place),
            None => self.of_place(error.place),
        }
    }

    fn of_place(&self, place: Place) -> Option<Range<usize>> {
        let function = |number: usize| self.functions.get(number);
        match place {
            Place::Modulus => Some(self.modulus.clone()),
            Place::Constant(number) => self.constants.get(number).cloned(),
            Place::Table(number) => self.tables.get(number).cloned(),
            Place::Program => {
                Some(self.functions.last().map_or(self.modulus.clone(), |function| function.head.clone()))
            }
            Place::Function(number) => function(number).map(|function| function.head.clone()),
            Place::Statement { function: number, statement } => {
                function(number).and_then(|function| function.statements.get(statement).cloned())
            }
        }
    }
}
