//! The check of a BLS signature: CoreVerify of draft-irtf-cfrg-bls-signature-05, §2.7, KeyValidate of §2.5 included, with the
//! basic scheme's tags. One text for `bls12_381/verify` and `drand/verify`.
//!
//! Both choices of groups are served, and told apart by one bit of calldata. With the key in G1 (48 bytes) the signature
//! begins at byte 48, and its highest bit is set, as compressed points have it. With the key in G2 (96 bytes) an element of Fp
//! begins there, which is below p: its three highest bits are not set. Nobody gains by the wrong choice for a given key: a key
//! in G2 has its bit among its own bytes, and of a key in G1 a forged signature could only make one in G2 whose first half is
//! given, and of which nobody knows the secret.
//!
//! Whatever is wrong with calldata the answer is 0: the program never halts exceptionally. The pairing check is that of two
//! pairs, whose Miller loop gives the subgroup check of the point of G2 that comes from outside.

use super::compressed::{Compressed, FP_BYTES};
use residue_curves::bls12_381::constants::{g1_generator, g2_generator};
use residue_curves::bls12_381::hash_to_curve::{Message, SIGNATURE_TAG_G1, SIGNATURE_TAG_G2, constant_tag, hash};
use residue_curves::bls12_381::{G1, G2, Pairs, g1, is_final_exponentiation_one, miller_loop};
use residue_curves::{Affine, Conditions, Fp2};
use residue_ir::{Machine, Piece, WordOp};

/// Bytes of a public key and a signature, one of which is in G1, the other one in G2.
pub(crate) const KEY_AND_SIGNATURE_BYTES: u32 = 3 * FP_BYTES;

/// Returns 1 if the signature is one of the message under the key, else 0. The message stands behind them, or comes from what
/// does; at least `least_bytes` must be there.
pub(crate) fn text<M: Machine>(
    machine: &M,
    least_bytes: u32,
    message: impl Fn(&M, Piece<M::Word>) -> Vec<Piece<M::Word>>,
) {
    let (size, start) = (machine.calldata_size(), machine.small(KEY_AND_SIGNATURE_BYTES.into()));
    let least = machine.small(u64::from(KEY_AND_SIGNATURE_BYTES + least_bytes));
    demand(machine, machine.not(machine.word_op(WordOp::Lt, size, least)));
    let behind = Piece::Calldata { offset: start, size_bytes: machine.word_op(WordOp::Sub, size, start) };
    let message = message(machine, behind);

    let pairs = Pairs::new(machine, machine.small(2));
    let key_is_in_g1 = machine.bit(machine.calldata_word(machine.small(FP_BYTES.into())), machine.small(255));
    let conditions = machine.branch(
        key_is_in_g1,
        |machine| key_in_g1(machine, &pairs, &message),
        |machine| key_in_g2(machine, &pairs, &message),
    );
    let (f, conditions) = miller_loop(machine, &pairs, machine.small(2), conditions);
    demand(machine, conditions.hold(machine));
    machine.return_word(is_final_exponentiation_one(machine, f));
}

/// e(pk, H(m))·e(−g₁, σ) = 1. Stores the pairs and gives what has to hold of pk.
fn key_in_g1<M: Machine>(machine: &M, pairs: &Pairs<M::Fe>, message: &[Piece<M::Word>]) -> Conditions<M::Fe> {
    let [key, signature] = finite(machine, [0, FP_BYTES]);
    let (key, signature) = (key.g1(machine, demand), signature.g2(machine, demand));
    let message = Message { bytes: message.to_vec(), tag: constant_tag(machine, SIGNATURE_TAG_G2) };
    let Affine { x, y } = g1_generator();
    let minus_g1 = Affine::new(machine.constant(&x), -machine.constant(&y));
    pairs.store(machine, machine.small(0), key, hash::<M, G2>(machine, &message));
    pairs.store(machine, machine.small(1), minus_g1, signature);
    g1::membership(machine, key)
}

/// e(σ, −g₂)·e(H(m), pk) = 1. Stores the pairs and gives what has to hold of σ.
fn key_in_g2<M: Machine>(machine: &M, pairs: &Pairs<M::Fe>, message: &[Piece<M::Word>]) -> Conditions<M::Fe> {
    let [key, signature] = finite(machine, [0, 2 * FP_BYTES]);
    let (key, signature) = (key.g2(machine, demand), signature.g1(machine, demand));
    let message = Message { bytes: message.to_vec(), tag: constant_tag(machine, SIGNATURE_TAG_G1) };
    let Affine { x, y } = g2_generator();
    let lifted = |value: &Fp2<_>| Fp2::new(machine.constant(&value.c0), machine.constant(&value.c1));
    let minus_g2 = Affine::new(lifted(&x), -lifted(&y));
    pairs.store(machine, machine.small(0), signature, minus_g2);
    pairs.store(machine, machine.small(1), hash::<M, G1>(machine, &message), key);
    g1::membership(machine, signature)
}

/// Compressed points at these offsets, neither of them the identity: a key must not be, and no message has that signature.
fn finite<M: Machine>(machine: &M, offsets: [u32; 2]) -> [Compressed<M::Word>; 2] {
    offsets.map(|offset| {
        let point = Compressed::new(machine, offset);
        demand(machine, point.is_compressed(machine));
        demand(machine, machine.not(point.is_identity(machine)));
        point
    })
}

/// Returns 0 unless the condition holds.
fn demand<M: Machine>(machine: &M, condition: M::Word) {
    machine.branch(machine.not(condition), |machine| machine.return_word(machine.small(0)), |_| ());
}
