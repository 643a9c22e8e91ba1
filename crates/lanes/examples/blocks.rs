//! Measures plans on pairing-like blocks: planning, execution per operation, and one field context executing the same
//! operations one at a time. Every result is compared with that of the field context.
//!
//! `cargo run --release -p residue-lanes --example blocks [repetitions [kernel]]`, the kernel one of `Scalar`, `Ifma` and `IfmaQuads`.

use std::cell::RefCell;
use std::hint::black_box;
use std::ops::{Add, Mul, Sub};
use std::time::Instant;

use residue_lanes::{FieldOp, Kernel, ModulusRows, Plan, Policy, Rows, SlotBlock};
use residue_modular::{FieldContext, Modulus, Strided};

/// Base fields.
const MODULI: [(&str, &str); 5] = [
    ("254 bits (BN254)", "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"),
    (
        "381 bits (BLS12-381)",
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
    ),
    (
        "448 bits (edwards448)",
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffe ffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ),
    (
        "512 bits (2^512 - 569)",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffdc7",
    ),
    (
        "761 bits (BW6-761)",
        "0122e824fb83ce0ad187c94004faff3eb926186a81d14688528275ef8087be41707ba638e584e91903cebaff25b423048689c8ed12f9fd9071dc\
         d3dc73ebff2e98a116c25667a8f8160cf8aeeaf0a437e6913e6870000082f49d00000000008b",
    ),
];

/// Operations recorded so far; every value has its own number.
#[derive(Default)]
struct Recording {
    ops: Vec<(FieldOp, u32, u32, u32)>,
    values: u32,
}

thread_local! {
    static RECORDING: RefCell<Recording> = RefCell::default();
}

/// A value that records the operations on it.
#[derive(Clone, Copy)]
struct Traced(u32);

impl Traced {
    fn fresh() -> Self {
        RECORDING.with_borrow_mut(|recording| {
            recording.values += 1;
            Self(recording.values - 1)
        })
    }

    fn op(kind: FieldOp, x: Self, y: Self) -> Self {
        let out = Self::fresh();
        RECORDING.with_borrow_mut(|recording| recording.ops.push((kind, out.0, x.0, y.0)));
        out
    }
}

impl Add for Traced {
    type Output = Self;
    fn add(self, y: Self) -> Self {
        Self::op(FieldOp::Add, self, y)
    }
}

impl Sub for Traced {
    type Output = Self;
    fn sub(self, y: Self) -> Self {
        Self::op(FieldOp::Sub, self, y)
    }
}

impl Mul for Traced {
    type Output = Self;
    fn mul(self, y: Self) -> Self {
        Self::op(FieldOp::Mul, self, y)
    }
}

/// c0 + c1·u with u² = −1.
#[derive(Clone, Copy)]
struct Fp2(Traced, Traced);

impl Fp2 {
    fn add(self, y: Self) -> Self {
        Self(self.0 + y.0, self.1 + y.1)
    }

    fn sub(self, y: Self) -> Self {
        Self(self.0 - y.0, self.1 - y.1)
    }

    /// Karatsuba.
    fn mul(self, y: Self) -> Self {
        let (a, b) = (self.0 * y.0, self.1 * y.1);
        let c = (self.0 + self.1) * (y.0 + y.1);
        Self(a - b, c - a - b)
    }

    fn square(self) -> Self {
        let c = self.0 * self.1;
        Self((self.0 + self.1) * (self.0 - self.1), c + c)
    }

    /// Times ξ = 1 + u.
    fn mul_by_nonresidue(self) -> Self {
        Self(self.0 - self.1, self.0 + self.1)
    }
}

type Fp6 = [Fp2; 3];
type Fp12 = [Fp6; 2];

fn fp6(f: impl Fn(usize) -> Fp2) -> Fp6 {
    std::array::from_fn(f)
}

/// Karatsuba over three coefficients.
fn fp6_mul(x: &Fp6, y: &Fp6) -> Fp6 {
    let v = fp6(|i| x[i].mul(y[i]));
    let cross = |i: usize, j: usize| x[i].add(x[j]).mul(y[i].add(y[j])).sub(v[i]).sub(v[j]);
    [cross(1, 2).mul_by_nonresidue().add(v[0]), cross(0, 1).add(v[2].mul_by_nonresidue()), cross(0, 2).add(v[1])]
}

fn fp12_mul(x: &Fp12, y: &Fp12) -> Fp12 {
    let (a, b) = (fp6_mul(&x[0], &y[0]), fp6_mul(&x[1], &y[1]));
    let c = fp6_mul(&fp6(|i| x[0][i].add(x[1][i])), &fp6(|i| y[0][i].add(y[1][i])));
    let b_times_v = [b[2].mul_by_nonresidue(), b[0], b[1]];
    [fp6(|i| a[i].add(b_times_v[i])), fp6(|i| c[i].sub(a[i]).sub(b[i]))]
}

/// Granger–Scott, 2009/565, §3.2.
fn cyclotomic_square(x: &Fp12) -> Fp12 {
    let fp4_square = |a: Fp2, b: Fp2| {
        let (a2, b2) = (a.square(), b.square());
        (b2.mul_by_nonresidue().add(a2), a.add(b).square().sub(a2).sub(b2))
    };
    let [[z0, z4, z3], [z2, z1, z5]] = *x;
    let triple = |t: Fp2, z: Fp2, is_sub: bool| {
        let d = if is_sub { t.sub(z) } else { t.add(z) };
        d.add(d).add(t)
    };
    let (t0, t1) = fp4_square(z0, z1);
    let (t2, t3) = fp4_square(z2, z3);
    let (t4, t5) = fp4_square(z4, z5);
    let t5 = t5.mul_by_nonresidue();
    [
        [triple(t0, z0, true), triple(t2, z4, true), triple(t4, z3, true)],
        [triple(t5, z2, false), triple(t1, z1, false), triple(t3, z5, false)],
    ]
}

/// Dbl of 2010/354, algorithm 26, on a point over Fp2, with the line's three coefficients.
fn doubling_step(point: &mut [Fp2; 3]) -> [Fp2; 3] {
    let [x, y, z] = *point;
    let (t0, t1) = (x.square(), y.square());
    let t2 = t1.square();
    let t3 = t1.add(x).square().sub(t0).sub(t2);
    let t3 = t3.add(t3);
    let t4 = t0.add(t0).add(t0);
    let t6 = x.add(t4);
    let t5 = t4.square();
    let z2 = z.square();
    let x3 = t5.sub(t3).sub(t3);
    let z3 = z.add(y).square().sub(t1).sub(z2);
    let t2x8 = (0..3).fold(t2, |t, _| t.add(t));
    let y3 = t3.sub(x3).mul(t4).sub(t2x8);
    *point = [x3, y3, z3];
    let line1 = t4.mul(z2);
    let line0 = t6.square().sub(t0).sub(t5).sub(t1.add(t1)).sub(t1.add(t1));
    let line2 = z3.mul(z2);
    [line0, Fp2(line1.0 + line1.0, line1.1 + line1.1), Fp2(line2.0 + line2.0, line2.1 + line2.1)]
}

/// f ↦ f²·line for two pairs: the body of a Miller loop.
fn miller_step(f: &Fp12, points: &mut [[Fp2; 3]; 2], at: &[[Traced; 2]; 2]) -> Fp12 {
    let mut f = fp12_mul(f, f);
    for (point, [px, py]) in points.iter_mut().zip(at) {
        let [l0, l1, l2] = doubling_step(point);
        let (l1, l2) = (Fp2(l1.0 * *px, l1.1 * *px), Fp2(l2.0 * *py, l2.1 * *py));
        // A sparse product by l0 + l1·v + l2·v·w.
        let by_01 = |x: &Fp6, a: Fp2, b: Fp2| -> Fp6 {
            let (v0, v1) = (x[0].mul(a), x[1].mul(b));
            [
                x[1].add(x[2]).mul(b).sub(v1).mul_by_nonresidue().add(v0),
                x[0].add(x[1]).mul(a.add(b)).sub(v0).sub(v1),
                x[0].add(x[2]).mul(a).sub(v0).add(v1),
            ]
        };
        let a = by_01(&f[0], l0, l1);
        let b = [f[1][2].mul(l2).mul_by_nonresidue(), f[1][0].mul(l2), f[1][1].mul(l2)];
        let c = by_01(&fp6(|i| f[0][i].add(f[1][i])), l0, l1.add(l2));
        let b_times_v = [b[2].mul_by_nonresidue(), b[0], b[1]];
        f = [fp6(|i| a[i].add(b_times_v[i])), fp6(|i| c[i].sub(a[i]).sub(b[i]))];
    }
    f
}

/// A block, and its inputs: the slots 0 … `inputs` − 1.
struct Case {
    name: &'static str,
    block: SlotBlock,
    inputs: u16,
}

/// Records `formula` on `inputs` fresh values; its results go to the slots 0, 1, … Slots of temporaries are reused as a compiler would.
fn record(name: &'static str, inputs: usize, formula: impl Fn(&[Traced]) -> Vec<Traced>) -> Case {
    RECORDING.take();
    let arguments: Vec<Traced> = (0..inputs).map(|_| Traced::fresh()).collect();
    let results = formula(&arguments);
    let recording = RECORDING.take();
    let mut last_read = vec![0; recording.values as usize];
    for (at, (_, _, x, y)) in recording.ops.iter().enumerate() {
        last_read[*x as usize] = at;
        last_read[*y as usize] = at;
    }
    for result in &results {
        last_read[result.0 as usize] = usize::MAX;
    }
    let mut slot = vec![u16::MAX; recording.values as usize];
    let mut count = u16::try_from(inputs).expect("few inputs");
    (0..count).for_each(|i| slot[usize::from(i)] = i);
    let mut free = Vec::new();
    let mut ops = Vec::new();
    for (at, (kind, out, x, y)) in recording.ops.iter().enumerate() {
        let [x, y] = [*x, *y].map(|value| value as usize);
        ops.push((*kind, 0, slot[x], slot[y]));
        for (operand, other) in [(x, usize::MAX), (y, x)] {
            if operand != other && last_read[operand] == at {
                free.push(slot[operand]);
            }
        }
        let row = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        slot[*out as usize] = row;
        ops[at].1 = row;
    }
    let mut block = SlotBlock::new(count);
    for (kind, out, x, y) in ops {
        block.push_lanes(kind, [(out, x, y)]).expect("slots were counted");
    }
    let kept: Vec<u16> = results.iter().map(|result| slot[result.0 as usize]).collect();
    (0..count).filter(|slot| !kept.contains(slot)).for_each(|slot| block.mark_dead(slot).expect("it exists"));
    Case { name, block, inputs: inputs as u16 }
}

fn cases() -> Vec<Case> {
    let fp12_of = |values: &[Traced]| -> Fp12 {
        std::array::from_fn(|i| fp6(|j| Fp2(values[6 * i + 2 * j], values[6 * i + 2 * j + 1])))
    };
    let list = |x: &Fp12| x.iter().flatten().flat_map(|c| [c.0, c.1]).collect::<Vec<_>>();
    let squarings = |count: usize| {
        move |values: &[Traced]| {
            let mut x = fp12_of(values);
            (0..count).for_each(|_| x = cyclotomic_square(&x));
            list(&x)
        }
    };
    vec![
        record("800 independent products", 32, |v| (0..800).map(|i| v[i % 32] * v[(i / 32 + i) % 32]).collect()),
        record("100 dependent products", 2, |v| vec![(0..100).fold(v[0], |x, _| x * v[1])]),
        record("4000 sums", 32, |v| {
            let mut v = v.to_vec();
            (0..4000).for_each(|i| {
                v[i % 32] = if i % 3 == 0 { v[i % 32] - v[(i * 7 + 1) % 32] } else { v[(i + 5) % 32] + v[(i * 3) % 32] }
            });
            v
        }),
        record("Fp2 product", 4, |v| {
            let x = Fp2(v[0], v[1]).mul(Fp2(v[2], v[3]));
            vec![x.0, x.1]
        }),
        record("Fp12 product", 24, |v| list(&fp12_mul(&fp12_of(&v[..12]), &fp12_of(&v[12..])))),
        record("20 Fp12 products", 24, |v| {
            let (mut x, y) = (fp12_of(&v[..12]), fp12_of(&v[12..]));
            (0..20).for_each(|_| x = fp12_mul(&x, &y));
            list(&x)
        }),
        record("1 cyclotomic squaring", 12, squarings(1)),
        record("3 cyclotomic squarings", 12, squarings(3)),
        record("63 cyclotomic squarings", 12, squarings(63)),
        record("Miller step, two pairs", 28, |v| {
            let f = fp12_of(&v[..12]);
            let mut points = [0, 6].map(|o| std::array::from_fn(|i| Fp2(v[12 + o + 2 * i], v[13 + o + 2 * i])));
            let f = miller_step(&f, &mut points, &[[v[24], v[25]], [v[26], v[27]]]);
            list(&f).into_iter().chain(points.iter().flatten().flat_map(|c| [c.0, c.1])).collect()
        }),
    ]
}

/// Nanoseconds of `run`: the first decile, since other work on the machine only ever adds to a time.
fn time_ns(repetitions: usize, mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..repetitions)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e9
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 10]
}

fn main() {
    let repetitions = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(400);
    let kernel = std::env::args().nth(2).map_or(Kernel::best(), |name| {
        let known = Kernel::ALL.into_iter().find(|kernel| format!("{kernel:?}") == name);
        known.filter(|kernel| kernel.is_available()).unwrap_or_else(|| panic!("{name} is no kernel of this machine"))
    });
    for (name, hex) in MODULI {
        let digits: String = hex.split_whitespace().collect();
        let bytes: Vec<u8> = (0..digits.len() / 2)
            .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).expect("hexadecimal"))
            .collect();
        measure_modulus(name, &Modulus::from_be_bytes(&bytes).expect("odd"), kernel, repetitions);
    }
}

/// A context with the inputs of a block: small numbers stretched over the field by a few products.
fn filled(case: &Case, modulus: &Modulus) -> FieldContext {
    let mut context = FieldContext::new(modulus.clone(), usize::from(case.block.slot_count()).max(2));
    let element_bytes = context.element_bytes();
    for slot in 0..usize::from(case.inputs) {
        let mut value = vec![0; element_bytes];
        value[element_bytes - 3..].copy_from_slice(&[0x5a, 0xa5 ^ slot as u8, slot as u8 + 1]);
        context.store(slot, &value).expect("small numbers");
        let s = Strided::contiguous(slot);
        (0..9).for_each(|_| context.mul(s, s, s, 1));
    }
    context
}

/// The slots of a context as rows.
fn rows_of(block: &SlotBlock, context: &FieldContext, constants: &ModulusRows) -> Rows {
    let mut rows = Rows::new(constants.shape(), block.slot_count());
    let mut bytes = vec![0; usize::from(block.slot_count()) * context.element_bytes()];
    context.load(0, &mut bytes);
    rows.store(constants, 0, &bytes).expect("below the modulus");
    rows
}

/// Runs a block as a plan and one operation at a time: the outputs are equal.
fn check(
    case: &Case,
    (plan, kernel): (&Plan, Kernel),
    constants: &ModulusRows,
    (mut rows, mut context): (Rows, FieldContext),
) {
    plan.run_with(kernel, constants, &mut rows);
    one_by_one(&case.block, &mut context);
    for slot in plan.outputs() {
        let [mut from_rows, mut from_context] = [0; 2].map(|zero| vec![zero; context.element_bytes()]);
        rows.load(constants, *slot, &mut from_rows);
        context.load(usize::from(*slot), &mut from_context);
        assert_eq!(from_rows, from_context, "{}: slot {slot}", case.name);
    }
}

fn measure_modulus(name: &str, modulus: &Modulus, kernel: Kernel, repetitions: usize) {
    let clock_ghz = clock_ghz(repetitions);
    println!("\n{name}; kernel {kernel:?}; about {clock_ghz:.2} GHz");
    println!(
        "{:26} {:>5} {:>6} {:>6} {:>7} {:>5} {:>5} {:>6} {:>5} | {:>10} {:>8} {:>9} {:>6} | {:>6} {:>7} {:>8} {:>9}",
        "block",
        "mul",
        "linear",
        "along",
        "batches",
        "fill",
        "carry",
        "reduce",
        "rows",
        "one by one",
        "plan ns",
        "scalar ns",
        "ratio",
        "ns/op",
        "plan/op",
        "cycles",
        "predicted"
    );
    let constants = ModulusRows::new(modulus).expect("a width with rows");
    let policy = Policy { fours: kernel == Kernel::IfmaQuads, ..Policy::default() };
    for case in cases() {
        let block = &case.block;
        let plan = Plan::new(block, constants.shape(), &policy).expect("the block is small");
        let explanation = plan.explain();
        let planning_ns = time_ns(repetitions.min(200), || {
            black_box(Plan::new(black_box(block), constants.shape(), &policy).expect("the block is small"));
        });
        let mut context = filled(&case, modulus);
        let mut rows = rows_of(block, &context, &constants);
        check(&case, (&plan, kernel), &constants, (rows.clone(), context.clone()));
        let plan_ns = time_ns(repetitions, || plan.run_with(kernel, &constants, black_box(&mut rows)));
        let scalar_ns =
            time_ns(repetitions / 40 + 1, || plan.run_with(Kernel::Scalar, &constants, black_box(&mut rows)));
        let one_ns = time_ns(repetitions, || one_by_one(block, black_box(&mut context)));
        let ops = block.ops().len() as f64;
        println!(
            "{:26} {:5} {:6} {:6} {:7} {:5.2} {:5} {:6} {:5} | {:10.0} {:8.0} {:9.0} {:6.2} | {:6.2} {:7.0} {:8.0} {:9}",
            case.name,
            explanation.products,
            explanation.linear,
            explanation.companions,
            explanation.batches,
            explanation.products as f64 / (8.0 * explanation.batches.max(1) as f64),
            explanation.carries,
            explanation.reductions,
            explanation.temporary_rows,
            one_ns,
            plan_ns,
            scalar_ns,
            one_ns / plan_ns,
            plan_ns / ops,
            planning_ns / ops,
            plan_ns * clock_ghz,
            explanation.predicted_cycles,
        );
    }
    measure_conversion(&constants, repetitions);
}

/// Values in Montgomery form into rows and out again.
fn measure_conversion(constants: &ModulusRows, repetitions: usize) {
    const VALUES: u16 = 64;
    let slots: Vec<u16> = (0..VALUES).collect();
    let mut rows = Rows::new(constants.shape(), VALUES);
    let mut values = vec![0; slots.len() * constants.width_limbs()];
    (0..slots.len()).for_each(|i| values[i * constants.width_limbs()] = 3 + i as u64);
    let before = values.clone();
    let enter_ns = time_ns(repetitions, || rows.set_mont(constants, &slots, black_box(&values)));
    let leave_ns = time_ns(repetitions, || rows.mont(constants, &slots, black_box(&mut values)));
    assert_eq!(values, before, "values leave as they entered");
    let count = f64::from(VALUES);
    println!("entering {:.1} ns, leaving {:.1} ns a value", enter_ns / count, leave_ns / count);
}

/// Cycles of a nanosecond, by a chain of multiplications that depend on each other: three cycles each on x86-64.
fn clock_ghz(repetitions: usize) -> f64 {
    const LENGTH: usize = 2000;
    let ns = time_ns(repetitions, || {
        let product = (0..LENGTH).fold(black_box(3u64), |x, _| x.wrapping_mul(x));
        black_box(product);
    });
    (3 * LENGTH) as f64 / ns
}

/// The operations in a field context, one instruction at a time.
fn one_by_one(block: &SlotBlock, context: &mut FieldContext) {
    for op in block.ops() {
        let [out, x, y] = [op.out, op.x, op.y].map(|slot| Strided::contiguous(usize::from(slot)));
        match op.kind {
            FieldOp::Add => context.add(out, x, y, 1),
            FieldOp::Sub => context.sub(out, x, y, 1),
            FieldOp::Mul => context.mul(out, x, y, 1),
        }
    }
}
