//! Batches in a stream: while one multiplies, the products of the one before are turned back and written, then its companions run, then
//! the operands of the next are read and turned. Multiplying keeps half of a CPU's vector units busy, the rest the other half.
//!
//! So a batch may follow another in a stream only if it reads nothing that the other writes, its companions left aside; the plan says
//! which do. Steps are those of [`super::product`], for rows of eight limbs.

use core::mem::MaybeUninit;

use super::linear;
use super::product::{begin, carried_products, lifted, next_window};
use super::vector::{Turned, Vector, eights, fours, load, pairs, store};
use super::window::window;
use crate::modulus_rows::ProductConstants;
use crate::plan::{BATCH_LANES, BatchStep, LinearStep};
use crate::rows::{LINE_LIMBS, Line};

/// Portions in which a batch's companions run.
const PORTIONS: usize = 3;

/// The operands of eight products, turned.
struct Operands {
    x: [Vector; LINE_LIMBS],
    y: [Vector; LINE_LIMBS],
}

/// Companions still to run.
struct Companions<'a> {
    rest: &'a [LinearStep],
    portion: usize,
}

impl<'a> Companions<'a> {
    fn of(batch: &BatchStep, linear: &'a [LinearStep]) -> Self {
        let rest = &linear[batch.companions()];
        Self { rest, portion: rest.len().div_ceil(PORTIONS) }
    }

    /// Runs a portion of them; all have run after [`PORTIONS`].
    ///
    /// # Safety
    /// As [`run`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
    unsafe fn run_some(&mut self, rows: *mut Line) {
        let (some, rest) = self.rest.split_at(self.portion.min(self.rest.len()));
        self.rest = rest;
        for step in some {
            // SAFETY: the caller vouches for the rows.
            unsafe { linear::<1>(step, rows) };
        }
    }
}

/// Runs batches that may follow each other in a stream, with their companions, which are in the table of linear steps.
///
/// # Safety
/// The machine has the features. Every row that the batches and their companions name exists at `rows`, one line each, and nothing else
/// accesses them; the constants are of a shape with eight limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) unsafe fn run(batches: &[BatchStep], table: &[LinearStep], constants: &ProductConstants, rows: *mut Line) {
    let Some((mut batch, later)) = batches.split_first() else { return };
    let mut room = [const { MaybeUninit::<Operands>::uninit() }; 2];
    let [mut now, mut then] = room.each_mut().map(MaybeUninit::as_mut_ptr);
    // SAFETY: the caller vouches for the rows.
    let operands = |rows_of| unsafe { lifted::<LINE_LIMBS>(&eights(&fours(&pairs(&lines(rows_of, rows)))), constants) };
    // SAFETY: there is room for operands.
    unsafe { now.write(Operands { x: operands(&batch.x), y: operands(&batch.y) }) };
    // SAFETY: they have just been written.
    let (x, y) = unsafe { ((*now).x, &(*now).y) };
    let mut t = begin::<LINE_LIMBS>(&x, y[0]);
    t = window(&t, &x, y[0], y[1], constants);
    t = window(&t, &x, y[1], y[2], constants);
    for next in later {
        let companions = Companions::of(batch, table);
        // SAFETY: the caller vouches for the rows; now there are operands, then there is room for others.
        t = unsafe { multiply::<true>(t, &*now, companions, next, then, constants, rows) };
        (now, then) = (then, now);
        let turned = carried_products::<LINE_LIMBS>(&t);
        // SAFETY: `multiply` has written them.
        let (x, y) = unsafe { ((*now).x, &(*now).y) };
        t = begin::<LINE_LIMBS>(&x, y[0]);
        let turned = pairs(&first_line(&turned));
        t = window(&t, &x, y[0], y[1], constants);
        let turned = fours(&turned);
        t = window(&t, &x, y[1], y[2], constants);
        for (out, row) in batch.out.iter().zip(eights(&turned)) {
            // SAFETY: the caller vouches for the rows.
            unsafe { store(rows, *out, 0, 1, row) };
        }
        batch = next;
    }
    let companions = Companions::of(batch, table);
    // SAFETY: the caller vouches for the rows; there are operands.
    t = unsafe { multiply::<false>(t, &*now, companions, batch, then, constants, rows) };
    let turned = first_line(&carried_products::<LINE_LIMBS>(&t));
    for (out, row) in batch.out.iter().zip(eights(&fours(&pairs(&turned)))) {
        // SAFETY: the caller vouches for the rows.
        unsafe { store(rows, *out, 0, 1, row) };
    }
}

/// From the third window to the last, with the companions. If there is a `NEXT` batch, its operands are turned and written meanwhile.
///
/// # Safety
/// As [`run`]; there is room for the operands of the next batch.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn multiply<const NEXT: bool>(
    mut t: Turned,
    now: &Operands,
    mut companions: Companions<'_>,
    next: &BatchStep,
    then: *mut Operands,
    constants: &ProductConstants,
    rows: *mut Line,
) -> Turned {
    // A copy, which stays in registers.
    let (x, y) = (now.x, &now.y);
    let mut turned = first_line(&t);
    // SAFETY: the caller vouches for the rows and for the room.
    unsafe {
        companions.run_some(rows);
        t = window(&t, &x, y[2], y[3], constants);
        companions.run_some(rows);
        t = window(&t, &x, y[3], y[4], constants);
        companions.run_some(rows);
        t = window(&t, &x, y[4], y[5], constants);
        if NEXT {
            turned = fours(&pairs(&lines(&next.x, rows)));
        }
        t = window(&t, &x, y[5], y[6], constants);
        if NEXT {
            (&raw mut (*then).x).write(lifted::<LINE_LIMBS>(&eights(&turned), constants));
            turned = pairs(&lines(&next.y, rows));
        }
        t = window(&t, &x, y[6], y[7], constants);
        if NEXT {
            turned = fours(&turned);
        }
        t = next_window::<LINE_LIMBS>(&t, &x, y[LINE_LIMBS - 1], None, constants);
        if NEXT {
            (&raw mut (*then).y).write(lifted::<LINE_LIMBS>(&eights(&turned), constants));
        }
    }
    t
}

/// Eight rows of one line.
///
/// # Safety
/// As [`run`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn lines(from: &[u16; BATCH_LANES], rows: *mut Line) -> [Vector; LINE_LIMBS] {
    // SAFETY: the caller vouches for the rows.
    from.map(|row| unsafe { load(rows, row, 0, 1) })
}

/// The limbs of the first line.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn first_line(turned: &Turned) -> [Vector; LINE_LIMBS] {
    std::array::from_fn(|i| turned[i])
}
