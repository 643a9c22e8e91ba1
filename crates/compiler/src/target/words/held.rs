//! State on the stack from part to part of a sequence: the interface of this target for lowering.

use super::Words;
use crate::words::backward::{Effort, Sequence};
use crate::words::block::named_in_order;
use crate::words::field::Field;
use crate::words::held::{self, Choice, Kind, PartOps};
use crate::words::places::{Ends, Form, Place};
use crate::words::prices::Prices;
use residue_passes::{Slot, SlotOp};
use std::collections::BTreeSet;

/// A block that is compared with others.
pub struct Weighed<'a> {
    /// Times that it comes, about.
    pub times: u64,
    /// Its operations.
    pub ops: &'a [SlotOp],
    /// The slots that are read after it.
    pub kept: BTreeSet<Slot>,
    /// Words on the stack before and after it, if any.
    pub ends: Option<Ends>,
}

impl Words {
    /// The forms in which parts of a sequence hold their state on the stack; none if p is not known.
    pub fn forms(&self, parts: &[PartOps<'_>], kinds: &[Kind]) -> Option<Vec<Vec<Form>>> {
        let Field::Known(p) = &self.field else { return None };
        let constants = (self.places.first_constant, &self.constants[..]);
        let plans = &mut self.plans.borrow_mut();
        Some(held::forms(parts, kinds, p, constants, plans.signs_over(&self.field, constants)))
    }

    /// The kinds of parts of a sequence.
    pub fn kinds(&self, parts: &[PartOps<'_>]) -> Vec<Kind> {
        held::kinds(parts, self.places.first_constant)
    }

    /// True if gas is traded for shorter code.
    pub const fn is_short(&self) -> bool {
        self.prices.is_short()
    }

    /// True if code is made for the least gas, at any length.
    pub const fn is_first(&self) -> bool {
        !self.holds_numbers && !self.is_short()
    }

    /// True if numbers should stay on the stack wherever a state does.
    pub const fn holds_numbers(&self) -> bool {
        self.holds_numbers
    }

    /// The weight of blocks in all, planned for comparison, if that is below `limit`; none if it is not, or if one of them has no plan. Blocks are planned
    /// until the rest weighs too much at least.
    pub fn weight_below<'b>(&self, blocks: impl Iterator<Item = Weighed<'b>>, limit: u64) -> Option<u64> {
        let least = |block: Weighed<'b>| {
            let terms = self.terms(block.ops, &block.kept, block.ends.as_ref());
            let least = block.times * terms.least(&self.prices);
            (block, terms, least)
        };
        let blocks: Vec<_> = blocks.map(least).collect();
        let mut weight: u64 = blocks.iter().map(|(.., least)| least).sum();
        for (Weighed { times, ops, .. }, terms, least) in blocks {
            if weight >= limit {
                return None;
            }
            let planned = times * self.weight(&self.plan_terms(terms, ops, Effort::Compare)?);
            debug_assert!(planned >= least, "{planned} is below {least}");
            weight += planned - least;
        }
        (weight < limit).then_some(weight)
    }

    /// The way in which the state of these parts is held, by `choose` if that is not known; none if it is not.
    pub fn chosen(&self, parts: &[PartOps<'_>], choose: impl FnOnce() -> Option<Choice>) -> Option<Choice> {
        let named = |part: &PartOps<'_>| {
            let held = |slots: &[Slot]| slots.iter().map(|&slot| Place::Value(slot, Form::CANONICAL)).collect();
            let ends = Ends { entry: held(part.before), exit: held(part.after) };
            (named_in_order(part.ops, &BTreeSet::new(), self.places.first_constant, Some(&ends)), part.around)
        };
        let extra = self.extra_slots();
        let sequence = Sequence {
            field: self.field.clone(),
            slots: (self.places.first_constant, extra.end - extra.start, self.constants.clone()),
            parts: parts.iter().map(named).collect(),
        };
        // What is better in memory where gas alone counts stays there.
        let alone = Prices { gas: self.prices.gas, ..Prices::default() };
        let first = (sequence, false, alone);
        if let Some(None) = self.plans.borrow().states.get(&first) {
            return None;
        }
        let key = (first.0, self.holds_numbers, self.prices.clone());
        let known = self.plans.borrow().states.get(&key).cloned();
        let choice = known.unwrap_or_else(|| {
            let choice = choose();
            self.plans.borrow_mut().states.insert(key, choice.clone());
            choice
        });
        self.holds_state.set(self.holds_state.get() || choice.is_some());
        choice
    }

    /// True if the state of a sequence stays on the stack.
    pub fn holds_state(&self) -> bool {
        self.holds_state.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Places;
    use crate::target::words::Rules;
    use residue_ir::FieldOp;
    use residue_isa::assembly::Assembly;

    /// The weight of a block is that of its plan, and is below a limit if the plan's is: no better plan is cut off.
    #[test]
    fn blocks_are_below_a_limit_if_their_plans_are() {
        let text = "program \"p\" modulus 0x3fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff81 \
                    constant c0 = 0x0 function f0 \"start\" () -> () values 0 { }";
        let program = residue_ir::text::parse(text).unwrap();
        let places = Places { first_constant: 40, zero: 40, spare: 39, mont: None, is_literal: false };
        let words = Words::new(&program, Rules::default(), places, &mut Assembly::new());
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut below = |limit: u32| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 40) as u32 % limit
        };
        let form = Form { multiples: 2, is_negative: false };
        let held = |slots: [Slot; 3]| slots.map(|slot| Place::Value(slot, form)).to_vec();
        for count in 1..12 {
            let mut block = || {
                let operations = [FieldOp::Mul, FieldOp::Add, FieldOp::Sub];
                let op =
                    |out: Slot| SlotOp { operation: operations[below(3) as usize], x: below(out), y: below(out), out };
                let ops: Vec<SlotOp> = (6..12).map(op).collect();
                (1 + u64::from(below(9)), ops, below(3) == 0)
            };
            let blocks: Vec<_> = (0..count).map(|_| block()).collect();
            let weighed = || {
                blocks.iter().map(|(times, ops, is_in_memory)| match is_in_memory {
                    true => Weighed { times: *times, ops, kept: BTreeSet::from([9, 10, 11]), ends: None },
                    false => {
                        let ends = Ends { entry: held([0, 1, 2]), exit: held([11, 10, 9]) };
                        Weighed { times: *times, ops, kept: BTreeSet::new(), ends: Some(ends) }
                    }
                })
            };
            let planned = |Weighed { times, ops, kept, ends }: Weighed<'_>| {
                times * words.weight(&words.plan(ops, &kept, ends.as_ref(), Effort::Compare).expect("it is short"))
            };
            let sum: u64 = weighed().map(planned).sum();
            for limit in [u64::MAX, sum + sum / 50, sum + 1, sum, sum - 1, sum - sum / 50, sum / 2, 1, 0] {
                assert_eq!(words.weight_below(weighed(), limit), Some(sum).filter(|&sum| sum < limit), "{blocks:?}");
            }
        }
    }
}
