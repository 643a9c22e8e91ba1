//! The programs of the original EVM384 documents, as contracts, under any revision.
//!
//! They take and return field elements in 48 little-endian bytes in Montgomery form, and validate nothing but the length of
//! their input: no subgroup, no curve, and under EVM384 not even whether numbers are below the modulus. Points other than
//! those of the groups have a value all the same, that of blst. An identity is a point of zeros.

pub mod f6m_mul;
pub mod final_exponentiation;
pub mod miller_loop;
pub mod pairing_eq;
pub mod synthetic_loop;

use num_bigint::BigUint;
use residue_curves::bls12_381::constants::modulus;
use residue_ir::{Bundle, Machine, WordOp, mont};

/// Bytes of a value.
pub(crate) const VALUE_BYTES: u32 = 48;

/// Requires calldata of exactly `values` values, and reads them.
fn parse_all<M: Machine, B: Bundle<M::Fe>>(machine: &M) -> B {
    let size = u64::from(VALUE_BYTES) * B::LEN as u64;
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), machine.small(size)));
    parse(machine, machine.small(0))
}

/// Reads the values from `offset`.
fn parse<M: Machine, B: Bundle<M::Fe>>(machine: &M, offset: M::Word) -> B {
    let value = |start: u32| machine.parse_mont_le(machine.word_op(WordOp::Add, offset, machine.small(start.into())));
    B::from_list((0u32..).step_by(VALUE_BYTES as usize).take(B::LEN).map(value).collect())
}

/// Calldata of these canonical values.
fn calldata<'a>(values: impl IntoIterator<Item = &'a BigUint>) -> Vec<u8> {
    values.into_iter().flat_map(|value| mont::to_le_bytes(value, &modulus())).collect()
}
