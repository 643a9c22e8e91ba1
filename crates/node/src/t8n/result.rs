//! Result of a block, as EELS writes it (`ethereum_spec_tools/evm_tools/t8n/t8n_types.py`, `Result.to_json`). A
//! transaction that was rejected after it could be read has its place in the trie of the transactions there, and none
//! in that of the receipts.

use alloy_consensus::Eip658Value;
use alloy_consensus::TxReceipt;
use alloy_consensus::proofs::calculate_withdrawals_root;
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{B256, Bloom, Log, hex, keccak256};
use alloy_trie::{HashBuilder, Nibbles};
use serde_json::{Map, Value, json};

use super::env::Env;
use super::execute::{Done, gas_used};
use super::forks::Fork;

impl Done {
    /// `result.json`.
    pub fn json(&self, fork: &Fork, env: &Env) -> Value {
        let header = &env.header;
        let logs: Vec<&Log> = self.receipts.iter().flat_map(|(_, receipt)| receipt.logs()).collect();
        let bloom = logs.iter().fold(Bloom::ZERO, |mut bloom, log| {
            bloom.accrue_log(log);
            bloom
        });
        let mut all = Map::new();
        let mut set = |name: &str, value: Value| all.insert(name.to_owned(), value);
        let number = |number: Option<String>| number.map_or(Value::Null, Value::String);
        set("stateRoot", text(self.state_root));
        set("txRoot", text(root(self.tried.iter().enumerate().map(|(at, tx)| (at, tx.encoded_2718())))));
        let receipts = self.receipts.iter().map(|(at, receipt)| (*at, receipt.encoded_2718()));
        set("receiptsRoot", text(root(receipts)));
        if let Some(withdrawals) = &env.withdrawals {
            set("withdrawalsRoot", text(calculate_withdrawals_root(withdrawals)));
        }
        set("logsHash", text(keccak256(alloy_rlp::encode(&logs))));
        set("logsBloom", text(bloom));
        set("gasUsed", format!("{:#x}", gas_used(self)).into());
        let difficulty = (!header.difficulty.is_zero()).then(|| format!("{:#x}", header.difficulty));
        set("currentDifficulty", number(difficulty));
        let base_fee = header.base_fee_per_gas.filter(|fee| *fee > 0);
        set("currentBaseFee", number(base_fee.map(|fee| format!("{fee:#x}"))));
        if let Some(excess) = header.excess_blob_gas {
            set("currentExcessBlobGas", format!("{excess:#x}").into());
        }
        let rejected = self.rejected.iter().map(|(at, reason)| json!({ "index": at, "error": reason }));
        set("rejected", rejected.collect());
        set("receipts", self.receipts.iter().map(|(at, _)| self.receipt(*at)).collect());
        if let (Some(requests), true) = (&self.requests, fork.has("prague")) {
            set("requestsHash", text(requests.requests_hash()));
            set("requests", requests.iter().map(text).collect());
        }
        if let Some(reason) = &self.exception {
            set("blockException", reason.clone().into());
        }
        if let Some(accesses) = &self.accesses {
            let encoded = alloy_rlp::encode(accesses);
            set("blockAccessList", text(&encoded));
            set("blockAccessListHash", text(keccak256(&encoded)));
        }
        Value::Object(all)
    }

    fn receipt(&self, at: usize) -> Value {
        let hash = self.tried.get(at).map(|tx| *tx.tx_hash()).unwrap_or_default();
        let Some((_, receipt)) = self.receipts.iter().find(|(place, _)| *place == at) else { return Value::Null };
        let log = |log: &Log| {
            json!({
                "address": text(log.address),
                "topics": log.topics().iter().map(text).collect::<Vec<_>>(),
                "data": text(&log.data.data),
            })
        };
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("transactionHash", text(hash));
        match receipt.status_or_post_state() {
            Eip658Value::Eip658(succeeded) => set("succeeded", succeeded.into()),
            Eip658Value::PostState(root) => set("post_state", text(root)),
        };
        set("cumulativeGasUsed", format!("{:#x}", receipt.cumulative_gas_used()).into());
        set("bloom", text(receipt.logs_bloom()));
        set("logs", receipt.logs().iter().map(log).collect());
        Value::Object(fields)
    }
}

fn text(bytes: impl AsRef<[u8]>) -> Value {
    hex::encode_prefixed(bytes).into()
}

/// The root of a trie of items by their places, which need not follow on each other.
fn root(items: impl Iterator<Item = (usize, Vec<u8>)>) -> B256 {
    let mut leaves: Vec<_> = items.map(|(at, item)| (Nibbles::unpack(alloy_rlp::encode(at)), item)).collect();
    leaves.sort_unstable_by_key(|(path, _)| *path);
    let mut builder = HashBuilder::default();
    for (path, item) in leaves {
        builder.add_leaf(path, &item);
    }
    builder.root()
}
