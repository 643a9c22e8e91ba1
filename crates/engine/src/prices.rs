//! Prices of the field instructions in flat arrays of whole gas, copied from a gas schedule when an EVM is built.
//!
//! Execution meters whole gas, so a fractional price counts rounded up here, once a lane; what a fractional schedule really
//! charges is computed from [`crate::Counts`] after the run.

use residue_isa::{Arithmetic, GasSchedule, Revision};

/// The widest modulus of any revision with slots, in limbs (EIP-6690: 96 bytes).
const WIDTH_LIMBS_MAX: usize = 12;

const _: () = {
    let mut revision = 0;
    while revision < Revision::ALL.len() {
        assert!(Revision::ALL[revision].width_limbs_max() <= WIDTH_LIMBS_MAX);
        revision += 1;
    }
};

/// Whole gas for everything a field instruction may be charged for.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    /// Base price by opcode; zero where the opcode is not of the revision.
    pub base: [u64; 256],
    /// By width of the modulus in limbs; entry 0 is not used.
    pub per_width: [WidthPrices; WIDTH_LIMBS_MAX + 1],
    /// For each begun 32 bytes loaded or stored modulo a power of two.
    pub transfer_per_word: u64,
}

/// What depends on the width of the modulus.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WidthPrices {
    /// A new odd modulus.
    pub set_modulus: u64,
    /// A lane of each operation, in the order of [`Arithmetic::ALL`].
    pub lane: [u64; 3],
    /// A value loaded or stored, odd modulus.
    pub transfer: u64,
}

impl Prices {
    pub fn new(schedule: &GasSchedule, revision: Revision) -> Self {
        let mut base = [0; 256];
        for row in revision.opcodes() {
            base[usize::from(row.byte)] = schedule.base(row.mnemonic).map_or(0, |price| price.whole());
        }
        let per_width = std::array::from_fn(|width_limbs| match width_limbs {
            1.. if width_limbs <= revision.width_limbs_max() => WidthPrices::new(schedule, width_limbs),
            _ => WidthPrices::default(),
        });
        Self { base, per_width, transfer_per_word: schedule.transfer_per_word().whole() }
    }
}

impl WidthPrices {
    fn new(schedule: &GasSchedule, width_limbs: usize) -> Self {
        Self {
            set_modulus: schedule.set_modulus(width_limbs).whole(),
            lane: Arithmetic::ALL.map(|operation| schedule.arithmetic(operation, width_limbs).whole()),
            transfer: schedule.transfer_per_value(width_limbs).whole(),
        }
    }
}

/// What a frame has paid for `words` words of memory: 3·words + ⌊words² / 512⌋ (Yellow Paper, appendix H.1). Saturates.
pub(crate) const fn memory_cost(words: u64) -> u64 {
    words.saturating_mul(3).saturating_add(words.saturating_mul(words) / 512)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_costs_what_revm_charges_under_every_fork() {
        for fork in crate::Fork::ALL {
            let params = revm::context_interface::cfg::GasParams::new_spec(fork.spec_id());
            for words in [0, 1, 2, 22, 23, 768, 1 << 21, 1 << 30, 1 << 40, u64::MAX / 32] {
                let in_usize = usize::try_from(words).unwrap();
                assert_eq!(memory_cost(words), params.memory_cost(in_usize), "{fork} {words}");
            }
        }
    }

    #[test]
    fn prices_of_the_eip_arrive_in_the_arrays() {
        let revision = Revision::Eip6690_2024;
        let prices = Prices::new(&GasSchedule::named("eip6690", revision).unwrap(), revision);
        assert_eq!(prices.base[0xc0..0xc6], [1, 1, 1, 0, 0, 0]);
        assert_eq!(prices.per_width[6].set_modulus, 39);
        assert_eq!(prices.per_width[6].lane, [1, 1, 3]);
        assert_eq!(prices.per_width[12].transfer, 12);
        assert_eq!(prices.transfer_per_word, 3);
    }
}
