//! The sum of many points equals the result of a chain of calls of G1ADD, under every revision, and fails where one of
//! them does.
//!
//! `RESIDUE_CASES=2000` takes as many inputs instead of forty.

use crate::points::{Seeded, encode1};
use crate::support::{answered_everywhere, everywhere};
use ark_bls12_381::G1Affine;
use residue_contracts::find;
use residue_engine::Prepared;
use residue_isa::Revision;
use residue_workbench::native;

/// More than any input of these tests takes.
const POINT_BYTES: usize = 128;

/// The contract under every revision, ready to run.
fn compiled() -> Vec<(Revision, Prepared)> {
    everywhere(find("bls12_381/aggregate_g1").unwrap())
}

/// The precompile's sum, point for point; nothing where it fails, and of no points and parts of points.
fn judge(input: &[u8]) -> Option<Vec<u8>> {
    let add = find("bls12_381/g1_add").unwrap();
    let mut sum = vec![0; POINT_BYTES];
    for point in input.chunks(POINT_BYTES) {
        sum = native(add, &[point, &sum].concat()).unwrap().ok()?.output;
    }
    (!input.is_empty()).then_some(sum)
}

#[track_caller]
fn check(compiled: &mut [(Revision, Prepared)], input: &[u8], what: &str) -> Option<Vec<u8>> {
    let expected = judge(input);
    answered_everywhere(compiled, input, expected.as_deref(), what);
    expected
}

/// One of few points, so that sums meet equal and opposite ones, points outside the subgroup, and the identity.
fn any_point(seeded: &mut Seeded, known: &mut Vec<G1Affine>) -> Vec<u8> {
    let point = match seeded.below(6) {
        0 => return vec![0; POINT_BYTES],
        1 => seeded.curve_point(),
        3 if !known.is_empty() => -known[seeded.below(known.len())],
        4 | 5 if !known.is_empty() => known[seeded.below(known.len())],
        _ => seeded.g1(),
    };
    known.push(point);
    encode1(point)
}

#[test]
fn sums_are_those_of_the_precompile() {
    let mut compiled = compiled();
    let cases = residue_extent::cases(40) as u64;
    for seed in 0..cases {
        let seeded = &mut Seeded(seed);
        let mut known = Vec::new();
        let mut input: Vec<u8> = (0..1 + seeded.below(7)).flat_map(|_| any_point(seeded, &mut known)).collect();
        assert!(check(&mut compiled, &input, &format!("seed {seed}")).is_some());
        // A bit more or less, anywhere: no point, or a number that is too large, or padding that is not zero.
        let at = seeded.below(input.len());
        input[at] ^= 1 << seeded.below(8);
        check(&mut compiled, &input, &format!("seed {seed}, byte {at} changed"));
    }
}

#[test]
fn a_committee_is_aggregated_and_cancels() {
    let mut compiled = compiled();
    let seeded = &mut Seeded(512);
    let keys: Vec<_> = (0..256).map(|_| seeded.g1()).collect();
    let input: Vec<u8> = keys.iter().chain(&keys).flat_map(|&key| encode1(key)).collect();
    check(&mut compiled, &input, "256 keys twice");
    let input: Vec<u8> = keys.iter().flat_map(|&key| [encode1(key), encode1(-key)].concat()).collect();
    assert_eq!(check(&mut compiled, &input, "256 keys and their opposites"), Some(vec![0; POINT_BYTES]));
}

#[test]
fn what_is_no_list_of_points_is_refused() {
    let mut compiled = compiled();
    let seeded = &mut Seeded(7);
    let point = encode1(seeded.g1());
    for length in [0, 1, 64, 127, 129, 192, 255] {
        assert_eq!(check(&mut compiled, &point.repeat(2)[..length], &format!("{length} bytes")), None);
    }
    let p = residue_curves::bls12_381::constants::modulus().to_bytes_be();
    for element in 0..4 {
        let mut input = [vec![0; POINT_BYTES], point.clone()].concat();
        input[64 * element + 16..64 * (element + 1)].copy_from_slice(&p);
        assert_eq!(check(&mut compiled, &input, &format!("element {element} is p")), None);
        for byte in [0, 15] {
            let mut input = [point.clone(), vec![0; POINT_BYTES]].concat();
            input[64 * element + byte] = 1;
            assert_eq!(check(&mut compiled, &input, &format!("padding of element {element}")), None);
        }
    }
}
