//! Towers over Fp, written once: `Fp2 = Fp[u] / (u² + n)`, `Fp4 = Fp2[s] / (s² − ξ)`, `Fp6 = Fp2[v] / (v³ − ξ)` and
//! `Fp12 = Fp2[w] / (w⁶ − ξ)`, with ξ = k + u. A curve says what n and k are; see [`Tower`].
//!
//! If the ξ that is both no square and no cube is large, two small numbers replace it: Fp12 is then `Fp4[w] / (w³ − c)`
//! with c in Fp, and `Fp6 = Fp2[w]`.
//!
//! If 5 is no square, Fp2 also contains the golden ratio: with u² = u + 1 a product by u is one addition, and a product
//! of Fp2 takes fewer additions than with u² = −1.

pub mod cyclotomic;
pub mod fp12;
pub mod fp2;
pub mod fp4;
pub mod fp6;

pub use fp2::Fp2;
pub use fp4::Fp4;
pub use fp6::Fp6;
pub use fp12::Fp12;

use residue_formula::Fe;
use std::fmt::Debug;

/// The nonresidues that a tower is made of.
pub trait Tower: Copy + Debug + PartialEq + Eq + 'static {
    /// n, where u² = −n. −n is no square in Fp.
    const N: u32;

    /// True if u² = u + 1 instead, with u the golden ratio (1 + √5)/2. Then 5 is no square in Fp, n is unused, and uᵖ =
    /// 1 − u.
    const IS_GOLDEN: bool = false;

    /// k, where ξ = k + u. ξ is no square in Fp2 and, without a [`Tower::CUBE`], no cube.
    const K: u32;

    /// c, where w³ = c, which is no cube in Fp; w³ = s without it.
    const CUBE: Option<u32> = None;

    /// True if u² = −1 and ξ = 1 + u, for which some formulas are shorter.
    const IS_ONE_PLUS_I: bool = Self::N == 1 && Self::K == 1 && !Self::IS_GOLDEN;
}

/// (a, k) ↦ k·a for k ≥ 1, by doubling and adding.
pub(crate) fn times_small<F: Fe>(a: F, k: u32) -> F {
    (0..k.ilog2()).rev().fold(a, |multiple, bit| {
        let double = multiple.double();
        if k >> bit & 1 == 1 { double + a } else { double }
    })
}
