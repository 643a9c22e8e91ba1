//! The code that accounts of a hard fork hold, its price, and the gas of a transaction, as revm has them.

use residue_isa::Fork;
use revm::context::{Cfg, CfgEnv};
use revm::context_interface::cfg::GasParams;
use revm::primitives::hardfork::SpecId;

use crate::fork::spec_id;

/// Bytes of code that an account of the fork holds at most: 24,576 from Spurious Dragon on (EIP-170, `MAX_CODE_SIZE`), 65,536 from
/// Amsterdam on (EIP-7954); `None` before both.
pub fn code_bytes_max(fork: Fork) -> Option<usize> {
    let spec = spec_id(fork);
    spec.is_enabled_in(SpecId::SPURIOUS_DRAGON).then(|| CfgEnv::new_with_spec(spec).max_code_size())
}

/// The EIP that [`code_bytes_max`] follows from, by its number.
pub const fn code_limit_eip(fork: Fork) -> u32 {
    if fork as usize >= Fork::Amsterdam as usize { 7954 } else { 170 }
}

/// Gas of one byte of code that is deployed: 200 (Yellow Paper, G_codedeposit), 1,530 from Amsterdam on (EIP-8037, `cpsb`).
pub fn gas_per_code_byte(fork: Fork) -> u64 {
    let params = GasParams::new_spec(spec_id(fork));
    params.code_deposit_cost(1) + params.code_deposit_state_gas(1)
}

/// Gas that a transaction has at most: 16,777,216 from Osaka on (EIP-7825); `None` before.
pub fn transaction_gas_max(fork: Fork) -> Option<u64> {
    let spec = spec_id(fork);
    spec.is_enabled_in(SpecId::OSAKA).then(|| CfgEnv::new_with_spec(spec).tx_gas_limit_cap())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_prices_are_those_of_the_eips() {
        for (fork, bytes, gas) in [
            (Fork::Frontier, None, 200),
            (Fork::Tangerine, None, 200),
            (Fork::SpuriousDragon, Some(24_576), 200),
            (Fork::Osaka, Some(24_576), 200),
            (Fork::Amsterdam, Some(65_536), 1_530),
        ] {
            assert_eq!((code_bytes_max(fork), gas_per_code_byte(fork)), (bytes, gas), "{fork}");
        }
        assert_eq!((transaction_gas_max(Fork::Prague), transaction_gas_max(Fork::Osaka)), (None, Some(1 << 24)));
        assert_eq!((code_limit_eip(Fork::Osaka), code_limit_eip(Fork::Amsterdam)), (170, 7954));
    }
}
