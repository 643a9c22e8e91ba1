//! Schnorr signatures on secp256k1 as Bitcoin has them (BIP-340).

pub mod verify;
