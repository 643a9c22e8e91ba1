//! FP2MULX: chains of products in Fp2 over a class of operands, of one lane and of several, each of the product before.

use num_bigint::BigUint;
use residue_isa::opcode::evm as op;
use residue_isa::revision::rules::SlotRules;
use residue_isa::{Assembly, FieldInstruction, Fp2Lanes, Fp2Products, Revision};

use super::pair::{Expected, Pair, bytes, data, looped};
use super::set_modulus::set_modulus_operands;
use super::values::{modulus, operands, to_be};
use crate::error::LabError;

/// Executions in a turn of the loop.
const BODY: usize = 48;
/// Lanes that are measured, the first in every class of operands and the others with random ones.
const LANES: [u8; 3] = [1, 2, 8];

/// The pairs of a revision, if it has products in Fp2.
pub(super) fn pairs(
    revision: Revision,
    rules: &'static SlotRules,
    width_limbs: usize,
    classes: &[&'static str],
) -> Vec<Pair> {
    let pair = |lanes, class| pair(revision, rules, width_limbs, lanes, class);
    let one = classes.iter().filter_map(|&class| pair(1, class));
    one.chain(LANES[1..].iter().filter_map(|&lanes| pair(lanes, "random"))).collect()
}

/// With (y, x) as the element in slots 0 and 1, those from slot 2 on, which begin as (x, y), are multiplied by it.
fn pair(
    revision: Revision,
    rules: &'static SlotRules,
    width_limbs: usize,
    lanes: u8,
    class: &'static str,
) -> Option<Pair> {
    let row = revision.row(rules.mul_fp2?)?;
    let m = modulus(width_limbs);
    let element_bytes = 8 * width_limbs;
    let [x, y] = operands(class, &m);
    let expected: Expected = {
        let (m, x, y) = (m.clone(), x.clone(), y.clone());
        Box::new(move |turns: usize| {
            let step =
                |(c0, c1): (BigUint, BigUint)| ((&c0 * &y + &m * &m - &c1 * &x) % &m, (&c0 * &x + &c1 * &y) % &m);
            let (c0, c1) = (0..turns * BODY).fold((x.clone(), y.clone()), |element, _| step(element));
            let element = [c0, c1].iter().flat_map(|value| to_be(value, element_bytes)).collect::<Vec<u8>>();
            element.repeat(lanes.into())
        })
    };
    let elements = [&y, &x].into_iter().chain((0..lanes).flat_map(|_| [&x, &y]));
    let input: Vec<u8> = [&m].into_iter().chain(elements).flat_map(|value| to_be(value, element_bytes)).collect();
    let slots = 2 + 2 * lanes;
    let program = move |with: bool, turns: usize| {
        let element = element_bytes as u64; // Widens.
        let of_lanes = Fp2Lanes { c0: 2, c1: 3, stride: 2 };
        let by = Fp2Lanes { c0: 0, c1: 1, stride: 0 };
        let mut product = Vec::new();
        let operands = Fp2Products { out: of_lanes, x: of_lanes, y: by, count: lanes };
        revision.encode(&FieldInstruction::Fp2(operands), &mut product).map_err(LabError::Encode)?;
        let before = |code: &mut Assembly| {
            code.push((u64::from(slots) + 1) * element).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
            let (words, immediate) = set_modulus_operands(rules, 0, 0, 8 * element, u64::from(slots));
            words.iter().rev().for_each(|&word| _ = code.push(word));
            code.op_with(rules.set_modulus, immediate);
            code.push(slots).push(element).push(0_u8).op(rules.store);
        };
        let body = |code: &mut Assembly| data(code, product.repeat(if with { BODY } else { 0 }));
        let after = |code: &mut Assembly| {
            code.push(2 * lanes).push(2_u8).push(0_u8).op(rules.load);
            code.push(2 * u64::from(lanes) * element).push(0_u8).op(op::RETURN);
        };
        bytes(&looped(turns, before, body, after), revision)
    };
    // The class says which operands, or how many lanes of random ones.
    let class = if lanes == 1 { class.to_owned() } else { lanes.to_string() };
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
