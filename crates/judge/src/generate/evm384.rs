//! EVM384 in every encoding: any modulus, any r_inv, unreduced operands, every kind of overlap, offsets at the edges.

use num_bigint::BigUint;
use rand::Rng;
use rand::seq::IndexedRandom;
use residue_isa::Revision;
use residue_isa::opcode::evm as op;
use residue_isa::revision::evm384::{ByteOrder, Evm384, Modulus, Operands, VALUE_BITS, VALUE_BYTES};
use residue_isa::revision::evm384_v7::LOGF;
use residue_isa::revision::evm384_v12::{MARKER, SETMOD};

use super::Generator;

const BLS12_381_P: &str =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";

/// Addition, subtraction, multiplication, in every revision of the family.
const OPCODES: [u8; 3] = [0xc0, 0xc1, MUL];
const MUL: u8 = 0xc2;

/// Moduli and values in a program's memory.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Offset and value of the modulus last written.
    modulus: Option<(u32, BigUint)>,
    /// r_inv as it belongs to the modulus.
    r_inv: u64,
    /// Offsets of values written.
    offsets: Vec<u32>,
}

/// Byte offsets of an instruction's operands.
#[derive(Debug, Clone, Copy)]
struct Offsets {
    out: u32,
    x: u32,
    y: u32,
    modulus: u32,
}

impl Generator {
    /// A snippet with EVM384 instructions.
    pub(super) fn evm384(&mut self, interface: &Evm384) {
        if self.values.modulus.is_none() || self.rarely(15) {
            self.write_modulus(interface);
        }
        match self.random.random_range(0..12) {
            0..=2 => self.write_value(interface),
            3 if self.rarely(3) && self.revision == Revision::Evm384V7 => {
                for _ in 0..3 {
                    let word = self.integer(32);
                    self.push(word);
                }
                self.op(LOGF);
            }
            _ => self.arithmetic_in_memory(interface),
        }
    }

    fn write_modulus(&mut self, interface: &Evm384) {
        let b = BigUint::from(1u8) << (8 * VALUE_BYTES);
        let p = BigUint::parse_bytes(BLS12_381_P.as_bytes(), 16).expect("it is a number");
        let m = match self.random.random_range(0..10) {
            _ if interface.modulus == Modulus::Fixed => p,
            0..=3 => p,
            4 => b - 3u8,
            5 => b - self.random.random_range(1..200u8),
            6 => BigUint::from(self.random.random_range(0..4u8)),
            7 => self.integer(VALUE_BYTES) >> 1 << 1,
            _ => self.integer(VALUE_BYTES) | BigUint::from(1u8),
        };
        // Where long moduli halt, most are as long as they may be.
        let bits = match interface.limits_moduli() && !self.rarely(12) {
            true => interface.modulus_bits_max,
            false => VALUE_BITS,
        };
        let m = m % (BigUint::from(1u8) << bits);
        let low = m.iter_u64_digits().next().unwrap_or(0);
        self.values.r_inv = match self.random.random_range(0..8) {
            0 => 0,
            1 => u64::MAX,
            2 => self.random.random(),
            _ => negated_inverse(low),
        };
        let (m_bytes, r_inv) = match interface.byte_order {
            ByteOrder::Little => (little_endian(&m), self.values.r_inv.to_le_bytes()),
            ByteOrder::Big => (reversed(little_endian(&m)), self.values.r_inv.to_be_bytes()),
        };
        let offset = match interface.modulus {
            Modulus::Place(offset) if !self.rarely(20) => offset,
            _ => self.value_offset(interface),
        };
        if !interface.grows && self.rarely(2) {
            // Memory beyond what values need, as programs make it that know it does not grow.
            self.push(0u8);
            self.push(1_200u32);
            self.op(op::MSTORE);
            self.reach(1_232);
        }
        self.write(offset.into(), &[&m_bytes[..], &r_inv].concat());
        self.values.modulus = Some((offset, m));
        if interface.modulus == Modulus::Set {
            self.setmod(offset);
        }
    }

    /// SETMOD of what was written at `offset`, mostly all of it.
    fn setmod(&mut self, offset: u32) {
        let size = match self.random.random_range(0..8) {
            0 => self.random.random_range(0..=48u8).into(),
            1 => self.random.random_range(40..=48u8).into(),
            2 => BigUint::from(32u8),
            // Longer than a modulus may be: by one, and by any number.
            3 if self.rarely(8) => BigUint::from(49u8),
            3 if self.rarely(8) => self.integer(12),
            _ => VALUE_BYTES.into(),
        };
        let offset = if self.rarely(40) { self.integer(9) } else { offset.into() };
        self.push(size);
        self.push(offset);
        self.op(SETMOD);
    }

    fn write_value(&mut self, interface: &Evm384) {
        let (_, m) = self.values.modulus.clone().unwrap_or_default();
        let value = match self.random.random_range(0..10) {
            0 => m,
            1 => m + 1u8,
            2 | 3 => self.integer(VALUE_BYTES),
            _ => self.operand(&m, VALUE_BYTES),
        };
        let mut bytes = little_endian(&value);
        bytes.truncate(VALUE_BYTES);
        let bytes = if interface.byte_order == ByteOrder::Big { reversed(bytes) } else { bytes };
        let offset = self.value_offset(interface);
        self.write(offset.into(), &bytes);
        self.values.offsets.push(offset);
    }

    /// Offset of a new value: mostly a multiple of its size, so that values do not destroy each other.
    fn value_offset(&mut self, interface: &Evm384) -> u32 {
        match self.random.random_range(0..10) {
            0 if interface.unit_bytes == 1 => self.random.random_range(0..900),
            _ => interface.unit_bytes.max(64) * self.random.random_range(0..14),
        }
    }

    fn arithmetic_in_memory(&mut self, interface: &Evm384) {
        let modulus = match &self.values.modulus {
            Some((offset, _)) if !self.random.random_ratio(1, 15) => *offset,
            _ => self.operand_offset(interface),
        };
        let [x, y, out] = [(); 3].map(|()| self.operand_offset(interface));
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
        let nameable = |offset: u32| (offset / interface.unit_bytes).min(interface.operand_max) * interface.unit_bytes;
        let offsets = match interface.operands {
            Operands::Values => Offsets { out, x, y, modulus },
            _ => Offsets { out: nameable(out), x: nameable(x), y: nameable(y), modulus: nameable(modulus) },
        };
        let opcode = *OPCODES.choose(&mut self.random).expect("it is not empty");
        match interface.operands {
            Operands::Values => self.with_values(opcode, offsets),
            Operands::Words { overwrites_x } => self.with_words(opcode, offsets, interface, overwrites_x),
            Operands::Packed { .. } => self.with_packed(opcode, offsets),
            Operands::Immediate => self.with_immediate(opcode, offsets, interface),
        }
        let reach = match interface.modulus {
            Modulus::Place(offset) => offset,
            Modulus::Operand | Modulus::OperandAndRInv => out.max(x).max(y).max(modulus),
            _ => out.max(x).max(y),
        };
        if reach < 20_000 && interface.grows {
            self.reach(u64::from(reach) + if opcode == MUL { 56 } else { 48 });
            self.values.offsets.push(out);
        }
    }

    /// Loads the three pairs of words and stores the result; at times words at random instead.
    fn with_values(&mut self, opcode: u8, Offsets { out, x, y, modulus }: Offsets) {
        for offset in [modulus, y, x] {
            for word in [32, 0] {
                if self.rarely(15) {
                    let number = self.integer(32);
                    self.push(number);
                } else {
                    self.push(offset.saturating_add(word));
                    self.op(op::MLOAD);
                }
            }
        }
        self.op(opcode);
        for word in [0, 32] {
            self.push(out.saturating_add(word));
            self.op(op::MSTORE);
        }
    }

    fn with_words(&mut self, opcode: u8, offsets: Offsets, interface: &Evm384, overwrites_x: bool) {
        let Offsets { out, x, y, modulus } = offsets;
        let has_modulus = interface.modulus != Modulus::Fixed;
        if has_modulus && opcode == MUL {
            let r_inv = match self.random.random_range(0..20) {
                0 => self.integer(9),
                1 => self.integer(32),
                _ => self.values.r_inv.into(),
            };
            self.push(r_inv);
        }
        if has_modulus {
            self.push(modulus);
        }
        let x_or_out = if overwrites_x { [x].to_vec() } else { [x, out].to_vec() };
        for offset in [vec![y], x_or_out].concat() {
            if self.rarely(150) {
                let number = self.integer(32);
                self.push(number);
            } else {
                self.push(offset);
            }
        }
        self.op(opcode);
    }

    /// The word as it is packed, at times with bits above it that mean nothing.
    fn with_packed(&mut self, opcode: u8, Offsets { out, x, y, modulus }: Offsets) {
        let slot = |offset: u32| u128::from(offset / 48);
        let (word, bytes) = match self.revision {
            Revision::Evm384V6 => (slot(out) << 16 | slot(x) << 8 | slot(y), 3),
            Revision::Evm384V10 => (slot(out) << 48 | slot(x) << 32 | slot(y) << 16 | slot(modulus), 8),
            _ => {
                let [out, x, y, modulus] = [out, x, y, modulus].map(u128::from);
                (out << 96 | x << 64 | y << 32 | modulus, 16)
            }
        };
        let mut wide = [0; 32];
        if self.rarely(8) {
            self.random.fill(&mut wide[..32 - bytes]);
        }
        wide[32 - bytes..].copy_from_slice(&word.to_be_bytes()[16 - bytes..]);
        let is_plain = wide[..32 - bytes].iter().all(|&byte| byte == 0);
        self.push_bytes(if is_plain { &wide[32 - bytes..] } else { &wide });
        if self.rarely(10) {
            self.op(op::DUP1);
            self.op(opcode);
        }
        self.op(opcode);
    }

    fn with_immediate(&mut self, opcode: u8, Offsets { out, x, y, modulus }: Offsets, interface: &Evm384) {
        self.op(opcode);
        if interface.modulus == Modulus::Operand {
            self.code.extend([out, x, y, modulus].iter().flat_map(|offset| offset.to_le_bytes()));
            return;
        }
        let marker = if self.rarely(100) { self.random.random() } else { MARKER };
        self.code.push(marker);
        // The offsets are below 2¹⁶: their upper bytes are zero.
        self.code.extend([out, x, y].iter().flat_map(|offset| offset.to_le_bytes().into_iter().take(2)));
    }

    /// The offset of an operand: mostly of a value written before, at times anywhere, rarely out of reach.
    fn operand_offset(&mut self, interface: &Evm384) -> u32 {
        let written = self.values.offsets.choose(&mut self.random).copied();
        let near = u32::try_from(self.memory_bytes).unwrap_or(u32::MAX);
        match (self.random.random_range(0..40), written) {
            (0, _) => near.saturating_sub(self.random.random_range(0..60)),
            (1, _) => self.random.random_range(0..near.saturating_add(100)),
            (2, _) if self.rarely(6) => u32::MAX - self.random.random_range(0..60),
            (3, _) if self.rarely(6) => 1 << self.random.random_range(10..32),
            (_, Some(offset)) => offset,
            (_, None) => self.value_offset(interface),
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

fn reversed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.reverse();
    bytes
}
