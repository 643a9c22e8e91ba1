//! The crate bls12_381 of zkcrypto: plain Rust in constant time. It has groups and pairings for others, no fields.

use bls12_381::hash_to_curve::{ExpandMsgXmd, HashToCurve};
use bls12_381::{Bls12, G1Affine, G1Projective, G2Affine, G2Prepared, G2Projective, Gt, Scalar};
use pairing::MultiMillerLoop;
use sha2_010::Sha256;

use super::inputs::{scalars, tag_and_message, word};
use super::{Operation, Run};

/// zkcrypto's way; with `checked` that of operations which can check subgroups.
pub(super) fn run(operation: Operation, input: &[u8], checked: bool) -> Option<Run<'static>> {
    match operation {
        Operation::Pairing => pairing(input, checked),
        Operation::G1Mul if !checked => {
            let (point, scalar) = (g1_point(input)?, Scalar::from_bytes(&scalars(input, 128)[0]).into_option()?);
            Some(Box::new(move || encode(&G1Affine::from(point * scalar).to_uncompressed(), |c| c)))
        }
        Operation::G2Mul if !checked => {
            let (point, scalar) = (g2_point(input)?, Scalar::from_bytes(&scalars(input, 256)[0]).into_option()?);
            Some(Box::new(move || encode(&G2Affine::from(point * scalar).to_uncompressed(), |c| c ^ 1)))
        }
        Operation::HashToG1 if !checked => {
            let (tag, message) = tag_and_message(input);
            let (tag, message) = (tag.to_vec(), message.to_vec());
            let hash = move || <G1Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([&message], &tag);
            Some(Box::new(move || encode(&G1Affine::from(hash()).to_uncompressed(), |c| c)))
        }
        Operation::HashToG2 if !checked => {
            let (tag, message) = tag_and_message(input);
            let (tag, message) = (tag.to_vec(), message.to_vec());
            let hash = move || <G2Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([&message], &tag);
            Some(Box::new(move || encode(&G2Affine::from(hash()).to_uncompressed(), |c| c ^ 1)))
        }
        _ => None,
    }
}

fn pairing(input: &[u8], checked: bool) -> Option<Run<'static>> {
    let pairs = input.chunks_exact(384).map(|pair| Some((g1_point(pair)?, g2_point(&pair[128..])?)));
    let pairs: Vec<(G1Affine, G2Affine)> = pairs.collect::<Option<_>>()?;
    Some(Box::new(move || {
        let in_subgroups = |(p, q): &(G1Affine, G2Affine)| bool::from(p.is_torsion_free() & q.is_torsion_free());
        let prepared: Vec<(G1Affine, G2Prepared)> = pairs.iter().map(|&(p, q)| (p, G2Prepared::from(q))).collect();
        let terms: Vec<(&G1Affine, &G2Prepared)> = prepared.iter().map(|(p, q)| (p, q)).collect();
        let is_one = Bls12::multi_miller_loop(&terms).final_exponentiation() == Gt::identity();
        word((!checked || pairs.iter().all(in_subgroups)) && is_one)
    }))
}

/// The coordinates of an EIP-2537 encoding without their padding, those of an element of Fp2 exchanged by `place`: zkcrypto
/// writes c1 first.
fn bare<const N: usize>(bytes: &[u8], place: fn(usize) -> usize) -> [u8; N] {
    let mut bare = [0; N];
    let (coordinates, _) = bare.as_chunks_mut::<48>();
    for (number, coordinate) in coordinates.iter_mut().enumerate() {
        coordinate.copy_from_slice(&bytes[64 * place(number) + 16..64 * place(number) + 64]);
    }
    bare
}

fn g1_point(bytes: &[u8]) -> Option<G1Affine> {
    G1Affine::from_uncompressed_unchecked(&bare(bytes, |c| c)).into_option()
}

fn g2_point(bytes: &[u8]) -> Option<G2Affine> {
    G2Affine::from_uncompressed_unchecked(&bare(bytes, |c| c ^ 1)).into_option()
}

/// The EIP-2537 encoding of bare coordinates.
fn encode(bare: &[u8], place: fn(usize) -> usize) -> Vec<u8> {
    let (coordinates, _) = bare.as_chunks::<48>();
    (0..coordinates.len()).flat_map(|number| [&[0; 16][..], &coordinates[place(number)]].concat()).collect()
}
