//! Code for tests: bytes appended by name, without an assembler between the test and the engine.

pub mod random;

use residue_engine::{Engine, EngineConfig};
use residue_isa::revision::{eip6690_2024, evm384_v7, strided};
use residue_isa::{Lanes, Revision};

pub const BLS12_381_P: &str =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";

#[derive(Clone, Default)]
pub struct Code(pub Vec<u8>);

impl Code {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn op(mut self, opcode: u8) -> Self {
        self.0.push(opcode);
        self
    }

    /// An opcode, after the prefix that those of the revision have.
    pub fn opcode(mut self, revision: Revision, opcode: u8) -> Self {
        self.0.extend(revision.opcode_bytes(opcode));
        self
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// The shortest push of a number.
    pub fn push(self, value: u64) -> Self {
        self.push_bytes(&value.to_be_bytes())
    }

    /// The shortest push of up to 32 big-endian bytes.
    pub fn push_bytes(self, bytes: &[u8]) -> Self {
        let significant = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
        self.op(0x5f + u8::try_from(significant.len()).unwrap()).bytes(significant)
    }

    /// Pushes of all values, so that the first ends on top.
    pub fn stack(self, top_first: &[u64]) -> Self {
        top_first.iter().rev().fold(self, |code, &value| code.push(value))
    }

    /// Writes big-endian bytes to memory, word by word from `offset`, zeros after.
    pub fn store(self, offset: u64, bytes: &[u8]) -> Self {
        let words = bytes.chunks(32).zip(0u64..);
        words.fold(self, |code, (chunk, i)| {
            let mut word = [0; 32];
            word[..chunk.len()].copy_from_slice(chunk);
            code.op(0x7f).bytes(&word).push(offset + 32 * i).op(0x52)
        })
    }

    pub fn mstore(self, offset: u64, value: u64) -> Self {
        self.push(value).push(offset).op(0x52)
    }

    pub fn ret(self, offset: u64, len: u64) -> Self {
        self.stack(&[offset, len]).op(0xf3)
    }

    pub fn setmodx(self, id: u64, offset: u64, size: u64, slots: u64) -> Self {
        self.stack(&[id, offset, size, slots]).op(eip6690_2024::SETMODX)
    }

    pub fn loadx(self, offset: u64, first: u64, count: u64) -> Self {
        self.stack(&[offset, first, count]).op(eip6690_2024::LOADX)
    }

    pub fn storex(self, first: u64, offset: u64, count: u64) -> Self {
        self.stack(&[first, offset, count]).op(eip6690_2024::STOREX)
    }

    /// An arithmetic instruction of EIP-6690: (index, stride) of out, x, y, then the count.
    pub fn slots(self, opcode: u8, out: (u8, u8), x: (u8, u8), y: (u8, u8), count: u8) -> Self {
        let lanes = |(index, stride)| Lanes { index, stride };
        let operands = strided::Operands { out: lanes(out), x: lanes(x), y: lanes(y), count };
        self.op(opcode).bytes(&strided::pack(operands))
    }

    /// One lane on three slots.
    pub fn one(self, opcode: u8, out: u8, x: u8, y: u8) -> Self {
        self.slots(opcode, (out, 1), (x, 1), (y, 1), 1)
    }

    /// A field instruction of EVM384 version 7 with its push.
    pub fn v7(self, opcode: u8, out: u32, x: u32, y: u32, modulus: u32) -> Self {
        let word = evm384_v7::pack(evm384_v7::Operands { modulus, y, x, out });
        self.op(0x6f).bytes(&word.to_be_bytes()).op(opcode)
    }

    /// A call of any kind with 6 or 7 operands, and nothing passed or returned but `returned` bytes to offset 0.
    pub fn call(self, opcode: u8, gas: u64, address: [u8; 20], returned: u64) -> Self {
        let code = self.push(returned).push(0).push(0).push(0);
        let code = if matches!(opcode, 0xf1 | 0xf2) { code.push(0) } else { code };
        code.op(0x73).bytes(&address).push(gas).op(opcode)
    }
}

pub fn engine(revision: Revision) -> Engine {
    Engine::new(EngineConfig::default_for(revision)).unwrap()
}

pub fn eip6690() -> Engine {
    engine(Revision::Eip6690_2024)
}

pub fn evm384() -> Engine {
    engine(Revision::Evm384V7)
}

/// Sets modulus 101 in context `id` with `slots` slots; the modulus is written to memory at 0, one word.
pub fn modulus_101(id: u64, slots: u64) -> Code {
    Code::new().mstore(0, 101).setmodx(id, 24, 8, slots)
}
