//! Lanes of one limb, eight at a time in vectors of AVX-512: sums, differences and Montgomery products on the slots in
//! place.
//!
//! Same results as [`one_limb`](super::super::one_limb). Slots of one limb that follow each other are a vector as they
//! are. So values have one form, there are no rows to move them to, and every result is canonical: no bounds have to be
//! proved of sequences. [`portable`](super::super::portable) judges each operation.
//!
//! Moduli below 2³² spare four
//! of nine multiplications: x·y < 2⁶⁴ has no high half, and m none of 32 bits.

use core::arch::x86_64::*;

use super::super::{Kernel, one_limb};
use crate::context::Strided;
use crate::limbs::Limb;

/// Lanes of a vector.
const LANES: usize = 8;
/// Fewer lanes than this run one by one, and where slots are not next to each other and have to be gathered, fewer than that.
const LANES_MIN: usize = 4;
const GATHERED_MIN: usize = 8;

type Vector = __m512i;

/// Has this CPU the instructions here, and are vectors wanted?
pub(crate) fn has_lanes() -> bool {
    crate::wants_vectors() && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
}

/// Operation in each lane.
const ADD: u8 = 0;
const SUB: u8 = 1;
const MUL: u8 = 2;
/// A product modulo m < 2³².
const MUL_NARROW: u8 = 3;

/// Any modulus of one limb. Chosen only where [`has_lanes`].
pub(crate) struct AddLanes;

/// Any modulus of one limb. Chosen only where [`has_lanes`].
pub(crate) struct SubLanes;

/// Any odd modulus of one limb, x·y < m·2⁶⁴. Chosen only where [`has_lanes`].
pub(crate) struct MulLanes;

impl Kernel for AddLanes {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb) {
        one_limb::Add::run(limbs, out, x, y, m, n0);
    }

    #[inline]
    fn run_lanes(limbs: &mut [Limb], lanes: [Strided; 3], count: usize, m: &[Limb], n0: Limb) {
        run::<ADD, one_limb::Add>(limbs, lanes, count, m, n0);
    }
}

impl Kernel for SubLanes {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb) {
        one_limb::Sub::run(limbs, out, x, y, m, n0);
    }

    #[inline]
    fn run_lanes(limbs: &mut [Limb], lanes: [Strided; 3], count: usize, m: &[Limb], n0: Limb) {
        run::<SUB, one_limb::Sub>(limbs, lanes, count, m, n0);
    }
}

impl Kernel for MulLanes {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb) {
        one_limb::MontMul::run(limbs, out, x, y, m, n0);
    }

    #[inline]
    fn run_lanes(limbs: &mut [Limb], lanes: [Strided; 3], count: usize, m: &[Limb], n0: Limb) {
        match m[0] >> 32 {
            0 => run::<MUL_NARROW, one_limb::MontMul>(limbs, lanes, count, m, n0),
            _ => run::<MUL, one_limb::MontMul>(limbs, lanes, count, m, n0),
        }
    }
}

/// Lanes of an operation, by vectors where there are some. Panics unless all slots lie inside the limbs.
#[inline(always)]
fn run<const OPERATION: u8, K: Kernel>(
    limbs: &mut [Limb],
    [out, x, y]: [Strided; 3],
    count: usize,
    m: &[Limb],
    n0: Limb,
) {
    assert!(m.len() == 1, "slots are limbs");
    let is_near = out.stride == 1 && x.stride <= 1 && y.stride <= 1;
    let pays = if is_near { count >= LANES_MIN } else { count >= GATHERED_MIN && OPERATION >= MUL };
    if !pays {
        return K::run_lanes(limbs, [out, x, y], count, m, n0);
    }
    let last = [out, x, y].map(|operand| operand.slot(count - 1)).into_iter().max();
    assert!(last.is_some_and(|last| last < limbs.len()), "operands lie inside the limbs");
    debug_assert!(has_lanes(), "the kernel fits the CPU");
    // SAFETY: `kernels` in the module above hands these types out only after `has_lanes`; slots grow from lane to lane, and the last of each
    // operand lies inside the slice, which is borrowed mutably.
    unsafe { in_vectors::<OPERATION>(limbs.as_mut_ptr(), [out, x, y], count, m[0], n0) };
}

/// Lanes of an operation in groups of up to eight, each read before it is written.
///
/// # Safety
/// The CPU has AVX-512 F and DQ. The slots of all lanes are valid at `limbs`, which nothing else accesses.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn in_vectors<const OPERATION: u8>(
    limbs: *mut Limb,
    [out, x, y]: [Strided; 3],
    count: usize,
    m: Limb,
    n0: Limb,
) {
    let field = Field { m: _mm512_set1_epi64(m as i64), inverse: _mm512_set1_epi64(n0.wrapping_neg() as i64) }; // The same bits.
    let mut first = 0;
    while first < count {
        let lanes = (count - first).min(LANES);
        // SAFETY: the caller vouches for the slots.
        unsafe {
            let (x, y) = (load(limbs, x, first, lanes), load(limbs, y, first, lanes));
            let result = match OPERATION {
                ADD => field.add(x, y),
                SUB => field.sub(x, y),
                MUL => field.mul(x, y),
                _ => field.mul_narrow(x, y),
            };
            store(limbs, out, first, lanes, result);
        }
        first += lanes;
    }
}

/// The slots of `lanes` lanes from `first` on; zeros beyond them.
///
/// # Safety
/// As [`in_vectors`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn load(limbs: *const Limb, from: Strided, first: usize, lanes: usize) -> Vector {
    // SAFETY: the caller vouches for the slots; no others are read.
    unsafe {
        let at = limbs.add(from.slot(first));
        match (from.stride, lanes) {
            (1, LANES) => _mm512_loadu_epi64(at.cast()),
            (1, _) => _mm512_maskz_loadu_epi64(present(lanes), at.cast()),
            (0, _) => _mm512_set1_epi64(at.read() as i64), // The same bits.
            (stride, _) => {
                let lane = |lane: usize| if lane < lanes { at.add(lane * stride).read() as i64 } else { 0 };
                _mm512_set_epi64(lane(7), lane(6), lane(5), lane(4), lane(3), lane(2), lane(1), lane(0))
            }
        }
    }
}

/// Writes the slots of `lanes` lanes from `first` on, one after the other.
///
/// # Safety
/// As [`in_vectors`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn store(limbs: *mut Limb, to: Strided, first: usize, lanes: usize, values: Vector) {
    // SAFETY: the caller vouches for the slots; no others are written.
    unsafe {
        let at = limbs.add(to.slot(first));
        match (to.stride, lanes) {
            (1, LANES) => _mm512_storeu_epi64(at.cast(), values),
            (1, _) => _mm512_mask_storeu_epi64(at.cast(), present(lanes), values),
            (stride, _) => {
                let mut values_in_turn = [0; LANES];
                _mm512_storeu_epi64(values_in_turn.as_mut_ptr().cast(), values);
                for (lane, value) in values_in_turn.into_iter().enumerate().take(lanes) {
                    at.add(lane * stride).write(value);
                }
            }
        }
    }
}

/// Mask of `lanes` lanes, eight at most.
#[inline(always)]
fn present(lanes: usize) -> __mmask8 {
    0xff >> (LANES - lanes)
}

/// m and m⁻¹ mod 2⁶⁴ in every lane.
#[derive(Clone, Copy)]
struct Field {
    m: Vector,
    inverse: Vector,
}

impl Field {
    /// s = x + y, minus m once if s ≥ m.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn add(self, x: Vector, y: Vector) -> Vector {
        let sum = _mm512_add_epi64(x, y);
        // Beyond 2⁶⁴, or not below m.
        let is_above = _mm512_cmplt_epu64_mask(sum, x) | _mm512_cmpge_epu64_mask(sum, self.m);
        _mm512_mask_sub_epi64(sum, is_above, sum, self.m)
    }

    /// d = x − y, plus m once if d < 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn sub(self, x: Vector, y: Vector) -> Vector {
        let difference = _mm512_sub_epi64(x, y);
        _mm512_mask_add_epi64(difference, _mm512_cmplt_epu64_mask(x, y), difference, self.m)
    }

    /// x·y·2⁻⁶⁴ mod m, for x·y < m·2⁶⁴.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn mul(self, x: Vector, y: Vector) -> Vector {
        let u = _mm512_mullo_epi64(_mm512_mullo_epi64(x, y), self.inverse);
        self.sub(high(x, y), high(u, self.m))
    }

    /// The same for x, y, m < 2³².
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn mul_narrow(self, x: Vector, y: Vector) -> Vector {
        let u = _mm512_mullo_epi64(_mm512_mul_epu32(x, y), self.inverse);
        // u·m in two parts: u₀·m is below 2⁶⁴, and with its upper half u₁·m is too.
        let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(u, self.m));
        let sum = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64::<32>(u), self.m), low);
        self.sub(_mm512_setzero_si512(), _mm512_srli_epi64::<32>(sum))
    }
}

/// ⌊x·y/2⁶⁴⌋ by four products of halves. No sum passes 2⁶⁴: (2³² − 1)² + 2³² − 1 is below it, and so is the outcome.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn high(x: Vector, y: Vector) -> Vector {
    let [x1, y1] = [_mm512_srli_epi64::<32>(x), _mm512_srli_epi64::<32>(y)];
    let x0y0 = _mm512_mul_epu32(x, y);
    let middle = _mm512_add_epi64(_mm512_mul_epu32(x1, y), _mm512_srli_epi64::<32>(x0y0));
    let low_of_middle = _mm512_and_si512(middle, _mm512_set1_epi64(0xffff_ffff));
    let second = _mm512_add_epi64(_mm512_mul_epu32(x, y1), low_of_middle);
    let upper = _mm512_add_epi64(_mm512_mul_epu32(x1, y1), _mm512_srli_epi64::<32>(middle));
    _mm512_add_epi64(upper, _mm512_srli_epi64::<32>(second))
}
