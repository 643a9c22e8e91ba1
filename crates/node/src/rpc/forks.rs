//! `eth_config` (EIP-7910): the fork in force, the next one and the last one that is known.

use alloy_eip2124::ForkHash;
use alloy_eips::{eip2935, eip4788, eip7002, eip7251};
use alloy_evm::eth::spec::EthExecutorSpec;
use alloy_hardforks::EthereumHardforks;
use alloy_primitives::Address;
use serde_json::{Map, Value, json};

use super::Method;
use super::error::{Answer, RpcError};
use super::format::{address, bytes, quantity};
use super::params::Params;
use crate::node::Node;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[("eth_config", config)];

/// Names of precompiles by address, as EIP-7910 has them.
const PRECOMPILES: [(&str, u16); 18] = [
    ("ECREC", 0x01),
    ("SHA256", 0x02),
    ("RIPEMD160", 0x03),
    ("ID", 0x04),
    ("MODEXP", 0x05),
    ("BN254_ADD", 0x06),
    ("BN254_MUL", 0x07),
    ("BN254_PAIRING", 0x08),
    ("BLAKE2F", 0x09),
    ("KZG_POINT_EVALUATION", 0x0a),
    ("BLS12_G1ADD", 0x0b),
    ("BLS12_G1MSM", 0x0c),
    ("BLS12_G2ADD", 0x0d),
    ("BLS12_G2MSM", 0x0e),
    ("BLS12_PAIRING_CHECK", 0x0f),
    ("BLS12_MAP_FP_TO_G1", 0x10),
    ("BLS12_MAP_FP2_TO_G2", 0x11),
    ("P256VERIFY", 0x100),
];

fn config(node: &Node, _: &Params) -> Answer {
    let (_, _, head) = node.chain.head()?;
    let times = node.chain.rules().times();
    let is_begun = |time: &&u64| **time <= head.timestamp;
    let current = times.iter().rev().find(is_begun).copied().unwrap_or(0);
    let next = times.iter().find(|time| **time > head.timestamp).copied();
    let last = times.last().copied().filter(|&last| last > head.timestamp);
    let show = |time: Option<u64>| time.map_or(Ok(Value::Null), |time| fork(node, time));
    Ok(json!({ "current": fork(node, current)?, "next": show(next)?, "last": show(last)? }))
}

fn fork(node: &Node, time: u64) -> Answer {
    let rules = node.chain.rules();
    let number = rules.numbers().last().copied().unwrap_or(0).max(node.chain.head()?.0);
    let precompiles = residue_alloy::precompiles(rules.spec(time, number));
    let at = |low: u16| {
        let mut bytes = [0; 20];
        bytes[18..].copy_from_slice(&low.to_be_bytes());
        Address::from(bytes)
    };
    let named = PRECOMPILES.iter().filter(|(_, low)| precompiles.get(&at(*low)).is_some());
    let named: Map<String, Value> = named.map(|(name, low)| ((*name).to_owned(), address(at(*low)))).collect();
    let mut contracts = Map::new();
    let mut contract = |name: &str, held: Address| contracts.insert(name.to_owned(), address(held));
    if rules.is_cancun_active_at_timestamp(time) {
        contract("BEACON_ROOTS_ADDRESS", eip4788::BEACON_ROOTS_ADDRESS);
    }
    if rules.is_prague_active_at_timestamp(time) {
        contract("CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS", eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS);
        if let Some(deposits) = rules.deposit_contract_address() {
            contract("DEPOSIT_CONTRACT_ADDRESS", deposits);
        }
        contract("HISTORY_STORAGE_ADDRESS", eip2935::HISTORY_STORAGE_ADDRESS);
        contract("WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS", eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS);
    }
    let blobs = rules.blob_params(time).map(|params| {
        // The parameters stand in 64 bits in every schedule that is known.
        let fraction = u64::try_from(params.update_fraction).unwrap_or(u64::MAX);
        json!({ "target": params.target_blob_count, "max": params.max_blob_count, "baseFeeUpdateFraction": fraction })
    });
    Ok(json!({
        "activationTime": time,
        "blobSchedule": blobs,
        "chainId": quantity(rules.chain_id()),
        "forkId": bytes(fork_hash(node, time)?),
        "precompiles": named,
        "systemContracts": contracts,
    }))
}

/// The checksum of the genesis block and of all forks until a time (EIP-2124).
fn fork_hash(node: &Node, time: u64) -> Result<[u8; 4], RpcError> {
    let rules = node.chain.rules();
    let genesis = node.chain.store().hash(0)?.unwrap_or_default();
    let begun = node.chain.store().header(0)?.map_or(0, |header| header.timestamp);
    let mut hash = ForkHash::from(genesis);
    rules.numbers().into_iter().for_each(|number| hash += number);
    rules.times().into_iter().filter(|&fork| fork > begun && fork <= time).for_each(|fork| hash += fork);
    Ok(hash.0)
}
