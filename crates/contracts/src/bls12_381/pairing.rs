//! The pairing check of EIP-2537 (PAIRING_CHECK, address 0x0f) as a contract.

use crate::Contract;
use crate::bls12::pairing::{self as check, PairingCheck};
use residue_curves::Affine;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::{Bls12_381, Fp2, g2};
use residue_ir::Machine;
use residue_isa::precompile::BLS12_PAIRING_CHECK;

/// `bls12_381/pairing`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/pairing",
    summary: "is the product of the pairings of all given pairs one? (EIP-2537 PAIRING_CHECK)",
    interface: "384 bytes a pair: a point of G1 (128 bytes), a point of G2 (256); returns 32 bytes, 1 or 0",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BLS12_PAIRING_CHECK),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    check::text::<M, Bls12_381>(machine);
}

impl PairingCheck for Bls12_381 {
    fn g2_curve_defect<M: Machine>(machine: &M, q: Affine<Fp2<M::Fe>>) -> M::Fe {
        g2::curve_defect(machine, q)
    }
}

/// A BLS signature check, e(pk, H(m))·e(−g1, σ) = 1; `tests/contracts/examples.rs` derives it anew from its key and message.
pub(super) fn example() -> Vec<u8> {
    let digits: String = include_str!("signature_check.hex").split_whitespace().collect();
    hex::decode(digits).expect("the file has two digits for each byte")
}
