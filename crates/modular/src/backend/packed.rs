//! Packed steps: decoded as they are taken.

use residue_formula::PerOp;

use super::{Kernel, Squarings, known};
use crate::context::{FieldContext, PackedStep, Strided};

/// Packed steps on the slots of a context.
pub(super) fn run<const WIDTH: usize, Add: Kernel, Sub: Kernel, Mul: Kernel, Square: Squarings>(
    context: &mut FieldContext,
    names: PerOp<u8>,
    steps: &[PackedStep],
) {
    let PerOp([add, sub, mul]) = names;
    let (limbs, modulus) = context.parts();
    let (m, n0) = (known::<WIDTH>(modulus.limbs()), modulus.n0());
    let width = m.len();
    let mut left = steps;
    while let [step, after @ ..] = left {
        left = after;
        let [name, operands @ .., count] = *step;
        let [out, out_stride, x, x_stride, y, y_stride] = operands.map(usize::from);
        let lanes = [(out, out_stride), (x, x_stride), (y, y_stride)].map(|(index, stride)| Strided { index, stride });
        if name == add {
            Add::run_lanes(limbs, lanes, count.into(), m, n0);
        } else if name == sub {
            Sub::run_lanes(limbs, lanes, count.into(), m, n0);
        } else if name == mul && count == 1 && x == y {
            let mut squarings = 1;
            // In place, the same once more squares the result.
            while out == x && squarings < u16::MAX && left.first() == Some(step) {
                squarings += 1;
                left = &left[1..];
            }
            Square::run(limbs, out * width, x * width, squarings, m, n0);
        } else {
            assert_eq!(name, mul, "a step has the name of an operation");
            Mul::run_lanes(limbs, lanes, count.into(), m, n0);
        }
    }
}
