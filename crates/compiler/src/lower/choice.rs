//! If-conversion without jumps, for interfaces that select between values.

use super::Lowering;
use crate::CompileError;
use residue_ir::program::{Operand, Value, Word};
use residue_isa::opcode::evm;
use residue_passes::Slot;
use residue_passes::choices::RESULTS_MAX;

impl Lowering<'_> {
    /// Makes each result one of two values, the first if the condition is not 0, if that is cheaper than to jump; else does nothing, and says so.
    pub(super) fn choose(
        &mut self,
        condition: Word,
        results: &[Value],
        gives: [&[Operand]; 2],
    ) -> Result<bool, CompileError> {
        if !self.target.has_choices() {
            return Ok(false);
        }
        let choices = results.iter().zip(gives[0].iter().zip(gives[1]));
        let choices = choices.map(|(&out, (&x, &y))| (self.placement.slot(out), [self.slot(x), self.slot(y)]));
        let choices = choices.filter(|&(out, either)| either != [out; 2]).collect();
        let Some(ordered) = ordered(choices).filter(|ordered| ordered.len() <= RESULTS_MAX) else { return Ok(false) };
        let negated = self.negated(condition);
        if let Some((last, others)) = ordered.split_last() {
            self.word(negated.unwrap_or(condition))?;
            let either = |[x, y]: [Slot; 2]| if negated.is_some() { [y, x] } else { [x, y] };
            for &(out, values) in others {
                self.code.op(evm::DUP1);
                self.target.select(self.code, out, either(values));
            }
            self.target.select(self.code, last.0, either(last.1));
            self.stack.pop();
        }
        Ok(true)
    }
}

/// The choices in an order in which none is read from a slot that another has written; none if there is no such order.
fn ordered(mut left: Vec<(Slot, [Slot; 2])>) -> Option<Vec<(Slot, [Slot; 2])>> {
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let is_read_later = |number: usize| {
            left.iter().enumerate().any(|(other, (_, either))| other != number && either.contains(&left[number].0))
        };
        let next = (0..left.len()).find(|&number| !is_read_later(number))?;
        ordered.push(left.remove(next));
    }
    Some(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_later() {
        assert_eq!(ordered(vec![(1, [2, 3]), (2, [2, 4])]), Some(vec![(1, [2, 3]), (2, [2, 4])]));
        assert_eq!(ordered(vec![(2, [2, 4]), (1, [2, 3])]), Some(vec![(1, [2, 3]), (2, [2, 4])]));
        assert_eq!(ordered(vec![(1, [2, 3]), (2, [1, 4])]), None);
        assert_eq!(ordered(Vec::new()), Some(Vec::new()));
    }
}
