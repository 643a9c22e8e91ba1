//! Text of files: UTF-8, with or without the byte order mark that editors of other systems put in front.

use std::path::Path;
use std::{fs, io};

use thiserror::Error;

/// U+FEFF in UTF-8 (RFC 3629, section 6): a signature in front of a text, and no part of it.
const MARK: &str = "\u{feff}";

/// Why bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TextFault {
    /// Text in an encoding that is not read.
    #[error("it is UTF-16 text: save it as UTF-8")]
    Utf16,
    /// Bytes of no encoding that is known.
    #[error("byte {offset} is not UTF-8 text")]
    NotText {
        /// Offset of the first byte that is wrong, from 0.
        offset: usize,
    },
}

/// The text of a file's bytes, without a byte order mark.
pub fn read_text(bytes: Vec<u8>) -> Result<String, TextFault> {
    // The byte order marks of UTF-16 (RFC 2781, section 3.2), or every other byte of a first ASCII letter.
    if matches!(bytes[..], [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0, 1..=0x7f, ..] | [1..=0x7f, 0, ..]) {
        return Err(TextFault::Utf16);
    }
    let text =
        String::from_utf8(bytes).map_err(|error| TextFault::NotText { offset: error.utf8_error().valid_up_to() })?;
    Ok(match text.strip_prefix(MARK) {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// The text of a file.
pub fn read_file(path: &Path) -> io::Result<String> {
    read_text(fs::read(path)?).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_no_part_of_a_text_and_utf16_is_named() {
        let read = |bytes: &[u8]| read_text(bytes.to_vec());
        assert_eq!(read(b"0x60").as_deref(), Ok("0x60"));
        assert_eq!(read(b"\xef\xbb\xbf0x60").as_deref(), Ok("0x60"));
        assert_eq!(read(b"\xef\xbb\xbf").as_deref(), Ok(""));
        assert_eq!(read(b"").as_deref(), Ok(""));
        for bytes in [&b"\xff\xfe{\0"[..], b"\xfe\xff\0{", b"{\0\"\0", b"\0{\0\"", b"\xff\xfe"] {
            assert_eq!(read(bytes), Err(TextFault::Utf16), "{bytes:?}");
        }
        assert_eq!(read(&[0x60, 0xff]), Err(TextFault::NotText { offset: 1 }));
        assert_eq!(read(b"\xef\xbb\xbf\xff"), Err(TextFault::NotText { offset: 3 }));
    }
}
