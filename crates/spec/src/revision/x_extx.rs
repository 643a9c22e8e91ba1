//! `x-extx`: `eip6690-2024` with EXTENSION before each opcode.
//!
//! Source: EIP-8163 for the byte 0xae. Without an opcode after it, or an opcode without it before, there is no instruction.

use super::Revision;
use super::{additions, eip6690_2024};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-extx",
    summary: "eip6690-2024 with a prefix before each opcode.",
    opcodes: eip6690_2024::OPCODES,
    prefix: Some(0xae),
    prices: || additions::prices(eip6690_2024::OPCODES),
    start: additions::start,
};
