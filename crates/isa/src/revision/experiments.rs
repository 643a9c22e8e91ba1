//! Experiments on EIP-6690 of 2024, as a table: each is that interface with the rules and the opcodes of its entry.
//!
//! Source: none outside but what an entry names. An entry makes the module of a revision, with a constant for each opcode. An experiment is removed by
//! deleting its entry, and its line in `crates/isa/src/revision.rs`.

/// Makes a module of each entry: rules that differ from those of EIP-6690 of 2024, opcodes after those that it has.
macro_rules! experiments {
    ($(
        $(#[$doc:meta])*
        pub mod $module:ident {
            $name:literal, $summary:literal,
            rules { $($rule:ident: $value:expr),* $(,)? }
            opcodes { $($row:tt)* }
        }
    )*) => {$(
        $(#[$doc])*
        pub mod $module {
            use alloc::vec::Vec;

            use crate::field_instruction::FieldInstruction;
            use crate::opcode::{immediate_table, opcodes};
            use crate::revision::rules::{Addition, SlotRules};
            use crate::revision::{EncodeError, Interface, Semantics, codec, eip6690_2024};

            opcodes! {
                0xc0 SETMODX "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
                0xc1 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
                0xc2 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
                0xc3 ADDMODX "out = x + y mod m in each lane." 0 -> 0 immediate 7;
                0xc4 SUBMODX "out = x - y mod m in each lane." 0 -> 0 immediate 7;
                0xc5 MULMODX "out = x * y mod m in each lane." 0 -> 0 immediate 7;
                $($row)*
            }

            /// The revision.
            pub const INTERFACE: Interface = Interface {
                name: $name,
                summary: $summary,
                semantics: Semantics::Slots(&RULES),
                opcodes: OPCODES,
                immediates: immediate_table(OPCODES),
                default_schedule: "next",
                encode,
                decode,
                ..eip6690_2024::INTERFACE
            };

            /// Rules, as differences to `eip6690-2024`.
            pub const RULES: SlotRules = SlotRules { $($rule: $value,)* ..SlotRules::EIP6690_2024 };

            fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
                codec::encode_added((&INTERFACE, &RULES), instruction, code)
            }

            fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
                codec::decode_added((&INTERFACE, &RULES), code)
            }
        }
    )*};
}

experiments! {
    /// An experiment: EIP-6690 of 2024 with INVMODX, an instruction for inverses in each lane; the result is 0 if there is
    /// no inverse.
    ///
    /// Source: none outside. The bytes are those of INVMODX in evmone's branch `evmmax-vectorized`: out, out_stride, x, x_stride, count. Lanes
    /// are read before any is written, and modulo a power of two the inverse is modulo that power.
    pub mod x_invmodx {
        "x-invmodx", "experiment: EIP-6690 of 2024 with INVMODX, exact inverses and 0 for what has none",
        rules {
            invert: Some(INVMODX),
            inverts_modulo: crate::revision::rules::InvertsModulo::Modulus,
            additions: &[Addition::Inversion],
        }
        opcodes {
            0xc6 INVMODX "out = inverse of x mod m in each lane, 0 if there is none." 0 -> 0 immediate 5;
        }
    }

    /// An experiment: EIP-6690 of 2024 with ISZEROX, which puts 1 on the stack if the slot in its immediate byte is zero, else 0.
    ///
    /// Source: none outside.
    pub mod x_iszerox {
        "x-iszerox", "experiment: EIP-6690 of 2024 with ISZEROX, which tells the stack whether a slot is zero",
        rules { is_zero: Some(ISZEROX), additions: &[Addition::IsZero] }
        opcodes {
            0xc7 ISZEROX "Whether a slot is zero." 0 -> 1 immediate 1;
        }
    }

    /// An experiment: EIP-6690 of 2024 with SUM2X to SUM6X, sums and differences of two to six products with one reduction.
    ///
    /// Source: none outside. Immediate bytes are out, signs, then the two slots of each product; bit i of signs is set if
    /// product i is subtracted, the bits after the products mean nothing. All slots are read before the result is written.
    /// Lanes with strides do not fit sums: few formulas have corresponding operands of their sums at equal distances.
    pub mod x_sumx {
        "x-sumx", "experiment: EIP-6690 of 2024 with SUM2X to SUM6X, sums of products with one reduction",
        rules { sums: Some(SUM2X), additions: &[Addition::Sums] }
        opcodes {
            0xc8 SUM2X "out = 2 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 6;
            0xc9 SUM3X "out = 3 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 8;
            0xca SUM4X "out = 4 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 10;
            0xcb SUM5X "out = 5 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 12;
            0xcc SUM6X "out = 6 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 14;
        }
    }

    /// An experiment: EIP-6690 of 2024 with GETX and PUTX, which copy between slots and an array that each field context has beside them, at
    /// an index from the stack.
    ///
    /// Source: none outside. Immediate bytes are the first slot and the number of values; the lowest 16 bits of the word on
    /// the stack are the index of the first element, so that cells of packed digits need no mask. An array is empty at
    /// first and grows to the named elements, with zeros, as memory does; its elements count as memory like slots. So an
    /// operand that is known only at run time costs a copy, and the slots of arithmetic stay constants, as blocks and plans
    /// require.
    pub mod x_arrayx {
        "x-arrayx", "experiment: EIP-6690 of 2024 with GETX and PUTX, elements by an index from the stack",
        rules { get: Some(GETX), put: Some(PUTX), additions: &[Addition::Arrays] }
        opcodes {
            0xcd GETX "Copies elements of the array to slots: index of the first." 1 -> 0 immediate 2;
            0xce PUTX "Copies slots to elements of the array: index of the first." 1 -> 0 immediate 2;
        }
    }

    /// An experiment: EIP-6690 of 2024 with LOADPX and STOREPX, which are LOADX and STOREX for values that take more bytes of memory than the
    /// modulus, as those of EIP-2537 do: 64 for 48.
    ///
    /// Source: none outside. The immediate byte is the number of bytes of a value, at least that of LOADX and STOREX. A
    /// loaded value is preceded by zeros; all stored bytes are one number, which must be below the modulus.
    pub mod x_padx {
        "x-padx", "experiment: EIP-6690 of 2024 with LOADPX and STOREPX, values with zeros in front of them",
        rules { load_padded: Some(LOADPX), store_padded: Some(STOREPX), additions: &[Addition::Padding] }
        opcodes {
            0xcf LOADPX  "Copies slots into memory, each in so many bytes: memory offset, first slot, count." 3 -> 0 immediate 1;
            0xd0 STOREPX "Copies memory into slots, each from so many bytes: first slot, memory offset, count." 3 -> 0 immediate 1;
        }
    }

    /// An experiment: EIP-6690 of 2024 with SETMODCX and STORECX, which are SETMODX and STOREX with their input in code
    /// instead of memory.
    ///
    /// Source: none outside. A modulus and the constants of a program stand in its code; without these they go through
    /// memory. Offsets are in the running code, as for CODECOPY, and the range must lie inside it.
    pub mod x_codex {
        "x-codex", "experiment: EIP-6690 of 2024 with SETMODCX and STORECX, a modulus and values that stand in code",
        rules { set_modulus_in_code: Some(SETMODCX), store_from_code: Some(STORECX), additions: &[Addition::Code] }
        opcodes {
            0xd1 SETMODCX "Activates a field context, created if new: id, modulus offset in code, modulus size, slot count." 4 -> 0;
            0xd2 STORECX  "Copies code into slots: first slot, code offset, count." 3 -> 0;
        }
    }

    /// An experiment: EIP-6690 of 2024 with FP2MULX, a fused product in Fp2 = Fp[u] with u² = −1, as two sums of two products with one reduction each.
    ///
    /// Source: none outside. Immediate bytes are out₀, out₁, out_stride, x₀, x₁, x_stride, y₀, y₁, y_stride, count: the coefficients of an element are in any two
    /// slots, and lanes go on from each by a common stride. All lanes are read before the first is written; of two results in one slot the later stays, out₀
    /// before out₁ and lanes in their order. A square has x = y. Other u² have no operand: the coefficient of 1 would need a product more, or additions, that most
    /// towers do not.
    pub mod x_fp2x {
        "x-fp2x", "experiment: EIP-6690 of 2024 with FP2MULX, fused products in Fp2",
        rules { mul_fp2: Some(FP2MULX), additions: &[Addition::Fp2] }
        opcodes {
            0xd3 FP2MULX "out = x * y in Fp2 with u * u = -1 in each lane, an element in two slots." 0 -> 0 immediate 10;
        }
    }

    /// An experiment: EIP-6690 of 2024 with MOVX, which copies slots.
    ///
    /// Source: none outside. Immediate bytes are out_index, out_stride, x_index, x_stride, count, as those of the arithmetic without its second operand. All
    /// slots are read before any is written.
    pub mod x_movx {
        "x-movx", "experiment: EIP-6690 of 2024 with MOVX, copies of slots",
        rules { copy: Some(MOVX), additions: &[Addition::Copies] }
        opcodes {
            0xd4 MOVX "out = x in each lane." 0 -> 0 immediate 5;
        }
    }

    /// An experiment: EIP-6690 of 2024 with FP6MULX, a fused product in Fp6 = Fp2[v] with v³ = ξ over Fp2 = Fp[u] with u² = −1: six sums of six products with one
    /// reduction each.
    ///
    /// Source: none outside. Immediate bytes are the six slots of the result, of x and of y, in the order of 1, u, v, uv, v², uv², then a and b of ξ = a + b·u, any two
    /// bytes. The coefficients of an element are in any six slots. All operands are read before a result is written; of two results in one slot the one later in
    /// order stays. A square has x = y. It has no lanes: twenty bytes are many as they are, and a product of such size leaves nothing to share.
    pub mod x_fp6x {
        "x-fp6x", "experiment: EIP-6690 of 2024 with FP6MULX, fused products in Fp6",
        rules { mul_fp6: Some(FP6MULX), additions: &[Addition::Fp6] }
        opcodes {
            0xd7 FP6MULX "out = x * y in Fp6 with u * u = -1 and v * v * v = a + b * u, an element in six slots." 0 -> 0 immediate 20;
        }
    }

    /// An experiment: EIP-6690 of 2024 with SELECTX, which chooses between slots by a word on the stack.
    ///
    /// Source: none outside. Immediate bytes are those of the arithmetic. The word is of any value: not zero is x, zero is y. All slots are read before any is
    /// written.
    pub mod x_selectx {
        "x-selectx", "experiment: EIP-6690 of 2024 with SELECTX, choices between slots",
        rules { select: Some(SELECTX), additions: &[Addition::Choices] }
        opcodes {
            0xd5 SELECTX "out = x in each lane if the word is not zero, else y." 1 -> 0 immediate 7;
        }
    }

    /// An experiment: EIP-6690 of 2024 with EQX and LTX, which compare the values of two slots and put the answer on the stack.
    ///
    /// Source: none outside. Immediate bytes are the slots x and y, which may be the same. Values are compared as integers in 0, …, m − 1.
    pub mod x_cmpx {
        "x-cmpx", "experiment: EIP-6690 of 2024 with EQX and LTX, comparison of slots",
        rules { equal: Some(EQX), less: Some(LTX), additions: &[Addition::Comparison] }
        opcodes {
            0xd8 EQX "Whether two slots are equal." 0 -> 1 immediate 2;
            0xd9 LTX "Whether the integer in slot x is less than that in slot y." 0 -> 1 immediate 2;
        }
    }

    /// An experiment: EIP-6690 of 2024 with a price of its own for squares: multiplications with the same slots as both
    /// factors.
    ///
    /// Source: none outside. Opcodes and semantics are those of EIP-6690. An instruction is a square by its immediate:
    /// x_index = y_index and x_stride = y_stride, independent of the values.
    pub mod x_squarex {
        "x-squarex", "experiment: EIP-6690 of 2024 with a price for squares",
        rules { prices_squares: true, additions: &[Addition::Squares] }
        opcodes {}
    }

    /// The experiments that earn their place on top of EIP-6690 of 2024, together: `docs/evmmax-next.md` has each one's number.
    ///
    /// Source: the revisions `x-…`, each of which is one of them.
    pub mod evmmax_next {
        "evmmax-next", "the experiments that earn their place on top of EIP-6690 of 2024, together",
        rules {
            invert: super::x_invmodx::RULES.invert,
            inverts_modulo: super::x_invmodx::RULES.inverts_modulo,
            is_zero: super::x_iszerox::RULES.is_zero,
            sums: super::x_sumx::RULES.sums,
            get: super::x_arrayx::RULES.get,
            put: super::x_arrayx::RULES.put,
            load_padded: super::x_padx::RULES.load_padded,
            store_padded: super::x_padx::RULES.store_padded,
            set_modulus_in_code: super::x_codex::RULES.set_modulus_in_code,
            store_from_code: super::x_codex::RULES.store_from_code,
            additions: &[Addition::Inversion, Addition::IsZero, Addition::Sums, Addition::Arrays, Addition::Padding, Addition::Code],
        }
        opcodes {
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
    }
}
