//! Cycles of a product and a sum by width: as a scalar trace, and as plans by each kernel; rounds interleaved, medians.
//!
//! `cargo run --release -p residue-lanes --example widths [rounds]`, pinned to a core. The estimates of `estimate.rs`,
//! and those of the engine's `work.rs`, were fitted to its output.

use std::hint::black_box;
use std::time::Instant;

use residue_lanes::{FieldOp, Kernel, ModulusRows, Plan, Policy, Rows, SlotBlock};
use residue_modular::{FieldContext, Modulus, SlotStep};

/// Slots that are read, and all of them.
const READ: u16 = 32;
const SLOTS: u16 = 232;

struct Case {
    name: &'static str,
    lanes: Vec<(FieldOp, u16, u16, u16)>,
}

fn cases() -> Vec<Case> {
    let wide = |kind| (0..SLOTS - READ).map(|i| (kind, READ + i, i % READ, (i / READ + i) % READ)).collect();
    // Four products that do not wait for each other, then sums of what they are.
    let mixed = (0..50u16).flat_map(|round| {
        let at = move |i: u16| READ + 4 * round + i;
        let before = move |i: u16| if round == 0 { i } else { at(i) - 4 };
        (0..4).map(move |i| match i % 2 {
            0 => (FieldOp::Mul, at(i), before(i), before((i + 1) % 4)),
            _ => (FieldOp::Add, at(i), before(i), before((i + 2) % 4)),
        })
    });
    let chain = (0..100).map(|_| (FieldOp::Mul, 0, 0, 1)).collect();
    vec![
        Case { name: "products", lanes: wide(FieldOp::Mul) },
        Case { name: "sums", lanes: wide(FieldOp::Add) },
        Case { name: "two products, two sums", lanes: mixed.collect() },
        Case { name: "dependent products", lanes: chain },
    ]
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(41);
    println!(
        "{:>5} {:24} {:>8} {:>8} {:>9} {:>8} {:>9}",
        "limbs", "cycles of one", "trace", "Ifma", "predicted", "Quads", "predicted"
    );
    for width in 1..=12usize {
        let mut bytes = vec![0xff; 8 * width];
        bytes[8 * width - 1] = 0xef;
        let modulus = Modulus::from_be_bytes(&bytes).expect("odd");
        for case in cases() {
            measure(width, &modulus, &case, rounds);
        }
    }
}

/// One line: medians of all rounds.
fn measure(width: usize, modulus: &Modulus, case: &Case, rounds: usize) {
    let bytes = modulus.to_be_bytes();
    let constants = ModulusRows::new(modulus).expect("a width with rows");
    let mut block = SlotBlock::new(SLOTS);
    let mut steps = Vec::new();
    for &(kind, out, x, y) in &case.lanes {
        block.push_lanes(kind, [(out, x, y)]).expect("slots were counted");
        steps.push(match kind {
            FieldOp::Add => SlotStep::Add { out, x, y },
            FieldOp::Sub => SlotStep::Sub { out, x, y },
            FieldOp::Mul => SlotStep::Mul { out, x, y },
        });
    }
    let mut context = FieldContext::new(modulus.clone(), SLOTS.into());
    for slot in 0..usize::from(READ) {
        let mut value = bytes.clone();
        value[0] = slot as u8;
        context.store(slot, &value).expect("below the modulus");
    }
    let mut values = vec![0; usize::from(SLOTS) * 8 * width];
    context.load(0, &mut values);
    let kernels = [Kernel::Ifma, Kernel::IfmaQuads];
    let plans = kernels.map(|kernel| {
        let policy = Policy { fours: kernel == Kernel::IfmaQuads, ..Policy::default() };
        Plan::new(&block, constants.shape(), &policy).expect("the block is small")
    });
    let mut rows = Rows::new(constants.shape(), SLOTS);
    rows.store(&constants, 0, &values).expect("below the modulus");
    let mut cycles: [Vec<f64>; 3] = Default::default();
    for _ in 0..rounds {
        let clock = clock_ghz();
        let mut timed = |at: usize, run: &mut dyn FnMut()| {
            let best = (0..5).map(|_| {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64() * 1e9
            });
            cycles[at].push(best.fold(f64::INFINITY, f64::min) * clock / case.lanes.len() as f64);
        };
        timed(0, &mut || context.run_steps(black_box(&steps)));
        for (at, kernel) in kernels.into_iter().enumerate().filter(|(_, kernel)| kernel.is_available()) {
            timed(1 + at, &mut || plans[at].run_with(kernel, &constants, black_box(&mut rows)));
        }
    }
    let median = |at: usize| {
        let mut all = cycles[at].clone();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let predicted = plans.map(|plan| plan.explain().predicted_cycles as f64 / case.lanes.len() as f64);
    println!(
        "{width:5} {:24} {:8.1} {:8.1} {:9.1} {:8.1} {:9.1}",
        case.name,
        median(0),
        median(1),
        predicted[0],
        median(2),
        predicted[1]
    );
}

/// Cycles of a nanosecond, by a chain of multiplications that depend on each other: three cycles each on x86-64.
fn clock_ghz() -> f64 {
    const LENGTH: usize = 3000;
    let start = Instant::now();
    let product = (0..LENGTH).fold(black_box(3u64), |x, _| black_box(x.wrapping_mul(x)));
    black_box(product);
    (3 * LENGTH) as f64 / (start.elapsed().as_secs_f64() * 1e9)
}
