//! The rules of a chain by block: its forks, its blob schedule and its deposit contract, as a genesis file of geth's has them.

use std::collections::BTreeMap;

use alloy_consensus::BlockHeader;
use alloy_eips::eip7840::BlobParams;
use alloy_evm::eth::spec::EthExecutorSpec;
use alloy_evm::{EvmEnv, spec_by_timestamp_and_block_number};
use alloy_genesis::ChainConfig;
use alloy_hardforks::{EthereumHardfork, EthereumHardforks, ForkCondition};
use residue_engine::revm::primitives::Address;
use residue_engine::revm::primitives::hardfork::SpecId;
use thiserror::Error;

/// Forks by block number or by time, and what else depends on the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainRules {
    chain_id: u64,
    forks: BTreeMap<EthereumHardfork, ForkCondition>,
    /// Blob parameters from a time on, earliest first.
    blobs: Vec<(u64, BlobParams)>,
    deposit_contract: Option<Address>,
}

/// A genesis file whose rules are unclear.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RulesError {
    /// The merge happens at a total difficulty, and the block of it is not said.
    #[error(
        "terminalTotalDifficulty is {terminal}: config.mergeNetsplitBlock must say the first block after the merge"
    )]
    MergeBlockUnknown {
        /// The total difficulty.
        terminal: String,
    },
    /// Forks by time come in another order than they build on each other.
    #[error("{later} begins at {later_time}, before {earlier}, which it builds on")]
    OutOfOrder {
        /// The fork that must come first.
        earlier: &'static str,
        /// The fork after it.
        later: &'static str,
        /// Its time.
        later_time: u64,
    },
}

impl ChainRules {
    /// The rules of a chain from its `config`. Fields that are absent are forks that never come; the Dao fork only where it is supported.
    pub fn from_config(config: &ChainConfig) -> Result<Self, RulesError> {
        use EthereumHardfork as F;
        let merge = merge_block(config)?;
        let by_number = [
            (F::Frontier, Some(0)),
            (F::Homestead, config.homestead_block),
            (F::Dao, config.dao_fork_block.filter(|_| config.dao_fork_support)),
            (F::Tangerine, config.eip150_block),
            (F::SpuriousDragon, config.eip155_block.max(config.eip158_block)),
            (F::Byzantium, config.byzantium_block),
            (F::Constantinople, config.constantinople_block),
            (F::Petersburg, config.petersburg_block.or(config.constantinople_block)),
            (F::Istanbul, config.istanbul_block),
            (F::MuirGlacier, config.muir_glacier_block),
            (F::Berlin, config.berlin_block),
            (F::London, config.london_block),
            (F::ArrowGlacier, config.arrow_glacier_block),
            (F::GrayGlacier, config.gray_glacier_block),
            (F::Paris, merge),
        ];
        let by_time = [
            ("shanghaiTime", F::Shanghai, config.shanghai_time),
            ("cancunTime", F::Cancun, config.cancun_time),
            ("pragueTime", F::Prague, config.prague_time),
            ("osakaTime", F::Osaka, config.osaka_time),
            ("amsterdamTime", F::Amsterdam, config.amsterdam_time),
        ];
        for pair in by_time.windows(2) {
            let ((earlier, _, first), (later, _, second)) = (pair[0], pair[1]);
            if let Some(later_time) = second.filter(|&second| first.is_none_or(|first| first > second)) {
                return Err(RulesError::OutOfOrder { earlier, later, later_time });
            }
        }
        let numbers = by_number.into_iter().filter_map(|(fork, block)| Some((fork, ForkCondition::Block(block?))));
        let times = by_time.into_iter().filter_map(|(_, fork, time)| Some((fork, ForkCondition::Timestamp(time?))));
        Ok(Self {
            chain_id: config.chain_id,
            forks: numbers.chain(times).collect(),
            blobs: blobs(config),
            deposit_contract: config.deposit_contract_address,
        })
    }

    /// The chain's id.
    pub const fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// revm's fork for a block.
    pub fn spec(&self, time: u64, number: u64) -> SpecId {
        spec_by_timestamp_and_block_number(self, time, number)
    }

    /// The blob parameters for a block time; none before Cancun.
    pub fn blob_params(&self, time: u64) -> Option<BlobParams> {
        let begun = self.blobs.iter().rev().find(|(from, _)| *from <= time);
        begun.map(|(_, params)| *params)
    }

    /// The times at which forks or blob parameters change, ascending.
    pub fn times(&self) -> Vec<u64> {
        let forks = self.forks.values().filter_map(|fork| fork.as_timestamp());
        let mut times: Vec<u64> = forks.chain(self.blobs.iter().map(|(time, _)| *time)).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The block numbers at which forks change the rules, ascending, without those of the genesis block.
    pub fn numbers(&self) -> Vec<u64> {
        let by_number = self.forks.values().filter_map(|fork| match fork {
            ForkCondition::Block(number) if *number > 0 => Some(*number),
            _ => None,
        });
        let mut numbers: Vec<u64> = by_number.collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The rule in which two chains differ for a block or for one before it, in words; none if they execute these alike.
    pub fn difference(&self, other: &Self, number: u64, time: u64) -> Option<String> {
        if self.chain_id != other.chain_id {
            return Some(format!("chain id: {}, not {}", self.chain_id, other.chain_id));
        }
        let is_begun = |fork: ForkCondition| match fork {
            ForkCondition::Block(from) => from <= number,
            ForkCondition::Timestamp(from) => from <= time,
            ForkCondition::TTD { .. } => true,
            ForkCondition::Never => false,
        };
        for fork in self.forks.keys().chain(other.forks.keys()) {
            let (ours, theirs) = (self.ethereum_fork_activation(*fork), other.ethereum_fork_activation(*fork));
            if ours != theirs && (is_begun(ours) || is_begun(theirs)) {
                return Some(format!("{fork:?}: {}, not {}", begin(ours), begin(theirs)));
            }
        }
        let blobs = |rules: &Self| rules.blobs.iter().filter(|(from, _)| *from <= time).copied().collect::<Vec<_>>();
        if blobs(self) != blobs(other) {
            return Some(format!("blob schedule: {:?}, not {:?}", blobs(self), blobs(other)));
        }
        let (ours, theirs) = (self.deposit_contract, other.deposit_contract);
        (ours != theirs).then(|| format!("deposit contract: {ours:?}, not {theirs:?}"))
    }

    /// The environment that a block of this header executes in.
    pub fn env_of(&self, header: impl BlockHeader) -> EvmEnv {
        let blobs = self.blob_params(header.timestamp());
        EvmEnv::for_eth_block(header, self, self.chain_id, blobs)
    }
}

impl EthereumHardforks for ChainRules {
    fn ethereum_fork_activation(&self, fork: EthereumHardfork) -> ForkCondition {
        self.forks.get(&fork).copied().unwrap_or(ForkCondition::Never)
    }
}

impl EthExecutorSpec for ChainRules {
    fn deposit_contract_address(&self) -> Option<Address> {
        self.deposit_contract
    }
}

/// When a fork begins, in words.
fn begin(fork: ForkCondition) -> String {
    match fork {
        ForkCondition::Block(number) => format!("from block {number}"),
        ForkCondition::Timestamp(time) => format!("from time {time}"),
        ForkCondition::TTD { total_difficulty, .. } => format!("from total difficulty {total_difficulty}"),
        ForkCondition::Never => "never".to_owned(),
    }
}

/// The first block without proof of work.
fn merge_block(config: &ChainConfig) -> Result<Option<u64>, RulesError> {
    match (config.merge_netsplit_block, config.terminal_total_difficulty) {
        (Some(block), _) => Ok(Some(block)),
        (None, Some(terminal)) if terminal.is_zero() => Ok(Some(0)),
        (None, _) if config.terminal_total_difficulty_passed => Ok(Some(0)),
        (None, Some(terminal)) => Err(RulesError::MergeBlockUnknown { terminal: terminal.to_string() }),
        (None, None) => Ok(None),
    }
}

fn blobs(config: &ChainConfig) -> Vec<(u64, BlobParams)> {
    let schedule = config.blob_schedule_blob_params();
    let forks = [
        (config.cancun_time, schedule.cancun),
        (config.prague_time, schedule.prague),
        (config.osaka_time, schedule.osaka),
    ];
    let mut blobs: Vec<_> = forks.into_iter().filter_map(|(time, params)| Some((time?, params))).collect();
    blobs.extend(schedule.scheduled.iter().copied());
    // A later fork at the same time counts.
    blobs.sort_by_key(|(time, _)| *time);
    blobs
}
