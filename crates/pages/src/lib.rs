//! Documents with parts that code makes, and tests that hold them to it.
//!
//! A part stands between a comment that names it and `<!-- end -->`. [`with`] puts another text there; [`hold`] is for tests: the part is
//! what the test makes, or becomes it with `RESIDUE_WRITE_TABLES=1`, for review with the change that asks for it. [`quotes`] holds a
//! sentence to the numbers in it.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// End mark of a part.
pub const END: &str = "<!-- end -->";
/// Environment variable that makes tests write pages anew.
pub const WRITE: &str = "RESIDUE_WRITE_TABLES";

/// The page with `text` in its part `name`; none if it has no such part.
pub fn with(page: &str, name: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- {name} -->\n");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}\n{}\n\n{END}{after}", text.trim()))
}

/// The names of the parts of a page that begin with `prefix`, in their order.
pub fn names<'a>(page: &'a str, prefix: &str) -> Vec<&'a str> {
    let name = |line: &'a str| line.strip_prefix("<!-- ")?.strip_suffix(" -->");
    page.lines().filter_map(name).filter(|name| name.starts_with(prefix)).collect()
}

/// Path of a document of the project, such as `docs/eip2537.md`.
pub fn path(document: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(document)
}

/// A document of the project.
///
/// # Panics
/// If it cannot be read.
pub fn read(document: &str) -> String {
    let path = path(document);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Holds the part `name` of a document to `text`, or writes it.
///
/// # Panics
/// If the document says something else, or has no such part.
pub fn hold(document: &str, name: &str, text: &str) {
    /// Tests of one program may write different parts of one page.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let page = read(document);
    let made = with(&page, name, text).unwrap_or_else(|| panic!("{document} has no part {name:?}"));
    if std::env::var_os(WRITE).is_some() {
        fs::write(path(document), made).unwrap_or_else(|error| panic!("{document}: {error}"));
        return;
    }
    let differs = page.lines().zip(made.lines()).find(|(is, should_be)| is != should_be);
    assert!(
        page == made,
        "{document}, {name:?}: {WRITE}=1 and this test write it anew; the first difference: {differs:#?}"
    );
}

/// True if a page has a sentence, with any line breaks.
pub fn quotes(page: &str, sentence: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    words(page).contains(&words(sentence))
}

/// 1234567 ↦ 1 234 567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits are ASCII")).collect();
    groups.join(" ")
}

/// a/b with three decimals.
pub fn ratio(a: u64, b: u64) -> String {
    let thousandths = (1000 * a + b / 2) / b;
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# A page\n<!-- first table -->\n\nold\n\n<!-- end -->\nmore\n<!-- second -->\n<!-- end -->\nlast\n";

    #[test]
    fn a_part_is_replaced_and_the_rest_stays() {
        let made = with(PAGE, "first table", "| new |\n").unwrap();
        assert_eq!(made, PAGE.replace("old", "| new |"));
        assert_eq!(with(&made, "first table", "old").unwrap(), PAGE);
        assert!(with(PAGE, "second", "x").unwrap().ends_with("<!-- second -->\n\nx\n\n<!-- end -->\nlast\n"));
        assert_eq!(with(PAGE, "third", "x"), None);
        assert_eq!(with("<!-- open -->\n", "open", "x"), None);
    }

    #[test]
    fn parts_are_listed_by_what_their_names_begin_with() {
        assert_eq!(names(PAGE, "f"), ["first table"]);
        assert_eq!(names(PAGE, "s"), ["second"]);
    }

    #[test]
    fn a_sentence_is_found_across_lines() {
        assert!(quotes("it takes\n0.29 of it", "takes 0.29 of") && !quotes("it takes\n0.29 of it", "takes 0.3 of"));
    }

    #[test]
    fn numbers_are_written_as_the_pages_have_them() {
        assert_eq!([7, 1000, 1_234_567].map(grouped), ["7", "1 000", "1 234 567"]);
        assert_eq!([ratio(1, 3), ratio(2, 1), ratio(1999, 2000)], ["0.333", "2.000", "1.000"]);
    }
}
