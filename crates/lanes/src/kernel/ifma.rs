//! The IFMA kernel: linear steps on whole rows, products on eight rows at a time, turned so that a vector holds one limb of each.
//!
//! A batch loads sixteen rows, transposes and carries them, multiplies in radix 2⁵² and transposes back; the tables say which rows.
//! `super::scalar` defines every step; the tests hold the two equal bit for bit.

use core::arch::x86_64::*;

use super::Kernel;
use crate::modulus_rows::{Constants, ModulusRows, ProductConstants};
use crate::plan::{BATCH_LANES, BatchStep, CarryStep, LinearStep, Plan, ReduceStep, SegmentKind};
use crate::rows::{LINE_LIMBS, Line, ROW_LIMBS, Rows};
use crate::shape::{LIMB_MASK, ROW_LIMB_BITS};

/// Eight 64-bit elements: a line of a row, or one limb of eight rows.
type Vector = __m512i;
/// Eight rows turned: limb i of all of them in vector i.
type Turned = [Vector; ROW_LIMBS];

/// Runs a plan on rows that exist. Panics unless this machine has IFMA.
pub(super) fn run(plan: &Plan, modulus: &ModulusRows, rows: &mut Rows) {
    let lines = rows.lines_mut();
    assert!(lines.len() >= usize::from(plan.row_count) * plan.shape.lines(), "the rows reach to the plan's row count");
    assert!(Kernel::Ifma.is_available(), "the machine has AVX-512 IFMA");
    let (constants, rows) = (&modulus.constants, lines.as_mut_ptr());
    // SAFETY: the machine has the features; `rows` reaches to `row_count` rows of the shape's lines, and `Plan::new` checked that
    // tables name no others; plan and modulus have one shape, so multiples exist for every bias.
    unsafe {
        match plan.shape.limbs() {
            6 => run_tables::<6, 1>(plan, constants, rows),
            8 => run_tables::<8, 1>(plan, constants, rows),
            15 => run_tables::<15, 2>(plan, constants, rows),
            limbs => unreachable!("no shape has {limbs} limbs"),
        }
    }
}

/// Runs one batch. Panics unless this machine has IFMA and the rows exist.
pub(super) fn run_batch(constants: &ProductConstants, rows: &mut Rows, step: &BatchStep) {
    let shape = rows.shape();
    let lines = rows.lines_mut();
    let highest = [step.out, step.x, step.y].into_iter().flatten().map(usize::from).max().expect("a batch has lanes");
    assert!((highest + 1) * shape.lines() <= lines.len(), "the rows of the batch exist");
    assert!(Kernel::Ifma.is_available(), "the machine has AVX-512 IFMA");
    let rows = lines.as_mut_ptr();
    // SAFETY: the machine has the features, and the rows that the step names exist.
    unsafe {
        match shape.limbs() {
            6 => batch::<6, 1>(step, &[], constants, rows),
            8 => batch::<8, 1>(step, &[], constants, rows),
            15 => batch::<15, 2>(step, &[], constants, rows),
            limbs => unreachable!("no shape has {limbs} limbs"),
        }
    }
}

/// The tables of a plan, segment by segment. L limbs in N lines a row.
///
/// # Safety
/// The machine has the features. Every row that the plan's tables name exists at `rows`, N lines each, and nothing else accesses them;
/// the constants are of the plan's shape, which has L limbs in N lines.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn run_tables<const L: usize, const N: usize>(plan: &Plan, constants: &Constants, rows: *mut Line) {
    for segment in &plan.segments {
        let entries = segment.start as usize..segment.end as usize;
        // SAFETY: the caller vouches for every row of the tables and for the constants.
        unsafe {
            match segment.kind {
                SegmentKind::Linear => plan.linear[entries].iter().for_each(|step| linear::<N>(step, rows)),
                SegmentKind::Carry => plan.carries[entries].iter().for_each(|step| carry::<L, N>(step, rows)),
                SegmentKind::Reduce => {
                    plan.reductions[entries].iter().for_each(|step| reduce::<L, N>(step, constants, rows));
                }
                SegmentKind::Batch => {
                    for step in &plan.batches[entries] {
                        batch::<L, N>(step, &plan.linear[step.companions()], &constants.product, rows);
                    }
                }
            }
        }
    }
}

/// out = x ± y. Which sign is a mask, not a branch: signs follow no pattern that a CPU could predict. −y = (y ^ −1) + 1.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn linear<const N: usize>(step: &LinearStep, rows: *mut Line) {
    let sign = _mm512_set1_epi64(i64::from(step.sign));
    for line in 0..N {
        // SAFETY: the caller vouches for the rows.
        unsafe {
            let x = _mm512_sub_epi64(load(rows, step.x, line, N), sign);
            let y = _mm512_xor_si512(load(rows, step.y, line, N), sign);
            store(rows, step.out, line, N, _mm512_add_epi64(x, y));
        }
    }
}

/// out = x with limbs carried once.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn carry<const L: usize, const N: usize>(step: &CarryStep, rows: *mut Line) {
    // SAFETY: the caller vouches for the rows.
    unsafe {
        let x = std::array::from_fn(|line| load(rows, step.x, line, N));
        let out = carried::<L, N>(&x);
        for (line, out) in out.into_iter().enumerate() {
            store(rows, step.out, line, N, out);
        }
    }
}

/// out = x + k·M − (q − 1)·M.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn reduce<const L: usize, const N: usize>(step: &ReduceStep, constants: &Constants, rows: *mut Line) {
    let multiple = usize::from(step.bias.0) * N;
    // SAFETY: the caller vouches for the rows and the multiples.
    let x: [Vector; N] = unsafe {
        std::array::from_fn(|line| {
            let bias = _mm512_load_si512(constants.multiples.as_ptr().add(multiple + line).cast());
            _mm512_add_epi64(load(rows, step.x, line, N), bias)
        })
    };
    let x = carried::<L, N>(&x);
    let top = _mm512_permutexvar_epi64(_mm512_set1_epi64(((L - 1) % LINE_LIMBS) as i64), x[(L - 1) / LINE_LIMBS]);
    let top = _mm512_srlv_epi64(top, _mm512_set1_epi64(i64::from(constants.top_shift)));
    let q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), top, broadcast(constants.mu));
    for (line, x) in x.into_iter().enumerate() {
        let [negated, m, shifted] =
            [&constants.negated_lines, &constants.m_lines, &constants.shifted_lines].map(|lines| vector(&lines[line]));
        let multiple = _mm512_madd52hi_epu64(_mm512_madd52lo_epu64(negated, q, m), q, shifted);
        // SAFETY: the caller vouches for the rows.
        unsafe { store(rows, step.out, line, N, _mm512_sub_epi64(x, multiple)) };
    }
}

/// outᵢ = xᵢ·yᵢ/R for eight rows, all read before the companions run, and written after them. Companions load and store while
/// the products multiply: each keeps busy what the other leaves idle.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn batch<const L: usize, const N: usize>(
    step: &BatchStep,
    companions: &[LinearStep],
    constants: &ProductConstants,
    rows: *mut Line,
) {
    // SAFETY: the caller vouches for the rows.
    let [x, y] = unsafe { [turn_in::<L, N>(&step.x, constants, rows), turn_in::<L, N>(&step.y, constants, rows)] };
    let mut portions = companions.chunks(companions.len().div_ceil(L).max(1));
    let product = product::<L>(&x, &y, constants, || {
        for step in portions.next().unwrap_or_default() {
            // SAFETY: the caller vouches for the rows.
            unsafe { linear::<N>(step, rows) };
        }
    });
    for line in 0..N {
        let turned = std::array::from_fn(|i| product[line * LINE_LIMBS + i]);
        for (out, row) in step.out.iter().zip(transpose(turned)) {
            // SAFETY: the caller vouches for the rows.
            unsafe { store(rows, *out, line, N, row) };
        }
    }
}

/// Eight rows turned and lifted, limbs carried one after the other: the low 52 bits of each are then the words of the value.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn turn_in<const L: usize, const N: usize>(
    from: &[u16; BATCH_LANES],
    constants: &ProductConstants,
    rows: *mut Line,
) -> Turned {
    let mut turned = [_mm512_setzero_si512(); ROW_LIMBS];
    for line in 0..N {
        // SAFETY: the caller vouches for the rows.
        let lines = from.map(|row| unsafe { load(rows, row, line, N) });
        turned[line * LINE_LIMBS..][..LINE_LIMBS].copy_from_slice(&transpose(lines));
    }
    for i in 0..L {
        turned[i] = _mm512_add_epi64(turned[i], broadcast(constants.lift[i]));
        if i > 0 {
            turned[i] = _mm512_add_epi64(turned[i], _mm512_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(turned[i - 1]));
        }
    }
    turned
}

/// (x, y) ↦ (xy + uM)/R in eight lanes; `super::scalar::product` says what the limbs are. `between` is called L times on the way.
///
/// The accumulators below the radix start at 2⁵² − 1: shifting one right by 52 then gives the carry of tᵢ + low(u·M₀), which is never
/// computed, and starting u at n0 makes up for the seed.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn product<const L: usize>(x: &Turned, y: &Turned, constants: &ProductConstants, mut between: impl FnMut()) -> Turned {
    let mut t = [_mm512_setzero_si512(); ROW_LIMBS];
    t[..L].fill(broadcast(LIMB_MASK));
    add_low::<L>(&mut t, x, y[0]);
    between();
    for i in 1..L {
        t = next_window::<L>(&t, x, y[i - 1], Some(y[i]), constants);
        between();
    }
    t = next_window::<L>(&t, x, y[L - 1], None, constants);
    // Carried once: sums of products then rarely need a step of their own for it.
    let mut out = t;
    for i in 0..L - 1 {
        out[i] = _mm512_and_si512(t[i], broadcast(LIMB_MASK));
    }
    for i in 1..L {
        out[i] = _mm512_add_epi64(out[i], _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(t[i - 1]));
    }
    out
}

/// t += low(x·y), y one word.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn add_low<const L: usize>(t: &mut Turned, x: &Turned, y: Vector) {
    for j in 0..L {
        t[j] = _mm512_madd52lo_epu64(t[j], x[j], y);
    }
}

/// A window of accumulators that has low(x·y) ↦ the next one up, with high(x·y), u·M and low(x·y′) added.
/// What waits for u comes last: the next u waits for it.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn next_window<const L: usize>(
    t: &Turned,
    x: &Turned,
    y: Vector,
    y_next: Option<Vector>,
    constants: &ProductConstants,
) -> Turned {
    let n0 = broadcast(constants.n0);
    let u = _mm512_madd52lo_epu64(n0, t[0], n0);
    let carry = _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(t[0]);
    let mut next = [_mm512_setzero_si512(); ROW_LIMBS];
    for j in 0..L {
        let above = if j + 1 < L { t[j + 1] } else { _mm512_setzero_si512() };
        next[j] = _mm512_madd52hi_epu64(above, x[j], y);
    }
    next[0] = _mm512_add_epi64(next[0], carry);
    if let Some(y) = y_next {
        add_low::<L>(&mut next, x, y);
    }
    for (j, next) in next.iter_mut().enumerate().take(L) {
        *next = _mm512_madd52hi_epu64(*next, u, broadcast(constants.m[j]));
        if j + 1 < L {
            *next = _mm512_madd52lo_epu64(*next, u, broadcast(constants.m[j + 1]));
        }
    }
    next
}

/// Every limb but the top one of L cut to 52 bits, what was above added to the next, all at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn carried<const L: usize, const N: usize>(x: &[Vector; N]) -> [Vector; N] {
    let zero = _mm512_setzero_si512();
    let mask = broadcast(LIMB_MASK);
    let mut carry_below = zero;
    let mut out = *x;
    for line in 0..N {
        let below_top: __mmask8 = if (line + 1) * LINE_LIMBS < L { 0xff } else { (1 << ((L - 1) % LINE_LIMBS)) - 1 };
        let carry = _mm512_maskz_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(below_top, x[line]);
        let kept = _mm512_mask_and_epi64(x[line], below_top, x[line], mask);
        // One limb up: the lowest comes from the line below.
        out[line] = _mm512_add_epi64(kept, _mm512_alignr_epi64::<7>(carry, carry_below));
        carry_below = carry;
    }
    out
}

/// Element j of vector i ↦ element i of vector j.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn transpose(rows: [Vector; 8]) -> [Vector; 8] {
    let low = |i: usize| _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
    let high = |i: usize| _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    // Pairs of rows: columns 0 2 4 6, and 1 3 5 7.
    let even: [Vector; 4] = [low(0), low(1), low(2), low(3)];
    let odd: [Vector; 4] = [high(0), high(1), high(2), high(3)];
    let columns = |p: [Vector; 4]| {
        let a = _mm512_shuffle_i64x2::<0x88>(p[0], p[1]); // Columns 0, 4 of rows 0 to 3.
        let b = _mm512_shuffle_i64x2::<0xdd>(p[0], p[1]); // Columns 2, 6.
        let c = _mm512_shuffle_i64x2::<0x88>(p[2], p[3]);
        let d = _mm512_shuffle_i64x2::<0xdd>(p[2], p[3]);
        [
            _mm512_shuffle_i64x2::<0x88>(a, c),
            _mm512_shuffle_i64x2::<0x88>(b, d),
            _mm512_shuffle_i64x2::<0xdd>(a, c),
            _mm512_shuffle_i64x2::<0xdd>(b, d),
        ]
    };
    let ([c0, c2, c4, c6], [c1, c3, c5, c7]) = (columns(even), columns(odd));
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn broadcast(word: u64) -> Vector {
    _mm512_set1_epi64(word as i64) // The same 64 bits.
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn vector(line: &Line) -> Vector {
    // SAFETY: a line is 64 bytes, aligned.
    unsafe { _mm512_load_si512(core::ptr::from_ref(line).cast()) }
}

/// # Safety
/// The row exists at `rows`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn load(rows: *const Line, row: u16, line: usize, lines: usize) -> Vector {
    // SAFETY: the caller vouches for the row; lines are aligned.
    unsafe { _mm512_load_si512(rows.add(usize::from(row) * lines + line).cast()) }
}

/// # Safety
/// The row exists at `rows`, and nothing else accesses it.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn store(rows: *mut Line, row: u16, line: usize, lines: usize, value: Vector) {
    // SAFETY: the caller vouches for the row; lines are aligned.
    unsafe { _mm512_store_si512(rows.add(usize::from(row) * lines + line).cast(), value) }
}
