//! The pairing check of EIP-2539 (BLS12_377_PAIRING) as a contract.

use super::encoded;
use crate::Contract;
use crate::bls12::pairing::{self as check, PairingCheck};
use residue_curves::Affine;
use residue_curves::bls12_377::{
    Bls12_377, Fp2, from_eip_2539, g1_multiple, g2_curve_defect, g2_generator, g2_multiple, modulus, to_eip_2539,
};
use residue_formula::Number;
use residue_ir::{Machine, Numbers};
use residue_modular::fields::Bls12_377Fp;

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

/// e(G, 5H)·e(−5G, H) = 1 for the generators: unlike e(G, H)·e(−G, H), no power of it before the final exponentiation is one.
fn example() -> Vec<u8> {
    let machine = Numbers::<Bls12_377Fp>::new(Vec::new());
    let point = |multiple: u32| {
        let Affine { x, y } = g1_multiple(&machine, &multiple.into());
        [x, y].map(|value| value.to_canonical())
    };
    let [x, y] = point(5);
    let of_g2 = g2_multiple(&machine, &5u32.into());
    let five_h = [of_g2.x, of_g2.y].map(|value| to_eip_2539(&machine, value).map(|part| part.to_canonical()));
    let parts = [
        encoded(&point(1)),
        encoded(five_h.iter().flatten()),
        encoded([&x, &(modulus() - &y)]),
        encoded(g2_generator().iter().flatten()),
    ];
    parts.concat()
}
