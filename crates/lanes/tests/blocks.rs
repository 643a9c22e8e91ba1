//! Random blocks: both kernels and big integers agree on every slot, and every value keeps the bounds proved for it.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_lanes::{FieldOp, Fp6Op, Kernel, ModulusRows, Plan, Policy, Rows, SlotBlock, SumOp, check};
use residue_modular::Modulus;

/// BLS12-381 and BN254 base fields: the moduli of EIP-2537 and EIP-196.
const BLS12_381_P: &str =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
const BN254_P: &str = "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";

/// Moduli of every row width: real ones, and those next to the ends of their width.
fn moduli() -> Vec<(&'static str, BigUint)> {
    let hex = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).unwrap();
    let power = |bits: u32| BigUint::from(1u8) << bits;
    vec![
        ("BLS12-381 p", hex(BLS12_381_P)),
        ("BN254 p", hex(BN254_P)),
        ("2^384 - 317", power(384) - 317u32),
        ("2^383 + 1", power(383) + 1u32),
        ("2^256 - 189", power(256) - 189u32),
        ("2^255 + 1", power(255) + 1u32),
        ("2^308 - 1", power(308) - 1u32),
        ("2^271 + 1", power(271) + 1u32),
        ("2^320 - 197", power(320) - 197u32),
        ("2^412 - 1", power(412) - 1u32),
        ("2^768 - 825", power(768) - 825u32),
        ("2^767 + 1", power(767) + 1u32),
        ("2^776 - 1", power(776) - 1u32),
        ("2^512 - 569", power(512) - 569u32),
        ("3", BigUint::from(3u8)),
        ("2^220 - 77", power(220) - 77u32),
        ("2^219 - 19", power(219) - 19u32),
    ]
}

type Instruction = (FieldOp, Vec<(u16, u16, u16)>);

/// Mix of a random block, in percent; the rest are subtractions.
struct Mix {
    products: u32,
    sums: u32,
    squares: u32,
    slots: u16,
    lanes_max: usize,
}

fn random_block(rng: &mut ChaCha8Rng, mix: &Mix, length: usize) -> Vec<Instruction> {
    (0..length)
        .map(|_| {
            let part = rng.random_range(0..100);
            let kind = match part {
                part if part < mix.products => FieldOp::Mul,
                part if part < mix.products + mix.sums => FieldOp::Add,
                _ => FieldOp::Sub,
            };
            let count = rng.random_range(1..=mix.lanes_max);
            let lanes = (0..count).map(|_| {
                let [out, x, y] = std::array::from_fn(|_| rng.random_range(0..mix.slots));
                (out, x, if rng.random_range(0..100) < mix.squares { x } else { y })
            });
            (kind, lanes.collect())
        })
        .collect()
}

/// The literal meaning of a block.
fn evaluate(instructions: &[Instruction], m: &BigUint, slots: &mut [BigUint]) {
    for (kind, lanes) in instructions {
        let results: Vec<_> = lanes
            .iter()
            .map(|(_, x, y)| {
                let (x, y) = (&slots[usize::from(*x)], &slots[usize::from(*y)]);
                match kind {
                    FieldOp::Add => (x + y) % m,
                    FieldOp::Sub => (x + m - y) % m,
                    FieldOp::Mul => x * y % m,
                }
            })
            .collect();
        for ((out, ..), result) in lanes.iter().zip(results) {
            slots[usize::from(*out)] = result;
        }
    }
}

/// Values where carries and reductions go wrong first.
fn edge_values(m: &BigUint) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let mut values = vec![BigUint::ZERO, one.clone(), m - 1u8, m - 2u8, m >> 1, (m >> 1) + 1u8];
    for limb in 1..16u32 {
        values.push((&one << (52 * limb)) - 1u8);
        values.push(&one << (52 * limb));
        values.push(m - 1u8 - (m >> (52 * limb)));
    }
    values.into_iter().map(|value| value % m).collect()
}

fn random_values(rng: &mut ChaCha8Rng, m: &BigUint, count: usize) -> Vec<BigUint> {
    let edges = edge_values(m);
    (0..count)
        .map(|_| match rng.random_range(0..3) {
            0 => edges[rng.random_range(0..edges.len())].clone(),
            _ => BigUint::from_bytes_le(&std::array::from_fn::<u8, 104, _>(|_| rng.random())) % m,
        })
        .collect()
}

fn to_bytes(values: &[BigUint], element_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        let be = value.to_bytes_be();
        bytes.resize(bytes.len() + element_bytes - be.len(), 0);
        bytes.extend(be);
    }
    bytes
}

/// Runs a block every way there is and compares the slots' canonical values.
fn agree(name: &str, m: &BigUint, instructions: &[Instruction], values: &[BigUint], policy: Policy) {
    let mut block = SlotBlock::new(u16::try_from(values.len()).unwrap());
    for (kind, lanes) in instructions {
        block.push_lanes(*kind, lanes.iter().copied()).unwrap();
    }
    let mut expected = values.to_vec();
    evaluate(instructions, m, &mut expected);
    block_agrees(name, m, &block, (values, &expected), policy);
}

/// The same for a block, given the values of its slots before and after it.
fn block_agrees(
    name: &str,
    m: &BigUint,
    block: &SlotBlock,
    (values, expected): (&[BigUint], &[BigUint]),
    policy: Policy,
) {
    let modulus = Modulus::from_be_bytes(&m.to_bytes_be()).unwrap();
    let rows_of = ModulusRows::new(&modulus).unwrap();
    let slots = block.slot_count();
    let plan = Plan::new(block, rows_of.shape(), &policy).unwrap();
    let element_bytes = 8 * rows_of.width_limbs();
    let expected = to_bytes(expected, element_bytes);
    let mut entry = Rows::new(rows_of.shape(), slots);
    entry.store(&rows_of, 0, &to_bytes(values, element_bytes)).unwrap();
    let load = |mut rows: Rows| {
        let mut bytes = vec![0; expected.len()];
        rows.load(&rows_of, 0, &mut bytes);
        bytes
    };
    let mut rows = entry.clone();
    check(&plan, &rows_of, &mut rows).unwrap_or_else(|violation| panic!("modulo {name}: {violation}"));
    assert!(load(rows) == expected, "checked execution modulo {name}");
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        // Twice: the plan leaves what the next one may start from.
        let mut rows = entry.clone();
        plan.run_with(kernel, &rows_of, &mut rows);
        assert!(load(rows.clone()) == expected, "{kernel:?} modulo {name}");
    }
}

/// x·y in Fp6 with v³ = a + b·u by the definition.
fn product_in_fp6(m: &BigUint, values: &[BigUint], (x, y): ([u16; 6], [u16; 6]), xi: [u8; 2]) -> Vec<BigUint> {
    let times = |[a, b]: [&BigUint; 2], [c, d]: [&BigUint; 2]| [(a * c + m * m - b * d) % m, (a * d + b * c) % m];
    let pair = |slots: [u16; 6], place: usize| [0, 1].map(|part| &values[usize::from(slots[2 * place + part])]);
    let xi = xi.map(|part| BigUint::from(part) % m);
    let mut results = vec![BigUint::ZERO; 6];
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let product = times(pair(x, i), pair(y, j));
        let product = if i + j < 3 { product } else { times(product.each_ref(), xi.each_ref()) };
        for (part, value) in product.into_iter().enumerate() {
            let result = &mut results[2 * ((i + j) % 3) + part];
            *result = (&*result + value) % m;
        }
    }
    results
}

/// Sums of two to six products with any signs, products in Fp2 and Fp6, and copies between other instructions, over few slots and many: also on more slots than they name.
#[test]
fn sums_are_what_their_products_come_to() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for (name, m) in moduli() {
        for (slots, room) in [(3, 3), (8, 12), (40, 200)] {
            let values = random_values(&mut rng, &m, room);
            let mut expected = values.clone();
            let mut block = SlotBlock::new(u16::MAX - 1);
            for _ in 0..60 {
                let slot = |rng: &mut ChaCha8Rng| rng.random_range(0..slots);
                if rng.random_range(0..3) == 0 {
                    let lane = (slot(&mut rng), slot(&mut rng), slot(&mut rng));
                    block.push_lanes(FieldOp::Sub, [lane]).unwrap();
                    evaluate(&[(FieldOp::Sub, vec![lane])], &m, &mut expected);
                    continue;
                }
                if rng.random_range(0..4) == 0 {
                    let lanes: Vec<(u16, u16)> =
                        (0..rng.random_range(1..4)).map(|_| (slot(&mut rng), slot(&mut rng))).collect();
                    let before = expected.clone();
                    for &(out, x) in &lanes {
                        expected[usize::from(out)].clone_from(&before[usize::from(x)]);
                    }
                    block.push_copies(lanes).unwrap();
                    continue;
                }
                if rng.random_range(0..6) == 0 {
                    let [out, x, y] = [(); 3].map(|()| [(); 6].map(|()| slot(&mut rng)));
                    let xi = [[1, 1], [9, 1], [3, 0], [0, 15], [10, 7]][rng.random_range(0..5)];
                    let results = product_in_fp6(&m, &expected, (x, y), xi);
                    for (out, result) in out.into_iter().zip(results) {
                        expected[usize::from(out)] = result;
                    }
                    block.push_fp6(Fp6Op::new(out, x, y, xi).unwrap()).unwrap();
                    continue;
                }
                if rng.random_range(0..3) == 0 {
                    let [out, x, y] = [(); 3].map(|()| [slot(&mut rng), slot(&mut rng)]);
                    let product = |i: usize, j: usize| &expected[usize::from(x[i])] * &expected[usize::from(y[j])];
                    let [c0, c1] = [product(0, 0) + &m * &m - product(1, 1), product(0, 1) + product(1, 0)];
                    expected[usize::from(out[0])] = c0 % &m;
                    expected[usize::from(out[1])] = c1 % &m;
                    block.push_sum(SumOp::fp2(out, x, y)).unwrap();
                    continue;
                }
                let signs: u8 = rng.random();
                let products: Vec<(bool, [u16; 2])> = (0..rng.random_range(2..=SumOp::PRODUCTS_MAX))
                    .map(|place| (signs >> place & 1 == 1, [slot(&mut rng), slot(&mut rng)]))
                    .collect();
                let sum = SumOp::new(slot(&mut rng), products.iter().copied());
                let total = products.iter().fold(BigUint::ZERO, |total, &(is_subtracted, [x, y])| {
                    let product = &expected[usize::from(x)] * &expected[usize::from(y)] % &m;
                    (total + if is_subtracted { &m - product } else { product }) % &m
                });
                expected[usize::from(sum.out)] = total;
                block.push_sum(sum).unwrap();
            }
            assert!(block.sums().all(|(sum, range)| Some(block.ops()[range.end - 1].out) == sum.outs().last()));
            assert!(block.with_slot_count(slots - 1).is_err());
            let block = block.with_slot_count(u16::try_from(room).unwrap()).unwrap();
            block_agrees(name, &m, &block, (&values, &expected), Policy::default());
        }
    }
}

const MIXES: [Mix; 7] = [
    Mix { products: 33, sums: 34, squares: 20, slots: 24, lanes_max: 1 },
    // Wide: most products are independent.
    Mix { products: 40, sums: 30, squares: 10, slots: 200, lanes_max: 12 },
    // Deep: one chain through few slots.
    Mix { products: 50, sums: 25, squares: 50, slots: 3, lanes_max: 1 },
    // Sums that double again and again.
    Mix { products: 4, sums: 92, squares: 60, slots: 6, lanes_max: 2 },
    // Differences that go far below zero.
    Mix { products: 6, sums: 12, squares: 5, slots: 8, lanes_max: 3 },
    // Overwriting within an instruction.
    Mix { products: 30, sums: 35, squares: 10, slots: 5, lanes_max: 8 },
    Mix { products: 100, sums: 0, squares: 30, slots: 20, lanes_max: 4 },
];

#[test]
fn random_blocks_agree_on_every_width() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (name, m) in moduli() {
        for (at, mix) in MIXES.iter().enumerate() {
            let instructions = random_block(&mut rng, mix, 250);
            let values = random_values(&mut rng, &m, usize::from(mix.slots));
            let policy = Policy { batch_fill: 1 + (at * 3) % 8, companions: (at * 13) % 50, fours: at % 2 == 0 };
            agree(name, &m, &instructions, &values, policy);
            agree(name, &m, &instructions, &values, Policy::default());
        }
    }
}

#[test]
fn extreme_values_stay_within_their_bounds() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for (name, m) in moduli() {
        for edge in edge_values(&m) {
            let mix = &MIXES[rng.random_range(0..MIXES.len())];
            let instructions = random_block(&mut rng, mix, 40);
            // One extreme everywhere drives every bound in the same direction.
            agree(name, &m, &instructions, &vec![edge; usize::from(mix.slots)], Policy::default());
        }
    }
}

#[test]
fn a_thousand_doublings_and_differences_are_reduced_in_time() {
    for (name, m) in moduli() {
        let doublings: Vec<Instruction> = (0..1000).map(|_| (FieldOp::Add, vec![(0, 0, 0)])).collect();
        agree(name, &m, &doublings, &[&m - 1u8, BigUint::from(1u8)], Policy::default());
        let sinking: Vec<Instruction> =
            (0..400).flat_map(|_| [(FieldOp::Sub, vec![(0, 0, 1)]), (FieldOp::Mul, vec![(2, 0, 0)])]).collect();
        agree(name, &m, &sinking, &[BigUint::ZERO, &m - 1u8, BigUint::ZERO], Policy::default());
    }
}

#[test]
fn a_plan_runs_again_and_again_from_its_own_ends() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (name, m) in moduli() {
        let rows_of = ModulusRows::new(&Modulus::from_be_bytes(&m.to_bytes_be()).unwrap()).unwrap();
        let instructions = random_block(&mut rng, &MIXES[0], 60);
        let mut values = random_values(&mut rng, &m, 24);
        let mut block = SlotBlock::new(24);
        instructions.iter().for_each(|(kind, lanes)| block.push_lanes(*kind, lanes.iter().copied()).unwrap());
        let plan = Plan::new(&block, rows_of.shape(), &Policy::default()).unwrap();
        let mut rows = Rows::new(rows_of.shape(), 24);
        let element_bytes = 8 * rows_of.width_limbs();
        rows.store(&rows_of, 0, &to_bytes(&values, element_bytes)).unwrap();
        for _ in 0..20 {
            check(&plan, &rows_of, &mut rows).unwrap();
            plan.run(&rows_of, &mut rows);
            evaluate(&instructions, &m, &mut values);
            evaluate(&instructions, &m, &mut values);
        }
        let mut loaded = vec![0; 24 * element_bytes];
        rows.load(&rows_of, 0, &mut loaded);
        assert!(loaded == to_bytes(&values, element_bytes), "modulo {name}");
    }
}

#[test]
fn montgomery_values_enter_and_leave_unchanged() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for (name, m) in moduli() {
        // A declaration wider than the value: R grows with it.
        for extra_limbs in [0, 1, 2, 3] {
            let own_limbs = usize::try_from(m.bits().div_ceil(64)).unwrap();
            let modulus = Modulus::with_width(&m.to_bytes_be(), own_limbs + extra_limbs).unwrap();
            let Ok(rows_of) = ModulusRows::new(&modulus) else {
                assert!(extra_limbs >= 2, "values of one limb more fit the rows modulo {name}");
                continue;
            };
            let width = modulus.width_limbs();
            let values = random_values(&mut rng, &m, 21);
            let mont: Vec<u64> = values
                .iter()
                .flat_map(|value| {
                    let mut digits = ((value << (64 * width)) % &m).to_u64_digits();
                    digits.resize(width, 0);
                    digits
                })
                .collect();
            let mut rows = Rows::new(rows_of.shape(), 30);
            let slots: Vec<u16> = (0..21).map(|i| 29 - i).collect();
            rows.set_mont(&rows_of, &slots, &mont);
            let mut back = vec![0; mont.len()];
            rows.mont(&rows_of, &slots, &mut back);
            assert_eq!(back, mont, "modulo {name}");
            let mut canonical = vec![0; 8 * width];
            rows.load(&rows_of, 29, &mut canonical);
            assert_eq!(BigUint::from_bytes_be(&canonical), values[0], "modulo {name}");
        }
    }
}

#[test]
fn storing_rejects_values_at_the_modulus_and_changes_nothing() {
    let rows_of = ModulusRows::new(&Modulus::from_be_bytes(&[101]).unwrap()).unwrap();
    let mut rows = Rows::new(rows_of.shape(), 2);
    rows.store(&rows_of, 0, &to_bytes(&[5u8.into(), 6u8.into()], 8)).unwrap();
    let error = rows.store(&rows_of, 0, &to_bytes(&[7u8.into(), 101u8.into()], 8)).unwrap_err();
    assert_eq!(error.slot, 1);
    let mut bytes = [0; 16];
    rows.load(&rows_of, 0, &mut bytes);
    assert_eq!((bytes[7], bytes[15]), (5, 6));
}

#[test]
fn dead_slots_cost_nothing() {
    let mut block = SlotBlock::new(4);
    block.push_lanes(FieldOp::Mul, [(2, 0, 1)]).unwrap();
    block.push_lanes(FieldOp::Mul, [(3, 2, 2)]).unwrap();
    let shape = residue_lanes::Shape::of_bits(381).unwrap();
    assert_eq!(Plan::new(&block, shape, &Policy::default()).unwrap().explain().products, 2);
    block.mark_dead(3).unwrap();
    let plan = Plan::new(&block, shape, &Policy::default()).unwrap();
    assert_eq!((plan.explain().products, plan.inputs(), plan.outputs()), (1, &[0, 1][..], &[2][..]));
    block.mark_dead(2).unwrap();
    assert_eq!(Plan::new(&block, shape, &Policy::default()).unwrap().explain().segments, 0);
}
