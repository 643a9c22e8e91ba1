//! Modular arithmetic of any width, from 3 to 2⁴⁰⁹⁶ − 1: the numbers under every crate of Residue.
//!
//! For moduli that only code knows there are [`Modulus`] and [`FieldContext`], a modulus with its slots, and [`evm384`]
//! for values of 48 bytes that lie in EVM memory. For fields known at compile time there is the number type
//! [`Fp`] ([`fields`] lists them), which `residue_formula`'s formulas compute with.
//! The `backend` picks the kernels for width and CPU.
//!
//! All data of the EVM is public, so nothing here hides secrets: additions and products happen to be branch-free
//! because that is fastest, inversions are not.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

extern crate alloc;

pub mod accelerators;
pub mod context;
pub mod division_steps;
pub mod evm384;
pub mod fields;
pub mod fp;
pub mod inverse;
pub mod limbs;
pub mod modulus;
pub mod short;

#[allow(unsafe_code, reason = "kernels call CPU instructions that the compiler does not emit by itself")]
mod backend;

pub use context::{
    FieldContext, Fp2Strided, Fp6Slots, PackedStep, SUM_PRODUCTS_MAX, ShortStrided, SlotLanes, SlotStep, Strided,
    ValueOutOfRange, is_apart,
};
pub use fp::{Fp, PrimeField};
pub use limbs::Limb;
pub use modulus::{Modulus, ModulusError};

/// True unless the environment variable `RESIDUE_LANES` is `off`: use vectors of several values if the CPU has them.
/// Read once. Without the standard library there is no environment, and the CPU decides.
pub fn wants_vectors() -> bool {
    #[cfg(not(feature = "std"))]
    return true;
    #[cfg(feature = "std")]
    wanted_by_the_environment()
}

#[cfg(feature = "std")]
fn wanted_by_the_environment() -> bool {
    static WANTED: std::sync::LazyLock<bool> =
        std::sync::LazyLock::new(|| std::env::var_os("RESIDUE_LANES").is_none_or(|setting| setting != "off"));
    *WANTED
}
