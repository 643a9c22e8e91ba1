//! The tables of `docs/interfaces.md` equal the output of the commands above them.
//!
//! A table stands between a comment with its command, `<!-- residue compare … -->`, and `<!-- end -->`. If an interface, a
//! contract or the compiler changes, this writes the tables anew, for review with the change:
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue interfaces -- --ignored`.

use crate::support::residue;

const PAGE: &str = "docs/interfaces.md";

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_tables_of_the_page_are_what_their_commands_print() {
    let page = residue_pages::read(PAGE);
    let commands = residue_pages::names(&page, "residue compare ");
    assert!(!commands.is_empty(), "the page has no table");
    for command in commands {
        let args: Vec<&str> = command.split_whitespace().skip(1).collect();
        assert!(args.contains(&"--no-time") && args.contains(&"--markdown"), "{command}");
        residue_pages::hold(PAGE, command, residue(&args).text());
    }
}
