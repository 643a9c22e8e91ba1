//! Forks by the names that other clients' tools know them by, each in force from the first block on.

use alloy_eips::eip7840::BlobParams;
use alloy_genesis::ChainConfig;
use alloy_primitives::{Address, U256, address};
use anyhow::{Context, Result, bail};
use residue_alloy::ChainRules;
use residue_isa::did_you_mean;
use serde_json::Value;

use super::json::Fields;

/// The deposit contract of the main chain (EIP-6110), whose logs are requests.
const DEPOSITS: Address = address!("00000000219ab540356cbb839cbe05303d7705fa");

/// Names in the order in which forks build on each other; those of a row are one.
const NAMES: &[&[&str]] = &[
    &["frontier"],
    &["homestead"],
    &["eip150", "tangerinewhistle"],
    &["eip158", "spuriousdragon"],
    &["byzantium"],
    &["constantinoplefix", "constantinople", "petersburg"],
    &["istanbul"],
    &["muirglacier"],
    &["berlin"],
    &["london"],
    &["arrowglacier"],
    &["grayglacier"],
    &["paris", "merge"],
    &["shanghai"],
    &["cancun"],
    &["prague"],
    &["osaka"],
    &["bpo1"],
    &["bpo2"],
    &["bpo3"],
    &["bpo4"],
    &["bpo5"],
    &["amsterdam"],
];

/// A fork.
#[derive(Debug, Clone)]
pub struct Fork {
    index: usize,
    blobs: Option<BlobParams>,
}

impl Fork {
    /// The fork of a name, with blob parameters of its own or those given.
    pub fn named(name: &str, blob_params: Option<&Value>) -> Result<Self> {
        let plain = name.to_ascii_lowercase().replace('_', "");
        let found = NAMES.iter().position(|names| names.contains(&plain.as_str()));
        let Some(index) = found else {
            let near = did_you_mean(&plain, NAMES.iter().copied().flatten().copied());
            bail!("--state.fork {name}: no such fork{near}")
        };
        Ok(Self { index, blobs: blob_params.map(blobs).transpose().context("--input.blobParams")? })
    }

    /// True if it is a fork, or builds on it.
    pub fn has(&self, name: &str) -> bool {
        NAMES.iter().position(|names| names.contains(&name)).is_some_and(|index| self.index >= index)
    }

    /// The rules of a chain that has had it from the beginning.
    pub fn rules(&self, chain_id: u64) -> Result<ChainRules> {
        let from = |name: &str| self.has(name).then_some(0);
        let mut config = ChainConfig {
            chain_id,
            homestead_block: from("homestead"),
            eip150_block: from("eip150"),
            eip155_block: from("eip158"),
            eip158_block: from("eip158"),
            byzantium_block: from("byzantium"),
            constantinople_block: from("petersburg"),
            petersburg_block: from("petersburg"),
            istanbul_block: from("istanbul"),
            muir_glacier_block: from("muirglacier"),
            berlin_block: from("berlin"),
            london_block: from("london"),
            arrow_glacier_block: from("arrowglacier"),
            gray_glacier_block: from("grayglacier"),
            merge_netsplit_block: from("paris"),
            shanghai_time: from("shanghai"),
            cancun_time: from("cancun"),
            prague_time: from("prague"),
            osaka_time: from("osaka"),
            bpo1_time: from("bpo1"),
            bpo2_time: from("bpo2"),
            bpo3_time: from("bpo3"),
            bpo4_time: from("bpo4"),
            bpo5_time: from("bpo5"),
            amsterdam_time: from("amsterdam"),
            deposit_contract_address: Some(DEPOSITS),
            ..ChainConfig::default()
        };
        if self.has("paris") {
            config.terminal_total_difficulty = Some(U256::ZERO);
        }
        for (name, params) in [("bpo1", BlobParams::bpo1()), ("bpo2", BlobParams::bpo2())] {
            config.blob_schedule.insert(name.to_owned(), params);
        }
        if let (Some(params), Some(name)) = (self.blobs, NAMES[self.index].first()) {
            config.blob_schedule.insert((*name).to_owned(), params);
        }
        Ok(ChainRules::from_config(&config)?)
    }

    /// Blocks by which the difficulty bomb is put off.
    pub fn bomb_delay(&self) -> u64 {
        let delays = [
            ("grayglacier", 11_400_000),
            ("arrowglacier", 10_700_000),
            ("london", 9_700_000),
            ("muirglacier", 9_000_000),
            ("petersburg", 5_000_000),
            ("byzantium", 3_000_000),
        ];
        delays.into_iter().find(|(name, _)| self.has(name)).map_or(0, |(_, delay)| delay)
    }
}

fn blobs(given: &Value) -> Result<BlobParams> {
    let fields = Fields::of(given)?;
    let (target_blob_count, max_blob_count) = (fields.need("target")?, fields.need("max")?);
    let update_fraction = u128::from(fields.need("baseFeeUpdateFraction")?);
    Ok(BlobParams { target_blob_count, max_blob_count, update_fraction, ..BlobParams::prague() })
}
