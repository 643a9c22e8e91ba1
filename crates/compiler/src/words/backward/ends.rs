//! Stack at the start and end of a block.
//!
//! Read backwards, the words that lie there when the block begins are the last ones that are left: each once, in that order. A word that no instruction
//! of the block takes is dropped first.

use super::state::{Item, Step};

/// The words, the lowest first.
#[derive(Debug, Default)]
pub struct Ends {
    /// Stack at the start, each word once.
    pub entry: Vec<Item>,
    /// Stack at the end.
    pub exit: Vec<Item>,
}

impl Ends {
    pub const fn new(entry: Vec<Item>, exit: Vec<Item>) -> Self {
        Self { entry, exit }
    }

    /// True if the stack has only words of the block's start left, each once.
    pub fn is_reached(&self, stack: &[Item]) -> bool {
        let is_single = |(at, item): (usize, &Item)| self.entry.contains(item) && !stack[..at].contains(item);
        stack.len() <= self.entry.len() && stack.iter().enumerate().all(is_single)
    }

    /// The exchanges and drops, in order, that make of the words where the block begins those of `stack`, which are some of them.
    pub fn begin(&self, stack: &[Item]) -> Vec<Step> {
        let swap = |below: usize| Step::Swap(u32::try_from(below).expect("few words lie there"));
        let mut words = self.entry.clone();
        let mut steps = Vec::new();
        while let Some(at) = words.iter().rposition(|item| !stack.contains(item)) {
            let top = words.len() - 1;
            if at < top {
                steps.push(swap(top - at));
                words.swap(top, at);
            }
            steps.push(Step::Pop);
            words.pop();
        }
        // Each cycle of the exchange by the word on top: Knuth, "The Art of Computer Programming", volume 1, 1.3.3.
        let Some(top) = words.len().checked_sub(1) else { return steps };
        loop {
            let at = match stack.iter().position(|item| *item == words[top]) {
                Some(at) if at != top => at,
                _ => match (0..top).rev().find(|&at| words[at] != stack[at]) {
                    Some(at) => at,
                    None => return steps,
                },
            };
            steps.push(swap(top - at));
            words.swap(top, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_brought_to_any_order_of_some_of_its_words() {
        let entry: Vec<Item> = vec![10, 11, 12, 13, 14];
        let ends = Ends::new(entry.clone(), Vec::new());
        let mut wanted: Vec<Vec<Item>> = vec![Vec::new()];
        let mut from = 0;
        while from < wanted.len() {
            let shorter = wanted[from].clone();
            wanted.extend(
                entry.iter().filter(|item| !shorter.contains(item)).map(|&item| [&shorter[..], &[item]].concat()),
            );
            from += 1;
        }
        assert_eq!(wanted.len(), 326);
        for stack in wanted {
            let mut words = entry.clone();
            for step in ends.begin(&stack) {
                let top = words.len() - 1;
                match step {
                    Step::Swap(below) => words.swap(top, top - below as usize), // u32 to usize widens
                    Step::Pop => drop(words.pop()),
                    _ => panic!("nothing else moves words"),
                }
            }
            assert_eq!(words, stack);
            assert!(ends.is_reached(&stack));
        }
        assert!(!ends.is_reached(&[10, 10]) && !ends.is_reached(&[9]));
    }
}
