//! Sequences: the addresses of all steps are pushed beforehand, the first on top, so that each part ends with a jump to the
//! next one. A step costs a push and a jump, half of what a turn of a loop does.
//!
//! What is below the addresses cannot be reached in a part, as it is not known how many are left. A part that begins with a
//! countdown is entered where the count says, and that place is found once; memory has it. If something has to be moved before
//! the countdown, the part begins with that.
//!
//! Parts that words choose begin at equal distances, so that one multiplication and one addition make the addresses of sixteen
//! steps, which memory holds too. What is left of such a distance is filled up.

use super::countdown::Labels;
use super::words::big;
use super::{DUP_DEPTH_MAX, Flow, Lowering};
use crate::error::CompileError;
use crate::target::push;
use residue_ir::SequenceStep;
use residue_ir::program::{Arm, ControlKind, Order, Program, Region, Statement, Word};
use residue_isa::assembly::{Item, LabelId};
use residue_isa::opcode::evm;
use residue_passes::Row;
use residue_passes::rows::Nest;
use std::mem;
use std::ops::Range;

/// A part with its rows.
type Part<'a> = (&'a Arm, &'a [Row<'a>]);

/// Where a part is entered.
struct Entry<'a> {
    /// Its beginning.
    label: LabelId,
    /// Its countdown, and the address of the place in it that the count says.
    countdown: Option<(&'a Nest<'a>, Labels, u32)>,
    /// Whether nothing stands before that place.
    is_countdown: bool,
}

/// Words of memory for the entrances of sequences: parts that begin with a countdown, and words that choose parts. Functions have
/// their own, as one may call another in a part; in a function only sequences in each other do.
pub(super) fn entrances(program: &Program) -> u64 {
    program.functions.iter().map(|function| most_entrances(&function.body)).sum()
}

/// Whether words choose parts in it: code for that has to stand where addresses fit the cells of a word.
pub(super) fn chooses(program: &Program) -> bool {
    let mut chooses = false;
    for function in &program.functions {
        function.body.walk(&mut |statement| {
            if let Statement::Control(control) = statement
                && let ControlKind::Sequence(order) = &control.kind
            {
                chooses |= !order.choosing().is_empty();
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
                (parts.count() + order.choosing().len()) as u64 // usize to u64 widens
            }
            _ => 0,
        };
        own + control.arms.iter().map(|arm| most_entrances(&arm.body)).max().unwrap_or(0)
    };
    region.statements.iter().map(of_statement).max().unwrap_or(0)
}

/// Where the next entrances go, and after which address no function has any yet.
pub(super) struct Entrances {
    next: u32,
    end: u32,
    /// Labels after parts that are chosen: their addresses have to fit cells.
    pub near: Vec<LabelId>,
}

impl Entrances {
    /// From this address on.
    pub(super) fn new(address: u32) -> Self {
        Self { next: address, end: address, near: Vec::new() }
    }

    /// Another function begins.
    pub(super) fn begin(&mut self) {
        self.next = self.end;
    }

    fn take(&mut self) -> u32 {
        let address = self.next;
        self.next += 32;
        self.end = self.end.max(self.next);
        address
    }
}

/// What is chosen at run time: the words, where memory has the addresses that they stand for, and the item that pushes the
/// distance from one part to the next.
struct Chosen {
    addresses: Vec<(Word, u32)>,
    distances: Vec<usize>,
}

impl<'a> Lowering<'a> {
    /// [] → []
    pub(super) fn sequence(&mut self, sequence: &'a Nest<'a>, order: &Order) -> Result<(), CompileError> {
        let (initial, parts) = (&sequence.control.initial, sequence.arms());
        let (Some(state), false) = (parts.first().map(|(part, _)| &part.params), order.steps.is_empty()) else {
            return Ok(());
        };
        self.move_to(state, initial);
        let free = self.entrances.next;
        let words = order.choosing();
        let choices = if words.is_empty() { 0 } else { SequenceStep::<Word>::choices(parts.len()) };
        let mut entries = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            entries.push(self.part_entry(*part, number < choices)?);
        }
        let chosen = self.chosen(&words, &entries)?;
        let end = self.code.new_label();
        self.code.push_label(end);
        let mut pushed: Vec<Option<usize>> = Vec::new();
        for step in order.steps.iter().rev() {
            match *step {
                SequenceStep::Part(number) => {
                    let above = pushed.iter().rev().position(|&before| before == Some(number));
                    self.push_entry(&entries[number], above);
                    pushed.push(Some(number));
                }
                SequenceStep::Chosen { word, first_bit } => {
                    let (_, address) = chosen.addresses.iter().find(|(of, _)| *of == word).expect("it is one of them");
                    self.cell_at(*address, first_bit, SequenceStep::<Word>::CELLS);
                    pushed.push(None);
                }
            }
        }
        self.code.op(evm::JUMP);

        let stack = mem::take(&mut self.stack);
        let mut bodies = Vec::new();
        for (number, (&part, entry)) in parts.iter().zip(&entries).enumerate() {
            let start = self.code.items().len();
            let next = order.then[number].filter(|&next| next != number + 1 || next <= choices);
            let after = order.then[number].map(|number| (&entries[number], next.is_some()));
            self.part(part, entry, after)?;
            if number < choices {
                bodies.push(start..self.code.item(Item::Data(Vec::new())));
            }
        }
        self.stack = stack;
        self.code.label(end);
        if choices > 0 {
            self.entrances.near.push(end);
        }
        self.entrances.next = free;
        self.fill_up(&bodies, &chosen.distances)
    }

    /// A part, and the way to the next one: to that of `after` by a jump, unless it comes next in the code.
    fn part(
        &mut self,
        (part, rows): Part<'a>,
        entry: &Entry<'a>,
        after: Option<(&Entry<'a>, bool)>,
    ) -> Result<(), CompileError> {
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
        Ok(())
    }

    /// Puts the addresses of chosen parts into memory, sixteen in a word.
    fn chosen(&mut self, words: &[Word], entries: &[Entry<'_>]) -> Result<Chosen, CompileError> {
        let mut chosen = Chosen { addresses: Vec::new(), distances: Vec::new() };
        for &word in words {
            let address = self.entrances.take();
            self.word(word)?;
            chosen.distances.push(self.code.item(Item::Push(0u8.into())));
            self.code.op(evm::MUL);
            self.code.push(big(SequenceStep::<Word>::CELLS.each(1)));
            self.code.push_label(entries[0].label);
            self.code.op(evm::MUL);
            self.code.op(evm::ADD);
            push(self.code, address);
            self.code.op(evm::MSTORE);
            self.stack.pop();
            chosen.addresses.push((word, address));
        }
        Ok(chosen)
    }

    /// Makes the bodies of chosen parts, each of which ends with an item for that, equally long, and says how long where it is
    /// asked for. Their pushes of labels are of two bytes, so that their lengths are known.
    fn fill_up(&mut self, bodies: &[Range<usize>], distances: &[usize]) -> Result<(), CompileError> {
        let mut lengths = Vec::new();
        for body in bodies {
            for index in body.clone() {
                if let Item::PushLabel(to) = self.code.items()[index] {
                    self.code.replace(index, Item::PushDistances { to, from: vec![self.origin] });
                }
            }
            lengths.push(self.code.fixed_bytes(body.clone(), self.revision)?);
        }
        let longest = lengths.iter().copied().max().unwrap_or(0);
        for (body, length) in bodies.iter().zip(lengths) {
            self.code.replace(body.end, Item::Data(vec![evm::INVALID; longest - length]));
        }
        for &index in distances {
            self.code.replace(index, Item::Push(longest.into()));
        }
        Ok(())
    }

    /// Finds out where a part is entered, and puts the place that a count says into memory; a part that is chosen is entered at
    /// its beginning.
    fn part_entry(&mut self, (part, rows): Part<'a>, is_chosen: bool) -> Result<Entry<'a>, CompileError> {
        let label = self.code.new_label();
        let (Some((count, countdown)), [Row::Control(nest), ..]) = (part.countdown(), rows) else {
            return Ok(Entry { label, countdown: None, is_countdown: false });
        };
        let address = self.entrances.take();
        let labels = self.labels(countdown);
        self.compute_entrance(count, &labels)?;
        self.stack.pop();
        push(self.code, address);
        self.code.op(evm::MSTORE);
        let state = countdown.arms.iter().take(1).flat_map(|turn| &turn.params);
        let is_countdown =
            !is_chosen && state.zip(&countdown.initial).all(|(&to, &from)| self.placement.slot(to) == self.slot(from));
        Ok(Entry { label, countdown: Some((nest, labels, address)), is_countdown })
    }

    /// Pushes where a part is entered, given how many words above it that was pushed before, if it was.
    fn push_entry(&mut self, entry: &Entry<'_>, above: Option<usize>) {
        match (above.and_then(|above| u8::try_from(above).ok()).filter(|&above| above < DUP_DEPTH_MAX), entry) {
            (Some(above), _) => {
                self.code.op(evm::DUP1 + above);
            }
            (None, Entry { countdown: Some((_, _, address)), is_countdown: true, .. }) => {
                push(self.code, *address);
                self.code.op(evm::MLOAD);
            }
            (None, Entry { label, .. }) => {
                self.code.push_label(*label);
            }
        }
    }
}
