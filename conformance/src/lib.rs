//! Checks across crates: every engine, every revision, every vector.
