//! Experiments that are `eip6690-2024` with instructions of [`additions`], as a table.

use super::Revision;
use super::additions::{
    self, EQX, FP2MULX, FP6MULX, GETX, INVMODX, ISZEROX, LOADPX, LTX, MOVX, PUTX, SELECTX, SETMODCX, STORECX, STOREPX,
    SUM2X, SUM3X, SUM4X, SUM5X, SUM6X,
};
use super::eip6690_2024;
use super::subroutines::{CALLSUB, ENTERSUB, RETURNSUB};
use crate::field_opcode::FieldOpcode;

/// Makes a revision of each line: name, sentence, opcodes after those of `eip6690-2024`.
macro_rules! experiments {
    ($($(#[$doc:meta])* $constant:ident: $name:literal, $summary:literal, [$($opcode:ident),*];)*) => {$(
        $(#[$doc])*
        pub const $constant: Revision = {
            const ADDED: &[FieldOpcode] = &[$($opcode),*];
            const OPCODES: &[FieldOpcode] = &additions::with::<{ eip6690_2024::OPCODES.len() + ADDED.len() }>(ADDED);
            Revision {
                name: $name,
                summary: $summary,
                opcodes: OPCODES,
                prefix: None,
                prices: || additions::prices(OPCODES),
                start: additions::start,
            }
        };
    )*};
}

experiments! {
    /// `x-invmodx`: `eip6690-2024` with INVMODX.
    X_INVMODX: "x-invmodx", "eip6690-2024 with exact inverses, 0 for what has none.", [INVMODX];
    /// `x-iszerox`: `eip6690-2024` with ISZEROX.
    X_ISZEROX: "x-iszerox", "eip6690-2024 with tests for zero that the stack is told.", [ISZEROX];
    /// `x-sumx`: `eip6690-2024` with SUM2X to SUM6X.
    X_SUMX: "x-sumx", "eip6690-2024 with sums of two to six products.", [SUM2X, SUM3X, SUM4X, SUM5X, SUM6X];
    /// `x-arrayx`: `eip6690-2024` with GETX and PUTX.
    X_ARRAYX: "x-arrayx", "eip6690-2024 with copies between slots and an array, at an index from the stack.", [GETX, PUTX];
    /// `x-padx`: `eip6690-2024` with LOADPX and STOREPX.
    X_PADX: "x-padx", "eip6690-2024 with loads and stores of values with zeros in front of them.", [LOADPX, STOREPX];
    /// `x-codex`: `eip6690-2024` with SETMODCX and STORECX.
    X_CODEX: "x-codex", "eip6690-2024 with a modulus and values that stand in code.", [SETMODCX, STORECX];
    /// `x-fp2x`: `eip6690-2024` with FP2MULX.
    X_FP2X: "x-fp2x", "eip6690-2024 with fused products in Fp2.", [FP2MULX];
    /// `x-movx`: `eip6690-2024` with MOVX.
    X_MOVX: "x-movx", "eip6690-2024 with copies of slots.", [MOVX];
    /// `x-fp6x`: `eip6690-2024` with FP6MULX.
    X_FP6X: "x-fp6x", "eip6690-2024 with fused products in Fp6.", [FP6MULX];
    /// `x-selectx`: `eip6690-2024` with SELECTX.
    X_SELECTX: "x-selectx", "eip6690-2024 with choices between slots.", [SELECTX];
    /// `x-cmpx`: `eip6690-2024` with EQX and LTX.
    X_CMPX: "x-cmpx", "eip6690-2024 with comparison of slots.", [EQX, LTX];
    /// `x-callsub`: `eip6690-2024` with CALLSUB, ENTERSUB and RETURNSUB.
    X_CALLSUB: "x-callsub", "eip6690-2024 with subroutines.", [CALLSUB, ENTERSUB, RETURNSUB];
    /// `evmmax-next`: `eip6690-2024` with the experiments that earn their place.
    EVMMAX_NEXT: "evmmax-next", "eip6690-2024 with the experiments that earn their place.", [INVMODX, ISZEROX, SUM2X, SUM3X, SUM4X, SUM5X, SUM6X, GETX, PUTX, LOADPX, STOREPX, SETMODCX, STORECX];
}
