//! The scalar twin: every step on 64-bit and 128-bit integers, equal to the IFMA kernel limb for limb.

use residue_modular::limbs;

use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::line::{ROW_LIMBS, unpack};
use crate::modulus_rows::{Constants, ModulusRows, ProductConstants};
use crate::rows::Rows;
use crate::shape::Shape;
use crate::tables::{BATCH_LANES, BatchStep, CarryStep, LinearStep, Plan, ReduceStep, SegmentKind};
use crate::transfer::{ByteOrder, Transfer};

/// The limbs of a row, padding included.
pub(crate) type Limbs = [i64; ROW_LIMBS];

/// Runs a plan on rows that exist.
pub(super) fn run(plan: &Plan, modulus: &ModulusRows, rows: &mut Rows) {
    let (constants, shape) = (&modulus.constants, modulus.shape());
    for segment in &plan.segments {
        let entries = segment.start as usize..segment.end as usize;
        match segment.kind {
            SegmentKind::Linear => plan.linear[entries].iter().for_each(|step| linear(rows, step)),
            SegmentKind::Carry => plan.carries[entries].iter().for_each(|step| carry(shape, rows, step)),
            SegmentKind::Reduce => {
                plan.reductions[entries].iter().for_each(|step| reduce(constants, shape, rows, step))
            }
            SegmentKind::Batch => {
                for step in &plan.batches[entries] {
                    batch(&constants.product, shape, rows, step, &plan.linear[step.companions()]);
                }
            }
        }
    }
}

/// out = x ± y, limb by limb.
pub(crate) fn linear(rows: &mut Rows, step: &LinearStep) {
    let (x, y) = (rows.row(step.x), rows.row(step.y));
    let out = core::array::from_fn(|i| if step.sign < 0 { x[i] - y[i] } else { x[i] + y[i] });
    rows.set_row(step.out, &out);
}

/// out = x, carried once.
pub(crate) fn carry(shape: Shape, rows: &mut Rows, step: &CarryStep) {
    let out = carried(&rows.row(step.x), shape);
    rows.set_row(step.out, &out);
}

/// out = x + k·M − (q − 1)·M, with q estimated from the top limb as [`crate::bounds::Bounds::reduced`] says.
pub(crate) fn reduce(constants: &Constants, shape: Shape, rows: &mut Rows, step: &ReduceStep) {
    let (mut x, bias) = (rows.row(step.x), constants.multiple(step.bias));
    for (x, bias) in x.iter_mut().zip(bias) {
        *x += bias;
    }
    let x = carried(&x, shape);
    // The top limb is not negative.
    let top = x[shape.limbs() - 1] as u64 >> constants.top_shift;
    let q = high(top, constants.mu);
    let m = |i: usize| constants.product.m[i];
    let out = core::array::from_fn(|i| {
        let above = if i == 0 || i >= shape.limbs() { 0 } else { high(q, m(i - 1)) };
        // Halves of 52 bits and limbs of at most 2⁵³.
        x[i] + (m(i) as i64) - (low(q, m(i)) as i64) - (above as i64)
    });
    rows.set_row(step.out, &out);
}

/// outᵢ = xᵢ·yᵢ/R for the eight lanes, all read before the companions run, and written after them.
pub(crate) fn batch(
    constants: &ProductConstants,
    shape: Shape,
    rows: &mut Rows,
    step: &BatchStep,
    companions: &[LinearStep],
) {
    let products = products(constants, shape, rows, step);
    companions.iter().for_each(|step| linear(rows, step));
    for (out, product) in step.out.iter().zip(&products) {
        rows.set_row(*out, product);
    }
}

/// The eight products of a batch, not yet written.
pub(crate) fn products(
    constants: &ProductConstants,
    shape: Shape,
    rows: &Rows,
    step: &BatchStep,
) -> [Limbs; BATCH_LANES] {
    core::array::from_fn(|lane| product(&rows.row(step.x[lane]), &rows.row(step.y[lane]), constants, shape.limbs()))
}

/// (x, y) ↦ (x′y′ + uM)/R with x′ = x + k·M, y′ = y + k·M, k of [`Shape::lift`], and u < R. Limbs are sums of halves of 52-bit products,
/// carried once. Requires x′ and y′ in [0, R).
pub(crate) fn product(x: &Limbs, y: &Limbs, constants: &ProductConstants, limbs: usize) -> Limbs {
    let [x, y] = [x, y].map(|operand| words(operand, &constants.lift));
    product_of_words(&x, &y, constants, limbs)
}

/// As [`product`] of operands that are lifted and carried.
fn product_of_words(x: &[u64; ROW_LIMBS], y: &[u64; ROW_LIMBS], constants: &ProductConstants, limbs: usize) -> Limbs {
    let mut t = [0u64; 2 * ROW_LIMBS];
    for i in 0..limbs {
        for j in 0..limbs {
            t[i + j] += low(x[j], y[i]);
            t[i + j + 1] += high(x[j], y[i]);
        }
        let u = t[i].wrapping_mul(constants.n0) & LIMB_MASK;
        // t[i] + low(u·M₀) is a multiple of 2⁵²: the least that is not below t[i].
        t[i + 1] += (t[i] + LIMB_MASK) >> ROW_LIMB_BITS;
        t[i + 1] += high(u, constants.m[0]);
        for j in 1..limbs {
            t[i + j] += low(u, constants.m[j]);
            t[i + j + 1] += high(u, constants.m[j]);
        }
    }
    let mut out = [0; ROW_LIMBS];
    for i in 0..limbs {
        let t = &t[limbs..];
        let carry = if i == 0 { 0 } else { t[i - 1] >> ROW_LIMB_BITS };
        let kept = if i + 1 < limbs { t[i] & LIMB_MASK } else { t[i] };
        out[i] = (kept + carry) as i64; // Sums of 4L halves are below 2⁵⁸.
    }
    out
}

/// Values to rows, all or, if some are not below the modulus, none; returns the set of lanes that are not.
pub(super) fn enter(transfer: &Transfer<'_>, bytes: &[u8], rows: &mut Rows) -> u8 {
    let modulus = transfer.modulus;
    let (width_limbs, limbs) = (modulus.width_limbs(), modulus.shape().limbs());
    let mut values = [[0; ROW_LIMBS]; BATCH_LANES];
    let mut above = 0;
    for (lane, offset) in transfer.offsets.iter().enumerate() {
        let value = &mut values[lane][..width_limbs];
        let bytes = &bytes[*offset..][..width_limbs * limbs::LIMB_BYTES];
        match transfer.order {
            ByteOrder::Big => limbs::read_be(bytes, value).expect("a value has 8n bytes"),
            ByteOrder::Little => {
                for (limb, bytes) in value.iter_mut().zip(bytes.as_chunks().0) {
                    *limb = u64::from_le_bytes(*bytes);
                }
            }
        }
        above |= u8::from(!limbs::less_than(value, modulus.modulus().limbs())) << lane;
    }
    if above == 0 {
        let factor = modulus.entry_factor(transfer.form);
        for (slot, value) in transfer.slots.iter().zip(&values) {
            let row = product(&unpack(&value[..width_limbs]), factor, &modulus.entry_constants, limbs);
            rows.set_row(*slot, &row);
        }
    }
    above
}

/// Rows to values below the modulus.
pub(super) fn leave(transfer: &Transfer<'_>, bytes: &mut [u8], rows: &Rows) {
    let modulus = transfer.modulus;
    let constants = &modulus.exit_constants;
    // Limbs of a factor are carried and not negative.
    let factor = modulus.exit_factor(transfer.form).map(|limb| limb as u64);
    let mut value = [0; ROW_LIMBS];
    let value = &mut value[..modulus.width_limbs()];
    for (slot, offset) in transfer.slots.iter().zip(transfer.offsets) {
        let x = words(&rows.row(*slot), &constants.lift);
        let row = product_of_words(&x, &factor, constants, modulus.shape().limbs());
        modulus.canonicalise(&row, value);
        let bytes = &mut bytes[*offset..][..value.len() * limbs::LIMB_BYTES];
        match transfer.order {
            ByteOrder::Big => limbs::write_be(value, bytes),
            ByteOrder::Little => {
                for (limb, bytes) in value.iter().zip(bytes.as_chunks_mut().0) {
                    *bytes = limb.to_le_bytes();
                }
            }
        }
    }
}

/// The 52-bit words of x + lift, which lies in [0, R): limbs fully carried.
fn words(x: &Limbs, lift: &[u64; ROW_LIMBS]) -> [u64; ROW_LIMBS] {
    let mut carry = 0;
    core::array::from_fn(|i| {
        let limb = x[i] + lift[i] as i64 + carry; // Limbs of a multiple of M are below 2⁵³.
        carry = limb >> ROW_LIMB_BITS;
        limb as u64 & LIMB_MASK // The low bits, whatever the sign.
    })
}

/// Every limb but the top one cut to 52 bits, the bits above added to the next, all at a time.
fn carried(x: &Limbs, shape: Shape) -> Limbs {
    let top = shape.limbs() - 1;
    let carry = |i: usize| if i < top { x[i] >> ROW_LIMB_BITS } else { 0 };
    core::array::from_fn(|i| {
        let kept = if i < top { x[i] & LIMB_MASK as i64 } else { x[i] };
        kept + if i == 0 { 0 } else { carry(i - 1) }
    })
}

/// The low 52 bits of a product of 52-bit words.
fn low(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) & LIMB_MASK
}

/// The high 52 bits of a product of 52-bit words.
fn high(a: u64, b: u64) -> u64 {
    // Below 2¹⁰⁴ before the shift.
    ((u128::from(a) * u128::from(b)) >> ROW_LIMB_BITS) as u64
}
