//! Values between bytes and rows, eight at a time: transposed in place, repacked between limbs of 64 and of 52 bits,
//! compared with the modulus and multiplied by the factor between the two Montgomery forms.

use core::arch::x86_64::*;

use super::Eights;
use crate::kernel::Kernel;
use crate::kernel::steps::batch::{line_of, transpose, turn_in};
use crate::kernel::steps::product::{divided, product, reduced};
use crate::kernel::steps::transfer::{WORD_BITS, canonical, less_m, packed, unpacked};
use crate::kernel::vectors::{Lines, Vectors};
use crate::line::ROW_LIMB_BITS;
use crate::line::{LINE_LIMBS, Line, ROW_LIMBS};
use crate::modulus_rows::Form;
use crate::rows::Rows;
use crate::tables::BATCH_LANES;
use crate::transfer::{ByteOrder, Transfer};

/// One word each of eight values.
type Vector = __m512i;

/// Bytes of such a word.
const WORD_BYTES: usize = 8;

/// Bytes to rows, as `super::super::scalar::enter`. Panics unless this machine has IFMA, the bytes and the rows exist.
pub(in crate::kernel) fn enter(transfer: &Transfer<'_>, bytes: &[u8], rows: &mut Rows) -> u8 {
    let (lanes, spare) = checked(transfer, bytes.len(), rows);
    let (limbs, lines) = (rows.shape().limbs(), rows.lines_mut().as_mut_ptr());
    // SAFETY: `checked` has found the features, the bytes of every lane, and the rows with a spare one after them.
    unsafe {
        match limbs {
            6 => enter_lanes::<6, 1>(transfer, &lanes, bytes.as_ptr(), spare, lines),
            8 => enter_lanes::<8, 1>(transfer, &lanes, bytes.as_ptr(), spare, lines),
            10 => enter_lanes::<10, 2>(transfer, &lanes, bytes.as_ptr(), spare, lines),
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
            10 => leave_lanes::<10, 2>(transfer, &lanes, bytes.as_mut_ptr(), lines),
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

/// Checks the kernels' assumptions. The row after the slots is spare.
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
        slots: core::array::from_fn(|lane| slots[at(lane)]),
        offsets: core::array::from_fn(|lane| offsets[at(lane)]),
        count,
    };
    (lanes, spare)
}

/// Words of a value in a line, and their byte order in memory.
#[derive(Clone, Copy)]
struct LineWords {
    /// Offset of its bytes in the value.
    offset: usize,
    /// The words that there are.
    present: __mmask8,
    /// Permutation of words, from and to memory: it is its own inverse.
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
/// The machine has the features. A value lies at `bytes` after every offset; the rows of all slots and the spare one exist at `rows`,
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
    // SAFETY: the machine has the features.
    let v = unsafe { Eights::new() };
    let mut words = [v.literal(0); ROW_LIMBS];
    for line in 0..width_limbs.div_ceil(LINE_LIMBS).min(N) {
        let of_line = LineWords::of(line, width_limbs, transfer.order);
        let mut values = [v.literal(0); BATCH_LANES];
        for (value, offset) in values.iter_mut().zip(lanes.offsets) {
            // SAFETY: the words present lie inside the value, which lies inside the bytes.
            let words = unsafe { _mm512_maskz_loadu_epi64(of_line.present, bytes.add(offset + of_line.offset).cast()) };
            *value = of_line.swapped(words);
        }
        words[line * LINE_LIMBS..][..LINE_LIMBS].copy_from_slice(&transpose(v, &values));
    }
    let x: [Vector; L] = unpacked(v, &words);
    // Lanes left over repeat the first, and are above the modulus when it is.
    let (borrow, _) = less_m(v, &x, &modulus.exit_constants);
    let above = (!v.negative(borrow) | beyond::<L>(v, &words)) & (0xff >> (BATCH_LANES - lanes.count));
    if above != 0 {
        return above;
    }
    let factor = broadcast::<L>(v, modulus.entry_factor(transfer.form));
    let out = product(v, &x, &factor, &modulus.entry_constants, &mut ());
    for line in 0..N {
        let turned = transpose(v, &line_of(v, &out, line));
        for lane in 0..BATCH_LANES {
            let slot = if lane < lanes.count { lanes.slots[lane] } else { spare };
            // SAFETY: the caller vouches for the rows.
            unsafe { v.store(rows, slot, line, N, turned[lane]) };
        }
    }
    0
}

/// # Safety
/// The machine has the features. A value may be written at `bytes` after every offset; the rows of all slots exist at `rows`, N lines
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
    // SAFETY: the machine has the features; the caller vouches for the rows.
    let (v, x) = unsafe {
        let v = Eights::new();
        (v, turn_in::<_, L, N>(v, &lanes.slots, constants, rows))
    };
    let x = match (transfer.form, modulus.exit_shift) {
        (Form::Canonical, _) => reduced(v, &x, constants),
        (Form::Mont, Some(shift)) => divided(v, &x, shift, constants),
        (Form::Mont, None) => product(v, &x, &broadcast(v, modulus.exit_factor(Form::Mont)), constants, &mut ()),
    };
    let words = packed(v, &canonical(v, &x, constants));
    let width_limbs = modulus.width_limbs();
    for line in 0..width_limbs.div_ceil(LINE_LIMBS).min(N) {
        let of_line = LineWords::of(line, width_limbs, transfer.order);
        let turned = transpose(v, &line_of(v, &words, line));
        for lane in 0..BATCH_LANES {
            let present = if lane < lanes.count { of_line.present } else { 0 };
            // SAFETY: the words present lie inside the value, which lies inside the bytes; a lane left over writes nothing.
            unsafe {
                let at = bytes.add(lanes.offsets[lane] + of_line.offset);
                _mm512_mask_storeu_epi64(at.cast(), present, of_line.swapped(turned[lane]));
            }
        }
    }
}

/// The lanes whose words are not below 2^(52L): [`unpacked`] does not see the rest.
#[inline(always)]
fn beyond<const L: usize>(v: Eights, words: &[Vector; ROW_LIMBS]) -> __mmask8 {
    let (first, bit) = (L * ROW_LIMB_BITS / WORD_BITS, L * ROW_LIMB_BITS % WORD_BITS);
    let mut rest = v.shifted_down(words[first], bit as u32); // Below 64.
    for above in first + 1..(first + 1).next_multiple_of(LINE_LIMBS) {
        rest = v.or(rest, words[above]);
    }
    v.non_zero(rest)
}

/// The same carried limbs in every lane.
#[inline(always)]
fn broadcast<const L: usize>(v: Eights, limbs: &[i64; ROW_LIMBS]) -> [Vector; L] {
    let mut turned = [v.literal(0); L];
    for i in 0..L {
        turned[i] = v.literal(limbs[i] as u64); // Not negative.
    }
    turned
}
