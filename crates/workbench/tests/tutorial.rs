//! The program that `docs/write-a-contract.md` shows is the one that runs.
//!
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue-workbench --test tutorial` writes it there anew.

#[test]
fn the_page_shows_the_example() {
    let source = residue_pages::read("crates/workbench/examples/first_contract.rs");
    residue_pages::hold("docs/write-a-contract.md", "first contract", &format!("```rust\n{}\n```", source.trim()));
}
