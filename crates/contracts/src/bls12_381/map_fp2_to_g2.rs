//! MAP_FP2_TO_G2 of EIP-2537 (address 0x11) as a contract.

use super::{ENCODING, FP_BYTES};
use crate::Contract;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::map_g2::map_to_g2;
use residue_ir::{Machine, WordOp};
use residue_isa::precompile::BLS12_MAP_FP2_TO_G2;

/// `bls12_381/map_fp2_to_g2`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/map_fp2_to_g2",
    summary: "an element of Fp2 to a point of G2 (EIP-2537 MAP_FP2_TO_G2)",
    interface: "128 bytes: an element of Fp2, c0 then c1; returns 256 bytes: a point",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BLS12_MAP_FP2_TO_G2),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.small(128);
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    let u = ENCODING.fp2(machine, machine.small(0), 0);
    machine.return_elements(map_to_g2(machine, u), FP_BYTES);
}

/// 5 + 7u.
fn example() -> Vec<u8> {
    [5, 7].into_iter().flat_map(|digit| [vec![0; 63], vec![digit]].concat()).collect()
}
