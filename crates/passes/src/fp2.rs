//! Products in Fp2 = Fp[u] with u² = −1 that an interface makes with one instruction: found in blocks, and brought together.
//!
//! A product is a pair of sums over the same four values, x₀·y₀ − x₁·y₁ and x₀·y₁ + x₁·y₀, whose products have no other
//! readers. Towers over another u² have a multiple of x₁·y₁ and are not found. After [`gather`] its operations are
//! contiguous, at the place of the first of its sums: all their operands are in slots there, and nothing between reads
//! the second.

use crate::Slot;
use crate::fused::{self, Fused};
use crate::sums::{Sum, readings, sums};
use foldhash::{HashMap, HashMapExt};
use residue_ir::program::{Block, Function, Operand, Program, Value};
use std::collections::BTreeSet;

/// A product in Fp2 of elements in slots, that of the coefficient of 1 first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotFp2 {
    /// Slots written.
    pub out: [Slot; 2],
    /// The first factor.
    pub x: [Slot; 2],
    /// The second factor.
    pub y: [Slot; 2],
}

/// A product in Fp2 in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fp2 {
    /// Positions of its operations in the block.
    members: BTreeSet<usize>,
    /// The operations that define its coefficients, that of 1 first.
    pub roots: [usize; 2],
    /// The first factor.
    pub x: [Operand; 2],
    /// The second factor.
    pub y: [Operand; 2],
}

impl Fp2 {
    /// The product of two sums, if they are one: of x₀·y₀ − x₁·y₁ and the sum of x₀·y₁ and x₁·y₀ in any order.
    fn of(first: &Sum, second: &Sum) -> Option<Self> {
        let &[(false, [x0, y0]), (true, [a, b])] = &first.products[..] else { return None };
        let &[(false, p), (false, q)] = &second.products[..] else { return None };
        let is = |[a, b]: [Operand; 2], [c, d]: [Operand; 2]| (a, b) == (c, d) || (a, b) == (d, c);
        let fits = |[x1, y1]: [Operand; 2]| {
            let (cross, other) = ([x0, y1], [x1, y0]);
            is(p, cross) && is(q, other) || is(p, other) && is(q, cross)
        };
        let [x1, y1] = [[a, b], [b, a]].into_iter().find(|&factors| fits(factors))?;
        let members = first.members().union(second.members()).copied().collect();
        Some(Self { members, roots: [first.root(), second.root()], x: [x0, x1], y: [y0, y1] })
    }
}

impl Fused for Fp2 {
    fn members(&self) -> &BTreeSet<usize> {
        &self.members
    }

    fn first_root(&self) -> usize {
        self.roots[0].min(self.roots[1])
    }
}

/// The products in Fp2 of a block, in the order of the first of their sums.
pub fn products(block: &Block, readings: &HashMap<Value, usize>) -> Vec<Fp2> {
    let sums = sums(block, readings, 2);
    // By what the two sums have in common: the four values that they read.
    let read = |sum: &Sum| {
        let mut values: Vec<Operand> = sum.products.iter().flat_map(|&(_, product)| product).collect();
        values.sort_unstable();
        values
    };
    let mut others: HashMap<Vec<Operand>, Vec<&Sum>> = HashMap::new();
    for sum in sums.iter().filter(|sum| sum.products.iter().all(|&(is_subtracted, _)| !is_subtracted)) {
        others.entry(read(sum)).or_default().push(sum);
    }
    let mut found: Vec<Fp2> = Vec::new();
    for first in &sums {
        let Some(candidates) = others.get_mut(&read(first)) else { continue };
        let fits = |second: &&Sum| Fp2::of(first, second);
        if let Some((place, product)) =
            candidates.iter().enumerate().find_map(|(place, second)| Some((place, fits(second)?)))
        {
            candidates.remove(place);
            found.push(product);
        }
    }
    found.sort_by_key(Fp2::first_root);
    found
}

/// Moves the operations of each product in Fp2 to where the first of its sums is defined. The products stay the same.
pub fn gather(program: &mut Program) {
    fused::gather(program, products);
}

/// The slots of a product, as a function's values have them.
pub fn placed(product: &Fp2, block: &Block, slot: impl Fn(Operand) -> Slot) -> SlotFp2 {
    let out = product.roots.map(|root| slot(Operand::Value(block.ops[root].0)));
    SlotFp2 { out, x: product.x.map(&slot), y: product.y.map(&slot) }
}

/// The products in Fp2 of a block of a function.
pub fn products_of(function: &Function, block: &Block) -> Vec<Fp2> {
    products(block, &readings(function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::text;
    use std::ops::Range;

    /// The products of the one block of a text after gathering, as operations and factors.
    fn check(ops: &str, result: &str, expected: &[(Range<usize>, [u32; 4])]) {
        let values = 4 + ops.matches(" = ").count();
        let parses: String = (0..4).map(|value| format!("parse w0 bytes 0 -> v{value}\n")).collect();
        let text = format!(
            "program \"fp2\" modulus 0x61\nfunction f0 \"start\" () -> () values {values} {{\n  word w0 = 0x0\n{parses}\
             block {{ {ops} }}\n  return_elements ({result}) bytes 1\n}}\n"
        );
        let mut program = text::parse(&text).unwrap();
        gather(&mut program);
        residue_ir::verify(&program).unwrap();
        let readings = readings(program.entry());
        let mut found = Vec::new();
        program.entry().body.for_each_block(&mut |block| {
            for product in products(block, &readings) {
                let [x0, x1] = product.x.map(|operand| operand.value().unwrap().0);
                let [y0, y1] = product.y.map(|operand| operand.value().unwrap().0);
                found.push((product.range().unwrap(), [x0, x1, y0, y1]));
            }
        });
        assert_eq!(found, expected, "{ops}");
    }

    #[test]
    fn pairs_of_sums_over_the_same_values_are_products() {
        let real = "v4 = mul v0 v2 v5 = mul v1 v3 v6 = sub v4 v5";
        check(&format!("{real} v7 = mul v0 v3 v8 = mul v1 v2 v9 = add v7 v8"), "v6 v9", &[(0..6, [0, 1, 2, 3])]);
        // In any order, with something between that reads the first sum and something that reads the second.
        check(
            &format!("v7 = mul v2 v1 v8 = mul v3 v0 v9 = add v7 v8 v10 = add v9 v9 {real} v11 = add v10 v6"),
            "v11 v6",
            &[(0..6, [0, 1, 2, 3])],
        );
        // The operands of the second product turned: (v0 + v3·u)(v2 + v1·u) has the sums v0·v2 − v3·v1 and v0·v1 + v3·v2.
        check(&format!("{real} v7 = mul v0 v1 v8 = mul v3 v2 v9 = add v7 v8"), "v6 v9", &[(0..6, [0, 3, 2, 1])]);
        // A difference, other values, and a product that is read twice.
        check(&format!("{real} v7 = mul v0 v3 v8 = mul v1 v2 v9 = sub v7 v8"), "v6 v9", &[]);
        check(&format!("{real} v7 = mul v0 v3 v8 = mul v1 v3 v9 = add v7 v8"), "v6 v9", &[]);
        check(&format!("{real} v7 = mul v0 v3 v8 = mul v1 v2 v9 = add v7 v8"), "v6 v9 v4", &[]);
        check(
            "v4 = mul v0 v2 v5 = mul v1 v3 v6 = add v4 v5 v7 = mul v0 v3 v8 = mul v1 v2 v9 = add v7 v8",
            "v6 v9",
            &[],
        );
    }
}
