//! The arithmetic of [`crate::evm384`] on values of fewer bytes, as many as a modulus is given in, little-endian in memory.
//!
//! Modulus and operands may be any numbers: the formulas are total. With B = 2^(8·size): for odd m a product is reduced
//! with −m⁻¹ mod B; for even m there is one conditional subtraction only, as in `evm384-v12`.

use alloc::vec;
use alloc::vec::Vec;

use crate::evm384::{self, VALUE_BYTES, Value};
use crate::limbs::{Limb, n0_of};

/// A modulus of at most 48 bytes, 0 included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShortModulus {
    value: Value,
    size_bytes: usize,
    /// −m⁻¹ mod 2⁶⁴ for odd m, else 0.
    r_inv: Limb,
}

impl ShortModulus {
    /// The modulus of these bytes; all values under it have as many. None if they are more than 48.
    pub fn from_le_bytes(bytes: &[u8]) -> Option<Self> {
        let size_bytes = bytes.len();
        let value = (size_bytes <= VALUE_BYTES).then(|| read(bytes, 0))?;
        let r_inv = if value[0] % 2 == 1 { n0_of(value[0]) } else { 0 };
        Some(Self { value, size_bytes, r_inv })
    }

    /// The modulus, big-endian, in as many bytes as it was given.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size_bytes];
        write(&self.value, &mut bytes);
        bytes.reverse();
        bytes
    }

    /// Bytes of a value.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// (x, y) ↦ x + y, minus m once if that is ≥ m, mod B, on values at byte offsets of `memory`, any alignment and overlap:
    /// all is read before anything is written. Panics unless the values lie inside.
    #[inline]
    pub fn add_in_memory(&self, memory: &mut [u8], out: usize, x: usize, y: usize) {
        self.operate(memory, out, [(x, 0), (y, 0)], |x, y| evm384::add(x, y, &self.value));
    }

    /// (x, y) ↦ x − y, plus m once if that is negative, mod B, in memory as [`ShortModulus::add_in_memory`].
    #[inline]
    pub fn sub_in_memory(&self, memory: &mut [u8], out: usize, x: usize, y: usize) {
        self.operate(memory, out, [(x, 0), (y, 0)], |x, y| evm384::sub(x, y, &self.value));
    }

    /// (x, y) ↦ ⌊(x·y + u·m) / B⌋, minus m once if that is ≥ m, mod B, in memory as [`ShortModulus::add_in_memory`], with
    /// u = −x·y·m⁻¹ mod B for odd m and 0 for even m. For odd m and x·y < m·B it is x·y·B⁻¹ mod m.
    #[inline]
    pub fn mul_in_memory(&self, memory: &mut [u8], out: usize, x: usize, y: usize) {
        // The product of 48 bytes divides by 2³⁸⁴ = B·C. Of x·C, which 48 bytes hold, it has C·u in place of u, so
        // ⌊(x·C·y + C·u·m) / (B·C)⌋, which is the same.
        let above = VALUE_BYTES - self.size_bytes;
        self.operate(memory, out, [(x, above), (y, 0)], |x, y| evm384::mont_mul(x, y, &self.value, self.r_inv));
    }

    /// Applies `operation` to two values, once for each number of bytes. Writes the low bytes of the result, i.e. the
    /// result mod B.
    #[inline(always)]
    fn operate(
        &self,
        memory: &mut [u8],
        out: usize,
        operands: [(usize, usize); 2],
        operation: impl FnOnce(&Value, &Value) -> Value,
    ) {
        let [x, y] = operands;
        if self.size_bytes == VALUE_BYTES {
            // A constant length makes straight code of it.
            let value_at = |at: usize| read(&memory[at..][..VALUE_BYTES], 0);
            let result = operation(&value_at(x.0), &value_at(y.0));
            return write(&result, &mut memory[out..][..VALUE_BYTES]);
        }
        let value_at = |(at, shift)| read(&memory[at..][..self.size_bytes], shift);
        let result = operation(&value_at(x), &value_at(y));
        write(&result, &mut memory[out..][..self.size_bytes]);
    }
}

/// Little-endian bytes times 2^(8·shift); together at most 48 bytes.
#[inline(always)]
fn read(bytes: &[u8], shift: usize) -> Value {
    let mut shifted = [0; VALUE_BYTES];
    shifted[shift..][..bytes.len()].copy_from_slice(bytes);
    evm384::read_le(&shifted)
}

/// The low bytes of a value, little-endian.
#[inline(always)]
fn write(value: &Value, bytes: &mut [u8]) {
    let mut all = [0; VALUE_BYTES];
    evm384::write_le(value, &mut all);
    bytes.copy_from_slice(&all[..bytes.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// The definitions, on big integers.
    fn expected(operation: usize, x: &[u8], y: &[u8], m: &[u8]) -> BigUint {
        let b = BigUint::from(1u8) << (8 * m.len());
        let [x, y, m] = [x, y, m].map(BigUint::from_bytes_le);
        let less_once = |v: BigUint| if v >= m { v - &m } else { v };
        match operation {
            0 => less_once(x + y) % b,
            1 if x < y => (x + &m + &b - y) % b,
            1 => x - y,
            _ => {
                let m_prime = m.modinv(&b).map_or(BigUint::ZERO, |inverse| &b - inverse);
                let t = x * y;
                let u = &t * m_prime % &b;
                less_once((t + u * &m) / &b) % b
            }
        }
    }

    fn bytes() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<u8>)> {
        let byte = || prop_oneof![Just(0), Just(0xff), any::<u8>()];
        let of = move |len| prop::collection::vec(byte(), len);
        prop_oneof![0..=VALUE_BYTES, Just(48), Just(32)].prop_flat_map(move |len| (of(len), of(len), of(len)))
    }

    proptest! {
        #[test]
        fn any_length_any_modulus_any_operands((x, y, m) in bytes()) {
            let size = m.len();
            let modulus = ShortModulus::from_le_bytes(&m).unwrap();
            let operations = [ShortModulus::add_in_memory, ShortModulus::sub_in_memory, ShortModulus::mul_in_memory];
            for (number, operation) in operations.into_iter().enumerate() {
                let before = [&x[..], &y, &[0xee]].concat();
                for out in [0, size / 2, size] {
                    let mut memory = before.clone();
                    operation(&modulus, &mut memory, out, 0, size);
                    let result = BigUint::from_bytes_le(&memory[out..out + size]);
                    prop_assert_eq!(result, expected(number, &x, &y, &m));
                    prop_assert_eq!(&memory[..out], &before[..out]);
                    prop_assert_eq!(&memory[out + size..], &before[out + size..]);
                }
            }
        }
    }
    #[test]
    fn a_modulus_of_more_than_48_bytes_is_refused() {
        assert_eq!(ShortModulus::from_le_bytes(&[1; 49]), None);
        let bytes: Vec<u8> = (1..=48).collect();
        let modulus = ShortModulus::from_le_bytes(&bytes).unwrap();
        assert_eq!((modulus.size_bytes(), modulus.to_be_bytes()), (48, bytes.into_iter().rev().collect()));
    }
}
