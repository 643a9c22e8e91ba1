//! EIP-6690 as rewritten in November and December 2024: field contexts with slots, strided instructions.
//!
//! Source: EIP-6690 at commit 968159a9b, unchanged in substance since. The seven immediate bytes are those of
//! [`super::strided`]. LOADX copies slots into memory and STOREX copies memory into slots; values
//! in memory are canonical, big-endian and 8·⌈modulus_size / 8⌉ bytes long.

use super::rules::SlotRules;
use super::{Interface, Semantics, codec};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 SETMODX "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0xc1 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX "out = x + y mod m in each lane." 0 -> 0 immediate 7;
    0xc4 SUBMODX "out = x - y mod m in each lane." 0 -> 0 immediate 7;
    0xc5 MULMODX "out = x * y mod m in each lane." 0 -> 0 immediate 7;
}

/// The most slots one field context may have (EIP-6690, `SETMODX`).
pub const SLOTS_MAX: usize = 256;
/// The most bytes that all slots of a frame may take together (EIP-6690, `SETMODX`).
pub const SLOT_BYTES_MAX: usize = 24_576;
/// The longest modulus in bytes (EIP-6690, `SETMODX`).
pub const MODULUS_BYTES_MAX: usize = 96;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "eip6690-2024",
    summary: "EIP-6690 of December 2024, the text on main: field contexts with slots, strided arithmetic",
    semantics: Semantics::Slots(&SlotRules::EIP6690_2024),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: MODULUS_BYTES_MAX / 8,
    default_schedule: "eip6690",
    encode: codec::encode,
    decode: codec::decode,
};

#[cfg(test)]
mod tests {
    use super::super::EncodeError;
    use super::*;
    use crate::field_instruction::FieldInstruction;
    use crate::field_instruction::{FieldOp, Lanes, ModulusAt};

    #[test]
    fn the_immediate_is_index_and_stride_of_out_x_y_then_count() {
        let instruction = FieldInstruction::Slots {
            operation: FieldOp::Mul,
            out: Lanes { index: 1, stride: 2 },
            x: Lanes { index: 3, stride: 0 },
            y: Lanes { index: 255, stride: 4 },
            count: 8,
        };
        let mut code = Vec::new();
        codec::encode(&INTERFACE, &instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), "c501020300ff0408");
        assert_eq!(codec::decode(&INTERFACE, &code), Some((instruction, 8)));
        assert_eq!(codec::decode(&INTERFACE, &code[..7]), None);
    }

    #[test]
    fn memory_offsets_are_refused_and_nothing_is_appended() {
        let memory =
            FieldInstruction::Memory { operation: FieldOp::Add, out: 0, x: 0, y: 0, modulus: ModulusAt::Implied };
        let mut code = Vec::new();
        assert!(matches!(
            codec::encode(&INTERFACE, &memory, &mut code),
            Err(EncodeError::OperandKind { revision: "eip6690-2024", .. })
        ));
        assert!(code.is_empty());
    }
}
