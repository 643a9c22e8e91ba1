//! Plans by their words: every act on lanes at the edges of what is claimed of them, and beside multiples of the modulus.

use super::super::check::check;
use super::*;
use proptest::prelude::*;
use ruint::aliases::U256;

/// Σ laneₗ·2^(b·l) mod 2²⁵⁶, lane 0 at the top.
fn packed(lanes: &Lanes, values: &[i128]) -> U256 {
    values.iter().fold(U256::ZERO, |word, &value| {
        let magnitude = U256::from(value.unsigned_abs());
        let shifted = word << lanes.bits as usize;
        if value < 0 { shifted.wrapping_sub(magnitude) } else { shifted.wrapping_add(magnitude) }
    })
}

/// The lanes of a word if they are in an interval.
fn unpacked(lanes: &Lanes, word: U256, Interval { low, high }: Interval) -> Option<Vec<i128>> {
    let from_low = word.wrapping_sub(packed(lanes, &vec![low; lanes.count()]));
    let cells = (0..lanes.count()).rev().map(|cell| {
        let cell = from_low >> (cell * lanes.bits as usize) & U256::from((1u128 << lanes.bits) - 1);
        low + i128::try_from(cell).unwrap()
    });
    let found: Vec<i128> = cells.collect();
    found.iter().all(|&value| value <= high).then_some(found)
}

/// v·by − h·q with the words that code has.
fn reduced(lanes: &Lanes, v: U256, by: u64, quotient: Quotient) -> U256 {
    let one = packed(lanes, &vec![1; lanes.count()]);
    let mask = one.wrapping_mul(U256::from((1u128 << (lanes.bits - quotient.shift)) - 1));
    let firsts = one.wrapping_mul(U256::from((1u128 << (lanes.bits - quotient.first)) - 1));
    let high = if quotient.first > 0 { v >> quotient.first as usize & firsts } else { v };
    let h = high.wrapping_mul(U256::from(quotient.factor)) >> quotient.shift as usize & mask;
    v.wrapping_mul(U256::from(by)).wrapping_sub(h.wrapping_mul(U256::from(lanes.modulus)))
}

/// Values of an interval: its ends, those beside the multiples of q next to them, and others.
fn edges(lanes: &Lanes, Interval { low, high }: Interval, seed: u64) -> Vec<i128> {
    let q = i128::from(lanes.modulus);
    let beside = |at: i128| [at.div_euclid(q) * q - 1, at.div_euclid(q) * q];
    let any = low + i128::from(seed % 1_000_003) * (high - low) / 1_000_003;
    let all = [[low, high], [any, high - 1], beside(high), beside(any), beside(low + q)].concat();
    all.into_iter().map(|value| value.clamp(low, high)).collect()
}

/// Values at each end of an interval among which a remainder is looked for: more than a period of the quotients in these tests.
const NEAR: i128 = 1 << 13;

/// A value near the upper end of an interval whose remainder is the greatest there, and one near the lower end whose remainder is the least.
fn remainders(lanes: &Lanes, Interval { low, high }: Interval, (by, quotient): (u64, Quotient)) -> [i128; 2] {
    let q = i128::from(lanes.modulus);
    let left = |v: &i128| v * i128::from(by) - ((v * i128::from(quotient.factor)) >> quotient.shift) * q;
    let [first, last] = [low..=high.min(low + NEAR), low.max(high - NEAR)..=high];
    [last.max_by_key(left).unwrap(), first.min_by_key(left).unwrap()]
}

/// a·b modulo x^L − root, whose last lane has the coefficient of 1.
fn product_of(lanes: &Lanes, a: &[i128], b: &[i128], root: i128) -> Vec<i128> {
    let count = lanes.count();
    let mut product = vec![0; count];
    for (i, x) in a.iter().rev().enumerate() {
        for (j, y) in b.iter().rev().enumerate() {
            product[count - 1 - (i + j) % count] += x * y * if i + j < count { 1 } else { root };
        }
    }
    product
}

/// Words after a butterfly backwards or a product, and numbers that their lanes are congruent to.
fn of_pair(lanes: &Lanes, act: Act<'_>, a: &[i128], b: &[i128]) -> (Vec<U256>, Vec<Vec<i128>>) {
    let [first, second] = [a, b].map(|word| packed(lanes, word));
    match act {
        Act::Back { by, is_negative, times, quotient, .. } => {
            let multiple = packed(lanes, &vec![i128::from(times) * i128::from(lanes.modulus); lanes.count()]);
            let (from, less) = if is_negative { (second, first) } else { (first, second) };
            let difference = from.wrapping_sub(less).wrapping_add(multiple);
            let by_signed = if is_negative { -i128::from(by) } else { i128::from(by) };
            let pairs = || a.iter().zip(b);
            let expected = [pairs().map(|(a, b)| a + b).collect(), pairs().map(|(a, b)| (a - b) * by_signed).collect()];
            (vec![first.wrapping_add(second), reduced(lanes, difference, by, quotient)], expected.to_vec())
        }
        Act::Multiply { root, of_root, quotient, .. } => {
            let of_root = reduced(lanes, second, root, of_root);
            let cyclic = first.mul_mod(of_root, U256::MAX);
            let product = first.wrapping_mul(second.wrapping_sub(of_root)).wrapping_add(cyclic);
            let expected = vec![product_of(lanes, a, b, root.into()), b.to_vec()];
            (vec![reduced(lanes, product, 1, quotient), second], expected)
        }
        _ => unreachable!("other acts have one word"),
    }
}

/// The first act that takes lanes, forced to edges of the intervals before it, out of one that is claimed, or to other residues.
fn broken(lanes: &Lanes, plan: &Plan<'_>) -> Option<String> {
    let q = i128::from(lanes.modulus);
    for (number, planned) in plan.iter().flatten().enumerate() {
        let values = |word: usize, turn: usize| -> Vec<i128> {
            let Interval { low, high } = planned.before[word].1;
            let remainders = match planned.act {
                Act::Reduce { quotient, .. } => remainders(lanes, planned.before[0].1, (1, quotient)),
                Act::Butterfly { by, quotient, .. } if word == 1 => {
                    remainders(lanes, planned.before[1].1, (by, quotient))
                }
                _ => [low, high],
            };
            if turn < 4 {
                let place = if word == 0 { turn % 2 } else { turn / 2 };
                return vec![remainders[place]; lanes.count()];
            }
            let edges = edges(lanes, planned.before[word].1, (number * 7919 + turn * 104_729) as u64);
            (0..lanes.count()).map(|lane| edges[(lane * (word + 1) + turn) % edges.len()]).collect()
        };
        for turn in 0..12 {
            let lane_sum =
                |by: i128, a: &[i128], b: &[i128]| a.iter().zip(b).map(|(a, b)| a + by * b).collect::<Vec<_>>();
            // Words after, and what their lanes are congruent to.
            let (after, expected) = match planned.act {
                Act::Take { .. } | Act::Read { .. } | Act::Put { .. } => continue,
                Act::Back { .. } | Act::Multiply { .. } => {
                    of_pair(lanes, planned.act, &values(0, turn), &values(1, turn))
                }
                Act::Leave { quotient, .. } => {
                    let a = values(0, turn);
                    let word = packed(lanes, &a);
                    (vec![quotient.map_or(word, |quotient| reduced(lanes, word, 1, quotient))], vec![a])
                }
                Act::Offset { times, .. } => {
                    let a = values(0, turn);
                    let multiple = packed(lanes, &vec![i128::from(times) * q; lanes.count()]);
                    (vec![packed(lanes, &a).wrapping_add(multiple)], vec![a])
                }
                Act::Reduce { quotient, .. } => {
                    let a = values(0, turn);
                    (vec![reduced(lanes, packed(lanes, &a), 1, quotient)], vec![a])
                }
                Act::Butterfly { by, is_negative, quotient, .. } => {
                    let (a, b) = (values(0, turn), values(1, turn));
                    let (low, r) = (packed(lanes, &a), reduced(lanes, packed(lanes, &b), by, quotient));
                    let by = if is_negative { -i128::from(by) } else { i128::from(by) };
                    let words = [low.wrapping_add(r), low.wrapping_sub(r)];
                    let words = if is_negative { [words[1], words[0]] } else { words };
                    (words.to_vec(), vec![lane_sum(by, &a, &b), lane_sum(-by, &a, &b)])
                }
            };
            for ((&word, expected), &(_, interval)) in after.iter().zip(&expected).zip(&planned.after) {
                let found = unpacked(lanes, word, interval);
                if !found.is_some_and(|found| found.iter().zip(expected).all(|(a, b)| (a - b) % q == 0)) {
                    return Some(format!("act {number}, {:?}", planned.act));
                }
            }
        }
    }
    None
}

/// Butterflies of some words, taken before and put after them.
fn transform(bits: u32, modulus: u32, pairs: &[(u32, u32, u32)]) -> Lanes {
    let words = 4;
    let lanes = Lanes { bits, modulus, words, home: 0, steps: Vec::new() };
    let mut steps: Vec<LaneStep> = (0..words).map(|word| LaneStep::Take { word, from: vec![32 * word] }).collect();
    steps.extend(pairs.iter().map(|&(low, high, by)| LaneStep::Butterfly {
        low: low % words,
        high: if low % words == high % words { (high + 1) % words } else { high % words },
        by: by % modulus,
    }));
    let rows = vec![vec![modulus - 1; lanes.count()]; 4];
    steps.extend((0..words).map(|word| LaneStep::Put { word, to: 32 * word, rows: rows.clone() }));
    Lanes { steps, ..lanes }
}

/// Steps of every kind on some words, which are left after them.
fn mixture(bits: u32, modulus: u32, pairs: &[(u32, u32, u32)]) -> Lanes {
    let mut lanes = transform(bits, modulus, pairs);
    for (step, (kind, _, _)) in lanes.steps.iter_mut().skip(4).zip(pairs) {
        let LaneStep::Butterfly { low, high, by } = *step else { continue };
        match kind / 4 % 4 {
            0 => *step = LaneStep::Back { low, high, by },
            1 => *step = LaneStep::Multiply { word: low, by: high, root: by },
            _ => {}
        }
    }
    for step in &mut lanes.steps {
        if let LaneStep::Put { word, .. } = *step {
            *step = LaneStep::Leave { word, times: if word % 2 == 0 { 1 } else { 3 } };
        }
    }
    lanes
}

/// Lanes and moduli: those of signatures and the largest and smallest that fit.
fn fields() -> impl Strategy<Value = (u32, u32)> {
    let largest = |bits: u32| ((1u128 << bits) / (512 / u128::from(bits))).isqrt() as u32;
    let of = move |bits: u32| (Just(bits), prop_oneof![Just(largest(bits)), 2..=largest(bits), Just(2)]);
    prop_oneof![Just((64, 8_380_417)), Just((32, 12_289)), of(16), of(32), of(64)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn lanes_forced_to_the_edges_stay_within_what_is_claimed(
        (bits, modulus) in fields(),
        pairs in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>()), 0..60),
    ) {
        let lanes = transform(bits, modulus, &pairs);
        lanes.check().unwrap();
        let plan = plan(&lanes);
        prop_assert_eq!(check(&lanes, &plan), Ok(()));
        prop_assert_eq!(broken(&lanes, &plan), None);
    }

    #[test]
    fn lanes_of_every_kind_of_step_stay_within_what_is_claimed(
        (bits, modulus) in fields(),
        pairs in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>()), 0..60),
    ) {
        let lanes = mixture(bits, modulus, &pairs);
        lanes.check().unwrap();
        let plan = plan(&lanes);
        prop_assert_eq!(check(&lanes, &plan), Ok(()));
        prop_assert_eq!(broken(&lanes, &plan), None);
    }
}

/// Claims of all kinds of steps made narrower, offsets of differences left out and quotients that are exact moved by one.
#[test]
fn a_claim_of_any_kind_of_step_made_wrong_is_seen() {
    let pairs: Vec<(u32, u32, u32)> =
        (0..60).map(|number| (number, number + 1 + number / 5, 5_000 * number + 977)).collect();
    let lanes = mixture(32, 12_289, &pairs);
    let right = plan(&lanes);
    assert_eq!(check(&lanes, &right), Ok(()));
    let mut kinds = [0; 4];
    for step in 0..right.len() {
        for act in 0..right[step].len() {
            let mut wrong = right.clone();
            let planned = &mut wrong[step][act];
            match &mut planned.act {
                Act::Back { times, .. } if *times > 0 => (*times, kinds[0]) = (*times - 1, kinds[0] + 1),
                Act::Multiply { .. } => {
                    planned.after[0].1.high -= 1;
                    kinds[1] += 1;
                }
                Act::Leave { quotient: Some(quotient), .. } => {
                    quotient.factor -= 1;
                    kinds[2] += 1;
                }
                Act::Leave { times, quotient: None, .. } => {
                    // As many multiples of q as its lanes reach, and one less.
                    let most = planned.before[0].1.high / i128::from(lanes.modulus);
                    *times = u32::try_from(most).unwrap();
                    kinds[3] += 1;
                }
                _ => continue,
            }
            let is_seen = check(&lanes, &wrong).is_err();
            // A multiple of q that is more than is needed may be less.
            assert!(is_seen || matches!(right[step][act].act, Act::Back { .. }), "step {step}");
        }
    }
    assert!(kinds[..3].iter().all(|&count| count > 2) && kinds[3] > 0, "{kinds:?}");
}

/// Each claim made narrower, one after the other: so says the check of all of them, and numbers at the edges leave most. A bound of a product is one
/// that no number of the interval may reach.
#[test]
fn a_claim_made_wrong_is_seen() {
    let pairs: Vec<(u32, u32, u32)> =
        (0..40).map(|number| (number, number + 1 + number / 5, 5_000 * number + 977)).collect();
    let lanes = transform(32, 12_289, &pairs);
    let right = plan(&lanes);
    let (mut wrong_numbers, mut claims) = (0, 0);
    for step in 0..right.len() {
        for act in 0..right[step].len() {
            if matches!(right[step][act].act, Act::Take { .. } | Act::Put { .. }) {
                continue;
            }
            for word in 0..right[step][act].after.len() {
                let mut wrong = right.clone();
                let claim = &mut wrong[step][act].after[word].1;
                claim.high -= i128::from(lanes.modulus) / 16;
                // What comes after begins with the claim, whatever it is.
                assert!(check(&lanes, &wrong).is_err(), "step {step}");
                claims += 1;
                // The other acts are as they were.
                let alone = vec![vec![wrong[step][act].clone()]];
                wrong_numbers += usize::from(broken(&lanes, &alone).is_some());
            }
        }
    }
    assert!(claims > 80 && wrong_numbers * 5 > claims * 4, "{wrong_numbers} of {claims} are seen by their numbers");
}

/// A quotient that is shifted with too much in a lane, or with a negative lane.
#[test]
fn a_plan_without_an_offset_or_a_reduction_is_seen() {
    let pairs: Vec<(u32, u32, u32)> = (0..60).map(|number| (number, number + 1, 6_000 - number)).collect();
    let lanes = transform(32, 12_289, &pairs);
    let right = plan(&lanes);
    let (mut offsets, mut reductions) = (0, 0);
    for step in 0..right.len() {
        for act in 0..right[step].len() {
            let is_offset = matches!(right[step][act].act, Act::Offset { .. });
            let is_reduction = matches!(right[step][act].act, Act::Reduce { .. });
            if !is_offset && !is_reduction {
                continue;
            }
            let mut wrong = right.clone();
            // The next acts take what is there now.
            let [was, is] = [wrong[step][act].before[0], wrong[step][act].after[0]];
            wrong[step].remove(act);
            for planned in wrong[step..].iter_mut().flatten() {
                if let Some(first) = planned.before.iter_mut().find(|before| **before == is) {
                    first.1 = was.1;
                    break;
                }
            }
            assert!(check(&lanes, &wrong).is_err(), "step {step}");
            (offsets, reductions) = (offsets + usize::from(is_offset), reductions + usize::from(is_reduction));
        }
    }
    assert!(offsets + reductions > 10, "{offsets} offsets, {reductions} reductions");
}

/// The least weight of all plans with one start: every choice of every step.
fn least(planner: &Planner<'_>, (number, times): (usize, u64), most: &mut u64) {
    if planner.gas >= *most {
        return;
    }
    let Some(step) = planner.lanes.steps.get(number) else {
        *most = planner.gas;
        return;
    };
    for early in Early::of(step) {
        let mut planner = planner.clone();
        planner.acts.clear();
        planner.numbered_step(number, times, early);
        least(&planner, (number + 1, times), most);
    }
}

/// On blocks of seven steps the beam is beside an exhaustive search, and beside greedy plans. `RESIDUE_CASES=400 cargo test -p residue-compiler beam --
/// --nocapture` prints more.
#[test]
fn a_beam_is_beside_an_exhaustive_search() {
    let mut totals = [0u64; 3];
    let mut optimal = [0usize; 2];
    let blocks = residue_extent::cases(4);
    for block in 0..blocks {
        let (bits, modulus) = [(32, 12_289), (64, 8_380_417), (64, 1_073_741_789)][block % 3];
        let seed = |number: u32| (block as u32 * 7 + number + 1).wrapping_mul(2_654_435_761);
        let pairs: Vec<(u32, u32, u32)> = (0..7).map(seed).map(|seed| (seed >> 7, seed >> 13, seed >> 3)).collect();
        let lanes = mixture(bits, modulus, &pairs);
        lanes.check().unwrap();
        let starts = || (0..=OFFSETS_TRIED).filter_map(|times| Some((times, Planner::plan(&lanes, times, &[])?.0)));
        let greedy = starts().map(|(_, gas)| gas).min().unwrap();
        let of_beam = |(times, _)| Some(Planner::plan(&lanes, times, &beam(&lanes, times))?.0);
        let beam = starts().filter_map(of_beam).min().unwrap().min(greedy);
        let mut most = beam;
        for times in 0..=OFFSETS_TRIED {
            if let Some(planner) = Planner::new(&lanes, times) {
                least(&planner, (0, times), &mut most);
            }
        }
        let found = [most, beam, greedy];
        totals.iter_mut().zip(found).for_each(|(total, gas)| *total += gas);
        optimal.iter_mut().zip(&found[1..]).for_each(|(count, &gas)| *count += usize::from(gas == most));
    }
    println!(
        "{blocks} blocks: exhaustive {}, beam {}, greedy {}; optimal: {optimal:?}",
        totals[0], totals[1], totals[2]
    );
    assert!(totals[0] <= totals[1] && totals[1] < totals[2], "{totals:?}");
    assert!(8 * optimal[0] >= 7 * blocks, "{optimal:?}");
}
