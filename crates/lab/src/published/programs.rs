//! Published gas and times of whole programs.

/// Source of [`GAS`].
pub const GAS_SOURCE: &str = "EVM384, update 5 (2021), figures 2 and 3";

/// Gas of the parts of a pairing under a version and a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairingGas {
    /// The version, as a revision is called here.
    pub revision: &'static str,
    /// The model, as a schedule is called here.
    pub schedule: &'static str,
    /// Of the Miller loop.
    pub miller_loop: u64,
    /// Of the final exponentiation.
    pub final_exponentiation: u64,
}

const fn gas(
    revision: &'static str,
    schedule: &'static str,
    miller_loop: u64,
    final_exponentiation: u64,
) -> PairingGas {
    PairingGas { revision, schedule, miller_loop, final_exponentiation }
}

/// The figures. Version 9 was version 7 without the gas of PUSH16; it was not run.
pub const GAS: [PairingGas; 7] = [
    gas("evm384-v7", "model-a", 206_223, 322_538),
    gas("evm384-v7", "model-b", 161_654, 259_713),
    gas("evm384-v9", "model-a", 113_718, 184_574),
    gas("evm384-v9", "model-b", 69_149, 121_749),
    gas("evm384-v9", "model-b-pushdup2", 65_513, 112_547),
    gas("evm384-v9", "model-b-repriced", 55_741, 88_827),
    gas("evm384-v9", "model-b-fractional", 49_073, 77_983),
];

/// Source of [`G1_MULTIPLICATIONS`].
pub const G1_SOURCE: &str = "EVMMAX (2022 and 2024), multiplication in G1 of BLS12-381, double and add; formulas: \
                             Renes, Costello and Batina 2015 (2015/1060), algorithms 7 and 9";

/// A multiplication by one scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct G1Multiplication {
    /// Name of the implementation.
    pub implementation: &'static str,
    /// Description of the scalar.
    pub scalar: &'static str,
    /// Nanoseconds.
    pub time_ns: u64,
    /// Gas; for native code its time at the anchor of the document.
    pub gas: Option<u64>,
}

const fn g1(implementation: &'static str, scalar: &'static str, time_ns: u64, gas: Option<u64>) -> G1Multiplication {
    G1Multiplication { implementation, scalar, time_ns, gas }
}

/// The tables of 2022 (25 ns per gas) and of 2024 (27 ns per gas). The group order has 122 zeros and 134 ones.
pub const G1_MULTIPLICATIONS: [G1Multiplication; 12] = [
    g1("evmmax-eip5843 (Go)", "worst case", 1_501_579, Some(60_668)),
    g1("evmmax-eip5843 (Go)", "group order", 1_047_375, Some(46_632)),
    g1("evmmax-asm384 (1/1/2 gas)", "worst case", 897_000, Some(39_485)),
    g1("evmmax-asm384 (1/1/2 gas)", "group order", 643_000, Some(31_862)),
    g1("native Rust, same formulas", "worst case", 490_000, Some(19_600)),
    g1("native Rust, same formulas", "group order", 335_000, Some(13_400)),
    g1("native Go, Jacobian formulas", "worst case", 300_146, Some(12_006)),
    g1("native Go, Jacobian formulas", "group order", 198_461, Some(7_938)),
    g1("all-assembly EVMMAX, G1 (2024)", "group order", 713_221, Some(32_221)),
    g1("all-assembly EVMMAX, G2 (2024)", "group order", 1_955_253, Some(70_619)),
    g1("native, same algorithm, G1 (2024)", "group order", 361_000, None),
    g1("native, same algorithm, G2 (2024)", "group order", 982_000, None),
];

/// Source of [`AGAINST`].
pub const AGAINST_SOURCE: &str = "The comparison of EIP-2537 with EVM384 at 30 Mgas/s (2021)";

/// The claims against EVM384, with the number after each.
pub const AGAINST: [(&str, &str); 4] = [
    (
        "control flow is most of the gas",
        "118,800 arithmetic operations cost 602,533 gas at 2 gas each: 364,933 gas is everything else",
    ),
    ("control flow alone costs twice the precompile", "EIP-2537 prices a check of two pairs at 102,900 gas today"),
    ("EVM384 is more than ten times as expensive", "as a precompile on BLST"),
    ("parsing and subgroup checks add 20 %", "to a pure pairing, in EIP-2537"),
];
