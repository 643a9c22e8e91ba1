//! BN254: the tower, pairing values and membership are those of arkworks.

use crate::judges::{Seeded, times};
use ark_bn254::{Bn254, Fq, Fq2, Fq6, Fq12, G1Affine, G2Affine, G2Projective};
use ark_ec::pairing::{MillerLoopOutput, Pairing};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, CyclotomicMultSubgroup, Field};
use num_bigint::BigUint;
use residue_curves::bn254::{self, Fp2, Fp12, g1_curve_defect, g2_curve_defect};
use residue_curves::pairing::affine::{PAIRS, positive_miller_loop};
use residue_curves::pairing::final_exponentiation::easy_part;
use residue_curves::pairing::miller::stand_in;
use residue_curves::pairing::powers::{frobenius, frobenius_squared};
use residue_curves::pairing::steps::Line;
use residue_curves::pairing::{
    PairingCurve, Pairs, Scale, Twist, final_exponentiation, is_final_exponentiation_one, miller_loop, pairing_check,
};
use residue_curves::tower::cyclotomic::{cyclotomic_square, cyclotomic_square_tripled};
use residue_curves::tower::fp12::Sparse013;
use residue_curves::{Affine, Conditions};
use residue_formula::Number;
use residue_ir::{Machine, Numbers};
use residue_modular::fields::Bn254Fp;
use ruint::aliases::U256;
use std::cell::Cell;
use std::sync::LazyLock;

type N = Bn254Fp;
type Pair = (G1Affine, G2Affine);

fn numbers() -> Numbers<N> {
    Numbers::new(Vec::new())
}

fn fp(a: Fq) -> N {
    N::from_canonical(&a.into()).unwrap()
}

fn fp2(a: Fq2) -> Fp2<N> {
    Fp2::new(fp(a.c0), fp(a.c1))
}

/// Our tower has another w: that of arkworks, whose sixth power is 9 + u, is τ·s·w for a τ in Fp2. Which of the six such τ it is follows from how both
/// map a point of G2 to the curve: (κ²x, κ³y) to (κ²x·w²/ξ, κ³y·3s/ξ²), and the quotient of what x and y are multiplied by is κ·(3/ξ)·s/w² = κ/ξ·s·w.
static TAU: LazyLock<Fp2<N>> = LazyLock::new(|| {
    let xi = Fp2::new(N::from_u64(2), N::ONE);
    let Some(Scale::Twist { kappa_squared, kappa_cubed, .. }) = &bn254::constants().pairing.scale else { panic!() };
    let kappa = kappa_cubed.lift(&numbers()) * kappa_squared.lift(&numbers()).inverse().unwrap();
    kappa * xi.inverse().unwrap()
});

fn fp12(a: Fq12) -> Fp12<N> {
    let zero = fp2(Fq2::ZERO);
    let w = Fp12::from_coefficients([zero, zero, zero, zero, *TAU, zero]);
    let coefficients = [a.c0.c0, a.c1.c0, a.c0.c1, a.c1.c1, a.c0.c2, a.c1.c2].map(fp2);
    coefficients
        .into_iter()
        .rev()
        .fold(one() - one(), |sum, c| sum * w + Fp12::from_coefficients([c, zero, zero, zero, zero, zero]))
}

fn g1(point: G1Affine) -> Affine<N> {
    Affine::new(fp(point.x), fp(point.y))
}

fn g2(point: G2Affine) -> Affine<Fp2<N>> {
    Affine::new(fp2(point.x), fp2(point.y))
}

fn one() -> Fp12<N> {
    Fp12::one(numbers().zero(), numbers().one())
}

fn element(seeded: &mut Seeded) -> Fq12 {
    let mut fq = || Fq::from(seeded.integer());
    let mut fq2 = || Fq2::new(fq(), fq());
    let mut fq6 = || Fq6::new(fq2(), fq2(), fq2());
    Fq12::new(fq6(), fq6())
}

fn pair(seeded: &mut Seeded) -> Pair {
    let [a, b] = [(); 2].map(|()| ark_bn254::Fr::from(seeded.integer()));
    ((G1Affine::generator() * a).into_affine(), (G2Affine::generator() * b).into_affine())
}

/// A point of the twist, almost never in G2.
fn twist_point(seeded: &mut Seeded) -> G2Affine {
    loop {
        let x = Fq2::new(Fq::from(seeded.integer()), Fq::from(seeded.integer()));
        if let Some(point) = G2Affine::get_point_from_x_unchecked(x, true) {
            return point;
        }
    }
}

fn r() -> BigUint {
    bn254::Bn254::FAMILY.order()
}

fn store(machine: &Numbers<N>, list: &[Pair]) -> Pairs<N, bn254::Bn254> {
    let pairs = Pairs::new(machine, U256::from(list.len()));
    for (index, &(p, q)) in list.iter().enumerate() {
        pairs.store(machine, U256::from(index), g1(p), g2(q));
    }
    pairs
}

/// Result of the loop, and true if its conditions hold.
fn looped(list: &[Pair]) -> (Fp12<N>, bool) {
    let machine = numbers();
    let pairs = store(&machine, list);
    let (f, conditions) = miller_loop(&machine, &pairs, U256::from(list.len()), Conditions::none(&machine));
    (f, conditions.hold(&machine) == U256::ONE)
}

/// The same of the loop with affine points, for eight pairs.
fn looped_affinely(list: &[Pair; PAIRS]) -> (Fp12<N>, bool) {
    let machine = numbers();
    let pairs = store(&machine, list);
    let kept = Cell::new(None);
    let keep = |_: &Numbers<N>, f| kept.set(Some(f));
    let conditions = positive_miller_loop(&machine, &pairs, U256::from(PAIRS), Conditions::none(&machine), keep);
    (kept.take().unwrap(), conditions.hold(&machine) == U256::ONE)
}

#[test]
fn the_tower_agrees() {
    let mut seeded = Seeded(40);
    let machine = numbers();
    for _ in 0..20 {
        let (a, b) = (element(&mut seeded), element(&mut seeded));
        assert_eq!(fp12(a) * fp12(b), fp12(a * b));
        assert_eq!(fp12(a).square(), fp12(a.square()));
        let invert = |a: N| bn254::inverse_power(&machine, a);
        assert_eq!(fp12(a).inverse_with(invert), fp12(a.inverse().unwrap()));
        assert_eq!(frobenius(&machine, fp12(a)), fp12(a.frobenius_map(1)));
        assert_eq!(frobenius_squared(&machine, fp12(a)), fp12(a.frobenius_map(2)));
        let unitary = a.frobenius_map(6) * a.inverse().unwrap();
        let cyclotomic = unitary.frobenius_map(2) * unitary;
        let ours = easy_part(&machine, fp12(a));
        assert_eq!(ours, fp12(cyclotomic));
        assert_eq!(cyclotomic_square(ours), fp12(cyclotomic.cyclotomic_square()));
        assert_eq!(cyclotomic_square_tripled(ours.double() + ours), {
            let square = fp12(cyclotomic.square());
            square.double() + square
        });
    }
}

#[test]
fn lines_of_a_twist_of_type_d_are_sparse_elements() {
    let mut seeded = Seeded(41);
    let zero = fp2(Fq2::ZERO);
    for _ in 0..20 {
        let (f, l) = (fp12(element(&mut seeded)), fp12(element(&mut seeded)).coefficients());
        let dense = Fp12::from_coefficients([l[0], l[1], zero, l[3], zero, zero]);
        assert_eq!(f.mul_by_013(Sparse013 { l0: l[0], l1: l[1], l3: l[3] }), f * dense);
        // ξ̄ times the constant part.
        let line = Line { constant: l[0], of_x: l[1], of_y: l[3] };
        let scaled = l[0] * Fp2::new(N::from_u64(2), -N::ONE);
        let dense = Fp12::from_coefficients([scaled, l[1], zero, l[3], zero, zero]);
        assert_eq!(line.times(f, Twist::D), f * dense);
    }
}

#[test]
fn the_final_exponentiation_is_that_of_arkworks() {
    let mut seeded = Seeded(42);
    for _ in 0..5 {
        let f = element(&mut seeded);
        let judged = Bn254::final_exponentiation(MillerLoopOutput(f)).unwrap().0;
        assert_eq!(final_exponentiation(&numbers(), fp12(f)), fp12(judged));
        assert_eq!(is_final_exponentiation_one(&numbers(), fp12(f)), U256::ZERO);
    }
    assert_eq!(is_final_exponentiation_one(&numbers(), one()), U256::ONE);
}

#[test]
fn products_of_one_to_eight_pairs_are_those_of_arkworks() {
    let mut seeded = Seeded(43);
    for count in 1..=8 {
        let list: Vec<Pair> = (0..count).map(|_| pair(&mut seeded)).collect();
        let (f, holds) = looped(&list);
        assert!(holds, "{count} pairs");
        let affine = <&[Pair; PAIRS]>::try_from(&list[..]).ok().map(looped_affinely);
        let (p, q): (Vec<G1Affine>, Vec<G2Affine>) = list.into_iter().unzip();
        let expected = fp12(Bn254::multi_pairing(p, q).0);
        assert_eq!(final_exponentiation(&numbers(), f), expected, "{count} pairs");
        if let Some((f, holds)) = affine {
            assert!(holds, "affine");
            assert_eq!(final_exponentiation(&numbers(), f), expected, "affine");
        }
    }
}

#[test]
fn the_check_accepts_exactly_the_products_that_are_one() {
    let mut seeded = Seeded(44);
    let check = |list: &[Pair]| {
        let machine = numbers();
        let none = Conditions::none(&machine);
        pairing_check(&machine, &store(&machine, list), U256::from(list.len()), none).0 == U256::ONE
    };
    for _ in 0..3 {
        let (p, q) = pair(&mut seeded);
        assert!(check(&[(p, q), (-p, q)]));
        assert!(!check(&[(p, q), (p, q)]));
        assert!(check(&[(p, q), (p, q), ((-p + -p).into_affine(), q)]));
    }
}

#[test]
fn a_point_outside_g2_is_found() {
    let mut seeded = Seeded(45);
    let (p, q) = pair(&mut seeded);
    for _ in 0..5 {
        let outside = twist_point(&mut seeded);
        assert_eq!(g2_curve_defect(&numbers(), g2(outside)), N::ZERO);
        assert!(!outside.is_in_correct_subgroup_assuming_on_curve());
        assert!(!looped(&[(p, q), (p, outside)]).1);
        // Of small order: the loop meets exceptional cases.
        let small = times::<G2Projective>(outside, &((BigUint::from(2u32) * bn254::modulus() - r()) / 10_069u32 * r()));
        assert!(!looped(&[(p, small)]).1);
        for wrong in [outside, small] {
            let mut list = [(p, q); PAIRS];
            list[3].1 = wrong;
            assert!(!looped_affinely(&list).1);
        }
    }
    // A denominator of the first step is 0, whatever else there is.
    let mut list = [(p, q); PAIRS];
    list[5].1 = G2Affine::new_unchecked(q.x, Fq2::ZERO);
    assert!(!looped_affinely(&list).1);
    assert!(looped_affinely(&[(p, q); PAIRS]).1);
    assert!(looped(&[(p, q)]).1);
    assert_eq!(g1_curve_defect(&numbers(), g1(p)), N::ZERO);
    assert_ne!(g1_curve_defect(&numbers(), Affine::new(g1(p).x, g1(p).x)), N::ZERO);
}

#[test]
fn a_pair_with_the_stand_in_for_the_identity_is_one() {
    let machine = numbers();
    let (_, q) = pair(&mut Seeded(46));
    let pairs = Pairs::new(&machine, U256::from(1));
    pairs.store(&machine, U256::from(0), stand_in(&machine), g2(q));
    let (f, _) = miller_loop(&machine, &pairs, U256::from(1), Conditions::none(&machine));
    assert_ne!(f, one());
    assert_eq!(final_exponentiation(&machine, f), one());
}
