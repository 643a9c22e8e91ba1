//! From any bytes to text that assembles to the same bytes.

use super::print::{data_text, field_text, push_text};
use crate::opcode::evm::{PUSH1, PUSH32};
use crate::revision::Revision;

/// The most bytes on a line of data.
const DATA_BYTES: usize = 32;
/// Where the comments start.
const COMMENT_COLUMN: usize = 40;

/// One instruction a line, each with its offset in the code (hexadecimal) as a comment.
///
/// Bytes that are no instruction of this revision, and instructions whose immediate the end of the code cuts off, become
/// `DATA`. Assembling the text for the same revision gives exactly `code`, whatever it is.
pub fn disassemble(code: &[u8], revision: Revision) -> String {
    let mut text = String::new();
    let mut pc = 0;
    while pc < code.len() {
        let line = line(&code[pc..], revision);
        let note = line.note.map_or(String::new(), |note| format!(" {note}"));
        text.push_str(&format!("{:<COMMENT_COLUMN$}; {pc:04x}{note}\n", line.text));
        pc += line.bytes;
    }
    text
}

struct Line {
    text: String,
    bytes: usize,
    note: Option<String>,
}

/// The first line of `code`, which is not empty.
fn line(code: &[u8], revision: Revision) -> Line {
    if let Some((instruction, bytes)) = revision.decode(code) {
        return Line { text: field_text(&instruction, revision), bytes, note: None };
    }
    let opcode = code[0];
    let Some(row) = revision.row(opcode) else {
        let unknown = code.iter().take(DATA_BYTES).take_while(|&&byte| revision.row(byte).is_none()).count();
        return Line { text: data_text(&code[..unknown]), bytes: unknown, note: None };
    };
    let bytes = row.instruction_bytes();
    if bytes == 1 {
        return Line { text: row.mnemonic.to_owned(), bytes, note: None };
    }
    match code.get(1..bytes) {
        Some(immediate) if (PUSH1..=PUSH32).contains(&opcode) => Line { text: push_text(immediate), bytes, note: None },
        Some(_) => Line { text: data_text(&code[..bytes]), bytes, note: Some(row.mnemonic.to_owned()) },
        None => Line { text: data_text(code), bytes: code.len(), note: Some(format!("truncated {}", row.mnemonic)) },
    }
}
