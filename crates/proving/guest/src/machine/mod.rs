//! The machine under the guest: its memory, its beginning and its calls.

#[cfg_attr(feature = "sp1", path = "sp1.rs")]
#[cfg_attr(not(feature = "sp1"), path = "emulator.rs")]
pub mod calls;
pub mod memory;
