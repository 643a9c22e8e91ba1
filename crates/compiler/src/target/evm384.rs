//! EVM384: values in EVM memory in 48-byte little-endian Montgomery form, R = 2³⁸⁴.
//!
//! Slots are places in memory, one behind the other; behind them stand the constants, the modulus and r_inv. The 64 bytes
//! below the slots are scratch.

use super::{SlotOp, Target, clear, push, require_padding};
use crate::allocate::Slot;
use crate::moves::Copy;
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use residue_isa::{Arithmetic, FieldInstruction};

/// Bytes of one value.
const VALUE_BYTES: u32 = 48;
/// Where slots begin.
const SLOTS_AT: u32 = 64;
/// Bytes of r_inv behind the modulus.
const R_INV_BYTES: u32 = 8;

/// Lowering for interfaces with 384-bit values in memory.
pub struct Evm384 {
    modulus: BigUint,
    /// Constants as they stand behind the slots, in Montgomery form.
    constants: Vec<BigUint>,
    first_constant: Slot,
    zero: Slot,
    /// Slots with R mod m and R⁻¹ mod m: in memory R² mod m and 1, which lead into Montgomery form and out of it.
    r: Slot,
    r_inverse: Slot,
    /// Gas of a copy by addition of zero, pushes included.
    gas_of_addition: u64,
    data: LabelId,
    reverse: LabelId,
}

/// Constants that [`Evm384`] needs beside the program's: R mod m and R⁻¹ mod m, canonical.
pub fn conversion_constants(modulus: &BigUint) -> [BigUint; 2] {
    let r: BigUint = (BigUint::one() << 384) % modulus;
    let inverse = r.modinv(modulus).expect("R is a power of two and the modulus is odd");
    [r, inverse]
}

impl Evm384 {
    /// `constants[i]`, given canonical, stands in slot `first_constant + i`.
    pub fn new(
        modulus: &BigUint,
        constants: &[BigUint],
        first_constant: Slot,
        zero: Slot,
        gas_of_addition: u64,
        code: &mut Assembly,
    ) -> Self {
        let constant_slot = |wanted: &BigUint| {
            let index = constants.iter().position(|constant| constant == wanted).expect("the caller adds these");
            first_constant + u32::try_from(index).expect("the number of constants was checked")
        };
        let [r, r_inverse] = conversion_constants(modulus);
        Self {
            modulus: modulus.clone(),
            constants: constants.iter().map(|constant| (constant << 384) % modulus).collect(),
            first_constant,
            zero,
            r: constant_slot(&r),
            r_inverse: constant_slot(&r_inverse),
            gas_of_addition,
            data: code.new_label(),
            reverse: code.new_label(),
        }
    }

    fn address(&self, slot: Slot) -> u32 {
        SLOTS_AT + VALUE_BYTES * slot
    }

    fn modulus_at(&self) -> u32 {
        self.address(self.first_constant) + VALUE_BYTES * self.constant_count()
    }

    fn constant_count(&self) -> u32 {
        u32::try_from(self.constants.len()).expect("the number of constants was checked")
    }

    /// An operation on byte offsets.
    fn field(&self, code: &mut Assembly, operation: Arithmetic, out: u32, x: u32, y: u32) {
        code.field(FieldInstruction::Memory { operation, out, x, y, modulus: self.modulus_at() });
    }

    /// [word] → [word with its bytes reversed]
    fn call_reverse(&self, code: &mut Assembly) {
        let back = code.new_label();
        code.push_label(back);
        code.op(evm::SWAP1);
        code.push_label(self.reverse);
        code.op(evm::JUMP);
        code.label(back);
    }

    /// The subroutine: neighbouring bytes, then pairs, then fours … change places. [return, word] → [reversed]
    fn reverse_subroutine(&self, code: &mut Assembly) {
        code.label(self.reverse);
        for bits in [8u32, 16, 32, 64, 128] {
            // The lower of each two fields of `bits` bits.
            let ones = (BigUint::one() << bits) - 1u8;
            let mask = (0..256 / (2 * bits)).fold(BigUint::ZERO, |mask, _| (mask << (2 * bits)) | &ones);
            let masked = |code: &mut Assembly| {
                if bits < 128 {
                    code.push(mask.clone());
                    code.op(evm::AND);
                }
            };
            code.op(evm::DUP1);
            masked(code);
            push(code, bits);
            code.op(evm::SHL);
            code.op(evm::SWAP1);
            push(code, bits);
            code.op(evm::SHR);
            masked(code);
            code.op(evm::OR);
        }
        code.op(evm::SWAP1);
        code.op(evm::JUMP);
    }

    /// Goes to `fail` unless the number is below the modulus. [high, low] → [high, low], low of 256 bits
    fn require_below_modulus(&self, code: &mut Assembly, fail: LabelId) {
        let high = &self.modulus >> 256u32;
        let low = &self.modulus & ((BigUint::one() << 256) - 1u8);
        code.op(evm::DUP1);
        code.push(low);
        code.op(evm::GT);
        code.op(evm::DUP3);
        code.push(high.clone());
        code.op(evm::EQ);
        code.op(evm::AND);
        code.op(evm::DUP3);
        code.push(high);
        code.op(evm::GT);
        code.op(evm::OR);
        code.op(evm::ISZERO);
        code.push_label(fail);
        code.op(evm::JUMPI);
    }
}

/// `value` in 48 little-endian bytes.
fn le_bytes(value: &BigUint) -> Vec<u8> {
    let mut bytes = value.to_bytes_le();
    bytes.resize(VALUE_BYTES as usize, 0);
    bytes
}

/// −m⁻¹ mod 2⁶⁴.
fn r_inv(modulus: &BigUint) -> u64 {
    let two_64 = BigUint::one() << 64;
    let inverse = modulus.modinv(&two_64).expect("the modulus is odd");
    (two_64 - inverse).to_u64().expect("the difference is below 2⁶⁴: an inverse is not 0")
}

impl Target for Evm384 {
    fn memory_bytes(&self) -> u32 {
        (self.modulus_at() + VALUE_BYTES + R_INV_BYTES).next_multiple_of(32)
    }

    fn element_bytes(&self) -> u32 {
        VALUE_BYTES
    }

    fn start(&self, code: &mut Assembly, _: u32) -> u32 {
        push(code, VALUE_BYTES * (self.constant_count() + 1) + R_INV_BYTES);
        code.push_label(self.data);
        push(code, self.address(self.first_constant));
        code.op(evm::CODECOPY);
        self.memory_bytes()
    }

    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]) {
        for op in ops {
            self.field(code, op.operation, self.address(op.out), self.address(op.x), self.address(op.y));
        }
    }

    fn copy(&self, code: &mut Assembly, copy: Copy) {
        let bytes = VALUE_BYTES * copy.count;
        let gas_of_mcopy = 4 * 3 + 3 * u64::from(bytes.div_ceil(32));
        if u64::from(copy.count) * self.gas_of_addition <= gas_of_mcopy {
            for lane in 0..copy.count {
                let (to, from) = (self.address(copy.to + lane), self.address(copy.from + lane));
                self.field(code, Arithmetic::Add, to, from, self.address(self.zero));
            }
        } else {
            push(code, bytes);
            push(code, self.address(copy.from));
            push(code, self.address(copy.to));
            code.op(evm::MCOPY);
        }
    }

    fn reserve(&self, code: &mut Assembly) {
        // Every instruction that touches memory grows it.
        code.op(evm::POP);
    }

    fn load(&self, code: &mut Assembly, first: Slot, count: u32) {
        push(code, VALUE_BYTES * count);
        code.op(evm::SWAP1);
        push(code, self.address(first));
        code.op(evm::MCOPY);
    }

    fn store(&self, code: &mut Assembly, first: Slot, count: u32) {
        push(code, VALUE_BYTES * count);
        push(code, self.address(first));
        code.op(evm::DUP3);
        code.op(evm::MCOPY);
        code.op(evm::POP);
    }

    fn is_zero(&self, code: &mut Assembly, slot: Slot) {
        let address = self.address(slot);
        push(code, address);
        code.op(evm::MLOAD);
        push(code, address + 16);
        code.op(evm::MLOAD);
        code.op(evm::OR);
        code.op(evm::ISZERO);
    }

    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot) {
        for part in [0, 16] {
            push(code, self.address(a) + part);
            code.op(evm::MLOAD);
            push(code, self.address(b) + part);
            code.op(evm::MLOAD);
            code.op(evm::XOR);
        }
        code.op(evm::OR);
        code.op(evm::ISZERO);
    }

    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId) {
        let pad_bytes = size_bytes.saturating_sub(64);
        if pad_bytes > 0 {
            require_padding(code, pad_bytes, fail);
            push(code, pad_bytes);
            code.op(evm::ADD);
        }
        let rest_bytes = size_bytes - pad_bytes;
        let shifted_load = |code: &mut Assembly, bytes: u32| {
            code.op(evm::CALLDATALOAD);
            if bytes < 32 {
                push(code, 8 * (32 - bytes));
                code.op(evm::SHR);
            }
        };
        if rest_bytes > 32 {
            code.op(evm::DUP1);
            shifted_load(code, rest_bytes - 32);
            code.op(evm::SWAP1);
            push(code, rest_bytes - 32);
            code.op(evm::ADD);
            shifted_load(code, 32);
        } else {
            push(code, 0);
            code.op(evm::SWAP1);
            shifted_load(code, rest_bytes);
        }
        self.require_below_modulus(code, fail);
        self.call_reverse(code);
        push(code, 0);
        code.op(evm::MSTORE);
        self.call_reverse(code);
        push(code, 32);
        code.op(evm::MSTORE);
        self.field(code, Arithmetic::Mul, self.address(slot), 0, self.address(self.r));
    }

    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32) {
        self.field(code, Arithmetic::Mul, 0, self.address(slot), self.address(self.r_inverse));
        push(code, 16);
        code.op(evm::MLOAD);
        self.call_reverse(code);
        push(code, 0);
        code.op(evm::MLOAD);
        self.call_reverse(code);
        // The scratch now holds the number big-endian: its last 32 bytes are on top of the stack.
        code.op(evm::SWAP1);
        push(code, 0);
        code.op(evm::MSTORE);
        push(code, 16);
        code.op(evm::MSTORE);
        let pad_bytes = size_bytes.saturating_sub(VALUE_BYTES);
        if pad_bytes > 0 {
            clear(code, address, pad_bytes);
        }
        let bytes = size_bytes.min(VALUE_BYTES);
        push(code, bytes);
        push(code, VALUE_BYTES - bytes);
        push(code, address + pad_bytes);
        code.op(evm::MCOPY);
    }

    fn lanes(&self, instruction: &FieldInstruction) -> Option<Vec<SlotOp>> {
        let FieldInstruction::Memory { operation, out, x, y, modulus } = *instruction else { return None };
        let slot = |address: u32| {
            let offset = address.checked_sub(SLOTS_AT)?;
            (offset % VALUE_BYTES == 0).then_some(offset / VALUE_BYTES)
        };
        let lane = SlotOp { operation, out: slot(out)?, x: slot(x)?, y: slot(y)? };
        (modulus == self.modulus_at()).then(|| vec![lane])
    }

    fn end(&self, code: &mut Assembly) {
        self.reverse_subroutine(code);
        code.mark(self.data);
        for constant in &self.constants {
            code.data(le_bytes(constant));
        }
        code.data(le_bytes(&self.modulus));
        code.data(r_inv(&self.modulus).to_le_bytes());
    }
}
