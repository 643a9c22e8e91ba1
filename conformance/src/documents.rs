//! Paths and links in documents: every path exists, every anchor is a heading.
//!
//! A path is the target of a link, or a code span that looks like one: it ends in a slash or in a known ending, and has
//! nothing that a path does not have. A link is relative to its document; a span may be any tail of a path, as
//! `engine/src/analysis/` or `revision.rs`. A line that means to name what is not there says so in a comment that starts
//! with `<!-- absent: `. Anchors are those of GitHub, which mdBook makes too. The commands in documents are run by `.ci/documents`.

use std::collections::BTreeSet;

use crate::workspace;

/// Mark of a line that names an absent path on purpose, with the reason.
const EXCUSE: &str = "<!-- absent: ";
/// Endings that make a name without a slash a path.
const ENDINGS: [&str; 11] = [".rs", ".toml", ".md", ".sh", ".py", ".json", ".csv", ".svg", ".yml", ".html", ".asm"];

/// The documents: Markdown in the root and anywhere under `docs/`.
pub fn documents() -> Vec<String> {
    let mut found = workspace::files(&[".md"]);
    found.retain(|path| !path.contains('/') || path.starts_with("docs/"));
    found
}

/// Pages of the site that `docs/SUMMARY.md` does not list, and pages that it lists more than once.
pub fn not_once_in_summary(summary: &str) -> Vec<String> {
    let pages = documents().into_iter().filter_map(|path| path.strip_prefix("docs/").map(str::to_owned));
    pages
        .filter(|page| page != "SUMMARY.md" && summary.matches(&format!("]({page})")).count() != 1)
        .map(|page| format!("docs/SUMMARY.md should list {page} once"))
        .collect()
}

/// Paths and anchors that a document names and that do not exist, each with its line.
pub fn missing_paths(document: &str, text: &str) -> Vec<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let entries: BTreeSet<String> = workspace::files(&[""]).into_iter().collect();
    let mut found = Vec::new();
    for (line, reference) in references(text) {
        let (path, is_there) = match reference {
            Reference::Link { path, anchor } => {
                let path = if path.is_empty() { document.to_owned() } else { joined(folder, &path) };
                let has = |anchor: &String| {
                    let page = if path == document { text.to_owned() } else { workspace::read(&path) };
                    anchors(&page).contains(anchor)
                };
                let is_there = path == document || exists(&entries, &path);
                match anchor.filter(|anchor| is_there && path.ends_with(".md") && !has(anchor)) {
                    Some(anchor) => (format!("{path}#{anchor}"), false),
                    None => (path, is_there),
                }
            }
            Reference::Span(path) => {
                let is_there = is_tail(&entries, &path) || exists(&entries, &joined(folder, &path));
                (path, is_there)
            }
        };
        if !is_there {
            found.push(format!("{document}:{line}: {path} does not exist"));
        }
    }
    found
}

/// A list of files in a page, and what it has to be complete for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileList {
    /// The words of which each file has one, in its text or in its name.
    pub words: Vec<String>,
    /// The crates that they are looked for in; all if it names none.
    pub crates: Vec<String>,
    /// The paths in code spans that its items begin with.
    pub files: BTreeSet<String>,
}

/// The lists of a page, each between `<!-- files with WORD, WORD in CRATE, CRATE -->` and `<!-- end -->`.
pub fn lists_of_files(text: &str) -> Vec<FileList> {
    let mut found: Vec<FileList> = Vec::new();
    let mut is_inside = false;
    let split = |names: &str| names.split(", ").map(str::to_owned).collect();
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("<!-- files with ").and_then(|rest| rest.strip_suffix(" -->")) {
            let (words, crates) =
                names.split_once(" in ").map_or((names, None), |(words, crates)| (words, Some(crates)));
            let crates = crates.map(split).unwrap_or_default();
            found.push(FileList { words: split(words), crates, files: BTreeSet::new() });
            is_inside = true;
        } else if line == "<!-- end -->" {
            is_inside = false;
        } else if let (true, Some(list), Some(path)) = (is_inside, found.last_mut(), line.split('`').nth(1)) {
            list.files.insert(path.to_owned());
        }
    }
    found
}

impl FileList {
    /// Files that its list must have: those of the crates with one of its words; tests and examples are left out.
    pub fn complete(&self) -> BTreeSet<String> {
        let mut found: BTreeSet<String> = workspace::files(&[".rs", ".toml"]).into_iter().collect();
        found.retain(|path| {
            let of_crate = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/'));
            let is_asked = of_crate.is_some_and(|(name, rest)| {
                let is_source = rest.starts_with("src/") || rest.starts_with("schedules/");
                is_source && (self.crates.is_empty() || self.crates.iter().any(|asked| asked == name))
            });
            let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
            let has_one = |text: &str| self.words.iter().any(|word| text.contains(word));
            is_asked && !is_test && (has_one(path) || has_one(&workspace::read(path)))
        });
        found
    }
}

/// Something in a document that names a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reference {
    /// The target of a link, relative to the document; an empty path is the document itself.
    Link { path: String, anchor: Option<String> },
    /// A code span: a tail of a path, or relative to the document.
    Span(String),
}

/// The references of a text outside fenced blocks, with their lines, the first being 1.
fn references(text: &str) -> Vec<(usize, Reference)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (line, content) in (1..).zip(text.lines()) {
        if content.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !content.contains(EXCUSE) {
            found.extend(of_line(content).map(|reference| (line, reference)));
        }
    }
    found
}

fn of_line(line: &str) -> impl Iterator<Item = Reference> {
    let spans = line.split('`').skip(1).step_by(2).filter(|span| looks_like_a_path(span));
    let spans = spans.map(|span| Reference::Span(span.to_owned()));
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    let elsewhere = |target: &&str| target.is_empty() || target.contains("://") || target.starts_with("mailto:");
    let link = |target: &str| match target.split_once('#') {
        Some((path, anchor)) => Reference::Link { path: path.to_owned(), anchor: Some(anchor.to_owned()) },
        None => Reference::Link { path: target.to_owned(), anchor: None },
    };
    spans.chain(targets.chain(definition).filter(move |target| !elsewhere(target)).map(link))
}

/// The anchors of a page: its headings in small letters, hyphens for spaces, without punctuation; a number tells equal ones apart.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if fenced || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        found.extend(std::iter::once(anchor.clone()).chain(numbered).find(|anchor| !found.contains(anchor)));
    }
    found
}

/// A code span that can only be meant as a path. Patterns, placeholders, addresses and commands are none.
fn looks_like_a_path(span: &str) -> bool {
    let only_path_characters = span.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let placeholder = span.contains("...") || span.split('/').any(|part| part.len() > 1 && is_upper(part));
    let has_ending = ENDINGS.iter().any(|ending| span.len() > ending.len() && span.ends_with(ending));
    // `owner/name` is a repository and `modular/mont_mul/384` a benchmark; paths end in `/` or in a known ending.
    only_path_characters && !placeholder && !span.starts_with(['/', '-']) && (has_ending || span.ends_with('/'))
}

/// A part in capitals without an ending stands for something, as in `records/MACHINE/`.
fn is_upper(part: &str) -> bool {
    part.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// The path from the root, without `.`; `..` stays in front if it leaves the project.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// True if the project has a file or a folder at the path.
fn exists(entries: &BTreeSet<String>, path: &str) -> bool {
    let inside = format!("{path}/");
    path.is_empty()
        || entries.contains(path)
        || entries.range(inside.clone()..).next().is_some_and(|e| e.starts_with(&inside))
}

/// True if some file of the project ends in the path, or some folder does if the path ends in `/`.
fn is_tail(entries: &BTreeSet<String>, path: &str) -> bool {
    let tail = format!("/{path}");
    entries.iter().map(|entry| format!("/{entry}")).any(|entry| match path.ends_with('/') {
        true => entry.contains(&tail),
        false => entry.ends_with(&tail),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, text: &str, expected: &[&str]) {
        assert_eq!(missing_paths(document, text), expected);
    }

    #[test]
    fn lists_of_files_are_those_under_their_comments() {
        let text = "`a.rs`\n<!-- files with x, y in ir -->\n1. `b.rs`: see `c.rs`\n\n2. `d.rs`\n<!-- end -->\n`e.rs`\n<!-- files with z -->\n";
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let list = |words: &[&str], crates: &[&str], files: &[&str]| FileList {
            words: names(words),
            crates: names(crates),
            files: names(files).into_iter().collect(),
        };
        assert_eq!(lists_of_files(text), [list(&["x", "y"], &["ir"], &["b.rs", "d.rs"]), list(&["z"], &[], &[])]);
        let with = |word: &str, crates: &[&str]| list(&[word], crates, &[]).complete();
        assert!(with("fn hold(document", &[]).iter().eq(["crates/pages/src/lib.rs"]));
        assert!(with("fn hold(document", &["ir"]).is_empty());
    }

    #[test]
    fn named_paths_exist() {
        check("README.md", "See `conformance/src/lib.rs`, `conformance/` and [layers](layers.toml#x).", &[]);
        check("README.md", "one\nSee `conformance/src/no.rs`.", &["README.md:2: conformance/src/no.rs does not exist"]);
        check(
            "README.md",
            "Gone: `no.toml`, `no/`.",
            &["README.md:1: no.toml does not exist", "README.md:1: no/ does not exist"],
        );
        check("README.md", "[here](no.md)", &["README.md:1: no.md does not exist"]);
        check("README.md", "[up](../README.md)", &["README.md:1: ../README.md does not exist"]);
    }

    #[test]
    fn links_are_relative_to_their_document() {
        check("docs/a.md", "[layers](../layers.toml)", &[]);
        check("docs/a.md", "[layers](layers.toml)", &["docs/a.md:1: docs/layers.toml does not exist"]);
        check("docs/a.md", "`layers.toml`", &[]);
        check("docs/a.md", "[layers]: layers.toml", &["docs/a.md:1: docs/layers.toml does not exist"]);
    }

    #[test]
    fn anchors_are_headings() {
        let page = "# A `b`: c, d\n## Twice\n```sh\n# no heading\n```\n## Twice\n#none\n";
        assert!(anchors(page).iter().eq(["a-b-c-d", "twice", "twice-1"]));
        check("docs/a.md", "# One\n[one](#one), [node](../README.md#run-a-node)", &[]);
        check("docs/a.md", "# One\n[two](#two)", &["docs/a.md:2: docs/a.md#two does not exist"]);
        check("docs/a.md", "[none](../README.md#none)", &["docs/a.md:1: README.md#none does not exist"]);
    }

    #[test]
    fn every_page_is_in_the_summary_once() {
        let summary = workspace::read("docs/SUMMARY.md");
        assert!(not_once_in_summary(&summary).is_empty());
        let line = summary.lines().find(|line| line.contains("](engine.md)")).unwrap();
        for wrong in ["", &format!("{line}\n{line}")] {
            assert_eq!(
                not_once_in_summary(&summary.replace(line, wrong)),
                ["docs/SUMMARY.md should list engine.md once"]
            );
        }
    }

    #[test]
    fn a_span_may_be_the_tail_of_a_path() {
        check("README.md", "`documents.rs`, `src/documents.rs`, `conformance/src/`, `src/generate/`", &[]);
        check(
            "README.md",
            "`uments.rs`, `rc/`",
            &["README.md:1: uments.rs does not exist", "README.md:1: rc/ does not exist"],
        );
        check("README.md", "Never `utils.rs`. <!-- absent: it is what not to do -->", &[]);
    }

    #[test]
    fn what_is_no_path_is_left_alone() {
        let text = "`a.b()`, `x * y`, `src/*.rs`, `records/MACHINE/`, `<file>.toml`, `residue run a.toml`, [w](https://a/b.md)";
        check("README.md", text, &[]);
        check("README.md", "`ethereum/evmone`, `and/or`, `--input`, `@FILE`, `e.g.`", &[]);
        check("README.md", "```text\n`no/no.rs`\n```\n", &[]);
    }
}
