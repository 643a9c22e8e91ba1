//! Entries of parts, and the equal lengths of parts that words choose.

use super::{Entry, Part};
use crate::error::CompileError;
use crate::lower::{DUP_DEPTH_MAX, Filled, Lowering};
use crate::target::push;
use residue_isa::assembly::Item;
use residue_isa::opcode::evm;
use residue_passes::Row;
use std::ops::Range;

impl<'a> Lowering<'a> {
    /// Makes bodies of chosen parts, each with a final item for padding, equally long in each group by bytes of
    /// `filling`, and sets their length at the items that need it. Their pushes of labels are of two bytes, so that
    /// their lengths are known.
    pub(in crate::lower) fn fill_up(
        &mut self,
        groups: impl IntoIterator<Item = Range<usize>>,
        bodies: &[Range<usize>],
        distances: &[(usize, usize)],
        filling: u8,
    ) -> Result<(), CompileError> {
        for index in bodies.iter().cloned().flatten() {
            if let Item::PushLabel(to) = self.code.items()[index] {
                self.code.replace(index, Item::PushDistances { to, from: vec![self.origin] });
            }
        }
        for group in groups {
            let own = distances.iter().filter(|(first, _)| *first == group.start);
            let lengths = own.map(|&(_, index)| index).collect();
            let filled = Filled { bodies: bodies[group].to_vec(), lengths, filling, is_fixed: false };
            filled.fill(self.code, self.revision)?;
            self.entrances.filled.push(filled);
        }
        Ok(())
    }

    /// Finds out where a part is entered, and puts the place that a count says into memory; a part that is chosen is entered at
    /// its beginning.
    pub(super) fn part_entry(&mut self, (part, rows): Part<'a>, is_chosen: bool) -> Result<Entry<'a>, CompileError> {
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
    pub(super) fn push_entry(&mut self, entry: &Entry<'_>, above: Option<usize>) {
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
