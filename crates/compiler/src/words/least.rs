//! Lower bound of the weight of a block's code, over all orders.
//!
//! Each instruction brings words to the stack or takes some: all that is taken was there, was made, or is brought by a push, a copy or a load.

use super::emit::Operation;
use super::prices::Prices;
use super::terms::{Node, Terms};

impl Terms {
    /// The weight at these prices that no code for the words is below: operations, stores, a load of each slot, a push of each number that does not lie on
    /// the stack, and a copy for each word more that is taken from the stack than there is.
    pub fn least(&self, prices: &Prices) -> u64 {
        let of = |price| prices.weight(price);
        let copy = of(prices.copy());
        let (mut weight, mut taken) = (0, self.exit.len());
        let mut there = self.entry.len();
        for (id, node) in self.nodes.iter().enumerate() {
            match node {
                Node::Held(_) => {}
                // A slot may keep what it holds.
                Node::Slot(slot) if self.outputs.contains(&(*slot, id)) => {}
                Node::Slot(_) => weight += prices.beyond_copy(prices.load()),
                Node::Constant(_) | Node::Modulus if self.entry.contains(&id) => {}
                Node::Constant(number) => weight += prices.beyond_copy(prices.number(number)),
                Node::Modulus => weight += prices.beyond_copy(prices.modulus()),
                node => {
                    weight += of(prices.operation(Operation::of(node)));
                    taken += Operation::words(node);
                    there += 1;
                }
            }
        }
        let stores = self.outputs.iter().filter(|&&(slot, id)| self.nodes[id] != Node::Slot(slot)).count();
        weight += stores as u64 * of(prices.store()); // usize to u64 widens
        weight + (taken + stores).saturating_sub(there) as u64 * copy // usize to u64 widens
    }
}
