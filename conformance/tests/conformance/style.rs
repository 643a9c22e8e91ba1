//! Every file of the project keeps the rules of `STYLE.md` that a program can check.

use residue_conformance::{style, workspace};

#[test]
fn files_keep_the_style() {
    let files = workspace::files(&[".rs", ".toml", ".md", ".sh", ".py"]);
    assert!(files.iter().any(|path| path == "conformance/tests/conformance/style.rs"), "no files found");
    let violations: Vec<String> =
        files.iter().flat_map(|path| style::violations(path, &workspace::read(path))).collect();
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

#[test]
fn doc_comments_begin_with_nouns() {
    let files = workspace::files(&[".rs"]);
    assert!(files.len() > 300, "{} files", files.len());
    let places = |path: &String| {
        let lines = style::clauses(&workspace::read(path));
        lines.into_iter().map(|line| format!("{path}:{line}")).collect::<Vec<_>>()
    };
    let found: Vec<String> = files.iter().flat_map(places).collect();
    assert!(found.is_empty(), "a doc comment begins with a noun (S20):\n{}", found.join("\n"));
}

#[test]
fn snippets_of_the_style_are_from_this_house() {
    let foreign = style::foreign_snippets(&workspace::read("STYLE.md"));
    assert!(foreign.is_empty(), "\n{}", foreign.join("\n"));
}
