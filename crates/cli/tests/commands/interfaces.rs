//! The tables of `docs/interfaces.md` are what the commands above them print.
//!
//! A table stands between a comment with its command, `<!-- residue compare … -->`, and `<!-- end -->`. If an interface, a
//! contract or the compiler changes, this writes the tables anew, for review with the change:
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue interfaces`.

use std::fs;

use crate::support::residue;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/interfaces.md");
const BEGIN: &str = "<!-- residue compare ";
const END: &str = "<!-- end -->";

/// The page with every table as its command prints it now, and the number of tables.
fn remade(page: &str) -> (String, usize) {
    let mut made = String::new();
    let mut tables = 0;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        made.push_str(line);
        made.push('\n');
        let Some(command) = line.strip_prefix(BEGIN) else { continue };
        let args = command.strip_suffix(" -->").expect("the comment with the command ends on its line");
        let args: Vec<&str> = ["compare"].into_iter().chain(args.split_whitespace()).collect();
        assert!(args.contains(&"--no-time") && args.contains(&"--markdown"), "{line}");
        made.push_str(&format!("\n{}\n\n{END}\n", residue(&args).text().trim_end()));
        assert!(lines.any(|line| line == END), "the table of {line} has no end");
        tables += 1;
    }
    (made, tables)
}

#[test]
fn the_tables_of_the_page_are_what_their_commands_print() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (made, tables) = remade(&page);
    assert!(tables > 0, "the page has no table");
    if std::env::var_os("RESIDUE_WRITE_TABLES").is_some() {
        fs::write(PAGE, made).unwrap();
        return;
    }
    let changed: Vec<_> = page.lines().zip(made.lines()).filter(|(is, should_be)| is != should_be).collect();
    assert!(page == made, "docs/interfaces.md is out of step; this file says how to remake it: {changed:#?}");
}
