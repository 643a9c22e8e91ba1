//! The account that pays for a deployment: its key is in a file, or the node has it.

use std::fmt;
use std::path::{Path, PathBuf};

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_rlp::{Encodable, Header};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use k256::ecdsa::SigningKey;
use residue_command::input;
use serde_json::{Value, json};

use crate::rpc::Rpc;

/// Account that pays.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct PayerArgs {
    /// A file with the secret key of the account that pays, 32 bytes in hexadecimal. The node never sees it.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// An account of the node's that pays, whose key the node has.
    #[arg(long, value_name = "ADDRESS", value_parser = input::address)]
    pub unlocked: Option<Address>,
}

/// The account that pays.
pub enum Payer {
    /// With its key.
    Key(SigningKey),
    /// The node signs.
    Node(Address),
}

/// A transaction without its fees.
#[derive(Debug, Clone)]
pub struct Unpriced {
    /// The id of the chain.
    pub chain_id: u64,
    /// The account that is called.
    pub to: Address,
    /// The calldata.
    pub input: Bytes,
    /// Gas that it may take.
    pub gas: u64,
}

/// Wei that a gas may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fees {
    /// On chains with a base fee (EIP-1559): the most for a gas, and of that the most for the proposer.
    Dynamic {
        /// All of it.
        most: u128,
        /// Of that, for the proposer.
        tip: u128,
    },
    /// A price.
    Price(u128),
}

impl PayerArgs {
    /// Reads the key where there is one.
    pub fn payer(&self) -> Result<Payer> {
        match (&self.key_file, self.unlocked) {
            (Some(path), _) => Ok(Payer::Key(key(path)?)),
            (None, Some(address)) => Ok(Payer::Node(address)),
            (None, None) => Err(anyhow!("--key-file FILE or --unlocked ADDRESS says who pays")),
        }
    }
}

/// The key in a file. Its digits are in no message.
fn key(path: &Path) -> Result<SigningKey> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading the key in {}", path.display()))?;
    let bytes: B256 = text.trim().parse().map_err(|_| {
        anyhow!(
            "{} has no key: 32 bytes in hexadecimal are one, and it has {} characters",
            path.display(),
            text.trim().len()
        )
    })?;
    let key = SigningKey::from_slice(bytes.as_slice());
    key.map_err(|_| anyhow!("{} has no key: the number is 0 or beyond the order of secp256k1", path.display()))
}

impl Payer {
    /// Its address.
    pub fn address(&self) -> Address {
        match self {
            Self::Key(key) => Address::from_public_key(key.verifying_key()),
            Self::Node(address) => *address,
        }
    }

    /// Sends the transaction, signed here or by the node, and gives its hash.
    pub fn send(&self, rpc: &Rpc, transaction: Unpriced, fees: Fees) -> Result<B256> {
        let from = self.address();
        let Self::Key(key) = self else {
            let Unpriced { to, input, gas, .. } = transaction;
            let mut object = json!({ "from": from, "to": to, "data": input, "gas": U256::from(gas) });
            fees.add_to(&mut object);
            return Ok(rpc.get("eth_sendTransaction", json!([object]))?);
        };
        let nonce: U256 = rpc.get("eth_getTransactionCount", json!([from, "pending"]))?;
        let nonce = nonce.try_into().map_err(|_| anyhow!("{from} has the nonce {nonce}, which no account has"))?;
        let raw = Bytes::from(signed(key, &transaction, nonce, fees)?);
        Ok(rpc.get("eth_sendRawTransaction", json!([raw]))?)
    }
}

/// The transaction with its signature, as it is sent: of type 2 (EIP-1559), or a legacy one with the chain's id (EIP-155) where there is a price.
fn signed(key: &SigningKey, transaction: &Unpriced, nonce: u64, fees: Fees) -> Result<Vec<u8>> {
    let Unpriced { chain_id, to, input, gas } = transaction;
    let value = 0u8;
    let sign = |text: &[u8]| -> Result<(bool, [U256; 2])> {
        let signed = key.sign_prehash_recoverable(keccak256(text).as_slice());
        let (signature, recovery) = signed.map_err(|error| anyhow!("signing: {error}"))?;
        let (r, s) = signature.split_bytes();
        Ok((recovery.is_y_odd(), [U256::from_be_slice(&r), U256::from_be_slice(&s)]))
    };
    match fees {
        Fees::Price(price) => {
            let fields: [&dyn Encodable; 6] = [&nonce, &price, gas, to, &value, input];
            let (odd, [r, s]) = sign(&list(&[&fields[..], &[chain_id, &0u8, &0u8]].concat()))?;
            let v = chain_id.saturating_mul(2).saturating_add(35 + u64::from(odd));
            Ok(list(&[&fields[..], &[&v, &r, &s]].concat()))
        }
        Fees::Dynamic { most, tip } => {
            let no_accesses: Vec<u64> = Vec::new();
            let fields: [&dyn Encodable; 9] = [chain_id, &nonce, &tip, &most, gas, to, &value, input, &no_accesses];
            let typed = |fields: &[&dyn Encodable]| [&[2][..], &list(fields)].concat();
            let (odd, [r, s]) = sign(&typed(&fields))?;
            Ok(typed(&[&fields[..], &[&odd, &r, &s]].concat()))
        }
    }
}

/// These as a list of RLP.
fn list(fields: &[&dyn Encodable]) -> Vec<u8> {
    let mut payload = Vec::new();
    fields.iter().for_each(|field| field.encode(&mut payload));
    let mut text = Vec::new();
    Header { list: true, payload_length: payload.len() }.encode(&mut text);
    text.extend(payload);
    text
}

impl Fees {
    /// Fee that the newest block asks for: twice its base fee and the proposer's share, or the price that the node names where there is no base fee.
    pub fn of(rpc: &Rpc) -> Result<Self> {
        let block: Value = rpc.get("eth_getBlockByNumber", json!(["latest", false]))?;
        let price = |value: U256| u128::try_from(value).map_err(|_| anyhow!("a gas for {value} wei is no price"));
        match block.get("baseFeePerGas").and_then(|fee| serde_json::from_value::<U256>(fee.clone()).ok()) {
            Some(base) => {
                let tip: U256 = rpc.get("eth_maxPriorityFeePerGas", json!([]))?;
                let (base, tip) = (price(base)?, price(tip)?);
                Ok(Self::Dynamic { most: base.saturating_mul(2).saturating_add(tip), tip })
            }
            None => Ok(Self::Price(price(rpc.get("eth_gasPrice", json!([]))?)?)),
        }
    }

    /// The most that a gas costs, in wei.
    pub fn most(self) -> u128 {
        match self {
            Self::Dynamic { most, .. } | Self::Price(most) => most,
        }
    }

    fn add_to(self, object: &mut Value) {
        match self {
            Self::Price(price) => object["gasPrice"] = json!(U256::from(price)),
            Self::Dynamic { most, tip } => {
                object["maxFeePerGas"] = json!(U256::from(most));
                object["maxPriorityFeePerGas"] = json!(U256::from(tip));
            }
        }
    }
}

/// The address alone: a key is shown nowhere.
impl fmt::Debug for Payer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Payer").field(&self.address()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of EIP-155's example. That chains take what is signed, tests on a node show.
    #[test]
    fn transactions_have_the_form_of_their_type() {
        let key = SigningKey::from_slice(&[0x46; 32]).expect("it is below the order");
        let payer = Payer::Key(key.clone());
        assert_eq!(payer.address().to_string(), "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F");
        assert_eq!(format!("{payer:?}"), "Payer(0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f)");
        let transaction =
            Unpriced { chain_id: 1, to: Address::repeat_byte(0x35), input: Bytes::from_static(&[7; 60]), gas: 21_000 };
        for fees in [Fees::Price(20_000_000_000), Fees::Dynamic { most: 3, tip: 1 }] {
            let raw = signed(&key, &transaction, 9, fees).expect("it is signed");
            let is_typed = raw[0] == 2;
            assert_eq!(is_typed, matches!(fees, Fees::Dynamic { .. }));
            // A list of more than 55 bytes: 0xf8, and the bytes that come after its length.
            let rest = &raw[usize::from(is_typed)..];
            assert_eq!((rest[0], usize::from(rest[1])), (0xf8, rest.len() - 2));
            assert_eq!(raw, signed(&key, &transaction, 9, fees).expect("it is signed"), "RFC 6979");
        }
    }
}
