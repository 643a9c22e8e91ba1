//! EdDSA with Poseidon as circomlib and iden3 have it: S·B = R + h·8A, with h = Poseidon(R, A, message) and the base point B of ERC-2494.
//!
//! circomlib, `circuits/eddsaposeidon.circom`, `EdDSAPoseidonVerifier`: S is below the prime l, A and R are on the curve, and 8A is not the identity. Of R nothing else is
//! asked: both sides are compared as they are.

use crate::Contract;
use crate::encoding::{encoded, unless_return_zero};
use crate::poseidon::constants::{FromCode, InSlots};
use crate::poseidon::{LOADED, hash_of};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::twisted_edwards::{BABY_JUBJUB, affine, extended};
use residue_formula::Number;
use residue_ir::{Machine, Numbers, WordOp};
use residue_modular::fields::Bn254Fr;
use ruint::aliases::U256;

/// `baby_jubjub/eddsa`.
pub const CONTRACT: Contract = Contract {
    name: "baby_jubjub/eddsa",
    summary: "is this an EdDSA signature on Baby Jubjub with Poseidon, as circomlib has it?",
    interface: "192 bytes: key (64), R (64), S (32), message (32); returns a word, 1 or 0",
    field: Bn254Fr::modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// Words of calldata: the coordinates of the key and of R, S and the message.
const WORDS: usize = 6;
/// The number of the word that S is. The others are elements.
const S: usize = 4;

/// Elements of Poseidon's state: five are hashed.
const WIDTH: usize = 6;

/// l, the number of points of the base point's group: an eighth of all.
fn order() -> BigUint {
    BABY_JUBJUB.order() >> 3u32
}

/// The text.
pub fn text<M: Machine>(machine: &M) {
    // style: S2: a program reads in the order in which it runs.
    let op = |op, a, b| machine.word_op(op, a, b);
    let [p, l] = [Bn254Fr::modulus(), order()].map(|limit| machine.word(U256::from_be_slice(&limit.to_bytes_be())));
    let word = |number: usize| machine.calldata_word(machine.small(32 * number as u64)); // usize to u64 widens
    let has_size = op(WordOp::Eq, machine.calldata_size(), machine.small(32 * WORDS as u64)); // the same
    let limits = (0..WORDS).map(|number| op(WordOp::Lt, word(number), if number == S { l } else { p }));
    unless_return_zero(machine, limits.fold(has_size, |all, one| op(WordOp::And, all, one)));

    let element = |number| machine.element_of(&[word(number)]);
    let point = |first| Affine::new(element(first), element(first + 1));
    let (key, r) = (point(0), point(2));
    for point in [key, r] {
        unless_return_zero(machine, machine.is_zero(BABY_JUBJUB.defect(machine, point)));
    }
    let hash = hash_of(WIDTH);
    let mut constants = FromCode::<M, LOADED>::new(machine, "added", &hash.sequence());
    let challenge = hash.hash(machine, &[r.x, r.y, key.x, key.y, element(5)], &mut constants);
    let challenge = machine.variable("challenge", machine.word_of(challenge, 0));

    let eightfold = (0..3).fold(extended(machine, key), |point, _| BABY_JUBJUB.double(machine, point));
    // Of its order, which is odd, no other point than the identity has this x.
    unless_return_zero(machine, machine.not(machine.is_zero(eightfold.x)));
    let base = BABY_JUBJUB.base();
    let base = Affine::new(machine.constant(&base.x), machine.constant(&base.y));
    let products =
        [(word(S), extended(machine, base)), (machine.get(challenge), BABY_JUBJUB.negated(machine, eightfold))];
    let sum = BABY_JUBJUB.sum(machine, products);
    let [same_x, same_y] = [(sum.x, r.x), (sum.y, r.y)].map(|(value, of_r)| machine.equal(value, of_r * sum.z));
    machine.return_word(op(WordOp::And, same_x, same_y));
}

/// The key 5¹⁰⁰ modulo l signs 1234 with the nonce 11¹⁰⁰.
fn example() -> Vec<u8> {
    let (machine, l) = (Numbers::<Bn254Fr>::new(Vec::new()), order());
    let base = BABY_JUBJUB.base();
    let base = extended(&machine, Affine::new(machine.constant(&base.x), machine.constant(&base.y)));
    let [secret, nonce] = [5u32, 11].map(|base| BigUint::from(base).modpow(&100u32.into(), &l));
    let [key, r] = [&secret, &nonce].map(|scalar| {
        let point = BABY_JUBJUB.sum(&machine, [(U256::from_be_slice(&scalar.to_bytes_be()), base)]);
        affine(&machine, point, &Bn254Fr::modulus())
    });
    let message = Bn254Fr::from_u64(1234);
    let challenge = hash_of(WIDTH).hash(&machine, &[r.x, r.y, key.x, key.y, message], &mut InSlots);
    let s = (nonce + 8u32 * challenge.to_canonical() * secret) % l;
    let elements = [key.x, key.y, r.x, r.y].map(|value| value.to_canonical());
    elements.iter().chain([&s, &message.to_canonical()]).flat_map(encoded).collect()
}
