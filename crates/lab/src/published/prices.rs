//! Published runtimes of instructions, and the prices derived from them.

/// Source of [`RUNTIMES`] and [`KECCAK_RELATIVE`].
pub const RUNTIMES_SOURCE: &str = "EVM384, update 5 (2021), instruction runtimes";

/// The machines of [`RUNTIMES`], in its order.
pub const MACHINES: [&str; 5] = ["E5-2673", "i7-6500U", "i7-8565U", "i5-5300U", "i5-6360U"];

/// Nanoseconds of ADDMOD384, SUBMOD384 and MULMODMONT384 on each machine, as the implementation in BLST's assembly.
pub const RUNTIMES: [(&str, [f64; 5]); 3] = [
    ("ADDMOD384", [8.0, 7.0, 4.0, 7.0, 6.0]),
    ("SUBMOD384", [6.0, 6.0, 4.0, 6.0, 6.0]),
    ("MULMODMONT384", [51.0, 43.0, 30.0, 44.0, 50.0]),
];

/// Prices relative to KECCAK256 of 192 bytes, the worst case of its inputs. The times of KECCAK256 after them were not
/// published.
pub const KECCAK_RELATIVE: [(&str, f64); 3] = [("ADDMOD384", 0.80), ("SUBMOD384", 0.67), ("MULMODMONT384", 3.0)];

/// Source of [`MODELS`].
pub const MODELS_SOURCE: &str = "EVM384, update 5 (2021), proposed prices by model";

/// Names of the columns of [`MODELS`]: model A as is, with PUSH and DUP at 2, repriced, fractional; model B likewise.
pub const MODEL_COLUMNS: [&str; 8] =
    ["A", "A pushdup2", "A repriced", "A fractional", "B", "B pushdup2", "B repriced", "B fractional"];

/// Proposed prices. The as-is columns are rounded up from the models; the others follow no stated rounding and are quoted.
pub const MODELS: [(&str, [f64; 8]); 7] = [
    ("ADDMOD384", [2.0, 2.0, 2.0, 1.1, 1.0, 1.0, 1.0, 0.8]),
    ("SUBMOD384", [2.0, 2.0, 2.0, 1.1, 1.0, 1.0, 1.0, 0.7]),
    ("MULMODMONT384", [6.0, 6.0, 5.0, 5.0, 3.0, 3.0, 3.0, 3.0]),
    ("PUSH", [3.0, 2.0, 1.0, 0.9, 3.0, 2.0, 1.0, 0.9]),
    ("DUP", [3.0, 2.0, 1.0, 0.7, 3.0, 2.0, 1.0, 0.7]),
    ("MSTORE", [3.0, 3.0, 1.0, 0.8, 3.0, 3.0, 1.0, 0.8]),
    ("MLOAD", [3.0, 3.0, 1.0, 1.0, 3.0, 3.0, 1.0, 1.0]),
];

/// Source of [`WIDTHS_6690`].
pub const WIDTHS_6690_SOURCE: &str = "EIP-6690 at commit 968159a9b, tables by limb count; made at 27 ns per gas";

/// Prices of EIP-6690 of a lane by width from 1 to 12 limbs: addition and subtraction, multiplication.
pub const WIDTHS_6690: [(&str, [u8; 12]); 2] =
    [("ADDMODX, SUBMODX", [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]), ("MULMODX", [1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 10, 12])];
