//! The transaction of one entry: a variant of the test's transaction, as revm takes it.
//!
//! Some tests are about transactions that no client can decode or accept in this form, so building one may end in its
//! refusal.

use k256::SecretKey;
use k256::elliptic_curve::sec1::ToEncodedPoint;
use residue_engine::revm::context::TxEnv;
use residue_engine::revm::context::either::Either;
use residue_engine::revm::context::result::InvalidTransaction;
use residue_engine::revm::context::transaction::{
    AccessList, AccessListItem, Authorization, SignedAuthorization, TransactionType,
};
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{Address, B256, TxKind, U256};

use crate::difference::Difference;
use crate::exception::{Expected, FUNDS, PRODUCT_OVERFLOW, Refusal, SIGNATURE};
use crate::fork_rules::GAS_PER_BLOB;
use crate::format::{AuthorizationParts, Indexes, TransactionParts};
use crate::quantity::{HexAddress, Number, Word};
use crate::state::State;

/// Result of building a variant.
#[derive(Debug)]
pub enum Built {
    /// A transaction to execute.
    Ready(Box<TxEnv>),
    /// One that every client refuses before it executes anything, and why.
    Refused(Refusal),
    /// One that revm's transactions cannot express, and why.
    Unsupported(String),
    /// Two of its fields contradict each other.
    Contradiction(Difference),
}

/// A variant to build, and its purpose.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The variant.
    pub indexes: Indexes,
    /// The network.
    pub chain_id: u64,
    /// The fork.
    pub spec: SpecId,
    /// The refusals that the test is about, if it is about one.
    pub expected: Option<&'a Expected>,
}

/// A list of a test that an entry's index leads out of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("index {index} of {list:?}, which has {count}")]
pub struct OutOfList {
    /// The list.
    pub list: &'static str,
    /// The index.
    pub index: usize,
    /// Length of the list.
    pub count: usize,
}

/// Why a transaction is not ready.
enum Not {
    Refused(Refusal),
    Unsupported(String),
    Contradiction(Difference),
}

/// Errors if `indexes` choose no variant.
pub fn check(parts: &TransactionParts, indexes: Indexes) -> Result<(), OutOfList> {
    let lists = [
        ("data", indexes.data, parts.data.len()),
        ("gasLimit", indexes.gas, parts.gas_limit.len()),
        ("value", indexes.value, parts.value.len()),
    ];
    match lists.into_iter().find(|(_, index, count)| index >= count) {
        Some((list, index, count)) => Err(OutOfList { list, index, count }),
        None => Ok(()),
    }
}

/// Builds the variant that is wanted, which [`check`] has found. Where the test is about a refusal, what cannot be expressed is refused too.
/// `state`: the accounts before, as prices beyond those of revm are refused where the sender cannot pay them.
pub fn build(parts: &TransactionParts, wanted: &Wanted<'_>, state: &State) -> Built {
    match whole(parts, wanted, state) {
        Ok(transaction) => Built::Ready(Box::new(transaction)),
        Err(Not::Unsupported(reason)) => Built::Unsupported(reason),
        Err(Not::Refused(refusal)) => Built::Refused(refusal),
        Err(Not::Contradiction(difference)) => Built::Contradiction(difference),
    }
}

fn whole(parts: &TransactionParts, wanted: &Wanted<'_>, state: &State) -> Result<TxEnv, Not> {
    let indexes = wanted.indexes;
    let lists = parts.access_lists.as_deref().unwrap_or_default();
    let access_list = lists.get(indexes.data).and_then(Option::as_ref);
    let kind = kind(parts, wanted, access_list.is_some())?;
    let has_priority = kind as u8 >= TransactionType::Eip1559 as u8;
    let fees = [("gasPrice", parts.gas_price), ("maxFeePerGas", parts.max_fee_per_gas)];
    let of_kind = if has_priority { fees[1] } else { fees[0] };
    let (fee_name, fee) = [of_kind, fees[0], fees[1]].into_iter().find(|(_, fee)| fee.is_some()).unwrap_or(of_kind);
    let caller = sender(parts, wanted)?;
    let gas_limit: u64 = fitting("gasLimit", parts.gas_limit[indexes.gas], 64, &["GASLIMIT_OVERFLOW"])?;
    let value: U256 = fitting("value", parts.value[indexes.value], 256, &["VALUE_OVERFLOW"])?;
    let hashes: Vec<B256> = parts.blob_versioned_hashes.iter().flatten().map(|hash| hash.b256()).collect();
    let cost = |gas: u64, price: U256| price.checked_mul(U256::from(gas))?.checked_add(value);
    let balance = state.balance(caller);
    let price = |name: &str, number: Number, gas: u64, overflow: &[&'static str]| -> Result<u128, Not> {
        let word: U256 = fitting(name, number, 256, overflow)?;
        u128::try_from(word).map_err(|_| match cost(gas, word) {
            None => refused(format!("{name} times {gas} gas has more than 256 bits"), PRODUCT_OVERFLOW),
            Some(cost) if cost > balance => refused(format!("lack of funds ({balance}) for max fee ({cost})"), FUNDS),
            Some(_) => Not::Unsupported(format!("{name} has more than 128 bits, which is all that revm takes")),
        })
    };
    let gas_price = price(fee_name, fee.unwrap_or_default(), gas_limit, &["GASPRICE_OVERFLOW"])?;
    let priority =
        match parts.max_priority_fee_per_gas.filter(|_| has_priority) {
            Some(fee) => {
                let fee: U256 = fitting("maxPriorityFeePerGas", fee, 256, &["PRIORITY_OVERFLOW"])?;
                Some(u128::try_from(fee).map_err(|_| {
                    Not::Refused(Refusal::of(&InvalidTransaction::PriorityFeeGreaterThanMaxFee, u64::MAX))
                })?)
            }
            None => None,
        };
    let blob_gas = u64::try_from(hashes.len()).unwrap_or(u64::MAX).saturating_mul(GAS_PER_BLOB);
    let blob_fee = parts.max_fee_per_blob_gas.unwrap_or_default();
    let items = access_list.into_iter().flatten().map(|item| AccessListItem {
        address: item.address.0,
        storage_keys: item.storage_keys.iter().map(|key| key.b256()).collect(),
    });
    let authorizations = parts.authorization_list.iter().flatten().enumerate();
    let chain_id = |id| fitting("chainId", id, 64, &["INVALID_CHAINID"]);
    Ok(TxEnv {
        tx_type: u8::from(kind),
        caller,
        gas_limit,
        gas_price,
        kind: parts.to.0.map_or(TxKind::Create, TxKind::Call),
        value,
        data: parts.data[indexes.data].0.clone(),
        nonce: fitting("nonce", parts.nonce, 64, &["NONCE_OVERFLOW", "NONCE_TOO_BIG"])?,
        chain_id: Some(parts.chain_id.map_or(Ok(wanted.chain_id), chain_id)?),
        access_list: AccessList(items.collect()),
        gas_priority_fee: priority,
        blob_hashes: hashes,
        max_fee_per_blob_gas: price("maxFeePerBlobGas", blob_fee, blob_gas, &["GASPRICE_OVERFLOW"])?,
        authorization_list: authorizations
            .map(|(position, parts)| authorization(position, parts).map(Either::Left))
            .collect::<Result<_, _>>()?,
    })
}

/// The secret key that a number is, if it is one.
pub fn secret_key_of(number: Word) -> Option<SecretKey> {
    SecretKey::from_slice(number.b256().as_slice()).ok()
}

/// The account of a secret key.
pub fn address_of(secret_key: Word) -> Option<Address> {
    let point = secret_key_of(secret_key)?.public_key().to_encoded_point(false);
    Some(Address::from_raw_public_key(&point.as_bytes()[1..]))
}

/// The kind that a test names, or that its fields belong to.
fn kind(parts: &TransactionParts, wanted: &Wanted<'_>, has_access_list: bool) -> Result<TransactionType, Not> {
    let has_blobs = parts.blob_versioned_hashes.as_ref().is_some_and(|hashes| !hashes.is_empty());
    let unknown = |reason: String| match wanted.expected {
        Some(_) => refused(reason, &["TYPE_NOT_SUPPORTED", "TYPE_6_TX_PRE_FORK"]),
        None => Not::Unsupported(reason),
    };
    let kind = match parts.kind {
        Some(number) => match number.fitting::<u8>().map(TransactionType::from) {
            None | Some(TransactionType::Custom) => {
                return Err(unknown(format!("revm has no transactions of kind {number:?}")));
            }
            Some(kind) => kind,
        },
        None if parts.initcodes.is_some() => {
            return Err(unknown("revm has no transactions with initcodes (EIP-7873)".to_owned()));
        }
        None if parts.frames.is_some() || parts.signatures.is_some() => {
            return Err(unknown("revm has no transactions with frames (EIP-8141)".to_owned()));
        }
        None if parts.authorization_list.is_some() => TransactionType::Eip7702,
        None if parts.max_fee_per_blob_gas.is_some() || has_blobs => TransactionType::Eip4844,
        None if parts.max_fee_per_gas.is_some() => TransactionType::Eip1559,
        None if has_access_list => TransactionType::Eip2930,
        None => TransactionType::Legacy,
    };
    if parts.to.0.is_some() {
        return Ok(kind);
    }
    let (since, too_early, name) = match kind {
        TransactionType::Eip4844 => {
            (SpecId::CANCUN, InvalidTransaction::Eip4844NotSupported, "TYPE_3_TX_CONTRACT_CREATION")
        }
        TransactionType::Eip7702 => {
            (SpecId::PRAGUE, InvalidTransaction::Eip7702NotSupported, "TYPE_4_TX_CONTRACT_CREATION")
        }
        _ => return Ok(kind),
    };
    match wanted.spec.is_enabled_in(since) {
        true => Err(refused(format!("a transaction of kind {} cannot create a contract", kind as u8), &[name])),
        false => Err(Not::Refused(Refusal::of(&too_early, u64::MAX))),
    }
}

/// The sender. The secret key stands for a signature: where a test is about a signature and has none, that is what is wrong.
fn sender(parts: &TransactionParts, wanted: &Wanted<'_>) -> Result<Address, Not> {
    let of_key = |key: Word| {
        address_of(key).ok_or_else(|| refused(format!("{:#x} is no secret key of secp256k1", key.0), SIGNATURE))
    };
    let is_about_signature = wanted.expected.is_some_and(Expected::is_about_signature);
    match (parts.sender, parts.secret_key) {
        (sender, None) if is_about_signature || (sender.is_none() && wanted.expected.is_some()) => {
            Err(refused("its signature is not valid: it has no secret key".to_owned(), SIGNATURE))
        }
        (Some(HexAddress(sender)), None) => Ok(sender),
        (Some(HexAddress(sender)), Some(key)) => match of_key(key)? {
            of_key if of_key == sender => Ok(sender),
            of_key => {
                let (got, expected) = (of_key.to_string(), sender.to_string());
                Err(Not::Contradiction(Difference::new("transaction.sender: secretKey is that of", got, expected)))
            }
        },
        (None, Some(key)) => of_key(key),
        (None, None) => Err(Not::Unsupported("the test has neither a sender nor a secret key".to_owned())),
    }
}

fn refused(reason: String, names: &[&'static str]) -> Not {
    Not::Refused(Refusal::new(reason, names))
}

/// A number that the encoding of transactions limits.
fn fitting<T: TryFrom<U256>>(name: &str, number: Number, bits: u32, names: &[&'static str]) -> Result<T, Not> {
    number.fitting().ok_or_else(|| refused(format!("{name} has more than {bits} bits"), names))
}

fn authorization(position: usize, parts: &AuthorizationParts) -> Result<SignedAuthorization, Not> {
    const FORMAT: &[&str] = &["TYPE_4_INVALID_AUTHORIZATION_FORMAT"];
    let named = |name: &str| format!("{name} of authorization {position}");
    let inner = Authorization {
        chain_id: fitting(&named("chainId"), parts.chain_id, 256, FORMAT)?,
        address: parts.address.0,
        nonce: fitting(&named("nonce"), parts.nonce, 64, FORMAT)?,
    };
    let parity = fitting(&named("yParity"), parts.y_parity.or(parts.v).unwrap_or_default(), 8, FORMAT)?;
    let [r, s] = [("r", parts.r), ("s", parts.s)].map(|(name, part)| fitting(&named(name), part, 256, FORMAT));
    Ok(SignedAuthorization::new_unchecked(inner, parity, r?, s?))
}
