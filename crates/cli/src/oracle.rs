//! The executable specification as an engine: the same code, input and gas under the same schedule.

use anyhow::{Result, bail, ensure};
use residue_engine::{Fork, MEMORY_LIMIT_BYTES};
use residue_isa::{Family, GasSchedule, Price, Revision, WidthPrices};
use residue_spec::{ByWidth, Env, Narrow, Prices};

use crate::execution::Ended;

/// The account that raw code runs as in the engine; `ADDRESS` pushes it.
const CODE_ADDRESS: [u8; 20] = [0xc0; 20];
/// The account that calls it; `CALLER` pushes it.
const CALLER_ADDRESS: [u8; 20] = [0xca; 20];

/// The specification of a revision with a schedule's prices.
#[derive(Debug)]
pub struct Oracle {
    revision: &'static residue_spec::Revision,
    prices: Prices,
    env: Env,
}

impl Oracle {
    /// Makes the specification ready. It knows one fork only.
    pub fn new(revision: Revision, schedule: &GasSchedule, fork: Fork) -> Result<Self> {
        ensure!(fork == Fork::Osaka, "the specification has the rules of {}, not of {fork}", Fork::Osaka);
        let Some(specified) = residue_spec::Revision::named(revision.name()) else {
            bail!("{revision} has no executable specification");
        };
        let env = Env {
            address: CODE_ADDRESS,
            caller: CALLER_ADDRESS,
            memory_limit_bytes: MEMORY_LIMIT_BYTES,
            ..Env::default()
        };
        Ok(Self { revision: specified, prices: prices(revision, schedule), env })
    }

    /// Runs code. An error if the specification cannot say how it ends.
    pub fn run(&self, code: &[u8], input: &[u8], gas: u64) -> Result<Ended> {
        let outcome = residue_spec::run(self.revision, &self.prices, &self.env, code, input, gas);
        let halt = outcome.halt;
        ensure!(halt.is_verdict(), "the specification does not say how this code ends: {halt}");
        Ok(Ended {
            halt: halt.name(),
            is_success: halt.is_success(),
            is_exceptional: halt.is_exceptional(),
            output: outcome.output,
            gas_used: outcome.gas_used,
            memory: outcome.memory,
        })
    }
}

/// The schedule in the specification's own terms: whole gas, as the engine meters it.
fn prices(revision: Revision, schedule: &GasSchedule) -> Prices {
    let base = |mnemonic| schedule.base(mnemonic).map(Price::whole);
    let rows = revision.opcodes().iter().filter_map(|row| Some((row.mnemonic, base(row.mnemonic)?)));
    let mut prices = Prices::of_base(schedule.name(), &rows.collect::<Vec<_>>());
    prices.evm = schedule.evm_overrides().map(|(opcode, price)| (opcode, price.whole())).collect();
    if revision.family() != Family::Memory384 {
        let unit = |price: Price| if schedule.rounds_instructions() { price.0 } else { price.whole() };
        let table = |of: fn(&WidthPrices) -> Price| {
            let widths = 1..=revision.width_limbs_max();
            ByWidth(widths.map(|width_limbs| unit(of(&schedule.at_width(width_limbs)))).collect())
        };
        prices.set_modulus = table(|width| width.set_modulus);
        prices.add = table(|width| width.arithmetic[0]);
        prices.sub = table(|width| width.arithmetic[1]);
        prices.mul = table(|width| width.arithmetic[2]);
        prices.load = table(|width| width.load);
        prices.store = table(|width| width.store);
        if revision.slot_rules().is_some_and(|rules| rules.invert.is_some()) {
            prices.invert = table(|width| width.invert);
        }
        prices.copy_per_word = schedule.transfer_per_word().whole();
        prices.in_thousandths = schedule.rounds_instructions();
        prices.narrow = schedule.has_narrow().then(|| {
            let WidthPrices { set_modulus, arithmetic: [add, sub, mul], load, store, .. } = schedule.at_width(0);
            let [set_modulus, add, sub, mul, load, store] = [set_modulus, add, sub, mul, load, store].map(unit);
            Narrow { set_modulus, add, sub, mul, load, store }
        });
    }
    prices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schedule_that_the_specification_prints_too_has_the_same_prices() {
        let mut compared = 0;
        for &revision in Revision::ALL {
            for name in GasSchedule::names(revision) {
                let specified = residue_spec::Revision::named(revision.name()).unwrap();
                if let Some(expected) = specified.prices_named(&name) {
                    assert_eq!(prices(revision, &GasSchedule::named(&name, revision).unwrap()), expected, "{name}");
                    compared += 1;
                }
            }
        }
        assert!(compared >= Revision::ALL.len());
    }
}
