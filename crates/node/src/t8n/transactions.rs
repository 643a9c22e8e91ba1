//! Transactions: objects, signed or with the secret key that is to sign them, or RLP. One that cannot be read is rejected, as a client that gets
//! it in a block would.

use alloy_consensus::transaction::{Recovered, SignerRecoverable};
use alloy_consensus::{SignableTransaction, TxEnvelope, TypedTransaction};
use alloy_eips::eip2718::{Decodable2718, Encodable2718};
use alloy_primitives::{B256, Bytes, Signature, TxKind, U256, hex};
use alloy_rlp::{Encodable, Header as RlpHeader};
use alloy_rpc_types_eth::TransactionRequest;
use anyhow::{Context, Result, bail};
use k256::ecdsa::SigningKey;
use serde_json::{Map, Value, json};

use super::forks::Fork;
use super::json::Fields;
use crate::chain::Sent;

/// A transaction that was read, or why not.
pub type Given = Result<TxEnvelope, String>;

/// The transactions of a file. `knows_chains`: whether signatures may say their chain (EIP-155), as they do if nothing else is asked for.
pub fn read(given: &Value, chain_id: u64, knows_chains: bool) -> Result<Vec<Given>> {
    let reason = |error: anyhow::Error| format!("{error:#}");
    match given {
        Value::Null => Ok(Vec::new()),
        Value::Array(all) => Ok(all.iter().map(|tx| of_object(tx, chain_id, knows_chains).map_err(reason)).collect()),
        Value::String(text) => {
            let bytes: Bytes = text.parse().context("the text is not hexadecimal")?;
            let rest = &mut bytes.as_ref();
            let list = RlpHeader::decode_bytes(rest, true).context("the text is no list of RLP")?;
            let mut items = list;
            let mut read = Vec::new();
            while !items.is_empty() {
                read.push(of_rlp(&mut items)?);
            }
            Ok(read)
        }
        other => bail!("{other} is neither a list nor a text of RLP"),
    }
}

/// One item: a list, or a string that holds the type and a list.
fn of_rlp(items: &mut &[u8]) -> Result<Given> {
    let mut after = *items;
    let header = RlpHeader::decode(&mut after).context("an item is no RLP")?;
    let length = items.len() - after.len() + header.payload_length;
    let item = items.get(..length).context("an item is longer than the list")?;
    *items = &items[length..];
    let mut encoded = if header.list { item } else { &after[..header.payload_length] };
    Ok(TxEnvelope::decode_2718(&mut encoded).map_err(|error| error.to_string()))
}

/// RLP of all that could be read.
pub fn body(given: &[Given]) -> Value {
    let mut payload = Vec::new();
    for tx in given.iter().flatten() {
        match tx {
            TxEnvelope::Legacy(tx) => tx.rlp_encode(&mut payload),
            typed => Bytes::from(typed.encoded_2718()).encode(&mut payload),
        }
    }
    let mut list = Vec::new();
    RlpHeader { list: true, payload_length: payload.len() }.encode(&mut list);
    list.extend(payload);
    hex::encode_prefixed(list).into()
}

/// With the sender that its signature says, under the rules of a fork: from Homestead on the smaller s alone is right (EIP-2), and before
/// Spurious Dragon no signature says a chain (EIP-155).
pub fn recovered(tx: &TxEnvelope, fork: &Fork) -> Result<Sent, String> {
    if let (TxEnvelope::Legacy(tx), false) = (tx, fork.has("eip158"))
        && let Some(chain_id) = tx.tx().chain_id
    {
        return Err(format!("its signature is for chain {chain_id} (EIP-155), which the fork does not know"));
    }
    let sender = if fork.has("homestead") { tx.recover_signer() } else { tx.recover_signer_unchecked() };
    let sender = sender.map_err(|error| error.to_string())?;
    Ok(Recovered::new_unchecked(tx.clone(), sender))
}

fn of_object(given: &Value, chain_id: u64, knows_chains: bool) -> Result<TxEnvelope> {
    let fields = Fields::of(given)?;
    let (v, r, s) = (fields.word("v")?, fields.word("r")?, fields.word("s")?);
    let v = v.or(fields.word("yParity")?).unwrap_or_default();
    let (r, s) = (r.unwrap_or_default(), s.unwrap_or_default());
    let is_unsigned = v.is_zero() && r.is_zero() && s.is_zero();
    // EIP-155: 27 and 28 are of signatures that say nothing of the chain.
    let is_protected = match is_unsigned {
        true => fields.find("protected").and_then(Value::as_bool).unwrap_or(true) && knows_chains,
        false => v >= U256::from(35),
    };
    let typed = typed(fields, chain_id, is_protected)?;
    if is_unsigned && let Some(secret) = fields.hash("secretKey")? {
        return signed(typed, secret);
    }
    let is_odd = match typed {
        TypedTransaction::Legacy(_) if is_protected => !v.bit(0),
        TypedTransaction::Legacy(_) if v == U256::from(27) || v == U256::from(28) => v == U256::from(28),
        TypedTransaction::Legacy(_) => bail!("v {v} is none of a signature"),
        _ if v > U256::ONE => bail!("v {v} is no parity"),
        _ => v == U256::ONE,
    };
    if let (TypedTransaction::Legacy(_), true) = (&typed, is_protected) {
        let signed_for = (v - U256::from(35)) >> 1;
        if signed_for != U256::from(chain_id) {
            bail!("v {v} is of chain {signed_for}, not {chain_id}");
        }
    }
    Ok(envelope(typed, Signature::new(r, s, is_odd)))
}

/// Transaction to sign. The fields determine its type, as in EELS.
fn typed(fields: Fields<'_>, chain_id: u64, is_protected: bool) -> Result<TypedTransaction> {
    let (kind, object) = of_type(fields, chain_id)?;
    let mut request: TransactionRequest = serde_json::from_value(Value::Object(object))?;
    request.transaction_type = Some(kind);
    if kind < 3 {
        request.to.get_or_insert(TxKind::Create);
    }
    let typed = match kind {
        0 => request.build_legacy().map(|mut tx| {
            tx.chain_id = is_protected.then_some(chain_id);
            TypedTransaction::Legacy(tx)
        }),
        1 => request.build_2930().map(TypedTransaction::Eip2930),
        2 => request.build_1559().map(TypedTransaction::Eip1559),
        3 => request.build_4844_without_sidecar().map(|tx| TypedTransaction::Eip4844(tx.into())),
        _ => request.build_7702().map(TypedTransaction::Eip7702),
    };
    typed.map_err(|error| anyhow::anyhow!("{error}"))
}

/// The type, and the fields that a transaction of it has, as alloy reads them.
fn of_type(fields: Fields<'_>, chain_id: u64) -> Result<(u8, Map<String, Value>)> {
    let mut object = Map::new();
    let names = [
        "nonce",
        "gas",
        "gasPrice",
        "maxFeePerGas",
        "maxPriorityFeePerGas",
        "maxFeePerBlobGas",
        "value",
        "accessList",
        "blobVersionedHashes",
        "chainId",
        "to",
    ];
    for name in names {
        // Values of no digits are zero; no address is a creation.
        match fields.find(name) {
            Some(Value::String(text)) if text.is_empty() || (text == "0x" && name == "to") => {}
            Some(Value::String(text)) if text == "0x" => {
                object.insert(name.to_owned(), "0x0".into());
            }
            Some(value) => {
                object.insert(name.to_owned(), value.clone());
            }
            None => {}
        }
    }
    let input = fields.find("input").or(fields.find("data")).cloned().unwrap_or("0x".into());
    object.insert("input".to_owned(), input);
    object.entry("chainId").or_insert(json!(format!("{chain_id:#x}")));
    let mut authorizations = fields.find("authorizationList").cloned();
    for signed in authorizations.iter_mut().filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut) {
        let parity = signed.get("yParity").or(signed.get("v")).cloned();
        parity.map(|parity| signed.insert("yParity".to_owned(), parity));
    }
    let kind = match (fields.number("type")?, &authorizations) {
        (Some(kind), _) => kind,
        (None, Some(_)) => 4,
        _ if object.contains_key("maxFeePerBlobGas") => 3,
        _ if object.contains_key("maxFeePerGas") => 2,
        _ if object.contains_key("accessList") => 1,
        _ => 0,
    };
    if let (4, Some(list)) = (kind, authorizations) {
        object.insert("authorizationList".to_owned(), list);
    }
    // What its type does not have counts for nothing.
    object.retain(|name, _| match name.as_str() {
        "gasPrice" => kind < 2,
        "accessList" => kind > 0,
        "maxFeePerGas" | "maxPriorityFeePerGas" => kind > 1,
        "maxFeePerBlobGas" | "blobVersionedHashes" => kind == 3,
        _ => true,
    });
    let kind = u8::try_from(kind).ok().filter(|kind| *kind <= 4).with_context(|| format!("there is no type {kind}"))?;
    Ok((kind, object))
}

fn signed(typed: TypedTransaction, secret: B256) -> Result<TxEnvelope> {
    let key = SigningKey::from_slice(secret.as_slice()).context("secretKey is no key")?;
    let hash = match &typed {
        TypedTransaction::Legacy(tx) => tx.signature_hash(),
        TypedTransaction::Eip2930(tx) => tx.signature_hash(),
        TypedTransaction::Eip1559(tx) => tx.signature_hash(),
        TypedTransaction::Eip4844(tx) => tx.signature_hash(),
        TypedTransaction::Eip7702(tx) => tx.signature_hash(),
    };
    let signature = key.sign_prehash_recoverable(hash.as_slice()).context("the key does not sign")?;
    Ok(envelope(typed, signature.into()))
}

fn envelope(typed: TypedTransaction, signature: Signature) -> TxEnvelope {
    match typed {
        TypedTransaction::Legacy(tx) => tx.into_signed(signature).into(),
        TypedTransaction::Eip2930(tx) => tx.into_signed(signature).into(),
        TypedTransaction::Eip1559(tx) => tx.into_signed(signature).into(),
        TypedTransaction::Eip4844(tx) => tx.into_signed(signature).into(),
        TypedTransaction::Eip7702(tx) => tx.into_signed(signature).into(),
    }
}
