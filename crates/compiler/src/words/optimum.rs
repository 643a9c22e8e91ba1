//! Distance of plans from the optimum, for small blocks by exhaustive search for the code of their words.
//!
//! Dijkstra's search with a bound (A*, Hart, Nilsson and Raphael 1968) over the contents of the stack and the stored
//! outputs; instructions and words are those of plans. The bound counts the words that are not made yet.

use super::backward::{Effort, Plans};
use super::field::Field;
use super::prices::Prices;
use super::schedule::schedule;
use super::terms::{Node, Terms, terms};
use foldhash::HashMap;
use num_bigint::BigUint;
use residue_ir::FieldOp;
use residue_passes::{Slot, SlotOp};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Words on the stack at most.
const HEIGHT: usize = 7;
/// p on the stack.
const MODULUS: u8 = u8::MAX;

/// Stack and outputs that are stored, as bits.
type State = (Vec<u8>, u8);

fn gas(node: &Node) -> u64 {
    match node {
        Node::Add(..) | Node::Sub(..) => 3,
        Node::Times(..) | Node::Mod(_) => 5,
        Node::AddMod(..) | Node::MulMod(..) => 8,
        _ => 0,
    }
}

fn has_modulus(node: &Node) -> bool {
    matches!(node, Node::AddMod(..) | Node::MulMod(..) | Node::Mod(_))
}

/// Lower bound of the remaining cost.
fn bound(terms: &Terms, (stack, stored): &State) -> u64 {
    let mut needed = vec![false; terms.nodes.len()];
    let mut left = 0;
    for (place, &(_, id)) in terms.outputs.iter().enumerate() {
        if stored >> place & 1 == 0 {
            left += 6;
            needed[id] = true;
        }
    }
    let mut moduli = 0;
    for id in (0..terms.nodes.len()).rev() {
        if needed[id] && !stack.contains(&u8::try_from(id).expect("small blocks")) {
            let node = &terms.nodes[id];
            left += match node {
                Node::Slot(_) => 6,
                Node::Constant(_) | Node::Modulus => 3,
                node => gas(node),
            };
            moduli += u64::from(has_modulus(node));
            node.operands().into_iter().for_each(|operand| needed[operand] = true);
        }
    }
    let there = stack.iter().filter(|&&entry| entry == MODULUS).count() as u64;
    left + 3 * moduli.saturating_sub(there)
}

/// The least gas.
fn optimum(terms: &Terms) -> u64 {
    let all = (1u8 << terms.outputs.len()) - 1;
    let start: State = (Vec::new(), 0);
    let mut best: HashMap<State, u64> = HashMap::from_iter([(start.clone(), 0)]);
    let mut open = BinaryHeap::from([(Reverse(bound(terms, &start)), Reverse(0), start)]);
    while let Some((_, Reverse(paid), state)) = open.pop() {
        if best[&state] < paid {
            continue;
        }
        if state == (Vec::new(), all) {
            return paid;
        }
        let mut reach = |stack: Vec<u8>, stored: u8, price: u64| {
            let next = (stack, stored);
            let total = paid + price;
            if best.get(&next).is_none_or(|&before| total < before) {
                best.insert(next.clone(), total);
                open.push((Reverse(total + bound(terms, &next)), Reverse(total), next));
            }
        };
        let (stack, stored) = &state;
        let height = stack.len();
        let with = |entry: u8| [&stack[..], &[entry]].concat();
        if height < HEIGHT {
            for (id, node) in terms.nodes.iter().enumerate() {
                let id = u8::try_from(id).expect("small blocks");
                match node {
                    Node::Slot(_) => reach(with(id), *stored, 6),
                    Node::Constant(_) | Node::Modulus => reach(with(id), *stored, 3),
                    _ => {}
                }
            }
            reach(with(MODULUS), *stored, 3);
            stack.iter().for_each(|&entry| reach(with(entry), *stored, 3));
        }
        for below in 1..height {
            let mut swapped = stack.clone();
            swapped.swap(height - 1, height - 1 - below);
            reach(swapped, *stored, 3);
        }
        if height > 0 {
            reach(stack[..height - 1].to_vec(), *stored, 2);
            for (place, &(_, id)) in terms.outputs.iter().enumerate() {
                if usize::from(stack[height - 1]) == id {
                    reach(stack[..height - 1].to_vec(), stored | 1 << place, 6);
                }
            }
        }
        for (id, node) in terms.nodes.iter().enumerate().filter(|(_, node)| node.is_computed()) {
            let taken = usize::from(has_modulus(node)) + if matches!(node, Node::Mod(_)) { 1 } else { 2 };
            let Some(base) = height.checked_sub(taken) else { continue };
            let top = |place: usize| usize::from(stack[height - place]);
            let is_there = match *node {
                Node::Mod(a) => top(1) == a && top(2) == usize::from(MODULUS),
                Node::Sub(a, b) => top(1) == a && top(2) == b,
                Node::Add(a, b) | Node::Times(a, b) => [(a, b), (b, a)].contains(&(top(1), top(2))),
                Node::AddMod(a, b) | Node::MulMod(a, b) => {
                    [(a, b), (b, a)].contains(&(top(1), top(2))) && top(3) == usize::from(MODULUS)
                }
                _ => false,
            };
            if is_there {
                reach([&stack[..base], &[u8::try_from(id).expect("small blocks")]].concat(), *stored, gas(node));
            }
        }
    }
    unreachable!("a block can be made")
}

/// A block of `count` operations on three inputs; two results are read after it.
fn block(seed: u64, count: usize) -> (Vec<SlotOp>, BTreeSet<Slot>) {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 20) % limit
    };
    let mut ops = Vec::new();
    for number in 0..count {
        let slots = 3 + number as u64;
        let recent = |pick: u64| Slot::try_from(slots - 1 - pick).expect("small blocks");
        let operation = [FieldOp::Mul, FieldOp::Mul, FieldOp::Add, FieldOp::Sub][below(4) as usize];
        let (x, y) = (recent(below(slots.min(3))), recent(below(slots)));
        ops.push(SlotOp { operation, out: Slot::try_from(slots).expect("small blocks"), x, y });
    }
    let last = Slot::try_from(2 + count).expect("small blocks");
    (ops, BTreeSet::from([last, last - 1]))
}

#[test]
fn plans_of_small_blocks_are_near_the_optimum() {
    let p = BigUint::parse_bytes(b"30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47", 16)
        .expect("small blocks");
    let prices = Prices::default();
    let (mut blocks, mut optimal, mut least, mut found) = (0, 0, 0, 0);
    for (seed, count) in (0..8).map(|seed| (seed + 1, 3 + seed as usize % 2)) {
        let (ops, kept) = block(seed, count);
        let terms = terms(&ops, &kept, &Field::Known(p.clone()), (1000, &[]), None);
        let own = ops.iter().map(|op| op.out).collect();
        let planned = schedule(&terms, &own, &prices, &mut Plans::default(), Effort::Whole).expect("small blocks").gas;
        let optimum = optimum(&terms);
        assert!(planned >= optimum, "block {seed}: {planned} is below {optimum}, so the search is not exhaustive");
        blocks += 1;
        optimal += usize::from(planned == optimum);
        least += optimum;
        found += planned;
    }
    println!("{optimal} of {blocks} blocks are optimal; {found} gas in all, at least {least}");
    assert!(found * 100 <= least * 103, "{found} gas, and {least} would do");
    assert!(optimal * 2 > blocks, "{optimal} of {blocks}");
}
