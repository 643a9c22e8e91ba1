//! Costs of the formulas: multiplications (M) and additions or subtractions (A), each different value counted once, as
//! after the removal of common subexpressions. The counts are exact; a formula that changes, changes its line.

use num_bigint::BigUint;
use residue_curves::bls12_377::Bls12_377;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::{Fp2, Fp4, Fp6, Fp12};
use residue_curves::bw6_761::{fp6, miller};
use residue_curves::complete::AZero;
use residue_curves::pairing::steps::{EvaluationPoint, addition_step, doubling_step, doubling_step_by_root};
use residue_curves::tower;
use residue_curves::tower::cyclotomic::{cyclotomic_square, cyclotomic_square_tripled};
use residue_curves::tower::fp12::{Sparse013, Sparse023};
use residue_curves::{Affine, Jacobian, Projective, pow_constant};
use residue_formula::Fe;
use residue_ir::Bundle;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, Mul, Neg, Sub};

/// A value known by the operation that defines it; 0 is the constant zero.
#[derive(Clone, Copy)]
struct Counted(u32);

#[derive(Default)]
struct Table {
    numbers: HashMap<(char, u32, u32), u32>,
    made: u32,
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

impl Counted {
    fn of(operation: char, a: u32, b: u32) -> Self {
        TABLE.with_borrow_mut(|table| {
            let (a, b) = if operation == '-' { (a, b) } else { (a.min(b), a.max(b)) };
            table.made += 1;
            Self(*table.numbers.entry((operation, a, b)).or_insert(table.made))
        })
    }
}

impl Add for Counted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::of('+', self.0, other.0)
    }
}

impl Sub for Counted {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::of('-', self.0, other.0)
    }
}

impl Mul for Counted {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::of('*', self.0, other.0)
    }
}

impl Neg for Counted {
    type Output = Self;

    fn neg(self) -> Self {
        Self(0) - self
    }
}

impl Fe for Counted {}

/// (M, A) of `formula` on fresh values.
fn count<I: Bundle<Counted>, O>(formula: impl FnOnce(I) -> O) -> (usize, usize) {
    TABLE.take();
    let input = I::from_list((0..I::LEN).map(|_| Counted::of('?', TABLE.with_borrow(|table| table.made), 0)).collect());
    let _ = formula(input);
    TABLE.with_borrow(|table| {
        let of = |wanted: &str| table.numbers.keys().filter(|(operation, ..)| wanted.contains(*operation)).count();
        (of("*"), of("+-"))
    })
}

type C = Counted;
type C2 = Fp2<C>;

/// With the golden ratio.
type G2 = tower::Fp2<C, Bls12_377>;
type G4 = tower::Fp4<C, Bls12_377>;
type G12 = tower::Fp12<C, Bls12_377>;

#[test]
fn formulas_with_the_golden_ratio_cost_what_they_should() {
    let lines: Vec<Line> = vec![
        ("Fp2 product", count(|(a, b): (G2, G2)| a * b), (3, 4)),
        ("Fp2 square", count(|a: G2| a.square()), (2, 5)),
        ("Fp4 product", count(|(a, b): (G4, G4)| a * b), (9, 24)),
        ("Fp4 square", count(|a: G4| a.square()), (6, 25)),
        ("Fp12 product", count(|(a, b): (G12, G12)| a * b), (54, 212)),
        ("Fp12 square", count(|a: G12| a.square()), (36, 158)),
        (
            "Fp12 times line",
            count(|(a, [l0, l1, l3]): (G12, [G2; 3])| a.mul_by_013(Sparse013 { l0, l1, l3 })),
            (39, 103),
        ),
        ("cyclotomic square, tripled", count(|a: G12| cyclotomic_square_tripled(a)), (21, 82)),
        (
            "doubling step",
            count(|(t, p, c, root): (Projective<G2>, EvaluationPoint<C>, C, C)| {
                let times_3b = |a: G2| {
                    let difference = a.c1 - a.c0;
                    G2::new(a.c0.double() - difference, a.c1 + difference).scale(c)
                };
                let (t, line) = doubling_step_by_root(t, p, times_3b, root);
                (t, [line.constant, line.of_x, line.of_y])
            }),
            (29, 60),
        ),
    ];
    for (name, found, expected) in lines {
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn formulas_of_bw6_761_cost_what_they_should() {
    let lines: Vec<Line> = vec![
        ("Fp6 square", count(|a: fp6::Fp6<C>| a.square()), (12, 37)),
        ("Fp6 times line", count(|(a, l): (fp6::Fp6<C>, fp6::Line<C>)| fp6::mul_by_line(a, l)), (13, 27)),
        ("cyclotomic square, tripled", count(|a: fp6::Fp6<C>| fp6::cyclotomic_square_tripled(a)), (6, 19)),
        (
            "doubling step",
            count(|(t, p): (Projective<C>, miller::EvaluationPoint<C>)| miller::doubling_step(t, p)),
            (11, 12),
        ),
        ("addition step", count(|(t, base): (Projective<C>, miller::Base<C>)| miller::addition_step(t, base)), (18, 8)),
    ];
    for (name, found, expected) in lines {
        assert_eq!(found, expected, "{name}");
    }
}

/// A formula, its (M, A) as found and as expected.
type Line = (&'static str, (usize, usize), (usize, usize));

#[test]
fn formulas_cost_what_they_should() {
    let inverse_exponent: BigUint = modulus() - 2u32;
    let lines: Vec<Line> = vec![
        ("power by p − 2 with windows", count(|a: C| pow_constant(a, &inverse_exponent)), (460, 0)),
        ("Fp2 product", count(|(a, b): (C2, C2)| a * b), (3, 5)),
        ("Fp2 square", count(|a: C2| a.square()), (2, 3)),
        ("Fp4 product", count(|(a, b): (Fp4<C>, Fp4<C>)| a * b), (9, 24)),
        ("Fp4 square", count(|a: Fp4<C>| a.square()), (6, 17)),
        ("Fp6 product", count(|(a, b): (Fp6<C>, Fp6<C>)| a * b), (18, 61)),
        ("Fp6 square", count(|a: Fp6<C>| a.square()), (12, 37)),
        ("Fp12 product", count(|(a, b): (Fp12<C>, Fp12<C>)| a * b), (54, 202)),
        ("Fp12 square", count(|a: Fp12<C>| a.square()), (36, 122)),
        (
            "Fp12 times line",
            count(|(a, l): (Fp12<C>, Sparse023<C, residue_curves::bls12_381::Bls12_381>)| a.mul_by_023(l)),
            (39, 100),
        ),
        ("cyclotomic square", count(|a: Fp12<C>| cyclotomic_square(a)), (18, 89)),
        ("cyclotomic square, tripled", count(|a: Fp12<C>| cyclotomic_square_tripled(a)), (21, 56)),
        ("Fp12 inverse without that of Fp", count(|a: Fp12<C>| a.inverse_with(|a| a)), (97, 241)),
        ("f^(p⁶ − 1) without the inverse of Fp", count(|a: Fp12<C>| a.conjugate_over_self(|a| a)), (115, 312)),
        (
            "doubling step",
            count(|(t, p): (Projective<C2>, EvaluationPoint<C>)| {
                let (t, line) = doubling_step(t, p, |zz| zz.mul_by_nonresidue().double());
                (t, [line.constant, line.of_x, line.of_y])
            }),
            (26, 53),
        ),
        (
            "addition step",
            count(|(t, q, p, third): (Projective<C2>, Affine<C2>, EvaluationPoint<C>, C)| {
                let (t, line) = addition_step(t, q, p, third);
                (t, [line.constant, line.of_x, line.of_y])
            }),
            (42, 61),
        ),
        ("G1 doubling", count(|(p, c): (Jacobian<C>, C)| p.double(c)), (8, 4)),
        ("G1 mixed addition", count(|(p, q): (Jacobian<C>, Affine<C>)| p.add_mixed(q)), (11, 7)),
        ("G1 addition", count(|(p, q): (Jacobian<C>, Jacobian<C>)| p + q.addend()), (16, 7)),
        (
            "G1 complete addition",
            count(|(p, q, b3): (Projective<C>, Projective<C>, C)| p.add_complete(q, &AZero(|a| a * b3))),
            (14, 19),
        ),
        (
            "G1 complete mixed addition",
            count(|(p, q, b3): (Projective<C>, Affine<C>, C)| p.add_mixed_complete(q, &AZero(|a| a * b3))),
            (13, 13),
        ),
        ("G2 doubling", count(|(p, c): (Jacobian<C2>, C)| p.double(c)), (20, 23)),
        ("G2 addition", count(|(p, q): (Jacobian<C2>, Jacobian<C2>)| p + q.addend()), (32, 25)),
        ("G2 mixed addition", count(|(p, q): (Jacobian<C2>, Affine<C2>)| p.add_mixed(q)), (25, 25)),
    ];
    for (name, found, expected) in lines {
        assert_eq!(found, expected, "{name}");
    }
}
