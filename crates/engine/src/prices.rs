//! Prices of the field instructions in flat arrays of whole gas, copied from a gas schedule when an EVM is built.
//!
//! Execution meters whole gas, so a fractional price is rounded up here, once a lane; the exact gas under a fractional
//! schedule is computed from [`crate::Counts`] after the run. Only schedules that themselves round, once an
//! instruction, keep prices in thousandths.

use alloc::sync::Arc;

use residue_isa::form::{PerFormPrice, Priced};
use residue_isa::opcode::evm::{DUP1, DUP16, JUMP, JUMPDEST, PUSH1, PUSH32};
use residue_isa::{FieldOp, Form, GasSchedule, PerOp, Price, Revision};

use crate::batch::credit::Rate;
use crate::batch::tuning::PAYING_LIMBS;

/// Gas of a push or a copy, of a jump and of a jump target: Yellow Paper, appendix G, Gverylow, Gmid and Gjumpdest.
const VERY_LOW: u64 = 3;
const MID: u64 = 8;
const JUMP_TARGET: u64 = 1;

/// Whole gas for everything a field instruction may be charged for.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    /// Base price by opcode of the revision's instructions and of the opcodes between them in blocks: pushes, copies,
    /// jumps and their targets. Zero elsewhere.
    pub base: [u64; 256],
    /// By width of the modulus in limbs; entry 0 is for at most 32 bits, where a schedule has prices for them.
    pub per_width: Arc<[WidthPrices]>,
    /// For each begun 32 bytes loaded or stored modulo a power of two; none if that is priced by value.
    pub transfer_per_word: Option<u64>,
    /// Cycles of planning paid for by a gas.
    pub rate: Rate,
}

/// Prices that depend on the width of the modulus.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WidthPrices {
    /// A new odd modulus.
    pub set_modulus: u64,
    /// An arithmetic instruction, beside its lanes.
    pub start: u64,
    /// A lane of each operation.
    pub lane: PerOp<u64>,
    /// A lane of a square, where those have a price of their own.
    pub square: u64,
    /// A value loaded.
    pub load: u64,
    /// A value stored, or brought into Montgomery form.
    pub store: u64,
    /// Those of forms.
    pub forms: PerFormPrice<u64>,
    /// True if all these are thousandths of gas, rounded up for each instruction.
    pub in_thousandths: bool,
}

impl Prices {
    pub fn new(schedule: &GasSchedule, revision: Revision) -> Self {
        let mut base = [0; 256];
        base[usize::from(PUSH1)..=usize::from(PUSH32)].fill(VERY_LOW);
        base[usize::from(DUP1)..=usize::from(DUP16)].fill(VERY_LOW);
        base[usize::from(JUMP)] = MID;
        base[usize::from(JUMPDEST)] = JUMP_TARGET;
        for (opcode, price) in schedule.evm_overrides() {
            let base = &mut base[usize::from(opcode)];
            *base = if *base == 0 { 0 } else { price.whole() };
        }
        for row in revision.opcodes() {
            base[usize::from(row.byte)] = schedule.base(row.mnemonic).map_or(0, |price| price.whole());
        }
        let at_width = |width_limbs| match width_limbs {
            0 if !schedule.has_narrow() => WidthPrices::default(),
            _ => WidthPrices::new(schedule, width_limbs),
        };
        let per_width = (0..=revision.width_limbs_max()).map(at_width).collect();
        let transfer_per_word = schedule.prices_words().then(|| schedule.transfer_per_word().whole());
        let rate = rate(schedule, revision);
        Self { base, per_width, transfer_per_word, rate }
    }
}

/// By the price of a product of 384 bits, or of as many as the revision has.
fn rate(schedule: &GasSchedule, revision: Revision) -> Rate {
    let width_limbs = revision.width_limbs_max().min(PAYING_LIMBS);
    Rate::new(schedule.instruction(FieldOp::Mul, width_limbs, 1).whole())
}

impl WidthPrices {
    fn new(schedule: &GasSchedule, width_limbs: usize) -> Self {
        let in_thousandths = schedule.rounds_instructions();
        let unit = |price: Price| if in_thousandths { price.0 } else { price.whole() };
        let prices = schedule.at_width(width_limbs);
        Self {
            set_modulus: unit(prices.set_modulus),
            start: unit(prices.start),
            lane: prices.arithmetic.map(unit),
            square: unit(prices.square),
            load: unit(prices.load),
            store: unit(prices.store),
            forms: PerFormPrice(prices.forms.0.map(unit)),
            in_thousandths,
        }
    }

    /// Whole gas for an arithmetic instruction of `count` lanes, without its base.
    #[inline(always)]
    pub fn lanes(&self, operation: FieldOp, count: u64) -> u64 {
        self.times(self.start + self.lane[operation] * count, 1)
    }

    /// The same for a square, where those have a price of their own.
    #[inline(always)]
    pub fn squares(&self, count: u64) -> u64 {
        self.times(self.start + self.square * count, 1)
    }

    /// Whole gas for an instruction of a form with `count` lanes, without its base.
    #[inline(always)]
    pub fn charge(&self, form: Form, count: u64, is_odd: bool) -> u64 {
        let mut cost = 0;
        for charge in form.row().charges {
            let price = match charge.price {
                Priced::Load => self.load,
                Priced::Form(price) => self.forms[price],
            };
            cost += price * charge.times(count, is_odd);
        }
        self.times(cost, 1)
    }

    /// Whole gas for `count` times a price of these.
    #[inline(always)]
    pub fn times(&self, price: u64, count: u64) -> u64 {
        if self.in_thousandths { (price * count).div_ceil(1000) } else { price * count }
    }
}

/// Gas of `words` words of memory in a frame: 3·words + ⌊words² / 512⌋ (Yellow Paper, appendix H.1). Saturates.
pub(crate) const fn memory_cost(words: u64) -> u64 {
    words.saturating_mul(3).saturating_add(words.saturating_mul(words) / 512)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_costs_what_revm_charges_under_every_fork() {
        for fork in crate::Fork::ALL {
            let params = revm::context_interface::cfg::GasParams::new_spec(crate::fork::spec_id(fork));
            for words in [0, 1, 2, 22, 23, 768, 1 << 21, 1 << 30, 1 << 40, u64::MAX / 32] {
                let in_usize = usize::try_from(words).unwrap();
                assert_eq!(memory_cost(words), params.memory_cost(in_usize), "{fork} {words}");
            }
        }
    }

    #[test]
    fn prices_of_the_eip_arrive_in_the_arrays() {
        let revision = Revision::Eip6690_2024;
        let prices = Prices::new(&GasSchedule::named("eip6690", revision).unwrap(), revision);
        assert_eq!(prices.base[0xc0..0xc6], [1, 1, 1, 0, 0, 0]);
        assert_eq!(prices.per_width[6].set_modulus, 39);
        assert_eq!(prices.per_width[6].lane, PerOp([1, 1, 3]));
        assert_eq!((prices.per_width[12].load, prices.per_width[12].store), (12, 12));
        assert_eq!(prices.transfer_per_word, Some(3));
    }
}
