//! Compressed points as Ethereum and ZCash write them: x big-endian in 48 bytes an element, of an Fp2 element c1 first, with
//! three flags in the first byte: 0x80 always, 0x40 for the identity, whose other bits are zero, 0x20 for the larger y.
//! draft-irtf-cfrg-pairing-friendly-curves-11, appendix C.

use num_bigint::BigUint;
use num_traits::One;
use residue_curves::bls12_381::constants::modulus;
use residue_ir::{Machine, WordOp};

/// Bytes of an element of Fp.
pub const FP_BYTES: u32 = 48;
/// Bits of the first byte that belong to x.
const X_BITS: u32 = 5;
const IDENTITY_FLAG_BIT: u64 = 254;
const SIGN_FLAG_BIT: u64 = 253;
const COMPRESSED_FLAG_BIT: u64 = 255;

/// The flags of a point.
#[derive(Debug, Clone, Copy)]
pub struct Flags<W> {
    /// 1 if it is the identity.
    pub is_identity: W,
    /// 1 if y is the larger of the two.
    pub is_larger: W,
}

/// Requires `size_bytes` of calldata with a compressed point and reads its flags. If it says that it is the identity,
/// requires that it says nothing else.
pub fn flags<M: Machine>(machine: &M, size_bytes: u32) -> Flags<M::Word> {
    let size = machine.small(u64::from(size_bytes));
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    let first = machine.calldata_word(machine.small(0));
    let flag = |bit| machine.bit(first, machine.small(bit));
    machine.require(flag(COMPRESSED_FLAG_BIT));
    let is_identity = machine.bind(flag(IDENTITY_FLAG_BIT));
    machine.branch(
        is_identity,
        |machine| {
            let without_flags = machine.word_op(WordOp::Shl, first, machine.small(2));
            let words = (1..size_bytes / 16 - 1).map(|half| machine.calldata_word(machine.small(u64::from(16 * half))));
            let any = words.fold(without_flags, |any, word| machine.word_op(WordOp::Or, any, word));
            machine.require(machine.not(any));
        },
        |_| (),
    );
    Flags { is_identity, is_larger: machine.bind(flag(SIGN_FLAG_BIT)) }
}

/// Parses the element at the start of calldata, whose first byte has the flags.
pub fn parse_behind_flags<M: Machine>(machine: &M) -> M::Fe {
    let p = modulus();
    let first = machine.calldata_word(machine.small(0));
    let without_flags = machine.word_op(WordOp::Shl, first, machine.small(u64::from(8 - X_BITS)));
    let high = machine.bind(machine.word_op(WordOp::Shr, without_flags, machine.small(u64::from(128 + 8 - X_BITS))));
    let low = machine.calldata_word(machine.small(16));
    let constant = |value: &BigUint| {
        let limbs: Vec<u64> = value.iter_u64_digits().collect();
        limbs.iter().rev().fold(machine.small(0), |word, &limb| {
            let shifted = machine.word_op(WordOp::Shl, word, machine.small(64));
            machine.word_op(WordOp::Or, shifted, machine.small(limb))
        })
    };
    let p_high = constant(&(&p >> 256u32));
    let p_low = constant(&(&p & ((BigUint::one() << 256u32) - 1u32)));
    let is_tie = machine.word_op(WordOp::Eq, high, p_high);
    let is_less_in_tie = machine.word_op(WordOp::And, is_tie, machine.word_op(WordOp::Lt, low, p_low));
    machine.require(machine.word_op(WordOp::Or, machine.word_op(WordOp::Lt, high, p_high), is_less_in_tie));

    let rest_bits = 8 * (FP_BYTES - 1);
    let rest = machine.parse(machine.small(1), FP_BYTES - 1);
    (0..X_BITS).fold(rest, |value, bit| {
        let is_set = machine.bit(first, machine.small(u64::from(256 - 8 + bit)));
        let with_it = |machine: &M| value + machine.constant(&(BigUint::one() << (rest_bits + bit)));
        machine.branch(is_set, with_it, |_| value)
    })
}

/// 1 if y is larger than −y, for y ≠ 0: then 2y − p is odd, else 2y is even.
pub fn is_larger<M: Machine>(machine: &M, y: M::Fe) -> M::Word {
    machine.is_odd(y + y)
}
