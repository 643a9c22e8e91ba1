//! The specification of each revision, and the prices of a gas schedule as it takes them.
//!
//! The specification has a list and names of its own, as it imports nothing of ours; the test here holds the two lists together.

#![forbid(unsafe_code)]

use residue_isa::{Family, FieldOp, GasSchedule, PerOp, Price, Revision, SlotRules, WidthPrices};
use residue_spec::{ByWidth, Narrow, Prices};

/// The executable specification of a revision.
pub fn specified(revision: Revision) -> &'static residue_spec::Revision {
    residue_spec::Revision::named(revision.name()).expect("every revision has a specification, which a test holds")
}

/// The prices of a schedule as the specification takes them: whole gas, a fraction rounded up.
pub fn spec_prices(schedule: &GasSchedule, revision: Revision) -> Prices {
    let base = |mnemonic| schedule.base(mnemonic).map(Price::whole);
    let base = revision.opcodes().iter().filter_map(|row| Some((row.mnemonic, base(row.mnemonic)?)));
    let mut prices = Prices::of_base(schedule.name(), &base.collect::<Vec<_>>());
    prices.evm = schedule.evm_overrides().map(|(opcode, price)| (opcode, price.whole())).collect();
    if !matches!(revision.family(), Family::Memory384 | Family::Words) {
        let unit = |price: Price| if schedule.rounds_instructions() { price.0 } else { price.whole() };
        let table = |of: fn(&WidthPrices) -> Price| {
            let widths = 1..=revision.width_limbs_max();
            ByWidth(widths.map(|width_limbs| unit(of(&schedule.at_width(width_limbs)))).collect())
        };
        prices.set_modulus = table(|width| width.set_modulus);
        if revision.slot_rules().is_some_and(|rules| rules.prices_starts) {
            prices.start = Some(table(|width| width.start));
        }
        prices.add = table(|width| width.arithmetic[FieldOp::Add]);
        prices.sub = table(|width| width.arithmetic[FieldOp::Sub]);
        prices.mul = table(|width| width.arithmetic[FieldOp::Mul]);
        if revision.prices_squares() {
            prices.square = Some(table(|width| width.square));
        }
        prices.load = table(|width| width.load);
        prices.store = table(|width| width.store);
        for price in revision.slot_rules().into_iter().flat_map(SlotRules::form_prices) {
            let widths = 1..=revision.width_limbs_max();
            let prices_of = widths.map(|width_limbs| unit(schedule.at_width(width_limbs).forms[price]));
            prices.added.insert(price.key(), ByWidth(prices_of.collect()));
        }
        prices.copy_per_word = schedule.transfer_per_word().whole();
        prices.in_thousandths = schedule.rounds_instructions();
        prices.narrow = schedule.has_narrow().then(|| {
            let WidthPrices { set_modulus, arithmetic: PerOp([add, sub, mul]), load, store, .. } = schedule.at_width(0);
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
    fn both_lists_have_the_same_revisions_in_the_same_order() {
        let ours: Vec<_> = Revision::every().map(Revision::name).collect();
        let specified = residue_spec::Revision::ALL.iter().chain(residue_spec::Revision::BESIDE);
        let specified: Vec<_> = specified.map(|revision| revision.name).collect();
        assert_eq!(ours, specified);
    }

    /// Opcodes are written twice too: that they are the same shows that no name stands for another revision.
    #[test]
    fn a_revision_has_the_opcodes_of_its_specification() {
        for revision in Revision::every() {
            let mut ours: Vec<_> = revision.opcodes().iter().map(|row| (row.byte, row.mnemonic)).collect();
            let opcodes = specified(revision).opcodes.iter();
            let mut specified: Vec<_> = opcodes.map(|opcode| (opcode.byte, opcode.mnemonic)).collect();
            ours.sort_unstable();
            specified.sort_unstable();
            assert_eq!(ours, specified, "{revision}");
            assert_eq!(revision.prefix(), super::specified(revision).prefix, "{revision}");
        }
    }
}
