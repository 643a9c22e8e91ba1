//! The verification of ECDSA on P-384 as a contract, in numbers of 48 bytes: [`crate::ecdsa`].

use crate::{Contract, ecdsa};
use residue_curves::p384::curve;
use residue_formula::Number;
use residue_modular::fields::P384Fp;

/// `p384/verify`.
pub const CONTRACT: Contract = Contract {
    name: "p384/verify",
    summary: "is this a signature by ECDSA on P-384?",
    interface: "240 bytes: hash, r, s, and the key's x and y, of 48 bytes each; returns a word, 1 or 0",
    field: P384Fp::modulus,
    text: |machine| ecdsa::text(machine, curve()),
    precompile: None,
    example: || ecdsa::example(curve()),
};
