//! Repeated stretches of a text of numbers: suffix array by prefix doubling (Manber and Myers 1993), longest common prefixes (Kasai et al. 2001,
//! algorithm GetHeight), and the intervals of suffixes that share one (Abouelhoda, Kurtz and Ohlebusch 2004, algorithm 4.1).

/// Suffixes that begin with the same stretch, and no longer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repeat {
    /// Length of the stretch.
    pub length: usize,
    /// Length that more suffixes share, which is less.
    pub shared_by_more: usize,
    /// Starts of the suffixes, ascending.
    pub starts: Vec<usize>,
}

/// All repeats of a text, as many as it has letters at most.
pub(super) fn repeats(text: &[u32]) -> Vec<Repeat> {
    let suffixes = suffix_array(text);
    let common = common_prefixes(text, &suffixes);
    let mut found = Vec::new();
    // Length, and the first suffix of the interval.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for next in 1..=suffixes.len() {
        let length = common.get(next).copied().unwrap_or(0);
        let mut first = next - 1;
        while let Some(&(longer, from)) = open.last().filter(|&&(longer, _)| longer > length) {
            open.pop();
            let below = open.last().map_or(0, |&(shorter, _)| shorter);
            let mut starts = suffixes[from..next].to_vec();
            starts.sort_unstable();
            found.push(Repeat { length: longer, shared_by_more: below.max(length), starts });
            first = from;
        }
        if length > 0 && open.last().is_none_or(|&(shorter, _)| shorter < length) {
            open.push((length, first));
        }
    }
    found
}

/// Starts of suffixes, in the order of the suffixes.
fn suffix_array(text: &[u32]) -> Vec<usize> {
    let mut ranks: Vec<usize> = text.iter().map(|&letter| letter as usize).collect(); // u32 to usize widens
    let mut suffixes: Vec<usize> = (0..text.len()).collect();
    let mut width = 0;
    loop {
        let key = |start: usize| {
            let after = if width == 0 { 0 } else { ranks.get(start + width).map_or(0, |rank| rank + 1) };
            (ranks[start], after)
        };
        suffixes.sort_unstable_by_key(|&start| key(start));
        let mut next = vec![0; text.len()];
        for pair in suffixes.windows(2) {
            next[pair[1]] = next[pair[0]] + usize::from(key(pair[0]) != key(pair[1]));
        }
        let is_done = suffixes.last().is_none_or(|&last| next[last] + 1 == text.len());
        ranks = next;
        if is_done {
            return suffixes;
        }
        width = (2 * width).max(1);
    }
}

/// Length of the stretch that each suffix shares with the one before it in the order, 0 for the first.
fn common_prefixes(text: &[u32], suffixes: &[usize]) -> Vec<usize> {
    let mut place = vec![0; text.len()];
    for (rank, &start) in suffixes.iter().enumerate() {
        place[start] = rank;
    }
    let mut common = vec![0; text.len()];
    let mut length = 0;
    for start in 0..text.len() {
        let Some(before) = place[start].checked_sub(1).map(|rank| suffixes[rank]) else {
            length = 0;
            continue;
        };
        let pairs = text[start + length..].iter().zip(&text[before + length..]);
        length += pairs.take_while(|(one, other)| one == other).count();
        common[place[start]] = length;
        length = length.saturating_sub(1);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every stretch that occurs twice and that no letter extends at all its places, with its places.
    fn by_search(text: &[u32]) -> BTreeSet<(usize, Vec<usize>)> {
        let mut found = BTreeSet::new();
        for length in 1..text.len() {
            for start in 0..=text.len() - length {
                let at = |from: &usize| text[*from..*from + length] == text[start..start + length];
                let places: Vec<usize> = (0..=text.len() - length).filter(at).collect();
                let next: BTreeSet<Option<u32>> = places.iter().map(|from| text.get(from + length).copied()).collect();
                if places.len() > 1 && (next.len() > 1 || next.contains(&None)) {
                    found.insert((length, places));
                }
            }
        }
        found
    }

    #[test]
    fn repeats_are_those_of_a_search() {
        let mut state = 7u32;
        for length in (0..60).chain([90]) {
            for letters in 1..5 {
                let mut letter = || {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 16) % letters
                };
                let text: Vec<u32> = (0..length).map(|_| letter()).collect();
                let found = repeats(&text).into_iter();
                let found: BTreeSet<(usize, Vec<usize>)> = found.map(|repeat| (repeat.length, repeat.starts)).collect();
                assert_eq!(found, by_search(&text), "{text:?}");
            }
        }
    }
}
