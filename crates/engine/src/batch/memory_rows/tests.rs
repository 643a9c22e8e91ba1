//! Values in rows equal those of memory under any reads and writes in between.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_isa::Revision;
use residue_lanes::{FieldOp, Op, Plan, Policy, SlotBlock};
use residue_modular::evm384;

use super::*;
use crate::batch::budget::Budget;
use crate::batch::memory_places::Form as Written;

/// Places of values, a hundred bytes apart, then two moduli with their r_inv.
const PLACES: u16 = 20;
const MODULI: [usize; 2] = [2200, 2300];
const MEMORY_BYTES: usize = 2400;

fn map() -> MemoryPlaces {
    let text: String = (0..PLACES).map(|place| format!("ADDMOD384 {0} {0} {0} 2200\n", 100 * place)).collect();
    let code = residue_isa::assembly::assemble_text(&text, Revision::Evm384V9).unwrap().bytes;
    MemoryPlaces::of(&code, Written::of(Revision::Evm384V9).unwrap()).unwrap()
}

/// Anything between values, which are below both moduli.
fn memory(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut memory: Vec<u8> = (0..MEMORY_BYTES).map(|_| random.random()).collect();
    (0..usize::from(PLACES)).for_each(|place| memory[100 * place + 47] &= 0x7f);
    for at in MODULI {
        memory[at] |= 1;
        memory[at + 47] |= 0x80;
        let low = u64::from_le_bytes(memory[at..][..8].try_into().unwrap());
        let r_inv = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(x)))).wrapping_neg();
        memory[at + 48..][..8].copy_from_slice(&r_inv.to_le_bytes());
    }
    memory
}

/// A few operations, their needs, and their plan.
fn operations(random: &mut ChaCha8Rng, modulus: usize) -> (SlotBlock, MemoryNeeds, RowPlan<PlaceSet>) {
    let mut block = SlotBlock::new(PLACES);
    let mut needs = MemoryNeeds::default();
    needs.modulus = modulus;
    for _ in 0..random.random_range(1..10) {
        let kind = [FieldOp::Add, FieldOp::Sub, FieldOp::Mul][random.random_range(0..3)];
        let [out, x, y] = std::array::from_fn(|_| random.random_range(0..PLACES));
        block.push(Op { kind, out, x, y }).unwrap();
        needs.multiplies |= kind == FieldOp::Mul;
        [out, x, y].into_iter().for_each(|place| needs.names.insert(place.into()));
        needs.writes.insert(out.into());
    }
    let plan = Plan::new(&block, Shape::of_bits(384).unwrap(), &Policy::default()).unwrap();
    (block, needs, RowPlan::new(plan, 0, &Budget::default()))
}

fn run_plain(memory: &mut [u8], block: &SlotBlock, modulus: usize) {
    for op in block.ops() {
        let [out, x, y] = [op.out, op.x, op.y].map(|place| 100 * usize::from(place));
        match op.kind {
            FieldOp::Add => evm384::add_in_memory(memory, out, x, y, modulus),
            FieldOp::Sub => evm384::sub_in_memory(memory, out, x, y, modulus),
            FieldOp::Mul => evm384::mul_in_memory(memory, out, x, y, modulus),
        }
    }
}

#[test]
fn memory_holds_what_its_instructions_left_wherever_that_is_asked() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let map = map();
    for _ in 0..100 {
        let mut memory = memory(&mut random);
        let mut plain = memory.clone();
        let mut modulus = MODULI[0];
        let mut rows = MemoryRows::new(&map, &memory, modulus, Ledger::default());
        assert!(rows.is_empty());
        let mut has_run = false;
        for _ in 0..60 {
            let start = random.random_range(0..2000);
            let range = start..start + random.random_range(1..200);
            match random.random_range(0..8) {
                0 => {
                    rows.settle_range(&map, &mut memory, &range, false);
                    assert_eq!(memory[range.clone()], plain[range]);
                }
                1 => {
                    // Whole values, so that they stay below the modulus.
                    let place = 100 * random.random_range(0..usize::from(PLACES));
                    rows.settle_range(&map, &mut memory, &(place..place + 48), true);
                    let mut value: [u8; 48] = std::array::from_fn(|_| random.random());
                    value[47] &= 0x7f;
                    memory[place..][..48].copy_from_slice(&value);
                    plain[place..][..48].copy_from_slice(&value);
                }
                2 => {
                    let (block, needs, _) = operations(&mut random, modulus);
                    rows.settle_block(&map, &needs, 5..9, &mut memory);
                    assert_eq!(rows.settled, 5..9);
                    run_plain(&mut memory, &block, modulus);
                    run_plain(&mut plain, &block, modulus);
                }
                3 => {
                    rows.settle_all(&map, &mut memory);
                    assert!(memory == plain && rows.is_empty());
                }
                4 => {
                    modulus = MODULI[random.random_range(0..2)];
                    rows.use_modulus(&map, &mut memory, modulus);
                }
                _ => {
                    let (block, needs, plan) = operations(&mut random, modulus);
                    // Values may be above the other modulus.
                    if rows.run(&map, &needs, &plan, &memory) {
                        run_plain(&mut plain, &block, modulus);
                        has_run = true;
                        assert!(!rows.is_empty());
                    }
                }
            }
        }
        rows.settle_all(&map, &mut memory);
        assert!(memory == plain && has_run);
    }
}

#[test]
fn a_plan_runs_where_r_inv_and_operands_are_those_of_montgomery_arithmetic() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let (map, modulus) = (map(), MODULI[0]);
    let run = |memory: &[u8], kind: FieldOp| {
        let mut block = SlotBlock::new(PLACES);
        block.push(Op { kind, out: 3, x: 4, y: 5 }).unwrap();
        let mut needs = MemoryNeeds::default();
        (needs.modulus, needs.multiplies) = (modulus, kind == FieldOp::Mul);
        let plan = Plan::new(&block, Shape::of_bits(384).unwrap(), &Policy::default()).unwrap();
        let plan = RowPlan::new(plan, 0, &Budget::default());
        let mut rows = MemoryRows::new(&map, memory, modulus, Ledger::default());
        let has_run = rows.run(&map, &needs, &plan, memory);
        let mut after = memory.to_vec();
        rows.settle_all(&map, &mut after);
        assert_eq!(after != memory, has_run);
        has_run
    };
    for _ in 0..20 {
        let right = memory(&mut random);
        assert!(run(&right, FieldOp::Mul) && run(&right, FieldOp::Sub));
        for (at, runs) in [(modulus + 48, [false, true]), (modulus + 55, [false, true]), (modulus + 56, [true, true])] {
            let mut wrong = right.clone();
            wrong[at] ^= 1;
            assert_eq!([FieldOp::Mul, FieldOp::Sub].map(|kind| run(&wrong, kind)), runs, "{at}");
        }
        for (place, runs) in [(4, false), (5, false), (3, true)] {
            let mut wrong = right.clone();
            wrong[100 * place..][..48].fill(0xff);
            assert_eq!(run(&wrong, FieldOp::Add), runs, "place {place} is not below the modulus");
        }
        let mut even = right.clone();
        even[modulus] &= !1;
        assert!(!run(&even, FieldOp::Add), "no rows for even moduli");
    }
}

#[test]
fn all_is_written_back_after_many_questions() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (map, mut memory) = (map(), memory(&mut random));
    let mut rows = MemoryRows::new(&map, &memory, MODULI[0], Ledger::default());
    let beside = 2050..2060;
    for _ in 0..2 {
        let (_, needs, plan) = operations(&mut random, MODULI[0]);
        assert!(rows.run(&map, &needs, &plan, &memory));
        for _ in 0..ASKED_MAX {
            rows.settle_range(&map, &mut memory, &beside, false);
            assert!(!rows.is_empty());
        }
        // Another plan begins the count anew.
        assert!(rows.run(&map, &needs, &plan, &memory));
        (0..ASKED_MAX).for_each(|_| rows.settle_range(&map, &mut memory, &beside, true));
        assert!(!rows.is_empty());
        rows.settle_range(&map, &mut memory, &beside, false);
        assert!(rows.is_empty());
    }
}

#[test]
fn rows_are_made_for_a_modulus_that_plans_may_run_for() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let (map, memory) = (map(), memory(&mut random));
    let ledger = Ledger::default();
    let mut rows = MemoryRows::new(&map, &memory, MODULI[0], ledger.clone());
    assert_eq!(rows.shape(), Some(Shape::of_bits(384).unwrap()));
    let (_, needs, plan) = operations(&mut random, MODULI[0]);
    // The places have rows already, a line each.
    assert_eq!(rows.row_growth(&plan), plan.plan.row_bytes() - 64 * usize::from(PLACES));
    assert!(rows.run(&map, &needs, &plan, &memory) && rows.row_growth(&plan) == 0);
    let mut none = MemoryRows::new(&map, &[0; MEMORY_BYTES], MODULI[0], Ledger::default());
    assert!(none.shape().is_none() && none.row_growth(&plan) == plan.plan.row_bytes());
    none.use_modulus(&map, &mut memory.clone(), MODULI[0]);
    assert!(none.shape().is_some(), "the modulus has changed in place");
    (0..100).for_each(|_| ledger.note_modulus());
    assert!(rows.shape().is_none(), "the transaction has lost too much");
    assert!(MemoryRows::new(&map, &memory, MODULI[0], ledger).shape().is_none());
}

#[test]
fn values_move_in_groups_of_eight_until_one_is_refused() {
    let map = map();
    for (count, groups) in [(0, vec![]), (3, vec![3]), (8, vec![8]), (9, vec![8, 1]), (20, vec![8, 8, 4])] {
        let places: PlaceSet = (0..count).collect();
        for refused in 0..=groups.len() {
            let (mut moved, mut met) = (Vec::new(), Vec::new());
            let all = each_eight(&map, &places, |slots, offsets| {
                assert!(slots.iter().zip(offsets).all(|(&slot, &offset)| offset == 100 * usize::from(slot)));
                met.extend(slots.iter().map(|slot| usize::from(*slot)));
                moved.push(slots.len());
                moved.len() != refused + 1
            });
            assert_eq!(all, refused == groups.len());
            assert_eq!(moved, groups[..(refused + 1).min(groups.len())]);
            assert!(met.iter().copied().eq(0..met.len()));
        }
    }
}
