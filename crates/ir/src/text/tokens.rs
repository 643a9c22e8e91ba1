//! A text as tokens, taken one after the other.

use num_bigint::BigUint;
use num_traits::Num;
use std::borrow::Cow;
use std::ops::Range;
use thiserror::Error;

/// Why a text is no program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Bytes of the text that are wrong; empty at its end.
    pub span: Range<usize>,
    /// Expected text.
    pub expected: String,
    /// Text found instead.
    pub found: String,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

struct Token<'a> {
    line: usize,
    /// Offset of its first byte.
    start: usize,
    text: &'a str,
}

/// Tokens of a text; those before `next` have been taken.
pub(super) struct Tokens<'a> {
    all: Vec<Token<'a>>,
    pub(super) next: usize,
}

impl<'a> Tokens<'a> {
    /// All of a text, none taken yet.
    pub(super) fn of(text: &'a str) -> Self {
        Self { all: tokens(text), next: 0 }
    }

    /// Number of tokens.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Bytes of the text from token `at` to the last one of its line.
    pub(super) fn rest_of_line(&self, at: usize) -> Range<usize> {
        let Some(first) = self.all.get(at) else { return 0..0 };
        let of_line = self.all[at..].iter().take_while(|token| token.line == first.line);
        first.start..of_line.last().map_or(first.start, |token| token.start + token.text.len())
    }

    /// The line of the next token, from 1; that of the last one at the end.
    pub(super) fn line(&self) -> usize {
        self.all.get(self.next).or(self.all.last()).map_or(1, |token| token.line)
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.all.get(self.next).map(|token| token.text)
    }

    pub(super) fn fail<T>(&self, at: usize, expected: &str) -> Parsed<T> {
        let line = self.all.get(at).or(self.all.last()).map_or(1, |token| token.line);
        let end = self.all.last().map_or(0, |token| token.start + token.text.len());
        let span = self.all.get(at).map_or(end..end, |token| token.start..token.start + token.text.len());
        let quoted = |token: &Token<'_>| format!("`{}`", abridged(token.text, FOUND_CHARS_MAX));
        let found = self.all.get(at).map_or("the end of the text".to_owned(), quoted);
        Err(ParseError { line, span, expected: expected.to_owned(), found })
    }

    /// The next token as `read` understands it.
    pub(super) fn take<T>(&mut self, expected: &str, read: impl FnOnce(&'a str) -> Option<T>) -> Parsed<T> {
        match self.peek().and_then(read) {
            Some(taken) => {
                self.next += 1;
                Ok(taken)
            }
            None => self.fail(self.next, expected),
        }
    }

    pub(super) fn word_is(&mut self, word: &str) -> bool {
        let hit = self.peek() == Some(word);
        self.next += usize::from(hit);
        hit
    }

    pub(super) fn expect(&mut self, word: &str) -> Parsed<()> {
        self.take(&format!("`{word}`"), |text| (text == word).then_some(()))
    }

    pub(super) fn name(&mut self) -> Parsed<String> {
        self.take("a quoted name", unquoted)
    }

    /// A number after a one-letter prefix: `v12`.
    pub(super) fn numbered(&mut self, prefix: char, what: &str) -> Parsed<u32> {
        self.number(what, u32::MAX, |text| text.strip_prefix(prefix))
    }

    pub(super) fn decimal(&mut self, what: &str) -> Parsed<u32> {
        self.at_most(what, u32::MAX)
    }

    /// A decimal number up to `most`.
    pub(super) fn at_most(&mut self, what: &str, most: u32) -> Parsed<u32> {
        self.number(what, most, Some)
    }

    /// The same where it stands in the token; one that is too large is told the limit.
    fn number(&mut self, what: &str, most: u32, digits: impl Fn(&'a str) -> Option<&'a str>) -> Parsed<u32> {
        let is_too_large = self.peek().and_then(&digits).and_then(decimal).is_some_and(|number| number > most.into());
        let expected = if is_too_large { format!("{what}, at most {most}") } else { what.to_owned() };
        let fits = |text| u32::try_from(decimal(digits(text)?)?).ok().filter(|&number| number <= most);
        self.take(&expected, fits)
    }

    pub(super) fn big(&mut self) -> Parsed<BigUint> {
        self.take("a number such as 0x1", |text| BigUint::from_str_radix(hexadecimal_digits(text)?, 16).ok())
    }
}

/// Value of decimal digits, at least one; 2⁶⁴ − 1 if too large.
pub(super) fn decimal(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Hexadecimal digits after 0x, at least one; `_` may stand between them.
pub(super) fn hexadecimal_digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("0x")?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_');
    let [first, last] = [digits.bytes().next()?, digits.bytes().next_back()?];
    Some(digits).filter(|_| is_number && first != b'_' && last != b'_')
}

/// Characters of a token that a message repeats.
const FOUND_CHARS_MAX: usize = 80;

/// Text of at most `chars_max` + 1 characters: if it is longer, two thirds from its start and one from its end.
pub(crate) fn abridged(text: &str, chars_max: usize) -> Cow<'_, str> {
    let chars = text.chars().count();
    if chars <= chars_max {
        return text.into();
    }
    let (first, last) = (2 * chars_max / 3, chars_max / 3);
    let begin = text.chars().take(first);
    let end = text.chars().skip(chars - last);
    begin.chain(['…']).chain(end).collect::<String>().into()
}

/// U+FEFF in front of a text is a signature of its encoding, and no part of it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Splits at white space and around brackets; a quoted name is one token.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut line_start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let line_number = number + 1;
        let mut rest = line.trim_start();
        if number == 0 {
            rest = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_start();
        }
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '#' => break,
                '"' => quoted_length(rest),
                '(' | ')' | '{' | '}' => 1,
                _ => rest.find(|c: char| c.is_whitespace() || "(){}\"#".contains(c)).unwrap_or(rest.len()),
            };
            let start = line_start + line.len() - rest.len();
            tokens.push(Token { line: line_number, start, text: &rest[..length] });
            rest = rest[length..].trim_start();
        }
        line_start += line.len();
    }
    tokens
}

/// Bytes of the quoted name that `rest` begins with; all of `rest` if its end is missing.
fn quoted_length(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|&(_, c)| {
        let is_end = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// A name without its quotes and escapes, which are those of Rust; `None` if it is not well formed.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    let mut name = String::new();
    let mut chars = inner.chars();
    loop {
        let c = match chars.next()? {
            '"' => return chars.next().is_none().then_some(name),
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                'u' => {
                    let (digits, after) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                    chars = after.chars();
                    char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
                }
                c @ ('"' | '\\' | '\'') => c,
                _ => return None,
            },
            c => c,
        };
        name.push(c);
    }
}
