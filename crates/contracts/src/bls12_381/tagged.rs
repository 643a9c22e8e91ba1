//! A message with its domain separation tag, as `hash_to_g1` and `hash_to_g2` take them: the length of the tag in two bytes,
//! the tag, and the message, which is all the rest.

use super::FP_BYTES;
use residue_curves::bls12_381::hash_to_curve::{HashGroup, Message, constant_pieces, hash};
use residue_ir::{Machine, Piece, WordOp};

/// Bytes of the length.
const LENGTH_BYTES: u64 = 2;
/// A longer tag is hashed first. RFC 9380, §5.3.3.
const TAG_BYTES_MAX: u64 = 255;
const OVERSIZE_PREFIX: &[u8] = b"H2C-OVERSIZE-DST-";

/// Returns the hash of the message, a point of G: one text for both groups.
pub(super) fn text<M: Machine, G: HashGroup<M>>(machine: &M) {
    let message = message(machine);
    machine.return_elements(hash::<M, G>(machine, &message), FP_BYTES);
}

/// Requires such calldata, with a tag that is not empty (RFC 9380, §3.1), and says what is hashed to the curve.
fn message<M: Machine>(machine: &M) -> Message<M::Word> {
    let first = machine.calldata_word(machine.small(0));
    let length = machine.bind(machine.word_op(WordOp::Shr, first, machine.small(256 - 8 * LENGTH_BYTES)));
    let start = machine.bind(machine.word_op(WordOp::Add, length, machine.small(LENGTH_BYTES)));
    let size = machine.calldata_size();
    machine.require(length);
    machine.require(machine.not(machine.word_op(WordOp::Lt, size, start)));

    let is_long = machine.bind(machine.word_op(WordOp::Lt, machine.small(TAG_BYTES_MAX), length));
    let tag_at = machine.small(LENGTH_BYTES);
    let digest = machine.variable("tag_digest", machine.small(0));
    let hash_tag = |machine: &M| {
        let mut pieces = constant_pieces(machine, OVERSIZE_PREFIX);
        pieces.push(Piece::Calldata { offset: tag_at, size_bytes: length });
        machine.set(digest, machine.sha256(&pieces));
    };
    machine.branch(is_long, hash_tag, |_| ());

    // Of the tag and its hash one is there, the other is empty.
    let given_bytes = machine.bind(machine.word_op(WordOp::Mul, length, machine.not(is_long)));
    let hashed_bytes = machine.bind(machine.word_op(WordOp::Mul, machine.small(32), is_long));
    let bytes = machine.word_op(WordOp::Add, given_bytes, hashed_bytes);
    let last_byte = machine.bind(machine.word_op(WordOp::Shl, bytes, machine.small(248)));
    Message {
        bytes: vec![Piece::Calldata { offset: start, size_bytes: machine.word_op(WordOp::Sub, size, start) }],
        tag: vec![
            Piece::Calldata { offset: tag_at, size_bytes: given_bytes },
            Piece::Word { word: machine.get(digest), size_bytes: hashed_bytes },
            Piece::Word { word: last_byte, size_bytes: machine.small(1) },
        ],
    }
}

/// Calldata of a tag of at most 65,535 bytes and a message.
pub(super) fn calldata(tag: &[u8], message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(tag.len()).expect("our tags are short");
    [&length.to_be_bytes()[..], tag, message].concat()
}
