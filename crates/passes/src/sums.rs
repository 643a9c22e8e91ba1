//! Sums of products that an interface makes with one instruction: found in blocks, and brought together.
//!
//! A sum is a tree of additions and subtractions whose leaves are products, all without other readers. Its operations
//! are contiguous after [`gather`], so that all operands of its products are in slots before the first of them: one
//! instruction can replace all, in any placement of the intermediate values.

use crate::Slot;
use crate::fused::{self, Fused};
use foldhash::{HashMap, HashMapExt};
use residue_ir::program::{Block, FieldOp, Function, Op, Operand, Program, Value};
use std::collections::BTreeSet;

/// A sum of products of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotSum {
    /// Slot written.
    pub out: Slot,
    /// The products, each with whether it is subtracted.
    pub products: Vec<(bool, [Slot; 2])>,
}

/// A sum of products in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// Positions of its operations in the block; the one that defines it is last.
    members: BTreeSet<usize>,
    /// The products, each with whether it is subtracted.
    pub products: Vec<(bool, [Operand; 2])>,
}

impl Sum {
    /// The operation that defines it.
    pub fn root(&self) -> usize {
        *self.members.last().expect("a sum has operations")
    }
}

impl Fused for Sum {
    fn members(&self) -> &BTreeSet<usize> {
        &self.members
    }

    fn first_root(&self) -> usize {
        self.root()
    }
}

/// Number of reads of each value of a function.
pub fn readings(function: &Function) -> HashMap<Value, usize> {
    let mut readings = HashMap::new();
    let mut note = |operand: Operand| {
        if let Some(value) = operand.value() {
            *readings.entry(value).or_default() += 1;
        }
    };
    function.body.walk(&mut |statement| statement.for_each_operand(&mut note));
    function.results.iter().copied().for_each(note);
    readings
}

/// The sums of 2 to `products_max` products in a block, in order; the largest first where one is within another.
pub fn sums(block: &Block, readings: &HashMap<Value, usize>, products_max: usize) -> Vec<Sum> {
    let places: HashMap<Value, usize> =
        (block.ops.iter().zip(0..)).map(|(&(value, _), place)| (value, place)).collect();
    let inner = |operand: Operand| {
        let value = operand.value()?;
        (readings.get(&value) == Some(&1)).then(|| places.get(&value).copied()).flatten()
    };
    let mut taken = vec![false; block.ops.len()];
    let mut found = Vec::new();
    for root in (0..block.ops.len()).rev() {
        let (_, op) = block.ops[root];
        if taken[root] || op.kind == FieldOp::Mul {
            continue;
        }
        let mut sum = Sum { members: BTreeSet::new(), products: Vec::new() };
        if expand(block, root, false, &inner, products_max, &mut sum) {
            sum.members.iter().for_each(|&member| taken[member] = true);
            found.push(sum);
        }
    }
    found.reverse();
    found
}

/// Adds the tree at a place to a sum; false if it has a leaf that is no product, or too many.
fn expand(
    block: &Block,
    place: usize,
    is_subtracted: bool,
    inner: &impl Fn(Operand) -> Option<usize>,
    products_max: usize,
    sum: &mut Sum,
) -> bool {
    let (_, Op { kind, x, y }) = block.ops[place];
    sum.members.insert(place);
    if kind == FieldOp::Mul {
        sum.products.push((is_subtracted, [x, y]));
        // Multiples by constants may be made in other ways.
        let is_product = [x, y].iter().all(|operand| operand.value().is_some());
        return is_product && sum.products.len() <= products_max;
    }
    let [Some(x), Some(y)] = [x, y].map(inner) else { return false };
    let y_is_subtracted = is_subtracted ^ (kind == FieldOp::Sub);
    expand(block, x, is_subtracted, inner, products_max, sum)
        && expand(block, y, y_is_subtracted, inner, products_max, sum)
}

/// Moves the operations of each sum to where it is defined. The sums stay the same.
pub fn gather(program: &mut Program, products_max: usize) {
    fused::gather(program, |block, readings| sums(block, readings, products_max));
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::text;
    use std::ops::Range;

    /// The sums of the one block of a text after gathering, as (operations, signs).
    fn check(ops: &str, result: &str, expected: &[(Range<usize>, &[bool])]) {
        let values = 2 + ops.matches(" = ").count();
        let text = format!(
            "program \"sums\" modulus 0x61\nfunction f0 \"start\" () -> () values {values} {{\n  word w0 = 0x0\n  parse w0 bytes 0 -> v0\n  \
             parse w0 bytes 0 -> v1\n  block {{ {ops} }}\n  return_elements ({result}) bytes 1\n}}\n"
        );
        let mut program = text::parse(&text).unwrap();
        gather(&mut program, 4);
        residue_ir::verify(&program).unwrap();
        let readings = readings(program.entry());
        let mut found = Vec::new();
        program.entry().body.for_each_block(&mut |block| {
            for sum in sums(block, &readings, 4) {
                let signs: Vec<bool> = sum.products.iter().map(|&(is_subtracted, _)| is_subtracted).collect();
                found.push((sum.range().unwrap(), signs));
            }
        });
        let expected: Vec<_> = expected.iter().map(|(range, signs)| (range.clone(), signs.to_vec())).collect();
        assert_eq!(found, expected, "{ops}");
    }

    #[test]
    fn trees_of_products_that_nothing_else_reads_are_sums() {
        check("v2 = mul v0 v1 v3 = mul v1 v1 v4 = sub v2 v3", "v4", &[(0..3, &[false, true])]);
        // The difference of two differences, with something between.
        let ops = "v2 = mul v0 v1 v3 = mul v1 v1 v4 = sub v2 v3 v5 = add v0 v1 v6 = mul v5 v1 v7 = mul v5 v5 v8 = sub v6 v7 \
                   v9 = sub v4 v8";
        check(ops, "v9", &[(1..8, &[false, true, true, false])]);
        // A product that is read twice is none.
        check("v2 = mul v0 v1 v3 = mul v1 v1 v4 = sub v2 v3", "v4 v2", &[]);
        check("v2 = mul v0 v1 v3 = add v2 v0", "v3", &[]);
        // Five are too many: four stay.
        let ops = "v2 = mul v0 v0 v3 = mul v0 v1 v4 = mul v1 v1 v5 = mul v0 v0 v6 = mul v1 v0 v7 = add v2 v3 v8 = add v7 v4 \
                   v9 = add v8 v5 v10 = add v9 v6";
        check(ops, "v10", &[(1..8, &[false, false, false, false])]);
    }
}
