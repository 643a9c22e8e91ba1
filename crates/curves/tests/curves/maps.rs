//! Clearing cofactors is exact for every point, also for those that no random input meets.

use crate::judges::{N, Seeded, g1, g2, h1, h2, numbers, r, times1, times2};
use ark_bls12_381::{Fq, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field};
use num_bigint::BigUint;
use residue_curves::Jacobian;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::{X_ABS, map_g1, map_g2};
use residue_formula::Number;

/// 1 − x: RFC 9380, §8.8.1, `h_eff`.
fn h_eff_1() -> BigUint {
    BigUint::from(X_ABS) + 1u32
}

/// RFC 9380, §8.8.2, `h_eff`: 3(x² − 1) times the cofactor of G2.
fn h_eff_2() -> BigUint {
    h2() * 3u32 * (BigUint::from(X_ABS).pow(2) - 1u32)
}

fn check_1(point: G1Affine, what: &str) {
    let affine = g1(point);
    // A denominator other than one.
    let z = N::from_u64(7);
    let jacobian = Jacobian { x: affine.x * z * z, y: affine.y * z * z * z, z };
    let cleared = map_g1::clear_cofactor(&numbers(), jacobian);
    let expected = times1(point, &h_eff_1());
    match cleared.z.inverse() {
        None => assert!(expected.is_zero(), "{what}"),
        Some(inverse) => {
            let square = inverse * inverse;
            let expected = g1(expected);
            assert_eq!((cleared.x * square, cleared.y * square * inverse), (expected.x, expected.y), "{what}");
        }
    }
}

fn check_2(point: G2Affine, what: &str) {
    let affine = g2(point);
    let z = Fp2::new(N::from_u64(7), N::from_u64(5));
    let jacobian = Jacobian::over(affine.x * z * z, affine.y * z * z * z, z);
    let cleared = map_g2::clear_cofactor(&numbers(), jacobian);
    let expected = times2(point, &h_eff_2());
    match cleared.z.inverse() {
        None => assert!(expected.is_zero(), "{what}"),
        Some(inverse) => {
            let square = inverse * inverse;
            let expected = g2(expected);
            let found = (cleared.x.scale(square), cleared.y.scale(square * inverse));
            assert_eq!(found, (expected.x, expected.y), "{what}");
        }
    }
}

#[test]
fn the_cofactor_of_g1_is_cleared_whatever_the_order() {
    let mut seeded = Seeded(40);
    let of_order_3 = G1Affine::new_unchecked(Fq::ZERO, Fq::ONE.double());
    assert!(times1(of_order_3, &3u32.into()).is_zero());
    check_1(of_order_3, "order 3");
    check_1((of_order_3 + seeded.g1()).into_affine(), "a part of order 3");
    for prime in [11u32, 10_177] {
        let small = loop {
            let point = times1(seeded.curve_point(), &(r() * h1() / BigUint::from(prime).pow(2)));
            if !point.is_zero() {
                break point;
            }
        };
        check_1(small, "small order");
        check_1((small + seeded.g1()).into_affine(), "a part of small order");
    }
    for _ in 0..5 {
        let point = seeded.curve_point();
        check_1(point, "any point");
        check_1(times1(point, &r()), "of the cofactor's order");
        check_1(seeded.g1(), "in G1");
    }
}

#[test]
fn the_cofactor_of_g2_is_cleared_whatever_the_order() {
    let mut seeded = Seeded(41);
    for (prime, power) in [(13u32, 2u32), (23, 2), (2713, 1), (11_953, 1)] {
        let rest = r() * h2() / BigUint::from(prime).pow(power);
        let small = loop {
            let point = times2(seeded.twist_point(), &rest);
            if !point.is_zero() {
                break point;
            }
        };
        check_2(small, "small order");
        check_2(times2(small, &2u32.into()), "small order");
        check_2((small + seeded.g2()).into_affine(), "a part of small order");
    }
    for _ in 0..5 {
        let point = seeded.twist_point();
        check_2(point, "any point");
        check_2(times2(point, &r()), "of the cofactor's order");
        check_2(seeded.g2(), "in G2");
    }
}
