//! Kernels: the code that runs a plan's tables. `scalar` runs everywhere and judges `ifma`, which needs AVX-512 with IFMA.
//!
//! Both make the same rows bit for bit, redundant limbs included: every step is defined by its effect on limbs.

#[cfg(target_arch = "x86_64")]
mod ifma;
pub(crate) mod scalar;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use crate::modulus_rows::{ModulusRows, ProductConstants};
use crate::plan::{BatchStep, Plan};
use crate::rows::Rows;

/// Ways to run a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Safe Rust, any machine.
    Scalar,
    /// Eight products at a time with AVX-512 IFMA.
    Ifma,
}

static BEST: LazyLock<Kernel> = LazyLock::new(|| {
    let is_off = std::env::var_os("RESIDUE_LANES").is_some_and(|value| value == "off");
    if !is_off && Kernel::Ifma.is_available() { Kernel::Ifma } else { Kernel::Scalar }
});

impl Kernel {
    /// The fastest kernel of this machine; [`Kernel::Scalar`] if the environment variable `RESIDUE_LANES` is `off`. Decided once.
    pub fn best() -> Self {
        *BEST
    }

    /// Can this machine run it?
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Ifma => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512ifma")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Ifma => false,
        }
    }
}

/// Runs a plan. Shapes and slots were compared by the caller, and the rows reach to the plan's row count.
pub(crate) fn run(kernel: Kernel, plan: &Plan, modulus: &ModulusRows, rows: &mut Rows) {
    match kernel {
        Kernel::Scalar => scalar::run(plan, modulus, rows),
        #[cfg(target_arch = "x86_64")]
        Kernel::Ifma => ifma::run(plan, modulus, rows),
        #[cfg(not(target_arch = "x86_64"))]
        Kernel::Ifma => unreachable!("this machine has no IFMA; `Kernel::is_available` says so"),
    }
}

/// Runs one batch without companions on rows that exist.
pub(crate) fn run_batch(kernel: Kernel, constants: &ProductConstants, rows: &mut Rows, batch: &BatchStep) {
    match kernel {
        Kernel::Scalar => scalar::batch(constants, rows.shape(), rows, batch, &[]),
        #[cfg(target_arch = "x86_64")]
        Kernel::Ifma => ifma::run_batch(constants, rows, batch),
        #[cfg(not(target_arch = "x86_64"))]
        Kernel::Ifma => unreachable!("this machine has no IFMA; `Kernel::is_available` says so"),
    }
}
