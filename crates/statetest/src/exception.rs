//! Exceptions: the names by which tests say why a transaction is refused, and the names that a refusal answers to.
//!
//! Names are those of `TransactionException` of execution-specs (`packages/testing`, `exceptions/transaction.py`), and those that retesteth wrote
//! into ethereum/tests before. Which refusal of revm has which name is what execution-specs' mapper of reth's messages says
//! (`client_clis/clis/reth.py`), but for names that stand there for several faults at once.

use std::fmt;

use residue_engine::revm::context::result::InvalidTransaction;
use serde::Deserializer;
use serde::de::{Error, SeqAccess, Visitor};

/// Numbers that an encoding cannot hold, in any field.
const OVERFLOWS: &[&str] =
    &["VALUE_OVERFLOW", "GASLIMIT_OVERFLOW", "GASPRICE_OVERFLOW", "PRIORITY_OVERFLOW", "NONCE_OVERFLOW"];
/// Faults of a signature.
pub const SIGNATURE: &[&str] =
    &["INVALID_SIGNATURE_VRS", "EC_RECOVERY_FAIL", "RLP_INVALID_SIGNATURE_R", "RLP_INVALID_SIGNATURE_S"];
/// More than a sender can have: no balance reaches 2²⁵⁶.
pub const PRODUCT_OVERFLOW: &[&str] = &["GASLIMIT_PRICE_PRODUCT_OVERFLOW", "INSUFFICIENT_ACCOUNT_FUNDS"];
/// A sender that has less than the transaction takes.
pub const FUNDS: &[&str] = &["INSUFFICIENT_ACCOUNT_FUNDS"];

/// Names of retesteth with those of execution-specs that they stand for.
const LEGACY: &[(&str, &[&str])] = &[
    ("IntrinsicGas", &["INTRINSIC_GAS_TOO_LOW"]),
    ("SenderNotEOA", &["SENDER_NOT_EOA"]),
    ("SenderNotEOAorNoCASH", &["SENDER_NOT_EOA", "INSUFFICIENT_ACCOUNT_FUNDS"]),
    ("TR_BLOBCREATE", &["TYPE_3_TX_CONTRACT_CREATION"]),
    ("TR_BLOBLIST_OVERSIZE", &["TYPE_3_TX_BLOB_COUNT_EXCEEDED", "TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED"]),
    ("TR_BLOBVERSION_INVALID", &["TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH"]),
    ("TR_EMPTYBLOB", &["TYPE_3_TX_ZERO_BLOBS"]),
    ("TR_FeeCapLessThanBlocks", &["INSUFFICIENT_MAX_FEE_PER_GAS"]),
    ("TR_FeeCapLessThanBlocksORGasLimitReached", &["INSUFFICIENT_MAX_FEE_PER_GAS", "GAS_ALLOWANCE_EXCEEDED"]),
    ("TR_FeeCapLessThanBlocksORNoFunds", &["INSUFFICIENT_MAX_FEE_PER_GAS", "INSUFFICIENT_ACCOUNT_FUNDS"]),
    ("TR_GasLimitReached", &["GAS_ALLOWANCE_EXCEEDED"]),
    ("TR_InitCodeLimitExceeded", &["INITCODE_SIZE_EXCEEDED"]),
    ("TR_IntrinsicGas", &["INTRINSIC_GAS_TOO_LOW"]),
    ("TR_NoFunds", &["INSUFFICIENT_ACCOUNT_FUNDS"]),
    ("TR_NoFundsOrGas", &["INSUFFICIENT_ACCOUNT_FUNDS", "INTRINSIC_GAS_TOO_LOW"]),
    ("TR_NoFundsX", &["INSUFFICIENT_ACCOUNT_FUNDS"]),
    ("TR_NonceHasMaxValue", &["NONCE_IS_MAX"]),
    ("TR_NonceTooHigh", &["NONCE_MISMATCH_TOO_HIGH"]),
    ("TR_NonceTooLow", &["NONCE_MISMATCH_TOO_LOW"]),
    ("TR_RLP_WRONGVALUE", OVERFLOWS),
    ("TR_TipGtFeeCap", &["PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS"]),
    ("TR_TypeNotSupported", &["TYPE_NOT_SUPPORTED"]),
    ("TR_TypeNotSupportedBlob", &["TYPE_NOT_SUPPORTED"]),
];

/// The reason why a transaction is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// In words.
    pub reason: String,
    /// The exceptions that it is, the plainest first.
    pub names: Vec<&'static str>,
}

/// The exceptions that a test allows; any of them is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// As the test has them, between `|`.
    text: String,
}

impl Refusal {
    /// With these names.
    pub fn new(reason: String, names: &[&'static str]) -> Self {
        Self { reason, names: names.to_vec() }
    }

    /// A refusal of revm, in a block of at most so many blobs.
    pub fn of(error: &InvalidTransaction, block_blobs_max: u64) -> Self {
        use InvalidTransaction as I;
        let names: &[&str] = match error {
            I::PriorityFeeGreaterThanMaxFee => {
                &["PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS", "PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS_2"]
            }
            I::GasPriceLessThanBasefee => &["INSUFFICIENT_MAX_FEE_PER_GAS"],
            I::CallerGasLimitMoreThanBlock => &["GAS_ALLOWANCE_EXCEEDED", "GAS_USED_OVERFLOW"],
            I::CallGasCostMoreThanGasLimit { .. } => &["INTRINSIC_GAS_TOO_LOW"],
            // Tests from before the floor had a name of its own have that of intrinsic gas.
            I::GasFloorMoreThanGasLimit { .. } => &["INTRINSIC_GAS_BELOW_FLOOR_GAS_COST", "INTRINSIC_GAS_TOO_LOW"],
            I::RejectCallerWithCode => &["SENDER_NOT_EOA"],
            I::LackOfFundForMaxFee { .. } => FUNDS,
            I::OverflowPaymentInTransaction => PRODUCT_OVERFLOW,
            I::NonceOverflowInTransaction => &["NONCE_IS_MAX", "NONCE_TOO_BIG"],
            I::NonceTooHigh { .. } => &["NONCE_MISMATCH_TOO_HIGH"],
            I::NonceTooLow { .. } => &["NONCE_MISMATCH_TOO_LOW"],
            I::CreateInitCodeSizeLimit => &["INITCODE_SIZE_EXCEEDED"],
            I::InvalidChainId | I::MissingChainId => &["INVALID_CHAINID"],
            I::TxGasLimitGreaterThanCap { .. } => &["GAS_LIMIT_EXCEEDS_MAXIMUM"],
            I::AccessListNotSupported | I::Eip2930NotSupported => &["TYPE_1_TX_PRE_FORK", "TYPE_NOT_SUPPORTED"],
            I::Eip1559NotSupported => &["TYPE_2_TX_PRE_FORK", "TYPE_NOT_SUPPORTED"],
            I::MaxFeePerBlobGasNotSupported | I::BlobVersionedHashesNotSupported | I::Eip4844NotSupported => {
                &["TYPE_3_TX_PRE_FORK", "TYPE_3_TX_ZERO_BLOBS_PRE_FORK", "TYPE_NOT_SUPPORTED"]
            }
            I::BlobGasPriceGreaterThanMax { .. } => &["INSUFFICIENT_MAX_FEE_PER_BLOB_GAS"],
            I::EmptyBlobs => &["TYPE_3_TX_ZERO_BLOBS"],
            I::BlobCreateTransaction => &["TYPE_3_TX_CONTRACT_CREATION"],
            I::TooManyBlobs { have, .. } if *have as u64 <= block_blobs_max => &["TYPE_3_TX_BLOB_COUNT_EXCEEDED"], // Widens.
            I::TooManyBlobs { .. } => &["TYPE_3_TX_BLOB_COUNT_EXCEEDED", "TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED"],
            I::BlobVersionNotSupported => &["TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH"],
            I::AuthorizationListNotSupported | I::Eip7702NotSupported => &["TYPE_4_TX_PRE_FORK", "TYPE_NOT_SUPPORTED"],
            I::AuthorizationListInvalidFields => &["TYPE_4_INVALID_AUTHORIZATION_FORMAT"],
            I::EmptyAuthorizationList => &["TYPE_4_EMPTY_AUTHORIZATION_LIST"],
            I::Eip7873NotSupported | I::Eip7873MissingTarget => &["TYPE_NOT_SUPPORTED"],
            I::Str(_) => &[],
        };
        Self::new(error.to_string(), names)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.names.is_empty() {
            true => f.write_str(&self.reason),
            false => write!(f, "{}: {}", self.names.join("|"), self.reason),
        }
    }
}

impl Expected {
    /// Of a text with names of exceptions.
    pub fn of(text: &str) -> Self {
        Self { text: text.to_owned() }
    }

    /// True if one of the exceptions is what the refusal is.
    pub fn allows(&self, refusal: &Refusal) -> bool {
        self.allows_any(&refusal.names)
    }

    /// True if one of the exceptions has one of these names.
    pub fn allows_any(&self, names: &[&str]) -> bool {
        self.names().any(|name| names.contains(&name))
    }

    /// True if the transaction's encoding or signature is at fault, which one that is made of its fields does not have.
    pub fn is_about_encoding(&self) -> bool {
        self.names()
            .any(|name| SIGNATURE.contains(&name) || name.starts_with("RLP_") || name == "TYPE_3_TX_WITH_FULL_BLOBS")
    }

    /// True if the signature may be at fault.
    pub fn is_about_signature(&self) -> bool {
        self.names().any(|name| SIGNATURE.contains(&name))
    }

    /// Names of execution-specs without the enumeration that they are of.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.text.split('|').map(str::trim).flat_map(|name| {
            let legacy = LEGACY.iter().find(|(legacy, _)| *legacy == name).map(|(_, names)| *names);
            let plain = ["TransactionException.", "BlockException."].iter().find_map(|kind| name.strip_prefix(kind));
            let own = legacy.is_none().then(|| plain.unwrap_or(name));
            legacy.unwrap_or_default().iter().copied().chain(own)
        })
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads what a test expects; none where there is nothing, or null, or an empty text.
pub fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Expected>, D::Error> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the name of an exception, several with | between them, or a list of them")
        }

        fn visit_unit<E: Error>(self) -> Result<String, E> {
            Ok(String::new())
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<String, A::Error> {
            let mut names = Vec::new();
            while let Some(name) = list.next_element::<String>()? {
                names.push(name);
            }
            Ok(names.join("|"))
        }
    }
    let text = deserializer.deserialize_any(Names)?;
    Ok((!text.is_empty()).then_some(Expected { text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(text: &str) -> Expected {
        Expected::of(text)
    }

    fn refusal(name: &'static str) -> Refusal {
        Refusal::new(String::new(), &[name])
    }

    #[test]
    fn one_of_several_names_is_enough_and_another_is_not() {
        let both = expected("TransactionException.NONCE_IS_MAX|TransactionException.SENDER_NOT_EOA");
        assert!(both.allows(&refusal("SENDER_NOT_EOA")) && both.allows(&refusal("NONCE_IS_MAX")));
        assert!(!both.allows(&refusal("NONCE_TOO_BIG")) && !both.allows(&refusal("")));
        assert!(expected("NONCE_IS_MAX").allows(&refusal("NONCE_IS_MAX")));
        assert!(!expected("NONCE_IS").allows(&refusal("NONCE_IS_MAX")));
        assert!(
            expected("BlockException.GAS_USED_OVERFLOW")
                .allows(&Refusal::of(&InvalidTransaction::CallerGasLimitMoreThanBlock, 6))
        );
    }

    #[test]
    fn names_of_before_stand_for_those_of_now() {
        assert!(expected("SenderNotEOAorNoCASH").allows(&refusal("INSUFFICIENT_ACCOUNT_FUNDS")));
        assert!(!expected("TR_NoFunds").allows(&refusal("SENDER_NOT_EOA")));
        assert!(LEGACY.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn blobs_are_too_many_for_a_transaction_or_for_a_block() {
        let refused = |have| Refusal::of(&InvalidTransaction::TooManyBlobs { max: 6, have }, 9);
        let block = expected("TransactionException.TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED");
        assert!(!block.allows(&refused(9)) && block.allows(&refused(10)));
        assert!(expected("TR_BLOBLIST_OVERSIZE").allows(&refused(7)));
    }
}
