//! A mistake in a text whose line is too long to be shown whole: the part of it around the mistake.

use std::ops::Range;

/// Characters of a line that is shown whole.
const LINE_CHARS_MAX: usize = 200;
/// Characters of a longer line that are shown before the mistake, and from its begin on.
const AROUND_CHARS: usize = 60;

/// `path:line:column`, the part of the line around the bytes `span` and marks below them, if the line is long; none if it can be shown whole.
/// The column is in characters.
pub fn of_long_line(path: &str, text: &str, span: &Range<usize>) -> Option<String> {
    let before = text.get(..span.start)?;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[span.start..].find('\n').map_or(text.len(), |length| span.start + length);
    let line = &text[line_start..line_end];
    line.chars().nth(LINE_CHARS_MAX)?;
    let column = text[line_start..span.start].chars().count();
    let marked = text.get(span.clone()).unwrap_or_default().chars().take_while(|&c| c != '\n').count();
    let skipped = column.saturating_sub(AROUND_CHARS);
    let shown: String = line.chars().skip(skipped).take(column - skipped + AROUND_CHARS).map(plain).collect();
    let is_cut = line.chars().nth(column + AROUND_CHARS).is_some();
    let (begin, end) = (if skipped > 0 { "…" } else { "" }, if is_cut { "…" } else { "" });
    let place = " ".repeat(begin.chars().count() + column - skipped);
    let marks = "^".repeat(marked.clamp(1, AROUND_CHARS));
    let number = before.matches('\n').count() + 1;
    Some(format!("{path}:{number}:{}\n  {begin}{shown}{end}\n  {place}{marks}", column + 1))
}

/// A character that takes one column.
fn plain(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_are_shown_whole_and_long_ones_around_the_mistake() {
        assert_eq!(of_long_line("p", "short\nline", &(6..8)), None);
        assert_eq!(of_long_line("p", "", &(0..0)), None);
        let text = format!("first\n{} here {}\nlast", "ä".repeat(3_000_000), "b".repeat(3_000_000));
        let at = text.find("here").unwrap();
        let shown = of_long_line("p", &text, &(at..at + 4)).unwrap();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "p:2:3000002");
        assert!(shown.len() < 600 && lines[1].starts_with("  …ä") && lines[1].ends_with("b…"), "{shown}");
        let column = |line: &str, what: &str| line[..line.find(what).unwrap()].chars().count();
        assert_eq!((column(lines[1], "here"), lines[2].trim()), (column(lines[2], "^"), "^^^^"));
        // A mark of a whole line is cut as the line is.
        let all = of_long_line("p", &text, &(6..text.len() - 5)).unwrap();
        assert!(all.starts_with("p:2:1\n  ä") && all.len() < 400, "{all}");
        let end = of_long_line("p", &text[..at], &(at..at)).unwrap();
        assert!(end.ends_with("^") && end.len() < 400, "{end}");
    }
}
