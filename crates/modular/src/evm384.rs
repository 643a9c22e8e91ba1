//! The arithmetic of EVM384: values of 48 bytes, total on every input.
//!
//! Operands, modulus and r_inv may be any numbers: outside the range of Montgomery arithmetic the results are still
//! exactly those of the formulas below, carries out of 384 bits included. They are the formulas of the EVM384
//! specification, "EVM384 interface", with B = 2³⁸⁴; r_inv = −m⁻¹ mod 2⁶⁴ if it is consistent.
//!
//! ```
//! use residue_modular::evm384;
//! let (seven, five, m) = ([7, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0], [11, 0, 0, 0, 0, 0]);
//! assert_eq!(evm384::add(&seven, &five, &m), [1, 0, 0, 0, 0, 0]);
//! assert_eq!(evm384::sub(&five, &seven, &m), [9, 0, 0, 0, 0, 0]);
//! ```

use crate::backend;
use crate::limbs::{LIMB_BYTES, Limb};
use crate::modulus::Modulus;

/// 384 bits, least significant limb first.
pub type Value = [Limb; WIDTH_LIMBS];

/// Limbs of a value.
pub const WIDTH_LIMBS: usize = 6;
/// Bytes of a value.
pub const VALUE_BYTES: usize = 48;

/// (x, y) ↦ s = x + y, minus m once if s ≥ m, mod B.
#[inline]
pub fn add(x: &Value, y: &Value, m: &Value) -> Value {
    backend::add_by_masks(x, y, m)
}

/// (x, y) ↦ d = x − y, plus m once if d < 0, mod B.
#[inline]
pub fn sub(x: &Value, y: &Value, m: &Value) -> Value {
    backend::sub(x, y, m)
}

/// (x, y) ↦ t = ⌊(x·y + Σ uᵢ·m·2⁶⁴ⁱ) / B⌋, minus m once if t ≥ m, mod B, with uᵢ = r_inv × limb i of the sum so far mod 2⁶⁴.
/// With m odd, r_inv = −m⁻¹ mod 2⁶⁴ and x·y < m·B that is x·y·B⁻¹ mod m, < m.
#[inline]
pub fn mont_mul(x: &Value, y: &Value, m: &Value, r_inv: Limb) -> Value {
    backend::mont_mul(x, y, m, r_inv)
}

/// Canonical a ↦ a·B mod m. Requires a modulus of six limbs.
pub fn to_mont(canonical: &Value, modulus: &Modulus) -> Value {
    let mut out = [0; WIDTH_LIMBS];
    modulus.to_mont(canonical, &mut out);
    out
}

/// a·B mod m ↦ canonical a. Requires a modulus of six limbs.
pub fn from_mont(mont: &Value, modulus: &Modulus) -> Value {
    let mut out = [0; WIDTH_LIMBS];
    modulus.from_mont(mont, &mut out);
    out
}

/// The value of 48 little-endian bytes.
#[inline]
pub fn read_le(bytes: &[u8; VALUE_BYTES]) -> Value {
    let (limbs, _) = bytes.as_chunks::<LIMB_BYTES>();
    core::array::from_fn(|i| Limb::from_le_bytes(limbs[i]))
}

/// The 48 little-endian bytes of a value.
#[inline]
pub fn write_le(value: &Value, bytes: &mut [u8; VALUE_BYTES]) {
    let (limbs, _) = bytes.as_chunks_mut::<LIMB_BYTES>();
    for (bytes, limb) in limbs.iter_mut().zip(value) {
        *bytes = limb.to_le_bytes();
    }
}

/// The value of 48 big-endian bytes.
#[inline]
pub fn read_be(bytes: &[u8; VALUE_BYTES]) -> Value {
    let (limbs, _) = bytes.as_chunks::<LIMB_BYTES>();
    core::array::from_fn(|i| Limb::from_be_bytes(limbs[WIDTH_LIMBS - 1 - i]))
}

/// The 48 big-endian bytes of a value.
#[inline]
pub fn write_be(value: &Value, bytes: &mut [u8; VALUE_BYTES]) {
    let (limbs, _) = bytes.as_chunks_mut::<LIMB_BYTES>();
    for (bytes, limb) in limbs.iter_mut().rev().zip(value) {
        *bytes = limb.to_be_bytes();
    }
}

/// [`add`] on little-endian values at byte offsets of `memory`, any alignment and overlap: all is read before anything
/// is written. Panics unless the ranges of 48 bytes lie inside `memory`.
#[inline]
pub fn add_in_memory(memory: &mut [u8], out: usize, x: usize, y: usize, m: usize) {
    check_operands(memory, [out, x, y, m]);
    let sum = add(&value_at(memory, x), &value_at(memory, y), &value_at(memory, m));
    set_value_at(memory, out, &sum);
}

/// [`sub`] in memory, as [`add_in_memory`].
#[inline]
pub fn sub_in_memory(memory: &mut [u8], out: usize, x: usize, y: usize, m: usize) {
    check_operands(memory, [out, x, y, m]);
    let difference = sub(&value_at(memory, x), &value_at(memory, y), &value_at(memory, m));
    set_value_at(memory, out, &difference);
}

/// [`mont_mul`] in memory, as [`add_in_memory`], with r_inv in the eight bytes after m, which lie inside too.
#[inline]
pub fn mul_in_memory(memory: &mut [u8], out: usize, x: usize, y: usize, m: usize) {
    let r_inv = memory[m..][VALUE_BYTES..][..LIMB_BYTES].try_into().expect("the slice was cut to 8 bytes");
    mul_in_memory_with(memory, out, x, y, m, Limb::from_le_bytes(r_inv));
}

/// [`mont_mul`] in memory, as [`add_in_memory`], with r_inv given.
#[inline]
pub fn mul_in_memory_with(memory: &mut [u8], out: usize, x: usize, y: usize, m: usize, r_inv: Limb) {
    if !backend::mont_mul_in_memory(memory, out, x, y, m, r_inv) {
        let product = mont_mul(&value_at(memory, x), &value_at(memory, y), &value_at(memory, m), r_inv);
        set_value_at(memory, out, &product);
    }
}

/// Panics unless values at these offsets lie inside the memory. Said once, so that slicing need not ask again.
#[inline(always)]
fn check_operands(memory: &[u8], offsets: [usize; 4]) {
    let last = memory.len().checked_sub(VALUE_BYTES).expect("the memory holds a value");
    let [out, x, y, m] = offsets;
    assert!(out <= last && x <= last && y <= last && m <= last, "values lie inside the memory");
}

/// The value in the 48 bytes from `at` on.
#[inline(always)]
fn value_at(memory: &[u8], at: usize) -> Value {
    read_le(memory[at..][..VALUE_BYTES].try_into().expect("the slice was cut to 48 bytes"))
}

#[inline(always)]
fn set_value_at(memory: &mut [u8], at: usize, value: &Value) {
    write_le(value, (&mut memory[at..][..VALUE_BYTES]).try_into().expect("the slice was cut to 48 bytes"));
}
