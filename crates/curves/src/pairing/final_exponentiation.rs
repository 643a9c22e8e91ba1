//! The final exponentiation: f ↦ f^((p⁶ − 1)(p² + 1)), and then a hard part that is the family's, see [`super::bls`] and [`super::bn`].
//!
//! After the first part all elements are unitary: conjugates are inverses.

use super::compressed_powers::Room;
use super::powers::{frobenius_squared, multiply};
use super::{Family, PairingCurve, bls, bn, in_short_code};
use crate::tower::{Fp6, Fp12};
use residue_formula::scope::enter;
use residue_ir::{Bundle, Machine};

/// f ↦ f^(k·(p¹² − 1)/r) for a k that is prime to r and the family's; f is not zero.
pub fn final_exponentiation<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    let m = easy_part(machine, f);
    match C::FAMILY {
        Family::Bls { .. } => bls::hard_part(machine, m),
        Family::Bn { .. } => bn::hard_part(machine, m),
    }
}

/// 1 if f^((p¹² − 1)/r) = 1, else 0; f is not zero.
pub fn is_final_exponentiation_one<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>) -> M::Word {
    is_final_exponentiation_one_with(machine, f, |a| C::invert(machine, a))
}

/// The same in less gas, for programs that have room for 6,000 bytes more.
pub fn is_final_exponentiation_one_in_long_code<M: Machine, C: PairingCurve>(
    machine: &M,
    f: Fp12<M::Fe, C>,
) -> M::Word {
    is_hard_part_one(machine, easy_part(machine, f), Room::Long)
}

/// The same where `invert` inverts in Fp.
pub fn is_final_exponentiation_one_with<M: Machine, C: PairingCurve>(
    machine: &M,
    f: Fp12<M::Fe, C>,
    invert: impl Fn(M::Fe) -> M::Fe,
) -> M::Word {
    is_hard_part_one(machine, easy_part_with(machine, f, invert), Room::Short)
}

fn is_hard_part_one<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>, room: Room) -> M::Word {
    match C::FAMILY {
        Family::Bls { .. } => bls::is_hard_part_one(machine, m, room),
        Family::Bn { .. } => bn::is_hard_part_one(machine, m),
    }
}

/// f ↦ f^((p⁶ − 1)(p² + 1)), an element of the cyclotomic subgroup.
pub fn easy_part<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    easy_part_with(machine, f, |a| C::invert(machine, a))
}

/// The same where `invert` inverts in Fp.
fn easy_part_with<M: Machine, C: PairingCurve>(
    machine: &M,
    f: Fp12<M::Fe, C>,
    invert: impl Fn(M::Fe) -> M::Fe,
) -> Fp12<M::Fe, C> {
    let _scope = enter("easy_part");
    let in_calls = |machine: &M| {
        let opposite = f.conjugate();
        let (norm, _) = multiply(machine, f, opposite).even_and_odd();
        let zero = machine.zero();
        let nothing = Fp6::from_list(vec![zero; <Fp6<M::Fe, C> as Bundle<M::Fe>>::LEN]);
        let inverse = Fp12::from_even_and_odd(norm.inverse_with(&invert), nothing);
        multiply(machine, multiply(machine, opposite, inverse), opposite)
    };
    let g = in_short_code(machine, in_calls, |_| f.conjugate_over_self(&invert));
    multiply(machine, g, frobenius_squared(machine, g))
}
