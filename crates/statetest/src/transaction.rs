//! The transaction of one entry: a variant of the test's transaction, as revm takes it.
//!
//! Some tests are about transactions that no client can decode or accept in this form, so building one may end in its
//! refusal.

use k256::SecretKey;
use k256::elliptic_curve::sec1::ToEncodedPoint;
use residue_engine::revm::context::TxEnv;
use residue_engine::revm::context::either::Either;
use residue_engine::revm::context::transaction::{
    AccessList, AccessListItem, Authorization, SignedAuthorization, TransactionType,
};
use residue_engine::revm::primitives::{Address, TxKind, U256};

use crate::format::{AuthorizationParts, Indexes, TransactionParts};
use crate::quantity::{Number, Word};

/// What became of a variant.
#[derive(Debug)]
pub enum Built {
    /// A transaction to execute.
    Ready(Box<TxEnv>),
    /// One that every client refuses before it executes anything, and why.
    Refused(String),
    /// One that revm's transactions cannot express, and why.
    Unsupported(String),
}

/// A list of a test that an entry's index leads out of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("index {index} of {list:?}, which has {count}")]
pub struct OutOfList {
    /// The list.
    pub list: &'static str,
    /// The index.
    pub index: usize,
    /// What the list has.
    pub count: usize,
}

/// Why a transaction is not ready.
enum Not {
    Refused(String),
    Unsupported(String),
}

/// Whether `indexes` choose a variant.
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

/// Builds the variant that `indexes` choose, which [`check`] has found. `expects_exception`: whether the test is about its refusal, and then what
/// cannot be expressed is refused too.
pub fn build(parts: &TransactionParts, indexes: Indexes, chain_id: u64, expects_exception: bool) -> Built {
    let data = &parts.data[indexes.data].0;
    let gas_limit = parts.gas_limit[indexes.gas];
    let value = parts.value[indexes.value];
    let lists = parts.access_lists.as_deref().unwrap_or_default();
    let access_list = lists.get(indexes.data).and_then(Option::as_ref);
    let whole = || -> Result<TxEnv, Not> {
        let kind = kind(parts, access_list.is_some())?;
        let has_priority = kind as u8 >= TransactionType::Eip1559 as u8;
        let fees = [("gasPrice", parts.gas_price), ("maxFeePerGas", parts.max_fee_per_gas)];
        let of_kind = if has_priority { fees[1] } else { fees[0] };
        let (fee_name, fee) = [of_kind, fees[0], fees[1]].into_iter().find(|(_, fee)| fee.is_some()).unwrap_or(of_kind);
        let priority = parts.max_priority_fee_per_gas.map(|fee| price("maxPriorityFeePerGas", fee)).transpose()?;
        let blob_fee = parts.max_fee_per_blob_gas.map(|fee| price("maxFeePerBlobGas", fee)).transpose()?;
        let items = access_list.into_iter().flatten().map(|item| AccessListItem {
            address: item.address.0,
            storage_keys: item.storage_keys.iter().map(|key| key.b256()).collect(),
        });
        let hashes = parts.blob_versioned_hashes.iter().flatten();
        let authorizations = parts.authorization_list.iter().flatten().enumerate();
        Ok(TxEnv {
            tx_type: u8::from(kind),
            caller: sender(parts, expects_exception)?,
            gas_limit: fitting("gasLimit", gas_limit, 64)?,
            gas_price: price(fee_name, fee.unwrap_or_default())?,
            kind: parts.to.0.map_or(TxKind::Create, TxKind::Call),
            value: fitting("value", value, 256)?,
            data: data.clone(),
            nonce: fitting("nonce", parts.nonce, 64)?,
            chain_id: Some(parts.chain_id.map_or(Ok(chain_id), |id| fitting("chainId", id, 64))?),
            access_list: AccessList(items.collect()),
            gas_priority_fee: priority.filter(|_| has_priority),
            blob_hashes: hashes.map(|hash| hash.b256()).collect(),
            max_fee_per_blob_gas: blob_fee.unwrap_or_default(),
            authorization_list: authorizations
                .map(|(position, parts)| authorization(position, parts).map(Either::Left))
                .collect::<Result<_, _>>()?,
        })
    };
    match whole() {
        Ok(transaction) => Built::Ready(Box::new(transaction)),
        Err(Not::Unsupported(reason)) if !expects_exception => Built::Unsupported(reason),
        Err(Not::Refused(reason) | Not::Unsupported(reason)) => Built::Refused(reason),
    }
}

/// The account of a secret key.
pub fn address_of(secret_key: Word) -> Option<Address> {
    let key = SecretKey::from_slice(secret_key.b256().as_slice()).ok()?;
    let point = key.public_key().to_encoded_point(false);
    Some(Address::from_raw_public_key(&point.as_bytes()[1..]))
}

/// The kind that a test names, or that its fields belong to.
fn kind(parts: &TransactionParts, has_access_list: bool) -> Result<TransactionType, Not> {
    let has_blobs = parts.blob_versioned_hashes.as_ref().is_some_and(|hashes| !hashes.is_empty());
    let kind = match parts.kind {
        Some(number) => match number.fitting::<u8>().map(TransactionType::from) {
            None | Some(TransactionType::Custom) => {
                return Err(Not::Unsupported(format!("revm has no transactions of kind {number:?}")));
            }
            Some(kind) => kind,
        },
        None if parts.initcodes.is_some() => {
            return Err(Not::Unsupported("revm has no transactions with initcodes (EIP-7873)".to_owned()));
        }
        None if parts.authorization_list.is_some() => TransactionType::Eip7702,
        None if parts.max_fee_per_blob_gas.is_some() || has_blobs => TransactionType::Eip4844,
        None if parts.max_fee_per_gas.is_some() => TransactionType::Eip1559,
        None if has_access_list => TransactionType::Eip2930,
        None => TransactionType::Legacy,
    };
    if matches!(kind, TransactionType::Eip4844 | TransactionType::Eip7702) && parts.to.0.is_none() {
        return Err(Not::Refused(format!("a transaction of kind {} cannot create a contract", kind as u8)));
    }
    Ok(kind)
}

/// Who sends. The secret key stands for a signature: where a test expects an exception and has none, that is what is wrong.
fn sender(parts: &TransactionParts, expects_exception: bool) -> Result<Address, Not> {
    match (parts.sender, parts.secret_key) {
        (_, None) if expects_exception => {
            Err(Not::Refused("its signature is not valid: it has no secret key".to_owned()))
        }
        (Some(sender), _) => Ok(sender.0),
        (None, Some(key)) => {
            address_of(key).ok_or_else(|| Not::Refused(format!("{:#x} is no secret key of secp256k1", key.0)))
        }
        (None, None) => Err(Not::Unsupported("the test has neither a sender nor a secret key".to_owned())),
    }
}

/// A number that the encoding of transactions limits.
fn fitting<T: TryFrom<U256>>(name: &str, number: Number, bits: u32) -> Result<T, Not> {
    number.fitting().ok_or_else(|| Not::Refused(format!("{name} has more than {bits} bits")))
}

/// A price of gas. The encoding allows 256 bits, but revm takes 128.
fn price(name: &str, number: Number) -> Result<u128, Not> {
    let word: U256 = fitting(name, number, 256)?;
    u128::try_from(word)
        .map_err(|_| Not::Unsupported(format!("{name} has more than 128 bits, which is all that revm takes")))
}

fn authorization(position: usize, parts: &AuthorizationParts) -> Result<SignedAuthorization, Not> {
    let named = |name: &str| format!("{name} of authorization {position}");
    let inner = Authorization {
        chain_id: fitting(&named("chainId"), parts.chain_id, 256)?,
        address: parts.address.0,
        nonce: fitting(&named("nonce"), parts.nonce, 64)?,
    };
    let parity = fitting(&named("yParity"), parts.y_parity.or(parts.v).unwrap_or_default(), 8)?;
    let [r, s] = [fitting(&named("r"), parts.r, 256)?, fitting(&named("s"), parts.s, 256)?];
    Ok(SignedAuthorization::new_unchecked(inner, parity, r, s))
}
