//! Accelerators: sums, differences and products modulo odd numbers of 256 and 384 bits that the machine below computes by a call, as a zkVM does whose
//! prover has a circuit for them.
//!
//! They are installed once in a process, before its first modulus. From then on the values of odd moduli of four and of six limbs are canonical, and
//! each operation on them is one call. Moduli that were made before stay in Montgomery form.

use alloc::boxed::Box;

use once_cell::race::OnceBox;
use residue_formula::{FieldOp, PerOp};

use crate::backend::{Kernel, array, check_operands};
use crate::limbs::Limb;

/// out = x ∘ y mod m, for any x, y below 2^(64N) and m odd: out, x, y, m, the least limb first.
pub type Accelerator<const N: usize> = fn(&mut [Limb; N], &[Limb; N], &[Limb; N], &[Limb; N]);

/// Those of a machine.
#[derive(Debug, Clone, Copy)]
pub struct Accelerators {
    /// For moduli of four limbs.
    pub four: PerOp<Accelerator<4>>,
    /// For moduli of six limbs.
    pub six: PerOp<Accelerator<6>>,
}

static INSTALLED: OnceBox<Accelerators> = OnceBox::new();

/// Installs accelerators for all moduli that are made from now on; false if there are some already, which stay.
pub fn install(accelerators: Accelerators) -> bool {
    INSTALLED.set(Box::new(accelerators)).is_ok()
}

/// True if an odd modulus of so many limbs has them.
pub(crate) fn are_there(width_limbs: usize) -> bool {
    matches!(width_limbs, 4 | 6) && INSTALLED.get().is_some()
}

/// An operation, by its place in [`FieldOp::ALL`], modulo odd numbers of N limbs.
pub(crate) struct Accelerated<const N: usize, const OPERATION: usize>;

macro_rules! kernels {
    ($($width:literal $of_width:ident),*) => {$(
        impl<const OPERATION: usize> Kernel for Accelerated<$width, OPERATION> {
            #[inline]
            fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
                check_operands::<$width>(limbs, [out, x, y]);
                let accelerators = INSTALLED.get().expect("a modulus asks for them only if there are some");
                let mut result = [0; $width];
                let call = accelerators.$of_width[FieldOp::ALL[OPERATION]];
                call(&mut result, array(limbs, x), array(limbs, y), array(m, 0));
                limbs[out..out + $width].copy_from_slice(&result);
            }
        }
    )*};
}

kernels!(4 four, 6 six);
