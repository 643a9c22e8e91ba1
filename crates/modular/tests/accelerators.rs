//! Accelerators: what contexts compute with them is what they compute without, by one call an operation. They are of the whole process, so all is one test.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::sync::atomic::{AtomicUsize, Ordering};

use num_bigint::BigUint;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_formula::{FieldOp, PerOp};
use residue_modular::accelerators::{Accelerators, install};
use residue_modular::{FieldContext, Limb, Modulus, SlotStep, Strided};

const SLOTS: usize = 12;

static CALLS: PerOp<AtomicUsize> = PerOp([AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)]);

fn number(limbs: &[Limb]) -> BigUint {
    BigUint::from_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
}

fn compute<const N: usize>(operation: FieldOp, out: &mut [Limb; N], operands: [&[Limb; N]; 3]) {
    CALLS[operation].fetch_add(1, Ordering::Relaxed);
    let [x, y, m] = operands.map(|limbs| number(limbs));
    let result = match operation {
        FieldOp::Add => (x + y) % &m,
        FieldOp::Sub => (x + &m - y) % &m,
        FieldOp::Mul => x * y % &m,
    };
    let mut digits = result.to_u64_digits();
    digits.resize(N, 0);
    out.copy_from_slice(&digits);
}

fn accelerators() -> Accelerators {
    Accelerators {
        four: PerOp([
            |out, x, y, m| compute(FieldOp::Add, out, [x, y, m]),
            |out, x, y, m| compute(FieldOp::Sub, out, [x, y, m]),
            |out, x, y, m| compute(FieldOp::Mul, out, [x, y, m]),
        ]),
        six: PerOp([
            |out, x, y, m| compute(FieldOp::Add, out, [x, y, m]),
            |out, x, y, m| compute(FieldOp::Sub, out, [x, y, m]),
            |out, x, y, m| compute(FieldOp::Mul, out, [x, y, m]),
        ]),
    }
}

/// An odd modulus of so many limbs, with its highest bit set or not.
fn odd(random: &mut impl RngCore, width_limbs: usize) -> Vec<u8> {
    let mut bytes = vec![0; 8 * width_limbs];
    random.fill_bytes(&mut bytes);
    bytes[0] |= 1;
    *bytes.last_mut().unwrap() |= 1;
    bytes
}

/// The same random steps on two contexts of one modulus; their values are the same after each.
fn check(random: &mut impl RngCore, plain: &mut FieldContext, accelerated: &mut FieldContext) {
    let bytes = plain.element_bytes();
    let values = |context: &FieldContext| {
        let mut values = vec![0; SLOTS * bytes];
        context.load(0, &mut values);
        values
    };
    let mut any = vec![0; SLOTS * bytes];
    random.fill_bytes(&mut any);
    for context in [&mut *plain, &mut *accelerated] {
        assert!(context.store(3, &vec![0xff; bytes]).is_err(), "not below the modulus");
        context.store_any(0, &any);
    }
    let canonical = values(plain);
    for context in [&mut *plain, &mut *accelerated] {
        context.store(0, &canonical).unwrap();
    }
    for _ in 0..40 {
        let count = random.random_range(1..4);
        let mut operand = || Strided { index: random.random_range(0..4), stride: random.random_range(1..3) };
        let [out, x, y] = [operand(), operand(), operand()];
        let what = random.random_range(0..6);
        for context in [&mut *plain, &mut *accelerated] {
            match what {
                0 => context.add(out, x, y, count),
                1 => context.sub(out, x, y, count),
                2 => context.mul(out, x, y, count),
                3 => context.invert(out, x, count),
                4 => context.sum_products(5, 2, &[[1, 2], [3, 4], [0, 0]]),
                _ => context
                    .run_steps(&[SlotStep::Square { out: 7, x: 1, count: 3 }, SlotStep::Sub { out: 8, x: 7, y: 2 }]),
            }
        }
        assert_eq!(values(plain), values(accelerated), "after {what}");
        assert_eq!(plain.less(1, 2), accelerated.less(1, 2));
    }
}

#[test]
fn accelerated_contexts_compute_the_same_by_one_call_an_operation() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let moduli: Vec<Vec<u8>> = [4, 6, 5, 4, 6].map(|limbs| odd(&mut random, limbs)).to_vec();
    let context = |bytes: &Vec<u8>| FieldContext::new(Modulus::from_be_bytes(bytes).unwrap(), SLOTS);
    let mut plain: Vec<FieldContext> = moduli.iter().map(context).collect();
    assert!(install(accelerators()));
    assert!(!install(accelerators()), "those that are there stay");
    for (plain, bytes) in plain.iter_mut().zip(&moduli) {
        let mut accelerated = context(bytes);
        assert_eq!(accelerated.modulus().is_canonical(), plain.width_limbs() != 5);
        assert!(!plain.modulus().is_canonical());
        check(&mut random, plain, &mut accelerated);
    }
    let counts = || CALLS.0.each_ref().map(|count| count.load(Ordering::Relaxed));
    let before = counts();
    let mut accelerated = context(&moduli[0]);
    let one = Strided::contiguous(0);
    accelerated.store(0, &[0; 64]).unwrap();
    accelerated.add(one, one, one, 1);
    accelerated.sub(one, one, one, 2);
    accelerated.mul(one, one, one, 3);
    accelerated.load(0, &mut [0; 64]);
    let after = counts();
    assert_eq!([0, 1, 2].map(|operation| after[operation] - before[operation]), [1, 2, 3]);
    assert!(Modulus::from_be_bytes(&[1, 0]).unwrap().is_canonical(), "powers of two stay what they are");
}
