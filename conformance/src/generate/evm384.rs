//! EVM384 with packed offsets: any modulus, any r_inv, unreduced operands, every kind of overlap, offsets at the edges.

use num_bigint::BigUint;
use rand::Rng;
use rand::seq::IndexedRandom;
use residue_isa::opcode::evm as op;
use residue_isa::revision::evm384_v7::{ADDMOD384, LOGF, MULMODMONT384, Operands, SUBMOD384, VALUE_BYTES, pack};

use super::Generator;

const BLS12_381_P: &str =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";

/// What a program has in memory.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Offset and value of the modulus last written.
    modulus: Option<(u32, BigUint)>,
    /// Offsets of values written.
    offsets: Vec<u32>,
}

impl Generator {
    /// A snippet with EVM384 instructions.
    pub(super) fn evm384(&mut self) {
        if self.values.modulus.is_none() || self.rarely(15) {
            self.write_modulus();
        }
        match self.random.random_range(0..12) {
            0..=2 => self.write_value(),
            3 if self.rarely(3) => {
                for _ in 0..3 {
                    let word = self.integer(32);
                    self.push(word);
                }
                self.op(LOGF);
            }
            _ => self.arithmetic_in_memory(),
        }
    }

    fn write_modulus(&mut self) {
        let b = BigUint::from(1u8) << (8 * VALUE_BYTES);
        let p = BigUint::parse_bytes(BLS12_381_P.as_bytes(), 16).expect("it is a number");
        let m = match self.random.random_range(0..10) {
            0..=3 => p,
            4 => b - 3u8,
            5 => b - self.random.random_range(1..200u8),
            6 => BigUint::from(self.random.random_range(0..4u8)),
            7 => self.integer(VALUE_BYTES) >> 1 << 1,
            _ => self.integer(VALUE_BYTES) | BigUint::from(1u8),
        };
        let m = m % (BigUint::from(1u8) << (8 * VALUE_BYTES));
        let low = m.iter_u64_digits().next().unwrap_or(0);
        let r_inv = match self.random.random_range(0..8) {
            0 => 0,
            1 => u64::MAX,
            2 => self.random.random(),
            _ => negated_inverse(low),
        };
        let bytes = [little_endian(&m), r_inv.to_le_bytes().to_vec()].concat();
        let offset = self.value_offset();
        self.write(offset.into(), &bytes);
        self.values.modulus = Some((offset, m));
    }

    fn write_value(&mut self) {
        let (_, m) = self.values.modulus.clone().unwrap_or_default();
        let value = match self.random.random_range(0..10) {
            0 => m,
            1 => m + 1u8,
            2 | 3 => self.integer(VALUE_BYTES),
            _ => self.operand(&m, VALUE_BYTES),
        };
        let bytes = little_endian(&value);
        let offset = self.value_offset();
        self.write(offset.into(), &bytes[..VALUE_BYTES]);
        self.values.offsets.push(offset);
    }

    /// Where to put a value: mostly a multiple of its size, so that values do not destroy each other.
    fn value_offset(&mut self) -> u32 {
        match self.random.random_range(0..10) {
            0 => self.random.random_range(0..900),
            _ => 64 * self.random.random_range(0..14),
        }
    }

    fn arithmetic_in_memory(&mut self) {
        let modulus = match &self.values.modulus {
            Some((offset, _)) if !self.random.random_ratio(1, 15) => *offset,
            _ => self.operand_offset(),
        };
        let [x, y, out] = [self.operand_offset(), self.operand_offset(), self.operand_offset()];
        // Results at exactly an operand, at exactly the modulus, or close to one.
        let out = match self.random.random_range(0..12) {
            0 => x,
            1 => y,
            2 if self.rarely(2) => modulus,
            3 => x.saturating_add(self.random.random_range(0..60)),
            4 => y.saturating_sub(self.random.random_range(0..60)),
            5 if self.rarely(2) => modulus.saturating_add(self.random.random_range(0..60)),
            _ => out,
        };
        // Negation as programs write it: the modulus itself as first operand.
        let x = if self.rarely(10) { modulus } else { x };
        let word = pack(Operands { modulus, y, x, out }).to_be_bytes();
        if self.rarely(8) {
            let mut wide = [0; 32];
            self.random.fill(&mut wide[..16]);
            wide[16..].copy_from_slice(&word);
            self.push_bytes(&wide);
        } else {
            self.push_bytes(&word);
        }
        let opcode = *[ADDMOD384, SUBMOD384, MULMODMONT384].choose(&mut self.random).expect("it is not empty");
        if self.rarely(10) {
            self.op(op::DUP1);
            self.op(opcode);
        }
        self.op(opcode);
        let reach = [modulus, x, y, out].into_iter().max().unwrap_or(0);
        if reach < 10_000 {
            self.reach(u64::from(reach) + if opcode == MULMODMONT384 { 56 } else { 48 });
            self.values.offsets.push(out);
        }
    }

    /// The offset of an operand: mostly of a value written before, at times anywhere, rarely out of reach.
    fn operand_offset(&mut self) -> u32 {
        let written = self.values.offsets.choose(&mut self.random).copied();
        let near = u32::try_from(self.memory_bytes).unwrap_or(u32::MAX);
        match (self.random.random_range(0..40), written) {
            (0, _) => near.saturating_sub(self.random.random_range(0..60)),
            (1, _) => self.random.random_range(0..near.saturating_add(100)),
            (2, _) if self.rarely(6) => u32::MAX - self.random.random_range(0..60),
            (3, _) if self.rarely(6) => 1 << self.random.random_range(10..32),
            (_, Some(offset)) => offset,
            (_, None) => self.value_offset(),
        }
    }
}

/// −m⁻¹ mod 2⁶⁴ of an odd m, and what the iteration gives for an even one.
fn negated_inverse(m: u64) -> u64 {
    let mut inverse = 1u64;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(inverse))); // x = x(2 − m·x)
    }
    inverse.wrapping_neg()
}

fn little_endian(value: &BigUint) -> Vec<u8> {
    let mut bytes = value.to_bytes_le();
    bytes.resize(VALUE_BYTES.max(bytes.len()), 0);
    bytes
}
