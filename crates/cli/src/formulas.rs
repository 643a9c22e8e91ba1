//! `--f2mul`: how the published programs make a product in Fp2, which EVM384's update 5 prices in both ways.

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use residue_contracts::{Contract, evm384};
use residue_curves::published::Fp2Product;
use residue_engine::{Engine, EngineConfig};
use residue_ir::Program;
use residue_isa::{GasSchedule, Revision};

/// The choice of formulas.
#[derive(Debug, Clone, Copy, Args)]
pub struct Formulas {
    /// Multiplications of a product in Fp2, in the contracts of the EVM384 documents: 3 without the option.
    #[arg(long, value_name = "MULTIPLICATIONS", value_enum)]
    pub f2mul: Option<F2mul>,
}

/// The values of `--f2mul`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum F2mul {
    /// What costs less under the gas schedule; 3 if both cost the same.
    Auto,
    /// Karatsuba: 3 multiplications, 5 additions and subtractions.
    #[value(name = "3")]
    Three,
    /// Schoolbook: 4 multiplications, 2 additions and subtractions.
    #[value(name = "4")]
    Four,
}

/// More gas than one product in Fp6 takes.
const GAS: u64 = 10_000_000;

impl Formulas {
    /// The program of a contract under a revision and its prices, and the multiplications of its products in Fp2 if it is one
    /// of those that have the choice.
    pub fn program(
        &self,
        contract: &Contract,
        revision: Revision,
        schedule: &GasSchedule,
    ) -> Result<(Program, Option<u32>)> {
        let Some(program) = contract.with_product else {
            if self.f2mul.is_some() {
                bail!(
                    "--f2mul is for the contracts of the EVM384 documents; {} has formulas of its own",
                    contract.name
                );
            }
            return Ok(((contract.program)(), None));
        };
        let product = match self.f2mul {
            None | Some(F2mul::Three) => Fp2Product::Karatsuba,
            Some(F2mul::Four) => Fp2Product::Schoolbook,
            Some(F2mul::Auto) => cheaper(revision, schedule)?,
        };
        Ok((program(product), Some(product.multiplications())))
    }

    /// The same, without a word where the contract has no choice.
    pub fn where_possible(&self, contract: &Contract) -> Self {
        Self { f2mul: self.f2mul.filter(|_| contract.with_product.is_some()) }
    }
}

/// The variant with which one product in Fp6, compiled and run, costs less whole gas.
fn cheaper(revision: Revision, schedule: &GasSchedule) -> Result<Fp2Product> {
    let engine = Engine::new(EngineConfig::new(revision, schedule.clone()))?;
    let input = (evm384::f6m_mul::CONTRACT.example)();
    let mut cheapest: Option<(u64, Fp2Product)> = None;
    for product in Fp2Product::ALL {
        let compiled = residue_compiler::compile(&evm384::f6m_mul::program(product), revision, schedule);
        let code = compiled.with_context(|| format!("choosing formulas for {revision}"))?.code;
        let outcome = engine.run_code(&code, &input, GAS);
        if !outcome.halt.is_success() {
            bail!("one product in Fp6 under {revision} ends with {}", outcome.halt);
        }
        if cheapest.is_none_or(|(gas, _)| outcome.gas_used < gas) {
            cheapest = Some((outcome.gas_used, product));
        }
    }
    Ok(cheapest.expect("there are two variants").1)
}
