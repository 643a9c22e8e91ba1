//! The rules of the style that a program can check: where `unsafe` may stand, no `unwrap` outside tests, reasons for
//! exceptions, short files, and nothing that is true on one machine only.
//!
//! A Rust file is read with its comments and literals blanked out where a rule is about code.

use crate::workspace;

/// S14: where `unsafe` may stand.
const UNSAFE_ADDRESSES: [&str; 5] = [
    "crates/modular/src/backend/",
    "crates/lanes/src/kernel/",
    "crates/engine/src/analysis/",
    "crates/lab/src/native/",
    "crates/proving/guest/src/machine/",
];
/// S2: lines of a file, tests not counted.
const LINES_MAX: usize = 600;
/// S2: lines of a function.
const FUNCTION_LINES_MAX: usize = 70;
/// Excuse of a file or a function with more lines, followed by the reason.
const LONG_EXCUSE: &str = "// style: S2: ";
/// S20: words that begin a clause in place of a noun.
const CLAUSE_WORDS: [&str; 6] = ["What", "Whether", "How", "Where", "Who", "Which"];
/// Folders at the root of a machine that no text of the project may name.
const MACHINE_FOLDERS: [&str; 3] = ["root", "tmp", "home"];

/// Violations in a file, each with its line. `path` is from the root of the project, with `/`.
pub fn violations(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut report = |line: usize, what: &str| found.push(format!("{path}:{}: {what}", line + 1));
    for (line, content) in text.lines().enumerate() {
        if names_machine_folder(content) {
            report(line, "a path of one machine");
        }
        if has_bare_marker(content) {
            report(line, "work left open without its issue");
        }
    }
    if !path.ends_with(".rs") || path.contains("/generated/") {
        return found;
    }

    let code = code_only(text);
    let test_file = is_test_file(path);
    let tests_from = if test_file { 0 } else { tests_start(&code) };
    let lines: Vec<&str> = text.lines().collect();
    for (start, end) in functions(&code).into_iter().filter(|(start, _)| *start < tests_from) {
        let excused = || lines[start..=end].iter().any(|line| line.contains(LONG_EXCUSE));
        if end - start >= FUNCTION_LINES_MAX && !excused() {
            report(start, &format!("a function of {} lines asks for a reason (S2)", end - start + 1));
        }
    }
    if tests_from > LINES_MAX && !text.contains(LONG_EXCUSE) {
        report(LINES_MAX, &format!("{tests_from} lines; more than {LINES_MAX} ask for a reason (S2)"));
    }
    let may_be_unsafe = UNSAFE_ADDRESSES.iter().any(|address| path.starts_with(address));
    for (line, content) in code.lines().enumerate() {
        if !may_be_unsafe && words(content).any(|word| word == "unsafe") {
            report(line, "unsafe outside its addresses (S14)");
        }
        if line < tests_from && content.contains(".unwrap()") {
            report(line, "unwrap outside tests (S13)");
        }
        for macro_name in ["todo!", "unimplemented!"] {
            if content.contains(macro_name) {
                report(line, "code that is not written");
            }
        }
    }
    for (line, attribute) in allows(&code) {
        if !attribute.contains("reason") {
            report(line, "an allow without a reason");
        }
    }
    if is_crate_root(path) && !forbids_unsafe(path, &code) {
        report(0, "the crate does not forbid unsafe code (S14)");
    }
    found
}

/// Lines, from 1, of the doc comments of a Rust file that begin with a clause in place of a noun (S20).
pub fn clauses(text: &str) -> Vec<usize> {
    let begins_with_clause = |line: &str| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).unwrap_or_default();
        words(comment.trim_start()).next().is_some_and(|word| CLAUSE_WORDS.contains(&word))
    };
    let numbered = text.lines().zip(1..);
    numbered.filter(|(line, _)| begins_with_clause(line)).map(|(_, number)| number).collect()
}

/// The first and the last line of each function of formatted code.
fn functions(code: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_function = |line: &str| {
        let before = line.split("fn ").next().unwrap_or_default();
        let known = ["pub", "const", "unsafe", "extern", "async"];
        line.contains("fn ") && before.split_whitespace().all(|word| known.iter().any(|known| word.starts_with(known)))
    };
    let mut found = Vec::new();
    for start in (0..lines.len()).filter(|&line| is_function(lines[line])) {
        // One that has no body, or all of it on its line, ends where it begins.
        let end = (start + 1..lines.len()).find(|&line| {
            let is_outside = !lines[line].trim().is_empty() && indent(lines[line]) <= indent(lines[start]);
            is_outside && !lines[line].trim_start().starts_with(')')
        });
        found.extend(end.filter(|&end| lines[end].trim_start().starts_with('}')).map(|end| (start, end)));
    }
    found
}

fn is_test_file(path: &str) -> bool {
    ["/tests/", "/benches/", "/examples/"].iter().any(|folder| path.contains(folder)) || path.ends_with("/tests.rs")
}

fn is_crate_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs")
}

/// A crate with an address for `unsafe` denies it, so that the address has to allow it; every other forbids it.
fn forbids_unsafe(path: &str, code: &str) -> bool {
    let source = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let has_address = UNSAFE_ADDRESSES.iter().any(|address| address.starts_with(&format!("{source}/")));
    code.contains("#![forbid(unsafe_code)]") || (has_address && code.contains("#![deny(unsafe_code)]"))
}

/// The line from which on there are tests only.
fn tests_start(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().collect();
    let starts = |line: usize| {
        let next = lines.get(line + 1..).unwrap_or_default().iter().find(|next| !next.trim_start().starts_with('#'));
        lines[line].trim() == "#[cfg(test)]" && next.is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'))
    };
    (0..lines.len()).find(|&line| starts(line)).unwrap_or(lines.len())
}

/// A marker of open work in any text, unless it names its issue: `(#12)` after it.
fn has_bare_marker(line: &str) -> bool {
    let markers = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    markers.iter().any(|marker| {
        line.match_indices(marker).any(|(at, _)| {
            let after = &line[at + marker.len()..];
            let word = |c: char| c.is_alphanumeric() || c == '_';
            let whole = !line[..at].ends_with(word) && !after.starts_with(word);
            let digits = after.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
            let issue = digits.is_some_and(|(number, _)| number.parse::<u32>().is_ok());
            // A code span of the marker alone speaks about it.
            let spoken_of = line[..at].ends_with('`') && after.starts_with('`');
            whole && !issue && !spoken_of
        })
    })
}

fn names_machine_folder(line: &str) -> bool {
    MACHINE_FOLDERS.iter().any(|folder| {
        let path = format!("/{folder}/");
        line.match_indices(&path).any(|(at, _)| {
            let inside_a_path =
                line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-'));
            !inside_a_path && line[at + path.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Attributes that allow a lint, with their first lines.
fn allows(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("allow(").filter(|(at, _)| code[..*at].ends_with(['[', ' '])) {
        let line_start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
        if code[line_start..at].trim_start().starts_with('#') {
            let end = code[at..].find(']').map_or(code.len(), |end| at + end);
            found.push((code[..at].matches('\n').count(), &code[at..end]));
        }
    }
    found
}

/// The text with comments and the insides of literals as spaces. Lines stay where they are.
fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after_name = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment_len(rest),
            '"' => string_len(rest),
            'r' if !after_name => raw_string_len(rest),
            '\'' => character_len(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(rest[..skipped].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[skipped..];
        }
    }
    code
}

/// Bytes of the block comment that starts `text`; they nest.
fn comment_len(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Bytes of the string that starts `text`.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of the raw string that starts `text`; 0 if none does.
fn raw_string_len(text: &str) -> usize {
    let hashes = text[1..].chars().take_while(|&c| c == '#').count();
    if !text[1 + hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let inside = 2 + hashes;
    text[inside..].find(&end).map_or(text.len(), |at| inside + at + end.len())
}

/// Bytes of the character that starts `text`; 0 if it is the mark of a lifetime.
fn character_len(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some(_)) => {
            let end = chars.find(|&(_, c)| c == '\'');
            end.map_or(0, |(at, _)| at + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// The lines of Rust snippets of a text that are not in the file that the first line of the snippet names, `// path`.
pub fn foreign_snippets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in text.split("```rust\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let (path, lines) = block.split_once('\n').unwrap_or((block, ""));
        let Some(path) = path.strip_prefix("// ").filter(|path| workspace::root().join(path).is_file()) else {
            found.push(format!("a snippet begins with {path:?}, which names no file"));
            continue;
        };
        let file = workspace::read(path);
        let known: Vec<&str> = file.lines().map(str::trim).collect();
        let foreign = lines.lines().map(str::trim).filter(|line| !line.is_empty() && !known.contains(line));
        found.extend(foreign.map(|line| format!("{path} does not say {line:?}")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_functions_say_why() {
        let long = |body: &str| {
            format!("impl X {{\n    pub(crate) fn f(\n        a: u8,\n    ) {{\n{body}    }}\n\n    fn g() {{}}\n}}\n")
        };
        let line = "        a();\n";
        assert!(violations("crates/x/src/y.rs", &long(&line.repeat(66))).is_empty());
        assert_eq!(violations("crates/x/src/y.rs", &long(&line.repeat(67))).len(), 1);
        let excused = format!("        // style: S2: a table.\n{}", line.repeat(67));
        assert!(violations("crates/x/src/y.rs", &long(&excused)).is_empty());
    }

    #[test]
    fn a_doc_comment_begins_with_a_noun() {
        for clause in CLAUSE_WORDS {
            let text = format!(
                "//! A file.\n\n/// {clause} it is.\nfn f() {{}} // {clause}\n    //! {clause}.\n///{clause}\n"
            );
            assert_eq!(clauses(&text), [3, 5, 6], "{text}");
        }
        assert!(clauses("/// Whatever it is.\n/// It says what.\n// What\n////// What\n").is_empty());
    }

    #[test]
    fn snippets_are_lines_of_the_file_they_name() {
        let snippet = |first: &str| format!("```rust\n{first}\npub mod style;\n```\n");
        assert!(foreign_snippets(&snippet("// conformance/src/lib.rs")).is_empty());
        assert_eq!(foreign_snippets(&snippet("// conformance/src/style.rs")).len(), 1);
        assert_eq!(foreign_snippets(&snippet("// nowhere.rs")).len(), 1);
    }

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let found = violations(path, text);
        let found: Vec<&str> = found.iter().map(|found| found.strip_prefix(path).unwrap()).collect();
        assert_eq!(found, expected, "{text}");
    }

    const FILE: &str = "crates/isa/src/opcode.rs";

    #[test]
    fn unsafe_has_an_address() {
        let text = "// unsafe in a comment\nconst A: &str = \"unsafe\";\nfn f() { unsafe { g() } }\n";
        check(FILE, text, &[":3: unsafe outside its addresses (S14)"]);
        check("crates/modular/src/backend/x86_64.rs", text, &[]);
        check("crates/modular/src/limbs.rs", text, &[":3: unsafe outside its addresses (S14)"]);
        check(FILE, "#![forbid(unsafe_code)]\n/* unsafe /* unsafe */ unsafe */\n", &[]);
        check(
            FILE,
            "const A: &str = r#\"unsafe \" unsafe\"#; const B: char = '\"'; unsafe fn f<'a>() {}\n",
            &[":1: unsafe outside its addresses (S14)"],
        );
    }

    #[test]
    fn a_crate_forbids_unsafe_unless_it_has_an_address() {
        let complaint = ":1: the crate does not forbid unsafe code (S14)";
        check("crates/isa/src/lib.rs", "#![forbid(unsafe_code)]\n", &[]);
        check("crates/isa/src/lib.rs", "#![deny(unsafe_code)]\n", &[complaint]);
        check("crates/engine/src/lib.rs", "#![deny(unsafe_code)]\n", &[]);
        check("crates/engine/src/lib.rs", "// #![forbid(unsafe_code)]\n", &[complaint]);
    }

    #[test]
    fn only_tests_unwrap() {
        let test = "#[cfg(test)]\nmod tests {\n    fn f() { g().unwrap() }\n}\n";
        check(FILE, test, &[]);
        check(FILE, &format!("fn f() {{ g().unwrap() }}\n{test}"), &[":1: unwrap outside tests (S13)"]);
        check("crates/isa/tests/text.rs", "fn f() { g().unwrap() }\n", &[]);
        check(FILE, "/// `a.unwrap()` is banned.\nfn f() { g().unwrap_or(0) }\n", &[]);
        check(FILE, "#[cfg(test)]\nmod twin;\nfn f() { g().unwrap() }\n", &[":3: unwrap outside tests (S13)"]);
    }

    #[test]
    fn open_work_names_its_issue() {
        let marker = concat!("TO", "DO");
        check("README.md", &format!("{marker}: later\n"), &[":1: work left open without its issue"]);
        check(FILE, &format!("// {marker}(#12): later\n"), &[]);
        check("STYLE.md", &format!("No bare `{marker}`.\n"), &[]);
        check(FILE, &format!("// {marker}(#): later\n"), &[":1: work left open without its issue"]);
        check(FILE, concat!("fn f() { to", "do!() }\n"), &[":1: code that is not written"]);
    }

    #[test]
    fn files_are_short_or_say_why() {
        let long = "const A: u8 = 0;\n".repeat(LINES_MAX + 1);
        check(FILE, &long, &[":601: 601 lines; more than 600 ask for a reason (S2)"]);
        check(FILE, &format!("{LONG_EXCUSE}one table reads better whole.\n{long}"), &[]);
        check(FILE, &format!("#[cfg(test)]\nmod tests {{\n{long}}}\n"), &[]);
        check("crates/isa/src/generated/tables.rs", &long, &[]);
    }

    #[test]
    fn exceptions_have_reasons() {
        check(FILE, "#[allow(dead_code)]\nfn f() {}\n", &[":1: an allow without a reason"]);
        check(FILE, "#[allow(\n    dead_code,\n    reason = \"used by macros\"\n)]\nfn f() {}\n", &[]);
        check(FILE, "#![cfg_attr(test, allow(clippy::unwrap_used))]\n", &[":1: an allow without a reason"]);
    }

    #[test]
    fn no_text_names_a_folder_of_one_machine() {
        let path = |folder: &str| format!("see /{folder}/alice/file\n");
        check("docs/a.md", &path(MACHINE_FOLDERS[2]), &[":1: a path of one machine"]);
        check(FILE, &format!("// {}", path(MACHINE_FOLDERS[1])), &[":1: a path of one machine"]);
        check("docs/a.md", "see docs/home/alice and crates/tmp/x\n", &[]);
    }
}
