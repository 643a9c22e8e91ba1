//! SUM2X to SUM6X: chains of sums over a class of operands, each of products of the sum before.

use num_bigint::BigUint;
use residue_isa::opcode::evm as op;
use residue_isa::revision::rules::{SUM_PRODUCTS_MAX, SlotRules};
use residue_isa::{Assembly, FieldInstruction, Revision, SumOfProducts};

use super::pair::{Expected, Pair, bytes, data, looped};
use super::set_modulus::set_modulus_operands;
use super::values::{modulus, operands, to_be};
use crate::error::LabError;

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
    let row = revision.row(rules.sums? + u8::try_from(count - 2).ok()?)?;
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
    let input: Vec<u8> = [&m, &y, &x, &x].into_iter().flat_map(|value| to_be(value, element_bytes)).collect();
    let program = move |with: bool, turns: usize| {
        let element = element_bytes as u64; // Widens.
        let mut sum = Vec::new();
        let operands = SumOfProducts::of(1, &products).expect("sums have two to six products");
        revision.encode(&FieldInstruction::Sum(operands), &mut sum).map_err(LabError::Encode)?;
        let before = |code: &mut Assembly| {
            code.push(4 * element).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
            let (words, immediate) = set_modulus_operands(rules, 0, 0, 8 * element, 3);
            words.iter().rev().for_each(|&word| _ = code.push(word));
            code.op_with(rules.set_modulus, immediate);
            code.push(3_u8).push(element).push(0_u8).op(rules.store);
        };
        let body = |code: &mut Assembly| data(code, sum.repeat(if with { BODY } else { 0 }));
        let after = |code: &mut Assembly| {
            code.push(1_u8).push(1_u8).push(0_u8).op(rules.load);
            code.push(element).push(0_u8).op(op::RETURN);
        };
        bytes(&looped(turns, before, body, after), revision)
    };
    Some(Pair {
        name: format!("{revision}/{}/{}/{class}", row.mnemonic, 64 * width_limbs),
        mnemonic: row.mnemonic,
        count: BODY,
        pops: 0,
        program: Box::new(program),
        input,
        expected: Some(expected),
        turns: None,
        is_cold_measured: false,
    })
}
