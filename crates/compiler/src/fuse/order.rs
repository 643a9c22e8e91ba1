//! Dependences: the order that operations on slots must keep.

use super::SLOTS;
use residue_passes::SlotOp;

/// Dependence graph of operations, independent of the operations issued so far.
#[derive(Debug)]
pub struct Order<'a> {
    /// The operations.
    pub ops: &'a [SlotOp],
    /// For each operation, how many earlier ones must be issued first.
    pub blockers: Vec<usize>,
    /// For each operation, how many others wait for it one after the other.
    pub heights: Vec<usize>,
    /// Waiting operations, by the operation that they wait for.
    waiters: Vec<usize>,
    /// For each operation, where the ones that wait for it begin; and where the last ones end.
    starts: Vec<usize>,
}

impl<'a> Order<'a> {
    /// An operation waits for the last writer of the slots it reads and writes, and for readers of the slot it writes.
    pub fn new(ops: &'a [SlotOp]) -> Self {
        let pairs = waiting(ops);
        let mut blockers = vec![0; ops.len()];
        let mut starts = vec![0; ops.len() + 1];
        for &(earlier, later) in &pairs {
            blockers[later] += 1;
            starts[earlier + 1] += 1;
        }
        for number in 0..ops.len() {
            starts[number + 1] += starts[number];
        }
        let (mut waiters, mut ends) = (vec![0; pairs.len()], starts.clone());
        let mut heights = vec![0; ops.len()];
        // From the last one, so that the height of what waits is known.
        for &(earlier, later) in pairs.iter().rev() {
            heights[earlier] = heights[earlier].max(heights[later] + 1);
            waiters[ends[earlier]] = later;
            ends[earlier] += 1;
        }
        Self { ops, blockers, heights, waiters, starts }
    }

    /// Those that wait for an operation.
    pub fn waiters(&self, number: usize) -> &[usize] {
        &self.waiters[self.starts[number]..self.starts[number + 1]]
    }
}

/// Every pair of an operation and one that waits for it, once, in the order of the latter.
fn waiting(ops: &[SlotOp]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::with_capacity(4 * ops.len());
    let mut writer: [Option<usize>; SLOTS] = [None; SLOTS];
    // The last reader of each slot since it was written, as its number twice, and one more for a second operand; before each
    // reader the one before it.
    let mut reader: [Option<usize>; SLOTS] = [None; SLOTS];
    let mut reader_before: Vec<Option<usize>> = vec![None; 2 * ops.len()];
    for (number, op) in ops.iter().enumerate() {
        let [x, y, out] = [op.x, op.y, op.out].map(|slot| slot as usize); // u32 to usize widens
        let first = pairs.len();
        let mut add = |earlier: usize| {
            if pairs[first..].iter().all(|&(other, _)| other != earlier) {
                pairs.push((earlier, number));
            }
        };
        [x, y, out].into_iter().filter_map(|slot| writer[slot]).for_each(&mut add);
        let mut next = reader[out].take();
        while let Some(place) = next {
            add(place / 2);
            next = reader_before[place];
        }
        writer[out] = Some(number);
        for (place, slot) in [(2 * number, x), (2 * number + 1, y)] {
            reader_before[place] = reader[slot].replace(place);
        }
    }
    pairs
}
