//! Powers modulo 2ᵗ, t at most 255, in words, and their combination into powers modulo even numbers.
//!
//! An odd x has y = x^(2¹⁶) = 1 modulo 2¹⁸, so that y^E = exp(E·log y) for every E, by fourteen terms of each series (Koblitz 1984, “p-adic
//! Numbers, p-adic Analysis, and Zeta-Functions”, IV.1): a long exponent costs a product.

use super::State;
use super::expressions::Expressions;
use super::short::power_below_16_bits;
use crate::words::Words;
use residue_ir::Machine;
use ruint::aliases::U256;

/// Bits of the exponent that are left to squarings.
const LOW_BITS: u64 = 16;
/// Terms of both series. Term i of that of the logarithm is a multiple of 2^(18·i) / i, and of the exponential one of 2^(18·i) / i!.
const TERMS: u64 = 14;
const _: () = assert!((LOW_BITS + 2) * (TERMS + 1) - TERMS >= 255, "what is left out is 0");

/// Puts k below 2ᵗ into [`State::base`] for which r + k·n is the power modulo n·2ᵗ, for words [n, 2ᵗ] whose first may be the last word of n: Garner's
/// formula, Handbook of Applied Cryptography 1996, algorithm 14.71. [`State`] has the last words of the base, of the exponent and of r, the power modulo
/// n, and in the second word of its mask whether the exponent has other words that are not 0.
pub(super) fn factor<M: Machine>(machine: &M, state: State, [odd, power_of_two]: [M::Word; 2]) {
    machine.set(state.odd[0], odd);
    machine.set(state.mask[0], power_of_two);
    machine.function("power of two", (), |machine, ()| {
        power(machine, state);
        let inverse = inverse(machine, state);
        let w = Words(machine);
        let difference = w.sub(machine.get(state.base), machine.get(state.result[0]));
        let below = w.sub(machine.get(state.mask[0]), w.number(1));
        machine.set(state.base, w.and(w.mul(difference, inverse), below));
    });
}

/// Puts the power modulo 2ᵗ into [`State::base`].
fn power<M: Machine>(machine: &M, state: State) {
    let power_of_two = machine.bind(machine.get(state.mask[0]));
    let x = machine.bind(machine.get(state.base));
    let w = Words(machine);
    machine.branch(
        w.and(x, w.number(1)),
        |machine| {
            // The order of odd numbers divides 2ᵗ⁻¹.
            let w = Words(machine);
            let e = machine.bind(w.and(machine.get(state.exponent), w.sub(w.high(power_of_two, 1), w.number(1))));
            machine.set(state.exponent, e);
            low_power(machine, state, [x, w.and(e, w.number((1 << LOW_BITS) - 1)), power_of_two]);
            machine.branch(Words(machine).high(e, LOW_BITS), |machine| high_power(machine, state, x), |_| ());
        },
        |machine| {
            // A power of 256 or more is 0.
            let w = Words(machine);
            let e = machine.bind(machine.get(state.exponent));
            machine.set(state.base, w.number(0));
            machine.branch(
                w.or(w.high(e, 8), machine.get(state.mask[1])),
                |_| (),
                |machine| low_power(machine, state, [x, e, power_of_two]),
            );
        },
    );
}

/// Puts xᵉ into [`State::base`], e below 2¹⁶.
fn low_power<M: Machine>(machine: &M, state: State, [x, e, power_of_two]: [M::Word; 3]) {
    let e = machine.bind(e);
    power_below_16_bits(machine, [x, e, power_of_two], |machine, power| machine.set(state.base, power));
}

/// Multiplies [`State::base`] by the power of x by the exponent's bits from [`LOW_BITS`] on.
fn high_power<M: Machine>(machine: &M, state: State, x: M::Word) {
    let w = Words(machine);
    let modulus = machine.word(U256::ONE << 255usize);
    // By halves: the stack has a copy of the modulus for each squaring, below which x has to be within reach.
    let squares = |x| (0..LOW_BITS / 2).fold(x, |y, _| machine.mulmod(y, y, modulus));
    let y = squares(machine.bind(squares(x)));
    // Series are in z / 2¹⁶, so that their coefficients are whole.
    let z = machine.bind(w.high(w.sub(y, w.number(1)), LOW_BITS));
    let logarithm = series(machine, z, |i| {
        let term = over(i, U256::from(i));
        if i % 2 == 0 { U256::ZERO.wrapping_sub(term) } else { term }
    });
    let product = w.mul(w.mul(logarithm, z), w.high(machine.get(state.exponent), LOW_BITS));
    let v = machine.bind(w.high(product, LOW_BITS));
    let factorial = |i: u64| (1..=i).fold(U256::ONE, |product, factor| product * U256::from(factor));
    let exponential = w.add(w.mul(series(machine, v, |i| over(i, factorial(i))), v), w.number(1));
    machine.set(state.base, w.mul(machine.get(state.base), exponential));
}

/// Σ cᵢ·zⁱ⁻¹ for i from 1 to [`TERMS`], by Horner.
fn series<M: Machine>(machine: &M, z: M::Word, coefficient: impl Fn(u64) -> U256) -> M::Word {
    let w = Words(machine);
    let last = machine.word(coefficient(TERMS));
    (1..TERMS).rev().fold(last, |sum, i| w.add(machine.word(coefficient(i)), w.mul(z, sum)))
}

/// 2^(16·i) / divisor modulo 2²⁵⁶.
fn over(i: u64, divisor: U256) -> U256 {
    let twos = divisor.trailing_zeros();
    let bits = usize::try_from(LOW_BITS * i).expect("it is small");
    let odd = (divisor >> twos).inv_ring().expect("odd numbers have inverses");
    (odd << (bits - twos)) & U256::MAX
}

/// The inverse of the odd part modulo 2ᵗ, by Newton's steps from five bits.
fn inverse<M: Machine>(machine: &M, state: State) -> M::Word {
    let w = Words(machine);
    let odd = machine.bind(machine.get(state.odd[0]));
    let result = state.exponent;
    let steps = |machine: &M, count: usize| {
        let w = Words(machine);
        let step = |before| machine.bind(w.mul(before, w.sub(w.number(2), w.mul(odd, before))));
        let before = machine.bind(machine.get(result));
        machine.set(result, (0..count).fold(before, |before, _| step(before)));
    };
    machine.set(result, w.xor(w.mul(odd, w.number(3)), w.number(2)));
    // Most moduli are multiples of few powers of two.
    machine.branch(
        w.high(machine.get(state.mask[0]), 6),
        |machine| {
            steps(machine, 2);
            let is_above = Words(machine).high(machine.get(state.mask[0]), 21);
            machine.branch(is_above, |machine| steps(machine, 4), |_| ());
        },
        |_| (),
    );
    machine.get(result)
}
