//! Formulas of a compiled contract: the cheapest under the gas schedule, or those of `--f2mul`.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use residue_compiler::{Dialect, SmallMultiples};
use residue_contracts::Source;
use residue_ir::Fp2Product;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::variants::{Wanted, WantedProduct};
use residue_workbench::{Candidates, Trial, VariantError};

use crate::waiting::WaitingLine;

/// The choice of formulas.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Formulas {
    /// Multiplications of a product in Fp2. Without it those of the contracts of the EVM384 documents are 3, as published,
    /// and others what costs least under the gas schedule.
    #[arg(long, value_name = "MULTIPLICATIONS", value_enum)]
    pub f2mul: Option<F2mul>,
    /// Method for products of a value by a small number. Without it the cheapest one for a contract, and additions for
    /// a program.
    #[arg(long, value_name = "WAY", value_enum)]
    pub multiples: Option<Multiples>,
}

/// The values of `--multiples`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Multiples {
    /// As written, by additions.
    Additions,
    /// By a product where that spares three additions.
    #[value(name = "3")]
    ProductForThree,
    /// By a product where that spares two.
    #[value(name = "2")]
    ProductForTwo,
}

impl Multiples {
    /// That of the compiler.
    pub const fn of(multiples: SmallMultiples) -> Self {
        match multiples {
            SmallMultiples::AsWritten => Multiples::Additions,
            SmallMultiples::ProductForThree => Multiples::ProductForThree,
            SmallMultiples::ProductForTwo => Multiples::ProductForTwo,
        }
    }

    /// Its value on the command line.
    pub const fn option(self) -> &'static str {
        match self {
            Multiples::Additions => "additions",
            Multiples::ProductForThree => "3",
            Multiples::ProductForTwo => "2",
        }
    }

    /// The same for the compiler.
    const fn of_compiler(self) -> SmallMultiples {
        match self {
            Multiples::Additions => SmallMultiples::AsWritten,
            Multiples::ProductForThree => SmallMultiples::ProductForThree,
            Multiples::ProductForTwo => SmallMultiples::ProductForTwo,
        }
    }
}

/// The values of `--f2mul`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum F2mul {
    /// The cheaper one under the gas schedule; 3 if both cost the same.
    Auto,
    /// Karatsuba: 3 multiplications, 5 additions and subtractions.
    #[value(name = "3")]
    Three,
    /// Schoolbook: 4 multiplications, 2 additions and subtractions.
    #[value(name = "4")]
    Four,
}

impl Formulas {
    /// The options, and whether each is given.
    pub fn given(&self) -> [(&'static str, bool); 2] {
        [("--f2mul", self.f2mul.is_some()), ("--multiples", self.multiples.is_some())]
    }

    /// The contract compiled in the cheapest of the variants asked for.
    pub fn compile(
        &self,
        contract: &dyn Source,
        revision: Revision,
        schedule: &GasSchedule,
        dialect: Dialect,
    ) -> Result<Trial> {
        let cheapest = self.try_compile(contract, revision, schedule, dialect);
        cheapest.with_context(|| format!("compiling {} for {revision}", contract.name()))
    }

    /// The same, with the reason where it is not possible.
    pub fn try_compile(
        &self,
        contract: &dyn Source,
        revision: Revision,
        schedule: &GasSchedule,
        dialect: Dialect,
    ) -> Result<Trial, VariantError> {
        Ok(self.trials(contract, revision, schedule, dialect)?.swap_remove(0))
    }

    /// Every variant asked for, the cheapest first: there is at least one.
    pub fn trials(
        &self,
        contract: &dyn Source,
        revision: Revision,
        schedule: &GasSchedule,
        dialect: Dialect,
    ) -> Result<Vec<Trial>, VariantError> {
        let _waiting = WaitingLine::new(|| format!("compiling {} for {revision}", contract.name()));
        residue_workbench::trials(contract, self.wanted().variants(contract), revision, schedule, dialect)
    }

    /// The variants asked for, to be tried for several revisions.
    pub fn candidates<'a>(&self, contract: &'a dyn Source) -> Candidates<'a> {
        Candidates::new(contract, self.wanted().variants(contract))
    }

    /// Method for small multiples in a user's program.
    pub fn multiples_of_program(&self) -> SmallMultiples {
        self.multiples.map_or(SmallMultiples::AsWritten, Multiples::of_compiler)
    }

    fn wanted(&self) -> Wanted {
        let product = match self.f2mul {
            None => WantedProduct::Usual,
            Some(F2mul::Auto) => WantedProduct::Any,
            Some(F2mul::Three) => WantedProduct::Only(Fp2Product::Karatsuba),
            Some(F2mul::Four) => WantedProduct::Only(Fp2Product::Schoolbook),
        };
        Wanted { product, multiples: self.multiples.map(Multiples::of_compiler) }
    }
}

/// True if the revision cannot express the contract.
pub fn is_inexpressible(error: &anyhow::Error) -> bool {
    error.downcast_ref::<VariantError>().is_some_and(VariantError::is_inexpressible)
}
