//! Signatures of Ethereum's consensus layer: what they sign is a hash tree root, of SHA-256 and SSZ's layout.

pub mod deposit;
pub mod sync_committee;

use residue_ir::{Machine, Piece};

/// SHA-256 of two words: a node of a hash tree, or the signing root of an object's root and a domain (consensus-specs, phase0,
/// `compute_signing_root`).
fn node<M: Machine>(machine: &M, left: M::Word, right: M::Word) -> M::Word {
    machine.sha256(&[left, right].map(|word| Piece::Word { word, size_bytes: machine.small(32) }))
}
