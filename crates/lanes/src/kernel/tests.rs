//! The IFMA kernel against its scalar twin, limb for limb, on values that a plan would never make so extreme all at once.

use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_modular::Modulus;

use super::{Kernel, scalar};
use crate::block::{FieldOp, SlotBlock};
use crate::bounds::LIMB_MAX;
use crate::line::ROW_LIMBS;
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::modulus_rows::{Form, ModulusRows};
use crate::plan::Policy;
use crate::rows::Rows;
use crate::shape::Shape;
use crate::tables::Plan;
use crate::transfer::{ByteOrder, Transfer};

#[cfg(target_arch = "x86_64")]
mod batches;

const ROUNDS: usize = 12_000;

pub(super) fn moduli() -> Vec<ModulusRows> {
    let power = |bits: u32| BigUint::from(1u8) << bits;
    let of = |m: BigUint| ModulusRows::new(&Modulus::from_be_bytes(&m.to_bytes_be()).unwrap()).unwrap();
    vec![
        of(power(254) - 127u32),
        of(power(255) + 19u32),
        of(power(256) - 1u32),
        of(power(308) - 1u32),
        of(power(381) - 9u32),
        of(power(384) - 1u32),
        of(power(383) + 1u32),
        of(power(412) - 1u32),
        of(power(448) - 1u32),
        of(power(512) - 1u32),
        of(power(516) - 1u32),
        of(power(768) - 1u32),
        of(power(776) - 1u32),
        of(BigUint::from(3u8)),
    ]
}

/// Limbs of a value that lies in [0, R) after the lift, redundant: random, all ones, all zeros or a single one in each limb, then moved between neighbours.
pub(super) fn random_operand(rng: &mut ChaCha8Rng, modulus: &ModulusRows) -> [i64; ROW_LIMBS] {
    let row = random_row(rng, modulus.shape(), LIMB_MAX - (1 << 54));
    std::array::from_fn(|i| row[i] - modulus.constants.product.lift[i] as i64)
}

/// Redundant limbs of a value in [0, R).
fn random_row(rng: &mut ChaCha8Rng, shape: Shape, limb_max: u64) -> [i64; ROW_LIMBS] {
    let limbs = shape.limbs();
    let mut row = [0i64; ROW_LIMBS];
    let style = rng.random_range(0..6);
    for limb in &mut row[..limbs] {
        let random = rng.random::<u64>();
        *limb = match (style, random % 4) {
            (0, _) => LIMB_MASK,
            (1, _) | (2, 0) => 0,
            (2, 1) | (3, 2) => LIMB_MASK,
            (2, 2) => 1,
            _ => (random >> 7) & LIMB_MASK,
        } as i64;
    }
    // The top limb gives and takes too, within a value that stays in [0, R).
    for i in 0..limbs - 1 {
        let room = (limb_max >> ROW_LIMB_BITS) as i64;
        let mut moved = rng.random_range(-room + 1..room);
        if i + 2 == limbs {
            moved = moved.clamp(row[i + 1] - LIMB_MASK as i64, row[i + 1]);
        }
        row[i] += moved << ROW_LIMB_BITS;
        row[i + 1] -= moved;
    }
    row
}

#[test]
fn a_product_is_what_montgomery_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for modulus in moduli() {
        let shape = modulus.shape();
        let value =
            |row: &[i64]| row.iter().rev().fold(num_bigint::BigInt::ZERO, |sum, limb| (sum << ROW_LIMB_BITS) + limb);
        let m = value(&modulus.constants.product.m.map(|limb| limb as i64));
        for _ in 0..300 {
            let (x, y) = (random_operand(&mut rng, &modulus), random_operand(&mut rng, &modulus));
            let product = scalar::product(&x, &y, &modulus.constants.product, shape.limbs());
            let [x, y] = [value(&x), value(&y)].map(|operand| operand + &m * shape.lift());
            let out = value(&product);
            let radix = num_bigint::BigInt::from(1) << (shape.limbs() * ROW_LIMB_BITS);
            let u_m = &out * &radix - x * y;
            assert!(num_bigint::BigInt::ZERO <= u_m && u_m < &radix * &m && (u_m % &m) == num_bigint::BigInt::ZERO);
        }
    }
}

/// Blocks whose plans consist of the step in question, from rows at the bounds of a plan's end.
fn agree_on(kind: FieldOp, length: usize, seed: u64) {
    if !Kernel::Ifma.is_available() {
        return;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for modulus in moduli() {
        let shape = modulus.shape();
        let mut block = SlotBlock::new(4);
        for _ in 0..length {
            let [out, x, y] = std::array::from_fn(|_| rng.random_range(0..4));
            block.push_lanes(kind, [(out, x, y)]).unwrap();
        }
        let plan = Plan::new(&block, shape, &Policy::default()).unwrap();
        for _ in 0..40 {
            let mut rows = Rows::new(shape, 4);
            for row in 0..4 {
                rows.set_row(row, &end_row(&mut rng, shape));
            }
            let mut twin = rows.clone();
            plan.run_with(Kernel::Scalar, &modulus, &mut twin);
            for kernel in [Kernel::Ifma, Kernel::IfmaQuads] {
                let mut rows = rows.clone();
                plan.run_with(kernel, &modulus, &mut rows);
                for row in 0..4 {
                    assert_eq!(rows.row(row), twin.row(row), "{shape:?} {kernel:?}");
                }
            }
        }
    }
}

#[test]
fn transfers_agree() {
    if !Kernel::Ifma.is_available() {
        return;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    for modulus in moduli() {
        transfers_agree_modulo(&modulus, &mut rng);
        // Values wider than the modulus, up to whole lines.
        for width_limbs in [modulus.width_limbs() + 1, 8, 16] {
            let wider = Modulus::with_width(&modulus.modulus().to_be_bytes(), width_limbs);
            if let Some(wider) = wider.ok().and_then(|modulus| ModulusRows::new(&modulus).ok()) {
                transfers_agree_modulo(&wider, &mut rng);
            }
        }
    }
}

fn transfers_agree_modulo(modulus: &ModulusRows, rng: &mut ChaCha8Rng) {
    let shape = modulus.shape();
    let value_bytes = 8 * modulus.width_limbs();
    let m = modulus.modulus().to_be_bytes();
    let m = &m[m.iter().take_while(|byte| **byte == 0).count()..];
    for round in 0..ROUNDS / 8 {
        let count = rng.random_range(1..=8);
        let mut bytes = vec![0; 8 * value_bytes + 7];
        let mut offsets: Vec<usize> = (0..count).map(|lane| lane * value_bytes + round % 8).collect();
        let order = [ByteOrder::Big, ByteOrder::Little][rng.random_range(0..2)];
        let form = [Form::Canonical, Form::Mont][rng.random_range(0..2)];
        for offset in &mut offsets {
            let value = &mut bytes[*offset..][..value_bytes];
            let at = value_bytes - m.len();
            value[at..].copy_from_slice(m);
            match rng.random_range(0..16) {
                0 if round % 4 == 0 => {} // Not below the modulus.
                1 => value.fill(0),
                2 if round % 4 == 0 => {
                    // A single bit, anywhere.
                    value.fill(0);
                    value[rng.random_range(0..value_bytes)] = 1 << rng.random_range(0..8);
                }
                _ => {
                    // Below from a random byte on, which is lowered.
                    let lowered = rng.random_range(at..value_bytes);
                    if value[lowered] > 0 {
                        value[lowered] -= 1;
                        rng.fill(&mut value[lowered + 1..]);
                    } else {
                        value.fill(0);
                    }
                }
            }
            if order == ByteOrder::Little {
                value.reverse();
            }
        }
        let slots: Vec<u16> = (0..count).map(|_| rng.random_range(0..20)).collect();
        let transfer = Transfer { modulus, form, order, slots: &slots, offsets: &offsets };
        let mut rows = Rows::new(shape, 20);
        for row in 0..20 {
            // Ends of plans.
            rows.set_row(row, &end_row(rng, shape));
        }
        let mut twin = rows.clone();
        assert_eq!(
            scalar::enter(&transfer, &bytes, &mut twin),
            super::enter(Kernel::Ifma, &transfer, &bytes, &mut rows),
            "{shape:?}"
        );
        assert!((0..20).all(|row| rows.row(row) == twin.row(row)), "{shape:?}");
        let slots: Vec<u16> = (0..count).map(|_| rng.random_range(0..20)).collect();
        let transfer = Transfer { slots: &slots, ..transfer };
        let mut bytes_of_twin = bytes.clone();
        scalar::leave(&transfer, &mut bytes_of_twin, &twin);
        super::leave(Kernel::Ifma, &transfer, &mut bytes, &mut rows);
        assert_eq!(bytes, bytes_of_twin, "{shape:?} {form:?} {order:?}");
    }
}

/// Any value of the range of a plan's end: c·M has at least as many bits as M.
fn end_row(rng: &mut ChaCha8Rng, shape: Shape) -> [i64; ROW_LIMBS] {
    let mut limbs = random_row(rng, shape, shape.end_bounds().limb);
    let top = shape.limbs() - 1;
    limbs[top] &= (1 << (shape.modulus_bits() - 2 - 52 * top)) - 1;
    limbs
}

#[test]
fn sums_carries_and_reductions_agree() {
    agree_on(FieldOp::Add, 200, 13);
    agree_on(FieldOp::Sub, 200, 14);
}
