//! Two small passes: common subexpressions within a block, and operations whose value nobody reads.

use residue_ir::program::{Block, Function, Op, OpKind, Operand, Program, Region, Statement, Value};
use std::collections::{HashMap, HashSet};

/// The same program with fewer operations.
pub fn simplify(program: &mut Program) {
    for function in &mut program.functions {
        let mut renamed = HashMap::new();
        share(&mut function.body, &mut renamed);
        for operand in &mut function.results {
            rename(operand, &renamed);
        }
        drop_unread(function);
    }
}

/// `op` with the operands of a commutative operation in order, so that a·b and b·a are one.
fn normal(op: Op) -> Op {
    match op.kind {
        OpKind::Add | OpKind::Mul if op.y < op.x => Op { x: op.y, y: op.x, ..op },
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

fn share(region: &mut Region, renamed: &mut HashMap<Value, Value>) {
    for statement in &mut region.statements {
        match statement {
            Statement::Block(block) => share_block(block, renamed),
            Statement::Repeat(repeat) => {
                repeat.initial.iter_mut().for_each(|operand| rename(operand, renamed));
                share(&mut repeat.body, renamed);
                repeat.next.iter_mut().for_each(|operand| rename(operand, renamed));
            }
            Statement::Countdown(countdown) => {
                countdown.initial.iter_mut().for_each(|operand| rename(operand, renamed));
                for turn in &mut countdown.turns {
                    share(&mut turn.body, renamed);
                    turn.next.iter_mut().for_each(|operand| rename(operand, renamed));
                }
            }
            Statement::Sequence(sequence) => {
                sequence.initial.iter_mut().for_each(|operand| rename(operand, renamed));
                for part in &mut sequence.parts {
                    share(&mut part.body, renamed);
                    part.next.iter_mut().for_each(|operand| rename(operand, renamed));
                }
            }
            Statement::Branch(branch) => {
                share(&mut branch.then, renamed);
                share(&mut branch.otherwise, renamed);
                let given = branch.then_values.iter_mut().chain(&mut branch.otherwise_values);
                given.for_each(|operand| rename(operand, renamed));
            }
            other => operands_mut(other).into_iter().for_each(|operand| rename(operand, renamed)),
        }
    }
}

/// The operands of a statement without inner regions.
pub(crate) fn operands_mut(statement: &mut Statement) -> Vec<&mut Operand> {
    match statement {
        Statement::Call { arguments: values, .. }
        | Statement::Store { values, .. }
        | Statement::ReturnElements { values, .. }
        | Statement::Fill { values, .. }
        | Statement::ReturnMontLe { values } => values.iter_mut().collect(),
        Statement::IsZero { value, .. } | Statement::IsOdd { value, .. } => vec![value],
        Statement::Equal { a, b, .. } => vec![a, b],
        _ => Vec::new(),
    }
}

/// What a function reads, and which operations define it.
#[derive(Default)]
struct Readers {
    ops: HashMap<Value, Op>,
    /// Read by something other than an operation.
    roots: Vec<Operand>,
}

impl Readers {
    fn region(&mut self, region: &mut Region) {
        for statement in &mut region.statements {
            match statement {
                Statement::Block(block) => self.ops.extend(block.ops.iter().copied()),
                Statement::Repeat(repeat) => {
                    self.roots.extend(repeat.initial.iter().chain(&repeat.next));
                    self.region(&mut repeat.body);
                }
                Statement::Countdown(countdown) => {
                    self.roots.extend(&countdown.initial);
                    for turn in &mut countdown.turns {
                        self.roots.extend(&turn.next);
                        self.region(&mut turn.body);
                    }
                }
                Statement::Sequence(sequence) => {
                    self.roots.extend(&sequence.initial);
                    for part in &mut sequence.parts {
                        self.roots.extend(&part.next);
                        self.region(&mut part.body);
                    }
                }
                Statement::Branch(branch) => {
                    self.roots.extend(branch.then_values.iter().chain(&branch.otherwise_values));
                    self.region(&mut branch.then);
                    self.region(&mut branch.otherwise);
                }
                other => self.roots.extend(operands_mut(other).into_iter().map(|operand| *operand)),
            }
        }
    }

    fn read(self) -> HashSet<Value> {
        let mut read = HashSet::new();
        let mut open: Vec<Value> = self.roots.into_iter().filter_map(Operand::value).collect();
        while let Some(value) = open.pop() {
            if read.insert(value)
                && let Some(op) = self.ops.get(&value)
            {
                open.extend([op.x, op.y].into_iter().filter_map(Operand::value));
            }
        }
        read
    }
}

/// Drops the operations of `function` whose value nothing reads.
pub(crate) fn drop_unread(function: &mut Function) {
    let mut readers = Readers { roots: function.results.clone(), ..Readers::default() };
    readers.region(&mut function.body);
    retain(&mut function.body, &readers.read());
}

fn retain(region: &mut Region, read: &HashSet<Value>) {
    for statement in &mut region.statements {
        match statement {
            Statement::Block(block) => block.ops.retain(|(value, _)| read.contains(value)),
            Statement::Repeat(repeat) => retain(&mut repeat.body, read),
            Statement::Countdown(countdown) => {
                countdown.turns.iter_mut().for_each(|turn| retain(&mut turn.body, read));
            }
            Statement::Sequence(sequence) => {
                sequence.parts.iter_mut().for_each(|part| retain(&mut part.body, read));
            }
            Statement::Branch(branch) => {
                retain(&mut branch.then, read);
                retain(&mut branch.otherwise, read);
            }
            _ => {}
        }
    }
    region.statements.retain(|statement| !matches!(statement, Statement::Block(block) if block.ops.is_empty()));
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
