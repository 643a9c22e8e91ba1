//! Products in Fp2 = Fp[u] with u² = −1, an element in two slots: two sums of two products each, with one Montgomery
//! reduction a sum if the width has an array.

use super::portable::minus;
use super::sums::{Room, reduced, sum_one_by_one};
use super::{array, sum_rows};
use crate::context::{FieldContext, Fp2Strided};
use crate::limbs::Limb;

/// As [`FieldContext::mul_fp2`], for odd moduli of N limbs.
pub(super) fn of_width<const N: usize>(context: &mut FieldContext, operands: [Fp2Strided; 3], count: usize) {
    in_lanes(context, operands, count, |context, x, y, out| {
        let (limbs, modulus) = context.parts();
        let m: &[Limb; N] = array(modulus.limbs(), 0);
        let results = {
            let [x0, x1, y0, y1] = [x[0], x[1], y[0], y[1]].map(|slot| array::<N>(limbs, slot * N));
            // x₁·y₁ is subtracted as x₁·(m − y₁), of which m − y₁ is at most m.
            let (opposite, _) = minus(m, y1);
            let sum = |terms: [[&[Limb; N]; 2]; 2]| {
                let (t, top) = sum_rows(&terms, m, modulus.n0());
                reduced(t, top, m)
            };
            [sum([[x0, y0], [x1, &opposite]]), sum([[x0, y1], [x1, y0]])]
        };
        for (slot, result) in out.into_iter().zip(results) {
            limbs[slot * N..][..N].copy_from_slice(&result);
        }
    });
}

/// As [`FieldContext::mul_fp2`], for powers of two, and for widths that no array is compiled for.
pub(super) fn by_sums(context: &mut FieldContext, operands: [Fp2Strided; 3], count: usize) {
    in_lanes(context, operands, count, |context, x, y, out| {
        let [[x0, x1], [y0, y1]] = [x, y].map(|slots| slots.map(narrow));
        let width = context.width_limbs();
        let mut rooms = [Room::of(width), Room::of(width)];
        let sums = [(0b10, [[x0, y0], [x1, y1]]), (0, [[x0, y1], [x1, y0]])];
        for (room, (signs, products)) in rooms.iter_mut().zip(sums) {
            sum_one_by_one(context, signs, &products, room.parts());
        }
        let (limbs, _) = context.parts();
        for (slot, room) in out.into_iter().zip(&mut rooms) {
            limbs[slot * width..][..width].copy_from_slice(room.parts().0);
        }
    });
}

/// Slots are below 256.
fn narrow(slot: usize) -> u16 {
    u16::try_from(slot).expect("a context has few slots")
}

/// Multiplies lane by lane, by the slots of x, y and out. If a lane reads a result of another, all lanes are read
/// before results are written.
#[inline(always)]
fn in_lanes(
    context: &mut FieldContext,
    [out, x, y]: [Fp2Strided; 3],
    count: usize,
    multiply: impl Fn(&mut FieldContext, [usize; 2], [usize; 2], [usize; 2]),
) {
    if count == 1 {
        return multiply(context, x.slots(0), y.slots(0), out.slots(0));
    }
    if !reads_after_writes([out, x, y], count) {
        return (0..count).for_each(|lane| multiply(context, x.slots(lane), y.slots(lane), out.slots(lane)));
    }
    let waiting = context.staging(2 * count);
    for lane in 0..count {
        multiply(context, x.slots(lane), y.slots(lane), [waiting + 2 * lane, waiting + 2 * lane + 1]);
    }
    let width = context.width_limbs();
    let (limbs, _) = context.parts();
    for lane in 0..count {
        for (slot, from) in out.slots(lane).into_iter().zip(waiting + 2 * lane..) {
            limbs.copy_within(from * width..(from + 1) * width, slot * width);
        }
    }
    context.drop_staging();
}

/// True if a later lane may read a slot that an earlier one has written: true unless the slots are disjoint.
fn reads_after_writes([out, x, y]: [Fp2Strided; 3], count: usize) -> bool {
    let reach = |operand: Fp2Strided| {
        let ([a0, a1], [b0, b1]) = (operand.slots(0), operand.slots(count - 1));
        (a0.min(a1), b0.max(b1))
    };
    let (first, last) = reach(out);
    [x, y].into_iter().map(reach).any(|(from, to)| from <= last && first <= to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::portable;
    use crate::limbs::{less_than, n0_of};
    use crate::modulus::Modulus;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A value below m: at an edge, or anything.
    fn value<const N: usize>(rng: &mut ChaCha8Rng, m: &[Limb; N]) -> [Limb; N] {
        let mut one = [0; N];
        one[0] = 1;
        match rng.random_range(0..8) {
            0 => [0; N],
            1 => one,
            2 => minus(m, &one).0,
            _ => {
                let mut value: [Limb; N] = core::array::from_fn(|_| rng.random());
                value[N - 1] &= Limb::MAX >> m[N - 1].leading_zeros();
                while !less_than(&value, m) {
                    (value, _) = minus(&value, m);
                }
                value
            }
        }
    }

    /// Products of random elements in random slots under many moduli, the widest too, as products and sums of plain Rust make them.
    fn agree<const N: usize>(rounds: usize) {
        const SLOTS: usize = 6;
        let mut rng = ChaCha8Rng::seed_from_u64(300 + N as u64);
        for _ in 0..rounds / 1000 {
            let mut m: [Limb; N] = core::array::from_fn(|_| rng.random());
            match rng.random_range(0..4) {
                0 => m = [Limb::MAX; N],
                1 => m[N - 1] |= 1 << 63,
                2 => m[N - 1] >>= 2,
                _ => {}
            }
            m[0] |= 1;
            m[N - 1] |= 1 << 60;
            let be: Vec<u8> = m.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
            let mut context = FieldContext::new(Modulus::from_be_bytes(&be).unwrap(), SLOTS);
            let n0 = n0_of(m[0]);
            for _ in 0..1000 {
                let values: [[Limb; N]; SLOTS] = core::array::from_fn(|_| value(&mut rng, &m));
                (0..SLOTS).for_each(|slot| context.set_slot(slot, &values[slot]));
                let [out, x, y] = core::array::from_fn(|_| [(); 2].map(|()| rng.random_range(0..SLOTS)));
                let of = |first| Fp2Strided { first, stride: 1 };
                context.mul_fp2(of(out), of(x), of(y), 1);
                let product = |i: usize, j: usize| portable::mont_mul(&values[x[i]], &values[y[j]], &m, n0);
                let mut expected = values;
                expected[out[0]] = portable::sub(&product(0, 0), &product(1, 1), &m);
                expected[out[1]] = portable::add(&product(0, 1), &product(1, 0), &m);
                for (slot, value) in expected.iter().enumerate() {
                    assert_eq!(context.slot(slot), value, "{m:x?} {values:x?} {out:?} {x:?} {y:?}");
                }
            }
        }
    }

    #[test]
    fn products_agree_at_4_and_6_limbs() {
        agree::<4>(2_000_000);
        agree::<6>(2_000_000);
    }

    #[test]
    fn products_agree_at_other_widths() {
        agree::<1>(100_000);
        agree::<2>(100_000);
        agree::<3>(100_000);
        agree::<5>(100_000);
        agree::<7>(100_000);
        agree::<8>(100_000);
        agree::<11>(50_000);
        agree::<12>(100_000);
        agree::<13>(10_000);
    }
}
