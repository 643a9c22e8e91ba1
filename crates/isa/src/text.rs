//! Text of files: UTF-8, with or without the byte order mark that editors of other systems put in front.

use core::str;
#[cfg(feature = "std")]
use std::{fs, io, path::Path};

use thiserror::Error;

/// U+FEFF in UTF-8 (RFC 3629, section 6): a signature in front of a text, and no part of it.
const MARK: char = '\u{feff}';

/// Why bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TextFault {
    /// Text in an encoding that is not read.
    #[error("it is {0} text: save it as UTF-8")]
    Encoding(&'static str),
    /// Bytes of no encoding that is known.
    #[error("line {line}: byte {byte:#04x} at offset {offset} is not UTF-8 text")]
    NotText {
        /// The first byte that is wrong.
        byte: u8,
        /// Its offset in the file, from 0.
        offset: usize,
        /// Its line, from 1.
        line: usize,
    },
}

/// The text of a file's bytes, without a byte order mark.
pub fn text_of(bytes: &[u8]) -> Result<&str, TextFault> {
    if let Some(encoding) = other_encoding(bytes) {
        return Err(TextFault::Encoding(encoding));
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let line = bytes[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
        TextFault::NotText { byte: bytes[offset], offset, line }
    })?;
    Ok(without_mark(text))
}

/// UTF-32 or UTF-16, by its byte order mark (RFC 2781, section 3.2), else by the zeros beside a first ASCII letter.
fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    match *bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [1..=0x7f, 0, 0, 0, ..] | [0, 0, 0, 1..=0x7f, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=0x7f, ..] | [1..=0x7f, 0, ..] => Some("UTF-16"),
        _ => None,
    }
}

/// A text without the byte order mark in front of it.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The text of a file.
#[cfg(feature = "std")]
pub fn read_file(path: &Path) -> io::Result<String> {
    text_of(&fs::read(path)?).map(str::to_owned).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_no_part_of_a_text_and_other_encodings_are_named() {
        assert_eq!(text_of(b"0x60"), Ok("0x60"));
        assert_eq!(text_of(b"\xef\xbb\xbf0x60"), Ok("0x60"));
        assert_eq!(text_of(b"\xef\xbb\xbf"), Ok(""));
        assert_eq!(text_of(b""), Ok(""));
        let encoding = |bytes: &[u8], name| assert_eq!(text_of(bytes), Err(TextFault::Encoding(name)), "{bytes:?}");
        for bytes in [&b"\xff\xfe{\0"[..], b"\xfe\xff\0{", b"{\0\"\0", b"\0{\0\"", b"\xff\xfe"] {
            encoding(bytes, "UTF-16");
        }
        for bytes in [&b"\xff\xfe\0\0{\0\0\0"[..], b"\0\0\xfe\xff", b"{\0\0\0}\0\0\0", b"\0\0\0{"] {
            encoding(bytes, "UTF-32");
        }
        let wrong = |bytes: &[u8]| text_of(bytes).unwrap_err().to_string();
        assert_eq!(wrong(&[0x60, 0xff]), "line 1: byte 0xff at offset 1 is not UTF-8 text");
        assert_eq!(wrong(b"\xef\xbb\xbf\n\xfe"), "line 2: byte 0xfe at offset 4 is not UTF-8 text");
    }
}
