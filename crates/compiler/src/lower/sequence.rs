//! Sequences: the addresses of all steps are pushed beforehand, the first on top, so that each part ends with a jump to
//! the next one. A step costs a push and a jump, half the cost of a turn of a loop.
//!
//! Words below the addresses are out of reach in a part, as the number of remaining addresses is unknown. A part that
//! begins with a countdown is entered at the turn of the count; that address is computed once and kept in memory. If
//! something has to be moved before the countdown, the part begins with that.
//!
//! A row that a step carries is below the address of its part: the row's own address, above its instructions' operands. Over wide fields a cell has a row's distance
//! from its table, in words.
//!
//! Parts that words choose begin at equal distances, so that one multiplication and one addition make the addresses of
//! sixteen steps, which memory holds too. Parts are padded to that distance; each group of parts has its own.
//!
//! If only the first steps are done, their addresses are pushed last: control enters the pushes at a computed distance
//! from their end, again a multiple of a fixed distance.
//!
//! If slots are words of memory, the state may stay on the stack, above the address of the next part: [`super::held`].

mod entry;
pub(super) mod taken;

use super::countdown::Labels;
use super::held::HeldPart;
use super::pieces::{is_part, pieces};
use super::words::{self, big};
use super::{Filled, Flow, Lowering};
use crate::error::CompileError;
use crate::target::push;
use residue_ir::program::{Arm, ArrayId, ControlKind, Order, Program, Region, RowsOf, Statement, TableId, Take, Word};
use residue_ir::{Capacity, FirstSteps, SequenceStep};
use residue_isa::assembly::{Item, LabelId};
use residue_isa::opcode::evm;
use residue_passes::Row;
use residue_passes::rows::Nest;
use std::ops::Range;
use std::{iter, mem};

/// A part with its rows.
type Part<'a> = (&'a Arm, &'a [Row<'a>]);

/// Entry of a part.
pub(super) struct Entry<'a> {
    /// Its beginning.
    pub label: LabelId,
    /// Its countdown, and the address of the place in it that the count says.
    pub countdown: Option<(&'a Nest<'a>, Labels, u32)>,
    /// True if the part begins with the countdown.
    is_countdown: bool,
}

/// Words of memory for the entrances of sequences: parts that begin with a countdown, and words that choose parts.
pub(super) struct EntranceWords {
    /// Number of words before the first of each function: those of functions that may be active when it is called, as
    /// one may call another in a part. Within a function only nested sequences have separate words.
    pub first: Vec<u64>,
    /// Number of words.
    pub words: u64,
}

/// Those of a program.
pub(super) fn entrances(program: &Program) -> EntranceWords {
    let mut entrances = EntranceWords { first: vec![0; program.functions.len()], words: 0 };
    // Functions that are called come before those that call them.
    for (number, function) in program.functions.iter().enumerate().rev() {
        let end = entrances.first[number] + most_entrances(&function.body);
        entrances.words = entrances.words.max(end);
        function.body.walk(&mut |statement| {
            if let Statement::Call { function, .. } = statement {
                let first = &mut entrances.first[function.0 as usize]; // u32 to usize widens
                *first = end.max(*first);
            }
        });
    }
    entrances
}

/// True if words choose parts in it: the addresses of such code must fit the cells of a word.
pub(super) fn chooses(program: &Program) -> bool {
    let mut chooses = false;
    for function in &program.functions {
        function.body.walk(&mut |statement| {
            if let Statement::Control(control) = statement
                && let ControlKind::Sequence(order) = &control.kind
            {
                chooses |= order.chooses_parts() || order.first.is_some();
            }
        });
    }
    chooses
}

fn most_entrances(region: &Region) -> u64 {
    let of_statement = |statement: &Statement| {
        let Statement::Control(control) = statement else { return 0 };
        let own = match &control.kind {
            ControlKind::Sequence(order) => {
                let parts = control.arms.iter().filter(|part| part.countdown().is_some());
                (parts.count() + reached(&order.steps, &takes(order, &control.arms)).len()) as u64 // usize to u64 widens
            }
            _ => 0,
        };
        // A word may choose parts and rows of several tables and arrays.
        own + control.arms.iter().map(|arm| most_entrances(&arm.body)).max().unwrap_or(0)
    };
    region.statements.iter().map(of_statement).max().unwrap_or(0)
}

/// For each step the statement that takes its row.
fn takes<'a>(order: &Order, parts: &'a [Arm]) -> Vec<Option<Take<'a>>> {
    order.takes(parts).expect("rows are those that parts take: `verify` checks it")
}

/// Rows of tables that steps carry by constant numbers.
pub(super) fn rows_by_number(program: &Program) -> Vec<(TableId, usize)> {
    let mut rows = Vec::new();
    for function in &program.functions {
        function.body.walk(&mut |statement| {
            let Statement::Control(control) = statement else { return };
            let ControlKind::Sequence(order) = &control.kind else { return };
            for (step, take) in order.steps.iter().zip(takes(order, &control.arms)) {
                if let (&SequenceStep::CarryNumber(row), Some(Take { of: RowsOf::Table(table), .. })) = (step, take)
                    && !rows.contains(&(table, row))
                {
                    rows.push((table, row));
                }
            }
        });
    }
    rows
}

/// Meaning of the numbers in a word's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// Parts from this one on.
    Parts(usize),
    /// Rows of this many values.
    Rows(RowsOf, usize),
}

impl Reached {
    fn of(step: &SequenceStep<Word>, take: Option<Take<'_>>) -> Option<(Word, Self)> {
        let reached = match *step {
            SequenceStep::Chosen { first_part, .. } => Self::Parts(first_part),
            _ => {
                let take = take?;
                Self::Rows(take.of, take.results.len())
            }
        };
        Some((step.word()?, reached))
    }
}

/// The words that steps read, with the meaning of their numbers, each once; words with the same meaning are adjacent.
fn reached(steps: &[SequenceStep<Word>], takes: &[Option<Take<'_>>]) -> Vec<(Word, Reached)> {
    let mut all: Vec<(Word, Reached)> = Vec::new();
    for found in steps.iter().zip(takes).filter_map(|(step, &take)| Reached::of(step, take)) {
        if !all.contains(&found) {
            let after = all.iter().rposition(|(_, reached)| *reached == found.1).map_or(all.len(), |last| last + 1);
            all.insert(after, found);
        }
    }
    all
}

/// Allocator of entrances.
#[derive(Default)]
pub(super) struct Entrances {
    next: u32,
    /// Labels of chosen code and the number of its bytes: their addresses must fit cells.
    pub near: Vec<(LabelId, usize)>,
    /// Bodies that have been filled up.
    pub filled: Vec<Filled>,
}

impl Entrances {
    /// Begins another function, whose entrances are `words` words after this address.
    pub(super) fn begin(&mut self, address: u32, words: u64) {
        self.next = address + 32 * u32::try_from(words).expect("memory was laid out");
    }

    fn take(&mut self) -> u32 {
        let address = self.next;
        self.next += 32;
        address
    }
}

/// Parts chosen at run time: the words, with the memory addresses of the entry addresses that they select, and the
/// items that push the distance between parts of the group.
struct Chosen {
    addresses: Vec<((Word, Reached), u32)>,
    distances: Vec<(usize, usize)>,
}

impl<'a> Lowering<'a> {
    /// [] → []
    pub(super) fn sequence(&mut self, sequence: &'a Nest<'a>, order: &Order) -> Result<(), CompileError> {
        let (initial, parts) = (&sequence.control.initial, sequence.arms());
        let (Some(state), false) = (parts.first().map(|(part, _)| &part.params), order.steps.is_empty()) else {
            return Ok(());
        };
        let mut pieces = pieces(order, self.cuts.steps).into_iter();
        let first_piece = pieces.next().unwrap_or(0..order.steps.len());
        // A state on the stack would lie above the addresses that are pushed later.
        let held = if pieces.len() == 0 { self.held(sequence, order) } else { None };
        if held.is_none() {
            self.move_to(state, initial);
        }
        let free = self.entrances.next;
        let takes = self.given_takes(order, &sequence.control.arms, held.is_some());
        let groups = order.groups(parts.len());
        let choices = groups.last().map_or(0, |last| last.end);
        let mut entries = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            entries.push(self.part_entry(*part, number < choices)?);
        }
        let chosen = self.chosen(order, &reached(&order.steps, &takes), &entries)?;
        let end = self.code.new_label();
        let mut go_on = if pieces.len() == 0 { end } else { self.code.new_label() };
        if let Some(held) = &held {
            let above = held.state_words();
            self.arrivals
                .above
                .extend(entries.iter().map(|entry| entry.label).chain([end]).map(|label| (label, above)));
        }
        match order.first {
            Some(first) => self.push_first_steps(order, first, end, (&entries, &chosen))?,
            None => {
                self.code.push_label(go_on);
                self.push_steps((order, first_piece), &takes, (&entries, &chosen))?;
            }
        }
        if let Some(held) = &held {
            self.held_way(&held.start);
        }
        self.jump_to_first(&entries, choices);

        let stack = mem::take(&mut self.stack);
        let mut bodies = Vec::new();
        for (number, (&part, entry)) in parts.iter().zip(&entries).enumerate() {
            let start = self.code.items().len();
            let next = order.then[number].filter(|&next| next != number + 1 || next <= choices);
            let after = order.then[number].map(|number| (&entries[number], next.is_some()));
            self.part(part, entry, after, held.as_ref().map(|held| &held.parts[number]))?;
            if number < choices {
                bodies.push(start..self.code.item(Item::Data(Vec::new())));
            }
        }
        self.stack = stack;
        while let Some(piece) = pieces.next() {
            self.code.label(go_on);
            go_on = if pieces.len() == 0 { end } else { self.code.new_label() };
            self.code.push_label(go_on);
            self.push_steps((order, piece), &takes, (&entries, &chosen))?;
            self.jump_to_first(&entries, choices);
        }
        self.code.label(end);
        if let Some(held) = &held {
            self.held_way(&held.end);
        }
        if choices > 0 || order.first.is_some() {
            self.entrances.near.push((end, 0));
        }
        self.entrances.next = free;
        self.fill_up(groups, &bodies, &chosen.distances, evm::INVALID)
    }

    /// Pushes the entrances of the steps in a range, the first on top.
    fn push_steps(
        &mut self,
        (order, range): (&Order, Range<usize>),
        takes: &[Option<Take<'_>>],
        (entries, chosen): (&[Entry<'a>], &Chosen),
    ) -> Result<(), CompileError> {
        let mut pushed: Vec<Option<usize>> = Vec::new();
        // Rows come before their part, whose address has to be above theirs.
        let mut end_of_rows = range.end;
        for (at, step) in order.steps.iter().enumerate().take(range.end).skip(range.start).rev() {
            if !is_part(step) {
                continue;
            }
            let first = order.steps[..at].iter().rposition(is_part).map_or(0, |before| before + 1);
            for row in (first..at).rev() {
                let take = takes[row].expect("it carries a row");
                let words = self.push_row(order.steps[row], take, chosen)?;
                pushed.extend(iter::repeat_n(None, words));
            }
            end_of_rows = first;
            match *step {
                SequenceStep::Part(number) => {
                    let above = pushed.iter().rev().position(|&before| before == Some(number));
                    self.push_entry(&entries[number], above);
                    pushed.push(Some(number));
                }
                _ => {
                    self.chosen_cell(*step, None, chosen);
                    pushed.push(None);
                }
            }
        }
        debug_assert_eq!(end_of_rows, range.start, "each row has its part");
        Ok(())
    }

    /// Pushes the end, and above it the entrances of the first steps, the first on top: pushes for as many steps as are counted as one are as long as
    /// the longest of these, so that where to begin is computed.
    fn push_first_steps(
        &mut self,
        order: &Order,
        first: FirstSteps<Word>,
        end: LabelId,
        (entries, chosen): (&[Entry<'a>], &Chosen),
    ) -> Result<(), CompileError> {
        let pushed = self.code.new_label();
        self.code.push_label(end);
        self.stack.push(super::Entry::Other);
        self.word(first.count)?;
        let distance = self.code.item(Item::Push(0u8.into()));
        self.code.op(evm::MUL);
        self.code.push_label(pushed);
        self.code.op(evm::SUB);
        let jump = self.code.items().len();
        self.code.op(evm::JUMP);
        self.stack.truncate(self.stack.len() - 2);
        let mut bodies = Vec::new();
        for steps in order.steps.chunks(first.each).rev() {
            let start = self.code.items().len();
            let label = self.code.new_label();
            self.arrivals.chosen.entry(jump).or_default().push(label);
            self.code.label(label);
            for step in steps.iter().rev() {
                match *step {
                    SequenceStep::Part(number) => self.push_entry(&entries[number], None),
                    _ => self.chosen_cell(*step, None, chosen),
                }
            }
            bodies.push(start..self.code.item(Item::Data(Vec::new())));
        }
        self.code.label(pushed);
        self.fill_up(iter::once(0..bodies.len()), &bodies, &[(0, distance)], evm::JUMPDEST)
    }

    /// A part, and the way to the next one: to that of `after` by a jump, unless it comes next in the code.
    fn part(
        &mut self,
        (part, rows): Part<'a>,
        entry: &Entry<'a>,
        after: Option<(&Entry<'a>, bool)>,
        held: Option<&HeldPart>,
    ) -> Result<(), CompileError> {
        if let Some(held) = held {
            self.code.label(entry.label);
            self.held_part(rows, held)?;
            self.next_part(after);
            return Ok(());
        }
        let rows = &rows[usize::from(entry.countdown.is_some())..];
        if !entry.is_countdown {
            self.code.label(entry.label);
        }
        if let Some((countdown, labels, address)) = &entry.countdown {
            if !entry.is_countdown {
                self.move_to(&countdown.control.arms[0].params, &countdown.control.initial);
                push(self.code, *address);
                self.code.op(evm::MLOAD);
                self.code.op(evm::JUMP);
            }
            self.turns(countdown, labels)?;
        }
        if self.region(rows)? == Flow::Continues {
            self.move_to(&part.params, &part.gives);
            self.next_part(after);
        }
        Ok(())
    }

    /// Goes on after a part.
    fn next_part(&mut self, after: Option<(&Entry<'a>, bool)>) {
        match after {
            Some((next, is_apart)) => {
                if is_apart || next.is_countdown {
                    self.push_entry(next, None);
                    self.code.op(evm::JUMP);
                }
            }
            None => {
                self.code.op(evm::JUMP);
            }
        }
    }

    /// Pushes a part's row with its operands unless it stands alone; returns the number of words.
    fn push_row(&mut self, step: SequenceStep<Word>, take: Take<'_>, chosen: &Chosen) -> Result<usize, CompileError> {
        let operands = match take.of {
            _ if self.given(take).is_alone => 0,
            RowsOf::Table(_) => self.before_row(take.results)?,
            RowsOf::Array(array) => self.before_take(array, take.results),
        };
        match (step, take.of) {
            (SequenceStep::CarryNumber(row), RowsOf::Table(table)) => {
                self.code.push_label(self.units[self.unit].rows[&(table, row)]);
            }
            (SequenceStep::CarryNumber(row), RowsOf::Array(array)) => {
                let (first, stride) = self.row_of_array(array, take.results.len());
                self.code.push(u64::from(first) + u64::from(stride) * row as u64); // usize to u64 widens
            }
            _ => self.chosen_cell(step, Some(take), chosen),
        }
        Ok(operands + 1)
    }

    /// Address of the first row of this many values of an array, and bytes from one to the next: an element, or a part of one.
    pub(super) fn row_of_array(&self, array: ArrayId, values: usize) -> (u32, u32) {
        let (first, stride) = self.layout.array(self.unit, array);
        let parts = self.program.arrays[array.0].element_values / values;
        (first, stride / u32::try_from(parts).expect("an element has fewer values than memory bytes"))
    }

    /// The address in the cell that a step reads. [] → [address]
    fn chosen_cell(&mut self, step: SequenceStep<Word>, take: Option<Take<'_>>, chosen: &Chosen) {
        let reached = Reached::of(&step, take);
        let place = chosen.addresses.iter().find(|(of, _)| Some(*of) == reached);
        let (SequenceStep::Chosen { first_bit, .. } | SequenceStep::Carry { first_bit, .. }, Some((_, address))) =
            (step, place)
        else {
            unreachable!("it reads one of the words");
        };
        self.cell_and_others(*address, first_bit);
        match take {
            None => self.mask_cell(SequenceStep::<Word>::CELLS, None),
            Some(take) if self.given(take).is_cell => {}
            Some(take) => self.row_in_cell(take),
        }
    }

    /// Bits that distances of rows in tables have less where cells hold these in place of addresses, else 0: rows over wide fields are so long that a table may end
    /// beyond what cells of 16 bits reach.
    fn table_shift(&self) -> u32 {
        if self.target.wide().is_some() { 5 } else { 0 }
    }

    /// Label of number 0; `None` if that is in memory, which must be near, or added where a cell is read.
    fn first(&mut self, reached: Reached, entries: &[Entry<'_>]) -> Result<Option<LabelId>, CompileError> {
        Ok(match reached {
            Reached::Parts(first) => Some(entries[first].label),
            Reached::Rows(RowsOf::Table(table), _) => {
                let label = self.units[self.unit].tables[table.0];
                let declared = &self.program.tables[table.0];
                let bytes = self.element_bytes(declared.element_values)? as usize; // u32 to usize widens
                let last = bytes * (declared.elements.len() - 1);
                let (shift, limit) = (self.table_shift(), u64::from(u16::MAX));
                if shift > 0 && last as u64 > limit << shift {
                    return Err(CompileError::Memory { bytes: last as u64, limit_bytes: limit << shift });
                }
                if shift > 0 {
                    return Ok(None);
                }
                self.entrances.near.push((label, last));
                Some(label)
            }
            Reached::Rows(RowsOf::Array(array), values) => {
                let (first, own_bytes) = self.row_of_array(array, values);
                let (_, stride) = self.layout.array(self.unit, array);
                let room_bytes = match self.program.arrays[array.0].capacity {
                    Capacity::Fixed(count) => u64::from(count).saturating_mul(stride.into()),
                    Capacity::Unbounded => unreachable!("its size is fixed: `verify` checks it"),
                };
                let bytes = u64::from(first).saturating_add(room_bytes.saturating_sub(own_bytes.into()));
                let limit_bytes = u64::from(u16::MAX) << self.row_shift(array, values);
                if bytes > limit_bytes {
                    return Err(CompileError::Memory { bytes, limit_bytes });
                }
                None
            }
        })
    }

    /// Puts the addresses of chosen parts and rows into memory, sixteen in a word. The summand of words is made once
    /// for all with the same meaning and the same cells.
    fn chosen(
        &mut self,
        order: &Order,
        words: &[(Word, Reached)],
        entries: &[Entry<'_>],
    ) -> Result<Chosen, CompileError> {
        let mut chosen = Chosen { addresses: Vec::new(), distances: Vec::new() };
        let count = order.first.map(|first| first.count);
        for (number, (word, _)) in words.iter().enumerate() {
            if count == Some(*word) || words[..number].iter().any(|(before, _)| before == word) {
                words::count_word(self.function, &mut self.uses, *word);
            }
        }
        let alike = |&(word, reached): &(Word, Reached)| (reached, order.cells(word));
        for same in words.chunk_by(|one, other| alike(one) == alike(other)) {
            let (reached, cells) = alike(&same[0]);
            let each = |value| big(SequenceStep::<Word>::CELLS.at(cells.iter().copied(), value));
            let label = self.first(reached, entries)?;
            // Rows of arrays begin at a number; sharing it takes 5 gas more.
            let first = match reached {
                Reached::Rows(RowsOf::Array(array), values) => {
                    Some(self.layout.array(self.unit, array).0 >> self.row_shift(array, values))
                }
                _ => None,
            };
            let is_shared = same.len() > 1 && (label.is_some() || first.is_some() && self.is_short());
            let push_first = |lowering: &mut Self| match (first, label) {
                (Some(first), _) => _ = lowering.code.push(each(first.into())),
                (None, label) => {
                    lowering.code.push(each(1));
                    lowering.code.push_label(label.expect("a first row in memory has no label"));
                    lowering.code.op(evm::MUL);
                }
            };
            if is_shared {
                push_first(self);
                self.stack.push(super::Entry::Other);
            }
            for &(word, _) in same {
                let address = self.entrances.take();
                self.word(word)?;
                self.push_distance(reached, &mut chosen.distances)?;
                self.code.op(evm::MUL);
                match reached {
                    Reached::Rows(RowsOf::Table(_), _) if label.is_none() => {}
                    _ if is_shared => {
                        self.code.op(evm::DUP1 + 1);
                        self.code.op(evm::ADD);
                    }
                    _ => {
                        push_first(self);
                        self.code.op(evm::ADD);
                    }
                }
                push(self.code, address);
                self.code.op(evm::MSTORE);
                self.stack.pop();
                chosen.addresses.push(((word, reached), address));
            }
            if is_shared {
                self.code.op(evm::POP);
                self.stack.pop();
            }
        }
        Ok(chosen)
    }

    /// Pushes the distance from one part or row to the next in a cell; that of parts is known when their bodies are. [] → [distance]
    fn push_distance(&mut self, reached: Reached, of_parts: &mut Vec<(usize, usize)>) -> Result<(), CompileError> {
        match reached {
            Reached::Parts(first) => of_parts.push((first, self.code.item(Item::Push(0u8.into())))),
            Reached::Rows(RowsOf::Table(table), _) => {
                let bytes = self.element_bytes(self.program.tables[table.0].element_values)?;
                push(self.code, bytes >> self.table_shift());
            }
            Reached::Rows(RowsOf::Array(array), values) => {
                let (_, stride) = self.row_of_array(array, values);
                push(self.code, stride >> self.row_shift(array, values));
            }
        }
        Ok(())
    }
}
