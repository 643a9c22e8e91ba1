//! Judge of outlining: new items with every call expanded are the old ones.
//!
//! Both lists are walked side by side. Where the new one calls, the old stretch and the body of the subroutine are executed on symbolic words: the
//! same instructions have to get the same words in the same order and leave the same stack, and the return address has to come to the top at the end. How many
//! old items a call stands for is a hint, wrong ones are refused. Bodies that are chosen by a product have to be equally long by the offsets of the new code.

use super::{Outlined, Step, steps};
use crate::build::Listing;
use crate::error::CompileError;
use foldhash::{HashMap, HashMapExt, HashSet};
use num_bigint::BigUint;
use residue_isa::Revision;
use residue_isa::assembly::{Item, LabelId};
use residue_isa::opcode::evm;
use residue_isa::opcode::subroutine::{CALLSUB, ENTERSUB, RETURNSUB};
use std::collections::BTreeMap;
use std::ops::Range;

/// Refuses outlined code that does not expand to the code as it was.
pub(super) fn check(
    listing: &Listing,
    outlined: &Outlined,
    lengths: &BTreeMap<usize, usize>,
    revision: Revision,
) -> Result<(), CompileError> {
    let refuse = |what: &str, item: usize| CompileError::Outlined { what: what.to_owned(), item };
    let (old, new) = (listing.assembly.items(), outlined.listing.assembly.items());
    let defines = |item: &Item| match item {
        Item::Label(label) | Item::Mark(label) => Some(*label),
        _ => None,
    };
    let places = new.iter().enumerate().filter_map(|(place, item)| Some((defines(item)?, place))).collect();
    let walk = Walk {
        old,
        new,
        old_labels: old.iter().filter_map(defines).collect(),
        places,
        lengths,
        old_steps: steps(old, revision, listing.fail),
        new_steps: steps(new, revision, listing.fail),
        may_differ: listing
            .filled
            .iter()
            .flat_map(|filled| filled.lengths.iter().copied().chain(filled.bodies.iter().map(|body| body.end)))
            .collect(),
        bodies: listing.filled.iter().flat_map(|filled| filled.bodies.clone()).collect(),
        has_subroutines: revision.has_subroutines(),
    };
    let moved = walk.all(outlined).map_err(|(what, item)| refuse(what, item))?;
    lengths_agree(listing, outlined, &moved).map_err(|(what, item)| refuse(what, item))
}

/// A reason, and the new item that it is about.
type Refused = (&'static str, usize);

struct Walk<'a> {
    old: &'a [Item],
    new: &'a [Item],
    old_labels: HashSet<LabelId>,
    places: HashMap<LabelId, usize>,
    lengths: &'a BTreeMap<usize, usize>,
    old_steps: Vec<Step>,
    new_steps: Vec<Step>,
    /// Old items that depend on the lengths of bodies.
    may_differ: HashSet<usize>,
    /// Old items of bodies of one length, without their padding.
    bodies: Vec<Range<usize>>,
    has_subroutines: bool,
}

impl Walk<'_> {
    /// New places of old items that are still there.
    fn all(&self, outlined: &Outlined) -> Result<HashMap<usize, usize>, Refused> {
        let mut moved = HashMap::new();
        let (mut at, mut place) = (0, 0);
        while place < self.new.len() {
            if place == outlined.subroutines.start && !outlined.subroutines.is_empty() {
                let is_between = |body: &Range<usize>| body.start < at && at <= body.end;
                if at == 0 || self.old_steps[at - 1] != Step::Ends || self.bodies.iter().any(is_between) {
                    return Err(("subroutines are not behind an end", place));
                }
                place = outlined.subroutines.end;
                continue;
            }
            match &self.new[place] {
                Item::Label(label) if !self.old_labels.contains(label) => place += 1,
                _ if self.lengths.contains_key(&place) => {
                    let length = self.lengths[&place];
                    let stretch = at..at + length;
                    if stretch.end > self.old.len() {
                        return Err(("a call stands for more than there is", place));
                    }
                    place += self.call(stretch.clone(), place)?;
                    at = stretch.end;
                }
                item => {
                    let is_same = self.old.get(at) == Some(item);
                    let differs = self.may_differ.contains(&at)
                        && matches!(
                            (&self.old[at], item),
                            (Item::Push(_), Item::Push(_)) | (Item::Data(_), Item::Data(_))
                        );
                    if !is_same && !differs {
                        return Err(("another item", place));
                    }
                    moved.insert(at, place);
                    (at, place) = (at + 1, place + 1);
                }
            }
        }
        if at < self.old.len() { Err(("items are missing", place)) } else { Ok(moved) }
    }

    /// The label that an item pushes.
    fn pushed(&self, place: usize) -> Option<LabelId> {
        match self.new.get(place)? {
            Item::PushLabel(label) => Some(*label),
            // The distance from offset 0.
            Item::PushDistances { to, from } if matches!((&from[..], self.new.first()), ([origin], Some(Item::Mark(first))) if origin == first) => {
                Some(*to)
            }
            _ => None,
        }
    }

    /// Holds a call, or a jump to an end, to the old stretch; its number of items.
    fn call(&self, stretch: Range<usize>, place: usize) -> Result<usize, Refused> {
        let op = |after: usize| match self.new.get(place + after) {
            Some(Item::Op(opcode)) => Some(*opcode),
            _ => None,
        };
        let refused = Err(("neither a call nor a jump", place));
        let Some(first) = self.pushed(place) else { return refused };
        match (op(1), self.pushed(place + 1)) {
            (Some(evm::JUMP), _) => {
                self.end(stretch, first, place)?;
                Ok(2)
            }
            (Some(CALLSUB), _) if self.has_subroutines => {
                self.body(stretch, (first, None), place)?;
                Ok(2)
            }
            (_, Some(subroutine))
                if op(2) == Some(evm::JUMP) && self.new.get(place + 3) == Some(&Item::Label(first)) =>
            {
                self.body(stretch, (subroutine, Some(first)), place)?;
                Ok(4)
            }
            _ => refused,
        }
    }

    /// A jump to a label after which the same items follow, up to an end of control.
    fn end(&self, stretch: Range<usize>, label: LabelId, place: usize) -> Result<(), Refused> {
        let start = *self.places.get(&label).ok_or(("a jump to no label", place))?;
        if self.new[start] != Item::Label(label) || self.old_steps[stretch.end - 1] != Step::Ends {
            return Err(("no end of control", place));
        }
        let is_own = |item: &&Item| !matches!(item, Item::Label(label) if !self.old_labels.contains(label));
        let mut others = self.new[start..].iter().filter(is_own);
        match self.old[stretch].iter().all(|item| others.next() == Some(item)) {
            true => Ok(()),
            false => Err(("another end", place)),
        }
    }

    /// A subroutine that does as the stretch does and goes back.
    fn body(
        &self,
        stretch: Range<usize>,
        (label, back): (LabelId, Option<LabelId>),
        place: usize,
    ) -> Result<(), Refused> {
        let start = *self.places.get(&label).ok_or(("a call of no label", place))?;
        let (enters, leaves) = match back {
            Some(_) => (self.new[start] == Item::Label(label), evm::JUMP),
            None => (self.new.get(start + 1) == Some(&Item::Op(ENTERSUB)), RETURNSUB),
        };
        let first = if back.is_some() { start + 1 } else { start + 2 };
        let is_last = |item: &Item| *item == Item::Op(leaves);
        let length = self.new.get(first..).and_then(|after| after.iter().position(is_last));
        let Some(length) = length.filter(|_| enters) else { return Err(("no subroutine", place)) };
        let mut as_it_was = Symbolic::default();
        let mut as_it_is = Symbolic { stack: back.iter().map(|_| Word::Return).collect(), ..Symbolic::default() };
        let is_plain = as_it_was.all(&self.old[stretch.clone()], &self.old_steps[stretch])
            && as_it_is.all(&self.new[first..first + length], &self.new_steps[first..first + length]);
        if !is_plain || back.is_some() && as_it_is.pop() != Word::Return {
            return Err(("a body that does not go back", place));
        }
        let depth = as_it_was.below.max(as_it_is.below);
        as_it_was.reach(depth);
        as_it_is.reach(depth);
        let is_same = as_it_was.events == as_it_is.events && as_it_was.stack == as_it_is.stack;
        if is_same { Ok(()) } else { Err(("another body", place)) }
    }
}

/// A symbolic word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// On the stack before, 0 on top.
    Below(usize),
    Return,
    /// One of the words that an instruction put, by their numbers.
    Put(usize, usize),
}

/// Execution of items without jumps on symbolic words.
#[derive(Debug, Default)]
struct Symbolic {
    /// The top comes last.
    stack: Vec<Word>,
    /// Words from before that are in `stack`, or were.
    below: usize,
    /// Instructions in order, with their operands.
    events: Vec<(Item, Vec<Word>)>,
}

impl Symbolic {
    fn reach(&mut self, below: usize) {
        let more: Vec<Word> = (self.below..below).rev().map(Word::Below).collect();
        self.below = self.below.max(below);
        self.stack.splice(0..0, more);
    }

    fn pop(&mut self) -> Word {
        if self.stack.is_empty() {
            self.reach(self.below + 1);
        }
        self.stack.pop().expect("it was reached")
    }

    /// Index in the stack of a word so deep, 1 for the top.
    fn index(&mut self, depth: usize) -> usize {
        let missing = depth.saturating_sub(self.stack.len());
        self.reach(self.below + missing);
        self.stack.len() - depth
    }

    /// Executes all items; false if one is no instruction that goes on.
    fn all(&mut self, items: &[Item], steps: &[Step]) -> bool {
        for (item, step) in items.iter().zip(steps) {
            match *step {
                Step::Dup(depth) => {
                    let copied = self.index(depth);
                    self.stack.push(self.stack[copied]);
                }
                Step::Swap(depth) => {
                    let other = self.index(depth + 1);
                    let top = self.stack.len() - 1;
                    self.stack.swap(other, top);
                }
                Step::Plain { pops, pushes } => {
                    let operands = (0..pops).map(|_| self.pop()).collect();
                    let number = self.events.len();
                    self.events.push((item.clone(), operands));
                    self.stack.extend((0..pushes).map(|put| Word::Put(number, put)));
                }
                Step::Ends | Step::Fixed => return false,
            }
        }
        true
    }
}

/// Bodies that are chosen by a product are as long as the number by which is multiplied, those of known lengths as long as before.
fn lengths_agree(listing: &Listing, outlined: &Outlined, moved: &HashMap<usize, usize>) -> Result<(), Refused> {
    let new = outlined.listing.assembly.items();
    for filled in &listing.filled {
        let mut known = None;
        for &item in filled.lengths.iter().filter(|_| !filled.is_fixed) {
            let place = *moved.get(&item).ok_or(("no length", item))?;
            let Item::Push(length) = &new[place] else { return Err(("no length", place)) };
            if known.replace(length.clone()).is_some_and(|before| before != *length) {
                return Err(("two lengths", place));
            }
        }
        for body in &filled.bodies {
            let places = (moved.get(&body.start), moved.get(&body.end));
            let (Some(&start), Some(&end)) = places else { return Err(("no body", body.start)) };
            let bytes = outlined.listing.code.item_range(end).map_or(0, |range| range.end)
                - outlined.listing.code.item_offsets[start];
            let before =
                listing.code.item_range(body.end).map_or(0, |range| range.end) - listing.code.item_offsets[body.start];
            let wanted =
                if filled.is_fixed { BigUint::from(before) } else { known.clone().unwrap_or_else(|| bytes.into()) };
            if wanted != BigUint::from(bytes) {
                return Err(("a body of another length", start));
            }
            known = Some(wanted);
        }
    }
    Ok(())
}
