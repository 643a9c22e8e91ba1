//! The proof of possession of a deposit: the signature of a validator's key on its first message, which is what lets a deposit begin a
//! validator (consensus-specs, phase0, `is_valid_deposit_signature`; electra has the same).

use super::node;
use crate::Contract;
use crate::bls12_381::{by_precompiles, signature};
use crate::encoding::unless_return_zero;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::hash_to_curve::POSSESSION_TAG_G2;
use residue_ir::{Machine, Piece, WordOp};

/// `eth/deposit`.
pub const CONTRACT: Contract = Contract {
    name: "eth/deposit",
    summary: "is a validator's deposit signed by its key? (consensus-specs, is_valid_deposit_signature)",
    interface: "216 bytes: public key (48) and signature (96), compressed, withdrawal credentials (32), amount in Gwei (8, little-endian, as \
                the deposit contract's event has it), domain (32); returns 32 bytes, 1 or 0",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

const KEY_BYTES: u64 = 48;
const CREDENTIALS_AT: u64 = KEY_BYTES + 96;
const AMOUNT_AT: u64 = CREDENTIALS_AT + 32;
const AMOUNT_BYTES: u64 = 8;
const DOMAIN_AT: u64 = AMOUNT_AT + AMOUNT_BYTES;
const SIZE: u64 = DOMAIN_AT + 32;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    unless_return_zero(machine, machine.word_op(WordOp::Eq, machine.calldata_size(), machine.small(SIZE)));
    let key = signature::finite(machine, machine.small(0));
    let key = machine.branch(
        by_precompiles::are_there(machine),
        |machine| signature::given_g1(machine, key),
        |machine| key.g1(machine, unless_return_zero),
    );
    let message = Piece::Word { word: signing_root(machine), size_bytes: machine.small(32) };
    let signed = (&[message][..], POSSESSION_TAG_G2);
    signature::return_key_in_g1(machine, key, machine.small(KEY_BYTES), signed, |_, verdict| verdict);
}

/// The hash tree root of the DepositMessage, with the domain.
fn signing_root<M: Machine>(machine: &M) -> M::Word {
    let given = |at, bytes| Piece::Calldata { offset: machine.small(at), size_bytes: machine.small(bytes) };
    let zeros = |bytes| Piece::Word { word: machine.small(0), size_bytes: machine.small(bytes) };
    // A key is two chunks of 32 bytes, an amount one.
    let key = machine.sha256(&[given(0, KEY_BYTES), zeros(64 - KEY_BYTES)]);
    let left = node(machine, key, machine.calldata_word(machine.small(CREDENTIALS_AT)));
    let right = machine.sha256(&[given(AMOUNT_AT, AMOUNT_BYTES), zeros(32 - AMOUNT_BYTES), zeros(32)]);
    let root = node(machine, left, right);
    node(machine, root, machine.calldata_word(machine.small(DOMAIN_AT)))
}

/// A deposit of 32 Ether on mainnet; `tests/contracts/examples.rs` derives it anew.
fn example() -> Vec<u8> {
    let digits: String = include_str!("deposit.hex").split_whitespace().collect();
    hex::decode(digits).expect("the file has two digits for each byte")
}
