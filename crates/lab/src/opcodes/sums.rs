//! SUM2X to SUM6X: chains of sums over a class of operands, each of products of the sum before.

use num_bigint::BigUint;
use residue_isa::field_instruction::SUM_PRODUCTS_MAX;
use residue_isa::revision::rules::SlotRules;
use residue_isa::{Form, Revision, SumOfProducts};

use super::chain::Chain;
use super::pair::{Expected, Pair};
use super::values::{modulus, operands, to_be};

/// Executions in a turn of the loop.
const BODY: usize = 48;

/// The pairs of a revision, if it has sums: one for each number of products and each class of operands.
pub(super) fn pairs(
    revision: Revision,
    rules: &'static SlotRules,
    width_limbs: usize,
    classes: &[&'static str],
) -> Vec<Pair> {
    // Without sums no number of products has a row.
    let pair = |count, &class| pair(revision, rules, width_limbs, count, class);
    (2..=SUM_PRODUCTS_MAX).flat_map(|count| classes.iter().filter_map(move |class| pair(count, class))).collect()
}

/// With y, x and x in slots 0 to 2, slot 1 becomes s₁·s₀ − s₂·s₀ + s₁·s₀ − s₁·s₀ …: s ↦ (a·s − x)·y for a = 1, or 2 where an odd number
/// of products is summed.
fn pair(
    revision: Revision,
    rules: &'static SlotRules,
    width_limbs: usize,
    count: usize,
    class: &'static str,
) -> Option<Pair> {
    let row = revision.row(rules.opcode(Form::sum(u8::try_from(count).ok()?)?)?)?;
    let m = modulus(width_limbs);
    let element_bytes = 8 * width_limbs;
    let [x, y] = operands(class, &m);
    let products: Vec<(bool, [u8; 2])> =
        (0..count).map(|number| (number % 2 == 1, [if number == 1 { 2 } else { 1 }, 0])).collect();
    let a = 1 + count % 2;
    let expected = {
        let (m, x, y) = (m.clone(), x.clone(), y.clone());
        move |turns: usize| {
            let step = |s: BigUint| (s * a + &m - &x) * &y % &m;
            to_be(&(0..turns * BODY).fold(x.clone(), |s, _| step(s)), element_bytes)
        }
    };
    let expected: Expected = Box::new(expected);
    let sum = SumOfProducts::of(1, &products).expect("sums have two to six products");
    let chain = Chain {
        row,
        class: class.to_owned(),
        instruction: sum.into(),
        count: BODY,
        modulus: m,
        slots: 3,
        stored: vec![y, x.clone(), x],
        returned: (1, 1),
        expected,
    };
    Some(chain.pair(revision, rules, width_limbs))
}
