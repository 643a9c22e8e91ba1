//! The pairing check of EIP-2539 (BLS12_377_PAIRING) as a contract.

use super::encoded;
use crate::Contract;
use crate::bls12::pairing::{self as check, PairingCheck};
use residue_curves::Affine;
use residue_curves::bls12_377::{Bls12_377, Fp2, from_eip_2539, g1_generator, g2_curve_defect, g2_generator, modulus};
use residue_ir::Machine;

/// `bls12_377/pairing`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_377/pairing",
    summary: "is the product of the pairings of all given pairs one? (EIP-2539 PAIRING)",
    interface: "384 bytes a pair: a point of G1 (128 bytes), a point of G2 (256); returns 32 bytes, 1 or 0",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    check::text::<M, Bls12_377>(machine);
}

impl PairingCheck for Bls12_377 {
    fn element<M: Machine>(machine: &M, given: Fp2<M::Fe>) -> Fp2<M::Fe> {
        from_eip_2539(machine, given.c0, given.c1)
    }

    fn g2_curve_defect<M: Machine>(machine: &M, q: Affine<Fp2<M::Fe>>) -> M::Fe {
        g2_curve_defect(machine, q)
    }
}

/// e(G, H)·e(−G, H) = 1 for the generators.
fn example() -> Vec<u8> {
    let Affine { x, y } = g1_generator();
    let h = encoded(g2_generator().iter().flatten());
    let opposite = modulus() - &y;
    [encoded([&x, &y]), h.clone(), encoded([&x, &opposite]), h].concat()
}
