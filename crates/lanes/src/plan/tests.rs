//! Shape of plans: products in as few batches as their operands allow, companions, streams, rows used again.
//!
//! That plans compute the right values is the business of [`crate::check()`] and of `tests/blocks.rs`; here they are held to being short.

use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::block::{FieldOp, Op};
use crate::bounds::Bias;
use crate::check;
use crate::estimate;
use crate::line::Line;
use crate::tables::{BatchStep, CarryStep, LinearStep, ReduceStep, Segment, SegmentKind};
use residue_modular::Modulus;

use FieldOp::{Add, Mul, Sub};
use SegmentKind::{Batch, Linear};

/// Three shapes: most headroom, least headroom, two lines.
const BITS: [usize; 3] = [381, 308, 768];

const EIGHTS: Policy = Policy { batch_fill: 8, companions: 0, fours: false };

fn block(slot_count: u16, ops: impl IntoIterator<Item = (FieldOp, u16, u16, u16)>) -> SlotBlock {
    let mut block = SlotBlock::new(slot_count);
    ops.into_iter().for_each(|(kind, out, x, y)| block.push(Op { kind, out, x, y }).unwrap());
    block
}

fn plan(block: &SlotBlock, bits: usize, policy: Policy) -> Plan {
    let plan = Plan::new(block, Shape::of_bits(bits).unwrap(), &policy).unwrap();
    let modulus = [vec![0xff; bits / 8 - 1], vec![0xfd]].concat();
    let modulus = [vec![(1u16 << (bits % 8)).wrapping_sub(1) as u8], modulus].concat();
    let modulus = ModulusRows::new(&Modulus::from_be_bytes(&modulus).unwrap()).unwrap();
    assert_eq!(check(&plan, &modulus, &mut Rows::new(plan.shape, plan.slot_count)), Ok(()));
    plan
}

/// Segments of products and sums, with their number of entries; the last ones, which bring sums to the bounds of an end, left aside.
fn segments(plan: &Plan) -> Vec<(SegmentKind, u32)> {
    let segments = plan.segments.iter().filter(|segment| matches!(segment.kind, Batch | Linear));
    segments.map(|segment| (segment.kind, segment.end - segment.start)).collect()
}

/// Products of each batch.
fn lanes(plan: &Plan) -> Vec<u16> {
    plan.batches.iter().map(|batch| batch.lanes).collect()
}

#[test]
fn independent_products_fill_batches() {
    let products = |count: u16| block(2 * count, (0..count).map(move |i| (Mul, count + i, i, (i + 1) % count)));
    assert_eq!(lanes(&plan(&products(8), 381, EIGHTS)), [8]);
    assert_eq!(lanes(&plan(&products(19), 381, EIGHTS)), [8, 8, 3]);
    let chain = block(1, (0..5).map(|_| (Mul, 0, 0, 0)));
    assert_eq!(lanes(&plan(&chain, 381, EIGHTS)), [1; 5]);
    // Two chains side by side.
    let chains = block(2, (0..10).map(|i| (Mul, i % 2, i % 2, i % 2)));
    assert_eq!(lanes(&plan(&chains, 381, EIGHTS)), [2; 5]);
    let fewer = Policy { batch_fill: 0, ..EIGHTS };
    assert_eq!(lanes(&plan(&products(8), 381, fewer)), [8], "what is ready goes along all the same");
}

#[test]
fn sums_that_no_product_waits_for_come_after_a_full_batch() {
    let ops =
        |products: u16| (0..products).map(|i| (Mul, 20 + i, i, i)).chain((0..3).map(|i| (Add, 40 + i, 10 + i, i)));
    assert_eq!(segments(&plan(&block(50, ops(8)), 381, EIGHTS)), [(Batch, 1), (Linear, 3)]);
    // Seven are no full batch: it waits while there is something else to do, unless fewer are asked for.
    assert_eq!(segments(&plan(&block(50, ops(7)), 381, EIGHTS)), [(Linear, 3), (Batch, 1)]);
    let seven = Policy { batch_fill: 7, ..EIGHTS };
    assert_eq!(segments(&plan(&block(50, ops(7)), 381, seven)), [(Batch, 1), (Linear, 3)]);
    // Companions run with the batch, as many as may.
    for (companions, beside) in [(1, 1), (2, 2), (3, 3), (4, 3)] {
        let plan = plan(&block(50, ops(8)), 381, Policy { companions, ..EIGHTS });
        assert_eq!((plan.companions(), plan.linear.len()), (beside, 3));
        let after = if beside < 3 { vec![(Batch, 1), (Linear, 3 - beside as u32)] } else { vec![(Batch, 1)] };
        assert_eq!(segments(&plan), after);
    }
}

#[test]
fn no_batch_takes_more_companions_than_its_table_may_count() {
    let sums = (0..5000).map(|i| (Add, 100 + i, 10, 11));
    let block = block(5100, (0..8).map(|i| (Mul, i, i, i)).chain(sums));
    let plan = plan(&block, 381, Policy { companions: usize::MAX, ..EIGHTS });
    assert_eq!((plan.explain().companions, plan.explain().linear), (4096, 5000));
}

#[test]
fn the_sum_that_products_wait_for_runs_first() {
    // Seven products are ready, the eighth waits for the last of ten sums.
    let idle = (0..9).map(|i| (Add, 40 + i, 10, 11 + i));
    let ops = (0..7).map(|i| (Mul, 20 + i, i, i)).chain(idle).chain([(Sub, 50, 8, 9), (Mul, 51, 50, 50)]);
    let mut waiting = block(60, ops);
    waiting.mark_dead(50).unwrap();
    let plan = plan(&waiting, 381, EIGHTS);
    assert_eq!(segments(&plan), [(Linear, 1), (Batch, 1), (Linear, 9)]);
    assert_eq!((plan.linear[0].x, plan.linear[0].y, plan.linear[0].sign), (8, 9, -1));
    // Among sums of one height, in the block's order.
    assert_eq!(plan.linear[1..].iter().map(|step| step.y).collect::<Vec<_>>(), (11..20).collect::<Vec<_>>());
    // A product that others wait for goes before one that comes earlier.
    let ops = (0..9).map(|i| (Mul, 20 + i, i, i)).chain([(Mul, 29, 28, 28)]);
    let plan = self::plan(&block(30, ops), 381, EIGHTS);
    assert_eq!(lanes(&plan), [8, 2]);
    assert!(plan.batches[0].x.contains(&8));
}

#[test]
fn full_batches_follow_each_other_in_streams() {
    // Two rows of eight chains: a batch never needs what the one before it has made.
    let chains = |turns: u16| block(16, (0..turns * 16).map(|i| (Mul, i % 16, i % 16, i % 16)));
    let streamed = plan(&chains(4), 381, EIGHTS);
    assert_eq!(lanes(&streamed), [8; 8]);
    assert_eq!(streamed.batches.iter().map(|batch| batch.followers).collect::<Vec<_>>(), [7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!((streamed.streamed(), streamed.explain().streamed), (7, 7));
    // Eight chains: each batch needs the one before.
    let chains = block(8, (0..32).map(|i| (Mul, i % 8, i % 8, i % 8)));
    assert_eq!(plan(&chains, 381, EIGHTS).batches.iter().map(|batch| batch.followers).collect::<Vec<_>>(), [0; 4]);
    // Of four products or fewer none streams, of five or more all do.
    for (tail, followers) in [(4, [1, 0, 0]), (5, [2, 1, 0])] {
        let products = block(100, (0..16 + tail).map(|i| (Mul, 50 + i, i, i)));
        let plan = plan(&products, 381, EIGHTS);
        assert_eq!(plan.batches.iter().map(|batch| batch.followers).collect::<Vec<_>>(), followers);
    }
    // Streams end where something else comes between.
    let layers = (0..3u16).flat_map(|layer| {
        let (from, to) = (20 * layer, 20 * (layer + 1));
        let products = (0..16).map(move |i| (Mul, to + i, from + i, from + i));
        products.chain((0..16).map(move |i| (Add, to + i, to + i, to + (i + 1) % 16)))
    });
    for batch in plan(&block(90, layers), 381, EIGHTS).batches {
        assert!(batch.followers <= 1);
    }
}

/// Levels of a few products, each on results of the level before.
fn levels(random: &mut ChaCha8Rng) -> SlotBlock {
    let width = random.random_range(2..8);
    let mut ops = Vec::new();
    for _ in 0..30 {
        for _ in 0..random.random_range(1..=width) {
            let [out, x, y] = std::array::from_fn(|_| random.random_range(0..3 * width));
            let kind = [Mul, Mul, Add][random.random_range(0..3)];
            ops.push((kind, out, x, y));
        }
    }
    block(3 * width, ops)
}

#[test]
fn fours_are_taken_where_they_are_faster_and_nowhere_else() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut faster = 0;
    for round in 0..400 {
        let block = levels(&mut random);
        let bits = BITS[round % 3];
        let batch_cycles = |plan: &Plan| -> u64 {
            plan.batches.iter().map(|batch| estimate::batch_cycles(plan.shape, batch.lanes.into())).sum()
        };
        let [eights, fours] = [false, true].map(|fours| plan(&block, bits, Policy { fours, ..EIGHTS }));
        assert!(batch_cycles(&fours) <= batch_cycles(&eights));
        if lanes(&fours) != lanes(&eights) {
            assert!(batch_cycles(&fours) < batch_cycles(&eights), "another order only where it gains");
            assert!(fours.batches.iter().all(|batch| batch.lanes <= 4));
            faster += 1;
        }
    }
    assert!((10..390).contains(&faster), "{faster} of 400 blocks");
}

/// A value that is doubled can be doubled as often as the range allows, a sum of many as long as its own bounds do.
#[test]
fn sums_are_reduced_no_more_often_than_the_range_demands() {
    let doublings = block(1, (0..1200).map(|_| (Add, 0, 0, 0)));
    let sums = block(2, (0..1200).map(|_| (Add, 0, 0, 1)));
    let reversed = block(2, (0..1200).map(|_| (Add, 0, 1, 0)));
    let differences = block(2, (0..1200).map(|_| (Sub, 0, 0, 1)));
    let negated = block(2, (0..1200).map(|_| (Sub, 0, 1, 0)));
    // Most reductions and carries of each. Doubled 15 times, 2·M becomes 2¹⁶·M; limbs of 2⁵⁴ take eight, 2⁵² ten doublings.
    for (bits, most) in [
        (381, [[1200 / 14 + 1, 1200 / 7], [2, 120], [2, 120], [2, 120], [2, 120]]),
        (768, [[1200 / 8, 1200 / 4], [16, 120], [16, 120], [1200 / 50, 120], [1200 / 50, 120]]),
    ] {
        for (block, [reductions, carries]) in
            [&doublings, &sums, &reversed, &differences, &negated].into_iter().zip(most)
        {
            let plan = plan(block, bits, EIGHTS);
            assert!(plan.reductions.len() <= reductions, "{bits} bits: {} reductions", plan.reductions.len());
            assert!(plan.carries.len() <= carries, "{bits} bits: {} carries", plan.carries.len());
        }
    }
}

#[test]
fn rows_are_used_again() {
    // Each value is needed once, by the next operation: one row beside the slot's own is enough, and a spare one.
    let chain = (0..50).flat_map(|_| [(Mul, 1, 0, 0), (Mul, 0, 1, 1)]);
    assert!(plan(&block(2, chain), 381, EIGHTS).explain().temporary_rows <= 2);
    // No other value gets the rows of dead slots, and nothing reads theirs.
    let mut wide = block(24, (0..8).map(|i| (Mul, 8 + i, i, i)).chain((0..8).map(|i| (Mul, 16 + i, 8 + i, 8 + i))));
    assert_eq!(plan(&wide, 381, EIGHTS).explain().temporary_rows, 0, "full batches write where values end");
    (8..16).for_each(|slot| wide.mark_dead(slot).unwrap());
    let plan = plan(&wide, 381, EIGHTS);
    assert_eq!(plan.explain().temporary_rows, 8);
    assert_eq!(plan.outputs(), (16..24).collect::<Vec<_>>());
    assert_eq!(plan.inputs(), (0..8).collect::<Vec<_>>());
    assert_eq!(plan.row_bytes(), 32 * 64, "32 rows of a line");
    assert_eq!(self::plan(&wide, 768, EIGHTS).row_bytes(), 32 * 128, "32 rows of two lines");
}

#[test]
fn tables_name_every_row_and_no_other() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for bits in BITS {
        for _ in 0..30 {
            let ops: Vec<_> = (0..80)
                .map(|_| {
                    let [out, x, y] = std::array::from_fn(|_| random.random_range(0..6));
                    ([Add, Sub, Mul][random.random_range(0..3)], out, x, y)
                })
                .collect();
            let plan = plan(&block(6, ops), bits, Policy::default());
            let named: BTreeSet<u16> = plan.rows_named().collect();
            assert_eq!(named, (0..plan.row_count).collect());
            for (row, bias) in &plan.constants {
                assert!(
                    plan.slot_count <= *row && plan.constants.iter().filter(|(_, other)| other == bias).count() == 1
                );
            }
        }
    }
}

#[test]
fn a_plan_keeps_no_more_bytes_than_its_tables_have_entries() {
    for count in [1, 2, 5, 11, 100] {
        let ops = (0..count).flat_map(|i| [(Mul, 20 + i, i, i), (Sub, i, 20 + i, 1), (Add, 1, i, i)]);
        let plan = plan(&block(128, ops), 381, EIGHTS);
        let slots = size_of_val(plan.inputs()) + size_of_val(plan.outputs());
        let entries = plan.explain().table_bytes + slots + size_of_val(&*plan.constants);
        assert_eq!(plan.bytes(), entries);
        let mut grown = plan.clone();
        grown.linear.reserve_exact(100);
        assert_eq!(grown.bytes(), entries + 100 * size_of::<LinearStep>(), "room counts");
    }
}

#[test]
fn an_explanation_counts_what_there_is() {
    let ops = (0..11).map(|i| (Mul, 20 + i, i, i)).chain((0..5).map(|i| (Sub, 40 + i, i, 1)));
    let mut plan = plan(&block(50, ops), 381, Policy { companions: 2, ..EIGHTS });
    let explained = plan.explain();
    assert_eq!((explained.products, explained.batches), (11, 2));
    assert_eq!(explained.batches_by_lanes, [0, 0, 1, 0, 0, 0, 0, 1]);
    assert_eq!((explained.companions, explained.segments), (plan.companions(), plan.segments.len()));
    assert_eq!(explained.temporary_rows, usize::from(plan.row_count) - 50);
    assert_eq!(plan.row_bytes(), usize::from(plan.row_count) * size_of::<Line>());
    // One of each more, with the bytes it takes.
    let mut grows = |add: &dyn Fn(&mut Plan), bytes: usize| {
        let before = plan.explain();
        (0..3).for_each(|_| add(&mut plan));
        let after = plan.explain();
        assert_eq!(after.table_bytes - before.table_bytes, 3 * bytes);
        [
            after.linear - before.linear,
            after.carries - before.carries,
            after.reductions - before.reductions,
            after.batches - before.batches,
            after.segments - before.segments,
        ]
    };
    assert_eq!(grows(&|plan| plan.linear.push(LinearStep::new(0, 0, 0, false)), 8), [3, 0, 0, 0, 0]);
    assert_eq!(grows(&|plan| plan.carries.push(CarryStep { out: 0, x: 0 }), 4), [0, 3, 0, 0, 0]);
    assert_eq!(grows(&|plan| plan.reductions.push(ReduceStep { out: 0, x: 0, bias: Bias(0) }), 6), [0, 0, 3, 0, 0]);
    assert_eq!(grows(&|plan| plan.batches.push(plan.batches[0]), size_of::<BatchStep>()), [0, 0, 0, 3, 0]);
    assert_eq!(grows(&|plan| plan.segments.push(plan.segments[0]), size_of::<Segment>()), [0, 0, 0, 0, 3]);
}

#[test]
fn lifts_and_copies_are_counted_among_linear_steps() {
    // Nine slots that go round: the last product reads, in a batch of its own, the slot that the first one ends in, which is copied there.
    let mut round = SlotBlock::new(16);
    round.push_lanes(Mul, (0..9).map(|i| (i, (i + 1) % 9, (i + 1) % 9))).unwrap();
    round.push_lanes(Add, [(9, 10, 11), (12, 13, 14)]).unwrap();
    // A difference that is too low for a product is lifted where there is a little room: with much it need not be, with least it is reduced.
    let mut low = block(4, [(Sub, 0, 0, 1), (Add, 2, 2, 0), (Mul, 3, 0, 0)]);
    low.mark_dead(0).unwrap();
    for bits in BITS {
        let counts = |block: &SlotBlock| {
            let explained = plan(block, bits, EIGHTS).explain();
            (explained.linear, explained.lifts)
        };
        assert_eq!(counts(&round), (3, 1), "{bits} bits");
        assert_eq!(counts(&low), if bits == 768 { (3, 1) } else { (2, 0) }, "{bits} bits");
    }
}
