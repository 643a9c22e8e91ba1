//! The models: from a time to a price, and a schedule with its residuals.

use std::str::FromStr;

use residue_isa::{FieldOp, Form, FormPrice, GasSchedule, Price, Revision, UnknownName, WidthPrices};

use super::fit::{Fit, fit};
use super::runtimes::{Pivot, Runtime, Runtimes};
use crate::error::LabError;

/// Rule from a time to a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// One gas for the interpreter's loop, and the time at the anchor, rounded up (EVM384 update 5, model A).
    A,
    /// As KECCAK256 is priced for its time, rounded up (EVM384 update 5, model B).
    B,
    /// The time at the anchor, rounded up.
    Time,
    /// The time at the anchor in thousandths of gas.
    Particle,
    /// The time at the anchor of a line (addition, subtraction, loads) or a square (multiplication) by width, rounded up
    /// (EIP-6690).
    Fit,
}

/// Difference between the time of an opcode's worst operands and its price.
#[derive(Debug, Clone, PartialEq)]
pub struct Residual {
    /// The opcode.
    pub mnemonic: String,
    /// Width of the modulus.
    pub width_bits: usize,
    /// The class of operands that takes longest.
    pub class: String,
    /// The time.
    pub time_ns: f64,
    /// The price, with the base price of the instruction.
    pub price: Price,
    /// Nanoseconds that the gas of the price stands for.
    pub paid_ns: f64,
}

/// A schedule derived from times.
#[derive(Debug, Clone)]
pub struct Priced {
    /// The schedule.
    pub schedule: GasSchedule,
    /// Nanoseconds that a gas stands for under the model.
    pub ns_per_gas: f64,
    /// Residual of every price.
    pub residuals: Vec<Residual>,
    /// The fits, by operation, if the model has them.
    pub fits: Vec<(FieldOp, Fit)>,
    /// Opcodes whose prices stayed as they were, since no times are known.
    pub kept: Vec<&'static str>,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 5] = [Model::A, Model::B, Model::Time, Model::Particle, Model::Fit];

    /// The name users write.
    pub const fn name(self) -> &'static str {
        match self {
            Model::A => "a",
            Model::B => "b",
            Model::Time => "time",
            Model::Particle => "particle",
            Model::Fit => "fit",
        }
    }

    /// The price of a time, where a gas stands for so many nanoseconds.
    pub fn price(self, time_ns: f64, ns_per_gas: f64) -> Price {
        let gas = (time_ns / ns_per_gas).max(0.0);
        // Prices are at most 2³² gas; the conversions saturate. A ten-millionth of a gas is no reason for another gas.
        let thousandths = |gas: f64| Price(((gas * 1000.0 - 1e-4).ceil().max(0.0) as u64).min(Price::MAX.0));
        let whole = |gas: f64| Price::from_gas(thousandths(gas).whole());
        match self {
            Model::A => whole(1.0 + gas),
            Model::B | Model::Time | Model::Fit => whole(gas).max(Price::from_gas(1)),
            Model::Particle => thousandths(gas).max(Price(1)),
        }
    }

    /// Nanoseconds that a gas stands for: the anchor, or for model B those of the pivot.
    pub fn ns_per_gas(self, anchor_ns: f64, pivot: Option<&Pivot>) -> Result<f64, LabError> {
        match self {
            Model::B => pivot.map(Pivot::ns_per_gas).ok_or(LabError::NoPivot),
            _ => Ok(anchor_ns),
        }
    }

    /// The schedule of a revision from times, named `name`.
    pub fn apply(self, runtimes: &Runtimes, anchor_ns: f64, pivot: Option<&str>) -> Result<Priced, LabError> {
        let revision = runtimes.revision;
        let chosen = runtimes.pivot(pivot);
        let ns_per_gas = self.ns_per_gas(anchor_ns, chosen)?;
        if runtimes.opcodes.iter().all(|runtime| runtime.operation.is_none()) {
            return Err(LabError::NoTimes { revision });
        }
        let fits = if self == Model::Fit { fits(runtimes) } else { Vec::new() };
        let pricing = Pricing { model: self, runtimes, ns_per_gas, fits: &fits };
        let default = GasSchedule::default_for(revision)?;
        let gas_is = match (self, chosen) {
            (Model::B, Some(pivot)) => format!("relative to {}", pivot.name),
            _ => format!("at {anchor_ns} ns per gas"),
        };
        let summary = format!("Model {} {gas_is}, from {}", self.name(), runtimes.source);
        let name = format!("lab-{}", self.name());
        let schedule = default.repriced(
            &name,
            &summary,
            revision,
            |mnemonic, price| pricing.base(mnemonic, price),
            |width_limbs, prices| pricing.width(width_limbs, prices),
        );
        let measured = |mnemonic: &str| runtimes.opcodes.iter().any(|runtime| runtime.mnemonic == mnemonic);
        let kept = revision.opcodes().iter().map(|row| row.mnemonic).filter(|mnemonic| !measured(mnemonic)).collect();
        let residuals = pricing.residuals(&schedule);
        Ok(Priced { schedule, ns_per_gas, residuals, fits, kept })
    }
}

struct Pricing<'a> {
    model: Model,
    runtimes: &'a Runtimes,
    ns_per_gas: f64,
    fits: &'a [(FieldOp, Fit)],
}

impl Pricing<'_> {
    fn revision(&self) -> Revision {
        self.runtimes.revision
    }

    fn has_widths(&self) -> bool {
        self.revision().evm384().is_none()
    }

    fn price(&self, time_ns: f64) -> Price {
        self.model.price(time_ns, self.ns_per_gas)
    }

    /// The base price: all of it where nothing depends on the width; else that of a known modulus, and nothing for what is
    /// priced by width.
    fn base(&self, mnemonic: &str, price: Price) -> Price {
        let is_arithmetic = |runtime: &&Runtime| runtime.operation.is_some();
        let times = self.runtimes.opcodes.iter().filter(|runtime| runtime.mnemonic == mnemonic);
        match (self.has_widths(), times.clone().any(|runtime| is_arithmetic(&runtime))) {
            (false, _) => times.map(|runtime| self.price(runtime.time_ns)).max().unwrap_or(price),
            (true, true) => Price::ZERO,
            (true, false) => price,
        }
    }

    /// Prices of a width: measured, or for widths without times those of the next measured one above, or below.
    fn width(&self, width_limbs: usize, mut prices: WidthPrices) -> WidthPrices {
        for operation in FieldOp::ALL {
            if let Some(time_ns) = self.time_at(operation, width_limbs) {
                prices.arithmetic[operation] = self.price(time_ns);
            }
        }
        if let Some(rules) = self.revision().slot_rules() {
            let time_of = |opcode: u8| {
                let mnemonic = self.revision().row(opcode)?.mnemonic;
                self.nearest(width_limbs, |runtime| runtime.mnemonic == mnemonic)
            };
            // The base price is charged too; what is left of the time is for the values.
            let [load, store] = [rules.load, rules.store].map(time_of);
            prices.load = load.map_or(prices.load, |time_ns| self.price(time_ns));
            prices.store = store.map_or(prices.store, |time_ns| self.price(time_ns));
            // Rounded up once an instruction, not each by itself.
            let particle = |time_ns| Model::Particle.price(time_ns, self.ns_per_gas);
            let time_of_form = |form: Form| rules.opcode(form).and_then(time_of);
            let time = |count: u8| Some((f64::from(count), time_of_form(Form::sum(count)?)?));
            let times: Vec<_> = (2..=6).filter_map(time).collect();
            if let Some([reduction, product]) = ns_of_sums(&times) {
                prices.forms[FormPrice::Reduction] = particle(reduction);
                prices.forms[FormPrice::Product] = particle(product);
            }
            for (form, price) in [(Form::MulFp6, FormPrice::Fp6), (Form::MulFp2, FormPrice::Fp2)] {
                if let Some(time_ns) = time_of_form(form) {
                    prices.forms[price] = particle(time_ns);
                }
            }
            prices.set_modulus = time_of(rules.set_modulus).map_or(prices.set_modulus, |time_ns| self.price(time_ns));
        }
        prices
    }

    fn time_at(&self, operation: FieldOp, width_limbs: usize) -> Option<f64> {
        if let Some((_, fit)) = self.fits.iter().find(|(fitted, _)| *fitted == operation) {
            return Some(fit.at(width_limbs as f64)); // A small number.
        }
        self.nearest(width_limbs, |runtime| runtime.operation == Some(operation))
    }

    fn nearest(&self, width_limbs: usize, is_meant: impl Fn(&Runtime) -> bool) -> Option<f64> {
        let known = self.runtimes.opcodes.iter().filter(|runtime| is_meant(runtime));
        let distance = |runtime: &&Runtime| match runtime.width_bits.div_ceil(64) {
            width if width >= width_limbs => (0, width - width_limbs),
            width => (1, width_limbs - width),
        };
        known.min_by_key(distance).map(|runtime| runtime.time_ns)
    }

    fn residuals(&self, schedule: &GasSchedule) -> Vec<Residual> {
        let residual = |runtime: &Runtime| {
            let operation = runtime.operation?;
            let price = schedule.instruction(operation, runtime.width_bits.div_ceil(64), 1);
            // Prices are far below 2⁵³ thousandths.
            let paid_ns = price.0 as f64 / 1000.0 * self.ns_per_gas;
            let Runtime { mnemonic, width_bits, class, time_ns, .. } = runtime.clone();
            Some(Residual { mnemonic, width_bits, class, time_ns, price, paid_ns })
        };
        self.runtimes.opcodes.iter().filter_map(residual).collect()
    }
}

/// (products, nanoseconds) of sums ↦ nanoseconds of a reduction and of a product, which pay for each of the sums: a line through the times, raised to the
/// one that is furthest above it.
fn ns_of_sums(times: &[(f64, f64)]) -> Option<[f64; 2]> {
    let line = fit(times, 1)?;
    Some([(line.coefficients[0] + line.worst.1.max(0.0)).max(0.0), line.coefficients[1].max(0.0)])
}

impl Priced {
    /// The opcode that takes longest for what is paid.
    pub fn worst(&self) -> Option<&Residual> {
        self.residuals.iter().max_by(|a, b| (a.time_ns / a.paid_ns).total_cmp(&(b.time_ns / b.paid_ns)))
    }
}

/// A fit for each operation that was measured over enough widths.
fn fits(runtimes: &Runtimes) -> Vec<(FieldOp, Fit)> {
    let of = |operation: FieldOp| {
        let measured = runtimes.opcodes.iter().filter(|runtime| runtime.operation == Some(operation));
        let points: Vec<(f64, f64)> =
            measured.map(|runtime| (runtime.width_bits.div_ceil(64) as f64, runtime.time_ns)).collect(); // Small.
        let degree = if operation == FieldOp::Mul { 2 } else { 1 };
        Some((operation, fit(&points, degree)?))
    };
    FieldOp::ALL.into_iter().filter_map(of).collect()
}

impl FromStr for Model {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|model| model.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| UnknownName::new("model", text, Self::ALL.map(Self::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{KECCAK_RELATIVE, MODELS};

    #[test]
    fn a_reduction_and_products_pay_for_every_sum() {
        let near = |found: Option<[f64; 2]>, expected: [f64; 2]| {
            let found = found.unwrap();
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        };
        near(ns_of_sums(&[(2.0, 50.0), (3.0, 66.0), (4.0, 82.0)]), [18.0, 16.0]);
        // The line through these is 50, 68, 86; the middle one takes 12 more.
        let times = [(2.0, 44.0), (3.0, 80.0), (4.0, 80.0)];
        near(ns_of_sums(&times), [26.0, 18.0]);
        let [reduction, product] = ns_of_sums(&times).unwrap();
        assert!(times.iter().all(|(count, time_ns)| reduction + product * count >= time_ns - 1e-6));
        assert_eq!(ns_of_sums(&[(2.0, 50.0)]), None);
    }

    /// The as-is column of a model in the published table.
    fn published(mnemonic: &str, column: usize) -> f64 {
        MODELS.iter().find(|(name, _)| *name == mnemonic).unwrap().1[column]
    }

    #[test]
    fn model_a_makes_the_published_prices_of_the_published_runtimes() {
        let priced = Model::A.apply(&Runtimes::published(), 10.0, None).unwrap();
        for mnemonic in ["ADDMOD384", "SUBMOD384", "MULMODMONT384"] {
            let price = priced.schedule.base(mnemonic).unwrap();
            assert_eq!(price.to_string(), published(mnemonic, 0).to_string(), "{mnemonic}");
        }
        let named = GasSchedule::named("model-a", Revision::Evm384V7).unwrap();
        for mnemonic in ["ADDMOD384", "SUBMOD384", "MULMODMONT384"] {
            assert_eq!(priced.schedule.base(mnemonic), named.base(mnemonic));
        }
    }

    /// The times of KECCAK256 were not published, but what they make of the runtimes was: the price before rounding.
    #[test]
    fn model_b_rounds_the_published_relative_prices_up_to_the_published_ones() {
        for (mnemonic, relative) in KECCAK_RELATIVE {
            let mean = Runtimes::published().find(mnemonic, 384).unwrap().time_ns;
            let pivot = Pivot { name: "KECCAK256".to_owned(), time_ns: mean / relative, gas: 1.0 };
            let ns_per_gas = Model::B.ns_per_gas(10.0, Some(&pivot)).unwrap();
            let price = Model::B.price(mean, ns_per_gas);
            assert_eq!(price.to_string(), published(mnemonic, 4).to_string(), "{mnemonic}");
        }
        assert!(Model::B.ns_per_gas(10.0, None).is_err());
    }

    #[test]
    fn schedules_read_back_under_every_revision_and_model() {
        for &revision in Revision::ALL {
            let runtime = |operation: FieldOp, width_bits: usize| Runtime {
                mnemonic: revision.row(revision.arithmetic_opcode(operation)).unwrap().mnemonic.to_owned(),
                operation: Some(operation),
                width_bits,
                class: "random".to_owned(),
                time_ns: 1.5 + width_bits as f64 / 10.0,
            };
            let mut widths = if revision.evm384().is_some() { vec![384] } else { vec![64, 256, 384, 512] };
            widths.retain(|width_bits| *width_bits <= 64 * revision.width_limbs_max());
            let opcodes = FieldOp::ALL.into_iter().flat_map(|op| widths.iter().map(move |&w| runtime(op, w))).collect();
            let pivots = vec![Pivot { name: "KECCAK256/192/5000".to_owned(), time_ns: 600.0, gas: 66.0 }];
            let runtimes = Runtimes { revision, source: "a test".to_owned(), opcodes, pivots };
            for model in Model::ALL {
                let priced = model.apply(&runtimes, 10.0, None).unwrap();
                let text = priced.schedule.to_toml();
                assert_eq!(GasSchedule::from_toml(&text, "x.toml"), Ok(priced.schedule.clone()), "{text}");
                let worst = priced.worst().unwrap();
                let limit = if model == Model::Fit { 1.2 } else { 1.000_1 };
                assert!(worst.time_ns <= worst.paid_ns * limit, "{revision} {model:?}: {worst:?}");
            }
        }
    }

    #[test]
    fn prices_round_up_and_particles_do_not() {
        assert_eq!(Model::Time.price(10.0, 10.0).to_string(), "1");
        assert_eq!(Model::Time.price(10.1, 10.0).to_string(), "2");
        assert_eq!(Model::Time.price(0.0, 10.0).to_string(), "1");
        assert_eq!(Model::A.price(43.6, 10.0).to_string(), "6");
        assert_eq!(Model::Particle.price(6.4, 10.0).to_string(), "0.64");
        assert_eq!(
            "c".parse::<Model>().unwrap_err().to_string(),
            "unknown model \"c\"; known are a, b, time, particle, fit"
        );
    }
}
