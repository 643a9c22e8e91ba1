//! Products in Fp6 = Fp2[v] with v³ = ξ = a + b·u, over Fp2 = Fp[u] with u² = −1, an element in six slots: six sums of
//! six products each, with one Montgomery reduction a sum if the width has an array. Shared operands of the sums are
//! made once: ξ times two coefficients of y, and the opposites of imaginary parts.

use super::portable::minus;
use super::sums::{Room, reduced, sum_one_by_one};
use super::{array, sum_rows};
use crate::context::{FieldContext, Fp6Slots};
use crate::limbs::{Limb, mac};

/// As [`FieldContext::mul_fp6`], for odd moduli of N limbs.
pub(super) fn of_width<const N: usize>(context: &mut FieldContext, operands: &Fp6Slots) {
    let (limbs, modulus) = context.parts();
    let m: &[Limb; N] = array(modulus.limbs(), 0);
    let [x, y] = [operands.x, operands.y].map(|slots| slots.map(|slot| array::<N>(limbs, slot * N)));
    let top = Top::of(m);
    let xi = operands.xi.map(Limb::from);
    let [y0, y1, y2] = [0, 2, 4].map(|place| Coefficient::new(*y[place], *y[place + 1], m));
    let [round1, round2] = [&y1, &y2].map(|of| of.times(xi, m, &top));
    // Coefficient k is the sum of xᵢ·yⱼ over i + j = k, and over i + j = k + 3 times ξ.
    let rows = [[&y0, &round2, &round1], [&y1, &y0, &round2], [&y2, &y1, &y0]];
    let mut results = [[0; N]; 6];
    for (pair, [e0, e1, e2]) in results.chunks_exact_mut(2).zip(rows) {
        let sum = |terms: [[&[Limb; N]; 2]; 6]| {
            let (t, top) = sum_rows(&terms, m, modulus.n0());
            reduced(t, top, m)
        };
        // Imaginary parts are subtracted as their opposites, which are at most m.
        let (r0, r1, r2) = ([x[0], &e0.re], [x[2], &e1.re], [x[4], &e2.re]);
        pair[0] = sum([r0, [x[1], &e0.minus_im], r1, [x[3], &e1.minus_im], r2, [x[5], &e2.minus_im]]);
        let (s0, s1, s2) = ([x[1], &e0.re], [x[3], &e1.re], [x[5], &e2.re]);
        pair[1] = sum([[x[0], &e0.im], s0, [x[2], &e1.im], s1, [x[4], &e2.im], s2]);
    }
    for (slot, result) in operands.out.into_iter().zip(results) {
        limbs[slot * N..][..N].copy_from_slice(&result);
    }
}

/// An element of Fp2 with the opposite of its imaginary part, which is at most m.
struct Coefficient<const N: usize> {
    re: [Limb; N],
    im: [Limb; N],
    minus_im: [Limb; N],
}

impl<const N: usize> Coefficient<N> {
    fn new(re: [Limb; N], im: [Limb; N], m: &[Limb; N]) -> Self {
        let (minus_im, _) = minus(m, &im);
        Self { re, im, minus_im }
    }

    /// Times a + b·u for a and b below 256.
    fn times(&self, [a, b]: [Limb; 2], m: &[Limb; N], top: &Top) -> Self {
        let re = top.combination([(a, &self.re), (b, &self.minus_im)], m);
        let im = top.combination([(a, &self.im), (b, &self.re)], m);
        Self::new(re, im, m)
    }
}

/// The 64 highest bits of a modulus, the first of them 1, from its limb `place` shifted up by `shift`.
struct Top {
    place: usize,
    shift: u32,
    bits: Limb,
}

impl Top {
    fn of<const N: usize>(m: &[Limb; N]) -> Self {
        let place = m.iter().rposition(|&limb| limb != 0).expect("a modulus is not 0");
        let shift = m[place].leading_zeros();
        let below = if place == 0 { 0 } else { m[place - 1] };
        Self { place, shift, bits: high(m[place], below, shift) }
    }

    /// a·y + b·z mod m for a and b below 256 and y and z up to m: less than 510·m, of which a quotient by the highest bits leaves less than 3·m.
    fn combination<const N: usize>(&self, [(a, y), (b, z)]: [(Limb, &[Limb; N]); 2], m: &[Limb; N]) -> [Limb; N] {
        let mut t = [0; N];
        let (mut carry_y, mut carry_z) = (0, 0);
        for j in 0..N {
            (t[j], carry_y) = mac(0, a, y[j], carry_y);
            (t[j], carry_z) = mac(t[j], b, z[j], carry_z);
        }
        let over = carry_y + carry_z; // Each below 256.
        let q = self.quotient(&t, over);
        let (mut carry, mut borrow) = (0, 0);
        for j in 0..N {
            let low;
            (low, carry) = mac(0, q, m[j], carry);
            let (first, below) = t[j].overflowing_sub(low);
            let (rest, below_again) = first.overflowing_sub(borrow);
            (t[j], borrow) = (rest, Limb::from(below | below_again));
        }
        reduced(t, over - carry - borrow, m)
    }

    /// t + over·2^(64N), less than 512·m ↦ its quotient by m, or at most one less.
    fn quotient<const N: usize>(&self, t: &[Limb; N], over: Limb) -> Limb {
        let above = if self.place + 1 == N { over } else { t[self.place + 1] };
        let below = if self.place == 0 { 0 } else { t[self.place - 1] };
        let bits = high(t[self.place], below, self.shift);
        // In units of m's lowest bit here it is below 2⁷³; dropping sixteen bits leaves 57, and an error below 2⁻³⁷.
        let above = high(above, t[self.place], self.shift);
        (above << (Limb::BITS - DROPPED) | bits >> DROPPED) / ((self.bits >> DROPPED) + 1)
    }
}

/// Bits that a quotient does without.
const DROPPED: u32 = 16;

/// The high limb of two that are shifted up.
fn high(limb: Limb, below: Limb, shift: u32) -> Limb {
    if shift == 0 { limb } else { limb << shift | below >> (Limb::BITS - shift) }
}

/// As [`FieldContext::mul_fp6`], for powers of two, and for widths that no array is compiled for.
pub(super) fn by_sums(context: &mut FieldContext, operands: &Fp6Slots) {
    let width = context.width_limbs();
    let round = context.staging(8);
    let [y0, y1, y2] = [0, 2, 4].map(|place| [operands.y[place], operands.y[place + 1]]);
    let (round1, round2, room) = ([round, round + 1], [round + 2, round + 3], round + 4);
    times(context, operands.xi, (y1, round1), room);
    times(context, operands.xi, (y2, round2), room);
    let rows = [[y0, round2, round1], [y1, y0, round2], [y2, y1, y0]];
    let mut results: [Room; 6] = core::array::from_fn(|_| Room::of(width));
    for (pair, row) in results.chunks_exact_mut(2).zip(rows) {
        let products = |is_real: bool| -> [[u16; 2]; 6] {
            core::array::from_fn(|place| {
                let [re, im] = row[place / 2];
                [operands.x[place], if (place % 2 == 0) == is_real { re } else { im }].map(narrow)
            })
        };
        sum_one_by_one(context, 0b10_1010, &products(true), pair[0].parts());
        sum_one_by_one(context, 0, &products(false), pair[1].parts());
    }
    context.drop_staging();
    let (limbs, _) = context.parts();
    for (slot, result) in operands.out.into_iter().zip(&mut results) {
        limbs[slot * width..][..width].copy_from_slice(result.parts().0);
    }
}

/// (a + b·u)·from to the slots `to`, by way of four slots.
fn times(context: &mut FieldContext, [a, b]: [u8; 2], ([re, im], to): ([usize; 2], [usize; 2]), room: usize) {
    let [a_re, b_im, a_im, b_re] = [room, room + 1, room + 2, room + 3];
    for (factor, from, to) in [(a, re, a_re), (b, im, b_im), (a, im, a_im), (b, re, b_re)] {
        multiple(context, factor, from, to);
    }
    let [add, sub] = context.additions();
    sub(context, to[0], a_re, b_im);
    add(context, to[1], a_im, b_re);
}

/// factor·from to the slot `to`, by doubling and adding.
fn multiple(context: &mut FieldContext, factor: u8, from: usize, to: usize) {
    let width = context.width_limbs();
    context.parts().0[to * width..][..width].fill(0);
    let [add, _] = context.additions();
    for bit in (0..u8::BITS - factor.leading_zeros()).rev() {
        add(context, to, to, to);
        if factor >> bit & 1 == 1 {
            add(context, to, to, from);
        }
    }
}

/// Slots are below 256, and a few staging slots after them.
fn narrow(slot: usize) -> u16 {
    u16::try_from(slot).expect("a context has few slots")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs::less_than;
    use crate::modulus::Modulus;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const SLOTS: usize = 20;

    /// A value below m: at an edge, or anything.
    fn value<const N: usize>(rng: &mut ChaCha8Rng, m: &[Limb; N]) -> [Limb; N] {
        let mut one = [0; N];
        one[0] = 1;
        match rng.random_range(0..8) {
            0 => [0; N],
            1 => one,
            2 => minus(m, &one).0,
            // R − 1 modulo m.
            3 if m[N - 1] >> 63 == 1 => minus(&[Limb::MAX; N], m).0,
            _ => {
                let mut value: [Limb; N] = core::array::from_fn(|_| rng.random());
                let top = m.iter().rposition(|&limb| limb != 0).unwrap();
                value[top + 1..].fill(0);
                value[top] &= Limb::MAX >> m[top].leading_zeros();
                while !less_than(&value, m) {
                    (value, _) = minus(&value, m);
                }
                value
            }
        }
    }

    fn modulus<const N: usize>(rng: &mut ChaCha8Rng) -> [Limb; N] {
        let mut m: [Limb; N] = core::array::from_fn(|_| rng.random());
        match rng.random_range(0..6) {
            0 => m = [Limb::MAX; N],
            1 => m[N - 1] |= 1 << 63,
            2 => m[N - 1] = m[N - 1] >> 2 | 1 << 60,
            3 => m[N - 1] = 1,
            4 => m[N / 2..].fill(0), // In more limbs than it needs.
            _ => {}
        }
        m[0] |= 3;
        m
    }

    /// Products of random elements in random slots under many moduli, the widest too, as products and sums of slots one by one make them.
    fn agree<const N: usize>(rounds: usize) {
        let mut rng = ChaCha8Rng::seed_from_u64(600 + N as u64);
        for _ in 0..rounds / 100 {
            let m = modulus::<N>(&mut rng);
            let be: Vec<u8> = m.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
            let mut context = FieldContext::new(Modulus::with_width(&be, N).unwrap(), SLOTS);
            for _ in 0..100 {
                (0..SLOTS).for_each(|slot| context.set_slot(slot, &value(&mut rng, &m)));
                let mut slots = || core::array::from_fn(|_| rng.random_range(0..SLOTS));
                let [out, x, y] = [slots(), slots(), slots()];
                let xi = [[1, 1], [9, 1], [0, 1], [255, 255], rng.random()][rng.random_range(0..5)];
                let operands = Fp6Slots { out, x, y, xi };
                let mut plain = context.clone();
                by_sums(&mut plain, &operands);
                context.mul_fp6(&operands);
                for slot in 0..SLOTS {
                    assert_eq!(context.slot(slot), plain.slot(slot), "{m:x?} {operands:?}");
                }
            }
        }
    }

    #[test]
    fn products_agree_at_4_and_6_limbs() {
        agree::<4>(200_000);
        agree::<6>(200_000);
    }

    #[test]
    fn products_agree_at_other_widths() {
        agree::<1>(50_000);
        agree::<2>(20_000);
        agree::<3>(20_000);
        agree::<5>(20_000);
        agree::<7>(20_000);
        agree::<8>(20_000);
        agree::<11>(5_000);
        agree::<12>(20_000);
    }
}
