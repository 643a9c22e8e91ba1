//! Pairing values equal blst's and arkworks', and products are decided as they should be.

use crate::judges::{
    N, Seeded, blst_g1, blst_g2, fp, fp2, fp12, from_blst, g1, g2, numbers, r, times1, times2, to_blst,
};
use ark_bls12_381::{Bls12_381, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_ec::pairing::{MillerLoopOutput, Pairing};
use ark_ff::Field;
use num_bigint::BigUint;
use residue_curves::Conditions;
use residue_curves::bls12_381::constants;
use residue_curves::bls12_381::{self, Fp12};
use residue_curves::group::Projective;
use residue_curves::pairing::miller::stand_in;
use residue_curves::pairing::steps::{EvaluationPoint, Line, doubling_step, doubling_step_in_sums};
use residue_curves::pairing::{Pairs, final_exponentiation, is_final_exponentiation_one, miller_loop, pairing_check};
use residue_formula::{Fe, Number};
use residue_ir::Machine;
use residue_ir::Numbers;
use ruint::aliases::U256;

type Pair = (G1Affine, G2Affine);

fn store(machine: &Numbers<N>, list: &[Pair]) -> Pairs<N, bls12_381::Bls12_381> {
    let pairs = Pairs::new(machine, U256::from(list.len()));
    for (index, &(p, q)) in list.iter().enumerate() {
        pairs.store(machine, U256::from(index), g1(p), g2(q));
    }
    pairs
}

fn pairing(list: &[Pair]) -> Fp12<N> {
    let machine = numbers();
    let pairs = store(&machine, list);
    let (f, conditions) = miller_loop(&machine, &pairs, U256::from(list.len()), Conditions::none(&machine));
    assert_eq!(conditions.hold(&machine), U256::ONE);
    final_exponentiation(&machine, f)
}

fn check(list: &[Pair]) -> bool {
    let machine = numbers();
    let pairs = store(&machine, list);
    let none = Conditions::none(&machine);
    let (verdict, conditions) = pairing_check(&machine, &pairs, U256::from(list.len()), none);
    assert_eq!(conditions.hold(&machine), U256::ONE);
    verdict == U256::ONE
}

#[test]
fn the_final_exponentiation_is_that_of_blst_and_arkworks() {
    let mut seeded = Seeded(20);
    for _ in 0..5 {
        let f = seeded.fq12();
        let ours = final_exponentiation(&numbers(), fp12(f));
        assert_eq!(ours, from_blst(&to_blst(fp12(f)).final_exp()));
        assert_eq!(ours, fp12(Bls12_381::final_exponentiation(MillerLoopOutput(f)).unwrap().0));
    }
}

#[test]
fn the_final_exponent_is_three_times_the_reduced_one() {
    let f = Seeded(21).fq12();
    let exponent = (constants::modulus().pow(12) - 1u32) / r() * 3u32;
    assert_eq!(final_exponentiation(&numbers(), fp12(f)), fp12(f.pow(exponent.to_u64_digits())));
}

#[test]
fn doubling_steps_for_sums_are_the_same_steps() {
    let mut seeded = Seeded(29);
    let small = |value: u64| N::from_u64(value);
    let third = small(3).inverse().unwrap();
    for _ in 0..20 {
        let t = Projective { x: fp2(seeded.fq2()), y: fp2(seeded.fq2()), z: fp2(seeded.fq2()) };
        let (x, y) = (fp(seeded.fq()), fp(seeded.fq()));
        let p = EvaluationPoint { minus_3x: -(x.double() + x), minus_6x: -(x.double() + x).double(), y };
        let (double, line) = doubling_step(t, p, |zz| zz.mul_by_nonresidue().scale(third));
        let half = EvaluationPoint { y: y * small(2).inverse().unwrap(), ..p };
        let (double_in_sums, line_in_sums) = doubling_step_in_sums(t, half, small(4) * third);
        assert_eq!([double_in_sums.x, double_in_sums.y, double_in_sums.z], [double.x, double.y, double.z]);
        let parts = |line: Line<_, _>| [line.constant, line.of_x, line.of_y];
        assert_eq!(parts(line_in_sums), parts(line));
    }
}

#[test]
fn pairing_values_are_those_of_blst_and_arkworks() {
    let mut seeded = Seeded(22);
    for _ in 0..5 {
        let (p, q) = (seeded.g1(), seeded.g2());
        let ours = pairing(&[(p, q)]);
        assert_eq!(ours, from_blst(&blst::blst_fp12::miller_loop(&blst_g2(q), &blst_g1(p)).final_exp()));
        assert_eq!(ours, fp12(Bls12_381::pairing(p, q).0));
        assert_ne!(ours, Fp12::one(numbers().zero(), numbers().one()));
    }
}

#[test]
fn products_of_one_to_eight_pairs_agree_with_arkworks() {
    let mut seeded = Seeded(23);
    for count in 1..=8 {
        let list: Vec<Pair> = (0..count).map(|_| (seeded.g1(), seeded.g2())).collect();
        let (p, q): (Vec<G1Affine>, Vec<G2Affine>) = list.iter().copied().unzip();
        assert_eq!(pairing(&list), fp12(Bls12_381::multi_pairing(p, q).0), "{count} pairs");
    }
}

#[test]
fn a_pair_with_the_stand_in_for_the_identity_is_one() {
    let mut seeded = Seeded(26);
    for count in [1u64, 3] {
        let machine = numbers();
        let pairs = Pairs::new(&machine, U256::from(count));
        for index in 0..count {
            pairs.store(&machine, U256::from(index), stand_in(&machine), g2(seeded.g2()));
        }
        let (f, conditions) = miller_loop(&machine, &pairs, U256::from(count), Conditions::none(&machine));
        assert_eq!(conditions.hold(&machine), U256::ONE);
        assert_ne!(f, Fp12::one(machine.zero(), machine.one()), "the loop alone does not know");
        assert_eq!(final_exponentiation(&machine, f), Fp12::one(machine.zero(), machine.one()), "{count} pairs");
        assert_eq!(is_final_exponentiation_one(&machine, f), U256::ONE);
    }
}

#[test]
fn the_pairing_is_bilinear() {
    let mut seeded = Seeded(24);
    let (a, b) = (seeded.integer() % r(), seeded.integer() % r());
    let (p, q) = (seeded.g1(), seeded.g2());
    let both = pairing(&[(times1(p, &a), times2(q, &b))]);
    let ab = &a * &b % r();
    assert_eq!(both, pairing(&[(times1(p, &ab), q)]));
    assert_eq!(both, pairing(&[(p, times2(q, &ab))]));
}

#[test]
fn the_check_accepts_exactly_the_products_that_are_one() {
    let mut seeded = Seeded(25);
    for count in 1..=7 {
        // The product of e([a]P, [b]Q) and of e([−c]P, Q) with c = Σ a·b.
        let mut list = Vec::new();
        let mut sum = BigUint::ZERO;
        for _ in 0..count {
            let (a, b) = (seeded.integer() % r(), seeded.integer() % r());
            list.push((times1(G1Affine::generator(), &a), times2(G2Affine::generator(), &b)));
            sum += a * b;
        }
        assert!(!check(&list), "{count} random pairs");
        list.push((-times1(G1Affine::generator(), &(sum % r())), G2Affine::generator()));
        assert!(check(&list), "{count} pairs and the one that cancels them");
        list[0].0 = -list[0].0;
        assert!(!check(&list), "a sign is wrong");
    }
}

#[test]
fn the_verdict_is_that_of_the_value() {
    let machine = numbers();
    let mut seeded = Seeded(26);
    let f = fp12(seeded.fq12());
    let (even, odd) = f.even_and_odd();
    let cases = [
        ("random", f, false),
        ("in Fp6", Fp12::from_even_and_odd(even, odd - odd), true),
        ("in Fp4", Fp12::new(f.c0, f.c1 - f.c1, f.c2 - f.c2), true),
        ("an r-th power", fp12(seeded.fq12().pow(r().to_u64_digits())), true),
        ("one", Fp12::one(machine.zero(), machine.one()), true),
    ];
    for (name, f, expected) in cases {
        assert_eq!(is_final_exponentiation_one(&machine, f), U256::from(expected), "{name}");
        assert_eq!(final_exponentiation(&machine, f) == Fp12::one(machine.zero(), machine.one()), expected, "{name}");
    }
}
