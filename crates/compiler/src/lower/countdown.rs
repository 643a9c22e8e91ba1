//! Countdowns: turns written out one after the other, and a jump to the first that is done.
//!
//! A table of distances, in one word, holds for each turn how far before the end of the last one it begins; the count finds
//! its place. Distances fit two bytes where addresses may not. Where turns are too long even for that, the table is of jumps to them, which stand
//! before the code that looks it up.
//!
//! Turns that do the same with other numbers, and have no state, are as long as the longest of them: then a distance is a product. If that length is
//! nearly a power of two it becomes one, and where the count is some bits of a word these are taken where they are the product already.

use super::{Entry, Flow, Lowering};
use crate::error::CompileError;
use crate::target::push;
use num_bigint::BigUint;
use residue_ir::WordOp;
use residue_ir::program::{Control, Word, WordDef};
use residue_isa::assembly::{Item, LabelId};
use residue_isa::opcode::evm;
use residue_passes::Row;
use residue_passes::rows::Nest;
use std::iter;
use std::ops::Range;

/// Gas of a product with a number: a push and MUL (3, 5).
const PRODUCT_GAS: usize = 8;

/// The items of an entrance by a product: the number that is multiplied by, and the last four of the count, if these take bits of a word.
struct Entrance {
    length: usize,
    bits: Option<Bits>,
}

/// A push of how far bits are shifted, and one of their mask, with the numbers that are pushed.
struct Bits {
    shift: (usize, u32),
    mask: (usize, u32),
}

/// Labels at the start of each turn of a countdown, and at the end of the last.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    turns: Vec<LabelId>,
    end: LabelId,
}

impl Labels {
    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = LabelId> {
        self.turns.iter().copied().chain([self.end])
    }
}

/// True if turns have no state, and the same effects as each other with other operands.
fn are_alike(nest: &Nest<'_>) -> bool {
    let effects = |rows: &[Row<'_>]| -> Option<Vec<&'static str>> {
        let name = |row: &Row<'_>| match row {
            Row::Effect(effect) if !effect.ends() => Some(effect.name()),
            _ => None,
        };
        rows.iter().map(name).collect()
    };
    let arms = nest.arms();
    let first = arms.first().and_then(|(_, rows)| effects(rows));
    first.is_some() && arms.iter().all(|(arm, rows)| arm.params.is_empty() && effects(rows) == first)
}

impl<'a> Lowering<'a> {
    /// Stack at every turn and after the last one: as before the countdown.
    pub(super) fn countdown(&mut self, nest: &'a Nest<'a>, count: Word) -> Result<(), CompileError> {
        let countdown = nest.control;
        if let Some(first) = countdown.arms.first() {
            self.move_to(&first.params, &countdown.initial);
        }
        let labels = self.labels(countdown);
        if are_alike(nest) {
            return self.turns_alike(nest, count, &labels);
        }
        self.compute_entrance(count, &labels)?;
        self.stack.pop();
        self.code.op(evm::JUMP);
        self.turns(nest, &labels)
    }

    /// The jump by a product, and turns of one length.
    fn turns_alike(&mut self, nest: &'a Nest<'a>, count: Word, labels: &Labels) -> Result<(), CompileError> {
        self.word(count)?;
        let bits = self.bits_of(count);
        let length = self.code.item(Item::Push(0u8.into()));
        self.code.op(evm::MUL);
        self.code.push_label(labels.end);
        self.code.op(evm::SUB);
        self.stack.pop();
        self.arrivals.chosen.insert(self.code.items().len(), labels.all().collect());
        self.code.op(evm::JUMP);
        let mut bodies: Vec<Range<usize>> = Vec::new();
        for ((_, rows), &label) in nest.arms().into_iter().zip(&labels.turns) {
            let start = self.code.items().len();
            self.code.label(label);
            self.region(rows)?;
            bodies.push(start..self.code.item(Item::Data(Vec::new())));
        }
        self.code.label(labels.end);
        self.fill_up(iter::once(0..bodies.len()), &bodies, &[(0, length)], evm::JUMPDEST)?;
        self.fill_to_power_of_two(&Entrance { length, bits }, &bodies);
        Ok(())
    }

    /// The pushes by which the count that was computed last takes its bits, if it does.
    fn bits_of(&self, count: Word) -> Option<Bits> {
        let word = |word: Word| &self.function.words[word.0 as usize]; // u32 to usize widens
        let WordDef::Op(WordOp::And, mask, shifted) = *word(count) else { return None };
        let (WordDef::Constant(_), WordDef::Op(WordOp::Shr, _, _)) = (word(mask), word(shifted)) else { return None };
        let end = self.code.items().len();
        let pushed = |item: usize| match &self.code.items()[item] {
            Item::Push(number) => u32::try_from(number).ok().map(|number| (item, number)),
            _ => None,
        };
        match self.code.items().get(end.checked_sub(4)?..)? {
            [Item::Push(_), Item::Op(evm::SHR), Item::Push(_), Item::Op(evm::AND)] => {
                Some(Bits { shift: pushed(end - 4)?, mask: pushed(end - 2)? })
            }
            _ => None,
        }
    }

    /// Makes turns as long as the next power of two, if that takes less gas on average than the product that it spares.
    fn fill_to_power_of_two(&mut self, entrance: &Entrance, bodies: &[Range<usize>]) {
        let Item::Push(length) = &self.code.items()[entrance.length] else { return };
        let Some(length) = u32::try_from(length).ok() else { return };
        let power = length.next_power_of_two();
        let more = (power - length) as usize; // u32 to usize widens
        let Some(Bits { shift, mask }) = entrance.bits.as_ref().filter(|bits| bits.shift.1 >= power.ilog2()) else {
            return;
        };
        if more * bodies.len() >= 2 * PRODUCT_GAS {
            return;
        }
        self.code.replace(shift.0, Item::Push((shift.1 - power.ilog2()).into()));
        self.code.replace(mask.0, Item::Push(BigUint::from(mask.1) << power.ilog2()));
        self.code.replace(entrance.length, Item::Data(Vec::new()));
        self.code.replace(entrance.length + 1, Item::Data(Vec::new()));
        if let Some(filled) = self.entrances.filled.last_mut() {
            (filled.lengths, filled.is_fixed) = (Vec::new(), true);
        }
        for body in bodies {
            if let Item::Data(filling) = &self.code.items()[body.end] {
                let filled = vec![evm::JUMPDEST; filling.len() + more];
                self.code.replace(body.end, Item::Data(filled));
            }
        }
    }

    /// The turns one after the other.
    pub(super) fn turns(&mut self, nest: &'a Nest<'a>, labels: &Labels) -> Result<(), CompileError> {
        for ((turn, rows), &label) in nest.arms().into_iter().zip(&labels.turns) {
            self.code.label(label);
            if self.region(rows)? == Flow::Continues {
                self.move_to(&turn.params, &turn.gives);
            }
        }
        self.code.label(labels.end);
        Ok(())
    }

    pub(super) fn labels(&mut self, countdown: &Control) -> Labels {
        let turns = countdown.arms.iter().map(|_| self.code.new_label()).collect();
        Labels { turns, end: self.code.new_label() }
    }

    /// Pushes where turn `count` − 1 begins; for no turn the shift takes all of the table away, which leaves the end.
    pub(super) fn compute_entrance(&mut self, count: Word, labels: &Labels) -> Result<(), CompileError> {
        let (turns, end) =
            if self.cuts.has_far_turns { self.jumps_to(labels) } else { (labels.turns.clone(), labels.end) };
        self.code.item(Item::PushDistances { to: end, from: turns });
        push(self.code, 1);
        self.stack.extend([Entry::Other; 2]);
        self.word(count)?;
        self.code.op(evm::SUB);
        push(self.code, 4);
        self.code.op(evm::SHL);
        self.code.op(evm::SHR);
        push(self.code, 0xffff);
        self.code.op(evm::AND);
        self.code.push_label(end);
        self.code.op(evm::SUB);
        self.stack.truncate(self.stack.len() - 2);
        Ok(())
    }

    /// Writes a jump to each turn and to the end, which are near each other. [] → []
    fn jumps_to(&mut self, labels: &Labels) -> (Vec<LabelId>, LabelId) {
        let after = self.code.new_label();
        self.code.push_label(after);
        self.code.op(evm::JUMP);
        let mut near: Vec<LabelId> = labels
            .all()
            .map(|far| {
                let near = self.code.new_label();
                self.code.label(near);
                self.code.push_label(far);
                self.code.op(evm::JUMP);
                near
            })
            .collect();
        self.code.label(after);
        let end = near.pop().expect("the end is one of them");
        (near, end)
    }
}
