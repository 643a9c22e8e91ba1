//! Kernels for x86-64: additions by the carry flag on every CPU, Montgomery products for those with BMI2 and ADX.
//!
//! `mulx` leaves the flags alone, so a row of a product keeps two carry chains going: low halves through CF (`adcx`),
//! high halves through OF (`adox`). [`portable`](super::portable) judges all of it, on any operands, modulus and n0.

use core::arch::x86_64::{_addcarry_u64, _subborrow_u64};
#[cfg(feature = "std")]
use std::arch::is_x86_feature_detected;

use super::{Kernel, Repeated, Squarings};
use crate::limbs::Limb;
use general::mont_rows;
use narrow::{mont_mul_4, mont_mul_6};
pub(crate) use one_limb::{AddLanes, MulLanes, SubLanes, has_lanes};
use square::{SPARE_BITS, mont_square_6, n1_of};
use wide::{mont_mul_12, sum_rows_12};

/// Without the system, the features that the build asks for.
#[cfg(not(feature = "std"))]
macro_rules! is_x86_feature_detected {
    ($name:tt) => {
        cfg!(target_feature = $name)
    };
}

#[macro_use]
mod rows;
mod additions;
mod general;
mod narrow;
mod one_limb;
mod square;
mod sums;
mod wide;

/// Has this CPU the instructions of the products here? The standard library keeps the answer.
#[inline]
pub(crate) fn has_products() -> bool {
    is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx")
}

/// As [`portable::add`](super::portable::add).
#[inline]
pub(crate) fn add<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    // Residues of a modulus with a spare bit have one too; the others are here for the judges.
    if matches!(N, 4 | 6) && m[N - 1] >> 63 == 0 && (x[N - 1] | y[N - 1]) >> 63 == 0 {
        let mut sum = [0; N];
        match N {
            4 => sum.copy_from_slice(&additions::add_4(cut(x), cut(y), cut(m))),
            _ => sum.copy_from_slice(&additions::add_6(cut(x), cut(y), cut(m))),
        }
        return sum;
    }
    add_by_masks(x, y, m)
}

/// As [`add`], without conditional moves, which read limbs from where they are: operands that were copied there a moment ago are waited for.
#[inline]
pub(crate) fn add_by_masks<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    let mut sum = [0; N];
    let mut carry = 0;
    for i in 0..N {
        carry = _addcarry_u64(carry, x[i], y[i], &mut sum[i]);
    }
    sub_if_geq(&sum, carry, m)
}

/// The limbs, of which there are M.
#[inline(always)]
fn cut<const N: usize, const M: usize>(limbs: &[Limb; N]) -> &[Limb; M] {
    limbs.as_slice().try_into().expect("the caller has matched the width")
}

/// As [`portable::sub`](super::portable::sub).
#[inline]
pub(crate) fn sub<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    let mut difference = [0; N];
    let mut borrow = 0;
    for i in 0..N {
        borrow = _subborrow_u64(borrow, x[i], y[i], &mut difference[i]);
    }
    let mask = Limb::from(borrow).wrapping_neg();
    let mut raised = [0; N];
    let mut carry = 0;
    for i in 0..N {
        carry = _addcarry_u64(carry, difference[i], m[i] & mask, &mut raised[i]);
    }
    raised
}

/// v = t + top·2^(64N) ↦ v, minus m once if v ≥ m, mod 2^(64N).
#[inline]
fn sub_if_geq<const N: usize>(t: &[Limb; N], top: u8, m: &[Limb; N]) -> [Limb; N] {
    let mut reduced = [0; N];
    let mut borrow = 0;
    for i in 0..N {
        borrow = _subborrow_u64(borrow, t[i], m[i], &mut reduced[i]);
    }
    let borrow = _subborrow_u64(borrow, top.into(), 0, &mut 0);
    // By masks: a select of limbs becomes one of pointers in some places, and the arrays then go through memory.
    let mask = Limb::from(borrow).wrapping_neg();
    core::array::from_fn(|i| (t[i] & mask) | (reduced[i] & !mask))
}

/// As [`portable::mont_mul`](super::portable::mont_mul); `None` where this CPU or this width has no product here.
#[inline]
pub(crate) fn mont_mul<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N], n0: Limb) -> Option<[Limb; N]> {
    if !matches!(N, 3..=8 | 12) || !has_products() {
        return None;
    }
    let mut out = [0; N];
    let (to, x, y, m) = (out.as_mut_ptr(), x.as_ptr(), y.as_ptr(), m.as_ptr());
    // SAFETY: the CPU was asked above; all four pointers are to arrays of N limbs, of which `out` is our own.
    unsafe {
        match N {
            4 => mont_mul_4(to, x, y, m, n0),
            6 => mont_mul_6(to, x, y, m, n0),
            12 => mont_mul_12(to, x, y, m, n0),
            _ => mont_mul_of::<N>(to, x, y, m, n0),
        }
    }
    Some(out)
}

/// As [`portable::sum_rows`](super::portable::sum_rows); `None` where this CPU or this width has no product here.
#[inline]
pub(crate) fn sum_rows<const N: usize>(
    terms: &[[&[Limb; N]; 2]],
    m: &[Limb; N],
    n0: Limb,
) -> Option<([Limb; N], Limb)> {
    if !matches!(N, 3..=8 | 12) || !has_products() {
        return None;
    }
    // SAFETY: the CPU was asked above.
    Some(unsafe { if N == 12 { sum_rows_12(terms, m, n0) } else { sums::sum_rows(terms, m, n0) } })
}

/// (x, y) ↦ the value that [`portable::mont_mul`](super::portable::mont_mul) defines, 3, 5, 7 or 8 limbs; any operands and overlap.
///
/// # Safety
/// `out`, `x`, `y`, `m` must be valid and aligned for N limbs, `out` for writing; the CPU must have BMI2 and ADX.
unsafe fn mont_mul_of<const N: usize>(out: *mut Limb, x: *const Limb, y: *const Limb, m: *const Limb, n0: Limb) {
    let mut t = [0; N];
    // SAFETY: the caller vouches for the operands and the CPU; `t` has N limbs.
    let top = unsafe { mont_rows::<N>(t.as_mut_ptr(), x, y, m, n0) };
    // SAFETY: the caller vouches for N limbs at `m`, and at `out`, which is written when all is read.
    unsafe {
        let reduced = sub_if_geq(&t, top, &*m.cast::<[Limb; N]>());
        out.cast::<[Limb; N]>().write(reduced);
    }
}

/// The Montgomery product of values anywhere in a byte slice: (x, y) ↦ out, with m at byte `m`. Little-endian, any
/// alignment, any overlap. Panics unless the four ranges of 48 bytes lie inside `memory`.
///
/// # Safety
/// This CPU must have the products: [`has_products`].
#[inline]
pub(crate) unsafe fn mont_mul_in_memory(memory: &mut [u8], out: usize, x: usize, y: usize, m: usize, n0: Limb) {
    let last = memory.len().checked_sub(48).expect("the memory holds a value");
    assert!(out <= last && x <= last && y <= last && m <= last, "values lie inside the memory");
    let base = memory.as_mut_ptr();
    // SAFETY: each of the four ranges of 48 bytes starts at `last` or before, so all lie inside `memory`, which is
    // borrowed mutably. The kernel reads all operands before it writes, only by instructions that take any alignment.
    unsafe { mont_mul_6(base.add(out).cast(), base.add(x).cast(), base.add(y).cast(), base.add(m).cast(), n0) }
}

/// The kernels of a context: one of the products below as a [`Kernel`].
macro_rules! product_kernel {
    ($name:ident, $width:literal, $product:expr) => {
        #[doc = concat!("Any odd modulus of ", $width, " limbs. Chosen only where [`has_products`].")]
        pub(crate) struct $name;

        impl Kernel for $name {
            #[inline(always)]
            fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb) {
                let last = limbs.len().checked_sub($width).expect("the limbs hold a residue");
                assert!(out <= last && x <= last && y <= last && m.len() == $width, "operands lie inside the limbs");
                debug_assert!(has_products(), "the kernel fits the CPU");
                let base = limbs.as_mut_ptr();
                // SAFETY: `kernels` in the module above hands this type out only after `has_products`; each operand
                // starts at `last` or before, so its limbs lie inside the slice, which is borrowed mutably.
                unsafe { $product(base.add(out), base.add(x), base.add(y), m.as_ptr(), n0) }
            }
        }
    };
}

product_kernel!(MontMul3, 3, mont_mul_of::<3>);
product_kernel!(MontMul4, 4, mont_mul_4);
product_kernel!(MontMul5, 5, mont_mul_of::<5>);
product_kernel!(MontMul6, 6, mont_mul_6);
product_kernel!(MontMul7, 7, mont_mul_of::<7>);
product_kernel!(MontMul8, 8, mont_mul_of::<8>);
product_kernel!(MontMul12, 12, mont_mul_12);

/// As [`Repeated`] of [`MontMul6`], in registers from one squaring to the next where the modulus has the spare bits.
pub(crate) struct MontSquare6;

impl Squarings for MontSquare6 {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, count: u16, m: &[Limb], n0: Limb) {
        let last = limbs.len().checked_sub(6).expect("the limbs hold a residue");
        assert!(out <= last && x <= last && count > 0, "operands lie inside the limbs");
        let m: &[Limb; 6] = m.try_into().expect("the modulus has six limbs");
        if m[5] >> (Limb::BITS - SPARE_BITS) != 0 {
            return Repeated::<MontMul6>::run(limbs, out, x, count, m, n0);
        }
        debug_assert!(has_products(), "the kernel fits the CPU");
        let base = limbs.as_mut_ptr();
        // SAFETY: `kernels` in the module above hands this type out only after `has_products`; both operands start at
        // `last` or before, so their limbs lie inside the slice, which is borrowed mutably; m was cut to six limbs.
        unsafe { mont_square_6(base.add(out), base.add(x), m.as_ptr(), n0, n1_of(m, n0), count.into()) }
    }
}
