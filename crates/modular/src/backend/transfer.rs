//! Values on their way between big-endian bytes and the slots of a context.
//!
//! A slot of an odd modulus m < R holds Montgomery form: a value v is stored as v·R² / R, a product with
//! [`Modulus::to_form`](crate::Modulus::to_form), and loaded as a product with 1. Where residues are canonical both factors are 1.

use alloc::vec;

use super::{Kernel, one_limb};
use crate::context::{FieldContext, ValueOutOfRange};
use crate::limbs::{LIMB_BYTES, Limb, less_than, read_be, sbb, write_be};
use crate::modulus::Modulus;

/// [`FieldContext::store`] for an odd modulus of N limbs and values of 8·N bytes.
pub(super) fn store<const N: usize, Mul: Kernel>(
    context: &mut FieldContext,
    first_slot: usize,
    be_bytes: &[u8],
) -> Result<(), ValueOutOfRange> {
    stored(context, first_slot, be_bytes, |value, m, modulus| {
        let to_form: &[Limb; N] = modulus.to_form().try_into().expect("the factor is a residue");
        let mut operands = [value, *to_form];
        Mul::run(operands.as_flattened_mut(), 0, 0, N, m, modulus.n0());
        operands[0]
    })
}

/// [`FieldContext::store`] for canonical residues of N limbs and values of 8·N bytes.
pub(super) fn store_canonical<const N: usize>(
    context: &mut FieldContext,
    first_slot: usize,
    be_bytes: &[u8],
) -> Result<(), ValueOutOfRange> {
    stored::<N>(context, first_slot, be_bytes, |value, _, _| value)
}

/// Stores values of 8·N bytes as what `residue` makes of each, its modulus in limbs and that modulus.
#[inline(always)]
fn stored<const N: usize>(
    context: &mut FieldContext,
    first_slot: usize,
    be_bytes: &[u8],
    residue: impl Fn([Limb; N], &[Limb; N], &Modulus) -> [Limb; N],
) -> Result<(), ValueOutOfRange> {
    let (limbs, modulus) = context.parts();
    let m: &[Limb; N] = modulus.limbs().try_into().expect("the kernels are those of the width");
    let values = || be_bytes.chunks_exact(N * LIMB_BYTES).map(from_be::<N>);
    // No slot changes before all values are seen.
    if let Some(at) = values().position(|value| !is_below(&value, m)) {
        return Err(ValueOutOfRange { slot: first_slot + at });
    }
    for (value, slot) in values().zip(limbs[first_slot * N..].chunks_exact_mut(N)) {
        slot.copy_from_slice(&residue(value, m, modulus));
    }
    Ok(())
}

/// [`FieldContext::load`] for canonical residues of N limbs and values of 8·N bytes.
pub(super) fn load_canonical<const N: usize>(context: &FieldContext, first_slot: usize, out: &mut [u8]) {
    for (bytes, slot) in out.chunks_exact_mut(N * LIMB_BYTES).zip(first_slot..) {
        write_be(context.slot(slot), bytes);
    }
}

/// [`FieldContext::load`] for an odd modulus of N limbs and values of 8·N bytes.
pub(super) fn load<const N: usize, Mul: Kernel>(context: &FieldContext, first_slot: usize, out: &mut [u8]) {
    let modulus = context.modulus();
    for (bytes, slot) in out.chunks_exact_mut(N * LIMB_BYTES).zip(first_slot..) {
        let value = canonical::<N, Mul>(context.slot(slot), modulus);
        for (bytes, limb) in bytes.as_chunks_mut::<LIMB_BYTES>().0.iter_mut().rev().zip(&value) {
            *bytes = limb.to_be_bytes();
        }
    }
}

/// [`FieldContext::less`] for an odd modulus of N limbs.
pub(super) fn less<const N: usize, Mul: Kernel>(context: &FieldContext, x: usize, y: usize) -> bool {
    let [x, y] = [x, y].map(|slot| canonical::<N, Mul>(context.slot(slot), context.modulus()));
    is_below(&x, &y)
}

/// Montgomery form ↦ the value in 0, …, m − 1, for an odd modulus of N limbs.
#[inline(always)]
fn canonical<const N: usize, Mul: Kernel>(mont: &[Limb], modulus: &Modulus) -> [Limb; N] {
    let mut operands = [[0; N]; 2];
    operands[0].copy_from_slice(mont);
    operands[1][0] = 1;
    Mul::run(operands.as_flattened_mut(), 0, 0, N, modulus.limbs(), modulus.n0());
    operands[0]
}

/// [`FieldContext::store`] for odd moduli of one limb and values of at most its bytes.
pub(crate) fn store_one_limb(
    context: &mut FieldContext,
    first_slot: usize,
    be_bytes: &[u8],
) -> Result<(), ValueOutOfRange> {
    match context.element_bytes() {
        2 => store_short::<2>(context, first_slot, be_bytes),
        3 => store_short::<3>(context, first_slot, be_bytes),
        4 => store_short::<4>(context, first_slot, be_bytes),
        8 => store_short::<8>(context, first_slot, be_bytes),
        _ => store_any_width(context, first_slot, be_bytes),
    }
}

/// The same for values of N bytes.
fn store_short<const N: usize>(
    context: &mut FieldContext,
    first_slot: usize,
    be_bytes: &[u8],
) -> Result<(), ValueOutOfRange> {
    let (limbs, modulus) = context.parts();
    let (m, n0, to_form) = (modulus.limbs()[0], modulus.n0(), modulus.to_form()[0]);
    let values = || be_bytes.as_chunks::<N>().0.iter().map(short_from_be);
    // No slot changes before all values are seen.
    if let Some(at) = values().position(|value| value >= m) {
        return Err(ValueOutOfRange { slot: first_slot + at });
    }
    for (value, slot) in values().zip(&mut limbs[first_slot..]) {
        *slot = one_limb::mont_mul(value, to_form, m, n0);
    }
    Ok(())
}

/// [`FieldContext::load`] for odd moduli of one limb and values of at most its bytes.
pub(crate) fn load_one_limb(context: &FieldContext, first_slot: usize, out: &mut [u8]) {
    match context.element_bytes() {
        2 => load_short::<2>(context, first_slot, out),
        3 => load_short::<3>(context, first_slot, out),
        4 => load_short::<4>(context, first_slot, out),
        8 => load_short::<8>(context, first_slot, out),
        _ => load_any_width(context, first_slot, out),
    }
}

/// The same for values of N bytes.
fn load_short<const N: usize>(context: &FieldContext, first_slot: usize, out: &mut [u8]) {
    let (m, n0) = (context.modulus().limbs()[0], context.modulus().n0());
    for (bytes, &slot) in out.as_chunks_mut::<N>().0.iter_mut().zip(&context.limbs()[first_slot..]) {
        bytes.copy_from_slice(&one_limb::mont_mul(slot, 1, m, n0).to_be_bytes()[LIMB_BYTES - N..]);
    }
}

/// At most eight big-endian bytes.
#[inline(always)]
fn short_from_be<const N: usize>(bytes: &[u8; N]) -> Limb {
    bytes.iter().fold(0, |limb, &byte| limb << 8 | Limb::from(byte))
}

/// [`FieldContext::store`] for every modulus and length of values.
pub(crate) fn store_any_width(
    context: &mut FieldContext,
    first_slot: usize,
    be_bytes: &[u8],
) -> Result<(), ValueOutOfRange> {
    let modulus = context.modulus();
    let mut limbs = vec![0; modulus.width_limbs()];
    for (value, slot) in be_bytes.chunks_exact(context.element_bytes()).zip(first_slot..) {
        let fits = read_be(value, &mut limbs).is_some() && less_than(&limbs, modulus.limbs());
        if !fits {
            return Err(ValueOutOfRange { slot });
        }
    }
    context.convert(first_slot, be_bytes);
    Ok(())
}

/// [`FieldContext::load`] for every modulus and length of values.
pub(crate) fn load_any_width(context: &FieldContext, first_slot: usize, out: &mut [u8]) {
    let (modulus, width) = (context.modulus(), context.width_limbs());
    let mut operands = vec![0; 2 * width];
    for (bytes, slot) in out.chunks_exact_mut(context.element_bytes()).zip(first_slot..) {
        operands[..width].copy_from_slice(context.slot(slot));
        if !modulus.is_canonical() {
            operands[width..].fill(0);
            operands[width] = 1;
            context.product()(&mut operands, 0, 0, width, modulus.limbs(), modulus.n0());
        }
        write_be(&operands[..width], bytes);
    }
}

/// [`FieldContext::less`] for every modulus.
pub(crate) fn less_any_width(context: &FieldContext, x: usize, y: usize) -> bool {
    let modulus = context.modulus();
    if modulus.is_canonical() {
        return less_than(context.slot(x), context.slot(y));
    }
    let [x, y] = [x, y].map(|slot| {
        let mut value = vec![0; modulus.width_limbs()];
        modulus.from_mont(context.slot(slot), &mut value);
        value
    });
    less_than(&x, &y)
}

/// 8·N big-endian bytes.
#[inline(always)]
fn from_be<const N: usize>(bytes: &[u8]) -> [Limb; N] {
    let mut limbs = [0; N];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks::<LIMB_BYTES>().0.iter().rev()) {
        *limb = Limb::from_be_bytes(*bytes);
    }
    limbs
}

/// Is v < m?
#[inline(always)]
fn is_below<const N: usize>(v: &[Limb; N], m: &[Limb; N]) -> bool {
    let mut borrow = 0;
    for i in 0..N {
        (_, borrow) = sbb(v[i], m[i], borrow);
    }
    borrow == 1
}
