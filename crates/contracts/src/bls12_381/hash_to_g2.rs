//! hash_to_curve of RFC 9380 to G2 with SHA-256: the suite BLS12381G2_XMD:SHA-256_SSWU_RO_ with any tag.

use super::tagged;
use crate::Contract;
use residue_curves::bls12_381::G2;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::hash_to_curve::SIGNATURE_TAG_G2;
use residue_ir::Machine;

/// `bls12_381/hash_to_g2`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/hash_to_g2",
    summary: "a point of G2 from a message (RFC 9380, suite BLS12381G2_XMD:SHA-256_SSWU_RO_)",
    interface: "2 bytes: the length of the domain separation tag, not 0; the tag; the message; returns 256 bytes: the point \
                as EIP-2537 has it",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    tagged::text::<M, G2>(machine);
}

/// “abc” with the tag of signatures.
fn example() -> Vec<u8> {
    tagged::calldata(SIGNATURE_TAG_G2, b"abc")
}
