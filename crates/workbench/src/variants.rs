//! Variants: a contract computes the same bytes with other formulas, and prices decide which of them costs least gas.

use crate::parallel::in_parallel;
use residue_compiler::{CompileError, Compiled, Deployment, Dialect, Prepared, SmallMultiples, Specialised};
use residue_contracts::Source;
use residue_engine::{Engine, EngineConfig, EngineError};
use residue_ir::program::WordDef;
use residue_ir::{Feature, Form, Fp2Product, Length, Program};
use residue_isa::revision::Family;
use residue_isa::{GasSchedule, Revision};
use std::collections::HashMap;
use std::sync::OnceLock;
use thiserror::Error;

/// One choice of everything that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Method for products in Fp2.
    pub product: Fp2Product,
    /// Method for small multiples.
    pub multiples: SmallMultiples,
}

impl Variant {
    /// Every variant, the one that contracts are written in first; those with sums of products and with products in Fp6 are for interfaces that have such.
    pub fn all() -> impl Iterator<Item = Self> {
        let with = |product| SmallMultiples::ALL.into_iter().map(move |multiples| Self { product, multiples });
        Fp2Product::EVERY.into_iter().flat_map(with)
    }

    /// The form that a program of it is recorded in.
    pub const fn form(self, length: Length) -> Form {
        Form { fp2_product: self.product, length: Some(length) }
    }
}

/// Choice of variants to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Products in Fp2.
    pub product: WantedProduct,
    /// Small multiples; if none is named, as published for the contracts of the EVM384 documents, and all ways for others.
    pub multiples: Option<SmallMultiples>,
}

/// Choice of products in Fp2 to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WantedProduct {
    /// As published for the contracts of the EVM384 documents, and all for others.
    #[default]
    Usual,
    /// All.
    Any,
    /// This one.
    Only(Fp2Product),
}

impl Wanted {
    /// The variants of a contract that are wanted: at least one.
    pub fn variants(self, contract: &dyn Source) -> Vec<Variant> {
        let product = |product| match self.product {
            WantedProduct::Usual if contract.is_published() => product == Fp2Product::Karatsuba,
            WantedProduct::Only(only) => product == only,
            WantedProduct::Usual | WantedProduct::Any => true,
        };
        let multiples = |multiples| match self.multiples {
            Some(asked) => multiples == asked,
            None => !contract.is_published() || multiples == SmallMultiples::AsWritten,
        };
        Variant::all().filter(|variant| product(variant.product) && multiples(variant.multiples)).collect()
    }
}

/// A variant compiled and run under a revision and its prices.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The variant.
    pub variant: Variant,
    /// Length of the contract's form that the program is.
    pub length: Length,
    /// The code.
    pub compiled: Compiled,
    /// Gas of the contract's example, in a frame of its own; fractions of the schedule that execution does not meter are cut.
    pub gas: u64,
}

impl Trial {
    /// Gas of all calls that are expected, deployment included; without a deployment the gas of one.
    pub fn cost(&self, deployment: Option<Deployment>) -> u128 {
        let gas = u128::from(self.gas);
        match deployment {
            Some(Deployment { gas_a_byte, calls }) => {
                gas * u128::from(calls.get()) + self.compiled.code.len() as u128 * u128::from(gas_a_byte) // usize to u128 widens
            }
            None => gas,
        }
    }
}

/// Why no variant was chosen.
#[derive(Debug, Error)]
pub enum VariantError {
    /// The revision cannot express the contract.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The revision cannot be executed under the schedule.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A mistake in the contract.
    #[error("the example of {contract} ends with {halt} under {revision}")]
    Example {
        /// The contract.
        contract: String,
        /// Under which revision.
        revision: Revision,
        /// Reason for the halt.
        halt: String,
    },
}

impl VariantError {
    /// True if the revision has no code for such a contract: [`CompileError::is_inexpressible`].
    pub fn is_inexpressible(&self) -> bool {
        matches!(self, VariantError::Compile(error) if error.is_inexpressible())
    }
}

/// More gas than any example takes.
const GAS: u64 = 1 << 40;

/// The contract compiled in the variant whose example costs least.
pub fn cheapest(contract: &dyn Source, revision: Revision, schedule: &GasSchedule) -> Result<Trial, VariantError> {
    Ok(trials(contract, Variant::all(), revision, schedule, Dialect::default())?.swap_remove(0))
}

/// Compiles the contract and runs its example in each of `variants`; the cheapest comes first, and of two that cost the same
/// the one that was. A variant for which there is no room is left out, unless it is the only one.
///
/// Contracts that call precompiles where they may are also compiled without them, except for the EVM without field
/// instructions, where no formulas of ours cost less than a precompile and take long to compile.
pub fn trials(
    contract: &dyn Source,
    variants: impl IntoIterator<Item = Variant>,
    revision: Revision,
    schedule: &GasSchedule,
    dialect: Dialect,
) -> Result<Vec<Trial>, VariantError> {
    Candidates::new(contract, variants).trials(revision, schedule, dialect)
}

/// A variant that is about to be tried.
struct Tried<'a> {
    variant: Variant,
    length: Length,
    specialised: Specialised<'a>,
}

type OncePrepared = OnceLock<Result<Prepared<'static>, CompileError>>;

/// Variants of a contract, recorded and simplified once for all revisions.
#[derive(Debug)]
pub struct Candidates<'a> {
    contract: &'a dyn Source,
    example: Vec<u8>,
    /// Each in every length.
    variants: Vec<(Variant, [OncePrepared; Length::ALL.len()])>,
    programs: HashMap<Form, OnceLock<Program>>,
    only_weighed: bool,
}

impl<'a> Candidates<'a> {
    /// These variants of a contract; each is recorded when a revision first asks for it.
    pub fn new(contract: &'a dyn Source, variants: impl IntoIterator<Item = Variant>) -> Self {
        let variants: Vec<_> = variants.into_iter().map(|variant| (variant, Default::default())).collect();
        let forms = variants.iter().flat_map(|(variant, _)| Length::ALL.map(|length| variant.form(length)));
        let programs = forms.map(|form| (form, OnceLock::new())).collect();
        Self { contract, example: contract.example(), variants, programs, only_weighed: false }
    }

    /// The same without code whose bytes have no weight, where a dialect gives them one, and without forms of a length between.
    #[must_use]
    pub fn weighed(self) -> Self {
        Self { only_weighed: true, ..self }
    }

    /// True if a variant has another program of one length than of the other.
    pub fn is_own(&self, length: Length, other: Length) -> bool {
        let differs = |variant: Variant| self.program(variant.form(length)) != self.program(variant.form(other));
        self.variants.iter().any(|&(variant, _)| differs(variant))
    }

    fn program(&self, form: Form) -> &Program {
        self.programs[&form].get_or_init(|| self.contract.program_as(form))
    }

    /// True if the contract's modulus has more bits than a word.
    fn is_wide(&self) -> bool {
        let first = self.variants.first().map(|(variant, _)| self.program(variant.form(Length::Full)));
        first.and_then(|program| program.modulus.known()).is_some_and(|modulus| modulus.bits() > 256)
    }

    fn prepared(&self, number: usize, length: Length) -> Result<&Prepared<'static>, CompileError> {
        let (variant, prepared) = &self.variants[number];
        let prepare = || Prepared::new(self.program(variant.form(length)), variant.multiples).map(Prepared::into_owned);
        prepared[length as usize].get_or_init(prepare).as_ref().map_err(Clone::clone)
    }

    /// Those that a revision has instructions for. Over a field of several words code without such reduces a sum of products once too.
    fn of(&self, revision: Revision) -> Vec<usize> {
        let has = |product| match product {
            Fp2Product::Karatsuba | Fp2Product::Schoolbook => true,
            Fp2Product::Sums => {
                revision.has(residue_isa::Form::Sum6) || revision.family() == Family::Words && self.is_wide()
            }
            Fp2Product::Fp6 => revision.has(residue_isa::Form::MulFp6),
        };
        (0..self.variants.len()).filter(|&number| has(self.variants[number].0.product)).collect()
    }

    /// The variants for a revision that are not the same program as an earlier one: a contract has not every choice.
    fn different(
        &self,
        numbers: &[usize],
        revision: Revision,
        dialect: Dialect,
    ) -> Result<Vec<Tried<'_>>, CompileError> {
        let specialised = in_parallel(numbers, |&number| {
            self.prepared(number, dialect.length).map(|prepared| prepared.specialised(revision, dialect))
        });
        let mut different: Vec<Tried<'_>> = Vec::new();
        for (&number, specialised) in numbers.iter().zip(specialised) {
            let specialised = specialised?;
            if different.iter().all(|earlier| earlier.specialised != specialised) {
                different.push(Tried { variant: self.variants[number].0, length: dialect.length, specialised });
            }
        }
        Ok(different)
    }

    /// [`trials`] of these.
    pub fn trials(
        &self,
        revision: Revision,
        schedule: &GasSchedule,
        dialect: Dialect,
    ) -> Result<Vec<Trial>, VariantError> {
        let engine = Engine::new(EngineConfig { fork: dialect.fork, ..EngineConfig::new(revision, schedule.clone()) })?;
        let numbers = self.of(revision);
        let mut tried = self.different(&numbers, revision, dialect)?;
        let asks = numbers
            .iter()
            .any(|&number| asks_for_precompiles(self.program(self.variants[number].0.form(dialect.length))));
        if dialect.precompiles && revision.family() != Family::Words && asks {
            tried.extend(self.different(&numbers, revision, Dialect { precompiles: false, ..dialect })?);
        }
        if dialect.deployment.is_some() {
            // Expected runs are estimates: code that they do not shorten may be cheaper.
            if !self.only_weighed {
                tried.extend(self.different(&numbers, revision, Dialect { deployment: None, ..dialect })?);
            }
            let shorter = match dialect.length {
                Length::Full if self.only_weighed => &[Length::Short][..],
                Length::Full => &[Length::Middle, Length::Short],
                Length::Middle | Length::Short => &[],
            };
            for (at, &length) in shorter.iter().enumerate() {
                if self.is_own(length, at.checked_sub(1).map_or(Length::Full, |before| shorter[before])) {
                    tried.extend(self.different(&numbers, revision, Dialect { length, ..dialect })?);
                }
            }
        }
        let all = in_parallel(&tried, |tried| tried.specialised.compile(schedule));
        let (mut trials, mut refusal): (Vec<Trial>, _) = (Vec::new(), None);
        for (Tried { variant, length, .. }, compiled) in tried.into_iter().zip(all) {
            let compiled = match compiled {
                Ok(compiled) => compiled,
                Err(mistake) if mistake.is_mistake() => return Err(mistake.into()),
                Err(error) => {
                    refusal.get_or_insert(error);
                    continue;
                }
            };
            if trials.iter().any(|trial| trial.compiled.code == compiled.code) {
                continue;
            }
            let outcome = engine.run_code(&compiled.code, &self.example, GAS);
            if !outcome.halt.is_success() {
                return Err(VariantError::Example {
                    contract: self.contract.name().to_owned(),
                    revision,
                    halt: outcome.halt.to_string(),
                });
            }
            trials.push(Trial { variant, length, compiled, gas: outcome.gas_used });
        }
        trials.sort_by_key(|trial| trial.cost(dialect.deployment));
        match refusal {
            Some(error) if trials.is_empty() => Err(error.into()),
            _ => Ok(trials),
        }
    }
}

/// True if a program asks for the availability of a precompile.
pub fn asks_for_precompiles(program: &Program) -> bool {
    asks(program, |feature| matches!(feature, Feature::Precompile(_)))
}

/// The same, or of inverses, which MODEXP makes under some forks.
pub fn has_use_for_precompiles(program: &Program) -> bool {
    asks(program, |feature| matches!(feature, Feature::Precompile(_) | Feature::Inversion))
}

fn asks(program: &Program, is_it: impl Fn(Feature) -> bool) -> bool {
    let is_question = |word: &WordDef| matches!(word, WordDef::Has(feature) if is_it(*feature));
    let mut functions = program.units().flat_map(|unit| &unit.functions);
    functions.any(|function| function.words.iter().any(is_question))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A choice that a contract has not makes no program of its own, whatever the revision.
    #[test]
    fn equal_programs_are_compiled_once() {
        for (name, revision, programs) in [
            ("bn254/mul", Revision::Evm, 1),
            ("bn254/mul", Revision::Eip6690_2024, 1),
            ("bls12_381/fp2_mul", Revision::Eip6690_2024, 2),
        ] {
            let contract = residue_contracts::find(name).unwrap();
            let candidates = Candidates::new(contract, Variant::all());
            let numbers = candidates.of(revision);
            let different = candidates.different(&numbers, revision, Dialect::default()).unwrap();
            assert_eq!(different.len(), programs, "{name} under {revision}");
            assert!(numbers.len() > programs);
        }
    }
}
