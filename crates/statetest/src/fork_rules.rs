//! Forks by the names of test files, and the block and configuration that a test runs under.

use residue_engine::revm::context::{BlockEnv, CfgEnv};
use residue_engine::revm::context_interface::block::BlobExcessGasAndPrice;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{B256, U256};
use residue_isa::did_you_mean;

use crate::format::{BlobParts, Config, Env};
use crate::quantity::Number;

/// Names of forks with revm's rules for them, oldest first. Forks that changed blobs or the ice age alone have the rules of
/// the one before.
const FORKS: &[(&str, SpecId)] = &[
    ("Frontier", SpecId::FRONTIER),
    ("Homestead", SpecId::HOMESTEAD),
    ("EIP150", SpecId::TANGERINE),
    ("TangerineWhistle", SpecId::TANGERINE),
    ("Tangerine", SpecId::TANGERINE),
    ("EIP158", SpecId::SPURIOUS_DRAGON),
    ("SpuriousDragon", SpecId::SPURIOUS_DRAGON),
    ("Byzantium", SpecId::BYZANTIUM),
    ("ConstantinopleFix", SpecId::PETERSBURG),
    ("Petersburg", SpecId::PETERSBURG),
    ("Istanbul", SpecId::ISTANBUL),
    ("MuirGlacier", SpecId::ISTANBUL),
    ("Berlin", SpecId::BERLIN),
    ("London", SpecId::LONDON),
    ("ArrowGlacier", SpecId::LONDON),
    ("GrayGlacier", SpecId::LONDON),
    ("Merge", SpecId::MERGE),
    ("Paris", SpecId::MERGE),
    ("Shanghai", SpecId::SHANGHAI),
    ("Cancun", SpecId::CANCUN),
    ("Prague", SpecId::PRAGUE),
    ("Osaka", SpecId::OSAKA),
    ("BPO1", SpecId::OSAKA),
    ("BPO2", SpecId::OSAKA),
    ("BPO3", SpecId::OSAKA),
    ("BPO4", SpecId::OSAKA),
    ("BPO5", SpecId::OSAKA),
    ("Amsterdam", SpecId::AMSTERDAM),
];

/// Blobs of one transaction at most from Osaka on (EIP-7594).
const BLOBS_PER_TRANSACTION_MAX: u64 = 6;
/// Gas of one blob (EIP-4844).
pub const GAS_PER_BLOB: u64 = 1 << 17;
/// Gas that a blob is worth to a block at least (EIP-7918).
const BLOB_BASE_COST: u64 = 1 << 13;

/// The rules of a fork, or why there are none.
pub fn rules_of(fork: &str) -> Result<SpecId, String> {
    if let Some((_, spec)) = FORKS.iter().find(|(name, _)| name.eq_ignore_ascii_case(fork)) {
        return Ok(*spec);
    }
    Err(match fork {
        "Constantinople" => {
            "revm has no Constantinople without the fix: it was replaced before its block on mainnet came".to_owned()
        }
        _ if fork.contains("At") && fork.contains("To") => {
            format!("{fork} is a transition between forks, and a state test has one block only")
        }
        _ => format!("revm has no fork {fork:?}{}", did_you_mean(fork, names())),
    })
}

/// Names of forks, oldest first.
pub fn names() -> impl Iterator<Item = &'static str> {
    FORKS.iter().map(|(name, _)| *name)
}

/// Position in the order of forks, unknown ones last.
pub fn age(fork: &str) -> usize {
    FORKS.iter().position(|(name, _)| name.eq_ignore_ascii_case(fork)).unwrap_or(FORKS.len())
}

/// The configuration and the block of a test under a fork.
pub fn environment(env: &Env, config: &Config, fork: &str, spec: SpecId) -> (CfgEnv, BlockEnv) {
    let mut cfg = CfgEnv::new_with_spec(spec);
    let chain_id = config.chainid.or(env.current_chain_id);
    cfg.chain_id = chain_id.map_or(1, Number::at_most_u64);
    let (max, target, fraction) = blobs(config, fork, spec);
    cfg.set_max_blobs_per_tx(if spec.is_enabled_in(SpecId::OSAKA) { max.min(BLOBS_PER_TRANSACTION_MAX) } else { max });
    cfg.blob_base_fee_update_fraction = Some(fraction);

    let difficulty = env.current_difficulty.unwrap_or_default();
    let mut block = BlockEnv {
        number: env.current_number.0,
        beneficiary: env.current_coinbase.0,
        timestamp: env.current_timestamp.0,
        gas_limit: env.current_gas_limit.at_most_u64(),
        basefee: env.current_base_fee.unwrap_or_default().at_most_u64(),
        difficulty: difficulty.0,
        prevrandao: None,
        slot_num: env.slot_number.unwrap_or_default().at_most_u64(),
        ..BlockEnv::default()
    };
    if spec.is_enabled_in(SpecId::MERGE) {
        block.prevrandao = Some(B256::from(env.current_random.unwrap_or(difficulty).0));
        block.difficulty = U256::ZERO;
    }
    let excess_blob_gas = excess_blob_gas(env, target);
    let blob_gasprice = blob_price(excess_blob_gas, fraction).unwrap_or(u128::MAX);
    block.blob_excess_gas_and_price = Some(BlobExcessGasAndPrice { excess_blob_gas, blob_gasprice });
    (cfg, block)
}

/// The price of blob gas, none if it is beyond what anybody can pay: e to the power of excess / fraction by its Taylor series in
/// whole numbers (EIP-4844, `fake_exponential`). revm's own would go on for ever where its terms wrap around.
fn blob_price(excess: u64, fraction: u64) -> Option<u128> {
    let (excess, fraction) = (u128::from(excess), u128::from(fraction));
    let (mut term, mut sum) = (fraction, 0_u128);
    for position in 1.. {
        if term == 0 {
            break;
        }
        sum = sum.checked_add(term)?;
        term = term.checked_mul(excess)? / fraction.checked_mul(position)?;
    }
    Some(sum / fraction)
}

/// Blobs of a block at most.
pub fn blobs_max(config: &Config, fork: &str, spec: SpecId) -> u64 {
    blobs(config, fork, spec).0
}

/// Blobs of a block at most and as aimed at, and the fraction of their fee: those of the test, else those of mainnet
/// (EIP-4844, EIP-7691, EIP-7892).
fn blobs(config: &Config, fork: &str, spec: SpecId) -> (u64, u64, u64) {
    let schedule = config.blob_schedule.as_ref().and_then(|schedule| schedule.get(fork));
    if let Some(BlobParts { max, target, base_fee_update_fraction }) = schedule {
        // The fee divides by the fraction.
        return (max.at_most_u64(), target.at_most_u64(), base_fee_update_fraction.at_most_u64().max(1));
    }
    match fork.to_ascii_uppercase().as_str() {
        "BPO1" => (15, 10, 8_346_193),
        "BPO2" | "BPO3" | "BPO4" | "BPO5" | "AMSTERDAM" => (21, 14, 11_684_671),
        _ if spec.is_enabled_in(SpecId::PRAGUE) => (9, 6, 5_007_716),
        _ => (6, 3, 3_338_477),
    }
}

/// That of the block, or what follows from its parent's (EIP-4844).
fn excess_blob_gas(env: &Env, target: u64) -> u64 {
    if let Some(excess) = env.current_excess_blob_gas {
        return excess.at_most_u64();
    }
    let [parent, used] = [env.parent_excess_blob_gas, env.parent_blob_gas_used].map(|gas| gas.unwrap_or_default());
    let sum = parent.at_most_u64().saturating_add(used.at_most_u64());
    sum.saturating_sub(target.saturating_mul(GAS_PER_BLOB))
}

/// Excess of blob gas after a block with this excess, use of blob gas and base fee (EIP-4844); from Osaka on blobs that cost less than the
/// transactions around them leave the more (EIP-7918).
pub fn next_excess_blob_gas(config: &Config, fork: &str, spec: SpecId, [excess, used, base_fee]: [u64; 3]) -> u64 {
    let (max, target, fraction) = blobs(config, fork, spec);
    let (sum, target_gas) = (excess.saturating_add(used), target.saturating_mul(GAS_PER_BLOB));
    if sum < target_gas {
        return 0;
    }
    let price = blob_price(excess, fraction).unwrap_or(u128::MAX).saturating_mul(u128::from(GAS_PER_BLOB));
    if spec.is_enabled_in(SpecId::OSAKA) && u128::from(BLOB_BASE_COST) * u128::from(base_fee) > price {
        let part = u128::from(used) * u128::from(max.saturating_sub(target)) / u128::from(max.max(1));
        return excess.saturating_add(u64::try_from(part).unwrap_or(u64::MAX));
    }
    sum - target_gas
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_eips::eip7840::BlobParams;
    use residue_engine::revm::context_interface::block::calc_blob_gasprice;

    #[test]
    fn forks_are_known_by_the_names_of_test_files() {
        assert_eq!(rules_of("EIP158"), Ok(SpecId::SPURIOUS_DRAGON));
        assert_eq!(rules_of("Paris"), rules_of("Merge"));
        assert!(FORKS.is_sorted_by_key(|(_, spec)| *spec));
        assert!(age("Berlin") < age("London") && age("London") < age("Verkle"));
    }

    #[test]
    fn the_price_of_blobs_is_that_of_revm_or_beyond_all_means() {
        for fraction in [1, 3_338_477, 5_007_716, 11_684_671] {
            for exponent in 0..50 {
                let excess = exponent * fraction + fraction / 3;
                assert_eq!(blob_price(excess, fraction), Some(calc_blob_gasprice(excess, fraction)));
            }
            assert_eq!(blob_price(u64::MAX, fraction), None);
        }
        assert_eq!(blob_price(u64::MAX, u64::MAX), Some(2));
    }

    #[test]
    fn the_excess_of_blobs_is_that_of_alloy_and_no_number_is_too_large() {
        let config = Config::default();
        for (fork, params) in [("Prague", BlobParams::prague()), ("Osaka", BlobParams::osaka())] {
            let spec = rules_of(fork).unwrap();
            for excess in [0, 1, 7, 40] {
                for used in 0..10 {
                    for base_fee in [7, 16, 17, 1_000] {
                        let of = [excess * GAS_PER_BLOB, used * GAS_PER_BLOB, base_fee];
                        let expected = params.next_block_excess_blob_gas_osaka(of[0], of[1], of[2]);
                        assert_eq!(next_excess_blob_gas(&config, fork, spec, of), expected, "{fork} {of:?}");
                    }
                }
            }
            next_excess_blob_gas(&config, fork, spec, [u64::MAX; 3]);
        }
    }

    #[test]
    fn what_is_not_known_has_a_reason() {
        for (fork, part) in [
            ("Constantinople", "without the fix"),
            ("ShanghaiToCancunAtTime15k", "transition"),
            ("Verkle", "\"Verkle\""),
        ] {
            let reason = rules_of(fork).unwrap_err();
            assert!(reason.contains(part), "{reason}");
        }
    }
}
