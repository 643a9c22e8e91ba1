//! A sync committee's signature, as a light client verifies it: the sum of the keys of those who have signed, and one signature of all of
//! them (consensus-specs, altair, `validate_light_client_update`).

use super::node;
use crate::Contract;
use crate::bls12_381::keys::Keys;
use crate::bls12_381::signature;
use crate::encoding::unless_return_zero;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::hash_to_curve::POSSESSION_TAG_G2;
use residue_ir::{Machine, Piece, WordOp};

/// `eth/sync_committee`.
pub const CONTRACT: Contract = Contract {
    name: "eth/sync_committee",
    summary: "the number of members of a sync committee that have signed a header, or 0 (consensus-specs, light client)",
    interface: "96 bytes: the signature, compressed; root of the header (32), domain (32), the members' bits (64, as SSZ has them), 512 keys, \
                all compressed in 48 bytes or all as x and y in 96; returns 32 bytes: the number of signers, or 0 if they have not signed",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

const ROOT_AT: u64 = 96;
const DOMAIN_AT: u64 = ROOT_AT + 32;
const BITS_AT: u64 = DOMAIN_AT + 32;
const KEYS_AT: u64 = BITS_AT + 64;
/// Members: `SYNC_COMMITTEE_SIZE` of mainnet.
const MEMBERS: u64 = 512;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let keys = Keys::new(machine, machine.small(KEYS_AT));
    let members = machine.small(MEMBERS);
    let size = machine.word_op(WordOp::Add, machine.small(KEYS_AT), keys.size(machine, members));
    unless_return_zero(machine, machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    let signers = machine.variable("signers", machine.small(0));
    machine.set(signers, machine.small(0));
    let key = keys.sum(machine, members, |machine, index| {
        let bit = machine.bind(bit(machine, index));
        machine.set(signers, machine.word_op(WordOp::Add, machine.get(signers), bit));
        Some(bit)
    });
    let root =
        node(machine, machine.calldata_word(machine.small(ROOT_AT)), machine.calldata_word(machine.small(DOMAIN_AT)));
    let message = Piece::Word { word: root, size_bytes: machine.small(32) };
    signature::return_key_in_g1(machine, key, machine.small(0), (&[message], POSSESSION_TAG_G2), |machine, verdict| {
        machine.word_op(WordOp::Mul, verdict, machine.get(signers))
    });
}

/// The bit of a member: SSZ begins with the lowest bit of the first byte.
fn bit<M: Machine>(machine: &M, index: M::Word) -> M::Word {
    let word = machine.word_op(WordOp::Shr, index, machine.small(8));
    let word =
        machine.word_op(WordOp::Add, machine.word_op(WordOp::Shl, word, machine.small(5)), machine.small(BITS_AT));
    let place = machine.word_op(WordOp::And, index, machine.small(0xff));
    machine.bit(machine.calldata_word(word), machine.word_op(WordOp::Xor, place, machine.small(0xf8)))
}

/// A committee of which 400 have signed, with two keys that take turns, as x and y; `tests/contracts/examples.rs` derives it anew.
fn example() -> Vec<u8> {
    let digits: String = include_str!("committee.hex").split_whitespace().collect();
    let bytes = hex::decode(digits).expect("the file has two digits for each byte");
    let (head, keys) = bytes.split_at(bytes.len() - 2 * 96);
    [head, &keys.repeat(256)].concat()
}
