//! `x-383`: `evm384-v9` with moduli of at most 383 bits.
//!
//! Source: none outside. Each of the three instructions does what it does in `evm384-v9`; when memory has grown, and
//! before anything is computed, a modulus of 2³⁸³ or more halts with `invalid_modulus`. There are no other checks: x
//! and y may be longer, m may be even or 0.

use super::evm384::{evmone, opcodes, prices, update_5};
use super::evm384_v9::calculate;
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::word::two_to;
use num_bigint::BigUint;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-383",
    summary: "evm384-v9 with moduli of at most 383 bits.",
    opcodes: &opcodes(0, 0, 16),
    prefix: None,
    prices: all_prices,
    start: || Box::new(Stateless),
};

/// Bits of the longest modulus.
const MODULUS_BITS_MAX: u64 = 383;

/// The prices of `evm384-v9` with a product at 97.5 %: 23.4 gas by evmone's prices, 2.925 by model B of update 5. A run is charged whole
/// gas for each instruction, 24 and 3, so that nothing is left of the difference.
fn all_prices() -> Vec<Prices> {
    let model_b = update_5().into_iter().filter(|prices| prices.name == "model-b-fractional");
    [evmone(), prices("evmone-fractional", 8, 8, 24)].into_iter().chain(model_b).collect()
}

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        _: &Prices,
    ) -> Result<(), Halt> {
        calculate(opcode, immediate, frame, is_short)
    }
}

/// Halts for a modulus whose top bit is set.
fn is_short(m: &BigUint) -> Result<(), Halt> {
    if *m < two_to(MODULUS_BITS_MAX) { Ok(()) } else { Err(Halt::InvalidModulus) }
}
