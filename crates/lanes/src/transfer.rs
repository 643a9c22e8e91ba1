//! Transfers: values to move between bytes and rows, and their form there.

use crate::modulus_rows::{Form, ModulusRows};

/// The order of a value's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteOrder {
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

/// Up to eight values of n limbs of 64 bits, each a slot and its place in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer<'a> {
    pub modulus: &'a ModulusRows,
    /// Form of the values in memory.
    pub form: Form,
    pub order: ByteOrder,
    pub slots: &'a [u16],
    /// Offsets of the 8n bytes of each value.
    pub offsets: &'a [usize],
}
