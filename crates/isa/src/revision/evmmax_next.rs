//! The experiments that earn their place on top of EIP-6690 of 2024, together: `docs/evmmax-next.md` has each one's number.
//!
//! Source: the revisions `x-…`, each of which is one of them.

use super::rules::{Addition, SlotRules};
use super::{EncodeError, Interface, Semantics, codec, x_arrayx, x_codex, x_invmodx, x_iszerox, x_padx, x_sumx};
use crate::field_instruction::FieldInstruction;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 SETMODX  "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0xc1 LOADX    "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX   "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX  "out = x + y mod m in each lane." 0 -> 0 immediate 7;
    0xc4 SUBMODX  "out = x - y mod m in each lane." 0 -> 0 immediate 7;
    0xc5 MULMODX  "out = x * y mod m in each lane." 0 -> 0 immediate 7;
    0xc6 INVMODX  "out = inverse of x mod m in each lane, 0 if there is none." 0 -> 0 immediate 5;
    0xc7 ISZEROX  "Whether a slot is zero." 0 -> 1 immediate 1;
    0xc8 SUM2X    "out = 2 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 6;
    0xc9 SUM3X    "out = 3 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 8;
    0xca SUM4X    "out = 4 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 10;
    0xcb SUM5X    "out = 5 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 12;
    0xcc SUM6X    "out = 6 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 14;
    0xcd GETX     "Copies elements of the array to slots: index of the first." 1 -> 0 immediate 2;
    0xce PUTX     "Copies slots to elements of the array: index of the first." 1 -> 0 immediate 2;
    0xcf LOADPX   "Copies slots into memory, each in so many bytes: memory offset, first slot, count." 3 -> 0 immediate 1;
    0xd0 STOREPX  "Copies memory into slots, each from so many bytes: first slot, memory offset, count." 3 -> 0 immediate 1;
    0xd1 SETMODCX "Activates a field context, created if new: id, modulus offset in code, modulus size, slot count." 4 -> 0;
    0xd2 STORECX  "Copies code into slots: first slot, code offset, count." 3 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evmmax-next",
    summary: "the experiments that earn their place on top of EIP-6690 of 2024, together",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: super::eip6690_2024::MODULUS_BYTES_MAX / 8,
    default_schedule: "next",
    encode,
    decode,
};

/// Rules, as differences to `eip6690-2024`.
pub const RULES: SlotRules = SlotRules {
    invert: x_invmodx::RULES.invert,
    inverts_modulo: x_invmodx::RULES.inverts_modulo,
    is_zero: x_iszerox::RULES.is_zero,
    sums: x_sumx::RULES.sums,
    get: x_arrayx::RULES.get,
    put: x_arrayx::RULES.put,
    load_padded: x_padx::RULES.load_padded,
    store_padded: x_padx::RULES.store_padded,
    set_modulus_in_code: x_codex::RULES.set_modulus_in_code,
    store_from_code: x_codex::RULES.store_from_code,
    additions: &[
        Addition::Inversion,
        Addition::IsZero,
        Addition::Sums,
        Addition::Arrays,
        Addition::Padding,
        Addition::Code,
    ],
    ..SlotRules::EIP6690_2024
};

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_added((&INTERFACE, &RULES), instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_added((&INTERFACE, &RULES), code)
}
