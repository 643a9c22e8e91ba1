//! State of a sequence that stays on the stack from part to part: the form of its values, and their order.
//!
//! A part finds the state on the stack, above the address of the next part, and leaves the new state there, below that
//! address. So nothing of it goes through memory, and words need not be canonical: each value is held below a multiple
//! of p that is the same for all parts, and as itself or its negative. Candidates with little gas are found by
//! counting, one value at a time, and the best of them by plans.

use super::field::Field;
use super::places::{Ends, Form, Place};
use super::terms::{KnownSigns, terms_known};
use foldhash::{HashMap, HashMapExt, HashSet};
use num_bigint::BigUint;
use residue_ir::FieldOp;
use residue_passes::{Slot, SlotOp};
use std::collections::{BTreeMap, BTreeSet};

/// Choice of the form of a state on the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Form of each value.
    pub forms: Vec<Form>,
    /// The values by their numbers, the lowest first.
    pub order: Vec<usize>,
    /// Words below them.
    pub below: Vec<Place>,
}

/// A part as far as forms depend on it.
#[derive(Debug)]
pub struct PartOps<'a> {
    /// Its operations.
    pub ops: &'a [SlotOp],
    /// The slots of the state before it.
    pub before: &'a [Slot],
    /// The same after it.
    pub after: &'a [Slot],
    /// Its surroundings.
    pub around: Around,
}

/// The surroundings of a part's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Around {
    /// Times that it comes, about.
    pub weight: u64,
    /// Rows that it takes, whose addresses lie above the next one.
    pub takes: usize,
    /// True if the next part is one whose address lies on the stack.
    pub has_next: bool,
}

/// Multiples of p that are tried as bounds.
const MULTIPLES_MAX: u32 = 4;

/// Forms of a state for which parts take little gas by count, the least first; `kinds` are those of the parts.
pub fn forms(
    parts: &[PartOps<'_>],
    kinds: &[Kind],
    p: &BigUint,
    constants: (Slot, &[BigUint]),
    known: &mut KnownSigns,
) -> Vec<Vec<Form>> {
    let count = parts.first().map_or(0, |part| part.before.len());
    let field = Field::Known(p.clone());
    let gas = known.gas();
    let mut cost = |forms: &[Form]| -> u64 {
        let of = |&Kind { part, weight }: &Kind| {
            let part = &parts[part];
            let held =
                |slots: &[Slot]| slots.iter().zip(forms).map(|(&slot, &form)| Place::Value(slot, form)).collect();
            let ends = Ends { entry: held(part.before), exit: held(part.after) };
            weight * terms_known(part.ops, &BTreeSet::new(), &field, constants, Some(&ends), known).gas(&gas)
        };
        kinds.iter().map(of).sum()
    };
    // A value that is taken away is taken from its bound.
    let largest = (1..=MULTIPLES_MAX).rev().find(|&multiples| (p * (multiples + 1)).bits() <= 256).unwrap_or(1);
    let mut best = vec![Form { multiples: largest.min(2), is_negative: false }; count];
    let mut tried: BTreeMap<Vec<Form>, u64> = BTreeMap::new();
    loop {
        let before = best.clone();
        let turned = (0..count).map(|at| {
            let mut turned = before.clone();
            turned[at].is_negative ^= true;
            turned
        });
        let bounded =
            (1..=largest).map(|multiples| before.iter().map(|form| Form { multiples, ..*form }).collect::<Vec<Form>>());
        for forms in turned.chain(bounded) {
            tried.entry(forms).or_insert_with_key(|forms| cost(forms));
        }
        let mut ranked: Vec<_> = tried.iter().collect();
        ranked.sort_by_key(|(_, gas)| **gas);
        best.clone_from(ranked[0].0);
        if best == before {
            return ranked.into_iter().take(FORMS_MAX).map(|(forms, _)| forms.clone()).collect();
        }
    }
}

/// Number of forms that are compared by plans.
const FORMS_MAX: usize = 4;

/// Operations up to renaming of slots: operands are distances back to their definitions, constants, or other slots in
/// order of first use.
type Shape = Vec<(FieldOp, [(u8, u32); 2])>;

/// Parts that differ in nothing but slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// One of them.
    pub part: usize,
    /// Estimated frequency of the kind.
    pub weight: u64,
}

/// The kinds of parts; slots from `first_constant` on are constants.
pub fn kinds(parts: &[PartOps<'_>], first_constant: Slot) -> Vec<Kind> {
    let mut known: HashMap<(Shape, Vec<(u8, u32)>), usize> = HashMap::new();
    let mut kinds: Vec<Kind> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let mut names: HashMap<Slot, u32> = part.before.iter().copied().zip(0..).collect();
        let mut next = 0..;
        let mut name = |names: &mut HashMap<Slot, u32>, slot: Slot| match slot >= first_constant {
            true => (1, slot),
            false => (0, *names.entry(slot).or_insert_with(|| OTHERS + next.next().expect("slots end before"))),
        };
        let mut shape = Shape::new();
        for (op, made) in part.ops.iter().zip(RESULTS..) {
            let operands = [name(&mut names, op.x), name(&mut names, op.y)];
            shape.push((op.operation, operands));
            names.insert(op.out, made);
        }
        let after = part.after.iter().map(|&slot| name(&mut names, slot)).collect();
        let place = *known.entry((shape, after)).or_insert(kinds.len());
        match kinds.get_mut(place) {
            Some(kind) => kind.weight += part.around.weight,
            None => kinds.push(Kind { part: number, weight: part.around.weight }),
        }
    }
    kinds
}

/// First name of slots that are not of the state, and of results.
const OTHERS: u32 = 1 << 8;
const RESULTS: u32 = 1 << 20;

/// The best order of `count` values: exchanges of two, the one that helps most, as long as one does. `cost` is the cost
/// of an order if it is below a limit.
pub fn best_order(count: usize, mut cost: impl FnMut(&[usize], u64) -> Option<u64>) -> Option<Vec<usize>> {
    let mut best: Vec<usize> = (0..count).collect();
    let mut least = cost(&best, u64::MAX);
    let mut seen = HashSet::from_iter([best.clone()]);
    loop {
        let before = best.clone();
        let pairs = (0..count).flat_map(|at| (at + 1..count).map(move |other| (at, other)));
        for (at, other) in pairs {
            let mut tried = before.clone();
            tried.swap(at, other);
            if !seen.insert(tried.clone()) {
                continue;
            }
            if let Some(weight) = cost(&tried, least.unwrap_or(u64::MAX)) {
                (best, least) = (tried, Some(weight));
            }
        }
        if best == before {
            return least.map(|_| best);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same as [`best_order`], but that every order is counted in full.
    fn best_of_all_counted(count: usize, cost: impl Fn(&[usize]) -> Option<u64>) -> Option<Vec<usize>> {
        let mut best: Vec<usize> = (0..count).collect();
        loop {
            let before = best.clone();
            for (at, other) in (0..count).flat_map(|at| (at + 1..count).map(move |other| (at, other))) {
                let mut tried = before.clone();
                tried.swap(at, other);
                if cost(&tried).is_some_and(|weight| cost(&best).is_none_or(|least| weight < least)) {
                    best = tried;
                }
            }
            if best == before {
                return cost(&best).map(|_| best);
            }
        }
    }

    #[test]
    fn an_order_is_the_same_whether_all_are_counted_in_full() {
        let mut changed = 0;
        for (count, seed) in (0..6).flat_map(|count| (0..60u64).map(move |seed| (count, seed))) {
            // Few costs, so that many are equal; some orders have none.
            let cost = |order: &[usize]| {
                let hash = order
                    .iter()
                    .fold(seed + 1, |hash, &at| (hash ^ at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
                (hash % 5 > 0).then_some(hash >> 32 & 15)
            };
            let found = best_order(count, |order, limit| cost(order).filter(|&cost| cost < limit));
            assert_eq!(found, best_of_all_counted(count, cost), "{count} values, seed {seed}");
            changed += usize::from(found.is_some_and(|order| !order.is_sorted()));
        }
        assert!(changed > 100, "{changed}");
    }
}
