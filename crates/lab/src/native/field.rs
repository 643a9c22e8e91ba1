//! blst's field routines on arrays of values, as a library calls them.

use blst::{blst_fp, blst_fr, blst_scalar};

/// A field of blst's; values are in Montgomery form inside.
pub trait NativeField: Copy + Default {
    /// Width of its values.
    const WIDTH_LIMBS: usize;
    /// The value of 8·[`NativeField::WIDTH_LIMBS`] big-endian bytes, canonical and below the modulus.
    fn from_be(bytes: &[u8]) -> Self;
    /// Canonical big-endian bytes.
    fn to_be(self) -> Vec<u8>;
    /// out = x + y. Panics on indices beyond the array.
    fn add<const N: usize>(values: &mut [Self; N], out: usize, x: usize, y: usize);
    /// out = x − y. Panics on indices beyond the array.
    fn sub<const N: usize>(values: &mut [Self; N], out: usize, x: usize, y: usize);
    /// out = x·y. Panics on indices beyond the array.
    fn mul<const N: usize>(values: &mut [Self; N], out: usize, x: usize, y: usize);
}

/// Implements an operation by a routine of blst's that takes pointers to result and operands.
macro_rules! operation {
    ($name:ident, $routine:path) => {
        #[inline(always)]
        fn $name<const N: usize>(values: &mut [Self; N], out: usize, x: usize, y: usize) {
            assert!(out < N && x < N && y < N, "the values lie inside the array");
            let values = values.as_mut_ptr();
            // SAFETY: the three indices were checked against the array, which is borrowed alone; the routine reads both
            // operands before it writes the result, which blst allows to be one of them.
            unsafe { $routine(values.add(out), values.add(x), values.add(y)) }
        }
    };
}

/// The base field of BLS12-381.
impl NativeField for blst_fp {
    const WIDTH_LIMBS: usize = 6;

    fn from_be(bytes: &[u8]) -> Self {
        let bytes: &[u8; 48] = bytes.try_into().expect("an element has 48 bytes");
        let mut value = Self::default();
        // SAFETY: the routine reads 48 bytes and writes one value.
        unsafe { blst::blst_fp_from_bendian(&mut value, bytes.as_ptr()) };
        value
    }

    fn to_be(self) -> Vec<u8> {
        let mut bytes = vec![0; 48];
        // SAFETY: the routine reads one value and writes 48 bytes.
        unsafe { blst::blst_bendian_from_fp(bytes.as_mut_ptr(), &self) };
        bytes
    }

    operation!(add, blst::blst_fp_add);
    operation!(sub, blst::blst_fp_sub);
    operation!(mul, blst::blst_fp_mul);
}

/// The scalar field of BLS12-381.
impl NativeField for blst_fr {
    const WIDTH_LIMBS: usize = 4;

    fn from_be(bytes: &[u8]) -> Self {
        let bytes: &[u8; 32] = bytes.try_into().expect("an element has 32 bytes");
        let (mut scalar, mut value) = (blst_scalar::default(), Self::default());
        // SAFETY: the routine reads 32 bytes and writes one scalar.
        unsafe { blst::blst_scalar_from_bendian(&mut scalar, bytes.as_ptr()) };
        // SAFETY: the routine reads one scalar and writes one value.
        unsafe { blst::blst_fr_from_scalar(&mut value, &scalar) };
        value
    }

    fn to_be(self) -> Vec<u8> {
        let mut scalar = blst_scalar::default();
        // SAFETY: the routine reads one value and writes one scalar.
        unsafe { blst::blst_scalar_from_fr(&mut scalar, &self) };
        scalar.b.iter().rev().copied().collect()
    }

    operation!(add, blst::blst_fr_add);
    operation!(sub, blst::blst_fr_sub);
    operation!(mul, blst::blst_fr_mul);
}

#[cfg(test)]
mod tests {
    use residue_formula::Number;
    use residue_modular::fields::{Bls12_381Fp, Bls12_381Fr};
    use residue_modular::limbs;

    use super::*;

    /// Both compute the same from small and from large values.
    fn check<V: NativeField, N: Number>(to_be: impl Fn(N) -> Vec<u8>) {
        let three = N::ONE + N::ONE + N::ONE;
        let numbers =
            [N::ZERO, N::ONE, N::ZERO - N::ONE, three, three.inverse().unwrap(), N::ZERO - three.inverse().unwrap()];
        for x in numbers {
            for y in numbers {
                let mut values = [V::default(), V::from_be(&to_be(x)), V::from_be(&to_be(y))];
                V::add(&mut values, 0, 1, 2);
                assert_eq!(values[0].to_be(), to_be(x + y));
                V::sub(&mut values, 0, 1, 2);
                assert_eq!(values[0].to_be(), to_be(x - y));
                V::mul(&mut values, 0, 1, 2);
                assert_eq!(values[0].to_be(), to_be(x * y));
                V::mul(&mut values, 1, 1, 2);
                assert_eq!(values[1].to_be(), to_be(x * y));
            }
        }
    }

    fn be<N: Number>(width_limbs: usize) -> impl Fn(N) -> Vec<u8> {
        move |number| {
            let mut bytes = vec![0; width_limbs * limbs::LIMB_BYTES];
            let canonical = number.to_canonical().to_bytes_be();
            let start = bytes.len() - canonical.len();
            bytes[start..].copy_from_slice(&canonical);
            bytes
        }
    }

    #[test]
    fn blst_computes_what_our_numbers_compute() {
        check::<blst_fp, Bls12_381Fp>(be(6));
        check::<blst_fr, Bls12_381Fr>(be(4));
    }

    #[test]
    #[should_panic(expected = "inside the array")]
    fn indices_beyond_the_array_panic() {
        blst_fp::add(&mut [blst_fp::default(); 3], 0, 1, 3);
    }
}
