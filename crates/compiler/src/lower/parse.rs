//! Elements of calldata.

use super::Lowering;
use crate::error::CompileError;
use crate::target::RowSizes;
use residue_passes::Slot;
use residue_passes::rows::Parses;

impl Lowering<'_> {
    /// Parses elements that stand one after the other; only the first one's offset is computed.
    pub(super) fn parse(&mut self, row: &Parses) -> Result<(), CompileError> {
        let &Parses { offset, size_bytes, stride_bytes, .. } = row;
        self.word(offset)?;
        let slots: Vec<Slot> = row.results.iter().map(|&result| self.placement.slot(result)).collect();
        match slots[..] {
            [slot] => self.target.parse(self.code, slot, size_bytes, self.fail),
            _ => {
                let sizes = RowSizes { element_bytes: size_bytes, stride_bytes };
                self.target.parse_row(self.code, &slots, sizes, self.fail);
            }
        }
        self.stack.pop();
        Ok(())
    }
}
