//! Bytes of arithmetic on numbered slots, with strides and without: shared by the revisions' `encode` and `decode`.

use alloc::vec::Vec;

use super::rules::SlotRules;
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, FieldOp, Lanes, SumOfProducts};
use crate::fp2::Fp2Products;
use crate::fp6::Fp6Product;
use crate::revision::strided::{INSTRUCTION_BYTES, Operands, pack, unpack};

/// Appends opcode, marker, out, x, y.
pub(super) fn encode_triple(
    interface: &Interface,
    marker: Option<u8>,
    instruction: &FieldInstruction,
    code: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let FieldInstruction::Slots { operation, out, x, y, count } = *instruction else {
        return Err(operand_kind(interface, instruction));
    };
    if count != 1 || [out, x, y].iter().any(|lanes| lanes.stride != 1) {
        return Err(EncodeError::Lanes { revision: interface.name, instruction: *instruction });
    }
    code.push(opcode(interface, operation));
    code.extend(marker);
    code.extend([out.index, x.index, y.index]);
    Ok(())
}

/// The inverse of [`encode_triple`]. None if the marker is not there.
pub(super) fn decode_triple(
    interface: &Interface,
    marker: Option<u8>,
    code: &[u8],
) -> Option<(FieldInstruction, usize)> {
    let (&first, mut rest) = code.split_first()?;
    let operation = operation(interface, first)?;
    if let Some(marker) = marker {
        rest = rest.strip_prefix(&[marker])?;
    }
    let (&[out, x, y], _) = rest.split_first_chunk()?;
    let [out, x, y] = [out, x, y].map(Lanes::one);
    let bytes = 4 + usize::from(marker.is_some());
    Some((FieldInstruction::Slots { operation, out, x, y, count: 1 }, bytes))
}

/// Appends the prefix, if there is one, opcode and the seven bytes of strided operands.
pub(super) fn encode_strided(
    interface: &Interface,
    instruction: &FieldInstruction,
    code: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let FieldInstruction::Slots { operation, out, x, y, count } = *instruction else {
        return Err(operand_kind(interface, instruction));
    };
    code.extend(prefix(interface));
    code.push(opcode(interface, operation));
    code.extend_from_slice(&pack(Operands { out, x, y, count }));
    Ok(())
}

/// The inverse of [`encode_strided`]. None if the prefix is not there.
pub(super) fn decode_strided(interface: &Interface, code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let prefix = prefix(interface);
    let code = if let Some(prefix) = prefix { code.strip_prefix(&[prefix])? } else { code };
    let (&[first, ref immediate @ ..], _) = code.split_first_chunk::<INSTRUCTION_BYTES>()?;
    let operation = operation(interface, first)?;
    let Operands { out, x, y, count } = unpack(*immediate);
    Some((FieldInstruction::Slots { operation, out, x, y, count }, INSTRUCTION_BYTES + usize::from(prefix.is_some())))
}

/// Appends the bytes of an instruction of EIP-6690 of 2024 or of an experiment, if the rules have an opcode for it.
pub(super) fn encode_added(
    (interface, rules): (&Interface, &SlotRules),
    instruction: &FieldInstruction,
    code: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    match *instruction {
        FieldInstruction::Inverse { out, x, count } => {
            let opcode = rules.invert.ok_or_else(|| operand_kind(interface, instruction))?;
            code.extend([opcode, out.index, out.stride, x.index, x.stride, count]);
        }
        FieldInstruction::Copy { out, x, count } => {
            let opcode = rules.copy.ok_or_else(|| operand_kind(interface, instruction))?;
            code.extend([opcode, out.index, out.stride, x.index, x.stride, count]);
        }
        FieldInstruction::Select { out, x, y, count } => {
            code.push(rules.select.ok_or_else(|| operand_kind(interface, instruction))?);
            code.extend(pack(Operands { out, x, y, count }));
        }
        FieldInstruction::IsZero { slot } => {
            let opcode = rules.is_zero.ok_or_else(|| operand_kind(interface, instruction))?;
            code.extend([opcode, slot]);
        }
        FieldInstruction::Compare { comparison, x, y } => {
            let opcode = rules.comparison(comparison).ok_or_else(|| operand_kind(interface, instruction))?;
            code.extend([opcode, x, y]);
        }
        FieldInstruction::Sum(sum) => {
            let opcode = rules.sums.ok_or_else(|| operand_kind(interface, instruction))?;
            code.push(opcode + sum.count - 2);
            code.extend(sum.pack());
        }
        FieldInstruction::Fp2(products) => {
            let opcode = rules.mul_fp2.ok_or_else(|| operand_kind(interface, instruction))?;
            code.push(opcode);
            code.extend(products.pack());
        }
        FieldInstruction::Fp6(product) => {
            let opcode = rules.mul_fp6.ok_or_else(|| operand_kind(interface, instruction))?;
            code.push(opcode);
            code.extend(product.pack());
        }
        FieldInstruction::Slots { .. } | FieldInstruction::Memory { .. } => {
            return encode_strided(interface, instruction, code);
        }
    }
    Ok(())
}

/// The inverse of [`encode_added`].
pub(super) fn decode_added(
    (interface, rules): (&Interface, &SlotRules),
    code: &[u8],
) -> Option<(FieldInstruction, usize)> {
    let (&opcode, rest) = code.split_first()?;
    if [rules.invert, rules.copy].contains(&Some(opcode)) {
        let (&[out, out_stride, x, x_stride, count], _) = rest.split_first_chunk()?;
        let (out, x) = (Lanes { index: out, stride: out_stride }, Lanes { index: x, stride: x_stride });
        let instruction = match rules.invert == Some(opcode) {
            true => FieldInstruction::Inverse { out, x, count },
            false => FieldInstruction::Copy { out, x, count },
        };
        return Some((instruction, 6));
    }
    if rules.select == Some(opcode) {
        let (&immediate, _) = rest.split_first_chunk()?;
        let Operands { out, x, y, count } = unpack(immediate);
        return Some((FieldInstruction::Select { out, x, y, count }, INSTRUCTION_BYTES));
    }
    if rules.is_zero == Some(opcode) {
        return Some((FieldInstruction::IsZero { slot: *rest.first()? }, 2));
    }
    if let Some(comparison) = rules.compares(opcode) {
        let (&[x, y], _) = rest.split_first_chunk()?;
        return Some((FieldInstruction::Compare { comparison, x, y }, 3));
    }
    if let Some(products) = rules.sum_products(opcode) {
        let length = 2 + 2 * products;
        return Some((FieldInstruction::Sum(SumOfProducts::unpack(rest.get(..length)?)?), 1 + length));
    }
    if rules.mul_fp2 == Some(opcode) {
        let (&immediate, _) = rest.split_first_chunk()?;
        return Some((FieldInstruction::Fp2(Fp2Products::unpack(immediate)), 1 + Fp2Products::BYTES));
    }
    if rules.mul_fp6 == Some(opcode) {
        let (&immediate, _) = rest.split_first_chunk()?;
        return Some((FieldInstruction::Fp6(Fp6Product::unpack(immediate)), 1 + Fp6Product::BYTES));
    }
    decode_strided(interface, code)
}

pub(super) fn operand_kind(interface: &Interface, instruction: &FieldInstruction) -> EncodeError {
    EncodeError::OperandKind { revision: interface.name, instruction: *instruction }
}

fn prefix(interface: &Interface) -> Option<u8> {
    match interface.semantics {
        Semantics::Slots(rules) => rules.prefix,
        Semantics::Memory384(_) | Semantics::MemorySlots(_) | Semantics::Words => None,
    }
}

fn opcode(interface: &Interface, operation: FieldOp) -> u8 {
    interface.arithmetic[operation]
}

fn operation(interface: &Interface, opcode: u8) -> Option<FieldOp> {
    interface.arithmetic.iter().find(|&(_, &own)| own == opcode).map(|(operation, _)| operation)
}
