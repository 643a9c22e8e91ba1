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

use super::by_precompiles::{self, PAIRS, Scratch};
use super::compressed::{Compressed, FP_BYTES};
use crate::encoding::unless_return_zero as demand;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bls12_381::constants::{g1_generator, g2_generator, modulus};
use residue_curves::bls12_381::hash_to_curve::{
    HashGroup, Message, SIGNATURE_TAG_G1, SIGNATURE_TAG_G2, constant_tag, hash,
};
use residue_curves::bls12_381::{Fp2, G1, G2, g1, g2, is_final_exponentiation_one_by_root};
use residue_curves::pairing::{Pairs, miller_loop};
use residue_ir::{Machine, Piece, WordOp};

/// Bytes of a public key and a signature, one of which is in G1, the other one in G2.
pub(crate) const KEY_AND_SIGNATURE_BYTES: u32 = 3 * FP_BYTES;

/// Returns 1 if the signature is one of the message under the key, else 0. The message stands after them, or comes from what
/// does; at least `least_bytes` must be there.
pub(crate) fn text<M: Machine>(
    machine: &M,
    least_bytes: u32,
    message: impl Fn(&M, Piece<M::Word>) -> Vec<Piece<M::Word>>,
) {
    let (size, start) = (machine.calldata_size(), machine.small(KEY_AND_SIGNATURE_BYTES.into()));
    let least = machine.small(u64::from(KEY_AND_SIGNATURE_BYTES + least_bytes));
    demand(machine, machine.not(machine.word_op(WordOp::Lt, size, least)));
    let after = Piece::Calldata { offset: start, size_bytes: machine.word_op(WordOp::Sub, size, start) };
    let message = message(machine, after);

    // With the key in G1 the check is e(pk, H(m))·e(−g₁, σ) = 1, else e(σ, −g₂)·e(H(m), pk) = 1: a point of each group is given,
    // and each has a partner.
    let key_is_in_g1 =
        machine.bind(machine.bit(machine.calldata_word(machine.small(FP_BYTES.into())), machine.small(255)));
    let after_g2 = machine.word_op(WordOp::Mul, machine.not(key_is_in_g1), machine.small((2 * FP_BYTES).into()));
    let after_g1 = machine.word_op(WordOp::Mul, key_is_in_g1, machine.small(FP_BYTES.into()));
    let [in_g1, in_g2] = [after_g2, after_g1].map(|offset| finite(machine, machine.bind(offset)));
    machine.branch(
        by_precompiles::are_there(machine),
        |machine| {
            let scratch = Scratch::new(machine);
            let [[p, partner_of_p], [partner_of_q, q]] = PAIRS;
            scratch.g1(p, given_g1(machine, in_g1));
            scratch.g2(q, given_g2(machine, in_g2));
            machine.branch(
                key_is_in_g1,
                |machine| {
                    scratch.hash_to_g2(partner_of_p, &tagged(machine, &message, SIGNATURE_TAG_G2));
                    scratch.known(partner_of_q, &minus_g1());
                },
                |machine| {
                    scratch.known(partner_of_p, &minus_g2());
                    scratch.hash_to_g1(partner_of_q, &tagged(machine, &message, SIGNATURE_TAG_G1));
                },
            );
            machine.return_word(scratch.check());
        },
        |_| (),
    );
    let (p, q) = (in_g1.g1(machine, demand), in_g2.g2(machine, demand));
    let partners = machine.branch(
        key_is_in_g1,
        |machine| {
            let Affine { x, y } = g1_generator();
            let minus_g1 = Affine::new(machine.constant(&x), -machine.constant(&y));
            (hashed::<M, G2>(machine, &message, SIGNATURE_TAG_G2), minus_g1)
        },
        |machine| {
            let Affine { x, y } = g2_generator();
            let minus_g2 = Affine::new(x.lift(machine), -y.lift(machine));
            (minus_g2, hashed::<M, G1>(machine, &message, SIGNATURE_TAG_G1))
        },
    );
    machine.return_word(is_product_one(machine, (p, partners.0), (partners.1, q)));
}

/// The hash of the message under the tag.
fn hashed<M: Machine, G: HashGroup<M>>(machine: &M, message: &[Piece<M::Word>], tag: &[u8]) -> Affine<G::Coordinate> {
    hash::<M, G>(machine, &tagged(machine, message, tag))
}

fn tagged<M: Machine>(machine: &M, message: &[Piece<M::Word>], tag: &[u8]) -> Message<M::Word> {
    Message { bytes: message.to_vec(), tag: constant_tag(machine, tag) }
}

/// The point of the curve of G1, its root by MODEXP.
pub(crate) fn given_g1<M: Machine>(machine: &M, point: Compressed<M::Word>) -> Affine<M::Fe> {
    point.g1_by(machine, demand, |machine, a| Scratch::root_power(machine, a) * a)
}

/// The point of the twist, its root by MODEXP.
fn given_g2<M: Machine>(machine: &M, point: Compressed<M::Word>) -> Affine<Fp2<M::Fe>> {
    point.g2_by(machine, demand, |machine, a| g2::square_root_by(machine, a, Scratch::root_power))
}

/// The opposite of G1's generator, x and y.
fn minus_g1() -> [BigUint; 2] {
    let Affine { x, y } = g1_generator();
    [x, modulus() - y]
}

/// The opposite of G2's generator, the coefficients of x and y.
fn minus_g2() -> [BigUint; 4] {
    let Affine { x, y } = g2_generator();
    [x.c0, x.c1, modulus() - y.c0, modulus() - y.c1]
}

/// The compressed point at `offset`, which is not the identity: a key must not be, and no message has that signature.
pub(crate) fn finite<M: Machine>(machine: &M, offset: M::Word) -> Compressed<M::Word> {
    let point = Compressed::new(machine, offset);
    demand(machine, point.is_compressed(machine));
    demand(machine, machine.not(point.is_identity(machine)));
    point
}

/// Returns `answer` of 1 if the compressed point at `signature` is a signature of the message under a key in G1, a point of the curve and not the
/// identity, else of 0; 0 if one of them is outside of its group. The tag is that of a suite with signatures in G2.
pub(crate) fn return_key_in_g1<M: Machine>(
    machine: &M,
    key: Affine<M::Fe>,
    signature: M::Word,
    (message, tag): (&[Piece<M::Word>], &[u8]),
    answer: impl Fn(&M, M::Word) -> M::Word,
) {
    let signature = finite(machine, signature);
    machine.branch(
        by_precompiles::are_there(machine),
        |machine| {
            let scratch = Scratch::new(machine);
            let [[p, partner_of_p], [partner_of_q, q]] = PAIRS;
            scratch.g1(p, key);
            scratch.hash_to_g2(partner_of_p, &tagged(machine, message, tag));
            scratch.known(partner_of_q, &minus_g1());
            scratch.g2(q, given_g2(machine, signature));
            machine.return_word(answer(machine, scratch.check()));
        },
        |_| (),
    );
    let q = signature.g2(machine, demand);
    let Affine { x, y } = g1_generator();
    let minus_g1 = Affine::new(machine.constant(&x), -machine.constant(&y));
    let hashed = hashed::<M, G2>(machine, message, tag);
    machine.return_word(answer(machine, is_product_one(machine, (key, hashed), (minus_g1, q))));
}

/// 1 if e(p, partner of p)·e(partner of q, q) = 1; returns 0 if p or q is outside of its group. Partners are in theirs.
fn is_product_one<M: Machine>(machine: &M, p: Pair<M>, q: Pair<M>) -> M::Word {
    let pairs = Pairs::new(machine, machine.small(2));
    pairs.store(machine, machine.small(0), p.0, p.1);
    pairs.store(machine, machine.small(1), q.0, q.1);
    let (f, conditions) = miller_loop(machine, &pairs, machine.small(2), g1::membership(machine, p.0));
    demand(machine, conditions.hold(machine));
    is_final_exponentiation_one_by_root(machine, f)
}

type Pair<M> = (Affine<<M as Machine>::Fe>, Affine<Fp2<<M as Machine>::Fe>>);
