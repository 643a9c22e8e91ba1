//! A search keeps some of one state for the next one: that changes nothing.

use super::*;
use foldhash::{HashSet, HashSetExt};

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }
}

/// Words, each made of some before it, with some on the stack at the start of the block.
fn words(numbers: &mut Numbers, count: usize) -> Terms {
    let mut nodes = vec![Node::Held(0), Node::Held(1), Node::Modulus, Node::Slot(0), Node::Constant(7u8.into())];
    let entry = (0..numbers.below(4)).collect();
    while nodes.len() < count {
        let (a, b) = (numbers.below(nodes.len()), numbers.below(nodes.len()));
        nodes.push(if numbers.below(2) == 0 { Node::Add(a, b) } else { Node::MulMod(a, b) });
    }
    Terms { exit: vec![count - 1], nodes, outputs: Vec::new(), entry }
}

/// States are ranked one after the other with memoised parts of the stack: each has the rank that it has by itself,
/// counted word by word.
#[test]
fn ranks_of_states_in_a_row_are_those_of_each_by_itself() {
    let prices = Prices { bytes_a_gas: 16, ..Prices::default() };
    let (mut ranked, mut left_out) = (0, 0);
    for seed in 1..40 {
        let numbers = &mut Numbers(seed);
        let terms = words(numbers, 6 + 5 * seed as usize);
        let search = Search::new(&terms, &prices);
        let mut state = State::default();
        for _ in 0..100 {
            let kept = numbers.below(state.stack.len() + 1);
            state.stack.truncate(kept);
            let more = numbers.below(8);
            state.stack.extend((0..more).map(|_| search.item(numbers.below(terms.nodes.len()))));
            state.waste = numbers.below(50) as u64;
            search.last.set([u64::MAX, state.waste + numbers.below(150) as u64][numbers.below(2)]);
            let rank = rank_alone(&search, &state);
            assert_eq!(search.rank(&state), Some(rank).filter(|&rank| rank < search.last.get()), "{:?}", state.stack);
            ranked += 1;
            left_out += usize::from(rank >= search.last.get());
        }
    }
    assert!(ranked > 3000 && left_out > 500, "{ranked} ranks, {left_out} left out");
}

fn rank_alone(search: &Search<'_>, state: &State) -> u64 {
    let stack = &state.stack;
    let waits = |at: usize| {
        let is_of = |other: &Item| !search.is_number(*other) && search.is_made_of(*other, stack[at]);
        !search.is_number(stack[at]) && !stack[..at].contains(&stack[at]) && stack[..at].iter().any(is_of)
    };
    let is_single = |at: usize| search.ends.entry.contains(&stack[at]) && !stack[..at].contains(&stack[at]);
    let others = (0..stack.len()).position(|at| !is_single(at)).unwrap_or(stack.len());
    let waiting = (0..stack.len()).filter(|&at| waits(at)).count();
    let below = (others..stack.len()).filter(|&at| is_single(at)).count();
    let height = stack.len() as u64 * search.prices.weight((3, 1)) / 64;
    state.waste + height + (waiting + below) as u64 * search.prices.weight((2, 1))
}

/// The best states are taken again and again while more are found: those that are left are as if they were looked through once, in the order in which they
/// were found.
#[test]
fn the_best_states_are_those_of_all() {
    let mut dropped = 0;
    for seed in 1..200 {
        let numbers = &mut Numbers(seed);
        let width = 1 + numbers.below(12);
        let mut found = Found::default();
        for _ in 0..3 {
            let mut left: Vec<(u64, Vec<Item>, Vec<Step>)> = Vec::new();
            for round in 0..1 + numbers.below(5) {
                for _ in 0..numbers.below(30) {
                    let stack: Vec<Item> = (0..numbers.below(3)).map(|_| numbers.below(4) as Item).collect();
                    // By which two of the same stack and rank are told apart.
                    let steps = vec![Step::Push(numbers.below(1 << 16) as Item); round + 1];
                    let state = State { stack: stack.clone(), steps: steps.clone(), ..State::default() };
                    let rank = numbers.below(20) as u64;
                    found.push(&state, rank, None);
                    left.push((rank, stack, steps));
                }
                let all = left.len();
                left.sort_by_key(|(rank, ..)| *rank);
                let mut seen = HashSet::new();
                left.retain(|(_, stack, _)| seen.len() < width && seen.insert(stack.clone()));
                dropped += all - left.len();
                let last = left.last().filter(|_| left.len() == width).map(|(rank, ..)| *rank);
                assert_eq!(found.leave_best(width), last, "seed {seed}");
                assert_eq!(found.len(), left.len(), "seed {seed}");
            }
            let mut level = Vec::new();
            found.follow(&mut level);
            let level: Vec<_> = level.into_iter().map(|state| (state.rank, state.stack, state.steps)).collect();
            assert_eq!(level, left, "seed {seed}");
        }
    }
    assert!(dropped > 1000, "{dropped}");
}

/// Stacks that differ in length, order or one word are not taken for each other.
#[test]
fn stacks_are_known_by_all_of_their_words() {
    let mut stacks: Vec<Vec<Item>> = vec![Vec::new()];
    for length in 1..7 {
        stacks.extend((0..1u32 << (2 * length)).map(|of| (0..length).map(|at| (of >> (2 * at) & 3) as Item).collect()));
    }
    let mut found = Found::default();
    for stack in &stacks {
        found.push(&State { stack: stack.clone(), ..State::default() }, 0, None);
    }
    found.leave_best(usize::MAX);
    assert_eq!(found.len(), stacks.len());
}
