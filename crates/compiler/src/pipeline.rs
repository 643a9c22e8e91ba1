//! Passes over programs as rows, in the order in which they run: each with the interfaces that it is for.
//!
//! ARCHITECTURE has the whole way from a program to code. The passes of [`SPECIALISATIONS`] depend on the interface alone, so their results serve
//! every schedule; those of [`FUSIONS`] depend on its prices too.

use crate::dialect::Dialect;
use crate::features::has_feature;
use crate::fuse::Fusions;
use crate::target::slots::{fp2, fp6};
use crate::words;
use residue_ir::program::Program;
use residue_isa::field_instruction::SUM_PRODUCTS_MAX;
use residue_isa::revision::Family;
use residue_isa::{Form, GasSchedule, Revision, SlotRules};
use residue_passes::simplify::simplify;
use residue_passes::specialise::{asks, specialise};
use residue_passes::sums::gather;
use residue_passes::{SmallMultiples, choices, comparisons, multiples};
use std::borrow::Cow;
use std::sync::Arc;

/// Interface that code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interface {
    pub revision: Revision,
    /// The revision's rules, if it has slots.
    pub rules: Option<&'static SlotRules>,
    /// The hard fork, portability and precompiles.
    pub dialect: Dialect,
}

/// An interface with the prices that choose between ways.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Priced<'a> {
    pub interface: Interface,
    pub schedule: &'a GasSchedule,
    /// Blocks that were fused for some revision.
    pub fusions: &'a Arc<Fusions>,
}

impl Interface {
    pub fn new(revision: Revision, dialect: Dialect) -> Self {
        Self { revision, rules: revision.slot_rules(), dialect }
    }

    /// True if the revision has slots, and rules that satisfy the condition.
    fn rules_with(&self, holds: impl FnOnce(&SlotRules) -> bool) -> bool {
        self.rules.is_some_and(holds)
    }
}

/// A program as it was written, which evidence is about, and as it will be lowered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stage<'a> {
    pub source: Cow<'a, Program>,
    pub simplified: Cow<'a, Program>,
    pub multiples: SmallMultiples,
}

impl<'a> Stage<'a> {
    /// The source simplified, with small multiples made in the given way.
    pub fn simplified(source: Cow<'a, Program>, multiples: SmallMultiples) -> Self {
        let mut simplified = Program::clone(&source);
        for unit in &mut simplified.subprograms {
            simplify(unit);
            multiples::make(unit, multiples);
        }
        simplify(&mut simplified);
        multiples::make(&mut simplified, multiples);
        Self { source, simplified: Cow::Owned(simplified), multiples }
    }

    pub fn borrowed(&self) -> Stage<'_> {
        let [source, simplified] = [&self.source, &self.simplified].map(|program| Cow::Borrowed(&**program));
        Stage { source, simplified, multiples: self.multiples }
    }

    pub fn into_owned(self) -> Stage<'static> {
        let [source, simplified] = [self.source, self.simplified].map(|program| Cow::Owned(program.into_owned()));
        Stage { source, simplified, multiples: self.multiples }
    }

    /// After every pass of [`SPECIALISATIONS`] that applies.
    pub fn specialised(self, interface: &Interface) -> Self {
        SPECIALISATIONS.iter().fold(self, |stage, pass| match (pass.applies)(interface, &stage.source) {
            true => (pass.run)(stage, interface),
            false => stage,
        })
    }

    /// Both programs made others, and what was simplified before simplified again.
    fn each(self, made: impl Fn(&Program) -> Program) -> Self {
        let mut simplified = made(&self.simplified);
        simplified.subprograms.iter_mut().for_each(simplify);
        simplify(&mut simplified);
        Self { source: Cow::Owned(made(&self.source)), simplified: Cow::Owned(simplified), multiples: self.multiples }
    }

    /// The source changed, and all of it simplified anew.
    fn changed(mut self, change: impl FnOnce(&mut Program)) -> Self {
        change(self.source.to_mut());
        Self::simplified(self.source, self.multiples)
    }
}

/// A pass that prices do not decide.
struct Specialisation {
    /// True if the pass is for the interface and the program.
    applies: fn(&Interface, &Program) -> bool,
    run: for<'a> fn(Stage<'a>, &Interface) -> Stage<'a>,
}

/// Feature specialisation, if-conversion, comparison rewriting, preparation for words.
const SPECIALISATIONS: [Specialisation; 4] = [
    Specialisation {
        applies: |_, source| asks(source),
        run: |stage, &Interface { revision, dialect, .. }| {
            let source = stage.source.clone();
            stage.each(|program| specialise(program, |feature| has_feature(&source, revision, dialect, feature)))
        },
    },
    Specialisation {
        applies: |interface, _| interface.rules_with(|rules| rules.has(Form::Select)),
        run: |stage, _| stage.changed(choices::hoist),
    },
    Specialisation {
        applies: |interface, _| interface.rules_with(|rules| rules.has(Form::Equal)),
        run: |stage, interface| {
            let has_order = interface.rules_with(|rules| rules.has(Form::Less));
            stage.changed(|source| comparisons::compare(source, has_order))
        },
    },
    Specialisation {
        applies: |interface, _| interface.revision.family() == Family::Words,
        run: |stage, _| stage.each(words::prepare::prepare),
    },
];

/// A pass that fuses operations of a unit into one instruction.
struct Fusion {
    /// True if the interface has the instruction, and it is cheaper than the operations.
    applies: fn(&Priced<'_>, &Program) -> bool,
    run: fn(&mut Program),
}

/// Sums of products, products in Fp2, products in Fp6.
const FUSIONS: [Fusion; 3] = [
    Fusion {
        applies: |priced, _| priced.interface.rules_with(|rules| rules.has(Form::Sum6)),
        run: |unit| gather(unit, SUM_PRODUCTS_MAX),
    },
    Fusion { applies: |priced, unit| fp2::is_cheaper(priced, &unit.modulus), run: residue_passes::fp2::gather },
    Fusion { applies: |priced, unit| fp6::is_cheaper(priced, &unit.modulus), run: residue_passes::fp6::gather },
];

/// Every pass of [`FUSIONS`] that applies to a unit.
pub(crate) fn fuse(unit: &mut Program, priced: &Priced<'_>) {
    for fusion in &FUSIONS {
        if (fusion.applies)(priced, unit) {
            (fusion.run)(unit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use residue_ir::{Machine, evaluate, record, text, verify};
    use residue_isa::form::PerForm;

    /// A revision that has SELECTX and EQX gets both passes: arms are empty, and the difference is not computed.
    #[test]
    fn every_pass_that_applies_runs() {
        let source = record("both", &BigUint::from(97u8), |machine| {
            let [x, y] = [0, 1].map(|offset| machine.parse(machine.small(offset), 1));
            let is_equal = machine.is_zero(x - y);
            let chosen = machine.branch(is_equal, |_| x + x, |_| x * y);
            machine.return_elements([chosen], 1);
        });
        let selects = Revision::XSelectx;
        let with = |forms| SlotRules { forms: PerForm::of(forms), ..*selects.slot_rules().unwrap() };
        let [neither, one, both] = [with(&[]), with(&[Form::Equal]), with(&[Form::Select, Form::Equal])];
        let is_left = |rules: SlotRules| {
            let rules = Some(&*Box::leak(Box::new(rules)));
            let interface = Interface { rules, ..Interface::new(selects, Dialect::default()) };
            let stage = Stage::simplified(Cow::Borrowed(&source), SmallMultiples::AsWritten).specialised(&interface);
            verify(&stage.source).unwrap();
            for input in [[5, 5], [5, 7], [0, 0], [96, 1]] {
                assert_eq!(evaluate(&stage.simplified, &input), evaluate(&source, &input));
            }
            let text = text::print(&stage.simplified);
            let (_, arms) = text.split_once("branch").unwrap();
            [text.contains(" = sub "), arms.contains(" = mul ")]
        };
        assert_eq!(is_left(neither), [true, true]);
        assert_eq!(is_left(*selects.slot_rules().unwrap()), [true, false]);
        assert_eq!(is_left(one), [false, true]);
        assert_eq!(is_left(both), [false, false]);
    }
}
