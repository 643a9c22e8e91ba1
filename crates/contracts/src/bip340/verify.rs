//! BIP-340, “Verification”: R = s·G − e·P has an even y and the x that the signature says.
//!
//! ECRECOVER makes the sum where code may call it. It returns the address of (s'·P − h·G)/x for a hash h, the point P with this x, and numbers x and s' from 1 to
//! n − 1: with h = −s·x and s' = −e·x the address of R. A key from n on and a challenge that is 0 modulo n get 0 then: a signature that such a key
//! verifies takes the logarithm of a point or a preimage of SHA-256. Two points are taken for one if their addresses are the same, 160 bits of Keccak-256.

use crate::Contract;
use crate::encoding::{encoded, unless_return_zero};
use crate::secp256k1::{Scalars, moduli, multiple};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::secp256k1::{self, constants, square_of_y};
use residue_formula::{Fe, Number};
use residue_ir::{Feature, Machine, ModOp, Numbers, Piece, WordOp};
use residue_isa::precompile::ECRECOVER;
use residue_modular::fields::Secp256k1Fp;
use ruint::aliases::U256;

/// `bip340/verify`.
pub const CONTRACT: Contract = Contract {
    name: "bip340/verify",
    summary: "is this a Schnorr signature on secp256k1? (BIP-340)",
    interface: "key (32 bytes), signature (64), message of any length; returns a word, 1 or 0",
    field: Secp256k1Fp::modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// Offsets of the parts of calldata, in bytes.
const R_AT: u64 = 32;
const S_AT: u64 = 64;
const MESSAGE_AT: u64 = 96;

/// SHA-256 of “BIP0340/challenge”.
const TAG_HASH: U256 =
    U256::from_limbs([0x49fe_518f_6d48_d37c, 0xd2f3_f2d8_1bb1_224f, 0x3eb1_bf7a_407d_b382, 0x7bb5_2d7a_9fef_5832]);

/// The key and the signature, which are words of calldata.
#[derive(Debug, Clone, Copy)]
struct Signed<W> {
    key: W,
    r: W,
    s: W,
}

/// The text.
pub fn text<M: Machine>(machine: &M) {
    // style: S2: a program reads in the order in which it runs.
    let op = |op, a, b| machine.word_op(op, a, b);
    let [key, r, s] = [0, R_AT, S_AT].map(|at| machine.calldata_word(machine.small(at)));
    let signed = Signed { key, r, s };
    let [p, n] = moduli(machine);
    let conditions = [
        op(WordOp::Lt, machine.small(MESSAGE_AT - 1), machine.calldata_size()),
        op(WordOp::Lt, key, p),
        op(WordOp::Lt, r, p),
        op(WordOp::Lt, s, n),
    ];
    let all = conditions.into_iter().reduce(|all, one| op(WordOp::And, all, one)).expect("there are some");
    unless_return_zero(machine, all);
    machine.branch(machine.has(Feature::Precompile(ECRECOVER)), |machine| by_precompile(machine, signed), |_| ());

    let point = with_even_y(machine, key);
    // s·G − e·P, modulo n in words: there is no inverse for which a field of that order would pay.
    let opposite = machine.word(U256::from_be_slice(&(&constants().order - 1u32).to_bytes_be()));
    let v = machine.mod_op(ModOp::Mul, opposite, challenge(machine), n);
    let scalars = Scalars::of_words(machine, s, v);
    let sum = scalars.affine_sum(machine, point, |machine| machine.return_word(machine.small(0)));
    let is_r = machine.equal(sum.x, machine.element_of(&[r]));
    machine.return_word(op(WordOp::And, machine.not(machine.is_odd(sum.y)), is_r));
}

/// Returns 1 if the address that ECRECOVER makes of s·G − e·P is that of the point with an even y over r.
fn by_precompile<M: Machine>(machine: &M, signed: Signed<M::Word>) {
    let small = |value: u64| machine.small(value);
    let [_, n] = moduli(machine);
    // Hash, parity, r and s of an ECDSA signature, and its address: zeros if there is none. The point takes the place of hash and parity afterwards.
    let (address_at, end) = (128, 160);
    machine.scratch(end);
    let of_key = |word| machine.word_op(WordOp::Sub, n, machine.mod_op(ModOp::Mul, word, signed.key, n));
    let words = [of_key(signed.s), small(27), signed.key, of_key(challenge(machine))];
    for (at, word) in (0..).step_by(32).zip(words) {
        machine.set_scratch(small(at), word);
    }
    let succeeded = machine.precompile(ECRECOVER, (small(0), small(address_at)), (small(address_at), 32));
    let point = with_even_y(machine, signed.r);
    machine.set_scratch(small(0), signed.r);
    machine.put_scratch(32, 32, &[point.y]);
    let hash = machine.keccak256_scratch(small(0), small(64));
    let difference = machine.word_op(WordOp::Xor, hash, machine.scratch_word(small(address_at)));
    let is_same = machine.not(machine.word_op(WordOp::Shl, difference, small(96)));
    machine.return_word(machine.word_op(WordOp::And, succeeded, is_same));
}

/// The point with this x and an even y, “lift_x”; returns 0 if there is none.
fn with_even_y<M: Machine>(machine: &M, x: M::Word) -> Affine<M::Fe> {
    let x = machine.element_of(&[x]);
    let square = square_of_y(machine, x);
    let root = secp256k1::root(machine, square);
    unless_return_zero(machine, machine.equal(root.square(), square));
    Affine::new(x, machine.branch(machine.is_odd(root), |_| -root, |_| root))
}

/// The challenge e, not reduced: SHA-256 of the tag's hash twice, r, the key and the message.
fn challenge<M: Machine>(machine: &M) -> M::Word {
    let [key_at, r_at, message_at] = [0, R_AT, MESSAGE_AT].map(|at| machine.small(at));
    let (word_bytes, tag) = (machine.small(32), machine.word(TAG_HASH));
    let calldata = |offset, size_bytes| Piece::Calldata { offset, size_bytes };
    let tag = Piece::Word { word: tag, size_bytes: word_bytes };
    let message = calldata(message_at, machine.word_op(WordOp::Sub, machine.calldata_size(), message_at));
    machine.sha256(&[tag, tag, calldata(r_at, word_bytes), calldata(key_at, word_bytes), message])
}

/// The key 5¹⁰⁰ modulo n signs a message with the nonce 11¹⁰⁰.
fn example() -> Vec<u8> {
    let n = &constants().order;
    let even = |scalar: BigUint| {
        let point = multiple(&scalar);
        let scalar = if point.y.to_canonical().bit(0) { n - scalar } else { scalar };
        (scalar, encoded(&point.x.to_canonical()))
    };
    let [(key, public), (nonce, r)] = [5u32, 11].map(|base| even(BigUint::from(base).modpow(&100u32.into(), n)));
    let message = b"Residue makes cryptography run as ordinary EVM bytecode.";
    let tag = TAG_HASH.to_be_bytes::<32>();
    let hashed = Numbers::<Secp256k1Fp>::new([&tag[..], &tag, &r, &public, message].concat());
    let hash = hashed.sha256(&[Piece::Calldata { offset: U256::ZERO, size_bytes: hashed.calldata_size() }]);
    let challenge = BigUint::from_bytes_be(&hash.to_be_bytes::<32>());
    let s = encoded(&((nonce + challenge * key) % n));
    [&public[..], &r, &s, message].concat()
}
