//! Budget and release of rows of slots.

use residue_isa::assembly::assemble_text;
use residue_isa::{FieldOp, GasSchedule, Revision};
use residue_lanes::{Plan, Policy, SlotBlock};
use residue_modular::{FieldContext, Modulus};
use revm::bytecode::Bytecode;
use revm::primitives::Bytes;

use super::*;
use crate::analysis::Analysis;
use crate::batch::Batching;
use crate::batch::blocks::Entry;
use crate::batch::budget::Budget;
use crate::batch::tuning::ROW_BYTES_MAX;
use crate::prices::{Prices, WidthPrices};

const REVISION: Revision = Revision::Eip6690_2024;

#[test]
fn rows_count_from_the_plan_that_makes_them_and_are_given_up_beyond_the_bound() {
    let prices = Prices::new(&GasSchedule::named("eip6690", REVISION).unwrap(), REVISION);
    let mut machine = FieldMachine::new(prices, Arc::new(Analysis::unshared(REVISION, Batching::Always)));
    let mut interpreter = Interpreter::<EthInterpreter>::default();
    let code = assemble_text("MULMODX 0 1 2 x1\n", REVISION).unwrap().bytes;
    let code = Bytecode::new_legacy(Bytes::from(code));
    let blocks = Blocks::<Slots>::new(code, REVISION, Batching::Always, &Budget::default()).unwrap();
    let place = blocks.place(0, true).unwrap();
    let block = blocks.choices(place, &Entry { stack: &[], joins: false, is_free: true }).unwrap().run;
    let mut operations = SlotBlock::new(200);
    operations.push_lanes(FieldOp::Mul, [(0, 1, 2)]).unwrap();
    let plan = Plan::new(&operations, Shape::of_bits(384).unwrap(), &Policy::default()).unwrap();
    let row_bytes = plan.row_bytes();
    let plan = RowPlan::new(plan, 1000, &Budget::default());
    for id in 0..2 {
        let modulus = Modulus::from_be_bytes(&[0xfb; 48]).unwrap();
        machine.frame.insert(id, FieldContext::new(modulus, 200), 0, WidthPrices::default());
        for _ in 0..3 {
            assert!(Slots::run_plan(&mut machine, &mut interpreter, &blocks, block, &plan));
        }
    }
    let mut has_rows = |bytes: usize| {
        machine.make_room_for_rows(bytes);
        [0, 1].map(|id| {
            machine.frame.activate(id);
            machine.frame.has_rows()
        })
    };
    assert_eq!(has_rows(0), [true, true]);
    assert_eq!(has_rows(ROW_BYTES_MAX - 2 * row_bytes), [true, true]);
    assert_eq!(has_rows(1), [false, true], "the active one keeps its own");
}
