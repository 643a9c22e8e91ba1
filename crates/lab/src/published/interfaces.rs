//! Published comparisons of interfaces and of engines.

/// Source of [`INTERFACES`].
pub const INTERFACES_SOURCE: &str =
    "EVM384, update 2 (2020), synthetic loop: f6m_mul 1350 times, prices 8, 8 and 24 gas";

/// One version of EVM384 on the synthetic loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interface {
    /// The version.
    pub version: &'static str,
    /// Language of the loop.
    pub language: &'static str,
    /// Milliseconds.
    pub time_ms: f64,
    /// Gas.
    pub gas: u64,
}

const fn interface(version: &'static str, language: &'static str, time_ms: f64, gas: u64) -> Interface {
    Interface { version, language, time_ms, gas }
}

/// The table.
pub const INTERFACES: [Interface; 9] = [
    interface("v1", "Yul", 24.7, 12_569_235),
    interface("v2", "Yul", 14.3, 5_534_811),
    interface("v3", "Yul", 13.0, 5_534_909),
    interface("v4", "Yul", 14.1, 4_823_702),
    interface("v4", "Huff", 8.5, 3_591_277),
    interface("v5", "Yul", 9.6, 4_541_655),
    interface("v6", "Huff", 4.34, 1_705_280),
    interface("v7", "Huff", 4.43, 1_704_133),
    interface("v8", "Huff, big-endian", 4.6, 1_704_133),
];

/// Source of [`F6M_MUL`], [`SYNTHETIC_CALLS`] and [`ADJUSTMENT`].
pub const CALLS_SOURCE: &str = "EVM384, update 2 (2020), calls of f1m_mul, f1m_add and f1m_sub";

/// Multiplications, additions and subtractions of f6m_mul, which the synthetic loop calls 1350 times.
pub const F6M_MUL: [u64; 3] = [18, 50, 20];

/// Calls of f1m_mul, f1m_add and f1m_sub that a run of two pairings in WebAssembly makes.
pub const SYNTHETIC_CALLS: [u64; 3] = [23_678, 75_565, 35_891];

/// Time of two pairings as a multiple of the synthetic loop's, about.
pub const ADJUSTMENT: f64 = 1.25;

/// Source of [`ENGINES`].
pub const ENGINES_SOURCE: &str = "EVM384, updates 1 to 4 (2020), two pairings of BLS12-381";

/// Two pairings by engine, in milliseconds, from the least to the most where a range was published.
pub const ENGINES: [(&str, f64, f64); 10] = [
    ("native Rust (EIP-1962 code)", 4.2, 4.34),
    ("wabt interpreter, no host functions", 439.4, 439.4),
    ("wabt with bignum_f1m_mul", 117.4, 117.4),
    ("wabt with bignum_f1m_add too", 49.3, 49.3),
    ("wabt with bignum_f1m_sub too", 13.1, 13.1),
    ("wabt with bignum_int_mul and int_add too", 11.5, 11.5),
    ("wabt with bignum_int_sub too", 11.2, 11.2),
    ("wabt with bignum_int_div too", 10.1, 10.1),
    ("best WebAssembly", 8.8, 9.0),
    ("EVM384 version 7, two-pairing check", 4.8, 5.1),
];
