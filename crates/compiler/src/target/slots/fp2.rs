//! Products in Fp2 as lanes of one instruction: neighbours whose elements are at equal distances, which are rounded up to whole gas together.

use super::{modulus_size_bytes, slot_index};
use crate::pipeline::{Interface, Priced};
use residue_ir::Modulus;
use residue_isa::{FieldOp, Form, Fp2Lanes, Fp2Products};
use residue_passes::Slot;
use residue_passes::fp2::SlotFp2;

/// True if a product by its instruction, if there is one, costs less than by four multiplications and two additions.
pub(crate) fn is_cheaper(priced: &Priced<'_>, modulus: &Modulus) -> bool {
    let Priced { interface: Interface { rules, .. }, schedule, .. } = *priced;
    let Some(rules) = rules else { return false };
    if !rules.has(Form::MulFp2) {
        return false;
    }
    let width = rules.price_width(modulus_size_bytes(rules, modulus));
    let fused = schedule.formed(Form::MulFp2, width, 1);
    let of = |operation| schedule.instruction(operation, width, 1).whole();
    fused.whole() < 4 * of(FieldOp::Mul) + of(FieldOp::Add) + of(FieldOp::Sub)
}

/// Instructions for products that go one after the other.
pub fn in_lanes(products: &[SlotFp2]) -> Vec<Fp2Products> {
    let mut instructions: Vec<(Fp2Products, Vec<SlotFp2>)> = Vec::new();
    for product in products {
        let longer = instructions.last().and_then(|(lanes, of)| {
            let turned = SlotFp2 { x: product.y, y: product.x, ..*product };
            [*product, turned].into_iter().find_map(|next| Some((with(lanes, of, &next)?, next)))
        });
        match (longer, instructions.last_mut()) {
            (Some((lanes, next)), Some(last)) => {
                last.0 = lanes;
                last.1.push(next);
            }
            _ => {
                let [out, x, y] = [product.out, product.x, product.y].map(|slots| Fp2Lanes::one(slots.map(slot_index)));
                instructions.push((Fp2Products { out, x, y, count: 1 }, vec![*product]));
            }
        }
    }
    instructions.into_iter().map(|(lanes, _)| lanes).collect()
}

/// The products of an instruction.
pub fn lanes(products: &Fp2Products) -> impl Iterator<Item = SlotFp2> + use<> {
    let Fp2Products { out, x, y, count } = *products;
    (0..count).map(move |lane| {
        let [out, x, y] = [out, x, y].map(|operand| operand.slots(lane).map(Slot::from));
        SlotFp2 { out, x, y }
    })
}

/// The same instruction with a lane more, if the product can be one: its slots go on at one distance, it reads nothing that those before it write, and they
/// write none of its results.
fn with(lanes: &Fp2Products, of: &[SlotFp2], next: &SlotFp2) -> Option<Fp2Products> {
    let count = lanes.count.checked_add(1)?;
    let is_apart =
        of.iter().all(|before| next.x.iter().chain(&next.y).chain(&next.out).all(|slot| !before.out.contains(slot)));
    if !is_apart {
        return None;
    }
    let operand = |operand: Fp2Lanes, last: [Slot; 2], [c0, c1]: [Slot; 2], stride_min: Slot| {
        let stride = c0.checked_sub(last[0]).filter(|stride| *stride >= stride_min)?;
        let stride = u8::try_from(stride).ok().filter(|_| c1.checked_sub(last[1]) == Some(stride))?;
        (lanes.count == 1 || stride == operand.stride).then_some(Fp2Lanes { stride, ..operand })
    };
    let last = of.last()?;
    let out = operand(lanes.out, last.out, next.out, 1)?;
    let (x, y) = (operand(lanes.x, last.x, next.x, 0)?, operand(lanes.y, last.y, next.y, 0)?);
    Some(Fp2Products { out, x, y, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(out: [Slot; 2], x: [Slot; 2], y: [Slot; 2]) -> SlotFp2 {
        SlotFp2 { out, x, y }
    }

    /// The numbers of lanes of the instructions, which together are the products, but for the order of factors.
    fn check(products: &[SlotFp2], expected: &[u8]) {
        let instructions = in_lanes(products);
        assert_eq!(instructions.iter().map(|lanes| lanes.count).collect::<Vec<_>>(), expected);
        let same = |a: &SlotFp2, b: &SlotFp2| a.out == b.out && ((a.x, a.y) == (b.x, b.y) || (a.x, a.y) == (b.y, b.x));
        let all: Vec<SlotFp2> = instructions.iter().flat_map(lanes).collect();
        assert!(all.len() == products.len() && all.iter().zip(products).all(|(a, b)| same(a, b)), "{all:?}");
    }

    #[test]
    fn products_at_equal_distances_are_lanes() {
        let at = |lane: Slot| product([40 + 2 * lane, 41 + 2 * lane], [2 * lane, 20 + 2 * lane], [9, 8]);
        check(&[at(0), at(1), at(2)], &[3]);
        let turned = |lane| SlotFp2 { x: at(lane).y, y: at(lane).x, ..at(lane) };
        check(&[at(0), turned(1), at(2)], &[3]);
        check(&[at(0), at(1), at(3), at(4)], &[2, 2]);
        check(&[at(1), at(0)], &[1, 1]);
        // Distances differ between coefficients; the second reads or writes what the first writes.
        check(&[at(0), product([42, 44], [2, 22], [9, 8])], &[1, 1]);
        check(&[product([2, 3], [0, 1], [9, 8]), product([4, 5], [2, 3], [9, 8])], &[1, 1]);
        check(&[product([2, 3], [10, 11], [9, 8]), product([3, 4], [11, 12], [9, 8])], &[1, 1]);
        // In place.
        check(&[product([2, 3], [2, 3], [9, 8]), product([4, 5], [4, 5], [9, 8])], &[2]);
    }
}
