//! Sums and differences of products of slots, with one Montgomery reduction if the width has an array.

use alloc::vec;
use alloc::vec::Vec;

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
    let mut room = Room::of(context.width_limbs());
    let (sum, product) = room.parts();
    sum_one_by_one(context, signs, products, (sum, product));
    context.set_slot(out, sum);
}

/// Limbs up to which a sum avoids the allocator: it would cost more than a narrow product.
const NARROW_LIMBS_MAX: usize = 12;

/// Room for a sum and a product, which takes two values.
pub(super) struct Room {
    width: usize,
    narrow: [Limb; 3 * NARROW_LIMBS_MAX],
    wide: Vec<Limb>,
}

impl Room {
    /// Room for values of `width` limbs.
    pub(super) fn of(width: usize) -> Self {
        let wide = if width <= NARROW_LIMBS_MAX { Vec::new() } else { vec![0; 3 * width] };
        Self { width, narrow: [0; 3 * NARROW_LIMBS_MAX], wide }
    }

    /// The sum's, and the product's.
    pub(super) fn parts(&mut self) -> (&mut [Limb], &mut [Limb]) {
        let all = if self.wide.is_empty() { &mut self.narrow[..3 * self.width] } else { &mut self.wide[..] };
        all.split_at_mut(self.width)
    }
}

/// The same to `sum`, of staging slots too, by way of `product`, which has room for two values.
pub(super) fn sum_one_by_one(
    context: &FieldContext,
    signs: u8,
    products: &[[u16; 2]],
    (sum, product): (&mut [Limb], &mut [Limb]),
) {
    let multiply = context.product();
    let (width, m, n0) = (context.width_limbs(), context.modulus().limbs(), context.modulus().n0());
    let slot = |slot: u16| &context.limbs()[usize::from(slot) * width..][..width];
    sum.fill(0);
    for (place, &[x, y]) in products.iter().enumerate() {
        product[..width].copy_from_slice(slot(x));
        product[width..].copy_from_slice(slot(y));
        multiply(product, 0, 0, width, m, n0);
        let product = &product[..width];
        if signs >> place & 1 == 1 {
            if sub_assign(sum, product) != 0 {
                add_assign(sum, m);
            }
        } else if add_assign(sum, product) != 0 || !less_than(sum, m) {
            sub_assign(sum, m);
        }
    }
}
