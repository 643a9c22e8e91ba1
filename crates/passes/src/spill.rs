//! Spilling: values that are live at the same time as too many others stand in an array of memory, from where each use loads them.
//!
//! At the point with the most live values the one whose next use is farthest goes (Belady 1966, "A study of replacement algorithms for a
//! virtual-storage computer"), until the rest fits. Blocks are cut where a value is stored or loaded. Values of parts of sequences stay in slots, as
//! such a part begins with the rows that it takes.
//!
//! Judge: `crates/compiler/tests/spilling.rs` runs what is compiled beside the evaluation of the program as it was written.

use fixedbitset::FixedBitSet;
use residue_ir::program::{
    ArrayDecl, ArrayId, Block, Control, ControlKind, Function, Operand, Program, Region, Statement, Value, Word,
    WordDef,
};
use residue_ir::{Capacity, Effect};
use ruint::aliases::U256;
use std::collections::HashMap;
use std::mem;

/// Bounds the live values of every function of the unit, its callees' included, by `limit`. False, with the unit unchanged, if that cannot be done or holds
/// already.
pub fn spill(unit: &mut Program, limit: usize) -> bool {
    let mut most_of = Vec::new();
    let mut chosen = Vec::new();
    for function in &unit.functions {
        let mut ranges = Ranges::of(function, &most_of);
        let Some(spilled) = ranges.choose(limit) else { return false };
        most_of.push(ranges.pressure().into_iter().max().unwrap_or(0));
        chosen.push(spilled);
    }
    let count: usize = chosen.iter().map(Vec::len).sum();
    let Some(capacity) = u32::try_from(count).ok().filter(|&count| count > 0) else { return false };
    let array = ArrayId(unit.arrays.len());
    unit.arrays.push(ArrayDecl { name: "spilled".to_owned(), element_values: 1, capacity: Capacity::Fixed(capacity) });
    let mut cells = 0..;
    for (function, spilled) in unit.functions.iter_mut().zip(chosen) {
        let cell_of = spilled.into_iter().zip(&mut cells).collect();
        Rewriting { array, cell_of, values: function.value_count, words: mem::take(&mut function.words) }
            .function(function);
    }
    true
}

/// Extent of a live value: points are numbered in the order of the text, one for each operation, statement, and beginning and end of an arm.
#[derive(Debug, Clone, Default)]
struct Range {
    /// The point that defines it.
    first: usize,
    /// The point of its last use, or the end of a loop around that which it comes into.
    last: usize,
    /// Points of its uses, ascending.
    uses: Vec<usize>,
    /// It stays in a slot.
    is_fixed: bool,
    is_spilled: bool,
}

struct Ranges<'a> {
    ranges: Vec<Range>,
    /// Values of callees at the points of calls.
    callees: HashMap<usize, usize>,
    points: usize,
    /// The most live values of each function before this one.
    most_of: &'a [usize],
    /// Points at which the loops around begin.
    loops: Vec<usize>,
    /// Number of sequences around.
    sequences: usize,
    /// For each loop begun, values that come into it.
    entering: Vec<Vec<Value>>,
}

impl<'a> Ranges<'a> {
    fn of(function: &Function, most_of: &'a [usize]) -> Self {
        let ranges = vec![Range::default(); function.value_count as usize]; // u32 to usize widens
        let (loops, entering) = (Vec::new(), Vec::new());
        let mut found = Self { ranges, callees: HashMap::new(), points: 1, most_of, loops, sequences: 0, entering };
        found.region(&function.body);
        function.results.iter().for_each(|&result| found.used(result));
        found.points += 1;
        found
    }

    fn range(&mut self, value: Value) -> &mut Range {
        &mut self.ranges[value.0 as usize] // u32 to usize widens
    }

    fn defined(&mut self, value: Value) {
        let (point, is_fixed) = (self.points, self.sequences > 0);
        let range = self.range(value);
        (range.first, range.last, range.is_fixed) = (point, point, is_fixed);
    }

    fn used(&mut self, operand: Operand) {
        let Operand::Value(value) = operand else { return };
        let (point, is_fixed) = (self.points, self.sequences > 0);
        let range = self.range(value);
        range.last = point;
        range.is_fixed |= is_fixed;
        if range.uses.last() != Some(&point) {
            range.uses.push(point);
        }
        let first = range.first;
        // The outermost loop that it comes into holds it to its end.
        if let Some(outer) = self.loops.iter().position(|&begin| begin >= first) {
            self.entering[outer].push(value);
        }
    }

    fn region(&mut self, region: &Region) {
        for statement in &region.statements {
            match statement {
                Statement::Block(block) => {
                    for (value, op) in &block.ops {
                        self.points += 1;
                        [op.x, op.y].into_iter().for_each(|operand| self.used(operand));
                        self.defined(*value);
                    }
                }
                Statement::Control(control) => self.control(control),
                Statement::Call { .. } | Statement::Effect(_) => {
                    self.points += 1;
                    if let Statement::Call { function, .. } = statement {
                        let most = self.most_of.get(function.0 as usize).copied().unwrap_or(0); // u32 to usize widens
                        self.callees.insert(self.points, most);
                    }
                    statement.for_each_operand(&mut |operand| self.used(operand));
                    statement.for_each_definition(&mut |value| self.defined(value));
                }
            }
        }
    }

    fn control(&mut self, control: &Control) {
        self.points += 1;
        control.initial.iter().for_each(|&operand| self.used(operand));
        let is_sequence = matches!(control.kind, ControlKind::Sequence(_));
        let is_loop = !matches!(control.kind, ControlKind::Branch { .. });
        self.sequences += usize::from(is_sequence);
        if is_loop {
            self.loops.push(self.points);
            self.entering.push(Vec::new());
        }
        for arm in &control.arms {
            self.points += 1;
            arm.params.iter().for_each(|&param| self.defined(param));
            self.region(&arm.body);
            self.points += 1;
            arm.gives.iter().for_each(|&operand| self.used(operand));
        }
        self.points += 1;
        if is_loop {
            self.loops.pop();
            let end = self.points;
            for value in self.entering.pop().unwrap_or_default() {
                let range = self.range(value);
                range.last = range.last.max(end);
            }
        }
        self.sequences -= usize::from(is_sequence);
        control.results.iter().for_each(|&result| self.defined(result));
    }

    /// The values that are live at each point.
    fn pressure(&self) -> Vec<usize> {
        let mut changes = vec![0isize; self.points + 2];
        let mut add = |first: usize, last: usize| {
            changes[first] += 1;
            changes[last + 1] -= 1;
        };
        for range in &self.ranges {
            if range.is_spilled {
                std::iter::once(&range.first).chain(&range.uses).for_each(|&point| add(point, point));
            } else {
                add(range.first, range.last);
            }
        }
        let live = changes.iter().scan(0, |sum, change| {
            *sum += change;
            Some(usize::try_from(*sum).unwrap_or(0))
        });
        let mut live: Vec<usize> = live.collect();
        // What a call takes and gives may stand where the callee has it.
        let through = |point: usize| {
            let is_through = |range: &&Range| !range.is_spilled && range.first < point && point < range.last;
            self.ranges.iter().filter(is_through).count()
        };
        for (&point, most) in &self.callees {
            live[point] = live[point].max(through(point) + most);
        }
        live
    }

    /// The values to spill so that `limit` are left at every point, ascending; none where there is no such choice.
    fn choose(&mut self, limit: usize) -> Option<Vec<Value>> {
        let mut pressure = self.pressure();
        for point in 0..pressure.len() {
            while pressure[point] > limit {
                let next_use = |range: &Range| range.uses.iter().copied().find(|&at| at > point).unwrap_or(range.last);
                let is_between = |range: &Range| {
                    !range.is_fixed
                        && !range.is_spilled
                        && range.first < point
                        && point < range.last
                        && !range.uses.contains(&point)
                };
                let farthest =
                    self.ranges.iter_mut().filter(|range| is_between(range)).max_by_key(|range| next_use(range))?;
                farthest.is_spilled = true;
                let mut stays = FixedBitSet::with_capacity(farthest.last + 1);
                std::iter::once(&farthest.first).chain(&farthest.uses).for_each(|&at| stays.insert(at));
                (farthest.first..=farthest.last).filter(|&at| !stays[at]).for_each(|at| pressure[at] -= 1);
            }
        }
        let spilled = (0..).zip(&self.ranges).filter(|(_, range)| range.is_spilled);
        Some(spilled.map(|(number, _)| Value(number)).collect())
    }
}

/// A function with its spilled values in an array.
struct Rewriting {
    array: ArrayId,
    /// The index of each spilled value.
    cell_of: HashMap<Value, u64>,
    /// Values so far.
    values: u32,
    words: Vec<WordDef>,
}

impl Rewriting {
    fn function(mut self, function: &mut Function) {
        let mut statements = self.stores(&function.params);
        self.region(&mut function.body);
        let mut last = Vec::new();
        for result in &mut function.results {
            last.extend(self.load(result));
        }
        statements.append(&mut function.body.statements);
        statements.extend(last);
        function.body.statements = statements;
        (function.value_count, function.words) = (self.values, self.words);
    }

    fn index(&mut self, cell: u64) -> Word {
        self.words.push(WordDef::Constant(U256::from(cell)));
        Word(u32::try_from(self.words.len() - 1).expect("a function has fewer words"))
    }

    fn stores(&mut self, values: &[Value]) -> Vec<Statement> {
        let of = |&value: &Value| self.cell_of.get(&value).map(|&cell| (value, cell));
        let stored: Vec<(Value, u64)> = values.iter().filter_map(of).collect();
        let array = self.array;
        let store = |(value, cell)| {
            Statement::Effect(Effect::Store { array, index: self.index(cell), values: vec![Operand::Value(value)] })
        };
        stored.into_iter().map(store).collect()
    }

    /// Makes the operand a value of its own, if it is spilled, and gives what loads that.
    fn load(&mut self, operand: &mut Operand) -> Option<Statement> {
        let &cell = self.cell_of.get(&operand.value()?)?;
        let result = Value(self.values);
        self.values += 1;
        *operand = Operand::Value(result);
        Some(Statement::Effect(Effect::Load { array: self.array, index: self.index(cell), results: vec![result] }))
    }

    fn region(&mut self, region: &mut Region) {
        for statement in mem::take(&mut region.statements) {
            match statement {
                Statement::Block(block) => self.block(block, &mut region.statements),
                statement => self.statement(statement, &mut region.statements),
            }
        }
    }

    /// The block, cut before operations that load and after those that store.
    fn block(&mut self, block: Block, statements: &mut Vec<Statement>) {
        let mut ops = Vec::new();
        let mut cut = |ops: &mut Vec<_>, others: Vec<Statement>| {
            if !others.is_empty() {
                let before = Block { ops: mem::take(ops) };
                statements.extend((!before.ops.is_empty()).then_some(Statement::Block(before)));
                statements.extend(others);
            }
        };
        for (value, mut op) in block.ops {
            let is_square = op.x == op.y;
            let mut loads: Vec<Statement> = self.load(&mut op.x).into_iter().collect();
            if is_square {
                op.y = op.x;
            } else {
                loads.extend(self.load(&mut op.y));
            }
            cut(&mut ops, loads);
            ops.push((value, op));
            let stores = self.stores(&[value]);
            cut(&mut ops, stores);
        }
        statements.extend((!ops.is_empty()).then_some(Statement::Block(Block { ops })));
    }

    fn statement(&mut self, mut statement: Statement, statements: &mut Vec<Statement>) {
        if let Statement::Control(control) = &mut statement {
            for arm in &mut control.arms {
                let mut body = self.stores(&arm.params);
                self.region(&mut arm.body);
                body.append(&mut arm.body.statements);
                for given in &mut arm.gives {
                    body.extend(self.load(given));
                }
                arm.body.statements = body;
            }
            for operand in &mut control.initial {
                statements.extend(self.load(operand));
            }
        } else {
            statement.for_each_operand_mut(&mut |operand| statements.extend(self.load(operand)));
        }
        let mut defined = Vec::new();
        match &statement {
            Statement::Control(control) => defined.clone_from(&control.results),
            statement => statement.for_each_definition(&mut |value| defined.push(value)),
        }
        statements.push(statement);
        statements.extend(self.stores(&defined));
    }
}
