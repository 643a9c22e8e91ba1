//! Formulas for a = 0 and a = −3: sums and multiples are those of the textbook, on secp256k1 and P-256.

use crate::judges::Seeded;
use num_bigint::BigUint;
use residue_curves::complete::{AMinusThree, AZero, Complete, multiply};
use residue_curves::{Affine, Jacobian, Projective};
use residue_formula::Number;
use residue_ir::Numbers;
use residue_modular::fields::{P256Fp, Secp256k1Fp};
use ruint::aliases::U256;

/// The identity, or a point.
type Point<N> = Option<Affine<N>>;

fn number<N: Number>(hex: &str) -> N {
    N::from_canonical(&BigUint::parse_bytes(hex.as_bytes(), 16).unwrap()).unwrap()
}

fn small<N: Number>(value: u32) -> N {
    N::from_canonical(&value.into()).unwrap()
}

/// P + Q by chords and tangents.
fn sum<N: Number>(a: N, p: Point<N>, q: Point<N>) -> Point<N> {
    let (Some(p), Some(q)) = (p, q) else { return p.or(q) };
    let slope = if p.x != q.x {
        (q.y - p.y) * (q.x - p.x).inverse().unwrap()
    } else if p.y == q.y && p.y != N::ZERO {
        (small::<N>(3) * p.x.square() + a) * p.y.double().inverse().unwrap()
    } else {
        return None;
    };
    let x = slope.square() - p.x - q.x;
    Some(Affine::new(x, slope * (p.x - x) - p.y))
}

fn times<N: Number>(a: N, k: &BigUint, p: Point<N>) -> Point<N> {
    (0..k.bits()).rev().fold(None, |multiple, bit| {
        let double = sum(a, multiple, multiple);
        if k.bit(bit) { sum(a, double, p) } else { double }
    })
}

fn projective<N: Number>(point: Point<N>, scale: N) -> Projective<N> {
    match point {
        Some(Affine { x, y }) => Projective { x: x * scale, y: y * scale, z: scale },
        None => Projective { x: N::ZERO, y: scale, z: N::ZERO },
    }
}

fn affine<N: Number>(Projective { x, y, z }: Projective<N>) -> Point<N> {
    z.inverse().map(|inverse| Affine::new(x * inverse, y * inverse))
}

fn of_jacobian<N: Number>(Jacobian { x, y, z }: Jacobian<N>) -> Point<N> {
    z.inverse().map(|i| Affine::new(x * i.square(), y * (i.square() * i)))
}

/// All of a curve with y² = x³ + a·x + b, the generator and its order, and formulas that double.
fn check<N: Number>(
    (a, b): (N, N),
    [x, y]: [&str; 2],
    order: &str,
    complete: &impl Complete<N>,
    double: impl Fn(Jacobian<N>, N) -> Jacobian<N>,
) {
    let g = Some(Affine::new(number::<N>(x), number::<N>(y)));
    let order = BigUint::parse_bytes(order.as_bytes(), 16).unwrap();
    let on_curve = |p: Affine<N>| p.y.square() == (p.x.square() + a) * p.x + b;
    assert!(g.is_some_and(on_curve));
    assert_eq!(times(a, &order, g), None, "r·G");

    let mut seeded = Seeded(60);
    let mut random = || seeded.integer() % &order;
    let three_halves = small::<N>(3) * small::<N>(2).inverse().unwrap();
    for _ in 0..4 {
        let (p, q) = (times(a, &random(), g), times(a, &random(), g));
        let minus = |p: Point<N>| p.map(|p| Affine::new(p.x, -p.y));
        let scale = |k: u32| small::<N>(k);
        for (p, q) in [(p, q), (p, p), (p, minus(p)), (p, None), (None, q), (None, None)] {
            let expected = sum(a, p, q);
            let ours = projective(p, scale(5)).add_complete(projective(q, scale(7)), complete);
            assert_eq!(affine(ours), expected);
            assert_eq!(affine(projective(p, scale(5)).double_complete(complete)), sum(a, p, p));
            if let Some(q) = q {
                assert_eq!(affine(projective(p, scale(5)).add_mixed_complete(q, complete)), expected);
            }
        }
        let jacobian = double(p.unwrap().to_jacobian(N::ONE), three_halves);
        assert_eq!(of_jacobian(jacobian), sum(a, p, p));
        assert_eq!(of_jacobian(double(jacobian, three_halves)), times(a, &4u32.into(), p));
        assert_eq!(of_jacobian(jacobian.add_mixed(q.unwrap())), sum(a, sum(a, p, p), q));
        let other = double(q.unwrap().to_jacobian(N::ONE), three_halves);
        assert_eq!(of_jacobian(jacobian + other.addend()), sum(a, sum(a, p, p), sum(a, q, q)));
    }
    let machine = Numbers::<N>::new(Vec::new());
    for k in [BigUint::ZERO, 1u32.into(), &order - 1u32, order.clone(), &order + 2u32, random()] {
        let scalar = U256::try_from_le_slice(&k.to_bytes_le()).unwrap();
        let ours = multiply(&machine, scalar, projective(g, N::ONE), projective(None, N::ONE), complete);
        assert_eq!(affine(ours), times(a, &k, g), "{k}·G");
    }
}

/// SEC 2, version 2.0, §2.4.1.
#[test]
fn on_secp256k1_sums_are_those_of_the_textbook() {
    check::<Secp256k1Fp>(
        (small(0), small(7)),
        [
            "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
            "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
        ],
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
        &AZero(|c| small::<Secp256k1Fp>(21) * c),
        |point, three_halves| point.double(three_halves),
    );
}

/// NIST SP 800-186, §3.2.1.3.
#[test]
fn on_p_256_sums_are_those_of_the_textbook() {
    let b = number::<P256Fp>("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b");
    check::<P256Fp>(
        (-small::<P256Fp>(3), b),
        [
            "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
            "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        ],
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        &AMinusThree(|c| b * c),
        |point, three_halves| point.double_minus_three(three_halves),
    );
}
