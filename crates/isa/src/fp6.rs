//! A fused product in Fp6 = Fp2[v] with v³ = ξ, over Fp2 = Fp[u] with u² = −1: its operands, apart from its opcode.
//!
//! An element takes six slots, anywhere, in the order of 1, u, v, uv, v², uv². ξ = a + b·u has two bytes of its own, as
//! towers differ in it: 1 + u on BLS12-381, 9 + u on BN254.

/// A product in Fp6, out = x·y (`FP6MULX`), with v³ = a + b·u.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fp6Product {
    /// Slots of the result.
    pub out: [u8; 6],
    /// Slots of the first operand.
    pub x: [u8; 6],
    /// Slots of the second operand.
    pub y: [u8; 6],
    /// ξ = v³, as a and b of a + b·u.
    pub xi: [u8; 2],
}

impl Fp6Product {
    /// Immediate bytes.
    pub const BYTES: usize = 20;

    /// Its immediate: the slots of out, x and y, then a and b.
    pub fn pack(&self) -> [u8; Self::BYTES] {
        let mut immediate = [0; Self::BYTES];
        let operands = self.out.iter().chain(&self.x).chain(&self.y).chain(&self.xi);
        immediate.iter_mut().zip(operands).for_each(|(byte, operand)| *byte = *operand);
        immediate
    }

    /// The inverse of [`Fp6Product::pack`].
    #[inline]
    pub fn unpack(immediate: [u8; Self::BYTES]) -> Self {
        let six = |first: usize| core::array::from_fn(|place| immediate[first + place]);
        Self { out: six(0), x: six(6), y: six(12), xi: [immediate[18], immediate[19]] }
    }

    /// The highest slot that it names.
    #[inline]
    pub fn last(&self) -> u8 {
        self.out.iter().chain(&self.x).chain(&self.y).copied().fold(0, u8::max)
    }
}
