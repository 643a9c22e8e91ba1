//! `eip5843`, `geth5843`: one modulus a frame, values big-endian in EVM memory at numbered slots, Montgomery form visible.
//!
//! Source: ethereum/EIPs pull request 5843 at commit efad4b117 (r5), and go-ethereum branch `setmodx-mem-offset`, commit
//! f700b0ad0. Nothing grows memory. R = 2⁶⁴ᴸ for a modulus of L limbs.

use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::{ByWidth, Prices};
use crate::word::{Word, two_to};
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;
use std::ops::Range;

/// The EIP's final text.
pub const REVISION: Revision = Revision {
    name: "eip5843",
    summary: "Numbered slots of big-endian Montgomery form in EVM memory, after an offset.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![r5(), r2(), r1()],
    start: || Box::new(Field { is_geth: false, context: None }),
};

/// go-ethereum's reading of it.
pub const GETH: Revision = Revision {
    name: "geth5843",
    summary: "EIP-5843 as in go-ethereum: slots from 0 on, TOMONTX by byte offsets, a byte of memory to spare.",
    start: || Box::new(Field { is_geth: true, context: None }),
    ..REVISION
};

const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0x21, mnemonic: "SETMODX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0x22, mnemonic: "ADDMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x23, mnemonic: "SUBMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x24, mnemonic: "MULMONTX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x25, mnemonic: "TOMONTX", immediate_bytes: 0, pops: 2 },
];

/// Revisions r3 to r5 of the text: 3.8·L + 75, 0.1·L² + 0.7, 0.2·L + 0.6, rounded to the nearest.
fn r5() -> Prices {
    let set_modulus = vec![79, 83, 86, 90, 94, 98, 102, 105, 109, 113, 117, 121, 124, 128, 132, 136];
    let mul = vec![1, 1, 2, 2, 3, 4, 6, 7, 9, 11, 13, 15, 18, 20, 23, 26];
    let add = vec![1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4];
    prices("r5", set_modulus, add, mul)
}

/// Revision r2 of the text: 2.5·L + 107, 0.092·L² − 0.01·L + 0.24, 0.22·L + 0.144, rounded to the nearest, halves to even.
fn r2() -> Prices {
    let set_modulus = vec![110, 112, 114, 117, 120, 122, 124, 127, 130, 132, 134, 137, 140, 142, 144, 147];
    let mul = vec![1, 1, 1, 2, 2, 3, 5, 6, 8, 9, 11, 13, 16, 18, 21, 24];
    let add = vec![1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4];
    prices("r2", set_modulus, add, mul)
}

/// Revision r1 of the text: SETMODX as r2; 0.092·L² − 0.01·L + 0.24 to the nearest, which the text leaves open;
/// int(0.22·L + 0.144).
fn r1() -> Prices {
    let by_limbs = |price: fn(u64) -> u64| (1..=16).map(price).collect::<Vec<u64>>();
    let mul = by_limbs(|limbs| (92 * limbs * limbs + 240 - 10 * limbs + 500) / 1000);
    let add = by_limbs(|limbs| (220 * limbs + 144) / 1000);
    prices("r1", r2().set_modulus.0, add, mul)
}

fn prices(name: &str, set_modulus: Vec<u64>, add: Vec<u64>, mul: Vec<u64>) -> Prices {
    let base = [("SETMODX", 0), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMONTX", 0), ("TOMONTX", 0)];
    Prices {
        set_modulus: ByWidth(set_modulus),
        add: ByWidth(add.clone()),
        sub: ByWidth(add),
        load: ByWidth(mul.clone()),
        store: ByWidth(mul.clone()),
        mul: ByWidth(mul),
        ..Prices::of_base(name, &base)
    }
}

struct Field {
    is_geth: bool,
    context: Option<Context>,
}

#[derive(Clone)]
struct Context {
    modulus: BigUint,
    limbs: usize,
    /// Offset of slot 0 in memory.
    start: Word,
}

impl FieldState for Field {
    fn execute(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt> {
        match opcode.mnemonic {
            "SETMODX" => self.set_modulus(opcode, frame, prices),
            "ADDMODX" => self.arithmetic(opcode, immediate, frame, &prices.add, |x, y, m, _| (x + y) % m),
            "SUBMODX" => self.arithmetic(opcode, immediate, frame, &prices.sub, |x, y, m, _| (x + m - y) % m),
            "MULMONTX" => self.arithmetic(opcode, immediate, frame, &prices.mul, |x, y, m, r| {
                x * y * r.modinv(m).expect("R is a power of two and m is odd") % m
            }),
            "TOMONTX" => self.to_mont(opcode, frame, prices),
            _ => Err(Halt::InvalidInstruction),
        }
    }
}

impl Field {
    /// `SETMODX`: mod_offset, value_size in limbs, evmmax_mem_start.
    fn set_modulus(&mut self, opcode: &FieldOpcode, frame: &mut Frame<'_>, prices: &Prices) -> Result<(), Halt> {
        let [offset, limbs, start] = frame.pop()?;
        let limbs = limbs.to_usize().filter(|limbs| (1..=16).contains(limbs)).ok_or(Halt::InvalidModulus)?;
        let bytes = BigUint::from(8 * limbs);
        let range = frame.memory.inside(&offset, &bytes).ok_or(Halt::MemoryOutOfRange)?;
        if self.is_geth {
            frame.memory.inside(&(&start + &offset), &bytes).ok_or(Halt::MemoryOutOfRange)?;
        }
        let modulus = BigUint::from_bytes_be(frame.memory.read(range));
        let top_word = &modulus >> (64 * (limbs - 1));
        if modulus.is_even() || modulus == BigUint::from(1u8) || top_word == BigUint::ZERO {
            return Err(Halt::InvalidModulus);
        }
        frame.charge(prices.set_modulus.at(limbs, opcode)?)?;
        let start = if self.is_geth { Word::ZERO } else { start };
        self.context = Some(Context { modulus, limbs, start });
        Ok(())
    }

    /// out = `operation` of x, y, m and R; x and y must be below m.
    fn arithmetic(
        &self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        price: &ByWidth,
        operation: fn(&BigUint, &BigUint, &BigUint, &BigUint) -> BigUint,
    ) -> Result<(), Halt> {
        let context = self.context.as_ref().ok_or(Halt::NoContext)?;
        let &[out, x, y] = immediate else {
            return Err(Halt::InvalidInstruction);
        };
        let slot = |slot: u8| self.range(frame, &(&context.start + 8 * context.limbs * usize::from(slot)), context);
        let (out, x, y) = (slot(out)?, slot(x)?, slot(y)?);
        let read = |range| BigUint::from_bytes_be(frame.memory.read(range));
        let (x, y) = (read(x), read(y));
        if x >= context.modulus || y >= context.modulus {
            return Err(Halt::ValueOutOfRange);
        }
        frame.charge(price.at(context.limbs, opcode)?)?;
        write(frame, out, &operation(&x, &y, &context.modulus, &context.r()));
        Ok(())
    }

    /// `TOMONTX`: input slot and output slot in the lowest bytes; in go-ethereum output offset and input offset.
    fn to_mont(&self, opcode: &FieldOpcode, frame: &mut Frame<'_>, prices: &Prices) -> Result<(), Halt> {
        let [first, second] = frame.pop()?;
        let context = self.context.as_ref().ok_or(Halt::NoContext)?;
        let (input, output) = if self.is_geth {
            (second, first)
        } else {
            let slot = |word: &Word| &context.start + (word % 256u16) * (8 * context.limbs);
            (slot(&first), slot(&second))
        };
        let (input, output) = (self.range(frame, &input, context)?, self.range(frame, &output, context)?);
        let input = BigUint::from_bytes_be(frame.memory.read(input));
        if self.is_geth && input >= context.modulus {
            return Err(Halt::ValueOutOfRange);
        }
        frame.charge(prices.store.at(context.limbs, opcode)?)?;
        write(frame, output, &(input * context.r() % &context.modulus));
        Ok(())
    }

    /// A value's range in memory, with a byte after it in go-ethereum.
    fn range(&self, frame: &Frame<'_>, start: &BigUint, context: &Context) -> Result<Range<usize>, Halt> {
        let bytes = 8 * context.limbs;
        let needed = if self.is_geth { bytes + 1 } else { bytes };
        let range = frame.memory.inside(start, &needed.into()).ok_or(Halt::MemoryOutOfRange)?;
        Ok(range.start..range.start + bytes)
    }
}

impl Context {
    fn r(&self) -> BigUint {
        two_to(64 * self.limbs as u64) // style: S11: at most 16
    }
}

/// Writes a value over a whole range, big-endian.
fn write(frame: &mut Frame<'_>, range: Range<usize>, value: &BigUint) {
    let digits = value.to_bytes_be();
    let mut bytes = vec![0; range.len() - digits.len()];
    bytes.extend(digits);
    frame.memory.write(range.start, &bytes);
}
