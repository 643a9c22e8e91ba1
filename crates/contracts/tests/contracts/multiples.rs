//! Multiples of points by double and add are those of arkworks, and of the precompiles where these take the point.

use crate::support::{everywhere, refused_everywhere, returned_everywhere};
use ark_bls12_381::{Fq, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{BigInteger, PrimeField};
use residue_contracts::find;
use residue_engine::{Fork, native};

/// BLS12_G1MSM and BLS12_G2MSM of EIP-2537: with one point and one scalar they are multiplications.
const G1_MSM: u16 = 0x0c;
const G2_MSM: u16 = 0x0e;

fn element(value: Fq) -> Vec<u8> {
    [vec![0; 16], value.into_bigint().to_bytes_be()].concat()
}

fn g1(point: G1Affine) -> Vec<u8> {
    point.xy().map_or(vec![0; 128], |(x, y)| [x, y].map(element).concat())
}

fn g2(point: G2Affine) -> Vec<u8> {
    point.xy().map_or(vec![0; 256], |(x, y)| [x.c0, x.c1, y.c0, y.c1].map(element).concat())
}

fn scalars() -> Vec<Vec<u8>> {
    let order = ark_bls12_381::Fr::MODULUS.to_bytes_be();
    let mut minus_one = order.clone();
    minus_one[31] -= 1;
    let mut plus_one = order.clone();
    plus_one[31] += 1;
    let small = |value: u8| [vec![0; 31], vec![value]].concat();
    let all_ones = vec![0xff; 32];
    let mixed = (0..32u8).map(|at| at.wrapping_mul(151).wrapping_add(7)).collect();
    vec![all_ones, order, minus_one, plus_one, small(0), small(1), small(2), small(3), mixed]
}

/// Runs every scalar on every point; `multiple` computes what should come out, and a point in the subgroup goes to the
/// precompile as well.
fn check<P: Copy>(
    name: &str,
    precompile: u16,
    points: &[(P, bool)],
    encode: fn(P) -> Vec<u8>,
    multiple: impl Fn(P, &[u8]) -> P,
) {
    let mut runs = everywhere(find(name).unwrap());
    for &(point, in_subgroup) in points {
        for scalar in scalars() {
            let input = [encode(point), scalar.clone()].concat();
            let expected = encode(multiple(point, &scalar));
            if in_subgroup {
                let native = native::precompile(Fork::default(), precompile, &input, u64::MAX).unwrap();
                assert_eq!(native.output, expected, "{name}, scalar {}", hex::encode(&scalar));
            }
            returned_everywhere(&mut runs, &input, &expected, name);
        }
    }
    let (good, size) = (encode(points[0].0), encode(points[0].0).len());
    let mut off_curve = [good.clone(), vec![1; 32]].concat();
    off_curve[size - 1] ^= 1;
    let mut not_reduced = [good, vec![1; 32]].concat();
    not_reduced[16] = 0x1b;
    for input in [&off_curve[..], &not_reduced, &off_curve[..size], &[]] {
        refused_everywhere(&mut runs, input, name);
    }
}

fn limbs(scalar: &[u8]) -> Vec<u64> {
    scalar.rchunks(8).map(|chunk| u64::from_be_bytes(chunk.try_into().unwrap())).collect()
}

#[test]
fn multiples_on_the_curve_of_g1() {
    let generator = G1Affine::generator();
    let point = (generator * ark_bls12_381::Fr::from(0x1234_5678u64)).into_affine();
    let outside = (0u64..)
        .find_map(|x| G1Affine::get_point_from_x_unchecked(x.into(), true))
        .filter(|point| !point.is_in_correct_subgroup_assuming_on_curve())
        .unwrap();
    let points = [(generator, true), (point, true), (G1Affine::identity(), true), (outside, false)];
    check("bls12_381/g1_mul", G1_MSM, &points, g1, |p, k| p.into_group().mul_bits_be_of(&limbs(k)));
}

#[test]
fn multiples_on_the_curve_of_g2() {
    let generator = G2Affine::generator();
    let outside = (1u64..)
        .find_map(|x| G2Affine::get_point_from_x_unchecked(ark_bls12_381::Fq2::from(x), true))
        .filter(|point| !point.is_in_correct_subgroup_assuming_on_curve())
        .unwrap();
    let points = [(generator, true), (G2Affine::identity(), true), (outside, false)];
    check("bls12_381/g2_mul", G2_MSM, &points, g2, |p, k| p.into_group().mul_bits_be_of(&limbs(k)));
}

/// Multiplication by any number of 256 bits, which arkworks' own goes through the scalar field or not depending on the
/// curve: double and add with its group operations.
trait MulBits: CurveGroup {
    fn mul_bits_be_of(self, limbs: &[u64]) -> Self::Affine {
        let bits = (0..256).rev().map(|bit| limbs[bit / 64] >> (bit % 64) & 1 == 1);
        bits.fold(Self::zero(), |sum, bit| if bit { sum.double() + self } else { sum.double() }).into_affine()
    }
}

impl<G: CurveGroup> MulBits for G {}
