//! Decompression gives the points that arkworks finds, under every revision, on good input and bad input of every kind.
//!
//! `RESIDUE_CASES=2000` takes as many points of each group instead of thirty.

use crate::support::{answered_everywhere, everywhere};
use ark_bls12_381::{Fq, Fq2, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{BigInteger, PrimeField};
use num_bigint::BigUint;
use residue_contracts::find;
use residue_engine::Prepared;
use residue_isa::Revision;

/// Expected output for compressed bytes: EIP-2537's encoding, or none. arkworks has the roots, in order.
type Judge = fn(&[u8]) -> Option<Vec<u8>>;

/// Flags and x of a finite point of `length` bytes; the identity is `Err`.
fn read(input: &[u8], length: usize) -> Option<Result<(bool, Vec<Fq>), ()>> {
    let flags = input.first()? >> 5;
    if input.len() != length || flags & 0b100 == 0 {
        return None;
    }
    let mut bytes = input.to_vec();
    bytes[0] &= 0x1f;
    if flags & 0b010 != 0 {
        return (flags == 0b110 && bytes.iter().all(|&byte| byte == 0)).then_some(Err(()));
    }
    let element = |bytes: &[u8]| {
        let number = BigUint::from_bytes_be(bytes);
        Fq::from_bigint(number.try_into().ok()?)
    };
    let x: Option<Vec<Fq>> = bytes.chunks(48).map(element).collect();
    Some(Ok((flags & 1 == 1, x?)))
}

fn encode(elements: &[Fq]) -> Vec<u8> {
    elements.iter().flat_map(|element| [vec![0; 16], element.into_bigint().to_bytes_be()].concat()).collect()
}

fn judge_g1(input: &[u8]) -> Option<Vec<u8>> {
    let Ok((is_larger, x)) = read(input, 48)? else { return Some(vec![0; 128]) };
    let (smaller, larger) = G1Affine::get_ys_from_x_unchecked(x[0])?;
    Some(encode(&[x[0], if is_larger { larger } else { smaller }]))
}

fn judge_g2(input: &[u8]) -> Option<Vec<u8>> {
    let Ok((is_larger, x)) = read(input, 96)? else { return Some(vec![0; 256]) };
    let (smaller, larger) = G2Affine::get_ys_from_x_unchecked(Fq2::new(x[1], x[0]))?;
    let y = if is_larger { larger } else { smaller };
    Some(encode(&[x[1], x[0], y.c0, y.c1]))
}

#[track_caller]
fn check(compiled: &mut [(Revision, Prepared)], judge: Judge, input: &[u8]) -> bool {
    let expected = judge(input);
    answered_everywhere(compiled, input, expected.as_deref(), "compressed");
    expected.is_some()
}

fn cases() -> u64 {
    residue_extent::cases(30) as u64
}

/// Bytes that look random, by a linear congruence.
fn scrambled(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut byte = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| byte()).collect()
}

fn compressed_g1(seed: u64) -> Vec<u8> {
    let point: G1Affine = (G1Affine::generator() * ark_bls12_381::Fr::from(seed + 1)).into_affine();
    point.x.into_bigint().to_bytes_be()
}

fn compressed_g2(seed: u64) -> Vec<u8> {
    let point: G2Affine = (G2Affine::generator() * ark_bls12_381::Fr::from(seed + 1)).into_affine();
    [point.x.c1, point.x.c0].map(|part| part.into_bigint().to_bytes_be()).concat()
}

fn check_all(name: &str, judge: Judge, point: fn(u64) -> Vec<u8>) {
    let mut compiled = everywhere(find(name).unwrap());
    let length = point(0).len();
    for seed in 0..cases() {
        let x = point(seed);
        // Both roots, and every other value of the flags.
        for flags in 0..8u8 {
            let mut input = x.clone();
            input[0] |= flags << 5;
            assert_eq!(check(&mut compiled, judge, &input), matches!(flags, 0b100 | 0b101), "{flags:03b}");
            if seed > 2 && flags == 0b101 {
                break;
            }
        }
        // Any x: on the curve half of the time, mostly outside the subgroup.
        let mut any = scrambled(seed, length);
        any[0] = 0x80 | any[0] & 0x2f;
        check(&mut compiled, judge, &any);
    }
    let p = residue_curves::bls12_381::constants::modulus();
    let bytes = |number: &BigUint| {
        let digits = number.to_bytes_be();
        [vec![0; 48 - digits.len()], digits].concat()
    };
    let word = BigUint::from(1u32) << 256;
    let small = [0u32, 1, 2].map(BigUint::from);
    let edges = [&p - 1u32, p.clone(), &p + 1u32, &p + &word, &p - &word];
    let edges: Vec<Vec<u8>> = edges.iter().chain(&small).map(bytes).collect();
    let others = if length == 48 { vec![Vec::new()] } else { edges.clone() };
    for (edge, other) in edges.iter().flat_map(|edge| others.iter().map(move |other| (edge, other))) {
        for flags in [0x80, 0xa0, 0xc0, 0xe0] {
            let mut input = [edge.clone(), other.clone()].concat();
            input[0] |= flags;
            check(&mut compiled, judge, &input);
        }
    }
    for position in 0..length {
        let mut input = vec![0; length];
        input[0] = 0xc0;
        input[position] |= 1;
        assert!(!check(&mut compiled, judge, &input));
    }
    for other_length in [0, 1, length - 1, length + 1, 2 * length] {
        let mut input = vec![0; other_length];
        input.first_mut().into_iter().for_each(|byte| *byte = 0xc0);
        assert!(!check(&mut compiled, judge, &input));
    }
}

#[test]
fn g1_is_decompressed_as_by_arkworks() {
    check_all("bls12_381/decompress_g1", judge_g1, compressed_g1);
}

#[test]
fn g2_is_decompressed_as_by_arkworks() {
    check_all("bls12_381/decompress_g2", judge_g2, compressed_g2);
}
