//! The kernels that there are, and the fastest of this machine.

#[cfg(all(target_arch = "x86_64", feature = "std"))]
use std::arch::is_x86_feature_detected;

use crate::locks::LazyLock;

/// Without the system, the features that the build asks for.
#[cfg(all(target_arch = "x86_64", not(feature = "std")))]
macro_rules! is_x86_feature_detected {
    ($name:tt) => {
        cfg!(target_feature = $name)
    };
}

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
    Kernel::fastest(Kernel::Ifma.is_available() && residue_modular::wants_vectors(), works_in_halves())
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

    /// The fastest where the instructions are there and wanted or not, and vectors are worked on in halves or not.
    fn fastest(has_ifma: bool, has_halves: bool) -> Self {
        match has_ifma {
            false => Self::Scalar,
            true if has_halves => Self::IfmaQuads,
            true => Self::Ifma,
        }
    }

    /// True if four products take half the time of eight.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_kernel_is_taken_unless_it_is_switched_off() {
        assert_eq!([false, true].map(|halves| Kernel::fastest(true, halves)), [Kernel::Ifma, Kernel::IfmaQuads]);
        assert_eq!([false, true].map(|halves| Kernel::fastest(false, halves)), [Kernel::Scalar; 2]);
        let is_off = std::env::var_os("RESIDUE_LANES").is_some_and(|setting| setting == "off");
        assert_eq!(Kernel::best(), Kernel::fastest(Kernel::Ifma.is_available() && !is_off, works_in_halves()));
        assert_eq!(Kernel::ALL.map(Kernel::has_fours), [false, false, true]);
        assert!(Kernel::Scalar.is_available());
        assert_eq!(Kernel::Ifma.is_available(), Kernel::IfmaQuads.is_available());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn vectors_are_worked_on_in_halves_by_one_family_of_one_vendor() {
        let vendor = |name: &[u8; 12]| [0, 4, 8].map(|at| u32::from_le_bytes(name[at..at + 4].try_into().unwrap()));
        // EPYC 7003 and 9004 (Zen 3 and 4), EPYC 9005 (Zen 5), Opteron 6200, Xeon of the fourth generation.
        let signatures = [0x00a0_0f11, 0x00a1_0f11, 0x00b0_0f21, 0x0060_0f12, 0x0008_06f8];
        let has_halves = |name| signatures.map(|signature| super::has_halves(vendor(name), signature));
        assert_eq!(has_halves(b"AuthenticAMD"), [true, true, false, false, false]);
        assert_eq!(has_halves(b"GenuineIntel"), [false; 5]);
    }

    /// Features of the CPU as listed by the system, if it lists them in this form.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn this_cpu_is_what_the_system_says() {
        let Ok(text) = std::fs::read_to_string("/proc/cpuinfo") else { return };
        let of = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
        };
        let (Some(vendor), Some(family), Some(flags)) = (of("vendor_id"), of("cpu family"), of("flags")) else {
            return;
        };
        assert_eq!(works_in_halves(), vendor == "AuthenticAMD" && family == "25");
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let wanted = ["avx512f", "avx512dq", "avx512vl", "avx512bw", "avx512ifma"];
        assert_eq!(Kernel::Ifma.is_available(), wanted.iter().all(|flag| flags.contains(flag)));
    }
}
