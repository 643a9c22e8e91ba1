//! Elements of calldata: those that stand one behind the other, at equal distances, are read together.

use super::{Lowering, words};
use crate::error::CompileError;
use crate::target::RowSizes;
use residue_ir::program::{Function, Program, Statement, Value, Word, WordDef};
use residue_ir::{Effect, WordOp};
use residue_passes::Slot;
use ruint::aliases::U256;

/// A statement that parses an element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub result: Value,
    pub offset: Word,
    pub size_bytes: u32,
}

impl Element {
    fn of(statement: &Statement) -> Option<Self> {
        match *statement {
            Statement::Effect(Effect::Parse { result, offset, size_bytes }) => {
                Some(Self { result, offset, size_bytes })
            }
            _ => None,
        }
    }

    /// How far behind the start of this element `next` starts, if it is as long and stands behind with a gap of a word at most.
    fn distance_bytes(&self, function: &Function, next: &Self) -> Option<u32> {
        let (base, at) = base_and_constant(function, self.offset);
        let (next_base, next_at) = base_and_constant(function, next.offset);
        let distance = u32::try_from(next_at.wrapping_sub(at)).ok()?;
        let gap = distance.checked_sub(self.size_bytes)?;
        (next.size_bytes == self.size_bytes && next_base == base && gap <= GAP_BYTES_MAX).then_some(distance)
    }
}

/// Bytes between elements that are read together.
const GAP_BYTES_MAX: u32 = 32;

/// How far it is from the start of one element of a row to that of the next; of a single one, its size.
fn stride_bytes(function: &Function, row: &[Element]) -> u32 {
    let [first, others @ ..] = row else { return 0 };
    others.first().and_then(|second| first.distance_bytes(function, second)).unwrap_or(first.size_bytes)
}

/// The elements, one behind the other in calldata, whose parsing `statements` begin with.
fn row<'a>(function: &Function, statements: impl IntoIterator<Item = &'a Statement>) -> Vec<Element> {
    let mut row: Vec<Element> = Vec::new();
    for element in statements.into_iter().map_while(Element::of) {
        if let Some(before) = row.last() {
            let distance = before.distance_bytes(function, &element);
            if distance.is_none() || row.len() > 1 && distance != Some(stride_bytes(function, &row)) {
                break;
            }
        }
        row.push(element);
    }
    row
}

/// At least the bytes of the longest row of two or more elements that are read together.
pub(crate) fn longest_row_bytes(program: &Program) -> u32 {
    let mut longest_bytes = 0;
    for function in &program.functions {
        let mut statements = Vec::new();
        function.body.walk(&mut |statement| statements.push(statement));
        for start in 0..statements.len() {
            let row = row(function, statements[start..].iter().copied());
            if let [first, others @ ..] = &row[..]
                && !others.is_empty()
            {
                let behind =
                    stride_bytes(function, &row).saturating_mul(u32::try_from(others.len()).unwrap_or(u32::MAX));
                longest_bytes = longest_bytes.max(behind.saturating_add(first.size_bytes));
            }
        }
    }
    longest_bytes
}

impl Lowering<'_> {
    /// The elements, one behind the other in calldata, whose parsing `statements` begin with.
    pub(super) fn row_of_elements(&self, statements: &[Statement]) -> Vec<Element> {
        row(self.function, statements)
    }

    /// Parses a row of elements.
    pub(super) fn parse(&mut self, row: &[Element]) -> Result<(), CompileError> {
        let Some(&Element { offset, size_bytes, .. }) = row.first() else { return Ok(()) };
        // Only the first one's offset is computed: the others read their base no more.
        for element in &row[1..] {
            if let (Some(base), _) = base_and_constant(self.function, element.offset) {
                words::discount_word(self.function, &mut self.uses, base);
            }
        }
        self.word(offset)?;
        let slots: Vec<Slot> = row.iter().map(|element| self.placement.slot(element.result)).collect();
        match slots[..] {
            [slot] => self.target.parse(self.code, slot, size_bytes, self.fail),
            _ => {
                let sizes = RowSizes { element_bytes: size_bytes, stride_bytes: stride_bytes(self.function, row) };
                self.target.parse_row(self.code, &slots, sizes, self.fail);
            }
        }
        self.stack.pop();
        Ok(())
    }
}

/// b and c where the word is b + c for a constant c, which may be 0; b is none if the word is a constant.
fn base_and_constant(function: &Function, word: Word) -> (Option<Word>, U256) {
    let constant = |word: Word| match function.words[word.0 as usize] {
        WordDef::Constant(value) => Some(value),
        _ => None,
    };
    match function.words[word.0 as usize] {
        WordDef::Constant(value) => (None, value),
        WordDef::Op(WordOp::Add, base, behind) if let Some(value) = constant(behind) => (Some(base), value),
        _ => (Some(word), U256::ZERO),
    }
}
