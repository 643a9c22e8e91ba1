//! State that stays on the stack from part to part of a sequence: what lowering asks of this target for that.

use super::Words;
use crate::words::block::{Named, named};
use crate::words::emit::Prices;
use crate::words::held::{self, Choice, Kind, PartOps};
use crate::words::places::{Ends, Form, Place};
use crate::words::terms::Field;
use residue_passes::Slot;
use std::collections::BTreeSet;

impl Words {
    /// The forms in which parts of a sequence hold their state on the stack; none if p is not known.
    pub fn forms(&self, parts: &[PartOps<'_>], kinds: &[Kind]) -> Option<Vec<Vec<Form>>> {
        let Field::Known(p) = &self.field else { return None };
        Some(held::forms(parts, kinds, p, (self.places.first_constant, &self.constants)))
    }

    /// The kinds of parts of a sequence.
    pub fn kinds(&self, parts: &[PartOps<'_>]) -> Vec<Kind> {
        held::kinds(parts, self.places.first_constant)
    }

    /// Whether code is made for the least gas, whatever its length.
    pub const fn is_first(&self) -> bool {
        !self.holds_numbers && !self.prices.is_short()
    }

    /// Whether numbers are to stay on the stack where a state does.
    pub const fn holds_numbers(&self) -> bool {
        self.holds_numbers
    }

    /// How the state of parts of these kinds is held, by `choose` if that is not known; none if it is not.
    pub fn chosen(
        &self,
        parts: &[PartOps<'_>],
        kinds: &[Kind],
        choose: impl FnOnce() -> Option<Choice>,
    ) -> Option<Choice> {
        let named = |kind: &Kind| {
            let part = &parts[kind.part];
            let held = |slots: &[Slot]| slots.iter().map(|&slot| Place::Value(slot, Form::CANONICAL)).collect();
            let ends = Ends { entry: held(part.before), exit: held(part.after) };
            named(part.ops, &BTreeSet::new(), self.places.first_constant, Some(&ends))
        };
        let kinds: Vec<Named> = kinds.iter().map(named).collect();
        let sequence = (self.field.clone(), self.places.first_constant, self.constants.clone(), kinds);
        // What is better in memory where gas alone counts stays there.
        let first = (sequence.clone(), false, Prices::GAS_ALONE);
        if let Some(None) = self.plans.borrow().states.get(&first) {
            return None;
        }
        let key = (sequence, self.holds_numbers, self.prices.bytes_a_gas);
        let known = self.plans.borrow().states.get(&key).cloned();
        let choice = known.unwrap_or_else(|| {
            let choice = choose();
            self.plans.borrow_mut().states.insert(key, choice.clone());
            choice
        });
        self.holds_state.set(self.holds_state.get() || choice.is_some());
        choice
    }

    /// Whether the state of a sequence stays on the stack.
    pub fn holds_state(&self) -> bool {
        self.holds_state.get()
    }
}
