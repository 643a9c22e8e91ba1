//! Strided operands: the seven immediate bytes out_index, out_stride, x_index, x_stride, y_index, y_stride, count.
//!
//! Source: EIP-6690 at commit 968159a9b; evmone's revisions since 2025 have the same.

use crate::field_instruction::Lanes;

/// Immediate bytes of an arithmetic instruction.
pub const IMMEDIATE_BYTES: usize = 7;
/// Bytes of an arithmetic instruction.
pub const INSTRUCTION_BYTES: usize = 1 + IMMEDIATE_BYTES;

/// The operands in the immediate of an arithmetic instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operands {
    /// Result slots.
    pub out: Lanes,
    /// First operands.
    pub x: Lanes,
    /// Second operands.
    pub y: Lanes,
    /// Number of lanes.
    pub count: u8,
}

/// The operands in the seven immediate bytes.
#[inline]
pub const fn unpack(immediate: [u8; IMMEDIATE_BYTES]) -> Operands {
    let [out, out_stride, x, x_stride, y, y_stride, count] = immediate;
    Operands {
        out: Lanes { index: out, stride: out_stride },
        x: Lanes { index: x, stride: x_stride },
        y: Lanes { index: y, stride: y_stride },
        count,
    }
}

/// The inverse of [`unpack`].
#[inline]
pub const fn pack(operands: Operands) -> [u8; IMMEDIATE_BYTES] {
    let Operands { out, x, y, count } = operands;
    [out.index, out.stride, x.index, x.stride, y.index, y.stride, count]
}
