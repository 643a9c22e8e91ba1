//! Liveness: the values still needed after each point of a function, and the interference of values, which may not
//! share a slot.
//!
//! One backward walk over the structured body. A definition interferes with everything live after it. Values from
//! outside that a loop's body reads are collected first, since the next turn needs them at the end of this one.

use fixedbitset::FixedBitSet;
use foldhash::{HashMap, HashMapExt};
use residue_ir::program::{Arm, Block, Control, ControlKind, Function, FunctionId, Operand, Region, Statement, Value};
use std::mem;

/// Liveness of the values of a function, for allocation.
#[derive(Debug)]
pub struct Liveness {
    /// For each value, those that may not share its slot.
    pub interferes: Vec<FixedBitSet>,
    /// For each block, by the first value it defines, the values live after it.
    pub live_out: HashMap<Value, FixedBitSet>,
    /// Calls, with the values that are live before and after each.
    pub live_across_calls: Vec<(FunctionId, FixedBitSet)>,
    /// Values that would best share a slot, with how much it matters: turns of loops, 10 assumed for each.
    pub affinities: Vec<(Value, Value, u64)>,
    /// Arguments and results of calls: the value, the function, and which parameter (or, if not, result) it is.
    pub passed: Vec<(Value, FunctionId, Passed)>,
}

/// Role of a value in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// The argument for this parameter.
    Argument(usize),
    /// This result.
    Result(usize),
}

/// Analyses `function`, which may need `limit` values at once: if it needs more, says how many. Memory is taken by the square of the number of
/// values, and none where that is so.
pub fn liveness(function: &Function, limit: usize) -> Result<Liveness, usize> {
    let values = function.value_count as usize;
    let mut walk = Walk {
        values,
        weight: 1,
        limit,
        needed: 0,
        out: Liveness {
            interferes: vec![FixedBitSet::new(); values],
            live_out: HashMap::new(),
            live_across_calls: Vec::new(),
            affinities: Vec::new(),
            passed: Vec::new(),
        },
    };
    let mut live = walk.none();
    read_all(&mut live, &function.results);
    walk.region(&function.body, &mut live);
    // A function that maps a state to a state is called in a row: it leaves the state where it takes it.
    walk.weight = 10;
    for (&param, &result) in function.params.iter().zip(&function.results) {
        walk.prefer_one_slot(result, param);
    }
    for &param in &function.params {
        live.insert(param.0 as usize);
    }
    walk.define_at_once(&function.params, &mut live);
    if walk.needed > limit {
        return Err(walk.needed);
    }
    make_symmetric(&mut walk.out.interferes);
    Ok(walk.out)
}

/// Makes the interference relation symmetric and irreflexive.
fn make_symmetric(interferes: &mut [FixedBitSet]) {
    for own in 0..interferes.len() {
        let mut others = mem::take(&mut interferes[own]);
        others.grow(own + 1);
        others.remove(own);
        others.ones().for_each(|other| interferes[other].grow_and_insert(own));
        interferes[own] = others;
    }
}

/// The values that something in `function` reads.
pub fn values_read(function: &Function) -> FixedBitSet {
    let none = FixedBitSet::with_capacity(function.value_count as usize); // u32 to usize widens
    let (mut reads, mut defines) = (none.clone(), none);
    collect(&function.body, &mut reads, &mut defines);
    read_all(&mut reads, &function.results);
    reads
}

struct Walk {
    values: usize,
    weight: u64,
    /// The limit of values at once.
    limit: usize,
    /// The largest number seen.
    needed: usize,
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

    /// The same as [`Walk::define`] for values with a place of their own each.
    fn define_at_once(&mut self, values: &[Value], live: &mut FixedBitSet) {
        let most = live.count_ones(..) + values.len();
        if most > self.limit {
            values.iter().for_each(|value| live.insert(value.0 as usize));
            self.needed = self.needed.max(live.count_ones(..));
            values.iter().for_each(|value| live.remove(value.0 as usize));
        }
        self.define(values, live);
    }

    /// `values` come to be here, as one: they interfere with everything live after them and with each other. [`make_symmetric`] makes it mutual: parts of
    /// sequences define the same values again and again. Nothing is noted once there are too many.
    fn define(&mut self, values: &[Value], live: &mut FixedBitSet) {
        for value in values {
            live.insert(value.0 as usize);
        }
        if self.needed <= self.limit {
            for value in values {
                let own = value.0 as usize;
                self.out.interferes[own].union_with(live);
            }
        }
        for value in values {
            live.remove(value.0 as usize);
        }
    }

    fn prefer_one_slot(&mut self, operand: Operand, value: Value) {
        if let Operand::Value(other) = operand {
            self.out.affinities.push((other, value, self.weight));
        }
    }

    fn region(&mut self, region: &Region, live: &mut FixedBitSet) {
        for statement in region.statements.iter().rev() {
            self.statement(statement, live);
        }
    }

    fn block(&mut self, block: &Block, live: &mut FixedBitSet) {
        if let Some((first, _)) = block.ops.first() {
            self.out.live_out.insert(*first, live.clone());
        }
        for &(value, op) in block.ops.iter().rev() {
            self.define_at_once(&[value], live);
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
                self.define_at_once(results, live);
                self.out.live_across_calls.push((*function, live.clone()));
                read_all(live, arguments);
            }
            Statement::Control(control) => match control.kind {
                ControlKind::Repeat { .. } => self.repeat(control, live),
                ControlKind::Countdown { .. } => self.countdown(control, live),
                ControlKind::Sequence(_) => self.sequence(control, live),
                ControlKind::Branch { .. } => self.branch(control, live),
            },
            Statement::Effect(effect) => {
                if effect.ends() {
                    live.clear();
                }
                self.define_at_once(effect.values_defined(), live);
                effect.operands().for_each(|operand| read(live, operand));
            }
        }
    }

    fn branch(&mut self, branch: &Control, live: &mut FixedBitSet) {
        for result in &branch.results {
            live.remove(result.0 as usize);
        }
        let mut before = self.none();
        for arm in &branch.arms {
            let mut within = live.clone();
            self.define_at_once(&branch.results, &mut within);
            for (&operand, &result) in arm.gives.iter().zip(&branch.results) {
                self.prefer_one_slot(operand, result);
            }
            read_all(&mut within, &arm.gives);
            self.region(&arm.body, &mut within);
            before.union_with(&within);
        }
        *live = before;
    }

    /// The state of a loop has one slot for each part, which `params` and `results` name; it is written before the first
    /// turn and at the end of each.
    fn repeat(&mut self, repeat: &Control, live: &mut FixedBitSet) {
        let [arm] = &repeat.arms[..] else { unreachable!("a loop has one arm: `verify` checks it") };
        let state: Vec<Value> = arm.params.iter().chain(&repeat.results).copied().collect();
        for value in &repeat.results {
            live.remove(value.0 as usize);
        }
        let around = self.weight;
        self.weight = around.saturating_mul(10);
        let mut turn = live.clone();
        turn.union_with(&self.read_from_outside(arm));
        self.define(&state, &mut turn);
        read_all(&mut turn, &arm.gives);
        self.region(&arm.body, &mut turn);
        for (&operand, &param) in arm.gives.iter().zip(&arm.params) {
            self.prefer_one_slot(operand, param);
        }
        self.weight = around;
        live.union_with(&turn);
        self.define(&state, live);
        for (&operand, &param) in repeat.initial.iter().zip(&arm.params) {
            self.prefer_one_slot(operand, param);
        }
        read_all(live, &repeat.initial);
    }

    /// The state of a countdown has one slot for each part, which all turns and the results share. Control comes to every
    /// turn from the one before it and from the start.
    fn countdown(&mut self, countdown: &Control, live: &mut FixedBitSet) {
        let mut after = &countdown.results;
        self.define(after, live);
        let mut start = live.clone();
        for turn in countdown.arms.iter().rev() {
            for (&operand, &part) in turn.gives.iter().zip(after) {
                self.prefer_one_slot(operand, part);
            }
            read_all(live, &turn.gives);
            self.region(&turn.body, live);
            self.define(&turn.params, live);
            start.union_with(live);
            after = &turn.params;
        }
        *live = start;
        for (&operand, &part) in countdown.initial.iter().zip(after) {
            self.prefer_one_slot(operand, part);
        }
        read_all(live, &countdown.initial);
    }

    /// The state of a sequence has one slot for each part of it, which all params and the results name. Control may come to
    /// every part from every other.
    fn sequence(&mut self, sequence: &Control, live: &mut FixedBitSet) {
        let params = sequence.arms.iter().flat_map(|part| &part.params);
        let state: Vec<Value> = params.chain(&sequence.results).copied().collect();
        for value in &sequence.results {
            live.remove(value.0 as usize);
        }
        for part in &sequence.arms {
            live.union_with(&self.read_from_outside(part));
        }
        for value in &state {
            live.remove(value.0 as usize);
        }
        let (after, around) = (live.clone(), self.weight);
        self.weight = around.saturating_mul(10);
        for part in &sequence.arms {
            let mut turn = after.clone();
            self.define(&state, &mut turn);
            read_all(&mut turn, &part.gives);
            self.region(&part.body, &mut turn);
            for (&operand, &param) in part.gives.iter().zip(&part.params) {
                self.prefer_one_slot(operand, param);
            }
        }
        self.weight = around;
        self.define(&state, live);
        if let Some(first) = sequence.arms.first() {
            for (&operand, &param) in sequence.initial.iter().zip(&first.params) {
                self.prefer_one_slot(operand, param);
            }
        }
        read_all(live, &sequence.initial);
    }

    /// Values of the text around a loop that its turns read. Each value is defined once, so values read and not defined
    /// within come from outside.
    fn read_from_outside(&self, arm: &Arm) -> FixedBitSet {
        let (mut reads, mut defines) = (self.none(), self.none());
        read_all(&mut reads, &arm.gives);
        collect(&arm.body, &mut reads, &mut defines);
        reads.difference_with(&defines);
        reads
    }
}

/// Adds the values that `region` reads and defines to `reads` and `defines`, inner regions included.
fn collect(region: &Region, reads: &mut FixedBitSet, defines: &mut FixedBitSet) {
    region.walk(&mut |statement| {
        statement.for_each_definition(&mut |value| defines.insert(value.0 as usize));
        statement.for_each_operand(&mut |operand| read(reads, operand));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::text;

    /// `depth` loops, one in the other; the innermost reads v0, which is defined before all.
    fn nested(depth: u32) -> Function {
        let words: String = (0..depth).map(|level| format!("word w{} = defined\n", level + 1)).collect();
        let opening: String = (0..depth)
            .map(|level| format!("repeat w0 index w{} (v{}) = (v{}) {{\n", level + 1, level + 2, level + 1))
            .collect();
        let product = depth + 2;
        let closing: String =
            (product..product + depth).map(|given| format!("give (v{given})\n}} -> (v{})\n", given + 1)).collect();
        let last = product + depth;
        let text = format!(
            "program \"nested\" modulus 0x61\nfunction f0 \"start\" () -> () values {} {{\nword w0 = 0x2\n{words}\
             parse w0 bytes 1 -> v0\nparse w0 bytes 1 -> v1\n{opening}block {{ v{product} = mul v{} v0 }}\n{closing}\
             return_elements (v{last}) bytes 1\n}}\n",
            last + 1,
            depth + 1,
        );
        text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).functions.remove(0)
    }

    #[test]
    fn a_value_read_in_a_loop_is_live_through_every_turn() {
        // Forty levels end only if no level doubles the work.
        for depth in [1, 2, 40] {
            let function = nested(depth);
            let live = liveness(&function, usize::MAX).unwrap();
            for value in 1..function.value_count as usize {
                assert!(live.interferes[0].contains(value), "depth {depth}, v{value}");
            }
            assert_eq!(live.live_out.len(), 1);
            assert_eq!(live.affinities.len(), 2 * depth as usize);
        }
    }
}
