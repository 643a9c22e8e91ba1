//! The block's environment, with defaults derived from its parent.

use alloy_consensus::{EMPTY_OMMER_ROOT_HASH, Header};
use alloy_eips::eip1559::{BaseFeeParams, calc_next_block_base_fee};
use alloy_eips::eip4895::{Withdrawal, Withdrawals};
use alloy_primitives::{Address, B256, U256};
use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::forks::Fork;
use super::json::{Fields, word};

/// The least difficulty a block has: Yellow Paper, D₀.
const DIFFICULTY_MIN: u64 = 131_072;
/// Blocks after which the difficulty bomb doubles.
const BOMB_PERIOD: u64 = 100_000;

/// Environment of the block.
#[derive(Debug)]
pub struct Env {
    /// As a header, without roots.
    pub header: Header,
    /// Withdrawals; none before Shanghai.
    pub withdrawals: Option<Withdrawals>,
    /// Beneficiaries of ommers and how many blocks they are older.
    pub ommers: Vec<(u64, Address)>,
    /// Hashes of earlier blocks.
    pub hashes: Vec<(u64, B256)>,
}

impl Env {
    /// Environment of a file.
    pub fn of(given: &Value, fork: &Fork) -> Result<Self> {
        let fields = Fields::of(given)?;
        let number = fields.need("currentNumber")?;
        let mut hashes = Vec::new();
        for (at, hash) in fields.find("blockHashes").map(Fields::of).transpose()?.iter().flat_map(|all| all.all()) {
            let at_word = word(&Value::String(at.clone())).with_context(|| format!("blockHashes {at}"))?;
            let at_number = u64::try_from(at_word).with_context(|| format!("blockHashes {at}"))?;
            hashes.push((at_number, B256::from(word(hash).with_context(|| format!("blockHashes {at}"))?)));
        }
        let parent = number.checked_sub(1);
        let listed = hashes.iter().find(|(at, _)| Some(*at) == parent).map(|(_, hash)| *hash);
        let parent_hash = match (listed, fields.hash("parentHash")?) {
            (Some(listed), Some(said)) if listed != said => {
                bail!("parentHash {said} is not the hash of block {} in blockHashes, {listed}", number - 1)
            }
            (listed, said) => listed.or(said),
        };
        if fork.has("prague") && number > 0 {
            parent_hash
                .with_context(|| format!("neither parentHash nor a hash of block {} in blockHashes", number - 1))?;
        }
        let mut header = Header {
            number,
            parent_hash: parent_hash.unwrap_or_default(),
            beneficiary: fields.address("currentCoinbase")?,
            gas_limit: fields.need("currentGasLimit")?,
            timestamp: fields.need("currentTimestamp")?,
            ..Header::default()
        };
        match fork.has("paris") {
            true => header.mix_hash = fields.hash("currentRandom")?.context("no currentRandom")?,
            false => header.difficulty = difficulty(fields, fork, number, header.timestamp)?,
        }
        header.base_fee_per_gas = fork.has("london").then(|| base_fee(fields)).transpose()?;
        if fork.has("cancun") {
            let root = fields.hash("parentBeaconBlockRoot")?.context("no parentBeaconBlockRoot")?;
            header.parent_beacon_block_root = Some(root);
            header.excess_blob_gas = Some(excess_blob_gas(fields, fork, header.timestamp)?);
        }
        if fork.has("amsterdam") {
            header.slot_number = Some(fields.number("slotNumber")?.unwrap_or_default());
        }
        let withdrawal = |given: &Value| -> Result<Withdrawal> {
            let fields = Fields::of(given)?;
            let (index, validator_index) = (fields.need("index")?, fields.need("validatorIndex")?);
            Ok(Withdrawal {
                index,
                validator_index,
                address: fields.address("address")?,
                amount: fields.need("amount")?,
            })
        };
        let withdrawals =
            fields.list("withdrawals")?.iter().map(withdrawal).collect::<Result<Vec<_>>>().context("withdrawals")?;
        let ommer = |given: &Value| -> Result<_> {
            let fields = Fields::of(given)?;
            Ok((fields.need("delta")?, fields.address("address")?))
        };
        Ok(Self {
            header,
            withdrawals: fork.has("shanghai").then(|| Withdrawals::new(withdrawals)),
            ommers: fields.list("ommers")?.iter().map(ommer).collect::<Result<_>>().context("ommers")?,
            hashes,
        })
    }
}

fn base_fee(fields: Fields<'_>) -> Result<u64> {
    if let Some(fee) = fields.number("currentBaseFee")? {
        return Ok(fee);
    }
    let (used, limit) = (fields.need("parentGasUsed")?, fields.need("parentGasLimit")?);
    let fee = fields.need("parentBaseFee")?;
    Ok(calc_next_block_base_fee(used, limit, fee, BaseFeeParams::ethereum()))
}

fn excess_blob_gas(fields: Fields<'_>, fork: &Fork, time: u64) -> Result<u64> {
    if let Some(excess) = fields.number("currentExcessBlobGas")? {
        return Ok(excess);
    }
    let params = fork.rules(1)?.blob_params(time).context("the fork has no blobs")?;
    let excess = fields.number("parentExcessBlobGas")?.unwrap_or_default();
    let used = fields.number("parentBlobGasUsed")?.unwrap_or_default();
    let fee = fields.number("parentBaseFee")?.unwrap_or_default();
    excess.checked_add(used).with_context(|| format!("parentExcessBlobGas {excess} is too large"))?;
    Ok(params.next_block_excess_blob_gas_osaka(excess, used, fee))
}

/// The difficulty that a block with proof of work has: Yellow Paper (41) for Frontier, EIP-2 from Homestead, EIP-100 from Byzantium on.
fn difficulty(fields: Fields<'_>, fork: &Fork, number: u64, time: u64) -> Result<U256> {
    if let Some(difficulty) = fields.word("currentDifficulty")? {
        return Ok(difficulty);
    }
    let parent = fields.word("parentDifficulty")?.context("neither currentDifficulty nor parentDifficulty")?;
    let parent_time = fields.need("parentTimestamp")?;
    let passed = time.checked_sub(parent_time).with_context(|| format!("parentTimestamp {parent_time} is too late"))?;
    let step = parent / U256::from(2048);
    // Steps up, and steps down.
    let steps = if fork.has("byzantium") {
        let has_ommers = fields.hash("parentUncleHash")?.is_some_and(|hash| hash != EMPTY_OMMER_ROOT_HASH);
        (1 + u64::from(has_ommers), passed / 9)
    } else if fork.has("homestead") {
        (1, passed / 10)
    } else if passed < 13 {
        (1, 0)
    } else {
        (0, 1)
    };
    let (up, down) = (U256::from(steps.0), U256::from(steps.1.min(steps.0 + 99)));
    let mut next = (parent + step * up).saturating_sub(step * down);
    let periods = number.checked_sub(fork.bomb_delay()).map(|since| since / BOMB_PERIOD);
    if let Some(exponent) = periods.and_then(|periods| periods.checked_sub(2)) {
        next = next.saturating_add(U256::from(2).saturating_pow(U256::from(exponent)));
    }
    Ok(next.max(U256::from(DIFFICULTY_MIN)))
}
