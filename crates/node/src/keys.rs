//! The development accounts: keys of a mnemonic, as anvil and Hardhat derive them.

use alloy_primitives::{Address, B256, Signature};
use coins_bip39::{English, Mnemonic};
use k256::ecdsa::SigningKey;

/// anvil's and Hardhat's phrase.
pub const MNEMONIC: &str = "test test test test test test test test test test test junk";

/// Keys by address.
#[derive(Debug, Clone, Default)]
pub struct Keys(Vec<(Address, SigningKey)>);

/// A phrase that gives no keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no keys from the mnemonic: {reason}")]
pub struct BadMnemonic {
    reason: String,
}

impl Keys {
    /// The first `count` accounts of a phrase, at m/44'/60'/0'/0/i.
    pub fn of(phrase: &str, count: u32) -> Result<Self, BadMnemonic> {
        let bad = |error: &dyn std::fmt::Display| BadMnemonic { reason: error.to_string() };
        let mnemonic = Mnemonic::<English>::new_from_phrase(phrase).map_err(|error| bad(&error))?;
        let key = |index: u32| {
            let path = format!("m/44'/60'/0'/0/{index}");
            let derived = mnemonic.derive_key(path.as_str(), None).map_err(|error| bad(&error))?;
            let key: &SigningKey = derived.as_ref();
            Ok((Address::from_public_key(key.verifying_key()), key.clone()))
        };
        (0..count).map(key).collect::<Result<_, _>>().map(Self)
    }

    /// The addresses, in order.
    pub fn addresses(&self) -> Vec<Address> {
        self.0.iter().map(|(address, _)| *address).collect()
    }

    /// True if there is a key of an address.
    pub fn has(&self, address: Address) -> bool {
        self.0.iter().any(|(held, _)| *held == address)
    }

    /// The secret keys, for those who want to sign themselves.
    pub fn secrets(&self) -> impl Iterator<Item = (Address, B256)> + '_ {
        self.0.iter().map(|(address, key)| (*address, B256::from_slice(&key.to_bytes())))
    }

    /// A hash signed by an address; none without its key.
    pub fn sign(&self, address: Address, hash: B256) -> Option<Signature> {
        let (_, key) = self.0.iter().find(|(held, _)| *held == address)?;
        let (signature, recovery) = key.sign_prehash_recoverable(hash.as_slice()).ok()?;
        Some((signature, recovery).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_accounts_are_those_that_anvil_prints() {
        let keys = Keys::of(MNEMONIC, 2).unwrap();
        let printed = ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"];
        assert_eq!(keys.addresses().iter().map(Address::to_string).collect::<Vec<_>>(), printed);
        let secret = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
        assert_eq!(keys.secrets().next().map(|(_, secret)| secret.to_string()), Some(secret.to_owned()));
        let hash = B256::repeat_byte(7);
        let signature = keys.sign(keys.addresses()[1], hash).unwrap();
        assert_eq!(signature.recover_address_from_prehash(&hash).unwrap(), keys.addresses()[1]);
        assert!(Keys::of("test test", 1).is_err());
    }
}
