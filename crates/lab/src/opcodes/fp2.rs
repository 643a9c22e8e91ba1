//! FP2MULX: chains of products in Fp2 over a class of operands, of one lane and of several, each of the product before.

use num_bigint::BigUint;
use residue_isa::revision::rules::SlotRules;
use residue_isa::{Form, Fp2Lanes, Fp2Products, Revision};

use super::chain::Chain;
use super::pair::{Expected, Pair};
use super::values::{modulus, operands, to_be};

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
    let row = revision.row(rules.opcode(Form::MulFp2)?)?;
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
    let stored = elements.cloned().collect();
    let of_lanes = Fp2Lanes { c0: 2, c1: 3, stride: 2 };
    let by = Fp2Lanes { c0: 0, c1: 1, stride: 0 };
    let instruction = Fp2Products { out: of_lanes, x: of_lanes, y: by, count: lanes }.into();
    // The class says which operands, or how many lanes of random ones.
    let class = if lanes == 1 { class.to_owned() } else { lanes.to_string() };
    let (slots, returned) = (2 + 2 * lanes, (2, 2 * lanes));
    let chain = Chain { row, class, instruction, count: BODY, modulus: m, slots, stored, returned, expected };
    Some(chain.pair(revision, rules, width_limbs))
}
