//! Variants: a contract computes the same bytes with other formulas, and prices decide which of them costs least gas.

use crate::parallel::in_parallel;
use residue_compiler::{CompileError, Compiled, Dialect, Prepared, SmallMultiples};
use residue_contracts::Source;
use residue_engine::{Engine, EngineConfig, EngineError};
use residue_ir::program::WordDef;
use residue_ir::{Feature, Fp2Product, Program};
use residue_isa::revision::Family;
use residue_isa::{GasSchedule, Revision};
use std::collections::{HashMap, HashSet};
use thiserror::Error;

/// One choice of everything that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How products in Fp2 are made.
    pub product: Fp2Product,
    /// How small multiples are made.
    pub multiples: SmallMultiples,
}

impl Variant {
    /// Every variant, the one that contracts are written in first; those with sums of products and with products in Fp6 are for revisions that have such.
    pub fn all() -> impl Iterator<Item = Self> {
        let with = |product| SmallMultiples::ALL.into_iter().map(move |multiples| Self { product, multiples });
        Fp2Product::EVERY.into_iter().flat_map(with)
    }
}

/// Which variants are to be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Products in Fp2.
    pub product: WantedProduct,
    /// Small multiples; if none is named, as published for the contracts of the EVM384 documents, and all ways for others.
    pub multiples: Option<SmallMultiples>,
}

/// Which products in Fp2 are to be tried.
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
    /// The code.
    pub compiled: Compiled,
    /// Gas of the contract's example, in a frame of its own; fractions of the schedule that execution does not meter are cut.
    pub gas: u64,
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
        /// How it ended.
        halt: String,
    },
}

impl VariantError {
    /// Whether the revision has no code for such a contract: [`CompileError::is_inexpressible`].
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
/// Where code may call precompiles that a contract asks for, it is compiled without them too; but for the EVM without field instructions, where no formulas of ours
/// cost less than a precompile and take long to compile.
pub fn trials(
    contract: &dyn Source,
    variants: impl IntoIterator<Item = Variant>,
    revision: Revision,
    schedule: &GasSchedule,
    dialect: Dialect,
) -> Result<Vec<Trial>, VariantError> {
    let engine = Engine::new(EngineConfig { fork: dialect.fork, ..EngineConfig::new(revision, schedule.clone()) })?;
    let input = contract.example();
    let rules = revision.slot_rules();
    let has = |variant: &Variant| match variant.product {
        Fp2Product::Karatsuba | Fp2Product::Schoolbook => true,
        Fp2Product::Sums => rules.is_some_and(|rules| rules.sums.is_some()),
        Fp2Product::Fp6 => rules.is_some_and(|rules| rules.mul_fp6.is_some()),
    };
    let variants: Vec<Variant> = variants.into_iter().filter(has).collect();
    let products: HashSet<Fp2Product> = variants.iter().map(|variant| variant.product).collect();
    let programs: HashMap<Fp2Product, Program> =
        products.into_iter().map(|product| (product, contract.program_with(product))).collect();
    let (mut trials, mut refusal): (Vec<Trial>, _) = (Vec::new(), None);
    let different = different(&variants, &programs)?;
    let mut all = compile_all(&different, revision, schedule, dialect);
    let mut tried: Vec<Variant> = different.iter().map(|&(variant, _)| variant).collect();
    if dialect.precompiles && revision.family() != Family::Words && programs.values().any(asks_for_precompiles) {
        all.extend(compile_all(&different, revision, schedule, Dialect { precompiles: false, ..dialect }));
        tried.extend_from_within(..);
    }
    for (variant, compiled) in tried.into_iter().zip(all) {
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                refusal.get_or_insert(error);
                continue;
            }
        };
        if trials.iter().any(|trial| trial.compiled.code == compiled.code) {
            continue;
        }
        let outcome = engine.run_code(&compiled.code, &input, GAS);
        if !outcome.halt.is_success() {
            return Err(VariantError::Example {
                contract: contract.name().to_owned(),
                revision,
                halt: outcome.halt.to_string(),
            });
        }
        trials.push(Trial { variant, compiled, gas: outcome.gas_used });
    }
    trials.sort_by_key(|trial| trial.gas);
    match refusal {
        Some(error) if trials.is_empty() => Err(error.into()),
        _ => Ok(trials),
    }
}

/// Whether a program asks whether it may call a precompile.
pub fn asks_for_precompiles(program: &Program) -> bool {
    let is_question = |word: &WordDef| matches!(word, WordDef::Has(Feature::Precompile(_)));
    program.functions.iter().any(|function| function.words.iter().any(is_question))
}

/// The variants that are not the same program as an earlier one: a contract has not every choice.
fn different<'a>(
    variants: &[Variant],
    programs: &'a HashMap<Fp2Product, Program>,
) -> Result<Vec<(Variant, Prepared<'a>)>, CompileError> {
    let mut different: Vec<(Variant, Prepared<'_>)> = Vec::new();
    for &variant in variants {
        let prepared = Prepared::new(&programs[&variant.product], variant.multiples)?;
        if different.iter().all(|(_, earlier)| *earlier != prepared) {
            different.push((variant, prepared));
        }
    }
    Ok(different)
}

/// Each compiled, in their order.
fn compile_all(
    different: &[(Variant, Prepared<'_>)],
    revision: Revision,
    schedule: &GasSchedule,
    dialect: Dialect,
) -> Vec<Result<Compiled, CompileError>> {
    in_parallel(different, |(_, prepared)| prepared.compile(revision, schedule, dialect))
}
