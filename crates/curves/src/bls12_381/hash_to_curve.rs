//! hash_to_curve of RFC 9380, §3, for both groups: the suites BLS12381G1_XMD:SHA-256_SSWU_RO_ and
//! BLS12381G2_XMD:SHA-256_SSWU_RO_ of §8.8, with the hashes that [`Machine::sha256`] gives.
//!
//! Exact unless the two points that a message is mapped to are equal or opposite, or one of them is the identity. They are
//! outputs of a hash: nobody can find such a message, and one at random is such with probability below 2⁻³⁷⁰.

use super::groups::{G1, G2, to_affine_by_root};
use super::{map_g1, map_g2};
use crate::fp2::Fp2;
use crate::group::Affine;
use num_bigint::BigUint;
use num_traits::One;
use residue_ir::{Machine, Piece, WordOp};
use ruint::aliases::U256;

/// The tag of signatures in G1: draft-irtf-cfrg-bls-signature-05, §4.2.1, the basic scheme.
pub const SIGNATURE_TAG_G1: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_";
/// The same for signatures in G2.
pub const SIGNATURE_TAG_G2: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

/// What is hashed to a curve.
#[derive(Debug, Clone)]
pub struct Message<W> {
    /// The message.
    pub bytes: Vec<Piece<W>>,
    /// DST_prime of §5.3.1: the domain separation tag, of at most 255 bytes, and one byte with its length.
    pub tag: Vec<Piece<W>>,
}

/// `bytes` as pieces: word for word.
pub fn constant_pieces<M: Machine>(machine: &M, bytes: &[u8]) -> Vec<Piece<M::Word>> {
    let piece = |part: &[u8]| {
        let mut word = [0; 32];
        word[..part.len()].copy_from_slice(part);
        let size_bytes = machine.small(part.len() as u64); // usize to u64 widens
        Piece::Word { word: machine.word(U256::from_be_bytes(word)), size_bytes }
    };
    bytes.chunks(32).map(piece).collect()
}

/// DST_prime of a tag that is known, and not longer than 255 bytes.
pub fn constant_tag<M: Machine>(machine: &M, tag: &[u8]) -> Vec<Piece<M::Word>> {
    let length = u8::try_from(tag.len()).expect("our tags are short");
    constant_pieces(machine, &[tag, &[length]].concat())
}

/// The hash of the message, a point of G1.
pub fn hash_to_g1<M: Machine>(machine: &M, message: &Message<M::Word>) -> Affine<M::Fe> {
    let mut blocks = Blocks::new(machine, message, 2 * ELEMENT_BYTES);
    let [p, q] = [(); 2].map(|()| {
        let u = blocks.element(machine);
        machine.function("g1_map_to_curve", u, |machine, u| map_g1::map_to_curve(machine, u))
    });
    to_affine_by_root::<M, G1>(machine, map_g1::clear_cofactor(machine, p + q.addend()))
}

/// The hash of the message, a point of G2.
pub fn hash_to_g2<M: Machine>(machine: &M, message: &Message<M::Word>) -> Affine<Fp2<M::Fe>> {
    let mut blocks = Blocks::new(machine, message, 4 * ELEMENT_BYTES);
    let [p, q] = [(); 2].map(|()| {
        let c0 = blocks.element(machine);
        let u = Fp2::new(c0, blocks.element(machine));
        machine.function("g2_map_to_twist", u, |machine, u| map_g2::map_to_twist(machine, u))
    });
    to_affine_by_root::<M, G2>(machine, map_g2::clear_cofactor(machine, p + q.addend()))
}

/// (a, b) ↦ a·2²⁵⁶ + b mod p.
pub fn reduce_wide<M: Machine>(machine: &M, high: M::Word, low: M::Word) -> M::Fe {
    let two_256 = machine.constant(&(BigUint::one() << 256u32));
    machine.reduce(high) * two_256 + machine.reduce(low)
}

/// L of §8.8: bytes that an element of Fp is made of.
const ELEMENT_BYTES: u16 = 64;
/// Bytes of a block of SHA-256.
const INPUT_BLOCK_BYTES: usize = 64;

/// expand_message_xmd of §5.3.1, block for block.
#[derive(Debug)]
pub struct Blocks<W> {
    tag: Vec<Piece<W>>,
    /// b₀.
    first: W,
    /// bᵢ, after i blocks.
    last: Option<W>,
    count: u8,
}

impl<W: Copy> Blocks<W> {
    /// Begins to expand the message to `size_bytes`, at most 8160 of them.
    pub fn new<M: Machine<Word = W>>(machine: &M, message: &Message<W>, size_bytes: u16) -> Self {
        let z_pad = constant_pieces(machine, &[0; INPUT_BLOCK_BYTES]);
        let size = constant_pieces(machine, &[&size_bytes.to_be_bytes()[..], &[0]].concat());
        let tag = message.tag.clone();
        // b₀ = H(Z_pad ‖ msg ‖ l_i_b_str ‖ I2OSP(0, 1) ‖ DST_prime)
        let first = machine.sha256(&[&z_pad, &message.bytes, &size, &tag].map(Vec::as_slice).concat());
        Self { tag, first, last: None, count: 0 }
    }

    /// The next 32 bytes.
    pub fn next<M: Machine<Word = W>>(&mut self, machine: &M) -> W {
        self.count += 1;
        let word = match self.last {
            Some(last) => machine.word_op(WordOp::Xor, self.first, last),
            None => self.first,
        };
        let chained = vec![Piece::Word { word, size_bytes: machine.small(32) }];
        let count = constant_pieces(machine, &[self.count]);
        // bᵢ = H((b₀ ⊕ bᵢ₋₁) ‖ I2OSP(i, 1) ‖ DST_prime), without bᵢ₋₁ for i = 1
        let block = machine.sha256(&[&chained, &count, &self.tag].map(Vec::as_slice).concat());
        self.last = Some(block);
        block
    }

    /// The next 64 bytes as an element of Fp: hash_to_field of §5.2.
    fn element<M: Machine<Word = W>>(&mut self, machine: &M) -> M::Fe {
        let high = self.next(machine);
        let low = self.next(machine);
        reduce_wide(machine, high, low)
    }
}
