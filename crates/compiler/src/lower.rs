//! Lowering: control, words and calls of a placed program become code; the target supplies what revisions differ in.
//!
//! The stack is known at every point: under everything lies the return address of the function, above it the words that
//! are kept (results of comparisons, bound words, loop counters) until their region ends. Memory holds, from the bottom:
//! what the target needs, the variables, the output, arrays of fixed size, and after them one record for each index of
//! the unbounded arrays.

mod calls;
mod countdown;
mod elements;
mod hash;
mod parse;
mod sequence;
mod words;

use crate::error::CompileError;
use crate::target::{Target, clear, push};
use fixedbitset::FixedBitSet;
use residue_ir::program::{
    ArrayDecl, ArrayId, ControlKind, Function, Op, Operand, Program, Statement, Value, Word, WordDef,
};
use residue_ir::{Capacity, Effect};
use residue_isa::Revision;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use residue_passes::SlotOp;
use residue_passes::liveness::values_read;
use residue_passes::moves::sequence;
use residue_passes::rows::Nest;
use residue_passes::{Allocation, Placement, Row, Rows, Slot};
use ruint::aliases::U256;
use std::collections::HashMap;
use std::ops::Range;

/// Where the items of a block are in the assembly, for the checker.
#[derive(Debug, Clone)]
pub struct LoweredBlock {
    /// The function.
    pub function: usize,
    /// The first value that the block defines: its key in the placement.
    pub first: Value,
    /// Its items.
    pub items: Range<usize>,
}

/// What lowering leaves beside the assembly.
#[derive(Debug)]
pub struct Lowered {
    /// Every block with operations.
    pub blocks: Vec<LoweredBlock>,
    /// Where a failed requirement goes: the end of all functions.
    pub fail: LabelId,
    /// The entry label of each function.
    pub entries: Vec<LabelId>,
    /// Bytes of memory that the program uses whatever its input.
    pub memory_bytes: u32,
}

/// Where memory holds what.
struct Layout {
    variables: u32,
    output: u32,
    /// Where parts of sequences are entered, see [`sequence`]: one word for each that depends on a count, and one for sixteen
    /// that are chosen.
    entrances: u32,
    /// For each array: address of its first element, and bytes from one index to the next.
    arrays: Vec<(u32, u32)>,
    /// Where the records of unbounded arrays begin, and their size.
    records: (u32, u32),
}

/// Memory of fixed size that a program may use: far more than anybody would pay for, and addresses fit 32 bits.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

fn layout(program: &Program, target: &dyn Target) -> Result<Layout, CompileError> {
    let within = |bytes: u64| {
        let narrow = u32::try_from(bytes).ok().filter(|_| bytes <= MEMORY_BYTES_MAX);
        narrow.ok_or(CompileError::Memory { bytes, limit_bytes: MEMORY_BYTES_MAX })
    };
    let bytes_of = |values: usize| (values as u64).saturating_mul(u64::from(target.element_bytes()));
    let variables = u64::from(target.memory_bytes());
    let output = variables + 32 * program.variables.len() as u64;
    let entrances = output.saturating_add(output_bytes(program));
    let mut next = entrances.saturating_add(32 * sequence::entrances(program));
    let mut arrays = vec![(0, 0); program.arrays.len()];
    for (array, place) in program.arrays.iter().zip(&mut arrays) {
        if let Capacity::Fixed(count) = array.capacity {
            let bytes = bytes_of(array.element_values);
            *place = (within(next)?, within(bytes)?);
            next = next.saturating_add(bytes.saturating_mul(u64::from(count)));
        }
    }
    let first_record = u64::from(within(next)?).next_multiple_of(32);
    let unbounded = |array: &ArrayDecl| array.capacity == Capacity::Unbounded;
    let values = program.arrays.iter().filter(|array| unbounded(array));
    let record_bytes = values.fold(0, |sum: u64, array| sum.saturating_add(bytes_of(array.element_values)));
    let mut offset = 0;
    for (array, place) in program.arrays.iter().zip(&mut arrays).filter(|(array, _)| unbounded(array)) {
        *place = (within(first_record.saturating_add(offset))?, within(record_bytes)?);
        offset = offset.saturating_add(bytes_of(array.element_values));
    }
    Ok(Layout {
        variables: within(variables)?,
        output: within(output)?,
        entrances: within(entrances)?,
        arrays,
        records: (within(first_record)?, within(record_bytes)?),
    })
}

/// Room for the longest output, and for what is hashed if its length is known.
fn output_bytes(program: &Program) -> u64 {
    // For an element and a word that ends where it does.
    let least = program.modulus.bits().div_ceil(8).max(32).next_multiple_of(32);
    let mont_bytes = program.element_bytes() as u64;
    let mut longest = 0;
    for function in &program.functions {
        function.body.walk(&mut |statement| {
            let Statement::Effect(effect) = statement else { return };
            longest = longest.max(match effect {
                Effect::ReturnWord { .. } => 32,
                Effect::IsOdd { .. } => least,
                Effect::ReturnElements { values, size_bytes } => {
                    (values.len() as u64).saturating_mul(u64::from(*size_bytes)).next_multiple_of(32)
                }
                Effect::ReturnMontLe { values } => (values.len() as u64 * mont_bytes).next_multiple_of(32),
                _ => effect.pieces().map_or(0, |pieces| hash::output_bytes(function, pieces)),
            });
        });
    }
    longest
}

/// Writes the whole program, which is `rows`, to `code`, whose offset 0 is `origin`.
pub fn lower(
    program: &Program,
    rows: &Rows<'_>,
    allocation: &Allocation,
    constant_slots: &[Slot],
    spare: Slot,
    (target, revision, origin): (&dyn Target, Revision, LabelId),
    code: &mut Assembly,
) -> Result<Lowered, CompileError> {
    let layout = layout(program, target)?;
    let entries: Vec<LabelId> = program.functions.iter().map(|_| code.new_label()).collect();
    let fail = code.new_label();
    let zero_from = target.start(code, layout.records.0);
    for address in (layout.variables..layout.output).step_by(32).filter(|&address| address < zero_from) {
        clear(code, address, 32);
    }
    let mut blocks = Vec::new();
    let mut entrances = layout.entrances;
    // The start comes first and falls through from the target's own beginning.
    let order = (0..program.functions.len()).rev();
    for number in order {
        let mut lowering = Lowering {
            program,
            allocation,
            number,
            function: &program.functions[number],
            rows: &rows.functions[number],
            placement: &allocation.functions[number],
            layout: &layout,
            entries: &entries,
            fail,
            constant_slots,
            spare,
            target,
            revision,
            origin,
            code,
            blocks: &mut blocks,
            entrances: &mut entrances,
            stack: Vec::new(),
            depth: 0,
            uses: words::count_uses(&program.functions[number], &rows.functions[number]),
            addresses: words::indices_of_one_array(&program.functions[number], &rows.functions[number]),
            read: values_read(&program.functions[number]),
            prepared: HashMap::new(),
        };
        lowering.function()?;
    }
    code.label(fail);
    code.op(evm::INVALID);
    target.end(code);
    Ok(Lowered { blocks, fail, entries, memory_bytes: layout.records.0 })
}

/// A word with fewer words above it can be copied to the top.
const DUP_DEPTH_MAX: u8 = 16;

/// What lies on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// The return address, or an operand of the expression being computed, or a loop's bound.
    Other,
    /// An operand of an expression that is this constant.
    Constant(U256),
    /// A kept word, with the depth of the region that it belongs to.
    Kept(Word, usize),
}

struct Lowering<'a> {
    program: &'a Program,
    allocation: &'a Allocation,
    number: usize,
    function: &'a Function,
    rows: &'a [Row<'a>],
    placement: &'a Placement,
    layout: &'a Layout,
    entries: &'a [LabelId],
    fail: LabelId,
    constant_slots: &'a [Slot],
    spare: Slot,
    target: &'a dyn Target,
    revision: Revision,
    /// Offset 0.
    origin: LabelId,
    code: &'a mut Assembly,
    blocks: &'a mut Vec<LoweredBlock>,
    /// The next of [`Layout::entrances`].
    entrances: &'a mut u32,
    stack: Vec<Entry>,
    /// Number of regions around this point.
    depth: usize,
    /// Reads of each kept word that are still to come in the text.
    uses: HashMap<Word, usize>,
    /// Bound words that are nothing but indices of one array: they are kept as addresses.
    addresses: HashMap<Word, ArrayId>,
    /// The values that something reads.
    read: FixedBitSet,
    /// Addresses that stand above the operands of the store that reads them last, with the number of those.
    prepared: HashMap<Word, usize>,
}

/// Whether control reaches the end of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Continues,
    Ended,
}

impl<'a> Lowering<'a> {
    fn is_start(&self) -> bool {
        self.number + 1 == self.program.functions.len()
    }

    fn function(&mut self) -> Result<(), CompileError> {
        if !self.is_start() {
            self.code.label(self.entries[self.number]);
            self.stack.push(Entry::Other);
        }
        let (rows, last) = match self.rows {
            [before @ .., Row::Calls { calls, is_last: true }] => (before, Some(calls)),
            rows => (rows, None),
        };
        if self.region(rows)? == Flow::Continues {
            match last {
                Some(calls) => self.last_calls(calls),
                None => {
                    self.code.op(if self.is_start() { evm::STOP } else { evm::JUMP });
                }
            }
        }
        Ok(())
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
            Row::Control(nest) => match &nest.control.kind {
                ControlKind::Repeat { count, index } => self.repeat(nest, (*count, *index))?,
                ControlKind::Countdown { count } => self.countdown(nest, *count)?,
                ControlKind::Sequence(order) => self.sequence(nest, order)?,
                ControlKind::Branch { condition } => return self.branch(nest, *condition),
            },
            Row::Transfer(transfer) => self.transfer(transfer)?,
            Row::Parses(elements) => self.parse(elements)?,
            Row::Reserve(count) => self.reserve(*count)?,
            Row::SetIndices { array, cells, sets } => self.set_row(*array, *cells, sets)?,
            Row::Shift(shift) => self.shift(shift),
            Row::Effect(effect) => return self.effect(effect),
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
                self.target.take_word(self.code, self.placement.slot(*result));
                self.stack.pop();
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
                self.cell(*variable, *first_bit, *cells);
                if !self.addresses.contains_key(result) {
                    self.index_of_address(*array);
                }
                self.keep(*result);
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
                let mut address = self.layout.output;
                for &operand in values {
                    self.target.output(self.code, self.slot(operand), address, *size_bytes);
                    address += size_bytes;
                }
                self.return_output(address - self.layout.output);
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

    fn block(&mut self, block: &residue_ir::Block) {
        let Some(&(first, _)) = block.ops.first() else { return };
        let operation = |&(value, op): &(Value, Op)| SlotOp {
            operation: op.kind,
            out: self.placement.slot(value),
            x: self.slot(op.x),
            y: self.slot(op.y),
        };
        let ops: Vec<SlotOp> = block.ops.iter().map(operation).collect();
        let start = self.code.items().len();
        self.target.operations(self.code, &ops);
        let items = start..self.code.items().len();
        self.blocks.push(LoweredBlock { function: self.number, first, items });
    }

    /// Stack within the body: [bound (unless constant), index], or, if the index is never read, minus the turns left: then
    /// one addition ends a turn and zero ends the loop.
    fn repeat(&mut self, repeat: &'a Nest<'a>, (count, index): (Word, Word)) -> Result<(), CompileError> {
        let [(arm, body)] = repeat.arms()[..] else { unreachable!("a loop has one arm: `verify` checks it") };
        self.move_to(&arm.params, &repeat.control.initial);
        let constant = match &self.function.words[count.0 as usize] {
            WordDef::Constant(count) => Some(*count),
            _ => None,
        };
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
        let (second, end) = (self.code.new_label(), self.code.new_label());
        self.jump_if_zero(condition, second)?;
        let then_flow = self.region(then_rows)?;
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
