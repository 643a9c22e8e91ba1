//! Times of the work on a code: the gas that it must earn first, the credit that the work takes, and the frequency of
//! checks.

use revm::primitives::Bytes;

use super::*;
use crate::batch::cache::{AnyBlocks, BlocksKey, Cache, CodeKey};
use crate::batch::slots::Slots;
use crate::batch::tuning::{BALANCE_CYCLES_MAX, PLANS_MAX};
use crate::prices::WidthPrices;
use residue_isa::assembly::assemble_text;

const REVISION: Revision = Revision::Eip6690_2024;
/// Cycles paid for by a gas in these tests.
const CYCLES_PER_GAS: i64 = 24;

fn blocks_of(text: &str, batching: Batching, budget: &Budget) -> Blocks<Slots> {
    let code = Bytecode::new_legacy(Bytes::from(assemble_text(text, REVISION).unwrap().bytes));
    Blocks::new(code, REVISION, batching, budget).unwrap()
}

/// Ten products and ten sums, one run.
fn run_of_twenty() -> String {
    (0..10).map(|slot| format!("MULMODX {slot} {slot} {slot} x1\nADDMODX 20 {slot} 1 x1\n")).collect()
}

fn facts(slot_count: usize) -> Facts {
    Facts { slot_count, width_limbs: 6, memory_bytes: 0, width: Some(WidthPrices::default()), plans_run: true }
}

fn shape() -> Option<Shape> {
    Some(Shape::of_bits(381).unwrap())
}

/// With so much gas that the code's credit has not got yet.
fn due(gas: i64) -> Due {
    Due { plans_run: true, is_free: false, earned: gas * CYCLES_PER_GAS }
}

/// Cycles for walking the run of twenty.
const WALK_CYCLES: i64 = 1536 + 768 + 20 * 64;

/// The place at the beginning, whose run has been paid for.
fn first_place(blocks: &Blocks<Slots>) -> &Place {
    blocks.credit.earn(WALK_CYCLES);
    let place = blocks.place(0, false).unwrap();
    assert_eq!(blocks.credit.cycles(), 0);
    place
}

/// A gas with every entry, until something is made, or entries are out: how much gas that took.
fn gas_until(
    blocks: &Blocks<Slots>,
    place: &Place,
    entered: Entered,
    facts: &Facts,
    is_made: impl Fn(&Block<Slots>) -> bool,
) -> Option<i64> {
    let run = blocks.block(&place.run).unwrap();
    for entries in 1..100_000 {
        blocks.credit.earn(entered.pays);
        if blocks.is_due(place.pc, due(0), || false) && blocks.may_grow(place, run) {
            blocks.grow(place, run, entered, facts, shape);
        }
        if is_made(run) {
            return Some(entries * entered.pays / CYCLES_PER_GAS);
        }
    }
    None
}

#[test]
fn an_instruction_is_walked_from_when_it_is_met_again_and_paid_for() {
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
    let is_due = |earned| blocks.is_due(0, due(earned), || false);
    assert!(!is_due(1_000_000), "what runs once is not worth a walk");
    assert!(!is_due(0) && is_due(1), "any credit is enough, paid in or not");
    assert!(blocks.place(0, false).is_none() && !blocks.begins(0), "nothing is walked on credit");
    blocks.credit.earn(WALK_CYCLES - 1);
    assert!(blocks.place(0, false).is_none() && !blocks.begins(0), "nor further than is paid for");
    assert_eq!(blocks.credit.cycles(), 0);
    let gas = 2 * (WALK_CYCLES - 1) / CYCLES_PER_GAS;
    assert!(!is_due(gas) && is_due(gas + 1), "then there has to be twice as much");
    blocks.credit.earn(2 * WALK_CYCLES);
    assert!(blocks.place(0, false).is_some() && blocks.begins(0));
    // Inside of the run there is no place, nor beyond the code.
    assert!(!blocks.begins(8) && blocks.place(8, false).is_none());
    assert!(!blocks.is_due(8, due(1000), || false));
    assert!(blocks.place(100_000, false).is_none() && !blocks.is_due(100_000, due(1000), || false));
    // Where it costs nothing, it is not put off.
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
    assert!(blocks.is_due(0, Due { is_free: true, ..due(0) }, || false));
    let blocks = blocks_of(&run_of_twenty(), Batching::Always, &Budget::default());
    assert!(blocks.is_due(0, due(0), || false));
}

#[test]
fn walks_are_charged_by_their_length() {
    for (is_free, cycles) in [(false, 1000), (true, 1000 + WALK_CYCLES)] {
        let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
        blocks.credit.earn(1000 + WALK_CYCLES);
        blocks.place(0, is_free).unwrap();
        assert_eq!(blocks.credit.cycles(), cycles);
        blocks.place(0, is_free).unwrap();
        assert_eq!(blocks.credit.cycles(), cycles, "once");
        assert_eq!(blocks.made(), 1);
    }
    // A layout takes a cycle a byte.
    assert_eq!(Blocks::<Slots>::price(1000), 1000);
}

#[test]
fn runs_too_short_to_gain_are_no_places() {
    let short = "ADDMODX 0 1 2 x1\n";
    for (batching, least) in [(Batching::Always, 1), (Batching::Traces, 1), (Batching::Warm, 2)] {
        // Without plans, only traces gain.
        let least = if batching == Batching::Warm && !batching.has_plans() { 8 } else { least };
        for length in 1..=least {
            let blocks = blocks_of(&short.repeat(length), batching, &Budget::default());
            assert_eq!(blocks.place(0, true).is_some(), length == least, "{batching:?} {length}");
            assert_eq!(blocks.begins(0), length == least);
        }
    }
    let blocks = blocks_of("PUSH 1 POP\n", Batching::Always, &Budget::default());
    assert!(blocks.place(0, true).is_none());
}

#[test]
fn a_trace_is_made_when_its_code_has_paid_for_it() {
    // Twenty operations: 48 cycles each.
    let price = 20 * 48;
    for cost in [1, 3, 100] {
        let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
        let place = first_place(&blocks);
        let entered = Entered { pays: cost * CYCLES_PER_GAS, joins: true, is_free: false };
        let gas = gas_until(&blocks, place, entered, &facts(256), |run| run.trace().is_some()).unwrap();
        let paid = gas * CYCLES_PER_GAS;
        assert!(paid >= price, "{cost}: {gas} gas");
        // No later than the next look: at most twice the gas, or an entry.
        assert!(paid <= 2 * price + cost * CYCLES_PER_GAS, "{cost}: {gas} gas");
        assert_eq!(blocks.credit.cycles(), paid - price);
        assert!(blocks.is_ready(place) && blocks.is_due(0, due(0), || false), "it runs at every entry");
        let run = blocks.block(&place.run).unwrap();
        assert!(!run.plans.has_any(), "no plan before it is known what follows");
    }
    let short = blocks_of(&"ADDMODX 0 1 2 x1\n".repeat(7), Batching::Warm, &Budget::default());
    if let Some(place) = short.place(0, false) {
        let entered = Entered { pays: CYCLES_PER_GAS, joins: true, is_free: false };
        assert_eq!(gas_until(&short, place, entered, &facts(256), |run| run.trace().is_some()), None);
    }
}

#[test]
fn a_plan_is_made_when_its_code_has_paid_for_it() {
    if !Batching::Warm.has_plans() {
        return;
    }
    let price = (1 << 14) + 20 * 400 + 20 * 48;
    for cost in [3, 10, 100] {
        let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
        let place = first_place(&blocks);
        let entered = Entered { pays: cost * CYCLES_PER_GAS, joins: false, is_free: false };
        let closed = Facts { plans_run: false, ..facts(256) };
        let is_planned = |run: &Block<Slots>| run.plans.has_any();
        assert_eq!(gas_until(&blocks, place, Entered { pays: 0, ..entered }, &closed, is_planned), None);
        let gas = gas_until(&blocks, place, entered, &facts(256), is_planned).unwrap();
        let paid = gas * CYCLES_PER_GAS;
        let most = 2 * price + 65 * cost * CYCLES_PER_GAS;
        assert!((price..=most).contains(&paid), "{cost}: {gas} gas");
        assert_eq!(blocks.credit.cycles(), paid - price);
        let run = blocks.block(&place.run).unwrap();
        assert!(blocks.plan(run, &facts(256), shape()).is_some());
        assert!(blocks.plan(run, &facts(255), shape()).is_none() && blocks.plan(run, &facts(256), None).is_none());
        assert_eq!(blocks.made(), 3, "a block, a trace and a plan");
        let explained = &blocks.explain()[0];
        assert!(explained.plan.is_some() && explained.trace_steps.is_some());
        assert_eq!((explained.code.clone(), explained.runs), (0..160, 1));
        // Nothing more can be known: it is not looked at for long.
        let looks = (0..10_000).filter(|_| blocks.may_grow(place, run)).count();
        assert!((5000..7000).contains(&looks), "{looks}");
    }
}

#[test]
fn what_costs_nothing_is_made_at_once() {
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
    let place = blocks.place(0, true).unwrap();
    let run = blocks.block(&place.run).unwrap();
    let entered = Entered { pays: 0, joins: true, is_free: true };
    let has_grown = blocks.grow(place, run, entered, &facts(256), shape);
    assert!(run.trace().is_some());
    assert_eq!((has_grown, run.plans.has_any()), (Batching::Warm.has_plans(), Batching::Warm.has_plans()));
    assert_eq!(blocks.credit.cycles(), 0);
    for (batching, has_plan) in [(Batching::Always, true), (Batching::Traces, false)] {
        let blocks = blocks_of("MULMODX 0 1 1 x1", batching, &Budget::default());
        let place = blocks.place(0, true).unwrap();
        let run = blocks.block(&place.run).unwrap();
        blocks.grow(place, run, entered, &facts(256), shape);
        assert_eq!((run.plans.has_any(), run.trace().is_some()), (has_plan, !has_plan));
    }
}

#[test]
fn entries_that_wait_are_counted_one_by_one_or_faster_beside_rows() {
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
    let place = first_place(&blocks);
    let entries = |skipped, is_beside_rows| {
        place.skip(skipped);
        (0..10_000).take_while(|_| !blocks.is_due(0, due(0), || is_beside_rows)).count()
    };
    assert_eq!([0, 1, 5, 100].map(|skipped| entries(skipped, false)), [0, 1, 5, 100]);
    assert_eq!([0, 1, 32, 33, 100].map(|skipped| entries(skipped, true)), [0, 1, 1, 2, 4]);
    place.skip(1);
    assert!(!blocks.may_grow(place, blocks.block(&place.run).unwrap()));
    // What lacks much is not looked at for up to 64 entries, what lacks little comes sooner.
    for (cost, entries) in [(1, 1..=64), (1000, 1..=1)] {
        let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
        let place = first_place(&blocks);
        let run = blocks.block(&place.run).unwrap();
        blocks.grow(
            place,
            run,
            Entered { pays: cost * CYCLES_PER_GAS, joins: true, is_free: false },
            &facts(256),
            shape,
        );
        assert!(entries.contains(&place.skipped.load(Ordering::Relaxed)));
    }
    let run = blocks.block(&place.run).unwrap();
    run.skip(3);
    assert_eq!([(); 5].map(|()| run.is_due()), [false, false, false, true, true]);
    assert_eq!((run.earn(5), run.earn(7)), (5, 12));
}

/// Two runs with a jump target between.
fn two_runs() -> String {
    format!("{}here:\n{}", run_of_twenty(), run_of_twenty())
}

#[test]
fn a_path_is_looked_for_after_some_entries_and_less_often_each_time() {
    let entry = |stack| Entry { stack, joins: true, is_free: false };
    let blocks = blocks_of(&two_runs(), Batching::Warm, &Budget::default());
    let place = first_place(&blocks);
    let walked = blocks.credit.cycles();
    let has_path = || blocks.choices(place, &entry(&[])).unwrap().path.is_some();
    assert!((0..100).all(|_| !has_path()), "nothing is walked on credit");
    blocks.credit.earn(10_000 * CYCLES_PER_GAS);
    let paid = blocks.credit.cycles();
    assert_eq!(paid, walked + 10_000 * CYCLES_PER_GAS);
    let choices = blocks.choices(place, &entry(&[])).unwrap();
    assert_eq!(choices.path.map(|path| (path.path.runs, path.work.operation_count())), Some((2, 40)));
    // The walk, which looks for a third run too, and the trace that is made along with it.
    assert_eq!(blocks.credit.cycles(), paid - (1536 + 3 * 768 + 40 * 64) - 40 * 48);
    assert!(blocks.is_ready(place) && choices.path.unwrap().trace().is_some());
    assert!(has_path() && blocks.made() == 3);
    assert_eq!(choices.path.unwrap().entries.load(Ordering::Relaxed), 1);
    assert!(blocks.choices(place, &Entry { joins: false, ..entry(&[]) }).unwrap().path.is_none());
    let runs: Vec<_> = blocks.explain().iter().map(|block| block.runs).collect();
    assert_eq!(runs, [1, 2]);
    // Six entries for credit in hand before the first walk; none where it is free.
    for (is_free, entries) in [(false, 6), (true, 0)] {
        let blocks = blocks_of(&two_runs(), Batching::Warm, &Budget::default());
        let place = blocks.place(0, true).unwrap();
        blocks.credit.earn(10_000 * CYCLES_PER_GAS);
        let waits = |_: &usize| blocks.choices(place, &Entry { is_free, ..entry(&[]) }).unwrap().path.is_none();
        assert_eq!((0..100).take_while(waits).count(), entries);
        assert_eq!(blocks.credit.cycles() == 10_000 * CYCLES_PER_GAS, is_free);
    }
}

#[test]
fn a_plan_waits_until_it_is_known_what_follows() {
    if !Batching::Warm.has_plans() {
        return;
    }
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
    let place = first_place(&blocks);
    let entered = Entered { pays: 10 * CYCLES_PER_GAS, joins: true, is_free: false };
    assert_eq!(gas_until(&blocks, place, entered, &facts(256), |run| run.plans.has_any()), None);
    let waits = |_: &usize| {
        blocks.choices(place, &Entry { stack: &[], joins: true, is_free: false }).unwrap();
        place.paths[0].load(Ordering::Relaxed) == 0
    };
    assert_eq!((0..100).take_while(waits).count(), 6);
    assert!(gas_until(&blocks, place, entered, &facts(256), |run| run.plans.has_any()).is_some());
}

#[test]
fn the_path_that_is_entered_least_gives_way() {
    let ways: String = (0..=PATHS_MAX).map(|way| format!("way{way}:\n{}STOP\n", run_of_twenty())).collect();
    let text = format!("{}DUP1 JUMP\n{ways}", run_of_twenty());
    let blocks = blocks_of(&text, Batching::Warm, &Budget::default());
    let place = blocks.place(0, true).unwrap();
    let first = assemble_text(&format!("{}DUP1 JUMP\n", run_of_twenty()), REVISION).unwrap().bytes.len();
    let length = assemble_text(&format!("here:\n{}STOP\n", run_of_twenty()), REVISION).unwrap().bytes.len();
    let word = |way: usize| U256::from(first + way * length);
    let enter = |way: usize, is_free: bool| {
        let stack = [word(way)];
        blocks.choices(place, &Entry { stack: &stack, joins: true, is_free }).unwrap().path.map(|path| path.path.end)
    };
    let end = |way: usize| Some(first + (way + 1) * length - 1);
    for way in 0..PATHS_MAX {
        assert_eq!(enter(way, true), end(way));
    }
    for way in (0..PATHS_MAX).filter(|way| *way != 3) {
        (0..5).for_each(|_| assert_eq!(enter(way, false), end(way)));
    }
    assert_eq!(enter(PATHS_MAX, true), end(PATHS_MAX));
    for way in (0..=PATHS_MAX).filter(|way| *way != 3) {
        assert_eq!(enter(way, false), end(way), "the others stay");
    }
    assert_eq!(enter(3, false), None);
}

#[test]
fn a_block_whose_plans_are_for_others_begins_again() {
    if !Batching::Warm.has_plans() {
        return;
    }
    let budget = Budget::default();
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &budget);
    let place = blocks.place(0, true).unwrap();
    let entered = Entered { pays: 0, joins: false, is_free: true };
    let is_planned = |slot_count: usize| {
        let run = blocks.block(&place.run).unwrap();
        blocks.grow(place, run, entered, &facts(slot_count), shape);
        blocks.plan(run, &facts(slot_count), shape()).is_some()
    };
    let old = blocks.block(&place.run).unwrap();
    assert!((0..PLANS_MAX).all(|more| is_planned(100 + more)));
    let bytes = budget.bytes();
    assert!(!is_planned(100 + PLANS_MAX), "this look only makes room");
    assert!(!std::ptr::eq(old, blocks.block(&place.run).unwrap()));
    assert!(budget.bytes() > bytes + size_of::<Block<Slots>>(), "the new one counts, as the old one does");
    assert!(is_planned(100 + PLANS_MAX));
    assert_eq!(blocks.explain().len(), 1, "what was replaced is not in use");
}

#[test]
fn nothing_is_made_beyond_the_budget() {
    for (bytes, of_all, has_room) in [
        (CODE_BLOCK_BYTES_MAX, false, false),
        (CODE_BLOCK_BYTES_MAX - (1 << 16), false, true),
        (BLOCK_BYTES_MAX, true, false),
        (BLOCK_BYTES_MAX - (1 << 16), true, true),
    ] {
        let budget = Budget::default();
        let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &budget);
        let counted = if of_all { budget.count(bytes) } else { blocks.budget.count(bytes) };
        assert_eq!(blocks.is_full(), !of_all && !has_room);
        assert_eq!(blocks.place(0, true).is_some(), has_room);
        drop(counted);
        assert!(blocks.place(0, true).is_some());
    }
}

#[test]
fn what_a_block_has_earned_itself_is_not_made_on_credit() {
    if !Batching::Warm.has_plans() {
        return;
    }
    let (trace, plan) = (20 * 48, (1 << 14) + 20 * 400);
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
    let place = blocks.place(0, true).unwrap();
    // One entry earns all that the block needs itself.
    let entered = Entered { pays: plan, joins: false, is_free: false };
    let grow = |credit: i64, slot_count: usize| {
        blocks.credit.earn(credit - blocks.credit.cycles());
        let run = blocks.block(&place.run).unwrap();
        blocks.grow(place, run, entered, &facts(slot_count), shape);
        let run = blocks.block(&place.run).unwrap();
        let is_planned = blocks.plan(run, &facts(slot_count), shape()).is_some();
        (run.trace().is_some(), is_planned, blocks.credit.cycles())
    };
    assert_eq!(grow(trace - 1, 100), (false, false, trace - 1));
    assert_eq!(grow(trace, 100), (true, false, 0));
    assert_eq!(grow(plan - 1, 100), (true, false, plan - 1));
    assert_eq!(grow(plan, 100), (true, true, 0));
    assert_eq!(grow(plan, 100), (true, true, plan), "once");
    assert_eq!(grow(plan, 101), (true, true, 0));
    // A third number of slots: the block begins again, which is paid for like a plan.
    let old = blocks.block(&place.run).unwrap() as *const Block<Slots>;
    assert_eq!(grow(plan - 1, 102), (true, false, plan - 1));
    assert!(std::ptr::eq(old, blocks.block(&place.run).unwrap()));
    assert_eq!(grow(plan, 102), (false, false, 0));
    assert!(!std::ptr::eq(old, blocks.block(&place.run).unwrap()));
}

#[test]
fn a_block_earns_a_quarter_of_a_price_itself() {
    let is_traced = |pays: i64| {
        let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
        let place = blocks.place(0, true).unwrap();
        blocks.credit.earn(1_000_000);
        let run = blocks.block(&place.run).unwrap();
        blocks.grow(place, run, Entered { pays, joins: true, is_free: false }, &facts(256), shape);
        run.trace().is_some()
    };
    assert_eq!([20 * 48 / 4 - 1, 20 * 48 / 4].map(is_traced), [false, true]);
}

#[test]
fn a_place_is_looked_at_again_when_its_block_may_have_earned_what_it_lacks() {
    // The trace is the cheapest: 960 cycles, of which the block earns a quarter itself. Without credit as much is lacking as if it had earned nothing.
    for (pays, with_credit, without) in [(1, 64, 64), (3, 64, 64), (4, 59, 60), (24, 9, 10), (100, 1, 2), (239, 1, 1)] {
        for (credit, entries) in [(1_000_000, with_credit), (0, without)] {
            let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
            let place = blocks.place(0, true).unwrap();
            blocks.credit.earn(credit);
            let run = blocks.block(&place.run).unwrap();
            blocks.grow(place, run, Entered { pays, joins: true, is_free: false }, &facts(256), shape);
            assert_eq!(place.skipped.load(Ordering::Relaxed), entries, "{pays}");
            assert_eq!(run.earn(0), pays * (1 + i64::from(entries)), "what is skipped is charged");
        }
    }
    // Where nothing is lacking, nothing more can be known for long.
    let blocks = blocks_of(&run_of_twenty(), Batching::Traces, &Budget::default());
    let place = blocks.place(0, true).unwrap();
    let run = blocks.block(&place.run).unwrap();
    blocks.grow(place, run, Entered { pays: 0, joins: true, is_free: true }, &facts(256), shape);
    assert_eq!((0..10_000).take_while(|_| !blocks.may_grow(place, run)).count(), 4096);
}

#[test]
fn plans_are_made_and_due_where_plans_run() {
    let entered = Entered { pays: 0, joins: true, is_free: true };
    for (batching, gain_is_real) in [(Batching::Always, false), (Batching::Warm, true)] {
        if !batching.has_plans() {
            continue;
        }
        let blocks = blocks_of(&run_of_twenty(), batching, &Budget::default());
        let place = blocks.place(0, true).unwrap();
        let run = blocks.block(&place.run).unwrap();
        let closed = Facts { plans_run: false, ..facts(256) };
        assert!(!blocks.grow(place, run, entered, &closed, shape) && !run.plans.has_any());
        run.skip(0);
        assert!(blocks.grow(place, run, entered, &facts(256), shape));
        let gain_cycles = blocks.plan(run, &facts(256), shape()).unwrap().gain_cycles();
        assert_eq!(gain_cycles != BALANCE_CYCLES_MAX, gain_is_real, "{batching:?}");
        assert!(blocks.is_ready(place));
    }
    // What has a plan only is due where that may run, else it waits as others do.
    let blocks = blocks_of(&run_of_twenty(), Batching::Always, &Budget::default());
    let place = blocks.place(0, true).unwrap();
    blocks.grow(place, blocks.block(&place.run).unwrap(), entered, &facts(256), shape);
    place.skip(2);
    let is_due = |plans_run| blocks.is_due(0, Due { plans_run, ..due(0) }, || false);
    assert_eq!([false, true, true, false, false, true].map(is_due), [false, true, true, false, true, true]);
}

#[test]
fn a_path_of_one_run_says_that_nothing_follows() {
    let entry = Entry { stack: &[], joins: true, is_free: false };
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
    let place = blocks.place(0, true).unwrap();
    // Nothing is walked where there is no credit, not even without debts.
    assert!((0..100).all(|_| blocks.choices(place, &entry).unwrap().path.is_none()));
    assert_eq!((blocks.made(), blocks.credit.cycles()), (1, 0));
    blocks.credit.earn(100_000);
    assert!((0..100).all(|_| blocks.choices(place, &entry).unwrap().path.is_none()));
    assert_eq!(
        (blocks.made(), blocks.credit.cycles()),
        (2, 100_000 - (1536 + 2 * 768 + 20 * 64)),
        "walked, and no trace"
    );
    assert!(!blocks.is_ready(place) && blocks.explain().len() == 1);
    let path = blocks.block(&place.paths[0]).unwrap();
    assert_eq!((path.path.runs, path.entries.load(Ordering::Relaxed)), (1, 99));
}

#[test]
fn no_path_is_looked_for_where_there_is_no_room() {
    let budget = Budget::default();
    let blocks = blocks_of(&two_runs(), Batching::Warm, &budget);
    let place = blocks.place(0, true).unwrap();
    let entry = Entry { stack: &[], joins: true, is_free: true };
    let counted = budget.count(BLOCK_BYTES_MAX);
    assert!(blocks.choices(place, &entry).unwrap().path.is_none());
    drop(counted);
    assert!(blocks.choices(place, &entry).unwrap().path.is_some());
}

/// A run that jumps to a word of the stack, and where the ways begin, one after the other.
fn with_ways(count: usize) -> (String, impl Fn(usize) -> U256) {
    let ways: String = (0..count).map(|way| format!("way{way}:\n{}STOP\n", run_of_twenty())).collect();
    (format!("{}DUP1 JUMP\n{ways}", run_of_twenty()), |way| U256::from(162 + way * 162))
}

#[test]
fn each_walk_doubles_the_entries_before_the_next_but_one() {
    let (text, word) = with_ways(5);
    let blocks = blocks_of(&text, Batching::Warm, &Budget::default());
    let place = blocks.place(0, true).unwrap();
    blocks.credit.earn(1_000_000);
    let waits = |way| {
        let stack = [word(way)];
        let entry = Entry { stack: &stack, joins: true, is_free: false };
        (0..100).take_while(|_| blocks.choices(place, &entry).unwrap().path.is_none()).count()
    };
    assert_eq!([0, 1, 2, 3, 4].map(waits), [6, 6, 12, 24, 48]);
    place.walk_every.store(ENTRIES_BEFORE_WALK_MAX / 2 + 1, Ordering::Relaxed);
    place.until_walk.store(0, Ordering::Relaxed);
    let stack = [U256::MAX];
    blocks.choices(place, &Entry { stack: &stack, joins: true, is_free: false }).unwrap();
    assert_eq!(place.walk_every.load(Ordering::Relaxed), ENTRIES_BEFORE_WALK_MAX);
}

#[test]
fn paths_that_are_entered_alike_give_way_in_turn() {
    let count = 2 * PATHS_MAX + 3;
    let (text, word) = with_ways(count);
    let blocks = blocks_of(&text, Batching::Warm, &Budget::default());
    let place = blocks.place(0, true).unwrap();
    let mut expected = Vec::new();
    for way in 0..count {
        let stack = [word(way)];
        blocks.choices(place, &Entry { stack: &stack, joins: true, is_free: true }).unwrap();
        match expected.len() {
            PATHS_MAX => expected[way % PATHS_MAX] = way,
            _ => expected.push(way),
        }
        let ways = place.paths.iter().filter_map(|path| blocks.block(path));
        let ways: Vec<usize> = ways.map(|path| path.path.end / 162 - 1).collect();
        assert_eq!(ways, expected);
    }
}

#[test]
fn a_code_is_full_beyond_its_share() {
    let blocks = blocks_of(&run_of_twenty(), Batching::Warm, &Budget::default());
    let counted = blocks.budget.count(CODE_BLOCK_BYTES_MAX - blocks.budget.bytes());
    assert!(!blocks.is_full() && blocks.has_room());
    let one_more = blocks.budget.count(1);
    assert!(blocks.is_full() && !blocks.has_room());
    drop((counted, one_more));
    assert!(!blocks.is_full());
}

#[test]
fn blocks_that_are_full_begin_again() {
    let cache = Cache::default();
    let blocks = std::sync::Arc::new(blocks_of(&run_of_twenty(), Batching::Warm, &cache.budget));
    let code = CodeKey { hash: revm::primitives::B256::ZERO, revision: REVISION };
    let key = BlocksKey { code, batching: Batching::Warm };
    let keep = || cache.keep_blocks(key, AnyBlocks::Slots(std::sync::Arc::clone(&blocks)));
    keep();
    assert!(cache.blocks(&key, &blocks.code).is_some());
    let counted = blocks.budget.count(CODE_BLOCK_BYTES_MAX);
    assert!(cache.blocks(&key, &blocks.code).is_none());
    drop(counted);
    assert!(cache.blocks(&key, &blocks.code).is_none(), "they are not kept any longer");
    keep();
    assert!(cache.blocks(&key, &blocks.code).is_some());
}
