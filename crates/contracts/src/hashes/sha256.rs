//! SHA-256 in words: FIPS 180-4, §6.2.

use super::sha2::Sha2;
use crate::Contract;
use num_bigint::BigUint;
use residue_ir::Machine;
use residue_isa::precompile::SHA256;

/// `hashes/sha256`.
pub const CONTRACT: Contract = Contract {
    name: "hashes/sha256",
    summary: "SHA-256 in words",
    interface: "any bytes; returns their hash, 32 bytes",
    field: || BigUint::from(3u8),
    text: |machine| text(machine),
    precompile: Some(SHA256),
    example: || b"abc".to_vec(),
};

/// §4.1.2.
const FUNCTION: Sha2 =
    Sha2 { bits: 32, rounds: 64, sums: [[2, 13, 22], [6, 11, 25]], small: [[7, 18, 3], [17, 19, 10]] };

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let hash = FUNCTION.hash(machine, machine.calldata_size(), |machine, _, offset| machine.calldata_word(offset));
    let [hash] = FUNCTION.words(machine, hash);
    machine.return_word(hash);
}
