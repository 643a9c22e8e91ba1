//! The operands of the opcode that sets a modulus.

use residue_isa::revision::rules::{SetForm, SizeUnit, SlotRules};

/// The words that the opcode takes that sets the modulus, top first, and its immediate: for a field context, a modulus of so
/// many bits, filling its bytes, at an offset, and a number of slots.
pub(crate) fn set_modulus_operands(
    rules: &SlotRules,
    id: u8,
    modulus_at: u64,
    modulus_bits: u64,
    slots: u64,
) -> (Vec<u64>, Vec<u8>) {
    let size = match rules.moduli.unit {
        SizeUnit::Bytes => modulus_bits.div_ceil(8),
        SizeUnit::Bits => modulus_bits,
    };
    match rules.form {
        SetForm::IdOnStack => (vec![u64::from(id), modulus_at, size, slots], vec![]),
        SetForm::IdImmediate => (vec![modulus_at, size, slots], vec![id]),
        SetForm::One => (vec![modulus_at, size, slots], vec![]),
    }
}
