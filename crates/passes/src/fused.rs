//! Operations of a block that one instruction can do: their positions, and their gathering into a contiguous range.

use crate::sums::readings;
use foldhash::HashMap;
use residue_ir::program::{Block, Program, Rewritten, Statement, Value};
use std::collections::BTreeSet;
use std::ops::Range;

/// Several operations of a block that one instruction can do.
pub trait Fused {
    /// Positions of its operations in the block.
    fn members(&self) -> &BTreeSet<usize>;

    /// The operation that defines the first of its results, where [`gather`] brings all of them.
    fn first_root(&self) -> usize;

    /// True if the operation at `place` is one of its own.
    fn has(&self, place: usize) -> bool {
        self.members().contains(&place)
    }

    /// Range of its operations, once they are contiguous.
    fn range(&self) -> Option<Range<usize>> {
        let range = *self.members().first()?..*self.members().last()? + 1;
        (range.len() == self.members().len()).then_some(range)
    }
}

/// Moves the operations of each match of `find` in a block to the definition of the first of its results. Matches stay
/// the same.
pub(crate) fn gather<F: Fused>(program: &mut Program, find: impl Fn(&Block, &HashMap<Value, usize>) -> Vec<F>) {
    for function in &mut program.functions {
        let readings = readings(function);
        function.body.rewrite(&mut |statement| {
            if let Statement::Block(block) = statement {
                let found = find(block, &readings);
                gather_block(block, &found);
            }
            Rewritten::Kept
        });
    }
}

fn gather_block(block: &mut Block, found: &[impl Fused]) {
    let roots: HashMap<usize, &BTreeSet<usize>> =
        found.iter().map(|fused| (fused.first_root(), fused.members())).collect();
    let moved: BTreeSet<usize> = found.iter().flat_map(|fused| fused.members().iter().copied()).collect();
    let places = (0..block.ops.len()).flat_map(|place| match roots.get(&place) {
        Some(members) => members.iter().copied().collect(),
        None if moved.contains(&place) => Vec::new(),
        None => vec![place],
    });
    block.ops = places.map(|place| block.ops[place]).collect();
}
