//! Names and numbers of the routines that every module has. [`super::routines`] has their code.

use super::OPERATIONS;

/// A routine of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Routine {
    /// (pos, count) ↦ the number in `count` ≤ 8 big-endian bytes of calldata from `pos`; zeros past the end.
    ReadBe,
    /// The bytes of a limb in the other order.
    SwapBytes,
    /// A word ↦ its value as a limb, 2³² if it is larger than that: an address or count beyond all others.
    Clamp,
    /// (s, c, a, b) ↦ a·b + s + c, low limb and high limb.
    MulAdd,
    /// a + b mod 2²⁵⁶.
    WordAdd,
    /// a − b mod 2²⁵⁶.
    WordSub,
    /// a·b mod 2²⁵⁶.
    WordMul,
    /// ⌊a / b⌋, 0 for b = 0.
    WordDiv,
    /// a mod b, 0 for b = 0.
    WordMod,
    /// 1 if a < b, as a limb.
    WordLt,
    /// 1 if a = b, as a limb.
    WordEq,
    /// Bitwise and.
    WordAnd,
    /// Bitwise or.
    WordOr,
    /// Bitwise exclusive or.
    WordXor,
    /// a·2ᵇ mod 2²⁵⁶.
    WordShl,
    /// ⌊a / 2ᵇ⌋.
    WordShr,
    /// Byte b of a from the most significant, as a limb; 0 for b > 31.
    WordByte,
    /// The address of a number of as many limbs as a value ↦ 1 if it is below m.
    IsBelow,
    /// The address of a value ↦ 1 if it is 0.
    IsZero,
    /// The addresses of two values ↦ 1 if they are equal.
    AreEqual,
    /// (from, to): writes the limbs at `from` big-endian at `to`, the most significant first.
    WriteBe,
}

impl Routine {
    /// Its number in the module: they stand after the operations, in this order.
    pub fn index(self) -> u32 {
        super::narrow(OPERATIONS.len() + self as usize)
    }
}
