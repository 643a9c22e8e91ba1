//! Two small passes: common subexpressions within a block, and operations whose value is never read.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use residue_ir::program::{Block, FieldOp, Function, Op, Operand, Program, Rewritten, Statement, Value};

/// The same program with fewer operations.
pub fn simplify(program: &mut Program) {
    for function in &mut program.functions {
        let mut renamed = HashMap::new();
        function.body.rewrite(&mut |statement| {
            if let Statement::Block(block) = statement {
                share_block(block, &mut renamed);
            }
            Rewritten::Kept
        });
        function.body.rewrite(&mut |statement| {
            statement.for_each_operand_mut(&mut |operand| rename(operand, &renamed));
            Rewritten::Kept
        });
        for operand in &mut function.results {
            rename(operand, &renamed);
        }
        drop_unread(function);
    }
}

/// `op` with the operands of a commutative operation in order, so that a·b and b·a are one.
fn normal(op: Op) -> Op {
    match op.kind {
        FieldOp::Add | FieldOp::Mul if op.y < op.x => Op { x: op.y, y: op.x, ..op },
        _ => op,
    }
}

fn rename(operand: &mut Operand, renamed: &HashMap<Value, Value>) {
    if let Operand::Value(value) = operand
        && let Some(&first) = renamed.get(value)
    {
        *operand = Operand::Value(first);
    }
}

/// Replaces an operation that the same block has already by the earlier one's value.
fn share_block(block: &mut Block, renamed: &mut HashMap<Value, Value>) {
    let mut known: HashMap<Op, Value> = HashMap::new();
    block.ops.retain_mut(|(value, op)| {
        rename(&mut op.x, renamed);
        rename(&mut op.y, renamed);
        match known.get(&normal(*op)) {
            Some(&first) => {
                renamed.insert(*value, first);
                false
            }
            None => {
                known.insert(normal(*op), *value);
                true
            }
        }
    });
}

/// The values of `function` that have readers other than operations, and their operands, transitively.
fn read(function: &Function) -> HashSet<Value> {
    let mut ops: HashMap<Value, Op> = HashMap::new();
    let mut open: Vec<Value> = function.results.iter().filter_map(|operand| operand.value()).collect();
    function.body.walk(&mut |statement| match statement {
        Statement::Block(block) => ops.extend(block.ops.iter().copied()),
        other => other.for_each_operand(&mut |operand| open.extend(operand.value())),
    });
    let mut read = HashSet::new();
    while let Some(value) = open.pop() {
        if read.insert(value)
            && let Some(op) = ops.get(&value)
        {
            open.extend([op.x, op.y].into_iter().filter_map(Operand::value));
        }
    }
    read
}

/// Drops the operations of `function` whose value nothing reads.
pub(crate) fn drop_unread(function: &mut Function) {
    let read = read(function);
    function.body.rewrite(&mut |statement| match statement {
        Statement::Block(block) => {
            block.ops.retain(|(value, _)| read.contains(value));
            if block.ops.is_empty() { Rewritten::Dropped } else { Rewritten::Kept }
        }
        _ => Rewritten::Kept,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::text;

    /// The start, which takes values from calldata and returns v9, simplified.
    fn check(body: &str, expected: &str) {
        let program = |body: &str| {
            let text = format!(
                "program \"p\" modulus 0x61 constant c0 = 0x5 function f0 \"start\" () -> () values 15 {{
                 word w0 = 0x0 word w1 = 0x2 word w2 = defined word w3 = 0x1
                 parse w0 bytes 1 -> v0 parse w0 bytes 1 -> v1 {body} return_elements (v9) bytes 1 }}"
            );
            text::parse(&text).unwrap()
        };
        let mut simplified = program(body);
        simplify(&mut simplified);
        assert_eq!(text::print(&simplified), text::print(&program(expected)));
    }

    #[test]
    fn an_operation_is_done_once_whatever_the_order_of_its_operands() {
        check(
            "block { v2 = mul v0 v1 v3 = mul v1 v0 v4 = add v0 c0 v5 = add c0 v0 v6 = mul v2 v4 v7 = mul v5 v3 v9 = sub v6 v7 }",
            "block { v2 = mul v0 v1 v4 = add v0 c0 v6 = mul v2 v4 v9 = sub v6 v6 }",
        );
    }

    #[test]
    fn differences_keep_their_order() {
        let body = "block { v2 = sub v0 v1 v3 = sub v1 v0 v9 = mul v2 v3 }";
        check(body, body);
    }

    #[test]
    fn operations_that_nobody_reads_go_with_all_that_led_to_them() {
        check("block { v2 = mul v0 v0 v3 = mul v2 v2 v4 = add v3 v2 v9 = add v0 v1 }", "block { v9 = add v0 v1 }");
        check("block { v2 = mul v0 v0 } parse w0 bytes 1 -> v9", "parse w0 bytes 1 -> v9");
    }

    #[test]
    fn names_change_in_loops_and_branches_too() {
        check(
            "block { v2 = mul v0 v1 v3 = mul v0 v1 }
             repeat w1 index w2 (v4) = (v3) { block { v5 = add v4 v3 } give (v5) } -> (v6)
             branch w1 { give (v3) } else { block { v7 = add v3 v3 } give (v7) } -> (v8)
             countdown w3 (v3) { turn (v10) { block { v11 = mul v10 v3 v12 = mul v3 v10 } give (v12) } } -> (v13)
             block { v14 = add v8 v13 v9 = add v14 v6 }",
            "block { v2 = mul v0 v1 }
             repeat w1 index w2 (v4) = (v2) { block { v5 = add v4 v2 } give (v5) } -> (v6)
             branch w1 { give (v2) } else { block { v7 = add v2 v2 } give (v7) } -> (v8)
             countdown w3 (v2) { turn (v10) { block { v11 = mul v10 v2 } give (v11) } } -> (v13)
             block { v14 = add v8 v13 v9 = add v14 v6 }",
        );
    }

    #[test]
    fn an_operation_of_one_region_does_not_serve_another() {
        let body = "branch w1 { block { v2 = mul v0 v1 } give (v2) } else { give (c0) } -> (v3)
                    block { v4 = mul v0 v1 v9 = add v4 v3 }";
        check(body, body);
    }
}
