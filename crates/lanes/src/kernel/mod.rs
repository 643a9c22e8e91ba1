//! Kernels: the code that runs a plan's tables. `scalar` runs everywhere and judges `ifma`, which needs AVX-512 with IFMA.
//!
//! Both make the same rows bit for bit, redundant limbs included: every step is defined by its effect on limbs.

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

use std::ffi::OsStr;
use std::sync::LazyLock;

use crate::modulus_rows::ModulusRows;
use crate::plan::Plan;
use crate::rows::Rows;
use crate::transfer::Transfer;

/// Ways to run a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Safe Rust, any machine.
    Scalar,
    /// Eight products at a time with AVX-512 IFMA.
    Ifma,
    /// Twice four products at a time with AVX-512 IFMA, in vectors of 256 bits: for CPUs that work on 512 bits in halves.
    IfmaQuads,
}

static BEST: LazyLock<Kernel> = LazyLock::new(|| {
    let setting = std::env::var_os("RESIDUE_LANES");
    Kernel::fastest(Kernel::Ifma.is_available(), setting.as_deref(), works_in_halves())
});

#[cfg(target_arch = "x86_64")]
static HAS_IFMA: LazyLock<bool> = LazyLock::new(|| {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512ifma")
});

/// Does this CPU work on vectors of 512 bits in halves?
fn works_in_halves() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::__cpuid;
        let (vendor, version) = (__cpuid(0), __cpuid(1));
        has_halves([vendor.ebx, vendor.edx, vendor.ecx], version.eax)
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Do CPUs of this vendor and signature? AMD's family 25 does, Zen 4 being its only member with AVX-512: Software Optimization Guide for the
/// AMD Zen4 Microarchitecture (57647), §2.11. A family is the base family and the extended one, which is 0 unless the base family is 15: AMD64
/// Architecture Programmer's Manual, volume 3, appendix E.3.2.
#[cfg(target_arch = "x86_64")]
fn has_halves(vendor: [u32; 3], signature: u32) -> bool {
    let family = (signature >> 8 & 0xf) + (signature >> 20 & 0xff);
    vendor.map(u32::to_le_bytes).concat() == b"AuthenticAMD" && family == 25
}

impl Kernel {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Ifma, Self::IfmaQuads];

    /// The fastest kernel of this machine; [`Kernel::Scalar`] if the environment variable `RESIDUE_LANES` is `off`. Decided once.
    pub fn best() -> Self {
        *BEST
    }

    /// The fastest where the instructions are there or not, the environment variable is set to something, and vectors are worked on in halves.
    fn fastest(has_ifma: bool, setting: Option<&OsStr>, has_halves: bool) -> Self {
        match has_ifma && setting != Some(OsStr::new("off")) {
            false => Self::Scalar,
            true if has_halves => Self::IfmaQuads,
            true => Self::Ifma,
        }
    }

    /// Does it take half the time for four products of what it takes for eight?
    pub(crate) fn has_fours(self) -> bool {
        self == Self::IfmaQuads
    }

    /// Can this machine run it?
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Ifma | Self::IfmaQuads => *HAS_IFMA,
            #[cfg(not(target_arch = "x86_64"))]
            Self::Ifma | Self::IfmaQuads => false,
        }
    }
}

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
