//! Signatures on edwards25519 (RFC 8032), by two rules.
//!
//! | | `ed25519/verify` | `ed25519/zip215` |
//! |---|---|---|
//! | encodings of the key and of R | canonical | any: y is taken modulo p, and x = 0 may have either sign |
//! | points whose order divides 8 | refused, as key and as R | taken |
//! | equation | S·B = R + k·A | 8·S·B = 8·R + 8·k·A |
//!
//! S is below L in both. The first is what ed25519-dalek calls strict, and asks for a canonical key besides; the second is ZIP-215, whose answers do not
//! depend on whether signatures are verified one by one or together.

pub mod verify;
pub mod zip215;

use crate::encoding::unless_return_zero;
use crate::hashes::sha512;
use residue_curves::edwards25519::{self, constants, root_of_ratio};
use residue_curves::{Affine, Projective};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, Variable, WordOp};
use residue_modular::fields::Curve25519Fp;
use ruint::aliases::U256;

/// Calldata and output of both contracts.
pub(crate) const INTERFACE: &str = "key (32 bytes), signature (64), message of any length; returns a word, 1 or 0";

/// Offsets of the parts of calldata, in bytes.
const KEY_AT: u64 = 0;
const R_AT: u64 = 32;
const S_AT: u64 = 64;
const MESSAGE_AT: u64 = 96;

/// Accepted encodings of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encodings {
    Canonical,
    Any,
}

/// The word in which pairs of neighbours of so many bits have changed places.
fn exchanged<M: Machine>(machine: &M, word: M::Word, bits: usize) -> M::Word {
    let op = |op, a, b| machine.word_op(op, a, b);
    let lower = (0..256).step_by(2 * bits).fold(U256::ZERO, |sum, at| sum | ((U256::ONE << bits) - U256::ONE) << at);
    let (mask, shift) = (machine.word(lower), machine.small(bits as u64)); // usize to u64 widens
    let up = op(WordOp::Shl, op(WordOp::And, word, mask), shift);
    let down = op(WordOp::And, op(WordOp::Shr, word, shift), mask);
    machine.bind(op(WordOp::Or, up, down))
}

/// The word in which the bytes of each of the four numbers of 64 bits are in reverse order.
fn numbers_reversed<M: Machine>(machine: &M, through: Variable, word: M::Word) -> M::Word {
    machine.set(through, word);
    machine.function("reverse", (), |machine, ()| {
        let reversed = [8, 16, 32].into_iter().fold(machine.get(through), |word, bits| exchanged(machine, word, bits));
        machine.set(through, reversed);
    });
    machine.get(through)
}

/// The little-endian number that a word's bytes are.
fn little_endian<M: Machine>(machine: &M, through: Variable, word: M::Word) -> M::Word {
    let op = |op, a, b| machine.word_op(op, a, b);
    let pairs = exchanged(machine, numbers_reversed(machine, through, word), 64);
    let half = machine.small(128);
    machine.bind(op(WordOp::Or, op(WordOp::Shl, pairs, half), op(WordOp::Shr, pairs, half)))
}

/// Parsed signature: the key and R as words, S and k in variables.
pub(crate) struct Parsed<W> {
    pub key: W,
    pub r: W,
    /// S and k.
    pub s: Variable,
    pub k: Variable,
}

/// Reads calldata and hashes it; returns 0 if it is too short or S is not below L.
pub(crate) fn parse<M: Machine>(machine: &M) -> Parsed<M::Word> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let size = machine.calldata_size();
    let is_long = op(WordOp::Lt, machine.small(MESSAGE_AT - 1), size);
    let [through, s, k, k_high] = ["reversed", "s", "k", "k_high"].map(|name| machine.variable(name, machine.small(0)));
    let number = |at| little_endian(machine, through, machine.calldata_word(machine.small(at)));
    machine.set(s, number(S_AT));
    let order = &constants().order;
    let limit = machine.word(U256::from_be_slice(&order.to_bytes_be()));
    unless_return_zero(machine, op(WordOp::And, is_long, op(WordOp::Lt, machine.get(s), limit)));

    // k = H(R ‖ A ‖ M) modulo L. Calldata has 32 bytes more in front of M, and A in front of R.
    let hashed_bytes = op(WordOp::Sub, size, machine.small(32));
    let [high, low] = sha512::hash_in_reverse(machine, hashed_bytes, |machine, part, offset| {
        let at = machine.word_op(WordOp::Add, offset, machine.small(R_AT));
        match part {
            1 => {
                // The second word of the first block is A, at 0.
                let is_later = machine.word_op(WordOp::Lt, machine.small(32), offset);
                machine.calldata_word(machine.word_op(WordOp::Mul, at, is_later))
            }
            _ => machine.calldata_word(at),
        }
    });
    machine.set(k, numbers_reversed(machine, through, low));
    machine.set(k_high, numbers_reversed(machine, through, high));
    machine.over("order", order, |machine| {
        let [low, high] = [k, k_high].map(|half| machine.reduce(machine.get(half)));
        let radix = (num_bigint::BigUint::from(1u8) << 256) % order;
        machine.set(k, machine.word_of(low + high * machine.constant(&radix), 0));
    });
    Parsed { key: number(KEY_AT), r: number(R_AT), s, k }
}

/// The point that a number of 256 bits encodes; returns 0 if there is none. RFC 8032, §5.1.3.
pub(crate) fn decode<M: Machine>(machine: &M, number: M::Word, encodings: Encodings) -> Affine<M::Fe> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let number = machine.bind(number);
    let y = op(WordOp::And, number, machine.word((U256::ONE << 255usize) - U256::ONE));
    let y = machine.bind(y);
    let is_odd = machine.bind(op(WordOp::Shr, number, machine.small(255)));
    let p = machine.word(U256::from_be_slice(&Curve25519Fp::modulus().to_bytes_be()));
    if encodings == Encodings::Canonical {
        unless_return_zero(machine, op(WordOp::Lt, y, p));
    }
    let y = match encodings {
        Encodings::Canonical => machine.element_of(&[y]),
        Encodings::Any => machine.reduce(y),
    };
    let one = machine.one();
    let square = y.square();
    let (root, has_root) =
        root_of_ratio(machine, square - one, square * machine.constant(&constants().d.to_canonical()) + one);
    let is_other = machine.bind(op(WordOp::Xor, machine.is_odd(root), is_odd));
    let is_point = match encodings {
        // 0 has no opposite.
        Encodings::Canonical => {
            op(WordOp::And, has_root, machine.not(op(WordOp::And, is_other, machine.is_zero(root))))
        }
        Encodings::Any => has_root,
    };
    unless_return_zero(machine, is_point);
    Affine::new(machine.branch(is_other, |_| -root, |_| root), y)
}

/// S·B − k·A.
pub(crate) fn expected<M: Machine>(machine: &M, parsed: &Parsed<M::Word>, key: Affine<M::Fe>) -> Projective<M::Fe> {
    let [s, k] = [parsed.s, parsed.k].map(|scalar| machine.get(scalar));
    edwards25519::sum(machine, s, k, Affine::new(-key.x, key.y))
}

/// Test 3 of RFC 8032, §7.1: a key, a signature and a message of two bytes.
pub(crate) fn example() -> Vec<u8> {
    let digits = "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025\
                  6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
                  18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a\
                  af82";
    hex::decode(digits).expect("there are two digits for each byte")
}
