//! Comparison rewriting, for interfaces that compare slots: a question about the difference of two values becomes a
//! question about the two, so that the difference need not be computed.

use crate::sums::readings;
use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use num_traits::Zero;
use residue_ir::program::{ConstantId, Function, Op, Operand, Program, Rewritten, Statement, Value};
use residue_ir::{Effect, FieldOp};

/// Asks whether x = y where it is asked whether x − y is zero, which nothing else reads; and with `has_order`, under an odd modulus,
/// whether −x < x where it is asked whether 2x is odd, which is the same: 2x is even, or 2x − m is odd. In every unit.
pub fn compare(program: &mut Program, has_order: bool) {
    for unit in &mut program.subprograms {
        compare(unit, has_order);
    }
    let has_order = has_order && program.modulus.is_odd();
    let zero = program.constants.iter().position(Zero::is_zero);
    let zero = zero.unwrap_or(program.constants.len());
    let mut negates = false;
    for function in &mut program.functions {
        negates |= compare_in(function, has_order.then_some(constant(zero)));
    }
    if negates && zero == program.constants.len() {
        program.constants.push(BigUint::ZERO);
    }
}

fn constant(place: usize) -> Operand {
    Operand::Constant(ConstantId(u32::try_from(place).expect("constants are few")))
}

/// The same for a function; `zero` where there is an order. Whether that is read now.
fn compare_in(function: &mut Function, zero: Option<Operand>) -> bool {
    let readings = readings(function);
    let mut ops: HashMap<Value, Op> = HashMap::new();
    function.body.for_each_block(&mut |block| ops.extend(block.ops.iter().copied()));
    let made = |operand: Operand| {
        let value = operand.value().filter(|value| readings.get(value) == Some(&1))?;
        Some((value, *ops.get(&value)?))
    };
    // What 2x becomes, which nothing else reads.
    let mut negated: HashMap<Value, Op> = HashMap::new();
    function.body.rewrite(&mut |statement| {
        let Statement::Effect(effect) = statement else { return Rewritten::Kept };
        match *effect {
            Effect::IsZero { value, result } => {
                if let Some((_, Op { kind: FieldOp::Sub, x, y, .. })) = made(value) {
                    *effect = Effect::Equal { a: x, b: y, result };
                }
            }
            Effect::IsOdd { value, result } => {
                if let (Some(zero), Some((double, op))) = (zero, made(value))
                    && op.kind == FieldOp::Add
                    && op.x == op.y
                {
                    negated.insert(double, Op { kind: FieldOp::Sub, x: zero, ..op });
                    *effect = Effect::Less { a: value, b: op.x, result };
                }
            }
            _ => {}
        }
        Rewritten::Kept
    });
    function.body.rewrite(&mut |statement| {
        if let Statement::Block(block) = statement {
            for (value, op) in &mut block.ops {
                *op = negated.get(value).copied().unwrap_or(*op);
            }
        }
        Rewritten::Kept
    });
    !negated.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplify::simplify;
    use residue_ir::{Machine, evaluate, record, text, verify};

    /// Compares the pass's answers for two values of calldata, with the operations left, to `expected`.
    #[track_caller]
    fn check(modulus: u8, has_order: bool, expected: &str) {
        let before = record("asks", &BigUint::from(modulus), |machine| {
            let [x, y] = [0, 1].map(|offset| machine.parse(machine.small(offset), 1));
            let (difference, double) = (x - y, x + x);
            machine.set(machine.variable("kept", machine.small(0)), machine.is_odd(x + y));
            let answers = [machine.is_zero(difference), machine.is_odd(double), machine.is_zero(x)];
            let word = answers.into_iter().reduce(|all, answer| {
                let doubled = machine.word_op(residue_ir::WordOp::Shl, all, machine.small(1));
                machine.word_op(residue_ir::WordOp::Or, doubled, answer)
            });
            machine.return_word(word.unwrap());
        });
        let mut after = before.clone();
        compare(&mut after, has_order);
        verify(&after).unwrap();
        for x in 0..modulus {
            for y in [0, 1, x, modulus / 2, modulus - 1] {
                assert_eq!(evaluate(&after, &[x, y]), evaluate(&before, &[x, y]), "{x} {y}");
            }
        }
        simplify(&mut after);
        let after = text::print(&after);
        let asked = ["= add", "= sub", "is_zero", "is_odd", "equal", "less"];
        let lines = after.lines().map(str::trim).filter(|line| asked.iter().any(|word| line.contains(word)));
        assert_eq!(lines.collect::<Vec<_>>().join("; "), expected);
    }

    #[test]
    fn what_is_compared_is_not_computed() {
        check(
            97,
            false,
            "v3 = add v0 v0; v4 = add v0 v1; is_odd v4 -> w3; equal v0 v1 -> w4; is_odd v3 -> w5; is_zero v0 -> w6",
        );
        check(
            97,
            true,
            "v3 = sub c0 v0; v4 = add v0 v1; is_odd v4 -> w3; equal v0 v1 -> w4; less v3 v0 -> w5; is_zero v0 -> w6",
        );
        // Modulo a power of two a double is always even.
        check(
            128,
            true,
            "v3 = add v0 v0; v4 = add v0 v1; is_odd v4 -> w3; equal v0 v1 -> w4; is_odd v3 -> w5; is_zero v0 -> w6",
        );
    }

    #[test]
    fn what_else_reads_a_difference_keeps_it() {
        let mut program = record("kept", &BigUint::from(97u8), |machine| {
            let [x, y] = [0, 1].map(|offset| machine.parse(machine.small(offset), 1));
            let (difference, double) = (x - y, x + x);
            machine.require(machine.is_zero(difference));
            machine.require(machine.is_odd(double));
            machine.return_elements([difference, double], 1);
        });
        let before = program.clone();
        compare(&mut program, true);
        assert_eq!(program, before);
    }
}
