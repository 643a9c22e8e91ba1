//! Sums and differences of products of slots, with one Montgomery reduction where the width has an array.

use super::portable::minus;
use super::{array, sum_rows};
use crate::context::{FieldContext, SUM_PRODUCTS_MAX};
use crate::limbs::{Limb, add_assign, less_than, sub_assign};

/// As [`FieldContext::sum_products`], for odd moduli of N limbs.
pub(super) fn of_width<const N: usize>(context: &mut FieldContext, out: usize, signs: u8, products: &[[u16; 2]]) {
    let (limbs, modulus) = context.parts();
    let m: &[Limb; N] = array(modulus.limbs(), 0);
    // A product is subtracted as x·(m − y), of which m − y is at most m.
    let mut opposites = [[0; N]; SUM_PRODUCTS_MAX];
    for (place, (opposite, &[_, y])) in opposites.iter_mut().zip(products).enumerate() {
        if signs >> place & 1 == 1 {
            (*opposite, _) = minus(m, array(limbs, usize::from(y) * N));
        }
    }
    let mut terms = [[m; 2]; SUM_PRODUCTS_MAX];
    for (place, (term, (slots, opposite))) in terms.iter_mut().zip(products.iter().zip(&opposites)).enumerate() {
        let [x, y] = slots.map(|slot| array(limbs, usize::from(slot) * N));
        *term = [x, if signs >> place & 1 == 1 { opposite } else { y }];
    }
    let (t, top) = sum_rows(&terms[..products.len()], m, modulus.n0());
    let sum = reduced(t, top, m);
    limbs[out * N..][..N].copy_from_slice(&sum);
}

/// t + top·2^(64N) ↦ its residue modulo m, which it exceeds a few times.
#[inline(always)]
pub(super) fn reduced<const N: usize>(mut t: [Limb; N], mut top: Limb, m: &[Limb; N]) -> [Limb; N] {
    loop {
        let (less, borrow) = minus(&t, m);
        if borrow > top {
            return t;
        }
        (t, top) = (less, top - borrow);
    }
}

/// As [`FieldContext::sum_products`], by products and sums of their own: for powers of two, and for widths that no array is compiled for.
pub(super) fn one_by_one(context: &mut FieldContext, out: usize, signs: u8, products: &[[u16; 2]]) {
    let sum = sum_one_by_one(context, signs, products);
    context.set_slot(out, &sum);
}

/// The same, without writing it.
pub(super) fn sum_one_by_one(context: &FieldContext, signs: u8, products: &[[u16; 2]]) -> Vec<Limb> {
    let multiply = context.product();
    let (width, m, n0) = (context.width_limbs(), context.modulus().limbs(), context.modulus().n0());
    let mut sum = vec![0; width];
    for (place, slots) in products.iter().enumerate() {
        let mut product = slots.map(|slot| context.slot(slot.into())).concat();
        multiply(&mut product, 0, 0, width, m, n0);
        let mut term = product[..width].to_vec();
        if signs >> place & 1 == 1 {
            term.copy_from_slice(m);
            sub_assign(&mut term, &product[..width]);
        }
        if add_assign(&mut sum, &term) != 0 || !less_than(&sum, m) {
            sub_assign(&mut sum, m);
        }
    }
    sum
}
