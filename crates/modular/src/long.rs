//! The arithmetic of [`crate::evm384`] on values of any number of bytes, which lie little-endian in memory.
//!
//! Nothing is required of modulus or operands: the formulas are total. With B = 2^(8·size): for odd m a product is
//! reduced with −m⁻¹ mod B; for even m it is not reduced but for one subtraction, which is what `evm384-v12` says.

use crate::evm384::{self, VALUE_BYTES, Value};
use crate::limbs::{LIMB_BYTES, Limb, adc, mac, n0_of, sbb};

/// A modulus of any number of bytes, 0 included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LongModulus {
    /// Least significant first; as many as hold the bytes.
    limbs: Vec<Limb>,
    size_bytes: usize,
    /// −m⁻¹ mod 2⁶⁴ for odd m, else 0.
    r_inv: Limb,
    /// The limbs again, if there are 48 bytes: the width with kernels of its own.
    value: Option<Value>,
}

impl LongModulus {
    /// The modulus of these bytes; all values under it have as many.
    pub fn from_le_bytes(bytes: &[u8]) -> Self {
        let limbs = limbs_of(bytes);
        let r_inv = limbs.first().filter(|&low| low % 2 == 1).map_or(0, |&low| n0_of(low));
        Self {
            value: limbs[..].try_into().ok().filter(|_| bytes.len() == VALUE_BYTES),
            size_bytes: bytes.len(),
            r_inv,
            limbs,
        }
    }

    /// The modulus, big-endian, in as many bytes as it was given.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let little_endian = self.limbs.iter().flat_map(|limb| limb.to_le_bytes()).take(self.size_bytes);
        let mut bytes: Vec<u8> = little_endian.collect();
        bytes.reverse();
        bytes
    }

    /// Bytes of a value.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// (x, y) ↦ x + y, minus m once if that is ≥ m, mod B, on values at byte offsets of `memory`, any alignment and overlap:
    /// all is read before anything is written. Panics unless the values lie inside.
    pub fn add_in_memory(&self, memory: &mut [u8], out: usize, x: usize, y: usize) {
        if let Some(m) = &self.value {
            let sum = evm384::add(&value_at(memory, x), &value_at(memory, y), m);
            return set_value_at(memory, out, &sum);
        }
        let mut sum = self.read(memory, x);
        let mut carry = 0;
        for (limb, y) in sum.iter_mut().zip(self.read(memory, y)) {
            (*limb, carry) = adc(*limb, y, carry);
        }
        sum.push(carry);
        self.write_reduced(memory, out, sum);
    }

    /// (x, y) ↦ x − y, plus m once if that is negative, mod B, in memory as [`LongModulus::add_in_memory`].
    pub fn sub_in_memory(&self, memory: &mut [u8], out: usize, x: usize, y: usize) {
        if let Some(m) = &self.value {
            let difference = evm384::sub(&value_at(memory, x), &value_at(memory, y), m);
            return set_value_at(memory, out, &difference);
        }
        let mut difference = self.read(memory, x);
        let mut borrow = 0;
        for (limb, y) in difference.iter_mut().zip(self.read(memory, y)) {
            (*limb, borrow) = sbb(*limb, y, borrow);
        }
        if borrow == 1 {
            let mut carry = 0;
            for (limb, m) in difference.iter_mut().zip(&self.limbs) {
                (*limb, carry) = adc(*limb, *m, carry);
            }
        }
        self.write(memory, out, &difference);
    }

    /// (x, y) ↦ ⌊(x·y + u·m) / B⌋, minus m once if that is ≥ m, mod B, in memory as [`LongModulus::add_in_memory`], with
    /// u = −x·y·m⁻¹ mod B for odd m and 0 for even m. For odd m and x·y < m·B it is x·y·B⁻¹ mod m.
    pub fn mul_in_memory(&self, memory: &mut [u8], out: usize, x: usize, y: usize) {
        if let Some(m) = &self.value {
            let product = evm384::mont_mul(&value_at(memory, x), &value_at(memory, y), m, self.r_inv);
            return set_value_at(memory, out, &product);
        }
        let (x, y) = (self.read(memory, x), self.read(memory, y));
        let mut t = vec![0; 2 * x.len() + 1];
        for (i, y) in y.iter().enumerate() {
            add_product(&mut t[i..], &x, *y); // t = x·y
        }
        let (whole_limbs, rest_bytes) = (self.size_bytes / LIMB_BYTES, self.size_bytes % LIMB_BYTES);
        for i in 0..whole_limbs {
            let u = t[i].wrapping_mul(self.r_inv); // uᵢ = tᵢ·r_inv mod 2⁶⁴
            add_product(&mut t[i..], &self.limbs, u); // t = t + uᵢ·m·2⁶⁴ⁱ
        }
        if rest_bytes > 0 {
            // The same for the bytes of B above the last whole limb.
            let u = t[whole_limbs].wrapping_mul(self.r_inv) & low_bits(rest_bytes);
            add_product(&mut t[whole_limbs..], &self.limbs, u);
        }
        t.drain(..whole_limbs);
        if rest_bytes > 0 {
            for i in 0..t.len() {
                let above = t.get(i + 1).copied().unwrap_or(0);
                t[i] = t[i] >> (8 * rest_bytes) | above << (64 - 8 * rest_bytes);
            }
        }
        t.truncate(self.limbs.len() + 1); // r = ⌊t / B⌋ < 2·B
        self.write_reduced(memory, out, t);
    }

    fn read(&self, memory: &[u8], at: usize) -> Vec<Limb> {
        limbs_of(&memory[at..][..self.size_bytes])
    }

    /// Writes the low bytes of a value.
    fn write(&self, memory: &mut [u8], at: usize, value: &[Limb]) {
        for (bytes, limb) in memory[at..][..self.size_bytes].chunks_mut(LIMB_BYTES).zip(value) {
            bytes.copy_from_slice(&limb.to_le_bytes()[..bytes.len()]);
        }
    }

    /// Writes v, minus m once if v ≥ m, mod B. `v` has one limb more than m.
    fn write_reduced(&self, memory: &mut [u8], at: usize, mut v: Vec<Limb>) {
        let mut reduced = v.clone();
        let mut borrow = 0;
        for (limb, m) in reduced.iter_mut().zip(self.limbs.iter().chain([&0])) {
            (*limb, borrow) = sbb(*limb, *m, borrow);
        }
        if borrow == 0 {
            v = reduced;
        }
        self.write(memory, at, &v);
    }
}

/// t ↦ t + x·y. `t` is long enough to hold it.
fn add_product(t: &mut [Limb], x: &[Limb], y: Limb) {
    let mut carry = 0;
    let (low, high) = t.split_at_mut(x.len());
    for (t, x) in low.iter_mut().zip(x) {
        (*t, carry) = mac(*t, *x, y, carry);
    }
    for t in high {
        if carry == 0 {
            return;
        }
        (*t, carry) = adc(*t, carry, 0);
    }
}

/// The limbs of little-endian bytes.
fn limbs_of(bytes: &[u8]) -> Vec<Limb> {
    let limb = |chunk: &[u8]| {
        let mut limb = [0; LIMB_BYTES];
        limb[..chunk.len()].copy_from_slice(chunk);
        Limb::from_le_bytes(limb)
    };
    bytes.chunks(LIMB_BYTES).map(limb).collect()
}

/// Ones in the low `bytes` bytes; fewer than eight.
fn low_bits(bytes: usize) -> Limb {
    (1 << (8 * bytes)) - 1
}

fn value_at(memory: &[u8], at: usize) -> Value {
    evm384::read_le(memory[at..][..VALUE_BYTES].try_into().expect("the slice was cut to 48 bytes"))
}

fn set_value_at(memory: &mut [u8], at: usize, value: &Value) {
    evm384::write_le(value, (&mut memory[at..][..VALUE_BYTES]).try_into().expect("the slice was cut to 48 bytes"));
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
        prop_oneof![0..100_usize, Just(48), Just(32)].prop_flat_map(move |len| (of(len), of(len), of(len)))
    }

    proptest! {
        #[test]
        fn any_length_any_modulus_any_operands((x, y, m) in bytes()) {
            let size = m.len();
            let modulus = LongModulus::from_le_bytes(&m);
            let operations = [LongModulus::add_in_memory, LongModulus::sub_in_memory, LongModulus::mul_in_memory];
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
}
