//! FP6MULX: chains of products in Fp6 over a class of operands, each of the product before, with v³ = 1 + u, and with others on random operands.

use num_bigint::BigUint;
use residue_isa::revision::rules::SlotRules;
use residue_isa::{Form, Fp6Product, Revision};

use super::chain::Chain;
use super::pair::{Expected, Pair};
use super::values::{modulus, operands, to_be};

/// Executions in a turn of the loop.
const BODY: usize = 16;
/// ξ, the first in every class of operands and the others with random ones: BLS12-381's, BN254's and the largest.
const NONRESIDUES: [[u8; 2]; 3] = [[1, 1], [9, 1], [255, 255]];

/// The pairs of a revision, if it has products in Fp6.
pub(super) fn pairs(
    revision: Revision,
    rules: &'static SlotRules,
    width_limbs: usize,
    classes: &[&'static str],
) -> Vec<Pair> {
    let pair = |xi, class| pair(revision, rules, width_limbs, xi, class);
    let one = classes.iter().filter_map(|&class| pair(NONRESIDUES[0], class));
    one.chain(NONRESIDUES[1..].iter().filter_map(|&xi| pair(xi, "random"))).collect()
}

/// The element (x, y, x, y, x, y) in slots 6 to 11 is multiplied by (y, x, y, x, y, x) in slots 0 to 5.
fn pair(
    revision: Revision,
    rules: &'static SlotRules,
    width_limbs: usize,
    xi: [u8; 2],
    class: &'static str,
) -> Option<Pair> {
    let row = revision.row(rules.opcode(Form::MulFp6)?)?;
    let m = modulus(width_limbs);
    let element_bytes = 8 * width_limbs;
    let [x, y] = operands(class, &m);
    let [by, start] = [[&y, &x], [&x, &y]].map(|pair| [pair; 3].map(|pair| pair.map(BigUint::clone)));
    let stored = by.iter().chain(&start).flatten().cloned().collect();
    let modulus = m.clone();
    let expected: Expected = Box::new(move |turns: usize| {
        let product = (0..turns * BODY).fold(start.clone(), |element, _| product(&element, &by, xi, &m));
        product.iter().flatten().flat_map(|value| to_be(value, element_bytes)).collect()
    });
    let (by, of) = ([0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]);
    // The class says which operands, or which ξ random ones have.
    let class = if xi == NONRESIDUES[0] { class.to_owned() } else { xi[0].to_string() };
    let instruction = Fp6Product { out: of, x: of, y: by, xi }.into();
    let chain = Chain { row, class, instruction, count: BODY, modulus, slots: 12, stored, returned: (6, 6), expected };
    Some(chain.pair(revision, rules, width_limbs))
}

/// The coefficients of 1, v and v².
type Element = [[BigUint; 2]; 3];

fn product(x: &Element, y: &Element, xi: [u8; 2], m: &BigUint) -> Element {
    let times = |[a, b]: &[BigUint; 2], [c, d]: &[BigUint; 2]| [(a * c + m * m - b * d) % m, (a * d + b * c) % m];
    let xi = xi.map(BigUint::from);
    let mut result = Element::default();
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            let product = times(x, y);
            let product = if i + j < 3 { product } else { times(&product, &xi) };
            for (sum, part) in result[(i + j) % 3].iter_mut().zip(product) {
                *sum = (&*sum + part) % m;
            }
        }
    }
    result
}
