//! Items as text that [`super::parse`] reads back.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use super::Item;
use crate::field_instruction::{FieldInstruction, ModulusAt};
use crate::form::{Operand, Shape};
use crate::revision::Revision;

/// One line an item; labels are named `L` and their number.
///
/// Reading the text gives items with the same bytes, and the same items where there is one way only to write them: an opcode
/// byte without mnemonic, or one whose immediate is missing, is written as `DATA`.
pub fn print(items: &[Item], revision: Revision) -> String {
    let mut text = String::new();
    for item in items {
        text.push_str(&item_text(item, revision));
        text.push('\n');
    }
    text
}

fn item_text(item: &Item, revision: Revision) -> String {
    match item {
        Item::Op(opcode) => match revision.row(*opcode) {
            Some(row) if row.immediate_bytes == 0 => row.mnemonic.to_owned(),
            _ => data_text(&revision.opcode_bytes(*opcode).collect::<Vec<_>>()),
        },
        Item::Push(number) => format!("PUSH {number:#x}"),
        Item::PushBytes(bytes) if bytes.is_empty() => "PUSH0".to_owned(),
        Item::PushBytes(bytes) => push_text(bytes),
        Item::PushLabel(label) => format!("PUSH @L{}", label.0),
        Item::PushDistances { to, from } => {
            let from: Vec<String> = from.iter().map(|label| format!("L{}", label.0)).collect();
            format!("PUSH @L{}-{}", to.0, from.join(","))
        }
        Item::Label(label) => format!("L{}:", label.0),
        Item::Mark(label) => format!("MARK L{}", label.0),
        Item::Field(instruction) => field_text(instruction, revision),
        Item::Data(bytes) => data_text(bytes),
    }
}

/// `PUSHn` with its n bytes.
pub(super) fn push_text(bytes: &[u8]) -> String {
    format!("PUSH{} 0x{}", bytes.len(), hex::encode(bytes))
}

/// `DATA` with its bytes.
pub(super) fn data_text(bytes: &[u8]) -> String {
    format!("DATA 0x{}", hex::encode(bytes))
}

/// The mnemonic with its operands: `MULMODX 1:2 3 4:0 x8`, `ADDMOD384 0x30 0x60 0x90 0x0`.
pub(super) fn field_text(instruction: &FieldInstruction, revision: Revision) -> String {
    let opcode = match *instruction {
        FieldInstruction::Slots { operation, .. } | FieldInstruction::Memory { operation, .. } => {
            Some(revision.arithmetic_opcode(operation))
        }
        FieldInstruction::Formed(formed) => revision.slot_rules().and_then(|rules| rules.opcode(formed.form())),
    };
    let opcode = opcode.expect("decoded by a revision that has it");
    let row = revision.row(opcode);
    let mut text = row.expect("field opcodes have rows").mnemonic.to_owned();
    let lane = |text: &mut String, index: u8, stride: u8| match stride {
        1 => write!(text, " {index}"),
        _ => write!(text, " {index}:{stride}"),
    };
    let count = |text: &mut String, count: u8| if count == 1 { Ok(()) } else { write!(text, " x{count}") };
    let result = match *instruction {
        FieldInstruction::Slots { out, x, y, count: lanes, .. } => {
            let operands = [out, x, y].iter().try_for_each(|operand| lane(&mut text, operand.index, operand.stride));
            operands.and_then(|()| count(&mut text, lanes))
        }
        FieldInstruction::Formed(formed) => formed.operands().try_for_each(|(operand, bytes)| match (operand, bytes) {
            (Operand::Writes(Shape::InLanes) | Operand::Reads(Shape::InLanes), &[index, stride]) => {
                lane(&mut text, index, stride)
            }
            (Operand::Count, &[lanes]) if formed.form().row().has_lanes() => count(&mut text, lanes),
            (_, bytes) => bytes.iter().try_for_each(|byte| write!(text, " {byte}")),
        }),
        FieldInstruction::Memory { out, x, y, modulus, .. } => {
            let operands = write!(text, " {out:#x} {x:#x} {y:#x}");
            operands.and_then(|()| match modulus {
                ModulusAt::Offset(offset) => write!(text, " {offset:#x}"),
                ModulusAt::OffsetAndRInv { offset, r_inv } => write!(text, " {offset:#x} {r_inv:#x}"),
                ModulusAt::Implied => Ok(()),
            })
        }
    };
    result.expect("writing to a string does not fail");
    text
}
