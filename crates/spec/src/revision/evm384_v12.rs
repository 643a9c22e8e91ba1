//! `evm384-v12`: a modulus of up to 48 bytes that SETMOD sets for the frame; three 16-bit byte offsets after the opcode.
//!
//! Source: poemm/EVMcurves, `tests/evm.py` and `genhuff.py`. SETMOD takes the offset of the modulus, on top, and its length in
//! bytes; it copies the modulus, so that later writes to memory do not change it. Before the first SETMOD the length is 0, and
//! so is it after a SETMOD of length 0: then instructions do nothing. Chosen here: ADDMODMONT subtracts the modulus from a
//! sum that equals it, as all other versions do (evm.py does not); an empty range grows no memory; SETMOD of more than 48
//! bytes, which evm.py takes at the same price, halts, before memory grows.

use super::{FieldState, Revision};
use crate::arithmetic::{add, sub};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::word::two_to;
use num_bigint::BigUint;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v12",
    summary: "A modulus of up to 48 bytes set once, values in memory, three 16-bit byte offsets after the opcode.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![evmcurves(), evmcurves_shr0()],
    start: || Box::new(Context::default()),
};

const ADDMODMONT: u8 = 0xc0;
const SUBMODMONT: u8 = 0xc1;
const MULMODMONT: u8 = 0xc2;
const SETMOD: u8 = 0xc3;

const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: ADDMODMONT, mnemonic: "ADDMODMONT", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: SUBMODMONT, mnemonic: "SUBMODMONT", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: MULMODMONT, mnemonic: "MULMODMONT", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: SETMOD, mnemonic: "SETMOD", immediate_bytes: 0, pops: 2 },
];

/// The first immediate byte, which is the opcode of PUSH6.
const MARKER: u8 = 0x65;

/// The longest modulus: as many bytes as a value has in the other versions of EVM384.
const MODULUS_BYTES_MAX: u8 = 48;

/// Opcode of `SHR`.
const SHR: u8 = 0x1c;

/// The prices of evm.py, with the EVM's own price of `SHR`.
pub fn evmcurves() -> Prices {
    Prices::of_base("evmcurves", &[("ADDMODMONT", 2), ("SUBMODMONT", 2), ("MULMODMONT", 6), ("SETMOD", 139)])
}

/// The same as evm.py has them, which charges nothing for `SHR`; its totals of gas are of these prices.
pub fn evmcurves_shr0() -> Prices {
    let mut prices = Prices { name: "evmcurves-shr0".to_owned(), ..evmcurves() };
    prices.evm.insert(SHR, 0);
    prices
}

/// Modulus set by SETMOD: N and its length in bytes.
#[derive(Default)]
struct Context {
    modulus: BigUint,
    size_bytes: usize,
}

impl FieldState for Context {
    /// The marker belongs to the instruction.
    fn accepts(&self, opcode: &FieldOpcode, immediate: &[u8]) -> bool {
        opcode.byte == SETMOD || immediate[0] == MARKER
    }

    fn execute(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        _: &Prices,
    ) -> Result<(), Halt> {
        if opcode.byte == SETMOD {
            let [offset, size] = frame.pop()?;
            if size > MODULUS_BYTES_MAX.into() {
                return Err(Halt::InvalidModulus);
            }
            let range = frame.grow(&offset, &size)?;
            self.size_bytes = range.len();
            self.modulus = BigUint::from_bytes_le(frame.memory.read(range));
            return Ok(());
        }
        let offset = |i: usize| usize::from(u16::from_le_bytes([immediate[2 * i + 1], immediate[2 * i + 2]]));
        let [out_at, x_at, y_at] = [0, 1, 2].map(offset);
        let size = self.size_bytes;
        frame.grow(&out_at.max(x_at).max(y_at).into(), &size.into())?;
        if size == 0 {
            return Ok(());
        }

        let value = |at: usize| BigUint::from_bytes_le(frame.memory.read(at..at + size));
        let (x, y) = (value(x_at), value(y_at));
        let size_bytes = size as u64; // style: S11: widening on every supported machine
        let result = match opcode.byte {
            ADDMODMONT => add(&x, &y, &self.modulus, size_bytes),
            SUBMODMONT => sub(&x, &y, &self.modulus, size_bytes),
            MULMODMONT => mont_mul(&x, &y, &self.modulus, size_bytes),
            _ => return Err(Halt::InvalidInstruction),
        };
        let mut bytes = result.to_bytes_le();
        bytes.resize(size, 0);
        frame.memory.write(out_at, &bytes);
        Ok(())
    }
}

/// (x, y) ↦ ⌊(x·y + u·N) / B⌋, less N once if that is ≥ N, mod B, with u = x·y·N′ mod B. N′ = −N⁻¹ mod B for odd N, and
/// 0 for even N, where evm.py's iteration ends.
fn mont_mul(x: &BigUint, y: &BigUint, n: &BigUint, size_bytes: u64) -> BigUint {
    let b = two_to(8 * size_bytes);
    let n_prime = n.modinv(&b).map_or(BigUint::ZERO, |inverse| &b - inverse);
    let t = x * y; // t = x·y
    let u = (&t % &b) * n_prime % &b; // u = t·N′ mod B
    let r = (t + u * n) / &b; // r = (t + u·N) / B
    let r = if r >= *n { r - n } else { r };
    r % b
}
