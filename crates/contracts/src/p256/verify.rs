//! The verification of ECDSA on P-256 of EIP-7951 (address 0x100) as a contract: FIPS 186-5, §6.4.2.

use crate::Contract;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::p256::{self, Windows, constants, curve_defect};
use residue_formula::{Fe, Number};
use residue_ir::{Bundle, Feature, Machine, WordOp};
use residue_isa::precompile::P256_VERIFY;
use residue_modular::fields::P256Fp;
use ruint::aliases::U256;

/// `p256/verify`.
pub const CONTRACT: Contract = Contract {
    name: "p256/verify",
    summary: "is this a signature by ECDSA on P-256? (EIP-7951, precompile 0x100)",
    interface: "160 bytes: hash, r, s, and the key's x and y; returns a word, 1, or nothing",
    field: P256Fp::modulus,
    text: |machine| text(machine),
    precompile: Some(P256_VERIFY),
    example,
};

/// Bytes of calldata.
const INPUT_BYTES: u64 = 160;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    // style: S2: a program reads in the order in which it runs.
    let op = |op, a, b| machine.word_op(op, a, b);
    let [r, s, x, y] = [32, 64, 96, 128].map(|at| machine.calldata_word(machine.small(at)));
    let [n, p] = [&constants().order, &P256Fp::modulus()].map(|value| machine.word(word(value)));
    let is_below = |value, limit| op(WordOp::Lt, value, limit);
    let last = machine.word(word(&(&constants().order - 1u32)));
    let is_scalar = |value| is_below(op(WordOp::Sub, value, machine.small(1)), last);
    let is_long = op(WordOp::Eq, machine.calldata_size(), machine.small(INPUT_BYTES));
    let conditions = [is_scalar(r), is_scalar(s), is_below(x, p), is_below(y, p)];
    let is_good = conditions.into_iter().fold(is_long, |all, one| op(WordOp::And, all, one));
    unless_return_nothing(machine, is_good);
    let key = Affine::new(machine.parse(machine.small(96), 32), machine.parse(machine.small(128), 32));
    unless_return_nothing(machine, machine.is_zero(curve_defect(machine, key)));

    // u₁ = e/s and u₂ = r/s modulo n.
    let [u1, u1_moved, u2] = ["u1", "u1_moved", "u2"].map(|name| machine.variable(name, machine.small(0)));
    machine.over("order", &constants().order, |machine| {
        let [r, s] = [32, 64].map(|at| machine.parse(machine.small(at), 32));
        let hash = machine.calldata_word(machine.small(0));
        let inverse = p256::invert_scalar(machine, s);
        let first = machine.reduce(hash) * inverse;
        let moved = by_windows(machine, |machine, windows| {
            let (offset, scale) = p256::to_windows(windows);
            let from = first - machine.constant(&offset);
            if scale == BigUint::from(1u8) { from } else { from * machine.constant(&scale) }
        });
        let second = r * inverse;
        for (variable, value) in [(u1, first), (u1_moved, moved), (u2, second)] {
            machine.set(variable, machine.word_of(value, 0));
        }
    });
    let sum = by_windows(machine, |machine, windows| {
        p256::sum(machine, windows, machine.get(u1_moved), machine.get(u2), key)
    });
    let (x, z) = machine.branch(
        machine.is_zero(sum.z),
        |machine| {
            let sum = p256::complete(machine, machine.bind(machine.get(u1)), machine.bind(machine.get(u2)), key);
            unless_return_nothing(machine, machine.not(machine.is_zero(sum.z)));
            (sum.x, sum.z)
        },
        |_| (sum.x, sum.z.square()),
    );

    // x/z is r modulo n: r, or r + n if that is below p.
    let is_r = |machine: &M, r| machine.equal(machine.element_of(&[r]) * z, x);
    let one = machine.small(1);
    machine.branch(is_r(machine, r), |machine| machine.return_word(one), |_| ());
    let difference = P256Fp::modulus() - &constants().order;
    unless_return_nothing(machine, is_below(r, machine.word(word(&difference))));
    unless_return_nothing(machine, is_r(machine, op(WordOp::Add, r, n)));
    machine.return_word(one);
}

/// Results by the windows of u₁ that the code is short enough with.
fn by_windows<M: Machine, R: Bundle<M::Fe>>(machine: &M, of: impl Fn(&M, Windows) -> R) -> R {
    let [is_short, is_middle] = [Feature::ShortCode, Feature::SmallTables].map(|feature| machine.has(feature));
    let others = |machine: &M| {
        machine.branch(is_middle, |machine| of(machine, Windows::SignedBytes), |machine| of(machine, Windows::Bytes))
    };
    machine.branch(is_short, |machine| of(machine, Windows::Nibbles), others)
}

/// Returns nothing unless the condition holds.
fn unless_return_nothing<M: Machine>(machine: &M, condition: M::Word) {
    let return_nothing = |machine: &M, ()| {
        let nothing = machine.small(0);
        machine.return_words(&[nothing], nothing);
    };
    machine.branch(condition, |_| (), |machine| machine.function("return_nothing", (), return_nothing));
}

fn word(value: &BigUint) -> U256 {
    U256::from_be_slice(&value.to_bytes_be())
}

/// The key 5¹⁰⁰ signs the hash 7¹⁰⁰ modulo n with the nonce 11¹⁰⁰.
fn example() -> Vec<u8> {
    let (n, g) = (&constants().order, &constants().generator);
    let element = |value| P256Fp::from_canonical(value).expect("it is below p");
    let generator = Affine::new(element(&g.x), element(&g.y));
    let [key, hash, nonce] = [5u32, 7, 11].map(|base| BigUint::from(base).modpow(&100u32.into(), n));
    let sums = residue_curves::fixed_base::Sums { a: -P256Fp::from_u64(3) };
    let multiple = |k| sums.multiple(k, generator).expect("it is not a multiple of n");
    let (public, point) = (multiple(&key), multiple(&nonce));
    let r = point.x.to_canonical() % n;
    let s = nonce.modinv(n).expect("n is prime") * (&hash + &r * key) % n;
    let values = [hash, r, s, public.x.to_canonical(), public.y.to_canonical()];
    values.iter().flat_map(crate::encoding::encoded).collect()
}
