//! Elements of calldata: those that stand one behind the other are read together.

use super::{Lowering, words};
use crate::allocate::Slot;
use crate::error::CompileError;
use residue_ir::WordOp;
use residue_ir::program::{Function, Program, Statement, Value, Word, WordDef};
use ruint::aliases::U256;

/// A statement that parses an element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    result: Value,
    offset: Word,
    size_bytes: u32,
}

impl Element {
    fn of(statement: &Statement) -> Option<Self> {
        match *statement {
            Statement::Parse { result, offset, size_bytes } => Some(Self { result, offset, size_bytes }),
            _ => None,
        }
    }

    /// Whether `next` stands behind this element and is as long.
    fn is_before(&self, function: &Function, next: &Self) -> bool {
        let (base, at) = base_and_constant(function, self.offset);
        let behind = (base, at.wrapping_add(U256::from(self.size_bytes)));
        next.size_bytes == self.size_bytes && base_and_constant(function, next.offset) == behind
    }
}

/// The elements, one behind the other in calldata, whose parsing `statements` begin with.
fn row<'a>(function: &Function, statements: impl IntoIterator<Item = &'a Statement>) -> Vec<Element> {
    let mut row: Vec<Element> = Vec::new();
    for element in statements.into_iter().map_while(Element::of) {
        if row.last().is_some_and(|before| !before.is_before(function, &element)) {
            break;
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
        function.body.for_each_statement(&mut |statement| statements.push(statement));
        for start in 0..statements.len() {
            let row = row(function, statements[start..].iter().copied());
            let bytes = row.iter().map(|element| element.size_bytes).fold(0, u32::saturating_add);
            if row.len() > 1 {
                longest_bytes = bytes.max(longest_bytes);
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
            _ => self.target.parse_row(self.code, &slots, size_bytes, self.fail),
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
