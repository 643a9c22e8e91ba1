//! The batch engine: blocks of field instructions that run as one. `docs/engine.md` has the terms, the invariants and the life of a block.
//!
//! A [`block::Block`] is walked once ([`walk`], [`path`]) and kept with its code ([`blocks`]), which pays for it in gas
//! ([`credit`]); it runs ([`run`], [`runner`]) as a plan of eight lanes ([`plan`]) or as a list of scalar steps
//! ([`scalar_trace`]), on slots ([`slots`], [`slot_file`]) or on values in EVM memory ([`memory`], [`memory_places`],
//! [`memory_rows`]). [`ledger`] measures the gain of plans, [`budget`] their memory, [`cache`] keeps blocks over
//! transactions, and [`tuning`] has every constant.

pub(crate) mod block;
pub(crate) mod blocks;
pub(crate) mod budget;
pub(crate) mod cache;
pub(crate) mod credit;
pub(crate) mod explained;
pub(crate) mod index_set;
pub(crate) mod ledger;
pub(crate) mod location;
pub(crate) mod memory;
pub(crate) mod memory_places;
pub(crate) mod memory_rows;
pub(crate) mod path;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod runner;
pub(crate) mod scalar_trace;
pub(crate) mod slot_file;
pub(crate) mod slots;
pub(crate) mod tuning;
pub(crate) mod walk;
pub(crate) mod work;

/// Counters of cycles, also on machines of 32 bits.
#[cfg(target_has_atomic = "64")]
pub(crate) use core::sync::atomic::AtomicI64;
#[cfg(not(target_has_atomic = "64"))]
pub(crate) use portable_atomic::AtomicI64;

use residue_isa::Revision;
use residue_lanes::Kernel;

/// When blocks of field instructions run as one. Halts, gas, memory and output are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Batching {
    /// Never: every instruction by itself.
    Off,
    /// Blocks run if that is faster and paid for: as plans on machines with AVX-512 IFMA, else as scalar traces.
    Warm,
    /// As [`Batching::Warm`], with plans on any machine: to see those that machines with AVX-512 IFMA run.
    Planned,
    /// As plans from the first entry, at any cost and on any machine. For tests.
    Always,
    /// As scalar traces from the first entry. For tests.
    Traces,
}

impl Batching {
    /// True if there are blocks.
    pub(crate) fn has_blocks(self) -> bool {
        self != Self::Off
    }

    /// True if blocks have plans on this machine.
    pub(crate) fn has_plans(self) -> bool {
        match self {
            Self::Off | Self::Traces => false,
            Self::Warm => Kernel::best() != Kernel::Scalar,
            Self::Planned | Self::Always => true,
        }
    }

    /// True if blocks have scalar traces.
    pub(crate) fn has_traces(self) -> bool {
        matches!(self, Self::Warm | Self::Planned | Self::Traces)
    }

    /// True if blocks run from their first entry on.
    pub(crate) fn is_eager(self) -> bool {
        matches!(self, Self::Always | Self::Traces)
    }
}

/// True if the engine finds blocks in code of a revision: every instruction must name the places of its values in the
/// code.
pub fn has_blocks(revision: Revision) -> bool {
    revision.slot_rules().is_some() || memory_places::Form::of(revision).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_batching_has_what_it_is_named_for() {
        let has_rows = Kernel::best() != Kernel::Scalar;
        for (batching, blocks, plans, traces, eager) in [
            (Batching::Off, false, false, false, false),
            (Batching::Warm, true, has_rows, true, false),
            (Batching::Planned, true, true, true, false),
            (Batching::Always, true, true, false, true),
            (Batching::Traces, true, false, true, true),
        ] {
            let found = [batching.has_blocks(), batching.has_plans(), batching.has_traces(), batching.is_eager()];
            assert_eq!(found, [blocks, plans, traces, eager], "{batching:?}");
        }
    }

    #[test]
    fn blocks_are_found_where_instructions_name_slots_or_places_in_memory() {
        for (revision, expected) in [
            (Revision::Eip6690_2024, true),
            (Revision::Evmone2025, true),
            (Revision::Evm384V7, true),
            (Revision::X383, true),
            (Revision::Evm384V0, false),
            (Revision::Evm384V12, false),
        ] {
            assert_eq!(has_blocks(revision), expected, "{revision}");
        }
    }
}
