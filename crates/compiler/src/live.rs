//! Liveness: which values are still needed behind each point of a function, and who may not share a slot with whom.
//!
//! One backward walk over the structured body. A definition interferes with everything live behind it; a loop is walked
//! twice, so that what the next turn needs is live at the end of this one.

use fixedbitset::FixedBitSet;
use residue_ir::program::{Block, Function, FunctionId, Operand, Region, Repeat, Statement, Value};
use std::collections::HashMap;

/// What allocation needs to know about a function.
#[derive(Debug)]
pub struct Liveness {
    /// For each value, those that may not share its slot.
    pub interferes: Vec<FixedBitSet>,
    /// For each block, by the first value it defines, the values live behind it.
    pub behind_block: HashMap<Value, FixedBitSet>,
    /// Calls, with the values that are live before and after each.
    pub across: Vec<(FunctionId, FixedBitSet)>,
    /// Values that would best share a slot, with how much it matters: turns of loops, 10 assumed for each.
    pub alike: Vec<(Value, Value, u64)>,
    /// Values that would best stand in consecutive slots, in order.
    pub groups: Vec<Vec<Value>>,
    /// Arguments and results of calls: the value, the function, and which parameter (or, if not, result) it is.
    pub passed: Vec<(Value, FunctionId, Passed)>,
}

/// Which end of a call a value is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// The argument for this parameter.
    Argument(usize),
    /// This result.
    Result(usize),
}

/// Analyses `function`.
pub fn liveness(function: &Function) -> Liveness {
    let values = function.value_count as usize;
    let mut walk = Walk {
        values,
        weight: 1,
        out: Liveness {
            interferes: vec![FixedBitSet::with_capacity(values); values],
            behind_block: HashMap::new(),
            across: Vec::new(),
            alike: Vec::new(),
            groups: Vec::new(),
            passed: Vec::new(),
        },
    };
    let mut live = walk.none();
    read_all(&mut live, &function.results);
    walk.region(&function.body, &mut live);
    for &param in &function.params {
        live.insert(param.0 as usize);
    }
    walk.define(&function.params, &mut live);
    walk.out
}

struct Walk {
    values: usize,
    weight: u64,
    out: Liveness,
}

fn read(live: &mut FixedBitSet, operand: Operand) {
    if let Operand::Value(value) = operand {
        live.insert(value.0 as usize);
    }
}

fn read_all(live: &mut FixedBitSet, operands: &[Operand]) {
    operands.iter().for_each(|&operand| read(live, operand));
}

impl Walk {
    fn none(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.values)
    }

    /// `values` come to be here, at once: they interfere with everything live behind and with each other.
    fn define(&mut self, values: &[Value], live: &mut FixedBitSet) {
        for value in values {
            live.insert(value.0 as usize);
        }
        for value in values {
            let own = value.0 as usize;
            self.out.interferes[own].union_with(live);
            self.out.interferes[own].remove(own);
            for other in live.ones() {
                if other != own {
                    self.out.interferes[other].insert(own);
                }
            }
        }
        for value in values {
            live.remove(value.0 as usize);
        }
    }

    fn alike(&mut self, operand: Operand, value: Value) {
        if let Operand::Value(other) = operand {
            self.out.alike.push((other, value, self.weight));
        }
    }

    fn region(&mut self, region: &Region, live: &mut FixedBitSet) {
        for statement in region.statements.iter().rev() {
            self.statement(statement, live);
        }
    }

    fn block(&mut self, block: &Block, live: &mut FixedBitSet) {
        if let Some((first, _)) = block.ops.first() {
            self.out.behind_block.insert(*first, live.clone());
        }
        for &(value, op) in block.ops.iter().rev() {
            self.define(&[value], live);
            read(live, op.x);
            read(live, op.y);
        }
    }

    fn statement(&mut self, statement: &Statement, live: &mut FixedBitSet) {
        match statement {
            Statement::Block(block) => self.block(block, live),
            Statement::Call { function, arguments, results } => {
                for (number, &result) in results.iter().enumerate() {
                    self.out.passed.push((result, *function, Passed::Result(number)));
                }
                for (number, argument) in arguments.iter().enumerate() {
                    if let Some(value) = argument.value() {
                        self.out.passed.push((value, *function, Passed::Argument(number)));
                    }
                }
                self.define(results, live);
                self.out.across.push((*function, live.clone()));
                read_all(live, arguments);
            }
            Statement::Repeat(repeat) => self.repeat(repeat, live),
            Statement::Branch(branch) => {
                for result in &branch.results {
                    live.remove(result.0 as usize);
                }
                let mut before = self.none();
                for (region, given) in
                    [(&branch.then, &branch.then_values), (&branch.otherwise, &branch.otherwise_values)]
                {
                    let mut arm = live.clone();
                    self.define(&branch.results, &mut arm);
                    for (&operand, &result) in given.iter().zip(&branch.results) {
                        self.alike(operand, result);
                    }
                    read_all(&mut arm, given);
                    self.region(region, &mut arm);
                    before.union_with(&arm);
                }
                *live = before;
            }
            Statement::Load { results, .. } => {
                self.out.groups.push(results.clone());
                self.define(results, live);
            }
            Statement::Store { values, .. } => {
                let group: Option<Vec<Value>> = values.iter().map(|operand| operand.value()).collect();
                self.out.groups.extend(group);
                read_all(live, values);
            }
            Statement::Parse { result, .. } => self.define(&[*result], live),
            Statement::IsZero { value, .. } => read(live, *value),
            Statement::Equal { a, b, .. } => read_all(live, &[*a, *b]),
            Statement::ReturnElements { values, .. } => {
                live.clear();
                read_all(live, values);
            }
            Statement::ReturnWord { .. } => live.clear(),
            Statement::Reserve { .. }
            | Statement::Bind { .. }
            | Statement::Get { .. }
            | Statement::Set { .. }
            | Statement::Require { .. } => {}
        }
    }

    /// The state of a loop has one slot for each part, which `params` and `results` name; it is written before the first
    /// turn and at the end of each.
    fn repeat(&mut self, repeat: &Repeat, live: &mut FixedBitSet) {
        let state: Vec<Value> = repeat.params.iter().chain(&repeat.results).copied().collect();
        for value in &repeat.results {
            live.remove(value.0 as usize);
        }
        let after = live.clone();
        let mut head = self.none();
        self.weight *= 10;
        for _ in 0..2 {
            let mut turn = after.clone();
            turn.union_with(&head);
            self.define(&state, &mut turn);
            read_all(&mut turn, &repeat.next);
            self.region(&repeat.body, &mut turn);
            head = turn;
        }
        for (&operand, &param) in repeat.next.iter().zip(&repeat.params) {
            self.alike(operand, param);
        }
        self.weight /= 10;
        live.union_with(&head);
        self.define(&state, live);
        for (&operand, &param) in repeat.initial.iter().zip(&repeat.params) {
            self.alike(operand, param);
        }
        read_all(live, &repeat.initial);
    }
}
