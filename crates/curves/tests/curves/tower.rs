//! The tower agrees with arkworks on random elements.

use crate::judges::{N, Seeded, fp, fp2, fp6, fp12, numbers};
use ark_bls12_381::{Fq2, Fq6};
use ark_ff::{AdditiveGroup, CyclotomicMultSubgroup, Field};
use residue_curves::bls12_381::inverse_power;
use residue_curves::bls12_381::{Fp2, Fp4, Fp6, Fp12};
use residue_curves::pairing::final_exponentiation::easy_part;
use residue_curves::pairing::powers::{frobenius, frobenius_squared};
use residue_curves::tower::cyclotomic::{cyclotomic_square, cyclotomic_square_tripled};
use residue_curves::tower::fp12::Sparse023;
use residue_formula::Number;

const ROUNDS: usize = 20;

/// Inversion as programs have it.
fn chain(a: N) -> N {
    inverse_power(&numbers(), a)
}

#[test]
fn the_inversion_chain_inverts() {
    let mut seeded = Seeded(1);
    for _ in 0..ROUNDS {
        let a = seeded.fq();
        assert_eq!(chain(fp(a)), fp(a.inverse().unwrap()));
    }
    assert_eq!(chain(N::ZERO), N::ZERO);
}

#[test]
fn fp2_agrees() {
    let mut seeded = Seeded(2);
    let xi = Fq2::new(1.into(), 1.into());
    for _ in 0..ROUNDS {
        let (a, b) = (seeded.fq2(), seeded.fq2());
        assert_eq!(fp2(a) * fp2(b), fp2(a * b));
        assert_eq!(fp2(a).square(), fp2(a.square()));
        assert_eq!(fp2(a).mul_by_nonresidue(), fp2(a * xi));
        assert_eq!(fp2(a) * fp2(b).multiplicand().mul_by_nonresidue(), fp2(a * b * xi));
        assert_eq!(fp2(a).conjugate(), fp2(a.frobenius_map(1)));
        assert_eq!(fp2(a).conjugate_mul(fp2(b)), fp2(a.frobenius_map(1) * b));
        assert_eq!(fp2(a).inverse_with(chain), fp2(a.inverse().unwrap()));
        assert_eq!(fp2(a).inverse(), a.inverse().map(fp2));
    }
    assert_eq!(Fp2::new(N::ZERO, N::ZERO).inverse(), None);
}

#[test]
fn fp6_agrees() {
    let mut seeded = Seeded(3);
    let v = Fq6::new(Fq2::ZERO, Fq2::ONE, Fq2::ZERO);
    for _ in 0..ROUNDS {
        let (a, b) = (seeded.fq6(), seeded.fq6());
        assert_eq!(fp6(a) * fp6(b), fp6(a * b));
        assert_eq!(fp6(a).square(), fp6(a.square()));
        assert_eq!(fp6(a).inverse_with(chain), fp6(a.inverse().unwrap()));
        assert_eq!(fp6(a).mul_by_v(), fp6(a * v));
    }
}

#[test]
fn fp4_is_the_part_of_fp12_without_w() {
    let mut seeded = Seeded(4);
    let zero = Fp2::new(N::ZERO, N::ZERO);
    let embed = |a: Fp4<N>| Fp12::new(a, Fp4::new(zero, zero), Fp4::new(zero, zero));
    for _ in 0..ROUNDS {
        let a = Fp4::new(fp2(seeded.fq2()), fp2(seeded.fq2()));
        let b = Fp4::new(fp2(seeded.fq2()), fp2(seeded.fq2()));
        assert_eq!(embed(a * b), embed(a) * embed(b));
        assert_eq!(a.square(), a * a);
        assert_eq!(a.mul_by_s(), a * Fp4::new(zero, Fp2::ONE));
    }
}

#[test]
fn fp12_agrees() {
    let mut seeded = Seeded(5);
    let machine = numbers();
    for _ in 0..ROUNDS {
        let (a, b) = (seeded.fq12(), seeded.fq12());
        assert_eq!(fp12(a) * fp12(b), fp12(a * b));
        assert_eq!(fp12(a).square(), fp12(a.square()));
        assert_eq!(fp12(a).inverse_with(chain), fp12(a.inverse().unwrap()));
        assert_eq!(fp12(a).conjugate(), fp12(a.frobenius_map(6)));
        assert_eq!(fp12(a).conjugate_over_self(chain), fp12(a.frobenius_map(6) * a.inverse().unwrap()));
        assert_eq!(frobenius(&machine, fp12(a)), fp12(a.frobenius_map(1)));
        assert_eq!(frobenius_squared(&machine, fp12(a)), fp12(a.frobenius_map(2)));
        assert_eq!(fp12(a).scale(N::from_u64(5)), fp12(a).double().double() + fp12(a));
        assert_eq!(-fp12(a), fp12(-a));
    }
}

#[test]
fn sparse_multiplication_is_multiplication() {
    let mut seeded = Seeded(6);
    let zero = Fp2::new(N::ZERO, N::ZERO);
    for _ in 0..ROUNDS {
        let f = fp12(seeded.fq12());
        let [l0, l2, l3] = [(); 3].map(|()| fp2(seeded.fq2()));
        let dense = Fp12::from_coefficients([l0, zero, l2, l3, zero, zero]);
        assert_eq!(f.mul_by_023(Sparse023 { l0, l2, l3 }), f * dense);
    }
}

#[test]
fn cyclotomic_squarings_square_in_the_cyclotomic_subgroup_and_only_there() {
    let mut seeded = Seeded(7);
    let triple = |f: Fp12<N>| f.double() + f;
    for _ in 0..ROUNDS {
        let a = seeded.fq12();
        let g = easy_part(&numbers(), fp12(a));
        let unitary = a.frobenius_map(6) * a.inverse().unwrap();
        let judged = unitary.frobenius_map(2) * unitary;
        assert_eq!(g, fp12(judged));
        assert_eq!(cyclotomic_square(g), fp12(judged.cyclotomic_square()));
        assert_eq!(cyclotomic_square_tripled(triple(g)), triple(cyclotomic_square(g)));
        assert_ne!(cyclotomic_square(fp12(a)), fp12(a.square()));
    }
}

#[test]
fn groupings_of_coefficients_are_inverse_to_each_other() {
    let f = fp12(Seeded(8).fq12());
    assert_eq!(Fp12::from_coefficients(f.coefficients()), f);
    let (even, odd): (Fp6<N>, Fp6<N>) = f.even_and_odd();
    assert_eq!(Fp12::from_even_and_odd(even, odd), f);
}
