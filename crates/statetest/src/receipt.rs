//! `receipt`: a test's expected receipt of its transaction, compared with that of the execution. Every field that is
//! there is compared but the hash of the block, which a state test has not.

use alloy_primitives::Bloom;
use alloy_rlp::Encodable;
use residue_engine::revm::context::TxEnv;
use residue_engine::revm::context::result::{ExecutionResult, HaltReason};
use residue_engine::revm::context_interface::{Block, Transaction};
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{B256, Log, U256};
use serde::de::{Error, IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::difference::Difference;
use crate::encoded;
use crate::execution::Setting;
use crate::quantity::{HexAddress, HexBytes, Number, Word, bytes_written, padded};

/// The receipt of a test; fields that are not there say nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Receipt {
    /// EIP-2718.
    #[serde(rename = "type")]
    kind: Option<Number>,
    transaction_hash: Option<Word>,
    transaction_index: Option<Number>,
    #[serde(alias = "succeeded", deserialize_with = "flag")]
    status: Option<Number>,
    /// Before Byzantium, the root of the state; empty from it on.
    #[serde(alias = "post_state", alias = "root")]
    post_state: Option<HexBytes>,
    cumulative_gas_used: Option<Number>,
    gas_used: Option<Number>,
    effective_gas_price: Option<Number>,
    blob_gas_used: Option<Number>,
    blob_gas_price: Option<Number>,
    contract_address: Option<HexAddress>,
    #[serde(alias = "logsBloom", alias = "logs_bloom")]
    bloom: Option<HexBytes>,
    logs: Option<Vec<ReceiptLog>>,
    rlp: Option<HexBytes>,
    block_number: Option<Number>,
    #[serde(rename = "blockHash")]
    _block_hash: Option<IgnoredAny>,
}

/// A log of a receipt.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ReceiptLog {
    address: Option<HexAddress>,
    topics: Option<Vec<Word>>,
    data: Option<HexBytes>,
    log_index: Option<Number>,
    transaction_hash: Option<Word>,
    transaction_index: Option<Number>,
    #[serde(deserialize_with = "flag")]
    removed: Option<Number>,
    block_number: Option<Number>,
    block_timestamp: Option<Number>,
    #[serde(rename = "blockHash")]
    _block_hash: Option<IgnoredAny>,
}

/// The execution, as a receipt has it.
struct Executed<'a> {
    setting: &'a Setting<'a>,
    result: &'a ExecutionResult<HaltReason>,
    /// Of the state afterwards.
    root: B256,
    /// That of the signed transaction, where the test has it.
    hash: Option<B256>,
    /// Gas of the transactions before it in its block.
    gas_before: u64,
}

/// Differences as they are found.
#[derive(Default)]
struct Differences(Vec<Difference>);

impl Receipt {
    /// Fields that say something else than was executed. `txbytes`: the signed transaction, empty where the test has none.
    pub fn differences(
        &self,
        setting: &Setting<'_>,
        result: &ExecutionResult<HaltReason>,
        root: B256,
        txbytes: &[u8],
    ) -> Vec<Difference> {
        let hash = (!txbytes.is_empty()).then(|| encoded::hash(txbytes));
        Executed { setting, result, root, hash, gas_before: 0 }.compared(self)
    }
}

/// The receipt of an execution, with the fields that execution-specs writes. `root`: that of the state afterwards, `txbytes`: the signed transaction,
/// `gas_before`: of the transactions before it in its block.
pub fn filled(
    setting: &Setting<'_>,
    result: &ExecutionResult<HaltReason>,
    root: B256,
    txbytes: &[u8],
    gas_before: u64,
) -> Value {
    let executed = Executed { setting, result, root, hash: None, gas_before };
    let tx = &setting.transaction;
    let logs = result.logs().iter().map(|log| {
        json!({ "address": bytes_written(log.address.as_slice()), "topics": log.topics(), "data": bytes_written(&log.data.data) })
    });
    json!({
        "transactionHash": encoded::hash(txbytes),
        "type": padded(U256::from(tx.tx_type)),
        "cumulativeGasUsed": padded(U256::from(executed.cumulative_gas())),
        "bloom": bytes_written(executed.bloom().as_slice()),
        "logs": logs.collect::<Vec<_>>(),
        "status": result.is_success(),
        "rlp": bytes_written(&executed.rlp(tx)),
    })
}

/// The encoding of the receipt of an execution from Byzantium on, as blocks have it.
pub fn encoded(setting: &Setting<'_>, result: &ExecutionResult<HaltReason>, gas_before: u64) -> Vec<u8> {
    Executed { setting, result, root: B256::ZERO, hash: None, gas_before }.rlp(&setting.transaction)
}

impl Executed<'_> {
    fn compared(&self, said: &Receipt) -> Vec<Difference> {
        let mut found = Differences::default();
        let (tx, block) = (&self.setting.transaction, &self.setting.block);
        let gas = self.result.tx_gas_used();
        found.number("type", said.kind, tx.tx_type.into());
        self.hash(&mut found, "transactionHash", said.transaction_hash);
        found.number("transactionIndex", said.transaction_index, 0);
        found.number("status", said.status, self.result.is_success().into());
        found.bytes("postState", said.post_state.as_ref().filter(|root| !root.0.is_empty()), self.root.as_slice());
        found.number("cumulativeGasUsed", said.cumulative_gas_used, gas.into());
        found.number("gasUsed", said.gas_used, gas.into());
        found.number("effectiveGasPrice", said.effective_gas_price, tx.effective_gas_price(block.basefee.into()));
        found.number("blobGasUsed", said.blob_gas_used, tx.total_blob_gas().into());
        let is_of_blobs = tx.total_blob_gas() > 0;
        let price = block.blob_gasprice().filter(|_| is_of_blobs).unwrap_or_default();
        found.number("blobGasPrice", said.blob_gas_price.filter(|_| is_of_blobs), price);
        if let Some(HexAddress(expected)) = said.contract_address {
            let got = self.result.created_address().unwrap_or_default();
            found.text("contractAddress", expected, got);
        }
        let bloom = self.bloom();
        found.bytes("bloom", said.bloom.as_ref().filter(|bloom| !bloom.0.is_empty()), bloom.as_slice());
        if let Some(logs) = &said.logs {
            self.logs(&mut found, logs);
        }
        found.bytes("rlp", said.rlp.as_ref(), &self.rlp(tx));
        self.block_number(&mut found, "blockNumber", said.block_number);
        found.0
    }

    fn logs(&self, found: &mut Differences, said: &[ReceiptLog]) {
        let logs = self.result.logs();
        if logs.len() != said.len() {
            found.text("logs: count", said.len(), logs.len());
        }
        for (position, (log, said)) in logs.iter().zip(said).enumerate() {
            let named = |name: &str| format!("logs[{position}].{name}");
            if let Some(HexAddress(expected)) = said.address {
                found.text(named("address"), expected, log.address);
            }
            if let Some(topics) = &said.topics {
                let expected: Vec<B256> = topics.iter().map(|topic| topic.b256()).collect();
                if expected != log.topics() {
                    found.add(named("topics"), format!("{:?}", log.topics()), format!("{expected:?}"));
                }
            }
            found.bytes(named("data"), said.data.as_ref(), &log.data.data);
            found.number(named("logIndex"), said.log_index, position as u128); // Widens.
            found.number(named("transactionIndex"), said.transaction_index, 0);
            found.number(named("removed"), said.removed, 0);
            self.hash(found, named("transactionHash"), said.transaction_hash);
            self.block_number(found, named("blockNumber"), said.block_number);
            let time = self.setting.block.timestamp.saturating_to();
            found.number(named("blockTimestamp"), said.block_timestamp, time);
        }
    }

    fn block_number(&self, found: &mut Differences, field: impl Into<String>, said: Option<Number>) {
        found.number(field, said, self.setting.block.number.saturating_to());
    }

    /// A hash that cannot be had is said, so that none passes for having been compared.
    fn hash(&self, found: &mut Differences, field: impl Into<String>, said: Option<Word>) {
        match (said.map(Word::b256), self.hash) {
            (Some(expected), Some(got)) => found.text(field, expected, got),
            (Some(expected), None) => {
                found.add(field, "of no signed transaction (the test has no txbytes)".to_owned(), expected.to_string());
            }
            (None, _) => {}
        }
    }

    fn cumulative_gas(&self) -> u64 {
        self.gas_before + self.result.tx_gas_used()
    }

    fn bloom(&self) -> Bloom {
        let mut bloom = Bloom::ZERO;
        self.result.logs().iter().for_each(|log| bloom.accrue_log(log));
        bloom
    }

    /// EIP-658 from Byzantium on, EIP-2718.
    fn rlp(&self, tx: &TxEnv) -> Vec<u8> {
        let mut payload = Vec::new();
        match self.setting.cfg.spec.is_enabled_in(SpecId::BYZANTIUM) {
            true => self.result.is_success().encode(&mut payload),
            false => self.root.encode(&mut payload),
        }
        self.cumulative_gas().encode(&mut payload);
        self.bloom().encode(&mut payload);
        alloy_rlp::encode_list::<Log, Log>(self.result.logs(), &mut payload);
        encoded::list(tx.tx_type, &payload)
    }
}

impl Differences {
    fn add(&mut self, field: impl Into<String>, got: String, expected: String) {
        self.0.push(Difference::new(format!("receipt.{}", field.into()), got, expected));
    }

    fn text<T: PartialEq + ToString>(&mut self, field: impl Into<String>, expected: T, got: T) {
        if got != expected {
            self.add(field, got.to_string(), expected.to_string());
        }
    }

    fn number(&mut self, field: impl Into<String>, said: Option<Number>, got: u128) {
        let Some(expected) = said else { return };
        if expected.fitting() != Some(got) {
            let expected = match expected {
                Number::Word(expected) => format!("{expected:#x}"),
                Number::TooLarge => "a number of more than 256 bits".to_owned(),
            };
            self.add(field, format!("{got:#x}"), expected);
        }
    }

    fn bytes(&mut self, field: impl Into<String>, said: Option<&HexBytes>, got: &[u8]) {
        let Some(HexBytes(expected)) = said else { return };
        if expected[..] != *got {
            self.add(field, format!("0x{}", hex::encode(got)), expected.to_string());
        }
    }
}

/// A status, as true or false or as a number.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Number>, D::Error> {
    struct Flag;
    impl Visitor<'_> for Flag {
        type Value = Option<Number>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("true, false, 0 or 1")
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_bool<E: Error>(self, is_set: bool) -> Result<Self::Value, E> {
            Ok(Some(u64::from(is_set).into()))
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(number.into()))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            text.parse().map(Some).map_err(E::custom)
        }
    }
    deserializer.deserialize_any(Flag)
}
