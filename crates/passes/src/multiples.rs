//! Small multiples: additions that make k·x of x can be one multiplication by the constant k.
//!
//! Formulas double and add, since publications count additions as cheap. If an instruction costs as much to call as to
//! execute, or multiplication is priced near addition, a product is cheaper. The better choice depends on the schedule
//! and on the cost of the constants; a compiler tries both.
//!
//! In countdowns and sequences only products that save four additions are made, which multiples by nonresidues such as 9 + u
//! need: with shorter ones too, the best way costs most contracts as much as before, and others from 0.3 % less (EVM384 as
//! go-ethereum prices it) to 0.01 % more.

use crate::simplify::drop_unread;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use num_bigint::BigUint;
use residue_ir::program::{
    Block, ConstantId, ControlKind, FieldOp, Function, Op, Operand, Program, Region, Statement, Value,
};

/// Method for small multiples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SmallMultiples {
    /// As the program's text makes them: by additions.
    #[default]
    AsWritten,
    /// By a product where that saves three additions or more.
    ProductForThree,
    /// By a product where that saves two additions or more.
    ProductForTwo,
}

impl SmallMultiples {
    /// Every way.
    pub const ALL: [SmallMultiples; 3] = [Self::AsWritten, Self::ProductForThree, Self::ProductForTwo];

    /// From how many additions on a product takes their place.
    pub const fn product_from(self) -> Option<u32> {
        match self {
            SmallMultiples::AsWritten => None,
            SmallMultiples::ProductForThree => Some(3),
            SmallMultiples::ProductForTwo => Some(2),
        }
    }
}

/// Multiples from this on are left as they are. None of our formulas comes near it.
pub const MULTIPLE_END: u64 = 1 << 16;

/// The same program with its small multiples made in the given way.
pub fn make(program: &mut Program, multiples: SmallMultiples) {
    let Some(product_from) = multiples.product_from() else { return };
    let Program { functions, constants, modulus, .. } = program;
    let modulus = &modulus.least();
    for function in functions {
        let mut making = Making { reads: reads(function), modulus, constants };
        making.region(&mut function.body, product_from);
        drop_unread(function);
    }
}

/// Number of reads of each value of `function`.
fn reads(function: &Function) -> HashMap<Value, usize> {
    let mut reads = HashMap::new();
    let mut count = |operand: Operand| {
        if let Operand::Value(value) = operand {
            *reads.entry(value).or_insert(0) += 1;
        }
    };
    function.results.iter().copied().for_each(&mut count);
    function.body.walk(&mut |statement| statement.for_each_operand(&mut count));
    reads
}

/// From how many additions on a product takes their place in the arms of `statement`, where it does so around it from
/// `product_from` on.
fn product_from_in(statement: &Statement, product_from: u32) -> u32 {
    match statement {
        Statement::Control(control)
            if matches!(control.kind, ControlKind::Countdown { .. } | ControlKind::Sequence(_)) =>
        {
            product_from.max(4)
        }
        _ => product_from,
    }
}

struct Making<'a> {
    reads: HashMap<Value, usize>,
    modulus: &'a BigUint,
    constants: &'a mut Vec<BigUint>,
}

/// A value as a multiple of another of its block.
#[derive(Clone, Copy)]
struct Multiple {
    of: Operand,
    factor: u64,
    /// Additions that serve this value alone.
    additions: u32,
    /// Operands that serve this value alone, and are multiples themselves.
    own: [Option<Value>; 2],
}

impl Making<'_> {
    /// Every block of `region`.
    fn region(&mut self, region: &mut Region, product_from: u32) {
        for statement in &mut region.statements {
            let inside = product_from_in(statement, product_from);
            if let Statement::Block(block) = statement {
                self.block(block, product_from);
            }
            for arm in statement.arms_mut() {
                self.region(&mut arm.body, inside);
            }
        }
    }

    /// From the end, so that the last multiple of a chain becomes a product, and its predecessors are dropped.
    fn block(&mut self, block: &mut Block, product_from: u32) {
        let known = self.multiples(block);
        let mut superfluous: HashSet<Value> = HashSet::new();
        for (value, op) in block.ops.iter_mut().rev() {
            let Some(multiple) = known.get(value) else { continue };
            let is_long = multiple.additions >= product_from && BigUint::from(multiple.factor) < *self.modulus;
            if superfluous.contains(value) || is_long {
                superfluous.extend(multiple.own.iter().flatten());
            }
            if is_long && !superfluous.contains(value) {
                *op = Op { kind: FieldOp::Mul, x: multiple.of, y: Operand::Constant(self.constant(multiple.factor)) };
            }
        }
    }

    /// The values of `block` that are multiples.
    fn multiples(&self, block: &Block) -> HashMap<Value, Multiple> {
        let mut known: HashMap<Value, Multiple> = HashMap::new();
        for &(value, Op { kind, x, y }) in &block.ops {
            let of = |operand: Operand| {
                let itself = Multiple { of: operand, factor: 1, additions: 0, own: [None; 2] };
                operand.value().and_then(|value| known.get(&value)).copied().unwrap_or(itself)
            };
            let (a, b) = (of(x), of(y));
            if kind != FieldOp::Add || a.of != b.of || a.factor + b.factor >= MULTIPLE_END || a.of.value().is_none() {
                continue;
            }
            let times = if x == y { 2 } else { 1 };
            let own = |operand: Operand| {
                operand.value().filter(|value| known.contains_key(value) && self.reads.get(value) == Some(&times))
            };
            let own = [own(x), own(y).filter(|_| x != y)];
            let inner: u32 = own.iter().flatten().map(|value| known[value].additions).sum();
            known.insert(value, Multiple { of: a.of, factor: a.factor + b.factor, additions: inner + 1, own });
        }
        known
    }

    fn constant(&mut self, factor: u64) -> ConstantId {
        let factor = BigUint::from(factor);
        let place = self.constants.iter().position(|constant| *constant == factor).unwrap_or_else(|| {
            self.constants.push(factor);
            self.constants.len() - 1
        });
        ConstantId(u32::try_from(place).expect("constants are few"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::text;

    #[track_caller]
    fn check(multiples: SmallMultiples, body: &str, expected: &str) {
        let program = |constants: &str, body: &str| {
            let text = format!(
                "program \"p\" modulus 0x61 {constants} function f0 \"start\" () -> () values 10 {{
                 word w0 = 0x0 parse w0 bytes 1 -> v0 parse w0 bytes 1 -> v1 {body} return_elements (v9) bytes 1 }}"
            );
            text::parse(&text).unwrap()
        };
        let mut made = program("", body);
        make(&mut made, multiples);
        let constants: String =
            (0..).zip(&made.constants).map(|(number, value)| format!("constant c{number} = {value:#x} ")).collect();
        assert_eq!(text::print(&made), text::print(&program(&constants, expected)));
    }

    #[test]
    fn chains_of_additions_become_products_where_they_are_long_enough() {
        let four = "block { v2 = add v0 v0 v3 = add v2 v2 v9 = mul v3 v1 }";
        check(SmallMultiples::AsWritten, four, four);
        check(SmallMultiples::ProductForThree, four, four);
        check(SmallMultiples::ProductForTwo, four, "block { v3 = mul v0 c0 v9 = mul v3 v1 }");
        let five = "block { v2 = add v0 v0 v3 = add v2 v2 v4 = add v3 v0 v9 = mul v4 v1 }";
        for multiples in [SmallMultiples::ProductForThree, SmallMultiples::ProductForTwo] {
            check(multiples, five, "block { v4 = mul v0 c0 v9 = mul v4 v1 }");
        }
    }

    #[test]
    fn additions_that_others_read_are_not_saved() {
        let body = "block { v2 = add v0 v0 v3 = add v2 v2 v9 = mul v3 v2 }";
        check(SmallMultiples::ProductForTwo, body, body);
        let sums = "block { v2 = add v0 v1 v3 = add v2 v0 v9 = add v3 v1 }";
        check(SmallMultiples::ProductForTwo, sums, sums);
    }
}
