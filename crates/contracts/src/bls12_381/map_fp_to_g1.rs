//! MAP_FP_TO_G1 of EIP-2537 (address 0x10) as a contract.

use super::{ENCODING, FP_BYTES};
use crate::Contract;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::map_g1::map_to_g1;
use residue_ir::{Machine, WordOp};
use residue_isa::precompile::BLS12_MAP_FP_TO_G1;

/// `bls12_381/map_fp_to_g1`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/map_fp_to_g1",
    summary: "an element of Fp to a point of G1 (EIP-2537 MAP_FP_TO_G1)",
    interface: "64 bytes: an element of Fp; returns 128 bytes: a point",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BLS12_MAP_FP_TO_G1),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.small(64);
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    let u = ENCODING.fp(machine, machine.small(0), 0);
    machine.return_elements(map_to_g1(machine, u), FP_BYTES);
}

/// Five.
fn example() -> Vec<u8> {
    [vec![0; 63], vec![5]].concat()
}
