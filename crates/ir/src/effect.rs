//! Effects: statements that are neither arithmetic nor control. Each is a row of one table, from which its reads,
//! definitions, printer and parser follow ([`crate::text`]).
//!
//! A row has the statement's name in the text form, its arguments in the order of the text, each with the word before
//! it if there is one, and its definitions. [`crate::evaluate()`] has the meaning of effects, [`crate::verify()`] the
//! checks of their arguments beyond being in scope.

use crate::account::Account;
use crate::hash::Piece;
use crate::lanes::Lanes;
use crate::machine::Cells;
use crate::names::{ArrayId, Operand, SubprogramId, TableId, Value, VariableId, Word};
use std::slice;

/// Hands the table of effects to the macro `$then`.
macro_rules! with_effects {
    ($then:ident) => {
        $then! {
            /// [`crate::Machine::reserve`].
            Reserve = "reserve" { array: ArrayId, count: Word } -> {}
            /// [`crate::Machine::load`].
            Load = "load" { array: ArrayId, index: Word } -> { results: Vec<Value> }
            /// [`crate::Machine::store`].
            Store = "store" { array: ArrayId, index: Word, values: Vec<Operand> } -> {}
            /// [`crate::Machine::fill`].
            Fill = "fill" { array: ArrayId, "count" count: u32, values: Vec<Operand> } -> {}
            /// [`crate::Machine::set_indices`].
            SetIndices = "set_indices" { variable: VariableId, array: ArrayId, cells: Cells, indices: Word } -> {}
            /// [`crate::Machine::index`].
            Index = "index" { variable: VariableId, array: ArrayId, cells: Cells, "from" first_bit: u32 } -> { result: Word }
            /// [`crate::Machine::lookup`].
            Lookup = "lookup" { table: TableId, index: Word } -> { results: Vec<Value> }
            /// [`crate::Machine::take_row`].
            TakeRow = "take_row" { table: TableId } -> { results: Vec<Value> }
            /// [`crate::Machine::take_element`].
            TakeElement = "take_element" { array: ArrayId } -> { results: Vec<Value> }
            /// [`crate::Machine::fill_from`].
            FillFrom = "fill_from" { array: ArrayId, table: TableId } -> {}
            /// [`crate::Machine::over`] and [`crate::Machine::over_given`].
            Enter = "enter" { subprogram: SubprogramId, modulus: Vec<Word> } -> {}
            /// [`crate::Machine::element_of`].
            ElementOf = "element_of" { words: Vec<Word> } -> { result: Value }
            /// [`crate::Machine::word_of`].
            WordOf = "word_of" { value: Operand, "from" first_bit: u32 } -> { result: Word }
            /// [`crate::Machine::high`].
            High = "high" { value: Operand, "from" first_bit: u32 } -> { result: Value }
            /// [`crate::Machine::parse`].
            Parse = "parse" { offset: Word, "bytes" size_bytes: u32 } -> { result: Value }
            /// [`crate::Machine::parse_mont_le`].
            ParseMontLe = "parse_mont_le" { offset: Word } -> { result: Value }
            /// [`crate::Machine::reduce`].
            Reduce = "reduce" { word: Word } -> { result: Value }
            /// [`crate::Machine::invert`].
            Invert = "invert" { value: Operand } -> { result: Value }
            /// [`crate::Machine::is_zero`].
            IsZero = "is_zero" { value: Operand } -> { result: Word }
            /// [`crate::Machine::is_odd`].
            IsOdd = "is_odd" { value: Operand } -> { result: Word }
            /// [`crate::Machine::equal`].
            Equal = "equal" { a: Operand, b: Operand } -> { result: Word }
            /// [`crate::Machine::less`].
            Less = "less" { a: Operand, b: Operand } -> { result: Word }
            /// [`crate::Machine::bind`].
            Bind = "bind" { word: Word } -> { result: Word }
            /// [`crate::Machine::get`].
            Get = "get" { variable: VariableId } -> { result: Word }
            /// [`crate::Machine::get_across`].
            GetAcross = "get_across" { variable: VariableId, "from" first_byte: u32 } -> { result: Word }
            /// [`crate::Machine::set`].
            Set = "set" { variable: VariableId, word: Word } -> {}
            /// [`crate::Machine::sha256`].
            Sha256 = "sha256" { pieces: Vec<Piece<Word>> } -> { result: Word }
            /// [`crate::Machine::keccak256`].
            Keccak256 = "keccak256" { pieces: Vec<Piece<Word>> } -> { result: Word }
            /// [`crate::Machine::scratch`].
            Scratch = "scratch" { "bytes" size_bytes: u32 } -> {}
            /// [`crate::Machine::set_scratch`].
            SetScratch = "set_scratch" { offset: Word, word: Word } -> {}
            /// [`crate::Machine::set_scratch_byte`].
            SetScratchByte = "set_scratch_byte" { offset: Word, word: Word } -> {}
            /// [`crate::Machine::keccak256_scratch`].
            Keccak256Scratch = "keccak256_scratch" { offset: Word, "bytes" size_bytes: Word } -> { result: Word }
            /// [`crate::Machine::sha256_scratch`].
            Sha256Scratch = "sha256_scratch" { offset: Word, "bytes" size_bytes: Word, "to" to: Word } -> {}
            /// [`crate::Machine::keccak_f`].
            KeccakF = "keccak_f" { "at" offset: u32 } -> {}
            /// [`crate::Machine::copy_calldata`].
            CopyCalldata = "copy_calldata" { offset: Word, "from" from: Word, "bytes" size_bytes: Word } -> {}
            /// [`crate::Machine::copy_scratch`].
            CopyScratch = "copy_scratch" { offset: u32, "from" from: u32, "bytes" size_bytes: u32 } -> {}
            /// [`crate::Machine::take_scratch`].
            TakeScratch = "take_scratch" { "from" offset: u32, "bytes" size_bytes: u32 } -> { results: Vec<Value> }
            /// [`crate::Machine::put_scratch`].
            PutScratch = "put_scratch" { "at" offset: u32, "bytes" size_bytes: u32, values: Vec<Operand> } -> {}
            /// [`crate::Machine::lanes`].
            Lanes = "lanes" { lanes: Lanes } -> {}
            /// [`crate::Machine::line_up`].
            LineUp = "line_up" { values: Vec<Operand> } -> {}
            /// [`crate::Machine::require`].
            Require = "require" { condition: Word } -> {}
            /// [`crate::Machine::return_word`].
            ReturnWord = "return_word" { word: Word } -> {}
            /// [`crate::Machine::return_words`].
            ReturnWords = "return_words" { words: Vec<Word>, "bytes" size_bytes: Word } -> {}
            /// [`crate::Machine::precompile`].
            Precompile = "precompile" { "at" address: u32, "from" offset: Word, "bytes" size_bytes: Word, "to" to: Word, "most" output_bytes: u32 } -> { result: Word }
            /// [`crate::Machine::return_precompile`].
            ReturnPrecompile = "return_precompile" { "at" address: u32 } -> {}
            /// The end of a stage's place in linked form: [`crate::Machine::stage`].
            ReturnAccount = "return_account" { "at" address: Account } -> {}
            /// [`crate::Machine::return_scratch`].
            ReturnScratch = "return_scratch" { offset: Word, "bytes" size_bytes: Word } -> {}
            /// [`crate::Machine::return_elements`].
            ReturnElements = "return_elements" { values: Vec<Operand>, "bytes" size_bytes: u32 } -> {}
            /// [`crate::Machine::return_last`].
            ReturnLast = "return_last" { values: Vec<Operand>, "each" element_bytes: u32, "bytes" size_bytes: Word, "of" limit_bytes: u32 } -> {}
            /// [`crate::Machine::return_mont_le`].
            ReturnMontLe = "return_mont_le" { values: Vec<Operand> } -> {}
        }
    };
}
pub(crate) use with_effects;

macro_rules! define {
    ($(
        $(#[$doc:meta])*
        $effect:ident = $name:literal { $($($keyword:literal)? $field:ident : $type:ty),* }
            -> { $($result:ident : $defined:ty)? }
    )*) => {
        /// A statement that reads or writes state outside of values, or ends the program. The methods of
        /// [`crate::Machine`] have the semantics of each.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the fields are the arguments of the methods of `Machine`")]
        pub enum Effect {
            $($(#[$doc])* $effect { $($field: $type,)* $($result: $defined,)? },)*
        }

        /// The names of all effects in the text form.
        pub const NAMES: &[&str] = &[$($name),*];

        impl Effect {
            /// Its name in the text form.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$effect { .. } => $name,)*
                }
            }

            fn arguments(&self) -> Vec<&dyn Argument> {
                match self {
                    $(Self::$effect { $($field,)* .. } => vec![$($field),*],)*
                }
            }

            fn arguments_mut(&mut self) -> Vec<&mut dyn Argument> {
                match self {
                    $(Self::$effect { $($field,)* .. } => vec![$($field),*],)*
                }
            }

            fn definition(&self) -> Option<&dyn Definition> {
                match self {
                    $(Self::$effect { $($result,)? .. } => None $(.or(Some($result as &dyn Definition)))?,)*
                }
            }
        }
    };
}

with_effects!(define);

impl Effect {
    /// The field values and constants that it reads, in order.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        self.arguments().into_iter().flat_map(|argument| argument.operands().iter().copied())
    }

    /// The same, to be changed.
    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut Operand> {
        self.arguments_mut().into_iter().flat_map(|argument| argument.operands_mut().iter_mut())
    }

    /// The words that it reads, in order.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        self.arguments().into_iter().flat_map(|argument| argument.words())
    }

    /// The arrays that it names.
    pub fn arrays(&self) -> impl Iterator<Item = ArrayId> {
        self.arguments().into_iter().filter_map(|argument| argument.array())
    }

    /// The variables that it reads or sets: of a word across two of them both.
    pub fn variables(&self) -> impl Iterator<Item = VariableId> {
        let across = match self {
            Self::GetAcross { variable, .. } => Some(VariableId(variable.0 + 1)),
            _ => None,
        };
        self.arguments().into_iter().filter_map(|argument| argument.variable()).chain(across)
    }

    /// The tables, arrays and variables that it names, to be changed: their kind, and their number.
    pub fn all_declared_mut(&mut self) -> impl Iterator<Item = (Declared, &mut usize)> {
        self.arguments_mut().into_iter().filter_map(|argument| argument.declared_mut())
    }

    /// The pieces that it hashes, if it hashes any.
    pub fn pieces(&self) -> Option<&[Piece<Word>]> {
        self.arguments().into_iter().find_map(|argument| argument.pieces())
    }

    /// The values that it defines, as one: they come to be together.
    pub fn values_defined(&self) -> &[Value] {
        self.definition().map_or(&[], Definition::values)
    }

    /// The word that it defines.
    pub fn word_defined(&self) -> Option<Word> {
        self.definition().and_then(Definition::word)
    }

    /// True if the effect ends the program.
    pub const fn ends(&self) -> bool {
        matches!(
            self,
            Self::ReturnWord { .. }
                | Self::ReturnWords { .. }
                | Self::ReturnScratch { .. }
                | Self::ReturnPrecompile { .. }
                | Self::ReturnAccount { .. }
                | Self::ReturnElements { .. }
                | Self::ReturnLast { .. }
                | Self::ReturnMontLe { .. }
        )
    }
}

/// A kind of what a program declares and effects name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declared {
    /// [`crate::Program::tables`].
    Table,
    /// [`crate::Program::arrays`].
    Array,
    /// [`crate::Program::variables`].
    Variable,
}

/// Argument of an effect: a column of the table.
trait Argument {
    fn declared_mut(&mut self) -> Option<(Declared, &mut usize)> {
        None
    }

    fn operands(&self) -> &[Operand] {
        &[]
    }

    fn operands_mut(&mut self) -> &mut [Operand] {
        &mut []
    }

    fn words(&self) -> Vec<Word> {
        Vec::new()
    }

    fn array(&self) -> Option<ArrayId> {
        None
    }

    fn variable(&self) -> Option<VariableId> {
        None
    }

    fn pieces(&self) -> Option<&[Piece<Word>]> {
        None
    }
}

/// Definition made by an effect.
trait Definition {
    fn values(&self) -> &[Value] {
        &[]
    }

    fn word(&self) -> Option<Word> {
        None
    }
}

impl Argument for Operand {
    fn operands(&self) -> &[Operand] {
        slice::from_ref(self)
    }

    fn operands_mut(&mut self) -> &mut [Operand] {
        slice::from_mut(self)
    }
}

impl Argument for Vec<Operand> {
    fn operands(&self) -> &[Operand] {
        self
    }

    fn operands_mut(&mut self) -> &mut [Operand] {
        self
    }
}

impl Argument for Word {
    fn words(&self) -> Vec<Word> {
        vec![*self]
    }
}

impl Argument for Vec<Word> {
    fn words(&self) -> Vec<Word> {
        self.clone()
    }
}

impl Argument for Vec<Piece<Word>> {
    fn words(&self) -> Vec<Word> {
        self.iter().flat_map(|piece| piece.words()).collect()
    }

    fn pieces(&self) -> Option<&[Piece<Word>]> {
        Some(self)
    }
}

impl Argument for ArrayId {
    fn declared_mut(&mut self) -> Option<(Declared, &mut usize)> {
        Some((Declared::Array, &mut self.0))
    }

    fn array(&self) -> Option<ArrayId> {
        Some(*self)
    }
}

impl Argument for VariableId {
    fn declared_mut(&mut self) -> Option<(Declared, &mut usize)> {
        Some((Declared::Variable, &mut self.0))
    }

    fn variable(&self) -> Option<VariableId> {
        Some(*self)
    }
}

impl Argument for TableId {
    fn declared_mut(&mut self) -> Option<(Declared, &mut usize)> {
        Some((Declared::Table, &mut self.0))
    }
}

impl Argument for SubprogramId {}

impl Argument for Cells {}

impl Argument for u32 {}

impl Argument for Account {}

impl Argument for Lanes {}

impl Definition for Value {
    fn values(&self) -> &[Value] {
        slice::from_ref(self)
    }
}

impl Definition for Vec<Value> {
    fn values(&self) -> &[Value] {
        self
    }
}

impl Definition for Word {
    fn word(&self) -> Option<Word> {
        Some(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_an_effect_reads_and_defines() {
        let (a, b) = (Operand::Value(Value(3)), Operand::Value(Value(4)));
        let store = Effect::Store { array: ArrayId(1), index: Word(2), values: vec![a, b] };
        assert_eq!(store.name(), "store");
        assert_eq!(store.operands().collect::<Vec<_>>(), [a, b]);
        assert_eq!(store.words().collect::<Vec<_>>(), [Word(2)]);
        assert_eq!(store.arrays().collect::<Vec<_>>(), [ArrayId(1)]);
        assert_eq!((store.values_defined(), store.word_defined(), store.ends()), (&[][..], None, false));

        let load = Effect::Load { array: ArrayId(0), index: Word(1), results: vec![Value(7), Value(8)] };
        assert_eq!(load.values_defined(), [Value(7), Value(8)]);
        let index = Effect::Index {
            variable: VariableId(5),
            array: ArrayId(0),
            cells: Cells { bits: 16, index_bits: 4 },
            first_bit: 32,
            result: Word(9),
        };
        let across = Effect::GetAcross { variable: VariableId(3), first_byte: 4, result: Word(1) };
        assert_eq!(across.variables().collect::<Vec<_>>(), [VariableId(3), VariableId(4)]);
        assert_eq!((index.word_defined(), index.variables().next()), (Some(Word(9)), Some(VariableId(5))));
        assert_eq!((index.words().count(), index.operands().count()), (0, 0));
        let mut equal = Effect::Equal { a, b, result: Word(0) };
        equal.operands_mut().for_each(|operand| *operand = a);
        assert_eq!(equal, Effect::Equal { a, b: a, result: Word(0) });
        assert!(Effect::ReturnWord { word: Word(0) }.ends());
    }
}
