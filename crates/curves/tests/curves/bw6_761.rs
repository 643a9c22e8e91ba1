//! BW6-761: the field of pairing values, checks of products and membership are those of arkworks.

use crate::judges::Seeded;
use ark_bw6_761::{BW6_761, Fq, Fq3, Fq6, Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field};
use num_bigint::BigUint;
use residue_curves::bw6_761::final_exponentiation::{easy_part, final_exponentiation};
use residue_curves::bw6_761::fp6::{Line, conjugate, cyclotomic_square_tripled, frobenius, mul_by_line, one};
use residue_curves::bw6_761::miller::{Pairs, miller_loop, stand_in};
use residue_curves::bw6_761::{
    self, Fp2, Fp6, g1_curve_defect, g1_membership, g2_curve_defect, is_final_exponentiation_one, modulus, order,
};
use residue_curves::{Affine, Conditions};
use residue_formula::Number;
use residue_ir::{Bundle, Numbers};
use residue_modular::fields::Bw6_761Fp;
use ruint::aliases::U256;
use std::cell::RefCell;

type N = Bw6_761Fp;
type Pair = (G1Affine, G2Affine);

fn numbers() -> Numbers<N> {
    Numbers::new(Vec::new())
}

fn fq(seeded: &mut Seeded) -> Fq {
    Fq::from(seeded.integer() * seeded.integer())
}

fn fp(a: Fq) -> N {
    N::from_canonical(&a.into()).unwrap()
}

/// Of arkworks' w, w⁶ = −4: w is −i·v, and so the powers of it are 1, −i·v, −v², 2i, 2v and −2i·v².
fn fp6(a: Fq6) -> Fp6<N> {
    let [w0, w2, w4] = [a.c0.c0, a.c0.c1, a.c0.c2].map(fp);
    let [w1, w3, w5] = [a.c1.c0, a.c1.c1, a.c1.c2].map(fp);
    Fp6::new(Fp2::new(w0, w3 + w3), Fp2::new(w4 + w4, -w1), Fp2::new(-w2, -(w5 + w5)))
}

fn element(seeded: &mut Seeded) -> Fq6 {
    let mut fq3 = || Fq3::new(fq(seeded), fq(seeded), fq(seeded));
    Fq6::new(fq3(), fq3())
}

fn g1(point: G1Affine) -> Affine<N> {
    Affine::new(fp(point.x), fp(point.y))
}

fn g2(point: G2Affine) -> Affine<N> {
    Affine::new(fp(point.x), fp(point.y))
}

fn pair(seeded: &mut Seeded) -> Pair {
    let [a, b] = [(); 2].map(|()| Fr::from(seeded.integer()));
    ((G1Affine::generator() * a).into_affine(), (G2Affine::generator() * b).into_affine())
}

/// A point of the whole curve, almost never in G1.
fn curve_point(seeded: &mut Seeded) -> G1Affine {
    loop {
        if let Some(point) = G1Affine::get_point_from_x_unchecked(fq(seeded), true) {
            return point;
        }
    }
}

/// A point of the whole twist, almost never in G2.
fn twist_point(seeded: &mut Seeded) -> G2Affine {
    loop {
        if let Some(point) = G2Affine::get_point_from_x_unchecked(fq(seeded), true) {
            return point;
        }
    }
}

fn times1(point: G1Affine, k: &BigUint) -> G1Affine {
    crate::judges::times::<G1Projective>(point, k)
}

fn times2(point: G2Affine, k: &BigUint) -> G2Affine {
    crate::judges::times::<G2Projective>(point, k)
}

/// Result of the loop, and true if all conditions on the points of the twist hold.
fn looped(list: &[Pair]) -> (Fp6<N>, bool) {
    let machine = numbers();
    let pairs = Pairs::new(&machine, U256::from(list.len()));
    for (index, &(p, q)) in list.iter().enumerate() {
        pairs.store(&machine, U256::from(index), g1(p), g2(q));
    }
    looped_pairs(&machine, &pairs, list.len())
}

fn looped_pairs(machine: &Numbers<N>, pairs: &Pairs<N>, count: usize) -> (Fp6<N>, bool) {
    let found = RefCell::new(None);
    let conditions = miller_loop(machine, pairs, U256::from(count), Conditions::none(machine), |_, f| {
        found.replace(Some(f));
    });
    (found.into_inner().unwrap(), conditions.hold(machine) == U256::ONE)
}

fn power(f: Fp6<N>, exponent: &BigUint) -> Fp6<N> {
    (0..exponent.bits()).rev().fold(one(&numbers()), |power, bit| {
        let square = power * power;
        if exponent.bit(bit) { square * f } else { square }
    })
}

#[test]
fn the_field_agrees() {
    let mut seeded = Seeded(60);
    let machine = numbers();
    for _ in 0..10 {
        let (a, b) = (element(&mut seeded), element(&mut seeded));
        assert_eq!(fp6(a) * fp6(b), fp6(a * b));
        assert_eq!(fp6(a).square(), fp6(a.square()));
        assert_eq!(frobenius(&machine, fp6(a)), fp6(a.frobenius_map(1)));
        assert_eq!(conjugate(fp6(a)), fp6(a.frobenius_map(3)));
        let unitary = a.frobenius_map(3) * a.inverse().unwrap();
        let cyclotomic = unitary.frobenius_map(1) * unitary;
        let ours = easy_part(&machine, fp6(a));
        assert_eq!(ours, fp6(cyclotomic));
        let square = fp6(cyclotomic.square());
        assert_eq!(cyclotomic_square_tripled(ours + ours + ours), square + square + square);
        let [x, y, z] = [(); 3].map(|()| fp(fq(&mut seeded)));
        let zero = N::ZERO;
        let dense = Fp6::new(Fp2::new(x, y), Fp2::new(zero, zero), Fp2::new(z, zero));
        assert_eq!(mul_by_line(fp6(a), Line { of_one: x, of_i: y, of_vv: z }), fp6(a) * dense);
    }
}

#[test]
fn the_final_exponentiation_is_a_power() {
    let u = BigUint::from(bw6_761::U);
    let p = modulus();
    let v = (&u + 1u32) * &p + u.pow(3) - u.pow(2) - &u;
    let positive = u.pow(6) * 103u32 + u.pow(3) * 293u32 + u.pow(2) * 21u32 + &u * 52u32 + 211u32;
    let polynomial = positive - u.pow(5) * 173u32 - u.pow(4) * 96u32;
    let hard = v * polynomial + (&p + (&u - 1u32).pow(2)) * 9u32;
    let exponent = (p.pow(3) - 1u32) * (p + 1u32) * hard;
    let mut seeded = Seeded(61);
    for _ in 0..3 {
        let f = fp6(element(&mut seeded));
        assert_eq!(final_exponentiation(&numbers(), f), power(f, &exponent));
        assert_eq!(is_final_exponentiation_one(&numbers(), f), U256::ZERO);
        assert_eq!(is_final_exponentiation_one(&numbers(), power(f, &order())), U256::ONE);
    }
}

#[test]
fn products_are_one_where_those_of_arkworks_are() {
    let mut seeded = Seeded(62);
    for count in 1..=5 {
        let mut list: Vec<Pair> = (0..count).map(|_| pair(&mut seeded)).collect();
        let is_one = |list: &[Pair]| {
            let (f, holds) = looped(list);
            assert!(holds, "{count} pairs");
            // One by one: `multi_pairing` of ark-ec 0.6 multiplies f_u in for every four pairs, and is wrong from the fifth on.
            let judged = list.iter().map(|&(p, q)| BW6_761::pairing(p, q).0).product::<Fq6>() == Fq6::ONE;
            assert_eq!(is_final_exponentiation_one(&numbers(), f) == U256::ONE, judged);
            judged
        };
        assert!(!is_one(&list));
        if count > 1 {
            // The last pair undoes the others.
            let scalars: Vec<[Fr; 2]> = (1..count).map(|_| [(); 2].map(|()| Fr::from(seeded.integer()))).collect();
            list = scalars
                .iter()
                .map(|[a, b]| ((G1Affine::generator() * a).into_affine(), (G2Affine::generator() * b).into_affine()))
                .collect();
            let sum: Fr = scalars.iter().map(|[a, b]| *a * b).sum();
            list.push(((G1Affine::generator() * -sum).into_affine(), G2Affine::generator()));
            assert!(is_one(&list));
        }
    }
}

#[test]
fn the_pairing_is_bilinear() {
    let mut seeded = Seeded(63);
    let (p, q) = pair(&mut seeded);
    let value = |p, q| final_exponentiation(&numbers(), looped(&[(p, q)]).0);
    let k = seeded.integer() % order();
    let expected = power(value(p, q), &k);
    assert_eq!(value(times1(p, &k), q), expected);
    assert_eq!(value(p, times2(q, &k)), expected);
    assert_ne!(expected, one(&numbers()));
}

#[test]
fn points_outside_the_groups_are_found() {
    let mut seeded = Seeded(64);
    let (p, q) = pair(&mut seeded);
    let machine = numbers();
    let is_member = |p: G1Affine| g1_membership(&machine, g1(p)).hold(&machine) == U256::ONE;
    assert!(is_member(p) && looped(&[(p, q)]).1);
    let three = G2Affine::new_unchecked(Fq::ZERO, Fq::from(2u32));
    for _ in 0..5 {
        let (outside1, outside2) = (curve_point(&mut seeded), twist_point(&mut seeded));
        assert_eq!([g1_curve_defect(&machine, g1(outside1)), g2_curve_defect(&machine, g2(outside2))], [N::ZERO; 2]);
        assert!(!is_member(outside1) && !looped(&[(p, q), (p, outside2)]).1);
        // Without the part in the group.
        assert!(!is_member(times1(outside1, &order())) && !looped(&[(p, times2(outside2, &order()))]).1);
        // A part of order three, which a chain of norm 3r would not find, and nothing else.
        assert!(!looped(&[(p, (q + three).into_affine())]).1);
        assert!(!looped(&[(p, (q + -three).into_affine())]).1);
    }
    assert!(!looped(&[(p, three)]).1 && !looped(&[(p, -three)]).1);
    let two = G1Affine::new_unchecked(Fq::ONE, Fq::ZERO);
    assert!(!is_member(two) && !is_member((p + two).into_affine()));
}

#[test]
fn a_pair_with_the_stand_in_for_the_identity_is_one() {
    let machine = numbers();
    let (_, q) = pair(&mut Seeded(65));
    let pairs = Pairs::new(&machine, U256::from(1));
    pairs.store(&machine, U256::from(0), stand_in(&machine), g2(q));
    let (f, holds) = looped_pairs(&machine, &pairs, 1);
    assert!(holds && f != one(&machine));
    assert_eq!(final_exponentiation(&machine, f), one(&machine));
    assert_eq!(f.to_list().len(), 6);
}
