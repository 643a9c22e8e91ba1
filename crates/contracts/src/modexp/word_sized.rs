//! Moduli of at most 32 bytes, as nearly all calls on the chain have them, and exponents of a word. Where all numbers have 32 bytes nothing is
//! computed to find them. Short exponents are left to products of words, which ask for no set-up and take any modulus.

use super::State;
use super::calldata::{Calldata, EXPONENT_AT, Operand, numbers_in_place};
use super::expressions::Expressions;
use super::power::{F4, power_by_bytes, power_by_septets};
use super::short::{base_modulo, power_below_8_bits, power_by_f4, power_of_16_bits, return_word};
use super::{narrow, one_word};
use crate::words::Words;
use num_bigint::BigUint;
use residue_curves::chain::pow_constant_in_windows;
use residue_formula::Number;
use residue_ir::{Feature, Machine};
use residue_modular::fields::{Bn254Fp, Bn254Fr};
use ruint::aliases::U256;

/// Limbs of a word.
const LIMBS: u32 = 4;
/// Windows of the chains for inverses: wider ones spare six gas of products, and their slots take forty.
const WINDOW_BITS: u64 = 3;
/// Bits of an exponent that is left to products of words in short code.
const SHORT_BITS: u64 = 32;
/// Address of the base, for its reduction.
const BASE_CELL: u64 = 0;

/// Returns the result where base, exponent and modulus have 32 bytes each.
pub(super) fn in_place<M: Machine>(machine: &M, state: State) {
    let [base, exponent, modulus] = numbers_in_place(machine);
    let m = machine.bind(modulus);
    let x = machine.bind(Words(machine).modulo(base, m));
    let e = machine.bind(exponent);
    power(machine, state, [x, e, m], None);
}

/// Returns the result in short code where base, exponent and modulus have 32 bytes each, if field instructions are for it.
pub(super) fn in_place_in_short_code<M: Machine>(machine: &M, state: State) {
    let [base, exponent, modulus] = numbers_in_place(machine);
    let m = machine.bind(modulus);
    let x = machine.bind(Words(machine).modulo(base, m));
    let e = machine.bind(exponent);
    in_field_if_odd(machine, state, [x, e, m], None);
}

/// Returns the result in short code for a modulus of at most 32 bytes.
pub(super) fn in_short_code<M: Machine>(machine: &M, state: State, calldata: Calldata<M::Word>) {
    let Calldata { base, exponent, modulus } = calldata;
    machine.branch(
        Words(machine).is_below(exponent.bytes, machine.small(33)),
        |machine| {
            let m = machine.bind(modulus.short(machine));
            base_modulo(machine, base, m, BASE_CELL);
            let x = machine.bind(machine.at(BASE_CELL));
            let e = machine.bind(exponent.short(machine));
            in_field_if_odd(machine, state, [x, e, m], Some(modulus.bytes));
        },
        |_| (),
    );
    one_word::text(machine, calldata);
}

/// Returns the result for words [x, e, m] that are bound, x below m, if m is odd, x is not 0 and e is one for field instructions.
fn in_field_if_odd<M: Machine>(machine: &M, state: State, [x, e, m]: [M::Word; 3], bytes: Option<M::Word>) {
    let w = Words(machine);
    // The product may be 0 though its factors are not: then products of words are made, which do for any numbers.
    let is_odd = w.mul(w.and(m, w.number(1)), x);
    machine.branch(w.mul(is_odd, w.high(e, SHORT_BITS)), |machine| odd_power(machine, state, [x, e, m], bytes), |_| ());
}

/// Returns the result where base and modulus have 32 bytes each, if the exponent has fewer.
pub(super) fn between_words<M: Machine>(machine: &M, state: State) {
    let w = Words(machine);
    let bytes = machine.bind(machine.calldata_word(w.number(32)));
    machine.branch(
        w.is_below(bytes, w.number(32)),
        |machine| {
            let w = Words(machine);
            let [base, ..] = numbers_in_place(machine);
            let exponent = Operand { at: w.number(EXPONENT_AT), bytes };
            let m = machine.bind(machine.calldata_word(w.add(exponent.at, bytes)));
            let x = machine.bind(w.modulo(base, m));
            let e = machine.bind(exponent.short(machine));
            // No exponent of so few bytes is one of `inverses`, so none is looked for where they would stand.
            power(machine, state, [x, e, m], None);
        },
        |_| (),
    );
}

/// Returns the result where base, exponent and modulus have at most 32 bytes each.
pub(super) fn of_short_numbers<M: Machine>(machine: &M, state: State, calldata: Calldata<M::Word>) {
    let Calldata { base, exponent, modulus } = calldata;
    let m = machine.bind(modulus.short(machine));
    let x = machine.bind(Words(machine).modulo(base.short(machine), m));
    let e = machine.bind(exponent.short(machine));
    power(machine, state, [x, e, m], Some(modulus.bytes));
}

/// Returns the result for a modulus m of at most 32 bytes, any base and the exponent e, both bound.
pub(super) fn of_any_base<M: Machine>(
    machine: &M,
    state: State,
    base: Operand<M::Word>,
    [e, m]: [M::Word; 2],
    bytes: M::Word,
) {
    base_modulo(machine, base, m, BASE_CELL);
    let x = machine.bind(machine.at(BASE_CELL));
    power(machine, state, [x, e, m], Some(bytes));
}

/// Returns xᵉ mod m for words [x, e, m] that are bound, x below m: in `bytes` bytes, or in 32 if they stand in place.
fn power<M: Machine>(machine: &M, state: State, [x, e, m]: [M::Word; 3], bytes: Option<M::Word>) {
    let give = move |machine: &M, word: M::Word| return_word(machine, word, bytes);
    machine.branch(
        machine.not(Words(machine).high(e, 17)),
        |machine| {
            machine.branch(
                Words(machine).high(e, 8),
                |machine| {
                    machine.branch(
                        machine.not(Words(machine).xor(e, machine.small(F4))),
                        |machine| power_by_f4(machine, x, m, give),
                        |_| (),
                    );
                },
                |machine| power_below_8_bits(machine, [x, e, m], give),
            );
        },
        |machine| {
            if bytes.is_none() {
                by_chain(machine, [x, e, m]);
            }
        },
    );
    // 0 if m is even, or x, which is below it, is 0, as it is for m = 1.
    let is_odd = Words(machine).mul(Words(machine).and(m, machine.small(1)), x);
    machine.branch(
        machine.not(is_odd),
        |machine| {
            machine.branch(
                Words(machine).high(e, 16),
                |machine| even_power(machine, state, [x, e, m], bytes),
                |machine| power_of_16_bits(machine, [x, e, m], give),
            );
        },
        |machine| odd_power(machine, state, [x, e, m], bytes),
    );
}

/// Returns the power by one of [`inverses`], if the exponent is one, m odd and x not 0, so m not 1: the modulus need not be the field's.
fn by_chain<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3]) {
    let w = Words(machine);
    let [first, second] = inverses();
    // Most exponents are told from both together.
    let upper = first >> 128usize;
    assert_eq!(upper, second >> 128usize, "their upper halves are the same");
    machine.branch(
        machine.not(w.xor(w.high(e, 128), machine.word(upper))),
        |machine| {
            let is_inverse = [first, second].map(|inverse| w.is_equal(e, machine.word(inverse)));
            machine.branch(
                w.mul(w.and(w.or(is_inverse[0], is_inverse[1]), m), x),
                |machine| machine.over_given("inverse", LIMBS, &[m], inverse),
                |_| (),
            );
        },
        |_| (),
    );
}

/// The same as [`power`] for an odd m above 1 and e not 0.
fn odd_power<M: Machine>(machine: &M, state: State, [x, e, m]: [M::Word; 3], bytes: Option<M::Word>) {
    machine.set(state.base, x);
    machine.set(state.exponent, e);
    if let Some(bytes) = bytes {
        machine.set(state.keeps, machine.small(1));
        in_field(machine, state, m);
        return_word(machine, machine.get(state.result[0]), Some(bytes));
    } else {
        in_field(machine, state, m);
    }
}

/// The same for any m and e of 2⁸ or more.
fn even_power<M: Machine>(machine: &M, state: State, [x, e, m]: [M::Word; 3], bytes: Option<M::Word>) {
    let w = Words(machine);
    let power_of_two = machine.bind(w.and(m, w.sub(w.number(0), m)));
    let n = machine.bind(w.div(m, power_of_two));
    machine.branch(
        w.is_below(w.number(1), n),
        |machine| {
            machine.set(state.exponent, e);
            machine.set(state.keeps, machine.small(1));
            machine.set(state.base, Words(machine).modulo(x, n));
            in_field(machine, state, n);
        },
        |_| (),
    );
    machine.set(state.base, x);
    machine.set(state.exponent, e);
    narrow::even_part(machine, state, [n, power_of_two]);
    return_word(machine, machine.get(state.result[0]), bytes);
}

/// Makes the power of [`State::base`] modulo an odd number: returns it if [`State::keeps`] is 0, else puts it into [`State::result`].
pub(super) fn in_field<M: Machine>(machine: &M, state: State, odd: M::Word) {
    machine.over_given("exponent by bytes", LIMBS, &[odd], |machine| {
        let x = machine.element_of(&[machine.get(state.base)]);
        let y = machine.branch(
            machine.has(Feature::ShortCode),
            |machine| power_by_septets(machine, state.exponent, x),
            |machine| power_by_bytes(machine, state.exponent, x),
        );
        machine.branch(
            machine.not(machine.get(state.keeps)),
            |machine| machine.return_elements(y, 32),
            |machine| machine.set(state.result[0], machine.word_of(y, 0)),
        );
    });
}

/// p − 2 for the base field of BN254 and for its group's order: exponents of inverses.
fn inverses() -> [U256; 2] {
    [Bn254Fp::modulus(), Bn254Fr::modulus()].map(|modulus| U256::from_be_slice(&(modulus - 2u8).to_bytes_be()))
}

/// Returns the power by one of [`inverses`], with the chain for it.
fn inverse<M: Machine>(machine: &M) {
    let w = Words(machine);
    let [base, exponent, modulus] = numbers_in_place(machine);
    let x = machine.element_of(&[w.modulo(base, modulus)]);
    let chain = |exponent: U256| {
        move |machine: &M| {
            let exponent = BigUint::from_bytes_be(&exponent.to_be_bytes::<32>());
            machine.return_elements(pow_constant_in_windows(x, &exponent, WINDOW_BITS), 32);
        }
    };
    let [first, second] = inverses();
    machine.branch(w.is_equal(exponent, machine.word(first)), chain(first), chain(second));
}
