//! The operations of a block, with the readers and operands of each.

use super::places::{Ends, Form, Place};
use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use residue_ir::FieldOp;
use residue_passes::{Slot, SlotOp};
use std::collections::BTreeSet;

/// Operations on slots, with the operands and readers of each.
#[derive(Debug)]
pub struct Block<'a> {
    /// The operations.
    pub ops: &'a [SlotOp],
    /// For each operation and operand the operation whose result it is, if the block computes it.
    pub sources: Vec<[Option<usize>; 2]>,
    /// Number of reads of each result; a doubling or squaring reads it twice.
    pub reads: Vec<usize>,
    /// Number of products that read each result.
    pub factors: Vec<usize>,
    /// Last operation that writes each slot.
    pub writer: HashMap<Slot, usize>,
    kept: &'a BTreeSet<Slot>,
    first_constant: Slot,
    constants: &'a [BigUint],
    /// Stack at its start and end.
    pub ends: Option<&'a Ends>,
}

impl<'a> Block<'a> {
    /// The operations, after which the slots `kept` are read; slots from the first of the constants on are these.
    pub fn new(
        ops: &'a [SlotOp],
        kept: &'a BTreeSet<Slot>,
        (first_constant, constants): (Slot, &'a [BigUint]),
        ends: Option<&'a Ends>,
    ) -> Self {
        let mut writer: HashMap<Slot, usize> = HashMap::new();
        let mut sources: Vec<[Option<usize>; 2]> = Vec::new();
        let mut reads = vec![0usize; ops.len()];
        let mut factors = vec![0usize; ops.len()];
        for (number, op) in ops.iter().enumerate() {
            let source = [op.x, op.y].map(|slot| writer.get(&slot).copied());
            let distinct: BTreeSet<usize> = source.iter().flatten().copied().collect();
            distinct.iter().for_each(|&from| reads[from] += 1);
            if op.operation == FieldOp::Mul {
                distinct.iter().for_each(|&from| factors[from] += 1);
            }
            if let [Some(a), Some(b)] = source
                && a == b
            {
                reads[a] += 1; // A sum that is doubled or squared is made once.
            }
            sources.push(source);
            writer.insert(op.out, number);
        }
        Self { ops, sources, reads, factors, writer, kept, first_constant, constants, ends }
    }

    /// Position and form of a slot's value on the stack at the start of the block, if it is there.
    pub fn held(&self, slot: Slot) -> Option<(usize, Form)> {
        self.ends?.before(slot)
    }

    /// Form of an operation's result on the stack at the end of the block, if it is there.
    pub fn left(&self, number: usize) -> Option<Form> {
        let slot = self.ops[number].out;
        self.ends?.after(slot).filter(|_| self.writer[&slot] == number)
    }

    /// For each operation whether its result is held as its negative, if nothing is to be found.
    pub fn plain_signs(&self) -> Vec<bool> {
        (0..self.ops.len()).map(|number| self.left(number).is_some_and(|form| form.is_negative)).collect()
    }

    /// The number that a slot holds all the time.
    pub fn constant(&self, slot: Slot) -> Option<&BigUint> {
        slot.checked_sub(self.first_constant).map(|place| &self.constants[place as usize]) // u32 to usize widens
    }

    /// True if a slot holds the result of an operation after the block.
    pub fn stays(&self, number: usize) -> bool {
        let slot = self.ops[number].out;
        self.kept.contains(&slot) && self.writer[&slot] == number
    }
}

/// A block with slots numbered in order of first use: its operations, the slots that are read after it, and the stack
/// at its ends.
pub type Named = (Vec<SlotOp>, Vec<Slot>, Option<Ends>);

/// A block as it is known again, in whichever order words lie on the stack.
pub fn named(ops: &[SlotOp], kept: &BTreeSet<Slot>, first_constant: Slot, ends: Option<&Ends>) -> Named {
    let (ops, kept, mut ends) = named_in_order(ops, kept, first_constant, ends);
    if let Some(ends) = &mut ends {
        ends.entry.sort_unstable();
        ends.exit.sort_unstable();
    }
    (ops, kept, ends)
}

/// The same with the words in their order.
pub fn named_in_order(ops: &[SlotOp], kept: &BTreeSet<Slot>, first_constant: Slot, ends: Option<&Ends>) -> Named {
    let mut names: HashMap<Slot, Slot> = HashMap::new();
    let mut name = |slot: Slot| {
        let next = Slot::try_from(names.len()).expect("there are no more than slots");
        if slot < first_constant { *names.entry(slot).or_insert(next) } else { slot }
    };
    let ops = ops.iter().map(|op| SlotOp { operation: op.operation, x: name(op.x), y: name(op.y), out: name(op.out) });
    let ops = ops.collect();
    let mut kept: Vec<Slot> = kept.iter().map(|&slot| name(slot)).collect();
    kept.sort_unstable();
    let mut of_places = |places: &[Place]| {
        let named = |place: &Place| match place {
            &Place::Value(slot, form) => Place::Value(name(slot), form),
            place => place.clone(),
        };
        places.iter().map(named).collect()
    };
    let ends = ends.map(|ends| Ends { entry: of_places(&ends.entry), exit: of_places(&ends.exit) });
    (ops, kept, ends)
}

/// The block without the bounds of words on the stack: signs do not depend on them.
pub fn without_bounds((ops, kept, ends): Named) -> Named {
    let of_places = |places: Vec<Place>| {
        let unbound = |place| match place {
            Place::Value(slot, form) => Place::Value(slot, Form { multiples: 0, ..form }),
            place => place,
        };
        places.into_iter().map(unbound).collect()
    };
    (ops, kept, ends.map(|Ends { entry, exit }| Ends { entry: of_places(entry), exit: of_places(exit) }))
}

/// The operations in pieces of at most `most`, each with the written slots that are read after it; after all of them
/// these are the slots `kept`.
pub fn pieces<'a>(ops: &'a [SlotOp], kept: &BTreeSet<Slot>, most: usize) -> Vec<(&'a [SlotOp], BTreeSet<Slot>)> {
    let mut live = kept.clone();
    let mut pieces = Vec::new();
    for piece in ops.chunks(most).rev() {
        pieces.push((piece, piece.iter().map(|op| op.out).filter(|slot| live.contains(slot)).collect()));
        for op in piece.iter().rev() {
            live.remove(&op.out);
            live.extend([op.x, op.y]);
        }
    }
    pieces.reverse();
    pieces
}
