//! A BLS signature of the basic scheme, with keys in either group.

use super::signature;
use crate::Contract;
use residue_curves::bls12_381::constants::modulus;
use residue_ir::Machine;

/// `bls12_381/verify`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/verify",
    summary: "is this a BLS signature of the message under the public key? (basic scheme of the IETF draft, both choices of groups)",
    interface: "public key and signature, compressed, 48 bytes in G1 and 96 in G2 or the other way round; the message; returns \
                32 bytes, 1 or 0; 0 also for what is no key or no signature",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    signature::text(machine, 0, |_, message| vec![message]);
}

/// A key in G1, its signature in G2, and what it has signed; `tests/contracts/examples.rs` derives them anew.
fn example() -> Vec<u8> {
    let digits: String = include_str!("signature.hex").split_whitespace().collect();
    let key_and_signature = hex::decode(digits).expect("the file has two digits for each byte");
    [&key_and_signature[..], b"Residue makes cryptography run as ordinary EVM bytecode."].concat()
}
