//! Points: formulas agree with arkworks, and membership is decided exactly, on hostile points too.

use crate::judges::{N, Seeded, fp, g1, g2, h1, h2, numbers, r, times1, times2};
use ark_bls12_381::{G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use num_bigint::BigUint;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::{constants, g1 as ours1, g2 as ours2};
use residue_curves::group::Coordinate;
use residue_curves::pairing::{Pairs, miller_loop};
use residue_curves::{Affine, Conditions, Jacobian};
use residue_formula::{Fe, Number};
use ruint::aliases::U256;
use std::fmt::Debug;

fn in_g1(point: Affine<N>) -> bool {
    ours1::is_in_subgroup(&numbers(), point) == U256::ONE
}

/// The answer of the check by itself, which that from the Miller loop must equal for points on the twist.
fn in_g2(point: Affine<Fp2<N>>) -> bool {
    let machine = numbers();
    let alone = ours2::is_in_subgroup(&machine, point) == U256::ONE;
    if ours2::is_on_curve(&machine, point) == U256::ONE {
        let pairs = Pairs::new(&machine, U256::ONE);
        pairs.store(&machine, U256::ZERO, g1(G1Affine::generator()), point);
        let (_, conditions) = miller_loop(&machine, &pairs, U256::ONE, Conditions::none(&machine));
        let from_loop = conditions.hold(&machine) == U256::ONE;
        assert_eq!(alone, from_loop, "both checks of G2 agree");
    }
    alone
}

/// Checks the Jacobian formulas on P and Q, given P + Q, 2P and −P; `lift` gives a point with a Z that follows from a
/// number.
fn check_jacobian_formulas<C>(
    [p, q, sum, twice, opposite]: [Affine<C>; 5],
    lift: impl Fn(Affine<C>, u64) -> Jacobian<C>,
) where
    C: Coordinate<Base = N, Denominator = N> + PartialEq + Debug,
{
    let three_halves = N::from_u64(3) * N::from_u64(2).inverse().unwrap();
    let affine = |p: Jacobian<C>| {
        let inverse = p.z.inverse().unwrap();
        Affine::new(p.x.scaled(inverse.square()), p.y.scaled(inverse.square() * inverse))
    };
    let (a, b) = (lift(p, 7), lift(q, 8));
    assert_eq!(affine(a.double(three_halves)), twice);
    assert_eq!(affine(a.add_mixed(q)), sum);
    assert_eq!(affine(a + b.addend()), sum);
    assert_eq!(affine(a + b.negated().addend().negated()), sum);
    // Exceptional cases show in Z, and so does all that follows them.
    for degenerate in [a.add_mixed(p), a.add_mixed(opposite), a + lift(p, 9).addend(), a + lift(opposite, 9).addend()] {
        assert!(degenerate.z.is_zero());
        assert!(degenerate.double(three_halves).z.is_zero());
        assert!(degenerate.add_mixed(q).z.is_zero());
        assert!((degenerate + b.addend()).z.is_zero());
        assert!((b + degenerate.addend()).z.is_zero());
    }
}

#[test]
fn jacobian_formulas_agree() {
    let mut seeded = Seeded(10);
    for _ in 0..20 {
        let (p, q) = (seeded.curve_point(), seeded.curve_point());
        let factor = fp(seeded.fq());
        let points = [p, q, (p + q).into_affine(), (p + p).into_affine(), -p].map(g1);
        check_jacobian_formulas(points, |p, z| {
            let z = N::from_u64(z) * factor;
            Jacobian { x: p.x * z.square(), y: p.y * z.square() * z, z }
        });
        let (p, q) = (seeded.twist_point(), seeded.twist_point());
        let points = [p, q, (p + q).into_affine(), (p + p).into_affine(), -p].map(g2);
        check_jacobian_formulas(points, |p, z| {
            let z = Fp2::new(N::from_u64(z), factor);
            Jacobian::over(p.x * z.square(), p.y * z.square() * z, z)
        });
        assert!(Jacobian::over(points[0].x, points[0].y, Fp2::new(N::ZERO, N::ZERO)).z.is_zero());
    }
}

#[test]
fn generators_are_those_of_arkworks() {
    let lift = |value: &BigUint| N::from_canonical(value).unwrap();
    let lift2 = |value: &Fp2<BigUint>| Fp2::new(lift(&value.c0), lift(&value.c1));
    let (one, two) = (constants::g1_generator(), constants::g2_generator());
    assert_eq!(Affine::new(lift(&one.x), lift(&one.y)), g1(G1Affine::generator()));
    assert_eq!(Affine::new(lift2(&two.x), lift2(&two.y)), g2(G2Affine::generator()));
}

#[test]
fn multiples_of_the_generators_are_members() {
    let machine = numbers();
    let mut seeded = Seeded(11);
    for _ in 0..10 {
        let (p, q) = (seeded.g1(), seeded.g2());
        assert_eq!(ours1::is_on_curve(&machine, g1(p)), U256::ONE);
        assert_eq!(ours2::is_on_curve(&machine, g2(q)), U256::ONE);
        assert!(in_g1(g1(p)) && in_g2(g2(q)));
    }
    for k in 1..20u32 {
        for k in [BigUint::from(k), r() - k] {
            assert!(in_g1(g1(times1(G1Affine::generator(), &k))), "[{k}]P");
            assert!(in_g2(g2(times2(G2Affine::generator(), &k))), "[{k}]Q");
        }
    }
}

#[test]
fn points_outside_the_subgroup_are_no_members() {
    let mut seeded = Seeded(12);
    for _ in 0..10 {
        let (p, q) = (seeded.curve_point(), seeded.twist_point());
        assert!(!p.is_in_correct_subgroup_assuming_on_curve() && !in_g1(g1(p)));
        assert!(!q.is_in_correct_subgroup_assuming_on_curve() && !in_g2(g2(q)));
    }
}

#[test]
fn points_off_the_curve_are_no_members() {
    let mut seeded = Seeded(13);
    let machine = numbers();
    for _ in 0..10 {
        let (mut p, mut q) = (g1(seeded.g1()), g2(seeded.g2()));
        p.x = p.x + N::ONE;
        q.y.c1 = q.y.c1 + N::ONE;
        assert_eq!(ours1::is_on_curve(&machine, p), U256::ZERO);
        assert_eq!(ours2::is_on_curve(&machine, q), U256::ZERO);
        assert!(!in_g1(p) && !in_g2(q));
    }
    // (0, 0) stands for the identity in encodings; as an affine point it is not on the curve.
    assert!(!in_g1(Affine::new(N::ZERO, N::ZERO)));
    let zero = Fp2::new(N::ZERO, N::ZERO);
    assert!(!in_g2(Affine::new(zero, zero)));
}

/// A multiple of `point` that has the order `prime`, in a group of `order` points; `None` if `point` gives the identity.
fn of_small_order<P: Copy + PartialEq>(
    point: P,
    order: &BigUint,
    prime: u32,
    identity: P,
    times: impl Fn(P, &BigUint) -> P,
) -> Option<P> {
    let mut cofactor = order.clone();
    while &cofactor % prime == BigUint::ZERO {
        cofactor /= prime;
    }
    let mut small = times(point, &cofactor);
    if small == identity {
        return None;
    }
    while times(small, &prime.into()) != identity {
        small = times(small, &prime.into());
    }
    Some(small)
}

#[test]
fn points_with_a_part_of_small_order_are_no_members_of_g1() {
    let mut seeded = Seeded(14);
    for prime in [3u32, 11, 10_177] {
        let small = loop {
            let point = seeded.curve_point();
            if let Some(small) = of_small_order(point, &(h1() * r()), prime, G1Affine::identity(), times1) {
                break small;
            }
        };
        for k in 1..prime.min(24) {
            let multiple = times1(small, &k.into());
            assert!(!in_g1(g1(multiple)), "[{k}] of a point of order {prime}");
            assert!(!in_g1(g1((multiple + seeded.g1()).into_affine())), "order {prime}·r");
        }
    }
}

#[test]
fn points_with_a_part_of_small_order_are_no_members_of_g2() {
    let mut seeded = Seeded(15);
    for prime in [13u32, 23, 2713, 11_953] {
        let small = loop {
            let point = seeded.twist_point();
            if let Some(small) = of_small_order(point, &(h2() * r()), prime, G2Affine::identity(), times2) {
                break small;
            }
        };
        for k in 1..prime.min(24) {
            let multiple = times2(small, &k.into());
            assert!(!in_g2(g2(multiple)), "[{k}] of a point of order {prime}");
            assert!(!in_g2(g2((multiple + seeded.g2()).into_affine())), "order {prime}·r");
        }
    }
}

#[test]
fn without_the_condition_on_z_a_point_of_small_order_would_pass() {
    // (0, 2) has order 3: the chain soon adds equal points, and ends at (0 : 0 : 0).
    let point = Affine::new(N::ZERO, N::from_u64(2));
    let conditions = ours1::membership(&numbers(), point);
    assert!(conditions.vanishing.is_zero() && conditions.invertible.is_zero());
}

#[test]
fn psi_multiplies_by_x_on_g2() {
    let mut seeded = Seeded(16);
    for _ in 0..5 {
        let q = seeded.g2();
        assert_eq!(residue_curves::pairing::psi(&numbers(), g2(q)), g2(-times2(q, &constants::X_ABS.into())));
    }
}
