//! Batches in a stream: while one multiplies, the products of the one before are turned back and written, then its companions run, then
//! the operands of the next are read and turned. Multiplying keeps half of a CPU's vector units busy, the rest the other half.
//!
//! So a batch may follow another in a stream only if it reads nothing that the other writes, its companions left aside; the plan says
//! which do. Steps are those of [`super::product`], for rows of eight limbs.

use core::mem::MaybeUninit;

use super::batch::{eights, fours, load_lines, pairs, transpose};
use super::companions::{Between, Companions};
use super::product::{begin, carried_product, lifted, next_window};
use crate::kernel::vectors::Lines;
use crate::line::LINE_LIMBS;
use crate::modulus_rows::ProductConstants;
use crate::tables::{BATCH_LANES, BatchStep, LinearStep};

/// Portions in which a batch's companions run.
const PORTIONS: usize = 3;

/// One limb each of eight rows, or eight lines.
type Turned<V> = [V; LINE_LIMBS];

/// The operands of eight products, turned.
pub(crate) struct Operands<V> {
    pub x: Turned<V>,
    pub y: Turned<V>,
}

/// Runs batches that may follow each other in a stream, with their companions, which are in the table of linear steps.
///
/// # Safety
/// Every row that the batches and their companions name exists at `rows`, one line each, and nothing else accesses them; the constants are
/// of a shape with eight limbs.
#[inline(always)]
pub(crate) unsafe fn run<V: Lines>(
    v: V,
    batches: &[BatchStep],
    table: &[LinearStep],
    constants: &ProductConstants<V::Word>,
    rows: V::Rows,
) {
    let Some((mut batch, later)) = batches.split_first() else { return };
    let mut room = [MaybeUninit::<Operands<V::Vector>>::uninit(), MaybeUninit::uninit()];
    let [first, second] = &mut room;
    let (mut now, mut then) = (first.as_mut_ptr(), second.as_mut_ptr());
    // SAFETY: the caller vouches for the rows; there is room for operands, which are then there.
    let (x, y) = unsafe {
        let (x_lines, y_lines) = (load_lines(v, &batch.x, rows, 0, 1), load_lines(v, &batch.y, rows, 0, 1));
        let x = lifted(v, &transpose(v, &x_lines), constants);
        now.write(Operands { x, y: lifted(v, &transpose(v, &y_lines), constants) });
        ((*now).x, &(*now).y)
    };
    let mut t = begin(v, &x, y[0]);
    t = v.window(&t, &x, y[0], y[1], constants);
    t = v.window(&t, &x, y[1], y[2], constants);
    for next in later {
        // SAFETY: the caller vouches for the rows; now there are operands, then there is room for others.
        t = unsafe {
            let companions = Companions::new(v, &table[batch.companions()], PORTIONS, rows);
            v.last_windows::<true>(t, &*now, companions, next, then, constants, rows)
        };
        (now, then) = (then, now);
        let turned = carried_product(v, &t);
        // SAFETY: `last_windows` has written them.
        let (x, y) = unsafe { ((*now).x, &(*now).y) };
        t = begin(v, &x, y[0]);
        let turned = pairs(v, &turned);
        t = v.window(&t, &x, y[0], y[1], constants);
        let turned = fours(v, &turned);
        t = v.window(&t, &x, y[1], y[2], constants);
        // SAFETY: the caller vouches for the rows.
        unsafe { store_lines(v, &batch.out, rows, &eights(v, &turned)) };
        batch = next;
    }
    // SAFETY: the caller vouches for the rows; there are operands.
    unsafe {
        let companions = Companions::new(v, &table[batch.companions()], PORTIONS, rows);
        t = v.last_windows::<false>(t, &*now, companions, batch, then, constants, rows);
        store_lines(v, &batch.out, rows, &transpose(v, &carried_product(v, &t)));
    }
}

/// From the third window to the last, with the companions. If there is a `NEXT` batch, its operands are turned and written meanwhile.
///
/// # Safety
/// As [`run`]; there is room for the operands of the next batch.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "references in a structure may overlap, for all that compilers know")]
pub(crate) unsafe fn last_windows<V: Lines, const NEXT: bool>(
    v: V,
    mut t: Turned<V::Vector>,
    now: &Operands<V::Vector>,
    mut companions: Companions<'_, V, 1>,
    next: &BatchStep,
    then: *mut Operands<V::Vector>,
    constants: &ProductConstants<V::Word>,
    rows: V::Rows,
) -> Turned<V::Vector> {
    // A copy, which stays in registers.
    let (x, y) = (now.x, &now.y);
    let mut turned = t;
    companions.run_some();
    t = v.window(&t, &x, y[2], y[3], constants);
    companions.run_some();
    t = v.window(&t, &x, y[3], y[4], constants);
    companions.run_some();
    t = v.window(&t, &x, y[4], y[5], constants);
    if NEXT {
        // SAFETY: the caller vouches for the rows.
        turned = fours(v, &pairs(v, &unsafe { load_lines(v, &next.x, rows, 0, 1) }));
    }
    t = v.window(&t, &x, y[5], y[6], constants);
    if NEXT {
        // SAFETY: the caller vouches for the room and for the rows.
        unsafe {
            (&raw mut (*then).x).write(lifted(v, &eights(v, &turned), constants));
            turned = pairs(v, &load_lines(v, &next.y, rows, 0, 1));
        }
    }
    t = v.window(&t, &x, y[6], y[7], constants);
    if NEXT {
        turned = fours(v, &turned);
    }
    t = next_window(v, &t, &x, y[LINE_LIMBS - 1], None, constants);
    if NEXT {
        // SAFETY: the caller vouches for the room.
        unsafe { (&raw mut (*then).y).write(lifted(v, &eights(v, &turned), constants)) };
    }
    t
}

/// Writes eight rows of one line.
///
/// # Safety
/// As [`run`].
#[inline(always)]
unsafe fn store_lines<V: Lines>(v: V, to: &[u16; BATCH_LANES], rows: V::Rows, lines: &Turned<V::Vector>) {
    for lane in 0..BATCH_LANES {
        // SAFETY: the caller vouches for the rows.
        unsafe { v.store(rows, to[lane], 0, 1, lines[lane]) };
    }
}
