//! Input from outside: numbers, hexadecimal text and files. Every error names the value and its place.

use std::fs::File;
use std::io::Read;
use std::num::IntErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, bail, ensure};
use residue_engine::revm::primitives::Address;
use residue_isa::{names, text_of};

/// Set when standard input has been read: a second reader would find it empty.
static IS_STDIN_READ: AtomicBool = AtomicBool::new(false);
/// No file that is read may be larger.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// No range of memory that is shown may be larger: memory cannot grow beyond this.
const RANGE_BYTES_MAX: u64 = residue_engine::MEMORY_LIMIT_BYTES;

/// Bytes of a frame's memory, from the first to the last exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRange(Range<u64>);

impl MemoryRange {
    /// Reads the range out of `memory`, zeros beyond its end.
    pub fn of(&self, memory: &[u8]) -> Vec<u8> {
        let byte = |offset| usize::try_from(offset).ok().and_then(|offset: usize| memory.get(offset));
        self.0.clone().map(|offset| byte(offset).copied().unwrap_or(0)).collect()
    }
}

/// An address, as 20 bytes in hexadecimal. Letters of both cases are a checksum (EIP-55).
pub fn address(text: &str) -> Result<Address, String> {
    let address: Address = text.parse().map_err(|error| format!("an address is 20 bytes in hexadecimal ({error})"))?;
    let right = address.to_checksum(None);
    let digits = text.trim_start_matches("0x");
    let has = |is_case: fn(&u8) -> bool| digits.as_bytes().iter().any(is_case);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    match is_mixed && !right.ends_with(digits) {
        true => Err(format!("the checksum of EIP-55 does not fit: {right} is right if every digit is")),
        false => Ok(address),
    }
}

/// An unsigned number: decimal, or hexadecimal after 0x; `_` may separate digits.
pub fn number(text: &str) -> Result<u64> {
    let digits = text.replace('_', "");
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => u64::from_str_radix(digits, 16),
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse(),
        _ if digits.starts_with('-') => bail!("{} is negative", names::quoted(text)),
        _ => bail!("{} is not a number", names::quoted(text)),
    };
    number.map_err(|error| match error.kind() {
        IntErrorKind::PosOverflow => anyhow!("{} is too large: at most {}", names::quoted(text), u64::MAX),
        _ => anyhow!("{} is not a number", names::quoted(text)),
    })
}

/// `FROM:TO` in bytes.
pub fn memory_range(text: &str) -> Result<MemoryRange> {
    let (from, to) = text.split_once(':').ok_or_else(|| anyhow!("{} is not FROM:TO", names::quoted(text)))?;
    let end = |name: &str, text: &str| number(text).map_err(|error| anyhow!("{name}: {error}"));
    let (from, to) = (end("FROM", from)?, end("TO", to)?);
    ensure!(from <= to, "it ends at {to}, before its start {from}");
    ensure!(to - from <= RANGE_BYTES_MAX, "{} bytes are more than are shown at once, {RANGE_BYTES_MAX}", to - from);
    Ok(MemoryRange(from..to))
}

/// Code from a file, or from standard input if `path` is `-`.
pub fn code(path: &str) -> Result<Vec<u8>> {
    let code = bytes_file(path).context("reading the code")?;
    ensure!(!code.is_empty(), "{} holds no code", shown(path));
    Ok(code)
}

/// Calldata: hexadecimal, which may be empty, or `@FILE`.
pub fn calldata(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix('@') {
        Some(path) => bytes_file(path).context("reading the input"),
        None => hexadecimal(text, "--input").map_err(|error| match is_a_file(text) {
            true => anyhow!("--input {0}: a file is given as --input @{0}", names::quoted(text).trim_matches('"')),
            false => error,
        }),
    }
}

/// True if a text that is not hexadecimal names a file, or looks like a file name.
fn is_a_file(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(|extension| extension.to_str());
    let is_known = extension.is_some_and(|extension| ["hex", "bin", "txt", "json"].contains(&extension));
    is_known || Path::new(text).is_file()
}

/// The text of a file, or of standard input if `path` is `-`.
pub fn text_file(path: &str) -> Result<String> {
    Ok(text_of(&read(path)?).with_context(|| shown(path).to_owned())?.to_owned())
}

/// The bytes of a file, or of standard input if `path` is `-`.
pub fn raw(path: &str) -> Result<Vec<u8>> {
    read(path)
}

/// Name of a file in messages.
pub fn shown(path: &str) -> &str {
    if path == "-" { "standard input" } else { path }
}

/// Raw bytes of a file that ends in `.bin`, else of the hexadecimal text in it.
fn bytes_file(path: &str) -> Result<Vec<u8>> {
    if path.ends_with(".bin") { read(path) } else { hexadecimal(&text_file(path)?, shown(path)) }
}

fn read(path: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    ensure!(
        path != "-" || !IS_STDIN_READ.swap(true, Ordering::Relaxed),
        "standard input is read once, and something else of this command is read from it: give one of them as a file"
    );
    let source: Box<dyn Read> = match path {
        "-" => Box::new(std::io::stdin().lock()),
        _ => Box::new(File::open(path).with_context(|| format!("cannot open {path:?}"))?),
    };
    let read = source.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    let read = read.with_context(|| format!("cannot read {}", shown(path)))?;
    ensure!(u64::try_from(read)? <= FILE_BYTES_MAX, "{} has more than {FILE_BYTES_MAX} bytes", shown(path));
    Ok(bytes)
}

/// Bytes from hexadecimal digits of either case; 0x in front and white space anywhere are allowed.
fn hexadecimal(text: &str, place: &str) -> Result<Vec<u8>> {
    let start = text.len() - text.trim_start().len();
    let skipped = if text[start..].starts_with("0x") || text[start..].starts_with("0X") { start + 2 } else { start };
    let mut digits = Vec::with_capacity(text.len());
    for (offset, character) in text[skipped..].char_indices() {
        if character.is_ascii_whitespace() {
            continue;
        }
        let Some(digit) = character.to_digit(16) else {
            bail!("{place}{}: {character:?} is not a hexadecimal digit", line_and_column(text, skipped + offset));
        };
        digits.push(u8::try_from(digit)?);
    }
    ensure!(digits.len().is_multiple_of(2), "{place}: {} hexadecimal digits are not whole bytes", digits.len());
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// `:line:column`, both from 1.
fn line_and_column(text: &str, offset: usize) -> String {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    format!(":{}:{}", before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_allows_a_prefix_and_white_space() {
        for text in ["0x60ffAb", "0X60FFAB", "60FFab", " 0x60\n\tff ab \n", "6 0 f f a b"] {
            assert_eq!(hexadecimal(text, "x").unwrap(), [0x60, 0xff, 0xab], "{text:?}");
        }
        for text in ["", "0x", " \n"] {
            assert_eq!(hexadecimal(text, "x").unwrap(), [0u8; 0], "{text:?}");
        }
    }

    #[test]
    fn hexadecimal_names_the_place_of_a_bad_digit() {
        for (text, message) in [
            ("0x6g", "f:1:4: 'g' is not a hexadecimal digit"),
            ("60\n6é", "f:2:2: 'é' is not a hexadecimal digit"),
            ("600", "f: 3 hexadecimal digits are not whole bytes"),
            ("0x0x", "f:1:4: 'x' is not a hexadecimal digit"),
        ] {
            assert_eq!(hexadecimal(text, "f").unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(number("1_000").unwrap(), 1000);
        assert_eq!(number("0xff").unwrap(), 255);
        assert_eq!(number("0XFF").unwrap(), 255);
        assert_eq!(number("18446744073709551615").unwrap(), u64::MAX);
        for text in ["", "0x", "-1", "+1", "1.5", "ff", "18446744073709551616", "0x+1"] {
            assert!(number(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn memory_beyond_the_end_reads_zero() {
        assert_eq!(memory_range("1:5").unwrap().of(&[9, 8, 7]), [8, 7, 0, 0]);
        assert_eq!(memory_range("0xffffffffffffffff:0xffffffffffffffff").unwrap().of(&[1]), [0u8; 0]);
        for text in ["", "1", "5:1", "a:b", "-1:1", "0:67108865", "1:2:3"] {
            assert!(memory_range(text).is_err(), "{text:?}");
        }
    }
}
