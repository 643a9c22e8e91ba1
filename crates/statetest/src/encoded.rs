//! `txbytes`: the signed transaction that a test says it is about, compared with the one that its fields make.
//!
//! Every field is compared as the item of RLP that it is, and the signature has to be the sender's: EIP-155 for those before EIP-2718, then
//! EIP-2930, EIP-1559, EIP-4844 and EIP-7702.

use alloy_rlp::{Encodable, Header};
use k256::SecretKey;
use k256::ecdsa::SigningKey;
use residue_engine::revm::context::TxEnv;
use residue_engine::revm::context::either::Either;
use residue_engine::revm::context::transaction::TransactionType;
use residue_engine::revm::precompile::secp256k1::ec_recover_run;
use residue_engine::revm::primitives::{Address, B256, U256, keccak256};

use crate::difference::Difference;

/// Gas of the precompile that recovers signers.
const RECOVERY_GAS: u64 = 3_000;

/// Names of fields with their items.
type Fields = Vec<(&'static str, Vec<u8>)>;

/// The hash of a signed transaction.
pub fn hash(bytes: &[u8]) -> B256 {
    keccak256(bytes)
}

/// The first difference between the bytes and a transaction, if there is one.
pub fn difference(transaction: &TxEnv, bytes: &[u8]) -> Option<Difference> {
    compared(transaction, bytes).err()
}

fn compared(transaction: &TxEnv, bytes: &[u8]) -> Result<(), Difference> {
    let other = |what: &str, got: String, expected: String| Difference::new(format!("txbytes: {what}"), got, expected);
    let (kind, list) = match bytes.first() {
        Some(kind) if *kind < 0x80 => (*kind, &bytes[1..]),
        _ => (0, bytes),
    };
    if kind != transaction.tx_type {
        return Err(other("type", transaction.tx_type.to_string(), kind.to_string()));
    }
    let no_rlp = |what| other(what, "the transaction".to_owned(), hex::encode(bytes));
    let mut items = items(list).ok_or_else(|| no_rlp("one list of RLP"))?;
    // A blob transaction as the network has it: a list of the transaction, and what is of its blobs.
    if kind == TransactionType::Eip4844 as u8 && items.first().is_some_and(|item| item.first() >= Some(&0xc0)) {
        items = self::items(items[0]).ok_or_else(|| no_rlp("one list of RLP"))?;
    }
    let fields = fields(transaction);
    if items.len() != fields.len() + 3 {
        return Err(other("fields", (fields.len() + 3).to_string(), items.len().to_string()));
    }
    for ((name, got), expected) in fields.iter().zip(&items) {
        if got != expected {
            return Err(other(name, shown(got), shown(expected)));
        }
    }
    let number = |item: &[u8]| {
        let mut rest = item;
        <U256 as alloy_rlp::Decodable>::decode(&mut rest).map_err(|_| no_rlp("a signature of three numbers"))
    };
    let [v, r, s] = [number(items[fields.len()])?, number(items[fields.len() + 1])?, number(items[fields.len() + 2])?];
    let v = u64::try_from(v).map_err(|_| no_rlp("v"))?;
    let mut signed_chain_id = None;
    let parity = match (kind, v) {
        (0, 27 | 28) => v - 27,
        (0, 35..) => {
            let (chain_id, own) = ((v - 35) / 2, transaction.chain_id.unwrap_or_default());
            if chain_id != own {
                return Err(other("chainId in v", own.to_string(), chain_id.to_string()));
            }
            signed_chain_id = Some(chain_id);
            (v - 35) % 2
        }
        (1.., 0 | 1) => v,
        _ => return Err(other("v", "0, 1, 27, 28 or that of EIP-155".to_owned(), v.to_string())),
    };
    let signer = recovered(signing_hash(kind, &fields, signed_chain_id), parity, r, s);
    if signer != Some(transaction.caller) {
        let signer = signer.map_or_else(|| "none".to_owned(), |signer| signer.to_string());
        return Err(other("signer", transaction.caller.to_string(), signer));
    }
    Ok(())
}

/// A transaction as the network has it, signed with a key: with the chain's id where it is none of EIP-2718.
pub fn signed(transaction: &TxEnv, key: &SecretKey) -> Result<Vec<u8>, k256::ecdsa::Error> {
    let (kind, fields) = (transaction.tx_type, fields(transaction));
    let chain_id = (kind == 0).then(|| transaction.chain_id.unwrap_or_default());
    let hash = signing_hash(kind, &fields, chain_id);
    let (signature, recovery) = SigningKey::from(key).sign_prehash_recoverable(hash.as_slice())?;
    let parity = u64::from(recovery.is_y_odd());
    let mut payload = bytes_of(&fields);
    chain_id.map_or(parity, |chain_id| 35 + 2 * chain_id + parity).encode(&mut payload);
    for number in [signature.r().to_bytes(), signature.s().to_bytes()] {
        U256::from_be_slice(&number).encode(&mut payload);
    }
    Ok(list(kind, &payload))
}

/// The hash that is signed, with the chain's id after the fields where it is part of it (EIP-155).
fn signing_hash(kind: u8, fields: &Fields, chain_id: Option<u64>) -> B256 {
    let mut payload = bytes_of(fields);
    if let Some(chain_id) = chain_id {
        chain_id.encode(&mut payload);
        payload.extend([0x80, 0x80]);
    }
    keccak256(list(kind, &payload))
}

fn bytes_of(fields: &Fields) -> Vec<u8> {
    fields.iter().flat_map(|(_, item)| item).copied().collect()
}

/// A list of RLP, with its type before it if it has one (EIP-2718).
pub fn list(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = if kind == 0 { Vec::new() } else { vec![kind] };
    Header { list: true, payload_length: payload.len() }.encode(&mut bytes);
    bytes.extend(payload);
    bytes
}

/// The fields of a transaction before its signature, in order.
fn fields(transaction: &TxEnv) -> Fields {
    let tx = transaction;
    let kind = TransactionType::from(tx.tx_type);
    let is = |kinds: &[TransactionType]| kinds.contains(&kind);
    use TransactionType::{Eip1559, Eip2930, Eip4844, Eip7702, Legacy};
    let mut fields = Fields::new();
    let mut push = |is_there: bool, name, value: &dyn Encodable| {
        if is_there {
            let mut item = Vec::new();
            value.encode(&mut item);
            fields.push((name, item));
        }
    };
    let (has_price, has_fees) = (is(&[Legacy, Eip2930]), is(&[Eip1559, Eip4844, Eip7702]));
    push(!is(&[Legacy]), "chainId", &tx.chain_id.unwrap_or_default());
    push(true, "nonce", &tx.nonce);
    push(has_fees, "maxPriorityFeePerGas", &tx.gas_priority_fee.unwrap_or_default());
    push(has_fees, "maxFeePerGas", &tx.gas_price);
    push(has_price, "gasPrice", &tx.gas_price);
    push(true, "gasLimit", &tx.gas_limit);
    push(true, "to", &tx.kind);
    push(true, "value", &tx.value);
    push(true, "data", &tx.data);
    push(!is(&[Legacy]), "accessList", &tx.access_list);
    push(is(&[Eip4844]), "maxFeePerBlobGas", &tx.max_fee_per_blob_gas);
    push(is(&[Eip4844]), "blobVersionedHashes", &tx.blob_hashes);
    let signed = tx.authorization_list.iter().filter_map(|one| match one {
        Either::Left(signed) => Some(signed.clone()),
        Either::Right(_) => None,
    });
    push(is(&[Eip7702]), "authorizationList", &signed.collect::<Vec<_>>());
    fields
}

/// The items of one list that is all of the bytes, each with its header.
fn items(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut after = bytes;
    let mut payload = Header::decode_bytes(&mut after, true).ok()?;
    if !after.is_empty() {
        return None;
    }
    let mut items = Vec::new();
    while !payload.is_empty() {
        let mut rest = payload;
        let header = Header::decode(&mut rest).ok()?;
        let length = payload.len() - rest.len() + header.payload_length;
        items.push(payload.get(..length)?);
        payload = &payload[length..];
    }
    Some(items)
}

/// The signer of a hash, by the precompile at address 1.
fn recovered(hash: B256, parity: u64, r: U256, s: U256) -> Option<Address> {
    let words = [hash, B256::from(U256::from(27 + parity)), B256::from(r), B256::from(s)];
    let output = ec_recover_run(&words.concat(), RECOVERY_GAS).ok()?.bytes;
    (output.len() == 32).then(|| Address::from_slice(&output[12..]))
}

/// An item without its header.
fn shown(item: &[u8]) -> String {
    let mut rest = item;
    let header = Header::decode(&mut rest);
    let text = hex::encode(if header.is_ok() { rest } else { item });
    match text.char_indices().nth(128) {
        Some((end, _)) => format!("0x{}…", &text[..end]),
        None => format!("0x{text}"),
    }
}
