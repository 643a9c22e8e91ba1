//! Bodies of one length: code chooses one by a product with it.

use num_bigint::BigUint;
use residue_isa::Revision;
use residue_isa::assembly::{AssembleError, Assembly, Item};
use std::ops::Range;

/// Bodies of one length that are chosen by a product with it. Their pushes of labels are of two bytes, so that their lengths are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filled {
    /// Items of each, without the padding that follows them.
    pub bodies: Vec<Range<usize>>,
    /// Items that push the length.
    pub lengths: Vec<usize>,
    /// Byte of the padding.
    pub filling: u8,
    /// True if the length is a power of two that a shift stands for.
    pub is_fixed: bool,
}

impl Filled {
    /// Makes all bodies as long as the longest, and sets the length where it is pushed.
    pub fn fill(&self, code: &mut Assembly, revision: Revision) -> Result<(), AssembleError> {
        let lengths: Vec<usize> =
            self.bodies.iter().map(|body| code.fixed_bytes(body.clone(), revision)).collect::<Result<_, _>>()?;
        let longest = lengths.iter().copied().max().unwrap_or(0);
        for (body, length) in self.bodies.iter().zip(lengths) {
            code.replace(body.end, Item::Data(vec![self.filling; longest - length]));
        }
        self.lengths.iter().for_each(|&item| code.replace(item, Item::Push(BigUint::from(longest))));
        Ok(())
    }

    /// The same bodies at new places of items, all of which are still there.
    pub fn moved(&self, moved: &[Option<usize>]) -> Self {
        let place = |item: usize| moved[item].expect("it stays where it is");
        Self {
            bodies: self.bodies.iter().map(|body| place(body.start)..place(body.end)).collect(),
            lengths: self.lengths.iter().map(|&item| place(item)).collect(),
            ..*self
        }
    }
}
