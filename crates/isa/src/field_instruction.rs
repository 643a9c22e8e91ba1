//! A field instruction apart from its bytes: emitted by the compiler and executed by the engine, for every revision.

use alloc::vec::Vec;

pub use residue_formula::{FieldOp, PerOp};

use crate::fp2::Fp2Products;
use crate::fp6::Fp6Product;
use crate::revision::rules::SUM_PRODUCTS_MAX;

/// The slots one operand visits: `index`, `index + stride`, `index + 2·stride`, … one for each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lanes {
    /// Slot of the first lane.
    pub index: u8,
    /// Slot distance between neighbouring lanes; 0 repeats one slot.
    pub stride: u8,
}

impl Lanes {
    /// One slot; the stride is 1 as no revision rejects that.
    pub const fn one(index: u8) -> Self {
        Self { index, stride: 1 }
    }

    /// The slot of lane `lane`, or none if it is beyond 255.
    pub fn slot(self, lane: u8) -> Option<u8> {
        u8::try_from(u32::from(self.index) + u32::from(self.stride) * u32::from(lane)).ok()
    }

    /// The highest slot that `count` lanes visit (which may be beyond 255). `count` of 0 counts as 1.
    pub fn last(self, count: u8) -> u32 {
        u32::from(self.index) + u32::from(self.stride) * u32::from(count.saturating_sub(1))
    }
}

/// One arithmetic field instruction with its operands, as decoded from code or about to be encoded.
///
/// Setting the modulus, loads and stores take all their operands from the stack, so they are plain opcodes and not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldInstruction {
    /// Operands are numbered slots; `count` lanes as one (1 where a revision has no strides).
    Slots {
        /// Operation.
        operation: FieldOp,
        /// Result slots.
        out: Lanes,
        /// First operands.
        x: Lanes,
        /// Second operands.
        y: Lanes,
        /// Number of lanes.
        count: u8,
    },
    /// Inverses (`INVMODX`), modulo the modulus in the revision's rules.
    Inverse {
        /// Result slots.
        out: Lanes,
        /// Operands.
        x: Lanes,
        /// Number of lanes.
        count: u8,
    },
    /// Copies of slots (`MOVX`), all read before any is written.
    Copy {
        /// Destination slots.
        out: Lanes,
        /// Source slots.
        x: Lanes,
        /// Number of lanes.
        count: u8,
    },
    /// Values of x where the word on top of the stack is not zero, else of y (`SELECTX`), all read before any is written.
    Select {
        /// Destination slots.
        out: Lanes,
        /// Source slots if the word is not zero.
        x: Lanes,
        /// Source slots if the word is zero.
        y: Lanes,
        /// Number of lanes.
        count: u8,
    },
    /// 1 if the value of a slot is zero, else 0, as a word on the stack (`ISZEROX`).
    IsZero {
        /// The slot.
        slot: u8,
    },
    /// 1 if the comparison of two slots holds, else 0, as a word on the stack (`EQX`, `LTX`).
    Compare {
        /// In which way.
        comparison: Comparison,
        /// The slot of the first operand.
        x: u8,
        /// The slot of the second.
        y: u8,
    },
    /// ± x₁·y₁ ± x₂·y₂ …, two products or more, with one reduction (`SUM2X` to `SUM6X`).
    Sum(SumOfProducts),
    /// Products in Fp2, as two sums of two products each (`FP2MULX`).
    Fp2(Fp2Products),
    /// A product in Fp6, as six sums of six products each (`FP6MULX`).
    Fp6(Fp6Product),
    /// Operands are byte offsets in EVM memory.
    Memory {
        /// Operation.
        operation: FieldOp,
        /// Byte offset of the result.
        out: u32,
        /// Byte offset of the first operand.
        x: u32,
        /// Byte offset of the second operand.
        y: u32,
        /// Position of the modulus m and of r_inv = −m⁻¹ mod 2⁶⁴.
        modulus: ModulusAt,
    },
}

/// Comparison of the values of two slots, as integers below the modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// x = y (`EQX`).
    Equal,
    /// x < y (`LTX`).
    Less,
}

/// A sum of products of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SumOfProducts {
    /// Result slot.
    pub out: u8,
    /// Bit i is set if product i is subtracted; the bits after the products mean nothing.
    pub signs: u8,
    /// The slots of the products; those from `count` on are zeros.
    pub products: [[u8; 2]; SUM_PRODUCTS_MAX],
    /// Number of products, 2 to [`SUM_PRODUCTS_MAX`].
    pub count: u8,
}

impl SumOfProducts {
    /// The sum of these products, each with whether it is subtracted; none unless there are 2 to [`SUM_PRODUCTS_MAX`].
    pub fn of(out: u8, of: &[(bool, [u8; 2])]) -> Option<Self> {
        let mut products = [[0; 2]; SUM_PRODUCTS_MAX];
        if of.len() < 2 || of.len() > products.len() {
            return None;
        }
        let mut signs = 0;
        for (place, (product, &(is_subtracted, slots))) in products.iter_mut().zip(of).enumerate() {
            *product = slots;
            signs |= u8::from(is_subtracted) << place;
        }
        Some(Self { out, signs, products, count: u8::try_from(of.len()).expect("there are at most six") })
    }

    /// Its products, each with whether it is subtracted.
    pub fn products(&self) -> impl Iterator<Item = (bool, [u8; 2])> + use<> {
        let Self { signs, products, count, .. } = *self;
        (0..count).zip(products).map(move |(place, slots)| (signs >> place & 1 == 1, slots))
    }

    /// Its immediate: out, signs, then the slots of each product.
    pub fn pack(&self) -> Vec<u8> {
        [self.out, self.signs].into_iter().chain(self.products().flat_map(|(_, slots)| slots)).collect()
    }

    /// The inverse of [`SumOfProducts::pack`]; none if there are not 2 to [`SUM_PRODUCTS_MAX`] whole products.
    #[inline]
    pub fn unpack(immediate: &[u8]) -> Option<Self> {
        let (&[out, signs], slots) = immediate.split_first_chunk()?;
        let mut products = [[0; 2]; SUM_PRODUCTS_MAX];
        let count = slots.len() / 2;
        if !slots.len().is_multiple_of(2) || count < 2 || count > products.len() {
            return None;
        }
        for (product, slots) in products.iter_mut().zip(slots.chunks_exact(2)) {
            product.copy_from_slice(slots);
        }
        Some(Self { out, signs, products, count: u8::try_from(count).ok()? })
    }
}

/// Position of the modulus of an instruction on values in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModulusAt {
    /// At a byte offset; where r_inv is needed, it is in the eight bytes after the modulus.
    Offset(u32),
    /// At a byte offset, with r_inv as an operand of its own: multiplications of `evm384-v1` to `evm384-v3`.
    OffsetAndRInv {
        /// Byte offset of the modulus.
        offset: u32,
        /// −m⁻¹ mod 2⁶⁴.
        r_inv: u64,
    },
    /// Nowhere in the instruction: the revision has one field or one place for it, or an instruction before has set it.
    Implied,
}

impl FieldInstruction {
    /// Its operation; `None` if it is no addition, subtraction or multiplication.
    pub fn operation(&self) -> Option<FieldOp> {
        match *self {
            FieldInstruction::Slots { operation, .. } | FieldInstruction::Memory { operation, .. } => Some(operation),
            FieldInstruction::Inverse { .. }
            | FieldInstruction::Copy { .. }
            | FieldInstruction::Select { .. }
            | FieldInstruction::IsZero { .. }
            | FieldInstruction::Compare { .. }
            | FieldInstruction::Sum(_)
            | FieldInstruction::Fp2(_)
            | FieldInstruction::Fp6(_) => None,
        }
    }

    /// True if it squares slots, by its operands: the same first slot and the same stride.
    pub fn is_square(&self) -> bool {
        matches!(*self, FieldInstruction::Slots { operation: FieldOp::Mul, x, y, .. } if x == y)
    }

    /// Number of independent results.
    pub fn count(&self) -> u8 {
        match *self {
            FieldInstruction::Slots { count, .. }
            | FieldInstruction::Inverse { count, .. }
            | FieldInstruction::Copy { count, .. }
            | FieldInstruction::Select { count, .. } => count,
            FieldInstruction::Fp2(products) => products.count,
            FieldInstruction::IsZero { .. }
            | FieldInstruction::Compare { .. }
            | FieldInstruction::Sum(_)
            | FieldInstruction::Fp6(_)
            | FieldInstruction::Memory { .. } => 1,
        }
    }
}
