//! The `residue` command.
fn main() {}
