//! Numbers of one word each, as nearly all calls on the chain have them: nothing is computed to find them.

use super::State;
use super::calldata::numbers_in_place;
use super::narrow;
use super::power::{F4, long_power, middle_power, one_digit, power_below_32_bits};
use crate::words::Words;
use num_bigint::BigUint;
use residue_curves::chain::{pow_constant, pow_constant_in_windows};
use residue_formula::Number;
use residue_ir::{Machine, Variable};
use residue_modular::fields::{Bn254Fp, Bn254Fr};
use ruint::aliases::U256;

/// Limbs of a word.
const LIMBS: u32 = 4;
/// Windows of the chains for inverses: wider ones spare six gas of products, and their slots take forty.
const WINDOW_BITS: u64 = 3;

/// Not 0 unless base, exponent and modulus have 32 bytes each.
pub(super) fn lengths_differ<M: Machine>(machine: &M) -> M::Word {
    let w = Words(machine);
    let differs = |at| w.xor(machine.calldata_word(w.number(at)), w.number(32));
    w.or(w.or(differs(0), differs(32)), differs(64))
}

/// Returns the result, unless the modulus is even or 1.
pub(super) fn text<M: Machine>(machine: &M, state: State) {
    let [_, exponent, modulus] = numbers_in_place(machine);
    let w = Words(machine);
    let modulus = machine.bind(modulus);
    machine.branch(
        w.is_below(w.number(1), w.mul(w.and(modulus, w.number(1)), modulus)),
        |machine| {
            let w = Words(machine);
            let e = machine.bind(exponent);
            let is_inverse = inverses().map(|inverse| w.is_equal(e, machine.word(inverse)));
            let is_short = w.or(w.is_below(e, w.number(16)), w.is_equal(e, w.number(F4)));
            let windows = |name, power: fn(&M, Variable, M::Fe) -> M::Fe| {
                move |machine: &M| narrow::in_place(machine, state, modulus, name, power)
            };
            machine.branch(
                w.high(e, 32),
                |machine| {
                    machine.branch(
                        Words(machine).or(is_inverse[0], is_inverse[1]),
                        |machine| machine.over_given("inverse", LIMBS, &[modulus], inverse),
                        |machine| {
                            machine.branch(
                                Words(machine).high(e, 128),
                                windows("exponent of 129 to 256 bits", long_power),
                                windows("exponent of 33 to 128 bits", middle_power),
                            );
                        },
                    );
                },
                |machine| {
                    machine.branch(
                        is_short,
                        |machine| machine.over_given("short exponent", LIMBS, &[modulus], short),
                        windows("exponent of 5 to 32 bits", power_below_32_bits),
                    );
                },
            );
        },
        |_| (),
    );
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

/// Returns the power by an exponent below 16, or by [`F4`].
fn short<M: Machine>(machine: &M) {
    let w = Words(machine);
    let [base, exponent, modulus] = numbers_in_place(machine);
    let x = machine.element_of(&[w.modulo(base, modulus)]);
    let power =
        machine.branch(w.high(exponent, 4), |_| pow_constant(x, &F4.into()), |machine| one_digit(machine, exponent, x));
    machine.return_elements(power, 32);
}
