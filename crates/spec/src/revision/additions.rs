//! Experiments `x-…`, which extend `eip6690-2024`: its contexts, and instructions on them, each identified by its
//! mnemonic. The opcodes of a revision list the ones it has.
//!
//! Source: none outside; this file defines them. Order of checks: context, operands, dynamic gas. The prices are the
//! EIP's with those of the additions, in thousandths of gas, rounded up for each instruction.

mod arrays;
mod comparisons;
mod copies;
mod fp2;
mod fp6;
mod padding;

use super::FieldState;
use super::eip6690_2024::{self, Contexts, Source};
use super::subroutines;
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::{ByWidth, Prices};
use crate::word::Word;
use arrays::Arrays;
use num_bigint::BigUint;
use num_traits::Zero;

/// `INVMODX`: out, out_stride, x, x_stride, count.
pub const INVMODX: FieldOpcode = FieldOpcode { byte: 0xc6, mnemonic: "INVMODX", immediate_bytes: 5, pops: 0 };
/// `ISZEROX`: a slot.
pub const ISZEROX: FieldOpcode = FieldOpcode { byte: 0xc7, mnemonic: "ISZEROX", immediate_bytes: 1, pops: 0 };

/// `SUM2X`: out, signs, then the slots of 2 products.
pub const SUM2X: FieldOpcode = FieldOpcode { byte: 0xc8, mnemonic: "SUM2X", immediate_bytes: 6, pops: 0 };
/// `SUM3X`: out, signs, then the slots of 3 products.
pub const SUM3X: FieldOpcode = FieldOpcode { byte: 0xc9, mnemonic: "SUM3X", immediate_bytes: 8, pops: 0 };
/// `SUM4X`: out, signs, then the slots of 4 products.
pub const SUM4X: FieldOpcode = FieldOpcode { byte: 0xca, mnemonic: "SUM4X", immediate_bytes: 10, pops: 0 };
/// `SUM5X`: out, signs, then the slots of 5 products.
pub const SUM5X: FieldOpcode = FieldOpcode { byte: 0xcb, mnemonic: "SUM5X", immediate_bytes: 12, pops: 0 };
/// `SUM6X`: out, signs, then the slots of 6 products.
pub const SUM6X: FieldOpcode = FieldOpcode { byte: 0xcc, mnemonic: "SUM6X", immediate_bytes: 14, pops: 0 };

/// `GETX`: the first slot, count.
pub const GETX: FieldOpcode = FieldOpcode { byte: 0xcd, mnemonic: "GETX", immediate_bytes: 2, pops: 1 };
/// `PUTX`: the first slot, count.
pub const PUTX: FieldOpcode = FieldOpcode { byte: 0xce, mnemonic: "PUTX", immediate_bytes: 2, pops: 1 };

/// `LOADPX`: bytes of a value.
pub const LOADPX: FieldOpcode = FieldOpcode { byte: 0xcf, mnemonic: "LOADPX", immediate_bytes: 1, pops: 3 };
/// `STOREPX`: bytes of a value.
pub const STOREPX: FieldOpcode = FieldOpcode { byte: 0xd0, mnemonic: "STOREPX", immediate_bytes: 1, pops: 3 };

/// `SETMODCX`: as `SETMODX`, with the modulus in code.
pub const SETMODCX: FieldOpcode = FieldOpcode { byte: 0xd1, mnemonic: "SETMODCX", immediate_bytes: 0, pops: 4 };
/// `STORECX`: as `STOREX`, from code.
pub const STORECX: FieldOpcode = FieldOpcode { byte: 0xd2, mnemonic: "STORECX", immediate_bytes: 0, pops: 3 };

/// `FP2MULX`: the slots of both coefficients and the stride of out, x and y, then count.
pub const FP2MULX: FieldOpcode = FieldOpcode { byte: 0xd3, mnemonic: "FP2MULX", immediate_bytes: 10, pops: 0 };

/// `MOVX`: out, out_stride, x, x_stride, count.
pub const MOVX: FieldOpcode = FieldOpcode { byte: 0xd4, mnemonic: "MOVX", immediate_bytes: 5, pops: 0 };
/// `SELECTX`: out, out_stride, x, x_stride, y, y_stride, count.
pub const SELECTX: FieldOpcode = FieldOpcode { byte: 0xd5, mnemonic: "SELECTX", immediate_bytes: 7, pops: 1 };

/// `EQX`: x, y.
pub const EQX: FieldOpcode = FieldOpcode { byte: 0xd8, mnemonic: "EQX", immediate_bytes: 2, pops: 0 };
/// `LTX`: x, y.
pub const LTX: FieldOpcode = FieldOpcode { byte: 0xd9, mnemonic: "LTX", immediate_bytes: 2, pops: 0 };

/// `FP6MULX`: the six slots of out, of x and of y, then a and b of v³ = a + b·u.
pub const FP6MULX: FieldOpcode = FieldOpcode { byte: 0xd7, mnemonic: "FP6MULX", immediate_bytes: 20, pops: 0 };

/// The opcodes of `eip6690-2024`, then `added`.
pub const fn with<const N: usize>(added: &[FieldOpcode]) -> [FieldOpcode; N] {
    let base = eip6690_2024::OPCODES;
    let mut opcodes = [INVMODX; N];
    let mut i = 0;
    while i < N {
        opcodes[i] = if i < base.len() { base[i] } else { added[i - base.len()] };
        i += 1;
    }
    opcodes
}

/// The contexts of a frame, with the additions.
#[derive(Default)]
pub struct Added {
    contexts: Contexts,
    arrays: Arrays,
}

/// A frame's state at its start.
pub fn start() -> Box<dyn FieldState> {
    Box::new(Added::default())
}

impl FieldState for Added {
    fn execute(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt> {
        match opcode.mnemonic {
            "INVMODX" => self.invert(opcode, immediate, frame, prices),
            "ISZEROX" => self.is_zero(immediate, frame),
            "EQX" => comparisons::equal(immediate, frame, self.contexts.active()?),
            "LTX" => comparisons::less(opcode, immediate, frame, prices, self.contexts.active()?),
            "GETX" | "PUTX" => self.arrays.copy(opcode, immediate, frame, prices, &mut self.contexts),
            "LOADPX" | "STOREPX" => padding::transfer(opcode, immediate, frame, prices, &mut self.contexts),
            "SETMODCX" => self.contexts.setmodx(opcode, frame, prices, Source::Code),
            "STORECX" => self.contexts.storex(opcode, frame, prices, Source::Code),
            "SUM2X" | "SUM3X" | "SUM4X" | "SUM5X" | "SUM6X" => self.sum(opcode, immediate, frame, prices),
            "FP2MULX" => fp2::multiply(opcode, immediate, frame, prices, self.contexts.active()?),
            "FP6MULX" => fp6::multiply(opcode, immediate, frame, prices, self.contexts.active()?),
            "MOVX" => copies::copy(opcode, immediate, frame, prices, self.contexts.active()?),
            "SELECTX" => copies::select(opcode, immediate, frame, prices, self.contexts.active()?),
            _ if subroutines::execute(opcode, frame)? => Ok(()),
            _ => self.contexts.execute(opcode, immediate, frame, prices),
        }
    }
}

impl Added {
    /// Inverses modulo m in each lane, 0 if there is none. All lanes are read before any is written.
    fn invert(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt> {
        let operands: Vec<usize> = immediate.iter().map(|&byte| usize::from(byte)).collect();
        let [out, out_stride, x, x_stride, count] = operands[..] else {
            return Err(Halt::InvalidInstruction);
        };
        let context = self.contexts.active()?;
        if out_stride == 0 || count == 0 {
            return Err(Halt::InvalidStride);
        }
        if out.max(x).max(out + out_stride * (count - 1)).max(x + x_stride * (count - 1)) >= context.slots.len() {
            return Err(Halt::SlotOutOfRange);
        }
        let price = prices.added("invert", context.width_limbs(), opcode)?;
        frame.charge(prices.times(price, count as u64))?; // style: S11: below 256
        let inverse = |slot: usize| context.slots[slot].modinv(&context.modulus).unwrap_or_default();
        let inverses: Vec<BigUint> = (0..count).map(|lane| inverse(x + x_stride * lane)).collect();
        for (lane, inverse) in inverses.into_iter().enumerate() {
            context.slots[out + out_stride * lane] = inverse;
        }
        Ok(())
    }

    /// ± x₁·y₁ ± x₂·y₂ … mod m: bit i of signs says that product i is subtracted.
    fn sum(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
    ) -> Result<(), Halt> {
        let [out, signs, slots @ ..] = immediate else { return Err(Halt::InvalidInstruction) };
        let context = self.contexts.active()?;
        if [out].into_iter().chain(slots).any(|&slot| usize::from(slot) >= context.slots.len()) {
            return Err(Halt::SlotOutOfRange);
        }
        let width = context.width_limbs();
        let (each, once) = (prices.added("product", width, opcode)?, prices.added("reduction", width, opcode)?);
        frame.charge(prices.times(each * (slots.len() as u64 / 2) + once, 1))?; // style: S11: at most 6 products
        let mut sum = BigUint::ZERO;
        for (number, pair) in slots.chunks(2).enumerate() {
            let [x, y] = [pair[0], pair[1]].map(|slot| &context.slots[usize::from(slot)]);
            let product = x * y % &context.modulus;
            let is_subtracted = signs >> number & 1 == 1;
            sum = (sum + if is_subtracted { &context.modulus - product } else { product }) % &context.modulus;
        }
        context.slots[usize::from(*out)] = sum;
        Ok(())
    }

    /// 1 on the stack if the slot is zero, else 0.
    fn is_zero(&mut self, immediate: &[u8], frame: &mut Frame<'_>) -> Result<(), Halt> {
        let context = self.contexts.active()?;
        let [slot] = immediate else { return Err(Halt::InvalidInstruction) };
        let value = context.slots.get(usize::from(*slot)).ok_or(Halt::SlotOutOfRange)?;
        frame.push(Word::from(u8::from(value.is_zero())))
    }
}

/// The EIP's prices with those of the additions that `opcodes` has.
pub fn prices(opcodes: &[FieldOpcode]) -> Vec<Prices> {
    let eip = eip6690_2024::eip6690();
    let mut base = eip.base.clone();
    let sums = [("SUM2X", 0), ("SUM3X", 0), ("SUM4X", 0), ("SUM5X", 0), ("SUM6X", 0)];
    let others = [("INVMODX", 0), ("ISZEROX", 3), ("GETX", 1), ("PUTX", 1), ("LOADPX", 1), ("STOREPX", 1)];
    let later = [("SETMODCX", 1), ("STORECX", 1), ("FP2MULX", 0), ("MOVX", 1), ("SELECTX", 1), ("FP6MULX", 0)];
    let compared = [("EQX", 3), ("LTX", 3)];
    for (mnemonic, gas) in sums.into_iter().chain(others).chain(later).chain(compared).chain(subroutines::PRICES) {
        if opcodes.iter().any(|opcode| opcode.mnemonic == mnemonic) {
            base.insert(mnemonic.to_owned(), gas);
        }
    }
    let thousandths = |ByWidth(prices): &ByWidth| ByWidth(prices.iter().map(|gas| 1000 * gas).collect());
    let ByWidth(mul) = &eip.mul;
    let of_mul = |thousandths: u64| mul.iter().map(|gas| thousandths * gas).collect();
    let inversions = [40, 70, 100, 140, 170, 215, 270, 300, 345, 405, 465, 505];
    let added = [
        (&[INVMODX][..], "invert", inversions.map(|gas| 1000 * gas).to_vec()),
        (&[SUM2X], "product", of_mul(540)),
        (&[SUM2X], "reduction", of_mul(460)),
        // Four products and two reductions of sums.
        (&[FP2MULX], "fp2", of_mul(4 * 540 + 2 * 460)),
        (&[FP6MULX], "fp6", of_mul(28_000)),
        // Two for each two limbs begun, and two more, in tenths of gas: as time grows.
        (&[GETX, MOVX, SELECTX], "copy", (1..=12u64).map(|limbs| 1000 * (1 + limbs.div_ceil(2)) / 10).collect()),
    ];
    let added = added.into_iter().filter(|(of, ..)| of.iter().any(|opcode| opcodes.contains(opcode)));
    vec![Prices {
        name: "next".to_owned(),
        base,
        set_modulus: thousandths(&eip.set_modulus),
        add: thousandths(&eip.add),
        sub: thousandths(&eip.sub),
        mul: thousandths(&eip.mul),
        load: thousandths(&eip.load),
        store: thousandths(&eip.store),
        added: added.map(|(_, name, prices)| (name, ByWidth(prices))).collect(),
        in_thousandths: true,
        ..eip
    }]
}
