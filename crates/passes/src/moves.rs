//! Parallel moves: values that go to new slots all at once, put in an order in which one copy after the other is right.

use crate::slots::Slot;

/// One copy of `count` neighbouring slots: from `from + i` to `to + i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// First slot written.
    pub to: Slot,
    /// First slot read.
    pub from: Slot,
    /// Number of slots.
    pub count: u32,
}

/// The copies that bring about `moves` (pairs of target and source; no target twice), with `spare` as a free slot.
///
/// Runs of neighbours become one copy where order permits; a copy reads all its slots before it writes any, but only
/// runs that do not overlap themselves are joined, so that copying one by one is right too.
pub fn sequence(moves: &[(Slot, Slot)], spare: Slot) -> Vec<Copy> {
    let mut left: Vec<(Slot, Slot)> = moves.iter().copied().filter(|(to, from)| to != from).collect();
    left.sort_unstable();
    let mut ordered: Vec<(Slot, Slot)> = Vec::new();
    while !left.is_empty() {
        let free = |index: &usize| left.iter().all(|&(_, from)| from != left[*index].0);
        // Prefer the neighbour of the last move, so that runs stay together.
        let next_to = ordered.last().map(|&(to, _)| to + 1);
        let neighbour = left.iter().position(|&(to, _)| Some(to) == next_to).filter(|index| free(index));
        match neighbour.or_else(|| (0..left.len()).find(|index| free(index))) {
            Some(index) => ordered.push(left.remove(index)),
            None => {
                // Only cycles are left: set one value aside and read it from there.
                let (_, from) = left[0];
                ordered.push((spare, from));
                for (_, other) in &mut left {
                    if *other == from {
                        *other = spare;
                    }
                }
            }
        }
    }
    join(&ordered)
}

fn join(ordered: &[(Slot, Slot)]) -> Vec<Copy> {
    let mut copies: Vec<Copy> = Vec::new();
    for &(to, from) in ordered {
        if let Some(last) = copies.last_mut()
            && last.to + last.count == to
            && last.from + last.count == from
            && !overlaps(last.to, last.from, last.count + 1)
        {
            last.count += 1;
        } else {
            copies.push(Copy { to, from, count: 1 });
        }
    }
    copies
}

/// True if the ranges of `count` slots from `a` and from `b` share a slot.
fn overlaps(a: Slot, b: Slot, count: u32) -> bool {
    a < b + count && b < a + count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(copies: &[Copy], slots: &mut [u32]) {
        for copy in copies {
            for lane in 0..copy.count {
                slots[(copy.to + lane) as usize] = slots[(copy.from + lane) as usize];
            }
        }
    }

    proptest! {
        #[test]
        fn sequenced_moves_do_what_parallel_moves_do(sources in proptest::collection::vec(0u32..16, 16), mask in any::<u16>()) {
            let moves: Vec<(Slot, Slot)> =
                (0u32..16).zip(sources).filter(|(to, _)| mask >> to & 1 == 1).collect();
            let mut slots: Vec<u32> = (100..117).collect();
            run(&sequence(&moves, 16), &mut slots);
            for to in 0..16 {
                let from = moves.iter().find(|(target, _)| *target == to).map_or(to, |(_, from)| *from);
                prop_assert_eq!(slots[to as usize], 100 + from);
            }
        }
    }

    #[test]
    fn a_run_is_one_copy() {
        let moves: Vec<(Slot, Slot)> = (0..12).map(|lane| (lane, 20 + lane)).collect();
        assert_eq!(sequence(&moves, 99), [Copy { to: 0, from: 20, count: 12 }]);
    }

    #[test]
    fn a_cycle_goes_through_the_spare_slot() {
        assert_eq!(sequence(&[(0, 1), (1, 0)], 9).len(), 3);
    }
}
