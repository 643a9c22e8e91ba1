//! Bytes of instructions on numbered slots, with strides and without, and of those beside arithmetic: shared by all revisions with slots.

use alloc::vec::Vec;

use super::rules::SlotRules;
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, FieldOp, Formed, Lanes};
use crate::revision::strided::{Operands, pack, unpack};

/// Appends the prefix, if there is one, the opcode, and the operands.
pub(super) fn encode(
    interface: &Interface,
    instruction: &FieldInstruction,
    code: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let refused = EncodeError::OperandKind { revision: interface.name, instruction: *instruction };
    let rules = rules(interface);
    match *instruction {
        _ if interface.semantics == Semantics::Words => return Err(refused),
        FieldInstruction::Slots { operation, out, x, y, count } => {
            let is_strided = rules.is_some_and(|rules| rules.is_strided);
            if !is_strided && (count != 1 || [out, x, y].iter().any(|lanes| lanes.stride != 1)) {
                return Err(EncodeError::Lanes { revision: interface.name, instruction: *instruction });
            }
            code.extend(rules.and_then(|rules| rules.prefix));
            code.push(interface.arithmetic[operation]);
            code.extend(rules.and_then(|rules| rules.marker));
            match is_strided {
                true => code.extend(pack(Operands { out, x, y, count })),
                false => code.extend([out.index, x.index, y.index]),
            }
        }
        FieldInstruction::Formed(formed) => {
            let opcode = rules.and_then(|rules| rules.opcode(formed.form())).ok_or(refused)?;
            code.extend(rules.and_then(|rules| rules.prefix));
            code.push(opcode);
            code.extend(formed.bytes());
        }
        FieldInstruction::Memory { .. } => return Err(refused),
    }
    Ok(())
}

/// The inverse of [`encode`]. None if prefix or marker is not there.
pub(super) fn decode(interface: &Interface, code: &[u8]) -> Option<(FieldInstruction, usize)> {
    if interface.semantics == Semantics::Words {
        return None;
    }
    let rules = rules(interface);
    let prefix = rules.and_then(|rules| rules.prefix);
    let rest = if let Some(prefix) = prefix { code.strip_prefix(&[prefix])? } else { code };
    let (&opcode, mut rest) = rest.split_first()?;
    let begin_bytes = 1 + usize::from(prefix.is_some());
    let Some(operation) = operation(interface, opcode) else {
        let form = rules?.form_of(opcode).filter(|form| form.is_instruction())?;
        let operands = rest.get(..form.row().immediate_bytes())?;
        return Some((FieldInstruction::Formed(Formed::new(form, operands)?), begin_bytes + operands.len()));
    };
    if rules.is_some_and(|rules| rules.is_strided) {
        let (&immediate, _) = rest.split_first_chunk()?;
        let Operands { out, x, y, count } = unpack(immediate);
        return Some((FieldInstruction::Slots { operation, out, x, y, count }, begin_bytes + immediate.len()));
    }
    let marker = rules.and_then(|rules| rules.marker);
    if let Some(marker) = marker {
        rest = rest.strip_prefix(&[marker])?;
    }
    let (&slots, _) = rest.split_first_chunk()?;
    let [out, x, y] = slots.map(Lanes::one);
    let bytes = begin_bytes + usize::from(marker.is_some()) + slots.len();
    Some((FieldInstruction::Slots { operation, out, x, y, count: 1 }, bytes))
}

fn rules(interface: &Interface) -> Option<&'static SlotRules> {
    match interface.semantics {
        Semantics::Slots(rules) => Some(rules),
        Semantics::Memory384(_) | Semantics::MemorySlots(_) | Semantics::Words => None,
    }
}

fn operation(interface: &Interface, opcode: u8) -> Option<FieldOp> {
    interface.arithmetic.iter().find(|&(_, &own)| own == opcode).map(|(operation, _)| operation)
}
