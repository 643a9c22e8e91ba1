//! Derived constants: constants that additions make of others. They need no bytes of data, and an addition takes less
//! gas than loading a value into a slot. Formulas have many of them: small numbers, and negatives, as those of
//! conjugates.

use crate::slots::{Slot, SlotOp};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use num_bigint::BigUint;
use num_traits::Zero;
use residue_ir::FieldOp;

/// Slots of a pool of constants: loaded from data, or derived by additions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// The slot of each constant.
    pub slots: Vec<Slot>,
    /// Constants of the first slots, which data has.
    pub given: Vec<BigUint>,
    /// Operations that derive the other constants, in order.
    pub operations: Vec<SlotOp>,
}

/// Every constant from data, in their order.
pub fn all_given(constants: &[BigUint], first: Slot) -> Derived {
    Derived { slots: (first..).take(constants.len()).collect(), given: constants.to_vec(), operations: Vec::new() }
}

/// The same modulo an unknown number, at most `most`: the results hold for any. No data is needed if all are 0.
pub fn derive_any(constants: &[BigUint], most: &BigUint, first: Slot, spare: Slot) -> Derived {
    let derived = derive(constants, most, first, spare);
    if derived.given.iter().any(|given| !given.is_zero()) {
        return derived;
    }
    let zero = SlotOp { operation: FieldOp::Sub, out: first, x: first, y: first };
    Derived { given: Vec::new(), operations: vec![zero], ..derived }
}

/// Of `constants`, which are below `modulus`, those from data that two additions or subtractions do not make of smaller
/// ones. They get the slots from `first` on, equal ones the same; `spare` is a slot for values in between.
///
/// Negatives stand in the order of their positives, so that they become lanes.
pub fn derive(constants: &[BigUint], modulus: &BigUint, first: Slot, spare: Slot) -> Derived {
    let mut ascending: Vec<&BigUint> = constants.iter().filter(|constant| !constant.is_zero()).collect();
    ascending.sort();
    ascending.dedup();
    let mut search = Search { modulus, known: Vec::new(), sums: HashMap::new() };
    let mut made: Vec<(&BigUint, Vec<Step<'_>>)> = Vec::new();
    let zero = BigUint::ZERO;
    for (number, &constant) in ascending.iter().enumerate() {
        let steps = search.steps(constant).unwrap_or_default();
        search.add(constant);
        made.push((constant, steps));
        if number == 0 && constants.contains(&zero) {
            let constant = Some(constant);
            made.push((&zero, vec![Step { operation: FieldOp::Sub, x: constant, y: constant }]));
            search.add(&zero);
        }
    }
    if ascending.is_empty() {
        let given = constants.iter().take(1).cloned().collect();
        return Derived { slots: vec![first; constants.len()], given, operations: Vec::new() };
    }

    // Given ones first, as they are neighbours in elements of arrays; then sums; then negatives.
    let given = |constant: &BigUint| made.iter().any(|(made, steps)| *made == constant && steps.is_empty());
    let is_negative = |constant: &BigUint| {
        made.iter().any(|(made, steps)| {
            let from_zero = |step: &Step<'_>| step.operation == FieldOp::Sub && step.x == Some(&zero);
            *made == constant && steps.len() == 1 && steps.iter().all(from_zero)
        })
    };
    let mut seen = HashSet::new();
    let differing = constants.iter().filter(|&constant| seen.insert(constant));
    let (given, others): (Vec<&BigUint>, Vec<&BigUint>) = differing.partition(|constant| given(constant));
    let (negatives, sums): (Vec<&BigUint>, Vec<&BigUint>) = others.into_iter().partition(|other| is_negative(other));
    let mut order = [given.clone(), sums].concat();
    let mut left = negatives;
    while !left.is_empty() {
        // Those of the constants that have a place, in their order.
        let next = order.iter().find_map(|place| left.iter().position(|&negative| negative + *place == *modulus));
        order.push(left.remove(next.unwrap_or(0)));
    }
    let places: HashMap<&BigUint, Slot> = order.into_iter().zip(first..).collect();
    let operations = made.iter().flat_map(|(constant, steps)| {
        let last = steps.len().saturating_sub(1);
        let place = |operand: Option<&BigUint>| operand.map_or(spare, |operand| places[operand]);
        let places = &places;
        steps.iter().enumerate().map(move |(number, step)| SlotOp {
            operation: step.operation,
            out: if number == last { places[*constant] } else { spare },
            x: place(step.x),
            y: place(step.y),
        })
    });
    Derived {
        slots: constants.iter().map(|constant| places[constant]).collect(),
        given: given.into_iter().cloned().collect(),
        operations: operations.collect(),
    }
}

/// An operation on known constants; `None` is the result of the step before.
#[derive(Debug, Clone, Copy)]
struct Step<'a> {
    operation: FieldOp,
    x: Option<&'a BigUint>,
    y: Option<&'a BigUint>,
}

/// Known constants, and the results of one step on them.
struct Search<'a> {
    modulus: &'a BigUint,
    known: Vec<&'a BigUint>,
    sums: HashMap<BigUint, Step<'a>>,
}

impl<'a> Search<'a> {
    fn sum(&self, a: &BigUint, b: &BigUint) -> BigUint {
        (a + b) % self.modulus
    }

    fn difference(&self, a: &BigUint, b: &BigUint) -> BigUint {
        (a + self.modulus - b) % self.modulus
    }

    fn add(&mut self, constant: &'a BigUint) {
        self.known.push(constant);
        let step = |operation, x, y| Step { operation, x: Some(x), y: Some(y) };
        for other in self.known.clone() {
            let sum = self.sum(constant, other);
            self.sums.entry(sum).or_insert(step(FieldOp::Add, constant, other));
            for (x, y) in [(constant, other), (other, constant)] {
                let difference = self.difference(x, y);
                let step = step(FieldOp::Sub, x, y);
                if x.is_zero() {
                    self.sums.insert(difference, step);
                } else {
                    self.sums.entry(difference).or_insert(step);
                }
            }
        }
    }

    /// The steps to `constant`, two at most.
    fn steps(&self, constant: &BigUint) -> Option<Vec<Step<'a>>> {
        if let Some(&step) = self.sums.get(constant) {
            return Some(vec![step]);
        }
        self.known.iter().find_map(|&other| {
            let after = |value: BigUint, operation, x, y| {
                let first = *self.sums.get(&value)?;
                Some(vec![first, Step { operation, x, y }])
            };
            after(self.difference(constant, other), FieldOp::Add, None, Some(other))
                .or_else(|| after(self.sum(constant, other), FieldOp::Sub, None, Some(other)))
                .or_else(|| after(self.difference(other, constant), FieldOp::Sub, Some(other), None))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Does as `derived` says, modulo `modulus`, and compares.
    fn check(constants: &[u64], modulus: u64) -> Derived {
        let pool: Vec<BigUint> = constants.iter().map(|&constant| constant.into()).collect();
        let derived = derive(&pool, &modulus.into(), 10, 9);
        let mut slots = vec![None; 10 + constants.len()];
        for (slot, value) in (10..).zip(&derived.given) {
            slots[slot] = Some(value.clone());
        }
        for op in &derived.operations {
            let [x, y] = [op.x, op.y].map(|slot| slots[slot as usize].clone().unwrap());
            let value = match op.operation {
                FieldOp::Add => (x + y) % modulus,
                FieldOp::Sub => (x + modulus - y) % modulus,
                FieldOp::Mul => unreachable!(),
            };
            slots[op.out as usize] = Some(value);
        }
        for (constant, &slot) in pool.iter().zip(&derived.slots) {
            assert_eq!(slots[slot as usize].as_ref(), Some(constant));
        }
        derived
    }

    #[test]
    fn small_numbers_and_negatives_need_no_data() {
        let derived = check(&[0, 96, 1, 3, 57, 40, 94], 97); // 57 = −40
        assert_eq!(derived.given, [1u64, 40].map(BigUint::from));
        assert_eq!(check(&[0], 97).given, [BigUint::ZERO]);
        assert_eq!(check(&[], 97).given, []);
    }

    proptest! {
        #[test]
        fn operations_make_the_constants(pool in proptest::collection::btree_set(0u64..1_000_003, 0..30)) {
            check(&pool.into_iter().collect::<Vec<_>>(), 1_000_003);
        }

        #[test]
        fn equal_constants_share_a_slot(pool in proptest::collection::vec(0u64..5, 0..12), modulus in 5u64..7) {
            let derived = check(&pool, modulus);
            for (i, j) in (0..pool.len()).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| pool[i] == pool[j]) {
                prop_assert_eq!(derived.slots[i], derived.slots[j]);
            }
        }
    }
}
