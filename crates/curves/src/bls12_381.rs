//! BLS12-381: its constants, its two groups, and the pairing check.
//!
//! p(x) = (x − 1)²·(x⁴ − x² + 1)/3 + x and r(x) = x⁴ − x² + 1 at x = −0xd201000000010000. G1 is the subgroup of order r of
//! y² = x³ + 4 over Fp, G2 that of the twist y² = x³ + 4ξ over Fp2, ξ = 1 + u; draft-irtf-cfrg-pairing-friendly-curves-11,
//! §4.2.1. Everything here is for affine points other than the identity: programs set identities aside first.

pub mod constants;
pub mod final_exponentiation;
pub mod g1;
pub mod g2;
pub mod miller;

pub use constants::X_ABS;
pub use final_exponentiation::{final_exponentiation, is_final_exponentiation_one};
pub use miller::{Pairs, miller_loop};

use crate::chain::pow_constant;
use residue_ir::Machine;

/// a ↦ a⁻¹ = a^(p−2) in Fp, as a function; 0 ↦ 0.
pub fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.function("fp_inverse", a, |_, a| pow_constant(a, &(constants::modulus() - 2u32)))
}

/// 1 if the product of the pairings e(P, Q) over the first `count` of `pairs` is one, else 0. Points must lie in their
/// groups: ask [`g1::membership`] of each P before, and [`Pairs::membership`] of each Q after the check.
pub fn pairing_check<M: Machine>(machine: &M, pairs: &Pairs<M::Fe>, count: M::Word) -> M::Word {
    let f = miller_loop(machine, pairs, count);
    is_final_exponentiation_one(machine, f)
}
