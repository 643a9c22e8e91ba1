//! `evm384-v7`: values of 48 bytes, little-endian, in EVM memory; the stack word packs four byte offsets. The frame has
//! no state beside memory.
//!
//! Source: evmone branches `evm384-v7` and `evm384-v7-logf`; EIP draft `evm384` of ewasm/EIPs. Memory grows as in
//! evmone: to the highest of all four operands plus 48 bytes, for `MULMODMONT384` plus 56.

use super::evm384::{
    MULMODMONT384, R_INV_BYTES, VALUE_BYTES, bits, grow, opcodes, operate, prices, r_inv, update_5, value, write,
};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v7",
    summary: "384-bit values in memory, operands packed in one stack word of 32-bit byte offsets.",
    opcodes: OPCODES,
    prefix: None,
    prices: all_prices,
    start: || Box::new(Stateless),
};

const LOGF: u8 = 0xc3;

const OPCODES: &[FieldOpcode] = {
    let [add, sub, mul] = opcodes(1, 1, 0);
    &[add, sub, mul, FieldOpcode { byte: LOGF, mnemonic: "LOGF", immediate_bytes: 0, pops: 3 }]
};

/// evmone's, go-ethereum's, the EIP draft's and those of update 5. LOGF costs 2 in go-ethereum (branches evm384-v7,
/// -blstasm, -purego; evm384-v7-logf, -simple), 1 in evmone, and is in no other schedule, so it costs 1 there.
fn all_prices() -> Vec<Prices> {
    let geth = [prices("geth", 2, 2, 2), prices("geth-logf", 2, 2, 3)].map(|prices| with_logf(prices, 2));
    let others = [super::evm384::eip()].into_iter().chain(update_5()).map(|prices| with_logf(prices, 1));
    [evmone()].into_iter().chain(geth).chain(others).collect()
}

/// evmone's prices, branches `evm384-v7` and `evm384-v7-logf`.
pub fn evmone() -> Prices {
    with_logf(super::evm384::evmone(), 1)
}

fn with_logf(mut prices: Prices, gas: u64) -> Prices {
    prices.base.insert("LOGF".to_owned(), gas);
    prices
}

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        if opcode.byte == LOGF {
            return frame.pop::<3>().map(|_offset_element_size_num_elements| ());
        }
        let [word] = frame.pop()?;
        let [m_at, y_at, x_at, out_at] = [0, 32, 64, 96].map(|lowest_bit| bits(&word, lowest_bit, 32));
        let is_product = opcode.byte == MULMODMONT384;
        let reach_bytes = if is_product { VALUE_BYTES + R_INV_BYTES } else { VALUE_BYTES };
        grow(frame, &[m_at, y_at, x_at, out_at], reach_bytes)?;

        let r_inv = if is_product { r_inv(frame, m_at + VALUE_BYTES) } else { 0 };
        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &value(frame, m_at), r_inv)?;
        write(frame, out_at, &result);
        Ok(())
    }
}
