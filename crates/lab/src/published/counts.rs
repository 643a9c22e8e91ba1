//! Published counts of executed opcodes.

/// Source of [`COUNTS`].
pub const COUNTS_SOURCE: &str = "EVM384, update 5 (2021), table 2: BLS12-381 on version 7";

/// Executions of an opcode in the published Miller loop and final exponentiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpCount {
    /// The opcode; DUP stands for all of them.
    pub mnemonic: &'static str,
    /// In the Miller loop.
    pub miller_loop: u64,
    /// In the final exponentiation.
    pub final_exponentiation: u64,
}

const fn count(mnemonic: &'static str, miller_loop: u64, final_exponentiation: u64) -> OpCount {
    OpCount { mnemonic, miller_loop, final_exponentiation }
}

/// The table.
pub const COUNTS: [OpCount; 22] = [
    count("ADDMOD384", 12_182, 24_370),
    count("SUBMOD384", 11_786, 13_867),
    count("MULMODMONT384", 6_867, 8_196),
    count("PUSH16", 30_835, 45_988),
    count("PUSH2", 3_181, 7_546),
    count("PUSH1", 265, 839),
    count("PUSH8", 62, 0),
    count("PUSH32", 4, 21),
    count("MSTORE", 1_536, 3_649),
    count("MLOAD", 1_532, 3_610),
    count("JUMPDEST", 129, 421),
    count("JUMPI", 124, 315),
    count("JUMP", 0, 141),
    count("DUP", 124, 796),
    count("SUB", 62, 315),
    count("SHR", 62, 0),
    count("XOR", 62, 0),
    count("SWAP1", 62, 315),
    count("AND", 62, 0),
    count("CALLDATACOPY", 1, 1),
    count("RETURN", 1, 1),
    count("POP", 1, 35),
];

/// Additions, subtractions and multiplications of a multiplication in Fp12 (the same document).
pub const FP12_MUL: [u64; 3] = [115, 109, 54];

/// Source of [`F2MUL`].
pub const F2MUL_SOURCE: &str = "EVM384, update 5 (2021), figure 1";

/// The variants of multiplication in Fp2: variant, what it is, and its multiplications and other operations less those of
/// variant 3.
pub const F2MUL: [(&str, &str, i64, i64); 2] = [
    ("variant 3", "Karatsuba", 0, 0),
    ("variant 4", "one multiplication more, three additions or subtractions fewer", 1, -3),
];
