//! Products modulo M on turned rows, vector i holding limb i of each: lifting and carrying, multiplying in radix 2⁵², Montgomery reduction.
//!
//! [`product`] takes one group of rows, [`products`] several at a time, which hide each other's latency. A square is a product like any.

use super::companions::Between;
use crate::kernel::vectors::{Lines, Vectors};
use crate::line::LINE_LIMBS;
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::modulus_rows::ProductConstants;

/// x ↦ x + k·M, limbs carried one after the other: the low 52 bits of each are then the words of the value. The bits
/// above stay.
#[inline(always)]
pub(crate) fn lifted<V: Vectors, const L: usize>(
    v: V,
    x: &[V::Vector; L],
    constants: &ProductConstants<V::Word>,
) -> [V::Vector; L] {
    let mut out = *x;
    for i in 0..L {
        out[i] = v.add(x[i], v.broadcast(constants.lift[i]));
        if i > 0 {
            out[i] = v.add(out[i], v.carry(out[i - 1]));
        }
    }
    out
}

/// (x, y) ↦ (xy + uM)/R in every lane; `crate::kernel::scalar::product` defines the limbs. `between` runs L times on
/// the way.
///
/// The accumulators below the radix start at 2⁵² − 1: shifting one right by 52 then gives the carry of tᵢ + low(u·M₀), which is never
/// computed, and starting u at n0 makes up for the seed.
#[inline(always)]
pub(crate) fn product<V: Vectors, const L: usize>(
    v: V,
    x: &[V::Vector; L],
    y: &[V::Vector; L],
    constants: &ProductConstants<V::Word>,
    between: &mut impl Between,
) -> [V::Vector; L] {
    let mut t = v.pinned(&begin(v, x, y[0]));
    between.run_some();
    for i in 1..L {
        // Else compilers multiply when all has run that should run meanwhile.
        t = v.pinned(&next_window(v, &t, x, y[i - 1], Some(y[i]), constants));
        between.run_some();
    }
    carried_product(v, &next_window(v, &t, x, y[L - 1], None, constants))
}

/// The first window: seeds, with low(x·y).
#[inline(always)]
pub(crate) fn begin<V: Vectors, const L: usize>(v: V, x: &[V::Vector; L], y: V::Vector) -> [V::Vector; L] {
    let mut t = [v.literal(LIMB_MASK); L];
    add_low(v, &mut t, x, y);
    t
}

/// Window of accumulators with low(x·y) ↦ the next one up, with high(x·y), u·M and low(x·y′) added. Operations that
/// depend on u come last, as the next u waits for it.
#[inline(always)]
pub(crate) fn next_window<V: Vectors, const L: usize>(
    v: V,
    t: &[V::Vector; L],
    x: &[V::Vector; L],
    y: V::Vector,
    y_next: Option<V::Vector>,
    constants: &ProductConstants<V::Word>,
) -> [V::Vector; L] {
    let u = quotient_digit(v, t[0], constants);
    let carry = v.above(t[0]);
    let mut next = [v.literal(0); L];
    for j in 0..L {
        let above = if j + 1 < L { t[j + 1] } else { v.literal(0) };
        next[j] = v.add_high(above, x[j], y);
    }
    next[0] = v.add(next[0], carry);
    if let Some(y) = y_next {
        add_low(v, &mut next, x, y);
    }
    add_multiple(v, &mut next, u, constants);
    next
}

/// [`next_window`] for rows of one whole line, which has the last one: the two passes are a machine's own.
#[inline(always)]
pub(crate) fn next_window_of_line<V: Lines>(
    v: V,
    t: &[V::Vector; LINE_LIMBS],
    x: &[V::Vector; LINE_LIMBS],
    y: V::Vector,
    y_next: V::Vector,
    constants: &ProductConstants<V::Word>,
) -> [V::Vector; LINE_LIMBS] {
    let u = quotient_digit(v, t[0], constants);
    let carry = v.above(t[0]);
    let mut next = *t;
    for j in 1..LINE_LIMBS {
        next[j - 1] = t[j];
    }
    next[0] = v.add(next[0], carry);
    next[LINE_LIMBS - 1] = v.literal(0);
    v.add_products(&mut next, x, y, y_next);
    v.add_multiple(&mut next, u, &constants.m);
    next
}

/// Products as they leave: carried once. Sums of products then rarely need a step of their own for it.
#[inline(always)]
pub(crate) fn carried_product<V: Vectors, const L: usize>(v: V, t: &[V::Vector; L]) -> [V::Vector; L] {
    let mut out = *t;
    for i in 0..L - 1 {
        out[i] = v.and(t[i], v.literal(LIMB_MASK));
    }
    for i in 1..L {
        out[i] = v.add(out[i], v.above(t[i - 1]));
    }
    out
}

/// The low 52 bits of it are the u that makes t + u·M₀ a multiple of 2⁵², where t is the accumulator less its seed.
#[inline(always)]
fn quotient_digit<V: Vectors>(v: V, t: V::Vector, constants: &ProductConstants<V::Word>) -> V::Vector {
    let n0 = v.broadcast(constants.n0);
    v.add_low(n0, t, n0)
}

/// t += low(x·y), y one word.
#[inline(always)]
fn add_low<V: Vectors, const L: usize>(v: V, t: &mut [V::Vector; L], x: &[V::Vector; L], y: V::Vector) {
    for j in 0..L {
        t[j] = v.add_low(t[j], x[j], y);
    }
}

/// t += high(u·M) + low(u·M) one limb up: two passes, so that no sum waits for the one before it.
#[inline(always)]
fn add_multiple<V: Vectors, const L: usize>(
    v: V,
    t: &mut [V::Vector; L],
    u: V::Vector,
    constants: &ProductConstants<V::Word>,
) {
    for j in 0..L {
        t[j] = v.add_high(t[j], u, v.broadcast(constants.m[j]));
    }
    for j in 0..L - 1 {
        t[j] = v.add_low(t[j], u, v.broadcast(constants.m[j + 1]));
    }
}

/// x ↦ (x + uM)/R in every lane, x carried and u < R: [`product`] with one, at half the work.
#[inline(always)]
pub(crate) fn reduced<V: Vectors, const L: usize>(
    v: V,
    x: &[V::Vector; L],
    constants: &ProductConstants<V::Word>,
) -> [V::Vector; L] {
    let mut t = *x;
    let seed = v.literal(LIMB_MASK);
    for j in 0..L {
        t[j] = v.add(v.and(x[j], seed), seed);
    }
    for _ in 0..L {
        let u = quotient_digit(v, t[0], constants);
        let carry = v.above(t[0]);
        for j in 0..L {
            t[j] = if j + 1 < L { t[j + 1] } else { v.literal(0) };
        }
        t[0] = v.add(t[0], carry);
        add_multiple(v, &mut t, u, constants);
    }
    t
}

/// x ↦ (x + u·m)/2ᵈ with u < 2ᵈ: a Montgomery reduction by less than a limb. Requires carried limbs and 1 ≤ d ≤ 52.
#[inline(always)]
pub(crate) fn divided<V: Vectors, const L: usize>(
    v: V,
    x: &[V::Vector; L],
    shift: u32,
    constants: &ProductConstants<V::Word>,
) -> [V::Vector; L] {
    let (zero, mask) = (v.literal(0), v.literal(LIMB_MASK));
    let u = v.add_low(zero, x[0], v.broadcast(constants.n0));
    let u = v.and(u, v.literal((1 << shift) - 1));
    let mut t = *x;
    for i in 0..L {
        t[i] = v.add_low(v.and(x[i], mask), u, v.broadcast(constants.m[i]));
    }
    for i in 1..L {
        t[i] = v.add_high(t[i], u, v.broadcast(constants.m[i - 1]));
    }
    // x < 2ᵈ·m leaves no more above the top limb than u·m does, which is below 2^(52L).
    for i in 1..L {
        t[i] = v.add(t[i], v.above(t[i - 1]));
    }
    let mut out = *x;
    for i in 0..L {
        let kept = v.shifted_down(v.and(t[i], mask), shift);
        // The low d bits of the next limb; what is above the top one is less.
        let above = if i + 1 < L { t[i + 1] } else { v.above(t[i]) };
        out[i] = v.add(kept, v.and(v.shifted_up(above, ROW_LIMB_BITS as u32 - shift), mask));
    }
    out
}

/// [`product`] of K groups.
#[inline(always)]
pub(crate) fn products<V: Vectors, const L: usize, const K: usize>(
    v: V,
    x: &[[V::Vector; L]; K],
    y: &[[V::Vector; L]; K],
    constants: &ProductConstants<V::Word>,
    between: &mut impl Between,
) -> [[V::Vector; L]; K] {
    let mut t = *x;
    for k in 0..K {
        t[k] = begin(v, &x[k], y[k][0]);
    }
    between.run_some();
    for i in 1..L {
        next_windows::<V, L, K, false>(v, &mut t, x, y, i, constants);
        between.run_some();
    }
    next_windows::<V, L, K, true>(v, &mut t, x, y, L, constants);
    let mut out = t;
    for k in 0..K {
        out[k] = carried_product(v, &t[k]);
    }
    out
}

/// Windows of accumulators that have low(x·y[i − 1]) ↦ the next ones up, with high(x·y[i − 1]), u·M and, but for the last, low(x·y[i]) added.
#[inline(always)]
fn next_windows<V: Vectors, const L: usize, const K: usize, const LAST: bool>(
    v: V,
    t: &mut [[V::Vector; L]; K],
    x: &[[V::Vector; L]; K],
    y: &[[V::Vector; L]; K],
    i: usize,
    constants: &ProductConstants<V::Word>,
) {
    let zero = v.literal(0);
    let mut next = [[zero; L]; K];
    let mut u = [zero; K];
    for k in 0..K {
        u[k] = quotient_digit(v, t[k][0], constants);
    }
    for j in 0..L {
        for k in 0..K {
            let above = if j + 1 < L { t[k][j + 1] } else { zero };
            next[k][j] = v.add_high(above, x[k][j], y[k][i - 1]);
        }
    }
    if !LAST {
        for j in 0..L {
            for k in 0..K {
                next[k][j] = v.add_low(next[k][j], x[k][j], y[k][i]);
            }
        }
    }
    for j in 0..L {
        for k in 0..K {
            next[k][j] = v.add_high(next[k][j], u[k], v.broadcast(constants.m[j]));
        }
        if j == 0 {
            // The next u waits for this accumulator alone: its two products are not made to wait for each other.
            for k in 0..K {
                let low = v.add_low(v.above(t[k][0]), u[k], v.broadcast(constants.m[1]));
                next[k][0] = v.add(next[k][0], low);
            }
        } else if j + 1 < L {
            for k in 0..K {
                next[k][j] = v.add_low(next[k][j], u[k], v.broadcast(constants.m[j + 1]));
            }
        }
    }
    *t = next;
}
