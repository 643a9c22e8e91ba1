//! Work that is not timed, on all cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{iter, thread};

/// Results of `work` for each item, in their order, on as many threads as there are cores. It panics as `work` does.
pub fn in_parallel<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let do_next = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        items.get(number).map(|item| (number, work(item)))
    };
    let do_some = || iter::from_fn(do_next).collect::<Vec<_>>();
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut all = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(do_some)).collect();
        let mut all = do_some();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|&(number, _)| number);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::in_parallel;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        assert_eq!(in_parallel(&items, |item| item * item), items.iter().map(|item| item * item).collect::<Vec<_>>());
        assert_eq!(in_parallel(&[], |item: &u64| *item), Vec::<u64>::new());
    }
}
