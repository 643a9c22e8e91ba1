//! The verification of ECDSA on P-521 as a contract, in numbers of 66 bytes: [`crate::ecdsa`].

use crate::{Contract, ecdsa};
use residue_curves::p521::curve;
use residue_formula::Number;
use residue_modular::fields::P521Fp;

/// `secp521r1/verify`.
pub const CONTRACT: Contract = Contract {
    name: "secp521r1/verify",
    summary: "is this a signature by ECDSA on P-521?",
    interface: "330 bytes: hash, r, s, and the key's x and y, of 66 bytes each; returns a word, 1 or 0, and 0 for a hash of 2^521 or more",
    field: P521Fp::modulus,
    text: |machine| ecdsa::text(machine, curve()),
    precompile: None,
    example: || ecdsa::example(curve()),
};
