//! The verification of ECDSA on P-384 as a contract: FIPS 186-5, §6.4.2, with the calldata that EIP-7951 has for P-256, in numbers of 48 bytes.

use crate::Contract;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::p384::{self, Held, Pair, Windows, constants, curve_defect, is_less, pair};
use residue_formula::{Fe, Number};
use residue_ir::{Bundle, Feature, Machine, WordOp};
use residue_modular::fields::P384Fp;

/// `p384/verify`.
pub const CONTRACT: Contract = Contract {
    name: "p384/verify",
    summary: "is this a signature by ECDSA on P-384?",
    interface: "240 bytes: hash, r, s, and the key's x and y, of 48 bytes each; returns a word, 1 or 0",
    field: P384Fp::modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// Bytes of a number.
const NUMBER_BYTES: u32 = 48;

/// Bytes of calldata.
const INPUT_BYTES: u64 = 240;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    // style: S2: a program reads in the order in which it runs.
    let op = |op, a, b| machine.word_op(op, a, b);
    let r = number(machine, machine.small(48));
    let (n, p) = (&constants().order, &P384Fp::modulus());
    let is_scalar = |value: Pair<M::Word>| {
        let is_zero = machine.not(op(WordOp::Or, value.high, value.low));
        op(WordOp::Lt, is_zero, is_less(machine, value, pair(machine, n)))
    };
    let is_coordinate = |value| is_less(machine, value, pair(machine, p));
    let is_long = op(WordOp::Eq, machine.calldata_size(), machine.small(INPUT_BYTES));
    unless_return_zero(machine, is_long);
    // Two numbers by the code of one.
    let both = |first: u64, holds: &dyn Fn(Pair<M::Word>) -> M::Word| {
        machine.repeat(machine.small(2), (), |machine, turn, ()| {
            let at = op(WordOp::Mul, turn, machine.small(NUMBER_BYTES.into()));
            let at = machine.bind(op(WordOp::Add, at, machine.small(first)));
            unless_return_zero(machine, holds(number(machine, at)));
        });
    };
    both(48, &is_scalar);
    both(144, &is_coordinate);
    let key =
        Affine::new(machine.parse(machine.small(144), NUMBER_BYTES), machine.parse(machine.small(192), NUMBER_BYTES));
    unless_return_zero(machine, machine.is_zero(curve_defect(machine, key)));

    // u₁ = e/s and u₂ = r/s modulo n.
    let variable =
        |name| Pair { high: machine.variable(name, machine.small(0)), low: machine.variable(name, machine.small(0)) };
    let [u1, u1_moved, u2] = ["u1", "u1_moved", "u2"].map(variable);
    machine.over("order", n, |machine| {
        let [r, s] = [48, 96].map(|at| machine.parse(machine.small(at), NUMBER_BYTES));
        // A hash may be n or more; its halves are not.
        let [high, low] = [0, 24].map(|at| machine.parse(machine.small(at), NUMBER_BYTES / 2));
        let hash = high * machine.constant(&(BigUint::from(1u8) << 192)) + low;
        let inverse = p384::invert_scalar(machine, s);
        let (first, second) = (hash * inverse, r * inverse);
        let moved = by_windows(machine, |machine, windows| {
            let (offset, scale) = p384::to_windows(windows);
            let from = first - machine.constant(&offset);
            if scale == BigUint::from(1u8) { from } else { from * machine.constant(&scale) }
        });
        for (variable, value) in [(u1, first), (u1_moved, moved), (u2, second)] {
            machine.set(variable.high, machine.word_of(value, 256));
            machine.set(variable.low, machine.word_of(value, 0));
        }
    });
    let get = |variable: Pair<_>| Pair { high: machine.get(variable.high), low: machine.get(variable.low) };
    let held = Held::new(machine);
    let sum = by_windows(machine, |machine, windows| p384::sum(machine, windows, [get(u1_moved), get(u2)], held, key));
    let (x, z) = machine.branch(
        machine.is_zero(sum.z),
        |machine| {
            let sum = p384::complete(machine, get(u1), get(u2), key);
            unless_return_zero(machine, machine.not(machine.is_zero(sum.z)));
            (sum.x, sum.z)
        },
        |_| (sum.x, sum.z.square()),
    );

    // x/z is r modulo n: r, or r + n if that is below p.
    let is_r = |machine: &M, r: Pair<M::Word>| machine.equal(machine.element_of(&[r.high, r.low]) * z, x);
    let one = machine.small(1);
    machine.branch(is_r(machine, r), |machine| machine.return_word(one), |_| ());
    unless_return_zero(machine, is_less(machine, r, pair(machine, &(p - n))));
    let order = pair(machine, n);
    let low = machine.bind(op(WordOp::Add, r.low, order.low));
    let carry = op(WordOp::Lt, low, order.low);
    let high = op(WordOp::Add, op(WordOp::Add, r.high, order.high), carry);
    unless_return_zero(machine, is_r(machine, Pair { high, low }));
    machine.return_word(one);
}

/// Results by the windows of u₁ that the code is short enough with.
fn by_windows<M: Machine, R: Bundle<M::Fe>>(machine: &M, of: impl Fn(&M, Windows) -> R) -> R {
    machine.branch(
        machine.has(Feature::SmallTables),
        |machine| of(machine, Windows::OddNibbles),
        |machine| of(machine, Windows::SignedBytes),
    )
}

/// A number of calldata from this byte on.
fn number<M: Machine>(machine: &M, at: M::Word) -> Pair<M::Word> {
    let high = machine.word_op(WordOp::Shr, machine.calldata_word(at), machine.small(128));
    Pair { high, low: machine.calldata_word(machine.word_op(WordOp::Add, at, machine.small(16))) }
}

/// Returns 0 unless the condition holds.
fn unless_return_zero<M: Machine>(machine: &M, condition: M::Word) {
    let return_zero = |machine: &M, ()| machine.return_word(machine.small(0));
    machine.branch(condition, |_| (), |machine| machine.function("return_zero", (), return_zero));
}

/// The key 5²⁰⁰ signs the hash 7²⁰⁰ modulo n with the nonce 11²⁰⁰.
fn example() -> Vec<u8> {
    let n = &constants().order;
    let [key, hash, nonce] = [5u32, 7, 11].map(|base| BigUint::from(base).modpow(&200u32.into(), n));
    let multiple = |k| p384::sums().multiple(k, p384::generator()).expect("it is not a multiple of n");
    let (public, point) = (multiple(&key), multiple(&nonce));
    let r = point.x.to_canonical() % n;
    let s = nonce.modinv(n).expect("n is prime") * (&hash + &r * key) % n;
    let values = [hash, r, s, public.x.to_canonical(), public.y.to_canonical()];
    values.iter().flat_map(padded).collect()
}

/// The bytes of a number.
fn padded(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; NUMBER_BYTES as usize - digits.len()], digits].concat() // u32 to usize widens
}
