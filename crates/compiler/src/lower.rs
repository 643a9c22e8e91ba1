//! Lowering: control, words and calls of a placed program become code; the target supplies the code that depends on the
//! revision.
//!
//! The stack is known at every point: under everything lies the return address of the function, unless it is a
//! subroutine, above it the words that are kept (results of comparisons, bound words, loop counters) until their region
//! ends. Memory holds, from the bottom: memory of the target, scratch memory, the variables, the output, arrays of
//! fixed size, and after them one record for each index of the unbounded arrays.

mod calls;
mod choice;
mod conventions;
mod countdown;
mod elements;
mod filled;
mod hash;
mod held;
mod keccak;
mod lanes;
pub(crate) mod layout;
mod outside;
mod parse;
mod pieces;
mod precompiles;
mod scratch;
mod sequence;
mod words;

use crate::Part;
use crate::error::CompileError;
use crate::heights::{Arrivals, HEIGHT_MAX, Highest, highest, rise};
use crate::paths;
use crate::target::{FusedInstructions, FusedKind, FusedOps, RowSizes, Target, clear, push};
pub(crate) use conventions::CallGas;
use conventions::{Convention, Conventions};
pub(crate) use filled::Filled;
use fixedbitset::FixedBitSet;
use foldhash::{HashMap, HashMapExt, HashSet};
pub use held::{HeldEnds, HeldWay, HeldWord, Way};
use layout::{Layout, layout};
use residue_ir::Effect;
use residue_ir::program::{
    ArrayId, Block, ControlKind, Function, Op, Operand, Program, RowsOf, TableId, Take, Value, VariableId, Word,
};
use residue_isa::Revision;
use residue_isa::assembly::{Assembly, Item, LabelId};
use residue_isa::opcode::evm;
use residue_passes::SlotOp;
use residue_passes::fp2::{self, SlotFp2};
use residue_passes::fp6;
use residue_passes::fused::Fused;
use residue_passes::liveness::values_read;
use residue_passes::moves::sequence;
use residue_passes::rows::{Nest, Parses};
use residue_passes::sums::{SlotSum, readings, sums};
use residue_passes::{Allocation, Placement, Row, Slot};
use ruint::aliases::U256;
use sequence::Entrances;
use std::collections::BTreeSet;
use std::ops::Range;

/// Position of a block's items in the assembly, for the checker.
#[derive(Debug, Clone)]
pub struct LoweredBlock {
    /// The function.
    pub function: usize,
    /// The first value that the block defines: its key in the placement.
    pub first: Value,
    /// Its items.
    pub items: Range<usize>,
    /// Stack before and after it, if it has values there.
    pub held: Option<HeldEnds>,
}

/// Results of lowering, beside the assembly.
#[derive(Debug)]
pub(crate) struct Lowered {
    /// The program, then its subprograms.
    pub units: Vec<LoweredUnit>,
    /// Jump target of failed requirements: the end of all functions.
    pub fail: LabelId,
    /// Bytes of memory for any input.
    pub memory_bytes: u32,
    /// Labels whose addresses have to fit the cells of a word, and how many bytes after them do too.
    pub near: Vec<(LabelId, usize)>,
    /// Bodies that are equally long, as code computes their addresses.
    pub filled: Vec<Filled>,
    /// Expected runs in one call, from these items on.
    pub runs: Vec<(usize, f64)>,
    /// Facts on the height of the stack at arrivals that the items alone do not give.
    pub arrivals: Arrivals,
    /// Words that the stack has at most.
    pub stack_words: usize,
}

/// The same for a program or subprogram.
#[derive(Debug)]
pub(crate) struct LoweredUnit {
    /// Every block with operations.
    pub blocks: Vec<LoweredBlock>,
    /// Code that moves states of sequences on the stack.
    pub ways: Vec<HeldWay>,
    /// Label at the start of each function.
    pub begins: Vec<LabelId>,
}

/// Labels for the functions, the tables and the rows of a part, and how its functions are called.
fn entered(part: &Part<'_>, is_subprogram: bool, revision: Revision, code: &mut Assembly) -> Entered {
    let functions = &part.program.functions;
    let conventions = match revision.has_subroutines() {
        true => Conventions::cheapest(functions, &part.rows.functions, is_subprogram, &part.calls),
        false => Conventions::jumps(functions.len()),
    };
    let entries: Vec<LabelId> = functions.iter().map(|_| code.new_label()).collect();
    let begin =
        |(number, &entry): (usize, &LabelId)| if conventions.is_jumped_to(number) { code.new_label() } else { entry };
    let begins = entries.iter().enumerate().map(begin).collect();
    let tables = part.program.tables.iter().map(|_| code.new_label()).collect();
    let rows = sequence::rows_by_number(part.program).into_iter().map(|row| (row, code.new_label())).collect();
    Entered { conventions, begins, entries, tables, rows }
}

/// Cuts for stacks that would get too high, tried in order: none first, as a cut takes gas.
const CUTS: [Cuts; 3] = [
    Cuts { block_words: usize::MAX, steps: usize::MAX, has_far_turns: false },
    Cuts { block_words: 256, steps: 128, has_far_turns: false },
    Cuts { block_words: 32, steps: 8, has_far_turns: false },
];

/// Writes the program and its subprograms, of which `parts` has at least one, to `code`, whose offset 0 is `origin`. With `has_far_turns` the turns of
/// countdowns may be as far from each other as they like.
pub(crate) fn lower(
    parts: &[Part<'_>],
    of: (Revision, LabelId),
    has_far_turns: bool,
    code: &mut Assembly,
) -> Result<Lowered, CompileError> {
    let before = code.clone();
    let mut refused = None;
    for cuts in CUTS {
        code.clone_from(&before);
        match lower_cut(parts, of, code, Cuts { has_far_turns, ..cuts })? {
            Ok(lowered) => return Ok(lowered),
            Err(too_high) => refused = Some(too_high),
        }
    }
    Err(refused.expect("there is a way to cut"))
}

/// The same with cuts; or why the stack is too high all the same.
fn lower_cut(
    parts: &[Part<'_>],
    of: (Revision, LabelId),
    code: &mut Assembly,
    cuts: Cuts,
) -> Result<Result<Lowered, CompileError>, CompileError> {
    let mut lowered = lower_in_reach(parts, of, code, cuts)?;
    let found = highest(code.items(), of, &lowered.arrivals);
    lowered.stack_words = found.words;
    Ok(if found.words > HEIGHT_MAX { Err(too_high(parts, &lowered, found, code)) } else { Ok(lowered) })
}

/// Names the function where the stack is too high.
fn too_high(parts: &[Part<'_>], lowered: &Lowered, found: Highest, code: &Assembly) -> CompileError {
    let begins = |label: LabelId| {
        code.items().iter().position(|item| matches!(item, Item::Label(at) | Item::Mark(at) if *at == label))
    };
    let mut last = None;
    for (part, unit) in parts.iter().zip(&lowered.units) {
        for (function, &label) in part.program.functions.iter().zip(&unit.begins) {
            if let Some(item) = begins(label).filter(|&item| item <= found.item) {
                last = last.max(Some((item, &function.name)));
            }
        }
    }
    // The start of the program has no label.
    let function = last.map_or_else(|| parts[0].program.entry().name.clone(), |(_, name)| name.clone());
    CompileError::Height { function, words: found.words, limit: HEIGHT_MAX }
}

/// The same with one treatment of dead words after the other, until no live word lies too deep.
fn lower_in_reach(
    parts: &[Part<'_>],
    of: (Revision, LabelId),
    code: &mut Assembly,
    cuts: Cuts,
) -> Result<Lowered, CompileError> {
    let before = code.clone();
    for way in [DeadWords::Left, DeadWords::DroppedFrom(12)] {
        match lower_with(parts, of, code, (way, cuts)) {
            Err(CompileError::Stack { .. }) => code.clone_from(&before),
            lowered => return lowered,
        }
    }
    lower_with(parts, of, code, (DeadWords::DroppedFrom(2), cuts))
}

/// The same, with a treatment of dead words and the cuts.
fn lower_with(
    parts: &[Part<'_>],
    (revision, origin): (Revision, LabelId),
    code: &mut Assembly,
    (dead_words, cuts): (DeadWords, Cuts),
) -> Result<Lowered, CompileError> {
    // style: S2: the parts one after the other, then the data of all.
    let layout = layout(parts)?;
    let fail = code.new_label();
    let round_constants = code.new_label();
    let labels = |(unit, part)| entered(part, unit > 0, revision, code);
    let units: Vec<Entered> = parts.iter().enumerate().map(labels).collect();
    let zero_from = begin(parts, &layout, code);
    parts.iter().filter(|part| part.has_elements()).for_each(|part| part.target.before_functions(code));
    let mut lowered = Lowered {
        units: Vec::new(),
        fail,
        memory_bytes: layout.end,
        near: Vec::new(),
        filled: Vec::new(),
        runs: Vec::new(),
        arrivals: Arrivals::default(),
        stack_words: 0,
    };
    let mut entrances = Entrances::default();
    let mut done: Vec<Option<LoweredUnit>> = parts.iter().map(|_| None).collect();
    for unit in order(parts) {
        let part = &parts[unit];
        let (mut blocks, mut ways) = (Vec::new(), Vec::new());
        let first_entrances = sequence::entrances(part.program).first;
        let runs = conventions::runs(&part.program.functions, &part.rows.functions);
        // The start comes first: that of the program falls through from the target's own beginning.
        for number in (0..part.program.functions.len()).rev() {
            let (function, rows) = (&part.program.functions[number], &part.rows.functions[number]);
            entrances.begin(layout.entrances(unit), first_entrances[number]);
            let mut lowering = Lowering {
                program: part.program,
                allocation: &part.allocation,
                parts,
                unit,
                units: &units,
                zero_from,
                number,
                function,
                rows,
                placement: &part.allocation.functions[number],
                readings: if part.target.fused().is_some() { readings(function) } else { HashMap::new() },
                layout: &layout,
                fail,
                round_constants,
                constant_slots: &part.constant_slots,
                spare: part.spare,
                target: part.target.as_ref(),
                revision,
                origin,
                code,
                blocks: &mut blocks,
                ways: &mut ways,
                entrances: &mut entrances,
                arrivals: &mut lowered.arrivals,
                expected: &mut lowered.runs,
                stack: Vec::new(),
                depth: 0,
                runs: runs[number],
                uses: words::count_uses(function, rows),
                zero_tests: words::zero_tests(function),
                addresses: words::indices_of_one_array(function, rows),
                read: values_read(function),
                prepared: HashMap::new(),
                given: HashMap::new(),
                has_modexp: part.has_modexp,
                dead_words,
                cuts,
            };
            lowering.function()?;
        }
        done[unit] = Some(LoweredUnit { blocks, ways, begins: units[unit].begins.clone() });
    }
    lowered.units = done.into_iter().flatten().collect();
    lowered.near = entrances.near;
    lowered.filled = entrances.filled;
    code.label(fail);
    code.op(evm::INVALID);
    // The data of the program comes last: what its target copies from after the end of the code is zero.
    let with_elements = || parts.iter().filter(|part| part.has_elements());
    with_elements().for_each(|part| part.target.subroutines(code));
    let near = lowered.near.iter().map(|(label, _)| *label);
    let pushed = pushed_labels(code.items()).chain(near).collect();
    for (part, unit) in parts.iter().zip(&units) {
        tables(part, unit, &pushed, code);
    }
    if pushed.contains(&round_constants) {
        code.mark(round_constants);
        code.data(keccak::constants());
    }
    with_elements().rev().for_each(|part| part.target.data(code));
    Ok(lowered)
}

/// In which order parts are written: after the program come subprograms whose addresses have to be low.
fn order(parts: &[Part<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&unit| unit > 0 && !sequence::chooses(parts[unit].program));
    order
}

/// The labels of a program or subprogram.
struct Entered {
    /// Calling conventions of its functions.
    conventions: Conventions,
    /// Starts of its functions: the jump target, which a subroutine may have before its entry.
    begins: Vec<LabelId>,
    /// Entries of its functions.
    entries: Vec<LabelId>,
    /// Labels of its tables.
    tables: Vec<LabelId>,
    /// Labels of table rows that steps carry.
    rows: HashMap<(TableId, usize), LabelId>,
}

/// Sets the moduli that are known, that of the program last, and makes the variables zero that are not set first; where memory is zero from. [] → []
fn begin(parts: &[Part<'_>], layout: &Layout, code: &mut Assembly) -> u32 {
    let mut zero_from = 0;
    for part in &parts[1..] {
        if !part.is_late && part.program.modulus.known().is_some() && part.has_elements() {
            zero_from = zero_from.max(part.target.set_up(code, 0));
        }
    }
    if parts[0].has_elements() {
        let there_bytes = first_copied_bytes(&parts[0]).next_multiple_of(32);
        let memory_bytes = if there_bytes < layout.end { layout.end } else { 0 };
        zero_from = zero_from.max(parts[0].target.start(code, memory_bytes));
    }
    let scratch_bytes = layout.variables.min(zero_from).saturating_sub(layout.scratch);
    if scratch_bytes > 0 {
        clear(code, layout.scratch, scratch_bytes);
    }
    let programs: Vec<&Program> = parts.iter().map(|part| part.program).collect();
    let set_first = paths::set_first(&programs);
    let addresses = (layout.variables..layout.output).step_by(32).enumerate();
    for (number, address) in addresses.filter(|&(_, address)| address < zero_from) {
        if !set_first.contains(&VariableId(number)) {
            clear(code, address, 32);
        }
    }
    if let Some(shifts) = layout.own(0).shifts
        && shifts.zeros < zero_from
    {
        clear(code, shifts.zeros, shifts.zeros_bytes);
    }
    zero_from
}

/// Bytes from the bottom of memory that the program copies calldata to before it reads or writes any other: memory grows with that.
fn first_copied_bytes(part: &Part<'_>) -> u32 {
    let on_stack = |row: &&Row<'_>| matches!(row, Row::Effect(Effect::Require { .. } | Effect::Bind { .. }));
    match part.rows.functions.last().and_then(|rows| rows.iter().find(|row| !on_stack(row))) {
        Some(Row::Parses(Parses { results, size_bytes, stride_bytes, .. })) => {
            let sizes = RowSizes { element_bytes: *size_bytes, stride_bytes: *stride_bytes };
            part.target.copied_bytes(results.len(), sizes)
        }
        _ => 0,
    }
}

/// The labels whose offsets are pushed.
fn pushed_labels(items: &[Item]) -> impl Iterator<Item = LabelId> {
    items.iter().flat_map(|item| match item {
        Item::PushLabel(label) => vec![*label],
        Item::PushDistances { to, from } => [from, &[*to][..]].concat(),
        _ => Vec::new(),
    })
}

/// Writes as data the tables of a part that code reads: of lookups at constant indices there may be no others left. A table that is left out
/// though its offset is pushed has a label that is nowhere, which the assembler refuses.
fn tables(part: &Part<'_>, unit: &Entered, pushed: &HashSet<LabelId>, code: &mut Assembly) {
    for (number, (table, label)) in part.program.tables.iter().zip(&unit.tables).enumerate() {
        let rows = (0..table.elements.len()).filter_map(|row| unit.rows.get(&(TableId(number), row)));
        if !rows.chain([label]).any(|label| pushed.contains(label)) {
            continue;
        }
        code.mark(*label);
        for (row, element) in table.elements.iter().enumerate() {
            if let Some(&label) = unit.rows.get(&(TableId(number), row)) {
                code.mark(label);
            }
            for value in element {
                code.data(part.target.encode(value));
            }
        }
    }
}

/// A word with fewer words above it can be copied to the top.
const DUP_DEPTH_MAX: u8 = 16;

/// Entry of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// The return address, or an operand of the expression being computed, or a loop's bound.
    Other,
    /// An operand of an expression that is this constant.
    Constant(U256),
    /// An operand of an expression that is this kept word.
    Copy(Word),
    /// A kept word, with the depth of the region that it belongs to.
    Kept(Word, usize),
}

struct Lowering<'a> {
    program: &'a Program,
    allocation: &'a Allocation,
    parts: &'a [Part<'a>],
    /// Number of the part.
    unit: usize,
    units: &'a [Entered],
    /// Offset from which memory is zero at the start of the program.
    zero_from: u32,
    number: usize,
    function: &'a Function,
    rows: &'a [Row<'a>],
    placement: &'a Placement,
    /// Number of reads of each value of the function; empty if no instruction makes sums.
    readings: HashMap<Value, usize>,
    layout: &'a Layout,
    fail: LabelId,
    /// Data that [`keccak`] copies.
    round_constants: LabelId,
    constant_slots: &'a [Slot],
    spare: Slot,
    target: &'a dyn Target,
    revision: Revision,
    /// Offset 0.
    origin: LabelId,
    code: &'a mut Assembly,
    blocks: &'a mut Vec<LoweredBlock>,
    ways: &'a mut Vec<HeldWay>,
    /// The next of the function's entrances.
    entrances: &'a mut Entrances,
    arrivals: &'a mut Arrivals,
    /// Runs of items, from where they change.
    expected: &'a mut Vec<(usize, f64)>,
    stack: Vec<Entry>,
    /// Number of regions around this point.
    depth: usize,
    /// Number of passes of this point, as far as known.
    runs: f64,
    /// Words that say whether an element is zero, which few are.
    zero_tests: HashSet<Word>,
    /// Reads of each kept word that are still to come in the text.
    uses: HashMap<Word, usize>,
    /// Bound words that are nothing but indices of one array: they are kept as addresses.
    addresses: HashMap<Word, ArrayId>,
    /// The values that something reads.
    read: FixedBitSet,
    /// Forms of the addresses of rows that parts take, by the first value of each.
    given: HashMap<Value, sequence::taken::Given>,
    /// Addresses that stand above the operands of the store that reads them last, with the number of those.
    prepared: HashMap<Word, usize>,
    dead_words: DeadWords,
    cuts: Cuts,
    /// True if the precompile MODEXP inverts.
    has_modexp: bool,
}

/// Cuts that keep the stack low enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cuts {
    /// A block whose own words on the stack are more than that becomes two, with values in memory between them.
    block_words: usize,
    /// A sequence pushes the addresses of this many steps, and those of the others later.
    steps: usize,
    /// True if turns of countdowns are reached by jumps to jumps, as distances between them may not fit two bytes.
    has_far_turns: bool,
}

/// Treatment of dead kept words below live ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeadWords {
    /// They stay until their region ends, which costs least.
    Left,
    /// They are dropped if the stack has this many words or more.
    DroppedFrom(usize),
}

/// Reachability of the end of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Continues,
    Ended,
}

impl<'a> Lowering<'a> {
    /// True if the whole program starts with this function. A subprogram is called.
    fn is_start(&self) -> bool {
        self.unit == 0 && self.number + 1 == self.program.functions.len()
    }

    fn function(&mut self) -> Result<(), CompileError> {
        self.expect_runs();
        if !self.is_start() {
            self.entrance();
        }
        let (rows, last) = match self.rows {
            [before @ .., Row::Calls { calls, is_last: true }] => (before, Some(calls)),
            rows => (rows, None),
        };
        if self.region(rows)? == Flow::Continues {
            match last {
                Some(calls) => self.last_calls(calls),
                None if self.is_start() => _ = self.code.op(evm::STOP),
                None => self.back(),
            }
        }
        Ok(())
    }

    /// Notes the runs of the items from here on.
    fn expect_runs(&mut self) {
        self.expected.push((self.code.items().len(), self.runs));
    }

    fn slot(&self, operand: Operand) -> Slot {
        match operand {
            Operand::Value(value) => self.placement.slot(value),
            Operand::Constant(id) => self.constant_slots[id.0 as usize],
        }
    }

    fn moves(&mut self, moves: &[(Slot, Slot)]) {
        self.target.copies(self.code, &sequence(moves, self.spare));
    }

    fn move_to(&mut self, targets: &[Value], sources: &[Operand]) {
        let moves: Vec<(Slot, Slot)> =
            targets.iter().zip(sources).map(|(&to, &from)| (self.placement.slot(to), self.slot(from))).collect();
        self.moves(&moves);
    }

    /// A region; the words it keeps are gone after it.
    fn region(&mut self, rows: &'a [Row<'a>]) -> Result<Flow, CompileError> {
        let height = self.stack.len();
        self.depth += 1;
        let mut flow = Flow::Continues;
        for (row, after) in rows.iter().zip(1..).map(|(row, next)| (row, &rows[next..])) {
            self.prepare_store(row, after);
            flow = self.row(row)?;
            if flow == Flow::Ended {
                break;
            }
            self.drop_unread();
            if let DeadWords::DroppedFrom(height) = self.dead_words {
                self.drop_buried(height);
            }
        }
        self.depth -= 1;
        if flow == Flow::Continues {
            for _ in height..self.stack.len() {
                self.code.op(evm::POP);
            }
        }
        self.stack.truncate(height);
        Ok(flow)
    }

    fn row(&mut self, row: &'a Row<'a>) -> Result<Flow, CompileError> {
        match row {
            Row::Block(block) => self.block(block),
            Row::Calls { calls, .. } => self.calls(calls),
            Row::Control(nest) => {
                let runs = self.runs;
                self.runs *= conventions::turns(self.function, nest);
                self.expect_runs();
                let flow = self.control(nest);
                self.runs = runs;
                self.expect_runs();
                return flow;
            }
            Row::Transfer(transfer) => self.transfer(transfer)?,
            Row::Parses(elements) => self.parse(elements)?,
            Row::Reserve(count) => self.reserve(*count)?,
            Row::SetIndices { array, cells, sets } => self.set_row(*array, *cells, sets)?,
            Row::Shift(shift) => self.shift(shift),
            Row::Effect(effect) => return self.effect(effect),
        }
        Ok(Flow::Continues)
    }

    fn control(&mut self, nest: &'a Nest<'a>) -> Result<Flow, CompileError> {
        match &nest.control.kind {
            ControlKind::Repeat { count, index } => self.repeat(nest, (*count, *index))?,
            ControlKind::Countdown { count } => self.countdown(nest, *count)?,
            ControlKind::Sequence(order) => self.sequence(nest, order)?,
            ControlKind::Branch { condition } => return self.branch(nest, *condition),
        }
        Ok(Flow::Continues)
    }

    fn effect(&mut self, effect: &Effect) -> Result<Flow, CompileError> {
        // style: S2: a table: one arm for each effect.
        match effect {
            Effect::Reserve { .. } => {} // Of an array of fixed size: it has room from the start.
            Effect::Load { .. } | Effect::Store { .. } | Effect::Parse { .. } | Effect::SetIndices { .. } => {
                unreachable!("these are rows, if only of one")
            }
            Effect::Fill { array, count, values } => self.fill(*array, *count, values),
            Effect::ParseMontLe { result, offset } => {
                self.word(*offset)?;
                self.target.parse_mont_le(self.code, self.placement.slot(*result), self.fail);
                self.stack.pop();
            }
            Effect::Reduce { result, word } => {
                self.reduced(*word)?;
                self.target.take_words(self.code, self.placement.slot(*result), 1);
                self.stack.pop();
            }
            Effect::Lookup { table, index, results } => self.lookup(*table, *index, results)?,
            Effect::TakeRow { table, results } => self.take(Take { of: RowsOf::Table(*table), results })?,
            Effect::TakeElement { array, results } => self.take(Take { of: RowsOf::Array(*array), results })?,
            Effect::FillFrom { array, table } => self.fill_from(*array, *table),
            Effect::Enter { subprogram, modulus } => self.enter(*subprogram, modulus)?,
            Effect::ElementOf { result, words } => self.element_of(*result, words)?,
            Effect::WordOf { result, value, first_bit } => {
                self.word_of(self.slot(*value), *first_bit);
                self.keep(*result);
            }
            Effect::High { result, value, first_bit } => self.high(*result, self.slot(*value), *first_bit),
            Effect::ReturnLast { values, element_bytes, size_bytes, limit_bytes } => {
                self.return_last(values, *element_bytes, *size_bytes, *limit_bytes)?;
                return Ok(Flow::Ended);
            }
            Effect::ReturnWords { words, size_bytes } => {
                self.return_words(words, *size_bytes)?;
                return Ok(Flow::Ended);
            }
            Effect::Invert { result, value } if self.has_modexp => {
                self.invert_by_modexp(self.placement.slot(*result), self.slot(*value));
            }
            Effect::Invert { result, value } => {
                self.target.invert(self.code, self.placement.slot(*result), self.slot(*value));
            }
            Effect::IsZero { result, value } => {
                self.target.is_zero(self.code, self.slot(*value));
                self.keep(*result);
            }
            Effect::IsOdd { result, value } => {
                self.is_odd(self.slot(*value));
                self.keep(*result);
            }
            Effect::Equal { result, a, b } => {
                self.target.equal(self.code, self.slot(*a), self.slot(*b));
                self.keep(*result);
            }
            Effect::Less { result, a, b } => {
                self.target.less(self.code, self.slot(*a), self.slot(*b));
                self.keep(*result);
            }
            Effect::Bind { result, word } => {
                match self.addresses.get(result) {
                    Some(&array) => self.element_address(array, *word, 0)?,
                    None => self.word(*word)?,
                }
                self.stack.pop();
                self.keep(*result);
            }
            Effect::Get { result, variable } => {
                let address = self.variable(*variable);
                push(self.code, address);
                self.code.op(evm::MLOAD);
                self.keep(*result);
            }
            Effect::GetAcross { result, variable, first_byte } => {
                let address = self.variable(*variable);
                push(self.code, address + first_byte);
                self.code.op(evm::MLOAD);
                self.keep(*result);
            }
            Effect::Set { variable, word } => {
                self.word(*word)?;
                let address = self.variable(*variable);
                push(self.code, address);
                self.code.op(evm::MSTORE);
                self.stack.pop();
            }
            Effect::Sha256 { result, pieces } => {
                self.sha256(pieces)?;
                self.keep(*result);
            }
            Effect::Keccak256 { result, pieces } => {
                self.keccak256(pieces)?;
                self.keep(*result);
            }
            Effect::Index { result, variable, array, first_bit, cells } => {
                // A word that is nothing but such an index is kept as an address.
                let is_only = self.addresses.contains_key(result);
                self.address_in_cell(*variable, *first_bit, *cells, *array, is_only);
                if !is_only {
                    self.index_of_address(*array);
                }
                self.keep(*result);
            }
            Effect::Scratch { .. } => {} // It has room from the start.
            Effect::SetScratch { offset, word } => self.set_scratch(*offset, *word, evm::MSTORE)?,
            Effect::SetScratchByte { offset, word } => self.set_scratch(*offset, *word, evm::MSTORE8)?,
            Effect::Keccak256Scratch { offset, size_bytes, result } => {
                self.keccak256_scratch(*offset, *size_bytes)?;
                self.keep(*result);
            }
            Effect::Sha256Scratch { offset, size_bytes, to } => self.sha256_scratch(*offset, *size_bytes, *to)?,
            Effect::KeccakF { offset } => self.keccak_f(*offset),
            Effect::CopyCalldata { offset, from, size_bytes } => self.copy_calldata(*offset, *from, *size_bytes)?,
            Effect::CopyScratch { offset, from, size_bytes } => self.copy_scratch(*offset, *from, *size_bytes),
            Effect::TakeScratch { offset, size_bytes, results } => self.take_scratch(*offset, *size_bytes, results),
            Effect::PutScratch { offset, size_bytes, values } => self.put_scratch(*offset, *size_bytes, values),
            Effect::Lanes { lanes } => self.lanes(lanes),
            Effect::LineUp { .. } => {} // Placement has looked at it.
            Effect::Precompile { address, offset, size_bytes, to, output_bytes, result } => {
                self.precompile(*address, (*offset, *size_bytes), (*to, *output_bytes))?;
                self.keep(*result);
            }
            Effect::ReturnPrecompile { address } => {
                self.return_precompile(*address);
                return Ok(Flow::Ended);
            }
            Effect::ReturnAccount { address } => {
                self.return_account(*address);
                return Ok(Flow::Ended);
            }
            Effect::ReturnScratch { offset, size_bytes } => {
                self.word(*size_bytes)?;
                self.scratch_address(*offset)?;
                self.code.op(evm::RETURN);
                self.stack.truncate(self.stack.len() - 2);
                return Ok(Flow::Ended);
            }
            Effect::Require { condition } => {
                self.jump_if_zero(*condition, self.fail)?;
            }
            Effect::ReturnWord { word } => {
                self.word(*word)?;
                push(self.code, self.layout.output);
                self.code.op(evm::MSTORE);
                self.stack.pop();
                self.return_output(32);
                return Ok(Flow::Ended);
            }
            Effect::ReturnElements { values, size_bytes } => {
                let is_low = self.returns_low(*size_bytes, values.len());
                let output = if is_low { 0 } else { self.layout.output };
                let slots: Vec<Slot> = values.iter().map(|&operand| self.slot(operand)).collect();
                self.target.output_row(self.code, &slots, output, *size_bytes);
                self.code.push(slots.len() as u64 * u64::from(*size_bytes)); // usize to u64 widens
                push(self.code, output);
                self.code.op(evm::RETURN);
                return Ok(Flow::Ended);
            }
            Effect::ReturnMontLe { values } => {
                let size_bytes = u32::try_from(self.program.element_bytes()).expect("the width was checked");
                let mut address = self.layout.output;
                for &operand in values {
                    self.target.output_mont_le(self.code, self.slot(operand), address);
                    address += size_bytes;
                }
                self.return_output(address - self.layout.output);
                return Ok(Flow::Ended);
            }
        }
        Ok(Flow::Continues)
    }

    fn return_output(&mut self, size_bytes: u32) {
        push(self.code, size_bytes);
        push(self.code, self.layout.output);
        self.code.op(evm::RETURN);
    }

    /// The operations of a block on slots.
    fn slot_ops(&self, block: &Block) -> Vec<SlotOp> {
        let operation = |&(value, op): &(Value, Op)| SlotOp {
            operation: op.kind,
            out: self.placement.slot(value),
            x: self.slot(op.x),
            y: self.slot(op.y),
        };
        block.ops.iter().map(operation).collect()
    }

    fn block(&mut self, block: &residue_ir::Block) {
        let Some(&(first, _)) = block.ops.first() else { return };
        let ops = self.slot_ops(block);
        let start = self.code.items().len();
        if let Some(wide) = self.target.wide() {
            wide.expect_runs(self.runs);
        }
        let target = self.target;
        match target.fused() {
            Some(fused) => match fused.form() {
                FusedKind::Fp2 => self.with_fp2(fused, block, &ops),
                FusedKind::Fp6 => self.with_fp6(fused, block, &ops),
                FusedKind::Sums(products_max) => self.with_sums(fused, block, &ops, products_max),
            },
            None => {
                let after = &self.placement.live_out[&first];
                let is_read = |value: &Value| after.contains(value.0 as usize); // u32 to usize widens
                let kept = block.ops.iter().map(|(value, _)| value).filter(|value| is_read(value));
                let kept = kept.map(|&value| self.placement.slot(value)).collect();
                self.plain_block(&ops, &kept);
            }
        }
        let items = start..self.code.items().len();
        self.blocks.push(LoweredBlock { function: self.number, first, items, held: None });
    }

    /// Operations one after the other, of whose results those in `kept` are read later; in two parts where the stack gets too high.
    fn plain_block(&mut self, ops: &[SlotOp], kept: &BTreeSet<Slot>) {
        let start = self.code.items().len();
        self.target.block(self.code, ops, kept);
        let most = self.cuts.block_words;
        if ops.len() < 2 || most == usize::MAX || rise(&self.code.items()[start..], self.revision) <= most {
            return;
        }
        self.code.truncate(start);
        let (first, second) = ops.split_at(ops.len() / 2);
        let mut read = kept.clone();
        for op in second.iter().rev() {
            read.remove(&op.out);
            read.extend([op.x, op.y]);
        }
        read.retain(|slot| first.iter().any(|op| op.out == *slot));
        self.plain_block(first, &read);
        self.plain_block(second, kept);
    }

    /// The operations of a block, with an instruction for each sum of products that is found in it.
    fn with_sums(&mut self, fused: &dyn FusedInstructions, block: &Block, ops: &[SlotOp], products_max: usize) {
        let mut at = 0;
        for sum in sums(block, &self.readings, products_max) {
            let Some(range) = sum.range() else { continue };
            self.operations(&ops[at..range.start]);
            let products = sum
                .products
                .iter()
                .map(|&(is_subtracted, product)| (is_subtracted, product.map(|operand| self.slot(operand))));
            let sum = SlotSum { out: ops[sum.root()].out, products: products.collect() };
            fused.emit(self.code, &FusedOps::Sum(sum));
            at = range.end;
        }
        self.operations(&ops[at..]);
    }

    /// The same with products in Fp2; those that nothing stands between may be lanes.
    fn with_fp2(&mut self, fused: &dyn FusedInstructions, block: &Block, ops: &[SlotOp]) {
        let mut at = 0;
        let mut waiting: Vec<SlotFp2> = Vec::new();
        for product in fp2::products(block, &self.readings) {
            let Some(range) = product.range() else { continue };
            if at < range.start {
                self.products_in_fp2(fused, &mut waiting);
                self.operations(&ops[at..range.start]);
            }
            waiting.push(fp2::placed(&product, block, |operand| self.slot(operand)));
            at = range.end;
        }
        self.products_in_fp2(fused, &mut waiting);
        self.operations(&ops[at..]);
    }

    /// The same with products in Fp6.
    fn with_fp6(&mut self, fused: &dyn FusedInstructions, block: &Block, ops: &[SlotOp]) {
        let mut at = 0;
        for product in fp6::products(block, &self.readings) {
            let Some(range) = product.range() else { continue };
            self.operations(&ops[at..range.start]);
            let placed = fp6::placed(&product, block, |operand| self.slot(operand));
            fused.emit(self.code, &FusedOps::Fp6(placed));
            at = range.end;
        }
        self.operations(&ops[at..]);
    }

    fn products_in_fp2(&mut self, fused: &dyn FusedInstructions, waiting: &mut Vec<SlotFp2>) {
        if !waiting.is_empty() {
            fused.emit(self.code, &FusedOps::Fp2(std::mem::take(waiting)));
        }
    }

    fn operations(&mut self, ops: &[SlotOp]) {
        if !ops.is_empty() {
            self.target.operations(self.code, ops);
        }
    }

    /// Stack within the body: [bound (unless constant), index], or, if the index is never read, minus the turns left: then
    /// one addition ends a turn and zero ends the loop.
    fn repeat(&mut self, repeat: &'a Nest<'a>, (count, index): (Word, Word)) -> Result<(), CompileError> {
        let [(arm, body)] = repeat.arms()[..] else { unreachable!("a loop has one arm: `verify` checks it") };
        self.move_to(&arm.params, &repeat.control.initial);
        let constant = self.known(count);
        if constant.is_some_and(|count| count.is_zero()) {
            return Ok(());
        }
        let height = self.stack.len();
        let index_is_read = self.uses.get(&index).is_some_and(|&uses| uses > 0);
        let (top, end) = (self.code.new_label(), self.code.new_label());
        match constant {
            Some(count) if !index_is_read => {
                self.code.push(words::big(count - U256::ONE)); // −n = ¬(n − 1)
                self.code.op(evm::NOT);
                self.stack.push(Entry::Other);
            }
            Some(_) => {}
            None => {
                self.word(count)?;
                self.code.op(evm::DUP1);
                self.code.op(evm::ISZERO);
                self.code.push_label(end);
                self.code.op(evm::JUMPI);
                if !index_is_read {
                    push(self.code, 0);
                    self.code.op(evm::SUB);
                    // The counter is no copy of the word that it is made of.
                    let top = self.stack.len() - 1;
                    self.stack[top] = Entry::Other;
                }
            }
        }
        if index_is_read {
            push(self.code, 0);
            // The index belongs to no region that could consume it: the loop itself reads it last.
            self.stack.push(Entry::Kept(index, usize::MAX));
        }
        self.code.label(top);
        self.region(body)?;
        self.move_to(&arm.params, &arm.gives);
        push(self.code, 1);
        self.code.op(evm::ADD);
        self.code.op(evm::DUP1);
        if index_is_read {
            match constant {
                Some(count) => {
                    self.code.push(words::big(count));
                }
                None => {
                    self.code.op(evm::DUP3);
                }
            }
            self.code.op(evm::GT);
        }
        self.code.push_label(top);
        self.code.op(evm::JUMPI);
        if index_is_read {
            self.code.op(evm::POP);
            self.stack.pop();
        }
        if constant.is_none() {
            self.code.label(end);
        }
        for _ in height..self.stack.len() {
            self.code.op(evm::POP);
        }
        self.stack.truncate(height);
        Ok(())
    }

    fn branch(&mut self, branch: &'a Nest<'a>, condition: Word) -> Result<Flow, CompileError> {
        let results = &branch.control.results;
        let [(then, then_rows), (otherwise, otherwise_rows)] = branch.arms()[..] else {
            unreachable!("a branch has two arms: `verify` checks it")
        };
        if then_rows.is_empty()
            && otherwise_rows.is_empty()
            && self.choose(condition, results, [&then.gives, &otherwise.gives])?
        {
            return Ok(Flow::Continues);
        }
        let (second, end) = (self.code.new_label(), self.code.new_label());
        self.jump_if_zero(condition, second)?;
        let runs = self.runs;
        self.runs *= conventions::share(branch, 0, &self.zero_tests);
        self.expect_runs();
        let then_flow = self.region(then_rows)?;
        self.runs = runs;
        self.expect_runs();
        if then_flow == Flow::Continues {
            self.move_to(results, &then.gives);
        }
        let same_place = results.iter().zip(&otherwise.gives);
        let idle = otherwise_rows.is_empty()
            && same_place.into_iter().all(|(&to, &from)| self.placement.slot(to) == self.slot(from));
        if idle {
            self.code.label(second);
            return Ok(Flow::Continues);
        }
        if then_flow == Flow::Continues {
            self.code.push_label(end);
            self.code.op(evm::JUMP);
        }
        self.code.label(second);
        let otherwise_flow = self.region(otherwise_rows)?;
        if otherwise_flow == Flow::Continues {
            self.move_to(results, &otherwise.gives);
        }
        if then_flow == Flow::Continues {
            self.code.label(end);
        }
        Ok(if (then_flow, otherwise_flow) == (Flow::Ended, Flow::Ended) { Flow::Ended } else { Flow::Continues })
    }
}
