//! The theorems, for every shape.

use super::facts::radix;
use super::polynomial::Wide;
use super::products::{self, Way, check_product, lane, widest_operand};
use super::setting::Setting;
use super::sums::{self, RowStep};
use super::symbols::Proof;
use super::transfers::{self, Part};
use crate::bounds::{Bounds, UNIT};
use crate::kernel::steps::product::{begin, carried_product, lifted, next_window};
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::shape::{MODULUS_BITS_MAX, Shape};

/// One shape for every number of limbs and bits of M.
fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<_> = (2..=MODULUS_BITS_MAX).map(|bits| Shape::of_bits(bits).unwrap()).collect();
    shapes.dedup();
    assert_eq!(shapes.len(), 4 * 37);
    shapes
}

/// The widest and the narrowest modulus of each number of limbs, and those of BLS12-381 and BW6-761.
fn few_shapes() -> Vec<Shape> {
    [254, 308, 376, 381, 412, 480, 512, 516, 740, 761, 776].map(|bits| Shape::of_bits(bits).unwrap()).to_vec()
}

fn prove_product(way: Way, shape: Shape) {
    let (_, outcome) = match shape.limbs() {
        6 => products::prove::<6, 1>(way, shape, None),
        8 => products::prove::<8, 1>(way, shape, None),
        10 => products::prove::<10, 2>(way, shape, None),
        _ => products::prove::<15, 2>(way, shape, None),
    };
    assert_eq!(outcome, Ok(()), "{way:?}, {shape:?}");
}

#[test]
fn products_are_proved_for_every_shape() {
    for shape in shapes() {
        prove_product(Way::Lane, shape);
        prove_product(Way::Lanes, shape);
        if shape.limbs() == 8 {
            prove_product(Way::Line, shape);
        }
    }
}

#[test]
fn batches_are_proved_from_rows_to_rows() {
    for shape in few_shapes() {
        for way in [Way::Batch, Way::Quads(1)] {
            prove_product(way, shape);
        }
        // Those of two lines run as eights.
        if shape.lines() == 1 {
            prove_product(Way::Quads(2), shape);
        }
        if shape.limbs() == 8 {
            prove_product(Way::Stream, shape);
        }
    }
}

#[test]
fn steps_on_rows_are_proved_for_every_shape() {
    for shape in shapes() {
        for step in [RowStep::Linear(0), RowStep::Linear(-1), RowStep::Carry, RowStep::Reduce] {
            let (_, outcome) = match shape.limbs() {
                6 => sums::prove::<6, 1>(step, shape, None),
                8 => sums::prove::<8, 1>(step, shape, None),
                10 => sums::prove::<10, 2>(step, shape, None),
                _ => sums::prove::<15, 2>(step, shape, None),
            };
            assert_eq!(outcome, Ok(()), "{step:?}, {shape:?}");
        }
    }
}

#[test]
fn transfers_are_proved_for_every_shape() {
    for shape in shapes() {
        let limbs = shape.limbs();
        let mut parts = vec![
            Part::Words,
            Part::Reduced,
            Part::Canonical { is_below: true },
            Part::Canonical { is_below: false },
            Part::LessModulus,
            Part::Unpacked,
            Part::Packed,
        ];
        // R/2⁶⁴ⁿ, where it is at most 2⁵².
        let shifts = (1..=16).filter_map(|words| (limbs * ROW_LIMB_BITS).checked_sub(64 * words));
        let shifts = shifts.filter(|shift| (1..=ROW_LIMB_BITS).contains(shift));
        parts.extend(shifts.map(|shift| Part::Divided(shift as u32))); // At most 52.
        for part in parts {
            let (_, outcome) = match limbs {
                6 => transfers::prove::<6>(part, shape, None),
                8 => transfers::prove::<8>(part, shape, None),
                10 => transfers::prove::<10>(part, shape, None),
                _ => transfers::prove::<15>(part, shape, None),
            };
            assert_eq!(outcome, Ok(()), "{part:?}, {shape:?}");
        }
    }
}

/// A product of eight limbs whose setting or whose windows are changed.
fn changed_product(setting: &Setting<'_>, bounds: Bounds, windows: usize) -> Result<(), String> {
    let v = setting.proof.machine::<1>();
    let constants = &setting.constants.product;
    let [x, y] = [0, 1].map(|row| lifted(v, &lane::<8>(setting, row, bounds), constants));
    let mut t = begin(v, &x, y[0]);
    for i in 1..windows {
        t = next_window(v, &t, &x, y[i - 1], Some(y[i]), constants);
    }
    let out = carried_product(v, &next_window(v, &t, &x, y[windows - 1], None, constants)).map(|[limb]| limb);
    let [a, b] = [0, 1].map(|row| {
        let mut sum = Wide::of_limbs(&setting.given(row));
        sum.add_wide(&setting.sum(&constants.lift), &radix(0));
        sum
    });
    setting.proof.failure().map_or(Ok(()), Err)?;
    check_product(setting, &a, &b, &out, bounds.product(bounds, setting.shape))
}

#[test]
fn products_are_not_proved_where_they_are_wrong() {
    let shape = Shape::of_bits(381).unwrap();
    let outcome = |change: &dyn Fn(&mut Setting<'_>, &mut Bounds), windows| {
        let proof = Proof::new(None);
        let (mut setting, mut bounds) = (Setting::new(&proof, shape), widest_operand(shape));
        change(&mut setting, &mut bounds);
        changed_product(&setting, bounds, windows)
    };
    assert_eq!(outcome(&|_, _| {}, 8), Ok(()));
    let is_wrong =
        |outcome: Result<(), String>| assert_eq!(outcome.unwrap_err(), "the outcome times R is not A·B + U·M");
    // A window too few.
    is_wrong(outcome(&|_, _| {}, 7));
    // Any number for n0, any for the lowest limb of M: neither is the other's negative inverse.
    let other = |setting: &Setting<'_>| setting.proof.given(0, i128::from(LIMB_MASK));
    is_wrong(outcome(&|setting, _| setting.constants.product.n0 = other(setting), 8));
    is_wrong(outcome(&|setting, _| setting.constants.product.m[0] = other(setting), 8));
    // Limbs that overflow when they are lifted.
    let overflow = outcome(&|_, bounds| bounds.limb = (1 << 63) - 1, 8).unwrap_err();
    assert!(overflow.starts_with("a lane overflows"), "{overflow}");
    // Values beyond R, or below zero when they are lifted: words do not hold what is above the top limb.
    let beyond = |change: &dyn Fn(&mut Bounds)| {
        let changed = |_: &mut Setting<'_>, bounds: &mut Bounds| {
            change(bounds);
            assert!(!bounds.is_operand(shape));
        };
        is_wrong(outcome(&changed, 8));
    };
    beyond(&|bounds| bounds.high += 3 * (shape.operand_max() + 1) * UNIT);
    beyond(&|bounds| bounds.low -= UNIT);
}
