//! The genesis block of a file of geth's, or of the development chain: its header, its state, its rules and when field instructions begin.

use std::collections::BTreeMap;

use alloy_consensus::constants::{EMPTY_OMMER_ROOT_HASH, EMPTY_WITHDRAWALS};
use alloy_consensus::{Block, BlockBody, Header};
use alloy_eips::eip7685::EMPTY_REQUESTS_HASH;
use alloy_eips::{eip2935, eip4788, eip7002, eip7251};
use alloy_genesis::{ChainConfig, Genesis, GenesisAccount};
use alloy_primitives::{Address, B256, Bytes, U256, address, bytes, keccak256};
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY};
use residue_alloy::{ChainRules, RulesError};

use crate::store::{ChainBlock, StateChanges};
use crate::trie::AccountChange;

/// Base fee of a first block of London's: geth, `params.InitialBaseFee`.
const INITIAL_BASE_FEE: u64 = 1_000_000_000;
/// Gas of a block of the development chain, as anvil's.
pub const GAS_LIMIT: u64 = 30_000_000;
/// Wei of a development account: 10,000 ether, as anvil's.
const DEV_BALANCE_ETHER: u64 = 10_000;
const WEI_PER_ETHER: u64 = 1_000_000_000_000_000_000;
/// Address of the deterministic deployer, as expected by Foundry and others, and its code:
/// github.com/Arachnid/deterministic-deployment-proxy.
const DEPLOYER: Address = address!("4e59b44847b379578588920ca78fbf26c0b4956c");
const DEPLOYER_CODE: Bytes = bytes!(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);

/// The header, with the state root still to be computed.
pub fn header(genesis: &Genesis, rules: &ChainRules) -> Header {
    use alloy_hardforks::EthereumHardforks;
    let time = genesis.timestamp;
    let has_withdrawals = rules.is_shanghai_active_at_timestamp(time);
    let has_blobs = rules.is_cancun_active_at_timestamp(time);
    let base_fee = rules.is_london_active_at_block(0).then_some(INITIAL_BASE_FEE);
    Header {
        parent_hash: genesis.parent_hash.unwrap_or_default(),
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        beneficiary: genesis.coinbase,
        state_root: EMPTY_ROOT_HASH,
        transactions_root: EMPTY_ROOT_HASH,
        receipts_root: EMPTY_ROOT_HASH,
        difficulty: genesis.difficulty,
        number: 0,
        gas_limit: genesis.gas_limit,
        timestamp: time,
        extra_data: genesis.extra_data.clone(),
        mix_hash: genesis.mix_hash,
        nonce: genesis.nonce.to_be_bytes().into(),
        base_fee_per_gas: genesis.base_fee_per_gas.and_then(|fee| u64::try_from(fee).ok()).or(base_fee),
        withdrawals_root: has_withdrawals.then_some(EMPTY_WITHDRAWALS),
        blob_gas_used: has_blobs.then(|| genesis.blob_gas_used.unwrap_or_default()),
        excess_blob_gas: has_blobs.then(|| genesis.excess_blob_gas.unwrap_or_default()),
        parent_beacon_block_root: has_blobs.then_some(B256::ZERO),
        requests_hash: rules.is_prague_active_at_timestamp(time).then_some(EMPTY_REQUESTS_HASH),
        ..Header::default()
    }
}

/// The block of a header.
pub fn block(header: Header) -> ChainBlock {
    let withdrawals = header.withdrawals_root.map(|_| Default::default());
    Block { header, body: BlockBody { transactions: Vec::new(), ommers: Vec::new(), withdrawals } }
}

/// The state of a genesis file.
pub fn state(alloc: &BTreeMap<Address, GenesisAccount>) -> StateChanges {
    let mut changes = StateChanges::default();
    for (address, account) in alloc {
        let code = account.code.clone().unwrap_or_default();
        let code_hash = if code.is_empty() { KECCAK_EMPTY } else { keccak256(&code) };
        if !code.is_empty() {
            changes.codes.insert(code_hash, code);
        }
        let slots = account.storage.iter().flatten();
        let slots = slots.map(|(slot, value)| (U256::from_be_bytes(slot.0), U256::from_be_bytes(value.0)));
        let info = Some((account.nonce.unwrap_or_default(), account.balance, code_hash));
        changes.accounts.insert(*address, AccountChange { info, is_wiped: false, slots: slots.collect() });
    }
    changes
}

/// The genesis of the development chain: every fork to Osaka from the beginning, accounts with ether, and the system contracts.
pub fn development(chain_id: u64, time: u64, gas_limit: u64, accounts: &[Address]) -> Genesis {
    let zero = Some(0);
    let config = ChainConfig {
        chain_id,
        homestead_block: zero,
        eip150_block: zero,
        eip155_block: zero,
        eip158_block: zero,
        byzantium_block: zero,
        constantinople_block: zero,
        petersburg_block: zero,
        istanbul_block: zero,
        berlin_block: zero,
        london_block: zero,
        merge_netsplit_block: zero,
        terminal_total_difficulty: Some(U256::ZERO),
        terminal_total_difficulty_passed: true,
        shanghai_time: zero,
        cancun_time: zero,
        prague_time: zero,
        osaka_time: zero,
        ..ChainConfig::default()
    };
    let contract = |code: Bytes| GenesisAccount { nonce: Some(1), code: Some(code), ..GenesisAccount::default() };
    let contracts = [
        (eip4788::BEACON_ROOTS_ADDRESS, eip4788::BEACON_ROOTS_CODE.clone()),
        (eip2935::HISTORY_STORAGE_ADDRESS, eip2935::HISTORY_STORAGE_CODE.clone()),
        (eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_CODE.clone()),
        (eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_CODE.clone()),
        (DEPLOYER, DEPLOYER_CODE),
    ];
    let rich = GenesisAccount { balance: balance(), ..GenesisAccount::default() };
    let alloc = accounts.iter().map(|address| (*address, rich.clone()));
    let alloc = alloc.chain(contracts.into_iter().map(|(address, code)| (address, contract(code))));
    Genesis { config, timestamp: time, gas_limit, alloc: alloc.collect(), ..Genesis::default() }
}

/// Wei of a development account.
pub fn balance() -> U256 {
    U256::from(DEV_BALANCE_ETHER) * U256::from(WEI_PER_ETHER)
}

/// The rules of a genesis file.
pub fn rules(genesis: &Genesis) -> Result<ChainRules, RulesError> {
    ChainRules::from_config(&genesis.config)
}
