//! Kernels: the arithmetic of reduced limbs, written for the compiler in [`portable`].

pub(crate) mod portable;
