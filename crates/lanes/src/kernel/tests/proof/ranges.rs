//! The rules of [`Bounds`] about values rather than limbs, checked against the outcomes in the theorems.

use num_bigint::BigInt;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::products::widest_operand;
use crate::bounds::{Bias, Bounds, UNIT};
use crate::shape::{MODULUS_BITS_MAX, Shape};

/// (A·B + U·M)/R with A ≤ a·M, B ≤ b·M, U < R and M/R < 2⁻ʰ is below (a·b·2⁻ʰ + 1)·M.
#[test]
fn products_keep_the_range_that_plans_count_with() {
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    for shape in (2..=MODULUS_BITS_MAX).map(|bits| Shape::of_bits(bits).unwrap()) {
        let widest = widest_operand(shape);
        let mut operands = vec![widest, shape.end_bounds(), Bounds::reduced(), Bounds { high: widest.low, ..widest }];
        operands.extend((0..12).map(|_| Bounds { high: rng.random_range(widest.low..=widest.high), ..widest }));
        operands.retain(|operand| operand.is_operand(shape));
        for x in &operands {
            for y in &operands {
                let product = x.product(*y, shape);
                let [a, b] = [x, y].map(|operand| BigInt::from(operand.high + shape.lift() * UNIT));
                let room = ((BigInt::from(product.high) - UNIT) * UNIT) << shape.headroom_bits();
                assert!(a * b <= room && product.low == 0, "{shape:?}: {x:?} times {y:?}");
            }
        }
    }
}

/// A sum that needs a bias gets one with which it may be reduced, and one that is lifted for a product may be its operand.
#[test]
fn biases_bring_values_where_steps_want_them() {
    for shape in (2..=MODULUS_BITS_MAX).map(|bits| Shape::of_bits(bits).unwrap()) {
        let most = shape.range_max();
        for low in [0, 1, most / 3, most - 1, most] {
            let sum = Bounds { limb: 1 << 62, low: -low * UNIT, high: most * UNIT };
            assert!(sum.is_sum(shape));
            assert!(sum.biased(Bias::at_least(sum.multiples_up_to(1)).multiple()).is_reducible(shape));
        }
        assert!(widest_operand(shape).is_operand(shape));
        assert!(shape.end_bounds().is_operand(shape) && shape.end_bounds().is_sum(shape));
    }
}
