//! Text of keys, proofs and inputs from the bytes of a file.

use crate::verifier::KeyError;

/// The byte order mark, which some editors write before UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text in these bytes, without a byte order mark; other encodings are named in the error.
pub fn key_text(bytes: &[u8]) -> Result<&str, KeyError> {
    if let Some(encoding) = other_encoding(bytes) {
        return Err(KeyError::Encoding(encoding.to_owned()));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| KeyError::Encoding(format!("no text from byte {} on", error.valid_up_to())))?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

/// UTF-32 or UTF-16, by its byte order mark, or else by where the zeros of its first characters are: JSON begins with two of ASCII (RFC 4627, §3).
fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    match *bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [_, 0, 0, 0, ..] | [0, 0, 0, _, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, _, 0, ..] | [0, _, 0, _, ..] => Some("UTF-16"),
        _ => None,
    }
}
