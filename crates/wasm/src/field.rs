//! The field of a module: values of 64-bit limbs in memory, little-endian, in Montgomery form, always below the modulus.
//!
//! With host functions the radix is theirs, R = 2⁶⁴ⁿ. A module that brings its own arithmetic multiplies in limbs of 28
//! bits, as WebAssembly has no product wider than 64 bits: sums of 2L products of 56 bits fit one accumulator without
//! carries, for L up to 64. Its radix is therefore R = 2²⁸ᴸ, and a value lies packed in 64-bit limbs between operations.

mod product;
mod sum;

pub(crate) use product::mul;
pub(crate) use sum::{add, sub};

use num_bigint::BigUint;
use wasm_encoder::{InstructionSink, MemArg};

/// The widest modulus in 64-bit limbs.
pub const WIDTH_LIMBS_MAX: usize = 16;
/// Bits of a limb of multiplication.
const MUL_LIMB_BITS: usize = 28;
const _: () = assert!(2 * (64 * WIDTH_LIMBS_MAX).div_ceil(MUL_LIMB_BITS) < 1 << (63 - 2 * MUL_LIMB_BITS));

/// A modulus as a module has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    modulus: BigUint,
    radix_bits: usize,
}

impl Field {
    /// The field of the host functions' radix, or of a module's own. Requires an odd modulus.
    pub(crate) fn new(modulus: &BigUint, own_arithmetic: bool) -> Self {
        let bits = usize::try_from(modulus.bits()).expect("a modulus has at most 4096 bits");
        let limb_bits = if own_arithmetic { MUL_LIMB_BITS } else { 64 };
        Self { modulus: modulus.clone(), radix_bits: bits.next_multiple_of(limb_bits) }
    }

    /// 64-bit limbs of a value.
    pub fn width_limbs(&self) -> usize {
        usize::try_from(self.modulus.bits().div_ceil(64)).expect("a modulus has at most 4096 bits")
    }

    /// Bytes of a value.
    pub fn value_bytes(&self) -> usize {
        8 * self.width_limbs()
    }

    /// a ↦ the bytes of a·2ᵉ mod m.
    pub(crate) fn scaled(&self, a: &BigUint, exponent: usize) -> Vec<u8> {
        let mut bytes = ((a << exponent) % &self.modulus).to_bytes_le();
        bytes.resize(self.value_bytes(), 0);
        bytes
    }

    /// Canonical a ↦ the bytes of a·R mod m.
    pub fn to_mont(&self, a: &BigUint) -> Vec<u8> {
        self.scaled(a, self.radix_bits)
    }

    /// The factors that a Montgomery product changes form with, as bytes, in the order of [`Conversion`].
    pub(crate) fn conversions(&self) -> [Vec<u8>; 4] {
        let one = BigUint::from(1u8);
        let (own, common) = (self.radix_bits, 64 * self.width_limbs());
        let from_common = (&one << common).modinv(&self.modulus).expect("the modulus is odd");
        let own_factor = self.scaled(&from_common, 2 * own);
        [self.scaled(&one, 2 * own), self.scaled(&one, 0), own_factor, self.scaled(&one, common)]
    }

    /// The modulus in 64-bit limbs.
    pub(crate) fn limbs(&self) -> Vec<u64> {
        self.modulus.iter_u64_digits().collect()
    }

    /// The modulus in limbs of multiplication.
    fn mul_limbs(&self) -> Vec<u64> {
        let mask = BigUint::from(MUL_MASK);
        let limb = |index: usize| (&self.modulus >> (MUL_LIMB_BITS * index)) & &mask;
        let limbs = self.radix_bits.div_ceil(MUL_LIMB_BITS);
        (0..limbs).map(|index| limb(index).iter_u64_digits().next().unwrap_or(0)).collect()
    }
}

/// A change of form, which is a Montgomery product with a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// Canonical a ↦ a·R mod m.
    ToMont,
    /// a·R mod m ↦ canonical a.
    FromMont,
    /// a·2⁶⁴ⁿ mod m ↦ a·R mod m.
    FromCommon,
    /// a·R mod m ↦ a·2⁶⁴ⁿ mod m.
    ToCommon,
}

impl Conversion {
    /// Its place among the constants of conversions.
    pub(crate) fn place(self) -> u32 {
        match self {
            Conversion::ToMont => 0,
            Conversion::FromMont => 1,
            Conversion::FromCommon => 2,
            Conversion::ToCommon => 3,
        }
    }
}

/// The bits of one limb of multiplication.
const MUL_MASK: u64 = (1 << MUL_LIMB_BITS) - 1;

/// The limb `index` of a value.
pub(crate) fn limb(index: usize) -> MemArg {
    MemArg { offset: 8 * index as u64, align: 3, memory_index: 0 }
}

/// The bits of an unsigned constant as instructions take it.
pub(crate) fn bits(value: u64) -> i64 {
    value.cast_signed()
}

/// The number of a local of a function that is generated here: there are hundreds at most.
fn local(index: usize) -> u32 {
    u32::try_from(index).expect("a function has fewer than 2³² locals")
}

/// Stores s, minus m once if s ≥ m, at the address in local 2: the limbs of s are in the locals from `s` on, its bit 2⁶⁴ⁿ in
/// the local `carry` unless it is 0. `d` and `borrow` are free. Requires s < 2m.
fn store_reduced(
    field: &Field,
    code: &mut InstructionSink<'_>,
    s: usize,
    carry: Option<usize>,
    d: usize,
    borrow: usize,
) {
    let m = field.limbs();
    for (i, &m_i) in m.iter().enumerate() {
        // dᵢ = sᵢ − mᵢ − borrow.
        code.local_get(local(s + i)).i64_const(bits(m_i)).i64_sub();
        if i > 0 {
            code.local_get(local(borrow)).i64_sub();
        }
        code.local_set(local(d + i));
        code.local_get(local(s + i)).i64_const(bits(m_i)).i64_lt_u();
        if i > 0 {
            // The first difference was 0 and the borrow 1 exactly if dᵢ is all ones.
            code.local_get(local(d + i)).i64_const(-1).i64_eq().local_get(local(borrow)).i32_wrap_i64().i32_and();
            code.i32_or();
        }
        code.i64_extend_i32_u().local_set(local(borrow));
    }
    if let Some(carry) = carry {
        code.local_get(local(carry)).i64_eqz().i64_extend_i32_u().local_get(local(borrow)).i64_and();
        code.local_set(local(borrow));
    }
    for i in 0..m.len() {
        code.local_get(2).local_get(local(s + i)).local_get(local(d + i));
        code.local_get(local(borrow)).i32_wrap_i64().select().i64_store(limb(i));
    }
}
