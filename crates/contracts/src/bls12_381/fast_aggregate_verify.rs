//! A BLS signature of one message under many keys in G1, each with a proof of possession: FastAggregateVerify of
//! draft-irtf-cfrg-bls-signature-05, §3.3.4, as Ethereum's consensus layer has it. With one key it is the suite's Verify.
//!
//! A key is a point of the curve and not the identity; that it is in G1 is asked of the sum alone, as the draft does, since proofs of
//! possession have been verified for keys.

use super::keys::Keys;
use super::signature;
use crate::Contract;
use crate::encoding::unless_return_zero;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::hash_to_curve::POSSESSION_TAG_G2;
use residue_ir::{Machine, Piece, WordOp};

/// `bls12_381/fast_aggregate_verify`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/fast_aggregate_verify",
    summary: "have all keys signed the message? (suite BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_, as Ethereum's validators sign)",
    interface: "96 bytes: the signature, compressed; 2 bytes: the number of keys; the keys, all compressed in 48 bytes or all as x and \
                y in 96; the message; returns 32 bytes, 1 or 0; 0 also for what is no key or no signature, and for no keys",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// Bytes of the signature.
const SIGNATURE_BYTES: u64 = 96;
/// Bytes before the keys.
const HEAD_BYTES: u64 = SIGNATURE_BYTES + 2;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let count = machine.calldata_word(machine.small(SIGNATURE_BYTES));
    let count = machine.bind(machine.word_op(WordOp::Shr, count, machine.small(240)));
    unless_return_zero(machine, count);
    let keys = Keys::new(machine, machine.small(HEAD_BYTES));
    let start = machine.word_op(WordOp::Add, machine.small(HEAD_BYTES), keys.size(machine, count));
    let (start, size) = (machine.bind(start), machine.calldata_size());
    unless_return_zero(machine, machine.not(machine.word_op(WordOp::Lt, size, start)));
    let key = keys.sum(machine, count, |_, _| None);
    let message = Piece::Calldata { offset: start, size_bytes: machine.word_op(WordOp::Sub, size, start) };
    let signed = (&[message][..], POSSESSION_TAG_G2);
    signature::return_key_in_g1(machine, key, machine.small(0), signed, |_, verdict| verdict);
}

/// Three keys, compressed, and 32 bytes that they have signed; `tests/contracts/examples.rs` derives them anew.
fn example() -> Vec<u8> {
    let digits: String = include_str!("aggregate.hex").split_whitespace().collect();
    hex::decode(digits).expect("the file has two digits for each byte")
}
