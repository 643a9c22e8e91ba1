//! BLS12-377: the tower, pairing values and membership are those of arkworks.

use crate::judges::Seeded;
use ark_bls12_377::{Bls12_377, Fq, Fq2, Fq6, Fq12, G1Affine, G2Affine};
use ark_ec::pairing::{MillerLoopOutput, Pairing};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, CyclotomicMultSubgroup, Field};
use residue_curves::bls12_377::{self, Fp2, Fp12, from_eip_2539, g1_curve_defect, g2_curve_defect, to_eip_2539};
use residue_curves::pairing::final_exponentiation::easy_part;
use residue_curves::pairing::miller::stand_in;
use residue_curves::pairing::powers::{frobenius, frobenius_squared};
use residue_curves::pairing::steps::Line;
use residue_curves::pairing::{
    Pairs, Scale, Twist, final_exponentiation, is_final_exponentiation_one, miller_loop, pairing_check,
};
use residue_curves::tower::cyclotomic::{cyclotomic_square, cyclotomic_square_tripled};
use residue_curves::tower::fp12::Sparse013;
use residue_curves::{Affine, Conditions};
use residue_formula::Number;
use residue_ir::{Machine, Numbers};
use residue_modular::fields::Bls12_377Fp;
use ruint::aliases::U256;
use std::sync::LazyLock;

type N = Bls12_377Fp;
type Pair = (G1Affine, G2Affine);

fn numbers() -> Numbers<N> {
    Numbers::new(Vec::new())
}

fn fp(a: Fq) -> N {
    N::from_canonical(&a.into()).unwrap()
}

fn fp2(a: Fq2) -> Fp2<N> {
    from_eip_2539(&numbers(), fp(a.c0), fp(a.c1))
}

/// Our tower has another w: that of arkworks, whose sixth power is √−5, is κ·w, as both map a point of G2 to the curve: (κ²x, κ³y) to
/// (κ²x·w², κ³y·w³).
static TAU: LazyLock<Fp2<N>> = LazyLock::new(|| {
    let Some(Scale::TwistAlone { kappa_squared, kappa_cubed }) = &bls12_377::constants().pairing.scale else {
        panic!()
    };
    kappa_cubed.lift(&numbers()) * kappa_squared.lift(&numbers()).inverse().unwrap()
});

fn fp12(a: Fq12) -> Fp12<N> {
    let zero = fp2(Fq2::ZERO);
    let w = Fp12::from_coefficients([zero, *TAU, zero, zero, zero, zero]);
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
    let [a, b] = [(); 2].map(|()| ark_bls12_377::Fr::from(seeded.integer()));
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

fn store(machine: &Numbers<N>, list: &[Pair]) -> Pairs<N, bls12_377::Bls12_377> {
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

#[test]
fn the_tower_agrees() {
    let mut seeded = Seeded(40);
    let machine = numbers();
    for _ in 0..20 {
        let (a, b) = (element(&mut seeded), element(&mut seeded));
        assert_eq!(fp12(a) * fp12(b), fp12(a * b));
        assert_eq!(fp12(a).square(), fp12(a.square()));
        let invert = |a: N| bls12_377::invert(&machine, a);
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
fn the_basis_is_changed_and_changed_back() {
    let mut seeded = Seeded(39);
    let machine = numbers();
    for _ in 0..20 {
        let [a, b] = [(); 2].map(|()| Fq2::new(Fq::from(seeded.integer()), Fq::from(seeded.integer())));
        assert_eq!(fp2(a) * fp2(b), fp2(a * b));
        assert_eq!(to_eip_2539(&machine, fp2(a)), [fp(a.c0), fp(a.c1)]);
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
        let line = Line { constant: l[3], of_x: l[1], of_y: l[0] };
        assert_eq!(line.times(f, Twist::D), f * dense);
    }
}

#[test]
fn the_final_exponentiation_is_that_of_arkworks() {
    let mut seeded = Seeded(42);
    for _ in 0..5 {
        let f = element(&mut seeded);
        let judged = Bls12_377::final_exponentiation(MillerLoopOutput(f)).unwrap().0;
        assert_eq!(final_exponentiation(&numbers(), fp12(f)), fp12(judged));
        assert_eq!(is_final_exponentiation_one(&numbers(), fp12(f)), U256::ZERO);
    }
    assert_eq!(is_final_exponentiation_one(&numbers(), one()), U256::ONE);
}

#[test]
fn products_of_one_to_seven_pairs_are_those_of_arkworks() {
    let mut seeded = Seeded(43);
    for count in 1..=7 {
        let list: Vec<Pair> = (0..count).map(|_| pair(&mut seeded)).collect();
        let (f, holds) = looped(&list);
        assert!(holds, "{count} pairs");
        let (p, q): (Vec<G1Affine>, Vec<G2Affine>) = list.into_iter().unzip();
        assert_eq!(final_exponentiation(&numbers(), f), fp12(Bls12_377::multi_pairing(p, q).0), "{count} pairs");
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
    assert_eq!(g2_curve_defect(&numbers(), g2(q)), N::ZERO);
    for _ in 0..5 {
        let outside = twist_point(&mut seeded);
        assert_eq!(g2_curve_defect(&numbers(), g2(outside)), N::ZERO);
        assert!(!outside.is_in_correct_subgroup_assuming_on_curve());
        assert!(!looped(&[(p, q), (p, outside)]).1);
    }
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
