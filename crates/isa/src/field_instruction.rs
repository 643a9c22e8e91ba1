//! A field instruction apart from its bytes: emitted by the compiler and executed by the engine, for every revision.

use alloc::vec;
use alloc::vec::Vec;

pub use residue_formula::{FieldOp, PerOp};

use crate::form::{Form, OPERAND_BYTES_MAX, Operand, Shape};
use crate::fp2::Fp2Products;
use crate::fp6::Fp6Product;

/// The most products of a sum.
pub const SUM_PRODUCTS_MAX: usize = 6;

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
    /// An instruction beside arithmetic, with its operands in numbered slots.
    Formed(Formed),
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

/// An instruction of a [`Form`], with the bytes of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Formed {
    form: Form,
    /// Those after the operands are zeros.
    bytes: [u8; OPERAND_BYTES_MAX],
}

impl Formed {
    /// The form with these operands as its immediate has them; `None` if there are more or fewer bytes, or if the form is a plain opcode.
    #[inline]
    pub fn new(form: Form, operands: &[u8]) -> Option<Self> {
        let mut bytes = [0; OPERAND_BYTES_MAX];
        bytes.get_mut(..operands.len())?.copy_from_slice(operands);
        (operands.len() == form.row().immediate_bytes() && form.is_instruction()).then_some(Self { form, bytes })
    }

    /// Its form.
    pub const fn form(&self) -> Form {
        self.form
    }

    /// Its operands, as the immediate has them.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.form.row().immediate_bytes()]
    }

    /// Each operand with its bytes.
    pub fn operands(&self) -> impl Iterator<Item = (Operand, &[u8])> {
        let mut rest = self.bytes();
        self.form.row().operands.iter().map(move |&operand| {
            let (bytes, after) = rest.split_at(operand.bytes());
            rest = after;
            (operand, bytes)
        })
    }

    /// Its lanes; 1 if it has no count.
    pub fn count(&self) -> u8 {
        self.operands().find(|(operand, _)| *operand == Operand::Count).map_or(1, |(_, bytes)| bytes[0])
    }

    /// Its first operands in lanes; `None` if it has fewer than `N`.
    pub fn lanes<const N: usize>(&self) -> Option<[Lanes; N]> {
        let mut lanes = [Lanes::one(0); N];
        let mut operands = self.operands();
        for lanes in &mut lanes {
            let (operand, bytes) = operands.next()?;
            operand.shape().filter(|&shape| shape == Shape::InLanes)?;
            *lanes = Lanes { index: bytes[0], stride: bytes[1] };
        }
        Some(lanes)
    }

    /// The slots of each operand, in order, with whether they are written (which may be beyond 255). A sum of products has three operands: the
    /// result, the first factors and the second.
    pub fn slots(&self) -> impl Iterator<Item = (bool, Vec<u16>)> {
        let count = self.count();
        let lane = |first: u8, stride: u8, lane: u8| u16::from(first) + u16::from(stride) * u16::from(lane);
        self.operands().flat_map(move |(operand, bytes)| {
            let factors = |which: usize| bytes.iter().skip(which).step_by(2).copied().map(u16::from).collect();
            let slots: Vec<Vec<u16>> = match (operand.shape(), bytes) {
                (Some(Shape::InLanes), &[first, stride]) => vec![(0..count).map(|i| lane(first, stride, i)).collect()],
                (Some(Shape::Pairs), &[c0, c1, stride]) => {
                    vec![(0..count).flat_map(|i| [c0, c1].map(|first| lane(first, stride, i))).collect()]
                }
                (Some(Shape::Run), &[first]) => vec![(0..count).map(|i| lane(first, 1, i)).collect()],
                (Some(Shape::Products(_)), _) => vec![factors(0), factors(1)],
                (Some(_), slots) => vec![slots.iter().copied().map(u16::from).collect()],
                (None, _) => vec![],
            };
            slots.into_iter().map(move |slots| (matches!(operand, Operand::Writes(_)), slots))
        })
    }
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

impl From<SumOfProducts> for FieldInstruction {
    fn from(sum: SumOfProducts) -> Self {
        Self::formed(Form::sum(sum.count).expect("there are 2 to 6 products"), &sum.pack())
    }
}

impl From<Fp2Products> for FieldInstruction {
    fn from(products: Fp2Products) -> Self {
        Self::formed(Form::MulFp2, &products.pack())
    }
}

impl From<Fp6Product> for FieldInstruction {
    fn from(product: Fp6Product) -> Self {
        Self::formed(Form::MulFp6, &product.pack())
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
    /// An instruction beside arithmetic with these bytes of operands.
    ///
    /// # Panics
    /// If there are more or fewer than its row has, or if it is a plain opcode.
    pub fn formed(form: Form, operands: &[u8]) -> Self {
        Self::Formed(Formed::new(form, operands).unwrap_or_else(|| panic!("{form:?} has no operands {operands:?}")))
    }

    /// An instruction beside arithmetic whose operands are in lanes.
    ///
    /// # Panics
    /// As [`FieldInstruction::formed`].
    pub fn in_lanes(form: Form, operands: &[Lanes], count: u8) -> Self {
        let lanes = operands.iter().flat_map(|lanes| [lanes.index, lanes.stride]);
        Self::formed(form, &lanes.chain([count]).collect::<Vec<u8>>())
    }

    /// Its operation; `None` if it is no addition, subtraction or multiplication.
    pub fn operation(&self) -> Option<FieldOp> {
        match *self {
            FieldInstruction::Slots { operation, .. } | FieldInstruction::Memory { operation, .. } => Some(operation),
            FieldInstruction::Formed(_) => None,
        }
    }

    /// True if it squares slots, by its operands: the same first slot and the same stride.
    pub fn is_square(&self) -> bool {
        matches!(*self, FieldInstruction::Slots { operation: FieldOp::Mul, x, y, .. } if x == y)
    }

    /// Number of independent results.
    pub fn count(&self) -> u8 {
        match *self {
            FieldInstruction::Slots { count, .. } => count,
            FieldInstruction::Formed(formed) => formed.count(),
            FieldInstruction::Memory { .. } => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slots of each operand, with whether they are written.
    fn slots(form: Form, operands: &[u8]) -> Vec<(bool, Vec<u16>)> {
        let FieldInstruction::Formed(formed) = FieldInstruction::formed(form, operands) else { unreachable!() };
        formed.slots().collect()
    }

    #[test]
    fn slots_are_those_that_the_operands_name_lane_by_lane() {
        let copied = [(true, vec![1, 3, 5]), (false, vec![200, 455, 710])];
        assert_eq!(slots(Form::Copy, &[1, 2, 200, 255, 3]), copied);
        let summed = [(true, vec![9]), (false, vec![1, 3]), (false, vec![2, 4])];
        assert_eq!(slots(Form::Sum2, &[9, 0b11, 1, 2, 3, 4]), summed);
        let multiplied = [(true, vec![1, 2, 4, 5]), (false, vec![7, 9, 8, 10]), (false, vec![0, 0, 0, 0])];
        assert_eq!(slots(Form::MulFp2, &[1, 2, 3, 7, 9, 1, 0, 0, 0, 2]), multiplied);
        assert_eq!(slots(Form::Equal, &[5, 6]), [(false, vec![5]), (false, vec![6])]);
        assert_eq!(slots(Form::Invert, &[5, 1, 6, 1, 0]), [(true, vec![]), (false, vec![])]);
        let product: Vec<u8> = (0..20).collect();
        let expected = [(true, (0..6).collect()), (false, (6..12).collect()), (false, (12..18).collect())];
        assert_eq!(slots(Form::MulFp6, &product), expected);
    }

    #[test]
    fn an_instruction_has_as_many_operands_as_its_row() {
        for &form in Form::ALL {
            let operands = vec![1; form.row().immediate_bytes()];
            assert_eq!(Formed::new(form, &operands).is_some(), form.is_instruction());
            assert_eq!(Formed::new(form, &[&operands[..], &[1]].concat()), None);
            assert_eq!(
                Formed::new(form, &vec![1; operands.len().saturating_sub(1)]).filter(|_| !operands.is_empty()),
                None
            );
        }
        assert_eq!(Formed::new(Form::MulFp6, &[0; 100]), None);
    }

    #[test]
    fn structured_operands_are_read_back() {
        let sum = SumOfProducts::of(7, &[(true, [1, 2]), (false, [3, 4]), (true, [5, 6])]).unwrap();
        let FieldInstruction::Formed(formed) = FieldInstruction::from(sum) else { unreachable!() };
        assert_eq!((formed.form(), SumOfProducts::unpack(formed.bytes())), (Form::Sum3, Some(sum)));
        assert_eq!(Form::sum(1), None);
        let [out, x] = [Lanes { index: 1, stride: 2 }, Lanes { index: 3, stride: 4 }];
        let FieldInstruction::Formed(copy) = FieldInstruction::in_lanes(Form::Copy, &[out, x], 5) else {
            unreachable!()
        };
        assert_eq!((copy.bytes(), copy.lanes(), copy.count()), (&[1, 2, 3, 4, 5][..], Some([out, x]), 5));
        assert_eq!(copy.lanes::<3>(), None);
    }
}
