//! From any bytes to text that assembles to the same bytes.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use super::print::{data_text, field_text, push_text};
use crate::opcode::evm::{PUSH1, PUSH32};
use crate::revision::Revision;

/// The most bytes on a line of data.
const DATA_BYTES: usize = 32;
/// Column at which comments start.
const COMMENT_COLUMN: usize = 40;

/// One instruction a line, each with its offset in the code (hexadecimal) as a comment.
///
/// Bytes that are no instruction of this revision, and instructions whose immediate the end of the code cuts off,
/// become `DATA`. Assembling the text for the same revision gives exactly `code`, for any code.
pub fn disassemble(code: &[u8], revision: Revision) -> String {
    let mut text = String::new();
    for (pc, Line { text: line, note, .. }) in lines(code, revision) {
        let note = note.map_or(String::new(), |note| format!(" {note}"));
        text.push_str(&format!("{line:<COMMENT_COLUMN$}; {pc:04x}{note}\n"));
    }
    text
}

/// A line of assembly text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Assembly text of its bytes.
    pub text: String,
    /// Number of bytes.
    pub bytes: usize,
    /// Why they are data, if they look like an instruction.
    pub note: Option<String>,
}

/// The lines that [`disassemble`] writes, each with its offset in the code.
pub fn lines(code: &[u8], revision: Revision) -> impl Iterator<Item = (usize, Line)> {
    let mut next = 0;
    core::iter::from_fn(move || {
        let pc = next;
        let line = code.get(pc..).filter(|rest| !rest.is_empty()).map(|rest| first_line(rest, revision))?;
        next += line.bytes;
        Some((pc, line))
    })
}

/// The first line of `code`, which is not empty.
fn first_line(code: &[u8], revision: Revision) -> Line {
    if let Some((instruction, bytes)) = revision.decode(code) {
        return Line { text: field_text(&instruction, revision), bytes, note: None };
    }
    let Some(row) = revision.row_at(code) else {
        let mut bytes = 0;
        while bytes < code.len().min(DATA_BYTES) && revision.row_at(&code[bytes..]).is_none() {
            bytes += revision.bytes_at(&code[bytes..]);
        }
        let unknown = &code[..bytes.min(code.len())];
        return Line { text: data_text(unknown), bytes: unknown.len(), note: None };
    };
    let bytes = revision.bytes_at(code);
    if row.immediate_bytes == 0 {
        return Line { text: row.mnemonic.to_owned(), bytes, note: None };
    }
    match code.get(1..bytes) {
        Some(immediate) if (PUSH1..=PUSH32).contains(&row.byte) => {
            Line { text: push_text(immediate), bytes, note: None }
        }
        Some(_) => Line { text: data_text(&code[..bytes]), bytes, note: Some(row.mnemonic.to_owned()) },
        None => Line { text: data_text(code), bytes: code.len(), note: Some(format!("truncated {}", row.mnemonic)) },
    }
}
