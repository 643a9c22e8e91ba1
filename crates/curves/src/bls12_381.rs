//! BLS12-381: its constants and its two groups; it has a [`pairing`](crate::pairing).
//!
//! p(x) = (x − 1)²·(x⁴ − x² + 1)/3 + x and r(x) = x⁴ − x² + 1 at x = −0xd201000000010000. G1 is the subgroup of order r of
//! y² = x³ + 4 over Fp, G2 that of the twist y² = x³ + 4ξ over Fp2, ξ = 1 + u; draft-irtf-cfrg-pairing-friendly-curves-11,
//! §4.2.1. Everything here is for affine points other than the identity: programs set identities aside first.

pub mod constants;
mod endomorphism;
mod fp2_root;
pub mod g1;
pub mod g2;
pub mod groups;
pub mod hash_to_curve;
pub mod isogeny;
pub mod map_g1;
pub mod map_g2;
pub mod msm;
pub mod opening;
pub mod torsion;

pub use constants::X_ABS;
pub use groups::{G1, G2, Group, to_affine, to_affine_by_root};
pub use msm::{Layout, Msm, MsmGroup, Window};

use crate::base_chain::pow_in_base_with;
use crate::bls12::{Bls12, power, power_of_x_abs};
use crate::conditions::Conditions;
use crate::group::{Affine, Projective};
use crate::pairing::final_exponentiation::is_final_exponentiation_one_with;
use crate::pairing::{self, Family, PairingCurve, Twist};
use crate::tower::{self, Tower};
use num_bigint::BigUint;
use residue_formula::Fe;
use residue_ir::Machine;

/// The curve, as a parameter of towers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bls12_381;

/// u² = −1 and ξ = 1 + u. draft-irtf-cfrg-pairing-friendly-curves-11, §4.2.1.
impl Tower for Bls12_381 {
    const N: u32 = 1;
    const K: u32 = 1;
}

/// draft-irtf-cfrg-pairing-friendly-curves-11, §4.2.1.
impl PairingCurve for Bls12_381 {
    const FAMILY: Family = Family::Bls { x_abs: X_ABS, x_is_negative: true };
    const TWIST: Twist = Twist::M;

    fn constants() -> &'static pairing::Constants<Self> {
        &constants::constants().pairing
    }

    fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    /// 3b″ = 2ξ.
    fn times_3b<M: Machine>(_: &M, a: Fp2<M::Fe>) -> Fp2<M::Fe> {
        a.mul_by_nonresidue().double()
    }

    fn membership_from_multiple<M: Machine>(
        machine: &M,
        q: Affine<Fp2<M::Fe>>,
        multiple: Projective<Fp2<M::Fe>>,
    ) -> Conditions<M::Fe> {
        g2::membership_from_multiple(machine, q, multiple)
    }
}

impl Bls12 for Bls12_381 {
    fn b() -> &'static BigUint {
        &constants::constants().b
    }

    fn beta() -> &'static BigUint {
        &constants::constants().beta
    }
}

/// Fp2 of this curve.
pub type Fp2<F> = tower::Fp2<F, Bls12_381>;
/// Fp4 of this curve.
pub type Fp4<F> = tower::Fp4<F, Bls12_381>;
/// Fp6 of this curve.
pub type Fp6<F> = tower::Fp6<F, Bls12_381>;
/// Fp12 of this curve.
pub type Fp12<F> = tower::Fp12<F, Bls12_381>;

/// a ↦ a⁻¹ in Fp, by an instruction where there is one; 0 ↦ 0.
pub fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, inverse_power)
}

/// a ↦ a⁻¹ = a^(p − 2) in Fp, as a function; 0 ↦ 0.
pub fn inverse_power<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.function("fp_inverse", a, |machine, a| power::<M, Bls12_381>(machine, a, &(constants::modulus() - 2u32)))
}

/// As [`crate::pairing::final_exponentiation::is_final_exponentiation_one`], for programs that take roots.
pub fn is_final_exponentiation_one_by_root<M: Machine>(machine: &M, f: Fp12<M::Fe>) -> M::Word {
    is_final_exponentiation_one_with(machine, f, |a| invert_by_root(machine, a))
}

/// As [`invert`], for programs that take roots.
pub fn invert_by_root<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, |machine, a| inverse_from_root(a, root_power(machine, a)))
}

/// (a, a^((p − 3)/4)) ↦ a⁻¹, as p − 2 = 4·(p − 3)/4 + 1: less code for programs that take roots too.
pub(crate) fn inverse_from_root<F: Fe>(a: F, power: F) -> F {
    power.square().square() * a
}

/// a ↦ a^((p − 3)/4), as a function: a times this is a square root of a, if a has one.
pub(crate) fn root_power<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.function("fp_root_power", a, |machine, a| power::<M, Bls12_381>(machine, a, &root_exponent()))
}

/// (p − 3)/4.
pub fn root_exponent() -> BigUint {
    (constants::modulus() - 3u32) / 4u32
}

/// As [`root_power`], with two powers by |x| at a time: 550 bytes more, 48 gas less.
pub(crate) fn root_power_by_twos<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    let once = |machine: &M, a| machine.function("fp_power_of_x_abs", a, |_, a| power_of_x_abs::<_, Bls12_381>(a));
    let times = |power: M::Fe, digit: Option<M::Fe>| digit.map_or(power, |digit| power * digit);
    machine.function("fp_root_power_by_twos", a, |machine, a| {
        pow_in_base_with(a, &root_exponent(), X_ABS, |power, digits| {
            digits.chunks(2).fold(power, |power, digits| match *digits {
                [Some(digit), last] => {
                    let twice =
                        |machine: &M, (power, digit)| once(machine, power_of_x_abs::<_, Bls12_381>(power) * digit);
                    times(machine.function("fp_power_of_x_abs_twice", (power, digit), twice), last)
                }
                _ => digits.iter().fold(power, |power, &digit| times(once(machine, power), digit)),
            })
        })
    })
}
