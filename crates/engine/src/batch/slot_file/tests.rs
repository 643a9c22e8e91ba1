//! A slot file is a field context, in any mix of forms of its values.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_lanes::{FieldOp, Plan, Policy, SlotBlock};
use residue_modular::Modulus;

use super::*;
use crate::batch::budget::Budget;

const SLOTS: usize = 12;

/// Operations on slots: a few products and sums.
fn operations(random: &mut impl Rng) -> SlotBlock {
    let mut block = SlotBlock::new(u16::try_from(SLOTS).unwrap());
    for _ in 0..random.random_range(1..12) {
        let kind = [FieldOp::Add, FieldOp::Sub, FieldOp::Mul][random.random_range(0..3)];
        let mut slot = || random.random_range(0..SLOTS as u16);
        block.push_lanes(kind, [(slot(), slot(), slot())]).unwrap();
    }
    block
}

fn plan(block: &SlotBlock, shape: Shape, gain_cycles: i64) -> RowPlan<SlotSet> {
    RowPlan::new(Plan::new(block, shape, &Policy::default()).unwrap(), gain_cycles, &Budget::default())
}

/// Operations on a plain context, one by one.
fn run_plain(context: &mut FieldContext, block: &SlotBlock) {
    for op in block.ops() {
        let [out, x, y] = [op.out, op.x, op.y].map(|slot| Strided::contiguous(slot.into()));
        match op.kind {
            FieldOp::Add => context.add(out, x, y, 1),
            FieldOp::Sub => context.sub(out, x, y, 1),
            FieldOp::Mul => context.mul(out, x, y, 1),
        }
    }
}

/// Moduli whose elements are whole limbs, and others.
fn context(random: &mut impl Rng, bytes: usize) -> FieldContext {
    let mut modulus = vec![0x11; bytes];
    random.fill(&mut modulus[..]);
    modulus[0] |= 0x80;
    modulus[bytes - 1] |= 1;
    let modulus = Modulus::with_width(&modulus, bytes.div_ceil(8)).unwrap();
    FieldContext::with_element_bytes(modulus, SLOTS, bytes)
}

fn below_modulus(random: &mut impl Rng, bytes: usize, count: usize) -> Vec<u8> {
    let mut values = vec![0; bytes * count];
    random.fill(&mut values[..]);
    values.chunks_mut(bytes).for_each(|value| value[0] &= 0x7f);
    values
}

#[test]
fn values_are_those_of_a_plain_context_wherever_they_lie() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for round in 0..60 {
        let bytes = [32, 48, 45, 31, 96, 8][round % 6];
        let mut plain = context(&mut random, bytes);
        let mut file = SlotFile::new(plain.clone(), Ledger::default());
        let shape = file.shape().unwrap();
        for _ in 0..60 {
            let mut lanes = |count: usize| {
                let stride = random.random_range(0..3);
                Strided { index: random.random_range(0..SLOTS - stride * (count - 1)), stride }
            };
            let count = [1, 1, 3][lanes(1).index % 3];
            let [out, x, y] = [lanes(count), lanes(count), lanes(count)];
            let first = random.random_range(0..SLOTS);
            let some = random.random_range(1..=SLOTS - first);
            match random.random_range(0..16) {
                0 => {
                    plain.add(out, x, y, count);
                    file.add(out, x, y, count);
                }
                1 => {
                    plain.sub(out, x, y, count);
                    file.sub(out, x, y, count);
                }
                2 => {
                    plain.mul(out, x, y, count);
                    file.mul(out, x, y, count);
                }
                3 => {
                    let values = below_modulus(&mut random, bytes, some);
                    assert_eq!(file.store(first, &values), plain.store(first, &values));
                    let beyond = vec![0xff; bytes];
                    assert_eq!(file.store(first, &beyond), plain.store(first, &beyond));
                    assert!(file.store(first, &beyond).is_err());
                }
                4 => {
                    let mut values = below_modulus(&mut random, bytes, some);
                    values[..bytes].fill(0xff);
                    file.store_any(first, &values);
                    plain.store_any(first, &values);
                }
                5 => file.give_up_rows(),
                12 | 13 => {
                    let index = random.random_range(0..8);
                    file.grow_array(index + some);
                    plain.grow_array(index + some);
                    if random.random() {
                        file.put(first, some, index);
                        plain.put(first, some, index);
                    } else {
                        file.get(first, some, index);
                        plain.get(first, some, index);
                    }
                }
                14 | 15 => {
                    let (x, y) = (x.index, y.index);
                    assert_eq!(file.equal(x, y), plain.equal(x, y), "{bytes} bytes");
                    assert_eq!(file.less(x, y), plain.less(x, y), "{bytes} bytes");
                    assert_eq!(file.is_zero(x), plain.slot(x).iter().all(|&limb| limb == 0), "{bytes} bytes");
                }
                6 | 7 => {
                    let block = operations(&mut random);
                    file.run_trace(&ScalarTrace::of(&block).unwrap());
                    run_plain(&mut plain, &block);
                }
                8 | 9 => {
                    let block = operations(&mut random);
                    file.run(&plan(&block, shape, 1 << 20));
                    run_plain(&mut plain, &block);
                }
                _ => {
                    let [mut expected, mut found] = [(); 2].map(|()| vec![0; some * bytes]);
                    plain.load(first, &mut expected);
                    file.load(first, &mut found);
                    assert_eq!(found, expected, "{bytes} bytes");
                }
            }
        }
        file.give_up_rows();
        assert!((0..SLOTS).all(|slot| file.limbs().slot(slot) == plain.slot(slot)), "{bytes} bytes");
    }
}

#[test]
fn a_slot_file_has_rows_from_its_first_plan_until_it_gives_them_up() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut file = SlotFile::new(context(&mut random, 48), Ledger::default());
    assert_eq!((file.slot_count(), file.element_bytes(), file.is_odd(), file.has_rows()), (SLOTS, 48, true, false));
    let (block, larger) = (operations(&mut random), operations(&mut random));
    let plan = plan(&block, file.shape().unwrap(), 0);
    assert_eq!(file.row_growth(&plan), plan.plan.row_bytes());
    file.give_up_rows();
    file.run(&plan);
    assert!(file.has_rows() && file.row_growth(&plan) == 0);
    let more = super::tests::plan(&larger, file.shape().unwrap(), 0);
    assert!(file.row_growth(&more) <= more.plan.row_bytes().saturating_sub(plan.plan.row_bytes()));
    file.give_up_rows();
    assert!(!file.has_rows() && file.row_growth(&plan) == plan.plan.row_bytes());
    let power = FieldContext::new(Modulus::from_be_bytes(&[4, 0]).unwrap(), 3);
    let power = SlotFile::new(power, Ledger::default());
    assert!(!power.is_odd() && power.shape().is_none() && power.slot_count() == 3 && power.element_bytes() == 8);
}

#[test]
fn no_shape_is_said_once_a_transaction_has_lost_too_much() {
    let ledger = Ledger::default();
    let file = SlotFile::new(context(&mut ChaCha8Rng::seed_from_u64(4), 32), ledger.clone());
    assert!(file.shape().is_some());
    (0..100).for_each(|_| ledger.note_modulus());
    assert!(file.shape().is_none());
}

#[test]
fn a_plan_is_wanted_where_its_operands_are_or_where_it_pays_for_their_way() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let product = |gain_cycles: i64, lane: (u16, u16, u16)| {
        let mut block = SlotBlock::new(u16::try_from(SLOTS).unwrap());
        block.push_lanes(FieldOp::Mul, [lane]).unwrap();
        plan(&block, Shape::of_bits(384).unwrap(), gain_cycles)
    };
    let fresh = |random: &mut ChaCha8Rng| SlotFile::new(context(random, 48), Ledger::default());
    // One move takes 500 cycles.
    assert!(fresh(&mut random).wants(&product(500, (0, 1, 2))) && !fresh(&mut random).wants(&product(499, (0, 1, 2))));
    let mut file = fresh(&mut random);
    file.run(&product(0, (0, 1, 2)));
    // Slots 0 to 2 are in rows: a small gain is enough there, a loss is left out if it is more than two moves.
    assert!(file.wants(&product(0, (1, 0, 2))) && file.wants(&product(-1000, (1, 0, 2))));
    assert!(!file.wants(&product(-1001, (1, 0, 2))));
    // One operand here and one there: as many moves either way.
    assert!(file.wants(&product(0, (1, 2, 3))) && !file.wants(&product(-1, (1, 2, 3))));
    assert!(file.wants(&product(500, (1, 3, 4))) && !file.wants(&product(499, (1, 3, 4))));
}
