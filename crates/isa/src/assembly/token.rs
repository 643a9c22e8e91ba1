//! Words of assembly text with their places. Words are separated by white space; `;` and `//` start a comment that ends with
//! the line; `=` is a word of its own.

use alloc::vec::Vec;

use crate::text::without_mark;

/// A word and where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub text: &'a str,
    pub place: Place,
}

/// Line and column in characters, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub line: usize,
    pub column: usize,
}

/// All words, and the place after the last character.
pub(super) fn tokens(text: &str) -> (Vec<Token<'_>>, Place) {
    let mut tokens = Vec::new();
    let mut end = Place { line: 1, column: 1 };
    for (index, line) in without_mark(text).split('\n').enumerate() {
        let line_number = index + 1;
        let mut column = 1;
        for word in words(without_comment(line)) {
            if !word.starts_with(char::is_whitespace) {
                tokens.push(Token { text: word, place: Place { line: line_number, column } });
            }
            column += word.chars().count();
        }
        end = Place { line: line_number, column: line.chars().count() + 1 };
    }
    (tokens, end)
}

fn without_comment(line: &str) -> &str {
    let end = [line.find(';'), line.find("//")].into_iter().flatten().min();
    end.map_or(line, |end| &line[..end])
}

/// Splits a line into runs of white space, runs of other characters, and single `=`.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    core::iter::from_fn(move || {
        let kind = kind_of(rest.chars().next()?);
        let end = match kind {
            Kind::Equals => 1,
            _ => rest.find(|c| kind_of(c) != kind).unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[derive(PartialEq, Eq)]
enum Kind {
    Space,
    Equals,
    Word,
}

fn kind_of(c: char) -> Kind {
    match c {
        '=' => Kind::Equals,
        c if c.is_whitespace() => Kind::Space,
        _ => Kind::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_line_and_column_and_comments_are_none() {
        let (tokens, end) = tokens("  ADD ; x\n\ta=3 // y; z\r\nä: @b;//\n");
        let found: Vec<_> = tokens.iter().map(|token| (token.text, token.place.line, token.place.column)).collect();
        assert_eq!(found, [("ADD", 1, 3), ("a", 2, 2), ("=", 2, 3), ("3", 2, 4), ("ä:", 3, 1), ("@b", 3, 4)]);
        assert_eq!(end, Place { line: 4, column: 1 });
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_text() {
        assert_eq!(tokens("\u{feff}ADD"), tokens("ADD"));
        assert_eq!(tokens("ADD \u{feff}").0.len(), 2);
    }
}
