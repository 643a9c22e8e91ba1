//! Slot allocation: places every value of every function in a slot, so that calls and loops need few copies.
//!
//! All functions share one file of slots. Functions are placed callees first; the slots that a call clobbers are then
//! known, and a value that lives across it avoids them, while an argument prefers the parameter's own slot. Values that
//! would be copied into each other are first joined into classes unless they interfere; classes are then coloured in
//! the order of their definition. In revisions with strided instructions slots are given out in turn, so that
//! neighbouring operations get neighbouring slots and few wait for a slot to be read: then more of them are lanes of
//! one instruction. Compiled blocks are judged later, so this file may be clever.

use crate::liveness::{Liveness, Passed, liveness};
use crate::rows::{Row, Rows, Sizes, lines, side_by_side, together};
use crate::slots::{Slot, SlotOp};
use fixedbitset::FixedBitSet;
use foldhash::{HashMap, HashMapExt};
use residue_ir::program::{Function, FunctionId, Op, Operand, Program, Region, Statement, Value};
use std::mem;
use thiserror::Error;

/// Cost of operations on slots. Several may become one instruction, depending on placement.
pub trait Cost {
    /// Number of instructions for `ops`, done in order.
    fn instructions(&self, ops: &[SlotOp]) -> u64;
}

/// More slots are needed at once than there are.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("function `{function}` needs more than {limit} slots at once{}", needed.map_or(String::new(), |needed| format!(", {needed}")))]
pub struct TooFewSlots {
    /// The function.
    pub function: String,
    /// The values that it has at once, where they are too many by themselves.
    pub needed: Option<usize>,
    /// Slots left for the function beside constants.
    pub limit: Slot,
}

/// Placement of the values of one function.
#[derive(Debug, Clone)]
pub struct Placement {
    /// The slot of each value.
    pub slot_of: Vec<Slot>,
    /// Slots that a call of the function may overwrite, those of its callees included.
    pub clobbers: FixedBitSet,
    /// For each block, by the first value it defines, the values that are needed after it.
    pub live_out: HashMap<Value, FixedBitSet>,
}

impl Placement {
    /// The slot of `value`.
    pub fn slot(&self, value: Value) -> Slot {
        self.slot_of[value.0 as usize]
    }
}

/// The whole program's placement.
#[derive(Debug, Clone)]
pub struct Allocation {
    /// One for each function.
    pub functions: Vec<Placement>,
    /// Slots 0 to this are used.
    pub slots_used: Slot,
}

/// Places every function, with at most `limit` slots; values of one of `rows` would best be neighbours. Without a cost every operation
/// is an instruction, and the fewest slots are best.
pub fn allocate(
    program: &Program,
    rows: &Rows<'_>,
    limit: Slot,
    cost: Option<&dyn Cost>,
) -> Result<Allocation, TooFewSlots> {
    let functions = program.functions.iter().zip(&rows.functions);
    let shapes = functions.map(|(function, own)| Shape::new((function, own.as_slice()), rows.moved_whole, limit));
    let mut shapes = shapes.collect::<Result<Vec<Shape>, TooFewSlots>>()?;
    let mut allocation = place_all(program, &shapes, limit, None)?;
    if let Some(cost) = cost {
        // What callees spread over, their callers lack: where that leaves too little room, all spread less, or not at all.
        let roomy = [SLACKS.len(), SLACKS.len() / 2, SLACKS.len() / 4, 1].into_iter().find_map(|slacks| {
            let choice = Choice { cost, packed_slots: allocation.slots_used, slacks: &SLACKS[..slacks] };
            place_all(program, &shapes, limit, Some(choice)).ok()
        });
        allocation = roomy.unwrap_or(allocation);
    }
    for (placement, shape) in allocation.functions.iter_mut().zip(&mut shapes) {
        placement.live_out = mem::take(&mut shape.live_out);
    }
    Ok(allocation)
}

/// Parameters for the choice of a placement.
#[derive(Clone, Copy)]
struct Choice<'a> {
    /// Cost of operations.
    cost: &'a dyn Cost,
    /// Number of slots of the packed program.
    packed_slots: Slot,
    /// Extra slots over the minimum that a function may spread over, each tried.
    slacks: &'a [Slot],
}

/// Places every function: packed, or by choice. Live values after blocks are not collected.
fn place_all(
    program: &Program,
    shapes: &[Shape],
    limit: Slot,
    choice: Option<Choice<'_>>,
) -> Result<Allocation, TooFewSlots> {
    let mut functions: Vec<Placement> = Vec::new();
    for (function, shape) in program.functions.iter().zip(shapes) {
        let placed = place(program, (function, shape), &functions, limit, choice)?;
        functions.push(placed);
    }
    let last = functions.iter().filter_map(|placement| placement.clobbers.ones().next_back()).max();
    let slots_used = last.map_or(0, |slot| narrow(slot) + 1);
    Ok(Allocation { functions, slots_used })
}

fn narrow(index: usize) -> Slot {
    Slot::try_from(index).expect("there are fewer than 2³² slots")
}

/// Values joined into classes that get one slot each.
struct Classes {
    /// Parent links; a root is its own parent.
    parent: Vec<usize>,
    /// For a root: the values in the class.
    members: Vec<Vec<usize>>,
    /// For a root: the values that may not share its slot.
    interferes: Vec<FixedBitSet>,
}

impl Classes {
    fn new(interferes: Vec<FixedBitSet>) -> Self {
        let values = interferes.len();
        Self { parent: (0..values).collect(), members: (0..values).map(|value| vec![value]).collect(), interferes }
    }

    fn root(&self, mut value: usize) -> usize {
        while self.parent[value] != value {
            value = self.parent[value];
        }
        value
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            let (keep, gone) = (a.min(b), a.max(b));
            let (members, interferes) = (mem::take(&mut self.members[gone]), mem::take(&mut self.interferes[gone]));
            self.members[keep].extend(members);
            self.interferes[keep].union_with(&interferes);
            self.parent[gone] = keep;
        }
    }

    fn join_if_free(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b && !self.members[b].iter().any(|&member| self.interferes[a].contains(member)) {
            self.join(a, b);
        }
    }
}

/// Joins the parts of each loop's state, which are one place by construction.
fn join_loops(region: &Region, classes: &mut Classes) {
    region.walk(&mut |statement| {
        if let Statement::Control(control) = statement {
            for arm in &control.arms {
                for (param, result) in arm.params.iter().zip(&control.results) {
                    classes.join(param.0 as usize, result.0 as usize);
                }
            }
        }
    });
}

/// Inputs to the placement of a function that do not depend on the placement of others.
struct Shape {
    /// For each value, the value that stands for its class.
    root: Vec<usize>,
    /// For a root: those of the classes that may not share its slot, each once.
    neighbours: Vec<Vec<u32>>,
    /// Classes that would best share a slot, with how much it matters.
    copies: Vec<(usize, usize, u64)>,
    /// Values that should stand in consecutive slots, in order: the first `placed_first` groups are placed before all
    /// else.
    groups: Vec<Vec<Value>>,
    placed_first: usize,
    /// For a root: the first of the groups that it is in.
    group_of: HashMap<usize, usize>,
    /// As for [`Liveness`].
    live_out: HashMap<Value, FixedBitSet>,
    /// As for [`Liveness`].
    live_across_calls: Vec<(FunctionId, FixedBitSet)>,
    /// As for [`Liveness`].
    passed: Vec<(Value, FunctionId, Passed)>,
}

impl Shape {
    fn new(
        (function, rows): (&Function, &[Row<'_>]),
        moved_whole: Option<Sizes>,
        limit: Slot,
    ) -> Result<Self, TooFewSlots> {
        let too_few = |needed| TooFewSlots { function: function.name.clone(), needed: Some(needed), limit };
        let live = liveness(function, limit as usize).map_err(too_few)?; // u32 to usize widens
        let Liveness { interferes, live_out, live_across_calls, mut affinities, passed } = live;
        let values = interferes.len();
        let mut classes = Classes::new(interferes);
        join_loops(&function.body, &mut classes);
        affinities.sort_by_key(|&(_, _, weight)| std::cmp::Reverse(weight));
        for &(a, b, _) in &affinities {
            classes.join_if_free(a.0 as usize, b.0 as usize);
        }
        let root: Vec<usize> = (0..values).map(|value| classes.root(value)).collect();
        let copies = affinities.iter().map(|&(a, b, weight)| (root[a.0 as usize], root[b.0 as usize], weight));
        let copies = copies.filter(|(a, b, _)| a != b).collect();
        let mut marked = FixedBitSet::with_capacity(values);
        let neighbours = (0..values).map(|value| {
            let interferes = Some(&classes.interferes[value]).filter(|_| root[value] == value);
            marked.clear();
            marked.extend(interferes.into_iter().flat_map(FixedBitSet::ones).map(|other| root[other]));
            marked.ones().map(narrow).collect()
        });
        let neighbours = neighbours.collect();
        let mut groups = lines(rows);
        groups.extend(together(rows));
        let placed_first = groups.len();
        groups.extend(side_by_side(rows, moved_whole));
        let mut group_of = HashMap::new();
        for (number, group) in groups.iter().enumerate() {
            for value in group {
                group_of.entry(root[value.0 as usize]).or_insert(number);
            }
        }
        Ok(Self { root, neighbours, copies, groups, placed_first, group_of, live_out, live_across_calls, passed })
    }

    fn root(&self, value: Value) -> usize {
        self.root[value.0 as usize] // u32 to usize widens
    }
}

/// The state of colouring one function.
struct Colouring<'a> {
    shape: &'a Shape,
    /// For a root: slots that calls overwrite while the class is live.
    forbidden: Vec<FixedBitSet>,
    /// For a root: slots it would like, best first.
    hints: Vec<Vec<Slot>>,
    colour: Vec<Option<Slot>>,
    limit: Slot,
    function: &'a Function,
    /// Room for the marks of slots that a class may not have.
    taken: Vec<bool>,
    /// Memoised costs of blocks: placements differ in few of them.
    weighed: HashMap<Vec<SlotOp>, u64>,
    /// Slots below this bound are given out in turn; only when they are taken, the lowest free one.
    window: Slot,
    /// Slot at which the search for the next one starts.
    cursor: Slot,
}

/// The last slot there can be.
const SLOT_LAST: Slot = 255;

/// Cost of a slot of a function, in bytes of code: callers have to keep their values elsewhere.
const SLOT_BYTES: u64 = 3;

/// The same for a slot beyond those that the packed program takes: the memory of each costs six gas.
const SLOT_BYTES_MORE: u64 = 12;

/// Cost of an argument or result of a call in another slot, in bytes of code: often several of them move at once.
const MOVED_BYTES: u64 = 6;

/// Cost of a neighbour elsewhere, for a group without a place of its own, in bytes of code: one more instruction with
/// three operands moves it.
const SPLIT_BYTES: u64 = 24;

/// Extra slots over the minimum that colouring may use to keep operations independent. Each is tried; the placement
/// with the least code is kept.
const SLACKS: [Slot; 8] = [2, 5, 8, 11, 14, 16, 19, 22];

fn place(
    program: &Program,
    (function, shape): (&Function, &Shape),
    done: &[Placement],
    limit: Slot,
    choice: Option<Choice<'_>>,
) -> Result<Placement, TooFewSlots> {
    let values = shape.root.len();
    let mut clobbers = FixedBitSet::with_capacity(limit as usize);
    let mut forbidden = vec![FixedBitSet::with_capacity(limit as usize); values];
    for (callee, live) in &shape.live_across_calls {
        let callee = &done[callee.0 as usize];
        clobbers.union_with(&callee.clobbers);
        for value in live.ones() {
            forbidden[shape.root[value]].union_with(&callee.clobbers);
        }
    }
    // What a function gives back as it took it, its callers keep while they call others.
    for param in &function.params {
        if function.results.contains(&Operand::Value(*param)) {
            for other in done {
                forbidden[shape.root(*param)].union_with(&other.clobbers);
            }
        }
    }
    let mut hints = vec![Vec::new(); values];
    for &(value, callee, which) in &shape.passed {
        let operand = match which {
            Passed::Argument(number) => program.function(callee).params[number],
            Passed::Result(number) => match program.function(callee).results[number].value() {
                Some(value) => value,
                None => continue,
            },
        };
        hints[shape.root(value)].push(done[callee.0 as usize].slot(operand));
    }

    let (colour, taken, weighed) = (vec![None; values], Vec::new(), HashMap::new());
    let mut colouring =
        Colouring { shape, forbidden, hints, colour, limit, function, taken, weighed, window: 0, cursor: 0 };
    colouring.run(false)?;
    if let Some(choice) = choice {
        colouring.choose_roomy(choice);
    }
    let colour = |&root: &usize| colouring.colour[root].expect("every class is coloured");
    let slot_of: Vec<Slot> = shape.root.iter().map(colour).collect();
    for &slot in &slot_of {
        clobbers.insert(slot as usize);
    }
    Ok(Placement { slot_of, clobbers, live_out: HashMap::new() })
}

impl Colouring<'_> {
    /// After the packed placement, which has room where the roomy ones may have not, tries these too and keeps the best.
    fn choose_roomy(&mut self, choice: Choice<'_>) {
        let fewest = self.colour.iter().flatten().max().map_or(0, |slot| slot + 1);
        let all = u64::MAX;
        let mut best = (self.code_bytes(choice, all).unwrap_or(all), self.colour.clone());
        let mut windows: Vec<Slot> = choice.slacks.iter().map(|&slack| (fewest + slack).min(self.limit)).collect();
        windows.dedup();
        // Where calls take and give nothing, both orders are one.
        let orders: &[bool] = if self.hints.iter().all(Vec::is_empty) { &[false] } else { &[false, true] };
        for (window, &passed_first) in
            windows.into_iter().flat_map(|window| orders.iter().map(move |order| (window, order)))
        {
            self.colour.fill(None);
            self.window = window;
            self.cursor = 0; // All functions take their state from the lowest slots.
            if self.run(passed_first).is_ok()
                && let Some(code_bytes) = self.code_bytes(choice, best.0)
            {
                best = (code_bytes, self.colour.clone());
            }
        }
        self.colour = best.1;
    }

    /// Colours all classes; those that calls take or give before others, or in their turn.
    fn run(&mut self, passed_first: bool) -> Result<(), TooFewSlots> {
        let shape = self.shape;
        // Elements that are loaded and stored come first: a push of slot 0 is the cheapest.
        for group in &shape.groups[..shape.placed_first] {
            self.colour_group(group);
        }
        for class in (0..self.colour.len()).filter(|_| passed_first) {
            if self.colour[class].is_none() && !self.hints[class].is_empty() {
                let taken = self.taken(class);
                self.colour[class] = self.hints[class].iter().copied().find(|&slot| !taken[slot as usize]);
            }
        }
        for value in 0..self.colour.len() {
            let class = shape.root[value];
            if self.colour[class].is_some() {
                continue;
            }
            if let Some(&group) = shape.group_of.get(&class) {
                self.cursor = self.colour_group(&shape.groups[group]).unwrap_or(self.cursor);
            }
            if self.colour[class].is_none() {
                self.colour[class] = Some(self.choose(class)?);
            }
        }
        Ok(())
    }

    /// An estimate, if it is below `limit`: a field instruction has eight bytes, and so has a copy, which costs gas too, and so does a slot.
    fn code_bytes(&mut self, Choice { cost, packed_slots, .. }: Choice<'_>, limit: u64) -> Option<u64> {
        let mut weighed = mem::take(&mut self.weighed);
        let colour = |value: Value| self.colour[self.shape.root(value)].expect("every class is coloured");
        let slot = |operand: Operand| match operand {
            Operand::Value(value) => colour(value),
            Operand::Constant(id) => SLOT_LAST.saturating_sub(id.0), // Somewhere else.
        };
        let apart = self.shape.copies.iter().filter(|&&(a, b, _)| self.colour[a] != self.colour[b]);
        let slots = self.colour.iter().flatten().max().map_or(0, |&slot| u64::from(slot) + 1);
        let elsewhere = |(hints, &colour): (&Vec<Slot>, _)| hints.iter().filter(|&&slot| colour != Some(slot)).count();
        let moved = self.hints.iter().zip(&self.colour).map(elsewhere).sum::<usize>() as u64; // usize to u64 widens
        let more = slots.saturating_sub(packed_slots.into());
        let others = self.shape.groups[self.shape.placed_first..].iter().flat_map(|group| group.windows(2));
        let is_split = |pair: &&[Value]| colour(pair[0]) + 1 != colour(pair[1]);
        let split = others.filter(is_split).count() as u64; // usize to u64 widens
        let mut bytes = apart.map(|&(_, _, weight)| 8 + weight).sum::<u64>()
            + SLOT_BYTES * slots
            + SLOT_BYTES_MORE * more
            + MOVED_BYTES * moved
            + SPLIT_BYTES * split;
        // Instructions take longest to find: none are once there are too many.
        self.function.body.for_each_block(&mut |block| {
            if bytes >= limit {
                return;
            }
            let op = |&(value, op): &(Value, Op)| SlotOp {
                operation: op.kind,
                out: colour(value),
                x: slot(op.x),
                y: slot(op.y),
            };
            let ops: Vec<SlotOp> = block.ops.iter().map(op).collect();
            bytes += 8 * *weighed.entry(ops).or_insert_with_key(|ops| cost.instructions(ops));
        });
        self.weighed = weighed;
        (bytes < limit).then_some(bytes)
    }

    /// For each slot whether `class` may not have it.
    fn taken(&self, class: usize) -> Vec<bool> {
        let mut taken = Vec::new();
        self.mark_taken(class, &mut taken);
        taken
    }

    /// The same in `taken`. Marks, not bits: a mark does not wait for the one before.
    fn mark_taken(&self, class: usize, taken: &mut Vec<bool>) {
        let limit = self.limit as usize; // u32 to usize widens
        taken.clear();
        taken.resize(limit + 1, false);
        self.forbidden[class].ones().for_each(|slot| taken[slot] = true);
        for &neighbour in &self.shape.neighbours[class] {
            // The mark after those of slots is for classes without a slot, as a branch would take longer.
            taken[self.colour[neighbour as usize].map_or(limit, |slot| slot as usize)] = true;
        }
        taken.truncate(limit);
    }

    fn choose(&mut self, class: usize) -> Result<Slot, TooFewSlots> {
        let mut taken = mem::take(&mut self.taken);
        self.mark_taken(class, &mut taken);
        let free = |slot: &Slot| !taken[*slot as usize]; // u32 to usize widens
        let hint = self.hints[class].iter().copied().find(free);
        let in_turn = || (self.cursor..self.window).chain(0..self.window).find(free);
        let slot = hint.or_else(in_turn).or_else(|| (0..self.limit).find(free));
        self.taken = taken;
        let too_few = || TooFewSlots { function: self.function.name.clone(), needed: None, limit: self.limit };
        let slot = slot.ok_or_else(too_few)?;
        self.cursor = slot + 1;
        Ok(slot)
    }

    /// Places the values of `group` in consecutive slots, if none has a place yet and there is room; the slot after them.
    fn colour_group(&mut self, group: &[Value]) -> Option<Slot> {
        let classes: Vec<usize> = group.iter().map(|&value| self.shape.root(value)).collect();
        let mut different = classes.clone();
        different.sort_unstable();
        different.dedup();
        if different.len() != classes.len() || classes.iter().any(|&class| self.colour[class].is_some()) {
            return None;
        }
        let taken: Vec<Vec<bool>> = classes.iter().map(|&class| self.taken(class)).collect();
        let length = narrow(classes.len());
        let fits = |&start: &Slot| (start..).zip(&taken).all(|(slot, taken)| taken.get(slot as usize) != Some(&true));
        let last = self.limit.saturating_sub(length);
        // Where a call wants the first of them, the others are wanted after it.
        let hinted = self.hints[classes[0]].iter().copied().filter(|&start| start <= last);
        let in_turn = self.cursor..(self.window + 1).saturating_sub(length).min(last);
        let start = hinted.chain(in_turn).chain(0..=last).find(fits)?;
        for (slot, &class) in (start..).zip(&classes) {
            self.colour[class] = Some(slot);
        }
        Some(start + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{Limits, rows};
    use residue_ir::text;

    /// A call inside a loop; v0 and v1 are needed after it.
    const TEXT: &str = r#"
program "placed" modulus 0x61
function f0 "f" (v0 v1) -> (v3) values 4 {
  block { v2 = mul v0 v1 v3 = sub v2 v0 }
}
function f1 "start" () -> () values 8 {
  word w0 = 0x2
  word w1 = defined
  parse w0 bytes 1 -> v0
  parse w0 bytes 1 -> v1
  repeat w0 index w1 (v2 v3) = (v0 v1) {
    call f0 (v2 v0) -> (v4)
    block { v5 = mul v4 v1 }
    give (v3 v5)
  } -> (v6 v7)
  return_elements (v6 v7) bytes 1
}
"#;

    /// Neighbours of one kind are lanes.
    struct Lanes;

    impl Cost for Lanes {
        fn instructions(&self, ops: &[SlotOp]) -> u64 {
            ops.chunk_by(|a, b| a.operation == b.operation && a.out + 1 == b.out).count() as u64
        }
    }

    fn placed(program: &Program, limit: Slot, cost: Option<&dyn Cost>) -> Result<Allocation, TooFewSlots> {
        let limits = Limits { values_max: 256, gap_bytes_max: 0, moved_whole: None };
        allocate(program, &rows(program, &limits), limit, cost)
    }

    #[test]
    fn values_that_interfere_and_values_across_calls_keep_their_slots() {
        let program = text::parse(TEXT).unwrap();
        for cost in [None, Some(&Lanes as &dyn Cost)] {
            let allocation = placed(&program, 40, cost).unwrap();
            for (function, placement) in program.functions.iter().zip(&allocation.functions) {
                let live = liveness(function, usize::MAX).unwrap();
                for value in 0..function.value_count {
                    for other in live.interferes[value as usize].ones().map(|other| Value(narrow(other))) {
                        let is_state = [(2, 6), (3, 7)].contains(&(value.min(other.0), value.max(other.0)));
                        let shared = placement.slot(Value(value)) == placement.slot(other);
                        assert_eq!(shared, is_state && function.name == "start", "v{value}, v{}", other.0);
                    }
                }
                for (callee, across) in live.live_across_calls {
                    for value in across.ones().map(|value| Value(narrow(value))) {
                        assert!(
                            !allocation.functions[callee.0 as usize].clobbers.contains(placement.slot(value) as usize)
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn too_few_slots_are_an_error_that_names_the_function() {
        let program = text::parse(TEXT).unwrap();
        let least = (1..40).find(|&limit| placed(&program, limit, Some(&Lanes)).is_ok()).unwrap();
        assert!((5..=8).contains(&least), "{least}");
        for limit in 1..least {
            let Err(TooFewSlots { function, limit: named, .. }) = placed(&program, limit, Some(&Lanes)) else {
                panic!("{limit} slots are too few")
            };
            assert_eq!((function.as_str(), named), (if limit < 2 { "f" } else { "start" }, limit));
        }
    }
}
