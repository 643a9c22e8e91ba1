//! Steps in the form that EIP-6690 gives instructions: eight bytes each.

use residue_formula::PerOp;

use super::{FieldContext, Strided};
use crate::backend;

/// Lanes of one operation: its name, then index and stride of out, x and y, and the number of lanes.
pub type PackedStep = [u8; 8];

impl FieldContext {
    /// Takes steps in their order, of the operations with these names. Each must be [apart](is_apart). Panics on slots beyond the context and on other
    /// names.
    #[inline]
    pub fn run_packed(&mut self, names: PerOp<u8>, steps: &[PackedStep]) {
        (self.kernels.packed)(self, names, steps);
    }
}

/// True if no lane of a step reads what an earlier one writes: it is the same then if all are read before any is written. There must be a lane, and
/// the stride of out must not be 0.
#[inline(always)]
pub fn is_apart(step: &PackedStep) -> bool {
    let [_, operands @ .., count] = *step;
    let [out, out_stride, x, x_stride, y, y_stride] = operands.map(usize::from);
    match count {
        1 => true,
        2 => out != x + x_stride && out != y + y_stride,
        _ => is_apart_in_lanes([(out, out_stride), (x, x_stride), (y, y_stride)], count.into()),
    }
}

#[inline(never)]
fn is_apart_in_lanes(operands: [(usize, usize); 3], count: usize) -> bool {
    let [out, x, y] = operands.map(|(index, stride)| Strided { index, stride });
    !backend::reads_after_writes(out, x, count) && !backend::reads_after_writes(out, y, count)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::modulus::Modulus;

    const NAMES: PerOp<u8> = PerOp([0xa0, 0xa1, 0xa2]);
    const SLOTS: usize = 20;

    /// A step on existing slots, of a few lanes that may wait for each other, with results in different slots.
    fn step(random: &mut impl Rng, names: &[u8]) -> PackedStep {
        let count = [1, 1, 2, 2, 3, 4][random.random_range(0..6)];
        let mut operand = |least| {
            let stride = random.random_range(least..4);
            [random.random_range(0..SLOTS - stride * (count - 1)), stride].map(|byte| u8::try_from(byte).unwrap())
        };
        let [[out, out_stride], [x, x_stride], y] = [operand(1), operand(0), operand(0)];
        // Squares, often in place.
        let [x, x_stride] = if x % 4 == 0 { [out, out_stride] } else { [x, x_stride] };
        let [y, y_stride] = if y[0] % 2 == 0 { [x, x_stride] } else { y };
        [
            names[random.random_range(0..names.len())],
            out,
            out_stride,
            x,
            x_stride,
            y,
            y_stride,
            u8::try_from(count).unwrap(),
        ]
    }

    fn context(random: &mut impl Rng, width_limbs: usize, is_odd: bool) -> FieldContext {
        let mut bytes: Vec<u8> = (0..8 * width_limbs).map(|_| random.random()).collect();
        bytes[0] |= 1 << random.random_range(0..8);
        if is_odd {
            bytes[8 * width_limbs - 1] |= 1;
        } else {
            bytes[1..].fill(0);
            bytes[0] = 0x40;
        }
        let mut context = FieldContext::new(Modulus::with_width(&bytes, width_limbs).unwrap(), SLOTS);
        for slot in 0..SLOTS {
            let value: Vec<u8> = (0..8 * width_limbs).map(|_| random.random()).collect();
            context.store_any(slot, &value);
            context.add(Strided::contiguous(slot), Strided::contiguous(slot), Strided::contiguous(slot), 1);
        }
        context
    }

    /// The lanes of a step one by one.
    fn by_lanes(context: &mut FieldContext, step: &PackedStep) {
        let [name, operands @ .., count] = *step;
        for lane in 0..usize::from(count) {
            let [out, x, y] = [0, 2, 4].map(|at| {
                let [index, stride] = [operands[at], operands[at + 1]].map(usize::from);
                Strided::contiguous(index + stride * lane)
            });
            match name {
                0xa0 => context.add(out, x, y, 1),
                0xa1 => context.sub(out, x, y, 1),
                _ => context.mul(out, x, y, 1),
            }
        }
    }

    #[test]
    fn packed_steps_are_their_lanes_one_by_one() {
        let mut random = ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6543);
        for width_limbs in 1..=13 {
            for round in 0..60 {
                let mut context = context(&mut random, width_limbs, round % 6 != 0);
                let mut expected = context.clone();
                let mut steps: Vec<PackedStep> =
                    (0..60).map(|_| step(&mut random, &NAMES.0)).filter(is_apart).collect();
                let again = steps[7];
                steps.splice(7..7, [again; 3]);
                context.run_packed(NAMES, &steps);
                steps.iter().for_each(|step| by_lanes(&mut expected, step));
                for slot in 0..SLOTS {
                    assert_eq!(
                        context.slot(slot),
                        expected.slot(slot),
                        "{width_limbs} limbs, round {round}, slot {slot}"
                    );
                }
            }
        }
    }

    #[test]
    fn steps_are_apart_if_no_lane_reads_what_an_earlier_one_writes() {
        let mut random = ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6544);
        let mut apart = [0; 2];
        for _ in 0..200_000 {
            let step = step(&mut random, &[0xa0]);
            let [_, out, out_stride, x, x_stride, y, y_stride, count] = step.map(usize::from);
            let reads = |lane: usize| [x + x_stride * lane, y + y_stride * lane];
            let waits =
                (0..count).any(|lane| (0..lane).any(|before| reads(lane).contains(&(out + out_stride * before))));
            assert_eq!(is_apart(&step), !waits, "{step:?}");
            apart[usize::from(waits)] += 1;
        }
        assert!(apart[0] > 50_000 && apart[1] > 10_000, "{apart:?}");
    }

    #[test]
    #[should_panic(expected = "a step has the name of an operation")]
    fn a_step_of_another_name_panics() {
        context(&mut ChaCha8Rng::seed_from_u64(1), 4, true).run_packed(NAMES, &[[0xa3, 0, 1, 0, 1, 0, 1, 1]]);
    }
}
