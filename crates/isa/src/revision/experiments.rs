//! Experiments on EIP-6690 of 2024, as a table: each is that interface with the rules and the opcodes of its entry.
//!
//! Source: none outside but what an entry names. An entry makes the module of a revision. An experiment is removed by deleting its entry, its line in
//! `crates/isa/src/revision.rs`, and the rows of its forms in `crates/isa/src/form.rs`.

use super::eip6690_2024;
use crate::form::{Form, PerForm};
use crate::opcode::{OpcodeRow, subroutine};

/// Makes a module of each entry: the opcodes of EIP-6690 of 2024, those of `forms` and of the experiments that it extends, and rules that differ.
macro_rules! experiments {
    ($(
        $(#[$doc:meta])*
        pub mod $module:ident {
            $name:literal, $summary:literal,
            $(of [$($part:ident),*],)? forms [$($form:ident),*]
            $(, rules { $($rule:ident: $value:expr),* })? $(, interface { $($field:ident: $other:expr),* })?
        }
    )*) => {$(
        $(#[$doc])*
        pub mod $module {
            use crate::form::PerForm;
            use crate::opcode::{OpcodeRow, immediate_table};
            use crate::revision::rules::SlotRules;
            use crate::revision::{Interface, Semantics, eip6690_2024};

            const FORMS: PerForm<Option<u8>> = PerForm::of(&[$(crate::form::Form::$form),*])$($(.with(&super::$part::RULES.forms))*)?;

            const OPCODES: &[OpcodeRow] = &super::opcodes::<{ eip6690_2024::OPCODES.len() + FORMS.count() }>(&FORMS);

            /// The revision.
            pub const INTERFACE: Interface = {
                #[allow(unused_mut, reason = "few entries have more that differs")]
                let mut interface = Interface {
                    name: $name,
                    summary: $summary,
                    semantics: Semantics::Slots(&RULES),
                    opcodes: OPCODES,
                    immediates: immediate_table(OPCODES),
                    default_schedule: "next",
                    ..eip6690_2024::INTERFACE
                };
                $($(interface.$field = $other;)*)?
                interface
            };

            /// Rules, as differences to `eip6690-2024`.
            pub const RULES: SlotRules = SlotRules {
                forms: FORMS,
                experiments: experiments!(@names $name $($($part)*)?),
                $($($rule: $value,)*)?
                ..SlotRules::EIP6690_2024
            };
        }
    )*};
    (@names $name:literal) => { &[$name] };
    (@names $name:literal $($part:ident)+) => { &[$(super::$part::INTERFACE.name),+] };
}

/// The opcodes of EIP-6690 of 2024, then those of forms.
const fn opcodes<const N: usize>(forms: &PerForm<Option<u8>>) -> [OpcodeRow; N] {
    let base = eip6690_2024::OPCODES;
    let mut rows = [base[0]; N];
    let (mut count, mut form) = (0, 0);
    while count < base.len() {
        rows[count] = base[count];
        count += 1;
    }
    while form < Form::ALL.len() {
        if forms.0[form].is_some() {
            rows[count] = Form::ALL[form].row().opcode_row();
            count += 1;
        }
        form += 1;
    }
    rows
}

/// The byte before each opcode of `x-extx` (EIP-8163, `EXTENSION`).
pub const EXTENSION: u8 = 0xae;

/// The opcodes of EIP-6690 of 2024, with loads and stores of values that are as long as the modulus.
const PACKED: &[OpcodeRow] = &{
    let mut rows = opcodes::<6>(&PerForm::NONE);
    rows[1].sentence = "Copies slots into memory, as long as the modulus: memory offset, first slot, count.";
    rows[2].sentence = "Copies memory into slots, as long as the modulus: first slot, memory offset, count.";
    rows
};

/// The opcodes of EIP-7979, then those of EIP-6690 of 2024.
const WITH_SUBROUTINES: &[OpcodeRow] = &{
    let mut rows = [eip6690_2024::OPCODES[0]; subroutine::OPCODES.len() + eip6690_2024::OPCODES.len()];
    let (before, after) = rows.split_at_mut(subroutine::OPCODES.len());
    before.copy_from_slice(subroutine::OPCODES);
    after.copy_from_slice(eip6690_2024::OPCODES);
    rows
};

experiments! {
    /// An experiment: EIP-6690 of 2024 with INVMODX, an instruction for inverses in each lane; the result is 0 if there is
    /// no inverse.
    ///
    /// Source: none outside. The bytes are those of INVMODX in evmone's branch `evmmax-vectorized`: out, out_stride, x, x_stride, count. Lanes
    /// are read before any is written, and modulo a power of two the inverse is modulo that power.
    pub mod x_invmodx {
        "x-invmodx", "experiment: EIP-6690 of 2024 with INVMODX, exact inverses and 0 for what has none",
        forms [Invert], rules { inverts_modulo: crate::revision::rules::InvertsModulo::Modulus }
    }

    /// An experiment: EIP-6690 of 2024 with ISZEROX, which puts 1 on the stack if the slot in its immediate byte is zero, else 0.
    ///
    /// Source: none outside.
    pub mod x_iszerox {
        "x-iszerox", "experiment: EIP-6690 of 2024 with ISZEROX, which tells the stack whether a slot is zero",
        forms [IsZero]
    }

    /// An experiment: EIP-6690 of 2024 with SUM2X to SUM6X, sums and differences of two to six products with one reduction.
    ///
    /// Source: none outside. Immediate bytes are out, signs, then the two slots of each product; bit i of signs is set if
    /// product i is subtracted, the bits after the products mean nothing. All slots are read before the result is written.
    /// Lanes with strides do not fit sums: few formulas have corresponding operands of their sums at equal distances.
    pub mod x_sumx {
        "x-sumx", "experiment: EIP-6690 of 2024 with SUM2X to SUM6X, sums of products with one reduction",
        forms [Sum2, Sum3, Sum4, Sum5, Sum6]
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
        forms [Get, Put]
    }

    /// An experiment: EIP-6690 of 2024 with LOADPX and STOREPX, which are LOADX and STOREX for values that take more bytes of memory than the
    /// modulus, as those of EIP-2537 do: 64 for 48.
    ///
    /// Source: none outside. The immediate byte is the number of bytes of a value, at least that of LOADX and STOREX. A
    /// loaded value is preceded by zeros; all stored bytes are one number, which must be below the modulus.
    pub mod x_padx {
        "x-padx", "experiment: EIP-6690 of 2024 with LOADPX and STOREPX, values with zeros in front of them",
        forms [LoadPadded, StorePadded]
    }

    /// An experiment: EIP-6690 of 2024 with SETMODCX and STORECX, which are SETMODX and STOREX with their input in code
    /// instead of memory.
    ///
    /// Source: none outside. A modulus and the constants of a program stand in its code; without these they go through
    /// memory. Offsets are in the running code, as for CODECOPY, and the range must lie inside it.
    pub mod x_codex {
        "x-codex", "experiment: EIP-6690 of 2024 with SETMODCX and STORECX, a modulus and values that stand in code",
        forms [SetModulusInCode, StoreFromCode]
    }

    /// An experiment: EIP-6690 of 2024 with FP2MULX, a fused product in Fp2 = Fp[u] with u² = −1, as two sums of two products with one reduction each.
    ///
    /// Source: none outside. Immediate bytes are out₀, out₁, out_stride, x₀, x₁, x_stride, y₀, y₁, y_stride, count: the coefficients of an element are in any two
    /// slots, and lanes go on from each by a common stride. All lanes are read before the first is written; of two results in one slot the later stays, out₀
    /// before out₁ and lanes in their order. A square has x = y. Other u² have no operand: the coefficient of 1 would need a product more, or additions, that most
    /// towers do not.
    pub mod x_fp2x {
        "x-fp2x", "experiment: EIP-6690 of 2024 with FP2MULX, fused products in Fp2",
        forms [MulFp2]
    }

    /// An experiment: EIP-6690 of 2024 with MOVX, which copies slots.
    ///
    /// Source: none outside. Immediate bytes are out_index, out_stride, x_index, x_stride, count, as those of the arithmetic without its second operand. All
    /// slots are read before any is written.
    pub mod x_movx {
        "x-movx", "experiment: EIP-6690 of 2024 with MOVX, copies of slots",
        forms [Copy]
    }

    /// An experiment: EIP-6690 of 2024 with FP6MULX, a fused product in Fp6 = Fp2[v] with v³ = ξ over Fp2 = Fp[u] with u² = −1: six sums of six products with one
    /// reduction each.
    ///
    /// Source: none outside. Immediate bytes are the six slots of the result, of x and of y, in the order of 1, u, v, uv, v², uv², then a and b of ξ = a + b·u, any two
    /// bytes. The coefficients of an element are in any six slots. All operands are read before a result is written; of two results in one slot the one later in
    /// order stays. A square has x = y. It has no lanes: twenty bytes are many as they are, and a product of such size leaves nothing to share.
    pub mod x_fp6x {
        "x-fp6x", "experiment: EIP-6690 of 2024 with FP6MULX, fused products in Fp6",
        forms [MulFp6]
    }

    /// An experiment: EIP-6690 of 2024 with SELECTX, which chooses between slots by a word on the stack.
    ///
    /// Source: none outside. Immediate bytes are those of the arithmetic. The word is of any value: not zero is x, zero is y. All slots are read before any is
    /// written.
    pub mod x_selectx {
        "x-selectx", "experiment: EIP-6690 of 2024 with SELECTX, choices between slots",
        forms [Select]
    }

    /// An experiment: EIP-6690 of 2024 with EQX and LTX, which compare the values of two slots and put the answer on the stack.
    ///
    /// Source: none outside. Immediate bytes are the slots x and y, which may be the same. Values are compared as integers in 0, …, m − 1.
    pub mod x_cmpx {
        "x-cmpx", "experiment: EIP-6690 of 2024 with EQX and LTX, comparison of slots",
        forms [Equal, Less]
    }

    /// An experiment: EIP-6690 of 2024 with a price of its own for squares: multiplications with the same slots as both
    /// factors.
    ///
    /// Source: none outside. Opcodes and semantics are those of EIP-6690. An instruction is a square by its immediate:
    /// x_index = y_index and x_stride = y_stride, independent of the values.
    pub mod x_squarex {
        "x-squarex", "experiment: EIP-6690 of 2024 with a price for squares",
        forms [], rules { prices_squares: true }
    }

    /// An experiment: EIP-6690 of 2024 with moduli of up to 4096 bits, as EIP-6690 of 2023 had them; that of 2024 ends at
    /// 768.
    ///
    /// Source: none outside. All is as in EIP-6690 of 2024 but the longest modulus. Above 12 limbs the prices are those of its own schedule, by time.
    pub mod x_widex {
        "x-widex", "experiment: EIP-6690 of 2024 with moduli of up to 4096 bits",
        forms [],
        rules { moduli: crate::revision::rules::Moduli { size_max: 512, ..SlotRules::EIP6690_2024.moduli } },
        interface { width_limbs_max: 64 }
    }

    /// An experiment: EIP-6690 of 2024 with an instruction's lanes priced as a vector, by a start and a price each, and values in memory that have as
    /// many bytes as the modulus is declared with, not whole limbs.
    ///
    /// Source: none outside. Opcodes and semantics are those of EIP-6690; a value of ⌈14 / 8⌉ bytes takes two where LOADX
    /// and STOREX take eight there. Slots are as wide as before, also in the cost of memory.
    pub mod x_vectorx {
        "x-vectorx", "experiment: EIP-6690 of 2024 with lanes priced as vectors and short values in memory",
        forms [], rules { is_packed: true, prices_starts: true }, interface { opcodes: super::PACKED, default_schedule: "vector" }
    }

    /// An experiment: EIP-6690 of 2024 with the subroutines of EIP-7979, which go on a return stack of their own.
    ///
    /// Source: EIP-7979 for the additions, without its validated code (`crates/isa/src/opcode/subroutine.rs`).
    pub mod x_callsub {
        "x-callsub", "experiment: EIP-6690 of 2024 with the subroutines of EIP-7979",
        forms [], rules {}, interface { opcodes: super::WITH_SUBROUTINES }
    }

    /// An experiment: EIP-6690 of 2024 with each of its opcodes after the byte EXTENSION.
    ///
    /// Source: EIP-8163 for the byte, which it reserves so that chains other than the mainnet may extend the EVM. The EIP
    /// leaves the next bytes open; here it is an opcode of EIP-6690 with its immediate. Neither an opcode without the byte
    /// nor the byte without an opcode is an instruction. Jump analysis skips all of it, contrary to the EIP
    /// (`docs/revisions/x-extx.md`).
    pub mod x_extx {
        "x-extx", "experiment: EIP-6690 of 2024 with each opcode after the byte that EIP-8163 reserves for extensions",
        forms [], rules { prefix: Some(super::EXTENSION) }, interface { immediates: immediate_table(&[]) }
    }

    /// The experiments that earn their place on top of EIP-6690 of 2024, together: `docs/evmmax-next.md` has each one's number.
    ///
    /// Source: the revisions `x-…`, each of which is one of them.
    pub mod evmmax_next {
        "evmmax-next", "the experiments that earn their place on top of EIP-6690 of 2024, together",
        of [x_invmodx, x_iszerox, x_sumx, x_arrayx, x_padx, x_codex], forms [], rules { inverts_modulo: super::x_invmodx::RULES.inverts_modulo }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::opcode::subroutine;
    use crate::revision::eip6690_2024::{MULMODX, OPCODES, SETMODX};
    use crate::revision::{Revision, codec};

    const REVISION: Revision = Revision::XExtx;

    #[test]
    fn an_instruction_is_that_of_the_eip_after_the_prefix() {
        let bare = [MULMODX, 1, 2, 3, 0, 255, 4, 8];
        let (instruction, length) = Revision::Eip6690_2024.decode(&bare).unwrap();
        let prefixed = [&[EXTENSION][..], &bare].concat();
        let mut code = Vec::new();
        codec::encode(&x_extx::INTERFACE, &instruction, &mut code).unwrap();
        assert_eq!(code, prefixed);
        assert_eq!(codec::decode(&x_extx::INTERFACE, &prefixed), Some((instruction, length + 1)));
        for other in [&bare[..], &prefixed[..8], &[EXTENSION], &[EXTENSION, EXTENSION, MULMODX]] {
            assert_eq!(codec::decode(&x_extx::INTERFACE, other), None);
        }
    }

    #[test]
    fn the_byte_after_the_prefix_says_which_instruction_it_is() {
        assert_eq!(REVISION.opcode_at(&[EXTENSION, SETMODX]), SETMODX);
        assert_eq!(REVISION.bytes_at(&[EXTENSION, SETMODX]), 2);
        assert_eq!(REVISION.bytes_at(&[EXTENSION, MULMODX]), 9);
        // Two bytes whatever the second is, of which no row is found.
        for other in [&[EXTENSION][..], &[EXTENSION, 0x7f], &[EXTENSION, 0x5b], &[EXTENSION, EXTENSION]] {
            assert_eq!((REVISION.opcode_at(other), REVISION.row_at(other)), (EXTENSION, None));
            assert_eq!(REVISION.bytes_at(other), 2);
        }
        for row in OPCODES {
            assert_eq!(REVISION.row_at(&[row.byte]), None);
            assert_eq!(REVISION.bytes_at(&[row.byte]), 1);
        }
        assert_eq!(REVISION.first_bytes().collect::<Vec<_>>(), [EXTENSION]);
        assert_eq!(REVISION.opcode_bytes(0x01).collect::<Vec<_>>(), [0x01]);
    }

    #[test]
    fn the_opcodes_of_two_tables_ascend() {
        let rows = x_callsub::INTERFACE.opcodes;
        assert!(rows.is_sorted_by(|a, b| a.byte < b.byte));
        assert_eq!((&rows[..3], &rows[3..]), (subroutine::OPCODES, OPCODES));
    }
}
