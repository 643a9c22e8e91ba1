//! A general state test as its file has it: the format of ethereum/tests, `docs/test_formats/state_test.md` of
//! execution-spec-tests. Fields that older fillings leave out have their default. An entry, a transaction or an account with a field of another name
//! is refused: what it says would not be compared.

use std::collections::BTreeMap;

use residue_isa::Revision;
use serde::Deserialize;
use serde_json::Value;

use crate::exception::{self, Expected};
use crate::json::unique;
use crate::quantity::{HexAddress, HexBytes, Number, Target, Word};
use crate::receipt::Receipt;

/// One test: a block, a state before it, a transaction in several variants, and what each gives under each fork.
#[derive(Debug, Deserialize)]
pub struct Unit {
    /// About the test.
    #[serde(default, rename = "_info")]
    pub info: Info,
    /// The block.
    pub env: Env,
    /// The accounts before the transaction.
    #[serde(deserialize_with = "unique")]
    pub pre: Accounts,
    /// The transaction with its variants.
    pub transaction: TransactionParts,
    /// Expected results, by the name of the fork.
    #[serde(deserialize_with = "unique")]
    pub post: BTreeMap<String, Vec<Post>>,
    /// Differences from mainnet.
    #[serde(default)]
    pub config: Config,
}

/// Accounts by address.
pub type Accounts = BTreeMap<HexAddress, AccountParts>;

/// The block.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Env {
    /// Chain id, if given here and not in `config`.
    #[serde(rename = "currentChainID", alias = "currentChainId")]
    pub current_chain_id: Option<Number>,
    /// Recipient of fees.
    pub current_coinbase: HexAddress,
    /// Before the merge.
    #[serde(default)]
    pub current_difficulty: Option<Word>,
    /// The gas limit of the block.
    pub current_gas_limit: Number,
    /// The number of the block.
    pub current_number: Word,
    /// Its time.
    pub current_timestamp: Word,
    /// From London on (EIP-1559).
    pub current_base_fee: Option<Number>,
    /// From the merge on (EIP-4399).
    pub current_random: Option<Word>,
    /// From Cancun on (EIP-4844).
    pub current_excess_blob_gas: Option<Number>,
    /// Older fillings say what the excess follows from.
    pub parent_blob_gas_used: Option<Number>,
    /// As above.
    pub parent_excess_blob_gas: Option<Number>,
    /// From Amsterdam on (EIP-7843).
    pub slot_number: Option<Number>,
}

/// An account.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountParts {
    /// In wei.
    #[serde(default)]
    pub balance: Word,
    /// Code, or a delegation (EIP-7702).
    #[serde(default)]
    pub code: HexBytes,
    /// Transactions sent, or contracts created.
    #[serde(default)]
    pub nonce: Number,
    /// Storage by key.
    #[serde(default, deserialize_with = "unique")]
    pub storage: BTreeMap<Word, Word>,
}

/// The transaction: what all variants share, and lists that `indexes` choose from.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransactionParts {
    /// The kind, where it does not follow from the other fields.
    #[serde(rename = "type")]
    pub kind: Option<Number>,
    /// That of the network if it is not there.
    pub chain_id: Option<Number>,
    /// Calldata or initcode.
    pub data: Vec<HexBytes>,
    /// Gas limits.
    pub gas_limit: Vec<Number>,
    /// Up to EIP-2930.
    pub gas_price: Option<Number>,
    /// The sender's nonce.
    #[serde(default)]
    pub nonce: Number,
    /// Stands for a valid signature.
    pub secret_key: Option<Word>,
    /// That of the secret key, where it is said.
    pub sender: Option<HexAddress>,
    /// Nothing creates a contract.
    #[serde(default, deserialize_with = "absent_if_null")]
    pub to: Target,
    /// Values sent, in wei.
    pub value: Vec<Number>,
    /// EIP-1559.
    pub max_fee_per_gas: Option<Number>,
    /// EIP-1559.
    pub max_priority_fee_per_gas: Option<Number>,
    /// EIP-2930: one for each of `data`.
    #[serde(default)]
    pub access_lists: Option<Vec<Option<Vec<AccessListParts>>>>,
    /// EIP-7702.
    pub authorization_list: Option<Vec<AuthorizationParts>>,
    /// EIP-4844.
    pub blob_versioned_hashes: Option<Vec<Word>>,
    /// EIP-4844, under the name of execution-specs or that of geth.
    #[serde(alias = "blobGasFeeCap")]
    pub max_fee_per_blob_gas: Option<Number>,
    /// EIP-7873, which no fork has.
    pub initcodes: Option<Value>,
    /// EIP-8141, which no fork has.
    pub frames: Option<Value>,
    /// EIP-8141.
    pub signatures: Option<Value>,
}

/// An account of an access list with its keys.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessListParts {
    /// The account.
    pub address: HexAddress,
    /// Its keys.
    #[serde(default)]
    pub storage_keys: Vec<Word>,
}

/// An authorization to run the code of another account.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizationParts {
    /// Zero for every chain.
    pub chain_id: Number,
    /// Whose code.
    pub address: HexAddress,
    /// The nonce of who signs.
    pub nonce: Number,
    /// Parity, in newer fillings beside `v`.
    pub y_parity: Option<Number>,
    /// Parity.
    pub v: Option<Number>,
    /// Of the signature.
    pub r: Number,
    /// Of the signature.
    pub s: Number,
}

/// Expected result of one variant.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Post {
    /// The variant.
    pub indexes: Indexes,
    /// The root of the state afterwards. Zero, which is no root, says nothing of a transaction that is refused.
    pub hash: Word,
    /// The hash of the logs.
    pub logs: Word,
    /// Why the transaction is refused, if it is.
    #[serde(default, deserialize_with = "exception::optional")]
    pub expect_exception: Option<Expected>,
    /// The accounts afterwards, all of them, in some fillings.
    #[serde(default, alias = "postState", deserialize_with = "accounts")]
    pub state: Option<Accounts>,
    /// The signed transaction; older fillings have none, and some an empty one.
    pub txbytes: Option<HexBytes>,
    /// The receipt of the transaction, in newer fillings.
    pub receipt: Option<Receipt>,
}

/// Positions in the lists of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Indexes {
    /// In `data`.
    pub data: usize,
    /// In `gasLimit`.
    pub gas: usize,
    /// In `value`.
    pub value: usize,
}

/// Differences from mainnet.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The network.
    #[serde(alias = "chainId")]
    pub chainid: Option<Number>,
    /// Blobs by the name of the fork.
    #[serde(default)]
    pub blob_schedule: Option<BTreeMap<String, BlobParts>>,
}

/// `_info` of a test, of which one field is a rule here.
#[derive(Debug, Default, Deserialize)]
pub struct Info {
    /// The revision whose field instructions the EVM of the test has, beside those of the fork: ours, in no test of others.
    #[serde(default, deserialize_with = "revision")]
    pub revision: Option<Revision>,
}

/// Number of blobs of a block, and the update of their price (EIP-7840).
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlobParts {
    /// At most.
    pub max: Number,
    /// Aimed at.
    #[serde(default)]
    pub target: Number,
    /// Of the base fee.
    pub base_fee_update_fraction: Number,
}

impl Post {
    /// The exception by name, if one is expected.
    pub fn exception(&self) -> Option<String> {
        self.expect_exception.as_ref().map(Expected::to_string)
    }

    /// The signed transaction; empty where there is none.
    pub fn signed(&self) -> &[u8] {
        self.txbytes.as_ref().map_or(&[], |bytes| &bytes.0)
    }
}

fn accounts<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Accounts>, D::Error> {
    #[derive(Deserialize)]
    struct Listed(#[serde(deserialize_with = "unique")] Accounts);
    Ok(Option::<Listed>::deserialize(deserializer)?.map(|Listed(accounts)| accounts))
}

fn revision<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Revision>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map(|name| name.parse().map_err(serde::de::Error::custom)).transpose()
}

fn absent_if_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
