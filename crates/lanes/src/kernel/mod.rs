//! Kernels: the code that runs a plan's tables. `scalar` runs everywhere and judges `ifma`, which needs AVX-512 with IFMA.
//!
//! Both make the same rows bit for bit, redundant limbs included: every step is defined by its effect on limbs.

mod choice;
#[cfg(target_arch = "x86_64")]
#[allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "limbs keep their indices, as in the formulas")]
mod ifma;
#[cfg(test)]
#[path = "tests/proof/mod.rs"]
mod proof;
pub(crate) mod scalar;
#[cfg(any(test, target_arch = "x86_64"))]
#[allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "limbs keep their indices, as in the formulas")]
mod steps;
#[cfg(test)]
mod tests;
#[cfg(any(test, target_arch = "x86_64"))]
mod vectors;

use crate::modulus_rows::ModulusRows;
use crate::rows::Rows;
use crate::tables::Plan;
use crate::transfer::Transfer;

pub use choice::Kernel;

/// Runs a plan. Shapes and slots were compared by the caller, and the rows reach to the plan's row count.
pub(crate) fn run(kernel: Kernel, plan: &Plan, modulus: &ModulusRows, rows: &mut Rows) {
    match kernel {
        Kernel::Scalar => scalar::run(plan, modulus, rows),
        #[cfg(target_arch = "x86_64")]
        Kernel::Ifma | Kernel::IfmaQuads => ifma::run(kernel, plan, modulus, rows),
        #[cfg(not(target_arch = "x86_64"))]
        Kernel::Ifma | Kernel::IfmaQuads => unreachable!("this machine has no IFMA; `Kernel::is_available` says so"),
    }
}

/// Values to rows, all or, if some are not below the modulus, none; returns the set of lanes that are not.
pub(crate) fn enter(kernel: Kernel, transfer: &Transfer<'_>, bytes: &[u8], rows: &mut Rows) -> u8 {
    match kernel {
        Kernel::Scalar => scalar::enter(transfer, bytes, rows),
        #[cfg(target_arch = "x86_64")]
        Kernel::Ifma | Kernel::IfmaQuads => ifma::enter(transfer, bytes, rows),
        #[cfg(not(target_arch = "x86_64"))]
        Kernel::Ifma | Kernel::IfmaQuads => unreachable!("this machine has no IFMA; `Kernel::is_available` says so"),
    }
}

/// Rows to values below the modulus.
pub(crate) fn leave(kernel: Kernel, transfer: &Transfer<'_>, bytes: &mut [u8], rows: &mut Rows) {
    match kernel {
        Kernel::Scalar => scalar::leave(transfer, bytes, rows),
        #[cfg(target_arch = "x86_64")]
        Kernel::Ifma | Kernel::IfmaQuads => ifma::leave(transfer, bytes, rows),
        #[cfg(not(target_arch = "x86_64"))]
        Kernel::Ifma | Kernel::IfmaQuads => unreachable!("this machine has no IFMA; `Kernel::is_available` says so"),
    }
}
