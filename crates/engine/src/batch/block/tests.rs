//! Gas of a block, its needs and its counts, against its instructions one by one.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_isa::assembly::assemble_text;
use residue_isa::{FieldOp, GasSchedule, PerOp, Revision};
use revm::bytecode::Bytecode;
use revm::primitives::{Bytes, U256};

use super::*;
use crate::batch::Batching;
use crate::batch::slots::Slots;
use crate::batch::walk::Walk;

type Layout = <Slots as Location>::Layout;

fn layout(revision: Revision) -> Layout {
    Slots::layout(&[], revision, Batching::Always).unwrap()
}

fn instruction(operation: FieldOp, out: (u16, u16), count: u16) -> Instruction {
    Instruction { operation, out, x: (20, 1), y: (40, 2), count, sum: None, fp6: None, form: None, length: 8 }
}

/// A block of instructions that stand for themselves.
fn block(layout: &Layout, instructions: &[Instruction], budget: &Budget) -> Box<Block<Slots>> {
    let mut draft = Draft::new();
    instructions.iter().for_each(|&instruction| draft.push(layout, instruction));
    draft.into_block(0, Path::default(), budget)
}

/// A block of three runs, with a guard and words that are pushed.
fn superblock(budget: &Budget) -> Box<Block<Slots>> {
    let one = "ADDMODX 0 1 2 x1\nMULMODX 0 1 2 x3\n";
    let text = format!("{one}PUSH1 7 DUP2\n{one}here:\n{one}");
    let code = Bytecode::new_legacy(Bytes::from(assemble_text(&text, Revision::Eip6690_2024).unwrap().bytes));
    let (layout, stack) = (layout(Revision::Eip6690_2024), [U256::from(9)]);
    let targets = code.legacy_jump_table();
    let code = code.original_byte_slice();
    let walk = Walk::<Slots> {
        code,
        layout: &layout,
        targets,
        has_subroutines: false,
        stack: &stack,
        operations_max: 4096,
        cycles_max: i64::MAX,
    };
    let block = walk.block(0, budget, |_| ()).block.unwrap();
    assert_eq!(block.path.runs, 3);
    block
}

#[test]
fn a_block_costs_what_its_instructions_cost_one_by_one() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for revision in Revision::ALL.iter().copied().filter(|revision| revision.slot_rules().is_some()) {
        let (layout, opcodes) = (layout(revision), revision.interface().arithmetic);
        for name in GasSchedule::names(revision) {
            let mut prices = Prices::new(&GasSchedule::named(&name, revision).unwrap(), revision);
            // Instructions of each kind have a price of their own here, whatever the schedule says.
            FieldOp::ALL.into_iter().for_each(|kind| prices.base[usize::from(opcodes[kind])] += 5 + kind as u64);
            for length in [1, 2, 3, 10, 30] {
                let mut any = || {
                    let kind = random.random_range(0..3);
                    let y = [(40, 2), (20, 1), (20, 2)][random.random_range(0..3)];
                    Instruction { y, ..instruction(FieldOp::ALL[kind], (0, 1), random.random_range(1..6)) }
                };
                let all: Vec<Instruction> = (0..length).map(|_| any()).collect();
                let block = block(&layout, &all, &Budget::default());
                let base = |of: &Instruction| prices.base[usize::from(opcodes[of.operation])];
                assert_eq!(block.cost(&prices, None, opcodes), all.iter().map(base).sum::<u64>());
                for width in prices.per_width.iter() {
                    let lanes = |of: &Instruction| match of.operation {
                        FieldOp::Mul if revision.prices_squares() && of.x == of.y => width.squares(of.count.into()),
                        operation => width.lanes(operation, of.count.into()),
                    };
                    let expected: u64 = all.iter().map(|of| base(of) + lanes(of)).sum();
                    assert_eq!(block.cost(&prices, Some(width), opcodes), expected, "{revision} {name} {all:?}");
                }
            }
        }
    }
}

#[test]
fn a_superblock_costs_its_control_flow_too() {
    let revision = Revision::Eip6690_2024;
    let mut prices = Prices::new(&GasSchedule::named("eip6690", revision).unwrap(), revision);
    let block = superblock(&Budget::default());
    // Three sums, nine products, a push, a copy and a jump target; then instructions have prices too.
    let (width, opcodes) = (prices.per_width[6], revision.interface().arithmetic);
    assert_eq!(block.cost(&prices, Some(&width), opcodes), 3 * (1 + 3 * 3) + 3 + 3 + 1);
    prices.base[usize::from(opcodes[FieldOp::Add])] = 100;
    prices.base[usize::from(opcodes[FieldOp::Mul])] = 1000;
    assert_eq!(block.cost(&prices, Some(&width), opcodes), 3300 + 3 * (1 + 3 * 3) + 3 + 3 + 1);
    assert_eq!(block.cost(&prices, None, opcodes), 3300 + 3 + 3 + 1);
}

#[test]
fn lanes_are_operations_of_one_instruction_unless_they_go_in_turn() {
    let all = [
        instruction(FieldOp::Add, (0, 1), 3),
        instruction(FieldOp::Mul, (10, 1), 1),
        instruction(FieldOp::Sub, (4, 0), 2),
    ];
    for (revision, lanes) in [(Revision::Eip6690_2024, vec![3, 1, 2]), (Revision::Evmone2025, vec![1; 6])] {
        let block = block(&layout(revision), &all, &Budget::default());
        let found: Vec<usize> = block.operations.instructions().map(<[Op]>::len).collect();
        assert_eq!((found, block.is_as_priced()), (lanes, true));
        assert_eq!((block.work.instructions, block.work.operations), (PerOp::all(1), PerOp([3, 2, 1])));
        let outs: Vec<u16> = block.operations.ops().iter().map(|op| op.out).collect();
        assert_eq!(outs, [0, 1, 2, 10, 4, 4]);
    }
}

#[test]
fn a_draft_knows_how_many_operations_it_has() {
    let mut draft = Draft::<Slots>::new();
    assert_eq!(draft.operation_count(), 0);
    for (count, so_far) in [(1, 1), (4, 5), (2, 7)] {
        draft.push(&layout(Revision::Evmone2025), instruction(FieldOp::Add, (0, 1), count));
        assert_eq!(draft.operation_count(), so_far);
    }
}

#[test]
fn all_that_a_block_allocates_counts() {
    let budget = Budget::default();
    let first = superblock(&budget);
    let operations = first.operations.bytes();
    assert!(operations >= 12 * size_of::<Op>() && first.path.bytes() > 8);
    let expected = size_of::<Block<Slots>>() + first.path.bytes() + operations + size_of_val(&*first.several);
    assert_eq!(budget.bytes(), expected);
    let again = first.afresh(&budget);
    assert_eq!((budget.bytes(), again.operations.digest()), (2 * expected, first.operations.digest()));
    drop((first, again));
    // Where lanes go in turn, each pair of an operation and a number of lanes is kept, once.
    let all = [(0, 2), (0, 3), (1, 2), (0, 2), (2, 1)];
    let all = all.map(|(kind, count)| instruction(FieldOp::ALL[kind], (0, 1), count));
    let in_turn = block(&layout(Revision::Evmone2025), &all, &budget);
    let expected = size_of::<Block<Slots>>() + in_turn.operations.bytes() + 3 * size_of::<(FieldOp, u16, u32)>();
    assert_eq!(budget.bytes(), expected);
    let again = in_turn.afresh(&budget);
    assert_eq!(budget.bytes(), 2 * expected);
    drop((in_turn, again));
    assert_eq!(budget.bytes(), 0);
}

#[test]
fn a_trace_is_made_once_where_it_is_wanted_and_of_what_was_priced() {
    let (layout, budget) = (layout(Revision::Eip6690_2024), Budget::default());
    let made = |is_wanted: bool, is_changed: bool| {
        let mut block = superblock(&Budget::default());
        if is_changed {
            block.priced = Digest::default();
        }
        assert!(block.trace().is_none() && block.is_as_priced() != is_changed);
        block.make_trace(&layout, is_wanted, &budget);
        assert!(block.trace.get().is_some(), "it is known");
        block.make_trace(&layout, true, &budget);
        let bytes = block.trace().map_or(0, |trace| size_of_val(&*trace.steps));
        assert_eq!(budget.bytes(), bytes);
        block.trace().is_some()
    };
    let cases = [(true, false), (true, true), (false, false), (false, true)];
    assert_eq!(cases.map(|(is_wanted, is_changed)| made(is_wanted, is_changed)), [true, false, false, false]);
}

#[test]
fn what_entries_pay_for_adds_up() {
    let block = superblock(&Budget::default());
    assert_eq!([7, 0, 5].map(|cycles| block.earn(cycles)), [7, 7, 12]);
}
