//! Tests only: comparisons with libraries that are slow to build. `cargo test -p residue-judges` runs them, and CI
//! does.

#![forbid(unsafe_code)]
