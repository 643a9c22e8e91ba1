//! Plan of a block. It is made from the end ([`super::backward`]); if that needs more room than there is, it is found
//! by search from the order of the program, one change at a time, as long as the block gets no dearer.
//!
//! Every candidate is emitted as a whole and costs what its instructions do, so nothing is estimated. The block alone
//! seeds the search: the same block becomes the same code. GASOL (Albert et al., TACAS 2022) searches for the optimum
//! of blocks by Max-SMT, and SuperStack (Albert et al., PLDI 2024) for the stack of larger ones; blocks of field
//! programs have hundreds of operations.

use super::backward::{Effort, Plans};
use super::emit::{Context, Emitted, Plan, emit};
use super::prices::Prices;
use super::terms::{Id, Node, Terms};
use residue_passes::Slot;
use std::collections::BTreeSet;

/// Search effort for one block, in emitted terms.
const EFFORT: usize = 150_000;
/// The fewest and the most plans that are tried.
const TRIALS: (usize, usize) = (100, 6000);
/// Words of the block on the stack between statements at most, where nothing else was found better.
const HEIGHT: usize = 11;

/// The best instructions found; none if every plan has something out of reach.
pub fn schedule(
    terms: &Terms,
    own: &BTreeSet<Slot>,
    prices: &Prices,
    plans: &mut Plans,
    effort: Effort,
) -> Option<Emitted> {
    plans.plan(terms, own, prices, effort).or_else(|| forward(terms, own, prices))
}

/// The same from the beginning to the end, in an order that is found by changes.
fn forward(terms: &Terms, own: &BTreeSet<Slot>, prices: &Prices) -> Option<Emitted> {
    let begun = NEEDS.into_iter().filter_map(|need_max| {
        let context = Context::new(terms, own, prices, need_max);
        let (plan, emitted) = begin(&context)?;
        Some((cost(&context, &emitted), context, plan, emitted))
    });
    let (_, context, plan, emitted) = begun.min_by_key(|(cost, ..)| *cost)?;
    Some(search(&context, plan, emitted))
}

/// The better one of two orders.
fn begin(context: &Context<'_>) -> Option<(Plan, Emitted)> {
    let terms = context.terms;
    let statements: Vec<Id> = (0..terms.nodes.len()).filter(|&id| context.statements[id]).collect();
    let plain = |order: Vec<Id>| Plan {
        order,
        turned: vec![false; terms.nodes.len()],
        ahead: vec![false; terms.nodes.len()],
        height: HEIGHT,
    };
    let deep = by_depth(context, &statements);
    let begun = [plain(statements), plain(deep)].into_iter();
    let emitted = begun.filter_map(|plan| emit(context, &plan, u64::MAX).map(|emitted| (plan, emitted)));
    emitted.min_by_key(|(_, emitted)| cost(context, emitted))
}

/// Words that a tree may take on the stack: several limits are tried.
const NEEDS: [usize; 3] = [6, 8, 11];

/// Objective to minimise.
fn cost(context: &Context<'_>, emitted: &Emitted) -> u64 {
    context.prices.weight((emitted.gas, emitted.bytes))
}

/// Gas beyond which nothing can be better.
fn limit(context: &Context<'_>, best: &Emitted) -> u64 {
    best.gas + best.bytes / context.prices.bytes_a_gas
}

/// The statements in the order in which the outputs ask for them.
fn by_depth(context: &Context<'_>, statements: &[Id]) -> Vec<Id> {
    fn visit(context: &Context<'_>, id: Id, done: &mut [bool], order: &mut Vec<Id>) {
        if done[id] || !context.statements[id] {
            return;
        }
        done[id] = true;
        let mut leaves = context.leaves[id].clone();
        leaves.sort_unstable();
        leaves.into_iter().for_each(|leaf| visit(context, leaf, done, order));
        order.push(id);
    }
    let mut order = Vec::new();
    let mut done = vec![false; context.terms.nodes.len()];
    // As deep as chains of statements are: blocks are far shorter than the thread's stack is.
    for &(_, id) in &context.terms.outputs {
        visit(context, id, &mut done, &mut order);
    }
    debug_assert_eq!(order.len(), statements.len());
    order
}

/// Numbers by Marsaglia's xorshift, 2003.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The same numbers where a usize has 32 bits, as in WebAssembly.
        let below = (self.0 >> 11) % limit.max(1) as u64;
        usize::try_from(below).expect("it is below a usize")
    }
}

fn search(context: &Context<'_>, plan: Plan, emitted: Emitted) -> Emitted {
    let nodes = context.terms.nodes.len();
    let trials = (EFFORT / nodes.max(1)).clamp(TRIALS.0, TRIALS.1);
    let changeable: Vec<Id> = (0..nodes)
        .filter(|&id| match context.terms.nodes[id] {
            Node::Slot(_) => context.reads[id] > 1,
            Node::Constant(_) | Node::Modulus => false,
            _ => true,
        })
        .collect();
    if changeable.is_empty() {
        return emitted;
    }
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut plan, mut best) = (plan, emitted);
    for _ in 0..trials {
        let mut changed = plan.clone();
        for _ in 0..=numbers.below(3) {
            match numbers.below(8) {
                0..3 => turn(context, &mut changed, changeable[numbers.below(changeable.len())]),
                3..5 => {
                    let id = changeable[numbers.below(changeable.len())];
                    changed.ahead[id] ^= true;
                }
                5..7 => move_statement(&context.leaves, &mut changed.order, &mut numbers),
                _ => changed.height = 7 + numbers.below(8),
            }
        }
        if let Some(candidate) = emit(context, &changed, limit(context, &best))
            .filter(|candidate| cost(context, candidate) <= cost(context, &best))
        {
            (plan, best) = (changed, candidate);
        }
    }
    best
}

fn turn(context: &Context<'_>, plan: &mut Plan, id: Id) {
    if matches!(context.terms.nodes[id], Node::Add(..) | Node::Times(..) | Node::AddMod(..) | Node::MulMod(..)) {
        plan.turned[id] ^= true;
    } else {
        plan.ahead[id] ^= true;
    }
}

/// Moves a statement to another valid place: after its operands, before its readers.
fn move_statement(leaves: &[Vec<Id>], order: &mut Vec<Id>, numbers: &mut Numbers) {
    if order.len() < 2 {
        return;
    }
    let from = numbers.below(order.len());
    let id = order[from];
    let after = order[..from].iter().rposition(|other| leaves[id].contains(other)).map_or(0, |place| place + 1);
    let before = order[from + 1..].iter().position(|&other| leaves[other].contains(&id));
    let last = before.map_or(order.len() - 1, |place| from + place);
    let to = after + numbers.below(last - after + 1);
    order.remove(from);
    order.insert(to, id);
}
