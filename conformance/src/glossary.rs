//! The glossary's words: every name of its column "spelt" is in the code.

use std::collections::BTreeSet;

use crate::workspace;

/// Path of the glossary.
pub const GLOSSARY: &str = "docs/glossary.md";

/// Every identifier of the workspace's code.
pub fn identifiers() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in workspace::files(&[".rs"]) {
        found.extend(words(&workspace::read(&path)).map(str::to_owned));
    }
    found
}

/// The lines of a glossary whose third column has a code span with a word that is no identifier of the code.
pub fn unknown(text: &str, identifiers: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, term, _, spelt, ..] = &cells[..] else { continue };
        for span in spelt.split('`').skip(1).step_by(2) {
            if let Some(word) = words(span).find(|word| !identifiers.contains(*word)) {
                found.push(format!("{GLOSSARY}:{number}: {term} is not spelt `{word}` anywhere"));
            }
        }
    }
    found
}

/// The words of a text that are written as identifiers are.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_code_does_not_have_are_found() {
        let known: BTreeSet<String> = ["Block", "path", "runs"].map(str::to_owned).into();
        let text = "# Glossary\n| term | meaning | spelt | not |\n|---|---|---|---|\n| a | `Nothing` | `Block` with `path.runs > 1` | |\n\
                    | b | … | `Block`, `Ghost` | |\n| c | … | in docs only | |";
        assert_eq!(unknown(text, &known), ["docs/glossary.md:5: b is not spelt `Ghost` anywhere"]);
    }
}
