//! The height of the stack at every item of a program, and the most that it comes to.
//!
//! One walk over the items, functions before their callees: pushing a word or a label raises the stack by one, an
//! opcode changes it as its row says. At the target of a jump the stack is as high as it was before the label was
//! pushed, since a jump takes the words above: so control arrives at a return address below others when they are gone,
//! and a function starts at the height of its highest call. Lowering lists the labels that go through memory or lie
//! under other words ([`Arrivals`]).
//!
//! Judge: `conformance/tests/conformance/compiled_programs.rs` holds it to the stack at each instruction that random programs execute.

use foldhash::{HashMap, HashMapExt};
use residue_isa::assembly::{Item, LabelId};
use residue_isa::opcode::evm;
use residue_isa::opcode::subroutine::{CALLSUB, RETURNSUB};
use residue_isa::{FieldInstruction, Revision};

/// Words that the EVM's stack has (Yellow Paper, §9.1).
pub(crate) const HEIGHT_MAX: usize = 1024;

/// Pushes of a field instruction that takes its operands from the stack, at most: destination, both sources, modulus and r_inv of `evm384-v1`.
const FIELD_PUSHES_MAX: usize = 5;

/// Targets of jumps, from lowering.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    /// Jumps, by their items, to places that are found in memory or computed: those there are.
    pub chosen: HashMap<usize, Vec<LabelId>>,
    /// Words that lie above the place where this label was pushed when control arrives at it.
    pub above: HashMap<LabelId, usize>,
}

/// The highest point of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Highest {
    /// Its words.
    pub words: usize,
    /// The item that makes it so.
    pub item: usize,
}

/// The most words that the stack has in code of these items, whose offset 0 is `origin`; or as many as were seen when they came to more
/// than [`HEIGHT_MAX`]. Heights only grow from round to round, so the rounds end.
pub(crate) fn highest(items: &[Item], (revision, origin): (Revision, LabelId), arrivals: &Arrivals) -> Highest {
    let mut walk = Walk::new(revision, origin, arrivals);
    loop {
        let before = walk.heights.clone();
        walk.stack = Some(Vec::new());
        (0..items.len()).for_each(|at| walk.item(items, at));
        if walk.heights == before || walk.highest.words > HEIGHT_MAX {
            return walk.highest;
        }
    }
}

/// Words by which items without labels raise the stack at most.
pub(crate) fn rise(items: &[Item], revision: Revision) -> usize {
    let (arrivals, deep) = (Arrivals::default(), HEIGHT_MAX);
    let mut walk = Walk::new(revision, LabelId(u32::MAX), &arrivals);
    // Blocks may take words that lie there.
    walk.stack = Some(vec![None; deep]);
    (0..items.len()).for_each(|at| walk.item(items, at));
    walk.highest.words.saturating_sub(deep)
}

/// The state of a walk over items.
struct Walk<'a> {
    revision: Revision,
    /// Words that each opcode takes and puts.
    effects: Vec<[u8; 2]>,
    has_subroutines: bool,
    origin: LabelId,
    arrivals: &'a Arrivals,
    /// The greatest height of the stack at labels.
    heights: HashMap<LabelId, usize>,
    /// The stack before the next item, with the labels on it; none where control does not come by.
    stack: Option<Vec<Option<LabelId>>>,
    highest: Highest,
}

impl<'a> Walk<'a> {
    fn new(revision: Revision, origin: LabelId, arrivals: &'a Arrivals) -> Self {
        let effect = |opcode| revision.row(opcode).map_or([0; 2], |row| [row.pops, row.pushes]);
        Self {
            revision,
            effects: (0..=u8::MAX).map(effect).collect(),
            has_subroutines: revision.has_subroutines(),
            origin,
            arrivals,
            heights: HashMap::new(),
            stack: None,
            highest: Highest { words: 0, item: 0 },
        }
    }

    fn item(&mut self, items: &[Item], at: usize) {
        if let Item::Label(label) | Item::Mark(label) = &items[at] {
            return self.arrive(*label);
        }
        let Some(mut stack) = self.stack.take() else { return };
        let height = stack.len();
        // An address that something is computed of, and one that a condition lies below, are looked at there.
        let is_next = |opcodes: &[u8]| matches!(items.get(at + 1), Some(Item::Op(next)) if opcodes.contains(next));
        let is_target = !is_next(&[evm::ADD, evm::SUB, evm::MUL, evm::JUMPI]);
        match &items[at] {
            Item::Op(opcode) => {
                if let &opcode @ evm::DUP1..=evm::DUP16 = opcode {
                    let copied = height.checked_sub(usize::from(opcode - evm::DUP1) + 1).and_then(|place| stack[place]);
                    stack.push(copied);
                    self.target(copied.filter(|_| is_target), height);
                } else if let &opcode @ evm::SWAP1..=evm::SWAP16 = opcode {
                    if let Some(place) = height.checked_sub(usize::from(opcode - evm::SWAP1) + 2) {
                        stack.swap(place, height - 1);
                    }
                } else if !self.opcode((*opcode, at), &mut stack) {
                    return;
                }
            }
            Item::Push(_) | Item::PushBytes(_) => stack.push(None),
            Item::PushDistances { to, from } if from[..] != [self.origin] => {
                from.iter().chain([to]).for_each(|&label| self.target(Some(label), height));
                stack.push(None);
            }
            Item::PushLabel(label) | Item::PushDistances { to: label, .. } => {
                stack.push(Some(*label));
                match is_next(&[evm::JUMP]) {
                    true => self.target_at(*label, height),
                    false => self.target(Some(*label).filter(|_| is_target), height),
                }
            }
            Item::Field(instruction) => {
                self.note(height + FIELD_PUSHES_MAX, at);
                if let FieldInstruction::Formed(formed) = instruction {
                    let row = formed.form().row();
                    stack.truncate(height.saturating_sub(row.words.len()));
                    stack.resize(stack.len() + usize::from(row.pushes), None);
                }
            }
            // An instruction of the revision that is written with its immediate.
            Item::Data(bytes) => {
                if let Some(row) = self.revision.own_row_at(bytes) {
                    stack.truncate(height.saturating_sub(row.pops.into()));
                    stack.resize(stack.len() + usize::from(row.pushes), None);
                }
            }
            Item::Label(_) | Item::Mark(_) => {}
        }
        self.note(stack.len(), at);
        self.stack = Some(stack);
    }

    /// An opcode that is neither DUP nor SWAP; whether control goes on after it.
    fn opcode(&mut self, (opcode, at): (u8, usize), stack: &mut Vec<Option<LabelId>>) -> bool {
        let [pops, pushes] = self.effects[usize::from(opcode)];
        let top = stack.last().copied().flatten();
        stack.truncate(stack.len().saturating_sub(pops.into()));
        if let Some(label) = top.filter(|_| opcode == evm::JUMPI || self.has_subroutines && opcode == CALLSUB) {
            self.target_at(label, stack.len());
        }
        let arrivals = self.arrivals;
        for &label in arrivals.chosen.get(&at).into_iter().flatten() {
            self.target_at(label, stack.len());
        }
        stack.resize(stack.len() + usize::from(pushes), None);
        let ends = [evm::STOP, evm::JUMP, evm::RETURN, evm::REVERT, evm::INVALID].contains(&opcode);
        !(ends || self.has_subroutines && opcode == RETURNSUB)
    }

    /// Control may reach a label, if there is one, when the words above its place on the stack are gone.
    fn target(&mut self, label: Option<LabelId>, height: usize) {
        if let Some(label) = label {
            self.target_at(label, height + self.arrivals.above.get(&label).copied().unwrap_or(0));
        }
    }

    /// Control may go from a stack so high to a label.
    fn target_at(&mut self, label: LabelId, height: usize) {
        let before = self.heights.entry(label).or_insert(height);
        *before = height.max(*before);
    }

    /// Control goes on at a label, from the item before it, from jumps to it or from both.
    fn arrive(&mut self, label: LabelId) {
        let before = self.stack.take().map(|stack| stack.len());
        let Some(height) = before.max(self.heights.get(&label).copied()) else { return };
        self.heights.insert(label, height);
        self.stack = Some(vec![None; height]);
    }

    fn note(&mut self, words: usize, item: usize) {
        if words > self.highest.words {
            self.highest = Highest { words, item };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_isa::assembly::Assembly;

    const ORIGIN: LabelId = LabelId(0);

    #[track_caller]
    fn check(write: impl FnOnce(&mut Assembly, &mut Arrivals), words: usize) {
        let (mut code, mut arrivals) = (Assembly::new(), Arrivals::default());
        let origin = code.new_label();
        code.mark(origin);
        write(&mut code, &mut arrivals);
        assert_eq!(highest(code.items(), (Revision::Evm, ORIGIN), &arrivals).words, words);
    }

    /// Pushes `words` words, drops them and jumps.
    fn function(code: &mut Assembly, label: LabelId, words: usize) {
        code.label(label);
        (0..words).for_each(|word| _ = code.push(word));
        (0..words).for_each(|_| _ = code.op(evm::POP));
        code.op(evm::JUMP);
    }

    #[test]
    fn a_function_is_as_high_as_its_callers() {
        check(
            |code, _| {
                let [back, far, near] = [(); 3].map(|()| code.new_label());
                // Two words, a return address, and one function that returns into the other.
                code.push(1u8).push(2u8).push_label(back).push_label(far).push_label(near).op(evm::JUMP);
                code.label(back).op(evm::STOP);
                function(code, near, 3);
                function(code, far, 5);
            },
            2 + 1 + 5,
        );
    }

    #[test]
    fn a_copied_address_is_arrived_at_higher() {
        check(
            |code, _| {
                let [back, part] = [(); 2].map(|()| code.new_label());
                code.push_label(back).push_label(part).op(evm::DUP1).op(evm::DUP1 + 1).op(evm::JUMP);
                code.label(back).op(evm::STOP);
                function(code, part, 4);
            },
            3 + 4,
        );
    }

    #[test]
    fn places_in_memory_are_those_that_lowering_names() {
        let write = |code: &mut Assembly, arrivals: &mut Arrivals, is_named: bool| {
            let (part, back) = (code.new_label(), code.new_label());
            code.push(1u8).push_label(part).op(evm::MUL).push(0u8).op(evm::MSTORE).push_label(back);
            code.push(0u8).op(evm::MLOAD).op(evm::JUMP);
            if is_named {
                arrivals.chosen.insert(code.items().len() - 1, vec![part]);
            }
            code.label(back).op(evm::STOP);
            function(code, part, 7);
        };
        check(|code, arrivals| write(code, arrivals, true), 1 + 7);
        check(|code, arrivals| write(code, arrivals, false), 2);
    }

    #[test]
    fn loops_end_as_high_as_they_began_and_what_grows_is_too_high() {
        let turns = |code: &mut Assembly, grows: bool| {
            let top = code.new_label();
            code.push(9u8).label(top).push(1u8).op(evm::SWAP1).op(evm::SUB);
            if grows {
                code.op(evm::DUP1);
            }
            code.op(evm::DUP1).push_label(top).op(evm::JUMPI).op(evm::STOP);
        };
        check(|code, _| turns(code, false), 3);
        check(|code, _| turns(code, true), HEIGHT_MAX + 1);
    }
}
