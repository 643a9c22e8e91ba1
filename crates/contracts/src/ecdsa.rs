//! The verification of ECDSA on curves whose scalars take several words: FIPS 186-5, §6.4.2, with the calldata that EIP-7951 has for P-256, in numbers
//! of as many bytes as the order has. A hash has at most as many bits as the order, and may be the order or more.

use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::wide_curve::{WideCurve, Windows, add, is_less, words};
use residue_formula::{Fe, Number};
use residue_ir::{Bundle, Feature, Machine, Variable, WordOp};
use ruint::aliases::U256;

/// Bytes of a number.
fn number_bytes<F, const WORDS: usize>(curve: &WideCurve<F, WORDS>) -> u32 {
    u32::try_from(curve.constants.order.bits().div_ceil(8)).expect("it has a few words")
}

/// The text, with p of the field of `F`.
pub(crate) fn text<M: Machine, F: Number, const WORDS: usize>(machine: &M, curve: &WideCurve<F, WORDS>) {
    // style: S2: a program reads in the order in which it runs.
    let op = |op, a, b| machine.word_op(op, a, b);
    let bytes = number_bytes(curve);
    let [at_r, at_s, at_x, at_y] = [1, 2, 3, 4].map(|place| u64::from(place * bytes));
    let number = |at| number::<M, WORDS>(machine, bytes, at);
    let r = number(machine.small(at_r));
    let (n, p) = (&curve.constants.order, &F::modulus());
    let is_scalar = |value: [M::Word; WORDS]| {
        let any = value.into_iter().reduce(|any, word| op(WordOp::Or, any, word)).expect("there are words");
        op(WordOp::Lt, machine.not(any), is_less(machine, value, words(machine, n)))
    };
    let is_coordinate = |value| is_less(machine, value, words(machine, p));
    let is_long = op(WordOp::Eq, machine.calldata_size(), machine.small((5 * bytes).into()));
    unless_return_zero(machine, is_long);
    let bits_beyond = u64::from(8 * bytes) - n.bits();
    if bits_beyond > 0 {
        let limit = machine.word(U256::ONE << (256 - bits_beyond as usize)); // u64 to usize widens
        unless_return_zero(machine, op(WordOp::Lt, machine.calldata_word(machine.small(0)), limit));
    }
    // Two numbers by the code of one.
    let both = |first: u64, holds: &dyn Fn([M::Word; WORDS]) -> M::Word| {
        machine.repeat(machine.small(2), (), |machine, turn, ()| {
            let at = op(WordOp::Mul, turn, machine.small(bytes.into()));
            let at = machine.bind(op(WordOp::Add, at, machine.small(first)));
            unless_return_zero(machine, holds(number(at)));
        });
    };
    both(at_r, &is_scalar);
    both(at_x, &is_coordinate);
    let key = Affine::new(machine.parse(machine.small(at_x), bytes), machine.parse(machine.small(at_y), bytes));
    unless_return_zero(machine, machine.is_zero(curve.curve_defect(machine, key)));

    // u₁ = e/s and u₂ = r/s modulo n.
    let variables = |name| [(); WORDS].map(|()| machine.variable(name, machine.small(0)));
    let [u1, u1_moved, u2] = ["u1", "u1_moved", "u2"].map(variables);
    machine.over("order", n, |machine| {
        let [r, s] = [at_r, at_s].map(|at| machine.parse(machine.small(at), bytes));
        // A hash may be n or more; its halves are not.
        let half = bytes / 2;
        let [high, low] = [0, half].map(|at| machine.parse(machine.small(at.into()), half));
        let hash = high * machine.constant(&(BigUint::from(1u8) << (8 * half))) + low;
        let inverse = curve.invert_scalar(machine, s);
        let (first, second) = (hash * inverse, r * inverse);
        let moved = by_windows(machine, |machine, windows| {
            let (offset, scale) = curve.to_windows(windows);
            let from = first - machine.constant(&offset);
            if scale == BigUint::from(1u8) { from } else { from * machine.constant(&scale) }
        });
        for (variables, value) in [(u1, first), (u1_moved, moved), (u2, second)] {
            let first_bits = (0..WORDS as u32).rev().map(|word| 256 * word); // 2 or 3
            variables.into_iter().zip(first_bits).for_each(|(to, bit)| machine.set(to, machine.word_of(value, bit)));
        }
    });
    let get = |variables: [Variable; WORDS]| variables.map(|variable| machine.get(variable));
    let held = curve.held(machine);
    let sum = by_windows(machine, |machine, windows| curve.sum(machine, windows, [get(u1_moved), get(u2)], &held, key));
    let (x, z) = machine.branch(
        machine.is_zero(sum.z),
        |machine| {
            let sum = curve.complete(machine, [u1, u2].map(get), key);
            unless_return_zero(machine, machine.not(machine.is_zero(sum.z)));
            (sum.x, sum.z)
        },
        |_| (sum.x, sum.z.square()),
    );

    // x/z is r modulo n: r, or r + n if that is below p.
    let is_r = |machine: &M, r: [M::Word; WORDS]| machine.equal(machine.element_of(&r) * z, x);
    let one = machine.small(1);
    machine.branch(is_r(machine, r), |machine| machine.return_word(one), |_| ());
    unless_return_zero(machine, is_less(machine, r, words(machine, &(p - n))));
    unless_return_zero(machine, is_r(machine, add(machine, r, words(machine, n))));
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

/// A number of so many bytes of calldata from this byte on.
fn number<M: Machine, const WORDS: usize>(machine: &M, bytes: u32, at: M::Word) -> [M::Word; WORDS] {
    let top_bytes = u64::from(bytes) - 32 * (WORDS as u64 - 1); // 2 or 3
    std::array::from_fn(|word| match word.checked_sub(1) {
        None => machine.word_op(WordOp::Shr, machine.calldata_word(at), machine.small(256 - 8 * top_bytes)),
        Some(before) => {
            let beyond = machine.small(top_bytes + 32 * before as u64); // usize to u64 widens
            machine.calldata_word(machine.word_op(WordOp::Add, at, beyond))
        }
    })
}

/// Returns 0 unless the condition holds.
fn unless_return_zero<M: Machine>(machine: &M, condition: M::Word) {
    let return_zero = |machine: &M, ()| machine.return_word(machine.small(0));
    machine.branch(condition, |_| (), |machine| machine.function("return_zero", (), return_zero));
}

/// The key 5²⁰⁰ signs the hash 7²⁰⁰ modulo n with the nonce 11²⁰⁰.
pub(crate) fn example<F: Number, const WORDS: usize>(curve: &WideCurve<F, WORDS>) -> Vec<u8> {
    let n = &curve.constants.order;
    let [key, hash, nonce] = [5u32, 7, 11].map(|base| BigUint::from(base).modpow(&200u32.into(), n));
    let multiple = |k| curve.sums().multiple(k, curve.generator()).expect("it is not a multiple of n");
    let (public, point) = (multiple(&key), multiple(&nonce));
    let r = point.x.to_canonical() % n;
    let s = nonce.modinv(n).expect("n is prime") * (&hash + &r * key) % n;
    let values = [hash, r, s, public.x.to_canonical(), public.y.to_canonical()];
    let bytes = number_bytes(curve) as usize; // widens
    let padded = |value: &BigUint| {
        let digits = value.to_bytes_be();
        [vec![0; bytes - digits.len()], digits].concat()
    };
    values.iter().flat_map(padded).collect()
}
