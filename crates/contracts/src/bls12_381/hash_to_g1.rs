//! hash_to_curve of RFC 9380 to G1 with SHA-256: the suite BLS12381G1_XMD:SHA-256_SSWU_RO_ with any tag.

use super::tagged;
use crate::Contract;
use residue_curves::bls12_381::G1;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::hash_to_curve::SIGNATURE_TAG_G1;
use residue_ir::Machine;

/// `bls12_381/hash_to_g1`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/hash_to_g1",
    summary: "a point of G1 from a message (RFC 9380, suite BLS12381G1_XMD:SHA-256_SSWU_RO_)",
    interface: "2 bytes: the length of the domain separation tag, not 0; the tag; the message; returns 128 bytes: the point \
                as EIP-2537 has it",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    tagged::text::<M, G1>(machine);
}

/// “abc” with the tag of signatures.
fn example() -> Vec<u8> {
    tagged::calldata(SIGNATURE_TAG_G1, b"abc")
}
