//! Instructions in blocks on slots, and the conditions of such blocks.

use residue_isa::FieldOp;

use super::*;
use crate::batch::scalar_trace::Fused;

const IN_TURN: Revision = Revision::Evmone2025;
const AT_ONCE: Revision = Revision::Eip6690_2024;

fn layout(revision: Revision) -> SlotLayout {
    Slots::layout(&[], revision, Batching::Warm).unwrap()
}

/// An addition, from the slots and strides of its operands and its number of lanes.
fn addition(revision: Revision, operands: [u8; 7]) -> Option<Instruction> {
    let code = [&[0, revision.arithmetic_opcode(FieldOp::Add)][..], &operands].concat();
    let layout = layout(revision);
    assert!(
        Slots::instruction(&layout, &code, 0, true).is_none() && Slots::instruction(&layout, &code, 99, true).is_none()
    );
    Slots::instruction(&layout, &code, 1, false)
}

#[test]
fn blocks_have_instructions_that_cannot_halt_for_their_operands() {
    let found = addition(AT_ONCE, [1, 2, 3, 0, 5, 6, 7]).unwrap();
    assert_eq!((found.operation, found.count, found.length), (FieldOp::Add, 7, 8));
    assert_eq!((found.out, found.x, found.y), ((1, 2), (3, 0), (5, 6)));
    assert_eq!(found.last(), 5 + 6 * 6);
    assert_eq!(found.lanes().nth(2), Some((5, 3, 17)));
    let is_found = |operands| [AT_ONCE, IN_TURN].map(|revision| addition(revision, operands).is_some());
    assert_eq!(is_found([1, 1, 3, 1, 5, 1, 1]), [true, true]);
    assert_eq!(is_found([1, 1, 3, 1, 5, 1, 0]), [false, false], "no lane");
    assert_eq!(is_found([1, 0, 3, 1, 5, 1, 2]), [false, true], "one slot for all results");
    for operand in [0, 2, 4] {
        let reaching = |count| {
            let mut operands = [1, 1, 3, 1, 5, 1, count];
            operands[operand] = 250;
            operands
        };
        assert_eq!(is_found(reaching(6)), [true, true], "slot 255");
        assert_eq!(is_found(reaching(7)), [false, false], "slot 256");
    }
}

#[test]
fn sums_are_instructions_of_blocks_where_a_revision_has_them() {
    let code = [0xc9, 7, 0b101, 1, 2, 250, 4, 5, 6];
    let found = Slots::instruction(&layout(Revision::EvmmaxNext), &code, 0, false).unwrap();
    let sum = found.sum.unwrap();
    assert_eq!(
        (sum.out, sum.products().collect::<Vec<_>>()),
        (7, vec![(true, [1, 2]), (false, [250, 4]), (true, [5, 6])])
    );
    assert_eq!((found.length, found.last(), found.operation_count()), (9, 250, 5));
    assert!(Slots::instruction(&layout(Revision::EvmmaxNext), &code[..8], 0, false).is_none(), "cut off");
    assert!(Slots::instruction(&layout(AT_ONCE), &code, 0, false).is_none());
    let is_zero = [0xc7, 1];
    assert!(Slots::instruction(&layout(Revision::EvmmaxNext), &is_zero, 0, false).is_none());
    for comparison in [[0xd8, 1, 2], [0xd9, 1, 2]] {
        assert!(Slots::instruction(&layout(Revision::XCmpx), &comparison, 0, false).is_none());
    }
}

#[test]
fn a_block_fits_where_its_highest_slot_exists() {
    let (layout, mut needs) = (layout(AT_ONCE), SlotNeeds::default());
    let facts = |slot_count| Facts { slot_count, width_limbs: 6, memory_bytes: 0, width: None, plans_run: true };
    for (operands, last) in [([1, 1, 3, 1, 5, 1, 1], 5), ([1, 1, 3, 2, 5, 1, 4], 9), ([1, 1, 1, 1, 1, 1, 1], 9)] {
        assert!(Slots::admit(&layout, &mut needs, &addition(AT_ONCE, operands).unwrap(), &[], 0));
        assert_eq!([last, last + 1, last + 2].map(|count| Slots::fits(&needs, &facts(count))), [false, true, true]);
    }
    assert_eq!(Slots::place_count(&layout, &facts(77)), 77);
}

#[test]
fn a_layout_says_how_lanes_go_and_takes_no_room() {
    let of = |revision, batching| Slots::layout(&[], revision, batching);
    assert!(of(AT_ONCE, Batching::Off).is_none() && of(Revision::Evm384V7, Batching::Always).is_none());
    for batching in [Batching::Warm, Batching::Always, Batching::Traces] {
        for revision in [AT_ONCE, IN_TURN] {
            let layout = of(revision, batching).unwrap();
            assert_eq!(Slots::lanes_in_turn(&layout), revision == IN_TURN);
            assert_eq!((Slots::layout_bytes(&layout), Slots::push(&layout)), (0, None));
            assert!(Slots::may_begin(&layout, 0) && Slots::has_traces(&layout));
        }
    }
}

#[test]
fn a_trace_is_as_long_as_its_steps() {
    let mut block = SlotBlock::new(4);
    (0..5).for_each(|_| block.push_lanes(residue_lanes::FieldOp::Mul, [(0, 1, 2)]).unwrap());
    let trace = Slots::trace(&layout(AT_ONCE), &block).unwrap();
    assert_eq!(Slots::trace_size(&trace, &block), (5, 5 * size_of::<residue_modular::SlotStep>()));
}

#[test]
fn products_in_fp6_are_instructions_of_blocks_where_v_cubed_is_small() {
    let fp6 = |operands: [u8; 20]| {
        let code = [&[0xd7][..], &operands].concat();
        Slots::instruction(&layout(Revision::XFp6x), &code, 0, false)
    };
    let operands = [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 11, 12, 1, 1];
    let found = fp6(operands).unwrap();
    // 36 products, five sums for each coefficient, and four for the coefficients times v³.
    assert_eq!((found.length, found.last(), found.operation_count()), (21, 250, 36 + 30 + 4));
    let product = found.fp6.unwrap();
    assert_eq!((product.out, product.x, product.y), ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [7, 8, 9, 250, 11, 12]));
    let with_xi = |xi: [u8; 2]| fp6([&operands[..18], &xi].concat().try_into().unwrap());
    assert!(with_xi([15, 15]).is_some() && with_xi([16, 1]).is_none() && with_xi([1, 255]).is_none());
    assert_eq!(with_xi([9, 1]).unwrap().operation_count(), 36 + 30 + 4 + 4 * 4);
    let mut block = SlotBlock::new(251);
    block.push_lanes(FieldOp::Mul, [(7, 7, 7)]).unwrap();
    block.push_fp6(product).unwrap();
    block.push_lanes(FieldOp::Mul, [(9, 1, 1)]).unwrap();
    let trace = Slots::trace(&layout(Revision::XFp6x), &block).unwrap();
    let [(1, Fused::Fp6(step))] = *trace.sums else { panic!("{:?}", trace.sums) };
    assert!((step.out, step.xi) == (product.out, product.xi) && trace.steps.len() == 2);
}

#[test]
fn products_in_fp2_are_instructions_of_blocks_unless_a_lane_reads_what_one_before_has_written() {
    let fp2 = |operands: [u8; 10]| {
        let code = [&[0xd3][..], &operands].concat();
        Slots::instruction(&layout(Revision::XFp2x), &code, 0, false)
    };
    let found = fp2([7, 3, 9, 1, 2, 4, 250, 5, 0, 2]).unwrap();
    let lanes: Vec<_> = found.sums().map(|sum| (sum.out, sum.second, sum.slots().to_vec())).collect();
    let lane = |out, second, [x0, x1]: [u16; 2]| (out, Some(second), vec![[x0, 250], [x1, 5], [x0, 5], [x1, 250]]);
    assert_eq!(lanes, [lane(7, 3, [1, 2]), lane(16, 12, [5, 6])]);
    assert_eq!((found.length, found.last(), found.operation_count()), (11, 250, 12));
    let is_found = |operands| fp2(operands).is_some();
    assert!(is_found([1, 2, 2, 1, 2, 2, 1, 2, 2, 9]), "in place");
    assert!(!is_found([1, 2, 1, 1, 2, 1, 8, 9, 0, 2]), "slot 2 is read by lane 1 and written by lane 0");
    assert!(is_found([1, 2, 1, 1, 2, 1, 8, 9, 0, 1]));
    assert!(!is_found([1, 2, 0, 8, 9, 0, 8, 9, 0, 2]), "one element for all results");
    assert!(!is_found([1, 2, 1, 8, 9, 0, 8, 9, 0, 0]), "no lane");
    assert!(is_found([1, 2, 3, 255, 9, 0, 8, 9, 0, 3]) && !is_found([1, 2, 3, 255, 9, 1, 8, 9, 0, 3]), "slot 257");
}

#[test]
fn copies_are_instructions_of_blocks() {
    let copy = |operands: [u8; 5]| {
        let code = [&[0xd4][..], &operands].concat();
        Slots::instruction(&layout(Revision::XMovx), &code, 0, false)
    };
    let found = copy([7, 2, 1, 0, 3]).unwrap();
    assert_eq!(found.lanes().collect::<Vec<_>>(), [(7, 1, 1), (9, 1, 1), (11, 1, 1)]);
    assert_eq!((found.form, found.length, found.last(), found.operation_count()), (Some(Form::Copy), 6, 11, 4));
    let is_found = |operands| copy(operands).is_some();
    assert!(is_found([1, 1, 0, 1, 255]) && !is_found([2, 1, 0, 1, 255]), "slot 256");
    assert!(!is_found([1, 1, 0, 1, 0]) && !is_found([1, 0, 0, 1, 2]), "no lane, one slot for all results");
}
