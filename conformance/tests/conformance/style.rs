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

/// Folders with doc comments that begin with a clause, and the most of these: every other folder has none.
const WITH_CLAUSES: [&str; 16] = [
    "baselines/",
    "conformance/",
    "crates/alloy/",
    "crates/cli/",
    "crates/contracts/",
    "crates/curves/",
    "crates/fixtures/",
    "crates/full/",
    "crates/judge/",
    "crates/judges/",
    "crates/lab/",
    "crates/node/",
    "crates/pages/",
    "crates/python/",
    "crates/statetest/",
    "crates/workbench/",
];
const CLAUSES_MAX: usize = 1002;

#[test]
fn doc_comments_begin_with_nouns() {
    let files = workspace::files(&[".rs"]);
    let places = |path: &String| {
        let lines = style::clauses(&workspace::read(path));
        lines.into_iter().map(|line| format!("{path}:{line}")).collect::<Vec<_>>()
    };
    let (with_clauses, plain): (Vec<String>, Vec<String>) =
        files.into_iter().partition(|path| WITH_CLAUSES.iter().any(|folder| path.starts_with(folder)));
    assert!(plain.len() > 300, "{} files", plain.len());
    let found: Vec<String> = plain.iter().flat_map(places).collect();
    assert!(found.is_empty(), "a doc comment begins with a noun (S20):\n{}", found.join("\n"));
    let left = with_clauses.iter().flat_map(places).count();
    assert!(left <= CLAUSES_MAX, "{left} doc comments begin with a clause, {CLAUSES_MAX} did before (S20)");
}

#[test]
fn snippets_of_the_style_are_from_this_house() {
    let foreign = style::foreign_snippets(&workspace::read("STYLE.md"));
    assert!(foreign.is_empty(), "\n{}", foreign.join("\n"));
}
