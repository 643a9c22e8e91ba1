//! BIP-340, “Verification”: R = s·G − e·P has an even y and the x that the signature says.

use crate::Contract;
use crate::encoding::{encoded, unless_return_zero};
use crate::secp256k1::{Scalars, moduli, multiple};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::secp256k1::{self, constants, square_of_y};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, ModOp, Numbers, Piece, WordOp};
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

/// The text.
pub fn text<M: Machine>(machine: &M) {
    // style: S2: a program reads in the order in which it runs.
    let op = |op, a, b| machine.word_op(op, a, b);
    let (key_at, r_at, s_at) = (machine.small(0), machine.small(R_AT), machine.small(S_AT));
    let [key, r, s] = [key_at, r_at, s_at].map(|at| machine.calldata_word(at));
    let [p, n] = moduli(machine);
    let size = machine.calldata_size();
    let message_at = machine.small(MESSAGE_AT);
    let conditions = [
        op(WordOp::Lt, machine.small(MESSAGE_AT - 1), size),
        op(WordOp::Lt, key, p),
        op(WordOp::Lt, r, p),
        op(WordOp::Lt, s, n),
    ];
    let all = conditions.into_iter().reduce(|all, one| op(WordOp::And, all, one)).expect("there are some");
    unless_return_zero(machine, all);

    // P = lift_x(key), whose y is even.
    let x = machine.element_of(&[key]);
    let square = square_of_y(machine, x);
    let root = secp256k1::root(machine, square);
    unless_return_zero(machine, machine.equal(root.square(), square));
    let y = machine.branch(machine.is_odd(root), |_| -root, |_| root);

    let (word_bytes, tag) = (machine.small(32), machine.word(TAG_HASH));
    let calldata = |offset, size_bytes| Piece::Calldata { offset, size_bytes };
    let tag = Piece::Word { word: tag, size_bytes: word_bytes };
    let message = calldata(message_at, op(WordOp::Sub, size, message_at));
    let hash = machine.sha256(&[tag, tag, calldata(r_at, word_bytes), calldata(key_at, word_bytes), message]);
    // s·G − e·P, modulo n in words: there is no inverse for which a field of that order would pay.
    let opposite = machine.word(U256::from_be_slice(&(&constants().order - 1u32).to_bytes_be()));
    let scalars = Scalars::of_words(machine, s, machine.mod_op(ModOp::Mul, opposite, hash, n));
    let sum = scalars.affine_sum(machine, Affine::new(x, y), |machine| machine.return_word(machine.small(0)));
    let is_r = machine.equal(sum.x, machine.element_of(&[r]));
    machine.return_word(op(WordOp::And, machine.not(machine.is_odd(sum.y)), is_r));
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
