//! Walks: their course, their ends, and their conditions on the stack.

use residue_isa::Revision;
use residue_isa::assembly::assemble_text;
use revm::bytecode::Bytecode;
use revm::primitives::Bytes;

use super::*;
use crate::analysis::Analysis;
use crate::batch::Batching;
use crate::batch::location::Lane;
use crate::batch::memory::Memory;
use crate::batch::slots::Slots;

/// An instruction of eight bytes, and one of two lanes.
const A: &str = "ADDMODX 0 1 2 x1\n";
const AA: &str = "ADDMODX 0 1 2 x2\n";
/// A product that waits for the one before it.
const M: &str = "MULMODX 0 0 0 x1\n";

/// A walk over code in this revision: the block, and the contents of its runs.
fn walk_in<L: Location>(
    revision: Revision,
    text: &str,
    start: usize,
    stack: &[U256],
    operations_max: u32,
) -> Option<(Box<Block<L>>, Vec<usize>)> {
    let code = Bytecode::new_legacy(Bytes::from(assemble_text(text, revision).unwrap().bytes));
    let layout = L::layout(code.original_byte_slice(), revision, Batching::Always).unwrap();
    let analysed = Analysis::unshared(revision, Batching::Off).analyse(&code);
    let (targets, has_subroutines) = (analysed.legacy_jump_table(), revision.has_subroutines());
    let code = code.original_byte_slice();
    let walk =
        Walk::<L> { code, layout: &layout, targets, has_subroutines, stack, operations_max, cycles_max: i64::MAX };
    let mut inside = Vec::new();
    let block = walk.block(start, &Budget::default(), |pc| inside.push(pc)).block?;
    Some((block, inside))
}

fn path(text: &str, stack: &[U256]) -> Path {
    walk_in::<Slots>(Revision::Eip6690_2024, text, 0, stack, 4096).unwrap().0.path
}

fn words(stack: &[u64]) -> Vec<U256> {
    stack.iter().map(|&word| U256::from(word)).collect()
}

/// Runs, end, pushed words, height.
fn check(text: &str, stack: &[u64], runs: usize, end: usize, pushed: &[u32], height_max: usize) {
    let path = path(text, &words(stack));
    assert_eq!((path.runs, path.end, &*path.pushed, path.height_max), (runs, end, pushed, height_max), "{text}");
}

#[test]
fn a_path_goes_on_where_control_flow_is_decided_and_ends_after_a_field_instruction() {
    check(A, &[], 1, 8, &[], 0);
    check(&format!("{A}{A}STOP\n"), &[], 1, 16, &[], 0);
    check(&format!("{A}POP\n{A}"), &[7], 1, 8, &[], 0);
    check(&format!("{A}here:\n{A}"), &[], 2, 17, &[], 0);
    check(&format!("{A}PUSH1 5\n{A}"), &[], 2, 18, &[5], 1);
    check(&format!("{A}PUSH2 0x1234\n{A}"), &[], 2, 19, &[0x1234], 1);
    check(&format!("{A}PUSH3 0x123456\n{A}"), &[], 2, 20, &[0x12_3456], 1);
    check(&format!("{A}PUSH4 0x12345678\n{A}"), &[], 1, 8, &[], 0);
    check(&format!("{A}PUSH0\n{A}"), &[], 1, 8, &[], 0);
    // What comes after the last field instruction is not of the path.
    check(&format!("{A}here:\n{A}PUSH1 1 PUSH1 2 STOP\n"), &[], 2, 17, &[], 0);
    // Copies of words that were pushed on the way, at both ends of what a copy reaches.
    check(&format!("{A}PUSH1 7 DUP1\n{A}"), &[], 2, 19, &[7, 7], 2);
    check(&format!("{A}PUSH1 7 PUSH1 8 DUP2\n{A}"), &[], 2, 21, &[7, 8, 7], 3);
    let sixteen: String = (1..=16).map(|word| format!("PUSH1 {word}\n")).collect();
    let pushed: Vec<u32> = (1..=16).chain([1]).collect();
    check(&format!("{A}{sixteen}DUP16\n{A}"), &[], 2, 49, &pushed, 17);
}

#[test]
fn a_jump_goes_to_a_word_that_was_pushed_where_that_is_a_target() {
    check(&format!("{A}PUSH @to JUMP\nSTOP\nto:\n{A}"), &[], 2, 21, &[], 1);
    check(&format!("{A}PUSH1 9 PUSH @to JUMP\nSTOP\nto:\n{A}"), &[], 2, 23, &[9], 2);
    check(&format!("{A}PUSH @to PUSH1 3 JUMP\nto:\n{A}"), &[], 1, 8, &[], 0);
    check(&format!("{A}JUMP\nto:\n{A}"), &[9], 1, 8, &[], 0);
    check(&format!("{A}DUP1 JUMP\nto:\n{A}"), &[10], 2, 19, &[], 1);
    check(&format!("{A}PUSH1 10 PUSH1 2 JUMPI\nto:\n{A}"), &[], 1, 8, &[], 0);
    // Functions return to where they were called from, also where two words differ in one bit only.
    let text = format!("{A}PUSH @r PUSH @f JUMP\nr:\nPUSH @s PUSH @f JUMP\ns:\n{A}STOP\nf:\n{A}JUMP\n");
    check(&text, &[], 4, 28, &[], 2);
}

#[test]
fn a_path_is_walked_once_with_the_same_words() {
    let at = 2;
    let text = format!("STOP\nhere:\n{A}PUSH @here JUMP\n");
    let (block, _) = walk_in::<Slots>(Revision::Eip6690_2024, &text, at, &[], 4096).unwrap();
    assert_eq!((block.start, block.path.runs, block.path.end, &*block.path.pushed), (2, 1, 10, &[][..]));
    // With one word more each time the room for words ends it: the last one is needed for the jump.
    let text = format!("STOP\nhere:\n{A}PUSH1 5 PUSH @here JUMP\n");
    let (block, _) = walk_in::<Slots>(Revision::Eip6690_2024, &text, at, &[], 4096).unwrap();
    assert_eq!(
        (block.path.runs, block.path.pushed.len(), block.path.height_max),
        (PUSHED_MAX, PUSHED_MAX - 1, PUSHED_MAX)
    );
}

#[test]
fn as_many_other_words_have_another_digest() {
    let words = [0, 1, 2, 3, 0x100, u32::MAX];
    let ones: HashSet<u64> = words.iter().map(|&word| at(&[word]).digest()).collect();
    let pairs = words.iter().flat_map(|&first| words.map(|second| at(&[first, second]).digest()));
    assert_eq!((ones.len(), pairs.collect::<HashSet<u64>>().len()), (6, 36));
}

fn at(words: &[u32]) -> At {
    let mut at = At::begin(0);
    assert!(words.iter().all(|&word| at.push(word)));
    at
}

#[test]
fn words_are_taken_in_the_order_of_a_stack_as_long_as_there_is_room() {
    let mut stack = at(&[5, 6]);
    assert_eq!((stack.words(), stack.height_max), (&[5, 6][..], 2));
    assert_eq!([stack.pop(), stack.pop()], [Some(6), Some(5)]);
    assert!(stack.words().is_empty() && stack.height_max == 2);
    assert_eq!(stack.pop(), None);
    let mut full = at(&[9; PUSHED_MAX]);
    assert!(!full.push(1));
    assert_eq!(full.words(), [9; PUSHED_MAX]);
}

#[test]
fn control_flow_between_runs_is_bounded() {
    for (passed, runs) in [(PASSED_MAX - 1, 2), (PASSED_MAX, 1)] {
        let targets: String = (0..passed).map(|target| format!("to{target}:\n")).collect();
        assert_eq!(path(&format!("{A}{targets}{A}"), &[]).runs, runs);
    }
    // A push whose word the code does not have ends a path.
    let code = [assemble_text(A, Revision::Eip6690_2024).unwrap().bytes, vec![PUSH1 + 1, 7]].concat();
    let layout = Slots::layout(&code, Revision::Eip6690_2024, Batching::Always).unwrap();
    let bytecode = Bytecode::new_legacy(Bytes::from(code.clone()));
    let targets = bytecode.legacy_jump_table();
    let walk = Walk::<Slots> {
        code: &code,
        layout: &layout,
        targets,
        has_subroutines: false,
        stack: &[],
        operations_max: 9,
        cycles_max: i64::MAX,
    };
    assert_eq!(walk.block(0, &Budget::default(), |_| ()).block.unwrap().path.end, 8);
}

#[test]
fn each_word_of_the_stack_that_is_asked_for_is_a_guard() {
    let guards = |text: &str, stack: &[U256]| -> Vec<(usize, Option<u32>)> {
        path(text, stack).guards.iter().map(|guard| (guard.depth, guard.word)).collect()
    };
    let stack = words(&[9, 8]);
    assert_eq!(guards(&format!("{A}here:\n{A}"), &stack), []);
    assert_eq!(guards(&format!("{A}PUSH1 1 DUP1\n{A}"), &stack), []);
    assert_eq!(guards(&format!("{A}DUP1\n{A}"), &stack), [(0, Some(8))]);
    assert_eq!(guards(&format!("{A}DUP2\n{A}"), &stack), [(1, Some(9))]);
    assert_eq!(guards(&format!("{A}DUP3\n{A}"), &stack), [(2, None)]);
    assert_eq!(guards(&format!("{A}PUSH1 1 DUP3\n{A}"), &stack), [(1, Some(9))]);
    assert_eq!(guards(&format!("{A}DUP1 DUP2 DUP4\n{A}"), &stack), [(0, Some(8)), (1, Some(9))]);
    // The walk ends where there is no such word, and the next path would find the same.
    check(&format!("{A}DUP3\n{A}"), &[9, 8], 1, 8, &[], 0);
    check(&format!("{A}PUSH1 1 DUP3\n{A}"), &[9, 8], 2, 19, &[1, 9], 2);
    check(&format!("{A}DUP1\n{A}"), &[u64::from(u32::MAX)], 2, 17, &[u32::MAX], 1);
    check(&format!("{A}DUP1\n{A}"), &[1 << 32], 1, 8, &[], 0);
    assert_eq!(guards(&format!("{A}DUP1\n{A}"), &words(&[1 << 32])), [(0, None)]);
}

#[test]
fn a_path_begins_with_the_stacks_that_its_walk_would_find_the_same_in() {
    let text = format!("{A}DUP2 DUP4\n{A}");
    let stacks = [words(&[]), words(&[3]), words(&[3, 4]), words(&[3, 4, 5]), words(&[6, 4, 5]), words(&[3, 1 << 40])];
    for walked in &stacks {
        let path = path(&text, walked);
        let asked = |stack: &[U256]| (word_of(stack, 1), word_of(stack, 1).and(word_of(stack, 2)));
        for stack in &stacks {
            assert_eq!(path.begins_with(stack), asked(stack) == asked(walked), "{walked:?} {stack:?}");
        }
    }
}

/// The word at a depth, in other words than [`word_at`].
fn word_of(stack: &[U256], depth: usize) -> Option<u32> {
    stack.iter().rev().nth(depth).filter(|word| **word < U256::from(1u64 << 32)).map(|word| word.to::<u32>())
}

#[test]
fn words_of_a_stack_are_counted_from_its_top() {
    let stack = words(&[7, 1 << 32, u64::from(u32::MAX), 0]);
    for depth in 0..6 {
        assert_eq!(word_at(&stack, depth), word_of(&stack, depth), "{depth}");
    }
}

#[test]
fn opcodes_that_are_passed_have_a_number_each_and_a_price() {
    let subroutines = [CALLSUB, ENTERSUB, RETURNSUB];
    let opcodes = [JUMP, JUMPDEST].into_iter().chain(PUSH1..=PUSH3).chain(DUP1..=DUP16).chain(subroutines);
    let opcodes: Vec<u8> = opcodes.collect();
    let numbers: Vec<usize> = opcodes.iter().map(|&opcode| passed_index(opcode)).collect();
    assert_eq!(numbers, (0..PASSED_OPCODES).collect::<Vec<_>>());
    assert_eq!(numbers.into_iter().map(passed_opcode).collect::<Vec<_>>(), opcodes);

    let path = path(&format!("{A}DUP1 PUSH1 2 PUSH1 3 PUSH2 0x0102 PUSH @to JUMP\nto:\n{A}"), &words(&[1]));
    let mut base = [0; 256];
    for (opcode, price) in [(DUP1, 1), (PUSH1, 10), (PUSH1 + 1, 1000), (JUMP, 10_000), (JUMPDEST, 100_000), (0, 7)] {
        base[usize::from(opcode)] = price;
    }
    assert_eq!(path.cost(&base), 111_031);
    // Four words, a guard, five opcodes with their numbers.
    assert_eq!(path.bytes(), 4 * 4 + size_of::<Guard>() + 5 * 8);
}

#[test]
fn a_block_is_cut_at_the_first_run_and_ends_before_other_runs_beyond_its_length() {
    let runs = |text: &str, operations_max: u32| {
        let (block, inside) = walk_in::<Slots>(Revision::Eip6690_2024, text, 0, &[], operations_max)?;
        Some((block.path.runs, block.path.end, block.work.operation_count(), inside))
    };
    let five = A.repeat(5);
    assert_eq!(runs(&five, 3), Some((1, 24, 3, vec![8, 16])));
    assert_eq!(runs(&five, 5), Some((1, 40, 5, vec![8, 16, 24, 32])));
    assert_eq!(runs(&AA.repeat(3), 3), Some((1, 8, 2, vec![])));
    let two = format!("{A}{A}here:\n{A}{A}STOP\n");
    assert_eq!(runs(&two, 3), Some((1, 16, 2, vec![8])));
    assert_eq!(runs(&two, 4), Some((2, 33, 4, vec![8, 25])));
    let three = format!("{A}here:\n{A}there:\n{A}");
    assert_eq!([1, 2, 3].map(|max| runs(&three, max).unwrap().0), [1, 2, 3]);
    assert_eq!(runs("STOP\n", 3), None);
}

#[test]
fn without_targets_a_block_is_its_first_run() {
    let code = assemble_text(&format!("{A}here:\n{A}"), Revision::Eip6690_2024).unwrap().bytes;
    let layout = Slots::layout(&code, Revision::Eip6690_2024, Batching::Always).unwrap();
    let walk = Walk::<Slots> {
        code: &code,
        layout: &layout,
        has_subroutines: false,
        targets: None,
        stack: &[],
        operations_max: 9,
        cycles_max: i64::MAX,
    };
    let block = walk.block(0, &Budget::default(), |_| ()).block.unwrap();
    assert_eq!((block.path.runs, block.path.end), (1, 8));
}

#[test]
fn a_run_of_dependent_products_is_joined_to_none() {
    for (products, runs) in [(15, 2), (16, 1)] {
        let text = format!("{A}here:\n{}", M.repeat(products));
        assert_eq!(path(&text, &[]).runs, runs);
    }
    // A block may begin with it, and what follows is joined.
    assert_eq!(path(&format!("{}here:\n{A}", M.repeat(16)), &[]).runs, 2);
}

/// True if instructions of these lanes, products or sums, depend on each other.
fn is_chain(instructions: &[(FieldOp, Vec<Lane>)]) -> bool {
    let runs = instructions.iter().map(|(operation, lanes)| {
        let stride = |of: fn(&Lane) -> u16| lanes.get(1).map_or(0, |second| of(second) - of(&lanes[0]));
        let place = |of: fn(&Lane) -> u16| (of(&lanes[0]), stride(of));
        let (out, x, y) = (place(|lane| lane.0), place(|lane| lane.1), place(|lane| lane.2));
        let count = u16::try_from(lanes.len()).unwrap();
        (0, Instruction { operation: *operation, out, x, y, count, sum: None, fp6: None, form: None, length: 8 })
    });
    is_dependent(&runs.collect::<Vec<_>>())
}

#[test]
fn products_are_dependent_where_fewer_than_two_of_each_depth_are() {
    let product = |lane: Lane| (FieldOp::Mul, vec![lane]);
    let sum = |lane: Lane| (FieldOp::Add, vec![lane]);
    let chain = |products: usize| vec![product((0, 0, 1)); products];
    assert_eq!([15, 16, 17, 40].map(|products| is_chain(&chain(products))), [false, true, true, true]);
    // Beside a chain, products that wait for nothing: as many as the chain is long are enough.
    let beside = |depth: u16, others: u16| {
        let others = (0..others).map(|other| product((10 + other, 100, 100)));
        is_chain(&chain(depth.into()).into_iter().chain(others).collect::<Vec<_>>())
    };
    assert!(!beside(10, 10) && beside(10, 9) && beside(12, 4) && !beside(4, 20));
    // Sums carry what they wait for and add nothing.
    let through_sums: Vec<_> = (0..16).flat_map(|_| [product((0, 1, 0)), sum((1, 2, 0)), sum((0, 2, 2))]).collect();
    assert!(is_chain(&through_sums));
    let waits_for_none: Vec<_> = (0..16).flat_map(|_| [product((0, 5, 5)), sum((0, 0, 0))]).collect();
    assert!(!is_chain(&waits_for_none));
    assert!(!is_chain(&vec![sum((0, 0, 0)); 40]));
    // Lanes count one by one: sixteen products, two deep.
    let lanes = |out: u16, x: u16| (FieldOp::Mul, (0..8).map(|lane| (out + lane, x + lane, x + lane)).collect());
    assert!(!is_chain(&[lanes(0, 20), lanes(40, 0)]));
    assert!(is_chain(&[(FieldOp::Mul, vec![(0, 0, 0); 15]), product((0, 0, 0))]));
}

#[test]
fn pushes_of_operands_in_a_run_are_passed_but_the_first() {
    let text = "ADDMOD384 0x100 0x180 0x180 0x300\n".repeat(3);
    let push16 = PUSH1 + 15;
    for (revision, start, step, pushes) in [(Revision::Evm384V7, 17, 18, 2), (Revision::Evm384V9, 0, 17, 0)] {
        let (block, inside) = walk_in::<Memory>(revision, &text, start, &[], 4096).unwrap();
        assert_eq!(inside, [start + step, start + 2 * step]);
        assert_eq!(block.path.end, 3 * step);
        let passed = Vec::from(block.path.passed);
        assert_eq!(passed, if pushes > 0 { vec![(push16, pushes)] } else { vec![] });
    }
}

/// A walk is charged for its reads, and stops without a result if they exceed the credit.
#[test]
fn a_walk_ends_with_its_cycles() {
    let text = format!("{0}here:\n{0}STOP\n", "MULMODX 0 0 0 x1\nADDMODX 1 0 0 x3\n".repeat(5));
    let code = Bytecode::new_legacy(assemble_text(&text, Revision::Eip6690_2024).unwrap().bytes.into());
    let layout = Slots::layout(code.original_byte_slice(), Revision::Eip6690_2024, Batching::Warm).unwrap();
    let walked = |targets, cycles_max| {
        let code = code.original_byte_slice();
        let walk = Walk::<Slots> {
            code,
            layout: &layout,
            targets,
            has_subroutines: false,
            stack: &[],
            operations_max: 4096,
            cycles_max,
        };
        let mut inside = Vec::new();
        let walked = walk.block(0, &Budget::default(), |pc| inside.push(pc));
        (walked.block.map(|block| block.path.runs), walked.cycles, walked.has_run_out, inside.len())
    };
    // Twenty operations a run; whether a third one follows is looked at too.
    let (one, both) = (1536 + 768 + 20 * 64, 1536 + 3 * 768 + 40 * 64);
    let targets = code.legacy_jump_table();
    assert_eq!(walked(None, i64::MAX), (Some(1), one, false, 9));
    assert_eq!(walked(None, one), (Some(1), one, false, 9));
    assert_eq!(walked(None, one - 1), (None, one, true, 0));
    assert_eq!(walked(targets, both - 768), (Some(2), both, false, 18));
    assert_eq!(walked(targets, both - 769), (None, both - 768, true, 9));
    assert_eq!(walked(targets, 0), (None, 1536 + 768 + 64, true, 0));
}

/// A path of the shortest runs ends where walking it would take more than a code can save up.
#[test]
fn a_superblock_has_so_many_runs_at_most() {
    let runs = |text: &str| path(text, &[]).runs;
    let run = |number: usize| format!("at{number}:\nMULMODX 0 0 0 x1\n");
    for (count, expected) in [(RUNS_MAX - 1, RUNS_MAX - 1), (RUNS_MAX, RUNS_MAX), (RUNS_MAX + 9, RUNS_MAX)] {
        let text: String = (0..count).map(run).collect();
        assert_eq!(runs(&text.replacen("at0:\n", "", 1)), expected);
    }
}

/// Calls of constants are walked, and the returns from them; earlier entries of the return stack are not read.
#[test]
fn a_path_goes_into_subroutines_and_back() {
    let check = |text: &str, runs: usize, end: usize, returns: &[u32], return_count_max: usize| {
        let path = walk_in::<Slots>(Revision::XCallsub, text, 0, &[], 4096).unwrap().0.path;
        assert_eq!((path.runs, path.end, &*path.returns), (runs, end, returns), "{text}");
        assert_eq!((path.return_count_max, path.pushed.len()), (return_count_max, 0), "{text}");
    };
    let called = format!("MARK f ENTERSUB {A} RETURNSUB");
    // 8 bytes of a run, PUSH1 f, CALLSUB: the call ends at 11.
    check(&format!("{A} @f CALLSUB {A} STOP {called}"), 3, 19, &[], 1);
    check(&format!("{A} @f CALLSUB STOP {called}"), 2, 21, &[11], 1);
    check(&format!("{A} @f CALLSUB {A} @f CALLSUB {A} STOP {called}"), 5, 30, &[], 1);
    check(&format!("{A} @g CALLSUB {A} STOP MARK g ENTERSUB @f CALLSUB RETURNSUB {called}"), 3, 19, &[], 2);
    check(&format!("{A} RETURNSUB {A}"), 1, 8, &[], 0);
    check(&format!("{A} MARK f ENTERSUB {A}"), 2, 17, &[], 0);
    // Neither label is the other's.
    check(&format!("{A} @f JUMP {called}"), 1, 8, &[], 0);
    check(&format!("{A} @f CALLSUB f: {A}"), 1, 8, &[], 0);
    // A subroutine that calls itself goes as far as a path does.
    let path = walk_in::<Slots>(Revision::XCallsub, &format!("{A} MARK f ENTERSUB {A} @f CALLSUB"), 0, &[], 4096);
    assert_eq!(path.unwrap().0.path.return_count_max, RETURNS_WALKED_MAX);
}
