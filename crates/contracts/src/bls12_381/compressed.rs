//! Compressed points as Ethereum and ZCash write them: x big-endian in 48 bytes an element, of an Fp2 element c1 first, with
//! three flags in the first byte: 0x80 always, 0x40 for the identity, whose other bits are zero, 0x20 for the larger y.
//! draft-irtf-cfrg-pairing-friendly-curves-11, appendix C.

use super::ENCODING;
use crate::encoding::after;
use num_bigint::BigUint;
use num_traits::One;
use residue_curves::Affine;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::hash_to_curve::reduce_wide;
use residue_curves::bls12_381::{g1, g2};
use residue_ir::{Machine, WordOp};
use ruint::aliases::U256;

/// Bytes of an element of Fp.
pub const FP_BYTES: u32 = 48;
/// Bits of the first byte that do not belong to x.
const FLAG_BITS: u64 = 3;
const COMPRESSED_FLAG_BIT: u64 = 255;
const IDENTITY_FLAG_BIT: u64 = 254;
const SIGN_FLAG_BIT: u64 = 253;

/// A compressed point in calldata.
///
/// Points are read with `demand`, which is given what has to hold: it ends the program in its own way if that is 0.
#[derive(Debug, Clone, Copy)]
pub struct Compressed<W> {
    offset: W,
    /// Its first 32 bytes.
    first: W,
}

impl<W: Copy> Compressed<W> {
    /// The point at `offset`.
    pub fn new<M: Machine<Word = W>>(machine: &M, offset: W) -> Self {
        Self { offset, first: machine.bind(machine.calldata_word(offset)) }
    }

    fn flag<M: Machine<Word = W>>(&self, machine: &M, bit: u64) -> W {
        machine.bit(self.first, machine.small(bit))
    }

    /// 1 if it says that it is compressed.
    pub fn is_compressed<M: Machine<Word = W>>(&self, machine: &M) -> W {
        self.flag(machine, COMPRESSED_FLAG_BIT)
    }

    /// 1 if it says that it is the identity.
    pub fn is_identity<M: Machine<Word = W>>(&self, machine: &M) -> W {
        self.flag(machine, IDENTITY_FLAG_BIT)
    }

    /// 1 if its `size_bytes` say nothing beside the first two flags.
    pub fn is_empty<M: Machine<Word = W>>(&self, machine: &M, size_bytes: u32) -> W {
        let without_flags = machine.word_op(WordOp::Shl, self.first, machine.small(2));
        let halves = 1..size_bytes / 16 - 1;
        let words = halves.map(|half| machine.calldata_word(after(machine, self.offset, 16 * half)));
        machine.not(words.fold(without_flags, |any, word| machine.word_op(WordOp::Or, any, word)))
    }

    /// The point of the curve of G1, if it is not the identity.
    pub fn g1<M: Machine<Word = W>>(&self, machine: &M, demand: impl Fn(&M, W) + Copy) -> Affine<M::Fe> {
        self.g1_by(machine, demand, g1::square_root)
    }

    /// [`g1`](Self::g1), given a ↦ √a.
    pub fn g1_by<M: Machine<Word = W>>(
        &self,
        machine: &M,
        demand: impl Fn(&M, W) + Copy,
        square_root: impl Fn(&M, M::Fe) -> M::Fe,
    ) -> Affine<M::Fe> {
        let x = element(machine, self.offset, FLAG_BITS, demand);
        let square = g1::square_of_y(machine, x);
        let y = square_root(machine, square);
        demand(machine, machine.equal(y * y, square));
        let differ = machine.word_op(WordOp::Xor, is_larger(machine, y), self.flag(machine, SIGN_FLAG_BIT));
        Affine::new(x, machine.branch(differ, |_| -y, |_| y))
    }

    /// The point of the twist, if it is not the identity.
    pub fn g2<M: Machine<Word = W>>(&self, machine: &M, demand: impl Fn(&M, W) + Copy) -> Affine<Fp2<M::Fe>> {
        self.g2_by(machine, demand, g2::square_root)
    }

    /// [`g2`](Self::g2), given a ↦ √a and whether it is one.
    pub fn g2_by<M: Machine<Word = W>>(
        &self,
        machine: &M,
        demand: impl Fn(&M, W) + Copy,
        square_root: impl Fn(&M, Fp2<M::Fe>) -> (Fp2<M::Fe>, W),
    ) -> Affine<Fp2<M::Fe>> {
        let c1 = element(machine, self.offset, FLAG_BITS, demand);
        let x = Fp2::new(element(machine, after(machine, self.offset, FP_BYTES), 0, demand), c1);
        let square = g2::square_of_y(machine, x);
        let (y, is_root) = square_root(machine, square);
        demand(machine, is_root);
        let differ = machine.word_op(WordOp::Xor, is_larger_in_fp2(machine, y), self.flag(machine, SIGN_FLAG_BIT));
        Affine::new(x, machine.branch(differ, |_| -y, |_| y))
    }
}

/// The point at `offset` of x and y in 48 bytes each, if both are below p. Whether it is on the curve is not asked.
pub fn uncompressed<M: Machine>(machine: &M, offset: M::Word, demand: impl Fn(&M, M::Word) + Copy) -> Affine<M::Fe> {
    let [x, y] = [0, FP_BYTES].map(|bytes| machine.bind(after(machine, offset, bytes)));
    let high = |machine: &M, at| machine.word_op(WordOp::Shr, machine.calldata_word(at), machine.small(128));
    // Nearly always the first 16 bytes tell.
    let p_high = machine.word(word(modulus() >> 256u32));
    let [is_clear_x, is_clear_y] = [x, y].map(|at| machine.word_op(WordOp::Lt, high(machine, at), p_high));
    machine.branch(
        machine.word_op(WordOp::And, is_clear_x, is_clear_y),
        |_| (),
        |machine| {
            for at in [x, y] {
                let low = machine.bind(machine.calldata_word(after(machine, at, 16)));
                demand(machine, is_below_p(machine, machine.bind(high(machine, at)), low));
            }
        },
    );
    let [x, y] = [x, y].map(|at| machine.parse(at, FP_BYTES));
    Affine::new(x, y)
}

/// The element of 48 bytes at `offset`, without the highest `flag_bits` of its first byte.
fn element<M: Machine>(machine: &M, offset: M::Word, flag_bits: u64, demand: impl Fn(&M, M::Word)) -> M::Fe {
    let at = |bytes| machine.calldata_word(after(machine, offset, bytes));
    let without_flags = match flag_bits {
        0 => at(0),
        _ => machine.word_op(WordOp::Shl, at(0), machine.small(flag_bits)),
    };
    let high = machine.bind(machine.word_op(WordOp::Shr, without_flags, machine.small(128 + flag_bits)));
    let low = machine.bind(at(16));
    demand(machine, is_below_p(machine, high, low));
    reduce_wide(machine, high, low)
}

/// 1 if high·2²⁵⁶ + low is below p, else 0.
fn is_below_p<M: Machine>(machine: &M, high: M::Word, low: M::Word) -> M::Word {
    let p = modulus();
    let (p_high, p_low) = (&p >> 256u32, &p & ((BigUint::one() << 256u32) - 1u32));
    let (p_high, p_low) = (machine.word(word(p_high)), machine.word(word(p_low)));
    let is_tie = machine.word_op(WordOp::Eq, high, p_high);
    let is_less_in_tie = machine.word_op(WordOp::And, is_tie, machine.word_op(WordOp::Lt, low, p_low));
    machine.word_op(WordOp::Or, machine.word_op(WordOp::Lt, high, p_high), is_less_in_tie)
}

fn word(half: BigUint) -> U256 {
    U256::try_from_be_slice(&half.to_bytes_be()).expect("it is half of p")
}

/// 1 if y is larger than −y, for y ≠ 0: then 2y − p is odd, else 2y is even.
fn is_larger<M: Machine>(machine: &M, y: M::Fe) -> M::Word {
    machine.is_odd(y + y)
}

/// 1 if y is larger than −y: c1 decides, or c0 if that is 0.
fn is_larger_in_fp2<M: Machine>(machine: &M, y: Fp2<M::Fe>) -> M::Word {
    let by_c0 = machine.word_op(WordOp::And, machine.is_zero(y.c1), is_larger(machine, y.c0));
    machine.word_op(WordOp::Or, is_larger(machine, y.c1), by_c0)
}

/// The compressed bytes of a canonical x: its elements in their order here, and whether y is the larger one.
pub(crate) fn compressed(x: &[&BigUint], is_larger: bool) -> Vec<u8> {
    let mut bytes: Vec<u8> = x.iter().flat_map(|element| ENCODING.encoded(element).split_off(16)).collect();
    bytes[0] |= if is_larger { 0xa0 } else { 0x80 };
    bytes
}
