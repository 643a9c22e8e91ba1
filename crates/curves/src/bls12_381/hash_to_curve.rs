//! hash_to_curve of RFC 9380, §3, for both groups: the suites BLS12381G1_XMD:SHA-256_SSWU_RO_ and
//! BLS12381G2_XMD:SHA-256_SSWU_RO_ of §8.8, with the hashes that [`Machine::sha256`] gives.
//!
//! Exact unless the two points that a message is mapped to are equal or opposite, or one of them is the identity. They are
//! outputs of a hash: nobody can find such a message, and one at random is such with probability below 2⁻³⁷⁰.

use super::groups::{G1, G2, Group, to_affine_by_root};
use super::{map_g1, map_g2};
use crate::bls12_381::Fp2;
use crate::group::{Affine, Jacobian};
use num_bigint::BigUint;
use num_traits::One;
use residue_ir::{Array, Bundle, Capacity, Machine, Piece, WordOp};
use ruint::aliases::U256;

/// The tag of signatures in G1: draft-irtf-cfrg-bls-signature-05, §4.2.1, the basic scheme.
pub const SIGNATURE_TAG_G1: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_";
/// The same for signatures in G2.
pub const SIGNATURE_TAG_G2: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

/// The tag of signatures in G2 whose keys come with a proof of possession, §4.2.3: that of Ethereum's consensus layer.
pub const POSSESSION_TAG_G2: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// Message and tag to hash to a curve.
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

/// A group that messages are hashed to.
pub trait HashGroup<M: Machine>: Group<M> {
    /// Name of the map as a function.
    const MAP: &'static str;

    /// u ↦ a point of the curve.
    fn map(machine: &M, u: Self::Coordinate) -> Jacobian<Self::Coordinate>;

    /// P ↦ the multiple of P that is in the group.
    fn clear_cofactor(machine: &M, point: Jacobian<Self::Coordinate>) -> Jacobian<Self::Coordinate>;
}

impl<M: Machine> HashGroup<M> for G1 {
    const MAP: &'static str = "g1_map_to_curve";

    fn map(machine: &M, u: M::Fe) -> Jacobian<M::Fe> {
        map_g1::map_to_curve(machine, u)
    }

    fn clear_cofactor(machine: &M, point: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
        map_g1::clear_cofactor(machine, point)
    }
}

impl<M: Machine> HashGroup<M> for G2 {
    const MAP: &'static str = "g2_map_to_twist";

    fn map(machine: &M, u: Fp2<M::Fe>) -> Jacobian<Fp2<M::Fe>> {
        map_g2::map_to_twist(machine, u)
    }

    fn clear_cofactor(machine: &M, point: Jacobian<Fp2<M::Fe>>) -> Jacobian<Fp2<M::Fe>> {
        map_g2::clear_cofactor(machine, point)
    }
}

/// The hash of the message, a point of G.
pub fn hash<M: Machine, G: HashGroup<M>>(machine: &M, message: &Message<M::Word>) -> Affine<G::Coordinate> {
    let degree = <G::Coordinate as Bundle<M::Fe>>::LEN;
    let elements = hash_to_field(machine, message, 2 * degree);
    let [p, q] = [0, 1].map(|point| {
        let at = |coefficient| machine.load(elements, machine.small((point * degree + coefficient) as u64)); // widens
        machine.function(G::MAP, Bundle::from_list((0..degree).map(at).collect()), |machine, u| G::map(machine, u))
    });
    to_affine_by_root::<M, G>(machine, G::clear_cofactor(machine, p + q.addend()))
}

/// (a, b) ↦ a·2²⁵⁶ + b mod p.
pub fn reduce_wide<M: Machine>(machine: &M, high: M::Word, low: M::Word) -> M::Fe {
    let two_256 = machine.constant(&(BigUint::one() << 256u32));
    machine.reduce(high) * two_256 + machine.reduce(low)
}

/// L of §8.8: bytes that an element of Fp is made of.
pub const ELEMENT_BYTES: u16 = 64;
/// Bytes of a block of SHA-256.
const INPUT_BLOCK_BYTES: usize = 64;

/// hash_to_field of §5.2: `count` elements of Fp, four at most, with expand_message_xmd of §5.3.1, two blocks an element.
pub fn hash_to_field<M: Machine>(machine: &M, message: &Message<M::Word>, count: usize) -> Array<M::Fe> {
    let count = u8::try_from(count).expect("two elements of Fp2 at most");
    let elements = machine.array("hashed", Capacity::Fixed(count.into()));
    let z_pad = constant_pieces(machine, &[0; INPUT_BLOCK_BYTES]);
    let size = u16::from(count) * ELEMENT_BYTES;
    let size = constant_pieces(machine, &[&size.to_be_bytes()[..], &[0]].concat());
    // b₀ = H(Z_pad ‖ msg ‖ l_i_b_str ‖ I2OSP(0, 1) ‖ DST_prime)
    let first = machine.sha256(&[&z_pad, &message.bytes, &size, &message.tag].map(Vec::as_slice).concat());
    let last = machine.variable("hash_block", machine.small(0));
    machine.set(last, machine.small(0));
    machine.repeat(machine.small(count.into()), (), |machine, number, ()| {
        // bᵢ = H((b₀ ⊕ bᵢ₋₁) ‖ I2OSP(i, 1) ‖ DST_prime), without bᵢ₋₁, so with 0, for i = 1
        let [high, low] = [1, 2].map(|block| {
            let word = machine.word_op(WordOp::Xor, first, machine.get(last));
            let twice = machine.word_op(WordOp::Add, number, number);
            let index = machine.word_op(WordOp::Add, twice, machine.small(block));
            let index = machine.word_op(WordOp::Shl, index, machine.small(248));
            let chained = vec![
                Piece::Word { word, size_bytes: machine.small(32) },
                Piece::Word { word: index, size_bytes: machine.small(1) },
            ];
            let block = machine.sha256(&[&chained, &message.tag].map(Vec::as_slice).concat());
            machine.set(last, block);
            block
        });
        machine.store(elements, number, reduce_wide(machine, high, low));
    });
    elements
}
