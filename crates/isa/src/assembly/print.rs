//! Items as text that [`super::parse`] reads back.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use super::Item;
use crate::field_instruction::{FieldInstruction, Lanes, ModulusAt};
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
    let rules = revision.slot_rules();
    let opcode = match *instruction {
        FieldInstruction::Slots { operation, .. } | FieldInstruction::Memory { operation, .. } => {
            Some(revision.arithmetic_opcode(operation))
        }
        FieldInstruction::Inverse { .. } => rules.and_then(|rules| rules.invert),
        FieldInstruction::Copy { .. } => rules.and_then(|rules| rules.copy),
        FieldInstruction::Select { .. } => rules.and_then(|rules| rules.select),
        FieldInstruction::IsZero { .. } => rules.and_then(|rules| rules.is_zero),
        FieldInstruction::Compare { comparison, .. } => rules.and_then(|rules| rules.comparison(comparison)),
        FieldInstruction::Fp2(_) => rules.and_then(|rules| rules.mul_fp2),
        FieldInstruction::Fp6(_) => rules.and_then(|rules| rules.mul_fp6),
        FieldInstruction::Sum(sum) => rules.and_then(|rules| Some(rules.sums? + sum.count - 2)),
    };
    let opcode = opcode.expect("decoded by a revision that has it");
    let row = revision.row(opcode);
    let mut text = row.expect("field opcodes have rows").mnemonic.to_owned();
    let lanes = |text: &mut String, operands: &[Lanes], count: u8| {
        for Lanes { index, stride } in operands {
            text.push_str(&match stride {
                1 => format!(" {index}"),
                _ => format!(" {index}:{stride}"),
            });
        }
        if count == 1 { Ok(()) } else { write!(text, " x{count}") }
    };
    let result = match *instruction {
        FieldInstruction::Slots { out, x, y, count, .. } | FieldInstruction::Select { out, x, y, count } => {
            lanes(&mut text, &[out, x, y], count)
        }
        FieldInstruction::Inverse { out, x, count } | FieldInstruction::Copy { out, x, count } => {
            lanes(&mut text, &[out, x], count)
        }
        FieldInstruction::IsZero { slot } => write!(text, " {slot}"),
        FieldInstruction::Compare { x, y, .. } => write!(text, " {x} {y}"),
        FieldInstruction::Fp2(products) => products.pack().iter().try_for_each(|operand| write!(text, " {operand}")),
        FieldInstruction::Fp6(product) => product.pack().iter().try_for_each(|operand| write!(text, " {operand}")),
        FieldInstruction::Sum(sum) => sum.pack().iter().try_for_each(|operand| write!(text, " {operand}")),
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
