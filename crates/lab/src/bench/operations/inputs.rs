//! Inputs of operations, the same on every call, and the forms that they and the answers have.

use blst::{blst_p1_affine, blst_p2_affine};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_contracts::find;

use super::Operation;
use super::signature::pairing_input;
use crate::error::LabError;
use crate::native::group::NativeGroup;

/// Turns of a chain.
pub(super) fn turns(operation: Operation) -> u32 {
    super::TASKS.iter().find(|task| task.operation == operation).map_or(1, |task| task.chain)
}

/// The input of an operation.
pub(super) fn input(operation: Operation, size: usize) -> Result<Vec<u8>, LabError> {
    let mut random = ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6500 + size as u64);
    let mut elements = |count: usize| (0..count).flat_map(|_| element(&mut random)).collect::<Vec<u8>>();
    Ok(match operation {
        Operation::FpAdd | Operation::FpMul | Operation::FpInverse => elements(2),
        Operation::Fp2Mul => elements(4),
        Operation::Fp12Mul => elements(24),
        Operation::MillerLoop => example("evm384/miller_loop")?,
        Operation::FinalExponentiation => example("evm384/final_exponentiation")?,
        Operation::SyntheticLoop => example("evm384/synthetic_loop")?,
        Operation::Pairing => pairing_input(size).map_err(|_| LabError::Input { pairs: size })?.0,
        Operation::G1Add => points::<blst_p1_affine>(&pair()?[..128], 2, &mut random),
        Operation::G2Add => points::<blst_p2_affine>(&pair()?[128..384], 2, &mut random),
        Operation::G1Mul | Operation::G1Msm => terms::<blst_p1_affine>(&pair()?[..128], size, &mut random),
        Operation::G2Mul | Operation::G2Msm => terms::<blst_p2_affine>(&pair()?[128..384], size, &mut random),
        Operation::MapFpToG1 => elements(1),
        Operation::MapFp2ToG2 => elements(2),
        Operation::HashToG1 => tagged(b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_", size, &mut random),
        Operation::HashToG2 => tagged(b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", size, &mut random),
    })
}

fn example(name: &'static str) -> Result<Vec<u8>, LabError> {
    Ok((find(name).ok_or(LabError::NoContract { name })?.example)())
}

/// A point of each group, encoded: the pair of a pairing check.
fn pair() -> Result<Vec<u8>, LabError> {
    Ok(pairing_input(1).map_err(|_| LabError::Input { pairs: 1 })?.0)
}

/// An encoded element below 2³⁸⁰, which is below p.
fn element(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    random.fill_bytes(&mut bytes[16..]);
    bytes[16] &= 0x0f;
    bytes
}

/// `count` terms of a sum: different multiples of a point, each with a scalar of 254 bits.
fn terms<G: NativeGroup>(point: &[u8], count: usize, random: &mut ChaCha8Rng) -> Vec<u8> {
    let term = |_| {
        let point = points::<G>(point, 1, random);
        let big_endian: Vec<u8> = scalar(random).into_iter().rev().collect();
        [point, big_endian].concat()
    };
    (0..count).flat_map(term).collect()
}

/// `count` different multiples of a point.
fn points<G: NativeGroup>(point: &[u8], count: usize, random: &mut ChaCha8Rng) -> Vec<u8> {
    (0..count).flat_map(|_| G::parse(point).multiple(&scalar(random))).collect()
}

/// A scalar of 254 bits, little-endian.
fn scalar(random: &mut ChaCha8Rng) -> [u8; 32] {
    let mut scalar = [0; 32];
    random.fill_bytes(&mut scalar);
    scalar[31] &= 0x3f;
    scalar
}

/// A message of so many bytes after the tag of a suite of signatures: draft-irtf-cfrg-bls-signature-05, §4.2.1.
fn tagged(tag: &[u8; 43], size: usize, random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut message = vec![0; size];
    random.fill_bytes(&mut message);
    [&[0, 43], &tag[..], &message].concat()
}

/// Tag and message of an input.
pub(super) fn tag_and_message(input: &[u8]) -> (&[u8], &[u8]) {
    let tag_bytes = usize::from(u16::from_be_bytes([input[0], input[1]]));
    input[2..].split_at(tag_bytes)
}

/// The scalars of terms, little-endian.
pub(super) fn scalars(input: &[u8], point_bytes: usize) -> Vec<[u8; 32]> {
    let scalar = |term: &[u8]| {
        let mut scalar = [0; 32];
        scalar.copy_from_slice(&term[point_bytes..]);
        scalar.reverse();
        scalar
    };
    input.chunks_exact(point_bytes + 32).map(scalar).collect()
}

/// The limbs of values of 48 little-endian bytes.
pub(super) fn mont_elements(input: &[u8]) -> Vec<[u64; 6]> {
    let (values, _) = input.as_chunks::<48>();
    let limbs = |value: &[u8; 48]| {
        let (limbs, _) = value.as_chunks::<8>();
        std::array::from_fn(|place| u64::from_le_bytes(limbs[place]))
    };
    values.iter().map(limbs).collect()
}

/// Values as little-endian bytes.
pub(super) fn little_endian(values: impl Iterator<Item = [u64; 6]>) -> Vec<u8> {
    values.flat_map(|limbs| limbs.into_iter().flat_map(u64::to_le_bytes)).collect()
}

/// Output word of a check.
pub(crate) fn word(is_true: bool) -> Vec<u8> {
    let mut word = vec![0; 32];
    word[31] = u8::from(is_true);
    word
}
