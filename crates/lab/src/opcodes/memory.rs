//! Field opcodes of the revisions with values in memory or on the stack: every version of EVM384.
//!
//! The pushes of operands are in both programs of a pair, so their time is not the opcode's.

use num_bigint::BigUint;
use residue_isa::opcode::evm as op;
use residue_isa::revision::evm384::{ByteOrder, Evm384, Modulus, Operands, VALUE_BYTES};
use residue_isa::{Assembly, FieldInstruction, FieldOp, ModulusAt, Revision};

use super::MeasureEffort;
use super::pair::{Expected, Pair, bytes, data, looped, ops};
use super::values::{FIELD_CLASSES, modulus, operands, random};
use crate::error::LabError;

/// Executions in a turn of the loop.
const BODY: usize = 48;
/// Executions in a turn with distant operands: together they touch more lines than caches near the core hold.
const FAR_BODY: usize = 8192;
const FAR_TURNS: usize = 3;
/// Offset of the first operand, also the result; the second operand and the modulus follow, the latter unless the
/// revision fixes its place.
const X_AT: u32 = 0;
const Y_AT: u32 = 48;
const MODULUS_AT: u32 = 192;
/// Memory that programs with distant operands reach.
const FAR_BYTES: u32 = 8 << 20;
/// Opcode of v12 that sets the modulus.
const SETMOD: u8 = residue_isa::revision::evm384_v12::SETMOD;

/// A revision with a modulus.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    /// The revision.
    pub revision: Revision,
    /// Properties of the interface.
    pub evm384: &'static Evm384,
    /// The modulus.
    pub m: BigUint,
    /// −m⁻¹ mod 2⁶⁴.
    pub r_inv: u64,
    /// Offset of the modulus in memory, unless the revision fixes it.
    pub modulus_at: u32,
}

/// The pairs of a revision: every class of values, and operands spread over memory where offsets reach far.
pub(super) fn pairs(revision: Revision, effort: &MeasureEffort) -> Result<Vec<Pair>, LabError> {
    let Some(evm384) = revision.evm384() else { return Ok(Vec::new()) };
    let r_inv = residue_isa::revision::evm384::BLS12_381_R_INV;
    let memory = Memory { revision, evm384, m: modulus(6), r_inv, modulus_at: MODULUS_AT };
    let mut pairs = Vec::new();
    for operation in FieldOp::ALL {
        for class in FIELD_CLASSES {
            pairs.push(memory.clone().pair(operation, class, Spacing::Same));
        }
        let is_far = evm384.unit_bytes == 1 && evm384.operand_max == u32::MAX && evm384.operands != Operands::Values;
        if is_far && (effort.is_complete || matches!(revision, Revision::Evm384V7 | Revision::Evm384V9)) {
            for (class, spacing) in [("lines", Spacing::Lines), ("pages", Spacing::Pages), ("far", Spacing::Far)] {
                pairs.push(memory.clone().pair(operation, class, spacing));
            }
        }
    }
    // An opcode beside the arithmetic: logging of v7, and setting the modulus of v12.
    for row in revision.opcodes().iter().filter(|row| revision.arithmetic_of(row.byte).is_none()) {
        pairs.push(memory.clone().other(row.byte, row.mnemonic, i32::from(row.pops)));
    }
    Ok(pairs)
}

/// Distance between operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Same,
    Lines,
    Pages,
    Far,
}

impl Memory {
    /// Offset of the modulus in memory.
    pub fn modulus_at(&self) -> usize {
        self.modulus_offset() as usize // u32 to usize widens.
    }

    fn modulus_offset(&self) -> u32 {
        match self.evm384.modulus {
            Modulus::Place(at) => at,
            _ => self.modulus_at,
        }
    }

    fn value(&self, value: &BigUint) -> Vec<u8> {
        let mut bytes = super::values::to_be(value, VALUE_BYTES);
        if self.evm384.byte_order == ByteOrder::Little {
            bytes.reverse();
        }
        bytes
    }

    /// Memory at the beginning: x, y, the modulus with r_inv after it.
    fn image(&self, [x, y]: &[BigUint; 2]) -> Vec<u8> {
        let mut image = vec![0; self.modulus_at() + 64];
        let mut put = |at: u32, bytes: &[u8]| image[at as usize..][..bytes.len()].copy_from_slice(bytes); // Widens.
        put(X_AT, &self.value(x));
        put(Y_AT, &self.value(y));
        self.put_modulus(&mut image);
        image
    }

    /// Puts the modulus with r_inv after it where it is in memory.
    pub fn put_modulus(&self, image: &mut [u8]) {
        let r_inv = match self.evm384.byte_order {
            ByteOrder::Little => self.r_inv.to_le_bytes(),
            ByteOrder::Big => self.r_inv.to_be_bytes(),
        };
        let bytes = [&self.value(&self.m)[..], &r_inv].concat();
        image[self.modulus_at()..][..bytes.len()].copy_from_slice(&bytes);
    }

    /// Sets the modulus where it is set.
    pub fn set_modulus(&self, code: &mut Assembly) {
        if self.evm384.modulus == Modulus::Set {
            code.push(VALUE_BYTES as u64).push(self.modulus_offset()).op(SETMOD); // Widens.
        }
    }

    /// The instruction on values at these offsets: result, first and second operand.
    pub fn instruction(&self, operation: FieldOp, [out, x, y]: [u32; 3]) -> FieldInstruction {
        let offset = self.modulus_offset();
        let modulus = match (self.evm384.modulus, operation) {
            (Modulus::Operand, _) => ModulusAt::Offset(offset),
            (Modulus::OperandAndRInv, FieldOp::Mul) => ModulusAt::OffsetAndRInv { offset, r_inv: self.r_inv },
            (Modulus::OperandAndRInv, _) => ModulusAt::Offset(offset),
            _ => ModulusAt::Implied,
        };
        FieldInstruction::Memory { operation, out, x, y, modulus }
    }

    /// The raw value after `count` operations on `x`: x + n·y, x − n·y, or x·(y·R⁻¹)ⁿ.
    fn after(&self, operation: FieldOp, [x, y]: &[BigUint; 2], count: usize) -> BigUint {
        let (m, n) = (&self.m, BigUint::from(count));
        match operation {
            FieldOp::Add => (x + y * n) % m,
            FieldOp::Sub => (x + (m - y) * n) % m,
            FieldOp::Mul => {
                let r_inverse = (BigUint::from(1u8) << 384u32).modinv(m).expect("m is odd");
                x * (y * r_inverse).modpow(&n, m) % m
            }
        }
    }

    fn pair(self, operation: FieldOp, class: &'static str, spacing: Spacing) -> Pair {
        let opcode = self.revision.arithmetic_opcode(operation);
        let row = self.revision.row(opcode).expect("a revision has its arithmetic");
        let values = operands(if spacing == Spacing::Same { class } else { "random" }, &self.m);
        let image = self.image(&values);
        let on_stack = self.evm384.operands == Operands::Values;
        let expected: Option<Expected> = (spacing == Spacing::Same && !on_stack).then(|| {
            let (memory, values) = (self.clone(), values.clone());
            let expected = move |turns: usize| memory.value(&memory.after(operation, &values, turns * BODY));
            Box::new(expected) as Expected
        });
        let name = format!("{}/{}/384/{class}", self.revision, row.mnemonic);
        let pops = i32::from(row.pops) - i32::from(row.pushes);
        let (revision, input) = (self.revision, image.clone());
        let count = if spacing == Spacing::Far { FAR_BODY } else { BODY };
        let program = move |with: bool, turns: usize| {
            let mut encoded = Vec::new();
            for i in 0..count {
                if on_stack {
                    encoded.extend(self.stack_operation(opcode, &values, with));
                    continue;
                }
                let instruction = self.instruction(operation, places(spacing, i));
                let mut one = Vec::new();
                revision.encode(&instruction, &mut one).map_err(LabError::Encode)?;
                if !with {
                    one.truncate(one.len() - row.instruction_bytes());
                    one.extend(vec![op::POP; usize::from(row.pops)]);
                }
                encoded.extend(one);
            }
            let before = |code: &mut Assembly| self.start(code, image.len(), spacing);
            let after = |code: &mut Assembly| {
                code.push(48_u8).push(X_AT).op(op::RETURN);
            };
            bytes(&looped(turns, before, |code| data(code, encoded), after), revision)
        };
        let is_cold_measured = class == "random" && operation == FieldOp::Mul;
        let program = Box::new(program);
        Pair {
            name,
            mnemonic: row.mnemonic,
            count,
            pops,
            program,
            input,
            expected,
            turns: (spacing == Spacing::Far).then_some(FAR_TURNS),
            is_cold_measured,
        }
    }

    /// Copies the image, reaches as far as the operands, and sets the modulus where it is set.
    fn start(&self, code: &mut Assembly, image_bytes: usize, spacing: Spacing) {
        if spacing == Spacing::Far {
            code.push(0_u8).push(FAR_BYTES + 64).op(op::MSTORE);
        } else if spacing == Spacing::Pages {
            code.push(0_u8).push(4096_u32 * 160).op(op::MSTORE);
        }
        code.push(image_bytes as u64).push(0_u8).push(0_u8).op(op::CALLDATACOPY); // Widens.
        self.set_modulus(code);
    }

    /// Six words with the values, the opcode and what takes its result away; without it only the words.
    pub fn stack_operation(&self, opcode: u8, [x, y]: &[BigUint; 2], with: bool) -> Vec<u8> {
        let mut code = Vec::new();
        let mut push = |value: &BigUint, after: &[u8]| {
            let mut bytes = self.value(value);
            bytes.extend(after);
            bytes.resize(64, 0);
            for word in bytes.chunks(32).rev() {
                code.push(op::PUSH32);
                code.extend(word);
            }
        };
        push(&self.m, &self.r_inv.to_le_bytes());
        push(y, &[]);
        push(x, &[]);
        code.extend(if with { vec![opcode, op::POP, op::POP] } else { vec![op::POP; 6] });
        code
    }

    /// An opcode that takes words: LOGF of nothing, SETMOD of the modulus.
    fn other(self, opcode: u8, mnemonic: &'static str, pops: i32) -> Pair {
        let (revision, modulus_at) = (self.revision, self.modulus_offset());
        let image = self.image(&[random(&self.m, 5), random(&self.m, 6)]);
        let input = image.clone();
        let program = move |with: bool, turns: usize| {
            let body = |code: &mut Assembly| {
                for _ in 0..BODY {
                    for word in [1, 48, modulus_at].into_iter().skip(usize::from(pops == 2)) {
                        code.push(word);
                    }
                    match with {
                        true => ops(code, &[opcode]),
                        false => (0..pops).for_each(|_| ops(code, &[op::POP])),
                    }
                }
            };
            let before = |code: &mut Assembly| self.start(code, image.len(), Spacing::Same);
            bytes(&looped(turns, before, body, |code| ops(code, &[op::STOP])), revision)
        };
        Pair {
            name: format!("{revision}/{mnemonic}/384/plain"),
            mnemonic,
            count: BODY,
            pops,
            program: Box::new(program),
            input,
            expected: None,
            turns: None,
            is_cold_measured: false,
        }
    }
}

/// Offsets of result, first and second operand of execution `i`. Spread ones lie after the image.
fn places(spacing: Spacing, i: usize) -> [u32; 3] {
    let i = i as u32; // At most FAR_BODY.
    let far = |seed: u32| {
        let line = random(&BigUint::from(FAR_BYTES / 64 - 8), u64::from(seed));
        64 * u32::try_from(line).unwrap_or(0) + 512
    };
    match spacing {
        Spacing::Same => [X_AT, X_AT, Y_AT],
        Spacing::Lines => [0, 1, 2].map(|operand| 512 + 64 * (3 * i + operand)),
        Spacing::Pages => [0, 1, 2].map(|operand| 4096 * (1 + 3 * i + operand)),
        Spacing::Far => [0, 1, 2].map(|operand| far(3 * i + operand)),
    }
}
