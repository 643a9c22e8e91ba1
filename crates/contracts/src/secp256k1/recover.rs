//! ECRECOVER (address 0x01) as a contract: the address whose key made a signature. Yellow Paper, appendix E and F; SEC 1, version 2.0, §4.1.6.

use super::{Scalars, is_scalar, multiple};
use crate::Contract;
use crate::encoding::encoded;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::secp256k1::{self, constants, square_of_y};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, Piece, WordOp};
use residue_isa::precompile::ECRECOVER;
use residue_modular::fields::Secp256k1Fp;
use ruint::aliases::U256;

/// `secp256k1/recover`.
pub const CONTRACT: Contract = Contract {
    name: "secp256k1/recover",
    summary: "the address whose key made a signature by ECDSA on secp256k1 (ECRECOVER, precompile 0x01)",
    interface: "128 bytes: hash, v, r, s; what is missing is zero, what follows is ignored; returns the address in a word, or nothing",
    field: Secp256k1Fp::modulus,
    text: |machine| text(machine),
    precompile: Some(ECRECOVER),
    example,
};

/// v of a nonce's point with an even y.
const V_EVEN: u64 = 27;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let op = |op, a, b| machine.word_op(op, a, b);
    let [v, r, s] = [32, 64, 96].map(|at| machine.calldata_word(machine.small(at)));
    let wants_odd = machine.bind(op(WordOp::Sub, v, machine.small(V_EVEN)));
    let conditions = [op(WordOp::Lt, wants_odd, machine.small(2)), is_scalar(machine, r), is_scalar(machine, s)];
    let all = conditions.into_iter().reduce(|all, one| op(WordOp::And, all, one)).expect("there are some");
    unless_return_nothing(machine, all);

    // The nonce's point: n is below p, and so is r.
    let x = machine.element_of(&[r]);
    let square = square_of_y(machine, x);
    let root = secp256k1::root(machine, square);
    unless_return_nothing(machine, machine.equal(root.square(), square));
    let is_other = op(WordOp::Xor, machine.is_odd(root), wants_odd);
    let y = machine.branch(is_other, |_| -root, |_| root);

    // Q = (s·R − e·G)/r.
    let scalars = Scalars::new(machine);
    machine.over("order", &constants().order, |machine| {
        let [e, r, s] = [0, 64, 96].map(|at| machine.calldata_word(machine.small(at)));
        let inverse = secp256k1::invert_scalar(machine, machine.element_of(&[r]));
        scalars.set(machine, -machine.reduce(e) * inverse, machine.element_of(&[s]) * inverse);
    });
    let nothing = machine.small(0);
    let key = scalars.affine_sum(machine, Affine::new(x, y), |machine| machine.return_words(&[nothing], nothing));
    let size_bytes = machine.small(32);
    let pieces = [key.x, key.y].map(|value| Piece::Word { word: machine.word_of(value, 0), size_bytes });
    let address_mask = machine.word((U256::ONE << 160usize) - U256::ONE);
    machine.return_word(op(WordOp::And, machine.keccak256(&pieces), address_mask));
}

/// Returns nothing unless the condition holds.
fn unless_return_nothing<M: Machine>(machine: &M, condition: M::Word) {
    let nothing = machine.small(0);
    machine.branch(machine.not(condition), |machine| machine.return_words(&[nothing], nothing), |_| ());
}

/// The key 5¹⁰⁰ signs the hash 7¹⁰⁰ modulo n with the nonce 11¹⁰⁰.
fn example() -> Vec<u8> {
    let n = &constants().order;
    let [key, hash, nonce] = [5u32, 7, 11].map(|base| BigUint::from(base).modpow(&100u32.into(), n));
    let point = multiple(&nonce);
    let r = point.x.to_canonical() % n;
    let s = nonce.modinv(n).expect("n is prime") * (&hash + &r * key) % n;
    let v = BigUint::from(V_EVEN) + u32::from(point.y.to_canonical().bit(0));
    [hash, v, r, s].iter().flat_map(encoded).collect()
}
