//! Values between bytes and rows, eight at a time: turned where they lie, repacked between limbs of 64 and of 52 bits, compared with
//! the modulus and multiplied by the factor between the two Montgomery forms.

use core::arch::x86_64::*;

use super::product::{product, reduced, turn_in};
use super::vector::{Turned, Vector, broadcast, store, transpose};
use crate::kernel::Kernel;
use crate::modulus_rows::{Form, ModulusRows, ProductConstants};
use crate::plan::BATCH_LANES;
use crate::rows::{LINE_LIMBS, Line, ROW_LIMBS, Rows};
use crate::shape::{LIMB_MASK, ROW_LIMB_BITS};
use crate::transfer::{ByteOrder, Transfer};

/// Bits of a word of a value in bytes.
const WORD_BITS: usize = 64;
/// Bytes of such a word.
const WORD_BYTES: usize = 8;

/// Bytes to rows, as `super::super::scalar::enter`. Panics unless this machine has IFMA, the bytes and the rows exist.
pub(in crate::kernel) fn enter(transfer: &Transfer<'_>, bytes: &[u8], rows: &mut Rows) -> u8 {
    let (lanes, spare) = checked(transfer, bytes.len(), rows);
    let (limbs, lines) = (rows.shape().limbs(), rows.lines_mut().as_mut_ptr());
    // SAFETY: `checked` has found the features, the bytes of every lane, and the rows with a spare one behind them.
    unsafe {
        match limbs {
            6 => enter_lanes::<6, 1>(transfer, &lanes, bytes.as_ptr(), spare, lines),
            8 => enter_lanes::<8, 1>(transfer, &lanes, bytes.as_ptr(), spare, lines),
            15 => enter_lanes::<15, 2>(transfer, &lanes, bytes.as_ptr(), spare, lines),
            limbs => unreachable!("no shape has {limbs} limbs"),
        }
    }
}

/// Rows to bytes, as `super::super::scalar::leave`. Panics unless this machine has IFMA, the bytes and the rows exist.
pub(in crate::kernel) fn leave(transfer: &Transfer<'_>, bytes: &mut [u8], rows: &mut Rows) {
    let (lanes, _) = checked(transfer, bytes.len(), rows);
    let (limbs, lines) = (rows.shape().limbs(), rows.lines_mut().as_mut_ptr());
    // SAFETY: `checked` has found the features, the bytes of every lane, and the rows.
    unsafe {
        match limbs {
            6 => leave_lanes::<6, 1>(transfer, &lanes, bytes.as_mut_ptr(), lines),
            8 => leave_lanes::<8, 1>(transfer, &lanes, bytes.as_mut_ptr(), lines),
            15 => leave_lanes::<15, 2>(transfer, &lanes, bytes.as_mut_ptr(), lines),
            limbs => unreachable!("no shape has {limbs} limbs"),
        }
    }
}

/// Slot and offset of all eight lanes; those left over repeat the first.
struct Lanes {
    slots: [u16; BATCH_LANES],
    offsets: [usize; BATCH_LANES],
    count: usize,
}

/// Checks what the kernels rely on. The row behind the slots is spare.
fn checked(transfer: &Transfer<'_>, byte_count: usize, rows: &mut Rows) -> (Lanes, u16) {
    assert!(Kernel::Ifma.is_available(), "the machine has AVX-512 IFMA");
    let (slots, offsets) = (transfer.slots, transfer.offsets);
    let count = slots.len();
    assert!((1..=BATCH_LANES).contains(&count) && offsets.len() == count, "one to eight lanes, an offset for each");
    assert_eq!(rows.shape(), transfer.modulus.shape(), "rows and modulus have one shape");
    let value_bytes = transfer.modulus.width_limbs() * WORD_BYTES;
    assert!(value_bytes <= rows.shape().lines() * LINE_LIMBS * WORD_BYTES, "a value fits the lines of its row");
    let spare = rows.slot_count();
    rows.reserve(spare + 1);
    for (slot, offset) in slots.iter().zip(offsets) {
        assert!(*slot < spare, "slots lie inside the rows");
        assert!(offset.checked_add(value_bytes).is_some_and(|end| end <= byte_count), "values lie inside the bytes");
    }
    let at = |lane: usize| if lane < count { lane } else { 0 };
    let lanes = Lanes {
        slots: std::array::from_fn(|lane| slots[at(lane)]),
        offsets: std::array::from_fn(|lane| offsets[at(lane)]),
        count,
    };
    (lanes, spare)
}

/// Which words of a value a line holds, and how its bytes lie in memory.
#[derive(Clone, Copy)]
struct LineWords {
    /// Offset of its bytes in the value.
    offset: usize,
    /// The words that there are.
    present: __mmask8,
    /// Where each word comes from, and goes to: the same permutation, as it is its own inverse.
    order: Vector,
    is_big_endian: bool,
}

impl LineWords {
    /// Of line `line` of a value of `words` words, at least one of them in the line.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
    fn of(line: usize, words: usize, order: ByteOrder) -> Self {
        let first = line * LINE_LIMBS;
        let count = (words - first).min(LINE_LIMBS);
        let ascending = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        let is_big_endian = order == ByteOrder::Big;
        Self {
            // The last word comes first where bytes are big-endian.
            offset: WORD_BYTES * if is_big_endian { words - first - count } else { first },
            present: 0xff >> (LINE_LIMBS - count),
            order: match order {
                // At most 7.
                ByteOrder::Big => _mm512_sub_epi64(_mm512_set1_epi64(count as i64 - 1), ascending),
                ByteOrder::Little => ascending,
            },
            is_big_endian,
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
    fn swapped(self, words: Vector) -> Vector {
        if !self.is_big_endian {
            return words;
        }
        let reversed = _mm512_set_epi64(
            0x0809_0a0b_0c0d_0e0f,
            0x0001_0203_0405_0607,
            0x0809_0a0b_0c0d_0e0f,
            0x0001_0203_0405_0607,
            0x0809_0a0b_0c0d_0e0f,
            0x0001_0203_0405_0607,
            0x0809_0a0b_0c0d_0e0f,
            0x0001_0203_0405_0607,
        );
        _mm512_maskz_permutexvar_epi64(self.present, self.order, _mm512_shuffle_epi8(words, reversed))
    }
}

/// # Safety
/// The machine has the features. A value lies at `bytes` behind every offset; the rows of all slots and the spare one exist at `rows`,
/// N lines each, and nothing else accesses them; the shape of the modulus has L limbs in N lines, which a value fits.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
unsafe fn enter_lanes<const L: usize, const N: usize>(
    transfer: &Transfer<'_>,
    lanes: &Lanes,
    bytes: *const u8,
    spare: u16,
    rows: *mut Line,
) -> u8 {
    let modulus = transfer.modulus;
    let width_limbs = modulus.width_limbs();
    let mut words = [_mm512_setzero_si512(); ROW_LIMBS];
    for line in 0..width_limbs.div_ceil(LINE_LIMBS).min(N) {
        let of_line = LineWords::of(line, width_limbs, transfer.order);
        let mut values = [_mm512_setzero_si512(); BATCH_LANES];
        for (value, offset) in values.iter_mut().zip(lanes.offsets) {
            // SAFETY: the words present lie inside the value, which lies inside the bytes.
            let words = unsafe { _mm512_maskz_loadu_epi64(of_line.present, bytes.add(offset + of_line.offset).cast()) };
            *value = of_line.swapped(words);
        }
        words[line * LINE_LIMBS..][..LINE_LIMBS].copy_from_slice(&transpose(values));
    }
    let x = unpacked::<L>(&words);
    // Lanes left over repeat the first, and are above the modulus when it is.
    let above = (!below::<L>(&x, modulus).0 | beyond::<L>(&words)) & (0xff >> (BATCH_LANES - lanes.count));
    if above != 0 {
        return above;
    }
    let factor = turned_constant(modulus.entry_factor(transfer.form));
    let out = product::<L>(&x, &factor, &modulus.entry_constants, || ());
    for line in 0..N {
        let turned = std::array::from_fn(|i| out[line * LINE_LIMBS + i]);
        for (lane, row) in transpose(turned).into_iter().enumerate() {
            let slot = if lane < lanes.count { lanes.slots[lane] } else { spare };
            // SAFETY: the caller vouches for the rows.
            unsafe { store(rows, slot, line, N, row) };
        }
    }
    0
}

/// # Safety
/// The machine has the features. A value may be written at `bytes` behind every offset; the rows of all slots exist at `rows`, N lines
/// each; the shape of the modulus has L limbs in N lines, which a value fits.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
unsafe fn leave_lanes<const L: usize, const N: usize>(
    transfer: &Transfer<'_>,
    lanes: &Lanes,
    bytes: *mut u8,
    rows: *mut Line,
) {
    let modulus = transfer.modulus;
    let constants = &modulus.exit_constants;
    // SAFETY: the caller vouches for the rows.
    let x = unsafe { turn_in::<L, N>(&lanes.slots, constants, rows) };
    let v = match (transfer.form, modulus.exit_shift) {
        (Form::Canonical, _) => reduced::<L>(&x, constants),
        (Form::Mont, Some(shift)) => divided::<L>(&x, shift, constants),
        (Form::Mont, None) => product::<L>(&x, &turned_constant(modulus.exit_factor(Form::Mont)), constants, || ()),
    };
    let words = packed::<L>(&canonical::<L>(&v, modulus));
    let width_limbs = modulus.width_limbs();
    for line in 0..width_limbs.div_ceil(LINE_LIMBS).min(N) {
        let of_line = LineWords::of(line, width_limbs, transfer.order);
        let turned = std::array::from_fn(|i| words[line * LINE_LIMBS + i]);
        for (lane, value) in transpose(turned).into_iter().enumerate() {
            let present = if lane < lanes.count { of_line.present } else { 0 };
            // SAFETY: the words present lie inside the value, which lies inside the bytes; a lane left over writes nothing.
            unsafe {
                let at = bytes.add(lanes.offsets[lane] + of_line.offset);
                _mm512_mask_storeu_epi64(at.cast(), present, of_line.swapped(value));
            }
        }
    }
}

/// x ↦ (x + u·m)/2ᵈ with u < 2ᵈ: a Montgomery reduction by less than a limb. Requires carried limbs and 1 ≤ d ≤ 52.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn divided<const L: usize>(x: &Turned, shift: u32, constants: &ProductConstants) -> Turned {
    let (zero, mask) = (_mm512_setzero_si512(), broadcast(LIMB_MASK));
    let u = _mm512_madd52lo_epu64(zero, x[0], broadcast(constants.n0));
    let u = _mm512_and_si512(u, broadcast((1 << shift) - 1));
    let mut t = [zero; ROW_LIMBS];
    for i in 0..L {
        t[i] = _mm512_madd52lo_epu64(_mm512_and_si512(x[i], mask), u, broadcast(constants.m[i]));
    }
    for i in 1..L {
        t[i] = _mm512_madd52hi_epu64(t[i], u, broadcast(constants.m[i - 1]));
    }
    // x < 2ᵈ·m leaves no more above the top limb than u·m does, which is below 2^(52L).
    for i in 1..L {
        t[i] = _mm512_add_epi64(t[i], _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(t[i - 1]));
    }
    let (low, high) = (broadcast(u64::from(shift)), broadcast(ROW_LIMB_BITS as u64 - u64::from(shift)));
    let mut out = [zero; ROW_LIMBS];
    for i in 0..L {
        let kept = _mm512_srlv_epi64(_mm512_and_si512(t[i], mask), low);
        let above = if i + 1 < L {
            _mm512_and_si512(t[i + 1], mask)
        } else {
            _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(t[i])
        };
        out[i] = _mm512_add_epi64(kept, _mm512_and_si512(_mm512_sllv_epi64(above, high), mask));
    }
    out
}

/// Words of 64 bits ↦ limbs of 52. Requires values below 2^(52L).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn unpacked<const L: usize>(words: &Turned) -> Turned {
    let mut limbs = [_mm512_setzero_si512(); ROW_LIMBS];
    for (i, limb) in limbs.iter_mut().enumerate().take(L) {
        let (word, bit) = (i * ROW_LIMB_BITS / WORD_BITS, i * ROW_LIMB_BITS % WORD_BITS);
        let mut window = _mm512_srlv_epi64(words[word], broadcast(bit as u64));
        if bit + ROW_LIMB_BITS > WORD_BITS {
            let above = _mm512_sllv_epi64(words[word + 1], broadcast((WORD_BITS - bit) as u64));
            window = _mm512_or_si512(window, above);
        }
        *limb = _mm512_and_si512(window, broadcast(LIMB_MASK));
    }
    limbs
}

/// The lanes whose words are not below 2^(52L): [`unpacked`] does not see the rest.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn beyond<const L: usize>(words: &Turned) -> __mmask8 {
    let (first, bit) = (L * ROW_LIMB_BITS / WORD_BITS, L * ROW_LIMB_BITS % WORD_BITS);
    let mut rest = _mm512_srlv_epi64(words[first], broadcast(bit as u64)); // Below 64.
    for above in first + 1..(first + 1).next_multiple_of(LINE_LIMBS) {
        rest = _mm512_or_si512(rest, words[above]);
    }
    _mm512_test_epi64_mask(rest, rest)
}

/// Limbs of 52 bits ↦ words of 64. Requires carried limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn packed<const L: usize>(limbs: &Turned) -> Turned {
    let mut words = [_mm512_setzero_si512(); ROW_LIMBS];
    for (k, word) in words.iter_mut().enumerate().take((L * ROW_LIMB_BITS).div_ceil(WORD_BITS)) {
        let (limb, bit) = (k * WORD_BITS / ROW_LIMB_BITS, k * WORD_BITS % ROW_LIMB_BITS);
        *word = _mm512_srlv_epi64(limbs[limb], broadcast(bit as u64));
        let mut filled = ROW_LIMB_BITS - bit;
        for above in limb + 1..L {
            if filled >= WORD_BITS {
                break;
            }
            *word = _mm512_or_si512(*word, _mm512_sllv_epi64(limbs[above], broadcast(filled as u64)));
            filled += ROW_LIMB_BITS;
        }
    }
    words
}

/// Limbs of values below 2m, to be carried ↦ the carried limbs of v mod m.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn canonical<const L: usize>(v: &Turned, modulus: &ModulusRows) -> Turned {
    let mut carried = *v;
    for i in 0..L - 1 {
        carried[i + 1] = _mm512_add_epi64(carried[i + 1], _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(carried[i]));
        carried[i] = _mm512_and_si512(carried[i], broadcast(LIMB_MASK));
    }
    let (is_below, difference) = below::<L>(&carried, modulus);
    let mut out = [_mm512_setzero_si512(); ROW_LIMBS];
    for i in 0..L {
        out[i] = _mm512_mask_blend_epi64(is_below, difference[i], carried[i]);
    }
    out
}

/// The lanes with v < m, and the carried limbs of v − m in the others. Requires carried limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn below<const L: usize>(v: &Turned, modulus: &ModulusRows) -> (__mmask8, Turned) {
    let mut difference = [_mm512_setzero_si512(); ROW_LIMBS];
    let mut borrow = _mm512_setzero_si512();
    for i in 0..L {
        let limb = _mm512_sub_epi64(v[i], broadcast(modulus.exit_constants.m[i]));
        let limb = _mm512_add_epi64(limb, borrow);
        borrow = _mm512_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(limb);
        difference[i] = _mm512_and_si512(limb, broadcast(LIMB_MASK));
    }
    (_mm512_movepi64_mask(borrow), difference)
}

/// The same carried limbs in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn turned_constant(limbs: &[i64; ROW_LIMBS]) -> Turned {
    let mut turned = [_mm512_setzero_si512(); ROW_LIMBS];
    for (vector, limb) in turned.iter_mut().zip(limbs) {
        *vector = _mm512_set1_epi64(*limb);
    }
    turned
}
