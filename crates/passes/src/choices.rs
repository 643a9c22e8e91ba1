//! If-conversion, for interfaces that select without a jump: the computations of the arms are moved before the branch.

use residue_ir::FieldOp;
use residue_ir::program::{Arm, Control, ControlKind, Program, Region, Statement};

/// The most results of a choice that takes less gas than the jumps of a branch, whose results seldom stand side by side.
pub const RESULTS_MAX: usize = 3;
/// Maximum cost of speculated arms, in operations: a product counts as [`PRODUCT_OPERATIONS`].
const OPERATIONS_MAX: usize = 8;
/// Approximate cost of a product, in sums.
const PRODUCT_OPERATIONS: usize = 3;

/// If-conversion: moves the operations of short arms before the branch, in every unit, if the arms have nothing else
/// and the branch has few results. Both arms are empty then.
pub fn hoist(program: &mut Program) {
    for unit in &mut program.subprograms {
        hoist(unit);
    }
    for function in &mut program.functions {
        hoist_in(&mut function.body);
    }
}

fn hoist_in(region: &mut Region) {
    for mut statement in std::mem::take(&mut region.statements) {
        for arm in statement.arms_mut() {
            hoist_in(&mut arm.body);
        }
        if let Statement::Control(control) = &mut statement
            && is_choice(control)
        {
            let bodies = control.arms.iter_mut().map(|arm| std::mem::take(&mut arm.body.statements));
            region.statements.extend(bodies.flatten());
        }
        region.statements.push(statement);
    }
}

/// True if a branch only computes a little, and chooses.
fn is_choice(control: &Control) -> bool {
    let is_branch = matches!(control.kind, ControlKind::Branch { .. });
    let has_results = (1..=RESULTS_MAX).contains(&control.results.len());
    is_branch && has_results && operations(&control.arms).is_some_and(|count| (1..=OPERATIONS_MAX).contains(&count))
}

/// Number of operations of arms, if they have nothing else.
fn operations(arms: &[Arm]) -> Option<usize> {
    let of = |statement: &Statement| match statement {
        Statement::Block(block) => {
            let weight = |kind| if kind == FieldOp::Mul { PRODUCT_OPERATIONS } else { 1 };
            Some(block.ops.iter().map(|(_, op)| weight(op.kind)).sum::<usize>())
        }
        _ => None,
    };
    arms.iter().flat_map(|arm| &arm.body.statements).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use residue_ir::{Machine, evaluate, record, verify};

    /// Returns one of two multiples of a value, by a word.
    fn chosen(products: usize) -> Program {
        record("chosen", &BigUint::from(97u8), |machine| {
            let value = machine.parse(machine.small(0), 1);
            let arm = |value, times: usize| (0..times).fold(value, |product, _| product * value);
            let condition = machine.calldata_word(machine.small(1));
            let chosen = machine.branch(condition, |_| arm(value, products), |_| value + value);
            machine.return_elements([chosen], 1);
        })
    }

    #[test]
    fn what_short_arms_compute_is_brought_before_them() {
        for (products, is_hoisted) in [(0, true), (1, true), (2, true), (3, false)] {
            let before = chosen(products);
            let mut after = before.clone();
            hoist(&mut after);
            verify(&after).unwrap();
            assert_eq!(before != after, is_hoisted, "{products} products");
            for input in [[5, 0, 0], [5, 1, 0], [96, 0, 1], [0, 0, 0]] {
                assert_eq!(evaluate(&after, &input), evaluate(&before, &input));
            }
        }
    }
}
