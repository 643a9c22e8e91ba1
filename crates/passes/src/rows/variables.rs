//! Variables with indices that are shifted right by whole bytes: those that are neighbours go as one.

use residue_ir::program::{Statement, VariableId, WordDef};
use residue_ir::{Effect, WordOp};

/// Variables that are shifted right by the same number of bytes. Bytes that come in from above are arbitrary: nothing
/// reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// The first variable.
    pub first: VariableId,
    /// Number of variables, declared one after the other; at least one.
    pub count: u32,
    /// Bytes, fewer than 32.
    pub bytes: u32,
}

impl Shift {
    /// The shift that `statements` begin with, of one variable, for which `holds_indices` says whether it holds any: two
    /// statements, which get the variable and set it.
    pub fn of(statements: &[Statement], words: &[WordDef], holds_indices: impl Fn(VariableId) -> bool) -> Option<Self> {
        let [
            Statement::Effect(Effect::Get { result, variable }),
            Statement::Effect(Effect::Set { variable: target, word }),
            ..,
        ] = statements
        else {
            return None;
        };
        let WordDef::Op(WordOp::Shr, of, by) = words[word.0 as usize] else { return None };
        let WordDef::Constant(bits) = words[by.0 as usize] else { return None };
        let bits = u32::try_from(bits).ok().filter(|bits| bits.is_multiple_of(8) && *bits < 256)?;
        let is_shift = variable == target && of == *result && holds_indices(*variable);
        is_shift.then_some(Self { first: *variable, count: 1, bytes: bits / 8 })
    }

    /// True if `next` shifts the variable after these by the same distance.
    pub fn is_continued_by(&self, next: &Self) -> bool {
        let end = u32::try_from(self.first.0).ok().and_then(|first| first.checked_add(self.count));
        end.is_some_and(|end| end as usize == next.first.0) && self.bytes == next.bytes // u32 to usize widens
    }
}
