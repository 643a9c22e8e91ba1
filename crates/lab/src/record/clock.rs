//! The clock that the CPU really runs at, measured by a chain of instructions of which each waits for the one before.

use std::hint::black_box;

use residue_workbench::harness::time_ns;

/// Links of the chain: an addition, then a rotation, one cycle each on every CPU of the last decades.
const LINKS: u32 = 2_000_000;
const CYCLES_A_LINK: f64 = 2.0;
/// The fastest of this many chains counts: what disturbs a chain only makes it slower.
const CHAINS: usize = 5;

/// Cycles in a nanosecond.
pub fn clock_ghz() -> f64 {
    let fastest_ns = (0..CHAINS).map(|_| chain_ns(LINKS)).fold(f64::INFINITY, f64::min);
    f64::from(LINKS) * CYCLES_A_LINK / fastest_ns
}

/// Time of a chain of so many links.
pub(crate) fn chain_ns(links: u32) -> f64 {
    time_ns(|| chain(links)).1
}

/// Addition and rotation do not commute, and what is added is unknown to the compiler: it cannot shorten the chain.
fn chain(links: u32) -> u64 {
    let step = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let x = (0..links).fold(step, |x, _| x.wrapping_add(step).rotate_left(7));
    black_box(x)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clock_ticks() {
        let ghz = super::clock_ghz();
        assert!(ghz.is_finite() && ghz > 0.0, "{ghz}");
    }
}
