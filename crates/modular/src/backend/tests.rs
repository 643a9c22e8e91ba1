//! The judges of the kernels: big integers for the portable ones, those for the rest, and blst for BLS12-381.

use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Kernel, Repeated, Squarings, chains, portable, power_of_two, sliced};
use crate::context::Strided;
use crate::fields::{Bls12_381Fp, Bls12_381FpModulus};
use crate::fp::PrimeField;
use crate::limbs::{Limb, n0_of};
use crate::modulus::Kind;

/// Comparisons of each kernel with its twin.
const ROUNDS: usize = 1_000_000;
/// Comparisons with big integers.
const SLOW_ROUNDS: usize = 4_000;

/// Operands of one product.
#[derive(Clone, Copy, Debug)]
struct Case<const N: usize> {
    x: [Limb; N],
    y: [Limb; N],
    m: [Limb; N],
    n0: Limb,
}

/// A limb that is often at an edge, so that carries run through every limb.
fn limb(rng: &mut ChaCha8Rng) -> Limb {
    match rng.random_range(0..8) {
        0 | 1 => 0,
        2 | 3 => Limb::MAX,
        4 => 1,
        5 => 1 << 63,
        6 => Limb::MAX - 1,
        _ => rng.random(),
    }
}

/// All limbs random, all at edges, or one of them alone.
fn value<const N: usize>(rng: &mut ChaCha8Rng) -> [Limb; N] {
    match rng.random_range(0..4) {
        0 => core::array::from_fn(|_| limb(rng)),
        1 => {
            let (at, only) = (rng.random_range(0..N), limb(rng));
            core::array::from_fn(|i| if i == at { only } else { 0 })
        }
        _ => core::array::from_fn(|_| rng.random()),
    }
}

/// m: the field primes, the widest odd ones, even ones, 0, 1, and anything.
fn modulus<const N: usize>(rng: &mut ChaCha8Rng) -> [Limb; N] {
    let mut m = value::<N>(rng);
    match rng.random_range(0..8) {
        0 if N == 6 => m.copy_from_slice(&Bls12_381FpModulus::MODULUS),
        1 => m = [0; N],
        2 => m = core::array::from_fn(|i| if i == 0 { Limb::MAX - 2 } else { Limb::MAX }),
        3 => m[N - 1] >>= 1,
        4 | 5 => m[0] |= 1,
        _ => {}
    }
    m
}

/// Values around m, or anything.
fn operand<const N: usize>(rng: &mut ChaCha8Rng, m: &[Limb; N]) -> [Limb; N] {
    let m = to_big(m);
    let near = match rng.random_range(0..8) {
        0 => BigUint::ZERO,
        1 => BigUint::from(1u8),
        2 => m,
        3 => m + 1u8,
        4 if m > BigUint::ZERO => m - 1u8,
        5 => m << 1u8,
        6 => (BigUint::from(1u8) << (64 * N)) - 1u8,
        _ => return value(rng),
    };
    from_big(&near)
}

fn case<const N: usize>(rng: &mut ChaCha8Rng) -> Case<N> {
    let m = modulus(rng);
    let (x, y) = match rng.random_range(0..4) {
        0 => (operand(rng, &m), operand(rng, &m)),
        _ => (value(rng), value(rng)),
    };
    let n0 = if rng.random_range(0..4) == 0 { limb(rng) } else { n0_of(m[0] | 1) };
    Case { x, y, m, n0 }
}

fn to_big(limbs: &[Limb]) -> BigUint {
    BigUint::from_slice(&limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect::<Vec<_>>())
}

/// The lower N limbs.
fn from_big<const N: usize>(value: &BigUint) -> [Limb; N] {
    let mut digits = value.iter_u64_digits();
    core::array::from_fn(|_| digits.next().unwrap_or(0))
}

fn add_by_definition<const N: usize>(case: &Case<N>) -> [Limb; N] {
    let (sum, m) = (to_big(&case.x) + to_big(&case.y), to_big(&case.m));
    from_big(&if sum >= m { sum - m } else { sum })
}

fn sub_by_definition<const N: usize>(case: &Case<N>) -> [Limb; N] {
    let (x, y, wrap) = (to_big(&case.x), to_big(&case.y), BigUint::from(1u8) << (64 * N));
    from_big(&if x >= y { x - y } else { wrap + x + to_big(&case.m) - y })
}

fn mont_mul_by_definition<const N: usize>(case: &Case<N>) -> [Limb; N] {
    let (mut t, m) = (to_big(&case.x) * to_big(&case.y), to_big(&case.m));
    for i in 0..N {
        let u = (&t >> (64 * i)).iter_u64_digits().next().unwrap_or(0).wrapping_mul(case.n0);
        t += (BigUint::from(u) * &m) << (64 * i);
    }
    t >>= 64 * N;
    from_big(&if t >= m { t - m } else { t })
}

/// The kernel `K` on operands of its own.
fn run<K: Kernel, const N: usize>(case: &Case<N>) -> [Limb; N] {
    let mut limbs = [case.x, case.y].concat();
    K::run(&mut limbs, 0, 0, N, &case.m, case.n0);
    limbs[..N].try_into().unwrap()
}

fn portable_agrees_with_the_definition<const N: usize>() {
    let mut rng = ChaCha8Rng::seed_from_u64(N as u64);
    for _ in 0..SLOW_ROUNDS {
        let case = case::<N>(&mut rng);
        let Case { x, y, m, n0 } = &case;
        let product = mont_mul_by_definition(&case);
        assert_eq!(portable::add(x, y, m), add_by_definition(&case), "{case:x?}");
        assert_eq!(portable::sub(x, y, m), sub_by_definition(&case), "{case:x?}");
        assert_eq!(portable::mont_mul(x, y, m, *n0), product, "{case:x?}");
        assert_eq!(run::<portable::MontMul<N>, N>(&case), product, "{case:x?}");
        assert_eq!(run::<chains::MontMul<N>, N>(&case), product, "{case:x?}");
        assert_eq!(run::<sliced::Add, N>(&case), add_by_definition(&case), "{case:x?}");
        assert_eq!(run::<sliced::Sub, N>(&case), sub_by_definition(&case), "{case:x?}");
        assert_eq!(run::<sliced::MontMul, N>(&case), product, "{case:x?}");
    }
}

#[test]
fn portable_kernels_follow_the_formulas_on_any_input() {
    portable_agrees_with_the_definition::<1>();
    portable_agrees_with_the_definition::<2>();
    portable_agrees_with_the_definition::<3>();
    portable_agrees_with_the_definition::<4>();
    portable_agrees_with_the_definition::<5>();
    portable_agrees_with_the_definition::<6>();
    portable_agrees_with_the_definition::<7>();
    portable_agrees_with_the_definition::<8>();
    portable_agrees_with_the_definition::<12>();
}

#[test]
fn powers_of_two_mask() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..SLOW_ROUNDS {
        let m = BigUint::from(1u8) << rng.random_range(2..256);
        let [x, y] = [(); 2].map(|()| to_big(&value::<4>(&mut rng)) % &m);
        let case = Case { x: from_big(&x), y: from_big(&y), m: from_big(&m), n0: 0 };
        assert_eq!(run::<power_of_two::Add, 4>(&case), from_big(&((&x + &y) % &m)), "{case:x?}");
        assert_eq!(run::<power_of_two::Sub, 4>(&case), from_big(&((&m + &x - &y) % &m)), "{case:x?}");
        assert_eq!(run::<power_of_two::Mul, 4>(&case), from_big(&(&x * &y % &m)), "{case:x?}");
    }
}

/// The kernels of this CPU agree with their twins, and those of aarch64 on any: on other CPUs this compares the twins with themselves.
fn this_cpu_agrees_with_portable<const N: usize>(rounds: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(100 + N as u64);
    for _ in 0..rounds {
        let case = case::<N>(&mut rng);
        let Case { x, y, m, n0 } = &case;
        assert_eq!(super::add(x, y, m), portable::add(x, y, m), "{case:x?}");
        assert_eq!(super::sub(x, y, m), portable::sub(x, y, m), "{case:x?}");
        assert_eq!(super::mont_mul(x, y, m, *n0), portable::mont_mul(x, y, m, *n0), "{case:x?}");
        assert_eq!(chains::add(x, y, m), portable::add(x, y, m), "{case:x?}");
        assert_eq!(chains::sub(x, y, m), portable::sub(x, y, m), "{case:x?}");
        assert_eq!(chains::mont_mul(x, y, m, *n0), portable::mont_mul(x, y, m, *n0), "{case:x?}");
    }
}

/// Sums of any operands before they are reduced: by definition with big integers, and those of this CPU as their twin has them.
fn sums_agree<const N: usize>(rounds: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(200 + N as u64);
    for round in 0..rounds {
        let cases: Vec<_> = (0..rng.random_range(1..=6)).map(|_| case::<N>(&mut rng)).collect();
        let terms: Vec<_> = cases.iter().map(|case| [&case.x, &case.y]).collect();
        let Case { m, n0, .. } = &cases[0];
        let (t, top) = portable::sum_rows(&terms, m, *n0);
        assert_eq!(super::sum_rows(&terms, m, *n0), (t, top), "{cases:x?}");
        assert_eq!(chains::sum_rows(&terms, m, *n0), (t, top), "{cases:x?}");
        if round < SLOW_ROUNDS {
            let mut sum: BigUint = cases.iter().map(|case| to_big(&case.x) * to_big(&case.y)).sum();
            for i in 0..N {
                let u = (&sum >> (64 * i)).iter_u64_digits().next().unwrap_or(0).wrapping_mul(*n0);
                sum += (BigUint::from(u) * to_big(m)) << (64 * i);
            }
            assert_eq!(to_big(&t) + (BigUint::from(top) << (64 * N)), sum >> (64 * N), "{cases:x?}");
        }
    }
}

#[test]
fn sums_of_this_cpu_agree_at_4_and_6_limbs() {
    sums_agree::<4>(ROUNDS);
    sums_agree::<6>(ROUNDS);
}

#[test]
fn sums_of_this_cpu_agree_at_other_widths() {
    sums_agree::<1>(SLOW_ROUNDS);
    sums_agree::<2>(SLOW_ROUNDS);
    sums_agree::<3>(ROUNDS / 2);
    sums_agree::<5>(ROUNDS / 2);
    sums_agree::<7>(ROUNDS / 4);
    sums_agree::<8>(ROUNDS / 4);
    sums_agree::<11>(SLOW_ROUNDS);
    sums_agree::<12>(ROUNDS / 4);
}

#[test]
fn kernels_of_this_cpu_agree_at_4_limbs() {
    this_cpu_agrees_with_portable::<4>(ROUNDS);
}

#[test]
fn kernels_of_this_cpu_agree_at_6_limbs() {
    this_cpu_agrees_with_portable::<6>(2 * ROUNDS);
}

#[test]
fn kernels_of_this_cpu_agree_at_12_limbs() {
    this_cpu_agrees_with_portable::<12>(ROUNDS / 2);
}

#[test]
fn kernels_of_this_cpu_agree_at_other_widths() {
    this_cpu_agrees_with_portable::<3>(ROUNDS);
    this_cpu_agrees_with_portable::<5>(ROUNDS);
    this_cpu_agrees_with_portable::<7>(ROUNDS / 2);
    this_cpu_agrees_with_portable::<8>(ROUNDS / 2);
}

/// Lanes of one limb, of every operation, by any strides and counts: those of this CPU against the twin, lane by lane. Other slots stay.
#[test]
fn lanes_of_one_limb_agree() {
    #[cfg(target_arch = "x86_64")]
    if super::x86_64::has_lanes() {
        use super::x86_64::{AddLanes, MulLanes, SubLanes};
        lanes_agree::<AddLanes, SubLanes, MulLanes>();
    }
    lanes_agree::<super::one_limb::Add, super::one_limb::Sub, super::one_limb::MontMul>();
}

fn lanes_agree<A: Kernel, S: Kernel, M: Kernel>() {
    const SLOTS: usize = 64;
    // Goldilocks, BabyBear, KoalaBear, those of Falcon and ML-DSA, and both ends of either kind of product.
    let moduli =
        [0xffff_ffff_0000_0001, 0x7800_0001, 0x7f00_0001, 12_289, 8_380_417, 3, 0xffff_ffff, 0x1_0000_0001, Limb::MAX];
    let mut rng = ChaCha8Rng::seed_from_u64(101);
    for round in 0..ROUNDS / 8 {
        let m = match round % 16 {
            at if at < moduli.len() => moduli[at],
            _ => (rng.random::<Limb>() >> rng.random_range(0..62)) | 1,
        };
        let m = m.max(3);
        let n0 = n0_of(m);
        // Values are below the modulus. Products take others too: of 32 bits where the modulus is so short, else x·y below m·2⁶⁴.
        let (narrow, any) = (m >> 32 == 0, round % 5 == 0);
        let edge = |rng: &mut ChaCha8Rng, below: Limb| match rng.random_range(0..10) {
            0 => 0,
            1 => 1 % below,
            2 => below - 1,
            3 => below >> 1,
            4 => (below >> 1) + 1,
            5 => (1 << 32) % below,
            6 => Limb::MAX % below,
            7 => limb(rng) % below,
            _ => rng.random::<Limb>() % below,
        };
        let word = |rng: &mut ChaCha8Rng| match rng.random_range(0..6) {
            0 => m,
            1 => m.wrapping_mul(2),
            2 => m.wrapping_add(1),
            _ => limb(rng),
        };
        let before: Vec<Limb> = (0..SLOTS).map(|_| if any { word(&mut rng) } else { edge(&mut rng, m) }).collect();
        let lane = |rng: &mut ChaCha8Rng, count: usize| {
            let stride = *[0, 1, 1, 1, 2, 3, 7].get(rng.random_range(0..7)).unwrap();
            let stride = if stride * (count - 1) < SLOTS { stride } else { 1 };
            Strided { index: rng.random_range(0..SLOTS - stride * (count - 1)), stride }
        };
        let count = rng.random_range(1..=28);
        let lanes = [(); 3].map(|()| lane(&mut rng, count));
        let [out, x, y] = lanes;
        if super::reads_after_writes(out, x, count) || super::reads_after_writes(out, y, count) {
            continue;
        }
        let is_product = |x: Limb, y: Limb| match narrow {
            true => x >> 32 == 0 && y >> 32 == 0,
            false => u128::from(x) * u128::from(y) < u128::from(m) << 64,
        };
        let check = |run: fn(&mut [Limb], [Strided; 3], usize, &[Limb], Limb), twin: &dyn Fn(Limb, Limb) -> Limb| {
            let (mut after, mut expected) = (before.clone(), before.clone());
            run(&mut after, lanes, count, &[m], n0);
            for lane in 0..count {
                expected[out.slot(lane)] = twin(before[x.slot(lane)], before[y.slot(lane)]);
            }
            assert_eq!(after, expected, "m {m:x} {lanes:?} {count} {before:x?}");
        };
        if !any {
            check(A::run_lanes, &|x, y| portable::add(&[x], &[y], &[m])[0]);
            check(S::run_lanes, &|x, y| portable::sub(&[x], &[y], &[m])[0]);
        }
        if (0..count).all(|lane| is_product(before[x.slot(lane)], before[y.slot(lane)])) {
            check(M::run_lanes, &|x, y| portable::mont_mul(&[x], &[y], &[m], n0)[0]);
        }
    }
}

/// The formulas of one limb on words of eight bits: every odd modulus with all operands that they are for.
#[test]
fn formulas_of_one_limb_hold_for_all_numbers_of_short_words() {
    const WORD: u32 = 8;
    const HALF: u32 = WORD / 2;
    let (word, low) = (1u32 << WORD, (1u32 << HALF) - 1);
    // As `high` has it in vectors: four products of halves, of which no sum is longer than a word.
    let high = |x: u32, y: u32| {
        let [x0, x1, y0, y1] = [x & low, x >> HALF, y & low, y >> HALF];
        let middle = x1 * y0 + ((x0 * y0) >> HALF);
        let second = x0 * y1 + (middle & low);
        let upper = x1 * y1 + (middle >> HALF) + (second >> HALF);
        assert!([middle, second, upper].iter().all(|sum| *sum < word));
        upper
    };
    for m in (3..word).step_by(2) {
        let inverse = (1..word).find(|inverse| m * inverse % word == 1).unwrap();
        let reduced = |product: u32| (0..m).find(|t| t * word % m == product % m).unwrap();
        let expected: Vec<u32> = (0..m).map(reduced).collect();
        for (x, y) in (0..word).flat_map(|x| (x..word).map(move |y| (x, y))).filter(|(x, y)| x * y < m * word) {
            let u = x * y % word * inverse % word;
            let difference = |high: u32, of_multiple: u32| {
                if high < of_multiple { high + m - of_multiple } else { high - of_multiple }
            };
            let expected = expected[(x * y % m) as usize];
            assert_eq!((high(x, y), high(u, m)), ((x * y) >> WORD, (u * m) >> WORD));
            assert_eq!(difference(high(x, y), high(u, m)), expected, "{x} {y} {m}");
            if x.max(y).max(m) <= low {
                let sum = (u >> HALF) * m + (((u & low) * m) >> HALF);
                assert!(sum < word);
                assert_eq!(difference(0, sum >> HALF), expected, "{x} {y} {m}");
            }
            if x.max(y) < m {
                assert_eq!(difference(x, m - y), (x + y) % m);
                assert_eq!(difference(x, y), (x + m - y) % m);
            }
        }
    }
}

/// Every combination of edge values around one modulus, consistent and garbage n0.
#[test]
fn kernels_of_this_cpu_agree_at_the_edges() {
    fn check<const N: usize>(m: [Limb; N]) {
        let top = 64 * N - 1;
        let big = to_big(&m);
        let mut edges = vec![BigUint::ZERO, BigUint::from(1u8), big.clone(), &big + 1u8, &big << 1u8, &big >> 1u8];
        edges.extend((big > BigUint::ZERO).then(|| &big - 1u8));
        edges.push((BigUint::from(1u8) << (64 * N)) - 1u8);
        edges.extend([BigUint::from(1u8) << top, (BigUint::from(1u8) << top) - 1u8]);
        edges.extend((1..N).flat_map(|i| {
            let carry = BigUint::from(1u8) << (64 * i);
            [carry.clone() - 1u8, carry]
        }));
        for x in edges.iter().map(from_big) {
            for y in edges.iter().map(from_big) {
                for n0 in [n0_of(m[0]), n0_of(m[0] | 1), 0, 1, Limb::MAX] {
                    let case = Case { x, y, m, n0 };
                    assert_eq!(super::add(&x, &y, &m), add_by_definition(&case), "{case:x?}");
                    assert_eq!(super::sub(&x, &y, &m), sub_by_definition(&case), "{case:x?}");
                    assert_eq!(super::mont_mul(&x, &y, &m, n0), mont_mul_by_definition(&case), "{case:x?}");
                    assert_eq!(chains::add(&x, &y, &m), add_by_definition(&case), "{case:x?}");
                    assert_eq!(chains::sub(&x, &y, &m), sub_by_definition(&case), "{case:x?}");
                    assert_eq!(chains::mont_mul(&x, &y, &m, n0), mont_mul_by_definition(&case), "{case:x?}");
                }
            }
        }
    }
    fn widths<const N: usize>() {
        let mut small = [0; N];
        check(small);
        for m0 in [1, 2, 3, Limb::MAX] {
            small[0] = m0;
            check(small);
        }
        check([Limb::MAX; N]);
        let mut even = [Limb::MAX; N];
        even[0] = Limb::MAX - 1;
        check(even);
        even[N - 1] >>= 1;
        check(even);
    }
    widths::<3>();
    widths::<4>();
    widths::<5>();
    widths::<6>();
    widths::<7>();
    widths::<8>();
    widths::<12>();
    check(Bls12_381FpModulus::MODULUS);
    // The prime of P-384, which has no spare bit (FIPS 186-4, D.1.2.4).
    check([0xffff_ffff, 0xffff_ffff_0000_0000, Limb::MAX - 1, Limb::MAX, Limb::MAX, Limb::MAX]);
}

/// x ↦ `count` squarings, by the kernel of this CPU.
fn squarings(x: &[Limb; 6], count: u16, m: &[Limb; 6], n0: Limb) -> [Limb; 6] {
    let mut limbs = [[Limb::MAX; 6], *x].concat();
    #[cfg(target_arch = "x86_64")]
    let run = if super::x86_64::has_products() {
        <super::x86_64::MontSquare6 as Squarings>::run
    } else {
        <Repeated<portable::MontMul<6>> as Squarings>::run
    };
    #[cfg(not(target_arch = "x86_64"))]
    let run = <Repeated<portable::MontMul<6>> as Squarings>::run;
    run(&mut limbs, 0, 6, count, m, n0);
    assert_eq!(limbs[6..], *x, "the operand stays");
    limbs[..6].try_into().unwrap()
}

/// `count` squarings by the twin.
fn squarings_by_products(x: &[Limb; 6], count: u16, m: &[Limb; 6], n0: Limb) -> [Limb; 6] {
    (0..count).fold(*x, |x, _| portable::mont_mul(&x, &x, m, n0))
}

/// Moduli with and without the spare bits, operands below m and, where values need not be reduced, below 2m.
#[test]
fn squarings_of_this_cpu_agree() {
    let mut rng = ChaCha8Rng::seed_from_u64(106);
    for round in 0..2 * ROUNDS {
        let mut m = modulus::<6>(&mut rng);
        m[0] |= 1;
        if round % 4 > 0 {
            m[5] >>= rng.random_range(2..5);
        }
        let range = to_big(&m) << u8::from(m[5] >> 61 == 0);
        let x = from_big(&match rng.random_range(0..8) {
            0 => to_big(&operand(&mut rng, &m)) % range,
            1 => range - 1u8,
            _ => to_big(&value::<6>(&mut rng)) % range,
        });
        let (count, n0) = (rng.random_range(1..5), n0_of(m[0]));
        let expected = squarings_by_products(&x, count, &m, n0);
        assert_eq!(squarings(&x, count, &m, n0), expected, "{x:x?} {count} {m:x?}");
    }
}

/// Limbs of the square that are zero, all ones, or one off, so that the reduction carries into each limb and into none.
#[test]
fn squarings_of_this_cpu_agree_at_the_edges() {
    let top = Limb::MAX >> 3;
    let mut one = [0; 6];
    one[0] = 1;
    let widest = [Limb::MAX, Limb::MAX, Limb::MAX, Limb::MAX, Limb::MAX, top];
    let sparse = [1, 0, 0, 0, 0, top];
    let small = [3, 0, 0, 0, 0, 0];
    for m in [Bls12_381FpModulus::MODULUS, widest, sparse, small, one, [Limb::MAX, 0, 0, 0, 0, 1]] {
        let n0 = n0_of(m[0]);
        for picks in 0..5usize.pow(6) {
            let pick = |i: usize| [0, 1, Limb::MAX, Limb::MAX - 1, 1 << 63][picks / 5usize.pow(i as u32) % 5];
            let x: [Limb; 6] = core::array::from_fn(|i| if i == 5 { pick(5) & (2 * m[5]) } else { pick(i) });
            if to_big(&x) < to_big(&m) << 1u8 {
                let expected = squarings_by_products(&x, 2, &m, n0);
                assert_eq!(squarings(&x, 2, &m, n0), expected, "{x:x?} {m:x?}");
            }
        }
    }
}

/// In memory: any alignment and any overlap, all operands read before the result is written.
#[test]
fn memory_kernels_read_everything_first() {
    use crate::evm384;
    let mut rng = ChaCha8Rng::seed_from_u64(384);
    let value_at = |memory: &[u8], at: usize| evm384::read_le(memory[at..at + 48].try_into().unwrap());
    for round in 0..ROUNDS / 4 {
        let mut memory = [0u8; 160];
        for chunk in memory.chunks_exact_mut(8) {
            chunk.copy_from_slice(&limb(&mut rng).to_le_bytes());
        }
        let reach = if round % 2 == 0 { 104 } else { 60 };
        let [out, x, y, m] = [(); 4].map(|()| rng.random_range(0..=reach));
        let [vx, vy, vm] = [x, y, m].map(|at| value_at(&memory, at));
        let n0 = Limb::from_le_bytes(memory[m + 48..m + 56].try_into().unwrap());
        type InMemory = fn(&mut [u8], usize, usize, usize, usize);
        let operations: [(InMemory, evm384::Value); 3] = [
            (evm384::add_in_memory, portable::add(&vx, &vy, &vm)),
            (evm384::sub_in_memory, portable::sub(&vx, &vy, &vm)),
            (evm384::mul_in_memory, portable::mont_mul(&vx, &vy, &vm, n0)),
        ];
        for (operation, expected) in operations {
            let mut after = memory;
            operation(&mut after, out, x, y, m);
            let mut expected_memory = memory;
            evm384::write_le(&expected, (&mut expected_memory[out..out + 48]).try_into().unwrap());
            assert_eq!(after, expected_memory, "out {out} x {x} y {y} m {m} memory {memory:x?}");
        }
    }
}

/// Every width with transfers of its own, beside those for any width: values at the edges, one of them too large, in all positions.
#[test]
fn transfers_of_each_width_agree_with_those_of_any() {
    use super::transfer::{load_any_width, store_any_width};
    use crate::{FieldContext, Modulus};
    let mut rng = ChaCha8Rng::seed_from_u64(1 << 12);
    for width in 1..=13 {
        for round in 0..200 {
            let mut m = value::<13>(&mut rng);
            m[0] |= 1;
            m[width - 1] |= 1 << rng.random_range(0..64);
            let m = (to_big(&m) % (BigUint::from(1u8) << (64 * width))) | BigUint::from(3u8);
            let modulus = Modulus::from_be_bytes(&m.to_bytes_be()).unwrap();
            let count = rng.random_range(0..5);
            let mut contexts = [(); 2].map(|()| FieldContext::new(modulus.clone(), count + 2));
            let bad = (round % 3 == 0 && count > 0).then(|| rng.random_range(0..count));
            let mut bytes = vec![0; 8 * width * count];
            for (at, out) in bytes.chunks_exact_mut(8 * width).enumerate() {
                let v = match rng.random_range(0..4) {
                    _ if bad == Some(at) => m.clone(),
                    0 => &m - 1u8,
                    1 => BigUint::ZERO,
                    _ => to_big(&value::<13>(&mut rng)) % &m,
                };
                let digits = v.to_bytes_be();
                out[8 * width - digits.len()..].copy_from_slice(&digits);
            }
            let [context, judge] = &mut contexts;
            let stored = context.store(1, &bytes);
            assert_eq!(stored, store_any_width(judge, 1, &bytes), "{m:x} {bytes:x?}");
            assert_eq!(stored.err().map(|error| error.slot), bad.map(|at| at + 1));
            for slot in 0..count + 2 {
                assert_eq!(context.slot(slot), judge.slot(slot), "{m:x} {bytes:x?}");
            }
            let mut loaded = [(); 2].map(|()| vec![1; 8 * width * (count + 2)]);
            context.load(0, &mut loaded[0]);
            load_any_width(judge, 0, &mut loaded[1]);
            assert_eq!(loaded[0], loaded[1], "{m:x} {bytes:x?}");
            if stored.is_ok() {
                assert_eq!(loaded[0][8 * width..][..bytes.len()], bytes);
            }
        }
    }
}

/// The same for one limb and values of fewer bytes.
#[test]
fn short_values_of_one_limb_agree_with_those_of_any() {
    use super::transfer::{load_any_width, store_any_width};
    use crate::{FieldContext, Modulus};
    let mut rng = ChaCha8Rng::seed_from_u64(1 << 13);
    for size in 1..8 {
        for round in 0..200 {
            let m = rng.random::<u64>() >> rng.random_range(64 - 8 * size as u32..62) | 3;
            let modulus = Modulus::from_be_bytes(&m.to_be_bytes()[8 - size..]).unwrap();
            let count = rng.random_range(1..20);
            let mut contexts = [(); 2].map(|()| FieldContext::with_element_bytes(modulus.clone(), count + 2, size));
            let bad = (round % 3 == 0).then(|| rng.random_range(0..count));
            let mut value = |at| match rng.random_range(0..4) {
                _ if bad == Some(at) => m,
                0 => m - 1,
                1 => 0,
                _ => rng.random_range(0..m),
            };
            let bytes: Vec<u8> = (0..count).flat_map(|at| value(at).to_be_bytes().into_iter().skip(8 - size)).collect();
            let [context, judge] = &mut contexts;
            let stored = context.store(1, &bytes);
            assert_eq!(stored, store_any_width(judge, 1, &bytes), "{m:x} {bytes:x?}");
            assert_eq!(stored.is_err(), bad.is_some());
            let mut loaded = [(); 2].map(|()| vec![1; size * (count + 2)]);
            context.load(0, &mut loaded[0]);
            load_any_width(judge, 0, &mut loaded[1]);
            assert_eq!(loaded[0], loaded[1], "{m:x} {bytes:x?}");
            if stored.is_ok() {
                assert_eq!(loaded[0][size..][..bytes.len()], bytes);
            }
        }
    }
}

/// The rule for staging, against all pairs of lanes.
#[test]
fn lanes_are_staged_where_a_later_one_reads_what_an_earlier_one_has_written() {
    let strided = || (0..4).flat_map(|stride| (0..14).map(move |index| Strided { index, stride }));
    for (out, operand) in strided().flat_map(|out| strided().map(move |operand| (out, operand))) {
        for count in 1..6 {
            let reads = |lane: usize| (0..lane).any(|earlier| out.slot(earlier) == operand.slot(lane));
            let is_late = (1..count).any(reads);
            // Where all lanes write one slot, it is enough that the ranges meet.
            let meets = (operand.index..=operand.slot(count - 1)).contains(&out.index);
            let found = super::reads_after_writes(out, operand, count);
            assert_eq!(found, if out.stride == 0 { meets } else { is_late }, "{out:?} {operand:?} {count}");
            assert!(found || !is_late);
        }
    }
}

/// The addresses of the kernels of a width: other code has other addresses.
fn addresses(kernels: super::Kernels) -> [usize; 4] {
    let super::Kernels { add, sub, mul, steps, .. } = kernels;
    [add.limbs as usize, sub.limbs as usize, mul.limbs as usize, steps as usize]
}

#[test]
fn each_width_has_the_kernels_that_are_made_for_it() {
    let of = |width_limbs| addresses(super::kernels(width_limbs, Kind::Montgomery));
    for width in 1..=13 {
        for other in 1..width {
            assert!(of(width).iter().zip(of(other)).all(|(a, b)| *a != b), "{width} and {other} limbs");
        }
    }
    assert!([14, 24, 64].iter().all(|width| of(*width) == of(13)), "beyond twelve limbs there is one for all");
    // In plain Rust, the widths of the fields that are used most, to be measured beside the others.
    let portable = |width_limbs| addresses(super::portable_kernels(width_limbs));
    for width in [4, 6, 12] {
        assert!(portable(width).iter().zip(portable(5)).all(|(a, b)| *a != b));
    }
    let of_powers = |width_limbs| addresses(super::kernels(width_limbs, Kind::PowerOfTwo));
    assert!((1..=64).all(|width| of_powers(width) == of_powers(1)) && of_powers(6) != of(6));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn products_in_assembly_are_taken_where_the_cpu_has_the_instructions() {
    let has_products = std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("adx");
    assert_eq!(super::x86_64::has_products(), has_products);
    fn is_taken<const N: usize>() -> bool {
        super::x86_64::mont_mul(&[1; N], &[1; N], &[u64::MAX; N], 1).is_some()
    }
    let taken = [is_taken::<3>(), is_taken::<4>(), is_taken::<5>(), is_taken::<6>(), is_taken::<7>(), is_taken::<8>()];
    assert_eq!((taken, is_taken::<12>()), ([has_products; 6], has_products));
    let others = [is_taken::<1>(), is_taken::<2>(), is_taken::<9>(), is_taken::<11>(), is_taken::<13>()];
    assert_eq!(others, [false; 5]);
    assert_eq!(super::mont_mul_in_memory(&mut [1; 192], 0, 48, 96, 144, 1), has_products);
    for (width, in_plain_rust) in [
        (3, super::Kernels::of_plain_product::<3>()),
        (4, super::Kernels::of_plain_product::<4>()),
        (5, super::Kernels::of_plain_product::<5>()),
        (6, super::Kernels::of_plain_product::<6>()),
        (7, super::Kernels::of_plain_product::<7>()),
        (8, super::Kernels::of_plain_product::<8>()),
        (12, super::Kernels::of_plain_product::<12>()),
    ] {
        let products = [super::kernels(width, Kind::Montgomery), in_plain_rust].map(|kernels| addresses(kernels)[2]);
        assert_eq!(products[0] != products[1], has_products);
    }
}

#[test]
fn bls12_381_agrees_with_blst() {
    let mut rng = ChaCha8Rng::seed_from_u64(381);
    let m = Bls12_381FpModulus::MODULUS;
    for _ in 0..ROUNDS / 10 {
        let [x, y] = [(); 2].map(|()| from_big::<6>(&(to_big(&operand(&mut rng, &m)) % to_big(&m))));
        let (p, q) = (blst::blst_fp { l: x }, blst::blst_fp { l: y });
        let mut r = blst::blst_fp::default();
        // SAFETY: every pointer is to a live value of the type that blst expects, here and below.
        unsafe { blst::blst_fp_add(&mut r, &p, &q) };
        assert_eq!(r.l, super::add(&x, &y, &m));
        // SAFETY: as above.
        unsafe { blst::blst_fp_sub(&mut r, &p, &q) };
        assert_eq!(r.l, super::sub(&x, &y, &m));
        // SAFETY: as above.
        unsafe { blst::blst_fp_mul(&mut r, &p, &q) };
        assert_eq!(r.l, super::mont_mul(&x, &y, &m, Bls12_381Fp::N0));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(382);
    for _ in 0..1_000 {
        use residue_formula::Number;
        let x = from_big::<6>(&(to_big(&operand(&mut rng, &m)) % to_big(&m)));
        let number = Bls12_381Fp::from_mont(x).unwrap();
        let (p, mut r, mut bytes) = (blst::blst_fp { l: x }, blst::blst_fp::default(), [0; 48]);
        // SAFETY: as above.
        unsafe { blst::blst_fp_eucl_inverse(&mut r, &p) };
        assert_eq!(r.l, number.inverse().unwrap_or_default().to_mont());
        // SAFETY: as above; blst writes 48 bytes.
        unsafe { blst::blst_bendian_from_fp(bytes.as_mut_ptr(), &p) };
        assert_eq!(bytes.as_slice(), number.to_be_bytes());
        assert_eq!(Bls12_381Fp::from_be_bytes(&bytes), Some(number));
    }
}
