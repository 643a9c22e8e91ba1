//! Sources that are compiled in variants: a contract of the list, or one that a key makes.

use crate::{Contract, Function, functions};
use residue_ir::{Form, Fp2Product, Length, Program, record_as};
use std::fmt::Debug;

/// A text that is recorded for the compiler, and what is to be known of it.
pub trait Source: Debug + Send + Sync {
    /// Its name, as commands take it.
    fn name(&self) -> &str;

    /// One line: what it computes.
    fn summary(&self) -> &str;

    /// Calldata and output.
    fn interface(&self) -> &str;

    /// Its functions as Solidity declares them; none where its calldata has no type of Solidity's.
    fn functions(&self) -> Vec<Function>;

    /// Its program in a form, recorded anew.
    fn program_as(&self, form: Form) -> Program;

    /// The same with products in Fp2 made in the given way, and in full.
    fn program_with(&self, fp2_product: Fp2Product) -> Program {
        self.program_as(Form { fp2_product, length: Some(Length::Full) })
    }

    /// The same as its text has it.
    fn program(&self) -> Program {
        self.program_with(Fp2Product::default())
    }

    /// An input to try it with, and to choose between variants.
    fn example(&self) -> Vec<u8>;

    /// The precompile that it replaces byte for byte.
    fn precompile(&self) -> Option<u16> {
        None
    }

    /// True if its formulas are those of a publication, so that only the published variant shows the published numbers.
    fn is_published(&self) -> bool {
        false
    }
}

impl Source for Contract {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> &str {
        self.summary
    }

    fn interface(&self) -> &str {
        self.interface
    }

    fn functions(&self) -> Vec<Function> {
        functions::of(self.name)
    }

    fn program_as(&self, form: Form) -> Program {
        record_as(self.name, &(self.field)(), form, |machine| self.whole_text(machine))
    }

    fn example(&self) -> Vec<u8> {
        (self.example)()
    }

    fn precompile(&self) -> Option<u16> {
        self.precompile
    }

    fn is_published(&self) -> bool {
        Contract::is_published(self)
    }
}
