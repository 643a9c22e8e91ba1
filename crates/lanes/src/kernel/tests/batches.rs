//! Batches of products by the IFMA kernel against its scalar twin, alone and in streams.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{ROUNDS, moduli, random_operand};
use crate::kernel::{Kernel, ifma, scalar};
use crate::rows::Rows;
use crate::tables::BatchStep;

#[test]
fn products_of_extreme_rows_agree() {
    if !Kernel::Ifma.is_available() {
        return;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for modulus in moduli() {
        let shape = modulus.shape();
        let mut rows = Rows::new(shape, 24);
        for _ in 0..ROUNDS {
            for row in 0..16 {
                rows.set_row(row, &random_operand(&mut rng, &modulus));
            }
            let x = std::array::from_fn(|_| rng.random_range(0..16));
            let y = std::array::from_fn(|_| rng.random_range(0..16));
            let batch = BatchStep {
                out: std::array::from_fn(|lane| 16 + lane as u16),
                x,
                y,
                lanes: 8,
                followers: 0,
                companions: 0,
                companions_start: 0,
            };
            let mut twin = rows.clone();
            scalar::batch(&modulus.constants.product, shape, &mut twin, &batch, &[]);
            for kernel in [Kernel::Ifma, Kernel::IfmaQuads] {
                let mut rows = rows.clone();
                ifma::run_batches(kernel, &modulus.constants.product, &mut rows, &[batch]);
                for row in 16..24 {
                    assert_eq!(rows.row(row), twin.row(row), "{shape:?} {kernel:?}");
                }
            }
        }
    }
}

/// Batches that read results of any but the one before them, some of them over rows that the one before reads.
#[test]
fn batches_in_a_stream_agree() {
    if !Kernel::Ifma.is_available() {
        return;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    for modulus in moduli() {
        let shape = modulus.shape();
        let mut rows = Rows::new(shape, 56);
        for _ in 0..ROUNDS / 8 {
            for row in 0..56 {
                rows.set_row(row, &random_operand(&mut rng, &modulus));
            }
            let length = rng.random_range(1..6);
            let mut steps: Vec<BatchStep> = Vec::new();
            for followers in (0..length).rev() {
                let before = steps.last().map_or([56; 8], |step| step.out);
                // Eight rows in a row, unless those are what the batch before writes: one of seven places.
                let mut out_place = rng.random_range(0..7);
                if out_place * 8 == before[0] {
                    out_place = (out_place + 1) % 7;
                }
                let mut operands = || {
                    std::array::from_fn(|_| {
                        loop {
                            let row = rng.random_range(0..56);
                            if !before.contains(&row) {
                                return row;
                            }
                        }
                    })
                };
                let (x, y) = (operands(), operands());
                let out = std::array::from_fn(|lane| out_place * 8 + lane as u16); // Below eight.
                steps.push(BatchStep { out, x, y, lanes: 8, followers, companions: 0, companions_start: 0 });
            }
            let mut twin = rows.clone();
            steps.iter().for_each(|step| scalar::batch(&modulus.constants.product, shape, &mut twin, step, &[]));
            for kernel in [Kernel::Ifma, Kernel::IfmaQuads] {
                let mut rows = rows.clone();
                ifma::run_batches(kernel, &modulus.constants.product, &mut rows, &steps);
                for row in 0..56 {
                    assert_eq!(rows.row(row), twin.row(row), "{shape:?} {kernel:?}");
                }
            }
        }
    }
}
