//! Routines that every module brings: 256-bit words, bytes of calldata and output, and questions about field values.
//! A table; their numbers in the module follow from it.

mod field_values;
mod words;

use wasm_encoder::ValType;

use super::Text;
use super::routine::Routine;

/// Parameters and results of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signature {
    /// A field operation.
    Operation,
    /// A function of the program.
    Function,
    /// The exported function.
    Main,
    /// Two words to one.
    Words,
    /// Two words to a limb.
    Compare,
    /// A word to a limb.
    Narrow,
    /// A product with two summands.
    MulAdd,
    /// A position and a count to a limb.
    Read,
    /// A limb to a limb.
    Limb,
    /// An address to a limb.
    Ask,
    /// Two addresses to a limb.
    AskTwo,
    /// Two addresses.
    Copy,
}

/// A row of the table.
pub(super) struct RoutineRow {
    pub routine: Routine,
    pub signature: Signature,
    pub text: Text,
}

/// Every routine, in the order of [`Routine`], from which their numbers follow.
pub(super) const ROUTINES: [RoutineRow; 21] = [
    row(Routine::ReadBe, Signature::Read, field_values::read_be),
    row(Routine::SwapBytes, Signature::Limb, field_values::swap_bytes),
    row(Routine::Clamp, Signature::Narrow, words::clamp),
    row(Routine::MulAdd, Signature::MulAdd, words::mul_add),
    row(Routine::WordAdd, Signature::Words, words::add),
    row(Routine::WordSub, Signature::Words, words::sub),
    row(Routine::WordMul, Signature::Words, words::mul),
    row(Routine::WordDiv, Signature::Words, |_| words::divide(words::Part::Quotient)),
    row(Routine::WordMod, Signature::Words, |_| words::divide(words::Part::Remainder)),
    row(Routine::WordLt, Signature::Compare, words::less_than),
    row(Routine::WordEq, Signature::Compare, words::equal),
    row(Routine::WordAnd, Signature::Words, |_| words::bitwise(|code| code.i64_and())),
    row(Routine::WordOr, Signature::Words, |_| words::bitwise(|code| code.i64_or())),
    row(Routine::WordXor, Signature::Words, |_| words::bitwise(|code| code.i64_xor())),
    row(Routine::WordShl, Signature::Words, words::shift_left),
    row(Routine::WordShr, Signature::Words, words::shift_right),
    row(Routine::WordByte, Signature::Compare, words::byte),
    row(Routine::IsBelow, Signature::Ask, field_values::is_below),
    row(Routine::IsZero, Signature::Ask, field_values::is_zero),
    row(Routine::AreEqual, Signature::AskTwo, field_values::are_equal),
    row(Routine::WriteBe, Signature::Copy, field_values::write_be),
];

const _: () = {
    let mut number = 0;
    while number < ROUTINES.len() {
        assert!(ROUTINES[number].routine as usize == number);
        number += 1;
    }
};

const fn row(routine: Routine, signature: Signature, text: Text) -> RoutineRow {
    RoutineRow { routine, signature, text }
}

const I32: ValType = ValType::I32;
const I64: ValType = ValType::I64;

impl Signature {
    /// Every signature, in the order of their numbers.
    pub const ALL: [Signature; 12] = [
        Signature::Operation,
        Signature::Function,
        Signature::Main,
        Signature::Words,
        Signature::Compare,
        Signature::Narrow,
        Signature::MulAdd,
        Signature::Read,
        Signature::Limb,
        Signature::Ask,
        Signature::AskTwo,
        Signature::Copy,
    ];

    /// Its number in the module.
    pub fn index(self) -> u32 {
        super::narrow(Self::ALL.iter().position(|&other| other == self).expect("the list has every signature"))
    }

    /// Parameters and results.
    pub fn types(self) -> (&'static [ValType], &'static [ValType]) {
        match self {
            Signature::Operation => (&[I32; 3], &[]),
            Signature::Function => (&[], &[I32]),
            Signature::Main => (&[I32], &[I32]),
            Signature::Words => (&[I64; 8], &[I64; 4]),
            Signature::Compare => (&[I64; 8], &[I64]),
            Signature::Narrow => (&[I64; 4], &[I64]),
            Signature::MulAdd => (&[I64; 4], &[I64; 2]),
            Signature::Read => (&[I64, I32], &[I64]),
            Signature::Limb => (&[I64], &[I64]),
            Signature::Ask => (&[I32], &[I64]),
            Signature::AskTwo => (&[I32; 2], &[I64]),
            Signature::Copy => (&[I32; 2], &[]),
        }
    }
}
